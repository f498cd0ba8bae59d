// RUN: gpuopt-opt %s -nn-decompose -kernels-form-clusters -kernels-materialize-views -train-plan-memory -convert-to-device -verify-device \
// RUN:   | gpuopt-translate --device-to-cxx | FileCheck %s

// A kernel of double draws floats.
// CHECK: convert<double>(random_uniform_vector(state_->seed, 7, state_->draw, i))
train.step @s micro ("x" %x: tensor<4x16xf64>) {
  %d = nn.dropout %x ratio 0.5 stream 7 : tensor<4x16xf64>
  train.output "d", %d : tensor<4x16xf64>
}
