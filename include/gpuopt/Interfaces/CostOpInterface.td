//===- CostOpInterface.td - How much arithmetic an op is ---*- tablegen -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_INTERFACES_COSTOPINTERFACE_TD
#define GPUOPT_INTERFACES_COSTOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::gpuopt";
  let description = [{
    The arithmetic of ops that do more than one operation per element of their
    results; ops without the interface count as elementwise (Analysis/CostModel.h).
  }];
  let methods = [
    InterfaceMethod<"Floating-point operations of one execution; a multiplication and an addition are two.",
                    "double", "getFloatingPointOperations">,
    InterfaceMethod<"Whether a library does the work on matrix units where the device has some.", "bool",
                    "usesMatrixUnits", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{
        Instructions that lanes of a GPU issue for what a product on matrix units
        does to its result before it is stored.
      }],
      "double", "getEpilogueInstructions", (ins), [{}], [{ return 0; }]>
  ];
}

#endif // GPUOPT_INTERFACES_COSTOPINTERFACE_TD
