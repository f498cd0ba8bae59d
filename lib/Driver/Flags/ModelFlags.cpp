//===- ModelFlags.cpp - What is compiled ----------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags/FlagGroups.h"
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
CheckedOpt<int64_t>
    batchSize("batch-size",
              cl::desc("size of the symbolic first dimension of "
                       "the inputs; needed where there is one"),
              cl::cat(modelCategory()), COMPILING);
cl::list<std::string> dims("dim",
                           cl::desc("size of another symbolic dimension"),
                           cl::value_desc("NAME=N"), cl::cat(modelCategory()),
                           COMPILING);
Flag<std::string> batchNorm("batch-norm", "train",
                            "batch normalisation: train or frozen",
                            cl::cat(modelCategory()), COMPILING);
Flag<std::string> attention("attention", "fused",
                            "fused, which keeps no matrix of queries x keys in "
                            "memory, or expanded into products and a softmax",
                            cl::cat(modelCategory()), COMPILING);
CheckedOpt<std::string>
    frozenParams("frozen-params",
                 cl::desc("parameters to keep as they are (default: none)"),
                 cl::value_desc("REGEX"), cl::cat(modelCategory()), COMPILING);
Switch inference(
    "inference",
    cl::desc("compile the forward alone, without training (default off)"),
    cl::cat(modelCategory()), cl::sub(compileCommand()));
} // namespace

Error gpuopt::collectModel(DriverOptions &options) {
  if (batchSize.getNumOccurrences() && batchSize < 1)
    return createStringError("--batch-size must be at least 1, but is " +
                             Twine(batchSize));
  options.model = model;
  options.emission.modelName = sys::path::stem(model).str();
  for (const std::string &dim : dims)
    if (Error error = options.import.addDimension(dim))
      return createStringError("--dim: " + toString(std::move(error)));
  if (batchSize.getNumOccurrences())
    options.import.batchSize = batchSize;
  if (attention != "fused" && attention != "expanded")
    return createStringError("--attention must be fused or expanded, but is '" +
                             attention + "'");
  options.pipeline.expandAttention.all = attention == "expanded";
  options.pipeline.legalise.batchNorm = batchNorm;
  options.pipeline.legalise.frozenParams = frozenParams;
  options.pipeline.step.inference = inference;
  return Error::success();
}
