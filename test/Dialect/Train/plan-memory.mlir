// RUN: gpuopt-opt %s --train-plan-memory | FileCheck %s

// Both results live while the second is made; the input is not of the arena.

// CHECK-LABEL: train.step @two
// CHECK: nn.fused "tanh" {{.*}}train.offsets = array<i64: [[FIRST:0|512]]>
// CHECK: nn.fused "exp" {{.*}}train.offsets = array<i64: [[SECOND:0|512]]>
train.step @two micro ("x" %x: tensor<8x16xf32>) {
  %0 = nn.fused "tanh" %x : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %2 = math.tanh %a : tensor<8x16xf32>
    nn.yield %2 : tensor<8x16xf32>
  }
  %1 = nn.fused "exp" %0 : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %2 = math.exp %a : tensor<8x16xf32>
    nn.yield %2 : tensor<8x16xf32>
  }
  train.output "y", %1 : tensor<8x16xf32>
}

// A result in place has no memory of its own, nor has an op that only looks.

// CHECK-LABEL: train.step @in_place
// CHECK: nn.fused "tanh" {{.*}}train.offsets = array<i64: 0>
// CHECK: nn.fused "exp"
// CHECK-NOT: train.offsets
// CHECK: train.output
train.step @in_place micro ("x" %x: tensor<8x16xf32>) {
  %0 = nn.fused "tanh" %x : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %2 = math.tanh %a : tensor<8x16xf32>
    nn.yield %2 : tensor<8x16xf32>
  }
  %1 = nn.fused "exp" %0 {in_place = array<i64: 0>} : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %2 = math.exp %a : tensor<8x16xf32>
    nn.yield %2 : tensor<8x16xf32>
  }
  train.output "y", %1 : tensor<8x16xf32>
}

// Repeated work stands on its own, and says why it is there.

// CHECK-LABEL: train.step @again
// CHECK-NOT: train.recompute
// CHECK: nn.fused "tanh" {{.*}}train.offsets
// CHECK: nn.fused "tanh" {{.*}}train.offsets = array<i64: {{[0-9]+}}>, train.recomputed = "frees 512 bytes"
train.step @again micro ("x" %x: tensor<8x16xf32>) {
  %0 = nn.fused "tanh" %x : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %2 = math.tanh %a : tensor<8x16xf32>
    nn.yield %2 : tensor<8x16xf32>
  }
  train.output "y", %0 : tensor<8x16xf32>
  %1 = train.recompute "frees 512 bytes" %x : (tensor<8x16xf32>) -> tensor<8x16xf32> {
  ^bb0(%y: tensor<8x16xf32>):
    %2 = nn.fused "tanh" %y : tensor<8x16xf32> -> tensor<8x16xf32> {
    ^bb0(%a: tensor<8x16xf32>):
      %3 = math.tanh %a : tensor<8x16xf32>
      nn.yield %3 : tensor<8x16xf32>
    }
    train.yield %2 : tensor<8x16xf32>
  }
  train.output "z", %1 : tensor<8x16xf32>
}

// Scratch memory of the norm comes after its results.

train.variable @g parameter : tensor<8x16xf32>

// CHECK-LABEL: train.step @norm
// CHECK: train.grad_norm {{.*}}train.offsets = array<i64: {{[0-9]+}}>
train.step @norm micro ("g" %g: tensor<8x16xf32>) {
  train.grad_norm %g of [@g] : tensor<8x16xf32>
}

// A plan that stands is kept, gaps and all: the schedule has promised it.

// CHECK-LABEL: train.step @kept
// CHECK: nn.fused "tanh" {{.*}}train.offsets = array<i64: 4096>
train.step @kept micro ("x" %x: tensor<8x16xf32>) {
  %0 = nn.fused "tanh" %x {train.offsets = array<i64: 4096>} : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %2 = math.tanh %a : tensor<8x16xf32>
    nn.yield %2 : tensor<8x16xf32>
  }
  train.output "y", %0 : tensor<8x16xf32>
}
