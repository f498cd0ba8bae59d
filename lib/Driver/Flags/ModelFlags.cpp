//===- ModelFlags.cpp - What is compiled ----------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags/CompileFlags.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace gpuopt;

cl::OptionCategory &gpuopt::modelCategory() {
  static cl::OptionCategory category("The model");
  return category;
}

namespace {
cl::opt<std::string> model(cl::Positional, cl::desc("<model.onnx>"),
                           cl::Required, COMPILING);
CompileFlag<int64_t> batchSize("batch-size");
CompileFlags dims("dim");
CompileFlag<std::string> batchNorm("batch-norm");
CompileFlag<std::string> attention("attention");
CompileFlag<std::string> epilogues("epilogues");
CompileFlag<std::string> frozenParams("frozen-params");
CompileFlag<bool> inference("inference");
} // namespace

Error gpuopt::collectModel(DriverOptions &options) {
  options.model = model;
  options.emission.modelName = sys::path::stem(model).str();
  for (const std::string &dim : dims)
    if (Error error = options.import.addDimension(dim))
      return createStringError("--dim: " + toString(std::move(error)));
  if (batchSize.isGiven())
    options.import.batchSize = batchSize;
  options.pipeline.expandAttention.all = attention == "expanded";
  options.pipeline.fuseEpilogues = epilogues == "auto";
  options.pipeline.legalise.batchNorm = batchNorm;
  options.pipeline.legalise.frozenParams = frozenParams;
  options.pipeline.step.inference = inference;
  return Error::success();
}
