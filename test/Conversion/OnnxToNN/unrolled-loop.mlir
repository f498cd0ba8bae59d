// RUN: gpuopt-opt %s -split-input-file -convert-onnx-to-nn -verify-diagnostics

// Loops of more than 64 iterations that cannot stay loops say why.

onnx.graph @g(%x: tensor<3xf32>, %c: tensor<i1>, %rows: tensor<65x3xf32>, %seq: tensor<65x1x2xf32>, %w: tensor<1x3x2xf32>, %r: tensor<1x3x3xf32>, %n: tensor<1xi64>) -> !onnx.unknown attributes {inputNames = ["x", "c", "rows", "seq", "w", "r", "n"], opsets = {ai.onnx = 20 : i64}, outputNames = ["y"]} {
  %trips = onnx.initializer "trips" = dense<65> : tensor<i64>
  %few = onnx.initializer "few" = dense<2> : tensor<i64>
  %last = onnx.initializer "last" = dense<64> : tensor<i64>
  %rate = onnx.initializer "rate" = dense<0.5> : tensor<f32>
  %yes = onnx.initializer "yes" = dense<true> : tensor<i1>
  %one = onnx.initializer "one" = dense<1> : tensor<1xi64>
  %zero = onnx.initializer "zero" = dense<0> : tensor<1xi64>
  %ones = onnx.initializer "ones" = dense<1.0> : tensor<1xf32>
  %none = onnx.none : none
  %empty = onnx.node "SequenceEmpty"() : () -> !onnx.unknown loc("empty")
  // expected-remark @below {{'Loop', a Loop of 65 iterations, is unrolled, so that the program grows with it: its condition depends on data}}
  %data = onnx.node "Loop"(%trips, %none, %x) {body} : (tensor<i64>, none, tensor<3xf32>) -> !onnx.unknown {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %s: tensor<3xf32>):
    onnx.return %c, %s : tensor<i1>, tensor<3xf32>
  }
  // expected-remark @below {{data decide whether it begins}}
  %begins = onnx.node "Loop"(%trips, %c, %x) {body} : (tensor<i64>, tensor<i1>, tensor<3xf32>) -> !onnx.unknown {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %s: tensor<3xf32>):
    onnx.return %go, %s : tensor<i1>, tensor<3xf32>
  }
  // expected-remark @below {{state 0 is tensor<3xf32> before the first iteration and tensor<6xf32> after it}}
  %grows = onnx.node "Loop"(%trips, %none, %x) {body} : (tensor<i64>, none, tensor<3xf32>) -> !onnx.unknown {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %s: tensor<3xf32>):
    %wider = onnx.node "Concat"(%s, %x) {axis = 0 : i64} : (tensor<3xf32>, tensor<3xf32>) -> !onnx.unknown
    onnx.return %go, %wider : tensor<i1>, !onnx.unknown
  }
  // expected-remark @below {{a state is no tensor}}
  %lists = onnx.node "Loop"(%trips, %none, %empty) {body} : (tensor<i64>, none, !onnx.unknown) -> !onnx.unknown {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %s: !onnx.unknown):
    %longer = onnx.node "SequenceInsert"(%s, %x) : (!onnx.unknown, tensor<3xf32>) -> !onnx.unknown
    onnx.return %go, %longer : tensor<i1>, !onnx.unknown
  }
  // expected-remark @below {{a result of its body is no tensor}}
  %becomes_list = onnx.node "Loop"(%trips, %none, %x) {body} : (tensor<i64>, none, tensor<3xf32>) -> !onnx.unknown {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %s: tensor<3xf32>):
    %list = onnx.node "SequenceConstruct"(%x) : (tensor<3xf32>) -> !onnx.unknown
    onnx.return %go, %list : tensor<i1>, !onnx.unknown
  }
  // expected-remark @below {{its iterations draw random numbers or use statistics of a batch}}
  %random = onnx.node "Scan"(%x, %rows) {body, num_scan_inputs = 1 : i64} : (tensor<3xf32>, tensor<65x3xf32>) -> !onnx.unknown {
  ^bb0(%s: tensor<3xf32>, %row: tensor<3xf32>):
    %noise = onnx.node "RandomUniformLike"(%s) : (tensor<3xf32>) -> !onnx.unknown
    %next = onnx.node "Add"(%noise, %row) : (!onnx.unknown, tensor<3xf32>) -> !onnx.unknown
    onnx.return %next : !onnx.unknown
  }
  // expected-remark @below {{its iterations draw random numbers or use statistics of a batch}}
  %dropout = onnx.node "Scan"(%x, %rows) {body, num_scan_inputs = 1 : i64} : (tensor<3xf32>, tensor<65x3xf32>) -> !onnx.unknown {
  ^bb0(%s: tensor<3xf32>, %row: tensor<3xf32>):
    %dropped = onnx.node "Dropout"(%s, %rate, %yes) : (tensor<3xf32>, tensor<f32>, tensor<i1>) -> !onnx.unknown
    %next = onnx.node "Add"(%dropped, %row) : (!onnx.unknown, tensor<3xf32>) -> !onnx.unknown
    onnx.return %next : !onnx.unknown
  }
  // What is drawn is not moved before the loop, though its entry is picked by the iteration's number alone.
  // expected-remark @below {{its iterations draw random numbers or use statistics of a batch}}
  %picked = onnx.node "Loop"(%trips, %none, %x) {body} : (tensor<i64>, none, tensor<3xf32>) -> !onnx.unknown {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %s: tensor<3xf32>):
    %noise = onnx.node "RandomUniformLike"(%rows) : (tensor<65x3xf32>) -> !onnx.unknown
    %entry = onnx.node "Gather"(%noise, %i) : (!onnx.unknown, tensor<i64>) -> !onnx.unknown
    %next = onnx.node "Add"(%s, %entry) : (tensor<3xf32>, !onnx.unknown) -> !onnx.unknown
    onnx.return %go, %next : tensor<i1>, !onnx.unknown
  }
  // expected-remark @below {{a layer inside of it is a loop itself}}
  %layers = onnx.node "Loop"(%trips, %none, %seq) {body} : (tensor<i64>, none, tensor<65x1x2xf32>) -> !onnx.unknown {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %s: tensor<65x1x2xf32>):
    %layer:2 = onnx.node "RNN"(%s, %w, %r) {hidden_size = 3 : i64} : (tensor<65x1x2xf32>, tensor<1x3x2xf32>, tensor<1x3x3xf32>) -> (!onnx.unknown, !onnx.unknown)
    %sum = onnx.node "ReduceSum"(%layer#1) {keepdims = 0 : i64} : (!onnx.unknown) -> !onnx.unknown
    %next = onnx.node "Add"(%s, %sum) : (tensor<65x1x2xf32>, !onnx.unknown) -> !onnx.unknown
    onnx.return %go, %next : tensor<i1>, !onnx.unknown
  }
  // The sizes of parts are known only where the iterations are unrolled.
  // expected-remark @below {{its body has a problem that the loop may not have unrolled: Tile (opset 20) at 'tile': operand 1 must be an integer constant once shapes are known}}
  %tiles = onnx.node "Loop"(%trips, %none, %x) {body} : (tensor<i64>, none, tensor<3xf32>) -> !onnx.unknown {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %s: tensor<3xf32>):
    %times = onnx.node "Unsqueeze"(%i, %zero) : (tensor<i64>, tensor<1xi64>) -> !onnx.unknown
    %tile = onnx.node "Tile"(%s, %times) : (tensor<3xf32>, !onnx.unknown) -> !onnx.unknown loc("tile")
    %sum = onnx.node "ReduceSum"(%tile) {keepdims = 0 : i64} : (!onnx.unknown) -> !onnx.unknown
    %next = onnx.node "Add"(%s, %sum) : (tensor<3xf32>, !onnx.unknown) -> !onnx.unknown
    onnx.return %go, %next : tensor<i1>, !onnx.unknown
  }
  // One state after the other turns out to be the same in all iterations, since it is multiplied by the one before, a 1.
  // expected-remark @below {{after its body has been converted 8 times, each time with more that is known of it, state 9 turns out to be the same in all iterations: compute that outside of the loop}}
  %chain:10 = onnx.node "Loop"(%trips, %none, %x, %ones, %ones, %ones, %ones, %ones, %ones, %ones, %ones, %ones) {body} : (tensor<i64>, none, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> (!onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown) {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %s: tensor<3xf32>, %s0: tensor<1xf32>, %s1: tensor<1xf32>, %s2: tensor<1xf32>, %s3: tensor<1xf32>, %s4: tensor<1xf32>, %s5: tensor<1xf32>, %s6: tensor<1xf32>, %s7: tensor<1xf32>, %s8: tensor<1xf32>):
    %next = onnx.node "Add"(%s, %s8) : (tensor<3xf32>, tensor<1xf32>) -> !onnx.unknown
    %n1 = onnx.node "Mul"(%s1, %s0) : (tensor<1xf32>, tensor<1xf32>) -> !onnx.unknown
    %n2 = onnx.node "Mul"(%s2, %s1) : (tensor<1xf32>, tensor<1xf32>) -> !onnx.unknown
    %n3 = onnx.node "Mul"(%s3, %s2) : (tensor<1xf32>, tensor<1xf32>) -> !onnx.unknown
    %n4 = onnx.node "Mul"(%s4, %s3) : (tensor<1xf32>, tensor<1xf32>) -> !onnx.unknown
    %n5 = onnx.node "Mul"(%s5, %s4) : (tensor<1xf32>, tensor<1xf32>) -> !onnx.unknown
    %n6 = onnx.node "Mul"(%s6, %s5) : (tensor<1xf32>, tensor<1xf32>) -> !onnx.unknown
    %n7 = onnx.node "Mul"(%s7, %s6) : (tensor<1xf32>, tensor<1xf32>) -> !onnx.unknown
    %n8 = onnx.node "Mul"(%s8, %s7) : (tensor<1xf32>, tensor<1xf32>) -> !onnx.unknown
    onnx.return %go, %next, %s0, %n1, %n2, %n3, %n4, %n5, %n6, %n7, %n8 : tensor<i1>, !onnx.unknown, tensor<1xf32>, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown
  }
  // Of two long loops, one inside of the other, the outer one stays a loop.
  %outer = onnx.node "Loop"(%trips, %none, %x) {body} : (tensor<i64>, none, tensor<3xf32>) -> !onnx.unknown {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %s: tensor<3xf32>):
    // expected-remark @below {{it is inside of a loop that is not unrolled}}
    %inner = onnx.node "Loop"(%trips, %none, %s) {body} : (tensor<i64>, none, tensor<3xf32>) -> !onnx.unknown {
    ^bb0(%j: tensor<i64>, %go2: tensor<i1>, %t: tensor<3xf32>):
      %next = onnx.node "Neg"(%t) : (tensor<3xf32>) -> !onnx.unknown
      onnx.return %go2, %next : tensor<i1>, !onnx.unknown
    }
    onnx.return %go, %inner : tensor<i1>, !onnx.unknown
  }
  %y = onnx.node "Neg"(%x) : (tensor<3xf32>) -> !onnx.unknown
  onnx.return %y : !onnx.unknown
}
