#!/usr/bin/python3
"""The hints of the module, made of its own signatures: stubs.py > python/headlight/__init__.pyi

Functions that are made when the module is imported, and arrays that an answer makes when they are asked for, have no
signature in the source that an editor could read."""
import builtins
import inspect
import re
import textwrap

import common  # noqa: F401  (where the module is)
import headlight

HEAD = '''"""Hints of the module `headlight`, made by tests/python/stubs.py."""
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Optional, Union

import numpy as np

Array = np.ndarray[Any, Any]
'''
SHAPES = {      # of an answer of one stack: L layers, H heads, T queries, S keys
    "attentions": "(L, H, T, S), float32: the weights, rows sum to 1",
    "scores": "(L, H, T, S): before the softmax",
    "q": "(L, H, T, d_k)", "k": "(L, H, S, d_k)", "v": "(L, H, S, d_k)",
    "hidden_states": "(L + 1, T, d_model): the embeddings, then each block's output",
    "last_hidden_state": "(T, d_model): after the final norm",
    "logits": "(T, words)"}
KNOWN = {*dir(builtins), *headlight.__all__, *re.findall(r"\w+", HEAD)}
SPECIAL = ("__init__", "__call__", "__getitem__", "__getattr__", "__len__", "__enter__", "__exit__", "__iter__", "__next__")


def text_of(doc, indent):
    """A docstring as a line or more; `...` where there is none."""
    return textwrap.indent(f'"""{inspect.cleandoc(doc)}"""', indent) if doc else indent + "..."


def hint_of(hint):
    """As the source has it, with `Any` for what is the module's own."""
    text = hint if isinstance(hint, str) else inspect.formatannotation(hint)
    return re.sub(r"[A-Za-z_][\w.]*", lambda name: name[0] if name[0] in KNOWN else "Any", text)


def function(name, value, indent="", doc=None, returns=None):
    hints, parts, kinds = inspect.signature(value), [], set()
    for parameter in hints.parameters.values():
        mark = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        if parameter.kind == parameter.KEYWORD_ONLY and not kinds & {parameter.VAR_POSITIONAL, parameter.KEYWORD_ONLY}:
            parts.append("*")
        kinds.add(parameter.kind)
        part, default = mark + parameter.name, parameter.default
        if parameter.annotation is not parameter.empty:
            part += ": " + hint_of(parameter.annotation)
        if default is not parameter.empty:
            part += " = " + (repr(default) if default is None or isinstance(default, (bool, int, float, str)) else "...")
        parts.append(part)
    returns = returns or hint_of(hints.return_annotation)
    return f"{indent}def {name}({', '.join(parts)}) -> {returns}:\n{text_of(doc or value.__doc__, indent + '    ')}"


def of_class(name, value):
    fields = getattr(value, "_fields", None)
    base = "(NamedTuple)" if fields else "(Exception)" if issubclass(value, Exception) else ""
    lines = [f"class {name}{base}:", text_of(value.__doc__, "    ")]
    for field in fields or ():
        hint = value.__annotations__[field]
        lines.append(f"    {field}: {hint_of(getattr(hint, '__forward_arg__', hint))}" + (" = ..." if field in value._field_defaults else ""))
    if issubclass(value, Exception):
        lines.extend(f"    {field}: {hint_of(hint)}" for field, hint in value.__annotations__.items())
    seen = set(fields or ())
    ours = [one for one in value.__mro__ if one.__module__.startswith("headlight")]
    for cls, member, found in ((cls, one, found) for cls in ours for one, found in vars(cls).items()):
        plain = member in SPECIAL or (cls is value and not member.startswith("_"))
        if not plain or member in seen or (fields and member.startswith("__")):
            continue
        seen.add(member)
        if isinstance(found, property):
            lines.append("    @property\n" + function(member, found.fget, "    "))
        elif inspect.isfunction(found):
            lines.append(function(member, found, "    "))
    if value is headlight.Answer:
        for array, shape in SHAPES.items():
            lines.append(f'    @property\n    def {array}(self) -> Array:\n        """{shape}"""')
    return "\n".join(lines) + "\n"


def stub():
    parts, of = [HEAD + "\n__version__: str\n__all__ = " + textwrap.fill(repr(headlight.__all__), 116) + "\n"], {}
    for name in headlight.__all__:
        value = getattr(headlight, name)
        if inspect.isclass(value):
            parts.append(f"{name} = {of[value]}\n" if value in of else of_class(name, value))
            of.setdefault(value, name)
        elif inspect.isfunction(value):
            asked = inspect.getclosurevars(inspect.unwrap(value)).nonlocals.get("kind")
            returns = {"npz": "dict[str, Array]", "json": "dict[str, Any]"}.get(asked)
            parts.append(function(name, inspect.unwrap(value), doc=value.__doc__, returns=returns) + "\n")
        else:
            parts.append(f"{name}: Any\n")
    return "\n\n".join(parts)


if __name__ == "__main__":
    print(stub(), end="")
