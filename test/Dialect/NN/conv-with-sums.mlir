// RUN: gpuopt-opt %s --train-assign-precision="half-type=f16 device=h200" --train-insert-casts | FileCheck %s
// RUN: gpuopt-opt %s --train-assign-precision="half-type=f16 device=h200" --train-insert-casts --train-plan-memory --convert-to-device --verify-device \
// RUN:   | gpuopt-translate --device-to-cxx | FileCheck %s --check-prefix=CXX
// RUN: gpuopt-opt %s --train-reserve-workspace | FileCheck %s --check-prefix=WORKSPACE
// RUN: not gpuopt-opt %s --train-reserve-workspace=workspace-bytes=65536 2>&1 | FileCheck %s --check-prefix=SMALL

// The convolution is in half precision, and its sums are not. What a kernel
// makes of sums and state for many elements stays in f32, too: the mean, and
// what a running mean is worth. What is made of neither may be rounded.

// CHECK: nn.conv_with_sums {{.*}} : tensor<64x56x56x64xf16>, tensor<64x64x3x3xf16>
// CHECK: nn.fused "mean" {{.*}} -> tensor<1x1x1x64xf32>
// CHECK: nn.fused "running" {{.*}} -> tensor<64xf32>
// CHECK: nn.fused "sub" {{.*}} -> tensor<64x56x56x64xf16>

// CXX: conv_forward_with_sums<f16>(ctx, kConv3x3_64to64_56x56, m[{{.*}}], m[kW2], m[kConvWithSums], m[kConvWithSums2],
// CXX-NEXT: m[kConvWithSums3]);

// 200704 pixels in 1024 parts have 2 x 1024 x 64 sums of 4 bytes; without that,
// the runtime could not add them up where cuDNN does not.
// WORKSPACE: train.variable @library_workspace workspace
// SMALL: error: 'nn.conv_with_sums' op needs a workspace of at least 512.0 KiB, but it is 64.0 KiB

train.variable @w parameter : tensor<64x64x3x3xf32>
train.variable @running buffer : tensor<64xf32>
train.step @forward forward ("x" %x: tensor<64x56x56x64xf32>) {
  %w = train.read @w : tensor<64x64x3x3xf32>
  %r = train.read @running : tensor<64xf32>
  %y, %sum, %squares = nn.conv_with_sums %x, %w strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1
    : tensor<64x56x56x64xf32>, tensor<64x64x3x3xf32>
  %mean = nn.fused "mean" %sum, %squares : tensor<1x1x1x64xf32>, tensor<1x1x1x64xf32> -> tensor<1x1x1x64xf32> {
  ^bb0(%a: tensor<1x1x1x64xf32>, %b: tensor<1x1x1x64xf32>):
    %0 = arith.mulf %a, %b : tensor<1x1x1x64xf32>
    nn.yield %0 : tensor<1x1x1x64xf32>
  }
  %worth = nn.fused "running" %r : tensor<64xf32> -> tensor<64xf32> {
  ^bb0(%a: tensor<64xf32>):
    %0 = math.rsqrt %a : tensor<64xf32>
    nn.yield %0 : tensor<64xf32>
  }
  %z = nn.fused "sub" %y, %mean, %worth : tensor<64x56x56x64xf32>, tensor<1x1x1x64xf32>, tensor<64xf32> -> tensor<64x56x56x64xf32> {
  ^bb0(%a: tensor<64x56x56x64xf32>, %b: tensor<1x1x1x64xf32>, %c: tensor<64xf32>):
    %0 = nn.broadcast %b : tensor<1x1x1x64xf32> to tensor<64x56x56x64xf32>
    %1 = arith.subf %a, %0 : tensor<64x56x56x64xf32>
    %2 = nn.broadcast %c : tensor<64xf32> to tensor<64x56x56x64xf32>
    %3 = arith.mulf %1, %2 : tensor<64x56x56x64xf32>
    nn.yield %3 : tensor<64x56x56x64xf32>
  }
  %v = nn.conv %z, %w strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1
    : tensor<64x56x56x64xf32>, tensor<64x64x3x3xf32>
  %last = nn.fused "exp" %v : tensor<64x56x56x64xf32> -> tensor<64x56x56x64xf32> {
  ^bb0(%a: tensor<64x56x56x64xf32>):
    %0 = math.exp %a : tensor<64x56x56x64xf32>
    nn.yield %0 : tensor<64x56x56x64xf32>
  }
  train.output "last", %last : tensor<64x56x56x64xf32>
}
