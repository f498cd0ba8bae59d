// RUN: gpuopt-opt %s --kernels-materialize-views --verify-clusters --train-plan-memory --convert-to-device --verify-device \
// RUN:   | gpuopt-translate --device-to-cxx | FileCheck %s

// What combines rows by index, and what sorts, are calls of the runtime. What
// lies in another order is copied before.
// CHECK-DAG: #include "gpuopt/ops/argsort.h"
// CHECK-DAG: #include "gpuopt/ops/scatter_reduce.h"
// CHECK: scatter_sum_rows(ctx, m[kIds], 5, {{.*}}, {{.*}}, 8, 4, {{.*}});
// CHECK: scatter_max_rows(ctx, m[kIds], 5, {{.*}}, {{.*}}, 8, 4, {{.*}});
// CHECK: scatter_min_rows(ctx, m[kIds], 5, {{.*}}, {{.*}}, 8, 4, {{.*}});
// CHECK: scatter_product_rows(ctx, m[kIds], 5, {{.*}}, {{.*}}, 8, 4, {{.*}});
// CHECK: launch(ctx, {{.*}}fused_copy
// CHECK: argsort(ctx, 4, 8, {{.*}}, {{.*}}, /*descending=*/1);
train.step @forward forward ("t" %t: tensor<8x4xf32>, "u" %u: tensor<5x4xf32>, "ids" %ids: tensor<5xi64>) {
  %0 = nn.scatter sum %t, %u, %ids : tensor<8x4xf32>, tensor<5x4xf32>, tensor<5xi64>
  %1 = nn.scatter max %0, %u, %ids : tensor<8x4xf32>, tensor<5x4xf32>, tensor<5xi64>
  %2 = nn.scatter min %1, %u, %ids : tensor<8x4xf32>, tensor<5x4xf32>, tensor<5xi64>
  %3 = nn.scatter prod %2, %u, %ids : tensor<8x4xf32>, tensor<5x4xf32>, tensor<5xi64>
  %4 = nn.transpose %3 [1, 0] : tensor<8x4xf32>
  %5 = nn.argsort %4 descending : tensor<4x8xf32>
  train.output "y", %5 : tensor<4x8xi64>
}
