//===- WarpDevicePass.h - Passes for devices with warps ---------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_TRANSFORMS_KERNELS_WARPDEVICEPASS_H
#define GPUOPT_LIB_TRANSFORMS_KERNELS_WARPDEVICEPASS_H

#include "gpuopt/Analysis/Costs/DeviceModel.h"

namespace gpuopt::kernels {

/// A pass that does nothing but on devices with warps. `BaseT` is the base that
/// is generated for the pass, with an option `device`.
template <typename BaseT>
class WarpDevicePass : public BaseT {
public:
  using BaseT::BaseT;

protected:
  /// Reads the options but `device`, on any device; reports those that are
  /// wrong.
  virtual mlir::LogicalResult readOptions() { return mlir::success(); }
  /// Whether products of f32 are in TF32.
  virtual bool multipliesInTf32() const { return false; }
  virtual void runOn(const DeviceModel &device) = 0;

private:
  void runOnOperation() final {
    mlir::FailureOr<DeviceModel> model =
        loadDeviceModel(this->getOperation(), this->device,
                        /*profileCosts=*/"", multipliesInTf32());
    if (failed(model) || failed(readOptions()))
      return this->signalPassFailure();
    if (model->hasWarps())
      runOn(*model);
  }
};

} // namespace gpuopt::kernels

#endif // GPUOPT_LIB_TRANSFORMS_KERNELS_WARPDEVICEPASS_H
