//===- ClassWeights.h - The weights of classes ------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Its source is compiled without MLIR's headers, as it reads the file with the
// trainer's own code.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FILES_CLASSWEIGHTS_H
#define GPUOPT_LIB_DRIVER_FILES_CLASSWEIGHTS_H

#include <string>
#include <vector>

namespace gpuopt {

/// Reads numbers that commas separate or, if `text` ends in .npy, an array of
/// one dimension. Returns what is wrong; empty if nothing is.
std::string readClassWeights(const std::string &text,
                             std::vector<double> &weights);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_CLASSWEIGHTS_H
