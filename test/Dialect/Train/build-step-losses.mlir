// The loss of several outputs is the sum of their means, each taken by its weight.
// RUN: gpuopt-opt %s -train-build-step="losses=logits:cross_entropy:1,aux:mse:0.25 optimizer=sgd" | FileCheck %s
// RUN: not gpuopt-opt %s -train-build-step="losses=logits:cross_entropy:1,other:mse:1" 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not gpuopt-opt %s -train-build-step="losses=logits:hinge:1" 2>&1 | FileCheck %s --check-prefix=HINGE
// RUN: not gpuopt-opt %s -train-build-step="losses=logits:cross_entropy:1,half:mse:1" 2>&1 | FileCheck %s --check-prefix=TYPES
// RUN: not gpuopt-opt %s -train-build-step="losses=logits:cross_entropy:1,x:mse:1" 2>&1 | FileCheck %s --check-prefix=NAME

// CHECK: train.variable @losses losses : tensor<2x4xf64>
// CHECK: train.variable @w parameter
train.variable @w parameter : tensor<8x3xf32>

// CHECK-LABEL: train.step @micro_step micro
// CHECK-SAME: "labels.logits" %{{.*}}: tensor<4xi64>, "labels.aux" %{{.*}}: tensor<4x3xf32>
// CHECK-SAME: labelsNames = ["labels.logits", "labels.aux"], labelsRanges = [#train.index_range<0 to 3 or -100>, unit]
// CHECK: train.report_loss %{{.*}}, %[[N:.*]] part 0 : tensor<1xf32>
// A mean of no targets is 0.
// CHECK: %[[SOME:.*]] = arith.cmpf ogt, %[[N]]
// CHECK: %[[MEAN:.*]] = arith.select %[[SOME]]
// CHECK: train.report_loss %{{.*}}, %{{.*}} part 1 : tensor<1xf32>
// CHECK: %[[QUARTER:.*]] = arith.constant dense<2.500000e-01>
// CHECK: %[[WEIGHTED:.*]] = arith.mulf %{{.*}}, %[[QUARTER]]
// CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %[[WEIGHTED]]
// CHECK: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : tensor<1xf32>
// CHECK: train.report_loss %[[SUM]], %[[ONE]] : tensor<1xf32>
// CHECK: train.seed of 1 : tensor<1xf32>

// CHECK-LABEL: train.step @evaluate evaluate
// CHECK: train.report_loss %{{.*}} part 0
// CHECK: train.report_loss %{{.*}} part 1
// CHECK: train.report_loss %{{[^ ]*}}, %{{[^ ]*}} :

// OTHER: error: expects losses of outputs of the model (logits, aux, half, x), but got 'other'
// HINGE: error: a loss 'logits:hinge:1' needs a loss, cross_entropy, {{.*}} or none, as LOSS or OUTPUT:LOSS or OUTPUT:LOSS:WEIGHT
// TYPES: error: expects outputs of one type for several losses, but 'logits' is of 'f32' and 'half' of 'f16'
// NAME: error: expects no input of the name 'labels.x', by which the labels of an output are known
func.func @forward(%x: tensor<4x8xf32> {nn.name = "labels.x"})
    -> (tensor<4x3xf32> {nn.name = "logits"}, tensor<4x3xf32> {nn.name = "aux"}, tensor<4x3xf16> {nn.name = "half"},
        tensor<4x3xf32> {nn.name = "x"}) {
  %w = train.read @w : tensor<8x3xf32>
  %0 = nn.contract "ik,kj->ij" %x, %w : tensor<4x8xf32>, tensor<8x3xf32>
  %1 = arith.negf %0 : tensor<4x3xf32>
  %2 = arith.truncf %0 : tensor<4x3xf32> to tensor<4x3xf16>
  return %0, %1, %2, %1 : tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf16>, tensor<4x3xf32>
}
