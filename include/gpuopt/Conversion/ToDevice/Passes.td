//===- Passes.td - Lowering to the device dialect -*- tablegen -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_CONVERSION_TODEVICE_PASSES_TD
#define GPUOPT_CONVERSION_TODEVICE_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertToDevice : Pass<"convert-to-device", "::mlir::ModuleOp"> {
  let summary = "Gives every op a kernel or a library call";
  let description = [{
    Turns each `nn.fused` into a kernel, shared by all that have the same one,
    and contractions, convolutions, pooling and updates into library calls, on
    the offsets that train-plan-memory has noted; that no two tensors meet there
    is checked first. Expects what kernels-form-clusters, kernels-materialize-views and
    train-plan-memory leave.

    ```mlir
    train.step @micro_step micro ("x" %x: tensor<4x16xf32>) { ... }
    // becomes
    device.memory persistent 2304 arena 512
    device.buffer @x input at 2048 : tensor<4x16xf32> {externalName = "x", origin = "x"}
    device.kernel @sum ...
    device.step @micro_step micro { ... device.launch @sum(%0, %1) ... }
    ```
  }];
  let options = [Option<"device", "device", "std::string", "\"host\"",
                        "name of a device model, or a JSON file: what kernels are spread over">,
                 Option<"debugOverflow", "debug-overflow", "bool", "false",
                        "note the first result of the training step that is infinite or NaN">];
  let dependentDialects = ["::gpuopt::device::DeviceDialect", "::gpuopt::nn::NNDialect", "::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"kernelCount", "kernels", "Number of different kernels">];
}

#endif // GPUOPT_CONVERSION_TODEVICE_PASSES_TD
