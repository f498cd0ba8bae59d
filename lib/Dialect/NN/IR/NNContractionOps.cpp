//===- NNContractionOps.cpp - Contractions, reductions, norms, losses -----===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "gpuopt/Dialect/NN/IR/ProductLayout.h"
#include "gpuopt/Support/RowPitch.h"
#include "gpuopt/Support/TensorType.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <limits>

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

static RankedTensorType withShape(ArrayRef<int64_t> shape,
                                  RankedTensorType like) {
  return RankedTensorType::get(shape, like.getElementType());
}

/// Makes the result f32 if `to f32` says so, which needs operands in half
/// precision.
static LogicalResult widen(StringRef op, std::optional<Location> loc,
                           std::optional<Type> to,
                           SmallVectorImpl<Type> &types) {
  if (!to)
    return success();
  auto type = cast<RankedTensorType>(types[0]);
  if (type.getElementTypeBitWidth() != 16 || !to->isF32())
    return emitOptionalError(
        loc, "'", op,
        "' op expects 'to f32' with operands in half precision, but got ", *to,
        " with ", type.getElementType());
  types[0] = type.clone(*to);
  return success();
}

//===----------------------------------------------------------------------===//
// Contract
//===----------------------------------------------------------------------===//

/// Whether a product goes on through the pads of its result's rows and finds
/// nothing but zeros there: they come from the pads of one operand.
static bool fillsPadsWithZeros(ContractOp::Adaptor op, int64_t pitch) {
  auto [lhs, rhs, result] = ProductSpec::parse(op.getSpec());
  if (op.getAccumulator() || op.getBias() ||
      lhs.contains(result.back()) == rhs.contains(result.back()))
    return false;
  bool isOfLhs = lhs.contains(result.back());
  RankedTensorType operand = tensorType(isOfLhs ? op.getLhs() : op.getRhs());
  size_t dim = (isOfLhs ? lhs : rhs).find(result.back());
  return padsOf(operand).areZeros && operand.getDimSize(dim) > 1 &&
         extentsInMemory(operand)[dim] >= pitch;
}

/// Gives the one result the pitch of its rows and the spare rows that the op
/// has.
static LogicalResult padRows(std::optional<Location> loc,
                             ContractOp::Adaptor op,
                             SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(types[0]);
  std::optional<uint64_t> pitch = op.getRowPitch(), spare = op.getSpareRows();
  if (pitch &&
      (type.getRank() < 2 || (int64_t)*pitch <= type.getShape().back())) // (C8)
    return emitOptionalError(
        loc,
        "'nn.contract' op expects a row pitch above the last of at least two "
        "dimensions, but got ",
        *pitch, " for ", type);
  if (spare && (type.getRank() != 2 || (int64_t)*spare < 1 ||
                (int64_t)*spare > type.getDimSize(0))) // (C9)
    return emitOptionalError(
        loc,
        "'nn.contract' op expects from one spare row to as many as a matrix "
        "has rows, but got ",
        *spare, " for ", type);
  Pads pads;
  pads.rowPitch = pitch.value_or(0);
  pads.spareRows = spare.value_or(0);
  pads.areZeros = pitch && !spare && fillsPadsWithZeros(op, *pitch);
  types[0] = withPads(type, pads);
  return success();
}

StringRef ContractOp::getLhsLetters() {
  return ProductSpec::parse(getSpec()).lhs;
}
StringRef ContractOp::getRhsLetters() {
  return ProductSpec::parse(getSpec()).rhs;
}
StringRef ContractOp::getResultLetters() {
  return ProductSpec::parse(getSpec()).result;
}

/// Checks (C1): lower-case letters, none twice.
static bool isLetterList(StringRef letters) {
  for (auto [index, letter] : llvm::enumerate(letters))
    if (letter < 'a' || letter > 'z' ||
        letters.find(letter, index + 1) != StringRef::npos)
      return false;
  return true;
}

FailureOr<RankedTensorType> gpuopt::inferProduct(StringRef name,
                                                 std::optional<Location> loc,
                                                 StringRef spec,
                                                 RankedTensorType lhsType,
                                                 RankedTensorType rhsType) {
  auto [lhs, rhs, result] = ProductSpec::parse(spec);
  if (!isLetterList(lhs) || !isLetterList(rhs) || !isLetterList(result) ||
      (int64_t)lhs.size() != lhsType.getRank() ||
      (int64_t)rhs.size() != rhsType.getRank()) // (C1)
    return emitOptionalError(loc, "'", name,
                             "' op expects a spec like "
                             "\"ik,kj->ij\" with one letter per "
                             "dimension of ",
                             lhsType, " and ", rhsType, ", but got \"", spec,
                             "\"");
  llvm::SmallDenseMap<char, int64_t> sizes;
  for (auto [letters, type] :
       {std::pair(lhs, lhsType), std::pair(rhs, rhsType)})
    for (auto [letter, size] : llvm::zip(letters, type.getShape()))
      if (sizes.try_emplace(letter, size).first->second != size) // (C2)
        return emitOptionalError(loc, "'", name, "' op expects one size for '",
                                 Twine(letter), "', but got ", sizes[letter],
                                 " and ", size);
  auto expectTwice = [&](char letter) { // (C3)
    return emitOptionalError(loc, "'", name, "' op expects '", Twine(letter),
                             "' in at least two of the three tensors of \"",
                             spec, "\"");
  };
  for (auto [letter, size] : sizes)
    if (lhs.contains(letter) + rhs.contains(letter) + result.contains(letter) <
        2)
      return expectTwice(letter);
  if (lhsType.getElementType() != rhsType.getElementType()) // (C4)
    return emitOptionalError(
        loc, "'", name, "' op expects operands of one element type, but got ",
        lhsType, " and ", rhsType);
  SmallVector<int64_t> shape;
  for (char letter : result) {
    if (!sizes.count(letter))
      return expectTwice(letter);
    shape.push_back(sizes[letter]);
  }
  return withShape(shape, lhsType);
}

LogicalResult ContractOp::inferReturnTypes(MLIRContext *context,
                                           std::optional<Location> loc,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  FailureOr<RankedTensorType> type =
      inferProduct("nn.contract", loc, adaptor.getSpec(),
                   tensorType(adaptor.getLhs()), tensorType(adaptor.getRhs()));
  if (failed(type))
    return failure();
  types.push_back(*type);
  if (failed(widen("nn.contract", loc, adaptor.getResultElementType(),
                   types))) // (C6)
    return failure();
  return padRows(loc, adaptor, types);
}

/// Checks (C7).
bool ContractOp::takesBias(RankedTensorType bias) {
  RankedTensorType result = getType();
  if (bias.getRank() > result.getRank() ||
      bias.getElementType() != result.getElementType() ||
      bias.getShape() != result.getShape().take_back(bias.getRank()))
    return false;
  StringRef columns = getResultLetters().take_back(bias.getRank());
  return llvm::all_of(getResultLetters(), [&](char letter) {
    return columns.contains(letter) == !getLhsLetters().contains(letter);
  });
}

/// What is added to an accumulator overwrites it, so nobody else reads it, and
/// one of the `Makers`, which `names` names, has made it in memory of the step.
template <typename... Makers, typename OpT>
static LogicalResult verifyAccumulator(OpT op, StringRef names) {
  Value accumulator = op.getAccumulator();
  if (!accumulator ||
      (isa_and_nonnull<Makers...>(accumulator.getDefiningOp()) &&
       accumulator.hasOneUse()))
    return success();
  return op.emitOpError("expects an accumulator that is the result of ")
         << names << " and has no other use";
}

static LogicalResult verifyBias(ContractOp op) {
  RankedTensorType bias = tensorType(op.getBias());
  if (!op.getAccumulator() && op.takesBias(bias))
    return success();
  return op.emitOpError("expects a bias over the columns of its result and no "
                        "accumulator, but got ")
         << bias << " for " << op.getType();
}

LogicalResult ContractOp::verify() {
  if (getBias() && failed(verifyBias(*this)))
    return failure();
  if (getAccumulator() && getAccumulator().getType() != getType()) // (C5)
    return emitOpError("expects an accumulator of type ")
           << getType() << ", but got " << getAccumulator().getType();
  return verifyAccumulator<ContractOp>(*this, "'nn.contract'"); // (C5)
}

//===----------------------------------------------------------------------===//
// Reduce
//===----------------------------------------------------------------------===//

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  RankedTensorType input = tensorType(adaptor.getInput());
  SmallVector<int64_t> shape(input.getShape());
  int64_t previous = -1;
  for (int64_t dim : adaptor.getDims()) { // (C1)
    if (dim <= previous || dim >= input.getRank())
      return emitOptionalError(
          loc, "'nn.reduce' op expects ascending dimensions of ", input,
          ", but got [", adaptor.getDims(), "]");
    shape[dim] = 1;
    previous = dim;
  }
  types.push_back(withShape(shape, input));
  return success();
}

/// Returns the number that a reduction of floating-point numbers begins with.
static double neutralOf(ReductionKind kind) {
  switch (kind) {
  case ReductionKind::Sum:
    return 0;
  case ReductionKind::Prod:
    return 1;
  case ReductionKind::Max:
    return -std::numeric_limits<double>::infinity();
  case ReductionKind::Min:
    return std::numeric_limits<double>::infinity();
  }
  llvm_unreachable("unknown kind of reduction");
}

OpFoldResult ReduceOp::fold(FoldAdaptor) {
  // Reducing dimensions of size 1 changes nothing, whatever the kind.
  if (getInput().getType() == getType())
    return getInput();
  auto element = dyn_cast<FloatType>(getType().getElementType());
  if (element && tensorType(getInput()).getNumElements() == 0)
    return DenseElementsAttr::get(
        getType(),
        ArrayRef<Attribute>(FloatAttr::get(element, neutralOf(getKind()))));
  return {};
}

LogicalResult PartialSumOp::inferReturnTypes(MLIRContext *context,
                                             std::optional<Location> loc,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  RankedTensorType input = tensorType(adaptor.getInput());
  if (input.getRank() < 2) // (C1)
    return emitOptionalError(
        loc,
        "'nn.partial_sum' op expects an operand of rank at least 2, but "
        "got ",
        input);
  int64_t parts = adaptor.getParts(),
          rows = ShapedType::getNumElements(input.getShape().drop_back());
  if (parts < 1 || rows % parts != 0) // (C2)
    return emitOptionalError(loc,
                             "'nn.partial_sum' op expects a number of parts "
                             "that divides its ",
                             rows, " rows, but got ", parts);
  SmallVector<int64_t> shape(input.getRank(), 1);
  shape.front() = parts;
  shape.back() = input.getShape().back();
  types.push_back(withShape(shape, input));
  return success();
}

LogicalResult SumPartsOp::inferReturnTypes(MLIRContext *context,
                                           std::optional<Location> loc,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  RankedTensorType parts = tensorType(adaptor.getParts());
  if (parts.getRank() < 2) // (C1)
    return emitOptionalError(
        loc,
        "'nn.sum_parts' op expects an operand of rank at least 2, but got ",
        parts);
  SmallVector<int64_t> shape(parts.getShape());
  shape.front() = 1;
  types.push_back(withShape(shape, parts));
  return success();
}

//===----------------------------------------------------------------------===//
// Gather and scatter
//===----------------------------------------------------------------------===//

LogicalResult TakeOp::inferReturnTypes(MLIRContext *context,
                                       std::optional<Location> loc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  RankedTensorType table = tensorType(adaptor.getTable());
  if (table.getRank() < 1) // (C1)
    return emitOptionalError(
        loc, "'nn.take' op expects a table of rank at least 1, but got ",
        table);
  SmallVector<int64_t> shape(tensorType(adaptor.getIndices()).getShape());
  llvm::append_range(shape, table.getShape().drop_front());
  types.push_back(withShape(shape, table));
  return success();
}

LogicalResult ScatterAddOp::inferReturnTypes(MLIRContext *context,
                                             std::optional<Location> loc,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  RankedTensorType updates = tensorType(adaptor.getUpdates()),
                   indices = tensorType(adaptor.getIndices());
  if (indices.getRank() > updates.getRank() ||
      updates.getShape().take_front(indices.getRank()) !=
          indices.getShape()) // (C1)
    return emitOptionalError(
        loc,
        "'nn.scatter_add' op expects updates whose shape begins with that of ",
        indices, ", but got ", updates);
  SmallVector<int64_t> shape{(int64_t)adaptor.getRows()};
  llvm::append_range(shape, updates.getShape().drop_front(indices.getRank()));
  types.push_back(withShape(shape, updates));
  if (failed(widen("nn.scatter_add", loc, adaptor.getResultElementType(),
                   types))) // (C2)
    return failure();
  if (Value accumulator = adaptor.getAccumulator()) {
    RankedTensorType type = tensorType(accumulator);
    if (withoutPads(type) != types.front() || padsOf(type).rowPitch) // (C3)
      return emitOptionalError(
          loc, "'nn.scatter_add' op expects an accumulator of type ",
          types.front(), " without a row pitch, but got ", type);
    types.front() = type;
  }
  return success();
}

LogicalResult ScatterAddOp::verify() {
  return verifyAccumulator<ContractOp, ScatterAddOp>(
      *this, "'nn.contract' or 'nn.scatter_add'"); // (C3)
}

//===----------------------------------------------------------------------===//
// Softmax, normalisation, dropout, losses
//===----------------------------------------------------------------------===//

template <typename OpT>
static LogicalResult verifySoftmax(OpT op) {
  if (op.getDim() >= (uint64_t)op.getType().getRank()) // (C1)
    return op.emitOpError("expects a dimension of ")
           << op.getType() << ", but got " << op.getDim();
  return success();
}
LogicalResult SoftmaxOp::verify() { return verifySoftmax(*this); }
LogicalResult LogSoftmaxOp::verify() { return verifySoftmax(*this); }

LogicalResult LayerNormOp::inferReturnTypes(MLIRContext *context,
                                            std::optional<Location> loc,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  RankedTensorType input = tensorType(adaptor.getInput());
  if (adaptor.getAxis() >= (uint64_t)input.getRank()) // (C1)
    return emitOptionalError(loc, "'nn.layer_norm' op expects an axis of ",
                             input, ", but got ", adaptor.getAxis());
  ArrayRef<int64_t> normalised = input.getShape().drop_front(adaptor.getAxis());
  for (Value parameter : {adaptor.getScale(), adaptor.getBias()}) // (C2)
    if (parameter && tensorType(parameter).getShape() != normalised)
      return emitOptionalError(
          loc, "'nn.layer_norm' op expects a scale and bias of type ",
          withShape(normalised, input), ", but got ", parameter.getType());
  SmallVector<int64_t> kept(input.getShape());
  std::fill(kept.begin() + adaptor.getAxis(), kept.end(), 1);
  types.assign({input, withShape(kept, input), withShape(kept, input)});
  return success();
}

LogicalResult BatchNormOp::inferReturnTypes(MLIRContext *context,
                                            std::optional<Location> loc,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  RankedTensorType input = tensorType(adaptor.getInput());
  if (input.getRank() < 2) // (C1)
    return emitOptionalError(
        loc, "'nn.batch_norm' op expects rank at least 2, but got ", input);
  int64_t channels = input.getShape().back();
  RankedTensorType perChannel = withShape({channels}, input);
  for (Value parameter :
       {adaptor.getScale(), adaptor.getBias(), adaptor.getRunningMean(),
        adaptor.getRunningVariance()})
    if (parameter.getType() != perChannel) // (C2)
      return emitOptionalError(loc,
                               "'nn.batch_norm' op expects parameters of type ",
                               perChannel, ", but got ", parameter.getType());
  SmallVector<int64_t> kept(input.getRank(), 1);
  kept.back() = channels;
  types.assign({input, perChannel, perChannel, withShape(kept, input),
                withShape(kept, input)});
  return success();
}

LogicalResult DropoutOp::verify() {
  double ratio = getRatio().convertToDouble();
  if (!(ratio >= 0 && ratio < 1)) // (C1)
    return emitOpError("expects a ratio of at least 0 and below 1, but got ")
           << ratio;
  return success();
}

LogicalResult CrossEntropyOp::inferReturnTypes(MLIRContext *context,
                                               std::optional<Location> loc,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  RankedTensorType logits = tensorType(adaptor.getLogits()),
                   labels = tensorType(adaptor.getLabels());
  if (logits.getRank() < 1 ||
      logits.getShape().drop_back() != labels.getShape()) // (C1)
    return emitOptionalError(loc,
                             "'nn.cross_entropy' op expects labels of the "
                             "logits' shape without the last "
                             "dimension, but got ",
                             labels, " for ", logits);
  double smoothing = adaptor.getLabelSmoothing().convertToDouble();
  if (!(smoothing >= 0 && smoothing < 1)) // (C2)
    return emitOptionalError(loc,
                             "'nn.cross_entropy' op expects a label smoothing "
                             "of at least 0 and below 1, but got ",
                             std::to_string(smoothing));
  SmallVector<int64_t> kept(logits.getShape());
  kept.back() = 1;
  types.assign(2, withShape(kept, logits));
  return success();
}
