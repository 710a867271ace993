"""The program `headlight`: found, run, its answers as arrays, dicts and streams; and the files it reads arrays from."""
from __future__ import annotations

import array
import base64
import contextlib
import errno
import io
import json
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence, ValuesView
from numbers import Number
from pathlib import Path
from sysconfig import get_path
from typing import Any, Optional

import numpy as np

Array = np.ndarray
_AHEAD = 1024      # sentences that are read before their answers are taken
_PIPE = 1 << 20    # bytes of answers that the program may be ahead: it computes while the last ones are read here
_MOST_HELD = 1 << 32     # bytes of arrays, which the program refuses only when they are written
_MOST_SAID = 4000        # characters of an error, as in headlight.h
_MOST_TEXT = 1 << 28     # bytes of a file that is copied or read here, as the program reads of one
_CODES = {errno.ENOENT: "file_absent", errno.ENOTDIR: "file_absent", errno.EACCES: "permission_denied",
          errno.EPERM: "permission_denied", errno.EROFS: "not_writable", errno.ENOSPC: "no_space",
          errno.ENOMEM: "no_memory"}
_DTYPES = {"float32": "F32", "bool": "BOOL", "int64": "I64", "int32": "I32", "uint8": "U8", "float16": "F16",
           "int16": "I16", "uint16": "U16", "bfloat16": "BF16", "void16": "BF16"}
STACKS = ("encoder_attentions", "decoder_attentions", "cross_attentions")
LISTS = (list, tuple)
Words = Optional[Sequence[str]]
_ROLES = {"query": "q query queries wq toq qs", "key": "k key keys wk tok ks", "value": "v value values wv tov vs",
          "output": "o out output outputs wo toout"}     # words of names


class Error(RuntimeError):
    """Bad input, or no program: one line says what was expected and what was found. `code`: its kind, as the program
    has it (docs/formats.md)."""
    code: str

    def __init__(self, line: str = "", code: str = "bad_value") -> None:
        super().__init__(line[:_MOST_SAID])
        self.code = code


def require(holds: Any, what: str, expected: str, found: Any) -> None:
    if not holds:
        raise Error(f"{what}: expected {expected}, found {found}")


def program() -> str:
    """The path of the program: the variable HEADLIGHT, else beside this module or where pip puts it, else in PATH."""
    named = os.environ.get("HEADLIGHT")
    runs = not named or (os.access(named, os.X_OK) and not os.path.isdir(named))
    require(runs, "HEADLIGHT", "the path of the program headlight", f"'{named}'")
    beside = [os.path.dirname(__file__), get_path("scripts"), get_path("scripts", os.name + "_user")]      # of pip
    found = named or shutil.which("headlight", path=os.pathsep.join(beside)) or shutil.which("headlight")
    require(found, "headlight", "the program in HEADLIGHT, in the folder of the module or in PATH", "none of them")
    return str(found)


@contextlib.contextmanager
def refused(what: str, denied: str = "permission_denied") -> Iterator[None]:
    """Whatever goes wrong inside (files, processes, numbers that are none, no answer) as an Error of one line;
    `denied`: its code where a right is missing. Also a decorator."""
    try:
        yield
    except Error:
        raise
    except UnicodeError as error:
        found = str(getattr(error, "object", error))[:64]
        raise Error(f"{what}: expected Unicode, found {found!r}", "not_utf8") from None
    except Exception as error:
        code = "no_memory" if isinstance(error, MemoryError) else _CODES.get(getattr(error, "errno", 0), "bad_value")
        raise Error(f"{what}: {first_line(str(error)) or type(error).__name__}",
                    denied if code == "permission_denied" else code) from None


class Folder(contextlib.AbstractContextManager):
    """A temporary folder, a path; `close()` or the end of the object, the program or a `with` block removes it."""

    def __init__(self) -> None:
        with refused("temporary folder"):
            self.folder = folder = tempfile.mkdtemp(prefix="headlight-")
        owner = os.getpid()
        self.close = weakref.finalize(self, lambda: os.getpid() == owner and shutil.rmtree(folder, ignore_errors=True))

    def __fspath__(self) -> str:
        require(self.close.alive, "source", "an open model", "one that was closed")
        return self.folder

    __str__ = __fspath__

    def __exit__(self, *_: Any) -> None:
        self.close()


# What the program says of arrays: what they were taken for, and numbers that are no weights.
_OF_ARRAYS = re.compile(r": ((?:taken for|a batch of|\w*tokens: the last|.*: words that are not used|.* of the file).*|"
                        r"[^:]*attentions[^:]*: .*(?: NaNs? in | below 0 \(| to neither 1 nor 0|weights are 0).*)$")


def _environment() -> dict[str, str]:
    return {**os.environ, "HEADLIGHT_PROGRESS": "0", "HEADLIGHT_ERRORS": "json"}


def error_in(said: bytes, otherwise: str) -> Error:
    """What the program said that ended it, behind its warnings; of another program the first line."""
    text = said[-100000:].decode(errors="replace")
    for line in reversed(text.splitlines()):
        with contextlib.suppress(Exception):
            if line.startswith('{"error":'):
                told = json.loads(line)
                return Error(told["error"], told["code"])
    return Error(first_line(said[:100000].decode(errors="replace")) or otherwise)


def run(arguments: Sequence[str], text: str | None = None, accept: Sequence[int] = (0,)) -> bytes:
    """Standard output of one command; another exit status than those accepted raises the first line of its message."""
    with refused(f"headlight {arguments[0]}"):
        done = subprocess.run([program(), *arguments], input=(text or "").encode(), capture_output=True, check=False,
                              env=_environment())
    if done.returncode not in accept:
        raise error_in(done.stderr, f"headlight {arguments[0]}: expected exit status 0, found {done.returncode}")
    for line in done.stderr.decode(errors="replace").splitlines():
        if found := _OF_ARRAYS.search(line):
            print("headlight: " + found[1], file=sys.stderr)
    return done.stdout


def open_window(path: contextlib.AbstractContextManager[str], more: Sequence[str] = ()) -> None:
    """Opens the window about a file or folder, which is let go when it is shut."""
    shown = sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    require(shown, "show", "a notebook or a display",
            "neither: headlight.page(…).save(\"page.html\") writes a page for any browser")
    with contextlib.ExitStack() as held:
        command = [program(), "open", held.enter_context(path), *more]
        with refused("headlight open"):
            window = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
        until_then = held.pop_all()
    threading.Thread(target=lambda: (window.wait(), until_then.close()), daemon=True).start()


def first_line(text: str) -> str:
    """At most 1,000 characters of it; "" where there is none."""
    return (text[:100000].strip().splitlines() or [""])[0][:1000]


def as_numpy(value: Any) -> Array:
    """Numbers of any kind as an array, also lists of arrays of one shape; floats as float32, NaN for None and what is
    masked. Error: no numbers."""
    if isinstance(value, LISTS) and any(map(is_array, value)):
        value = [as_numpy(one) for one in value]
    if isinstance(value, np.ma.MaskedArray):      # what is masked is no weight
        value = value.astype(np.float32).filled(np.nan)
    if is_tensor(value):
        with refused("array: expected numbers, found a tensor without"):      # on meta or fake, a nested one
            value = value.dequantize() if value.is_quantized else value
            value = value if value.layout == torch_module().strided else value.to_dense()
            value = (value.float() if value.is_floating_point() else value).detach().cpu().resolve_neg().numpy()
    elif hasattr(type(value), "__dlpack__") and not hasattr(type(value), "__array__"):
        value = np.from_dlpack(value)
    rows = {len(one) if np.iterable(one) and not isinstance(one, str) else 0
            for one in value} if isinstance(value, LISTS) else set()
    require(len(rows) < 2, "array", "rows of one length", ", ".join(map(str, sorted(rows))))
    array = np.asarray(value)
    if array.dtype == "V2":      # bfloat16, which NumPy has no name for
        array = (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    if array.dtype.kind in "OUV" and not array.dtype.names:      # None and decimals, texts of numbers, other bfloat16
        with contextlib.suppress(TypeError, ValueError):
            array = array.astype(np.float32)
    require(array.dtype.kind in "biuf", "array", "numbers", array.dtype)
    return array.astype(np.float32) if array.dtype.kind == "f" else array


def torch_module() -> Any:
    """torch, where the caller has imported it."""
    return sys.modules.get("torch")


def notebook_shell() -> Any:
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


def is_tensor(value: Any) -> bool:
    torch = torch_module()
    return torch is not None and isinstance(value, torch.Tensor)


def is_array(value: Any) -> bool:
    """Whether it is an array: of NumPy or another library, a tensor, a buffer."""
    return isinstance(value, (memoryview, array.array)) or any(
        hasattr(type(value), name) for name in ("__array__", "__array_interface__", "__dlpack__"))


def head_names(value: Any, what: str = "off") -> list[str]:
    """Heads as the program names them, of "3.1", (3, 1), lists and arrays of these, {3: [1]}. A number is refused: 3.1
    may be 3.10."""
    if isinstance(value, str):
        return [str(value)]
    parts: Any = [(layer, head) for layer in value for head in value[layer]] if isinstance(value, Mapping) else \
        as_list(value)
    require(np.iterable(parts) and not isinstance(parts, bytes), what, "heads as '3.1' or (3, 1)", repr(value))
    if isinstance(parts, tuple) and len(parts) == 2 and all(isinstance(one, (int, np.integer)) for one in parts):
        return [f"{parts[0]}.{parts[1]}"]
    return [name for one in parts for name in head_names(tuple(one) if isinstance(one, list) else one, what)]


def as_list(value: Any) -> Any:
    """An array as nested lists, a scalar of it as a number; anything else as it is."""
    return (value if isinstance(value, np.ndarray) else as_numpy(value)).tolist() if is_array(value) else value


def sentences_in(text: Any) -> str:
    """A text as it is, of several texts the lines: each is one sentence, so that answers have the places of texts."""
    if isinstance(text, str):
        return text
    lines = [*text] if isinstance(text, Iterator) else as_list(text)
    require(isinstance(lines, LISTS), "text", "a text or a list of texts", type(text).__name__)
    for i, line in enumerate(lines):
        require(isinstance(line, str), f"text {i}", "a text", type(line).__name__)
        require(line and not re.search("[\r\n]", line), f"text {i}", "one line", "several" if line else "none")
    return "\n".join(lines)


def _plain(name: str, value: Any) -> Any:
    """The value of an option as the program reads it: heads by name, ids and numbers as such, masks as arrays."""
    if name == "off" and value is not None and value is not False:
        return head_names(value)
    if name.endswith("ids"):
        ids = [*value] if isinstance(value, range) else as_list(value)
        require(ids != [], name, "at least one", "none")
        return ids
    if name.endswith("mask") and isinstance(value, LISTS) and value:
        return as_numpy(value)
    return as_list(value) if is_array(value) and np.ndim(value) == 0 else value


def plain_options(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _plain(name.rstrip("_"), value) for name, value in options.items()}


def words_of_options(options: Mapping[str, Any], folder: Folder, source: Any = None) -> list[str]:
    """The source, and `causal=True, off=["0.1"]` as `--causal --off 0.1`; arrays become .npy files."""
    words: list[str] = [] if source is None else [str(source)]
    for name, value in plain_options(options).items():
        if value is None or value is False or (isinstance(value, LISTS) and not value):
            continue
        words.append("--" + name.rstrip("_").replace("_", "-"))
        if isinstance(value, np.ndarray) or is_tensor(value):
            words.append(os.path.join(folder, name + ".npy"))
            np.save(words[-1], as_numpy(value))
        elif value is not True:
            rows = value if isinstance(value, LISTS) and value and isinstance(value[0], LISTS) else [value]
            words.append("\n".join(",".join(map(str, row)) if isinstance(row, LISTS) else str(row) for row in rows))
    return words


_FILES = (".npy", ".npz", ".safetensors", ".pt", ".pth", ".json", ".csv", ".tsv", ".html")


def _answer(command: str, text: Any, source: Any, options: Mapping[str, Any], *more: str) -> bytes:
    """Standard output of a command about a text, about several, or about arrays."""
    if isinstance(text, Iterator):      # by its type: a dictionary may have an answer for any attribute
        text = [*text]
    if isinstance(text, (str, os.PathLike)) and source is None and str(text).endswith(_FILES) and (
            os.path.isfile(text) or not re.search(r"\s", str(text))):
        raise Error(f"{text}: expected a text or arrays, found a file, which is a source: source='{text}'")
    texts = isinstance(text, LISTS) and text and all(isinstance(one, str) for one in text)
    if not (text is None or isinstance(text, str) or texts):
        with held_file(text, options := dict(options)) as path:
            try:
                return _answer(command, None, path, options, *more)
            except Error as error:      # the file is none of the caller's
                raise Error(str(error).replace(path.split("#")[0] + ": ", ""), error.code) from None
    with Folder() as folder:
        words = [*words_of_options(options, folder, source), *more, *([] if text is None else ["--text", "-"])]
        return run([command, *words], None if text is None else sentences_in(text))


def _asked_of(text: Any, source: Any) -> Any:
    """The text, or None for the shipped one where none is given. Error: None in place of arrays."""
    require(text is not None or source is not None, "attentions", "a text or arrays",
            "None: was output_attentions=True asked for, and attn_implementation='eager'?")
    return None if text is ... else text


def _asked(command: str, kind: str, what: str) -> Callable[..., Any]:
    """The function that returns a command's answer: arrays by name of npz, an object of json."""
    @refused(f"headlight {command}")
    def ask(text: Any = ..., source: Any = None, **options: Any) -> Any:
        found = _answer(command, _asked_of(text, source), source, options, "--format", kind)
        with refused(f"headlight {command}: expected {kind}, found {found[:32]!r}"):
            answer = json.loads(found) if kind == "json" else dict(np.load(io.BytesIO(found), allow_pickle=False))
        return {"steps": answer} if command == "explain" else answer
    ask.__name__, ask.__doc__ = command, what
    return ask


export = _asked("export", "npz", """The arrays of `headlight export`, by name. `source`: a folder, file or name, or what
    `open` returned; None: the shipped model. `options`: of the command line, `_` for `-`: `with_="qkv"`.""")
why = _asked("why", "npz", "The terms that a score of attention is a sum of, as `headlight why` has them.")
lens = _asked("lens", "npz", "The next word after each layer, as `headlight lens` has it.")
patch = _asked("patch", "npz", """What each part of the model restores: `from_="--text '…'", at="heads"`.""")


@refused("headlight study")
def study(path: str | Path, **options: Any) -> dict[str, Array]:
    """What the rows of a study have in common, without its model: the names of the places (`layer`, `head`, …),
    `summary` (places, `statistics`), `n`, and `values` (places, pairs) of `rows` of the file of pairs."""
    found = _answer("study", None, path, options, "--format", "npz")
    return dict(np.load(io.BytesIO(found), allow_pickle=False))


next = _asked("next", "json", "The probabilities of the next (or hidden) word, as `headlight next` has them.")
generate = _asked("generate", "json", "The words that a decoder goes on with, as `headlight generate` has them.")
explain = _asked("explain", "json", "Every number behind one weight, of layer=, head=, query=, key=, as steps.")
heads = _asked("heads", "json", 'The measures of every head: `{"heads": [{"stack": …, "layer": …, "head": …, …}, …]}`.')
claims = _asked("claims", "json", "What the window says of a sentence, as `headlight claims` has it.")


class Figure(type(Path())):      # type: ignore[misc]
    """The path of a figure; in a notebook it shows itself."""

    def _repr_png_(self) -> bytes | None:
        return self.read_bytes() if self.suffix == ".png" else None

    def _repr_html_(self) -> str | None:
        kind = {".png": "image/png", ".svg": "image/svg+xml"}.get(self.suffix)
        return kind and f'<img src="data:{kind};base64,{base64.b64encode(self.read_bytes()).decode()}">'


def figure(text: Any = ..., source: Any = None, *, output: str | Path, **options: Any) -> Figure:
    """Writes `output` (.svg, .pdf or .png) as `headlight figure` does; `text`: or arrays as `show` takes them."""
    _answer("figure", _asked_of(text, source), source, options, "-o", str(output))
    return Figure(output)


def save(arrays: Any, path: str | Path, tokens: Any = None, target_tokens: Any = None, **options: Any) -> None:
    """Writes arrays as `show` takes them to `path` (.safetensors, .npz, .json or .csv), for `headlight PATH`."""
    options.update(tokens=tokens, target_tokens=target_tokens)
    kind = os.path.splitext(path)[1][1:]
    if kind != "npz":
        _answer("export", arrays, None, options, "--format", kind or "none", "-o", str(path))
        return
    data = _answer("export", arrays, None, options, "--format", "safetensors")
    header = json.loads(data[8:(begin := 8 + int.from_bytes(data[:8], "little"))])
    words = {name: json.loads(text) for name, text in header.pop("__metadata__").items() if "tokens" in name}
    found = {name: np.array(one) for name, one in words.items() if one != [str(i) for i in range(len(one))]}
    for name, one in header.items():
        if "attentions" in name:
            first, last = one["data_offsets"]
            found[name] = np.frombuffer(data[begin + first:begin + last], np.float32).reshape(one["shape"])
    write_npz(path, found)      # whose words are arrays of strings


def write_npz(path: str | Path, arrays: Mapping[str, Array]) -> None:
    held = io.BytesIO()
    np.savez(held, **arrays)
    with written_whole(path) as file:
        file.write(held.getbuffer())


def regular(path: Any) -> Any:
    """The path, where it is not that of a device, which may never end, nor of a larger file than the program reads."""
    require(os.path.isfile(path) or not os.path.exists(path), str(path), "a regular file", "something else")
    if os.path.exists(path) and (size := os.path.getsize(path)) > _MOST_TEXT:
        raise Error(f"{path}: size: expected at most {_MOST_TEXT} bytes, found {size} bytes", "too_large")
    return path


@contextlib.contextmanager
def written_whole(path: str | Path) -> Iterator[Any]:
    """A binary file beside `path`, or what it links to, that takes its place when it is whole; a device is written."""
    path = os.path.realpath(path)
    device = os.path.exists(path) and not os.path.isfile(path)
    beside = path if device else f"{path}.{os.getpid()}-{threading.get_ident()}"
    opener = (lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) if device else None  # of a pipe
    with refused(str(path), "not_writable"), open(beside, "wb" if device else "xb", opener=opener) as file:
        try:
            yield file
            file.close()
            device or os.replace(beside, path)
        except BaseException:
            device or os.unlink(beside)
            raise


def _dtype_of(array: Any) -> str:
    return getattr(array.dtype, "name", str(array.dtype).replace("torch.", ""))


def write_safetensors(path: str | Path, arrays: Mapping[str, Any], metadata: Mapping[str, str]) -> None:
    """The format of huggingface/safetensors: a length, a JSON header, the bytes."""
    header: dict[str, Any] = {"__metadata__": dict(metadata)}
    at = 0
    for name, array in arrays.items():
        kind = _dtype_of(array)
        size = int(np.prod(array.shape)) * int(re.sub(r"\D", "", _DTYPES.get(kind, "F32")) or 8) // 8
        header[name] = {"dtype": _DTYPES.get(kind, "F32"), "shape": list(array.shape), "data_offsets": [at, at + size]}
        at += size
    with written_whole(path) as file:
        text = json.dumps(header, ensure_ascii=False).encode()
        text += b" " * (-len(text) % 8)
        file.write(len(text).to_bytes(8, "little") + text)
        for name, array in arrays.items():
            if is_tensor(array):
                own = array.detach().cpu().contiguous()
                array = (own.reshape(-1).view(torch_module().int16) if "bfloat16" in str(own.dtype) else own).numpy()
            kind = array.dtype.newbyteorder("<") if _dtype_of(array) in _DTYPES else "<f4"
            own = np.ascontiguousarray(array, kind)
            file.write(own.reshape(-1).view(np.uint8) if own.size else b"")


def layers_of(layers: Sequence[Array], what: str) -> Array:
    """Layers (heads, T, S) as one array. Error where they differ in shape."""
    for layer in layers:
        require(layer.shape == layers[0].shape, what, "layers of one shape", f"{layers[0].shape} and {layer.shape}")
    return np.stack(layers).astype(np.float32)


def arrays_of(held: Any, said: set[str], name: str = "") -> dict[str, Any]:
    """Arrays and tensors by names that say where in `held` each lies: `attentions.0`, `0.3`; `said`: what is not."""
    below = name and name + "."
    if getattr(held, "dtype", None) == object and held.ndim == 1:      # arrays in an array
        held = [*held]
    if is_array(held):
        kept = type(held) in (np.ndarray, np.memmap) and _dtype_of(held) in ("float32", "float16", "bfloat16", "void16")
        return {name or "array": held if kept or (is_tensor(held) and _is_plain(held)) else as_numpy(held)}
    if isinstance(held, (ValuesView, Iterator, Sequence)) and not isinstance(held, (str, bytes, *LISTS)):
        held = [*held]
    if isinstance(held, LISTS) and not hasattr(held, "_fields"):
        require(held, name or "attentions", "a layer or more", "none (was output_attentions=True asked for?)")
        if _is_row(held) and any(one is not None for one in held):
            with refused(name or "array"):
                return {name or "array": as_numpy(held)}
        kept = _weights_among(held)
        if len(kept) < len(held):
            said.add(f"of {len(held)} results those with rows of sum 1 are weights: {', '.join(map(str, kept))}")
        if len(kept) == 1 < len(held):
            return arrays_of(held[kept[0]], said, name)
        if there := [i for i in kept if held[i] is not None]:      # the layers that were not skipped
            said.update({f"of {len(kept)} layers those that are None are left out"} if len(there) < len(kept) else ())
            kept = there
        return {path: array for i in kept for path, array in arrays_of(held[i], said, f"{below}{i}").items()}
    require(held is not None, name or "attentions", "arrays", "None: fused kernels return no weights; "
            "use headlight.watch(), or attn_implementation='eager'")
    names = [*getattr(held, "keys", list)(), *(getattr(held, "_fields", None) or ())] or \
        [one for one in ("attentions", *STACKS) if hasattr(held, one)]
    get = held.__getitem__ if hasattr(held, "keys") else lambda one: getattr(held, one)
    plain = [one for one in names if re.search(r"pattern|attentions$|attn_probs|attn_weights", str(one))
             and (get(one) is not None or one == "attentions")]
    found: dict[str, Any] = {}
    for one in plain or names:
        part = get(one)
        lists = (isinstance(part, LISTS) or hasattr(part, "keys")) and len(part) > 0
        if plain or ((is_array(part) or lists) and not _texts(part)):
            found.update(arrays_of(part, said, f"{below}{one}"))
    require(found, name or "attentions", "arrays, a model's output with attentions, or a cache with patterns",
            type(held).__name__)
    return found


def _is_plain(tensor: Any) -> bool:
    return tensor.device.type == "cpu" and tensor.layout == torch_module().strided and not (
        tensor.is_quantized or tensor.is_neg())


def _is_row(held: Any) -> bool:
    """Whether it is a number, or lists of numbers, in arrays of one axis perhaps."""
    if isinstance(held, LISTS):
        return not hasattr(held, "_fields") and all(map(_is_row, held))
    return held is None or isinstance(held, (str, Number, array.array)) or (is_array(held) and np.ndim(held) < 2)


def _weights_among(held: Any) -> list[int]:
    """Where the weights are in what a module returned, (output, weights, None): of arrays of several shapes those whose
    rows sum to 1. All of a list of layers."""
    def first(one: Any, depth: int = 0) -> Any:
        if isinstance(one, LISTS) and one:
            return first(one[0], depth + 1)
        return (depth, one) if is_array(one) and np.ndim(one) > 1 else None

    def sums(one: Any) -> bool:
        rows = as_numpy(one)[(0,) * (np.ndim(one) - 2)].sum(-1)
        return bool(np.all((abs(rows - 1) < 0.05) | (rows == 0)) and rows.any())
    firsts = [first(one) for one in held]
    arrays = {i: one[1] for i, one in enumerate(firsts) if one is not None}
    kept = [i for i, one in arrays.items() if sums(one)] if len({one.shape for one in arrays.values()}) > 1 else []
    kinds = [{(firsts[i][0], np.ndim(arrays[i])) for i in arrays if (i in kept) == which} for which in (True, False)]
    layers = any(ndim > 3 for _, ndim in kinds[0] & kinds[1])
    return [*range(len(held))] if layers or len(kept) in (0, len(arrays)) else kept


def _texts(held: Any) -> bool:
    if getattr(getattr(held, "dtype", None), "kind", "") in ("U", "O"):
        held = np.asarray(held).tolist()
    return isinstance(held, LISTS) and bool(held) and all(isinstance(one, (str, bytes)) or _texts(one) for one in held)


def _words_of(held: Any, *given: Any) -> list[Any]:
    """The words of both sides, else those that a dictionary has beside its arrays, and a data frame around them."""
    if hasattr(type(held), "columns"):
        own = [[" ".join(map(str, one)) if isinstance(one, tuple) else one for one in names]
               for names in (held.columns, getattr(held, "index", ()))]
        own[1:] = [own[1] if own[1] != own[0] else None]
    else:
        own = [held.get(name) if isinstance(held, Mapping) else None for name in ("tokens", "target_tokens")]
    return [own[i] if one is None and (isinstance(own[i], str) or _texts(own[i])) else one
            for i, one in enumerate(given)]


@contextlib.contextmanager
def held_file(held: Any, options: dict[str, Any]) -> Iterator[str]:
    """A SOURCE with these arrays, there for a while: a path, and which part is meant, taken out of `options`."""
    tokens, target_tokens = _words_of(held, options.pop("tokens", None), options.pop("target_tokens", None))
    choice = {name: ("x" if name == "grid" else ",").join(map(str, value))      # axes=("batch", "T", "S"), grid=(7, 7)
              if isinstance(value := options.pop(name, None), LISTS) else value
              for name in ("sentence", "step", "array", "axes", "grid")}
    part = "".join(f"#{name}={value}" for name, value in choice.items() if value is not None)
    if hasattr(type(held), "columns") and {"query", "key", "weight"} <= {str(one).lower() for one in held.columns}:
        with Folder() as folder:
            (getattr(held, "to_csv", None) or held.write_csv)(path := os.path.join(folder, "attention.csv"))
            yield path + part
        return
    if hasattr(type(held), "stacks"):      # what `watch` saw
        arrays, part = held.stacks(choice["sentence"] or 0), ""
        metadata = token_metadata(arrays, tokens, target_tokens)
    else:
        arrays, given = arrays_of(held, said := set()), {"tokens": tokens, "target_tokens": target_tokens}
        print(*(f"headlight: {line}\n" for line in said), file=sys.stderr, end="", sep="")
        metadata = {name: json.dumps(_words_in((words.split() if re.search(r"\s", words) else [*words])
                                               if isinstance(words, str) else words), ensure_ascii=False)
                    for name, words in given.items() if words is not None}
    size = sum(4 * int(np.prod(array.shape)) for array in arrays.values())
    require(size <= _MOST_HELD, "attentions", f"at most {_MOST_HELD} bytes (a layer of them)", size)
    more = held if isinstance(held, dict) else {}
    sides = ("queries", "keys", "values")
    arrays.update({name: more[name] for name in sides if isinstance(more.get(name), np.ndarray)})
    with tensors_file(arrays, metadata) as path:
        yield path + part


def _words_in(words: Any) -> Any:
    """Words as texts, in as many lists."""
    words = words.tolist() if hasattr(words, "tolist") else words
    if isinstance(words, (str, int)):
        words = str(words).encode("utf-8", "surrogatepass")
    if isinstance(words, bytes):
        return words.decode(errors="replace")
    require(np.iterable(words), "tokens", "words or their ids", repr(words)[:100])
    return [_words_in(word) for word in words]


def token_metadata(arrays: Mapping[str, Array], tokens: Words, target_tokens: Words) -> dict[str, str]:
    """The metadata that names rows and columns. Errors: Error where the counts do not fit."""
    shape = arrays.get("cross_attentions", [*arrays.values()][0]).shape
    metadata = {}
    for name, words, size in (("tokens", tokens, shape[3]), ("target_tokens", target_tokens, shape[2])):
        if words is not None:
            require(len(words) == size, name, f"{size} words", len(words))
            metadata[name] = json.dumps(_words_in(words), ensure_ascii=False)
    if "cross_attentions" in arrays or "tokens" not in metadata or shape[2] == shape[3]:
        return metadata
    return {{"tokens": "key_tokens", "target_tokens": "tokens"}[name]: words for name, words in metadata.items()}


class Model(Folder):
    """A live model as it is now, a `source` while this object is there: what `save_pretrained` writes, else its config
    and state_dict; of the tokenizer likewise, or the path of a tokenizer.json. Without it only `ids=` can be asked."""

    @refused("open")
    def __init__(self, model: Any, tokenizer: Any = None) -> None:
        config = getattr(model, "config", None)
        fields = config.to_dict() if hasattr(config, "to_dict") else config
        known = isinstance(fields, Mapping) and callable(getattr(model, "state_dict", None))
        expected = "a path, a name, or a model with config.to_dict() and state_dict()"
        require(known, "open", expected, type(model).__name__)
        super().__init__()
        backend = getattr(tokenizer, "backend_tokenizer", tokenizer)      # of tokenizers
        if hasattr(model, "save_pretrained"):       # names of weights may be others than while it runs
            model.save_pretrained(self.folder)
        if isinstance(tokenizer, (str, os.PathLike)):
            within = Path(tokenizer, "tokenizer.json")
            shutil.copy(regular(within if os.path.isdir(tokenizer) else tokenizer), Path(self, "tokenizer.json"))
        elif hasattr(tokenizer, "save_pretrained"):
            tokenizer.save_pretrained(self.folder)
        elif hasattr(backend, "to_str"):
            Path(self, "tokenizer.json").write_text(backend.to_str(), encoding="utf-8")
        else:
            expected = "a tokenizer with save_pretrained or to_str, or a path"
            require(tokenizer is None, "open", expected, type(tokenizer).__name__)
        if not Path(self, "config.json").exists():
            fields = {**fields, "architectures": fields.get("architectures") or [type(model).__name__]}
            Path(self, "config.json").write_text(json.dumps(fields, default=str), encoding="utf-8")
            write_safetensors(Path(self, "model.safetensors"), model.state_dict(), {"format": "pt"})

    def show(self) -> None:
        open_window(contextlib.nullcontext(str(self)))


def roles_of(name: str) -> tuple[str, ...]:
    """What weights of this name project to: all three; one of them or the output, by a word of it; or nothing."""
    if re.search("in_proj|qkv|c_attn|query_key_value", name):
        return "query", "key", "value"
    for part in reversed(name.split(".")):
        words = {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", part)}
        found = [role for role, known in _ROLES.items() if words.intersection(known.split())]
        if len(found) == 1 or (not found and "proj" in words):
            return (*found, "output")[:1]
    return ()


def projections(state_dict: Mapping[str, Any]) -> dict[str, Array]:
    """`q_proj.weight` … (out, in) of any state_dict of one attention layer, torch's packed one included."""
    arrays: dict[str, Array] = {}
    for name, value in state_dict.items():
        array, roles = np.atleast_1d(as_numpy(value)), roles_of(name)
        kind = "bias" if name.endswith("bias") else "weight"
        if array.ndim == 3 or name.endswith("kernel"):      # of Keras, (d, heads, d_k) or (heads, d_k, d)
            array = array.reshape(*((-1, array.shape[-1]) if roles == ("output",) else (len(array), -1))).T
        elif kind == "bias":
            array = array.reshape(-1)
        if kind == "weight" and re.search(r"\bc_(attn|proj)", name):     # Conv1D keeps (in, out)
            array = array.T
        parts = len(roles) or 1
        require(len(array) % parts == 0, name, "rows of query, key and value", array.shape)
        for role, part in zip(roles, np.split(array, parts)):
            own = f"{'out' if role == 'output' else role[0]}_proj.{kind}"
            require(own not in arrays, "state_dict", "one layer of attention", f"{own} twice (prefix= chooses one)")
            arrays[own] = part.astype(np.float32)
    require(any(name.endswith("weight") for name in arrays), "state_dict", "projections of query, key and value",
            ", ".join(list(state_dict)[:4]) or "nothing")
    return arrays


@refused("attention")
def attention(x: Any, *, num_heads: int, state_dict: Mapping[str, Any], key: Any = None, value: Any = None,
              mask: Any = None, prefix: str = "") -> dict[str, Array]:
    """What attention of x (T, d_model) gives: `attentions`, `queries`, … (1, heads, T, …), `output` (T, d_model).
    `key`, `value` (S, …), by default x; `mask` ([heads,] T, S), true = may attend, or added; `prefix` picks a layer."""
    own = {name[len(prefix):].lstrip("."): array for name, array in state_dict.items() if name.startswith(prefix)}
    given = {"key": key, "value": value, "mask": mask}
    arrays = {"query": as_numpy(x).astype(np.float32), **projections(own),
              **{name: as_numpy(array) for name, array in given.items() if array is not None}}
    return answer_to(arrays, num_heads, with_="qkv,scores")


@contextlib.contextmanager
def tensors_file(arrays: Mapping[str, Array], metadata: Mapping[str, str]) -> Iterator[str]:
    """The path of a file that is there for a while."""
    with Folder() as folder:
        path = os.path.join(folder, "attention.safetensors")
        write_safetensors(path, arrays, metadata)
        yield path


def answer_to(arrays: Mapping[str, Array], num_heads: int, **options: Any) -> dict[str, Array]:
    """The arrays of `headlight export` of a tensors file with these inputs."""
    with tensors_file(arrays, {"num_heads": str(num_heads)}) as path:
        return export(source=path, **options)


def side_by_side(of_heads: Array) -> Array:
    """(…, heads, T, d) as (…, T, heads · d)."""
    side = of_heads.swapaxes(-3, -2)
    return side.reshape(*side.shape[:-2], -1).astype(np.float32)


class Lines(Iterator):
    """Answers to a stream of sentences, in order, each as soon as it is there, as `headlight export --lines` has them
    or `{"error": …, "code": …, "text": …}`. At most 1,024 sentences are read ahead; `jobs=0` uses all processors."""

    def __init__(self, sentences: Iterable[str], source: str | None = None, **options: Any) -> None:
        self._answers = _lines(sentences, source, options)
        self.close = self._answers.close      # (which ends the program's work)

    def __next__(self) -> dict[str, Any]:
        return self._answers.__next__()

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)


def _line_of(text: Any) -> bytes | tuple[str, str]:
    """A line for the program, or a code and a text of what is wrong with it."""
    if not isinstance(text, str) or not text.strip() or re.search(r"[\n\r\x00]", text):
        return "bad_value", f"text: expected one line that is not empty, found {text!r}"
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError as error:
        return "not_utf8", f"text: expected Unicode, found {error.object[error.start:error.end]!r}"


def _lines(sentences: Iterable[str], source: Any, options: Mapping[str, Any]) -> Generator[dict[str, Any], None, None]:
    """Of `headlight export --lines`, started anew where it ends before its input does."""
    # Texts not answered yet, each with a line, what is wrong with it, or an exception of the caller; None: the end.
    asked: queue.Queue[tuple[Any, Any]] = queue.Queue()
    room, changes, stopped = threading.Semaphore(_AHEAD), threading.Lock(), threading.Event()

    def feed() -> None:
        def ask(text: Any, line: Any) -> None:
            room.acquire()
            with changes:
                asked.put((text, line))
                to_write.put(line)
        try:
            for text in sentences:
                if stopped.is_set():
                    return
                ask(text, _line_of(text))
        except BaseException as error:      # raised where its answer would be
            ask(None, error)
        ask(None, None)

    def write(stdin: Any, waiting: Any) -> None:
        with contextlib.suppress(OSError), stdin:       # where the program has ended, the reader will find out
            for line in iter(waiting.get, None):
                stdin.write(line if isinstance(line, bytes) else b"")
                stdin.flush()

    with Folder() as folder:
        errors = Path(folder, "errors")
        command = [program(), "export", *words_of_options(options, folder, source), "--text", "-", "--lines"]

        def start() -> tuple[Any, Any]:
            """A program, and a queue of what it is to read: at first the lines that wait for an answer."""
            with refused("headlight export"), open(errors, "wb") as file:
                pipe = subprocess.PIPE
                started = subprocess.Popen(command, bufsize=_PIPE, stdin=pipe, stdout=pipe, stderr=file,
                                           env=_environment())
            with contextlib.suppress(ImportError, OSError):
                import fcntl
                fcntl.fcntl(started.stdout, 1031, _PIPE)      # F_SETPIPE_SZ of Linux: a larger pipe
            waiting: Any = queue.SimpleQueue()
            for _, line in list(asked.queue):
                waiting.put(line)
            threading.Thread(target=write, args=(started.stdin, waiting), daemon=True).start()
            return started, waiting

        def stop() -> None:
            to_write.put(None)
            process.kill()
            process.wait()
            process.stdout.close()
        process, to_write = start()
        threading.Thread(target=feed, daemon=True).start()
        try:
            for text, line in iter(asked.get, (None, None)):
                if isinstance(line, BaseException):
                    raise line
                answer = process.stdout.readline() if isinstance(line, bytes) else b""
                room.release()
                if answer.endswith(b"\n"):
                    with refused(f"headlight export: expected json, found {answer[:32]!r}"):
                        known = json.loads(answer)
                    yield known
                    continue
                if isinstance(line, bytes):
                    stop()
                    ended = f"headlight export: expected an answer, found the end (status {process.returncode})"
                    error = error_in(errors.read_bytes(), ended)
                    line = error.code, str(error)
                    with changes:
                        process, to_write = start()
                yield {"error": line[1], "code": line[0], "text": text}
        finally:
            stopped.set()
            room.release()
            stop()
