"""What `watch` does: torch's operations are followed one by one, each tensor that matters gets a node."""
from __future__ import annotations

import html as _html
import math
import threading
import types
import weakref
from collections.abc import Sequence as _Sequence
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from .arrays import STACKS, layers_of, role_of, save_arrays, token_metadata
from .caller import caller, frames_around, modules_around, short_path, variables
from .calls import Attention, Call
from .engine import Array, Error, as_numpy, count_text, is_tensor, torch_module
from .nodes import (CASTS, MOVES, OVER, PERMUTES, PLUS, PRODUCTS, SAME, STOPS, TIMES, Layout, Linear, Move, Node, Product,
                    Softmax, Unmade, Weights, axes_after, first_reshaping, layout_of, moves_of, path_to, product_of, root_of)
from .pages import page_of, show
from .report import MOST_WEIGHTS, Report, check_seen


class Keep(NamedTuple):
    """What `watch` keeps. Of a call: queries, keys and values, and of its weights at most 2²⁰ numbers a sentence."""
    calls: int = 1000                        # of attention, at most; the others are counted
    layers: Optional[Sequence[int]] = None   # places in the code, in the order in which they first run; None: all
    sentences: int = 4                       # of a batch whose weights are kept for check(); queries, keys, values: all
    every: int = 1                           # of `with seen:` blocks every n-th is followed


_follower_classes: Dict[Any, Any] = {}


def _follower_class(torch: Any) -> Any:
    """The TorchFunctionMode that hands every operation to a watch; made where torch is there to derive from."""
    if torch in _follower_classes:
        return _follower_classes[torch]
    try:
        from torch.overrides import TorchFunctionMode
    except ImportError:
        raise Error(f"torch: expected version 1.13 or later, found {torch.__version__}") from None

    class Follower(TorchFunctionMode):
        def __init__(self, seen: "Seen") -> None:
            super().__init__()
            self.seen = seen

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            name = getattr(func, "__name__", "")
            if name == "__get__":
                name = getattr(getattr(func, "__self__", None), "__name__", "")
            if name == "multi_head_attention_forward":
                with self:
                    return _opened(func)(*args, **kwargs)
            if name == "__iter__" and self.seen._node(args[0]) is not None:
                parts = args[0].unbind(0)
                self.seen._follow(type(args[0]).unbind, "unbind", (args[0], 0), {}, parts)
                return iter(parts)
            out = func(*args, **kwargs)
            if name in _FOLLOWED or (args and self.seen._is_score(args[0])):
                self.seen._follow(func, name, args, kwargs, out)
            return out

    _follower_classes[torch] = Follower
    return Follower


_opened_functions: Dict[Any, Any] = {}


def _opened(func: Any) -> Any:
    """A function of torch.nn.functional that does its steps in the open: the question whether it is overridden is
    answered with no, so that its own operations are seen one by one."""
    if func not in _opened_functions:
        names = dict(func.__globals__)
        for name in ("has_torch_function", "has_torch_function_unary", "has_torch_function_variadic"):
            names[name] = lambda *_: False
        again = types.FunctionType(func.__code__, names, func.__name__, func.__defaults__, func.__closure__)
        again.__kwdefaults__ = func.__kwdefaults__
        _opened_functions[func] = again
    return _opened_functions[func]


_FOLLOWED = MOVES | CASTS | TIMES | OVER | set(PLUS) | PRODUCTS | {
    "linear", "softmax", "log_softmax", "sigmoid", "masked_fill", "masked_fill_", "where", "__setitem__", "tril", "triu",
    "tril_", "triu_", "dropout", "feature_dropout", "exp", "sum", "mean", "cat", "concat", "concatenate", "stack", "baddbmm",
    "hstack", "scaled_dot_product_attention", "dropout_", "__rdiv__", "__rtruediv__", "neg"}


class Seen(_Sequence):  # type: ignore[type-arg]
    """What `watch` saw: a sequence of `Attention`, in the order in which they ran. A context manager; `with seen:` again
    goes on where it left off."""

    def __init__(self, module: Any = None, keep: Union[None, int, Keep] = None) -> None:
        self.keep = keep if isinstance(keep, Keep) else Keep() if keep is None else Keep(calls=int(keep))
        if self.keep.every < 1 or self.keep.calls < 0 or self.keep.sentences < 1:
            raise Error(f"keep: expected calls ≥ 0, sentences ≥ 1 and every ≥ 1, found {self.keep}")
        self._modules = None if module is None else set(map(id, module.modules()))
        self._module = module
        self._tags: Dict[int, Tuple[Any, Node]] = {}
        self._calls: List[Call] = []
        self._attentions: Optional[List[Attention]] = None
        self._pending: List[Call] = []
        self._left_out = 0
        self._places: Dict[Any, int] = {}
        self._names: Dict[int, Tuple[Any, Dict[int, str], Dict[int, Any]]] = {}
        self._layouts: Dict[Any, Layout] = {}
        self._used: set = set()
        self._operations = 0
        self._softmaxes = 0
        self._blocks = 0
        self._notes: List[str] = []
        self._follower: Any = None
        self._hooks: List[Any] = []
        self._thread: Optional[int] = None

    # -- a sequence

    def sequence(self) -> List[Attention]:
        if self._attentions is None:
            groups: Dict[int, List[Call]] = {}
            order = []
            for call in self._calls:
                if call.part_of is None:
                    order.append([call])
                else:
                    if call.part_of[0] not in groups:
                        groups[call.part_of[0]] = []
                        order.append(groups[call.part_of[0]])
                    groups[call.part_of[0]].append(call)
            self._attentions = [Attention(sorted(parts, key=lambda part: part.part_of or (0, 0))) for parts in order]
        return self._attentions

    def __len__(self) -> int:
        return len(self.sequence())

    def __getitem__(self, index: Any) -> Any:
        chosen = self.sequence()[index]
        if isinstance(chosen, Attention):
            return chosen
        part = Seen(self._module, self.keep)
        part._attentions, part._notes, part._used = chosen, list(self._notes), self._used
        part._operations, part._softmaxes = self._operations, self._softmaxes
        return part

    def __repr__(self) -> str:
        lines_of = [f"{index}: {attention!r}" for index, attention in enumerate(self.sequence()[:20])]
        more = len(self) - len(lines_of)
        return "\n".join([*lines_of, *([f"… {more} more"] if more > 0 else []), *self.notes()])

    def notes(self) -> List[str]:
        """What was not followed, a line each; nothing where all is there."""
        said = list(dict.fromkeys(self._notes))
        if self._left_out:
            said.append(f"{count_text(self._left_out, 'further call')} not kept (keep={self.keep.calls} calls)")
        if not self.sequence() and not self._left_out:
            if torch_module() is None:
                said.append("no attention seen: torch is not imported; hand arrays of numpy code to headlight.check()")
            elif not self._blocks:
                said.append("no attention seen: nothing was watched yet")
            else:
                said.append(f"no attention seen: of {count_text(self._operations, 'operation')} followed none was a softmax over "
                            "a product of two arrays; compiled, scripted and numpy code, CUDA graphs and other threads "
                            "cannot be followed: hand arrays to headlight.check() or headlight.show()")
        return said

    # -- the block

    def __enter__(self) -> "Seen":
        if self._thread is not None:
            raise Error("watch: expected a watch that is not open; a thread needs one of its own")
        self._thread = threading.get_ident()
        self._blocks += 1
        torch = torch_module()
        if torch is None or (self._blocks - 1) % self.keep.every:
            return self
        self._follower = _follower_class(torch)(self)
        self._follower.__enter__()
        self._hooks = [torch.nn.modules.module.register_module_forward_pre_hook(self._before_module)]
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        try:
            if self._follower is not None:
                self._follower.__exit__(kind, error, trace)
                for hook in self._hooks:
                    hook.remove()
        finally:
            self._follower, self._hooks, self._thread = None, [], None
            self._finish()

    def _finish(self) -> None:
        """What belongs to the running code is let go; calls that met no values stay where their shape speaks for them."""
        self._tags = {}
        for call in self._pending:
            if len(call.product.shape) >= 3:
                self._keep(call)
        self._pending = []
        self._calls.sort(key=lambda call: call.index)
        for call in self._calls:
            if not call.called:
                call.called = self._used
        self._layouts = {}
        self._attentions = None

    def _before_module(self, module: Any, _: Any) -> None:
        if threading.get_ident() != self._thread:
            return
        name = type(module).__name__
        if name in ("ScriptModule", "RecursiveScriptModule", "TracedModule", "TopLevelTracedModule", "OptimizedModule"):
            inner = getattr(module, "original_name", None) or type(getattr(module, "_orig_mod", module)).__name__
            self._note(f"{inner}: compiled code (torch.jit, torch.compile) cannot be followed: watch the module itself")

    def _note(self, text: str) -> None:
        if len(self._notes) < 100 and text not in self._notes:
            self._notes.append(text)

    # -- tags

    def _node(self, tensor: Any) -> Optional[Node]:
        entry = self._tags.get(id(tensor))
        return entry[1] if entry is not None and entry[0]() is tensor else None

    def _is_score(self, tensor: Any) -> bool:
        node = self._node(tensor)
        return node is not None and node.kind != "source"

    def _tag(self, tensor: Any, node: Optional[Node]) -> None:
        if node is None:
            self._tags.pop(id(tensor), None)
            return
        tags, name = self._tags, id(tensor)
        tags[name] = (weakref.ref(tensor, lambda _: tags.pop(name, None)), node)

    def _source(self, tensor: Any) -> Node:
        node = self._node(tensor)
        if node is None:
            torch = torch_module()
            node = Node("source", None, tensor.shape, None, tensor if isinstance(tensor, torch.nn.Parameter) else None)
            self._tag(tensor, node)
        return node

    # -- operations

    def _follow(self, func: Any, name: str, args: Any, kwargs: Dict[str, Any], out: Any) -> None:
        """Nothing that happens here reaches the caller's code."""
        self._operations += 1
        torch = torch_module()
        try:
            with torch.no_grad():
                self._handle(func, name, args, kwargs, out)
        except Exception as error:
            place = caller()
            self._note(f"{short_path(place.file)}:{place.line}: {name} could not be followed "
                       f"({type(error).__name__}: {error})")

    def _handle(self, func: Any, name: str, args: Any, kwargs: Dict[str, Any], out: Any) -> None:
        if name in PRODUCTS:
            self._on_product(name, args, kwargs, out)
        elif name == "linear":
            self._on_linear(args, kwargs, out)
        elif name in MOVES or name in CASTS:
            self._on_move(func, name, args, kwargs, out)
        elif name in TIMES or name in OVER or name in ("__rdiv__", "__rtruediv__"):
            self._on_times(name, args, out)
        elif name in PLUS:
            self._on_plus(name, args, kwargs, out)
        elif name in ("masked_fill", "masked_fill_", "where", "__setitem__", "tril", "triu", "tril_", "triu_"):
            self._on_fill(name, args, kwargs, out)
        elif name in ("softmax", "log_softmax", "sigmoid"):
            dim = args[1] if len(args) > 1 else kwargs.get("dim")
            if isinstance(dim, torch_module().dtype) or dim is None:
                dim = 0 if args[0].dim() in (0, 1, 3) else 1     # as torch chooses where dim is left out
            self._on_softmax(name, args[0] if args else kwargs["input"], dim, out)
        elif name in ("dropout", "dropout_", "feature_dropout"):
            self._on_dropout(args, kwargs, out)
        elif name == "exp":
            node = self._node(args[0])
            root = root_of(node)
            if root is not None and root.kind == "product":
                self._tag(out, Node("exp", node, out.shape, caller()))
        elif name in ("sum", "mean"):
            self._on_sum(name, args, kwargs, out)
        elif name in ("cat", "concat", "concatenate", "hstack", "stack"):
            self._on_cat(name, args, kwargs, out)
        elif name == "scaled_dot_product_attention":
            self._on_fused(args, kwargs, out)
        elif is_tensor(out):
            self._on_other(name, args, out)

    def _on_other(self, name: str, args: Any, out: Any) -> None:
        """An operation that is not known, on scores: they stay scores, and are not judged."""
        node = self._node(args[0])
        root = root_of(node)
        if node is None or root is None or root.kind != "product" or len(root.shape) < 3:
            if out is args[0] and name.endswith("_") and not name.startswith("__") and node is not None:
                self._tag(out, None)
            return
        if name not in SAME and tuple(out.shape) == tuple(node.shape) and out.is_floating_point() and \
                name not in ("__get__", "data", "grad", "max", "min", "values"):
            self._tag(out, Node("opaque", node, out.shape, caller(), name))

    def _on_move(self, func: Any, name: str, args: Any, kwargs: Dict[str, Any], out: Any) -> None:
        torch = torch_module()
        if not args or not is_tensor(args[0]):
            return
        node = self._node(args[0])
        if node is None:
            known = name in PERMUTES or name in ("view", "reshape", "unflatten") or \
                isinstance(args[0], torch.nn.Parameter)
            if not known or args[0].dim() < 2 or not args[0].is_floating_point():
                return
            node = self._source(args[0])
        if name in CASTS or any(isinstance(value, torch.dtype) for value in args[1:]):
            if is_tensor(out) and tuple(out.shape) == node.shape:
                self._tag(out, node)
            return
        function, arguments = func, tuple(args[1:])
        if name in ("view_as", "reshape_as", "expand_as"):
            function = torch.Tensor.expand if name == "expand_as" else torch.Tensor.reshape
            arguments = (tuple(out.shape),)
        elif name == "view":
            function = torch.Tensor.reshape
        elif name == "detach":
            function, arguments = torch.Tensor.contiguous, ()
        site = caller()
        permutes = name in PERMUTES
        root = root_of(node)
        if root is not None and root.kind == "context" and not permutes:
            root.info.merge_site = site
        if is_tensor(out):
            if out is args[0]:
                return
            self._tag(out, Node("move", node, out.shape, site, Move(function, arguments, kwargs, None, permutes)))
        elif isinstance(out, (tuple, list)):
            for place, part in enumerate(out):
                self._tag(part, Node("move", node, part.shape, site, Move(function, arguments, kwargs, place, False)))

    def _on_linear(self, args: Any, kwargs: Dict[str, Any], out: Any) -> None:
        x, weight = args[0] if args else kwargs["input"], args[1] if len(args) > 1 else kwargs["weight"]
        bias = args[2] if len(args) > 2 else kwargs.get("bias")
        self._projected(x, weight, bias, out, turned=True)

    def _projected(self, x: Any, weight: Any, bias: Any, out: Any, turned: bool) -> None:
        """x·Wᵀ + b (`turned`) or x·W + b, where `weight` is W."""
        node = self._node(x)
        root = root_of(node)
        if root is not None and root.kind in ("context", "heads"):
            self._on_output(x, node, root)
        own = self._node(weight)
        turns = sum(1 for step in path_to(own, ("source",)) if step.kind == "move" and step.info.permutes and
                    step.info.function.__name__ not in ("contiguous", "clone", "detach"))
        first = path_to(own, ("source",))[0] if own is not None else None
        parameter = first.info if first is not None and first.info is not None else weight
        self._used.add(id(parameter))
        modules = modules_around()
        name = self._weight_name(parameter, modules)
        slipped = bias_of = None
        for module in modules:
            linear = self._linears(module).get(id(parameter))
            if linear is not None:
                slipped = (turns % 2 == 1) == turned        # x·W of a weight that is (out, in)
                bias_of = linear.bias
                break
        info = Linear(parameter, name, bool(slipped), bias is not None, bias_of=bias_of)
        if slipped or (bias_of is not None and bias is None):
            info.x = x.detach().clone()
        self._tag(out, Node("linear", None, out.shape, caller(), info))

    def _maps(self, module: Any) -> Tuple[Dict[int, str], Dict[int, Any]]:
        entry = self._names.get(id(module))
        if entry is None or entry[0]() is not module:
            torch = torch_module()
            names = {id(parameter): name for name, parameter in module.named_parameters()}
            for name, value in list(vars(module).items()):
                if is_tensor(value):
                    names.setdefault(id(value), name)
                elif isinstance(value, (list, tuple)) and value and is_tensor(value[0]):
                    for place, part in enumerate(value):
                        names.setdefault(id(part), f"{name}.{place}")
            linears = {id(inner.weight): inner for inner in module.modules() if isinstance(inner, torch.nn.Linear)}
            entry = (weakref.ref(module), names, linears)
            self._names[id(module)] = entry
        return entry[1], entry[2]

    def _linears(self, module: Any) -> Dict[int, Any]:
        return self._maps(module)[1]

    def _weight_name(self, parameter: Any, modules: Sequence[Any]) -> str:
        """The name that says most: the innermost one with a role, else the outermost; else that of a variable."""
        names = [self._maps(module)[0].get(id(parameter)) for module in modules[:4]]
        known = [name for name in names if name]
        for name in known:
            if role_of(name):
                return name
        for name, value in variables():
            if value is parameter or (isinstance(value, (list, tuple)) and any(part is parameter for part in value)):
                if role_of(name):
                    return name
        return known[-1] if known else ""

    def _on_product(self, name: str, args: Any, kwargs: Dict[str, Any], out: Any) -> None:
        torch = torch_module()
        product = product_of(name, args, out)
        if product is None:
            return
        a, b = product.a, product.b
        node_a, node_b = self._node(a), self._node(b)
        root_a, root_b = root_of(node_a), root_of(node_b)
        if root_a is not None and root_a.kind == "weights" or root_b is not None and root_b.kind == "weights":
            self._on_context(product, node_a, node_b, out)
            return
        parameter_b = isinstance(b, torch.nn.Parameter) or (root_b is not None and root_b.kind == "source" and
                                                           root_b.info is not None)
        plain_b = root_b is None or root_b.kind == "source"
        if b.dim() == 2 and (parameter_b or name == "addmm" or (a.dim() > 2 and plain_b) or
                             (root_a is not None and root_a.kind in ("context", "heads"))) and name != "einsum":
            self._projected(a, b, args[0] if name == "addmm" else None, out, turned=False)
            return
        if name == "einsum" and any(isinstance(operand, torch.nn.Parameter) for operand in (a, b)):
            return
        if root_a is not None and root_a.kind == "product" and \
                self._without_softmax(product, node_a, root_a, node_b, out):
            return
        product.node_a, product.node_b = node_a or self._source(a), node_b or self._source(b)
        site = caller()
        product.names = self._variable_names(product)
        node: Node = Node("product", None, out.shape, site, product)
        if name == "baddbmm":
            alpha, beta = kwargs.get("alpha", 1), kwargs.get("beta", 1)
            if alpha != 1:
                node = Node("scale", node, out.shape, site, float(alpha))
            if beta != 0:
                node = Node("add", node, out.shape, site, (args[0].detach(), float(beta)))
        self._tag(out, node)

    def _variable_names(self, product: Product) -> Dict[str, List[str]]:
        """What the caller calls the two operands, or what they were made from."""
        chains = {"a": product.node_a, "b": product.node_b}
        nodes = {side: {id(step) for step in path_to(node, ("linear", "product", "source"))}
                 for side, node in chains.items()}
        names: Dict[str, List[str]] = {"a": [], "b": []}
        for name, value in variables():
            node = self._node(value) if is_tensor(value) else None
            if node is not None:
                for side in "ab":
                    if id(node) in nodes[side]:
                        names[side].append(name)
        return names

    def _without_softmax(self, product: Product, node: Any, root: Node, other: Any, out: Any) -> bool:
        """Scores of two projections that were scaled or masked, and meet values as they are."""
        scores: Product = root.info
        steps = path_to(node, ("product",))
        projected = all(start is not None and start.kind in ("linear", "product")
                        for start in (root_of(scores.node_a), root_of(scores.node_b)))
        right = root_of(other)
        if not projected or not any(step.kind in ("scale", "fill", "add", "times") for step in steps) or right is None or \
                right.kind not in ("linear", "product"):
            return False
        self._on_softmax("none", product.a, -1, product.a)
        made = self._node(product.a)
        if made is None or made.kind != "weights":
            return False
        self._on_context(product, made, other, out)
        return True

    def _on_times(self, name: str, args: Any, out: Any) -> None:
        first, second = args[0], args[1]
        if name in ("__rdiv__", "__rtruediv__"):
            if self._node(first) is not None and is_tensor(out):
                self._tag(out, None)
            return
        over = name in OVER
        node, other = self._node(first), second
        if over and node is not None:
            divisor = self._node(second) if is_tensor(second) else None
            total = divisor
            while total is not None and total.kind == "move":
                total = total.parent
            if total is not None and total.kind == "expsum":
                self._on_normalised(first, node, total, second, out)
                return
        if node is None or node.kind in ("source",):
            node, other = (self._node(second) if is_tensor(second) else None), first
            if node is None or over:
                return
        root = root_of(node)
        if root is None or not is_tensor(out):
            return
        number = number_of(other)
        if root.kind == "weights":
            if number is not None:
                self._on_post("scale", node, root, 1 / number if over and number else number, out)
            else:
                self._on_post("times", node, root, 1 / other if over else other, out)
        elif number is not None and root.kind in ("product", "linear"):
            factor = 1 / number if over and number else number
            self._tag(out, Node("scale", node, out.shape, caller(), factor))
        elif root.kind == "product" and is_tensor(other) and tuple(out.shape) == node.shape:
            tensor = other.detach()
            self._tag(out, Node("times", node, out.shape, caller(), (1 / tensor if over else tensor, 1.0)))
        else:
            self._tag(out, None)

    def _on_normalised(self, first: Any, node: Node, total: Node, divisor: Any, out: Any) -> None:
        """exp(s) / Σ exp(s): a softmax written by hand; or weights divided by their own sum."""
        dim, keepdim = total.info
        if node.kind == "exp" and total.parent is node:
            wrong = divisor.dim() not in (0, first.dim())
            self._on_softmax("softmax", first, dim, out, wrong_sum=wrong, node=node.parent)
        elif root_of(node) is not None and root_of(node).kind == "weights":  # type: ignore[union-attr]
            self._on_post("sum", node, root_of(node), None, out)  # type: ignore[arg-type]

    def _on_plus(self, name: str, args: Any, kwargs: Dict[str, Any], out: Any) -> None:
        first, second = args[0], args[1]
        sign = float(PLUS[name]) * float(kwargs.get("alpha", 1))
        node, other = self._node(first), second
        turned = False
        if node is None or node.kind == "source" or \
                (root_of(node).kind == "linear" and is_tensor(second) and self._is_score(second)):  # type: ignore[union-attr]
            swapped = self._node(second) if is_tensor(second) else None
            if swapped is not None and swapped.kind != "source":
                node, other, turned = swapped, first, True
        if node is None or not is_tensor(out):
            return
        root = root_of(node)
        if root is None or root.kind == "source":
            return
        if root.kind == "context" and is_tensor(other):
            friend = root_of(self._node(other))
            if friend is not None and friend.kind in ("context", "heads") and name in ("add", "add_", "__add__", "__iadd__"):
                self._heads_lost("added up", [root, friend], out, node)
                return
        if root.kind == "heads" and node.kind == "post" and is_tensor(other):
            friend = root_of(self._node(other))
            if friend is not None and friend.kind == "context":
                self._heads_lost("added up", [root, friend], out, node)
                return
        if turned and sign < 0:
            self._tag(out, None)       # number or tensor − scores
            return
        number = number_of(other)
        if root.kind == "product":
            if number is not None and not (is_tensor(other) and other.dim()):
                self._tag(out, node)   # one number for all changes no weight
            elif is_tensor(other):
                if tuple(out.shape) != node.shape:
                    torch = torch_module()
                    node = Node("move", node, out.shape, caller(),
                                 Move(torch.Tensor.expand, (tuple(out.shape),), {}, None, False))
                self._tag(out, Node("add", node, out.shape, caller(), (other.detach(), sign)))
        elif root.kind == "linear" and node.kind == "linear" and is_tensor(other) and other.dim() == 1:
            info: Linear = node.info
            again = Linear(info.weight, info.name, info.transposed, True, info.x if info.transposed else None,
                            info.bias_of)
            self._tag(out, Node("linear", None, out.shape, node.site, again))
        elif root.kind == "weights":
            self._on_post("add", node, root, other, out)
        else:
            self._tag(out, None)

    def _on_fill(self, name: str, args: Any, kwargs: Dict[str, Any], out: Any) -> None:
        torch = torch_module()
        target: Any = args[0]
        value: Any = 0.0
        if name in ("masked_fill", "masked_fill_"):
            mask, value = args[1] if len(args) > 1 else kwargs["mask"], args[2] if len(args) > 2 else kwargs["value"]
        elif name == "where":
            if len(args) < 3:
                return
            condition, yes, no = args[:3]
            if is_tensor(yes) and self._is_score(yes):
                target, mask, value = yes, ~condition.bool(), no
            elif is_tensor(no) and self._is_score(no):
                target, mask, value = no, condition.bool(), yes
            else:
                return
        elif name == "__setitem__":
            if not self._is_score(target):
                return
            mask = torch.zeros(target.shape, dtype=torch.bool, device=target.device)
            mask[args[1]] = True
            value, out = args[2], target
        else:
            if not self._is_score(target):
                return
            diagonal = args[1] if len(args) > 1 else kwargs.get("diagonal", 0)
            ones = torch.ones(target.shape[-2:], dtype=torch.bool, device=target.device)
            mask = ~(ones.tril(diagonal) if name.startswith("tril") else ones.triu(diagonal))
        node = self._node(target)
        root = root_of(node)
        if node is None or root is None:
            return
        if root.kind == "weights":
            self._on_post("fill", node, root, mask, out)
        elif root.kind == "product":
            number = number_of(value)
            if number is None and is_tensor(value) and value.numel() and bool((value == value.flatten()[0]).all()):
                number = float(value.flatten()[0])
            if number is None:
                self._tag(out, Node("opaque", node, out.shape, caller(), name))
            else:
                if tuple(out.shape) != node.shape:
                    node = Node("move", node, out.shape, caller(),
                                 Move(torch.Tensor.expand, (tuple(out.shape),), {}, None, False))
                self._tag(out, Node("fill", node, out.shape, caller(), (mask.detach().bool(), number)))
        else:
            self._tag(out, None)

    def _on_softmax(self, name: str, tensor: Any, dim: Any, out: Any, wrong_sum: bool = False,
                    node: Optional[Node] = None, fused: bool = False) -> None:
        node = node or self._node(tensor)
        root = root_of(node)
        if node is None or root is None:
            return
        site = caller()
        if root.kind == "weights":
            self._on_post("softmax", node, root, None, out)
            root.info.call.observe("softmax_twice", site)
            return
        if root.kind != "product":
            return
        self._softmaxes += 1
        frames = frames_around(self._module)
        if self._modules is not None and not any(id(module) in self._modules for module in frames.modules):
            return
        place = frames.path or (site.file, site.line)
        layer = self._places.setdefault(place, len(self._places))
        if self.keep.layers is not None and layer not in self.keep.layers:
            return
        if len(self._calls) + len(self._pending) >= self.keep.calls:
            self._left_out += 1
            return
        product: Product = root.info
        call = Call(self._softmaxes, product, frames, site, self._layout_of(product))
        call.layer = layer
        call.path = path_to(node, ("product",))
        dims = [dim] if not isinstance(dim, (tuple, list)) else list(dim)
        axes = axes_after(moves_of(call.path), product.shape)
        if axes is None:
            self._note(f"{call.where}: too large to follow the axes of the softmax")
        elif any(one is None for one in dims):
            call.dim_axes = frozenset(range(len(product.shape)))
        else:
            call.dim_axes = frozenset().union(*(axes[one] for one in dims))
        info = Softmax()
        info.dim, info.name, info.call, info.wrong_sum = dim, name, call, wrong_sum
        if name == "none":
            call.dim_axes = frozenset()
        call.softmax = Node("weights", None, out.shape, site, info)
        info.snapshot = None if fused else self._snapshot(call, out, moves_of(call.path))
        call.weight_path = [call.softmax]
        self._pending.append(call)
        if not fused:
            self._tag(out, call.softmax)

    def _layout_of(self, product: Product) -> Layout:
        """The layout, worked out once for calls of the same shape that are split in the same way."""
        try:
            key: Any = (product.shape, tuple(product.out_shared), tuple(
                (base.kind, base.shape, tuple((move.function.__name__, move.arguments, tuple(move.options.items()), move.pick)
                                              for move in moves_of(path)))
                for node in (product.node_a, product.node_b)
                for path in [path_to(node, STOPS)]
                for base in [path[0]]), tuple(product.free["a"] + product.free["b"]))
            known = self._layouts.get(key)
        except TypeError:       # an argument that is a tensor or a slice
            return layout_of(product)
        if known is None:
            known = layout_of(product)
            if len(self._layouts) < 16:
                self._layouts[key] = known
            return known
        again = Layout()
        again.groups, again.known = known.groups, known.known
        sides = {"a": product.node_a, "b": product.node_b}
        again.indices = {side: (index, path_to(sides[side], STOPS)[0]) for side, (index, _) in known.indices.items()}
        if known.trouble is not None:
            again.trouble = (known.trouble[0], first_reshaping(sides["a" if "a" in known.indices else "b"]))
        return again

    def _snapshot(self, call: Call, tensor: Any, moves: Sequence[Move]) -> Optional[Weights]:
        """The weights of some sentences, so that they can be checked."""
        _, heads_of, queries, keys = call.shape
        most = max(1, MOST_WEIGHTS // max(1, heads_of * keys))
        rows = None if queries <= most else np.unique(np.linspace(0, queries - 1, most).astype(int))
        sentences = list(range(min(self.keep.sentences, len(call.layout.groups))))
        array = call.canonical(tensor.detach(), moves, sentences, rows)
        return None if array is None else Weights(list(array), rows)

    def _on_post(self, what: str, node: Node, root: Node, other: Any, out: Any) -> None:
        """Weights that are changed after the softmax."""
        call: Call = root.info.call
        step = Node("post", node, out.shape, caller(), None)
        moves = moves_of(call.path) + moves_of(path_to(step, ("weights",)))
        step.info = (what, self._snapshot(call, out, moves), other.detach() if is_tensor(other) else other, moves)
        self._tag(out, step)

    def _on_dropout(self, args: Any, kwargs: Dict[str, Any], out: Any) -> None:
        tensor = args[0] if args else kwargs["input"]
        node = self._node(tensor)
        root = root_of(node)
        if node is None or root is None:
            return
        p = args[1] if len(args) > 1 else kwargs.get("p", 0.5)
        training = args[2] if len(args) > 2 else kwargs.get("training", True)
        if not training or p == 0:
            self._tag(out, node)
            return
        if root.kind in ("product", "weights"):
            frames = frames_around(self._module)
            step = Node("drop", node, out.shape, caller(), (p, None))
            if root.kind == "weights" and frames.eval_outside:
                moves = moves_of(root.info.call.path) + moves_of(path_to(step, ("weights",)))
                step.info = (p, self._snapshot(root.info.call, out, moves))
            self._tag(out, step)
        elif root.kind == "linear":
            self._tag(out, None)

    def _on_sum(self, name: str, args: Any, kwargs: Dict[str, Any], out: Any) -> None:
        node = self._node(args[0]) if args else None
        root = root_of(node)
        if node is None or root is None:
            return
        dim = args[1] if len(args) > 1 else kwargs.get("dim")
        keepdim = args[2] if len(args) > 2 else kwargs.get("keepdim", False)
        if root.kind == "heads" and node.kind == "heads":
            self._heads_lost("averaged" if name == "mean" else "added up", [root], out, node)
        elif name == "sum" and (node.kind == "exp" or root.kind == "weights"):
            self._tag(out, Node("expsum", node, out.shape, caller(), (dim, keepdim)))
        elif root.kind == "context" and isinstance(dim, int) and node.kind == "context" and len(node.shape) >= 3:
            call: Call = root.info
            axis = dim % len(node.shape)
            if call.heads > 1 and node.shape[axis] == call.heads:
                self._heads_lost("averaged" if name == "mean" else "added up", [root], out, node)

    def _heads_lost(self, how: str, roots: Sequence[Node], out: Any, node: Node) -> None:
        """Heads that are mixed into one another: noted once, at the last line where it happens."""
        calls = [call for root in roots for call in (root.info if isinstance(root.info, list) else [root.info])]
        for call in calls:
            call.observed = [one for one in call.observed if one[0] != "heads_summed"]
        calls[0].observe("heads_summed", caller(), how)
        self._join(calls)
        joined = Node("heads", None, out.shape, caller(), calls)
        self._tag(out, Node("post", joined, out.shape, caller(), ("sum", None, None, [])))

    def _join(self, calls: Sequence[Call]) -> None:
        name = min(call.index for call in calls)
        for place, call in enumerate(calls):
            call.part_of = (name, place)

    def _on_cat(self, name: str, args: Any, kwargs: Dict[str, Any], out: Any) -> None:
        tensors = args[0] if args else kwargs.get("tensors", ())
        if not isinstance(tensors, (list, tuple)) or len(tensors) < 2:
            return
        roots = [root_of(self._node(tensor)) for tensor in tensors]
        if not all(root is not None and root.kind == "context" for root in roots):
            return
        calls = [root.info for root in roots if root is not None]
        if len({id(call) for call in calls}) != len(calls) or any(call.part_of is not None for call in calls):
            return
        dim = args[1] if len(args) > 1 else kwargs.get("dim", kwargs.get("axis", 0))
        if name == "hstack":
            dim = 1
        self._join(calls)
        axes = tensors[0].dim()
        if name != "stack" and dim % axes != axes - 1:
            calls[0].observe("merge_axis", caller())
        self._tag(out, Node("heads", None, out.shape, caller(), calls))

    def _on_context(self, product: Product, node_a: Any, node_b: Any, out: Any) -> None:
        """Weights meet values."""
        product.node_a, product.node_b = node_a, node_b
        root_a, root_b = root_of(node_a), root_of(node_b)
        left = root_a is not None and root_a.kind == "weights"
        node, root, side = (node_a, root_a, "a") if left else (node_b, root_b, "b")
        other, tensor = (node_b, product.b) if left else (node_a, product.a)
        other_root = root_of(other)
        call: Call = root.info.call
        if call.context is not None:
            return
        call.weight_path = path_to(node, ("weights",))
        moves = moves_of(call.path) + moves_of(call.weight_path)
        axes = axes_after(moves, call.product.shape)
        site = caller()
        call.context = Node("context", None, out.shape, site, call)
        call.value_node = other or self._source(tensor)
        if axes is not None:
            summed = frozenset().union(*(axes[axis] for axis in product.summed[side]))
            rows = frozenset().union(*(axes[axis] for axis in product.free[side]))
            call.contracted = _side_of(call, summed, rows)
        self._orient(call)
        call.found = self._chosen_snapshot(call)
        if axes is not None:
            call.take_value(product, side, other, tensor, axes, moves)
        if call in self._pending:
            self._pending.remove(call)
        parameter = other_root is not None and other_root.kind == "source" and other_root.info is not None
        if len(call.product.shape) >= 3 or not parameter:
            self._keep(call)
        self._tag(out, call.context)

    def _orient(self, call: Call) -> None:
        """Which operand counts keys: the one over whose rows both the softmax and the sum over values go; where these
        differ, the one that is named so, else the right one."""
        normalised = _counting_side(call, call.dim_axes)
        roles = call.roles()
        if normalised is not None and normalised == call.contracted:
            flipped = normalised == "a"
        elif roles["a"] in ("query", "key") and roles["b"] in ("query", "key") and roles["a"] != roles["b"]:
            flipped = roles["a"] == "key"
        else:
            flipped = False
        if flipped != call.flipped:
            call.flipped = flipped
            for holder in [call.softmax.info] if call.softmax is not None else []:
                holder.snapshot = _turned(holder.snapshot)
            for step in call.weight_path:
                if step.kind in ("post", "drop") and step.info[1] is not None:
                    info = list(step.info)
                    info[1] = _turned(info[1])
                    step.info = tuple(info)

    @staticmethod
    def _chosen_snapshot(call: Call) -> Optional[Weights]:
        """The weights that met the values, dropout that belongs there left out."""
        for step in call.weight_path[::-1]:
            if step.kind in ("post", "drop") and step.info[1] is not None:
                return step.info[1]
            if step.kind == "weights":
                return step.info.snapshot
        return call.softmax.info.snapshot if call.softmax is not None else None

    def _keep(self, call: Call) -> None:
        if call.found is None:
            self._orient(call)
            call.found = self._chosen_snapshot(call)
        for step in (call.softmax, *call.path):
            if step is not None and step.kind == "product":
                step.info.a = step.info.b = None     # the caller's tensors; the call has copies
        self._calls.append(call)

    def _on_output(self, tensor: Any, node: Any, root: Node) -> None:
        """Heads side by side, as they go into the output projection."""
        if root.kind != "context":
            return
        call: Call = root.info
        if call.output is None:
            steps = [step for step in path_to(node, ("context",)) if step.kind == "move"]
            call.merge_site = next((step.site for step in steps[::-1] if not step.info.permutes), root.site)
            call.output = tensor.detach().clone(), [step.info for step in steps], root.shape

    def _on_fused(self, args: Any, kwargs: Dict[str, Any], out: Any) -> None:
        """torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0,
        is_causal=False, *, scale=None, enable_gqa=False) of torch 2: whatever kernel it takes, this is what it means."""
        torch = torch_module()
        names = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")
        given = {**dict(zip(names, args)), **kwargs}
        query, key, value = given["query"], given["key"], given["value"]
        site = caller()
        node_q, node_k, node_v = (self._node(tensor) or self._source(tensor) for tensor in (query, key, value))
        if given.get("enable_gqa") and query.dim() > 2 and key.shape[-3] != query.shape[-3]:
            times = query.shape[-3] // key.shape[-3]
            repeat = Move(torch.Tensor.repeat_interleave, (times, -3), {}, None, False)
            key, value = key.repeat_interleave(times, -3), value.repeat_interleave(times, -3)
            node_k = Node("move", node_k, key.shape, site, repeat)
            node_v = Node("move", node_v, value.shape, site, repeat)
        turn = Move(torch.Tensor.transpose, (-2, -1), {}, None, True)
        turned = key.transpose(-2, -1)
        lead = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2])
        product = product_of("matmul", (query, turned), Unmade((*lead, query.shape[-2], key.shape[-2]), query))
        if product is None:
            return
        product.node_a, product.node_b = node_q, Node("move", node_k, turned.shape, site, turn)
        product.names = self._variable_names(product)
        node: Node = Node("product", None, product.shape, site, product)
        scale = given.get("scale")
        node = Node("scale", node, product.shape, site, float(1 / math.sqrt(query.shape[-1]) if scale is None else scale))
        if given.get("is_causal"):
            ones = torch.ones(product.shape[-2:], dtype=torch.bool, device=query.device)
            node = Node("fill", node, product.shape, site, (ones.triu(1), -math.inf))
        mask = given.get("attn_mask")
        if mask is not None and mask.dtype == torch.bool:
            node = Node("fill", node, product.shape, site, (~mask.detach(), -math.inf))
        elif mask is not None:
            node = Node("add", node, product.shape, site, (mask.detach(), 1.0))
        nothing = Unmade(product.shape, query)
        before = len(self._pending)
        self._on_softmax("softmax", None, -1, nothing, node=node, fused=True)
        if len(self._pending) == before:
            return
        call = self._pending[-1]
        p = given.get("dropout_p") or 0.0
        if p > 0 and frames_around(self._module).eval_outside:
            call.observe("dropout_left_on", site, f" (p = {p:g}) in eval mode")
        context = product_of("matmul", (nothing, value), Unmade((*lead, query.shape[-2], value.shape[-1]), query))
        if context is not None:
            self._on_context(context, call.softmax, node_v, out)
        if p == 0:
            call.fused_output = out.detach().clone()

    # -- answers

    def attentions(self, sentence: int = 0) -> Array:
        """(layers, heads, T, S): the weights of one sentence in every call. Errors: Error where calls differ in shape."""
        layers = [attention.weights() for attention in self.sequence()]
        if not layers:
            raise Error((self.notes() or ["no attention seen"])[-1])
        return layers_of([layer[min(sentence, len(layer) - 1)] for layer in layers], 0,
                       "seen (seen[0:2] chooses calls of one shape)")

    def stacks(self, sentence: int) -> Dict[str, Array]:
        """One stack, or those of encoder, decoder and cross-attention where a call's keys are of another sequence."""
        all_of = self.sequence()
        shapes = [attention._parts[0].shape for attention in all_of]
        if not any(shape[2] != shape[3] for shape in shapes) or len(set(shape[2:] for shape in shapes)) == 1:
            return {"attentions": self.attentions(sentence)}
        stacks: Dict[str, List[Array]] = {name: [] for name in STACKS}
        for index, attention in enumerate(all_of):
            shape, after = shapes[index], shapes[index + 1] if index + 1 < len(shapes) else None
            weights = attention.weights()
            own = weights[min(sentence, len(weights) - 1)]
            if shape[2] != shape[3]:
                stacks["cross_attentions"].append(own)
            elif after is not None and after[2] != after[3] and after[2] == shape[2]:
                stacks["decoder_attentions"].append(own)
            else:
                stacks["encoder_attentions"].append(own)
        return {name: layers_of(layers, 0, name) for name, layers in stacks.items() if layers}

    def save(self, path: Union[str, Path], sentence: int = 0, tokens: Optional[Sequence[str]] = None,
             target_tokens: Optional[Sequence[str]] = None) -> None:
        """A tensors file (.safetensors or .npz) that `headlight FILE` opens: the weights of one sentence of every call, and
        queries, keys and values of the same shape."""
        arrays = self.stacks(sentence)
        metadata = token_metadata(arrays, tokens, target_tokens)
        if "attentions" in arrays:
            for name, role in (("queries", "query"), ("keys", "key"), ("values", "value")):
                parts = [getattr(attention, role) for attention in self.sequence()]
                if all(part is not None for part in parts) and len({part.shape[1:] for part in parts}) == 1:
                    arrays[name] = np.stack([part[min(sentence, len(part) - 1)] for part in parts]).astype(np.float32)
        save_arrays(path, arrays, metadata)

    def show(self, sentence: int = 0, tokens: Optional[Sequence[str]] = None,
             target_tokens: Optional[Sequence[str]] = None) -> Any:
        """In a notebook the page, inline; elsewhere the window."""
        return show(self.stacks(sentence), tokens=tokens, target_tokens=target_tokens)

    def _repr_html_(self) -> Optional[str]:
        if not len(self):
            return "<pre>" + _html.escape(repr(self)) + "</pre>"
        try:
            return page_of(self.stacks(0), {})._repr_html_()
        except Error as error:
            return "<pre>" + _html.escape(f"{self!r}\n{error}") + "</pre>"

    def check(self, mask: Any = None) -> Report:
        """Every call against softmax(q·kᵀ/√d_k + mask)·v, computed by the program. `mask`: which cells may be attended
        to (T, S) or (sentences, T, S), where the code cannot tell by itself what was meant."""
        return check_seen(self, None if mask is None else as_numpy(mask).astype(bool))


def number_of(value: Any) -> Optional[float]:
    """A number, also as a tensor or array of one element; nothing for larger ones."""
    if isinstance(value, (int, float, np.number)):
        return float(value)
    if (is_tensor(value) or isinstance(value, np.ndarray)) and value.size == 1 if isinstance(value, np.ndarray) else \
            is_tensor(value) and value.numel() == 1:
        return float(value)
    return None


_own_files: Dict[str, bool] = {}



def _counting_side(call: Call, axes: Optional[frozenset]) -> Optional[str]:
    """The operand whose rows are all that an axis counts."""
    for side in "ba":
        if axes and axes == frozenset(call.product.out_free[side]):
            return side
    return None


def _side_of(call: Call, summed: frozenset, rows: frozenset) -> Optional[str]:
    for side, other in (("b", "a"), ("a", "b")):
        if summed & set(call.product.out_free[side]) or (not summed and rows & set(call.product.out_free[other])):
            return side
    return None


def _turned(weights: Optional[Weights]) -> Optional[Weights]:
    if weights is None or weights.rows is not None:
        return None
    return Weights([sentence.transpose(-2, -1) for sentence in weights.sentences], None)


def watch(module: Any = None, keep: Union[None, int, Keep] = None) -> Seen:
    """Follows the attention that runs inside a `with` block; with `module` only what runs inside of it.

    Caught are torch.nn.MultiheadAttention and the layers of torch.nn.Transformer, scaled_dot_product_attention, and
    attention written by hand: a softmax of what came from a product of two arrays. `keep` limits calls, layers and
    sentences (`Keep`); a number is that of calls. One thread: what other threads compute is not seen."""
    return Seen(module, keep)
