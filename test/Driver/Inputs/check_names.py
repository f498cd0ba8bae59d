"""Checks that tensors of gpuopt plan --json have names of their own, where some
are alike without.

usage: check_names.py JSON
"""

import json
import sys


def names(tensors):
    return [tuple(tensor.get(member) for member in ("origin", "result", "which", "type", "decision")) for tensor in tensors]


plan = json.load(open(sys.argv[1]))
alive = plan["memory"]["peak"]["alive"]
for tensors in (alive, plan["tensors"]):
    assert len(set(names(tensors))) == len(tensors)
    assert any("which" in tensor for tensor in tensors)
# Names are those of buffers that there are, and of tensors that there were.
assert all(tensor.get("which") in (None, tensor["buffer"]) for tensor in alive)
again = [tensor for tensor in plan["tensors"] if tensor["decision"] == "recomputed"]
assert any("result" in tensor for tensor in again)
