"""Writes what a small run reads.

usage: make_run_data.py FOLDER

FOLDER/small and FOLDER/big have pictures of 4 x 4 and of 8 x 8 of the classes a
and b. The files of FOLDER/weights fit a model with a weight 'w' of [3, 4], or do
not. FOLDER/checkpoint-3 is that of a run on other classes.
"""

import json
import struct
import sys
import zlib
from pathlib import Path

folder = Path(sys.argv[1])


def png(size):
    """A gray picture."""
    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    rows = bytes(size + 1) * size
    header = struct.pack(">IIBBBBB", size, size, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def weights(shapes):
    """A safetensors file of zeros."""
    header, offset = {}, 0
    for name, (rows, columns) in shapes.items():
        end = offset + 4 * rows * columns
        header[name] = {"dtype": "F32", "shape": [rows, columns], "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(offset)


for name, size in ("small", 4), ("big", 8):
    for label in "ab":
        (folder / name / label).mkdir(parents=True)
        for number in range(2):
            (folder / name / label / f"{number}.png").write_bytes(png(size))
(folder / "weights").mkdir()
for name, shapes in ("fits", {"w": (3, 4)}), ("other", {"w": (3, 5)}), ("more", {"w": (3, 4), "v": (1, 1)}):
    (folder / "weights" / f"{name}.safetensors").write_bytes(weights(shapes))
(folder / "weights" / "saved.pt").write_bytes(b"PK\3\4 as torch.save begins its files")
checkpoint = folder / "checkpoint-3"
checkpoint.mkdir()
state = {
    "global_step": 3, "max_steps": 8, "batches": 3, "updates": 3, "growth_tracker": 0, "skipped_steps": 0, "skipped_in_a_row": 0,
    "train_batch_size": 2, "gradient_accumulation_steps": 1, "samples": 4, "best_global_step": 0, "epoch": 1, "loss_scale": 0,
    "best_metric": 0, "validations": 0, "plateau_bad_validations": 0, "plateau_cooldown": 0, "early_stopping_patience_counter": 0,
    "lr_factor": 1, "plateau_best": 1e308, "early_stopping_best": 0, "optimizer": "adamw", "model": "", "settings": {},
}
files = {
    "model.safetensors": weights({"w": (3, 4)}),
    "optimizer.safetensors": weights({}),
    "trainer_state.json": json.dumps(state).encode(),
}
for name, content in files.items():
    (checkpoint / name).write_bytes(content)
lines = [f"{zlib.crc32(content):08x} {len(content)} {name}\n" for name, content in files.items()]
(checkpoint / "checksums.txt").write_text("".join(lines))
for at in checkpoint, folder / "weights":
    (at / "classes.txt").write_text("cat\ndog\n")
