"""Keys and values that an earlier call left: rows of styles.py."""
import math

from attention_style import B, CAUSAL, D, H, T, WIDTH, Style, angles, functional, half, nn, torch

LATE = CAUSAL[3:]
EARLY = torch.ones(3, T).tril().bool()
DONE = "no mistake found in 4 calls of attention"
STALE = "the cache does not hold what the call before left: {} of row . differ \\(.*\\)"


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


CACHES = [
    Style("cache", True, "cache: 3 of 6 keys are new, .* taken as given",
          {"turn": cached(), "repeat": values_too, "mask": lambda *_: LATE}, tokens=3),
    Style("cache: mask without its offset", False, "causal mask without the offset of the cache: .*",
          {"turn": cached(), "repeat": values_too, "mask": lambda *_: EARLY}, tokens=3),
    Style("cache: positions go on", True, "cache: 3 of 6 keys are new, .*",
          {"turn": cached(3, True), "repeat": values_too, "mask": lambda *_: LATE}, tokens=3),
    Style("cache: positions start again", False, "positions of query 0 and key 0 .*: 0 found, 3 expected",
          {"turn": cached(0, True), "repeat": values_too, "mask": lambda *_: LATE}, tokens=3),
    Style("cache, step by step", True, DONE, module=lambda: Cached(side_by_side)),
    Style("cache, step by step, positions go on", True, "no mistake found in 4 calls of attention", module=lambda: Cached(side_by_side, turned=True)),
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
]
