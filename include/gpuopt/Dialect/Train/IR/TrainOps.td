//===- TrainOps.td - The train dialect ---------------------*- tablegen -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_TRAIN_IR_TRAINOPS_TD
#define GPUOPT_DIALECT_TRAIN_IR_TRAINOPS_TD

include "gpuopt/Dialect/Train/IR/TrainEnums.td"
include "gpuopt/Interfaces/CostOpInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

defvar Train_Tensor = StaticShapeTensorOf<[AnyFloat, AnySignlessInteger]>;
// The resource that recomputation writes; nothing reads it.
def Train_Recomputation : Resource<"::gpuopt::train::Recomputation">;

defvar Train_FloatTensor = StaticShapeTensorOf<[AnyFloat]>;

class Train_Op<string mnemonic, list<Trait> traits = []>
    : Op<Train_Dialect, mnemonic, traits>;

def Train_VariableOp : Train_Op<"variable", [Symbol]> {
  let summary = "a tensor that outlives the step";
  let description = [{
    The first value is `value`, or the `sizeInBytes` bytes at `offset` of `file`
    in the machine's byte order, or zero. `savedAs` are the names under which the
    file of weights has the variable: several for tied weights, none for state
    that is not a weight. `of` names the parameter or buffer that a gradient, an
    optimizer's state, a snapshot or a half copy belongs to. With
    `storedElementType` the file holds elements of that type, which are converted.
    A `folded` variable is what the step `prepare` computes of weights. If it has
    `of`, `prepare` also changes that weight, whose value in the file is another
    one.
    `memoryOffset`, which train-plan-state writes, is where the variable begins in
    the memory of a program, in bytes. `isTable` says that nn.take takes rows of
    the variable, as it does of an embedding.

    Constraints:
    - (C1) at most one of `value` and `file`;
    - (C2) `value` has the variable's type;
    - (C3) with `file`: offset and size are not negative, and the size is that
      of the type as it is stored;
    - (C4) gradients, optimizer states, snapshots and half copies have `of`;
    - (C5) the type has at most eight dimensions;
    - (C6) the memory offset is not negative;
    - (C7) only half copies and frozen weights in half precision have pads, which
      are spare rows of zeros: memory is zero when a program starts, and what
      writes such a tensor writes its elements alone.

    ```mlir
    train.variable @wte.weight parameter : tensor<256x16xf32>
        {file = "model.onnx", offset = 64 : i64, sizeInBytes = 16384 : i64, savedAs = ["wte.weight"]}
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Train_VariableKindAttr:$kind, TypeAttr:$type,
                       OptionalAttr<ElementsAttr>:$value, OptionalAttr<StrAttr>:$file,
                       OptionalAttr<I64Attr>:$offset, OptionalAttr<I64Attr>:$sizeInBytes,
                       DefaultValuedAttr<StrArrayAttr, "{}">:$savedAs,
                       OptionalAttr<FlatSymbolRefAttr>:$of, OptionalAttr<TypeAttr>:$storedElementType,
                       OptionalAttr<I64Attr>:$memoryOffset, UnitAttr:$isTable);
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "VariableKind":$kind, "::mlir::Type":$type,
                                 "::mlir::FlatSymbolRefAttr":$of), [{
    // Builds state of the training alone, which is zero at first and in no file.
    build($_builder, $_state, name, kind, type, {}, {}, {}, {}, $_builder.getArrayAttr({}), of, {}, {}, false);
  }]>];
  let assemblyFormat = "$sym_name $kind `:` $type attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns whether a regular expression matches one of the variable's names,
    /// of which a tied one has several.
    bool isNamed(::llvm::StringRef expression);
    /// Returns whether it is a weight: a tensor of the model, in the file of weights.
    bool isWeight();
    /// Returns whether it is a weight that the optimizer changes.
    bool isTrained();
    /// Returns whether it belongs to a weight, which is then `of`.
    bool isOfWeight();
    /// Returns whether spare rows of zeros may follow its own.
    bool canHaveSpareRows();
  }];
}

// An op that does more work than its operands and results tell, as on variables.
defvar Train_OwnWork = DeclareOpInterfaceMethods<CostOpInterface, ["addOwnWork"]>;

class Train_VariableUser<string mnemonic, list<Trait> traits = []>
    : Train_Op<mnemonic, !listconcat([DeclareOpInterfaceMethods<SymbolUserOpInterface>], traits)>;

def Train_ReadOp : Train_VariableUser<"read", [MemoryEffects<[MemRead]>]> {
  let summary = "the value of a variable";
  let description = [{
    Constraints:
    - (C1) the variable exists and has the result's type.

    ```mlir
    %w = train.read @wte.weight : tensor<256x16xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$variable);
  let results = (outs Train_Tensor:$result);
  let assemblyFormat = "$variable attr-dict `:` type($result)";
}

def Train_WriteOp : Train_VariableUser<"write", [Train_OwnWork, MemoryEffects<[MemWrite]>]> {
  let summary = "gives a variable a new value";
  let description = [{
    Constraints:
    - (C1) the variable exists and has the value's type.
  }];
  let arguments = (ins FlatSymbolRefAttr:$variable, Train_Tensor:$value);
  let assemblyFormat = "$variable `,` $value attr-dict `:` type($value)";
}

def Train_AccumulateOp : Train_VariableUser<"accumulate", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "adds a value to a variable";
  let description = [{
    The value may be in half precision; the sum has the variable's type.

    Constraints:
    - (C1) the variable exists and has the value's shape.
  }];
  let arguments = (ins FlatSymbolRefAttr:$variable, Train_FloatTensor:$value);
  let assemblyFormat = "$variable `,` $value attr-dict `:` type($value)";
}

def Train_StepOp : Train_Op<"step", [Symbol, IsolatedFromAbove, SingleBlock, NoTerminator]> {
  let summary = "one program of the trainer, run as a whole";
  let description = [{
    The block's arguments are the model's inputs, which `inputNames` names. The
    labels, which `labelsNames` names, are the last of them: one for each loss
    that has labels. Where labels are classes, their place in `labelsRanges` says
    which classes there are; where they are probabilities, that these lie from 0
    to 1; and it is `unit` where labels may be any numbers.

    Once a step, each optimizer computes what all its updates share.

    Constraints:
    - (C1) one input name per argument;
    - (C2) the names of labels are those of the last inputs;
    - (C3) one range per name of labels;
    - (C4) inputs are ranked tensors of static shape, of integers or floats;
    - (C5) no two inputs have one name;
    - (C6) the values of its ops, and those in regions of these, are ranked
      tensors of static shape, of integers or floats, or copies on the host. Only
      in regions there may be numbers as well.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Train_StepKindAttr:$kind,
                       StrArrayAttr:$inputNames, OptionalAttr<StrArrayAttr>:$labelsNames,
                       OptionalAttr<ArrayAttr>:$labelsRanges);
  let regions = (region SizedRegion<1>:$body);
  let extraClassDeclaration = [{
    /// Whether an input has this name and is labels.
    bool isLabels(::llvm::StringRef name);
    /// Returns the range of the labels of a name; null if there is none.
    ::gpuopt::train::IndexRangeAttr getRangeOfLabels(::llvm::StringRef name);
    /// Returns the op that reports the whole loss, with which the forward ends;
    /// null if the step has none.
    ::gpuopt::train::ReportLossOp getWholeLoss();
  }];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Train_RecomputeOp : Train_Op<"recompute", [IsolatedFromAbove, SingleBlock,
                                               MemoryEffects<[MemWrite<Train_Recomputation>]>]> {
  let summary = "runs work again to get its results back";
  let description = [{
    The results are the same, to the last bit, as those that the same work gave
    earlier in the step; `reason` says what running it again saves.

    The region keeps the recomputation: it is isolated, so that nothing inside is
    merged with what ran before, and the op has an effect, so that it is merged
    with nothing and stays where it stands. Random numbers are functions of the
    step's counter, and repeat.

    Constraints:
    - (C1) the block's arguments have the operands' types, and the yielded values
      have the results' types.

    ```mlir
    %1 = train.recompute "frees 4096 bytes" %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%a: tensor<4x8xf32>, %b: tensor<8x8xf32>):
      %2 = nn.contract "ik,kj->ij" %a, %b : tensor<4x8xf32>, tensor<8x8xf32>
      train.yield %2 : tensor<4x8xf32>
    }
    ```
  }];
  let arguments = (ins StrAttr:$reason, Variadic<Train_Tensor>:$inputs);
  let results = (outs Variadic<Train_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$reason $inputs attr-dict `:` functional-type($inputs, $results) $body";
  let hasVerifier = 1;
}

def Train_YieldOp : Train_Op<"yield", [Terminator, Pure, HasParent<"RecomputeOp">]> {
  let summary = "the results of repeated work";
  let arguments = (ins Variadic<Train_Tensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

// Transfers have an effect, so that none are merged and all stay in order.
class Train_TransferOp<string mnemonic, list<Trait> traits = []>
    : Train_Op<mnemonic, !listconcat([MemoryEffects<[MemWrite<Train_Recomputation>]>], traits)>;

def Train_OffloadOp : Train_TransferOp<"offload", [
    TypesMatchWith<"the copy is of the value's type", "value", "copy",
                   "HostType::get(::llvm::cast<::mlir::RankedTensorType>($_self))">]> {
  let summary = "begins to copy a tensor to the host";
  let description = [{
    The copy runs beside the step's other work. Until `train.await_offload` has
    waited for it, the value's memory must stay as it is.

    Constraints:
    - (C1) the value is not the value of a variable, since updates change that.

    ```mlir
    %h = train.offload %x : tensor<4x8xf32>
    train.await_offload %h of %x : tensor<4x8xf32>
    // %x's memory is free
    %y = train.reload "frees 128 bytes" %h : tensor<4x8xf32>
    train.await_reload %y : tensor<4x8xf32>
    // %y may be read
    ```
  }];
  let arguments = (ins Train_Tensor:$value);
  let results = (outs Train_HostType:$copy);
  let assemblyFormat = "$value attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Train_AwaitOffloadOp : Train_TransferOp<"await_offload", [
    TypesMatchWith<"the copy is of the value's type", "value", "copy",
                   "HostType::get(::llvm::cast<::mlir::RankedTensorType>($_self))">]> {
  let summary = "waits until a tensor has been copied to the host";
  let description = [{
    Constraints:
    - (C1) the copy is what `train.offload` makes of the value.
  }];
  let arguments = (ins Train_HostType:$copy, Train_Tensor:$value);
  let assemblyFormat = "$copy `of` $value attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Train_ReloadOp : Train_TransferOp<"reload", [
    TypesMatchWith<"the copy is of the result's type", "result", "copy",
                   "HostType::get(::llvm::cast<::mlir::RankedTensorType>($_self))">]> {
  let summary = "begins to copy a tensor back from the host";
  let description = [{
    The result has memory of its own, which may be read when `train.await_reload`
    has waited for it. `reason` says what offloading the tensor saves.
  }];
  let arguments = (ins StrAttr:$reason, Train_HostType:$copy);
  let results = (outs Train_Tensor:$result);
  let assemblyFormat = "$reason $copy attr-dict `:` type($result)";
}

def Train_AwaitReloadOp : Train_TransferOp<"await_reload"> {
  let summary = "waits until a tensor has come back from the host";
  let description = [{
    Constraints:
    - (C1) the value is the result of `train.reload`.
  }];
  let arguments = (ins Train_Tensor:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Train_SeedOp : Train_Op<"seed", [Pure]> {
  let summary = "where the backward begins: the gradient of the loss with respect to itself";
  let description = [{
    The seed is 1 or the loss scale: train-insert-loss-scaling decides and
    replaces the op. The loss is a sum over at most `targets` targets.

    ```mlir
    %seed = train.seed of 256 : tensor<f32>
    ```

    Constraints:
    - (C1) at least one target.
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntPositive]>:$targets);
  let results = (outs Train_FloatTensor:$result);
  let assemblyFormat = "`of` $targets attr-dict `:` type($result)";
}

def Train_SnapshotOp : Train_Op<"snapshot", [DeclareOpInterfaceMethods<SymbolUserOpInterface>,
                                     MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "copies a variable as it was before the step";
  let description = [{
    The op acts only in the first batch of a step.

    Constraints:
    - (C1) both variables exist and have one type.

    ```mlir
    train.snapshot @bn1.running_mean in @bn1.running_mean.snapshot
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$source, FlatSymbolRefAttr:$snapshot);
  let assemblyFormat = "$source `in` $snapshot attr-dict";
}

def Train_RestoreOp : Train_Op<"restore", [DeclareOpInterfaceMethods<SymbolUserOpInterface>,
                                           MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "gives a variable back what `train.snapshot` has copied, if the step is skipped";
  let description = [{
    Constraints:
    - (C1) both variables exist and have one type.
  }];
  let arguments = (ins FlatSymbolRefAttr:$target, FlatSymbolRefAttr:$snapshot);
  let assemblyFormat = "$target `from` $snapshot attr-dict";
}

def Train_RefreshOp : Train_Op<"refresh", [DeclareOpInterfaceMethods<SymbolUserOpInterface>,
                                           MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "makes a parameter's copy in another precision";
  let description = [{
    Constraints:
    - (C1) both variables exist and have one shape.

    ```mlir
    train.refresh @fc.weight.half from @fc.weight
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$copy, FlatSymbolRefAttr:$parameter);
  let assemblyFormat = "$copy `from` $parameter attr-dict";
}

def Train_ReportLossOp : Train_Op<"report_loss", [MemoryEffects<[MemWrite]>]> {
  let summary = "adds to the loss that the step reports";
  let description = [{
    The reported loss is the total of `sum` divided by the total of `weight`
    (the valid targets, or the elements of a mean) over the batches of a step. A
    loss that is the sum of several ones is reported once as a whole and, before
    that, once for each of them, by its number, `part`.

    Constraints:
    - (C1) both have one element.
  }];
  let arguments = (ins Train_FloatTensor:$sum, Train_FloatTensor:$weight, OptionalAttr<I64Attr>:$part);
  let assemblyFormat = "$sum `,` $weight (`part` $part^)? attr-dict `:` type($sum) `,` type($weight)";
  let hasVerifier = 1;
}

def Train_GradNormOp : Train_VariableUser<"grad_norm", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "the norm of all gradients, and from it the factor of the update";
  let description = [{
    Gradients are those of the *sum* of the losses. The optimizer multiplies them
    by a factor of 1 / weight and, with clipping, by
    `min(1, max_grad_norm / (norm / weight + 1e-6))` as well, as torch's
    clip_grad_norm_ does.

    With a loss scale, a variable of kind `loss_scale`, the gradients are too
    large by scale / `targets`, which the factor undoes as well. If one of them
    is infinite or NaN, the step is skipped: updates do nothing, and
    `train.restore` acts. The variable gets the scale of the next step
    (Micikevicius et al., "Mixed precision training", ICLR 2018).

    Constraints:
    - (C1) the loss scale's variable exists and is one f32;
    - (C2) there is one parameter per gradient;
    - (C3) each parameter exists and has its gradient's shape.

    ```mlir
    train.grad_norm %dw, %db of [@w, @b] scale @loss_scale over 256 : tensor<8x4xf32>, tensor<4xf32>
    ```
  }];
  let arguments = (ins Variadic<Train_FloatTensor>:$gradients,
                       TypedArrayAttrBase<FlatSymbolRefAttr, "parameters">:$parameters,
                       OptionalAttr<FlatSymbolRefAttr>:$lossScale, DefaultValuedAttr<I64Attr, "1">:$targets);
  let assemblyFormat = [{
    $gradients `of` $parameters (`scale` $lossScale^ `over` $targets)? attr-dict `:` type($gradients)
  }];
}

def Train_DirectionOp : Train_VariableUser<"direction", [Train_OwnWork, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "what an optimizer computes from a gradient before its products";
  let description = [{
    The updates of some optimizers contain products. For these, this op comes
    first: it updates the `states`, as `train.update` does for other optimizers,
    and returns the direction, for which the gradient is multiplied by the factor
    of `train.grad_norm`. From the direction, nn and arith ops compute what
    `train.update` then takes instead of a gradient. In a step that is skipped the
    states stay as they are.

    Constraints:
    - (C1) the variables exist; gradient and result have the shape of the
      parameter `of`;
    - (C2) the optimizer is declared and has a direction, and each of the states
      is declared;
    - (C3) each state has the type that is declared for this parameter, and none
      is absent but those that depend on a hyperparameter.

    ```mlir
    %d = train.direction "muon" of @w, %dw state {momentum_buffer = @w.momentum_buffer} : tensor<8x4xf32> -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins StrAttr:$optimizer, FlatSymbolRefAttr:$of, Train_FloatTensor:$gradient,
                       OptionalAttr<DictionaryAttr>:$states);
  let results = (outs Train_FloatTensor:$result);
  let assemblyFormat = [{
    $optimizer `of` $of `,` $gradient (`state` $states^)? attr-dict `:` type($gradient) `->` type($result)
  }];
  let extraClassDeclaration = [{
    /// Returns the variable of a state; null if the parameter has none.
    ::mlir::FlatSymbolRefAttr getState(::llvm::StringRef name);
  }];
}

def Train_UpdateOp : Train_VariableUser<"update", [Train_OwnWork, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "one step of an optimizer on a parameter";
  let description = [{
    The optimizers, what they keep for a parameter and the hyperparameters that
    they read are declared in lib/Runtime/gpuopt/settings/optimizer_table.h.
    `states` are the variables of the states, by the names that the states have
    there. Learning rate and hyperparameters are those of the program; without
    `decay` the weight decay is 0. With `group` N, hyperparameters and learning
    rate are those of parameter group N, which counts from 1. A `copy` in half
    precision is written along with the parameter. An optimizer that has a
    direction takes, instead of the gradient, what was computed from the
    direction.

    Constraints:
    - (C1) the variables exist; gradient and copy have the parameter's shape;
    - (C2) the optimizer is declared, and so is each of the states;
    - (C3) each state has the type that is declared for this parameter, and none
      is absent but those that depend on a hyperparameter; where the optimizer
      has a direction, `train.direction` has them, and the update has none;
    - (C4) the optimizer is one for such a parameter;
    - (C5) `group` is at least 1.

    ```mlir
    train.update "adamw" @w, %dw state {exp_avg = @w.exp_avg, exp_avg_sq = @w.exp_avg_sq} decay : tensor<8x4xf32>
    ```
  }];
  let arguments = (ins StrAttr:$optimizer, FlatSymbolRefAttr:$parameter, Train_FloatTensor:$gradient,
                       OptionalAttr<DictionaryAttr>:$states, OptionalAttr<FlatSymbolRefAttr>:$copy, UnitAttr:$decay,
                       OptionalAttr<I64Attr>:$group);
  let assemblyFormat = [{
    $optimizer $parameter `,` $gradient (`state` $states^)? (`copy` $copy^)? (`decay` $decay^)? (`group` $group^)?
    attr-dict `:` type($gradient)
  }];
  let extraClassDeclaration = [{
    /// Returns the variable of a state; null if the parameter has none.
    ::mlir::FlatSymbolRefAttr getState(::llvm::StringRef name);
  }];
}

def Train_OutputOp : Train_Op<"output", [MemoryEffects<[MemWrite]>]> {
  let summary = "hands a value to the caller of the step";
  let arguments = (ins StrAttr:$name, Train_Tensor:$value);
  let assemblyFormat = "$name `,` $value attr-dict `:` type($value)";
}

#endif // GPUOPT_DIALECT_TRAIN_IR_TRAINOPS_TD
