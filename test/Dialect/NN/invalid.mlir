// RUN: gpuopt-opt %s -split-input-file -verify-diagnostics

func.func @reshape(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects 32 elements in the result, but got 30}}
  %0 = nn.reshape %x : tensor<4x8xf32> to tensor<30xf32>
  return
}

// -----

func.func @transpose(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects a permutation of the dimensions of}}
  %0 = nn.transpose %x [0, 0] : tensor<4x8xf32>
  return
}

// -----

func.func @broadcast(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects dimensions of size 1 or the result's}}
  %0 = nn.broadcast %x : tensor<4x8xf32> to tensor<4x16xf32>
  return
}

// -----

func.func @slice(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects a box inside}}
  %0 = nn.slice %x [0, 4] [4, 8] [1, 1] : tensor<4x8xf32>
  return
}

// -----

func.func @concat(%x: tensor<4x8xf32>, %y: tensor<5x8xf32>) {
  // expected-error @below {{expects operands that differ in dimension 1 alone}}
  %0 = nn.concat %x, %y dim 1 : tensor<4x8xf32>, tensor<5x8xf32>
  return
}

// -----

func.func @contract_size(%x: tensor<4x8xf32>, %y: tensor<9x3xf32>) {
  // expected-error @below {{expects one size for 'k', but got 8 and 9}}
  %0 = nn.contract "ik,kj->ij" %x, %y : tensor<4x8xf32>, tensor<9x3xf32>
  return
}

// -----

func.func @contract_letter(%x: tensor<4x8xf32>, %y: tensor<8x3xf32>) {
  // expected-error @below {{'nn.contract' op expects 'j' in at least two of the three tensors of "ik,kj->i"}}
  %0 = nn.contract "ik,kj->i" %x, %y : tensor<4x8xf32>, tensor<8x3xf32>
  return
}

// -----

func.func @reduce(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects ascending dimensions of}}
  %0 = nn.reduce sum %x [1, 0] : tensor<4x8xf32>
  return
}

// -----

func.func @partial_sum_of_vector(%x: tensor<8xf32>) {
  // expected-error @below {{expects an operand of rank at least 2, but got 'tensor<8xf32>'}}
  %0 = nn.partial_sum %x parts 1 : tensor<8xf32>
  return
}

// -----

func.func @partial_sum_parts(%x: tensor<2x6x8xf32>) {
  // expected-error @below {{expects a number of parts that divides its 12 rows, but got 5}}
  %0 = nn.partial_sum %x parts 5 : tensor<2x6x8xf32>
  return
}

// -----

func.func @partial_sum_no_parts(%x: tensor<2x6x8xf32>) {
  // expected-error @below {{expects a number of parts that divides its 12 rows, but got 0}}
  %0 = nn.partial_sum %x parts 0 : tensor<2x6x8xf32>
  return
}

// -----

func.func @dropout(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects a ratio of at least 0 and below 1}}
  %0 = nn.dropout %x ratio 1.0 stream 0 : tensor<4x8xf32>
  return
}

// -----

func.func @conv(%x: tensor<1x8x8x4xf32>, %w: tensor<8x3x3x3xf32>) {
  // expected-error @below {{expects weights for 4 input channels in 1 groups}}
  %0 = nn.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<1x8x8x4xf32>, tensor<8x3x3x3xf32>
  return
}

// -----

func.func @accumulator_type(%a: tensor<4x8xf32>, %c: tensor<4x5xf32>) -> tensor<4x4xf32> {
  // expected-error @below {{expects an accumulator of type 'tensor<4x4xf32>', but got 'tensor<4x5xf32>'}}
  %0 = nn.contract "ik,jk->ij" %a, %a plus %c : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x5xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @accumulator_read_twice(%a: tensor<4x8xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = nn.contract "ik,jk->ij" %a, %a : tensor<4x8xf32>, tensor<4x8xf32>
  // expected-error @below {{expects an accumulator that is the result of 'nn.contract' and has no other use}}
  %1 = nn.contract "ik,jk->ij" %a, %a plus %0 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

func.func @place_of_no_operand(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects 'in_place' to name each of its 1 operands at most once, but got 1}}
  %0 = nn.fused "abs" %x {in_place = array<i64: 1>} : tensor<4xf32> -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %1 = math.absf %a : tensor<4xf32>
    nn.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @places_of_other_results(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects 'in_place' to have 1 entries, but got 2}}
  %0 = nn.fused "abs" %x {in_place = array<i64: 0, -1>} : tensor<4xf32> -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %1 = math.absf %a : tensor<4xf32>
    nn.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @place_of_another_type(%x: tensor<4xf32>) -> tensor<4xf16> {
  // expected-error @below {{expects a result in place of an operand to have its type, but got 'tensor<4xf16>' in place of 'tensor<4xf32>'}}
  %0 = nn.fused "cast" %x {in_place = array<i64: 0>} : tensor<4xf32> -> tensor<4xf16> {
  ^bb0(%a: tensor<4xf32>):
    %1 = arith.truncf %a : tensor<4xf32> to tensor<4xf16>
    nn.yield %1 : tensor<4xf16>
  }
  return %0 : tensor<4xf16>
}

// -----

func.func @no_entries(%ids: tensor<4xi64>) { // (C1)
  // expected-error @below {{expects a size of at least 1, but got 0}}
  %0 = nn.in_range %ids of 0 : tensor<4xi64>
  return
}

// -----

func.func @contract_bias(%x: tensor<4x8xf32>, %w: tensor<8x3xf32>, %b: tensor<4xf32>) {
  // expected-error @below {{expects a bias over the columns of its result and no accumulator, but got 'tensor<4xf32>' for 'tensor<3x4xf32>'}}
  %0 = nn.contract "ik,kj->ji" %x, %w bias %b : tensor<4x8xf32>, tensor<8x3xf32> bias tensor<4xf32>
  return
}

// -----

func.func @reshape_type(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects a result with element type 'f32', but got 'f16'}}
  %0 = nn.reshape %x : tensor<4x8xf32> to tensor<32xf16>
  return
}

// -----

func.func @transpose_count(%x: tensor<4x8xf32>) {
  // expected-error @below {{'nn.transpose' op expects 2 entries in the permutation, but got 1}}
  %0 = nn.transpose %x [0] : tensor<4x8xf32>
  return
}

// -----

func.func @slice_count(%x: tensor<4x8xf32>) {
  // expected-error @below {{'nn.slice' op expects 2 offsets, sizes and strides}}
  %0 = nn.slice %x [0] [4, 8] [1, 1] : tensor<4x8xf32>
  return
}

// -----

func.func @slice_stride(%x: tensor<4x8xf32>) {
  // expected-error @below {{'nn.slice' op expects strides of at least 1, but got 0}}
  %0 = nn.slice %x [0, 0] [4, 8] [1, 0] : tensor<4x8xf32>
  return
}

// -----

func.func @slice_overflow(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects a box inside}}
  %0 = nn.slice %x [0, 0] [4, 5] [1, 4611686018427387904] : tensor<4x8xf32>
  return
}

// -----

func.func @concat_none() {
  // expected-error @below {{'nn.concat' op expects at least one operand}}
  // expected-error @below {{failed to infer returned types}}
  %0 = "nn.concat"() <{dim = 0 : i64}> : () -> tensor<4xf32>
  return
}

// -----

func.func @concat_dimension(%x: tensor<4x8xf32>) {
  // expected-error @below {{'nn.concat' op expects a dimension of 'tensor<4x8xf32>', but got 2}}
  %0 = nn.concat %x, %x dim 2 : tensor<4x8xf32>, tensor<4x8xf32>
  return
}

// -----

func.func @pad_negative(%x: tensor<4xf32>) {
  // expected-error @below {{'nn.pad' op expects 1 non-negative low, high and interior entries}}
  %0 = nn.pad %x low [-1] high [0] interior [0] value 0.0 : f32 : tensor<4xf32>
  return
}

// -----

func.func @pad_value(%x: tensor<4xf32>) {
  // expected-error @below {{'nn.pad' op expects a value of type 'f32', but got 'f64'}}
  %0 = nn.pad %x low [1] high [0] interior [0] value 0.0 : f64 : tensor<4xf32>
  return
}

// -----

func.func @iota() {
  // expected-error @below {{expects a dimension of 'tensor<4xi64>', but got 1}}
  %0 = nn.iota dim 1 : tensor<4xi64>
  return
}

// -----

func.func @softmax(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects a dimension of 'tensor<4x8xf32>', but got 2}}
  %0 = nn.softmax %x dim 2 : tensor<4x8xf32>
  return
}

// -----

func.func @contract_spec(%x: tensor<4x8xf32>) {
  // expected-error @below {{'nn.contract' op expects a spec like "ik,kj->ij" with one letter per dimension of 'tensor<4x8xf32>' and 'tensor<4x8xf32>', but got "ii,ik->k"}}
  %0 = nn.contract "ii,ik->k" %x, %x : tensor<4x8xf32>, tensor<4x8xf32>
  return
}

// -----

func.func @contract_result(%x: tensor<4x8xf32>) {
  // expected-error @below {{'nn.contract' op expects 'z' in at least two of the three tensors of "ik,ik->iz"}}
  %0 = nn.contract "ik,ik->iz" %x, %x : tensor<4x8xf32>, tensor<4x8xf32>
  return
}

// -----

func.func @contract_types(%x: tensor<4x8xf32>, %y: tensor<8x4xf16>) {
  // expected-error @below {{'nn.contract' op expects operands of one element type, but got 'tensor<4x8xf32>' and 'tensor<8x4xf16>'}}
  %0 = nn.contract "ik,kj->ij" %x, %y : tensor<4x8xf32>, tensor<8x4xf16>
  return
}

// -----

func.func @contract_widened(%x: tensor<4x8xf32>) {
  // expected-error @below {{'nn.contract' op expects 'to f32' with operands in half precision, but got 'f32' with 'f32'}}
  %0 = nn.contract "ik,jk->ij" %x, %x to f32 : tensor<4x8xf32>, tensor<4x8xf32>
  return
}

// -----

func.func @take(%x: tensor<f32>, %ids: tensor<4xi64>) {
  // expected-error @below {{'nn.take' op expects a table of rank at least 1, but got 'tensor<f32>'}}
  %0 = nn.take %x, %ids : tensor<f32>, tensor<4xi64>
  return
}

// -----

func.func @scatter_add(%x: tensor<5x8xf32>, %ids: tensor<4xi64>) {
  // expected-error @below {{'nn.scatter_add' op expects updates whose shape begins with that of 'tensor<4xi64>', but got 'tensor<5x8xf32>'}}
  %0 = nn.scatter_add %x, %ids rows 16 : tensor<5x8xf32>, tensor<4xi64>
  return
}

// -----

func.func @scatter_truths(%t: tensor<5x8xi1>, %x: tensor<4x8xi1>, %ids: tensor<4xi64>) {
  // expected-error @below {{'nn.scatter' op expects a table of rank at least 1, of numbers of 32 or 64 bits or in half precision, but got 'tensor<5x8xi1>'}}
  %0 = nn.scatter max %t, %x, %ids : tensor<5x8xi1>, tensor<4x8xi1>, tensor<4xi64>
  return
}

// -----

func.func @scatter_updates(%t: tensor<5x8xf32>, %x: tensor<3x8xf32>, %ids: tensor<4xi64>) {
  // expected-error @below {{'nn.scatter' op expects updates of type 'tensor<4x8xf32>', but got 'tensor<3x8xf32>'}}
  %0 = nn.scatter sum %t, %x, %ids : tensor<5x8xf32>, tensor<3x8xf32>, tensor<4xi64>
  return
}

// -----

func.func @argsort_scalar(%x: tensor<f32>) {
  // expected-error @below {{'nn.argsort' op expects an operand of rank at least 1, of numbers of 32 or 64 bits or in half precision, but got 'tensor<f32>'}}
  %0 = nn.argsort %x : tensor<f32>
  return
}

// -----

func.func @layer_norm_axis(%x: tensor<4x8xf32>) {
  // expected-error @below {{'nn.layer_norm' op expects an axis of 'tensor<4x8xf32>', but got 2}}
  %y, %mean, %rstd = nn.layer_norm %x axis 2 epsilon 1.0e-5 : tensor<4x8xf32>
  return
}

// -----

func.func @layer_norm_scale(%x: tensor<4x8xf32>, %s: tensor<4xf32>) {
  // expected-error @below {{'nn.layer_norm' op expects a scale and bias of type 'tensor<8xf32>', but got 'tensor<4xf32>'}}
  %y, %mean, %rstd = nn.layer_norm %x, %s axis 1 epsilon 1.0e-5 : tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @batch_norm_rank(%x: tensor<8xf32>) {
  // expected-error @below {{'nn.batch_norm' op expects rank at least 2, but got 'tensor<8xf32>'}}
  %0:5 = nn.batch_norm %x, %x, %x, %x, %x epsilon 1.0e-5 momentum 0.1
      : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  return
}

// -----

func.func @batch_norm_parameters(%x: tensor<4x8xf32>, %s: tensor<4xf32>) {
  // expected-error @below {{'nn.batch_norm' op expects parameters of type 'tensor<8xf32>', but got 'tensor<4xf32>'}}
  %0:5 = nn.batch_norm %x, %s, %s, %s, %s epsilon 1.0e-5 momentum 0.1
      : tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @cross_entropy_labels(%x: tensor<4x8xf32>, %labels: tensor<8xi64>) {
  // expected-error @below {{'nn.cross_entropy' op expects labels of the logits' shape without the last dimension, but got 'tensor<8xi64>' for 'tensor<4x8xf32>'}}
  %loss, %lse = nn.cross_entropy %x, %labels ignore_index -100 label_smoothing 0.0 : tensor<4x8xf32>, tensor<8xi64>
  return
}

// -----

func.func @cross_entropy_smoothing(%x: tensor<4x8xf32>, %labels: tensor<4xi64>) {
  // expected-error @below {{'nn.cross_entropy' op expects a label smoothing of at least 0 and below 1, but got 1.0}}
  %loss, %lse = nn.cross_entropy %x, %labels ignore_index -100 label_smoothing 1.0 : tensor<4x8xf32>, tensor<4xi64>
  return
}

// -----

func.func @conv_rank(%x: tensor<8x8x4xf32>, %w: tensor<8x4x3x3xf32>) {
  // expected-error @below {{'nn.conv' op expects operands of rank 4 and one element type, but got 'tensor<8x8x4xf32>' and 'tensor<8x4x3x3xf32>'}}
  %0 = nn.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<8x8x4xf32>, tensor<8x4x3x3xf32>
  return
}

// -----

func.func @conv_window(%x: tensor<1x8x8x4xf32>, %w: tensor<8x4x3x3xf32>) {
  // expected-error @below {{'nn.conv' op expects two kernel sizes, strides and dilations of at least 1 and four pads of at least 0}}
  %0 = nn.conv %x, %w strides [0, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<1x8x8x4xf32>, tensor<8x4x3x3xf32>
  return
}

// -----

func.func @conv_fit(%x: tensor<1x2x8x4xf32>, %w: tensor<8x4x3x3xf32>) {
  // expected-error @below {{'nn.conv' op expects a window that fits into the padded operand 'tensor<1x2x8x4xf32>'}}
  %0 = nn.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<1x2x8x4xf32>, tensor<8x4x3x3xf32>
  return
}

// -----

func.func @pool_rank(%x: tensor<f32>) {
  // expected-error @below {{'nn.max_pool' op expects an operand of rank 4 (NHWC), but got 'tensor<f32>'}}
  %y, %i = nn.max_pool %x kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<f32>
  return
}

// -----

func.func @conv_gradient(%dy: tensor<1x8x8x8xf32>, %x: tensor<1x8x8x4xf32>) {
  // expected-error @below {{expects a gradient of type 'tensor<1x6x6x8xf32>', but got 'tensor<1x8x8x8xf32>'}}
  %0 = nn.conv_weight_grad %x, %dy strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<1x8x8x4xf32>, tensor<1x8x8x8xf32> to tensor<8x4x3x3xf32>
  return
}

// -----

func.func @fused_body(%x: tensor<4xf32>) -> tensor<4xf16> {
  // expected-error @below {{expects a body with the operands' types as arguments that yields the results' types}}
  %0 = nn.fused "abs" %x : tensor<4xf32> -> tensor<4xf16> {
  ^bb0(%a: tensor<4xf32>):
    nn.yield %a : tensor<4xf32>
  }
  return %0 : tensor<4xf16>
}

// -----

func.func @fused_reductions(%x: tensor<4x8xf32>) -> (tensor<4x1xf32>, tensor<1x8xf32>) {
  %0:2 = nn.fused "sums" %x : tensor<4x8xf32> -> tensor<4x1xf32>, tensor<1x8xf32> {
  ^bb0(%a: tensor<4x8xf32>):
    // expected-note @below {{the first one is here}}
    %1 = nn.reduce sum %a [1] : tensor<4x8xf32>
    // expected-error @below {{expects the shape and dimensions of the other reductions in 'nn.fused'}}
    %2 = nn.reduce sum %a [0] : tensor<4x8xf32>
    nn.yield %1, %2 : tensor<4x1xf32>, tensor<1x8xf32>
  }
  return %0#0, %0#1 : tensor<4x1xf32>, tensor<1x8xf32>
}

// -----

func.func @partial_sum_alone(%x: tensor<4x8xf32>) -> tensor<2x8xf32> {
  %0 = nn.fused "sum" %x : tensor<4x8xf32> -> tensor<2x8xf32> {
  ^bb0(%a: tensor<4x8xf32>):
    // expected-error @below {{expects 'nn.fused' to reduce the last dimension of 'tensor<4x8xf32>' as well}}
    %1 = nn.partial_sum %a parts 2 : tensor<4x8xf32>
    nn.yield %1 : tensor<2x8xf32>
  }
  return %0 : tensor<2x8xf32>
}

// -----

func.func @partial_sum_of_columns(%x: tensor<4x8xf32>) -> (tensor<1x8xf32>, tensor<2x8xf32>) {
  %0:2 = nn.fused "sum" %x : tensor<4x8xf32> -> tensor<1x8xf32>, tensor<2x8xf32> {
  ^bb0(%a: tensor<4x8xf32>):
    %1 = nn.reduce sum %a [0] : tensor<4x8xf32>
    // expected-error @below {{expects 'nn.fused' to reduce the last dimension of 'tensor<4x8xf32>' as well}}
    %2 = nn.partial_sum %a parts 2 : tensor<4x8xf32>
    nn.yield %1, %2 : tensor<1x8xf32>, tensor<2x8xf32>
  }
  return %0#0, %0#1 : tensor<1x8xf32>, tensor<2x8xf32>
}

// -----

func.func @partial_sums_differ(%x: tensor<4x8xf32>) -> (tensor<4x1xf32>, tensor<2x8xf32>, tensor<4x8xf32>) {
  %0:3 = nn.fused "sum" %x : tensor<4x8xf32> -> tensor<4x1xf32>, tensor<2x8xf32>, tensor<4x8xf32> {
  ^bb0(%a: tensor<4x8xf32>):
    %1 = nn.reduce sum %a [1] : tensor<4x8xf32>
    %2 = nn.partial_sum %a parts 2 : tensor<4x8xf32>
    // expected-error @below {{expects the 2 parts of the other sums in 'nn.fused', but got 4}}
    %3 = nn.partial_sum %a parts 4 : tensor<4x8xf32>
    nn.yield %1, %2, %3 : tensor<4x1xf32>, tensor<2x8xf32>, tensor<4x8xf32>
  }
  return %0#0, %0#1, %0#2 : tensor<4x1xf32>, tensor<2x8xf32>, tensor<4x8xf32>
}

// -----

func.func @partial_sum_is_read(%x: tensor<4x8xf32>) -> (tensor<4x1xf32>, tensor<2x8xf32>) {
  %0:2 = nn.fused "sum" %x : tensor<4x8xf32> -> tensor<4x1xf32>, tensor<2x8xf32> {
  ^bb0(%a: tensor<4x8xf32>):
    %1 = nn.reduce sum %a [1] : tensor<4x8xf32>
    // expected-error @below {{expects to be read by 'nn.yield' alone}}
    %2 = nn.partial_sum %a parts 2 : tensor<4x8xf32>
    %3 = math.absf %2 : tensor<2x8xf32>
    nn.yield %1, %3 : tensor<4x1xf32>, tensor<2x8xf32>
  }
  return %0#0, %0#1 : tensor<4x1xf32>, tensor<2x8xf32>
}

// -----

func.func @origins(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects 'nn.origins' to be an '#nn.origins' with one origin for each of 1 results, but got #nn.origins<"a", "b">}}
  %0 = arith.negf %x {nn.origins = #nn.origins<"a", "b">} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @origins_as_text(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects 'nn.origins' to be an '#nn.origins' with one origin for each of 1 results, but got ["a"]}}
  %0 = arith.negf %x {nn.origins = ["a"]} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @gradient_of_nothing(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects a gradient to be of something with a name}}
  %0 = arith.negf %x {nn.origins = #nn.origins<gradient of "">} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @from(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects 'nn.from' to be the name of an op of 'nn', but got "soft"}}
  %0 = arith.negf %x {nn.from = "soft"} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @result(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects 'nn.result' to be the number of a result, but got -1 : i64}}
  %0 = arith.negf %x {nn.result = -1} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @straight(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects 'nn.straight_through' to be a unit on a 'math.roundeven', but got unit}}
  %0 = arith.negf %x {nn.straight_through} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @unknown(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has an attribute 'nn.origin', which 'nn' does not know}}
  %0 = arith.negf %x {nn.origin = #nn.origin<gradient of "a">} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @contract_pitch(%x: tensor<4x8xf32>, %w: tensor<8x3xf32>) {
  // expected-error @below {{'nn.contract' op expects a row pitch above the last of at least two dimensions, but got 3 for 'tensor<4x3xf32>'}}
  %0 = nn.contract "ik,kj->ij" %x, %w row_pitch 3 : tensor<4x8xf32>, tensor<8x3xf32>
  return
}

// -----

func.func @contract_spare_rows(%x: tensor<4x8xf32>, %w: tensor<8x3xf32>) {
  // expected-error @below {{'nn.contract' op expects from one spare row to as many as a matrix has rows, but got 5 for 'tensor<4x3xf32>'}}
  %0 = nn.contract "ik,kj->ij" %x, %w spare_rows 5 : tensor<4x8xf32>, tensor<8x3xf32>
  return
}

// -----

// A kernel writes no pads, so they are not zero in memory of the result's own.
func.func @fused_zeros(%x: tensor<4x3xf32, {row_pitch = 8, zeros}>) {
  // expected-error @below {{expects a result with pads of zeros to be written over an operand of its type, but got 'tensor<4x3xf32, {row_pitch = 8 : i64, zeros}>'}}
  %0 = nn.fused "copy" %x : tensor<4x3xf32, {row_pitch = 8, zeros}> -> tensor<4x3xf32, {row_pitch = 8, zeros}> {
  ^bb0(%a: tensor<4x3xf32>):
    nn.yield %a : tensor<4x3xf32>
  }
  return
}

// -----

// Rows within a kernel do not lie in memory.
func.func @fused_pitch(%x: tensor<4x3xf32, {row_pitch = 8}>) {
  // expected-error @below {{expects a body with the operands' types as arguments that yields the results' types}}
  %0 = nn.fused "copy" %x : tensor<4x3xf32, {row_pitch = 8}> -> tensor<4x3xf32> {
  ^bb0(%a: tensor<4x3xf32, {row_pitch = 8}>):
    %1 = arith.constant dense<0.0> : tensor<4x3xf32>
    nn.yield %1 : tensor<4x3xf32>
  }
  return
}

// -----

// Rows would overlap.
func.func @fused_overlap(%x: tensor<4x3xf32, {row_pitch = 2}>) {
  // expected-error @below {{expects a body with the operands' types as arguments that yields the results' types}}
  %0 = nn.fused "copy" %x : tensor<4x3xf32, {row_pitch = 2}> -> tensor<4x3xf32> {
  ^bb0(%a: tensor<4x3xf32>):
    nn.yield %a : tensor<4x3xf32>
  }
  return
}

// -----

func.func @sum_parts_rank(%x: tensor<4xf32>) {
  // expected-error @below {{'nn.sum_parts' op expects an operand of rank at least 2, but got 'tensor<4xf32>'}}
  %0 = nn.sum_parts %x : tensor<4xf32>
  return
}

// -----

func.func @stopping(%x: tensor<4xf32>) -> tensor<8xf32> {
  // expected-error @below {{expects 'nn.stops_gradient' to be a unit on an 'nn.concat' of one operand, but got unit}}
  %0 = nn.concat %x, %x dim 0 {nn.stops_gradient} : tensor<4xf32>, tensor<4xf32>
  return %0 : tensor<8xf32>
}
