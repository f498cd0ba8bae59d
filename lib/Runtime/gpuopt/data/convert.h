// Floating-point elements of files in another type than the program's.
#pragma once

#include "gpuopt/device/error.h"
#include "gpuopt/kernels/types.h"

#include <cstring>
#include <utility>

namespace gpuopt {

inline bool is_floating_point(Type type) {
  return type == Type::F64 || type == Type::F32 || type == Type::F16 ||
         type == Type::BF16;
}

namespace detail {

// Calls `work` with an element of a floating-point type.
template <class Work>
void with_floating_point(Type type, Work work) {
  switch (type) {
  case Type::F64:
    return work(double());
  case Type::F32:
    return work(float());
  case Type::F16:
    return work(f16());
  case Type::BF16:
    return work(bf16());
  default:
    throw Error("expected a type of floating-point numbers");
  }
}

template <class From, class To>
void convert(const char *from, char *to, size_t count) {
  for (size_t i = 0; i < count; i++) {
    From given;
    memcpy(static_cast<void *>(&given), from + i * sizeof given, sizeof given);
    To element;
    if constexpr (std::is_same_v<To, double>)
      element = double(load_scalar(&given));
    else
      store_scalar(&element, float(load_scalar(&given)));
    memcpy(to + i * sizeof element, static_cast<void *>(&element),
           sizeof element);
  }
}

} // namespace detail

// Converts `count` elements of any alignment, each to the nearest number of the
// other type; of f64 to half precision by way of f32. What is too large becomes
// infinite. Throws Error if a type is not one of floating-point numbers.
inline void convert_elements(Type from_type, const void *from, Type to_type,
                             void *to, size_t count) {
  detail::with_floating_point(from_type, [&](auto given) {
    detail::with_floating_point(to_type, [&](auto element) {
      detail::convert<decltype(given), decltype(element)>(
          static_cast<const char *>(from), static_cast<char *>(to), count);
    });
  });
}

} // namespace gpuopt
