//===- RuntimeCallOpInterface.td - Ops that are calls ------*- tablegen -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_INTERFACES_RUNTIMECALLOPINTERFACE_TD
#define GPUOPT_INTERFACES_RUNTIMECALLOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def RuntimeCallOpInterface : OpInterface<"RuntimeCallOpInterface"> {
  let cppNamespace = "::gpuopt";
  let description = [{
    An op of a step that becomes one call of a function of the runtime: a
    library's product or convolution, or a kernel that is written by hand. What
    is fused from elementwise work becomes an `nn.fused` instead.

    Passes know of a call what it says here, and nothing else: where its operands
    may lie, whether a result takes an operand's memory, what half precision
    means for it, how much workspace it takes, and what is emitted. Its
    arithmetic is said by CostOpInterface, its gradient by
    DifferentiableOpInterface. docs/architecture.md tells how a call is added.
  }];
  let methods = [
    InterfaceMethod<[{
        Why the runtime has no call for this op, however its operands lie: a pass
        must spell the op out. Empty if it has one.
      }],
      "::llvm::StringRef", "getReasonAgainstCall", (ins), [{}], [{ return {}; }]>,
    InterfaceMethod<[{
        Whether the call can be made on operands that lie as told, with results
        written as told. What it cannot read is copied into dense memory before:
        dense operands and results must be supported.
      }],
      "bool", "supportsLayouts", (ins "const ::gpuopt::CallLayouts &":$layouts), [{}],
      [{ return layouts.areDense(); }]>,
    InterfaceMethod<[{
        Whether results can be written into a part of a larger tensor: into a
        concatenation, say. `supportsLayouts` is asked with its strides.
      }],
      "bool", "canWriteParts", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{
        Whether a result can be made in another order of its dimensions, and has
        none yet: the permutation becomes the call's attribute `order`, which
        goes for all results that can.
      }],
      "bool", "takesOrder", (ins "unsigned":$result), [{}], [{
        (void)result;
        return false;
      }]>,
    InterfaceMethod<[{
        The operand in whose memory the call makes a result, since it adds to it
        or changes it in place: nothing else reads that operand, and neither is
        ever computed again. Null where the result has memory of its own.
      }],
      "::mlir::Value", "getTiedOperand", (ins "unsigned":$result), [{}], [{ return {}; }]>,
    InterfaceMethod<[{
        Whether the call can add its one result to a tensor of the result's type,
        in that tensor's memory, and does not yet.
      }],
      "bool", "takesAccumulator", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{
        Has the call, which takes one, add its result to `accumulator`, which
        nothing else reads.
      }],
      "void", "setAccumulator", (ins "::mlir::Value":$accumulator), [{}], [{
        (void)accumulator;
        llvm_unreachable("the call takes no accumulator");
      }]>,
    InterfaceMethod<"Returns how the call behaves in half precision.", "::gpuopt::PrecisionRole", "getPrecisionRole">,
    InterfaceMethod<"The operands that a product multiplies; of other calls none.",
      "::llvm::SmallVector<::mlir::OpOperand *>", "getFactors", (ins), [{}], [{ return {}; }]>,
    InterfaceMethod<[{
        The letters of a matrix product of the first two operands, with or without
        an epilogue, such as "bik,bkj->bij" (nn.contract explains them); empty for
        other calls.
      }],
      "::llvm::StringRef", "getProductLetters", (ins), [{}], [{ return {}; }]>,
    InterfaceMethod<[{
        Whether a floating-point operand or result stays f32, whatever precision is
        chosen for the others.
      }],
      "bool", "keepsType", (ins "::mlir::Value":$value), [{}], [{
        (void)value;
        return false;
      }]>,
    InterfaceMethod<[{
        Makes the results f32 though operands are in half precision: of products
        that widen, and of accumulations. The types are set already; what is left
        is to note it where the op would infer others.
      }],
      "void", "widenResults", (ins), [{}], [{ (void)$_op; }]>,
    InterfaceMethod<[{
        Bytes of workspace that the call should have. All calls share one, as
        large as the largest asks for.
      }],
      "int64_t", "getWorkspaceInBytes", (ins), [{}], [{ return 0; }]>,
    InterfaceMethod<"Bytes of workspace without which the call cannot be made.", "int64_t",
      "getRequiredWorkspaceInBytes", (ins), [{}], [{ return 0; }]>,
    InterfaceMethod<[{
        By what, beside the types of operands and results, times that were
        measured are found again.
      }],
      "std::string", "getCostName", (ins), [{}],
      [{ return $_op->getName().stripDialect().str(); }]>,
    InterfaceMethod<"Returns the call that is emitted for operands and results that lie as told.",
      "::gpuopt::RuntimeCall",
      "getCall", (ins "const ::gpuopt::CallLayouts &":$layouts)>
  ];
}

#endif // GPUOPT_INTERFACES_RUNTIMECALLOPINTERFACE_TD
