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
    optimizer the factor 1 / weight. With `losses`, the loss is the sum of the
    means of several ones, each taken by its weight, and weighs 1; each of them has
    labels of its own, `labels.OUTPUT`, and is reported beside the whole.

    An optimizer may leave parameters to another one: `muon` is for those of two
    dimensions from which nn.take takes no rows, and leaves others to `adamw`. Its
    products are ops of the step between `train.direction` and `train.update`.

    ```mlir
    func.func @forward(%x: tensor<4x8xf32> {nn.name = "x"}) -> (tensor<4x3xf32> {nn.name = "logits"}) { ... }
    // becomes
    train.step @micro_step micro ("x" %x: tensor<4x8xf32>, "labels" %labels: tensor<4xi64>) { ... }
    train.step @evaluate evaluate ("x" %x: tensor<4x8xf32>, "labels" %labels: tensor<4xi64>) { ... }
    ```
  }];
  let options = [
    Option<"loss", "loss", "std::string", "\"cross_entropy\"", "a loss by the name that --loss has for it">,
    Option<"logits", "logits", "std::string", "", "name of the output that the loss reads; empty: the first one">,
    ListOption<"losses", "losses", "std::string",
               "losses of several outputs, as OUTPUT:LOSS:WEIGHT, whose sum is minimised in place of `loss` of `logits`">,
    Option<"ignoreIndex", "ignore-index", "int64_t", "-100", "label value that the loss ignores">,
    Option<"labelSmoothing", "label-smoothing", "double", "0", "share of a label that is spread over all classes">,
    ListOption<"classWeights", "class-weights", "double",
               "weights of the classes of cross_entropy and nll, whose sum over the labels divides the loss">,
    Option<"huberDelta", "huber-delta", "double", "1", "error from which huber is linear">,
    Option<"smoothL1Beta", "smooth-l1-beta", "double", "1", "error from which smooth_l1 is linear">,
    Option<"focalAlpha", "focal-alpha", "double", "0.25", "weight of targets of 1 in focal; below 0: no weights">,
    Option<"focalGamma", "focal-gamma", "double", "2", "power of the missed probability in focal">,
    Option<"diceSmooth", "dice-smooth", "double", "1e-5", "what dice adds above and below the fraction">,
    Option<"lossChunkCount", "loss-chunks", "int64_t", "0",
           "chunks of rows in which product and cross entropy run; 0: enough to keep logits below `loss-chunk-bytes`">,
    Option<"lossChunkBytes", "loss-chunk-bytes", "int64_t", "int64_t(5) << 28",
           "most bytes of the logits of a chunk, unless 16 chunks have more">,
    Option<"halfLogits", "half-logits", "bool", "false", "an element of the logits will take two bytes">,
    Option<"optimizer", "optimizer", "std::string", "\"adamw\"",
           "name of an optimizer that optimizer_table.h declares">,
    ListOption<"optimizerStates", "optimizer-states", "std::string",
               "the states to keep among those that depend on a hyperparameter, such as sgd's momentum_buffer">,
    Option<"noDecay", "no-decay", "std::string", "", "regular expression of the parameters without weight decay">,
    ListOption<"paramGroups", "param-groups", "std::string",
               "regular expressions of the parameters of each group, whose hyperparameters are its own; the first that matches counts">,
    ListOption<"evalMetrics", "eval-metrics", "std::string",
               "what an evaluation measures besides the loss, by the names that --eval-metrics has">,
    Option<"accumulationSteps", "accumulation-steps", "int64_t", "1", "batches per update">,
    Option<"inference", "inference", "bool", "false", "build only the forward">];
  let dependentDialects = ["::gpuopt::train::TrainDialect", "::gpuopt::nn::NNDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def FoldRunningStatistics : Pass<"train-fold-running-statistics", "::mlir::ModuleOp"> {
  let summary = "Makes batch norms of a forward a part of weights and biases";
  let description = [{
    In a module of a forward alone, a batch norm behind a convolution or a
    product with weights is a factor of the weights and a bias, which follow from
    its running statistics. A step `prepare` computes both when weights have been
    loaded. The bias becomes a variable of kind `folded`. If nothing else reads
    the weights, they are written in their own place, and the bias has them as
    its `of`; otherwise they become a `folded` variable, too. Nothing else may
    read what the product, and the bias behind it, make. Modules that train stay
    as they are.

    ```mlir
    %w = train.read @w : tensor<16x8x3x3xf32>
    %0 = nn.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : ...
    %1:5 = nn.batch_norm %0, %s, %b, %m, %v epsilon 1.0e-5 momentum 0.1 frozen : ...
    // becomes, with a step that writes @w and @w.bias.folded,
    %w = train.read @w : tensor<16x8x3x3xf32>
    %1 = nn.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : ...
    %2 = train.read @w.bias.folded : tensor<16xf32>
    %3 = nn.broadcast %2 : tensor<16xf32> to tensor<2x4x4x16xf32>
    %4 = arith.addf %1, %3 : tensor<2x4x4x16xf32>
    ```
  }];
  let dependentDialects = ["::gpuopt::train::TrainDialect", "::gpuopt::nn::NNDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let statistics = [Statistic<"foldedCount", "folded", "batch norms that became part of weights">];
}

def InsertLossScaling : Pass<"train-insert-loss-scaling", "::mlir::ModuleOp"> {
  let summary = "Scales the gradient of the loss, and undoes that where gradients are used";
  let description = [{
    Replaces each `train.seed` by 1 or, with `enabled`, by a variable of kind
    `loss_scale`, which `train.grad_norm` takes out of the gradients again and
    adapts. Losses are sums here, but a scale is meant for the gradient of a
    mean: it is divided by the number of targets, of all batches of an update,
    rounded down to a power of two so that no bit is lost. A step whose gradients
    overflow is skipped as a whole: the running statistics, which the forward
    writes, are copied before and given back afterwards.

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
    Option<"enabled", "enabled", "bool", "false", "scale the loss; otherwise the seed is 1">,
    Option<"accumulationSteps", "accumulation-steps", "int64_t", "1", "batches per update">];
  let dependentDialects = ["::gpuopt::train::TrainDialect", "::mlir::arith::ArithDialect"];
}

def ReserveWorkspace : Pass<"train-reserve-workspace", "::mlir::ModuleOp"> {
  let summary = "Plans the memory of libraries and of staged batches";
  let description = [{
    The pass serves programs on CUDA. It adds a variable of kind `workspace`,
    which cuBLASLt, cuDNN and the gradients of embeddings use in turn, and one of
    kind `staging`, into which the loaders of training and of evaluation each
    copy two batches ahead of the step. So both are part of the one allocation
    that the program makes, and of every memory budget. Libraries choose among
    the algorithms for which the workspace is large enough. cuDNN gives no bound
    for what a convolution needs, so it is estimated; a file of
    gpuopt-plan-convolutions says what it is. A warning counts the convolutions
    that the file has no plan for.

    ```mlir
    train.step @forward forward ("x" %x: tensor<8x16xf32>) {
      %w = train.read @w : tensor<16x16xf32>
      %y = nn.contract "ik,kj->ij" %x, %w : tensor<8x16xf32>, tensor<16x16xf32>
      ...
    // becomes the same step behind
    train.variable @library_workspace workspace : tensor<33554432xi8>
    train.variable @staged_batches staging : tensor<8192xi8>
    ```
  }];
  let options = [
    Option<"workspaceBytes", "workspace-bytes", "int64_t", "0",
           "bytes of the workspace; 0: 32 MiB for products, up to 256 MiB for convolutions, by their size">,
    Option<"convolutionPlans", "convolution-plans", "std::string", "",
           "file of gpuopt-plan-convolutions, for the workspaces of convolutions">];
  let dependentDialects = ["::gpuopt::train::TrainDialect"];
}

def AssignPrecision : Pass<"train-assign-precision", "::mlir::ModuleOp"> {
  let summary = "Chooses what is in half precision";
  let description = [{
    For each step, the pass chooses the products whose operands are in half
    precision and the tensors that are stored in it, so that the estimated time
    is lowest. The choice is a minimum cut
    (Planning/Precision/AssignPrecision.h) of the costs in
    Analysis/Precision/PrecisionGraph.h, within the classes of
    Analysis/Precision/PrecisionPolicy.h. Kernels compute in f32 whatever they
    read and write.

    Under a memory budget, a byte that is kept for the backward has a price: the
    time by which the schedule's bound would fall if the budget were a byte
    larger. The pass tries at most three prices, makes a schedule for each, and
    keeps the one with the lowest total time; remarks say which prices were tried
    and what time they gave.

    The steps that train are labelled first. Copies of weights that another step
    wants as well lie there for as long as the program runs; where they would
    make the steps that train slower, or leave them without a schedule, the
    other one has none but theirs.

    Rows of a frozen table are taken in half precision if all else that reads
    the table are products in half precision. The choice is written down in
    attributes, for train-insert-casts, with the estimated times of the step in f32, as chosen, and as PyTorch's autocast
    would have it (`train.precision`).

    ```mlir
    %1 = nn.contract "ik,kj->ij" %x, %w : tensor<64x64xf32>, tensor<64x64xf32>
    // becomes
    %1 = nn.contract "ik,kj->ij" %x, %w {train.half_product, train.half_results = array<i1: true>}
        : tensor<64x64xf32>, tensor<64x64xf32>
    ```
  }];
  let options = [
    Option<"halfType", "half-type", "std::string", "", "f16 or bf16; empty: nothing is done">,
    Option<"policyFile", "policy", "std::string", "", "JSON file with classes of ONNX operators">,
    ListOption<"overrides", "override", "std::string",
               "REGEX=fp32, REGEX=fp16 or REGEX=bf16 for nodes, by name or operator">,
    Option<"device", "device", "std::string", "\"host\"", "device whose times are estimated">,
    Option<"memoryBudget", "memory-budget", "int64_t", "0", "bytes of everything on the device; 0: no limit">,
    Option<"activationBudget", "activation-budget", "int64_t", "0", "bytes of the arena; 0: no limit">,
    Option<"allowOffload", "allow-offload", "bool", "false", "tensors may wait in the memory of the host">,
    Option<"offloadBandwidth", "offload-bandwidth", "double", "0",
           "bytes per second of the link to the host; 0: the device's">,
    Option<"accumulationSteps", "accumulation-steps", "int64_t", "1", "batches per update">,
    Option<"effort", "effort", "int64_t", "10000", "moves of the scheduler's search for each price">,
    Option<"takesAny", "any", "bool", "false",
           "look for precisions with which the budget can be met, whatever they cost">];
  let statistics = [Statistic<"halfProductCount", "half-products", "products in half precision">,
                    Statistic<"halfTensorCount", "half-tensors", "tensors in half precision">];
  let dependentDialects = ["::gpuopt::train::TrainDialect", "::gpuopt::nn::NNDialect", "::mlir::arith::ArithDialect"];
}

def InsertCasts : Pass<"train-insert-casts", "::mlir::ModuleOp"> {
  let summary = "Gives tensors the types that were chosen";
  let description = [{
    Rewrites what train-assign-precision has labelled. Kernels widen what they
    read and round what they write; a tensor that products want in another type
    becomes one more result of the kernel that makes it. Parameters stay f32,
    with a copy in half precision that the step `prepare` makes at first and that
    the optimizer writes along with them. Weights that no optimizer changes and
    that are read in half precision alone are in half precision themselves.
    Constants are cast here; a number that half precision cannot hold becomes its
    largest number.

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
    For each step whose arena would be above the budget, the pass decides which
    results are kept and which are computed again
    (Planning/Recompute/SolveRecompute.h), for the kernels and library calls that
    the step has and with the estimated times of `device`. Repeated work is put
    into `train.recompute`. The arena is then packed to see whether it fits,
    fragmentation included; if it does not, the solver gets a smaller budget.

    `memory-budget` is for all that the program allocates on the device,
    `activation-budget` for the arena alone. Without either, nothing changes.

    With `allow-offload`, what the backward reads of the forward may also wait
    in the memory of the host, at the cost of the transfers that the step's work
    does not hide (Analysis/Costs/OffloadCost.h). `train.offload` and
    `train.reload` begin the transfers, and an op of its own waits for each.
    Copies back begin early, and copies out are awaited late, where the budget
    has room.

    A step that was changed has the attribute `train.plan`, which says what the
    schedule promises. If a budget cannot be met, the module gets the attribute
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
           "JSON file with times that a trainer measured, which take precedence over the device's rates">,
    Option<"allowsTf32", "tf32", "bool", "false", "products of f32 take the time of TF32">,
    Option<"effort", "effort", "int64_t", "100000", "moves of the solver's search">,
    Option<"searchSmallest", "search-smallest", "bool", "true",
           "if a budget is not met, find the smallest one that is">,
    Option<"takesAny", "any", "bool", "false",
           "take the first plan that is found, whatever it costs, to know sooner whether a budget can be met">];
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
    The pass finds when each tensor lives and packs the tensors
    (Planning/Arena/PackArena.h), unless train-schedule has packed them already.
    Views and parts of concatenations share the memory of what they belong to,
    and results in place that of what they overwrite. Ops get the offsets of
    their results in bytes; -1 stands for a result in the memory of another one.
    `train.recompute` is replaced by its body: from here on lifetimes are fixed,
    and nothing may merge, move or add work. Where the offsets are read, it is
    checked again that no two tensors overlap. A remark says how high each arena
    is, and how high it must be at least.

    ```mlir
    %0 = nn.fused "tanh" %x : tensor<8x16xf32> -> tensor<8x16xf32> { ... }
    // becomes
    %0 = nn.fused "tanh" %x {train.offsets = array<i64: 512>} : tensor<8x16xf32> -> tensor<8x16xf32> { ... }
    ```
  }];
  let dependentDialects = ["::gpuopt::train::TrainDialect", "::gpuopt::nn::NNDialect"];
}

def WidenHalf : Pass<"train-widen-half", "::mlir::ModuleOp"> {
  let summary = "Makes f32 of models that are in half precision or cast to it";
  let description = [{
    All tensors of f16 and bf16 become f32, except the model's inputs, which are
    cast; casts between f32 and half precision are dropped. So weights in half
    precision get f32 masters, and a model that was exported under autocast loses
    its casts. train-assign-precision chooses later which tensors are in half
    precision.

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
