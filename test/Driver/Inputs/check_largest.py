"""That `--find-batch-size` gives a batch that fits, and that one more does not."""

import json
import subprocess
import sys

plan = sys.argv[1:]
found = subprocess.run([*plan, "--find-batch-size", "--json"], capture_output=True, check=True)
largest = json.loads(found.stdout)["largest_batch_size"]
assert largest > 1, largest
for batch, status in (largest, 0), (largest + 1, 2):
    got = subprocess.run([*plan, "--batch-size", str(batch)], capture_output=True).returncode
    assert got == status, (batch, got)
