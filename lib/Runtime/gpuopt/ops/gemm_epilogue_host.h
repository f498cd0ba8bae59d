// The epilogues of products on the host: loops over the product as it is
// stored, so that z of a GELU is rounded once more than on a GPU.
#pragma once

#include "gpuopt/ops/gemm.h"

#include <cmath>

namespace gpuopt {

template <class T, class C>
void gemm(Context &ctx, const GemmShape &shape, const T *a, const T *b, C *c,
          GemmOptions o = {});

namespace detail {

constexpr double kGeluSlope = 0.7978845608028654, kGeluCubic = 0.044715;

template <class Number>
Number gelu(Number x) {
  const Number inner =
      Number(kGeluSlope) * (x + Number(kGeluCubic) * x * x * x);
  return Number(0.5) * x * (1 + std::tanh(inner));
}

template <class Number>
Number gelu_derivative(Number x) {
  const Number t = std::tanh(Number(kGeluSlope) *
                             (x + Number(kGeluCubic) * x * x * x)),
               slope =
                   Number(kGeluSlope) * (1 + Number(3 * kGeluCubic) * x * x);
  return Number(0.5) * (1 + t) + Number(0.5) * x * (1 - t * t) * slope;
}

// Where the bit of an element of C is: in which word, and which of its bits.
struct MaskBit {
  MaskBit(const GemmShape &s, int64_t i)
      : word(i / s.n * mask_words(s.n) + i % s.n / 32),
        bit(uint32_t(1) << i % s.n % 32) {}
  int64_t word;
  uint32_t bit;
};

// C has one matrix of dense rows.
template <class C>
void apply_relu(const GemmShape &s, C *c, const GemmOptions &o) {
  auto *mask = static_cast<uint32_t *>(o.aux);
  const auto *added = static_cast<const C *>(o.added);
  for (int64_t i = 0; i < s.m * s.n; i++) {
    const Compute<C> z =
        load_scalar(c + i) + (added ? load_scalar(added + i) : Compute<C>(0));
    const MaskBit at(s, i);
    const bool is_kept =
        o.epilogue == Epilogue::Relu ? z > 0 : (mask[at.word] & at.bit) != 0;
    if (mask && o.epilogue == Epilogue::Relu)
      mask[at.word] =
          is_kept ? mask[at.word] | at.bit : mask[at.word] & ~at.bit;
    store_scalar(c + i, is_kept ? z : Compute<C>(0));
  }
}

// C has one matrix of dense rows.
template <class C>
void apply_gelu(const GemmShape &s, C *c, const GemmOptions &o) {
  auto *aux = static_cast<C *>(o.aux);
  std::vector<Compute<C>> sums(o.sums ? size_t(s.n) : 0);
  for (int64_t i = 0; i < s.m * s.n; i++) {
    const Compute<C> z = load_scalar(c + i);
    if (o.epilogue == Epilogue::Gelu) {
      if (aux)
        store_scalar(aux + i, z);
      store_scalar(c + i, gelu(z));
    } else {
      const Compute<C> value = z * gelu_derivative(load_scalar(aux + i));
      store_scalar(c + i, value);
      if (o.sums)
        sums[size_t(i % s.n)] += value;
    }
  }
  for (size_t j = 0; j < sums.size(); j++)
    store_scalar(static_cast<C *>(o.sums) + j, sums[j]);
}

template <class T, class C>
void gemm_with_epilogue(Context &ctx, const GemmShape &s, const T *a,
                        const T *b, C *c, const GemmOptions &o) {
  if (s.batch[0] * s.batch[1] != 1 || s.c_m != s.n || s.c_n != 1)
    throw Error(
        "gemm: an epilogue is applied to one matrix of dense rows, but got " +
        std::to_string(s.batch[0] * s.batch[1]) + " with rows that are " +
        std::to_string(s.c_m) + " elements apart");
  GemmOptions plain = o;
  plain.epilogue = Epilogue::None;
  plain.added = nullptr;
  gemm(ctx, s, a, b, c, plain);
  if (o.epilogue == Epilogue::Relu || o.epilogue == Epilogue::ReluGradient)
    apply_relu(s, c, o);
  else
    apply_gelu(s, c, o);
}

} // namespace detail
} // namespace gpuopt
