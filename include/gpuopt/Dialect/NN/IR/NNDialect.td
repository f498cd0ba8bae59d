//===- NNDialect.td - The nn dialect -----------------------*- tablegen -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_NN_IR_NNDIALECT_TD
#define GPUOPT_DIALECT_NN_IR_NNDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
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
  let discardableAttrs = (ins
    // The origins of an op's results, one for each.
    "::gpuopt::nn::OriginsAttr":$origins,
    // The name, without `nn.`, of the composite op that an op is part of.
    "::mlir::StringAttr":$from,
    // The number of the kernel's result that a slice of the kernel makes again.
    "::mlir::IntegerAttr":$result,
    // The name by which users know an argument or a result of the model's function.
    "::mlir::StringAttr":$name);
  let hasOperationAttrVerify = 1;
  let hasConstantMaterializer = 1;
  let useDefaultAttributePrinterParser = 1;
}

def NN_OriginAttr : AttrDef<NN_Dialect, "Origin"> {
  let mnemonic = "origin";
  let summary = "what a tensor is named after";
  let description = [{
    The tensor is what the ONNX node of that name makes, or the gradient of it;
    a gradient of a parameter is named after the parameter.

    ```mlir
    #nn.origin<"/fc1/Gemm">
    #nn.origin<gradient of "fc1.weight">
    ```

    Constraints:
    - (C1) a gradient has a name.
  }];
  let parameters = (ins StringRefParameter<>:$name, "bool":$isGradient);
  let builders = [AttrBuilder<(ins "const ::gpuopt::Origin &":$origin), [{
    return $_get($_ctxt, origin.name, origin.isGradient);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    ::gpuopt::Origin getOrigin() const { return {getName().str(), getIsGradient()}; }
  }];
}

def NN_OriginsAttr : AttrDef<NN_Dialect, "Origins"> {
  let mnemonic = "origins";
  let summary = "what the results of an op are named after, one origin for each";
  let description = [{
    ```mlir
    #nn.origins<"/norm/LayerNormalization", gradient of "fc1.weight">
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::gpuopt::nn::OriginAttr">:$origins);
  let hasCustomAssemblyFormat = 1;
}

def NN_ReductionKind : I32EnumAttr<"ReductionKind", "how values are combined", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">,
    I32EnumAttrCase<"Min", 2, "min">, I32EnumAttrCase<"Prod", 3, "prod">]> {
  let cppNamespace = "::gpuopt::nn";
  let genSpecializedAttr = 0;
}
def NN_ReductionKindAttr : EnumAttr<NN_Dialect, NN_ReductionKind, "reduction">;

#endif // GPUOPT_DIALECT_NN_IR_NNDIALECT_TD
