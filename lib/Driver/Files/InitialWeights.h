//===- InitialWeights.h - The weights that a run begins with ----*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The trainer refuses weights that do not fit when it starts. Its own code says
// the same here, before anything is built. That code does not use LLVM, so this
// header avoids LLVM, too.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FILES_INITIALWEIGHTS_H
#define GPUOPT_LIB_DRIVER_FILES_INITIALWEIGHTS_H

#include <cstdint>
#include <string>
#include <vector>

namespace gpuopt {

/// A tensor of a program that files of weights have.
struct WeightShape {
  std::string name;
  std::vector<std::string> savedAs; ///< Its names in files; none: its name.
  std::string type;                 ///< As in MLIR: "f32", "i64".
  std::vector<int64_t> shape;
};

/// Returns why the file that a flag, --init-from or --weights, names is not one
/// of weights, or nothing.
std::string whyNoWeightsIn(const std::string &file, const std::string &flag);

/// What a trainer would say of the weights that it begins with.
struct StartFindings {
  std::string problem; ///< Why it would refuse them; empty: it would not.
  std::vector<std::string> warnings;
};

/// Looks at the file that --init-from names; an empty name stands for none.
/// `classNames` has the names of the classes of the labels, a line each; empty:
/// none.
StartFindings lookAtStart(const std::string &file,
                          const std::vector<WeightShape> &weights,
                          bool isStrict, const std::string &classNames);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_INITIALWEIGHTS_H
