#!/usr/bin/env python3
"""Writes the seeds of the fuzzers: the instances of the tests, good and bad, small generated ones, and their solutions.

usage: make_corpus.py PATH/gpuopt-solve FOLDER

FOLDER/graph, FOLDER/plan and FOLDER/arena are filled; gpuopt-fuzz-problem reads numbers, and needs none.
"""
import json
import pathlib
import random
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test" / "Unit" / "Planning"), str(ROOT / "benchmarks" / "solvers")]

import solve_files_test as instances
import transformer

ALL_FIELDS = {
    "name": "all fields",
    "nodes": [
        {"id": 0, "bytes": 64, "cost": 3, "workspace": 8, "repeat_workspace": 2},
        {"id": 1, "bytes": 64, "cost": 0.5, "storage": 0},
        {"id": 2, "bytes": 32, "cost": 2, "pinned": True, "offload_cost": 1},
        {"id": 3, "bytes": 32, "cost": 1e3, "recomputable": False},
        {"id": 4, "bytes": 64, "cost": 4, "workspace": 16},
    ],
    "edges": [[0, 1], [1, 2], [2, 3], [0, 4], [3, 4]],
}


def random_graph(seed, size, offload=False):
    draw = random.Random(seed)
    nodes = [{"id": i, "bytes": draw.randint(1, 20), "cost": draw.randint(1, 20)} for i in range(size)]
    for node in nodes if offload else []:
        node["offload_cost"] = draw.randint(0, 10)
    edges = [[i - 1, i] for i in range(1, size)]
    edges += [[draw.randrange(i), i] for i in range(2, size) if draw.random() < 0.6]
    return {"nodes": nodes, "edges": edges}


def random_arena(seed, size, alignments):
    draw = random.Random(seed)
    rows = ["id,lower,upper,size,alignment"]
    for i in range(size):
        lower = draw.randrange(20)
        rows.append(f"b{i},{lower},{lower + draw.randint(1, 8)},{draw.randint(1, 64)},{draw.choice(alignments)}")
    return "\n".join(rows) + "\n"


def extreme(plan):
    """The plan with the largest budget and prices that can be read, in units as small as can be."""
    changed = json.loads(plan)
    changed["budget_bytes"] = 2**63 - 1
    certificate = changed["certificate"]
    certificate["prices"] = [2**63 - 1 for _ in certificate["prices"]]
    certificate["price_shift"] = 0
    return json.dumps(changed, separators=(",", ":"))


class Seeds:
    def __init__(self, solve, folder):
        self.solve, self.folder, self.count = solve, folder, 0

    def write(self, kind, contents):
        path = self.folder / kind / f"seed{self.count:03}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(contents)
        self.count += 1
        return path

    def solved(self, command, problem, *flags):
        """The solution as text; empty where there is none."""
        suffix = ".csv" if command == "arena" else ".json"
        path, out = self.folder / f"problem{suffix}", self.folder / f"solution{suffix}"
        path.write_text(problem)
        out.unlink(missing_ok=True)
        subprocess.run([self.solve, command, path, "--effort", "2000", "-o", out, *flags],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        solution = out.read_text() if out.exists() else ""
        path.unlink()
        out.unlink(missing_ok=True)
        return solution

    def graph(self, text, budget):
        self.write("graph", f"{budget}\n{text}")
        plan = self.solved("recompute", text, "--budget", budget)
        self.write("plan", f"{text}\0{plan}")
        if plan:
            self.write("plan", f"{text}\0{extreme(plan)}")

    def arena(self, text):
        self.write("arena", text)
        self.write("arena", self.solved("arena", text) or text)


def main(solve, folder):
    seeds = Seeds(solve, pathlib.Path(folder))
    for graph in (instances.CHAIN, ALL_FIELDS, random_graph(1, 8), random_graph(2, 12), random_graph(3, 12, True),
                  transformer.train(1)):
        for budget in ("0.7", "0.85", "1"):
            seeds.graph(json.dumps(graph, separators=(",", ":")), budget)
    for text in instances.BAD_GRAPHS:
        seeds.write("graph", f"24B\n{text[:200]}")
    seeds.arena(instances.ARENA)
    for seed, alignments in enumerate(([1], [1, 2, 8], [256])):
        seeds.arena(random_arena(seed, 12, alignments))
    for text in instances.BAD_ARENAS:
        seeds.write("arena", text)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
