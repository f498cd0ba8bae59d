//===- Driver.h - The gpuopt command ----------------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DRIVER_DRIVER_H
#define GPUOPT_DRIVER_DRIVER_H

#include "gpuopt/Import/Onnx/ImportOnnx.h"
#include "gpuopt/Pipelines/Pipelines.h"
#include "gpuopt/Target/Cxx/EmitProgram.h"

namespace gpuopt {

/// Which data the trainer is given, by its flags.
struct DataGiven {
  std::vector<std::string> files; ///< INPUT=FILE each.
  std::string labels, tokens, tokenType;

  bool isEmpty() const {
    return files.empty() && labels.empty() && tokens.empty();
  }
};

/// What the user asked for, from the command line.
struct DriverOptions {
  std::string model;     ///< The ONNX file.
  std::string outputDir; ///< Where the program, or the training's results, go.
  std::string target;    ///< host or cuda.
  std::optional<Phase> compileTo; ///< Prints the module there and stops.
  bool tellsNextSteps = false;    ///< How to build and run what was compiled.
  std::string dumpPhasesTo;       ///< A folder for the module after each phase.
  OnnxImportOptions import;
  PipelineOptions pipeline;
  EmissionOptions emission;
  std::vector<std::string> runArguments; ///< For the trainer.
  /// The files that `train` was given, which are checked against the model's
  /// inputs before anything is built.
  DataGiven data, evalData;
  struct {
    bool asJson = false, withCurve = false, withKernels = false,
         findBatchSize = false;
    std::string html; ///< A file for a page; empty: none.
  } plan;
};

/// Each returns the exit status, 0, 1 or (see below) 2 or 3, after having
/// printed what is wrong.
int compileModel(const DriverOptions &options);
/// 3 where training diverged.
int trainModel(const DriverOptions &options);
/// 2 where a memory budget cannot be met.
int planModel(const DriverOptions &options);

/// The command line of `gpuopt`.
int driverMain(int argc, char **argv);

/// What --target=auto stands for on this machine, and why.
struct TargetChoice {
  llvm::StringRef target, reason;
};
TargetChoice chooseTarget();

/// What --memory-budget=auto stands for on this machine, and why.
struct FreeMemory {
  int64_t budgetInBytes = 0;
  std::string description;
};
/// What is free on the device of `target`, host or cuda, now; fails
/// without a driver, or without a GPU.
llvm::Expected<FreeMemory> measureFreeMemory(llvm::StringRef target);

} // namespace gpuopt

#endif // GPUOPT_DRIVER_DRIVER_H
