"""cuDNN has plans for the forward of attention, as the runtime describes it, on GPUs that are not there. NVRTC compiles
their kernels; a stand-in for the driver takes them."""

import json
import os
import sysconfig
from pathlib import Path

import pytest

from training import execute
from variants import variants

FOLDER = Path(__file__).parent
RUNTIME = FOLDER.parents[1] / "lib" / "Runtime"
ROOTS = [Path(root) for root in os.environ.get("NVIDIA_WHEELS", "").split()] + [Path(sysconfig.get_path("purelib")) / "nvidia"]


def find(name: str, *elsewhere: str) -> Path | None:
    """A file of NVIDIA's wheels, or of the CUDA toolkit."""
    wheels = [found for root in ROOTS for found in root.glob(f"*/*/{name}")]
    return next(iter(wheels + [found for folder in elsewhere for found in Path("/usr/local/cuda").glob(f"{folder}/{name}")]), None)


FILES = {
    "cuDNN": find("libcudnn.so.9"), "cuDNN's headers": find("cudnn.h"), "NVRTC": find("libnvrtc.so.1[0-9]", "lib64"),
    "the headers of the CUDA runtime": find("cuda_runtime_api.h", "include"),
}
MISSING = [name for name, file in FILES.items() if not file]

pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"{', '.join(MISSING)} not found")

# From the data sheets, as gpuopt-plan-convolutions has them.
COMMON = {
    "driverVer": 13000, "cudaDeviceId": 0, "pciDeviceId": 0, "isTccDriver": 0, "warpSize": 32,
    "maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64], "maxThreadsPerBlock": 1024,
    "maxThreadsPerSM": 2048, "maxCtasPerSM": 32, "regsPerBlock": 65536, "maxRegistersPerSM": 65536,
    "maxSharedMemoryPerBlock": 48 << 10, "reservedSharedMemoryPerBlock": 1 << 10, "oversizedSharedMemoryPerBlock": 0,
    "supportCoopLaunch": 1,
}
DEVICES = {
    "h200": COMMON | {
        "deviceName": "NVIDIA H200", "deviceVer": 900, "multiProcessorCount": 132, "virtualSMCount": 132,
        "maxSharedMemoryPerBlockOptin": 227 << 10, "totalGlobalMem": 150754820096, "l2CacheSize": 60 << 20,
        "smClockRateKHz": 1980000, "memClockRateKHz": 3201000, "memoryBusWidth": 6144,
    },
    "a100": COMMON | {
        "deviceName": "NVIDIA A100-SXM4-80GB", "deviceVer": 800, "multiProcessorCount": 108, "virtualSMCount": 108,
        "maxSharedMemoryPerBlockOptin": 163 << 10, "totalGlobalMem": 84987740160, "l2CacheSize": 40 << 20,
        "smClockRateKHz": 1410000, "memClockRateKHz": 1593000, "memoryBusWidth": 5120,
    },
}
SHAPES = 10
LARGEST_WORKSPACE = 1024


@pytest.fixture(scope="module")
def planner(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("attention-plans")
    includes = [argument for name in ("cuDNN's headers", "the headers of the CUDA runtime") for argument in ("-isystem", FILES[name].parent)]
    execute(["c++", "-std=c++17", "-I", RUNTIME, *includes, FOLDER / "attention_plans.cpp", FILES["cuDNN"],
             f"-Wl,-rpath,{FILES['cuDNN'].parent}", "-o", folder / "planner"])
    execute(["cc", "-shared", "-fPIC", FOLDER / "driver_without_device.c", "-o", folder / "libcuda.so.1"])
    return folder / "planner"


@pytest.mark.parametrize("device", variants(DEVICES, ["h200"]))
def test_every_shape_has_a_plan(planner, device, tmp_path):
    """Without a matrix of queries x keys: the smallest of these would take half a megabyte."""
    description = tmp_path / "device.json"
    description.write_text(json.dumps(DEVICES[device]))
    libraries = f"{planner.parent}:{FILES['NVRTC'].parent}"
    output = execute(["env", f"LD_LIBRARY_PATH={libraries}", planner, description])
    plans = [line.split("\t") for line in output.splitlines()]
    assert len(plans) == 2 * SHAPES
    assert [plan for plan in plans if not plan[2].startswith("engine ")] == []
    assert max(int(plan[3]) for plan in plans) <= LARGEST_WORKSPACE
