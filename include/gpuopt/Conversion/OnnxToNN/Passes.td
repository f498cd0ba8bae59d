//===- Passes.td - Legalisation of ONNX models -*- tablegen -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_CONVERSION_ONNXTONN_PASSES_TD
#define GPUOPT_CONVERSION_ONNXTONN_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertOnnxToNN : Pass<"convert-onnx-to-nn", "::mlir::ModuleOp"> {
  let summary = "Gives an ONNX graph its meaning on statically shaped tensors";
  let description = [{
    Walks the nodes of the `onnx.graph` in order; the converter of each node's
    operator builds its results from its operands, whose types are known by
    then. What depends on constants alone is computed: shape arithmetic,
    positions, masks. Floating-point initializers become `train.variable`s,
    read once at the top of `func.func @forward`; all others become constants,
    as do frozen weights whose values a node needs. All nodes that cannot be
    converted are reported together.

    ```mlir
    %w = onnx.initializer "fc.weight" at <"m.onnx", offset = 96, size = 1024> : tensor<8x32xf32>
    %y = onnx.node "MatMul"(%x, %w) : (tensor<4x8xf32>, tensor<8x32xf32>) -> !onnx.unknown
    // becomes
    %w = train.read @fc.weight : tensor<8x32xf32>
    %y = nn.contract "ac,cd->ad" %x, %w : tensor<4x8xf32>, tensor<8x32xf32>
    ```
  }];
  let options = [
    Option<"batchNorm", "batch-norm", "std::string", "\"train\"", "batch normalisation: train or frozen">,
    Option<"frozenParams", "frozen-params", "std::string", "",
           "regular expression of the parameters to keep as they are">,
    Option<"trainedParams", "trained-params", "std::string", "",
           "regular expression of the parameters to train whatever the file or frozen-params says of them">,
    ListOption<"storedWeights", "stored-weights", "std::string",
               "names of tensors that a training has saved; they are weights whatever the model says">];
  let dependentDialects = ["::gpuopt::nn::NNDialect", "::gpuopt::train::TrainDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect", "::mlir::func::FuncDialect"];
}

#endif // GPUOPT_CONVERSION_ONNXTONN_PASSES_TD
