// RUN: gpuopt-opt %s --kernels-fuse-epilogues=device=h200 | FileCheck %s --check-prefixes=CHECK,FULL,F32
// RUN: gpuopt-opt %s --kernels-fuse-epilogues="device=h200 half-type=bf16" | FileCheck %s --check-prefixes=CHECK,FULL,BF16
// RUN: gpuopt-opt %s --kernels-fuse-epilogues="device=h200 half-type=f16" | FileCheck %s --check-prefixes=CHECK,F16
// RUN: gpuopt-opt %s --kernels-fuse-epilogues="device=h200 half-type=bf16 has-budget" | FileCheck %s --check-prefix=BUDGET
// RUN: gpuopt-opt %s --kernels-fuse-epilogues="device=h200 half-type=bf16 recomputed=other,gelu" | FileCheck %s --check-prefix=BUDGET
// RUN: gpuopt-opt %s --kernels-fuse-epilogues="device=h200 half-type=bf16 recomputed=other" | FileCheck %s --check-prefixes=CHECK,FULL,BF16
// RUN: gpuopt-opt %s --kernels-fuse-epilogues="device=h200 half-type=f16" --remarks-filter=epilogues --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: gpuopt-opt %s --kernels-fuse-epilogues="device=h200 half-type=bf16 has-budget" --remarks-filter=epilogues --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=KEPT
// RUN: gpuopt-opt %s --kernels-fuse-epilogues=device=host > %t.host
// RUN: gpuopt-opt %s | diff - %t.host
// RUN: not gpuopt-opt %s --kernels-fuse-epilogues="device=h200 half-type=f8" 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: error: expects a half-type of f16 or bf16, but got 'f8'

train.variable @w parameter : tensor<64x256xf32>
train.variable @b parameter : tensor<256xf32>
train.variable @v parameter : tensor<256x64xf32>

// The forward keeps the input of the GELU, which all readers of product and bias
// read in their place. The backward's product adds up the columns, too, but
// not where they would be f16.

// REMARK: the epilogue of a product makes '{{.*}}': {{[0-9.]+}} us instead of {{[0-9.]+}} us
// REMARK: a kernel makes '{{.*}}': the library would round the sums of its columns to f16
// KEPT: a kernel makes '{{.*}}': within a budget, it may be computed again without the product
// KEPT: the epilogue of a product makes
// CHECK-LABEL: train.step @micro_step
// CHECK-DAG: %[[W:.*]] = train.read @w
// CHECK-DAG: %[[B:.*]] = train.read @b
// CHECK-NOT: nn.contract "
// CHECK: %[[Y:.*]], %[[Z:.*]] = nn.contract_gelu "tc,cd->td" %{{.*}}, %[[W]] bias %[[B]] keeps_input
// FULL-NOT: nn.fused "add_gelu_backward"
// FULL: %{{.*}}, %[[DB:.*]] = nn.contract_gelu_grad "tk,dk->td" %{{.*}}, %{{.*}} at %[[Z]] sums_columns
// FULL: nn.reshape %[[DB]] : tensor<256xf32> to tensor<1x256xf32>
// F16: %[[DY:.*]] = nn.contract "tk,dk->td"
// F16: nn.fused "mul_add_tanh_sub" %[[DY]], %[[Z]] :
// CHECK: nn.fused "exp" %[[Z]] :
// CHECK: nn.contract "td,dk->tk" %[[Y]]

// Within a budget, the product adds the bias for its readers, and the GELU can
// be computed again from that. Only GELUs of those names stay kernels where it
// is known what is computed again.
// BUDGET-LABEL: train.step @micro_step
// BUDGET: %[[Z:.*]] = nn.contract "tc,cd->td" %{{.*}}, %{{.*}} bias %
// BUDGET: nn.fused "mul_add_tanh" %[[Z]] :
// BUDGET: nn.contract_gelu_grad "tk,dk->td" %{{.*}}, %{{.*}} at %[[Z]] sums_columns
// BUDGET: nn.fused "exp" %[[Z]] :
train.step @micro_step forward ("x" %x: tensor<4096x64xf32>, "g" %g: tensor<4096x64xf32>) {
  %w = train.read @w : tensor<64x256xf32>
  %b = train.read @b : tensor<256xf32>
  %v = train.read @v : tensor<256x64xf32>
  %p = nn.contract "tc,cd->td" %x, %w : tensor<4096x64xf32>, tensor<64x256xf32>
  %y = nn.fused "add_gelu" %p, %b : tensor<4096x256xf32>, tensor<256xf32> -> tensor<4096x256xf32> {
  ^bb0(%a: tensor<4096x256xf32>, %c: tensor<256xf32>):
    %u = nn.broadcast %c : tensor<256xf32> to tensor<4096x256xf32>
    %z = arith.addf %a, %u : tensor<4096x256xf32>
    %half = arith.constant dense<5.000000e-01> : tensor<4096x256xf32>
    %cubic = arith.constant dense<4.471500e-02> : tensor<4096x256xf32>
    %slope = arith.constant dense<0.797884583> : tensor<4096x256xf32>
    %one = arith.constant dense<1.000000e+00> : tensor<4096x256xf32>
    %0 = arith.mulf %z, %half : tensor<4096x256xf32>
    %1 = arith.mulf %z, %z : tensor<4096x256xf32>
    %2 = arith.mulf %1, %z : tensor<4096x256xf32>
    %3 = arith.mulf %2, %cubic : tensor<4096x256xf32>
    %4 = arith.addf %z, %3 : tensor<4096x256xf32>
    %5 = arith.mulf %4, %slope : tensor<4096x256xf32>
    %6 = math.tanh %5 : tensor<4096x256xf32>
    %7 = arith.addf %6, %one : tensor<4096x256xf32>
    %8 = arith.mulf %0, %7 : tensor<4096x256xf32>
    nn.yield %8 : tensor<4096x256xf32>
  } loc("gelu")
  %q = nn.contract "tk,dk->td" %g, %v : tensor<4096x64xf32>, tensor<256x64xf32>
  %dz:2 = nn.fused "add_gelu_backward" %q, %p, %b : tensor<4096x256xf32>, tensor<4096x256xf32>, tensor<256xf32> -> tensor<4096x256xf32>, tensor<1x256xf32> {
  ^bb0(%s: tensor<4096x256xf32>, %a: tensor<4096x256xf32>, %c: tensor<256xf32>):
    %u = nn.broadcast %c : tensor<256xf32> to tensor<4096x256xf32>
    %z = arith.addf %a, %u : tensor<4096x256xf32>
    %half = arith.constant dense<5.000000e-01> : tensor<4096x256xf32>
    %cubic = arith.constant dense<4.471500e-02> : tensor<4096x256xf32>
    %three = arith.constant dense<1.341450e-01> : tensor<4096x256xf32>
    %slope = arith.constant dense<0.797884583> : tensor<4096x256xf32>
    %one = arith.constant dense<1.000000e+00> : tensor<4096x256xf32>
    %0 = arith.mulf %z, %z : tensor<4096x256xf32>
    %1 = arith.mulf %0, %cubic : tensor<4096x256xf32>
    %2 = arith.addf %1, %one : tensor<4096x256xf32>
    %3 = arith.mulf %2, %slope : tensor<4096x256xf32>
    %4 = arith.mulf %3, %z : tensor<4096x256xf32>
    %5 = math.tanh %4 : tensor<4096x256xf32>
    %6 = arith.mulf %5, %5 : tensor<4096x256xf32>
    %7 = arith.subf %one, %6 : tensor<4096x256xf32>
    %8 = arith.mulf %0, %three : tensor<4096x256xf32>
    %9 = arith.addf %8, %one : tensor<4096x256xf32>
    %10 = arith.mulf %9, %slope : tensor<4096x256xf32>
    %11 = arith.mulf %7, %10 : tensor<4096x256xf32>
    %12 = arith.mulf %11, %z : tensor<4096x256xf32>
    %13 = arith.addf %12, %5 : tensor<4096x256xf32>
    %14 = arith.addf %13, %one : tensor<4096x256xf32>
    %15 = arith.mulf %14, %half : tensor<4096x256xf32>
    %16 = arith.mulf %s, %15 : tensor<4096x256xf32>
    %17 = nn.reduce sum %16 [0] : tensor<4096x256xf32>
    nn.yield %16, %17 : tensor<4096x256xf32>, tensor<1x256xf32>
  }
  %e = nn.fused "add_exp" %p, %b : tensor<4096x256xf32>, tensor<256xf32> -> tensor<4096x256xf32> {
  ^bb0(%a: tensor<4096x256xf32>, %c: tensor<256xf32>):
    %0 = nn.broadcast %c : tensor<256xf32> to tensor<4096x256xf32>
    %1 = arith.addf %a, %0 : tensor<4096x256xf32>
    %2 = math.exp %1 : tensor<4096x256xf32>
    nn.yield %2 : tensor<4096x256xf32>
  }
  %o = nn.contract "td,dk->tk" %y, %v : tensor<4096x256xf32>, tensor<256x64xf32>
  train.output "o", %o : tensor<4096x64xf32>
  train.output "dz", %dz#0 : tensor<4096x256xf32>
  train.output "db", %dz#1 : tensor<1x256xf32>
  train.output "e", %e : tensor<4096x256xf32>
}

// Nothing reads the input where there is no backward.
// CHECK-LABEL: train.step @evaluate
// CHECK: = nn.contract_gelu "tc,cd->td" %{{.*}}, %{{.*}} bias %{{.*}} : tensor
// BUDGET-LABEL: train.step @evaluate
// BUDGET: = nn.contract_gelu "tc,cd->td" %{{.*}}, %{{.*}} bias %{{.*}} : tensor
train.step @evaluate forward ("x" %x: tensor<4096x64xf32>) {
  %w = train.read @w : tensor<64x256xf32>
  %v = train.read @v : tensor<256x64xf32>
  %b = train.read @b : tensor<256xf32>
  %p = nn.contract "tc,cd->td" %x, %w : tensor<4096x64xf32>, tensor<64x256xf32>
  %y = nn.fused "add_gelu" %p, %b : tensor<4096x256xf32>, tensor<256xf32> -> tensor<4096x256xf32> {
  ^bb0(%a: tensor<4096x256xf32>, %c: tensor<256xf32>):
    %u = nn.broadcast %c : tensor<256xf32> to tensor<4096x256xf32>
    %z = arith.addf %a, %u : tensor<4096x256xf32>
    %half = arith.constant dense<5.000000e-01> : tensor<4096x256xf32>
    %cubic = arith.constant dense<4.471500e-02> : tensor<4096x256xf32>
    %slope = arith.constant dense<0.797884583> : tensor<4096x256xf32>
    %one = arith.constant dense<1.000000e+00> : tensor<4096x256xf32>
    %0 = arith.mulf %z, %half : tensor<4096x256xf32>
    %1 = arith.mulf %z, %z : tensor<4096x256xf32>
    %2 = arith.mulf %1, %z : tensor<4096x256xf32>
    %3 = arith.mulf %2, %cubic : tensor<4096x256xf32>
    %4 = arith.addf %z, %3 : tensor<4096x256xf32>
    %5 = arith.mulf %4, %slope : tensor<4096x256xf32>
    %6 = math.tanh %5 : tensor<4096x256xf32>
    %7 = arith.addf %6, %one : tensor<4096x256xf32>
    %8 = arith.mulf %0, %7 : tensor<4096x256xf32>
    nn.yield %8 : tensor<4096x256xf32>
  }
  %o = nn.contract "td,dk->tk" %y, %v : tensor<4096x256xf32>, tensor<256x64xf32>
  train.output "o", %o : tensor<4096x64xf32>
}

// The sums are in two stages, and the second one goes as well.
// In bf16 the library's epilogue takes longer than a kernel for so many elements.
// CHECK-LABEL: train.step @stages
// BF16: nn.contract "btk,dk->btd"
// BF16: nn.fused "mul_add_tanh_sub"
// F32: nn.contract_gelu_grad {{.*}} sums_columns
// F32-NOT: nn.fused
// F32: nn.reshape %{{.*}} : tensor<256xf32> to tensor<1x1x256xf32>
// F32-NOT: nn.fused
train.step @stages forward ("x" %x: tensor<8x512x64xf32>, "g" %g: tensor<8x512x64xf32>) {
  %w = train.read @w : tensor<64x256xf32>
  %b = train.read @b : tensor<256xf32>
  %v = train.read @v : tensor<256x64xf32>
  %p = nn.contract "btc,cd->btd" %x, %w : tensor<8x512x64xf32>, tensor<64x256xf32>
  %y = nn.fused "add_gelu" %p, %b : tensor<8x512x256xf32>, tensor<256xf32> -> tensor<8x512x256xf32> {
  ^bb0(%a: tensor<8x512x256xf32>, %c: tensor<256xf32>):
    %u = nn.broadcast %c : tensor<256xf32> to tensor<8x512x256xf32>
    %z = arith.addf %a, %u : tensor<8x512x256xf32>
    %half = arith.constant dense<5.000000e-01> : tensor<8x512x256xf32>
    %cubic = arith.constant dense<4.471500e-02> : tensor<8x512x256xf32>
    %slope = arith.constant dense<0.797884583> : tensor<8x512x256xf32>
    %one = arith.constant dense<1.000000e+00> : tensor<8x512x256xf32>
    %0 = arith.mulf %z, %half : tensor<8x512x256xf32>
    %1 = arith.mulf %z, %z : tensor<8x512x256xf32>
    %2 = arith.mulf %1, %z : tensor<8x512x256xf32>
    %3 = arith.mulf %2, %cubic : tensor<8x512x256xf32>
    %4 = arith.addf %z, %3 : tensor<8x512x256xf32>
    %5 = arith.mulf %4, %slope : tensor<8x512x256xf32>
    %6 = math.tanh %5 : tensor<8x512x256xf32>
    %7 = arith.addf %6, %one : tensor<8x512x256xf32>
    %8 = arith.mulf %0, %7 : tensor<8x512x256xf32>
    nn.yield %8 : tensor<8x512x256xf32>
  }
  %q = nn.contract "btk,dk->btd" %g, %v : tensor<8x512x64xf32>, tensor<256x64xf32>
  %dz:2 = nn.fused "add_gelu_backward" %q, %p, %b : tensor<8x512x256xf32>, tensor<8x512x256xf32>, tensor<256xf32> -> tensor<8x512x256xf32>, tensor<8x1x256xf32> {
  ^bb0(%s: tensor<8x512x256xf32>, %a: tensor<8x512x256xf32>, %c: tensor<256xf32>):
    %u = nn.broadcast %c : tensor<256xf32> to tensor<8x512x256xf32>
    %z = arith.addf %a, %u : tensor<8x512x256xf32>
    %half = arith.constant dense<5.000000e-01> : tensor<8x512x256xf32>
    %cubic = arith.constant dense<4.471500e-02> : tensor<8x512x256xf32>
    %three = arith.constant dense<1.341450e-01> : tensor<8x512x256xf32>
    %slope = arith.constant dense<0.797884583> : tensor<8x512x256xf32>
    %one = arith.constant dense<1.000000e+00> : tensor<8x512x256xf32>
    %0 = arith.mulf %z, %z : tensor<8x512x256xf32>
    %1 = arith.mulf %0, %cubic : tensor<8x512x256xf32>
    %2 = arith.addf %1, %one : tensor<8x512x256xf32>
    %3 = arith.mulf %2, %slope : tensor<8x512x256xf32>
    %4 = arith.mulf %3, %z : tensor<8x512x256xf32>
    %5 = math.tanh %4 : tensor<8x512x256xf32>
    %6 = arith.mulf %5, %5 : tensor<8x512x256xf32>
    %7 = arith.subf %one, %6 : tensor<8x512x256xf32>
    %8 = arith.mulf %0, %three : tensor<8x512x256xf32>
    %9 = arith.addf %8, %one : tensor<8x512x256xf32>
    %10 = arith.mulf %9, %slope : tensor<8x512x256xf32>
    %11 = arith.mulf %7, %10 : tensor<8x512x256xf32>
    %12 = arith.mulf %11, %z : tensor<8x512x256xf32>
    %13 = arith.addf %12, %5 : tensor<8x512x256xf32>
    %14 = arith.addf %13, %one : tensor<8x512x256xf32>
    %15 = arith.mulf %14, %half : tensor<8x512x256xf32>
    %16 = arith.mulf %s, %15 : tensor<8x512x256xf32>
    %17 = nn.reduce sum %16 [1] : tensor<8x512x256xf32>
    nn.yield %16, %17 : tensor<8x512x256xf32>, tensor<8x1x256xf32>
  }
  %db = nn.fused "sum" %dz#1 : tensor<8x1x256xf32> -> tensor<1x1x256xf32> {
  ^bb0(%a: tensor<8x1x256xf32>):
    %0 = nn.reduce sum %a [0] : tensor<8x1x256xf32>
    nn.yield %0 : tensor<1x1x256xf32>
  }
  %o = nn.contract "btd,dk->btk" %y, %v : tensor<8x512x256xf32>, tensor<256x64xf32>
  train.output "o", %o : tensor<8x512x64xf32>
  train.output "dz", %dz#0 : tensor<8x512x256xf32>
  train.output "db", %db : tensor<1x1x256xf32>
}

// The exact GELU is another function.
// CHECK-LABEL: train.step @exact
// CHECK-NOT: nn.contract_gelu
train.step @exact forward ("x" %x: tensor<4096x64xf32>) {
  %w = train.read @w : tensor<64x256xf32>
  %p = nn.contract "tc,cd->td" %x, %w : tensor<4096x64xf32>, tensor<64x256xf32>
  %y = nn.fused "gelu" %p : tensor<4096x256xf32> -> tensor<4096x256xf32> {
  ^bb0(%a: tensor<4096x256xf32>):
    %half = arith.constant dense<5.000000e-01> : tensor<4096x256xf32>
    %root = arith.constant dense<0.707106769> : tensor<4096x256xf32>
    %one = arith.constant dense<1.000000e+00> : tensor<4096x256xf32>
    %0 = arith.mulf %a, %root : tensor<4096x256xf32>
    %1 = math.erf %0 : tensor<4096x256xf32>
    %2 = arith.addf %1, %one : tensor<4096x256xf32>
    %3 = arith.mulf %a, %half : tensor<4096x256xf32>
    %4 = arith.mulf %3, %2 : tensor<4096x256xf32>
    nn.yield %4 : tensor<4096x256xf32>
  }
  train.output "y", %y : tensor<4096x256xf32>
}

// So is one whose cubic factor is 0.045: it differs from GELU at some points.
// CHECK-LABEL: train.step @another_factor
// CHECK-NOT: nn.contract_gelu
train.step @another_factor forward ("x" %x: tensor<4096x64xf32>) {
  %w = train.read @w : tensor<64x256xf32>
  %b = train.read @b : tensor<256xf32>
  %p = nn.contract "tc,cd->td" %x, %w : tensor<4096x64xf32>, tensor<64x256xf32>
  %y = nn.fused "add_gelu" %p, %b : tensor<4096x256xf32>, tensor<256xf32> -> tensor<4096x256xf32> {
  ^bb0(%a: tensor<4096x256xf32>, %c: tensor<256xf32>):
    %u = nn.broadcast %c : tensor<256xf32> to tensor<4096x256xf32>
    %z = arith.addf %a, %u : tensor<4096x256xf32>
    %half = arith.constant dense<5.000000e-01> : tensor<4096x256xf32>
    %cubic = arith.constant dense<4.500000e-02> : tensor<4096x256xf32>
    %slope = arith.constant dense<0.797884583> : tensor<4096x256xf32>
    %one = arith.constant dense<1.000000e+00> : tensor<4096x256xf32>
    %0 = arith.mulf %z, %half : tensor<4096x256xf32>
    %1 = arith.mulf %z, %z : tensor<4096x256xf32>
    %2 = arith.mulf %1, %z : tensor<4096x256xf32>
    %3 = arith.mulf %2, %cubic : tensor<4096x256xf32>
    %4 = arith.addf %z, %3 : tensor<4096x256xf32>
    %5 = arith.mulf %4, %slope : tensor<4096x256xf32>
    %6 = math.tanh %5 : tensor<4096x256xf32>
    %7 = arith.addf %6, %one : tensor<4096x256xf32>
    %8 = arith.mulf %0, %7 : tensor<4096x256xf32>
    nn.yield %8 : tensor<4096x256xf32>
  }
  train.output "y", %y : tensor<4096x256xf32>
}

// The sum is read by what is no kernel of the same bias: it has to be in memory.
// CHECK-LABEL: train.step @read_elsewhere
// CHECK-NOT: nn.contract_gelu
train.step @read_elsewhere forward ("x" %x: tensor<4096x64xf32>) {
  %w = train.read @w : tensor<64x256xf32>
  %b = train.read @b : tensor<256xf32>
  %p = nn.contract "tc,cd->td" %x, %w : tensor<4096x64xf32>, tensor<64x256xf32>
  %y = nn.fused "add_gelu" %p, %b : tensor<4096x256xf32>, tensor<256xf32> -> tensor<4096x256xf32> {
  ^bb0(%a: tensor<4096x256xf32>, %c: tensor<256xf32>):
    %u = nn.broadcast %c : tensor<256xf32> to tensor<4096x256xf32>
    %z = arith.addf %a, %u : tensor<4096x256xf32>
    %half = arith.constant dense<5.000000e-01> : tensor<4096x256xf32>
    %cubic = arith.constant dense<4.471500e-02> : tensor<4096x256xf32>
    %slope = arith.constant dense<0.797884583> : tensor<4096x256xf32>
    %one = arith.constant dense<1.000000e+00> : tensor<4096x256xf32>
    %0 = arith.mulf %z, %half : tensor<4096x256xf32>
    %1 = arith.mulf %z, %z : tensor<4096x256xf32>
    %2 = arith.mulf %1, %z : tensor<4096x256xf32>
    %3 = arith.mulf %2, %cubic : tensor<4096x256xf32>
    %4 = arith.addf %z, %3 : tensor<4096x256xf32>
    %5 = arith.mulf %4, %slope : tensor<4096x256xf32>
    %6 = math.tanh %5 : tensor<4096x256xf32>
    %7 = arith.addf %6, %one : tensor<4096x256xf32>
    %8 = arith.mulf %0, %7 : tensor<4096x256xf32>
    nn.yield %8 : tensor<4096x256xf32>
  }
  train.output "y", %y : tensor<4096x256xf32>
  train.output "p", %p : tensor<4096x256xf32>
}

// The library reads and writes multiples of 8 columns, one matrix behind the
// other, in f32 at most.
// REMARK: a kernel makes '{{.*}}': an extent of 250 is no multiple of 8
// CHECK-LABEL: train.step @odd
// CHECK-NOT: nn.contract_gelu
train.variable @w250 parameter : tensor<64x250xf32>
train.variable @b250 parameter : tensor<250xf32>
train.step @odd forward ("x" %x: tensor<4096x64xf32>) {
  %w = train.read @w250 : tensor<64x250xf32>
  %b = train.read @b250 : tensor<250xf32>
  %p = nn.contract "tc,cd->td" %x, %w : tensor<4096x64xf32>, tensor<64x250xf32>
  %y = nn.fused "add_gelu" %p, %b : tensor<4096x250xf32>, tensor<250xf32> -> tensor<4096x250xf32> {
  ^bb0(%a: tensor<4096x250xf32>, %c: tensor<250xf32>):
    %u = nn.broadcast %c : tensor<250xf32> to tensor<4096x250xf32>
    %z = arith.addf %a, %u : tensor<4096x250xf32>
    %half = arith.constant dense<5.000000e-01> : tensor<4096x250xf32>
    %cubic = arith.constant dense<4.471500e-02> : tensor<4096x250xf32>
    %slope = arith.constant dense<0.797884583> : tensor<4096x250xf32>
    %one = arith.constant dense<1.000000e+00> : tensor<4096x250xf32>
    %0 = arith.mulf %z, %half : tensor<4096x250xf32>
    %1 = arith.mulf %z, %z : tensor<4096x250xf32>
    %2 = arith.mulf %1, %z : tensor<4096x250xf32>
    %3 = arith.mulf %2, %cubic : tensor<4096x250xf32>
    %4 = arith.addf %z, %3 : tensor<4096x250xf32>
    %5 = arith.mulf %4, %slope : tensor<4096x250xf32>
    %6 = math.tanh %5 : tensor<4096x250xf32>
    %7 = arith.addf %6, %one : tensor<4096x250xf32>
    %8 = arith.mulf %0, %7 : tensor<4096x250xf32>
    nn.yield %8 : tensor<4096x250xf32>
  }
  train.output "y", %y : tensor<4096x250xf32>
}

// REMARK: a kernel makes '{{.*}}': the product is several matrices
// CHECK-LABEL: train.step @several
// CHECK-NOT: nn.contract_gelu
train.step @several forward ("x" %x: tensor<4x64x64xf32>, "v" %v: tensor<4x64x256xf32>) {
  %b = train.read @b : tensor<256xf32>
  %p = nn.contract "btc,bcd->btd" %x, %v : tensor<4x64x64xf32>, tensor<4x64x256xf32>
  %y = nn.fused "add_gelu" %p, %b : tensor<4x64x256xf32>, tensor<256xf32> -> tensor<4x64x256xf32> {
  ^bb0(%a: tensor<4x64x256xf32>, %c: tensor<256xf32>):
    %u = nn.broadcast %c : tensor<256xf32> to tensor<4x64x256xf32>
    %z = arith.addf %a, %u : tensor<4x64x256xf32>
    %half = arith.constant dense<5.000000e-01> : tensor<4x64x256xf32>
    %cubic = arith.constant dense<4.471500e-02> : tensor<4x64x256xf32>
    %slope = arith.constant dense<0.797884583> : tensor<4x64x256xf32>
    %one = arith.constant dense<1.000000e+00> : tensor<4x64x256xf32>
    %0 = arith.mulf %z, %half : tensor<4x64x256xf32>
    %1 = arith.mulf %z, %z : tensor<4x64x256xf32>
    %2 = arith.mulf %1, %z : tensor<4x64x256xf32>
    %3 = arith.mulf %2, %cubic : tensor<4x64x256xf32>
    %4 = arith.addf %z, %3 : tensor<4x64x256xf32>
    %5 = arith.mulf %4, %slope : tensor<4x64x256xf32>
    %6 = math.tanh %5 : tensor<4x64x256xf32>
    %7 = arith.addf %6, %one : tensor<4x64x256xf32>
    %8 = arith.mulf %0, %7 : tensor<4x64x256xf32>
    nn.yield %8 : tensor<4x64x256xf32>
  }
  train.output "y", %y : tensor<4x64x256xf32>
}

// REMARK: a kernel makes '{{.*}}': the library has no epilogues in f64
// CHECK-LABEL: train.step @double
// CHECK-NOT: nn.contract_gelu
train.variable @w64 parameter : tensor<64x256xf64>
train.variable @b64 parameter : tensor<256xf64>
train.step @double forward ("x" %x: tensor<4096x64xf64>) {
  %w = train.read @w64 : tensor<64x256xf64>
  %b = train.read @b64 : tensor<256xf64>
  %p = nn.contract "tc,cd->td" %x, %w : tensor<4096x64xf64>, tensor<64x256xf64>
  %y = nn.fused "add_gelu" %p, %b : tensor<4096x256xf64>, tensor<256xf64> -> tensor<4096x256xf64> {
  ^bb0(%a: tensor<4096x256xf64>, %c: tensor<256xf64>):
    %u = nn.broadcast %c : tensor<256xf64> to tensor<4096x256xf64>
    %z = arith.addf %a, %u : tensor<4096x256xf64>
    %half = arith.constant dense<5.000000e-01> : tensor<4096x256xf64>
    %cubic = arith.constant dense<4.471500e-02> : tensor<4096x256xf64>
    %slope = arith.constant dense<0.79788456080286541> : tensor<4096x256xf64>
    %one = arith.constant dense<1.000000e+00> : tensor<4096x256xf64>
    %0 = arith.mulf %z, %half : tensor<4096x256xf64>
    %1 = arith.mulf %z, %z : tensor<4096x256xf64>
    %2 = arith.mulf %1, %z : tensor<4096x256xf64>
    %3 = arith.mulf %2, %cubic : tensor<4096x256xf64>
    %4 = arith.addf %z, %3 : tensor<4096x256xf64>
    %5 = arith.mulf %4, %slope : tensor<4096x256xf64>
    %6 = math.tanh %5 : tensor<4096x256xf64>
    %7 = arith.addf %6, %one : tensor<4096x256xf64>
    %8 = arith.mulf %0, %7 : tensor<4096x256xf64>
    nn.yield %8 : tensor<4096x256xf64>
  }
  train.output "y", %y : tensor<4096x256xf64>
}
