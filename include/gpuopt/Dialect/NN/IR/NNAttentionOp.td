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

def NN_AttentionOp : NN_InferredOp<"attention", [Differentiable, MatrixUnits]> {
  let summary = "scaled dot-product attention";
  let description = [{
    With query Q: [..., L, E], key K: [..., S, E] and value V: [..., S, F]:

    `Y = dropout(softmax(mask(scale * Q K^T))) V : [..., L, F]`,

    the softmax along the S keys. A boolean mask keeps a score where it is true
    and puts `masked_value` (minus infinity) in its place elsewhere; a
    floating-point mask is added. It is broadcast to [..., L, S] by NumPy's
    rule. With `zeroes_empty` a query whose scores are all minus infinity has
    probabilities of 0, as of nn.softmax; dropout is that of nn.dropout on
    [..., L, S], in row-major order.

    `of` says what is multiplied with the scale: the `scores` if nothing is said,
    the `query`, or `both` query and key, each with its square root. That makes a
    difference to rounding and overflow alone.

    Constraints:
    - (C1) query, key and value have one element type, one rank of 2 or more
      and equal leading dimensions;
    - (C2) query and key have one last dimension, key and value one before it;
    - (C3) the mask is boolean or of the query's element type, and its shape
      broadcasts to [..., L, S];
    - (C4) `both` wants a scale that is not negative;
    - (C5) 0 <= the dropout's ratio < 1.

    ```mlir
    %1 = nn.attention %q, %k, %v mask %m scale 0.25 of both dropout 0.1 stream 3
        : tensor<2x4x8x16xf32>, tensor<2x4x9x16xf32>, tensor<2x4x9x16xf32>, tensor<8x9xi1>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$query, NN_FloatTensor:$key, NN_FloatTensor:$value,
                       Optional<NN_Tensor>:$mask, F64Attr:$scale,
                       DefaultValuedAttr<NN_AttentionScalingAttr, "::gpuopt::nn::AttentionScaling::Scores">:$scaling,
                       OptionalAttr<F64Attr>:$dropoutRatio, OptionalAttr<I64Attr>:$stream,
                       OptionalAttr<F64Attr>:$masked_value, UnitAttr:$zeroes_empty);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`mask` $mask^)? `scale` $scale (`of` `` $scaling^)?
    (`dropout` $dropoutRatio^ `stream` $stream)? attr-dict
    `:` type($query) `,` type($key) `,` type($value) (`,` type($mask)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The scores' type, [..., L, S].
    ::mlir::RankedTensorType getScoresType();

    /// Builds the formula, with products and nn.softmax; the result.
    ::mlir::Value expand(::mlir::OpBuilder &builder);

    /// The steps of the formula, each with a location of its own: those of the
    /// ONNX nodes that the op stands for.
    enum class Part { Scores, Scale, Mask, Softmax, Dropout, Product };
    static ::mlir::Location fuseLocations(
        ::llvm::ArrayRef<std::pair<Part, ::mlir::Location>> parts);
    /// The whole op's for a part that has none.
    ::mlir::Location getLocOf(Part part);
  }];
}

#endif // GPUOPT_DIALECT_NN_IR_NNATTENTIONOP_TD
