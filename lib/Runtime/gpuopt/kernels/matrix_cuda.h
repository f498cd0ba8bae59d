// Products of small matrices by a warp. Operands lie in shared memory as tiles:
// rows of D elements, one behind the other, each padded by 16 bytes, so that
// the rows that a warp reads at once lie in different banks.
//
// Results lie in registers. A strip is 16 rows of 8 N columns, float x[N][4]:
// lane 4 g + t has, in x[n], the columns 8 n + 2 t and 8 n + 2 t + 1 of row g,
// and then of row g + 8. So a row of a strip is spread over the four lanes of a
// quad.
//
// f16, bf16 and tf32 are multiplied by matrix units, float by the usual ones.
// Elements of a tile in tf32 are rounded before, where they lie.
#pragma once

#include "gpuopt/kernels/lanes.h"
#include "gpuopt/kernels/ptx_cuda.h"

namespace gpuopt::detail {

// Whether the matrix units of a GPU multiply elements of this type.
template <class T>
constexpr bool kHasMatrixUnits = sizeof(T) == 2 || std::is_same_v<T, tf32>;

constexpr int kStripRows = 16;
// How many elements of T fit into 16 bytes.
template <class T>
constexpr int kTileVector = 16 / int(sizeof(T));
// The distance from one row of a tile to the next, in elements.
template <class T, int D>
constexpr int kTileStride = D + kTileVector<T>;
// How many elements of a row of a left operand a product of matrix units takes.
template <class T>
constexpr int kProductDepth = 2 * kTileVector<T>;

// Where the elements of a tile are.
template <class T, int D>
struct PaddedRows {
  static constexpr int kStride = kTileStride<T, D>;

  static DEVICE int place(int row, int column) {
    return row * kStride + column;
  }
};

// Rows of 64 elements of half precision, which are 128 bytes, one behind the
// other. The eight pieces of 16 bytes of row r have changed places: piece p is
// where piece p ^ (r % 8) would be, so that the same piece of eight rows lies
// in different banks, whether products read rows or columns ("128B swizzle" in
// the PTX ISA).
constexpr int kSwizzledColumns = 64;

struct SwizzledRows {
  static constexpr int kStride = kSwizzledColumns, kPiece = 8;

  static DEVICE int place(int row, int column) {
    return row * kStride + (column / kPiece ^ row % kPiece) * kPiece +
           column % kPiece;
  }
};

DEVICE int lane_of_warp() { return int(threadIdx.x) % 32; }
// Return the row and the column of element i of x[n] of this lane in a strip.
DEVICE int strip_row(int i) { return lane_of_warp() / 4 + 8 * (i / 2); }
DEVICE int strip_column(int n, int i) {
  return 8 * n + 2 * (lane_of_warp() % 4) + i % 2;
}

// Reductions over a row of a strip; all four lanes get the result.
DEVICE float quad_max(float x) {
  x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 1));
  return fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 2));
}
DEVICE float quad_sum(float x) {
  x += __shfl_xor_sync(0xffffffffu, x, 1);
  return x + __shfl_xor_sync(0xffffffffu, x, 2);
}

// Calls f(n, i) for each element of this lane.
template <int N, class F>
DEVICE void for_each_element(const F &f) {
  UNROLL
  for (int n = 0; n < N; n++) {
    UNROLL
    for (int i = 0; i < 4; i++)
      f(n, i);
  }
}
template <int N>
DEVICE void set_zero(float (&x)[N][4]) {
  for_each_element<N>([&](int n, int i) { x[n][i] = 0; });
}

// ---- The left operand of a product -----------------------------------------

// 16 rows that stay in shared memory.
template <class T, int D>
struct SharedRows {
  const T *rows;

  SharedRows() = default;
  DEVICE explicit SharedRows(const T *rows) : rows(rows) {}
  // The columns from kProductDepth k on, as a matrix unit wants them.
  DEVICE void read(uint32_t (&a)[4], int k) const {
    const int lane = lane_of_warp();
    ptx::ldmatrix(a, rows + lane % 16 * kTileStride<T, D> +
                         kProductDepth<T> * k + lane / 16 * kTileVector<T>);
  }
};

// 16 rows of half precision that are read once into D / 4 registers.
template <class T, int D>
struct HeldRows {
  uint32_t words[D / 16][4];

  HeldRows() = default;
  DEVICE explicit HeldRows(const T *rows) {
    const SharedRows<T, D> shared(rows);
    UNROLL
    for (int k = 0; k < D / 16; k++)
      shared.read(words[k], k);
  }
  DEVICE void read(uint32_t (&a)[4], int k) const {
    UNROLL
    for (int i = 0; i < 4; i++)
      a[i] = words[k][i];
  }
};

// Finds the S strips of a warp, which lie one behind the other.
template <int S, class T, int D, template <class, int> class Rows>
DEVICE void find_strips(Rows<T, D> (&strips)[S], const T *first) {
  UNROLL
  for (int s = 0; s < S; s++)
    strips[s] = Rows<T, D>(first + s * kStripRows * kTileStride<T, D>);
}

// ---- Matrix units ----------------------------------------------------------

template <class T>
DEVICE void mma(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                uint32_t b1) {
  if constexpr (std::is_same_v<T, f16>)
    ptx::mma_f16(c, a, b0, b1);
  else if constexpr (std::is_same_v<T, bf16>)
    ptx::mma_bf16(c, a, b0, b1);
  else if constexpr (std::is_same_v<T, tf32>)
    ptx::mma_tf32(c, a, b0, b1);
  else
    static_assert(!sizeof(T), "no matrix unit multiplies this type");
}
template <class T>
DEVICE uint32_t pack_pair(float low, float high) {
  if constexpr (std::is_same_v<T, f16>)
    return ptx::pack_f16(low, high);
  else
    return ptx::pack_bf16(low, high);
}

// Two neighbours n of c at a time: the four matrices of one load are two
// neighbours of 16 bytes of the tile's rows 8 n, and of the rows 8 n + 8. All
// strips use what was loaded.
template <int D, int S, int N, class T, class Rows>
DEVICE void multiply_transposed_on_units(float (&c)[S][N][4],
                                         const Rows (&a)[S], const T *tile) {
  const int lane = lane_of_warp();
  const T *mine = tile + (lane % 8 + lane / 16 * 8) * kTileStride<T, D> +
                  lane / 8 % 2 * kTileVector<T>;
  UNROLL
  for (int k = 0; k < D / kProductDepth<T>; k++) {
    uint32_t left[S][4];
    UNROLL
    for (int s = 0; s < S; s++)
      a[s].read(left[s], k);
    UNROLL
    for (int n = 0; n < N; n += 2) {
      uint32_t right[4];
      ptx::ldmatrix(right,
                    mine + 8 * n * kTileStride<T, D> + kProductDepth<T> * k);
      UNROLL
      for (int s = 0; s < S; s++) {
        mma<T>(c[s][n], left[s], right[0], right[1]);
        mma<T>(c[s][n + 1], left[s], right[2], right[3]);
      }
    }
  }
}

// Where a lane holds two neighbours of a result, it holds two of a left
// operand: a strip of results becomes one as it is, rounded. The matrices of
// one load are the tile's rows 8 k and 8 k + 8 of columns 8 n, and of columns 8
// n + 8.
template <int D, int S, int N, class T>
DEVICE void add_product_on_units(float (&c)[S][D / 8][4],
                                 const float (&p)[S][N][4], const T *tile) {
  const int lane = lane_of_warp();
  const T *mine = tile + lane % 16 * kTileStride<T, D> + lane / 16 * 8;
  UNROLL
  for (int k = 0; k < N; k += 2) {
    uint32_t left[S][4];
    UNROLL
    for (int s = 0; s < S; s++) {
      UNROLL
      for (int i = 0; i < 4; i++)
        left[s][i] = pack_pair<T>(p[s][k + i / 2][2 * (i % 2)],
                                  p[s][k + i / 2][2 * (i % 2) + 1]);
    }
    UNROLL
    for (int n = 0; n < D / 8; n += 2) {
      uint32_t right[4];
      ptx::ldmatrix_transposed(right, mine + 8 * k * kTileStride<T, D> + 8 * n);
      UNROLL
      for (int s = 0; s < S; s++) {
        mma<T>(c[s][n], left[s], right[0], right[1]);
        mma<T>(c[s][n + 1], left[s], right[2], right[3]);
      }
    }
  }
}

// In TF32, a lane holds the columns t and t + 4 of a left operand. These are
// the keys 2 t and 2 t + 1 that it has of p, if the rows of the tile come in
// the same order.
template <int D, int S, int N>
DEVICE void add_product_in_tf32(float (&c)[S][D / 8][4],
                                const float (&p)[S][N][4], const tf32 *tile) {
  constexpr int kStride = kTileStride<tf32, D>;
  static_assert(kStride % 32 == 4, "32 lanes read from 32 banks");
  const tf32 *mine = tile + strip_column(0, 0) * kStride + lane_of_warp() / 4;
  UNROLL
  for (int k = 0; k < N; k++) {
    uint32_t left[S][4];
    UNROLL
    for (int s = 0; s < S; s++) {
      UNROLL
      for (int i = 0; i < 4; i++)
        left[s][i] = ptx::round_to_tf32(p[s][k][i % 2 * 2 + i / 2]);
    }
    UNROLL
    for (int n = 0; n < D / 8; n++) {
      const tf32 *right = mine + 8 * k * kStride + 8 * n;
      const auto even = bit_cast<uint32_t>(right[0]),
                 odd = bit_cast<uint32_t>(right[kStride]);
      UNROLL
      for (int s = 0; s < S; s++)
        mma<tf32>(c[s][n], left[s], even, odd);
    }
  }
}

// ---- Without matrix units --------------------------------------------------

DEVICE float4 four(const float *p) {
  return *reinterpret_cast<const float4 *>(p);
}
DEVICE float add_dot(float c, float4 a, float4 b) {
  return fmaf(a.w, b.w, fmaf(a.z, b.z, fmaf(a.y, b.y, fmaf(a.x, b.x, c))));
}

template <int D, int N>
DEVICE void multiply_transposed_by_lanes(float (&c)[N][4], const float *rows,
                                         const float *tile) {
  constexpr int kStride = kTileStride<float, D>;
  const float *left = rows + strip_row(0) * kStride;
  const float *right = tile + strip_column(0, 0) * kStride;
  for (int k = 0; k < D; k += 4) {
    const float4 upper = four(left + k), lower = four(left + 8 * kStride + k);
    UNROLL
    for (int n = 0; n < N; n++) {
      const float4 even = four(right + 8 * n * kStride + k);
      const float4 odd = four(right + (8 * n + 1) * kStride + k);
      c[n][0] = add_dot(c[n][0], upper, even);
      c[n][1] = add_dot(c[n][1], upper, odd);
      c[n][2] = add_dot(c[n][2], lower, even);
      c[n][3] = add_dot(c[n][3], lower, odd);
    }
  }
}

// The lanes of a quad have a row of p among them and tell each other.
template <int D, int N>
DEVICE void add_product_by_lanes(float (&c)[D / 8][4], const float (&p)[N][4],
                                 const float *tile) {
  const int quad = lane_of_warp() / 4 * 4;
  const float *mine = tile + strip_column(0, 0);
  UNROLL
  for (int k = 0; k < 8 * N; k++) {
    const int owner = quad + k % 8 / 2;
    const float upper = __shfl_sync(0xffffffffu, p[k / 8][k % 2], owner);
    const float lower = __shfl_sync(0xffffffffu, p[k / 8][2 + k % 2], owner);
    UNROLL
    for (int n = 0; n < D / 8; n++) {
      const float2 right = *reinterpret_cast<const float2 *>(
          mine + k * kTileStride<float, D> + 8 * n);
      c[n][0] = fmaf(upper, right.x, c[n][0]);
      c[n][1] = fmaf(upper, right.y, c[n][1]);
      c[n][2] = fmaf(lower, right.x, c[n][2]);
      c[n][3] = fmaf(lower, right.y, c[n][3]);
    }
  }
}

// ---- Products --------------------------------------------------------------

// c[s][16, 8 N] = a[s][16, D] times the transpose of tile[8 N, D], for S
// strips.
template <int D, int S, int N, class T, class Rows>
DEVICE void multiply_transposed(float (&c)[S][N][4], const Rows (&a)[S],
                                const T *tile) {
  UNROLL
  for (int s = 0; s < S; s++)
    set_zero(c[s]);
  if constexpr (kHasMatrixUnits<T>) {
    multiply_transposed_on_units<D>(c, a, tile);
  } else {
    UNROLL
    for (int s = 0; s < S; s++)
      multiply_transposed_by_lanes<D>(c[s], a[s].rows, tile);
  }
}

// c[s][16, D] += p[s][16, 8 N] times tile[8 N, D], for S strips. On matrix
// units, p is rounded to T.
template <int D, int S, int N, class T>
DEVICE void add_product(float (&c)[S][D / 8][4], const float (&p)[S][N][4],
                        const T *tile) {
  if constexpr (std::is_same_v<T, tf32>) {
    add_product_in_tf32<D>(c, p, tile);
  } else if constexpr (kHasMatrixUnits<T>) {
    add_product_on_units<D>(c, p, tile);
  } else {
    UNROLL
    for (int s = 0; s < S; s++)
      add_product_by_lanes<D>(c[s], p[s], tile);
  }
}

} // namespace gpuopt::detail
