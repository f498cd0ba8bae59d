// The largest value of a row and the sum of exp(x - largest), in one walk over
// the row (Milakov and Gimelshein 2018, arXiv 1805.02867): whenever a larger
// value comes, the sum so far is scaled to it.
//
//   ExpSum<float> exponentials;
//   for (int64_t i = first_lane(); i < n; i += lane_step())
//     exponentials.add(masked(load(x + i, n - i), n - i, -INFINITY));
//   const float maximum = block_max(exponentials);
//   const float sum = block_sum(exponentials, maximum);
//
// What is not a number, and rows of -inf alone, give what the two walks give
// that find the maximum first: NaN.
#pragma once

#include "gpuopt/kernels/block.h"
#include "gpuopt/kernels/elementary.h"

namespace gpuopt {

// The maximum and the sum of the elements that one thread has seen. The lanes
// share a maximum, so that only a vector with a larger one costs an exponential
// more than its own.
template <class T>
struct ExpSum {
  T maximum = -kInfinity<T>;
  Lanes<T> sums = Lanes<T>(T(0)); // of exp(x - shift())

  // Lanes without a value have -inf, and add 0.
  DEVICE void add(Lanes<T> x) {
    const T before = maximum;
    maximum = max(maximum, reduce_max(x));
    if (!(maximum == before)) // seldom, after the first vectors
      sums *= Lanes<T>(exp(before - shift()));
    sums += exp(x - Lanes<T>(shift()));
  }
  // exp(-inf - -inf) would be NaN where no value has come yet.
  DEVICE T shift() const { return maximum == -kInfinity<T> ? T(0) : maximum; }
};

// Over all threads of the block, or of a group; every thread gets the result.
template <class T>
DEVICE T block_max(const ExpSum<T> &x) {
  return block_max(Lanes<T>(x.maximum));
}
template <int Width, class T>
DEVICE T group_max(const ExpSum<T> &x) {
  return group_max<Width>(Lanes<T>(x.maximum));
}
// Returns the sum of exp(v - maximum), where maximum is what block_max or
// group_max has returned. A thread without values has a factor of 0.
template <class T>
DEVICE T block_sum(const ExpSum<T> &x, T maximum) {
  return block_sum(x.sums * Lanes<T>(exp(x.maximum - maximum)));
}
template <int Width, class T>
DEVICE T group_sum(const ExpSum<T> &x, T maximum) {
  return group_sum<Width>(x.sums * Lanes<T>(exp(x.maximum - maximum)));
}

} // namespace gpuopt
