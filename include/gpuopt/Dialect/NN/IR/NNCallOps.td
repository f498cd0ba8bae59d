//===- NNCallOps.td - Ops that are calls of the runtime ----*- tablegen -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// NNCalls.cpp has what these ops say about themselves, and docs/architecture.md
// tells how to add one. Convolutions and poolings are calls, too
// (NNWindowOps.td).
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_NN_IR_NNCALLOPS_TD
#define GPUOPT_DIALECT_NN_IR_NNCALLOPS_TD

include "gpuopt/Dialect/NN/IR/NNOpBase.td"

def NN_ContractOp : NN_InferredOp<"contract", [
    AttrSizedOperandSegments, Differentiable, MatrixUnits,
    DeclareOpInterfaceMethods<RuntimeCallOpInterface, [
      "supportsLayouts", "canWriteParts", "getTiedOperand", "takesAccumulator", "setAccumulator", "getFactors",
      "getProductLetters", "keepsType", "widenResults", "getWorkspaceInBytes", "getCostName"]>]> {
  let summary = "a sum of products of two tensors, in Einstein notation";
  let description = [{
    `"bik,bkj->bij"`: each letter names a dimension; the result is the sum,
    over the letters that it lacks, of the products of the operands' elements.
    Transposes of operands and of the result are orders of letters, so they
    are absorbed here instead of copied, and the gradient of a contraction is
    two contractions.

    With an `accumulator`, the products are added to it, in its memory: it is
    the result of another contraction, and nothing else reads it.

    A `bias` is added to each row of the result before the result is rounded. A
    library does this in its epilogue, without a pass over memory.

    Operands in half precision are multiplied and added in f32; the result is
    rounded to their type, or kept in f32 with `to f32`.

    With `wide`, the result stays in f32 whatever precision is chosen: it is a
    sum over all pixels, say, from which a variance is computed. With `full`, the
    operands do so as well.

    With `row_pitch` the rows of the result, along its last dimension, begin that
    many elements apart in memory, so that each begins at an address that the
    library reads fast. The result's type has the pitch as its encoding. With
    `spare_rows` there is room for so many rows behind the last one.

    A letter goes on through the pads and spare rows of the tensors that have it, if
    all of them have some; a letter that is summed, only if these hold zeros. So
    what lies between rows of the result is undefined, but for a letter whose one
    operand has zeros there. Then it is zero, as the result's type says.

    Constraints:
    - (C1) `spec` is "lhs,rhs->result" with one lower-case letter per
      dimension, none twice within one tensor;
    - (C2) a letter has the same size wherever it stands;
    - (C3) each letter stands in at least two of the three tensors;
    - (C4) both operands have the same element type;
    - (C5) an accumulator has the result's type, is the result of an
      nn.contract and has one use;
    - (C6) `to` is f32, and the operands are in half precision;
    - (C7) a bias has the element type and the last dimensions of the result,
      namely all letters that only rhs shares with the result; there is no
      accumulator beside it;
    - (C8) a row pitch is larger than the last dimension of a result of at least
      two;
    - (C9) only a matrix has spare rows, and no more than it has rows.

    ```mlir
    %2 = nn.contract "btc,cd->btd" %0, %1 : tensor<4x8x16xf32>, tensor<16x32xf32>
    %5 = nn.contract "btc,cd->btd" %3, %4 plus %2 : tensor<4x8x16xf32>, tensor<16x32xf32>, tensor<4x8x32xf32>
    %6 = nn.contract "btc,cd->btd" %0, %1 bias %b : tensor<4x8x16xf32>, tensor<16x32xf32> bias tensor<32xf32>
    %7 = nn.contract "btc,cd->btd" %0, %1 row_pitch 40 : tensor<4x8x16xf32>, tensor<16x32xf32>
    %8 = nn.contract "btc,btd->cd" %0, %7 spare_rows 8 : tensor<4x8x16xf32>, tensor<4x8x32xf32, {row_pitch = 40 : i64}>
    ```
  }];
  let arguments = (ins StrAttr:$spec, NN_FloatTensor:$lhs, NN_FloatTensor:$rhs,
                       Optional<NN_FloatTensor>:$accumulator, Optional<NN_FloatTensor>:$bias,
                       OptionalAttr<TypeAttr>:$resultElementType, OptionalAttr<I64Attr>:$rowPitch,
                       OptionalAttr<I64Attr>:$spareRows, UnitAttr:$wide, UnitAttr:$full);
  let results = (outs NN_FloatTensor:$result);
  let builders = [OpBuilder<(ins "::llvm::StringRef":$spec, "::mlir::Value":$lhs, "::mlir::Value":$rhs), [{
    build($_builder, $_state, spec, lhs, rhs, ::mlir::Value(), ::mlir::Value(), ::mlir::TypeAttr(),
          ::mlir::IntegerAttr(), ::mlir::IntegerAttr());
  }]>];
  let assemblyFormat = [{
    $spec $lhs `,` $rhs (`plus` $accumulator^)? (`bias` $bias^)? (`to` $resultElementType^)?
    (`row_pitch` $rowPitch^)? (`spare_rows` $spareRows^)? (`wide` $wide^)? (`full` $full^)? attr-dict
    `:` type($lhs) `,` type($rhs) (`,` type($accumulator)^)? (`bias` type($bias)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::StringRef getLhsLetters();
    ::llvm::StringRef getRhsLetters();
    ::llvm::StringRef getResultLetters();
    /// Returns whether a bias of this type has the dimensions of the columns:
    /// the last letters of the result, which only the right operand has.
    bool takesBias(::mlir::RankedTensorType bias);
  }];
}

def NN_ContractGeluOp : NN_InferredOp<"contract_gelu", [
    DeclareOpInterfaceMethods<CostOpInterface, ["usesMatrixUnits", "addWarpWork"]>,
    DeclareOpInterfaceMethods<RuntimeCallOpInterface, [
      "supportsLayouts", "getFactors", "getProductLetters", "getWorkspaceInBytes", "getCostName"]>]> {
  let summary = "nn.contract with a bias and a GELU in the library's epilogue";
  let description = [{
    `result = gelu(z)`, where `z` is the sum of the contraction and the bias, and

    `gelu(z) = z/2 (1 + tanh(sqrt(2/pi) (z + 0.044715 z^3)))`.

    This is the approximate form of GELU, which libraries have; the exact one
    never becomes this op. With `keeps_input`, the second result is `z`, for the
    backward. Both results are rounded from `z` in f32.

    Constraints:
    - (C1) to (C4) of nn.contract;
    - (C5) only the right operand has the last letter of the result;
    - (C6) a bias has the element type and the last dimension of the result.

    ```mlir
    %y, %z = nn.contract_gelu "btc,cd->btd" %x, %w bias %b keeps_input
      : tensor<4x8x16xf16>, tensor<16x32xf16> bias tensor<32xf16>
    ```
  }];
  let arguments = (ins StrAttr:$spec, NN_FloatTensor:$lhs, NN_FloatTensor:$rhs,
                       Optional<NN_FloatTensor>:$bias, UnitAttr:$keepsInput);
  let results = (outs NN_FloatTensor:$result, Optional<NN_FloatTensor>:$input);
  let assemblyFormat = [{
    $spec $lhs `,` $rhs (`bias` $bias^)? (`keeps_input` $keepsInput^)? attr-dict
    `:` type($lhs) `,` type($rhs) (`bias` type($bias)^)?
  }];
  let hasVerifier = 1;
}

def NN_ContractGeluGradOp : NN_InferredOp<"contract_gelu_grad", [
    DeclareOpInterfaceMethods<CostOpInterface, ["usesMatrixUnits", "addWarpWork"]>,
    DeclareOpInterfaceMethods<RuntimeCallOpInterface, [
      "supportsLayouts", "getFactors", "getProductLetters", "getWorkspaceInBytes", "getCostName"]>]> {
  let summary = "nn.contract with the gradient of a GELU in the library's epilogue";
  let description = [{
    `result = s gelu'(input)`, where `s` is the contraction and `input` what
    nn.contract_gelu keeps: `s` is the gradient of the GELU's result, and the
    op's result the gradient of its input. With `sums_columns`, the second result
    has the sum of each column over all rows of the first, which is the gradient
    of the bias. It is added up in f32, and has the type of the result.

    Constraints:
    - (C1) to (C4) of nn.contract;
    - (C5) only the right operand has the last letter of the result;
    - (C6) `input` has the type of the result.

    ```mlir
    %dz, %db = nn.contract_gelu_grad "btc,dc->btd" %dy, %w at %z sums_columns
      : tensor<4x8x16xbf16>, tensor<32x16xbf16> at tensor<4x8x32xbf16>
    ```
  }];
  let arguments = (ins StrAttr:$spec, NN_FloatTensor:$lhs, NN_FloatTensor:$rhs,
                       NN_FloatTensor:$input, UnitAttr:$sumsColumns);
  let results = (outs NN_FloatTensor:$result, Optional<NN_FloatTensor>:$sums);
  let assemblyFormat = [{
    $spec $lhs `,` $rhs `at` $input (`sums_columns` $sumsColumns^)? attr-dict
    `:` type($lhs) `,` type($rhs) `at` type($input)
  }];
  let hasVerifier = 1;
}

def NN_ContractSumsOp : NN_InferredOp<"contract_sums", [
    DeclareOpInterfaceMethods<CostOpInterface, ["usesMatrixUnits", "addWarpWork"]>,
    DeclareOpInterfaceMethods<RuntimeCallOpInterface, [
      "supportsLayouts", "getFactors", "getProductLetters", "getWorkspaceInBytes",
      "getRequiredWorkspaceInBytes", "getCostName"]>]> {
  let summary = "nn.contract with the sums of its left operand in the library's epilogue";
  let description = [{
    The first result is the contraction in f32. The second one has, for each entry
    of the last dimension of the left operand, the sum over all its others, in f32
    as well: where the contraction is the gradient of a weight, the gradient of
    the bias.

    Constraints:
    - (C1) to (C4) of nn.contract;
    - (C5) the result has the last letter of the left operand, and no other one of
      it.

    ```mlir
    %dw, %db = nn.contract_sums "nhwo,nhwc->oc" %dz, %x : tensor<8x7x7x256xf16>, tensor<8x7x7x64xf16>
    // tensor<256x64xf32>, tensor<256xf32>
    ```
  }];
  let arguments = (ins StrAttr:$spec, NN_FloatTensor:$lhs, NN_FloatTensor:$rhs);
  let results = (outs NN_FloatTensor:$result, NN_FloatTensor:$sums);
  let assemblyFormat = [{
    $spec $lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)
  }];
  let hasVerifier = 1;
}

def NN_ContractReluOp : NN_InferredOp<"contract_relu", [
    AttrSizedOperandSegments, DeclareOpInterfaceMethods<CostOpInterface, ["usesMatrixUnits", "addWarpWork"]>,
    DeclareOpInterfaceMethods<RuntimeCallOpInterface, [
      "supportsLayouts", "getFactors", "getProductLetters", "getWorkspaceInBytes", "getCostName"]>]> {
  let summary = "nn.contract with a sum and a ReLU in the library's epilogue";
  let description = [{
    `result = max(z, 0)`, where `z` is the sum of the contraction, the bias and
    `added`, which is the other way of a residual connection. With `keeps_mask`,
    the second result has a bit for each element, for the backward: whether `z` is
    above 0. A row of it begins at a multiple of 128 bits, of which each element
    of the tensor has 32; the first is the lowest.

    Constraints:
    - (C1) to (C4) of nn.contract;
    - (C5) only the right operand has the last letter of the result;
    - (C6) a bias has the element type and the last dimension of the result;
    - (C7) `added` has the type of the result.

    ```mlir
    %y, %mask = nn.contract_relu "bhwc,dc->bhwd" %x, %w bias %b plus %r keeps_mask
      : tensor<8x7x7x64xf16>, tensor<256x64xf16> bias tensor<256xf16> plus tensor<8x7x7x256xf16>
    ```
  }];
  let arguments = (ins StrAttr:$spec, NN_FloatTensor:$lhs, NN_FloatTensor:$rhs,
                       Optional<NN_FloatTensor>:$bias, Optional<NN_FloatTensor>:$added, UnitAttr:$keepsMask);
  let results = (outs NN_FloatTensor:$result, Optional<StaticShapeTensorOf<[I32]>>:$mask);
  let assemblyFormat = [{
    $spec $lhs `,` $rhs (`bias` $bias^)? (`plus` $added^)? (`keeps_mask` $keepsMask^)? attr-dict
    `:` type($lhs) `,` type($rhs) (`bias` type($bias)^)? (`plus` type($added)^)?
  }];
  let hasVerifier = 1;
}

def NN_ContractReluGradOp : NN_InferredOp<"contract_relu_grad", [
    DeclareOpInterfaceMethods<CostOpInterface, ["usesMatrixUnits", "addWarpWork"]>,
    DeclareOpInterfaceMethods<RuntimeCallOpInterface, [
      "supportsLayouts", "getFactors", "getProductLetters", "getWorkspaceInBytes", "getCostName"]>]> {
  let summary = "nn.contract with a sum and the gradient of a ReLU in the library's epilogue";
  let description = [{
    `result` is the sum of the contraction and `added` where the bit of `mask` is
    set, and 0 elsewhere. `mask` is what nn.contract_relu keeps.

    Constraints:
    - (C1) to (C4) of nn.contract;
    - (C5) only the right operand has the last letter of the result;
    - (C6) `mask` has the rows of the result, of 32 bits an element, in multiples
      of 128 bits;
    - (C7) `added` has the type of the result.

    ```mlir
    %dz = nn.contract_relu_grad "bhwd,dc->bhwc" %dy, %w mask %mask plus %r
      : tensor<8x7x7x64xf16>, tensor<64x256xf16> mask tensor<392x8xi32> plus tensor<8x7x7x256xf16>
    ```
  }];
  let arguments = (ins StrAttr:$spec, NN_FloatTensor:$lhs, NN_FloatTensor:$rhs,
                       StaticShapeTensorOf<[I32]>:$mask, Optional<NN_FloatTensor>:$added);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $spec $lhs `,` $rhs `mask` $mask (`plus` $added^)? attr-dict
    `:` type($lhs) `,` type($rhs) `mask` type($mask) (`plus` type($added)^)?
  }];
  let hasVerifier = 1;
}

def NN_ScatterAddOp : NN_InferredOp<"scatter_add", [
    Differentiable, DeclareOpInterfaceMethods<CostOpInterface, ["addOwnWork"]>,
    DeclareOpInterfaceMethods<RuntimeCallOpInterface, [
      "getTiedOperand", "takesAccumulator", "setAccumulator", "widenResults", "getWorkspaceInBytes",
      "getRequiredWorkspaceInBytes"]>]> {
  let summary = "adds rows into a table of zeros: the gradient of nn.take";
  let description = [{
    `result[r, c...]` is the sum of `updates[i..., c...]` over all i with
    `indices[i...] == r`, in an order that the indices fix. With `to f32`, updates
    in half precision are added up in f32.

    With an `accumulator`, the rows are added to it, in its memory: it is
    overwritten. Rows that no index names stay as they are.

    Constraints:
    - (C1) the shape of `updates` begins with that of `indices`;
    - (C2) `to` is f32, and the updates are in half precision;
    - (C3) an accumulator has the result's type, which may have spare rows but no
      row pitch, is the result of `nn.contract` or `nn.scatter_add`, and has no
      other use.

    ```mlir
    %1 = nn.scatter_add %updates, %ids rows 256 : tensor<4x8x16xf32>, tensor<4x8xi64>
    %3 = nn.scatter_add %updates, %ids rows 256 plus %2 : tensor<4x8x16xf32>, tensor<4x8xi64>, tensor<256x16xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$updates, NN_IndexTensor:$indices, I64Attr:$rows,
                       Optional<NN_FloatTensor>:$accumulator, OptionalAttr<TypeAttr>:$resultElementType);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $updates `,` $indices `rows` $rows (`plus` $accumulator^)? (`to` $resultElementType^)? attr-dict
    `:` type($updates) `,` type($indices) (`,` type($accumulator)^)?
  }];
  let hasVerifier = 1;
}

def NN_ScatterOp : NN_InferredOp<"scatter", [
    Differentiable, Costly,
    DeclareOpInterfaceMethods<RuntimeCallOpInterface, ["getWorkspaceInBytes", "getRequiredWorkspaceInBytes"]>]> {
  let summary = "combines rows of updates with the rows of a table that indices name";
  let description = [{
    `result[r, c...]` is `table[r, c...]` combined, by the sum, the product, the
    maximum or the minimum, with `updates[i..., c...]` for all i with
    `indices[i...] == r`, one after the other in row-major order of the indices:
    equal indices give the same bits on every run. Indices are within
    0 .. rows - 1, as those of nn.take.

    Where the last update should win instead of all being combined, as in ONNX's
    ScatterND, the maximum of the numbers of the updates says which of them that is.

    Constraints:
    - (C1) the table has rank at least 1, and elements that are numbers of 32 or 64
      bits or in half precision;
    - (C2) the updates have the table's element type, and the shape of the indices
      followed by the table's without the first dimension.

    ```mlir
    %1 = nn.scatter max %table, %updates, %ids : tensor<256x16xf32>, tensor<4x8x16xf32>, tensor<4x8xi64>
    ```
  }];
  let arguments = (ins NN_ReductionKindAttr:$kind, NN_Tensor:$table, NN_Tensor:$updates, NN_IndexTensor:$indices);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = [{
    $kind $table `,` $updates `,` $indices attr-dict `:` type($table) `,` type($updates) `,` type($indices)
  }];
}

def NN_ArgsortOp : NN_InferredOp<"argsort", [Costly, RuntimeCall]> {
  let summary = "the order in which the elements of each row are sorted";
  let description = [{
    `x[..., result[..., k]]` is the k-th element of the row `x[...]` in ascending,
    or with `descending` in descending order. The sort is stable: equal elements
    keep their order. NaN counts as greater than all numbers.

    Constraints:
    - (C1) the operand has rank at least 1, and elements that are numbers of 32 or
      64 bits or in half precision.

    ```mlir
    %1 = nn.argsort %0 descending : tensor<4x100xf32>   // tensor<4x100xi64>
    ```
  }];
  let arguments = (ins NN_Tensor:$input, UnitAttr:$descending);
  let results = (outs NN_IndexTensor:$result);
  let assemblyFormat = "$input (`descending` $descending^)? attr-dict `:` type($input)";
}

def NN_SumPartsOp : NN_InferredOp<"sum_parts", [DeclareOpInterfaceMethods<CostOpInterface, ["addOwnWork"]>]> {
  let summary = "the sum over the first dimension, in one launch with its neighbours";
  let description = [{
    `y[0, i...]` is the sum of `parts[p, i...]` over all p: the last stage of sums
    that several blocks have begun. The runtime has a kernel for it, and those that
    follow one another are one launch. The order in which numbers are added
    follows from the number of parts alone.

    Constraints:
    - (C1) the operand has rank at least 2.

    ```mlir
    %1 = nn.sum_parts %0 : tensor<256x1x768xf32>   // tensor<1x1x768xf32>
    ```
  }];
  let arguments = (ins StaticShapeTensorOf<[F32]>:$parts);
  let results = (outs StaticShapeTensorOf<[F32]>:$result);
  let assemblyFormat = "$parts attr-dict `:` type($parts)";
}

#endif // GPUOPT_DIALECT_NN_IR_NNCALLOPS_TD
