"""What is followed: a node for each tensor that matters, how it came about and where, and the caller's code around it."""
from __future__ import annotations

import contextlib
import functools
import math
import os
import re
import string
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Tuple

import numpy as np

from .engine import Array, is_tensor, notebook_shell, torch_module

LARGE = 1 << 22          # elements above which an index is not carried along
BLOCKED = -1e3           # added to a score, or replaces it: in effect −inf
_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep
Place = Tuple[int, ...]  # indices along the shared axes of a product


class Site(NamedTuple):
    file: str
    line: int

    def __str__(self) -> str:
        """As a reader would type it: from the working folder where the file is below it; In[2] of a notebook."""
        cell, near = getattr(getattr(notebook_shell(), "compile", None), "_filename_map", {}).get(self.file), ""    # as IPython keeps it
        with contextlib.suppress(ValueError):      # no file; one of another drive
            near = os.path.relpath(self.file)
        path = self.file if not near or near.startswith("..") else near
        return f"{path if cell is None else f'In[{cell}]'}:{self.line}"


class Node:
    """How one tensor came about. `kind`: source, linear (a projection), turned (its columns by positions), normed, product,
    move, scale, add, times, fill, cap, sink, drop, opaque, exp; after a softmax weights, and again move … fill, drop, softmax,
    sum; then context, heads (several contexts side by side)."""
    __slots__ = ("kind", "parent", "shape", "site", "info", "tensor", "cache", "of", "kept")

    def __init__(self, kind: str, parent: Any, shape: Sequence[int], site: Site | None, info: Any = None, of: Any = None,
                 kept: Weights | None = None, cache: tuple[int, int, int] | None = None) -> None:
        self.kind, self.parent, self.shape, self.site, self.info, self.kept = kind, parent, tuple(shape), site, info, kept
        # The tensor, weakly; the axis of keys or values along which some are new, the first and how many; what it is a norm of,
        # weakly, or whether what is added is a product.
        self.tensor, self.cache, self.of = lambda: None, cache, of

    def path(self, stops: Sequence[str]) -> list[Node]:
        """From here up to the first of a kind in `stops`, oldest first."""
        path = [self]
        while path[-1].kind not in stops and path[-1].parent is not None:
            path.append(path[-1].parent)
        return path[::-1]

    @property
    def root(self) -> Node:
        """The product, weights, context or projection from which a tensor was made by steps that keep its meaning."""
        node = self
        while node.kind in KEEPING:
            node = node.parent
        return node


# Steps that keep the meaning of what they change.
KEEPING = ("move", "scale", "add", "times", "fill", "cap", "sink", "drop", "opaque", "exp", "softmax", "sum", "turned", "normed")
NOTHING = Node("", None, (), None)     # of a tensor that is not followed
MADE = ("linear", "product", "source")
STOPS = (*MADE, "add", "times", "fill", "opaque", "context", "weights", "heads")
PROJECTED = ("linear", "product", "add")     # whose elements are those of heads, in another order


class Move(NamedTuple):
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    options: Mapping[str, Any] = {}
    pick: int | None = None      # of several results
    permutes: bool = False       # only the order of axes changes


class Linear(NamedTuple):
    """A projection: a product with a parameter, or with a matrix beside a larger array."""
    weight: Any
    name: str
    transposed: bool             # x·W where W is the weight of nn.Linear, which is (out, in)
    x: Any                       # kept where the projection is not as its module means it
    bias_of: Any                 # the bias of that module
    of: Any = None               # x, weakly
    call: Any = None             # the attention whose heads x has side by side


class Product:
    """One product of two arrays, each as (shared…, rows, contracted); the result as (shared…, rows of a, rows of b).

    Axes have letters, by side: "a" and "b" are the operands, "out" is the result. `free` and `summed` are the axes of
    rows and the contracted ones of each operand, `out_shared`, `out_free` axes of the result; `shared`, `rows` sizes."""

    def __init__(self, letters: dict[str, str], operands: Sequence[Any], out: Any, shared: str, a: str, b: str) -> None:
        """`shared`: the letters of axes that all three have; `a`, `b`: of the rows of each operand."""
        self.letters, self.shape, self.dtype = letters, tuple(out.shape), out.dtype
        self.operands, self.nodes = dict(zip("ab", operands)), {"a": NOTHING, "b": NOTHING}
        self.names: dict[str, list[str]] = {"a": [], "b": []}     # of the caller's variables
        summed = "".join(letter for letter in letters["a"] if letter in letters["b"] and letter not in letters["out"])
        self.shared_letters, self.ends = shared, {"a": (a, summed), "b": (b, summed), "out": (a, b)}
        self.free, self.summed = ({side: self.axes(side, self.ends[side][at]) for side in "ab"} for at in (0, 1))
        self.out_shared, self.out_free = self.axes("out", shared), {"a": self.axes("out", a), "b": self.axes("out", b)}
        self.shared = tuple(self.shape[axis] for axis in self.out_shared)
        self.rows = {side: math.prod(self.shape[axis] for axis in axes) for side, axes in self.out_free.items()}

    def axes(self, side: str, letters: str) -> list[Any]:
        return [self.letters[side].index(letter) if letter in self.letters[side] else None for letter in letters]

    def arranged(self, side: str, tensor: Any) -> Any:
        """A tensor with the axes of this side as (shared…, rows, contracted or rows of b)."""
        order = self.axes(side, self.shared_letters + "".join(self.ends[side]))
        tensor = tensor.permute([axis for axis in order if axis is not None])
        tensor = tensor[tuple(None if axis is None else slice(None) for axis in order)]
        lead, ends, rows = tensor.shape[:len(self.shared)], tensor.shape[len(self.shared):], len(self.ends[side][0])
        return tensor.reshape(*lead, math.prod(ends[:rows]), math.prod(ends[rows:])).expand(*self.shared, -1, -1)

    def index_of(self, side: str, kinds: Sequence[str]) -> tuple[Array, Node] | None:
        """Which element of its projection each element of an operand is, as (shared…, rows, contracted)."""
        path = self.nodes[side].path(STOPS)
        index = index_after(moves_of(path), path[0].shape) if path[0].kind in kinds else None
        with contextlib.suppress(RuntimeError):
            return None if index is None else (self.arranged(side, index).numpy(), path[0])
        return None


class Weights(NamedTuple):
    """Of one call, by sentence: (heads, rows, S), and which rows."""
    sentences: list[Any]
    rows: Array | None


def moves_of(path: Sequence[Node]) -> list[Move]:
    return [node.info for node in path if node.kind == "move"]


def factor_of(path: Sequence[Node]) -> float:
    """What the steps multiply by."""
    return float(math.prod(node.info for node in path if node.kind == "scale"))


def index_after(moves: Sequence[Move], shape: Sequence[int]) -> Any | None:
    """Which element of an array of `shape` stands where after the moves; nothing where that would be large."""
    count = math.prod(shape)
    return None if count > LARGE else moved(torch_module().arange(count).view(*shape), moves)


def moved(tensor: Any, moves: Sequence[Move]) -> Any:
    for move in moves:
        tensor = move.function(tensor, *move.arguments, **move.options)
        tensor = tensor if move.pick is None else tensor[move.pick]
    return tensor


def axes_after(moves: Sequence[Move], shape: Sequence[int]) -> list[frozenset] | None:
    """For each axis after the moves: the axes of `shape` along which one walks with it."""
    if all(move.permutes for move in moves):
        shape = (2,) * len(shape)
    index = index_after(moves, shape)
    if index is None:
        return None
    corners = index.numpy()[np.ix_(*(sorted({0, min(1, size - 1), size - 1}) for size in index.shape))]
    places = np.array(np.unravel_index(corners, tuple(shape)))
    return [frozenset(axis for axis, found in enumerate(places) if (found != found.take([0], walked)).any())
            for walked in range(index.dim())]


def product_of(name: str, args: Sequence[Any], out: Any) -> Product | None:
    """The product that a call computes, where it is one of two arrays with rows on both sides."""
    if name == "einsum":
        text, operands = args[0], args[1] if len(args) == 2 and isinstance(args[1], (list, tuple)) else args[1:]
    else:
        text, operands = "...ik,...kj->...ij", args[-2:] if name in ("baddbmm", "addmm") else args[:2]
        operands = operands[::-1] if name == "__rmatmul__" else operands
    inputs, arrow, result = text.replace(" ", "").partition("->") if isinstance(text, str) else ("", "", "")
    parts = inputs.split(",")
    two = len(parts) == len(operands) == 2 and all(is_tensor(operand) for operand in operands)
    if not two or (name != "einsum" and min(operand.dim() for operand in operands) < 2):
        return None
    axes = [operand.dim() - len(part.replace("...", "")) if "..." in part else 0 for part, operand in zip(parts, operands)]
    letters = "".join([letter for letter in string.ascii_uppercase if letter not in text][:max(axes)])    # of the ellipsis
    a, b = (part.replace("...", letters[len(letters) - count:]) for part, count in zip(parts, axes))
    result = result.replace("...", letters) if arrow else "".join(sorted(set(a) ^ set(b)))
    if any(len(set(part)) != len(part) for part in (a, b, result)):
        return None
    shared = [letter for letter in result if letter not in text or (letter in a and letter in b)]
    rows_a, rows_b = ([letter for letter in given if letter in result and letter not in shared] for given in (a, b))
    if len(rows_a) == 2 and len(rows_b) == 1:       # query heads of a group, which the keys do not have
        sizes = {letter: size for letter, size in zip(result, out.shape)}
        alike = [letter for letter in rows_a if sizes[letter] == sizes[rows_b[0]]]
        token = alike[0] if len(alike) == 1 else max(rows_a, key=result.index)
        shared = [letter for letter in result if letter in shared or letter in rows_a and letter != token]
        rows_a = [token]
    summed = {letter for letter in a if letter in b and letter not in result}
    known = set(a) <= {*shared, *rows_a, *summed} and set(b) <= {*shared, *rows_b, *summed}
    if not (rows_a and rows_b and summed and known):
        return None
    letters = {"a": a, "b": b, "out": result}
    return Product(letters, operands, out, *map("".join, (shared, rows_a, rows_b)))


def first_reshaping(node: Node) -> Site | None:
    """Where an operand is split into heads: the first step after its projection that changes more than the order of axes."""
    moves = [step for step in node.path((*MADE, "context", "weights", "heads")) if step.kind == "move"]
    moves.sort(key=lambda step: (step.info.permutes, step.info.function.__name__ not in ("reshape", "unflatten")))
    return next((step.site for step in moves), None)


def layout_of(product: Product) -> tuple[list[list[Place]], tuple[str, str, Site | None] | None]:
    """Which index along a product's shared axes is which [sentence][head]: found by following each element back to the projection
    it came from; where that is not known, (batch, heads). And what is wrong with it: a code, its detail, and where."""
    side, found = "a", product.index_of("a", PROJECTED)
    if found is None:
        side, found = "b", product.index_of("b", PROJECTED)
    by_sentence: dict[Any, list[Place]] = {}
    if found is None:
        # Unknown: of two shared axes or more the last counts heads; one alone counts sentences.
        for place in np.ndindex(*product.shared):
            by_sentence.setdefault(place[:-1] or place, []).append(place)
        return list(by_sentence.values()), None
    index, base = found
    lead_shape, width = base.shape[:-1] or (1,), base.shape[-1]
    rows = index // width
    whole_rows = bool((rows == rows[..., :1]).all())
    # A token is one row, in every head:
    each_once = whole_rows and bool((np.diff(np.sort(rows[..., 0], axis=-1), axis=-1) != 0).all())
    lead = np.array(np.unravel_index(rows, lead_shape))
    within = [axis for axis in range(len(lead_shape))
              if (lead[axis] == lead[axis][..., :1, :1]).all()]             # constant in each product of two matrices
    several = [axis for axis in range(len(lead_shape)) if lead_shape[axis] > 1]
    sentences = {place: rows[place][:, 0].tobytes() if each_once else tuple(lead[(within, *place, 0, 0)])
                 for place in np.ndindex(*product.shared)}
    for place, sentence in sentences.items():
        by_sentence.setdefault(sentence, []).append(place)
    order = index % width if each_once else index
    groups = [sorted(group, key=lambda place: (int(order[place][0, 0]), place)) for group in by_sentence.values()]
    depends = sum(any(sentence != sentences[(*at[:axis], 0, *at[axis + 1:])] for at, sentence in sentences.items())
                  for axis in range(len(product.shared)))
    trouble = None
    if whole_rows and index.shape[-2] > 1 and (rows == rows[..., :1, :]).all():
        trouble = "heads_not_split", ""
    elif len(several) > 1 and not set(several) & set(within):
        trouble = "sentences_mixed", "tokens"
    elif len(several) > 1 and depends > 1:
        trouble = "sentences_mixed", "heads"
    if len({len(group) for group in groups}) != 1:
        groups = [[place] for place in sentences]
    return groups, None if trouble is None else (*trouble, first_reshaping(product.nodes[side]))


def recovered(index: Array, values: Array, width: int) -> Array:
    """The projection (rows, columns) put together again from the heads (heads, rows, d) it was split into; NaN where none has
    an element."""
    rows, columns = ((np.bincount(numbers.ravel()) > 0).cumsum()[numbers] - 1 for numbers in (index // width, index % width))
    array = np.full((rows.max() + 1, columns.max() + 1), np.nan, np.float32)
    array[rows, columns] = values
    return array


@functools.lru_cache(None)
def _is_library(file: str) -> bool:
    """Whether a file belongs to this module, to torch, or to what stands between a caller and torch."""
    folders = [os.path.dirname(module.__file__) + os.sep for module in (torch_module(), sys.modules.get("einops"))
               if module is not None and module.__file__]
    return file.startswith(("<frozen", _FOLDER, contextlib.__file__, *folders))


def _user_frames() -> Iterator[Any]:
    return (frame for frame, _ in traceback.walk_stack(sys._getframe(1)) if not _is_library(frame.f_code.co_filename))


def _locals(frame: Any) -> Mapping[str, Any]:
    """The variables of a function; the copy that Python before 3.13 leaves with it, which keeps them alive, is emptied."""
    names = frame.f_locals
    if sys.version_info >= (3, 13) or not frame.f_code.co_flags & 1 or names is frame.f_globals:
        return names
    own = dict(names)
    if sys.getrefcount(names) <= 3:
        names.clear()
    return own


def caller() -> Site:
    """The line of the caller's code that is running."""
    frame = next(_user_frames(), None)
    return Site("<unknown>", 0) if frame is None else Site(frame.f_code.co_filename, frame.f_lineno)


def modules_around() -> list[Any]:
    """The modules whose methods are running, the innermost first, each once."""
    owners = [_locals(frame).get("self") for frame, _ in traceback.walk_stack(sys._getframe(1))
              if frame.f_code.co_varnames[:1] == ("self",)]
    return list({id(owner): owner for owner in owners if isinstance(owner, torch_module().nn.Module)}.values())[:24]


def evaluating() -> bool:
    """Whether a module around is in evaluation."""
    return any(not module.training for module in modules_around())


def variables() -> Iterator[tuple[str, Any]]:
    """Names and tensors of the running function and of its object, lists opened."""
    names = next((dict(_locals(frame)) for frame in _user_frames()), {})
    for name, value in [*names.items(), *getattr(names.get("self"), "__dict__", {}).items()]:
        several = isinstance(value, (list, tuple)) and 0 < len(value) <= 64 and is_tensor(value[0])
        for part in value if several else [value] if is_tensor(value) else []:
            yield name, part


def names_of(tensors: Sequence[Any]) -> Iterator[list[str]]:
    """What the caller's functions that know all of these tensors call them, the innermost first."""
    for frame, _ in zip(_user_frames(), range(8)):
        known = {id(value): name for name, value in reversed(list(_locals(frame).items())) if is_tensor(value)}
        if all(id(tensor) in known for tensor in tensors):
            yield [known[id(tensor)] for tensor in tensors]


def masks_around() -> list[tuple[str, Any]]:
    """The masks among the arguments of the caller's functions around an operation, by name."""
    masks: list[tuple[str, Any]] = []
    first = None
    for depth, frame in enumerate(_user_frames()):
        arguments = frame.f_code.co_varnames[:frame.f_code.co_argcount + frame.f_code.co_kwonlyargcount]
        values = _locals(frame)
        owner = values.get("self") if arguments[:1] == ("self",) else None
        first = owner if depth == 0 else first
        if depth > 0 and (depth > 1 if first is None else owner is not first):
            break
        masks += [(name, values[name].detach()) for name in arguments
                  if re.search("mask|pad", name) and is_tensor(values.get(name))]
    return masks


def path_of(modules: Sequence[Any], root: Any) -> str:
    """The path of the innermost of these modules inside the outermost one, or inside `root`."""
    inside = modules[:next((at for at, module in enumerate(modules) if module is root), len(modules)) + 1]
    names = [next((name for name, module in outer.named_modules() if module is inner), "") or type(inner).__name__
             for inner, outer in zip(inside, inside[1:])]
    return ".".join(names[::-1]) or (type(modules[-1]).__name__ if modules else "")
