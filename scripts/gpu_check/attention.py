"""Attention by our kernels, by cuDNN and by PyTorch's kernels, for the shapes that a program has."""

from __future__ import annotations

import re

from kernels import work_of

FORWARD = re.compile(r"attention (\w+)\[(\d+),(\d+),(\d+),(\d+)\] \w+\[\d+,\d+,(\d+),\d+\]")
DTYPES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32"}


def shapes_of(profile: dict) -> list[dict]:
    """Each shape of attention once, with our own times of its forward and its
    backward, in ms."""
    shapes: dict[tuple, dict] = {}
    for cost in profile["costs"]:
        work = work_of(cost["key"])
        backward = work.startswith("attention_grad ")
        found = FORWARD.match(work.replace("attention_grad", "attention", 1))
        if not found:
            continue
        shape = shapes.setdefault(found.groups(), {"type": found[1], "shape": [int(n) for n in found.groups()[1:]]})
        shape["backward_ms" if backward else "forward_ms"] = cost["median_ns"] / 1e6
    return list(shapes.values())


def torch_times(shape: dict, is_causal: bool) -> dict[str, tuple[float, float]]:
    """Forward and backward in ms by each of PyTorch's kernels that takes the
    shape (batch, heads, queries, head size, keys)."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    from device import seconds_of

    batch, heads, queries, size, keys = shape["shape"]
    dtype = getattr(torch, DTYPES[shape["type"]])
    draw = lambda length: torch.randn(batch, heads, length, size, device="cuda", dtype=dtype, requires_grad=True)
    q, k, v = draw(queries), draw(keys), draw(keys)
    d_out = torch.randn_like(q)
    times = {}
    kinds = {"flash": "FLASH_ATTENTION", "cudnn": "CUDNN_ATTENTION", "efficient": "EFFICIENT_ATTENTION"}
    for name, kind in kinds.items():
        try:
            with sdpa_kernel(getattr(SDPBackend, kind)):
                forward = lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=is_causal)
                out = forward()
                backward = lambda: torch.autograd.grad(out, (q, k, v), d_out, retain_graph=True)
                times[name] = (seconds_of(forward) * 1e3, seconds_of(backward) * 1e3)
        except (RuntimeError, AttributeError):
            continue  # a kernel that does not take this type or size
    return times


def compare_attention(profiles: dict[str, dict], is_causal: bool) -> list[dict]:
    """A row for each shape and kernel; those of our own profiles first, which are
    by the names of --attention-library."""
    rows = []
    by_library = {name: shapes_of(profile) for name, profile in profiles.items()}
    for index, shape in enumerate(next(iter(by_library.values()))):
        text = f"{shape['type']} {shape['shape']}"
        for name, shapes in by_library.items():
            times = {key: shapes[index].get(key) for key in ("forward_ms", "backward_ms")}
            rows.append({"shape": text, "kernel": f"gpuopt, {name}"} | times)
        for kernel, (forward, backward) in torch_times(shape, is_causal).items():
            rows.append({"shape": text, "kernel": kernel, "forward_ms": forward, "backward_ms": backward})
    return rows
