#!/usr/bin/env python3
"""Prints gpuopt-solve's plans, bounds and packings beside the best values known.

usage: table.py --solve PATH/gpuopt-solve --data FOLDER [--time-limit 10] [--threads 1] [--only REGEX] [--milp]

FOLDER holds recompute/*.json and arena/*.csv in the formats of
docs/solve-format.md; transformer graphs are written by transformer.py beside
this script. Every result is checked by `gpuopt-solve verify`. --milp adds
HiGHS's bound on small graphs (recompute_milp.py has more of that).
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent

# (graph, budget): (certified bound, best plan known), added time in percent.
KNOWN = {
    ("vgg16_b256", 0.9): (0.947, 1.968),
    ("unet_b32", 0.9): (0.833, 1.129),
    ("unet_b32", 0.8): (1.787, 2.113),
    ("unet_b32", 0.7): (2.835, 2.967),
    ("unet_b32", 0.5): (6.298, 7.596),
    ("fcn8_b32", 0.9): (0.003, 0.029),
    ("fcn8_b32", 0.8): (0.080, 0.136),
    ("fcn8_b32", 0.7): (0.217, 0.891),
    ("resnet50_b256", 0.9): (0.098, 0.108),
    ("resnet50_b256", 0.8): (0.271, 0.286),
    ("resnet50_b256", 0.7): (0.554, 0.564),
    ("resnet50_b256", 0.5): (1.488, 1.505),
    ("resnet50_b256", 0.3): (3.305, 3.900),
    ("random_n100", 0.9): (0.469, 1.346),
    ("random_n100", 0.8): (1.514, 3.534),
    ("random_n500", 0.9): (0.664, 0.855),
    ("random_n500", 0.8): (2.223, 22.7),
    ("transformer_12", 0.5): (4.907, 5.004),
    ("transformer_12", 0.3): (12.96, 13.30),
    ("transformer_12", 0.2): (18.51, 18.85),
    ("transformer_48", 0.5): (None, None),
    ("transformer_48", 0.3): (None, None),
    ("transformer_48", 0.2): (17.61, 17.87),
    ("transformer_300", 0.5): (None, None),
    ("transformer_300", 0.3): (None, None),
}
ARENA = {"A": 1048576, "B": 1048576, "C": 1039360, "D": 1035000, "E": 1048576, "F": 1048576}


def figures(line):
    return {k: float(v) for k, v in re.findall(r"(\w+)=([-\d.]+)", line)}


def run(*command):
    start = time.monotonic()
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    return result, time.monotonic() - start


def graph_path(name, data, folder):
    if not name.startswith("transformer_"):
        return data / "recompute" / f"{name}.json"
    path = folder / f"{name}.json"
    if not path.exists():
        subprocess.run([sys.executable, HERE / "transformer.py", name.split("_")[1], path], check=True)
    return path


def show(value, width=8):
    return f"{value:{width}.3f}" if value is not None else " " * (width - 1) + "-"


def recompute_table(options, folder):
    print(f"{'graph':18} budget | {'bound':>8} {'known':>8} | {'plan':>8} {'known':>8} | {'gap':>7} seconds")
    for (name, budget), (bound, plan) in KNOWN.items():
        if not re.search(options.only, f"{name}@{budget}"):
            continue
        path, out = graph_path(name, options.data, folder), folder / "plan.json"
        limit = 3 * options.time_limit if name == "transformer_300" else options.time_limit
        result, seconds = run(options.solve, "recompute", path, "--budget", budget, "--time-limit", limit,
                              "--threads", options.threads, "-o", out)
        checked, _ = run(options.solve, "verify", path, out)
        if result.returncode or checked.returncode:
            print(f"{name:18} {budget:6} | {result.stderr.strip() or checked.stderr.strip()}")
            continue
        ours = json.loads(out.read_text())  # with all digits
        marks = ("" if bound is None or ours["lower_bound_percent"] >= bound - 5e-4 else " BOUND") + (
            "" if plan is None or ours["added_percent"] <= plan + 5e-4 else " PLAN")
        print(f"{name:18} {budget:6} | {show(ours['lower_bound_percent'])} {show(bound)} | "
              f"{show(ours['added_percent'])} {show(plan)} | "
              f"{ours['added_percent'] - ours['lower_bound_percent']:7.3f} {seconds:7.1f}{marks}", flush=True)
        if options.milp and name in ("vgg16_b256", "unet_b32", "fcn8_b32"):
            milp, _ = run(sys.executable, HERE / "milp.py", path, budget, 60)
            print(f"{'':18} {'':6} | HiGHS: {milp.stdout.strip() or milp.stderr.strip()}", flush=True)


def arena_table(options, folder):
    print(f"\n{'arena':6} {'height':>9} {'known':>9} {'max load':>9} seconds")
    for name, known in ARENA.items():
        if not re.search(options.only, f"arena_{name}"):
            continue
        path, out = options.data / "arena" / f"{name}.1048576.csv", folder / "arena.csv"
        limit = 60 if name == "D" else options.time_limit
        result, seconds = run(options.solve, "arena", path, "--capacity", known, "--time-limit", limit, "-o", out)
        checked, _ = run(options.solve, "verify", path, out)
        if checked.returncode:
            print(f"{name:6} {result.stderr.strip()} {checked.stderr.strip()}")
            continue
        ours = figures(result.stdout)
        mark = "" if ours["height"] <= known else " HEIGHT"
        print(f"{name:6} {ours['height']:9.0f} {known:9} {ours['max_load']:9.0f} {seconds:7.2f}{mark}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--solve", required=True)
    parser.add_argument("--data", required=True, type=pathlib.Path)
    parser.add_argument("--time-limit", type=float, default=10)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--milp", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        recompute_table(options, pathlib.Path(folder))
        arena_table(options, pathlib.Path(folder))
