"""gpuopt calibrate: the rates of this machine, as --device takes them."""

import contextlib
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from emulated import SKIPS, nvidia_wheels
from exports import export_case
from gpuopt.driver import find_driver

# Rates must be plausible here, not high, so other tests may run beside these. One worker has all, since they are
# measured once.
pytestmark = pytest.mark.xdist_group("calibrate")

RATES = ("bytesPerSecond", "vectorOperationsPerSecond", "f32ProductsPerSecond", "f16ProductsPerSecond", "bf16ProductsPerSecond",
         "f64ProductsPerSecond", "tf32ProductsPerSecond", "hostLinkBytesPerSecond")


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("calibrate-cache")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    file = tmp_path_factory.mktemp("calibrate-model") / "model.onnx"
    export_case("mlp", file)
    return file


def gpuopt(cache, *arguments):
    """The finished process, whose cache is a folder of this test."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "NVIDIA_WHEELS": nvidia_wheels() or ""}
    return subprocess.run([find_driver(), *map(str, arguments)], env=environment, capture_output=True, text=True)


def measured(cache):
    """The device file of this machine in the cache."""
    [file] = (cache / "gpuopt").glob("device-*.json")
    return file


@pytest.fixture(scope="module")
def calibrated(cache):
    process = gpuopt(cache, "calibrate", "--target=host", "--force")
    assert process.returncode == 0, process.stderr
    return process, json.loads(measured(cache).read_text())


def test_measures_every_rate(calibrated):
    process, device = calibrated
    assert device["base"] == "host"
    assert 1 <= device["multiprocessors"] <= len(os.sched_getaffinity(0))
    assert all(1e6 < device[rate] < 1e15 for rate in RATES), device
    assert 0 < device["secondsPerLaunch"] < 1
    assert set(device["calibration"]) == {"device", "date", "version"}
    for rate in ("memory, GB/s", "elementwise, Gop/s", "products in bf16, Gop/s", "launch, us"):
        assert rate in process.stdout


def test_plans_have_the_rates(calibrated, cache, model, tmp_path):
    """A tenth of all rates makes a step take ten times as long."""
    _, device = calibrated
    slow = {name: value / 10 if name in RATES else value for name, value in device.items()}
    slow["secondsPerLaunch"] *= 10
    (tmp_path / "slow.json").write_text(json.dumps(slow))

    def step(file):
        process = gpuopt(cache, "plan", model, "--batch-size=8", "--target=host", f"--device={file}", "--json")
        assert process.returncode == 0, process.stderr
        return json.loads(process.stdout)["step_ms"]

    assert step(tmp_path / "slow.json") == pytest.approx(10 * step(measured(cache)), rel=0.01)


def train(cache, model, folder, *arguments):
    x, labels = folder / "x.npy", folder / "labels.npy"
    np.save(x, np.zeros((16, 64), np.float32))
    np.save(labels, np.zeros(16, np.int64))
    return gpuopt(cache, "train", model, "-o", folder / "run", "--batch-size=8", "--target=host", f"--data=x={x}",
                  f"--labels={labels}", "--max-steps=2", *arguments)


def test_train_takes_this_machine(calibrated, cache, model, tmp_path):
    process = train(cache, model, tmp_path)
    assert process.returncode == 0, process.stderr
    _, device = calibrated
    assert f"device: {device['name']} ({measured(cache)})" in process.stderr
    process = train(cache, model, tmp_path, "--device=host", "--overwrite-output-dir")
    assert process.returncode == 0 and "device:" not in process.stderr


def test_train_refuses_another_processor(calibrated, cache, model, tmp_path):
    _, device = calibrated
    device = {**device, "calibration": {**device["calibration"], "device": "Z80"}}
    (tmp_path / "z80.json").write_text(json.dumps(device))
    process = train(cache, model, tmp_path, f"--device={tmp_path / 'z80.json'}")
    assert process.returncode == 1
    assert "was measured on 'Z80', but this machine has" in process.stderr
    assert "run gpuopt calibrate here, or give --device=host" in process.stderr


def test_train_leaves_out_what_another_version_measured(calibrated, cache, model, tmp_path):
    file = measured(cache)
    text = file.read_text()
    old = json.loads(text)
    old["calibration"]["version"] = "0.0.1"
    file.write_text(json.dumps(old))
    try:
        process = train(cache, model, tmp_path)
        assert process.returncode == 0, process.stderr
        assert "was measured by gpuopt 0.0.1, but this is gpuopt" in process.stderr
        assert "; times are those of --device=host" in process.stderr
    finally:
        file.write_text(text)


def test_says_that_the_machine_is_busy(calibrated, cache, tmp_path):
    """Two busy processes for each core take the cores away."""
    spin = [sys.executable, "-c", "while True: pass"]
    others = [subprocess.Popen(spin) for _ in range(2 * len(os.sched_getaffinity(0)))]
    try:
        process = gpuopt(cache, "calibrate", "--target=host", "-o", tmp_path / "device.json")
    finally:
        for other in others:
            other.kill()
            other.wait()
    assert process.returncode == 2, process.stdout
    assert "something else kept the device busy during" in process.stderr
    assert not (tmp_path / "device.json").exists()


@pytest.mark.parametrize("script, message", [
    ("echo f32ProductsPerSecond fast",
     "the program that measures printed 'f32ProductsPerSecond fast', but 'NAME NUMBER' was expected"),
    ("kill -TERM $$", "the measurement was interrupted, so nothing was written"),
    ("echo device Z80; echo measurements 9; echo disturbed 0", "the program that measures did not print 'bytesPerSecond'"),
    ("exit 1", "the device cannot be measured")])
def test_a_measurement_that_fails(calibrated, cache, tmp_path, script, message):
    with measured_by(cache, script):
        process = gpuopt(cache, "calibrate", "--target=host", "-o", tmp_path / "device.json")
    assert process.returncode == 1 and message in process.stderr
    assert not (tmp_path / "device.json").exists()
    assert not list((cache / "gpuopt").glob("calibration*"))


def test_two_at_once(calibrated, cache, tmp_path):
    """The first one ends while the second one measures; each reads what it has measured."""
    script = 'echo device "$NAME"; sleep "$PAUSE"; ' + "".join(f"echo {rate} 1e9; " for rate in RATES)
    with measured_by(cache, script + "echo secondsPerLaunch 1e-6; echo measurements 9; echo disturbed 0"):
        running = []
        for name, pause in (("one", 2), ("two", 3)):
            environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "NAME": name, "PAUSE": str(pause)}
            running.append(subprocess.Popen([find_driver(), "calibrate", "--target=host", "-o", tmp_path / name], env=environment))
        assert [process.wait() for process in running] == [0, 0]
    for name in ("one", "two"):
        assert json.loads((tmp_path / name).read_text())["calibration"]["device"] == name


@contextlib.contextmanager
def measured_by(cache, script):
    """Puts a script in the place of the program that measures."""
    [measurer] = [file for file in (cache / "gpuopt").glob("*/calibrate") if b"f32ProductsPerSecond" in file.read_bytes()]
    kept = measurer.with_name("kept")
    measurer.rename(kept)
    try:
        measurer.write_text("#!/bin/sh\n" + script + "\n")
        measurer.chmod(0o755)
        yield
    finally:
        kept.rename(measurer)


class TestEmulated:
    pytestmark = SKIPS

    def test_measures_a_gpu(self, cache, tmp_path):
        """The same program for CUDA, thread by thread on this processor."""
        process = gpuopt(cache, "calibrate", "--target=emulated", "--force", "-o", tmp_path / "gpu.json")
        assert process.returncode == 0, process.stderr
        device = json.loads((tmp_path / "gpu.json").read_text())
        assert device["base"] == "a100" and device["warpSize"] == 32 and device["threadsPerMultiprocessor"] == 2048
        assert device["calibration"]["device"] == "emulated GPU"
        assert all(device[rate] > 0 for rate in RATES if rate != "vectorOperationsPerSecond"), device
        assert "vectorOperationsPerSecond" not in device, "a GPU's times do not rest on it"
