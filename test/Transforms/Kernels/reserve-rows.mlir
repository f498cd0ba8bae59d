// RUN: gpuopt-opt %s --kernels-pad-rows=device=h200 --kernels-mark-in-place --kernels-reserve-rows=device=h200 --split-input-file | FileCheck %s
// RUN: gpuopt-opt %s --kernels-pad-rows=device=h200 --kernels-mark-in-place --kernels-reserve-rows --split-input-file | FileCheck %s --check-prefix=HOST
// RUN: gpuopt-opt %s --kernels-pad-rows=device=h200 --kernels-mark-in-place --kernels-reserve-rows=device=h200 --split-input-file \
// RUN:     --remarks-filter=rows --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// A processor takes any extent at the same rate.
// HOST-NOT: spare_rows
// HOST-NOT: zeros

// The head of a language model. Its copy has 15 spare rows of zeros, since rows
// of 1009 logits begin 1024 apart: so the pads of logits become zeros, their
// gradient, which is written over them, keeps these, and the sum over words goes
// on through both. The gradient of the weight, a sum over two chunks, has room for
// 15 rows that nobody reads. The parameter stays as it is.
// REMARK-DAG: 'head.half' has 15 spare rows of zeros, which save 4 calls for odd ends
// REMARK-DAG: has 15 spare rows, which save 2 calls for odd ends
// CHECK: train.variable @head parameter : tensor<1009x768xf32>
// CHECK: train.variable @head.half half_copy : tensor<1009x768xf16, {spare_rows = 15 : i64, zeros}>
// CHECK-LABEL: train.step @micro_step
// CHECK: train.read @head.half : tensor<1009x768xf16, {spare_rows = 15 : i64, zeros}>
// CHECK: nn.contract "tk,vk->tv" %{{.*}}, %{{.*}} row_pitch 1024 : tensor<4096x768xf16>, tensor<1009x768xf16, {spare_rows = 15 : i64, zeros}>
// CHECK: nn.fused "tanh" %{{.*}} {in_place = array<i64: 0>} : tensor<4096x1009xf16, {row_pitch = 1024 : i64, zeros}> -> tensor<4096x1009xf16, {row_pitch = 1024 : i64, zeros}> {
// CHECK: nn.contract "tv,vk->tk" %{{.*}} : tensor<4096x1009xf16, {row_pitch = 1024 : i64, zeros}>, tensor<1009x768xf16, {spare_rows = 15 : i64, zeros}>
// CHECK: %[[ONE:.*]] = nn.contract "tv,tk->vk" %{{.*}}, %{{.*}} spare_rows 15 : tensor<4096x1009xf16, {row_pitch = 1024 : i64, zeros}>, tensor<4096x768xf16>
// CHECK: %[[TWO:.*]] = nn.contract "tv,tk->vk" %{{.*}}, %{{.*}} plus %[[ONE]] spare_rows 15 : {{.*}}, tensor<1009x768xf16, {spare_rows = 15 : i64}>
// The head is the table of an embedding as well, whose gradient is added to it.
// CHECK: %[[ALL:.*]] = nn.scatter_add %{{.*}}, %{{.*}} rows 1009 plus %[[TWO]] : tensor<4096x768xf16>, tensor<4096xi64>, tensor<1009x768xf16, {spare_rows = 15 : i64}>
// CHECK: train.update "sgd" @head, %[[ALL]] copy @head.half : tensor<1009x768xf16, {spare_rows = 15 : i64}>
train.variable @head parameter : tensor<1009x768xf32>
train.variable @head.half half_copy : tensor<1009x768xf16> {of = @head}
train.step @micro_step micro ("x" %x: tensor<4096x768xf16>, "y" %y: tensor<4096x768xf16>, "i" %i: tensor<4096xi64>) {
  %w = train.read @head.half : tensor<1009x768xf16>
  %logits = nn.contract "tk,vk->tv" %x, %w : tensor<4096x768xf16>, tensor<1009x768xf16>
  %d = nn.fused "tanh" %logits : tensor<4096x1009xf16> -> tensor<4096x1009xf16> {
  ^bb0(%a: tensor<4096x1009xf16>):
    %0 = math.tanh %a : tensor<4096x1009xf16>
    nn.yield %0 : tensor<4096x1009xf16>
  }
  %dx = nn.contract "tv,vk->tk" %d, %w : tensor<4096x1009xf16>, tensor<1009x768xf16>
  train.output "dx", %dx : tensor<4096x768xf16>
  %one = nn.contract "tv,tk->vk" %d, %x : tensor<4096x1009xf16>, tensor<4096x768xf16>
  %logits2 = nn.contract "tk,vk->tv" %y, %w : tensor<4096x768xf16>, tensor<1009x768xf16>
  %d2 = nn.fused "tanh" %logits2 : tensor<4096x1009xf16> -> tensor<4096x1009xf16> {
  ^bb0(%a: tensor<4096x1009xf16>):
    %0 = math.tanh %a : tensor<4096x1009xf16>
    nn.yield %0 : tensor<4096x1009xf16>
  }
  %dy = nn.contract "tv,vk->tk" %d2, %w : tensor<4096x1009xf16>, tensor<1009x768xf16>
  train.output "dy", %dy : tensor<4096x768xf16>
  %two = nn.contract "tv,tk->vk" %d2, %y plus %one : tensor<4096x1009xf16>, tensor<4096x768xf16>, tensor<1009x768xf16>
  %all = nn.scatter_add %y, %i rows 1009 plus %two : tensor<4096x768xf16>, tensor<4096xi64>, tensor<1009x768xf16>
  train.update "sgd" @head, %all copy @head.half : tensor<1009x768xf16>
}

// -----

// The logits are read again, so their gradient has memory of its own, whose pads
// hold anything: the sum over words ends with the last one. The product that makes
// the logits needs no zeros, only rows that it can read. What leaves the step has
// no spare rows.
// REMARK: 'head.half' has 15 spare rows of zeros, which save a call for an odd end
// REMARK-NOT: spare rows,
// CHECK: train.variable @head.half half_copy : tensor<1009x768xf16, {spare_rows = 15 : i64, zeros}>
// CHECK-LABEL: train.step @read_again
// CHECK: nn.fused "tanh" %{{.*}} : tensor<4096x1009xf16, {row_pitch = 1024 : i64, zeros}> -> tensor<4096x1009xf16, {row_pitch = 1024 : i64}> {
// CHECK: nn.contract "tv,vk->tk" %{{.*}} : tensor<4096x1009xf16, {row_pitch = 1024 : i64}>, tensor<1009x768xf16, {spare_rows = 15 : i64, zeros}>
// CHECK: nn.contract "tv,tk->vk" %{{.*}}, %{{.*}} : tensor<4096x1009xf16, {row_pitch = 1024 : i64}>, tensor<4096x768xf16>
train.variable @head parameter : tensor<1009x768xf32>
train.variable @head.half half_copy : tensor<1009x768xf16> {of = @head}
train.step @read_again forward ("x" %x: tensor<4096x768xf16>) {
  %w = train.read @head.half : tensor<1009x768xf16>
  %logits = nn.contract "tk,vk->tv" %x, %w : tensor<4096x768xf16>, tensor<1009x768xf16>
  %d = nn.fused "tanh" %logits : tensor<4096x1009xf16> -> tensor<4096x1009xf16> {
  ^bb0(%a: tensor<4096x1009xf16>):
    %0 = math.tanh %a : tensor<4096x1009xf16>
    nn.yield %0 : tensor<4096x1009xf16>
  }
  %sum = nn.fused "sum" %logits : tensor<4096x1009xf16> -> tensor<4096x1xf16> {
  ^bb0(%a: tensor<4096x1009xf16>):
    %0 = nn.reduce sum %a [1] : tensor<4096x1009xf16>
    nn.yield %0 : tensor<4096x1xf16>
  }
  train.output "sum", %sum : tensor<4096x1xf16>
  %dx = nn.contract "tv,vk->tk" %d, %w : tensor<4096x1009xf16>, tensor<1009x768xf16>
  %dw = nn.contract "tv,tk->vk" %d, %x : tensor<4096x1009xf16>, tensor<4096x768xf16>
  train.output "dx", %dx : tensor<4096x768xf16>
  train.output "dw", %dw : tensor<1009x768xf16>
}

// -----

// Nothing is saved: logits that leave the step have no pads to go on through.
// CHECK-LABEL: train.variable @head parameter
// CHECK-NOT: spare_rows
// REMARK-NOT: spare rows
train.variable @head parameter : tensor<1009x768xf32>
train.variable @head.half half_copy : tensor<1009x768xf16> {of = @head}
train.step @output forward ("x" %x: tensor<4096x768xf16>) {
  %w = train.read @head.half : tensor<1009x768xf16>
  %logits = nn.contract "tk,vk->tv" %x, %w : tensor<4096x768xf16>, tensor<1009x768xf16>
  train.output "y", %logits : tensor<4096x1009xf16>
}

// -----

// Something else than kernels and products reads the copy.
// CHECK-LABEL: train.variable @head parameter
// CHECK-NOT: spare_rows
train.variable @head parameter : tensor<1009x768xf32>
train.variable @head.half half_copy : tensor<1009x768xf16> {of = @head}
train.step @other forward ("x" %x: tensor<4096x768xf16>) {
  %w = train.read @head.half : tensor<1009x768xf16>
  %logits = nn.contract "tk,vk->tv" %x, %w : tensor<4096x768xf16>, tensor<1009x768xf16>
  %d = nn.fused "tanh" %logits : tensor<4096x1009xf16> -> tensor<4096x1009xf16> {
  ^bb0(%a: tensor<4096x1009xf16>):
    %0 = math.tanh %a : tensor<4096x1009xf16>
    nn.yield %0 : tensor<4096x1009xf16>
  }
  %dx = nn.contract "tv,vk->tk" %d, %w : tensor<4096x1009xf16>, tensor<1009x768xf16>
  train.output "dx", %dx : tensor<4096x768xf16>
  train.output "w", %w : tensor<1009x768xf16>
}
