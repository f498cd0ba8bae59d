// RUN: gpuopt-opt %s -split-input-file -verify-diagnostics -allow-unregistered-dialect

// graph (C1)
// expected-error @below {{expects a name for each of its 1 inputs, but got 0}}
onnx.graph @g(%x: tensor<4xf32>) attributes {inputNames = [], outputNames = [], opsets = {}} {
  onnx.return
}

// -----

// graph (C2)
// expected-error @below {{expects a name for each of its 1 outputs, but got 2}}
onnx.graph @g(%x: tensor<4xf32>) -> tensor<4xf32> attributes {inputNames = ["x"], outputNames = ["a", "b"], opsets = {}} {
  onnx.return %x : tensor<4xf32>
}

// -----

// graph (C3)
// expected-error @below {{expects input "x" to be a tensor of static shape, but got 'tensor<?xf32>'}}
onnx.graph @g(%x: tensor<?xf32>) attributes {inputNames = ["x"], outputNames = [], opsets = {}} {
  onnx.return
}

// -----

// graph (C4)
// expected-error @below {{expects opset "ai.onnx" to be a positive i64, but got 0}}
onnx.graph @g() attributes {inputNames = [], outputNames = [], opsets = {ai.onnx = 0}} {
  onnx.return
}

// -----

// graph (C5)
onnx.graph @g() attributes {inputNames = [], outputNames = [], opsets = {ai.onnx = 20}} {
  // expected-error @below {{expects the graph to import its domain 'com.microsoft', but 'opsets' is {ai.onnx = 20 : i64}}}
  onnx.node "A" in "com.microsoft"() : () -> ()
  onnx.return
}

// -----

// graph (C6)
onnx.graph @g() attributes {inputNames = [], outputNames = [], opsets = {ai.onnx = 20}} {
  // expected-error @below {{block with no terminator}}
  onnx.node "A"() : () -> ()
}

// -----

// graph (C6)
onnx.graph @g(%x: tensor<4xf32>) -> tensor<2xf32> attributes {inputNames = ["x"], outputNames = ["y"], opsets = {}} {
  // expected-error @below {{expects operands of types ('tensor<2xf32>'), but got ('tensor<4xf32>')}}
  onnx.return %x : tensor<4xf32>
}

// -----

// node (C1)
// expected-error @below {{expects an op type}}
onnx.node ""() : () -> ()

// -----

// node (C2)
// expected-error @below {{expects a name for each of its 2 results, but got 1}}
%0:2 = onnx.node "Split"() as ["a"] : () -> (tensor<1xf32>, tensor<1xf32>)

// -----

// node (C3)
// expected-error @below {{expects attribute "a" to be an i64, an f32, a string, an array of these or a tensor, but got 1 : i32}}
onnx.node "A"() {a = 1 : i32} : () -> ()

// -----

// node (C4)
// expected-error @below {{expects the default domain to be left out, but got 'ai.onnx'}}
onnx.node "A" in "ai.onnx"() : () -> ()

// -----

// initializer (C1)
// expected-error @below {{expects either a value or a source, but got both}}
%0 = "onnx.initializer"() <{name = "a", value = dense<0> : tensor<1xi8>, source = #onnx.file<"a", offset = 0, size = 1>}> : () -> tensor<1xi8>

// -----

// initializer (C1)
// expected-error @below {{expects a value or a source, but got neither}}
%0 = "onnx.initializer"() <{name = "a"}> : () -> tensor<1xi8>

// -----

// initializer (C2)
// expected-error @below {{expects a value of type 'tensor<2xi8>', but got 'tensor<1xi8>'}}
%0 = "onnx.initializer"() <{name = "a", value = dense<0> : tensor<1xi8>}> : () -> tensor<2xi8>

// -----

// initializer (C3)
// expected-error @below {{expects 16 bytes for 'tensor<2xcomplex<f32>>', but got 8}}
%0 = onnx.initializer "a" at <"a", offset = 0, size = 8> : tensor<2xcomplex<f32>>

// -----

// initializer (C4)
// expected-error @below {{expects a constant to have a value, but got a place in a file}}
%0 = onnx.initializer "a" constant true at <"a", offset = 0, size = 4> : tensor<1xf32>

// -----

// initializer (C4)
// expected-error @below {{expects a constant not to be trained, but got 'trained true'}}
%0 = onnx.initializer "a" constant true trained true = dense<1.0> : tensor<1xf32>

// -----

// expected-error @below {{expects a range of bytes within 63 bits, but got offset 9223372036854775807 and size 1}}
%0 = onnx.initializer "a" at <"a", offset = 9223372036854775807, size = 1> : tensor<1xi8>

// -----

// expected-error @below {{expects a path}}
%0 = onnx.initializer "a" at <"", offset = 0, size = 1> : tensor<1xi8>

// -----

// graph (C6)
// expected-error @below {{expects to end in 'onnx.return'}}
"onnx.graph"() <{function_type = (tensor<4xf32>) -> (), inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = [], sym_name = "g"}> ({
^bb0(%x: tensor<4xf32>):
  "other.return"() : () -> ()
}) : () -> ()

// -----

// node (C5)
// expected-error @below {{expects a region for each attribute that is a graph, 1, but got 0}}
%0 = onnx.node "Loop"() {body} : () -> !onnx.unknown

// -----

// node (C5)
// expected-error @below {{expects graphs to end in 'onnx.return'}}
%0 = "onnx.node"() <{opType = "Loop", onnxAttributes = {body}}> ({
  "other.return"() : () -> ()
}) : () -> !onnx.unknown
