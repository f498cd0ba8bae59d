#!/usr/bin/env python3
"""Checks that the messages that docs/troubleshooting.md explains still exist.

usage: audit_messages.py [--page PAGE.md]

A message stands in `backquotes` in the first column of a table; `…` in it stands
for what differs. Each part between two of them must be in a literal of the
sources. Prints those that are in none; exits with 1 if there are any.
"""
import argparse
import re
import sys
from pathlib import Path

from audit_tests import ROOT, joined

FOLDERS = ("lib", "tools", "include", "python/gpuopt")
# LLVM's command lines say these.
ELSEWHERE = {"Unknown command line argument"}


def messages(page: Path):
    """The messages of a page, with the line of each."""
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("| `"):
            for message in re.findall(r"`([^`]+)`", line.split(" | ")[0]):
                yield number, message


def parts_of(message: str) -> list[str]:
    """The literals of a message, without the quotes and colons that are often written apart."""
    parts = re.split(r"…|'[^']*…[^']*'", message)
    return [part for part in (part.strip(" '.:;,=") for part in parts) if len(part) > 3]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "troubleshooting.md")
    page = parser.parse_args().page
    sources = "\0".join(
        joined(path.read_text(encoding="utf-8"))
        for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*")) if path.suffix in (".cpp", ".h", ".td", ".py", ".cmake")
    )
    count, wrong = 0, 0
    for number, message in messages(page):
        count += 1
        parts = parts_of(message)
        lost = [part for part in parts if part not in sources and part not in ELSEWHERE]
        for part in lost or ([] if parts else [message]):
            wrong += 1
            print(f"{page.name}:{number}: '{part}' is in no source")
    print(f"{count} messages, {wrong} are not in the sources")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
