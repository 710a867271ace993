"""The program `headlight`: found, run, and its answers as arrays and dicts."""
from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

import numpy as np

Array = np.ndarray


class Error(RuntimeError):
    """Bad input, or no program: one line says what was expected and what was found."""


def program() -> str:
    """The path of the program `headlight`: the variable HEADLIGHT, else in the folder of this module, else in PATH."""
    named = os.environ.get("HEADLIGHT")
    if named and (os.path.isdir(named) or not os.access(named, os.X_OK)):
        raise Error(f"HEADLIGHT: expected the path of the program headlight, found '{named}'")
    beside = str(Path(__file__).resolve().with_name("headlight"))
    found = named or (beside if os.access(beside, os.X_OK) else shutil.which("headlight"))
    if not found:
        raise Error("headlight: expected the program in HEADLIGHT, in the folder of the module or in PATH, found none of them")
    return found


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


def notebook_shell() -> Any:
    """IPython's shell, where it runs this code."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


def is_tensor(value: Any) -> bool:
    torch = torch_module()
    return torch is not None and isinstance(value, torch.Tensor)


def words_of_options(options: Mapping[str, Any], folder: str) -> List[str]:
    """`d_model=64, causal=True, off=["0.1"]` as `--d-model 64 --causal --off 0.1`; an array becomes a .npy file."""
    words: List[str] = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        words.append("--" + name.rstrip("_").replace("_", "-"))
        if isinstance(value, np.ndarray) or is_tensor(value):
            words.append(os.path.join(folder, name + ".npy"))
            np.save(words[-1], as_numpy(value))
        elif value is not True:
            words.append(",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value))
    return words


def _answer(command: str, kind: str, text: Any, source: Optional[str], options: Mapping[str, Any]) -> bytes:
    """The answer of a command in this format."""
    with tempfile.TemporaryDirectory(prefix="headlight-") as folder:
        words = [command, *([] if source is None else [str(source)]), *words_of_options(options, folder), "--format", kind]
        if text is None:
            return run(words)
        return run([*words, "--text", "-"], text if isinstance(text, str) else "\n".join(text))


def export(text: Union[str, Sequence[str], None] = None, source: Optional[str] = None,
           **options: Any) -> Dict[str, Array]:
    """The arrays of `headlight export` by name: `attentions` (layers, heads, T, S) and the others.

    `source` is a folder, file or name as on the command line, by default the shipped model; `options` are those of the
    command line with `_` for `-`: `mask="causal"`, `with_="qkv,scores"`, `off="0.1"`."""
    with np.load(io.BytesIO(_answer("export", "npz", text, source, options))) as arrays:
        return {name: arrays[name] for name in arrays.files}


def _json_command(name: str, what: str, under: str = "") -> Callable[..., Dict[str, Any]]:
    """A command whose answer is JSON; a list stands under this name."""
    def ask(text: Union[str, Sequence[str], None] = None, source: Optional[str] = None, **options: Any) -> Dict[str, Any]:
        answer = json.loads(_answer(name, "json", text, source, options))
        return {under: answer} if under else answer
    ask.__name__, ask.__doc__ = name, what
    return ask


next = _json_command("next", "The probabilities of the next (or hidden) word, as `headlight next --format json` has them.")
explain = _json_command("explain", """Every number behind one weight, of layer=, head=, query=, key=:
    `{"steps": [{"name": …, "shape": …, "value": …, "terms": …}, …]}`.""", "steps")
heads = _json_command("heads", """The measures of every head: `{"heads": [{"stack": …, "layer": …, "head": …, "entropy": …}, …]}`.""")
