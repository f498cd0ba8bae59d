"""Loop and Scan nodes of a thousand iterations train as PyTorch does, and neither the program nor the time to compile
it grows with them. op_cases_loops.py has the forms of such nodes."""

import time

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper

from emulated import EmulatedTrainer, needs_target
from gpuopt.driver import find_driver
from op_cases_loops import COMPOSED
from op_cases_signals import node
from op_models import COMPILE_FLAGS, STEP_FLAGS, reference
from training import OPTIMIZATION_FOR_ONE_STEP, Trainer, execute, gradients_of

ITERATIONS, BATCH, STEPS, SIZE, WIDTH = 1000, 2, 3, 4, 5
FEW = 66  # just more than are unrolled
LINES = 600  # of step.cu; with as many unrolled iterations there are 1300
RATE = 0.05


def graph(nodes, inputs, outputs, element, name="body", constants=()):
    types = {"iteration": TensorProto.INT64, "condition": TensorProto.BOOL}
    value = lambda name: helper.make_tensor_value_info(name, types.get(name, element), [] if name in types else None)
    return helper.make_graph(nodes, name, list(map(value, inputs)), list(map(value, outputs)), list(constants))


def weights(dtype):
    random = np.random.default_rng(5)
    scale = lambda *shape: (0.3 * random.standard_normal(shape)).astype(dtype)
    return {"w": scale(WIDTH, SIZE), "r": scale(SIZE, SIZE), "decay": scale(SIZE), "h0": scale(BATCH, SIZE), "m0": scale(BATCH, SIZE)}


# The body reads the weights from the graph around it. Its states are a hidden one, and a mean of it over time.
CELL = [node("MatMul", ["h", "r"], ["product"], name="cell"), node("Add", ["product", "part"], ["sum"]), node("Tanh", ["sum"], ["new_h"]),
        node("Sigmoid", ["decay"], ["share"]), node("Mul", ["m", "share"], ["kept"]), node("Mul", ["new_h", "new_h"], ["square"]), node("Add", ["kept", "square"], ["new_m"])]


def write(path, form, iterations, dtype=np.float64):
    element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    nodes = [node("MatMul", ["x", "w"], ["inputs"])]
    constants = {}
    if form == "Scan":
        body = graph([*CELL, node("Identity", ["new_h"], ["row"])], ["h", "m", "part"], ["new_h", "new_m", "row"], element)
        nodes.append(node("Scan", ["h0", "m0", "inputs"], ["last", "mean", "rows"], body=body, num_scan_inputs=1, scan_input_axes=[1], scan_output_axes=[1], name="loop"))
    else:
        pick = node("Gather", ["inputs", "iteration"], ["part"], axis=1)
        body = graph([pick, *CELL, node("Identity", ["new_h"], ["row"])], ["iteration", "condition", "h", "m"], ["condition", "new_h", "new_m", "row"], element)
        constants |= {"trips": np.array(iterations), "true": np.array(True)}
        nodes += [node("Loop", ["trips", "true", "h0", "m0"], ["last", "mean", "steps"], body=body, name="loop"), node("Transpose", ["steps"], ["rows"], perm=[1, 0, 2])]
    nodes += [node("ReduceMean", ["rows"], ["of_rows"], keepdims=0), node("ReduceSum", ["mean"], ["of_mean"], keepdims=0), node("Add", ["of_rows", "of_mean"], ["loss"])]
    tensors = [numpy_helper.from_array(value, name) for name, value in (weights(dtype) | constants).items()]
    model = helper.make_graph(
        nodes, form, [helper.make_tensor_value_info("x", element, [BATCH, iterations, WIDTH])], [helper.make_tensor_value_info("loss", element, [])], tensors)
    onnx.save(helper.make_model(model, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)


def write_layers(path, dtype):
    """An LSTM, and a Loop over its rows."""
    element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    random = np.random.default_rng(6)
    shapes = {"lstm_w": (1, 4 * SIZE, WIDTH), "lstm_r": (1, 4 * SIZE, SIZE), "lstm_b": (1, 8 * SIZE)}
    layers = weights(dtype) | {name: (0.5 * random.standard_normal(shape)).astype(dtype) for name, shape in shapes.items()}
    del layers["w"]
    body = graph([node("Gather", ["inputs", "iteration"], ["part"]), *CELL, node("Identity", ["new_h"], ["row"])],
                 ["iteration", "condition", "h", "m"], ["condition", "new_h", "new_m", "row"], element)
    nodes = [node("Transpose", ["x"], ["steps"], perm=[1, 0, 2]), node("LSTM", ["steps", "lstm_w", "lstm_r", "lstm_b"], ["lstm"], hidden_size=SIZE),
             node("Squeeze", ["lstm", "one"], ["inputs"]), node("Loop", ["trips", "true", "h0", "m0"], ["last", "mean", "rows"], body=body, name="loop"),
             node("ReduceMean", ["rows"], ["of_rows"], keepdims=0), node("ReduceSum", ["mean"], ["of_mean"], keepdims=0), node("Add", ["of_rows", "of_mean"], ["loss"])]
    constants = {"trips": np.array(FEW), "true": np.array(True), "one": np.array([1])}
    model = helper.make_graph(nodes, "layers", [helper.make_tensor_value_info("x", element, [BATCH, FEW, WIDTH])], [helper.make_tensor_value_info("loss", element, [])],
                              [numpy_helper.from_array(value, name) for name, value in (layers | constants).items()])
    onnx.save(helper.make_model(model, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)
    return layers


def lstm_rows(x, values):
    """The hidden states of an LSTM with ONNX's order of gates, for each step."""
    rows, h = [], torch.zeros(BATCH, SIZE, dtype=x.dtype)
    cell, bias = torch.zeros_like(h), values["lstm_b"][0].view(2, -1).sum(0)
    for step in x.unbind(1):
        i, o, f, c = (step @ values["lstm_w"][0].T + h @ values["lstm_r"][0].T + bias).chunk(4, 1)
        cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(c)
        h = torch.sigmoid(o) * torch.tanh(cell)
        rows.append(h)
    return rows


def loss_of_cell(values, parts):
    h, m, rows = values["h0"], values["m0"], []
    for part in parts:
        h = torch.tanh(h @ values["r"] + part)
        m = m * torch.sigmoid(values["decay"]) + h * h
        rows.append(h)
    return torch.stack(rows, 1).mean() + m.sum()


def train(x, dtype=np.float64):
    """The losses of each step, and the weights after the last one, of PyTorch in double precision; the weights are
    those of a file in `dtype` at first."""
    values = {name: torch.from_numpy(value.astype(np.float64)).requires_grad_() for name, value in weights(dtype).items()}
    losses = []
    for batch in x:
        loss = loss_of_cell(values, (torch.from_numpy(batch) @ values["w"]).unbind(1))
        losses.append(loss.item())
        for value, gradient in zip(values.values(), torch.autograd.grad(loss, list(values.values()))):
            value.data -= RATE * gradient
    return losses, {name: value.detach().numpy() for name, value in values.items()}


SCANS = [case for case in COMPOSED["long_loops"] if case.op == "Scan"]


@pytest.mark.parametrize("case", SCANS, ids=[case.name for case in SCANS])
def test_references_of_scans_are_onnxs(case):
    values, constants, operands = {}, [], iter(case.values())
    for name, operand in zip("abcdef", case.operands):
        if isinstance(operand, tuple):
            values[name] = next(operands)
        else:
            constants.append(numpy_helper.from_array(operand, name))
    names = [f"y{i}" for i in range(len(case.attributes["body"].output))]
    value = lambda name, shape=None: helper.make_tensor_value_info(name, TensorProto.DOUBLE, shape)
    model = helper.make_graph([node("Scan", list("abcdef"[: len(case.operands)]), names, **case.attributes)], "scan",
                              [value(name, array.shape) for name, array in values.items()], case.attributes["body"].output, constants)
    for output, name in zip(model.output, names):
        output.name = name
        output.type.tensor_type.ClearField("shape")
    model = helper.make_model(model, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    results = dict(zip(names, session.run(names, values)))
    checked = dict(zip(case.outputs("checked"), names))["checked"]
    np.testing.assert_allclose(results[checked], reference(case)[1], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("form", ["Scan", "Loop"])
def test_a_thousand_iterations(form, tmp_path):
    write(tmp_path / "model.onnx", form, ITERATIONS)
    trainer = Trainer(tmp_path / "model.onnx", tmp_path / "program", OPTIMIZATION_FOR_ONE_STEP, loss="none", optimizer="sgd")
    x = np.random.default_rng(7).standard_normal((STEPS, BATCH, ITERATIONS, WIDTH))
    result = trainer.run({"x": x.reshape(STEPS * BATCH, ITERATIONS, WIDTH)}, learning_rate=RATE, lr_scheduler_type="constant", max_grad_norm=0, max_steps=STEPS)
    losses, expected = train(x)
    np.testing.assert_allclose(result.losses, losses, rtol=1e-6)  # printed in single precision
    for name, value in expected.items():
        np.testing.assert_allclose(result.weights[name], value, rtol=1e-9, atol=1e-12, err_msg=name)
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    np.testing.assert_allclose(session.run(["loss"], {"x": x[0]})[0], losses[0], rtol=1e-9)


@pytest.mark.parametrize("form", ["Scan", "Loop"])
def test_files_in_half_precision(form, tmp_path):
    """Loops of such a file stay loops, and are trained in single precision as everything else of it."""
    write(tmp_path / "model.onnx", form, FEW, np.float16)
    trainer = Trainer(tmp_path / "model.onnx", tmp_path / "program", OPTIMIZATION_FOR_ONE_STEP, loss="none", optimizer="sgd")
    assert len((tmp_path / "program" / "step.cu").read_text().splitlines()) < LINES
    x = np.random.default_rng(7).standard_normal((STEPS, BATCH, FEW, WIDTH)).astype(np.float16)
    result = trainer.run({"x": x.reshape(STEPS * BATCH, FEW, WIDTH)}, learning_rate=RATE, lr_scheduler_type="constant", max_grad_norm=0, max_steps=STEPS)
    losses, expected = train(x.astype(np.float64), np.float16)
    np.testing.assert_allclose(result.losses, losses, rtol=1e-5)
    for name, value in expected.items():
        # The program saves weights in the type of the file.
        np.testing.assert_allclose(result.weights[name], value, rtol=1e-3, atol=1e-3, err_msg=name)


@pytest.mark.parametrize("form", ["Scan", "Loop"])
def test_programs_do_not_grow(form, tmp_path):
    """A loop of 1000 iterations and one of 4000 have programs of about the same size (long sums are split), and both compile in seconds."""
    seconds, lines = {}, {}
    for iterations in (1000, 4000):
        write(tmp_path / f"{iterations}.onnx", form, iterations)
        folder = tmp_path / str(iterations)
        begin = time.perf_counter()
        output = execute([find_driver(), "compile", tmp_path / f"{iterations}.onnx", "-o", folder, "--target=host", "--loss=none"])
        seconds[iterations] = time.perf_counter() - begin
        lines[iterations] = [len((folder / name).read_text().splitlines()) for name in ("step.cu", "calls.h", "memory.h")]
        assert "unrolled" not in output
    for few, many in zip(lines[1000], lines[4000]):
        assert many < 1.1 * few, lines
    assert seconds[4000] < 10, seconds  # 4000 unrolled iterations take minutes


def write_normalised(path):
    """A Scan whose iterations normalise a sum by running statistics."""
    double, random = TensorProto.DOUBLE, np.random.default_rng(3)
    shape = {"w": (WIDTH, SIZE), "scale": SIZE, "bias": SIZE, "mean": SIZE, "variance": SIZE, "h0": (BATCH, SIZE)}
    tensors = {name: 0.3 * random.standard_normal(size) for name, size in shape.items()}
    tensors["scale"], tensors["variance"] = tensors["scale"] + 0.8, 0.5 + tensors["variance"] ** 2
    body = graph([node("Add", ["h", "part"], ["sum"]), node("BatchNormalization", ["sum", "scale", "bias", "mean", "variance"], ["even"], epsilon=1e-3), node("Tanh", ["even"], ["new_h"]),
                  node("Identity", ["new_h"], ["row"])], ["h", "part"], ["new_h", "row"], double)
    nodes = [node("MatMul", ["x", "w"], ["inputs"]),
             node("Scan", ["h0", "inputs"], ["last", "rows"], body=body, num_scan_inputs=1, scan_input_axes=[1], scan_output_axes=[1], name="loop"),
             node("ReduceMean", ["rows"], ["of_rows"], keepdims=0), node("ReduceSum", ["last"], ["of_last"], keepdims=0), node("Add", ["of_rows", "of_last"], ["loss"])]
    model = helper.make_graph(nodes, "normalised", [helper.make_tensor_value_info("x", double, [BATCH, FEW, WIDTH])], [helper.make_tensor_value_info("loss", double, [])],
                              [numpy_helper.from_array(value, name) for name, value in tensors.items()])
    onnx.save(helper.make_model(model, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)
    return tensors


def test_iterations_with_running_statistics(tmp_path):
    tensors = write_normalised(tmp_path / "model.onnx")
    trainer = Trainer(tmp_path / "model.onnx", tmp_path / "program", OPTIMIZATION_FOR_ONE_STEP, loss="none", batch_norm="frozen")
    x = np.random.default_rng(7).standard_normal((BATCH, FEW, WIDTH))
    loss, gradients, _ = gradients_of(trainer, {"x": x}, None)
    values = {name: torch.from_numpy(value).requires_grad_(name not in ("mean", "variance")) for name, value in tensors.items()}
    h, rows = values["h0"], []
    for part in (torch.from_numpy(x) @ values["w"]).unbind(1):
        h = torch.nn.functional.batch_norm(h + part, values["mean"], values["variance"], values["scale"], values["bias"], eps=1e-3).tanh()
        rows.append(h)
    expected = torch.stack(rows, 1).mean() + h.sum()
    expected.backward()
    assert loss == pytest.approx(expected.item(), rel=1e-6)
    for name in ("w", "scale", "bias", "h0"):
        np.testing.assert_allclose(gradients[name], values[name].grad.numpy(), rtol=1e-9, atol=1e-12, err_msg=name)
    for name in ("mean", "variance"):
        assert not gradients[name].any()


def write_attention(path):
    """A Scan whose iterations attend to their state, with scores that a trained mask is added to. The query is scaled
    before its layout changes."""
    single, random, heads, width = TensorProto.FLOAT, np.random.default_rng(0), 2, 8
    shapes = {"x": (FEW, WIDTH, width), "wq": (width, width), "wk": (width, width), "wv": (width, width), "mask": (WIDTH, WIDTH), "h0": (WIDTH, width)}
    tensors = {name: (0.4 * random.standard_normal(shape)).astype(np.float32) for name, shape in shapes.items()}
    nodes = [node("Add", ["part", "h"], ["z"])]
    for name, order in [("q", [1, 0, 2]), ("k", [1, 2, 0]), ("v", [1, 0, 2])]:
        nodes.append(node("MatMul", ["z", f"w{name}"], [f"{name}0"]))
        if name == "q":
            nodes.append(node("Mul", ["q0", "half"], ["q1"]))
        nodes += [node("Reshape", ["q1" if name == "q" else f"{name}0", "split"], [f"{name}2"]), node("Transpose", [f"{name}2"], [name], perm=order)]
    nodes += [node("MatMul", ["q", "k"], ["scores"]), node("Add", ["scores", "mask"], ["masked"]), node("Softmax", ["masked"], ["shares"]), node("MatMul", ["shares", "v"], ["heads"]),
              node("Transpose", ["heads"], ["joined"], perm=[1, 0, 2]), node("Reshape", ["joined", "whole"], ["y"]), node("Tanh", ["y"], ["new_h"])]
    sizes = {"half": np.array(0.5, np.float32), "split": np.array([WIDTH, heads, width // heads]), "whole": np.array([WIDTH, width])}
    body = graph(nodes, ["h", "part"], ["new_h"], single, constants=[numpy_helper.from_array(value, name) for name, value in sizes.items()])
    nodes = [node("Mul", ["x", "one"], ["parts"]), node("Scan", ["h0", "parts"], ["last"], body=body, num_scan_inputs=1, name="loop"),
             node("Mul", ["last", "last"], ["square"]), node("ReduceSum", ["square"], ["loss"], keepdims=0)]
    model = helper.make_graph(nodes, "attention", [helper.make_tensor_value_info("one", single, [1])], [helper.make_tensor_value_info("loss", single, [])],
                              [numpy_helper.from_array(value, name) for name, value in tensors.items()])
    onnx.save(helper.make_model(model, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)
    return tensors


def test_attention_with_a_trained_mask_in_iterations(tmp_path):
    tensors = write_attention(tmp_path / "model.onnx")
    trainer = Trainer(tmp_path / "model.onnx", tmp_path / "program", OPTIMIZATION_FOR_ONE_STEP, **COMPILE_FLAGS)
    before = {name: np.array(value) for name, value in trainer.initial_weights().items()}
    after = trainer.run({"one": np.ones(1, np.float32)}, **STEP_FLAGS).weights
    values = {name: torch.from_numpy(value.astype(np.float64)).requires_grad_() for name, value in tensors.items()}
    h = values["h0"]
    for part in values["x"]:
        q, k, v = (((part + h) @ values[name]).reshape(WIDTH, 2, 4).transpose(0, 1) for name in ("wq", "wk", "wv"))
        shares = (q * 0.5 @ k.mT + values["mask"]).softmax(-1)
        h = (shares @ v).transpose(0, 1).reshape(WIDTH, 8).tanh()
    h.square().sum().backward()
    for name, value in values.items():
        # The difference of two weights is rounded as these are.
        np.testing.assert_allclose(before[name] - after[name], value.grad.numpy(), rtol=1e-4, atol=1e-7, err_msg=name)


def check_layers(trainer, layers, dtype, **tolerance):
    """Compares the loss and all gradients of `write_layers` with PyTorch's in double precision."""
    x = np.random.default_rng(7).standard_normal((BATCH, FEW, WIDTH)).astype(dtype)
    loss, gradients, _ = gradients_of(trainer, {"x": x}, None)
    values = {name: torch.from_numpy(value.astype(np.float64)).requires_grad_() for name, value in layers.items()}
    expected = loss_of_cell(values, lstm_rows(torch.from_numpy(x.astype(np.float64)), values))
    expected.backward()
    assert loss == pytest.approx(expected.item(), rel=1e-5)
    for name, value in values.items():
        np.testing.assert_allclose(gradients[name], value.grad.numpy(), err_msg=name, **tolerance)
    return x


@needs_target
def test_loops_of_the_cuda_program(tmp_path):
    """By the threads of the CUDA program, each of its steps, and the graph that the third one replays, has the bits of
    any order of threads."""
    layers = write_layers(tmp_path / "model.onnx", np.float32)
    trainer = EmulatedTrainer(tmp_path / "model.onnx", tmp_path / "program", loss="none")
    assert (tmp_path / "program" / "step.cu").read_text().count("iteration < 66") >= 4
    x = check_layers(trainer, layers, np.float32, rtol=1e-4, atol=1e-5)
    one, other = [trainer.run_in_order(seed, {"x": x}, max_steps=4, learning_rate=RATE, lr_scheduler_type="constant") for seed in (1, 2)]
    assert one.losses == other.losses and one.losses[-1] < one.losses[0]
    assert not [name for name in one.weights if one.weights[name].tobytes() != other.weights[name].tobytes()]
