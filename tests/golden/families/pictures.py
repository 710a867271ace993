"""Models that see pictures: what a folder of one of these families answers, computed in double precision from the
papers that core/read/hub/families.json names. Names of tensors and keys are those of Hugging Face's files. A learned
table of positions is resized in float32, as the models do.

Tokens: class token, then distillation token or registers, then the patches row by row; siglip has patches alone."""

import json
import math
import pathlib
import struct

import numpy as np
import torch
from PIL import Image
from torch.nn import functional

DTYPES = {"F32": np.float32, "F16": np.float16, "I64": np.int64}

# Names of a block's tensors: norms, query, key, value, output, the feed-forward's two or three, the two scales.
VIT = {"blocks": "encoder.layer", "norm1": "layernorm_before", "norm2": "layernorm_after",
       "query": "attention.attention.query", "key": "attention.attention.key", "value": "attention.attention.value",
       "output": "attention.output.dense", "up": "intermediate.dense", "down": "output.dense"}
BEIT = {**VIT, "scale1": "lambda_1", "scale2": "lambda_2"}
DINOV2 = {**VIT, "norm1": "norm1", "norm2": "norm2", "up": "mlp.fc1", "down": "mlp.fc2",
          "scale1": "layer_scale1.lambda1", "scale2": "layer_scale2.lambda1"}
SWIGLU = {**DINOV2, "up": "mlp.weights_in", "down": "mlp.weights_out"}
DINOV3 = {**DINOV2, "blocks": "layer", "query": "attention.q_proj", "key": "attention.k_proj",
          "value": "attention.v_proj", "output": "attention.o_proj", "up": "mlp.up_proj", "down": "mlp.down_proj"}
TOWER = {"blocks": "encoder.layers", "norm1": "layer_norm1", "norm2": "layer_norm2", "query": "self_attn.q_proj",
         "key": "self_attn.k_proj", "value": "self_attn.v_proj", "output": "self_attn.out_proj", "up": "mlp.fc1",
         "down": "mlp.fc2"}
ACTIVATIONS = {"gelu": functional.gelu, "silu": functional.silu,
               "gelu_pytorch_tanh": lambda x: functional.gelu(x, approximate="tanh"),
               "quick_gelu": lambda x: x * torch.sigmoid(1.702 * x)}


# Files.
def read_tensors(path):
    data = pathlib.Path(path).read_bytes()
    size, = struct.unpack("<Q", data[:8])
    arrays = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        if name != "__metadata__":
            begin, end = (8 + size + at for at in entry["data_offsets"])
            arrays[name] = np.frombuffer(data[begin:end], DTYPES[entry["dtype"]]).reshape(entry["shape"])
    return arrays


def write_tensors(path, arrays):
    header, at, parts = {"__metadata__": {"format": "pt"}}, 0, []
    for name, array in sorted(arrays.items()):
        dtype = next(key for key, value in DTYPES.items() if value == array.dtype)
        parts.append(np.ascontiguousarray(array).tobytes())
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [at, at + len(parts[-1])]}
        at += len(parts[-1])
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(text)) + text + b"".join(parts))


# From a picture to what the model is given.
def resized_to(size, width, height, square):
    if isinstance(size, int):  # of older files; what it means depends on the family
        size = {"height": size, "width": size} if square else {"shortest_edge": size}
    if "height" in size:
        return size["width"], size["height"]
    edge = size["shortest_edge"]
    longer = int(edge * max(width, height) / min(width, height))
    return (edge, longer) if width <= height else (longer, edge)


def pixels_of(path, settings):
    """(H, W, 3) float32. Resizing rounds to bytes, as PIL does, except where a processor divides by 255 before."""
    kind = settings.get("image_processor_type", settings.get("feature_extractor_type", ""))
    picture = Image.open(path).convert("RGB")
    factor = settings.get("rescale_factor", 1 / 255)
    mean, deviation = (np.array(settings[key], np.float32) for key in ("image_mean", "image_std"))
    filter_ = settings.get("resample", 2)
    to = resized_to(settings["size"], *picture.size, square="CLIP" not in kind)
    if kind.startswith("DINOv3"):
        bands = [np.asarray(band).astype(np.float32) * np.float32(factor) for band in picture.split()]
        values = np.stack([np.asarray(Image.fromarray(band, "F").resize(to, filter_)) for band in bands], -1)
    else:
        if settings.get("do_resize", True):
            picture = picture.resize(to, filter_)
        values = np.asarray(picture)
        if settings.get("do_center_crop", False):
            crop = settings["crop_size"]
            crop = {"height": crop, "width": crop} if isinstance(crop, int) else crop
            for axis, side in enumerate((crop["height"], crop["width"])):  # the middle; black where there is less
                less = max(0, side - values.shape[axis])
                values = np.pad(values, [((less + 1) // 2, less // 2) if at == axis else (0, 0) for at in range(3)])
                first = (values.shape[axis] - side) // 2
                values = values.take(range(first, first + side), axis)
        values = (values.astype(np.float64) * factor).astype(np.float32)
    return (values - mean) / deviation


# What every family is made of.
class Tensors:
    def __init__(self, arrays, prefix):
        self.arrays = {name: torch.from_numpy(array.astype(np.float64)) for name, array in arrays.items()}
        self.prefix = prefix

    def get(self, name):
        return self.arrays.get(self.prefix + name)

    def linear(self, name, x):
        return functional.linear(x, self.arrays[self.prefix + name + ".weight"], self.get(name + ".bias"))

    def classes(self, name, x):
        """Logits of a classifier, whose name has no prefix, if it is stored."""
        weight = self.arrays.get(name + ".weight")
        return None if weight is None else functional.linear(x, weight, self.arrays[name + ".bias"])

    def norm(self, name, x, epsilon):
        weight = self.arrays[self.prefix + name + ".weight"]
        return functional.layer_norm(x, weight.shape, weight, self.get(name + ".bias"), epsilon)

    def patches(self, name, pixels, size):
        rows, columns = pixels.shape[0] // size, pixels.shape[1] // size
        picture = torch.from_numpy(np.asarray(pixels, np.float64)).permute(2, 0, 1)[None]
        weight, bias = self.arrays[self.prefix + name + ".weight"], self.get(name + ".bias")
        return functional.conv2d(picture, weight, bias, stride=size).flatten(2)[0].T, rows, columns


def positions_for(table, special, rows, columns, own, antialias):
    """A learned table of special + own[0]·own[1] positions, for a grid of rows × columns."""
    if own == (rows, columns):
        return table
    grid = table[special:].reshape(1, *own, -1).permute(0, 3, 1, 2).float()
    grid = functional.interpolate(grid, (rows, columns), mode="bicubic", align_corners=False, antialias=antialias)
    return torch.cat([table[:special], grid[0].flatten(1).T.double()])


def blocks(t, names, x, config, epsilon, activation, rotate=None, bias=None):
    heads, weights = config["num_attention_heads"], []
    width = x.shape[1] // heads
    for layer in range(config["num_hidden_layers"]):
        at = {key: f"{names['blocks']}.{layer}.{name}" for key, name in names.items()}

        def split(projected):
            return projected.reshape(len(x), heads, width).transpose(0, 1)

        normed = t.norm(at["norm1"], x, epsilon)
        q, k, v = (split(t.linear(at[part], normed)) for part in ("query", "key", "value"))
        if rotate:
            q, k = rotate(q), rotate(k)
        scores = q @ k.transpose(1, 2) / math.sqrt(width)
        weights.append(torch.softmax(scores if bias is None else scores + bias(layer), -1))
        mixed = t.linear(at["output"], (weights[-1] @ v).transpose(0, 1).reshape(x.shape))
        scales = [t.get(at[scale]) if scale in names else None for scale in ("scale1", "scale2")]
        x = x + (mixed if scales[0] is None else scales[0] * mixed)
        normed = t.norm(at["norm2"], x, epsilon)
        gate = f"{names['blocks']}.{layer}.mlp.gate_proj"
        inner = t.linear(at["up"], normed)
        if "weights_in" in names["up"]:
            first, second = inner.chunk(2, -1)
            inner = functional.silu(first) * second
        elif t.get(gate + ".weight") is not None:
            inner = ACTIVATIONS[activation](t.linear(gate, normed)) * inner
        else:
            inner = ACTIVATIONS[activation](inner)
        inner = t.linear(at["down"], inner)
        x = x + (inner if scales[1] is None else scales[1] * inner)
    return torch.stack(weights), x


def pair(size):
    return tuple(size) if isinstance(size, (list, tuple)) else (size, size)


def classified(t, config, last, patches):
    """Logits of the last hidden states (T, d), behind the norm where there is one, the last `patches` of them those of
    the patches; None without a classifier."""
    kind = config["model_type"]
    if "cls_classifier.weight" in t.arrays:
        return (t.classes("cls_classifier", last[0]) + t.classes("distillation_classifier", last[1])) / 2
    if kind.startswith("dinov2"):
        return t.classes("classifier", torch.cat([last[0], last[-patches:].mean(0)]))
    if kind == "beit" and config.get("use_mean_pooling", True):
        return t.classes("classifier", t.norm("pooler.layernorm", last[-patches:].mean(0), config["layer_norm_eps"]))
    return t.classes("classifier", last[0])


# The families: each answers (embeddings, attentions, last hidden state, logits or None).
def vit(t, config, pixels):
    patches, rows, columns = t.patches("embeddings.patch_embeddings.projection", pixels, config["patch_size"])
    special = [t.get("embeddings.cls_token")[0], *([t.get("embeddings.distillation_token")[0]]
                                                   if config["model_type"] == "deit" else [])]
    own = tuple(size // config["patch_size"] for size in pair(config["image_size"]))
    table = positions_for(t.get("embeddings.position_embeddings")[0], len(special), rows, columns, own, False)
    x = torch.cat([*special, patches]) + table
    epsilon = config.get("layer_norm_eps", 1e-12)
    weights, last = blocks(t, VIT, x, config, epsilon, config.get("hidden_act", "gelu"))
    last = t.norm("layernorm", last, epsilon)
    return x, weights, last, classified(t, config, last, rows * columns)


def dinov2(t, config, pixels):
    patches, rows, columns = t.patches("embeddings.patch_embeddings.projection", pixels, config["patch_size"])
    own = tuple(size // config["patch_size"] for size in pair(config["image_size"]))
    registers = t.get("embeddings.register_tokens")
    table = positions_for(t.get("embeddings.position_embeddings")[0], 1, rows, columns, own, registers is not None)
    x = torch.cat([t.get("embeddings.cls_token")[0], patches]) + table
    if registers is not None:
        x = torch.cat([x[:1], registers[0], x[1:]])
    names = SWIGLU if config.get("use_swiglu_ffn") else DINOV2
    epsilon = config.get("layer_norm_eps", 1e-6)
    weights, last = blocks(t, names, x, config, epsilon, config.get("hidden_act", "gelu"))
    last = t.norm("layernorm", last, epsilon)
    return x, weights, last, classified(t, config, last, rows * columns)


def dinov3(t, config, pixels):
    patches, rows, columns = t.patches("embeddings.patch_embeddings", pixels, config["patch_size"])
    x = torch.cat([t.get("embeddings.cls_token")[0], t.get("embeddings.register_tokens")[0], patches])
    width = config["hidden_size"] // config["num_attention_heads"]
    turns = config.get("rope_theta", 100.0) ** -torch.arange(0, 1, 4 / width, dtype=torch.float64)
    centres = torch.cartesian_prod(*(2 * (torch.arange(n, dtype=torch.float64) + .5) / n - 1 for n in (rows, columns)))
    angles = (2 * math.pi * centres[:, :, None] * turns).flatten(1)  # row's, then column's: a quarter of a head each
    angles = torch.cat([angles, angles], 1)

    def rotate(y):
        grid = y[:, len(x) - len(patches):]
        first, second = grid.chunk(2, -1)
        turned = grid * angles.cos() + torch.cat([-second, first], -1) * angles.sin()
        return torch.cat([y[:, :len(x) - len(patches)], turned], 1)

    epsilon = config.get("layer_norm_eps", 1e-5)
    weights, last = blocks(t, DINOV3, x, config, epsilon,
                           config.get("hidden_act", "gelu"), rotate)
    return x, weights, t.norm("norm", last, epsilon), None


def tower(t, config, pixels):
    """The vision towers of clip and siglip."""
    clip = config["model_type"].startswith("clip")
    patches, rows, columns = t.patches("embeddings.patch_embedding", pixels, config["patch_size"])
    x = patches if not clip else torch.cat([t.get("embeddings.class_embedding")[None], patches])
    x = x + t.get("embeddings.position_embedding.weight")
    epsilon = config.get("layer_norm_eps", 1e-5 if clip else 1e-6)
    if clip:
        x = t.norm("pre_layrnorm", x, epsilon)
    weights, last = blocks(t, TOWER, x, config, epsilon,
                           config.get("hidden_act", "quick_gelu" if clip else "gelu_pytorch_tanh"))
    return x, weights, last if clip else t.norm("post_layernorm", last, epsilon), None


def relative_index(rows, columns):
    """Which row of beit's table is the bias from a query to a key; the last three: from, to, and at the class token."""
    count = (2 * rows - 1) * (2 * columns - 1)
    place = torch.cartesian_prod(torch.arange(rows), torch.arange(columns))
    away = place[:, None] - place[None] + torch.tensor([rows - 1, columns - 1])
    index = torch.full((len(place) + 1, len(place) + 1), count)
    index[1:, 1:] = away[..., 0] * (2 * columns - 1) + away[..., 1]
    index[1:, 0] = count + 1
    index[0, 0] = count + 2
    return index


def beit(t, config, pixels):
    patches, rows, columns = t.patches("embeddings.patch_embeddings.projection", pixels, config["patch_size"])
    x = torch.cat([t.get("embeddings.cls_token")[0], patches])
    if config.get("use_absolute_position_embeddings"):
        x = x + t.get("embeddings.position_embeddings")[0]
    index = relative_index(rows, columns)

    def bias(layer):
        place = "encoder" if config.get("use_shared_relative_position_bias") else (
            f"encoder.layer.{layer}.attention.attention")
        return t.get(place + ".relative_position_bias.relative_position_bias_table")[index].permute(2, 0, 1)

    epsilon = config.get("layer_norm_eps", 1e-12)
    weights, last = blocks(t, BEIT, x, config, epsilon, config.get("hidden_act", "gelu"),
                           bias=bias)
    if not config.get("use_mean_pooling", True):
        last = t.norm("layernorm", last, epsilon)
    return x, weights, last, classified(t, config, last, rows * columns)


FORWARD = {"vit": vit, "deit": vit, "dinov2": dinov2, "dinov2_with_registers": dinov2, "dinov3_vit": dinov3,
           "clip_vision_model": tower, "clip": tower, "siglip_vision_model": tower, "siglip": tower, "beit": beit}


def prefix_of(kind, arrays):
    prefix = "vision_model." if FORWARD[kind] is tower else kind + "."
    return prefix if any(name.startswith(prefix) for name in arrays) else ""


def classes_of(folder, hidden, patches):
    """The logits of a classifier, a tensor that has a gradient, by the output (T, d) of its last block."""
    folder = pathlib.Path(folder)
    config, arrays = json.loads((folder / "config.json").read_text()), read_tensors(folder / "model.safetensors")
    t = Tensors(arrays, prefix_of(config["model_type"], arrays))
    if config["model_type"] != "beit" or not config.get("use_mean_pooling", True):
        hidden = t.norm("layernorm", hidden, config["layer_norm_eps"])
    return classified(t, config, hidden, patches)


def reference(folder, pixels):
    """What the model of this folder answers to pixels (H, W, 3) that are prepared: a dict of float32 arrays."""
    folder = pathlib.Path(folder)
    config, arrays = json.loads((folder / "config.json").read_text()), read_tensors(folder / "model.safetensors")
    kind = config["model_type"]
    prefix = prefix_of(kind, arrays)
    own = {"model_type": kind, **config["vision_config"]} if kind in ("clip", "siglip") else config
    with torch.no_grad():
        answers = FORWARD[kind](Tensors(arrays, prefix), own, pixels)
    names = ("embeddings", "attentions", "last_hidden_state", "logits")
    return {name: value.numpy().astype(np.float32) for name, value in zip(names, answers) if value is not None}
