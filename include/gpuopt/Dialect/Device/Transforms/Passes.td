//===- Passes.td - Passes on the device dialect -*- tablegen -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_DEVICE_TRANSFORMS_PASSES_TD
#define GPUOPT_DIALECT_DEVICE_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def FormMultiTensorCalls : Pass<"device-form-multi-tensor-calls", "::mlir::ModuleOp"> {
  let summary = "Makes one call of calls in a row that do the same on many tensors";
  let description = [{
    Updates of parameters, sums of gradients and copies that follow one another
    become one `device.multi_tensor`, which the runtime works on in one launch
    where it can. Their tensors may have different shapes, and some may read
    half precision where others do not. No call moves past a call of another
    kind.

    ```mlir
    %0 = device.address @a_sum : !device.ptr<f32>
    %1 = device.address @d_a : !device.ptr<f32>
    device.accumulate %1 into %0 count 64 : !device.ptr<f32>, !device.ptr<f32>
    %2 = device.address @b_sum : !device.ptr<f32>
    %3 = device.address @d_b : !device.ptr<f32>
    device.accumulate %3 into %2 count 8 : !device.ptr<f32>, !device.ptr<f32>
    // becomes
    device.multi_tensor {
      // ... the same
    }
    ```
  }];
  let options = [Option<"leastCalls", "least-calls", "unsigned", "2",
                        "Fewer calls in a row than this stay as they are">];
  let statistics = [
    Statistic<"formedCount", "formed", "Number of multi-tensor calls that were formed">,
    Statistic<"callCount", "calls", "Number of calls in them">];
}

def SinkRecomputedCalls : Pass<"device-sink-recomputed-calls", "::mlir::ModuleOp"> {
  let summary = "Moves calls that compute something again to where it is read";
  let description = [{
    A plan may recompute the tensors of layers at different places among the
    calls of the backward. Each call with `device.recomputed` moves to just
    before the next call that uses one of its buffers, or bytes of them, so that
    layers look alike and the comment about the recompute stands where it
    matters. It stays before the last call that uses its operands, so that the
    lifetimes of all buffers contain their uses as before, and moves past
    nothing but calls on memory of the device.

    ```mlir
    %0 = device.address @h_1_x : !device.ptr<f32>
    device.launch @relu(%0) {device.recomputed} : !device.ptr<f32>
    %1 = device.address @h_2_dx : !device.ptr<f32>
    device.launch @backward(%1) : !device.ptr<f32>
    %2 = device.address @h_1_x : !device.ptr<f32>
    device.launch @backward(%2) : !device.ptr<f32>
    // becomes
    %1 = device.address @h_2_dx : !device.ptr<f32>
    device.launch @backward(%1) : !device.ptr<f32>
    %0 = device.address @h_1_x : !device.ptr<f32>
    device.launch @relu(%0) {device.recomputed} : !device.ptr<f32>
    %2 = device.address @h_1_x : !device.ptr<f32>
    device.launch @backward(%2) : !device.ptr<f32>
    ```
  }];
  let statistics = [Statistic<"movedCount", "moved", "Number of calls that were moved">];
}

def RollLoops : Pass<"device-roll-loops", "::mlir::ModuleOp"> {
  let summary = "Turns calls that repeat on other buffers, or other parts of them, into a loop over a table";
  let description = [{
    The layers of a model make the same calls one after the other, and so do the
    chunks of a loss. Where three or more runs of calls differ in nothing but the
    buffers that they address, or the elements at which they do (and in the names
    of the nodes that they come from), they become one `device.repeat`. Loops of a
    step that have the same calls get one function. The order of the calls and
    what each of them does stay as they are; device-unroll-loops gives the
    straight sequence back.

    Layers may differ in what they compute again (`device.recomputed`): if fewer
    calls are left to write then, a loop takes all calls that some of its layers
    make, and those that only some make get a condition, with a name that says
    what is recomputed.

    ```mlir
    %0 = device.address @h_0_x : !device.ptr<f32>
    device.launch @relu(%0) {comment = "h.0.act"} : !device.ptr<f32>
    %1 = device.address @h_1_x : !device.ptr<f32>
    device.launch @relu(%1) {comment = "h.1.act"} : !device.ptr<f32>
    // ... and so on; becomes
    device.repeat "forward_layers" ["x"] [[@h_0_x], [@h_1_x], ...] {
      %0 = device.column "x" : !device.ptr<f32>
      device.launch @relu(%0) {device.iterations = [{comment = "h.0.act"}, {comment = "h.1.act"}, ...]} : !device.ptr<f32>
    }
    ```
  }];
  let statistics = [
    Statistic<"loopCount", "loops", "Number of loops that were formed">,
    Statistic<"callCount", "calls", "Number of calls that the loops stand for">];
}

def UnrollLoops : Pass<"device-unroll-loops", "::mlir::ModuleOp"> {
  let summary = "Writes out each iteration of a loop of calls, and the single calls of each multi-tensor call";
  let description = [{
    The inverse of device-roll-loops and
    device-form-multi-tensor-calls: each
    `device.repeat` is replaced by the calls of all of its iterations, and each
    `device.multi_tensor` by its calls.

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

def ShareKernels : Pass<"device-share-kernels", "::mlir::ModuleOp"> {
  let summary = "Makes one kernel of kernels that differ only in numbers";
  let description = [{
    Kernels whose ops are equal up to the bounds of their loops, the strides
    and offsets of their accesses and their floating-point constants become
    one. The numbers in which they differ become its arguments, after its
    pointers; each launch passes its own numbers, and has its own grid if the
    grids differ. Kernels stay as they are if more than eight arguments would be
    needed, or if they look for indices out of range.

    ```mlir
    device.kernel @sum blocks 8 threads 32 ["x", "y"] {
    ^bb0(%x: !device.ptr<f32>, %y: !device.ptr<f32>):
      %c0 = arith.constant 0 : index
      %c3136 = arith.constant 3136 : index
      // ... a loop from %c0 to %c3136
    }
    device.kernel @sum_2 blocks 8 threads 32 ["x", "y"] { ... } // the same, to 784
    device.launch @sum(%0, %1) : !device.ptr<f32>, !device.ptr<f32>
    device.launch @sum_2(%2, %3) : !device.ptr<f32>, !device.ptr<f32>
    // becomes
    device.kernel @sum blocks 8 threads 32 ["x", "y", "rows"] {
    ^bb0(%x: !device.ptr<f32>, %y: !device.ptr<f32>, %rows: index):
      %c0 = arith.constant 0 : index
      // ... a loop from %c0 to %rows
    }
    device.launch @sum(%0, %1) numbers [3136 : index] : !device.ptr<f32>, !device.ptr<f32>
    device.launch @sum(%2, %3) numbers [784 : index] : !device.ptr<f32>, !device.ptr<f32>
    ```
  }];
  let options = [Option<"leastColumns", "least-columns", "int64_t", "256",
                        "Loops over lanes of fewer elements keep their bound as a constant">];
  let statistics = [
    Statistic<"sharedCount", "kernels", "Number of kernels that became one with others">,
    Statistic<"formCount", "forms", "Number of kernels that they became">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif // GPUOPT_DIALECT_DEVICE_TRANSFORMS_PASSES_TD
