// RUN: gpuopt-opt %s -train-build-step="optimizer=muon loss=mse" -verify-diagnostics

// An embedding alone would be updated by AdamW; then muon is not what is meant.
train.variable @table parameter : tensor<16x8xf32>
// expected-error @below {{expects a parameter that 'muon' updates, but it leaves all of them to 'adamw'}}
func.func @forward(%ids: tensor<4xi64> {nn.name = "ids"}) -> (tensor<4x8xf32> {nn.name = "logits"}) {
  %t = train.read @table : tensor<16x8xf32>
  %h = nn.take %t, %ids : tensor<16x8xf32>, tensor<4xi64>
  return %h : tensor<4x8xf32>
}
