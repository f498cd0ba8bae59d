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

} // namespace

template <class T>
void attention(Context &ctx, const AttentionShape &s, const T *q, const T *k,
               const T *v, T *y, float *statistics, const AttentionOptions &o) {
  with_kernels<T>(s, o, has_aligned_rows(s, q, k, v),
                  [&]<int HeadSize, AttentionScores Scores>() {
                    attention<HeadSize, Scores>(ctx, s, q, k, v, y, statistics,
                                                o);
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
                    attention_backward<HeadSize, Scores>(
                        ctx, s, g, q, k, v, y, statistics, dy, dq, dk, dv, o);
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

} // namespace gpuopt
