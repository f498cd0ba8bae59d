"""Prints a graph of COUNT nodes that fail, behind a chain of COUNT nodes."""

import sys

count = int(sys.argv[1])
print(
    "onnx.graph @g(%x: tensor<4xf32>, %s0: tensor<1xi64>) -> !onnx.unknown "
    'attributes {inputNames = ["x", "s"], opsets = {ai.onnx = 21 : i64}, '
    'outputNames = ["y"]} {'
)
for i in range(count):
    print(
        f'%s{i + 1} = onnx.node "Neg"(%s{i}) : (tensor<1xi64>) -> tensor<1xi64>'
    )
for i in range(count):
    print(
        f'%y{i} = onnx.node "Reshape"(%x, %s{count}) : '
        f'(tensor<4xf32>, tensor<1xi64>) -> !onnx.unknown loc("y{i}")'
    )
print("onnx.return %y0 : !onnx.unknown\n}")
