// RUN: gpuopt-opt %s | gpuopt-opt | FileCheck %s
// RUN: gpuopt-opt %s --mlir-print-op-generic | gpuopt-opt | FileCheck %s

// CHECK-LABEL: func.func @forwards
func.func @forwards(%x: tensor<70x4x8xf32>, %h0: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<71x4x8xf32> {
  // CHECK: %{{.*}}:2 = nn.scan 70 slices(%{{.*}}) states(%{{.*}}) invariants(%{{.*}}) : (tensor<70x4x8xf32>, tensor<4x8xf32>, tensor<8x8xf32>) -> (tensor<71x4x8xf32>, tensor<70x4x8xf32>) {
  // CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<4x8xf32>, %[[H:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<8x8xf32>):
  // CHECK: nn.yield %{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<4x8xf32>
  %h, %y = nn.scan 70 slices(%x) states(%h0) invariants(%w)
      : (tensor<70x4x8xf32>, tensor<4x8xf32>, tensor<8x8xf32>) -> (tensor<71x4x8xf32>, tensor<70x4x8xf32>) {
  ^bb0(%xi: tensor<4x8xf32>, %hi: tensor<4x8xf32>, %wi: tensor<8x8xf32>):
    %0 = nn.contract "bh,gh->bg" %hi, %wi : tensor<4x8xf32>, tensor<8x8xf32>
    %1 = arith.addf %xi, %0 : tensor<4x8xf32>
    %2 = math.tanh %1 : tensor<4x8xf32>
    nn.yield %2, %1 : tensor<4x8xf32>, tensor<4x8xf32>
  }
  return %h : tensor<71x4x8xf32>
}

// CHECK-LABEL: func.func @backwards
func.func @backwards(%h0: tensor<4xf32>) -> tensor<4x4xf32> {
  // CHECK: nn.scan 3 reverse slices() states(%{{.*}}) invariants() : (tensor<4xf32>) -> tensor<4x4xf32> {
  %h = nn.scan 3 reverse slices() states(%h0) invariants() : (tensor<4xf32>) -> tensor<4x4xf32> {
  ^bb0(%hi: tensor<4xf32>):
    %0 = math.tanh %hi : tensor<4xf32>
    nn.yield %0 : tensor<4xf32>
  }
  return %h : tensor<4x4xf32>
}
