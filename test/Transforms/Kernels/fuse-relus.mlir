// RUN: gpuopt-opt %s --kernels-fuse-relus="device=h200 half-type=f16" | FileCheck %s
// RUN: gpuopt-opt %s --kernels-fuse-relus="device=h200 half-type=f16" --remarks-filter=epilogues --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: gpuopt-opt %s --kernels-fuse-relus="device=host half-type=f16" > %t.host
// RUN: gpuopt-opt %s | diff - %t.host
// RUN: gpuopt-opt %s --kernels-fuse-relus=device=h200 > %t.full
// RUN: gpuopt-opt %s | diff - %t.full
// RUN: gpuopt-opt %s --kernels-fuse-relus="device=h200 half-type=f16 has-overrides" > %t.overrides
// RUN: gpuopt-opt %s | diff - %t.overrides
// RUN: not gpuopt-opt %s --kernels-fuse-relus="device=h200 half-type=f8" 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: error: expects a half-type of f16 or bf16, but got 'f8'

train.variable @w parameter : tensor<256x64xf32>
train.variable @v parameter : tensor<64x256x1x1xf32>
train.variable @b parameter : tensor<256xf32>

// The end of a bottleneck, and the gradient of what follows it, which is a convolution of single pixels.
// REMARK: the epilogue of a product makes '{{.*}}': {{[0-9.]+}} us instead of {{[0-9.]+}} us
// REMARK: the epilogue of a product makes '{{.*}}': {{[0-9.]+}} us instead of {{[0-9.]+}} us
// CHECK-LABEL: train.step @residual
// CHECK-SAME: "x" %[[X:.*]]: tensor<64x14x14x64xf32>, "r" %[[R:.*]]: tensor<64x14x14x256xf32>, "g" %[[G:.*]]: tensor<64x14x14x64xf32>, "s" %[[S:.*]]: tensor<64x14x14x256xf32>
// CHECK-DAG: %[[B:.*]] = train.read @b
// CHECK-NOT: nn.contract "
// CHECK: %[[Y:.*]], %[[MASK:.*]] = nn.contract_relu "nhwc,oc->nhwo" %[[X]], %{{.*}} bias %[[B]] plus %[[R]] keeps_mask
// CHECK-NOT: nn.fused "add_max"
// CHECK-NOT: nn.conv_input_grad
// CHECK: %[[V:.*]] = nn.reshape %{{.*}} : tensor<64x256x1x1xf32> to tensor<64x256xf32>
// CHECK: %[[DZ:.*]] = nn.contract_relu_grad "nhwo,oc->nhwc" %[[G]], %[[V]] mask %[[MASK]] plus %[[S]]
// CHECK-NOT: nn.fused "select"
// CHECK: nn.fused "sum" %[[DZ]] :
train.step @residual forward ("x" %x: tensor<64x14x14x64xf32>, "r" %r: tensor<64x14x14x256xf32>, "g" %g: tensor<64x14x14x64xf32>, "s" %s: tensor<64x14x14x256xf32>) {
  %w = train.read @w : tensor<256x64xf32>
  %v = train.read @v : tensor<64x256x1x1xf32>
  %b = train.read @b : tensor<256xf32>
  %p = nn.contract "nhwc,oc->nhwo" %x, %w bias %b : tensor<64x14x14x64xf32>, tensor<256x64xf32> bias tensor<256xf32>
  %y = nn.fused "add_max" %p, %r : tensor<64x14x14x256xf32>, tensor<64x14x14x256xf32> -> tensor<64x14x14x256xf32> {
  ^bb0(%a: tensor<64x14x14x256xf32>, %c: tensor<64x14x14x256xf32>):
    %zero = arith.constant dense<0.0> : tensor<64x14x14x256xf32>
    %0 = arith.addf %a, %c : tensor<64x14x14x256xf32>
    %1 = arith.maximumf %0, %zero : tensor<64x14x14x256xf32>
    nn.yield %1 : tensor<64x14x14x256xf32>
  }
  %q = nn.conv_input_grad %g, %v strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<64x14x14x64xf32>, tensor<64x256x1x1xf32> to tensor<64x14x14x256xf32>
  %dz = nn.fused "select" %q, %s, %y : tensor<64x14x14x256xf32>, tensor<64x14x14x256xf32>, tensor<64x14x14x256xf32> -> tensor<64x14x14x256xf32> {
  ^bb0(%a: tensor<64x14x14x256xf32>, %c: tensor<64x14x14x256xf32>, %d: tensor<64x14x14x256xf32>):
    %zero = arith.constant dense<0.0> : tensor<64x14x14x256xf32>
    %0 = arith.addf %a, %c : tensor<64x14x14x256xf32>
    %1 = arith.cmpf ogt, %d, %zero : tensor<64x14x14x256xf32>
    %2 = arith.select %1, %0, %zero : tensor<64x14x14x256xi1>, tensor<64x14x14x256xf32>
    nn.yield %2 : tensor<64x14x14x256xf32>
  }
  %db = nn.fused "sum" %dz : tensor<64x14x14x256xf32> -> tensor<1x1x1x256xf32> {
  ^bb0(%a: tensor<64x14x14x256xf32>):
    %0 = nn.reduce sum %a [0, 1, 2] : tensor<64x14x14x256xf32>
    nn.yield %0 : tensor<1x1x1x256xf32>
  }
  %dw = nn.contract "nhwo,nhwc->oc" %dz, %x : tensor<64x14x14x256xf32>, tensor<64x14x14x64xf32>
  train.output "db", %db : tensor<1x1x1x256xf32>
  train.output "dw", %dw : tensor<256x64xf32>
}

// A layer of a perceptron: the kernel adds the bias. Its result is read by another product, whose gradient is one.
// CHECK-LABEL: train.step @layer
// CHECK: %[[Y:.*]], %[[MASK:.*]] = nn.contract_relu "tc,oc->to" %{{.*}}, %{{.*}} bias %{{.*}} keeps_mask
// CHECK: nn.contract_relu_grad "tk,ko->to" %{{.*}}, %{{.*}} mask %[[MASK]]
train.step @layer forward ("x" %x: tensor<4096x64xf32>, "g" %g: tensor<4096x64xf32>) {
  %w = train.read @w : tensor<256x64xf32>
  %v = train.read @v : tensor<64x256x1x1xf32>
  %b = train.read @b : tensor<256xf32>
  %m = nn.reshape %v : tensor<64x256x1x1xf32> to tensor<64x256xf32>
  %p = nn.contract "tc,oc->to" %x, %w : tensor<4096x64xf32>, tensor<256x64xf32>
  %y = nn.fused "add_max" %p, %b : tensor<4096x256xf32>, tensor<256xf32> -> tensor<4096x256xf32> {
  ^bb0(%a: tensor<4096x256xf32>, %c: tensor<256xf32>):
    %zero = arith.constant dense<0.0> : tensor<4096x256xf32>
    %u = nn.broadcast %c : tensor<256xf32> to tensor<4096x256xf32>
    %0 = arith.addf %a, %u : tensor<4096x256xf32>
    %1 = arith.maximumf %0, %zero : tensor<4096x256xf32>
    nn.yield %1 : tensor<4096x256xf32>
  }
  %q = nn.contract "tk,ko->to" %g, %m : tensor<4096x64xf32>, tensor<64x256xf32>
  %dz = nn.fused "select" %q, %y : tensor<4096x256xf32>, tensor<4096x256xf32> -> tensor<4096x256xf32> {
  ^bb0(%a: tensor<4096x256xf32>, %d: tensor<4096x256xf32>):
    %zero = arith.constant dense<0.0> : tensor<4096x256xf32>
    %1 = arith.cmpf ogt, %d, %zero : tensor<4096x256xf32>
    %2 = arith.select %1, %a, %zero : tensor<4096x256xi1>, tensor<4096x256xf32>
    nn.yield %2 : tensor<4096x256xf32>
  }
  %dw = nn.contract "to,tc->oc" %dz, %x : tensor<4096x256xf32>, tensor<4096x64xf32>
  %dy = nn.contract "tc,oc->to" %g, %w : tensor<4096x64xf32>, tensor<256x64xf32>
  %e = nn.fused "mul" %dy, %y : tensor<4096x256xf32>, tensor<4096x256xf32> -> tensor<4096x256xf32> {
  ^bb0(%a: tensor<4096x256xf32>, %d: tensor<4096x256xf32>):
    %2 = arith.mulf %a, %d : tensor<4096x256xf32>
    nn.yield %2 : tensor<4096x256xf32>
  }
  %f = nn.contract "to,oc->tc" %e, %w : tensor<4096x256xf32>, tensor<256x64xf32>
  train.output "dw", %dw : tensor<256x64xf32>
  train.output "f", %f : tensor<4096x64xf32>
}

// What stays: an output in f32, a product that is read twice, a row that is not of the columns, and what is no ReLU.
// REMARK: a kernel makes '{{.*}}': outputs of the model stay in fp32, and so would the product
// REMARK: a kernel makes '{{.*}}': two rows are added, or one that is not of the columns
// CHECK-LABEL: train.step @kept
// CHECK-NOT: nn.contract_relu
train.step @kept forward ("x" %x: tensor<4096x64xf32>) {
  %w = train.read @w : tensor<256x64xf32>
  %b = train.read @b : tensor<256xf32>
  %p = nn.contract "tc,oc->to" %x, %w : tensor<4096x64xf32>, tensor<256x64xf32>
  %y = nn.fused "max" %p : tensor<4096x256xf32> -> tensor<4096x256xf32> {
  ^bb0(%a: tensor<4096x256xf32>):
    %zero = arith.constant dense<0.0> : tensor<4096x256xf32>
    %1 = arith.maximumf %a, %zero : tensor<4096x256xf32>
    nn.yield %1 : tensor<4096x256xf32>
  }
  %p2 = nn.contract "tc,oc->to" %x, %w : tensor<4096x64xf32>, tensor<256x64xf32>
  %y2 = nn.fused "max" %p2 : tensor<4096x256xf32> -> tensor<4096x256xf32> {
  ^bb0(%a: tensor<4096x256xf32>):
    %zero = arith.constant dense<0.0> : tensor<4096x256xf32>
    %1 = arith.maximumf %a, %zero : tensor<4096x256xf32>
    nn.yield %1 : tensor<4096x256xf32>
  }
  %f2 = nn.contract "to,oc->tc" %y2, %w : tensor<4096x256xf32>, tensor<256x64xf32>
  %g2 = nn.contract "to,oc->tc" %p2, %w : tensor<4096x256xf32>, tensor<256x64xf32>
  %p3 = nn.contract "tc,oc->to" %x, %w bias %b : tensor<4096x64xf32>, tensor<256x64xf32> bias tensor<256xf32>
  %y3 = nn.fused "add_max" %p3, %b : tensor<4096x256xf32>, tensor<256xf32> -> tensor<4096x256xf32> {
  ^bb0(%a: tensor<4096x256xf32>, %c: tensor<256xf32>):
    %zero = arith.constant dense<0.0> : tensor<4096x256xf32>
    %u = nn.broadcast %c : tensor<256xf32> to tensor<4096x256xf32>
    %0 = arith.addf %a, %u : tensor<4096x256xf32>
    %1 = arith.maximumf %0, %zero : tensor<4096x256xf32>
    nn.yield %1 : tensor<4096x256xf32>
  }
  %f3 = nn.contract "to,oc->tc" %y3, %w : tensor<4096x256xf32>, tensor<256x64xf32>
  %p4 = nn.contract "tc,oc->to" %x, %w : tensor<4096x64xf32>, tensor<256x64xf32>
  %y4 = nn.fused "max" %p4 : tensor<4096x256xf32> -> tensor<4096x256xf32> {
  ^bb0(%a: tensor<4096x256xf32>):
    %one = arith.constant dense<1.0> : tensor<4096x256xf32>
    %1 = arith.maximumf %a, %one : tensor<4096x256xf32>
    nn.yield %1 : tensor<4096x256xf32>
  }
  %f4 = nn.contract "to,oc->tc" %y4, %w : tensor<4096x256xf32>, tensor<256x64xf32>
  train.output "y", %y : tensor<4096x256xf32>
  train.output "f2", %f2 : tensor<4096x64xf32>
  train.output "g2", %g2 : tensor<4096x64xf32>
  train.output "f3", %f3 : tensor<4096x64xf32>
  train.output "f4", %f4 : tensor<4096x64xf32>
}

// A product adds each term once, so a kernel that reads one twice stays.
// CHECK-LABEL: train.step @doubled
// CHECK: nn.contract "tc,oc->to"
// CHECK: nn.fused "add_max"
// CHECK: nn.contract "tk,ko->to"
// CHECK: nn.fused "add_select"
train.step @doubled forward ("x" %x: tensor<4096x64xf32>, "g" %g: tensor<4096x64xf32>) {
  %w = train.read @w : tensor<256x64xf32>
  %v = train.read @v : tensor<64x256x1x1xf32>
  %m = nn.reshape %v : tensor<64x256x1x1xf32> to tensor<64x256xf32>
  %p = nn.contract "tc,oc->to" %x, %w : tensor<4096x64xf32>, tensor<256x64xf32>
  %y = nn.fused "add_max" %p : tensor<4096x256xf32> -> tensor<4096x256xf32> {
  ^bb0(%a: tensor<4096x256xf32>):
    %zero = arith.constant dense<0.0> : tensor<4096x256xf32>
    %0 = arith.addf %a, %a : tensor<4096x256xf32>
    %1 = arith.maximumf %0, %zero : tensor<4096x256xf32>
    nn.yield %1 : tensor<4096x256xf32>
  }
  %q = nn.contract "tk,ko->to" %g, %m : tensor<4096x64xf32>, tensor<64x256xf32>
  %dz = nn.fused "add_select" %q, %y : tensor<4096x256xf32>, tensor<4096x256xf32> -> tensor<4096x256xf32> {
  ^bb0(%a: tensor<4096x256xf32>, %d: tensor<4096x256xf32>):
    %zero = arith.constant dense<0.0> : tensor<4096x256xf32>
    %0 = arith.addf %a, %a : tensor<4096x256xf32>
    %1 = arith.cmpf ogt, %d, %zero : tensor<4096x256xf32>
    %2 = arith.select %1, %0, %zero : tensor<4096x256xi1>, tensor<4096x256xf32>
    nn.yield %2 : tensor<4096x256xf32>
  }
  %dw = nn.contract "to,tc->oc" %dz, %x : tensor<4096x256xf32>, tensor<4096x64xf32>
  train.output "dw", %dw : tensor<256x64xf32>
}
