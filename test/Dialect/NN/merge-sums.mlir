// RUN: gpuopt-opt %s -nn-merge-sums | FileCheck %s

// The sums of a batch norm's backward: of dy, of dy * scale, and both times the normalised input. The scale and the
// reciprocal deviation of a channel are outside of the two sums that remain.
// CHECK-LABEL: func.func @batch_norm
// CHECK: %[[DY:.*]] = nn.reduce sum %arg0 [0] : tensor<512x64xf32>
// CHECK: %[[SCALE:.*]] = nn.reshape %arg2 : tensor<64xf32> to tensor<1x64xf32>
// CHECK: %[[G:.*]] = arith.mulf %[[DY]], %[[SCALE]] : tensor<1x64xf32>
// CHECK: %[[PRODUCT:.*]] = arith.mulf %arg0, %arg1 : tensor<512x64xf32>
// CHECK: %[[DYX:.*]] = nn.reduce sum %[[PRODUCT]] [0] {nn.from = "batch_norm"}
// CHECK-NOT: nn.reduce
// CHECK: %[[ONE:.*]] = arith.mulf %[[DYX]], %{{.*}} : tensor<1x64xf32>
// CHECK: %[[GX:.*]] = arith.mulf %[[ONE]], %{{.*}} : tensor<1x64xf32>
// CHECK: %[[DSCALE:.*]] = arith.mulf %[[DYX]], %arg3 : tensor<1x64xf32>
// CHECK: return %[[G]], %[[GX]], %[[DSCALE]], %[[DY]]
func.func @batch_norm(%dy: tensor<512x64xf32>, %centred: tensor<512x64xf32>, %scale: tensor<64xf32>, %rstd: tensor<1x64xf32>)
    -> (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>) {
  %s = nn.broadcast %scale : tensor<64xf32> to tensor<512x64xf32>
  %r = nn.broadcast %rstd : tensor<1x64xf32> to tensor<512x64xf32>
  %xhat = arith.mulf %centred, %r : tensor<512x64xf32>
  %g = arith.mulf %dy, %s : tensor<512x64xf32>
  %0 = nn.reduce sum %g [0] : tensor<512x64xf32>
  %gx = arith.mulf %g, %xhat : tensor<512x64xf32>
  %1 = nn.reduce sum %gx [0] {nn.from = "batch_norm"} : tensor<512x64xf32>
  %dyx = arith.mulf %xhat, %dy : tensor<512x64xf32>
  %2 = nn.reduce sum %dyx [0] : tensor<512x64xf32>
  %3 = nn.reduce sum %dy [0] : tensor<512x64xf32>
  return %0, %1, %2, %3 : tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>
}

// Neither equal to another one, nor over other dimensions, nor with a factor that varies, nor a maximum, nor over rows.
// CHECK-LABEL: func.func @different
// CHECK-COUNT-7: nn.reduce
// CHECK-NOT: nn.reshape
func.func @different(%x: tensor<8x32x64xf32>, %c: tensor<64xf32>, %r: tensor<8x1x64xf32>, %row: tensor<8x32x1xf32>)
    -> (tensor<1x1x64xf32>, tensor<1x32x64xf32>, tensor<1x1x64xf32>, tensor<1x1x64xf32>, tensor<1x1x64xf32>,
        tensor<8x32x1xf32>, tensor<8x32x1xf32>) {
  %s = nn.broadcast %c : tensor<64xf32> to tensor<8x32x64xf32>
  %t = nn.broadcast %r : tensor<8x1x64xf32> to tensor<8x32x64xf32>
  %u = nn.broadcast %row : tensor<8x32x1xf32> to tensor<8x32x64xf32>
  %xs = arith.mulf %x, %s : tensor<8x32x64xf32>
  %xt = arith.mulf %x, %t : tensor<8x32x64xf32>
  %xu = arith.mulf %x, %u : tensor<8x32x64xf32>
  %xx = arith.mulf %x, %x : tensor<8x32x64xf32>
  %0 = nn.reduce sum %xs [0, 1] : tensor<8x32x64xf32>
  %1 = nn.reduce sum %x [0] : tensor<8x32x64xf32>
  %2 = nn.reduce sum %xt [0, 1] : tensor<8x32x64xf32>
  %3 = nn.reduce max %x [0, 1] : tensor<8x32x64xf32>
  %4 = nn.reduce sum %xx [0, 1] : tensor<8x32x64xf32>
  %5 = nn.reduce sum %xu [2] : tensor<8x32x64xf32>
  %6 = nn.reduce sum %x [2] : tensor<8x32x64xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<1x1x64xf32>, tensor<1x32x64xf32>, tensor<1x1x64xf32>, tensor<1x1x64xf32>,
      tensor<1x1x64xf32>, tensor<8x32x1xf32>, tensor<8x32x1xf32>
}

// Sums of sums, of which the inner ones are merged first.
// CHECK-LABEL: @sums_of_sums
// CHECK: %[[INNER:.*]] = nn.reduce sum %{{.*}} [0] : tensor<8x32x64xf32>
// CHECK: nn.reduce sum %[[INNER]] [1] : tensor<1x32x64xf32>
// CHECK-NOT: nn.reduce
// CHECK: return
func.func @sums_of_sums(%x: tensor<8x32x64xf32>, %c: tensor<64xf32>)
    -> (tensor<1x32x64xf32>, tensor<1x1x64xf32>, tensor<1x1x64xf32>) {
  %s = nn.broadcast %c : tensor<64xf32> to tensor<8x32x64xf32>
  %s1 = nn.broadcast %c : tensor<64xf32> to tensor<1x32x64xf32>
  %xs = arith.mulf %x, %s : tensor<8x32x64xf32>
  %r1 = nn.reduce sum %x [0] : tensor<8x32x64xf32>
  %r2 = nn.reduce sum %xs [0] : tensor<8x32x64xf32>
  %t1 = nn.reduce sum %r1 [1] : tensor<1x32x64xf32>
  %p = arith.mulf %r1, %s1 : tensor<1x32x64xf32>
  %t2 = nn.reduce sum %p [1] : tensor<1x32x64xf32>
  return %r2, %t1, %t2 : tensor<1x32x64xf32>, tensor<1x1x64xf32>, tensor<1x1x64xf32>
}
