"""gpuopt export --merge-lora: the model with an adapter, as PEFT saves it, merged into its weights."""

import json
import re
import subprocess

import numpy as np
import onnx
import onnxruntime
import pytest
import torch

import gpuopt
from gpuopt import safetensors
from gpuopt.driver import find_driver
from models import CausalLogits

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

    for change, message in [({"peft_type": "IA3"}, 'is not a LoRA adapter: expects "peft_type": "LORA", but got "IA3"'),
                            ({"use_dora": True}, "is of DoRA, which scales whole weights: merge the adapter by PEFT's merge_and_unload and export the result")]:
        config.write_text(json.dumps({**json.loads(good), **change}))
        refused(message)
    config.write_text("{")
    refused("adapter_config.json' is not JSON")
    config.write_text(good)
    for change, message in [
        ({"other.lora_A.weight": np.zeros((3, 4), np.float32), "other.lora_B.weight": np.zeros((4, 3), np.float32)},
         f"--merge-lora: the model has no initializers for 'other.weight' of '{tmp_path / 'adapter'}', though for its other weights: it is of another "
         "model, or the export has changed these; merge the adapter by PEFT's merge_and_unload and export the result"),
        ({"square.lora_B.weight": np.zeros((9, 3), np.float32)}, "'square.weight' of the adapter is of a weight [9, 8], but the model has it as f32 [8, 8]"),
        ({"square.lora_B.weight": np.zeros((8, 4), np.float32)}, "the matrices A [3, 8] and B [8, 4], which cannot be multiplied: expects [rank, in] and [out, rank]"),
        ({"square.lora_B.weight": np.zeros((8, 3), np.int64)}, "'base_model.model.square.lora_B.weight' is I64 [8, 3] of 192 bytes, but expects floating-point numbers of 16 to 64 bits"),
        ({"square.lora_B.bias": np.zeros(8, np.float32)}, "cannot be merged by adding a product: merge the adapter by PEFT's merge_and_unload and export the result"),
        ({"words.token_adapter.trainable_tokens_delta": np.zeros((2, 8), np.float32)}, "cannot be merged by adding a product: merge the adapter by PEFT's"),
        ({"classifier.base_layer.bias": np.zeros(5, np.float32)}, "replaces a weight that another tensor of the file replaces, too"),
        ({"square.base_layer.weight": np.zeros((9, 8), np.float32)}, "'square.weight' of the adapter has the base [9, 8], but a product [8, 8]"),
        ({"square.lora_C.weight": np.zeros(8, np.float32)}, "belongs to no known kind of layer"),
        ({"square.weight": np.zeros((8, 8), np.float32)}, "has 'square.weight' as a whole and as a product"),
    ]:
        safetensors.write(file, {**tensors, **{front + name: value for name, value in change.items()}})
        refused(message)
    safetensors.write(file, {})
    refused("adapter_model.safetensors' has no tensors")
    file.unlink()
    refused("adapter_model.safetensors")


def write_layers(folder, adapted, initializers, **config):
    """Writes a model that has initializers of given shapes, all 0, and an adapter of rank 1 for layers of given shapes.
    Returns the command line that merges them."""
    value = lambda name: onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1])
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Identity", ["x"], ["y"])], "base", [value("x")], [value("y")],
        [onnx.numpy_helper.from_array(np.zeros(shape, np.float32), name + ".weight") for name, shape in initializers.items()])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 20)], ir_version=10), folder / "base.onnx")
    (folder / "adapter").mkdir(exist_ok=True)
    (folder / "adapter" / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA", "r": 1, "lora_alpha": 1, **config}))
    tensors = {}
    for name, (rows, columns) in adapted.items():
        tensors[f"base_model.model.{name}.lora_A.weight"] = np.arange(columns, dtype=np.float32)[None]
        tensors[f"base_model.model.{name}.lora_B.weight"] = 1 + np.arange(rows, dtype=np.float32)[:, None]
    safetensors.write(folder / "adapter" / "adapter_model.safetensors", tensors)
    return [folder / "base.onnx", "--merge-lora", folder / "adapter", "-o", folder / "merged.onnx"]


def merged_layers(folder, *layers, **config):
    process = export(*write_layers(folder, *layers, **config))
    assert process.returncode == 0, process.stderr
    return {tensor.name.removesuffix(".weight"): onnx.numpy_helper.to_array(tensor) for tensor in onnx.load(folder / "merged.onnx").graph.initializer}


def expect_refusal(message, folder, *layers, **config):
    process = export(*write_layers(folder, *layers, **config))
    assert process.returncode == 1 and message in process.stderr, process.stderr
    assert not (folder / "merged.onnx").exists()


def of_one_shape(*names):
    return dict.fromkeys(names, (2, 3))


@pytest.mark.parametrize("adapted, initializers, changed", [
    (["fc"], ["block.fc", "fc"], ["fc"]),
    (["fc"], ["model.block.fc", "model.fc"], ["model.fc"]),
    (["fc", "out"], ["model.fc", "model.out", "model.head"], ["model.fc", "model.out"]),
    (["model.fc", "model.out"], ["fc", "out", "head"], ["fc", "out"]),
])
def test_finds_the_layers_of_an_adapter(tmp_path, adapted, initializers, changed):
    merged = merged_layers(tmp_path, of_one_shape(*adapted), of_one_shape(*initializers))
    assert sorted(name for name, weight in merged.items() if weight.any()) == changed


@pytest.mark.parametrize("adapted, initializers, message", [
    (["fc"], ["block.fc", "head"],
     "'fc.weight' of the adapter could be 'block.fc.weight' of the model, but the name of 'head.weight' does not differ in the same way: expects a model with the names of the adapter"),
    (["block.fc"], ["fc", "block.out"],
     "'block.fc.weight' of the adapter could be 'fc.weight' of the model, but the name of 'block.out.weight' does not differ in the same way"),
    (["fc"], ["a.fc", "b.fc"],
     "'fc.weight' of the adapter could be 'a.fc.weight' or 'b.fc.weight' of the model: expects a model with the names of the adapter"),
    (["fc", "out"], ["a.fc", "b.out"], "the model has no initializers for 'fc.weight', 'out.weight' of"),
    (["fc", "out"], ["x", "y"], "export it with the names of its parameters, as gpuopt.export does"),
    (["fc", "head", "out"], ["model.fc", "model.out"], "the model has no initializers for 'head.weight' of"),
    (["fc", "head", "out"], ["fc", "out"], "the model has no initializers for 'head.weight' of"),
    (["a.fc", "a.head", "a.out"], ["fc", "out"], "the model has no initializers for 'a.head.weight' of"),
])
def test_refuses_layers_that_are_not_certain(tmp_path, adapted, initializers, message):
    expect_refusal(message, tmp_path, of_one_shape(*adapted), of_one_shape(*initializers))


def add_tensors(folder, **tensors):
    file = folder / "adapter" / "adapter_model.safetensors"
    safetensors.write(file, {**safetensors.read(file), **{f"base_model.model.{name}": np.array(value, np.float32) for name, value in tensors.items()}})


def weights_of(model):
    return {tensor.name: onnx.numpy_helper.to_array(tensor).tolist() for tensor in onnx.load(model).graph.initializer}


def test_takes_the_base_that_peft_saves(tmp_path):
    """Beside an embedding or an output head PEFT saves the weight, and with bias="all" the biases of adapted layers."""
    line = write_layers(tmp_path, of_one_shape("model.fc"), of_one_shape("model.fc", "model.out"))
    model = onnx.load(tmp_path / "base.onnx")
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.zeros(2, np.float32), "model.fc.bias"))
    onnx.save(model, tmp_path / "base.onnx")
    add_tensors(tmp_path, **{"model.fc.base_layer.weight": np.full((2, 3), 10), "model.fc.base_layer.bias": [3, 4]})
    process = export(*line)
    assert process.returncode == 0, process.stderr
    assert weights_of(tmp_path / "merged.onnx") == {"model.fc.weight": [[10, 11, 12], [10, 12, 14]], "model.fc.bias": [3, 4], "model.out.weight": [[0] * 3] * 2}


def tie(folder, name, *others, by_identity=False):
    model = onnx.load(folder / "base.onnx")
    if by_identity:  # as TorchScript's exporter does
        for other in others:
            model.graph.node.append(onnx.helper.make_node("Identity", [name], [other]))
    else:
        info = model.graph.value_info.add(name=name)
        info.metadata_props.add(key="gpuopt.tied", value=json.dumps(others))
    onnx.save(model, folder / "base.onnx")


@pytest.mark.parametrize("by_identity", [False, True])
@pytest.mark.parametrize("front", ["", "model."])
def test_knows_tied_weights_by_each_name(tmp_path, front, by_identity):
    """The name of an adapted weight may be the one that the exporter did not keep. Names of modules around the model do not count."""
    merge = write_layers(tmp_path, {"emb": (2, 3), "fc": (2, 3)}, of_one_shape(front + "head", front + "fc"))
    add_tensors(tmp_path, **{"head.lora_A.weight": [[0, 1, 2]], "head.lora_B.weight": [[1], [2]]})
    around = ["around.weight"] if front else []
    tie(tmp_path, front + "head.weight", front + "emb.weight", *around, by_identity=by_identity)
    process = export(*merge)
    assert process.returncode == 0, process.stderr
    assert weights_of(tmp_path / "merged.onnx") == dict.fromkeys([front + "head.weight", front + "fc.weight"], [[0, 1, 2], [0, 2, 4]])


def test_refuses_tied_weights_that_part(tmp_path):
    same = "in the same way, but they are one weight of the model: give each a parameter of its own before the export, as docs/training.md shows"

    def refused(message, initializers=("head", "fc"), **tensors):
        line = write_layers(tmp_path, of_one_shape("fc"), of_one_shape(*initializers))
        add_tensors(tmp_path, **tensors)
        tie(tmp_path, "head.weight", "emb.weight")
        process = export(*line)
        assert process.returncode == 1 and message in process.stderr, process.stderr
        assert not (tmp_path / "merged.onnx").exists()

    whole, embedding = np.ones((2, 3)), {"emb.lora_embedding_A": [[1, 2]], "emb.lora_embedding_B": [[0], [1], [2]]}
    refused(f"the adapter does not change 'emb.weight' and 'head.weight' {same}", **{"emb.weight": whole})
    refused(f"the adapter does not change 'head.weight' and 'emb.weight' {same}", **{"head.weight": whole})
    refused(same, **{"emb.weight": whole, "head.weight": 2 * whole})
    refused(same, **embedding, **{"head.lora_A.weight": [[0, 1, 2]], "head.lora_B.weight": [[1], [3]]})
    refused(same, **embedding, **{"head.weight": whole})
    line = write_layers(tmp_path, of_one_shape("fc"), of_one_shape("head", "fc"))
    tie(tmp_path, "head.weight", "emb.weight")
    add_tensors(tmp_path, **embedding, **{"head.lora_A.weight": [[0, 1, 2]], "head.lora_B.weight": [[1], [2]]})
    assert export(*line).returncode == 0  # the matrices of an embedding are the other way round
    assert weights_of(tmp_path / "merged.onnx")["head.weight"] == [[0, 1, 2], [0, 2, 4]]


def test_merges_transposed_weights_unless_one_is_square(tmp_path):
    expect_refusal("--merge-lora: the model has 'fc.weight' transposed, and cannot show whether it has the square 'square.weight' so, too: "
                   "merge the adapter by PEFT's merge_and_unload and export the result",
                   tmp_path, {"fc": (2, 3), "square": (2, 2)}, {"fc": (3, 2), "square": (2, 2)})
    merged = merged_layers(tmp_path, {"fc": (2, 3)}, {"fc": (3, 2), "square": (2, 2)})
    assert merged["fc"].tolist() == [[0, 0], [1, 2], [2, 4]] and not merged["square"].any()


@pytest.mark.parametrize("key", [r"layers\.\d+\.fc", r"layers\.[\d_]+\.fc", r"\d\.fc", r"[]\w]+", r"layers[\.]10\.f\w", r"layers\s10.fc", r"^layers\.1[^1-9\s]\.(fc|out)", r"(?:layers\W\d+?\.)fc"])
def test_alpha_of_a_pattern(tmp_path, key):
    """PEFT matches the end of a layer's name like this."""
    alpha = 12 if re.match(rf"(.*\.)?({key})$", "layers.10.fc") else 1
    layers = of_one_shape("layers.10.fc")
    merged = merged_layers(tmp_path, layers, layers, alpha_pattern={key: 12})
    assert merged["layers.10.fc"].tolist() == [[0, alpha, 2 * alpha], [0, 2 * alpha, 4 * alpha]]


def test_refuses_strengths_that_are_not_certain(tmp_path):
    layers = of_one_shape("layers.10.fc")
    for pattern, message in [
        ({"(?i)fc": 12}, "has in \"alpha_pattern\" the key '(?i)fc', whose '(?i' is not understood here as Python does: merge the adapter by PEFT's merge_and_unload and export the result"),
        ({r"fc\b": 12}, r"the key 'fc\b', whose '\b' is not"),
        ({"[[:alpha:]]c": 12}, "the key '[[:alpha:]]c', whose '[:' is not"),
        ({"f{,2}c": 12}, "the key 'f{,2}c', whose '{,' is not"),
        ({"fc(": 12}, "the key 'fc(', which is not a regular expression: "),
        ({"fc": "12"}, "the key 'fc', whose value is not a number"),
        ({"fc": 12, r"\d+\.fc": 13}, r"the keys '\d+\.fc' and 'fc', which both match 'layers.10.fc' but have different values: expects one of them"),
        (3, 'has "alpha_pattern": 3, but expects an object of numbers by layer'),
    ]:
        expect_refusal(message, tmp_path, layers, layers, alpha_pattern=pattern)
    expect_refusal('has "lora_alpha": "6", but expects a number', tmp_path, layers, layers, lora_alpha="6")
    for name in ("pissa_niter_16", "olora", "loftq"):
        expect_refusal(f'has "init_lora_weights": "{name}", which may have changed the weights of the base model: merge the adapter by', tmp_path, layers, layers, init_lora_weights=name)
    for name in (True, False, "gaussian", "orthogonal"):
        assert merged_layers(tmp_path, layers, layers, init_lora_weights=name)["layers.10.fc"].any()


@pytest.mark.parametrize("name, spelled, size", [("INT4", "i4", 3), ("UINT4", "ui4", 3), ("INT8", "i8", 6), ("FLOAT8E4M3FN", "f8E4M3FN", 6), ("FLOAT4E2M1", "f4E2M1FN", 3)])
def test_refuses_quantised_weights(tmp_path, name, spelled, size):
    """A model may store a weight quantised under the name of the parameter, behind which it stands dequantised."""
    line = write_layers(tmp_path, of_one_shape("fc"), of_one_shape("fc"))
    model = onnx.load(tmp_path / "base.onnx")
    model.graph.initializer[0].CopyFrom(onnx.helper.make_tensor("fc.weight", getattr(onnx.TensorProto, name), (2, 3), bytes(size), raw=True))
    onnx.save(model, tmp_path / "base.onnx")
    process = export(*line)
    assert process.returncode == 1, process.stderr
    assert (f"--merge-lora: initializer 'fc.weight': 'fc.weight' of the adapter cannot be added to {spelled} [2, 3], as the model has it: "
            "expects floating-point numbers of 16 to 64 bits; merge the adapter before the model is quantised") in process.stderr, process.stderr
    assert not (tmp_path / "merged.onnx").exists()


LAYERS = ["q_proj", "embed_tokens"]
PEFT_CASES = {
    "gpt2": dict(target_modules=["c_attn", "c_proj"], fan_in_fan_out=True),
    "llama": dict(target_modules="all-linear", use_rslora=True, alpha_pattern={"q_proj": 16}, rank_pattern={"v_proj": 2}, modules_to_save=["lm_head"]),
    "embedding": dict(target_modules=LAYERS),
    "head": dict(target_modules=["q_proj", "lm_head"]),
    "bias": dict(target_modules=["q_proj"], bias="all"),
    "lora_only": dict(target_modules=["q_proj"], bias="lora_only"),
    "tied": dict(target_modules=LAYERS, ensure_weight_tying=True),
    "tied whole": dict(target_modules=["q_proj"], modules_to_save=["embed_tokens"], ensure_weight_tying=True),
}


@pytest.mark.full
@pytest.mark.parametrize("name", PEFT_CASES)
def test_what_peft_itself_saves(tmp_path, name):
    peft = pytest.importorskip("peft", reason="peft (scripts/requirements-full.txt) is not installed")
    from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    if name == "gpt2":
        model = GPT2LMHeadModel(GPT2Config(n_layer=2, n_head=2, n_embd=32, n_positions=32, vocab_size=100))
    else:
        model = LlamaForCausalLM(LlamaConfig(num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1, hidden_size=32, intermediate_size=48,
                                             vocab_size=100, attention_bias=name in ("bias", "lora_only"), tie_word_embeddings="tied" in name))
    ids = torch.randint(0, 100, (2, 16))
    gpuopt.export(CausalLogits(model.eval()), (ids,), tmp_path / "base.onnx", input_names=["input_ids"], output_names=["logits"])
    before = model(ids).logits.detach().numpy()
    adapted = peft.get_peft_model(model, peft.LoraConfig(r=4, lora_alpha=8, **PEFT_CASES[name]))
    with torch.no_grad():
        for parameter in adapted.parameters():
            if parameter.requires_grad:
                parameter.add_(0.1 * torch.randn_like(parameter))
    adapted.save_pretrained(tmp_path / "adapter")
    subprocess.run([find_driver(), "export", tmp_path / "base.onnx", "--merge-lora", tmp_path / "adapter", "-o", tmp_path / "merged.onnx"],
                   check=True)
    # What PEFT merges of tied weights is another model than the adapted one.
    expected = (adapted if "tied" in name else adapted.merge_and_unload()).eval()(ids).logits.detach().numpy()
    session = onnxruntime.InferenceSession(tmp_path / "merged.onnx", providers=["CPUExecutionProvider"])
    [found] = session.run(None, {"input_ids": ids.numpy()})
    # The first norm divides by embeddings of about 0.02, which makes rounding count for more.
    np.testing.assert_allclose(found, expected, atol=1e-4)
    assert np.abs(expected - before).max() > 0.1
