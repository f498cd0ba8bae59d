//===- Tables.h - What the trainer knows of a program -----------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_TARGET_CXX_TABLES_H
#define GPUOPT_LIB_TARGET_CXX_TABLES_H

#include "Names.h"
#include "gpuopt/Target/Cxx/EmitProgram.h"
#include "llvm/Support/raw_ostream.h"
#include <vector>

namespace gpuopt::cxx {

/// A field of the runtime's Program, the function that is its value, and
/// whether its calls can be timed: calls.h has tables of them then.
struct StepFunction {
  std::string field, function;
  bool isTimed = false;
};

/// Returns what decides which flags the trainer takes.
ProgramKind kindOf(mlir::ModuleOp module);

/// Returns the file with the values that the trainer's flags have if they are
/// not given.
std::string defaultsFile(mlir::ModuleOp module,
                         const TrainingSettings &settings);

/// Prints the tables of the runtime's program.h to `tables`, and the function
/// program(), which names them, to `stream`.
mlir::LogicalResult
printTables(mlir::ModuleOp module, const EmissionOptions &options,
            const ProgramNames &names, llvm::ArrayRef<StepFunction> functions,
            llvm::raw_ostream &tables, llvm::raw_ostream &stream);

} // namespace gpuopt::cxx

#endif // GPUOPT_LIB_TARGET_CXX_TABLES_H
