"""Checks that the calls of a compiled program stand where its calls.h says.

usage: check_lines.py PROGRAM

The layers of a model that are a loop share their lines.
"""

import re
import sys

lines = open(sys.argv[1] + "/step.cu").read().splitlines()
rows = re.findall(r'^    \{"(.*)", "(?:forward|backward|optimizer)", (\d+), ', open(sys.argv[1] + "/calls.h").read(), re.M)
for name, line in rows:
    call = "\n".join(lines[int(line) - 1 : int(line) + 3])
    function, *constant = name.split()
    kernel = re.match(r"\s*launch\(ctx, \d+, \d+,\s+" + function, call)
    assert kernel or re.match(r"\s*(sum_of_squares|add_loss|%s)[<(]" % function, call), (name, line, call)
    assert all(word in call for word in constant), (name, line, call)
shared = len(rows) - len(set(rows))
assert len(rows) > 100 and shared > 50, (len(rows), shared)
