//===- PhaseMemory.h - What is alive in each part of a step -----*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_REPORT_PHASEMEMORY_H
#define GPUOPT_LIB_DRIVER_REPORT_PHASEMEMORY_H

#include "gpuopt/Target/Cxx/EmitProgram.h"
#include "mlir/IR/BuiltinOps.h"
#include <map>

namespace gpuopt {

/// Where the parts of a step begin, in time points of its buffers' lifetimes.
struct StepParts {
  bool isUpdate = false, isEvaluation = false; ///< The whole step is.
  int64_t backward = 0, update = 0;            ///< Of a micro step.
};

/// Finds the parts of all steps, by the names of the steps. The module is at
/// the end of the phase Memory: lifetimes count these ops.
std::map<std::string, StepParts> partsOfSteps(mlir::ModuleOp module);

/// Returns the most bytes of the arena that are alive at once in each part. The
/// module is at the end of the phase Device.
AliveBytes aliveInParts(mlir::ModuleOp module,
                        const std::map<std::string, StepParts> &steps);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_REPORT_PHASEMEMORY_H
