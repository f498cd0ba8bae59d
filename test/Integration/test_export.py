"""What gpuopt.export writes so that a file trains as its module does."""

import re
import sys

import numpy as np
import onnx_ir
import onnxruntime
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import gpuopt
from gpuopt import exporting, safetensors
from gpuopt.driver import find_driver
from parity import worst_gradient
from training import OPTIMIZATION_FOR_ONE_STEP, Trainer, execute, gradients_of
from variants import variants


class Settled(nn.Module):
    """Parameters, one of them a single number, and what is none."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.temperature = nn.Parameter(torch.tensor(2.0))
        self.still = nn.Parameter(torch.ones(4), requires_grad=False)
        self.register_buffer("table", torch.arange(4.0))
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x):
        return self.norm(self.layer(x) * self.temperature + self.still + self.table)


def compiled(path) -> str:
    return execute([find_driver(), "compile", path, "--compile-to=nn", "--batch-size=2"])


def kinds(text: str) -> dict[str, str]:
    return dict(re.findall(r'train\.variable @"?([^\s"]+)"? +(\w+)', text))


EXPECTED = {
    "layer.weight": "parameter", "layer.bias": "parameter", "temperature": "parameter", "still": "frozen", "table": "frozen",
    "norm.weight": "parameter", "norm.bias": "parameter", "norm.running_mean": "buffer", "norm.running_var": "buffer",
}


def test_only_parameters_are_trained(tmp_path):
    gpuopt.export(Settled(), torch.zeros(2, 4), tmp_path / "model.onnx")
    assert kinds(compiled(tmp_path / "model.onnx")) == EXPECTED


def test_buffers_of_other_exports_are_not_trained(tmp_path):
    """PyTorch's exporter tells them, but not which parameters want a gradient."""
    torch.onnx.export(
        Settled(), (torch.zeros(2, 4),), tmp_path / "model.onnx", dynamo=True, optimize=False, external_data=False, verbose=False
    )
    assert kinds(compiled(tmp_path / "model.onnx")) == EXPECTED | {"still": "parameter"}


class Rotary(nn.Module):
    """Attention with a rotary embedding and a mask, whose tables no state_dict has; with integers that it has."""

    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(16, 8)
        self.norm = nn.BatchNorm1d(8)
        self.register_buffer("inv_freq", 1e-4 ** (torch.arange(0, 8, 2) / 8), persistent=False)
        self.register_buffer("mask", torch.full((32, 32), -1e9).triu(1), persistent=False)
        self.register_buffer("places", torch.arange(32)[None])
        self.register_buffer("scale", torch.linspace(1, 2, 8))
        self.register_buffer("temperature", torch.tensor(2.0))
        self.shift = nn.Parameter(torch.tensor([0.5]), requires_grad=False)
        self.register_buffer("same", self.scale, persistent=False)
        self.register_buffer("calls", torch.zeros(8), persistent=False)
        self.table = torch.linspace(0, 1, 100)

    def forward(self, ids):
        n = ids.shape[1]
        x = self.tokens(ids) * self.scale + self.same + self.calls
        self.calls.add_(1)
        x = self.norm(x.transpose(1, 2)).transpose(1, 2) + torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]) * self.table[:8]
        angles = self.places[0, :n, None] * self.inv_freq
        first, second = x.chunk(2, -1)
        y = torch.cat([first * angles.cos() - second * angles.sin(), first * angles.sin() + second * angles.cos()], -1)
        attention = (y @ y.transpose(1, 2) / self.temperature + self.shift + self.mask[:n, :n]).softmax(-1)
        return (attention @ x).tanh().square().sum()


def test_what_no_state_dict_has_is_constant(tmp_path):
    """What a program begins with, computes and saves is that of PyTorch with the file of load_state_dict(strict=True)."""
    torch.manual_seed(0)
    module, ids = Rotary(), torch.randint(16, (2, 6))
    with pytest.warns(UserWarning, match="the forward changes calls, which an ONNX graph cannot say"):
        gpuopt.export(module, ids, tmp_path / "model.onnx", symbolic_batch=False)
    trainer = Trainer(tmp_path / "model.onnx", tmp_path / "program", OPTIMIZATION_FOR_ONE_STEP, loss="none")
    # A buffer that the forward changes stays state, and a tied one is known by both names.
    assert set(trainer.initial_weights()) == {
        "tokens.weight", "norm.weight", "norm.bias", "norm.running_mean", "norm.running_var", "scale", "same", "calls",
        "temperature", "shift",
    }
    with torch.no_grad():
        module.tokens.weight.normal_()
        module.temperature.fill_(0.25)
    state = {name: tensor.numpy() for name, tensor in module.state_dict().items()} | {"calls": np.zeros(8, np.float32)}
    safetensors.write(tmp_path / "state.safetensors", state)
    flags = {"init_from": tmp_path / "state.safetensors", "init_strict": True, "learning_rate": 0, "max_steps": 1, "save_steps": 1}
    result = trainer.run({"ids": ids.numpy()}, **flags)
    assert "warning" not in result.output
    assert result.losses[0] == pytest.approx(module(ids).item(), rel=1e-5)
    checkpoint = trainer.folder / "run1" / "checkpoint-1"
    assert set(safetensors.read(checkpoint / "model.safetensors")) == set(trainer.initial_weights())
    resumed = trainer.run({"ids": ids.numpy()}, resume=checkpoint, learning_rate=0, max_steps=2)
    assert resumed.losses == pytest.approx(result.losses, rel=1e-5)


class Attention(nn.Module):
    """The result's layout is not that of other kernels of attention."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(16, 48)

    def forward(self, x):
        q, k, v = (y.unflatten(-1, (2, 8)).transpose(1, 2) for y in self.qkv(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=0.25 if self.training else 0.0)
        return y.transpose(1, 2).reshape(*x.shape)


@pytest.mark.parametrize("through_gpuopt", [True, False])
def test_dropout_of_attention(tmp_path, through_gpuopt):
    path = tmp_path / "model.onnx"
    if through_gpuopt:
        gpuopt.export(Attention(), torch.zeros(2, 6, 16), path)
    else:
        # Its optimizer, in addition, drops what drops nothing.
        torch.onnx.export(Attention(), (torch.zeros(2, 6, 16),), path, dynamo=True, optimize=False, external_data=False, verbose=False)
    text = compiled(path)
    assert ("dropout 2.5" in text) == through_gpuopt
    assert ("dropout is off at " in text) != through_gpuopt


def test_evaluation_mode_is_told(tmp_path):
    module = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.5), nn.Dropout(0)).eval()
    with pytest.warns(UserWarning, match="is in evaluation mode, but is exported as it trains, with BatchNorm1d and Dropout active"):
        gpuopt.export(module, torch.zeros(2, 4), tmp_path / "model.onnx")
    assert not any(part.training for part in module.modules())


class CallsDropout(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return F.dropout(self.linear(x), 0.5, self.training)


class Recurrent(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.layers = nn.LSTM(4, 4, 2, dropout=dropout, batch_first=True)

    def forward(self, x):
        return self.layers(x)[0]


class Attends(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(4, 2, dropout=0.5, batch_first=True)

    def forward(self, x):
        return self.attention(x, x, x, need_weights=False)[0]


@pytest.mark.parametrize("module, place", [
    (CallsDropout(), "node_native_dropout"), (Recurrent(0.5), "layers/"), (Recurrent(0.0), None), (Attends(), "attention/"),
], ids=["call", "recurrent", "none", "attention"])
def test_dropout_without_a_module_is_told_in_evaluation_mode(module, place, tmp_path, recwarn):
    gpuopt.export(module.eval(), torch.zeros(2, 3, 4), tmp_path / "model.onnx")
    told = [str(warning.message) for warning in recwarn if "is in evaluation mode" in str(warning.message)]
    assert len(told) == (place is not None)
    assert all(f"with dropout (at {place}" in text for text in told), told


def test_export_says_nothing_of_its_own(tmp_path):
    code = f"""import sys
sys.path[:] = {sys.path!r}
import gpuopt, torch
gpuopt.export(torch.nn.Linear(2, 2), torch.zeros(1, 2), {str(tmp_path / "model.onnx")!r})"""
    assert execute([sys.executable, "-c", code]) == ""


class ForTwo(nn.Module):
    """Computes for two samples alone."""

    def forward(self, x):
        return x.reshape(2, 4)


def batches(path):
    return [value.shape[0] for value in onnx_ir.load(path).graph.inputs if value.shape]


@pytest.mark.parametrize(("module", "shape"), [(nn.Linear(4, 4), (4,)), (ForTwo(), (2, 4))])
def test_a_fixed_batch_is_told(module, shape, tmp_path, recwarn):
    path = tmp_path / "model.onnx"
    with pytest.warns(UserWarning, match=f"first dimension of (input|x) is fixed at {shape[0]} in the file, and --batch-size cannot"):
        gpuopt.export(module, torch.zeros(shape), path)
    assert batches(path) == [shape[0]]
    recwarn.clear()
    gpuopt.export(module, torch.zeros(shape), path, symbolic_batch=False)
    assert not [str(warning.message) for warning in recwarn if "first dimension" in str(warning.message)]


class Scaled(nn.Module):
    def forward(self, x, *others):
        for other in others:
            x = x * other
        return x


def test_an_input_without_dimensions_has_no_batch(tmp_path):
    gpuopt.export(Scaled(), (torch.zeros(2, 4), torch.tensor(2.0), torch.ones(2, 1)), tmp_path / "model.onnx")
    assert [str(size) for size in batches(tmp_path / "model.onnx")] == ["batch", "batch"]


@pytest.mark.parametrize(("inputs", "error", "message"), [
    ((torch.zeros(2, 4), torch.ones(4)), ValueError,
     "the first dimension of all example inputs is the batch, and must be of one size of at least 1, but is x: 2, others_0: 4; "
     "with symbolic_batch=False all sizes stay as they are"),
    (torch.zeros(0, 4), ValueError, "of at least 1, but is x: 0"),
    ((torch.zeros(2, 4), 2.0), TypeError,
     "the example input 'others_0' must be a tensor, but is a float; make what is no tensor a part of the module"),
    (np.zeros((2, 4), np.float32), TypeError, "the example input 'x' must be a tensor, but is a ndarray; torch.from_numpy makes one of it"),
])
def test_inputs_that_have_no_batch_in_common(inputs, error, message, tmp_path):
    with pytest.raises(error, match=message):
        gpuopt.export(Scaled(), inputs, tmp_path / "model.onnx")
    assert not (tmp_path / "model.onnx").exists()


def test_example_inputs_by_name(tmp_path):
    with pytest.raises(TypeError, match="example_inputs must be tensors in the order of the forward's arguments, but is a dict "
                       "with names: give its values alone, in a tuple, and other names than the arguments have by input_names="):
        gpuopt.export(Scaled(), {"x": torch.zeros(2, 4)}, tmp_path / "model.onnx")


def test_what_is_no_module(tmp_path):
    with pytest.raises(TypeError, match="module must be a torch.nn.Module, but is a OrderedDict"):
        gpuopt.export(Scaled().state_dict(), torch.zeros(2, 4), tmp_path / "model.onnx")


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.full((4,), 3.0))
        self.register_buffer("table", torch.arange(4.0))
        self.layer = nn.Linear(4, 3)

    def forward(self, x, scale):
        return self.layer(x * self.scale + scale + self.table)


@pytest.mark.parametrize(("options", "message"), [
    ({}, "the argument 'scale' of the forward has the name of a parameter of the module, and both would be 'scale' in the graph: "
     r"name the inputs by input_names=, in place of \['x', 'scale'\]"),
    (dict(input_names=["x", "table"]), "input_names has 'table', which is the name of a buffer of the module, and both would be "
     "'table' in the graph: choose another name"),
    (dict(input_names=["x", "y"], output_names=["layer.weight"]),
     "output_names has 'layer.weight', which is the name of a parameter of the module"),
    (dict(input_names=["x", "y"], output_names=["y"]), "output_names has 'y', which is the name of an input: choose another name"),
    (dict(input_names=["x", "y"], output_names=["a", "a"]), "output_names must be different names, but is "),
    (dict(input_names=["x", "y"], output_names=["a", "b"]), "output_names has 2 names, but the module has 1 output: leave out 'b'"),
    (dict(input_names=["x", "y"], opset=17), "opset must be 18 or later, but is 17: "
     "PyTorch's exporter has no operators of earlier versions"),
])
def test_names_that_collide(options, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        gpuopt.export(Scale(), (torch.ones(2, 4), torch.zeros(2, 4)), tmp_path / "model.onnx", **options)
    assert not (tmp_path / "model.onnx").exists()


def test_output_names_are_a_list(tmp_path):
    with pytest.raises(TypeError, match="output_names must be a list of names, but is 'logits'"):
        gpuopt.export(nn.Linear(4, 3), torch.ones(2, 4), tmp_path / "model.onnx", output_names="logits")


@pytest.mark.parametrize("options", [dict(input_names=["linear"]), dict(output_names=["linear"]), dict(output_names=["relu"])])
def test_values_inside_give_way(options, tmp_path):
    """The exporter calls them linear, relu and linear_1."""
    torch.manual_seed(1)
    module, x = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 3)), torch.randn(2, 4)
    gpuopt.export(module, x, tmp_path / "model.onnx", **options)
    session = onnxruntime.InferenceSession(str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"])
    [y] = session.run(None, {session.get_inputs()[0].name: x.numpy()})
    np.testing.assert_allclose(y, module(x).detach().numpy(), rtol=1e-5, atol=1e-6)
    given = [*options.get("input_names", []), *options.get("output_names", [])]
    assert [value.name for value in (*session.get_inputs(), *session.get_outputs()) if value.name in given] == given


class Stopping(nn.Module):
    """Stops gradients, and what has none."""

    def __init__(self, kinds):
        super().__init__()
        self.kinds = kinds
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)
        self.still = nn.Parameter(torch.ones(4), requires_grad=False)

    def forward(self, x):
        y = self.first(x)
        z = x.detach() * torch.tensor(2.0) + self.still.detach()
        if "detach" in self.kinds:
            y = z + (y - z).detach()
        if "no_grad" in self.kinds:
            with torch.no_grad():
                z = z + self.second(y) * 2
        if "place" in self.kinds:
            z = z * y.detach().argmax(1, keepdim=True) + (y.detach() > 0)
        return self.second(y + z).square().sum()


@pytest.mark.parametrize("module", [nn.Linear(4, 4).eval(), Settled(), Stopping(["place"])])
def test_modules_without_a_warning(module, tmp_path, recwarn):
    gpuopt.export(module, torch.zeros(2, 4), tmp_path / "model.onnx")
    assert not [str(warning.message) for warning in recwarn if str(warning.message).startswith("the ")]


@pytest.mark.parametrize("kind", variants([nn.LSTM, nn.GRU, nn.RNN], [nn.LSTM]))
def test_recurrent_modules_without_any_warning(kind, tmp_path, recwarn):
    gpuopt.export(kind(4, 3, batch_first=True), torch.zeros(5, 2, 4), tmp_path / "model.onnx")
    assert not [str(warning.message) for warning in recwarn]


def test_changed_buffers_are_told(tmp_path):
    module = nn.Sequential(nn.utils.parametrizations.spectral_norm(nn.Linear(4, 4)), nn.BatchNorm1d(4))
    message = r"the forward changes 0\.parametrizations\.weight\.0\._u, 0\.parametrizations\.weight\.0\._v, which an ONNX graph"
    with pytest.warns(UserWarning, match=message):
        gpuopt.export(module, torch.zeros(2, 4), tmp_path / "model.onnx")
    found = kinds(compiled(tmp_path / "model.onnx"))
    assert found["0.parametrizations.weight.original"] == "parameter"


def expect_equal_gradients(module, x, tmp_path):
    """The program of a module that computes its loss has the module's loss and gradients."""
    gpuopt.export(module, x, tmp_path / "model.onnx", symbolic_batch=False)
    trainer = Trainer(tmp_path / "model.onnx", tmp_path / "program", OPTIMIZATION_FOR_ONE_STEP, loss="none")
    loss, gradients, _ = gradients_of(trainer, {"x": x.numpy()}, None)
    expected = module(x)
    expected.backward()
    assert loss == pytest.approx(expected.item(), rel=1e-5)
    assert worst_gradient(module, gradients)[0] <= 1e-5


@pytest.mark.parametrize("kinds", variants([["detach"], ["no_grad"], ["detach", "no_grad"]], [["detach", "no_grad"]]))
def test_gradients_stop_where_the_forward_stops_them(kinds, tmp_path):
    torch.manual_seed(0)
    module, x = Stopping(kinds), torch.randn(2, 4)
    expect_equal_gradients(module, x, tmp_path)


def test_an_output_that_stops_gradients_keeps_its_name():
    x = onnx_ir.val("x", onnx_ir.DataType.FLOAT, [2])
    node = onnx_ir.node("Neg", [x], name="neg")
    node.outputs[0].name = "y"
    model = onnx_ir.Model(onnx_ir.Graph([x], node.outputs, nodes=[node], name="g"), ir_version=10)
    exporting._stop_gradients(model, ["y"])
    output = model.graph.outputs[0]
    assert output.name == "y" and output.producer().op_type == "Identity" and output.producer().inputs[0] is node.outputs[0]
    assert output.metadata_props == {"gpuopt.stops_gradient": "true"}


class Padded(nn.Module):
    """Two embeddings, of which one is the head's weight as well, and has a gradient in all rows from there."""

    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(6, 4, padding_idx=1)
        self.places = nn.Embedding(5, 4, padding_idx=-1)
        self.plain = nn.Embedding(6, 4)
        self.frequent = nn.Embedding(6, 4, padding_idx=0)

    def forward(self, ids):
        x = self.tokens(ids) * self.places(torch.arange(5)) + self.plain(ids).tanh() * self.frequent(ids)
        return (x @ self.tokens.weight.T).square().sum()


def test_padding_gets_no_gradient(tmp_path):
    torch.manual_seed(0)
    module, ids = Padded(), torch.tensor([[0, 1, 1, 2, 3], [4, 5, 1, 0, 0]])
    with torch.no_grad():  # as rows are that were set after they were made
        for embedding in (module.tokens, module.places, module.frequent):
            embedding.weight[embedding.padding_idx] = torch.randn(4)
    gpuopt.export(module, ids, tmp_path / "model.onnx", symbolic_batch=False)
    trainer = Trainer(tmp_path / "model.onnx", tmp_path / "program", OPTIMIZATION_FOR_ONE_STEP, loss="none")
    loss, gradients, _ = gradients_of(trainer, {"ids": ids.numpy()}, None)
    expected = module(ids)
    expected.backward()
    assert loss == pytest.approx(expected.item(), rel=1e-5)
    assert worst_gradient(module, gradients)[0] <= 1e-5
    assert not gradients["places.weight"][4].any() and gradients["tokens.weight"][1].any()


class Deviations(nn.Module):
    """Standard deviations of rows of which some have equal elements, and a root that is not guarded."""

    def __init__(self, dtype):
        super().__init__()
        rows = torch.tensor([[2.0, 2, 2, 2], [0, 0, 0, 0], [1, 2, 4, 8], [-1, 2, -3, 4]], dtype=dtype)
        self.rows, self.other = nn.Parameter(rows), nn.Parameter(rows + torch.arange(4))

    def forward(self, x):
        rows = self.rows * x
        total = rows.std(-1).sum() + (rows.std(1, correction=0, keepdim=True) * x).sum() + torch.std_mean(rows, 1)[0].prod() + rows.std()
        return total + (self.other.var(1) * x[:, 0]).sqrt().sum()


@pytest.mark.parametrize("dtype", [torch.double, torch.float])
def test_standard_deviations_of_equal_elements(dtype, tmp_path):
    """Their gradient is 0, as in PyTorch; that of a root of 0 is not finite."""
    module, x = Deviations(dtype), torch.ones(4, 4, dtype=dtype)
    expect_equal_gradients(module, x, tmp_path)
    guards = [node.name for node in onnx_ir.load(tmp_path / "model.onnx").graph if node.op_type == "Equal"]
    assert guards == ["node_sqrt_is_zero", "node_sqrt_1_is_zero", "node_sqrt_2_is_zero", "node_sqrt_3_is_zero"]


def test_a_deviation_that_is_an_output_keeps_its_name(tmp_path):
    class Spread(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(4))

        def forward(self, x):
            return (x * self.weight).std(-1)

    x = torch.tensor([[1.0, 2, 4, 8], [3, 3, 3, 3]])
    gpuopt.export(Spread(), x, tmp_path / "model.onnx", output_names=["spread"])
    [y] = onnxruntime.InferenceSession(tmp_path / "model.onnx").run(["spread"], {"x": x.numpy()})
    np.testing.assert_allclose(y, x.std(-1).numpy(), rtol=1e-6)


@pytest.mark.parametrize("reduce", ["mean", "sum", "amax"])
def test_scattered_means_are_told(reduce, tmp_path, recwarn):
    class Scattering(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(4))

        def forward(self, x):
            return (x * self.weight).scatter_reduce(1, torch.zeros(2, 4, dtype=torch.int64), x, reduce=reduce)

    gpuopt.export(Scattering(), torch.zeros(2, 4), tmp_path / "model.onnx", symbolic_batch=False)
    told = [str(warning.message) for warning in recwarn if "the forward calls scatter_reduce with reduce='mean'" in str(warning.message)]
    assert len(told) == (reduce == "mean")


def test_stops_that_the_exporter_loses_are_told():
    graph = onnx_ir.Graph([], [], nodes=[], name="g")
    with pytest.warns(UserWarning, match="the forward stops gradients at a, b, of which the exporter has left no trace"):
        exporting._stop_gradients(onnx_ir.Model(graph, ir_version=10), ["a", "b"])


class Tied(nn.Module):
    """An embedding whose table is the head's weight, and a GELU in a submodule."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(8, 4)
        self.body = nn.Sequential(nn.Linear(4, 4), nn.GELU(approximate="tanh"))
        self.head = nn.Linear(4, 8, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, ids):
        return self.head(self.body(self.embedding(ids)))


def test_tied_weights_are_saved_under_both_names(tmp_path):
    gpuopt.export(Tied(), torch.zeros(2, 3, dtype=torch.int64), tmp_path / "model.onnx")
    assert len(re.findall(r"train\.variable", compiled(tmp_path / "model.onnx"))) == 3
    flags = ["--batch-size=2", "--no-decay=^embedding"]
    execute([find_driver(), "compile", tmp_path / "model.onnx", "-o", tmp_path / "out", *flags])
    weights = safetensors.read(tmp_path / "out" / "model.safetensors")
    assert set(weights) == {"embedding.weight", "head.weight", "body.0.weight", "body.0.bias"}
    assert (weights["embedding.weight"] == weights["head.weight"]).all()
    source = "".join((tmp_path / "out" / name).read_text() for name in ("step.cu", "tables.h"))
    assert re.search(r'"(embedding|head)\.weight",\s*"(embedding|head)\.weight",\s*nullptr', source)
    updates = re.findall(r'(true|false)\}, // "(\S+)"', (tmp_path / "out" / "memory.h").read_text())
    assert sorted(updates) == [("false", "head.weight"), ("true", "body.0.bias"), ("true", "body.0.weight")]


def test_names_say_where_work_comes_from(tmp_path):
    """Names of nodes tell their submodule, names of gradients their parameter."""
    gpuopt.export(Tied(), torch.zeros(2, 3, dtype=torch.int64), tmp_path / "model.onnx")
    execute([find_driver(), "compile", tmp_path / "model.onnx", "-o", tmp_path / "out", "--batch-size=2"])
    source = "".join((tmp_path / "out" / name).read_text() for name in ("step.cu", "memory.h"))
    for text in ['"d body.0.weight" live', "// body.1/", "void fused_add_gelu(", "void fused_add_gelu_backward(",
                 "m[kD_Body0Weight]"]:
        assert text in source, text
