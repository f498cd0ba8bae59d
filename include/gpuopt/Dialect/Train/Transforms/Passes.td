//===- Passes.td - Passes on the train dialect -*- tablegen -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_TRAIN_TRANSFORMS_PASSES_TD
#define GPUOPT_DIALECT_TRAIN_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def BuildStep : Pass<"train-build-step", "::mlir::ModuleOp"> {
  let summary = "Builds the training step around the forward function";
  let description = [{
    Turns `func.func @forward` into `train.step`s: the loss, the gradients of
    all parameters that it depends on, their norm, and the optimizer's updates,
    for which it adds the variables. With `accumulation-steps` above 1,
    gradients are added up in variables and a step of its own updates. The
    evaluation step is the forward and the loss, with batch normalisation by
    its running statistics and without dropout. With `inference`, there is
    nothing but the forward.

    Gradients are those of the sum of the losses; `train.grad_norm` gives the
    optimizer the factor 1 / weight.

    An optimizer may leave parameters to another one: `muon` is for those of two
    dimensions of which nn.take takes no rows, and leaves others to `adamw`. Its
    products are ops of the step between `train.direction` and `train.update`.

    ```mlir
    func.func @forward(%x: tensor<4x8xf32> {nn.name = "x"}) -> (tensor<4x3xf32> {nn.name = "logits"}) { ... }
    // becomes
    train.step @micro_step micro ("x" %x: tensor<4x8xf32>, "labels" %labels: tensor<4xi64>) { ... }
    train.step @evaluate evaluate ("x" %x: tensor<4x8xf32>, "labels" %labels: tensor<4xi64>) { ... }
    ```
  }];
  let options = [
    Option<"loss", "loss", "std::string", "\"cross_entropy\"", "cross_entropy, mse, bce_with_logits, l1 or none">,
    Option<"logits", "logits", "std::string", "", "name of the output that the loss reads; the first one unless told">,
    Option<"ignoreIndex", "ignore-index", "int64_t", "-100", "label value that the loss ignores">,
    Option<"labelSmoothing", "label-smoothing", "double", "0", "share of a label that is spread over all classes">,
    Option<"lossChunkCount", "loss-chunks", "int64_t", "0",
           "chunks of rows in which product and cross entropy run; 0: enough to keep logits below 1 GiB">,
    Option<"optimizer", "optimizer", "std::string", "\"adamw\"", "one that optimizer_table.h declares">,
    ListOption<"optimizerStates", "optimizer-states", "std::string",
               "which states to keep of those that depend on a hyperparameter, as sgd's momentum_buffer does">,
    Option<"noDecay", "no-decay", "std::string", "", "regular expression of the parameters without weight decay">,
    Option<"accumulationSteps", "accumulation-steps", "int64_t", "1", "batches per update">,
    Option<"inference", "inference", "bool", "false", "the forward alone">];
  let dependentDialects = ["::gpuopt::train::TrainDialect", "::gpuopt::nn::NNDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def InsertLossScaling : Pass<"train-insert-loss-scaling", "::mlir::ModuleOp"> {
  let summary = "Scales the loss's gradient, and undoes it where gradients are used";
  let description = [{
    Replaces each `train.seed` by 1 or, with `enabled`, by a variable of kind
    `loss_scale`, which `train.grad_norm` takes out of the gradients again and
    adapts. Losses are sums here, but a scale is meant for the gradient of a
    mean: it is divided by the number of targets, of all batches of an update,
    rounded down to a power of two so that no bit is lost. A step whose gradients
    overflow is skipped as a whole: what the forward writes, running statistics,
    is kept before and given back after.

    ```mlir
    %seed = train.seed of 4 : tensor<f32>
    train.grad_norm %dw of [@w] : tensor<8x4xf32>
    // becomes
    %scale = train.read @loss_scale : tensor<f32>
    %seed = arith.mulf %scale, %quarter : tensor<f32>
    train.grad_norm %dw of [@w] scale @loss_scale over 4 : tensor<8x4xf32>
    ```
  }];
  let options = [
    Option<"enabled", "enabled", "bool", "false", "scale the loss; without, the seed is 1">,
    Option<"accumulationSteps", "accumulation-steps", "int64_t", "1", "batches per update">];
  let dependentDialects = ["::gpuopt::train::TrainDialect", "::mlir::arith::ArithDialect"];
}

def ReserveWorkspace : Pass<"train-reserve-workspace", "::mlir::ModuleOp"> {
  let summary = "Plans the memory of libraries and of staged batches";
  let description = [{
    For programs on CUDA: adds a variable of kind `workspace`, which cuBLASLt,
    cuDNN and the gradients of embeddings share, one call at a time, and one of
    kind `staging`, into which the loaders of training and evaluation copy
    batches ahead of the step, each two of them. So both are part of the one
    allocation that the program makes, and of every memory budget. Libraries
    choose among the algorithms that the workspace is enough for.

    ```mlir
    train.variable @library_workspace workspace : tensor<33554432xi8>
    train.variable @staged_batches staging : tensor<8192xi8>
    ```
  }];
  let options = [
    Option<"workspaceBytes", "workspace-bytes", "int64_t", "0",
           "bytes of the workspace; 0: 32 MiB for products, up to 256 MiB for convolutions, by their size">];
  let dependentDialects = ["::gpuopt::train::TrainDialect"];
}

def AssignPrecision : Pass<"train-assign-precision", "::mlir::ModuleOp"> {
  let summary = "Chooses what is in half precision";
  let description = [{
    Of each step, the products whose operands are in half precision and the
    tensors that lie in it, so that the estimated time is lowest: a minimum cut
    (Planning/Precision/AssignPrecision.h) of the costs in Analysis/PrecisionGraph.h,
    within the classes of Analysis/PrecisionPolicy.h. Kernels compute in f32
    whatever they read and write.

    Under a memory budget, a byte that is kept for the backward has a price: what
    the schedule's bound would fall by if the budget were a byte larger. At most
    three prices are tried, each scheduled, and the one with the lowest total
    time is kept; remarks say which, and what came of them.

    The choice is written down in attributes, for train-insert-casts, with the
    estimated times of the step in f32, as chosen, and as PyTorch's autocast
    would have it (`train.precision`).

    ```mlir
    %1 = nn.contract "ik,kj->ij" %x, %w : tensor<64x64xf32>, tensor<64x64xf32>
    // becomes
    %1 = nn.contract "ik,kj->ij" %x, %w {train.half_product, train.half_results = array<i1: true>}
        : tensor<64x64xf32>, tensor<64x64xf32>
    ```
  }];
  let options = [
    Option<"halfType", "half-type", "std::string", "", "f16 or bf16; nothing is done without">,
    Option<"policyFile", "policy", "std::string", "", "JSON file with classes of ONNX operators">,
    ListOption<"overrides", "override", "std::string", "REGEX=fp32, or REGEX=fp16 or bf16: nodes, by name or operator">,
    Option<"device", "device", "std::string", "\"host\"", "whose times to estimate">,
    Option<"memoryBudget", "memory-budget", "int64_t", "0", "bytes of everything on the device; 0: no limit">,
    Option<"activationBudget", "activation-budget", "int64_t", "0", "bytes of the arena; 0: no limit">,
    Option<"allowOffload", "allow-offload", "bool", "false", "tensors may wait in the memory of the host">,
    Option<"offloadBandwidth", "offload-bandwidth", "double", "0",
           "bytes per second of the link to the host; 0: the device's">,
    Option<"accumulationSteps", "accumulation-steps", "int64_t", "1", "batches per update">,
    Option<"effort", "effort", "int64_t", "10000", "moves of the scheduler's search for each price">];
  let statistics = [Statistic<"halfProductCount", "half-products", "products in half precision">,
                    Statistic<"halfTensorCount", "half-tensors", "tensors in half precision">];
  let dependentDialects = ["::gpuopt::train::TrainDialect", "::gpuopt::nn::NNDialect"];
}

def InsertCasts : Pass<"train-insert-casts", "::mlir::ModuleOp"> {
  let summary = "Gives tensors the types that were chosen";
  let description = [{
    Rewrites what train-assign-precision has labelled. Kernels widen what they
    read and round what they write; a tensor that products want in another type
    becomes one more result of the kernel that makes it. Parameters stay f32,
    with a copy in half precision that the optimizer writes along with them and
    the step `prepare` makes at first; constants are cast here, and what half
    precision cannot hold becomes its largest number.

    ```mlir
    %1 = nn.contract "ik,kj->ij" %x, %w {train.half_product, train.half_results = array<i1: false>}
        : tensor<64x64xf32>, tensor<64x64xf32>
    // becomes
    %x16 = nn.fused "cast" %x : tensor<64x64xf32> -> tensor<64x64xf16> { ... }
    %w16 = train.read @w.half : tensor<64x64xf16>
    %1 = nn.contract "ik,kj->ij" %x16, %w16 to f32 : tensor<64x64xf16>, tensor<64x64xf16>
    ```
  }];
  let dependentDialects = ["::gpuopt::train::TrainDialect", "::gpuopt::nn::NNDialect", "::mlir::arith::ArithDialect"];
}

def Schedule : Pass<"train-schedule", "::mlir::ModuleOp"> {
  let summary = "Chooses what runs again or is offloaded, so that the step fits a memory budget";
  let description = [{
    For each step whose arena would be above the budget, solves which results
    are kept and which are computed again (Planning/Recompute/SolveRecompute.h), on the
    kernels and library calls that the step has, with the estimated times of
    `device`. Repeated work is put into `train.recompute`. The arena is packed
    to see that it fits, fragmentation included; where it does not, the solver
    is asked for less.

    `memory-budget` is for all that the program allocates on the device,
    `activation-budget` for the arena alone. Without either, nothing changes.

    With `allow-offload`, what the backward reads of the forward may also wait
    in the memory of the host, at the cost of the transfers that the step's work
    does not hide (Analysis/OffloadCost.h). `train.offload` and `train.reload`
    begin them, each awaited by an op of its own; copies back begin early, and
    copies out are awaited late, where the budget has room.

    A step that was changed says what was promised in the attribute
    `train.plan`. Where a budget cannot be met, the module gets the attribute
    `train.unmet_budget` with the smallest budget that was met.

    ```mlir
    %1 = nn.contract "ik,kj->ij" %x, %w : tensor<4x8xf32>, tensor<8x8xf32>
    "forward"(%1)
    "backward"(%1)
    // becomes, where the budget does not allow to keep %1
    %1 = nn.contract "ik,kj->ij" %x, %w : tensor<4x8xf32>, tensor<8x8xf32>
    "forward"(%1)
    %2 = train.recompute "..." %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32> { ... }
    "backward"(%2)
    // or, offloaded
    %1 = nn.contract "ik,kj->ij" %x, %w : tensor<4x8xf32>, tensor<8x8xf32>
    %h = train.offload %1 : tensor<4x8xf32>
    "forward"(%1)
    train.await_offload %h of %1 : tensor<4x8xf32>
    %2 = train.reload "..." %h : tensor<4x8xf32>
    train.await_reload %2 : tensor<4x8xf32>
    "backward"(%2)
    ```
  }];
  let options = [
    Option<"memoryBudget", "memory-budget", "int64_t", "0", "bytes of everything on the device; 0: no limit">,
    Option<"activationBudget", "activation-budget", "int64_t", "0", "bytes of the arena; 0: no limit">,
    Option<"allowOffload", "allow-offload", "bool", "false", "tensors may wait in the memory of the host">,
    Option<"offloadBandwidth", "offload-bandwidth", "double", "0",
           "bytes per second of the link to the host; 0: the device's">,
    Option<"device", "device", "std::string", "\"host\"",
           "device whose times are estimated: a built-in device model or a JSON file">,
    Option<"profileCosts", "profile-costs", "std::string", "",
           "JSON file with times that a trainer measured, which go before the device's rates">,
    Option<"allowsTf32", "tf32", "bool", "false", "products of f32 take the time of TF32">,
    Option<"effort", "effort", "int64_t", "100000", "moves of the solver's search">,
    Option<"searchSmallest", "search-smallest", "bool", "true", "where a budget is not met, find the smallest that is">,
    Option<"takesAny", "any", "bool", "false",
           "take the first plan that is found, whatever it costs: tells sooner whether a budget can be met">];
  let statistics = [Statistic<"repeatCount", "repeats", "results that are computed again">,
                    Statistic<"reloadCount", "reloads", "results that come back from the host">];
  let dependentDialects = ["::gpuopt::train::TrainDialect", "::gpuopt::nn::NNDialect"];
}

def PlanState : Pass<"train-plan-state", "::mlir::ModuleOp"> {
  let summary = "Gives everything that outlives a step its place before the arena";
  let description = [{
    Sorts the variables by kind, and within a kind by their parameter: all
    parameters, then what is frozen, buffers, the gradients that outlive a step,
    and each state of the optimizer by itself. Each gets its offset in bytes from
    the beginning of the program's memory, behind the scalars of the step, at a
    multiple of the alignment. So one launch can walk all parameters with their
    gradients and states, and one collective all gradients. It runs once all
    variables exist; from here on none may be added.

    ```mlir
    train.variable @w parameter : tensor<64xf32>
    train.variable @w.exp_avg optimizer_state : tensor<64xf32> {of = @w}
    train.variable @b parameter : tensor<4xf32>
    // becomes
    train.variable @w parameter : tensor<64xf32> {memoryOffset = 2048 : i64}
    train.variable @b parameter : tensor<4xf32> {memoryOffset = 2304 : i64}
    train.variable @w.exp_avg optimizer_state : tensor<64xf32> {memoryOffset = 2560 : i64, of = @w}
    ```
  }];
  let dependentDialects = ["::gpuopt::train::TrainDialect"];
}

def PlanMemory : Pass<"train-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Gives every tensor of a step its place in the arena";
  let description = [{
    Finds what lives when (views and parts of concatenations share the memory of
    what they belong to, results in place that of what they overwrite) and packs
    it (Planning/Arena/PackArena.h), unless train-schedule has done so already. Offsets
    in bytes are noted on the ops, one per result; -1 is a result in the memory
    of another one. `train.recompute` is replaced by what it holds: from here on
    lifetimes are fixed, and nothing may merge, move or add work. That no two
    tensors meet is checked again where the offsets are read. A remark says how
    high each arena is, and below what no arena can be.

    ```mlir
    %0 = nn.fused "tanh" %x : tensor<8x16xf32> -> tensor<8x16xf32> { ... }
    // becomes
    %0 = nn.fused "tanh" %x {train.offsets = array<i64: 512>} : tensor<8x16xf32> -> tensor<8x16xf32> { ... }
    ```
  }];
  let dependentDialects = ["::gpuopt::train::TrainDialect", "::gpuopt::nn::NNDialect"];
}

def WidenHalf : Pass<"train-widen-half", "::mlir::ModuleOp"> {
  let summary = "Makes models that are in half precision, or cast to it, f32";
  let description = [{
    All tensors of f16 and bf16 become f32, but for the model's inputs, which
    are cast; casts between the two are dropped. So weights in half precision
    get f32 masters, and a model that was exported under autocast loses its
    casts. Which tensors are in half precision after all is for
    train-assign-precision to say.

    ```mlir
    train.variable @w parameter : tensor<4xf16> {file = "model.onnx", offset = 64 : i64, sizeInBytes = 8 : i64}
    %x16 = arith.truncf %x : tensor<4xf32> to tensor<4xf16>
    %y = math.absf %x16 : tensor<4xf16>
    // becomes
    train.variable @w parameter : tensor<4xf32>
        {file = "model.onnx", offset = 64 : i64, sizeInBytes = 8 : i64, storedElementType = f16}
    %y = math.absf %x : tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif // GPUOPT_DIALECT_TRAIN_TRANSFORMS_PASSES_TD
