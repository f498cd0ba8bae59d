// Products on the host whose C has few rows, as those of text generation and of
// predictions for one sample. They take as long as B takes to come from memory,
// so B is read once, as it is stored, and in half precision if it is stored so.
// Each element of C is summed in an order that the shape alone decides, the
// same for any number of threads.
#pragma once

#include "gpuopt/kernels/block.h"
#include "gpuopt/kernels/memory.h"
#include "gpuopt/ops/gemm.h"

#include <algorithm>
#include <vector>

namespace gpuopt {
namespace detail {

constexpr int64_t kFewRows = 2;
// Threads share the columns, so few columns with long sums are left to a
// library, which may divide the sums.
constexpr int64_t kLeastColumns = 64, kMostDepthByColumn = 64;
// Below so many bytes of B, one thread is done before others have begun.
constexpr int64_t kLeastSharedBytes = 64 << 10;
// From so many elements on, a column of B is long.
constexpr int64_t kLongColumn = 2048;
// Sums of columns that are kept in the nearest cache.
constexpr int64_t kMostPanel = 2048;

// Whether the product is computed here: it then takes less time than oneDNN's,
// also where oneDNN has packed B before, but for what is_faster_packed says.
inline bool has_few_rows(const GemmShape &s) {
  return s.m <= kFewRows && s.batch[0] * s.batch[1] == 1 &&
         (s.b_n == 1 || s.b_k == 1) && s.n >= kLeastColumns &&
         s.k <= s.n * kMostDepthByColumn;
}

// A's rows in float, `row` elements apart.
struct FewRows {
  const float *a;
  int64_t row;
};

struct FewRowsBuffer {
  std::vector<float> a;
};

template <class T>
FewRows few_rows(Context &ctx, const GemmShape &s, const T *a) {
  if constexpr (std::is_same_v<T, float>)
    if (s.a_k == 1)
      return {a, s.a_m};
  auto &buffer = ctx.library<FewRowsBuffer>().a;
  buffer.resize(std::max(buffer.size(), size_t(s.m * s.k)));
  for (int64_t m = 0; m < s.m; m++)
    for (int64_t k = 0; k < s.k; k++)
      buffer[size_t(m * s.k + k)] = load_scalar(a + m * s.a_m + k * s.a_k);
  return {buffer.data(), s.k};
}

// Stores the elements of C from column n on in row m, of which there are
// `count`, where `sums` are those of A B.
template <class C>
void store_row(const GemmShape &s, const GemmOptions &o, C *c, int64_t m,
               int64_t n, int64_t count, const float *sums) {
  const auto *bias = static_cast<const C *>(o.bias);
  for (int64_t j = 0; j < count; j += kLanes) {
    const int64_t left = count - j;
    C *to = c + m * s.c_m + (n + j) * s.c_n;
    Lanes<float> x = load(sums + j, left);
    if (o.alpha != 1)
      x = x * Lanes<float>(float(o.alpha));
    if (o.beta != 0)
      x += Lanes<float>(float(o.beta)) * load_strided(to, s.c_n, left);
    if (bias)
      x += load(bias + n + j, left);
    store_strided(to, s.c_n, x, left);
  }
}

// Returns a b + c, in one instruction where the processor has one.
DEVICE PartOf<float> multiply_add(PartOf<float> a, PartOf<float> b,
                                  PartOf<float> c) {
#if defined(__AVX512F__)
  return PartOf<float>(_mm512_fmadd_ps(__m512(a), __m512(b), __m512(c)));
#elif defined(__FMA__)
  return PartOf<float>(_mm256_fmadd_ps(__m256(a), __m256(b), __m256(c)));
#else
  return a * b + c;
#endif
}
// Loads the next elements, of which all lanes are there or `left`. Half
// precision is widened where it lies: g++ 12 copies it through the stack
// otherwise.
template <bool IsWhole, class T>
DEVICE Lanes<float> load_next(const T *p, int64_t left) {
  if constexpr (!IsWhole)
    return load(p, left);
  else if constexpr (std::is_same_v<T, float>)
    return load_vector(p);
  else
    return widen_all(*reinterpret_cast<const T(*)[kLanes]>(p));
}

// Elements of A, each in all lanes of a part.
template <int M, int Depth>
using Factors = PartOf<float>[M][Depth];

// Adds the products of the factors and the next kLanes elements of as many rows
// of B to the sums of their columns, one row after the other. `left` columns
// are left.
template <bool IsWhole, int M, int Depth, class T>
DEVICE void add_products(const Factors<M, Depth> &factors, const T *b,
                         int64_t b_k, int64_t left, float *sums,
                         int64_t panel) {
  Lanes<float> sum[M];
  UNROLL
  for (int m = 0; m < M; m++)
    sum[m] = load_next<IsWhole>(sums + m * panel, left);
  UNROLL
  for (int d = 0; d < Depth; d++) {
    const Lanes<float> x = load_next<IsWhole>(b + d * b_k, left);
    UNROLL
    for (int m = 0; m < M; m++)
      UNROLL
    for (int i = 0; i < x.kParts; i++)
      sum[m].part[i] = multiply_add(factors[m][d], x.part[i], sum[m].part[i]);
  }
  UNROLL
  for (int m = 0; m < M; m++)
    store(sums + m * panel, sum[m], left);
}
template <int M, int Depth, class T>
void add_products_of_panel(FewRows rows, const T *b, int64_t b_k,
                           int64_t columns, float *sums, int64_t panel) {
  Factors<M, Depth> factors;
  UNROLL
  for (int m = 0; m < M; m++)
    UNROLL
  for (int d = 0; d < Depth; d++)
    factors[m][d] = Lanes<float>::splat(rows.a[m * rows.row + d]);
  int64_t j = 0;
  for (; j + kLanes <= columns; j += kLanes)
    add_products<true, M, Depth>(factors, b + j, b_k, kLanes, sums + j, panel);
  if (j < columns)
    add_products<false, M, Depth>(factors, b + j, b_k, columns - j, sums + j,
                                  panel);
}

// For a B whose rows lie along n: goes down the rows, a panel of columns for
// each thread at a time.
template <int M, class T, class C>
void add_up_rows(const GemmShape &s, FewRows rows, const T *b, C *c,
                 const GemmOptions &o, int threads) {
  constexpr int kDepth = 8;
  const int64_t share = ceil_div(s.n, threads);
  const int64_t panel =
      ceil_div(ceil_div(share, ceil_div(share, kMostPanel / M)), kLanes) *
      kLanes;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int64_t n = 0; n < s.n; n += panel) {
    alignas(64) float sums[kMostPanel + M * kLanes];
    std::fill(sums, sums + M * panel, 0.0f);
    const int64_t columns = std::min(panel, s.n - n);
    int64_t k = 0;
    for (; k + kDepth <= s.k; k += kDepth)
      add_products_of_panel<M, kDepth>({rows.a + k, rows.row},
                                       b + k * s.b_k + n, s.b_k, columns, sums,
                                       panel);
    for (; k < s.k; k++)
      add_products_of_panel<M, 1>({rows.a + k, rows.row}, b + k * s.b_k + n,
                                  s.b_k, columns, sums, panel);
    for (int m = 0; m < M; m++)
      store_row(s, o, c, m, n, columns, sums + m * panel);
  }
}

// Adds the products of the next kLanes elements along k, of which `left` are
// left, of A's rows and some columns of B.
template <bool IsWhole, int M, int Columns, class T>
DEVICE void add_lanes(Lanes<float> (&sums)[M][Columns], const float *a,
                      int64_t a_row, const T *b, int64_t b_n, int64_t left) {
  Lanes<float> row[M];
  UNROLL
  for (int m = 0; m < M; m++)
    row[m] = load_next<IsWhole>(a + m * a_row, left);
  UNROLL
  for (int j = 0; j < Columns; j++) {
    const Lanes<float> x = load_next<IsWhole>(b + j * b_n, left);
    UNROLL
    for (int m = 0; m < M; m++)
      UNROLL
    for (int i = 0; i < x.kParts; i++)
      sums[m][j].part[i] =
          multiply_add(row[m].part[i], x.part[i], sums[m][j].part[i]);
  }
}
// Computes the dot products of A's rows and the columns of B from n on, of a
// block of kLanes columns.
template <int M, int Columns, class T>
void dot_products(const GemmShape &s, FewRows rows, const T *b, int64_t n,
                  float (&to)[M][kLanes]) {
  Lanes<float> sums[M][Columns];
  for (auto &row : sums)
    std::fill(row, row + Columns, Lanes<float>(0.0f));
  b += n * s.b_n;
  int64_t k = 0;
  for (; k + kLanes <= s.k; k += kLanes)
    add_lanes<true>(sums, rows.a + k, rows.row, b + k, s.b_n, kLanes);
  if (k < s.k)
    add_lanes<false>(sums, rows.a + k, rows.row, b + k, s.b_n, s.k - k);
  for (int m = 0; m < M; m++)
    for (int j = 0; j < Columns; j++)
      to[m][n % kLanes + j] = reduce_sum(sums[m][j]);
}

// For a B whose columns lie along k.
template <int M, class T, class C>
void dot_columns(const GemmShape &s, FewRows rows, const T *b, C *c,
                 const GemmOptions &o, [[maybe_unused]] int threads) {
  // Each is a stream from memory: the processor fetches ahead along so many.
  constexpr int kColumns = 8;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int64_t begin = 0; begin < s.n; begin += kLanes) {
    float sums[M][kLanes];
    const int64_t end = std::min(begin + kLanes, s.n);
    int64_t n = begin;
    for (; n + kColumns <= end; n += kColumns)
      dot_products<M, kColumns>(s, rows, b, n, sums);
    for (; n < end; n++)
      dot_products<M, 1>(s, rows, b, n, sums);
    for (int m = 0; m < M; m++)
      store_row(s, o, c, m, begin, end - begin, sums[m]);
  }
}

template <int M, class T, class C>
void gemm_of_rows(Context &ctx, const GemmShape &s, const T *a, const T *b,
                  C *c, const GemmOptions &o) {
  const int threads =
      s.n * s.k * int64_t(sizeof(T)) < kLeastSharedBytes ? 1 : ctx.num_threads;
  const FewRows rows = few_rows(ctx, s, a);
  if (s.b_n == 1)
    add_up_rows<M>(s, rows, b, c, o, threads);
  else
    dot_columns<M>(s, rows, b, c, o, threads);
}

// A product for which has_few_rows says true; C has the operands' type or
// float.
template <class T, class C>
void gemm_of_few_rows(Context &ctx, const GemmShape &s, const T *a, const T *b,
                      C *c, const GemmOptions &o) {
  if (s.m == 1)
    gemm_of_rows<1>(ctx, s, a, b, c, o);
  else
    gemm_of_rows<2>(ctx, s, a, b, c, o);
}

} // namespace detail
} // namespace gpuopt
