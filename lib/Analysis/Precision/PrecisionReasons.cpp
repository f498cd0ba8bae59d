//===- PrecisionReasons.cpp - Why a tensor has its precision --------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The reasons are read off the step after the choice: what must stay in f32
// does so by the rules that the choice had, and where no rule and no class
// decides, the costs did.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Precision/PrecisionReasons.h"

#include "Precision/PrecisionRules.h"
#include "gpuopt/Analysis/Memory/Buffers.h"
#include "gpuopt/Analysis/Origins.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace gpuopt;

static std::string textOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// Returns the element type of a product's factors; null for any other op.
static FloatType factorTypeOf(Operation *op) {
  if (!isProduct(op))
    return nullptr;
  auto factors = cast<RuntimeCallOpInterface>(op).getFactors();
  return dyn_cast<FloatType>(
      getElementTypeOrSelf(factors.front()->get().getType()));
}

/// Returns why a tensor, or a product with factors of a type, is in `type`.
/// `rule` is what keeps it in f32 whatever the policy says; empty if nothing
/// does.
static std::string reasonFor(Type type, StringRef rule, Location loc,
                             FloatType halfType, PrecisionPolicy &policy) {
  bool isHalf = type == halfType;
  if (!isHalf && !rule.empty())
    return rule.str();
  if (std::optional<bool> wanted = policy.overrideOf(loc);
      wanted && *wanted == isHalf)
    return "an override asks for it";
  StringAttr onnxOp = onnxOpOf(loc);
  if (!isHalf && onnxOp && policy.classOf(loc) == PrecisionClass::Full)
    return "the precision class of " + onnxOp.str() + " is fp32";
  return isHalf ? "it costs less time" : "half precision would cost more time";
}

std::vector<PrecisionReason>
gpuopt::explainPrecisions(ModuleOp module, FloatType halfType,
                          PrecisionPolicy &policy) {
  std::vector<PrecisionReason> reasons;
  auto add = [&](OpResult result) {
    auto type = dyn_cast<FloatType>(getElementTypeOrSelf(result.getType()));
    if (!type || bufferOf(result) != result)
      return;
    Operation *writer = writtenValue(result).getDefiningOp();
    Location loc = writer ? writer->getLoc() : result.getOwner()->getLoc();
    StringAttr onnxOp = onnxOpOf(loc);
    PrecisionReason reason{originOf(result), onnxOp ? onnxOp.str() : "",
                           textOf(type), "",
                           reasonFor(type, reasonForFull(result, halfType), loc,
                                     halfType, policy)};
    if (FloatType factors = factorTypeOf(result.getOwner())) {
      reason.computedIn = textOf(factors);
      reason.reason =
          "its product: " + reasonFor(factors, "", loc, halfType, policy) +
          "; its result: " + reason.reason;
    }
    reasons.push_back(std::move(reason));
  };
  for (train::StepOp step : module.getOps<train::StepOp>()) {
    if (step.getKind() != train::StepKind::Micro)
      continue;
    for (Operation &op : step.getBody().front())
      if (!namesMemory(&op))
        for (OpResult result : op.getResults())
          add(result);
  }
  return reasons;
}
