"""The caller's code around an operation: its line, its modules, its variables."""
from __future__ import annotations

import os
import re
import sys
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from .arrays import role_of
from .engine import Array, is_tensor, notebook_shell, torch_module
from .nodes import Node, Site, path_to

_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep


class Frames(NamedTuple):
    """Of the caller's code around an operation: names of its masks, the modules, whether one of them is in eval mode."""
    masks: List[Tuple[str, Any]]
    modules: List[Any]
    path: str
    eval_outside: bool


def short_path(file: Optional[str]) -> str:
    """A path as a reader would type it: from the working folder where the file is below it; In[2] of a notebook."""
    if not file:
        return ""
    cell = getattr(getattr(notebook_shell(), "compile", None), "_filename_map", {}).get(file)    # as IPython keeps it
    if cell is not None:
        return f"In[{cell}]"
    try:
        near = os.path.relpath(file)
    except ValueError:
        return file
    return file if near.startswith("..") else near


_own_files: Dict[str, bool] = {}


def _is_library(file: str) -> bool:
    """Whether a file belongs to this module, to torch, or to what stands between a caller and torch."""
    known = _own_files.get(file)
    if known is None:
        torch = torch_module()
        folders = [os.path.dirname(module.__file__) + os.sep for module in (torch, sys.modules.get("einops"))
                   if module is not None and module.__file__]
        known = file.startswith(("<frozen", _FOLDER, *folders))
        _own_files[file] = known
    return known


def _user_frames() -> Iterator[Any]:
    frame = sys._getframe(1)
    while frame is not None:
        if not _is_library(frame.f_code.co_filename):
            yield frame
        frame = frame.f_back


def _locals(frame: Any) -> Mapping[str, Any]:
    """The variables of a running function. Up to Python 3.12 asking for them leaves a copy with the frame, which would keep
    everything in it alive until the function returns: that copy is emptied, unless other code holds it."""
    names = frame.f_locals
    if sys.version_info >= (3, 13) or not frame.f_code.co_flags & 1 or names is frame.f_globals:
        return names
    own = dict(names)
    if sys.getrefcount(names) <= 3:
        names.clear()
    return own


def caller() -> Site:
    """The line of the caller's code that is running."""
    for frame in _user_frames():
        return Site(frame.f_code.co_filename, frame.f_lineno)
    return Site("<unknown>", 0)


def modules_around() -> List[Any]:
    """The modules whose methods are running, the innermost first, each once."""
    modules: List[Any] = []
    frame = sys._getframe(1)
    while frame is not None and len(modules) < 24:
        owner = _locals(frame).get("self") if frame.f_code.co_varnames[:1] == ("self",) else None
        if isinstance(owner, torch_module().nn.Module) and all(owner is not module for module in modules):
            modules.append(owner)
        frame = frame.f_back
    return modules


def variables() -> Iterator[Tuple[str, Any]]:
    """Names and tensors of the running function and of its object, lists opened."""
    for frame in _user_frames():
        names = dict(_locals(frame))
        for name, value in [*names.items(), *getattr(names.get("self"), "__dict__", {}).items()]:
            several = isinstance(value, (list, tuple)) and 0 < len(value) <= 64 and is_tensor(value[0])
            for part in value if several else [value] if is_tensor(value) else []:
                yield name, part
        return


def frames_around(root: Any) -> Frames:
    """What the caller's functions around an operation know: masks among their arguments, modules, modes."""
    masks: List[Tuple[str, Any]] = []
    first = None
    for depth, frame in enumerate(_user_frames()):
        code = frame.f_code
        arguments = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
        variables = _locals(frame)
        owner = variables.get("self") if arguments[:1] == ("self",) else None
        if depth == 0:
            first = owner
        elif not ((first is not None and owner is first) or (first is None and depth == 1)):
            break
        for name in arguments:
            value = variables.get(name)
            if re.search("mask|pad", name) and is_tensor(value) and all(value is not known for _, known in masks):
                masks.append((name, value.detach()))
    modules = modules_around()
    names = []
    for inner, outer in zip(modules, modules[1:]):
        name = next((name for name, module in outer.named_modules() if module is inner), None)
        names.append(name if name else type(inner).__name__)
        if outer is root:
            break
    path = ".".join(names[::-1]) or (type(modules[-1]).__name__ if modules else "")
    return Frames(masks, modules, path, any(not module.training for module in modules))


PACKED = r"in_proj|qkv|c_attn|query_key_value"     # one weight for query, key and value, in this order


def _only_role(names: Sequence[str]) -> Optional[str]:
    found = {role_of(name) for name in names} - {None}
    return found.pop() if len(found) == 1 else None


def named_role(node: Node, index: Optional[Tuple[Array, Node]], names: Sequence[str]) -> Optional[str]:
    """What an operand is called: as the weights it was projected by, or as the caller's variables."""
    step, role = path_to(node, ("linear", "product", "source"))[0], None
    if step.kind == "linear":
        width = index[1].shape[-1] if index is not None else 0
        if index is not None and width % 3 == 0 and re.search(PACKED, step.info.name):
            parts = np.unique(index[0] % width // (width // 3))
            return ("query", "key", "value")[int(parts[0])] if len(parts) == 1 else None
        role = role_of(step.info.name)
    elif step.kind == "product":
        role = _only_role(step.info.names["b"])
    return role or _only_role(names)
