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
  let discardableAttrs = (ins
    // What a step's schedule promises.
    "::gpuopt::train::PlanAttr":$plan,
    // The problem that the schedule solves, and its solution.
    "::gpuopt::train::ProofAttr":$proof);
  let hasOperationAttrVerify = 1;
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

class Train_Attr<string name, string attrMnemonic> : AttrDef<Train_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Train_TransfersAttr : Train_Attr<"Transfers", "transfers"> {
  let summary = "what a schedule copies to the host and back";
  let description = [{
    The bytes that wait on the host, the time for which the link is busy, and
    the part of it for which the step waits.

    Constraints:
    - (C1) bytes are not negative, and times are f64.

    ```mlir
    #train.transfers<bytes = 4096, busyNanoseconds = 2.000000e+03 : f64, waitedNanoseconds = 5.000000e+02 : f64>
    ```
  }];
  let parameters = (ins "int64_t":$bytes, "::mlir::FloatAttr":$busyNanoseconds,
                        "::mlir::FloatAttr":$waitedNanoseconds);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Train_PlanAttr : Train_Attr<"Plan", "plan"> {
  let summary = "what the schedule of a step promises";
  let description = [{
    The heights of the arena with the schedule and without it, how often work is
    computed again or reloaded, and estimates: the time of the step without a
    budget, what the schedule adds to it, and what any schedule within the
    budget must add.

    Constraints:
    - (C1) bytes and repeats are not negative, and times are f64.

    ```mlir
    #train.plan<arenaBytes = 512, plainArenaBytes = 1024, repeats = 3, plainNanoseconds = 1.000000e+04 : f64,
                addedNanoseconds = 2.000000e+02 : f64, lowerBoundNanoseconds = 1.500000e+02 : f64>
    ```
  }];
  let parameters = (ins "int64_t":$arenaBytes, "int64_t":$plainArenaBytes, "int64_t":$repeats,
                        "::mlir::FloatAttr":$plainNanoseconds, "::mlir::FloatAttr":$addedNanoseconds,
                        "::mlir::FloatAttr":$lowerBoundNanoseconds,
                        OptionalParameter<"::gpuopt::train::TransfersAttr">:$transfers);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Train_ProofAttr : Train_Attr<"Proof", "proof"> {
  let summary = "the problem that a schedule solves, and its solution";
  let description = [{
    Both are the bytes of a file in the format of `gpuopt-solve`, which are
    printed at the end of the module's text.

    Constraints:
    - (C1) both are bytes.
  }];
  let parameters = (ins "::mlir::DenseResourceElementsAttr":$problem, "::mlir::DenseResourceElementsAttr":$plan);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Train_IndexRangeAttr : Train_Attr<"IndexRange", "index_range"> {
  let summary = "what the numbers of an input must lie in";
  let description = [{
    Numbers of at least `lowest` and less than `limit` are allowed, and so is
    the one that is `ignored`, where there is one.

    Constraints:
    - (C1) the range does not end before it begins.

    ```mlir
    #train.index_range<-8 to 8>
    #train.index_range<0 to 10 or -100>
    ```
  }];
  let parameters = (ins "int64_t":$lowest, "int64_t":$limit, OptionalParameter<"std::optional<int64_t>">:$ignored);
  let assemblyFormat = "`<` $lowest `to` $limit (`or` $ignored^)? `>`";
  let genVerifyDecl = 1;
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
    I32EnumAttrCase<"Snapshot", 5, "snapshot">,
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

// Where a plan puts a tensor: into memory that lasts from step to step, the
// arena, or the host's memory. The device dialect's buffers have these kinds.
def Train_BufferKind : I32EnumAttr<"BufferKind", "what a range of memory holds", [
    I32EnumAttrCase<"State", 0, "state">, I32EnumAttrCase<"Input", 1, "input">,
    I32EnumAttrCase<"Labels", 2, "labels">, I32EnumAttrCase<"Output", 3, "output">,
    I32EnumAttrCase<"Constant", 4, "constant">, I32EnumAttrCase<"Arena", 5, "arena">,
    I32EnumAttrCase<"Host", 6, "host">]> {
  let cppNamespace = "::gpuopt::train";
  let genSpecializedAttr = 0;
}
def Train_BufferKindAttr : EnumAttr<Train_Dialect, Train_BufferKind, "buffer_kind">;

#endif // GPUOPT_DIALECT_TRAIN_IR_TRAINENUMS_TD
