//===- Passes.td - Passes that form kernels -*- tablegen -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_TRANSFORMS_KERNELS_PASSES_TD
#define GPUOPT_TRANSFORMS_KERNELS_PASSES_TD

include "mlir/Pass/PassBase.td"

def AbsorbBiases : Pass<"kernels-absorb-biases"> {
  let summary = "Lets products add the bias that follows them";
  let description = [{
    Where a product's only reader adds a row of state to it, and the sum is read
    by nothing that could be in one kernel with the addition (by products alone,
    as the heads of a fused projection are), the library adds the bias: a kernel
    and a pass over memory less. Other biases cost nothing where they are.

    ```mlir
    %0 = nn.contract "btc,cd->btd" %x, %w : tensor<4x8x16xf32>, tensor<16x32xf32>
    %1 = nn.broadcast %b : tensor<32xf32> to tensor<4x8x32xf32>
    %2 = arith.addf %0, %1 : tensor<4x8x32xf32>
    // becomes
    %2 = nn.contract "btc,cd->btd" %x, %w bias %b : tensor<4x8x16xf32>, tensor<16x32xf32> bias tensor<32xf32>
    ```
  }];
  let statistics = [Statistic<"biasCount", "biases", "biases that products add">];
  let dependentDialects = ["::gpuopt::nn::NNDialect"];
}

def AccumulateProducts : Pass<"kernels-accumulate-products"> {
  let summary = "Adds products and scattered rows up in one memory";
  let description = [{
    A sum of contractions in the backward (the gradient of a weight that is
    used several times, or in chunks) becomes a chain of contractions, each
    added to the one before. The chain begins with those whose operands are made
    first, so that each can run as soon as they are. Rows that `nn.scatter_add`
    adds up (the gradient of an embedding whose table is the weight of the head,
    too) come last.

    ```mlir
    %2 = arith.addf %0, %1 : tensor<4x4xf32>   // two contractions
    // becomes
    %1 = nn.contract "ki,kj->ij" %c, %d plus %0 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<4x4xf32>
    ```
  }];
  let statistics = [Statistic<"callCount", "calls", "products and scattered rows that are added to another call's result">];
  let dependentDialects = ["::gpuopt::nn::NNDialect"];
}

def FormClusters : Pass<"kernels-form-clusters"> {
  let summary = "Groups memory-bound work into what will be one kernel each";
  let description = [{
    Decides which values exist in memory, and which are recomputed inside the
    kernel that reads them; then gathers every kernel's work in one `nn.fused`
    (Analysis/Kernels/Clusters.h has the rules). Afterwards no elementwise op,
    reduction or generator is left outside of one.

    ```mlir
    %0 = arith.addf %x, %y : tensor<4x16xf32>
    %1 = nn.reduce sum %0 [1] : tensor<4x16xf32>
    // becomes
    %1 = nn.fused "add_sum" %x, %y : ... {
    ^bb0(%a: tensor<4x16xf32>, %b: tensor<4x16xf32>):
      %2 = arith.addf %a, %b : tensor<4x16xf32>
      %3 = nn.reduce sum %2 [1] : tensor<4x16xf32>
      nn.yield %3 : tensor<4x1xf32>
    }
    ```
  }];
  let dependentDialects = ["::gpuopt::nn::NNDialect", "::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"clusterCount", "clusters", "Number of clusters formed">];
}

def MergeColumnSums : Pass<"kernels-merge-column-sums", "::mlir::ModuleOp"> {
  let summary = "Adds up columns in the kernels that reduce the rows";
  let description = [{
    A kernel that reduces rows takes over sums over the columns of tensors that
    it reads or writes. Its rows are cut into parts, one for each block, and
    another kernel adds up what the blocks have. So the backward of a layer norm
    reads its operands once, and so does the gradient of the bias before it. The
    number of parts follows from the rows and the device's multiprocessors. Sums
    stay apart where threads would need too many registers, where rows are few
    or longer than a warp can hold, or where the estimates for the device say
    that it is faster. On a processor all sums stay apart.

    A kernel that reduces nothing takes over the sums of what it reads or writes
    as they are, and becomes a kernel of column sums that writes as well: the
    gradient of a GELU adds up that of the bias before it. It may read a further
    tensor for them: the gradient of a residual connection adds up what the
    backward of a batch norm needs of it and of the batch norm's input.

    ```mlir
    %0 = nn.fused "mul_sum" %x, %y : ... -> tensor<8192x1xf32> {           // reduces rows
      ...
      %3 = nn.reduce sum %2 [1] : tensor<8192x64xf32>
      nn.yield %3 : tensor<8192x1xf32>
    }
    %1 = nn.fused "sum" %x : tensor<8192x64xf32> -> tensor<1x64xf32> {     // adds up columns
    ^bb0(%a: tensor<8192x64xf32>):
      %2 = nn.reduce sum %a [0] : tensor<8192x64xf32>
      nn.yield %2 : tensor<1x64xf32>
    }
    // becomes
    %0:2 = nn.fused "mul_sum" %x, %y : ... -> tensor<8192x1xf32>, tensor<256x64xf32> {
      ...
      %3 = nn.reduce sum %2 [1] : tensor<8192x64xf32>
      %4 = nn.partial_sum %a parts 256 : tensor<8192x64xf32>
      nn.yield %3, %4 : tensor<8192x1xf32>, tensor<256x64xf32>
    }
    %1 = nn.fused "sum" %0#1 : tensor<256x64xf32> -> tensor<1x64xf32> { ... }
    ```
  }];
  let options = [
    Option<"device", "device", "std::string", "\"host\"",
           "device whose times are estimated: a built-in device model or a JSON file">,
  ];
  let statistics = [Statistic<"mergedCount", "merged", "sums that other kernels take over">];
  let dependentDialects = ["::gpuopt::nn::NNDialect"];
}

def MergeAttentionSums : Pass<"kernels-merge-attention-sums", "::mlir::ModuleOp"> {
  let summary = "Adds up columns where the backward of attention writes them";
  let description = [{
    The gradient of the bias of a projection to queries, keys and values is the
    sum over the columns of the gradients of these. The backward of attention
    makes it in parts of its tiles, and another kernel adds up the parts. On a
    processor these sums stay apart.

    ```mlir
    %dq, %dk, %dv = nn.attention_grad ... order [0, 2, 1, 3] : ...   // tensor<4x64x2x16xf32>
    ...
    %dy = nn.concat %0, %1, %2 dim 2 : ...                           // tensor<4x64x96xf32>
    %db = nn.fused "sum" %dy : tensor<4x64x96xf32> -> tensor<1x1x96xf32> { ... }
    // becomes
    %dq, %dk, %dv, %parts = nn.attention_grad ... order [0, 2, 1, 3] sums_columns : ...
    %db = nn.fused "sum" %parts : tensor<4x1x96xf32> -> tensor<1x1x96xf32> { ... }
    ```
  }];
  let options = [
    Option<"device", "device", "std::string", "\"host\"",
           "device that the program is for: a built-in device model or a JSON file">,
  ];
  let statistics = [Statistic<"mergedCount", "merged", "sums that the backward of attention takes over">];
  let dependentDialects = ["::gpuopt::nn::NNDialect"];
}

def CollectSums : Pass<"kernels-collect-sums", "::mlir::ModuleOp"> {
  let summary = "Finishes sums of many kernels in one launch";
  let description = [{
    A kernel that only adds up what the blocks of another kernel have added up,
    for gradients that nothing reads before the end of the backward, becomes an
    `nn.sum_parts` for each of its results. These move down to where the last of
    them is made, one behind the other, which is one launch. The parts that wait
    there take memory, so a launch ends where they would be more than
    `most-bytes`. On a processor, where a launch costs nothing, the kernels
    stay.

    ```mlir
    %0:2 = nn.fused "mul_sum" ...             // %0#1: tensor<256x64xf32>
    %1 = nn.fused "sum" %0#1 : tensor<256x64xf32> -> tensor<1x64xf32> { ... }
    %2:2 = nn.fused "mul_sum" ...
    %3 = nn.fused "sum" %2#1 : tensor<256x64xf32> -> tensor<1x64xf32> { ... }
    train.grad_norm %1, %3 ...
    // becomes
    %0:2 = nn.fused "mul_sum" ...
    %2:2 = nn.fused "mul_sum" ...
    %1 = nn.sum_parts %0#1 : tensor<256x64xf32>
    %3 = nn.sum_parts %2#1 : tensor<256x64xf32>
    train.grad_norm %1, %3 ...
    ```
  }];
  let options = [
    Option<"device", "device", "std::string", "\"host\"",
           "device that the program is for: a built-in device model or a JSON file">,
    Option<"mostBytes", "most-bytes", "int64_t", "67108864", "bytes of parts that may wait for one launch">,
  ];
  let statistics = [Statistic<"sumCount", "sums", "sums that become a part of a launch">];
  let dependentDialects = ["::gpuopt::nn::NNDialect"];
}

def FinishSums : Pass<"kernels-finish-sums", "::mlir::ModuleOp"> {
  let summary = "Ends sums in the kernels that read them";
  let description = [{
    Blocks add up parts of a sum, and a small kernel adds up the parts. Where
    another elementwise kernel reads such sums, this pass lets it add up the parts
    itself, which saves launches: the backward of a batch norm has one between its
    two passes over the pixels. All sums that a kernel takes over have the same
    number of parts. Nothing changes on a processor, or where the device's
    estimates say that it would not be faster.

    ```mlir
    %0 = nn.fused "sum" %parts : tensor<256x64xf32> -> tensor<1x64xf32> { ... }
    %1 = nn.fused "sum" %others : tensor<256x64xf32> -> tensor<1x64xf32> { ... }
    %2 = nn.fused "mul" %0, %1 : ... -> tensor<1x64xf32> { ... }
    train.grad_norm %0 ...
    // becomes
    %2:2 = nn.fused "sum_mul" %parts, %others : ... -> tensor<1x64xf32>, tensor<1x64xf32> {
      %3 = nn.reduce sum %a [0] : tensor<256x64xf32>
      %4 = nn.reduce sum %b [0] : tensor<256x64xf32>
      %5 = arith.mulf %3, %4 : tensor<1x64xf32>
      nn.yield %5, %3 : tensor<1x64xf32>, tensor<1x64xf32>
    }
    train.grad_norm %2#1 ...
    ```
  }];
  let options = [
    Option<"device", "device", "std::string", "\"host\"",
           "device whose times are estimated: a built-in device model or a JSON file">,
  ];
  let statistics = [Statistic<"sumCount", "sums", "sums that end in the kernel that reads them">];
  let dependentDialects = ["::gpuopt::nn::NNDialect"];
}

def SumOperands : Pass<"kernels-sum-operands", "::mlir::ModuleOp"> {
  let summary = "Lets products add up the columns of an operand";
  let description = [{
    A kernel that adds up the columns of a tensor, and does nothing else, becomes
    the epilogue of a product that has this tensor as its left operand and adds up
    the same dimensions, as that of the gradient of a weight does with the
    gradient of a bias. The product is one matrix of halves with a result of f32,
    whose type the sums have, too. The kernel stays if it would not be faster as
    an epilogue, by the estimates for the device, and on a processor.

    ```mlir
    %0 = nn.contract "to,tc->oc" %dz, %x to f32 wide : tensor<512x256xf16>, tensor<512x64xf16>
    %1 = nn.fused "sum" %dz : tensor<512x256xf16> -> tensor<1x256xf32> { ... }
    // becomes
    %0, %s = nn.contract_sums "to,tc->oc" %dz, %x : tensor<512x256xf16>, tensor<512x64xf16>
    %1 = nn.reshape %s : tensor<256xf32> to tensor<1x256xf32>
    ```
  }];
  let options = [
    Option<"device", "device", "std::string", "\"host\"",
           "device whose times are estimated: a built-in device model or a JSON file">,
  ];
  let statistics = [Statistic<"sumCount", "sums", "kernels that become epilogues of products">];
  let dependentDialects = ["::gpuopt::nn::NNDialect"];
}

def FuseEpilogues : Pass<"kernels-fuse-epilogues", "::mlir::ModuleOp"> {
  let summary = "Lets products compute the GELU that follows, or its gradient";
  let description = [{
    A kernel that does nothing but add a bias to a product and apply the
    approximate form of GELU becomes the epilogue of the product, and so does one
    that multiplies a product with the derivative of that GELU and adds up the
    columns of the result. The first product keeps the input of the GELU where the
    backward reads it, and then it is the same sum that all kernels read which
    added the bias themselves.

    A kernel stays where the library cannot read its tensors fast: extents that
    are no multiples of 8, several matrices, results that are no rows. It stays if
    it would not be faster as an epilogue, by the estimates for the device or, in
    fp32, by the measured times where both ways were measured. The sum
    of columns has the type of the product, so with f16, where it could
    overflow, the kernel that makes it stays. Within a memory budget, the forward's
    GELUs stay as well, or those of `recomputed` alone once it is known which are
    computed again: a kernel does that without the product. An epilogue would give
    other bits than the kernel, since it does not round what it reads. On a
    processor all kernels stay.

    ```mlir
    %0 = nn.contract "tc,cd->td" %x, %w : tensor<64x16xf32>, tensor<16x32xf32>
    %1 = nn.fused "add_gelu" %0, %b : tensor<64x32xf32>, tensor<32xf32> -> tensor<64x32xf32> { ... }
    ...
    %2 = nn.contract "tk,dk->td" %g, %v : tensor<64x16xf32>, tensor<32x16xf32>
    %3:2 = nn.fused "add_gelu_backward_sum" %2, %0, %b : ... -> tensor<64x32xf32>, tensor<1x32xf32> { ... }
    // becomes
    %1, %0 = nn.contract_gelu "tc,cd->td" %x, %w bias %b keeps_input : ...
    ...
    %3, %4 = nn.contract_gelu_grad "tk,dk->td" %g, %v at %0 sums_columns : ...
    ```
  }];
  let options = [
    Option<"device", "device", "std::string", "\"host\"",
           "device whose times are estimated: a built-in device model or a JSON file">,
    Option<"halfType", "half-type", "std::string", "",
           "f16 or bf16 if products will be in half precision; empty: they stay as they are">,
    Option<"profileCosts", "profile-costs", "std::string", "",
           "file of measured times, which decide where it has those of a product with its epilogue and those of both apart">,
    Option<"allowsTf32", "allows-tf32", "bool", "false",
           "whether products of f32 are in TF32">,
    Option<"hasBudget", "has-budget", "bool", "false",
           "whether any tensor may be computed again within a memory budget">,
    ListOption<"recomputed", "recomputed", "std::string",
               "origins of the tensors that will be computed again">,
    Option<"hasOverrides", "has-overrides", "bool", "false",
           "whether the user chooses the precision of single nodes: then each stays by itself">,
  ];
  let statistics = [Statistic<"epilogueCount", "epilogues", "kernels that become epilogues of products">];
  let dependentDialects = ["::gpuopt::nn::NNDialect"];
}

def FuseRelus : Pass<"kernels-fuse-relus", "::mlir::ModuleOp"> {
  let summary = "Lets products compute the ReLU that follows, and mask its gradient";
  let description = [{
    A kernel that does nothing but apply a ReLU to a product, or to the sum of a
    product, a bias and one more tensor, becomes the epilogue of the product. A
    kernel that masks the gradient of such a ReLU, which a product makes or a
    convolution of single pixels, alone or in a sum with one more tensor, becomes
    the epilogue of that product. The first product then keeps a bit for each
    element.

    A kernel stays where the library cannot read its tensors fast, as for
    `kernels-fuse-epilogues`, and if it would not be faster as an epilogue, by the
    estimates for the device. The sums of the columns of a masked gradient are
    kernels of their own then. On a processor, and where nothing will be in half
    precision, all kernels stay.

    ```mlir
    %0 = nn.contract "tc,dc->td" %x, %w bias %b : ...
    %1 = nn.fused "add_max" %0, %r : tensor<64x32xf32>, tensor<64x32xf32> -> tensor<64x32xf32> { ... }
    ...
    %2 = nn.contract "tk,kd->td" %g, %v : tensor<64x16xf32>, tensor<16x32xf32>
    %3 = nn.fused "add_compare_select" %2, %s, %1 : ... -> tensor<64x32xf32> { ... }
    // becomes
    %1, %mask = nn.contract_relu "tc,dc->td" %x, %w bias %b plus %r keeps_mask : ...
    ...
    %3 = nn.contract_relu_grad "tk,kd->td" %g, %v mask %mask plus %s : ...
    ```
  }];
  let options = [
    Option<"device", "device", "std::string", "\"host\"",
           "device whose times are estimated: a built-in device model or a JSON file">,
    Option<"halfType", "half-type", "std::string", "",
           "f16 or bf16 if products will be in half precision; empty: they stay as they are">,
    Option<"hasOverrides", "has-overrides", "bool", "false",
           "whether the user chooses the precision of single nodes: then each stays by itself">,
  ];
  let statistics = [Statistic<"epilogueCount", "epilogues", "kernels that become epilogues of products">];
  let dependentDialects = ["::gpuopt::nn::NNDialect"];
}

def MaterializeViews : Pass<"kernels-materialize-views"> {
  let summary = "Copies where a layout cannot be read as it lies";
  let description = [{
    Inserts `nn.fused` copies so that afterwards: every reshape is a view of
    its operand's memory; products can read their operands by strides; library
    calls and updates of state read dense tensors, and of a variable that an
    update before them changes a copy of what it was; each operand of a
    concatenation is written by an op that can write into the result.
  }];
  let dependentDialects = ["::gpuopt::nn::NNDialect"];
}

def HoistReaders : Pass<"kernels-hoist-readers"> {
  let summary = "Runs work early where that frees a large tensor";
  let description = [{
    All readers of a tensor move to where the last of their operands is made,
    if the tensor's bytes, over the ops that it then does not outlive, are more
    than the bytes of the readers' results over the ops by which these live
    longer. The two products that read the gradient of a chunk of logits move
    up to it this way.
  }];
  let statistics = [Statistic<"moveCount", "moves", "ops that run earlier">];
}

def PadRows : Pass<"kernels-pad-rows", "::mlir::ModuleOp"> {
  let summary = "Lays rows further apart where products read them faster";
  let description = [{
    A matrix of a product in half precision, or in TF32 with `allows-tf32`, whose rows
    do not begin at multiples of 16 bytes gets a row pitch: the type says how far apart rows begin, and
    what is between them is undefined. A tensor stays dense if one of its readers
    is neither a kernel nor a product, if a result could no longer be written
    over an operand, if the pads would take more than a sixteenth of its memory,
    or if its ops would not be faster by the estimates for the device. On a
    processor all tensors stay dense.

    A parameter's copy in half precision lies as the parameter does, since updates
    write both. Where products of a step would be faster with a pitch of the copy
    than a cast takes, the step casts the parameter itself; the copy is erased if
    no other step reads it.

    ```mlir
    %0 = nn.contract "tk,vk->tv" %x, %w : tensor<8192x768xf16>, tensor<50257x768xf16>
    // becomes
    %0 = nn.contract "tk,vk->tv" %x, %w row_pitch 50304 : tensor<8192x768xf16>, tensor<50257x768xf16>
    // whose type is tensor<8192x50257xf16, {row_pitch = 50304 : i64}>
    ```
  }];
  let options = [
    Option<"device", "device", "std::string", "\"host\"",
           "device whose times are estimated: a built-in device model or a JSON file">,
    Option<"allowsTf32", "allows-tf32", "bool", "false",
           "products of f32 are in TF32">,
  ];
  let statistics = [Statistic<"paddedCount", "padded", "tensors whose rows are padded">];
  let dependentDialects = ["::gpuopt::nn::NNDialect", "::mlir::arith::ArithDialect"];
}

def MarkFastMath : Pass<"kernels-mark-fast-math"> {
  let summary = "Says what kernels may compute in few instructions";
  let description = [{
    A GPU has short forms of some functions, for arguments that come from half
    precision, and of quotients by numbers that are known not to be nearly zero.
    Whether an op of a kernel may have one depends on what it reads and on what is
    made of it, so this is decided here once, for whole kernels. A kernel that the
    schedule computes again in parts keeps the flags, and has the same bits.

    ```mlir
    %1 = nn.fused "gelu" %0 : tensor<64x512xf16> -> tensor<64x512xf32> {
    ^bb0(%a: tensor<64x512xf16>):
      %one = arith.constant dense<1.0> : tensor<64x512xf32>
      %w = arith.extf %a : tensor<64x512xf16> to tensor<64x512xf32>
      %t = math.tanh %w : tensor<64x512xf32>
      // becomes
      %t = math.tanh %w fastmath<afn> : tensor<64x512xf32>
      %2 = arith.addf %t, %one : tensor<64x512xf32>
      ...
    ```
  }];
  let statistics = [Statistic<"markedCount", "fast", "ops that may take few instructions">];
}

def MarkInPlace : Pass<"kernels-mark-in-place"> {
  let summary = "Lets kernels write results over operands that are read no more";
  let description = [{
    A result takes the place of an operand of its type whose only reader is the
    kernel, where every element is read before it is written: in elementwise
    work, and in rows that are reduced first.

    ```mlir
    %1 = nn.fused "softmax" %0 : tensor<4x16xf32> -> tensor<4x16xf32> { ... }
    // becomes, where nothing else reads %0
    %1 = nn.fused "softmax" %0 {in_place = array<i64: 0>} : tensor<4x16xf32> -> tensor<4x16xf32> { ... }
    ```
  }];
  let statistics = [Statistic<"markedCount", "in-place", "results that are written over an operand">];
}

def ReserveRows : Pass<"kernels-reserve-rows", "::mlir::ModuleOp"> {
  let summary = "Gives matrices spare rows where products then need no call for an odd end";
  let description = [{
    A product in half precision makes what is over a multiple of 8 of an extent in
    a call of its own. It makes none where it can go on through pads of rows and
    through spare rows behind them. Two kinds of matrices get these, as many as the
    pads of the rows beside them have elements: copies of parameters in half
    precision, if kernels and products alone read them, and gradients, which are
    sums of products that kernels, updates and the norm read.

    The spare rows of a copy are zero. So are, then, the pads of a product's rows
    that come from them, and those of a kernel's result that is written over it; sums
    run over these. Spare rows of a gradient hold anything. On a processor nothing
    is reserved.

    ```mlir
    train.variable @w.half half_copy : tensor<50257x768xf16> {of = @w}
    %w = train.read @w.half : tensor<50257x768xf16>
    %0 = nn.contract "tk,vk->tv" %x, %w row_pitch 50304 : tensor<8192x768xf16>, tensor<50257x768xf16>
    %1 = nn.contract "tv,tk->vk" %0, %x : tensor<8192x50257xf16, {row_pitch = 50304 : i64}>, tensor<8192x768xf16>
    // becomes
    train.variable @w.half half_copy : tensor<50257x768xf16, {spare_rows = 47 : i64, zeros}> {of = @w}
    %w = train.read @w.half : tensor<50257x768xf16, {spare_rows = 47 : i64, zeros}>
    %0 = nn.contract "tk,vk->tv" %x, %w row_pitch 50304 : tensor<8192x768xf16>, tensor<50257x768xf16, {spare_rows = 47 : i64, zeros}>
    %1 = nn.contract "tv,tk->vk" %0, %x spare_rows 47 : tensor<8192x50257xf16, {row_pitch = 50304 : i64, zeros}>, tensor<8192x768xf16>
    ```
  }];
  let options = [
    Option<"device", "device", "std::string", "\"host\"",
           "device for which rows are reserved: a built-in device model or a JSON file">,
  ];
  let statistics = [Statistic<"reservedCount", "reserved", "matrices that have spare rows">];
  let dependentDialects = ["::gpuopt::nn::NNDialect"];
}

#endif // GPUOPT_TRANSFORMS_KERNELS_PASSES_TD
