"""What met in a call of attention, told from where each number came from: rows, heads and sentences that do not belong
together, masks that no argument explains; and from what moves where a module runs again. Lines of `unchecked`, no
mistakes."""
from __future__ import annotations

import contextlib
import copy
import io
import itertools
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .engine import LISTS, Array, as_numpy, is_tensor, torch_module
from .nodes import BLOCKED, LENGTHS, MADE, MOST_WEIGHTS, PROJECTED, Call, factor_of

TEXTS = {         # English and Chinese; what is said is a tuple: a name, and what stands in the gaps
    "passes": ("{} pass through {}, which is not followed: not checked", "{}经过 {}，无法跟踪：未检查"),
    "apart": ("{} and {} that meet are of different {}: not judged", "相遇的{}和{}来自不同的{}：未判断"),
    "order": ("{} are not in the order of their tokens: not judged", "{}没有按词元的顺序排列：未判断"),
    "same": ("{} and {} are one projection: not judged", "{}和{}是同一个投影：未判断"),
    "side": ("values come from what the queries come from, keys from elsewhere: not judged", "值与查询同源，键来自别处：未判断"),
    "zero": ("{} are multiplied by 0: not judged", "{}乘以了 0：未判断"), "blocks": ("{} of {} cells blocked", "挡住 {} / {} 格"),
    "output": ("what comes out stands in the place of other {}: not judged", "输出站在别的{}的位置上：未判断"),
    "loose": ("the output projection takes something that is not followed: not checked", "输出投影的输入无法跟踪：未检查"),
    "mask": ("mask that no argument explains: {} ({}): taken as given", "没有参数能解释的掩码：{}（{}）：视为已知"),
    "unmet": ("these weights meet no values that are followed: not checked", "这些权重没有与可跟踪的值相遇：未检查"),
    "rows": ("values are made from the rows that keys are made from, in another order: not judged",
             "值与键由同样的行得出，但次序不同：未判断"),
    "apart_made": ("keys and values come from different arguments: not judged", "键与值来自不同的参数：未判断"),
    "idle": ("{} of {} columns of the projection of {} change nothing: not judged", "{2}的投影中有 {0} / {1} 列不起作用：未判断"),
    "prefix": ("causal, but all see the first {}", "因果，但都能看到前 {} 个"), "segments": ("the same number in {}", "{} 中数字相同"),
    "lens": ("keys to the lengths {}", "长度为 {} 的键"), "ends": ("the last keys, {}", "最后的键：{}"),
    "near": ("keys at most {} away", "距离不超过 {} 的键"), "columns": ("the same keys for every query", "每个查询都是同样的键"),
    "both": ("causal, {}", "因果，{}"), "causal": ("causal", "因果"), "given": ("that of {}", "{} 的掩码"),
    "but": ("{} but for {} of {} cells, as [sentence, head, query, key] {}", "{}，只有 {} / {} 格不同，如 [句, 头, 查询, 键] {}"),
    "others": ("that of {}, of sentences {} for head 0 of each", "{} 的掩码，各句的头 0 用的是句 {} 的"),
    "repeated": ("that of {}, repeated in the other order of batch and heads", "{} 的掩码，按批次与头的另一种顺序重复"),
    "lengths": ("{} is handed over, and no mask follows from it: not checked", "传入了 {}，却没有由它得出的掩码：未检查"),
    "nan": ("NaN in the weights: sentences {}, heads {}, queries {}", "权重中有 NaN：句 {}，头 {}，查询 {}"),
    "dropout": ("dropout of {} was on without a gradient, these weights met no values (is eval() missing?): not judged",
                "没有梯度却开着 {} 的 dropout，与值相遇的不是这些权重（是否漏了 eval()？）：未判断"),
    "empty": ("queries that may attend to no key: sentences {}, heads {}, queries {}", "没有键可看的查询：句 {}，头 {}，查询 {}"),
    "equal": ("output as without the watch: equal to the bit", "输出与不监视时：逐位相同"),
    "differs": ("output as without the watch: where it is followed it differs by {} at {}", "输出与不监视时相同；跟踪时相差 {}，在 {}"),
    "shape": ("output as without the watch: where it is followed it is {}, not {}", "输出与不监视时相同；跟踪时形状为 {}，不是 {}"),
    "alone": ("output: not compared with that without the watch ({})", "输出：未与不监视时比较（{}）"),
    "leak": ("{} of {} {} change with {} {}: not judged", "{1} {2} 的{0}随{3} {4} 而变：未判断"),
    "axis": ("sentences are counted along axis {} of the input, and what comes out has none of them: not judged",
             "句子按输入的第 {} 轴计数，输出中却没有这些句子：未判断"),
    "sentence": ("sentence", "句子"), "token": ("token", "词元"), "out": ("outputs", "输出"),
    "query": ("queries", "查询"), "key": ("keys", "键"), "value": ("values", "值"), "context": ("the heads", "各头的结果"),
    "sentences": ("sentences", "句子"),
    "tokens": ("tokens", "词元"), "heads": ("heads", "头"), "mixed": ("what mixes columns", "混合各列的运算"),
}
_AXES = ("s", "ts", "bs", "bt", "sb", "bts", "hts", "tsb", "bhts", "tsbh")     # of masks that programs hand over
RUNNING = threading.local()      # `alone`: whether a module runs without the watches of this thread


def words(name: str, *parts: Any, language: str) -> str:
    filled = (words(*part, language=language) if isinstance(part, tuple) else part for part in parts)
    return TEXTS[name][language == "zh"].format(*filled)


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
        self.axes = {"tokens": walks, "heads": heads, "sentences": rest}
        self.sizes = {name: int(np.prod([lead[axis] for axis in axes])) for name, axes in self.axes.items()}
        self.ids = {name: sum((places[axis] * int(np.prod([lead[one] for one in axes if one > axis])) for axis in axes),
                              np.zeros_like(rows)) for name, axes in self.axes.items()}
        if not heads and columns is not None:
            kinds, ranks = np.unique(columns, return_inverse=True)
            self.ids["heads"] = np.broadcast_to(ranks.reshape(columns.shape)[..., None], rows.shape)
            self.sizes["heads"] = len(kinds)

    def differs(self, other: Stand, name: str) -> bool:
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


def said_of(call: Call, named: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    """What was not followed, or stands where it does not belong. `named`: weights of the module around, by role."""
    if call.final or call.value_node.kind == "":
        yield from [] if call.final else [("unmet",)]
        return
    stands: dict[str, Stand] = {}
    roles = ("query", "key", "value")
    for role in roles:
        path = call.node(role).path(MADE)
        if path[0].kept:
            yield "passes", (role,), path[0].kept
        elif role == "value" and any(step.kind == "turned" for step in path):
            yield "passes", (role,), ("mixed",)
        if factor_of(path) == 0:
            yield "zero", (role,)
        stand = stand_of(call, role)
        if stand is not None:
            stands[role] = stand
            if path[0].kind == "linear" and (np.diff(stand.ids["tokens"], axis=2) <= 0).any():
                yield "order", (role,)
    for one, other in (("value", "key"), ("query", "key")):
        for what in ("sentences", "heads", "tokens")[:2 + (one == "value")] if {one, other} <= set(stands) else ():
            if stands[one].differs(stands[other], what):
                yield "apart", (one,), (other,), (what,)
    for one, other in itertools.combinations(roles, 2):
        first, second = (call.index_of(role, ("linear",)) for role in (one, other))
        same = first is not None and second is not None and first[1] is second[1] and \
            np.array_equal(np.unique(first[0] % first[1].shape[-1]), np.unique(second[0] % first[1].shape[-1]))
        if same and {one, other} <= set(named):
            yield "same", (one,), (other,)
    yield from [("side",)] * call.other_side + [("rows",)] * call.out_of_order
    yield from [("dropout", f"{call.dropped:g}")] * (call.dropped > 0)
    if call.found is not None and len(call._parts) == 1 and np.isnan(as_numpy(call.found)).any():
        yield "nan", *_places(np.isnan(as_numpy(call.found)).any(-1))
    yield from _of_output(call, stands.get("query"), named)
    yield from masks_of(call, stands)


def _places(rows: Array) -> Iterator[str]:
    return (", ".join(map(str, np.unique(column))) for column in np.argwhere(rows).T)


def _of_output(call: Call, query: Stand | None, named: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    if call.lost:
        yield "passes", ("context",), call.lost
    elif call.output is None and not call.in_parts and "output" in named and id(named["output"][1]) in call.called:
        yield ("loose",)
    merged = call.merged(call._parts)
    if merged is None or query is None or len(call._parts) > 1:
        return
    sentences, heads, queries, _ = call.shape
    rows = merged // (merged.size // (sentences * heads * queries))      # [sentence][head][query]
    at = np.array(np.unravel_index(rows[:, 0], (sentences, heads, queries)))[[0, 2]]
    places = np.zeros((sentences, 1, queries), int)
    places[at[0], 0, at[1]] = np.arange(len(rows))
    lead = call.output[0].shape[:-1]
    found = Stand(places, lead if np.prod(lead) == len(rows) else (len(rows),), None)
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
        repeated = any(np.take_along_axis(fits, order[..., None], 2).all() for order in orders)
        return ("repeated", name) if repeated else ("others", name, ", ".join(map(str, fits[:, 0].argmax(1))))
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
    if new == queries:
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
    causal, early = (np.arange(whole) <= one[:, None] for one in (at, np.arange(queries)))      # (which C++ names)
    handed: list[tuple[str, list[Array]]] = []
    for name, tensor in (*call.masks, *call.handed, *call.given):
        if 0 < tensor.numel() <= MOST_WEIGHTS and not tensor.is_complex():
            array, sizes = as_numpy(tensor), {"b": count, "h": heads, "t": queries, "s": keys}
            some = [*map(of_all, _allowed_by(call, name, array, sizes))]
            if queries < whole and (at < whole).all() and array.shape[-1:] == (whole,):  # some rows are meant
                forms = _allowed_by(call, name, array, {**sizes, "t": whole, "s": whole})
                some += [one[:, :, at] if one.shape[2] == whole else one for one in forms]
            handed.append((name, some))
    of_names = {name for name, _ in (*call.masks, *call.given)}
    implied = [(name, one) for name, some in handed for one in some if (one | ~allowed).all() and not one.all()]
    window = allowed.any(-1).all() and bool((allowed == (causal & (
        np.arange(whole) > at[:, None] - allowed.sum(-1).max()))).all())
    explained = np.ones_like(allowed)
    for one in (*(one for _, one in implied), *(one for one in (causal, early) if (one | ~allowed).all())):
        explained = explained & one
    if not window and (explained != allowed).any():
        empty = ~allowed.any(-1)
        masks = [(name, one) for name, some in handed for one in some if not one.all()]
        if empty.any():
            yield "empty", *_places(empty)
        rows = [np.unique(np.linspace(0, size - 1, 8).astype(int)) for size in (queries, whole)]      # at most 8
        drawn = "/".join("".join("□■"[int(cell)] for cell in row) for row in allowed[0, 0][np.ix_(*rows)])
        yield "mask", _rule(allowed | empty[..., None] & causal, at, masks), drawn
    adds = any(step.kind in ("add", "times") for part in call._parts for step in part.path)
    for name, some in handed:
        if name in of_names or name in dict(implied) or not re.search(LENGTHS, name):
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


class Again:
    """A call of a module that can be made again, on copies of it, which share its parameters, and of its arguments."""

    def __init__(self, module: Any, args: Any, kwargs: Any, mode: Any) -> None:
        """`mode`: the class of watches. Any error: it cannot run so."""
        torch, self.mode, modules, given = torch_module(), mode, [*module.modules()], parts_of([args, kwargs])
        strange = [type(one).__name__ for one in (*given, *modules) if type(one).__module__.startswith(
            ("torch.fx", "torch._subclasses", "torch._functorch", "torch.jit", "torch._dynamo"))]
        if strange or torch._C._get_tracing_state() is not None:
            raise TypeError(strange[0] if strange else "torch.jit.trace")
        if any(one._forward_hooks or one._forward_pre_hooks or one._backward_hooks for one in modules):
            raise TypeError("hooks")
        shared = [*module.parameters(), *(one for one in given if is_tensor(one) and not one.is_leaf)]
        self.shared = {id(one): one for one in shared}
        self.call = copy.deepcopy((module, args, kwargs), {**self.shared})

    def run(self, watch: Any = None, change: Callable[[Any], Any] | None = None, last: bool = False,
            others: Mapping[int, Any] = {}) -> Any:
        """What it gives, of changed arguments and with one watch alone, or without any. `last`: it runs no more;
        `others`: what stands in the place of parameters, by id."""
        torch = torch_module()
        module, args, kwargs = self.call if last else copy.deepcopy(self.call, {**self.shared, **others})
        with torch.random.fork_rng(range(torch.cuda.device_count()) if torch.cuda.is_initialized() else ()), \
                contextlib.redirect_stdout(io.StringIO()), contextlib.ExitStack() as stack:
            while type(torch.overrides._get_current_function_mode()) is self.mode:
                stack.enter_context(torch.overrides._pop_mode_temporarily())
            stack.callback(setattr, RUNNING, "alone", getattr(RUNNING, "alone", False))
            RUNNING.alone = True
            if change is not None:
                torch.manual_seed(0)
                args, kwargs = changed([args, kwargs], change)
                torch.manual_seed(0)
            with contextlib.nullcontext() if watch is None else watch:
                return module(*args, **kwargs)


def apart(plain: Any, followed: Any) -> tuple[str, ...]:
    """How two outputs differ; "equal": in no bit, NaN stands where NaN stands."""
    torch = torch_module()
    for one, two in zip(parts_of(plain), parts_of(followed)):
        if not (is_tensor(one) and is_tensor(two)) or one.is_meta or one.is_quantized or one.layout != torch.strided:
            continue
        if one.shape != two.shape:
            return "shape", str(tuple(two.shape)), str(tuple(one.shape))
        cells = as_numpy((one != two) & ~(one.isnan() & two.isnan()))
        if cells.any():
            far = np.where(cells, np.nan_to_num(as_numpy((one * 1.0 - two * 1.0).abs()), nan=np.inf), 0)
            return "differs", f"{far.max():.3g}", str([*map(int, np.unravel_index(far.argmax(), far.shape))])
    return ("equal",)


def _moved(one: Any, other: Any) -> Array:
    one, other = as_numpy(one), as_numpy(other)
    return np.abs(one - other) > 1e-3 * (1e-3 + np.abs(one).max(initial=0))


def _elsewhere(moved: Array, at: int) -> list[int]:
    """Where along the first axis something moved, but for one place."""
    return [int(one) for one in np.flatnonzero(moved.reshape(len(moved), -1).any(1)) if one != at]


def _idle(again: Again, calls: Sequence[Call], ran: Callable[..., Any],
          outs: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """Columns of a projection, as those of a head, that no query, key or value has, and that change no output."""
    used: dict[int, Array] = {}
    found = [(at, role, call.index_of(role, ("linear",))) for at, call in enumerate(calls) for role in
             ("query", "key", "value") if len(call._parts) == 1]
    known = [(at, role, *one) for at, role, one in found if one is not None and one[1].info.weight.dim() == 2]
    for _, _, index, base in known:
        own = used.setdefault(id(base.info.weight), np.zeros(base.shape[-1], bool))
        own[np.unique(index % base.shape[-1])] = True
    for at, role, _, base in known:
        weight, own = base.info.weight, used.pop(id(base.info.weight), np.ones(1, bool))
        for axis in (0, 1) if id(weight) in again.shared and not own.all() else ():
            if weight.shape[axis] != len(own):
                continue
            other = weight.detach().clone()
            other.transpose(0, axis)[np.flatnonzero(~own)] += torch_module().randn(weight.shape[1 - axis]).to(weight)
            after = ran(-1, None, {id(weight): torch_module().nn.Parameter(other)})[0]
            if not any(_moved(one, two).any() for one, two in zip(outs, after)):
                yield at, calls[at].where, "idle", int((~own).sum()), len(own), (role,)
                break


def leaks(again: Again, watch: Callable[[], Any]) -> Iterator[tuple[Any, ...]]:
    """Index and place of a call, and a text: what moves though it may not where a sentence or a token is changed, and
    what does not though it should. The module runs three times: as it did, and with one entry along each of the first
    two axes of its inputs changed; once more for each of several inputs, and for columns that nothing seems to use."""
    torch, sizes, roles = torch_module(), {}, ("query", "key", "value")      # type: Any, dict[int, int], Any

    def ran(axis: int, only: Any = None, others: Mapping[int, Any] = {}) -> tuple[list[Any], Any]:
        inputs = itertools.count()

        def change(one: Any) -> Any:
            if only is not None and is_tensor(one) and one.is_floating_point() and one.dim() > 1:
                return one + torch.randn_like(one) if next(inputs) == only else one
            number, ids = is_tensor(one) and one.is_floating_point(), getattr(one, "dtype", None) == torch.int64
            known = axis >= 0 and (number and one.dim() > 1 + axis or ids and one.dim() == 2 and bool(one.max() > 1))
            if not known or one.shape[axis] < 2 or number and bool(((one <= BLOCKED) | (one == 1)).any()):      # a mask
                return one
            one, row = one.clone(), (one.shape[axis] + 1) // 2
            old = one.select(axis, row)
            old.copy_(old + torch.randn_like(old) if number else (old + 1) % (one.max() + 1))
            sizes.setdefault(axis, one.shape[axis])
            return one
        seen = watch()
        with torch.no_grad():
            out = parts_of(again.run(seen, change, others=others))
        return [one for one in out if is_tensor(one) and one.is_floating_point()], seen.sequence()

    (outs, calls), *others = ran(-1), ran(0), ran(1)
    count, _, queries, _ = calls[0].shape
    few = []      # whether the entry of an axis is a sentence: all of its rows move, and not all sentences do

    def moves(after: Any) -> list[dict[str, Array]]:      # (sentences, rows) of each call
        return [{role: _moved(getattr(one, role), getattr(two, role)).any((1, 3)) for role in roles}
                for one, two in zip(calls, after)]
    sides, at, found = [moves(after) for _, after in others], (count + 1) // 2, False
    for side in sides:
        few.append(any(len(rows) == count and rows[at].all() for rows in side[0].values()) if count > 1 else True)
    axis = next((one for one in (0, 1) if sizes.get(one) == count and few[one] and (
        sizes.get(1 - one) != count or not sides[one][0]["query"].any(1).all())), 2)
    yield from _idle(again, calls, ran, outs)
    inputs = [one for one in parts_of(again.call[1:]) if is_tensor(one) and one.is_floating_point() and one.dim() > 1]
    each = [moves(ran(-1, only)[1]) for only in range(len(inputs))] if 1 < len(inputs) < 5 else []
    for index, several in enumerate(zip(*each)):
        query, key, value = ({at for at, side in enumerate(several) if side[role].any()} for role in roles)
        if key and value and not key & value and query & (key | value):
            yield index, calls[index].where, "apart_made"
    for index, side in enumerate(sides[axis] if axis < 2 else ()):
        both = np.any([rows.any(1) for rows in side.values() if len(rows) == count], 0)
        strange = [(role, one) for role, rows in side.items() for one in _elsewhere(rows, at) if both.sum() > 1]
        for role, one in strange[:1] if not found else ():
            found = True
            yield index, calls[index].where, "leak", (role,), ("sentence",), one, ("sentence",), at
    for one, two in zip(outs, others[axis][0]) if axis < 2 and not found else ():
        place = next((place for place in (axis, 0) if one.dim() > place and one.shape[place] == count), None)
        strange = [] if place is None else _elsewhere(np.moveaxis(_moved(one, two), place, 0), at)
        if strange:
            yield 0, calls[0].where, "leak", ("out",), ("sentence",), strange[0], ("sentence",), at
        elif place is None and axis == 1 and one.dim() > 1 and one.shape[0] == sizes.get(0):
            yield 0, calls[0].where, "axis", 1
    if axis == 2 and count > 1:
        return
    axis = 1 - axis if axis < 2 else min(sizes)
    if sizes.get(axis) != queries:
        return
    at = (queries + 1) // 2
    reached = np.zeros((count, queries), bool)      # what may move
    reached[:, at] = True
    for index, (call, side) in enumerate(zip(calls, sides[axis])):
        for one, other in (("value", "key"), ("query", "key")):
            if side[one].shape == side[other].shape and (side[one].any(1) & side[other].any(1) & ~(
                    side[one] & side[other]).any(1)).any():
                yield index, call.where, "apart", (one,), (other,), ("tokens",)
        allowed = allowed_of(call).any(1)
        allowed |= ~allowed.any(2, keepdims=True)      # without a key, a row attends to all alike
        alike = call.shape[::2] == (count, queries) and side["key"].shape == reached.shape
        reached |= (allowed & reached[:, None]).any(2) if alike else True
    for one, two in zip(outs, others[axis][0]):
        if one.dim() > max(axis, 1 if count > 1 else 0) and one.shape[axis] == queries:
            moved = np.moveaxis(_moved(one, two), axis, 0)
            may = reached.T if moved.shape[1:2] == (count,) else reached.any(0)[:, None]
            strange = _elsewhere(moved.reshape(*may.shape, -1).any(2) & ~may, at)
            if strange:
                yield 0, calls[0].where, "leak", ("out",), ("token",), strange[0], ("token",), at
