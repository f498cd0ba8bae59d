#!/usr/bin/env python3
"""The quick start's text, and what a model has learned of it.

usage: quickstart_text.py gather TEXT_DIR
       quickstart_text.py report TEXT_DIR TRAINED_DIR

Standard library alone: it runs before anything is installed.
"""
import collections
import json
import math
import sys
import sysconfig
from pathlib import Path

MOST_BYTES = 16_000_000
VALIDATION_BYTES = 64 * 1024
VALIDATION_SHARE = 20  # every twentieth file


def gather(folder: Path) -> None:
    """Writes train.bin and validation.bin: the Python standard library's
    sources, in the order of their names, split by file."""
    library = Path(sysconfig.get_paths()["stdlib"])
    skipped = {"site-packages", "dist-packages", "__pycache__"}
    parts = {"train": bytearray(), "validation": bytearray()}
    files = sorted(path for path in library.rglob("*.py") if not skipped & set(path.parts))
    for i, path in enumerate(files):
        part = parts["validation" if i % VALIDATION_SHARE == 0 else "train"]
        part += path.read_bytes()
    del parts["train"][MOST_BYTES:]
    del parts["validation"][VALIDATION_BYTES:]
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in parts.items():
        (folder / f"{name}.bin").write_bytes(data)
        print(f"{folder / name}.bin: {len(data):,} bytes from {library}")


def entropy(data: bytes) -> float:
    """The entropy of single bytes, in nats: the loss of the best model without context."""
    counts = collections.Counter(data)
    return -sum(n / len(data) * math.log(n / len(data)) for n in counts.values())


def report(text: Path, trained: Path) -> bool:
    """Prints what was learned and where it lies; whether it is anything."""
    losses, validation = [], None
    for line in (trained / "metrics.jsonl").read_text().splitlines():
        record = json.loads(line)
        if "eval_loss" in record:
            validation = record["eval_loss"]
        elif "loss" in record:
            losses.append(record["loss"])
    last = losses[-50:]
    print(f"loss: {losses[0]:.3f} at step 1, {sum(last) / len(last):.3f} over the last {len(last)} of {len(losses)} steps")
    alone = entropy((text / "validation.bin").read_bytes())
    if validation is not None:
        print(f"on files it never saw: {validation:.3f} nats a byte ({validation / math.log(2):.2f} bits);")
        print(f"the entropy of single bytes there is {alone:.3f} nats ({alone / math.log(2):.2f} bits):")
        print("the model has learned " + ("how bytes follow each other." if validation < alone else "less than the frequencies of bytes."))
    print()
    for what, name in [
        ("the emitted program", "step.cu"),
        ("the memory plan", "plan.json"),
        ("the trained weights", "model.safetensors"),
        ("a line per step", "metrics.jsonl"),
    ]:
        # The program may lie in a folder of its own beneath.
        found = sorted(trained.rglob(name), key=lambda path: len(path.parts))
        if found:
            print(f"{what + ':':22}{found[0]}")
    return (losses[-1] if validation is None else validation) < alone


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["gather", folder]:
            gather(Path(folder))
        case ["report", text, trained]:
            sys.exit(not report(Path(text), Path(trained)))
        case _:
            sys.exit(__doc__)
