//===- NNDialect.cpp - The nn dialect -------------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/NN/IR/NNDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace gpuopt::nn;

#include "gpuopt/Dialect/NN/IR/NNDialect.cpp.inc"
#include "gpuopt/Dialect/NN/IR/NNEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "gpuopt/Dialect/NN/IR/NNAttributes.cpp.inc"

void NNDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "gpuopt/Dialect/NN/IR/NNAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "gpuopt/Dialect/NN/IR/NNOps.cpp.inc"
      >();
}

Operation *NNDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                          Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

#define GET_OP_CLASSES
#include "gpuopt/Dialect/NN/IR/NNOps.cpp.inc"

LogicalResult FusedOp::verify() {
  Block &block = getBody().front();
  auto yield =
      dyn_cast_or_null<YieldOp>(block.empty() ? nullptr : &block.back());
  if (!yield || block.getArgumentTypes() != getInputs().getTypes() ||
      yield.getValues().getTypes() != getResultTypes()) // (C1)
    return emitOpError("expects a body with the operands' types as arguments "
                       "that yields the results' types");
  ReduceOp first;
  for (ReduceOp reduce : block.getOps<ReduceOp>()) { // (C2)
    first = first ? first : reduce;
    bool same = reduce.getDims() == first.getDims() &&
                cast<ShapedType>(reduce.getInput().getType()).getShape() ==
                    cast<ShapedType>(first.getInput().getType()).getShape();
    if (!same)
      return reduce
                 .emitOpError("expects the shape and dimensions of the other "
                              "reductions in 'nn.fused'")
                 .attachNote(first.getLoc())
             << "the first one is here";
  }
  return success();
}
