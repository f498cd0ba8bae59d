// RUN: gpuopt-opt %s -device-roll-loops | FileCheck %s
// RUN: gpuopt-opt %s -o %t.straight
// RUN: gpuopt-opt %s -device-roll-loops -device-unroll-loops | diff %t.straight -
// RUN: gpuopt-opt %s -device-roll-loops | gpuopt-translate --device-to-cxx | FileCheck %s --check-prefix=CXX

// Four calls for each layer, which a copy interrupts twice, both times between
// the second and the third call. The loop between the copies can begin only with
// the third call. The loop before them could begin with any call; it begins with
// the third one, too, so that both have the same calls and share a function. The
// calls before the first loop and behind the last one stay as they are.
// CHECK-LABEL: device.step @micro_step
// CHECK: device.launch @fill(%{{.*}}) blocks 1
// CHECK: device.launch @fill(%{{.*}}) blocks 2
// CHECK-NOT: device.launch
// CHECK: device.repeat "forward_layers" ["x", "x_2"]
// CHECK-SAME: {{\[\[}}@l_0, @l_1], [@l_1, @l_2], [@l_2, @l_3]] function "forward_layer" {
// CHECK-NEXT: device.column "x" :
// CHECK-NEXT: device.launch @fill(%{{.*}}) blocks 3
// CHECK-NEXT: device.column "x" :
// CHECK-NEXT: device.launch @fill(%{{.*}}) blocks 4
// CHECK-NEXT: device.column "x_2" :
// CHECK-NEXT: device.launch @fill(%{{.*}}) blocks 1
// CHECK-NEXT: device.column "x_2" :
// CHECK-NEXT: device.launch @fill(%{{.*}}) blocks 2
// CHECK-NEXT: {{^ +[}]$}}
// CHECK: device.copy
// CHECK: device.repeat "forward_layers_2" ["x", "x_2"]
// CHECK-SAME: {{\[\[}}@l_3, @l_4], [@l_4, @l_5], [@l_5, @l_6]] function "forward_layer" {
// CHECK: }
// CHECK: device.copy
// CHECK: device.launch @fill(%{{.*}}) blocks 3
// CHECK: device.launch @fill(%{{.*}}) blocks 4

// The rows of both tables have one type, and the calls are written once.
// CXX: struct ForwardLayer {
// CXX-NEXT:   Buffer<float> x;
// CXX-NEXT:   Buffer<float> x_2;
// CXX-NEXT: };
// CXX-NEXT: constexpr ForwardLayer kForwardLayers[] = {
// CXX-NEXT:     {.x = 1024, .x_2 = 1280},
// CXX: constexpr ForwardLayer kForwardLayers2[] = {
// CXX-NEXT:     {.x = 1792, .x_2 = 2048},
// CXX: static void forward_layer(const Calls &ctx, const Memory m, const ForwardLayer &layer) {
// CXX-NEXT:   launch(ctx, 3, 32, fill, m[layer.x]);
// CXX-NEXT:   launch(ctx, 4, 32, fill, m[layer.x]);
// CXX-NEXT:   launch(ctx, 1, 32, fill, m[layer.x_2]);
// CXX-NEXT:   launch(ctx, 2, 32, fill, m[layer.x_2]);
// CXX-NEXT: }
// CXX: void micro_step(
// CXX: for (const ForwardLayer &layer : kForwardLayers) {
// CXX-NEXT:   forward_layer(ctx, m, layer);
// CXX-NEXT: }
// CXX-NEXT: copy(
// CXX-NEXT: for (const ForwardLayer &layer : kForwardLayers2) {
// CXX-NEXT:   forward_layer(ctx, m, layer);
// CXX-NEXT: }
// CXX-NEXT: copy(
// CXX-NOT: forward_layer

device.memory persistent 1024 arena 2048
device.buffer @l_0 arena at 1024 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.0"}
device.buffer @l_1 arena at 1280 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.1"}
device.buffer @l_2 arena at 1536 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.2"}
device.buffer @l_3 arena at 1792 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.3"}
device.buffer @l_4 arena at 2048 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.4"}
device.buffer @l_5 arena at 2304 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.5"}
device.buffer @l_6 arena at 2560 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.6"}
device.kernel @fill blocks 1 threads 32 ["x"] {
^bb0(%x: !device.ptr<f32>):
  %row = device.block_index
}

device.step @micro_step micro {
  %0 = device.address @l_0 : !device.ptr<f32>
  device.launch @fill(%0) blocks 1 {section = #device.section<forward>} : !device.ptr<f32>
  %1 = device.address @l_0 : !device.ptr<f32>
  device.launch @fill(%1) blocks 2 {section = #device.section<forward>} : !device.ptr<f32>
  %2 = device.address @l_0 : !device.ptr<f32>
  device.launch @fill(%2) blocks 3 {section = #device.section<forward>} : !device.ptr<f32>
  %3 = device.address @l_0 : !device.ptr<f32>
  device.launch @fill(%3) blocks 4 {section = #device.section<forward>} : !device.ptr<f32>
  %4 = device.address @l_1 : !device.ptr<f32>
  device.launch @fill(%4) blocks 1 {section = #device.section<forward>} : !device.ptr<f32>
  %5 = device.address @l_1 : !device.ptr<f32>
  device.launch @fill(%5) blocks 2 {section = #device.section<forward>} : !device.ptr<f32>
  %6 = device.address @l_1 : !device.ptr<f32>
  device.launch @fill(%6) blocks 3 {section = #device.section<forward>} : !device.ptr<f32>
  %7 = device.address @l_1 : !device.ptr<f32>
  device.launch @fill(%7) blocks 4 {section = #device.section<forward>} : !device.ptr<f32>
  %8 = device.address @l_2 : !device.ptr<f32>
  device.launch @fill(%8) blocks 1 {section = #device.section<forward>} : !device.ptr<f32>
  %9 = device.address @l_2 : !device.ptr<f32>
  device.launch @fill(%9) blocks 2 {section = #device.section<forward>} : !device.ptr<f32>
  %10 = device.address @l_2 : !device.ptr<f32>
  device.launch @fill(%10) blocks 3 {section = #device.section<forward>} : !device.ptr<f32>
  %11 = device.address @l_2 : !device.ptr<f32>
  device.launch @fill(%11) blocks 4 {section = #device.section<forward>} : !device.ptr<f32>
  %12 = device.address @l_3 : !device.ptr<f32>
  device.launch @fill(%12) blocks 1 {section = #device.section<forward>} : !device.ptr<f32>
  %13 = device.address @l_3 : !device.ptr<f32>
  device.launch @fill(%13) blocks 2 {section = #device.section<forward>} : !device.ptr<f32>
  %14 = device.address @l_0 : !device.ptr<f32>
  %15 = device.address @l_1 : !device.ptr<f32>
  device.copy %14 to %15 count 32 {section = #device.section<forward>} : !device.ptr<f32>, !device.ptr<f32>
  %16 = device.address @l_3 : !device.ptr<f32>
  device.launch @fill(%16) blocks 3 {section = #device.section<forward>} : !device.ptr<f32>
  %17 = device.address @l_3 : !device.ptr<f32>
  device.launch @fill(%17) blocks 4 {section = #device.section<forward>} : !device.ptr<f32>
  %18 = device.address @l_4 : !device.ptr<f32>
  device.launch @fill(%18) blocks 1 {section = #device.section<forward>} : !device.ptr<f32>
  %19 = device.address @l_4 : !device.ptr<f32>
  device.launch @fill(%19) blocks 2 {section = #device.section<forward>} : !device.ptr<f32>
  %20 = device.address @l_4 : !device.ptr<f32>
  device.launch @fill(%20) blocks 3 {section = #device.section<forward>} : !device.ptr<f32>
  %21 = device.address @l_4 : !device.ptr<f32>
  device.launch @fill(%21) blocks 4 {section = #device.section<forward>} : !device.ptr<f32>
  %22 = device.address @l_5 : !device.ptr<f32>
  device.launch @fill(%22) blocks 1 {section = #device.section<forward>} : !device.ptr<f32>
  %23 = device.address @l_5 : !device.ptr<f32>
  device.launch @fill(%23) blocks 2 {section = #device.section<forward>} : !device.ptr<f32>
  %24 = device.address @l_5 : !device.ptr<f32>
  device.launch @fill(%24) blocks 3 {section = #device.section<forward>} : !device.ptr<f32>
  %25 = device.address @l_5 : !device.ptr<f32>
  device.launch @fill(%25) blocks 4 {section = #device.section<forward>} : !device.ptr<f32>
  %26 = device.address @l_6 : !device.ptr<f32>
  device.launch @fill(%26) blocks 1 {section = #device.section<forward>} : !device.ptr<f32>
  %27 = device.address @l_6 : !device.ptr<f32>
  device.launch @fill(%27) blocks 2 {section = #device.section<forward>} : !device.ptr<f32>
  %28 = device.address @l_0 : !device.ptr<f32>
  %29 = device.address @l_1 : !device.ptr<f32>
  device.copy %28 to %29 count 32 {section = #device.section<forward>} : !device.ptr<f32>, !device.ptr<f32>
  %30 = device.address @l_6 : !device.ptr<f32>
  device.launch @fill(%30) blocks 3 {section = #device.section<forward>} : !device.ptr<f32>
  %31 = device.address @l_6 : !device.ptr<f32>
  device.launch @fill(%31) blocks 4 {section = #device.section<forward>} : !device.ptr<f32>
}
