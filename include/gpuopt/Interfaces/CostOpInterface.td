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
    results; ops without the interface count as elementwise
    (Analysis/Costs/CostModel.h).
  }];
  let methods = [
    InterfaceMethod<"Floating-point operations of one execution; a multiplication and an addition are two.",
                    "double", "getFloatingPointOperations">,
    InterfaceMethod<"Whether a library does the work on matrix units where the device has some.", "bool",
                    "usesMatrixUnits", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{
        Adds to the work of the op what its operations, operands and results do not
        tell: variables that it reads and writes, and whether it is part of the
        launch of an op before it.
      }], "void", "addOwnWork", (ins "::gpuopt::OpWork &":$work), [{}], [{ (void)work; }]>,
    InterfaceMethod<[{
        Adds what a device with warps has to do. By default, its lanes do all
        operations that matrix units do not do.
      }], "void", "addWarpWork", (ins "::gpuopt::OpWork &":$work), [{}], [{
        if (!work.onMatrixUnits)
          work.laneInstructions = work.operations;
      }]>
  ];
}

#endif // GPUOPT_INTERFACES_COSTOPINTERFACE_TD
