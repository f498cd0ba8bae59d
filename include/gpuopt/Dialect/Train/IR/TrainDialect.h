//===- TrainDialect.h - The train dialect -----------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_TRAIN_IR_TRAINDIALECT_H
#define GPUOPT_DIALECT_TRAIN_IR_TRAINDIALECT_H

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

/// On a step, what was chosen of its precisions: `summary` for people, and the
/// estimated times `f32_ns`, `chosen_ns` and `autocast_ns`.
constexpr llvm::StringLiteral kPrecisionAttribute = "train.precision";
/// On ops, an array of booleans: which results are to lie in half precision.
constexpr llvm::StringLiteral kHalfResultsAttribute = "train.half_results";
/// On products whose operands are to be in half precision.
constexpr llvm::StringLiteral kHalfProductAttribute = "train.half_product";
/// A module whose memory budget cannot be met has this dictionary:
/// smallest_bytes, that can be met, and lower_limit_bytes, below which none
/// can, of everything or of the arena, as the budget is; persistent, bytes of
/// what lies before the arena, by what it is for; origin and tensors, what is
/// alive where the limit is reached.
constexpr llvm::StringLiteral kUnmetBudgetAttribute = "train.unmet_budget";
/// Tells where the results of an op of a step lie: offsets in the arena in
/// bytes, one per result (-1: in the memory of another) and one for scratch
/// memory; those of train.offload are in the memory of the host.
constexpr llvm::StringLiteral kOffsetsAttribute = "train.offsets";
/// Tells the conversion to the device why work runs again.
constexpr llvm::StringLiteral kRecomputedAttribute = "train.recomputed";

/// What train.recompute and transfers write, so that none are merged or moved.
struct Recomputation : public mlir::SideEffects::Resource::Base<Recomputation> {
  llvm::StringRef getName() final { return "recomputation"; }
};

} // namespace gpuopt::train

#define GET_OP_CLASSES
#include "gpuopt/Dialect/Train/IR/TrainOps.h.inc"

namespace gpuopt::train {

/// `name`, or with a number behind it where the module has a symbol of that
/// name: parameters have the names that the model's author gave them.
std::string freeSymbol(mlir::ModuleOp module, llvm::StringRef name);

/// The parameters and buffers that an op of a step changes.
llvm::SmallVector<mlir::FlatSymbolRefAttr>
variablesWritten(mlir::Operation *op);

} // namespace gpuopt::train

#endif // GPUOPT_DIALECT_TRAIN_IR_TRAINDIALECT_H
