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
    a value; only `train.read` reads state, and only the update ops change it, in
    the order in which they stand.

    A program has the steps
    - `micro`: forward and backward of one batch. Without gradient
      accumulation it ends with the optimizer; with it, gradients are added to
      variables of kind `gradient`;
    - `update`: the optimizer, after the last batch (accumulation only);
    - `evaluate`: forward and loss, no update;
    - `forward`: the model's outputs (`--inference`);
    - `prepare`: what is computed once, when the weights have been loaded;
    - `place_inputs`: copies of inputs to the outputs that begin with them, which
      stand at the beginning of a forward until the device dialect, where they
      become a step of their own.
  }];
  let discardableAttrs = (ins
    // On a step, what its schedule promises.
    "::gpuopt::train::PlanAttr":$plan,
    // On a step, the problem that its schedule solves, and the solution.
    "::gpuopt::train::ProofAttr":$proof,
    // On a step, what was chosen of its precisions.
    "::gpuopt::train::PrecisionAttr":$precision,
    // On a module, f16 or bf16, until the choice of precisions is carried out.
    "::mlir::TypeAttr":$half_type,
    // On an op of a step, which of its results are to be in half precision.
    "::mlir::DenseBoolArrayAttr":$half_results,
    // On a product, that its operands are to be in half precision.
    "::mlir::UnitAttr":$half_product,
    // On a module, why its memory budget cannot be met.
    "::gpuopt::train::UnmetBudgetAttr":$unmet_budget,
    // On an op of a step, where its results lie: offsets in the arena in bytes,
    // one for each result (-1: in the memory of another) and one for scratch
    // memory. A loop has one for each value of an iteration that lies in the arena.
    // Offsets of train.offload are in the memory of the host.
    "::mlir::DenseI64ArrayAttr":$offsets,
    // On an op of a step that runs again, the reason.
    "::mlir::StringAttr":$recomputed);
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
    The attribute has the bytes that wait on the host, the time for which the
    link is busy, and the part of that time for which the step waits.

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
    The attribute has the heights of the arena with the schedule and without it,
    how often work is computed again or reloaded, and estimates: the time of the
    step without a budget, what the schedule adds to it, and what any schedule
    within the budget must add.

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

def Train_PrecisionAttr : Train_Attr<"Precision", "precision"> {
  let summary = "what was chosen of a step's precisions";
  let description = [{
    The summary is for people. The times are estimates of the step with the
    chosen precisions, in fp32, and with those of PyTorch's autocast; the last
    two are left out if overrides rule them out.

    Constraints:
    - (C1) times are f64.

    ```mlir
    #train.precision<summary = "1 of 2 products compute in f16", chosenNanoseconds = 1.000000e+03 : f64,
                     f32Nanoseconds = 2.000000e+03 : f64, autocastNanoseconds = 1.500000e+03 : f64>
    ```
  }];
  let parameters = (ins StringRefParameter<>:$summary, "::mlir::FloatAttr":$chosenNanoseconds,
                        OptionalParameter<"::mlir::FloatAttr">:$f32Nanoseconds,
                        OptionalParameter<"::mlir::FloatAttr">:$autocastNanoseconds);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Train_MemoryPartAttr : Train_Attr<"MemoryPart", "memory_part"> {
  let summary = "the bytes of a kind of state";
  let description = [{
    ```mlir
    #train.memory_part<"optimizer state" of 4096>
    ```
  }];
  let parameters = (ins StringRefParameter<>:$name, "int64_t":$bytes);
  let assemblyFormat = "`<` $name `of` $bytes `>`";
}

def Train_LiveTensorAttr : Train_Attr<"LiveTensor", "live_tensor"> {
  let summary = "a tensor that is alive where memory is fullest";
  let description = [{
    The origin is the name of an ONNX node, `result` the number of the kernel's
    result where it has several.

    ```mlir
    #train.live_tensor<origin = "/norm/LayerNormalization", type = "f32[8,128]", bytes = 4096, result = 1>
    ```
  }];
  let parameters = (ins StringRefParameter<>:$origin, StringRefParameter<>:$type, "int64_t":$bytes,
                        OptionalParameter<"std::optional<int64_t>">:$result);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Train_UnmetBudgetAttr : Train_Attr<"UnmetBudget", "unmet_budget"> {
  let summary = "why a memory budget cannot be met";
  let description = [{
    The attribute has the smallest budget for which a plan was found and the
    limit below which none can be met; like the budget, they are for everything
    or for the arena alone. Then come the parts of persistent memory, the largest first, and the
    tensors that are alive where the limit is reached, with the ONNX node at
    which that is.

    Constraints:
    - (C1) bytes are not negative;
    - (C2) the smallest budget is not below the limit.

    ```mlir
    #train.unmet_budget<smallest 8192 limit 4096 beside [<"parameters" of 2048>]
                        alive at "/fc/Gemm" [<origin = "/fc/Gemm", type = "f32[8,128]", bytes = 4096>]>
    ```
  }];
  let parameters = (ins "int64_t":$smallestBytes, "int64_t":$lowerLimitBytes,
                        OptionalArrayRefParameter<"::gpuopt::train::MemoryPartAttr">:$persistent,
                        StringRefParameter<>:$limitOrigin,
                        OptionalArrayRefParameter<"::gpuopt::train::LiveTensorAttr">:$tensors);
  let assemblyFormat = [{
    `<` `smallest` $smallestBytes `limit` $lowerLimitBytes (`beside` ` ` `[` $persistent^ `]`)?
    `alive` `at` $limitOrigin (` ` `[` $tensors^ `]`)? `>`
  }];
  let genVerifyDecl = 1;
}

def Train_IndexRangeAttr : Train_Attr<"IndexRange", "index_range"> {
  let summary = "the range in which the numbers of an input must lie";
  let description = [{
    Numbers of at least `lowest` and less than `limit` are allowed, and so is
    the one that is `ignored`, where there is one. Of an input of floating-point
    numbers, `limit` is allowed as well.

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
    I32EnumAttrCase<"Staging", 9, "staging">,
    I32EnumAttrCase<"ParamGroups", 10, "param_groups">,
    I32EnumAttrCase<"Losses", 11, "losses">,
    I32EnumAttrCase<"Folded", 12, "folded">]> {
  let cppNamespace = "::gpuopt::train";
  let genSpecializedAttr = 0;
}
def Train_VariableKindAttr : EnumAttr<Train_Dialect, Train_VariableKind, "kind">;

def Train_StepKind : I32EnumAttr<"StepKind", "what a step does", [
    I32EnumAttrCase<"Micro", 0, "micro">, I32EnumAttrCase<"Update", 1, "update">,
    I32EnumAttrCase<"Evaluate", 2, "evaluate">, I32EnumAttrCase<"Forward", 3, "forward">,
    I32EnumAttrCase<"Prepare", 4, "prepare">, I32EnumAttrCase<"PlaceInputs", 5, "place_inputs">]> {
  let cppNamespace = "::gpuopt::train";
  let genSpecializedAttr = 0;
}
def Train_StepKindAttr : EnumAttr<Train_Dialect, Train_StepKind, "step_kind">;

// The memory into which a plan puts a tensor: memory that lasts from step to
// step, the arena, or the host's memory. The device dialect's buffers have these
// kinds.
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
