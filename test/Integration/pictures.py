"""Pictures and tar shards for tests and benchmarks of data: natural-looking, of mixed sizes."""

from __future__ import annotations

import io
import multiprocessing
import tarfile
from pathlib import Path

import numpy as np
import PIL.Image


def photograph(draw: np.random.Generator, width: int, height: int) -> PIL.Image.Image:
    """Smooth areas of several sizes, edges between them and some noise, as photographs have."""
    picture = np.zeros((height, width, 3))
    for cell, weight in ((96, 0.5), (24, 0.3), (6, 0.2)):
        coarse = draw.integers(0, 256, (height // cell + 2, width // cell + 2, 3), dtype=np.uint8)
        kind = PIL.Image.Resampling.NEAREST if cell == 24 else PIL.Image.Resampling.BICUBIC
        picture += weight * np.asarray(PIL.Image.fromarray(coarse).resize((width, height), kind), float)
    picture += draw.normal(0, 4, picture.shape)
    return PIL.Image.fromarray(np.clip(picture, 0, 255).astype(np.uint8))


def size_of(draw: np.random.Generator) -> tuple[int, int]:
    """Width and height, about those of ImageNet's pictures."""
    long = int(np.clip(draw.normal(500, 60), 250, 900))
    short = int(long * draw.choice([0.66, 0.75, 0.75, 1.0]))
    return (long, short) if draw.random() < 0.7 else (short, long)


def write_photograph(path: Path, *seed: int) -> None:
    """A JPEG file that is a function of the seed."""
    draw = np.random.default_rng(seed)
    photograph(draw, *size_of(draw)).save(path, quality=int(draw.integers(75, 96)))


def write_classes(folder: Path, count: int, classes: int, seed: int = 1) -> None:
    """A folder of JPEG pictures with a sub-folder for each class; 10,000 take two cores some minutes."""
    files = [(folder / f"class-{i % classes:03}" / f"{i:06}.jpg", seed, i) for i in range(count)]
    for parent in {path.parent for path, *_ in files}:
        parent.mkdir(parents=True, exist_ok=True)
    with multiprocessing.get_context("spawn").Pool() as pool:
        pool.starmap(write_photograph, files, chunksize=16)


def write_shards(folder: Path, shards: int, members: list[dict[str, bytes]]) -> None:
    """Tar files x-0000.tar, ... of samples, each a file for each extension, under names that are too long for a header."""
    for shard in range(shards):
        with tarfile.open(folder / f"x-{shard:04}.tar", "w", format=tarfile.PAX_FORMAT) as tar:
            for i in range(shard * len(members) // shards, (shard + 1) * len(members) // shards):
                for extension, content in members[i].items():
                    info = tarfile.TarInfo(f"{'long-' * 30}{i:04}.{extension}")
                    info.size = len(content)
                    tar.addfile(info, io.BytesIO(content))


def build_reader(folder: Path, execute, libraries=("JPEG", "PNG", "ZLIB"), flags=None) -> Path:
    """Builds read_batches.cpp, which prepares batches without training; `execute` runs a command."""
    root = Path(__file__).resolve().parents[2]
    program = folder / "read_batches"
    flags = flags or ["-O3" if libraries else "-O0", "-march=native", "-fopenmp"]
    execute(["g++", "-std=c++20", "-ffp-contract=off", *flags, *(f"-DGPUOPT_HAS_{library}" for library in libraries),
             f"-I{root}/lib/Runtime", root / "test" / "Integration" / "read_batches.cpp", "-o", program,
             "-ldnnl", "-lOpenCL", "-ljpeg", "-lpng", "-lz"])
    return program
