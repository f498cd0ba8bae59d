// expected-error @below {{expects an 'onnx.graph'}}
module {
}

// -----

// expected-error @below {{expects tensors as outputs of the model}}
onnx.graph @g(%x: tensor<4xf32>) -> !onnx.unknown attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["y"]} {
  %0 = onnx.node "SequenceConstruct"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> !onnx.unknown
  onnx.return %0 : !onnx.unknown
}

// -----

// expected-error @below {{output 'y' has numbers above 9223372036854775807, the largest of the int64 in which programs hold uint64: make the output another type in the model, or leave it out}}
onnx.graph @g(%x: tensor<4xf32>) -> !onnx.unknown attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["y"]} {
  %most = onnx.initializer "most" = dense<[1, 9223372036854775808]> : tensor<2xui64>
  %0 = onnx.node "Identity"(%most) : (tensor<2xui64>) -> !onnx.unknown
  onnx.return %0 : !onnx.unknown
}

// -----

// expected-error @below {{initializer 'table': integers, and numbers of 8 bits, of this size are not supported}}
onnx.graph @g(%x: tensor<4xf32>) -> !onnx.unknown attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["y"]} {
  %table = onnx.initializer "table" at <"weights", offset = 0, size = 32> : tensor<4xi64>
  %0 = onnx.node "Gather"(%x, %table) : (tensor<4xf32>, tensor<4xi64>) -> !onnx.unknown
  onnx.return %0 : !onnx.unknown
}
