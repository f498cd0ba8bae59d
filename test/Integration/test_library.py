"""Compiled programs as libraries: called from C, from C++ with two of them in one process, and from Python."""

import copy
import ctypes
import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional as F

import emulated
import gpuopt
from gpuopt import dlpack, safetensors
from gpuopt.library import DEVICE, INPUTS, STATES, Library, Tensor, TensorInfo, _cpu_quota, build_library, program_folder
from gpuopt.program import TensorDescription
from training import OPTIMIZATION, OPTIMIZATION_FOR_ONE_STEP, Trainer, execute

HERE = Path(__file__).resolve().parent
BATCH, SAMPLES, STEPS = 8, 24, 5
RATE = 0.01


def make_module():
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.Tanh(), torch.nn.Linear(16, 4))


def make_data():
    random = np.random.default_rng(1)
    return random.normal(size=(SAMPLES, 6)).astype(np.float32), random.integers(0, 4, SAMPLES)


def batch(step):
    x, labels = make_data()
    rows = slice(step * BATCH % SAMPLES, step * BATCH % SAMPLES + BATCH)
    return x[rows], labels[rows]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.onnx"
    gpuopt.export(make_module(), torch.zeros(2, 6), path, input_names=["x"], output_names=["logits"])
    return path


@pytest.fixture(scope="module")
def folder(model, tmp_path_factory):
    """A program for training, with its trainer and its library."""
    path = tmp_path_factory.mktemp("program") / "program"
    Trainer(model, path, batch_size=BATCH, learning_rate=RATE, weight_decay=0, max_grad_norm=0)
    build_library(path, [f"-DCMAKE_CXX_FLAGS_RELEASE={OPTIMIZATION}"])
    return path


@pytest.fixture(scope="module")
def forward_folder(model, tmp_path_factory):
    """A program that computes the forward alone."""
    path = tmp_path_factory.mktemp("forward") / "program"
    gpuopt.compile(model, path, target="host", batch_size=BATCH, inference=True)
    build_library(path, [f"-DCMAKE_CXX_FLAGS_RELEASE={OPTIMIZATION}"])
    return path


@pytest.fixture(scope="module")
def trained(folder, tmp_path_factory):
    """What the trainer makes of the data: its losses and its folder."""
    path = tmp_path_factory.mktemp("run")
    for name, array in zip(("x", "labels"), make_data()):
        np.save(path / f"{name}.npy", array)
        array.tofile(path / f"{name}.bin")
    execute([
        folder / "build" / "trainer", "--data", f"x={path / 'x.npy'}", "--labels", path / "labels.npy", "--no-shuffle",
        f"--max-steps={STEPS}", "--num-threads=1", "--output-dir", path / "out",
    ])
    records = [json.loads(line) for line in (path / "out" / "metrics.jsonl").read_text().splitlines()]
    return [record["loss"] for record in records if "loss" in record], path


def build_caller(source, folder, library, out, *options):
    """Compiles a caller against the header of a program."""
    is_c = source.endswith(".c")
    language = ["gcc", "-std=c99", "-pedantic"] if is_c else ["g++", "-std=c++17", "-fopenmp"]
    linked = [library, f"-Wl,-rpath,{library.parent}"] if is_c else ["-ldl"]
    execute([*language, "-Wall", "-Wextra", "-Werror", *options, f"-I{folder}", HERE / source, "-o", out, *linked])
    return out


def check_c_caller(caller, trained, tmp_path):
    losses, path = trained
    lines = execute([caller, path / "x.bin", path / "labels.bin", STEPS, tmp_path / "saved"]).splitlines()
    assert [float.fromhex(line) for line in lines[:STEPS]] == losses
    assert (tmp_path / "saved").read_bytes() == (path / "out" / "model.safetensors").read_bytes()
    inputs = f"its inputs are 'x' f32 [{BATCH}, 6], 'labels' i64 [{BATCH}]"
    missing = "there is no file or folder 'missing.safetensors'"
    said = dict(line.split(": ", 1) for line in lines[STEPS:])
    assert said["size"] == f"1 input 'labels' needs {8 * BATCH} bytes, i64 [{BATCH}], but got {8 * BATCH - 4}"
    assert said["name"] == f"1 the program has no input 'nothing'; {inputs}"
    assert said["state"].startswith("1 the program has no state 'nothing'; its states are ")
    assert said["file"] == said["weights"] == f"3 {missing}"
    assert said["null"] == "1 'program' must not be null"
    assert said["steps"] == str(STEPS)


def test_c_has_the_bits_of_the_trainer(folder, trained, tmp_path):
    library = folder / "build-library" / "libprogram.so"
    check_c_caller(build_caller("call_program.c", folder, library, tmp_path / "caller"), trained, tmp_path)


def build_sanitized(folder, build):
    """A program's library under AddressSanitizer, in a folder that has its weights beside."""
    options = f"{OPTIMIZATION_FOR_ONE_STEP} -fsanitize=address -fno-omit-frame-pointer"
    execute(["cmake", "-S", folder, "-B", build, "-DBUILD_SHARED_LIBS=ON", "-DCMAKE_CXX_COMPILER=g++",
             f"-DCMAKE_CXX_FLAGS_RELEASE={options}"])
    execute(["cmake", "--build", build, "--target", "program"])
    shutil.copy(folder / "model.safetensors", build.parent)
    if (folder / "constants.safetensors").exists():
        shutil.copy(folder / "constants.safetensors", build.parent)
    return build / "libprogram.so"


def test_c_under_the_address_sanitizer(folder, trained, tmp_path, monkeypatch):
    """oneDNN and OpenMP keep memory until the process ends, so leaks are not looked for."""
    sanitized = build_sanitized(folder, tmp_path / "build")
    caller = build_caller("call_program.c", folder, sanitized, tmp_path / "caller", "-fsanitize=address")
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")
    check_c_caller(caller, trained, tmp_path)


def check_two_programs(caller, folders, libraries):
    found = [[float.fromhex(number) for number in line.split()] for line in execute([caller, *libraries]).splitlines()]
    x = (np.arange(BATCH * 6) % 7).astype(np.float32).reshape(BATCH, 6) / np.float32(7)
    with gpuopt.load(folders[0]) as training, gpuopt.load(folders[1]) as inference:
        losses = [training.step(x=x, labels=np.arange(BATCH) % 4) for _ in found]
        output = inference.forward(x=x)["logits"].flatten()[5]
    assert found == [[loss, output] for loss in losses]
    assert len(set(losses)) == len(losses) == 3


def test_two_programs_in_one_process(folder, forward_folder, tmp_path):
    libraries = [path / "build-library" / "libprogram.so" for path in (folder, forward_folder)]
    check_two_programs(build_caller("call_two_programs.cpp", folder, libraries[0], tmp_path / "caller"), (folder, forward_folder), libraries)


@pytest.mark.full
def test_two_programs_under_the_address_sanitizer(folder, forward_folder, tmp_path, monkeypatch):
    libraries = [build_sanitized(path, tmp_path / path.parent.name / "build") for path in (folder, forward_folder)]
    caller = build_caller("call_two_programs.cpp", folder, libraries[0], tmp_path / "caller", "-fsanitize=address")
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")
    check_two_programs(caller, (folder, forward_folder), libraries)


def test_the_api_alone_is_visible(folder):
    """Of the library; `nm -D` lists what others can see."""
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", folder / "build-library" / "libprogram.so"], capture_output=True, text=True, check=True
    ).stdout.split("\n")
    names = {line.split()[-1] for line in listed if line}
    declared = {word.split("(")[0] for word in (folder / "gpuopt" / "gpuopt.h").read_text().split() if word.startswith("gpuopt_")}
    assert "gpuopt_step" in names and names <= declared


def test_python_has_the_losses_of_torch(folder):
    module = make_module()
    optimizer = torch.optim.AdamW(module.parameters(), lr=RATE, weight_decay=0)
    with gpuopt.load(folder) as program:
        for step in range(2 * STEPS):
            x, labels = batch(step)
            rate = RATE / (step + 1)
            for group in optimizer.param_groups:
                group["lr"] = rate
            program.set_learning_rate(rate)
            optimizer.zero_grad()
            expected = F.cross_entropy(module(torch.from_numpy(x)), torch.from_numpy(labels))
            expected.backward()
            assert program.evaluate(x=x, labels=labels) == pytest.approx(expected.item(), rel=1e-5)
            assert program.step(x=x, labels=labels) == pytest.approx(expected.item(), rel=1e-5)
            optimizer.step()
        last = program.last_step()
        assert last.steps == 2 * STEPS and last.learning_rate == rate
        assert last.loss_scale == 1, "as in metrics.jsonl, of a program without one"
        state = program.state_dict()
    assert set(state) == set(module.state_dict())
    for name, value in module.state_dict().items():
        np.testing.assert_allclose(state[name], value, rtol=1e-3, atol=1e-5)


def test_a_checkpoint_without_max_steps_is_read_again(folder, tmp_path):
    with gpuopt.load(folder, num_threads=1) as program:
        first, second = ({"x": x, "labels": labels} for x, labels in map(batch, range(2)))
        program.step(**first)
        program.save_checkpoint(tmp_path / "saved")
        assert json.loads((tmp_path / "saved" / "trainer_state.json").read_text())["max_steps"] == 0
        loss = program.step(**second)
        program.load(tmp_path / "saved")
        assert program.step(**second) == loss


def test_python_saves_and_goes_on(folder, trained, tmp_path):
    losses, path = trained
    with gpuopt.load(folder, max_steps=STEPS, num_threads=1) as program:
        assert [program.step(x=x, labels=labels) for x, labels in map(batch, range(2))] == losses[:2]
        program.save_checkpoint(tmp_path / "saved")
        rest = losses[2:]
        assert [program.step(x=x, labels=labels) for x, labels in map(batch, range(2, STEPS))] == rest
        program.save(tmp_path / "saved.safetensors")
        program.load(tmp_path / "saved")
        assert [program.step(x=x, labels=labels) for x, labels in map(batch, range(2, STEPS))] == rest
        # Everything that a step changes is in the two of them.
        other = program.state_dict(optimizer=True)
        program.load(folder)
        program.load_state_dict(other)
        assert all(np.array_equal(value, other[name]) for name, value in program.state_dict(optimizer=True).items())
        with pytest.raises(RuntimeError, match="lacks '"):
            safetensors.write(tmp_path / "part", {"0.weight": other["0.weight"] * 0})
            program.load(tmp_path / "part")
        assert np.array_equal(program.state_dict()["0.weight"], other["0.weight"])
    assert (tmp_path / "saved.safetensors").read_bytes() == (path / "out" / "model.safetensors").read_bytes()
    assert repr(program) == (f"<gpuopt.Program 'model', target host: x float32[{BATCH}, 6], labels int64[{BATCH}], closed>")
    with pytest.raises(ValueError, match="the program is closed"):
        program.last_step()


def test_the_number_of_steps_is_in_checkpoints_alone(folder, tmp_path):
    """As the documentation of state_dict and gpuopt_read_state says."""
    x, labels = batch(0)
    settings = dict(max_steps=STEPS, num_threads=1)
    with gpuopt.load(folder, **settings) as program, gpuopt.load(folder, **settings) as other:
        for _ in range(3):
            program.step(x=x, labels=labels)
        program.save_checkpoint(tmp_path / "saved")
        other.load_state_dict(program.state_dict(optimizer=True))
        program.step(x=x, labels=labels)
        other.step(x=x, labels=labels)
        assert (program.last_step().steps, other.last_step().steps) == (4, 1)
        other.load(tmp_path / "saved")
        other.step(x=x, labels=labels)
        assert other.last_step() == program.last_step()


def test_results_of_training_are_loaded(folder, trained, tmp_path):
    _, path = trained
    shutil.copytree(path / "out", tmp_path / "results")
    (tmp_path / "results" / "program").symlink_to(folder)
    assert program_folder(tmp_path / "results") == tmp_path / "results" / "program"
    with gpuopt.load(tmp_path / "results") as program:
        state = program.state_dict()
    assert f"CMAKE_CACHEFILE_DIR:INTERNAL={folder.resolve()}/" in (folder / "build-library" / "CMakeCache.txt").read_text()
    for name, value in safetensors.read(path / "out" / "model.safetensors").items():
        assert np.array_equal(state[name], value)
    with pytest.raises(FileNotFoundError, match="has no program: gpuopt.compile writes one"):
        gpuopt.load(tmp_path)


def test_a_run_without_weights_does_not_begin_anew(folder, trained, tmp_path):
    """Its program has those that the training began with, which nobody means who names a run."""
    run = tmp_path / "run"
    run.mkdir()
    (run / "program").symlink_to(folder)
    for name in ("checkpoint-2", "checkpoint-10", "checkpoint-12", "checkpoint-last"):
        shutil.copytree(trained[1] / "out", run / name)
        if name != "checkpoint-12":  # which was not finished
            (run / name / "checksums.txt").touch()
    with pytest.raises(FileNotFoundError, match="run' has no model.safetensors, which a run writes at its end; give its last checkpoint, "
                       "weights='.*run/checkpoint-10'$"):
        gpuopt.load(run)
    with gpuopt.load(run, weights=run / "checkpoint-10") as program:
        state = program.state_dict()
    for name, value in safetensors.read(run / "checkpoint-10" / "model.safetensors").items():
        assert np.array_equal(state[name], value)
    for checkpoint in run.glob("checkpoint-*"):
        shutil.rmtree(checkpoint)
    with pytest.raises(FileNotFoundError, match="nor has it a finished checkpoint .*"
                       "weights='.*program/model.safetensors' gives those that the run began with"):
        gpuopt.load(run)


QUICK = [f"-DCMAKE_CXX_FLAGS_RELEASE={OPTIMIZATION_FOR_ONE_STEP}"]


def test_a_program_that_was_compiled_again_is_the_new_one(model, tmp_path):
    """A process has the library of the earlier program under the same path."""
    for size in (2, 3):
        gpuopt.compile(model, tmp_path / "program", target="host", batch_size=size, inference=True)
        with gpuopt.load(tmp_path / "program", cmake_options=QUICK) as program:
            assert program.batch_size == size
            assert program.forward(x=np.zeros((size, 6), np.float32))["logits"].shape == (size, 4)
    assert len(list((tmp_path / "program" / "build-library").glob("libprogram-*"))) == 1


def test_a_folder_may_be_moved_and_copied(forward_folder, tmp_path, monkeypatch, capsys):
    """CMake goes on with a build in the folder alone in which it began. What is built is told, once."""
    monkeypatch.delenv("CMAKE_CXX_COMPILER_LAUNCHER", raising=False)  # ccache knows no $ in paths
    shutil.copytree(forward_folder, tmp_path / "copy")
    moved = tmp_path / "with a $name"  # which options of linkers would change
    (tmp_path / "copy").rename(moved)
    with gpuopt.load(moved, cmake_options=QUICK) as program:
        assert program.batch_size == BATCH
    told = capsys.readouterr().err
    assert re.fullmatch(rf"building the program's library in {re.escape(str(moved))}/build-library\nbuilt in \d+ s\n", told), told
    gpuopt.load(moved, cmake_options=QUICK).close()
    (moved / "library.cpp").touch()
    gpuopt.load(moved, cmake_options=QUICK, quiet=True).close()
    assert capsys.readouterr().err == ""
    moved.rename(tmp_path / "a;b")
    with pytest.raises(gpuopt.DriverError, match="a;b' has a semicolon, at which CMake splits paths: move the program to another folder"):
        gpuopt.load(tmp_path / "a;b")
    (tmp_path / "a;b").rename(moved)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "c;d"))
    with pytest.raises(gpuopt.DriverError, match="c;d/gpuopt/objects' has a semicolon, at which CMake splits paths: set XDG_CACHE_HOME"):
        gpuopt.load(moved)


def negated(array):
    """The values as a tensor of which PyTorch has put off the change of sign."""
    tensor = torch._neg_view(torch.from_numpy(-array))
    assert tensor.is_neg()
    return tensor


def test_python_takes_what_is_an_array(folder):
    x, labels = batch(0)
    with gpuopt.load(folder) as program:
        expected = program.evaluate(x=x, labels=labels)
        t = torch.from_numpy
        for given in (
            dict(x=t(x), labels=t(labels)),
            dict(x=t(x).requires_grad_(), labels=t(labels).int()),
            dict(x=t(x).double(), labels=labels.astype(np.uint8)),
            dict(x=np.asfortranarray(x), labels=labels.tolist()),
            dict(x=t(np.ascontiguousarray(x.T)).T, labels=t(labels)),
            dict(x=negated(x), labels=labels),
            dict(x=negated(x.astype(np.float64)), labels=labels),
            dict(x=np.repeat(x, 2, axis=1)[:, ::2], labels=t(np.repeat(labels, 2))[::2]),
        ):
            assert program.evaluate(**given) == expected
            assert program.evaluate(given) == expected

        # A dense tensor is read where it lies.
        tensor, _ = program._argument(program.inputs[0], t(x), x.shape)
        assert tensor.data == t(x).data_ptr()

        def refused(error, match, **given):
            with pytest.raises(error, match=match):
                program.step(**{"x": x, "labels": labels, **given})

        refused(ValueError, r"'x' must have shape \(8, 6\), but has \(8, 5\)", x=x[:, :5])
        refused(ValueError, r"'x' must have shape \(8, 6\), but has \(4, 6\)", x=t(x[:4]))
        refused(TypeError, "'labels' must be int64, but is float32", labels=labels.astype(np.float32))
        refused(TypeError, "'x' must be float32, but is bfloat16, which NumPy lacks: convert it before", x=t(x).bfloat16())
        refused(ValueError, r"element 0 holds 9 for 'labels', but it must lie in \[0, 4\)", labels=labels * 0 + 9)
        refused(ValueError, "'labels' has integers that int64 cannot hold", labels=labels.astype(np.uint64) + np.uint64(2**63))
        refused(TypeError, "it lies on a device of DLPack's kind 14, but must lie on the host or on a CUDA device",
                x=FromAnotherDevice())
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(dlpack, "view", lambda tensor, stream: on_gpu(0))
            refused(ValueError, "'x' lies on a GPU, where it must be float32 and contiguous for a program of target cuda, but is "
                    "float32: convert it there, or give it on the host", x=t(x))
        with pytest.raises(TypeError, match="the program takes the inputs x, labels, but got x"):
            program.step(x=x)
        with pytest.raises(TypeError, match="expects inputs by name, such as x=..., or a dictionary, but got a ndarray"):
            program.step(x)
        with pytest.raises(NotImplementedError, match="the program has no forward: compile it with inference=True, or --inference"):
            program.forward(x=x)
        with pytest.raises(KeyError, match="the values lack 2.weight, and have y that the program does not have; "
                           "strict=False takes those that both have"):
            state = program.state_dict()
            del state["2.weight"]
            program.load_state_dict({**state, "y": x})
        # As a module with batch normalisation has them.
        integers = {"num_batches_tracked": torch.tensor(3), "index": np.arange(2), "mask": torch.tensor([True]), "count": 3}
        program.load_state_dict({**program.state_dict(), **integers})
        assert program.evaluate(x=x, labels=labels) == expected
    with pytest.raises(ValueError, match="'--eval-steps' is for the trainer's loop"):
        gpuopt.load(folder, eval_steps=3)
    with pytest.raises(ValueError, match="'--param-group' names '.*', but the groups of this program"):
        gpuopt.load(folder, param_group=["^0:lr=0", "bias$:weight_decay=0"])  # the flag twice
    with pytest.raises(ValueError, match="unknown flag '--nothing'"):
        gpuopt.load(folder, nothing=True)


def test_a_scalar_has_a_number_for_each_batch():
    program = object.__new__(gpuopt.Program)
    program.inputs = [TensorDescription("s", ("s",), "input", "float32", ())]
    _, kept = program._given({"s": [1.0, 2.0]}, {}, 2)
    assert kept[0].tolist() == [1, 2]
    with pytest.raises(ValueError, match=r"'s' must have shape \(2,\), but has \(\)"):
        program._given({"s": 1.0}, {}, 2)
    _, kept = program._given({"s": 1.0}, {}, 1)
    assert kept[0].tolist() == 1


def on_gpu(address, device=0, shape=(BATCH, 6), dtype="float32"):
    """A tensor of another library as one that lies on a GPU."""
    return dlpack.View(address, dtype, shape, is_dense=True, on_gpu=True, device=device, capsule=None)


class FromAnotherDevice:
    """A tensor on a device of oneAPI."""

    def __dlpack_device__(self):
        return 14, 0

    def __dlpack__(self):
        raise AssertionError("its device is not asked for first")


def test_the_forward_is_that_of_torch(forward_folder):
    x, _ = batch(0)
    module = make_module()
    with gpuopt.load(forward_folder) as program:
        assert repr(program) == f"<gpuopt.Program 'model', target host: x float32[{BATCH}, 6] -> logits float32[{BATCH}, 4]>"
        assert [output.name for output in program.outputs] == ["logits"]
        np.testing.assert_allclose(program.forward(x=x)["logits"], module(torch.from_numpy(x)).detach(), rtol=1e-5, atol=1e-6)
        changed = copy.deepcopy(module)
        with torch.no_grad():
            changed[2].bias += 1
        program.load_state_dict(changed.state_dict())
        np.testing.assert_allclose(program.forward(x=torch.from_numpy(x))["logits"], module(torch.from_numpy(x)).detach() + 1,
                                   rtol=1e-5, atol=1e-6)
        with pytest.raises(NotImplementedError, match="the program computes the forward alone"):
            program.step(x=x)


def test_a_library_that_does_not_build_says_why(folder, tmp_path):
    broken = tmp_path / "broken"
    shutil.copytree(folder, broken, ignore=shutil.ignore_patterns("build*"))
    (broken / "library.cpp").write_text("#error out of order\n")
    with pytest.raises(gpuopt.DriverError, match="the program's library does not build(.|\n)*out of order"):
        gpuopt.load(broken, cmake_options=["-DCMAKE_CXX_FLAGS_RELEASE=-O0"])


def test_a_library_of_another_version_is_refused(tmp_path):
    (tmp_path / "other.c").write_text('int gpuopt_api_version(void) { return 99; }\nconst char *gpuopt_last_error(void) { return ""; }\n')
    execute(["gcc", "-shared", "-fPIC", tmp_path / "other.c", "-o", tmp_path / "other.so"])
    with pytest.raises(gpuopt.DriverError, match="has version 99 of the C API, but this package calls version 1: "
                       "compile the program with the gpuopt that the package belongs to"):
        Library(tmp_path / "other.so")


def test_cmake_is_needed(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(gpuopt.DriverError, match="cmake is not installed; a program's library is built with it"):
        build_library(tmp_path)


def test_the_plan_is_an_object(model):
    flags = dict(target="host", batch_size=BATCH)
    plan = gpuopt.plan(model, **flags)
    assert plan["fits"] and plan["memory"]["total_bytes"] > 0
    assert not gpuopt.plan(model, memory_budget="1KiB", **flags)["fits"]
    with pytest.raises(gpuopt.DriverError, match="^gpuopt: error: target must be .*, but is 'abacus'"):
        gpuopt.plan(model, target="abacus")


def on_device(program, group, index):
    """One of a program's own tensors as a caller's memory of the device."""
    info = TensorInfo()
    program._library.call("get_tensor_info", program._handle, group, index, info)
    return Tensor(info.name, info.type, DEVICE, info.device_data, info.size_in_bytes)


def test_device_pointers(model, tmp_path):
    """On the emulated target, where the host cannot touch memory of the device."""
    for skip in emulated.SKIPS:
        if skip.args[0]:
            pytest.skip(skip.kwargs["reason"])
    gpuopt.compile(model, tmp_path / "program", target="emulated", batch_size=BATCH, learning_rate=RATE)
    options = [f"-DNVIDIA_WHEELS={emulated.nvidia_wheels()}", f"-DCMAKE_CXX_COMPILER={emulated.COMPILER}",
               f"-DGPUOPT_EMULATION_LIBRARY={emulated.built_emulation() or ''}", "-DCMAKE_CXX_FLAGS_RELEASE=-O0"]
    with gpuopt.load(tmp_path / "program", cmake_options=options) as program, gpuopt.load(tmp_path / "program") as other:
        assert program.target == "cuda"
        x, labels = batch(0)
        expected = other.evaluate(x=x, labels=labels)  # leaves the batch in its inputs
        given = (Tensor * 2)(*(on_device(other, INPUTS, i) for i in range(2)))
        loss = ctypes.c_double()
        program._call("step", given, 2, loss)
        assert loss.value == expected
        assert program.evaluate(x=x, labels=labels) < expected
        # As a tensor of another library would be given.
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(dlpack, "view", lambda tensor, stream: on_gpu(given[0].data))
            assert program.evaluate(x=torch.zeros(1), labels=labels) == program.evaluate(x=x, labels=labels)
            patch.setattr(dlpack, "view", lambda tensor, stream: on_gpu(given[0].data, device=1))
            with pytest.raises(ValueError, match="'x' lies on GPU 1, but the program runs on GPU 0"):
                program.evaluate(x=torch.zeros(1), labels=labels)
        # States go from one program to the other on the device.
        for index in range(len(program.states)):
            program._call("read_state", on_device(other, STATES, index))
        other._call("weights_changed")
        assert other.step(x=x, labels=labels) == program.step(x=x, labels=labels) < expected
    with pytest.raises(RuntimeError, match="there is no GPU 1: they have numbers from 0, and this program sees 1"):
        gpuopt.load(tmp_path / "program", device=1)


@pytest.mark.parametrize("group, file, limit, cores", [
    ("0::/pod/job", "pod/cpu.max", "150000 100000", 1.5),
    ("0::/pod/job", "pod/job/cpu.max", "max 100000", float("inf")),
    ("3:cpu,cpuacct:/job", "cpu/job/cpu.cfs_quota_us", "50000", 0.5),
    ("3:cpu:/job", "cpu/job/cpu.cfs_quota_us", "-1", float("inf")),
    ("4:memory:/job", "cpu/job/cpu.cfs_quota_us", "50000", float("inf")),
])
def test_a_build_knows_the_limit_of_a_container(tmp_path, group, file, limit, cores):
    path = tmp_path / "root" / file
    path.parent.mkdir(parents=True)
    path.write_text(limit + "\n")
    if path.name == "cpu.cfs_quota_us":
        path.with_name("cpu.cfs_period_us").write_text("100000\n")
    (tmp_path / "groups").write_text(group + "\n")
    assert _cpu_quota(tmp_path / "groups", tmp_path / "root") == cores
