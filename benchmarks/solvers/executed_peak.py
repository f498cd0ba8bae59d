"""The most bytes that PyTorch's storages take when a forward and a backward graph of its partitioner are executed op by
op, each value freed after its last use: a check of what is said of their schedule. Parameters and inputs not counted."""

import weakref

import torch
from torch.fx.node import map_arg
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class StorageCounter(TorchDispatchMode):
    """Counts the storages that ops make, until they are freed."""

    def __init__(self, uncounted):
        super().__init__()
        self.live = self.peak = 0
        self.known = {tensor.untyped_storage()._cdata for tensor in uncounted}

    def free(self, size, key):
        self.live -= size
        self.known.discard(key)

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        result = op(*args, **(kwargs or {}))
        for value in tree_leaves(result):
            if isinstance(value, torch.Tensor) and value.untyped_storage()._cdata not in self.known:
                storage = value.untyped_storage()
                self.known.add(storage._cdata)
                self.live += storage.nbytes()
                weakref.finalize(storage, self.free, storage.nbytes(), storage._cdata)
        self.peak = max(self.peak, self.live)
        return result


def some_tensor(node):
    """Of the placeholder's shape; integers are 0, which every table and class has."""
    value = node.meta["val"]
    result = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype)
    return result.fill_(0.5 if value.dtype.is_floating_point else 0)


def placeholders(graph):
    return [node for node in graph.nodes if node.op == "placeholder"]


def execute(graph, values):
    """The output's values by name. Empties `values`, which holds those of the placeholders by name."""
    last_reader = {source: node for node in graph.nodes for source in node.all_input_nodes}
    for node in graph.nodes:
        if node.op == "output":
            return {output.name: values[output.name] for output in node.args[0] if output is not None}
        if node.op == "call_function":
            args, kwargs = map_arg((node.args, node.kwargs), lambda source: values[source.name])
            values[node.name] = node.target(*args, **kwargs)
            del args, kwargs
        for dead in [source for source in node.all_input_nodes if last_reader[source] is node]:
            del values[dead.name]
        if node not in last_reader:
            del values[node.name]


def executed_peak(forward, backward, results):
    given = {node.name: some_tensor(node) for node in placeholders(forward.graph)}
    with torch.no_grad(), StorageCounter(given.values()) as counter:
        outputs = execute(forward.graph, dict(given))
        kept = [outputs[node.name] for node in forward.graph.output_node().args[0][:results] if node is not None]
        saved = {}
        for node in placeholders(backward.graph):
            isSaved, isGiven = node.name in outputs, node.name in given
            saved[node.name] = outputs[node.name] if isSaved else given[node.name] if isGiven else some_tensor(node)
        outputs.clear()
        gradients = execute(backward.graph, saved)
        del kept, gradients
    return counter.peak
