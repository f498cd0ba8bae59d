// RUN: gpuopt-opt %s -train-plan-memory -convert-to-device -verify-device | FileCheck %s

// What libraries compute is a call each, with the shapes of the forward op.
// CHECK-LABEL: device.step @s forward
train.step @s forward ("x" %x: tensor<2x8x8x4xf32>, "w" %w: tensor<6x2x3x3xf32>, "ids" %ids: tensor<5xi64>, "u" %u: tensor<5x4xf32>) {
  // CHECK: device.conv forward %{{.*}} [2, 8, 8, 4], %{{.*}} [6, 2, 3, 3], %{{.*}} [2, 4, 4, 6] strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1] groups 2
  %0 = nn.conv %x, %w strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1] groups 2 : tensor<2x8x8x4xf32>, tensor<6x2x3x3xf32>
  // CHECK: device.conv input_grad %{{.*}} [2, 8, 8, 4], %{{.*}} [6, 2, 3, 3], %{{.*}} [2, 4, 4, 6]
  %1 = nn.conv_input_grad %0, %w strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1] groups 2
      : tensor<2x4x4x6xf32>, tensor<6x2x3x3xf32> to tensor<2x8x8x4xf32>
  // CHECK: device.conv weight_grad %{{.*}} [2, 8, 8, 4], %{{.*}} [6, 2, 3, 3], %{{.*}} [2, 4, 4, 6]
  %2 = nn.conv_weight_grad %x, %0 strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1] groups 2
      : tensor<2x8x8x4xf32>, tensor<2x4x4x6xf32> to tensor<6x2x3x3xf32>
  // CHECK: device.pool max %{{.*}} [2, 8, 8, 4], %{{.*}} [2, 4, 4, 4] argmax %{{.*}} kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1]
  %y, %argmax = nn.max_pool %1 kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<2x8x8x4xf32>
  // CHECK: device.pool max_grad %{{.*}} [2, 8, 8, 4], %{{.*}} [2, 4, 4, 4] argmax
  %3 = nn.max_pool_grad %y, %argmax kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1]
      : tensor<2x4x4x4xf32>, tensor<2x4x4x4xi32> to tensor<2x8x8x4xf32>
  // CHECK: device.pool avg %{{.*}} [2, 8, 8, 4], %{{.*}} [2, 4, 4, 4] kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] count_include_pad
  %4 = nn.avg_pool %3 kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] count_include_pad : tensor<2x8x8x4xf32>
  // CHECK: device.pool avg_grad %{{.*}} [2, 8, 8, 4], %{{.*}} [2, 4, 4, 4] kernel [2, 2]
  %5 = nn.avg_pool_grad %4 kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] : tensor<2x4x4x4xf32> to tensor<2x8x8x4xf32>
  // CHECK: device.scatter_add %{{.*}}, %{{.*}}, %{{.*}} count 5 rows 16 columns 4
  %6 = nn.scatter_add %u, %ids rows 16 : tensor<5x4xf32>, tensor<5xi64>
  train.output "w", %2 : tensor<6x2x3x3xf32>
  train.output "x", %5 : tensor<2x8x8x4xf32>
  train.output "t", %6 : tensor<16x4xf32>
}
