"""Checks that tensors of gpuopt plan --json have names of their own, where some
are alike without.

usage: check_names.py JSON...
"""

import json
import sys


def names(tensors):
    return [tuple(tensor.get(member) for member in ("origin", "result", "which", "type", "decision")) for tensor in tensors]


plans = [json.load(open(path)) for path in sys.argv[1:]]
peaks = [plan["memory"]["peak"]["alive"] for plan in plans]
tables = [plan["tensors"] for plan in plans]
for lists in (peaks, tables):
    assert all(len(set(names(tensors))) == len(tensors) for tensors in lists)
    assert any("which" in tensor for tensors in lists for tensor in tensors)
# Names are those of buffers that there are, and of tensors that there were.
assert all(tensor.get("which") in (None, tensor["buffer"]) for tensors in peaks for tensor in tensors)
again = [tensor for tensors in tables for tensor in tensors if tensor["decision"] == "recomputed"]
assert any("result" in tensor for tensor in again)
