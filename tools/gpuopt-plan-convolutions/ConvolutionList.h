//===- ConvolutionList.h - The convolutions of programs ---------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_TOOLS_PLANCONVOLUTIONS_CONVOLUTIONLIST_H
#define GPUOPT_TOOLS_PLANCONVOLUTIONS_CONVOLUTIONLIST_H

#include "gpuopt/ops/conv_plan_cuda.h"
#include "llvm/Support/JSON.h"
#include <vector>

namespace gpuopt {

/// A convolution as plan.json has it, and as cuDNN is asked for it.
struct ListedConvolution {
  llvm::json::Object text;
  ConvGraph graph;
};

/// Adds what is in "convolutions" of the file `path`, the plan.json of a
/// program, to `all`; those that are there already are left out.
llvm::Error addConvolutions(llvm::StringRef path,
                            std::vector<ListedConvolution> &all);

} // namespace gpuopt

#endif // GPUOPT_TOOLS_PLANCONVOLUTIONS_CONVOLUTIONLIST_H
