// RUN: gpuopt-opt %s -train-plan-memory -convert-to-device=device=h200 --verify-device | FileCheck %s
// RUN: gpuopt-opt %s -train-plan-memory -convert-to-device=device=h200 --verify-device | gpuopt-translate --device-to-cxx | FileCheck %s --check-prefix=CODE
// RUN: gpuopt-opt %s -train-plan-memory -convert-to-device | FileCheck %s --check-prefix=HOST

// Rows that leave half of a warp idle or more are taken by groups of its threads. A scale by channel keeps the loops over
// pixels and over channels apart.

// 64 channels in half precision are eight threads, with eight each: 32 groups. A block takes 64 rows, which have 4096
// elements, in two iterations. It has as many registers as it needs, since what the rows
// share stays in them.
// CHECK-LABEL: device.kernel @fused_scale blocks 12544 threads 256 groups 32 resident 1 [
// CHECK: device.loop row_groups %{{.*}} to %{{.*}} [] {
// CHECK: device.loop lanes %{{.*}} to %{{.*}} multiple 16 [] {
// CODE-LABEL: void fused_scale(
// CODE: for (int64_t r = begin + group<8>(); r < end; r += groups<32>()) {
// CODE: for (int64_t t = 0; t < iterations<8>(64); t++) {
// CODE: store_vector(
// On the host a block is one thread, which has no groups.
// HOST-LABEL: device.kernel @fused_scale blocks 12544 threads 32 [
// HOST: device.loop sequential

// Three channels that lie in planes are one thread's: 32 neighbours read 32 neighbouring pixels of each plane.
// CHECK-LABEL: device.kernel @fused_copy blocks 784 threads 256 groups 256 resident 1 [
// CHECK: device.loop lanes %{{.*}} to %{{.*}} [] {
// CODE-LABEL: void fused_copy(
// CODE: for (int64_t r = begin + group<1>(); r < end; r += groups<256>()) {
// CODE: const int64_t left = 3 - i;

// 40 channels are five vectors of eight threads: the other three are behind the end, so what they would load and store
// is left out. 1000 rows are too few for large blocks.
// CHECK-LABEL: device.kernel @fused_odd blocks 250 threads 32 groups 4 resident 1 [
// CHECK: device.loop lanes %{{.*}} to %{{.*}} multiple 8 [] {
// CODE-LABEL: void fused_odd(
// CODE: const int64_t left = 40 - i;
// CODE: load<8>({{.*}}, left)
// CODE: store<8>({{.*}}, left);

// 17 vectors need more than half of a warp, and so have it whole.
// CHECK-LABEL: device.kernel @fused_wide blocks 1000 threads 32 resident 32 [

// Four vectors of terms in f32 are eight loads, a row is one. So a thread goes down its columns: it loads the terms
// once and then eight rows at a time, four times. 32 groups take 1024 rows together.
// CHECK-LABEL: device.kernel @fused_norm blocks 784 threads 256 groups 32 resident 2 [
// CHECK: device.loop lanes %{{.*}} to %{{.*}} multiple 16 [] {
// CHECK: device.loop row_groups %{{.*}} to %{{.*}} multiple 1024 unroll 8 [] {
// CODE-LABEL: void fused_norm(
// CODE: const auto x4_i = load_vector(x4 + i);
// CODE: for (int64_t start = begin + group<8>(); start < end; start += 8 * groups<32>()) {
// CODE: x0_i[k] = load_vector(x0 + r * 64 + i);
// CODE: store_vector({{.*}} + r * 64 + i,
// HOST-LABEL: device.kernel @fused_norm blocks 12544 threads 32 [
// HOST: device.loop sequential
// HOST: device.loop lanes
train.step @forward_step forward ("p" %p: tensor<64xf32>, "q" %q: tensor<64xf32>, "n" %n: tensor<64xf32>,
    "m" %m: tensor<64xf32>, "x" %x: tensor<802816x64xf16>, "s" %s: tensor<64xf16>, "y" %y: tensor<4x3x50176xf32>,
    "z" %z: tensor<1000x40xf16>, "u" %u: tensor<40xf16>, "w" %w: tensor<1000x136xf16>, "v" %v: tensor<136xf16>) {
  %0 = nn.fused "scale" %x, %s : tensor<802816x64xf16>, tensor<64xf16> -> tensor<802816x64xf16> {
  ^bb0(%a: tensor<802816x64xf16>, %b: tensor<64xf16>):
    %1 = nn.broadcast %b : tensor<64xf16> to tensor<802816x64xf16>
    %2 = arith.mulf %a, %1 : tensor<802816x64xf16>
    nn.yield %2 : tensor<802816x64xf16>
  }
  %t = nn.transpose %y [0, 2, 1] : tensor<4x3x50176xf32>
  %3 = nn.fused "copy" %t : tensor<4x50176x3xf32> -> tensor<4x50176x3xf32> {
  ^bb0(%a: tensor<4x50176x3xf32>):
    nn.yield %a : tensor<4x50176x3xf32>
  }
  %4 = nn.fused "odd" %z, %u : tensor<1000x40xf16>, tensor<40xf16> -> tensor<1000x40xf16> {
  ^bb0(%a: tensor<1000x40xf16>, %b: tensor<40xf16>):
    %1 = nn.broadcast %b : tensor<40xf16> to tensor<1000x40xf16>
    %2 = arith.mulf %a, %1 : tensor<1000x40xf16>
    nn.yield %2 : tensor<1000x40xf16>
  }
  %5 = nn.fused "wide" %w, %v : tensor<1000x136xf16>, tensor<136xf16> -> tensor<1000x136xf16> {
  ^bb0(%a: tensor<1000x136xf16>, %b: tensor<136xf16>):
    %1 = nn.broadcast %b : tensor<136xf16> to tensor<1000x136xf16>
    %2 = arith.mulf %a, %1 : tensor<1000x136xf16>
    nn.yield %2 : tensor<1000x136xf16>
  }
  %7 = nn.fused "norm" %x, %p, %q, %n, %m : tensor<802816x64xf16>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32> -> tensor<802816x64xf32> {
  ^bb0(%a: tensor<802816x64xf16>, %b: tensor<64xf32>, %c: tensor<64xf32>, %d: tensor<64xf32>, %e: tensor<64xf32>):
    %w0 = arith.extf %a : tensor<802816x64xf16> to tensor<802816x64xf32>
    %b0 = nn.broadcast %b : tensor<64xf32> to tensor<802816x64xf32>
    %c0 = nn.broadcast %c : tensor<64xf32> to tensor<802816x64xf32>
    %d0 = nn.broadcast %d : tensor<64xf32> to tensor<802816x64xf32>
    %e0 = nn.broadcast %e : tensor<64xf32> to tensor<802816x64xf32>
    %1 = arith.subf %w0, %b0 : tensor<802816x64xf32>
    %2 = arith.mulf %1, %c0 : tensor<802816x64xf32>
    %8 = arith.mulf %2, %d0 : tensor<802816x64xf32>
    %6 = arith.addf %8, %e0 : tensor<802816x64xf32>
    nn.yield %6 : tensor<802816x64xf32>
  }
  train.output "e", %7 : tensor<802816x64xf32>
  train.output "a", %0 : tensor<802816x64xf16>
  train.output "b", %3 : tensor<4x50176x3xf32>
  train.output "c", %4 : tensor<1000x40xf16>
  train.output "d", %5 : tensor<1000x136xf16>
}
