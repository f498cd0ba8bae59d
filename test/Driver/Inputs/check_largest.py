"""That `--find-batch-size` gives a batch that fits and its plan, and that one more does not fit."""

import json
import subprocess
import sys

plan = sys.argv[1:]
found = subprocess.run([*plan, "--find-batch-size", "--json"], capture_output=True, check=True)
report = json.loads(found.stdout)
largest = report["largest_batch_size"]
assert largest > 1, largest
assert report["batch_size"] == largest and report["fits"], report["batch_size"]
assert 0.9 * report["budget_bytes"] < report["memory"]["total_bytes"] <= report["budget_bytes"], report["memory"]
assert report["largest_batch_added_percent"] == report["memory"]["added_percent"] > 0, report["memory"]
assert report["largest_batch_ms_per_sample"] > 0
for batch, status in (largest, 0), (largest + 1, 2):
    got = subprocess.run([*plan, "--batch-size", str(batch), "--skip-smallest-budget"], capture_output=True).returncode
    assert got == status, (batch, got)
