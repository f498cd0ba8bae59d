// RUN: gpuopt-translate --device-to-cxx %s | FileCheck %s

// A loop of calls is a loop over a table. Buffers that it alone addresses are
// declared nowhere else; the one that a call outside reads is.

// The names of the program's tables are taken.
// CHECK-DAG: constexpr Buffer<float> kDefaults_{128};
// CHECK-DAG: constexpr Buffer<float> kOptimizerStates_{64};

// CHECK: Buffers that only loops and calls with tables use are not declared here; their offsets stand in the tables.
// CHECK: struct ForwardLayer {
// CHECK-NEXT:   Buffer<float> fc;  // f32[32] "h.*.fc/addmm_*"
// CHECK-NEXT:   Buffer<float> act; // f32[32] "h.*.act/mul_*"
// CHECK-NEXT: };
// CHECK-NEXT: constexpr ForwardLayer kForwardLayers[] = {
// CHECK-NEXT:     {.fc = 2304, .act = 3072},
// CHECK-NEXT:     {.fc = 2560, .act = 3328},
// CHECK-NEXT:     {.fc = 2816, .act = 3584},
// CHECK-NEXT: };
// A column that moves on within one buffer needs the number of the iteration, and no
// table. What does not move on by as much in each iteration is in one; its slices are
// offsets in bytes (3840 + 4 * 4 = 3856).
// CHECK: struct EvaluationChunk {
// CHECK-NEXT:   Buffer<float> other; // f32[32] "y"
// CHECK-NEXT: };
// CHECK-NEXT: constexpr EvaluationChunk kEvaluationChunks[] = {
// CHECK-NEXT:     {.other = 3856},
// CHECK-NEXT:     {.other = 3840},
// CHECK-NEXT:     {.other = 3840},
// CHECK-NEXT: };

// CHECK: // layers that make the same calls; one that makes others, such as the first, stands outside
// CHECK-NEXT: for (const ForwardLayer &layer : kForwardLayers) {
// CHECK-NEXT:   // h.*.fc/addmm_*
// CHECK-NEXT:   launch(ctx, 1, 32, one, m[kX], m[layer.fc]);
// CHECK-NEXT:   // the same
// CHECK-NEXT:   launch(ctx, 1, 32, one, m[layer.fc] + 16, m[layer.act]);
// CHECK-NEXT: }
// CHECK-NEXT: launch(ctx, 1, 32, fill, m[kX]);
// CHECK: for (int64_t chunk = 0; chunk < 3; ++chunk) {
// CHECK-NEXT:   const EvaluationChunk &buffers = kEvaluationChunks[chunk];
// CHECK-NEXT:   launch(ctx, 1, 32, one, m[kX] + 2 + chunk * 8, m[buffers.other]);
// CHECK-NEXT: }
// CHECK-NEXT: for (int64_t chunk = 0; chunk < 2; ++chunk) {
// CHECK-NEXT:   launch(ctx, 1, 32, one, m[kX], m[kZ] + 16 - chunk * 16);
// CHECK-NEXT: }


device.memory persistent 2048 arena 4096
device.buffer @x arena at 2048 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "x"}
device.buffer @h_0 arena at 2304 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.0.fc/addmm"}
device.buffer @h_1 arena at 2560 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.1.fc/addmm_2"}
device.buffer @h_2 arena at 2816 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.2.fc/addmm_4"}
device.buffer @y arena at 3840 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "y"}
device.buffer @z arena at 3968 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "z"}
device.buffer @a_0 arena at 3072 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.0.act/mul"}
device.buffer @a_1 arena at 3328 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.1.act/mul_3"}
device.buffer @a_2 arena at 3584 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.2.act/mul_5"}

device.buffer @optimizer_states output at 64 : tensor<4xf32> {origin = "optimizer_states", externalName = "a"}
device.buffer @defaults output at 128 : tensor<4xf32> {origin = "defaults", externalName = "b"}

device.kernel @fill blocks 1 threads 32 ["x"] {
^bb0(%x: !device.ptr<f32>):
  %row = device.block_index
}
device.kernel @one blocks 1 threads 32 ["x", "y"] {
^bb0(%x: !device.ptr<f32>, %y: !device.ptr<f32>):
  %row = device.block_index
}

device.step @micro_step micro {
  device.repeat "forward_layers" ["fc", "act"] [[@h_0, @a_0], [@h_1, @a_1], [@h_2, @a_2]] {
    %0 = device.address @x : !device.ptr<f32>
    %1 = device.column "fc" : !device.ptr<f32>
    device.launch @one(%0, %1) {section = #device.section<forward>, device.iterations = [{comment = "h.0.fc/addmm"}, {comment = "h.1.fc/addmm_2"}, {comment = "h.2.fc/addmm_4"}]} : !device.ptr<f32>, !device.ptr<f32>
    %2 = device.column "fc" + 16 : !device.ptr<f32>
    %3 = device.column "act" : !device.ptr<f32>
    device.launch @one(%2, %3) {section = #device.section<forward>, comment = "the same"} : !device.ptr<f32>, !device.ptr<f32>
  }
  %4 = device.address @x : !device.ptr<f32>
  device.launch @fill(%4) {section = #device.section<forward>} : !device.ptr<f32>
}

device.step @evaluate evaluate {
  device.repeat "evaluation_chunks" ["x", "other"] [[@x, #device.slice<@y + 4>], [#device.slice<@x + 8>, @y], [#device.slice<@x + 16>, @y]] {
    %0 = device.column "x" + 2 : !device.ptr<f32>
    %1 = device.column "other" : !device.ptr<f32>
    device.launch @one(%0, %1) : !device.ptr<f32>, !device.ptr<f32>
  }
  device.repeat "evaluation_chunks_2" ["z"] [[#device.slice<@z + 16>], [@z]] {
    %0 = device.address @x : !device.ptr<f32>
    %1 = device.column "z" : !device.ptr<f32>
    device.launch @one(%0, %1) : !device.ptr<f32>, !device.ptr<f32>
  }
}
