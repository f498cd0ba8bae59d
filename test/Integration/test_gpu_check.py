"""scripts/gpu-check.sh, on the host target: what it does not find, it would not
find on a GPU either."""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from conftest import ROOT
from gpuopt.driver import find_driver
from training import FULL

SCRIPTS = ROOT / "scripts" / "gpu_check"
sys.path.append(str(SCRIPTS))

import attention
import check
import checks
import device
import kernels
import prepare
import programs


def run(script: str, *arguments):
    environment = {**os.environ, "GPUOPT": find_driver()}
    command = [sys.executable, str(SCRIPTS / script), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("programs")
    made = run("prepare.py", folder, "mlp:fp32")
    assert made.returncode == 0, made.stderr
    assert "set(GPUOPT_DEFAULT_TARGET cuda)" in (folder / "mlp-fp32" / "target.cmake").read_text()
    return folder / "mlp-fp32"


def test_orders_say_what_is_prepared():
    order = prepare.Order.parse("gpt2-large:fp16@3GiB+offload")
    assert order.folder == "gpt2-large-fp16-3GiB-offload"
    assert order.flags(64)[-2:] == ["--memory-budget=3GiB", "--allow-offload"]
    plain = prepare.Order.parse("mlp")
    assert plain.folder == "mlp-fp32" and not {"--allow-offload", "--memory-budget"} & set(plain.flags(1))
    with pytest.raises(ValueError, match="expected MODEL:PRECISION@BUDGET.offload, but got '.ofload' in 'mlp:fp16@1GiB.ofload'"):
        prepare.Order.parse("mlp:fp16@1GiB+ofload")


def test_passes_what_is_right(program, tmp_path):
    modes = [] if FULL else ["--torch-modes=default"]  # else PyTorch compiles the step twice
    checked = run("check.py", "--target=host", *modes, f"--junit-xml={tmp_path / 'x.xml'}", f"--report={tmp_path / 'r.md'}", program)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    cases = {case.get("name"): case for case in ElementTree.parse(tmp_path / "x.xml").getroot().iter("testcase")}
    assert list(cases) == [
        "build", "losses", "gradients", "determinism", "library", "memory", "timing", "kernels", "attention", "profile",
        "sanitizer",
    ]
    skipped = [name for name, case in cases.items() if case.find("skipped") is not None]
    assert skipped == ["attention", "profile", "sanitizer"], checked.stdout
    text = (tmp_path / "r.md").read_text()
    assert "bitwise" in text and "8 checks passed, 0 failed, 3 were skipped." in text
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["wrong"] == [] and report["passed"] == 8
    measured = report["measured"]["mlp-fp32"]
    assert measured["torch"]["default"]["step_ms"] > 0
    # Nothing that takes time lacks an estimate: begin_step alone has none.
    assert [row["name"] for row in measured["kernels"] if row["estimated_ms"] is None] == ["begin_step"]


def test_a_folder_of_another_kind_costs_no_report(program, tmp_path):
    (tmp_path / "other" / "check").mkdir(parents=True)
    (tmp_path / "damaged" / "check").mkdir(parents=True)
    (tmp_path / "damaged" / "check" / "check.json").write_text("{")
    report = tmp_path / "r.md"
    checked = run("check.py", "--target=host", "--skip-timing", f"--report={report}", f"--junit-xml={tmp_path / 'x.xml'}",
                  tmp_path / "other", tmp_path / "damaged", program)
    assert checked.returncode == 1
    for name in ("other", "damaged"):
        assert f"| {name} | **fails** |" in report.read_text()
        assert f"{tmp_path / name}: is none that gpu-check.sh --prepare has made" in report.read_text()
        assert f"## {name}, folder failed" in report.read_text()
    assert "bitwise" in report.read_text()
    cases = list(ElementTree.parse(tmp_path / "x.xml").getroot().iter("testcase"))
    assert [case.get("name") for case in cases[:3]] == ["folder", "folder", "build"]


def test_finds_what_is_wrong(program, tmp_path):
    record = program / "check" / "check.json"
    right = record.read_text()
    wrong = json.loads(right)
    wrong["losses"][0] *= 1.001
    record.write_text(json.dumps(wrong))
    try:
        checked = run("check.py", "--target=host", "--skip-timing", f"--junit-xml={tmp_path / 'x.xml'}", program)
    finally:
        record.write_text(right)
    assert checked.returncode == 1
    assert "mlp-fp32, losses: failed: first loss differs by 1.0e-03" in checked.stdout
    # The report begins with it.
    report = checked.stdout[checked.stdout.index("# 20") :]
    assert report.index("mlp-fp32, losses failed") < report.index("| program |")
    failed = [case.get("name") for case in ElementTree.parse(tmp_path / "x.xml").getroot().iter("testcase") if case.find("failure") is not None]
    assert failed == ["losses"]


def test_says_what_it_had_no_time_for(program, tmp_path):
    checked = run("check.py", "--target=host", "--minutes=0", f"--report={tmp_path / 'r.md'}", program)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    report = json.loads((tmp_path / "r.json").read_text())
    texts = {outcome["check"]: outcome["text"] for outcome in report["outcomes"]}
    assert texts["build"] == "no time was left" and texts["timing"] == "not built"
    assert report["passed"] == 0 and report["skipped"] == 11


def test_large_programs_draw_what_did_not_travel(tmp_path):
    check = tmp_path / "gpt2-large-fp16" / "check"
    check.mkdir(parents=True)
    drawn = {
        "input_ids": {"shape": [2, 8], "dtype": "int64", "low": 0, "high": 3},
        "x": {"shape": [2, 4], "dtype": "float32", "low": 0, "high": 0},
    }
    record = {"name": "gpt2-large", "precision": "fp16", "losses": [], "inputs": ["input_ids", "x"], "drawn": drawn}
    (check / "check.json").write_text(json.dumps(record))
    (check / "weights.json").write_text(json.dumps({"h.weight": [8, 4], "h.bias": [4]}))
    program = programs.Program(check.parent, "cuda", programs.Deadline(1))
    assert program.is_large
    ids, x = (np.load(program.array(name)) for name in ("input_ids", "x"))
    assert ids.shape == (2, 8) and ids.dtype == np.int64 and set(ids.ravel()) == {0, 1, 2, 3}
    assert x.shape == (2, 4) and x.dtype == np.float32 and x.std() > 0
    assert program.weights().stat().st_size > 4 * 36


def test_measured_kernels_stand_beside_their_estimates():
    estimates = [
        {"name": "fused_add", "works": ["fused add f16[8]", "fused add f16[4]"], "launches": 3, "ms": 1.0, "bytes": 10},
        {"name": "gemm kGemm8", "works": ["contract ab f16[8,8]"], "launches": 1, "ms": 2.0, "bytes": 20},
        {"name": "never run", "works": ["fused mul"], "launches": 1, "ms": 2.0, "bytes": 20},
    ]
    costs = [
        {"key": "h.0/add: fused add f16[8]", "calls_per_step": 2, "median_ns": 2e6},
        {"key": "h.1/add: fused add f16[8]", "median_ns": 1e6},
        {"key": "h.2/add: fused add f16[4]", "median_ns": 5e5},
        {"key": "contract ab f16[8,8]", "median_ns": 7e6},
        {"key": "begin_step", "median_ns": 100.0},
    ]
    rows = kernels.compare_kernels({"costs": costs}, estimates)
    assert [(row["name"], row["measured_ms"], row["estimated_ms"]) for row in rows] == [
        ("gemm kGemm8", 7.0, 2.0), ("fused_add", 5.5, 1.0), ("begin_step", 1e-4, None),
    ]


def test_attention_is_found_by_its_shape():
    four = "f16[8,4,64,32]"
    costs = [
        {"key": f"h.0: attention {four} f16[8,4,48,32] f16[8,4,48,32] -> f16[8,64,4,32] f32[2,8,4,64]", "median_ns": 3e5},
        {"key": f"d h.0: attention_grad {four} f16[8,4,48,32] f16[8,4,48,32] {four} -> {four}", "median_ns": 9e5},
        {"key": "fused add f16[8,4,64,32]", "median_ns": 1.0},
    ]
    assert attention.shapes_of({"costs": costs}) == [
        {"type": "f16", "shape": [8, 4, 64, 32, 48], "forward_ms": 0.3, "backward_ms": 0.9}
    ]


class ProgramWithAttention:
    """Trains with the same loss by either library, and prints what it is given."""

    target, record = "cuda", {"precision": "fp16", "name": "gpt2"}

    def __init__(self, build, output: str):
        self.build, self.printed, self.measured = build, output, {}
        self.costs = json.dumps({"costs": [{
            "key": "h.0: attention f16[8,4,64,32] f16[8,4,48,32] f16[8,4,48,32] -> f16[8,64,4,32] f32[2,8,4,64]", "median_ns": 3e5}]})
        (build / "costs.json").write_text(self.costs)

    def train(self, steps: int, costs: str, library: str):
        (self.build / costs.split("=")[1]).write_text(self.costs)
        self.output = self.printed if library.endswith("=cudnn") else ""
        return [{"loss": 1.0}], self.build


def test_own_attention_does_not_pass_for_that_of_cudnn(tmp_path, monkeypatch):
    monkeypatch.setattr(checks, "compare_attention", lambda profiles, is_causal: list(profiles))
    right = ProgramWithAttention(tmp_path, "step 1\n")
    assert checks.check_attention(right) == "2 times"
    assert right.measured["attention"] == ["own", "cudnn"]
    wrong = ProgramWithAttention(
        tmp_path, "warning: attention of f16 is computed by the runtime's own kernels, not by cuDNN: it has a mask\n")
    with pytest.raises(programs.Skipped, match="cuDNN does not compute all of it: it has a mask$"):
        checks.check_attention(wrong)
    assert wrong.measured["attention"] == ["own"]


def test_a_device_is_compared_with_what_was_assumed():
    described = {"name": "a GPU", "base": "h200", "multiprocessors": 114, "bytesPerSecond": 4.05e12, "warpSize": 32}
    assumed = {"name": "h200", "multiprocessors": 132, "bytesPerSecond": 4.1e12, "warpSize": 32}
    rows = device.differences(described, assumed)
    assert [(row["member"], round(row["ratio"], 3)) for row in rows] == [("multiprocessors", 0.864)]


def test_races_count_where_gpuopt_has_written_the_kernel():
    report = (
        "========= Error: Race reported between Write access at {0}+0x8d30\n"
        "=========     and Read access at {1}+0xae30 [64 hazards]\n"
        "========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n"
    )
    library, own = "sm90_xmma_dgrad_execute_kernel__5x_cudnn", "gpuopt::fused_sum(const float *, float *)"
    assert checks.is_race_of_libraries(programs.Failed("", report.format(library, library)))
    assert not checks.is_race_of_libraries(programs.Failed("", report.format(library, own)))
    assert not checks.is_race_of_libraries(programs.Failed("", "error: the training has failed"))


def test_a_wrong_loss_of_what_is_timed_is_found():
    program = ProgramWithLoss()
    checks.check_torch_loss(program, 10.92, 10.91)
    with pytest.raises(programs.Failed, match="the first loss is 11.0, PyTorch's is 10.9: they differ by 9.2e-03, allowed is 0.005"):
        checks.check_torch_loss(program, 11.0, 10.9)


class ProgramWithLoss:
    record = {"precision": "fp16"}


def test_causal_attention_is_said_by_its_flag():
    line = "y = torch.ops.aten.scaled_dot_product_attention.default(q, k, v, expand_2, scale = 0.125)"
    assert prepare.with_causal_flag(line) == line.replace("expand_2", "None, 0.0, True")


def test_what_tells_most_comes_first(tmp_path):
    found = []
    for name, losses in (("vit-large", []), ("gpt2-large", []), ("mlp", [1.0]), ("resnet50-large", [])):
        folder = tmp_path / name / "check"
        folder.mkdir(parents=True)
        (folder / "check.json").write_text(json.dumps({"name": name, "precision": "fp16", "losses": losses}))
        found.append(programs.Program(folder.parent, "cuda", programs.Deadline(1)))
    order = [(program.name, name) for program, name in check.order_of_checks(found)]
    assert order[:5] == [("mlp", name) for name in checks.PARITY]
    assert order[5:14:4] == [("gpt2-large", "timing"), ("resnet50-large", "timing"), ("vit-large", "timing")]
    assert len(order) == len(set(order)) == 4 * (len(checks.CHECKS) - 1)


def test_a_trainer_that_was_built_elsewhere_is_taken_where_it_starts(tmp_path):
    folder = tmp_path / "mlp-fp32"
    (folder / "check").mkdir(parents=True)
    (folder / "check" / "check.json").write_text(json.dumps({"name": "mlp", "precision": "fp32", "losses": [1.0]}))
    program = programs.Program(folder, "cuda", programs.Deadline(1))
    built = folder / programs.BUILT_BEFORE
    built.write_text("#!/bin/sh\nexit 0\n")
    built.chmod(0o755)
    assert checks.check_build(program) == "before"
    assert (program.build / "trainer").exists()
    built.write_text("#!/bin/sh\nexit 127\n")
    with pytest.raises(programs.Failed, match="cmake -S"):
        checks.check_build(program)


class ProfiledProgram:
    """Whose first steps take 10 ms, and those of a profile `profiled` ms."""

    target, is_large, record = "cuda", True, {"kernels": [{"launches": 100}]}

    def __init__(self, profiled: float):
        self.profiled = profiled

    def train(self, steps: int, schedule: str):
        assert steps == 30 and schedule == "--profile=wait=16,warmup=4,active=10,repeat=1"
        return [{"step_ms": self.profiled if step >= 20 else 10.0} for step in range(steps)], None


def test_the_cost_of_a_profile_is_bounded():
    assert checks.check_profile(ProfiledProgram(10.4)).startswith("10.40 ms beside 10.00 without (1.040), 4.0 us for each of 100")
    assert "5.9 us" in checks.check_profile(ProfiledProgram(10.59))  # for launches this short
    with pytest.raises(programs.Failed, match=r"takes 10.70 ms beside 10.00 without \(1.070\), 7.0 us for each of 100 launches"):
        checks.check_profile(ProfiledProgram(10.7))


class ProgramWithLibrary:
    """Whose trainer has the losses 3, 2 and 1."""

    is_large, target, deadline = False, "host", programs.Deadline(1)
    record = {"inputs": ["x"], "batch": 4, "learning_rate": 0.5}

    def __init__(self, folder):
        self.folder = folder

    def library(self):
        return self.folder / "libprogram.so"

    def weights(self):
        return self.folder / "model.safetensors"

    def array(self, name: str):
        return self.folder / f"{name}.npy"

    def train(self, steps: int):
        return [{"loss": 3.0}, {"loss": 2.0}, {"loss": 1.0}], None


def test_other_losses_of_a_library_are_found(tmp_path, monkeypatch):
    program = ProgramWithLibrary(tmp_path)
    with pytest.raises(programs.Skipped, match="the library was not built"):
        checks.check_library(program)
    program.library().touch()
    printed = "a warning\n[3.0, 2.0, 1.0]\n"
    monkeypatch.setattr(checks, "execute", lambda command, deadline: printed)
    assert checks.check_library(program) == "the trainer's losses"
    for printed in ("[3.0, 2.0, 1.0000001]\n", "[3.0, 2.0]\n"):  # another last one, or one less
        with pytest.raises(programs.Failed, match=r"the library's losses are \[3.0, 2.0.*\], the trainer's are \[3.0, 2.0, 1.0\]"):
            checks.check_library(program)
