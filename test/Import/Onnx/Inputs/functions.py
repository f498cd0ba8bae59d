"""Prints a model with functions, in protobuf's text format.

chain COUNT: each function calls the next one.
same COUNT: as many calls of one function, all of one name.
"""

import sys

kind, count = sys.argv[1], int(sys.argv[2])


def node(op, input, output, domain="my"):
    return (
        f'node {{ name: "call" op_type: "{op}" domain: "{domain}" '
        f'input: "{input}" output: "{output}" }}'
    )


def function(name, *nodes):
    print(
        f'functions {{ domain: "my" name: "{name}" input: "x" output: "y" '
        'opset_import { version: 20 } opset_import { domain: "my" version: 1 }',
        *nodes,
        "}",
    )


print('opset_import { version: 20 } opset_import { domain: "my" version: 1 }')
calls = 1
if kind == "chain":
    for i in range(count - 1):
        function(f"f{i}", node(f"f{i + 1}", "x", "y"))
    function(f"f{count - 1}", node("Relu", "x", "y", ""))
else:
    function("f0", node("Neg", "x", "t", ""), node("Neg", "t", "y", ""))
    calls = count
print("graph {")
for i in range(calls):
    print(node("f0", f"x{i}" if i else "x", f"x{i + 1}"))
print(
    f'output {{ name: "x{calls}" }} input {{ name: "x" type {{ tensor_type '
    "{ elem_type: 1 shape { dim { dim_value: 2 } } } } } }"
)
