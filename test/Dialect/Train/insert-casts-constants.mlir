// RUN: gpuopt-opt %s --train-assign-precision="half-type=f16 override=y=fp16" --train-insert-casts | FileCheck %s

// Constants are cast here; what half precision cannot hold becomes its largest
// number.

// CHECK-LABEL: train.step @constants
train.step @constants forward ("x" %x: tensor<4096x2xf32>) {
  // CHECK: arith.constant dense<{{\[}}[1.000000e+00, 6.550400e+04], [-6.550400e+04, 3.332520e-01]]> : tensor<2x2xf16>
  %w = arith.constant dense<[[1.0, 1.0e+09], [-3.4e+38, 0.33333334]]> : tensor<2x2xf32>
  // CHECK: nn.contract "ik,kj->ij" %{{.*}}, %{{.*}} to f32 : tensor<4096x2xf16>, tensor<2x2xf16>
  %y = nn.contract "ik,kj->ij" %x, %w : tensor<4096x2xf32>, tensor<2x2xf32> loc("y"("MatMul"))
  train.output "y", %y : tensor<4096x2xf32>
}

// The elements of a resource are not known here, so that a kernel casts them.

// CHECK-LABEL: train.step @resource
train.step @resource forward ("x" %x: tensor<4096x2xf32>) {
  // CHECK: %[[W:.*]] = arith.constant dense_resource<w> : tensor<2x2xf32>
  %w = arith.constant dense_resource<w> : tensor<2x2xf32>
  // CHECK: %[[CAST:.*]] = nn.fused "cast" %[[W]]
  // CHECK: nn.contract "ik,kj->ij" %{{.*}}, %[[CAST]] to f32 : tensor<4096x2xf16>, tensor<2x2xf16>
  %y = nn.contract "ik,kj->ij" %x, %w : tensor<4096x2xf32>, tensor<2x2xf32> loc("y"("MatMul"))
  train.output "y", %y : tensor<4096x2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      w: "0x040000000000803F000000400000404000008040"
    }
  }
#-}
