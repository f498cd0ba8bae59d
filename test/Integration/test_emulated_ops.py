"""Every operator's forward and gradient by the CUDA program, thread by thread on the processor.

In double precision the tolerances are those of the host: no kernel, product or convolution may read or write an
element too far. In single precision, kernels have CUDA's own formulas for exp, tanh, erf and the like, whose
hardware instructions are emulated with the errors that the PTX ISA allows: some 1e-7 of the result each, for which
1e-5 leaves room in sums of some hundred terms and in what the gradient subtracts from tensors of the size of 1.
"""

from functools import partial

import numpy as np
import pytest

from emulated import SKIPS, EmulatedTrainer
from op_cases import CASES
from op_cases_large import LARGE
from op_models import STEP_FLAGS, Programs

pytestmark = SKIPS


def params(groups: dict, label: str):
    return [pytest.param(group, case, id=f"{group}-{case.name}", marks=pytest.mark.xdist_group(f"emulated-{label}-{group}"))
            for group, cases in groups.items() for case in cases]


def run_in_two_orders(trainer: EmulatedTrainer, dtype):
    """The step; the order of threads, blocks and streams leaves no trace in it."""
    one, other = [trainer.run_in_order(seed, {"one": np.ones(1, dtype)}, **STEP_FLAGS) for seed in (1, 2)]
    differing = [name for name in one.weights if one.weights[name].tobytes() != other.weights[name].tobytes()]
    assert not differing, f"another order of threads gives other bits: {differing}"
    return one


def make_programs(tmp_path_factory, dtype, groups) -> Programs:
    return Programs(lambda: tmp_path_factory.mktemp("ops"), EmulatedTrainer, partial(run_in_two_orders, dtype=dtype), dtype, groups)


@pytest.fixture(scope="module")
def in_double(tmp_path_factory):
    return make_programs(tmp_path_factory, np.float64, CASES)


@pytest.fixture(scope="module")
def in_single(tmp_path_factory):
    return make_programs(tmp_path_factory, np.float32, CASES)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    return make_programs(tmp_path_factory, np.float32, LARGE)


@pytest.mark.parametrize("group, case", params(CASES, "f64"))
def test_in_double_precision(in_double, group, case):
    in_double.step(group, case).assert_close(case, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("group, case", params(CASES, "f32"))
def test_in_single_precision(in_single, group, case):
    in_single.step(group, case).assert_close(case, np.float32, rtol=1e-5, atol=1e-5)


@pytest.mark.full
@pytest.mark.parametrize("group, case", params(LARGE, "large"))
def test_large_tensors(large, group, case):
    """Sums of some thousand terms need ten times the room."""
    large.step(group, case).assert_close(case, np.float32, rtol=1e-4, atol=1e-4)
