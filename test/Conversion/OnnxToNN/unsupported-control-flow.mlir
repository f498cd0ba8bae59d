// RUN: not gpuopt-opt %s -split-input-file -convert-onnx-to-nn 2>&1 | FileCheck %s

// Graphs inside of nodes that cannot be made part of the graph around them, and
// sequences and opsets that are not as they should be.
// CHECK: If (opset 28) at 'missing': attribute then_branch (a graph) is missing
// CHECK: If (opset 28) at 'wide_condition': the condition must have one element
// CHECK: If (opset 28) at 'types': the condition depends on data, but decides whether a result is tensor<2x3xf32> or tensor<3x2xf32>
// CHECK: If (opset 28) at 'lengths': the condition depends on data, but decides the length of a sequence
// CHECK: If (opset 28) at 'results': the branches have 2 and 1 results
// CHECK: Frobnicate (opset 28) at 'frob': the operator is not supported
// CHECK: Loop (opset 28) at 'inputs': the graph body has 2 inputs, but the node gives it 3
// CHECK: Loop (opset 28) at 'body_inputs': the graph body has 1 inputs, but the node gives it 3
// CHECK: Loop (opset 28) at 'data_trips': operand 0 (the number of iterations) must be a constant: it is a part of the program; it depends on input 'n', which --constant-input n=FILE.npy makes constant
// CHECK: Loop (opset 28) at 'wide_go': the condition must have one element
// CHECK: Loop (opset 28) at 'data_end': data decide the number of iterations, which needs a limit: give operand 0
// CHECK: Loop (opset 28) at 'endless': the loop would be unrolled to more than 4096 iterations, since its condition depends on data: make it shorter
// CHECK: Loop (opset 28) at 'uncounted_loop': the loop would be unrolled to more than 4096 iterations, since it has more than 65536 iterations: make it shorter
// CHECK: Loop (opset 28) at 'few': the graph body must give a condition and as many results as the loop has values that go from iteration to iteration, 1
// CHECK: Loop (opset 28) at 'data_length': data decide the number of iterations, and so the length of result 1
// CHECK: Loop (opset 28) at 'no_iterations': the loop has no iterations, and the file does not say which shape its results have
// CHECK: Loop (opset 28) at 'no_numbers': complex numbers are not supported
// CHECK: Loop (opset 28) at 'large': the result has more than 2^48 elements
// CHECK: BatchNormalization (opset 28) at 'statistics': running statistics inside of a loop, or of an If that depends on data, are not supported: give --batch-norm=frozen, or move the node out of it
// CHECK: Loop (opset 28) at 'changing': the iterations give results of different types, which cannot be joined
// CHECK: Loop (opset 28) at 'lists': a result that is joined over all iterations must be a tensor
// CHECK: Scan (opset 28) at 'uncounted': attributes body and num_scan_inputs must say which of the operands the iterations read
// CHECK: Scan (opset 28) at 'sequence': operands must be tensors
// CHECK: Scan (opset 28) at 'uneven': the operands have 2 and 3 entries
// CHECK: Scan (opset 28) at 'long': a scan of 70000 entries is not supported, only of 1 to 65536
// CHECK: Scan (opset 28) at 'tall': the loop would be unrolled to more than 4096 iterations, since state 0 is tensor<2x3xf32> before the first iteration and tensor<4x3xf32> after it: make it shorter
// CHECK: Scan (opset 28) at 'narrow': the graph body has 1 inputs, but the node gives it 2
// CHECK: Scan (opset 28) at 'no_state': the graph body must give as many results as the scan has states, 1
// CHECK: Scan (opset 28) at 'list_state': a state must be a tensor
// CHECK: SequenceMap (opset 28) at 'map_tensor': operand 0 must be a sequence
// CHECK: SequenceMap (opset 28) at 'map_lengths': the sequences have 1 and 2 elements
// CHECK: SequenceMap (opset 28) at 'map_nothing': the graph body must give 1 results
// CHECK: SequenceMap (opset 28) at 'map_lists': the graph body must give tensors
// CHECK: SequenceAt (opset 28) at 'far': position 2 is outside of a sequence of 1 tensors
// CHECK: SequenceInsert (opset 28) at 'insert': position 2 is outside of a sequence of 1 tensors
// CHECK: SequenceErase (opset 28) at 'erase': position 2 is outside of a sequence of 1 tensors
// CHECK: ConcatFromSequence (opset 28) at 'joined': the sequence is empty, so that the result has no type
// CHECK: ConcatFromSequence (opset 28) at 'unlike': the tensors differ in more than the dimension that is joined
// CHECK: OptionalGetElement (opset 28) at 'gone': the optional value is not there
// CHECK: Frobnicate (opset 28) at 'Frobnicate': the operator is not supported
// CHECK: Loop (opset 28) at 'nested': the loops of the model would be unrolled to more than 262144 nodes and ops: make them shorter
// CHECK: Frobnicate (opset 28) at 'Frobnicate': the operator is not supported
// CHECK: Loop (opset 28) at 'steps': the loops of the model would be unrolled to more than 262144 nodes and ops: make them shorter
// CHECK: Frobnicate (opset 28) at 'Frobnicate': the operator is not supported
// CHECK: Scan (opset 8) at 'lengths': operand 0 (the lengths of sequences) is not supported
// CHECK: Scan (opset 8) at 'batches': operands must have the same first dimension, the batch
// CHECK: Frobnicate (opset 8) at 'Frobnicate': the operator is not supported
// CHECK: Hardmax (opset 12) at 'flattened': the form of opsets up to 12, which flattens the operand, is not supported
onnx.graph @g(%x: tensor<2x3xf32>, %w: tensor<3x2xf32>, %v: tensor<3xf32>, %l: tensor<70000xf32>, %m: tensor<5000xf32>, %c: tensor<i1>, %n: tensor<i64>, %big: tensor<281474976710656xf32>) -> !onnx.unknown attributes {inputNames = ["x", "w", "v", "l", "m", "c", "n", "big"], opsets = {ai.onnx = 28 : i64}, outputNames = ["y"]} {
  %none = onnx.none : none
  %two = onnx.initializer "two" = dense<2> : tensor<i64>
  %many = onnx.initializer "many" = dense<5000> : tensor<i64>
  %nothing = onnx.initializer "nothing" = dense<0> : tensor<i64>
  %yes = onnx.initializer "yes" = dense<true> : tensor<i1>
  %ends = onnx.initializer "ends" = dense<[true, false]> : tensor<2xi1>
  %empty = onnx.node "SequenceEmpty"() : () -> !onnx.unknown loc("empty")
  %one_tensor = onnx.node "SequenceConstruct"(%x) : (tensor<2x3xf32>) -> !onnx.unknown loc("one")
  %two_tensors = onnx.node "SequenceConstruct"(%x, %w) : (tensor<2x3xf32>, tensor<3x2xf32>) -> !onnx.unknown loc("two")
  %vectors = onnx.node "SequenceConstruct"(%x, %v) : (tensor<2x3xf32>, tensor<3xf32>) -> !onnx.unknown loc("vectors")
  %missing = onnx.node "If"(%c) : (tensor<i1>) -> !onnx.unknown loc("missing")
  %wide_condition = onnx.node "If"(%ends) {else_branch, then_branch} : (tensor<2xi1>) -> !onnx.unknown {
    onnx.return %x : tensor<2x3xf32>
  }, {
    onnx.return %x : tensor<2x3xf32>
  } loc("wide_condition")
  %types = onnx.node "If"(%c) {else_branch, then_branch} : (tensor<i1>) -> !onnx.unknown {
    onnx.return %w : tensor<3x2xf32>
  }, {
    onnx.return %x : tensor<2x3xf32>
  } loc("types")
  %lengths = onnx.node "If"(%c) {else_branch, then_branch} : (tensor<i1>) -> !onnx.unknown {
    onnx.return %two_tensors : !onnx.unknown
  }, {
    onnx.return %one_tensor : !onnx.unknown
  } loc("lengths")
  %results = onnx.node "If"(%c) {else_branch, then_branch} : (tensor<i1>) -> !onnx.unknown {
    onnx.return %w : tensor<3x2xf32>
  }, {
    onnx.return %x, %x : tensor<2x3xf32>, tensor<2x3xf32>
  } loc("results")
  %inner = onnx.node "If"(%c) {else_branch, then_branch} : (tensor<i1>) -> !onnx.unknown {
    onnx.return %x : tensor<2x3xf32>
  }, {
    %bad = onnx.node "Frobnicate"(%x) : (tensor<2x3xf32>) -> !onnx.unknown loc("frob")
    onnx.return %bad : !onnx.unknown
  } loc("inner")
  %inputs = onnx.node "Loop"(%two, %none, %x) {body} : (tensor<i64>, none, tensor<2x3xf32>) -> !onnx.unknown {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>):
    onnx.return %go : tensor<i1>
  } loc("inputs")
  %body_inputs = onnx.node "Loop"(%two, %none, %x) {body} : (tensor<i64>, none, tensor<2x3xf32>) -> !onnx.unknown {
  ^bb0(%i: tensor<i64>):
    onnx.return %i : tensor<i64>
  } loc("body_inputs")
  %data_trips = onnx.node "Loop"(%n, %none, %x) {body} : (tensor<i64>, none, tensor<2x3xf32>) -> !onnx.unknown {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %s: tensor<2x3xf32>):
    onnx.return %go, %s : tensor<i1>, tensor<2x3xf32>
  } loc("data_trips")
  %wide_go = onnx.node "Loop"(%two, %ends, %x) {body} : (tensor<i64>, tensor<2xi1>, tensor<2x3xf32>) -> !onnx.unknown {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %s: tensor<2x3xf32>):
    onnx.return %go, %s : tensor<i1>, tensor<2x3xf32>
  } loc("wide_go")
  %data_end = onnx.node "Loop"(%none, %c, %x) {body} : (none, tensor<i1>, tensor<2x3xf32>) -> !onnx.unknown {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %s: tensor<2x3xf32>):
    onnx.return %go, %s : tensor<i1>, tensor<2x3xf32>
  } loc("data_end")
  %endless = onnx.node "Loop"(%many, %none, %x) {body} : (tensor<i64>, none, tensor<2x3xf32>) -> !onnx.unknown {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %s: tensor<2x3xf32>):
    onnx.return %c, %s : tensor<i1>, tensor<2x3xf32>
  } loc("endless")
  %uncounted_loop = onnx.node "Loop"(%none, %none, %x) {body} : (none, none, tensor<2x3xf32>) -> !onnx.unknown {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %s: tensor<2x3xf32>):
    onnx.return %go, %s : tensor<i1>, tensor<2x3xf32>
  } loc("uncounted_loop")
  %few = onnx.node "Loop"(%two, %none, %x) {body} : (tensor<i64>, none, tensor<2x3xf32>) -> !onnx.unknown {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %s: tensor<2x3xf32>):
    onnx.return %go : tensor<i1>
  } loc("few")
  %data_length = onnx.node "Loop"(%two, %c, %x) {body} : (tensor<i64>, tensor<i1>, tensor<2x3xf32>) -> !onnx.unknown {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %s: tensor<2x3xf32>):
    onnx.return %go, %s, %s : tensor<i1>, tensor<2x3xf32>, tensor<2x3xf32>
  } loc("data_length")
  %no_iterations = onnx.node "Loop"(%nothing, %none, %x) {body} : (tensor<i64>, none, tensor<2x3xf32>) -> !onnx.unknown {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %s: tensor<2x3xf32>):
    %grown = onnx.node "Neg"(%s) : (tensor<2x3xf32>) -> !onnx.unknown
    onnx.return %go, %s, %grown : tensor<i1>, tensor<2x3xf32>, !onnx.unknown
  } loc("no_iterations")
  %no_numbers = onnx.node "Loop"(%nothing, %none, %x) {body} : (tensor<i64>, none, tensor<2x3xf32>) -> !onnx.unknown {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %s: tensor<2x3xf32>):
    %complex = onnx.node "Neg"(%s) : (tensor<2x3xf32>) -> tensor<4xcomplex<f32>>
    onnx.return %go, %s, %complex : tensor<i1>, tensor<2x3xf32>, tensor<4xcomplex<f32>>
  } loc("no_numbers")
  %large = onnx.node "Loop"(%two, %none, %x) {body} : (tensor<i64>, none, tensor<2x3xf32>) -> !onnx.unknown {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %s: tensor<2x3xf32>):
    onnx.return %go, %s, %big : tensor<i1>, tensor<2x3xf32>, tensor<281474976710656xf32>
  } loc("large")
  %mean = onnx.initializer "mean" = dense<0.0> : tensor<3xf32>
  %repeated = onnx.node "Loop"(%two, %none, %x) {body} : (tensor<i64>, none, tensor<2x3xf32>) -> !onnx.unknown {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %s: tensor<2x3xf32>):
    %statistics = onnx.node "BatchNormalization"(%s, %v, %v, %mean, %mean) : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> !onnx.unknown loc("statistics")
    onnx.return %go, %statistics : tensor<i1>, !onnx.unknown
  } loc("repeated")
  %changing = onnx.node "Loop"(%two, %none, %x) {body} : (tensor<i64>, none, tensor<2x3xf32>) -> !onnx.unknown {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %s: tensor<2x3xf32>):
    %wider = onnx.node "Concat"(%s, %x) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> !onnx.unknown
    onnx.return %go, %wider, %s : tensor<i1>, !onnx.unknown, tensor<2x3xf32>
  } loc("changing")
  %lists = onnx.node "Loop"(%two, %none, %x) {body} : (tensor<i64>, none, tensor<2x3xf32>) -> !onnx.unknown {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %s: tensor<2x3xf32>):
    onnx.return %go, %s, %one_tensor : tensor<i1>, tensor<2x3xf32>, !onnx.unknown
  } loc("lists")
  %uncounted = onnx.node "Scan"(%x, %x) {body} : (tensor<2x3xf32>, tensor<2x3xf32>) -> !onnx.unknown {
  ^bb0(%s: tensor<2x3xf32>, %row: tensor<3xf32>):
    onnx.return %s : tensor<2x3xf32>
  } loc("uncounted")
  %sequence = onnx.node "Scan"(%one_tensor, %x) {body, num_scan_inputs = 1 : i64} : (!onnx.unknown, tensor<2x3xf32>) -> !onnx.unknown {
  ^bb0(%s: tensor<2x3xf32>, %row: tensor<3xf32>):
    onnx.return %s : tensor<2x3xf32>
  } loc("sequence")
  %uneven = onnx.node "Scan"(%x, %w) {body, num_scan_inputs = 2 : i64} : (tensor<2x3xf32>, tensor<3x2xf32>) -> !onnx.unknown {
  ^bb0(%a: tensor<3xf32>, %b: tensor<2xf32>):
    onnx.return %a : tensor<3xf32>
  } loc("uneven")
  %long = onnx.node "Scan"(%x, %l) {body, num_scan_inputs = 1 : i64} : (tensor<2x3xf32>, tensor<70000xf32>) -> !onnx.unknown {
  ^bb0(%s: tensor<2x3xf32>, %row: tensor<f32>):
    onnx.return %s : tensor<2x3xf32>
  } loc("long")
  %tall = onnx.node "Scan"(%x, %m) {body, num_scan_inputs = 1 : i64} : (tensor<2x3xf32>, tensor<5000xf32>) -> !onnx.unknown {
  ^bb0(%s: tensor<2x3xf32>, %row: tensor<f32>):
    %wider = onnx.node "Concat"(%s, %x) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> !onnx.unknown
    onnx.return %wider : !onnx.unknown
  } loc("tall")
  %narrow = onnx.node "Scan"(%x, %m) {body, num_scan_inputs = 1 : i64} : (tensor<2x3xf32>, tensor<5000xf32>) -> !onnx.unknown {
  ^bb0(%s: tensor<2x3xf32>):
    onnx.return %s : tensor<2x3xf32>
  } loc("narrow")
  %no_state = onnx.node "Scan"(%x, %x) {body, num_scan_inputs = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> !onnx.unknown {
  ^bb0(%s: tensor<2x3xf32>, %row: tensor<3xf32>):
    onnx.return
  } loc("no_state")
  %list_state = onnx.node "Scan"(%x, %x) {body, num_scan_inputs = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> !onnx.unknown {
  ^bb0(%s: tensor<2x3xf32>, %row: tensor<3xf32>):
    onnx.return %one_tensor : !onnx.unknown
  } loc("list_state")
  %map_tensor = onnx.node "SequenceMap"(%x) {body} : (tensor<2x3xf32>) -> !onnx.unknown {
  ^bb0(%e: tensor<2x3xf32>):
    onnx.return %e : tensor<2x3xf32>
  } loc("map_tensor")
  %map_lengths = onnx.node "SequenceMap"(%one_tensor, %two_tensors) {body} : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown {
  ^bb0(%e: tensor<2x3xf32>, %f: !onnx.unknown):
    onnx.return %e : tensor<2x3xf32>
  } loc("map_lengths")
  %map_nothing = onnx.node "SequenceMap"(%one_tensor) {body} : (!onnx.unknown) -> !onnx.unknown {
  ^bb0(%e: tensor<2x3xf32>):
    onnx.return
  } loc("map_nothing")
  %map_lists = onnx.node "SequenceMap"(%one_tensor) {body} : (!onnx.unknown) -> !onnx.unknown {
  ^bb0(%e: tensor<2x3xf32>):
    onnx.return %one_tensor : !onnx.unknown
  } loc("map_lists")
  %far = onnx.node "SequenceAt"(%one_tensor, %two) : (!onnx.unknown, tensor<i64>) -> !onnx.unknown loc("far")
  %insert = onnx.node "SequenceInsert"(%one_tensor, %x, %two) : (!onnx.unknown, tensor<2x3xf32>, tensor<i64>) -> !onnx.unknown loc("insert")
  %erase = onnx.node "SequenceErase"(%one_tensor, %two) : (!onnx.unknown, tensor<i64>) -> !onnx.unknown loc("erase")
  %joined = onnx.node "ConcatFromSequence"(%empty) {axis = 0 : i64} : (!onnx.unknown) -> !onnx.unknown loc("joined")
  %unlike = onnx.node "ConcatFromSequence"(%vectors) {axis = 0 : i64} : (!onnx.unknown) -> !onnx.unknown loc("unlike")
  %gone = onnx.node "OptionalGetElement"() : () -> !onnx.unknown loc("gone")
  %out = onnx.node "Frobnicate"(%x) : (tensor<2x3xf32>) -> !onnx.unknown
  onnx.return %out : !onnx.unknown
}

// -----

onnx.graph @g(%x: tensor<2x3xf32>, %c: tensor<i1>) -> !onnx.unknown attributes {inputNames = ["x", "c"], opsets = {ai.onnx = 28 : i64}, outputNames = ["y"]} {
  %many = onnx.initializer "many" = dense<4000> : tensor<i64>
  %none = onnx.none : none
  %outer = onnx.node "Loop"(%many, %none, %x) {body} : (tensor<i64>, none, tensor<2x3xf32>) -> !onnx.unknown {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %s: tensor<2x3xf32>):
  %nested = onnx.node "Loop"(%many, %none, %s) {body} : (tensor<i64>, none, tensor<2x3xf32>) -> !onnx.unknown {
  ^bb0(%j: tensor<i64>, %go2: tensor<i1>, %t: tensor<2x3xf32>):
    onnx.return %c, %t : tensor<i1>, tensor<2x3xf32>
  } loc("nested")
    onnx.return %c, %nested : tensor<i1>, !onnx.unknown
  } loc("outer")
  %out = onnx.node "Frobnicate"(%x) : (tensor<2x3xf32>) -> !onnx.unknown
  onnx.return %out : !onnx.unknown
}

// -----

onnx.graph @g(%x: tensor<2x3xf32>, %c: tensor<i1>, %seq: tensor<64x1x2xf32>, %w: tensor<1x3x2xf32>, %r: tensor<1x3x3xf32>) -> !onnx.unknown attributes {inputNames = ["x", "c", "seq", "w", "r"], opsets = {ai.onnx = 28 : i64}, outputNames = ["y"]} {
  %many = onnx.initializer "many" = dense<4000> : tensor<i64>
  %none = onnx.none : none
  %steps = onnx.node "Loop"(%many, %none, %x) {body} : (tensor<i64>, none, tensor<2x3xf32>) -> !onnx.unknown {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %s: tensor<2x3xf32>):
    %layer = onnx.node "RNN"(%seq, %w, %r) {hidden_size = 3 : i64} : (tensor<64x1x2xf32>, tensor<1x3x2xf32>, tensor<1x3x3xf32>) -> !onnx.unknown
    onnx.return %c, %s : tensor<i1>, tensor<2x3xf32>
  } loc("steps")
  %out = onnx.node "Frobnicate"(%x) : (tensor<2x3xf32>) -> !onnx.unknown
  onnx.return %out : !onnx.unknown
}

// -----

onnx.graph @g(%x: tensor<2x3xf32>, %w: tensor<3x2xf32>, %y3: tensor<2x4x3xf32>, %lens: tensor<2xi64>) -> !onnx.unknown attributes {inputNames = ["x", "w", "y3", "lens"], opsets = {ai.onnx = 8 : i64}, outputNames = ["y"]} {
  %none = onnx.none : none
  %lengths = onnx.node "Scan"(%lens, %x, %y3) {body, num_scan_inputs = 1 : i64} : (tensor<2xi64>, tensor<2x3xf32>, tensor<2x4x3xf32>) -> !onnx.unknown {
  ^bb0(%s: tensor<3xf32>, %row: tensor<3xf32>):
    onnx.return %s : tensor<3xf32>
  } loc("lengths")
  %batches = onnx.node "Scan"(%none, %w, %y3) {body, num_scan_inputs = 1 : i64} : (none, tensor<3x2xf32>, tensor<2x4x3xf32>) -> !onnx.unknown {
  ^bb0(%s: tensor<2xf32>, %row: tensor<3xf32>):
    onnx.return %s : tensor<2xf32>
  } loc("batches")
  %out = onnx.node "Frobnicate"(%x) : (tensor<2x3xf32>) -> !onnx.unknown
  onnx.return %out : !onnx.unknown
}

// -----

onnx.graph @g(%x: tensor<2x3xf32>) -> !onnx.unknown attributes {inputNames = ["x"], opsets = {ai.onnx = 12 : i64}, outputNames = ["y"]} {
  %out = onnx.node "Hardmax"(%x) : (tensor<2x3xf32>) -> !onnx.unknown loc("flattened")
  onnx.return %out : !onnx.unknown
}
