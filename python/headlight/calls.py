"""One call of attention: its arrays, and how it came about."""
from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from .engine import Array, Error, answer_to, as_numpy, is_tensor, role_of, roles_of, side_by_side, torch_module
from .nodes import (BLOCKED, LARGE, MADE, NOTHING, PROJECTED, Move, Node, Place, Product, Site, Weights, axes_after,
                    factor_of, index_after, layout_of, masks_around, moved, moves_of)

MOST_WEIGHTS = 1 << 20      # numbers of a sentence's weights that are kept
OTHER_SIDE = r"mem|enc|context|ctx|cross|cond|src|source|kv|key"     # in names of what cross-attention has keys of


class Call:
    """One call of attention as it ran: queries, keys, values, mask, scale, and where. A list of heads is one call.

    Arrays are numpy float32: (sentences, heads, T, …). `where` is `file:line (module)` of the softmax."""

    def __init__(self, path: list[Node], modules: Sequence[Any], module: str, function: str, site: Site) -> None:
        """`path`: product … input of the softmax, or of the `function` in its place."""
        self.path, self.product, self.function, self.site = path, path[0].info, function, site
        self.modules, self.module = modules, module    # around it, the innermost first; its path: encoder.layers.0.attention
        # Which index along the product's shared axes is which [sentence][head]; what forbids to judge more: code, detail, where.
        self.places, self.final = layout_of(self.product)
        self.masks = masks_around()               # by the names of arguments
        self.weight_path: list[Node] = []         # softmax … what met the values
        self.softmax = self.value_node = self.context = NOTHING      # the weights; the values; what they give
        self.dim_axes: frozenset[int] = frozenset()   # of the product, over which the softmax runs
        self.flipped = False                      # keys are the left operand
        self.contracted: str | None = None        # "a" or "b": whose rows met the values
        self.context_product: Any = None          # the product with the values, if its sentences and heads are known
        self.context_groups: list[list[Place]] = []   # their places in it, as in `places`
        self.value_side = "b"                     # which of its operands the values are
        self.value_tensor: Any = None             # (sentences, heads, S, d_v)
        self.fused_output: Any = None             # the context of a fused kernel
        self.output: Any = None                   # heads side by side, and the moves to it from the context
        self.join: Any = itemgetter(0)            # how contexts of single heads became one
        self._parts = [self]                      # of heads that were computed one by one, each a call: all of them
        self.merge_site: Site | None = None
        self.tensors = {side: tensor.detach().clone() for side, tensor in self.product.operands.items()}
        self.notes: list[Sequence[str]] = []      # as Tracer.note has them
        self.observed: dict[tuple[str, ...], Site | None] = {}      # by codes of what is wrong, and the gaps of their words
        self.sites: dict[str, Site | None] = {}   # by the beginning of a code, or a code and a role
        self.called: set = set()                  # ids of the weights that were used around it
        self.inputs: list[Any] = []               # what queries and keys were projected from, weakly, and their names
        self.block, self.goes_on = 0, False       # in which it ran; whether what was added to the output was seen
        self.whole = False                        # values were met, or none will be

    def observe(self, code: str, site: Site | None, *details: str) -> None:
        """What is wrong and seen without numbers, where it happened last; the program has the words."""
        self.observed[(code, *(details or ("",)))] = self.sites[code] = site

    def add_to(self, other: Any) -> None:
        """The residual stream goes on with what the queries are made from; not with what the keys are."""
        self.goes_on = True
        if self.inputs and self.inputs[0]() is other:
            self.observe("sides_swapped", self.inputs[2], *self.inputs[1], self.inputs[1][1])

    def sides(self) -> tuple[str, str]:
        """The operands that count queries and keys."""
        return ("b", "a") if self.flipped else ("a", "b")

    def named(self, role: str) -> str | None:
        """What is at work as query, key or value, named as the weights it was projected by, else as the caller's variables."""
        step, index = self.node(role).path(MADE)[0], self.index_of(role)
        called = [step.info.name] if step.kind == "linear" else step.info.names["b"] if step.kind == "product" else []
        packed = roles_of(called[0]) if step.kind == "linear" else ()
        if index is not None and len(packed) == 3 and index[1].shape[-1] % 3 == 0:
            width = index[1].shape[-1]
            parts = np.unique(index[0] % width // (width // 3))
            return packed[parts[0]] if len(parts) == 1 else None
        variables = [] if role == "value" else self.product.names[self._side(role)]
        found = ({role_of(name) for name in some} - {None} for some in (called, variables))
        return next((roles.pop() for roles in found if len(roles) == 1), None)

    def swapped(self) -> bool:
        return (self.named("query"), self.named("key")) == ("key", "query")

    def meet(self, product: Product, side: str, axes: Sequence[frozenset[int]]) -> None:
        """Along which rows the weights, an operand of the product with these axes, meet the values."""
        summed, rows = (frozenset().union(*(axes[axis] for axis in group[side])) for group in (product.summed, product.free))
        free = {name: set(axes) for name, axes in self.product.out_free.items()}
        self.contracted = next((one for one, other in (("b", "a"), ("a", "b"))
                                if summed & free[one] or (not summed and rows & free[other])), None)

    def orient(self) -> None:
        """Over the rows of keys go both the softmax and the sum over values; where these differ, names decide."""
        normalised = next((side for side in "ba" if self.dim_axes == frozenset(self.product.out_free[side])), None)
        agree = normalised is not None and normalised == self.contracted
        self.flipped = normalised == "a" if agree else self.swapped()

    def wrong_axis(self) -> str | None:
        """Over what the softmax goes, where that is not the keys alone."""
        query, key = (set(self.product.out_free[side]) for side in self.sides())
        if not self.dim_axes or self.dim_axes == key:
            return None
        along = {axis: {place[at] for place in self.places[0]} for at, axis in enumerate(self.product.out_shared)}
        names = {"the keys" if axis in key else "the queries" if axis in query else        # heads of one sentence differ
                 "the heads" if len(along[axis]) > 1 else "the sentences of the batch" for axis in self.dim_axes}
        return " and ".join(sorted(names))

    def joined(self, of_part: Callable[[Call], Array | None]) -> Any:
        """Of all heads; None where one of them has none."""
        arrays = [of_part(part) for part in self._parts]
        return None if any(array is None for array in arrays) else np.concatenate(arrays, axis=1)

    query = property(lambda self: self.joined(lambda part: part.operand("query")),
                     doc="(sentences, heads, T, d_k), as projected, before the scale.")
    key = property(lambda self: self.joined(lambda part: part.operand("key")), doc="(sentences, heads, S, d_k).")
    value = property(lambda self: self.joined(lambda part: part.operand("value")),
                     doc="(sentences, heads, S, d_v); None where the weights met no values.")
    scale = property(lambda self: factor_of(self.path) * self.factor("query") * self.factor("key"),
                     doc="What the scores were multiplied by, on all the way from the projections to the softmax.")
    where = property(lambda self: str(self.site) + (f" ({self.module})" if self.module else ""),
                     doc="`mine.py:41 (encoder.layers.0.attention)`.")
    heads = property(lambda self: len(self.places[0]) if self.places else 0, doc="Of this part.")

    @property
    def mask(self) -> Array | None:
        """(sentences, 1 or heads, T, S): bool, true = may attend; or float32, added to the scores; None: no mask."""
        first = self.own_mask()
        alone = len(self._parts) == 1 or first is None or first.shape[1] == 1
        return first if alone else self.joined(Call.own_mask)

    def weights(self) -> Array:
        """(sentences, heads, T, S) as the caller's code computed them; by the program where they were not kept."""
        return self.joined(Call.own_weights)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """(sentences, heads of this part, T, S)."""
        queries, keys = (self.product.rows[side] for side in self.sides())
        return len(self.places), self.heads, queries, keys

    def __repr__(self) -> str:
        sentences, _, queries, keys = self.shape
        counts = ("sentence", sentences), ("head", sum(part.heads for part in self._parts))
        counted = ", ".join(f"{count:,} {what}" + "s" * (count != 1) for what, count in counts)
        return f"<attention at {self.where}: {counted}, {queries} × {keys}>"

    def _side(self, role: str) -> str:
        return self.sides()[0 if role == "query" else 1]

    def node(self, role: str) -> Node:
        return self.value_node if role == "value" else self.product.nodes[self._side(role)]

    def size(self) -> int:
        """Bytes that are kept."""
        kept = [*self.tensors.values(), self.value_tensor, self.fused_output, *(self.output or ())[:1],
                *(self.softmax.kept.sentences if self.softmax.kept else ())]
        return sum(tensor.numel() * tensor.element_size() for tensor in kept if is_tensor(tensor))

    def operand_before(self, role: str) -> Array | None:
        """An operand before positions turned it, if they did, (sentences, heads, rows, d), without the scale; None: not known."""
        path = self.node(role).path(MADE)
        turned = [step for step in path if step.kind == "turned"]
        if not turned:      # (what came from elsewhere may have been turned there)
            return self.operand(role) if path[0].kind == "linear" else None
        base, tensor = turned[0].info or (None, None)
        if base not in path:
            return None
        at = path.index(base)
        return self._of_heads(role, moved(tensor, moves_of(path[at + 1:])), factor_of(path[:at + 1]))

    def factor(self, role: str) -> float:
        """What an operand was multiplied by between its projection, or its norm, and the product."""
        return factor_of(self.node(role).path((*MADE, "normed", "add", "times", "fill", "opaque")))

    def operand(self, role: str) -> Array | None:
        """(sentences, heads, rows, d), without the scale."""
        if role == "value":
            return None if self.value_tensor is None else as_numpy(self.value_tensor).astype(np.float32)
        return self._of_heads(role, self.tensors[self._side(role)], self.factor(role))

    def _of_heads(self, role: str, operand: Any, factor: float) -> Array:
        """An operand of the product as (sentences, heads, rows, d), without this factor."""
        array = as_numpy(self.product.arranged(self._side(role), operand)).astype(np.float32)
        return gathered(array, self.places) / np.float32(factor or 1)

    def index_of(self, role: str, kinds: Sequence[str] = PROJECTED) -> tuple[Array, Node] | None:
        """Which element of its projection, or of another step of these kinds, each element of an operand is (sentences,
        heads, rows, d), and that step."""
        product, side, groups = self.product, self._side(role), self.places
        if role == "value":
            product, side, groups = self.context_product, self.value_side, self.context_groups
        found = product.index_of(side, kinds) if groups else None
        if found is None:
            return None
        return gathered(found[0].swapaxes(-2, -1) if role == "value" else found[0], groups), found[1]

    def new_rows(self) -> tuple[int, int]:
        """Of keys that join those of before: the first row that is new, and how many are."""
        index, base = self.index_of("key", ("source",)) or (None, NOTHING)
        if not base.cache:
            return 0, 0
        axis, first, count = base.cache
        rows = np.unravel_index(index[0, 0, :, 0], base.shape)[axis]
        new = (rows >= first) & (rows < first + count)
        return int(new.argmax()), int(new.sum())

    def canonical(self, tensor: Any, moves: Sequence[Move], sentences: Sequence[int], rows: Array | None = None) -> Any:
        """A tensor that stands where the scores stood after `moves`, as (sentences, heads, T, S); broadcast if need be."""
        product = self.product
        if all(move.permutes for move in moves):
            order = [next(iter(axes)) for axes in axes_after(moves, product.shape) or []]
            tensor = tensor.expand([product.shape[axis] for axis in order]).permute(*np.argsort(order))
        else:
            index = index_after(moves, product.shape)
            if index is None:
                return None
            flat = torch_module().zeros(math.prod(product.shape), dtype=tensor.dtype)
            flat[index.flatten()] = tensor.expand(index.shape).cpu().flatten()
            tensor = flat.view(*product.shape)
        arranged = product.arranged("out", tensor)
        arranged = arranged.transpose(-2, -1) if self.flipped else arranged
        arranged = arranged if rows is None else arranged[..., rows, :]
        return gathered(arranged, [self.places[sentence] for sentence in sentences])

    def take_value(self, product: Product, side: str, tensor: Any, moves: Sequence[Move]) -> None:
        """The values, brought into the order of sentences and heads; and that order for what comes out."""
        own, shape = self.product, self.product.shape
        if all(move.permutes for move in moves):      # the rows do not matter
            shape = tuple(size if axis in own.out_shared else 1 for axis, size in enumerate(shape))
        index = index_after(moves, shape)
        if index is None:
            return
        index = np.array(np.unravel_index(product.arranged(side, index)[..., 0, 0].numpy(), shape))
        found = {tuple(index[(own.out_shared, *place)]): place for place in np.ndindex(*product.shared)}
        if not len(found) == math.prod(product.shared) == math.prod(own.shared):
            return
        self.context_groups = [[found[place] for place in group] for group in self.places]
        self.context_product, self.value_side = product, "b" if side == "a" else "a"
        arranged = product.arranged(self.value_side, tensor.detach()).transpose(-2, -1)
        self.value_tensor = gathered(arranged, self.context_groups)

    def context_of(self, tensor: Any) -> Any:
        """An array of the context as (sentences, heads, T, d_v)."""
        arranged = self.context_product.arranged("out", tensor)
        return gathered(arranged if self.value_side == "b" else arranged.transpose(-2, -1), self.context_groups)

    def merged(self, parts: Sequence[Call]) -> Array | None:
        """Which element of (sentences, heads, T, d_v) each of the output is, (rows, heads · d_v); `parts`: heads, one by one."""
        size = math.prod(self.context.shape)
        if self.output is None or size * len(parts) > LARGE or not all(part.context_groups for part in parts):
            return None
        _, moves, join = self.output
        everything = torch_module().arange(size).view(self.context.shape)
        arranged = np.concatenate([part.context_of(everything + at * size).numpy() for at, part in enumerate(parts)], 1)
        index = moved(join([everything + at * size for at in range(len(parts))]), moves)
        meaning = np.zeros(arranged.size, np.int32)
        meaning[arranged.ravel()] = np.arange(arranged.size)
        rows = meaning[index.reshape(-1, index.shape[-1]).numpy()]
        return rows if rows.shape[1] == arranged.shape[1] * arranged.shape[-1] else None

    def mask_parts(self, sentences: Sequence[int], rows: Array | None = None) -> Iterator[tuple[Node, Array, float, bool]]:
        """What each step that treats cells differently (fill, times, add) does to them: (sentences, heads, T, S), bool, factors or
        what is added; the value that is filled in; whether what is added was 0 and 1."""
        for at, step in enumerate(self.path):
            if step.kind not in ("add", "times", "fill"):
                continue
            tensor, value = step.info
            cells = self.canonical(tensor, moves_of(self.path[1:at]), sentences, rows)
            if cells is None:
                self.notes.append(("mask_unknown", self.where))
                continue
            array = as_numpy(cells)
            if step.kind == "fill":
                for later in self.path[at:]:
                    value = value * later.info if later.kind == "scale" else math.tanh(value) if later.kind == "cap" else value
                yield step, array.astype(bool), value, False
            elif step.kind == "times":
                yield step, array.astype(np.float32), value, False
            elif array.shape[-1] > 1 and ((array != array[..., :1]).any() or np.isneginf(array * np.float32(value)).any()):
                # (one finite number a row changes no weight)
                binary = str(tensor.dtype) == "torch.bool" or bool(np.isin(array, (0, 1)).all())
                added = array.astype(np.float32) * np.float32(value * factor_of(self.path[at:]))
                yield step, added, value, binary

    def own_mask(self) -> Array | None:
        """Bool where all it does is to block, else what is added; heads that agree are one."""
        parts, added = list(self.mask_parts(range(len(self.places)))), np.zeros((1, 1, 1, 1), np.float32)
        if not parts:
            return None
        for step, cells, value, _ in parts:
            if step.kind == "fill":
                added = np.where(cells, np.float32(-np.inf if value <= BLOCKED else value), added)
            elif step.kind == "add":
                added = added + np.where(cells <= BLOCKED, -np.inf, cells)
        added = added[:, :1] if (added == added[:, :1]).all() else added
        return added == 0 if np.isin(added, (0, -np.inf)).all() else added.astype(np.float32)

    def changes(self) -> list[Node]:
        """What was done to the weights after the softmax, but for dropout."""
        return [step for step in self.weight_path if step.kind not in ("weights", "move", "drop")]

    @property
    def found(self) -> Weights | None:
        """The weights that met the values, dropout that belongs there left out; of some sentences, and queries. They
        were kept before it was known which operand counts the keys."""
        chosen = next((step.kept for step in self.weight_path[::-1] if step.kept is not None), None)
        if chosen is None or not self.flipped:
            return chosen
        turned = [sentence.transpose(-2, -1) for sentence in chosen.sentences]
        return Weights(turned, None) if chosen.rows is None else None

    def own_weights(self) -> Array:
        sentences, found = len(self.places), self.found
        if found is not None and found.rows is None and len(found.sentences) == sentences:
            return np.stack([as_numpy(sentence) for sentence in found.sentences]).astype(np.float32)
        standard = not self.wrong_axis() and self.function == "softmax" and not self.changes() and \
            not any(step.kind in ("times", "opaque", "drop") for step in self.path)
        if not standard:
            raise Error(f"{self.where}: expected a softmax over the keys of a sentence that is kept, found one that only "
                        "the caller's code can compute: fewer sentences, or Keep(sentences=…), keep its weights")
        query, key, mask = self.operand("query"), self.operand("key"), self.own_mask()
        return np.stack([weights_of(query[at], key[at], None if mask is None else mask[at if len(mask) > 1 else 0], self.scale)
                         for at in range(sentences)])


def gathered(arranged: Any, groups: Sequence[Sequence[Place]]) -> Any:
    """Of an array (shared…, rows, columns) those places that are heads of sentences: (sentences, heads, rows, columns)."""
    if not groups[0][0]:
        return arranged[None, None]
    places = np.moveaxis(np.array(groups), -1, 0)
    return arranged[tuple(places)]


def weights_of(query: Array, key: Array, mask: Array | None, scale: float) -> Array:
    """(heads, T, S) from (heads, T, d), (heads, S, d), a mask (1 or heads, T, S) and the scale, by the program."""
    if mask is not None and len(mask) > 1 and len(query) > 1:
        return np.concatenate([weights_of(query[h:h + 1], key[h:h + 1], mask[h:h + 1], scale) for h in range(len(query))])
    arrays = {"query": side_by_side(query), "key": side_by_side(key), "value": side_by_side(key)}
    if mask is not None:
        arrays["mask"] = np.ascontiguousarray(np.broadcast_to(mask[0], (query.shape[1], key.shape[1])))
    return answer_to(arrays, len(query), scale=repr(float(scale)))["attentions"][0]
