"""Loop and Scan nodes of more iterations than are unrolled: they stay loops, and are tested on the host alone."""

from __future__ import annotations

import numpy as np
import torch
from onnx import TensorProto

from op_cases import ints
from op_cases_signals import COMPOSED, add, graph, linear_attention, node, scalar

STEPS = 66


def looped(step, *outputs):
    """The reference of a loop: `step(t, states, *operands)` gives the next states and a row of results."""

    def run(state, *operands):
        rows = []
        states = [state]
        for t in range(STEPS):
            states, row = step(t, states, *operands)
            rows.append(row)
        return torch.stack(rows) if outputs == ("rows",) else states[0]

    return run


# A Scan with a weight that its iterations do not change, over the second dimension.
cell = graph([node("MatMul", ["state", "w"], ["product"]), node("Add", ["product", "x"], ["sum"]), node("Tanh", ["sum"], ["next"]), node("Mul", ["next", "state"], ["row"]),
              node("Identity", ["w"], ["same"])], ["state", "w", "x"], ["next", "same", "row"])  # onnxruntime needs the copy


def scanned(flip, reverse_rows):
    def run(state, w, x):
        rows = []
        for part in (x.flip(1) if flip else x).unbind(1):
            before, state = state, torch.tanh(state @ w + part)
            rows.append(state * before)
        return state, torch.stack(rows[::-1] if reverse_rows else rows, 2)

    return run


for label, flip, back in [("", 0, 0), ("Back", 1, 0), ("Prepend", 0, 1), ("BackPrepend", 1, 1)]:
    attributes = dict(body=cell, num_scan_inputs=1, scan_input_axes=[1], scan_input_directions=[flip], scan_output_axes=[2], scan_output_directions=[back])
    operands = [[(2, 3), (3, 3), (2, STEPS, 3)]]
    add("long_loops", "Scan", operands, lambda *x, r=scanned(flip, back): r(*x)[0], label=f"Long{label}", **attributes)
    add("long_loops", "Scan", operands, lambda *x, r=scanned(flip, back): r(*x)[1], label=f"LongCell{label}", **attributes)

# What the iterations compute of a weight alone, each time anew: the loop reads one value as several operands.
again = graph([node("Transpose", ["w"], ["first"]), node("Transpose", ["w"], ["second"]), node("MatMul", ["state", "first"], ["of_state"]), node("MatMul", ["x", "second"], ["of_x"]),
               node("Exp", ["w"], ["third"]), node("Exp", ["w"], ["fourth"]), node("Add", ["of_state", "of_x"], ["sum"]), node("Mul", ["sum", "third"], ["scaled"]),
               node("Mul", ["x", "fourth"], ["part"]), node("Add", ["scaled", "part"], ["all"]), node("Tanh", ["all"], ["next"]), node("Identity", ["w"], ["same"])],
              ["state", "w", "x"], ["next", "same"])


def computed_again(state, w, x):
    for part in x:
        state = torch.tanh((state @ w.T + part @ w.T) * w.exp() + part * w.exp())
    return state


add("long_loops", "Scan", [[(3, 3), (3, 3), (STEPS, 3, 3)]], computed_again, label="LongAgain", body=again, num_scan_inputs=1)

# Two operands in two directions.
both = graph([node("Mul", ["state", "a"], ["scaled"]), node("Add", ["scaled", "b"], ["next"])], ["state", "a", "b"], ["next"])


def in_two_directions(state, a, b):
    for x, y in zip(a, b.flip(0)):
        state = state * x + y
    return state


add("long_loops", "Scan", [[(2, 3), (STEPS, 2, 3), (STEPS, 2, 3)]], in_two_directions, label="LongMixed", domain="unit", body=both, num_scan_inputs=2, scan_input_directions=[0, 1])
# No states.
each = graph([node("Exp", ["x"], ["y"]), node("Identity", ["x"], ["same"])], ["x"], ["y", "same"])
add("long_loops", "Scan", [[(STEPS, 2, 3)]], torch.exp, label="LongEach", body=each, num_scan_inputs=1)
add("long_loops", "Scan", [[(STEPS, 2, 3)]], lambda x: x + 0, label="LongEachHidden", body=each, num_scan_inputs=1)

# A counter of the model's own, which counts on in the order of time in either direction.
counter = graph([node("Add", ["count", "one"], ["new_count"]), node("Cast", ["count"], ["number"], to=TensorProto.DOUBLE), node("Mul", ["x", "number"], ["part"]),
                 node("Add", ["state", "part"], ["next"]), node("Identity", ["number"], ["row"])], ["state", "count", "x"], ["next", "new_count", "row"], [("one", scalar(1))])
for value in (counter.input[1], counter.output[1]):
    value.type.tensor_type.elem_type = TensorProto.INT64
for label, flip in [("", 0), ("Back", 1)]:
    operands = [[(2, 3), scalar(0), (STEPS, 2, 3)]]
    numbers = torch.arange(STEPS, dtype=torch.float64)
    counted_sum = lambda state, x, flip=flip, n=numbers: state + ((x.flip(0) if flip else x) * n[:, None, None]).sum(0)
    add("long_loops", "Scan", operands, counted_sum, label=f"LongCounted{label}", body=counter, num_scan_inputs=1, scan_input_directions=[flip])

# A Loop whose iterations pick entries by their number.
trips = [scalar(STEPS), np.array(True)]


def counted(nodes, reference, label, shapes, states=("state",), constants=(), **flags):
    """A Loop of `nodes`, whose states are `states`, each of which becomes `new_` and its name, if a node gives that."""
    made = {name for each in nodes for name in each.output}
    after = [f"new_{state}" if f"new_{state}" in made else state for state in states]
    body = graph(nodes, ["iteration", "condition", *states], ["condition", *after, *flags.get("rows", [])], constants)
    for value in [*body.input, *body.output]:
        if value.name in flags.get("integers", []):
            value.type.tensor_type.elem_type = TensorProto.INT64
        if value.name in flags.get("booleans", []):
            value.type.tensor_type.elem_type = TensorProto.BOOL
    add("long_loops", "Loop", [[*trips, *shapes]], reference, label=label, body=body, domain=flags.get("domain", "normal"))


constants = [("one", np.array(1)), ("last", np.array(STEPS - 1)), ("half", np.array(0.5)), ("ones", ints(1)), ("two", ints(2)), ("minus", np.array(-1))]
fade = [node("Mul", ["state", "half"], ["faded"]), node("Add", ["faded", "part"], ["new_state"])]
x = ("state", "x")
shapes = [(2, 3), (2, STEPS + 2, 3)]
for label, nodes, part in [
    ("Entry", [node("Gather", ["x", "iteration"], ["part"], axis=1)], lambda x, t: x[:, t]),
    ("Backwards", [node("Sub", ["last", "iteration"], ["place"]), node("Gather", ["x", "place"], ["part"], axis=1)], lambda x, t: x[:, STEPS - 1 - t]),
    ("Negative", [node("Sub", ["minus", "iteration"], ["place"]), node("Gather", ["x", "place"], ["part"], axis=1)], lambda x, t: x[:, -1 - t]),
    ("Tripled", [node("Mul", ["iteration", "iteration"], ["square"]), node("Mod", ["square", "last"], ["place"]), node("Gather", ["x", "place"], ["part"], axis=1)],
     lambda x, t: x[:, t * t % (STEPS - 1)]),
    ("Window", [node("Unsqueeze", ["iteration", "zero"], ["begin"]), node("Add", ["begin", "two"], ["end"]), node("Slice", ["x", "begin", "end", "ones"], ["window"]),
                node("ReduceSum", ["window", "ones"], ["part"], keepdims=0)], lambda x, t: x[:, t : t + 2].sum(1)),
    ("Changed", [node("Gather", ["x", "iteration"], ["entry"], axis=1), node("Mul", ["state", "x_one"], ["part0"]), node("Add", ["part0", "entry"], ["part"])], lambda x, t: x[:, t]),
    ("Number", [node("Cast", ["iteration"], ["number"], to=TensorProto.DOUBLE), node("Sin", ["number"], ["wave"]), node("Gather", ["x", "one"], ["entry"], axis=1),
                node("Mul", ["entry", "wave"], ["part"])], lambda x, t: x[:, 1] * np.sin(t)),
]:
    counted([*nodes, *fade], looped(lambda t, states, x, p=part: ([states[0] * 0.5 + p(x, t)], None)), f"Long{label}", shapes, x,
            [*constants, ("zero", ints(0)), ("x_one", np.array(0.0))])
# Entries of what the iterations themselves compute, and of what they do not change.
counted([node("Tanh", ["x"], ["y"]), node("Gather", ["y", "iteration"], ["part"], axis=1), *fade],
        looped(lambda t, states, x: ([states[0] * 0.5 + x.tanh()[:, t]], None)), "LongFixed", shapes, x, constants)
counted([node("Mod", ["iteration", "even"], ["place"]), node("Gather", ["state", "place"], ["entry"], axis=0), node("Add", ["state", "entry"], ["sum"]), node("Mul", ["sum", "half"], ["new_state"])],
        looped(lambda t, states: ([(states[0] + states[0][t % 2]) * 0.5], None)), "LongOwn", [(2, 3)], ("state",), [*constants, ("even", np.array(2))])
# A counter beside the iteration's number, a boolean, a result that is the state, and one that no iteration changes.
counted([node("Add", ["count", "one"], ["new_count"]), node("Squeeze", ["count"], ["place"]), node("Gather", ["x", "place"], ["part"], axis=1), *fade],
        looped(lambda t, states, x: ([states[0] * 0.5 + x[:, t + 1]], None)), "LongCounter", [(2, 3), scalar(1), (2, STEPS + 2, 3)], ("state", "count", "x"), constants, integers=["count", "new_count"])
counted([node("ReduceSum", ["state"], ["all"], keepdims=0), node("Greater", ["all", "half"], ["is"]), node("Xor", ["flag", "is"], ["new_flag"]), node("Neg", ["x"], ["negative"]),
         node("Where", ["flag", "x", "negative"], ["part"]), *fade],
        None, "LongFlag", [(2, 3), np.array(False), (2, 3)], ("state", "flag", "x"), constants, booleans=["flag", "new_flag"])


def flagged(state, x):
    flag = False
    for _ in range(STEPS):
        part = x if flag else -x
        flag ^= bool(state.sum() > 0.5)
        state = state * 0.5 + part
    return state


COMPOSED["long_loops"][-1].reference = flagged
for label, row in [("After", "new_state"), ("Before", "state"), ("Part", "part")]:
    counted([node("Gather", ["x", "iteration"], ["part"], axis=1), *fade, node("Identity", [row], ["row"])],
            looped(lambda t, states, x, r=row: ([after := states[0] * 0.5 + x[:, t]], {"new_state": after, "state": states[0], "part": x[:, t]}[r]), "rows"),
            f"Long{label}Cell", shapes, x, constants, rows=["row"])

# Rules of linear attention that go from token to token.
q, kv = (2, STEPS, 12), (2, STEPS, 6)
heads = dict(q_num_heads=4, kv_num_heads=2)
add("long_loops", "LinearAttention", [[q, kv, kv, (2, 2, 3, 3), kv]], lambda q, k, v, s, d: linear_attention(q, k, v, "gated", 2, 2, s, d), label="LongGated", domain="unit", update_rule="gated", **heads)
add("long_loops", "LinearAttention", [[q, kv, kv, (2, 2, 3, 3), (2, STEPS, 2), (2, STEPS, 2)]], lambda q, k, v, s, d, b: linear_attention(q, k, v, "gated_delta", 2, 2, s, d, b),
    label="LongBoth", domain="unit", **heads)

# A loop that a counter ends.
ends = graph([node("Sin", ["state"], ["next"]), node("Add", ["count", "one"], ["new_count"]), node("Less", ["new_count", "steps"], ["go"])],
             ["iteration", "condition", "state", "count"], ["go", "next", "new_count"], [("one", scalar(1)), ("steps", scalar(STEPS))])
for value in (ends.input[3], ends.output[2]):
    value.type.tensor_type.elem_type = TensorProto.INT64
add("long_loops", "Loop", [[None, np.array(True), (2, 3), scalar(0)]], looped(lambda t, states: ([states[0].sin()], None)), label="LongWhile", body=ends)
