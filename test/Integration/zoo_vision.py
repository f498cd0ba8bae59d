"""More models of images, sound and time series, of transformers and timm, tiny and with random weights."""

from __future__ import annotations

from typing import Callable

import torch
from models import Case, Logits
from zoo import CLASSES, NO_DROPOUT, SMALL, images, timm, vision, without_torchvision
from zoo_plain import normal, regression

STAGES = dict(hidden_sizes=[16, 32], depths=[1, 1], num_labels=CLASSES)
WINDOWS = dict(image_size=32, patch_size=2, embed_dim=16, depths=[1, 1], num_heads=[2, 4], window_size=4, drop_path_rate=0.0, **NO_DROPOUT)
PATCHES = dict(SMALL, **NO_DROPOUT, image_size=32, patch_size=8)
SPEECH = dict(
    SMALL, hidden_dropout=0.0, attention_dropout=0.0, activation_dropout=0.0, feat_proj_dropout=0.0, final_dropout=0.0, layerdrop=0.0,
    conv_dim=(16, 16), conv_stride=(5, 2), conv_kernel=(10, 3), num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=2, vocab_size=12,
    mask_time_prob=0.0, mask_feature_prob=0.0, num_feat_extract_layers=2,
)


class FirstOutput(Logits):
    """The first tensor that a model of transformers gives for its first input."""

    def __init__(self, model: torch.nn.Module, name: str):
        super().__init__(model)
        self.name = name

    def forward(self, x):
        return self.model(**{self.name: x}, return_dict=False)[0]


def pixels(model: str, shape=(3, 32, 32), name="pixel_values", **config) -> Case:
    """The class of transformers by its name, with the configuration of its stem, on numbers."""
    import transformers

    stem = next(stem for stem in (model[:end] for end in range(len(model), 0, -1)) if hasattr(transformers, stem + "Config"))
    module = FirstOutput(getattr(transformers, model)(getattr(transformers, stem + "Config")(**config)), name)
    module.eval()
    case = regression(module, x=normal(*shape))
    module.train()
    return case


def convmixer(**settings) -> Case:
    """timm's, of other sizes than those of its registered models."""
    with without_torchvision():
        from timm.models.convmixer import ConvMixer
    return images(ConvMixer(num_classes=CLASSES, act_layer=torch.nn.ReLU, **settings), (3, 64, 64))


def speech(model: str, **config) -> Case:
    return pixels(model + "ForCTC", (400,), "input_values", **{**SPEECH, **config})


def ahead(model: str, **config) -> Case:
    return pixels(model + "ForPrediction", (16, 3), "past_values", context_length=16, prediction_length=4, num_input_channels=3, **config)


def of(make: Callable[..., Case], *arguments, **config) -> Callable[[], Case]:
    return lambda: make(*arguments, **config)


IMAGES = {
    "deit": of(vision, "DeiT", **PATCHES),
    "beit": of(vision, "Beit", **PATCHES, drop_path_rate=0.0),
    "dinov2": of(vision, "Dinov2", **{**PATCHES, "hidden_size": 32}, mlp_ratio=2),
    "vit-msn": of(vision, "ViTMSN", **PATCHES),
    "convnext": of(vision, "ConvNext", hidden_sizes=[16, 32], depths=[1, 1], num_stages=2),
    "convnextv2": of(vision, "ConvNextV2", hidden_sizes=[16, 32], depths=[1, 1], num_stages=2),
    "swin": of(vision, "Swin", **WINDOWS),
    "swinv2": of(vision, "Swinv2", **WINDOWS),
    "resnet": of(vision, "ResNet", embedding_size=16, hidden_sizes=[16, 32], depths=[1, 1], layer_type="basic"),
    "regnet": of(vision, "RegNet", embedding_size=16, hidden_sizes=[16, 32], depths=[1, 1], groups_width=8),
    "mobilenet-v1": of(vision, "MobileNetV1", image_size=32, depth_multiplier=0.25, classifier_dropout_prob=0.0),
    "mobilenet-v2": of(vision, "MobileNetV2", image_size=32, depth_multiplier=0.25, classifier_dropout_prob=0.0),
    "poolformer": of(vision, "PoolFormer", hidden_sizes=[16, 32], depths=[1, 1], num_encoder_blocks=2, patch_sizes=[7, 3], strides=[4, 2], padding=[2, 1], drop_path_rate=0.0),
    "pvt-v2": of(vision, "PvtV2", image_size=32, hidden_sizes=[8, 16, 16, 32], depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 2, 4], drop_path_rate=0.0, **NO_DROPOUT),
    "focalnet": of(vision, "FocalNet", image_size=32, embed_dim=16, hidden_sizes=[16, 32], depths=[1, 1], focal_levels=[2, 2], focal_windows=[3, 3], drop_path_rate=0.0),
    "bit": of(vision, "Bit", embedding_size=16, hidden_sizes=[32, 64], depths=[1, 1], num_groups=4, drop_path_rate=0.0),
    "timm-resnet18": of(timm, "resnet18"),
    "timm-efficientnet": of(timm, "efficientnet_b0", size=64, drop_rate=0.0),
    "timm-mobilenetv3": of(timm, "mobilenetv3_small_050", size=64, drop_rate=0.0),
    "timm-convnext": of(timm, "convnext_atto", size=64),
    "timm-mixer": of(timm, "mixer_s32_224", img_size=64, size=64),
    "timm-resmlp": of(timm, "resmlp_12_224", img_size=64, size=64),
    "timm-gmlp": of(timm, "gmlp_ti16_224", img_size=64, size=64),
    "timm-beit": of(timm, "beit_base_patch16_224", img_size=32, embed_dim=48, depth=2, num_heads=4),
    "timm-cait": of(timm, "cait_xxs24_224", img_size=32, depth=2),
    "timm-xcit": of(timm, "xcit_nano_12_p16_224", img_size=32, depth=2),
    "timm-convmixer": of(convmixer, dim=64, depth=16, kernel_size=7, patch_size=7),
    "timm-mobilevit": of(timm, "mobilevit_xxs", size=64),
    "timm-repvgg": of(timm, "repvgg_a0", size=64),
    "timm-ghostnet": of(timm, "ghostnet_050", size=64, drop_rate=0.0),
    "timm-hrnet": of(timm, "hrnet_w18_small", size=64),
    "timm-levit": of(timm, "levit_128s", img_size=64, size=64),
    "timm-starnet": of(timm, "starnet_s1", size=64),
    "timm-edgenext": of(timm, "edgenext_xx_small", size=64),
    "timm-poolformer": of(timm, "poolformer_s12", size=64),
}

DETECTORS = {
    "yolos": of(pixels, "YolosForObjectDetection", **{**PATCHES, "image_size": [32, 32]}, num_detection_tokens=5, num_labels=4),
    "dpt": of(pixels, "DPTForDepthEstimation", **{**PATCHES, "num_hidden_layers": 4}, backbone_out_indices=[0, 1, 2, 3], neck_hidden_sizes=[8, 8, 8, 8], fusion_hidden_size=8, is_hybrid=False),
}

SEGMENTERS = {
    "segformer": of(pixels, "SegformerForSemanticSegmentation", hidden_sizes=[8, 16, 16, 32], depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 2, 4], decoder_hidden_size=16, drop_path_rate=0.0, classifier_dropout_prob=0.0, num_labels=4, **NO_DROPOUT),
    "mobilevit-segmentation": of(pixels, "MobileViTForSemanticSegmentation", (3, 64, 64), image_size=64, hidden_sizes=[16, 24, 32], neck_hidden_sizes=[8, 8, 8, 16, 16, 16, 32], aspp_out_channels=16, num_labels=4, aspp_dropout_prob=0.0, atrous_rates=[1, 2, 3], classifier_dropout_prob=0.0, **NO_DROPOUT),
    "swin2sr": of(pixels, "Swin2SRForImageSuperResolution", image_size=32, embed_dim=16, depths=[1, 1], num_heads=[2, 2], window_size=4, drop_path_rate=0.0, **NO_DROPOUT),
}

SOUND = {
    "wav2vec2": of(speech, "Wav2Vec2"),
    "hubert": of(speech, "Hubert"),
    "wavlm": of(speech, "WavLM", num_buckets=8, max_bucket_distance=16),
    "data2vec-audio": of(speech, "Data2VecAudio", conv_pos_kernel_size=3, num_conv_pos_embeddings=2),
    "unispeech": of(speech, "UniSpeech"),
    "audio-spectrogram": of(pixels, "ASTForAudioClassification", (32, 16), "input_values", **SMALL, **NO_DROPOUT, max_length=32, num_mel_bins=16, patch_size=8, frequency_stride=8, time_stride=8),
}

SERIES = {
    "patchtst": of(ahead, "PatchTST", patch_length=4, patch_stride=4, d_model=16, num_hidden_layers=2, num_attention_heads=2, ffn_dim=32, head_dropout=0.0, attention_dropout=0.0, ff_dropout=0.0, path_dropout=0.0, positional_dropout=0.0, loss="mse"),
    "patchtsmixer": of(ahead, "PatchTSMixer", patch_length=4, patch_stride=4, d_model=16, num_layers=2, dropout=0.0, head_dropout=0.0, loss="mse"),
}

FAMILIES = {"image": IMAGES, "detection": DETECTORS, "segmentation": SEGMENTERS, "audio": SOUND, "time series": SERIES}
