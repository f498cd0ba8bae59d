// Numbers and random tensors for the runtime's tests.
#pragma once

#include "gpuopt/kernels/types.h"

#include <cstddef>
#include <random>
#include <vector>

namespace gpuopt {

// A number, rounded to T.
template <class T>
T narrow(float x) {
  if constexpr (std::is_same_v<T, f16>)
    return narrow_f16(x);
  else if constexpr (std::is_same_v<T, bf16>)
    return narrow_bf16(x);
  else
    return T{x};
}

template <class T>
std::vector<T> random_values(size_t n, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<T> v(n);
  for (T &x : v)
    x = narrow<T>(uniform(generator));
  return v;
}

template <class T>
double dot(const std::vector<T> &a, const std::vector<T> &b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); i++)
    sum += double(a[i]) * double(b[i]);
  return sum;
}

} // namespace gpuopt
