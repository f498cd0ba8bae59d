//===- FastFunctions.h - Functions that may be approximate ------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A GPU computes some functions in few instructions if their error may be
// larger than a few units in the last place. That is so where an argument comes
// from half precision, whose rounding has moved the result by much more.
// Programs in fp32 have no such function. It also divides in few instructions
// by what is known not to be nearly zero.
//
// What is allowed depends on the operands and on the users of an op. A kernel
// that computes one result again has fewer of both, but must have the same
// bits. So kernels-mark-fast-math asks once, before the schedule, and marks the
// ops; all that comes later reads the marks alone.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_KERNELS_FASTFUNCTIONS_H
#define GPUOPT_ANALYSIS_KERNELS_FASTFUNCTIONS_H

#include "mlir/IR/Operation.h"

namespace gpuopt {

/// Whether `op`, in the body of a kernel, may be the runtime's fast function:
///
///   exp(x - shift), where x is a number of half precision. The error grows
///   with the argument, as the one that x has by its rounding does.
///
///   tanh(x), where x depends on a number of half precision and the result t
///   is only asked for 1 + t and 1 - t t, as in a GELU and its derivative. The
///   error, which elementary_cuda.h bounds, may be all of a t that is nearly 0.
bool allowsFastFunction(mlir::Operation *op);

/// Marks `op` by fastmath<afn> if it may be a fast function, and by
/// fastmath<arcp> if it divides by a normal number. Returns whether it is
/// marked now and was not before.
bool markFastMath(mlir::Operation *op);

/// Whether `op` is marked as a fast function or division.
bool isFast(mlir::Operation *op);

/// Returns the instructions of a lane for an op that is marked so.
double fastInstructionsOf(mlir::Operation *op);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_KERNELS_FASTFUNCTIONS_H
