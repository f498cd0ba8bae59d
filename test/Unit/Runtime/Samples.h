// Shapes of the samples that several tests of data read.
#pragma once

#include "gpuopt/program/tensor_info.h"

namespace gpuopt {

inline const TensorInfo kPairs{"x", Type::F32, 2, {4, 2}, 0, 32};

inline constexpr int kWidth = 6, kHeight = 4;
inline const TensorInfo kPictures{"x", Type::F32, 4, {4, 3, kHeight, kWidth},
                                  0,   1152};

} // namespace gpuopt
