//===- NNOps.td - Operations of the nn dialect -------------*- tablegen -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_NN_IR_NNOPS_TD
#define GPUOPT_DIALECT_NN_IR_NNOPS_TD

include "gpuopt/Dialect/NN/IR/NNAttentionOp.td"
include "gpuopt/Dialect/NN/IR/NNCallOps.td"
include "gpuopt/Dialect/NN/IR/NNOpBase.td"
include "gpuopt/Dialect/NN/IR/NNWindowOps.td"

//===----------------------------------------------------------------------===//
// Layout changes: views, which cost nothing where the reader takes strides
//===----------------------------------------------------------------------===//

def NN_ReshapeOp : NN_Op<"reshape", [Differentiable, View]> {
  let summary = "the same elements in row-major order under another shape";
  let description = [{
    Constraints:
    - (C1) operand and result have the same element type;
    - (C2) operand and result have the same number of elements.

    ```mlir
    %1 = nn.reshape %0 : tensor<4x8x16xf32> to tensor<32x16xf32>
    ```
  }];
  let arguments = (ins NN_Tensor:$input);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def NN_TransposeOp : NN_InferredOp<"transpose", [Differentiable, View]> {
  let summary = "dimension i of the result is dimension permutation[i] of the operand";
  let description = [{
    Constraints:
    - (C1) `permutation` is a permutation of 0 .. rank - 1.

    ```mlir
    %1 = nn.transpose %0 [0, 2, 1] : tensor<4x8x16xf32>   // tensor<4x16x8xf32>
    ```
  }];
  let arguments = (ins NN_Tensor:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$input $permutation attr-dict `:` type($input)";
  let hasFolder = 1;
}

def NN_BroadcastOp : NN_Op<"broadcast", [Differentiable, View]> {
  let summary = "repeats dimensions of size 1, aligned at the last dimension";
  let description = [{
    NumPy's rule: the operand's shape is aligned with the last dimensions of
    the result's, and missing dimensions count as 1.

    Constraints:
    - (C1) operand and result have the same element type;
    - (C2) each operand dimension is 1 or the result's.

    ```mlir
    %1 = nn.broadcast %bias : tensor<16xf32> to tensor<4x8x16xf32>
    ```
  }];
  let arguments = (ins NN_Tensor:$input);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def NN_SliceOp : NN_InferredOp<"slice", [Differentiable, View]> {
  let summary = "a strided box of the operand";
  let description = [{
    Element i of dimension d is the operand's element
    `offsets[d] + i * strides[d]`.

    Constraints:
    - (C1) one offset, size and stride per dimension, strides at least 1;
    - (C2) the box lies inside the operand.

    ```mlir
    %1 = nn.slice %0 [0, 8] [4, 8] [1, 1] : tensor<4x24xf32>   // tensor<4x8xf32>
    ```
  }];
  let arguments = (ins NN_Tensor:$input, DenseI64ArrayAttr:$offsets,
                       DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$strides);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$input $offsets $sizes $strides attr-dict `:` type($input)";
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Joining and padding
//===----------------------------------------------------------------------===//

def NN_ConcatOp : NN_InferredOp<"concat", [Differentiable]> {
  let summary = "the operands one after the other along a dimension";
  let description = [{
    Constraints:
    - (C1) at least one operand, all with one element type and rank;
    - (C2) all dimensions but `dim` are equal.

    ```mlir
    %2 = nn.concat %0, %1 dim 1 : tensor<4x8xf32>, tensor<4x3xf32>   // tensor<4x11xf32>
    ```
  }];
  let arguments = (ins Variadic<NN_Tensor>:$inputs, I64Attr:$dim);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$inputs `dim` $dim attr-dict `:` type($inputs)";
  let hasFolder = 1;
}

def NN_PadOp : NN_InferredOp<"pad", [Differentiable]> {
  let summary = "surrounds, and spreads out, the operand with a constant";
  let description = [{
    Dimension d has `low[d]` elements of `value`, then the operand's elements
    with `interior[d]` elements of `value` between neighbours, then `high[d]`.
    (The interior serves the gradient of a strided slice.)

    Constraints:
    - (C1) one non-negative low, high and interior entry per dimension;
    - (C2) `value` has the operand's element type.

    ```mlir
    %1 = nn.pad %0 low [0, 1] high [0, 2] interior [0, 0] value 0.0 : f32 : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins NN_Tensor:$input, DenseI64ArrayAttr:$low,
                       DenseI64ArrayAttr:$high, DenseI64ArrayAttr:$interior,
                       TypedAttrInterface:$value);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = [{
    $input `low` $low `high` $high `interior` $interior `value` $value
    attr-dict `:` type($input)
  }];
}

//===----------------------------------------------------------------------===//
// Generators
//===----------------------------------------------------------------------===//

def NN_IotaOp : NN_Op<"iota"> {
  let summary = "each element is its own index along a dimension";
  let description = [{
    Constraints:
    - (C1) `dim` is a dimension of the result.

    ```mlir
    %0 = nn.iota dim 1 : tensor<4x8xi64>
    ```
  }];
  let arguments = (ins I64Attr:$dim);
  let results = (outs NN_IndexTensor:$result);
  let assemblyFormat = "`dim` $dim attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def NN_InRangeOp : NN_Op<"in_range", [SameOperandsAndResultType, Costly]> {
  let summary = "indices of a dimension, checked while the program runs";
  let description = [{
    `result[i] = x[i] >= 0 ? x[i] : x[i] + size`: as in ONNX, indices count from
    the end where they are negative. Where that lies outside of 0 .. size - 1 the
    result is 0, so that nothing is read from elsewhere, and the program notes
    it: the trainer ends with an error after the step. The op is for indices that
    the program computes; those that it is given are checked as they are loaded.

    Constraints:
    - (C1) `size` is at least 1.

    ```mlir
    %1 = nn.in_range %ids of 256 : tensor<4x8xi64>
    ```
  }];
  let arguments = (ins NN_IndexTensor:$input, I64Attr:$size);
  let results = (outs NN_IndexTensor:$result);
  let assemblyFormat = "$input `of` $size attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def NN_RandomUniformOp : NN_Op<"random_uniform", [Costly]> {
  let summary = "uniform numbers in [0, 1) from a counter-based generator";
  let description = [{
    Element e (in row-major order) is word e mod 4 of Philox4x32-10 of (seed,
    `stream`, micro step, e div 4): Salmon et al., "Parallel random numbers: as easy as 1, 2, 3"
    (SC 2011). Two ops differ if and only if their streams do, so an op that
    runs again draws the same numbers.

    ```mlir
    %0 = nn.random_uniform stream 3 : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins I64Attr:$stream);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "`stream` $stream attr-dict `:` type($result)";
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

def NN_ReduceOp : NN_InferredOp<"reduce", [Differentiable, Costly]> {
  let summary = "sum, maximum, minimum or product along dimensions";
  let description = [{
    The reduced dimensions stay, with size 1.

    Constraints:
    - (C1) `dims` are dimensions of the operand, ascending, none twice.

    ```mlir
    %1 = nn.reduce sum %0 [1] : tensor<4x8xf32>   // tensor<4x1xf32>
    ```
  }];
  let arguments = (ins NN_ReductionKindAttr:$kind, NN_Tensor:$input,
                       DenseI64ArrayAttr:$dims);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$kind $input $dims attr-dict `:` type($input)";
  let hasFolder = 1;
}

def NN_PartialSumOp : NN_InferredOp<"partial_sum", [Costly]> {
  let summary = "sums over columns, one for each of several runs of rows";
  let description = [{
    Of an operand of shape `[r0, ..., rk, c]`, the `R = r0 * ... * rk` rows are
    cut into `parts` runs of `R / parts` rows that follow each other:
    `y[p, 0, ..., 0, j]` is the sum of `x[i, j]` over the rows `i` of run `p`.
    What is left to do is the sum of the `parts` results. In a kernel that
    reduces rows, each run is what one block works on.

    Constraints:
    - (C1) the operand has rank at least 2;
    - (C2) `parts` is at least 1 and divides the number of rows.

    ```mlir
    %1 = nn.partial_sum %0 parts 4 : tensor<2x16x8xf32>   // tensor<4x1x8xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$input, I64Attr:$parts);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$input `parts` $parts attr-dict `:` type($input)";
}

//===----------------------------------------------------------------------===//
// Gather
//===----------------------------------------------------------------------===//

def NN_TakeOp : NN_InferredOp<"take", [Differentiable, Costly]> {
  let summary = "rows of a table, picked by index";
  let description = [{
    `result[i..., c...] = table[indices[i...], c...]`. Indices are within
    0 .. rows - 1: nn.in_range ensures that, or else the check of the inputs.

    Constraints:
    - (C1) the table has rank at least 1.

    ```mlir
    %1 = nn.take %table, %ids : tensor<256x16xf32>, tensor<4x8xi64>   // tensor<4x8x16xf32>
    ```
  }];
  let arguments = (ins NN_Tensor:$table, NN_IndexTensor:$indices);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$table `,` $indices attr-dict `:` type($table) `,` type($indices)";
}

//===----------------------------------------------------------------------===//
// Softmax, normalisation, dropout, losses
//===----------------------------------------------------------------------===//

class NN_SoftmaxLikeOp<string mnemonic, string formula>
    : NN_Op<mnemonic, [SameOperandsAndResultType, Differentiable, Costly]> {
  let description = formula # [{

    Constraints:
    - (C1) `dim` is a dimension of the operand.
  }];
  let arguments = (ins NN_FloatTensor:$input, I64Attr:$dim);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$input `dim` $dim attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def NN_SoftmaxOp : NN_SoftmaxLikeOp<"softmax",
    "`y = exp(x - max x) / sum(exp(x - max x))` along `dim`; with `zeroes_empty`, 0 where all of x is minus infinity, "
    "as in a row that is wholly masked."> {
  let summary = "softmax along a dimension";
  let arguments = (ins NN_FloatTensor:$input, I64Attr:$dim, UnitAttr:$zeroes_empty);
}

def NN_LogSoftmaxOp : NN_SoftmaxLikeOp<"log_softmax",
    "`y = x - max x - log(sum(exp(x - max x)))` along `dim`."> {
  let summary = "logarithm of softmax along a dimension";
}

def NN_LayerNormOp : NN_InferredOp<"layer_norm", [AttrSizedOperandSegments, Differentiable, Costly]> {
  let summary = "normalisation over the last dimensions";
  let description = [{
    The results are `y = (x - mean) * rstd * scale + bias`, the `mean` over the
    dimensions from `axis` on, and the reciprocal standard deviation over them,
    `rstd = 1 / sqrt(variance + epsilon)` (biased variance). `mean` and `rstd`
    keep the reduced dimensions with size 1.

    Constraints:
    - (C1) `axis` is a dimension of the operand;
    - (C2) scale and bias have the shape of the dimensions from `axis` on.

    ```mlir
    %y, %mean, %rstd = nn.layer_norm %x, %scale, %bias axis 2 epsilon 1.0e-5
        : tensor<4x8x16xf32>, tensor<16xf32>, tensor<16xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$input, Optional<NN_FloatTensor>:$scale,
                       Optional<NN_FloatTensor>:$bias, I64Attr:$axis, F64Attr:$epsilon);
  let results = (outs NN_FloatTensor:$result, NN_FloatTensor:$mean, NN_FloatTensor:$rstd);
  let assemblyFormat = [{
    $input (`,` $scale^)? (`bias` $bias^)? `axis` $axis `epsilon` $epsilon attr-dict
    `:` type($input) (`,` type($scale)^)? (`bias` type($bias)^)?
  }];
}

def NN_BatchNormOp : NN_InferredOp<"batch_norm", [Differentiable, Costly, EvaluationForm]> {
  let summary = "normalisation over all dimensions but the last (the channels)";
  let description = [{
    In training, `y = (x - m) / sqrt(v + epsilon) * scale + bias` with the mean m
    and the biased variance v of the batch per channel. The statistics to keep
    are, with n elements per channel,
    `new_mean = (1 - momentum) * running_mean + momentum * m` and
    `new_variance = (1 - momentum) * running_variance + momentum * v * n/(n-1)`
    (PyTorch's meaning of momentum). With `frozen`, m and v are the running
    statistics, which do not change.

    `mean` and `rstd` (shape 1 x ... x channels) are what the gradient reads.

    Constraints:
    - (C1) rank at least 2;
    - (C2) scale, bias and the running statistics have shape [channels].
  }];
  let arguments = (ins NN_FloatTensor:$input, NN_FloatTensor:$scale, NN_FloatTensor:$bias,
                       NN_FloatTensor:$runningMean, NN_FloatTensor:$runningVariance,
                       F64Attr:$epsilon, F64Attr:$momentum, UnitAttr:$frozen);
  let results = (outs NN_FloatTensor:$result, NN_FloatTensor:$newMean,
                      NN_FloatTensor:$newVariance, NN_FloatTensor:$mean, NN_FloatTensor:$rstd);
  let assemblyFormat = [{
    $input `,` $scale `,` $bias `,` $runningMean `,` $runningVariance `epsilon` $epsilon
    `momentum` $momentum (`frozen` $frozen^)? attr-dict `:` type($input) `,` type($scale)
    `,` type($bias) `,` type($runningMean) `,` type($runningVariance)
  }];
}

def NN_DropoutOp : NN_Op<"dropout", [SameOperandsAndResultType, Differentiable, Costly, EvaluationForm]> {
  let summary = "zeroes elements with probability `ratio`, scales the others";
  let description = [{
    `y = u >= ratio ? x / (1 - ratio) : 0`, where u is `nn.random_uniform` of the
    same stream. There is no dropout in the step that evaluates the model.

    Constraints:
    - (C1) 0 <= ratio < 1.
  }];
  let arguments = (ins NN_FloatTensor:$input, F64Attr:$ratio, I64Attr:$stream);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$input `ratio` $ratio `stream` $stream attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def NN_CrossEntropyOp : NN_InferredOp<"cross_entropy", [Differentiable, Costly]> {
  let summary = "cross entropy of each row of logits against a class index";
  let description = [{
    With z the log-softmax of a row over the last dimension, C classes and the
    label smoothing s, `loss = -(1 - s) * z[label] - s / C * sum(z)`; it is 0
    where the label is `ignore_index`. The gradient reads `log_sum_exp`. Both
    results keep the last dimension with size 1.

    Constraints:
    - (C1) the shape of the labels is the logits' without the last dimension;
    - (C2) 0 <= label_smoothing < 1.

    ```mlir
    %loss, %lse = nn.cross_entropy %logits, %labels ignore_index -100 label_smoothing 0.0
        : tensor<32x256xf32>, tensor<32xi64>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$logits, NN_IndexTensor:$labels,
                       I64Attr:$ignoreIndex, F64Attr:$labelSmoothing);
  let results = (outs NN_FloatTensor:$loss, NN_FloatTensor:$logSumExp);
  let assemblyFormat = [{
    $logits `,` $labels `ignore_index` $ignoreIndex `label_smoothing` $labelSmoothing
    attr-dict `:` type($logits) `,` type($labels)
  }];
}

//===----------------------------------------------------------------------===//
// Fusion
//===----------------------------------------------------------------------===//

def NN_FusedOp : Op<NN_Dialect, "fused", [IsolatedFromAbove, SingleBlock, Pure, Costly]> {
  let summary = "memory-bound work that runs as one kernel";
  let description = [{
    The body has elementwise ops, nn.broadcast, nn.reduce, nn.partial_sum,
    nn.take, generators and constants; the block's arguments are the operands. What is yielded is
    written to memory; nothing else is. `label` says what the kernel does.

    Constraints:
    - (C1) the arguments have the operands' types, and the yielded values have
      the results' types; where rows of these lie apart in memory, or spare rows
      behind them (the encoding of the type), the types within the body do not
      say so;
    - (C2) all reductions have one operand shape and reduce the same
      dimensions, and every value's shape broadcasts to the largest;
    - (C3) where there is an `nn.partial_sum`, the reductions reduce the last
      dimension alone; all partial sums have their operand shape and the same
      number of parts, and are yielded and read by nothing else;
    - (C4) `in_place`, where present, gives for each result the number of the
      operand whose memory it takes, or -1. It names no operand twice, and only
      operands of the result's type, whose rows lie in memory as the result's
      do. What the operand held is gone afterwards, so nothing may read it any
      more, which the packing of the arena checks;
    - (C5) a kernel writes no pads: a result whose pads hold zeros takes the
      memory of an operand of the same type.

    ```mlir
    %1 = nn.fused "add_sum" %x, %y : tensor<4x16xf32>, tensor<4x16xf32> -> tensor<4x1xf32> {
    ^bb0(%a: tensor<4x16xf32>, %b: tensor<4x16xf32>):
      %2 = arith.addf %a, %b : tensor<4x16xf32>
      %3 = nn.reduce sum %2 [1] : tensor<4x16xf32>
      nn.yield %3 : tensor<4x1xf32>
    }
    ```
  }];
  let arguments = (ins StrAttr:$label, Variadic<NN_Tensor>:$inputs,
                       OptionalAttr<DenseI64ArrayAttr>:$in_place);
  let results = (outs Variadic<NN_Tensor>:$results);
  let builders = [OpBuilder<(ins "::mlir::TypeRange":$results, "::llvm::StringRef":$label,
                                 "::mlir::ValueRange":$inputs), [{
    build($_builder, $_state, results, label, inputs, /*in_place=*/nullptr);
  }]>];
  let extraClassDeclaration = [{
    /// Returns the operand whose memory a result takes; null if the result has
    /// memory of its own.
    ::mlir::Value getOverwritten(unsigned result) {
      int64_t operand = getInPlace() ? (*getInPlace())[result] : -1;
      return operand < 0 ? ::mlir::Value() : getInputs()[operand];
    }
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $label $inputs attr-dict (`:` type($inputs)^)? `->` type($results) $body
  }];
  let hasVerifier = 1;
}

def NN_YieldOp : Op<NN_Dialect, "yield", [Terminator, Pure, ParentOneOf<["FusedOp", "ScanOp"]>]> {
  let summary = "what a fused op, or an iteration of a scan, writes to memory";
  let arguments = (ins Variadic<NN_Tensor>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

def NN_ScanOp : Op<NN_Dialect, "scan", [IsolatedFromAbove, SingleBlock, AttrSizedOperandSegments, Pure,
    DeclareOpInterfaceMethods<CostOpInterface, ["usesMatrixUnits", "addOwnWork", "addWarpWork"]>]> {
  let summary = "a loop over the first dimension of tensors, with states that go from iteration to iteration";
  let description = [{
    The body runs `count` times, for i = 0 .. count - 1, or for i = count - 1 .. 0
    where `reverse` is set. The block's arguments are, in this order: entry i of
    each of `slices`, without its first dimension; the states, which are
    `states` in the first iteration and what the iteration before has yielded in all
    others; and the `invariants`, which are the same in all iterations. The body
    yields the next states, and then the entries i of further results.

    The first results are the histories of the states, of count + 1 entries. In
    entry i of a history is the state before iteration i, and in entry i + 1 the one
    after it, so that entry 0 is the initial state and the last entry the final
    one. Where `reverse` is set, it is the other way round: entry count is the
    initial state, and iteration i reads entry i + 1 and writes entry i. The other
    results have an entry for each iteration. The gradient of a scan is a scan in the
    other direction, which reads the histories.

    Constraints:
    - (C1) there are two iterations or more, and each of the slices has as many
      entries;
    - (C2) the arguments of the body have the types of entries of the slices, of
      the states and of the invariants;
    - (C3) the body yields values of the states' types, and then those of which
      the other results have one entry for each iteration;
    - (C4) the histories have the entries of the states;
    - (C5) the body has no other scan, and draws no random numbers, which would
      be the same in all iterations.

    ```mlir
    %h, %y = nn.scan 512 slices(%x) states(%h0) invariants(%w)
        : (tensor<512x4x8xf32>, tensor<4x8xf32>, tensor<8x8xf32>) -> (tensor<513x4x8xf32>, tensor<512x4x8xf32>) {
    ^bb0(%xi: tensor<4x8xf32>, %hi: tensor<4x8xf32>, %wi: tensor<8x8xf32>):
      %0 = nn.contract "bh,gh->bg" %hi, %wi : tensor<4x8xf32>, tensor<8x8xf32>
      %1 = arith.addf %xi, %0 : tensor<4x8xf32>
      %2 = math.tanh %1 : tensor<4x8xf32>
      nn.yield %2, %1 : tensor<4x8xf32>, tensor<4x8xf32>
    }
    ```
  }];
  let arguments = (ins I64Attr:$count, UnitAttr:$reverse, Variadic<NN_Tensor>:$slices, Variadic<NN_Tensor>:$states,
                       Variadic<NN_Tensor>:$invariants);
  let results = (outs Variadic<NN_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $count (`reverse` $reverse^)? `slices` `(` $slices `)` `states` `(` $states `)` `invariants` `(` $invariants `)`
    attr-dict `:` functional-type(operands, results) $body
  }];
  let extraClassDeclaration = [{
    ::mlir::Block &getIteration() { return getBody().front(); }
    ::mlir::OperandRange getYielded() { return getIteration().getTerminator()->getOperands(); }
    ::mlir::ResultRange getHistories() { return getResults().take_front(getStates().size()); }
    ::mlir::ResultRange getStacked() { return getResults().drop_front(getStates().size()); }
    /// The entry of the histories that iteration i reads is i plus this.
    int64_t getEntryBefore() { return getReverse() ? 1 : 0; }
    /// The entry of the histories that iteration i writes is i plus this.
    int64_t getEntryAfter() { return getReverse() ? 0 : 1; }
    /// The entries of the histories with the initial and the final state.
    int64_t getInitialEntry() { return getReverse() ? getCount() : 0; }
    int64_t getFinalEntry() { return getReverse() ? 0 : getCount(); }
  }];
  let hasVerifier = 1;
}

#endif // GPUOPT_DIALECT_NN_IR_NNOPS_TD
