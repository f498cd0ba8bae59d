// C = alpha * A B + beta * C + bias, batched, any strides: the one matrix
// product of a program. A transpose is a pair of strides, a broadcast batch a
// stride 0. A GELU or a ReLU, or the gradient of one, may follow before C is
// stored.
#pragma once

#include "gpuopt/ops/column_sums.h"
#include "gpuopt/settings/even_elements.h"

#include <type_traits>
#include <utility>
#include <vector>

namespace gpuopt {

// Strides in elements, 1 where a constant has none. C's must address every
// element once.
struct GemmShape {
  int64_t batch[2] = {1, 1};
  int64_t m, n, k;
  int64_t a_batch[2] = {0, 0}, a_m = 1, a_k = 1;
  int64_t b_batch[2] = {0, 0}, b_k = 1, b_n = 1;
  int64_t c_batch[2] = {0, 0}, c_m = 1, c_n = 1;
};

// What is done to alpha * A B + bias + added, here z, before it is stored.
enum class Epilogue : int64_t {
  None,
  Gelu,         // C = gelu(z), by a hyperbolic tangent
  GeluGradient, // C = z gelu'(aux)
  Relu,         // C = max(z, 0)
  ReluGradient, // C = z where the bit of aux is set, else 0
};

struct GemmOptions {
  double alpha = 1;
  double beta = 0;            // 0 or 1
  const void *bias = nullptr; // n elements of C's type, added to each row
  Epilogue epilogue = Epilogue::None;
  // What is kept for the gradient: of a GELU z, of C's type and shape; of a
  // ReLU a bit for each element, in rows of mask_words(n) words.
  void *aux = nullptr;
  void *sums = nullptr; // n elements of C's type: the sums of C's columns
  // m elements of C's type: the sums of A's rows, on CUDA.
  void *operand_sums = nullptr;
  // A matrix of C's type and shape, for a ReLU or its gradient.
  const void *added = nullptr;

  bool has_epilogue() const {
    return bias || operand_sums || epilogue != Epilogue::None;
  }
  bool has_mask() const {
    return aux &&
           (epilogue == Epilogue::Relu || epilogue == Epilogue::ReluGradient);
  }
};

namespace detail {

// Outer batch dimension innermost-first, so that batch[1] is the one in use.
inline void merge_batches(GemmShape &s) {
  if (s.batch[0] == 1) {
    s.a_batch[0] = s.b_batch[0] = s.c_batch[0] = 0;
    return;
  }
  const bool chained =
      s.batch[1] == 1 || (s.a_batch[0] == s.a_batch[1] * s.batch[1] &&
                          s.b_batch[0] == s.b_batch[1] * s.batch[1] &&
                          s.c_batch[0] == s.c_batch[1] * s.batch[1]);
  if (!chained)
    return;
  if (s.batch[1] == 1) {
    s.a_batch[1] = s.a_batch[0];
    s.b_batch[1] = s.b_batch[0];
    s.c_batch[1] = s.c_batch[0];
  }
  s.batch[1] *= s.batch[0];
  s.batch[0] = 1;
  s.a_batch[0] = s.b_batch[0] = s.c_batch[0] = 0;
}

// If all of the batch has the same B, its rows become more rows of one product.
inline void fold_batch_into_rows(GemmShape &s) {
  if (s.batch[0] == 1 && s.batch[1] > 1 && s.b_batch[1] == 0 &&
      s.a_batch[1] == s.m * s.a_m && s.c_batch[1] == s.m * s.c_m) {
    s.m *= s.batch[1];
    s.batch[1] = 1;
  }
  if (s.batch[1] == 1)
    s.a_batch[1] = s.b_batch[1] = s.c_batch[1] = 0;
}

// A stride over a dimension of one element has no effect, so it becomes the one
// that a dense matrix would have.
inline void normalise_unit_strides(GemmShape &s) {
  auto dense = [](int64_t rows, int64_t cols, int64_t &row, int64_t &col) {
    if (rows == 1 && cols == 1)
      row = col = 1;
    else if (cols == 1 && row != 1)
      col = 1;
    else if (cols == 1)
      col = rows;
    else if (rows == 1 && col != 1)
      row = 1;
    else if (rows == 1)
      row = cols;
  };
  dense(s.m, s.k, s.a_m, s.a_k);
  dense(s.k, s.n, s.b_k, s.b_n);
  dense(s.m, s.n, s.c_m, s.c_n);
}

} // namespace detail

// Returns the same product with as few batches as its strides allow.
inline GemmShape simplified(GemmShape s) {
  detail::merge_batches(s);
  detail::fold_batch_into_rows(s);
  detail::normalise_unit_strides(s);
  return s;
}

// Returns C^T = B^T A^T. It must have no bias, because a bias over n would
// become one over rows.
inline GemmShape transposed(const GemmShape &s) {
  GemmShape t = s;
  t.m = s.n;
  t.n = s.m;
  for (int i : {0, 1}) {
    t.a_batch[i] = s.b_batch[i];
    t.b_batch[i] = s.a_batch[i];
  }
  t.a_m = s.b_n;
  t.a_k = s.b_k;
  t.b_k = s.a_k;
  t.b_n = s.a_m;
  t.c_m = s.c_n;
  t.c_n = s.c_m;
  return t;
}

// A part of a product: where its matrices begin behind those of the whole, in
// elements, and whether it is added to what an earlier part has left in C.
struct GemmPart {
  GemmShape shape;
  int64_t a = 0, b = 0, c = 0;
  bool adds = false;
};

namespace detail {

// Takes the odd end from an extent, and returns it.
inline int64_t take_odd_end(int64_t &extent, bool is_along_unit_stride,
                            int64_t even) {
  const int64_t odd = odd_end(extent, is_along_unit_stride, even);
  extent -= odd;
  return odd;
}

} // namespace detail

// Returns the parts of a product on tensor cores: libraries are fast where each
// matrix has a multiple of `even` elements along its unit stride, not only from
// row to row. Where rows are even, what is over is a product by itself.
// The odd end of k comes first: it is small, so little is lost by rounding it
// before the rest is added. C has no bias: parts do not say where theirs would
// begin.
inline std::vector<GemmPart> even_parts(const GemmShape &s,
                                        int64_t even = kEvenElements) {
  GemmPart rest{s};
  GemmShape &r = rest.shape;
  if (s.batch[0] * s.batch[1] != 1 ||
      !has_even_rows(s.m, s.k, s.a_m, s.a_k, even) ||
      !has_even_rows(s.k, s.n, s.b_k, s.b_n, even) ||
      !has_even_rows(s.m, s.n, s.c_m, s.c_n, even))
    return {rest};
  std::vector<GemmPart> parts;
  if (const int64_t k =
          detail::take_odd_end(r.k, s.a_k == 1 || s.b_n != 1, even)) {
    GemmPart end = rest;
    end.shape.k = k;
    end.a += r.k * s.a_k;
    end.b += r.k * s.b_k;
    parts.push_back(end);
    rest.adds = true;
  }
  if (const int64_t m =
          detail::take_odd_end(r.m, s.a_k != 1 || s.c_n != 1, even)) {
    GemmPart end = rest;
    end.shape.m = m;
    end.a += r.m * s.a_m;
    end.c += r.m * s.c_m;
    parts.push_back(end);
  }
  if (const int64_t n =
          detail::take_odd_end(r.n, s.b_n == 1 || s.c_n == 1, even)) {
    GemmPart end = rest;
    end.shape.n = n;
    end.b += r.n * s.b_n;
    end.c += r.n * s.c_n;
    parts.push_back(end);
  }
  parts.push_back(rest);
  return parts;
}

} // namespace gpuopt

#ifdef __CUDACC__
#include "gpuopt/ops/gemm_cuda.h"
#else
#include "gpuopt/ops/gemm_host.h"
#endif

namespace gpuopt {

// A pointer from which a call does not deduce T, so that nullptr will do.
template <class T>
using PointerOrNull = typename std::enable_if<true, T>::type *;

// C = gelu(A B + bias), and `input` is what the GELU is applied to; `bias` and
// `input` may be null. Of one matrix of dense rows.
template <class T>
void gemm_gelu(Context &ctx, const GemmShape &shape, const T *a, const T *b,
               PointerOrNull<const T> bias, T *c, PointerOrNull<T> input) {
  GemmOptions o;
  o.bias = bias;
  o.aux = input;
  detail::gemm_with<Epilogue::Gelu>(ctx, shape, a, b, c, o);
}

// C = A B * gelu'(input), and `sums` has the sums of C's columns unless it is
// null. `input` is what gemm_gelu keeps.
template <class T>
void gemm_gelu_backward(Context &ctx, const GemmShape &shape, const T *a,
                        const T *b, const T *input, T *c,
                        PointerOrNull<T> sums) {
  GemmOptions o;
  o.aux = const_cast<T *>(input);
  o.sums = sums;
  detail::gemm_with<Epilogue::GeluGradient>(ctx, shape, a, b, c, o);
}

// C = A B, and `sums` has the sums of A's rows, in C's type. A's columns lie
// one behind the other.
template <class T, class C>
void gemm_sums(Context &ctx, const GemmShape &shape, const T *a, const T *b,
               C *c, C *sums) {
#ifdef __CUDACC__
  GemmOptions o;
  o.operand_sums = sums;
  if (detail::has_product(ctx, shape, a, b, c, o))
    return gemm(ctx, shape, a, b, c, o);
  gemm(ctx, shape, a, b, c);
  sum_many_rows(ctx, shape.k, shape.m, a, sums);
#else
  gemm(ctx, shape, a, b, c);
  sum_columns(ctx, shape.k, shape.m, a, sums);
#endif
}

// C = max(A B + bias + added, 0), and `mask` says where the sum is above 0: a
// bit for each element, the lowest of a word first, in rows of mask_words(n)
// words. `bias`, `added` and `mask` may be null. Of one matrix of dense rows,
// whose shape `added` has.
template <class T>
void gemm_relu(Context &ctx, const GemmShape &shape, const T *a, const T *b,
               PointerOrNull<const T> bias, PointerOrNull<const T> added, T *c,
               int32_t *mask) {
  GemmOptions o;
  o.bias = bias;
  o.aux = mask;
  o.added = added;
  detail::gemm_with<Epilogue::Relu>(ctx, shape, a, b, c, o);
}

// C = A B + added where the bit of `mask` is set, else 0; `added` may be null.
// `mask` is what gemm_relu keeps.
template <class T>
void gemm_relu_backward(Context &ctx, const GemmShape &shape, const T *a,
                        const T *b, const int32_t *mask,
                        PointerOrNull<const T> added, T *c) {
  GemmOptions o;
  o.aux = const_cast<int32_t *>(mask);
  o.added = added;
  detail::gemm_with<Epilogue::ReluGradient>(ctx, shape, a, b, c, o);
}

} // namespace gpuopt
