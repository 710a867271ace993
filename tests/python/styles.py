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


def shifted(self, q, k):
    """Scores of contents and of positions."""
    torch.manual_seed(4)
    return q @ k.transpose(-2, -1) / math.sqrt(WIDTH) + torch.einsum("bhid,jd->bhij", q, torch.randn(T, WIDTH)) / math.sqrt(WIDTH)


def extra_long(self, q, k):
    torch.manual_seed(4)
    of_contents, of_positions, rows = torch.randn(H, 1, WIDTH), torch.randn(H, 1, WIDTH), torch.randn(T, WIDTH)
    return ((q + of_contents) @ k.transpose(-2, -1) + torch.einsum("bhid,jd->bhij", q + of_positions, rows)) / math.sqrt(WIDTH)


def differential(self, q, k, v):
    causal = torch.zeros(T, T).masked_fill(~CAUSAL, -math.inf)
    first, second = (functional.softmax(one @ k.transpose(-2, -1) / math.sqrt(WIDTH) + causal, -1) for one in (q, self.q_norm(q)))
    return (first - 0.3 * second) @ v


def in_parts(self, q, k, v):
    parts = [(q[:, :, rows] @ k.transpose(-2, -1) / math.sqrt(WIDTH)).masked_fill(~CAUSAL[rows], -math.inf)
             for rows in (slice(0, 3), slice(3, 6))]
    return torch.cat([functional.softmax(part, -1) @ v for part in parts], 2)


def subtracted(self, q, k):
    far = torch.arange(T)[None] - torch.arange(T)[:, None] + T
    return q @ k.transpose(-2, -1) / math.sqrt(WIDTH) - self.table[:, far]


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


class Cached(nn.Module):
    """Three tokens, then one by one the others, with the keys and values of those before in a cache. `keep` puts new ones into
    it; `spoil` is what goes wrong with it."""

    def __init__(self, keep, spoil=lambda keys, values, step: (keys, values), turned=False):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(D, D) for _ in range(4))
        self.keep, self.spoil, self.turned = keep, spoil, turned

    def step(self, x, first, cache, step):
        q, k, v = (one(x).view(B, -1, H, WIDTH).transpose(1, 2) for one in (self.q, self.k, self.v))
        if self.turned:
            q = half(q, angles(first, count=x.shape[1]))
            k = k if self.turned == "later" else half(k, angles(first, count=x.shape[1]))
        k, v = (self.keep(cache, name, new, first) for name, new in (("k", k), ("v", v)))
        k, v = self.spoil(k, v, step)
        k = half(k, angles(count=k.shape[2])) if self.turned == "later" else k
        scores = q @ k.transpose(-2, -1) / math.sqrt(WIDTH)
        weights = functional.softmax(scores.masked_fill(~CAUSAL[first:first + x.shape[1], :k.shape[2]], -math.inf), -1)
        return self.o((weights @ v).transpose(1, 2).reshape(B, -1, D))

    def forward(self, x):
        cache = {}
        with torch.no_grad():
            return torch.cat([self.step(x[:, first:last], first, cache, step)
                              for step, (first, last) in enumerate(((0, 3), (3, 4), (4, 5), (5, 6)))], 1)


def side_by_side(cache, name, new, first):
    old = cache.get(name)
    cache[name] = new if old is None else torch.cat([old, new], 2)
    return cache[name]


def in_place(cache, name, new, first):
    whole = cache.setdefault(name, torch.zeros(B, H, T, WIDTH))
    whole[:, :, first:first + new.shape[2]] = new
    return whole[:, :, :first + new.shape[2]]


def one_row_late(cache, name, new, first):
    """The position does not go on: each new row is written over the one before."""
    whole = cache.setdefault(name, torch.zeros(B, H, T, WIDTH))
    at = 0 if first == 0 else 3
    whole[:, :, at:at + new.shape[2]] = new
    return whole[:, :, :first + new.shape[2]]


def forgetful(cache, name, new, first):
    """The cache of the prompt is kept; what came after it is not put into it."""
    cache.setdefault(name, new)
    return new if first == 0 else torch.cat([cache[name], new], 2)


def window(cache, name, new, first):
    cache[name] = new if first == 0 else torch.cat([cache[name], new], 2)[:, :, -3:]
    return cache[name]


def overwritten(which):
    """An entry that is changed between two steps."""
    def spoil(keys, values, step):
        if step > 1:
            spoiled = (keys, values)[which]
            spoiled[:, :, 1] = torch.randn(B, H, WIDTH)
        return keys, values
    return spoil


class Decoder(nn.Module):
    """Cross-attention in its residual block."""

    def __init__(self, cross, norm=False):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(D, D) for _ in range(4))
        self.norm, self.cross = nn.LayerNorm(D) if norm else nn.Identity(), cross

    def attend(self, inputs, others):
        q = self.q(inputs).view(B, -1, H, WIDTH).transpose(1, 2)
        k, v = (one(others).view(B, -1, H, WIDTH).transpose(1, 2) for one in (self.k, self.v))
        weights = functional.softmax(q @ k.transpose(-2, -1) / math.sqrt(WIDTH), -1)
        return self.o((weights @ v).transpose(1, 2).reshape(B, -1, D))

    def forward(self, x, memory=None):
        torch.manual_seed(3)
        return self.cross(self, x, torch.randn(B, x.shape[1], D) if memory is None else memory)


class Nested(nn.Module):
    """Sentences of three and five tokens in one nested tensor."""

    def __init__(self, attend):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(D, D) for _ in range(4))
        self.attend = attend

    def forward(self, x):
        with torch.no_grad():
            x = torch.nested.nested_tensor([x[0, :3], x[1, :5]])
            q, k, v = (one(x).view(2, -1, H, WIDTH).transpose(1, 2) for one in (self.q, self.k, self.v))
            context = self.attend(q, k, v)
            return torch.nested.to_padded_tensor(self.o(context.transpose(1, 2).reshape(2, -1, D)), 0.0)


def nested(factor):
    return lambda q, k, v: functional.softmax((q * factor).matmul(k.transpose(-2, -1)), -1).matmul(v)


class Style(NamedTuple):
    name: str
    right: bool
    said: str                                   # a line of the report, as a regular expression
    steps: Dict[str, Callable[..., Any]] = {}
    kv: int = H
    tokens: int = T
    expect: Optional[Dict[str, float]] = None
    module: Optional[Callable[[], Any]] = None  # another one


LATE = CAUSAL[3:]
DONE, TWO = (f"no mistake found in {count} calls of attention" for count in (4, 2))
STALE = "the cache does not hold what the call before left: {} of row . differ \\(.*\\)"
SIDES = "sides of cross-attention swapped: queries come from memory, keys from x, and the sum goes on with x"
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
    Style("ALiBi, as the config says", True, OK, {"score": alibi()}, expect={"n_head": H}),
    Style("ALiBi: the slopes of eight heads", False, "slopes of ALiBi are those of 8 heads, not of 4",
          {"score": alibi(1, [2.0 ** -(h + 1) for h in range(H)])}, expect={"n_head": H}),
    Style("ALiBi: slopes in another order", False, "slopes of ALiBi stand in another order: 0.003906 in head 0, not 0.25",
          {"score": alibi(1, [2.0 ** -(2 * h + 2) for h in range(H)][::-1])}, expect={"n_head": H}),
    Style("ALiBi: other slopes, without a config", True, "bias of the scores: the slopes of ALiBi are those of 8 heads, .* taken as given",
          {"score": alibi(1, [2.0 ** -(h + 1) for h in range(H)])}),
    Style("ALiBi: one slope", True, "bias of the scores: ALiBi, slope 0.5 of head 0: taken as given", {"score": alibi(1, [0.5] * H)}),
    Style("relative bias, learned", True, "bias of the scores: taken as given", {"score": relative}),
    Style("relative bias, subtracted", True, "bias of the scores: subtracted: taken as given", {"score": subtracted}),
    Style("relative bias of the config, subtracted", False, "bias of the scores added with the wrong sign", {"score": subtracted},
          expect={"relative_attention_num_buckets": 12}),
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
    Style("cache, step by step", True, DONE, module=lambda: Cached(side_by_side)),
    Style("cache, step by step, positions go on", True, HALVES, module=lambda: Cached(side_by_side, turned=True)),
    Style("cache, step by step, turned when it is read", True, "no mistake found in 4 calls of attention",
          module=lambda: Cached(side_by_side, turned="later")),
    Style("cache, written in place", True, DONE, module=lambda: Cached(in_place)),
    Style("cache of a window", True, "cache: 1 of 4 keys are new, .*|no mistake found in 4 .*", module=lambda: Cached(window)),
    Style("cache: an entry of the keys overwritten", False, STALE.format("keys"), module=lambda: Cached(side_by_side, overwritten(0))),
    Style("cache: an entry of the values overwritten", False, STALE.format("values"), module=lambda: Cached(in_place, overwritten(1))),
    Style("cache: the position does not go on", False, ".*row 4 of the cache was never written, .*|" + STALE.format("keys"),
          module=lambda: Cached(one_row_late)),
    Style("cache cut back to the prompt", True, "cache: 1 of the 4 keys that the call before left are not in it: taken as given",
          module=lambda: Cached(forgetful)),
    Style("cross-attention", True, OK, module=lambda: Decoder(lambda m, x, memory: x + m.attend(x, memory))),
    Style("cross-attention after a norm", True, OK, module=lambda: Decoder(lambda m, x, memory: x + m.attend(m.norm(x), memory), True)),
    Style("the memory reads what is new", True, OK, module=lambda: Decoder(lambda m, x, memory: memory + m.attend(memory, x))),
    Style("cross-attention: sides swapped", False, SIDES, module=lambda: Decoder(lambda m, x, memory: x + m.attend(memory, x))),
    Style("cross-attention: sides swapped, after a norm", False, SIDES,
          module=lambda: Decoder(lambda m, x, memory: m.attend(memory, m.norm(x)) + x, True)),
    Style("queries from a memory, without a sum", True,
          "cross-attention: queries come from memory, keys from x: taken as given",
          module=lambda: Decoder(lambda m, x, memory: m.attend(memory, x))),
    Style("a sum of two products (relative positions)", True, "scale: of a sum of products: taken as given", {"score": shifted}),
    Style("a sum of two products, scaled for both (DeBERTa)", True, "scale: of a sum of products: taken as given",
          {"score": lambda m, q, k: shifted(m, q, k) / math.sqrt(2)}),
    Style("biases of the queries, one for contents, one for positions (Transformer-XL)", True,
          "positions inside q and k: not checked: no rotation of pairs", {"score": extra_long}),
    Style("no scale beside a learned bias (T5)", True, "scale: 1 beside a bias, as T5 has it: taken as given",
          {"score": lambda m, q, k: relative(m, q * math.sqrt(WIDTH), k)}),
    Style("another scale, as the config says (Gemma 2)", True, OK, {"score": lambda m, q, k: q @ k.transpose(-2, -1) / math.sqrt(24)},
          expect={"query_pre_attn_scalar": 24}),
    Style("another scale beside a soft cap (Gemma 2)", True, "scale: another one beside a soft cap, .* taken as given",
          {"score": lambda m, q, k: capped(m, q * math.sqrt(WIDTH / 24), k)}),
    Style("two softmaxes subtracted (differential)", True, ".*weights of two calls are combined: what follows is not judged",
          {"attend": differential}),
    Style("queries in parts", True, "mask: causal, offset 0 of 3 × 6", {"attend": in_parts}),
    Style("values from queries", False, "values are projected as queries are", {"repeat": lambda _, q, k, v: (q, k, q)}),
    Style("nested tensors", True, TWO, module=lambda: Nested(nested(WIDTH ** -0.5))),
    Style("nested tensors: not scaled", False, "scores not divided by .*", module=lambda: Nested(nested(1.0))),
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
