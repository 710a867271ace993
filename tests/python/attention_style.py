"""An attention whose every step can be another one, and the form of a row of styles.py."""
import math
from typing import Any, Callable, Dict, NamedTuple, Optional

from common import torch

nn, functional = torch.nn, torch.nn.functional
B, T, H, D = 2, 6, 4, 32
WIDTH = D // H
CAUSAL = torch.ones(T, T).tril().bool()
OK = "no mistake found in 1 call of attention"
ROTARY = "positions inside q and k: rotary, {}, base 1e\\+04: taken as given"
HALVES, NEIGHBOURS = ROTARY.format("columns c and c \\+ d/2"), ROTARY.format("neighbouring columns")


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


class Style(NamedTuple):
    name: str
    right: bool
    said: str                                   # a line of the report, as a regular expression
    steps: Dict[str, Callable[..., Any]] = {}
    kv: int = H
    tokens: int = T
    expect: Optional[Dict[str, float]] = None
    module: Optional[Callable[[], Any]] = None  # another one
