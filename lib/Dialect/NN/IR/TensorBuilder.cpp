//===- TensorBuilder.cpp - Arithmetic on tensors, written like formulas ---===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/NN/IR/TensorBuilder.h"

#include "mlir/Dialect/Traits.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace gpuopt::nn;

SmallVector<int64_t> TensorBuilder::commonShape(ArrayRef<int64_t> a,
                                                ArrayRef<int64_t> b) {
  SmallVector<int64_t> result;
  bool compatible = OpTrait::util::getBroadcastedShape(a, b, result);
  assert(compatible && "shapes do not broadcast");
  (void)compatible;
  return result;
}

Value TensorBuilder::splat(double value, RankedTensorType like) {
  Type element = like.getElementType();
  TypedAttr scalar = isa<FloatType>(element)
                         ? TypedAttr(getFloatAttr(element, value))
                         : TypedAttr(getIntegerAttr(element, (int64_t)value));
  return create<arith::ConstantOp>(
      DenseElementsAttr::get(like, ArrayRef<Attribute>(scalar)));
}

Value TensorBuilder::sigmoid(Value x) {
  Value zero = splat(0, type(x)), one = splat(1, type(x));
  Value isPositive = compare(arith::CmpFPredicate::OGE, x, zero);
  Value small = exp(select(isPositive, neg(x), x));
  return div(select(isPositive, one, small), add(small, one));
}

Value TensorBuilder::select(Value condition, Value a, Value b) {
  auto common = commonShape(commonShape(shape(a), shape(b)), shape(condition));
  return createOrFold<arith::SelectOp>(
      broadcast(condition, common), broadcast(a, common), broadcast(b, common));
}

/// Folds a comparison of constant tensors, since arith.cmpf folds only numbers.
/// A result of any size is smaller than the operands, which exist already.
static DenseElementsAttr foldComparison(arith::CmpFPredicate predicate, Value a,
                                        Value b) {
  DenseFPElementsAttr left, right;
  if (!matchPattern(a, m_Constant(&left)) ||
      !matchPattern(b, m_Constant(&right)))
    return {};
  auto type = cast<RankedTensorType>(a.getType())
                  .clone(IntegerType::get(a.getContext(), 1));
  if (left.isSplat() && right.isSplat())
    return DenseElementsAttr::get(
        type, arith::applyCmpPredicate(predicate, left.getSplatValue<APFloat>(),
                                       right.getSplatValue<APFloat>()));
  SmallVector<bool> bits;
  bits.reserve(left.getNumElements());
  for (const auto &[x, y] :
       llvm::zip(left.getValues<APFloat>(), right.getValues<APFloat>()))
    bits.push_back(arith::applyCmpPredicate(predicate, x, y));
  return DenseElementsAttr::get(type, bits);
}

Value TensorBuilder::compare(arith::CmpFPredicate predicate, Value a, Value b) {
  auto common = commonShape(shape(a), shape(b));
  a = broadcast(a, common);
  b = broadcast(b, common);
  if (DenseElementsAttr folded = foldComparison(predicate, a, b))
    return create<arith::ConstantOp>(folded);
  return createOrFold<arith::CmpFOp>(predicate, a, b);
}

Value TensorBuilder::compare(arith::CmpIPredicate predicate, Value a, Value b) {
  auto common = commonShape(shape(a), shape(b));
  return createOrFold<arith::CmpIOp>(predicate, broadcast(a, common),
                                     broadcast(b, common));
}

Value TensorBuilder::toFloat(Value condition, Type elementType) {
  return createOrFold<arith::UIToFPOp>(type(condition).clone(elementType),
                                       condition);
}

Value TensorBuilder::broadcast(Value value, ArrayRef<int64_t> target) {
  if (shape(value) == target)
    return value;
  return createOrFold<BroadcastOp>(type(value).clone(target), value);
}

Value TensorBuilder::reshape(Value value, ArrayRef<int64_t> target) {
  if (shape(value) == target)
    return value;
  return createOrFold<ReshapeOp>(type(value).clone(target), value);
}

Value TensorBuilder::transpose(Value value, ArrayRef<int64_t> permutation) {
  return createOrFold<TransposeOp>(value, permutation);
}

Value TensorBuilder::reduce(ReductionKind kind, Value value,
                            ArrayRef<int64_t> dims) {
  if (dims.empty())
    return value;
  return createOrFold<ReduceOp>(kind, value, dims);
}

Value TensorBuilder::sumTo(Value value, ArrayRef<int64_t> target) {
  ArrayRef<int64_t> source = shape(value);
  int64_t missing = source.size() - target.size();
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < (int64_t)source.size(); ++dim)
    if (dim < missing || target[dim - missing] != source[dim])
      dims.push_back(dim);
  return reshape(sum(value, dims), target);
}
