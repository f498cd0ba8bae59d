//===- CallSequence.h - The calls of a step, numbered -----------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DIALECT_DEVICE_TRANSFORMS_CALLSEQUENCE_H
#define GPUOPT_LIB_DIALECT_DEVICE_TRANSFORMS_CALLSEQUENCE_H

#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"

namespace gpuopt::device {

/// A call with its addresses in their order.
struct Call {
  mlir::Operation *op;
  llvm::SmallVector<mlir::Operation *> addresses; ///< They are AddressOps.

  mlir::Operation *firstOp() const {
    return addresses.empty() ? op : addresses.front();
  }
};

/// A step as a sequence of calls, numbered such that equal ones have the same
/// number.
class CallSequence {
public:
  CallSequence(StepOp step, const mlir::SymbolTable &symbols);

  std::vector<Call> calls;
  std::vector<unsigned> numbers;
  /// Whether a call computes something again, so that perhaps only some layers
  /// make it.
  std::vector<bool> isOptional;

private:
  unsigned numberOf(const Call &call);
  bool isOnDevice(mlir::Operation *address) const;
  bool canRepeat(const Call &call) const;

  const mlir::SymbolTable &symbols;
  llvm::DenseMap<mlir::Attribute, unsigned> known;
  unsigned next = 0;
};

} // namespace gpuopt::device

#endif // GPUOPT_LIB_DIALECT_DEVICE_TRANSFORMS_CALLSEQUENCE_H
