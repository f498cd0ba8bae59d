//===- OutputLosses.cpp - The losses of a model's outputs -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Backward/OutputLosses.h"

#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "gpuopt/settings/compile_table.h"
#include "gpuopt/settings/loss_terms.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::train;
using nn::TensorBuilder;

//===----------------------------------------------------------------------===//
// What is asked for
//===----------------------------------------------------------------------===//

std::string OutputLosses::nameOf(unsigned output) const {
  auto name =
      const_cast<func::FuncOp &>(forward).getResultAttrOfType<StringAttr>(
          output, nn::NNDialect::NameAttrHelper::getNameStr());
  return name ? name.getValue().str() : "";
}

RankedTensorType OutputLosses::typeOf(const OutputLoss &loss) const {
  return dyn_cast<RankedTensorType>(
      const_cast<func::FuncOp &>(forward).getResultTypes()[loss.output]);
}

LogicalResult OutputLosses::find(func::FuncOp function,
                                 const LossOptions &common,
                                 ArrayRef<std::string> texts, StringRef logits,
                                 bool inference) {
  forward = function;
  isSum = !texts.empty();
  if (forward.getNumResults() == 0)
    return forward.emitError("expects a model with at least one output");
  if (!isSum &&
      failed(findOutput(logits, losses.emplace_back(OutputLoss{common}),
                        "'logits' to name an output")))
    return failure();
  for (const std::string &text : texts) {
    OutputLoss &loss = losses.emplace_back(OutputLoss{common});
    LossTerm term;
    if (std::string why = parse_loss_term(text, term); !why.empty())
      return forward.emitError("a loss '") << text << "' " << why;
    loss.options.kind = *parseLossKind(term.loss);
    loss.weight = term.weight;
    if (failed(findOutput(term.output, loss, "losses of outputs")))
      return failure();
  }
  if (inference)
    return success();
  for (const OutputLoss &loss : losses)
    if (failed(check(loss)))
      return failure();
  return checkTypes();
}

LogicalResult OutputLosses::findOutput(StringRef name, OutputLoss &loss,
                                       StringRef what) {
  SmallVector<std::string> names;
  for (unsigned index = 0; index < forward.getNumResults(); ++index) {
    loss.output = index;
    names.push_back(nameOf(index));
    if (names.back() == name || name.empty())
      return success();
  }
  return forward.emitError("expects ")
         << what << " of the model (" << llvm::join(names, ", ")
         << "), but got '" << name << "'";
}

/// What may be meant where an output has no classes.
static constexpr StringLiteral kOtherLosses =
    "expects a loss of mse or l1 for a regression, bce_with_logits for yes or "
    "no, none for an output that is the loss";

LogicalResult OutputLosses::check(const OutputLoss &loss) {
  RankedTensorType type = typeOf(loss);
  bool usable = type && isa<FloatType>(type.getElementType()) &&
                (type.getRank() >= 1 || loss.options.kind == LossKind::None);
  if (!usable) {
    InFlightDiagnostic error =
        forward.emitError("expects floating-point output '")
        << nameOf(loss.output) << "' for the loss, but got "
        << forward.getResultTypes()[loss.output];
    if (type && isa<FloatType>(type.getElementType()))
      error << ", a single number: if it is the loss, give --loss none";
    return error;
  }
  if (loss.options.kind == LossKind::Dice && type.getRank() < 2)
    return forward.emitError("expects logits of at least two dimensions for "
                             "dice, which has a loss for each sample, but '")
           << nameOf(loss.output) << "' is " << type;
  if (choosesClass(loss.options.kind) && type.getRank() < 2)
    return forward.emitError("expects logits [N, C] for ")
           << StringRef(compile_time::kLosses[size_t(loss.options.kind)])
           << ", but '" << nameOf(loss.output) << "' is " << type << ": "
           << kOtherLosses;
  warnOfOneClass(loss);
  return checkClassWeights(loss);
}

/// Checks that losses can be added up, and that their labels have names of
/// their own.
LogicalResult OutputLosses::checkTypes() {
  Type element = typeOf(first()).getElementType();
  for (const OutputLoss &loss : losses)
    if (Type other = typeOf(loss).getElementType(); other != element)
      return forward.emitError("expects outputs of one type for several "
                               "losses, but '")
             << nameOf(first().output) << "' is of " << element << " and '"
             << nameOf(loss.output) << "' of " << other;
  if (losses.size() == 1)
    return success();
  for (const Labels &each : labels())
    for (unsigned index = 0; index < forward.getNumArguments(); ++index)
      if (forward.getArgAttrOfType<StringAttr>(
              index, nn::NNDialect::NameAttrHelper::getNameStr()) == each.name)
        return forward.emitError("expects no input of the name '")
               << each.name.getValue()
               << "', by which the labels of an output are known";
  return success();
}

/// Returns a weight as a tensor of a type holds it: 1e39 is infinite in f32.
static double stored(double weight, RankedTensorType type) {
  APFloat value(weight);
  bool losesInfo = false;
  value.convert(cast<FloatType>(type.getElementType()).getFloatSemantics(),
                APFloat::rmNearestTiesToEven, &losesInfo);
  return value.convertToDouble();
}

/// Checks that there is a weight for each class, and that a mean by them
/// exists. Of several losses, those of classes have the weights.
LogicalResult OutputLosses::checkClassWeights(const OutputLoss &loss) {
  ArrayRef<double> weights = loss.options.classWeights;
  bool isOfClasses = hasClasses(loss.options.kind);
  if (weights.empty() || (!isOfClasses && losses.size() > 1))
    return success();
  RankedTensorType type = typeOf(loss);
  int64_t classes = isOfClasses ? labelsLimit(loss.options.kind, type) : 0;
  if (static_cast<int64_t>(weights.size()) != classes)
    return forward.emitError("expects class-weights for each of the ")
           << classes << " classes of '" << nameOf(loss.output) << "', but got "
           << weights.size();
  for (double weight : weights)
    if (!(weight >= 0 && std::isfinite(stored(weight, type))))
      return forward.emitError("expects class-weights of at least 0 that ")
             << type.getElementType() << " can hold, but got " << weight;
  if (llvm::all_of(weights,
                   [&](double weight) { return stored(weight, type) == 0; }))
    return forward.emitError("expects a class weight above 0, but all are 0");
  return success();
}

/// With one class, the softmax is 1 and the loss 0, whatever the weights are.
void OutputLosses::warnOfOneClass(const OutputLoss &loss) {
  RankedTensorType type = typeOf(loss);
  LossKind kind = loss.options.kind;
  if ((kind == LossKind::CrossEntropy || kind == LossKind::SoftCrossEntropy) &&
      labelsLimit(LossKind::CrossEntropy, type) == 1)
    forward.emitWarning() << StringRef(compile_time::kLosses[size_t(kind)])
                          << " over the one class of '" << nameOf(loss.output)
                          << "' (" << type << ") is always 0: " << kOtherLosses;
}

//===----------------------------------------------------------------------===//
// Labels
//===----------------------------------------------------------------------===//

SmallVector<Labels> OutputLosses::labels() const {
  SmallVector<Labels> all;
  for (const OutputLoss &loss : losses) {
    RankedTensorType type = labelsType(loss.options.kind, typeOf(loss));
    if (!type)
      continue;
    MLIRContext *context = type.getContext();
    Labels each{StringAttr::get(context, losses.size() == 1
                                             ? "labels"
                                             : labels_of(nameOf(loss.output))),
                type, UnitAttr::get(context)};
    std::optional<int64_t> ignored;
    if (hasClasses(loss.options.kind))
      ignored = loss.options.ignoreIndex;
    if (int64_t limit = labelsLimit(loss.options.kind, typeOf(loss));
        limit >= 0)
      each.range = IndexRangeAttr::get(context, 0, limit, ignored);
    all.push_back(each);
  }
  return all;
}

int64_t OutputLosses::targets() const {
  return isSum ? 1
               : std::max<int64_t>(
                     1, targetsOf(first().options.kind, typeOf(first())));
}

//===----------------------------------------------------------------------===//
// The loss
//===----------------------------------------------------------------------===//

/// Returns sum / weight, or 0 if no target counts.
static Value meanOf(TensorBuilder &b, const Loss &loss, bool hasClasses) {
  if (!hasClasses)
    return b.div(loss.sum, loss.weight);
  Value zero = b.splat(0, b.type(loss.weight)),
        one = b.splat(1, b.type(loss.weight));
  Value counts = b.compare(arith::CmpFPredicate::OGT, loss.weight, zero);
  return b.select(counts, b.div(loss.sum, b.select(counts, loss.weight, one)),
                  zero);
}

Loss OutputLosses::build(TensorBuilder &b, ValueRange outputs,
                         ValueRange labels,
                         const LossChunkOptions &chunks) const {
  Loss whole;
  for (auto [number, loss] : llvm::enumerate(losses)) {
    Value output = outputs[loss.output], own;
    if (loss.options.kind != LossKind::None) {
      own = labels.front();
      labels = labels.drop_front();
    }
    Loss part = buildChunkedLoss(b, loss.options, output, own,
                                 lossChunks(loss.options.kind, output, chunks));
    if (!isSum) {
      whole = part;
      continue;
    }
    auto place = b.getI64IntegerAttr(int64_t(number));
    b.create<ReportLossOp>(part.sum, part.weight, place);
    Value mean =
        b.mul(meanOf(b, part, hasClasses(loss.options.kind)), loss.weight);
    whole.sum = whole.sum ? b.add(whole.sum, mean) : mean;
  }
  if (isSum)
    whole.weight = b.splat(1, b.type(whole.sum));
  b.create<ReportLossOp>(whole.sum, whole.weight, IntegerAttr());
  return whole;
}
