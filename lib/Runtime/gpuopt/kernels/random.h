// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// SC 2011): a counter-based generator. What an op draws for an element is a
// function of (seed, op, step, element) alone, so an op that runs again in the
// backward pass draws the same.
#pragma once

#include "gpuopt/kernels/lanes.h"

namespace gpuopt {

// Word is Lanes<uint32_t>, or uint32_t for one element.
template <class Word>
struct PhiloxOf {
  Word word[4];
};
using Philox = PhiloxOf<Lanes<uint32_t>>;

DEVICE void multiply_wide(uint32_t a, uint32_t b, uint32_t &high,
                          uint32_t &low) {
  const uint64_t product = uint64_t(a) * b;
  high = uint32_t(product >> 32);
  low = uint32_t(product);
}
DEVICE void multiply_wide(Lanes<uint32_t> a, uint32_t b, Lanes<uint32_t> &high,
                          Lanes<uint32_t> &low) {
  const Lanes<uint64_t> product = convert<uint64_t>(a) * Lanes<uint64_t>(b);
  high = convert<uint32_t>(product >> Lanes<uint64_t>(32));
  low = convert<uint32_t>(product & Lanes<uint64_t>(0xffffffffu));
}

template <class Word>
DEVICE PhiloxOf<Word> philox_rounds(PhiloxOf<Word> counter, uint32_t key0,
                                    uint32_t key1) {
  Word *c = counter.word;
  for (int round = 0; round < 10; round++) {
    Word high0, low0, high1, low1;
    multiply_wide(c[0], 0xD2511F53u, high0, low0);
    multiply_wide(c[2], 0xCD9E8D57u, high1, low1);
    counter = {
        {high1 ^ c[1] ^ Word(key0), low1, high0 ^ c[3] ^ Word(key1), low0}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}
DEVICE Philox philox(Philox counter, uint32_t key0, uint32_t key1) {
  return philox_rounds(counter, key0, key1);
}

// Returns uniform numbers in [0, 1) of 24 bits each.
DEVICE Lanes<float> random_uniform(uint64_t seed, uint32_t op, uint64_t step,
                                   Lanes<int64_t> element) {
  // The upper half of the element's number shares a word with the step.
  const Philox counter = {{convert<uint32_t>(element),
                           convert<uint32_t>(element >> Lanes<int64_t>(32)) ^
                               Lanes<uint32_t>(uint32_t(step >> 32) << 16),
                           Lanes<uint32_t>(uint32_t(step)),
                           Lanes<uint32_t>(op)}};
  const Philox bits = philox(counter, uint32_t(seed), uint32_t(seed >> 32));
  return convert<float>(bit_cast<int32_t>(bits.word[0] >> Lanes<uint32_t>(8))) *
         Lanes<float>(1.0f / 16777216.0f);
}
// Returns the same number for one element.
DEVICE float random_uniform(uint64_t seed, uint32_t op, uint64_t step,
                            int64_t element) {
  const PhiloxOf<uint32_t> counter = {
      {uint32_t(element),
       uint32_t(element >> 32) ^ (uint32_t(step >> 32) << 16), uint32_t(step),
       op}};
  const PhiloxOf<uint32_t> bits =
      philox_rounds(counter, uint32_t(seed), uint32_t(seed >> 32));
  return float(int32_t(bits.word[0] >> 8)) * (1.0f / 16777216.0f);
}

} // namespace gpuopt
