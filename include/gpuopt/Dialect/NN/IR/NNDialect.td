//===- NNDialect.td - The nn dialect -----------------------*- tablegen -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_NN_IR_NNDIALECT_TD
#define GPUOPT_DIALECT_NN_IR_NNDIALECT_TD

include "mlir/IR/EnumAttr.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpBase.td"

def NN_Dialect : Dialect {
  let name = "nn";
  let cppNamespace = "::gpuopt::nn";
  let summary = "structured tensor operations of neural networks";
  let description = [{
    Contractions, convolution, pooling, normalisation, softmax, gather and
    scatter, reductions and layout changes on statically shaped tensors.
    Elementwise work is upstream `arith` and `math` on tensors, whose operands
    have equal shapes: `nn.broadcast` makes them so.

    Conventions:
    - every shape is static;
    - reductions keep their dimensions, with size 1;
    - spatial ops are channels-last (NHWC); convolution weights are stored as
      the ONNX file has them (OIHW);
    - random ops are functions of (seed, step, op id, element index), so that
      running one again draws the same numbers.
  }];
  let hasConstantMaterializer = 1;
  let useDefaultAttributePrinterParser = 1;
}

def NN_ReductionKind : I32EnumAttr<"ReductionKind", "how values are combined", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">,
    I32EnumAttrCase<"Min", 2, "min">, I32EnumAttrCase<"Prod", 3, "prod">]> {
  let cppNamespace = "::gpuopt::nn";
  let genSpecializedAttr = 0;
}
def NN_ReductionKindAttr : EnumAttr<NN_Dialect, NN_ReductionKind, "reduction">;

#endif // GPUOPT_DIALECT_NN_IR_NNDIALECT_TD
