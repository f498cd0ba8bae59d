//===- CallLowering.h - Calls of the runtime on addresses -------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_CONVERSION_TODEVICE_CALLLOWERING_H
#define GPUOPT_LIB_CONVERSION_TODEVICE_CALLLOWERING_H

#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"
#include "gpuopt/Interfaces/RuntimeCall.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace gpuopt {

/// Builds the device.call that makes `call`; `addressOf` returns the address of
/// a tensor that it passes.
device::CallOp
buildCall(mlir::ImplicitLocOpBuilder &builder, const RuntimeCall &call,
          llvm::function_ref<mlir::Value(mlir::Value)> addressOf);

} // namespace gpuopt

#endif // GPUOPT_LIB_CONVERSION_TODEVICE_CALLLOWERING_H
