// Half precision on the host where no library computes in it: operands are
// widened to float, results rounded once. oneDNN has bf16 on processors with
// AVX-512; its version 3 has products of f16 on those with AVX512-FP16.
#pragma once

#include "gpuopt/device/onednn.h"
#include "gpuopt/kernels/memory.h"

namespace gpuopt {
namespace detail {

inline bool has_native_bf16() {
  constexpr auto needed = static_cast<unsigned>(dnnl::cpu_isa::avx512_core);
  static const bool result =
      (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & needed) == needed;
  return result;
}

template <class T>
constexpr bool is_half = std::is_same_v<T, f16> || std::is_same_v<T, bf16>;

template <class T>
bool must_widen() {
  return std::is_same_v<T, f16> ||
         (std::is_same_v<T, bf16> && !has_native_bf16());
}
template <class T>
bool must_widen_product() {
  return must_widen<T>() && !(std::is_same_v<T, f16> && has_native_f16());
}

// Grow while the first step runs, and serve all products in turn.
struct WideOperands {
  std::vector<float> a, b, c, bias;
};

constexpr int64_t kWideSpan = 4096;

template <class H>
float *widened(std::vector<float> &wide, const H *p, int64_t n) {
  if (int64_t(wide.size()) < n)
    wide.resize(size_t(n));
  float *to = wide.data();
#pragma omp parallel for schedule(static) if (n > 8 * kWideSpan)
  for (int64_t begin = 0; begin < n; begin += kWideSpan)
    for (int64_t i = begin; i < begin + kWideSpan && i < n; i += kLanes)
      store(to + i, load(p + i, n - i), n - i);
  return to;
}

template <class H>
void narrowed(H *to, const float *wide, int64_t n) {
#pragma omp parallel for schedule(static) if (n > 8 * kWideSpan)
  for (int64_t begin = 0; begin < n; begin += kWideSpan)
    for (int64_t i = begin; i < begin + kWideSpan && i < n; i += kLanes)
      store(to + i, load(wide + i, n - i), n - i);
}

} // namespace detail
} // namespace gpuopt
