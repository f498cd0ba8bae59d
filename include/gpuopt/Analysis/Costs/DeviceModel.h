//===- DeviceModel.h - What a device can do in a second ---------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The numbers from which times are estimated. They describe the device that the
// program is for, never the machine that compiles.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_COSTS_DEVICEMODEL_H
#define GPUOPT_ANALYSIS_COSTS_DEVICEMODEL_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <memory>
#include <optional>

namespace gpuopt {

class MeasuredCosts;

/// The resources that one multiprocessor of a GPU has, or one core of a
/// processor.
struct Multiprocessor {
  double warpSize = 1; ///< Threads that run in step; 1 on a processor.
  /// The most threads, and the most blocks of them, that it has at once.
  double threads = 1, blocks = 1;
  double registers = 0; ///< 32-bit registers, which its threads share.
  /// Memory that the threads of a block share: for all blocks, and for one.
  double sharedBytes = 0, sharedBytesPerBlock = 0;
  double lanes = 1; ///< Instructions in f32 that begin in one clock.
  double clockInHertz = 0;
};

/// Where the rates of a device were measured, when, and by which gpuopt.
struct Calibration {
  std::string device;  ///< As it calls itself, such as "AMD EPYC".
  std::string date;    ///< Such as "2026-11-23".
  std::string version; ///< Of gpuopt, which decides how work is counted.
};

/// The rates that a well-written kernel reaches; those of the data sheet are
/// higher.
struct DeviceModel {
  std::string name;
  std::string target;        ///< host or cuda; empty of a file without a base.
  double bytesPerSecond = 0; ///< To and from the device's memory.
  /// Elementwise, in f32, on a processor; a GPU's rate follows from its lanes.
  double vectorOperationsPerSecond = 0;
  /// Floating-point operations per second of products and convolutions, by the
  /// type of their operands.
  double f64ProductsPerSecond = 0, f32ProductsPerSecond = 0,
         tf32ProductsPerSecond = 0, f16ProductsPerSecond = 0,
         bf16ProductsPerSecond = 0;
  /// The time that a launch of a kernel or a library call takes in addition to
  /// its work.
  double secondsPerLaunch = 0;
  int64_t memoryInBytes = 0; ///< A whole device's; 0 if it is not fixed.
  double hostLinkBytesPerSecond = 0; ///< To pinned host memory, one direction.
  /// Whether transfers overlap with the device's work.
  bool overlapsTransfers = false;
  /// The number of multiprocessors of a GPU or cores of a processor, over which
  /// a kernel is spread.
  double multiprocessors = 0;
  /// NVIDIA's number of what a GPU can execute, such as 9.0; 0 of a processor.
  double computeCapability = 0;
  Multiprocessor multiprocessor = {};
  /// The time from a load to its data while the memory is busy.
  double memoryLatencyInSeconds = 0;
  double l2CacheInBytes = 0; ///< The cache that all multiprocessors share.
  /// Instructions in f64 that begin for each one in f32.
  double f64InstructionShare = 1;
  /// The share of the rates of products that kernels of our own reach where
  /// they use mma.sync; libraries use the instructions of newer devices as
  /// well.
  double ownProductShare = 1;
  /// Whether products of f32 round their operands to TF32, for matrix units.
  bool multipliesInTf32 = false;
  /// Empty where nobody measured: of built-in devices, and of files that people
  /// have written.
  std::optional<Calibration> calibration = std::nullopt;
  /// Measured times, which are used in place of the rates; null if nothing was
  /// measured.
  std::shared_ptr<const MeasuredCosts> measured = nullptr;

  /// Whether threads run in warps, and hide what they wait for by each other. A
  /// processor's core fetches ahead instead.
  bool hasWarps() const { return multiprocessor.warpSize > 1; }
  /// Whether programs have kernels for it that multiply by warpgroups (wgmma),
  /// as has_warpgroup_products of Runtime/gpuopt/device/requirements_cuda.h
  /// decides.
  bool hasWarpgroups() const { return computeCapability == 9; }
  /// Instructions of lanes in f32, of the whole device.
  double laneInstructionsPerSecond() const {
    return multiprocessors * multiprocessor.lanes * multiprocessor.clockInHertz;
  }
};

llvm::ArrayRef<DeviceModel> builtinDeviceModels();
/// Returns the names of the built-in models for a message: "host, h200, ...".
std::string builtinDeviceNames();

/// Returns the built-in model of the GPU that calls itself `nameOfItsOwn`, such
/// as "NVIDIA A100-SXM4-40GB"; null if none of them is this GPU.
const DeviceModel *findBuiltinGpu(llvm::StringRef nameOfItsOwn);

/// Loads a built-in model by its name, or a model from a JSON file
/// (docs/device.schema.json). Errors say which member is wrong.
llvm::Expected<DeviceModel> loadDeviceModel(llvm::StringRef nameOrFile);

/// Does the same, and adds the measured times of a file (MeasuredCosts.h)
/// unless its name is empty. With `allowsTf32`, products of f32 have the rate
/// of TF32.
llvm::Expected<DeviceModel> loadDeviceModel(llvm::StringRef nameOrFile,
                                            llvm::StringRef profileCosts,
                                            bool allowsTf32);

/// Does the same for a pass whose option `device` is `nameOrFile`: errors are
/// reported at the op that the pass runs on.
mlir::FailureOr<DeviceModel> loadDeviceModel(mlir::Operation *op,
                                             llvm::StringRef nameOrFile,
                                             llvm::StringRef profileCosts = "",
                                             bool allowsTf32 = false);

/// Returns all members of a device, as a file has them that loadDeviceModel
/// reads. Measured times are not among them.
llvm::json::Object toJson(const DeviceModel &model);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_COSTS_DEVICEMODEL_H
