"""Attention in the forms of public code, written anew: every step can be done in several ways, and wrong. A form is a
choice of one way for each step; `right_forms` draws them, `wrong_forms` of the module wrong those with a mistake."""
import math
import random
from typing import Any, Callable, NamedTuple

from common import torch

nn, functional = torch.nn, torch.nn.functional
INF = math.inf


class Form(NamedTuple):
    name: str
    run: Callable[[], Any]           # the program that is watched
    module: Any = None
    expect: Any = None


class Way(dict):
    """What a form does at each step; names that are not there are done in the first way."""
    __getattr__ = dict.get


def halves(x):
    return torch.cat([-x[..., x.shape[-1] // 2:], x[..., :x.shape[-1] // 2]], -1)


def angles(first, count, width, kind, base=1e4):
    return torch.arange(first, first + count)[:, None] * base ** (-torch.arange(0, width, 2) / width)


def rotary_half(x, a):                                                        # Llama
    a = torch.cat([a, a], -1)
    return x * a.cos().to(x.dtype) + halves(x) * a.sin().to(x.dtype)


def rotary_pairs(x, a):                                                       # RoFormer, GPT-J
    even, odd, cos, sin = x[..., ::2], x[..., 1::2], a.cos().to(x.dtype), a.sin().to(x.dtype)
    return torch.stack([even * cos - odd * sin, odd * cos + even * sin], -1).flatten(-2)


def rotary_complex(x, a):                                                     # Llama of Meta
    numbers = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2)) * torch.polar(torch.ones_like(a), a)
    return torch.view_as_real(numbers).flatten(-2).type_as(x)


def rotary_part(x, a):                                                        # GPT-NeoX: of some columns
    width = x.shape[-1] // 2
    return torch.cat([rotary_half(x[..., :width], a[:, :width // 2]), x[..., width:]], -1)


ROTARY = {"rotary of halves": rotary_half, "rotary of pairs": rotary_pairs, "rotary, complex": rotary_complex,
          "rotary of some columns": rotary_part}


class Attention(nn.Module):
    """(batch, tokens, d_model) to the same. `way` has names of what is done at each step, and functions for what is wrong."""

    def __init__(self, way, width=32, heads=4):
        super().__init__()
        self.way, self.h, self.d = way, heads, width // heads
        self.kv = {"groups": heads // 2, "one group": 1}.get(way.groups, heads)
        inside = self.kv * self.d
        if way.project == "packed":                                           # nanoGPT
            self.c_attn = nn.Linear(width, width + 2 * inside)
        elif way.project == "packed, head by head":                           # GPT-NeoX
            self.query_key_value = nn.Linear(width, 3 * width)
        elif way.project == "kernels":                                        # Keras
            self.query, self.key, self.value = (nn.Parameter(torch.randn(width, n, self.d) / 6) for n in (heads, self.kv, self.kv))
        elif way.project == "parameters":                                     # a textbook
            self.w_q, self.w_k, self.w_v = (nn.Parameter(torch.randn(width, n * self.d) / 6) for n in (heads, self.kv, self.kv))
        else:
            bias = way.project != "no bias"
            self.q_proj = nn.Linear(width, width, bias=bias)
            self.k_proj, self.v_proj = nn.Linear(width, inside, bias=bias and way.project != "Whisper"), nn.Linear(width, inside, bias=bias)
        self.out_proj = nn.Linear(width, width)
        self.register_buffer("scale", torch.tensor(self.d ** -0.5))
        self.relative = nn.Parameter(torch.randn(heads, 32))
        self.pos = 0

    def wrong(self, step, *given):
        """What this form does wrong here; else the first of what is given, or all."""
        done = self.way.get("wrong_" + step)
        return done(self, *given) if done else given if len(given) > 1 else given[0]

    def projected(self, x, memory):
        way = self.way
        if way.project == "packed":
            q, k, v = self.c_attn(x).split([self.h * self.d, self.kv * self.d, self.kv * self.d], -1)
        elif way.project == "packed, head by head":
            q, k, v = self.query_key_value(x).view(*x.shape[:2], self.h, 3 * self.d).chunk(3, -1)
            return q, k, v
        elif way.project == "kernels":
            return tuple(torch.einsum("abc,cde->abde", one, kernel)
                         for one, kernel in ((x, self.query), (memory, self.key), (memory, self.value)))
        elif way.project == "parameters":
            q, k, v = x @ self.w_q, memory @ self.w_k, memory @ self.w_v
        elif way.scale == "on the weight":
            q = functional.linear(x, self.q_proj.weight * self.d ** -0.5, None if self.q_proj.bias is None else self.q_proj.bias * self.d ** -0.5)
            k, v = self.k_proj(memory), self.v_proj(self.wrong("side", memory, x)[0])
        else:
            q, k, v = self.q_proj(x), self.k_proj(memory), self.v_proj(self.wrong("side", memory, x)[0])
        return q, k, v

    def split(self, x):
        """To (batch, heads, tokens, d), or (batch · heads, tokens, d), or (heads · batch, tokens, d)."""
        b, t, n, way = x.shape[0], x.shape[1], math.prod(x.shape[2:]) // self.d, self.way.split
        if self.way.get("wrong_split"):
            return self.way["wrong_split"](self, x)
        if way == "heads first, chunk and cat":                               # TensorFlow
            return torch.cat(x.reshape(b, t, -1).chunk(n, -1), 0)
        if way == "stack of splits":
            return torch.stack(x.reshape(b, t, -1).split(self.d, -1), 1)
        if way == "batch and heads in one axis":                              # a textbook
            return x.reshape(b, t, n, -1).permute(0, 2, 1, 3).reshape(b * n, t, -1)
        if way == "permute":                                                  # BERT, ViT
            return x.view(b, t, n, self.d).permute(0, 2, 1, 3)
        if way == "einops":                                                   # b t (h d) -> b h t d
            return x.reshape(b, t, n, self.d).permute(0, 2, 1, 3).contiguous()
        if way == "unflatten":
            return x.flatten(2).unflatten(-1, (n, self.d)).transpose(-3, -2)
        if way == "index":
            return torch.stack([x.reshape(b, t, n, self.d)[:, :, h] for h in range(n)], 1)
        return x.reshape(b, t, n, self.d).transpose(1, 2)                     # nanoGPT

    def merge(self, z, b):
        t, split, way = z.shape[-2], self.way.split, self.way.merge
        if self.way.get("wrong_merge"):
            return self.way["wrong_merge"](self, z, b)
        if split == "heads first, chunk and cat":
            return torch.cat(z.chunk(self.h, 0), -1)
        if split == "batch and heads in one axis":
            return z.reshape(b, self.h, t, -1).permute(0, 2, 1, 3).reshape(b, t, -1)
        if way == "permute":
            return z.permute(0, 2, 1, 3).contiguous().view(b, t, -1)
        if way == "cat":
            return torch.cat([z[:, h] for h in range(self.h)], -1)
        if way == "unbind":
            return torch.stack(z.unbind(1), -2).flatten(-2)
        if way == "einops":
            return torch.einsum("bhtd->bthd", z).reshape(b, t, self.h * self.d)
        return z.transpose(1, 2).reshape(b, t, -1)

    def positions(self, x, first):
        turn = ROTARY.get(self.way.positions)
        return x if turn is None else turn(x, angles(first, x.shape[-2], x.shape[-1], self.way.positions))

    def repeated(self, x):
        n, way = self.h // self.kv, self.way.repeat
        if self.kv == self.h:
            return x
        if self.way.get("wrong_groups"):
            return self.way["wrong_groups"](x, n)
        if way == "expand":
            return x[:, :, None].expand(-1, -1, n, -1, -1).reshape(x.shape[0], self.h, *x.shape[2:])
        if way == "stack":
            return torch.stack([x] * n, 2).flatten(1, 2)
        return x.repeat_interleave(n, 1)

    def scores(self, q, k):
        way, root = self.way, math.sqrt(self.d)
        if way.get("wrong_scale"):
            return way["wrong_scale"](self, q, k)
        if way.scale == "q":
            q, root = q * self.d ** -0.5, 1
        elif way.scale == "both":                                             # Whisper
            q, k, root = q * self.d ** -0.25, k * self.d ** -0.25, 1
        elif way.scale == "a buffer":
            q, root = q * self.scale.to(q.dtype), 1
        elif way.scale in ("on the weight", "in place"):
            q, root = q.mul_(self.d ** -0.5) if way.scale == "in place" else q, 1
        if way.product == "bmm":
            s = torch.bmm(q.flatten(0, -3), k.flatten(0, -3).transpose(1, 2)).view(*q.shape[:-1], k.shape[-2])
        elif way.product == "einsum":
            s = torch.einsum("...id,...jd->...ij", q, k)
        else:
            s = q @ k.transpose(-2, -1)
        return s if root == 1 else s * (1 / root) if way.scale == "times" else s / root

    def masked(self, s, mask, b):
        """`mask`: true where it may be attended to, (B or 1, 1, T, S)."""
        if mask is None:
            return s
        if s.dim() == 3:
            mask = mask.expand(b, 1, *mask.shape[2:])
            first = self.way.split == "heads first, chunk and cat"
            mask = self.wrong("order", mask.repeat(self.h, 1, 1, 1)[:, 0] if first else mask.repeat_interleave(self.h, 0)[:, 0], mask)
            mask = mask[0] if isinstance(mask, tuple) else mask
        way = self.way.fill
        if way == "added":
            return s + torch.zeros(mask.shape, dtype=s.dtype).masked_fill(~mask, -INF)
        if way == "least":
            return torch.where(mask, s, torch.full((), torch.finfo(s.dtype).min, dtype=s.dtype))
        if way == "one minus":                                                # BERT
            return s + (1 - mask.to(s.dtype)) * (-3e4 if s.dtype == torch.float16 else -1e9)
        return s.masked_fill(mask == 0, -INF)

    def weights(self, s):
        way = self.way.softmax
        if self.way.get("wrong_softmax"):
            return self.way["wrong_softmax"](self, s)
        if way == "by hand":
            e = torch.exp(s - s.max(-1, keepdim=True).values)
            return e / e.sum(-1, keepdim=True)
        if way == "log and exp":
            return functional.log_softmax(s, -1).exp()
        if way == "in float32":                                               # T5, Llama
            return torch.softmax(s.float(), -1).type_as(s)
        return torch.softmax(s, -1)

    def given(self, t, s, mask):
        """The mask of this form."""
        causal = torch.ones(s, s).tril().bool()[s - t:][None, None]
        mask = None if mask is None or self.way.mask == "causal" else mask
        return causal & mask if self.way.mask == "both" else causal if self.way.mask == "causal" else mask

    def forward(self, x, memory=None, mask=None, cache=None):
        b, t = x.shape[:2]
        first = 0 if cache is None else cache.get("length", 0)
        q, k, v = (self.split(one) for one in self.projected(x, x if memory is None else memory))
        q, k, v = self.wrong("split_of", q, k, v)
        q, k = self.wrong("positions", self.positions(q, first), self.positions(k, first if memory is None else 0))
        if cache is not None:
            k, v = self.cached(cache, "k", k, first), self.cached(cache, "v", v, first)
            cache["length"] = first + t
        k, v = self.repeated(k), self.repeated(v)
        q, k, v = self.wrong("qkv", q, k, v)
        mask = self.given(t, k.shape[-2], mask)
        if self.way.dtype == torch.float16:                                   # whose products the processor has not
            q, k, v = (one.half().float() for one in (q, k, v))
        s = self.scores(q, k)
        s = s.half() if self.way.dtype == torch.float16 and self.way.softmax == "in float32" else s
        s = self.masked(self.wrong("scores", s), self.wrong("mask", mask), b)
        if self.way.bias == "ALiBi":
            distance = (torch.arange(k.shape[-2])[None] - torch.arange(first, first + t)[:, None]).abs()
            s = s - 2.0 ** (-8 / self.h * (torch.arange(self.h) + 1))[:, None, None].to(s.dtype) * distance
        if self.way.bias == "relative":                                       # T5
            distance = torch.arange(k.shape[-2])[None] - torch.arange(first, first + t)[:, None]
            s = s + self.relative[:, distance.clamp(-15, 16) + 15].to(s.dtype)
        p = self.wrong("weights", self.weights(s))
        p = p.float() if self.way.dtype == torch.float16 else p
        p = functional.dropout(p, 0.2, self.training or self.way.dropout == "on")
        z = torch.einsum("...ij,...jd->...id", p, v) if self.way.product == "einsum" else p @ v
        z = self.merge(z.half().float() if self.way.dtype == torch.float16 else z, b)
        return self.out_proj(self.wrong("context", z))

    def cached(self, cache, name, new, first):
        if self.way.cache == "in place":
            whole = cache.setdefault(name, torch.zeros(*new.shape[:-2], 16, new.shape[-1], dtype=new.dtype))
            at = self.way.get("wrong_place", lambda *_: first)(self, first)
            whole[..., at:at + new.shape[-2], :] = new
            return self.of_cache("cache", name, whole[..., :first + new.shape[-2], :])
        old = cache.get(name)
        cache[name] = new if old is None else torch.cat([self.of_cache("past", name, old), new], -2)
        return self.of_cache("cache", name, cache[name])

    def of_cache(self, step, name, held):
        done = self.way.get("wrong_" + step)
        return held if done is None else done(name, held)


PARTS = {
    "project": ["linear", "packed", "kernels", "parameters", "no bias", "Whisper", "packed, head by head"],
    "split": ["nanoGPT", "permute", "heads first, chunk and cat", "stack of splits", "batch and heads in one axis", "einops", "unflatten", "index"],
    "merge": ["nanoGPT", "permute", "cat", "unbind", "einops"],
    "scale": ["over", "times", "q", "both", "a buffer", "on the weight", "in place"],
    "product": ["matmul", "bmm", "einsum"],
    "groups": ["none", "none", "groups", "one group"], "repeat": ["repeat_interleave", "expand", "stack"],
    "positions": ["none", "none", *ROTARY], "bias": ["none", "none", "none", "ALiBi", "relative"],
    "mask": ["none", "causal", "padding", "both"], "fill": ["filled", "added", "least", "one minus"],
    "softmax": ["softmax", "by hand", "log and exp", "in float32"], "cache": ["none", "none", "none", "cat", "in place"],
    "tokens": [1, 2, 3, 6], "batch": [1, 2, 3], "cross": [False, False, True],
    "dtype": [torch.float32, torch.float32, torch.bfloat16, torch.float16],
}


def fits(way):
    """Whether these choices go together."""
    one_axis = way.split in ("heads first, chunk and cat", "batch and heads in one axis")
    packed = way.project in ("packed", "packed, head by head")
    return not (
        (one_axis and (way.groups != "none" or way.bias != "none" or way.cache != "none")) or
        (packed and way.cross) or (way.project == "packed, head by head" and way.groups != "none") or
        (way.scale == "on the weight" and way.project not in ("linear", "no bias", "Whisper")) or
        (way.cross and (way.positions != "none" or way.mask in ("causal", "both") or way.bias != "none" or way.cache != "none")) or
        (way.bias != "none" and way.positions != "none") or
        (way.cache != "none" and (way.mask != "causal" or way.tokens > 3 or way.bias == "relative")) or
        (way.scale == "in place" and way.cross))


def padding(batch, keys):
    return torch.arange(keys)[None, None, None] < (keys - torch.arange(batch) % keys)[:, None, None, None]


def program(way, seed=0):
    """The module of a way, and what runs it."""
    torch.manual_seed(seed)
    dtype = torch.bfloat16 if way.dtype == torch.bfloat16 else torch.float32
    module = Attention(way).eval().to(dtype)
    b, t = way.batch or 2, way.tokens or 6
    s = t + 2 if way.cross and not way.same_length else t
    x, memory = torch.randn(b, t, 32).to(dtype), torch.randn(b, s, 32).to(dtype)
    mask = padding(b, s) if way.mask in ("padding", "both") else None

    def run():
        with torch.no_grad():
            if way.cache in ("cat", "in place"):
                cache = {}
                return [module(step, cache=cache) for step in (x, x[:, :1], x[:, :1] + 1)]
            return module(x, memory if way.cross else None, mask)
    return Form(", ".join(f"{name} {value}" for name, value in way.items() if not callable(value)), run, module)


def drawn(count, seed, **fixed):
    """So many ways whose parts go together, each part drawn."""
    numbers, seen = random.Random(seed), set()
    while len(seen) < count:
        way = Way({name: numbers.choice(several) for name, several in PARTS.items()})
        way.update(fixed)
        if fits(way) and tuple(map(str, way.values())) not in seen:
            seen.add(tuple(map(str, way.values())))
            yield way


def right_forms(count, seed=1):
    return (program(way, number) for number, way in enumerate(drawn(count, seed)))
