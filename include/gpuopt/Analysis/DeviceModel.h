//===- DeviceModel.h - What a device can do in a second ---------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The numbers that estimated times rest on. They describe the device that the
// program is for, never the machine that compiles.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_DEVICEMODEL_H
#define GPUOPT_ANALYSIS_DEVICEMODEL_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace gpuopt {

class MeasuredCosts;

/// Rates that a well-written kernel reaches, not those of the data sheet.
struct DeviceModel {
  std::string name;
  std::string target;        ///< host or cuda; empty of a file without a base.
  double bytesPerSecond = 0; ///< Of the device's memory.
  double vectorOperationsPerSecond = 0; ///< Of elementwise work in f32.
  /// Floating-point operations of products and convolutions in a second, by the
  /// type of their operands.
  double f64ProductsPerSecond = 0, f32ProductsPerSecond = 0,
         tf32ProductsPerSecond = 0, f16ProductsPerSecond = 0,
         bf16ProductsPerSecond = 0;
  /// What a launch of a kernel or a library call takes beside its work.
  double secondsPerLaunch = 0;
  int64_t memoryInBytes = 0; ///< Of a whole device; 0 where it is not fixed.
  double hostLinkBytesPerSecond = 0; ///< To pinned host memory, one direction.
  /// Whether transfers run beside the device's work.
  bool overlapsTransfers = false;
  /// What a kernel is spread over: the multiprocessors of a GPU, the cores of a
  /// processor.
  double multiprocessors = 0;
  /// What was measured goes before what the rates say; null where nothing was.
  std::shared_ptr<const MeasuredCosts> measured = nullptr;
};

llvm::ArrayRef<DeviceModel> builtinDeviceModels();
/// Their names, for people: "host, h200, ...".
std::string builtinDeviceNames();

/// The GPU among them that a program says it ran on: "NVIDIA A100-SXM4-40GB".
/// Null where it is another one.
const DeviceModel *findBuiltinGpu(llvm::StringRef nameOfItsOwn);

/// A built-in model by its name, or the one in a JSON file
/// (docs/device.schema.json). Errors say which member is wrong.
llvm::Expected<DeviceModel> loadDeviceModel(llvm::StringRef nameOrFile);

/// With the times of a file (MeasuredCosts.h), unless its name is empty, and
/// products of f32 at the rate of TF32, if they are allowed to.
llvm::Expected<DeviceModel> loadDeviceModel(llvm::StringRef nameOrFile,
                                            llvm::StringRef profileCosts,
                                            bool allowsTf32);

/// The same for a pass whose option `device` is `nameOrFile`: what is wrong
/// with it is an error of the module.
mlir::FailureOr<DeviceModel> loadDeviceModel(mlir::ModuleOp module,
                                             llvm::StringRef nameOrFile,
                                             llvm::StringRef profileCosts = "",
                                             bool allowsTf32 = false);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_DEVICEMODEL_H
