//===- Passes.td - Passes on the nn dialect -*- tablegen -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_NN_TRANSFORMS_PASSES_TD
#define GPUOPT_DIALECT_NN_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def AbsorbLayouts : Pass<"nn-absorb-layouts"> {
  let summary = "Makes transposes and reshapes part of the work around them";
  let description = [{
    Transposes next to a contraction, or behind a sum of contractions, become
    orders of their letters; reshapes
    that merge dimensions sink through contractions, elementwise work,
    broadcasts and reductions, so that everything between two of them shares
    one iteration space; sums of padded tensors that tile their result become
    concatenations; pads become concatenations with constants.

    ```mlir
    %0 = nn.reshape %x : tensor<4x8x16xf32> to tensor<32x16xf32>
    %1 = nn.contract "ik,jk->ij" %0, %w : tensor<32x16xf32>, tensor<64x16xf32>
    // becomes
    %1 = nn.contract "abk,jk->abj" %x, %w : tensor<4x8x16xf32>, tensor<64x16xf32>
    %2 = nn.reshape %1 : tensor<4x8x64xf32> to tensor<32x64xf32>
    ```
  }];
  let dependentDialects = ["::gpuopt::nn::NNDialect"];
}

def RecognizeAttention : Pass<"nn-recognize-attention"> {
  let summary = "Finds the attention that is spelled out in products and a softmax";
  let description = [{
    A softmax between two products becomes nn.attention, with the scale of the
    scores or of the product's operands, a soft cap, a bias, a mask that is added
    or selects, and dropout. A selection below another mask joins it if that
    changes no gradient: if both hide keys by the same number, if the inner one
    hides them by minus infinity, or if both are constants that leave a key to
    each query. Transposes and reshapes of leading dimensions move to the operands,
    where strides absorb them. Each part keeps the location of the node that it
    comes from, so that an expansion can name its kernels and choose its
    precisions by these nodes.

    A remark says what was recognised, or why a softmax between two products was
    not.

    ```mlir
    %0 = nn.contract "abxy,abzy->abxz" %q, %k : tensor<2x4x8x16xf32>, tensor<2x4x9x16xf32>
    %1 = arith.mulf %0, %quarters : tensor<2x4x8x9xf32>
    %2 = nn.softmax %1 dim 3 : tensor<2x4x8x9xf32>
    %3 = nn.contract "abxy,abyz->abxz" %2, %v : tensor<2x4x8x9xf32>, tensor<2x4x9x16xf32>
    // becomes
    %3:2 = nn.attention %q, %k, %v scale 0.25
        : tensor<2x4x8x16xf32>, tensor<2x4x9x16xf32>, tensor<2x4x9x16xf32>
    ```
  }];
  let dependentDialects = ["::gpuopt::nn::NNDialect"];
  let statistics = [Statistic<"recognizedCount", "recognized", "attentions found">,
                    Statistic<"missedCount", "missed", "softmaxes between two products that are no attention">];
}

def RecognizeSharedKeys : Pass<"nn-recognize-shared-keys"> {
  let summary = "Finds the keys and values that are repeated for groups of heads";
  let description = [{
    In grouped-query attention (Ainslie et al., 2023), several heads of the query
    share one of keys and values; with one group this is multi-query attention
    (Shazeer, 2019). Exporters repeat keys and values for each head. nn.attention
    takes them without the repeat, so that neither they nor their gradients
    exist once for each head.

    ```mlir
    %k5 = nn.reshape %k : tensor<2x3x9x16xf32> to tensor<2x3x1x9x16xf32>
    %k4 = nn.broadcast %k5 : tensor<2x3x1x9x16xf32> to tensor<2x3x4x9x16xf32>
    %keys = nn.reshape %k4 : tensor<2x3x4x9x16xf32> to tensor<2x12x9x16xf32>
    %0:2 = nn.attention %q, %keys, %keys scale 0.25
        : tensor<2x12x8x16xf32>, tensor<2x12x9x16xf32>, tensor<2x12x9x16xf32>
    // becomes
    %0:2 = nn.attention %q, %k, %k scale 0.25
        : tensor<2x12x8x16xf32>, tensor<2x3x9x16xf32>, tensor<2x3x9x16xf32>
    ```
  }];
  let dependentDialects = ["::gpuopt::nn::NNDialect"];
  let statistics = [Statistic<"recognizedCount", "recognized", "attentions whose heads share keys">];
}
def RecognizeBiases : Pass<"nn-recognize-biases"> {
  let summary = "Separates trained biases of attention from its masks";
  let description = [{
    Exporters add one tensor to the scores, whether it hides keys, depends on
    parameters that are trained, or both. nn.attention has a gradient for its
    bias alone. So the pass makes a mask that is trained a bias, and takes it
    apart if one addend is trained and the other is not, or if it selects
    between a trained tensor and a number that hides keys: what is not trained
    remains the mask.

    The pass runs before precisions are chosen. A bias has the type of sums, so a
    mask in half precision stays as it is; a remark says so.

    A selection by a finite number, which has to be -1e9 or less, is taken apart
    only if it is constant and each query sees a key. Otherwise a query that sees
    none would have other gradients.

    ```mlir
    %mask = arith.select %causal, %table, %lowest : tensor<3x3xi1>, tensor<3x3xf32>
    %0:2 = nn.attention %q, %k, %v mask %mask scale 0.25
        : tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x3xf32>
    // becomes
    %0:2 = nn.attention %q, %k, %v mask %causal bias %table : tensor<3x3xf32> scale 0.25 {masked_value = -3.4e38 : f64}
        : tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x3xi1>
    ```
  }];
  let dependentDialects = ["::gpuopt::nn::NNDialect", "::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"recognizedCount", "recognized", "biases that are trained">];
}
def RecognizeBands : Pass<"nn-recognize-bands"> {
  let summary = "Finds the masks of attention that are bands";
  let description = [{
    A constant mask that hides all keys but a run of them, which moves on by one
    key from query to query, becomes a band: the mask of causal attention or of
    a sliding window. The mask must hide keys by minus infinity or by -1e9 or
    less, and each query has to see a key. A mask that hides nothing is removed.

    ```mlir
    %mask = arith.constant dense<[[true, false, false], [true, true, false], [true, true, true]]> : tensor<3x3xi1>
    %0:2 = nn.attention %q, %k, %v mask %mask scale 0.25
        : tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x3xi1>
    // becomes
    %0:2 = nn.attention %q, %k, %v scale 0.25 band [-3, 0]
        : tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>
    ```
  }];
  let dependentDialects = ["::gpuopt::nn::NNDialect"];
  let statistics = [Statistic<"recognizedCount", "recognized", "masks that are bands">];
}

def RecognizeGelu : Pass<"nn-recognize-gelu"> {
  let summary = "Finds the GELU that is spelled out around a tanh or an erf";
  let description = [{
    x / 2 times 1 + erf(x / sqrt(2)), or 1 + tanh(sqrt(2 / pi) (x + 0.044715
    x^3)), in any order of the factors, is a GELU: its ops get the location that
    the ops of a Gelu node have, with the name of the last op. So kernels are
    named and precisions are chosen as for a Gelu node; in float32 the results
    stay the same, to the bit. A remark says what was recognised.

    ```mlir
    %1 = math.tanh %0 : tensor<8xf32> loc("tanh"("Tanh"))
    %2 = arith.addf %1, %one : tensor<8xf32> loc("add"("Add"))
    %3 = arith.mulf %half_x, %2 : tensor<8xf32> loc("mul"("Mul"))
    // becomes
    %1 = math.tanh %0 : tensor<8xf32> loc("mul"("Gelu"))
    %2 = arith.addf %1, %one : tensor<8xf32> loc("mul"("Gelu"))
    %3 = arith.mulf %half_x, %2 : tensor<8xf32> loc("mul"("Gelu"))
    ```
  }];
  let dependentDialects = ["::gpuopt::nn::NNDialect"];
  let statistics = [Statistic<"recognizedCount", "recognized", "GELUs found">];
}

def ExpandAttention : Pass<"nn-expand-attention"> {
  let summary = "Spells out the attention that no call of the runtime computes";
  let description = [{
    An nn.attention that the runtime has no call for becomes the formula that it
    stands for; this is the reverse of nn-recognize-attention. Its probabilities
    then exist in memory; a remark says why. The pass expands attention that has
    a trained mask, f64 elements, more than three batch dimensions, or heads
    larger than 256.

    With `cached`, a step that trains on a processor also has the formula if the
    probabilities of all attentions together take at most an eighth of the
    processor's cache. The call computes the scores anew in the backward, which
    takes longer there than to read what was saved. Attention with a bias stays,
    since its formula adds the bias in a kernel of its own.

    ```mlir
    %1:2 = nn.attention %q, %k, %v scale 1.0
        : tensor<2x8x16xf64>, tensor<2x9x16xf64>, tensor<2x9x16xf64>
    // becomes
    %scores = nn.contract "axy,azy->axz" %q, %k : tensor<2x8x16xf64>, tensor<2x9x16xf64>
    %p = nn.softmax %scores dim 2 : tensor<2x8x9xf64>
    %1 = nn.contract "axy,ayz->axz" %p, %v : tensor<2x8x9xf64>, tensor<2x9x16xf64>
    ```
  }];
  let options = [Option<"all", "all", "bool", "false", "expand all attention, whether there is a call for it or not">,
                 Option<"cached", "cached", "bool", "false",
                        "expand attention if a processor's cache keeps all probabilities">,
                 Option<"device", "device", "std::string", "\"host\"",
                        "the device model (a built-in one or a JSON file) that `cached` asks">,
                 Option<"inference", "inference", "bool", "false", "nothing is trained, so masks have no gradient">];
  let dependentDialects = ["::gpuopt::nn::NNDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let statistics = [Statistic<"expandedCount", "expanded", "attentions spelled out">];
}

def FoldBatchNorms : Pass<"nn-fold-batch-norms"> {
  let summary = "Makes one product of a convolution of single pixels and its batch norm";
  let description = [{
    A convolution of 1 x 1 pixels with strides of 1 whose result a batch norm alone
    reads becomes nn.conv_batch_norm, if it has at least `ratio` times as many
    output channels as input channels. Its batch norm then takes its statistics from
    those of the input, and the result of the convolution is never in memory. What
    is computed in addition, the products of the input with itself and with one
    more matrix in the backward, reads and writes the input's channels alone.

    ```mlir
    %0 = nn.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : tensor<8x14x14x64xf32>, tensor<256x64x1x1xf32>
    %1:5 = nn.batch_norm %0, %s, %b, %m, %v epsilon 1.0e-5 momentum 0.1 : ...
    // becomes
    %1:7 = nn.conv_batch_norm %x, %w, %s, %b, %m, %v epsilon 1.0e-5 momentum 0.1 : ...
    ```
  }];
  let options = [Option<"ratio", "ratio", "double", "2",
                        "output channels for each input channel, at least">];
  let dependentDialects = ["::gpuopt::nn::NNDialect"];
  let statistics = [Statistic<"foldedCount", "folded", "batch norms that became part of a product">];
}

def RewriteStems : Pass<"nn-rewrite-stems"> {
  let summary = "Gives the convolutions that read images a form for tensor cores";
  let description = [{
    A convolution in one group whose input follows from the function's inputs and
    constants alone, so that nothing asks for its gradient, is rewritten if its
    channels are no multiple of 8. If its windows do not overlap, have a multiple of
    8 elements, and nothing is padded, it becomes an nn.contract of its windows, in
    the order of the weights.
    Elsewhere, the pixels of a stride become channels (space to depth), a multiple of
    8, if no more numbers are multiplied then than with 8 channels. If not,
    an input of 3 or 5 to 7 channels and its weights get channels of zeros, so
    that there are 4 or 8.

    ```mlir
    %0 = nn.conv %x, %w strides [4, 4] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : tensor<8x32x32x3xf32>, tensor<64x3x4x4xf32>
    // becomes
    %1 = nn.reshape %x : tensor<8x32x32x3xf32> to tensor<8x8x4x8x4x3xf32>
    %2 = nn.transpose %1 [0, 1, 3, 5, 2, 4] : tensor<8x8x4x8x4x3xf32>
    %3 = nn.reshape %2 : tensor<8x8x8x3x4x4xf32> to tensor<8x8x8x48xf32>
    %4 = nn.reshape %w : tensor<64x3x4x4xf32> to tensor<64x48xf32>
    %0 = nn.contract "nhwk,dk->nhwd" %3, %4 : tensor<8x8x8x48xf32>, tensor<64x48xf32>
    ```
  }];
  let dependentDialects = ["::gpuopt::nn::NNDialect", "::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"productCount", "products", "convolutions that became products">,
                    Statistic<"blockCount", "blocks", "convolutions of a stride's pixels as channels">,
                    Statistic<"paddedCount", "padded", "convolutions that got channels of zeros">];
}

def Decompose : Pass<"nn-decompose"> {
  let summary = "Turns composite ops into elementwise work and reductions";
  let description = [{
    nn.softmax, nn.log_softmax, nn.layer_norm, nn.batch_norm, nn.conv_batch_norm,
    nn.dropout and nn.cross_entropy become their defining formulas, with reduced
    dimensions of size 1, so that all of one op shares an iteration space.

    With `one-read`, the statistics of a batch norm are those of the distances
    from the first pixel, m: mean = m + mean(x - m), variance =
    mean((x - m)^2) - mean(x - m)^2. These need one read of x, where the defining formulas need
    two, and lose no digits unless that pixel is far from all others (Chan,
    Golub and LeVeque, Algorithms for Computing the Sample Variance, 1983).

    With `conv-sums`, a convolution whose result is normalised adds up the
    channels of the result itself (nn.conv_with_sums), so that nothing reads the
    result for its statistics: mean = sum / n, variance = sum_of_squares / n -
    mean^2. That is for results in half precision, which have lost as many
    digits by rounding as the difference loses in single precision; and for
    convolutions without groups whose channels are multiples of 8, for which
    cuDNN has engines that do so. No pipeline has this option: the results of
    these engines have other bits in each run.

    ```mlir
    %1 = nn.softmax %0 dim 1 : tensor<4x16xf32>
    // becomes
    %max = nn.reduce max %0 [1] : tensor<4x16xf32>
    %2 = nn.broadcast %max : tensor<4x1xf32> to tensor<4x16xf32>
    %3 = arith.subf %0, %2 : tensor<4x16xf32>
    %4 = math.exp %3 : tensor<4x16xf32>
    %sum = nn.reduce sum %4 [1] : tensor<4x16xf32>
    %5 = nn.broadcast %sum : tensor<4x1xf32> to tensor<4x16xf32>
    %1 = arith.divf %4, %5 : tensor<4x16xf32>
    ```
  }];
  let options = [Option<"oneRead", "one-read", "bool", "false",
                        "a batch norm's mean and variance come from one read of its input">,
                 Option<"convSums", "conv-sums", "bool", "false",
                        "a batch norm's mean and variance come from the convolution before it">];
  let dependentDialects = ["::gpuopt::nn::NNDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def MergeSums : Pass<"nn-merge-sums"> {
  let summary = "Merges sums over columns that differ by factors outside of the sum";
  let description = [{
    Factors that do not vary along the summed dimensions are taken out of sums,
    where sums become equal by that: those of a batch norm's backward, of which
    two sums remain in place of four.

    ```mlir
    %s = nn.broadcast %scale : tensor<64xf32> to tensor<512x64xf32>
    %g = arith.mulf %dy, %s : tensor<512x64xf32>
    %0 = nn.reduce sum %g [0] : tensor<512x64xf32>
    %1 = nn.reduce sum %dy [0] : tensor<512x64xf32>
    // becomes
    %1 = nn.reduce sum %dy [0] : tensor<512x64xf32>
    %r = nn.reshape %scale : tensor<64xf32> to tensor<1x64xf32>
    %0 = arith.mulf %1, %r : tensor<1x64xf32>
    ```
  }];
  let dependentDialects = ["::gpuopt::nn::NNDialect", "::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"mergedCount", "merged", "sums that became equal to another one">];
}

def RecomputeMasks : Pass<"nn-recompute-masks"> {
  let summary = "Takes the masks of ReLUs from tensors that the backward reads anyway";
  let description = [{
    A comparison of a ReLU's result with zero becomes one of its operand, where
    that is computed from one tensor which later work reads: behind a batch norm
    the backward then does not read the ReLU's result.

    ```mlir
    %x = nn.conv ...
    %z = arith.mulf %x, %scale : tensor<8x4x4x64xf32>
    %y = arith.maximumf %z, %zero : tensor<8x4x4x64xf32>
    %mask = arith.cmpf ogt, %y, %zero : tensor<8x4x4x64xf32>
    %g = arith.mulf %dy, %x : tensor<8x4x4x64xf32>
    // becomes
    %mask = arith.cmpf ogt, %z, %zero : tensor<8x4x4x64xf32>
    ```
  }];
  let dependentDialects = ["::gpuopt::nn::NNDialect", "::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"maskCount", "masks", "masks that no longer need the result of a ReLU">];
}

def SplitReductions : Pass<"nn-split-reductions"> {
  let summary = "Splits large reductions into parts that run side by side";
  let description = [{
    A reduction over the first and further dimensions becomes one over the
    further dimensions, followed by one over the first: the blocks of the first
    kernel share the work. On a GPU, further dimensions are reduced last until
    there is a block for each multiprocessor. The order of summation depends on
    the device model, but not on the machine.

    ```mlir
    %0 = nn.reduce sum %x [0, 1] : tensor<64x1024x768xf32>
    // becomes
    %1 = nn.reduce sum %x [1] : tensor<64x1024x768xf32>
    %0 = nn.reduce sum %1 [0] : tensor<64x1x768xf32>
    ```
  }];
  let options = [Option<"minimumElements", "minimum-elements", "int64_t", "16384",
                        "reductions of fewer elements stay whole">,
                 Option<"device", "device", "std::string", "\"host\"",
                        "the device model (a built-in one or a JSON file) whose blocks are counted">];
  let dependentDialects = ["::gpuopt::nn::NNDialect"];
}

def CompactConstants : Pass<"nn-compact-constants"> {
  let summary = "Stores once what large constants repeat, and masks as booleans";
  let description = [{
    A constant of more than 64 elements that only kernels read loses the
    dimensions along which it repeats itself; a constant that has only two
    different floating-point numbers becomes booleans that select between them.
    So the mask of attention takes a byte for each pair of positions, whatever
    the size of the batch.

    ```mlir
    %mask = arith.constant dense<...> : tensor<8x1x64x64xf32>  // 0 and -inf
    %0 = nn.broadcast %mask : tensor<8x1x64x64xf32> to tensor<8x4x64x64xf32>
    // becomes
    %mask = arith.constant dense<...> : tensor<1x1x64x64xi1>
    %1 = nn.broadcast %mask : tensor<1x1x64x64xi1> to tensor<8x4x64x64xi1>
    %0 = arith.select %1, %zero, %inf : tensor<8x4x64x64xi1>, tensor<8x4x64x64xf32>
    ```
  }];
  let dependentDialects = ["::gpuopt::nn::NNDialect", "::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"constantCount", "constants", "constants that became smaller">];
}

#endif // GPUOPT_DIALECT_NN_TRANSFORMS_PASSES_TD
