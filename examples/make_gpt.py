#!/usr/bin/env python3
"""Writes examples/gpt.onnx: an untrained GPT-2 with 4 layers of width 128, 128
tokens and a vocabulary of bytes. Needs torch, transformers, onnx, onnxscript.

usage: make_gpt.py [OUT.onnx]
"""
import sys
from pathlib import Path

import torch
from transformers import GPT2Config, GPT2LMHeadModel

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
import gpuopt  # noqa: E402


class Logits(torch.nn.Module):
    """The language model with token ids in, logits out."""

    def __init__(self, config):
        super().__init__()
        self.model = GPT2LMHeadModel(config)

    def forward(self, input_ids):
        return self.model(input_ids, use_cache=False).logits


if __name__ == "__main__":
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=256, n_positions=128, n_embd=128, n_layer=4, n_head=4,
        bos_token_id=0, eos_token_id=0, attn_implementation="eager",
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
    )
    out = sys.argv[1] if len(sys.argv) > 1 else str(Path(__file__).with_name("gpt.onnx"))
    gpuopt.export(Logits(config), (torch.zeros(2, 128, dtype=torch.int64),), out, output_names=["logits"])
