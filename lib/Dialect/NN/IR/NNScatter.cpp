//===- NNScatter.cpp - Rows that are combined by index, and orders --------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/NN/IR/TensorBuilder.h"
#include "gpuopt/Support/TensorType.h"
#include "gpuopt/settings/scatter_layout.h"

#include <cmath>

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

/// Whether the runtime's calls compute with these elements.
static bool isNumber(Type element) {
  unsigned width = element.getIntOrFloatBitWidth();
  return width == 32 || width == 64 || element.isF16() || element.isBF16();
}

//===----------------------------------------------------------------------===//
// Scatter
//===----------------------------------------------------------------------===//

LogicalResult ScatterOp::inferReturnTypes(MLIRContext *context,
                                          std::optional<Location> loc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  RankedTensorType table = tensorType(adaptor.getTable()),
                   updates = tensorType(adaptor.getUpdates()),
                   indices = tensorType(adaptor.getIndices());
  if (table.getRank() < 1 || !isNumber(table.getElementType())) // (C1)
    return emitOptionalError(loc,
                             "'nn.scatter' op expects a table of rank at least "
                             "1, of numbers of 32 or 64 bits or in half "
                             "precision, but got ",
                             table);
  SmallVector<int64_t> shape(indices.getShape());
  llvm::append_range(shape, table.getShape().drop_front());
  if (updates != table.clone(shape)) // (C2)
    return emitOptionalError(loc, "'nn.scatter' op expects updates of type ",
                             table.clone(shape), ", but got ", updates);
  types.push_back(table);
  return success();
}

double ScatterOp::getFloatingPointOperations() {
  return tensorType(getUpdates()).getNumElements();
}

PrecisionRole ScatterOp::getPrecisionRole() { return PrecisionRole::Uniform; }

int64_t ScatterOp::getRequiredWorkspaceInBytes() {
  return ScatterLayout(tensorType(getTable()).getDimSize(0),
                       tensorType(getIndices()).getNumElements(),
                       /*columns=*/0, /*bytes_of_sum=*/0)
      .bytes;
}
int64_t ScatterOp::getWorkspaceInBytes() {
  return getRequiredWorkspaceInBytes();
}

static StringRef functionOf(ReductionKind kind) {
  switch (kind) {
  case ReductionKind::Sum:
    return "scatter_sum_rows";
  case ReductionKind::Max:
    return "scatter_max_rows";
  case ReductionKind::Min:
    return "scatter_min_rows";
  case ReductionKind::Prod:
    return "scatter_product_rows";
  }
  return "";
}

RuntimeCall ScatterOp::getCall(const CallLayouts &) {
  RankedTensorType table = tensorType(getTable());
  int64_t rows = table.getDimSize(0);
  RuntimeCall call(functionOf(getKind()), "gpuopt/ops/scatter_reduce.h");
  call.pass(getIndices());
  call.passInteger(tensorType(getIndices()).getNumElements());
  call.pass(getUpdates());
  call.pass(getTable());
  call.passInteger(rows);
  call.passInteger(rows ? table.getNumElements() / rows : 0);
  call.pass(getResult());
  return call;
}

namespace {

/// Builds the gradients of a scatter from `dy`, that of its result. Those of
/// the table and the updates follow one formula: `sum` adds what rows of the
/// table and the updates that go there have, and `at` gives each update what
/// its row has.
class ScatterGradient {
public:
  ScatterGradient(TensorBuilder &b, ScatterOp op, Value dy)
      : b(b), op(op), dy(dy), type(b.type(op.getTable())) {}

  Value at(Value rows) { return b.create<TakeOp>(rows, op.getIndices()); }
  Value sum(Value ofTable, Value ofUpdates) {
    Value added = b.create<ScatterAddOp>(
        ofUpdates, op.getIndices(), type.getDimSize(0), Value(), TypeAttr());
    return b.add(ofTable, added);
  }

  /// Equal extremes share the gradient evenly, as in PyTorch's scatter_reduce.
  std::pair<Value, Value> ofExtreme() {
    auto equals = [&](Value x, Value extreme) {
      return b.toFloat(b.compare(arith::CmpFPredicate::OEQ, x, extreme),
                       type.getElementType());
    };
    Value inTable = equals(op.getTable(), op.getResult());
    Value inUpdates = equals(op.getUpdates(), at(op.getResult()));
    Value share = b.div(dy, sum(inTable, inUpdates));
    return {b.mul(inTable, share), b.mul(inUpdates, at(share))};
  }

  /// The slope is the product of all other factors: the product of those that
  /// are not 0, without this one, unless another one is 0.
  std::pair<Value, Value> ofProduct() {
    auto isZero = [&](Value x) {
      return b.compare(arith::CmpFPredicate::OEQ, x, b.splat(0, b.type(x)));
    };
    auto nonzero = [&](Value x) {
      return b.select(isZero(x), b.splat(1, b.type(x)), x);
    };
    auto zero = [&](Value x) {
      return b.toFloat(isZero(x), type.getElementType());
    };
    Value table = op.getTable(), updates = op.getUpdates();
    Value product = b.create<ScatterOp>(ReductionKind::Prod, nonzero(table),
                                        nonzero(updates), op.getIndices());
    Value zeros = sum(zero(table), zero(updates));
    auto slope = [&](Value x, Value product, Value zeros, Value dy) {
      Value none = b.splat(0, b.type(x));
      Value isOnly =
          b.compare(arith::CmpFPredicate::OEQ, b.sub(zeros, zero(x)), none);
      Value others = b.div(product, nonzero(x));
      return b.mul(dy, b.select(isOnly, others, none));
    };
    return {slope(table, product, zeros, dy),
            slope(updates, at(product), at(zeros), at(dy))};
  }

private:
  TensorBuilder &b;
  ScatterOp op;
  Value dy;
  RankedTensorType type;
};

} // namespace

void ScatterOp::buildVjp(OpBuilder &builder, ArrayRef<Value> gradients,
                         ArrayRef<bool> wanted, MutableArrayRef<Value> result) {
  TensorBuilder b(getLoc(), builder);
  ScatterGradient gradient(b, *this, gradients[0]);
  switch (getKind()) {
  case ReductionKind::Sum:
    result[0] = gradients[0];
    if (wanted[1])
      result[1] = gradient.at(gradients[0]);
    return;
  case ReductionKind::Max:
  case ReductionKind::Min:
    std::tie(result[0], result[1]) = gradient.ofExtreme();
    return;
  case ReductionKind::Prod:
    std::tie(result[0], result[1]) = gradient.ofProduct();
    return;
  }
}

//===----------------------------------------------------------------------===//
// Argsort
//===----------------------------------------------------------------------===//

LogicalResult ArgsortOp::inferReturnTypes(MLIRContext *context,
                                          std::optional<Location> loc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  RankedTensorType input = tensorType(adaptor.getInput());
  if (input.getRank() < 1 || !isNumber(input.getElementType())) // (C1)
    return emitOptionalError(loc,
                             "'nn.argsort' op expects an operand of rank at "
                             "least 1, of numbers of 32 or 64 bits or in half "
                             "precision, but got ",
                             input);
  types.push_back(input.clone(IntegerType::get(context, 64)));
  return success();
}

/// A comparison for each element at each level of a sort.
double ArgsortOp::getFloatingPointOperations() {
  RankedTensorType type = tensorType(getInput());
  return type.getNumElements() *
         std::log2(1.0 + std::max<int64_t>(type.getShape().back(), 1));
}

PrecisionRole ArgsortOp::getPrecisionRole() { return PrecisionRole::Uniform; }

RuntimeCall ArgsortOp::getCall(const CallLayouts &) {
  RankedTensorType type = tensorType(getInput());
  int64_t columns = type.getShape().back();
  RuntimeCall call("argsort", "gpuopt/ops/argsort.h");
  call.passInteger(columns ? type.getNumElements() / columns : 0);
  call.passInteger(columns);
  call.pass(getInput());
  call.pass(getResult());
  call.passInteger(getDescending(), "descending");
  return call;
}
