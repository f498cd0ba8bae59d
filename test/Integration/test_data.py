"""`gpuopt train` learns the same from the same samples, in whatever files they are."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import numpy as np
import PIL.Image
import PIL.ImageEnhance
import PIL.ImageOps
import pytest
import torch

import gpuopt
from gpuopt import safetensors

from pictures import build_reader, photograph, write_shards
from training import CommandFailed, execute

CLASSES, SAMPLES, SIDE = 3, 24, 8


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    torch.manual_seed(3)
    path = tmp_path_factory.mktemp("model") / "model.onnx"
    layers = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * SIDE * SIDE, CLASSES))
    gpuopt.export(layers.train(), torch.zeros(2, 3, SIDE, SIDE), path, input_names=["x"])
    return path


@pytest.fixture(scope="module")
def pictures():
    """Samples as bytes, and their labels: sorted, as the files of folders are."""
    draw = np.random.default_rng(3)
    return (draw.integers(0, 256, (SAMPLES, 3, SIDE, SIDE), dtype=np.uint8),
            np.sort(np.arange(SAMPLES) % CLASSES))


def train(model: Path, folder: Path, name: str, x: str, labels: str, **flags) -> dict[str, np.ndarray]:
    """The weights after some steps; programs come from the cache, so that one is built for all tests."""
    flags = dict(batch_size=4, max_steps=7, learning_rate=0.01, num_threads=1, target="host") | flags
    gpuopt.train(model, folder / name, data={"x": x}, labels=labels, **flags)
    return safetensors.read(folder / name / "model.safetensors")


def assert_same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]):
    for name, array in one.items():
        np.testing.assert_array_equal(array, other[name], err_msg=name)


@pytest.fixture(scope="module")
def expected(model, pictures, tmp_path_factory):
    """The weights that come of .npy files of numbers from 0 to 1."""
    folder = tmp_path_factory.mktemp("npy")
    np.save(folder / "x.npy", pictures[0].astype(np.float32) / np.float32(255))
    np.save(folder / "labels.npy", pictures[1])
    return train(model, folder, "out", folder / "x.npy", folder / "labels.npy")


def refusal(*args, **flags) -> str:
    """What a training that fails says."""
    with pytest.raises(gpuopt.DriverError) as error:
        train(*args, **flags)
    return str(error.value)


def test_parquet_without_arrow(model, tmp_path):
    """CMake says what to install."""
    gpuopt.compile(model, tmp_path / "program", target="host", batch_size=4)
    with pytest.raises(CommandFailed) as error:
        execute(["cmake", "-S", tmp_path / "program", "-B", tmp_path / "build", "-DGPUOPT_PARQUET=ON", "-DPYARROW=/missing",
                 "-DCMAKE_DISABLE_FIND_PACKAGE_Parquet=ON"])
    assert "Parquet files are read through Apache Arrow, which is not found: pip install pyarrow, or set PYARROW to its folder" in (
        " ".join(error.value.output.split()))


def test_parquet(model, pictures, expected, tmp_path, monkeypatch):
    """Lists in lists and numbers, in several files and row groups, as Hugging Face's datasets write them."""
    arrow = pytest.importorskip("pyarrow", reason="pyarrow, the wheel of Apache Arrow, is not installed")
    import pyarrow.parquet

    def write(name, **columns):
        pyarrow.parquet.write_table(arrow.table(columns), tmp_path / name, row_group_size=5)

    monkeypatch.setenv("PYARROW", arrow.__path__[0])
    x = pictures[0].astype(np.float32) / np.float32(255)
    lists = arrow.list_(arrow.list_(arrow.list_(arrow.float32(), SIDE)))
    for part, rows in enumerate((slice(0, 11), slice(11, None))):
        write(f"train-{part}.parquet", labels=arrow.array(pictures[1][rows].astype(np.int32)),
              x=arrow.array(x[rows].tolist(), lists), text=["a"] * len(x[rows]), flat=x[rows].reshape(-1, 192).tolist())
    files = f"{tmp_path}/train-{{0..1}}.parquet"
    assert_same(train(model, tmp_path, "out", f"{files}:x", f"{files}:labels"), expected)
    for part, values in enumerate((np.float32, np.float64)):
        write(f"mixed-{part}.parquet", x=np.ones(4, values))
    write("deep-0.parquet", x=[1.0] * 4)
    write("deep-1.parquet", x=[[1.0]] * 4)
    write("bad.parquet", ragged=[[1.0]] * 7 + [[1.0, 2.0]], absent=[[1.0]] * 6 + [[None]] * 2)
    for column, why in {
        f"{files}:y": "train-0.parquet' has no column 'y'; it holds 'labels', 'x', 'text', 'flat'; name one as",
        f"{files}:text": "the column of '" + f"{tmp_path}/train-0.parquet" + "' holds string, but only numbers and lists of numbers are read",
        f"{files}:flat": "has shape [24, 192], but 'x' needs [samples, 3, 8, 8]; save array.reshape(-1, 3, 8, 8)",
        f"{tmp_path}/bad.parquet:ragged": "bad.parquet': row 7 has a list of 2 elements, but those before it have 1; samples have one shape: pad or cut them before",
        f"{tmp_path}/mixed-{{0..1}}.parquet:x": "the column of '" + f"{tmp_path}/mixed-1.parquet" + "' holds f64, but that of the files before it f32",
        f"{tmp_path}/deep-{{0..1}}.parquet:x": "deep-1.parquet' has lists of another depth than the files before it",
        f"{tmp_path}/bad.parquet:absent": "bad.parquet': row 6 lacks a value, which is null",
    }.items():
        assert why in refusal(model, tmp_path, "bad", column, f"{files}:labels")


def test_npz_and_safetensors(model, pictures, expected, tmp_path):
    x = pictures[0].astype(np.float32) / np.float32(255)
    np.savez(tmp_path / "stored.npz", other=np.zeros(3), x=x, labels=pictures[1])
    np.savez_compressed(tmp_path / "packed.npz", x=x, labels=pictures[1].astype(np.int16))
    safetensors.write(tmp_path / "data.safetensors", {"x": x, "labels": pictures[1]})
    for file in ("stored.npz", "packed.npz", "data.safetensors"):
        found = train(model, tmp_path, f"out-{file}", f"{tmp_path / file}:x", f"{tmp_path / file}:labels")
        assert_same(found, expected)
    error = refusal(model, tmp_path, "bad", f"{tmp_path}/stored.npz:y", f"{tmp_path}/stored.npz:labels")
    assert "has no array 'y'; it holds 'labels.npy', 'other.npy', 'x.npy'" in error


def png(picture: np.ndarray) -> bytes:
    """The file of a picture whose first dimension is the colours."""
    file = io.BytesIO()
    PIL.Image.fromarray(np.ascontiguousarray(picture.transpose(1, 2, 0))).save(file, "PNG")
    return file.getvalue()


def write_folder(folder: Path, pictures: np.ndarray, labels: np.ndarray):
    for i, (picture, label) in enumerate(zip(pictures, labels)):
        path = folder / f"class-{label}" / f"{i:04}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(png(picture))


def test_folders_and_shards(model, pictures, expected, tmp_path):
    write_folder(tmp_path / "classes", *pictures)
    assert_same(train(model, tmp_path, "out-folder", f"{tmp_path}/classes/", f"{tmp_path}/classes/"), expected)
    members = []
    for picture, label in zip(*pictures):
        array = io.BytesIO()
        np.save(array, picture.astype(np.float32) / np.float32(255))
        members.append({"png": png(picture), "npy": array.getvalue(), "cls": str(label).encode(),
                        "json": json.dumps({"name": "x", "class": {"number": int(label)}}).encode()})
    write_shards(tmp_path, 3, members)
    shards = f"{tmp_path}/x-{{0000..0002}}.tar"
    for i, (x, label) in enumerate([("jpg;png", "cls"), ("npy", "json:class.number")]):
        assert_same(train(model, tmp_path, f"out-{i}", f"{shards}:{x}", f"{shards}:{label}"), expected)


def test_bad_records(model, pictures, tmp_path, capfd):
    write_folder(tmp_path / "classes", *pictures)
    bad = tmp_path / "classes" / "class-0" / "0003.png"
    bad.write_bytes(bad.read_bytes()[:60])
    args = (model, tmp_path, "out", f"{tmp_path}/classes", f"{tmp_path}/classes")
    assert f"'{bad}' is a damaged PNG: its data ends too early" in refusal(*args, max_steps=12)
    weights = [train(model, tmp_path, f"out-{workers}", *args[3:], max_steps=12, num_workers=workers, on_bad_record="skip")
               for workers in (0, 3)]
    assert_same(*weights)
    assert f"skipped bad record 1 of at most 100: '{bad}'" in capfd.readouterr().err
    assert "more records are bad than --max-bad-records allows, 0" in refusal(
        *args[:2], "other", *args[3:], max_steps=12, on_bad_record="skip", max_bad_records=0)


def test_transforms_decide_what_is_learnt(model, pictures, tmp_path):
    large = pictures[0].repeat(3, axis=2).repeat(2, axis=3)
    write_folder(tmp_path / "classes", large, pictures[1])
    files = (f"{tmp_path}/classes", f"{tmp_path}/classes")
    assert "is 16 x 24, but the input is 8 x 8; --transform 'resize((8, 8))' or 'resize(8),center_crop(8)'" in refusal(model, tmp_path, "none", *files)
    assert "error: transform: there is no transform 'blur'" in refusal(
        model, tmp_path, "blur", *files, transform="blur")
    random = "random_resized_crop, random_horizontal_flip, normalize(mean=0.5, std=0.5)"
    flags = dict(eval_data={"x": files[0]}, eval_labels=files[1], eval_transform="resize, normalize(mean=0.5, std=0.5)")
    one = train(model, tmp_path, "one", *files, transform=random, num_workers=1, **flags)
    assert_same(one, train(model, tmp_path, "two", *files, transform=random, num_workers=5, **flags))
    other = train(model, tmp_path, "other", *files, transform=random, seed=43, **flags)
    assert any((one[name] != other[name]).any() for name in one)


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    return build_reader(tmp_path_factory.mktemp("reader"), execute)


def resized(picture: PIL.Image.Image, shorter: int) -> PIL.Image.Image:
    """torchvision's resize: the shorter side has this length."""
    width, height = picture.size
    size = (shorter, int(shorter * height / width)) if width <= height else (int(shorter * width / height), shorter)
    return picture.resize(size, PIL.Image.Resampling.BILINEAR)


def center_crop(picture: PIL.Image.Image, side: int) -> PIL.Image.Image:
    left, top = (int(round((size - side) / 2)) for size in picture.size)
    return picture.crop((left, top, left + side, top + side))


@pytest.mark.parametrize("kind", ["RGB", "L", "CMYK", "progressive", "P", "png-L", "png-RGBA"])
def test_pixels_are_those_of_pil(reader, tmp_path, kind):
    """Decoded, resized and cropped as torchvision does with PIL, bit for bit."""
    draw = np.random.default_rng(5)
    sizes = [(500, 375), (375, 500), (640, 427), (96, 96), (70, 300), (1024, 40), (64, 64), (333, 64)]
    (tmp_path / "x" / "0").mkdir(parents=True)
    expected = []
    for i, (width, height) in enumerate(sizes):
        picture = photograph(draw, width, height)
        is_png = kind == "P" or kind.startswith("png")
        path = tmp_path / "x" / "0" / f"{i}.{'png' if is_png else 'jpeg'}"
        if kind != "progressive":
            picture = picture.convert(kind.split("-")[-1])
        picture.save(path, **({} if is_png else dict(quality=90, progressive=kind == "progressive")))
        pil = center_crop(resized(PIL.Image.open(path).convert("RGB"), 72), 64)
        expected.append(np.asarray(pil).transpose(2, 0, 1))
    execute([reader, len(sizes), 1, 2, 3, 64, 64, tmp_path / "out", f"--data={tmp_path}/x", f"--labels={tmp_path}/x",
             "--transform=resize(72), center_crop(64)"])
    found = np.fromfile(tmp_path / "out", np.float32, len(sizes) * 3 * 64 * 64).reshape(len(sizes), 3, 64, 64)
    np.testing.assert_array_equal(found, np.array(expected, np.float32) / np.float32(255))


def test_names_the_package_that_is_missing(pictures, tmp_path):
    reader = build_reader(tmp_path, execute, libraries=())
    x = pictures[0]
    (tmp_path / "png").mkdir()
    write_folder(tmp_path / "png", x, pictures[1])
    np.savez_compressed(tmp_path / "x.npz", x=x)
    (tmp_path / "jpeg" / "0").mkdir(parents=True)
    PIL.Image.fromarray(x[0].transpose(1, 2, 0).copy()).save(tmp_path / "jpeg" / "0" / "0.jpg")
    for data, message in {
        "png": "the data has PNG pictures, and libpng was not there when this program was built: "
               "apt install libpng-dev, and build it again",
        "jpeg": "the data has JPEG pictures, and libjpeg-turbo was not there when this program was built: "
                "apt install libjpeg62-turbo-dev, and build it again",
        "x.npz:x": "'x.npy' is compressed, and zlib was not there when this program was built: apt install zlib1g-dev, "
                   "or save it by numpy.savez, which does not compress",
    }.items():
        with pytest.raises(CommandFailed) as error:
            labels = tmp_path / ("jpeg" if data == "jpeg" else "png")
            execute([reader, 1, 1, 1, 3, SIDE, SIDE, "-", f"--data={tmp_path}/{data}", f"--labels={labels}"])
        assert message in error.value.output


@pytest.mark.parametrize("sanitizer", ["thread", pytest.param("address,undefined", marks=pytest.mark.full)])
def test_sanitizers_find_nothing_in_the_loader(tmp_path, sanitizer):
    """Workers that decode, that replace a damaged picture and that come and go; and all of them make the same batches."""
    draw = np.random.default_rng(8)
    for i in range(32):
        path = tmp_path / "x" / f"class-{i % 4}" / f"{i:02}.{'png' if i % 3 else 'jpg'}"
        path.parent.mkdir(parents=True, exist_ok=True)
        photograph(draw, 70 + i, 90 - i).save(path)
    path.write_bytes(path.read_bytes()[:300])
    # Without OpenMP, whose library no sanitizer looks into; the loader's threads are the program's own.
    reader = build_reader(tmp_path, execute, flags=["-O1", "-g1", f"-fsanitize={sanitizer}", "-fno-sanitize-recover=all"])
    batches = []
    for workers, first in ((0, 0), (1, 0), (2, 0), (7, 0), (-1, 0), (3, 13)):
        output = execute([reader, 4, 60 - first, workers, 3, 24, 24, tmp_path / "out", f"--data={tmp_path}/x", f"--labels={tmp_path}/x",
                          "--shuffle", "--skip-bad", f"--first={first}",
                          "--transform=random_resized_crop, rand_augment, random_horizontal_flip, normalize(mean=0.5, std=0.5)"])
        assert "skipped bad record 1 of at most 100" in output, output
        batches.append((tmp_path / "out").read_bytes())
    assert batches[:5] == 5 * batches[:1]
    assert batches[0].endswith(batches[5]) and len(batches[5]) == 47 * 4 * (3 * 24 * 24 * 4 + 8)


def test_memory_stays_as_it_is(reader, tmp_path):
    """The resident memory of many batches; benchmarks/data.py reads a million."""
    np.save(tmp_path / "x.npy", np.zeros((512, 1, 4, 4), np.float32))
    np.save(tmp_path / "labels.npy", np.zeros(512, np.int64))
    output = execute([reader, 4, 100_000, 2, 1, 4, 4, "-", f"--data={tmp_path}/x.npy", f"--labels={tmp_path}/labels.npy", "--shuffle"])
    first, last = map(float, re.search(r"([\d.]+) MiB resident behind 1 % of the batches, ([\d.]+) at the end", output).groups())
    assert last < 1.01 * first + 0.1, output


@pytest.mark.alone
def test_tokens_are_read_fast(reader, tmp_path):
    """Copied and checked by vectors: 10 GB/s on a quiet core of an AMD EPYC (Zen 4), and 2 where each is compared by itself."""
    np.random.default_rng(1).integers(0, 50257, 4 << 20, dtype=np.uint16).tofile(tmp_path / "tokens.bin")
    speeds = []
    for _ in range(5):
        output = execute([reader, 64, 4000, 0, 1, 1, 1024, "-", f"--tokens={tmp_path}/tokens.bin", "--prepare-only"])
        seconds, size = re.search(r"([\d.]+) seconds for (\d+) bytes", output).groups()
        speeds.append(int(size) / float(seconds) / 1e9)
    assert max(speeds) > 3, speeds


class Draws:
    """Draws of draws.h, which are a function of (seed, epoch, sample)."""

    def __init__(self, seed: int, epoch: int, sample: int):
        self.state = 0
        for number in (seed, epoch, sample, 0):
            self.state = self.mixed(self.state ^ number)

    @staticmethod
    def mixed(x: int) -> int:
        x = (x + 0x9E3779B97F4A7C15) % 2**64
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB % 2**64
        return x ^ (x >> 31)

    def uniform(self) -> float:
        self.state = self.mixed(self.state)
        return (self.state >> 11) * 2.0**-53

    def below(self, n: int) -> int:
        return int(self.uniform() * n)


AUGMENTATIONS = ["Identity", "ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate", "Brightness", "Color", "Contrast",
                 "Sharpness", "Posterize", "Solarize", "AutoContrast", "Equalize"]


def augmented(picture: PIL.Image.Image, name: str, magnitude: int, bins: int, draws: Draws) -> PIL.Image.Image:
    """torchvision's RandAugment of a picture of PIL's: its table of magnitudes, and what its functions call."""
    width, height = picture.size
    values = {"ShearX": (0, 0.3), "ShearY": (0, 0.3), "TranslateX": (0, 150 / 331 * width), "TranslateY": (0, 150 / 331 * height),
              "Rotate": (0, 30), "Brightness": (0, 0.9), "Color": (0, 0.9), "Contrast": (0, 0.9), "Sharpness": (0, 0.9),
              "Solarize": (255, 0)}
    value = np.linspace(*values[name], bins)[magnitude] if name in values else 0.0
    if name in values and name != "Solarize" and draws.below(2):
        value = -value
    affine = lambda *matrix: picture.transform(picture.size, PIL.Image.Transform.AFFINE, matrix, PIL.Image.Resampling.NEAREST)
    enhancers = {"Brightness": PIL.ImageEnhance.Brightness, "Color": PIL.ImageEnhance.Color,
                 "Contrast": PIL.ImageEnhance.Contrast, "Sharpness": PIL.ImageEnhance.Sharpness}
    if name in enhancers:
        return enhancers[name](picture).enhance(1 + value)
    return {
        "Identity": lambda: picture,
        "ShearX": lambda: affine(1, value, 0, 0, 1, 0), "ShearY": lambda: affine(1, 0, 0, value, 1, 0),
        "TranslateX": lambda: affine(1, 0, -int(value), 0, 1, 0), "TranslateY": lambda: affine(1, 0, 0, 0, 1, -int(value)),
        "Rotate": lambda: picture.rotate(value),
        "Posterize": lambda: PIL.ImageOps.posterize(picture, 8 - round(magnitude / ((bins - 1) / 4))),
        "Solarize": lambda: PIL.ImageOps.solarize(picture, value),
        "AutoContrast": lambda: PIL.ImageOps.autocontrast(picture), "Equalize": lambda: PIL.ImageOps.equalize(picture),
    }[name]()


@pytest.mark.parametrize("magnitude", [10, 23])
def test_augmentations_are_those_of_pil(reader, tmp_path, magnitude):
    """Bit for bit, for as many pictures as draw every operation: after a flip, and before a crop, which needs all pixels."""
    draw, count, size, seen = np.random.default_rng(6), 40, 48, set()
    (tmp_path / "x" / "0").mkdir(parents=True)
    expected = []
    for i in range(count):
        path = tmp_path / "x" / "0" / f"{i:02}.png"
        picture = photograph(draw, 64, 56)
        picture.save(path)
        draws = Draws(42, 0, i)
        if draws.uniform() < 0.5:
            picture = picture.transpose(PIL.Image.Transpose.FLIP_LEFT_RIGHT)
        for _ in range(2):
            name = AUGMENTATIONS[draws.below(14)]
            seen.add(name)
            picture = augmented(picture, name, magnitude, 31, draws)
        expected.append(np.asarray(center_crop(picture, size)).transpose(2, 0, 1))
    assert seen == set(AUGMENTATIONS)
    execute([reader, count, 1, 2, 3, size, size, tmp_path / "out", f"--data={tmp_path}/x", f"--labels={tmp_path}/x",
             f"--transform=random_horizontal_flip, rand_augment(magnitude={magnitude}), center_crop({size})"])
    found = np.fromfile(tmp_path / "out", np.float32, count * 3 * size * size).reshape(count, 3, size, size)
    np.testing.assert_array_equal(found, np.array(expected, np.float32) / np.float32(255))
