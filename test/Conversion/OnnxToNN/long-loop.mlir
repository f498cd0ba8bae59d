// RUN: gpuopt-opt %s -split-input-file -convert-onnx-to-nn -verify-nn | FileCheck %s

// A Scan of more than 64 iterations is a loop that begins at the end, as both
// of its operands do. A state that no iteration changes is an invariant, and
// what is computed from it alone stands before the loop. A row that is the next
// state is read from the history.
// CHECK-LABEL: func.func @forward
// CHECK-SAME: (%[[H:.*]]: tensor<2x3xf32> {{.*}}, %[[W:.*]]: tensor<3x3xf32> {{.*}}, %[[X:.*]]: tensor<2x65x3xf32> {{.*}}, %[[Z:.*]]: tensor<65x2x3xf32>
// CHECK: %[[ROWS:.*]] = nn.transpose %[[X]] [1, 0, 2]
// CHECK: %[[NEG:.*]] = arith.negf %[[W]]
// CHECK: %[[LOOP:.*]]:2 = nn.scan 65 reverse slices(%[[ROWS]], %[[Z]]) states(%[[H]]) invariants(%[[NEG]])
// CHECK-NEXT: ^bb0(%[[XI:.*]]: tensor<2x3xf32>, %[[ZI:.*]]: tensor<2x3xf32>, %[[HI:.*]]: tensor<2x3xf32>, %[[WI:.*]]: tensor<3x3xf32>):
// CHECK: %[[SUM:.*]] = arith.addf %[[XI]], %[[ZI]]
// CHECK: %[[PRODUCT:.*]] = nn.contract "{{.*}}" %[[HI]], %[[WI]]
// CHECK: %[[NEXT:.*]] = arith.addf %[[PRODUCT]], %[[SUM]]
// CHECK: nn.yield %[[NEXT]], %[[SUM]]
// CHECK: nn.slice %[[LOOP]]#0 [0, 0, 0] [1, 2, 3] [1, 1, 1]
// The rows come in the order of the iterations, the other way round.
// CHECK: %[[STATES:.*]] = nn.slice %[[LOOP]]#0 [0, 0, 0] [65, 2, 3] [1, 1, 1]
// CHECK: nn.take %[[STATES]]
// CHECK: nn.transpose %[[LOOP]]#1 [1, 0, 2]
onnx.graph @g(%h: tensor<2x3xf32>, %w: tensor<3x3xf32>, %x: tensor<2x65x3xf32>, %z: tensor<65x2x3xf32>) -> (!onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown) attributes {inputNames = ["h", "w", "x", "z"], opsets = {ai.onnx = 20 : i64}, outputNames = ["last", "weight", "states", "sums"]} {
  %r:4 = onnx.node "Scan"(%h, %w, %x, %z) {body, num_scan_inputs = 2 : i64, scan_input_axes = array<i64: 1, 0>, scan_input_directions = array<i64: 1, 1>, scan_output_axes = array<i64: 0, 1>, scan_output_directions = array<i64: 0, 1>} : (tensor<2x3xf32>, tensor<3x3xf32>, tensor<2x65x3xf32>, tensor<65x2x3xf32>) -> (!onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown) {
  ^bb0(%hi: tensor<2x3xf32>, %wi: tensor<3x3xf32>, %xi: tensor<2x3xf32>, %zi: tensor<2x3xf32>):
    %negative = onnx.node "Neg"(%wi) : (tensor<3x3xf32>) -> !onnx.unknown
    %sum = onnx.node "Add"(%xi, %zi) : (tensor<2x3xf32>, tensor<2x3xf32>) -> !onnx.unknown
    %product = onnx.node "MatMul"(%hi, %negative) : (tensor<2x3xf32>, !onnx.unknown) -> !onnx.unknown
    %next = onnx.node "Add"(%product, %sum) : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown
    onnx.return %next, %wi, %next, %sum : !onnx.unknown, tensor<3x3xf32>, !onnx.unknown, !onnx.unknown
  }
  onnx.return %r#0, %r#1, %r#2, %r#3 : !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown
}

// -----

// The entry that a Loop picks by the iteration's number, or by a counter, is a
// slice of the loop. The counter is no state: it is known after the loop.
// CHECK-LABEL: func.func @forward
// CHECK-SAME: (%[[H:.*]]: tensor<3xf32> {{.*}}, %[[X:.*]]: tensor<70x3xf32>
// CHECK-DAG: %[[FIRST:.*]] = nn.slice %[[X]] [0, 0] [65, 3] [1, 1]
// CHECK-DAG: %[[LATER:.*]] = nn.slice %[[X]] [3, 0] [65, 3] [1, 1]
// CHECK: nn.scan 65 slices(%{{.*}}, %{{.*}}) states(%[[H]]) invariants()
// CHECK-NOT: nn.take
// CHECK: %[[END:.*]] = arith.constant dense<68> : tensor<i64>
// CHECK: return %{{.*}}, %[[END]]
onnx.graph @g(%h: tensor<3xf32>, %x: tensor<70x3xf32>) -> (!onnx.unknown, !onnx.unknown) attributes {inputNames = ["h", "x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["last", "count"]} {
  %trips = onnx.initializer "trips" = dense<65> : tensor<i64>
  %three = onnx.initializer "three" = dense<3> : tensor<i64>
  %one = onnx.initializer "one" = dense<1> : tensor<i64>
  %none = onnx.none : none
  %r:2 = onnx.node "Loop"(%trips, %none, %h, %three) {body} : (tensor<i64>, none, tensor<3xf32>, tensor<i64>) -> (!onnx.unknown, !onnx.unknown) {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %hi: tensor<3xf32>, %count: tensor<i64>):
    %a = onnx.node "Gather"(%x, %i) : (tensor<70x3xf32>, tensor<i64>) -> !onnx.unknown
    %b = onnx.node "Gather"(%x, %count) : (tensor<70x3xf32>, tensor<i64>) -> !onnx.unknown
    %sum = onnx.node "Add"(%a, %b) : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown
    %next = onnx.node "Mul"(%hi, %sum) : (tensor<3xf32>, !onnx.unknown) -> !onnx.unknown
    %more = onnx.node "Add"(%count, %one) : (tensor<i64>, tensor<i64>) -> !onnx.unknown
    onnx.return %go, %next, %more : tensor<i1>, !onnx.unknown, !onnx.unknown
  }
  onnx.return %r#0, %r#1 : !onnx.unknown, !onnx.unknown
}

// -----

// A part of an invariant that is the same in each iteration is sliced once.
// CHECK-LABEL: func.func @forward
// CHECK-SAME: (%[[H:.*]]: tensor<3xf32> {{.*}}, %[[W:.*]]: tensor<70x3xf32>
// CHECK: %[[PART:.*]] = nn.slice %[[W]] [1, 0] [1, 3] [1, 1]
// CHECK: nn.scan 65 slices() states(%[[H]]) invariants(%{{.*}}) : (tensor<3xf32>, tensor<{{(1x)?}}3xf32>)
// CHECK: return
onnx.graph @g(%h: tensor<3xf32>, %w: tensor<70x3xf32>) -> !onnx.unknown attributes {inputNames = ["h", "w"], opsets = {ai.onnx = 20 : i64}, outputNames = ["last"]} {
  %trips = onnx.initializer "trips" = dense<65> : tensor<i64>
  %begin = onnx.initializer "begin" = dense<1> : tensor<1xi64>
  %end = onnx.initializer "end" = dense<2> : tensor<1xi64>
  %none = onnx.none : none
  %r = onnx.node "Loop"(%trips, %none, %h) {body} : (tensor<i64>, none, tensor<3xf32>) -> !onnx.unknown {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %hi: tensor<3xf32>):
    %part = onnx.node "Slice"(%w, %begin, %end) : (tensor<70x3xf32>, tensor<1xi64>, tensor<1xi64>) -> !onnx.unknown
    %flat = onnx.node "Squeeze"(%part) : (!onnx.unknown) -> !onnx.unknown
    %next = onnx.node "Mul"(%hi, %flat) : (tensor<3xf32>, !onnx.unknown) -> !onnx.unknown
    onnx.return %go, %next : tensor<i1>, !onnx.unknown
  }
  onnx.return %r : !onnx.unknown
}

// -----

// Up to 64 iterations stand one after the other.
// CHECK-LABEL: func.func @forward
// CHECK-NOT: nn.scan
// CHECK: return
onnx.graph @g(%h: tensor<3xf32>, %x: tensor<64x3xf32>) -> !onnx.unknown attributes {inputNames = ["h", "x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["last"]} {
  %r = onnx.node "Scan"(%h, %x) {body, num_scan_inputs = 1 : i64} : (tensor<3xf32>, tensor<64x3xf32>) -> !onnx.unknown {
  ^bb0(%hi: tensor<3xf32>, %xi: tensor<3xf32>):
    %next = onnx.node "Mul"(%hi, %xi) : (tensor<3xf32>, tensor<3xf32>) -> !onnx.unknown
    onnx.return %next : !onnx.unknown
  }
  onnx.return %r : !onnx.unknown
}

// -----

// A weight of the body is read once, before the loop. Indices that a state
// gives are checked as others are.
// CHECK-LABEL: func.func @forward
// CHECK: train.read @table
// CHECK: nn.scan 65
// CHECK: nn.in_range
// CHECK: nn.take
onnx.graph @g(%h: tensor<i64>, %x: tensor<65xi64>) -> !onnx.unknown attributes {inputNames = ["h", "x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["rows"]} {
  %r:2 = onnx.node "Scan"(%h, %x) {body, num_scan_inputs = 1 : i64} : (tensor<i64>, tensor<65xi64>) -> (!onnx.unknown, !onnx.unknown) {
  ^bb0(%hi: tensor<i64>, %xi: tensor<i64>):
    %table = onnx.initializer "table" at <"w.bin", offset = 0, size = 60> : tensor<5x3xf32>
    %row = onnx.node "Gather"(%table, %hi) : (tensor<5x3xf32>, tensor<i64>) -> !onnx.unknown
    onnx.return %xi, %row : tensor<i64>, !onnx.unknown
  }
  onnx.return %r#1 : !onnx.unknown
}

// -----

// A condition that follows from a counter says how many iterations there are:
// 70, of which the last one makes it false.
// CHECK-LABEL: func.func @forward
// CHECK: nn.scan 70 slices() states(%{{.*}}) invariants()
// CHECK: %[[END:.*]] = arith.constant dense<140> : tensor<i64>
// CHECK: return %{{.*}}, %[[END]]
onnx.graph @g(%h: tensor<3xf32>) -> (!onnx.unknown, !onnx.unknown) attributes {inputNames = ["h"], opsets = {ai.onnx = 20 : i64}, outputNames = ["last", "count"]} {
  %zero = onnx.initializer "zero" = dense<0> : tensor<i64>
  %two = onnx.initializer "two" = dense<2> : tensor<i64>
  %end = onnx.initializer "end" = dense<139> : tensor<i64>
  %yes = onnx.initializer "yes" = dense<true> : tensor<i1>
  %none = onnx.none : none
  %r:2 = onnx.node "Loop"(%none, %yes, %h, %zero) {body} : (none, tensor<i1>, tensor<3xf32>, tensor<i64>) -> (!onnx.unknown, !onnx.unknown) {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %hi: tensor<3xf32>, %count: tensor<i64>):
    %next = onnx.node "Tanh"(%hi) : (tensor<3xf32>) -> !onnx.unknown
    %more = onnx.node "Add"(%count, %two) : (tensor<i64>, tensor<i64>) -> !onnx.unknown
    %goes = onnx.node "Less"(%more, %end) : (!onnx.unknown, tensor<i64>) -> !onnx.unknown
    onnx.return %goes, %next, %more : !onnx.unknown, !onnx.unknown, !onnx.unknown
  }
  onnx.return %r#0, %r#1 : !onnx.unknown, !onnx.unknown
}

// -----

// What is picked by the number of the iteration is moved before the loop, time
// and again the op before the pick. The ops of an iteration are counted once all
// the same: 1024 picks are fewer than loops may have.
// CHECK-LABEL: func.func @forward
// CHECK: nn.scan 65
// CHECK: return
onnx.graph @g(%h: tensor<3xf32>, %x: tensor<65x3xf32>) -> !onnx.unknown attributes {inputNames = ["h", "x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["last"]} {
  %trips = onnx.initializer "trips" = dense<65> : tensor<i64>
  %many = onnx.initializer "many" = dense<64> : tensor<i64>
  %few = onnx.initializer "few" = dense<16> : tensor<i64>
  %none = onnx.none : none
  %r = onnx.node "Loop"(%trips, %none, %h) {body} : (tensor<i64>, none, tensor<3xf32>) -> !onnx.unknown {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %a: tensor<3xf32>):
    %all = onnx.node "Loop"(%many, %none, %a) {body} : (tensor<i64>, none, tensor<3xf32>) -> !onnx.unknown {
    ^bb0(%j: tensor<i64>, %go1: tensor<i1>, %b: tensor<3xf32>):
      %some = onnx.node "Loop"(%few, %none, %b) {body} : (tensor<i64>, none, tensor<3xf32>) -> !onnx.unknown {
      ^bb0(%k: tensor<i64>, %go2: tensor<i1>, %c: tensor<3xf32>):
        %negative = onnx.node "Neg"(%x) : (tensor<65x3xf32>) -> !onnx.unknown
        %row = onnx.node "Gather"(%negative, %i) : (!onnx.unknown, tensor<i64>) -> !onnx.unknown
        %next = onnx.node "Mul"(%c, %row) : (tensor<3xf32>, !onnx.unknown) -> !onnx.unknown
        onnx.return %go2, %next : tensor<i1>, !onnx.unknown
      }
      onnx.return %go1, %some : tensor<i1>, !onnx.unknown
    }
    onnx.return %go, %all : tensor<i1>, !onnx.unknown
  }
  onnx.return %r : !onnx.unknown
}

// -----

// A file in half precision has loops as others have: what is in half precision
// in the end is decided later.
// CHECK-LABEL: func.func @forward
// CHECK: nn.scan 65 {{.*}} : (tensor<65x1x3xf16>, tensor<1x3xf16>, tensor<3x3xf16>) -> tensor<66x1x3xf16>
// CHECK: nn.scan 65 {{.*}} : (tensor<1x3xbf16>) -> tensor<66x1x3xbf16>
// CHECK: nn.scan 65 {{.*}} -> (tensor<66x1x1x2x2xf16>, tensor<65x1x1x2x2xf16>)
onnx.graph @g(%x: tensor<65x1x2xf16>, %w: tensor<1x3x2xf16>, %r: tensor<1x3x3xf16>, %h: tensor<1x3xbf16>, %q: tensor<1x65x4xf16>, %k: tensor<1x65x2xf16>, %b: tensor<1x65x1xf16>) -> (!onnx.unknown, !onnx.unknown, !onnx.unknown) attributes {inputNames = ["x", "w", "r", "h", "q", "k", "b"], opsets = {ai.onnx = 27 : i64}, outputNames = ["rnn", "loop", "attention"]} {
  %trips = onnx.initializer "trips" = dense<65> : tensor<i64>
  %none = onnx.none : none
  %rnn:2 = onnx.node "RNN"(%x, %w, %r) {hidden_size = 3 : i64} : (tensor<65x1x2xf16>, tensor<1x3x2xf16>, tensor<1x3x3xf16>) -> (!onnx.unknown, !onnx.unknown)
  %loop = onnx.node "Loop"(%trips, %none, %h) {body} : (tensor<i64>, none, tensor<1x3xbf16>) -> !onnx.unknown {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %s: tensor<1x3xbf16>):
    %next = onnx.node "Tanh"(%s) : (tensor<1x3xbf16>) -> !onnx.unknown
    onnx.return %go, %next : tensor<i1>, !onnx.unknown
  }
  %attention = onnx.node "LinearAttention"(%q, %k, %k, %none, %none, %b) {q_num_heads = 2 : i64, kv_num_heads = 1 : i64, update_rule = "delta"} : (tensor<1x65x4xf16>, tensor<1x65x2xf16>, tensor<1x65x2xf16>, none, none, tensor<1x65x1xf16>) -> !onnx.unknown
  onnx.return %rnn#1, %loop, %attention : !onnx.unknown, !onnx.unknown, !onnx.unknown
}

// -----

// Pairs of rows that would be more than 2^48 elements together are taken in each
// iteration; those of a smaller tensor are slices of it.
// CHECK-LABEL: func.func @forward
// CHECK: nn.slice %{{.*}} [0, 0] [65, 1000000] [1, 1] : tensor<66x1000000xf32>
// CHECK-NOT: tensor<130x
// CHECK: nn.scan 65
// CHECK: nn.take {{.*}} tensor<66x3000000000000xf32>
// CHECK: return
onnx.graph @g(%h: tensor<2x1xf32>, %x: tensor<66x3000000000000xf32>, %y: tensor<66x1000000xf32>) -> !onnx.unknown attributes {inputNames = ["h", "x", "y"], opsets = {ai.onnx = 20 : i64}, outputNames = ["last"]} {
  %trips = onnx.initializer "trips" = dense<65> : tensor<i64>
  %pair = onnx.initializer "pair" = dense<[0, 1]> : tensor<2xi64>
  %last = onnx.initializer "last" = dense<[1]> : tensor<1xi64>
  %none = onnx.none : none
  %r = onnx.node "Loop"(%trips, %none, %h) {body} : (tensor<i64>, none, tensor<2x1xf32>) -> !onnx.unknown {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %s: tensor<2x1xf32>):
    %rows = onnx.node "Add"(%i, %pair) : (tensor<i64>, tensor<2xi64>) -> !onnx.unknown
    %a = onnx.node "Gather"(%x, %rows) : (tensor<66x3000000000000xf32>, !onnx.unknown) -> !onnx.unknown
    %b = onnx.node "Gather"(%y, %i) : (tensor<66x1000000xf32>, tensor<i64>) -> !onnx.unknown
    %suma = onnx.node "ReduceSum"(%a, %last) : (!onnx.unknown, tensor<1xi64>) -> !onnx.unknown
    %sumb = onnx.node "ReduceSum"(%b) : (!onnx.unknown) -> !onnx.unknown
    %both = onnx.node "Add"(%suma, %sumb) : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown
    %next = onnx.node "Mul"(%s, %both) : (tensor<2x1xf32>, !onnx.unknown) -> !onnx.unknown
    onnx.return %go, %next : tensor<i1>, !onnx.unknown
  }
  onnx.return %r : !onnx.unknown
}
