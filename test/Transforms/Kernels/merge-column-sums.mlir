// RUN: gpuopt-opt %s --kernels-merge-column-sums=device=h200 --kernels-mark-in-place | FileCheck %s
// RUN: gpuopt-opt %s --kernels-merge-column-sums=device=h200 --remarks-filter=sums --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: gpuopt-opt %s --kernels-merge-column-sums=device=host > %t.host
// RUN: gpuopt-opt %s | diff - %t.host

// A core of a processor would have to keep whole rows of sums: there, nothing
// changes.

// As in the backward of a layer norm: the sums of columns read what the kernel
// of the rows reads, in two stages, or what it writes, in one. They are made in
// 256 parts, for 2 blocks on each of 132 multiprocessors, and one kernel adds up
// the parts. What both kernels compute is computed once. The sums are added to
// before the result is written over an operand that they read.
// REMARK: adds up the columns of 'scale' in 256 parts
// REMARK: adds up the columns of 'd bias' in 256 parts
// CHECK-LABEL: train.step @norm
// CHECK: %[[DY:.*]] = nn.contract
// CHECK: %[[ROW:.*]]:4 = nn.fused "mul_sum_sub" %[[DY]], %{{.*}} {in_place = array<i64: 0, -1, -1, -1>, nn.origins = #nn.origins<"dx", "scale", "shift", "d bias">}
// CHECK-SAME: -> tensor<4x4096x64xf32>, tensor<256x1x64xf32>, tensor<256x1x64xf32>, tensor<256x1x64xf32> {
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<4x4096x64xf32>, %[[B:.*]]: tensor<4x4096x64xf32>):
// CHECK-NEXT: %[[PRODUCT:.*]] = arith.mulf %[[A]], %[[B]]
// CHECK-NEXT: nn.reduce sum %[[PRODUCT]] [2]
// CHECK-NEXT: nn.broadcast
// CHECK-NEXT: %[[DX:.*]] = arith.subf
// CHECK-DAG: nn.partial_sum %[[PRODUCT]] parts 256
// CHECK-DAG: nn.partial_sum %[[A]] parts 256
// CHECK-DAG: nn.partial_sum %[[DX]] parts 256
// CHECK: nn.yield %[[DX]],
// CHECK: %[[SUMS:.*]]:3 = nn.fused "sum" %[[ROW]]#1, %[[ROW]]#2, %[[ROW]]#3 {nn.origins = #nn.origins<"d scale", "d shift", "d bias">}
// CHECK-SAME: -> tensor<1x1x64xf32>, tensor<1x1x64xf32>, tensor<1x1x64xf32> {
// CHECK-COUNT-3: nn.reduce sum %{{.*}} [0] : tensor<256x1x64xf32>
// CHECK-NOT: nn.fused
// CHECK: train.output "dx", %[[ROW]]#0
// CHECK: train.output "scale", %[[SUMS]]#0
// CHECK: train.output "shift", %[[SUMS]]#1
// CHECK: train.output "bias", %[[SUMS]]#2
train.step @norm forward ("g" %g: tensor<4x4096x32xf32>, "w" %w: tensor<32x64xf32>, "x" %x: tensor<4x4096x64xf32>) {
  %dy = nn.contract "btc,cd->btd" %g, %w : tensor<4x4096x32xf32>, tensor<32x64xf32>
  %parts:2 = nn.fused "mul_sum" %dy, %x {nn.origins = #nn.origins<"scale", "shift">} : tensor<4x4096x64xf32>, tensor<4x4096x64xf32> -> tensor<4x1x64xf32>, tensor<4x1x64xf32> {
  ^bb0(%a: tensor<4x4096x64xf32>, %b: tensor<4x4096x64xf32>):
    %0 = arith.mulf %a, %b : tensor<4x4096x64xf32>
    %1 = nn.reduce sum %0 [1] : tensor<4x4096x64xf32>
    %2 = nn.reduce sum %a [1] : tensor<4x4096x64xf32>
    nn.yield %1, %2 : tensor<4x1x64xf32>, tensor<4x1x64xf32>
  }
  %scale = nn.fused "sum" %parts#0 {nn.origins = #nn.origins<"d scale">} : tensor<4x1x64xf32> -> tensor<1x1x64xf32> {
  ^bb0(%a: tensor<4x1x64xf32>):
    %0 = nn.reduce sum %a [0] : tensor<4x1x64xf32>
    nn.yield %0 : tensor<1x1x64xf32>
  }
  %dx = nn.fused "mul_sum_sub" %dy, %x {nn.origins = #nn.origins<"dx">} : tensor<4x4096x64xf32>, tensor<4x4096x64xf32> -> tensor<4x4096x64xf32> {
  ^bb0(%a: tensor<4x4096x64xf32>, %b: tensor<4x4096x64xf32>):
    %0 = arith.mulf %a, %b : tensor<4x4096x64xf32>
    %1 = nn.reduce sum %0 [2] : tensor<4x4096x64xf32>
    %2 = nn.broadcast %1 : tensor<4x4096x1xf32> to tensor<4x4096x64xf32>
    %3 = arith.subf %a, %2 : tensor<4x4096x64xf32>
    nn.yield %3 : tensor<4x4096x64xf32>
  }
  %shift = nn.fused "sum" %parts#1 {nn.origins = #nn.origins<"d shift">} : tensor<4x1x64xf32> -> tensor<1x1x64xf32> {
  ^bb0(%a: tensor<4x1x64xf32>):
    %0 = nn.reduce sum %a [0] : tensor<4x1x64xf32>
    nn.yield %0 : tensor<1x1x64xf32>
  }
  %bias = nn.fused "sum" %dx {nn.origins = #nn.origins<"d bias">} : tensor<4x4096x64xf32> -> tensor<1x1x64xf32> {
  ^bb0(%a: tensor<4x4096x64xf32>):
    %0 = nn.reduce sum %a [0, 1] : tensor<4x4096x64xf32>
    nn.yield %0 : tensor<1x1x64xf32>
  }
  train.output "dx", %dx : tensor<4x4096x64xf32>
  train.output "scale", %scale : tensor<1x1x64xf32>
  train.output "shift", %shift : tensor<1x1x64xf32>
  train.output "bias", %bias : tensor<1x1x64xf32>
}

// Sums of a tensor that the kernel of the rows does not read are no cheaper
// there.
// CHECK-LABEL: train.step @other_tensor
// CHECK-NOT: nn.partial_sum
train.step @other_tensor forward ("a" %a0: tensor<16384x64xf32>, "b" %b0: tensor<16384x64xf32>) {
  %rows = nn.fused "sum" %a0 : tensor<16384x64xf32> -> tensor<16384x1xf32> {
  ^bb0(%a: tensor<16384x64xf32>):
    %0 = nn.reduce sum %a [1] : tensor<16384x64xf32>
    nn.yield %0 : tensor<16384x1xf32>
  }
  %columns = nn.fused "mul_sum" %a0, %b0 : tensor<16384x64xf32>, tensor<16384x64xf32> -> tensor<1x64xf32> {
  ^bb0(%a: tensor<16384x64xf32>, %b: tensor<16384x64xf32>):
    %0 = arith.mulf %a, %b : tensor<16384x64xf32>
    %1 = nn.reduce sum %0 [0] : tensor<16384x64xf32>
    nn.yield %1 : tensor<1x64xf32>
  }
  train.output "rows", %rows : tensor<16384x1xf32>
  train.output "columns", %columns : tensor<1x64xf32>
}

// A partial sum that is read by more than what finishes it has to exist.
// CHECK-LABEL: train.step @parts_are_read
// CHECK-NOT: nn.partial_sum
train.step @parts_are_read forward ("a" %a0: tensor<4x4096x64xf32>) {
  %rows = nn.fused "sum" %a0 : tensor<4x4096x64xf32> -> tensor<4x4096x1xf32> {
  ^bb0(%a: tensor<4x4096x64xf32>):
    %0 = nn.reduce sum %a [2] : tensor<4x4096x64xf32>
    nn.yield %0 : tensor<4x4096x1xf32>
  }
  %parts = nn.fused "sum" %a0 : tensor<4x4096x64xf32> -> tensor<4x1x64xf32> {
  ^bb0(%a: tensor<4x4096x64xf32>):
    %0 = nn.reduce sum %a [1] : tensor<4x4096x64xf32>
    nn.yield %0 : tensor<4x1x64xf32>
  }
  %columns = nn.fused "sum" %parts : tensor<4x1x64xf32> -> tensor<1x1x64xf32> {
  ^bb0(%a: tensor<4x1x64xf32>):
    %0 = nn.reduce sum %a [0] : tensor<4x1x64xf32>
    nn.yield %0 : tensor<1x1x64xf32>
  }
  train.output "rows", %rows : tensor<4x4096x1xf32>
  train.output "parts", %parts : tensor<4x1x64xf32>
  train.output "columns", %columns : tensor<1x1x64xf32>
}

// The kernel of the rows needs the sum, so it cannot make it.
// CHECK-LABEL: train.step @sum_is_needed
// CHECK-NOT: nn.partial_sum
train.step @sum_is_needed forward ("a" %a0: tensor<16384x64xf32>) {
  %columns = nn.fused "sum" %a0 : tensor<16384x64xf32> -> tensor<1x64xf32> {
  ^bb0(%a: tensor<16384x64xf32>):
    %0 = nn.reduce sum %a [0] : tensor<16384x64xf32>
    nn.yield %0 : tensor<1x64xf32>
  }
  %rows = nn.fused "sub_sum" %a0, %columns : tensor<16384x64xf32>, tensor<1x64xf32> -> tensor<16384x1xf32> {
  ^bb0(%a: tensor<16384x64xf32>, %b: tensor<1x64xf32>):
    %0 = nn.broadcast %b : tensor<1x64xf32> to tensor<16384x64xf32>
    %1 = arith.subf %a, %0 : tensor<16384x64xf32>
    %2 = nn.reduce sum %1 [1] : tensor<16384x64xf32>
    nn.yield %2 : tensor<16384x1xf32>
  }
  train.output "rows", %rows : tensor<16384x1xf32>
}

// 4096 rows would be 31 for each multiprocessor; of 2048 elements a warp would
// have 64 in the registers of each of its threads.
// CHECK-LABEL: train.step @few_or_long_rows
// CHECK-NOT: nn.partial_sum
train.step @few_or_long_rows forward ("a" %a0: tensor<4096x64xf32>, "b" %b0: tensor<16384x2048xf32>) {
  %few = nn.fused "sum" %a0 : tensor<4096x64xf32> -> tensor<4096x1xf32> {
  ^bb0(%a: tensor<4096x64xf32>):
    %0 = nn.reduce sum %a [1] : tensor<4096x64xf32>
    nn.yield %0 : tensor<4096x1xf32>
  }
  %columns = nn.fused "sum" %a0 : tensor<4096x64xf32> -> tensor<1x64xf32> {
  ^bb0(%a: tensor<4096x64xf32>):
    %0 = nn.reduce sum %a [0] : tensor<4096x64xf32>
    nn.yield %0 : tensor<1x64xf32>
  }
  %long = nn.fused "sum" %b0 : tensor<16384x2048xf32> -> tensor<16384x1xf32> {
  ^bb0(%a: tensor<16384x2048xf32>):
    %0 = nn.reduce sum %a [1] : tensor<16384x2048xf32>
    nn.yield %0 : tensor<16384x1xf32>
  }
  %wide = nn.fused "sum" %b0 : tensor<16384x2048xf32> -> tensor<1x2048xf32> {
  ^bb0(%a: tensor<16384x2048xf32>):
    %0 = nn.reduce sum %a [0] : tensor<16384x2048xf32>
    nn.yield %0 : tensor<1x2048xf32>
  }
  train.output "few", %few : tensor<4096x1xf32>
  train.output "columns", %columns : tensor<1x64xf32>
  train.output "long", %long : tensor<16384x1xf32>
  train.output "wide", %wide : tensor<1x2048xf32>
}

// A thread has 32 columns of a row, and as many registers for each of its sums:
// the first ones fit.
// REMARK: adds up the columns of 'a' in 256 parts
// REMARK: the sums of 'f' stay apart: a thread would need {{2[3-5][0-9]}} registers
// CHECK-LABEL: train.step @many_sums
// CHECK: nn.partial_sum
// CHECK: nn.fused "sum" %{{.*}} {nn.origins = #nn.origins<"f">}
train.step @many_sums forward ("x" %x: tensor<16384x1024xf32>) {
  %rows = nn.fused "sum_sub" %x : tensor<16384x1024xf32> -> tensor<16384x1024xf32> {
  ^bb0(%a: tensor<16384x1024xf32>):
    %0 = nn.reduce sum %a [1] : tensor<16384x1024xf32>
    %1 = nn.broadcast %0 : tensor<16384x1xf32> to tensor<16384x1024xf32>
    %2 = arith.subf %a, %1 : tensor<16384x1024xf32>
    nn.yield %2 : tensor<16384x1024xf32>
  }
  %a = nn.fused "sum" %x {nn.origins = #nn.origins<"a">} : tensor<16384x1024xf32> -> tensor<1x1024xf32> {
  ^bb0(%v: tensor<16384x1024xf32>):
    %0 = math.absf %v : tensor<16384x1024xf32>
    %1 = nn.reduce sum %0 [0] : tensor<16384x1024xf32>
    nn.yield %1 : tensor<1x1024xf32>
  }
  %b = nn.fused "sum" %x {nn.origins = #nn.origins<"b">} : tensor<16384x1024xf32> -> tensor<1x1024xf32> {
  ^bb0(%v: tensor<16384x1024xf32>):
    %0 = math.tanh %v : tensor<16384x1024xf32>
    %1 = nn.reduce sum %0 [0] : tensor<16384x1024xf32>
    nn.yield %1 : tensor<1x1024xf32>
  }
  %c = nn.fused "sum" %x {nn.origins = #nn.origins<"c">} : tensor<16384x1024xf32> -> tensor<1x1024xf32> {
  ^bb0(%v: tensor<16384x1024xf32>):
    %0 = arith.addf %v, %v : tensor<16384x1024xf32>
    %1 = nn.reduce sum %0 [0] : tensor<16384x1024xf32>
    nn.yield %1 : tensor<1x1024xf32>
  }
  %d = nn.fused "sum" %x {nn.origins = #nn.origins<"d">} : tensor<16384x1024xf32> -> tensor<1x1024xf32> {
  ^bb0(%v: tensor<16384x1024xf32>):
    %0 = math.exp %v : tensor<16384x1024xf32>
    %1 = nn.reduce sum %0 [0] : tensor<16384x1024xf32>
    nn.yield %1 : tensor<1x1024xf32>
  }
  %e = nn.fused "sum" %x {nn.origins = #nn.origins<"e">} : tensor<16384x1024xf32> -> tensor<1x1024xf32> {
  ^bb0(%v: tensor<16384x1024xf32>):
    %0 = arith.mulf %v, %v : tensor<16384x1024xf32>
    %1 = nn.reduce sum %0 [0] : tensor<16384x1024xf32>
    nn.yield %1 : tensor<1x1024xf32>
  }
  %f = nn.fused "sum" %x {nn.origins = #nn.origins<"f">} : tensor<16384x1024xf32> -> tensor<1x1024xf32> {
  ^bb0(%v: tensor<16384x1024xf32>):
    %0 = math.cos %v : tensor<16384x1024xf32>
    %1 = nn.reduce sum %0 [0] : tensor<16384x1024xf32>
    nn.yield %1 : tensor<1x1024xf32>
  }
  train.output "rows", %rows : tensor<16384x1024xf32>
  train.output "a", %a : tensor<1x1024xf32>
  train.output "b", %b : tensor<1x1024xf32>
  train.output "c", %c : tensor<1x1024xf32>
  train.output "d", %d : tensor<1x1024xf32>
  train.output "e", %e : tensor<1x1024xf32>
  train.output "f", %f : tensor<1x1024xf32>
}

// A kernel that reduces nothing adds up what it writes, and still writes it over
// its operand. The first stage of the sums has the shape that it had.
// REMARK: adds up the columns of 'slope'"
// CHECK-LABEL: train.step @elements
// CHECK: %[[DY:.*]] = nn.contract
// CHECK: %[[BOTH:.*]]:2 = nn.fused "mul_sum" %[[DY]], %{{.*}} {in_place = array<i64: 0, -1>, nn.origins = #nn.origins<"dx", "slope">}
// CHECK-SAME: -> tensor<256x64x64xf32>, tensor<256x1x64xf32> {
// CHECK: %[[PRODUCT:.*]] = arith.mulf
// CHECK: %[[SUM:.*]] = nn.reduce sum %[[PRODUCT]] [1]
// CHECK: nn.yield %[[PRODUCT]], %[[SUM]]
// CHECK: nn.fused "sum" %[[BOTH]]#1
train.step @elements forward ("g" %g: tensor<256x64x32xf32>, "w" %w: tensor<32x64xf32>, "x" %x: tensor<256x64x64xf32>) {
  %dy = nn.contract "btc,cd->btd" %g, %w : tensor<256x64x32xf32>, tensor<32x64xf32>
  %dx = nn.fused "mul" %dy, %x {nn.origins = #nn.origins<"dx">} : tensor<256x64x64xf32>, tensor<256x64x64xf32> -> tensor<256x64x64xf32> {
  ^bb0(%a: tensor<256x64x64xf32>, %b: tensor<256x64x64xf32>):
    %0 = arith.mulf %a, %b : tensor<256x64x64xf32>
    nn.yield %0 : tensor<256x64x64xf32>
  }
  %parts = nn.fused "sum" %dx {nn.origins = #nn.origins<"slope">} : tensor<256x64x64xf32> -> tensor<256x1x64xf32> {
  ^bb0(%a: tensor<256x64x64xf32>):
    %0 = nn.reduce sum %a [1] : tensor<256x64x64xf32>
    nn.yield %0 : tensor<256x1x64xf32>
  }
  %slope = nn.fused "sum" %parts : tensor<256x1x64xf32> -> tensor<1x1x64xf32> {
  ^bb0(%a: tensor<256x1x64xf32>):
    %0 = nn.reduce sum %a [0] : tensor<256x1x64xf32>
    nn.yield %0 : tensor<1x1x64xf32>
  }
  train.output "dx", %dx : tensor<256x64x64xf32>
  train.output "slope", %slope : tensor<1x1x64xf32>
}

// With four parts of the rows, few threads would work on the elements.
// REMARK: the sums of 'few' stay apart: together they take {{.*}} us, and apart
// CHECK-LABEL: train.step @few_parts
// CHECK: nn.fused "mul" %{{.*}} -> tensor<4x4096x64xf32> {
train.step @few_parts forward ("g" %g: tensor<4x4096x32xf32>, "w" %w: tensor<32x64xf32>, "x" %x: tensor<4x4096x64xf32>) {
  %dy = nn.contract "btc,cd->btd" %g, %w : tensor<4x4096x32xf32>, tensor<32x64xf32>
  %dx = nn.fused "mul" %dy, %x {nn.origins = #nn.origins<"dx">} : tensor<4x4096x64xf32>, tensor<4x4096x64xf32> -> tensor<4x4096x64xf32> {
  ^bb0(%a: tensor<4x4096x64xf32>, %b: tensor<4x4096x64xf32>):
    %0 = arith.mulf %a, %b : tensor<4x4096x64xf32>
    nn.yield %0 : tensor<4x4096x64xf32>
  }
  %parts = nn.fused "sum" %dx {nn.origins = #nn.origins<"few">} : tensor<4x4096x64xf32> -> tensor<4x1x64xf32> {
  ^bb0(%a: tensor<4x4096x64xf32>):
    %0 = nn.reduce sum %a [1] : tensor<4x4096x64xf32>
    nn.yield %0 : tensor<4x1x64xf32>
  }
  %slope = nn.fused "sum" %parts : tensor<4x1x64xf32> -> tensor<1x1x64xf32> {
  ^bb0(%a: tensor<4x1x64xf32>):
    %0 = nn.reduce sum %a [0] : tensor<4x1x64xf32>
    nn.yield %0 : tensor<1x1x64xf32>
  }
  train.output "dx", %dx : tensor<4x4096x64xf32>
  train.output "slope", %slope : tensor<1x1x64xf32>
}

// The sum of squares reads the mean of each column. The mean would be finished
// only behind the kernel of the rows, so that kernel takes no sum that reads it.
// CHECK-LABEL: train.step @mean_and_squares
// CHECK: nn.partial_sum
// CHECK-NOT: nn.partial_sum
// CHECK: nn.fused "sub_sum"
train.step @mean_and_squares forward ("x" %x: tensor<16384x64xf32>, "w" %w: tensor<64x64xf32>) {
  %y = nn.contract "rc,cd->rd" %x, %w : tensor<16384x64xf32>, tensor<64x64xf32>
  %mean = nn.fused "sum" %y : tensor<16384x64xf32> -> tensor<1x64xf32> {
  ^bb0(%a: tensor<16384x64xf32>):
    %0 = nn.reduce sum %a [0] : tensor<16384x64xf32>
    nn.yield %0 : tensor<1x64xf32>
  }
  %rows = nn.fused "sum_sub" %y : tensor<16384x64xf32> -> tensor<16384x64xf32> {
  ^bb0(%a: tensor<16384x64xf32>):
    %0 = nn.reduce sum %a [1] : tensor<16384x64xf32>
    %1 = nn.broadcast %0 : tensor<16384x1xf32> to tensor<16384x64xf32>
    %2 = arith.subf %a, %1 : tensor<16384x64xf32>
    nn.yield %2 : tensor<16384x64xf32>
  }
  %squares = nn.fused "sub_sum" %y, %mean : tensor<16384x64xf32>, tensor<1x64xf32> -> tensor<1x64xf32> {
  ^bb0(%a: tensor<16384x64xf32>, %b: tensor<1x64xf32>):
    %0 = nn.broadcast %b : tensor<1x64xf32> to tensor<16384x64xf32>
    %1 = arith.subf %a, %0 : tensor<16384x64xf32>
    %2 = arith.mulf %1, %1 : tensor<16384x64xf32>
    %3 = nn.reduce sum %2 [0] : tensor<16384x64xf32>
    nn.yield %3 : tensor<1x64xf32>
  }
  train.output "mean", %mean : tensor<1x64xf32>
  train.output "rows", %rows : tensor<16384x64xf32>
  train.output "squares", %squares : tensor<1x64xf32>
}

// Sums of integers stay apart: threads hold sums of floats.
// CHECK-LABEL: train.step @counts
// CHECK-NOT: nn.partial_sum
train.step @counts forward ("x" %x: tensor<16384x64xf32>, "w" %w: tensor<64x64xf32>) {
  %y = nn.contract "rc,cd->rd" %x, %w : tensor<16384x64xf32>, tensor<64x64xf32>
  %rows = nn.fused "sum_sub" %y : tensor<16384x64xf32> -> tensor<16384x64xf32> {
  ^bb0(%a: tensor<16384x64xf32>):
    %0 = nn.reduce sum %a [1] : tensor<16384x64xf32>
    %1 = nn.broadcast %0 : tensor<16384x1xf32> to tensor<16384x64xf32>
    %2 = arith.subf %a, %1 : tensor<16384x64xf32>
    nn.yield %2 : tensor<16384x64xf32>
  }
  %count = nn.fused "fptosi_sum" %y : tensor<16384x64xf32> -> tensor<1x64xi64> {
  ^bb0(%a: tensor<16384x64xf32>):
    %0 = arith.fptosi %a : tensor<16384x64xf32> to tensor<16384x64xi64>
    %1 = nn.reduce sum %0 [0] : tensor<16384x64xi64>
    nn.yield %1 : tensor<1x64xi64>
  }
  train.output "rows", %rows : tensor<16384x64xf32>
  train.output "count", %count : tensor<1x64xi64>
}

// The gradient of a residual connection is what two batch norms' backwards add
// up, alone and times their inputs. The kernel that writes it reads the inputs
// for that, and nothing reads the gradient again. A sum of a tensor that is made
// later goes to the kernel that makes that one.
// REMARK: adds up the columns of 'bn1'"
// REMARK: adds up the columns of 'bn2'"
// CHECK-LABEL: train.step @residual
// CHECK: %[[ALL:.*]]:4 = nn.fused "{{.*}}" %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {{.*}}-> tensor<256x64x64xf32>, tensor<256x1x64xf32>, tensor<256x1x64xf32>, tensor<256x1x64xf32> {
// CHECK: nn.fused "exp_mul_sum" %{{.*}}, %[[ALL]]#0 {{.*}}-> tensor<256x64x64xf32>, tensor<256x1x64xf32> {
train.step @residual forward ("a" %a: tensor<256x64x64xf32>, "b" %b: tensor<256x64x64xf32>,
                              "x1" %x1: tensor<256x64x64xf32>, "x2" %x2: tensor<256x64x64xf32>) {
  %g = nn.fused "add" %a, %b {nn.origins = #nn.origins<"g">} : tensor<256x64x64xf32>, tensor<256x64x64xf32> -> tensor<256x64x64xf32> {
  ^bb0(%p: tensor<256x64x64xf32>, %q: tensor<256x64x64xf32>):
    %0 = arith.addf %p, %q : tensor<256x64x64xf32>
    nn.yield %0 : tensor<256x64x64xf32>
  }
  %bn1:2 = nn.fused "mul_sum" %g, %x1 {nn.origins = #nn.origins<"bn1", "bn1">} : tensor<256x64x64xf32>, tensor<256x64x64xf32> -> tensor<256x1x64xf32>, tensor<256x1x64xf32> {
  ^bb0(%p: tensor<256x64x64xf32>, %q: tensor<256x64x64xf32>):
    %0 = arith.mulf %p, %q : tensor<256x64x64xf32>
    %1 = nn.reduce sum %0 [1] : tensor<256x64x64xf32>
    %2 = nn.reduce sum %p [1] : tensor<256x64x64xf32>
    nn.yield %1, %2 : tensor<256x1x64xf32>, tensor<256x1x64xf32>
  }
  %bn2 = nn.fused "mul_sum" %g, %x2 {nn.origins = #nn.origins<"bn2">} : tensor<256x64x64xf32>, tensor<256x64x64xf32> -> tensor<256x1x64xf32> {
  ^bb0(%p: tensor<256x64x64xf32>, %q: tensor<256x64x64xf32>):
    %0 = arith.mulf %p, %q : tensor<256x64x64xf32>
    %1 = nn.reduce sum %0 [1] : tensor<256x64x64xf32>
    nn.yield %1 : tensor<256x1x64xf32>
  }
  %later = nn.fused "later" %x1 : tensor<256x64x64xf32> -> tensor<256x64x64xf32> {
  ^bb0(%p: tensor<256x64x64xf32>):
    %0 = math.exp %p : tensor<256x64x64xf32>
    nn.yield %0 : tensor<256x64x64xf32>
  }
  %late = nn.fused "mul_sum" %g, %later {nn.origins = #nn.origins<"late">} : tensor<256x64x64xf32>, tensor<256x64x64xf32> -> tensor<256x1x64xf32> {
  ^bb0(%p: tensor<256x64x64xf32>, %q: tensor<256x64x64xf32>):
    %0 = arith.mulf %p, %q : tensor<256x64x64xf32>
    %1 = nn.reduce sum %0 [1] : tensor<256x64x64xf32>
    nn.yield %1 : tensor<256x1x64xf32>
  }
  train.output "g", %g : tensor<256x64x64xf32>
  train.output "one", %bn1#0 : tensor<256x1x64xf32>
  train.output "two", %bn1#1 : tensor<256x1x64xf32>
  train.output "three", %bn2 : tensor<256x1x64xf32>
  train.output "late", %late : tensor<256x1x64xf32>
}

// One kernel adds up along the same dimensions. Both sums of this gradient could
// be taken: one is over the samples alone, the other one over the tokens, too.
// CHECK-LABEL: train.step @other_dimensions
// CHECK: nn.fused "{{.*}}" {{.*}}-> tensor<256x64x64xf32>, tensor<256x1x64xf32> {
// CHECK: nn.fused "sum" {{.*}}-> tensor<1x64x64xf32> {
train.step @other_dimensions forward ("a" %a: tensor<256x64x64xf32>, "b" %b: tensor<256x64x64xf32>) {
  %g = nn.fused "add" %a, %b {nn.origins = #nn.origins<"g">} : tensor<256x64x64xf32>, tensor<256x64x64xf32> -> tensor<256x64x64xf32> {
  ^bb0(%p: tensor<256x64x64xf32>, %q: tensor<256x64x64xf32>):
    %0 = arith.addf %p, %q : tensor<256x64x64xf32>
    nn.yield %0 : tensor<256x64x64xf32>
  }
  %bias = nn.fused "sum" %g {nn.origins = #nn.origins<"bias">} : tensor<256x64x64xf32> -> tensor<256x1x64xf32> {
  ^bb0(%p: tensor<256x64x64xf32>):
    %0 = nn.reduce sum %p [1] : tensor<256x64x64xf32>
    nn.yield %0 : tensor<256x1x64xf32>
  }
  %places = nn.fused "sum" %g {nn.origins = #nn.origins<"places">} : tensor<256x64x64xf32> -> tensor<1x64x64xf32> {
  ^bb0(%p: tensor<256x64x64xf32>):
    %0 = nn.reduce sum %p [0] : tensor<256x64x64xf32>
    nn.yield %0 : tensor<1x64x64xf32>
  }
  train.output "g", %g : tensor<256x64x64xf32>
  train.output "bias", %bias : tensor<256x1x64xf32>
  train.output "places", %places : tensor<1x64x64xf32>
}
