#!/usr/bin/env python3
"""gpuopt-solve beside an oracle that shares nothing with it: HiGHS on the recompute problem as a mixed-integer program.

usage: recompute_milp.py [--data FOLDER] [--time-limit 60] [--effort 2000000] [--passes 1] [--only REGEX]

Run it by build/venv/bin/python. Graphs are generated, of 15 to 71 ops, and with --data published ones are read
(FOLDER/recompute/*.json in the format of docs/solve-format.md). Added time in percent. Both sides' schedules are
checked by `gpuopt-solve verify`, and the script fails where they contradict each other: our bound is above HiGHS's
plan, or our limit above its budget.
"""
import argparse
import collections
import json
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benchmarks" / "solvers"))

import milp
import simulator
import transformer

PUBLISHED = [("vgg16_b256", 0.9), ("unet_b32", 0.9), ("unet_b32", 0.8), ("unet_b32", 0.7), ("unet_b32", 0.5),
             ("fcn8_b32", 0.9), ("fcn8_b32", 0.8), ("fcn8_b32", 0.7), ("random_n100", 0.9), ("random_n100", 0.8)]

Ours = collections.namedtuple("Ours", "bound plan lower_limit")


def random_graph(seed, size):
    """A chain with skips: ops read the one before and, often, one at random."""
    draw = random.Random(seed)
    nodes = [{"bytes": draw.randint(1, 20), "cost": draw.randint(1, 20)} for _ in range(size)]
    edges = [[i - 1, i] for i in range(1, size)]
    edges += [[draw.randrange(i - 1), i] for i in range(2, size) if draw.random() < 0.6]
    return {"nodes": nodes, "edges": edges}


def training_graph(seed, size):
    """A chain forward and its gradients backward, each of which reads its op's input and sometimes its output."""
    draw = random.Random(seed)
    half = size // 2
    nodes = [{"bytes": draw.randint(1, 20), "cost": draw.randint(1, 20)} for _ in range(half)]
    edges = [[i - 1, i] for i in range(1, half)]
    for op in reversed(range(half)):
        gradient = len(nodes)
        nodes.append({"bytes": nodes[max(op - 1, 0)]["bytes"], "cost": 2 * nodes[op]["cost"]})
        edges.append([gradient - 1, gradient])
        edges += [[op - 1, gradient]] if op > 0 else []
        edges += [[op, gradient]] if op + 1 < half and draw.random() < 0.5 else []
    return {"nodes": nodes, "edges": edges}


def generated():
    """Budgets lie between the plain peak and the largest working set, below which nothing can be met."""
    for make, kind, sizes in ((random_graph, "random", (15, 20, 25)), (training_graph, "training", (16, 20, 24))):
        for size in sizes:
            for seed in range(1, 6):
                graph = make(seed, size)
                peak, least = simulator.plain_peak(graph), milp.largest_working_set(graph)
                for share in (0.6, 0.3, 0.1):
                    yield f"{kind}_{size}_{seed}", graph, least + int(share * (peak - least))


def transformers():
    for blocks in (1, 2):
        graph = transformer.train(blocks)
        for fraction in (0.8, 0.6, 0.4):
            yield f"transformer_{blocks}", graph, int(fraction * simulator.plain_peak(graph))


def published(data):
    for name, fraction in PUBLISHED if data else []:
        graph = json.loads((data / "recompute" / f"{name}.json").read_text())
        yield name, graph, int(fraction * simulator.plain_peak(graph))


class Comparison:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.verdicts, self.shares = collections.Counter(), []
        self.solve = ROOT / "build" / "bin" / "gpuopt-solve"

    def run(self, *command):
        return subprocess.run([str(self.solve), *map(str, command)], capture_output=True, text=True)

    def ours(self, path, budget):
        """Without a plan: the smallest budget that it proves to be needed."""
        out = self.folder / "plan.json"
        result = self.run("recompute", path, "--budget", f"{budget}B", "--effort", self.options.effort, "-o", out)
        if result.returncode == 2:
            return Ours(None, None, int(re.search(r"proven lower limit (\d+) bytes", result.stderr)[1]))
        self.verify(path, out)
        plan = json.loads(out.read_text())
        return Ours(plan["lower_bound_percent"], plan["added_percent"], 0)

    def verify(self, path, plan):
        result = self.run("verify", path, plan)
        if result.returncode:
            raise SystemExit(f"{plan.name}: {result.stderr}")

    def compare(self, name, graph, budget):
        path = self.folder / "graph.json"
        path.write_text(json.dumps(graph))
        ours = self.ours(path, budget)
        theirs = milp.solve(graph, budget, self.options.time_limit, self.options.passes)
        if theirs.schedule:
            peak, added = simulator.verified(self.solve, path, theirs.schedule)
            if peak > budget or abs(added - theirs.plan) > 1e-4:
                raise SystemExit(f"{name}: HiGHS says {theirs}, but peak {peak} and {added} % are true")
        verdict = judge(ours, theirs, budget)
        fraction = budget / simulator.plain_peak(graph)
        print(f"| {name} | {len(graph['nodes'])} | {fraction:.3g} | {cells(ours)} | {cells(theirs)} | "
              f"{theirs.seconds:.1f} | {verdict} |", flush=True)
        self.verdicts[verdict.split(" by ")[0]] += 1
        if ours.plan and theirs.isOptimal and theirs.plan:
            self.shares.append(ours.bound / theirs.plan)

    def summary(self):
        print(f"\n{sum(self.verdicts.values())} instances: " + ", ".join(
            f"{count} {text}" for text, count in self.verdicts.most_common()))
        if self.shares:
            print(f"our bound is {100 * statistics.mean(self.shares):.1f} % of the optimum on average, "
                  f"{100 * min(self.shares):.1f} % at least")


def cells(side):
    return " | ".join("–" if value is None else f"{value:.3f}" for value in (side.bound, side.plan))


def judge(ours, theirs, budget):
    if ours.plan is None and theirs.plan is None:
        return "impossible" if theirs.isOptimal else "not found by either"
    if theirs.plan is None:
        return "an op twice in a stage" if theirs.isOptimal else "the only one"
    if ours.plan is None:
        return "CONTRADICTED: impossible" if ours.lower_limit > budget else "missed"
    if ours.bound > theirs.plan + 1e-4:
        return "CONTRADICTED: its bound is above HiGHS's plan"
    difference = ours.plan - theirs.plan
    if abs(difference) <= 1e-4:
        return "the optimum" if theirs.isOptimal else "the same"
    return f"worse by {difference:.3f}" if difference > 0 else f"better by {-difference:.3f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--time-limit", type=float, default=60)
    parser.add_argument("--effort", type=int, default=2000000)
    parser.add_argument("--passes", type=int, default=1)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    print("| graph | ops | budget | our bound | our plan | HiGHS's bound | HiGHS's plan | its s | our plan is |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        comparison = Comparison(options, pathlib.Path(folder))
        for name, graph, budget in [*generated(), *transformers(), *published(options.data)]:
            if re.search(options.only, name):
                comparison.compare(name, graph, budget)
        comparison.summary()
    sys.exit(any(verdict.startswith("CONTRADICTED") for verdict in comparison.verdicts))


if __name__ == "__main__":
    main()
