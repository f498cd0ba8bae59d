// Copies of tiles between the memory of a GPU and what its threads compute
// with, for the kernels of attention.
#pragma once

#include "gpuopt/kernels/matrix_cuda.h"

namespace gpuopt::detail {

// A matrix of one element of the batch, in global memory.
template <class T>
struct Matrix {
  T *data;
  int rows, columns, stride;
  bool has_vectors; // 16 bytes at a time are aligned, and none reach over a row

  DEVICE Matrix(T *data, int64_t rows, int64_t columns, int64_t stride)
      : data(data), rows(int(rows)), columns(int(columns)),
        stride(int(stride)) {
    constexpr int kVector = kTileVector<T>;
    has_vectors = reinterpret_cast<uintptr_t>(data) % 16 == 0 &&
                  stride % kVector == 0 && columns % kVector == 0;
  }
};

// Copies the tiles of a matrix one after the other, from the row `first` on.
// Rows and columns that the matrix does not have are zero. The elements are
// there after a wait and a barrier.
//
// A thread copies 16 bytes of every kStep-th row, all in the same column. If it
// knows their places, it has the address of the first one of the next tile in
// registers. All rows must be aligned then (has_vectors). Otherwise it finds
// each address when it copies, and rows that are not aligned by elements.
// Layout says where the elements of a tile are: every kStep-th row must have
// its columns in the same places.
template <int Rows, int D, int Threads, bool KnowsPlaces, class T,
          class Layout = PaddedRows<T, D>>
class TileCopies {
  static constexpr int kVector = kTileVector<T>, kVectors = D / kVector;
  static constexpr int kStep = Threads / kVectors;
  static_assert(Threads % kVectors == 0 && Rows % kStep == 0);

public:
  DEVICE TileCopies(const Matrix<const T> &from, int first)
      : next(from.data + int64_t(first + row()) * from.stride +
             (column() < from.columns ? column() : 0)),
        rows(column() < from.columns ? from.rows - row() : 0) {}

  // Begins to copy the next tile, whose first row is `first`.
  DEVICE void copy(T *tile, const Matrix<const T> &from, int first) {
    T *to = tile + Layout::place(row(), column());
    if constexpr (KnowsPlaces) {
      UNROLL
      for (int i = 0; i < Rows; i += kStep) {
        const bool exists = first + i < rows;
        // Nothing is read from an address that may lie behind the matrix.
        ptx::cp_async(to + i * Layout::kStride, next + int64_t(i) * from.stride,
                      exists ? 16 : 0);
      }
      next += int64_t(Rows) * from.stride;
    } else {
#pragma unroll 1
      for (int i = 0; i < Rows; i += kStep)
        copy_any(to + i * Layout::kStride, from, first + row() + i);
    }
  }

  // Rounds the elements that this thread has copied, where products are in
  // TF32. They must have arrived.
  static DEVICE void round(T *tile) {
    if constexpr (std::is_same_v<T, tf32>) {
      T *mine = tile + Layout::place(row(), column());
      UNROLL
      for (int i = 0; i < Rows; i += kStep)
        round_vector(mine + i * Layout::kStride);
    }
  }

private:
  static DEVICE void round_vector(tf32 *p) {
    const float4 x = *reinterpret_cast<const float4 *>(p);
    *reinterpret_cast<uint4 *>(p) = {
        ptx::round_to_tf32(x.x), ptx::round_to_tf32(x.y),
        ptx::round_to_tf32(x.z), ptx::round_to_tf32(x.w)};
  }

  static DEVICE int row() { return int(threadIdx.x / kVectors); }
  static DEVICE int column() { return int(threadIdx.x % kVectors) * kVector; }

  static DEVICE void copy_any(T *to, const Matrix<const T> &from, int row) {
    const bool exists = row < from.rows && column() < from.columns;
    const T *p =
        exists ? from.data + int64_t(row) * from.stride + column() : from.data;
    if (from.has_vectors) {
      ptx::cp_async(to, p, exists ? 16 : 0);
    } else {
      UNROLL
      for (int e = 0; e < kVector; e++)
        to[e] = exists && column() + e < from.columns ? p[e] : T{};
    }
  }

  const T *next;
  int rows; // from the thread's own first one on
};

// Copies one tile.
template <int Rows, int D, int Threads, bool KnowsPlaces, class Layout = void,
          class T>
DEVICE void copy_tile(T *tile, const Matrix<const T> &from, int first) {
  using Places =
      std::conditional_t<std::is_void_v<Layout>, PaddedRows<T, D>, Layout>;
  TileCopies<Rows, D, Threads, KnowsPlaces, T, Places>(from, first)
      .copy(tile, from, first);
}

// Rounds what this thread has copied of a tile by copy_tile.
template <int Rows, int D, int Threads, class T>
DEVICE void round_tile(T *tile) {
  TileCopies<Rows, D, Threads, true, T>::round(tile);
}

// Calls use(tile, buffer) for each tile from `begin` to `end`; copy(tile,
// buffer) begins to bring one. With two buffers, the next tile is on its way
// while one is used. show(buffer) is called where this thread's part of a tile
// is there.
template <int Buffers, class Index, class Copy, class Use, class Show>
DEVICE void for_each_tile(Index begin, Index end, const Copy &copy,
                          const Use &use, const Show &show) {
  int buffer = 0;
  for (Index tile = begin; tile < end; tile++) {
    ptx::cp_async_wait<0>();
    show(buffer);
    // All threads have copied this tile, and none uses the one before any more.
    __syncthreads();
    if (Buffers == 2 && tile + 1 < end)
      copy(tile + 1, 1 - buffer);
    ptx::cp_async_commit();
    use(tile, buffer);
    if (Buffers == 2) {
      buffer = 1 - buffer;
    } else {
      __syncthreads();
      if (tile + 1 < end)
        copy(tile + 1, 0);
      ptx::cp_async_commit();
    }
  }
}

// Writes a strip, times a factor for each half of its rows, to the rows from
// `first` on.
template <int D, class T>
DEVICE void store_strip(const Matrix<T> &to, int64_t first,
                        const float (&x)[D / 8][4], float upper, float lower) {
  const bool has_pairs =
      reinterpret_cast<uintptr_t>(to.data) % (2 * sizeof(T)) == 0 &&
      to.stride % 2 == 0 && to.columns % 2 == 0;
  UNROLL
  for (int half = 0; half < 2; half++) {
    const int64_t row = first + strip_row(2 * half);
    if (row >= to.rows)
      continue;
    const float factor = half ? lower : upper;
    UNROLL
    for (int n = 0; n < D / 8; n++) {
      const int column = strip_column(n, 0);
      const float a = x[n][2 * half] * factor, b = x[n][2 * half + 1] * factor;
      T *p = to.data + row * to.stride + column;
      if (has_pairs && column < to.columns) {
        if constexpr (sizeof(T) == 2)
          *reinterpret_cast<uint32_t *>(p) = pack_pair<T>(a, b);
        else
          *reinterpret_cast<float2 *>(p) = float2{a, b};
      } else {
        if (column < to.columns)
          store_scalar(p, a);
        if (column + 1 < to.columns)
          store_scalar(p + 1, b);
      }
    }
  }
}

} // namespace gpuopt::detail
