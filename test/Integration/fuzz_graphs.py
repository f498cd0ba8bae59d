"""Checks any number of random graphs (random_programs.py), and prints what is wrong.

    python fuzz_graphs.py --graphs 10000        seeds 0 to 9999, in programs of 15 graphs
    python fuzz_graphs.py --seed 4711 --opset 23 --nodes 60   one graph again, as a finding names it

The model of a graph is in the folder of --out, as g4711.onnx, where something is wrong with it.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(Path(__file__).resolve().parent)]

import onnx  # noqa: E402

from compiler_cache import use_compiler_cache  # noqa: E402
from emulated import EmulatedTrainer  # noqa: E402
from random_graph import NEWEST_OPSET, OLDEST_OPSET  # noqa: E402
from random_programs import Finding, check_compilation, check_onnxruntime, describe, make_graphs, program_findings, training_model  # noqa: E402
from training import CommandFailed, Trainer  # noqa: E402

MAKE_TRAINER = {"host": lambda model, out, **flags: Trainer(model, out, "-O0", **flags), "emulated": EmulatedTrainer}


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=int, default=1, help="how many")
    parser.add_argument("--seed", type=int, default=0, help="of the first")
    parser.add_argument("--nodes", type=int, default=60, help="most of a graph")
    parser.add_argument("--opset", type=int, help=f"instead of each from {OLDEST_OPSET} to {NEWEST_OPSET} in turn")
    parser.add_argument("--frozen", action="store_true", help="batch norms with frozen statistics, with --opset")
    parser.add_argument("--per-program", type=int, default=15, help="graphs of one program, which is built once")
    parser.add_argument("--target", choices=["host", "emulated"], default="host", help="of the programs")
    parser.add_argument("--skip", choices=["programs", "compilation", "budget"], nargs="*", default=[], help="what not to check")
    parser.add_argument("--out", type=Path, default=Path("fuzz-graphs"))
    return parser.parse_args()


def check(seeds: range, opset: int, trains_batch_norm: bool, arguments: argparse.Namespace) -> list[str]:
    graphs = make_graphs(seeds, opset, arguments.nodes, trains_batch_norm)
    findings = []
    for graph in graphs:
        checks = [check_onnxruntime] + ([] if "compilation" in arguments.skip else [lambda graph: check_compilation(graph, arguments.out)])
        for one in checks:
            try:
                one(graph)
            except Finding as finding:
                findings.append(f"{describe(graph)}: {finding}")
    if "programs" not in arguments.skip and graphs:
        folder = arguments.out / "program"
        shutil.rmtree(folder, ignore_errors=True)
        try:
            findings += program_findings(graphs, folder, MAKE_TRAINER[arguments.target], "budget" not in arguments.skip)[0]
        except (CommandFailed, Finding) as failure:
            findings.append(f"a program of {', '.join(map(describe, graphs))}: {failure}")
    for graph in graphs:
        if any(describe(graph) in finding for finding in findings):
            onnx.save(training_model([graph]), arguments.out / f"{graph.name}.onnx")
    return findings


def make_folder(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def main() -> int:
    arguments = parse()
    arguments.out.mkdir(parents=True, exist_ok=True)
    use_compiler_cache(arguments.out.resolve(), lambda name: make_folder(arguments.out.resolve() / name))
    opsets = [arguments.opset] if arguments.opset else list(range(OLDEST_OPSET, NEWEST_OPSET + 1))
    begin, failed = time.time(), 0
    last = arguments.seed + arguments.graphs
    for index, first in enumerate(range(arguments.seed, last, arguments.per_program)):
        seeds = range(first, min(first + arguments.per_program, last))
        trains_batch_norm = not arguments.frozen if arguments.opset else index % 2 == 0
        for finding in check(seeds, opsets[index % len(opsets)], trains_batch_norm, arguments):
            failed += 1
            print(f"FOUND {finding}", flush=True)
        print(f"{seeds.stop - arguments.seed} graphs, {failed} findings, {time.time() - begin:.0f} s", flush=True)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
