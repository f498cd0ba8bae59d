//===- StepComments.h - What a step says of its buffers ---------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_TARGET_CXX_STEPCOMMENTS_H
#define GPUOPT_LIB_TARGET_CXX_STEPCOMMENTS_H

#include "Names.h"
#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace gpuopt::cxx {

/// Prints comments of a step on what the names of its buffers do not say.
class StepComments {
public:
  StepComments(ProgramNames &names, const mlir::SymbolTable &symbols)
      : names(names), symbols(symbols) {}

  /// Says before the first call on a weight that the model has under several
  /// names which ones they are, and before a call by which a gradient takes the
  /// place of a tensor of the forward that it does.
  void print(mlir::Operation *call, llvm::raw_ostream &stream, size_t indent);
  /// Says before the first loop over layers why a layer may stand outside.
  void printWhyLayers(device::RepeatOp repeat, llvm::raw_ostream &stream,
                      size_t indent);

private:
  void printTied(device::AddressOp address, llvm::raw_ostream &stream,
                 size_t indent);
  void printInPlace(device::LaunchOp launch, llvm::raw_ostream &stream,
                    size_t indent);

  ProgramNames &names;
  const mlir::SymbolTable &symbols;
  llvm::SmallPtrSet<mlir::Operation *, 4> tied; ///< Those that were named.
  bool saysWhyLayers = false;
};

} // namespace gpuopt::cxx

#endif // GPUOPT_LIB_TARGET_CXX_STEPCOMMENTS_H
