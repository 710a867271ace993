"""torch's operations are followed one by one: each tensor that matters gets a node that says how it came about."""
from __future__ import annotations

import contextlib
import functools
import itertools
import json
import math
import os
import re
import string
import sys
import threading
import traceback
import types
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .engine import LISTS, first_line, is_tensor, require, roles_of, torch_module
from .flow import RUNNING, Again, apart, parts_of, unfollowed
from .nodes import (BLOCKED, LARGE, MADE, NOTHING, OTHER_SIDE, SCALES, Call, Linear, Move, Node, Product, axes_after,
                    before_positions, caller, evaluating, factor_of, index_after, modules_around, moved, moves_of,
                    names_of, path_of, product_of, variables, weights_around)


class Keep(NamedTuple):
    """What `watch` keeps. Of a call: queries, keys and values, and of its weights at most 2²⁰ numbers a sentence."""
    calls: int = 1000                        # of attention, at most; the others are counted
    layers: Sequence[int] | None = None   # by their order among the lines of code that run attention; None: all
    sentences: int = 4                       # of a batch whose weights are kept for check(); queries, keys, values: all
    memory: int = 1 << 30                    # bytes of all calls, after which further ones are counted alone
    every: int = 1                           # of `with seen:` blocks every n-th is followed


class Enough(BaseException):
    """Ends a module that runs again, when what is asked for is there."""


class Operation(NamedTuple):
    """One call of a function of torch, and how its first argument came about."""
    function: Any
    name: str
    args: Sequence[Any]
    kwargs: dict[str, Any]
    out: Any
    node: Node
    root: Node

    def get(self, position: int, name: str, otherwise: Any = None) -> Any:
        return self.args[position] if len(self.args) > position else self.kwargs.get(name, otherwise)


# Of functions of torch: by the method of Tracer that follows them, and by what they do.
_NAMES = json.loads(Path(__file__).with_name("operations.json").read_text(encoding="utf-8"))
_SAME, _PERMUTES, _RESHAPES, _CASTS, _OVER, _MINUS, _UNCHANGED, _TURNING, _BOUNDS = ({*_NAMES[name]} for name in (
    "same", "permutes", "reshapes", "casts", "over", "minus", "unchanged", "turning", "bounds"))
_HANDLERS = {name: handler for handler, names in _NAMES["followed"].items() for name in names}
_HANDLERS.update({**dict.fromkeys(_PERMUTES | _RESHAPES | _CASTS, "_on_move"), **dict.fromkeys(_OVER, "_on_times"),
                  **dict.fromkeys(_MINUS, "_on_plus")})
_CELLS, _HEADS = ("product", "weights"), ("context", "heads")     # roots: a number for each query and key; of calls


@functools.lru_cache(None)
def _follower_class(torch: Any) -> Any:
    """The TorchFunctionMode that hands every operation to a watch; made where torch is there to derive from."""
    mode = getattr(torch.overrides, "TorchFunctionMode", None)
    require(mode, "torch", "version 1.13 or later", torch.__version__)
    tracing = getattr(getattr(torch, "compiler", None), "is_dynamo_compiling", bool)

    class Follower(mode):
        def __init__(self, seen: Tracer) -> None:
            self.seen = seen

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs, name = kwargs or {}, getattr(func, "__name__", "")
            if tracing():                    # torch.compile, which would make this code a part of the caller's
                return func(*args, **kwargs)
            if name == "__get__":
                name = getattr(getattr(func, "__self__", None), "__name__", "")
            if name == "multi_head_attention_forward":
                state = torch.get_rng_state()
                self.seen.given = [(key, value) for key, value in kwargs.items() if "mask" in key and is_tensor(value)]
                try:
                    with self:
                        return _opened(func)(*args, **kwargs)
                except Exception:            # as it comes about without a watch
                    torch.set_rng_state(state)
                finally:
                    self.seen.given = []
            out = func(*args, **kwargs)
            if name == "softmax" and self.seen.given and self.seen.is_finite:
                out = torch.nan_to_num(out)      # of a query without a key, which the fast path leaves out
            if name in _HANDLERS or any(is_tensor(value) and self.seen.is_score(value) for value in args[:3]):
                self.seen.follow(func, name, args, kwargs, out)
            return out
    return Follower


@functools.lru_cache(None)
def _opened(func: Any) -> Any:
    """A function of torch.nn.functional that finds itself not overridden: its own operations are seen one by one."""
    asked = ("has_torch_function", "has_torch_function_unary", "has_torch_function_variadic")
    names = {**func.__globals__, **{name: lambda *_: False for name in asked}}
    again = types.FunctionType(func.__code__, names, func.__name__, func.__defaults__, func.__closure__)
    again.__kwdefaults__ = func.__kwdefaults__
    return again


def unseen(torch: Any, out: Any) -> str:
    """Why the numbers of a result cannot be looked at; "" where they can."""
    compiling = getattr(getattr(torch, "compiler", None), "is_compiling", bool)
    if torch._C._get_tracing_state() is not None:
        return "torch.jit.trace"
    inside = getattr(torch._C, "_functorch", None) or getattr(sys.modules.get("functorch"), "_C", None)
    if inside is not None and is_tensor(out) and (inside.is_batchedtensor(out) or inside.is_gradtrackingtensor(out)):
        return "torch.vmap and functorch"
    if compiling() or type(out).__module__.startswith(("torch._subclasses", "torch._functorch", "torch.fx")):
        return "torch.compile, torch.export and fake tensors"
    if is_tensor(out) and out.is_cuda and torch.cuda.is_current_stream_capturing():
        return "CUDA graphs"
    return "tensors on the device meta" if is_tensor(out) and out.is_meta else ""


def number_of(value: Any) -> float | None:
    """A number, also as a tensor or array of one element; nothing for larger ones."""
    known = is_tensor(value) or isinstance(value, (int, float, np.number, np.ndarray))
    return float(value) if known and math.prod(np.shape(value)) == 1 else None


def _base_of(tensor: Any) -> Any:
    """What it is a view of."""
    base = tensor._base
    return None if base is None or getattr(base, "is_nested", False) or base.layout != torch_module().strided else base


class Tracer:
    """The block in which operations are followed, and the calls of attention found in it."""

    def __init__(self, module: Any = None, keep: int | Keep | None = None) -> None:
        modules = getattr(module, "modules", None)
        known = isinstance(keep, (Keep, int, type(None))) and (module is None or callable(modules))
        require(known, "watch", "a module, and keep of headlight.Keep or a number", f"{module!r:.64} and {keep!r:.64}")
        self.keep = keep if isinstance(keep, Keep) else Keep() if keep is None else Keep(calls=keep)
        possible = self.keep.every >= 1 and self.keep.calls >= 0 and self.keep.sentences >= 1
        require(possible, "keep", "calls ≥ 0, sentences ≥ 1 and every ≥ 1", self.keep)
        self._modules = None if module is None else set(map(id, modules()))
        self._module = module
        self._tags: dict[int, tuple[Any, Node]] = {}     # by id: the tensor, weakly, and its node
        self._calls: list[Call] = []                     # in the order of their softmaxes; some met no values yet
        self._layers: dict[Any, int] = {}                # by the path of a module, or the line of a softmax
        self._names: Any = weakref.WeakKeyDictionary()   # by module, as _maps has them
        self._outer, self.is_finite = None, False        # the outermost module: its frame and output; without NaN
        self.again: list[tuple[int, Again, Call]] = []   # some modules that ran: id, and the first call inside
        self.compared: list[tuple[str, ...]] = []        # texts of flow: how what is followed differs
        self._used: set = set()                          # ids of weights
        self.given: list[Any] = []                       # masks of the function of torch that runs, by name
        self._gradient = True                            # whether it is computed where an operation ran
        self._operations = self._blocks = self._left_out = self._bytes = 0
        self.most = math.inf              # calls after which what runs is ended, where only they matter
        self._notes: list[Sequence[str]] = []
        # While a block is open: what ends with it, its thread, whether compiled functions run as written (torch 2.6).
        self._open, self._thread, self._as_written = contextlib.ExitStack(), None, False     # type: Any, Any, bool

    def __enter__(self) -> Any:
        require(self._thread is None, "watch", "a watch that is not open", "an open one: a thread needs one of its own")
        self._thread, self._process = threading.get_ident(), os.getpid()
        self._blocks += 1
        torch = torch_module()
        if torch is not None and (self._blocks - 1) % self.keep.every == 0:
            self._open.enter_context(_follower_class(torch)(self))
            self._as_written = "torch._dynamo" in sys.modules and hasattr(torch.compiler, "set_stance")
            if self._as_written:
                self._open.enter_context(torch.compiler.set_stance("force_eager"))
            self._open.callback(torch.nn.modules.module.register_module_forward_pre_hook(self._before_module).remove)
            self._open.callback(torch.nn.modules.module.register_module_forward_hook(self._after_module).remove)
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        """What belongs to the running code is let go; calls that met no values stay where their shape fits."""
        try:
            self._open.close()
        finally:
            self._thread = self._outer = None
            for call in self._calls:
                with self._silent(call.where):
                    if not call.whole and len(call.product.shape) >= 3:
                        self._keep_call(call)
            self._calls = [call for call in self._calls if call.whole]
            self._tags = {}

    def _before_module(self, module: Any, args: Any) -> None:
        frame, torch = sys._getframe(1), torch_module()
        if threading.get_ident() != self._thread or getattr(RUNNING, "alone", False):
            return
        with self._silent("a module"):
            kinds = "Script|Traced" if self._as_written else "Script|Traced|OptimizedModule"
            if re.search(kinds, type(module).__name__):
                inner = getattr(module, "original_name", None) or type(getattr(module, "_orig_mod", module)).__name__
                self._note("compiled", inner)
        if self._outer is not None and any(one is self._outer[0] for one, _ in traceback.walk_stack(frame)):
            return
        self._outer = None
        try:
            again = Again(module, args, frame.f_locals.get("kwargs", {}), _follower_class(torch))
            before = [one for of, one, _ in self.again if of == id(module)]
            known = len(self.again) >= 4 or len(before) > 1 or any(map(again.is_like, before))
            plain = again.run(last=known)
            self.is_finite = not module.training and not torch.is_grad_enabled() and not any(
                one.isnan().any() for one in parts_of(plain) if is_tensor(one))
            self._outer = frame, (plain, torch.get_rng_state()), None if known else again, len(self._calls)
        except Exception as error:       # (the caller's own comes again when it is followed)
            self.compared.append(("alone", first_line(str(error)) or type(error).__name__))

    def _after_module(self, module: Any, _: Any, out: Any) -> Any:
        if self._outer is None or self._outer[0] is not sys._getframe(1):
            return None
        (_, (plain, drawn), again, before), self._outer, self.is_finite = self._outer, None, False
        if again is not None and len(self._calls) > before:
            self.again.append((id(module), again, self._calls[before]))
        with self._silent("a module"), torch_module().no_grad(), unfollowed(_follower_class(torch_module())):
            self.compared.append(apart(plain, out))
            if again is not None and self.compared[-1] == ("equal",) and torch_module().equal(
                    drawn, torch_module().get_rng_state()) and \
                    self._module in (None, module) and self.keep.layers is None and not self._left_out and \
                    {call.product.dtype for call in self._calls[before:]} <= {one.dtype for one in module.parameters()}:
                again.known = plain, self._calls[before:]      # (autocast is over when it runs again)
        return None if self.compared[-1:] == [("equal",)] else plain

    @contextlib.contextmanager
    def _silent(self, what: str, of_line: bool = False) -> Any:
        """Nothing that happens here reaches the caller's code: it becomes a note, with the line that runs or not."""
        try:
            yield
        except Exception as error:
            what = f"{caller()}: {what}" if of_line else what
            self._note("not_followed", what, f"{type(error).__name__}: {first_line(str(error))}")

    def _note(self, *note: str) -> None:
        """The name of a text of tools/diagnose/texts.h, and what stands in its gaps."""
        if len(self._notes) < 100 and note not in self._notes:
            self._notes.append(note)

    def node_of(self, tensor: Any) -> Node:
        """NOTHING where a tensor is not followed."""
        entry = self._tags.get(id(tensor))
        return entry[1] if entry is not None and entry[0]() is tensor else NOTHING

    def is_score(self, tensor: Any) -> bool:
        return self.node_of(tensor).kind not in ("", "source")

    def _tag(self, tensor: Any, node: Node | None) -> None:
        tags, name = self._tags, id(tensor)
        if node is None:
            tags.pop(name, None)
        else:
            tags[name] = weakref.ref(tensor, lambda _: tags.pop(name, None)), node
            node.tensor = tags[name][0] if node.tensor() is None else node.tensor      # (not one that was cast)

    def _source(self, tensor: Any) -> Node:
        base = _base_of(tensor) if self.node_of(tensor) is NOTHING else None
        if base is not None and self.node_of(base).root.kind == "linear" and base.is_contiguous() and not base._version:
            # (before torch 2 an index like x[0] is not seen)
            where = tuple(tensor.shape), tensor.stride(), tensor.storage_offset() - base.storage_offset()
            strided = Move(lambda one, *where: one.contiguous().as_strided(*where), where)
            self._tag(tensor, Node("move", self.node_of(base), tensor.shape, caller(), strided))
        if self.node_of(tensor) is NOTHING:
            parameter = tensor if isinstance(tensor, torch_module().nn.Parameter) else None
            self._used.update([] if parameter is None else [id(parameter)])
            self._tag(tensor, Node("source", None, tensor.shape, None, parameter))
        return self.node_of(tensor)

    def _step(self, kind: str, node: Node, out: Any, info: Any = None, of: Any = None) -> None:
        """`out` was made from the tensor of `node`. Changed weights are kept, where dropout belongs those before it."""
        step = Node(kind, node, out.shape, caller(), info, of)
        if node.root.kind == "product" and kind in ("fill", "add", "times"):
            node.root.info.masked.append(step)
        if node.root.kind == "weights" and kind not in ("move", "expsum") and (kind != "drop" or evaluating()):
            step.kept = self._snapshot(node.root.info, out, step.path(("product",)))
        self._tag(out, step)

    def follow(self, function: Any, name: str, args: Any, kwargs: dict[str, Any], out: Any) -> None:
        """By the thread and the process that opened the watch."""
        torch = torch_module()
        self._operations += 1
        if os.getpid() != self._process:
            return
        self._gradient = torch.is_grad_enabled()
        with self._silent(name, of_line=True), torch.no_grad():
            blind = unseen(torch, out)
            if blind:
                self._note("blind", blind)
            elif any(getattr(value, "is_nested", False) for value in (out, *args)):
                self._on_nested(function, name, args, kwargs, out)
            else:
                self._handle(function, name, args, kwargs, out)

    def _handle(self, function: Any, name: str, args: Any, kwargs: dict[str, Any], out: Any) -> None:
        node = self.node_of(args[0]) if args else NOTHING
        operation = Operation(function, name, args, kwargs, out, node, node.root)
        if name in _HANDLERS:
            getattr(self, _HANDLERS[name])(operation)
            if is_tensor(out) and operation.root.kind == "linear" and self.node_of(out) is NOTHING \
                    and name != "dropout":
                self._lost(node, out, name)
        for one in [out] if is_tensor(out) else out if isinstance(out, LISTS) else ():
            if name not in _HANDLERS and is_tensor(one):
                self._on_other(operation._replace(out=one))

    def _components(self, value: Any) -> Sequence[Any]:
        """Of a nested tensor, the same ones each time."""
        if self.node_of(value) is NOTHING:
            self._tag(value, Node("source", None, (), None, value.unbind()))
        return self.node_of(value).info

    def _on_nested(self, function: Any, name: str, args: Sequence[Any], kwargs: dict[str, Any], out: Any) -> None:
        """Of nested and jagged tensors each component is followed, as a sentence without an axis of the batch."""
        outs = out if isinstance(out, LISTS) else [out]
        if not all(getattr(one, "is_nested", False) for one in outs):
            known = name in _HANDLERS and is_tensor(out)
            return self._note("blind", "this operation on nested tensors") if known else None
        for place, parts in enumerate(zip(*map(self._components, outs))):
            part = parts if outs is out else parts[0]
            own = [self._components(value)[place] if getattr(value, "is_nested", False) else value for value in args]
            if name in _RESHAPES and outs is not out:
                function, name, own[1:] = torch_module().Tensor.reshape, "reshape", [tuple(part.shape)]
            elif name in _PERMUTES or name == "softmax":     # axes are counted without the first
                axes = [axis for value in own[1:] for axis in (value if isinstance(value, LISTS) else [value])]
                own[1:] = [axis - (isinstance(axis, int) and axis > 0) for axis in axes if name != "permute" or axis]
            named = {key: value - (value > 0) if key.startswith("dim") and isinstance(value, int) else value
                     for key, value in kwargs.items()}
            self._handle(function, name, own, named, part)
        return None

    def _origin(self, tensor: Any) -> Any:
        """The tensor of which this one is another view, or a norm."""
        node = self.node_of(tensor).path(("source",))[0]
        before = None if node.kind != "source" else node.of() if node.of is not None else node.tensor()
        return tensor if before is None else before

    def _on_other(self, op: Operation) -> None:
        """A norm; a move; or an operation that is not known: scores and weights stay that, and are not judged."""
        if op.node is NOTHING and op.name not in _HANDLERS:
            tracked = [value for value in op.args[1:3] if is_tensor(value) and self.is_score(value)]
            return self._lost(self.node_of(tracked[0]), op.out, op.name) if tracked else None
        if op.root.kind in ("", "source"):
            before = weakref.ref(self._origin(op.args[0]))
            return self._tag(op.out, Node("source", None, op.out.shape, caller(), of=before, kept=op.root.kept))
        is_score = op.root.kind == "weights" or (op.root.kind == "product" and len(op.root.shape) >= 3)
        kind = _NAMES["kinds"].get(op.name)
        if op.name in _BOUNDS and is_score and is_tensor(op.out) and op.out.shape == op.node.shape and bool((
                (op.out == op.args[0]) | ((op.args[0] <= BLOCKED) & (op.out <= BLOCKED)) | op.args[0].isnan()).all()):
            if op.root.kind == "weights" and bool((op.args[0].isnan() & ~op.out.isnan()).any()):
                same = Move(torch_module().Tensor.contiguous, (), permutes=True)      # (of rows without a key)
                step = Node("move", op.node, op.out.shape, caller(), same)
                step.kept = self._snapshot(op.root.info, op.out, step.path(("product",)))
                return self._tag(op.out, step)
            return self._tag(op.out, op.node)      # nothing is beyond these bounds
        if kind == "cap" and is_score:
            return self._step("cap", op.node, op.out)
        if kind not in (None, "cap") and op.root.kind == "linear":
            self._used.update(id(one) for one in (*op.args[1:], *op.kwargs.values()) if is_tensor(one))
            how = "unit" * (op.name == "normalize")      # rows of length 1: no scale follows from their width
            return self._made(kind, op.node, op.out, shown=op.name in ("layer_norm", "rms_norm"), how=how)
        if op.name in _UNCHANGED or not (op.out.is_floating_point() or op.out.is_complex()):
            return None
        move = self._as_move(op)
        if move is not None:
            return self._step("move", op.node, op.out, move)
        if is_score and op.out.shape == op.node.shape:
            return self._step("opaque", op.node, op.out, op.name)
        return self._lost(op.node, op.out, op.name)

    def _lost(self, node: Node, out: Any, name: str) -> None:
        """What a projection, or the sum over values, became cannot be told from here on: it passed through `name`."""
        kind = node.root.kind if node.root.kind == "linear" or math.prod(node.shape) == out.numel() else ""
        if kind in _HEADS:
            node.root.info[0].lost = name
        lost = Node("source", None, out.shape, caller(), kept=name) if kind == "linear" else None
        factor = factor_of(node.path(("linear",))) if kind == "linear" else 1
        self._tag(out, lost if factor == 1 else Node("scale", lost, out.shape, caller(), factor))

    def _as_move(self, op: Operation) -> Move | None:
        """An operation that only puts elements elsewhere, which two numberings of them show."""
        if math.prod(op.node.shape) > LARGE or op.out is op.args[0]:
            return None
        torch, shape = torch_module(), op.node.shape
        first = torch.arange(math.prod(shape), dtype=torch.float64).view(*shape) + 0.25
        with contextlib.suppress(Exception):
            one, other = (op.function(own, *op.args[1:], **op.kwargs) for own in (first.clone(), -first))
            if one.shape == op.out.shape and bool((one % 1 == 0.25).all()) and torch.equal(-one, other):
                return Move(op.function, tuple(op.args[1:]), op.kwargs)
        return None

    def _on_move(self, op: Operation) -> None:
        torch = torch_module()
        if not op.args or not is_tensor(op.args[0]):
            return
        tensor, node, out = op.args[0], op.node, op.out
        if node is NOTHING:
            known = op.name in _PERMUTES | {"view", "reshape", "unflatten", "flip", "roll"} or \
                isinstance(tensor, torch.nn.Parameter) or self.node_of(_base_of(tensor)).root.kind == "linear"
            if not known or tensor.dim() < 2 or not tensor.is_floating_point():
                return
            node = self._source(tensor)
        if op.name in _CASTS or any(isinstance(value, torch.dtype) for value in op.args[1:]):
            if is_tensor(out) and tuple(out.shape) == node.shape:
                self._tag(out, node)
                some = node.root.info[0] if node.root.kind in _HEADS else node.root.info
                of = some if isinstance(some, Product) else getattr(some, "product", None)
                if of is not None and out.dtype in (torch.float16, torch.bfloat16):
                    of.dtype = out.dtype
            return
        move = Move(op.function, tuple(op.args[1:]), op.kwargs, permutes=op.name in _PERMUTES)
        if op.name in ("view", "view_as", "reshape_as", "expand_as"):      # (a view may need a copy when made again)
            again = torch.Tensor.expand if op.name == "expand_as" else torch.Tensor.reshape
            move = Move(again, (tuple(out.shape),))
        sink = node.kind == "weights" and any(step.kind == "sink" for step in node.info.path)
        if sink and is_tensor(out) and out.shape == (*node.shape[:-1], node.shape[-1] - 1):      # it is cut off
            return self._tag(out, Node("weights", node.parent, out.shape, node.site, node.info, kept=node.kept))
        if op.root.kind in _HEADS and not move.permutes:
            op.root.info[0].sites["merge_"] = caller()
        for pick, part in enumerate(out) if isinstance(out, LISTS) else [(None, out)]:
            if is_tensor(part) and part is not tensor:
                turns = op.name in _TURNING and self._turns(node, move, out)
                self._step("move", node, part, move._replace(pick=pick), turns)
                if op.root.kind == "context":
                    whole = part.shape[-1] > op.root.shape[-1] and part.numel() == np.prod(op.root.shape) <= LARGE
                    call, moves = op.root.info[0], moves_of(self.node_of(part).path(_HEADS))
                    call.side_by_side = (part.detach().clone(), moves, call.join) if whole else None

    def _shaped(self, node: Node, out: Any, how: str) -> Node:
        """The node of what this method brought to the shape of `out`, if it had another one."""
        shape, function = tuple(out.shape), getattr(torch_module().Tensor, how)
        return node if shape == node.shape else Node("move", node, shape, caller(), Move(function, (shape,)))

    def _on_linear(self, op: Operation) -> None:
        if op.root.kind in _CELLS and op.out.shape == op.node.shape:         # heads that talk to one another
            self._used.update(map(id, (op.get(1, "weight"), op.get(2, "bias"))))
            return self._step("opaque", op.node, op.out, op.name)
        self._projected(op.get(0, "input"), op.get(1, "weight"), op.get(2, "bias"), op.out, turned=True)

    def _projected(self, x: Any, weight: Any, bias: Any, out: Any, turned: bool, arranged: Sequence[Move] = ()) -> None:
        """x·Wᵀ + b (`turned`) or x·W + b, where `weight` is W; of x `arranged`, which has axes of heads."""
        root, path = self.node_of(x).root, self.node_of(x).path(_HEADS)
        call = root.info[0] if root.kind in _HEADS else None
        index = index_after(moves_of(self.node_of(x).path(("parts",))), root.shape) if root.kind == "parts" else None
        if index is not None:      # a row has what one query gave
            queries = np.unravel_index(index.numpy(), root.shape)[root.info[1]]
            root.info[0].lost = root.info[0].lost or "reshape" * bool((queries != queries[..., :1]).any())
        # Heads side by side go into the output projection.
        if call is not None and call.columns_out is None:
            call.columns_out = x.shape[-1]
        if call is not None and call.output is None and x.numel() <= LARGE and (
                root.kind == "context" or all(step.kind == "move" for step in path[1:])):
            call.output = moved(x.detach(), arranged).clone(), [*moves_of(path), *arranged], call.join
            call.side_by_side = None
        path = self.node_of(weight).path(("source",))
        factor = factor_of(path)
        of_bias = factor if bias is None else factor_of(self.node_of(bias).path(("source",)))
        turns = sum(1 for move in moves_of(path) if move.permutes and move.function.__name__ not in _SAME)
        parameter = weight if path[0].info is None else path[0].info
        whole = getattr(weight, "_base", None)      # (before torch 2 an index like w[:d] is not seen)
        part = parameter is weight and isinstance(whole, torch_module().nn.Parameter) and whole.dim() == 2 and \
            weight.stride() == whole.stride() and weight.shape[1] == whole.shape[1]
        first = weight.storage_offset() // max(1, weight.stride(0)) if part else 0
        parameter = whole if part else parameter
        self._used.add(id(parameter))
        maps = [self._maps(module) for module in modules_around()]
        linear = next((linears[id(parameter)] for _, linears, _ in maps if id(parameter) in linears), None)
        axis = int((turns % 2 == 1) == turned)
        slipped = linear is not None and axis == 1        # x·W of a weight that is (out, in)
        rows = slice(first, first + len(weight)) if part else self._rows_of(path, parameter) if axis == 0 else None
        beside = next((biases[id(parameter)] for _, _, biases in maps if id(parameter) in biases), None)
        bias_of = beside if rows is None or beside is None else beside[rows]
        other = bias is not None and bias_of is not None and factor == of_bias == 1 and \
            bias_of.shape == bias.shape and not torch_module().equal(bias_of, bias)
        kept = x.detach().clone() if slipped or other or (bias_of is not None and bias is None) else None
        # The name that says most: the innermost one with a role, else that of a variable with one, else the outermost.
        known = [names[id(parameter)] for names, *_ in maps[:4] if id(parameter) in names]
        named = [*known, *(name for name, value in variables() if value is parameter)]
        if not any(map(roles_of, named)):
            named += [name for some in weights_around() for name, value in some.items() if value is parameter]
        name = next((name for name in named if roles_of(name)), known[-1] if known else "")
        within = root.info.of if root.kind == "linear" else None
        made = NOTHING if call is not None or x.dim() < 2 else self._source(x)
        info = Linear(parameter, name, slipped, kept, bias_of, weakref.ref(x), call, within, axis, made, rows)
        self._used.update([] if bias is None else [id(bias), id(bias._base)])
        node = Node("linear", None, out.shape, caller(), info)
        if factor != 1:
            node = Node("scale", node, out.shape, caller(), factor) if of_bias == factor else \
                Node("source", None, out.shape, caller(), kept="a scaled weight")
        self._tag(out, node)
        base = _base_of(out)
        if base is not None and base.shape[-1] == out.shape[-1] and base.numel() == out.numel():
            self._tag(base, Node("move", node, base.shape, None, Move(torch_module().reshape, (tuple(base.shape),))))

    def _projected_by_kernel(self, product: Product, side: str, out: Any) -> None:
        """x met a kernel with axes of heads: the same as a projection, whose columns are then cut into heads."""
        letters, (kernel, x) = product.letters, (product.operands[one] for one in (side, "ab"[side == "a"]))
        of_x = letters["ab"[side == "a"]]
        self._used.add(id(kernel))
        kept, columns = ("".join(one for one in own if one in letters["out"]) for own in (of_x, letters[side]))
        summed = "".join(one for one in letters[side] if one not in letters["out"])
        if set(kept) & set(columns) or set(summed) != set(of_x) - set(kept):
            return
        sizes = dict(zip(letters["out"], out.shape))
        permute, reshape = torch_module().Tensor.permute, torch_module().Tensor.reshape
        arranged = [Move(permute, ([of_x.index(one) for one in kept + summed],), permutes=True),
                    Move(reshape, ((*(sizes[one] for one in kept), -1),))]
        whole = x.new_empty((*(sizes[one] for one in kept), math.prod(sizes[one] for one in columns)), device="meta")
        self._projected(x, kernel, None, whole, turned=False, arranged=arranged)
        node = Node("move", self.node_of(whole), [sizes[one] for one in kept + columns], caller(),
                    Move(reshape, ([sizes[one] for one in kept + columns],)))
        order = [(kept + columns).index(one) for one in letters["out"]]
        self._step("move", node, out, Move(permute, (order,), permutes=True))

    def _on_conv(self, op: Operation) -> None:
        """One of a single place is a projection of the axis of channels."""
        x, weight, move = op.get(0, "input"), op.get(1, "weight"), torch_module().movedim
        if op.root.kind in _CELLS or set(weight.shape[2:]) != {1} or op.get(6, "groups", 1) != 1 or \
                x.shape[2:] != op.out.shape[2:]:
            return self._on_other(op) if op.node is not NOTHING else None
        whole = op.out.movedim(1, -1)
        self._projected(x, weight, op.get(2, "bias"), whole, turned=True, arranged=[Move(move, (1, -1), permutes=True)])
        return self._step("move", self.node_of(whole), op.out, Move(move, (-1, 1), permutes=True))

    def _maps(self, module: Any) -> tuple[dict[int, str], dict[int, Any], dict[int, Any]]:
        """The names of a module's parameters, its linear layers by their weights, and biases by the weights beside."""
        if module not in self._names:
            linears = {id(one.weight): one for one in module.modules() if isinstance(one, torch_module().nn.Linear)}
            known = dict(module.named_parameters())
            flat = {name: one for name, one in known.items() if one.dim() == 2}
            beside = {id(one): known.get(re.sub("weight$", "bias", name), one) for name, one in flat.items()}
            biases = {of: one for of, one in beside.items() if one.dim() == 1}
            self._names[module] = {id(parameter): name for name, parameter in known.items()}, linears, biases
        return self._names[module]

    @staticmethod
    def _rows_of(path: Sequence[Node], parameter: Any) -> slice | None:
        """Of a part of a packed weight: which of its rows; None: all, or not some in a row."""
        moves = moves_of(path)
        index = index_after(moves, path[0].shape) if moves and parameter.dim() == 2 else None
        rows = [] if index is None or index.dim() != 2 else (index[:, 0] // parameter.shape[1]).tolist()
        whole = not rows or rows != [*range(rows[0], rows[0] + len(rows))] or len(rows) == len(parameter)
        return None if whole else slice(rows[0], rows[0] + len(rows))

    def _on_product(self, op: Operation) -> None:
        named = ("input", "batch1", "mat1", "other", "tensor2", "batch2", "mat2")
        op = op._replace(args=[*op.args, *(op.kwargs[name] for name in named if name in op.kwargs)])
        if op.name == "einsum" and self._of_one_query(op):
            return None
        product = product_of(op.name, op.args, op.out, self._axes_of_tokens)
        if product is None:      # of one array, a move; of more, what is not followed
            given = [one for one in op.args if is_tensor(one) and self.is_score(one)]
            again, node = functools.partial(op.function, *op.args[:op.name == "einsum"]), self.node_of((*given, 0)[0])
            known = given and (op.name != "einsum" or len(op.args) == 2)
            name = op.name + "()"
            return self._on_other(Operation(again, name, given, {}, op.out, node, node.root)) if known else None
        a, b = product.operands.values()
        if op.name == "baddbmm" and not op.kwargs.get("beta", 1) and not op.out.isfinite().all() and \
                a.isfinite().all() and b.isfinite().all():
            return self._note("unwritten", str(caller()), "baddbmm(beta=0)")
        root_a, root_b = self.node_of(a).root, self.node_of(b).root
        parameter = torch_module().nn.Parameter
        parameters = [isinstance(one, parameter) or isinstance(root.info, parameter) for one, root in
                      ((a, root_a), (b, root_b))]
        for one, root, beside in ((a, root_a, parameters[1]), (b, root_b, parameters[0])):
            if beside and root.kind in _CELLS:         # heads that talk to one another
                return self._step("opaque", self.node_of(one), op.out, op.name)
        if "weights" in (root_a.kind, root_b.kind):
            return self._on_context(product, op.out)
        projects = root_b.kind in ("", "source") and (root_b.info is not None or a.dim() > 2)
        projects = projects or parameters[1] or root_a.kind in _HEADS or op.name == "addmm"
        if projects and op.name != "einsum" and b.dim() == 2:
            return self._projected(a, b, op.args[0] if op.name == "addmm" else None, op.out, turned=False)
        if op.name == "einsum" and any(parameters):
            return self._projected_by_kernel(product, "ab"[parameters.index(True)], op.out)
        if root_a.kind == "product" and self._without_softmax(product, op.out):
            return None
        product.nodes = {side: self._source(operand) for side, operand in product.operands.items()}
        known = [(name, self.node_of(value)) for name, value in variables()]
        for side, node in product.nodes.items():      # what the caller calls the operands, or what they were made from
            steps = node.path(MADE)
            product.names[side] = [name for name, one in known if one in steps]
        self._tag(op.out, Node("product", None, product.shape, caller(), product))
        if op.name == "baddbmm":
            self._step("scale", self.node_of(op.out), op.out, float(op.kwargs.get("alpha", 1)))
            if op.kwargs.get("beta", 1):
                self._step("add", self.node_of(op.out), op.out, (op.args[0].detach(), float(op.kwargs.get("beta", 1))))
        return None

    def _of_one_query(self, op: Operation) -> bool:
        """Whether a query has no axis: "bhd,bshd->bhs" is followed as "bhQd,bshd->bhQs"."""
        text, *operands = op.args if isinstance(op.args[0], str) else ("",)
        inputs, _, result = text.replace(" ", "").partition("->")
        parts = inputs.split(",")
        if len(parts) != 2 or len(operands) != 2 or not result or any(
                isinstance(one, torch_module().nn.Parameter) for one in operands):
            return False
        at = next((at for at in (0, 1) if {*parts[at]} < {*parts[1 - at]}), None)
        if at is None or {*parts[1 - at]} - {*parts[at]} - {*result}:
            return False
        wide = [one.unsqueeze(-1) if side == at else one for side, one in enumerate(operands)]
        self._step("move", self._source(operands[at]), wide[at], Move(torch_module().unsqueeze, (-1,)))
        letter, out = next(one for one in string.ascii_letters if one not in text), op.out.unsqueeze(-1)
        parts[at] += letter
        self._on_product(op._replace(args=[",".join(parts) + "->" + result + letter, *wide], out=out))
        node = self.node_of(out)
        if node is not NOTHING:
            self._step("move", node, op.out, Move(torch_module().squeeze, (-1,)))
        return True

    def _axes_of_tokens(self, tensor: Any) -> set[int]:
        """Along which axes of weights there are queries, and of queries or keys rows of their projection."""
        root, path = self.node_of(tensor).root, self.node_of(tensor).path(("linear", "product"))
        if root.kind == "weights":
            rows = {*sum(root.info.product.out_free.values(), [])} - root.info.dim_axes
            return {at for at, of in enumerate(axes_after(moves_of(path), root.info.product.shape) or ()) if of & rows}
        axes = axes_after(moves_of(path), root.shape) if root.kind == "linear" else None
        return {at for at, of in enumerate(axes or ()) if of - {len(root.shape) - 1}}

    def _without_softmax(self, product: Product, out: Any) -> bool:
        """Scores of two projections that were scaled or masked, and meet values as they are."""
        node, other = map(self.node_of, product.operands.values())
        kinds, sums = {step.kind for step in node.path(("product",))}, product.operands["a"].sum(-1)
        normal = node.kind == "exp" and bool(((sums - 1).abs() < 1e-2).all())      # exp(s − logsumexp(s))
        if "exp" in kinds and not normal:
            self._note("by_blocks", str(caller()))
            return True
        made_from = [one.root.kind for one in (*node.root.info.nodes.values(), other)]
        some = normal or kinds & {"scale", "fill", "add", "times"} and {"linear", "product"}.issuperset(made_from)
        path = node.path(("product",))
        keys = product.operands["a"].shape[-1]
        mean = kinds <= {"product", "move", "scale"} and any(abs(one * keys - 1) < 1e-6 for one in (
            factor_of(path), *(step.info for step in path if step.kind == "scale")))
        decays = any(step.kind == "times" and not ((step.info[0] == 0) | (step.info[0] == 1)).all() for step in path)
        if not some or not normal and (mean or decays):      # (means over all keys; retention)
            return False
        function, node, dims = ("softmax", node.parent, [-1]) if normal else ("none", node, [])
        self._take_softmax(function, node, dims, product.operands["a"])
        taken = self.node_of(product.operands["a"]).kind == "weights"
        if taken:
            self._on_context(product, out)
        return taken

    def _on_times(self, op: Operation) -> None:
        if op.name in ("__rdiv__", "__rtruediv__"):
            return self._tag(op.out, None)
        node, (first, other), over = op.node, op.args[:2], op.name in _OVER
        for parameter, beside in ((first, other), (other, first)):      # a weight that is scaled before it projects
            factor = number_of(beside) if isinstance(parameter, torch_module().nn.Parameter) else None
            if factor and (parameter is first or not over) and parameter.numel() > 1:
                return self._step("scale", self._source(parameter), op.out, 1 / factor if over else factor)
        total = self.node_of(other).path(("expsum",))[0]
        if over and total.kind == "expsum" and node is not NOTHING:
            scores = self._exp_of(node) if total.parent is node else None
            if scores is not None:       # exp(s) / Σ exp(s): a softmax written by hand
                scores.root.info.used.add(node)
                self._take_softmax("softmax", scores, total.info, op.out, other.dim() not in (0, first.dim()))
            elif op.root.kind == "weights":                       # divided by their sum
                self._step("sum", node, op.out)
            return None
        if node.kind in ("", "source") and self.node_of(other) is not NOTHING and not over:
            node, other = self.node_of(other), first
        elif node.root.kind in ("", "source"):      # (whether it is a part of the scale is decided by the call)
            scales = is_tensor(first) and first.dim() > 2 and isinstance(other, (int, float)) and other
            return self._step("scale", self._source(first), op.out, 1 / other if over else other) if scales else None
        root, number = node.root, number_of(other)
        factor = other if number is None else number
        factor = 1 / factor if over and (number is None or number) else factor
        same = root.kind == "weights" or (root.kind == "product" and op.out.shape == node.shape)
        learned = is_tensor(other) and (other.requires_grad or number is not None and any(      # or made from one
            one.numel() == 1 and re.search(SCALES, name) for module in modules_around()[:1]
            for name, one in module.named_parameters(recurse=False)))
        if root.kind == "weights" and self.node_of(other).root.kind == "weights":
            self._note("combined", str(caller()))
            self._tag(op.out, None)
        elif same and is_tensor(other) and (number is None or (learned and root.kind == "product")):
            self._step("times", node, op.out, (torch_module().as_tensor(factor).detach(), 1.0))      # learned
        elif number is not None and root.kind in (*_CELLS, "linear"):
            self._step("scale", node, op.out, factor, not is_tensor(other))
            self.node_of(op.out).kept = "learned" if learned and root.kind == "linear" else None
        elif root.kind in _HEADS and number and not is_tensor(other):      # what a call gave is the query of the next
            self._tag(op.out, None)
            self._step("scale", self._source(op.out), op.out, factor, not is_tensor(other))
        elif not is_tensor(other):
            self._tag(op.out, None)
        elif other.shape == op.out.shape and root.kind == "linear" and self.node_of(other) is NOTHING:
            self._lost(node, op.out, op.name)
        else:
            learned = isinstance(other, torch_module().nn.Parameter)
            self._used.update([id(other)] * learned)
            plain = learned or other.dim() < 2 or other.shape[-1] == 1
            varies = {axis - other.dim() + op.out.dim() for axis, size in enumerate(other.shape) if size > 1}
            tokens = self._axes_of_tokens(first if node is op.node else op.args[1])
            how = "scale" * (plain and not varies & {op.out.dim() - 1, *tokens})      # one of each head
            self._made("normed" if plain else "turned", node, op.out, other if other.shape[-1:] != (1,) else 1, how=how)

    def _on_plus(self, op: Operation) -> None:
        node, other, out, alpha = op.node, op.args[1], op.out, float(op.kwargs.get("alpha", 1))
        sign = -alpha if op.name in _MINUS else alpha
        turned = (node.kind in ("", "source") or op.root.kind == "linear") and self.node_of(other).root.kind not in (
            "", "source") and (node is NOTHING or self.node_of(other).root.kind != "linear")
        if turned:
            node, other = self.node_of(other), op.args[0]
        root, friend = node.root, self.node_of(other).root
        for one, beside in ((root, other), (friend, op.args[1 if turned else 0])):     # the residual stream
            if one.kind == "linear" and one.info.call is not None and is_tensor(beside):
                one.info.call.add_to(self._origin(beside))
                self._take_place(one.info.call, op.node if one is op.root else self.node_of(op.args[1]))
        if root.kind in ("", "source"):
            return
        number = number_of(other)
        if number == 0 and not is_tensor(other):
            return self._tag(out, node)       # the sum of a list begins with 0
        if root.kind == friend.kind == "context" and root.info[0].places == friend.info[0].places and \
                NOTHING is not root.info[0].product.nodes["a"] is friend.info[0].product.nodes["a"]:
            for call in (root.info[0], friend.info[0]):      # the same heads in two directions
                call.words += " backward"
            self._lost(self.node_of(op.args[1]), out, op.name)
            self._lost(op.node, out, op.name)
        elif (root.kind == "context" and friend.kind in ("context", "heads") and "add" in op.name) or \
                (root.kind == "heads" and node.kind == "sum" and friend.kind == "context"):
            self._heads_lost("added up", [root, friend], out)
        elif turned and sign < 0:
            self._tag(out, None)       # number or tensor − scores
        elif root.kind == "product" and number is not None and not (is_tensor(other) and other.dim()):
            same = Move(torch_module().Tensor.contiguous, (), permutes=True)      # one number for all changes no weight
            self._step("move", node, out, same, "shift")
        elif root.kind == "weights" and friend.kind == "weights":
            self._note("combined", str(caller()))
            self._tag(out, None)
        elif root.kind in _CELLS:
            added = torch_module().as_tensor(other).detach(), sign
            learned = isinstance(self.node_of(other).path(("source",))[0].info, torch_module().nn.Parameter)
            of = "product" if friend.kind == "product" else "learned" if learned else ""
            self._step("add", self._shaped(node, out, "expand"), out, added, of)
        elif root.kind == "linear" and is_tensor(other) and self._belongs(other, node):
            root.info = root.info if root.info.transposed else root.info._replace(x=None)
            self._used.add(id(other))
            self._tag(out, Node(node.kind, node.parent, out.shape, node.site, node.info))
        elif is_tensor(other) and (friend.kind == "linear" or other.numel() < out.numel()):      # (no residual stream)
            self._made("normed" if other.shape[-1:] == (1,) else "turned", node, out)
        elif node.kind == "linear" or root.kind != "linear":
            self._tag(out, None)
        else:
            self._lost(node, out, op.name)

    @staticmethod
    def _exp_of(node: Node) -> Any:
        """The scores of exp(s), or of exp(s)·mask, which blocks as a number of -inf does; None where it is neither."""
        mask = node.info[0] if node.kind == "times" else None
        if mask is None or node.parent.kind != "exp" or not bool(((mask == 0) | (mask == 1)).all()):
            return node.parent if node.kind == "exp" else None
        before = node.parent.parent
        return Node("fill", before, before.shape, node.site, (mask == 0, -math.inf))

    def _take_place(self, call: Call, node: Node) -> None:
        """Whether what was projected of heads joins the tokens of the queries, where nothing moved those."""
        made, moves = call.node("query").path(MADE)[0], moves_of(node.path(("linear",)))
        plain = moves and made.kind == "linear" and made.info.made.kind == "source"
        index = index_after(moves, node.root.shape) if plain else None
        if index is not None and tuple(index.shape) == node.root.shape and (index.flatten().diff() < 0).any():
            call.lost = call.lost or getattr(moves[-1].function, "__name__", "cat")

    def _belongs(self, other: Any, node: Node) -> bool:
        """Whether what is added to a projection is its bias, or goes through fewer columns of what it was made from."""
        root, path, again = node.root, node.path(("linear",)), self.node_of(other).root
        moves = root.shape[-1] == other.numel() and all(step.kind == "move" for step in path[1:])
        if other.dim() == 1 or isinstance(other, torch_module().nn.Parameter):
            return moves
        of = [one() for one in (root.info.of, again.info.within) if one is not None] if again.kind == "linear" else []
        return len(path) == 1 and len(of) == 2 and None not in of and self._origin(of[0]) is self._origin(of[1])

    def _take_inputs(self, call: Call) -> None:
        """What queries and keys were projected from, where they are two tensors that the caller has names for."""
        roots = [call.node(role).path(MADE)[0] for role in ("query", "key", "value")]
        given = [root.info.of() for root in roots if root.kind == "linear"]
        inputs = [self._origin(tensor) for tensor in given if tensor is not None]
        tensors = inputs[:2]
        if len(inputs) == len(given) > 1 and "linear" == roots[0].kind == roots[1].kind:
            for names in names_of(tensors) if tensors[0] is not tensors[1] else ():
                others = [bool(re.search(OTHER_SIDE, name, re.I)) for name in names]
                if not call.inputs and others == [True, False]:
                    call.inputs = [weakref.ref(tensors[1]), names, roots[0].site]

    def _made(self, kind: str, node: Node, out: Any, weight: Any = 1, shown: bool = False, how: str = "") -> None:
        """Made from a projection by a step that mixes columns of a token and head: it stands where the whole stood. It
        is `of` a norm where the numbers, without this `weight` and those before, show one."""
        if node.root.kind != "linear":
            return self._lost(node, out, ("mixed",))
        since = [*itertools.dropwhile(lambda step: math.prod(step.shape) != out.numel() or (
            step.kind == "move" and step.of), node.path(("linear",))[::-1])]
        whole, before = self._shaped(since[0], out, "reshape") if since else node, None
        if kind == "turned" and all(step.kind != "turned" for step in since):     # the first keeps what was before
            before = next(((step, step.tensor().detach()) for step in since
                           if step.kind in ("move", "normed", "linear") and step.tensor() is not None), None)
        if kind == "normed":
            weight = weight if node.kind != kind or node.kept is None else weight * node.kept
            rows = (out.detach().float() / weight).pow(2).sum(-1)
            shown = shown or any(bool(((rows / size - 1).abs() < 2e-2).all()) for size in (1, out.shape[-1]))
        self._tag(out, Node(kind, whole, out.shape, caller(), how or before, shown, weight))

    def _on_fill(self, op: Operation) -> None:
        torch, target, out, value = torch_module(), op.args[0], op.out, 0.0
        if op.name == "where":
            args = op.args[:3]
            if len(args) > 2 and args[0].dtype != torch.bool == getattr(args[1], "dtype", None):
                args = args[1], args[0], args[2]      # scores.where(mask, other)
            scores = [position for position in (1, 2) if len(args) > 2 and self.node_of(
                args[position]).root.kind not in ("", "source")]
            if not scores:
                return None
            target, value = args[scores[0]], args[3 - scores[0]]
            mask = args[0].bool() if scores[0] == 2 else ~args[0].bool()
        elif not self.is_score(target):
            return self._take_rows(op) if op.name in ("__setitem__", "index_copy_") else None
        elif op.name.startswith("masked_fill"):
            mask, value = op.get(1, "mask"), op.get(2, "value")
        elif op.name == "__setitem__":
            mask = torch.zeros(target.shape, dtype=torch.bool, device=target.device)
            mask[op.args[1]] = True
            value, out = op.args[2], target
        else:
            ones = torch.ones(target.shape[-2:], dtype=torch.bool, device=target.device)
            mask = ~getattr(ones, op.name[:4])(op.get(1, "diagonal", 0))
        node = self.node_of(target)
        if node.root.kind not in _CELLS:
            return self._lost(node, out, op.name)
        constant = is_tensor(value) and value.numel() > 0 and bool((value == value.flatten()[0]).all())
        number = number_of(value.flatten()[0] if constant else value)
        fill = None if number is None else (mask.detach().bool(), number)
        return self._step("opaque" if fill is None else "fill", self._shaped(node, out, "expand"), out, fill or op.name)

    def _take_rows(self, op: Operation) -> None:
        """New keys or values are put into a tensor that holds those of before."""
        torch, target, value = torch_module(), op.args[0], op.args[-1]
        if is_tensor(value) and self.node_of(value).root.kind == "linear" and target.numel() <= LARGE:
            cells = torch.zeros(target.shape, dtype=torch.bool, device=target.device)
            cells[op.args[1] if op.name == "__setitem__" else (slice(None),) * op.args[1] + (op.args[2],)] = True
            axes = [axis for axis in range(target.dim()) if not cells.transpose(0, axis).flatten(1).any(1).all()]
            if axes:
                rows = cells.transpose(0, axes[-1]).flatten(1).any(1).nonzero().flatten()
                kept = self.node_of(target).cache
                old = target.new_zeros(target.shape) if kept is None else kept[3]
                new = before_positions(self.node_of(value).path(MADE))
                before = None if old is None or new is None else old.clone()
                if before is not None:
                    op.function(before, *op.args[1:-1], new)
                turned = self._is_turned([self.node_of(value), self.node_of(target)])
                cache = axes[-1], int(rows[0]), len(rows), before, turned
                self._tag(target, Node("source", None, target.shape, caller(), cache=cache))

    @staticmethod
    def _is_turned(nodes: Sequence[Node]) -> bool:
        """Whether positions turned what a cache holds."""
        steps = [step for node in nodes for step in node.path(MADE)]
        return any(step.kind == "turned" or step.cache and step.cache[4] for step in steps)

    def _on_sum(self, op: Operation) -> None:
        op = op._replace(name=op.name.rstrip("_"))
        if op.name == "exp" and op.root.kind == "product":
            self._step("exp", op.node, op.out)
        if op.name == "exp" and op.root.kind == "weights" and op.root.info.function == "log_softmax":      # a softmax
            self._calls.remove(op.root.info)
            return self._take_softmax("softmax", op.root.parent, op.root.info.dims, op.out)
        dim, how = op.get(1, "dim"), "averaged" if op.name == "mean" else "added up"
        of_heads = op.node.kind == "context" and len(op.node.shape) >= 3 and isinstance(dim, int) and \
            1 < op.root.info[0].heads == op.node.shape[dim % len(op.node.shape)]
        if op.name != "exp" and (op.node.kind == "heads" or of_heads):
            self._heads_lost(how, [op.root], op.out)
        elif op.name == "sum" and (self._exp_of(op.node) or op.root.kind == "weights"):
            self._step("expsum", op.node, op.out, dim if isinstance(dim, LISTS) else [dim])

    def _on_softmax(self, op: Operation) -> None:
        tensor, dim = op.get(0, "input"), op.get(1, "dim")
        if dim is None or isinstance(dim, torch_module().dtype):
            dim = 0 if tensor.dim() in (0, 1, 3) else 1     # as torch chooses where dim is left out
        self._take_softmax(op.name, self.node_of(tensor), dim if isinstance(dim, LISTS) else [dim], op.out)

    def _take_softmax(self, name: str, node: Node, dims: Sequence[Any], out: Any, wrong_sum: bool = False) -> None:
        """A softmax, or what stands in its place, over these axes of the scores (None: over all)."""
        root, site = node.root, caller()
        if root.kind == "weights":
            self._step("softmax", node, out)
            root.info.observe("softmax_twice", site)
        if root.kind != "product" or 0 in root.shape:
            return
        modules = modules_around()
        path = path_of(modules, self._module)
        outside = self._modules is not None and not any(id(module) in self._modules for module in modules)
        layer = -1 if outside else self._layers.setdefault(path or (site.file, site.line), len(self._layers))
        if outside or (self.keep.layers is not None and layer not in self.keep.layers):
            return
        if len(self._calls) >= self.most and any(call.output or call.lost for call in self._calls[self.most - 1:]):
            raise Enough
        if len(self._calls) >= self.keep.calls or self._bytes > self.keep.memory:
            self._left_out += 1
            return
        call = Call(node.path(("product",)), modules, path, name, site)
        call.product.used.update(call.path)
        call.block, call.called, call.given, call.dims = self._blocks, self._used, self.given, dims
        if wrong_sum or name in ("log_softmax", "sigmoid"):
            call.final = call.final or (("softmax_sums", site) if wrong_sum else ("softmax_replaced", site, name))
        axes = axes_after(moves_of(call.path), call.product.shape)
        if axes is None:
            self._note("axes_unknown", call.where)
        else:
            call.dim_axes = frozenset().union(*(frozenset().union(*axes) if dim is None else axes[dim] for dim in dims))
        sink = next((step for step in call.path if step.kind == "sink"), None)
        kept = out if sink is None else out.narrow(-1, int(sink.info[0] == 0), out.shape[-1] - 1)
        call.softmax = Node("weights", node, out.shape, site, call, kept=self._snapshot(call, kept, call.path))
        call.weight_path = [call.softmax]
        self._calls.append(call)
        self._tag(out, call.softmax)

    def _snapshot(self, call: Call, tensor: Any, path: Sequence[Node]) -> Any:
        """The weights of some sentences, so that they can be checked; those inside of a fused kernel are not there."""
        some = range(min(self.keep.sentences, len(call.places)))
        array = None if tensor.is_meta else call.canonical(tensor.detach(), moves_of(path), some, call.rows)
        return None if array is None else list(array)

    def _on_dropout(self, op: Operation) -> None:
        node = self.node_of(op.get(0, "input"))
        if not op.get(2, "training", True) or op.get(1, "p", 0.5) == 0:
            self._tag(op.out, None if node is NOTHING else node)
        elif node.root.kind in _CELLS:
            if node.root.kind == "weights" and node.root.info is not None and not self._gradient:
                node.root.info.dropped = op.get(1, "p", 0.5)
            self._step("drop", node, op.out)
        elif node.root.kind == "linear":
            self._tag(op.out, op.node if op.node.kind == "linear" and op.node.info.call is not None else None)

    def _heads_lost(self, how: str, roots: Sequence[Node], out: Any) -> None:
        """Heads that are mixed into one another."""
        calls = [call for root in roots for call in root.info]
        calls[0].observe("heads_summed", caller(), how)
        self._step("sum", self._joined(calls, out), out)

    def _joined(self, calls: Sequence[Call], out: Any) -> Node:
        """Heads that were computed one by one are one call."""
        for call in calls:
            call._parts, call.sites["merge_"] = list(calls), caller()
        return Node("heads", None, out.shape, caller(), calls)

    def _on_cat(self, op: Operation) -> None:
        tensors = op.get(0, "tensors")
        nodes = [self.node_of(tensor) for tensor in tensors]
        roots, several = [node.root for node in nodes], len(tensors) > 1 and op.name != "stack"
        if several and not any(one.numel() for one in tensors[:-1]):
            return self._tag(op.out, self._source(tensors[-1]))       # a cache that is empty yet
        if several and all(one is tensors[0] for one in tensors):
            times = [after // before for after, before in zip(op.out.shape, tensors[0].shape)]
            return self._step("move", self._source(tensors[0]), op.out, Move(torch_module().Tensor.repeat, (times,)))
        if roots[0].kind != "" and all(root is roots[0] for root in roots) and self._put_together(op, nodes):
            return None
        joined = op.out.shape[-1] != tensors[-1].shape[-1] and all(root.kind == "linear" for root in roots)
        if joined and not self._alike(nodes):
            return self._lost(nodes[0], op.out, op.name)
        if all(root.kind == "linear" and root is roots[0] for root in roots):
            return self._made("turned", nodes[0], op.out)
        if joined:                           # columns of several projections, of the same tokens and heads
            first = max(nodes, key=lambda node: math.prod(node.root.shape))
            before = [tensor.detach() if all(step.kind != "turned" for step in node.path(MADE)) else
                      before_positions(node.path(MADE)) for node, tensor in zip(nodes, tensors)]
            more = op.out.shape[-1] - first.shape[-1]
            wide = Move(lambda one: torch_module().cat([one, one[..., :1].expand(*one.shape[:-1], more)], -1), ())
            whole = Node("move", first, op.out.shape, caller(), wide)
            known = None if any(one is None for one in before) else (whole, torch_module().cat(before, -1))
            return self._tag(op.out, Node("turned", whole, op.out.shape, caller(), known))
        if roots[-1].kind == "linear" and op.out.shape[-1] == tensors[-1].shape[-1]:      # new keys after earlier ones
            axis, new = next((axis, size) for axis, size in enumerate(tensors[-1].shape) if size != op.out.shape[axis])
            parts = [before_positions(node.path(MADE)) for node in nodes]
            before = None if any(one is None for one in parts) else torch_module().cat(parts, axis)
            cache = axis, op.out.shape[axis] - new, new, before, self._is_turned(nodes)
            return self._tag(op.out, Node("source", None, op.out.shape, caller(), cache=cache))
        scores = [place for place, root in enumerate(roots) if root.kind == "product"]
        if len(roots) == 2 and len(scores) == 1 and op.out.shape[-1] == nodes[scores[0]].shape[-1] + 1:
            return self._step("sink", nodes[scores[0]], op.out, (1 - scores[0], tensors[1 - scores[0]].detach()))
        calls = [root.info[0] for root in roots if root.kind == "context" and len(root.info[0]._parts) == 1]
        if len(roots) < 2 or len(set(calls)) != len(roots):
            return
        dim = 1 if op.name == "hstack" else op.get(1, "dim", op.kwargs.get("axis", 0))
        if op.name != "stack" and dim % tensors[0].dim() != tensors[0].dim() - 1:
            keys = [call.tensors[call.side("key")] for call in calls]
            found = [one for one in (call.index_of("query") for call in calls) if one]
            rows = [np.unique(index // base.shape[-1]) for index, base in found]      # (of sequences in one row others)
            of_all = all(one.shape == keys[0].shape and torch_module().equal(one, keys[0]) for one in keys)
            in_row = not of_all and len(found) == len(calls) and len({id(base) for _, base in found}) == 1 and \
                len({*itertools.chain(*rows)}) == sum(map(len, rows))
            if in_row or of_all:
                for call in calls:
                    call.in_parts, call.in_row = True, in_row
                starts = [int(index[0, 0, 0, 0]) for index, _ in found]
                calls[0].lost = op.name if starts != sorted(starts) else ""
                whole = Node("parts", None, op.out.shape, caller(), (calls[0], dim % tensors[0].dim()))
                return self._tag(op.out, whole)      # queries in parts, and not heads
            calls[0].observe("merge_axis", caller())
        calls[0].join = functools.partial(op.function, **({} if op.name == "hstack" else {"dim": dim}))
        self._tag(op.out, self._joined(calls, op.out))

    def _put_together(self, op: Operation, nodes: Sequence[Node]) -> bool:
        """Parts of one tensor side by side again: a move of the whole, if nothing but moves and one scale made them."""
        paths = [node.path((node.root.kind,)) for node in nodes]
        shared = [steps[0] for steps in zip(*paths) if all(step is steps[0] for step in steps)]
        parts = [path[len(shared):] for path in paths]
        factors = {factor_of(part) for part in parts}
        if len(factors) != 1 or any(step.kind not in ("move", "scale") for part in parts for step in part):
            return False
        function, options, moves = op.function, {**op.kwargs}, [moves_of(part) for part in parts]
        options.pop("tensors", None)

        def again(whole: Any, *more: Any) -> Any:
            return function([moved(whole, own) for own in moves], *more, **options)
        whole, move = shared[-1], Move(again, tuple(op.args[1:]))
        whole = Node("scale", whole, whole.shape, caller(), factors.pop())
        if whole.root.kind in _HEADS:
            whole.root.info[0].sites["merge_"] = caller()
        self._step("move", whole, op.out, move, self._turns(whole, move, op.out))
        return True

    def _alike(self, nodes: Sequence[Node]) -> bool:
        """Whether parts side by side are of the same tokens, and heads stand in one order; or that is not known."""
        rows, heads, torch = [], [], torch_module()
        for node in nodes:
            index, width = index_after(moves_of(node.path(MADE)), node.root.shape), node.root.shape[-1]
            if index is not None and index.dim() == len(node.shape):
                rows.append(index[..., 0] // width)
                heads.append(torch.unique((index % width).amin(-1), return_inverse=True)[1])
        return all(torch.equal(one, rows[0]) for one in rows) and len({
            tuple(one.flatten().tolist()) for one in heads if one.any()}) < 2

    def _turns(self, node: Node, move: Move, out: Any) -> bool:
        """Whether a move stays inside of each row, as a part of a rotation does."""
        known = node.root.kind == "linear" and tuple(out.shape) == node.shape
        index = index_after([move], node.shape) if known else None
        rows = torch_module().arange(out.numel()) // out.shape[-1]
        return index is not None and torch_module().equal(index.flatten() // out.shape[-1], rows)

    def _on_context(self, product: Product, out: Any) -> None:
        """Weights meet values."""
        product.nodes = {side: self.node_of(operand) for side, operand in product.operands.items()}
        side, other_side = ("a", "b") if product.nodes["a"].root.kind == "weights" else ("b", "a")
        node, tensor = product.nodes[side], product.operands[other_side]
        call: Call = node.root.info
        if call.context is not NOTHING:
            return
        product.nodes[other_side] = call.value_node = other = self._source(tensor)
        call.weight_path = node.path(("weights",))
        call.context = Node("context", None, out.shape, caller(), [call])
        moves = moves_of(node.path(("product",)))
        axes = axes_after(moves, call.product.shape)
        if axes is not None:
            call.meet(product, side, axes)
        call.orient()
        call.take_value(product, side, tensor, moves)
        product.operands = {}          # the caller's tensors
        self._take_inputs(call)
        if len(call.product.shape) >= 3 or other.root.kind != "source" or other.root.info is None:
            self._keep_call(call)
        else:
            self._calls.remove(call)      # a parameter in the values' place
        self._tag(out, call.context)

    def _keep_call(self, call: Call) -> None:
        if call.context is NOTHING:
            call.orient()
        call.product.operands = {}     # the caller's tensors; the call has copies
        call.whole = True
        self._bytes += call.size()

    def _on_fused(self, op: Operation) -> None:
        """torch.nn.functional.scaled_dot_product_attention of torch 2: whatever kernel runs, this is what it means."""
        torch, site = torch_module(), caller()
        query, key, value = (op.get(position, name) for position, name in enumerate(("query", "key", "value")))
        scale, mask, p = op.kwargs.get("scale"), op.get(3, "attn_mask"), op.get(4, "dropout_p") or 0.0

        def ran(name: str, *args: Any, out: Any = None) -> Any:
            """A step of the kernel, which makes no scores and weights."""
            if out is None:
                lead = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2])
                out = query.new_empty((*lead, query.shape[-2], key.shape[-2]), device="meta")
            self._handle(getattr(torch.Tensor, name, None), name, args, {}, out)
            return out
        for operand in (key, value):
            self._source(operand)
        if op.kwargs.get("enable_gqa") and query.dim() > 2 and key.shape[-3] != query.shape[-3]:
            by = query.shape[-3] // key.shape[-3], -3
            key, value = (ran("repeat_interleave", one, *by, out=one.repeat_interleave(*by)) for one in (key, value))
        scores = ran("matmul", query, ran("transpose", key, -2, -1, out=key.transpose(-2, -1)))
        scores = ran("mul", scores, float(1 / math.sqrt(query.shape[-1]) if scale is None else scale))
        if op.get(5, "is_causal"):       # in place of a mask
            mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=query.device).tril()
        if mask is not None:
            fills = mask.dtype == torch.bool
            scores = ran("masked_fill", scores, ~mask, -math.inf) if fills else ran("add", scores, mask)
        weights = ran("softmax", scores, -1)
        call = self.node_of(weights).info
        if call is None:
            return
        if p > 0 and evaluating():
            call.observe("dropout_left_on", site, f"{p:g}")
        ran("matmul", ran("dropout", weights, p), value, out=op.out)
        if op.out.numel() <= LARGE:      # without dropout, of which no weights are left to judge
            named = {} if scale is None else {"scale": scale}
            call.fused_output = op.out.detach().clone() if p == 0 else \
                op.function(query, key, value, attn_mask=mask, **named).detach()
