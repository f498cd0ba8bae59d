//===- AttentionLayouts.cpp - How operands of an attention lie ------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionLayouts.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace gpuopt::nn;

std::optional<double> gpuopt::nn::splatOf(Value value) {
  DenseFPElementsAttr constant;
  if (!matchPattern(value, m_Constant(&constant)) || !constant.isSplat())
    return std::nullopt;
  APFloat number = constant.getSplatValue<APFloat>();
  bool isLossy;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &isLossy);
  return number.convertToDouble();
}

std::optional<std::pair<Value, double>> gpuopt::nn::scalingOf(Operation *op) {
  if (!isa_and_nonnull<arith::MulFOp, arith::DivFOp>(op))
    return std::nullopt;
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  if (auto factor = splatOf(rhs))
    return std::pair(lhs, isa<arith::MulFOp>(op) ? *factor : 1 / *factor);
  if (auto factor = splatOf(lhs); factor && isa<arith::MulFOp>(op))
    return std::pair(rhs, *factor);
  return std::nullopt;
}

ArrayRef<int64_t> gpuopt::nn::matrixOf(Value value) {
  ArrayRef<int64_t> shape = TensorBuilder::shape(value);
  return shape.take_back(std::min<size_t>(2, shape.size()));
}

bool gpuopt::nn::regroups(ReshapeOp op) {
  return op && matrixOf(op.getInput()).size() == 2 &&
         matrixOf(op.getInput()) == matrixOf(op.getResult());
}

static Value reshaped(TensorBuilder &b, Value value, ArrayRef<int64_t> shape) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  return b.reshape(value, shape);
}

static bool swapsMatrix(ArrayRef<int64_t> permutation) {
  int64_t rank = permutation.size();
  return rank >= 2 && permutation[rank - 2] == rank - 1 &&
         llvm::equal(permutation.drop_back(2), llvm::seq<int64_t>(0, rank - 2));
}

static SmallVector<int64_t> matrixSwap(int64_t rank) {
  auto permutation = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(permutation[rank - 2], permutation[rank - 1]);
  return permutation;
}

Value gpuopt::nn::permuted(TensorBuilder &b, Value value,
                           ArrayRef<int64_t> permutation) {
  if (llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size())))
    return value;
  if (auto transpose = value.getDefiningOp<TransposeOp>()) {
    SmallVector<int64_t> composed;
    for (int64_t dim : permutation)
      composed.push_back(transpose.getPermutation()[dim]);
    return permuted(b, transpose.getInput(), composed);
  }
  if (auto reshape = value.getDefiningOp<ReshapeOp>();
      regroups(reshape) && swapsMatrix(permutation)) {
    Value input = reshape.getInput();
    SmallVector<int64_t> shape(b.shape(value));
    std::swap(shape[shape.size() - 2], shape.back());
    return reshaped(b, permuted(b, input, matrixSwap(b.type(input).getRank())),
                    shape);
  }
  return b.create<TransposeOp>(value, permutation);
}

/// Returns the value without its multiplication, after the same layout changes.
static Value unscaled(TensorBuilder &b, Value value, Operation *scaling) {
  Operation *op = value.getDefiningOp();
  if (op == scaling)
    return scalingOf(op)->first;
  IRMapping mapping;
  mapping.map(op->getOperand(0), unscaled(b, op->getOperand(0), scaling));
  return b.clone(*op, mapping)->getResult(0);
}

Value gpuopt::nn::arrange(TensorBuilder &b, const AttentionOperand &operand,
                          ArrayRef<int64_t> leading) {
  Value value = operand.scaling ? unscaled(b, operand.value, operand.scaling)
                                : operand.value;
  value = permuted(b, value, operand.permutation);
  SmallVector<int64_t> shape(leading);
  llvm::append_range(shape, matrixOf(value));
  return shape == b.shape(value) ? value : reshaped(b, value, shape);
}
