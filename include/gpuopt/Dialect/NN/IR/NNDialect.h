//===- NNDialect.h - The nn dialect -----------------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_NN_IR_NNDIALECT_H
#define GPUOPT_DIALECT_NN_IR_NNDIALECT_H

#include "gpuopt/Interfaces/CostOpInterface.h"
#include "gpuopt/Interfaces/DifferentiableOpInterface.h"
#include "gpuopt/Interfaces/EvaluationFormOpInterface.h"
#include "gpuopt/Interfaces/RuntimeCallOpInterface.h"
#include "gpuopt/Interfaces/ViewTrait.h"
#include "gpuopt/Support/Origin.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "gpuopt/Dialect/NN/IR/NNEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "gpuopt/Dialect/NN/IR/NNAttributes.h.inc"
// The dialect names attributes of the types above.
#include "gpuopt/Dialect/NN/IR/NNDialect.h.inc"
#define GET_OP_CLASSES
#include "gpuopt/Dialect/NN/IR/NNOps.h.inc"

#endif // GPUOPT_DIALECT_NN_IR_NNDIALECT_H
