// RUN: gpuopt-opt %s -train-plan-memory -convert-to-device -verify-device | FileCheck %s

// What libraries compute is a call each, with the shapes of the forward op.
// CHECK-LABEL: device.step @s forward
train.step @s forward ("x" %x: tensor<2x8x8x4xf32>, "w" %w: tensor<6x2x3x3xf32>, "ids" %ids: tensor<5xi64>, "u" %u: tensor<5x4xf32>) {
  // CHECK: device.call "conv_forward"<f32>(ConvShape kConv3x3_4to6_4x4 {n = 2, h = 8, w = 8, c = 4, oh = 4, ow = 4, oc = 6, kh = 3, kw = 3, stride = [2, 2], pad_begin = [1, 1], pad_end = [1, 1], groups = 2}, %[[X:.*]], %[[W:.*]], bias = null, %[[Y:[0-9]+]])
  %0 = nn.conv %x, %w strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1] groups 2 : tensor<2x8x8x4xf32>, tensor<6x2x3x3xf32>
  // CHECK: device.call "conv_backward_data"<f32>(ConvShape kConv3x3_4to6_4x4 {n = 2, {{.*}}}, %{{.*}}, %{{.*}}, %{{.*}})
  %1 = nn.conv_input_grad %0, %w strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1] groups 2
      : tensor<2x4x4x6xf32>, tensor<6x2x3x3xf32> to tensor<2x8x8x4xf32>
  // CHECK: device.call "conv_backward_weights"<f32>(ConvShape kConv3x3_4to6_4x4 {n = 2, {{.*}}}, %{{.*}}, %{{.*}}, %{{.*}}, beta = 0)
  %2 = nn.conv_weight_grad %x, %0 strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1] groups 2
      : tensor<2x8x8x4xf32>, tensor<2x4x4x6xf32> to tensor<6x2x3x3xf32>
  // CHECK: device.call "max_pool_forward"<f32>(PoolShape kPool2x2_4x4 {n = 2, h = 8, w = 8, c = 4, oh = 4, ow = 4, kh = 2, kw = 2, stride = [2, 2]}, %{{.*}}, %{{.*}}, %{{.*}}) {{.*}} : !device.ptr<f32>, !device.ptr<f32>, !device.ptr<i32>
  %y, %argmax = nn.max_pool %1 kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<2x8x8x4xf32>
  // CHECK: device.call "max_pool_backward"<f32>(PoolShape kPool2x2_4x4 {{{.*}}}, %{{.*}}, %{{.*}}, %{{.*}}) {{.*}} : !device.ptr<f32>, !device.ptr<i32>, !device.ptr<f32>
  %3 = nn.max_pool_grad %y, %argmax kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1]
      : tensor<2x4x4x4xf32>, tensor<2x4x4x4xi32> to tensor<2x8x8x4xf32>
  // CHECK: device.call "avg_pool_forward"<f32>(PoolShape kPool2x2_4x4 {{{.*}}, stride = [2, 2], count_include_pad = 1}, %{{.*}}, %{{.*}})
  %4 = nn.avg_pool %3 kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] count_include_pad : tensor<2x8x8x4xf32>
  // CHECK: device.call "avg_pool_backward"<f32>(PoolShape kPool2x2_4x4 {{{.*}}, stride = [2, 2]}, %{{.*}}, %{{.*}})
  %5 = nn.avg_pool_grad %4 kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] : tensor<2x4x4x4xf32> to tensor<2x8x8x4xf32>
  // CHECK: device.call "scatter_add_rows"(%{{.*}}, 5, %{{.*}}, 16, 4, %{{.*}}, beta = 0) {{.*}} : !device.ptr<i64>, !device.ptr<f32>, !device.ptr<f32>
  %6 = nn.scatter_add %u, %ids rows 16 : tensor<5x4xf32>, tensor<5xi64>
  // CHECK: device.call "scatter_add_rows"(%{{.*}}, 5, %{{.*}}, 16, 4, %{{.*}}, beta = 0)
  // CHECK: %[[SUM:.*]] = device.address @sum
  // CHECK-NEXT: device.call "scatter_add_rows"(%{{.*}}, 5, %{{.*}}, 16, 4, %[[SUM]], beta = 1)
  %7 = nn.scatter_add %u, %ids rows 16 : tensor<5x4xf32>, tensor<5xi64>
  %8 = nn.scatter_add %u, %ids rows 16 plus %7 : tensor<5x4xf32>, tensor<5xi64>, tensor<16x4xf32>
  train.output "w", %2 : tensor<6x2x3x3xf32>
  train.output "x", %5 : tensor<2x8x8x4xf32>
  train.output "t", %6 : tensor<16x4xf32>
  train.output "sum", %8 : tensor<16x4xf32>
}
