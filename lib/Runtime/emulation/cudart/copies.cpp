// Allocations, copies and fills.
#include "emulation/cudart/cudart.h"

#include <cstring>
#include <vector>

namespace gpuopt::emulation {
namespace {

bool is_on_device(const void *address) {
  const Allocation *a = device().memory.find(address);
  return a && a->kind == MemoryKind::Device;
}
bool is_pinned(const void *address) {
  const Allocation *a = device().memory.find(address);
  return a && a->kind == MemoryKind::Pinned;
}

std::string kind_name(cudaMemcpyKind kind) {
  switch (kind) {
  case cudaMemcpyHostToDevice:
    return "cudaMemcpyHostToDevice";
  case cudaMemcpyDeviceToHost:
    return "cudaMemcpyDeviceToHost";
  default:
    return "cudaMemcpyDeviceToDevice";
  }
}

void expect_side(const void *address, size_t bytes, bool on_device,
                 const std::string &what) {
  if (on_device)
    expect_on_device(device().memory, address, bytes, what);
  else if (is_on_device(address))
    throw Fault(what + " is memory of the device");
}

void check_copy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
  if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToHost &&
      kind != cudaMemcpyDeviceToDevice)
    refuse(cudaErrorInvalidMemcpyDirection,
           "the emulation copies between host and device, and on the device");
  expect_side(to, bytes, kind != cudaMemcpyDeviceToHost,
              "the destination of a copy with " + kind_name(kind));
  expect_side(from, bytes, kind != cudaMemcpyHostToDevice,
              "the source of a copy with " + kind_name(kind));
  const auto *a = static_cast<const char *>(from);
  const auto *b = static_cast<const char *>(to);
  if (a < b + bytes && b < a + bytes)
    throw Fault("the source of a copy overlaps its destination");
}

// The driver copies pageable memory into memory of its own before the call
// returns, and the device copies from there.
std::function<void()> staged_copy(void *to, const void *from, size_t bytes) {
  const auto *begin = static_cast<const char *>(from);
  return [to, held = std::vector<char>(begin, begin + bytes)] {
    memcpy(to, held.data(), held.size());
  };
}

void copy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
          CUstream_st &stream, bool waits) {
  if (bytes == 0)
    return;
  check_copy(to, from, bytes, kind);
  const bool reads_host = kind == cudaMemcpyHostToDevice;
  const bool writes_host = kind == cudaMemcpyDeviceToHost;
  const bool is_pageable =
      (reads_host && !is_pinned(from)) || (writes_host && !is_pinned(to));
  if (is_pageable && is_captured(stream))
    refuse(cudaErrorStreamCaptureUnsupported,
           "a copy of pageable memory is captured");
  Activity activity;
  activity.kind = reads_host    ? ActivityKind::CopyToDevice
                  : writes_host ? ActivityKind::CopyToHost
                                : ActivityKind::CopyOnDevice;
  activity.bytes = bytes;
  const CompletionPtr done =
      is_pageable && reads_host
          ? enqueue(stream, staged_copy(to, from, bytes), activity)
          : enqueue(stream, [=] { memcpy(to, from, bytes); }, activity);
  if (waits || (is_pageable && writes_host))
    device().run_until(done);
}

// Copies on the device alone.
void copy_rows(char *to, size_t to_pitch, const char *from, size_t from_pitch,
               size_t width, size_t height, cudaMemcpyKind kind,
               CUstream_st &stream) {
  if (kind != cudaMemcpyDeviceToDevice)
    refuse(cudaErrorInvalidMemcpyDirection,
           "the emulation copies rows on the device alone");
  if (width > to_pitch || width > from_pitch)
    refuse(cudaErrorInvalidPitchValue, "a row is longer than a pitch");
  if (width == 0 || height == 0)
    return;
  check_copy(to, from, width, kind);
  check_copy(to + (height - 1) * to_pitch, from + (height - 1) * from_pitch,
             width, kind);
  Activity activity;
  activity.kind = ActivityKind::CopyOnDevice;
  activity.bytes = width * height;
  enqueue(
      stream,
      [=] {
        for (size_t row = 0; row < height; row++)
          memcpy(to + row * to_pitch, from + row * from_pitch, width);
      },
      activity);
}

void fill(void *to, int value, size_t bytes, CUstream_st &stream) {
  if (bytes == 0)
    return;
  expect_on_device(device().memory, to, bytes, "the destination of a fill");
  Activity activity;
  activity.kind = ActivityKind::Fill;
  activity.bytes = bytes;
  enqueue(stream, [=] { memset(to, value, bytes); }, activity);
}

cudaError_t allocate(MemoryKind kind, void **data, size_t bytes,
                     const char *function) {
  return cudart([&] {
    forbid_in_capture(function);
    *data = bytes ? device().memory.allocate(kind, bytes) : nullptr;
    if (bytes && !*data)
      refuse(cudaErrorMemoryAllocation, "out of memory");
  });
}

cudaError_t release(MemoryKind kind, void *data, const char *function) {
  return cudart([&] {
    if (!data)
      return;
    forbid_in_capture(function);
    device().run_all(); // freeing waits for the device
    if (!device().memory.release(kind, data))
      refuse(cudaErrorInvalidValue,
             std::string(function) + " of what was not allocated so");
  });
}

} // namespace
} // namespace gpuopt::emulation

using namespace gpuopt::emulation;

cudaError_t cudaMalloc(void **data, size_t bytes) {
  return allocate(MemoryKind::Device, data, bytes, "cudaMalloc");
}
cudaError_t cudaMallocHost(void **data, size_t bytes) {
  return allocate(MemoryKind::Pinned, data, bytes, "cudaMallocHost");
}
cudaError_t cudaFree(void *data) {
  return release(MemoryKind::Device, data, "cudaFree");
}
cudaError_t cudaFreeHost(void *data) {
  return release(MemoryKind::Pinned, data, "cudaFreeHost");
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *all_bytes) {
  return cudart([&] {
    *free_bytes = device().memory.free_bytes();
    *all_bytes = Memory::kDeviceBytes;
  });
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                            cudaMemcpyKind kind, cudaStream_t stream) {
  return cudart([&] { copy(to, from, bytes, kind, stream_of(stream), false); });
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from,
                              size_t from_pitch, size_t width, size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  return cudart([&] {
    copy_rows(static_cast<char *>(to), to_pitch,
              static_cast<const char *>(from), from_pitch, width, height, kind,
              stream_of(stream));
  });
}

// A __device__ variable is one of the process, which kernels read in its place.
cudaError_t cudaGetSymbolAddress(void **address, const void *symbol) {
  return cudart([&] { *address = const_cast<void *>(symbol); });
}

// A copy on the device returns before it is done.
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes,
                       cudaMemcpyKind kind) {
  return cudart([&] {
    forbid_in_capture("cudaMemcpy");
    copy(to, from, bytes, kind, stream_of(nullptr),
         kind != cudaMemcpyDeviceToDevice);
  });
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes,
                            cudaStream_t stream) {
  return cudart([&] { fill(to, value, bytes, stream_of(stream)); });
}

// The manual says: asynchronous with respect to the host.
cudaError_t cudaMemset(void *to, int value, size_t bytes) {
  return cudart([&] {
    forbid_in_capture("cudaMemset");
    fill(to, value, bytes, stream_of(nullptr));
  });
}
