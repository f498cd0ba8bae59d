// RUN: gpuopt-opt %s -train-plan-memory -convert-to-device | FileCheck %s --check-prefix=HOST
// RUN: gpuopt-opt %s -train-plan-memory -convert-to-device=device=h200 | FileCheck %s --check-prefix=H200
// RUN: gpuopt-opt %s -train-plan-memory -convert-to-device=device=a100 | FileCheck %s --check-prefix=A100
// RUN: gpuopt-opt %s -train-plan-memory -convert-to-device=device=4090 | FileCheck %s --check-prefix=ADA
// RUN: not gpuopt-opt %s -train-plan-memory -convert-to-device=device=tpu 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: expects one of host, {{.*}} or a JSON file, but got 'tpu'

// How kernels are spread over a device follows from how many multiprocessors it
// has: 4 blocks for each of them are wanted, 64 on the host's 16 cores, 528 on an
// h200, 432 on an a100 and 512 on a 4090.

// 1,048,576 elements by the wanted blocks, rounded up to 1024, and at most 8192:
// 1048576 / 64 is above that; 1986 becomes 2048; 2428 becomes 3072, of which
// there are 341.3; 2048 stays. A thread has 4 elements, and a block at most 256
// threads. Those of a block load 4 KiB at once. By its bandwidth and its latency,
// a multiprocessor of an h200 waits for 21.7 KB, an a100's for 7.2 and a 4090's
// for 4.0, so they shall have registers for 6, 2 and 1 blocks at once. With the
// 48 registers that a thread may need, an h200 has room for 5.
// HOST-LABEL: device.kernel @fused_tanh blocks 128 threads 256
// H200-LABEL: device.kernel @fused_tanh blocks 512 threads 256 resident 5 [
// A100-LABEL: device.kernel @fused_tanh blocks 342 threads 256 resident 2 [
// ADA-LABEL: device.kernel @fused_tanh blocks 512 threads 256 resident 1 [

// 1024 rows of 128 elements, which cannot be one loop because the operand is
// transposed: 32 rows have 4096 elements, but the host gets no more than 1024 / 64
// of them in a block. A GPU has room for eight times as many blocks of a warp as
// of 256 threads, and so for one for each row.
// HOST-LABEL: device.kernel @fused_exp blocks 64 threads 32
// H200-LABEL: device.kernel @fused_exp blocks 1024 threads 32 resident 6 [
// A100-LABEL: device.kernel @fused_exp blocks 1024 threads 32 resident 2 [
// ADA-LABEL: device.kernel @fused_exp blocks 1024 threads 32 resident 1 [

// A row is one block's on the host, and one warp's on a GPU, which has 2 of them
// in a block at least, and 1024 / 512 = 2 of them for as many blocks as are wanted.
// HOST-LABEL: device.kernel @fused_rows blocks 1024 threads 32 [
// H200-LABEL: device.kernel @fused_rows blocks 512 threads 64 groups 2 resident 21 [
// A100-LABEL: device.kernel @fused_rows blocks 512 threads 64 groups 2 resident 15 [
// ADA-LABEL: device.kernel @fused_rows blocks 512 threads 64 groups 2 resident 8 [
// H200: device.loop row_groups %{{.*}} to %{{.*}} [] {
// H200: device.loop lanes %{{.*}} to %{{.*}} multiple 16 [#device.combiner<sum>]

// 128 columns are one thread's of the host, in 16 lanes. A GPU gets as many
// blocks as are wide enough for its memory: 8 threads side by side have 32
// columns, so 4 blocks, in which 32 groups share the 1024 rows. Loads of 8 rows
// are under way at once. 2 blocks make 16 warps for a multiprocessor.
// HOST-LABEL: device.kernel @fused_columns blocks 1 threads 32 [
// HOST: device.row 128 : <f32>
// HOST: device.loop sequential %{{.*}} to %{{.*}} [] {
// HOST: device.loop lanes %{{.*}} to %{{.*}} multiple 16 [] {
// H200-LABEL: device.kernel @fused_columns blocks 4 threads 256 groups 32 resident 2 [
// H200: device.loop row_groups %{{.*}} to %{{.*}} multiple 256 unroll 8 [#device.combiner<sum>]
// A100-LABEL: device.kernel @fused_columns blocks 4 threads 256 groups 32 resident 2 [
// ADA-LABEL: device.kernel @fused_columns blocks 4 threads 256 groups 32 resident 2 [

// The scale of a column is loaded before its rows, so that loads of as many rows
// are under way as without it.
// H200-LABEL: device.kernel @fused_scaled_columns blocks 4 threads 256 groups 32 resident 2 [
// H200: device.loop row_groups %{{.*}} to %{{.*}} multiple 256 unroll 8 [#device.combiner<sum>]
train.step @forward_step forward ("x" %x: tensor<1024x1024xf32>, "y" %y: tensor<128x1024xf32>, "z" %z: tensor<1024x128xf32>, "w" %w: tensor<128xf32>) {
  %0 = nn.fused "tanh" %x : tensor<1024x1024xf32> -> tensor<1024x1024xf32> {
  ^bb0(%a: tensor<1024x1024xf32>):
    %1 = math.tanh %a : tensor<1024x1024xf32>
    nn.yield %1 : tensor<1024x1024xf32>
  }
  %t = nn.transpose %y [1, 0] : tensor<128x1024xf32>
  %2 = nn.fused "exp" %t : tensor<1024x128xf32> -> tensor<1024x128xf32> {
  ^bb0(%a: tensor<1024x128xf32>):
    %1 = math.exp %a : tensor<1024x128xf32>
    nn.yield %1 : tensor<1024x128xf32>
  }
  %3 = nn.fused "rows" %z : tensor<1024x128xf32> -> tensor<1024x1xf32> {
  ^bb0(%a: tensor<1024x128xf32>):
    %1 = nn.reduce sum %a [1] : tensor<1024x128xf32>
    nn.yield %1 : tensor<1024x1xf32>
  }
  %4 = nn.fused "columns" %z : tensor<1024x128xf32> -> tensor<1x128xf32> {
  ^bb0(%a: tensor<1024x128xf32>):
    %1 = nn.reduce sum %a [0] : tensor<1024x128xf32>
    nn.yield %1 : tensor<1x128xf32>
  }
  %5 = nn.fused "scaled_columns" %z, %w : tensor<1024x128xf32>, tensor<128xf32> -> tensor<1x128xf32> {
  ^bb0(%a: tensor<1024x128xf32>, %b: tensor<128xf32>):
    %1 = nn.broadcast %b : tensor<128xf32> to tensor<1024x128xf32>
    %6 = arith.mulf %a, %1 : tensor<1024x128xf32>
    %7 = math.absf %6 : tensor<1024x128xf32>
    %8 = nn.reduce sum %7 [0] : tensor<1024x128xf32>
    nn.yield %8 : tensor<1x128xf32>
  }
  train.output "a", %0 : tensor<1024x1024xf32>
  train.output "b", %2 : tensor<1024x128xf32>
  train.output "c", %3 : tensor<1024x1xf32>
  train.output "d", %4 : tensor<1x128xf32>
  train.output "e", %5 : tensor<1x128xf32>
}
