"""Attention as people write it now: a row each, right or wrong, and what the report says of it (test_styles.py)."""
import math
from typing import Any, Callable, Dict, NamedTuple, Optional

from common import torch
from torch2 import scaled_dot_product_attention

nn, functional = torch.nn, torch.nn.functional
B, T, H, D = 2, 6, 4, 32
WIDTH = D // H
CAUSAL = torch.ones(T, T).tril().bool()
OK = "no mistake found in 1 call of attention"


class Attention(nn.Module):
    """Every step can be another one."""

    def __init__(self, kv=H, **steps):
        super().__init__()
        self.q, self.k, self.v, self.o = nn.Linear(D, D), nn.Linear(D, kv * WIDTH), nn.Linear(D, kv * WIDTH), nn.Linear(D, D)
        self.q_norm, self.k_norm = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.scale, self.one = nn.Parameter(5 + 3 * torch.rand(H, 1, 1)), nn.Parameter(torch.tensor(7.0))
        self.sinks, self.table = nn.Parameter(torch.randn(H)), nn.Parameter(torch.randn(H, 2 * T))
        self.kv, self.steps = kv, steps

    def step(self, name, otherwise, *arguments):
        return self.steps.get(name, otherwise)(self, *arguments)

    def forward(self, x, memory=None):
        memory = x if memory is None else memory
        q = self.q(x).view(B, -1, H, WIDTH).transpose(1, 2)
        k, v = (one(memory).view(B, -1, self.kv, WIDTH).transpose(1, 2) for one in (self.k, self.v))
        q, k, v = self.step("norm", lambda _, q, k, v: (q, k, v), q, k, v)
        q, k = self.step("turn", lambda _, q, k: (q, k), q, k)
        q, k, v = self.step("repeat", lambda _, q, k, v: (q, k, v), q, k, v)
        context = self.step("attend", attend, q, k, v)
        return self.o(self.step("merge", lambda _, context: context.transpose(1, 2).reshape(B, -1, D), context))


def attend(self, q, k, v):
    scores = self.step("score", lambda _, q, k: q @ k.transpose(-2, -1) / math.sqrt(WIDTH), q, k)
    mask = self.step("mask", lambda _, scores: CAUSAL, scores)
    scores = scores.masked_fill(~mask, -math.inf)
    weights = self.step("softmax", lambda _, scores: functional.softmax(scores, -1), scores)
    return weights @ v


def angles(first=0, base=10000.0, count=T, width=WIDTH):
    return torch.arange(first, first + count)[:, None] * base ** (-torch.arange(0, width, 2) / width)


def half(x, a, b=None):
    a = torch.cat([a, a], -1) if b is None else b
    return x * a.cos() + torch.cat([-x[..., x.shape[-1] // 2:], x[..., :x.shape[-1] // 2]], -1) * a.sin()


def neighbours(x, a):
    even, odd = x[..., ::2], x[..., 1::2]
    return torch.stack([even * a.cos() - odd * a.sin(), even * a.sin() + odd * a.cos()], -1).flatten(-2)


def complexes(x, a):
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(a), a)).flatten(3).type_as(x)


def partly(x, a):
    return torch.cat([half(x[..., :WIDTH // 2], a), x[..., WIDTH // 2:]], -1)


def both(turn, *arguments):
    return lambda _, q, k: (turn(q, *arguments), turn(k, *arguments))


def repeated(how):
    return lambda self, q, k, v: (q, how(k, H // self.kv), how(v, H // self.kv))


def grouped_einsum(self, q, k, v):
    grouped = q.view(B, self.kv, H // self.kv, T, WIDTH)
    scores = torch.einsum("bgrid,bgjd->bgrij", grouped, k) / math.sqrt(WIDTH)
    return torch.einsum("bgrij,bgjd->bgrid", scores.masked_fill(~CAUSAL, -math.inf).softmax(-1), v).reshape(B, H, T, WIDTH)


def alibi(sign=1, slopes=None):
    slopes = [2 ** (-8 * (h + 1) / H) for h in range(H)] if slopes is None else slopes
    far = torch.arange(T)[None] - torch.arange(T)[:, None]
    return lambda _, q, k: q @ k.transpose(-2, -1) / math.sqrt(WIDTH) + sign * torch.tensor(slopes)[:, None, None] * far


def relative(self, q, k):
    far = torch.arange(T)[None] - torch.arange(T)[:, None] + T
    return q @ k.transpose(-2, -1) / math.sqrt(WIDTH) + self.table[:, far]


def capped(_, q, k):
    return torch.tanh(q @ k.transpose(-2, -1) / math.sqrt(WIDTH) / 3) * 3


def with_sinks(self, scores):
    wide = torch.cat([scores, self.sinks.reshape(1, H, 1, 1).expand(B, H, T, 1)], -1)
    return functional.softmax(wide - wide.amax(-1, keepdim=True), -1)[..., :-1]


def cosine(factor):
    return lambda self, q, k: functional.normalize(q, dim=-1) @ functional.normalize(k, dim=-1).transpose(-2, -1) * factor(self)


def rms(x):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


def cached(first=3, turned=False):
    """Three new tokens after three that were computed before, as another call left them."""
    def turn(self, q, k):
        old = torch.randn(B, H, 3, WIDTH)
        if turned:
            q, k, old = half(q, angles(first, count=3)), half(k, angles(first, count=3)), half(old, angles(count=3))
        return q, torch.cat([old, k], 2)
    return turn


def values_too(_, q, k, v):
    return q, k, torch.cat([torch.randn(B, H, 3, WIDTH), v], 2)


def by_blocks(_, q, k, v):
    """Online softmax."""
    most, total, out = torch.full((B, H, T, 1), -math.inf), torch.zeros(B, H, T, 1), torch.zeros(B, H, T, WIDTH)
    for at in range(0, T, 2):
        scores = q @ k[:, :, at:at + 2].transpose(-2, -1) / math.sqrt(WIDTH)
        now = torch.maximum(most, scores.amax(-1, keepdim=True))
        powers, kept = torch.exp(scores - now), torch.exp(most - now)
        most, total, out = now, total * kept + powers.sum(-1, keepdim=True), out * kept + powers @ v[:, :, at:at + 2]
    return out / total


def one_by_one(_, q, k, v):
    return [torch.softmax((q[:, h] @ k[:, h].transpose(-2, -1) / math.sqrt(WIDTH)).masked_fill(~CAUSAL, -math.inf), -1) @ v[:, h]
            for h in range(H)]


def fused(_, q, k, v, **options):
    return scaled_dot_product_attention(q, k, v, **options)


def dropped(_, scores):
    return functional.dropout(functional.softmax(scores, -1), 0.4, True)


class Style(NamedTuple):
    name: str
    right: bool
    said: str                                   # a line of the report, as a regular expression
    steps: Dict[str, Callable[..., Any]] = {}
    kv: int = H
    tokens: int = T
    expect: Optional[Dict[str, float]] = None


LATE = CAUSAL[3:]
EARLY = torch.ones(3, T).tril().bool()
NEAR = CAUSAL & ~torch.ones(T, T).tril(-3).bool()
IN_BLOCKS = "key and value heads repeated in blocks: query head 1 reads group 1, not 0"
ROTARY = "positions inside q and k: rotary, {}, base 1e\\+04: taken as given"
HALVES, NEIGHBOURS = ROTARY.format("columns c and c \\+ d/2"), ROTARY.format("neighbouring columns")

STYLES = [
    Style("plain", True, OK),
    Style("groups: repeat_interleave", True, OK, {"repeat": repeated(lambda x, n: x.repeat_interleave(n, 1))}, 2),
    Style("groups: expand, reshape", True, OK, {"repeat": repeated(
        lambda x, n: x[:, :, None].expand(B, 2, n, T, WIDTH).reshape(B, H, T, WIDTH))}, 2),
    Style("groups: einsum", True, OK, {"attend": grouped_einsum}, 2),
    Style("one group: expand", True, OK, {"repeat": repeated(lambda x, n: x.expand(B, H, T, WIDTH))}, 1),
    Style("groups: repeat", False, IN_BLOCKS, {"repeat": repeated(lambda x, n: x.repeat(1, n, 1, 1))}, 2),
    Style("groups: cat", False, IN_BLOCKS, {"repeat": repeated(lambda x, n: torch.cat([x] * n, 1))}, 2),
    Style("groups: expand before the groups", False, IN_BLOCKS, {"repeat": repeated(
        lambda x, n: x[:, None].expand(B, n, 2, T, WIDTH).reshape(B, H, T, WIDTH))}, 2),
    Style("rotary: halves", True, HALVES, {"turn": both(half, angles())}),
    Style("rotary: neighbours", True, NEIGHBOURS, {"turn": both(neighbours, angles())}),
    Style("rotary: complex numbers", True, NEIGHBOURS, {"turn": both(complexes, angles())}),
    Style("rotary: of half the columns", True, HALVES, {"turn": both(partly, angles(width=WIDTH // 2))}),
    Style("rotary, after norms", True, HALVES, {"turn": both(half, angles()),
                                                "norm": lambda m, q, k, v: (m.q_norm(q), m.k_norm(k), v)}),
    Style("rotary, as the config says", True, OK, {"turn": both(half, angles(base=500000.0))}, expect={"rope_theta": 5e5}),
    Style("rotary: another base than the config's", False, "rope_theta 5e\\+05 expected, 1e\\+04 found",
          {"turn": both(half, angles())}, expect={"rope_theta": 5e5}),
    Style("rotary: halves with the angles of neighbours", False, "positions turn columns c and c \\+ d/2 with the angles of .*",
          {"turn": both(half, None, angles().repeat_interleave(2, -1))}),
    Style("rotary: of queries alone", False, "positions turn the queries alone", {"turn": lambda _, q, k: (half(q, angles()), k)}),
    Style("rotary: keys two positions on", False, "positions of query 0 and key 0 are not as far apart as their rows: -2 found, .*",
          {"turn": lambda _, q, k: (half(q, angles()), half(k, angles(2)))}),
    Style("rotary: two forms", False, "positions turn queries and keys differently: in queries of columns .*",
          {"turn": lambda _, q, k: (half(q, angles()), neighbours(k, angles()))}),
    Style("rotary: two bases", False, "positions turn queries and keys differently: in queries with base .*",
          {"turn": lambda _, q, k: (half(q, angles()), half(k, angles(base=500000.0)))}),
    Style("ALiBi", True, OK, {"score": alibi()}),
    Style("ALiBi: added with the other sign", False, "bias of the scores added with the wrong sign", {"score": alibi(-1)}),
    Style("ALiBi: one slope", True, "bias of the scores: ALiBi, slope 0.5 of head 0: taken as given", {"score": alibi(1, [0.5] * H)}),
    Style("relative bias, learned", True, "bias of the scores: taken as given", {"score": relative}),
    Style("window", True, "mask: a window of 3 keys: taken as given", {"mask": lambda *_: NEAR}),
    Style("window, as the config says", True, OK, {"mask": lambda *_: NEAR}, expect={"sliding_window": 3}),
    Style("window: another than the config's", False, "sliding_window 4 expected, 3 found", {"mask": lambda *_: NEAR},
          expect={"sliding_window": 4}),
    Style("sinks", True, "sinks: their logits are taken as given", {"softmax": with_sinks}),
    Style("soft cap", True, "soft cap 3: taken as given", {"score": capped}),
    Style("soft cap: another than the config's", False, "attn_logit_softcapping 50 expected, 3 found", {"score": capped},
          expect={"attn_logit_softcapping": 50}),
    Style("soft cap of the config missing", False, "soft cap of the scores missing", expect={"attn_logit_softcapping": 50}),
    Style("norms of q and k", True, "norms of q and k: .* taken as given",
          {"norm": lambda m, q, k, v: (m.q_norm(q), m.k_norm(k), v)}),
    Style("norms of q and k by hand", True, "norms of q and k: .* taken as given", {"norm": lambda _, q, k, v: (rms(q), rms(k), v)}),
    Style("cosine, a factor for each head", True, "scale: learned: taken as given", {"score": cosine(lambda m: m.scale)}),
    Style("cosine, one factor", True, "scale: learned: taken as given",
          {"score": cosine(lambda m: torch.clamp(m.one.exp(), max=100))}),
    Style("cache", True, "cache: 3 of 6 keys are new, .* taken as given",
          {"turn": cached(), "repeat": values_too, "mask": lambda *_: LATE}, tokens=3),
    Style("cache: mask without its offset", False, "causal mask without the offset of the cache: .*",
          {"turn": cached(), "repeat": values_too, "mask": lambda *_: EARLY}, tokens=3),
    Style("cache: positions go on", True, "cache: 3 of 6 keys are new, .*",
          {"turn": cached(3, True), "repeat": values_too, "mask": lambda *_: LATE}, tokens=3),
    Style("cache: positions start again", False, "positions of query 0 and key 0 .*: 0 found, 3 expected",
          {"turn": cached(0, True), "repeat": values_too, "mask": lambda *_: LATE}, tokens=3),
    Style("values from keys", False, "value projection missing: v is not used|values are projected as keys are",
          {"repeat": lambda _, q, k, v: (q, k, k)}),
    Style("dropout in evaluation", False, "dropout left on .*", {"softmax": dropped}),
    Style("heads one by one, side by side", True, OK, {"attend": one_by_one, "merge": lambda _, heads: torch.cat(heads, -1)}),
    Style("heads one by one, stack and reshape", False, "heads are not put side by side: their columns are mixed",
          {"attend": one_by_one, "merge": lambda _, heads: torch.stack(heads, -1).reshape(B, T, D)}),
    Style("scaled_dot_product_attention", True, OK, {"attend": lambda *a: fused(*a, is_causal=True)}),
    Style("scaled_dot_product_attention: is_causal with a cache", False, "causal mask without the offset of the cache: .*",
          {"turn": cached(), "repeat": values_too, "attend": lambda *a: fused(*a, is_causal=True)}, tokens=3),
    Style("by blocks (online softmax)", True, ".*attention by blocks .*: not judged", {"attend": by_blocks}),
]
