"""Measured times of kernels and calls beside those that the compiler estimated."""

from __future__ import annotations


def work_of(key: str) -> str:
    """The work that a key of profile-costs names after the origin: "attention
    f16[...] ..." of "h.0.attn: attention f16[...] ..."."""
    return key.rsplit(": ", 1)[-1]


def compare_kernels(profile: dict, estimates: list[dict]) -> list[dict]:
    """A row for each kernel or call of `estimates` (what `gpuopt plan --kernels
    --json` prints), and one for each measured work that no estimate has; the
    longest first. Times are of a whole step, in ms."""
    measured: dict[str, float] = {}
    for cost in profile["costs"]:
        milliseconds = cost["median_ns"] * cost.get("calls_per_step", 1) / 1e6
        measured[work_of(cost["key"])] = measured.get(work_of(cost["key"]), 0.0) + milliseconds
    rows = []
    for kernel in estimates:
        found = [measured.pop(work) for work in kernel["works"] if work in measured]
        if found:
            rows.append({
                "name": kernel["name"], "launches": kernel["launches"], "measured_ms": sum(found),
                "estimated_ms": kernel["ms"], "bytes": kernel["bytes"],
            })
    rows += [
        {"name": work, "launches": None, "measured_ms": milliseconds, "estimated_ms": None, "bytes": None}
        for work, milliseconds in measured.items()
    ]
    return sorted(rows, key=lambda row: -row["measured_ms"])
