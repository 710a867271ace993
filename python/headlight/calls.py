"""One call of attention: its arrays, and how it came about."""
from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from .arrays import answer_to, side_by_side
from .caller import Frames, named_role, short_path
from .engine import Array, Error, as_numpy, count_text, is_tensor, torch_module
from .nodes import (BLOCKED, Layout, Move, Node, Product, Site, Weights, axes_after, index_after, operand_index, path_to)


class Attention:
    """One call of attention as it ran: queries, keys, values, mask, scale, and where. A list of heads is one call.

    Arrays are numpy float32: (sentences, heads, T, …). `where` is `file:line (module)` of the softmax."""

    def __init__(self, parts: Sequence["Call"]) -> None:
        self._parts = list(parts)

    def _joined(self, arrays: Sequence[Optional[Array]]) -> Optional[Array]:
        if any(array is None for array in arrays):
            return None
        return np.concatenate([array for array in arrays if array is not None], axis=1)

    @property
    def query(self) -> Array:
        """(sentences, heads, T, d_k), as projected, before the scale."""
        return self._joined([part.operand("query") for part in self._parts])  # type: ignore[return-value]

    @property
    def key(self) -> Array:
        """(sentences, heads, S, d_k)."""
        return self._joined([part.operand("key") for part in self._parts])  # type: ignore[return-value]

    @property
    def value(self) -> Optional[Array]:
        """(sentences, heads, S, d_v); None where the weights met no values."""
        return self._joined([part.operand("value") for part in self._parts])

    @property
    def mask(self) -> Optional[Array]:
        """(sentences, 1 or heads, T, S): bool, true = may attend; or float32, added to the scores; None: no mask."""
        masks = [part.mask() for part in self._parts]
        return masks[0] if len(masks) == 1 or masks[0] is None or masks[0].shape[1] == 1 else self._joined(masks)

    @property
    def scale(self) -> float:
        """What the scores were multiplied by, on all the way from the projections to the softmax."""
        return self._parts[0].scale

    @property
    def where(self) -> str:
        """`mine.py:41 (encoder.layers.0.attention)`."""
        return self._parts[0].where

    @property
    def module(self) -> str:
        """The path of the module inside the outermost one; empty outside of modules."""
        return self._parts[0].frames.path

    def weights(self) -> Array:
        """(sentences, heads, T, S) as the caller's code computed them. Where they were not kept (fused kernels, long
        sentences) the program computes them from queries, keys, mask and scale."""
        return self._joined([part.weights() for part in self._parts])  # type: ignore[return-value]

    def __repr__(self) -> str:
        shape = self._parts[0].shape
        heads_count = sum(part.heads for part in self._parts)
        return (f"<attention at {self.where}: {count_text(shape[0], 'sentence')}, {count_text(heads_count, 'head')}, "
                f"{shape[2]} × {shape[3]}>")


class Call:
    """What is known of one softmax over a product."""

    def __init__(self, index: int, product: Product, frames: Frames, site: Site, layout: Layout) -> None:
        self.index, self.product, self.frames, self.site = index, product, frames, site
        self.layer = 0
        self.path: List[Node] = []               # product … input of the softmax
        self.softmax: Optional[Node] = None
        self.dim_axes: Optional[frozenset] = frozenset()
        self.layout = layout
        self.flipped = False                      # keys are the left operand
        self.context: Optional[Node] = None
        self.contracted: Optional[str] = None     # "a" or "b": whose rows met the values
        self.value_node: Optional[Node] = None
        self.value_tensor: Any = None             # (sentences, heads, S, d_v)
        self.places: Dict[Tuple[int, ...], Tuple[int, int]] = {}   # of the product with the values: sentence and head
        self.context_product: Optional[Product] = None
        self.context_left = True                  # weights are its left operand
        self.value_index: Optional[Tuple[Array, Node]] = None
        self.weight_path: List[Node] = []        # softmax … what met the values
        self.found: Optional[Weights] = None
        self.output: Optional[Tuple[Any, List[Move], Tuple[int, ...]]] = None   # heads side by side; from the context
        self.merge_site: Optional[Site] = None
        self.tensors = {"a": product.a.detach().clone(), "b": product.b.detach().clone()}
        self.half = product.dtype if str(product.dtype) in ("torch.float16", "torch.bfloat16") else None
        self.part_of: Optional[Tuple[int, int]] = None
        self.notes: List[str] = []
        self.observed: List[List[str]] = []                    # codes of what is wrong, and the gap of their words
        self.sites: Dict[Tuple[str, str], Optional[Site]] = {}   # where: by code and role
        self.fused_output: Any = None
        self.called: set = set()

    def observe(self, code: str, site: Optional[Site], detail: str = "") -> None:
        """What is wrong and seen without numbers, where it happened last; the program has the words."""
        self.observed.append([code, detail])
        self.sites[code, ""] = site

    # -- arrays

    @property
    def heads(self) -> int:
        return len(self.layout.groups[0]) if self.layout.groups else 0

    @property
    def shape(self) -> Tuple[int, int, int, int]:
        """(sentences, heads, T, S)."""
        query, key = (int(np.prod([self.product.shape[axis] for axis in self.product.out_free[side]]))
                      for side in self.sides())
        return (len(self.layout.groups), self.heads, query, key)

    @property
    def where(self) -> str:
        inside = f" ({self.frames.path})" if self.frames.path else ""
        return f"{short_path(self.site.file)}:{self.site.line}{inside}"

    def sides(self) -> Tuple[str, str]:
        return ("b", "a") if self.flipped else ("a", "b")

    def node(self, role: str) -> Optional[Node]:
        if role == "value":
            return self.value_node
        side = self.sides()[0 if role == "query" else 1]
        return self.product.node_a if side == "a" else self.product.node_b

    def _arranged(self, role: str) -> Optional[Any]:
        if role == "value":
            return self.value_tensor
        side = self.sides()[0 if role == "query" else 1]
        return (self.product.to_a if side == "a" else self.product.to_b)(self.tensors[side])

    def factor(self, role: str) -> float:
        """What an operand was multiplied by between its projection and the product."""
        path = path_to(self.node(role), ("linear", "product", "source", "add", "times", "fill", "opaque"))
        return float(np.prod([step.info for step in path if step.kind == "scale"] or [1.0]))

    @property
    def scale(self) -> float:
        steps = [step.info for step in self.path if step.kind == "scale"]
        return float(np.prod([*steps, self.factor("query"), self.factor("key")]))

    def operand(self, role: str) -> Optional[Array]:
        """(sentences, heads, rows, d), without the scale."""
        arranged = self._arranged(role)
        if arranged is None:
            return None
        if role == "value":
            return as_numpy(arranged).astype(np.float32)
        factor = self.factor(role)
        groups = self.layout.groups
        array = as_numpy(arranged).astype(np.float32)
        if factor not in (0.0, 1.0):
            array = array / np.float32(factor)
        return gathered(array, groups)

    def canonical(self, tensor: Any, moves: Sequence[Move], sentences: Optional[Sequence[int]] = None,
                  rows: Optional[Array] = None) -> Optional[Any]:
        """A tensor that stands where the scores stood after `moves`, as (sentences, heads, T, S); broadcast if need be."""
        torch = torch_module()
        product = self.product
        if not moves:
            arranged = product.to_out(tensor.expand(product.shape))
        elif all(move.permutes for move in moves):
            order = [next(iter(axes)) for axes in axes_after(moves, product.shape) or []]
            arranged = product.to_out(tensor.expand([product.shape[axis] for axis in order]).permute(
                [order.index(axis) for axis in range(len(order))]))
        else:
            index = index_after(moves, product.shape)
            if index is None:
                return None
            flat = torch.zeros(int(np.prod(product.shape)), dtype=tensor.dtype)
            flat[index.flatten()] = tensor.expand(index.shape).cpu().flatten()
            arranged = product.to_out(flat.view(*product.shape))
        if self.flipped:
            arranged = arranged.transpose(-2, -1)
        if rows is not None:
            arranged = arranged[..., torch.as_tensor(rows, device=arranged.device), :]
        wanted = self.layout.groups if sentences is None else [self.layout.groups[s] for s in sentences]
        return gathered(arranged, wanted)

    def index_of(self, role: str) -> Optional[Tuple[Array, Node]]:
        """Which element of its projection each element of an operand is, (sentences, heads, rows, d)."""
        if role == "value":
            return self.value_index
        found = self.layout.indices.get(self.sides()[0 if role == "query" else 1])
        if found is None:
            return None
        return gathered(found[0], self.layout.groups), found[1]

    def roles(self) -> Dict[str, Optional[str]]:
        """What the caller calls the operands: that of the weights they were projected by, else that of variables."""
        return {side: named_role(node, self.layout.indices.get(side), self.product.names[side])
                for side, node in (("a", self.product.node_a), ("b", self.product.node_b))}

    def named_sides(self) -> Dict[str, Optional[str]]:
        """What the caller calls that which is at work as query and key."""
        roles, (query, key) = self.roles(), self.sides()
        return {"query": roles[query], "key": roles[key]}

    def take_value(self, product: Product, side: str, node: Optional[Node], tensor: Any, axes: Sequence[frozenset],
                   moves: Sequence[Move]) -> None:
        """The values, brought into the order of sentences and heads; and that order for what comes out."""
        own = self.product
        where = {place: (s, h) for s, group in enumerate(self.layout.groups) for h, place in enumerate(group)}
        order: List[Tuple[int, ...]] = []
        if all(move.permutes for move in moves):
            lead = product.own_shared[side]
            for place in np.ndindex(*product.shared):
                at = {next(iter(axes[axis])): place[i] for i, axis in enumerate(lead) if axis is not None and axes[axis]}
                order.append(tuple(at.get(axis, 0) for axis in own.out_shared))
        else:
            index = index_after(moves, own.shape)
            if index is None:
                return
            arranged = (product.to_a if side == "a" else product.to_b)(index)[..., 0, 0].numpy()
            for place in np.ndindex(*product.shared):
                at = np.unravel_index(int(arranged[place]), own.shape)
                order.append(tuple(int(at[axis]) for axis in own.out_shared))
        for place, original in zip(np.ndindex(*product.shared), order):
            if original in where:
                self.places[place] = where[original]
        if len(self.places) != len(where):
            self.places = {}
            return
        arrange, groups = product.to_b if side == "a" else product.to_a, self._groups_of_places()
        self.value_tensor = gathered(arrange(tensor.detach()).transpose(-2, -1), groups)
        index_of = operand_index(node, arrange)
        if index_of is not None:
            self.value_index = gathered(index_of[0].swapaxes(-2, -1), groups), index_of[1]
        self.context_product, self.context_left = product, side == "a"

    def merged(self) -> Optional[Array]:
        """Which element of (sentences, heads, T, d_v) each element of the output is, (rows, heads · d_v)."""
        product = self.context_product
        if self.output is None or product is None or not self.places:
            return None
        _, moves, shape = self.output
        index, everything = index_after(moves, shape), index_after([], shape)
        if index is None:
            return None
        arranged = product.to_out(everything)
        arranged = (arranged if self.context_left else arranged.transpose(-2, -1)).numpy()    # (shared…, T, d_v)
        queries, d_v = arranged.shape[-2:]
        if index.shape[-1] != self.heads * d_v:
            return None
        meaning = np.zeros(everything.numel(), np.int32)
        for place, (sentence, head) in self.places.items():
            first = (sentence * self.heads + head) * queries * d_v
            meaning[arranged[place]] = first + np.arange(queries * d_v).reshape(queries, d_v)
        return meaning[index.reshape(-1, index.shape[-1]).numpy()]

    def fused(self) -> Optional[Array]:
        """The output of a fused kernel, (sentences, T, heads · d_v)."""
        product = self.context_product
        if product is None or not self.places:
            return None
        arranged = product.to_out(self.fused_output)
        arranged = arranged if self.context_left else arranged.transpose(-2, -1)
        return np.stack([side_by_side(heads) for heads in as_numpy(gathered(arranged, self._groups_of_places()))])

    def _groups_of_places(self) -> List[List[Tuple[int, ...]]]:
        back = {target: place for place, target in self.places.items()}
        return [[back[s, h] for h in range(self.heads)] for s in range(len(self.layout.groups))]

    # -- the mask

    def effects(self) -> List[Tuple[Node, List[Move]]]:
        """The steps that treat cells differently, with the moves that came before each."""
        moves: List[Move] = []
        found = []
        for step in self.path[1:]:
            if step.kind == "move":
                moves.append(step.info)
            elif step.kind in ("add", "times", "fill"):
                found.append((step, list(moves)))
        return found

    def mask_parts(self, sentences: Sequence[int], rows: Optional[Array] = None) -> List["MaskPart"]:
        """What each step does to each cell, (sentences, heads, T, S)."""
        parts = []
        factors = [step.info if step.kind == "scale" else 1.0 for step in self.path]
        for step, moves in self.effects():
            tensor, value = step.info
            array = self.canonical(tensor, moves, sentences, rows)
            if array is None:
                self.notes.append(f"{self.where}: a mask of this size could not be followed")
                continue
            array = as_numpy(array)
            after = float(np.prod(factors[self.path.index(step):]))
            if step.kind == "fill":
                parts.append(MaskPart("fill", array.astype(bool), value * after, step.site))
            elif step.kind == "times":
                parts.append(MaskPart("times", array.astype(np.float32), 0.0, step.site))
            elif array.shape[-1] > 1 and ((array != array[..., :1]).any() or
                                          np.isneginf(array * np.float32(value)).any()):
                # (one finite number a row changes no weight)
                parts.append(MaskPart("add", array.astype(np.float32) * np.float32(value * after), 0.0, step.site,
                                       str(tensor.dtype) == "torch.bool" or bool(np.isin(array, (0, 1)).all())))
        return parts

    def mask(self) -> Optional[Array]:
        return mask_of(self.mask_parts(range(len(self.layout.groups))))

    # -- the weights

    def weights(self) -> Array:
        sentences = range(len(self.layout.groups))
        if self.found is not None and self.found.rows is None and len(self.found.sentences) == len(sentences):
            return np.stack([as_numpy(sentence) for sentence in self.found.sentences]).astype(np.float32)
        if not self.is_standard():
            raise Error(f"{self.where}: expected a softmax over the keys of a sentence that is kept, found one that only "
                        "the caller's code can compute: fewer sentences, or Keep(sentences=…), keep its weights")
        query, key = self.operand("query"), self.operand("key")
        assert query is not None and key is not None
        mask = self.mask()
        answers = []
        for sentence in sentences:
            own = None if mask is None else mask[sentence if mask.shape[0] > 1 else 0]
            answers.append(weights_of(query[sentence], key[sentence], own, self.scale))
        return np.stack(answers)

    def is_standard(self) -> bool:
        """Whether queries, keys, mask and scale say all about the weights."""
        return not self.wrong_axis() and not any(step.kind in ("times", "opaque", "drop") for step in self.path) and \
            not any(step.kind == "post" for step in self.weight_path) and self.softmax is not None and \
            self.softmax.info.name == "softmax"

    def wrong_axis(self) -> Optional[str]:
        """Over what the softmax goes, where that is not the keys alone."""
        axes = self.dim_axes
        if not axes:
            return None
        query, key = (set(self.product.out_free[side]) for side in self.sides())
        if axes == key:
            return None
        names = {"the keys" if axis in key else "the queries" if axis in query else
                 "the heads" if self._counts_heads(axis) else "the sentences of the batch" for axis in axes}
        return " and ".join(sorted(names))

    def _counts_heads(self, axis: int) -> bool:
        """Whether heads of one sentence differ along a shared axis of the product."""
        place = self.product.out_shared.index(axis)
        return len({index[place] for index in self.layout.groups[0]}) > 1


class MaskPart(NamedTuple):
    kind: str               # fill, times, add
    cells: Array            # (sentences, heads, T, S): bool, factors, or what is added
    value: float            # that is filled in
    site: Optional[Site]
    binary: bool = False    # what is added was 0 and 1


def mask_of(parts: Sequence[MaskPart]) -> Optional[Array]:
    """Bool where all it does is to block, else what is added; heads that agree are one."""
    if not parts:
        return None
    added = np.zeros((1, 1, 1, 1), np.float32)
    for part in parts:
        if part.kind == "fill":
            value = -np.inf if part.value <= BLOCKED else part.value
            added = np.where(part.cells, np.float32(value), added)
        elif part.kind == "add":
            added = added + np.where(part.cells <= BLOCKED, -np.inf, part.cells)
    if (added == added[:, :1]).all():
        added = added[:, :1]
    if np.isin(added, (0, -np.inf)).all():
        return added == 0
    return added.astype(np.float32)


def gathered(arranged: Any, groups: Sequence[Sequence[Tuple[int, ...]]]) -> Any:
    """Of an array (shared…, rows, columns) those places that are heads of sentences: (sentences, heads, rows, columns)."""
    if not groups[0][0]:
        return arranged[None, None]
    torch = torch_module()
    places = np.array(groups)
    return arranged[tuple(torch.from_numpy(places[..., axis].copy()) if is_tensor(arranged) else places[..., axis]
                          for axis in range(places.shape[-1]))]


def weights_of(query: Array, key: Array, mask: Optional[Array], scale: float) -> Array:
    """(heads, T, S) from (heads, T, d), (heads, S, d), a mask (1 or heads, T, S) and the scale, by the program."""
    if mask is not None and mask.shape[0] > 1 and query.shape[0] > 1:
        return np.concatenate([weights_of(query[h:h + 1], key[h:h + 1], mask[h:h + 1], scale)
                               for h in range(query.shape[0])])
    arrays = {"query": side_by_side(query), "key": side_by_side(key), "value": side_by_side(key)}
    if mask is not None:
        arrays["mask"] = np.ascontiguousarray(np.broadcast_to(mask[0], (query.shape[1], key.shape[1])))
    return answer_to(arrays, query.shape[0], scale=repr(float(scale)))["attentions"][0]
