// RUN: gpuopt-opt %s --verify-clusters --split-input-file --verify-diagnostics

// What the phase leaves: heads that a product reads by strides.
train.step @forward forward ("x" %x: tensor<2x8x64xf32>) {
  %0 = nn.reshape %x : tensor<2x8x64xf32> to tensor<2x8x4x16xf32>
  %1 = nn.contract "bqhd,bkhd->bhqk" %0, %0 : tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>
  train.output "y", %1 : tensor<2x4x8x8xf32>
}

// -----

// Elementwise work outside of a kernel.
train.step @forward forward ("x" %x: tensor<8xf32>) {
  // expected-error @below {{'math.exp' op cannot be converted to the device dialect: it is no call, and no kernel computes it; run kernels-form-clusters before}}
  %0 = math.exp %x : tensor<8xf32>
  train.output "y", %0 : tensor<8xf32>
}

// -----

// Rows and columns of the transpose do not lie behind one another.
train.step @forward forward ("x" %x: tensor<4x8xf32>) {
  %0 = nn.transpose %x [1, 0] : tensor<4x8xf32>
  // expected-error @below {{cannot be a view of its operand's memory: no strides describe where its elements lie}}
  %1 = nn.reshape %0 : tensor<8x4xf32> to tensor<32xf32>
}

// -----

// Batch and rows are mixed: no one batched product has this result.
train.step @forward forward ("x" %x: tensor<2x3x4x5xf32>, "y" %y: tensor<4x5x6xf32>) {
  // expected-error @below {{cannot read its operands with the strides that they have; run kernels-materialize-views before}}
  %0 = nn.contract "abcd,cde->aebdc" %x, %y : tensor<2x3x4x5xf32>, tensor<4x5x6xf32>
}

// -----

// A library reads an image with its channels elsewhere.
train.step @forward forward ("x" %x: tensor<2x3x8x8xf32>, "w" %w: tensor<4x3x1x1xf32>) {
  %0 = nn.transpose %x [0, 2, 3, 1] : tensor<2x3x8x8xf32>
  // expected-error @below {{cannot read its operands with the strides that they have; run kernels-materialize-views before}}
  %1 = nn.conv %0, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<2x8x8x3xf32>, tensor<4x3x1x1xf32>
}

// -----

// An output is copied as it lies.
train.step @forward forward ("x" %x: tensor<4x8xf32>) {
  %0 = nn.transpose %x [1, 0] : tensor<4x8xf32>
  // expected-error @below {{expects operand 0 to be dense in memory}}
  train.output "y", %0 : tensor<8x4xf32>
}

// -----

// What an iteration passes on as it is has no memory to which the loop's result could
// be written.
train.step @forward forward ("x" %x: tensor<3x8xf32>) {
  // expected-error @below {{expects each value that an iteration yields to have memory of its own; run kernels-materialize-views before}}
  %y = nn.scan 3 slices(%x) states() invariants() : (tensor<3x8xf32>) -> tensor<3x8xf32> {
  ^bb0(%xi: tensor<8xf32>):
    nn.yield %xi : tensor<8xf32>
  }
  train.output "y", %y : tensor<3x8xf32>
}

// -----

// Elementwise work of an iteration outside of a kernel.
train.step @forward forward ("x" %x: tensor<3x8xf32>) {
  %y = nn.scan 3 slices(%x) states() invariants() : (tensor<3x8xf32>) -> tensor<3x8xf32> {
  ^bb0(%xi: tensor<8xf32>):
    // expected-error @below {{'math.exp' op cannot be converted to the device dialect: it is no call, and no kernel computes it; run kernels-form-clusters before}}
    %0 = math.exp %xi : tensor<8xf32>
    nn.yield %0 : tensor<8xf32>
  }
  train.output "y", %y : tensor<3x8xf32>
}

// -----

// expected-warning @below {{has no 'train.step', so verify-clusters has nothing to check; gpuopt-to-clusters makes the steps of an imported model}}
module {
}

// -----

// Other ops are for other passes.
train.step @forward forward ("x" %x: tensor<4x8xf32>) {
  // expected-error @below {{'nn.pad' op cannot be converted to the device dialect: it is no call, and no kernel computes it; run nn-absorb-layouts before}}
  %0 = nn.pad %x low [0, 0] high [0, 8] interior [0, 0] value 0.0 : f32 : tensor<4x8xf32>
  // expected-error @below {{'nn.softmax' op cannot be converted to the device dialect: it is no call, and no kernel computes it; run nn-decompose before}}
  %1 = nn.softmax %x dim 1 : tensor<4x8xf32>
  // expected-error @below {{'train.seed' op cannot be converted to the device dialect: it is no call, and no kernel computes it; run train-insert-loss-scaling before}}
  %2 = train.seed of 4 : tensor<f32>
}
