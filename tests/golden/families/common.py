"""What the references of several families share: weights drawn by name, attention, small configurations."""

import math

import numpy
import torch
from torch.nn import functional as F

D, FFN, WORDS, LAYERS = 24, 40, 53, 2


class Weights(dict):
    """Tensors by name, drawn when they are first asked for; kept as float32, handed out in double precision."""

    def __init__(self, seed, halves=False):
        super().__init__()
        self.random = numpy.random.default_rng(seed)
        self.halves = halves

    def draw(self, name, shape, scale, middle=0.0):
        if name not in self:
            values = torch.from_numpy((middle + scale * self.random.standard_normal(shape)).astype(numpy.float32))
            self[name] = values.bfloat16() if self.halves else values
        return self[name].double()

    def table(self, name, rows, columns):
        return self.draw(name, (rows, columns), 1.0)

    def linear(self, x, name, out, bias=True, wide=1.4):
        y = x @ self.draw(name + ".weight", (out, x.shape[1]), wide / math.sqrt(x.shape[1])).T
        return y + self.draw(name + ".bias", (out,), 0.3) if bias else y

    def layer_norm(self, x, name, epsilon):
        scale, shift = self.draw(name + ".weight", x.shape[1:], 0.2, 1.0), self.draw(name + ".bias", x.shape[1:], 0.3)
        return F.layer_norm(x, x.shape[1:], scale, shift, epsilon)

    def rms_norm(self, x, name, epsilon):
        scale = self.draw(name + ".weight", x.shape[-1:], 0.2, 1.0)
        return x / torch.sqrt((x * x).mean(-1, keepdim=True) + epsilon) * scale


def split(x, heads):
    return x.reshape(x.shape[0], heads, -1).transpose(0, 1)


def attend(q, k, v, heads, causal=False, scale=None, added=None, kv_heads=None, cap=None, window=None,
           sinks=None):
    """The weights (heads, T, S) and the heads' outputs side by side."""
    q, k, v = split(q, heads), split(k, kv_heads or heads), split(v, kv_heads or heads)
    group = heads // k.shape[0]
    k, v = k.repeat_interleave(group, 0), v.repeat_interleave(group, 0)
    scores = q @ k.transpose(1, 2) * (1 / math.sqrt(q.shape[2]) if scale is None else scale)
    if cap is not None:
        scores = cap * torch.tanh(scores / cap)
    if added is not None:
        scores = scores + added
    if window is not None:  # keys so far from the query or farther
        places = torch.arange(scores.shape[1])
        scores = scores.masked_fill((places[:, None] - places[None, :]).abs() >= window, -math.inf)
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[1:], dtype=torch.bool).triu(1), -math.inf)
    if sinks is not None:  # a score of no key, dropped after the softmax
        scores = torch.cat([scores, sinks[:, None, None].expand(-1, scores.shape[1], 1)], -1)
    weights = torch.softmax(scores, -1)[..., :k.shape[1]]
    return weights, (weights @ v).transpose(0, 1).reshape(q.shape[1], -1)


def gelu_tanh(x):
    return F.gelu(x, approximate="tanh")


def bucket(offset, buckets, most, both_ways):
    """Raffel et al.'s buckets for a key `offset` places after its query."""
    first, distance = 0, -offset
    if both_ways:
        buckets //= 2
        first, distance = (buckets if offset > 0 else 0), abs(offset)
    distance, exact = max(distance, 0), buckets // 2
    if distance < exact:
        return first + distance
    # In float32, as models were trained with it: distances on an edge fall to one side.
    logs = torch.log(torch.tensor(float(distance)) / exact) / math.log(most / exact) * (buckets - exact)
    return first + min(exact + int(logs), buckets - 1)


def frequencies(width, theta, scaling, trained):
    """The angle of each pair of columns for one place further, and what sines and cosines are multiplied by."""
    plain = theta ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    kind = scaling.get("rope_type", scaling.get("type", "default"))
    trained = scaling.get("original_max_position_embeddings", trained)
    if kind in ("default", "dynamic"):
        return plain, 1.0
    factor = scaling["factor"]
    if kind == "linear":
        return plain / factor, 1.0
    if kind == "llama3":
        low, high = trained / scaling["low_freq_factor"], trained / scaling["high_freq_factor"]
        result = []
        for frequency in plain.tolist():
            wave = 2 * math.pi / frequency
            share = (trained / wave - scaling["low_freq_factor"]) / (
                scaling["high_freq_factor"] - scaling["low_freq_factor"])
            if wave < high:
                result.append(frequency)
            elif wave > low:
                result.append(frequency / factor)
            else:
                result.append((1 - share) * frequency / factor + share * frequency)
        return torch.tensor(result, dtype=torch.float64), 1.0
    assert kind == "yarn"
    def pair(turns):
        return width * math.log(trained / (turns * 2 * math.pi)) / (2 * math.log(theta))
    first = max(math.floor(pair(scaling.get("beta_fast", 32))), 0)
    last = min(math.ceil(pair(scaling.get("beta_slow", 1))), width - 1)
    ramp = ((torch.arange(width // 2, dtype=torch.float64) - first) / max(last - first, 0.001)).clamp(0, 1)
    return plain / factor * ramp + plain * (1 - ramp), 0.1 * math.log(factor) + 1


def slopes(heads):
    """Press et al.'s numbers: 2^(-8/n), its powers; between them those of twice as many heads."""
    whole = 2 ** int(math.floor(math.log2(heads)))
    base, between = 2 ** (-8 / whole), 2 ** (-8 / (2 * whole))
    return [base ** (i + 1) for i in range(whole)] + [between ** (2 * i + 1) for i in range(heads - whole)]


def rotate(x, heads, angles, factor):
    """Columns i and i + width/2 of each head are a pair."""
    parts = split(x, heads)
    half = parts.shape[2] // 2
    places = torch.arange(x.shape[0], dtype=torch.float64)[:, None] * angles
    cosine, sine = torch.cos(places) * factor, torch.sin(places) * factor
    a, b = parts[..., :half], parts[..., half:]
    return torch.cat([a * cosine - b * sine, b * cosine + a * sine], -1).transpose(0, 1).reshape(x.shape)


def llama_config(model_type, name, **more):
    config = {"model_type": model_type, "architectures": [name], "vocab_size": WORDS, "hidden_size": D,
              "num_hidden_layers": LAYERS, "num_attention_heads": 6, "num_key_value_heads": 2,
              "intermediate_size": FFN, "max_position_embeddings": 64, "rms_norm_eps": 1e-6, "rope_theta": 10000.0,
              "hidden_act": "silu", "tie_word_embeddings": False}
    config.update(more)
    return config


IDS = [5, 44, 12, 12, 7, 51, 30, 2, 19]


LONG = [(7 * i * i + 3) % WORDS for i in range(26)]


def post_norm_block(w, x, z, name, epsilon):
    """The rest of a block behind its attention z, as BERT names its parts."""
    x = w.layer_norm(x + w.linear(z, name + "attention.output.dense", D), name + "attention.output.LayerNorm", epsilon)
    hidden = F.gelu(w.linear(x, name + "intermediate.dense", FFN))
    return w.layer_norm(x + w.linear(hidden, name + "output.dense", D), name + "output.LayerNorm", epsilon)
