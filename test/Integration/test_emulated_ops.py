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
from op_models import STEP_FLAGS, Programs

pytestmark = SKIPS

TYPES = {
    "f64": (np.float64, dict(rtol=1e-9, atol=1e-13)),
    "f32": (np.float32, dict(rtol=1e-5, atol=1e-5)),
}


ALL = [pytest.param(name, group, case, id=f"{name}-{group}-{case.name}", marks=pytest.mark.xdist_group(f"emulated-{name}-{group}"))
       for name in TYPES for group, cases in CASES.items() for case in cases]


def run_in_two_orders(trainer: EmulatedTrainer, dtype):
    """The step; the order of threads, blocks and streams leaves no trace in it."""
    one, other = [trainer.run_in_order(seed, {"one": np.ones(1, dtype)}, **STEP_FLAGS) for seed in (1, 2)]
    differing = [name for name in one.weights if one.weights[name].tobytes() != other.weights[name].tobytes()]
    assert not differing, f"another order of threads gives other bits: {differing}"
    return one


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    return {
        name: Programs(lambda: tmp_path_factory.mktemp("ops"), EmulatedTrainer, partial(run_in_two_orders, dtype=dtype), dtype)
        for name, (dtype, _) in TYPES.items()
    }


@pytest.mark.parametrize("name, group, case", ALL)
def test_gradient(programs, name, group, case):
    dtype, tolerance = TYPES[name]
    programs[name].step(group, case).assert_close(case, dtype, **tolerance)
