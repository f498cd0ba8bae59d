"""cuDNN plans the convolutions of models for GPUs that are not there: which engine computes each, and with how large a
workspace, is known before a program meets a GPU."""

import importlib.util
import json
from pathlib import Path

import pytest
import torch

import gpuopt
import models
import zoo
from gpuopt.driver import find_driver
from training import FULL, CommandFailed, execute

PLANNER = Path(find_driver()).with_name("gpuopt-plan-convolutions")

pytestmark = pytest.mark.skipif(not PLANNER.exists(), reason="gpuopt-plan-convolutions is not built: cuDNN is not installed")

# These models of models.py are as wide as they are in use, with this batch size; under --full, those of zoo.py are as they are.
WIDE = {"cnn": 64, "resnet50": 64, "unet": 16} | ({"resnet18": 64} if FULL else {})
PRECISIONS = ["fp32", "tf32", "fp16", "bf16"]
MIB = 1 << 20
WORKSPACE_OF_PRODUCTS = 32 * MIB


def convolutional_cases():
    for name, batch in WIDE.items():
        yield name, models.make(name), batch
    for name in zoo.MODELS if FULL else []:
        if name.startswith("timm-") and not importlib.util.find_spec("timm"):
            continue  # a package that tests do not install
        case = zoo.make(name)
        if any(isinstance(module, torch.nn.modules.conv._ConvNd) for module in case.module.modules()):
            yield name, case, case.batch


def compile_model(model: Path, program: Path, precision: str, batch: int, *flags):
    execute([find_driver(), "compile", model, "-o", program, "--target=cuda", "--device=h200", f"--precision={precision}",
             f"--batch-size={batch}", *flags])


@pytest.fixture(scope="module")
def programs(tmp_path_factory) -> dict[str, list[Path]]:
    """The plan.json of each model in each precision, by the model's name."""
    folder = tmp_path_factory.mktemp("conv-plans")
    found = {}
    for name, case, batch in convolutional_cases():
        model = folder / f"{name}.onnx"
        gpuopt.export(case.module, case.example_inputs(), model, input_names=list(case.inputs), output_names=["logits"])
        found[name] = [folder / name / precision / "plan.json" for precision in PRECISIONS]
        for plan in found[name]:
            compile_model(model, plan.parent, plan.parent.name, batch, f"--loss={case.loss}")
    return found


def listed(plan: Path) -> list[dict]:
    return json.loads(plan.read_text()).get("convolutions", [])


def key_of(convolution: dict) -> str:
    """What a convolution is, without what came of it."""
    return json.dumps({name: convolution.get(name) for name in ("call", "type", "shape", "allows_tf32")}, sort_keys=True)


def plan_all(programs, device: str, output: Path) -> list[dict]:
    files = [plan for plans in programs.values() for plan in plans if listed(plan)]
    execute([PLANNER, *files, f"--device={device}", "-o", output])
    return json.loads(output.read_text())["convolutions"]


def test_lists_every_convolution(programs):
    """Three calls for each layer of ResNet-50, but the first has no gradient of its input; layers of one shape are
    listed once, and those of the evaluation are the same. In half precision, the last convolutions of bottlenecks,
    which have four shapes, are products with their batch norms in training, and convolutions in the evaluation alone;
    the convolutions behind them have the gradient of the ReLU between, which makes products of four shapes as well."""
    layers = {(m.in_channels, m.out_channels, m.kernel_size, m.stride) for m in models.make("resnet50").module.modules()
              if isinstance(m, torch.nn.Conv2d)}
    for plan in programs["resnet50"]:
        calls = [convolution["call"] for convolution in listed(plan)]
        trained = calls.count("conv_backward_weights")
        products = 4 if plan.parent.name in ("fp16", "bf16") else 0
        assert calls.count("conv_forward") - trained == products
        assert calls.count("conv_forward") >= len(layers)
        assert calls.count("conv_backward_data") == trained - 1 - products
        assert len({key_of(convolution) for convolution in listed(plan)}) == len(calls)
        # Those of cuDNN that add up channels for batch norms have other bits in each run.
        assert "conv_forward_with_sums" not in calls
    types = [{convolution["type"] for convolution in listed(plan)} for plan in programs["resnet50"]]
    assert types[:2] == [{"f32"}, {"f32"}] and "f16" in types[2] and "bf16" in types[3]
    assert [any("allows_tf32" in convolution for convolution in listed(plan)) for plan in programs["resnet50"]] == [False, True, False, False]


@pytest.mark.parametrize("device, architecture", [("h200", 900), ("a100", 800)])
def test_every_convolution_has_a_plan(programs, device, architecture, tmp_path):
    plans = plan_all(programs, device, tmp_path / "plans.json")
    assert {key_of(plan) for plan in plans} == {
        key_of(convolution) for files in programs.values() for plan in files for convolution in listed(plan)}
    assert len(plans) > 100
    assert [(plan["fallback"], key_of(plan)) for plan in plans if "fallback" in plan] == []
    for plan in plans:
        engine = json.loads(plan["plan"])["engine"]
        assert (engine["engineId"], engine["smVersion"]) == (plan["engine"], architecture)
        assert 0 <= plan["workspace_bytes"] <= 256 * MIB


def test_half_precision_runs_on_matrix_units(programs, tmp_path):
    """Where channels are multiples of 8, engines work in tiles of a matrix product and need little memory beside the
    tensors."""
    plans = plan_all({"resnet50": programs["resnet50"][2:3]}, "h200", tmp_path / "plans.json")
    wide = [plan for plan in plans if plan["type"] == "f16" and plan["shape"]["c"] % 8 == 0 == plan["shape"]["oc"] % 8]
    assert len(wide) > 50
    assert all("TILE_SIZE" in plan["plan"] for plan in wide)
    assert max(plan["workspace_bytes"] for plan in wide) <= 64 * MIB


def test_plans_that_are_timed_have_names(programs, tmp_path):
    """A record keeps the name of the fastest plan: its engine, and the values of its knobs. The planner finds each by its
    name again, or fails."""
    execute([PLANNER, programs["cnn"][2], "--choices", "-o", tmp_path / "plans.json"])
    plans = json.loads((tmp_path / "plans.json").read_text())["convolutions"]
    assert plans
    for plan in plans:
        names = plan["choices"]
        assert names[0].split(",")[0] == f"engine {plan['engine']}"
        assert 1 < len(set(names)) == len(names) <= 8
        assert any(", knobs " in name for name in names)


def workspace_in_bytes(plan: Path) -> int:
    return next(buffer["bytes"] for buffer in json.loads(plan.read_text())["buffers"] if buffer["origin"] == "library_workspace")


@pytest.mark.parametrize("precision", ["fp32", "fp16"])
def test_plans_say_how_large_the_workspace_is(precision, programs, tmp_path):
    """Compiled once more, with the plans, the program reserves what the largest of them needs: its workspace, and its
    filters in cuDNN's order. That is enough for all of them."""
    estimated = programs["resnet50"][PRECISIONS.index(precision)]
    plans = plan_all({"resnet50": [estimated]}, "h200", tmp_path / "plans.json")
    compile_model(estimated.parents[2] / "resnet50.onnx", tmp_path / "program", precision, WIDE["resnet50"],
                  f"--convolution-plans={tmp_path / 'plans.json'}")
    reserved = workspace_in_bytes(tmp_path / "program" / "plan.json")
    needed = max(plan["workspace_bytes"] for plan in plans)
    filters = max(plan["shape"]["oc"] * plan["shape"]["c"] * plan["shape"]["kh"] * plan["shape"]["kw"] for plan in plans) * 4
    assert needed < reserved <= max(WORKSPACE_OF_PRODUCTS, needed + filters)
    assert reserved < workspace_in_bytes(estimated)
    assert [key_of(plan) for plan in plans] == [key_of(convolution) for convolution in listed(tmp_path / "program" / "plan.json")]


def test_impossible_shapes_are_told(programs, tmp_path):
    """What cuDNN cannot compute has a reason, and does not keep the others from having a plan."""
    file = json.loads(programs["cnn"][0].read_text())
    file["convolutions"][0]["shape"]["oh"] += 1
    (tmp_path / "plan.json").write_text(json.dumps(file))
    first, *others = plan_all({"cnn": [tmp_path / "plan.json"]}, "h200", tmp_path / "plans.json")
    assert "CUDNN_STATUS_BAD_PARAM" in first["fallback"] and "engine" not in first
    assert others and all("plan" in plan for plan in others)
    del file["convolutions"]
    (tmp_path / "plan.json").write_text(json.dumps(file))
    with pytest.raises(CommandFailed, match="has no list 'convolutions'"):
        execute([PLANNER, tmp_path / "plan.json"])
