"""More language models of transformers, tiny and with random weights."""

from __future__ import annotations

from typing import Callable

from models import Case
from zoo import GROUPED, NO_DROPOUT, SMALL, causal, masked, translation

PLAIN = dict(hidden_dropout=0.0, attention_dropout=0.0)
# The exporter knows no other way to the experts.
EXPERTS = dict(GROUPED, experts_implementation="batched_mm", num_experts_per_tok=2)
HEADS_OF_8 = dict(GROUPED, head_dim=8)
SOURCE_AND_TARGET = dict(
    d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=64,
    decoder_ffn_dim=64, max_position_embeddings=32, dropout=0.0, attention_dropout=0.0, bos_token_id=0,
    forced_eos_token_id=None,
)
T5 = dict(d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, dropout_rate=0.0)
LATENT = dict(
    EXPERTS, num_key_value_heads=4, q_lora_rank=16, kv_lora_rank=8, qk_rope_head_dim=8, qk_nope_head_dim=8, v_head_dim=8, n_group=1,
    topk_group=1, moe_intermediate_size=16, n_shared_experts=1, first_k_dense_replace=1, n_routed_experts=4,
)


def of(make: Callable[..., Case], model: str, **config) -> Callable[[], Case]:
    return lambda: make(model, **config)


DECODERS = {
    "stablelm": of(causal, "StableLm", **GROUPED),
    "olmo": of(causal, "Olmo", **GROUPED),
    "olmo2": of(causal, "Olmo2", **GROUPED),
    "olmo3": of(causal, "Olmo3", **GROUPED, sliding_window=8),
    "cohere": of(causal, "Cohere", **GROUPED),
    "cohere2": of(causal, "Cohere2", **GROUPED, sliding_window=8),
    "granite": of(causal, "Granite", **GROUPED),
    "starcoder2": of(causal, "Starcoder2", **GROUPED),
    "gptj": of(causal, "GPTJ", n_embd=32, n_layer=2, n_head=4, rotary_dim=4, attn_pdrop=0.0, embd_pdrop=0.0, resid_pdrop=0.0),
    "gpt-bigcode": of(causal, "GPTBigCode", n_embd=32, n_layer=2, n_head=4, attn_pdrop=0.0, embd_pdrop=0.0, resid_pdrop=0.0),
    "codegen": of(causal, "CodeGen", n_embd=32, n_layer=2, n_head=4, rotary_dim=4, attn_pdrop=0.0, embd_pdrop=0.0, resid_pdrop=0.0),
    "mpt": of(causal, "Mpt", d_model=32, n_layers=2, n_heads=4, max_seq_len=32),
    "falcon": of(causal, "Falcon", hidden_size=32, num_hidden_layers=2, num_attention_heads=4, **PLAIN),
    "phi3": of(causal, "Phi3", **GROUPED, rope_parameters=None),
    "glm": of(causal, "Glm", **HEADS_OF_8),
    "glm4": of(causal, "Glm4", **HEADS_OF_8),
    "helium": of(causal, "Helium", **HEADS_OF_8),
    "nemotron": of(causal, "Nemotron", **GROUPED),
    "smollm3": of(causal, "SmolLM3", **GROUPED),
    "persimmon": of(causal, "Persimmon", **SMALL, **PLAIN),
    "biogpt": of(causal, "BioGpt", **SMALL, **NO_DROPOUT, activation_dropout=0.0, layerdrop=0.0, max_position_embeddings=32),
    "xglm": of(causal, "XGLM", d_model=32, num_layers=2, attention_heads=4, ffn_dim=64, dropout=0.0, attention_dropout=0.0, max_position_embeddings=32),
    "seed-oss": of(causal, "SeedOss", **HEADS_OF_8, attention_dropout=0.0, residual_dropout=0.0),
    "arcee": of(causal, "Arcee", **GROUPED),
    "exaone4": of(causal, "Exaone4", **GROUPED, sliding_window=8),
    "bitnet": of(causal, "BitNet", **GROUPED),
    "diffllama": of(causal, "DiffLlama", **GROUPED, attention_dropout=0.0),
    "apertus": of(causal, "Apertus", **GROUPED),
    "ernie4-5": of(causal, "Ernie4_5", **HEADS_OF_8),
    "hunyuan": of(causal, "HunYuanDenseV1", **HEADS_OF_8),
    "ministral": of(causal, "Ministral", **HEADS_OF_8, sliding_window=8),
    "modernbert-decoder": of(causal, "ModernBertDecoder", **SMALL, local_attention=8),
    "lfm2": of(causal, "Lfm2", **GROUPED, layer_types=["conv", "full_attention"], block_auto_adjust_ff_dim=False),
    "nanochat": of(causal, "NanoChat", **GROUPED),
    "vaultgemma": of(causal, "VaultGemma", **HEADS_OF_8, sliding_window=8),
}

EXPERTS_MODELS = {
    "qwen2-moe": of(causal, "Qwen2Moe", **EXPERTS, num_experts=4, moe_intermediate_size=16, shared_expert_intermediate_size=16),
    "qwen3-moe": of(causal, "Qwen3Moe", **EXPERTS, num_experts=4, moe_intermediate_size=16, head_dim=8),
    "olmoe": of(causal, "Olmoe", **EXPERTS, num_experts=4),
    "deepseek-v3": of(causal, "DeepseekV3", **LATENT),
    "granite-moe": of(causal, "GraniteMoe", **EXPERTS, num_local_experts=4),
    "gpt-oss": of(causal, "GptOss", **EXPERTS, num_local_experts=4, head_dim=8, sliding_window=8),
    "glm4-moe": of(causal, "Glm4Moe", **EXPERTS, n_routed_experts=4, moe_intermediate_size=16, head_dim=8, n_group=1, topk_group=1, first_k_dense_replace=1),
    "ernie4-5-moe": of(causal, "Ernie4_5_Moe", **EXPERTS, moe_num_experts=4, moe_k=2, moe_intermediate_size=16, moe_layer_start_index=0),
    "minimax": of(causal, "MiniMax", **EXPERTS, num_local_experts=4, head_dim=8, block_size=8),
}

STATE_SPACES = {
    "mamba2": of(causal, "Mamba2", hidden_size=32, num_hidden_layers=1, state_size=4, num_heads=8, head_dim=8, n_groups=1, chunk_size=8),
    "falcon-mamba": of(causal, "FalconMamba", hidden_size=32, num_hidden_layers=1, state_size=4),
    "recurrent-gemma": of(causal, "RecurrentGemma", **dict(GROUPED, num_hidden_layers=3), head_dim=8, lru_width=32, attention_window_size=8),
    "bamba": of(causal, "Bamba", **GROUPED, mamba_n_heads=8, mamba_d_head=8, mamba_d_state=4, mamba_n_groups=1, mamba_chunk_size=8, attn_layer_indices=[1]),
    "rwkv": of(causal, "Rwkv", hidden_size=32, num_hidden_layers=2, attention_hidden_size=32, intermediate_size=64, context_length=32),
}

ENCODERS = {
    "bert": of(masked, "Bert", **SMALL, **NO_DROPOUT),
    "mpnet": of(masked, "MPNet", **SMALL, **NO_DROPOUT, max_position_embeddings=32),
    "camembert": of(masked, "Camembert", **SMALL, **NO_DROPOUT, max_position_embeddings=32),
    "xlm-roberta": of(masked, "XLMRoberta", **SMALL, **NO_DROPOUT, max_position_embeddings=32),
    "megatron-bert": of(masked, "MegatronBert", **SMALL, **NO_DROPOUT),
    "mobilebert": of(masked, "MobileBert", **SMALL, **NO_DROPOUT, embedding_size=32, intra_bottleneck_size=32, true_hidden_size=32),
    "convbert": of(masked, "ConvBert", **SMALL, **NO_DROPOUT, embedding_size=32, conv_kernel_size=3),
    "roformer": of(masked, "RoFormer", **SMALL, **NO_DROPOUT, embedding_size=32),
    "squeezebert": of(masked, "SqueezeBert", **SMALL, **NO_DROPOUT, embedding_size=32),
    "ernie": of(masked, "Ernie", **SMALL, **NO_DROPOUT),
    "rembert": of(masked, "RemBert", **SMALL, **NO_DROPOUT, input_embedding_size=16, output_embedding_size=16, classifier_dropout_prob=0.0),
    "modernbert": of(masked, "ModernBert", **SMALL, local_attention=8, global_attn_every_n_layers=2, attn_implementation="sdpa"),
    "eurobert": of(masked, "EuroBert", **SMALL),
    "esm": of(masked, "Esm", **SMALL, **NO_DROPOUT, position_embedding_type="rotary", mask_token_id=3),
    "data2vec-text": of(masked, "Data2VecText", **SMALL, **NO_DROPOUT, max_position_embeddings=32),
    "roberta-prelayernorm": of(masked, "RobertaPreLayerNorm", **SMALL, **NO_DROPOUT, max_position_embeddings=32),
    "xlm-roberta-xl": of(masked, "XLMRobertaXL", **SMALL, **NO_DROPOUT, max_position_embeddings=32),
    "big-bird": of(masked, "BigBird", **SMALL, **NO_DROPOUT, attention_type="original_full"),
}

TRANSLATORS = {
    "mt5": of(translation, "MT5", **T5),
    "umt5": of(translation, "UMT5", **T5),
    "mbart": of(translation, "MBart", **SOURCE_AND_TARGET),
    "pegasus": of(translation, "Pegasus", **SOURCE_AND_TARGET),
    "m2m100": of(translation, "M2M100", **SOURCE_AND_TARGET, encoder_layerdrop=0.0, decoder_layerdrop=0.0),
    "blenderbot": of(translation, "Blenderbot", **SOURCE_AND_TARGET),
    "plbart": of(translation, "PLBart", **SOURCE_AND_TARGET),
}

FAMILIES = {
    "decoder": DECODERS,
    "mixture of experts": EXPERTS_MODELS,
    "state space": STATE_SPACES,
    "encoder": ENCODERS,
    "encoder and decoder": TRANSLATORS,
}
