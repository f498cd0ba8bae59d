"""Reads a memory timeline as PyTorch's own functions read a snapshot of its allocator.

usage: check_snapshot.py FILE.pickle TIMELINE.json
"""

import json
import pickle
import re
import sys

from torch.cuda import _memory_viz

with open(sys.argv[1], "rb") as file:
    snapshot = pickle.load(file)
timeline = json.load(open(sys.argv[2]))

# The blocks fill the segment, and what is allocated in the end is persistent.
(segment,) = snapshot["segments"]
end = segment["address"]
for block in segment["blocks"]:
    assert block["address"] == end
    end += block["size"]
assert end - segment["address"] == segment["total_size"] == timeline["total_bytes"]
assert segment["active_size"] <= timeline["persistent_bytes"]
assert "Summary of segments" in _memory_viz.segsum(snapshot)
flames = _memory_viz.segments(snapshot, format_flamegraph=lambda lines: lines)
assert "active_allocated" in flames and _memory_viz.memory(snapshot, format_flamegraph=lambda lines: lines)
assert "snapshot.pickle" in _memory_viz.trace_plot(snapshot)

# Whatever is allocated is free there, and is freed again within its step; the most that is allocated at once is what
# the timeline has at its highest op.
text = _memory_viz.trace(snapshot)
assert len(re.findall(r"= .*\[\d+:", text)) == sum(event["action"] == "alloc" for event in snapshot["device_traces"][0])
taken, most = {}, 0
for event in snapshot["device_traces"][0]:
    if event["action"] == "alloc":
        begin, end = event["addr"], event["addr"] + event["size"]
        assert all(end <= other or begin >= other + size for other, size in taken.items()), event
        taken[begin] = event["size"]
        most = max(most, sum(taken.values()))
    elif event["action"] == "free_completed":
        assert taken.pop(event["addr"]) == event["size"]
assert sum(taken.values()) == segment["active_size"]
highest = max(op["live_bytes"] for step in timeline["steps"] for op in step["ops"])
assert most == segment["active_size"] + highest, (most, segment["active_size"], highest)
print("most alive:", most)
