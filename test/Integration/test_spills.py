"""Registers suffice for all kernels, those of the runtime among them, that take more than a hundredth of a step, for
sm_80 and sm_90. No GPU is needed."""

import re
import shutil

import pytest

import spills
import zoo
from emulated import nvidia_wheels

pytestmark = [
    pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc"),
    pytest.mark.skipif(nvidia_wheels() is None, reason="no wheels of cuBLASLt and cuDNN"),
]

# Attention with a bias, in an encoder and a decoder. test_sass.py looks at the kernels of others.
QUICK = [("t5", "sm_90")]
MODELS = [(name, architecture) for name in [*spills.WIDE, *zoo.MODELS] for architecture in spills.DEVICES]


@pytest.fixture(scope="module")
def known():
    """The runtime's calls whose kernels a model before has shown."""
    return set()


@pytest.mark.parametrize("name, architecture", [pytest.param(*case, marks=[] if case in QUICK else pytest.mark.full) for case in MODELS])
def test_no_costly_kernel_spills(name, architecture, known, tmp_path):
    if name.startswith("timm-") and not zoo.has_timm():
        pytest.skip("timm is not installed")
    kernels = spills.measure(*spills.make(name), tmp_path, architecture, known)
    assert spills.costly_spills(kernels) == []


@pytest.mark.full
def test_finds_spills(tmp_path):
    """A kernel that is given 32 registers in place of those that it needs."""
    spills.measure(*spills.make("mlp"), tmp_path, "sm_90", set())
    program = tmp_path / "sm_90"
    for source in program.glob("*.cu"):
        source.write_text(re.sub(r"LAUNCH_BOUNDS\(\d+, \d+\)", "LAUNCH_BOUNDS(1024, 2)", source.read_text()))
    found = spills.costly_spills(spills.measure(*spills.make("mlp"), tmp_path, "sm_90", set()))
    assert any(re.match(r"fused_sum\w* spills \d+ bytes and takes \d+\.\d% of a step", text) for text in found), found
