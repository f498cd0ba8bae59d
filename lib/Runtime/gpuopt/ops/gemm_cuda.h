// Products on the GPU, by cuBLASLt, or by a kernel of gpuopt's own where it is
// the faster one. The algorithm for a shape is chosen once and kept, so that
// the same product has the same bits every time.
#pragma once

#include "gpuopt/ops/gemm_algorithms_cuda.h"
#include "gpuopt/ops/gemm_tall_cuda.h"

#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace gpuopt {

namespace detail {

template <class T>
constexpr cudaDataType_t cuda_type() {
  if constexpr (std::is_same_v<T, double>)
    return CUDA_R_64F;
  else if constexpr (std::is_same_v<T, float>)
    return CUDA_R_32F;
  else if constexpr (std::is_same_v<T, f16>)
    return CUDA_R_16F;
  else
    return CUDA_R_16BF;
}

struct CublasLt {
  CublasLt() { CHECK_CUBLAS(cublasLtCreate(&handle)); }
  ~CublasLt() {
    for (auto &[content, product] : by_content)
      destroy(product);
    cublasLtDestroy(handle);
  }
  static void destroy(const LtProduct &product) {
    cublasLtMatrixLayoutDestroy(product.a);
    cublasLtMatrixLayoutDestroy(product.b);
    cublasLtMatrixLayoutDestroy(product.c);
    cublasLtMatmulDescDestroy(product.operation);
  }
  cublasLtHandle_t handle;
  std::unordered_map<std::string, LtProduct> by_content;
  std::unordered_set<std::string> missing; // without an algorithm
};

// Describes a matrix to cuBLASLt, whose matrices are column-major. A row-major
// matrix is described as its transpose, which has the same bytes in that order.
inline cublasLtMatrixLayout_t layout(cudaDataType_t type, int64_t rows,
                                     int64_t cols, int64_t row, int64_t col,
                                     int32_t batch, int64_t batch_stride,
                                     const char *which) {
  if (row != 1 && col != 1)
    throw Error(std::string("gemm: matrix ") + which + " has no unit stride");
  const bool row_major = col == 1;
  const int64_t length = row_major ? cols : rows,
                count = row_major ? rows : cols;
  // A single row has no second one that its pitch would place. An even pitch
  // tells the library that the row is aligned.
  const int64_t pitch =
      count == 1 ? (length + kEvenElements - 1) / kEvenElements * kEvenElements
                 : (row_major ? row : col);
  cublasLtMatrixLayout_t result;
  CHECK_CUBLAS(cublasLtMatrixLayoutCreate(&result, type, length, count, pitch));
  CHECK_CUBLAS(cublasLtMatrixLayoutSetAttribute(
      result, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch));
  CHECK_CUBLAS(cublasLtMatrixLayoutSetAttribute(
      result, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &batch_stride,
      sizeof batch_stride));
  return result;
}

// What cuBLASLt calls the epilogue. A flag says that it has a bias or an aux.
inline int64_t epilogue_of(const GemmOptions &o) {
  const int64_t bias = o.bias ? CUBLASLT_EPILOGUE_BIAS : 0;
  switch (o.epilogue) {
  case Epilogue::None:
    if (o.operand_sums) // our A is the library's B
      return CUBLASLT_EPILOGUE_BGRADB;
    return bias ? bias : int64_t(CUBLASLT_EPILOGUE_DEFAULT);
  case Epilogue::Gelu:
    return bias | (o.aux ? CUBLASLT_EPILOGUE_GELU_AUX : CUBLASLT_EPILOGUE_GELU);
  case Epilogue::GeluGradient:
    return o.sums ? CUBLASLT_EPILOGUE_DGELU_BGRAD : CUBLASLT_EPILOGUE_DGELU;
  case Epilogue::Relu:
    return bias | (o.aux ? CUBLASLT_EPILOGUE_RELU_AUX : CUBLASLT_EPILOGUE_RELU);
  case Epilogue::ReluGradient:
    return CUBLASLT_EPILOGUE_DRELU;
  }
  throw Error("gemm: there is no epilogue " +
              std::to_string(int64_t(o.epilogue)));
}

// Sums take the place of a bias.
inline const void *bias_or_sums(const GemmOptions &o) {
  return o.bias ? o.bias : o.sums ? o.sums : o.operand_sums;
}

inline void set_pointers(const LtProduct &p, const GemmOptions &o) {
  const void *bias = bias_or_sums(o);
  if (bias)
    CHECK_CUBLAS(cublasLtMatmulDescSetAttribute(
        p.operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias));
  if (o.aux)
    CHECK_CUBLAS(cublasLtMatmulDescSetAttribute(
        p.operation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &o.aux,
        sizeof o.aux));
}

template <class T, class C>
LtProduct make_product(const ProductKey &key, const GemmOptions &o) {
  const GemmShape &s = key.shape;
  constexpr bool wide = std::is_same_v<T, double>;
  LtProduct p;
  CHECK_CUBLAS(cublasLtMatmulDescCreate(&p.operation,
                                        wide ? CUBLAS_COMPUTE_64F
                                        : key.allows_tf32
                                            ? CUBLAS_COMPUTE_32F_FAST_TF32
                                            : CUBLAS_COMPUTE_32F,
                                        wide ? CUDA_R_64F : CUDA_R_32F));
  auto set = [&](cublasLtMatmulDescAttributes_t attribute, auto value) {
    CHECK_CUBLAS(cublasLtMatmulDescSetAttribute(p.operation, attribute, &value,
                                                sizeof value));
  };
  // The first operand of C^T = B^T A^T is our B.
  set(CUBLASLT_MATMUL_DESC_TRANSA, s.b_n == 1 ? CUBLAS_OP_N : CUBLAS_OP_T);
  set(CUBLASLT_MATMUL_DESC_TRANSB, s.a_k == 1 ? CUBLAS_OP_N : CUBLAS_OP_T);
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, uint32_t(key.epilogue));
  if (key.bias)
    set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, cuda_type<C>());
  if (key.aux && o.has_mask()) {
    set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, 32 * mask_words(s.n));
  } else if (key.aux) {
    set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, cuda_type<C>());
    set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, s.c_m);
  }
  set_pointers(p, o);
  const int32_t batch = static_cast<int32_t>(s.batch[1]);
  p.a =
      layout(cuda_type<T>(), s.m, s.k, s.a_m, s.a_k, batch, s.a_batch[1], "A");
  p.b =
      layout(cuda_type<T>(), s.k, s.n, s.b_k, s.b_n, batch, s.b_batch[1], "B");
  p.c =
      layout(cuda_type<C>(), s.m, s.n, s.c_m, s.c_n, batch, s.c_batch[1], "C");
  return p;
}

template <class T, class C>
ProductKey key_of(Context &ctx, const GemmShape &s, const T *a, const T *b,
                  const C *c, const GemmOptions &o) {
  const auto *bias = static_cast<const C *>(bias_or_sums(o));
  const auto *aux = static_cast<const C *>(o.aux);
  const auto *added = static_cast<const C *>(o.added);
  return {s,
          cuda_type<T>(),
          cuda_type<C>(),
          ctx.allows_tf32 && std::is_same_v<T, float>,
          o.beta != 0 || (o.added && o.added == c) ? ProductKey::kAddsToResult
          : o.added                                ? ProductKey::kAddsMatrix
                                                   : ProductKey::kAddsNothing,
          epilogue_of(o),
          bias ? alignment_of(bias) : 0,
          aux ? alignment_of(aux) : 0,
          {alignment_of(a), alignment_of(b),
           added ? std::min(alignment_of(added), alignment_of(c))
                 : alignment_of(c)},
          int64_t(ctx.workspace_bytes())};
}

// Whether calls with this epilogue and these types are compiled with the kernel
// for tall products.
template <Epilogue Named, class T, class C>
constexpr bool kHasTallKernel =
    (Named == Epilogue::Relu || Named == Epilogue::ReluGradient) &&
    sizeof(T) == 2 && std::is_same_v<T, C>;

// One call of cublasLtMatmul: C = epilogue(alpha * A B + beta * C), or with
// another matrix in place of beta * C. Or one of the kernel for tall products.
template <Epilogue Named, class T, class C>
struct LtCall {
  CublasLt &lt;
  const GemmShape &shape;
  const T *a, *b;
  C *c;
  GemmOptions options;

  // Whether the kernel for tall products is one of the candidates.
  bool offers_tall_kernel(Context &ctx, const ProductKey &key) const {
    if constexpr (kHasTallKernel<Named, T, C>)
      return has_vectors(key) && is_tall(shape) &&
             has_tall_kernel(ctx.library<TallDevice>(), shape, options);
    return false;
  }

  cublasStatus_t run(Context &ctx, const LtProduct &p,
                     const ProductAlgorithm &algorithm) const {
    if constexpr (kHasTallKernel<Named, T, C>)
      if (algorithm.is_tall_kernel) {
        launch_tall_gemm<Named>(ctx, ctx.library<TallDevice>(), shape, a, b, c,
                                options);
        return CUBLAS_STATUS_SUCCESS;
      }
    const double alpha64 = options.alpha,
                 beta64 = options.added ? 1 : options.beta;
    const void *c_in = options.added ? options.added : c;
    const float alpha32 = float(alpha64), beta32 = float(beta64);
    constexpr bool wide = std::is_same_v<T, double>;
    const void *alpha = wide ? static_cast<const void *>(&alpha64) : &alpha32;
    const void *beta = wide ? static_cast<const void *>(&beta64) : &beta32;
    const size_t bytes = ctx.workspace_bytes();
    return cublasLtMatmul(lt.handle, p.operation, alpha, b, p.b, a, p.a, beta,
                          c_in, p.c, c, p.c, &algorithm.value,
                          ctx.workspace(bytes), bytes, ctx.stream);
  }
};

// Returns the number of elements from the first of a product's result to its
// last.
inline int64_t result_extent(const GemmShape &s) {
  return (s.m - 1) * s.c_m + (s.n - 1) * s.c_n +
         (s.batch[1] - 1) * s.c_batch[1] + 1;
}

// Returns the algorithm for a call. A call that adds to its result is timed
// with another result.
template <Epilogue Named, class T, class C>
ProductAlgorithm choose_algorithm(Context &ctx, const LtProduct &p,
                                  const ProductKey &key,
                                  const LtCall<Named, T, C> &call) {
  LtCall<Named, T, C> timed = call;
  std::optional<TimedResult> result;
  return choose_algorithm(
      ctx, call.lt.handle, p, key, call.offers_tall_kernel(ctx, key),
      [&](const ProductAlgorithm &algorithm) {
        if (key.adds == ProductKey::kAddsToResult && !result) {
          result.emplace(ctx, call.c, result_extent(call.shape) * sizeof(C));
          timed.c = static_cast<C *>(result->data());
          if (call.options.added)
            timed.options.added = timed.c;
        }
        return timed.c ? timed.run(ctx, p, algorithm)
                       : CUBLAS_STATUS_ALLOC_FAILED;
      });
}

template <Epilogue Named, class T, class C>
void lt_gemm(Context &ctx, const GemmShape &s, const T *a, const T *b, C *c,
             const GemmOptions &o) {
  auto &lt = ctx.library<CublasLt>();
  const ProductKey key = key_of(ctx, s, a, b, c, o);
  const LtCall<Named, T, C> call{lt, s, a, b, c, o};
  const std::string content = content_of(key);
  auto found = lt.by_content.find(content);
  if (found == lt.by_content.end()) {
    LtProduct p = make_product<T, C>(key, o);
    try {
      p.algorithm = choose_algorithm(ctx, p, key, call);
    } catch (...) {
      CublasLt::destroy(p);
      throw;
    }
    found = lt.by_content.emplace(content, p).first;
  }
  const LtProduct &p = found->second;
  set_pointers(p, o);
  CHECK_CUBLAS(call.run(ctx, p, p.algorithm));
}

// Whether the library has an algorithm for a product that adds up an operand.
// The first time that it has none, a note tells the user.
template <class T, class C>
bool has_product(Context &ctx, const GemmShape &shape, const T *a, const T *b,
                 const C *c, const GemmOptions &o) {
  auto &lt = ctx.library<CublasLt>();
  const ProductKey key = key_of(ctx, simplified(shape), a, b, c, o);
  const std::string content = content_of(key);
  if (lt.by_content.count(content) != 0)
    return true;
  if (lt.missing.count(content) != 0)
    return false;
  const LtProduct p = make_product<T, C>(key, o);
  const bool has_algorithm = !known_algorithms(lt.handle, p, key).empty();
  CublasLt::destroy(p);
  if (has_algorithm)
    return true;
  if (lt.missing.empty())
    fprintf(stderr,
            "note: cuBLASLt %zu has no algorithm for a %s; kernels of gpuopt "
            "add up the operand, here and in all such products\n",
            cublasLtGetVersion(), description_of(key).c_str());
  lt.missing.insert(content);
  return false;
}

template <Epilogue Named, class T, class C>
void lt_batches(Context &ctx, const GemmShape &s, const T *a, const T *b, C *c,
                const GemmOptions &o) {
  for (int64_t i = 0; i < s.batch[0]; i++)
    lt_gemm<Named>(ctx, s, a + i * s.a_batch[0], b + i * s.b_batch[0],
                   c + i * s.c_batch[0], o);
}

} // namespace detail

// `Named` is the options' epilogue, which decides what the call is compiled
// with. gemm_with sets both.
template <Epilogue Named = Epilogue::None, class T, class C>
void gemm(Context &ctx, const GemmShape &shape, const T *a, const T *b, C *c,
          GemmOptions o = {}) {
  if (o.epilogue != Named)
    throw Error("gemm: the options have epilogue " +
                std::to_string(int64_t(o.epilogue)) +
                ", and the call is compiled for epilogue " +
                std::to_string(int64_t(Named)) +
                "; call the function that is named after the epilogue, such "
                "as gemm_relu");
  GemmShape s = simplified(shape);
  if (s.batch[0] * s.batch[1] * s.m * s.n == 0)
    return;
  if (s.n == 1 && o.has_epilogue())
    s.c_n = 1; // one column is row-major as well, which the epilogue needs
  if (s.c_n != 1 && s.c_m == 1 && !o.has_epilogue()) {
    s = transposed(s);
    const T *first = a;
    a = b;
    b = first;
  }
  const bool on_tensor_cores =
      sizeof(T) == 2 || (std::is_same_v<T, float> && ctx.allows_tf32);
  if (on_tensor_cores && !o.has_epilogue()) {
    const int64_t even = sizeof(T) == 4 ? kEvenFloats : kEvenElements;
    for (const GemmPart &part : even_parts(s, even)) {
      GemmOptions own = o;
      own.beta = part.adds ? 1 : o.beta;
      detail::lt_batches<Epilogue::None>(ctx, part.shape, a + part.a,
                                         b + part.b, c + part.c, own);
    }
    return;
  }
  detail::lt_batches<Named>(ctx, s, a, b, c, o);
}

namespace detail {

// A product whose epilogue the caller knows when it is compiled.
template <Epilogue E, class T>
void gemm_with(Context &ctx, const GemmShape &shape, const T *a, const T *b,
               T *c, GemmOptions o) {
  o.epilogue = E;
  gemm<E>(ctx, shape, a, b, c, o);
}

} // namespace detail

} // namespace gpuopt
