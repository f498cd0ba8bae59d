// RUN: gpuopt-opt %s -kernels-form-clusters | FileCheck %s

train.variable @w parameter : tensor<16x16xf32>

// A residual sum and the normalisation that reads it are one kernel, which
// writes the sum (the next layer reads it) and the result.
// CHECK-LABEL: train.step @residual
// CHECK: %[[F:.*]]:2 = nn.fused {{.*}} -> tensor<4x16xf32>, tensor<4x16xf32>
// CHECK-NOT: nn.fused
// CHECK: train.output "sum", %[[F]]#0
train.step @residual forward ("x" %x: tensor<4x16xf32>, "y" %y: tensor<4x16xf32>) {
  %s = arith.addf %x, %y : tensor<4x16xf32>
  %m = nn.reduce max %s [1] : tensor<4x16xf32>
  %b = nn.broadcast %m : tensor<4x1xf32> to tensor<4x16xf32>
  %n = arith.subf %s, %b : tensor<4x16xf32>
  train.output "sum", %s : tensor<4x16xf32>
  train.output "normalised", %n : tensor<4x16xf32>
}

// A function of one tensor alone is computed again where it is read: between
// the two kernels lies the product's result, not its exponential.
// CHECK-LABEL: train.step @activation
// CHECK: %[[U:.*]] = nn.contract
// CHECK: %[[G:.*]] = nn.fused {{.*}} %[[U]] {{.*}} -> tensor<4x16xf32>
// CHECK: %[[V:.*]] = nn.contract "ik,kj->ij" %[[G]]
// CHECK: nn.fused {{.*}} %[[U]], %[[V]] {{.*}} -> tensor<4x16xf32>
train.step @activation forward ("x" %x: tensor<4x16xf32>) {
  %w = train.read @w : tensor<16x16xf32>
  %u = nn.contract "ik,kj->ij" %x, %w : tensor<4x16xf32>, tensor<16x16xf32>
  %e = math.exp %u : tensor<4x16xf32>
  %t = math.tanh %e : tensor<4x16xf32>
  %v = nn.contract "ik,kj->ij" %t, %w : tensor<4x16xf32>, tensor<16x16xf32>
  %d = arith.mulf %e, %v : tensor<4x16xf32>
  train.output "d", %d : tensor<4x16xf32>
}

// Sums over rows differ by lane: what reads them is another kernel.
// CHECK-LABEL: train.step @columns
// CHECK: nn.fused {{.*}} -> tensor<1x16xf32>
// CHECK: nn.fused {{.*}} -> tensor<4x16xf32>
train.step @columns forward ("x" %x: tensor<4x16xf32>) {
  %m = nn.reduce sum %x [0] : tensor<4x16xf32>
  %b = nn.broadcast %m : tensor<1x16xf32> to tensor<4x16xf32>
  %n = arith.subf %x, %b : tensor<4x16xf32>
  train.output "n", %n : tensor<4x16xf32>
}

// A kernel cannot read its own output in another order.
// CHECK-LABEL: train.step @own_transpose
// CHECK: %[[A:.*]] = nn.fused
// CHECK: %[[T:.*]] = nn.transpose %[[A]]
// CHECK: nn.fused {{.*}} %[[T]]
train.step @own_transpose forward ("x" %x: tensor<4x4xf32>) {
  %e = math.exp %x : tensor<4x4xf32>
  %t = nn.transpose %e [1, 0] : tensor<4x4xf32>
  %s = arith.addf %t, %t : tensor<4x4xf32>
  train.output "e", %e : tensor<4x4xf32>
  train.output "s", %s : tensor<4x4xf32>
}

// Nor gather from a table that it computes, or by indices: both are memory.
// CHECK-LABEL: train.step @own_table
// CHECK: %[[E:.*]] = nn.fused "exp" %arg0
// CHECK: %[[I:.*]] = nn.fused "{{.*}}" %arg1
// CHECK: nn.fused "{{.*}}" %[[E]], %[[I]]
// CHECK: nn.take %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xi64>
train.step @own_table forward ("x" %x: tensor<4xf32>, "i" %i: tensor<4xi64>) {
  %e = math.exp %x : tensor<4xf32>
  %next = arith.addi %i, %i : tensor<4xi64>
  %t = nn.take %e, %next : tensor<4xf32>, tensor<4xi64>
  %s = arith.addf %t, %e : tensor<4xf32>
  train.output "s", %s : tensor<4xf32>
}

// A constant that is gathered by lies in memory, too.
// CHECK-LABEL: train.step @constant_indices
// CHECK: %[[I:.*]] = nn.fused {{.*}} -> tensor<4xi64>
// CHECK: nn.fused "{{.*}}" %arg0, %[[I]]
train.step @constant_indices forward ("x" %x: tensor<4xf32>) {
  %i = arith.constant dense<1> : tensor<4xi64>
  %t = nn.take %x, %i : tensor<4xf32>, tensor<4xi64>
  train.output "t", %t : tensor<4xf32>
}

// The gradient that updates a parameter is called after it: what lies behind a
// view, what is accumulated. One that two parameters share is the first one's.
train.variable @scale parameter : tensor<16xf32>
train.variable @shift parameter : tensor<16xf32>
train.variable @sum gradient : tensor<16x16xf32> {of = @w}
// CHECK-LABEL: train.step @gradients
// CHECK: nn.fused {{.*}} {nn.origins = #nn.origins<"e">}
// CHECK: nn.fused {{.*}} {nn.origins = #nn.origins<gradient of "scale">}
// CHECK: nn.contract {{.*}} {nn.origins = #nn.origins<gradient of "w">}
// CHECK: train.update "sgd" @scale
train.step @gradients micro ("x" %x: tensor<4x16xf32>) {
  %e = math.exp %x : tensor<4x16xf32> loc("e")
  %g = nn.reduce sum %e [0] : tensor<4x16xf32> loc("d node")
  %v = nn.reshape %g : tensor<1x16xf32> to tensor<16xf32>
  %p = nn.contract "ki,kj->ij" %x, %x : tensor<4x16xf32>, tensor<4x16xf32> loc("d product")
  train.accumulate @sum, %p : tensor<16x16xf32>
  train.update "sgd" @scale, %v : tensor<16xf32>
  train.update "sgd" @shift, %v : tensor<16xf32>
  train.output "e", %e : tensor<4x16xf32>
}

// The first kernel takes in %m2 and so waits for the second, which must not
// take in %v: that needs the product of what the first kernel writes.
// CHECK-LABEL: train.step @no_cycle
// CHECK: %[[T:.*]] = nn.fused "exp" %[[Z:.*]] {
// CHECK: %[[M:.*]]:2 = nn.fused "add_sub" {{.*}} -> tensor<16x16xf32>, tensor<16x16xf32>
// CHECK: %[[P:.*]] = nn.contract "ik,kj->ij" %[[M]]#0
// CHECK: nn.fused "add" {{.*}}%[[P]]
train.step @no_cycle forward ("x" %x: tensor<16x16xf32>, "y" %y: tensor<16x16xf32>, "z" %z: tensor<16x16xf32>) {
  %w = train.read @w : tensor<16x16xf32>
  %m1 = arith.addf %x, %y : tensor<16x16xf32>
  %p = nn.contract "ik,kj->ij" %m1, %w : tensor<16x16xf32>, tensor<16x16xf32>
  %t = math.exp %z : tensor<16x16xf32>
  %tt = nn.transpose %t [1, 0] : tensor<16x16xf32>
  %m2 = arith.subf %x, %tt : tensor<16x16xf32>
  %v = arith.addf %p, %z : tensor<16x16xf32>
  train.output "m2", %m2 : tensor<16x16xf32>
  train.output "v", %v : tensor<16x16xf32>
}
