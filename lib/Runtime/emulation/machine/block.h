// A block of threads, run by one processor. Threads take turns: a warp that is
// chosen at random runs as far as it gets, its lanes in random order, before
// another one does. So a thread that relies on another one without a barrier
// soon meets one that is far ahead or far behind.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>

#ifndef GPUOPT_EMULATED_WARP_SIZE
#define GPUOPT_EMULATED_WARP_SIZE 32 // or 64, as on AMD's CDNA
#endif

// CUDA's names for where the thread that is running stands.
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;

namespace gpuopt::emulation {

constexpr int kWarpSize = GPUOPT_EMULATED_WARP_SIZE;
static_assert(kWarpSize == 32 || kWarpSize == 64, "no GPU has other warps");

// Whether a thread of a kernel is running, rather than the host or a library.
extern bool is_inside_kernel;

// Runs all blocks of a grid, one after the other in random order. Shared memory
// holds NaNs when a block begins.
void run_grid(dim3 grid, dim3 block, const std::function<void()> &kernel);

// What threads say to the scheduler; only inside of kernels.

// Waits until all threads of the block wait here. A Fault: some wait at another
// line, or have left the kernel.
void wait_for_block(const char *file, int line);

// What the lanes of a warp do together. All lanes that `mask` names must come,
// with the same mask and the same kind. Products of matrices (mma, ldmatrix)
// will be further kinds, which take more bytes than these.
enum class ExchangeKind { Shuffle, Ballot, Barrier };
struct Exchange {
  ExchangeKind kind = ExchangeKind::Barrier;
  uint64_t mask = 0;
  uint64_t value = 0; // Shuffle: what others may read; Ballot: 0 or 1
  int source = 0;     // Shuffle: the lane to read
};
// Returns the value of `source`, or a bit for each lane whose value is not 0.
uint64_t exchange(const Exchange &mine);
// The place of the thread that is running in its warp.
int lane_in_warp();

} // namespace gpuopt::emulation
