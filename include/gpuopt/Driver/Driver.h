//===- Driver.h - The gpuopt command ----------------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DRIVER_DRIVER_H
#define GPUOPT_DRIVER_DRIVER_H

#include "gpuopt/Driver/Runs.h"
#include "gpuopt/Import/Onnx/ImportOnnx.h"
#include "gpuopt/Pipelines/Pipelines.h"
#include "gpuopt/Target/Cxx/EmitProgram.h"
#include "gpuopt/settings/target_table.h"

namespace gpuopt {

/// The data that the flags of `train` name.
struct DataGiven {
  std::vector<std::string> files; ///< Each is INPUT=FILE.
  std::string labels, tokens, tokenType, transform;
  bool skipsBadRecords = false;
  double mixup = 0, cutmix = 0;
  /// The transform of training, which that of validations follows from. Data of
  /// training have none.
  std::string trainingTransform;
  /// The --eval-transform of a run without validations, which is only checked.
  std::string evalTransform;

  bool isEmpty() const {
    return files.empty() && labels.empty() && tokens.empty();
  }
};

/// The options that the command line asks for.
struct DriverOptions {
  std::vector<std::string> commandLine; ///< As it was given.
  std::string model;                    ///< The ONNX file.
  std::string outputDir; ///< Where the program, or the training's results, go.
  const TargetInfo *target = nullptr; ///< What the program is built for.
  /// The phase after which the module is printed and the compilation stops.
  std::optional<Phase> compileTo;
  /// Whether to print what was compiled, and how it is built and run.
  bool tellsNextSteps = false;
  std::string dumpPhasesTo; ///< A folder for the module after each phase.
  OnnxImportOptions import;
  PipelineOptions pipeline;
  EmissionOptions emission;
  std::vector<std::string> runArguments; ///< The flags for the program.
  /// The files that `train` or `predict` was given, which are checked against
  /// the model's inputs before anything is built.
  DataGiven data, evalData;
  struct {
    bool asJson = false, withCurve = false, withKernels = false,
         findBatchSize = false;
    std::string html; ///< The file for a page; empty: no page.
    /// The file for what is alive at each op; empty: none.
    std::string memoryTimeline;
  } plan;
  /// Where the results of `train` go, in which its program lies; empty for the
  /// other commands.
  std::string resultsDir;
  /// The weights for `predict`; empty for those in the model.
  std::string weights;
  /// Whether `model` was found in the folder of a run and not given.
  bool findsModel = false;
};

/// The options of `gpuopt calibrate`.
struct CalibrateOptions {
  const TargetInfo *target = nullptr; ///< Whose device is measured.
  std::string file;   ///< Where the device goes; empty: into the cache.
  bool force = false; ///< Whether rates count that were disturbed.
};

/// The options of `gpuopt export`.
struct ExportOptions {
  /// A folder with weights, of results or a checkpoint; or an ONNX file.
  std::string run;
  std::string file;  ///< The ONNX file to write.
  std::string model; ///< The ONNX file that was trained; empty: as compiled.
  bool averages = false; ///< Whether averages of the weights are taken.
  std::string adapter;   ///< A folder of PEFT's; empty: none.
};

/// The options of `gpuopt doctor`.
struct DoctorOptions {
  std::vector<const TargetInfo *> targets; ///< Those to look at.
  std::vector<const TargetInfo *> needed;  ///< Those that must be usable.
  bool trains = true; ///< Whether to train a small model for each.
};

/// Each of these prints what is wrong and returns the exit status: 0, 1 or,
/// where its comment says so, 2 or 3.
int compileModel(const DriverOptions &options);
/// Returns 3 where training diverged.
int trainModel(const DriverOptions &options);
/// Runs the forward of a model on data, and writes what its outputs are.
int predictModel(const DriverOptions &options);
/// Returns 2 where a memory budget cannot be met.
int planModel(const DriverOptions &options);

/// Measures the device of this machine and writes a file for --device. Where
/// something else kept the device busy, it returns 2 and writes nothing.
int calibrateDevice(const CalibrateOptions &options);

/// Writes the ONNX file of a model with the weights that a training has saved.
int exportModel(const ExportOptions &options);

/// Writes the tokens of text files, through the Python package, which reads
/// `arguments`. Returns only if it cannot be run.
int tokenizeText(llvm::ArrayRef<std::string> arguments);

/// Prints what of all that gpuopt uses is there, its versions, and how to get
/// what is missing. Returns 1 if a target that is needed cannot be used.
int examineInstallation(const DoctorOptions &options);

/// Runs the command line of `gpuopt`; returns its exit status.
int driverMain(int argc, char **argv);

/// The target that --target=auto stands for on this machine, and why.
struct TargetChoice {
  llvm::StringRef target;
  std::string reason;
};
TargetChoice chooseTarget();

/// The budget that --memory-budget=auto stands for on this machine, and why.
struct FreeMemory {
  int64_t budgetInBytes = 0;
  std::string description;
};
/// Measures how much memory is free now where a program for `target` runs.
/// Fails where that cannot be read: without a CUDA driver or without a GPU, for
/// example.
llvm::Expected<FreeMemory> measureFreeMemory(const TargetInfo &target);

} // namespace gpuopt

#endif // GPUOPT_DRIVER_DRIVER_H
