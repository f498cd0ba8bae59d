// RUN: gpuopt-opt %s --kernels-merge-attention-sums=device=h200 | FileCheck %s
// RUN: gpuopt-opt %s --kernels-merge-attention-sums=device=h200 --remarks-filter=sums --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: gpuopt-opt %s --kernels-merge-attention-sums | FileCheck %s --check-prefix=HOST

// HOST-NOT: sums_columns

// The gradients of queries, keys and values are one tensor, whose columns are
// summed in two stages: 2 samples of 100 rows are 4 parts of up to 64, and 4
// heads of 16 elements are 64 columns of each gradient.
// REMARK: adds up the columns of 'd bias' in 4 parts
// CHECK-LABEL: train.step @projection
// CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %[[PARTS:.*]] = nn.attention_grad {{.*}} order [0, 2, 1, 3] sums_columns
// CHECK-NEXT: %[[SUM:.*]] = nn.fused "sum" %[[PARTS]] {nn.origins = #nn.origins<"d bias">} : tensor<4x1x192xf32> -> tensor<1x1x192xf32> {
// CHECK: nn.concat
// CHECK-NOT: nn.fused
// CHECK: train.output "bias", %[[SUM]] : tensor<1x1x192xf32>
train.step @projection forward ("q" %q: tensor<2x4x100x16xf32>, "s" %s: tensor<2x2x4x100xf32>) {
  %dq, %dk, %dv = nn.attention_grad %q, %q, %q, %q, %s, %q scale 1.0 order [0, 2, 1, 3]
      : tensor<2x4x100x16xf32>, tensor<2x4x100x16xf32>, tensor<2x4x100x16xf32>, tensor<2x4x100x16xf32>, tensor<2x2x4x100xf32>, tensor<2x4x100x16xf32>
  %0 = nn.reshape %dq : tensor<2x100x4x16xf32> to tensor<2x100x64xf32>
  %1 = nn.reshape %dk : tensor<2x100x4x16xf32> to tensor<2x100x64xf32>
  %2 = nn.reshape %dv : tensor<2x100x4x16xf32> to tensor<2x100x64xf32>
  %3 = nn.concat %0, %1, %2 dim 2 : tensor<2x100x64xf32>, tensor<2x100x64xf32>, tensor<2x100x64xf32>
  %4 = nn.fused "sum" %3 : tensor<2x100x192xf32> -> tensor<2x1x192xf32> {
  ^bb0(%a: tensor<2x100x192xf32>):
    %6 = nn.reduce sum %a [1] : tensor<2x100x192xf32>
    nn.yield %6 : tensor<2x1x192xf32>
  }
  %5 = nn.fused "sum" %4 {nn.origins = #nn.origins<"d bias">} : tensor<2x1x192xf32> -> tensor<1x1x192xf32> {
  ^bb0(%a: tensor<2x1x192xf32>):
    %6 = nn.reduce sum %a [0] : tensor<2x1x192xf32>
    nn.yield %6 : tensor<1x1x192xf32>
  }
  train.output "dy", %3 : tensor<2x100x192xf32>
  train.output "bias", %5 : tensor<1x1x192xf32>
}

// Projections of their own, whose biases are summed by kernels of their own: the
// sums are parts of one tensor. The sum of squares needs the gradient itself.
// CHECK-LABEL: train.step @projections
// CHECK: nn.attention_grad {{.*}} sums_columns
// CHECK-NEXT: %[[SUM:.*]] = nn.fused "sum" %{{.*}} : tensor<2x1x192xf32> -> tensor<1x1x192xf32> {
// CHECK: %[[DQ:.*]] = nn.slice %[[SUM]] [0, 0, 0] [1, 1, 64] [1, 1, 1]
// CHECK: %[[DV:.*]] = nn.slice %[[SUM]] [0, 0, 128] [1, 1, 64] [1, 1, 1]
// CHECK: %[[DK:.*]] = nn.fused "square"
// CHECK: train.output "q bias", %[[DQ]]
// CHECK: train.output "k bias", %[[DK]]
// CHECK: train.output "v bias", %[[DV]]
train.step @projections forward ("q" %q: tensor<2x4x50x16xf32>, "s" %s: tensor<2x2x4x50xf32>) {
  %dq, %dk, %dv = nn.attention_grad %q, %q, %q, %q, %s, %q scale 1.0 order [0, 2, 1, 3]
      : tensor<2x4x50x16xf32>, tensor<2x4x50x16xf32>, tensor<2x4x50x16xf32>, tensor<2x4x50x16xf32>, tensor<2x2x4x50xf32>, tensor<2x4x50x16xf32>
  %0 = nn.reshape %dq : tensor<2x50x4x16xf32> to tensor<2x50x64xf32>
  %1 = nn.reshape %dk : tensor<2x50x4x16xf32> to tensor<2x50x64xf32>
  %2 = nn.reshape %dv : tensor<2x50x4x16xf32> to tensor<2x50x64xf32>
  %3, %4 = nn.fused "sum" %0, %2 : tensor<2x50x64xf32>, tensor<2x50x64xf32> -> tensor<1x1x64xf32>, tensor<1x1x64xf32> {
  ^bb0(%a: tensor<2x50x64xf32>, %b: tensor<2x50x64xf32>):
    %6 = nn.reduce sum %a [0, 1] : tensor<2x50x64xf32>
    %7 = nn.reduce sum %b [0, 1] : tensor<2x50x64xf32>
    nn.yield %6, %7 : tensor<1x1x64xf32>, tensor<1x1x64xf32>
  }
  %5 = nn.fused "square" %1 : tensor<2x50x64xf32> -> tensor<1x1x64xf32> {
  ^bb0(%a: tensor<2x50x64xf32>):
    %6 = arith.mulf %a, %a : tensor<2x50x64xf32>
    %7 = nn.reduce sum %6 [0, 1] : tensor<2x50x64xf32>
    nn.yield %7 : tensor<1x1x64xf32>
  }
  train.output "q bias", %3 : tensor<1x1x64xf32>
  train.output "k bias", %5 : tensor<1x1x64xf32>
  train.output "v bias", %4 : tensor<1x1x64xf32>
}

// The runtime does not add up columns where there are fewer keys than queries.
// CHECK-LABEL: train.step @cross
// CHECK-NOT: sums_columns
train.step @cross forward ("q" %q: tensor<2x4x50x16xf32>, "k" %k: tensor<2x4x40x16xf32>, "s" %s: tensor<2x2x4x50xf32>) {
  %dq, %dk, %dv = nn.attention_grad %q, %k, %k, %q, %s, %q scale 1.0 order [0, 2, 1, 3]
      : tensor<2x4x50x16xf32>, tensor<2x4x40x16xf32>, tensor<2x4x40x16xf32>, tensor<2x4x50x16xf32>, tensor<2x2x4x50xf32>, tensor<2x4x50x16xf32>
  %0 = nn.reshape %dq : tensor<2x50x4x16xf32> to tensor<2x50x64xf32>
  %1 = nn.fused "sum" %0 : tensor<2x50x64xf32> -> tensor<1x1x64xf32> {
  ^bb0(%a: tensor<2x50x64xf32>):
    %6 = nn.reduce sum %a [0, 1] : tensor<2x50x64xf32>
    nn.yield %6 : tensor<1x1x64xf32>
  }
  train.output "bias", %1 : tensor<1x1x64xf32>
}
