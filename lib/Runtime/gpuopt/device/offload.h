// Tensors that wait in the memory of the host while the step does other work.
// Transfers are numbered: each has an event, which says when it is done.
//
//   offload(ctx, 0, host[kReluOnHost], m[kRelu], bytes);  begins
//   await(ctx, 0);                                        m[kRelu] is free
//   reload(ctx, 1, m[kRelu2], host[kReluOnHost], bytes);  begins
//   await(ctx, 1);                                        m[kRelu2] is there
#pragma once

#include "gpuopt/device/device.h"

#include <deque>

namespace gpuopt {

#ifdef __CUDACC__

// One stream for transfers, so that they run one after the other. Awaits within
// a captured step become part of its graph.
struct Transfers {
  Transfers() {
    CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  }
  ~Transfers() { cudaStreamDestroy(stream); }
  Transfers(const Transfers &) = delete;
  Transfers &operator=(const Transfers &) = delete;

  Event &event(int number) {
    while (int(events.size()) <= number)
      events.emplace_back();
    return events[number];
  }

  cudaStream_t stream = nullptr;
  std::deque<Event> events;
  Event all; // the transfers that have begun
};

namespace detail {
// The transfer begins after all work that the step has begun so far.
inline void begin_transfer(Context &ctx, int number, void *to, const void *from,
                           size_t bytes, cudaMemcpyKind kind) {
  auto &transfers = ctx.library<Transfers>();
  Event &event = transfers.event(number);
  event.record(ctx);
  CHECK_CUDA(cudaStreamWaitEvent(transfers.stream, event.event));
  CHECK_CUDA(cudaMemcpyAsync(to, from, bytes, kind, transfers.stream));
  CHECK_CUDA(cudaEventRecord(event.event, transfers.stream));
}
} // namespace detail

inline void offload(Context &ctx, int number, void *to, const void *from,
                    size_t bytes) {
  detail::begin_transfer(ctx, number, to, from, bytes, cudaMemcpyDeviceToHost);
}
inline void reload(Context &ctx, int number, void *to, const void *from,
                   size_t bytes) {
  detail::begin_transfer(ctx, number, to, from, bytes, cudaMemcpyHostToDevice);
}
// The step's work goes on when the transfer is done.
inline void await(Context &ctx, int number) {
  ctx.library<Transfers>().event(number).wait(ctx);
}
// Likewise for all transfers that have begun.
inline void await_all(Context &ctx) {
  auto &transfers = ctx.library<Transfers>();
  CHECK_CUDA(cudaEventRecord(transfers.all.event, transfers.stream));
  transfers.all.wait(ctx);
}

#else

// On the host, a transfer is finished when the call returns.
inline void offload(Context &, int, void *to, const void *from, size_t bytes) {
  memcpy(to, from, bytes);
}
inline void reload(Context &, int, void *to, const void *from, size_t bytes) {
  memcpy(to, from, bytes);
}
inline void await(Context &, int) {}
inline void await_all(Context &) {}

#endif

} // namespace gpuopt
