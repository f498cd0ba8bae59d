// A block of threads, run by one processor. Threads take turns: a warp that is
// chosen at random runs as far as it gets, its lanes in random order, before
// another one does. So a thread that relies on another one without a barrier
// soon meets one that is far ahead or far behind.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

#ifndef GPUOPT_EMULATED_WARP_SIZE
#define GPUOPT_EMULATED_WARP_SIZE 32 // or 64, as on AMD's CDNA
#endif

// CUDA's names for the position of the running thread.
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;

namespace gpuopt::emulation {

constexpr int kWarpSize = GPUOPT_EMULATED_WARP_SIZE;
static_assert(kWarpSize == 32 || kWarpSize == 64, "no GPU has other warps");

// Whether a thread of a kernel is running, rather than the host or a library.
extern bool is_inside_kernel;

// Runs all blocks of a grid, one after the other in random order. Shared memory
// holds NaNs when a block begins. Each block has `dynamic_bytes` of dynamic
// shared memory, and behind them a page that nobody may touch.
constexpr size_t kMostDynamicBytes = size_t(227) << 10;
void run_grid(dim3 grid, dim3 block, size_t dynamic_bytes,
              const std::function<void()> &kernel);
// The dynamic shared memory of the block that is running.
char *dynamic_memory();

// Calls of threads to the scheduler, inside of kernels only.

// Waits until all threads of the block wait here. It is a Fault if some wait at
// another line, or have left the kernel.
void wait_for_block(const char *file, int line);

// Something that the lanes of a warp do together. All lanes in `mask` must take
// part, with the same mask and the same kind.
struct MatrixLane;
struct WarpgroupOperands;
enum class ExchangeKind { Shuffle, Ballot, Barrier, Matrix, WarpgroupProduct };
struct Exchange {
  ExchangeKind kind = ExchangeKind::Barrier;
  uint64_t mask = 0;
  uint64_t value = 0; // Shuffle: what others may read; Ballot: 0 or 1
  int source = 0;     // Shuffle: the lane to read
  // Matrix: the lane's operands, and where its part of the result goes
  MatrixLane *matrix = nullptr;
  // WarpgroupProduct: the thread's operands. All warps of the group take part.
  const WarpgroupOperands *product = nullptr;
};
// Returns the value of `source`, or a bit for each lane whose value is not 0.
uint64_t exchange(const Exchange &mine);
// Returns the place of the running thread in its warp.
int lane_in_warp();

// A thread has read or written a vector at an address that is no multiple of
// `alignment`; throws.
[[noreturn]] void refuse_misaligned(const void *address, size_t alignment);
// Reads or writes a vector of the memory at `place`. A host compiler may move
// what an aligned and another access have in common before the question which
// of them it is. So nothing here tells it of an alignment; it is checked.
template <size_t Alignment>
inline void copy_vector(void *to, const void *from, size_t bytes,
                        const void *place) {
  if (reinterpret_cast<uintptr_t>(place) % Alignment != 0)
    refuse_misaligned(place, Alignment);
  memcpy(to, from, bytes);
}

// Copies to shared memory that arrive late. The destination holds NaNs from the
// call on. The bytes arrive when the thread waits for the group of the copy, no
// earlier, and never if it does not wait. The bytes from `read` up to `bytes`
// become zero. An address that is no multiple of `bytes` is a Fault.
void copy_late(void *to, const void *from, size_t bytes, size_t read);
// Makes one group of the copies that the thread has begun since its last group.
void close_copy_group();
// Waits for all closed groups of this thread but the last `pending` ones.
void wait_for_copy_groups(size_t pending);

// Products of warpgroups (machine/warpgroup.h). A thread says that its
// registers are ready, after it has touched those of a product; begins a
// product; makes one group of those that it has begun; and waits for all groups
// but the last `pending` ones. It is a Fault if a thread of the block has
// copies that have arrived and that it has not shown to products when one
// begins.
void arrive_for_products();
void begin_warpgroup_product(const WarpgroupOperands &mine);
void close_product_group();
void wait_for_product_groups(size_t pending);
void show_copies_to_products();

} // namespace gpuopt::emulation
