// RUN: gpuopt-opt %s -device-roll-loops | FileCheck %s
// RUN: gpuopt-opt %s -o %t.straight
// RUN: gpuopt-opt %s -device-roll-loops -device-unroll-loops | diff %t.straight -
// RUN: gpuopt-opt %s -device-roll-loops | gpuopt-translate --device-to-cxx | FileCheck %s --check-prefix=CXX

// Nine parameters of nine shapes. The first eight updates stand in a row and
// become a loop; half of them decay. The ninth stays where it is.

// CHECK: device.repeat "optimizer_updates" ["parameter", "gradient", "exp_avg", "exp_avg_sq"] {{\[\[}}@a, @d_a, @a_exp_avg, @a_exp_avg_sq], [@b, @d_b, @b_exp_avg, @b_exp_avg_sq], {{.*}}, [@h, @d_h, @h_exp_avg, @h_exp_avg_sq]] {
// CHECK-NEXT: %[[P:.*]] = device.column "parameter" : <f32>
// CHECK-NEXT: %[[G:.*]] = device.column "gradient" : <f32>
// CHECK-NEXT: %[[M:.*]] = device.column "exp_avg" : <f32>
// CHECK-NEXT: %[[V:.*]] = device.column "exp_avg_sq" : <f32>
// CHECK-NEXT: device.update "adamw" %[[P]], %[[G]] state ["exp_avg", "exp_avg_sq"](%[[M]], %[[V]]) shape [8]
// CHECK-SAME: device.turns = [{comment = "net.a", shape = array<i64: 8>}, {comment = "net.b", decay, shape = array<i64: 9>},
// CHECK-NEXT: {{^ +[}]$}}
// CHECK-NEXT: device.await 0
// CHECK: device.update "adamw" {{.*}} shape [16] {

// CXX: struct OptimizerUpdate {
// CXX-NEXT: Buffer<float> parameter;
// CXX-NEXT: Buffer<float> gradient;
// CXX-NEXT: Buffer<float> exp_avg;
// CXX-NEXT: Buffer<float> exp_avg_sq;
// CXX-NEXT: int64_t elements;
// CXX-NEXT: bool decay;
// CXX-NEXT: };
// CXX-NEXT: constexpr OptimizerUpdate kOptimizerUpdates[] = {
// CXX-NEXT: {0, 768, 256, 512, 8, false}, // "net.a"
// CXX-NEXT: {1024, 1792, 1280, 1536, 9, true}, // "net.b"
// CXX: {7168, 7936, 7424, 7680, 15, true}, // "net.h"
// CXX-NEXT: };
// CXX: for (const OptimizerUpdate &update : kOptimizerUpdates) {
// CXX-NEXT: {{^}}    adamw(ctx, state, m[update.parameter], m[update.exp_avg], m[update.exp_avg_sq], m[update.gradient],
// CXX-NEXT: update.elements, update.decay);
// CXX-NEXT: {{^}}  }
// CXX-NEXT: await(ctx, 0);
// CXX: // net.i
// CXX-NEXT: adamw(ctx, state, m[kI], m[kIExpAvg], m[kIExpAvgSq], m[kDI], 16, /*decay=*/false);

train.variable @net.a parameter : tensor<8xf32>
train.variable @net.a_exp_avg optimizer_state : tensor<8xf32> {of = @net.a}
train.variable @net.a_exp_avg_sq optimizer_state : tensor<8xf32> {of = @net.a}
train.variable @net.b parameter : tensor<9xf32>
train.variable @net.b_exp_avg optimizer_state : tensor<9xf32> {of = @net.b}
train.variable @net.b_exp_avg_sq optimizer_state : tensor<9xf32> {of = @net.b}
train.variable @net.c parameter : tensor<10xf32>
train.variable @net.c_exp_avg optimizer_state : tensor<10xf32> {of = @net.c}
train.variable @net.c_exp_avg_sq optimizer_state : tensor<10xf32> {of = @net.c}
train.variable @net.d parameter : tensor<11xf32>
train.variable @net.d_exp_avg optimizer_state : tensor<11xf32> {of = @net.d}
train.variable @net.d_exp_avg_sq optimizer_state : tensor<11xf32> {of = @net.d}
train.variable @net.e parameter : tensor<12xf32>
train.variable @net.e_exp_avg optimizer_state : tensor<12xf32> {of = @net.e}
train.variable @net.e_exp_avg_sq optimizer_state : tensor<12xf32> {of = @net.e}
train.variable @net.f parameter : tensor<13xf32>
train.variable @net.f_exp_avg optimizer_state : tensor<13xf32> {of = @net.f}
train.variable @net.f_exp_avg_sq optimizer_state : tensor<13xf32> {of = @net.f}
train.variable @net.g parameter : tensor<14xf32>
train.variable @net.g_exp_avg optimizer_state : tensor<14xf32> {of = @net.g}
train.variable @net.g_exp_avg_sq optimizer_state : tensor<14xf32> {of = @net.g}
train.variable @net.h parameter : tensor<15xf32>
train.variable @net.h_exp_avg optimizer_state : tensor<15xf32> {of = @net.h}
train.variable @net.h_exp_avg_sq optimizer_state : tensor<15xf32> {of = @net.h}
train.variable @net.i parameter : tensor<16xf32>
train.variable @net.i_exp_avg optimizer_state : tensor<16xf32> {of = @net.i}
train.variable @net.i_exp_avg_sq optimizer_state : tensor<16xf32> {of = @net.i}
device.memory persistent 9216 arena 4096
device.buffer @a state at 0 : tensor<8xf32> {origin = "net.a", variable = @net.a}
device.buffer @a_exp_avg state at 256 : tensor<8xf32> {origin = "net.a_exp_avg", variable = @net.a_exp_avg}
device.buffer @a_exp_avg_sq state at 512 : tensor<8xf32> {origin = "net.a_exp_avg_sq", variable = @net.a_exp_avg_sq}
device.buffer @d_a arena at 768 : tensor<8xf32> live 0 to 9 in @micro_step {origin = "d net.a"}
device.buffer @b state at 1024 : tensor<9xf32> {origin = "net.b", variable = @net.b}
device.buffer @b_exp_avg state at 1280 : tensor<9xf32> {origin = "net.b_exp_avg", variable = @net.b_exp_avg}
device.buffer @b_exp_avg_sq state at 1536 : tensor<9xf32> {origin = "net.b_exp_avg_sq", variable = @net.b_exp_avg_sq}
device.buffer @d_b arena at 1792 : tensor<9xf32> live 0 to 9 in @micro_step {origin = "d net.b"}
device.buffer @c state at 2048 : tensor<10xf32> {origin = "net.c", variable = @net.c}
device.buffer @c_exp_avg state at 2304 : tensor<10xf32> {origin = "net.c_exp_avg", variable = @net.c_exp_avg}
device.buffer @c_exp_avg_sq state at 2560 : tensor<10xf32> {origin = "net.c_exp_avg_sq", variable = @net.c_exp_avg_sq}
device.buffer @d_c arena at 2816 : tensor<10xf32> live 0 to 9 in @micro_step {origin = "d net.c"}
device.buffer @d state at 3072 : tensor<11xf32> {origin = "net.d", variable = @net.d}
device.buffer @d_exp_avg state at 3328 : tensor<11xf32> {origin = "net.d_exp_avg", variable = @net.d_exp_avg}
device.buffer @d_exp_avg_sq state at 3584 : tensor<11xf32> {origin = "net.d_exp_avg_sq", variable = @net.d_exp_avg_sq}
device.buffer @d_d arena at 3840 : tensor<11xf32> live 0 to 9 in @micro_step {origin = "d net.d"}
device.buffer @e state at 4096 : tensor<12xf32> {origin = "net.e", variable = @net.e}
device.buffer @e_exp_avg state at 4352 : tensor<12xf32> {origin = "net.e_exp_avg", variable = @net.e_exp_avg}
device.buffer @e_exp_avg_sq state at 4608 : tensor<12xf32> {origin = "net.e_exp_avg_sq", variable = @net.e_exp_avg_sq}
device.buffer @d_e arena at 4864 : tensor<12xf32> live 0 to 9 in @micro_step {origin = "d net.e"}
device.buffer @f state at 5120 : tensor<13xf32> {origin = "net.f", variable = @net.f}
device.buffer @f_exp_avg state at 5376 : tensor<13xf32> {origin = "net.f_exp_avg", variable = @net.f_exp_avg}
device.buffer @f_exp_avg_sq state at 5632 : tensor<13xf32> {origin = "net.f_exp_avg_sq", variable = @net.f_exp_avg_sq}
device.buffer @d_f arena at 5888 : tensor<13xf32> live 0 to 9 in @micro_step {origin = "d net.f"}
device.buffer @g state at 6144 : tensor<14xf32> {origin = "net.g", variable = @net.g}
device.buffer @g_exp_avg state at 6400 : tensor<14xf32> {origin = "net.g_exp_avg", variable = @net.g_exp_avg}
device.buffer @g_exp_avg_sq state at 6656 : tensor<14xf32> {origin = "net.g_exp_avg_sq", variable = @net.g_exp_avg_sq}
device.buffer @d_g arena at 6912 : tensor<14xf32> live 0 to 9 in @micro_step {origin = "d net.g"}
device.buffer @h state at 7168 : tensor<15xf32> {origin = "net.h", variable = @net.h}
device.buffer @h_exp_avg state at 7424 : tensor<15xf32> {origin = "net.h_exp_avg", variable = @net.h_exp_avg}
device.buffer @h_exp_avg_sq state at 7680 : tensor<15xf32> {origin = "net.h_exp_avg_sq", variable = @net.h_exp_avg_sq}
device.buffer @d_h arena at 7936 : tensor<15xf32> live 0 to 9 in @micro_step {origin = "d net.h"}
device.buffer @i state at 8192 : tensor<16xf32> {origin = "net.i", variable = @net.i}
device.buffer @i_exp_avg state at 8448 : tensor<16xf32> {origin = "net.i_exp_avg", variable = @net.i_exp_avg}
device.buffer @i_exp_avg_sq state at 8704 : tensor<16xf32> {origin = "net.i_exp_avg_sq", variable = @net.i_exp_avg_sq}
device.buffer @d_i arena at 8960 : tensor<16xf32> live 0 to 9 in @micro_step {origin = "d net.i"}
device.step @micro_step micro {
  %0 = device.address @a : !device.ptr<f32>
  %1 = device.address @d_a : !device.ptr<f32>
  %2 = device.address @a_exp_avg : !device.ptr<f32>
  %3 = device.address @a_exp_avg_sq : !device.ptr<f32>
  device.update "adamw" %0, %1 state ["exp_avg", "exp_avg_sq"](%2, %3) shape [8] {section = #device.section<optimizer>, comment = "net.a"} : !device.ptr<f32>, !device.ptr<f32> state !device.ptr<f32>, !device.ptr<f32>
  %4 = device.address @b : !device.ptr<f32>
  %5 = device.address @d_b : !device.ptr<f32>
  %6 = device.address @b_exp_avg : !device.ptr<f32>
  %7 = device.address @b_exp_avg_sq : !device.ptr<f32>
  device.update "adamw" %4, %5 state ["exp_avg", "exp_avg_sq"](%6, %7) shape [9] decay {section = #device.section<optimizer>, comment = "net.b"} : !device.ptr<f32>, !device.ptr<f32> state !device.ptr<f32>, !device.ptr<f32>
  %8 = device.address @c : !device.ptr<f32>
  %9 = device.address @d_c : !device.ptr<f32>
  %10 = device.address @c_exp_avg : !device.ptr<f32>
  %11 = device.address @c_exp_avg_sq : !device.ptr<f32>
  device.update "adamw" %8, %9 state ["exp_avg", "exp_avg_sq"](%10, %11) shape [10] {section = #device.section<optimizer>, comment = "net.c"} : !device.ptr<f32>, !device.ptr<f32> state !device.ptr<f32>, !device.ptr<f32>
  %12 = device.address @d : !device.ptr<f32>
  %13 = device.address @d_d : !device.ptr<f32>
  %14 = device.address @d_exp_avg : !device.ptr<f32>
  %15 = device.address @d_exp_avg_sq : !device.ptr<f32>
  device.update "adamw" %12, %13 state ["exp_avg", "exp_avg_sq"](%14, %15) shape [11] decay {section = #device.section<optimizer>, comment = "net.d"} : !device.ptr<f32>, !device.ptr<f32> state !device.ptr<f32>, !device.ptr<f32>
  %16 = device.address @e : !device.ptr<f32>
  %17 = device.address @d_e : !device.ptr<f32>
  %18 = device.address @e_exp_avg : !device.ptr<f32>
  %19 = device.address @e_exp_avg_sq : !device.ptr<f32>
  device.update "adamw" %16, %17 state ["exp_avg", "exp_avg_sq"](%18, %19) shape [12] {section = #device.section<optimizer>, comment = "net.e"} : !device.ptr<f32>, !device.ptr<f32> state !device.ptr<f32>, !device.ptr<f32>
  %20 = device.address @f : !device.ptr<f32>
  %21 = device.address @d_f : !device.ptr<f32>
  %22 = device.address @f_exp_avg : !device.ptr<f32>
  %23 = device.address @f_exp_avg_sq : !device.ptr<f32>
  device.update "adamw" %20, %21 state ["exp_avg", "exp_avg_sq"](%22, %23) shape [13] decay {section = #device.section<optimizer>, comment = "net.f"} : !device.ptr<f32>, !device.ptr<f32> state !device.ptr<f32>, !device.ptr<f32>
  %24 = device.address @g : !device.ptr<f32>
  %25 = device.address @d_g : !device.ptr<f32>
  %26 = device.address @g_exp_avg : !device.ptr<f32>
  %27 = device.address @g_exp_avg_sq : !device.ptr<f32>
  device.update "adamw" %24, %25 state ["exp_avg", "exp_avg_sq"](%26, %27) shape [14] {section = #device.section<optimizer>, comment = "net.g"} : !device.ptr<f32>, !device.ptr<f32> state !device.ptr<f32>, !device.ptr<f32>
  %28 = device.address @h : !device.ptr<f32>
  %29 = device.address @d_h : !device.ptr<f32>
  %30 = device.address @h_exp_avg : !device.ptr<f32>
  %31 = device.address @h_exp_avg_sq : !device.ptr<f32>
  device.update "adamw" %28, %29 state ["exp_avg", "exp_avg_sq"](%30, %31) shape [15] decay {section = #device.section<optimizer>, comment = "net.h"} : !device.ptr<f32>, !device.ptr<f32> state !device.ptr<f32>, !device.ptr<f32>
  device.await 0
  %32 = device.address @i : !device.ptr<f32>
  %33 = device.address @d_i : !device.ptr<f32>
  %34 = device.address @i_exp_avg : !device.ptr<f32>
  %35 = device.address @i_exp_avg_sq : !device.ptr<f32>
  device.update "adamw" %32, %33 state ["exp_avg", "exp_avg_sq"](%34, %35) shape [16] {section = #device.section<optimizer>, comment = "net.i"} : !device.ptr<f32>, !device.ptr<f32> state !device.ptr<f32>, !device.ptr<f32>
}
