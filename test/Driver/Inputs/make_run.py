"""Writes the files of a run, as a trainer leaves them, into a folder.

usage: make_run.py FOLDER [TRAINER [START]]

It was run by TRAINER, started in the folder START (FOLDER itself).
"""

import json
import os
import sys

folder = sys.argv[1]
trainer, start = (sys.argv[2:] + ["trainer", folder][len(sys.argv) - 2 :])[:2]
os.makedirs(folder + "/profile", exist_ok=True)


def write(name, value):
    with open(f"{folder}/{name}", "w") as file:
        json.dump(value, file)


rows = [
    {"name": "gemm kGemm", "section": "forward", "calls": 12, "ns": 60e6, "bytes": 1e6, "flops": 1e9, "limit_ns": 30e6,
     "line": 10, "lines": 1, "nodes": "h.*.fc"},
    {"name": "fused_add", "section": "forward", "calls": 4, "ns": 20e6, "bytes": 8e6, "flops": 0, "limit_ns": 4e6,
     "line": 12, "lines": 2, "nodes": "add"},
]
write("profile/profile.json", {
    "format": "gpuopt profile", "version": 1, "program": "tiny", "target": "host", "device": "d", "limits_device": "host",
    "steps": 2, "step_ns": 90e6, "data_wait_ns": 2e6, "rows": rows,
})
write("run.json", {
    "version": 1, "target": "host", "num_workers": 2, "batch_size": 8, "accumulation_steps": 1, "is_half": False,
    "launches": 100, "limit_ms": 20, "memory_ms": 12, "optimizer_ms": 1, "folder": start,
    "command": [trainer, "--data=x=x.npy", "--labels", "y.npy", "--max-steps", "100", "--no-shuffle", "--lr-patience", "3", "--lr-scheduler-type=reduce_lr_on_plateau",
                "--save-best",
                "--eval-data", "x=v.npy", "--eval-labels=w.npy", "--output-dir=out", "--profile-warmup=2"],
})
write("plan.json", {"version": 1, "schedules": {"micro_step": {"added_percent": 7.1}}})
with open(folder + "/metrics.jsonl", "w") as file:
    for step, (time, wait) in enumerate([(500, 90), (50, 1), (40, 1), (60, 1)], 1):
        file.write(json.dumps({"step": step, "loss": 1.0, "step_ms": time, "data_wait_ms": wait}) + "\n")
    file.write('{"step": 4, "checkpoint_stall_ms": 15}\n')
