"""Checks the JSON of gpuopt plan against itself."""

import json
import sys

plan = json.load(open(sys.argv[1]))
memory = plan["memory"]
assert isinstance(memory["peak"]["time_point"], int)
assert plan["fits"] and memory["total_bytes"] <= plan["budget_bytes"] == 180 << 20
assert memory["total_bytes"] == memory["arena_bytes"] + memory["persistent_bytes"]
assert sum(memory["persistent"].values()) == memory["persistent_bytes"]
assert 0 < memory["lower_bound_percent"] <= memory["added_percent"] < 20
decisions = {tensor["decision"] for tensor in plan["tensors"]}
assert decisions == {"saved", "recomputed"} and all(tensor["reason"] for tensor in plan["tensors"])
curve = plan["curve"]
assert curve[0]["added_percent"] == 0 and len(curve) > 5
for larger, smaller in zip(curve, curve[1:]):
    assert smaller["budget_bytes"] < larger["budget_bytes"]
    assert smaller["total_bytes"] <= smaller["budget_bytes"]
    assert larger["added_percent"] <= smaller["added_percent"]
