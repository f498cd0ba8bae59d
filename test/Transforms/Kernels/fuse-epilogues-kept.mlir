// RUN: gpuopt-opt %s --kernels-fuse-epilogues="device=h200 half-type=bf16" | FileCheck %s
// RUN: gpuopt-opt %s --kernels-fuse-epilogues="device=h200 half-type=bf16" --remarks-filter=epilogues --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: gpuopt-opt %s --kernels-fuse-epilogues="device=h200 half-type=bf16 has-overrides" > %t.overrides
// RUN: gpuopt-opt %s | diff - %t.overrides

// Kernels that do more than a GELU or its gradient stay, and so do those whose
// operands the library could not read, or whose results keep their precision.

train.variable @w parameter : tensor<64x256xf32>
train.variable @b parameter : tensor<256xf32>
train.variable @v parameter : tensor<256x64xf32>
train.variable @b2 parameter : tensor<256x2xf32>

// CHECK-LABEL: train.step @other_result_first
// CHECK: nn.contract_gelu "tc,cd->td"
// CHECK: nn.contract "tk,dk->td"
// CHECK: nn.fused {{.*}} -> tensor<4096x256xf32>, tensor<4096x256xf32>
// CHECK-NOT: nn.contract_gelu_grad
train.step @other_result_first forward ("x" %x: tensor<4096x64xf32>, "g" %g: tensor<4096x64xf32>) {
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
  }
  %q = nn.contract "tk,dk->td" %g, %v : tensor<4096x64xf32>, tensor<256x64xf32>
  %dz:2 = nn.fused "add_gelu_backward" %q, %p, %b : tensor<4096x256xf32>, tensor<4096x256xf32>, tensor<256xf32> -> tensor<4096x256xf32>, tensor<4096x256xf32> {
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
    %17 = math.exp %z : tensor<4096x256xf32>
    nn.yield %17, %16 : tensor<4096x256xf32>, tensor<4096x256xf32>
  }
  %o = nn.contract "td,dk->tk" %y, %v : tensor<4096x256xf32>, tensor<256x64xf32>
  train.output "o", %o : tensor<4096x64xf32>
  train.output "first", %dz#0 : tensor<4096x256xf32>
  train.output "second", %dz#1 : tensor<4096x256xf32>
}

// CHECK-LABEL: train.step @other_result_last
// CHECK: nn.contract_gelu "tc,cd->td"
// CHECK: nn.contract "tk,dk->td"
// CHECK: nn.fused {{.*}} -> tensor<4096x256xf32>, tensor<4096x256xf32>
// CHECK-NOT: nn.contract_gelu_grad
train.step @other_result_last forward ("x" %x: tensor<4096x64xf32>, "g" %g: tensor<4096x64xf32>) {
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
  }
  %q = nn.contract "tk,dk->td" %g, %v : tensor<4096x64xf32>, tensor<256x64xf32>
  %dz:2 = nn.fused "add_gelu_backward" %q, %p, %b : tensor<4096x256xf32>, tensor<4096x256xf32>, tensor<256xf32> -> tensor<4096x256xf32>, tensor<4096x256xf32> {
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
    %17 = math.exp %z : tensor<4096x256xf32>
    nn.yield %16, %17 : tensor<4096x256xf32>, tensor<4096x256xf32>
  }
  %o = nn.contract "td,dk->tk" %y, %v : tensor<4096x256xf32>, tensor<256x64xf32>
  train.output "o", %o : tensor<4096x64xf32>
  train.output "first", %dz#0 : tensor<4096x256xf32>
  train.output "second", %dz#1 : tensor<4096x256xf32>
}

// CHECK-LABEL: train.step @strided_bias
// CHECK-NOT: nn.contract_gelu
train.step @strided_bias forward ("x" %x: tensor<4096x64xf32>) {
  %w = train.read @w : tensor<64x256xf32>
  %both = train.read @b2 : tensor<256x2xf32>
  %v = train.read @v : tensor<256x64xf32>
  %column = nn.slice %both [0, 1] [256, 1] [1, 1] : tensor<256x2xf32>
  %b = nn.reshape %column : tensor<256x1xf32> to tensor<256xf32>
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

// REMARK: a kernel makes '{{.*}}': outputs of the model stay in fp32, and so would the product
// CHECK-LABEL: train.step @output
// CHECK-NOT: nn.contract_gelu
train.step @output forward ("x" %x: tensor<4096x64xf32>) {
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
  %flat = nn.reshape %y : tensor<4096x256xf32> to tensor<1048576xf32>
  train.output "y", %flat : tensor<1048576xf32>
}

// REMARK: a kernel makes '{{.*}}': the bias is not one row
// CHECK-LABEL: train.step @bias_of_two_dimensions
// CHECK-NOT: nn.contract_gelu
train.step @bias_of_two_dimensions forward ("x" %x: tensor<4096x64xf32>, "w" %w: tensor<64x1x256xf32>, "b" %b: tensor<1x256xf32>) {
  %p = nn.contract "tc,cde->tde" %x, %w bias %b : tensor<4096x64xf32>, tensor<64x1x256xf32> bias tensor<1x256xf32>
  %y = nn.fused "gelu" %p : tensor<4096x1x256xf32> -> tensor<4096x1x256xf32> {
  ^bb0(%a: tensor<4096x1x256xf32>):
    %half = arith.constant dense<5.000000e-01> : tensor<4096x1x256xf32>
    %cubic = arith.constant dense<4.471500e-02> : tensor<4096x1x256xf32>
    %slope = arith.constant dense<0.797884583> : tensor<4096x1x256xf32>
    %one = arith.constant dense<1.000000e+00> : tensor<4096x1x256xf32>
    %0 = arith.mulf %a, %half : tensor<4096x1x256xf32>
    %1 = arith.mulf %a, %a : tensor<4096x1x256xf32>
    %2 = arith.mulf %1, %a : tensor<4096x1x256xf32>
    %3 = arith.mulf %2, %cubic : tensor<4096x1x256xf32>
    %4 = arith.addf %a, %3 : tensor<4096x1x256xf32>
    %5 = arith.mulf %4, %slope : tensor<4096x1x256xf32>
    %6 = math.tanh %5 : tensor<4096x1x256xf32>
    %7 = arith.addf %6, %one : tensor<4096x1x256xf32>
    %8 = arith.mulf %0, %7 : tensor<4096x1x256xf32>
    nn.yield %8 : tensor<4096x1x256xf32>
  }
  %v = train.read @v : tensor<256x64xf32>
  %o = nn.contract "tde,ek->tdk" %y, %v : tensor<4096x1x256xf32>, tensor<256x64xf32>
  train.output "o", %o : tensor<4096x1x64xf32>
}
