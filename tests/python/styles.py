"""Attention as people write it now: a row each, right or wrong, and what the report says of it (test_styles.py)."""
import math

from attention_style import B, CAUSAL, D, H, HALVES, NEIGHBOURS, OK, T, WIDTH, Attention, Style, angles, functional, half, nn, torch
from cache_styles import CACHES, cached, values_too
from torch2 import scaled_dot_product_attention

TWO = "no mistake found in 2 calls of attention"
SIDES = "sides of cross-attention swapped: queries come from memory, keys from x, and the sum goes on with x"
NEAR = CAUSAL & ~torch.ones(T, T).tril(-3).bool()
IN_BLOCKS = r"key and value heads repeated in blocks: query head 1 reads group 1, not 0: intended\? taken as given"


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


STYLES = [
    Style("plain", True, OK),
    Style("groups: repeat_interleave", True, OK, {"repeat": repeated(lambda x, n: x.repeat_interleave(n, 1))}, 2),
    Style("groups: expand, reshape", True, OK, {"repeat": repeated(
        lambda x, n: x[:, :, None].expand(B, 2, n, T, WIDTH).reshape(B, H, T, WIDTH))}, 2),
    Style("groups: einsum", True, OK, {"attend": grouped_einsum}, 2),
    Style("one group: expand", True, OK, {"repeat": repeated(lambda x, n: x.expand(B, H, T, WIDTH))}, 1),
    Style("groups: repeat", True, IN_BLOCKS, {"repeat": repeated(lambda x, n: x.repeat(1, n, 1, 1))}, 2),
    Style("groups: repeat, with a config", False, IN_BLOCKS.split(": intended")[0], {"repeat": repeated(lambda x, n: x.repeat(1, n, 1, 1))}, 2,
          expect={"num_key_value_heads": 2}),
    Style("groups: cat", True, IN_BLOCKS, {"repeat": repeated(lambda x, n: torch.cat([x] * n, 1))}, 2),
    Style("groups: expand before the groups", True, IN_BLOCKS, {"repeat": repeated(
        lambda x, n: x[:, None].expand(B, n, 2, T, WIDTH).reshape(B, H, T, WIDTH))}, 2),
    Style("rotary: halves", True, OK, {"turn": both(half, angles())}),
    Style("rotary: neighbours", True, OK, {"turn": both(neighbours, angles())}),
    Style("rotary: complex numbers", True, OK, {"turn": both(complexes, angles())}),
    Style("rotary: of half the columns", True, OK, {"turn": both(partly, angles(width=WIDTH // 2))}),
    Style("rotary, after norms", True, OK, {"turn": both(half, angles()),
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
    Style("relative bias, learned", True, OK, {"score": relative}),
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
    Style("norms of q and k", True, OK,
          {"norm": lambda m, q, k, v: (m.q_norm(q), m.k_norm(k), v)}),
    Style("norms of q and k by hand", True, "q_norm.* of the module change nothing: not checked", {"norm": lambda _, q, k, v: (rms(q), rms(k), v)}),
    Style("cosine, a factor for each head", True, "scale: learned: taken as given", {"score": cosine(lambda m: m.scale)}),
    Style("cosine, one factor", True, "scale: learned: taken as given",
          {"score": cosine(lambda m: torch.clamp(m.one.exp(), max=100))}),
    *CACHES,
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
    Style("queries in parts", True, TWO, {"attend": in_parts}),
    Style("values from queries", False, "values are projected as queries are", {"repeat": lambda _, q, k, v: (q, k, q)}),
    Style("nested tensors", True, TWO, module=lambda: Nested(nested(WIDTH ** -0.5))),
    Style("nested tensors: scale 1", True, "scores not divided by .*intended.*", module=lambda: Nested(nested(1.0))),
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
