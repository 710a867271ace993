"""Attention as public code has it, written anew as text: each program runs as it is, with a line done in another way that is
right, and with a line that is wrong. A change is `old -> new`, of the text; several are joined by ` ;; `. Those that begin with
`!` were judged wrongly once; `!` alone is the text as it is."""
import math

from common import torch
from field import (approximations, caches, calls, decoders, decoding, departures, departures_in_time,
                   departures_of_models, examined, heads, images_and_sets, lectures, models, others, positions,
                   proteins_and_tables, recent, shapes, speech_and_graphs, stacks, steps, variants)
from forms import Form
from torch2 import scaled_dot_product_attention

nn = torch.nn
NAMES = {"torch": torch, "nn": nn, "F": nn.functional, "math": math, "sdpa": scaled_dot_product_attention}
ROOMS = (decoders, others, variants, caches, stacks, models, shapes, lectures, examined, approximations, heads,
         positions, images_and_sets, steps, calls, decoding, departures, departures_of_models, departures_in_time,
         proteins_and_tables, speech_and_graphs, recent)
UNUSUAL = {name for room in ROOMS if room.program.unusual for name, *_ in room.program}
OTHERS = {"non-local block", "slot attention", "RetNet"} | UNUSUAL      # whose weights are no softmax over keys: nothing to judge
PROGRAMS = [one for room in ROOMS for one in room.program]


def changed(text, change):
    for one in filter(None, change.lstrip("!").split(" ;; ")):
        old, new = one.split(" -> ")
        assert old in text, (old, text)
        text = text.replace(old, new)
    return text


def form(name, text, change):
    """The text makes `run`, from seed 0, in evaluation and without a gradient, and `expect` where it has a config."""
    torch.manual_seed(0)
    names = dict(NAMES, B=3, T=6, D=32, H=4, d=8, x=torch.randn(3, 6, 32), memory=torch.randn(3, 5, 32),
                 pad=torch.arange(6)[None] < torch.tensor([6, 4, 3])[:, None], causal=torch.ones(6, 6).tril().bool(),
                 ids=torch.randint(1, 50, (3, 6)))
    exec(compile(changed(text, change), f"<{name}>", "exec"), names)      # noqa: S102

    def run():
        with torch.no_grad():
            return names["run"]()
    return Form(f"{name}: {change or 'as it is'}", run, expect=names.get("expect"))


def field_forms():
    """(name, whether it is right, form)"""
    for name, text, right, wrong in PROGRAMS:
        for change in (*([] if "!" in right else [""]), *right):
            yield name, True, form(name, text, change)
        for change in wrong:
            yield name, False, form(name, text, change)
