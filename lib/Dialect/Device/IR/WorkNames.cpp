//===- WorkNames.cpp - What calls of a step run ---------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"

using namespace mlir;
using namespace gpuopt;

static std::string nameOf(device::CallOp call) {
  std::string name = call.getFunction().str();
  for (Attribute argument : call.getArguments())
    if (auto constant = dyn_cast<device::StructAttr>(argument))
      return name + " " + constant.getName().str();
  return name;
}

std::string device::nameOfWork(Operation *call) {
  if (auto launch = dyn_cast<LaunchOp>(call))
    return launch.getKernel().str();
  if (auto function = dyn_cast<CallOp>(call))
    return nameOf(function);
  if (auto update = dyn_cast<UpdateOp>(call))
    return update.getOptimizer().str();
  return call->getName().stripDialect().str();
}
