// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// SC 2011): a counter-based generator. What an op draws for an element is a
// function of (seed, op, step, element) alone, so an op that runs again in the
// backward pass draws the same, with any number of lanes.
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
  UNROLL
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

// Returns the four words of a call: element e of a stream takes word e % 4 of
// call e / 4. The upper half of the call's number shares a word with the step.
DEVICE PhiloxOf<uint32_t> philox_call(uint64_t seed, uint32_t op, uint64_t step,
                                      int64_t call) {
  return philox_rounds(
      PhiloxOf<uint32_t>{{uint32_t(call),
                          uint32_t(call >> 32) ^ (uint32_t(step >> 32) << 16),
                          uint32_t(step), op}},
      uint32_t(seed), uint32_t(seed >> 32));
}
// Returns a uniform number in [0, 1) of a word's upper 24 bits.
DEVICE float uniform_of(uint32_t word) {
  return float(int32_t(word >> 8)) * (1.0f / 16777216.0f);
}
DEVICE Lanes<float> uniform_of(Lanes<uint32_t> word) {
  return convert<float>(bit_cast<int32_t>(word >> Lanes<uint32_t>(8))) *
         Lanes<float>(1.0f / 16777216.0f);
}

// Returns the number of one element.
DEVICE float random_uniform(uint64_t seed, uint32_t op, uint64_t step,
                            int64_t element) {
  const PhiloxOf<uint32_t> bits = philox_call(seed, op, step, element >> 2);
  const int at = int(element & 3);
  const uint32_t low = at & 1 ? bits.word[1] : bits.word[0],
                 high = at & 1 ? bits.word[3] : bits.word[2];
  return uniform_of(at & 2 ? high : low);
}
// Sets the numbers of an element and the next one, which mostly share a call.
DEVICE void random_uniform_pair(uint64_t seed, uint32_t op, uint64_t step,
                                int64_t first, float (&numbers)[2]) {
  const PhiloxOf<uint32_t> bits = philox_call(seed, op, step, first >> 2);
  const int at = int(first & 3);
  const uint32_t low = at & 1 ? bits.word[1] : bits.word[0],
                 high = at & 1 ? bits.word[3] : bits.word[2];
  uint32_t next = at & 2 ? bits.word[3] : at & 1 ? bits.word[2] : bits.word[1];
  if (at == 3)
    next = philox_call(seed, op, step, (first >> 2) + 1).word[0];
  numbers[0] = uniform_of(at & 2 ? high : low);
  numbers[1] = uniform_of(next);
}
// Returns the numbers of any elements, by a call for each.
DEVICE Lanes<float> random_uniform(uint64_t seed, uint32_t op, uint64_t step,
                                   Lanes<int64_t> element) {
  const Lanes<int64_t> call = element >> Lanes<int64_t>(2);
  const Philox counter = {{convert<uint32_t>(call),
                           convert<uint32_t>(call >> Lanes<int64_t>(32)) ^
                               Lanes<uint32_t>(uint32_t(step >> 32) << 16),
                           Lanes<uint32_t>(uint32_t(step)),
                           Lanes<uint32_t>(op)}};
  const Philox bits = philox(counter, uint32_t(seed), uint32_t(seed >> 32));
  const Lanes<int32_t> at = convert<int32_t>(element);
  const Lanes<bool> is_odd = (at & Lanes<int32_t>(1)) != Lanes<int32_t>(0),
                    is_high = (at & Lanes<int32_t>(2)) != Lanes<int32_t>(0);
  return uniform_of(select(is_high, select(is_odd, bits.word[3], bits.word[2]),
                           select(is_odd, bits.word[1], bits.word[0])));
}

// Return the numbers of neighbours: elements first, first + 1, ... A GPU makes
// no call twice in a thread; random_uniform_vector asks for a `first` that is a
// multiple of 4.
#ifdef __CUDACC__
DEVICE Lanes<float> random_uniform_vector(uint64_t seed, uint32_t op,
                                          uint64_t step, int64_t first) {
  Lanes<float> numbers;
  UNROLL
  for (int i = 0; i < kLanes; i += 4) {
    const PhiloxOf<uint32_t> bits =
        philox_call(seed, op, step, (first + i) >> 2);
    UNROLL
    for (int k = 0; k < 4; k++)
      numbers.part[i + k] = uniform_of(bits.word[k]);
  }
  return numbers;
}
DEVICE Lanes<float> random_uniform_from(uint64_t seed, uint32_t op,
                                        uint64_t step, int64_t first) {
  uint32_t words[kLanes + 4];
  UNROLL
  for (int i = 0; i < kLanes + 4; i += 4) {
    const PhiloxOf<uint32_t> bits =
        philox_call(seed, op, step, (first + i) >> 2);
    UNROLL
    for (int k = 0; k < 4; k++)
      words[i + k] = bits.word[k];
  }
  const bool is_odd = first & 1, is_high = first & 2;
  Lanes<float> numbers;
  UNROLL
  for (int i = 0; i < kLanes; i++)
    numbers.part[i] =
        uniform_of(is_high ? (is_odd ? words[i + 3] : words[i + 2])
                           : (is_odd ? words[i + 1] : words[i]));
  return numbers;
}
#else
DEVICE Lanes<float> random_uniform_from(uint64_t seed, uint32_t op,
                                        uint64_t step, int64_t first) {
  return random_uniform(seed, op, step, iota<int64_t>(first));
}
DEVICE Lanes<float> random_uniform_vector(uint64_t seed, uint32_t op,
                                          uint64_t step, int64_t first) {
  return random_uniform_from(seed, op, step, first);
}
#endif

} // namespace gpuopt
