// Products on the GPU: cuBLASLt, one algorithm per shape, chosen once by the
// heuristic and kept, so that the same product has the same bits every time.
#pragma once

#include "gpuopt/ops/gemm.h"

#include <cublasLt.h>
#include <unordered_map>

namespace gpuopt {

inline void check_cublas(cublasStatus_t status, const char *what,
                         const char *file, int line) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw Error(std::string("cuBLASLt: ") + cublasLtGetStatusString(status) +
                " in " + what + " (" + file + ":" + std::to_string(line) + ")");
}
#define CHECK_CUBLAS(call)                                                     \
  ::gpuopt::check_cublas((call), #call, __FILE__, __LINE__)

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

// cuBLASLt counts columns first: our row-major C = A B is its C^T = B^T A^T.
struct LtProduct {
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr;
  cublasLtMatmulAlgo_t algorithm;
};

struct CublasLt {
  CublasLt() { CHECK_CUBLAS(cublasLtCreate(&handle)); }
  ~CublasLt() {
    for (auto &[content, product] : by_content) {
      cublasLtMatrixLayoutDestroy(product.a);
      cublasLtMatrixLayoutDestroy(product.b);
      cublasLtMatrixLayoutDestroy(product.c);
      cublasLtMatmulDescDestroy(product.operation);
    }
    cublasLtDestroy(handle);
  }
  cublasLtHandle_t handle;
  std::unordered_map<std::string, LtProduct> by_content;
};

// A matrix with unit stride over its columns is, column-major, its transpose.
inline cublasLtMatrixLayout_t layout(cudaDataType_t type, int64_t rows,
                                     int64_t cols, int64_t row, int64_t col,
                                     int32_t batch, int64_t batch_stride,
                                     const char *which) {
  if (row != 1 && col != 1)
    throw Error(std::string("gemm: matrix ") + which + " has no unit stride");
  const bool row_major = col == 1;
  cublasLtMatrixLayout_t result;
  CHECK_CUBLAS(cublasLtMatrixLayoutCreate(
      &result, type, row_major ? cols : rows, row_major ? rows : cols,
      row_major ? row : col));
  CHECK_CUBLAS(cublasLtMatrixLayoutSetAttribute(
      result, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch));
  CHECK_CUBLAS(cublasLtMatrixLayoutSetAttribute(
      result, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &batch_stride,
      sizeof batch_stride));
  return result;
}

// Offsets in a program are multiples of 256 bytes, slices of a tensor may be
// less.
template <class T>
int64_t alignment_of(const T *p) {
  return reinterpret_cast<uintptr_t>(p) % 16 == 0 ? 16 : int64_t(sizeof(T));
}

// `bias` is the alignment of the bias, 0 without one: the heuristic reads the
// pointer in the descriptor to learn it.
struct ProductKey {
  GemmShape shape;
  int64_t types, bias, alignment[3];
};

inline cublasLtMatmulAlgo_t choose_algorithm(CublasLt &lt, const LtProduct &p,
                                             const ProductKey &key,
                                             size_t workspace_bytes) {
  cublasLtMatmulPreference_t preference;
  CHECK_CUBLAS(cublasLtMatmulPreferenceCreate(&preference));
  auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute,
                    auto value) {
    CHECK_CUBLAS(cublasLtMatmulPreferenceSetAttribute(preference, attribute,
                                                      &value, sizeof value));
  };
  prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace_bytes);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
         uint32_t(key.alignment[1]));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
         uint32_t(key.alignment[0]));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
         uint32_t(key.alignment[2]));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES,
         uint32_t(key.alignment[2]));
  cublasLtMatmulHeuristicResult_t result;
  int found = 0;
  const cublasStatus_t status =
      cublasLtMatmulAlgoGetHeuristic(lt.handle, p.operation, p.b, p.a, p.c, p.c,
                                     preference, 1, &result, &found);
  cublasLtMatmulPreferenceDestroy(preference);
  CHECK_CUBLAS(status);
  if (found == 0)
    throw Error("cuBLASLt has no algorithm for a product of " +
                std::to_string(key.shape.m) + " x " +
                std::to_string(key.shape.n) + " x " +
                std::to_string(key.shape.k));
  return result.algo;
}

template <class T, class C>
LtProduct make_product(CublasLt &lt, const ProductKey &key, const C *bias,
                       Context &ctx) {
  const GemmShape &s = key.shape;
  constexpr bool wide = std::is_same_v<T, double>;
  const bool tf32 = ctx.allows_tf32 && std::is_same_v<T, float>;
  LtProduct p;
  CHECK_CUBLAS(cublasLtMatmulDescCreate(&p.operation,
                                        wide   ? CUBLAS_COMPUTE_64F
                                        : tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                               : CUBLAS_COMPUTE_32F,
                                        wide ? CUDA_R_64F : CUDA_R_32F));
  auto set = [&](cublasLtMatmulDescAttributes_t attribute, auto value) {
    CHECK_CUBLAS(cublasLtMatmulDescSetAttribute(p.operation, attribute, &value,
                                                sizeof value));
  };
  // The first operand of C^T = B^T A^T is our B.
  set(CUBLASLT_MATMUL_DESC_TRANSA, s.b_n == 1 ? CUBLAS_OP_N : CUBLAS_OP_T);
  set(CUBLASLT_MATMUL_DESC_TRANSB, s.a_k == 1 ? CUBLAS_OP_N : CUBLAS_OP_T);
  if (key.bias) {
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
    set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, cuda_type<C>());
    set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  }
  const int32_t batch = static_cast<int32_t>(s.batch[1]);
  p.a =
      layout(cuda_type<T>(), s.m, s.k, s.a_m, s.a_k, batch, s.a_batch[1], "A");
  p.b =
      layout(cuda_type<T>(), s.k, s.n, s.b_k, s.b_n, batch, s.b_batch[1], "B");
  p.c =
      layout(cuda_type<C>(), s.m, s.n, s.c_m, s.c_n, batch, s.c_batch[1], "C");
  p.algorithm = choose_algorithm(lt, p, key, ctx.workspace_bytes());
  return p;
}

template <class T, class C>
void lt_gemm(Context &ctx, const GemmShape &s, const T *a, const T *b, C *c,
             const GemmOptions &o) {
  auto &lt = ctx.library<CublasLt>();
  const auto *bias = static_cast<const C *>(o.bias);
  const ProductKey key{s,
                       int64_t(cuda_type<T>()) * 1000 + cuda_type<C>(),
                       bias ? alignment_of(bias) : 0,
                       {alignment_of(a), alignment_of(b), alignment_of(c)}};
  const std::string content = content_of(key);
  auto found = lt.by_content.find(content);
  if (found == lt.by_content.end())
    found =
        lt.by_content.emplace(content, make_product<T, C>(lt, key, bias, ctx))
            .first;
  LtProduct &p = found->second;
  if (o.bias)
    CHECK_CUBLAS(cublasLtMatmulDescSetAttribute(
        p.operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &o.bias,
        sizeof o.bias));
  const double alpha64 = o.alpha, beta64 = o.beta;
  const float alpha32 = float(o.alpha), beta32 = float(o.beta);
  constexpr bool wide = std::is_same_v<T, double>;
  const void *alpha = wide ? static_cast<const void *>(&alpha64) : &alpha32;
  const void *beta = wide ? static_cast<const void *>(&beta64) : &beta32;
  const size_t bytes = ctx.workspace_bytes();
  CHECK_CUBLAS(cublasLtMatmul(lt.handle, p.operation, alpha, b, p.b, a, p.a,
                              beta, c, p.c, c, p.c, &p.algorithm,
                              ctx.workspace(bytes), bytes, ctx.stream));
}

} // namespace detail

template <class T, class C>
void gemm(Context &ctx, const GemmShape &shape, const T *a, const T *b, C *c,
          GemmOptions o = {}) {
  GemmShape s = simplified(shape);
  if (s.batch[0] * s.batch[1] * s.m * s.n == 0)
    return;
  if (s.n == 1 && o.bias)
    s.c_n = 1; // one column may count as row-major, as the epilogue wants it
  if (s.c_n != 1 && s.c_m == 1 && !o.bias) {
    s = transposed(s);
    const T *first = a;
    a = b;
    b = first;
  }
  for (int64_t i = 0; i < s.batch[0]; i++)
    detail::lt_gemm(ctx, s, a + i * s.a_batch[0], b + i * s.b_batch[0],
                    c + i * s.c_batch[0], o);
}

} // namespace gpuopt
