//===- LossFlags.cpp - The loss of a training -----------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags/CompileFlags.h"

using namespace llvm;
using namespace gpuopt;

cl::OptionCategory &gpuopt::lossCategory() {
  static cl::OptionCategory category("The loss");
  return category;
}

namespace {
CompileFlag<std::string> loss("loss");
CompileFlag<std::string> logits("logits");
CompileFlag<int64_t> ignoreIndex("ignore-index");
CompileFlag<double> labelSmoothing("label-smoothing");
CompileFlag<int64_t> lossChunks("loss-chunks");
} // namespace

Error gpuopt::collectLoss(DriverOptions &options) {
  if (loss != "cross_entropy")
    for (const cl::Option *flag : std::initializer_list<const cl::Option *>{
             &labelSmoothing, &ignoreIndex, &lossChunks})
      if (flag->getNumOccurrences())
        return createStringError(
            "--" + flag->ArgStr +
            " applies only to --loss=cross_entropy, but the loss is " + loss);
  train::BuildStepOptions &step = options.pipeline.step;
  step.loss = loss;
  step.logits = logits;
  step.ignoreIndex = ignoreIndex;
  step.labelSmoothing = labelSmoothing;
  step.lossChunkCount = lossChunks;
  return Error::success();
}
