// The largest value of a row and the sum of exp(x - largest), in one walk over
// the row (Milakov and Gimelshein 2018, arXiv 1805.02867): where a much larger
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

#include <limits>

namespace gpuopt {

// The maximum and the sum of the elements that one thread has seen, of rows
// that memory holds as T. Those of half precision have fast exponentials. The
// lanes share what is subtracted, and it stays behind the maximum: all 32
// threads of a warp wait where one of them scales its sums, which would be at
// nearly every vector if each larger element made its thread do so.
template <class T>
struct ExpSum {
  using Number = Compute<T>;
  Number maximum = -kInfinity<Number>;
  // The sums are of exp(x - shift). It is finite at first, so that the
  // exponential of -inf - shift is 0 where no value has come yet.
  Number shift = std::numeric_limits<Number>::lowest();
  Lanes<Number> sums = Lanes<Number>(Number(0));

  // By how much an element may be larger than the shift, so that its
  // exponential is at most 2981.
  static constexpr Number kMostAhead = 8;

  // Lanes without a value have -inf, and add 0.
  DEVICE void add(Lanes<Number> x) {
    maximum = max(maximum, reduce_max(x));
    if (!(maximum <= shift + kMostAhead)) { // seldom, after the first vector
      sums *= Lanes<Number>(exponential(shift - maximum));
      shift = maximum;
    }
    sums += exponential(x - Lanes<Number>(shift));
  }
  template <class X>
  static DEVICE X exponential(X x) {
    if constexpr (std::is_same_v<T, Number>)
      return exp(x);
    else
      return fast_exp(x);
  }
};

// Over all threads of the block, or of a group; every thread gets the result.
template <class T>
DEVICE Compute<T> block_max(const ExpSum<T> &x) {
  return block_max(Lanes<Compute<T>>(x.maximum));
}
template <int Width, class T>
DEVICE Compute<T> group_max(const ExpSum<T> &x) {
  return group_max<Width>(Lanes<Compute<T>>(x.maximum));
}
// Returns the sum of exp(v - maximum), where maximum is what block_max or
// group_max has returned. A thread without values has a factor of 0, or NaN for
// a row of -inf alone.
template <class T>
DEVICE Compute<T> block_sum(const ExpSum<T> &x, Compute<T> maximum) {
  return block_sum(x.sums * Lanes<Compute<T>>(exp(x.shift - maximum)));
}
template <int Width, class T>
DEVICE Compute<T> group_sum(const ExpSum<T> &x, Compute<T> maximum) {
  return group_sum<Width>(x.sums * Lanes<Compute<T>>(exp(x.shift - maximum)));
}

} // namespace gpuopt
