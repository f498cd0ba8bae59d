//===- Passes.td - Passes on the device dialect -*- tablegen -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_DEVICE_TRANSFORMS_PASSES_TD
#define GPUOPT_DIALECT_DEVICE_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def RollLoops : Pass<"device-roll-loops", "::mlir::ModuleOp"> {
  let summary = "Writes calls that repeat on other buffers as a loop over a table of buffers";
  let description = [{
    The layers of a model make the same calls one after the other. Where three
    or more runs of calls differ in nothing but the buffers that they address
    (and in the names of the nodes that they come from), they become one
    `device.repeat`. The order of the calls and what each of them does stay as
    they are; device-unroll-loops gives the straight sequence back.

    ```mlir
    %0 = device.address @h_0_x : !device.ptr<f32>
    device.launch @relu(%0) {comment = "h.0.act"} : !device.ptr<f32>
    %1 = device.address @h_1_x : !device.ptr<f32>
    device.launch @relu(%1) {comment = "h.1.act"} : !device.ptr<f32>
    // ... and so on; becomes
    device.repeat "forward_layers" ["x"] [[@h_0_x], [@h_1_x], ...] {
      %0 = device.column "x" : !device.ptr<f32>
      device.launch @relu(%0) {device.turns = [{comment = "h.0.act"}, {comment = "h.1.act"}, ...]} : !device.ptr<f32>
    }
    ```
  }];
  let statistics = [
    Statistic<"loopCount", "loops", "Number of loops that were formed">,
    Statistic<"callCount", "calls", "Number of calls that the loops stand for">];
}

def UnrollLoops : Pass<"device-unroll-loops", "::mlir::ModuleOp"> {
  let summary = "Writes each turn of a loop of calls out";
  let description = [{
    The inverse of device-roll-loops: each `device.repeat` is replaced by the
    calls of all of its turns.

    ```mlir
    device.repeat "forward_layers" ["x"] [[@h_0_x], [@h_1_x]] {
      %0 = device.column "x" : !device.ptr<f32>
      device.launch @relu(%0) : !device.ptr<f32>
    }
    // becomes
    %0 = device.address @h_0_x : !device.ptr<f32>
    device.launch @relu(%0) : !device.ptr<f32>
    %1 = device.address @h_1_x : !device.ptr<f32>
    device.launch @relu(%1) : !device.ptr<f32>
    ```
  }];
}

#endif // GPUOPT_DIALECT_DEVICE_TRANSFORMS_PASSES_TD
