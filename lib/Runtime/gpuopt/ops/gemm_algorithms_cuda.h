// How a product is computed: by the algorithm of cuBLASLt that its heuristic
// names first, or by the fastest of several and of gpuopt's own kernel, by
// measurement, which autotune_record.h keeps.
#pragma once

#include "gpuopt/device/plain_numbers.h"
#include "gpuopt/ops/gemm.h"
#include "gpuopt/ops/timed_choice_cuda.h"

#include <cublasLt.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

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

// An algorithm of cuBLASLt, or the kernel for tall products (gemm_tall_cuda.h).
// nvcc 13.0 breaks on a std::vector of cublasLtMatmulAlgo_t, a struct that only
// a typedef gives a name.
struct ProductAlgorithm {
  cublasLtMatmulAlgo_t value{};
  bool is_tall_kernel = false;
};

// cuBLASLt counts columns first: our row-major C = A B is its C^T = B^T A^T.
struct LtProduct {
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr;
  ProductAlgorithm algorithm;
};

// The product that an algorithm is chosen for. `bias` is the alignment of the
// bias or of the sums, `aux` that of the GELU's input or of a mask, 0 without
// one: the heuristic reads the pointers in the descriptor to learn it.
struct ProductKey {
  GemmShape shape;
  int64_t operand_type, result_type; // cudaDataType_t
  // A product adds to its result, too, where the result takes the place of the
  // matrix that is added.
  static constexpr int64_t kAddsNothing = 0, kAddsToResult = 1, kAddsMatrix = 2;
  int64_t allows_tf32, adds;
  int64_t epilogue; // cublasLtEpilogue_t
  int64_t bias, aux, alignment[3];
  int64_t workspace_bytes;
};

// Whether the matrices and what the epilogue reads or keeps begin at multiples
// of 16 bytes.
inline bool has_vectors(const ProductKey &key) {
  return key.alignment[0] == 16 && key.alignment[1] == 16 &&
         key.alignment[2] == 16 && (key.aux == 0 || key.aux == 16);
}

inline bool has_epilogue(const ProductKey &key, int64_t part) {
  return (key.epilogue & part) == part;
}

// "f16 f16 batch 8 1024x768x3072 ...": all of a key, to read and to compare.
inline std::string description_of(const ProductKey &key) {
  auto name = [](int64_t type) {
    return type == CUDA_R_64F   ? "f64"
           : type == CUDA_R_32F ? "f32"
           : type == CUDA_R_16F ? "f16"
                                : "bf16";
  };
  const GemmShape &s = key.shape;
  PlainStream text;
  text << "product of " << name(key.operand_type) << " to "
       << name(key.result_type) << ", " << s.batch[1] << " of " << s.m << "x"
       << s.n << "x" << s.k << ", strides a " << s.a_batch[1] << " " << s.a_m
       << " " << s.a_k << " b " << s.b_batch[1] << " " << s.b_k << " " << s.b_n
       << " c " << s.c_batch[1] << " " << s.c_m << " " << s.c_n << ", aligned "
       << key.alignment[0] << " " << key.alignment[1] << " "
       << key.alignment[2];
  if (has_epilogue(key, CUBLASLT_EPILOGUE_GELU))
    text << ", gelu";
  if (has_epilogue(key, CUBLASLT_EPILOGUE_DGELU))
    text << ", gradient of gelu";
  if (has_epilogue(key, CUBLASLT_EPILOGUE_RELU))
    text << ", relu";
  if (has_epilogue(key, CUBLASLT_EPILOGUE_DRELU))
    text << ", gradient of relu";
  if (key.aux)
    text << ", what it keeps aligned " << key.aux;
  if (key.bias)
    text << (has_epilogue(key, CUBLASLT_EPILOGUE_BGRADB)  ? ", sums of A"
             : has_epilogue(key, CUBLASLT_EPILOGUE_DGELU) ? ", sums"
                                                          : ", bias")
         << " aligned " << key.bias;
  if (key.adds != ProductKey::kAddsNothing)
    text << (key.adds == ProductKey::kAddsToResult ? ", added to the result"
                                                   : ", added to a matrix");
  if (key.allows_tf32)
    text << ", tf32";
  text << ", workspace " << key.workspace_bytes;
  return text.str();
}

// The algorithms that the heuristic names, the best by its estimate first.
// Partial sums of a product are added in the type in which it is computed
// alone: a half would lose what long sums need.
inline std::vector<ProductAlgorithm> known_algorithms(cublasLtHandle_t handle,
                                                      const LtProduct &p,
                                                      const ProductKey &key) {
  cublasLtMatmulPreference_t preference;
  CHECK_CUBLAS(cublasLtMatmulPreferenceCreate(&preference));
  auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute,
                    auto value) {
    CHECK_CUBLAS(cublasLtMatmulPreferenceSetAttribute(preference, attribute,
                                                      &value, sizeof value));
  };
  prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
         uint64_t(key.workspace_bytes));
  prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
         uint32_t(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
         uint32_t(key.alignment[1]));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
         uint32_t(key.alignment[0]));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
         uint32_t(key.alignment[2]));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES,
         uint32_t(key.alignment[2]));
  constexpr int kMost = 8;
  cublasLtMatmulHeuristicResult_t results[kMost];
  int found = 0;
  const cublasStatus_t status =
      cublasLtMatmulAlgoGetHeuristic(handle, p.operation, p.b, p.a, p.c, p.c,
                                     preference, kMost, results, &found);
  cublasLtMatmulPreferenceDestroy(preference);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED)
    return {};
  CHECK_CUBLAS(status);
  std::vector<ProductAlgorithm> algorithms;
  for (int i = 0; i < found; i++)
    if (results[i].state == CUBLAS_STATUS_SUCCESS)
      algorithms.push_back({results[i].algo});
  return algorithms;
}

inline std::vector<ProductAlgorithm> algorithms_for(cublasLtHandle_t handle,
                                                    const LtProduct &p,
                                                    const ProductKey &key) {
  std::vector<ProductAlgorithm> algorithms = known_algorithms(handle, p, key);
  if (algorithms.empty())
    throw Error("cuBLASLt has no algorithm for a " + description_of(key) +
                (key.epilogue == CUBLASLT_EPILOGUE_DEFAULT
                     ? ""
                     : "; compile the program with --epilogues=none"));
  return algorithms;
}

// The header of cuBLASLt allows algorithms to be kept as bytes, for the version
// of the library that named them.
inline std::string hex_of(const cublasLtMatmulAlgo_t &algorithm) {
  unsigned char bytes[sizeof algorithm];
  memcpy(bytes, &algorithm, sizeof algorithm);
  std::string text;
  for (unsigned char byte : bytes)
    for (int digit : {byte >> 4, byte & 15})
      text += "0123456789abcdef"[digit];
  return text;
}

// False unless the text is one that hex_of has written.
inline bool read_hex(const std::string &text, cublasLtMatmulAlgo_t &algorithm) {
  unsigned char bytes[sizeof algorithm];
  if (text.size() != 2 * sizeof bytes ||
      text.find_first_not_of("0123456789abcdef") != std::string::npos)
    return false;
  for (size_t i = 0; i < sizeof bytes; i++)
    bytes[i] = static_cast<unsigned char>(
        std::stoi(text.substr(2 * i, 2), nullptr, 16));
  memcpy(&algorithm, bytes, sizeof algorithm);
  return true;
}

// What a record calls the kernel for tall products. The number rises when the
// kernel is changed so that it computes other bits.
constexpr const char *kTallKernelChoice = "gpuopt tall 1";

inline std::string choice_of(const ProductAlgorithm &algorithm) {
  return algorithm.is_tall_kernel ? kTallKernelChoice : hex_of(algorithm.value);
}

// Runs a product by an algorithm, for its time.
using ProductRun = std::function<cublasStatus_t(const ProductAlgorithm &)>;

inline double time_of(Context &ctx, const ProductAlgorithm &algorithm,
                      const ProductRun &run) {
  return time_of(ctx, [&] { return run(algorithm) == CUBLAS_STATUS_SUCCESS; });
}

// Returns the algorithm of a record, which another library or another version
// of gpuopt may have written.
inline ProductAlgorithm accepted(const AutotuneRecord &record,
                                 cublasLtHandle_t handle, const LtProduct &p,
                                 const ProductKey &key, bool offers_tall_kernel,
                                 const std::string &choice) {
  ProductAlgorithm algorithm{};
  algorithm.is_tall_kernel = choice == kTallKernelChoice;
  cublasLtMatmulHeuristicResult_t checked;
  std::string reason;
  if (algorithm.is_tall_kernel) {
    if (!offers_tall_kernel)
      reason = "the kernel '" + choice + "' does not take it";
  } else if (!read_hex(choice, algorithm.value)) {
    reason = "'" + choice +
             "' is neither an algorithm of cuBLASLt nor a kernel of this "
             "version of gpuopt";
  } else if (cublasLtMatmulAlgoCheck(handle, p.operation, p.b, p.a, p.c, p.c,
                                     &algorithm.value,
                                     &checked) != CUBLAS_STATUS_SUCCESS ||
             checked.workspaceSize > size_t(key.workspace_bytes)) {
    reason = "cuBLASLt refuses its algorithm";
  }
  if (!reason.empty())
    throw refused_choice(record, description_of(key), reason);
  return algorithm;
}

// Returns the record's choice. If the record has none, times the candidates and
// records the fastest, or the heuristic's first choice where none can be timed,
// so that the next run computes the same bits. Without a record, returns the
// heuristic's first choice.
inline ProductAlgorithm choose_algorithm(Context &ctx, cublasLtHandle_t handle,
                                         const LtProduct &p,
                                         const ProductKey &key,
                                         bool offers_tall_kernel,
                                         const ProductRun &run) {
  std::vector<ProductAlgorithm> algorithms = algorithms_for(handle, p, key);
  const ProductAlgorithm favourite = algorithms.front();
  AutotuneRecord *record = ctx.autotune_record();
  if (!record)
    return favourite;
  const std::string machine = machine_name(
                        "cuBLASLt " + std::to_string(cublasLtGetVersion())),
                    call = description_of(key);
  const std::string *choice = record->find(machine, call);
  if (!choice && record->is_kept() && !is_capturing(ctx)) {
    if (offers_tall_kernel)
      algorithms.push_back({{}, true});
    const ProductAlgorithm *fastest =
        fastest_of(algorithms, [&](const ProductAlgorithm &algorithm) {
          return time_of(ctx, algorithm, run);
        });
    choice =
        record->add(machine, call, choice_of(fastest ? *fastest : favourite));
  }
  return choice ? accepted(*record, handle, p, key, offers_tall_kernel, *choice)
                : favourite;
}

} // namespace detail
} // namespace gpuopt
