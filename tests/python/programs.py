"""Programs around attention, right and wrong: caches of a memory, an encoder with a decoder, sentences along the second axis, documents in
a row. What is wrong there no single product shows. Each is made in several layouts."""
import math
import types

from common import torch
from forms import Form

nn = torch.nn
B, T, S, D, H, INF = 3, 4, 6, 32, 4, math.inf
WIDTH = D // H
PAD = torch.arange(S) >= torch.tensor([S, 4, 3])[:, None]                     # true where a source has no word
SEGMENTS = torch.tensor([[0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 1, 1], [0, 1, 1, 2, 2, 2]])


def transposed(x):
    return x.view(*x.shape[:2], H, WIDTH).transpose(1, 2)


def stacked(x):
    return torch.stack(x.split(WIDTH, -1), 1)


def in_one_axis(x):
    return transposed(x).reshape(-1, x.shape[1], WIDTH)


def joined(z, b):
    return z.view(b, H, -1, WIDTH).transpose(1, 2).reshape(b, -1, D)


SPLITS = {"transposed": transposed, "stacked": stacked, "in one axis": in_one_axis}


class Attention(nn.Module):
    """Queries of x, keys and values of memory; `blocked` (B or 1, T or 1, S)."""

    def __init__(self, split="transposed"):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(D, D) for _ in range(4))
        self.split = SPLITS[split]

    def sides(self, memory):
        return self.split(self.k_proj(memory)), self.split(self.v_proj(memory))

    def attend(self, x, k, v, blocked=None):
        q = self.split(self.q_proj(x))
        s = q @ k.transpose(-2, -1) / math.sqrt(WIDTH)
        if blocked is not None:
            s = s.view(len(x), H, *s.shape[-2:]).masked_fill(blocked[:, None], -INF).view(s.shape)
        return self.out_proj(joined(s.softmax(-1) @ v, len(x)))

    def forward(self, x, memory=None, blocked=None):
        return self.attend(x, *self.sides(x if memory is None else memory), blocked)


class Cached(Attention):
    """Keys and values of a memory are made once, and kept in a dict or in the module; `when` they are made again."""

    def __init__(self, split, inside=False, when=lambda kept, memory: not kept, drops=False):
        super().__init__(split)
        self.kept, self.inside, self.when, self.drops = {}, inside, when, drops

    def forward(self, x, memory, cache=None):
        kept = self.kept if self.inside else cache
        if self.when(kept, memory) or self.drops:
            made = self.sides(memory)
            if self.when(kept, memory):
                kept["of"], (kept["k"], kept["v"]) = memory, made
        return self.attend(x, kept["k"], kept["v"])


class Translator(nn.Module):
    """An encoder of `layers`, of which those in `without` forget the mask, and a decoder that has it or not."""

    def __init__(self, split, layers=1, without=(), memory_mask=True, norm=True):
        super().__init__()
        self.encoder = nn.ModuleList(Attention(split) for _ in range(layers))
        self.own, self.cross, self.norm = Attention(split), Attention(split), nn.LayerNorm(D) if norm else nn.Identity()
        self.without, self.memory_mask = without, memory_mask

    def forward(self, source, target, source_pad):
        pad = source_pad[:, None]
        for at, layer in enumerate(self.encoder):
            source = self.norm(source + layer(source, None, None if at in self.without else pad))
        causal = torch.ones(target.shape[1], target.shape[1]).triu(1).bool()[None]
        target = self.norm(target + self.own(target, None, causal))
        return self.norm(target + self.cross(target, source, pad if self.memory_mask else None))


class Model(nn.Module):
    """Words, positions along an axis or none, and attention that takes this axis for that of the sentences."""

    def __init__(self, kind, positions, sentences=1, mask=False, turn=False):
        super().__init__()
        self.words, self.table, self.head = nn.Embedding(50, D), nn.Parameter(torch.randn(16, D)), nn.Linear(D, 50)
        self.kind, self.positions, self.sentences, self.mask, self.turn = kind, positions, sentences, mask, turn
        layer = {"encoder": lambda: nn.TransformerEncoderLayer(D, H, 64, batch_first=sentences == 0),
                 "attention": lambda: nn.MultiheadAttention(D, H, batch_first=sentences == 0)}.get(kind, Attention)
        self.layer = nn.TransformerEncoder(layer(), 1) if kind == "encoder" else layer()

    def forward(self, ids):
        x = self.words(ids)
        if self.positions is not None:
            x = x + self.table[:x.shape[self.positions]].unsqueeze(1 - self.positions)
        x = x.transpose(0, 1) if self.turn else x
        count = x.shape[1 - self.sentences]
        causal = torch.ones(count, count).triu(1).bool() if self.mask else None
        if self.kind == "own":
            x = x.transpose(0, 1) if self.sentences else x
            x = self.layer(x, None, causal if causal is None else causal[None])
            x = x.transpose(0, 1) if self.sentences else x
        else:
            x = self.layer(x, causal) if self.kind == "encoder" else self.layer(x, x, x, attn_mask=causal, need_weights=False)[0]
        return self.head(x.transpose(0, 1) if self.turn else x)


class Given(Attention):
    """What it does is a function of it, and of arguments that have names of their own."""

    def __init__(self, split, function):
        super().__init__(split)
        self.forward = types.MethodType(function, self)


def same(ids):
    return ids[:, :, None] != ids[:, None]


SEGMENTED = {      # name of a form: with what masks it, or without
    "segment_ids": lambda use: lambda self, x, segment_ids: Attention.forward(self, x, None, same(segment_ids) if use else None),
    "document_ids": lambda use: lambda self, x, document_ids=None: Attention.forward(self, x, None, same(document_ids) if use else None),
    "seg, made and not used": lambda use: lambda self, x, seg: Attention.forward(self, x, None, (None, same(seg))[use]),
    "doc_ids beside a causal mask": lambda use: lambda self, x, doc_ids: Attention.forward(
        self, x, None, same(doc_ids) & use | torch.ones(S, S).triu(1).bool()),
    "sequence_ids of a function": None}


def plain(q, k, v, sequence_ids, use):
    s = q @ k.transpose(-2, -1) / math.sqrt(WIDTH)
    s = s.masked_fill(same(sequence_ids)[:, None], -INF) if use else s
    return s.softmax(-1) @ v


def split_of(self, x, *more):
    return (transposed(one(of)) for one, of in zip((self.q_proj, self.k_proj, self.v_proj), (x, *(more or (x, x)))))


def attended(self, q, k, v, change=lambda p: p):
    return self.out_proj(joined(change((q @ k.transpose(-2, -1) / math.sqrt(WIDTH)).softmax(-1)) @ v, len(q)))


def pairs(self, x):
    """Each image attends to its partner."""
    q, k, v = split_of(self, x)
    return attended(self, q, k.roll(1, 0), v.roll(1, 0))


def longest_first(self, x):
    order = torch.arange(len(x) - 1, -1, -1)
    q, k, v = (one[order] for one in split_of(self, x))
    return self.out_proj(joined((q @ k.transpose(-2, -1) / math.sqrt(WIDTH)).softmax(-1) @ v, len(x))[order.argsort()])


def shifted_windows(self, x):
    x = x.roll(-1, 1).view(2 * B, S // 2, D)
    return attended(self, *split_of(self, x)).view(B, S, D).roll(1, 1)


def beams(self, x):
    """Two beams a sentence, whose past follows them."""
    k = v = None
    for at, order in ((slice(0, 2), [0, 1, 2]), (slice(2, 3), [0, 0, 2]), (slice(3, 4), [1, 0, 0])):
        q, *new = split_of(self, x[:, at])
        k, v = new if k is None else (torch.cat([old.index_select(0, torch.tensor(order)), one], 2) for old, one in zip((k, v), new))
        z = attended(self, q, k, v)
    return z


def ring(self, x):
    """A cache of four places, of which the oldest is written over."""
    k, v = torch.zeros(2, B, H, 4, WIDTH)
    for at in range(S):
        q, one, other = split_of(self, x[:, at:at + 1])
        k[:, :, at % 4:at % 4 + 1], v[:, :, at % 4:at % 4 + 1] = one, other
        z = attended(self, q, k[:, :, :at + 1], v[:, :, :at + 1])
    return z


def prefix(self, x):
    q, k, v = split_of(self, x)
    more = self.out_proj.weight[:2].view(1, 2, H, WIDTH).transpose(1, 2).expand(B, -1, -1, -1)
    return attended(self, q, torch.cat([more, k], 2), torch.cat([more, v], 2))


UNUSUAL = {      # correct where it is intended: no mistake may be reported
    "pairs of images": pairs, "the longest sentence first": longest_first, "windows that are shifted": shifted_windows,
    "beams": beams, "a ring": ring, "a prefix that is learned": prefix,
    "one map for all sentences": lambda self, x: attended(self, *split_of(self, x), lambda p: p[:1].expand_as(p)),
    "keys of sentence 0": lambda self, x: attended(self, *split_of(self, x, x[:1].expand_as(x), x[:1].expand_as(x))),
    "one latent for all": lambda self, x: attended(self, *split_of(self, self.out_proj.weight[None, :4].expand(B, -1, -1), x, x)),
    "the last token asks": lambda self, x: attended(self, *split_of(self, x[:, -1:], x, x)),
    "a gate that is closed yet": lambda self, x: x + attended(self, *split_of(self, x)) * torch.zeros(1),
    "heads that talk": lambda self, x: attended(self, *split_of(self, x), lambda p: torch.einsum(
        "gh,bhij->bgij", self.q_proj.weight[:H, :H].softmax(-1), p)),
    "keys of places, values of words": lambda self, x: attended(self, *split_of(self, x, self.out_proj.weight[None, :S].expand(B, -1, -1), x)),
}


def quiet(run):
    def without_gradient():
        with torch.no_grad():
            return run()
    return without_gradient


def programs(seed=0):
    """(kind, whether it is right, form)"""
    torch.manual_seed(seed)
    x, memory, other = torch.randn(B, T, D), torch.randn(B, S, D), torch.randn(B, S, D)
    again = [x, x[:, :1] + 1, x[:, :1] - 1]
    for split in SPLITS:
        for inside in (False, True):
            def steps(memories, inside=inside, **how):
                module, cache = Cached(split, inside, **how).eval(), {}
                return lambda: [module(one, of, *([] if inside else [cache])) for one, of in zip(again, memories)]
            of = f"{split}, kept in {'the module' if inside else 'a dict'}"
            fresh = {"when": lambda kept, given: not kept or kept["of"] is not given}
            yield "cache of a memory", True, Form(of, steps([memory] * 3))
            yield "cache of a memory", True, Form(of + ", made again", steps([memory, other, other], **fresh))
            yield "cache of another memory", False, Form(of, steps([memory, other, other]))
            yield "cache of another memory", False, Form(of + ", late", steps([memory, memory, other]))
            yield "cache of another memory", False, Form(of + ", made and dropped", steps([memory, other, other], drops=True))
        for name, moved in (("flipped", lambda one: one.flip(0)), ("rolled", lambda one: one.roll(1, 0))):
            module = Cached(split, when=lambda kept, given: not kept or kept["of"] is not given).eval()
            yield "cache of a memory in another order", False, Form(f"{split}, {name}", lambda module=module, moved=moved: [
                module(x, memory, kept := {}), kept.update(k=moved(kept["k"]), v=moved(kept["v"])), module(x + 1, memory, kept)])
        yield "memory handed over and not used", False, Form(split, (lambda module: lambda: module(x, memory))(
            Given(split, lambda self, x, memory: Attention.forward(self, x)).eval()))
        yield "memory handed over and not used", False, Form(split + ", by name", (lambda module: lambda: module(x, context=memory))(
            Given(split, lambda self, x, context: Attention.forward(self, x)).eval()))
        for layers, norm in ((1, True), (2, False), (2, True)):
            def translate(split=split, **how):
                module = Translator(split, layers, norm=norm, **how).eval()
                return lambda: module(memory, x, PAD)
            of = f"{split}, {layers} layers{', normed' * norm}"
            yield "mask of memory", True, Form(of, translate())
            yield "mask of memory left out", False, Form(of, translate(memory_mask=False))
            if layers > 1:
                yield "mask left out in a layer", False, Form(of, translate(without=(1,)))
        for name, form in SEGMENTED.items():
            for use in (True, False):
                module = Given(split, form(use) if form else lambda self, x: x).eval()
                run = (lambda module=module: module(memory, SEGMENTS)) if form else \
                    (lambda use=use: plain(*(transposed(one) for one in torch.randn(3, B, S, D)), SEGMENTS, use))
                yield "segments" if use else "segments not used", use, Form(f"{split}, {name}", run)
        module = Given(split, lambda self, x, segment_ids: Attention.forward(self, x + self.out_proj.weight[segment_ids])).eval()
        yield "segments", True, Form(split + ", as words", lambda module=module: module(memory, SEGMENTS))
    for name, function in UNUSUAL.items():
        module = Given("transposed", function).eval()
        yield "unusual", True, Form(name, lambda module=module: module(memory))
    whole = nn.Transformer(D, H, 1, 1, 64, batch_first=True).eval()
    late = nn.Transformer(D, H, 2, 2, 64).eval()
    causal = torch.ones(T, T).triu(1).bool()
    for use in (True, False):
        kind, masks = "mask of memory" + " left out" * (not use), {"src_key_padding_mask": PAD, "tgt_mask": causal}
        masks.update({"memory_key_padding_mask": PAD} if use else {})
        yield kind, use, Form("nn.Transformer, batch first", lambda masks=masks: whole(memory, x, **masks))
        yield kind, use, Form("nn.Transformer", lambda masks=masks: late(memory.transpose(0, 1), x.transpose(0, 1), **masks))
    ids = torch.randint(0, 50, (5, 7))
    for kind in ("encoder", "attention", "own"):
        for mask in (False, True):
            for name, right, options in (
                    ("batch first", True, {"positions": 1, "sentences": 0}), ("tokens first", True, {"positions": 0}),
                    ("turned and back", True, {"positions": 1, "turn": True}), ("sentences as tokens", False, {"positions": 1}),
                    *([] if mask else [("sentences as tokens, without positions", False, {"positions": None})])):
                module = Model(kind, mask=mask, **options).eval()
                yield "batch_first" if right else "batch_first forgotten", right, Form(
                    f"{kind}, {name}{', causal' * mask}", lambda module=module: module(ids))
    attention = nn.MultiheadAttention(D, H).eval()
    yield "batch_first forgotten", False, Form("nn.MultiheadAttention", lambda: attention(memory, memory, memory))
    yield "batch_first", True, Form("nn.MultiheadAttention, turned", lambda: attention(*[memory.transpose(0, 1)] * 3))


def all_programs(seed=0):
    for kind, right, form in programs(seed):
        yield kind, right, form._replace(name=f"{kind}: {form.name}", run=quiet(form.run))
