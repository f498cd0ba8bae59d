//===- Passes.td - Passes that print analyses -*- tablegen -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_TRANSFORMS_PRINTING_PASSES_TD
#define GPUOPT_TRANSFORMS_PRINTING_PASSES_TD

include "mlir/Pass/PassBase.td"

class PrintingPass<string name> : Pass<name, "::mlir::ModuleOp"> {
  let dependentDialects = ["::gpuopt::nn::NNDialect", "::gpuopt::train::TrainDialect"];
}

def DeviceOption : Option<"device", "device", "std::string", "\"host\"",
                            "a built-in device model or a JSON file">;

def PrintBuffers : PrintingPass<"print-buffers"> {
  let summary = "Says which memory each value of a step lies in";
  let description = [{
    A remark at each op of a step says of each result whether it owns a buffer,
    is a view of one, or is written into the buffer of another value
    (Analysis/Memory/Buffers.h). Offsets and strides are in elements.

    ```mlir
    // remark: a view of %x at 0, strides [1, 4]
    %0 = nn.transpose %x [1, 0] : tensor<8x4xf32>
    ```
  }];
}

def PrintClusters : PrintingPass<"print-clusters"> {
  let summary = "Says what would be one kernel";
  let description = [{
    A remark at each reduction of a kernel, and at each op whose value a kernel
    stores, says which kernel that is and over which space it iterates; one at the step says in which order kernels
    and calls run (Analysis/Kernels/Clusters.h).

    ```mlir
    // remark: made by cluster 0, which iterates over [8, 16] and reduces [1]
    %0 = nn.reduce sum %x [1] : tensor<8x16xf32>
    ```
  }];
}

def PrintCallLayouts : PrintingPass<"print-call-layouts"> {
  let summary = "Says how the operands of calls lie in memory";
  let description = [{
    A remark at each product, convolution and other call of a library has the
    offset and the strides of each operand and of each result, in elements.

    ```mlir
    // remark: reads %x at 0, strides [1, 4]; reads @w at 0, strides [16, 1];
    //         writes its own buffer at 0, strides [16, 1]
    %1 = nn.contract "ik,kj->ij" %0, %w : tensor<4x8xf32>, tensor<8x16xf32>
    ```
  }];
}

def PrintLaunchShapes : PrintingPass<"print-launch-shapes"> {
  let summary = "Says how kernels are spread over a device";
  let description = [{
    A remark at each kernel has its form, its loops, its blocks and its threads
    (Analysis/Kernels/LaunchShape.h). A thread has 4 elements in step.

    ```mlir
    // remark: row reduction, loops 1024 x 128 (reduced): 1024 blocks of 32 threads, each with 1
    %0 = nn.fused "softmax" %x : tensor<1024x128xf32> -> tensor<1024x128xf32> { ... }
    ```
  }];
  let options = [DeviceOption];
}

def PrintStepGraph : PrintingPass<"print-step-graph"> {
  let summary = "Says what the schedule of a step is made of";
  let description = [{
    A remark at each op says which nodes of the recomputation problem it is:
    what a node costs, how many bytes its output has, what it reads, and in whose
    storage it lies (Analysis/Memory/StepGraph.h).

    ```mlir
    // remark: node 2: 512 bytes, 2000 ns, reads [0, 1]
    %1 = nn.contract "ik,kj->ij" %0, %w : tensor<8x16xf32>, tensor<16x16xf32>
    ```
  }];
  let options = [DeviceOption];
}

def PrintPrecisionGraph : PrintingPass<"print-precision-graph"> {
  let summary = "Says what the precisions of a step cost";
  let description = [{
    A remark at each op whose precision is chosen has the choice's number and
    what half and full precision cost; remarks at the step say what two choices
    cost that differ (Analysis/Precision/PrecisionGraph.h). Costs are in
    picoseconds.

    ```mlir
    // remark: choice 0: product, 512 in half precision, 1024 in full
    %1 = nn.contract "ik,kj->ij" %x, %w : tensor<8x16xf32>, tensor<16x16xf32>
    ```
  }];
  let options = [DeviceOption];
}

#endif // GPUOPT_TRANSFORMS_PRINTING_PASSES_TD
