"""gpuopt export --merge-lora: the model with an adapter, as PEFT saves it, merged into its weights."""

import json
import subprocess

import numpy as np
import onnx
import onnxruntime
import pytest
import torch

import gpuopt
from gpuopt import safetensors
from gpuopt.driver import find_driver

RANK = 3


class Conv1D(torch.nn.Module):
    """That of transformers' GPT-2: its weight is [in, out]."""

    def __init__(self, rows, columns):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(rows, columns) / rows**0.5)

    def forward(self, x):
        return x @ self.weight


class Model(torch.nn.Module):
    def __init__(self, is_turned):
        super().__init__()
        torch.manual_seed(5)
        self.words = torch.nn.Embedding(11, 8)
        # A square weight has nothing that tells which way round it is.
        self.square = Conv1D(8, 8) if is_turned else torch.nn.Linear(8, 8, bias=False)
        self.conv = torch.nn.Conv2d(1, 4, (3, 2))
        self.classifier = torch.nn.Linear(4 * 6 * 7, 5)

    def forward(self, ids):
        hidden = self.square(self.words(ids))
        return self.classifier(torch.relu(self.conv(hidden[:, None])).flatten(1))


def adapter(folder, is_turned, **config):
    """Writes what PEFT's save_pretrained writes for adapters of all layers and for a classifier that is trained as a
    whole; returns the state of the merged model."""
    draw = np.random.default_rng(2)
    number = lambda *shape: draw.normal(size=shape).astype(np.float32)
    config = {"peft_type": "LORA", "r": RANK, "lora_alpha": 6, "fan_in_fan_out": is_turned, "alpha_pattern": {"conv": 12}, **config}
    scale = {name: config["alpha_pattern"].get(name, 6) / (RANK**0.5 if config.get("use_rslora") else RANK)
             for name in ("words", "square", "conv")}
    front = "base_model.model."
    tensors = {
        front + "words.lora_embedding_A": number(RANK, 11), front + "words.lora_embedding_B": number(8, RANK),
        front + "square.lora_A.weight": number(RANK, 8), front + "square.lora_B.weight": number(8, RANK),
        front + "conv.lora_A.weight": number(RANK, 1, 3, 2), front + "conv.lora_B.weight": number(4, RANK, 1, 1),
        front + "classifier.weight": number(5, 4 * 6 * 7), front + "classifier.bias": number(5),
    }
    folder.mkdir()
    (folder / "adapter_config.json").write_text(json.dumps(config))
    safetensors.write(folder / "adapter_model.safetensors", tensors)
    state = {name: value.detach().numpy().copy() for name, value in Model(is_turned).state_dict().items()}
    a = {name: tensors[front + name + ".lora_A.weight"].reshape(RANK, -1) for name in ("square", "conv")}
    b = {name: tensors[front + name + ".lora_B.weight"].reshape(-1, RANK) for name in a}
    term = scale["square"] * b["square"] @ a["square"]
    state["square.weight"] += term.T if is_turned else term
    state["conv.weight"] += (scale["conv"] * b["conv"] @ a["conv"]).reshape(4, 1, 3, 2)
    state["words.weight"] += scale["words"] * (tensors[front + "words.lora_embedding_B"] @ tensors[front + "words.lora_embedding_A"]).T
    for name in ("classifier.weight", "classifier.bias"):
        state[name] = tensors[front + name]
    return state


def export(*arguments):
    return subprocess.run([find_driver(), "export", *arguments], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("is_turned, config", [(False, {}), (True, {}), (False, {"use_rslora": True})])
def test_computes_what_the_adapted_model_does(tmp_path, is_turned, config):
    model, ids = Model(is_turned), torch.randint(0, 11, (2, 8), generator=torch.manual_seed(1))
    gpuopt.export(model.train(), ids, tmp_path / "base.onnx", input_names=["ids"])
    state = adapter(tmp_path / "adapter", is_turned, **config)
    process = export(tmp_path / "base.onnx", "--merge-lora", tmp_path / "adapter", "-o", tmp_path / "merged.onnx")
    assert process.returncode == 0, process.stderr
    assert f"base.onnx with 5 tensors adapted by {tmp_path / 'adapter'}" in process.stdout
    model.load_state_dict({name: torch.from_numpy(value) for name, value in state.items()})
    session = onnxruntime.InferenceSession(str(tmp_path / "merged.onnx"), providers=["CPUExecutionProvider"])
    [found] = session.run(None, {"ids": ids.numpy()})
    np.testing.assert_allclose(found, model.eval()(ids).detach().numpy(), rtol=1e-4, atol=1e-5)


def test_of_a_run_and_errors(tmp_path):
    """The weights of a run are adapted as well; what an adapter cannot say of a model is an error, and writes nothing."""
    model, ids = Model(False), torch.zeros(2, 8, dtype=torch.int64)
    gpuopt.export(model.train(), ids, tmp_path / "base.onnx", input_names=["ids"])
    state = adapter(tmp_path / "adapter", False)
    run, merged = tmp_path / "run", tmp_path / "merged.onnx"
    run.mkdir()
    twice = {name: 2 * value.detach().numpy() for name, value in model.state_dict().items()}
    safetensors.write(run / "model.safetensors", twice)
    line = [run, "--model", tmp_path / "base.onnx", "--merge-lora", tmp_path / "adapter", "-o", merged]
    assert export(*line).returncode == 0
    stored = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in onnx.load(merged).graph.initializer}
    expected = state["square.weight"] + model.square.weight.detach().numpy()
    [square] = [value for name, value in stored.items() if name.endswith("square.weight")]
    np.testing.assert_allclose(square, expected, rtol=1e-5, atol=1e-6)
    merged.unlink()

    config, file = tmp_path / "adapter" / "adapter_config.json", tmp_path / "adapter" / "adapter_model.safetensors"
    good, tensors = config.read_text(), safetensors.read(file)
    front = "base_model.model."

    def refused(message):
        process = export(*line)
        assert process.returncode == 1 and message in process.stderr, process.stderr
        assert not merged.exists()

    for change, message in [({"peft_type": "IA3"}, 'is of no LoRA: expects "peft_type": "LORA", but got "IA3"'),
                            ({"use_dora": True}, "is of DoRA, which scales whole weights")]:
        config.write_text(json.dumps({**json.loads(good), **change}))
        refused(message)
    config.write_text("{")
    refused("adapter_config.json' is no JSON")
    config.write_text(good)
    for change, message in [
        ({"other.lora_A.weight": np.zeros((3, 4), np.float32), "other.lora_B.weight": np.zeros((4, 3), np.float32)},
         f"--merge-lora: the model has no initializers for 'other.weight' of '{tmp_path / 'adapter'}'; "
         "export it with the names of its parameters, as gpuopt.export does"),
        ({"square.lora_B.weight": np.zeros((9, 3), np.float32)}, "'square.weight' of the adapter is of a weight [9, 8], but the model has it as f32 [8, 8]"),
        ({"square.lora_B.weight": np.zeros((8, 4), np.float32)}, "the matrices A [3, 8] and B [8, 4], which cannot be multiplied: expects [rank, in] and [out, rank]"),
        ({"square.lora_B.weight": np.zeros((8, 3), np.int64)}, "'base_model.model.square.lora_B.weight' is I64 [8, 3] of 192 bytes, but expects fractions of 16 to 64 bits"),
        ({"square.lora_B.bias": np.zeros(8, np.float32)}, "cannot be merged by adding a product: merge the adapter by PEFT's merge_and_unload and export the result"),
        ({"square.lora_C.weight": np.zeros(8, np.float32)}, "is of no layer that is known"),
        ({"square.weight": np.zeros((8, 8), np.float32)}, "has 'square.weight' as a whole and as a product"),
    ]:
        safetensors.write(file, {**tensors, **{front + name: value for name, value in change.items()}})
        refused(message)
    safetensors.write(file, {})
    refused("adapter_model.safetensors' has no tensors")
    file.unlink()
    refused("adapter_model.safetensors")
