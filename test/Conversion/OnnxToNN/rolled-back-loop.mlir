// RUN: gpuopt-opt %s -split-input-file -convert-onnx-to-nn -verify-diagnostics | FileCheck %s

// What an attempt to convert the body of a long loop has noted is forgotten
// where another attempt, or the unrolled loop, takes its place.

// The streams of random numbers of unrolled iterations begin where those before
// the loop end, and a Dropout node that drops nothing is told of once.
// CHECK-LABEL: func.func @forward
// CHECK: nn.random_uniform stream 0
// CHECK: nn.random_uniform stream 1
// CHECK: nn.random_uniform stream 65
// CHECK-NOT: nn.random_uniform
// CHECK: nn.random_uniform stream 66
// CHECK-NOT: nn.random_uniform
// expected-warning @below {{dropout is off at 'idle': no training_mode was exported; gpuopt.export writes it}}
onnx.graph @g(%x: tensor<3xf32>, %rows: tensor<65x3xf32>) -> !onnx.unknown attributes {inputNames = ["x", "rows"], opsets = {ai.onnx = 20 : i64}, outputNames = ["y"]} {
  %before = onnx.node "RandomUniformLike"(%x) : (tensor<3xf32>) -> !onnx.unknown
  // expected-remark @below {{its iterations draw random numbers or use statistics of a batch}}
  %s = onnx.node "Scan"(%before, %rows) {body, num_scan_inputs = 1 : i64} : (!onnx.unknown, tensor<65x3xf32>) -> !onnx.unknown {
  ^bb0(%h: tensor<3xf32>, %row: tensor<3xf32>):
    %kept = onnx.node "Dropout"(%row) : (tensor<3xf32>) -> !onnx.unknown loc("idle")
    %noise = onnx.node "RandomUniformLike"(%h) : (tensor<3xf32>) -> !onnx.unknown
    %sum = onnx.node "Add"(%noise, %kept) : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown
    %next = onnx.node "Add"(%sum, %h) : (!onnx.unknown, tensor<3xf32>) -> !onnx.unknown
    onnx.return %next : !onnx.unknown
  }
  %after = onnx.node "RandomUniformLike"(%x) : (tensor<3xf32>) -> !onnx.unknown
  %y = onnx.node "Add"(%s, %after) : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown
  onnx.return %y : !onnx.unknown
}

// -----

// The body of a loop with a counter is converted twice. Two nodes drop nothing.
// CHECK-LABEL: func.func @forward
// CHECK: nn.scan 65
// expected-warning @below {{dropout is off at 'first' and 1 more: training_mode is false; gpuopt.export writes it true}}
onnx.graph @g(%x: tensor<65x3xf32>, %h: tensor<3xf32>) -> !onnx.unknown attributes {inputNames = ["x", "h"], opsets = {ai.onnx = 20 : i64}, outputNames = ["y"]} {
  %trips = onnx.initializer "trips" = dense<65> : tensor<i64>
  %zero = onnx.initializer "zero" = dense<0> : tensor<i64>
  %one = onnx.initializer "one" = dense<1> : tensor<i64>
  %rate = onnx.initializer "rate" = dense<0.5> : tensor<f32>
  %no = onnx.initializer "no" = dense<false> : tensor<i1>
  %none = onnx.none : none
  %r:2 = onnx.node "Loop"(%trips, %none, %h, %zero) {body} : (tensor<i64>, none, tensor<3xf32>, tensor<i64>) -> (!onnx.unknown, !onnx.unknown) {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %s: tensor<3xf32>, %count: tensor<i64>):
    %row = onnx.node "Gather"(%x, %count) : (tensor<65x3xf32>, tensor<i64>) -> !onnx.unknown
    %a = onnx.node "Dropout"(%row, %rate, %no) : (!onnx.unknown, tensor<f32>, tensor<i1>) -> !onnx.unknown loc("first")
    %b = onnx.node "Dropout"(%s, %rate, %no) : (tensor<3xf32>, tensor<f32>, tensor<i1>) -> !onnx.unknown loc("second")
    %next = onnx.node "Mul"(%a, %b) : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown
    %more = onnx.node "Add"(%count, %one) : (tensor<i64>, tensor<i64>) -> !onnx.unknown
    onnx.return %go, %next, %more : tensor<i1>, !onnx.unknown, !onnx.unknown
  }
  onnx.return %r#0 : !onnx.unknown
}

// -----

// In a body that may stay a loop, the inner loop would be unrolled. The outer
// one is unrolled in the end, so that the inner one stays a loop: no remark says
// the opposite.
// CHECK-LABEL: func.func @forward
// CHECK-COUNT-65: nn.scan 66
// CHECK-NOT: nn.scan
onnx.graph @g(%x: tensor<3xf32>, %rows: tensor<65x3xf32>, %inner: tensor<66x3xf32>) -> !onnx.unknown attributes {inputNames = ["x", "rows", "inner"], opsets = {ai.onnx = 20 : i64}, outputNames = ["y"]} {
  // expected-remark @below {{its iterations draw random numbers or use statistics of a batch}}
  %s = onnx.node "Scan"(%x, %rows) {body, num_scan_inputs = 1 : i64} : (tensor<3xf32>, tensor<65x3xf32>) -> !onnx.unknown {
  ^bb0(%h: tensor<3xf32>, %row: tensor<3xf32>):
    %noise = onnx.node "RandomUniformLike"(%h) : (tensor<3xf32>) -> !onnx.unknown
    %last = onnx.node "Scan"(%h, %inner) {body, num_scan_inputs = 1 : i64} : (tensor<3xf32>, tensor<66x3xf32>) -> !onnx.unknown {
    ^bb0(%t: tensor<3xf32>, %u: tensor<3xf32>):
      %v = onnx.node "Mul"(%t, %u) : (tensor<3xf32>, tensor<3xf32>) -> !onnx.unknown
      onnx.return %v : !onnx.unknown
    }
    %sum = onnx.node "Add"(%last, %row) : (!onnx.unknown, tensor<3xf32>) -> !onnx.unknown
    %next = onnx.node "Add"(%sum, %noise) : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown
    onnx.return %next : !onnx.unknown
  }
  onnx.return %s : !onnx.unknown
}

// -----

// The inner loop is unrolled in each of two attempts, and told of once.
// CHECK-LABEL: func.func @forward
// CHECK: nn.scan 65
onnx.graph @g(%x: tensor<3xf32>, %inner: tensor<66x3xf32>) -> !onnx.unknown attributes {inputNames = ["x", "inner"], opsets = {ai.onnx = 20 : i64}, outputNames = ["y"]} {
  %trips = onnx.initializer "trips" = dense<65> : tensor<i64>
  %zero = onnx.initializer "zero" = dense<0> : tensor<i64>
  %one = onnx.initializer "one" = dense<1> : tensor<i64>
  %none = onnx.none : none
  %r:2 = onnx.node "Loop"(%trips, %none, %x, %zero) {body} : (tensor<i64>, none, tensor<3xf32>, tensor<i64>) -> (!onnx.unknown, !onnx.unknown) {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %s: tensor<3xf32>, %count: tensor<i64>):
    // expected-remark @below {{it is inside of a loop that is not unrolled}}
    %last = onnx.node "Scan"(%s, %inner) {body, num_scan_inputs = 1 : i64} : (tensor<3xf32>, tensor<66x3xf32>) -> !onnx.unknown {
    ^bb0(%t: tensor<3xf32>, %u: tensor<3xf32>):
      %v = onnx.node "Mul"(%t, %u) : (tensor<3xf32>, tensor<3xf32>) -> !onnx.unknown
      onnx.return %v : !onnx.unknown
    }
    %more = onnx.node "Add"(%count, %one) : (tensor<i64>, tensor<i64>) -> !onnx.unknown
    onnx.return %go, %last, %more : tensor<i1>, !onnx.unknown, !onnx.unknown
  }
  onnx.return %r#0 : !onnx.unknown
}
