// RUN: gpuopt-opt %s -split-input-file -convert-onnx-to-nn -verify-diagnostics | FileCheck %s

// A single number that the file says is no constant is a weight.
// CHECK: train.variable @temperature frozen : tensor<f32>
// CHECK: train.variable @learnt parameter : tensor<1xf32>
// CHECK-NOT: train.variable
// CHECK-LABEL: func.func @forward
onnx.graph @weights(%x: tensor<4xf32>) -> !onnx.unknown attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["y"]} {
  %t = onnx.initializer "temperature" constant false trained false = dense<0.5> : tensor<f32>
  %u = onnx.initializer "learnt" constant false trained true = dense<0.5> : tensor<1xf32>
  %v = onnx.initializer "unmarked" trained false = dense<0.5> : tensor<1xf32>
  %e = onnx.initializer "empty" constant false trained false = dense<> : tensor<0x4xf32>
  %0 = onnx.node "Mul"(%x, %t) : (tensor<4xf32>, tensor<f32>) -> !onnx.unknown
  %1 = onnx.node "Mul"(%0, %u) : (!onnx.unknown, tensor<1xf32>) -> !onnx.unknown
  %2 = onnx.node "Mul"(%1, %v) : (!onnx.unknown, tensor<1xf32>) -> !onnx.unknown
  %shape = onnx.initializer "shape" = dense<[1, 4]> : tensor<2xi64>
  %3 = onnx.node "Reshape"(%2, %shape) : (!onnx.unknown, tensor<2xi64>) -> !onnx.unknown
  %4 = onnx.node "Concat"(%3, %e) {axis = 0 : i64} : (!onnx.unknown, tensor<0x4xf32>) -> !onnx.unknown
  onnx.return %4 : !onnx.unknown
}

// -----

// A frozen weight is a constant where a node needs its value, which it may have
// computed from that and from shapes. Other frozen weights stay weights.
// CHECK: train.variable @temperature frozen : tensor<f32>
// CHECK-NOT: train.variable
// CHECK-LABEL: func.func @forward
// expected-remark @below {{these frozen weights become constants, because nodes need their values at compile time, and files of weights will not contain them: 'low' for Clip at 'bounded', 'step' for Range at 'places', 'ends' for Range at 'places' and 1 more}}
onnx.graph @constants(%x: tensor<4xf32>) -> (!onnx.unknown, !onnx.unknown, !onnx.unknown) attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["y", "z", "a"]} {
  %low = onnx.initializer "low" constant false trained false = dense<0.0> : tensor<f32>
  %t = onnx.initializer "temperature" constant false trained false = dense<0.5> : tensor<f32>
  // Twice the length by this is the length.
  %size = onnx.initializer "size" constant false trained false = dense<0.5> : tensor<1xf32>
  %start = onnx.initializer "start" = dense<0.0> : tensor<f32>
  %ends = onnx.initializer "ends" trained false = dense<[1.0, 4.0]> : tensor<2xf32>
  %step = onnx.initializer "step" constant false trained false = dense<1.0> : tensor<f32>
  %one = onnx.initializer "one" = dense<1> : tensor<i64>
  %0 = onnx.node "Mul"(%x, %t) : (tensor<4xf32>, tensor<f32>) -> !onnx.unknown
  %bounded = onnx.node "Clip"(%0, %low) : (!onnx.unknown, tensor<f32>) -> !onnx.unknown loc("bounded")
  %2 = onnx.node "Shape"(%bounded) : (!onnx.unknown) -> !onnx.unknown
  %3 = onnx.node "Cast"(%2) {to = 1 : i64} : (!onnx.unknown) -> !onnx.unknown
  %4 = onnx.node "Mul"(%3, %size) : (!onnx.unknown, tensor<1xf32>) -> !onnx.unknown
  %5 = onnx.node "Cast"(%4) {to = 7 : i64} : (!onnx.unknown) -> !onnx.unknown
  %6 = onnx.node "Concat"(%5, %2) {axis = 0 : i64} : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown
  %y = onnx.node "Expand"(%bounded, %6) : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown loc("twice")
  %7 = onnx.node "Gather"(%ends, %one) : (tensor<2xf32>, tensor<i64>) -> !onnx.unknown
  %z = onnx.node "Range"(%start, %7, %step) : (tensor<f32>, !onnx.unknown, tensor<f32>) -> !onnx.unknown loc("places")
  onnx.return %y, %z, %bounded : !onnx.unknown, !onnx.unknown, !onnx.unknown
}

// -----

// Within the graphs of a node, nothing tells which weights decide: all that the
// nodes around it read are constants.
// CHECK: train.variable @beside frozen : tensor<2xf32>
// CHECK-NOT: train.variable
// CHECK-LABEL: func.func @forward
// expected-remark @below {{will not contain them: 'limit' for Range at 'Range'}}
onnx.graph @inside(%x: tensor<4xf32>) -> (!onnx.unknown, !onnx.unknown) attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["y", "z"]} {
  %beside = onnx.initializer "beside" trained false = dense<[3.0, 4.0]> : tensor<2xf32>
  %limit = onnx.initializer "limit" constant false trained false = dense<3.0> : tensor<f32>
  %trips = onnx.initializer "trips" = dense<2> : tensor<i64>
  %true = onnx.initializer "true" = dense<true> : tensor<i1>
  %y:2 = onnx.node "Loop"(%trips, %true, %limit) {body} : (tensor<i64>, tensor<i1>, tensor<f32>) -> (!onnx.unknown, !onnx.unknown) {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %l: tensor<f32>):
    %start = onnx.initializer "start" = dense<0.0> : tensor<f32>
    %step = onnx.initializer "step" = dense<1.0> : tensor<f32>
    %r = onnx.node "Range"(%start, %l, %step) : (tensor<f32>, tensor<f32>, tensor<f32>) -> !onnx.unknown
    onnx.return %c, %l, %r : tensor<i1>, tensor<f32>, !onnx.unknown
  }
  %two = onnx.initializer "two" = dense<[2, 2]> : tensor<2xi64>
  %shaped = onnx.node "Reshape"(%x, %two) : (tensor<4xf32>, tensor<2xi64>) -> !onnx.unknown
  %z = onnx.node "Add"(%shaped, %beside) : (!onnx.unknown, tensor<2xf32>) -> !onnx.unknown
  onnx.return %y#1, %z : !onnx.unknown, !onnx.unknown
}

// -----

// Where only the shape of a weight counts, its values do not.
// CHECK: train.variable @bias frozen : tensor<3xf32>
// CHECK-NOT: train.variable
// CHECK-LABEL: func.func @forward
// expected-remark @below {{will not contain them: 'step' for Range at 'Range'}}
onnx.graph @shapes(%x: tensor<3xf32>) -> (!onnx.unknown, !onnx.unknown) attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["y", "z"]} {
  %bias = onnx.initializer "bias" trained false = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %start = onnx.initializer "start" = dense<0.0> : tensor<f32>
  %step = onnx.initializer "step" constant false trained false = dense<1.0> : tensor<f32>
  %0 = onnx.node "Size"(%bias) : (tensor<3xf32>) -> !onnx.unknown
  %1 = onnx.node "Cast"(%0) {to = 1 : i64} : (!onnx.unknown) -> !onnx.unknown
  %y = onnx.node "Range"(%start, %1, %step) : (tensor<f32>, !onnx.unknown, tensor<f32>) -> !onnx.unknown
  %z = onnx.node "Add"(%x, %bias) : (tensor<3xf32>, tensor<3xf32>) -> !onnx.unknown
  onnx.return %y, %z : !onnx.unknown, !onnx.unknown
}
