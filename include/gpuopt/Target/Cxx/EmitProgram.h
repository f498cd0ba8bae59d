//===- EmitProgram.h - The device dialect as source -------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_TARGET_CXX_EMITPROGRAM_H
#define GPUOPT_TARGET_CXX_EMITPROGRAM_H

#include "mlir/IR/BuiltinOps.h"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gpuopt {

/// What the emitted program does unless its user tells it otherwise: the
/// fields of the runtime's Hyperparameters and Program, by their names there.
struct EmissionOptions {
  std::string modelName = "model";
  std::string schedule =
      "linear"; ///< linear, cosine, constant, constant_with_warmup
  double learningRate = 5e-5, weightDecay = 0, momentum = 0;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, maxGradNorm = 1;
  double warmupRatio = 0, trainEpochs = 3;
  int64_t warmupSteps = 0, maxSteps = -1, accumulationSteps = 1;
  bool nesterov = false;
  bool allowsTf32 = false;
  /// Of programs that scale their loss; torch.amp.GradScaler's names.
  bool hasDynamicLossScale = true;
  double initScale = 65536, growthFactor = 2, backoffFactor = 0.5,
         minLossScale = 1;
  int64_t growthInterval = 2000;
  uint64_t seed = 42;
};

/// What decides which flags a trainer takes.
struct TrainerFeatures {
  bool hasAdam = true, hasMomentum = false, scalesLoss = false;
};

/// Comments around the lines of step.cu that only say what the trainer's flags
/// are unless given: programs that differ in nothing else are one executable.
constexpr llvm::StringLiteral kFlagDefaultsBegin =
    "  // What flags of the trainer are unless given.\n";
constexpr llvm::StringLiteral kFlagDefaultsEnd = "  // Until here.\n";

/// The flags by which a trainer does what the lines between those comments
/// say, whichever its own are.
std::vector<std::string> flagsOfDefaults(const EmissionOptions &options,
                                         const TrainerFeatures &features);

/// Files of an emitted program by name: step.cu, step.h, main.cpp, plan.json.
using ProgramFiles = std::map<std::string, std::string>;

/// Prints a module of the device dialect. The same module gives the same
/// bytes. Fails, with an error at the op, where an op has no C++ form.
mlir::FailureOr<ProgramFiles> emitProgram(mlir::ModuleOp module,
                                          const EmissionOptions &options);

/// Registers `--device-to-cxx`, which prints step.cu with default options.
void registerCxxTranslation();

} // namespace gpuopt

#endif // GPUOPT_TARGET_CXX_EMITPROGRAM_H
