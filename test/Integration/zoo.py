"""Small models of the kinds that PyTorch users bring, with random weights.

Each entry of MODELS makes a `Case`, as in models.py. Nothing is downloaded:
architectures come from transformers and timm by their configuration, or are
written in plain torch.nn.
"""

from __future__ import annotations

import contextlib
import importlib.machinery
import importlib.util
import sys
from typing import Callable
from unittest import mock

import numpy as np
import torch
from torch import nn

from models import Case, CausalLogits, Logits, MaskedLogits

VOCABULARY, TOKENS, BATCH, CLASSES = 96, 16, 4, 10


# Language models of transformers.


def causal(model: str, **config) -> Case:
    """The model and its configuration by the stem of their names."""
    import transformers

    shared = dict(vocab_size=VOCABULARY, pad_token_id=0, bos_token_id=0, eos_token_id=0)
    settings = getattr(transformers, model + "Config")(**{**shared, **config})
    module = getattr(transformers, model + "ForCausalLM")(settings)
    text = np.random.default_rng(0).integers(1, VOCABULARY, (4 * BATCH, TOKENS + 1))
    return Case(CausalLogits(module), {"input_ids": text[:, :-1].copy()}, text[:, 1:].copy(), BATCH)


def masked(model: str, **config) -> Case:
    """A masked language model; samples are padded to different lengths, and
    half of the labels count."""
    import transformers

    settings = getattr(transformers, model + "Config")(**{**dict(vocab_size=VOCABULARY, pad_token_id=0), **config})
    module = getattr(transformers, model + "ForMaskedLM")(settings)
    random = np.random.default_rng(0)
    ids = random.integers(1, VOCABULARY, (4 * BATCH, TOKENS))
    mask = (np.arange(TOKENS) < random.integers(TOKENS // 2, TOKENS + 1, 4 * BATCH)[:, None]).astype(np.int64)
    ids *= mask
    labels = np.where((random.random(ids.shape) < 0.5) & (mask == 1), random.integers(0, VOCABULARY, ids.shape), -100)
    return Case(MaskedLogits(module), {"input_ids": ids, "attention_mask": mask}, labels, BATCH)


class TranslatedLogits(Logits):
    def forward(self, input_ids, decoder_input_ids):
        return self.model(input_ids, decoder_input_ids=decoder_input_ids, use_cache=False).logits


class SpokenLogits(Logits):
    def forward(self, input_features, decoder_input_ids):
        return self.model(input_features, decoder_input_ids=decoder_input_ids, use_cache=False).logits


def translation(model: str, **config) -> Case:
    import transformers

    shared = dict(vocab_size=VOCABULARY, pad_token_id=0, eos_token_id=1, decoder_start_token_id=0)
    settings = getattr(transformers, model + "Config")(**{**shared, **config})
    module = getattr(transformers, model + "ForConditionalGeneration")(settings)
    random = np.random.default_rng(0)
    source = random.integers(2, VOCABULARY, (4 * BATCH, TOKENS))
    target = random.integers(2, VOCABULARY, (4 * BATCH, TOKENS // 2 + 1))
    inputs = {"input_ids": source, "decoder_input_ids": target[:, :-1].copy()}
    return Case(TranslatedLogits(module), inputs, target[:, 1:].copy(), BATCH)


def whisper(**config) -> Case:
    from transformers import WhisperConfig, WhisperForConditionalGeneration

    settings = WhisperConfig(
        vocab_size=VOCABULARY, num_mel_bins=8, max_source_positions=TOKENS, max_target_positions=TOKENS, d_model=32,
        encoder_layers=2, decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=64,
        decoder_ffn_dim=64, pad_token_id=0, bos_token_id=0, eos_token_id=0, decoder_start_token_id=0, **config,
    )
    random = np.random.default_rng(0)
    sound = random.standard_normal((4 * BATCH, 8, 2 * TOKENS), dtype=np.float32)
    target = random.integers(1, VOCABULARY, (4 * BATCH, TOKENS + 1))
    inputs = {"input_features": sound, "decoder_input_ids": target[:, :-1].copy()}
    return Case(SpokenLogits(WhisperForConditionalGeneration(settings)), inputs, target[:, 1:].copy(), BATCH)


# Images.


class ImageLogits(Logits):
    def forward(self, x):
        return self.model(pixel_values=x).logits


def images(module: nn.Module, shape=(3, 32, 32), batch=BATCH, **fields) -> Case:
    random = np.random.default_rng(0)
    pixels = random.standard_normal((8 * batch, *shape), dtype=np.float32)
    return Case(module, {"x": pixels}, random.integers(0, CLASSES, 8 * batch), batch, learning_rate=1e-4, **fields)


def vision(model: str, **config) -> Case:
    import transformers

    settings = getattr(transformers, model + "Config")(num_labels=CLASSES, **config)
    return images(ImageLogits(getattr(transformers, model + "ForImageClassification")(settings)))


@contextlib.contextmanager
def without_torchvision():
    """timm imports torchvision for its data sets and transforms alone, which
    are of no use here, and which has no build for the processor only."""

    class Finder:
        @staticmethod
        def find_spec(name, path=None, target=None):
            return importlib.machinery.ModuleSpec(name, Finder, is_package=True) if name.split(".")[0] == "torchvision" else None

        @staticmethod
        def create_module(spec):
            return mock.MagicMock(__path__=[])

        @staticmethod
        def exec_module(module):
            pass

    import transformers.utils  # looks for torchvision as it is imported

    sys.meta_path.insert(0, Finder)
    try:
        yield
    finally:
        sys.meta_path.remove(Finder)
        for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
            del sys.modules[name]


def has_timm() -> bool:
    """Whether timm is installed; without torchvision an import of it alone fails all the same."""
    return importlib.util.find_spec("timm") is not None


def timm(model: str, size=32, batch=BATCH, **settings) -> Case:
    with without_torchvision():
        import timm as package
    module = package.create_model(model, pretrained=False, num_classes=CLASSES, **settings)
    return images(module, (3, size, size), batch)


# Plain torch.nn.


class Recurrent(nn.Module):
    def __init__(self, cell: type, **settings):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, 16)
        self.cell = cell(16, 24, batch_first=True, **settings)
        self.head = nn.Linear(24 * (2 if settings.get("bidirectional") else 1), VOCABULARY)

    def forward(self, input_ids):
        return self.head(self.cell(self.embedding(input_ids))[0])


def text(module: nn.Module) -> Case:
    words = np.random.default_rng(0).integers(0, VOCABULARY, (4 * BATCH, TOKENS + 1))
    return Case(module, {"input_ids": words[:, :-1].copy()}, words[:, 1:].copy(), BATCH)


class WaveNet(nn.Module):
    """Gated, causal, dilated convolutions with skip connections."""

    def __init__(self, width=16, depth=4):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, width)
        self.gates = nn.ModuleList(nn.Conv1d(width, 2 * width, 2, dilation=1 << level) for level in range(depth))
        self.residuals = nn.ModuleList(nn.Conv1d(width, width, 1) for _ in range(depth))
        self.head = nn.Conv1d(width, VOCABULARY, 1)

    def forward(self, input_ids):
        x = self.embedding(input_ids).transpose(1, 2)
        skip = 0
        for gate, residual in zip(self.gates, self.residuals):
            a, b = gate(nn.functional.pad(x, (gate.dilation[0], 0))).chunk(2, 1)
            z = residual(torch.tanh(a) * torch.sigmoid(b))
            skip, x = skip + z, x + z
        return self.head(torch.relu(skip)).transpose(1, 2)


class Volumes(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv3d(1, 8, 3, padding=1), nn.BatchNorm3d(8), nn.ReLU(), nn.MaxPool3d(2),
            nn.Conv3d(8, 16, 3, stride=2, padding=1), nn.ReLU(), nn.AdaptiveAvgPool3d(1), nn.Flatten(),
        )
        self.head = nn.Linear(16, CLASSES)

    def forward(self, x):
        return self.head(self.features(x))


SMALL = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64)
NO_DROPOUT = dict(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
GROUPED = dict(SMALL, num_key_value_heads=2)

MODELS: dict[str, Callable[[], Case]] = {
    # transformers
    "t5": lambda: translation("T5", d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, dropout_rate=0.0),
    "bart": lambda: translation(
        "Bart", d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2,
        encoder_ffn_dim=64, decoder_ffn_dim=64, max_position_embeddings=32, dropout=0.0, bos_token_id=0,
        forced_eos_token_id=None,
    ),
    "gpt-neo": lambda: causal(
        "GPTNeo", hidden_size=32, num_layers=2, num_heads=4, attention_types=[[["global", "local"], 1]], window_size=8,
        max_position_embeddings=512, resid_dropout=0.0, embed_dropout=0.0, attention_dropout=0.0,
    ),
    "gpt-neox": lambda: causal("GPTNeoX", **SMALL),
    "llama": lambda: causal("Llama", **GROUPED),
    "qwen2": lambda: causal("Qwen2", **GROUPED),
    "qwen3": lambda: causal("Qwen3", **GROUPED, head_dim=8),
    "mistral": lambda: causal("Mistral", **GROUPED, sliding_window=8),
    "gemma": lambda: causal("Gemma", **dict(GROUPED, num_key_value_heads=1), head_dim=8),
    "gemma2": lambda: causal("Gemma2", **GROUPED, head_dim=8, sliding_window=8),
    "phi": lambda: causal("Phi", **SMALL),
    "bloom": lambda: causal("Bloom", hidden_size=32, n_layer=2, n_head=4),
    "opt": lambda: causal(
        "OPT", hidden_size=32, word_embed_proj_dim=32, num_hidden_layers=2, num_attention_heads=4, ffn_dim=64,
        max_position_embeddings=32, dropout=0.0,
    ),
    "mamba": lambda: causal("Mamba", hidden_size=32, num_hidden_layers=1, state_size=4),
    # The exporter knows no other way to the experts.
    "mixtral": lambda: causal("Mixtral", **GROUPED, num_local_experts=4, experts_implementation="batched_mm"),
    "distilbert": lambda: masked("DistilBert", dim=32, n_layers=2, n_heads=4, hidden_dim=64, dropout=0.0, attention_dropout=0.0, max_position_embeddings=32),
    "roberta": lambda: masked("Roberta", **SMALL, **NO_DROPOUT, max_position_embeddings=32),
    "albert": lambda: masked("Albert", **SMALL, **NO_DROPOUT, embedding_size=16),
    "electra": lambda: masked("Electra", **SMALL, **NO_DROPOUT, embedding_size=16),
    "deberta": lambda: masked("Deberta", **SMALL, **NO_DROPOUT, relative_attention=True, pos_att_type=["c2p", "p2c"]),
    "deberta-v2": lambda: masked(
        "DebertaV2", **SMALL, **NO_DROPOUT, relative_attention=True, pos_att_type=["c2p", "p2c"], position_buckets=8
    ),
    "vit": lambda: vision("ViT", **SMALL, **NO_DROPOUT, image_size=32, patch_size=8),
    "whisper": lambda: whisper(dropout=0.0),
    # timm
    "timm-vit": lambda: timm("vit_tiny_patch16_224", img_size=32, patch_size=8, embed_dim=48, depth=2),
    "timm-swin": lambda: timm(
        "swin_tiny_patch4_window7_224", img_size=64, size=64, window_size=4, embed_dim=24, depths=(2, 2), num_heads=(2, 4),
        drop_path_rate=0.0,
    ),
    # torch.nn
    "lstm-bidirectional": lambda: text(Recurrent(nn.LSTM, num_layers=2, bidirectional=True)),
    "rnn": lambda: text(Recurrent(nn.RNN)),
    "wavenet": lambda: text(WaveNet()),
    "conv3d": lambda: images(Volumes(), (1, 8, 8, 8)),
}


def make(name: str) -> Case:
    """The case `name`, the same weights every time, in training mode."""
    torch.manual_seed(1)
    case = MODELS[name]()
    case.module.train()
    return case
