"""Checks what a budget costs, by `plan --json` without it and within it and by plan.json of the program within it.

usage: check_budget_cost.py PLAIN WITHIN PROGRAM
"""

import json
import math
import sys

plain, within, program = (json.load(open(path)) for path in sys.argv[1:])


def check(found, expected, what):
    assert math.isclose(found, expected, rel_tol=1e-6, abs_tol=1e-6), (what, found, expected)


cost = within["memory"]
check(cost["plain_step_ms"], plain["memory"]["plain_step_ms"], "the step without a budget")
check(cost["added_percent"], 100 * (within["step_ms"] / plain["step_ms"] - 1), "added time")
# Other kernels take a part of it, which nothing proves to be needed.
assert 0 < cost["lower_bound_percent"] <= cost["recompute_percent"] < cost["added_percent"] - 0.1, cost
assert plain["memory"]["added_percent"] == plain["memory"]["recompute_percent"] == 0
schedule = program["schedules"]["micro_step"]
check(schedule["plain_ns"], 1e6 * plain["memory"]["plain_step_ms"], "plain_ns")
check(schedule["added_ns"], schedule["plain_ns"] * schedule["added_percent"] / 100, "added_ns")
check(schedule["recompute_ns"], schedule["plain_ns"] * schedule["recompute_percent"] / 100, "recompute_ns")
for member in ("added_percent", "recompute_percent", "lower_bound_percent"):
    check(schedule[member], cost[member], member)
