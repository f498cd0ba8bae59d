//===- LaneInstructions.h - What ops cost a lane of a GPU -------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel that is bound by neither memory nor latency is bound by the
// instructions that its lanes issue. Floating-point operations say little of
// them: a tanh is one function and some fifty instructions, and a conversion is
// an instruction and no operation.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_INTERFACES_LANEINSTRUCTIONS_H
#define GPUOPT_INTERFACES_LANEINSTRUCTIONS_H

#include "mlir/IR/Operation.h"

namespace gpuopt {

/// Returns the instructions that a lane of a GPU issues for one element of an
/// op in the body of a kernel: of its result, or of a reduction of its input.
/// Loads and stores are not counted here, but what an element is widened from
/// or narrowed to is.
double laneInstructionsPerElement(mlir::Operation *op);

} // namespace gpuopt

#endif // GPUOPT_INTERFACES_LANEINSTRUCTIONS_H
