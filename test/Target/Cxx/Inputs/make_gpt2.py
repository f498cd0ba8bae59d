"""Writes GPT-2 of any depth as the text of an ONNX model, without its weights:
they are ranges of a file of zeros that takes no room on the disk.

usage: make_gpt2.py LAYERS FOLDER [WORDS] > model.textproto

The file of weights, FOLDER/weights, is as long as they are. Shapes are those of
GPT-2 124M (width 768, 12 heads, 1024 tokens, 50257 words), but for WORDS if it is given.
"""

import sys
from pathlib import Path

WIDTH, HEADS, TOKENS, WORDS = 768, 12, 1024, 50257
FLOAT, INT64 = 1, 7


class Graph:
    def __init__(self, word_count: int):
        self.word_count = word_count
        self.lines, self.offset, self.count = [], 0, 0

    def weight(self, name: str, *dims: int) -> str:
        size = 4
        for dim in dims:
            size *= dim
        text = " ".join(f"dims: {dim}" for dim in dims)
        entries = " ".join(f'external_data {{ key: "{key}" value: "{value}" }}'
                           for key, value in (("location", "weights"), ("offset", self.offset), ("length", size)))
        self.lines.append(f'initializer {{ name: "{name}" data_type: {FLOAT} {text} data_location: EXTERNAL {entries} }}')
        self.offset += size
        return name

    def numbers(self, *values: int, scalar: bool = False) -> str:
        name = f"numbers_{self.count}"
        self.count += 1
        dims = "" if scalar else f"dims: {len(values)}"
        data = " ".join(f"int64_data: {value}" for value in values)
        self.lines.append(f'initializer {{ name: "{name}" data_type: {INT64} {dims} {data} }}')
        return name

    def real(self, value: float) -> str:
        name = f"numbers_{self.count}"
        self.count += 1
        self.lines.append(f'initializer {{ name: "{name}" data_type: {FLOAT} float_data: {value} }}')
        return name

    def node(self, kind: str, module: str, *inputs: str, outputs: int = 1, **attributes) -> str | list[str]:
        """A node of a module, which is named as PyTorch's exporter names it."""
        name = f"{module}/{kind.lower()}_{self.count}"
        self.count += 1
        results = [name] if outputs == 1 else [f"{name}_{index}" for index in range(outputs)]
        fields = [f'op_type: "{kind}" name: "{name}"']
        fields += [f'input: "{value}"' for value in inputs] + [f'output: "{value}"' for value in results]
        for key, value in attributes.items():
            if isinstance(value, list):
                fields.append(f'attribute {{ name: "{key}" type: INTS ' + " ".join(f"ints: {item}" for item in value) + " }")
            elif isinstance(value, str):
                fields.append(f'attribute {{ name: "{key}" type: STRING s: "{value}" }}')
            elif isinstance(value, float):
                fields.append(f'attribute {{ name: "{key}" type: FLOAT f: {value} }}')
            else:
                fields.append(f'attribute {{ name: "{key}" type: INT i: {value} }}')
        self.lines.append("node { " + " ".join(fields) + " }")
        return results[0] if outputs == 1 else results

    def reshape(self, module: str, value: str, *sizes: int) -> str:
        return self.node("Reshape", module, value, self.numbers(*sizes))

    def norm(self, module: str, value: str) -> str:
        return self.node("LayerNormalization", module, value, self.weight(f"{module}.weight", WIDTH),
                         self.weight(f"{module}.bias", WIDTH), axis=-1, epsilon=1e-5)

    def linear(self, module: str, value: str, rows: int, columns: int) -> str:
        product = self.node("Gemm", module, self.reshape(module, value, -1, rows),
                            self.weight(f"{module}.weight", rows, columns), self.weight(f"{module}.bias", columns))
        return self.reshape(module, product, -1, TOKENS, columns)

    def attention(self, module: str, value: str, mask: str) -> str:
        heads = self.node("Split", module, self.linear(f"{module}.c_attn", value, WIDTH, 3 * WIDTH), outputs=3, axis=2,
                          num_outputs=3)
        queries, keys, values = (
            self.node("Transpose", module, self.reshape(module, part, -1, TOKENS, HEADS, WIDTH // HEADS), perm=order)
            for part, order in zip(heads, ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])))
        scores = self.node("Mul", module, self.node("MatMul", module, queries, keys), self.real((WIDTH / HEADS) ** -0.5))
        seen = self.node("Where", module, mask, scores, self.real(-3.4e38))
        context = self.node("MatMul", module, self.node("Softmax", module, seen, axis=-1), values)
        rows = self.reshape(module, self.node("Transpose", module, context, perm=[0, 2, 1, 3]), -1, TOKENS, WIDTH)
        return self.linear(f"{module}.c_proj", rows, WIDTH, WIDTH)

    def layer(self, module: str, stream: str, mask: str) -> str:
        attended = self.attention(f"{module}.attn", self.norm(f"{module}.ln_1", stream), mask)
        stream = self.node("Add", module, attended, stream)
        hidden = self.linear(f"{module}.mlp.c_fc", self.norm(f"{module}.ln_2", stream), WIDTH, 4 * WIDTH)
        hidden = self.node("Gelu", f"{module}.mlp.act", hidden, approximate="tanh")
        return self.node("Add", module, stream, self.linear(f"{module}.mlp.c_proj", hidden, 4 * WIDTH, WIDTH))

    def gpt2(self, layers: int) -> str:
        words, places = self.weight("transformer.wte.weight", self.word_count, WIDTH), self.weight("transformer.wpe.weight", TOKENS, WIDTH)
        numbers = self.node("Range", "transformer", *(self.numbers(value, scalar=True) for value in (0, TOKENS, 1)))
        mask = self.node("LessOrEqual", "transformer", numbers, self.reshape("transformer", numbers, TOKENS, 1))
        stream = self.node("Add", "transformer", self.node("Gather", "transformer.wte", words, "input_ids"),
                           self.node("Gather", "transformer.wpe", places, numbers))
        for layer in range(layers):
            stream = self.layer(f"transformer.h.{layer}", stream, mask)
        stream = self.norm("transformer.ln_f", stream)
        return self.node("MatMul", "lm_head", stream, self.node("Transpose", "lm_head", words, perm=[1, 0]))


def shape(name: str, kind: int, *dims: int) -> str:
    sizes = 'dim { dim_param: "batch" } ' + " ".join(f"dim {{ dim_value: {dim} }}" for dim in dims)
    return f'{{ name: "{name}" type {{ tensor_type {{ elem_type: {kind} shape {{ {sizes} }} }} }} }}'


def main() -> None:
    graph = Graph(int(sys.argv[3]) if len(sys.argv) > 3 else WORDS)
    logits = graph.gpt2(int(sys.argv[1]))
    print("ir_version: 10 opset_import { version: 20 } graph {", *graph.lines, sep="\n")
    print(f'input {shape("input_ids", INT64, TOKENS)} output {shape(logits, FLOAT, TOKENS, graph.word_count)} }}')
    with (Path(sys.argv[2]) / "weights").open("wb") as file:
        file.truncate(graph.offset)


if __name__ == "__main__":
    main()
