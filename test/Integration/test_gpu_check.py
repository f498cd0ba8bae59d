"""scripts/gpu-check.sh, on the host target: what it does not find, it would not
find on a GPU either."""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

from conftest import ROOT
from gpuopt.driver import find_driver

SCRIPTS = ROOT / "scripts" / "gpu_check"


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


def test_passes_what_is_right(program, tmp_path):
    checked = run("check.py", "--target=host", f"--junit-xml={tmp_path / 'x.xml'}", f"--report={tmp_path / 'r.md'}", program)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    cases = {case.get("name"): case for case in ElementTree.parse(tmp_path / "x.xml").getroot().iter("testcase")}
    assert list(cases) == ["build", "losses", "gradients", "determinism", "sanitizer", "timing"]
    skipped = [name for name, case in cases.items() if case.find("skipped") is not None]
    assert skipped == ["sanitizer"], checked.stdout
    assert "bitwise" in (tmp_path / "r.md").read_text()


def test_a_folder_of_another_kind_costs_no_report(program, tmp_path):
    (tmp_path / "other" / "check").mkdir(parents=True)
    (tmp_path / "damaged" / "check").mkdir(parents=True)
    (tmp_path / "damaged" / "check" / "check.json").write_text("{")
    report = tmp_path / "r.md"
    checked = run("check.py", "--target=host", "--skip-timing", f"--report={report}", f"--junit-xml={tmp_path / 'x.xml'}",
                  tmp_path / "other", tmp_path / "damaged", program)
    assert checked.returncode == 1
    for name in ("other", "damaged"):
        assert f"| {name} | **is no program**" in report.read_text()
        assert f"{tmp_path / name}: is none that gpu-check.sh --prepare has made" in report.read_text()
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
    assert "mlp-fp32, losses: first loss differs by 1.0e-03" in checked.stdout
    failed = [case.get("name") for case in ElementTree.parse(tmp_path / "x.xml").getroot().iter("testcase") if case.find("failure") is not None]
    assert failed == ["losses"]
