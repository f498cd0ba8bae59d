#!/usr/bin/env python3
"""Runs gpuopt-solve on small files, good and bad. usage: solve_files_test.py PATH/gpuopt-solve"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOLVE = sys.argv.pop(1) if __name__ == "__main__" else None

# a -> b -> c -> d -> e, where e reads a too, and d reads b.
CHAIN = {
    "nodes": [{"id": i, "bytes": size, "cost": 1} for i, size in enumerate((10, 4, 10, 4, 4))],
    "edges": [[0, 1], [1, 2], [2, 3], [1, 3], [3, 4], [0, 4]],
}

BAD_GRAPHS = {
    "": "is not JSON",
    "[]": "expects an object with the arrays 'nodes' and 'edges'",
    '{"nodes":[3],"edges":[]}': "node 0 expects an object, but got 3",
    '{"nodes":[{"bytes":1,"cost":1,"id":1}],"edges":[]}': "expects ids that count from 0, but got 1",
    '{"nodes":[{"bytes":1,"cost":1,"storage":0}],"edges":[]}': "expects 'storage' to be an earlier node, but got 0",
    '{"nodes":[{"bytes":1,"cost":1,"pinned":1}],"edges":[]}': "expects 'pinned' to be true or false, but got 1",
    '{"nodes":[{"bytes":1,"cost":1}],"edges":[[0]]}': "expects an edge [from, to], but got [0]",
    "[" * 100000: "bad.json' nests too deeply",
    '{"nodes":[{"bytes":1,"cost":NaN}],"edges":[]}': "is not JSON",
    '{"nodes":[{"bytes":1,"cost":1e999}],"edges":[]}': "expects 'cost' to be a finite number",
    '{"nodes":[{"bytes":1,"cost":-1}],"edges":[]}': "expects a finite cost of at least 0",
    '{"nodes":[{"bytes":-1,"cost":1}],"edges":[]}': "expects sizes of at least 0",
    '{"nodes":[{"bytes":1e300,"cost":1}],"edges":[]}': "to be an integer",
    '{"nodes":[{"cost":1}],"edges":[]}': "'bytes'",
    '{"nodes":[{"bytes":1,"cost":1}],"edges":[[0,5]]}': "names a node that does not exist",
    '{"nodes":[{"bytes":1,"cost":1},{"bytes":1,"cost":1}],"edges":[[0,1],[1,0]]}':
        "goes against the order of the ids: a cycle, or nodes that are not in topological order",
    '{"nodes":[{"bytes":9223372036854775807,"cost":1}],"edges":[]}': "op 0 makes the sum of all sizes overflow",
    '{"nodes":[{"bytes":1,"cost":1e308},{"bytes":1,"cost":1e308}],"edges":[]}': "overflow",
    '{"nodes":[{"bytes":1,"cost":1},{"bytes":1,"cost":1,"storage":0}],"edges":[]}': "shares the storage of op 0, which is not an input",
    '{"nodes":[{"bytes":1,"cost":1,"offload_cost":"1"}],"edges":[]}': "finite number",
    '{"nodes":[{"bytes":1,"cost":1,"offload_cost":-1}],"edges":[]}': "expects a finite offload cost of at least 0",
    '{"nodes":[{"bytes":1,"cost":1},{"bytes":1,"cost":1,"storage":0,"offload_cost":1}],"edges":[[0,1]]}': "may be offloaded, but is a view of op 0",
}

# Changes to a plan, and what is said of them.
BAD_PLANS = (
    ({"schedule": 3}, "expects the array 'schedule'"),
    ({"schedule": [9]}, "step 0: op 9 does not exist"),
    ({"schedule": [1]}, "step 0: op 1 runs before op 0 has run"),
    ({"schedule": [0, 1, 2, 3]}, "op 4 never runs"),
    ({"schedule": [0, 1, 2, 3, 4]}, "the peak of 28 bytes exceeds the budget of 23"),
    ({"budget_bytes": "24"}, "expects the integer 'budget_bytes'"),
    ({"peak_bytes": 23}, "the plan claims another peak or cost than it has"),
)

# The same of its certificate.
BAD_CERTIFICATES = (
    ({"order": "any"}, "expects 'order' to be 'fixed': no other is proven"),
    ({"time_points": 1}, "expects the array 'time_points'"),
    ({"time_points": [0.5, 3]}, "expects integers in 'time_points'"),
    ({"time_points": [2, 2**40]}, "expects 32-bit indices in 'time_points'"),
    ({"time_points": [2, 9]}, "expects time points that are ops in increasing order"),
    ({"prices": [1]}, "expects one price per time point"),
    ({"prices": [-1, 1]}, "expects prices of at least 0"),
    ({"prices": [2.0**63, 1]}, "expects integers in 'prices'"),
    ({"cost_shift": None}, "expects 'cost_shift' and 'price_shift'"),
    ({"price_shift": 63}, "expects shifts in their range"),
    ({"flows": None}, "expects the array 'flows'"),
    ({"flows": [[0, 0]]}, "expects five integers per flow"),
    ({"flows": [[0, 0, 0, 2**40, 1]]}, "expects 32-bit indices in 'flows'"),
    ({"flows": [[7, 0, 0, -1, 1]]}, "the flow of kind 7 at op 0 is on no arc"),
    ({"flows": [[0, 0, 0, -1, 2**60]]}, "the flow of kind 0 at op 0 is not within its capacity"),
    ({"flows": [[0, 0, 0, -1, 1]]}, "flow is not conserved at op 0"),
    ({"flow_count": 3}, "plan.json.flow': No such file or directory"),
)

ARENA = "id,lower,upper,size\na,0,3,8\nb,3,5,8\nc,0,5,4\n"

BAD_ARENAS = {
    "": "is empty",
    "a,b\n": "expects a first line with id, lower, upper and size",
    "id,lower,upper,size\nx,0,1\n": "expects 4 columns",
    "id,lower,upper,size\nx,0,1,y\n": "expects 64-bit integers, but got 'y'",
    "id,lower,upper,size\nx,1,1,5\n": "expects a lifetime that is not empty, but got [1, 1)",
    "id,lower,upper,size\nx,0,1,-5\n": "expects a size of at least 0, but got -5",
    "id,lower,upper,size,alignment\nx,0,1,5,0\n": "expects an alignment of at least 1, but got 0",
    "id,lower,upper,size\nx,0,1,5\nx,0,1,5\n": "repeats the id",
    "id,lower,upper,size\nx,0,1,9223372036854775807\ny,0,1,1\n": "makes the sum of all sizes overflow 64 bits",
}


class SolveFiles(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def file(self, name, contents):
        path = self.folder / name
        path.write_text(contents)
        return path

    def run_solve(self, *arguments):
        return subprocess.run([SOLVE, *map(str, arguments)], capture_output=True, text=True, timeout=60)

    def test_plan_is_written_and_verified(self):
        graph, out = self.file("graph.json", json.dumps(CHAIN)), self.folder / "plan.json"
        # Plain, a, b, c and d are alive at d: 28 bytes. Where a runs again
        # just before e, the most is 18 bytes, for one op of five more.
        result = self.run_solve("recompute", graph, "--budget", "24B", "--effort", 1000, "-o", out)
        self.assertEqual(result.returncode, 0, result.stderr)
        plan = json.loads(out.read_text())
        self.assertLessEqual(plan["peak_bytes"], 24)
        self.assertEqual(plan["added_percent"], 20)
        self.assertEqual(self.run_solve("verify", graph, out).returncode, 0)
        plan["lower_bound_percent"] += 1
        changed = self.file("changed.json", json.dumps(plan))
        self.assertIn("the plan claims a higher bound than it proves", self.run_solve("verify", graph, changed).stderr)

    def test_reloads_are_written_and_verified(self):
        problem = json.loads(json.dumps(CHAIN))
        problem["nodes"][0]["offload_cost"] = 0.25
        graph, out = self.file("graph.json", json.dumps(problem)), self.folder / "plan.json"
        # As above, but to reload a takes a quarter of the time of one op.
        result = self.run_solve("recompute", graph, "--budget", "24B", "--effort", 1000, "-o", out)
        self.assertEqual(result.returncode, 0, result.stderr)
        plan = json.loads(out.read_text())
        self.assertEqual(plan["schedule"], [0, 1, 2, 3, {"reload": 0}, 4])
        self.assertEqual(plan["added_percent"], 5)
        self.assertEqual(self.run_solve("verify", graph, out).returncode, 0)
        for schedule, message in (([0, 1, 2, 3, {"reload": 4}, 4], "op 4 is reloaded before it has run"),
                                  ([0, 1, 2, 3, {"reload": 2}, 4], "op 2 may not be offloaded"),
                                  ([0, 1, 2, 3, -1, 4], "expects 31-bit indices in 'schedule'"),
                                  ([0, 1, 2, 3, {"load": 0}, 4], "expects ops and reloads of ops in 'schedule'")):
            changed = self.file("changed.json", json.dumps({**plan, "schedule": schedule}))
            result = self.run_solve("verify", graph, changed)
            self.assertEqual(result.returncode, 1)
            self.assertIn(message, result.stderr)

    def test_curve_has_reloads(self):
        problem = json.loads(json.dumps(CHAIN))
        problem["nodes"][0]["offload_cost"] = 0.25
        graph, out = self.file("graph.json", json.dumps(problem)), self.folder / "curve.json"
        self.assertEqual(self.run_solve("recompute", graph, "--curve", "-o", out).returncode, 0)
        self.assertIn({"reload": 0}, json.loads(out.read_text())["points"][-1]["schedule"])

    def test_curve_ends_at_the_smallest_budget(self):
        # Forward and backward of ten layers: the least that is met lies between two of the steps down to the limit.
        nodes = [{"bytes": 10 + 7 * i % 5, "cost": 1} for i in range(20)]
        edges = [[i - 1, i] for i in range(1, 20)] + [[19 - i, i] for i in range(11, 20)]
        graph = self.file("graph.json", json.dumps({"nodes": nodes, "edges": edges}))
        out = self.folder / "curve.json"
        self.assertEqual(self.run_solve("recompute", graph, "--curve", "--effort", 1000, "-o", out).returncode, 0)
        least = json.loads(out.read_text())["points"][-1]["budget_bytes"]
        self.assertIn(f"the smallest budget found is {least} bytes",
                      self.run_solve("recompute", graph, "--budget", "1B", "--effort", 1000).stderr)
        self.assertEqual(self.run_solve("recompute", graph, "--curve", "--time-limit", 4, "-o", out).returncode, 0)
        self.assertLessEqual(json.loads(out.read_text())["points"][-1]["budget_bytes"], least)

    def test_budget_that_cannot_be_met(self):
        graph = self.file("graph.json", json.dumps(CHAIN))
        result = self.run_solve("recompute", graph, "--budget", "10B")
        self.assertEqual(result.returncode, 2)
        self.assertIn("memory budget 10 bytes cannot be met: the smallest budget found is 18 bytes, "
                      "and the proven lower limit is 18 bytes", result.stderr)

    def test_large_graphs_are_searched_for_one_budget(self):
        count = 10_001
        chain = {"nodes": [{"bytes": 4, "cost": 1}] * count, "edges": [[i, i + 1] for i in range(count - 1)]}
        graph, plan = self.file("graph.json", json.dumps(chain)), self.folder / "plan.json"
        result = self.run_solve("recompute", graph, "--budget", "1.0", "-o", plan)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("gpuopt-solve: note: with more than 10000 ops, this budget alone is searched; "
                      "a plan for a smaller one is not known to cost more", result.stderr)
        self.assertEqual(self.run_solve("verify", graph, plan).returncode, 0)

    def test_cost_does_not_fall_along_the_curve(self):
        graph, out = self.file("graph.json", json.dumps(CHAIN)), self.folder / "curve.json"
        self.assertEqual(self.run_solve("recompute", graph, "--curve", "-o", out).returncode, 0)
        points = json.loads(out.read_text())["points"]
        for larger, smaller in zip(points, points[1:]):
            self.assertGreater(larger["budget_bytes"], smaller["budget_bytes"])
            self.assertLessEqual(larger["added_percent"], smaller["added_percent"])
            self.assertLessEqual(larger["lower_bound_percent"], smaller["lower_bound_percent"])

    def test_bad_graphs(self):
        for contents, message in BAD_GRAPHS.items():
            result = self.run_solve("recompute", self.file("bad.json", contents), "--budget", 0.9)
            self.assertEqual(result.returncode, 1, contents[:80])
            self.assertIn(message, result.stderr)

    def test_bad_budgets(self):
        graph = self.file("graph.json", json.dumps(CHAIN))
        for budget in ("", "x", "2", "-1B", "nan", "1e30GiB"):
            self.assertEqual(self.run_solve("recompute", graph, f"--budget={budget}").returncode, 1, budget)

        result = self.run_solve("recompute", graph, "--budget=x")
        self.assertIn("expects a budget like '0.8' (of the plain peak), '4GiB' or '1000B', but got 'x'", result.stderr)

    def test_bad_plans(self):
        graph, out = self.file("graph.json", json.dumps(CHAIN)), self.folder / "plan.json"
        self.assertEqual(self.run_solve("recompute", graph, "--budget", "23B", "-o", out).returncode, 0)
        plan = json.loads(out.read_text())
        self.assertEqual(plan["certificate"]["time_points"], [2, 3])
        certificates = [({"certificate": {**plan["certificate"], **changes}}, what)
                        for changes, what in BAD_CERTIFICATES]
        twice = plan["certificate"]["flows"][:1] * 2
        certificates.append(({"certificate": {**plan["certificate"], "flows": twice}}, "is listed twice"))
        certificates.append(({"budget_bytes": 17, "certificate": {**plan["certificate"]}}, "exceeds the budget of 17"))
        for changes, what in (*BAD_PLANS, *certificates):
            result = self.run_solve("verify", graph, self.file("plan.json", json.dumps({**plan, **changes})))
            self.assertEqual(result.returncode, 1, what)
            self.assertIn(what, result.stderr)
        result = self.run_solve("verify", graph, self.file("plan.json", "[]"))
        self.assertIn("plan.json': expects an object", result.stderr)

    def test_bad_packings(self):
        arena = self.file("arena.csv", ARENA)
        for rows, what in (("a,0,3,8,0\n", "the solution's rows are not the instance's, with offsets"),
                           ("a,0,3,8,0\nb,3,5,8,0\nc,0,5,3,8\n", "buffer 'c' was changed"),
                           ("a,0,3,8,-1\nb,3,5,8,0\nc,0,5,4,8\n", "buffer 'a' is out of range"),
                           ("a,0,3,8,0\nb,3,5,8,0\nc,0,5,4,4\n", "overlaps buffer 0")):
            packed = self.file("packed.csv", "id,lower,upper,size,offset\n" + rows)
            result = self.run_solve("verify", arena, packed)
            self.assertEqual(result.returncode, 1, what)
            self.assertIn(what, result.stderr)

    def test_flags_that_mean_nothing(self):
        graph, arena = self.file("graph.json", json.dumps(CHAIN)), self.file("arena.csv", ARENA)
        for arguments, what in ((("recompute", graph, "--effort=9", "--time-limit=1"),
                                 "--effort and --time-limit exclude each other: plans of one effort are the same everywhere"),
                                (("arena", arena, "--effort=-9"), "--effort and --time-limit must be at least 0"),
                                (("arena", arena, "--time-limit=nan"), "--effort and --time-limit must be at least 0"),
                                (("arena", arena, "--capacity=-1"), "--capacity must be at least 0"),
                                (("recompute", graph, "--threads=0"), "--threads must be from 1 to 64, but is 0"),
                                (("recompute", graph, "--threads=65"),
                                 "--threads must be from 1 to 64, but is 65: more threads do not end a search sooner")):
            result = self.run_solve(*arguments)
            self.assertEqual(result.returncode, 1, what)
            self.assertIn(what, result.stderr)
        result = self.run_solve(graph)
        self.assertEqual(result.returncode, 1)
        self.assertIn("expects one of the commands recompute, arena and verify", result.stderr)

    def test_arena(self):
        arena, out = self.file("arena.csv", ARENA), self.folder / "out.csv"
        result = self.run_solve("arena", arena, "-o", out)
        self.assertEqual(result.stdout, "height=12 max_load=12 lower_limit=12 optimal\n")
        self.assertEqual(self.run_solve("verify", arena, out).returncode, 0)
        result = self.run_solve("arena", arena, "--capacity", 11)
        self.assertEqual(result.returncode, 2)
        self.assertIn("capacity 11 bytes cannot be met: the lowest packing found has 12 bytes, and the proven lower limit is 12", result.stderr)

    def test_bad_arenas(self):
        for contents, message in BAD_ARENAS.items():
            result = self.run_solve("arena", self.file("bad.csv", contents))
            self.assertEqual(result.returncode, 1, contents)
            self.assertIn(message, result.stderr)

    def test_no_partial_output(self):
        graph = self.file("graph.json", json.dumps(CHAIN))
        result = self.run_solve("recompute", graph, "-o", self.folder / "missing" / "plan.json")
        self.assertEqual(result.returncode, 1)
        self.assertFalse((self.folder / "missing").exists())

    def test_output_is_checked_before_the_work(self):
        """The input, which is bad, is not looked at where the output is."""
        bad = self.file("bad.json", "{")
        (self.folder / "link.json").symlink_to(bad)
        overwrites = "is read, and must not be overwritten; choose another file"
        for out, what in (("bad.json", overwrites), ("./bad.json", overwrites), ("link.json", overwrites),
                          ("missing/plan.json", "missing/plan.json': No such file or directory"),
                          ("bad.json/plan.json", "bad.json/plan.json': Not a directory"), ("", "': Is a directory")):
            for command in ("recompute", "arena"):
                result = self.run_solve(command, bad, "-o", f"{self.folder}/{out}")
                self.assertEqual(result.returncode, 1, out)
                self.assertIn(what, result.stderr)
                self.assertEqual(len(result.stderr.splitlines()), 1)
                self.assertNotIn("JSON", result.stderr)
        self.assertEqual(bad.read_text(), "{")

    @unittest.skipUnless(os.path.exists("/dev/full"), "no device that is always full")
    def test_full_device(self):
        graph = self.file("graph.json", json.dumps(CHAIN))
        result = self.run_solve("recompute", graph, "-o", "/dev/full")
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot write '/dev/full'", result.stderr)


if __name__ == "__main__":
    unittest.main()
