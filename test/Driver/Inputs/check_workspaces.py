"""Checks that all plans of the second file keep to a limit which some of the first exceed, by other means.

usage: check_workspaces.py LARGE.json SMALL.json BYTES"""

import json
import sys

large, small = (json.load(open(path))["convolutions"] for path in sys.argv[1:3])
limit = int(sys.argv[3])
beyond = [i for i, plan in enumerate(large) if plan.get("workspace_bytes", 0) > limit]
assert beyond, "no plan needs more than the limit"
assert all(plan["workspace_bytes"] <= limit for plan in small if "plan" in plan)
assert all(small[i]["plan"] != large[i]["plan"] for i in beyond)
