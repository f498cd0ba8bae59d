#!/usr/bin/env python3
"""Draws docs/images/memory.svg and docs/images/ladder.svg again.

Both show the GPT of examples/gpt.onnx with a batch of 8 on the host: its
memory, from plan.json, and the budgets of `gpuopt plan --curve`. The script
replaces what depends on these numbers and leaves the rest of the images alone.
The other images show no numbers of a model and are drawn by hand.

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


def main() -> None:
    gpuopt = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "build" / "bin" / "gpuopt")
    images = ROOT / "docs" / "images"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([gpuopt, "compile", *MODEL, "-o", folder + "/program"], check=True)
        plan = json.loads(Path(folder, "program", "plan.json").read_text())
    printed = subprocess.run([gpuopt, "plan", *MODEL, "--curve", "--json"], check=True, stdout=subprocess.PIPE)
    curve = json.loads(printed.stdout)["curve"]
    memory, ladder = images / "memory.svg", images / "ladder.svg"
    memory.write_text(draw_memory(memory.read_text(), plan))
    ladder.write_text(draw_ladder(ladder.read_text(), curve, plan["persistent_bytes"]))


if __name__ == "__main__":
    main()
