"""The models that the benchmarks train: those of test/Integration/models.py,
and models of usual sizes from transformers and timm, with random weights.

timm is not among what the tests install: `pip install --no-deps timm`.
"""

from __future__ import annotations

import numpy as np
import torch

import models
import zoo
import zoo_conversion
from models import Case

CLASSES, IMAGE_SIZE = 1000, 224


def llama(layers: int, width: int, heads: int, tokens: int, batch: int) -> Case:
    from transformers import LlamaConfig, LlamaForCausalLM

    vocabulary = 1024
    config = LlamaConfig(
        vocab_size=vocabulary, hidden_size=width, intermediate_size=width * 8 // 3, num_hidden_layers=layers,
        num_attention_heads=heads, max_position_embeddings=tokens, pad_token_id=0, bos_token_id=0, eos_token_id=0,
    )
    text = np.random.default_rng(0).integers(1, vocabulary, (8 * batch, tokens + 1))
    return Case(models.CausalLogits(LlamaForCausalLM(config)), {"input_ids": text[:, :-1].copy()}, text[:, 1:].copy(), batch)


def timm(model: str, batch: int, convolutional: bool) -> Case:
    with zoo.without_torchvision():
        import timm as package
    random = np.random.default_rng(0)
    pixels = random.standard_normal((4 * batch, 3, IMAGE_SIZE, IMAGE_SIZE), dtype=np.float32)
    labels = random.integers(0, CLASSES, 4 * batch)
    module = package.create_model(model, pretrained=False, num_classes=CLASSES)
    return Case(module, {"x": pixels}, labels, batch, convolutional=convolutional)


LARGER = {
    "llama": lambda: llama(4, 256, 4, 64, 4),
    "resnet18-224": lambda: models.images(models.ResNet(models.BasicBlock, [2, 2, 2, 2], CLASSES), IMAGE_SIZE, CLASSES, 4),
    "mobilenetv3": lambda: timm("mobilenetv3_large_100", 4, convolutional=True),
    "efficientnet_b0": lambda: timm("efficientnet_b0", 4, convolutional=True),
    "densenet121": lambda: timm("densenet121", 4, convolutional=True),
    "convnext_tiny": lambda: timm("convnext_tiny", 2, convolutional=True),
    "vit_b16": lambda: timm("vit_base_patch16_224", 2, convolutional=False),
    "swin_tiny": lambda: timm("swin_tiny_patch4_window7_224", 2, convolutional=False),
    "mixer": lambda: timm("mixer_s16_224", 4, convolutional=False),
}


def make(name: str) -> Case:
    """The case `name`, the same weights every time, in training mode.

    It is one of LARGER, of models.py or of zoo_conversion.py, the first that has the name.
    """
    if name in models.MODELS and name not in LARGER:
        return models.make(name)
    if name not in LARGER:
        return zoo_conversion.make(name)
    torch.manual_seed(1)
    case = LARGER[name]()
    case.module.train()
    return case
