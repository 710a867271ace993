"""The program `headlight`: found, run, and its answers as arrays and dicts."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

Array = np.ndarray


class Error(RuntimeError):
    """Bad input, or no program: one line says what was expected and what was found."""


# ---- The program ----------------------------------------------------------------------------------------------------


def program() -> str:
    """The path of the program `headlight`: the variable HEADLIGHT, else beside this file, else in PATH."""
    named = os.environ.get("HEADLIGHT")
    if named:
        if os.access(named, os.X_OK) and not os.path.isdir(named):
            return named
        raise Error(f"HEADLIGHT: expected the path of the program headlight, found '{named}'")
    beside = Path(__file__).resolve().with_name("headlight")      # in the folder of this module
    if beside.is_file() and os.access(beside, os.X_OK):
        return str(beside)
    found = shutil.which("headlight")
    if found:
        return found
    raise Error("headlight: expected the program in HEADLIGHT, in the folder of the module or in PATH, found none of them")


def run(arguments: Sequence[str], text: Optional[str] = None, accept: Sequence[int] = (0,)) -> bytes:
    """Standard output of one command; another exit status than those accepted raises the first line of its message."""
    done = subprocess.run([program(), *arguments], input=None if text is None else text.encode(),
                          stdin=subprocess.DEVNULL if text is None else None, capture_output=True, check=False)
    if done.returncode not in accept:
        raise Error(first_line(done.stderr.decode(errors="replace")) or
                    f"headlight {arguments[0]}: expected exit status 0, found {done.returncode}")
    return done.stdout


def count_text(number: int, what: str) -> str:
    """`2 calls`."""
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def first_line(text: str) -> str:
    """"" where there is none."""
    return (text.strip().splitlines() or [""])[0]


def as_numpy(value: Any) -> Array:
    """Numbers of any kind as an array; floats as float32. Errors: Error where it holds no numbers."""
    if is_tensor(value):
        value = value.detach()
        value = (value.float() if value.is_floating_point() else value).cpu().numpy()
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise Error(f"array: expected numbers, found {array.dtype}")
    return array.astype(np.float32) if array.dtype.kind == "f" else array


def torch_module() -> Any:
    """torch, where the caller has imported it."""
    return sys.modules.get("torch")


def is_tensor(value: Any) -> bool:
    torch = torch_module()
    return torch is not None and isinstance(value, torch.Tensor)


def words_of_options(options: Mapping[str, Any], folder: str) -> List[str]:
    """`d_model=64, causal=True, off=["0.1"]` as `--d-model 64 --causal --off 0.1`; an array becomes a .npy file."""
    words: List[str] = []
    for name, value in options.items():
        flag = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(flag)
        elif isinstance(value, np.ndarray) or is_tensor(value):
            path = os.path.join(folder, name + ".npy")
            np.save(path, as_numpy(value))
            words += [flag, path]
        elif isinstance(value, (list, tuple)):
            words += [flag, ",".join(map(str, value))]
        else:
            words += [flag, str(value)]
    return words


def _question(text: Union[str, Sequence[str], None], source: Optional[str],
              options: Mapping[str, Any], folder: str) -> Tuple[List[str], Optional[str]]:
    """The arguments that every command takes, and its standard input."""
    words = ([] if source is None else [str(source)]) + words_of_options(options, folder)
    if text is None:
        return words, None
    if not isinstance(text, str):
        text = "\n".join(text)
    return words + ["--text", "-"], text


def export(text: Union[str, Sequence[str], None] = None, source: Optional[str] = None,
           **options: Any) -> Dict[str, Array]:
    """The arrays of `headlight export` by name: `attentions` (layers, heads, T, S) and the others.

    `source` is a folder, file or name as on the command line, by default the shipped model; `options` are those of the
    command line with `_` for `-`: `mask="causal"`, `with_="qkv,scores"`, `off="0.1"`."""
    with tempfile.TemporaryDirectory(prefix="headlight-") as folder:
        words, given = _question(text, source, options, folder)
        path = os.path.join(folder, "answer.npz")
        run(["export", *words, "--format", "npz", "-o", path], given)
        with np.load(path) as arrays:
            return {name: arrays[name] for name in arrays.files}


def _json_answer(command: str, text: Any, source: Optional[str], options: Mapping[str, Any]) -> Any:
    with tempfile.TemporaryDirectory(prefix="headlight-") as folder:
        words, given = _question(text, source, options, folder)
        return json.loads(run([command, *words, "--format", "json"], given))


def next(text: Optional[str] = None, source: Optional[str] = None, **options: Any) -> Dict[str, Any]:
    """The probabilities of the next (or hidden) word, as `headlight next --format json` writes them."""
    return _json_answer("next", text, source, options)


def explain(text: Optional[str] = None, source: Optional[str] = None, *, layer: int, head: int, query: int, key: int,
            **options: Any) -> Dict[str, Any]:
    """Every number behind one weight: `{"steps": [{"name": …, "shape": …, "value": …, "terms": …}, …]}`."""
    cell = {"layer": layer, "head": head, "query": query, "key": key}
    return {"steps": _json_answer("explain", text, source, {**cell, **options})}


def heads(text: Union[str, Sequence[str], None] = None, source: Optional[str] = None, **options: Any) -> Dict[str, Any]:
    """The measures of every head: `{"heads": [{"stack": …, "layer": …, "head": …, "entropy": …}, …]}`."""
    return _json_answer("heads", text, source, options)
