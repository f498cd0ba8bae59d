// RUN: gpuopt-opt %s -train-build-step="loss=mse" -verify-diagnostics -split-input-file

train.variable @scale parameter : tensor<4xf32>
train.variable @mean buffer : tensor<4xf32>
func.func @forward(%x: tensor<1x4xf32> {nn.name = "x"}) -> (tensor<1x4xf32> {nn.name = "y"}) {
  %s = train.read @scale : tensor<4xf32>
  %m = train.read @mean : tensor<4xf32>
  // expected-error @below {{expects more than one value per channel for batch normalisation in training, but the operand is 'tensor<1x4xf32>', channels last: give a larger --batch-size, or --batch-norm=frozen}}
  %0:5 = nn.batch_norm %x, %s, %m, %m, %m epsilon 1.0e-5 momentum 0.1 : tensor<1x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  return %0#0 : tensor<1x4xf32>
}

// -----

// The statistics of frozen ones are those of another training.
train.variable @scale parameter : tensor<4xf32>
train.variable @mean buffer : tensor<4xf32>
func.func @forward(%x: tensor<1x4xf32> {nn.name = "x"}) -> (tensor<1x4xf32> {nn.name = "y"}) {
  %s = train.read @scale : tensor<4xf32>
  %m = train.read @mean : tensor<4xf32>
  %0:5 = nn.batch_norm %x, %s, %m, %m, %m epsilon 1.0e-5 momentum 0.1 frozen : tensor<1x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  return %0#0 : tensor<1x4xf32>
}

// -----

// Two values have a variance.
train.variable @scale parameter : tensor<4xf32>
train.variable @mean buffer : tensor<4xf32>
func.func @forward(%x: tensor<1x2x4xf32> {nn.name = "x"}) -> (tensor<1x2x4xf32> {nn.name = "y"}) {
  %s = train.read @scale : tensor<4xf32>
  %m = train.read @mean : tensor<4xf32>
  %0:5 = nn.batch_norm %x, %s, %m, %m, %m epsilon 1.0e-5 momentum 0.1 : tensor<1x2x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  return %0#0 : tensor<1x2x4xf32>
}
