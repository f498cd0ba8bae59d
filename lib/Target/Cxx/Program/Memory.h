//===- Memory.h - Buffers as constants --------------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_TARGET_CXX_MEMORY_H
#define GPUOPT_LIB_TARGET_CXX_MEMORY_H

#include "Names.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace gpuopt::cxx {

/// Prints the sizes of the allocation and a typed offset for each buffer:
/// state, inputs, outputs and constants, then the arena of each step. Fails,
/// with an error at the buffer, for a type that memory does not hold.
mlir::LogicalResult printMemory(mlir::ModuleOp module,
                                const ProgramNames &names,
                                llvm::raw_ostream &stream);

} // namespace gpuopt::cxx

#endif // GPUOPT_LIB_TARGET_CXX_MEMORY_H
