"""Predictions: the program of `gpuopt compile --inference`, and `gpuopt predict`."""

import fcntl
import json
import os
import re
import signal
import subprocess
import time

import numpy as np
import onnxruntime
import pytest
import torch

import gpuopt
from gpuopt.driver import arguments, find_driver
from emulated import SKIPS, EmulatedTrainer
from pictures import photograph, write_shards
from training import LIBRARY_FOR_ONE_STEP, OPTIMIZATION_FOR_ONE_STEP, CommandFailed, Trainer, execute

SAMPLES, BATCH = 44, 8  # the last batch is not full


class Classifier(torch.nn.Module):
    """What differs between training and prediction, and outputs of several kinds."""

    def __init__(self):
        super().__init__()
        self.first, self.norm = torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.BatchNorm2d(8)
        self.drop, self.last = torch.nn.Dropout(0.5), torch.nn.Linear(8, 5)
        self.shift = torch.nn.Embedding(4, 5)  # the indices are constants
        self.norm.running_mean.uniform_(-1, 1)
        self.norm.running_var.uniform_(0.5, 2)

    def forward(self, x):
        maps = torch.relu(self.norm(self.first(x)))
        logits = self.last(self.drop(maps.mean((2, 3)))) + self.shift(torch.tensor([3, 0, 3])).sum(0)
        return logits, maps, logits.argmax(1), torch.softmax(logits, 1), logits.mean()


NAMES = ["logits", "maps/relu", "best", "scores", "average"]
WRITTEN = {"logits": "logits.npy", "maps/relu": "maps_relu.npy", "best": "best.npy"}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """The ONNX file, the data and what PyTorch computes."""
    folder = tmp_path_factory.mktemp("model")
    torch.manual_seed(3)
    module = Classifier().train()
    gpuopt.export(module, torch.zeros(2, 3, 8, 8), folder / "model.onnx", input_names=["x"], output_names=NAMES)
    data = torch.randn(SAMPLES, 3, 8, 8)
    np.save(folder / "x.npy", data.numpy())
    np.save(folder / "y.npy", np.arange(SAMPLES) % 5)
    with torch.no_grad():
        expected = dict(zip(NAMES, (output.numpy() for output in module.eval()(data))))
    return folder, expected


@pytest.fixture(scope="module")
def program(model, tmp_path_factory):
    folder, _ = model
    return compiled(folder / "model.onnx", tmp_path_factory.mktemp("program"), batch_size=BATCH)


def compiled(model, folder, trainer=Trainer, **flags):
    return trainer(model, folder / "forward", optimization=OPTIMIZATION_FOR_ONE_STEP, inference=True, **flags)


def predict(program, folder, out, **flags):
    return execute([program.folder / "build" / "predict", "--data", f"x={folder / 'x.npy'}", "-o", out, *arguments(flags)])


@pytest.fixture(scope="module")
def run_gpuopt(tmp_path_factory):
    """Runs gpuopt, which builds programs in a cache of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield lambda *command: execute([find_driver(), *command])


def check(out, expected, tolerance=1e-5):
    for name, file in WRITTEN.items():
        found = np.load(out / file)
        assert found.dtype == expected[name].dtype and found.shape == expected[name].shape
        np.testing.assert_allclose(found, expected[name], atol=tolerance, err_msg=name)


def test_outputs_are_those_of_pytorch(model, program, tmp_path):
    folder, expected = model
    output = predict(program, folder, tmp_path / "out", outputs="logits,maps/relu,best")
    check(tmp_path / "out", expected)
    assert predict(program, folder, tmp_path / "quiet", outputs="logits", quiet=True) == ""
    assert f"wrote {tmp_path}/out/maps_relu.npy: f32 [44, 8, 8, 8]" in output
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted([".gpuopt-prediction", *WRITTEN.values()])


def test_workers_change_no_bit(model, program, tmp_path):
    folder, _ = model
    files = []
    for workers in (0, 1, 3):
        predict(program, folder, tmp_path / str(workers), outputs="logits", num_workers=workers)
        files.append((tmp_path / str(workers) / "logits.npy").read_bytes())
    assert files[0] == files[1] == files[2]


class Mixing(torch.nn.Module):
    """One output of each sample's own, and one that all samples of a batch share."""

    def __init__(self):
        super().__init__()
        self.last = torch.nn.Linear(6, 3)

    def forward(self, x):
        own = self.last(x)
        return own, torch.softmax(own, 0)


def test_samples_that_depend_on_copies_are_refused(tmp_path):
    module, x = Mixing(), torch.randn(8, 6)
    gpuopt.export(module, torch.zeros(2, 6), tmp_path / "model.onnx", input_names=["x"], output_names=["own", "mixed"])
    program = compiled(tmp_path / "model.onnx", tmp_path, batch_size=4)
    np.save(tmp_path / "x.npy", x.numpy())
    predict(program, tmp_path, tmp_path / "whole")
    np.testing.assert_allclose(np.load(tmp_path / "whole" / "mixed.npy"), torch.cat([module(part)[1] for part in x.split(4)]).detach(), atol=1e-6)
    for samples, rest in ((7, 3), (5, 1), (2, 2)):
        np.save(tmp_path / "x.npy", x[:samples].numpy())
        with pytest.raises(CommandFailed) as error:
            predict(program, tmp_path, tmp_path / "part")
        assert (
            f"output 'mixed' of a sample depends on the other samples of its batch, but of {samples} samples the last batch has {rest} of 4; "
            "give as many samples as fill batches, or compile the model for a batch size that divides their number, "
            "or name outputs of which each sample has its own by --outputs"
        ) in error.value.output
        assert not (tmp_path / "part" / "mixed.npy").exists()
    np.save(tmp_path / "x.npy", x[:7].numpy())
    predict(program, tmp_path, tmp_path / "own", outputs="own")
    np.testing.assert_allclose(np.load(tmp_path / "own" / "own.npy"), module(x[:7])[0].detach(), atol=1e-6)


@pytest.mark.parametrize("samples", [1, BATCH, BATCH + 1])
def test_any_number_of_samples(model, program, tmp_path, samples):
    folder, expected = model
    np.save(tmp_path / "x.npy", np.load(folder / "x.npy")[:samples])
    predict(program, tmp_path, tmp_path / "out", outputs="logits")
    np.testing.assert_allclose(np.load(tmp_path / "out" / "logits.npy"), expected["logits"][:samples], atol=1e-5)


def test_best_classes(model, program, tmp_path):
    folder, expected = model
    predict(program, folder, tmp_path / "out", top_k=3, outputs="logits")
    lines = [json.loads(line) for line in (tmp_path / "out" / "logits.jsonl").read_text().splitlines()]
    values, classes = torch.topk(torch.from_numpy(expected["logits"]), 3)
    assert [line["sample"] for line in lines] == list(range(SAMPLES))
    assert [line["classes"] for line in lines] == classes.tolist()
    np.testing.assert_allclose([line["values"] for line in lines], values, atol=1e-5)


@pytest.mark.parametrize("flags, error", [
    (dict(outputs="logits,logit"), "'--outputs' names 'logit', which is no output of the model; its outputs are "
                                   "'logits', 'maps/relu', 'best', 'scores', 'average'"),
    ({}, "output 'average' has shape [], whose first dimension is not the batch of 8 samples; name the others by --outputs"),
    (dict(outputs="maps/relu,best", top_k=2), "'--top-k' needs an output of shape [samples, classes], but there is none among"),
    (dict(top_k=2), "'--top-k' needs one output, but 'logits' and 'scores' both have classes for each sample; name one by --outputs"),
    (dict(top_k=-1), "'--top-k' must be at least 0, but is -1"),
    (dict(labels="y.npy"), "'--labels' applies only to programs that train, but this one was compiled with --inference"),
    (dict(learning_rate=1), "'--learning-rate' applies only to programs that train"),
    (dict(token_type="uint8", outputs="logits"), "'--token-type' describes files of tokens, but --tokens is not given"),
    (dict(weights="none.safetensors", outputs="logits"), "there is no file or folder 'none.safetensors'"),
])
def test_bad_flags(model, program, tmp_path, flags, error):
    folder, _ = model
    with pytest.raises(CommandFailed, match=re.escape(error)):
        predict(program, folder, tmp_path / "out", **flags)
    assert not list(tmp_path.glob("out/*"))


def test_files_of_others_are_not_written_over(model, program, tmp_path):
    """Neither in a folder without results, nor beside results, nor where the data lie."""
    folder, _ = model
    out = tmp_path / "out"
    out.mkdir()
    (out / "logits.npy").write_text("mine")
    with pytest.raises(CommandFailed, match=f"error: '--output-dir' '{out}' holds 'logits.npy', and no prediction or training has written to it"):
        predict(program, folder, out, outputs="logits")
    (out / ".gpuopt-results").touch()
    with pytest.raises(CommandFailed, match=f"error: '{out}/logits.npy' is none of the results that '.gpuopt-prediction' lists"):
        predict(program, folder, out, outputs="logits")
    predict(program, folder, out, outputs="best")
    (out / "x.npy").write_bytes((folder / "x.npy").read_bytes())
    with pytest.raises(CommandFailed, match=f"error: --data: '{out}/x.npy' lies in the output folder '{out}', whose results are replaced"):
        predict(program, out, out, outputs="maps/relu")
    assert (out / "logits.npy").read_text() == "mine"
    assert (out / ".gpuopt-prediction").read_text().splitlines()[1:] == ["best.npy"] and (out / "best.npy").exists()


def test_an_output_folder_below_a_file(model, program):
    folder, _ = model
    with pytest.raises(CommandFailed, match="cannot create '--output-dir' '.*x.npy/out': Not a directory"):
        predict(program, folder, folder / "x.npy" / "out", outputs="logits")


def test_data_of_another_shape(model, program, tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((4, 8, 8, 3), np.float32))
    with pytest.raises(CommandFailed, match=r"has shape \[4, 8, 8, 3\], but 'x' needs \[samples, 3, 8, 8\]"):
        predict(program, tmp_path, tmp_path / "out", outputs="logits")


def test_values_that_are_not_finite_are_told(model, program, tmp_path):
    folder, _ = model
    x = np.load(folder / "x.npy")
    x[BATCH + 1] = np.nan
    np.save(tmp_path / "x.npy", x)
    output = predict(program, tmp_path, tmp_path / "out", outputs="logits")
    logits = np.load(tmp_path / "out" / "logits.npy")
    count = np.count_nonzero(~np.isfinite(logits))
    assert f"warning: {count} of {logits.size} values of output 'logits' are infinite or NaN, the first in sample {BATCH + 1};" in output


def test_weights_beyond_fp16_are_told(tmp_path):
    layer = torch.nn.Linear(16, 4, bias=False)
    torch.nn.init.constant_(layer.weight, 1e6)
    gpuopt.export(layer, torch.zeros(2, 16), tmp_path / "model.onnx", input_names=["x"], output_names=["y"])
    np.save(tmp_path / "x.npy", np.ones((BATCH, 16), np.float32))
    half = compiled(tmp_path / "model.onnx", tmp_path, batch_size=BATCH, precision="fp16", precision_override="Gemm|MatMul=fp16")
    output = predict(half, tmp_path, tmp_path / "out")
    assert "are infinite or NaN" in output and "too large for fp16, but not for --precision=bf16" in output


def test_an_interrupt_leaves_no_part_of_a_result(program, tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((400_000, 3, 8, 8), np.float32))
    process = subprocess.Popen(
        [program.folder / "build" / "predict", "--data", f"x={tmp_path / 'x.npy'}", "-o", tmp_path / "out", "--outputs=logits"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.readline()  # it has begun
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    error = process.communicate()[1]
    assert process.returncode == 1 and "samples; no results are written" in error, error
    assert not list((tmp_path / "out").iterdir())


def test_a_full_disk_is_an_error(model, program, tmp_path):
    """So is the limit of a file's size, whose signal would end the process without a word."""
    folder, _ = model
    command = [program.folder / "build" / "predict", "--data", f"x={folder / 'x.npy'}", "-o", f"{tmp_path / 'out'}/", "--outputs=maps/relu"]
    run = subprocess.run(["bash", "-c", 'ulimit -f 4; exec "$@"', "limited", *command], capture_output=True, text=True, check=False)
    assert run.returncode == 1 and f"cannot write '{tmp_path / 'out'}/maps_relu.npy" in run.stderr, run.stderr
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize("precision", ["fp16", pytest.param("bf16", marks=pytest.mark.full)])
def test_half_precision(model, program, tmp_path, precision):
    folder, expected = model
    full = program
    program = compiled(folder / "model.onnx", tmp_path, batch_size=BATCH, precision=precision, precision_override=f"^(Conv|Gemm)$={precision}")
    predict(program, folder, tmp_path / "out", outputs="logits,maps/relu")
    for name in ("logits", "maps/relu"):
        np.testing.assert_allclose(np.load(tmp_path / "out" / WRITTEN[name]), expected[name], atol=5e-2)
    assert not np.array_equal(np.load(tmp_path / "out" / "logits.npy"), expected["logits"])
    # Weights are rounded as they are loaded, from a training's file as well, and kept in no other type.
    assert program.plan()["persistent_bytes"] < full.plan()["persistent_bytes"]
    predict(program, folder, tmp_path / "again", outputs="logits", weights=full.folder / "model.safetensors")
    np.testing.assert_array_equal(np.load(tmp_path / "again" / "logits.npy"), np.load(tmp_path / "out" / "logits.npy"))


def test_in_one_go(model, run_gpuopt, tmp_path):
    """By a model, by what a training has left, and by one of its checkpoints."""
    folder, expected = model
    files = ["--target=host", f"--batch-size={BATCH}", "--data", f"x={folder / 'x.npy'}"]
    output = run_gpuopt("predict", folder / "model.onnx", *files, "-o", tmp_path / "first", "--outputs=logits,maps/relu,best")
    check(tmp_path / "first", expected)
    assert (tmp_path / "first" / "predictor" / "constants.safetensors").exists(), "the constants are not among the weights"
    assert "building the predictor" in output and "44 samples in batches of 8" in output
    run_gpuopt("train", folder / "model.onnx", *files, "--labels", folder / "y.npy", "-o", tmp_path / "run",
               "--learning-rate=0.05", "--max-steps=6", "--save-steps=3", "--logits=logits")
    for weights in (tmp_path / "run", tmp_path / "run" / "checkpoint-3"):
        out = tmp_path / "of" / weights.name
        assert "building" not in run_gpuopt("predict", weights, *files, "-o", out, "--outputs=logits")
        run_gpuopt("export", weights, "-o", tmp_path / "exported.onnx")
        session = onnxruntime.InferenceSession(tmp_path / "exported.onnx", providers=["CPUExecutionProvider"])
        [logits] = session.run(["logits"], {"x": np.load(folder / "x.npy")})
        np.testing.assert_allclose(np.load(out / "logits.npy"), logits, atol=1e-5)
        assert abs(logits - expected["logits"]).max() > 0.01, "training has changed the outputs"
    # Predictions in the folder of the run leave all of it as it was.
    before = sorted(path.name for path in (tmp_path / "run").iterdir())
    run_gpuopt("predict", tmp_path / "run", *files, "-o", tmp_path / "run", "--outputs=logits")
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == sorted([*before, ".gpuopt-prediction", "predictor", "logits.npy"])


def test_pictures_are_seen_as_the_run_has_seen_them(model, run_gpuopt, tmp_path):
    """With the names of files and of classes, from a folder with classes, one without, and a tar file."""
    folder, _ = model
    draw = np.random.default_rng(5)
    for name in ("train/cat/0", "train/cat/1", "train/dog/0", "train/dog/1", "new/b", "new/a", "new/c"):
        path = tmp_path / f"{name}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        photograph(draw, 40, 30).save(path)
    write_shards(tmp_path, 1, [{"jpg": (tmp_path / "new" / f"{name}.jpg").read_bytes()} for name in "abc"])
    flags = ["--target=host", "--batch-size=2", "--outputs=logits"]
    validation = "resize(10), center_crop(8), normalize(mean=0.5, std=0.25)"
    run_gpuopt("train", folder / "model.onnx", "--target=host", "--batch-size=2", "--data", f"x={tmp_path}/train", "--labels", tmp_path / "train",
               "--logits=logits", "--transform=random_resized_crop", f"--eval-transform={validation}", "--max-steps=2", "-o", tmp_path / "run",
               "--save-steps=1")
    assert (tmp_path / "run" / "classes.txt").read_text() == "cat\ndog\n"
    lines = {}
    for name, data, more in [("flat", "new", []), ("given", "new", [f"--transform={validation}"]), ("shard", "x-0000.tar:jpg", [])]:
        output = run_gpuopt("predict", tmp_path / "run" / "checkpoint-1", *flags, f"--data=x={tmp_path}/{data}", "--top-k=9", *more, "-o", tmp_path / name)
        assert (f"pictures are seen as in the run: --transform '{validation}'" in output) == (not more)
        assert "'--top-k' is 9, but 'logits' has 5 classes: all of them are written" in output
        lines[name] = [json.loads(line) for line in (tmp_path / name / "logits.jsonl").read_text().splitlines()]
    assert [line["file"] for line in lines["flat"]] == ["a.jpg", "b.jpg", "c.jpg"]
    assert lines["flat"] == lines["given"]
    assert [line["values"] for line in lines["flat"]] == [line["values"] for line in lines["shard"]]
    # What a run without a transform for validations has drawn is left out.
    description = json.loads((tmp_path / "run" / "run.json").read_text())
    drawn = "rand_augment(2, 9), resize((8, 8)), random_horizontal_flip(p=0.1), normalize(mean=[0.5, 0.5, 0.5], std=0.5)"
    description["command"] = ["t", "--transform", drawn]
    (tmp_path / "run" / "run.json").write_text(json.dumps(description))
    output = run_gpuopt("predict", tmp_path / "run", *flags, f"--data=x={tmp_path}/new", "-o", tmp_path / "drawn")
    assert "gpuopt: pictures are seen as in the run: --transform 'resize((8, 8)), normalize(mean=[0.5, 0.5, 0.5], std=0.5)'\n" in output
    assert [line["file"] for line in lines["shard"]] == [f"{'long-' * 30}{i:04}.jpg" for i in range(3)]
    for line in lines["flat"]:
        assert line["names"] == [{0: "cat", 1: "dog"}.get(number) for number in line["classes"]]
    # Beside arrays, the files have a list of their own.
    output = run_gpuopt("predict", tmp_path / "run", *flags, f"--data=x={tmp_path}/train", "-o", tmp_path / "arrays")
    samples = [json.loads(line) for line in (tmp_path / "arrays" / "samples.jsonl").read_text().splitlines()]
    assert samples == [{"sample": i, "file": name} for i, name in enumerate(["cat/0.jpg", "cat/1.jpg", "dog/0.jpg", "dog/1.jpg"])]
    assert f"wrote {tmp_path}/arrays/samples.jsonl: the files of the samples" in output
    # The next prediction replaces all results, but a list that is no prediction's stays.
    run_gpuopt("predict", tmp_path / "run", *flags, f"--data=x={folder / 'x.npy'}", "-o", tmp_path / "arrays", "--top-k=1")
    assert sorted(path.name for path in (tmp_path / "arrays").iterdir()) == [".gpuopt-prediction", "logits.jsonl", "predictor"]
    output = run_gpuopt("predict", tmp_path / "run", *flags, f"--data=x={folder / 'x.npy'}", "-o", tmp_path / "arrays")
    assert sorted(path.name for path in (tmp_path / "arrays").iterdir()) == [".gpuopt-prediction", "logits.npy", "predictor"]
    assert "samples.jsonl" not in output
    (tmp_path / "arrays" / "samples.jsonl").write_text('{"sample": 0, "text": "of the user"}\n')
    run_gpuopt("predict", tmp_path / "run", *flags, f"--data=x={folder / 'x.npy'}", "-o", tmp_path / "arrays")
    assert (tmp_path / "arrays" / "samples.jsonl").exists(), "no prediction has written it"
    # A run on labels without names forgets those of the one before.
    for data, labels, seen in (tmp_path / "train", tmp_path / "train", ["--transform=resize((8, 8))"]), (folder / "x.npy", folder / "y.npy", []):
        run_gpuopt("train", folder / "model.onnx", "--target=host", "--batch-size=2", "--data", f"x={data}", "--labels", labels, "--logits=logits",
                   *seen, "--max-steps=1", "-o", tmp_path / "again", "--overwrite-output-dir")
        assert (tmp_path / "again" / "classes.txt").exists() == (data == labels)


@pytest.mark.usefixtures("run_gpuopt")
def test_from_python(model, tmp_path):
    folder, expected = model
    data = {"x": torch.from_numpy(np.load(folder / "x.npy"))}
    found = gpuopt.predict(folder / "model.onnx", tmp_path / "out", target="host", batch_size=BATCH, data=data, outputs="logits")
    np.testing.assert_allclose(np.load(tmp_path / "out" / "logits.npy"), expected["logits"], atol=1e-5)
    assert list(found) == ["logits"]
    np.testing.assert_array_equal(found["logits"], np.load(tmp_path / "out" / "logits.npy"))
    torch.from_numpy(found["logits"]).zero_()  # a copy, which changes no file
    np.testing.assert_allclose(np.load(tmp_path / "out" / "logits.npy"), expected["logits"], atol=1e-5)
    best = gpuopt.predict(folder / "model.onnx", tmp_path / "best", target="host", batch_size=BATCH, data=data, outputs="logits", top_k=1)
    assert [line["classes"] for line in best["logits"]] == expected["logits"].argmax(1)[:, None].tolist()
    with pytest.raises(gpuopt.DriverError, match="there is no data"):
        gpuopt.predict(folder / "model.onnx", tmp_path / "out", target="host")


def test_tokens(tmp_path):
    """The sources of training feed predictions too."""
    torch.manual_seed(4)
    module = torch.nn.Sequential(torch.nn.Embedding(64, 8), torch.nn.Linear(8, 64)).eval()
    gpuopt.export(module, torch.zeros(2, 16, dtype=torch.int64), tmp_path / "model.onnx", input_names=["ids"],
                  output_names=["scores"])
    tokens = np.random.default_rng(1).integers(0, 64, 5 * 16 + 3).astype(np.uint8)
    tokens.tofile(tmp_path / "tokens.bin")
    program = compiled(tmp_path / "model.onnx", tmp_path, batch_size=2)
    execute([program.folder / "build" / "predict", "--tokens", tmp_path / "tokens.bin", "--token-type=uint8", "-o", tmp_path / "out"])
    with torch.no_grad():
        expected = module(torch.from_numpy(tokens[:80].astype(np.int64).reshape(5, 16))).numpy()
    np.testing.assert_allclose(np.load(tmp_path / "out" / "scores.npy"), expected, atol=1e-5)


class Normalised(torch.nn.Module):
    """Batch norms behind what they can be a part of, and behind what they cannot."""

    def __init__(self):
        super().__init__()
        conv, norm = torch.nn.Conv2d, torch.nn.BatchNorm2d
        self.stem = torch.nn.Sequential(conv(3, 32, 3, padding=1, bias=False), norm(32), torch.nn.ReLU())
        self.wide = torch.nn.Sequential(conv(32, 32, 3, groups=32), norm(32, affine=False), conv(32, 64, 1), norm(64))
        self.head = torch.nn.Sequential(torch.nn.Linear(64, 160), torch.nn.BatchNorm1d(160), torch.nn.ReLU(), torch.nn.Linear(160, 5))
        self.alone = norm(3)

    def forward(self, x):
        x = self.wide(self.stem(self.alone(x)))
        return self.head(torch.relu(x).mean((2, 3)))


def test_running_statistics_are_part_of_weights(tmp_path):
    """The forward has one batch norm left, and follows weights that are loaded later."""
    torch.manual_seed(0)
    module = Normalised()
    draws = {name: torch.randn_like(value) * 0.2 + (1 if "var" in name else 0)
             for name, value in module.state_dict().items() if value.dim() > 0}
    gpuopt.export(module, torch.zeros(2, 3, 9, 9), tmp_path / "model.onnx", input_names=["x"], output_names=["y"])
    gpuopt.compile(tmp_path / "model.onnx", tmp_path / "forward", target="host", inference=True, batch_size=4)
    program = gpuopt.load(tmp_path / "forward", cmake_options=LIBRARY_FOR_ONE_STEP)
    step = (tmp_path / "forward" / "step.cu").read_text()
    assert step.count("rsqrt(") == 5  # of which four are in kernels that prepare weights
    tables = (tmp_path / "forward" / "tables.h").read_text()
    # The biases alone are beside the weights, which are written in their own place.
    assert tables.count("StateKind::Folded") == 4 and tables.count("true}") == 4
    x = torch.randn(4, 3, 9, 9)
    for state in (module.state_dict(), draws):
        module.load_state_dict(state, strict=False)
        program.load_state_dict({name: value.abs().numpy() if "var" in name else value.numpy()
                                 for name, value in state.items() if value.dim() > 0})
        with torch.no_grad():
            for buffer in (b for name, b in module.named_buffers() if "var" in name):
                buffer.abs_()
            expected = module.eval()(x).numpy()
        found = program.forward({"x": x.numpy()})["y"]
        np.testing.assert_allclose(found, expected, atol=1e-5 * max(1, np.abs(expected).max()))
    for name, value in program.state_dict().items():  # callers see the weights as they are
        if name in draws and "var" not in name:
            np.testing.assert_array_equal(value, draws[name].numpy())
    # They see those of a file as well, even after it is deleted; and the forward follows when a single state is written.
    program.save(tmp_path / "draws.safetensors")
    other = gpuopt.load(tmp_path / "forward", weights=tmp_path / "draws.safetensors")
    (tmp_path / "draws.safetensors").unlink()
    for _ in range(2):
        np.testing.assert_array_equal(other.forward({"x": x.numpy()})["y"], found)
        for name, value in other.state_dict().items():
            np.testing.assert_array_equal(value, program.state_dict()[name])
    bias = other.state_dict()["head.3.bias"]
    other.load_state_dict({"head.3.bias": bias + 1}, strict=False)
    np.testing.assert_allclose(other.forward({"x": x.numpy()})["y"], found + 1, atol=1e-5)
    # A file that is written to is noticed.
    program.save(tmp_path / "draws.safetensors")
    other = gpuopt.load(tmp_path / "forward", weights=tmp_path / "draws.safetensors")
    other.forward({"x": x.numpy()})
    content = (tmp_path / "draws.safetensors").read_bytes()
    (tmp_path / "draws.safetensors").write_bytes(content)
    with pytest.raises(RuntimeError, match="draws.safetensors' has been written to since its weights were loaded, so they cannot "
                       "be read from it again; load them again"):
        other.state_dict()


@SKIPS[0]
@SKIPS[1]
@SKIPS[2]
def test_on_emulated_cuda(model, tmp_path):
    folder, expected = model
    program = EmulatedTrainer(folder / "model.onnx", tmp_path / "forward", batch_size=BATCH, inference=True)
    predict(program, folder, tmp_path / "out", outputs="logits,maps/relu,best")
    check(tmp_path / "out", expected)


def test_one_prediction_at_a_time(model, program, tmp_path):
    """Neither the program nor the command writes to a folder that another one holds."""
    folder, _ = model
    (tmp_path / "out").mkdir()
    held = os.open(tmp_path / "out", os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    commands = (
        [program.folder / "build" / "predict", f"--data=x={folder / 'x.npy'}", "-o", tmp_path / "out", "--outputs=logits"],
        [find_driver(), "predict", folder / "model.onnx", f"--data=x={folder / 'x.npy'}", "-o", tmp_path / "out", "--outputs=logits"],
    )
    for command in commands:
        with pytest.raises(CommandFailed) as error:
            execute(command)
        assert f"error: another prediction writes to '{tmp_path / 'out'}'; choose another folder" in error.value.output
        assert not list((tmp_path / "out").iterdir())
    os.close(held)
    execute(commands[0])
