// RUN: gpuopt-opt %s | gpuopt-opt | FileCheck %s
// RUN: gpuopt-opt %s --mlir-print-op-generic | gpuopt-opt | FileCheck %s

// CHECK-LABEL: func.func @layout
func.func @layout(%x: tensor<4x8x16xf32>, %bias: tensor<16xf32>) -> tensor<4x16x4xf32> {
  // CHECK: nn.reshape %{{.*}} : tensor<4x8x16xf32> to tensor<32x16xf32>
  %0 = nn.reshape %x : tensor<4x8x16xf32> to tensor<32x16xf32>
  // CHECK: nn.broadcast %{{.*}} : tensor<16xf32> to tensor<4x8x16xf32>
  %1 = nn.broadcast %bias : tensor<16xf32> to tensor<4x8x16xf32>
  // CHECK: nn.transpose %{{.*}} [0, 2, 1] : tensor<4x8x16xf32>
  %2 = nn.transpose %1 [0, 2, 1] : tensor<4x8x16xf32>
  // CHECK: nn.slice %{{.*}} [0, 0, 4] [4, 16, 2] [1, 1, 2] : tensor<4x16x8xf32>
  %3 = nn.slice %2 [0, 0, 4] [4, 16, 2] [1, 1, 2] : tensor<4x16x8xf32>
  // CHECK: nn.concat %{{.*}}, %{{.*}} dim 2 : tensor<4x16x2xf32>, tensor<4x16x2xf32>
  %4 = nn.concat %3, %3 dim 2 : tensor<4x16x2xf32>, tensor<4x16x2xf32>
  // CHECK: nn.pad %{{.*}} low [0, 0, 1] high [0, 0, 1] interior [0, 0, 1] value 0.000000e+00 : f32 : tensor<4x16x2xf32>
  %5 = nn.pad %3 low [0, 0, 1] high [0, 0, 1] interior [0, 0, 1] value 0.0 : f32 : tensor<4x16x2xf32>
  // CHECK: nn.iota dim 1 : tensor<4x8xi64>
  %6 = nn.iota dim 1 : tensor<4x8xi64>
  // CHECK: nn.random_uniform stream 3 : tensor<4x8xf32>
  %7 = nn.random_uniform stream 3 : tensor<4x8xf32>
  return %4 : tensor<4x16x4xf32>
}

// CHECK-LABEL: func.func @contractions
func.func @contractions(%x: tensor<4x8x16xf32>, %w: tensor<16x32xf32>, %ids: tensor<4x8xi64>) {
  // CHECK: nn.contract "btc,cd->btd" %{{.*}}, %{{.*}} : tensor<4x8x16xf32>, tensor<16x32xf32>
  %0 = nn.contract "btc,cd->btd" %x, %w : tensor<4x8x16xf32>, tensor<16x32xf32>
  %bias = arith.constant dense<1.0> : tensor<32xf32>
  // CHECK: nn.contract "btc,cd->btd" %{{.*}}, %{{.*}} row_pitch 40 : tensor<4x8x16xf32>, tensor<16x32xf32>
  // CHECK-NEXT: nn.fused "copy" %{{.*}} : tensor<4x8x32xf32, {row_pitch = 40 : i64}> -> tensor<4x8x32xf32> {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<4x8x32xf32>):
  %padded = nn.contract "btc,cd->btd" %x, %w row_pitch 40 : tensor<4x8x16xf32>, tensor<16x32xf32>
  %dense = nn.fused "copy" %padded : tensor<4x8x32xf32, {row_pitch = 40 : i64}> -> tensor<4x8x32xf32> {
  ^bb0(%a: tensor<4x8x32xf32>):
    nn.yield %a : tensor<4x8x32xf32>
  }
  // CHECK: nn.contract "btc,btd->cd" %{{.*}}, %{{.*}} spare_rows 8 : tensor<4x8x16xf32>, tensor<4x8x32xf32, {row_pitch = 40 : i64}>
  // CHECK-NEXT: nn.contract "btc,cd->btd" %{{.*}}, %{{.*}} : tensor<4x8x16xf32>, tensor<16x32xf32, {spare_rows = 8 : i64}>
  %spare = nn.contract "btc,btd->cd" %x, %padded spare_rows 8 : tensor<4x8x16xf32>, tensor<4x8x32xf32, {row_pitch = 40 : i64}>
  %again = nn.contract "btc,cd->btd" %x, %spare : tensor<4x8x16xf32>, tensor<16x32xf32, {spare_rows = 8 : i64}>
  // CHECK: nn.contract "btc,cd->btd" %{{.*}}, %{{.*}} bias %{{.*}} : tensor<4x8x16xf32>, tensor<16x32xf32> bias tensor<32xf32>
  %biased = nn.contract "btc,cd->btd" %x, %w bias %bias : tensor<4x8x16xf32>, tensor<16x32xf32> bias tensor<32xf32>
  // CHECK: nn.reduce sum %{{.*}} [0, 1] : tensor<4x8x32xf32>
  %1 = nn.reduce sum %0 [0, 1] : tensor<4x8x32xf32>
  // CHECK: nn.partial_sum %{{.*}} parts 16 : tensor<4x8x32xf32>
  %part = nn.partial_sum %0 parts 16 : tensor<4x8x32xf32>
  // CHECK: nn.sum_parts %{{.*}} : tensor<16x1x32xf32>
  %whole = nn.sum_parts %part : tensor<16x1x32xf32>
  // CHECK: nn.take %{{.*}}, %{{.*}} : tensor<16x32xf32>, tensor<4x8xi64>
  %2 = nn.take %w, %ids : tensor<16x32xf32>, tensor<4x8xi64>
  // CHECK: nn.in_range %{{.*}} of 16 : tensor<4x8xi64>
  %checked = nn.in_range %ids of 16 : tensor<4x8xi64>
  // CHECK: nn.scatter_add %{{.*}}, %{{.*}} rows 16 : tensor<4x8x32xf32>, tensor<4x8xi64>
  %3 = nn.scatter_add %2, %ids rows 16 : tensor<4x8x32xf32>, tensor<4x8xi64>
  // CHECK: nn.scatter_add %{{.*}}, %{{.*}} rows 16 plus %{{.*}} : tensor<4x8x32xf32>, tensor<4x8xi64>, tensor<16x32xf32>
  %sum = nn.scatter_add %2, %ids rows 16 plus %3 : tensor<4x8x32xf32>, tensor<4x8xi64>, tensor<16x32xf32>
  // CHECK: nn.scatter max %{{.*}}, %{{.*}}, %{{.*}} : tensor<16x32xf32>, tensor<4x8x32xf32>, tensor<4x8xi64>
  %combined = nn.scatter max %w, %2, %ids : tensor<16x32xf32>, tensor<4x8x32xf32>, tensor<4x8xi64>
  // CHECK: nn.argsort %{{.*}} : tensor<4x8x32xf32>
  %ascending = nn.argsort %2 : tensor<4x8x32xf32>
  // CHECK: nn.argsort %{{.*}} descending : tensor<4x8xi64>
  %descending = nn.argsort %ids descending : tensor<4x8xi64>
  return
}

// CHECK-LABEL: func.func @normalisation
func.func @normalisation(%x: tensor<4x8x16xf32>, %s: tensor<16xf32>, %labels: tensor<4x8xi64>) {
  // CHECK: nn.softmax %{{.*}} dim 2
  %0 = nn.softmax %x dim 2 : tensor<4x8x16xf32>
  // CHECK: nn.log_softmax %{{.*}} dim 2
  %1 = nn.log_softmax %x dim 2 : tensor<4x8x16xf32>
  // CHECK: nn.layer_norm %{{.*}}, %{{.*}} bias %{{.*}} axis 2 epsilon 1.000000e-05 : tensor<4x8x16xf32>, tensor<16xf32> bias tensor<16xf32>
  %y, %mean, %rstd = nn.layer_norm %x, %s bias %s axis 2 epsilon 1.0e-5
      : tensor<4x8x16xf32>, tensor<16xf32> bias tensor<16xf32>
  // CHECK: nn.batch_norm {{.*}} epsilon 1.000000e-05 momentum 1.000000e-01 :
  %2:5 = nn.batch_norm %x, %s, %s, %s, %s epsilon 1.0e-5 momentum 0.1
      : tensor<4x8x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
  // CHECK: nn.dropout %{{.*}} ratio 1.000000e-01 stream 4
  %3 = nn.dropout %x ratio 0.1 stream 4 : tensor<4x8x16xf32>
  // CHECK: nn.cross_entropy %{{.*}}, %{{.*}} ignore_index -100 label_smoothing 0.000000e+00
  %loss, %lse = nn.cross_entropy %x, %labels ignore_index -100 label_smoothing 0.0
      : tensor<4x8x16xf32>, tensor<4x8xi64>
  return
}

// CHECK-LABEL: func.func @attention
func.func @attention(%q: tensor<4x8x16xf32>, %k: tensor<4x9x16xf32>, %v: tensor<4x9x5xf32>, %m: tensor<8x9xi1>, %b: tensor<1x8x9xf32>) -> tensor<4x8x5xf32> {
  // CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} mask %{{.*}} scale 2.500000e-01 of both dropout 1.000000e-01 stream 4 {masked_value = -1.000000e+04 : f64, zeroes_empty} : tensor<4x8x16xf32>, tensor<4x9x16xf32>, tensor<4x9x5xf32>, tensor<8x9xi1>
  %0:2 = nn.attention %q, %k, %v mask %m scale 0.25 of both dropout 0.1 stream 4 {masked_value = -1.0e4 : f64, zeroes_empty}
      : tensor<4x8x16xf32>, tensor<4x9x16xf32>, tensor<4x9x5xf32>, tensor<8x9xi1>
  // CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} scale 1.000000e+00 : tensor<4x8x16xf32>, tensor<4x9x16xf32>, tensor<4x9x5xf32>
  %1:2 = nn.attention %q, %k, %v scale 1.0 : tensor<4x8x16xf32>, tensor<4x9x16xf32>, tensor<4x9x5xf32>
  // CHECK: nn.attention %{{.*}} scale 1.000000e+00 softcap 5.000000e+01 dropout 1.000000e-01 stream 4 : tensor<4x8x16xf32>
  %c:2 = nn.attention %q, %k, %v scale 1.0 softcap 50.0 dropout 0.1 stream 4 : tensor<4x8x16xf32>, tensor<4x9x16xf32>, tensor<4x9x5xf32>
  // CHECK: nn.attention_grad %{{.*}} scale 1.000000e+00 softcap 5.000000e+01 : tensor<4x8x16xf32>
  %d:3 = nn.attention_grad %q, %k, %v, %c#0, %c#1, %c#0 scale 1.0 softcap 50.0
      : tensor<4x8x16xf32>, tensor<4x9x16xf32>, tensor<4x9x5xf32>, tensor<4x8x5xf32>, tensor<2x4x8xf32>, tensor<4x8x5xf32>
  // CHECK: nn.attention %{{.*}} band [-9, 0] order [1, 0, 2] : tensor<4x8x16xf32>
  %2:2 = nn.attention %q, %k, %v scale 1.0 band [-9, 0] order [1, 0, 2] : tensor<4x8x16xf32>, tensor<4x9x16xf32>, tensor<4x9x5xf32>
  // CHECK: nn.attention_grad %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} mask %{{.*}} scale 1.000000e+00 dropout 1.000000e-01 stream 4 order [1, 0, 2]
  %3:3 = nn.attention_grad %q, %k, %v, %1#0, %1#1, %0#0 mask %m scale 1.0 dropout 0.1 stream 4 order [1, 0, 2]
      : tensor<4x8x16xf32>, tensor<4x9x16xf32>, tensor<4x9x5xf32>, tensor<4x8x5xf32>, tensor<2x4x8xf32>, tensor<4x8x5xf32>, tensor<8x9xi1>
  // CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} mask %{{.*}} bias %{{.*}} : tensor<1x8x9xf32> scale 1.000000e+00 : {{.*}}, tensor<8x9xi1>
  %4:2 = nn.attention %q, %k, %v mask %m bias %b : tensor<1x8x9xf32> scale 1.0
      : tensor<4x8x16xf32>, tensor<4x9x16xf32>, tensor<4x9x5xf32>, tensor<8x9xi1>
  // CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} = nn.attention_grad {{.*}} mask %{{.*}} bias %{{.*}} : tensor<1x8x9xf32> scale 1.000000e+00 order [1, 0, 2]
  %5:4 = nn.attention_grad %q, %k, %v, %4#0, %4#1, %0#0 mask %m bias %b : tensor<1x8x9xf32> scale 1.0 order [1, 0, 2]
      : tensor<4x8x16xf32>, tensor<4x9x16xf32>, tensor<4x9x5xf32>, tensor<4x8x5xf32>, tensor<2x4x8xf32>, tensor<4x8x5xf32>, tensor<8x9xi1>
  return %0#0 : tensor<4x8x5xf32>
}

// CHECK-LABEL: func.func @windows
func.func @windows(%x: tensor<2x8x8x3xf32>, %w: tensor<6x3x3x3xf32>) {
  // CHECK: nn.conv
  %0 = nn.conv %x, %w strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1] groups 1
      : tensor<2x8x8x3xf32>, tensor<6x3x3x3xf32>
  // CHECK: nn.conv_with_sums {{.*}} groups 1 : tensor<2x8x8x3xf32>, tensor<6x3x3x3xf32>
  %with_sums, %sum, %squares = nn.conv_with_sums %x, %w strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1] groups 1
      : tensor<2x8x8x3xf32>, tensor<6x3x3x3xf32>
  // CHECK: nn.conv_input_grad {{.*}} : tensor<2x4x4x6xf32>, tensor<6x3x3x3xf32> to tensor<2x8x8x3xf32>
  %1 = nn.conv_input_grad %0, %w strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1] groups 1
      : tensor<2x4x4x6xf32>, tensor<6x3x3x3xf32> to tensor<2x8x8x3xf32>
  // CHECK: nn.conv_weight_grad
  %2 = nn.conv_weight_grad %x, %0 strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1] groups 1
      : tensor<2x8x8x3xf32>, tensor<2x4x4x6xf32> to tensor<6x3x3x3xf32>
  // CHECK: nn.max_pool
  %y, %argmax = nn.max_pool %x kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<2x8x8x3xf32>
  // CHECK: nn.max_pool_grad
  %3 = nn.max_pool_grad %y, %argmax kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1]
      : tensor<2x4x4x3xf32>, tensor<2x4x4x3xi32> to tensor<2x8x8x3xf32>
  // CHECK: nn.avg_pool %{{.*}} kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] count_include_pad
  %4 = nn.avg_pool %x kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] count_include_pad : tensor<2x8x8x3xf32>
  // CHECK: nn.avg_pool_grad
  %5 = nn.avg_pool_grad %4 kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] : tensor<2x4x4x3xf32> to tensor<2x8x8x3xf32>
  return
}
