//===- NNDialect.cpp - The nn dialect ---------------------------------------===//
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

Operation *NNDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

#define GET_OP_CLASSES
#include "gpuopt/Dialect/NN/IR/NNOps.cpp.inc"
