"""What met in a call of attention, told from where each number came from: rows, heads and sentences that do not belong
together, and masks that no argument explains. These are lines of `unchecked`, no mistakes."""
from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .engine import Array, as_numpy
from .nodes import BLOCKED, MADE, MOST_WEIGHTS, PROJECTED, Call

Said = tuple      # the name of a text, and what stands in its gaps
TEXTS = {         # English and Chinese
    "passes": ("{} pass through {}, which is not followed: not checked", "{}经过 {}，无法跟踪：未检查"),
    "apart": ("{} and {} that meet are of different {}: not judged", "相遇的{}和{}来自不同的{}：未判断"),
    "order": ("{} are not in the order of their tokens: not judged", "{}没有按词元的顺序排列：未判断"),
    "same": ("{} and {} are one projection: not judged", "{}和{}是同一个投影：未判断"),
    "side": ("values are made from what the queries are made from, keys from another array: not judged",
             "值来自查询所用的数组，键来自另一个数组：未判断"),
    "zero": ("{} are multiplied by 0: not judged", "{}乘以了 0：未判断"),
    "output": ("what comes out stands in the place of other {}: not judged", "输出站在别的{}的位置上：未判断"),
    "loose": ("the output projection takes something that is not followed from the values: not checked",
              "输出投影的输入无法从值跟踪到：未检查"),
    "mask": ("mask that no argument explains: {} ({}): taken as given", "没有参数能解释的掩码：{}（{}）：视为已知"),
    "lens": ("keys to the lengths {}", "长度为 {} 的键"), "ends": ("the last keys, {}", "最后的键：{}"),
    "near": ("keys at most {} away", "距离不超过 {} 的键"), "prefix": ("causal, and keys 0 to {}", "因果，以及 0 到 {} 的键"),
    "texts": ("texts one behind another", "前后相接的文本"), "columns": ("the same keys for every query", "每个查询都是同样的键"),
    "both": ("causal, {}", "因果，{}"), "causal": ("causal", "因果"), "given": ("that of {}", "{} 的掩码"),
    "but": ("{}, but for {} of {} cells, the first: sentence {}, head {}, query {}, key {}",
            "{}，只有 {} / {} 格不同，第一格：句 {}，头 {}，查询 {}，键 {}"),
    "others": ("that of {}, of sentences {} for head 0 of each", "{} 的掩码，各句的头 0 用的是句 {} 的"),
    "repeated": ("that of {}, repeated in the other order of batch and heads", "{} 的掩码，按批次与头的另一种顺序重复"),
    "blocks": ("{} of {} cells are blocked", "{} / {} 格被挡住"),
    "lengths": ("{} is handed over, and no mask follows from it: not checked", "传入了 {}，却没有由它得出的掩码：未检查"),
    "nan": ("NaN in the weights: {}", "权重中有 NaN：{}"),
    "dropout": ("dropout was on without a gradient, so the weights that met the values are others: not judged",
                "没有梯度却开着 dropout，与值相遇的是另外的权重：未判断"),
    "query": ("queries", "查询"), "key": ("keys", "键"), "value": ("values", "值"), "context": ("the heads", "各头的结果"),
    "sentences": ("sentences", "句子"), "tokens": ("tokens", "词元"), "heads": ("heads", "头"),
}


_OF_ROLES = {"passes", "apart", "order", "same", "zero", "output"}
_NAMES = {"query", "key", "value", "context", "sentences", "tokens", "heads"}


def words(name: str, *parts: Any, language: str) -> str:
    """A text with its gaps filled; parts that are texts, or roles, are words of that language."""
    at = language == "zh"
    parts = tuple((part,) if name in _OF_ROLES and part in _NAMES else part for part in parts)
    return TEXTS[name][at].format(*(words(*part, language=language) if isinstance(part, tuple) else part
                                    for part in parts))


class Stand:
    """Of the rows of an operand (sentences, heads, rows): which sentence, head and token of its source each is."""

    def __init__(self, rows: Array, lead: Sequence[int], columns: Array | None) -> None:
        """`rows`: of an array with the axes `lead`, counted through; `columns`: the first one of each head."""
        count, _, length = rows.shape
        if len(lead) == 1 and count > 1 and lead[0] == count * length:      # tokens of all sentences in one axis
            batch_first = (rows // length == (rows // length)[..., :1]).all()
            lead = (count, length) if batch_first else (length, count)
        places = np.array(np.unravel_index(rows, tuple(lead)))
        walks = [axis for axis, found in enumerate(places) if (found != found[..., :1]).any()]
        heads = [axis for axis, found in enumerate(places) if axis not in walks and (found != found[:, :1]).any()]
        rest = [axis for axis in range(len(lead)) if axis not in (*walks, *heads)]
        self.sizes, self.ids = {}, {}      # type: dict[str, int], dict[str, Array]
        for name, axes in (("tokens", walks), ("heads", heads), ("sentences", rest)):
            size = tuple(lead[axis] for axis in axes)
            self.ids[name] = np.ravel_multi_index(tuple(places[axes]), size) if axes else np.zeros_like(rows)
            self.sizes[name] = int(np.prod(size))
        if not heads and columns is not None:
            kinds, ranks = np.unique(columns, return_inverse=True)
            self.ids["heads"] = np.broadcast_to(ranks.reshape(columns.shape)[..., None], rows.shape)
            self.sizes["heads"] = len(kinds)

    def differs(self, other: Stand, name: str) -> bool:
        """Where both count the same things."""
        one, two = self.ids[name], other.ids[name]
        return self.sizes[name] == other.sizes[name] and one.shape == two.shape and bool((one != two).any())


def stand_of(call: Call, role: str) -> Stand | None:
    found = call.index_of(role, (*PROJECTED, "source"))
    if found is None or found[0].size == 0:
        return None
    index, base = found
    rows, columns = np.divmod(index, base.shape[-1])
    first = columns.min((-2, -1)) if base.kind == "linear" else None
    return Stand(rows[..., 0], base.shape[:-1] or (1,), first) if (rows == rows[..., :1]).all() else None


def said_of(call: Call, named: Mapping[str, Any]) -> Iterator[Said]:
    """What was not followed, or stands where it does not belong. `named`: weights of the module around, by role."""
    if call.final or call.value_node.kind == "":
        return
    stands: dict[str, Stand] = {}
    roles = ("query", "key", "value")
    for role in roles:
        path = call.node(role).path(MADE)
        if path[0].kept:
            yield "passes", role, path[0].kept
        elif role == "value" and any(step.kind == "turned" for step in path):
            yield "passes", role, "an operation that mixes columns"
        if any(step.kind == "scale" and step.info == 0 for step in path):
            yield "zero", role
        stand = stand_of(call, role)
        if stand is not None:
            stands[role] = stand
            tokens = stand.ids["tokens"]
            if path[0].kind == "linear" and tokens.shape[2] > 1 and (np.diff(tokens, axis=2) <= 0).any():
                yield "order", role
    for one, other in (("value", "key"), ("query", "key")):
        if one in stands and other in stands:
            for what in ("sentences", "heads", "tokens") if one == "value" else ("sentences", "heads"):
                if stands[one].differs(stands[other], what):
                    yield "apart", one, other, what
    for one, other in itertools.combinations(roles, 2):
        first, second = (call.index_of(role, ("linear",)) for role in (one, other))
        same = first is not None and second is not None and first[1] is second[1] and \
            np.array_equal(np.unique(first[0] % first[1].shape[-1]), np.unique(second[0] % first[1].shape[-1]))
        if same and {one, other} <= set(named):
            yield "same", one, other
    if call.other_side:
        yield ("side",)
    if call.dropped:
        yield ("dropout",)
    yield from _of_output(call, stands.get("query"), named)
    yield from masks_of(call)


def _of_output(call: Call, query: Stand | None, named: Mapping[str, Any]) -> Iterator[Said]:
    """Whether what comes out stands where its query stood."""
    if call.lost:
        yield "passes", "context", call.lost
    elif call.output is None and not call.in_parts and "output" in named and id(named["output"][1]) in call.called:
        yield ("loose",)
    merged = call.merged(call._parts)
    if merged is None or query is None or len(call._parts) > 1:
        return
    sentences, heads, queries, _ = call.shape
    rows = merged // (merged.max() + 1 and merged.size // (sentences * heads * queries))      # [sentence][head][query]
    at = np.array(np.unravel_index(rows[:, 0], (sentences, heads, queries)))[[0, 2]]
    places = np.zeros((sentences, 1, queries), int)
    places[at[0], 0, at[1]] = np.arange(len(rows))
    lead = call.output[0].shape[:-1]
    found = Stand(places, lead if np.prod(lead) == len(rows) else (len(rows),), None)
    for what in ("sentences", "tokens"):
        one, two = found.ids[what][:, 0], query.ids[what][:, 0]
        if found.sizes[what] == query.sizes[what] and (one != two).any():
            yield "output", what
            return


_AXES = ("s", "ts", "bs", "bt", "sb", "bts", "tsb", "bhts", "tsbh")     # of masks that programs hand over


def _allowed_by(call: Call, name: str, array: Array, sizes: Mapping[str, int]) -> Iterator[Array]:
    """What a mask may mean, (B or 1, H or 1, T or 1, S or 1), true where a query may attend."""
    if array.ndim == 1 and array.dtype.kind in "iu" and len(array) == sizes["b"] and "len" in name:
        yield (np.arange(sizes["s"]) < array[:, None])[:, None, None]
    numbers = array.dtype.kind == "b" or np.isin(array, (0, 1)).all()
    shared = call.product.shared
    if array.ndim == 3 and len(shared) == 1 and len(array) == shared[0] > sizes["b"]:      # a mask for each head
        array = array[np.array(call.places)[..., 0]]
    for axes in _AXES:
        if len(axes) == array.ndim and all(size in (1, sizes[axis]) for axis, size in zip(axes, array.shape)):
            placed = array.transpose([axes.index(axis) for axis in "bhts" if axis in axes])
            placed = placed[tuple(slice(None) if axis in axes else None for axis in "bhts")]
            yield from (placed != 0, placed == 0) if numbers else (placed > BLOCKED,)


def _near(rules: Sequence[tuple[Any, Array]], allowed: Array) -> Any:
    """The rule that makes a mask, or all but a few cells of it; None."""
    apart = [(int((rule != allowed).sum()), name, rule) for name, rule in rules]
    count, name, rule = min(apart, key=lambda one: one[0], default=(allowed.size, None, allowed))
    if count > max(2, allowed.size // 50):
        return None
    cell = [int(at) for at in np.argwhere(np.broadcast_to(rule != allowed, allowed.shape))[0]] if count else []
    return ("but", name, count, allowed.size, *cell) if count else name


def _of_others(masks: Sequence[tuple[str, Array]], allowed: Array) -> Any:
    """Of which sentence's mask each head of each sentence has, where that is not its own."""
    sentences, heads = allowed.shape[:2]
    for name, mask in masks if sentences > 1 else ():
        mask = np.broadcast_to(mask, (sentences, 1, *allowed.shape[2:]))[:, 0] if mask.shape[1] == 1 else None
        if mask is None or (mask == mask[:1]).all():
            continue
        fits = (allowed[:, :, None] == mask[None, None]).all((-2, -1))      # [sentence][head][whose]
        if not fits.any(2).all() or fits[np.arange(sentences), :, np.arange(sentences)].all():
            continue
        at = np.arange(sentences * heads).reshape(sentences, heads)
        orders = at % sentences, (np.arange(heads) * sentences + np.arange(sentences)[:, None]) // heads
        repeated = any(np.take_along_axis(fits, order[..., None], 2).all() for order in orders)
        return ("repeated", name) if repeated else ("others", name, ", ".join(map(str, fits[:, 0].argmax(1))))
    return None


def _rule(allowed: Array, causal: Array, masks: Sequence[tuple[str, Array]]) -> Any:
    """The words of a rule that would make this mask."""
    _, _, queries, keys = allowed.shape
    away = np.abs(np.arange(keys) - np.arange(queries)[:, None] - (keys - queries))
    columns = allowed.any(2, keepdims=True)
    counts = ", ".join(str(int(one.sum())) for one in columns[:, 0, 0])
    kind: Any = ("columns",)
    for name, first in (("lens", columns), ("ends", columns[..., ::-1])):
        kind = (name, counts) if (np.diff(first.astype(int), axis=-1) <= 0).all() else kind
    others = _of_others(masks, allowed)
    if others or (allowed == columns).all():
        return others or kind
    if (allowed == (columns & causal)).all():
        return "both", kind
    near, seen = int(away[allowed.any((0, 1))].max(initial=0)), allowed[..., :1, :].all((0, 1, 2))
    prefix = int(seen.argmin()) if not seen.all() else keys
    rules: list[tuple[Any, Array]] = [("causal", np.broadcast_to(causal, allowed.shape))]
    rules += [(("given", name), np.broadcast_to(mask, allowed.shape)) for name, mask in masks]
    exact = [(("near", near), away <= near), (("prefix", prefix - 1), causal | (np.arange(keys) < prefix))]
    alike = queries == keys and (allowed == allowed.swapaxes(-1, -2)).all() and \
        (np.matmul(allowed.astype(np.float32), allowed) > 0)[~allowed].sum() == 0 and allowed.any(-1).all()
    named = next((name for name, rule in exact if (allowed == rule).all()), None)
    blocked = ("blocks", int((~allowed).sum()), allowed.size)
    return named or (("texts",) if alike else None) or _near(rules, allowed) or blocked


def _drawn(allowed: Array) -> str:
    """Small: at most 8 rows and columns of the first sentence and head."""
    rows, columns = (np.unique(np.linspace(0, size - 1, 8).astype(int)) for size in allowed.shape[2:])
    return "/".join("".join("□■"[int(cell)] for cell in row) for row in allowed[0, 0][np.ix_(rows, columns)])


def masks_of(call: Call) -> Iterator[Said]:
    """A mask that no argument explains, and arguments from which none follows."""
    count, _, queries, keys = call.shape
    heads = sum(part.heads for part in call._parts)
    if call.final or count * heads * queries * keys > MOST_WEIGHTS or any(step.kind == "opaque" for step in call.path):
        return
    mask = call.mask
    allowed = np.ones((1, 1, 1, 1), bool) if mask is None else mask if mask.dtype == bool else ~np.isneginf(mask)
    allowed = np.broadcast_to(allowed, (count, heads, queries, keys))
    causal = np.arange(keys) <= np.arange(queries)[:, None] + keys - queries
    early = np.arange(keys) <= np.arange(queries)[:, None]      # (that is named where it is wrong)
    sizes = {"b": count, "h": heads, "t": queries, "s": keys}
    handed = [(name, [*_allowed_by(call, name, as_numpy(tensor), sizes)])
              for name, tensor in (*call.masks, *call.handed, *call.given)
              if 0 < tensor.numel() <= MOST_WEIGHTS and not tensor.is_complex()]
    implied = [(name, one) for name, some in handed for one in some if (one | ~allowed).all() and not one.all()]
    window = allowed.any(-1).all() and bool((allowed == (causal & (
        np.arange(keys) > np.arange(queries)[:, None] + keys - queries - allowed.sum(-1).max()))).all())
    explained = np.ones_like(allowed)
    for one in (*(one for _, one in implied), *(one for one in (causal, early) if (one | ~allowed).all())):
        explained = explained & one
    if not window and (explained != allowed).any():
        masks = [(name, one) for name, some in handed for one in some]
        yield "mask", _rule(allowed, causal, masks), _drawn(allowed)
    used = {name for name, _ in implied}
    adds = any(step.kind in ("add", "times") for part in call._parts for step in part.path)
    for name in {name for name, _ in call.handed} - used:
        some = next(some for other, some in handed if other == name) if name in dict(handed) else []
        if some and not some[0].all() and not (adds and "bias" in name):
            yield "lengths", name
