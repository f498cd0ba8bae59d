"""Writes a small file of safetensors.

usage: make_weights.py FILE [changed | nan]
"""

import json
import math
import struct
import sys

change = sys.argv[2] if len(sys.argv) > 2 else ""
late = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
if change == "changed":
    late[4] = 4.5
elif change == "nan":
    late[1], late[5] = math.nan, 7.0
tensors = [
    ("late.weight", "F32", [2, 3], struct.pack("<6f", *late)),
    ("early.half", "F16", [1, 2] if change == "changed" else [2], struct.pack("<2e", 1, 2)),
    ("count", "I64", [1], struct.pack("<q", 7)),
]
if change == "changed":
    tensors.append(("new", "U8", [1], b"\1"))
header, data = {}, b""
for name, dtype, shape, content in tensors:
    header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
    data += content
text = json.dumps(header).encode()
with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + data)
