"""What met in a call of attention, told from where each number came from: rows, heads and sentences that do not belong
together, masks that no argument explains; and from what moves where a module runs again: lines, and some mistakes."""
from __future__ import annotations

import contextlib
import copy
import functools
import inspect
import io
import itertools
import json
import math
import operator
import random
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .engine import LISTS, Array, as_numpy, is_tensor, roles_of, torch_module
from .nodes import (BIASES, BLOCKED, LENGTHS, MADE, MASKS, MOST_WEIGHTS, NOTHING, OTHER_SIDE, PROJECTED, SEGMENTS, Call,
                    factor_of, index_after, moves_of)

# English and Chinese; what is said is a tuple: a name, and what stands in the gaps.
_WORDS = json.loads(Path(__file__).with_name("words.json").read_text(encoding="utf-8"))
TEXTS, NAMED = {**_WORDS["mistakes"], **_WORDS["lines"]}, {*_WORDS["mistakes"]}      # codes of mistakes
_ROLES = ("query", "key", "value")
_AXES = ("s", "ts", "bs", "bt", "sb", "bts", "hts", "tsb", "bhts", "tsbh")     # of masks that programs hand over
ASKED = f"{MASKS}|{LENGTHS}|{SEGMENTS}|{OTHER_SIDE}"     # in names of arguments that have to change something
# In names of modules whose tokens see no later ones, and of a decoder's arguments that hide those.
DECODERS = r"^(?!.*(Masked|MLM|Encoder|Bi[A-Z]|Bidirect)).*(Decoder(Layer|Block|$)|Causal|GPT|Llama|LM$)"
LATER = "tgt_mask|trg_mask|target_mask|causal|ahead|attn_mask"
RUNNING = threading.local()      # `alone`: whether a module runs without the watches of this thread


def words(name: str, *parts: Any, language: str) -> str:
    filled = (words(*part, language=language) if isinstance(part, tuple) else part for part in parts)
    return TEXTS[name][language == "zh"].format(*filled)


class Stand:
    """Of the rows of an operand (sentences, heads, rows): which sentence, head and token of its source each is."""

    def __init__(self, rows: Array, lead: Sequence[int], columns: Array | None) -> None:
        """`rows`: of an array with the axes `lead`, counted through; `columns`: the first one of each head."""
        self.rows, (count, _, length) = rows, rows.shape
        if len(lead) == 1 and count > 1 and lead[0] == count * length:      # tokens of all sentences in one axis
            batch_first = (rows // length == (rows // length)[..., :1]).all()
            lead = (count, length) if batch_first else (length, count)
        places = np.array(np.unravel_index(rows, tuple(lead)))
        walks = [axis for axis, found in enumerate(places) if (found != found[..., :1]).any()]
        heads = [axis for axis, found in enumerate(places) if axis not in walks and (found != found[:, :1]).any()]
        rest = [axis for axis in range(len(lead)) if axis not in (*walks, *heads)]
        self.axes = {"tokens": walks, "heads": heads, "sentences": rest}
        self.sizes = {name: int(np.prod([lead[axis] for axis in axes])) for name, axes in self.axes.items()}
        self.ids = {name: sum((places[axis] * int(np.prod([lead[one] for one in axes if one > axis])) for axis in axes),
                              np.zeros_like(rows)) for name, axes in self.axes.items()}
        if not heads and columns is not None:
            kinds, ranks = np.unique(columns, return_inverse=True)
            self.ids["heads"] = np.broadcast_to(ranks.reshape(columns.shape)[..., None], rows.shape)
            self.sizes["heads"] = len(kinds)

    def differs(self, other: Stand, name: str) -> bool:
        one, two = (stand.ids[name] if name == "tokens" else stand.ids[name][..., :1] for stand in (self, other))
        return self.sizes[name] == other.sizes[name] and one.shape == two.shape and bool((one != two).any())

    def order(self, other: Stand, name: str) -> str:
        """Whose places these sentences or heads have, where all stand once and some elsewhere."""
        mine, its = ([*one.ids[name][(0, slice(None), 0) if name == "heads" else (slice(None), 0, 0)]]
                     for one in (self, other))
        own = self.ids[name][:, :, :1].swapaxes(0, int(name == "heads"))
        once = mine != its and sorted(mine) == sorted(its) and len({*mine}) == len(mine) and (own == own[:, :1]).all()
        return ", ".join(str(its.index(one)) for one in mine) if once else ""


def _split_of(call: Call, role: str) -> str | None:
    """Whether the columns of a head stand side by side, or as far apart as there are heads."""
    index, base = call.index_of(role, ("linear",)) or (np.zeros((1, 1, 1, 1), int), NOTHING)
    columns = index[0, :, 0] % base.shape[-1] if base.shape and len(call._parts) == 1 else np.zeros((1, 1), int)
    steps, kinds = np.diff(columns, axis=1), len(np.unique(columns[:, 0]))
    if columns.shape[1] < 2 or kinds < 2 or (steps != steps[0, 0]).any():
        return None
    return "side by side" if steps[0, 0] == 1 else "apart" if steps[0, 0] == kinds else None


def stand_of(call: Call, role: str) -> Stand | None:
    found = call.index_of(role, (*PROJECTED, "source"))
    if found is None or found[0].size == 0:
        return None
    index, base = found
    rows, columns = np.divmod(index, base.shape[-1])
    first = columns.min((-2, -1)) if base.kind == "linear" else None
    return Stand(rows[..., 0], base.shape[:-1] or (1,), first) if (rows == rows[..., :1]).all() else None


def _inputs_of(call: Call, role: str, stand: Stand) -> tuple[Any, Array]:
    """What was moved before it was projected, and which row of it each row of an operand is."""
    base = call.node(role).path(MADE)[0]
    path = base.info.made.path(("source",)) if base.kind == "linear" else [NOTHING]
    plain = path[0].kind == "source" and path[0].shape and all(step.kind == "move" for step in path[1:])
    index = index_after(moves_of(path), path[0].shape) if plain else None
    if index is None or index.dim() < 2 or index.shape[-1] != path[0].shape[-1]:
        return NOTHING, np.zeros(0)
    rows = index.numpy() // index.shape[-1]
    alike = rows[..., 0].size == math.prod(base.shape[:-1]) and (rows == rows[..., :1]).all()
    return (path[0], rows[..., 0].ravel()[stand.rows]) if alike else (NOTHING, np.zeros(0))


def said_of(call: Call, named: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    """What was not followed, or stands where it does not belong. `named`: weights of the module around, by role."""
    if call.final or call.value_node.kind == "":
        yield from [] if call.final else [("unmet",)]
        return
    stands: dict[str, Stand] = {}
    for role in _ROLES:
        path = call.node(role).path(MADE)
        if path[0].kept:
            yield "passes", (role,), path[0].kept
        elif role == "value" and any(step.kind in ("turned", "normed") for step in path):
            yield "passes", (role,), ("mixed",)
        if factor_of(path) == 0:
            plain = any(step.kind == "scale" and step.of and step.info == 0 for step in path)
            yield "multiplied_by_0" if plain else "zero", (role,)
        found = call.index_of(role, ("source",)) if path[0].cache else None
        if found is not None:
            along = np.unravel_index(found[0][..., 0], path[0].shape)[path[0].cache[0]]
            yield from [("passes", (role,), "cat")] * bool((along != along[:1, :1]).any())      # (not along tokens)
        stand = stand_of(call, role)
        if stand is not None:
            stands[role] = stand
            if path[0].kind == "linear" and (np.diff(stand.ids["tokens"], axis=2) <= 0).any():
                yield "order", (role,)
    splits = {role: _split_of(call, role) for role in stands}
    yield from [("split", (role,), ("query",)) for role in ("key", "value") if {role, "query"} <= {*splits} and
                splits[role] is not None is not splits["query"] and splits[role] != splits["query"]]
    made = call.node("key").path(MADE)[0]
    if made.kind == "source" and not made.cache and (~call.key.any(-1) & allowed_of(call).any(2))[..., :-1].any():
        yield ("zeros",)      # (one behind all others is meant)
    pairs = [*itertools.combinations(_ROLES, 2)]
    apart = {what: {(one, other) for one, other in pairs if {one, other} <= {*stands} and stands[one].differs(
        stands[other], what)} for what in ("sentences", "heads", "tokens")}
    for role, what in (("key", "sentences"), ("value", "sentences"), ("value", "heads")):      # (one of three alone)
        alone = apart[what] == {pair for pair in pairs if role in pair}
        order = stands[role].order(stands["query"], what) if alone else ""
        yield from [(f"{role}s_of_other_{what}", order)] * (order != "")
    for one, other in (("key", "value"), ("query", "key")):
        yield from [("apart", ("value" if one == "key" else one,), ("key",), (what,))
                    for what in [*apart][:2 + (one == "key")] if (one, other) in apart[what]]
    given = {role: _inputs_of(call, role, stand) for role, stand in stands.items()}
    yield from [("apart", (one,), (other,), ("tokens",)) for one, other in (("value", "key"), ("query", "key"))
                if {one, other} <= {*given} and given[one][0] is given[other][0] is not NOTHING and
                given[one][1].shape == given[other][1].shape and (given[one][1] != given[other][1]).any()]
    for role, stand in stands.items():      # (groups of heads)
        ids, count = stand.ids["heads"][0, :, 0], stand.sizes["heads"]
        if role != "query" and 1 < count < len(ids) and (ids != np.arange(len(ids)) * count // len(ids)).any():
            yield "apart", ("query",), (role,), ("heads",)
    yield from [("dropout", f"{call.dropped:g}")] * (call.dropped > 0)
    names = ((type(module).__name__, inspect.signature(module.forward).parameters) for module in call.modules[:3])
    decodes = call.causal or any(re.search(DECODERS, name) and (
        "Decoder" not in name or re.search(LATER, " ".join(arguments))) for name, arguments in names)
    if decodes and call.shape[2] == call.shape[3] > 1 and call.of_one_input() and \
            np.triu(allowed_of(call).any((0, 1)), 1).any():
        yield ("sees_later",)
    if call.found is not None and len(call._parts) == 1 and np.isnan(as_numpy(call.found)).any():
        yield "nan", *_places(np.isnan(as_numpy(call.found)).any(-1))
    yield from _of_output(call, stands.get("query"), named)
    yield from masks_of(call, stands)


def masks_dropped(calls: Sequence[Call]) -> Iterator[tuple[Any, ...]]:
    """Masks that a program made, and that are in effect in no call around which they stand."""
    made: dict[Any, list[Any]] = {}
    for at, call in enumerate(calls):
        for name, mask in call.made:
            made.setdefault((name, mask.data_ptr(), mask.shape), []).append((at, call, mask))
    for (name, *_), several in made.items():
        at, first, mask = several[0]
        known = mask.numel() <= MOST_WEIGHTS and not mask.is_complex() and not any(
            one.final or len(one._parts) > 1 or "opaque" in [step.kind for step in one.path] for _, one, _ in several)
        array = as_numpy(mask) if known else np.ones(1)
        forms = [(call, form) for _, call, _ in several if known for form in _allowed_by(call, name, array, dict(
            zip("bhts", (*call.shape[:2], *call.shape[2:])))) if not form.all() and form.any()]
        if forms and not any((form | ~allowed_of(call)).all() for call, form in forms):
            yield at, first.where, "made", name


def pasts(calls: Sequence[Call]) -> Iterator[tuple[Any, ...]]:
    """Of caches, by index and place of a call: rows that do not stand where the call before left them."""
    for at, call in enumerate(calls):
        found = call.index_of("key", ("source",)) if len(call._parts) == 1 else None
        first, new = call.new_rows() if found is not None and found[1].cache and call.value is not None else (0, -1)
        if new == 0:
            yield at, call.where, "past_alone"
        rows, stands = np.arange(call.shape[3]), set()      # type: Any, set[str]
        old = rows[allowed_of(call).any((0, 1, 2)) & ((rows < first) | (rows >= first + new))]
        before = next((one for one in calls[:at][::-1] if (one.where, one.block) == (call.where, call.block)), None)
        for role in ("key", "value") if new > 0 and len(old) and before is not None else ():
            now, was = getattr(call, role)[:, :, old], getattr(before, role)
            if was is not None and was.shape[:2] + was.shape[3:] == now.shape[:2] + now.shape[3:]:
                some = was[:, :, old[old < was.shape[2]]], was[:, :, -len(old):]      # (or what a window leaves)
                here = any(one.shape == now.shape and np.allclose(one, now, 1e-4, 1e-5) for one in some)
                moved = any(np.array_equal(np.sort(one, None), np.sort(now, None)) for one in some)
                stands.add("here" if here else "moved" if moved else "changed")
        if stands - {"here"}:
            yield at, call.where, "cache_mixed" if stands == {"here", "moved"} else "past_order"
        elif before is not None and len(call._parts) == 1 and blocked_otherwise(call, before):
            yield at, call.where, "blocked_otherwise"


def blocked_otherwise(call: Call, before: Call) -> bool:
    """Whether keys that stayed, and that a call could see or blocks for all, are seen in one of two calls alone."""
    one, two = before.key, call.key
    (first, new), alike = before.new_rows(), one.shape == two.shape and np.array_equal(one, two)
    count = one.shape[2] if alike else min(first + new if new else before.shape[2], one.shape[2], two.shape[2])
    masks = [np.broadcast_to(allowed_of(some).any(1, keepdims=True), (len(some.places), 1, *some.shape[2:]))
             for some in (before, call)]
    was, now = (mask.any((1, 2))[:, :count] for mask in masks)
    if alike:      # (a mask of queries differs in parts of them)
        return all((mask == mask.any(2, keepdims=True)).all() for mask in masks) and bool((now != was).any())
    same = one.shape[:2] + one.shape[3:] == two.shape[:2] + two.shape[3:]
    return same and np.array_equal(one[:, :, :count], two[:, :, :count]) and bool((now & ~was).any())


def _places(rows: Array) -> Iterator[str]:
    return (", ".join(map(str, np.unique(column))) for column in np.argwhere(rows).T)


def _of_output(call: Call, query: Stand | None, named: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    if call.lost:
        yield "passes", ("context",), call.lost
    elif call.output is None and not call.in_parts and "output" in named and id(named["output"][1]) in call.called:
        yield ("loose",)
    if call.context is not NOTHING and not call.context_groups:
        yield ("unmet_heads",)
    dropped = [step.site for step in call.product.masked if step not in call.product.used]
    yield from [("dropped", str(dropped[0]))] if dropped else []
    merged = call.merged(call._parts)
    if merged is None or query is None or len(call._parts) > 1:
        return
    sentences, heads, queries, _ = call.shape
    rows = merged // (merged.size // (sentences * heads * queries))      # [sentence][head][query]
    yield from [("output", ("tokens",))] * bool((rows % queries != rows[:, :1] % queries).any())
    at = np.array(np.unravel_index(rows[:, 0], (sentences, heads, queries)))[[0, 2]]
    places = np.zeros((sentences, 1, queries), int)
    places[at[0], 0, at[1]] = np.arange(len(rows))
    lead = call.output[0].shape[:-1]
    found = Stand(places, lead if np.prod(lead) == len(rows) else (len(rows),), None)
    order = found.order(query, "sentences") if found.sizes["sentences"] == query.sizes["sentences"] else ""
    yield from [("merge_sentences_mixed", order)] * (order != "")
    yield from [("output", (what,)) for what in ("sentences", "tokens") if found.sizes[what] == query.sizes[what] and
                (found.ids[what][:, 0] != query.ids[what][:, 0]).any()]


def _allowed_by(call: Call, name: str, array: Array, sizes: Mapping[str, int]) -> Iterator[Array]:
    """What a mask may mean, (B or 1, H or 1, T or 1, S or 1), true where a query may attend."""
    if array.dtype.kind in "iu" and array.size and array.size % sizes["b"] == 0 and "len" in name:
        for heads, rows in itertools.product({1, sizes["h"]}, {1, sizes["t"]}):
            if array.size == sizes["b"] * heads * rows:      # (repeated for each head and query, or not)
                yield np.arange(sizes["s"]) < array.reshape(sizes["b"], heads, rows, 1)
    of_keys = array.shape in ((sizes["s"],), (sizes["b"], sizes["s"]))
    if array.dtype.kind in "iu" and of_keys and sizes["t"] == sizes["s"]:
        yield (array[..., None] == array[..., None, :]).reshape(-1, 1, sizes["t"], sizes["s"])
    numbers = array.dtype.kind == "b" or np.isin(array, (0, 1)).all()
    shared = call.product.shared
    if array.ndim == 3 and len(shared) == 1 and len(array) == shared[0] > sizes["b"]:      # a mask for each head
        array = array[np.array(call.places)[..., 0]]
    for axes in _AXES:
        if len(axes) == array.ndim and not (axes == "hts" and sizes["h"] == sizes["b"]) and \
                all(size in (1, sizes[axis]) for axis, size in zip(axes, array.shape)):
            placed = array.transpose([axes.index(axis) for axis in "bhts" if axis in axes])
            placed = placed[tuple(slice(None) if axis in axes else None for axis in "bhts")]
            yield from (placed != 0, placed == 0) if numbers else (placed > BLOCKED,)


def _of_others(masks: Sequence[tuple[str, Array]], allowed: Array) -> Any:
    """Of which sentence's mask each head of each sentence has, where that is not its own."""
    sentences, heads = allowed.shape[:2]
    for name, mask in masks:
        if mask.shape[1] > 1 or (mask == mask[:1]).all():
            continue
        mask = np.broadcast_to(mask, (sentences, 1, *allowed.shape[2:]))[:, 0]
        fits = (allowed[:, :, None] == mask[None, None]).all((-2, -1))      # [sentence][head][whose]
        if not fits.any(2).all() or fits[np.arange(sentences), :, np.arange(sentences)].all():
            continue
        at = np.arange(sentences * heads).reshape(sentences, heads)
        orders = at % sentences, (np.arange(heads) * sentences + np.arange(sentences)[:, None]) // heads
        if any(np.take_along_axis(fits, order[..., None], 2).all() for order in orders):
            return "repeated", name
        whose = fits.argmax(2)
        once = (fits.sum(2) == 1).all() and (whose == whose[:, :1]).all() and len({*whose[:, 0]}) == sentences
        return "mask_of_other_sentences" if once else "others", name, ", ".join(map(str, whose[:, 0]))
    return None


def _rule(allowed: Array, at: Array, masks: Sequence[tuple[str, Array]]) -> Any:
    """`at`: the key that is each query's own."""
    keys = allowed.shape[-1]
    away = np.abs(np.arange(keys) - at[:, None])
    columns = allowed.any(2, keepdims=True)
    counts = ", ".join(str(int(one.sum())) for one in columns[:, 0, 0])
    steps = np.diff(columns.astype(int), axis=-1)
    kind: Any = ("lens", counts) if (steps <= 0).all() else ("ends", counts) if (steps >= 0).all() else ("columns",)
    others = _of_others(masks, allowed)
    if others or (allowed == columns).all():
        return others or kind
    causal = np.arange(keys) <= at[:, None]
    early = int(allowed.all((0, 1, 2)).argmin())
    if early > 1 and (allowed == (causal | (np.arange(keys) < early))).all():
        return "prefix", early
    if (allowed == (columns & causal)).all():
        return ("causal",) if columns.all() else ("both", kind)
    near = int(away[allowed.any((0, 1))].max(initial=0))
    if (allowed == (away <= near)).all():
        return "near", near
    rules = [("causal",), *(("given", name) for name, _ in masks)]
    apart = [int((rule != allowed).sum()) for rule in (causal, *(mask for _, mask in masks))]
    count, at = min(zip(apart, itertools.count()))
    if count > max(2, allowed.size // 50):
        return "blocks", int((~allowed).sum()), allowed.size
    cell = np.argwhere(np.broadcast_to((causal, *(mask for _, mask in masks))[at] != allowed, allowed.shape))
    return ("but", rules[at], count, allowed.size, str(cell[0].tolist())) if count else rules[at]


def allowed_of(call: Call) -> Array:
    """(sentences or 1, heads or 1, T, S), true where a query may attend."""
    mask = np.ones((1, 1, *call.shape[2:]), bool) if call.mask is None or call.final else call.mask
    return mask if mask.dtype == bool else ~np.isneginf(mask)


def tokens_of(call: Call, stands: Mapping[str, Stand]) -> tuple[Array, Array, int]:
    """Which token each query and each key is, and of how many: by a cache, by the projections, else the last ones."""
    queries, keys = call.shape[2:]
    first, new = call.new_rows() if len(call._parts) == 1 else (0, 0)
    ids = [stands[role].ids["tokens"] for role in ("query", "key") if role in stands]
    if new == queries or call.in_row:
        return first + np.arange(queries), np.arange(keys), keys
    if len(ids) == 2 and stands["query"].sizes["tokens"] == stands["key"].sizes["tokens"] and all(
            (one == one[:1, :1]).all() for one in ids):
        return ids[0][0, 0], ids[1][0, 0], stands["key"].sizes["tokens"]
    return np.arange(queries) + keys - queries, np.arange(keys), keys


def masks_of(call: Call, stands: Mapping[str, Stand]) -> Iterator[tuple[Any, ...]]:
    count, _, queries, keys = call.shape
    heads, (at, places, whole) = sum(part.heads for part in call._parts), tokens_of(call, stands)
    if call.final or count * heads * queries * whole > MOST_WEIGHTS or any(step.kind == "opaque" for step in call.path):
        return

    def of_all(mask: Array) -> Array:      # the keys that a call leaves out are blocked
        more = np.zeros((*mask.shape[:-1], whole), bool)
        more[..., places] = mask
        return mask if keys == whole else more
    allowed = of_all(np.broadcast_to(allowed_of(call), (count, heads, queries, keys)))
    causal = np.arange(whole) <= at[:, None]
    own = "query" in stands and "key" in stands and ((at >= 0) & (at < whole)).all() and (
        queries > 1 or call.new_rows()[1] == 1)
    ahead = allowed[:, :, np.arange(queries), at] if own else np.ones(1)
    if allowed.any() and not ahead.any():
        yield ("own",)
    elif own and queries == keys == whole and call.of_one_input():
        strange = np.argwhere(allowed.any(2) & ~ahead)[:1]
        yield from (("own_of", str(query), str(sentence)) for sentence, _, query in strange)
    handed: list[tuple[str, list[Array]]] = []
    for name, tensor in (*call.masks, *call.handed, *call.given):
        if 0 < tensor.numel() <= MOST_WEIGHTS and not tensor.is_complex():
            array, sizes = as_numpy(tensor), {"b": count, "h": heads, "t": queries, "s": keys}
            some = [*map(of_all, _allowed_by(call, name, array, sizes))]
            if queries < whole and (at < whole).all() and array.shape[-1:] == (whole,):  # some rows are meant
                forms = _allowed_by(call, name, array, {**sizes, "t": whole, "s": whole})
                some += [one[:, :, at] if one.shape[2] == whole else one for one in forms]
            size = (keys, *array.shape)[-1]
            forms = _allowed_by(call, name, array, {**sizes, "s": size}) if 0 < keys - size <= 8 else ()
            for one, side in itertools.product(forms, ((0, keys - size), (keys - size, 0))):
                one = np.broadcast_to(one, (*one.shape[:3], size))      # (learned keys are masked for none)
                some.append(of_all(np.pad(one, [(0, 0)] * 3 + [side], constant_values=True)))
            handed.append((name, some))
    of_names = {name for name, _ in (*call.masks, *call.given)}
    implied = [(name, one) for name, some in handed for one in some if (one | ~allowed).all() and not one.all()]
    window = allowed.any(-1).all() and bool((allowed == (causal & (
        np.arange(whole) > at[:, None] - allowed.sum(-1).max()))).all())
    explained, empty = np.ones_like(allowed), ~allowed.any(-1)
    for one in (*(one for _, one in implied), *[causal] * bool((causal | ~allowed).all())):
        explained = explained & one
    taken = not window and bool((explained != allowed).any())
    if taken and empty.any() or empty.all(2).any():      # (of a sentence no query: masks are read the other way round)
        yield "empty", *_places(empty)
    if taken:
        masks = [(name, one) for name, some in handed for one in some if not one.all()]
        rows = [np.unique(np.linspace(0, size - 1, 8).astype(int)) for size in (queries, whole)]      # at most 8
        drawn = "/".join("".join("□■"[int(cell)] for cell in row) for row in allowed[0, 0][np.ix_(*rows)])
        rule = _rule(allowed | empty[..., None] & causal, at, masks)
        ordered = rule[0] == "mask_of_other_sentences"      # (of sentences that stand where they belong)
        both = {*stands} >= {"query", "key"} and not stands["query"].differs(stands["key"], "sentences")
        yield rule if ordered and both else ("mask", ("others", *rule[1:]) if ordered else rule, drawn)
    adds = any(step.kind in ("add", "times") for part in call._parts for step in part.path)
    for name, some in handed:
        asked = LENGTHS if call.modules else f"{LENGTHS}|{SEGMENTS}"      # (a module that runs again shows its use)
        if name in of_names or name in dict(implied) or not re.search(asked, name) or call.in_row:
            continue
        if some and not some[0].all() and not (adds and "bias" in name):
            yield "lengths", name


def changed(value: Any, change: Callable[[Any], Any]) -> Any:
    """With what stands in lists and dicts changed, in order."""
    if isinstance(value, Mapping):
        return {name: changed(one, change) for name, one in value.items()}
    several = [changed(one, change) for one in value] if isinstance(value, LISTS) else None
    return change(value) if several is None else several if isinstance(value, list) else tuple(several)


def parts_of(value: Any) -> list[Any]:
    parts: list[Any] = []
    changed(value, parts.append)
    return parts


@contextlib.contextmanager
def unfollowed(mode: Any) -> Iterator[contextlib.ExitStack]:
    """Where no watch of this class follows what runs."""
    overrides = torch_module().overrides
    with contextlib.ExitStack() as stack:
        while type(overrides._get_current_function_mode()) is mode:
            stack.enter_context(overrides._pop_mode_temporarily())
        yield stack


def _kept(value: Any, of: Any, name: Any, kept: list[Any]) -> None:
    """Numbers and containers, also those inside of containers, each with where it stands and what it holds."""
    known = any(value is one for _, _, one, _ in kept[-64:])
    if type(value) in (list, dict, set) and len(value) < 1 << 16 and not known:
        kept.append((of, name, value, value.copy()))
        for one in (value.values() if isinstance(value, dict) else value) if len(kept) < 1 << 10 else ():
            _kept(one if type(one) in (list, dict, set) else None, None, None, kept)
    elif type(value) in (int, float, bool):
        kept.append((of, name, value, None))


@contextlib.contextmanager
def restored(module: Any) -> Iterator[None]:
    """Afterwards random numbers of Python and NumPy go on as before, and what the classes of a module keep, or what
    their functions have as globals, is what it was: numbers, lists, dicts, sets."""
    drawn, kept = (random.getstate(), np.random.get_state()), []      # type: Any, list[Any]
    bases = {base for one in module.modules() for base in type(one).__mro__}
    for base in (one for one in bases - {object} if not one.__module__.startswith("torch.")):
        for name, value in [*vars(base).items()]:
            _kept(None if name.startswith("__") else value, base, name, kept)
            names = getattr(value, "__globals__", {})
            for used in getattr(getattr(value, "__code__", None), "co_names", ()):
                _kept(names.get(used), names, used, kept)
    try:
        yield
    finally:
        random.setstate(drawn[0])
        np.random.set_state(drawn[1])
        for of, name, value, before in kept:
            if isinstance(value, list):
                value[:] = before
            elif before is not None:
                value.clear()
                value.update(before)
            if isinstance(of, dict):
                of[name] = value
            elif of is not None and vars(of)[name] is not value:
                setattr(of, name, value)


class Again:
    """A call of a module that can be made again, on copies of it, which share its parameters, and of its arguments."""

    def __init__(self, module: Any, args: Any, kwargs: Any, mode: Any) -> None:
        """`mode`: the class of watches. Any error: it cannot run so."""
        torch, self.mode, modules, given = torch_module(), mode, [*module.modules()], parts_of([args, kwargs])
        strange = [type(one).__name__ for one in (*given, *modules) if type(one).__module__.startswith(
            ("torch.fx", "torch._subclasses", "torch._functorch", "torch.jit", "torch._dynamo"))]
        if strange or torch._C._get_tracing_state() is not None:
            raise TypeError(strange[0] if strange else "torch.jit.trace")
        of_all = [one for name, several in vars(torch.nn.modules.module).items() if name.startswith("_global")
                  and name.endswith("_hooks") for one in several.values()]      # (those of a watch are its methods)
        if any(one._forward_hooks or one._forward_pre_hooks or one._backward_hooks for one in modules) or any(
                not hasattr(getattr(one, "__self__", None), "compared") for one in of_all):
            raise TypeError("hooks")
        shared = [*module.parameters(), *(one for one in given if is_tensor(one) and not one.is_leaf)]
        self.shared, self.idle = {id(one): one for one in shared}, set()     # ids of weights whose product is dropped
        self.elsewhere: list[Any] = []    # masks that move outputs of other tokens
        self.apart: set[str] = set()      # and names of those, none of which moves outputs of another sentence
        self.fresh: set[int] = set()      # arguments that a call before was not handed
        self.known: Any = None            # what it gave, and the calls inside, where it gives that each time
        taken = inspect.signature(module.forward).parameters
        names = [*taken]
        many = next((at for at, one in enumerate(taken.values()) if one.kind == one.VAR_POSITIONAL), len(names))
        named = [*((names[min(at, many)] if at < many or getattr(one, "dtype", None) != torch.bool else "mask", one)
                   for at, one in enumerate(args)), *kwargs.items()]
        self.names = [name for name, one in named for _ in parts_of(one)]
        self.absent = [name for name in names[len(args):] if re.search(MASKS, name) and kwargs.get(name) is None
                       and taken[name].default is None]      # masks that it takes and was not handed
        self.call = copy.deepcopy((module, args, kwargs), {**self.shared})

    def is_like(self, other: Again) -> bool:
        """Whether both were handed the same, but for the first argument and masks; what is not the same is kept."""
        several = zip(self.names, parts_of(self.call[1:]), parts_of(other.call[1:]))
        self.fresh = {at for at, (name, one, two) in enumerate(several) if at and is_tensor(one) and (
            re.search(OTHER_SIDE, name) or one.is_floating_point() and not re.search(MASKS, name)) and not (
                is_tensor(two) and torch_module().equal(one, two))}
        return not self.fresh

    def run(self, watch: Any = None, change: Callable[[Any], Any] | None = None, last: bool = False,
            others: Mapping[int, Any] = {}, more: Mapping[str, Any] = {}) -> Any:
        """What it gives, of changed arguments and `more`, with this watch alone, and `others` as parameters, by id."""
        torch = torch_module()
        module, args, kwargs = self.call if last else copy.deepcopy(self.call, {**self.shared, **others})
        with torch.random.fork_rng(range(torch.cuda.device_count()) if torch.cuda.is_initialized() else ()), \
                contextlib.redirect_stdout(io.StringIO()), restored(module), unfollowed(self.mode) as stack:
            stack.callback(setattr, RUNNING, "alone", getattr(RUNNING, "alone", False))
            RUNNING.alone = True
            if change is not None:
                torch.manual_seed(0)
                args, kwargs = changed([args, kwargs], change)
                torch.manual_seed(0)
            with contextlib.nullcontext() if watch is None else watch:
                return module(*args, **{**kwargs, **more})


def apart(plain: Any, followed: Any) -> tuple[str, ...]:
    """How two outputs differ; "equal": in no bit, NaN stands where NaN stands."""
    torch = torch_module()
    for one, two in zip(parts_of(plain), parts_of(followed)):
        if not (is_tensor(one) and is_tensor(two)) or getattr(one, "is_nested", False) or one.is_meta or \
                one.is_quantized or one.layout != torch.strided:
            continue
        if one.shape != two.shape:
            return "shape", str(tuple(two.shape)), str(tuple(one.shape))
        cells = as_numpy((one != two) & ~(one.isnan() & two.isnan()))
        if cells.any():
            far = np.where(cells, np.nan_to_num(as_numpy((one * 1.0 - two * 1.0).abs()), nan=np.inf), 0)
            return "differs", f"{far.max():.3g}", str([*map(int, np.unravel_index(far.argmax(), far.shape))])
    return ("equal",)


def _moved(one: Any, other: Any, limit: float = 1e-3) -> Array:
    one, other = as_numpy(one), as_numpy(other)
    most = np.abs(np.nan_to_num(one, posinf=0, neginf=0)).max(initial=0)
    return (np.abs(one - other) > limit * (1e-3 + most)) | (np.isnan(one) != np.isnan(other))


def _keeps(allowed: Array, kept: Array) -> bool:
    """Whether no key but those that are kept is seen, by queries that are kept where they are the same tokens."""
    seen = allowed & kept[:, :, None] if allowed.shape[1] == allowed.shape[2] else allowed
    return bool(kept.any(1).all() and (~seen.any(1) | kept).all())


def _elsewhere(moved: Array, at: int) -> list[int]:
    return [int(one) for one in np.flatnonzero(moved.reshape(len(moved), -1).any(1)) if one != at]


def _other(one: Any, place: Any = (..., 0)) -> Any:
    """An array with other entries there: other numbers, the next of ids, and of a mask what it was not."""
    torch, again, old, number = torch_module(), one.clone(), one[place], one.is_floating_point()
    if one.dtype == torch.bool or number and bool(((one == 0) | (one == 1)).all()):
        again[place] = (old == 0).to(old)
    else:
        again[place] = old + torch.randn_like(old) if number else (old + 1) % (one.max() + 1)
    return again


class _Reruns:
    """A module that runs again: `outs` and the calls of attention inside as it ran, and what changes move."""

    def __init__(self, again: Again, watch: Callable[[], Any]) -> None:
        self.again, self.watch, self.given = again, watch, parts_of(again.call[1:])
        self.numbers = [is_tensor(one) and one.is_floating_point() and one.dim() > 1 and not re.search(
            f"{MASKS}|{BIASES}", name) for name, one in zip(again.names, self.given)]
        most = max([one.dim() for one, number in zip(self.given, self.numbers) if number], default=0)
        self.numbers = [number and one.dim() >= min(most, 3)     # (tables of positions are no inputs)
                        for one, number in zip(self.given, self.numbers)]
        self.buffers = {id(one): (name, one) for name, one in again.call[0].named_buffers() if one.numel() > 1 and
                        re.search(f"{MASKS}|tri[lu]|causal|ahead", name.split(".")[-1])}
        out, calls = again.known or (None, [])
        found = [call for call in calls if call.whole and call._parts[0] is call]
        self.outs, self.calls = (self.numbers_of(out), found) if found else self.ran()

    @staticmethod
    def numbers_of(out: Any) -> list[Any]:
        return [one for one in parts_of(out) if is_tensor(one) and one.is_floating_point()]

    def ran(self, change: Callable[[int, Any], Any] = lambda at, one: one, weights: Mapping[int, Any] = {},
            more: Mapping[str, Any] = {}, follow: bool = True, most: Any = None) -> Any:
        """Outputs and calls; `change` is given the number of an argument and the argument; `weights`: others, by id;
        `follow`: whether calls are wanted, or what is followed differs; `most`: so many of them, and no outputs."""
        seen, numbers, torch, out = self.watch(), itertools.count(), torch_module(), None
        seen.most = seen.most if most is None else most
        with torch.no_grad(), contextlib.ExitStack() as stack:
            stack.enter_context(contextlib.suppress(*[] if most is None else [seen.ended]))
            others = {name: weight if name in self.buffers else torch.nn.Parameter(weight)
                      for name, weight in weights.items()}
            alone = None if not follow and self.again.known else seen
            out = self.again.run(alone, lambda one: change(next(numbers), one), others=others, more=more)
        return self.numbers_of(out), seen.sequence()

    def still(self, *changes: Any) -> bool:
        """Whether a change moves no output; one with which the module cannot run does."""
        after: list[Any] = []
        with contextlib.suppress(Exception):
            after = self.ran(*changes, follow=False)[0]
        some = [(one, two) for one, two in zip(self.outs, after) if one.isfinite().any() and one.shape == two.shape]
        return bool(some) and not any(_moved(one, two, 1e-5).any() for one, two in some)

    def reaches(self, *changes: Any) -> bool:
        """Whether a change moves a query, key or value."""
        after = self.ran(*changes)[1]
        pairs = [(getattr(one, role), getattr(two, role)) for one, two in zip(self.calls, after) for role in _ROLES]
        known = [pair for pair in pairs if pair[0] is not None and pair[1] is not None]
        return len(after) != len(self.calls) or any(_moved(*pair).any() for pair in known)

    def masks_first(self, change: Callable[[int, Any], Any]) -> bool:
        """Whether a change is seen in the mask of the first call, behind which the module is ended."""
        with contextlib.suppress(Exception):
            return not np.array_equal(self.calls[0].mask, self.ran(change, most=1)[1][0].mask)
        return False

    def rows(self, after: Any) -> list[dict[str, Array]]:
        """Which of what ran so moved, (sentences, rows) of each call."""
        return [{role: _moved(getattr(one, role), getattr(two, role)).any((1, 3)) for role in _ROLES}
                for one, two in zip(self.calls, after[1])]

    def is_input(self, at: int) -> bool:
        """Numbers, or words where there are no numbers; no masks."""
        one = self.given[at]
        if self.numbers[at]:
            return not bool(((one <= BLOCKED) | (one == 1)).any())
        return getattr(one, "dtype", None) == torch_module().int64 and one.dim() == 2 and bool(one.max() > 1) and \
            not any(self.numbers) and not re.search(f"{MASKS}|{BIASES}", self.again.names[at])

    def is_of_sentences(self, at: int) -> bool:
        """Numbers of each sentence, none of its tokens."""
        one, (count, _, queries, keys) = self.given[at], self.calls[0].shape
        return is_tensor(one) and one.is_floating_point() and one.dim() == 2 and any(self.numbers) and len(
            one) == count not in (queries, keys) and not re.search(f"{MASKS}|{BIASES}", self.again.names[at])

    def in_order(self, size: int, axis: int) -> bool | None:
        """Whether it matters in what order entries along this axis of inputs stand; None: that is not known."""
        given, out = ([[at for at, count in enumerate(getattr(one, "shape", ())) if count == size] for one in some]
                      for some in (self.given, self.outs))
        rest = [places for at, places in enumerate(given) if places and not self.is_input(at)]      # masks, lengths
        at = [axis if axis in places and self.is_input(at) else (places or [0])[0] for at, places in enumerate(given)]
        masks = {count for at, one in enumerate(self.given) if not self.is_input(at)
                 for count in getattr(one, "shape", ())}
        strange = any(len(places) > 1 for places in rest) or rest and size in self.calls[0].shape[1:] or \
            size * self.calls[0].shape[1] in masks      # (of each head)
        if strange or not any(len(one) == 1 for one in out) or self.again.call[0].training:
            return None
        order = torch_module().tensor([size - 1, *range(1, size - 1), 0])
        after = self.ran(lambda of, one: one.index_select(at[of], order) if given[of] else one, follow=False)[0]
        return any(_moved(one.index_select(place[0], order), two, 3e-2).any()
                   for one, two, place in zip(self.outs, after, out) if len(place) == 1)

    def idle(self, later: bool, known: Sequence[int] = ()) -> Iterator[tuple[Any, ...]]:
        """Arguments that change nothing; in a `later` call those that are others than before, and no masks."""
        alone = all((allowed_of(call).sum(-1) < 2).all() for call in self.calls)      # what has one key shows no query
        for at, (name, one) in enumerate(zip(self.again.names, self.given)):
            asked = is_tensor(one) and (self.is_input(at) or re.search(OTHER_SIDE if later else ASKED, name)) and (
                at in self.again.fresh or not later) and at not in known
            if asked and one.shape[-1:] > (1,):
                whole = one.is_floating_point() and self.is_input(at) and not re.search(MASKS, name)
                other = _other(one, ... if whole else (..., 0))
                change = functools.partial(lambda at, other, of, value: other if of == at else value, at, other)
                if (other != one).any() and (self.is_input(at) or not self.masks_first(change)) and \
                        self.still(change) and not (alone and self.reaches(change)) and not self.is_used(at):
                    yield 0, self.calls[0].where, "idle_argument", name

    def unused(self, named: Callable[[Any], Mapping[str, Any]]) -> Iterator[tuple[Any, ...]]:
        """Weights whose product is dropped count as not used, where those of another role stand in their place."""
        for (at, call), role in itertools.product(enumerate(self.calls), _ROLES):
            root, weight = call.node(role).path(MADE)[0], named(call.modules).get(role, (0, None))[1]
            other = root.kind == "linear" and role != "value" and id(root.info.weight) != id(weight)
            plain = root.kind == "source" and not root.cache      # (of inputs as they are)
            if (other or plain or role == "value" and root.cache) and id(weight) in self.again.shared and self.still(
                    lambda _, one: one, {id(weight): _other(weight.detach())}):
                self.again.idle.add(id(weight))
                yield from [] if other or plain else [(at, call.where, "idle", *2 * (len(weight),), (role,))]

        same: Any = lambda _, one: one
        for call in self.calls:      # (where what attention gives is handed on)
            own = named(call.modules)
            last, value = (own.get(role, (0, None))[1] for role in ("output", "value"))
            if id(value) in self.again.shared and id(last) in {*self.again.shared} & call.called and self.still(
                    same, {id(last): _other(last.detach())}) and not self.still(
                        same, {id(value): _other(value.detach(), ...)}):
                self.again.idle.add(id(last))

    def weights_unused(self) -> Iterator[tuple[Any, ...]]:
        """Weights and biases of roles that change nothing, of modules that ran and of their like in a list."""
        ran, found = {re.sub(r"\d+", "", call.module) for call in self.calls}, {}      # type: set[str], dict[str, Any]
        norms = any(step.kind == "normed" for call in self.calls for step in call.node("query").path(MADE))
        strange = "mem" if norms else "norm"      # (norms that no call has may be meant for others)
        later = any(call.shape[2] == call.shape[3] and np.triu(allowed_of(call).any((0, 1)), 1).any()
                    for call in self.calls)
        for name, owner in self.again.call[0].named_modules():
            if {re.sub(r"\d+", "", name), type(owner).__name__ * (not name)} & ran - {""}:
                known = [(of, re.sub(r"\d+", "", of), one) for of, one in owner.named_parameters()]
                like = {plain for _, plain, one in known if id(one) in self.calls[0].called}      # of one list
                found.update({f"{name}.{of}".strip("."): one for of, plain, one in known if
                              id(one) not in self.calls[0].called and not re.search(f"mem|{strange}", of) and (
                                  roles_of(of) or plain in like or re.search("relative.*bias|bias_table", of))})
                found.update({of: one for of, one in self.buffers.values() if later and of.rpartition(".")[0] == name})
        rest = [*found.items()][:16]
        for some in (rest, *([one] for one in rest if len(rest) > 1)):
            others = {id(one): _other(one.detach(), ...) for _, one in some}
            change: Any = lambda _, one: one
            if some and self.still(change, others) and not self.reaches(change, others):
                names = ", ".join(name for name, _ in some)
                yield 0, self.calls[0].where, "idle_weights", names
                if some is rest:
                    break

    def masks_unused(self) -> Iterator[tuple[Any, ...]]:
        """Masks of keys from which those of no call follow, whichever of their entries may be attended to."""
        for at, (name, one) in enumerate(zip(self.again.names, self.given)):
            asked = is_tensor(one) and re.search(MASKS, name) and not any(one is used for used in self.again.elsewhere)
            mask = as_numpy(one) if asked and one.dim() == 2 else np.ones(1)
            calls = [call for call in self.calls if call.shape[::3] == mask.shape and not call.final]
            if mask.ndim == 2 and calls and np.isin(mask, (0, 1)).all() and len(np.unique(mask)) == 2 and not any(
                    _keeps(allowed_of(call).any(1), mask == kept) for call in calls
                    for kept in ((1, 0) if one.dtype == torch_module().bool else (1,))):
                yield self.calls.index(calls[0]), calls[0].where, "lengths", name

    def masks_elsewhere(self) -> Iterator[tuple[Any, ...]]:
        """Masks that move other rows than those of an entry: kept in `elsewhere`, and named where the mask of no call
        follows from them."""
        for at, (name, one) in enumerate(zip(self.again.names, self.given)):
            if self.is_input(at) or not self.is_used(at):
                continue
            self.again.elsewhere.append(one)
            forms = [(call, form) for call in self.calls if not call.final for form in _allowed_by(
                call, name, as_numpy(one), dict(zip("bhts", call.shape)))]
            if forms and not any(self.follows(allowed_of(call), form) for call, form in forms):
                yield self.calls.index(forms[0][0]), forms[0][0].where, "mask_used", name

    @staticmethod
    def follows(allowed: Array, form: Array) -> bool:
        """Whether all that a mask blocks is blocked, but in rows that would have no key."""
        causal = np.triu(allowed, 1).any() | np.tri(*allowed.shape[2:], dtype=bool)
        return bool((form | ~allowed | (form.shape[-1] > 1) & ~(form & causal).any(-1, keepdims=True)).all())

    def is_used(self, at: int) -> bool:
        """Whether an argument is a mask, entries of which move an output elsewhere than in their own rows."""
        one = self.given[at]
        size = one.shape[-1] if is_tensor(one) and one.dim() and re.search(MASKS, self.again.names[at]) else 0
        return size > 1 and any(self.moves_others(at, column) for column in sorted({0, size // 2, size - 1}))

    def moves_others(self, at: int, column: int) -> bool:
        """Whether other entries of a mask in this column move an output elsewhere than in its own rows."""
        other, size = _other(self.given[at], (..., column)), self.given[at].shape[-1]
        if not bool((other != self.given[at]).any()):
            return False
        try:
            after = self.ran(lambda of, value: other if of == at else value, follow=False)[0]
        except Exception:
            return True
        if [one.shape for one in after] != [one.shape for one in self.outs]:
            return True
        for one, two in zip(self.outs, after):
            moved = _moved(one, two, 1e-5)
            axes = [axis for axis in (0, 1) if moved.ndim > axis and moved.shape[axis] == size]
            if all(_elsewhere(np.moveaxis(moved, axis, 0), column) for axis in axes) and moved.any():
                return True
        return False

    def learned(self, others: Sequence[Any]) -> None:
        """What is added to scores is learned where it stays as it is whatever goes in, and not where parameters do
        that project nothing."""
        given = [at for at, call in enumerate(self.calls) if sum(       # (of two one may be a mask)
            step.kind == "add" and not step.of for step in call.path) == 1]
        rest = {id(one): _other(one.detach(), ...) for one in self.again.call[0].parameters() if given and
                one.is_floating_point() and id(one) not in self.calls[0].called}
        masks = [[call.mask for call in some] for some in (self.calls, *(after[1] for after in others))] if rest else []
        steady = [at for at in given if all(
            len(some) > at and np.array_equal(some[at], masks[0][at]) for some in masks)]
        after = self.ran(weights=rest, most=given[-1] + 1)[1] if rest and steady else ()
        for at in steady[:len(after)]:
            if len(after) > at and not np.array_equal(after[at].mask, masks[0][at]):
                for step in self.calls[at].path:
                    step.of = step.of or "learned" * (step.kind == "add")

    def later(self) -> Iterator[tuple[Any, ...]]:
        """Calls that see later keys, where another layer of the same list blocks all of them."""
        layers: dict[Any, Any] = {}
        for at, call in enumerate(self.calls):
            if call.shape[2] == call.shape[3] > 1 and not call.final and call.module:
                sees = bool(np.triu(allowed_of(call).any((0, 1)), 1).any())
                layers.setdefault((re.sub(r"\d+", "", call.module), call.shape), {}).setdefault(sees, (at, call.where))
        yield from ((*one[True], "later", one[False][1]) for one in layers.values() if len(one) == 2)

    def columns(self) -> Iterator[tuple[Any, ...]]:
        """Columns of a projection, as those of a head, that no query, key or value has, and that change no output."""
        used: dict[tuple[int, int], Any] = {}      # (of a packed weight some rows may project alone)
        for at, part, role in ((at, part, role) for at, call in enumerate(self.calls) for part in call._parts
                               for role in _ROLES):
            index, base = part.index_of(role, ("linear",)) or (None, NOTHING)
            if index is not None and base.info.weight.dim() == 2 and id(base.info.weight) in self.again.shared:
                width = base.shape[-1]
                one = used.setdefault((id(base.info.weight), width), (at, role, base, {*range(width)}))
                one[3].difference_update(np.unique(index % width).tolist())
        for (name, width), (at, role, base, rest) in used.items():
            runs = np.split(np.sort([*rest]), np.flatnonzero(np.diff(np.sort([*rest])) > 1) + 1)
            cached = any(self.calls[at].node(one).path(MADE)[0].cache for one in _ROLES) and \
                (allowed_of(self.calls[at]).sum(-1) > 1).any()      # (one key alone changes nothing)
            halves = [[run[:len(run) // 2] for run in runs], [run[len(run) // 2:] for run in runs]]      # keys, values
            for some in (runs, *(halves if cached else ())):
                columns, weight = [*itertools.chain(*some)], base.info.weight.detach()
                if columns and self.still(lambda _, one: one, {name: _other(weight, self.of_columns(base, columns))}):
                    yield at, self.calls[at].where, "idle", len(columns), width, (role,)
                    break

    @staticmethod
    def of_columns(base: Any, columns: Any) -> tuple[Any, ...]:
        """Where the weight of a projection has them."""
        return (slice(None),) * base.info.axis + ([*columns],)

    def heads(self) -> Iterator[tuple[Any, ...]]:
        """What moves of the other heads, in the first call of each line, when the weights of one head change."""
        lines: set[Any] = set()
        for at, call in enumerate(self.calls):
            founds = {role: call.index_of(role, ("linear",)) for role in _ROLES} if len(call._parts) == 1 else {}
            known = {role: found for role, found in founds.items() if found is not None and found[0].size and len(
                found[1].shape) > 2 == found[1].info.weight.dim() and id(found[1].info.weight) in self.again.shared}
            if call.site in lines or call.heads < 2 or not known or call.value is None:
                continue
            lines.add(call.site)
            head, weights, own = call.heads // 2, {}, {}      # type: int, dict[int, Any], dict[str, Array]
            for role, (index, base) in known.items():
                columns, weight = index % base.shape[-1], base.info.weight
                mine = np.unique(columns[:, head])
                own[role] = np.isin(columns, mine).any((0, 2, 3))      # heads of a group have the same
                changed = _other(weights.get(id(weight), weight.detach()), self.of_columns(base, mine.tolist()))
                weights[id(weight)] = changed
            again = self.ran(weights=weights, most=at + 1)[1]
            if len(again) <= at:
                continue
            for role in own:
                moved = _moved(getattr(call, role), getattr(again[at], role)).any((0, 2, 3))
                yield from ((at, call.where, "leak", (role,), ("head",), int(one), ("head",), head)
                            for one in np.flatnonzero(moved & ~own[role])[:1])
            merged = call.merged([call])
            if merged is not None and again[at].output and again[at].output[0].shape == call.output[0].shape:
                moved = _moved(call.output[0], again[at].output[0]).reshape(merged.shape)
                heads = merged // (call.shape[2] * (merged.shape[1] // call.heads)) % call.heads
                strange = moved & ~np.any([*own.values()], 0)[heads]
                yield from ((at, call.where, "leak", ("context",), ("head",), int(one), ("head",), head)
                            for one in heads[strange][:1])

    def strays(self, after: Any, size: int, axis: int, at: int) -> list[list[int]]:
        """Of each output that has such entries, along this axis or the first: which moved, others than that one."""
        places = [[place for place in (axis, 0) if one.dim() > place and one.shape[place] == size] for one in self.outs]
        return [_elsewhere(np.moveaxis(_moved(one, two), place[0], 0), at)
                for one, two, place in zip(self.outs, after[0], places) if place]

    def spread(self, sizes: Mapping[int, int], others: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
        """Outputs of an entry that change with another one, whichever axis of the inputs counts sentences."""
        found = [(size, one) for axis, size in sizes.items()
                 for one in self.strays(others[axis], size, axis, (size + 1) // 2)]
        if found and all(one for _, one in found):
            size, one = found[0]
            yield 0, self.calls[0].where, "leak", ("out",), ("sentence",), one[0], ("sentence",), (size + 1) // 2

    def masks_apart(self, count: int, axis: int) -> Iterator[tuple[Any, ...]]:
        """Outputs of a sentence that change with the mask of another one."""
        at = (count + 1) // 2
        for of, (name, one) in enumerate(zip(self.again.names, self.given)):
            if is_tensor(one) and not self.is_input(of) and re.search(f"{MASKS}|{LENGTHS}", name) and \
                    count > 1 and [*one.shape].count(count) == 1 and len(one) == count and not one.is_floating_point():
                other = _other(one, (at,))
                after = self.ran(lambda given, value: other if given == of else value, follow=False)
                found = self.strays(after, count, axis, at)
                self.again.apart.update([name] * bool(found and not any(found)))
                yield from [(0, self.calls[0].where, "leak", ("out",), ("sentence",), strange[0], name, f"[{at}]")
                            for strange in found if strange][:1]

    def unblocked(self) -> list[tuple[Any, ...]]:
        """A key that a call blocks for every query of its sentence, and that another call lets be seen."""
        seen = [np.broadcast_to(allowed_of(call).any((1, 2)), call.shape[::3]) for call in self.calls]
        for index, (call, own) in enumerate(zip(self.calls, seen)):
            if call.in_parts or call.shape[2] < call.shape[3] and (allowed_of(call) != own[:, None, None]).any():
                continue      # (other queries may see the rest)
            place = (*np.argwhere(~own)[:1].ravel(),)
            same = [at for at, one in enumerate(seen) if place and one.shape == own.shape and one[place]]
            for at, one in enumerate(self.given) if same else ():
                turned = tuple(getattr(one, "shape", ())[:2]) != own.shape
                if not self.is_input(at) or tuple(one.shape[:2]) != own.shape[::-1 if turned else 1]:
                    continue
                where = place[::-1 if turned else 1]
                rows = self.rows(self.ran(lambda of, value: _other(value, where) if of == at else value))
                for other in same if rows[index]["key"][place] else ():
                    if rows[other]["key"][place]:
                        said = *place[::-1], call.where, *self.hiding(other, own.shape, place)
                        return [(other, self.calls[other].where, "unblocked" + "_by" * (len(said) > 3), *said)]
        return []

    def hiding(self, at: int, shape: tuple[int, ...], place: tuple[int, ...]) -> list[str]:
        """A mask that the module takes and was not handed, and one that, handed in its place, hides this key."""
        masks = [(name, one) for of, (name, one) in enumerate(zip(self.again.names, self.given)) if is_tensor(one)
                 and tuple(one.shape) == shape and not self.is_input(of)]
        for name, (own, mask) in itertools.product(self.again.absent, masks):
            with contextlib.suppress(Exception):
                call = self.ran(more={name: mask})[1][at]
                if not np.broadcast_to(allowed_of(call).any((1, 2)), call.shape[::3])[place]:
                    return [name, own]
        return []


def leaks(again: Again, watch: Callable[[], Any], named: Any = None) -> Iterator[tuple[Any, ...]]:
    """Index and place of a call, and a text: what moves though it may not, and what does not though it should. `named`:
    the weights of modules by role; None: a later call, of which only memories are asked for."""
    runs = _Reruns(again, watch)
    if not named:
        return (yield from runs.idle(True))
    outs, calls, numbers = runs.outs, runs.calls, np.flatnonzero(runs.numbers)
    count, _, queries, _ = calls[0].shape
    inputs = [[at for at, one in enumerate(runs.given) if (runs.is_input(at) or runs.is_of_sentences(at)) and
               one.shape[axis] > 1 and (axis == 0 or one.dim() == 2 + runs.numbers[at])] for axis in (0, 1)]
    sizes = {axis: runs.given[some[0]].shape[axis] for axis, some in enumerate(inputs) if some}

    def moved_in(axis: int, only: Sequence[int]) -> Any:
        return runs.ran(lambda at, one: _other(one, (slice(None),) * axis + ((one.shape[axis] + 1) // 2,))
                        if at in only else one) if only else (outs, calls)

    def of_size(axis: int, size: int) -> Any:      # (a table beside them counts something else)
        only = [at for at in inputs[axis] if runs.given[at].shape[axis] == size]
        return others[axis] if only == inputs[axis] else moved_in(axis, only)
    others = [moved_in(axis, inputs[axis]) for axis in (0, 1)]
    known = {*inputs[0], *inputs[1]}      # (one that is alone is seen to move outputs)
    stirred = any(_moved(one, two).any() for other in others for one, two in zip(outs, other[0]))
    yield from runs.idle(False, [*known] if len(known) == 1 and stirred else ())
    sides, at = [*map(runs.rows, others)], (count + 1) // 2
    first = {role: np.any([side[0][role] for side in sides], 0).any(0) for role in _ROLES}      # (no learned tokens)
    few = [count < 2 or any(len(rows) == count and rows[:, first[role]].all(1).any() and first[role].any() for
                            role, rows in side[0].items()) for side in sides]      # a sentence, all of whose rows move
    axis = next((one for one in (0, 1) if sizes.get(one) == count and few[one] and (
        sizes.get(1 - one) != count or not sides[one][0]["query"].any(1).all())), 2)
    with contextlib.suppress(Exception):      # a module that does not run so
        runs.learned(others)
    if axis < 2 and len({runs.given[one].shape[axis] for one in inputs[axis]}) > 1:
        others[axis] = of_size(axis, count)
        sides[axis] = runs.rows(others[axis])
    for part in (runs.unused(named), runs.weights_unused(), runs.columns(), runs.unblocked(), runs.heads(),
                 runs.masks_elsewhere(), runs.masks_unused(), runs.later()):
        with contextlib.suppress(Exception):
            yield from [*part]
    some = numbers if 1 < len(numbers) < 5 else []
    each = [runs.rows(runs.ran(lambda at, one: _other(one) if at == only else one)) for only in some]
    for index, several in enumerate(zip(*each)):
        query, key, value = ({at for at, side in enumerate(several) if side[role].any()} for role in _ROLES)
        if key and value and not key & value and query & (key | value):
            yield index, calls[index].where, "apart_made"
    found: Any = [(index, calls[index].where, "leak", (role,), ("sentence",), one, ("sentence",), at)
                  for index, side in enumerate(sides[axis] if axis < 2 else ()) for role, rows in side.items()
                  for one in _elsewhere(rows, at)
                  if np.any([rows.any(1) for rows in side.values() if len(rows) == count], 0).sum() > 1]
    yield from found[:1]
    for one, two in zip(outs, others[axis][0]) if axis < 2 and not found else ():
        place = next((place for place in (axis, 0) if one.dim() > place and one.shape[place] == count), None)
        strange = [] if place is None else _elsewhere(np.moveaxis(_moved(one, two), place, 0), at)
        if strange:
            yield 0, calls[0].where, "leak", ("out",), ("sentence",), strange[0], ("sentence",), at
        elif place is None and axis == 1 and one.dim() > 1 and one.shape[0] == sizes.get(0):
            yield 0, calls[0].where, "axis", 1
            found = True
    followed = axis < 2 and not found and all(
        call.node("key").path(MADE)[0].kind == "linear" and len(rows) == count and rows[at].any()
        for call, side in zip(calls, sides[axis]) for rows in side.values())
    if followed and runs.in_order(count, axis):
        yield 0, calls[0].where, "order_of_sentences"
    elif followed and axis == 1 and all(allowed_of(call).all() for call in calls) and \
            runs.in_order(sizes[0], 0) is False and not any(
                runs.given[number].stride(0) < runs.given[number].stride(1) for number in numbers):
        yield 0, calls[0].where, "axis_given"
    one_by_one = count == 1 and len(sizes) == 2 and sum(call.site == calls[0].site for call in calls) % sizes[0] == 0
    if axis == 2 and (count > 1 or one_by_one):
        yield from runs.spread(sizes, others) if 0 in sizes else ()
        if one_by_one and not any(_moved(one, two).any() for one, two in zip(outs, others[0][0])):
            yield 0, calls[0].where, "idle_argument", runs.again.names[inputs[0][0]] + f"[{(sizes[0] + 1) // 2}]"
        return
    yield from runs.masks_apart(count, axis) if axis < 2 and not found else ()
    axis = 1 - axis if axis < 2 else min(sizes)
    for index, (call, side) in enumerate(zip(calls, sides[axis])):
        rows, size = side["key"], call.shape[3]
        if rows.shape == (count, size) and (rows.sum(1) == 1).all() and not rows[:, (size + 1) // 2].any() and any(
                runs.given[of].shape[axis] == size for of in inputs[axis]) and not allowed_of(call).all():
            yield index, call.where, "order", ("key",)
    if sizes.get(axis) != queries:
        return
    at = (queries + 1) // 2
    reached = np.zeros((count, queries), bool)      # what may move
    reached[:, at] = True
    alone = [runs.rows(moved_in(axis, [only])) for only in inputs[axis] if only in some]
    for index, (call, side) in enumerate(zip(calls, sides[axis])):
        pairs = {(one, other) for of in (side, *(several[index] for several in alone)) for one, other in (
            ("value", "key"), ("query", "key")) if of[one].shape == of[other].shape and (
                of[one].any(1) & of[other].any(1) & ~(of[one] & of[other]).any(1)).any()}
        yield from ((index, call.where, "apart", (one,), (other,), ("tokens",)) for one, other in sorted(pairs))
        allowed = allowed_of(call).any(1)
        allowed |= ~allowed.any(2, keepdims=True)      # without a key, a row attends to all alike
        alike = call.shape[::2] == (count, queries) and side["key"].shape == reached.shape
        reached |= (allowed & reached[:, None]).any(2) if alike else True
    for one, two in zip(outs, of_size(axis, queries)[0]):
        if one.dim() > max(axis, 1 if count > 1 else 0) and one.shape[axis] == queries:
            moved = np.moveaxis(_moved(one, two), axis, 0)
            may = reached.T if moved.shape[1:2] == (count,) else reached.any(0)[:, None]
            strange = _elsewhere(moved.reshape(*may.shape, -1).any(2) & ~may, at)
            if strange:
                yield 0, calls[0].where, "leak", ("out",), ("token",), strange[0], ("token",), at
