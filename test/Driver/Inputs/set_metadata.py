"""usage: set_metadata.py FILE.safetensors NAME=VALUE...: replaces a file's metadata."""
import json
import struct
import sys
from pathlib import Path

path = Path(sys.argv[1])
content = path.read_bytes()
length, = struct.unpack("<Q", content[:8])
header = json.loads(content[8:8 + length])
header["__metadata__"] = dict(entry.split("=", 1) for entry in sys.argv[2:])
text = json.dumps(header).encode()
path.write_bytes(struct.pack("<Q", len(text)) + text + content[8 + length:])
