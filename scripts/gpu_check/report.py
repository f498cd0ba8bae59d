"""The report of a whole check: Markdown for people, JSON for programs, JUnit
for a test runner. All begin with what is wrong."""

from __future__ import annotations

import dataclasses
import json
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

PASSED, SKIPPED, FAILED, BROKEN = "passed", "skipped", "failed", "broken"
LISTED_KERNELS = 25


@dataclasses.dataclass
class Outcome:
    """The outcome of one check of one program."""

    program: str
    check: str
    state: str
    text: str

    @property
    def is_wrong(self) -> bool:
        return self.state in (FAILED, BROKEN)

    def cell(self) -> str:
        """The cell that the table has of it."""
        if self.is_wrong:
            return "**fails**" if self.state == FAILED else "**breaks**"
        text = self.text.replace("|", "/").replace("\n", " ")
        return f"– ({text})" if self.state == SKIPPED else text


@dataclasses.dataclass
class Report:
    device: str
    outcomes: list[Outcome] = dataclasses.field(default_factory=list)
    measured: dict[str, dict] = dataclasses.field(default_factory=dict)  # by program
    described: dict | None = None  # the device's own description
    differences: list[dict] = dataclasses.field(default_factory=list)

    def count(self, *states: str) -> int:
        return sum(outcome.state in states for outcome in self.outcomes)

    def wrong(self) -> list[Outcome]:
        return [outcome for outcome in self.outcomes if outcome.is_wrong]

    # Markdown.

    def markdown(self) -> str:
        parts = [self.verdict(), self.table(), self.device_part(), self.kernels_part(), self.attention_part()]
        return "\n\n".join(part for part in parts if part) + "\n"

    def verdict(self) -> str:
        lines = [f"# {time.strftime('%Y-%m-%d')}, {self.device}", ""]
        counts = f"{self.count(PASSED)} checks passed, {self.count(FAILED, BROKEN)} failed, {self.count(SKIPPED)} were skipped."
        lines.append(counts)
        for outcome in self.wrong():
            lines += ["", f"## {outcome.program}, {outcome.check} {outcome.state}", "", "```", outcome.text, "```"]
        return "\n".join(lines)

    def table(self) -> str:
        checks = list(dict.fromkeys(outcome.check for outcome in self.outcomes))
        programs = list(dict.fromkeys(outcome.program for outcome in self.outcomes))
        cells = {(outcome.program, outcome.check): outcome.cell() for outcome in self.outcomes}
        rows = [
            f"| {program} | " + " | ".join(cells.get((program, check), "") for check in checks) + " |"
            for program in programs
        ]
        return "\n".join(["| program | " + " | ".join(checks) + " |", "|---|" + "---|" * len(checks), *rows])

    def device_part(self) -> str:
        if not self.described:
            return ""
        described = json.dumps(self.described, indent=1)
        lines = ["## The device", "", "What it says of itself and reaches, as a file for `gpuopt --device`:", ""]
        lines += ["```json", described, "```"]
        if self.differences:
            lines += ["", "Where the estimates assumed something else:", "", "| member | assumed | measured | ratio |"]
            lines.append("|---|---|---|---|")
            lines += [
                f"| {row['member']} | {row['assumed']:.4g} | {row['measured']:.4g} | {row['ratio']:.2f} |"
                for row in self.differences
            ]
        return "\n".join(lines)

    def kernels_part(self) -> str:
        lines = []
        for program, measured in self.measured.items():
            rows = measured.get("kernels", [])
            if not rows:
                continue
            lines += ["", f"### {program}", "", "| kernel or call | launches | measured, ms | estimated, ms | ratio | GB/s |"]
            lines.append("|---|---|---|---|---|---|")
            lines += [kernel_row(row) for row in rows[:LISTED_KERNELS]]
        return "\n".join(["## Kernels beside their estimates", *lines]) if lines else ""

    def attention_part(self) -> str:
        rows = [row | {"program": program} for program, measured in self.measured.items() for row in measured.get("attention", [])]
        if not rows:
            return ""
        lines = ["## Attention", "", "| program | shape (batch, heads, queries, head size, keys) | kernel | forward, ms | backward, ms |"]
        lines.append("|---|---|---|---|---|")
        number = lambda value: "" if value is None else f"{value:.3f}"
        lines += [
            f"| {row['program']} | {row['shape']} | {row['kernel']} | {number(row['forward_ms'])} | {number(row['backward_ms'])} |"
            for row in rows
        ]
        return "\n".join(lines)

    # For programs.

    def json(self) -> str:
        content = {
            "date": time.strftime("%Y-%m-%d"), "device": self.device,
            "passed": self.count(PASSED), "failed": self.count(FAILED, BROKEN), "skipped": self.count(SKIPPED),
            "wrong": [dataclasses.asdict(outcome) for outcome in self.wrong()],
            "outcomes": [dataclasses.asdict(outcome) for outcome in self.outcomes],
            "described": self.described, "differences": self.differences, "measured": self.measured,
        }
        return json.dumps(content, indent=1) + "\n"

    def junit(self) -> ElementTree.ElementTree:
        suite = ElementTree.Element("testsuite", name="gpu-check")
        tags = {SKIPPED: "skipped", FAILED: "failure", BROKEN: "error"}
        for outcome in self.outcomes:
            case = ElementTree.SubElement(suite, "testcase", classname=outcome.program, name=outcome.check)
            if outcome.state in tags:
                ElementTree.SubElement(case, tags[outcome.state], message=outcome.text)
        return ElementTree.ElementTree(suite)

    def write(self, markdown: Path, junit: Path | None) -> None:
        """Writes what there is so far: the JSON lies beside the Markdown."""
        markdown.parent.mkdir(parents=True, exist_ok=True)
        markdown.write_text(self.markdown())
        markdown.with_suffix(".json").write_text(self.json())
        if self.described:
            markdown.with_suffix(".device.json").write_text(json.dumps(self.described, indent=1) + "\n")
        if junit:
            self.junit().write(junit)


def kernel_row(row: dict) -> str:
    measured, estimated = row["measured_ms"], row["estimated_ms"]
    ratio = f"{measured / estimated:.2f}" if estimated else ""
    rate = f"{row['bytes'] / measured / 1e6:.0f}" if row["bytes"] and measured else ""
    estimate = f"{estimated:.3f}" if estimated is not None else ""
    launches = row["launches"] if row["launches"] is not None else ""
    return f"| {row['name']} | {launches} | {measured:.3f} | {estimate} | {ratio} | {rate} |"
