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
    Differentiable, MatrixUnits,
    DeclareOpInterfaceMethods<RuntimeCallOpInterface, [
      "supportsLayouts", "canWriteParts", "takesOrder", "getFactors", "keepsType"]>]> {
  let summary = "scaled dot-product attention";
  let description = [{
    With query Q: [..., L, E], key K: [..., S, E] and value V: [..., S, F]:

    `Y = dropout(softmax(mask(scale * Q K^T))) V : [..., L, F]`,

    the softmax along the S keys. A boolean mask keeps a score where it is true
    and puts `masked_value` (minus infinity) in its place elsewhere; a
    floating-point mask is added. It is broadcast to [..., L, S] by NumPy's
    rule. With a `band` of [first, last] query i sees the keys i + first to
    i + last alone: [-L, 0] is causal attention. With `zeroes_empty` a query
    whose scores are all minus infinity has probabilities of 0, as of
    nn.softmax; dropout is that of nn.dropout on [..., L, S], in row-major order.

    The second result, [2, ..., L], has the largest score of each query and,
    behind these, the logarithm of the sum of exp(score - largest): all that the
    gradient needs of the forward beside Q, K, V and Y (Dao, "FlashAttention-2",
    2023, which keeps the sum of the two). They and a mask stay in f32 if the rest
    is in half precision.

    `of` says what is multiplied with the scale: the `scores` if nothing is said,
    the `query`, or `both` query and key, each with its square root. That makes a
    difference to rounding and overflow of the expanded form alone.

    An `order` is a permutation of Y's dimensions: with [0, 2, 1, 3], Y is written
    as [b, L, h, F].

    Constraints:
    - (C1) query, key and value have one element type, one rank of 2 or more
      and equal leading dimensions;
    - (C2) query and key have one last dimension, key and value one before it;
    - (C3) the mask is boolean, of the query's element type or of the statistics', and its
      shape broadcasts to [..., L, S];
    - (C4) `both` wants a scale that is not negative;
    - (C5) 0 <= the dropout's ratio < 1;
    - (C6) `order` is a permutation of the dimensions that leaves the last one in
      its place;
    - (C7) a band stands without a mask, and each query sees one key at least.

    ```mlir
    %1:2 = nn.attention %q, %k, %v mask %m scale 0.25 of both dropout 0.1 stream 3
        : tensor<2x4x8x16xf32>, tensor<2x4x9x16xf32>, tensor<2x4x9x16xf32>, tensor<8x9xi1>
    %2:2 = nn.attention %q, %k, %v scale 0.25 band [-9, 0]
        : tensor<2x4x8x16xf32>, tensor<2x4x9x16xf32>, tensor<2x4x9x16xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$query, NN_FloatTensor:$key, NN_FloatTensor:$value,
                       Optional<NN_Tensor>:$mask, F64Attr:$scale,
                       DefaultValuedAttr<NN_AttentionScalingAttr, "::gpuopt::nn::AttentionScaling::Scores">:$scaling,
                       OptionalAttr<F64Attr>:$dropoutRatio, OptionalAttr<I64Attr>:$stream,
                       OptionalAttr<F64Attr>:$masked_value, UnitAttr:$zeroes_empty,
                       OptionalAttr<DenseI64ArrayAttr>:$band, OptionalAttr<DenseI64ArrayAttr>:$order);
  let results = (outs NN_FloatTensor:$result, NN_FloatTensor:$statistics);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`mask` $mask^)? `scale` $scale (`of` `` $scaling^)?
    (`dropout` $dropoutRatio^ `stream` $stream)? (`band` $band^)? (`order` $order^)? attr-dict
    `:` type($query) `,` type($key) `,` type($value) (`,` type($mask)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The scores' type, [..., L, S].
    ::mlir::RankedTensorType getScoresType();

    /// Builds the formula, with products and nn.softmax; the result.
    ::mlir::Value expand(::mlir::OpBuilder &builder);

    /// Why the runtime has no call for it; nothing if it has one.
    ::llvm::StringRef getReasonAgainstCall();

    /// The steps of the formula, each with a location of its own: those of the
    /// ONNX nodes that the op stands for.
    enum class Part { Scores, Scale, Mask, Softmax, Dropout, Product };
    static ::mlir::Location fuseLocations(
        ::llvm::ArrayRef<std::pair<Part, ::mlir::Location>> parts);
    /// The whole op's for a part that has none.
    ::mlir::Location getLocOf(Part part);
  }];
}

def NN_AttentionGradOp : NN_InferredOp<"attention_grad", [
    MatrixUnits, DeclareOpInterfaceMethods<RuntimeCallOpInterface, [
      "supportsLayouts", "canWriteParts", "takesOrder", "getFactors", "keepsType", "getWorkspaceInBytes",
      "getRequiredWorkspaceInBytes"]>]> {
  let summary = "the gradients of an attention's query, key and value";
  let description = [{
    The probabilities are computed again, tile by tile, from query, key and the
    attention's `statistics`; `output` is its result Y, and `gradient` that of
    the loss by Y. With D the sums of the rows of Y * dY:

    `P = exp(scale * Q K^T - largest - logarithm)`, `dV = P^T dY`,
    `dS = P * (dY V^T - D)`, `dQ = scale * dS K`, `dK = scale * dS^T Q`.

    dS is 0 where a boolean mask is false. What dropout has dropped is drawn again:
    P in dV and dY V^T are multiplied with 0 there, and with 1 / (1 - ratio)
    elsewhere. Mask, band and attributes are those of nn.attention; `order` is that of all
    three results.

    Constraints:
    - (C1) operands have the shapes of an nn.attention, and `gradient` that of
      `output`;
    - (C2) `order` is a permutation of the dimensions that leaves the last one in
      its place;
    - (C3) mask, dropout and band are as in nn.attention.

    ```mlir
    %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %y, %s, %dy mask %m scale 0.25
        : tensor<2x4x8x16xf32>, tensor<2x4x9x16xf32>, tensor<2x4x9x16xf32>, tensor<2x4x8x16xf32>,
          tensor<2x2x4x8xf32>, tensor<2x4x8x16xf32>, tensor<8x9xi1>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$query, NN_FloatTensor:$key, NN_FloatTensor:$value,
                       NN_FloatTensor:$output, NN_FloatTensor:$statistics, NN_FloatTensor:$gradient,
                       Optional<NN_Tensor>:$mask, F64Attr:$scale,
                       OptionalAttr<F64Attr>:$dropoutRatio, OptionalAttr<I64Attr>:$stream,
                       OptionalAttr<F64Attr>:$masked_value, UnitAttr:$zeroes_empty,
                       OptionalAttr<DenseI64ArrayAttr>:$band, OptionalAttr<DenseI64ArrayAttr>:$order);
  let results = (outs NN_FloatTensor:$query_gradient, NN_FloatTensor:$key_gradient, NN_FloatTensor:$value_gradient);
  let assemblyFormat = [{
    $query `,` $key `,` $value `,` $output `,` $statistics `,` $gradient (`mask` $mask^)? `scale` $scale
    (`dropout` $dropoutRatio^ `stream` $stream)? (`band` $band^)? (`order` $order^)? attr-dict
    `:` type($query) `,` type($key) `,` type($value) `,` type($output) `,` type($statistics) `,` type($gradient)
    (`,` type($mask)^)?
  }];
  let hasVerifier = 1;
}

#endif // GPUOPT_DIALECT_NN_IR_NNATTENTIONOP_TD
