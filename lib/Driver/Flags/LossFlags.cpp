//===- LossFlags.cpp - The loss of a training -----------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags/FlagGroups.h"

using namespace llvm;
using namespace gpuopt;

cl::OptionCategory &gpuopt::lossCategory() {
  static cl::OptionCategory category("The loss");
  return category;
}

namespace {
Flag<std::string> loss("loss", "cross_entropy",
                       "cross_entropy, mse, bce_with_logits, l1 or none",
                       cl::cat(lossCategory()), COMPILING);
CheckedOpt<std::string>
    logits("logits",
           cl::desc("output that the loss reads (default: the first)"),
           cl::value_desc("NAME"), cl::cat(lossCategory()), COMPILING);
Flag<int64_t> ignoreIndex("ignore-index", -100,
                          "label value that the loss ignores",
                          cl::cat(lossCategory()), COMPILING);
Flag<double> labelSmoothing("label-smoothing", 0,
                            "share of a label that is spread over all classes",
                            cl::cat(lossCategory()), COMPILING);
Flag<int64_t>
    lossChunks("loss-chunks", 0,
               "chunks of the batch in which the last product and the "
               "cross entropy run (0: by the size of the logits)",
               cl::cat(lossCategory()), COMPILING);
} // namespace

Error gpuopt::collectLoss(DriverOptions &options) {
  if (Error error = checkRange<int64_t>(0, {&lossChunks}))
    return error;
  if (!(labelSmoothing >= 0) || labelSmoothing >= 1)
    return createStringError("--label-smoothing must lie in [0, 1), but is " +
                             labelSmoothing.str());
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
