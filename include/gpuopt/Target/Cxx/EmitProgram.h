//===- EmitProgram.h - The device dialect as source -------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_TARGET_CXX_EMITPROGRAM_H
#define GPUOPT_TARGET_CXX_EMITPROGRAM_H

#include "gpuopt/settings/settings_table.h"
#include "mlir/IR/BuiltinOps.h"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gpuopt {

/// What the module does not say of the program.
struct EmissionOptions {
  std::string modelName = "model";
  int64_t accumulationSteps = 1;
  bool allowsTf32 = false;
  size_t linesPerFile = 1000;      ///< Of kernels; more are files of their own.
  unsigned callsPerFunction = 400; ///< More are several functions.
  TrainingSettings settings;       ///< Unless its user tells it otherwise.
};

/// The file of a program that only says what the trainer's flags are unless
/// given: programs that differ in nothing else are one executable.
constexpr llvm::StringLiteral kDefaultsFile = "defaults.h";

/// The flags by which a trainer does what that file says, whichever its own is.
std::vector<std::string> defaultFlags(const TrainingSettings &settings,
                                      const ProgramKind &kind);

/// Files of an emitted program by name: step.cu and the headers that it
/// includes, main.cpp, sources.cmake, plan.json.
using ProgramFiles = std::map<std::string, std::string>;

/// Prints a module of the device dialect. The same module gives the same
/// bytes. Fails, with an error at the op, where an op has no C++ form.
mlir::FailureOr<ProgramFiles> emitProgram(mlir::ModuleOp module,
                                          const EmissionOptions &options);

/// Registers `--device-to-cxx`, which prints the sources that depend on the
/// module.
void registerCxxTranslation();

} // namespace gpuopt

#endif // GPUOPT_TARGET_CXX_EMITPROGRAM_H
