#!/usr/bin/env python3
"""Checks that the examples in the documentation are what gpuopt writes.

usage: audit_examples.py OUTPUT [--page PAGE]...

A code block of README.md or docs/ that stands below a line

    <!-- from FILE -->

shows lines of OUTPUT/FILE. Each of its lines must be there, in the order of the
block. What stands for something else in a block: `…` for text that was cut out
of a line or for lines, `c_fc` for `model.transformer.h.0.mlp.c_fc`, and any
number of an SSA value for any other, so that a pass may add an op without
changing the documentation. Locations and spaces are not compared. Prints each
line that is not there; exits with 1 if there is any.
"""
import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"<!-- from (\S+) -->\n+```\w*\n(.*?)```", re.S)


# A location, with those that it names inside.
LOCATION = re.compile(r"""\s*loc\((?:[^()"]|"[^"]*"|\([^()]*\))*\)""")


def plain(line: str) -> str:
    """A line without what is not compared."""
    line = LOCATION.sub("", line.replace("model.transformer.h.0.mlp.c_fc", "c_fc"))
    line = re.sub(r"%(arg)?\d+\b", r"%\1", line)
    return re.sub(r"\s+", " ", line).strip()


def pattern(line: str) -> re.Pattern:
    cut = re.sub("… ?// .*", "…", plain(line))  # the documentation's own remark
    return re.compile(".*?".join(re.escape(part.strip()) + r"\s*" for part in cut.split("…")))


def missing(block: str, written: list[str]):
    """The lines of a block that are not written, with their number in it."""
    at = 0
    for number, line in enumerate(block.splitlines(), 1):
        if line.startswith("…") or not re.search(r"\w", line):
            continue
        wanted = pattern(line)
        found = next((i for i in range(at, len(written)) if wanted.search(written[i])), None)
        if found is None:
            yield number, line
        else:
            at = found + 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", type=Path)
    parser.add_argument("--page", type=Path, action="append")
    arguments = parser.parse_args()
    blocks, wrong = 0, 0
    for page in arguments.page or [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = page.read_text(encoding="utf-8")
        for found in BLOCK.finditer(text):
            blocks += 1
            written = [plain(line) for line in (arguments.output / found[1]).read_text(encoding="utf-8").splitlines()]
            first = text.count("\n", 0, found.start(2))
            for number, line in missing(found[2], written):
                wrong += 1
                print(f"{page.name}:{first + number}: is not in '{found[1]}', or not in this order: {line.strip()}")
    print(f"{blocks} examples, {wrong} lines are not there")
    return 1 if wrong or not blocks else 0


if __name__ == "__main__":
    sys.exit(main())
