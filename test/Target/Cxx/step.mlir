// RUN: gpuopt-translate --device-to-cxx %s | FileCheck %s
// RUN: gpuopt-translate --device-to-cxx %s -o %t.1 && gpuopt-translate --device-to-cxx %s -o %t.2 && cmp %t.1 %t.2

// CHECK: constexpr size_t kPersistentBytes = 8192;
// CHECK: // Inputs: written before each micro step.
// CHECK-NEXT: constexpr Buffer<float> kX{2048}; // f32[4,128] "x"
// CHECK: // The arena in micro_step. Live [a, b): in use from call a of the step until before call b.
// CHECK-NEXT: constexpr Buffer<float> kY{8192}; // f32[4,128] "/softmax" live [0, 1)
// CHECK: {{.}}"x", Type::F32, 2, {4, 128}, kX.offset, 2048}
device.memory persistent 8192 arena 65536
device.buffer @x input at 2048 : tensor<4x128xf32> {origin = "x", externalName = "x"}
device.buffer @y arena at 8192 : tensor<4x128xf32> live 0 to 1 in @micro_step {origin = "/softmax"}

// What the kernel's name says already is not said again.
// CHECK: // 4 blocks of 32 threads. For softmax of /fc1.
// CHECK-NEXT: KERNEL LAUNCH_BOUNDS(32) void softmax(const float *RESTRICT x, float *RESTRICT y) {
// CHECK-NEXT: const int64_t b = block();
// CHECK-NEXT: Lanes<float> sums(0.0f);
// CHECK-NEXT: for (int64_t i = first_lane(); i < 128; i += lane_step()) {
// CHECK-NEXT: const int64_t left = 128 - i;
// CHECK-NEXT: sums += masked(exp(load(x + b * 128 + i, left)), left, 0.0f);
// CHECK-NEXT: }
// CHECK-NEXT: const float sum = block_sum(sums);
// CHECK-NEXT: for (int64_t i = first_lane(); i < 128; i += lane_step()) {
// CHECK-NEXT: const int64_t left = 128 - i;
// CHECK-NEXT: store(y + b * 128 + i, exp(load(x + b * 128 + i, left)) / sum, left);
device.kernel @softmax blocks 4 threads 32 ["x", "y"] attributes {comment = "softmax"} {
^bb0(%x: !device.ptr<f32>, %y: !device.ptr<f32>):
  %row = device.block_index
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %sum = device.loop lanes %c0 to %c128 [#device.combiner<sum>] -> (f32) {
  ^bb0(%i: index):
    %v = device.load %x[%row, %i : index, index] strides [128, 1] offset 0 contiguous : !device.ptr<f32> -> f32
    %e = math.exp %v : f32
    device.yield %e : f32
  }
  device.loop lanes %c0 to %c128 [] {
  ^bb0(%i: index):
    %v = device.load %x[%row, %i : index, index] strides [128, 1] offset 0 contiguous : !device.ptr<f32> -> f32
    %e = math.exp %v : f32
    %d = arith.divf %e, %sum : f32
    device.store %d, %y[%row, %i : index, index] strides [128, 1] offset 0 contiguous : f32, !device.ptr<f32>
    device.yield
  }
}

// Constants that are the n-th part of 1 are written so where that is shorter.
// CHECK: // mean of rows. 4 blocks of 32 threads.
// CHECK-NEXT: KERNEL LAUNCH_BOUNDS(32) void parts(const float *RESTRICT x, float *RESTRICT y) {
// CHECK: store(y + b * 128 + i, load(x + b * 128 + i, left) * 0.125f * (1.0f / 768.0f), left);
device.kernel @parts blocks 4 threads 32 ["x", "y"] attributes {comment = "mean of rows"} {
^bb0(%x: !device.ptr<f32>, %y: !device.ptr<f32>):
  %row = device.block_index
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  device.loop lanes %c0 to %c128 [] {
  ^bb0(%i: index):
    %part = arith.constant 0.00130208337 : f32
    %eighth = arith.constant 0.125 : f32
    %v = device.load %x[%row, %i : index, index] strides [128, 1] offset 0 contiguous : !device.ptr<f32> -> f32
    %e = arith.mulf %v, %eighth : f32
    %d = arith.mulf %e, %part : f32
    device.store %d, %y[%row, %i : index, index] strides [128, 1] offset 0 contiguous : f32, !device.ptr<f32>
    device.yield
  }
}

// What one walk computes and another one reads, in the type that it is computed in.
// CHECK: KERNEL LAUNCH_BOUNDS(32) void kept(const bf16 *RESTRICT x, float *RESTRICT y) {
// CHECK: ROW_MEMORY float row[128];
// CHECK: store(row + i, exp_x, left);
// CHECK: store(y + b * 128 + i, load(row + i, left) * sum, left);
device.kernel @kept blocks 4 threads 32 ["x", "y"] {
^bb0(%x: !device.ptr<bf16>, %y: !device.ptr<f32>):
  %b = device.block_index
  %row = device.row 128 : !device.ptr<bf16>
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %sum = device.loop lanes %c0 to %c128 [#device.combiner<sum>] -> (f32) {
  ^bb0(%i: index):
    %v = device.load %x[%b, %i : index, index] strides [128, 1] offset 0 contiguous : !device.ptr<bf16> -> bf16
    %e = math.exp %v : bf16
    device.store %e, %row[%i : index] strides [1] offset 0 contiguous : bf16, !device.ptr<bf16>
    %w = arith.extf %e : bf16 to f32
    device.yield %w : f32
  }
  device.loop lanes %c0 to %c128 [] {
  ^bb0(%i: index):
    %e = device.load %row[%i : index] strides [1] offset 0 contiguous : !device.ptr<bf16> -> bf16
    %w = arith.extf %e : bf16 to f32
    %d = arith.mulf %w, %sum : f32
    device.store %d, %y[%b, %i : index, index] strides [128, 1] offset 0 contiguous : f32, !device.ptr<f32>
    device.yield
  }
}

// CHECK: static void micro_step(Context &context, char *memory) {
// CHECK-NEXT: const Calls ctx{context};
// CHECK-NEXT: const Memory m{memory};
// CHECK-NEXT: StepState *const state = m[kStepState];
// CHECK: // ---- forward
// CHECK: // softmax of /fc1
// CHECK-NEXT: launch(ctx, 4, 32, softmax, m[kX], m[kY]);
device.step @micro_step micro {
  %0 = device.address @x : !device.ptr<f32>
  %1 = device.address @y : !device.ptr<f32>
  device.launch @softmax(%0, %1) {section = #device.section<forward>, comment = "softmax of /fc1"} : !device.ptr<f32>, !device.ptr<f32>
}
// CHECK: p.micro_step = micro_step;
// CHECK: const gpuopt::Program &program() {
