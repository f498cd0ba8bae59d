// Products of small matrices by a warpgroup. Operands lie in shared memory as
// tiles of swizzled rows (matrix_cuda.h), from a multiple of 1024 bytes on.
//
// Results lie in registers as strips (matrix_cuda.h): warp w of a warpgroup has
// the rows 16 w to 16 w + 15 of its 64 rows.
#pragma once

#include "gpuopt/kernels/matrix_cuda.h"
#include "gpuopt/kernels/ptx_warpgroup_cuda.h"

namespace gpuopt::detail {

constexpr int kWarpgroupThreads = 128, kWarpgroupRows = 64;

// The first row of the running warpgroup, in a block of so many threads.
template <int Threads>
DEVICE int first_row_of_warpgroup() {
  if constexpr (Threads == kWarpgroupThreads)
    return 0;
  return int(threadIdx.x) / kWarpgroupThreads * kWarpgroupRows;
}

// Returns the lower half of the descriptor of a tile, or of its rows from a
// multiple of eight on: the address in units of 16 bytes, and a distance
// between groups of 64 columns, which is never asked for.
template <class T>
DEVICE uint32_t matrix_descriptor(const T *tile) {
  return (ptx::shared_address(tile) & 0x3ffff) / 16 | 1u << 16;
}
// What is added to a descriptor for the columns, or the rows, 16 further on.
constexpr uint32_t kNextColumns = 16 * 2 / 16,
                   kNextRows = 16 * kSwizzledColumns * 2 / 16;

template <class T, int N>
DEVICE void multiply_shared(float (&c)[N][4], uint32_t a, uint32_t b,
                            bool adds) {
  if constexpr (std::is_same_v<T, f16>)
    ptx::multiply_shared_f16(c, a, b, adds);
  else
    ptx::multiply_shared_bf16(c, a, b, adds);
}
template <class T>
DEVICE void multiply_held(float (&c)[8][4], const uint32_t (&a)[4], uint32_t b,
                          bool adds) {
  if constexpr (std::is_same_v<T, f16>)
    ptx::multiply_held_f16(c, a, b, adds);
  else
    ptx::multiply_held_bf16(c, a, b, adds);
}

// Begins c[64, 8 N] = rows[64, 64] times the transpose of tile[8 N, 64].
template <class T, int N>
DEVICE void begin_multiply_transposed(float (&c)[N][4], uint32_t rows,
                                      const T *tile) {
  const uint32_t of_tile = matrix_descriptor(tile);
  UNROLL
  for (int k = 0; k < kSwizzledColumns / 16; k++)
    multiply_shared<T>(c, rows + k * kNextColumns, of_tile + k * kNextColumns,
                       k > 0);
}

// Begins a group of products that read and write these strips.
template <class... Strips>
DEVICE void begin_products(Strips &...c) {
  (ptx::fence_registers(c), ...);
  ptx::warpgroup_arrive();
}
// Ends the group.
DEVICE void end_products() { ptx::warpgroup_commit(); }
// Waits until the strips have the results of all groups.
template <class... Strips>
DEVICE void await_products(Strips &...c) {
  ptx::warpgroup_wait<0>();
  (ptx::fence_registers(c), ...);
}
// Ends the group, and waits until the strips have its results.
template <class... Strips>
DEVICE void finish_products(Strips &...c) {
  end_products();
  await_products(c...);
}

// The left operand of a product: a strip of results, rounded to half precision.
template <int N>
struct HeldStrip {
  uint32_t words[N / 2][4];

  template <class T>
  DEVICE void hold(const float (&p)[N][4]) {
    UNROLL
    for (int k = 0; k < N / 2; k++) {
      UNROLL
      for (int i = 0; i < 4; i++)
        words[k][i] = pack_pair<T>(p[2 * k + i / 2][2 * (i % 2)],
                                   p[2 * k + i / 2][2 * (i % 2) + 1]);
    }
  }
};

// Begins c[64, 64] += p[64, 8 N] times tile[8 N, 64].
template <class T, int N>
DEVICE void begin_add_product(float (&c)[8][4], const HeldStrip<N> &p,
                              const T *tile) {
  const uint32_t of_tile = matrix_descriptor(tile);
  UNROLL
  for (int k = 0; k < N / 2; k++)
    multiply_held<T>(c, p.words[k], of_tile + k * kNextRows, true);
}

} // namespace gpuopt::detail
