"""What is followed: a node for each tensor that matters, saying how it came about, and what its elements are."""
from __future__ import annotations

from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from .engine import Array, is_tensor, torch_module

LARGE = 1 << 22          # elements above which an index is not carried along
BLOCKED = -1e3           # added to a score, or in its place: as good as −inf


class Site(NamedTuple):
    file: str
    line: int
    function: str


class Node:
    """How one tensor came about. `kind`: source, linear (a projection), product, move, scale, add, times, fill, drop,
    opaque; after a softmax weights, post; then context, heads (several contexts side by side)."""
    __slots__ = ("kind", "parent", "shape", "site", "info")

    def __init__(self, kind: str, parent: Optional["Node"], shape: Sequence[int], site: Optional[Site],
                 info: Any = None) -> None:
        self.kind, self.parent, self.shape, self.site, self.info = kind, parent, tuple(shape), site, info


class Move(NamedTuple):
    function: Callable[..., Any]
    arguments: Tuple[Any, ...]
    options: Dict[str, Any]
    pick: Optional[int]          # of several results
    permutes: bool               # axes only change places


class Linear:
    """A projection: a product with a parameter, or with a matrix beside a larger array."""

    def __init__(self, weight: Any, name: str, transposed: bool, bias: bool, x: Any = None,
                 bias_of: Any = None) -> None:
        self.weight, self.name, self.bias, self.x, self.bias_of = weight, name, bias, x, bias_of
        self.transposed = transposed     # x·W where W is the weight of nn.Linear, which is (out, in)


class Product:
    """One product of two arrays, each as (shared…, rows, contracted); the result as (shared…, rows of a, rows of b)."""
    __slots__ = ("a", "b", "node_a", "node_b", "to_a", "to_b", "to_out", "shape", "shared", "dtype", "device",
                 "free", "summed", "own_shared", "out_shared", "out_free", "names")
    # free, summed: of each operand ("a", "b") its axes of rows and its contracted ones; out_…: axes of the result


class Softmax:
    __slots__ = ("dim", "name", "index", "snapshot", "frames", "call", "wrong_sum")


class Weights(NamedTuple):
    """Of one call, by sentence: (heads, rows, S), and which rows."""
    sentences: List[Any]
    rows: Optional[Array]


def path_to(node: Optional[Node], stops: Sequence[str]) -> List[Node]:
    """From the node up to the first of a kind in `stops`, oldest first."""
    path = []
    while node is not None:
        path.append(node)
        if node.kind in stops:
            break
        node = node.parent
    return path[::-1]


STOPS = ("linear", "product", "source", "add", "times", "fill", "opaque", "context", "weights", "heads")


def root_of(node: Optional[Node]) -> Optional[Node]:
    """The product, weights, context or projection from which a tensor was made by steps that keep its meaning."""
    while node is not None and node.kind in ("move", "scale", "add", "times", "fill", "drop", "opaque", "exp", "post"):
        node = node.parent
    return node


def moves_of(path: Sequence[Node]) -> List[Move]:
    return [node.info for node in path if node.kind == "move"]


def _replay(moves: Sequence[Move], tensor: Any) -> Any:
    for move in moves:
        tensor = move.function(tensor, *move.arguments, **move.options)
        if move.pick is not None:
            tensor = tensor[move.pick]
    return tensor


def index_after(moves: Sequence[Move], shape: Sequence[int]) -> Optional[Any]:
    """Which element of an array of `shape` stands where after the moves; nothing where that would be large."""
    torch = torch_module()
    count = int(np.prod(shape))
    if count > LARGE:
        return None
    return _replay(moves, torch.arange(count).view(*shape))


def axes_after(moves: Sequence[Move], shape: Sequence[int]) -> Optional[List[frozenset]]:
    """For each axis after the moves: the axes of `shape` along which one walks with it."""
    torch = torch_module()
    shape = tuple(shape)
    if not moves:
        return [frozenset([axis]) for axis in range(len(shape))]
    if all(move.permutes for move in moves):
        shape = (2,) * len(shape)
    index = index_after(moves, shape)
    if index is None:
        return None
    axes = []
    for axis in range(index.dim()):
        steps = index.select(axis, 0).flatten()
        varying = set()
        if index.shape[axis] > 1:
            first = np.array(np.unravel_index(steps.numpy(), shape))
            for place in {1, index.shape[axis] - 1}:
                other = np.array(np.unravel_index(index.select(axis, place).flatten().numpy(), shape))
                varying |= {i for i in range(len(shape)) if (first[i] != other[i]).any()}
        axes.append(frozenset(varying))
    return axes


PERMUTES = {"transpose", "swapaxes", "swapdims", "permute", "movedim", "moveaxis", "contiguous", "clone", "T", "mT", "t",
             "adjoint", "detach"}
CASTS = {"to", "float", "half", "bfloat16", "double", "type", "type_as", "cpu", "cuda", "requires_grad_"}
MOVES = PERMUTES | {"view", "reshape", "flatten", "unflatten", "squeeze", "unsqueeze", "expand", "expand_as", "repeat",
                      "repeat_interleave", "view_as", "reshape_as", "chunk", "split", "tensor_split", "unbind", "select",
                      "narrow", "__getitem__", "broadcast_to", "tile", "index_select", "split_with_sizes"}
TIMES = {"mul", "mul_", "multiply", "__mul__", "__rmul__", "__imul__"}
OVER = {"div", "div_", "divide", "true_divide", "__truediv__", "__itruediv__", "__div__"}
PLUS = {"add": 1, "add_": 1, "__add__": 1, "__radd__": 1, "__iadd__": 1, "sub": -1, "sub_": -1, "subtract": -1,
         "__sub__": -1, "__isub__": -1}
PRODUCTS = {"matmul", "__matmul__", "__rmatmul__", "bmm", "mm", "einsum", "baddbmm", "addmm"}
SAME = {"max", "amax"}


def _equation(text: str, *operands: Any) -> Optional[Tuple[str, str, str]]:
    """The letters of a product of two; an ellipsis gets letters of its own."""
    text = text.replace(" ", "")
    inputs, _, out = text.partition("->")
    parts = inputs.split(",")
    if len(parts) != 2 or len(operands) != 2:
        return None
    spare = [letter for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if letter not in text]
    if "..." in text:
        axes = [operand.dim() - len(part.replace("...", "")) if "..." in part else 0
                for part, operand in zip(parts, operands)]
        letters = "".join(spare[:max(axes)])
        parts = [part.replace("...", letters[len(letters) - count:]) for part, count in zip(parts, axes)]
        out = out.replace("...", letters)
    if "->" not in text:
        both = parts[0] + parts[1]
        out = "".join(sorted(letter for letter in set(both) if both.count(letter) == 1))
    if any(len(set(part)) != len(part) for part in (*parts, out)):
        return None
    return parts[0], parts[1], out


class Unmade(NamedTuple):
    """What a product would have given, where a fused kernel did not make it."""
    shape: Tuple[int, ...]
    like: Any

    @property
    def dtype(self) -> Any:
        return self.like.dtype

    @property
    def device(self) -> Any:
        return self.like.device

    def dim(self) -> int:
        return len(self.shape)


def product_of(name: str, args: Sequence[Any], out: Any) -> Optional[Product]:
    """The product that a call computes, where it is one of two arrays with rows on both sides."""
    lead = ""
    if name == "einsum":
        operands = args[1] if len(args) == 2 and isinstance(args[1], (list, tuple)) else args[1:]
        letters = _equation(args[0], *operands) if isinstance(args[0], str) and len(operands) == 2 else None
    else:
        operands = args[-2:] if name in ("baddbmm", "addmm") else args[:2]
        if name == "__rmatmul__":
            operands = operands[::-1]
        if not all((is_tensor(operand) or isinstance(operand, Unmade)) and operand.dim() >= 2 for operand in operands):
            return None
        lead = "ABCDEFGHIJKLMNOP"[:len(out.shape) - 2]
        own = [lead[len(lead) - operand.dim() + 2:] for operand in operands]
        letters = own[0] + "ik", own[1] + "kj", lead + "ij"
    if letters is None:
        return None
    sides, result = {"a": letters[0], "b": letters[1]}, letters[2]
    a, b = letters[:2]
    shared = [letter for letter in result if letter in lead or (letter in a and letter in b)]
    free = {side: [letter for letter in given if letter in result and letter not in shared] for side, given in sides.items()}
    summed = [letter for letter in a if letter in b and letter not in result]
    if not free["a"] or not free["b"] or not summed or \
            any(set(given) - {*shared, *free[side], *summed} for side, given in sides.items()):
        return None
    sizes_shared = tuple(out.shape[result.index(letter)] for letter in shared)

    def arranged(given: str, *groups: Sequence[str]) -> Callable[[Any], Any]:
        """The function that brings a tensor with these letters into (shared…, group 0, group 1)."""
        order = [given.index(letter) for letter in [*shared, *groups[0], *groups[1]] if letter in given]
        missing = [axis for axis, letter in enumerate(shared) if letter not in given]

        def arrange(tensor: Any) -> Any:
            tensor = tensor.permute(order)
            for axis in missing:
                tensor = tensor.unsqueeze(axis)
            ends = tensor.shape[len(shared):]
            if len(ends) > 2:
                sizes = [int(np.prod(part)) for part in (ends[:len(groups[0])], ends[len(groups[0]):])]
                tensor = tensor.reshape(*tensor.shape[:len(shared)], *sizes)
            return tensor.expand(*sizes_shared, *tensor.shape[-2:])
        return arrange
    product = Product()     # which no function above holds: it is let go without a collection of cycles
    product.shared, (product.a, product.b) = sizes_shared, operands
    product.to_a, product.to_b = arranged(a, free["a"], summed), arranged(b, free["b"], summed)
    product.to_out = arranged(result, free["a"], free["b"])
    product.free = {side: [given.index(letter) for letter in free[side]] for side, given in sides.items()}
    product.summed = {side: [given.index(letter) for letter in summed] for side, given in sides.items()}
    product.own_shared = {side: [given.index(letter) if letter in given else None for letter in shared]
                          for side, given in sides.items()}
    product.out_shared = [result.index(letter) for letter in shared]
    product.out_free = {side: [result.index(letter) for letter in free[side]] for side in sides}
    product.shape, product.dtype, product.device = tuple(out.shape), out.dtype, out.device
    product.names = {"a": [], "b": []}
    product.node_a = product.node_b = None
    return product


class Layout:
    """Which index along a product's shared axes is which sentence and head: `groups[sentence][head]`."""
    __slots__ = ("groups", "indices", "trouble", "known")

    def __init__(self) -> None:
        self.groups: List[List[Tuple[int, ...]]] = []
        self.indices: Dict[str, Tuple[Array, Node]] = {}     # of a side whose projection is known
        self.trouble: Optional[Tuple[str, str, Optional[Site]]] = None     # code, detail, where
        self.known = False


def operand_index(node: Optional[Node], arrange: Callable[[Any], Any]) -> Optional[Tuple[Array, Node]]:
    """Which element of the projection each element of an operand is, as (shared…, rows, contracted)."""
    path = path_to(node, STOPS)
    if not path or path[0].kind not in ("linear", "product", "add"):
        return None
    base = path[0]
    index = index_after(moves_of(path), base.shape)
    if index is None:
        return None
    try:
        return arrange(index).numpy(), base
    except RuntimeError:
        return None


def first_reshaping(node: Optional[Node]) -> Optional[Site]:
    """Where an operand is split into heads: the first step after its projection that changes more than the order of axes."""
    path = path_to(node, ("linear", "product", "source", "context", "weights", "heads"))
    moves = [step for step in path if step.kind == "move"]
    for names in (("reshape", "unflatten"), None):
        for step in moves:
            if not step.info.permutes and (names is None or step.info.function.__name__ in names):
                return step.site
    return moves[0].site if moves else None


def layout_of(product: Product) -> Layout:
    """Sentences and heads, found by following each element back to the projection it came from; where that is not known,
    (batch, heads) as most code has them."""
    layout = Layout()
    for side, node, arrange in (("a", product.node_a, product.to_a), ("b", product.node_b, product.to_b)):
        found = operand_index(node, arrange)
        if found is not None:
            layout.indices[side] = found
    places = list(np.ndindex(*product.shared))
    side = "a" if "a" in layout.indices else "b"
    if side not in layout.indices:
        # Unknown: of two shared axes or more the last counts heads; one alone counts sentences.
        sentences: Dict[Tuple[int, ...], List[Tuple[int, ...]]] = {}
        for place in places:
            sentences.setdefault(place[:-1] if len(place) > 1 else place, []).append(place)
        layout.groups = list(sentences.values())
        return layout
    index, base = layout.indices[side]
    split_node = product.node_a if side == "a" else product.node_b
    layout.known = True
    width = base.shape[-1]
    lead_shape = base.shape[:-1]
    rows = index // width
    by_sentence: Dict[Any, List[Tuple[int, ...]]] = {}
    whole_rows = bool((rows == rows[..., :1]).all())
    ordered = np.sort(rows[..., 0], axis=-1)
    each_once = whole_rows and bool((np.diff(ordered, axis=-1) != 0).all())     # a token is one row, in every head
    lead = np.array(np.unravel_index(rows, lead_shape)) if lead_shape else np.zeros((0, *rows.shape), int)
    within = [axis for axis in range(len(lead_shape))
              if (lead[axis] == lead[axis][..., :1, :1]).all()]             # constant in each product of two matrices
    several = [axis for axis in range(len(lead_shape)) if lead_shape[axis] > 1]
    if whole_rows and index.shape[-2] > 1 and (rows == rows[..., :1, :]).all():
        layout.trouble = ("heads_not_split", "", first_reshaping(split_node))
    elif len(several) > 1 and not [axis for axis in several if axis in within]:
        layout.trouble = ("sentences_mixed", "tokens", first_reshaping(split_node))
    for place in places:
        key = rows[place][:, 0].tobytes() if each_once else tuple(int(lead[axis][place][0, 0]) for axis in within)
        by_sentence.setdefault(key, []).append(place)
    layout.groups = [sorted(group, key=lambda place: (int(index[place][0, 0] % width) if each_once
                                                      else int(index[place][0, 0]), place))
                     for group in by_sentence.values()]
    sentence_of = np.zeros(product.shared, int)
    for sentence, group in enumerate(layout.groups):
        for place in group:
            sentence_of[place] = sentence
    depends = [axis for axis in range(sentence_of.ndim) if (np.diff(sentence_of, axis=axis) != 0).any()]
    if len(depends) > 1 and len(several) > 1 and layout.trouble is None:
        layout.trouble = ("sentences_mixed", "heads", first_reshaping(split_node))
    if len({len(group) for group in layout.groups}) != 1:
        layout.groups = [[place] for place in places]
    return layout


def is_split_in_blocks(index: Array, width: int) -> bool:
    """Whether head h of (heads, rows, d) is d neighbouring columns of rows of `width`, heads in order (or several sharing
    them)."""
    rows, columns = index // width, index % width
    starts = columns[:, 0, 0]
    return bool((rows == rows[..., :1]).all() and (columns == columns[:, :1]).all() and
                (np.diff(columns, axis=-1) == 1).all() and (np.diff(starts) >= 0).all() and
                not (starts % index.shape[-1]).any())


def recovered(index: Array, width: int, values: Array) -> Optional[Array]:
    """The projection (rows, columns) put together again from the heads (heads, rows, d) it was split into."""
    rows, row_at = np.unique((index // width).ravel(), return_inverse=True)
    columns, column_at = np.unique((index % width).ravel(), return_inverse=True)
    array = np.full((len(rows), len(columns)), np.nan, np.float32)
    array[row_at, column_at] = values.ravel()
    return None if np.isnan(array).any() else array
