#!/usr/bin/env python3
"""Writes the training graph of a pre-norm transformer of any depth, as docs/solve-format.md describes it.

usage: transformer.py BLOCKS OUT.json

Unfused ops, attention probabilities materialised (4 times the residual stream), forward and backward. Sizes are
thousandths of one residual tensor, costs thousandths of one square product. Synthetic; what matters is its shape:
many equal layers. 12 blocks are 411 ops, 300 are 10203.
"""
import json
import sys

# An op of a block: name, size, cost, cost of its backward, what it reads, what
# its backward reads beside the gradient. No backward cost: gradients pass on.
OPS = (
    ("ln1", 1, 0.15, 0.3, "x", "x"),
    ("q", 1, 1, 2, "ln1", "ln1"),
    ("k", 1, 1, 2, "ln1", "ln1"),
    ("v", 1, 1, 2, "ln1", "ln1"),
    ("scores", 4, 0.7, 0.7, "q k", "q k"),
    ("softmax", 4, 0.6, 0.6, "scores", "softmax"),
    ("dropout", 4, 0.6, 0.6, "softmax", ""),
    ("attend", 1, 0.7, 0.7, "dropout v", "dropout v"),
    ("project", 1, 1, 2, "attend", "attend"),
    ("residual1", 1, 0.15, None, "x project", ""),
    ("ln2", 1, 0.15, 0.3, "residual1", "residual1"),
    ("fc1", 4, 4, 8, "ln2", "ln2"),
    ("gelu", 4, 0.5, 0.6, "fc1", "fc1"),
    ("fc2", 1, 4, 8, "gelu", "gelu"),
    ("residual2", 1, 0.15, None, "residual1 fc2", ""),
)


class Graph:
    def __init__(self):
        self.nodes, self.edges = [], set()

    def add(self, size, cost, inputs, backward=False):
        index = len(self.nodes)
        self.nodes.append({"id": index, "bytes": round(1000 * size), "cost": round(1000 * cost), "backward": backward})
        self.edges |= {(source, index) for source in inputs}
        return index

    def size(self, index):
        return self.nodes[index]["bytes"] / 1000


def forward(graph, blocks):
    """Adds the forward and returns its last output and the tape of (output, inputs, backward cost, what it reads)."""
    tape, stream = [], graph.add(1, 0.01, [])
    for _ in range(blocks):
        env = {"x": stream}
        for name, size, cost, backward_cost, inputs, reads in OPS:
            sources = [env[i] for i in inputs.split()]
            env[name] = graph.add(size, cost, sources)
            tape.append((env[name], sources, backward_cost, [env[i] for i in reads.split()]))
        stream = env["residual2"]
    return stream, tape


def train(blocks):
    graph = Graph()
    stream, tape = forward(graph, blocks)
    loss = graph.add(0.01, 0.5, [stream])
    gradients = {stream: graph.add(1, 0.5, [loss, stream], backward=True)}
    for output, sources, cost, reads in reversed(tape):
        for source in sources:
            part = gradients[output]
            if cost is not None:
                part = graph.add(graph.size(source), cost / len(sources), [part, *reads], backward=True)
            if source in gradients:
                part = graph.add(graph.size(source), 0.1, [gradients[source], part], backward=True)
            gradients[source] = part
    return {"nodes": graph.nodes, "edges": sorted(graph.edges)}


if __name__ == "__main__":
    with open(sys.argv[2], "w") as file:
        json.dump(train(int(sys.argv[1])), file)
