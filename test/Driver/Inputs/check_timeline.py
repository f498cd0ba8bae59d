"""Checks a memory timeline: what is alive at an op lies apart, and within the allocation.

usage: check_timeline.py TIMELINE.json
"""

import json
import sys

timeline = json.load(open(sys.argv[1]))
tensors = timeline["tensors"]
for step in timeline["steps"]:
    assert [op["op"] for op in step["ops"]] == list(range(len(step["ops"])))
    for op in step["ops"]:
        live = sorted((tensors[number]["offset"], tensors[number]["bytes"]) for number in op["live"])
        assert set(op["computes"]) <= set(op["live"])
        assert sum(size for _, size in live) == op["live_bytes"]
        for (offset, size), (following, _) in zip(live, live[1:] + [(timeline["total_bytes"], 0)]):
            assert timeline["persistent_bytes"] <= offset and offset + size <= following, (step["step"], op)
print(len(timeline["steps"]), "steps")
