//===- StepLowering.h - Ops to launches and calls ---------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_CONVERSION_TODEVICE_STEPLOWERING_H
#define GPUOPT_LIB_CONVERSION_TODEVICE_STEPLOWERING_H

#include "gpuopt/Analysis/Costs/DeviceModel.h"
#include "gpuopt/Analysis/Memory/PersistentMemory.h"
#include "gpuopt/Analysis/Memory/StepMemory.h"
#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"

namespace gpuopt {

/// The kernels of the program, where equal kernels exist once. Sets on the
/// module how many lanes the kernels are made for.
class KernelTable {
public:
  KernelTable(mlir::ModuleOp module, const DeviceModel &device);

  /// Returns the kernel that does `op` on operands and results with these
  /// views. Those at the positions `aliased` may lie where others do.
  device::KernelOp lookup(nn::FusedOp op, llvm::ArrayRef<StridedView> operands,
                          llvm::ArrayRef<StridedView> results,
                          llvm::ArrayRef<int64_t> aliased);
  size_t size() const { return kernels.size(); }

private:
  mlir::ModuleOp module;
  const DeviceModel &device;
  int64_t lanes = 4; ///< Elements that a GPU's thread works on at once.
  llvm::StringMap<device::KernelOp>
      kernels; ///< By their text without the name.
  llvm::StringMap<unsigned> usedNames;
};

/// Appends the device.step for `step` to the module. With `checksResults`, each
/// op of a training step is followed by a check that its results are finite.
/// The copies of inputs to the outputs in which they are placed become a step
/// of their own before it, whose symbol `nameOfPlacing` returns.
void lowerStep(train::StepOp step, const StepMemory &memory,
               const PersistentMemory &persistent, KernelTable &kernels,
               bool checksResults,
               llvm::function_ref<std::string()> nameOfPlacing);

} // namespace gpuopt

#endif // GPUOPT_LIB_CONVERSION_TODEVICE_STEPLOWERING_H
