#!/usr/bin/env python3
"""Runs gpuopt-solve on small files, good and bad. usage: solve_files_test.py PATH/gpuopt-solve"""
import json
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
    "[]": "expects an object",
    "[" * 100000: "nests too deeply",
    '{"nodes":[{"bytes":1,"cost":NaN}],"edges":[]}': "is not JSON",
    '{"nodes":[{"bytes":1,"cost":1e999}],"edges":[]}': "finite number",
    '{"nodes":[{"bytes":1,"cost":-1}],"edges":[]}': "cost of at least 0",
    '{"nodes":[{"bytes":-1,"cost":1}],"edges":[]}': "sizes of at least 0",
    '{"nodes":[{"bytes":1e300,"cost":1}],"edges":[]}': "to be an integer",
    '{"nodes":[{"cost":1}],"edges":[]}': "'bytes'",
    '{"nodes":[{"bytes":1,"cost":1}],"edges":[[0,5]]}': "does not exist",
    '{"nodes":[{"bytes":1,"cost":1},{"bytes":1,"cost":1}],"edges":[[0,1],[1,0]]}': "a cycle",
    '{"nodes":[{"bytes":9223372036854775807,"cost":1}],"edges":[]}': "overflow",
    '{"nodes":[{"bytes":1,"cost":1e308},{"bytes":1,"cost":1e308}],"edges":[]}': "overflow",
    '{"nodes":[{"bytes":1,"cost":1},{"bytes":1,"cost":1,"storage":0}],"edges":[]}': "not an input",
    '{"nodes":[{"bytes":1,"cost":1,"offload_cost":"1"}],"edges":[]}': "finite number",
    '{"nodes":[{"bytes":1,"cost":1,"offload_cost":-1}],"edges":[]}': "offload cost of at least 0",
    '{"nodes":[{"bytes":1,"cost":1},{"bytes":1,"cost":1,"storage":0,"offload_cost":1}],"edges":[[0,1]]}': "is a view",
}

ARENA = "id,lower,upper,size\na,0,3,8\nb,3,5,8\nc,0,5,4\n"

BAD_ARENAS = {
    "": "is empty",
    "a,b\n": "expects a first line",
    "id,lower,upper,size\nx,0,1\n": "expects 4 columns",
    "id,lower,upper,size\nx,0,1,y\n": "64-bit integers",
    "id,lower,upper,size\nx,1,1,5\n": "lifetime",
    "id,lower,upper,size\nx,0,1,5\nx,0,1,5\n": "repeats the id",
    "id,lower,upper,size\nx,0,1,9223372036854775807\ny,0,1,1\n": "overflow",
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
        self.assertIn("higher bound than it proves", self.run_solve("verify", graph, changed).stderr)

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
                                  ([0, 1, 2, 3, -1, 4], "31-bit indices"),
                                  ([0, 1, 2, 3, {"load": 0}, 4], "ops and reloads of ops")):
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

    def test_budget_that_cannot_be_met(self):
        graph = self.file("graph.json", json.dumps(CHAIN))
        result = self.run_solve("recompute", graph, "--budget", "10B")
        self.assertEqual(result.returncode, 2)
        self.assertIn("memory budget 10 bytes cannot be met: the smallest found is 18 bytes, "
                      "the proven lower limit 18 bytes", result.stderr)

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

    def test_arena(self):
        arena, out = self.file("arena.csv", ARENA), self.folder / "out.csv"
        result = self.run_solve("arena", arena, "-o", out)
        self.assertEqual(result.stdout, "height=12 max_load=12 lower_limit=12 optimal\n")
        self.assertEqual(self.run_solve("verify", arena, out).returncode, 0)
        result = self.run_solve("arena", arena, "--capacity", 11)
        self.assertEqual(result.returncode, 2)
        self.assertIn("capacity 11 bytes cannot be met: the lowest packing found has 12 bytes, the proven lower limit 12", result.stderr)

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


if __name__ == "__main__":
    unittest.main()
