// Products on the host: oneDNN for float and, where library and processor have
// it, half precision, which is widened to float elsewhere; double by blocked
// loops, since oneDNN has none. Products with one or two rows have kernels of
// their own.
#pragma once

#include "gpuopt/ops/gemm.h"
#include "gpuopt/ops/gemm_epilogue_host.h"
#include "gpuopt/ops/gemm_few_rows_host.h"
#include "gpuopt/ops/gemm_packing_host.h"
#include "gpuopt/ops/wide_host.h"

namespace gpuopt {
namespace detail {

struct Matmul {
  dnnl::memory::desc a, b, c, bias, scratch;
  dnnl::memory::desc packed; // b as the primitive reads it
  dnnl::matmul primitive;
  dnnl::reorder pack;
  bool packs = false;
};

struct Matmuls {
  std::unordered_map<std::string, Matmul> by_content;
};

struct MatmulKey {
  GemmShape shape;
  double alpha_beta[2];
  int64_t types, bias, keeps;
};

// Leaves out batch dimensions of one element, because 2-d products are the fast
// ones.
inline dnnl::memory::desc describe(const GemmShape &s,
                                   const int64_t (&batch_stride)[2],
                                   int64_t rows, int64_t cols, int64_t row,
                                   int64_t col, dnnl::memory::data_type type) {
  dnnl::memory::dims dims, strides;
  for (int i : {0, 1})
    if (s.batch[i] > 1) {
      dims.push_back(s.batch[i]);
      strides.push_back(batch_stride[i]);
    }
  dims.insert(dims.end(), {rows, cols});
  strides.insert(strides.end(), {row, col});
  return {dims, type, strides};
}

// With `keeps`, B is packed once for many products.
template <class T, class C>
Matmul make_matmul(OneDnn &dnn, const GemmShape &s, GemmOptions o, bool keeps) {
  Matmul mm;
  mm.a = describe(s, s.a_batch, s.m, s.k, s.a_m, s.a_k, onednn_type<T>());
  mm.b = describe(s, s.b_batch, s.k, s.n, s.b_k, s.b_n, onednn_type<T>());
  mm.c = describe(s, s.c_batch, s.m, s.n, s.c_m, s.c_n, onednn_type<C>());
  const size_t outer = 1 + (s.batch[0] > 1) + (s.batch[1] > 1);
  dnnl::memory::dims row(outer, 1), dense(outer, s.n);
  row.push_back(s.n);
  dense.push_back(1);
  mm.bias = dnnl::memory::desc(row, onednn_type<C>(), dense);

  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::post_ops after;
  if (o.alpha != 1)
    scale_result(attributes, after, float(o.alpha));
  if (o.beta != 0)
    after.append_sum(float(o.beta));
  attributes.set_post_ops(after);

  auto b = mm.b;
  if (keeps || (std::is_same_v<T, float> && packs_right_matrix(s, sizeof(T))))
    b = {{s.k, s.n}, onednn_type<T>(), dnnl::memory::format_tag::any};
  const auto primitive =
      o.bias ? describe_primitive<dnnl::matmul>(dnn.engine, attributes, mm.a, b,
                                                mm.bias, mm.c)
             : describe_primitive<dnnl::matmul>(dnn.engine, attributes, mm.a, b,
                                                mm.c);
  mm.packed = primitive.weights_desc();
  mm.packs = mm.packed != mm.b;
  if (mm.packs)
    mm.pack = dnnl::reorder(
        dnnl::reorder::primitive_desc(dnn.engine, mm.b, dnn.engine, mm.packed));
  mm.scratch = primitive.scratchpad_desc();
  mm.primitive = dnnl::matmul(primitive);
  return mm;
}

// A product of fewer multiplications is done before other threads have begun.
constexpr int64_t kLeastSharedProduct = 128 << 10;

inline int64_t multiplications(const GemmShape &s) {
  return s.batch[0] * s.batch[1] * s.m * s.n * s.k;
}

// The calling thread computes alone in this scope if the product is small.
class SmallProductScope {
public:
  SmallProductScope([[maybe_unused]] const Context &ctx,
                    [[maybe_unused]] const GemmShape &s) {
#ifdef _OPENMP
    if (ctx.num_threads > 1 && multiplications(s) < kLeastSharedProduct) {
      threads_before = omp_get_max_threads();
      omp_set_num_threads(1);
    }
#endif
  }
  ~SmallProductScope() {
#ifdef _OPENMP
    if (threads_before > 0)
      omp_set_num_threads(threads_before);
#endif
  }
  SmallProductScope(const SmallProductScope &) = delete;
  SmallProductScope &operator=(const SmallProductScope &) = delete;

private:
  [[maybe_unused]] int threads_before = 0; // none: they stay as they are
};

template <class T, class C>
void onednn_gemm(Context &ctx, const GemmShape &s, const T *a, const T *b, C *c,
                 GemmOptions o) {
  // Primitives are made for as many threads as execute them.
  const SmallProductScope alone_if_small(ctx, s);
  auto &dnn = ctx.library<OneDnn>();
  const bool keeps =
      ctx.packed_weights.has(b) && can_keep_right_matrix(s, sizeof(T));
  const MatmulKey key{s,
                      {o.alpha, o.beta},
                      int64_t(onednn_type<T>()) * 64 +
                          int64_t(onednn_type<C>()),
                      o.bias != nullptr,
                      keeps};
  auto &cache = ctx.library<Matmuls>().by_content;
  const std::string content = content_of(key);
  auto found = cache.find(content);
  if (found == cache.end())
    found = cache.emplace(content, make_matmul<T, C>(dnn, s, o, keeps)).first;
  const Matmul &mm = found->second;
  const size_t packed_bytes =
      mm.packs && !keeps ? (mm.packed.get_size() + 4095) / 4096 * 4096 : 0;
  char *scratch = dnn.scratch(packed_bytes + mm.scratch.get_size());
  dnnl::memory right = dnn.on(mm.b, b);
  auto pack_to = [&](char *to) {
    dnnl::memory packed = dnn.on(mm.packed, to);
    mm.pack.execute(dnn.stream, right, packed);
  };
  if (mm.packs && keeps) {
    right = dnn.on(mm.packed, ctx.packed_weights.find(
                                  b, content, mm.packed.get_size(), pack_to));
  } else if (mm.packs) {
    pack_to(scratch);
    right = dnn.on(mm.packed, scratch);
  }
  std::unordered_map<int, dnnl::memory> arguments{
      {DNNL_ARG_SRC, dnn.on(mm.a, a)},
      {DNNL_ARG_WEIGHTS, right},
      {DNNL_ARG_DST, dnn.on(mm.c, c)},
      {DNNL_ARG_SCRATCHPAD, dnn.on(mm.scratch, scratch + packed_bytes)}};
  if (o.bias)
    arguments.emplace(DNNL_ARG_BIAS, dnn.on(mm.bias, o.bias));
  mm.primitive.execute(dnn.stream, arguments);
}

// oneDNN scales the product and the bias together, and faults on a binary
// post-op over a strided C; so with both a scale and a bias, the bias comes
// after.
template <class C>
void add_bias(const GemmShape &s, C *c, const C *bias) {
  for (int64_t row = 0; row < s.batch[0] * s.batch[1] * s.m; row++) {
    const int64_t m = row % s.m, inner = row / s.m % s.batch[1],
                  outer = row / s.m / s.batch[1];
    C *p = c + m * s.c_m + inner * s.c_batch[1] + outer * s.c_batch[0];
    for (int64_t n = 0; n < s.n; n += kLanes)
      store_strided(p + n * s.c_n, s.c_n,
                    load_strided(p + n * s.c_n, s.c_n, s.n - n) +
                        load(bias + n, s.n - n),
                    s.n - n);
  }
}

// One row of C, two Lanes of columns at a time: each element of C is summed
// over k in order.
DEVICE void dgemm_row(const GemmShape &s, const double *a, const double *b,
                      double *c, const GemmOptions &o) {
  constexpr int kColumns = 2 * kLanes;
  const auto *bias = static_cast<const double *>(o.bias);
  for (int64_t n = 0; n < s.n; n += kColumns) {
    const int64_t left = s.n - n;
    Lanes<double> sum0(0.0), sum1(0.0);
    for (int64_t k = 0; k < s.k; k++) {
      const double *row = b + k * s.b_k + n * s.b_n;
      const Lanes<double> scale(a[k * s.a_k]);
      sum0 += scale * load_strided(row, s.b_n, left);
      sum1 += scale * load_strided(row + kLanes * s.b_n, s.b_n, left - kLanes);
    }
    for (int64_t j = 0; j < (left < kColumns ? left : kColumns); j++) {
      double *out = c + (n + j) * s.c_n;
      const double product =
          o.alpha *
          (j < kLanes ? lane(sum0, int(j)) : lane(sum1, int(j - kLanes)));
      *out = product + (o.beta != 0 ? *out : 0.0) + (bias ? bias[n + j] : 0.0);
    }
  }
}

inline void double_gemm(Context &ctx, const GemmShape &s, const double *a,
                        const double *b, double *c, const GemmOptions &o) {
  const int64_t rows = s.batch[0] * s.batch[1] * s.m;
  [[maybe_unused]] const bool parallel =
      ctx.num_threads > 1 && multiplications(s) >= kLeastSharedProduct;
#pragma omp parallel for schedule(static) if (parallel)
  for (int64_t row = 0; row < rows; row++) {
    const int64_t m = row % s.m, inner = row / s.m % s.batch[1],
                  outer = row / s.m / s.batch[1];
    dgemm_row(s, a + m * s.a_m + inner * s.a_batch[1] + outer * s.a_batch[0],
              b + inner * s.b_batch[1] + outer * s.b_batch[0],
              c + m * s.c_m + inner * s.c_batch[1] + outer * s.c_batch[0], o);
  }
}

// Elements from the first to the last that a strided matrix touches.
inline int64_t extent(const GemmShape &s, const int64_t (&batch)[2],
                      int64_t rows, int64_t cols, int64_t row, int64_t col) {
  return (s.batch[0] - 1) * batch[0] + (s.batch[1] - 1) * batch[1] +
         (rows - 1) * row + (cols - 1) * col + 1;
}

// Computes a product of f16 or bf16 operands; C has their type or float.
template <class T, class C>
void wide_gemm(Context &ctx, const GemmShape &s, const T *a, const T *b, C *c,
               GemmOptions o) {
  auto &buffers = ctx.library<WideOperands>();
  const float *wide_a =
      widened(buffers.a, a, extent(s, s.a_batch, s.m, s.k, s.a_m, s.a_k));
  const float *wide_b =
      widened(buffers.b, b, extent(s, s.b_batch, s.k, s.n, s.b_k, s.b_n));
  if constexpr (std::is_same_v<C, float>) {
    gemm(ctx, s, wide_a, wide_b, c, o);
  } else {
    const int64_t n = extent(s, s.c_batch, s.m, s.n, s.c_m, s.c_n);
    // Also what lies between C's rows, to write it back.
    float *wide_c = widened(buffers.c, c, n);
    if (o.bias)
      o.bias = widened(buffers.bias, static_cast<const C *>(o.bias), s.n);
    gemm(ctx, s, wide_a, wide_b, wide_c, o);
    narrowed(c, wide_c, n);
  }
}

// oneDNN is slow if a batch is broadcast, so it makes one product after the
// other.
template <class T, class C>
bool split_broadcast_batch(Context &ctx, const GemmShape &s, const T *a,
                           const T *b, C *c, const GemmOptions &o) {
  for (int i : {0, 1})
    if (s.batch[i] > 1 && (s.a_batch[i] == 0 || s.b_batch[i] == 0)) {
      GemmShape one = s;
      one.batch[i] = 1;
      for (int64_t j = 0; j < s.batch[i]; j++)
        gemm(ctx, one, a + j * s.a_batch[i], b + j * s.b_batch[i],
             c + j * s.c_batch[i], o);
      return true;
    }
  return false;
}

template <class T, class C>
void onednn_gemms(Context &ctx, const GemmShape &s, const T *a, const T *b,
                  C *c, GemmOptions o) {
  if (split_broadcast_batch(ctx, s, a, b, c, o))
    return;
  const auto *late_bias =
      o.alpha != 1 ? static_cast<const C *>(o.bias) : nullptr;
  if (late_bias)
    o.bias = nullptr;
  onednn_gemm(ctx, s, a, b, c, o);
  if (late_bias)
    add_bias(s, c, late_bias);
}

// Whether oneDNN's packed matrix is read faster than B as it is stored. The
// processor computes with pairs of bf16 along k, which only the packed one has
// side by side where B's columns lie along k and are short.
template <class T>
bool is_faster_packed(Context &ctx, const GemmShape &s, const T *b) {
  return std::is_same_v<T, bf16> && !must_widen<T>() && s.b_n != 1 &&
         s.k < kLongColumn && ctx.packed_weights.has(b) &&
         can_keep_right_matrix(s, sizeof(T));
}

} // namespace detail

template <class T, class C>
void gemm(Context &ctx, const GemmShape &shape, const T *a, const T *b, C *c,
          GemmOptions o) {
  GemmShape s = simplified(shape);
  if (s.batch[0] * s.batch[1] * s.m * s.n == 0)
    return;
  if (o.epilogue != Epilogue::None)
    return detail::gemm_with_epilogue(ctx, s, a, b, c, o);
  if constexpr (std::is_same_v<T, double>) {
    detail::double_gemm(ctx, s, a, b, c, o);
  } else {
    if (s.c_n != 1 && s.c_m == 1 && !o.bias) {
      s = transposed(s);
      std::swap(a, b);
    }
    if (detail::has_few_rows(s) && !detail::is_faster_packed(ctx, s, b))
      return detail::gemm_of_few_rows(ctx, s, a, b, c, o);
    if constexpr (detail::is_half<T>)
      if (detail::must_widen_product<T>())
        return detail::wide_gemm(ctx, s, a, b, c, o);
    if constexpr (in_onednn<T>)
      detail::onednn_gemms(ctx, s, a, b, c, o);
  }
}

namespace detail {

// A product whose epilogue the caller knows when it is compiled.
template <Epilogue E, class T>
void gemm_with(Context &ctx, const GemmShape &shape, const T *a, const T *b,
               T *c, GemmOptions o) {
  o.epilogue = E;
  gemm(ctx, shape, a, b, c, o);
}

} // namespace detail

} // namespace gpuopt
