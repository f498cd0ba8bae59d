// RUN: gpuopt-opt %s --split-input-file --train-plan-memory -verify-diagnostics | FileCheck %s

// The tensor's memory is free when it is on the host: the second tanh lies
// there. What comes back has memory of its own. 0 is the first place of the
// host's arena, which is another one.

// CHECK-LABEL: train.step @free
train.step @free micro ("x" %x: tensor<8x16xf32>) {
  // CHECK: nn.fused "tanh" %{{.*}} {train.offsets = array<i64: 0>}
  %0 = nn.fused "tanh" %x : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %2 = math.tanh %a : tensor<8x16xf32>
    nn.yield %2 : tensor<8x16xf32>
  }
  // CHECK: train.offload %{{.*}} {train.offsets = array<i64: 0>}
  %h = train.offload %0 : tensor<8x16xf32>
  train.await_offload %h of %0 : tensor<8x16xf32>
  // CHECK: nn.fused "exp" %{{.*}} {train.offsets = array<i64: 0>}
  %1 = nn.fused "exp" %x : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %2 = math.exp %a : tensor<8x16xf32>
    nn.yield %2 : tensor<8x16xf32>
  }
  train.output "y", %1 : tensor<8x16xf32>
  // CHECK: train.reload "why" %{{.*}} {train.offsets = array<i64: 0>}
  %y = train.reload "why" %h : tensor<8x16xf32>
  train.await_reload %y : tensor<8x16xf32>
  train.output "z", %y : tensor<8x16xf32>
}

// -----

// While the copy runs, the memory is taken: the exp lies behind it.

// CHECK-LABEL: train.step @taken
train.step @taken micro ("x" %x: tensor<8x16xf32>) {
  // CHECK: nn.fused "tanh" %{{.*}} {train.offsets = array<i64: [[TANH:[0-9]+]]>}
  %0 = nn.fused "tanh" %x : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %2 = math.tanh %a : tensor<8x16xf32>
    nn.yield %2 : tensor<8x16xf32>
  }
  %h = train.offload %0 : tensor<8x16xf32>
  // CHECK-NOT: nn.fused "exp" %{{.*}} {train.offsets = array<i64: [[TANH]]>}
  %1 = nn.fused "exp" %x : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %2 = math.exp %a : tensor<8x16xf32>
    nn.yield %2 : tensor<8x16xf32>
  }
  train.await_offload %h of %0 : tensor<8x16xf32>
  train.output "y", %1 : tensor<8x16xf32>
}

// -----

train.step @too_early micro ("x" %x: tensor<8x16xf32>) {
  %0 = nn.fused "tanh" %x : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %2 = math.tanh %a : tensor<8x16xf32>
    nn.yield %2 : tensor<8x16xf32>
  }
  %h = train.offload %0 : tensor<8x16xf32>
  train.await_offload %h of %0 : tensor<8x16xf32>
  %y = train.reload "why" %h : tensor<8x16xf32>
  // expected-error @below {{reads 'reload', whose transfer has not been awaited}}
  train.output "y", %y : tensor<8x16xf32>
  train.await_reload %y : tensor<8x16xf32>
}

// -----

train.step @not_there_yet micro ("x" %x: tensor<8x16xf32>) {
  %0 = nn.fused "tanh" %x : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %2 = math.tanh %a : tensor<8x16xf32>
    nn.yield %2 : tensor<8x16xf32>
  }
  %h = train.offload %0 : tensor<8x16xf32>
  // expected-error @below {{reads 'offload', whose transfer has not been awaited}}
  %y = train.reload "why" %h : tensor<8x16xf32>
  train.await_reload %y : tensor<8x16xf32>
  train.await_offload %h of %0 : tensor<8x16xf32>
}

// -----

train.step @forgotten micro ("x" %x: tensor<8x16xf32>) {
  %0 = nn.fused "tanh" %x : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %2 = math.tanh %a : tensor<8x16xf32>
    nn.yield %2 : tensor<8x16xf32>
  }
  // expected-error @below {{starts a transfer that nothing awaits}}
  %h = train.offload %0 : tensor<8x16xf32>
}

// -----

// A result in place has overwritten what is to be copied, or is being copied.

train.step @overwritten micro ("x" %x: tensor<8x16xf32>) {
  %0 = nn.fused "tanh" %x : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %2 = math.tanh %a : tensor<8x16xf32>
    nn.yield %2 : tensor<8x16xf32>
  }
  %h = train.offload %0 : tensor<8x16xf32>
  %1 = nn.fused "exp" %0 {in_place = array<i64: 0>} : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %2 = math.exp %a : tensor<8x16xf32>
    nn.yield %2 : tensor<8x16xf32>
  }
  // expected-error @below {{which has been overwritten}}
  train.await_offload %h of %0 : tensor<8x16xf32>
  train.output "y", %1 : tensor<8x16xf32>
}

// -----

// A row of the result would lie where a part of the operand's next row does.
train.step @rows_apart micro ("x" %x: tensor<8x15xf16>) {
  %0 = nn.fused "tanh" %x : tensor<8x15xf16> -> tensor<8x15xf16, {row_pitch = 16}> {
  ^bb0(%a: tensor<8x15xf16>):
    %2 = math.tanh %a : tensor<8x15xf16>
    nn.yield %2 : tensor<8x15xf16>
  }
  // expected-error @below {{, of type 'tensor<8x15xf16>', to lie as the operand that it is written over, of type 'tensor<8x15xf16, {row_pitch = 16 : i64}>'}}
  %1 = nn.fused "exp" %0 {in_place = array<i64: 0>} : tensor<8x15xf16, {row_pitch = 16}> -> tensor<8x15xf16> {
  ^bb0(%a: tensor<8x15xf16>):
    %2 = math.exp %a : tensor<8x15xf16>
    nn.yield %2 : tensor<8x15xf16>
  }
  train.output "y", %1 : tensor<8x15xf16>
}
