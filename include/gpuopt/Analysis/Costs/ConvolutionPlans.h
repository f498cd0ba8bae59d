//===- ConvolutionPlans.h - What cuDNN has said of convolutions -*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The file that gpuopt-plan-convolutions writes: which workspace each
// convolution of a program needs on a GPU. An entry belongs to a call and a
// shape, so that the file serves the model with other budgets too.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_COSTS_CONVOLUTIONPLANS_H
#define GPUOPT_ANALYSIS_COSTS_CONVOLUTIONPLANS_H

#include "gpuopt/Interfaces/RuntimeCall.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <optional>

namespace gpuopt {

class ConvolutionPlans {
public:
  /// Reads a file. Errors name it and say what is wrong with it.
  static llvm::Expected<ConvolutionPlans> load(llvm::StringRef file);

  /// Whether a call is that of a convolution: it passes a ConvShape.
  static bool isConvolution(const RuntimeCall &call);

  /// Whether the file says something of the call of a convolution: a plan, or
  /// that there is none.
  bool hasEntryFor(const RuntimeCall &call) const;

  /// Returns the bytes that the call of a convolution needs beside its tensors:
  /// cuDNN's workspace, in whichever element type it is largest, and the
  /// filters in cuDNN's order. Returns nothing if the file has no plan for the
  /// call.
  std::optional<int64_t> workspaceInBytes(const RuntimeCall &call) const;

  std::string device; ///< The GPU that was planned for, as the file names it.

private:
  llvm::Error read(llvm::StringRef text);

  /// By call and shape; nothing where one of its types has no plan.
  llvm::StringMap<std::optional<int64_t>> bytesOf;
};

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_COSTS_CONVOLUTIONPLANS_H
