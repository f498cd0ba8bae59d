// RUN: gpuopt-opt %s --kernels-form-clusters --kernels-materialize-views --verify-clusters --train-plan-memory --verify-memory \
// RUN:   -o %t.memory
// RUN: FileCheck %s --check-prefix=MEMORY < %t.memory
// RUN: gpuopt-opt %t.memory --convert-to-device --verify-device -o %t.device
// RUN: FileCheck %s < %t.device
// RUN: gpuopt-translate %t.device --device-to-cxx | FileCheck %s --check-prefix=CXX
// RUN: gpuopt-opt %t.device --device-unroll-loops --verify-device | FileCheck %s --check-prefix=ITERATIONS

// The history and the sums have places of their own, and then the product of a
// iteration, which all iterations use.
// MEMORY: nn.scan 3 reverse {{.*}} {train.offsets = array<i64: {{[0-9]+}}, {{[0-9]+}}, {{[0-9]+}}>}

// CHECK: device.buffer @contract arena at {{[0-9]+}} : tensor<4x8xf32> live 0 to 1 in @forward
// The initial state is entry 3 of the history, behind 3 * 4 * 8 elements.
// CHECK: device.address @scan + 96
// CHECK: device.copy
// CHECK: device.repeat "forward_iterations" ["x", "scan", "scan_next", "scan_2"]
// CHECK-SAME: {{\[\[}}#device.slice<@x + 64>, #device.slice<@scan + 96>, #device.slice<@scan + 64>, #device.slice<@scan_2 + 64>],
// CHECK-SAME: [#device.slice<@x + 32>, #device.slice<@scan + 64>, #device.slice<@scan + 32>, #device.slice<@scan_2 + 32>],
// CHECK-SAME: [@x, #device.slice<@scan + 32>, @scan, @scan_2]]
// CHECK: %[[BEFORE:.*]] = device.column "scan"
// CHECK: %[[W:.*]] = device.address @w
// CHECK: %[[PRODUCT:.*]] = device.address @contract
// CHECK: device.call "gemm"({{.*}}, %[[BEFORE]], %[[W]], %[[PRODUCT]])
// CHECK: %[[X:.*]] = device.column "x"
// CHECK: %[[READ:.*]] = device.address @contract
// CHECK: %[[Y:.*]] = device.column "scan_2"
// CHECK: %[[AFTER:.*]] = device.column "scan_next"
// CHECK: device.launch @{{.*}}(%[[X]], %[[READ]], %[[Y]], %[[AFTER]])

// CXX: copy(ctx, m[k[[H:[A-Za-z0-9]+]]] + 96, m[kH0], 32 * sizeof(float));
// CXX: for (int64_t iteration = 0; iteration < 3; ++iteration) {
// CXX: gemm(ctx, {{.*}}, m[k[[H]]] + 96 - iteration * 32, m[kW], m[kContract]);
// CXX: launch(ctx, {{.*}}, m[kX] + 64 - iteration * 32, m[kContract],

// ITERATIONS-COUNT-3: device.call "gemm"
// ITERATIONS-NOT: device.call "gemm"
train.step @forward forward ("x" %x: tensor<3x4x8xf32>, "h0" %h0: tensor<4x8xf32>, "w" %w: tensor<8x8xf32>) {
  %h, %y = nn.scan 3 reverse slices(%x) states(%h0) invariants(%w)
      : (tensor<3x4x8xf32>, tensor<4x8xf32>, tensor<8x8xf32>) -> (tensor<4x4x8xf32>, tensor<3x4x8xf32>) {
  ^bb0(%xi: tensor<4x8xf32>, %hi: tensor<4x8xf32>, %wi: tensor<8x8xf32>):
    %0 = nn.contract "bh,gh->bg" %hi, %wi : tensor<4x8xf32>, tensor<8x8xf32>
    %1 = arith.addf %xi, %0 : tensor<4x8xf32>
    %2 = math.tanh %1 : tensor<4x8xf32>
    nn.yield %2, %1 : tensor<4x8xf32>, tensor<4x8xf32>
  }
  train.output "h", %h : tensor<4x4x8xf32>
  train.output "y", %y : tensor<3x4x8xf32>
}
