// RUN: gpuopt-opt %s -nn-recompute-masks | FileCheck %s

// The mask's operand is made from the convolution, which the product behind the mask reads as well.
// CHECK-LABEL: func.func @read_later
// CHECK: %[[X:.*]] = nn.conv
// CHECK: %[[Z:.*]] = arith.mulf %[[X]]
// CHECK: arith.maximumf %[[Z]]
// CHECK: arith.cmpf ogt, %[[Z]]
func.func @read_later(%a: tensor<4x3x3x8xf32>, %w: tensor<8x8x1x1xf32>, %c: tensor<8xf32>, %dy: tensor<4x3x3x8xf32>)
    -> (tensor<4x3x3x8xf32>, tensor<4x3x3x8xf32>, tensor<4x3x3x8xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4x3x3x8xf32>
  %x = nn.conv %a, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<4x3x3x8xf32>, tensor<8x8x1x1xf32>
  %s = nn.broadcast %c : tensor<8xf32> to tensor<4x3x3x8xf32>
  %z = arith.mulf %x, %s : tensor<4x3x3x8xf32>
  %y = arith.maximumf %z, %zero : tensor<4x3x3x8xf32>
  %mask = arith.cmpf ogt, %y, %zero : tensor<4x3x3x8xf32>
  %g = arith.select %mask, %dy, %zero : tensor<4x3x3x8xi1>, tensor<4x3x3x8xf32>
  %gx = arith.mulf %g, %x : tensor<4x3x3x8xf32>
  return %y, %g, %gx : tensor<4x3x3x8xf32>, tensor<4x3x3x8xf32>, tensor<4x3x3x8xf32>
}

// Nothing else reads the convolution behind the mask: it would have to be kept.
// CHECK-LABEL: func.func @not_read_later
// CHECK: %[[Y:.*]] = arith.maximumf
// CHECK: arith.cmpf ogt, %[[Y]]
func.func @not_read_later(%a: tensor<4x3x3x8xf32>, %w: tensor<8x8x1x1xf32>, %c: tensor<8xf32>, %dy: tensor<4x3x3x8xf32>)
    -> (tensor<4x3x3x8xf32>, tensor<4x3x3x8xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4x3x3x8xf32>
  %x = nn.conv %a, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<4x3x3x8xf32>, tensor<8x8x1x1xf32>
  %s = nn.broadcast %c : tensor<8xf32> to tensor<4x3x3x8xf32>
  %z = arith.addf %x, %s : tensor<4x3x3x8xf32>
  %y = arith.maximumf %zero, %z : tensor<4x3x3x8xf32>
  %mask = arith.cmpf ogt, %y, %zero : tensor<4x3x3x8xf32>
  %g = arith.select %mask, %dy, %zero : tensor<4x3x3x8xi1>, tensor<4x3x3x8xf32>
  return %y, %g : tensor<4x3x3x8xf32>, tensor<4x3x3x8xf32>
}

// Two tensors make the operand, as behind a residual: the ReLU's result is one read, they are two.
// CHECK-LABEL: func.func @two_tensors
// CHECK: %[[Y:.*]] = arith.maximumf
// CHECK: arith.cmpf ogt, %[[Y]]
func.func @two_tensors(%a: tensor<4x3x3x8xf32>, %w: tensor<8x8x1x1xf32>, %r: tensor<4x3x3x8xf32>, %dy: tensor<4x3x3x8xf32>)
    -> (tensor<4x3x3x8xf32>, tensor<4x3x3x8xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4x3x3x8xf32>
  %x = nn.conv %a, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<4x3x3x8xf32>, tensor<8x8x1x1xf32>
  %z = arith.addf %x, %r : tensor<4x3x3x8xf32>
  %y = arith.maximumf %z, %zero : tensor<4x3x3x8xf32>
  %mask = arith.cmpf ogt, %y, %zero : tensor<4x3x3x8xf32>
  %g = arith.select %mask, %dy, %zero : tensor<4x3x3x8xi1>, tensor<4x3x3x8xf32>
  %gx = arith.mulf %g, %x : tensor<4x3x3x8xf32>
  return %y, %gx : tensor<4x3x3x8xf32>, tensor<4x3x3x8xf32>
}

// Another comparison asks for more than whether the operand is above zero; another bound is no ReLU's.
// CHECK-LABEL: func.func @other_comparisons
// CHECK: %[[Y:.*]] = arith.maximumf
// CHECK: %[[V:.*]] = arith.maximumf
// CHECK: arith.cmpf oge, %[[Y]]
// CHECK: arith.cmpf ogt, %[[V]]
func.func @other_comparisons(%a: tensor<4x3x3x8xf32>, %w: tensor<8x8x1x1xf32>, %c: tensor<8xf32>)
    -> (tensor<4x3x3x8xi1>, tensor<4x3x3x8xi1>, tensor<4x3x3x8xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4x3x3x8xf32>
  %six = arith.constant dense<6.0> : tensor<4x3x3x8xf32>
  %x = nn.conv %a, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<4x3x3x8xf32>, tensor<8x8x1x1xf32>
  %s = nn.broadcast %c : tensor<8xf32> to tensor<4x3x3x8xf32>
  %z = arith.addf %x, %s : tensor<4x3x3x8xf32>
  %y = arith.maximumf %z, %zero : tensor<4x3x3x8xf32>
  %v = arith.maximumf %z, %six : tensor<4x3x3x8xf32>
  %0 = arith.cmpf oge, %y, %zero : tensor<4x3x3x8xf32>
  %1 = arith.cmpf ogt, %v, %zero : tensor<4x3x3x8xf32>
  %2 = arith.mulf %x, %x : tensor<4x3x3x8xf32>
  return %0, %1, %2 : tensor<4x3x3x8xi1>, tensor<4x3x3x8xi1>, tensor<4x3x3x8xf32>
}
