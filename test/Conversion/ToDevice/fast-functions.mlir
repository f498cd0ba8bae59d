// RUN: gpuopt-opt %s -kernels-form-clusters -kernels-mark-fast-math -train-plan-memory -convert-to-device=device=h200 | FileCheck %s
// RUN: gpuopt-opt %s -kernels-form-clusters -kernels-mark-fast-math -train-plan-memory -convert-to-device=device=h200 \
// RUN:   | gpuopt-translate --device-to-cxx | FileCheck %s --check-prefix=CXX

// Numbers of half precision have fast exponentials, in the walk that sums them
// and in the one that writes the gradient. That of f32 below has not. The label
// is looked for once for each vector.
// CHECK-LABEL: device.kernel @{{.*}} blocks 9 threads 512
// CHECK: math.exp %{{.*}} fastmath<afn> : f32
// CHECK-LABEL: device.kernel @{{.*}} blocks 10 threads 512
// CHECK-NOT: fastmath<afn>
// CHECK-LABEL: device.step
// CXX: ExpSum<f16> exponentials;
// CXX: minus_at(fast_exp(logits_i_2[k] - added), i, labels_b, 1.0f)
// CXX: minus_at(fast_exp(load({{.*}}, left) - added), i, labels_b, 1.0f)
// CXX: ExpSum<float> exponentials;
// CXX: minus_at(exp(
train.step @gradient forward ("logits" %x: tensor<9x9001xf16>, "wide" %y: tensor<10x9001xf32>, "labels" %labels: tensor<9x1xi64>, "others" %others: tensor<10x1xi64>) {
  %w = arith.extf %x : tensor<9x9001xf16> to tensor<9x9001xf32>
  %m = nn.reduce max %w [1] : tensor<9x9001xf32>
  %mb = nn.broadcast %m : tensor<9x1xf32> to tensor<9x9001xf32>
  %d = arith.subf %w, %mb : tensor<9x9001xf32>
  %e = math.exp %d : tensor<9x9001xf32>
  %t = nn.reduce sum %e [1] : tensor<9x9001xf32>
  %log = math.log %t : tensor<9x1xf32>
  %added = arith.addf %m, %log : tensor<9x1xf32>
  %ab = nn.broadcast %added : tensor<9x1xf32> to tensor<9x9001xf32>
  %d2 = arith.subf %w, %ab : tensor<9x9001xf32>
  %p = math.exp %d2 : tensor<9x9001xf32>
  %i = nn.iota dim 1 : tensor<9x9001xi64>
  %lb = nn.broadcast %labels : tensor<9x1xi64> to tensor<9x9001xi64>
  %is = arith.cmpi eq, %i, %lb : tensor<9x9001xi64>
  %one = arith.uitofp %is : tensor<9x9001xi1> to tensor<9x9001xf32>
  %g = arith.subf %p, %one : tensor<9x9001xf32>
  train.output "gradient", %g : tensor<9x9001xf32>
  %m1 = nn.reduce max %y [1] : tensor<10x9001xf32>
  %mb1 = nn.broadcast %m1 : tensor<10x1xf32> to tensor<10x9001xf32>
  %d1 = arith.subf %y, %mb1 : tensor<10x9001xf32>
  %e1 = math.exp %d1 : tensor<10x9001xf32>
  %t1 = nn.reduce sum %e1 [1] : tensor<10x9001xf32>
  %log1 = math.log %t1 : tensor<10x1xf32>
  %added1 = arith.addf %m1, %log1 : tensor<10x1xf32>
  %ab1 = nn.broadcast %added1 : tensor<10x1xf32> to tensor<10x9001xf32>
  %d3 = arith.subf %y, %ab1 : tensor<10x9001xf32>
  %p1 = math.exp %d3 : tensor<10x9001xf32>
  %i1 = nn.iota dim 1 : tensor<10x9001xi64>
  %lb1 = nn.broadcast %others : tensor<10x1xi64> to tensor<10x9001xi64>
  %is1 = arith.cmpi eq, %i1, %lb1 : tensor<10x9001xi64>
  %one1 = arith.uitofp %is1 : tensor<10x9001xi1> to tensor<10x9001xf32>
  %g1 = arith.subf %p1, %one1 : tensor<10x9001xf32>
  train.output "others", %g1 : tensor<10x9001xf32>
}

// A tanh of what depends on a number of half precision is fast where 1 + t and 1 - t t are all that is made of it: of a
// GELU and of its derivative. It is not if t itself is asked for, or in f32.
// CXX-LABEL: void fused_gelu(
// CXX: fast_tanh(
// CXX-LABEL: void fused_derivative(
// CXX: = fast_tanh(
// CXX-LABEL: void fused_bare(
// CXX: = tanh(
// CXX-LABEL: void fused_wide(
// CXX: = tanh(
train.step @tanh evaluate ("x" %x: tensor<64x512xf16>, "bias" %bias: tensor<512xf32>, "z" %z: tensor<64x512xf32>) {
  %0 = nn.fused "gelu" %x, %bias : tensor<64x512xf16>, tensor<512xf32> -> tensor<64x512xf16> {
  ^bb0(%a: tensor<64x512xf16>, %c: tensor<512xf32>):
    %one = arith.constant dense<1.0> : tensor<64x512xf32>
    %w = arith.extf %a : tensor<64x512xf16> to tensor<64x512xf32>
    %cb = nn.broadcast %c : tensor<512xf32> to tensor<64x512xf32>
    %b = arith.addf %w, %cb : tensor<64x512xf32>
    %t = math.tanh %b : tensor<64x512xf32>
    %1 = arith.addf %t, %one : tensor<64x512xf32>
    %g = arith.mulf %1, %b : tensor<64x512xf32>
    %n = arith.truncf %g : tensor<64x512xf32> to tensor<64x512xf16>
    nn.yield %n : tensor<64x512xf16>
  }
  %2 = nn.fused "derivative" %x : tensor<64x512xf16> -> tensor<64x512xf32> {
  ^bb0(%a: tensor<64x512xf16>):
    %one = arith.constant dense<1.0> : tensor<64x512xf32>
    %w = arith.extf %a : tensor<64x512xf16> to tensor<64x512xf32>
    %t = math.tanh %w : tensor<64x512xf32>
    %1 = arith.addf %one, %t : tensor<64x512xf32>
    %s = arith.mulf %t, %t : tensor<64x512xf32>
    %d = arith.subf %one, %s : tensor<64x512xf32>
    %g = arith.mulf %1, %d : tensor<64x512xf32>
    nn.yield %g : tensor<64x512xf32>
  }
  %3 = nn.fused "bare" %x : tensor<64x512xf16> -> tensor<64x512xf32> {
  ^bb0(%a: tensor<64x512xf16>):
    %one = arith.constant dense<1.0> : tensor<64x512xf32>
    %w = arith.extf %a : tensor<64x512xf16> to tensor<64x512xf32>
    %t = math.tanh %w : tensor<64x512xf32>
    %s = arith.mulf %t, %t : tensor<64x512xf32>
    %d = arith.subf %one, %s : tensor<64x512xf32>
    %g = arith.mulf %t, %d : tensor<64x512xf32>
    nn.yield %g : tensor<64x512xf32>
  }
  %4 = nn.fused "wide" %z : tensor<64x512xf32> -> tensor<64x512xf32> {
  ^bb0(%a: tensor<64x512xf32>):
    %one = arith.constant dense<1.0> : tensor<64x512xf32>
    %t = math.tanh %a : tensor<64x512xf32>
    %1 = arith.addf %t, %one : tensor<64x512xf32>
    %s = arith.mulf %t, %t : tensor<64x512xf32>
    %d = arith.subf %one, %s : tensor<64x512xf32>
    %g = arith.mulf %1, %d : tensor<64x512xf32>
    nn.yield %g : tensor<64x512xf32>
  }
  train.output "a", %0 : tensor<64x512xf16>
  train.output "b", %2 : tensor<64x512xf32>
  train.output "c", %3 : tensor<64x512xf32>
  train.output "d", %4 : tensor<64x512xf32>
}
