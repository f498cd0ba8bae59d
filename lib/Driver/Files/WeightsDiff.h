//===- WeightsDiff.h - In what two files of weights differ ------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Its source is compiled without MLIR's headers, as it reads the files with the
// trainer's own code.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FILES_WEIGHTSDIFF_H
#define GPUOPT_LIB_DRIVER_FILES_WEIGHTSDIFF_H

#include <cstdint>
#include <string>
#include <vector>

namespace gpuopt {

/// A tensor that is not the same in both files.
struct TensorDifference {
  std::string name;
  /// "is only in the first", "is F32 [2, 3] and F32 [3, 2]"; empty if its
  /// elements differ.
  std::string form;
  int64_t elements = 0, differing = 0;
  double most = 0;   ///< The greatest difference of two elements.
  int64_t at = 0;    ///< Where it is, counted through the whole tensor.
  double first = 0;  ///< The element there, in the first file,
  double second = 0; ///< and in the second.
};

struct WeightsDiff {
  /// In the order of the first file; what is only in the second comes last.
  std::vector<TensorDifference> different;
  int64_t same = 0; ///< Tensors that are equal bit for bit.
};

/// Compares two files of safetensors. Returns what is wrong with one of them,
/// or nothing.
std::string diffWeights(const std::string &first, const std::string &second,
                        WeightsDiff &diff);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_WEIGHTSDIFF_H
