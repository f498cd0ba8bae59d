"""Opens traces with the programs that users open them with, where these are installed."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import warnings
from pathlib import Path

# scripts/test.sh --full installs HolisticTraceAnalysis and TensorBoard's plugin, with 100 MB of packages that they need. Perfetto's Python package is
# of use with its trace_processor_shell alone, which is in no package of PyPI or Debian.
HAS_PLUGIN = importlib.util.find_spec("torch_tb_profiler") is not None
HAS_HOLISTIC = importlib.util.find_spec("hta") is not None
TRACE_PROCESSOR = shutil.which("trace_processor_shell")
HAS_PERFETTO = importlib.util.find_spec("perfetto") is not None and TRACE_PROCESSOR is not None


def spans_of(trace: Path, category: str) -> list[dict]:
    events = json.loads(trace.read_text())["traceEvents"]
    return [event for event in events if event["ph"] == "X" and event["cat"] == category]


def check_perfetto(trace: Path, category: str):
    """Perfetto's trace processor has each span with its name, its time and its arguments, and nothing that it cannot read."""
    from perfetto.trace_processor import TraceProcessor, TraceProcessorConfig

    expected = sorted((span["name"], round(1000 * span["dur"])) for span in spans_of(trace, category))
    with TraceProcessor(trace=str(trace), config=TraceProcessorConfig(bin_path=TRACE_PROCESSOR)) as processor:
        found = [(row.name, row.dur) for row in processor.query(f"select name, dur from slice where category = '{category}'")]
        assert sorted(found) == expected
        errors = processor.query("select name, value from stats where severity = 'error' and value > 0")
        assert [(row.name, row.value) for row in errors] == []
        counters = {row.name for row in processor.query("select name from counter_track")}
        assert {"data wait (ms)", "memory (MiB)"} <= counters


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
        check_perfetto(trace, category)
    if HAS_HOLISTIC:
        check_holistic(trace, category)
