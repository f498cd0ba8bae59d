//===- KernelChoice.h - Kernels within a budget -----------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A budget may change which kernels a program has and what is in half
// precision. Which of them pay depends on the schedule, and that on them, so
// the program is planned before it is compiled: without the budget, which tells
// what the budget costs, and then with it.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_COMMANDS_KERNELCHOICE_H
#define GPUOPT_LIB_DRIVER_COMMANDS_KERNELCHOICE_H

#include "gpuopt/Analysis/Costs/StepEstimate.h"
#include "gpuopt/Driver/Driver.h"
#include "mlir/IR/BuiltinOps.h"

namespace gpuopt {

struct KernelChoice {
  PipelineOptions options; ///< Of all phases before the schedule.
  /// The step without a budget; nothing if a budget changes neither kernels nor
  /// precisions.
  std::optional<StepEstimate> withoutBudget;
};

/// Chooses the kernels of a module that has passed the phase `train`; the
/// module stays as it is. Where the program without a budget is within the
/// budget, its kernels are chosen, so that a budget that does not bind changes
/// nothing. Else GELUs that the schedule does not compute again are epilogues
/// of their products, where that makes the step faster. Fails in silence: the
/// compilation reports the errors.
KernelChoice chooseKernels(mlir::ModuleOp module, const DriverOptions &options,
                           const PipelineOptions &pipeline);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_COMMANDS_KERNELCHOICE_H
