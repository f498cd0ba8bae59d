"""The commands as a user gives them, from Python."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import torch

import gpuopt
from gpuopt import safetensors
from gpuopt.driver import find_driver
from training import CommandFailed, execute


def make_module():
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.onnx"
    gpuopt.export(make_module(), torch.zeros(2, 4), path, input_names=["x"])
    return path


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """A build cache that begins empty."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


def make_data(samples: int):
    random = np.random.default_rng(samples)
    x = random.normal(size=(samples, 4))
    return x, x.sum(1, keepdims=True)


def records(folder):
    """Those of steps and validations; the last line, of memory, is checked and left out."""
    *kept, memory = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert "planned_bytes" in memory
    return kept


# Data as a tensor in Fortran order, labels big-endian: what torch and NumPy can
# hold is written so that the trainer can read it.
def train(model, out, samples=20, **flags):
    x, y = make_data(samples)
    gpuopt.train(
        model, out, batch_size=8, loss="mse", data={"x": torch.from_numpy(np.asfortranarray(x))}, labels=y.astype(">f8"),
        target="host", num_threads=1, **flags,
    )
    return records(out)


def test_one_build_for_all_hyperparameters(model, cache, tmp_path, monkeypatch, capfd):
    plain = train(model, tmp_path / "a", max_steps=3)
    assert capfd.readouterr().out.count("building the trainer") == 1
    flags = dict(
        learning_rate=0.125, lr_scheduler_type="constant", weight_decay=0.25, adam_beta1=0.5, adam_beta2=0.75,
        adam_epsilon=0.5, max_grad_norm=0.5, seed=2**64 - 1, num_train_epochs=2,
    )
    changed = train(model, tmp_path / "b", **flags)
    assert "building" not in capfd.readouterr().out
    assert plain[0]["learning_rate"] == 5e-5 and changed[3]["learning_rate"] == 0.125
    assert len(changed) == 4 and changed[0]["loss"] != plain[0]["loss"]

    # The program that was written has them built in. It is compiled with a user's flags here, because a user should see
    # no warning.
    monkeypatch.setenv("GPUOPT_TEST_KEEP_OPTIMIZATION", "1")
    program = tmp_path / "b" / "program"
    execute(["cmake", "-S", program, "-B", program / "build"])
    assert "warning" not in execute(["cmake", "--build", program / "build"])
    x, y = make_data(20)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    execute([
        program / "build" / "trainer", "--data", f"x={tmp_path / 'x.npy'}", "--labels", tmp_path / "y.npy",
        "--output-dir", tmp_path / "c", "--num-threads=1",
    ])
    assert [record["loss"] for record in records(tmp_path / "c")] == [record["loss"] for record in changed]


def test_false_is_off(model, cache, tmp_path):
    flags = dict(shuffle=False, nesterov=False, allow_offload=False, debug_overflow=False)
    found = [train(model, tmp_path / out, max_steps=2, **flags) for out, flags in (("a", flags), ("b", {}))]
    # In the file's order, and in another.
    assert found[0][0]["loss"] != found[1][0]["loss"]
    x, y = (torch.from_numpy(array[:8]) for array in make_data(20))
    assert found[0][0]["loss"] == pytest.approx(torch.nn.functional.mse_loss(make_module().double()(x), y).item(), rel=1e-5)


def test_lists_and_bfloat16_are_data(model, cache, tmp_path):
    x = torch.from_numpy(make_data(20)[0]).bfloat16()
    y = x.float().sum(1, keepdim=True)
    found = []
    for out, inputs, labels in (("a", x, y.numpy()), ("b", x.float().tolist(), list(y)), ("c", x.float().numpy(), y.tolist())):
        gpuopt.train(
            model, tmp_path / out, batch_size=8, loss="mse", data={"x": inputs}, labels=labels, target="host", num_threads=1,
            max_steps=3,
        )
        found.append([record["loss"] for record in records(tmp_path / out)])
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("flags, message", [
    ({"labels": {"y": [1.0]}}, "labels must be an array or tensor of numbers, or the path of a file, but is a dict of object"),
    ({"labels": [[1, 2], [3]]}, "labels is no array, tensor or path of a file: "),
    ({"labels": ["a", "b"]}, "labels must be an array or tensor of numbers, or the path of a file, but is a list of <U1"),
    ({"eval_data": {"x": np.array([1j])}}, "eval_data['x'] must be an array or tensor of numbers, or the path of a file, but is a "
                                           "ndarray of complex128"),
    ({"data": {"x": None}}, "data['x'] must be an array or tensor of numbers, or the path of a file, but is None"),
    ({"data": np.zeros((8, 4))}, "data must map the model's inputs to arrays or files, data={'x': ...}, but is a ndarray"),
])
def test_data_that_is_none(model, flags, message, tmp_path):
    with pytest.raises(TypeError) as error:
        gpuopt.train(model, tmp_path / "out", **flags)
    assert message in str(error.value)


def test_tokens_of_a_model_that_takes_none(model, cache, tmp_path):
    with pytest.raises(CommandFailed, match="--tokens finds no integer input of two dimensions; the inputs of the model are 'x'"):
        execute([find_driver(), "train", model, "-o", tmp_path / "out", "--batch-size=2", "--target=host", "--loss=mse",
                 "--tokens", __file__])


def test_wrong_arguments(model, tmp_path):
    with pytest.raises(TypeError, match="model must be a path, but is a Sequential; gpuopt.export writes a module to one"):
        gpuopt.compile(make_module(), tmp_path / "out")
    with pytest.raises(gpuopt.DriverError, match="there is no flag --lr; did you mean --learning-rate?"):
        gpuopt.compile(model, tmp_path / "out", lr=1e-3)
    with pytest.raises(gpuopt.DriverError, match="^gpuopt: error: learning_rate must be at least 0 .*, but is -1$"):
        gpuopt.compile(model, tmp_path / "out", target="host", learning_rate=-1)
    with pytest.raises(gpuopt.DriverError, match=r"error: data\['x'\] has shape \[20, 3\], but 'x' needs"):
        gpuopt.train(model, tmp_path / "out", batch_size=8, loss="mse", target="host", data={"x": np.zeros((20, 3), np.float32)},
                     labels=make_data(20)[1])


@pytest.mark.parametrize("samples", [16, 13, 3])
def test_validation_is_of_every_sample(model, cache, tmp_path, samples):
    x, y = make_data(samples)
    found = train(model, tmp_path / "out", max_steps=2, learning_rate=0.01, eval_data={"x": x}, eval_labels=y)
    module = make_module()
    gpuopt.load_weights(module, tmp_path / "out" / "model.safetensors")
    expected = torch.nn.functional.mse_loss(module.double()(torch.from_numpy(x)), torch.from_numpy(y)).item()
    assert found[-1]["eval_loss"] == pytest.approx(expected, rel=1e-6)


def test_divergence_is_a_status_of_its_own(model, cache, tmp_path):
    out = tmp_path / "out"
    train(model, out, max_steps=1)
    before, plan = (out / "model.safetensors").read_bytes(), (out / "plan.json").read_bytes()
    with pytest.raises(gpuopt.DriverError, match="out' has 'model.safetensors' of an earlier run, and no checkpoint to go on from"):
        train(model, out, max_steps=50, learning_rate=1e38)
    assert (out / "model.safetensors").read_bytes() == before and len(records(out)) == 1
    with pytest.raises(gpuopt.DriverError, match="(?s)the loss is .*diverged in step"):
        train(model, out, max_steps=50, learning_rate=1e38, overwrite_output_dir=True)
    assert (out / "model.safetensors").read_bytes() == before and len(records(out)) == 1
    assert (out / "plan.json").read_bytes() == plan == (out / "program" / "plan.json").read_bytes()
    assert (out / "failed-run" / "plan.json").read_bytes() != plan
    x, y = make_data(8)
    x[3, 2] = np.nan
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    with pytest.raises(CommandFailed, match="(?s)status 3.*The data of input 'x' \\('.*': sample \\d+\\) is infinite or NaN"):
        execute([
            find_driver(), "train", model, "-o", out, "--batch-size=8", "--loss=mse", "--data", f"x={tmp_path / 'x.npy'}",
            "--labels", tmp_path / "y.npy", "--target=host", "--num-threads=1", "--overwrite-output-dir",
        ])
    assert (out / "model.safetensors").read_bytes() == before


def wait_for_steps(folder):
    metrics = folder / "metrics.jsonl"
    while not metrics.exists() or not metrics.stat().st_size:
        time.sleep(0.05)


@pytest.mark.parametrize("is_ignored", [True, False])
def test_a_closed_terminal(model, cache, tmp_path, is_ignored):
    """It ends a run with its work saved, but for one that nohup has begun."""
    x, y = make_data(20)
    np.save(tmp_path / "x.npy", x.astype(np.float32))
    np.save(tmp_path / "y.npy", y.astype(np.float32))
    out = tmp_path / "out"
    command = [find_driver(), "train", model, "-o", out, "--batch-size=4", "--loss=mse", "--data", f"x={tmp_path}/x.npy",
               "--labels", tmp_path / "y.npy", "--max-steps=1000000000", "--target=host"]
    run = subprocess.Popen(
        list(map(str, command)), stdout=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN if is_ignored else signal.SIG_DFL))
    try:
        wait_for_steps(out)
        run.send_signal(signal.SIGHUP)
        if is_ignored:
            with pytest.raises(subprocess.TimeoutExpired):
                run.wait(timeout=1)
            run.stdout.close()  # its next line ends it
        output = "" if is_ignored else run.communicate(timeout=60)[0]
        assert run.wait(timeout=60) == 0
    finally:
        run.kill()
    assert is_ignored or "interrupted: ends after step" in output
    assert safetensors.read(out / "model.safetensors").keys() >= {"0.weight", "2.bias"}


@pytest.fixture
def interrupts():
    """As at a terminal: jobs in the background begin with interrupts ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_is_the_trainers(model, cache, tmp_path, monkeypatch, interrupts):
    """At Ctrl-C, which the process and Python get, the step ends and is saved
    before either is over."""
    out, started = tmp_path / "out", []

    class Popen(subprocess.Popen):
        def __init__(self, *arguments, **keywords):
            super().__init__(*arguments, **keywords)
            started.append(self)

    def interrupt():
        wait_for_steps(out)
        started[-1].send_signal(signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(subprocess, "Popen", Popen)
    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        train(model, out, max_steps=10**9, logging_steps=0)
    assert started[-1].returncode == 0
    assert safetensors.read(out / "model.safetensors").keys() >= {"0.weight", "2.bias"}


def test_interrupts_of_python_alone(tmp_path, monkeypatch, capfd, interrupts):
    """They are passed on, more than one is none the worse, and what the driver
    says meanwhile does not hold it up. The driver is a script, which gives up
    without an interrupt."""
    driver = tmp_path / "driver"
    driver.write_text(f"""#!{sys.executable}
import pathlib, signal, sys, time
here, got = pathlib.Path(__file__).parent, []
signal.signal(signal.SIGINT, lambda number, frame: got.append(number))
signal.alarm(30)
(here / "ready").touch()
end = time.monotonic() + 20
while not got and time.monotonic() < end:
    time.sleep(0.05)
sys.stderr.write("it saves\\n" * 20000)
sys.stderr.flush()
(here / "interrupted").touch()
time.sleep(1)
(here / "saved").write_text(str(len(got)))
""")
    driver.chmod(0o755)
    monkeypatch.setenv("GPUOPT", str(driver))

    def interrupt():
        for name in ("ready", "interrupted"):
            while not (tmp_path / name).exists():
                time.sleep(0.05)
            os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        gpuopt.train("model.onnx", tmp_path / "out")
    assert (tmp_path / "saved").read_text() == "2"
    assert "it saves" in capfd.readouterr().err


def test_flags_by_name():
    flags = dict(learning_rate=0.1, shuffle=False, nesterov=True, data={"x": "x.npy"}, param_group=["a:lr=1", "b:lr=2"], labels=None)
    assert gpuopt.driver.arguments(flags) == [
        "--learning-rate=0.1", "--shuffle=false", "--nesterov", "--data=x=x.npy", "--param-group=a:lr=1",
        "--param-group=b:lr=2",
    ]


def test_lists_of_flags():
    flags = dict(outputs=["softmax", "linear"], class_weights=(1, 0.5, 2), eval_metrics=[], dim=["a=1", "b=2"], transform=["resize(9)", "center_crop(8)"])
    assert gpuopt.driver.arguments(flags) == ["--outputs=softmax,linear", "--class-weights=1,0.5,2", "--dim=a=1", "--dim=b=2",
                                              "--transform=resize(9),center_crop(8)"]
    with pytest.raises(TypeError, match=r"no_decay takes one value, but is a list: \['bias', 'norm'\]; lists are for class_weights, "):
        gpuopt.driver.arguments(dict(no_decay=["bias", "norm"]))  # one regular expression


def test_arrays_may_stand_for_each_file_of_data():
    data = execute([find_driver(), "settings"]).split("### The data\n")[1].split("\n### ")[0]
    flags = {flag.replace("-", "_") for flag in re.findall(r"^\| `--([\w-]+)`", data, re.M)}
    driver = gpuopt.driver
    assert {*driver._FILE_FLAGS, *driver._INPUT_FLAGS} - {"prompts"} == flags - {  # prompts are for predict
        "token_type", "shuffle", "transform", "eval_transform", "on_bad_record", "max_bad_records",
        "mixup", "cutmix", "mixup_prob", "mixup_switch_prob",
    }


def test_export_checks_names(tmp_path):
    module = make_module()
    with pytest.raises(TypeError, match="input_names must be a list of names, but is 'x'"):
        gpuopt.export(module, torch.zeros(2, 4), tmp_path / "m.onnx", input_names="x")
    with pytest.raises(ValueError, match="input_names must be 1 different names, one for each example input"):
        gpuopt.export(module, (torch.zeros(2, 4),), tmp_path / "m.onnx", input_names=["x", "y"])
    assert not (tmp_path / "m.onnx").exists()


@pytest.mark.parametrize("shape, labels, message", [
    ((20, 5), (20, 1), "x.npy' has shape [20, 5], but 'x' needs [samples, 4]"),
    ((20, 2, 2), (20, 1), "; save array.reshape(-1, 4)"),
    ((20, 4), (19, 1), "y.npy' has 19 samples, but '"),
    ((7, 4), (7, 1), "has 7 samples, fewer than one batch of 8"),
])
def test_shapes_are_checked_before_the_build(model, shape, labels, message, cache, tmp_path):
    np.save(tmp_path / "x.npy", np.zeros(shape, np.float32))
    np.save(tmp_path / "y.npy", np.zeros(labels, np.float32))
    with pytest.raises(CommandFailed) as error:
        execute([
            find_driver(), "train", model, "-o", tmp_path / "out", "--batch-size=8", "--loss=mse", "--data", f"x={tmp_path / 'x.npy'}",
            "--labels", tmp_path / "y.npy", "--target=host", "--weight-decay=0.03125",
        ])
    assert message in error.value.output and "building" not in error.value.output
    assert not (tmp_path / "out").exists()


@pytest.fixture(scope="module")
def classifier(tmp_path_factory):
    """A classifier of 5 tokens with 3 classes."""
    path = tmp_path_factory.mktemp("classifier") / "model.onnx"
    module = torch.nn.Sequential(torch.nn.Embedding(5, 4), torch.nn.Flatten(), torch.nn.Linear(8, 3))
    gpuopt.export(module, torch.zeros(2, 2, dtype=torch.int64), path, input_names=["x"])
    return path


@pytest.mark.parametrize("files, message", [
    ({"x": (6, 1, 5)}, "x.npy': sample 6 holds 5 for 'x', but it must lie in [0, 5)"),
    ({"y": (7, 3)}, "y.npy': sample 7 holds 3 for 'labels', but it must lie in [0, 3)"),
    ({"y": (3, -1)}, "y.npy': sample 3 holds -1 for 'labels', but it must lie in [0, 3)"),
    ({"y": (3, -100), "eval_y": (2, 9)}, "eval_y.npy': sample 2 holds 9 for 'labels', but it must lie in [0, 3)"),
])
def test_indices_are_checked_before_the_build(classifier, files, message, cache, tmp_path):
    arrays = {"x": np.ones((8, 2), np.int64), "y": np.ones(8, np.int8)}
    arrays.update({f"eval_{name}": array.copy() for name, array in arrays.items()})
    for name, (*place, value) in files.items():
        arrays[name][tuple(place)] = value
    for name, array in arrays.items():
        np.save(tmp_path / f"{name}.npy", array)
    with pytest.raises(CommandFailed) as error:
        execute([
            find_driver(), "train", classifier, "-o", tmp_path / "out", "--batch-size=8", "--target=host",
            "--data", f"x={tmp_path / 'x.npy'}", "--labels", tmp_path / "y.npy",
            "--eval-data", f"x={tmp_path / 'eval_x.npy'}", "--eval-labels", tmp_path / "eval_y.npy",
        ])
    assert message in error.value.output and "building" not in error.value.output
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("driver, message", [
    ("/none/gpuopt", r"\$GPUOPT names '/none/gpuopt', which is no executable"),
    ("", "no folder of the PATH has it, and the package in '.*gpuopt' is neither a wheel .*; or set GPUOPT to the executable"),
])
def test_a_missing_driver(driver, message, tmp_path, monkeypatch):
    monkeypatch.setenv("GPUOPT", driver)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(gpuopt.driver, "__file__", str(tmp_path / "python" / "gpuopt" / "driver.py"))
    for kind in (gpuopt.DriverError, FileNotFoundError):
        with pytest.raises(kind, match=message):
            gpuopt.compile("model.onnx", tmp_path / "out")


def test_the_driver_of_a_checkout(tmp_path, monkeypatch):
    """The package of a clone, by PYTHONPATH, needs no variable of its own."""
    monkeypatch.delenv("GPUOPT", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(gpuopt.driver, "__file__", str(tmp_path / "python" / "gpuopt" / "driver.py"))
    (tmp_path / "CMakeLists.txt").touch()
    built = tmp_path / "build" / "bin" / "gpuopt"
    with pytest.raises(gpuopt.DriverNotFoundError, match=f"and '{built}' is no executable; build it .cmake -S '{tmp_path}' -B"):
        find_driver()
    built.parent.mkdir(parents=True)
    built.touch()
    with pytest.raises(gpuopt.DriverNotFoundError):
        find_driver()
    built.chmod(0o755)
    assert find_driver() == str(built)


@pytest.mark.parametrize("content, message", [
    (b"", ""),
    (b"PK", "it is too short"),
    (b"PK\x03\x04 a zip archive of torch.save", "its header is longer than the file"),
    (bytes(8) + b"{}", "Expecting value"),
    (b"\x02" + bytes(7) + b"[]", "object"),
])
def test_weights_that_are_no_safetensors(content, message, tmp_path):
    (tmp_path / "weights").write_bytes(content)
    with pytest.raises(ValueError, match="weights' is not a safetensors file, or is damaged: .*" + message):
        gpuopt.load_weights(make_module(), tmp_path / "weights")
    with pytest.raises(FileNotFoundError):
        safetensors.read(tmp_path / "none")


def test_weights_of_a_type_that_numpy_lacks(tmp_path):
    header = json.dumps({"a": {"dtype": "F8_E4M3", "shape": [2], "data_offsets": [0, 2]}}).encode()
    (tmp_path / "weights").write_bytes(len(header).to_bytes(8, "little") + header + bytes(2))
    with pytest.raises(TypeError, match="'a' in '.*weights' has elements of type F8_E4M3, but must have one of F64, F32, .* BF16: convert it before the file is written"):
        safetensors.read(tmp_path / "weights")


def test_prompts_in_lists(tmp_path):
    places = {}
    for prompts in ([[1, 2], [3]], (torch.tensor([1, 2]), np.array([3])), [np.arange(1, 3), [np.int64(3)]]):
        path = gpuopt.driver._saved_prompts(prompts, tmp_path, places)
        assert pathlib.Path(path).read_text() == "[1, 2]\n[3]\n" and places == {path: "prompts"}
    assert gpuopt.driver._saved_prompts(np.array([[1, 2]]), tmp_path, places).endswith(".npy")
    for prompts, index in (([[1], 2], 1), ([[1.5]], 0), (["a"], 0)):
        with pytest.raises(TypeError, match=re.escape(f"prompts[{index}] must be a list of tokens, like [15496, 11], but is ")):
            gpuopt.driver._saved_prompts(prompts, tmp_path, places)


def test_weights_of_a_folder(tmp_path):
    for name in ("run/checkpoint-2", "empty"):
        (tmp_path / name).mkdir(parents=True)
    message = "empty' is a folder without model.safetensors: name the folder of a run or a checkpoint, or a safetensors file"
    with pytest.raises(FileNotFoundError, match=message):
        gpuopt.load_weights(make_module(), tmp_path / "empty")
    for number, folder in enumerate(("run", "run/checkpoint-2")):
        weights = {name: value.detach().numpy() * 0 + number for name, value in make_module().named_parameters()}
        safetensors.write(tmp_path / folder / "model.safetensors", weights)
        module = make_module()
        gpuopt.load_weights(module, tmp_path / folder)
        for name, value in weights.items():
            np.testing.assert_array_equal(module.get_parameter(name).detach().numpy(), value)


def test_weights_are_copied_all_or_none(tmp_path):
    module = make_module()
    weights = {name: value.detach().numpy() + 1 for name, value in module.named_parameters()}
    last = list(weights)[-1]
    safetensors.write(tmp_path / "weights", {**weights, last: np.zeros((9, 9), np.float32)})
    before = {name: value.detach().clone() for name, value in module.named_parameters()}
    with pytest.raises(ValueError, match=re.escape(f"{last} has shape (9, 9)")):
        gpuopt.load_weights(module, tmp_path / "weights")
    assert all(torch.equal(value, before[name]) for name, value in module.named_parameters())


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?"])
def test_safetensors_of_each_type(dtype, tmp_path):
    for order in "<>":
        array = np.arange(4).astype(order + dtype)
        safetensors.write(tmp_path / "weights", {"a": array})
        [found] = safetensors.read(tmp_path / "weights").values()
        assert found.dtype == np.dtype("<" + dtype)
        np.testing.assert_array_equal(found, array)


def test_safetensors_leave_nothing_unfinished(tmp_path):
    with pytest.raises(TypeError, match="'a' has elements of type complex64, but a safetensors file takes float64, float32"):
        safetensors.write(tmp_path / "weights", {"a": np.zeros(2, np.complex64)})
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError):
        safetensors.write(tmp_path / "folder", {"a": np.zeros(2, np.float32)})
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_weights_that_the_file_lacks(tmp_path):
    module = make_module()
    module.unread = torch.nn.Linear(2, 2)
    weights = {name: value.detach().numpy() + 1 for name, value in make_module().named_parameters()}
    safetensors.write(tmp_path / "weights", weights)
    with pytest.raises(KeyError, match="lacks unread.weight, unread.bias; a parameter that the forward never reads is "
                                       "not exported: pass strict=False to keep the module's own"):
        gpuopt.load_weights(module, tmp_path / "weights")
    kept = module.unread.weight.clone()
    gpuopt.load_weights(module, tmp_path / "weights", strict=False)
    assert torch.equal(module.unread.weight, kept)
    for name, value in weights.items():
        np.testing.assert_array_equal(module.get_parameter(name).detach().numpy(), value)
    # Nothing of the file would be taken then.
    with pytest.raises(KeyError, match="it has '0.weight', '0.bias'.* which the module lacks: pass the module that was exported"):
        gpuopt.load_weights(torch.nn.Sequential(torch.nn.Sequential(make_module())), tmp_path / "weights")


def test_memory_of_libraries_is_planned(model, cache, tmp_path):
    """A program for CUDA, built for the host: what cuBLASLt and the loaders use
    there is part of the one allocation."""
    folder = tmp_path / "program"
    execute([find_driver(), "compile", model, "-o", folder, "--batch-size=8", "--loss=mse", "--target=cuda",
             "--workspace-size=1MiB"])
    plan = json.loads((folder / "plan.json").read_text())
    kept = {buffer["origin"]: buffer for buffer in plan["buffers"]}
    assert kept["library_workspace"]["bytes"] == 2**20
    # Two batches for each of two loaders, of 8 x 4 and 8 x 1 floats.
    assert kept["staged_batches"]["bytes"] == 4 * (256 + 256)
    execute(["cmake", "-S", folder, "-B", folder / "build", "-DGPUOPT_TARGET=host"])
    execute(["cmake", "--build", folder / "build"])
    x, y = make_data(20)
    np.save(tmp_path / "x.npy", x.astype(np.float32))
    np.save(tmp_path / "y.npy", y.astype(np.float32))
    trainer = folder / "build" / "trainer"
    execute([trainer, f"--data=x={tmp_path / 'x.npy'}", f"--labels={tmp_path / 'y.npy'}", "--max-steps=2",
             f"--output-dir={tmp_path / 'out'}"])
    assert {record["allocated_bytes"] for record in records(tmp_path / "out")} == {plan["total_bytes"]}


def test_costs_are_measured(model, cache, tmp_path):
    costs = tmp_path / "costs.json"
    train(model, tmp_path / "a", max_steps=4, profile_costs_to=costs, profile_warmup=1, profile_active=2)
    measured = json.loads(costs.read_text())
    assert measured["steps"] == 2 and len(measured["costs"]) > 5
    # And the same command plans with them.
    train(model, tmp_path / "b", max_steps=1, profile_costs=costs)


def test_reports(model, cache, tmp_path):
    """Event files are what TensorBoard reads, and the page and the curves in characters are made of any run."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    x, y = make_data(20)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    command = [find_driver(), "train", model, "-o", tmp_path / "a b", "--target=host", "--num-threads=1", "--batch-size=8", "--loss=mse",
               "--data", f"x={tmp_path / 'x.npy'}", "--labels", tmp_path / "y.npy", "--eval-data", f"x={tmp_path / 'x.npy'}",
               "--eval-labels", tmp_path / "y.npy", "--eval-steps=2", "--max-steps=5", "--report-to=tensorboard", "--save-steps=4"]
    execute(command)
    found = records(tmp_path / "a b")
    events = EventAccumulator(str(tmp_path / "a b" / "tensorboard"))
    events.Reload()
    for tag, name in (("train/loss", "loss"), ("train/grad_norm", "grad_norm"), ("train/learning_rate", "learning_rate"),
                      ("eval/loss", "eval_loss")):
        points = events.Scalars(tag)
        expected = [(record["step"], record[name]) for record in found if name in record]
        assert [point.step for point in points] == [step for step, _ in expected]
        assert [point.value for point in points] == pytest.approx([value for _, value in expected], rel=1e-6)
        assert all(abs(point.wall_time - time.time()) < 600 for point in points)

    # A run that goes on after step 4 takes the place of what the first has of step 5 and later.
    execute([*command[:-4], "--max-steps=6", "--report-to=tensorboard", f"--resume={tmp_path / 'a b' / 'checkpoint-4'}"])
    events = EventAccumulator(str(tmp_path / "a b" / "tensorboard"))
    events.Reload()
    assert [point.step for point in events.Scalars("train/loss")] == [1, 2, 3, 4, 5, 6]
    assert "loss: " in execute([find_driver(), "watch", tmp_path / "a b"])
    page = tmp_path / "page.html"
    assert execute([find_driver(), "report", tmp_path / "a b", "-o", page]) == f"report: {page}\n"
    assert '"tensors":[' in page.read_text() and "a b'" in page.read_text()


def test_terminal(model, cache, tmp_path):
    """On a terminal there is a bar, with --quiet nothing, and elsewhere lines."""
    x, y = make_data(20)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    command = [find_driver(), "train", model, "-o", tmp_path / "out", "--target=host", "--num-threads=1", "--batch-size=8", "--loss=mse",
               "--data", f"x={tmp_path / 'x.npy'}", "--labels", tmp_path / "y.npy", "--max-steps=3", "--overwrite-output-dir"]
    lines = execute(command).splitlines()
    assert len([line for line in lines if re.match(r"step \d/3  loss ", line)]) == 3 and not any("\r" in line for line in lines)
    on_terminal = [sys.executable, find_driver_inputs() / "on_terminal.py"]
    shown = execute([*on_terminal, *command])
    assert "100% " in shown and "  3/3  loss " in shown and "(data " in shown and "\x1b[K" in shown
    assert not re.search(r"step \d/3", shown)
    assert shown.splitlines()[-1].endswith("model.safetensors")
    assert "step 1/3" in execute([*command, "--quiet", "--no-quiet"])
    assert execute([*command, "--quiet"]) == "" == execute([*on_terminal, *command, "--quiet"]).replace("\r\n", "")


def find_driver_inputs():
    return pathlib.Path(__file__).resolve().parents[1] / "Driver" / "Inputs"
