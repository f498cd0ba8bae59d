"""Writes what this machine's GPU says of itself and what it reaches, as a file for
`gpuopt --device`."""

from __future__ import annotations

import statistics
import subprocess
from typing import Callable

GIB = 2**30
REPEATS = 20
# The members of a device file, by PyTorch's names of what the driver says.
PROPERTIES = {
    "multiprocessors": "multi_processor_count", "warpSize": "warp_size",
    "threadsPerMultiprocessor": "max_threads_per_multi_processor",
    "registersPerMultiprocessor": "regs_per_multiprocessor",
    "sharedBytesPerMultiprocessor": "shared_memory_per_multiprocessor",
    "sharedBytesPerBlock": "shared_memory_per_block_optin", "memoryInBytes": "total_memory",
    "l2CacheInBytes": "L2_cache_size",
}


def query(*fields: str) -> list[str]:
    command = ["nvidia-smi", f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits"]
    try:
        lines = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False).stdout.splitlines()
    except FileNotFoundError:
        return []
    return [value.strip() for value in lines[0].split(",")] if lines else []


def device_name(target: str) -> str:
    if target == "host":
        return "host"
    return ", driver ".join(query("name", "driver_version")) or "an unknown device"


def seconds_of(work: Callable[[], object]) -> float:
    """The median of the times of `work` on the device, by its events."""
    import torch

    for _ in range(3):
        work()
    times = []
    for _ in range(REPEATS):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        work()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) / 1e3)
    return statistics.median(times)


def bytes_per_second() -> float:
    """Of a copy within the device's memory, which reads and writes."""
    import torch

    source = torch.empty(GIB, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    return 2 * GIB / seconds_of(lambda: target.copy_(source))


def link_bytes_per_second() -> float:
    """From pinned memory of the host."""
    import torch

    source = torch.empty(GIB // 4, dtype=torch.uint8, pin_memory=True)
    target = torch.empty(GIB // 4, dtype=torch.uint8, device="cuda")
    return GIB / 4 / seconds_of(lambda: target.copy_(source, non_blocking=True))


def products_per_second(dtype: str, size: int, allow_tf32: bool = False) -> float:
    """Floating-point operations per second of a product of two size x size matrices."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = allow_tf32
    a, b = (torch.randn(size, size, device="cuda").to(getattr(torch, dtype)) for _ in range(2))
    out = torch.empty_like(a)
    rate = 2.0 * size**3 / seconds_of(lambda: torch.mm(a, b, out=out))
    torch.backends.cuda.matmul.allow_tf32 = False
    return rate


def seconds_per_launch() -> float:
    """Of a kernel with next to no work, within a CUDA graph of a thousand."""
    import torch

    value = torch.zeros(32, device="cuda")
    launches = 1000
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(launches):
            value.add_(1.0)
    return seconds_of(graph.replay) / launches


def describe_device() -> dict:
    """The members of a device file that can be asked for or measured. The
    others come from the built-in device that is named as its base."""
    import torch

    properties = torch.cuda.get_device_properties(0)
    clocks = query("clocks.max.sm")
    described = {
        "base": closest_builtin(properties),
        "name": properties.name,
        "computeCapability": float(f"{properties.major}.{properties.minor}"),
        # An older PyTorch lacks some of them.
        **{member: getattr(properties, name) for member, name in PROPERTIES.items() if hasattr(properties, name)},
        "bytesPerSecond": bytes_per_second(),
        "hostLinkBytesPerSecond": link_bytes_per_second(),
        "secondsPerLaunch": seconds_per_launch(),
        "f16ProductsPerSecond": products_per_second("float16", 8192),
        "bf16ProductsPerSecond": products_per_second("bfloat16", 8192),
        "tf32ProductsPerSecond": products_per_second("float32", 8192, allow_tf32=True),
        "f32ProductsPerSecond": products_per_second("float32", 4096),
        "f64ProductsPerSecond": products_per_second("float64", 4096),
    }
    if clocks and clocks[0].isdigit():
        described["clockInHertz"] = int(clocks[0]) * 1e6
    return described


def closest_builtin(properties) -> str:
    """The built-in device of the same architecture."""
    if (properties.major, properties.minor) == (8, 9):
        return "4090"
    if properties.major == 8:
        return "a100"
    return "h200" if properties.total_memory > 100 * 10**9 else "h100"


def differences(described: dict, builtin: dict) -> list[dict]:
    """The members in which a description is more than 2 % away from what the
    compiler assumed."""
    rows = []
    for member, value in described.items():
        assumed = builtin.get(member)
        if isinstance(assumed, (int, float)) and assumed and abs(value / assumed - 1) > 0.02:
            rows.append({"member": member, "assumed": assumed, "measured": value, "ratio": value / assumed})
    return rows
