// RUN: gpuopt-opt %s --kernels-pad-rows=device=h200 | FileCheck %s
// RUN: gpuopt-opt %s --kernels-pad-rows=device=h200 --kernels-mark-in-place | FileCheck %s --check-prefix=PLACE
// RUN: gpuopt-opt %s --kernels-pad-rows | FileCheck %s --check-prefix=HOST
// RUN: gpuopt-opt %s --kernels-pad-rows="device=h200 allows-tf32" | FileCheck %s --check-prefix=TF32
// RUN: gpuopt-opt %s --kernels-pad-rows=device=h200 --remarks-filter=rows --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// A processor reads any row at the same rate.
// HOST-NOT: row_pitch

// The logits and their gradient: 1009 halves are no multiple of 16 bytes, and
// 1024 are eight lines of 128 bytes. The body of the kernel knows no memory. The
// gradient lies as the logits do, and so can still be written over them.
// REMARK: rows of 1009 elements of '{{.*}}' begin 1024 apart
// CHECK-LABEL: train.step @head
// CHECK: nn.contract "tk,vk->tv" %{{.*}}, %{{.*}} row_pitch 1024 : tensor<4096x768xf16>, tensor<1009x768xf16>
// CHECK: nn.fused "tanh" %{{.*}} : tensor<4096x1009xf16, {row_pitch = 1024 : i64}> -> tensor<4096x1009xf16, {row_pitch = 1024 : i64}> {
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<4096x1009xf16>):
// CHECK: nn.yield %{{.*}} : tensor<4096x1009xf16>
// CHECK: nn.contract "tv,vk->tk" %{{.*}}, %{{.*}} : tensor<4096x1009xf16, {row_pitch = 1024 : i64}>, tensor<1009x768xf16>
// CHECK: nn.contract "tv,tk->vk" %{{.*}}, %{{.*}} : tensor<4096x1009xf16, {row_pitch = 1024 : i64}>, tensor<4096x768xf16>
// PLACE-LABEL: train.step @head
// PLACE: nn.fused "tanh" %{{.*}} {in_place = array<i64: 0>}
train.step @head forward ("x" %x: tensor<4096x768xf16>, "w" %w: tensor<1009x768xf16>) {
  %logits = nn.contract "tk,vk->tv" %x, %w : tensor<4096x768xf16>, tensor<1009x768xf16>
  %d = nn.fused "tanh" %logits : tensor<4096x1009xf16> -> tensor<4096x1009xf16> {
  ^bb0(%a: tensor<4096x1009xf16>):
    %0 = math.tanh %a : tensor<4096x1009xf16>
    nn.yield %0 : tensor<4096x1009xf16>
  }
  %dx = nn.contract "tv,vk->tk" %d, %w : tensor<4096x1009xf16>, tensor<1009x768xf16>
  %dw = nn.contract "tv,tk->vk" %d, %x : tensor<4096x1009xf16>, tensor<4096x768xf16>
  train.output "dx", %dx : tensor<4096x768xf16>
  train.output "dw", %dw : tensor<1009x768xf16>
}

// Through views that keep rows whole, as chunks and split leading dimensions do,
// the pitch is one of their strides.
// CHECK-LABEL: train.step @views
// CHECK: nn.contract "tk,vk->tv" %{{.*}} row_pitch 1024
// CHECK: nn.reshape %{{.*}} : tensor<4096x1009xf16, {row_pitch = 1024 : i64}> to tensor<4x1024x1009xf16>
// CHECK: nn.fused "tanh" %{{.*}} : tensor<2x1024x1009xf16> -> tensor<2x1024x1009xf16, {row_pitch = 1024 : i64}> {
train.step @views forward ("x" %x: tensor<4096x768xf16>, "w" %w: tensor<1009x768xf16>) {
  %logits = nn.contract "tk,vk->tv" %x, %w : tensor<4096x768xf16>, tensor<1009x768xf16>
  %split = nn.reshape %logits : tensor<4096x1009xf16> to tensor<4x1024x1009xf16>
  %half = nn.slice %split [2, 0, 0] [2, 1024, 1009] [1, 1, 1] : tensor<4x1024x1009xf16>
  %d = nn.fused "tanh" %half : tensor<2x1024x1009xf16> -> tensor<2x1024x1009xf16> {
  ^bb0(%a: tensor<2x1024x1009xf16>):
    %0 = math.tanh %a : tensor<2x1024x1009xf16>
    nn.yield %0 : tensor<2x1024x1009xf16>
  }
  %dx = nn.contract "btv,vk->btk" %d, %w : tensor<2x1024x1009xf16>, tensor<1009x768xf16>
  train.output "dx", %dx : tensor<2x1024x768xf16>
}

// What leaves the step, is merged with the dimension of its rows, or is part of
// a concatenation stays dense; so does what has aligned rows, rows that are too
// short for a pad, or full precision.
// CHECK-LABEL: train.step @dense
// CHECK-NOT: row_pitch
train.step @dense forward ("x" %x: tensor<4096x768xf16>, "w" %w: tensor<1009x768xf16>,
                           "even" %even: tensor<1016x768xf16>, "short" %short: tensor<49x768xf16>,
                           "u" %u: tensor<4096x768xf32>, "v" %v: tensor<1009x768xf32>) {
  %left = nn.contract "tk,vk->tv" %x, %w : tensor<4096x768xf16>, tensor<1009x768xf16>
  train.output "left", %left : tensor<4096x1009xf16>
  %1 = nn.contract "tk,vk->tv" %x, %w : tensor<4096x768xf16>, tensor<1009x768xf16>
  %merged = nn.reshape %1 : tensor<4096x1009xf16> to tensor<4132864xf16>
  %2 = nn.fused "tanh" %merged : tensor<4132864xf16> -> tensor<4132864xf16> {
  ^bb0(%a: tensor<4132864xf16>):
    %0 = math.tanh %a : tensor<4132864xf16>
    nn.yield %0 : tensor<4132864xf16>
  }
  train.output "merged", %2 : tensor<4132864xf16>
  %part = nn.contract "tk,vk->tv" %x, %w : tensor<4096x768xf16>, tensor<1009x768xf16>
  %other = nn.contract "tk,vk->tv" %x, %w : tensor<4096x768xf16>, tensor<1009x768xf16>
  %whole = nn.concat %part, %other dim 1 : tensor<4096x1009xf16>, tensor<4096x1009xf16>
  train.output "whole", %whole : tensor<4096x2018xf16>
  %3 = nn.contract "tk,vk->tv" %x, %even : tensor<4096x768xf16>, tensor<1016x768xf16>
  %4 = nn.contract "tv,vk->tk" %3, %even : tensor<4096x1016xf16>, tensor<1016x768xf16>
  train.output "even", %4 : tensor<4096x768xf16>
  %5 = nn.contract "tk,vk->tv" %x, %short : tensor<4096x768xf16>, tensor<49x768xf16>
  %6 = nn.contract "tv,vk->tk" %5, %short : tensor<4096x49xf16>, tensor<49x768xf16>
  train.output "short", %6 : tensor<4096x768xf16>
  %7 = nn.contract "tk,vk->tv" %u, %v : tensor<4096x768xf32>, tensor<1009x768xf32>
  %8 = nn.contract "tv,vk->tk" %7, %v : tensor<4096x1009xf32>, tensor<1009x768xf32>
  train.output "full", %8 : tensor<4096x768xf32>
}

// Nothing is gained: the other operand has odd rows, too, and cannot have a
// pitch, since it is not made here.
// CHECK-LABEL: train.step @no_gain
// CHECK-NOT: row_pitch
train.step @no_gain forward ("x" %x: tensor<4096x768xf16>, "w" %w: tensor<768x1009xf16>) {
  %logits = nn.contract "tk,kv->tv" %x, %w : tensor<4096x768xf16>, tensor<768x1009xf16>
  %dx = nn.contract "tv,kv->tk" %logits, %w : tensor<4096x1009xf16>, tensor<768x1009xf16>
  train.output "dx", %dx : tensor<4096x768xf16>
}

// The second kernel could be written over the first one's result only while
// both are dense, since the second leaves the step.
// CHECK-LABEL: train.step @place
// CHECK-NOT: row_pitch
// PLACE-LABEL: train.step @place
// PLACE: nn.fused "tanh" %{{.*}} {in_place = array<i64: 0>}
train.step @place forward ("x" %x: tensor<4096x768xf16>, "w" %w: tensor<1009x768xf16>) {
  %logits = nn.contract "tk,vk->tv" %x, %w : tensor<4096x768xf16>, tensor<1009x768xf16>
  %d = nn.fused "tanh" %logits : tensor<4096x1009xf16> -> tensor<4096x1009xf16> {
  ^bb0(%a: tensor<4096x1009xf16>):
    %0 = math.tanh %a : tensor<4096x1009xf16>
    nn.yield %0 : tensor<4096x1009xf16>
  }
  train.output "d", %d : tensor<4096x1009xf16>
}

// A product that adds to another one's result is made in its memory, so both
// would need the same pitch: both stay dense.
// CHECK-LABEL: train.step @sum
// CHECK: nn.contract "tk,vk->tv"
// CHECK-NOT: row_pitch
// CHECK: nn.contract "tk,vk->tv" %{{.*}}, %{{.*}} plus
// CHECK-NOT: row_pitch
train.step @sum forward ("x" %x: tensor<4096x768xf16>, "w" %w: tensor<1009x768xf16>) {
  %one = nn.contract "tk,vk->tv" %x, %w : tensor<4096x768xf16>, tensor<1009x768xf16>
  %two = nn.contract "tk,vk->tv" %x, %w plus %one : tensor<4096x768xf16>, tensor<1009x768xf16>, tensor<4096x1009xf16>
  %dx = nn.contract "tv,vk->tk" %two, %w : tensor<4096x1009xf16>, tensor<1009x768xf16>
  train.output "dx", %dx : tensor<4096x768xf16>
}

// Products of f32 run on tensor cores in TF32 alone. Rows of 100 floats begin at
// multiples of 16 bytes, other than those of 100 halves.
// CHECK-LABEL: train.step @floats
// CHECK-NOT: row_pitch
// TF32-LABEL: train.step @floats
// TF32: nn.contract "tk,vk->tv" %{{.*}}, %{{.*}} row_pitch 1024 : tensor<4096x768xf32>, tensor<1009x768xf32>
// TF32: nn.contract "tv,vk->tk" %{{.*}} : tensor<4096x1009xf32, {row_pitch = 1024 : i64}>, tensor<1009x768xf32>
// TF32: nn.contract "tk,vk->tv" %{{[^ ]*}}, %{{[^ ]*}} : tensor<4096x768xf32>, tensor<100x768xf32>
train.step @floats forward ("x" %x: tensor<4096x768xf32>, "w" %w: tensor<1009x768xf32>, "v" %v: tensor<100x768xf32>) {
  %logits = nn.contract "tk,vk->tv" %x, %w : tensor<4096x768xf32>, tensor<1009x768xf32>
  %dx = nn.contract "tv,vk->tk" %logits, %w : tensor<4096x1009xf32>, tensor<1009x768xf32>
  %y = nn.contract "tk,vk->tv" %x, %v : tensor<4096x768xf32>, tensor<100x768xf32>
  %z = nn.fused "tanh" %y : tensor<4096x100xf32> -> tensor<4096x100xf32> {
  ^bb0(%a: tensor<4096x100xf32>):
    %0 = math.tanh %a : tensor<4096x100xf32>
    nn.yield %0 : tensor<4096x100xf32>
  }
  train.output "dx", %dx : tensor<4096x768xf32>
  train.output "z", %z : tensor<4096x100xf32>
}
