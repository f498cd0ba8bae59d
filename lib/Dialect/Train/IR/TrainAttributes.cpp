//===- TrainAttributes.cpp - Attributes of the train dialect --------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/Train/IR/TrainDialect.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::train;

using EmitError = function_ref<InFlightDiagnostic()>;

static LogicalResult verifyAmounts(EmitError emitError,
                                   ArrayRef<int64_t> counts,
                                   ArrayRef<FloatAttr> times) {
  for (int64_t count : counts)
    if (count < 0)
      return emitError() << "expects counts that are not negative, but got "
                         << count;
  for (FloatAttr time : times)
    if (!time.getType().isF64())
      return emitError() << "expects times of type f64, but got " << time;
  return success();
}

LogicalResult TransfersAttr::verify(EmitError emitError, int64_t bytes,
                                    FloatAttr busy, FloatAttr waited) {
  return verifyAmounts(emitError, bytes, {busy, waited}); // (C1)
}

LogicalResult PlanAttr::verify(EmitError emitError, int64_t arenaBytes,
                               int64_t plainArenaBytes, int64_t repeats,
                               FloatAttr plain, FloatAttr added,
                               FloatAttr lowerBound, TransfersAttr) {
  return verifyAmounts(emitError, {arenaBytes, plainArenaBytes, repeats},
                       {plain, added, lowerBound}); // (C1)
}

LogicalResult PrecisionAttr::verify(EmitError emitError, StringRef,
                                    FloatAttr chosen, FloatAttr f32,
                                    FloatAttr autocast) {
  SmallVector<FloatAttr> times{chosen, f32, autocast};
  llvm::erase(times, FloatAttr());
  return verifyAmounts(emitError, {}, times); // (C1)
}

LogicalResult UnmetBudgetAttr::verify(EmitError emitError, int64_t smallest,
                                      int64_t limit,
                                      ArrayRef<MemoryPartAttr> persistent,
                                      StringRef,
                                      ArrayRef<LiveTensorAttr> tensors) {
  SmallVector<int64_t> bytes{smallest, limit};
  for (MemoryPartAttr part : persistent)
    bytes.push_back(part.getBytes());
  for (LiveTensorAttr tensor : tensors)
    bytes.push_back(tensor.getBytes());
  if (failed(verifyAmounts(emitError, bytes, {}))) // (C1)
    return failure();
  if (smallest < limit) // (C2)
    return emitError() << "expects a smallest budget of at least the limit, "
                       << limit << " bytes, but got " << smallest;
  return success();
}

LogicalResult ProofAttr::verify(EmitError emitError,
                                DenseResourceElementsAttr problem,
                                DenseResourceElementsAttr plan) {
  for (DenseResourceElementsAttr file : {problem, plan})
    if (!isa<DenseI8ResourceElementsAttr>(file)) // (C1)
      return emitError() << "expects the bytes of a file, but got "
                         << file.getType();
  return success();
}

LogicalResult IndexRangeAttr::verify(EmitError emitError, int64_t lowest,
                                     int64_t limit, std::optional<int64_t>) {
  if (lowest > limit) // (C1)
    return emitError() << "expects a range that does not end before it begins, "
                          "but got "
                       << lowest << " to " << limit;
  return success();
}

//===----------------------------------------------------------------------===//
// Attributes on ops
//===----------------------------------------------------------------------===//

/// Returns whether an op is a step of this dialect or of the device dialect,
/// into which steps are converted.
static bool isStep(Operation *op) {
  return op->getName().stripDialect() ==
         StepOp::getOperationName().split('.').second;
}
/// Returns whether an op lies in a step or in the body of one of its ops, such
/// as train.recompute.
static bool isInStep(Operation *op) {
  for (Operation *parent = op->getParentOp(); parent;
       parent = parent->getParentOp())
    if (isStep(parent))
      return true;
  return false;
}

static bool isHalfType(Attribute value) {
  auto type = dyn_cast<TypeAttr>(value);
  return type && isa<Float16Type, BFloat16Type>(type.getValue());
}

/// Returns whether a value has one offset for each result and perhaps one more,
/// or one for results within the op, each of which is -1 or at least 0.
static bool areOffsets(Attribute value, Operation *op) {
  auto offsets = dyn_cast<DenseI64ArrayAttr>(value);
  int64_t most = 1;
  for (Region &region : op->getRegions())
    for (Operation &inner : region.getOps())
      most += inner.getNumResults();
  return offsets && offsets.size() >= op->getNumResults() &&
         offsets.size() <= op->getNumResults() + most &&
         llvm::all_of(offsets.asArrayRef(),
                      [](int64_t offset) { return offset >= -1; });
}

static bool areHalfResults(Attribute value, Operation *op) {
  auto results = dyn_cast<DenseBoolArrayAttr>(value);
  return results && results.size() == op->getNumResults();
}

LogicalResult TrainDialect::verifyOperationAttribute(Operation *op,
                                                     NamedAttribute attribute) {
  StringRef name = attribute.getName();
  Attribute value = attribute.getValue();
  auto check = [&](bool isRight, const Twine &what, bool isInPlace,
                   StringRef place) -> LogicalResult {
    if (!isRight)
      return op->emitOpError("expects '")
             << name << "' to be " << what << ", but got " << value;
    if (!isInPlace)
      return op->emitOpError("has '") << name << "', which " << place << " has";
    return success();
  };
  bool isModule = isa<ModuleOp>(op);
  if (name == PlanAttrHelper::getNameStr())
    return check(isa<PlanAttr>(value), "a '#train.plan'", isStep(op),
                 "only a step");
  if (name == ProofAttrHelper::getNameStr())
    return check(isa<ProofAttr>(value), "a '#train.proof'", isStep(op),
                 "only a step");
  if (name == PrecisionAttrHelper::getNameStr())
    return check(isa<PrecisionAttr>(value), "a '#train.precision'", isStep(op),
                 "only a step");
  if (name == UnmetBudgetAttrHelper::getNameStr())
    return check(isa<UnmetBudgetAttr>(value), "a '#train.unmet_budget'",
                 isModule, "only a module");
  if (name == kHalfTypeAttribute)
    return check(isHalfType(value), "f16 or bf16", isModule, "only a module");
  if (name == kHalfResultsAttribute)
    return check(areHalfResults(value, op),
                 "one boolean for each of " + Twine(op->getNumResults()) +
                     " results",
                 isInStep(op), "only an op in a step");
  if (name == kHalfProductAttribute)
    return check(isa<UnitAttr>(value), "without a value", isInStep(op),
                 "only an op in a step");
  if (name == kOffsetsAttribute)
    return check(areOffsets(value, op),
                 "-1 or an offset for each of " + Twine(op->getNumResults()) +
                     " results and for scratch memory",
                 isInStep(op), "only an op in a step");
  if (name == kRecomputedAttribute)
    return check(isa<StringAttr>(value), "the reason why the work runs again",
                 isInStep(op), "only an op in a step");
  return op->emitOpError("has an attribute '")
         << name << "', which 'train' does not know";
}
