// What the compiler and programs must agree on about fast products. This file
// is C++17, as the compiler is.
#pragma once

#include <cstdint>

namespace gpuopt {

// Products in half precision are fast where each matrix has a multiple of so
// many elements along its unit stride, and begins its rows at such multiples:
// these are 16 bytes.
constexpr int64_t kEvenElements = 8;

} // namespace gpuopt
