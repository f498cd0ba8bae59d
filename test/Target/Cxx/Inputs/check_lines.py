"""Checks how long the steps of two programs are, which gpuopt-translate
--device-to-cxx printed: the first has at most so many lines, and the second,
of a deeper model, at most so many more.

usage: check_lines.py MOST PROGRAM MOST_MORE DEEPER_PROGRAM
"""

import sys
from pathlib import Path


def lines_of_step(path: str) -> int:
    """The lines of step.cu, which is printed last."""
    _, step = Path(path).read_text().split("// step.cu\n")
    assert "micro_step(" in step
    return len(step.rstrip("\n").split("\n"))


def main() -> None:
    most, most_more = int(sys.argv[1]), int(sys.argv[3])
    lines, deeper = lines_of_step(sys.argv[2]), lines_of_step(sys.argv[4])
    if lines > most or deeper > lines + most_more:
        sys.exit(f"expects at most {most} lines, and at most {most_more} more for the deeper model, but got {lines} and {deeper}")


if __name__ == "__main__":
    main()
