// RUN: gpuopt-opt %s | gpuopt-opt | FileCheck %s
// RUN: gpuopt-opt %s --mlir-print-op-generic | gpuopt-opt | FileCheck %s

device.memory persistent 8192 arena 65536
device.buffer @x input at 256 : tensor<4x128xf32> {origin = "x", externalName = "x"}
device.buffer @y arena at 4096 : tensor<4x128xf32> live 3 to 18 in @micro_step {origin = "/fc1"}
device.kernel @fused_softmax blocks 4 threads 32 ["x", "y"] attributes {comment = "softmax"} {
^bb0(%x: !device.ptr<f32>, %y: !device.ptr<f32>):
  %row = device.block_index
  %kept = device.row 128 : !device.ptr<f32>
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
device.step @micro_step micro {
  %0 = device.address @x : !device.ptr<f32>
  %1 = device.address @y + 128 : !device.ptr<f32>
  device.launch @fused_softmax(%0, %1) {section = #device.section<forward>, comment = "softmax of /fc1"} : !device.ptr<f32>, !device.ptr<f32>
}

// CHECK: device.memory persistent 8192 arena 65536
// CHECK: device.buffer @y arena at 4096 : tensor<4x128xf32> live 3 to 18 in @micro_step {origin = "/fc1"}
// CHECK-LABEL: device.kernel @fused_softmax blocks 4 threads 32 ["x", "y"]
// CHECK: device.row 128 : <f32>
// CHECK: device.loop lanes %{{.*}} to %{{.*}} [#device.combiner<sum>] -> (f32)
// CHECK: device.load %{{.*}}[%{{.*}}, %{{.*}} : index, index] strides [128, 1] offset 0 contiguous
// CHECK-LABEL: device.step @micro_step micro
// CHECK: device.address @y + 128 : <f32>
// CHECK: device.launch @fused_softmax

// What kernels have beside loads and stores.

// CHECK-LABEL: device.kernel @parts
device.kernel @parts blocks 2 threads 32 ["x", "state"] {
^bb0(%x: !device.ptr<i64>, %state: !device.step_state):
  // CHECK: %[[I:.*]] = device.block_index
  %i = device.block_index
  // CHECK: device.delinearize %[[I]] by [4, 8] : index, index
  %b, %t = device.delinearize %i by [4, 8] : index, index
  // CHECK: device.position[%{{.*}}, %{{.*}}] strides [8, 1] offset 3 strided
  %position = device.position [%b, %t] strides [8, 1] offset 3 strided
  // CHECK: device.position[%{{.*}}] strides [8] offset 16 uniform aligned 8
  %aligned = device.position [%b] strides [8] offset 16 uniform aligned 8
  // CHECK: device.in_range "ids" %{{.*}} at %{{.*}} of 16 in %{{.*}}
  %index = device.in_range "ids" %position at %position of 16 in %state
  // CHECK: device.random %{{.*}}, %{{.*}} stream 7 : f32
  %random = device.random %state, %index stream 7 : f32
  // CHECK: device.load %{{.*}}[%{{.*}} : i64] strides [1] offset 0 indirect
  %v = device.load %x[%index : i64] strides [1] offset 0 indirect : !device.ptr<i64> -> i64
}

// Groups of threads, loads ahead, and what is known of places.

// CHECK-LABEL: device.kernel @groups blocks 2 threads 64 groups 8 resident 4 ["x", "y"] aliased [0, 1]
device.kernel @groups blocks 2 threads 64 groups 8 resident 4 ["x", "y"] aliased [0, 1] {
^bb0(%x: !device.ptr<f32>, %y: !device.ptr<f32>):
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  // CHECK: device.loop lanes %{{.*}} to %{{.*}} multiple 16 [] {
  device.loop lanes %c0 to %c32 multiple 16 [] {
  ^bb0(%i: index):
    // CHECK: device.loop row_groups %{{.*}} to %{{.*}} multiple 32 unroll 4 [#device.combiner<sum>] -> (f32)
    %sum = device.loop row_groups %c0 to %c32 multiple 32 unroll 4 [#device.combiner<sum>] -> (f32) {
    ^bb0(%r: index):
      // CHECK: device.load {{.*}} contiguous aligned 16 :
      %v = device.load %x[%r, %i : index, index] strides [32, 1] offset 0 contiguous aligned 16 : !device.ptr<f32> -> f32
      device.yield %v : f32
    }
    // CHECK: device.store {{.*}} contiguous aligned 8 :
    device.store %sum, %y[%i : index] strides [1] offset 8 contiguous aligned 8 : f32, !device.ptr<f32>
    device.yield
  }
  // CHECK: %[[HELD:.*]] = device.row 32 registers : <f32>
  %held = device.row 32 registers : !device.ptr<f32>
  device.loop lanes %c0 to %c32 multiple 16 [] {
  ^bb0(%i: index):
    %own = device.load %held[%i : index] strides [1] offset 0 contiguous aligned 16 : !device.ptr<f32> -> f32
    // CHECK: %[[TOTAL:.*]] = device.combine_groups <sum> %{{.*}} : f32
    %total = device.combine_groups <sum> %own : f32
    // CHECK: device.store %[[TOTAL]]
    device.store %total, %y[%i : index] strides [1] offset 0 contiguous aligned 16 : f32, !device.ptr<f32>
    device.yield
  }
}

// Library calls.

// CHECK-LABEL: device.step @calls forward
device.step @calls forward {
  %a = device.address @y : !device.ptr<f32>
  %i = device.address @i : !device.ptr<i64>
  // CHECK: device.call "gemm"(GemmShape kGemm2x3x4 {batch = [1, 2], m = 2, n = 3, k = 4}, %{{.*}}, %{{.*}}, %{{.*}}, {beta = 1.000000e+00, bias = %{{.*}}}) : !device.ptr<f32>, !device.ptr<f32>, !device.ptr<f32>, !device.ptr<f32>
  device.call "gemm"(GemmShape kGemm2x3x4 {batch = [1, 2], m = 2, n = 3, k = 4}, %a, %a, %a, {beta = 1.0, bias = %a})
      : !device.ptr<f32>, !device.ptr<f32>, !device.ptr<f32>, !device.ptr<f32>
  // CHECK: device.call "nothing"({}, 5.000000e-01, {})
  device.call "nothing"({}, 0.5, {})
  // CHECK: device.call "conv_forward"<f32>(ConvShape kConv3x3 {}, %[[A:.*]], %[[A]], bias = null, %[[A]]) {section = #device.section<forward>}
  device.call "conv_forward"<f32>(ConvShape kConv3x3 {}, %a, %a, bias = null, %a) {section = #device.section<forward>}
      : !device.ptr<f32>, !device.ptr<f32>, !device.ptr<f32>
  // CHECK: device.call "scatter_add_rows"(%[[I:.*]], 8, %[[A]], -16, 4, %[[A]], beta = 0) : !device.ptr<i64>, !device.ptr<f32>, !device.ptr<f32>
  device.call "scatter_add_rows"(%i, 8, %a, -16, 4, %a, beta = 0) : !device.ptr<i64>, !device.ptr<f32>, !device.ptr<f32>
  // CHECK: device.call "sample"(state, %[[A]], scale = 5.000000e-01) from "gpuopt/sample.h" : !device.ptr<f32>
  device.call "sample"(state, %a, scale = 0.5) from "gpuopt/sample.h" : !device.ptr<f32>
  // CHECK: device.call "synchronize"()
  device.call "synchronize"()
  // CHECK: device.copy %{{.*}} to %{{.*}} count 32 {comment = "a view"}
  device.copy %a to %a count 32 {comment = "a view"} : !device.ptr<f32>, !device.ptr<f32>
  // CHECK: device.check_finite %{{.*}} count 32 index 1 name "/fc1" : <f32>
  device.check_finite %a count 32 index 1 name "/fc1" : !device.ptr<f32>
  // CHECK: device.check_finite %{{.*}} count 32 rows [8, 9] index 2 name "/fc2" : <f32>
  device.check_finite %a count 32 rows [8, 9] index 2 name "/fc2" : !device.ptr<f32>
}

// An optimizer that keeps nothing, and one that needs memory for itself.

// CHECK-LABEL: device.step @plain update
device.step @plain update {
  %a = device.address @y : !device.ptr<f32>
  // CHECK: device.update "sgd" %{{.*}}, %{{.*}} shape [32] : <f32>, <f32>
  device.update "sgd" %a, %a shape [32] : !device.ptr<f32>, !device.ptr<f32>
}
// CHECK-LABEL: device.step @scratch update
device.step @scratch update {
  %a = device.address @y : !device.ptr<f32>
  // CHECK: device.update "adafactor" %{{.*}}, %{{.*}} state ["exp_avg_sq"](%{{.*}}) scratch %{{.*}} shape [32] : <f32>, <f32>
  device.update "adafactor" %a, %a state ["exp_avg_sq"](%a) scratch %a shape [32]
      : !device.ptr<f32>, !device.ptr<f32> state !device.ptr<f32> scratch !device.ptr<f32>
}

// Two optimizers in a step, one of which has products inside of its update.

// CHECK-LABEL: device.step @direction update
device.step @direction update {
  %a = device.address @y : !device.ptr<f32>
  // CHECK: device.direction "muon" %{{.*}} to %{{.*}} state ["momentum_buffer"](%{{.*}}) count 32 : <f32>, <f32> state !device.ptr<f32>
  device.direction "muon" %a to %a state ["momentum_buffer"](%a) count 32
      : !device.ptr<f32>, !device.ptr<f32> state !device.ptr<f32>
  // CHECK: device.update "muon" %{{.*}}, %{{.*}} shape [4, 8] decay : <f32>, <f32>
  device.update "muon" %a, %a shape [4, 8] decay : !device.ptr<f32>, !device.ptr<f32>
  device.update "sgd" %a, %a shape [32] : !device.ptr<f32>, !device.ptr<f32>
}

// What ends a step.

// CHECK-LABEL: device.step @ends update
device.step @ends update {
  %a = device.address @y : !device.ptr<f32>
  %h = device.address @h : !device.ptr<f16>
  // CHECK: device.report_loss %{{.*}}, %{{.*}} {section = #device.section<forward>} : <f32>, <f32>
  device.report_loss %a, %a {section = #device.section<forward>} : !device.ptr<f32>, !device.ptr<f32>
  // CHECK: device.report_loss %{{.*}}, %{{.*}} part 1 : <f32>, <f32>
  device.report_loss %a, %a part 1 : !device.ptr<f32>, !device.ptr<f32>
  // CHECK: device.accumulate %{{.*}} into %{{.*}} count 32 : <f32>, <f32>
  device.accumulate %a into %a count 32 : !device.ptr<f32>, !device.ptr<f32>
  // CHECK: device.grad_norm %{{.*}} scale %{{.*}} over 64, %{{.*}}, %{{.*}} counts [4, 8] of ["w", "b"] : <f32> scale !device.ptr<f32>, !device.ptr<f32>, !device.ptr<f32>
  device.grad_norm %a scale %a over 64, %a, %a counts [4, 8] of ["w", "b"]
      : !device.ptr<f32> scale !device.ptr<f32>, !device.ptr<f32>, !device.ptr<f32>
  // CHECK: device.update "adamw" %{{.*}}, %{{.*}} state ["exp_avg", "exp_avg_sq"](%{{.*}}, %{{.*}}) copy %{{.*}} shape [4, 8] decay : <f32>, <f32> state !device.ptr<f32>, !device.ptr<f32> copy !device.ptr<f16>
  device.update "adamw" %a, %a state ["exp_avg", "exp_avg_sq"](%a, %a) copy %h shape [4, 8] decay
      : !device.ptr<f32>, !device.ptr<f32> state !device.ptr<f32>, !device.ptr<f32> copy !device.ptr<f16>
  // CHECK: device.snapshot %{{.*}} in %{{.*}} count 4 : <f32>, <f32>
  device.snapshot %a in %a count 4 : !device.ptr<f32>, !device.ptr<f32>
  // CHECK: device.restore %{{.*}} from %{{.*}} count 4 : <f32>, <f32>
  device.restore %a from %a count 4 : !device.ptr<f32>, !device.ptr<f32>
  // CHECK: device.refresh %{{.*}} from %{{.*}} count 4 : <f16>, <f32>
  device.refresh %h from %a count 4 : !device.ptr<f16>, !device.ptr<f32>
  // CHECK: device.offload %{{.*}} to %{{.*}} count 32 event 0 : <f32>, <f32>
  device.offload %a to %a count 32 event 0 : !device.ptr<f32>, !device.ptr<f32>
  // CHECK: device.reload %{{.*}} to %{{.*}} count 32 event 1 : <f32>, <f32>
  device.reload %a to %a count 32 event 1 : !device.ptr<f32>, !device.ptr<f32>
  // CHECK: device.launch @nothing()
  device.launch @nothing()
  // CHECK: device.await 1
  device.await 1
}

// CHECK-LABEL: device.step @repeats
device.step @repeats micro {
  // CHECK: device.repeat "layers" ["x"] {{\[\[}}@row_a], [@row_b]] {
  device.repeat "layers" ["x"] [[@row_a], [@row_b]] {
    // CHECK: device.column "x" + 2 : <f32>
    %0 = device.column "x" + 2 : !device.ptr<f32>
    // CHECK: device.launch @nothing() {device.iterations = [{comment = "a"}, {comment = "b"}]}
    device.launch @nothing() {device.iterations = [{comment = "a"}, {comment = "b"}]}
  }
  // CHECK: device.repeat "chunks" ["x"] {{\[\[}}@row_a], [#device.slice<@row_a + 2>]] {
  device.repeat "chunks" ["x"] [[@row_a], [#device.slice<@row_a + 2>]] {
    %0 = device.column "x" : !device.ptr<f32>
  }
}

// CHECK-LABEL: device.step @multi_tensor_calls
device.step @multi_tensor_calls micro {
  // CHECK: device.multi_tensor {
  // CHECK-COUNT-2: device.accumulate
  device.multi_tensor {
    %0 = device.address @row_a : !device.ptr<f32>
    %1 = device.address @row_b : !device.ptr<f32>
    device.accumulate %0 into %1 count 4 : !device.ptr<f32>, !device.ptr<f32>
    %2 = device.address @row_a : !device.ptr<f32>
    %3 = device.address @row_b : !device.ptr<f32>
    device.accumulate %2 into %3 count 2 : !device.ptr<f32>, !device.ptr<f32>
  }
}

// CHECK-LABEL: device.step @sums_of_parts
device.step @sums_of_parts micro {
  %0 = device.address @row_a : !device.ptr<f32>
  %1 = device.address @row_b : !device.ptr<f32>
  // CHECK: device.sum_parts %{{.*}} to %{{.*}} count 2 columns 2 : <f32>, <f32>
  device.sum_parts %0 to %1 count 2 columns 2 : !device.ptr<f32>, !device.ptr<f32>
}
device.buffer @row_a arena at 0 : tensor<4xf32> {origin = "x"}
device.buffer @row_b arena at 16 : tensor<4xf32> {origin = "y"}
