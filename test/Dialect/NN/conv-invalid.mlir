// RUN: gpuopt-opt %s -split-input-file -verify-diagnostics
// Convolutions and pooling.

func.func @conv(%x: tensor<1x8x8x4xf32>, %w: tensor<8x3x3x3xf32>) {
  // expected-error @below {{expects weights for 4 input channels in 1 groups}}
  %0 = nn.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<1x8x8x4xf32>, tensor<8x3x3x3xf32>
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
