// A CUDA device: one stream for the step, one for copies of the next batch;
// transfers of offloaded tensors have a third (offload.h).
#pragma once

#include "gpuopt/device/attention_library.h"
#include "gpuopt/device/autotune_record.h"
#include "gpuopt/device/call_observer.h"
#include "gpuopt/device/device.h"
#include "gpuopt/device/requirements_cuda.h"
#include "gpuopt/kernels/block.h"

#include <cuda_runtime.h>

#include <chrono>
#include <deque>

namespace gpuopt {

constexpr const char *kTargetName = "cuda";

struct Context {
  explicit Context(int device = 0) : device(device) {
    check_requirements(device);
    CHECK_CUDA(cudaSetDevice(device));
    CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK_CUDA(cudaStreamCreateWithFlags(&copy_stream, cudaStreamNonBlocking));
    multiplies_by_warpgroups = has_warpgroup_products(device);
  }
  ~Context() {
    cudaDeviceSynchronize();
    libraries = Libraries();
    for (void *p : blocks)
      cudaFree(p);
    for (void *p : pinned)
      cudaFreeHost(p);
    cudaStreamDestroy(stream);
    cudaStreamDestroy(copy_stream);
  }
  Context(const Context &) = delete;
  Context &operator=(const Context &) = delete;

  // Returns memory that is zero.
  char *allocate(size_t bytes) {
    char *p = allocate_uncounted(bytes);
    allocated_bytes += bytes;
    return p;
  }
  // Scratch memory of libraries: calls on the stream come one after the other,
  // so all of them share it. The plan has a place for it; if a caller of step.h
  // gives none, it is allocated separately.
  void use_workspace(char *memory, size_t bytes) {
    scratch = memory;
    scratch_bytes = bytes;
  }
  void add_unchanged(char *, size_t, bool) {} // libraries read them as they are
  void weights_changed() {}
  void release(char *, size_t) {} // all that was allocated stays
  size_t workspace_bytes() {
    constexpr size_t kUnplanned = size_t(256) << 20;
    if (!scratch)
      use_workspace(allocate_uncounted(kUnplanned), kUnplanned);
    return scratch_bytes;
  }
  // Returns how much of it the plan has.
  size_t given_workspace_bytes() const { return scratch_bytes; }
  char *workspace(size_t bytes) {
    if (bytes > workspace_bytes())
      throw Error("a library call needs a workspace of " +
                  human_bytes(double(bytes)) + ", but the plan has " +
                  human_bytes(double(scratch_bytes)) +
                  "; compile with --workspace-size");
    return scratch;
  }
  // Where the algorithms of libraries that are the fastest are kept. Without
  // it none is timed.
  void use_autotune_record(const std::string &path) {
    autotune = std::make_unique<AutotuneRecord>(path);
  }
  AutotuneRecord *autotune_record() { return autotune.get(); }
  void use_attention_library(AttentionLibrary library) {
    attention_library = library;
  }
  // Memory that the plan does not count.
  char *allocate_uncounted(size_t bytes) {
    void *p = nullptr;
    if (cudaMalloc(&p, bytes) != cudaSuccess) {
      size_t free_bytes = 0, all_bytes = 0;
      cudaMemGetInfo(&free_bytes, &all_bytes);
      throw Error("cannot allocate " + human_bytes(double(bytes)) +
                  " on the GPU: " + human_bytes(double(free_bytes)) + " of " +
                  human_bytes(double(all_bytes)) + " are free");
    }
    // cudaMemset would return before the bytes are zero, in an order that no
    // stream of this context waits for.
    CHECK_CUDA(cudaMemsetAsync(p, 0, bytes, stream));
    CHECK_CUDA(cudaStreamSynchronize(stream));
    blocks.push_back(p);
    return static_cast<char *>(p);
  }
  char *allocate_staging(size_t bytes) { // pinned host memory
    void *p = nullptr;
    CHECK_CUDA(cudaMallocHost(&p, bytes));
    pinned.push_back(p);
    return static_cast<char *>(p);
  }
  // Allocates the pinned memory in which offloaded tensors wait, as one
  // allocation.
  void allocate_host(size_t bytes) {
    host_memory = bytes ? allocate_staging(bytes) : nullptr;
    host_bytes += bytes;
  }
  template <class L>
  L &library() {
    return libraries.get<L>();
  }

  const int device;
  cudaStream_t stream = nullptr, copy_stream = nullptr;
  int num_threads = 1;
  bool allows_tf32 = false; // of a program that was compiled so
  bool multiplies_by_warpgroups = false;
  AttentionLibrary attention_library = AttentionLibrary::Auto;
  size_t allocated_bytes = 0;
  char *host_memory = nullptr;
  size_t host_bytes = 0;
  CallObserver *observer = nullptr; // of the step's calls

private:
  char *scratch = nullptr;
  size_t scratch_bytes = 0;
  std::vector<void *> blocks, pinned;
  std::unique_ptr<AutotuneRecord> autotune;
  Libraries libraries;
};

// For callers whose threads are not the program's: gives back to the calling
// thread, at the end of the scope, what contexts change of it. That is its
// device.
class CallerScope {
public:
  CallerScope() {
    if (cudaGetDevice(&device_before) != cudaSuccess)
      device_before = -1; // there is no driver, which making a context tells
  }
  // The thread works with the context.
  explicit CallerScope(const Context &ctx) : CallerScope() {
    CHECK_CUDA(cudaSetDevice(ctx.device));
  }
  ~CallerScope() {
    if (device_before >= 0)
      cudaSetDevice(device_before);
  }
  CallerScope(const CallerScope &) = delete;
  CallerScope &operator=(const CallerScope &) = delete;

private:
  int device_before = -1;
};
inline void *native_stream(const Context &ctx) { return ctx.stream; }

// Each block has `shared_bytes` of shared memory beside its arrays.
template <class... P, class... A>
void launch_with_memory(Context &ctx, int64_t blocks, int threads,
                        size_t shared_bytes, void (*kernel)(P...), A... args) {
  if (blocks == 0)
    return;
  if (blocks > INT32_MAX)
    throw Error("a kernel of " + std::to_string(blocks) +
                " blocks; CUDA launches at most 2147483647");
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = shared_bytes;
  config.stream = ctx.stream;
  constexpr size_t kWithoutAsking = size_t(48) << 10;
  if (shared_bytes > kWithoutAsking)
    CHECK_CUDA(cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel),
                                    cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(shared_bytes)));
  CHECK_CUDA(cudaLaunchKernelEx(&config, kernel, args...));
}

template <class... P, class... A>
void launch(Context &ctx, int64_t blocks, int threads, void (*kernel)(P...),
            A... args) {
  launch_with_memory(ctx, blocks, threads, 0, kernel, args...);
}

// Where kernels find a DEVICE_TABLE: what the host knows under its name is no
// memory that it may read.
template <class Row, size_t kRows>
const Row *on_device(const Row (&table)[kRows]) {
  void *p = nullptr;
  CHECK_CUDA(cudaGetSymbolAddress(&p, table));
  return static_cast<const Row *>(p);
}

// Returns the alignment of an address, as libraries are told it. Offsets in a
// program are multiples of 256 bytes, but a slice of a tensor may have a
// smaller alignment.
template <class T>
int64_t alignment_of(const T *p) {
  return reinterpret_cast<uintptr_t>(p) % 16 == 0 ? 16 : int64_t(sizeof(T));
}

inline void set_zero(Context &ctx, void *p, size_t bytes) {
  CHECK_CUDA(cudaMemsetAsync(p, 0, bytes, ctx.stream));
}
inline void copy(Context &ctx, void *to, const void *from, size_t bytes) {
  CHECK_CUDA(
      cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, ctx.stream));
}
// Copies `rows` times `bytes`; the strides are in bytes.
inline void copy_rows(Context &ctx, void *to, size_t to_stride,
                      const void *from, size_t from_stride, size_t bytes,
                      size_t rows) {
  CHECK_CUDA(cudaMemcpy2DAsync(to, to_stride, from, from_stride, bytes, rows,
                               cudaMemcpyDeviceToDevice, ctx.stream));
}
// Moves `bytes` bytes of each row towards its beginning. `scratch` has room for
// the bytes of all rows: a copy must not overlap what it reads.
inline void move_in_rows(Context &ctx, char *rows, size_t stride, size_t to,
                         size_t from, size_t bytes, size_t count,
                         void *scratch) {
  copy_rows(ctx, scratch, bytes, rows + from, stride, bytes, count);
  copy_rows(ctx, rows + to, stride, scratch, bytes, bytes, count);
}
inline void synchronize(Context &ctx) {
  CHECK_CUDA(cudaStreamSynchronize(ctx.stream));
}
// These two return when the bytes have arrived.
inline void copy_to_device(Context &ctx, void *to, const void *from,
                           size_t bytes) {
  CHECK_CUDA(
      cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, ctx.stream));
  synchronize(ctx);
}
inline void copy_to_host(Context &ctx, void *to, const void *from,
                         size_t bytes) {
  CHECK_CUDA(
      cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, ctx.stream));
  synchronize(ctx);
}

// Marks a point in a stream.
struct Event {
  Event() {
    CHECK_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  }
  ~Event() { cudaEventDestroy(event); }
  Event(const Event &) = delete;
  Event &operator=(const Event &) = delete;
  void record(Context &ctx) { CHECK_CUDA(cudaEventRecord(event, ctx.stream)); }
  void record_copy(Context &ctx) {
    CHECK_CUDA(cudaEventRecord(event, ctx.copy_stream));
  }
  void wait(Context &ctx) {
    CHECK_CUDA(cudaStreamWaitEvent(ctx.stream, event));
  }
  void copy_waits(Context &ctx) {
    CHECK_CUDA(cudaStreamWaitEvent(ctx.copy_stream, event));
  }
  void synchronize() { CHECK_CUDA(cudaEventSynchronize(event)); }

  cudaEvent_t event;
};

// Returns the name that the device gives itself.
inline std::string device_name() {
  int device = 0;
  cudaDeviceProp properties;
  CHECK_CUDA(cudaGetDevice(&device));
  CHECK_CUDA(cudaGetDeviceProperties(&properties, device));
  return properties.name;
}

// Timestamps in the step's stream, to time what lies between them.
class Timestamps : public CallObserver {
public:
  Timestamps() = default;
  ~Timestamps() override {
    for (cudaEvent_t event : events)
      cudaEventDestroy(event);
  }
  Timestamps(const Timestamps &) = delete;
  Timestamps &operator=(const Timestamps &) = delete;

  void add(Context &ctx) {
    if (count == events.size())
      CHECK_CUDA(cudaEventCreate(&events.emplace_back()));
    launched.push_back(host_now());
    CHECK_CUDA(cudaEventRecord(events[count++], ctx.stream));
  }
  void begin_call(Context &ctx) override { add(ctx); }
  // Returns the nanoseconds from each timestamp to the next one, and removes
  // all timestamps.
  std::vector<double> take() {
    std::vector<double> gaps;
    if (count > 0)
      CHECK_CUDA(cudaEventSynchronize(events[count - 1]));
    for (size_t i = 1; i < count; i++) {
      float milliseconds = 0;
      CHECK_CUDA(cudaEventElapsedTime(&milliseconds, events[i - 1], events[i]));
      gaps.push_back(1e6 * double(milliseconds));
    }
    count = 0;
    launched.clear();
    return gaps;
  }
  // Does the same, and says when each of them began: as long before the last
  // timestamp as the device says. That one is reached when the host, which
  // waits for it, goes on, give or take some microseconds.
  std::vector<TimedCall> take_calls() {
    if (count == 0)
      return {};
    CHECK_CUDA(cudaEventSynchronize(events[count - 1]));
    double begin = host_now();
    const std::vector<double> host = launched, gaps = take();
    for (double gap : gaps)
      begin -= gap;
    std::vector<TimedCall> calls(gaps.size());
    for (size_t i = 0; i < gaps.size(); i++) {
      calls[i] = {begin, gaps[i], host[i], host[i + 1] - host[i]};
      begin += gaps[i];
    }
    return calls;
  }

private:
  static double host_now() {
    return std::chrono::duration<double, std::nano>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
  std::vector<double> launched; // when the host has added each of them
  std::deque<cudaEvent_t> events;
  size_t count = 0;
};

constexpr bool kStagingIsDevice = false;
inline void copy_from_staging(Context &ctx, void *to, const void *from,
                              size_t bytes) {
  CHECK_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice,
                             ctx.copy_stream));
}

// Runs a fixed sequence of launches again and again: the first time as it is,
// while libraries choose their algorithms and take their memory; the second
// time it is captured, and from then on it is one graph launch.
struct Replay {
  template <class F>
  void run(Context &ctx, F f) {
    if (!warm) {
      f();
      warm = true;
      return;
    }
    if (!graph)
      capture(ctx, f);
    CHECK_CUDA(cudaGraphLaunch(graph, ctx.stream));
  }
  template <class F>
  void capture(Context &ctx, F f) {
    cudaGraph_t captured = nullptr;
    CHECK_CUDA(
        cudaStreamBeginCapture(ctx.stream, cudaStreamCaptureModeThreadLocal));
    try {
      f();
    } catch (...) {
      if (cudaStreamEndCapture(ctx.stream, &captured) == cudaSuccess)
        cudaGraphDestroy(captured);
      cudaGetLastError(); // what has failed is the error to tell
      throw;
    }
    CHECK_CUDA(cudaStreamEndCapture(ctx.stream, &captured));
    const cudaError_t status = cudaGraphInstantiate(&graph, captured, 0);
    cudaGraphDestroy(captured);
    check_cuda(status, "cudaGraphInstantiate", __FILE__, __LINE__);
  }
  ~Replay() {
    if (graph)
      cudaGraphExecDestroy(graph);
  }

  bool warm = false;
  cudaGraphExec_t graph = nullptr;
};

} // namespace gpuopt
