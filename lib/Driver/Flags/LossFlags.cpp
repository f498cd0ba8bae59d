//===- LossFlags.cpp - The loss of a training -----------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/ClassWeights.h"
#include "Flags/CompileFlags.h"
#include "gpuopt/settings/metric_names.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

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
CompileFlag<std::string> classWeights("class-weights");
CompileFlag<double> huberDelta("huber-delta");
CompileFlag<double> smoothL1Beta("smooth-l1-beta");
CompileFlag<double> focalAlpha("focal-alpha");
CompileFlag<double> focalGamma("focal-gamma");
CompileFlag<double> diceSmooth("dice-smooth");
CompileFlag<std::string> evalMetrics("eval-metrics");

/// A flag, and the losses that read it.
struct Reader {
  const cl::Option &flag;
  SmallVector<StringRef> losses;
};
} // namespace

/// Refuses flags that the chosen loss does not read.
static Error checkReaders() {
  const Reader readers[] = {
      {labelSmoothing, {"cross_entropy"}},
      {lossChunks, {"cross_entropy"}},
      {ignoreIndex, {"cross_entropy", "nll"}},
      {classWeights, {"cross_entropy", "nll"}},
      {huberDelta, {"huber"}},
      {smoothL1Beta, {"smooth_l1"}},
      {focalAlpha, {"focal"}},
      {focalGamma, {"focal"}},
      {diceSmooth, {"dice"}},
  };
  for (const Reader &reader : readers)
    if (reader.flag.getNumOccurrences() && !is_contained(reader.losses, loss))
      return createStringError(
          "--" + reader.flag.ArgStr + " applies only to --loss=" +
          join(reader.losses, " or ") + ", but the loss is " + loss);
  return Error::success();
}

/// Reads the names of metrics, which the loss must allow.
static Error readMetrics(std::vector<std::string> &names) {
  names = metric_names(evalMetrics);
  if (evalMetrics.isGiven() && names.empty())
    return createStringError("--eval-metrics needs names, but is '" +
                             evalMetrics + "'");
  for (size_t i = 0; i < names.size(); ++i) {
    if (std::string problem = metric_error(names[i], loss.getValue());
        !problem.empty())
      return createStringError("--eval-metrics: '" + names[i] + "' " + problem);
    if (is_contained(ArrayRef(names).take_front(i), names[i]))
      return createStringError("--eval-metrics names '" + names[i] + "' twice");
  }
  return Error::success();
}

Error gpuopt::collectLoss(DriverOptions &options) {
  if (Error error = checkReaders())
    return error;
  std::vector<std::string> &metrics = options.emission.evalMetrics;
  if (Error error = readMetrics(metrics))
    return error;
  std::vector<double> weights;
  if (classWeights.isGiven())
    if (std::string problem = readClassWeights(classWeights, weights);
        !problem.empty())
      return createStringError("--class-weights " + problem);
  train::BuildStepOptions &step = options.pipeline.step;
  step.loss = loss;
  llvm::append_range(step.evalMetrics, metrics);
  step.logits = logits;
  step.ignoreIndex = ignoreIndex;
  step.labelSmoothing = labelSmoothing;
  step.lossChunkCount = lossChunks;
  step.classWeights.assign(weights.begin(), weights.end());
  step.huberDelta = huberDelta;
  step.smoothL1Beta = smoothL1Beta;
  step.focalAlpha = focalAlpha;
  step.focalGamma = focalGamma;
  step.diceSmooth = diceSmooth;
  return Error::success();
}
