//===- DeviceOpBase.td - Base of the device ops ------------*- tablegen -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_DEVICE_IR_DEVICEOPBASE_TD
#define GPUOPT_DIALECT_DEVICE_IR_DEVICEOPBASE_TD

include "gpuopt/Dialect/Device/IR/DeviceDialect.td"

class Device_Op<string mnemonic, list<Trait> traits = []>
    : Op<Device_Dialect, mnemonic, traits>;

defvar Device_Ptr = Device_PtrType;

#endif // GPUOPT_DIALECT_DEVICE_IR_DEVICEOPBASE_TD
