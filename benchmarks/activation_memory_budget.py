"""PyTorch's `activation_memory_budget` beside gpuopt-solve on the same graph, in the same order, by one simulator.

usage: build/venv/bin/python benchmarks/activation_memory_budget.py [--models mlp,gpt2-bench,...] [--time-limit 10]

torch.compile's partitioner is run on the joint graph of forward, loss and backward that torch.compile has, after
Inductor's decompositions and joint passes; it runs on any machine. Its two graphs, forward and backward, are one
schedule, whose peak (activations and gradients, not parameters) and added time are those of docs/solve-format.md; the
peak is also measured by executing the graphs op by op, and the script stops where the two differ.
gpuopt-solve then gets that peak as its budget, with the same order of first executions. Time is PyTorch's own estimate
for this purpose: floating-point operations of products and convolutions, next to nothing for every other op.
"""

import argparse
import copy
import json
import operator
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "test" / "Integration"), str(ROOT / "benchmarks" / "solvers")]

import models
import simulator
import torch
import torch._functorch.config
from executed_peak import executed_peak
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.partitioners import estimate_runtime, min_cut_rematerialization_partition
from torch._inductor.decomposition import select_decomp_table
from torch._inductor.fx_passes.joint_graph import joint_graph_passes

MODELS = ["mlp", "gpt2-bench", "bert-small", "resnet18-small"]
BATCH = {"mlp": 1024, "resnet18-small": 64}  # else gradients of parameters are nearly all of the memory
BUDGETS = [1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1]
BELOW = [0.9, 0.8, 0.7]  # of PyTorch's smallest peak: budgets for gpuopt-solve alone
SOLVE = ROOT / "build" / "bin" / "gpuopt-solve"


def partitions(name: str) -> list[tuple]:
    """For each budget, the forward and the backward graph that torch.compile would generate code for, and the number
    of the step's results among the forward's outputs."""
    case, found = models.make(name), []

    def partition(joint, joint_inputs, **options):
        joint_graph_passes(joint)
        options.pop("compiler", None)
        for budget in BUDGETS:
            with torch._functorch.config.patch(activation_memory_budget=budget):
                graphs = min_cut_rematerialization_partition(
                    copy.deepcopy(joint), joint_inputs, compiler="inductor", **options)
            found.append((*graphs, options["num_fwd_outputs"]))
        return found[0][:2]

    def step(labels, *inputs):
        return case.loss_of(case.module(*inputs), labels)

    torch._dynamo.reset()
    backend = aot_autograd(fw_compiler=lambda graph, _: graph, partition_fn=partition,
                           decompositions=select_decomp_table())
    size = BATCH.get(name, case.batch)
    batch = [torch.from_numpy(array[:size].copy()) for array in (case.labels, *case.inputs.values())]
    torch.compile(step, backend=backend, fullgraph=True)(*batch)
    return found


def is_view(node: torch.fx.Node) -> bool:
    """Whether the output lies in the first input's storage."""
    if node.target is torch.ops.aten._unsafe_view.default:
        return True
    returns = node.target._schema.returns if hasattr(node.target, "_schema") else []
    return bool(returns) and returns[0].alias_info is not None


def bytes_of(node: torch.fx.Node) -> int:
    value = node.meta["val"]
    return value.numel() * value.element_size() if isinstance(value, torch.Tensor) else 0


class Problem:
    """The ops of both graphs in the order of their first executions, and the schedule of all executions.

    An op with several outputs is one op for each that is used, with its share of the cost: the gradients of a
    convolution, say, which are kernels of their own.
    """

    def __init__(self, forward: torch.fx.GraphModule, backward: torch.fx.GraphModule, results: int):
        self.nodes: list[dict] = []
        self.edges: set[tuple[int, int]] = set()
        self.schedule: list[int] = []
        self.ids: dict[str, int] = {}  # by the name in the joint graph, which both graphs keep
        for graph in (forward.graph, backward.graph):
            for node in graph.nodes:
                if node.op == "call_function" and not self.is_bundle(node):
                    self.execute(node)
        outputs = [*forward.graph.output_node().args[0][:results], *backward.graph.output_node().args[0]]
        for output in outputs:
            if output is not None and output.name in self.ids:
                self.nodes[self.ids[output.name]]["pinned"] = True

    @staticmethod
    def is_bundle(node: torch.fx.Node) -> bool:
        return isinstance(node.meta.get("val"), (tuple, list))

    def execute(self, node: torch.fx.Node) -> None:
        if node.name not in self.ids:
            self.add(node)
        self.schedule.append(self.ids[node.name])

    def add(self, node: torch.fx.Node) -> None:
        made_by, shares = node, 1
        if node.target is operator.getitem:
            made_by = node.args[0]
            shares = len(made_by.users)
        index = self.ids[node.name] = len(self.nodes)
        # Placeholders of the forward, the parameters and inputs, are there anyway.
        sources = [self.ids[source.name] for source in made_by.all_input_nodes if source.name in self.ids]
        entry = {"id": index, "bytes": bytes_of(node), "cost": 0}
        if is_view(made_by):
            entry["bytes"] = 0
            if made_by.args[0].name in self.ids:
                entry["storage"] = self.ids[made_by.args[0].name]
            entry["recomputable"] = not made_by.target._schema.is_mutable
        else:
            entry["cost"] = estimate_runtime(made_by) / shares
        self.nodes.append(entry)
        self.edges |= {(source, index) for source in sources}

    def home(self, op: int) -> int:
        """The op in whose storage the output lies."""
        while "storage" in self.nodes[op]:
            op = self.nodes[op]["storage"]
        return op

    def graph(self) -> dict:
        return {"nodes": self.nodes, "edges": sorted(self.edges)}


def ours(path: Path, budget: int, seconds: float) -> str:
    """Added time and its bound, as cells of the table."""
    out = path.with_suffix(".plan.json")
    run = subprocess.run([SOLVE, "recompute", path, "--budget", f"{budget}B", "--time-limit", str(seconds), "-o", out],
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if run.returncode == 2:
        return "– | –"
    if run.returncode:
        raise SystemExit(run.stderr)
    subprocess.run([SOLVE, "verify", path, out], check=True, stdout=subprocess.DEVNULL)
    plan = json.loads(out.read_text())
    return f"{plan['added_percent']:.2f} | {plan['lower_bound_percent']:.2f}"


def compare(name: str, folder: Path, seconds: float) -> None:
    print(f"\n{name}\n\n| PyTorch's budget | its peak, MiB | its added % | our added % | our bound % |")
    print("|---|---|---|---|---|")
    path, peaks = folder / "graph.json", []
    for budget, partition in zip(BUDGETS, partitions(name)):
        problem = Problem(*partition)
        path.write_text(json.dumps(problem.graph()))
        peak, added = simulator.verified(SOLVE, path, problem.schedule)
        executed = executed_peak(*partition)
        if executed != peak:
            raise SystemExit(f"{name}: {peak} bytes simulated, {executed} when executed")
        print(f"| {budget} | {peak / 2**20:.2f} | {added:.2f} | {ours(path, peak, seconds)} |", flush=True)
        peaks.append(peak)
    for share in BELOW:
        budget = int(share * min(peaks))
        print(f"| – | {budget / 2**20:.2f} | – | {ours(path, budget, seconds)} |", flush=True)
    graph = problem.graph()
    gradients = sum(graph["nodes"][problem.home(op)]["bytes"] for op, node in enumerate(graph["nodes"])
                    if node.get("pinned"))
    cost = sum(node["cost"] for node in graph["nodes"])
    print(f"\n{len(graph['nodes'])} ops, {cost / 1e9:.3f} GFLOP; everything once: "
          f"{simulator.plain_peak(graph) / 2**20:.2f} MiB, of which {gradients / 2**20:.2f} are the step's results",
          flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--time-limit", type=float, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in options.models.split(","):
            compare(name, Path(folder), options.time_limit)


if __name__ == "__main__":
    main()
