"""Every operator's forward and gradient by the CUDA program, thread by thread on the processor.

In double precision the tolerances are those of the host: no kernel, product or convolution may read or write an
element too far. In single precision, kernels have CUDA's own formulas for exp, tanh, erf and the like, whose
hardware instructions are emulated with the errors that the PTX ISA allows: some 1e-7 of the result each, for which
1e-5 leaves room in sums of some hundred terms and in what the gradient subtracts from tensors of the size of 1.

In half precision all tensors that may lie in halves do. Each is rounded by up to 2^-11 (f16) or 2^-8 (bf16) of its
size on the way to a result.
"""

import collections
import re
import json

from functools import partial

import numpy as np
import pytest

from emulated import SKIPS, EmulatedTrainer
from op_cases import CASES
from op_cases_large import LARGE
from op_models import STEP_FLAGS, Programs
from training import FULL

pytestmark = SKIPS


def one_of_each_kind(cases: list) -> list:
    """Returns one of the cases whose names differ in numbers alone, which stand for axes and sizes: the first of the first
    name, the second of the second name, and so on. test_ops.py has all of them on the host."""
    kinds = collections.defaultdict(list)
    for case in cases:
        kinds[re.sub(r"\d+", "", case.name)].append(case)
    return [same[number % len(same)] for number, same in enumerate(kinds.values())]


# What CI runs, of CASES.
DEFAULT = {group: one_of_each_kind(cases) for group, cases in CASES.items()}
RUN = CASES if FULL else DEFAULT


def params(groups: dict, label: str):
    for group, cases in groups.items():
        for case in cases:
            marks = [pytest.mark.xdist_group(f"emulated-{label}-{group}")]
            if case not in DEFAULT.get(group, []):
                marks.append(pytest.mark.full)
            yield pytest.param(group, case, id=f"{group}-{case.name}", marks=marks)


def run_in_two_orders(trainer: EmulatedTrainer, dtype):
    """The step; the order of threads, blocks and streams leaves no trace in it."""
    one, other = [trainer.run_in_order(seed, {"one": np.ones(1, dtype)}, **STEP_FLAGS) for seed in (1, 2)]
    differing = [name for name in one.weights if one.weights[name].tobytes() != other.weights[name].tobytes()]
    assert not differing, f"another order of threads gives other bits: {differing}"
    return one


def make_programs(tmp_path_factory, dtype, groups, **flags) -> Programs:
    return Programs(lambda: tmp_path_factory.mktemp("ops"), EmulatedTrainer, partial(run_in_two_orders, dtype=dtype), dtype, groups, **flags)


@pytest.fixture(scope="module")
def in_double(tmp_path_factory):
    return make_programs(tmp_path_factory, np.float64, RUN)


@pytest.fixture(scope="module")
def in_single(tmp_path_factory):
    return make_programs(tmp_path_factory, np.float32, RUN)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    return make_programs(tmp_path_factory, np.float32, LARGE)


@pytest.fixture(scope="module")
def in_halves(tmp_path_factory):
    """By the precision. On a device whose memory is this slow, the plan has a tensor in half precision wherever it may."""
    device = tmp_path_factory.mktemp("device") / "slow.json"
    device.write_text(json.dumps(
        {"base": "h200", "name": "slow memory", "bytesPerSecond": 1e6, "secondsPerLaunch": 1e-9, "f32ProductsPerSecond": 1e6}))
    return {precision: make_programs(tmp_path_factory, np.float32, RUN, precision=precision, device=device, loss_scale="none")
            for precision in HALF_EPSILON}


@pytest.mark.full
@pytest.mark.parametrize("group, case", list(params(CASES, "f64")))
def test_in_double_precision(in_double, group, case):
    in_double.step(group, case).assert_close(case, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("group, case", list(params(CASES, "f32")))
def test_in_single_precision(in_single, group, case):
    in_single.step(group, case).assert_close(case, np.float32, rtol=1e-5, atol=1e-5)


# Half the distance between 1 and the next number.
HALF_EPSILON = {"fp16": 2.0**-11, "bf16": 2.0**-8}

# Families of operators by the precision, and of these what CI runs: those that have calls and instructions of their own.
IN_HALVES = {"fp16": ["attention", "products", "binary", "convolutions", "normalisations"], "bf16": ["attention", "products", "convolutions"]}
QUICK_IN_HALVES = [("fp16", "attention"), ("fp16", "products")]


def params_in_halves():
    for precision, groups in IN_HALVES.items():
        for param in params({group: CASES[group] for group in groups}, precision):
            marks = [] if (precision, param.values[0]) in QUICK_IN_HALVES else [pytest.mark.full]
            yield pytest.param(precision, *param.values, id=f"{precision}-{param.id}", marks=[*param.marks, *marks])


@pytest.mark.parametrize("precision, group, case", list(params_in_halves()))
def test_in_half_precision(in_halves, precision, group, case):
    programs, room = in_halves[precision], 8 * HALF_EPSILON[precision]
    programs.step(group, case).assert_close(case, np.float32, rtol=room, atol=room, of_largest=room)


@pytest.mark.full
@pytest.mark.parametrize("group, case", list(params(LARGE, "large")))
def test_large_tensors(large, group, case):
    """Sums of some thousand terms need ten times the room."""
    large.step(group, case).assert_close(case, np.float32, rtol=1e-4, atol=1e-4)
