// RUN: gpuopt-opt %s -device-roll-loops | FileCheck %s
// RUN: gpuopt-opt %s -o %t.straight
// RUN: gpuopt-opt %s -device-roll-loops -device-unroll-loops | diff %t.straight -
// RUN: gpuopt-opt %s -device-roll-loops | gpuopt-translate --device-to-cxx | FileCheck %s --check-prefix=CXX

// Four layers, of which the second and the third recompute what the others have
// saved, and two chains of layers behind a copy, of which one layer does. All are
// loops of one function. What is recomputed is in the column of what is read.
// The call stands under a condition, and a layer that does not make it needs no
// bias; the cell that stands there then is that of a layer which does.
// CHECK-LABEL: device.step @micro_step
// CHECK: device.repeat "backward_layers" ["x", "ln", "ln_bias"]
// CHECK-SAME: {{\[\[}}@x_0, @y_0, @b_1], [@x_1, @y_1, @b_1], [@x_2, @y_2, @b_2], [@x_3, @y_3, @b_1]] function "backward_layer" {
// CHECK: device.launch @fill(%{{.*}}) blocks 1
// CHECK: %[[BIAS:.*]] = device.column "ln_bias"
// CHECK-NEXT: %[[LN:.*]] = device.column "ln"
// CHECK-NEXT: device.launch @copy(%[[BIAS]], %[[LN]]) blocks 2
// CHECK-SAME: device.iterations = [{skips = "recomputes_ln"}, {comment = "h.1.ln/norm_1 again: frees 1 B", makes = "recomputes_ln"}
// CHECK-SAME: {comment = "h.2.ln/norm_2 again: frees 1 B", makes = "recomputes_ln"}, {skips = "recomputes_ln"}]
// CHECK: device.launch @copy(%{{.*}}) blocks 3
// CHECK: device.repeat "backward_layers_2" ["x", "ln", "ln_bias"]
// CHECK-SAME: {{\[\[}}@x_4, @y_4, @b_5], [@x_5, @y_5, @b_5], [@x_6, @y_6, @b_5]] function "backward_layer" {

// CXX: struct BackwardLayer {
// CXX-NEXT:   bool recomputes_ln; // "h.*.ln/norm_*"
// CXX-NEXT:   Buffer<float> x; // f32[32] "h.*.x"
// CXX: constexpr BackwardLayer kBackwardLayers[] = {
// CXX-NEXT:     {.recomputes_ln = false, .x = 1024, .ln = 2816, .ln_bias = kNowhere},
// CXX-NEXT:     {.recomputes_ln = true, .x = 1280, .ln = 3072, .ln_bias = 4864},
// CXX: static void backward_layer(
// CXX:   launch(ctx, 1, 32, fill, m[layer.x]);
// CXX-NEXT:   if (layer.recomputes_ln) {
// CXX-NEXT:     // h.*.ln/norm_* again: frees 1 B
// CXX-NEXT:     launch(ctx, 2, 32, copy_, m[layer.ln_bias], m[layer.ln]);
// CXX-NEXT:   }
// CXX-NEXT:   launch(ctx, 3, 32, copy_, m[layer.ln], m[layer.x]);

device.memory persistent 1024 arena 5632
device.buffer @x_0 arena at 1024 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.0.x"}
device.buffer @x_1 arena at 1280 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.1.x"}
device.buffer @x_2 arena at 1536 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.2.x"}
device.buffer @x_3 arena at 1792 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.3.x"}
device.buffer @x_4 arena at 2048 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.4.x"}
device.buffer @x_5 arena at 2304 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.5.x"}
device.buffer @x_6 arena at 2560 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.6.x"}
device.buffer @y_0 arena at 2816 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.0.ln/norm_0"}
device.buffer @y_1 arena at 3072 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.1.ln/norm_1"}
device.buffer @y_2 arena at 3328 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.2.ln/norm_2"}
device.buffer @y_3 arena at 3584 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.3.ln/norm_3"}
device.buffer @y_4 arena at 3840 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.4.ln/norm_4"}
device.buffer @y_5 arena at 4096 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.5.ln/norm_5"}
device.buffer @y_6 arena at 4352 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.6.ln/norm_6"}
device.buffer @b_0 arena at 4608 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.0.ln.bias"}
device.buffer @b_1 arena at 4864 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.1.ln.bias"}
device.buffer @b_2 arena at 5120 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.2.ln.bias"}
device.buffer @b_3 arena at 5376 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.3.ln.bias"}
device.buffer @b_4 arena at 5632 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.4.ln.bias"}
device.buffer @b_5 arena at 5888 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.5.ln.bias"}
device.buffer @b_6 arena at 6144 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.6.ln.bias"}
device.kernel @fill blocks 1 threads 32 ["x"] {
^bb0(%x: !device.ptr<f32>):
  %row = device.block_index
}
device.kernel @copy blocks 1 threads 32 ["x", "y"] {
^bb0(%x: !device.ptr<f32>, %y: !device.ptr<f32>):
  %row = device.block_index
}

device.step @micro_step micro {
  %0 = device.address @x_0 : !device.ptr<f32>
  device.launch @fill(%0) blocks 1 {section = #device.section<backward>} : !device.ptr<f32>
  %1 = device.address @y_0 : !device.ptr<f32>
  %2 = device.address @x_0 : !device.ptr<f32>
  device.launch @copy(%1, %2) blocks 3 {section = #device.section<backward>} : !device.ptr<f32>, !device.ptr<f32>
  %3 = device.address @x_0 : !device.ptr<f32>
  device.launch @fill(%3) blocks 4 {section = #device.section<backward>} : !device.ptr<f32>
  %4 = device.address @y_0 : !device.ptr<f32>
  device.launch @fill(%4) blocks 5 {section = #device.section<backward>} : !device.ptr<f32>
  %5 = device.address @x_1 : !device.ptr<f32>
  device.launch @fill(%5) blocks 1 {section = #device.section<backward>} : !device.ptr<f32>
  %6 = device.address @b_1 : !device.ptr<f32>
  %7 = device.address @y_1 : !device.ptr<f32>
  device.launch @copy(%6, %7) blocks 2 {comment = "h.1.ln/norm_1 again: frees 1 B", device.recomputed, section = #device.section<backward>} : !device.ptr<f32>, !device.ptr<f32>
  %8 = device.address @y_1 : !device.ptr<f32>
  %9 = device.address @x_1 : !device.ptr<f32>
  device.launch @copy(%8, %9) blocks 3 {section = #device.section<backward>} : !device.ptr<f32>, !device.ptr<f32>
  %10 = device.address @x_1 : !device.ptr<f32>
  device.launch @fill(%10) blocks 4 {section = #device.section<backward>} : !device.ptr<f32>
  %11 = device.address @y_1 : !device.ptr<f32>
  device.launch @fill(%11) blocks 5 {section = #device.section<backward>} : !device.ptr<f32>
  %12 = device.address @x_2 : !device.ptr<f32>
  device.launch @fill(%12) blocks 1 {section = #device.section<backward>} : !device.ptr<f32>
  %13 = device.address @b_2 : !device.ptr<f32>
  %14 = device.address @y_2 : !device.ptr<f32>
  device.launch @copy(%13, %14) blocks 2 {comment = "h.2.ln/norm_2 again: frees 1 B", device.recomputed, section = #device.section<backward>} : !device.ptr<f32>, !device.ptr<f32>
  %15 = device.address @y_2 : !device.ptr<f32>
  %16 = device.address @x_2 : !device.ptr<f32>
  device.launch @copy(%15, %16) blocks 3 {section = #device.section<backward>} : !device.ptr<f32>, !device.ptr<f32>
  %17 = device.address @x_2 : !device.ptr<f32>
  device.launch @fill(%17) blocks 4 {section = #device.section<backward>} : !device.ptr<f32>
  %18 = device.address @y_2 : !device.ptr<f32>
  device.launch @fill(%18) blocks 5 {section = #device.section<backward>} : !device.ptr<f32>
  %19 = device.address @x_3 : !device.ptr<f32>
  device.launch @fill(%19) blocks 1 {section = #device.section<backward>} : !device.ptr<f32>
  %20 = device.address @y_3 : !device.ptr<f32>
  %21 = device.address @x_3 : !device.ptr<f32>
  device.launch @copy(%20, %21) blocks 3 {section = #device.section<backward>} : !device.ptr<f32>, !device.ptr<f32>
  %22 = device.address @x_3 : !device.ptr<f32>
  device.launch @fill(%22) blocks 4 {section = #device.section<backward>} : !device.ptr<f32>
  %23 = device.address @y_3 : !device.ptr<f32>
  device.launch @fill(%23) blocks 5 {section = #device.section<backward>} : !device.ptr<f32>
  %24 = device.address @x_0 : !device.ptr<f32>
  %25 = device.address @x_1 : !device.ptr<f32>
  device.copy %24 to %25 count 32 {section = #device.section<backward>} : !device.ptr<f32>, !device.ptr<f32>
  %26 = device.address @x_4 : !device.ptr<f32>
  device.launch @fill(%26) blocks 1 {section = #device.section<backward>} : !device.ptr<f32>
  %27 = device.address @y_4 : !device.ptr<f32>
  %28 = device.address @x_4 : !device.ptr<f32>
  device.launch @copy(%27, %28) blocks 3 {section = #device.section<backward>} : !device.ptr<f32>, !device.ptr<f32>
  %29 = device.address @x_4 : !device.ptr<f32>
  device.launch @fill(%29) blocks 4 {section = #device.section<backward>} : !device.ptr<f32>
  %30 = device.address @y_4 : !device.ptr<f32>
  device.launch @fill(%30) blocks 5 {section = #device.section<backward>} : !device.ptr<f32>
  %31 = device.address @x_5 : !device.ptr<f32>
  device.launch @fill(%31) blocks 1 {section = #device.section<backward>} : !device.ptr<f32>
  %32 = device.address @b_5 : !device.ptr<f32>
  %33 = device.address @y_5 : !device.ptr<f32>
  device.launch @copy(%32, %33) blocks 2 {comment = "h.5.ln/norm_5 again: frees 1 B", device.recomputed, section = #device.section<backward>} : !device.ptr<f32>, !device.ptr<f32>
  %34 = device.address @y_5 : !device.ptr<f32>
  %35 = device.address @x_5 : !device.ptr<f32>
  device.launch @copy(%34, %35) blocks 3 {section = #device.section<backward>} : !device.ptr<f32>, !device.ptr<f32>
  %36 = device.address @x_5 : !device.ptr<f32>
  device.launch @fill(%36) blocks 4 {section = #device.section<backward>} : !device.ptr<f32>
  %37 = device.address @y_5 : !device.ptr<f32>
  device.launch @fill(%37) blocks 5 {section = #device.section<backward>} : !device.ptr<f32>
  %38 = device.address @x_6 : !device.ptr<f32>
  device.launch @fill(%38) blocks 1 {section = #device.section<backward>} : !device.ptr<f32>
  %39 = device.address @y_6 : !device.ptr<f32>
  %40 = device.address @x_6 : !device.ptr<f32>
  device.launch @copy(%39, %40) blocks 3 {section = #device.section<backward>} : !device.ptr<f32>, !device.ptr<f32>
  %41 = device.address @x_6 : !device.ptr<f32>
  device.launch @fill(%41) blocks 4 {section = #device.section<backward>} : !device.ptr<f32>
  %42 = device.address @y_6 : !device.ptr<f32>
  device.launch @fill(%42) blocks 5 {section = #device.section<backward>} : !device.ptr<f32>
}
