"""What is followed: a node for each tensor that matters, the caller's code around it, and one call of attention."""
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
from operator import itemgetter
from typing import Any, NamedTuple, Tuple

import numpy as np

from .engine import (LISTS, Array, Error, answer_to, as_numpy, is_tensor, notebook_shell, require, roles_of,
                     side_by_side, torch_module)

LARGE = 1 << 22          # elements above which an index is not carried along
BLOCKED = -1e3           # added to a score, or replaces it: in effect −inf
_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep
MOST_WEIGHTS = 1 << 20      # numbers of a sentence's weights that are kept
MASKS = "mask|pad"       # in names of arguments
BIASES = "bias|alibi"     # in names of what is added to scores
LENGTHS = "len|visible|valid|attend|keep|allow|bias"     # in names of what a mask has to follow from
SCALES = "scale|temp|tau|beta|gain|logit"     # of parameters that scale scores
CAUSAL = "causal", "is_causal", "autoregressive", "unidirectional"     # names of what is true or not
SEGMENTS = "seg|doc|seq|pack"     # in names of what says which tokens belong together
OTHER_SIDE = r"mem|enc|context|ctx|cross|cond|src|source|kv|key"     # in names of what cross-attention has keys of
_HEADS, _CELLS = 128, 1 << 24     # that the program is asked about at once
Place = Tuple[int, ...]  # indices along the shared axes of a product


class Site(NamedTuple):
    file: str
    line: int

    def __str__(self) -> str:
        """As a reader would type it: from the working folder where the file is below it; In[2] of a notebook."""
        path, cells = self.file, getattr(getattr(notebook_shell(), "compile", None), "_filename_map", {})
        with contextlib.suppress(ValueError):      # no file; one of another drive
            near = os.path.relpath(path)
            path = path if near.startswith("..") else near
        return f"{f'In[{cells[self.file]}]' if self.file in cells else path}:{self.line}"


class Node:
    """How one tensor came about. `kind`: source, linear (a projection), turned (its columns by positions), normed,
    product, move, scale, add, times, fill, cap, sink, drop, opaque, exp; weights, softmax, sum; context, heads."""
    __slots__ = ("kind", "parent", "shape", "site", "info", "tensor", "cache", "of", "kept")

    def __init__(self, kind: str, parent: Any, shape: Sequence[int], site: Site | None, info: Any = None,
                 of: Any = None, kept: Any = None, cache: tuple[Any, ...] | None = None) -> None:
        self.kind, self.parent, self.shape, self.site, self.info = kind, parent, tuple(shape), site, info
        # The tensor, weakly; of a cache its axis, the first row that is new, how many are, the rows as before positions
        # turned them, and whether these did; what this is a norm of, or of what kind; weights, or what a projection was
        # lost behind.
        self.tensor, self.cache, self.of, self.kept = lambda: None, cache, of, kept

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
KEEPING = "move scale add times fill cap sink drop opaque exp softmax sum turned normed".split()
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
    within: Any = None           # what x was projected from, weakly
    axis: int = 0                # of the weight, along which the columns of what is projected stand
    made: Any = None             # the node of x
    rows: slice | None = None    # of a packed weight, where not all of them project


class Product:
    """One product of two arrays, each as (shared…, rows, contracted); the result as (shared…, rows of a, rows of b).
    Axes have letters, by side: "a" and "b" are the operands, "out" is the result. `free` and `summed` are the axes of
    rows and those contracted of each operand, `out_shared`, `out_free` axes of the result; `shared`, `rows` sizes."""

    def __init__(self, letters: dict[str, str], operands: Sequence[Any], out: Any, shared: str, a: str, b: str) -> None:
        """`shared`: the letters of axes that all three have; `a`, `b`: of the rows of each operand."""
        self.letters, self.shape, self.dtype = letters, tuple(out.shape), out.dtype
        self.operands_shape = tuple(operands[0].shape)
        self.operands, self.nodes = dict(zip("ab", operands)), {"a": NOTHING, "b": NOTHING}
        self.copies: dict[str, Any] = {}
        self.names: dict[str, list[str]] = {"a": [], "b": []}     # of the caller's variables
        self.masked: list[Node] = []            # steps that mask it
        self.used: set[Node] = set()            # those before a softmax
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


def moves_of(path: Sequence[Node]) -> list[Move]:
    return [node.info for node in path if node.kind == "move"]


def factor_of(path: Sequence[Node]) -> float:
    return float(math.prod(node.info for node in path if node.kind == "scale"))


def before_positions(path: Sequence[Node]) -> Any:
    """What the last step of a path was before positions turned it, without the scale; None: not known."""
    turned = next((step.info for step in path if step.kind == "turned"), None)
    base, tensor = (path[0], path[0].cache[3]) if path[0].cache else turned or (None, None)
    if tensor is None or base not in path:
        return None
    at = path.index(base)
    return moved(tensor, moves_of(path[at + 1:])) / (factor_of(path[:at + 1]) or 1)


def index_after(moves: Sequence[Move], shape: Sequence[int]) -> Any | None:
    """Which element of an array of `shape` stands where after the moves; nothing where that would be large."""
    count = math.prod(shape)
    return None if count > LARGE else moved(torch_module().arange(count).view(*shape), moves)


def copy_of(tensor: Any) -> Any:
    """Error where the memory was given back since (`storage().resize_(0)`): torch's own copy of it is a crash."""
    if tensor.layout is torch_module().strided and tensor.numel() and not tensor.is_quantized and not tensor.is_meta:
        last = tensor.storage_offset() + sum((size - 1) * step for size, step in zip(tensor.shape, tensor.stride()))
        held = getattr(tensor, "untyped_storage", tensor.storage)().nbytes()
        require(held > last * tensor.element_size(), "operand", "memory that is still there", f"{held} bytes of it")
    return tensor.detach().clone()


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


def product_of(name: str, args: Sequence[Any], out: Any, tokens: Callable[[Any], Any]) -> Product | None:
    """The product that a call computes, where it is one of two arrays with rows on both sides. `tokens`: along which
    axes of a tensor its tokens stand, where that is known."""
    if name == "einsum":
        text, operands = args[0], args[1] if len(args) == 2 and isinstance(args[1], LISTS) else args[1:]
    else:
        text, operands = "...ik,...kj->...ij", args[-2:] if name in ("baddbmm", "addmm") else args[:2]
        operands = operands[::-1] if name == "__rmatmul__" else operands
    inputs, arrow, result = text.replace(" ", "").partition("->") if isinstance(text, str) else ("", "", "")
    parts = inputs.split(",")
    two = len(parts) == len(operands) == 2 and all(is_tensor(operand) for operand in operands)
    if not two or (name != "einsum" and min(operand.dim() for operand in operands) < 2):
        return None
    axes = [operand.dim() - len(part.replace("...", "")) for part, operand in zip(parts, operands)]
    letters = "".join(sorted(set(string.ascii_uppercase).difference(text))[:max(axes)])     # of the ellipsis
    a, b = (part.replace("...", letters[len(letters) - count:]) for part, count in zip(parts, axes))
    result = result.replace("...", letters) if arrow else "".join(sorted(set(a) ^ set(b)))
    if any(len(set(part)) != len(part) for part in (a, b, result)):
        return None
    shared = [letter for letter in result if letter not in text or (letter in a and letter in b)]
    rows_a, rows_b = ([letter for letter in given if letter in result and letter not in shared] for given in (a, b))
    if len(rows_a) == 2 and len(rows_b) == 1:       # query heads of a group, which the keys do not have
        sizes = dict(zip(result, out.shape))
        alike = [letter for letter in rows_a if sizes[letter] == sizes[rows_b[0]]]
        known = [letter for letter in rows_a if a.index(letter) in tokens(operands[0])]
        token = known[0] if len(known) == 1 else alike[0] if len(alike) == 1 else max(rows_a, key=result.index)
        shared = [letter for letter in result if letter in shared or letter in rows_a and letter != token]
        rows_a = [token]
    summed = {letter for letter in a if letter in b and letter not in result}
    known = set(a) <= {*shared, *rows_a, *summed} and set(b) <= {*shared, *rows_b, *summed}
    if not (rows_a and rows_b and summed and known):
        return None
    return Product({"a": a, "b": b, "out": result}, operands, out, *map("".join, (shared, rows_a, rows_b)))


def first_reshaping(node: Node) -> Site | None:
    """Where an operand is split into heads: after its projection, the first step that does more than permute axes."""
    moves = [step for step in node.path((*MADE, "context", "weights", "heads")) if step.kind == "move"]
    moves.sort(key=lambda step: (step.info.permutes, step.info.function.__name__ not in ("reshape", "unflatten")))
    return next((step.site for step in moves), None)


def layout_of(product: Product) -> tuple[list[list[Place]], tuple[Any, ...]]:
    """Which index along a product's shared axes is which [sentence][head], and what is wrong: code, where, detail."""
    known = [one for one in ((side, product.index_of(side, PROJECTED)) for side in "ab") if one[1] is not None]
    # (of queries that all sentences share the keys show the sentences)
    side, found = max(known, default=("", None), key=lambda one: len(np.unique(one[1][0] // one[1][1].shape[-1])))
    by_sentence: dict[Any, list[Place]] = {}
    if found is None:
        # Unknown: of two shared axes or more the last counts heads; one alone counts sentences.
        for place in np.ndindex(*product.shared):
            by_sentence.setdefault(place[:-1] or place, []).append(place)
        return list(by_sentence.values()), ()
    index, base = found
    lead_shape, width = base.shape[:-1] or (1,), base.shape[-1]
    rows = index // width
    whole_rows = bool((rows == rows[..., :1]).all())
    # A token is one row, in every head:
    each_once = whole_rows and bool((np.diff(np.sort(rows[..., 0], axis=-1), axis=-1) != 0).all())
    lead = np.array(np.unravel_index(rows, lead_shape))
    of_heads = heads_before(base)
    within = [axis for axis in range(len(lead_shape)) if axis not in of_heads and
              (lead[axis] == lead[axis][..., :1, :1]).all()]                # constant in each product of two matrices
    each_once = each_once and not of_heads
    several = [axis for axis in range(len(lead_shape)) if lead_shape[axis] > 1]
    sentences = {place: rows[place][:, 0].tobytes() if each_once else tuple(lead[(within, *place, 0, 0)])
                 for place in np.ndindex(*product.shared)}
    for place, sentence in sentences.items():
        by_sentence.setdefault(sentence, []).append(place)
    order = index % width if each_once else index
    groups = [sorted(group, key=lambda place: (int(order[place][0, 0]), place)) for group in by_sentence.values()]
    batch = lead[within][..., 0, 0] if within else np.reshape([*map(hash, sentences.values())], (1, *product.shared))
    depends = max(sum(bool((one != one.take([0], axis)).any()) for axis in range(one.ndim)) for one in batch)
    site, wrong = first_reshaping(product.nodes[side]), ()      # type: Any, tuple[Any, ...]
    tokens = [one[0] // one[1].shape[-1] for _, one in known]
    if len(tokens) == 2 and all(one.shape[-2] > 1 and (one == one[..., :1, :1]).all() for one in tokens):
        wrong = "heads_not_split", site
    elif len(several) > 1 and (depends > 1 or not set(several) & set(within)):
        wrong = "sentences_mixed", site, "heads" if set(several) & set(within) else "tokens"
    if len({len(group) for group in groups}) != 1:
        groups = [[place] for place in sentences]
    return groups, wrong


def heads_before(base: Node) -> set[int]:
    """Along which axes of a projection there are columns of what it was made from: heads that share its weight."""
    made = base.info.made.path(("source",)) if base.kind == "linear" and len(base.shape) > 3 else [NOTHING]
    plain = made[0].kind == "source" and all(step.kind == "move" for step in made[1:])
    axes = axes_after(moves_of(made), made[0].shape) if plain and made[1:] else None
    last = len(made[0].shape) - 1
    return {at for at, of in enumerate(axes[:-1]) if last in of} if axes and last in axes[-1] else set()


def recovered(index: Array, values: Array, width: int) -> Array:
    """The projection (rows, columns) that was split into heads (heads, rows, d); NaN where none has an element."""
    rows, columns = ((np.bincount(at.ravel()) > 0).cumsum()[at] - 1 for at in (index // width, index % width))
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
    """The variables of a function; the copy that Python before 3.13 leaves with it keeps them alive, and is emptied."""
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


def weights_around() -> Iterator[dict[str, Any]]:
    """Tensors by name, of each dict, named tuple or plain object that the caller's functions know: weights of a program
    without modules."""
    seen: set[int] = set()
    for frame, _ in zip(_user_frames(), range(4)):
        for one in (*_locals(frame).values(), *(frame.f_globals.get(name) for name in frame.f_code.co_names)):
            is_named = isinstance(one, tuple) and hasattr(one, "_asdict")
            named = one._asdict() if is_named else getattr(one, "__dict__", {})
            fields = one if isinstance(one, dict) else named if isinstance(named, Mapping) else {}
            if id(one) in seen or isinstance(one, (type, torch_module().nn.Module)) or not 0 < len(fields) < 1 << 10:
                continue
            seen.add(id(one))
            inner = [(f"{name}.{of}", value) for name, some in fields.items() if isinstance(some, dict)
                     for of, value in some.items()]
            found = {str(name): value for name, value in (*fields.items(), *inner) if is_tensor(value)}
            yield from [found] * bool(found)


def names_of(tensors: Sequence[Any]) -> Iterator[list[str]]:
    """What the caller's functions that know all of these tensors call them, the innermost first."""
    for frame, _ in zip(_user_frames(), range(8)):
        known = {id(value): name for name, value in reversed(list(_locals(frame).items())) if is_tensor(value)}
        if all(id(tensor) in known for tensor in tensors):
            yield [known[id(tensor)] for tensor in tensors]


def _may_be_mask(tensor: Any, sizes: set[int]) -> bool:
    if getattr(tensor, "is_nested", False) or tensor.is_quantized or tensor.is_meta or tensor.is_complex():
        return False
    return not tensor.is_floating_point() or tensor.shape[-1:] and tensor.shape[-1] in sizes and bool(
        ((tensor == 0) | (tensor == 1)).all())


def masks_around(names: str = MASKS, sizes: set[int] = set()) -> list[tuple[str, Any]]:
    """Masks among the arguments of the caller's functions, by name; of no names what else may be one, by size."""
    masks: list[tuple[str, Any]] = []
    first = None
    for depth, frame in enumerate(_user_frames()):
        arguments = _arguments(frame)
        values = _locals(frame)
        owner = values.get("self") if arguments[:1] == ("self",) else None
        first = owner if depth == 0 else first
        if depth > 0 and (depth > 1 if first is None else owner is not first):
            break
        given = [(name, values.get(name)) for name in arguments]
        several = [(name, one) for name, value in given for one in (
            value if isinstance(value, LISTS) and len(value) <= 8 else [value]) if is_tensor(one)]
        masks += [(name, one.detach()) for name, one in several
                  if re.search(names, name) and (names or not re.search(MASKS, name)
                      and (re.search(LENGTHS, name) or _may_be_mask(one, sizes)))]
    return masks


def masks_made(queries: int, keys: int) -> list[tuple[str, Any]]:
    """Masks of queries and keys that the caller's functions made, as their variables."""
    made: list[tuple[str, Any]] = []
    for frame, _ in zip(_user_frames(), range(8 if queries > 1 < keys else 0)):
        rest = frame.f_code.co_varnames[len(_arguments(frame)):]
        names = {name for name in rest if re.search(f"{MASKS}|{BIASES}", name)}
        made += [(name, one.detach()) for name, one in (_locals(frame) if names else {}).items() if name in names and
                 is_tensor(one) and one.shape[-2:] == (queries, keys) and one.layout is torch_module().strided]
    return made


def _arguments(frame: Any) -> tuple[str, ...]:
    code = frame.f_code
    return code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]


def is_causal() -> bool:
    """Whether an argument of the running functions, or an attribute of their object, hides later keys."""
    for frame, _ in zip(_user_frames(), range(2)):
        values = _locals(frame)
        names = {name: values.get(name) for name in _arguments(frame)}
        if any({**getattr(values.get("self"), "__dict__", {}), **names}.get(name) is True for name in CAUSAL):
            return True
    return False


def said_around() -> tuple[str, dict[str, float]]:
    """What the caller's functions call themselves, their variables and what they use of their objects; and numbers for
    a scale that these have and the functions do not use."""
    names, numbers, used = [type(one).__name__ for one in modules_around()[:3]], {}, set()      # type: Any, Any, Any
    for frame, _ in zip(_user_frames(), range(2)):
        code, owner = frame.f_code, _locals(frame).get("self")
        held = {**getattr(owner, "_buffers", {}), **getattr(owner, "__dict__", {})}
        used.update(code.co_names)
        names += [code.co_name, *code.co_varnames, *(name for name in code.co_names if name in held)]
        for name, one in held.items():
            if re.search(f"{SCALES}|norm|sqrt|root|inv", name):
                with contextlib.suppress(Exception):      # what is no number
                    numbers[name] = float(one)
    return " ".join(names), {name: one for name, one in numbers.items() if name not in used}


def path_of(modules: Sequence[Any], root: Any) -> str:
    """The path of the innermost of these modules inside the outermost one, or inside `root`."""
    inside = modules[:next((at for at, module in enumerate(modules) if module is root), len(modules)) + 1]
    names = [next((name for name, module in outer.named_modules() if module is inner), "") or type(inner).__name__
             for inner, outer in zip(inside, inside[1:])]
    return ".".join(names[::-1]) or (type(modules[-1]).__name__ if modules else "")


class Call:
    """One call of attention as it ran: queries, keys, values, mask, scale, and where. A list of heads is one call.

    Arrays are numpy float32: (sentences, heads, T, …). `where` is `file:line (module)` of the softmax."""

    def __init__(self, path: list[Node], modules: Sequence[Any], module: str, function: str, site: Site) -> None:
        """`path`: product … input of the softmax, or of the `function` in its place."""
        self.path, self.product, self.function, self.site = path, path[0].info, function, site
        self.modules, self.module = modules, module    # around it, the innermost first; its path: encoder.layers.0
        # Which index along the product's shared axes is which [sentence][head]; what forbids to judge more (observe).
        self.places, self.final = layout_of(self.product)
        queries, keys = self.product.rows.values()
        most = max(1, MOST_WEIGHTS // max(1, self.heads * keys))
        # Which rows of the weights are kept; None: all.
        self.rows = None if queries <= most else np.unique(np.linspace(0, queries - 1, most).astype(int))
        self.masks = masks_around()               # by the names of arguments
        self.handed = masks_around("", {queries, keys})      # what a mask may be made from
        self.made = masks_made(queries, keys)      # those that no argument is
        self.causal = is_causal()                 # whether the program says so
        self.words, self.numbers = said_around()
        self.held = [] if modules else [*weights_around()]      # weights by name, where no module has them
        self.given, self.dims = [], ()            # those of a function of torch; over which axes the softmax goes
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
        self.side_by_side: Any = None             # the same, where no projection takes them
        self.join: Any = itemgetter(0)            # how contexts of single heads became one
        self.columns_out: int | None = None       # of what the output projection takes
        self._parts = [self]                      # of heads that were computed one by one, each a call: all of them
        if self.product.operands:      # (a later softmax of the same product has those of the first)
            self.product.copies = {side: copy_of(tensor) for side, tensor in self.product.operands.items()}
        self.tensors = self.product.copies
        self.notes: list[Sequence[str]] = []      # as Tracer.note has them
        self.observed: dict[tuple[str, ...], Site | None] = {}     # by the code of a mistake, and the gaps of its words
        self.sites: dict[str, Site | None] = {}   # by the beginning of a code, or a code and a role
        self.called: set = set()                  # ids of the weights that were used around it
        self.inputs: list[Any] = []               # what queries and keys were projected from, weakly, and their names
        self.block, self.goes_on = 0, False       # in which it ran; whether what was added to the output was seen
        self.whole = False                        # values were met, or none will be
        self.in_parts, self.dropped = False, 0.0  # its queries are some of a call; dropout on without a gradient
        self.in_row = False                       # other sequences stand beside this one in what it was projected from
        self.lost = ""                            # an operation behind which the sum over values is not followed

    def observe(self, code: str, site: Site | None, *details: str) -> None:
        """What is wrong and seen without numbers, where it happened last; the program has the words."""
        self.observed[(code, *(details or ("",)))] = self.sites[code] = site

    def add_to(self, other: Any) -> None:
        """The residual stream goes on with what the queries are made from; not with what the keys are."""
        self.goes_on = True
        if self.inputs and self.inputs[0]() is other:
            self.observe("sides_swapped", self.inputs[2], *self.inputs[1], self.inputs[1][1])

    def side(self, role: str) -> str:
        """The operand that counts queries, or keys."""
        return "b" if (role == "key") != self.flipped else "a"

    def of_one_input(self) -> bool:
        """Whether queries and keys were projected from the same."""
        made = [self.node(role).path(MADE)[0] for role in ("query", "key")]
        return {one.kind for one in made} == {"linear"} and made[0].info.made is made[1].info.made

    def named(self, role: str) -> str | None:
        """What is at work as query, key or value: as the weights are named that projected it, else as variables are."""
        step, index = self.node(role).path(MADE)[0], self.index_of(role)
        called = [step.info.name] if step.kind == "linear" else step.info.names["b"] if step.kind == "product" else []
        packed = roles_of(called[0]) if step.kind == "linear" else ()
        width, weight = (0, None) if index is None or not packed else (index[1].shape[-1], step.info.weight)
        whole = width if weight is None or weight.dim() != 2 else weight.shape[step.info.axis]
        if index is not None and len(packed) == 3 and whole % 3 == 0:
            first, d = 0 if step.info.rows is None else step.info.rows.start, index[0].shape[-1]
            columns = index[0] % width + first
            each = [columns // (whole // 3), columns % (3 * d) // d]      # three blocks, or three in each head
            parts = [np.unique(one) for one in each[:1 + (whole == 3 * d * self.heads)]]
            return next((packed[one[0]] for one in parts if len(one) == 1), None)
        variables = [] if role == "value" else self.product.names[self.side(role)]
        found = ({roles for roles in map(roles_of, some) if len(roles) == 1} for some in (called, variables))
        return next((roles.pop()[0] for roles in found if len(roles) == 1), None)

    def swapped(self) -> bool:
        return (self.named("query"), self.named("key")) == ("key", "query")

    def meet(self, product: Product, side: str, axes: Sequence[frozenset[int]]) -> None:
        """Along which rows the weights, an operand of the product with these axes, meet the values."""
        summed, rows = ({one for axis in group[side] for one in axes[axis]} for group in (product.summed, product.free))
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
        query, key = (set(self.product.out_free[self.side(role)]) for role in ("query", "key"))
        if not self.dim_axes or self.dim_axes == key:
            return None
        along = {axis: {place[at] for place in self.places[0]} for at, axis in enumerate(self.product.out_shared)}
        names = {"the keys" if axis in key else "the queries" if axis in query else     # heads of one sentence differ
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
    heads_first = property(lambda self: len(self.places) > 1 < self.heads and self.places[0][:2] == [
        (0,), (len(self.places),)], doc="One axis has all sentences of head 0 first.")
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
        return len(self.places), self.heads, self.product.rows[self.side("query")], self.product.rows[self.side("key")]

    def __repr__(self) -> str:
        sentences, _, queries, keys = self.shape
        counts = ("sentence", sentences), ("head", sum(part.heads for part in self._parts))
        counted = ", ".join(f"{count:,} {what}" + "s" * (count != 1) for what, count in counts)
        return f"<attention at {self.where}: {counted}, {queries} × {keys}>"

    def node(self, role: str) -> Node:
        return self.value_node if role == "value" else self.product.nodes[self.side(role)]

    def size(self) -> int:
        """Bytes that are kept."""
        joined = (self.output or self.side_by_side or ())[:1]
        kept = [*self.tensors.values(), self.value_tensor, self.fused_output, *joined, *(self.softmax.kept or ())]
        return sum(tensor.numel() * tensor.element_size() for tensor in kept if is_tensor(tensor))

    def operand_before(self, role: str) -> Array | None:
        """An operand as before positions turned it, (sentences, heads, rows, d), without the scale; None: not known."""
        path = self.node(role).path(MADE)
        if path[0].kind == "linear" and all(step.kind != "turned" for step in path):
            return self.operand(role)
        before = before_positions(path)      # (what came from elsewhere may have been turned there)
        return None if before is None else self._of_heads(role, before, 1.0)

    def factor(self, role: str) -> float:
        """What an operand was multiplied by since its projection or norm; where there is none, if that makes 1/√d_k."""
        paths = [self.product.nodes[side].path((*MADE, "normed", "add", "times", "fill", "opaque")) for side in "ab"]
        of_all = factor_of(self.path) * math.prod(map(factor_of, paths)) * \
            math.sqrt(math.prod(self.product.operands_shape[axis] for axis in self.product.summed["a"]))
        known = [path[0].kind != "source" or path[0].cache or abs(of_all - 1) < 1e-2 for path in paths]
        at = self.side(role) == "b"
        return factor_of(paths[at]) if known[at] else 1.0

    def is_scaled(self) -> bool:
        return abs(self.scale * self.root() - 1) < 1e-3

    def root(self) -> float:
        """√d_k"""
        return math.sqrt(math.prod(self.product.operands_shape[axis] for axis in self.product.summed["a"]))

    def is_scale_meant(self) -> bool:
        """Whether the program has a number of its own for another scale than 1/√d_k: not twice that or its inverse, and
        none that it has for a scale and does not use."""
        paths = (self.node(role).path((*MADE, "normed")) for role in ("query", "key"))
        steps = [abs(step.info) * self.root() for path in (self.path, *paths) for step in path if step.kind == "scale"]
        usual = [step for step in steps if abs(step - 1) < 1e-3]
        idle = {min(abs(one * self.root() - 1), abs(one / self.root() - 1)) < 1e-3 for one in self.numbers.values()}
        slipped = len(usual) > 1 or abs(self.scale / self.root() - 1) < 1e-3
        arrays = (step.info[0] for step in self.path if step.kind == "times")
        array = any(not ((one == 0) | (one == 1)).all() for one in arrays)
        return array or bool(steps) and not slipped and (bool(usual) or True not in idle)

    def operand(self, role: str) -> Array | None:
        """(sentences, heads, rows, d), without the scale."""
        if role == "value":
            return None if self.value_tensor is None else as_numpy(self.value_tensor)
        return self._of_heads(role, self.tensors[self.side(role)], self.factor(role))

    def _of_heads(self, role: str, operand: Any, factor: float) -> Array:
        """An operand of the product as (sentences, heads, rows, d), without this factor."""
        array = as_numpy(self.product.arranged(self.side(role), operand)).astype(np.float32)
        return gathered(array, self.places) / np.float32(factor or 1)

    def index_of(self, role: str, kinds: Sequence[str] = PROJECTED) -> tuple[Array, Node] | None:
        """Which element of its projection, or another step of these kinds, each element of an operand is; that step."""
        if role != "value":
            found = self.product.index_of(self.side(role), kinds)
            return None if found is None else (gathered(found[0], self.places), found[1])
        found = self.context_product.index_of(self.value_side, kinds) if self.context_groups else None
        return None if found is None else (gathered(found[0].swapaxes(-2, -1), self.context_groups), found[1])

    def new_rows(self) -> tuple[int, int]:
        """Of keys that join those of before: the first row that is new, and how many are."""
        index, base = self.index_of("key", ("source",)) or (None, NOTHING)
        if not base.cache:
            return 0, 0
        axis, first, count, *_ = base.cache
        rows = np.unravel_index(index[0, 0, :, 0], base.shape)[axis]
        new = (rows >= first) & (rows < first + count)
        return int(new.argmax()), int(new.sum())

    def canonical(self, tensor: Any, moves: Sequence[Move], sentences: Sequence[int], rows: Array | None = None) -> Any:
        """A tensor that stands where scores stood after `moves`, as (sentences, heads, T, S); broadcast if need be."""
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
        """Which element of (sentences, heads, T, d_v) each of the output (rows, heads · d_v) is; `parts`: its heads."""
        size = math.prod(self.context.shape)
        if self.output is None or size * len(parts) > LARGE or not all(part.context_groups for part in parts):
            return None
        _, moves, join = self.output
        each = torch_module().arange(size * len(parts)).view(len(parts), *self.context.shape)
        arranged = np.concatenate([part.context_of(own).numpy() for part, own in zip(parts, each)], 1)
        index = moved(join(list(each)), moves)
        meaning = np.zeros(arranged.size, np.int32)
        meaning[arranged.ravel()] = np.arange(arranged.size)
        rows = meaning[index.reshape(-1, index.shape[-1]).numpy()]
        return rows if rows.shape[1] == arranged.shape[1] * arranged.shape[-1] else None

    def mask_parts(self, steps: Sequence[Node], sentences: Sequence[int],
                   rows: Array | None = None) -> Iterator[tuple[Node, Array, float]]:
        """What each step that treats cells differently has of them, (sentences, heads, T, S), and its number."""
        for step in (step for step in steps if step.kind in ("add", "times", "fill")):
            tensor, value = step.info
            cells = self.canonical(tensor, moves_of(step.parent.path(("product",))), sentences, rows)
            later = self.path[self.path.index(step):] if step in self.path else []
            if cells is None:
                self.notes += [("mask_unknown", self.where)] if later else []
                continue
            array = as_numpy(cells)
            for one in later:
                value = value * one.info if one.kind == "scale" else \
                    math.tanh(value) if one.kind == "cap" and step.kind == "fill" else value
            if step.kind != "add" or array.shape[-1] > 1 and (      # (one finite number a row changes no weight)
                    (array != array[..., :1]).any() or np.isneginf(array * np.float32(value)).any()):
                yield step, array.astype(bool) if step.kind == "fill" else array, value

    def own_mask(self) -> Array | None:
        """Bool where all it does is to block, else what is added; heads that agree are one."""
        parts, added = list(self.mask_parts(self.path, range(len(self.places)))), np.zeros((1, 1, 1, 1), np.float32)
        if not parts:
            return None
        for step, cells, value in parts:
            if step.kind == "fill":
                added = np.where(cells, np.float32(-np.inf if value <= BLOCKED else value), added)
            elif step.kind == "add":
                cells = cells * np.float32(value)
                added = added + np.where(cells <= BLOCKED, -np.inf, cells)
        added = added[:, :1] if (added == added[:, :1]).all() else added
        return added == 0 if np.isin(added, (0, -np.inf)).all() else added.astype(np.float32)

    def changes(self) -> list[Node]:
        """What was done to the weights after the softmax, but for dropout."""
        return [step for step in self.weight_path if step.kind not in ("weights", "move", "drop")]

    def changes_unlike_masks(self) -> list[Node]:
        """Those by an array that is more than a mask for all heads alike."""
        parts = self.mask_parts(self.changes(), range(len(self.places)))
        return [step for step, cells, _ in parts if step.kind == "add" or not np.isin(cells, (0, 1)).all() or
                (cells != cells[:, :1]).any()]

    @property
    def found(self) -> list[Any] | None:
        """The weights that met the values, dropout that belongs there left out; of some sentences, and queries."""
        chosen = next((step.kept for step in self.weight_path[::-1] if step.kept is not None), None)
        if chosen is None or not self.flipped:      # (it is known late which operand counts the keys)
            return chosen
        return [sentence.transpose(-2, -1) for sentence in chosen] if self.rows is None else None

    def own_weights(self) -> Array:
        sentences, found = len(self.places), self.found
        if found is not None and self.rows is None and len(found) == sentences:
            return as_numpy(found)
        standard = not self.wrong_axis() and self.function == "softmax" and not self.changes() and \
            not any(step.kind in ("times", "opaque", "drop") for step in self.path)
        if not standard:
            raise Error(f"{self.where}: expected a softmax over the keys of a sentence that is kept, found one that "
                        "only the caller's code can compute: fewer sentences, or Keep(sentences=…), keep its weights")
        query, key = (one.reshape(-1, *one.shape[2:]) for one in map(self.operand, ("query", "key")))
        mask, heads, layers = self.own_mask(), len(query) // sentences, []
        mask = mask[:1] if mask is not None and (mask == mask[:1]).all() else mask
        size = min(_HEADS, max(1, _CELLS // max(1, query.shape[1] * key.shape[1])))
        if mask is not None and mask.shape[:2] != (1, 1):      # (the program takes one mask for all heads)
            size = heads // mask.shape[1]
        for at in range(0, len(query), size):
            own, other = side_by_side(query[at:at + size]), side_by_side(key[at:at + size])
            arrays = {"query": own, "key": other, "value": other}
            if mask is not None:
                arrays["mask"] = mask[at // heads * (len(mask) > 1), at % heads // size * (mask.shape[1] > 1)]
            count = len(query[at:at + size])
            layers.append(answer_to(arrays, count, scale=repr(float(self.scale)))["attentions"][0])
        return np.concatenate(layers).reshape(sentences, heads, *layers[0].shape[1:])


def gathered(arranged: Any, groups: Sequence[Sequence[Place]]) -> Any:
    """Places of an array (shared…, rows, columns) that are heads of sentences: (sentences, heads, rows, columns)."""
    if not groups[0][0]:
        return arranged[None, None]
    places = np.moveaxis(np.array(groups), -1, 0)
    return arranged[tuple(places)]
