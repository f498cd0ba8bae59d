"""Checks that no group of --help is longer than a screen of 24 lines."""

import sys

groups, count = {}, 0
name = None
for line in sys.stdin:
    if line.rstrip().endswith(":") and not line.startswith(" "):
        name = line.strip()
        groups[name] = 0
    elif name and line.startswith("  -"):
        groups[name] += 1
long = {name: lines for name, lines in groups.items() if lines > 22}
assert len(groups) > 3 and not long, groups
