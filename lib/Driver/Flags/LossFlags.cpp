//===- LossFlags.cpp - The loss of a training -----------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/ClassWeights.h"
#include "Flags/CompileFlags.h"
#include "gpuopt/settings/loss_terms.h"
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
CompileFlags losses("loss");
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

/// Reads the losses, of which there is at least one.
static Error readLosses(std::vector<LossTerm> &terms) {
  const CompileSetting &setting = *find_compile_setting("loss");
  terms.resize(std::max<size_t>(losses.size(), 1));
  terms.front().loss = std::string(setting.standard);
  for (auto [text, term] : llvm::zip(losses, terms)) {
    if (!StringRef(text).contains(':') && !setting.values.has(text))
      return createStringError(errorOf(setting, text));
    if (std::string problem = parse_loss_term(text, term); !problem.empty())
      return createStringError("--loss '" + text + "' " + problem);
  }
  // A loss that names no output takes the place of the one before it, as the
  // last value of any flag does.
  if (llvm::all_of(terms, [](const LossTerm &t) { return t.output.empty(); }))
    terms = {terms.back()};
  for (size_t i = 0; terms.size() > 1 && i < terms.size(); ++i) {
    if (terms[i].output.empty())
      return createStringError("--loss is given " + Twine(terms.size()) +
                               " times, so each needs the output that it is "
                               "of, OUTPUT:LOSS or OUTPUT:LOSS:WEIGHT, but one "
                               "is '" +
                               losses[i] + "'");
    for (size_t k = 0; k < i; ++k)
      if (terms[i].output == terms[k].output)
        return createStringError("--loss gives output '" + terms[i].output +
                                 "' twice: '" + losses[k] + "' and '" +
                                 losses[i] + "'");
  }
  if (!logits.empty() && !terms.front().output.empty())
    return createStringError("--logits and --loss='" + losses.front() +
                             "' both name the output of the loss; leave out "
                             "--logits");
  return Error::success();
}

static bool has(ArrayRef<LossTerm> terms, StringRef loss) {
  return llvm::any_of(terms, [&](const LossTerm &term) {
    return StringRef(term.loss) == loss;
  });
}

/// Refuses flags that no chosen loss reads.
static Error checkReaders(ArrayRef<LossTerm> terms) {
  const Reader readers[] = {
      {labelSmoothing, {"cross_entropy", "soft_cross_entropy"}},
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
    if (reader.flag.getNumOccurrences() &&
        llvm::none_of(reader.losses,
                      [&](StringRef loss) { return has(terms, loss); }))
      return createStringError(
          "--" + reader.flag.ArgStr + " applies only to --loss=" +
          join(reader.losses, " or ") + ", but the loss is " +
          llvm::join(llvm::map_range(
                         terms, [](const LossTerm &term) { return term.loss; }),
                     " and "));
  return Error::success();
}

/// Reads the names of metrics, which the loss must allow: of several ones, the
/// first.
static Error readMetrics(StringRef loss, std::vector<std::string> &names) {
  names = metric_names(evalMetrics);
  if (evalMetrics.isGiven() && names.empty())
    return createStringError("--eval-metrics needs names, but is '" +
                             evalMetrics + "'");
  for (size_t i = 0; i < names.size(); ++i) {
    if (std::string problem = metric_error(names[i], loss.str());
        !problem.empty())
      return createStringError("--eval-metrics: '" + names[i] + "' " + problem);
    if (is_contained(ArrayRef(names).take_front(i), names[i]))
      return createStringError("--eval-metrics names '" + names[i] + "' twice");
  }
  return Error::success();
}

Error gpuopt::collectLoss(DriverOptions &options) {
  std::vector<LossTerm> terms;
  if (Error error = readLosses(terms))
    return error;
  if (Error error = checkReaders(terms))
    return error;
  const LossTerm &first = terms.front();
  std::vector<std::string> &metrics = options.emission.evalMetrics;
  if (Error error = readMetrics(first.loss, metrics))
    return error;
  std::vector<double> weights;
  if (classWeights.isGiven())
    if (std::string problem = readClassWeights(classWeights, weights);
        !problem.empty())
      return createStringError("--class-weights " + problem);
  train::BuildStepOptions &step = options.pipeline.step;
  step.loss = first.loss;
  llvm::append_range(step.evalMetrics, metrics);
  step.logits = first.output.empty() ? logits.getValue() : first.output;
  if (terms.size() > 1 || first.weight != 1) {
    for (const LossTerm &term : terms)
      step.losses.push_back(loss_term_text(term));
    options.emission.losses = terms;
  }
  step.ignoreIndex = ignoreIndex;
  step.labelSmoothing = labelSmoothing;
  step.lossChunkCount = lossChunks;
  // A chunk reads the head's weights and adds to their gradient once more. What
  // that takes beside the products of a chunk is little on a processor, whose
  // memory is faster beside its arithmetic than a GPU's.
  if (!options.target->is_cuda)
    step.lossChunkBytes = int64_t(256) << 20;
  step.classWeights.assign(weights.begin(), weights.end());
  step.huberDelta = huberDelta;
  step.smoothL1Beta = smoothL1Beta;
  step.focalAlpha = focalAlpha;
  step.focalGamma = focalGamma;
  step.diceSmooth = diceSmooth;
  return Error::success();
}
