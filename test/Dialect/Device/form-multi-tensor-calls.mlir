// RUN: gpuopt-opt %s -device-form-multi-tensor-calls | FileCheck %s
// RUN: gpuopt-opt %s -device-form-multi-tensor-calls=least-calls=3 | FileCheck %s --check-prefix=LONG
// RUN: gpuopt-opt %s -o %t.straight
// RUN: gpuopt-opt %s -device-form-multi-tensor-calls -device-unroll-loops | diff %t.straight -
// RUN: gpuopt-opt %s -device-form-multi-tensor-calls | gpuopt-translate --device-to-cxx | FileCheck %s --check-prefix=CXX

// Calls of one kind in a row are one call with a table. The updates of a, b and
// c differ in shape, decay, group and the precision of their gradients. A wait stands
// before the update of d, which stays as it is, as does the one by sgd behind it.

// CHECK-LABEL: device.step @micro_step
// CHECK: device.multi_tensor {
// CHECK-COUNT-3: device.update "adamw"
// CHECK-NEXT: {{^ +[}]$}}
// CHECK-NEXT: device.await 0
// CHECK: {{^}}  device.update "adamw"
// CHECK: {{^}}  device.update "sgd"
// LONG-LABEL: device.step @micro_step
// LONG: device.multi_tensor {

// CXX: // The gradients whose norm is computed: gradient, number of elements, number of its first span.
// CXX-NEXT: DEVICE_TABLE GradientRow<float, f16> kNormTerms[] = {
// CXX-NEXT: {kD_A, 20000, 0},
// CXX-NEXT: {kD_B, 9, 3},
// CXX-NEXT: {kD_C, 8, 4},
// CXX-NEXT: };
// CXX: // What adamw updates: parameter, {exp_avg, exp_avg_sq}, gradient, copy in half precision, elements, first
// CXX-NEXT: // span, decay or {decay, parameter group}; each tensor by its offset in bytes.
// CXX-NEXT: DEVICE_TABLE UpdateRow<float, f16, 2> kAdamwUpdates[] = {
// CXX-NEXT: {0, {80128, 160256}, 400000, kNowhere, 20000, 0, true}, // "net.a"
// CXX-NEXT: {240384, {240640, 240896}, {480256, true}, 241152, 9, 3, false}, // "net.b"
// CXX-NEXT: {241408, {241664, 241920}, 480512, kNowhere, 8, 4, {true, 2}}, // "net.c"
// CXX-NEXT: };

// Sums, in their step, with what is printed for each kind.

// CHECK-LABEL: device.step @sums
// CHECK-COUNT-5: device.multi_tensor {
// LONG-LABEL: device.step @sums
// LONG-NOT: device.multi_tensor {

// CXX: // What accumulate works on: to, from, elements, first span; each tensor by its offset in bytes.
// CXX-NEXT: DEVICE_TABLE CopyRow<float, float, f16> kSums[] = {
// CXX-NEXT: {240384, {480256, true}, 9, 0}, // "d net.b"
// CXX-NEXT: {241408, 480512, 8, 1}, // "d net.c"
// CXX: DEVICE_TABLE CopyRow<float, float, float> kSnapshots[] = {
// CXX-NEXT: {240640, 240384, 9, 0}, // "net.b"
// CXX-NEXT: {241664, 241408, 8, 1}, // "net.c"
// CXX: DEVICE_TABLE CopyRow<float, float, float> kRestored[] = {
// CXX-NEXT: {240384, 240640, 9, 0}, // "net.b_exp_avg"
// CXX: DEVICE_TABLE CopyRow<f16, float, float> kHalfCopies[] = {
// CXX-NEXT: {241152, 240384, 9, 0}, // "net.b"
// CXX-NEXT: {242176, 241408, 8, 1}, // "net.c"
// CXX: DEVICE_TABLE CopyRow<float, float, float> kWrittenState[] = {
// CXX-NEXT: {240640, 240384, 9, 0}, // "net.b"
// CXX-NEXT: {241664, 241408, 8, 1}, // "net.c"

// Adafactor works on its rows one after the other, so the host reads the table.
// What muon updates stays as it is.

// CHECK-LABEL: device.step @update
// CHECK: device.multi_tensor {
// CHECK-COUNT-2: device.update "adafactor"
// CHECK-NEXT: {{^ +[}]$}}
// CHECK-NOT: device.multi_tensor

// CXX: // What adafactor updates: parameter, {exp_avg_sq_row, exp_avg_sq_col, exp_avg_sq, exp_avg}, gradient, copy in
// CXX-NEXT: // half precision, {matrices, rows, columns}, decay, scratch memory; each tensor by its offset in bytes.
// CXX-NEXT: constexpr ShapedUpdateRow<float, float, 4> kAdafactorUpdates[] = {
// CXX-NEXT: {241408, {241664, 241920, kNowhere, kNowhere}, 480512, kNowhere, {1, 2, 4}, true, 480768}, // "net.c"
// CXX-NEXT: {240384, {kNowhere, kNowhere, 240640, kNowhere}, 481024, kNowhere, {1, 1, 9}, false, 480768}, // "net.b"
// CXX-NEXT: };

// CXX: static void micro_step(
// CXX: sum_of_squares(ctx, m, kNormTerms, 5, m[kPartials]);
// CXX-NEXT: finish_grad_norm(ctx, state, hyper, m[kPartials], 5);
// CXX-NEXT: begin_adamw(ctx, state, hyper);
// CXX-NEXT: begin_sgd(ctx, state, hyper);
// CXX-NEXT: adamw(ctx, state, m, kAdamwUpdates, 5);
// CXX-NEXT: await(ctx, 0);
// CXX: adamw(ctx, state, m[kC], m[kCExpAvg], m[kCExpAvgSq], m[kD_C], 8, /*decay=*/false);
// CXX: sgd(ctx, state, m[kC], nullptr, m[kD_C], 8, /*decay=*/false);
// CXX: static void prepare(
// CXX: accumulate(ctx, state, m, kSums, 2);
// CXX-NEXT: snapshot(ctx, state, m, kSnapshots, 2);
// CXX-NEXT: restore(ctx, state, m, kRestored, 2);
// CXX-NEXT: refresh(ctx, m, kHalfCopies, 2);
// CXX-NEXT: refresh(ctx, m, kWrittenState, 2);
// CXX: static void update(
// CXX: adafactor(ctx, state, m, kAdafactorUpdates);
// CXX: muon(ctx, state, m[kC]
// CXX: muon(ctx, state, m[kC]

train.variable @net.a parameter : tensor<20000xf32>
train.variable @net.a_exp_avg optimizer_state : tensor<20000xf32> {of = @net.a}
train.variable @net.a_exp_avg_sq optimizer_state : tensor<20000xf32> {of = @net.a}
train.variable @net.b parameter : tensor<9xf32>
train.variable @net.b_exp_avg optimizer_state : tensor<9xf32> {of = @net.b}
train.variable @net.b_exp_avg_sq optimizer_state : tensor<9xf32> {of = @net.b}
train.variable @net.c parameter : tensor<8xf32>
train.variable @net.c_exp_avg optimizer_state : tensor<8xf32> {of = @net.c}
train.variable @net.c_exp_avg_sq optimizer_state : tensor<8xf32> {of = @net.c}
train.variable @net.b_half half_copy : tensor<9xf16> {of = @net.b}
train.variable @net.c_half half_copy : tensor<8xf16> {of = @net.c}
device.memory persistent 262144 arena 262144
device.buffer @a state at 0 : tensor<20000xf32> {origin = "net.a", variable = @net.a}
device.buffer @a_exp_avg state at 80128 : tensor<20000xf32> {origin = "net.a_exp_avg", variable = @net.a_exp_avg}
device.buffer @a_exp_avg_sq state at 160256 : tensor<20000xf32> {origin = "net.a_exp_avg_sq", variable = @net.a_exp_avg_sq}
device.buffer @b state at 240384 : tensor<9xf32> {origin = "net.b", variable = @net.b}
device.buffer @b_exp_avg state at 240640 : tensor<9xf32> {origin = "net.b_exp_avg", variable = @net.b_exp_avg}
device.buffer @b_exp_avg_sq state at 240896 : tensor<9xf32> {origin = "net.b_exp_avg_sq", variable = @net.b_exp_avg_sq}
device.buffer @b_half state at 241152 : tensor<9xf16> {origin = "net.b_half", variable = @net.b_half}
device.buffer @c state at 241408 : tensor<8xf32> {origin = "net.c", variable = @net.c}
device.buffer @c_exp_avg state at 241664 : tensor<8xf32> {origin = "net.c_exp_avg", variable = @net.c_exp_avg}
device.buffer @c_exp_avg_sq state at 241920 : tensor<8xf32> {origin = "net.c_exp_avg_sq", variable = @net.c_exp_avg_sq}
device.buffer @c_half state at 242176 : tensor<8xf16> {origin = "net.c_half", variable = @net.c_half}
device.buffer @d_a arena at 400000 : tensor<20000xf32> live 0 to 9 in @micro_step {origin = "d net.a"}
device.buffer @d_b arena at 480256 : tensor<9xf16> live 0 to 9 in @micro_step {origin = "d net.b"}
device.buffer @d_c arena at 480512 : tensor<8xf32> live 0 to 9 in @micro_step {origin = "d net.c"}
device.buffer @scratch arena at 480768 : tensor<32xf64> live 0 to 9 in @micro_step {origin = "scratch"}
device.buffer @d_b_full arena at 481024 : tensor<9xf32> live 0 to 9 in @micro_step {origin = "d net.b"}
device.buffer @partials arena at 481280 : tensor<16xf64> live 0 to 9 in @micro_step {origin = "norm"}
device.step @micro_step micro {
  %0 = device.address @partials : !device.ptr<f64>
  %1 = device.address @d_a : !device.ptr<f32>
  %2 = device.address @d_b : !device.ptr<f16>
  %3 = device.address @d_c : !device.ptr<f32>
  device.grad_norm %0 over 1, %1, %2, %3 counts [20000, 9, 8] of ["a", "b", "c"] {section = #device.section<optimizer>}
      : !device.ptr<f64>, !device.ptr<f32>, !device.ptr<f16>, !device.ptr<f32>
  %4 = device.address @a : !device.ptr<f32>
  %5 = device.address @d_a : !device.ptr<f32>
  %6 = device.address @a_exp_avg : !device.ptr<f32>
  %7 = device.address @a_exp_avg_sq : !device.ptr<f32>
  device.update "adamw" %4, %5 state ["exp_avg", "exp_avg_sq"](%6, %7) shape [20000] decay {section = #device.section<optimizer>, comment = "net.a"} : !device.ptr<f32>, !device.ptr<f32> state !device.ptr<f32>, !device.ptr<f32>
  %8 = device.address @b : !device.ptr<f32>
  %9 = device.address @d_b : !device.ptr<f16>
  %10 = device.address @b_exp_avg : !device.ptr<f32>
  %11 = device.address @b_exp_avg_sq : !device.ptr<f32>
  %12 = device.address @b_half : !device.ptr<f16>
  device.update "adamw" %8, %9 state ["exp_avg", "exp_avg_sq"](%10, %11) copy %12 shape [9] {section = #device.section<optimizer>, comment = "net.b"} : !device.ptr<f32>, !device.ptr<f16> state !device.ptr<f32>, !device.ptr<f32> copy !device.ptr<f16>
  %13 = device.address @c : !device.ptr<f32>
  %14 = device.address @d_c : !device.ptr<f32>
  %15 = device.address @c_exp_avg : !device.ptr<f32>
  %16 = device.address @c_exp_avg_sq : !device.ptr<f32>
  device.update "adamw" %13, %14 state ["exp_avg", "exp_avg_sq"](%15, %16) shape [8] decay group 2 {section = #device.section<optimizer>, comment = "net.c"} : !device.ptr<f32>, !device.ptr<f32> state !device.ptr<f32>, !device.ptr<f32>
  device.await 0
  %17 = device.address @c : !device.ptr<f32>
  %18 = device.address @d_c : !device.ptr<f32>
  %19 = device.address @c_exp_avg : !device.ptr<f32>
  %20 = device.address @c_exp_avg_sq : !device.ptr<f32>
  device.update "adamw" %17, %18 state ["exp_avg", "exp_avg_sq"](%19, %20) shape [8] {section = #device.section<optimizer>, comment = "net.c"} : !device.ptr<f32>, !device.ptr<f32> state !device.ptr<f32>, !device.ptr<f32>
  %21 = device.address @c : !device.ptr<f32>
  %22 = device.address @d_c : !device.ptr<f32>
  device.update "sgd" %21, %22 shape [8] {section = #device.section<optimizer>, comment = "net.c"} : !device.ptr<f32>, !device.ptr<f32>
}
device.step @sums prepare {
  %23 = device.address @d_b : !device.ptr<f16>
  %24 = device.address @b : !device.ptr<f32>
  device.accumulate %23 into %24 count 9 : !device.ptr<f16>, !device.ptr<f32>
  %25 = device.address @d_c : !device.ptr<f32>
  %26 = device.address @c : !device.ptr<f32>
  device.accumulate %25 into %26 count 8 : !device.ptr<f32>, !device.ptr<f32>
  %27 = device.address @b : !device.ptr<f32>
  %28 = device.address @b_exp_avg : !device.ptr<f32>
  device.snapshot %27 in %28 count 9 : !device.ptr<f32>, !device.ptr<f32>
  %29 = device.address @c : !device.ptr<f32>
  %30 = device.address @c_exp_avg : !device.ptr<f32>
  device.snapshot %29 in %30 count 8 : !device.ptr<f32>, !device.ptr<f32>
  %31 = device.address @b : !device.ptr<f32>
  %32 = device.address @b_exp_avg : !device.ptr<f32>
  device.restore %31 from %32 count 9 : !device.ptr<f32>, !device.ptr<f32>
  %33 = device.address @c : !device.ptr<f32>
  %34 = device.address @c_exp_avg : !device.ptr<f32>
  device.restore %33 from %34 count 8 : !device.ptr<f32>, !device.ptr<f32>
  %35 = device.address @b_half : !device.ptr<f16>
  %36 = device.address @b : !device.ptr<f32>
  device.refresh %35 from %36 count 9 : !device.ptr<f16>, !device.ptr<f32>
  %37 = device.address @c_half : !device.ptr<f16>
  %38 = device.address @c : !device.ptr<f32>
  device.refresh %37 from %38 count 8 : !device.ptr<f16>, !device.ptr<f32>
  %b_state = device.address @b_exp_avg : !device.ptr<f32>
  %b_new = device.address @b : !device.ptr<f32>
  device.refresh %b_state from %b_new count 9 : !device.ptr<f32>, !device.ptr<f32>
  %c_state = device.address @c_exp_avg : !device.ptr<f32>
  %c_new = device.address @c : !device.ptr<f32>
  device.refresh %c_state from %c_new count 8 : !device.ptr<f32>, !device.ptr<f32>
}
device.step @update update {
  %39 = device.address @c : !device.ptr<f32>
  %40 = device.address @d_c : !device.ptr<f32>
  %41 = device.address @c_exp_avg : !device.ptr<f32>
  %42 = device.address @c_exp_avg_sq : !device.ptr<f32>
  %43 = device.address @scratch : !device.ptr<f64>
  device.update "adafactor" %39, %40 state ["exp_avg_sq_row", "exp_avg_sq_col"](%41, %42) scratch %43 shape [2, 4] decay : !device.ptr<f32>, !device.ptr<f32> state !device.ptr<f32>, !device.ptr<f32> scratch !device.ptr<f64>
  %44 = device.address @b : !device.ptr<f32>
  %45 = device.address @d_b_full : !device.ptr<f32>
  %46 = device.address @b_exp_avg : !device.ptr<f32>
  %47 = device.address @scratch : !device.ptr<f64>
  device.update "adafactor" %44, %45 state ["exp_avg_sq"](%46) scratch %47 shape [9] : !device.ptr<f32>, !device.ptr<f32> state !device.ptr<f32> scratch !device.ptr<f64>
  %48 = device.address @c : !device.ptr<f32>
  %49 = device.address @d_c : !device.ptr<f32>
  device.update "muon" %48, %49 shape [2, 4] : !device.ptr<f32>, !device.ptr<f32>
  %50 = device.address @c : !device.ptr<f32>
  %51 = device.address @d_c : !device.ptr<f32>
  device.update "muon" %50, %51 shape [2, 4] : !device.ptr<f32>, !device.ptr<f32>
}
