//===- TrainDialect.h - The train dialect -----------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_TRAIN_IR_TRAINDIALECT_H
#define GPUOPT_DIALECT_TRAIN_IR_TRAINDIALECT_H

#include "gpuopt/Interfaces/CostOpInterface.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "gpuopt/Dialect/Train/IR/TrainEnums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "gpuopt/Dialect/Train/IR/TrainTypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "gpuopt/Dialect/Train/IR/TrainAttributes.h.inc"
// The dialect names attributes of the types above.
#include "gpuopt/Dialect/Train/IR/TrainDialect.h.inc"

namespace gpuopt::train {

/// The names of attributes that ops may have; TrainEnums.td describes them.
inline constexpr llvm::StringLiteral
    kHalfTypeAttribute = TrainDialect::HalfTypeAttrHelper::getNameStr(),
    kHalfResultsAttribute = TrainDialect::HalfResultsAttrHelper::getNameStr(),
    kHalfProductAttribute = TrainDialect::HalfProductAttrHelper::getNameStr(),
    kOffsetsAttribute = TrainDialect::OffsetsAttrHelper::getNameStr(),
    kRecomputedAttribute = TrainDialect::RecomputedAttrHelper::getNameStr();

/// The resource that train.recompute and transfers write, so that none of them
/// is merged or moved.
struct Recomputation : public mlir::SideEffects::Resource::Base<Recomputation> {
  llvm::StringRef getName() final { return "recomputation"; }
};

} // namespace gpuopt::train

#define GET_OP_CLASSES
#include "gpuopt/Dialect/Train/IR/TrainOps.h.inc"

namespace gpuopt::train {

/// Returns `name`, with a number after it if the module has a symbol of that
/// name. Parameters have the names that the author of the model gave them, so
/// any name may be taken.
std::string freeSymbol(mlir::ModuleOp module, llvm::StringRef name);

/// Returns the parameters and buffers that an op of a step changes.
llvm::SmallVector<mlir::FlatSymbolRefAttr>
variablesWritten(mlir::Operation *op);

} // namespace gpuopt::train

#endif // GPUOPT_DIALECT_TRAIN_IR_TRAINDIALECT_H
