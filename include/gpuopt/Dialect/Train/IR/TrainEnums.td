//===- TrainEnums.td - The train dialect and its enums -------*- tablegen -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_TRAIN_IR_TRAINENUMS_TD
#define GPUOPT_DIALECT_TRAIN_IR_TRAINENUMS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Train_Dialect : Dialect {
  let name = "train";
  let cppNamespace = "::gpuopt::train";
  let summary = "the training step: persistent state and explicit updates";
  let description = [{
    State lives in `train.variable` ops. Everything else in a step is
    a value; only `train.read` looks at state and only the update ops change
    it, in the order in which they stand.

    A program has the steps
    - `micro`: forward and backward of one batch. Without gradient
      accumulation it ends with the optimizer; with it, gradients are added to
      variables of kind `gradient`;
    - `update`: the optimizer, after the last batch (accumulation only);
    - `evaluate`: forward and loss, no update;
    - `forward`: the model's outputs (`--inference`);
    - `prepare`: once, when the weights have been loaded.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

def Train_HostType : TypeDef<Train_Dialect, "Host"> {
  let mnemonic = "host";
  let summary = "a tensor's copy in the memory of the host";
  let parameters = (ins "::mlir::RankedTensorType":$tensor);
  let assemblyFormat = "`<` $tensor `>`";
  let builders = [TypeBuilderWithInferredContext<(ins "::mlir::RankedTensorType":$tensor), [{
    return $_get(tensor.getContext(), tensor);
  }]>];
}

def Train_VariableKind : I32EnumAttr<"VariableKind", "what a variable is for", [
    I32EnumAttrCase<"Parameter", 0, "parameter">,
    I32EnumAttrCase<"Frozen", 1, "frozen">,
    I32EnumAttrCase<"Buffer", 2, "buffer">,
    I32EnumAttrCase<"Gradient", 3, "gradient">,
    I32EnumAttrCase<"OptimizerState", 4, "optimizer_state">,
    I32EnumAttrCase<"Kept", 5, "kept">,
    I32EnumAttrCase<"HalfCopy", 6, "half_copy">,
    I32EnumAttrCase<"LossScale", 7, "loss_scale">,
    I32EnumAttrCase<"Workspace", 8, "workspace">,
    I32EnumAttrCase<"Staging", 9, "staging">]> {
  let cppNamespace = "::gpuopt::train";
  let genSpecializedAttr = 0;
}
def Train_VariableKindAttr : EnumAttr<Train_Dialect, Train_VariableKind, "kind">;

def Train_StepKind : I32EnumAttr<"StepKind", "what a step does", [
    I32EnumAttrCase<"Micro", 0, "micro">, I32EnumAttrCase<"Update", 1, "update">,
    I32EnumAttrCase<"Evaluate", 2, "evaluate">, I32EnumAttrCase<"Forward", 3, "forward">,
    I32EnumAttrCase<"Prepare", 4, "prepare">]> {
  let cppNamespace = "::gpuopt::train";
  let genSpecializedAttr = 0;
}
def Train_StepKindAttr : EnumAttr<Train_Dialect, Train_StepKind, "step_kind">;

#endif // GPUOPT_DIALECT_TRAIN_IR_TRAINENUMS_TD
