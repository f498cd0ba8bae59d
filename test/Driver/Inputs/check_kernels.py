"""Checks the kernels in the JSON of gpuopt plan against the step, and against
the limits of an H200."""

import json
import sys

plan = json.load(open(sys.argv[1]))
kernels = plan["kernels"]
times = [kernel["ms"] for kernel in kernels]
assert times == sorted(times, reverse=True)
assert abs(sum(times) - plan["step_ms"]) < 1e-6 * plan["step_ms"], (sum(times), plan["step_ms"])
assert len({kernel["name"] for kernel in kernels}) == len(kernels)
for kernel in kernels:
    rate = kernel["bytes"] / (kernel["ms"] / 1e3)
    assert abs(kernel["bandwidth_percent"] - 100 * rate / 4.1e12) < 1e-6, kernel
    assert kernel["bandwidth_percent"] <= 100, kernel
    # 132 multiprocessors with 128 lanes at 1.755 GHz.
    assert kernel["instructions_per_byte"] * rate <= 1.0001 * 132 * 128 * 1.755e9, kernel
sums = [kernel for kernel in kernels if kernel["name"].startswith("fused_sum")]
assert sums and all(kernel["bandwidth_percent"] < 50 for kernel in sums), sums
assert any(kernel["name"].startswith("attention_backward") for kernel in kernels)
works = [work for kernel in kernels for work in kernel["works"]]
assert len(set(works)) == len(works) >= len(kernels)
# The device is a file for --device as it stands.
assert plan["device_model"]["multiprocessors"] == 132, plan["device_model"]
json.dump(plan["device_model"], open(sys.argv[2], "w"))
