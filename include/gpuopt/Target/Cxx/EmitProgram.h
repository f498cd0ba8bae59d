//===- EmitProgram.h - The device dialect as source -------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_TARGET_CXX_EMITPROGRAM_H
#define GPUOPT_TARGET_CXX_EMITPROGRAM_H

#include "gpuopt/Target/Cxx/PlanVersion.h"
#include "gpuopt/settings/flag_rules.h"
#include "gpuopt/settings/loss_terms.h"
#include "mlir/IR/BuiltinOps.h"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gpuopt {

/// What one execution of an op asks of the device.
struct WorkEstimate {
  double bytes = 0;      ///< Read and written.
  double operations = 0; ///< In floating point.
  /// The least time that the device could take for it.
  double limitNanoseconds = 0;
};

/// The most bytes of the arena that are alive at once in each part of a step; 0
/// if it is not known.
struct AliveBytes {
  int64_t forward = 0, backward = 0, update = 0, evaluation = 0;
};

/// Estimates of one run of a step whose work runs once.
struct StepTime {
  double nanoseconds = 0;
  /// The time of the program that is compiled without a budget, which may have
  /// other kernels and precisions.
  double nanosecondsWithoutBudget = 0;
};

/// Options of a program that the module does not have.
struct EmissionOptions {
  std::string modelName = "model";
  std::string modelHash; ///< Tells the model from others; may be empty.
  /// The same without the sizes of the model's inputs, which predictions may
  /// change; may be empty.
  std::string graphHash;
  /// The flags of the compiler that decide what a step computes, as "loss=mse".
  std::vector<std::string> compiled;
  /// What an evaluation measures, by the names of --eval-metrics.
  std::vector<std::string> evalMetrics;
  /// The losses whose sum is minimised, if there are several.
  std::vector<LossTerm> losses;
  int64_t accumulationSteps = 1;
  bool allowsTf32 = false;
  /// By the work of a CostKey. What is not in it has zeros in calls.h.
  std::map<std::string, WorkEstimate> works;
  std::string limitsDevice; ///< The device whose limits those are.
  AliveBytes alive;
  std::map<std::string, StepTime> stepTimes; ///< By the step's name.
  size_t linesPerFile = 1000; ///< Kernels with more get files of their own.
  unsigned callsPerFunction = 400; ///< More are split into several functions.
  TrainingSettings settings;       ///< The defaults of the trainer's flags.
};

/// The executables that a program builds: one that trains or, of a program that
/// computes the forward alone, one that predicts.
constexpr llvm::StringLiteral kTrainerExecutable = "trainer";
constexpr llvm::StringLiteral kPredictorExecutable = "predict";

/// The file of a program that holds only the defaults of the trainer's flags.
/// Programs that differ only in this file share one executable.
constexpr llvm::StringLiteral kDefaultsFile = "defaults.h";

/// Returns the flags that make any trainer behave as the defaults of `settings`
/// would.
std::vector<std::string> defaultFlags(const TrainingSettings &settings,
                                      const ProgramKind &kind);

/// The files of an emitted program by name: step.cu and the headers that it
/// includes, main.cpp, sources.cmake, plan.json.
using ProgramFiles = std::map<std::string, std::string>;

/// Prints a module of the device dialect. The same module gives the same bytes.
/// Fails, with an error at the op, if an op has no C++ form.
mlir::FailureOr<ProgramFiles> emitProgram(mlir::ModuleOp module,
                                          const EmissionOptions &options);

/// Registers `--device-to-cxx`, which prints the sources that depend on the
/// module.
void registerCxxTranslation();

} // namespace gpuopt

#endif // GPUOPT_TARGET_CXX_EMITPROGRAM_H
