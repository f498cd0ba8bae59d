// RUN: gpuopt-opt %s -device-roll-loops | FileCheck %s
// RUN: gpuopt-opt %s -o %t.straight
// RUN: gpuopt-opt %s -device-roll-loops -device-unroll-loops | diff %t.straight -

device.memory persistent 2048 arena 4096
device.buffer @x arena at 2048 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "x"}
device.buffer @y arena at 3840 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "d x"}
device.buffer @h_0 arena at 2304 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.0.fc/addmm"}
device.buffer @h_1 arena at 2560 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.1.fc/addmm_2"}
device.buffer @h_2 arena at 2816 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.2.fc/addmm_4"}
device.buffer @a_0 arena at 3072 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.0.act/mul"}
device.buffer @a_1 arena at 3328 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.1.act/mul_3"}
device.buffer @a_2 arena at 3584 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.2.act/mul_5"}

device.kernel @fill blocks 1 threads 32 ["x"] {
^bb0(%x: !device.ptr<f32>):
  %row = device.block_index
}
device.kernel @one blocks 1 threads 32 ["x", "y"] {
^bb0(%x: !device.ptr<f32>, %y: !device.ptr<f32>):
  %row = device.block_index
}

// Five calls for each of three layers. The mask is the same for all of them,
// the second half of a buffer is an offset in its column, and the names of the
// nodes are kept for each iteration.
// CHECK-LABEL: device.step @micro_step
// CHECK: device.copy
// CHECK: device.repeat "forward_layers" ["fc", "act"] {{\[\[}}@h_0, @a_0], [@h_1, @a_1], [@h_2, @a_2]] {
// CHECK-NEXT: %[[MASK:.*]] = device.address @x
// CHECK-NEXT: %[[FC:.*]] = device.column "fc" : <f32>
// CHECK-NEXT: device.launch @one(%[[MASK]], %[[FC]]) {device.iterations = [{comment = "h.0.fc/addmm"}, {comment = "h.1.fc/addmm_2"}, {comment = "h.2.fc/addmm_4"}], section = #device.section<forward>}
// CHECK-NEXT: %[[HALF:.*]] = device.column "fc" + 16 : <f32>
// CHECK-NEXT: %[[ACT:.*]] = device.column "act" : <f32>
// CHECK-NEXT: device.launch @one(%[[HALF]], %[[ACT]]) {comment = "the same", section = #device.section<forward>}
// CHECK-COUNT-3: device.launch @fill
// CHECK-NOT: device.launch @one
// CHECK: }
// CHECK: device.launch @fill

device.step @micro_step micro {
  %0 = device.address @x : !device.ptr<f32>
  device.copy %0 to %0 count 32 {section = #device.section<forward>} : !device.ptr<f32>, !device.ptr<f32>

  %1 = device.address @x : !device.ptr<f32>
  %2 = device.address @h_0 : !device.ptr<f32>
  device.launch @one(%1, %2) {section = #device.section<forward>, comment = "h.0.fc/addmm"} : !device.ptr<f32>, !device.ptr<f32>
  %3 = device.address @h_0 + 16 : !device.ptr<f32>
  %4 = device.address @a_0 : !device.ptr<f32>
  device.launch @one(%3, %4) {section = #device.section<forward>, comment = "the same"} : !device.ptr<f32>, !device.ptr<f32>
  %5 = device.address @a_0 : !device.ptr<f32>
  device.launch @fill(%5) {section = #device.section<forward>} : !device.ptr<f32>
  %6 = device.address @h_0 : !device.ptr<f32>
  device.launch @fill(%6) {section = #device.section<forward>} : !device.ptr<f32>
  %7 = device.address @x : !device.ptr<f32>
  device.launch @fill(%7) {section = #device.section<forward>} : !device.ptr<f32>

  %11 = device.address @x : !device.ptr<f32>
  %12 = device.address @h_1 : !device.ptr<f32>
  device.launch @one(%11, %12) {section = #device.section<forward>, comment = "h.1.fc/addmm_2"} : !device.ptr<f32>, !device.ptr<f32>
  %13 = device.address @h_1 + 16 : !device.ptr<f32>
  %14 = device.address @a_1 : !device.ptr<f32>
  device.launch @one(%13, %14) {section = #device.section<forward>, comment = "the same"} : !device.ptr<f32>, !device.ptr<f32>
  %15 = device.address @a_1 : !device.ptr<f32>
  device.launch @fill(%15) {section = #device.section<forward>} : !device.ptr<f32>
  %16 = device.address @h_1 : !device.ptr<f32>
  device.launch @fill(%16) {section = #device.section<forward>} : !device.ptr<f32>
  %17 = device.address @x : !device.ptr<f32>
  device.launch @fill(%17) {section = #device.section<forward>} : !device.ptr<f32>

  %21 = device.address @x : !device.ptr<f32>
  %22 = device.address @h_2 : !device.ptr<f32>
  device.launch @one(%21, %22) {section = #device.section<forward>, comment = "h.2.fc/addmm_4"} : !device.ptr<f32>, !device.ptr<f32>
  %23 = device.address @h_2 + 16 : !device.ptr<f32>
  %24 = device.address @a_2 : !device.ptr<f32>
  device.launch @one(%23, %24) {section = #device.section<forward>, comment = "the same"} : !device.ptr<f32>, !device.ptr<f32>
  %25 = device.address @a_2 : !device.ptr<f32>
  device.launch @fill(%25) {section = #device.section<forward>} : !device.ptr<f32>
  %26 = device.address @h_2 : !device.ptr<f32>
  device.launch @fill(%26) {section = #device.section<forward>} : !device.ptr<f32>
  %27 = device.address @x : !device.ptr<f32>
  device.launch @fill(%27) {section = #device.section<forward>} : !device.ptr<f32>

  %31 = device.address @x : !device.ptr<f32>
  device.launch @fill(%31) {section = #device.section<backward>} : !device.ptr<f32>
}

// Two iterations are no loop, and neither is what differs in more than buffers.
// CHECK-LABEL: device.step @evaluate
// CHECK-NOT: device.repeat
device.step @evaluate evaluate {
  %0 = device.address @x : !device.ptr<f32>
  %1 = device.address @h_0 : !device.ptr<f32>
  device.copy %0 to %1 count 1 : !device.ptr<f32>, !device.ptr<f32>
  %2 = device.address @x : !device.ptr<f32>
  %3 = device.address @h_1 : !device.ptr<f32>
  device.copy %2 to %3 count 2 : !device.ptr<f32>, !device.ptr<f32>
  %4 = device.address @x : !device.ptr<f32>
  %5 = device.address @h_2 : !device.ptr<f32>
  device.copy %4 to %5 count 3 : !device.ptr<f32>, !device.ptr<f32>
  %6 = device.address @h_0 : !device.ptr<f32>
  device.launch @fill(%6) : !device.ptr<f32>
  %7 = device.address @h_1 : !device.ptr<f32>
  device.launch @fill(%7) : !device.ptr<f32>
}

// Chunks of one buffer, of which the first one is made in another way, and each
// is copied together with the element behind its beginning. One buffer has its
// chunks in reverse order, and each chunk has a tensor of its own. The names are
// those of one node, which has no layers.
// CHECK-LABEL: device.step @update
// CHECK: device.copy %{{.*}} to %{{.*}} count 4
// CHECK: device.repeat "backward_chunks" ["x", "d_x", "act"]
// CHECK-SAME: {{\[\[}}@x, #device.slice<@y + 16>, @a_0], [#device.slice<@x + 8>, #device.slice<@y + 8>, @a_1], [#device.slice<@x + 16>, @y, @a_2]] {
// CHECK-NEXT: %[[X:.*]] = device.column "x" + 8 : <f32>
// CHECK-NEXT: %[[Y:.*]] = device.column "d_x" : <f32>
// CHECK-NEXT: device.copy %[[X]] to %[[Y]] count 8 {comment = "loss"
// CHECK-NEXT: %[[NEXT:.*]] = device.column "x" + 9 : <f32>
// CHECK-NEXT: %[[A:.*]] = device.column "act" : <f32>
// CHECK-NEXT: device.copy %[[NEXT]] to %[[A]] count 1
// CHECK-COUNT-2: device.launch @fill
// CHECK-NEXT: {{^ +[}]$}}
// CHECK-NEXT: {{^ +[}]$}}
device.step @update update {
  %0 = device.address @x : !device.ptr<f32>
  %1 = device.address @y + 24 : !device.ptr<f32>
  device.copy %0 to %1 count 4 {section = #device.section<backward>, comment = "loss"} : !device.ptr<f32>, !device.ptr<f32>

  %11 = device.address @x + 8 : !device.ptr<f32>
  %12 = device.address @y + 16 : !device.ptr<f32>
  device.copy %11 to %12 count 8 {section = #device.section<backward>, comment = "loss"} : !device.ptr<f32>, !device.ptr<f32>
  %13 = device.address @x + 9 : !device.ptr<f32>
  %14 = device.address @a_0 : !device.ptr<f32>
  device.copy %13 to %14 count 1 {section = #device.section<backward>, comment = "loss"} : !device.ptr<f32>, !device.ptr<f32>
  %15 = device.address @a_0 : !device.ptr<f32>
  device.launch @fill(%15) {section = #device.section<backward>} : !device.ptr<f32>
  %16 = device.address @x : !device.ptr<f32>
  device.launch @fill(%16) {section = #device.section<backward>} : !device.ptr<f32>

  %17 = device.address @x + 16 : !device.ptr<f32>
  %18 = device.address @y + 8 : !device.ptr<f32>
  device.copy %17 to %18 count 8 {section = #device.section<backward>, comment = "loss"} : !device.ptr<f32>, !device.ptr<f32>
  %19 = device.address @x + 17 : !device.ptr<f32>
  %20 = device.address @a_1 : !device.ptr<f32>
  device.copy %19 to %20 count 1 {section = #device.section<backward>, comment = "loss"} : !device.ptr<f32>, !device.ptr<f32>
  %21 = device.address @a_1 : !device.ptr<f32>
  device.launch @fill(%21) {section = #device.section<backward>} : !device.ptr<f32>
  %22 = device.address @x : !device.ptr<f32>
  device.launch @fill(%22) {section = #device.section<backward>} : !device.ptr<f32>

  %23 = device.address @x + 24 : !device.ptr<f32>
  %24 = device.address @y : !device.ptr<f32>
  device.copy %23 to %24 count 8 {section = #device.section<backward>, comment = "loss"} : !device.ptr<f32>, !device.ptr<f32>
  %25 = device.address @x + 25 : !device.ptr<f32>
  %26 = device.address @a_2 : !device.ptr<f32>
  device.copy %25 to %26 count 1 {section = #device.section<backward>, comment = "loss"} : !device.ptr<f32>, !device.ptr<f32>
  %27 = device.address @a_2 : !device.ptr<f32>
  device.launch @fill(%27) {section = #device.section<backward>} : !device.ptr<f32>
  %28 = device.address @x : !device.ptr<f32>
  device.launch @fill(%28) {section = #device.section<backward>} : !device.ptr<f32>
}
