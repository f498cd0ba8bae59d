//===- DifferentiableOpInterface.td - Reverse-mode rules ---*- tablegen -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_INTERFACES_DIFFERENTIABLEOPINTERFACE_TD
#define GPUOPT_INTERFACES_DIFFERENTIABLEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::gpuopt";
  let description = [{
    The reverse-mode rule of an op: its vector-Jacobian product.

    An op without the interface is a constant to differentiation: no gradient
    flows through it. Upstream `arith` and `math` ops get the interface as
    external models (Dialect/NN/IR/ElementwiseVjp.h).
  }];
  let methods = [
    InterfaceMethod<
      [{
        Builds, at the builder's insertion point, the gradients of the
        operands from the gradients of the results.

        `resultGradients[i]` has the type of result i and is null where no
        gradient reaches that result. `wanted[j]` says whether the gradient
        of operand j is needed; only those are built. `operandGradients` has
        one entry per operand on entry, all null; an entry left null means a
        gradient of zero.
      }],
      "void", "buildVjp",
      (ins "::mlir::OpBuilder &":$builder,
           "::llvm::ArrayRef<::mlir::Value>":$resultGradients,
           "::llvm::ArrayRef<bool>":$wanted,
           "::llvm::MutableArrayRef<::mlir::Value>":$operandGradients)>
  ];
}

#endif // GPUOPT_INTERFACES_DIFFERENTIABLEOPINTERFACE_TD
