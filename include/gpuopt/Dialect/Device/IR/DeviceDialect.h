//===- DeviceDialect.h - The device dialect ---------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_DEVICE_IR_DEVICEDIALECT_H
#define GPUOPT_DIALECT_DEVICE_IR_DEVICEDIALECT_H

#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "gpuopt/Support/TensorSize.h"
#include "gpuopt/settings/limits.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <optional>
#include <string>
#include <variant>

#include "gpuopt/Dialect/Device/IR/DeviceDialect.h.inc"
#include "gpuopt/Dialect/Device/IR/DeviceEnums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "gpuopt/Dialect/Device/IR/DeviceTypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "gpuopt/Dialect/Device/IR/DeviceAttributes.h.inc"

namespace gpuopt::device {
/// The kinds of memory that a step is planned in, one of which a buffer has.
using train::BufferKind;

/// The variables of a step that its calls may be passed beside its memory: the
/// step's scalars, the hyperparameters, and the memory on the host.
struct StepVariables {
  bool state = false, hyper = false, host = false;
};
/// An argument of a call that an op of a step is printed as.
struct PrintedArgument {
  struct State {}; ///< The step's scalars.
  struct Bytes {   ///< The size of `count` elements.
    int64_t count;
    mlir::Type element;
  };

  PrintedArgument(std::string text) : value(std::move(text)) {}
  PrintedArgument(const char *text) : value(std::string(text)) {}
  PrintedArgument(int64_t number) : value(std::to_string(number)) {}
  /// Where a tensor begins; null for none.
  PrintedArgument(mlir::Value pointer) : value(pointer) {}
  PrintedArgument(State state) : value(state) {}
  PrintedArgument(Bytes bytes) : value(bytes) {}

  std::variant<std::string, mlir::Value, State, Bytes> value;
};

/// A call of the runtime, function(ctx, arguments...).
struct PrintedCall {
  std::string function;
  llvm::SmallVector<PrintedArgument> arguments;
};

/// Returns the variables that a call is passed: the state if it is an argument,
/// and the memory on the host if a tensor lies there.
StepVariables variablesOf(const std::optional<PrintedCall> &call,
                          const mlir::SymbolTable &symbols);

/// The table that calls on many tensors are printed as, and the one call that
/// gets it.
struct MultiTensorTable {
  std::string function;
  std::string name;
  /// The struct of the runtime that a row is, and its template arguments.
  std::string row;
  llvm::SmallVector<mlir::Type> elementTypes;
  std::optional<size_t> count;
  std::string comment;
  bool isOneLaunch = true; ///< Else the call works on one row after the other.
  bool takesState = true;
};

/// A row of such a table.
struct MultiTensorRow {
  struct Tensor { ///< Where a tensor begins; null for none.
    mlir::Value pointer;
    bool isHalf = false;
  };
  using Cell =
      std::variant<std::string, Tensor, llvm::SmallVector<mlir::Value>>;
  mlir::Value named; ///< The tensor whose name stands behind the row.
  llvm::SmallVector<Cell> cells;
};
} // namespace gpuopt::device

#include "gpuopt/Dialect/Device/IR/DeviceInterfaces.h.inc"
#define GET_OP_CLASSES
#include "gpuopt/Dialect/Device/IR/DeviceOps.h.inc"

namespace gpuopt::device {

/// The names of attributes that ops may have; DeviceDialect.td describes them.
inline constexpr llvm::StringLiteral
    kLanesAttribute = DeviceDialect::LanesAttrHelper::getNameStr(),
    kCostKeyAttribute = DeviceDialect::CostKeyAttrHelper::getNameStr(),
    kIterationsAttribute = DeviceDialect::IterationsAttrHelper::getNameStr(),
    kRecomputedAttribute = DeviceDialect::RecomputedAttrHelper::getNameStr();

/// The names that say in an iteration of a device.repeat whether it makes a
/// call that not all iterations make.
inline constexpr llvm::StringLiteral kMakes = "makes", kSkips = "skips";

/// Returns the attribute that a call in a device.repeat has in an iteration
/// instead of an attribute of its own; null if there is none, or if all
/// iterations have the same.
mlir::Attribute attributeInIteration(mlir::Operation *call, unsigned iteration,
                                     llvm::StringRef name);
/// Returns whether some iteration of a call has an attribute of that name.
bool differsByIteration(mlir::Operation *call, llvm::StringRef name);

/// Returns the name of the condition under which an iteration of a
/// device.repeat makes a call; empty if all iterations make it.
llvm::StringRef conditionOf(mlir::Operation *call);
/// Whether an iteration of a device.repeat makes a call.
bool isMade(mlir::Operation *call, unsigned iteration);

/// Whether an attribute says where a call comes from, and so may differ from
/// iteration to iteration.
bool namesOrigin(llvm::StringRef attribute);

/// Returns where a cell of a device.repeat begins: a whole buffer at element 0.
SliceAttr sliceOf(mlir::Attribute cell);
/// Returns the cell for a slice: the buffer alone if it begins with it.
mlir::Attribute cellOf(SliceAttr slice);

/// The name of the attribute that says under which heading an op of a step is
/// printed.
inline constexpr llvm::StringLiteral kSectionAttribute = "section";
/// Returns the section of an op of a step in words, "forward"; empty where the
/// op has none.
llvm::StringRef sectionOf(mlir::Operation *op);

/// Returns what a call of a step runs, for tables of calls: the name of its
/// kernel, or of its function with the constant that is passed to it, as
/// "gemm kGemm64x10x32".
std::string nameOfWork(mlir::Operation *call);

using gpuopt::sizeInBytes;

} // namespace gpuopt::device

#endif // GPUOPT_DIALECT_DEVICE_IR_DEVICEDIALECT_H
