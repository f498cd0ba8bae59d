//===- NNWindowOps.td - Convolution and pooling ------------*- tablegen -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_NN_IR_NNWINDOWOPS_TD
#define GPUOPT_DIALECT_NN_IR_NNWINDOWOPS_TD

include "gpuopt/Dialect/NN/IR/NNOpBase.td"

//===----------------------------------------------------------------------===//
// Convolution and pooling: NHWC, weights OIHW
//===----------------------------------------------------------------------===//

def NN_ConvOp : NN_InferredOp<"conv", [Differentiable, MatrixUnits, ProductCall]> {
  let summary = "2-D convolution";
  let description = [{
    The operands are x: N x H x W x C and w: O x C/groups x KH x KW, and the
    result is N x OH x OW x O with
    `OH = (H + pads[0] + pads[2] - dilations[0] * (KH - 1) - 1) / strides[0] + 1`.
    `pads` is [top, left, bottom, right]. A 1-D convolution has H = KH = 1.

    Constraints:
    - (C1) both operands have rank 4 and one element type;
    - (C2) groups divides C and O, and the weights have C/groups inputs;
    - (C3) two strides, two dilations (at least 1) and four pads (at least 0);
    - (C4) the window fits into the padded operand.
  }];
  let arguments = (ins NN_FloatTensor:$input, NN_FloatTensor:$weights,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations, I64Attr:$groups);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $weights `strides` $strides `pads` $pads `dilations` $dilations
    `groups` $groups attr-dict `:` type($input) `,` type($weights)
  }];
}

def NN_ConvWithSumsOp
    : NN_InferredOp<"conv_with_sums", [
        MatrixUnitsWithWarpWork,
        DeclareOpInterfaceMethods<RuntimeCallOpInterface, [
          "getFactors", "getWorkspaceInBytes", "getRequiredWorkspaceInBytes", "keepsType"
        ]>
      ]> {
  let summary = "nn.conv, and the sums of each channel of its result";
  let description = [{
    `result` is that of nn.conv with the same operands and attributes. `sum` and
    `sum_of_squares` are added up over all pixels of all images, for each of the
    O channels: 1 x 1 x 1 x O. They are in f32 if the result is in half
    precision. A convolution has each element of its result in registers once,
    so it adds them up without reading the result again.

    ```mlir
    %y, %sum, %squares = nn.conv_with_sums %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : tensor<8x14x14x64xf16>, tensor<256x64x1x1xf16>
    ```

    Constraints are (C1) to (C4) of nn.conv.
  }];
  let arguments = (ins NN_FloatTensor:$input, NN_FloatTensor:$weights,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations, I64Attr:$groups);
  let results = (outs NN_FloatTensor:$result, NN_FloatTensor:$sum,
                      NN_FloatTensor:$sum_of_squares);
  let assemblyFormat = [{
    $input `,` $weights `strides` $strides `pads` $pads `dilations` $dilations
    `groups` $groups attr-dict `:` type($input) `,` type($weights)
  }];
}

def NN_ConvInputGradOp : NN_Op<"conv_input_grad", [Differentiable, MatrixUnits, ProductCall]> {
  let summary = "gradient of nn.conv in its input; also the transposed convolution";
  let description = [{
    The result is the vector-Jacobian product of the convolution that has an
    input of the result's shape and the same attributes.

    Constraints:
    - (C1) convolving the result's shape gives the shape of `gradient`.
  }];
  let arguments = (ins NN_FloatTensor:$gradient, NN_FloatTensor:$weights,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations, I64Attr:$groups);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $gradient `,` $weights `strides` $strides `pads` $pads `dilations` $dilations
    `groups` $groups attr-dict `:` type($gradient) `,` type($weights) `to` type($result)
  }];
  let hasVerifier = 1;
}

def NN_ConvWeightGradOp : NN_Op<"conv_weight_grad", [MatrixUnits, ProductCall]> {
  let summary = "gradient of nn.conv in its weights";
  let description = [{
    Constraints:
    - (C1) convolving `input` with weights of the result's shape gives the
      shape of `gradient`.
  }];
  let arguments = (ins NN_FloatTensor:$input, NN_FloatTensor:$gradient,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations, I64Attr:$groups);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $gradient `strides` $strides `pads` $pads `dilations` $dilations
    `groups` $groups attr-dict `:` type($input) `,` type($gradient) `to` type($result)
  }];
  let hasVerifier = 1;
}

def NN_ConvBatchNormOp : NN_InferredOp<"conv_batch_norm", [Differentiable, MatrixUnits, EvaluationForm]> {
  let summary = "a convolution of one pixel each, and the batch norm behind it, as one product";
  let description = [{
    `result` is nn.batch_norm of `y = nn.conv` of `input`, N x H x W x C, and
    `weights`, O x C x 1 x 1, with one group, no padding and strides of 1. Both are
    linear in the input once the statistics of `y` are known, and these follow
    from those of the input, which has fewer channels:

    `mean(y_o) = sum_c w_oc m_c`, `mean(y_o^2) = sum_cd w_oc w_od g_cd`

    with the mean m of each input channel and the mean g of the product of each
    two. So the result is one product of the input with the weights times
    `scale * rstd`, and `y` is never stored: neither for the batch norm, nor for the
    gradient, whose sums over pixels follow from the product of the result's
    gradient with the input.

    `new_mean` and `new_variance` are those of nn.batch_norm. What the gradient
    reads: `mean` and `rstd` of `y` (O x 1), `input_mean` (m, 1 x C), and `moments`,
    n times the products of the weights with g, for n pixels (O x C).

    Constraints:
    - (C1) the input has rank 4, and the weights are O x C x 1 x 1 of its type;
    - (C2) scale, bias and the running statistics have shape [O].

    ```mlir
    %0:7 = nn.conv_batch_norm %x, %w, %scale, %bias, %mean, %variance epsilon 1.0e-5 momentum 0.1
      : tensor<8x14x14x64xf32>, tensor<256x64x1x1xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$input, NN_FloatTensor:$weights, NN_FloatTensor:$scale,
                       NN_FloatTensor:$bias, NN_FloatTensor:$runningMean, NN_FloatTensor:$runningVariance,
                       F64Attr:$epsilon, F64Attr:$momentum);
  let results = (outs NN_FloatTensor:$result, NN_FloatTensor:$newMean, NN_FloatTensor:$newVariance,
                      NN_FloatTensor:$mean, NN_FloatTensor:$rstd, NN_FloatTensor:$inputMean,
                      NN_FloatTensor:$moments);
  let assemblyFormat = [{
    $input `,` $weights `,` $scale `,` $bias `,` $runningMean `,` $runningVariance
    `epsilon` $epsilon `momentum` $momentum attr-dict `:` type($input) `,` type($weights)
    `,` type($scale) `,` type($bias) `,` type($runningMean) `,` type($runningVariance)
  }];
}

def NN_MaxPoolOp : NN_InferredOp<"max_pool", [Differentiable, Costly, RuntimeCall]> {
  let summary = "maximum over windows, and where it was found";
  let description = [{
    The operand is N x H x W x C. Padding is never the maximum. `argmax` holds
    the (row-major) index within the window of the first maximum.

    Constraints:
    - (C1) the operand has rank 4; there are two kernel sizes, strides and
      dilations (at least 1) and four pads [top, left, bottom, right], which are
      smaller than the dilated kernel;
    - (C2) the window fits into the padded operand.
  }];
  let arguments = (ins NN_FloatTensor:$input, DenseI64ArrayAttr:$kernel,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations);
  let results = (outs NN_FloatTensor:$result, StaticShapeTensorOf<[I32]>:$argmax);
  let assemblyFormat = [{
    $input `kernel` $kernel `strides` $strides `pads` $pads `dilations` $dilations
    attr-dict `:` type($input)
  }];
}

def NN_MaxPoolGradOp : NN_Op<"max_pool_grad", [Costly, RuntimeCall]> {
  let summary = "hands each gradient to the element that was the maximum";
  let description = [{
    Constraints:
    - (C1) pooling the result's shape gives the shapes of `gradient` and
      `argmax`.
  }];
  let arguments = (ins NN_FloatTensor:$gradient, StaticShapeTensorOf<[I32]>:$argmax,
                       DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $gradient `,` $argmax `kernel` $kernel `strides` $strides `pads` $pads `dilations`
    $dilations attr-dict `:` type($gradient) `,` type($argmax) `to` type($result)
  }];
  let hasVerifier = 1;
}

def NN_AvgPoolOp : NN_InferredOp<"avg_pool", [Differentiable, Costly, RuntimeCall]> {
  let summary = "mean over windows";
  let description = [{
    With `count_include_pad`, the divisor counts padding (zeros); else only
    the elements of the operand that the window covers.

    Constraints are (C1) and (C2) of nn.max_pool, without dilation.
  }];
  let arguments = (ins NN_FloatTensor:$input, DenseI64ArrayAttr:$kernel,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       UnitAttr:$countIncludePad);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $input `kernel` $kernel `strides` $strides `pads` $pads
    (`count_include_pad` $countIncludePad^)? attr-dict `:` type($input)
  }];
}

def NN_AvgPoolGradOp : NN_Op<"avg_pool_grad", [Costly, RuntimeCall]> {
  let summary = "spreads each gradient over its window";
  let description = [{
    Constraints:
    - (C1) pooling the result's shape gives the shape of `gradient`.
  }];
  let arguments = (ins NN_FloatTensor:$gradient, DenseI64ArrayAttr:$kernel,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       UnitAttr:$countIncludePad);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $gradient `kernel` $kernel `strides` $strides `pads` $pads
    (`count_include_pad` $countIncludePad^)? attr-dict `:` type($gradient) `to` type($result)
  }];
  let hasVerifier = 1;
}

#endif // GPUOPT_DIALECT_NN_IR_NNWINDOWOPS_TD
