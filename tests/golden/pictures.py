#!/usr/bin/env python3
"""Writes small models that see pictures, of random weights, and what they answer: pictures.py FOLDER [NAME …]

Needs PyTorch 1.13 or later, numpy and PIL (Debian: python3-torch, python3-pil). Into FOLDER/NAME/ go config.json,
preprocessor_config.json and model.safetensors, as Hugging Face's models are kept, and expected.npz:
  pixels (H, W, 3)            what the model is given, made of FOLDER/picture.png as preprocessor_config.json says
  embeddings (T, d)           what enters the first block
  attentions (L, h, T, T)
  last_hidden_state (T, d)    behind the norm after the blocks, where the model has one over all its tokens: the tower
                              of clip norms its class token alone, beit with use_mean_pooling the mean of the patches
  logits (classes)            where a classifier is stored
The formulas are in families/pictures.py. Weights are drawn wide, so that attention is far from uniform and a wrong
scale, order, position or norm shows. The same bytes every time."""

import json
import pathlib
import sys
import zlib

import numpy as np
from PIL import Image

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from families.pictures import (BEIT, DINOV2, DINOV3, SWIGLU, TOWER, VIT, classes_of, pixels_of, read_tensors,  # noqa: E402, F401
                               reference, relative_index, write_tensors)

IMAGENET = {"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}
HALF = {"image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}
CLIP = {"image_mean": [0.48145466, 0.4578275, 0.40821073], "image_std": [0.26862954, 0.26130258, 0.27577711]}
STEPS = {"do_normalize": True, "do_rescale": True, "do_resize": True, "rescale_factor": 0.00392156862745098}


def size(height, width):
    return {"height": height, "width": width}


class Drawn:
    """Tensors of random numbers under a prefix."""

    def __init__(self, name):
        self.draw = np.random.default_rng(zlib.crc32(name.encode()))
        self.arrays, self.prefix = {}, ""

    def free(self, name, *shape, spread=1.0, about=0.0):
        self.arrays[self.prefix + name] = (about + spread * self.draw.standard_normal(shape)).astype(np.float32)

    def linear(self, name, outputs, *inputs, bias=True, spread=1.0):
        self.free(name + ".weight", outputs, *inputs, spread=spread / np.prod(inputs) ** 0.5)
        if bias:
            self.free(name + ".bias", outputs, spread=0.3)

    def norm(self, name, width):
        self.free(name + ".weight", width, spread=0.3, about=1)
        self.free(name + ".bias", width, spread=0.3)

    def blocks(self, names, d, ffn, layers, biased=("query", "key", "value", "output", "ffn"), gated=False):
        for layer in range(layers):
            at = {key: f"{names['blocks']}.{layer}.{name}" for key, name in names.items()}
            for part in ("query", "key", "value", "output"):
                self.linear(at[part], d, d, bias=part in biased, spread=1.7 if part in ("query", "key") else 1.0)
            self.norm(at["norm1"], d)
            self.norm(at["norm2"], d)
            self.linear(at["up"], 2 * ffn if "weights_in" in names["up"] else ffn, d, bias="ffn" in biased)
            if gated:
                self.linear(f"{names['blocks']}.{layer}.mlp.gate_proj", ffn, d, bias="ffn" in biased)
            self.linear(at["down"], d, ffn, bias="ffn" in biased)
            for scale in ("scale1", "scale2"):
                if scale in names:
                    self.free(at[scale], d, spread=0.3, about=0.8)


def base(kind, architecture, d=32, layers=2, **more):
    return {"architectures": [architecture], "model_type": kind, "hidden_size": d, "num_hidden_layers": layers,
            "num_attention_heads": 4, "patch_size": 8, "num_channels": 3, "torch_dtype": "float32",
            "transformers_version": "4.57.1", **more}


def vit(drawn, architecture):
    """Of a grid that is not square, with a classifier; or square, with a pooler."""
    classifier = architecture == "ViTForImageClassification"
    config = base("vit", architecture, d=48, layers=3, image_size=[24, 32] if classifier else 32, intermediate_size=96,
                  hidden_act="gelu", layer_norm_eps=1e-12, qkv_bias=True, encoder_stride=16, initializer_range=0.02,
                  hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    drawn.prefix = "vit." if classifier else ""
    drawn.free("embeddings.cls_token", 1, 1, 48)
    drawn.free("embeddings.position_embeddings", 1, 13 if classifier else 17, 48)
    drawn.linear("embeddings.patch_embeddings.projection", 48, 3, 8, 8)
    drawn.blocks(VIT, 48, 96, 3)
    drawn.norm("layernorm", 48)
    if classifier:
        config["id2label"] = {str(at): name for at, name in enumerate(("cat", "dog", "tree"))}
        config["label2id"] = {name: int(at) for at, name in config["id2label"].items()}
        drawn.prefix = ""
        drawn.linear("classifier", 3, 48)
    else:
        drawn.linear("pooler.dense", 48, 48)
    return config, {"image_processor_type": "ViTImageProcessor", "resample": 2, **STEPS, **HALF,
                    "size": size(24, 32) if classifier else size(32, 32)}


def deit(drawn, architecture):
    """The processor's file in the form of its first versions, where a size is one number: a square, then a crop."""
    teacher, classifier = architecture.endswith("WithTeacher"), architecture != "DeiTModel"
    config = base("deit", architecture, image_size=32, intermediate_size=64, hidden_act="gelu", layer_norm_eps=1e-12,
                  qkv_bias=True, encoder_stride=16)
    drawn.prefix = "deit." if classifier else ""
    drawn.free("embeddings.cls_token", 1, 1, 32)
    drawn.free("embeddings.distillation_token", 1, 1, 32)
    drawn.free("embeddings.position_embeddings", 1, 18, 32)
    drawn.linear("embeddings.patch_embeddings.projection", 32, 3, 8, 8)
    drawn.blocks(VIT, 32, 64, 2)
    drawn.norm("layernorm", 32)
    if classifier:
        config["id2label"] = {"0": "LABEL_0", "1": "LABEL_1"}
        drawn.prefix = ""
        for name in ("cls_classifier", "distillation_classifier") if teacher else ("classifier",):
            drawn.linear(name, 2, 32)
    else:
        drawn.linear("pooler.dense", 32, 32)
    return config, {"feature_extractor_type": "DeiTFeatureExtractor", "resample": 3, "size": 37, "crop_size": 32,
                    "do_center_crop": True, "do_normalize": True, "do_resize": True, **IMAGENET}


def dinov2(drawn, registers, swiglu, classifier=None):
    """A table of 4 × 4 positions for a grid of 3 × 5; swiglu with a classifier, and the table's own grid."""
    classifier = swiglu if classifier is None else classifier
    kind = "dinov2_with_registers" if registers else "dinov2"
    named = "Dinov2WithRegisters" if registers else "Dinov2"
    config = base(kind, named + ("ForImageClassification" if classifier else "Model"), d=48, image_size=32, mlp_ratio=2,
                  hidden_act="gelu", layer_norm_eps=1e-6, qkv_bias=True, layerscale_value=1.0, drop_path_rate=0.0,
                  use_swiglu_ffn=swiglu, apply_layernorm=True, reshape_hidden_states=True)
    if registers:
        config["num_register_tokens"] = 4
    drawn.prefix = kind + "." if classifier else ""
    drawn.free("embeddings.cls_token", 1, 1, 48)
    drawn.free("embeddings.mask_token", 1, 48)
    drawn.free("embeddings.position_embeddings", 1, 17, 48)
    if registers:
        drawn.free("embeddings.register_tokens", 1, 4, 48)
    drawn.linear("embeddings.patch_embeddings.projection", 48, 3, 8, 8)
    drawn.blocks(SWIGLU if swiglu else DINOV2, 48, 64 if swiglu else 96, 2)  # (96·2/3 + 7) // 8 · 8 = 64
    drawn.norm("layernorm", 48)
    if classifier:
        config["id2label"] = {"0": "LABEL_0", "1": "LABEL_1"}
        drawn.prefix = ""
        drawn.linear("classifier", 2, 96)
    return config, {"image_processor_type": "BitImageProcessor", "do_convert_rgb": True, "do_center_crop": True,
                    "crop_size": size(32, 32) if swiglu else size(24, 40), "size": {"shortest_edge": 36}, "resample": 3,
                    **STEPS, **IMAGENET}


def dinov3(drawn, gated):
    """The processor divides by 255 before it resizes: nothing is rounded to bytes in between."""
    config = base("dinov3_vit", "DINOv3ViTModel", d=48, image_size=32, intermediate_size=96, layer_norm_eps=1e-5,
                  hidden_act="silu" if gated else "gelu", use_gated_mlp=gated, num_register_tokens=4, rope_theta=100.0,
                  query_bias=not gated, key_bias=False, value_bias=not gated, proj_bias=True, mlp_bias=True,
                  layerscale_value=1.0, drop_path_rate=0.0, pos_embed_rescale=2.0, pos_embed_shift=None,
                  pos_embed_jitter=None)
    for name, count in (("cls", 1), ("mask", 1), ("register", 4)):
        drawn.free(f"embeddings.{name}_token" + "s" * (count > 1), 1, count, 48)
    drawn.linear("embeddings.patch_embeddings", 48, 3, 8, 8)
    drawn.blocks(DINOV3, 48, 96, 2, ("output", "ffn") if gated else ("query", "value", "output", "ffn"), gated)
    drawn.norm("norm", 48)
    return config, {"image_processor_type": "DINOv3ViTImageProcessorFast", "size": size(24, 40), "resample": 2,
                    "do_center_crop": None, "crop_size": None, "do_convert_rgb": None, "data_format": "channels_first",
                    **STEPS, **IMAGENET}


def tower(drawn, positions, **bias):
    drawn.free("embeddings.position_embedding.weight", positions, 32)
    drawn.linear("embeddings.patch_embedding", 32, 3, 8, 8, **bias)
    drawn.blocks(TOWER, 32, 64, 2)
    drawn.norm("post_layernorm", 32)


def text_tower(drawn):
    drawn.prefix = "text_model."
    drawn.free("embeddings.token_embedding.weight", 40, 32)
    drawn.free("embeddings.position_embedding.weight", 12, 32)
    drawn.blocks(TOWER, 32, 64, 2)
    drawn.norm("final_layer_norm", 32)
    drawn.prefix = ""


TEXT = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 40,
        "max_position_embeddings": 12}


def clip(drawn, whole):
    """Whole: in the form of the first files, with position_ids, and a processor whose size is of the shorter side."""
    own = {"image_size": 32, "intermediate_size": 64, "hidden_act": "quick_gelu", "layer_norm_eps": 1e-5,
           "projection_dim": 24}
    config = base("clip_vision_model", "CLIPVisionModel", **own)
    drawn.prefix = "vision_model."
    drawn.free("embeddings.class_embedding", 32)
    drawn.norm("pre_layrnorm", 32)
    tower(drawn, 17, bias=False)
    if whole:
        vision = {key: config[key] for key in ("hidden_size", "num_hidden_layers", "num_attention_heads", "patch_size")}
        config = {"architectures": ["CLIPModel"], "model_type": "clip", "projection_dim": 24, "initializer_factor": 1.0,
                  "logit_scale_init_value": 2.6592, "torch_dtype": "float32", "transformers_version": "4.16.0.dev0",
                  "text_config": {**TEXT, "model_type": "clip_text_model", "hidden_act": "quick_gelu"},
                  "vision_config": {**own, **vision, "model_type": "clip_vision_model"}}
        text_tower(drawn)
        drawn.linear("visual_projection", 24, 32, bias=False)
        drawn.linear("text_projection", 24, 32, bias=False)
        drawn.free("logit_scale", about=2.6, spread=0)
        for part, count in (("vision", 17), ("text", 12)):
            drawn.arrays[f"{part}_model.embeddings.position_ids"] = np.arange(count)[None]
        return config, {"feature_extractor_type": "CLIPFeatureExtractor", "size": 32, "crop_size": 32, "resample": 3,
                        "do_center_crop": True, "do_normalize": True, "do_resize": True, **CLIP}
    return config, {"image_processor_type": "CLIPImageProcessor", "size": {"shortest_edge": 35}, "resample": 3,
                    "crop_size": size(32, 32), "do_center_crop": True, "do_convert_rgb": True, **STEPS, **CLIP}


def siglip(drawn, whole):
    """Whole: keys at their defaults are left out of vision_config, as they are in the published files."""
    config = base("siglip_vision_model", "SiglipVisionModel", image_size=32, intermediate_size=64, layer_norm_eps=1e-6,
                  hidden_act="gelu_pytorch_tanh", attention_dropout=0.0)
    drawn.prefix = "vision_model."
    tower(drawn, 16)
    drawn.free("head.probe", 1, 1, 32)
    drawn.free("head.attention.in_proj_weight", 96, 32)
    drawn.free("head.attention.in_proj_bias", 96)
    drawn.linear("head.attention.out_proj", 32, 32)
    drawn.norm("head.layernorm", 32)
    drawn.linear("head.mlp.fc1", 64, 32)
    drawn.linear("head.mlp.fc2", 32, 64)
    if whole:
        vision = {key: config[key] for key in ("hidden_size", "num_hidden_layers", "num_attention_heads", "patch_size",
                                               "image_size", "intermediate_size")}
        config = {"architectures": ["SiglipModel"], "model_type": "siglip", "initializer_factor": 1.0,
                  "torch_dtype": "float32", "transformers_version": "4.37.0.dev0",
                  "text_config": {**TEXT, "model_type": "siglip_text_model"},
                  "vision_config": {**vision, "model_type": "siglip_vision_model"}}
        text_tower(drawn)
        drawn.linear("text_model.head", 32, 32)
        drawn.free("logit_scale", 1)
        drawn.free("logit_bias", 1)
    return config, {"image_processor_type": "SiglipImageProcessor", "size": size(32, 32), "resample": 3,
                    "do_convert_rgb": None, **STEPS, **HALF}


def beit(drawn, shared, classifier=None):
    """A bias of relative positions in each layer, and no other positions; or one for all layers, beside a table."""
    classifier = not shared if classifier is None else classifier
    config = base("beit", "BeitForImageClassification" if classifier else "BeitModel", image_size=32, intermediate_size=64,
                  hidden_act="gelu", layer_norm_eps=1e-12, layer_scale_init_value=0.1, drop_path_rate=0.1,
                  use_mask_token=shared, use_absolute_position_embeddings=shared, use_mean_pooling=not shared,
                  use_relative_position_bias=not shared, use_shared_relative_position_bias=shared, vocab_size=8192)
    drawn.prefix = "beit." if classifier else ""
    drawn.free("embeddings.cls_token", 1, 1, 32)
    drawn.linear("embeddings.patch_embeddings.projection", 32, 3, 8, 8)
    drawn.blocks(BEIT, 32, 64, 2, ("query", "value", "output", "ffn"))
    for place in ["encoder"] if shared else [f"encoder.layer.{layer}.attention.attention" for layer in range(2)]:
        drawn.free(place + ".relative_position_bias.relative_position_bias_table", 7 * 7 + 3, 4)
        drawn.arrays[drawn.prefix + place + ".relative_position_bias.relative_position_index"] = np.array(
            relative_index(4, 4))
    if shared:
        drawn.free("embeddings.mask_token", 1, 1, 32)
        drawn.free("embeddings.position_embeddings", 1, 17, 32)
        drawn.norm("layernorm", 32)
    else:
        drawn.norm("pooler.layernorm", 32)
    if classifier:
        config["id2label"] = {"0": "LABEL_0", "1": "LABEL_1"}
        drawn.prefix = ""
        drawn.linear("classifier", 2, 32)
    return config, {"image_processor_type": "BeitImageProcessor", "do_center_crop": True, "do_reduce_labels": False,
                    "size": size(36, 36), "crop_size": size(32, 32), "resample": 3, **STEPS, **HALF}


CASES = {"vit": lambda drawn: vit(drawn, "ViTModel"),
         "vit-classes": lambda drawn: vit(drawn, "ViTForImageClassification"),
         "deit": lambda drawn: deit(drawn, "DeiTModel"),
         "deit-classes": lambda drawn: deit(drawn, "DeiTForImageClassification"),
         "deit-teacher": lambda drawn: deit(drawn, "DeiTForImageClassificationWithTeacher"),
         "dinov2": lambda drawn: dinov2(drawn, False, False), "dinov2-swiglu": lambda drawn: dinov2(drawn, False, True),
         "dinov2-classes": lambda drawn: dinov2(drawn, False, False, True),
         "dinov2_with_registers": lambda drawn: dinov2(drawn, True, False),
         "dinov2_with_registers-swiglu": lambda drawn: dinov2(drawn, True, True),
         "dinov3_vit": lambda drawn: dinov3(drawn, False), "dinov3_vit-gated": lambda drawn: dinov3(drawn, True),
         "clip_vision_model": lambda drawn: clip(drawn, False), "clip": lambda drawn: clip(drawn, True),
         "siglip_vision_model": lambda drawn: siglip(drawn, False), "siglip": lambda drawn: siglip(drawn, True),
         "beit": lambda drawn: beit(drawn, False), "beit-shared": lambda drawn: beit(drawn, True),
         "beit-classes": lambda drawn: beit(drawn, True, True)}


def picture():
    """61 × 47: slow colours, a disc, stripes, and noise, so that every resampling differs."""
    draw, (y, x) = np.random.default_rng(63), np.mgrid[:47, :61]
    bands = np.stack([x * 4, y * 5, 255 - x * 2 - y * 2], -1).astype(np.float64)
    bands[(x - 20) ** 2 + (y - 18) ** 2 < 120] = [230, 40, 60]
    bands[(x > 36) & (x % 4 < 2)] = [30, 200, 220]
    return Image.fromarray((bands + draw.integers(-20, 21, bands.shape)).clip(0, 255).astype(np.uint8))


def answer(folder, path):
    """What the model of this folder answers to this picture, and the pixels that it is given."""
    pixels = pixels_of(path, json.loads((pathlib.Path(folder) / "preprocessor_config.json").read_text()))
    return {"pixels": pixels, **reference(folder, pixels)}


def make(folder, names=()):
    """The models of these names, or all; their names."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    picture().save(folder / "picture.png")
    for name in names or CASES:
        drawn, here = Drawn(name), folder / name
        here.mkdir(exist_ok=True)
        config, processor = CASES[name](drawn)
        (here / "config.json").write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")
        (here / "preprocessor_config.json").write_text(json.dumps(processor, indent=2, sort_keys=True) + "\n")
        write_tensors(here / "model.safetensors", drawn.arrays)
        expected = answer(here, folder / "picture.png")
        assert all(np.isfinite(array).all() for array in expected.values()) and expected["attentions"].max() > 0.8, name
        np.savez(here / "expected.npz", **expected)
    return list(names or CASES)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for made in make(sys.argv[1], sys.argv[2:]):
        arrays = np.load(pathlib.Path(sys.argv[1]) / made / "expected.npz")
        print(made, {key: arrays[key].shape for key in arrays.files})
