"""What a schedule costs, by the rules of docs/solve-format.md, in Python: schedules from elsewhere are turned into plan
files with these figures, which `gpuopt-solve verify` then confirms or refuses."""
import json
import pathlib
import subprocess


def inputs_of(graph):
    reads = [[] for _ in graph["nodes"]]
    for source, reader in graph["edges"]:
        reads[reader].append(source)
    return reads


def simulate(graph, schedule):
    """The peak in bytes, and the cost of all executions but the first ones."""
    nodes, reads = graph["nodes"], inputs_of(graph)
    made_at, last_use, latest = [], {}, {}
    for step, op in enumerate(schedule):
        storage = nodes[op].get("storage", -1)
        made_at.append(step if storage < 0 else made_at[latest[storage]])
        for source in [*reads[op], op]:
            last_use[made_at[step if source == op else latest[source]]] = step
        latest[op] = step
    for op, node in enumerate(nodes):
        if node.get("pinned"):
            last_use[made_at[latest[op]]] = len(schedule) - 1
    frees = [0] * (len(schedule) + 1)
    peak = added = live = 0
    seen = set()
    for step, op in enumerate(schedule):
        node = nodes[op]
        live -= frees[step]
        if made_at[step] == step:
            live += node["bytes"]
            frees[last_use[step] + 1] += node["bytes"]
        workspace = node.get("workspace", 0)
        if op in seen:
            added += node["cost"]
            workspace = node.get("repeat_workspace", workspace)
        seen.add(op)
        peak = max(peak, live + workspace)
    return peak, added


def plain_peak(graph):
    return simulate(graph, range(len(graph["nodes"])))[0]


def verified(solve, graph_path, schedule):
    """The schedule's peak and added percent, confirmed by gpuopt-solve."""
    graph = json.loads(pathlib.Path(graph_path).read_text())
    peak, added = simulate(graph, schedule)
    percent = 100 * added / (sum(node["cost"] for node in graph["nodes"]) or 1)
    plan = pathlib.Path(graph_path).with_suffix(".schedule.json")
    plan.write_text(json.dumps({"budget_bytes": peak, "peak_bytes": peak, "added_percent": percent,
                                "lower_bound_percent": 0, "schedule": list(schedule)}))
    result = subprocess.run([str(solve), "verify", str(graph_path), str(plan)], capture_output=True, text=True)
    if result.returncode:
        raise SystemExit(f"{plan.name}: {result.stderr}")
    return peak, percent
