// The heuristic and the call. An algorithm remembers what it was chosen for:
// a shape, and promises about alignment; a call for which these do not hold is
// an error, as it would be undefined on a GPU. There are several algorithms for
// a product, as in the real library, and each adds in an order of its own.
#include "emulation/cublaslt/product.h"
#include "emulation/cudart/streams.h"
#include "emulation/libraries/elements.h"
#include "emulation/libraries/operands.h"

#include <algorithm>
#include <type_traits>
#include <vector>

namespace gpuopt::emulation {
namespace {

// Programs may compare algorithms byte by byte, so it has no padding.
struct Algorithm {
  uint64_t problem = 0; // a hash of the shapes, strides and types
  uint64_t workspace_bytes = 0;
  uint32_t alignment[4] = {}, bias_alignment = 0;
  int32_t slices = 1, adds_in_type_of_d = 0, unused = 0;

  Summation summation() const { return {slices, adds_in_type_of_d != 0}; }
};
static_assert(std::has_unique_object_representations_v<Algorithm> &&
              sizeof(Algorithm) <= sizeof(cublasLtMatmulAlgo_t));

void add_to(uint64_t &hash, int64_t value) {
  hash = (hash ^ uint64_t(value)) * 0x100000001B3u; // FNV-1a, by words
}

uint64_t hash_of(const Product &p) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (const Matrix *matrix : {&p.a, &p.b, &p.c, &p.d})
    for (int64_t value :
         {int64_t(matrix->type), matrix->rows, matrix->cols, matrix->row_stride,
          matrix->col_stride, int64_t(matrix->batch), matrix->batch_stride})
      add_to(hash, value);
  for (int64_t value : {int64_t(p.compute), int64_t(p.transposes_a),
                        int64_t(p.transposes_b), int64_t(p.epilogue.kind)})
    add_to(hash, value);
  return hash;
}

// Returns the largest power of two, up to 16, that divides an address. Null is
// a multiple of all.
uint32_t alignment_of(const void *address) {
  uint32_t alignment = 16;
  while (reinterpret_cast<uintptr_t>(address) % alignment != 0)
    alignment /= 2;
  return alignment;
}

// Whether a product is one for which the real library likes to split k: it has
// few results, and each is a long sum.
bool gains_by_slices(const Product &p) {
  return p.k >= 64 && p.m * p.n <= p.k * 256;
}

// The algorithms that the preference does not exclude, the heuristic's
// favourite first: k in slices that are added in D's type, in slices that are
// added in the type of the computation, and undivided.
std::vector<Summation> summations_of(const Product &p, uint32_t schemes) {
  std::vector<Summation> summations;
  if (gains_by_slices(p) && (schemes & (CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE |
                                        CUBLASLT_REDUCTION_SCHEME_INPLACE)))
    summations.push_back({4, true});
  if (gains_by_slices(p) && (schemes & CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE))
    summations.push_back({2, false});
  summations.push_back({1, false});
  return summations;
}

// Partial sums lie in the workspace.
size_t workspace_of(const Product &p, const Summation &summation) {
  const size_t sums = size_t(p.m * p.n * p.d.batch) * sizeof(double);
  return summation.slices == 1 ? size_t(64) << 10
                               : sums * size_t(summation.slices);
}

// Libraries have no algorithms for some epilogues of some shapes. Tests ask for
// one that never sums an operand.
bool is_missing(const Product &p) {
  return p.epilogue.kind == CUBLASLT_EPILOGUE_BGRADB &&
         getenv("GPUOPT_EMULATED_WITHOUT_OPERAND_SUMS");
}

std::vector<Algorithm> algorithms_of(const Product &p,
                                     const Preference &preference) {
  if (is_missing(p))
    refuse(CUBLAS_STATUS_NOT_SUPPORTED, "no algorithm sums an operand");
  Algorithm algorithm;
  algorithm.problem = hash_of(p);
  const int attributes[] = {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
                            CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                            CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
                            CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};
  for (int i = 0; i < 4; i++)
    algorithm.alignment[i] = preference.value<uint32_t>(attributes[i], 256);
  algorithm.bias_alignment = alignment_of(p.epilogue.bias);
  const auto most =
      preference.value<uint64_t>(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, 0);
  std::vector<Algorithm> algorithms;
  for (const Summation &summation :
       summations_of(p, preference.value<uint32_t>(
                            CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                            CUBLASLT_REDUCTION_SCHEME_MASK))) {
    algorithm.slices = summation.slices;
    algorithm.adds_in_type_of_d = summation.in_type_of_d;
    algorithm.workspace_bytes = workspace_of(p, summation);
    if (summation.slices == 1)
      algorithm.workspace_bytes =
          std::min<uint64_t>(most, algorithm.workspace_bytes);
    if (algorithm.workspace_bytes <= most)
      algorithms.push_back(algorithm);
  }
  return algorithms;
}

void check_alignment(const void *address, uint32_t promised,
                     const std::string &name) {
  if (reinterpret_cast<uintptr_t>(address) % promised != 0)
    refuse(CUBLAS_STATUS_INVALID_VALUE,
           name + " is not aligned to the " + std::to_string(promised) +
               " bytes that the algorithm was chosen for");
}

void check_algorithm(const Algorithm &chosen, const ProductCall &call) {
  if (chosen.problem != hash_of(call.product))
    refuse(CUBLAS_STATUS_INVALID_VALUE,
           "the algorithm was chosen for another product");
  check_alignment(call.a, chosen.alignment[0], "A");
  check_alignment(call.b, chosen.alignment[1], "B");
  check_alignment(call.c, chosen.alignment[2], "C");
  check_alignment(call.d, chosen.alignment[3], "D");
  if (call.product.epilogue.adds_bias())
    check_alignment(call.product.epilogue.bias, chosen.bias_alignment,
                    "the bias");
}

void check_workspace(const Algorithm &chosen, const void *workspace,
                     size_t bytes) {
  if (bytes < chosen.workspace_bytes)
    refuse(CUBLAS_STATUS_INVALID_VALUE,
           "the workspace has " + std::to_string(bytes) +
               " bytes, but the algorithm needs " +
               std::to_string(chosen.workspace_bytes));
  if (reinterpret_cast<uintptr_t>(workspace) % 256 != 0)
    refuse(CUBLAS_STATUS_INVALID_VALUE,
           "the workspace is not aligned to 256 bytes");
}

void check_operands(const ProductCall &call, const void *workspace,
                    size_t bytes) {
  const Product &p = call.product;
  const Epilogue &e = p.epilogue;
  Operands operands("cublasLtMatmul");
  operands.reads("A", call.a, p.a.bytes());
  operands.reads("B", call.b, p.b.bytes());
  if (call.c != call.d && (call.beta != 0 || call.beta_on_device))
    operands.reads("C", call.c, p.c.bytes());
  operands.writes("D", call.d, p.d.bytes());
  if (p.scales_on_device) {
    operands.reads("alpha", call.alpha_on_device, size_of(p.scale_type));
    operands.reads("beta", call.beta_on_device, size_of(p.scale_type));
  }
  const size_t bias_bytes =
      size_t((p.d.batch - 1) * e.bias_batch_stride + p.bias_length()) *
      size_of(e.bias_type);
  if (e.adds_bias())
    operands.reads("the bias", e.bias, bias_bytes);
  if (e.sums_bias_gradient())
    operands.writes("the bias gradient", e.bias, bias_bytes);
  if (e.writes_aux())
    operands.writes("what the epilogue keeps", e.aux, p.aux_bytes());
  else if (e.uses_aux())
    operands.reads("what the epilogue kept", e.aux, p.aux_bytes());
  operands.writes("the workspace", workspace, bytes);
}

void read_scales(ProductCall &call, const void *alpha, const void *beta) {
  if (call.product.scales_on_device) {
    call.alpha_on_device = alpha;
    call.beta_on_device = beta;
    return;
  }
  call.alpha = read_element(call.product.scale_type, alpha, 0);
  call.beta = read_element(call.product.scale_type, beta, 0);
}

} // namespace
} // namespace gpuopt::emulation

using namespace gpuopt::emulation;

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t, cublasLtMatmulDesc_t operation, cublasLtMatrixLayout_t a,
    cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
    cublasLtMatrixLayout_t d, cublasLtMatmulPreference_t preference,
    int requested, cublasLtMatmulHeuristicResult_t results[], int *found) {
  return call<Cublas>([&] {
    *found = 0;
    if (requested < 1)
      refuse(CUBLAS_STATUS_INVALID_VALUE, "no algorithm is asked for");
    const Product p = read_product(of(operation), of(a), of(b), of(c), of(d));
    for (const Algorithm &algorithm : algorithms_of(p, of(preference))) {
      if (*found == requested)
        break;
      cublasLtMatmulHeuristicResult_t &result = results[(*found)++];
      memset(&result, 0, sizeof result);
      memcpy(&result.algo, &algorithm, sizeof algorithm);
      result.workspaceSize = algorithm.workspace_bytes;
      result.state = CUBLAS_STATUS_SUCCESS;
    }
  });
}

cublasStatus_t
cublasLtMatmulAlgoCheck(cublasLtHandle_t, cublasLtMatmulDesc_t operation,
                        cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                        cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                        const cublasLtMatmulAlgo_t *algo,
                        cublasLtMatmulHeuristicResult_t *result) {
  return call<Cublas>([&] {
    const Product p = read_product(of(operation), of(a), of(b), of(c), of(d));
    Algorithm chosen;
    memcpy(static_cast<void *>(&chosen), algo, sizeof chosen);
    memset(result, 0, sizeof *result);
    if (chosen.problem != hash_of(p))
      refuse(CUBLAS_STATUS_INVALID_VALUE,
             "the algorithm was chosen for another product");
    result->algo = *algo;
    result->workspaceSize = chosen.workspace_bytes;
    result->state = CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t operation,
                              const void *alpha, const void *a,
                              cublasLtMatrixLayout_t a_layout, const void *b,
                              cublasLtMatrixLayout_t b_layout, const void *beta,
                              const void *c, cublasLtMatrixLayout_t c_layout,
                              void *d, cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t *algo, void *workspace,
                              size_t workspace_bytes, cudaStream_t stream) {
  return gpuopt::emulation::call<Cublas>([&] {
    ProductCall call;
    call.product = read_product(of(operation), of(a_layout), of(b_layout),
                                of(c_layout), of(d_layout));
    call.a = a;
    call.b = b;
    call.c = c;
    call.d = d;
    read_scales(call, alpha, beta);
    Algorithm chosen;
    if (algo) {
      memcpy(static_cast<void *>(&chosen), algo, sizeof chosen);
      check_algorithm(chosen, call);
      check_workspace(chosen, workspace, workspace_bytes);
      call.summation = chosen.summation();
    }
    check_operands(call, workspace, chosen.workspace_bytes);
    enqueue(
        stream_of(stream),
        [call, workspace, bytes = chosen.workspace_bytes] {
          Operands::spoil(workspace, bytes);
          compute(call);
        },
        library_kernel("cublaslt_matmul"));
  });
}
