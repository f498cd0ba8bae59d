#include "Machine.h"

#include "AttentionKernels.h"

namespace gpuopt {
namespace {

// Calls f<HeadSize, Scores>() with the kernels for a call.
template <class T, class F>
void with_kernels(const AttentionShape &s, const AttentionOptions &o,
                  bool has_aligned_rows, const F &f) {
  const auto with_scores = [&](auto head) {
    constexpr int kHead = decltype(head)::value;
    switch (attention_scores_of(changes_of(s, o, has_aligned_rows), kHead,
                                sizeof(T) == 2)) {
    case AttentionScores::Products:
      return f.template operator()<kHead, AttentionScores::Products>();
    case AttentionScores::Masked:
      if constexpr (kHead == 64 && sizeof(T) == 2)
        return f.template operator()<kHead, AttentionScores::Masked>();
      break;
    case AttentionScores::Changed:
      return f.template operator()<kHead, AttentionScores::Changed>();
    case AttentionScores::ChangedUnaligned:
      return f.template operator()<kHead, AttentionScores::ChangedUnaligned>();
    }
  };
  switch (attention_head_of(std::max(s.key_size, s.value_size))) {
  case 64:
    return with_scores(std::integral_constant<int, 64>());
  case 128:
    return with_scores(std::integral_constant<int, 128>());
  default:
    return with_scores(std::integral_constant<int, 256>());
  }
}

// A program has floats, and names tf32.
template <class T>
using Memory = std::conditional_t<std::is_same_v<T, tf32>, float, T>;
template <class T>
const Memory<T> *memory(const T *p) {
  return reinterpret_cast<const Memory<T> *>(p);
}
template <class T>
Memory<T> *memory(T *p) {
  return reinterpret_cast<Memory<T> *>(p);
}
template <class T>
using Factor = std::conditional_t<std::is_same_v<T, tf32>, tf32, void>;

} // namespace

template <class T>
void attention(Context &ctx, const AttentionShape &s, const T *q, const T *k,
               const T *v, T *y, float *statistics, const AttentionOptions &o) {
  with_kernels<T>(s, o, has_aligned_rows(s, q, k, v),
                  [&]<int HeadSize, AttentionScores Scores>() {
                    attention<HeadSize, Scores, Factor<T>>(
                        ctx, s, memory(q), memory(k), memory(v), memory(y),
                        statistics, o);
                  });
}

template <class T>
void attention_backward(Context &ctx, const AttentionShape &s,
                        const AttentionGradientShape &g, const T *q, const T *k,
                        const T *v, const T *y, const float *statistics,
                        const T *dy, T *dq, T *dk, T *dv,
                        const AttentionOptions &o) {
  with_kernels<T>(s, o, has_aligned_rows(s, g, q, k, v, dy),
                  [&]<int HeadSize, AttentionScores Scores>() {
                    attention_backward<HeadSize, Scores, Factor<T>>(
                        ctx, s, g, memory(q), memory(k), memory(v), memory(y),
                        statistics, memory(dy), memory(dq), memory(dk),
                        memory(dv), o);
                  });
}

#define GPUOPT_ATTENTION_KERNELS(T)                                            \
  template void attention(Context &, const AttentionShape &, const T *,        \
                          const T *, const T *, T *, float *,                  \
                          const AttentionOptions &);                           \
  template void attention_backward(                                            \
      Context &, const AttentionShape &, const AttentionGradientShape &,       \
      const T *, const T *, const T *, const T *, const float *, const T *,    \
      T *, T *, T *, const AttentionOptions &);

GPUOPT_ATTENTION_KERNELS(float)
GPUOPT_ATTENTION_KERNELS(f16)
GPUOPT_ATTENTION_KERNELS(bf16)
GPUOPT_ATTENTION_KERNELS(tf32)

} // namespace gpuopt
