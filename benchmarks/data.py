#!/usr/bin/env python3
"""Reads training data by gpuopt's loader and by PyTorch's, alternately, and
prints samples per second side by side; then how fast the loader's workers read
arrays and tokens, and how its memory grows over a million batches.

usage: data.py [WHAT...] [--count 10000] [--batches 80] [--rounds 5] [--workers 2] [--side 224]
               [--million 1000000] [--work FOLDER] [--build-only | --built]

WHAT is any of `pictures`, `arrays` and `memory` (default: all):

pictures  JPEG files in folders, of mixed sizes about those of ImageNet: a random
          resized crop, a flip, and normalised floats, in batches of 64. PyTorch's
          side is a DataLoader with torchvision's ImageFolder and transforms v2 on
          PIL's pictures, or on tensors, whichever is faster ("tensors" is
          printed as a side of its own), or PIL's calls alone where there is
          no torchvision. A turn is `--batches` batches.
arrays    what a worker does for a batch, on one thread: an .npy file of floats and
          a file of tokens that lie in the page cache, in random order.
memory    the resident memory behind 1 % of `--million` batches and behind all.

--build-only makes the files in the folder that --work names, and measures
nothing; --built measures what lies there.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import statistics
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "python"), str(HERE.parent / "test" / "Integration")]

import numpy as np
import pictures
from training import execute

BATCH = 64
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
WHAT = ("pictures", "arrays", "memory")


def build(options: argparse.Namespace, work: pathlib.Path) -> None:
    work.mkdir(parents=True, exist_ok=True)
    pictures.build_reader(work, execute)
    if "pictures" in options.what and not (work / "classes").exists():
        pictures.write_classes(work / "unfinished", options.count, 100)
        (work / "unfinished").rename(work / "classes")
    if "arrays" in options.what and not (work / "x.npy").exists():
        draw = np.random.default_rng(1)
        draw.integers(0, 50257, 256 << 20, dtype=np.uint16).tofile(work / "tokens.bin")
        np.save(work / "x.npy", draw.standard_normal((1024, 3, 224, 224), np.float32))
        np.save(work / "classes.npy", draw.integers(0, 1000, 1024))
    if "memory" in options.what:
        np.save(work / "small.npy", np.zeros((4096, 1, 4, 4), np.float32))
        np.save(work / "labels.npy", np.zeros(4096, np.int64))


def read(work: pathlib.Path, *arguments) -> str:
    return execute([work / "read_batches", *arguments])


# ---- Pictures --------------------------------------------------------------------------------------------------------


class Gpuopt:
    name = "gpuopt"

    def __init__(self, options: argparse.Namespace, work: pathlib.Path):
        normalize = f"normalize(mean={list(MEAN)}, std={list(DEVIATION)})"
        self.work, self.arguments = work, [
            BATCH, options.batches, options.workers, 3, options.side, options.side, "-", f"--data={work}/classes",
            f"--labels={work}/classes", "--shuffle", f"--transform=random_resized_crop, random_horizontal_flip, {normalize}"]

    def samples_per_second(self) -> float:
        seconds, samples = re.search(r"([\d.]+) seconds for (\d+) samples", read(self.work, *self.arguments)).groups()
        return int(samples) / float(seconds)


def torchvision_transforms(side: int, on_tensors: bool):
    """None without torchvision."""
    import torch

    try:
        # The wheel for GPUs lacks its operators beside a PyTorch for the CPU; transforms call none of them.
        library = torch.library.Library("torchvision", "FRAGMENT")
        for name in ("nms", "qnms"):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    except RuntimeError:
        pass
    try:
        from torchvision.transforms import v2
    except ImportError:
        return None
    crop = [v2.RandomResizedCrop(side, antialias=True), v2.RandomHorizontalFlip()]
    order = [v2.PILToTensor(), *crop] if on_tensors else [*crop, v2.PILToTensor()]
    return v2.Compose([*order, v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, DEVIATION)])


class PilTransforms:
    """What torchvision's transforms do, by PIL and NumPy alone."""

    def __init__(self, side: int):
        self.side, self.draw = side, np.random.default_rng()

    def __call__(self, picture):
        import PIL.Image
        import torch

        width, height = picture.size
        area, ratio = width * height * self.draw.uniform(0.08, 1), np.exp(self.draw.uniform(np.log(3 / 4), np.log(4 / 3)))
        w, h = min(width, round((area * ratio) ** 0.5)), min(height, round((area / ratio) ** 0.5))
        left, top = self.draw.integers(0, width - w + 1), self.draw.integers(0, height - h + 1)
        picture = picture.resize((self.side, self.side), PIL.Image.Resampling.BILINEAR, box=(left, top, left + w, top + h))
        if self.draw.random() < 0.5:
            picture = picture.transpose(PIL.Image.Transpose.FLIP_LEFT_RIGHT)
        x = torch.from_numpy(np.array(picture)).permute(2, 0, 1).contiguous().to(torch.float32).div_(255)
        return x.sub_(torch.tensor(MEAN)[:, None, None]).div_(torch.tensor(DEVIATION)[:, None, None])


class Folder:
    """As torchvision's ImageFolder."""

    def __init__(self, folder: pathlib.Path, transform):
        self.files = [(path, label) for label, each in enumerate(sorted(folder.iterdir())) for path in sorted(each.iterdir())]
        self.transform = transform

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        import PIL.Image

        path, label = self.files[index]
        with open(path, "rb") as file:
            return self.transform(PIL.Image.open(file).convert("RGB")), label


class DataLoader:
    def __init__(self, name: str, transform, options: argparse.Namespace, work: pathlib.Path):
        import torch

        torch.set_num_threads(1)
        self.name, self.batches = name, options.batches
        self.loader = torch.utils.data.DataLoader(Folder(work / "classes", transform), BATCH, shuffle=True, drop_last=True,
                                                  num_workers=options.workers, persistent_workers=True)
        self.stream, self.ahead = self.endless(), 2 * options.workers
        next(self.stream)  # its processes have started

    def endless(self):
        while True:
            yield from self.loader

    def samples_per_second(self) -> float:
        for _ in range(self.ahead):  # which lay there since the last turn
            next(self.stream)
        begin = time.perf_counter()
        for _ in range(self.batches):
            next(self.stream)
        seconds = time.perf_counter() - begin
        return BATCH * self.batches / seconds


def measure_pictures(options: argparse.Namespace, work: pathlib.Path) -> None:
    sides = [Gpuopt(options, work)]
    for name, on_tensors in (("torchvision", False), ("tensors", True)):
        if transform := torchvision_transforms(options.side, on_tensors):
            sides.append(DataLoader(name, transform, options, work))
    sides.append(DataLoader("PIL", PilTransforms(options.side), options, work))
    speeds: dict[str, list[float]] = {side.name: [] for side in sides}
    for _ in range(options.rounds):
        for side in sides:
            speeds[side.name].append(side.samples_per_second())
    print(f"{'side':<12} {'pictures/s':>10} {'gpuopt/side':>11}  in turn")
    first = statistics.median(speeds["gpuopt"])
    for name, each in speeds.items():
        median = statistics.median(each)
        print(f"{name:<12} {median:10.0f} {first / median:11.2f}  {', '.join(f'{speed:.0f}' for speed in each)}", flush=True)


# ---- Arrays and memory -----------------------------------------------------------------------------------------------


def measure_arrays(options: argparse.Namespace, work: pathlib.Path) -> None:
    cases = {
        "x.npy, samples of 588 KiB": (16, 256, 0, 3, 224, 224, "-", f"--data={work}/x.npy", f"--labels={work}/classes.npy"),
        "tokens, windows of 1024": (64, 8000, 0, 1, 1, 1024, "-", f"--tokens={work}/tokens.bin"),
    }
    for name, arguments in cases.items():
        speeds = []
        for _ in range(options.rounds):
            seconds, size = re.search(r"([\d.]+) seconds for (\d+) bytes", read(work, *arguments, "--prepare-only")).groups()
            speeds.append(int(size) / float(seconds) / 1e9)
        print(f"{name:<26} {statistics.median(speeds):6.1f} GB/s  in turn {', '.join(f'{speed:.1f}' for speed in speeds)}", flush=True)


def measure_memory(options: argparse.Namespace, work: pathlib.Path) -> None:
    output = read(work, 4, options.million, options.workers, 1, 4, 4, "-", f"--data={work}/small.npy", f"--labels={work}/labels.npy",
                  "--shuffle")
    first, last = map(float, re.search(r"([\d.]+) MiB resident behind 1 % of the batches, ([\d.]+) at the end", output).groups())
    print(f"{options.million} batches: {first:.2f} MiB resident behind 1 %, {last:.2f} at the end ({100 * (last / first - 1):+.2f} %)")


def main() -> None:
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("what", nargs="*", metavar="WHAT")
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--batches", type=int, default=80)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--side", type=int, default=224)
    parser.add_argument("--million", type=int, default=1_000_000)
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--build-only", action="store_true")
    parser.add_argument("--built", action="store_true")
    options = parser.parse_args()
    options.what = options.what or list(WHAT)
    if unknown := set(options.what) - set(WHAT):
        parser.error(f"there is nothing called {', '.join(sorted(unknown))}: it measures {', '.join(WHAT)}")
    if (options.build_only or options.built) and not options.work:
        parser.error("--build-only and --built want --work, the folder in which the files are")
    with tempfile.TemporaryDirectory(prefix="gpuopt-data-") as scratch:
        work = options.work or pathlib.Path(scratch)
        if not options.built:
            build(options, work)
        if not options.build_only:
            for what, measure in zip(WHAT, (measure_pictures, measure_arrays, measure_memory)):
                if what in options.what:
                    measure(options, work)


if __name__ == "__main__":
    main()
