#!/usr/bin/env python3
"""Draws memory.svg, ladder.svg and budget.svg of docs/images again.

They show the GPT of examples/gpt.onnx with a batch of 8 on the host: its
memory, from plan.json, the budgets of `gpuopt plan --curve`, and the bytes that
are alive at each op with and without a budget, from `--memory-timeline`. Of the
first two, the script replaces what depends on these numbers and leaves the rest
alone; it draws the third as a whole. The other images show no numbers of a
model and are drawn by hand.

  scripts/draw_images.py [GPUOPT]     GPUOPT is build/bin/gpuopt unless given
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MODEL = [str(ROOT / "examples" / "gpt.onnx"), "--target=host", "--batch-size=8"]
FORWARD, GRADIENT, MARKED = "#9ec5e8", "#a8d5a2", "#b3261e"
MARKED_ORIGINS = r"d model\.transformer\.h\.0\.mlp\.c_fc\.weight|model\.transformer\.h\.0\.mlp\.c_fc/.*"

# The axes of memory.svg: columns of the ops, rows of the first and last byte.
LEFT, RIGHT, BOTTOM, TOP = 96, 735, 440, 40
# The axes of ladder.svg: the column of the plain peak and the row of no cost,
# pixels for the whole peak and for one percent.
PEAK, COST, PER_PEAK, PER_PERCENT = 70, 240, 6000 / 7, 95 / 18


def replace(text: str, pattern: str, new: str) -> str:
    """Replaces the one match of a pattern; several lines may match as one."""
    text, count = re.subn(pattern, lambda _: new, text, flags=re.M)
    if count != 1:
        raise SystemExit(f"expects one match of {pattern!r}, but got {count}")
    return text


def draw_memory(image: str, plan: dict) -> str:
    """The image with the buffers of micro_step that have 128 KiB or more."""
    total, persistent = plan["total_bytes"], plan["persistent_bytes"]
    buffers = [each for each in plan["buffers"] if each["kind"] == "arena" and each["step"] == "micro_step"]
    per_op = (RIGHT - LEFT) / max(each["lifetime"][1] for each in buffers)
    per_byte = (BOTTOM - TOP) / total

    def row(offset: int) -> float:
        return BOTTOM - offset * per_byte

    lines = []
    for each in sorted(buffers, key=lambda each: each["lifetime"]):
        if each["bytes"] < 128 << 10:
            continue
        first, end = each["lifetime"]
        gradient = each["origin"].startswith("d ")
        colour = MARKED if re.fullmatch(MARKED_ORIGINS, each["origin"]) else GRADIENT if gradient else FORWARD
        lines.append(
            f'  <rect x="{LEFT + first * per_op:.1f}" y="{row(each["offset"] + each["bytes"]):.1f}" '
            f'width="{(end - first) * per_op:.1f}" height="{each["bytes"] * per_byte:.1f}" '
            f'fill="{colour}" stroke="#57606a" stroke-width="0.5"/>\n'
        )
    edge = row(persistent)
    image = replace(image, r"one allocation of [\d.]+ MiB", f"one allocation of {total / 2**20:.1f} MiB")
    image = replace(image, r"offsets 0 to \d+ -->", f"offsets 0 to {persistent} -->")
    image = replace(image, r"offsets \d\d+ to \d+;", f"offsets {persistent} to {total};")
    image = replace(image, r'y="[\d.]+" width="639" height="[\d.]+" fill="#e3e6ea"',
                    f'y="{edge:.6g}" width="639" height="{BOTTOM - edge:.6g}" fill="#e3e6ea"')
    image = replace(image, r'width="639" height="[\d.]+" fill="#fafbfc"', f'width="639" height="{edge - TOP:.6g}" fill="#fafbfc"')
    image = replace(image, r"[\d.]+ MiB, alive from step to step", f"{persistent / 2**20:.2f} MiB, alive from step to step")
    image = replace(image, r'(?:  <rect [^\n]*stroke-width="0.5"/>\n)+', "".join(lines))
    image = replace(image, r'y="[\d.]+" text-anchor="end" font-size="11">\d\d+<(?=/text>\n  <text x="90" y="44")',
                    f'y="{edge + 4:.6g}" text-anchor="end" font-size="11">{persistent}<')
    return replace(image, r'(?<=y="44" text-anchor="end" font-size="11">)\d+', str(total))


def draw_ladder(image: str, curve: list[dict], persistent: int) -> str:
    """The image with the plans of a curve, and rungs down to the last one."""
    peak = curve[0]["total_bytes"] - persistent

    def column(share: float) -> float:
        return PEAK + (1 - share) * PER_PEAK

    def share_of(point: dict) -> float:
        return (point["budget_bytes"] - persistent) / peak

    bounds = " ".join(f"{column(share_of(p)):.0f},{COST - p['lower_bound_percent'] * PER_PERCENT:.0f}" for p in curve)
    plans = "".join(
        f'  <circle cx="{column(share_of(p)):.0f}" cy="{COST - p["added_percent"] * PER_PERCENT:.0f}" r="4.5" fill="#0b5cad"/>\n'
        for p in curve
    )
    rungs, rung = [], 0
    while (share := 0.5 ** (rung // 100) * (1 - rung % 100 / 200)) >= share_of(curve[-1]):
        length, width = (20, "2") if rung % 100 == 0 else (13, "1.2") if rung % 10 == 0 else (6, "0.7")
        x = f"{column(share):.6g}"
        rungs.append(f'  <line x1="{x}" y1="{COST}" x2="{x}" y2="{COST + length}" stroke="#24292f" stroke-width="{width}"/>\n')
        rung += 2
    image = replace(image, r'points="[^"]*"', f'points="{bounds}"')
    image = replace(image, r"(?:  <circle [^\n]*/>\n)+", plans)
    return replace(image, r'(?:  <line [^\n]* stroke="#24292f" stroke-width="[\d.]+"/>\n)+', "".join(rungs))


# The axes of budget.svg, and the budget that it shows.
BUDGET, BUDGET_LEFT, BUDGET_RIGHT, BUDGET_TOP, BUDGET_BOTTOM = "24MiB", 70, 740, 40, 250


def draw_budget(plain: dict, budgeted: dict, added_percent: float) -> str:
    """The bytes alive at each op of micro_step, of two timelines of one model."""
    most = plain["persistent_bytes"] + max(op["live_bytes"] for op in plain["ops"])
    per_byte = (BUDGET_BOTTOM - BUDGET_TOP) / (5 * 2**20 * -(-most // (5 * 2**20)))

    def outline(timeline: dict) -> str:
        ops = timeline["ops"]
        wide = (BUDGET_RIGHT - BUDGET_LEFT) / len(ops)
        points = []
        for i, op in enumerate(ops):
            y = BUDGET_BOTTOM - (timeline["persistent_bytes"] + op["live_bytes"]) * per_byte
            points += [f"{BUDGET_LEFT + i * wide:.1f},{y:.1f}", f"{BUDGET_LEFT + (i + 1) * wide:.1f},{y:.1f}"]
        return " ".join(points)

    def area(timeline: dict, fill: str, stroke: str) -> str:
        ends = f"{BUDGET_LEFT},{BUDGET_BOTTOM} {{}} {BUDGET_RIGHT},{BUDGET_BOTTOM}"
        return f'  <polygon points="{ends.format(outline(timeline))}" fill="{fill}" stroke="{stroke}" stroke-width="1.2"/>\n'

    def row(mebibytes: float) -> float:
        return BUDGET_BOTTOM - mebibytes * 2**20 * per_byte

    text, budget = 'font-family="sans-serif" fill="#24292f"', float(BUDGET.removesuffix("MiB"))
    edge = row(plain["persistent_bytes"] / 2**20)
    lines = "".join(
        f'  <line x1="{BUDGET_LEFT}" y1="{row(m):.1f}" x2="{BUDGET_RIGHT}" y2="{row(m):.1f}" stroke="#d0d7de" stroke-width="0.6"/>\n'
        f'  <text x="{BUDGET_LEFT - 8}" y="{row(m) + 4:.1f}" text-anchor="end" font-size="11" {text}>{m} MiB</text>\n'
        for m in range(0, -(-most // 2**20) + 1, 10)
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 780 290" width="780" height="290" role="img" '
        'aria-label="Memory over a training step, with and without a budget">\n'
        "  <!-- Drawn by scripts/draw_images.py. -->\n"
        '  <rect width="780" height="290" fill="#ffffff"/>\n' + lines + area(plain, "#cfe3f5", "#0b5cad") + area(budgeted, "#a8d5a2", "#2c6e2f")
        + f'  <rect x="{BUDGET_LEFT}" y="{edge:.1f}" width="{BUDGET_RIGHT - BUDGET_LEFT}" height="{BUDGET_BOTTOM - edge:.1f}" fill="#e3e6ea" '
        'stroke="#57606a" stroke-width="0.6"/>\n'
        f'  <text x="{BUDGET_LEFT + 8}" y="{(edge + BUDGET_BOTTOM) / 2 + 4:.1f}" font-size="12" {text}>weights, optimizer state, inputs</text>\n'
        f'  <line x1="{BUDGET_LEFT}" y1="{row(budget):.1f}" x2="{BUDGET_RIGHT}" y2="{row(budget):.1f}" stroke="#b3261e" stroke-width="1.4" '
        'stroke-dasharray="6 4"/>\n'
        f'  <text x="{BUDGET_RIGHT - 4}" y="{row(budget) - 5:.1f}" text-anchor="end" font-size="12" font-family="sans-serif" '
        f'fill="#b3261e">--memory-budget {BUDGET}</text>\n'
        f'  <text x="{BUDGET_LEFT}" y="22" font-size="13" font-weight="bold" {text}>Memory over a training step of a small GPT: '
        f'{most / 2**20:.1f} MiB, or {budget:.0f} MiB for {added_percent:.0f} % more time</text>\n'
        f'  <text x="{BUDGET_LEFT}" y="{BUDGET_BOTTOM + 18}" font-size="12" {text}>forward</text>\n'
        f'  <text x="{BUDGET_RIGHT}" y="{BUDGET_BOTTOM + 18}" text-anchor="end" font-size="12" {text}>backward and updates</text>\n'
        "</svg>\n"
    )


def read_timeline(path: Path) -> dict:
    """The timeline of micro_step that gpuopt plan --memory-timeline has written."""
    timeline = json.loads(path.read_text())
    step = next(each for each in timeline["steps"] if each["step"] == "micro_step")
    return {"persistent_bytes": timeline["persistent_bytes"], "ops": step["ops"]}


def main() -> None:
    gpuopt = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "build" / "bin" / "gpuopt")
    images = ROOT / "docs" / "images"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([gpuopt, "compile", *MODEL, "-o", folder + "/program"], check=True)
        plan = json.loads(Path(folder, "program", "plan.json").read_text())
        timelines, milliseconds = [], []
        for flags in ([], [f"--memory-budget={BUDGET}"]):
            live = Path(folder, "live.json")
            told = subprocess.run([gpuopt, "plan", *MODEL, *flags, f"--memory-timeline={live}", "--json"], check=True, stdout=subprocess.PIPE)
            timelines.append(read_timeline(live))
            milliseconds.append(json.loads(told.stdout)["step_ms"])
        budget = draw_budget(*timelines, 100 * (milliseconds[1] / milliseconds[0] - 1))
    printed = subprocess.run([gpuopt, "plan", *MODEL, "--curve", "--json"], check=True, stdout=subprocess.PIPE)
    curve = json.loads(printed.stdout)["curve"]
    memory, ladder = images / "memory.svg", images / "ladder.svg"
    (images / "budget.svg").write_text(budget)
    memory.write_text(draw_memory(memory.read_text(), plan))
    ladder.write_text(draw_ladder(ladder.read_text(), curve, plan["persistent_bytes"]))


if __name__ == "__main__":
    main()
