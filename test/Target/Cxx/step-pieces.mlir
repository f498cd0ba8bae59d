// RUN: gpuopt-translate --device-to-cxx --device-to-cxx-calls-per-function=4 %s | FileCheck %s
// RUN: gpuopt-translate --device-to-cxx %s | FileCheck %s --check-prefix=WHOLE

// Five calls are more than the four that a function may have. A piece ends with
// its section, or behind a node that makes it longer than 4 * 3 / 8 = 1 call: the
// two calls of "a" stay together, and each other node is a piece by itself.
// CHECK-LABEL: static void forward_1(const Calls &ctx, const Memory m) {
// CHECK-NOT: ----
// CHECK-COUNT-2: copy(ctx,
// CHECK: {{^}$}}
// CHECK-LABEL: static void forward_2(
// CHECK-NOT: ----
// CHECK-COUNT-1: copy(ctx,
// CHECK: {{^}$}}
// CHECK-LABEL: static void backward_1(
// CHECK-NOT: ----
// CHECK-COUNT-1: copy(ctx,
// CHECK: {{^}$}}
// CHECK-LABEL: static void backward_2(
// CHECK-NOT: ----
// CHECK-COUNT-1: copy(ctx,
// CHECK: {{^}$}}
// CHECK-LABEL: void micro_step(
// CHECK: forward_1(ctx, m);
// CHECK-NEXT: forward_2(ctx, m);
// CHECK-NEXT: backward_1(ctx, m);
// CHECK-NEXT: backward_2(ctx, m);

// One function has a heading for each section.
// WHOLE-NOT: forward_1
// WHOLE: // ---- forward
// WHOLE-COUNT-3: copy(ctx,
// WHOLE: // ---- backward
// WHOLE-COUNT-2: copy(ctx,
device.memory persistent 2560 arena 256
device.buffer @x input at 2048 : tensor<8xf32> {externalName = "x", origin = "x"}
device.buffer @y output at 2304 : tensor<8xf32> {externalName = "y", origin = "y"}
device.step @micro_step micro {
  %0 = device.address @x : !device.ptr<f32>
  %1 = device.address @y : !device.ptr<f32>
  device.copy %0 to %1 count 8 {section = #device.section<forward>, comment = "a"} : !device.ptr<f32>, !device.ptr<f32>
  %2 = device.address @x : !device.ptr<f32>
  %3 = device.address @y : !device.ptr<f32>
  device.copy %2 to %3 count 7 {section = #device.section<forward>, comment = "a"} : !device.ptr<f32>, !device.ptr<f32>
  %4 = device.address @x : !device.ptr<f32>
  %5 = device.address @y : !device.ptr<f32>
  device.copy %4 to %5 count 6 {section = #device.section<forward>, comment = "b"} : !device.ptr<f32>, !device.ptr<f32>
  %6 = device.address @x : !device.ptr<f32>
  %7 = device.address @y : !device.ptr<f32>
  device.copy %6 to %7 count 5 {section = #device.section<backward>, comment = "b"} : !device.ptr<f32>, !device.ptr<f32>
  %8 = device.address @x : !device.ptr<f32>
  %9 = device.address @y : !device.ptr<f32>
  device.copy %8 to %9 count 4 {section = #device.section<backward>, comment = "c"} : !device.ptr<f32>, !device.ptr<f32>
}
