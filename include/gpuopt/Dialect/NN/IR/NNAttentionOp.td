//===- NNAttentionOp.td - Attention as one operation -------*- tablegen -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_NN_IR_NNATTENTIONOP_TD
#define GPUOPT_DIALECT_NN_IR_NNATTENTIONOP_TD

include "gpuopt/Dialect/NN/IR/NNOpBase.td"

def NN_AttentionScaling : I32EnumAttr<"AttentionScaling", "what the scale is multiplied with", [
    I32EnumAttrCase<"Scores", 0, "scores">, I32EnumAttrCase<"Query", 1, "query">,
    I32EnumAttrCase<"Both", 2, "both">]> {
  let cppNamespace = "::gpuopt::nn";
  let genSpecializedAttr = 0;
}
def NN_AttentionScalingAttr : EnumAttr<NN_Dialect, NN_AttentionScaling, "scaling">;

def NN_AttentionOp : NN_InferredOp<"attention", [
    AttrSizedOperandSegments, Differentiable, MatrixUnits,
    DeclareOpInterfaceMethods<RuntimeCallOpInterface, [
      "getReasonAgainstCall", "supportsLayouts", "canWriteParts", "takesOrder", "getFactors", "keepsType"]>,
    EvaluationForm]> {
  let summary = "scaled dot-product attention";
  let description = [{
    With query Q: [..., L, E], key K: [..., S, E] and value V: [..., S, F]:

    `Y = dropout(softmax(mask(cap(scale * Q K^T) + bias))) V : [..., L, F]`,

    where the softmax is taken along the S keys. With a `softcap` c, scores x
    become cap(x) = c tanh(x / c), whose size is at most c (Gemma Team, "Gemma 2",
    2024, section 2); otherwise cap(x) = x. A boolean mask keeps a score
    where it is true, and replaces it by `masked_value` (minus infinity unless
    given) elsewhere; a floating-point mask is added. Mask and bias are broadcast
    to [..., L, S] by NumPy's rule. What distinguishes a bias, such as the
    relative positions of T5 (Raffel et al., 2020, section 2.1), from a mask that
    is added is its gradient: nn.attention_grad has one for the bias alone. With a
    `band` of [first, last], query i sees only the keys i + first to i + last:
    [-L, 0] is causal attention. With `zeroes_empty`, a query whose scores are all
    minus infinity has probabilities of 0, as in nn.softmax. Dropout is that of
    nn.dropout on [..., L, S], in row-major order.

    Key and value may have fewer heads than the query, in the last dimension
    before the rows: with g times as many heads of the query, its heads g i to
    g i + g - 1 share head i of key and value (grouped-query attention, Ainslie et
    al., 2023).

    The second result, [2, ..., L], holds the largest score of each query and,
    after these, the logarithm of the sum of exp(score - largest). The gradient
    needs nothing else of the forward but Q, K, V and Y (Dao, "FlashAttention-2",
    2023, which keeps the sum of the two). These statistics, a mask and a bias
    stay in f32 if the rest is in half precision.

    `of` says what is multiplied by the scale: the `scores`, which is the
    default, the `query`, or `both` query and key, each by the square root of the
    scale. That makes a difference only to rounding and overflow of the expanded
    form.

    An `order` is a permutation of Y's dimensions: with [0, 2, 1, 3], Y is written
    as [b, L, h, F].

    Constraints:
    - (C1) query, key and value have the same element type, the same rank of 2 or more
      and equal leading dimensions, except that the last one of key and value may
      divide that of the query;
    - (C2) query and key have the same last dimension, and key and value are equal
      in all dimensions but the last one;
    - (C3) the mask is boolean or has the element type of the query or of the
      statistics, and its shape broadcasts to [..., L, S];
    - (C4) `both` needs a scale that is not negative;
    - (C5) 0 <= the dropout's ratio < 1;
    - (C6) `order` is a permutation of the dimensions that leaves the last one in
      its place;
    - (C7) there is no mask beside a band, and each query sees at least one key;
    - (C8) the bias has the element type of the statistics, and its shape
      broadcasts to [..., L, S];
    - (C9) the soft cap is a number above 0.

    ```mlir
    %1:2 = nn.attention %q, %k, %v mask %m scale 0.25 of both dropout 0.1 stream 3
        : tensor<2x4x8x16xf32>, tensor<2x4x9x16xf32>, tensor<2x4x9x16xf32>, tensor<8x9xi1>
    %2:2 = nn.attention %q, %k, %v scale 0.25 band [-9, 0]
        : tensor<2x4x8x16xf32>, tensor<2x4x9x16xf32>, tensor<2x4x9x16xf32>
    %3:2 = nn.attention %q, %k, %v bias %b : tensor<4x8x9xf32> scale 0.25 softcap 50.0
        : tensor<2x4x8x16xf32>, tensor<2x4x9x16xf32>, tensor<2x4x9x16xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$query, NN_FloatTensor:$key, NN_FloatTensor:$value,
                       Optional<NN_Tensor>:$mask, Optional<NN_FloatTensor>:$bias, F64Attr:$scale,
                       DefaultValuedAttr<NN_AttentionScalingAttr, "::gpuopt::nn::AttentionScaling::Scores">:$scaling,
                       OptionalAttr<F64Attr>:$softcap, OptionalAttr<F64Attr>:$dropoutRatio, OptionalAttr<I64Attr>:$stream,
                       OptionalAttr<F64Attr>:$masked_value, UnitAttr:$zeroes_empty,
                       OptionalAttr<DenseI64ArrayAttr>:$band, OptionalAttr<DenseI64ArrayAttr>:$order);
  let results = (outs NN_FloatTensor:$result, NN_FloatTensor:$statistics);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`mask` $mask^)? (`bias` $bias^ `:` type($bias))? `scale` $scale (`of` `` $scaling^)?
    (`softcap` $softcap^)? (`dropout` $dropoutRatio^ `stream` $stream)? (`band` $band^)? (`order` $order^)? attr-dict
    `:` type($query) `,` type($key) `,` type($value) (`,` type($mask)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the type of the scores, [..., L, S].
    ::mlir::RankedTensorType getScoresType();

    /// Builds the formula with products and nn.softmax; returns its result.
    ::mlir::Value expand(::mlir::OpBuilder &builder);

    /// The steps of the formula, each with a location of its own: those of the
    /// ONNX nodes that the op stands for.
    enum class Part { Scores, Scale, Softcap, Bias, Mask, Softmax, Dropout, Product };
    /// If a part has several locations, the first one counts.
    static ::mlir::Location fuseLocations(
        ::llvm::ArrayRef<std::pair<Part, ::mlir::Location>> parts);
    /// Returns the location of a part, or that of the op if the part has none.
    ::mlir::Location getLocOf(Part part);
  }];
}

def NN_AttentionGradOp : NN_InferredOp<"attention_grad", [
    AttrSizedOperandSegments, MatrixUnits, DeclareOpInterfaceMethods<RuntimeCallOpInterface, [
      "supportsLayouts", "canWriteParts", "takesOrder", "getFactors", "keepsType", "getWorkspaceInBytes",
      "getRequiredWorkspaceInBytes"]>]> {
  let summary = "the gradients of an attention's query, key, value and bias";
  let description = [{
    The probabilities are computed again, tile by tile, from query, key and the
    attention's `statistics`; `output` is its result Y, and `gradient` is the
    gradient dY of the loss. With D the sums of the rows of Y * dY:

    `P = exp(scale * Q K^T - largest - logarithm)`, `dV = P^T dY`,
    `dS = P * (dY V^T - D)`, `dQ = scale * dS K`, `dK = scale * dS^T Q`.

    With a `softcap`, the scores in P are capped, and the dS in dQ and dK is
    multiplied by the derivative of the cap, 1 - tanh(scale * Q K^T / softcap)^2. If there is a bias, a fourth result has its shape: the sums of dS over all
    dimensions in which the bias is broadcast. dS is 0 where a boolean mask is
    false. The elements that dropout has dropped are drawn again: there P in dV
    and dY V^T are multiplied by 0, and elsewhere by 1 / (1 - ratio). Mask, bias,
    band and attributes are those of nn.attention; the first three results have
    the `order`.

    With `sums_columns`, the last result is a part of the gradient of a bias of
    the projection that made query, key and value, `[b, h, L, d]` and
    `[b, h, L, f]`. It has `b * ceil(L / 64)` parts of `h * (2 d + f)` columns:
    the sums of up to 64 rows of dQ, of dK and then of dV.

    Constraints:
    - (C1) operands have the shapes of an nn.attention, and `gradient` has the
      shape of `output`;
    - (C2) `order` is a permutation of the dimensions that leaves the last one in
      its place;
    - (C3) mask, bias, soft cap, dropout and band are as in nn.attention;
    - (C4) columns are summed for an order of [0, 2, 1, 3], as many keys as
      queries, as many heads of each, heads of up to 128 elements, and no bias.

    ```mlir
    %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %y, %s, %dy mask %m scale 0.25
        : tensor<2x4x8x16xf32>, tensor<2x4x9x16xf32>, tensor<2x4x9x16xf32>, tensor<2x4x8x16xf32>,
          tensor<2x2x4x8xf32>, tensor<2x4x8x16xf32>, tensor<8x9xi1>
    %dq, %dk, %dv, %sums = nn.attention_grad %q, %k, %v, %y, %s, %dy scale 0.25 order [0, 2, 1, 3] sums_columns
        : tensor<2x4x100x16xf32>, tensor<2x4x100x16xf32>, tensor<2x4x100x16xf32>, tensor<2x4x100x16xf32>,
          tensor<2x2x4x100xf32>, tensor<2x4x100x16xf32>   // %sums: tensor<4x1x192xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$query, NN_FloatTensor:$key, NN_FloatTensor:$value,
                       NN_FloatTensor:$output, NN_FloatTensor:$statistics, NN_FloatTensor:$gradient,
                       Optional<NN_Tensor>:$mask, Optional<NN_FloatTensor>:$bias, F64Attr:$scale,
                       OptionalAttr<F64Attr>:$softcap, OptionalAttr<F64Attr>:$dropoutRatio, OptionalAttr<I64Attr>:$stream,
                       OptionalAttr<F64Attr>:$masked_value, UnitAttr:$zeroes_empty,
                       OptionalAttr<DenseI64ArrayAttr>:$band, OptionalAttr<DenseI64ArrayAttr>:$order,
                       UnitAttr:$sums_columns);
  let results = (outs NN_FloatTensor:$query_gradient, NN_FloatTensor:$key_gradient, NN_FloatTensor:$value_gradient,
                      Optional<NN_FloatTensor>:$sums);
  let assemblyFormat = [{
    $query `,` $key `,` $value `,` $output `,` $statistics `,` $gradient (`mask` $mask^)? (`bias` $bias^ `:` type($bias))? `scale` $scale
    (`softcap` $softcap^)? (`dropout` $dropoutRatio^ `stream` $stream)? (`band` $band^)? (`order` $order^)?
    (`sums_columns` $sums_columns^)? attr-dict
    `:` type($query) `,` type($key) `,` type($value) `,` type($output) `,` type($statistics) `,` type($gradient)
    (`,` type($mask)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The gradient of the bias, or null if the op has none.
    ::mlir::Value getBiasGradient() { return getBias() ? getSums() : ::mlir::Value(); }
    /// The parts of the sums of columns, or null if the op has none.
    ::mlir::Value getColumnSums() { return getSumsColumns() ? getSums() : ::mlir::Value(); }
    /// Whether the runtime has such sums for the op (C4).
    bool canSumColumns();
  }];
}

#endif // GPUOPT_DIALECT_NN_IR_NNATTENTIONOP_TD
