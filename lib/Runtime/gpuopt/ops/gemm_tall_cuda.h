// Tall products, by a kernel of gpuopt's own: A has many rows and B is small,
// so that the product waits for memory, as a convolution of single pixels does.
// Operands and results are f16 or bf16, sums are float and are rounded once,
// behind the epilogue.
//
// A block keeps 128 columns of B in shared memory. Its warps share nothing
// else: each walks over strips of 32 rows of A and of C, and none waits for
// another one. The parts of A that a warp multiplies next, what is added to the
// strip, and the mask are on their way to shared memory while it computes.
// Results take the place of what was added to them and leave from there, so
// that all that moves to or from memory are vectors of 16 bytes of rows of 128.
//
// A sum is that of one warp, in the order of k: it does not depend on how many
// blocks or warps there are.
#pragma once

#include "gpuopt/device/device.h"
#include "gpuopt/kernels/matrix_cuda.h"
#include "gpuopt/ops/gemm.h"

namespace gpuopt::detail {

// The size of a strip. A and C lie in shared memory as parts, which have as
// many rows as a strip, of 64 elements.
constexpr int kTallRows = 32, kTallColumns = 128;
constexpr int kTallPart = kTallRows * kSwizzledColumns;
constexpr int kTallHalves = kTallColumns / kSwizzledColumns;
// A warp has two parts of A, one of which is on its way while the other is
// multiplied.
constexpr int kTallRing = 2;
// A multiprocessor has the registers for the strips of this many warps.
constexpr int kMaxTallWarps = 8;

// Returns how many parts of A a strip has, where sums have k elements. Elements
// that a sum does not have are zero. Int is int64_t where k is any number, and
// int where the kernel has been found to take it.
template <class Int>
HOST_DEVICE constexpr Int tall_parts(Int k) {
  return (k + kSwizzledColumns - 1) / kSwizzledColumns;
}
// Shared memory has B first, then the bias, then what each warp needs. These
// are the sizes in elements, and their sum in bytes.
template <class Int>
HOST_DEVICE constexpr Int tall_weights(Int parts) {
  return parts * kTallColumns * kSwizzledColumns;
}
constexpr int kTallMaskElements = kTallRows * kTallColumns / 16;
constexpr int kTallWarpElements =
    (kTallRing + kTallHalves) * kTallPart + kTallMaskElements;
constexpr size_t tall_bytes(int64_t k, int warps) {
  return 2 * (size_t(tall_weights(tall_parts(k))) + kTallColumns +
              size_t(warps) * kTallWarpElements);
}

// The operands of a product, and the distances between rows in elements: of B
// between its rows, or between its columns if it lies by these.
template <class T>
struct TallOperands {
  const T *a, *b, *bias, *added; // the last two may be null
  T *c;
  uint32_t *mask;
  int64_t m, a_stride, b_stride, c_stride;
  int n, k, column_tiles, mask_words;
};

// ---- Copies ----------------------------------------------------------------

// A lane copies one piece of every fourth row of a part, all in one column.
DEVICE int row_of_piece() { return lane_of_warp() / 8; }
DEVICE int column_of_piece() { return lane_of_warp() % 8 * 8; }
constexpr int kPieceRows = 4;

// Begins to copy a part whose first element is `from`. Where the matrix has no
// more rows or columns, the part is zero.
template <class T>
DEVICE void copy_part(T *part, const T *from, int64_t stride, int rows,
                      int columns) {
  const int row = row_of_piece(), column = column_of_piece();
  const T *first = from + row * stride + column;
  UNROLL
  for (int i = 0; i < kTallRows; i += kPieceRows)
    ptx::cp_async(part + SwizzledRows::place(row + i, column),
                  first + i * stride,
                  row + i < rows && column < columns ? 16 : 0);
}

// Writes a part of a matrix.
template <class T>
DEVICE void store_part(T *to, const T *part, int64_t stride, int rows,
                       int columns) {
  constexpr int kPieces = kTallRows / kPieceRows;
  const int row = row_of_piece(), column = column_of_piece();
  uint4 pieces[kPieces];
  UNROLL
  for (int i = 0; i < kPieces; i++)
    pieces[i] = *reinterpret_cast<const uint4 *>(
        part + SwizzledRows::place(row + i * kPieceRows, column));
  T *first = to + row * stride + column;
  UNROLL
  for (int i = 0; i < kPieces; i++)
    if (row + i * kPieceRows < rows && column < columns)
      *reinterpret_cast<uint4 *>(first + i * kPieceRows * stride) = pieces[i];
}

// Begins to copy the block's columns of B, which lie by rows or by columns, and
// copies its part of the bias.
template <bool ByColumns, class T>
DEVICE void copy_weights(T *weights, T *bias, const TallOperands<T> &p,
                         int first_column) {
  const int parts = tall_parts(p.k), columns = p.n - first_column;
  const int warps = int(blockDim.x) / 32;
  // Pieces of 32 rows: of 128 columns and 64 of their elements, or of 64 rows
  // for each part and 64 of their columns.
  const int rows = ByColumns ? kTallColumns : parts * kSwizzledColumns;
  const int across = ByColumns ? parts : kTallHalves;
  for (int i = int(threadIdx.x) / 32; i < rows / kTallRows * across;
       i += warps) {
    const int row = i / across * kTallRows, column = i % across * 64;
    const T *from = ByColumns ? p.b + (first_column + row) * p.b_stride + column
                              : p.b + row * p.b_stride + first_column + column;
    copy_part(weights + column * rows + row * kSwizzledColumns, from,
              p.b_stride, (ByColumns ? columns : p.k) - row,
              (ByColumns ? p.k : columns) - column);
  }
  for (int i = int(threadIdx.x); i < kTallColumns; i += int(blockDim.x))
    bias[i] = p.bias && i < columns ? p.bias[first_column + i] : T{};
  ptx::cp_async_commit();
}

// ---- Products --------------------------------------------------------------

// The sums of a strip are two strips of 16 rows as matrix_cuda.h has them.
using TallSums = float[kTallRows / kStripRows][kTallColumns / 8][4];

// Adds the product of a part of A and of the rows of B that it meets. `next` is
// the distance to B's second half of columns where B lies by rows.
template <bool ByColumns, class T>
DEVICE void add_part(TallSums &sums, const T *part, const T *weights,
                     int next) {
  constexpr int kStride = SwizzledRows::kStride;
  const int lane = lane_of_warp();
  // Pieces that are a multiple of 16 columns further on are found by an
  // exclusive or.
  const int left_place = SwizzledRows::place(lane % 16, lane / 16 * 8);
  const int right_place =
      ByColumns
          ? SwizzledRows::place(lane % 8 + lane / 16 * 8, lane / 8 % 2 * 8)
          : left_place;
  UNROLL
  for (int k = 0; k < kSwizzledColumns; k += 16) {
    uint32_t left[kTallRows / kStripRows][4];
    UNROLL
    for (int s = 0; s < kTallRows / kStripRows; s++)
      ptx::ldmatrix(left[s],
                    part + s * kStripRows * kStride + (left_place ^ k));
    UNROLL
    for (int n = 0; n < kTallColumns / 8; n += 2) {
      uint32_t right[4];
      if constexpr (ByColumns)
        ptx::ldmatrix(right, weights + 8 * n * kStride + (right_place ^ k));
      else
        ptx::ldmatrix_transposed(right, weights + n / 8 * next + k * kStride +
                                            (right_place ^ n % 8 * 8));
      UNROLL
      for (int s = 0; s < kTallRows / kStripRows; s++) {
        mma<T>(sums[s][n], left[s], right[0], right[1]);
        mma<T>(sums[s][n + 1], left[s], right[2], right[3]);
      }
    }
  }
}

// ---- Epilogues -------------------------------------------------------------

template <class T>
DEVICE float2 widen_pair(uint32_t word) {
  return {widen(T{uint16_t(word)}), widen(T{uint16_t(word >> 16)})};
}
DEVICE uint32_t word_at(const void *p) {
  return *static_cast<const uint32_t *>(p);
}

// Each lane of a quad has bits of its own in four words. Lane t gets word t
// with the bits of all.
DEVICE uint32_t join_bits(const uint32_t (&words)[4]) {
  const bool is_upper = lane_of_warp() & 2, is_odd = lane_of_warp() & 1;
  uint32_t pair[2];
  UNROLL
  for (int i = 0; i < 2; i++)
    pair[i] =
        (is_upper ? words[i + 2] : words[i]) |
        __shfl_xor_sync(0xffffffffu, is_upper ? words[i] : words[i + 2], 2);
  return (is_odd ? pair[1] : pair[0]) |
         __shfl_xor_sync(0xffffffffu, is_odd ? pair[0] : pair[1], 1);
}

// Returns what becomes of a sum. `bits` are a word of the mask, of which `bit`
// is the sum's: it is read by the gradient of a ReLU, and set by a ReLU.
template <Epilogue E>
DEVICE float finished(float z, uint32_t &bits, int bit) {
  if constexpr (E == Epilogue::ReluGradient)
    return bits >> bit & 1 ? z : 0.0f;
  if constexpr (E == Epilogue::Relu) {
    bits |= uint32_t(z > 0) << bit;
    return ptx::max_nan(z, 0.0f);
  }
  return z;
}

// Replaces what is added to a strip, `result`, by what is stored. `kept` is the
// strip's mask, four words for a row: that of the gradient of a ReLU. That of a
// ReLU is returned, for row 8 t + g in lane 4 g + t.
template <Epilogue E, class T>
DEVICE uint4 finish_strip(const TallSums &sums, T *result, const T *bias,
                          const uint32_t *kept) {
  constexpr int kStride = SwizzledRows::kStride;
  const int group = lane_of_warp() / 4, pair = 2 * (lane_of_warp() % 4);
  const int first = SwizzledRows::place(group, pair);
  uint32_t mask[4];
  UNROLL
  for (int word = 0; word < 4; word++) {
    uint32_t bits[4]; // of rows g, g + 8, g + 16 and g + 24
    UNROLL
    for (int r = 0; r < 4; r++)
      bits[r] = E == Epilogue::ReluGradient
                    ? kept[(8 * r + group) * 4 + word] >> pair
                    : 0;
    UNROLL
    for (int i = 0; i < 4; i++) {
      const int n = 4 * word + i;
      const float2 shift = widen_pair<T>(word_at(bias + 8 * n + pair));
      UNROLL
      for (int r = 0; r < 4; r++) {
        T *place =
            result + n / 8 * kTallPart + 8 * r * kStride + (first ^ n % 8 * 8);
        const float2 added = widen_pair<T>(word_at(place));
        const float *sum = sums[r / 2][n] + r % 2 * 2;
        float low = sum[0] + added.x, high = sum[1] + added.y;
        if constexpr (E != Epilogue::ReluGradient)
          low += shift.x, high += shift.y;
        *reinterpret_cast<uint32_t *>(place) =
            pack_pair<T>(finished<E>(low, bits[r], 8 * i),
                         finished<E>(high, bits[r], 8 * i + 1));
      }
    }
    if constexpr (E == Epilogue::Relu) {
      UNROLL
      for (int r = 0; r < 4; r++)
        bits[r] <<= pair;
      mask[word] = join_bits(bits);
    }
  }
  if constexpr (E == Epilogue::Relu)
    return {mask[0], mask[1], mask[2], mask[3]};
  return {};
}

// ---- Strips ----------------------------------------------------------------

// Holds what a warp has in shared memory, and copies it there.
template <Epilogue E, class T>
struct TallWarp {
  const TallOperands<T> &p;
  const int first_column, step; // from one strip of the warp to its next
  T *ring, *result;
  uint32_t *mask;
  // The part of A that is copied next, and its place in the ring.
  int strip, part = 0, number = 0;

  DEVICE TallWarp(const TallOperands<T> &p, T *memory, int first_column,
                  int strip, int step)
      : p(p), first_column(first_column), step(step), ring(memory),
        result(memory + kTallRing * kTallPart),
        mask(reinterpret_cast<uint32_t *>(result + kTallHalves * kTallPart)),
        strip(strip) {}

  DEVICE int rows_from(int strip) const {
    const int64_t left = p.m - int64_t(strip) * kTallRows;
    return int(left < kTallRows ? left : kTallRows); // none or less: no strip
  }
  DEVICE int64_t place_of(int strip) const {
    return int64_t(strip) * kTallRows * p.c_stride + first_column;
  }
  DEVICE bool exists(int strip) const { return rows_from(strip) > 0; }

  // Begins to copy the next part of A, which may be one of the next strip.
  DEVICE void copy_next_part() {
    if (exists(strip))
      copy_part(ring + number * kTallPart,
                p.a + int64_t(strip) * kTallRows * p.a_stride +
                    part * kSwizzledColumns,
                p.a_stride, rows_from(strip), p.k - part * kSwizzledColumns);
    ptx::cp_async_commit();
    static_assert(kTallRing == 2);
    number = 1 - number;
    if (++part == tall_parts(p.k)) {
      part = 0;
      strip += step;
    }
  }

  // Begins to copy what is added to a strip, and its mask.
  DEVICE void copy_added(int strip) {
    if (exists(strip)) {
      UNROLL
      for (int half = 0; half < kTallHalves; half++) {
        const int column = half * kSwizzledColumns;
        copy_part(result + half * kTallPart,
                  (p.added ? p.added : p.c) + place_of(strip) + column,
                  p.c_stride, p.added ? rows_from(strip) : 0,
                  p.n - first_column - column);
      }
      if constexpr (E == Epilogue::ReluGradient)
        ptx::cp_async(mask + lane_of_warp() * 4, mask_of(strip, lane_of_warp()),
                      lane_of_warp() < rows_from(strip) ? 16 : 0);
    }
    ptx::cp_async_commit();
  }

  DEVICE uint32_t *mask_of(int strip, int row) const {
    return p.mask + (int64_t(strip) * kTallRows + row) * p.mask_words +
           first_column / 32;
  }

  DEVICE void finish(int strip, const TallSums &sums, const T *bias) {
    const uint4 words = finish_strip<E>(sums, result, bias, mask);
    if constexpr (E == Epilogue::Relu) {
      const int row = lane_of_warp() % 4 * 8 + lane_of_warp() / 4;
      if (p.mask && row < rows_from(strip))
        *reinterpret_cast<uint4 *>(mask_of(strip, row)) = words;
    }
    __syncwarp();
    UNROLL
    for (int half = 0; half < kTallHalves; half++)
      store_part(p.c + place_of(strip) + half * kSwizzledColumns,
                 result + half * kTallPart, p.c_stride, rows_from(strip),
                 p.n - first_column - half * kSwizzledColumns);
  }
};

// Groups of copies are waited for in the order in which they begin: the parts
// of A, and behind the second part of a strip what is added to that strip. Two
// parts have begun before the first is waited for. While a part is multiplied,
// the next one is on its way.
template <class T, Epilogue E, bool ByColumns>
KERNEL void LAUNCH_BOUNDS(32 * kMaxTallWarps, 1) tall_gemm(TallOperands<T> p) {
  const int parts = tall_parts(p.k);
  const int first_column = int(blockIdx.x) % p.column_tiles * kTallColumns;
  const int warp = int(threadIdx.x) / 32, warps = int(blockDim.x) / 32;
  T *const weights = reinterpret_cast<T *>(ptx::dynamic_memory());
  T *const bias = weights + tall_weights(parts);
  copy_weights<ByColumns>(weights, bias, p, first_column);

  const int first = int(blockIdx.x) / p.column_tiles * warps + warp;
  const int step = int(gridDim.x) / p.column_tiles * warps;
  TallWarp<E, T> mine(p, bias + kTallColumns + warp * kTallWarpElements,
                      first_column, first, step);
  mine.copy_next_part();
  mine.copy_next_part();
  mine.copy_added(first);
  ptx::cp_async_wait<3>(); // B
  __syncthreads();
  for (int strip = first; mine.exists(strip); strip += step) {
    TallSums sums;
    UNROLL
    for (int s = 0; s < kTallRows / kStripRows; s++)
      set_zero(sums[s]);
#pragma unroll 1
    for (int part = 0; part < parts; part++) {
      if (part < 2)
        ptx::cp_async_wait<2>(); // the next part, and what is added
      else
        ptx::cp_async_wait<1>();
      __syncwarp();
      // The next copy will write to the place of the part that is multiplied.
      add_part<ByColumns>(sums, mine.ring + mine.number * kTallPart,
                          weights +
                              part * kSwizzledColumns *
                                  (ByColumns ? kTallColumns : kSwizzledColumns),
                          parts * kSwizzledColumns * kSwizzledColumns);
      __syncwarp();
      mine.copy_next_part();
    }
    if (parts == 1)
      ptx::cp_async_wait<1>();
    else
      ptx::cp_async_wait<2>();
    __syncwarp();
    mine.finish(strip, sums, bias);
    __syncwarp();
    mine.copy_added(strip + step);
  }
  ptx::cp_async_wait<0>();
}

// ---- Launches --------------------------------------------------------------

// The properties of the GPU that a launch depends on.
struct TallDevice {
  TallDevice() {
    int device = 0;
    cudaDeviceProp properties;
    CHECK_CUDA(cudaGetDevice(&device));
    CHECK_CUDA(cudaGetDeviceProperties(&properties, device));
    multiprocessors = properties.multiProcessorCount;
    shared_bytes = properties.sharedMemPerBlockOptin;
  }
  int multiprocessors;
  size_t shared_bytes;

  // Returns how many warps a block has: a multiple of four, so that all four
  // parts of a multiprocessor are equally busy. Returns 0 if shared memory is
  // too small for four warps and the block's columns of B.
  int warps(int64_t k) const {
    for (int warps = kMaxTallWarps; warps > 0; warps -= 4)
      if (tall_bytes(k, warps) <= shared_bytes)
        return warps;
    return 0;
  }
};

// Returns whether the kernel takes a product of f16 or of bf16. There has to be
// one matrix of rows, and all rows have to begin at vectors of 16 bytes if the
// matrices do. Calls of gemm offer the kernel for Epilogue::Relu and
// Epilogue::ReluGradient alone. It takes Epilogue::None as well, but only tests
// compile it for that.
inline bool has_tall_kernel(const TallDevice &device, const GemmShape &s,
                            const GemmOptions &o) {
  const bool has_rows = s.batch[0] * s.batch[1] == 1 && s.a_k == 1 &&
                        s.c_n == 1 && (s.b_k == 1 || s.b_n == 1);
  const int64_t b_stride = s.b_k == 1 ? s.b_n : s.b_k;
  const bool has_vectors =
      (s.n | s.k | s.a_m | b_stride | s.c_m) % kTileVector<f16> == 0;
  const bool has_epilogue =
      o.epilogue == Epilogue::None || o.epilogue == Epilogue::Relu ||
      (o.epilogue == Epilogue::ReluGradient && o.aux && !o.bias);
  return has_rows && has_vectors && has_epilogue && o.alpha == 1 && !o.sums &&
         !o.operand_sums && s.k > 0 && s.k <= INT32_MAX && s.n <= INT32_MAX &&
         s.m / kTallRows < INT32_MAX / 2 && device.warps(s.k) > 0;
}

// Returns whether a product has so many rows that B, which each block reads
// first, is little in comparison. Others are left to cuBLASLt without being
// timed.
inline bool is_tall(const GemmShape &s) {
  constexpr int64_t kMinRows = 1024;
  return s.m >= kMinRows && s.m >= 4 * s.n;
}

// Computes a product for which there is a kernel.
template <Epilogue E, class T>
void launch_tall_gemm(Context &ctx, const TallDevice &device,
                      const GemmShape &s, const T *a, const T *b, T *c,
                      const GemmOptions &o) {
  const bool by_columns = s.b_k == 1;
  const void *added = o.added ? o.added : o.beta != 0 ? c : nullptr;
  const int64_t column_tiles = (s.n + kTallColumns - 1) / kTallColumns;
  const TallOperands<T> operands{a,
                                 b,
                                 static_cast<const T *>(o.bias),
                                 static_cast<const T *>(added),
                                 c,
                                 static_cast<uint32_t *>(o.aux),
                                 s.m,
                                 s.a_m,
                                 by_columns ? s.b_n : s.b_k,
                                 s.c_m,
                                 int(s.n),
                                 int(s.k),
                                 int(column_tiles),
                                 int(mask_words(s.n))};
  const int warps = device.warps(s.k);
  const int64_t rows = int64_t(warps) * kTallRows;
  const int64_t row_blocks =
      std::max<int64_t>(1, std::min(device.multiprocessors / column_tiles,
                                    (s.m + rows - 1) / rows));
  launch_with_memory(
      ctx, column_tiles * row_blocks, 32 * warps, tall_bytes(s.k, warps),
      by_columns ? tall_gemm<T, E, true> : tall_gemm<T, E, false>, operands);
}

} // namespace gpuopt::detail
