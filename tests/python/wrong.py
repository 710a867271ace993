"""Kinds of mistakes in the forms of `forms`: each is right but for one step."""
import itertools

from common import torch
from forms import Way, angles, functional, program, rotary_half, rotary_pairs


def of(axis_of):
    """A wrong step on one of q, k, v: `axis_of` is (which, function)."""
    which, function = axis_of
    return lambda _, *qkv: tuple(function(one) if name == which else one for name, one in zip("qkv", qkv))


def near(_, mask):
    size = mask.shape[-1]
    return ((torch.arange(size)[None] - torch.arange(size)[:, None]).abs() <= 1)[None, None]


def one_missing(_, mask):
    mask = mask.clone()
    mask[..., -1, 1] = ~mask[..., -1, 1]
    return mask


def blocks(x, n):
    return x.repeat(1, n, 1, 1)


def stacked_last(self, z, b):
    return torch.stack([z[:, h] for h in range(self.h)], -1).reshape(b, z.shape[-2], -1)


def of_caches():
    """Of what a cache holds something stands elsewhere: of keys, of values or of both, now or in what was before."""
    moved = {"of another sentence": lambda x: x.flip(0), "of the sentence before": lambda x: x.roll(1, 0), "of another head": lambda x: x.roll(1, 1),
             "of sentence 0": lambda x: x[:1].expand_as(x), "of tokens in reverse": lambda x: x.flip(-2), "a token late": lambda x: x.roll(1, -2)}
    for how, function in moved.items():
        for step, where in (("cache", "cache"), ("past", "past of a cache")):
            for names in ("kv", "k", "v"):
                done = lambda name, held, names=names, function=function: function(held) if name in names else held
                yield f"{where} ({names}) {how}", {"wrong_" + step: done}
    yield "cache without its first token", {"wrong_cache": lambda _, held: held[..., 1:, :] if held.shape[-2] > 3 else held}
    yield "cache without what is new", {"wrong_cache": lambda _, held: held[..., :-1, :] if held.shape[-2] > 3 else held}
    yield "past of a cache twice", {"wrong_past": lambda _, held: torch.cat([held, held], -2)}
    yield "past of a cache times 0", {"wrong_past": lambda _, held: held * 0}
    yield "cache written at 0", {"wrong_place": lambda _, first: 0, "cache": "in place"}
    yield "positions restart behind a cache", {"wrong_positions": lambda self, q, k: tuple(
        rotary_half(one, angles(0, one.shape[-2], self.d, "")) for one in (q, k))}


MOVED = {"of another sentence": lambda x: x.flip(0), "shifted": lambda x: x.roll(1, 2), "reversed": lambda x: x.flip(2),
         "of another head": lambda x: x.roll(1, 1), "past relu": lambda x: x.relu(), "times 0": lambda x: x * 0,
         "with noise": lambda x: x + torch.randn(x.shape), "of the mean": lambda x: x + x.mean(0, keepdim=True),
         "of head 0": lambda x: x[:, :1].expand_as(x), "of sentence 0": lambda x: x[:1].expand_as(x),
         "of the mean token": lambda x: x.mean(2, keepdim=True).expand_as(x), "past softmax": lambda x: x.softmax(-1),
         "of the last token": lambda x: x[:, :, -1:].expand_as(x), "sorted": lambda x: x.sort(2).values}
# Kinds of mistakes: what is done wrong, and what they need to be seen.
WRONG = {
    **{f"{which} {how}": {"wrong_qkv": of((which, function))} for which in "qkv" for how, function in MOVED.items()},
    "q @ v.T": {"wrong_qkv": lambda _, q, k, v: (q, v, v)},
    "k in place of v": {"wrong_qkv": lambda _, q, k, v: (q, k, k)},
    "q in place of k": {"wrong_qkv": lambda _, q, k, v: (q, q, v), "cross": False},
    "last key left out": {"wrong_qkv": lambda _, q, k, v: (q, k[:, :, :-1], v[:, :, :-1]), "mask": "none"},
    "a window to both sides": {"wrong_mask": near, "mask": "causal"},
    "one cell missing": {"wrong_mask": one_missing, "mask": "causal"},
    "one cell missing of padding": {"wrong_mask": one_missing, "mask": "padding", "batch": 3},
    "mask inverted": {"wrong_mask": lambda _, mask: ~mask, "mask": "causal"},
    "mask transposed": {"wrong_mask": lambda _, mask: mask.transpose(-2, -1), "mask": "causal"},
    "mask of another sentence": {"wrong_mask": lambda _, mask: mask.roll(1, 0), "mask": "padding", "batch": 3},
    "mask left out": {"wrong_mask": lambda _, mask: None, "mask": "padding"},
    "one key for all": {"wrong_mask": lambda _, mask: (torch.arange(mask.shape[-1]) == 0)[None, None, None].expand_as(mask), "mask": "causal"},
    "mask a token late": {"wrong_mask": lambda _, mask: mask.roll(1, -1), "mask": "causal"},
    "values of the other side": {"wrong_side": lambda _, memory, x: (x, x), "cross": True, "same_length": True, "project": "linear"},
    "masks in the other order, heads first": {"wrong_order": lambda self, right, mask: mask.repeat_interleave(self.h, 0)[:, 0],
                                              "split": "heads first, chunk and cat", "mask": "padding", "batch": 3},
    "masks in the other order": {"wrong_order": lambda self, right, mask: mask.repeat(self.h, 1, 1, 1)[:, 0],
                                 "split": "batch and heads in one axis", "mask": "padding", "batch": 3},
    "groups repeated in blocks": {"wrong_groups": blocks, "groups": "groups"},
    "not scaled": {"wrong_scale": lambda self, q, k: q @ k.transpose(-2, -1)},
    "scaled twice": {"wrong_scale": lambda self, q, k: q @ k.transpose(-2, -1) / self.d},
    "scaled by the root of d_model": {"wrong_scale": lambda self, q, k: q @ k.transpose(-2, -1) / 32 ** 0.5},
    "multiplied": {"wrong_scale": lambda self, q, k: q @ k.transpose(-2, -1) * self.d ** 0.5},
    "softmax over queries": {"wrong_softmax": lambda _, s: torch.softmax(s, -2)},
    "softmax over heads": {"wrong_softmax": lambda _, s: torch.softmax(s, 1)},
    "sigmoid": {"wrong_softmax": lambda _, s: torch.sigmoid(s)},
    "log_softmax": {"wrong_softmax": lambda _, s: functional.log_softmax(s, -1)},
    "softmax twice": {"wrong_softmax": lambda _, s: torch.softmax(torch.softmax(s, -1), -1)},
    "dropout in evaluation": {"dropout": "on"},
    "weights transposed": {"wrong_weights": lambda _, p: p.transpose(-2, -1)},
    "weights of another sentence": {"wrong_weights": lambda _, p: p.flip(0)},
    "weights of another head": {"wrong_weights": lambda _, p: p.roll(1, 1)},
    "weights of the largest": {"wrong_weights": lambda _, p: (p == p.amax(-1, keepdim=True)).to(p.dtype)},
    "weights of the mean over heads": {"wrong_weights": lambda _, p: p.mean(1, keepdim=True).expand_as(p)},
    "weights of the mean over sentences": {"wrong_weights": lambda _, p: p.mean(0, keepdim=True).expand_as(p)},
    "weights scaled": {"wrong_weights": lambda _, p: p * 1.5},
    "weights rounded": {"wrong_weights": lambda _, p: (p * 4).round() / 4},
    "split without transposing": {"wrong_split": lambda self, x: x.reshape(x.shape[0], -1, x.shape[1], self.d)},
    "heads attend to heads": {"mask": "none", "wrong_split": lambda self, x: x.reshape(*x.shape[:2], -1, self.d), "wrong_merge": lambda self, z, b: z.flatten(2)},
    "batch and heads interchanged": {"wrong_split": lambda self, x: x.reshape(-1, x.shape[0], x.shape[1], self.d).transpose(0, 1)},
    "merged without transposing": {"wrong_merge": lambda self, z, b: z.reshape(b, z.shape[-2], -1)},
    "stacked in the last axis": {"wrong_merge": stacked_last},
    "heads merged in reverse": {"wrong_merge": lambda self, z, b: z.flip(1).transpose(1, 2).reshape(b, z.shape[-2], -1)},
    "sentences merged in reverse": {"wrong_merge": lambda self, z, b: z.flip(0).transpose(1, 2).reshape(b, z.shape[-2], -1)},
    "tokens merged in reverse": {"wrong_merge": lambda self, z, b: z.flip(2).transpose(1, 2).reshape(b, z.shape[-2], -1)},
    "heads averaged": {"wrong_merge": lambda self, z, b: z.mean(1).repeat(1, 1, self.h)},
    "positions of one side": {"wrong_positions": lambda self, q, k: (rotary_half(q, angles(0, q.shape[-2], self.d, "")), k)},
    "positions two on": {"wrong_positions": lambda self, q, k: (rotary_half(q, angles(0, q.shape[-2], self.d, "")),
                                                               rotary_half(k, angles(2, q.shape[-2], self.d, "")))},
    "positions of two forms": {"wrong_positions": lambda self, q, k: (rotary_half(q, angles(0, q.shape[-2], self.d, "")),
                                                                     rotary_pairs(k, angles(0, q.shape[-2], self.d, "")))},
    "scores past sin": {"wrong_scores": lambda _, s: s.sin()},
    "scores of another sentence": {"wrong_scores": lambda _, s: s.flip(0)},
    "output of another sentence": {"wrong_context": lambda _, z: z.flip(0)},
    "output a token late": {"wrong_context": lambda _, z: z.roll(1, 1)},
}
CACHES = {kind: {"cache": "cat", "mask": "causal", "tokens": 3, "batch": 3, **way} for kind, way in of_caches()}
PLACES = ("linear", "packed", "parameters")
LAYOUTS = ({}, {"project": "packed", "split": "permute", "merge": "permute", "product": "bmm", "scale": "q"},
           {"project": "kernels", "split": "index", "merge": "cat", "product": "einsum", "softmax": "by hand"},
           {"project": "no bias", "split": "stack of splits", "merge": "unbind", "fill": "added", "softmax": "in float32"},
           {"groups": "groups", "split": "unflatten", "fill": "least", "positions": "rotary of halves"})


def wrong_forms(seed=2):
    """Each kind in several places and under several masks."""
    for number, (kind, place, mask) in enumerate(itertools.product(WRONG, PLACES, ("none", "causal", "padding"))):
        way = Way({"project": place, "mask": mask, "tokens": 6, "batch": 2, **WRONG[kind]})
        if way.cross and place == "packed" or way.mask != mask and mask != "none":
            continue
        form = program(way, seed + number)
        yield kind, form._replace(name=f"{kind}: {form.name}")
    for number, (kind, layout) in enumerate(itertools.product(CACHES, LAYOUTS)):
        form = program(Way({**layout, **CACHES[kind]}), seed + number)
        yield kind, form._replace(name=f"{kind}: {form.name}")
