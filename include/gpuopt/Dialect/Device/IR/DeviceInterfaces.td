//===- DeviceInterfaces.td - What passes ask of calls ------*- tablegen -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_DEVICE_IR_DEVICEINTERFACES_TD
#define GPUOPT_DIALECT_DEVICE_IR_DEVICEINTERFACES_TD

include "mlir/IR/OpBase.td"

def Device_MultiTensorCall : OpInterface<"MultiTensorCall"> {
  let cppNamespace = "::gpuopt::device";
  let description = [{
    A call for one tensor that the runtime can make for many tensors as one
    call. What it does for one of them does not depend on what it does for
    another one.
  }];
  let methods = [
    InterfaceMethod<"Returns a key: calls of one op whose keys are equal can be made as one call. Returns null if "
                    "this call can only be made alone.", "::mlir::Attribute", "getMultiTensorKey">,
    InterfaceMethod<"Returns the element type that some of the call's tensors have instead of the parameter's; null "
                    "if all have the parameter's. A multi-tensor call has one such type.", "::mlir::Type", "getHalfType",
                    (ins), [{}], [{ return {}; }]>,
    InterfaceMethod<"Returns the operand that the call only reads; it writes the others.", "::mlir::Value", "getSource">,
    InterfaceMethod<"Returns the number of elements that the call works on.", "int64_t", "getNumElements", (ins), [{}],
                    [{ return $_op.getCount(); }]>,
    InterfaceMethod<"Returns the number of blocks that work on the call's tensors in a launch for many.", "int64_t",
                    "getNumSpans", (ins), [{}], [{ return ::gpuopt::sum_of_squares_partials($_op.getNumElements()); }]>,
    InterfaceMethod<"Returns how such calls are printed as one; `half` is their half type.",
                    "::gpuopt::device::MultiTensorTable", "getTable", (ins "::mlir::Type":$half)>,
    InterfaceMethod<"Returns the call's row of this table, where its blocks begin with `firstSpan`.",
                    "::gpuopt::device::MultiTensorRow", "getRow", (ins "int64_t":$firstSpan)>
  ];
}

def Device_StepCall : OpInterface<"StepCall"> {
  let cppNamespace = "::gpuopt::device";
  let description = [{
    An op of a step that is printed as calls of the runtime.
  }];
  let methods = [
    InterfaceMethod<[{
        Returns the call that the op is printed as. Returns nothing if that takes
        more than the op: the names of kernels and constants, or a table.
      }],
      "::std::optional<::gpuopt::device::PrintedCall>", "getPrintedCall", (ins), [{}], [{ return {}; }]>,
    InterfaceMethod<[{
        Returns which variables of the step the calls are passed. The symbols are
        those of the module.
      }],
      "::gpuopt::device::StepVariables", "getVariables", (ins "const ::mlir::SymbolTable &":$symbols), [{}], [{
        return ::gpuopt::device::variablesOf($_op.getPrintedCall(), symbols);
      }]>
  ];
}

#endif // GPUOPT_DIALECT_DEVICE_IR_DEVICEINTERFACES_TD
