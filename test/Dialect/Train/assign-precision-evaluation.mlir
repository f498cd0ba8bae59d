// RUN: gpuopt-opt %s --train-assign-precision="half-type=f16 device=h200" | FileCheck %s --check-prefixes=CHECK,AMPLE
// RUN: gpuopt-opt %s --train-assign-precision="half-type=f16 device=h200 memory-budget=250000000" | FileCheck %s --check-prefixes=CHECK,AMPLE
// RUN: gpuopt-opt %s --train-assign-precision="half-type=f16 device=h200 memory-budget=200000000" --remarks-filter-missed=precision --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefixes=CHECK,TIGHT

// A copy of the weight in f16, of 32 MiB, pays in an evaluation of 40 rows. It
// lies there for as long as the program runs, and the step that trains does not
// read it. Where the step's tensor of 40 MiB has no room beside it, the
// evaluation does without, although it would fit by itself.

train.variable @parameter parameter : tensor<4096x4096xf32>

// TIGHT: copies of weights for this step alone have no room beside the step that trains
// CHECK-LABEL: train.step @evaluation {{.*}} attributes
// TIGHT-SAME: an evaluation: copies of weights in f16 have no room beside the step that trains; everything stays in fp32
train.step @evaluation evaluate ("x" %x: tensor<40x4096xf32>) {
  %parameter = train.read @parameter : tensor<4096x4096xf32>
  // AMPLE: nn.contract "ik,kj->ij" %{{.*}}, %{{.*}} {train.half_product
  // TIGHT: nn.contract "ik,kj->ij" %{{.*}}, %{{.*}} : tensor
  %1 = nn.contract "ik,kj->ij" %x, %parameter : tensor<40x4096xf32>, tensor<4096x4096xf32>
  train.output "y", %1 : tensor<40x4096xf32>
}

train.step @step micro ("z" %z: tensor<2560x4096xf32>) {
  %1 = nn.fused "neg" %z : tensor<2560x4096xf32> -> tensor<2560x4096xf32> {
  ^bb0(%a: tensor<2560x4096xf32>):
    %2 = arith.negf %a : tensor<2560x4096xf32>
    nn.yield %2 : tensor<2560x4096xf32>
  }
  train.output "large", %1 : tensor<2560x4096xf32>
}
