"""Look into the attention that is running in your own code.

    import headlight
    with headlight.watch() as seen:
        output = mine(x, mask)
    print(seen.check())              # mine.py:41: scores multiplied by sqrt(d_k) (by 2.828, not by 0.3536)
    seen.show()                      # in a notebook: the page, inline; elsewhere: the window

`watch` follows the operations of torch and keeps queries, keys, values, masks and scales of every attention it sees.
All attention is computed by the program `headlight` (found by the variable HEADLIGHT, beside this file, or in PATH),
none here. Arrays are numpy float32; layers, heads and tokens count from 0. Only numpy is needed; torch is used where the
caller has imported it. Bad input and a missing program raise `Error` with one line.

This is one file on purpose: it can be copied beside a script on a server where nothing may be installed.
"""
from __future__ import annotations

import builtins
import collections
import html as _html
import itertools
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import types
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

__version__ = "0.1.0"
__all__ = ["Error", "Keep", "Mistake", "Page", "Report", "Seen", "attention", "check", "explain", "export", "heads",
           "lines", "log", "next", "program", "show", "tracker", "watch"]

Array = np.ndarray
_first = builtins.next     # this module has a `next` of its own


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
    beside = Path(__file__).resolve().with_name("headlight")
    if beside.is_file() and os.access(beside, os.X_OK):
        return str(beside)
    found = shutil.which("headlight")
    if found:
        return found
    raise Error("headlight: expected the program in HEADLIGHT, beside headlight.py or in PATH, found none of them")


def _run(arguments: Sequence[str], text: Optional[str] = None, accept: Sequence[int] = (0,)) -> bytes:
    """Standard output of one command; another exit status than those accepted raises the first line of its message."""
    done = subprocess.run([program(), *arguments], input=None if text is None else text.encode(),
                          stdin=subprocess.DEVNULL if text is None else None, capture_output=True, check=False)
    if done.returncode not in accept:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise Error(said[0] if said else f"headlight {arguments[0]}: expected exit status 0, found {done.returncode}")
    return done.stdout


def _words_of_options(options: Mapping[str, Any], folder: str) -> List[str]:
    """`d_model=64, causal=True, off=["0.1"]` as `--d-model 64 --causal --off 0.1`; an array becomes a .npy file."""
    words: List[str] = []
    for name, value in options.items():
        flag = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(flag)
        elif isinstance(value, np.ndarray) or _is_tensor(value):
            path = os.path.join(folder, name + ".npy")
            np.save(path, _numpy(value))
            words += [flag, path]
        elif isinstance(value, (list, tuple)):
            words += [flag, ",".join(map(str, value))]
        else:
            words += [flag, str(value)]
    return words


def _question(text: Union[str, Sequence[str], None], source: Optional[str],
              options: Mapping[str, Any], folder: str) -> Tuple[List[str], Optional[str]]:
    """The arguments that every command takes, and its standard input."""
    words = ([] if source is None else [str(source)]) + _words_of_options(options, folder)
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
        _run(["export", *words, "--format", "npz", "-o", path], given)
        with np.load(path) as arrays:
            return {name: arrays[name] for name in arrays.files}


def _json_answer(command: str, text: Any, source: Optional[str], options: Mapping[str, Any]) -> Any:
    with tempfile.TemporaryDirectory(prefix="headlight-") as folder:
        words, given = _question(text, source, options, folder)
        return json.loads(_run([command, *words, "--format", "json"], given))


def next(text: Optional[str] = None, source: Optional[str] = None, **options: Any) -> Dict[str, Any]:
    """The probabilities of the next (or hidden) word, as `headlight next --format json` writes them."""
    return _json_answer("next", text, source, options)


def explain(text: Optional[str] = None, source: Optional[str] = None, *, layer: int, head: int, query: int, key: int,
            **options: Any) -> Dict[str, Any]:
    """Every number behind one weight: `{"steps": [{"name": …, "shape": …, "value": …, "terms": …}, …]}`."""
    place = {"layer": layer, "head": head, "query": query, "key": key}
    return {"steps": _json_answer("explain", text, source, {**place, **options})}


def heads(text: Union[str, Sequence[str], None] = None, source: Optional[str] = None, **options: Any) -> Dict[str, Any]:
    """The measures of every head: `{"heads": [{"stack": …, "layer": …, "head": …, "entropy": …}, …]}`."""
    return _json_answer("heads", text, source, options)


def lines(sentences: Iterable[str], source: Optional[str] = None, **options: Any) -> "Lines":
    """Answers to a stream of sentences, in order: each the object that `headlight export --lines` writes.

    One program answers all of them, each as soon as it is there: the next sentence may depend on the last answer. A
    sentence that cannot be answered gives `{"error": …, "text": …}` in its place. At most 1,024 sentences are read ahead.
    `options` as in `export`; `jobs=0` uses all processors."""
    return Lines(_lines(sentences, source, options))


class Lines:
    """An iterator over answers. Sent to another process it is the list of those that are left."""

    def __init__(self, answers: Iterator[Dict[str, Any]]) -> None:
        self._answers = answers

    def __iter__(self) -> "Lines":
        return self

    def __next__(self) -> Dict[str, Any]:
        return _first(self._answers)

    def __reduce__(self) -> Tuple[Any, ...]:
        return list, (list(self),)

    def close(self) -> None:
        """Ends the program's work."""
        self._answers.close()  # type: ignore[attr-defined]


_AHEAD = 1024      # sentences that are read before their answers are taken
_PIPE = 1 << 20    # bytes of answers that the program may be ahead: it computes while the last ones are read here


def _enlarge(pipe: Any) -> None:
    """A larger pipe, where the system has them (Linux: F_SETPIPE_SZ)."""
    try:
        import fcntl
        fcntl.fcntl(pipe, 1031, _PIPE)
    except (ImportError, OSError):
        pass


class _Sentence(NamedTuple):
    """What came out of the stream: a line for the program; else what is wrong with it, or the exception of the stream."""
    text: Any
    line: bytes = b""
    wrong: str = ""
    raised: Optional[BaseException] = None


def _sentence_of(text: Any) -> _Sentence:
    if not isinstance(text, str) or not text.strip() or re.search(r"[\n\r\x00]", text):
        return _Sentence(text, wrong=f"text: expected one line that is not empty, found {text!r}")
    try:
        return _Sentence(text, line=text.encode() + b"\n")
    except UnicodeEncodeError as error:
        return _Sentence(text, wrong=f"text: expected Unicode, found {error.object[error.start:error.end]!r}")


class _LinesProgram:
    """`headlight export --lines`, started anew where it ends before its input does."""

    def __init__(self, command: Sequence[str], folder: str) -> None:
        self._command = command
        self._errors = os.path.join(folder, "errors")
        self.writing = threading.Lock()     # what is asked again goes before what is new
        self._start()

    def _start(self) -> None:
        with open(self._errors, "wb") as errors:
            self._process = subprocess.Popen(self._command, bufsize=_PIPE, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                             stderr=errors)
        _enlarge(self._process.stdout)

    def write(self, lines: Sequence[bytes]) -> None:
        """By the holder of `writing`. Where the program has ended, its reader will find out."""
        try:
            for line in lines:
                self._process.stdin.write(line)  # type: ignore[union-attr]
                self._process.stdin.flush()      # type: ignore[union-attr]
        except (BrokenPipeError, ValueError):
            pass

    def end_of_input(self) -> None:
        """By the holder of `writing`."""
        try:
            self._process.stdin.close()  # type: ignore[union-attr]
        except BrokenPipeError:
            pass

    def answer(self) -> bytes:
        """The next line of output; what is not whole, or missing, is b""."""
        line = self._process.stdout.readline()  # type: ignore[union-attr]
        return line if line.endswith(b"\n") else b""

    def why_it_ended(self) -> str:
        self.stop()
        said = Path(self._errors).read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return said[0] if said else f"headlight export: expected an answer, found the end (status {self._process.returncode})"

    def again(self, unanswered: Callable[[], Sequence[bytes]], ended: Callable[[], bool]) -> None:
        """A new program, asked in the background what the last one did not answer."""
        self.writing.acquire()
        self._start()
        lines = unanswered()

        def ask() -> None:
            try:
                self.write(lines)
                if ended():
                    self.end_of_input()
            finally:
                self.writing.release()
        threading.Thread(target=ask, daemon=True).start()

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()  # type: ignore[union-attr]


def _lines(sentences: Iterable[str], source: Optional[str], options: Mapping[str, Any]) -> Iterator[Dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="headlight-") as folder:
        words = ([] if source is None else [str(source)]) + _words_of_options(options, folder)
        asked: "collections.deque[_Sentence]" = collections.deque()     # not answered yet, in order
        state = {"ended": False, "stopped": False}
        changed = threading.Condition()
        engine = _LinesProgram([program(), "export", *words, "--text", "-", "--lines"], folder)

        def ask(sentence: _Sentence) -> bool:
            with changed:
                changed.wait_for(lambda: len(asked) < _AHEAD or state["stopped"])
            with engine.writing:
                with changed:
                    if state["stopped"]:
                        return False
                    asked.append(sentence)
                    changed.notify_all()
                if sentence.line:
                    engine.write([sentence.line])
            return True

        def feed() -> None:
            try:
                for text in sentences:
                    if not ask(_sentence_of(text)):
                        return
            except BaseException as error:      # of the caller's stream: told where it happened
                ask(_Sentence(None, raised=error))
            with engine.writing:
                with changed:
                    state["ended"] = True
                    changed.notify_all()
                engine.end_of_input()

        threading.Thread(target=feed, daemon=True).start()
        try:
            while True:
                with changed:
                    changed.wait_for(lambda: asked or state["ended"])
                    if not asked:
                        return
                    sentence = asked[0]
                if sentence.raised is not None:
                    raise sentence.raised
                answer = engine.answer() if sentence.line else b""
                with changed:
                    asked.popleft()
                    changed.notify_all()
                if answer:
                    yield json.loads(answer)
                    continue
                error = sentence.wrong or engine.why_it_ended()
                if sentence.line:
                    engine.again(lambda: [one.line for one in list(asked) if one.line], lambda: state["ended"])
                yield {"error": error, "text": sentence.text}
        finally:
            with changed:
                state["stopped"] = True
                changed.notify_all()
            engine.stop()


# ---- Arrays and files -----------------------------------------------------------------------------------------------


def _torch() -> Any:
    """torch, where the caller has imported it."""
    return sys.modules.get("torch")


def _is_tensor(value: Any) -> bool:
    torch = _torch()
    return torch is not None and isinstance(value, torch.Tensor)


def _numpy(value: Any) -> Array:
    """Numbers of any kind as an array; floats as float32. Errors: Error where it holds no numbers."""
    if _is_tensor(value):
        value = value.detach()
        if value.is_floating_point():
            value = value.float()
        value = value.cpu().numpy()
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise Error(f"array: expected numbers, found {array.dtype}")
    return array.astype(np.float32) if array.dtype.kind == "f" else array


_DTYPES = {"float32": "F32", "bool": "BOOL", "int64": "I64", "int32": "I32", "uint8": "U8", "float16": "F16"}


def _write_safetensors(path: Union[str, Path], arrays: Mapping[str, Array], metadata: Mapping[str, str]) -> None:
    """The format of huggingface/safetensors: a length, a JSON header, the bytes; written beside and renamed."""
    header: Dict[str, Any] = {"__metadata__": dict(metadata)}
    at, blocks = 0, []
    for name, array in arrays.items():
        if array.dtype.name not in _DTYPES:
            array = array.astype(np.float32)
        data = np.ascontiguousarray(array)
        header[name] = {"dtype": _DTYPES[data.dtype.name], "shape": list(data.shape),
                        "data_offsets": [at, at + data.nbytes]}
        at += data.nbytes
        blocks.append(data)
    text = json.dumps(header, ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    path = Path(path)
    handle, beside = tempfile.mkstemp(dir=path.parent, prefix=path.name + ".")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(len(text).to_bytes(8, "little") + text)
            for block in blocks:
                file.write(block.tobytes())
        os.chmod(beside, 0o666 & ~_umask())
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


_STACKS = ("encoder_attentions", "decoder_attentions", "cross_attentions")


def _one_sentence(array: Array, sentence: int, what: str) -> Array:
    """(heads, T, S) of one sentence of a layer that has (heads, T, S) or (batch, heads, T, S)."""
    if array.ndim == 2:
        return array[None]
    if array.ndim == 3:
        return array
    if array.ndim == 4:
        if not 0 <= sentence < array.shape[0]:
            raise Error(f"{what}: expected a sentence below {array.shape[0]}, found {sentence}")
        return array[sentence]
    raise Error(f"{what}: expected (heads, T, S) or (batch, heads, T, S), found {array.shape}")


def _layers(attentions: Any, sentence: int, what: str = "attentions") -> Array:
    """(layers, heads, T, S) of whatever a program holds: a list of layers, or an array with 2 to 5 axes."""
    if isinstance(attentions, (list, tuple)):
        if not attentions:
            raise Error(f"{what}: expected a layer or more, found none (was output_attentions=True asked for?)")
        if any(layer is None for layer in attentions):
            raise Error(f"{what}: expected arrays, found None: fused kernels return no weights; "
                        "use headlight.watch(), or attn_implementation='eager'")
        layers = [_one_sentence(_numpy(layer), sentence, what) for layer in attentions]
        if len({layer.shape for layer in layers}) > 1:
            raise Error(f"{what}: expected layers of one shape, found {layers[0].shape} and "
                        f"{[layer.shape for layer in layers if layer.shape != layers[0].shape][0]}")
        return np.stack(layers).astype(np.float32)
    array = _numpy(attentions)
    if array.ndim == 5:
        array = array[:, sentence]
    if not 2 <= array.ndim <= 4:
        raise Error(f"{what}: expected (layers, heads, T, S), found {array.shape}")
    return array.reshape((1,) * (4 - array.ndim) + array.shape).astype(np.float32)


def _stacks(attentions: Any, sentence: int) -> Dict[str, Array]:
    """The arrays of a tensors file: `attentions`, or those of an encoder, a decoder and their cross-attention."""
    if isinstance(attentions, (list, tuple)) and len(attentions) == 3 and \
            all(isinstance(stack, (list, tuple)) for stack in attentions):
        return {name: _layers(stack, sentence, name) for name, stack in zip(_STACKS, attentions)}
    get = attentions.get if isinstance(attentions, Mapping) else lambda name: getattr(attentions, name, None)
    if not isinstance(attentions, (list, tuple, np.ndarray)) and not _is_tensor(attentions):
        found = {name: get(name) for name in _STACKS if get(name) is not None}
        if found:
            return {name: _layers(stack, sentence, name) for name, stack in found.items()}
        if get("attentions") is not None:
            return {"attentions": _layers(get("attentions"), sentence)}
        patterns = _patterns_of_cache(attentions)
        if patterns:
            return {"attentions": _layers(patterns, sentence)}
        raise Error("attentions: expected arrays, a model's output with attentions, or a cache with patterns, "
                    f"found {type(attentions).__name__}")
    return {"attentions": _layers(attentions, sentence)}


def _patterns_of_cache(cache: Any) -> List[Any]:
    """What TransformerLens keeps as `blocks.L.attn.hook_pattern` (`cache["pattern", L]`), by layer."""
    try:
        names = list(cache.keys())
    except AttributeError:
        return []
    places = sorted((int(found.group(1)), name) for name in names
                    for found in [re.fullmatch(r"blocks\.(\d+)\.attn\.hook_pattern", str(name))] if found)
    if not places:
        places = sorted((name[1], name) for name in names if isinstance(name, tuple) and name[:1] == ("pattern",))
    return [cache[name] for _, name in places]


def _token_metadata(arrays: Mapping[str, Array], tokens: Any, target_tokens: Any) -> Dict[str, str]:
    """The metadata that names rows and columns. Errors: Error where the counts do not fit."""
    metadata = {}
    cross = "cross_attentions" in arrays
    for name, words, axis in (("tokens", tokens, 3), ("target_tokens", target_tokens, 2)):
        if words is None:
            continue
        stack = _first_of(array for key, array in arrays.items() if key.startswith("cross_") or not cross)
        if len(words) != stack.shape[axis]:
            raise Error(f"{name}: expected {stack.shape[axis]} words, found {len(words)}")
        metadata[name] = json.dumps([str(word) for word in words], ensure_ascii=False)
    if "tokens" in metadata and not cross:
        stack = _first_of(iter(arrays.values()))
        if stack.shape[2] != stack.shape[3]:
            metadata["key_tokens"] = metadata.pop("tokens")
            if "target_tokens" in metadata:
                metadata["tokens"] = metadata.pop("target_tokens")
    return metadata


def _first_of(values: Iterable[Any]) -> Any:
    """The first of them."""
    for value in values:
        return value
    raise Error("attentions: expected an array, found none")


_ROLES = {"query": {"q", "query", "queries", "wq", "toq", "qs"}, "key": {"k", "key", "keys", "wk", "tok", "ks"},
          "value": {"v", "value", "values", "wv", "tov", "vs"},
          "output": {"o", "out", "output", "outputs", "wo", "toout", "proj"}}


def _role(name: str) -> Optional[str]:
    """`query`, `key`, `value`, `output` where a name says so: W_q, query.linear, k_proj, to_v, WV_matrices."""
    for part in reversed(name.split(".")):
        words = [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", part)]
        words = [word for word in words if word not in ("weight", "bias", "linear", "fc", "w", "matrix", "matrices")]
        found = {role for role, known in _ROLES.items() for word in words if word in known}
        if "proj" in words and len(found) > 1:
            found = {role for role in found if set(words) & (_ROLES[role] - {"proj"})}
        if len(found) == 1:
            return found.pop()
    return None


def _projections(state_dict: Mapping[str, Any]) -> Dict[str, Array]:
    """`q_proj.weight` … (out, in) of any state_dict of one attention layer, torch's packed one included."""
    arrays: Dict[str, Array] = {}
    names = {"query": "q_proj", "key": "k_proj", "value": "v_proj", "output": "out_proj"}

    def put(name: str, value: Array) -> None:
        if name in arrays:
            raise Error(f"state_dict: expected one layer of attention, found {name} twice (prefix= chooses one)")
        arrays[name] = value.astype(np.float32)

    for name, value in state_dict.items():
        array = _numpy(value)
        kind = "bias" if name.endswith("bias") else "weight"
        last = name.replace("_weight", ".weight").replace("_bias", ".bias").split(".")
        packed = any(part in ("in_proj", "c_attn", "qkv", "qkv_proj", "query_key_value", "Wqkv") for part in last)
        if packed:
            if kind == "weight" and "c_attn" in last:
                array = array.T                                  # Conv1D keeps (in, out)
            if array.shape[0] % 3:
                raise Error(f"{name}: expected rows of query, key and value, found {array.shape}")
            for role, part in zip(("query", "key", "value"), np.split(array, 3)):
                put(f"{names[role]}.{kind}", part)
        elif "c_proj" in last:
            put(f"out_proj.{kind}", array.T if kind == "weight" else array)
        else:
            role = _role(".".join(part for part in last if part not in ("weight", "bias")))
            if role:
                put(f"{names[role]}.{kind}", array)
    if not any(name.endswith("weight") for name in arrays):
        raise Error("state_dict: expected projections of query, key and value, found "
                    + (", ".join(list(state_dict)[:4]) or "nothing"))
    return arrays


def attention(x: Any, *, num_heads: int, state_dict: Mapping[str, Any], key: Any = None, value: Any = None,
              mask: Any = None, prefix: str = "") -> Dict[str, Array]:
    """What attention with these weights gives, by the program: `attentions`, `queries`, `keys`, `values`, `scores`
    (1, heads, T, …) and `output` (T, d_model).

    `x` (T, d_model); `key`, `value` (S, …), by default x; `mask` (T, S), true = may attend, or added to the scores.
    `state_dict` as torch.nn.MultiheadAttention has it, or with W_q, query.linear, q_proj, c_attn; `prefix` picks one
    layer of a larger one."""
    own = {name[len(prefix):].lstrip("."): array for name, array in state_dict.items() if name.startswith(prefix)}
    arrays = {"query": _numpy(x).astype(np.float32), **_projections(own)}
    for name, array in (("key", key), ("value", value), ("mask", mask)):
        if array is not None:
            arrays[name] = _numpy(array)
    with tempfile.TemporaryDirectory(prefix="headlight-") as folder:
        path = os.path.join(folder, "attention.safetensors")
        _write_safetensors(path, arrays, {"num_heads": str(num_heads)})
        return export(source=path, with_="qkv,scores")


# ---- What is right, and what is not ---------------------------------------------------------------------------------


class Mistake(NamedTuple):
    """One mistake: what, and where in the caller's code; `calls` are the places of the calls in what was watched."""
    text: str
    file: Optional[str] = None
    line: Optional[int] = None
    calls: Tuple[int, ...] = ()

    def __str__(self) -> str:
        return (f"{_short(self.file)}:{self.line}: " if self.file else "") + self.text


class Report:
    """What `check` found: `ok`, `mistakes`, `notes` (what could not be judged); `str()` has a line for each."""

    def __init__(self, mistakes: Sequence[Mistake], notes: Sequence[str], judged: int, calls: int) -> None:
        self.mistakes, self.notes = list(mistakes), list(notes)
        self.judged, self.calls = judged, calls

    @property
    def ok(self) -> bool:
        """Whether something was judged, and no mistake was found."""
        return not self.mistakes and self.judged > 0

    def __str__(self) -> str:
        said = []
        for mistake in self.mistakes:
            some = 0 < len(mistake.calls) < self.calls
            said.append(str(mistake) + (" (" + _calls_text(mistake.calls) + f" of {self.calls})" if some else ""))
        if self.ok:
            said.append(f"no mistake found in {_count(self.judged, 'call')} of attention")
        if self.judged < self.calls and not self.notes:
            said.append(f"{_count(self.calls - self.judged, 'call')} of attention could not be judged")
        return "\n".join(said + self.notes)

    __repr__ = __str__


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def _calls_text(calls: Sequence[int]) -> str:
    ranges: List[List[int]] = []
    for call in calls:
        if ranges and call == ranges[-1][1] + 1:
            ranges[-1][1] = call
        else:
            ranges.append([call, call])
    text = ", ".join(str(a) if a == b else f"{a}–{b}" for a, b in ranges)
    return ("call " if len(calls) == 1 else "calls ") + text


def _cell_of(file: str) -> Optional[int]:
    """The number of the notebook cell that IPython keeps under this name."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(getattr(shell, "compile", None), "_filename_map", {}).get(file)


def _short(file: Optional[str]) -> str:
    """A path as a reader would type it: from the working folder where the file is below it; In[2] of a notebook."""
    if not file:
        return ""
    cell = _cell_of(file)
    if cell is not None:
        return f"In[{cell}]"
    try:
        near = os.path.relpath(file)
    except ValueError:
        return file
    return file if near.startswith("..") else near


def _diagnose(arrays: Mapping[str, Array], num_heads: int, tolerance: float) -> Dict[str, Any]:
    """The answer of `headlight diagnose --format json` to inputs with their author's own answers."""
    with tempfile.TemporaryDirectory(prefix="headlight-") as folder:
        path = os.path.join(folder, "seen.safetensors")
        _write_safetensors(path, arrays, {"num_heads": str(num_heads)})
        words = [path, "--format", "json", "--tolerance", str(tolerance)]
        return json.loads(_run(["diagnose", *words], accept=(0, 1)))


def check(*, query: Any, key: Any = None, value: Any = None, weights: Any = None, output: Any = None, mask: Any = None,
          num_heads: Optional[int] = None, state_dict: Optional[Mapping[str, Any]] = None,
          tolerance: Optional[float] = None) -> Report:
    """Is this attention right? For code without torch: hand over what went in and what came out.

    `query`, `key`, `value`: (T, d_model) before projection where `state_dict` holds the projections; without it already
    projected, (T, d_k) of one head, (heads, T, d_k), or (T, heads · d_k) with `num_heads`. A list is one entry a head.
    `weights` (heads, T, S) or (T, S), `output` (T, …) are what the caller's code gave. `mask` (T, S): true = may attend,
    or added to the scores. `tolerance`: that of `headlight diagnose`, the largest difference of weights that counts as
    equal, and of outputs times max(1, the largest number of the row); None: as the least precise array has it, 2e-5 of
    float32, 4e-3 of float16, 3e-2 of bfloat16."""
    if tolerance is None:
        tolerance = max(_precision(array) for array in (query, key, value, weights, output))
    if weights is None and output is None:
        raise Error("check: expected weights or output as your code computed them, found neither")
    arrays: Dict[str, Array] = {}
    heads_found = num_heads
    for name, given in (("query", query), ("key", key), ("value", value)):
        if given is None:
            continue
        array = np.stack([_numpy(head) for head in given]) if isinstance(given, (list, tuple)) and \
            np.ndim(given[0]) == 2 else _numpy(given)
        if array.ndim == 4 and array.shape[0] == 1:
            array = array[0]
        if array.ndim == 3 and state_dict is not None and array.shape[0] == 1:
            array = array[0]
        if array.ndim == 3:
            heads_found = heads_found or array.shape[0]
            array = array.transpose(1, 0, 2).reshape(array.shape[1], -1)
        if array.ndim != 2:
            raise Error(f"{name}: expected (T, d_model) or (heads, T, d_k), found {array.shape}")
        arrays[name] = array.astype(np.float32)
    if state_dict is not None:
        arrays.update(_projections(state_dict))
    if mask is not None:
        arrays["mask"] = _numpy(mask)
    if weights is not None:
        found = np.stack([_numpy(head) for head in weights]) if isinstance(weights, (list, tuple)) else _numpy(weights)
        arrays["attentions"] = found.reshape((1,) * (4 - found.ndim) + found.shape).astype(np.float32)
        heads_found = heads_found or arrays["attentions"].shape[1]
    if output is not None:
        arrays["output"] = _numpy(output).astype(np.float32).reshape(-1, np.shape(output)[-1])
    answer = _diagnose(arrays, heads_found or 1, tolerance)
    if answer["equal"]:
        return Report([], [], 1, 1)
    return Report([Mistake(answer["diagnosis"] or _unexplained(answer), calls=(0,))], [], 1, 1)


def _precision(array: Any) -> float:
    """The tolerance, as `check` has it, that allows for rounding; `headlight diagnose` names the same numbers."""
    first = array[0] if isinstance(array, (list, tuple)) and array else array
    return {"float16": 4e-3, "bfloat16": 3e-2}.get(str(getattr(first, "dtype", "")).replace("torch.", ""), 2e-5)


def _unexplained(answer: Mapping[str, Any]) -> str:
    array = _first_of(array for array in answer["arrays"] if not array["equal"])
    apart = array.get("max_abs")
    size = "in shape" if array.get("shapes") else f"by {apart:.2g}" if apart is not None else "(not finite)"
    return (f"{array['name']} differ {size} from attention of these queries, keys and values; "
            "no usual mistake explains it")


# ---- What is followed: nodes, one for each tensor that matters ------------------------------------------------------


class Keep(NamedTuple):
    """What `watch` keeps. Of a call: queries, keys and values, and of its weights at most 2²⁰ numbers a sentence."""
    calls: int = 1000                        # of attention, at most; the others are counted
    layers: Optional[Sequence[int]] = None   # places in the code, in the order in which they first run; None: all
    sentences: int = 4                       # of a batch whose weights are kept for check(); queries, keys, values: all
    every: int = 1                           # of `with seen:` blocks every n-th is followed


_MOST_WEIGHTS = 1 << 20
_LARGE = 1 << 22          # elements above which an index is not carried along
_BLOCKED = -1e3           # added to a score, or in its place: as good as −inf


class _Site(NamedTuple):
    file: str
    line: int
    function: str


class _Node:
    """How one tensor came about. `kind`: source, linear (a projection), product, move, scale, add, times, fill, drop,
    opaque; after a softmax weights, post; then context, heads (several contexts side by side)."""
    __slots__ = ("kind", "parent", "shape", "site", "info")

    def __init__(self, kind: str, parent: Optional["_Node"], shape: Sequence[int], site: Optional[_Site],
                 info: Any = None) -> None:
        self.kind, self.parent, self.shape, self.site, self.info = kind, parent, tuple(shape), site, info


class _Move(NamedTuple):
    function: Callable[..., Any]
    arguments: Tuple[Any, ...]
    options: Dict[str, Any]
    pick: Optional[int]          # of several results
    permutes: bool               # axes only change places


class _Linear:
    """A projection: a product with a parameter, or with a matrix beside a larger array."""

    def __init__(self, weight: Any, name: str, transposed: bool, bias: bool, x: Any = None,
                 bias_of: Any = None) -> None:
        self.weight, self.name, self.bias, self.x, self.bias_of = weight, name, bias, x, bias_of
        self.transposed = transposed     # x·W where W is the weight of nn.Linear, which is (out, in)


class _Product:
    """One product of two arrays, each as (shared…, rows, contracted); the result as (shared…, rows of a, rows of b)."""
    __slots__ = ("a", "b", "node_a", "node_b", "to_a", "to_b", "to_out", "shape", "shared", "dtype", "device",
                 "free", "summed", "own_shared", "out_shared", "out_free", "names")
    # free, summed: of each operand ("a", "b") its axes of rows and its contracted ones; out_…: axes of the result


class _Softmax:
    __slots__ = ("dim", "name", "index", "snapshot", "frames", "call", "wrong_sum")


class _Weights(NamedTuple):
    """Of one call, by sentence: (heads, rows, S), and which rows."""
    sentences: List[Any]
    rows: Optional[Array]


def _path(node: Optional[_Node], stops: Sequence[str]) -> List[_Node]:
    """From the node up to the first of a kind in `stops`, oldest first."""
    path = []
    while node is not None:
        path.append(node)
        if node.kind in stops:
            break
        node = node.parent
    return path[::-1]


_STOPS = ("linear", "product", "source", "add", "times", "fill", "opaque", "context", "weights", "heads")


def _root(node: Optional[_Node]) -> Optional[_Node]:
    """The product, weights, context or projection from which a tensor was made by steps that keep its meaning."""
    while node is not None and node.kind in ("move", "scale", "add", "times", "fill", "drop", "opaque", "exp", "post"):
        node = node.parent
    return node


def _moves(path: Sequence[_Node]) -> List[_Move]:
    return [node.info for node in path if node.kind == "move"]


def _replay(moves: Sequence[_Move], tensor: Any) -> Any:
    for move in moves:
        tensor = move.function(tensor, *move.arguments, **move.options)
        if move.pick is not None:
            tensor = tensor[move.pick]
    return tensor


def _index_after(moves: Sequence[_Move], shape: Sequence[int]) -> Optional[Any]:
    """Which element of an array of `shape` stands where after the moves; nothing where that would be large."""
    torch = _torch()
    count = int(np.prod(shape))
    if count > _LARGE:
        return None
    return _replay(moves, torch.arange(count).view(*shape))


def _axes_after(moves: Sequence[_Move], shape: Sequence[int]) -> Optional[List[frozenset]]:
    """For each axis after the moves: the axes of `shape` along which one walks with it."""
    torch = _torch()
    shape = tuple(shape)
    if not moves:
        return [frozenset([axis]) for axis in range(len(shape))]
    if all(move.permutes for move in moves):
        shape = (2,) * len(shape)
    index = _index_after(moves, shape)
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


_PERMUTES = {"transpose", "swapaxes", "swapdims", "permute", "movedim", "moveaxis", "contiguous", "clone", "T", "mT", "t",
             "adjoint", "detach"}
_CASTS = {"to", "float", "half", "bfloat16", "double", "type", "type_as", "cpu", "cuda", "requires_grad_"}
_MOVES = _PERMUTES | {"view", "reshape", "flatten", "unflatten", "squeeze", "unsqueeze", "expand", "expand_as", "repeat",
                      "repeat_interleave", "view_as", "reshape_as", "chunk", "split", "tensor_split", "unbind", "select",
                      "narrow", "__getitem__", "broadcast_to", "tile", "index_select", "split_with_sizes"}
_TIMES = {"mul", "mul_", "multiply", "__mul__", "__rmul__", "__imul__"}
_OVER = {"div", "div_", "divide", "true_divide", "__truediv__", "__itruediv__", "__div__"}
_PLUS = {"add": 1, "add_": 1, "__add__": 1, "__radd__": 1, "__iadd__": 1, "sub": -1, "sub_": -1, "subtract": -1,
         "__sub__": -1, "__isub__": -1}
_PRODUCTS = {"matmul", "__matmul__", "__rmatmul__", "bmm", "mm", "einsum", "baddbmm", "addmm"}
_SAME = {"max", "amax"}


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


def _product(name: str, args: Sequence[Any], out: Any) -> Optional[_Product]:
    """The product that a call computes, where it is one of two arrays with rows on both sides."""
    product = _Product()
    if name == "einsum":
        operands = args[1] if len(args) == 2 and isinstance(args[1], (list, tuple)) else args[1:]
        if not isinstance(args[0], str) or len(operands) != 2:
            return None
        letters = _equation(args[0], *operands)
        if letters is None:
            return None
        a, b, result = letters
        shared = [letter for letter in result if letter in a and letter in b]
        own_a = [letter for letter in a if letter in result and letter not in b]
        own_b = [letter for letter in b if letter in result and letter not in a]
        summed = [letter for letter in a if letter in b and letter not in result]
        if not own_a or not own_b or not summed or len(shared) + len(own_a) + len(summed) != len(a) or \
                len(shared) + len(own_b) + len(summed) != len(b):
            return None

        def arranged(given: str, groups: Sequence[Sequence[str]]) -> Callable[[Any], Any]:
            order = [given.index(letter) for letter in [*shared, *groups[0], *groups[1]]]
            single = all(len(group) == 1 for group in groups)

            def arrange(tensor: Any) -> Any:
                tensor = tensor.permute(order)
                if single:
                    return tensor
                ends = tensor.shape[len(shared):]
                split = len(groups[0])
                sizes = int(np.prod(ends[:split])), int(np.prod(ends[split:]))
                return tensor.reshape(*tensor.shape[:len(shared)], *sizes)
            return arrange
        product.a, product.b = operands
        product.to_a, product.to_b = arranged(a, (own_a, summed)), arranged(b, (own_b, summed))
        product.to_out = arranged(result, (own_a, own_b))
        product.shared = tuple(out.shape[result.index(letter)] for letter in shared)
        product.free = {"a": [a.index(letter) for letter in own_a], "b": [b.index(letter) for letter in own_b]}
        product.summed = {"a": [a.index(letter) for letter in summed], "b": [b.index(letter) for letter in summed]}
        product.own_shared = {"a": [a.index(letter) for letter in shared], "b": [b.index(letter) for letter in shared]}
        product.out_shared = [result.index(letter) for letter in shared]
        product.out_free = {"a": [result.index(letter) for letter in own_a],
                            "b": [result.index(letter) for letter in own_b]}
    else:
        a, b = args[-2:] if name in ("baddbmm", "addmm") else args[:2]
        if name == "__rmatmul__":
            a, b = b, a
        if not all(_is_tensor(operand) or isinstance(operand, _Result) for operand in (a, b)):
            return None
        if a.dim() < 2 or b.dim() < 2:
            return None
        lead = tuple(out.shape[:-2])
        rows_b, inner = b.shape[-1], b.shape[-2]
        rows_a = a.shape[-2]
        product.a, product.b = a, b
        product.to_a = lambda tensor: tensor.expand(*lead, rows_a, inner)
        product.to_b = lambda tensor: tensor.transpose(-2, -1).expand(*lead, rows_b, inner)
        product.to_out = lambda tensor: tensor
        product.shared = lead
        axes = len(lead)
        product.free = {"a": [a.dim() - 2], "b": [b.dim() - 1]}
        product.summed = {"a": [a.dim() - 1], "b": [b.dim() - 2]}
        product.own_shared = {side: [axis - (axes - (operand.dim() - 2)) if axis >= axes - (operand.dim() - 2) else None
                                     for axis in range(axes)] for side, operand in (("a", a), ("b", b))}
        product.out_shared, product.out_free = list(range(axes)), {"a": [axes], "b": [axes + 1]}
    product.shape = tuple(out.shape)
    product.names = {"a": [], "b": []}
    product.node_a = product.node_b = None
    product.dtype, product.device = out.dtype, out.device
    return product


class _Layout:
    """Which of a product's shared places is which sentence and head: `groups[sentence][head]` is an index of them."""
    __slots__ = ("groups", "indices", "trouble", "known")

    def __init__(self) -> None:
        self.groups: List[List[Tuple[int, ...]]] = []
        self.indices: Dict[str, Tuple[Array, _Node]] = {}     # of a side whose projection is known
        self.trouble: Optional[Tuple[str, Optional[_Site]]] = None
        self.known = False


def _operand_index(node: Optional[_Node], arrange: Callable[[Any], Any]) -> Optional[Tuple[Array, _Node]]:
    """Which element of the projection each element of an operand is, as (shared…, rows, contracted)."""
    path = _path(node, _STOPS)
    if not path or path[0].kind not in ("linear", "product", "add"):
        return None
    base = path[0]
    index = _index_after(_moves(path), base.shape)
    if index is None:
        return None
    try:
        return arrange(index).numpy(), base
    except RuntimeError:
        return None


def _first_reshaping(node: Optional[_Node]) -> Optional[_Site]:
    """Where an operand is split into heads: the first step after its projection that changes more than the order of axes."""
    path = _path(node, ("linear", "product", "source", "context", "weights", "heads"))
    moves = [step for step in path if step.kind == "move"]
    for names in (("reshape", "unflatten"), None):
        for step in moves:
            if not step.info.permutes and (names is None or step.info.function.__name__ in names):
                return step.site
    return moves[0].site if moves else None


def _layout(product: _Product) -> _Layout:
    """Sentences and heads, found by following each element back to the projection it came from; where that is not known,
    (batch, heads) as most code has them."""
    layout = _Layout()
    for side, node, arrange in (("a", product.node_a, product.to_a), ("b", product.node_b, product.to_b)):
        found = _operand_index(node, arrange)
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
        layout.trouble = ("heads attend to heads: (T, H, d_k) is not transposed to (H, T, d_k) before the product",
                          _first_reshaping(split_node))
    elif len(several) > 1 and not [axis for axis in several if axis in within]:
        layout.trouble = ("tokens of different sentences are mixed: batch and tokens are interchanged when heads are "
                          "split", _first_reshaping(split_node))
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
        layout.trouble = ("tokens of different sentences are mixed: batch and heads are interchanged when heads are "
                          "split", _first_reshaping(split_node))
    if len({len(group) for group in layout.groups}) != 1:
        layout.groups = [[place] for place in places]
    return layout


def _is_split_in_blocks(index: Array, base: _Node, groups: Sequence[Sequence[Tuple[int, ...]]]) -> bool:
    """Whether head h is d_k neighbouring columns, heads in order (or several heads sharing them)."""
    width = base.shape[-1]
    columns, rows = index % width, index // width
    if not (rows == rows[..., :1]).all():
        return False
    for group in groups:
        before = -1
        for place in group:
            own = columns[place]
            if not (own == own[:1]).all() or not (np.diff(own[0]) == 1).all() or own[0][0] < before or \
                    (own[0][0] != before and own[0][0] % own.shape[1]):
                return False
            before = int(own[0][0])
    return True


def _recovered(index: Array, base: _Node, values: Array, group: Sequence[Tuple[int, ...]]) -> Optional[Array]:
    """The projection (rows, columns) of one sentence, put together again from the heads it was split into."""
    width = base.shape[-1]
    flat = np.concatenate([index[place].ravel() for place in group])
    seen = np.concatenate([values[place].ravel() for place in group])
    rows, columns = flat // width, flat % width
    row_names, row_at = np.unique(rows, return_inverse=True)
    column_names, column_at = np.unique(columns, return_inverse=True)
    array = np.full((len(row_names), len(column_names)), np.nan, np.float32)
    array[row_at, column_at] = seen
    return None if np.isnan(array).any() else array


# ---- Following torch ------------------------------------------------------------------------------------------------

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


_FOLLOWED = _MOVES | _CASTS | _TIMES | _OVER | set(_PLUS) | _PRODUCTS | {
    "linear", "softmax", "log_softmax", "sigmoid", "masked_fill", "masked_fill_", "where", "__setitem__", "tril", "triu",
    "tril_", "triu_", "dropout", "feature_dropout", "exp", "sum", "mean", "cat", "concat", "concatenate", "stack", "baddbmm",
    "hstack", "scaled_dot_product_attention", "dropout_", "__rdiv__", "__rtruediv__", "neg"}


class _Frames(NamedTuple):
    """Of the caller's code around an operation: names of its masks, the modules, whether one of them is in eval mode."""
    masks: List[Tuple[str, Any]]
    modules: List[Any]
    path: str
    eval_outside: bool


class Attention:
    """One call of attention as it ran: queries, keys, values, mask, scale, and where. A list of heads is one call.

    Arrays are numpy float32: (sentences, heads, T, …). `where` is `file:line (module)` of the softmax."""

    def __init__(self, parts: Sequence["_Call"]) -> None:
        self._parts = list(parts)

    def _joined(self, arrays: Sequence[Optional[Array]]) -> Optional[Array]:
        if any(array is None for array in arrays):
            return None
        return np.concatenate([array for array in arrays if array is not None], axis=1)

    @property
    def query(self) -> Array:
        """(sentences, heads, T, d_k), as projected, before the scale."""
        return self._joined([part.operand("query") for part in self._parts])  # type: ignore[return-value]

    @property
    def key(self) -> Array:
        """(sentences, heads, S, d_k)."""
        return self._joined([part.operand("key") for part in self._parts])  # type: ignore[return-value]

    @property
    def value(self) -> Optional[Array]:
        """(sentences, heads, S, d_v); None where the weights met no values."""
        return self._joined([part.operand("value") for part in self._parts])

    @property
    def mask(self) -> Optional[Array]:
        """(sentences, 1 or heads, T, S): bool, true = may attend; or float32, added to the scores; None: no mask."""
        masks = [part.mask() for part in self._parts]
        return masks[0] if len(masks) == 1 or masks[0] is None or masks[0].shape[1] == 1 else self._joined(masks)

    @property
    def scale(self) -> float:
        """What the scores were multiplied by, on all the way from the projections to the softmax."""
        return self._parts[0].scale

    @property
    def where(self) -> str:
        """`mine.py:41 (encoder.layers.0.attention)`."""
        return self._parts[0].where

    @property
    def module(self) -> str:
        """The path of the module inside the outermost one; empty outside of modules."""
        return self._parts[0].frames.path

    def weights(self) -> Array:
        """(sentences, heads, T, S) as the caller's code computed them. Where they were not kept (fused kernels, long
        sentences) the program computes them from queries, keys, mask and scale."""
        return self._joined([part.weights() for part in self._parts])  # type: ignore[return-value]

    def __repr__(self) -> str:
        shape = self._parts[0].shape
        heads_count = sum(part.heads for part in self._parts)
        return (f"<attention at {self.where}: {_count(shape[0], 'sentence')}, {_count(heads_count, 'head')}, "
                f"{shape[2]} × {shape[3]}>")


class _Call:
    """What is known of one softmax over a product."""

    def __init__(self, index: int, product: _Product, frames: _Frames, site: _Site, layout: _Layout) -> None:
        self.index, self.product, self.frames, self.site = index, product, frames, site
        self.layer = 0
        self.path: List[_Node] = []               # product … input of the softmax
        self.softmax: Optional[_Node] = None
        self.dim_axes: Optional[frozenset] = frozenset()
        self.layout = layout
        self.flipped = False                      # keys are the left operand
        self.context: Optional[_Node] = None
        self.contracted: Optional[str] = None     # "a" or "b": whose rows met the values
        self.value_node: Optional[_Node] = None
        self.value_tensor: Any = None             # (sentences, heads, S, d_v)
        self.places: Dict[Tuple[int, ...], Tuple[int, int]] = {}   # of the product with the values: sentence and head
        self.context_product: Optional[_Product] = None
        self.context_left = True                  # weights are its left operand
        self.value_index: Optional[Tuple[Array, _Node]] = None
        self.weight_path: List[_Node] = []        # softmax … what met the values
        self.found: Optional[_Weights] = None
        self.output: Optional[List[Array]] = None   # of each sentence kept, (T, H·d_v) as it went into the output projection
        self.output_is_whole = True                 # its rows are one token each
        self.output_trouble: Optional[Tuple[str, Optional[_Site]]] = None
        self.merge_site: Optional[_Site] = None
        self.tensors = {"a": product.a.detach().clone(), "b": product.b.detach().clone()}
        self.half = product.dtype if str(product.dtype) in ("torch.float16", "torch.bfloat16") else None
        self.part_of: Optional[Tuple[int, int]] = None
        self.notes: List[str] = []
        self.owned: List[Mistake] = []             # found while following
        self.fused_output: Any = None
        self.called: set = set()

    # -- arrays

    def rounded(self, number: float) -> str:
        """As many digits as the arithmetic of this call has."""
        return f"{number:.{4 if self.half is None else 2}g}"

    @property
    def heads(self) -> int:
        return len(self.layout.groups[0]) if self.layout.groups else 0

    @property
    def shape(self) -> Tuple[int, int, int, int]:
        """(sentences, heads, T, S)."""
        query, key = (int(np.prod([self.product.shape[axis] for axis in self.product.out_free[side]]))
                      for side in self._sides())
        return (len(self.layout.groups), self.heads, query, key)

    @property
    def where(self) -> str:
        inside = f" ({self.frames.path})" if self.frames.path else ""
        return f"{_short(self.site.file)}:{self.site.line}{inside}"

    def _sides(self) -> Tuple[str, str]:
        return ("b", "a") if self.flipped else ("a", "b")

    def node(self, role: str) -> Optional[_Node]:
        if role == "value":
            return self.value_node
        side = self._sides()[0 if role == "query" else 1]
        return self.product.node_a if side == "a" else self.product.node_b

    def _arranged(self, role: str) -> Optional[Any]:
        if role == "value":
            return self.value_tensor
        side = self._sides()[0 if role == "query" else 1]
        return (self.product.to_a if side == "a" else self.product.to_b)(self.tensors[side])

    def factor(self, role: str) -> float:
        """What an operand was multiplied by between its projection and the product."""
        path = _path(self.node(role), ("linear", "product", "source", "add", "times", "fill", "opaque"))
        return float(np.prod([step.info for step in path if step.kind == "scale"] or [1.0]))

    @property
    def scale(self) -> float:
        steps = [step.info for step in self.path if step.kind == "scale"]
        return float(np.prod([*steps, self.factor("query"), self.factor("key")]))

    def operand(self, role: str) -> Optional[Array]:
        """(sentences, heads, rows, d), without the scale."""
        arranged = self._arranged(role)
        if arranged is None:
            return None
        if role == "value":
            return _numpy(arranged).astype(np.float32)
        factor = self.factor(role)
        groups = self.layout.groups
        array = _numpy(arranged).astype(np.float32)
        if factor not in (0.0, 1.0):
            array = array / np.float32(factor)
        return _gathered(array, groups)

    def canonical(self, tensor: Any, moves: Sequence[_Move], sentences: Optional[Sequence[int]] = None,
                  rows: Optional[Array] = None) -> Optional[Any]:
        """A tensor that stands where the scores stood after `moves`, as (sentences, heads, T, S); broadcast if need be."""
        torch = _torch()
        product = self.product
        if not moves:
            arranged = product.to_out(tensor.expand(product.shape))
        elif all(move.permutes for move in moves):
            order = [_first_of(axes) for axes in _axes_after(moves, product.shape) or []]
            arranged = product.to_out(tensor.expand([product.shape[axis] for axis in order]).permute(
                [order.index(axis) for axis in range(len(order))]))
        else:
            index = _index_after(moves, product.shape)
            if index is None:
                return None
            flat = torch.zeros(int(np.prod(product.shape)), dtype=tensor.dtype)
            flat[index.flatten()] = tensor.expand(index.shape).cpu().flatten()
            arranged = product.to_out(flat.view(*product.shape))
        if self.flipped:
            arranged = arranged.transpose(-2, -1)
        if rows is not None:
            arranged = arranged[..., torch.as_tensor(rows, device=arranged.device), :]
        wanted = self.layout.groups if sentences is None else [self.layout.groups[s] for s in sentences]
        return _gathered(arranged, wanted)

    def index_of(self, role: str) -> Optional[Tuple[Array, _Node]]:
        """Which element of its projection each element of an operand is, (sentences, heads, rows, d)."""
        if role == "value":
            return self.value_index
        found = self.layout.indices.get(self._sides()[0 if role == "query" else 1])
        if found is None:
            return None
        return _gathered(found[0], self.layout.groups), found[1]

    def roles(self) -> Dict[str, Optional[str]]:
        """What the caller calls the operands: that of the weights they were projected by, else that of variables."""
        roles = {}
        for side, node in (("a", self.product.node_a), ("b", self.product.node_b)):
            roles[side] = _named_role(node, self.layout.indices.get(side), self.product.names[side])
        return roles

    def take_value(self, product: _Product, side: str, node: Optional[_Node], tensor: Any, axes: Sequence[frozenset],
                   moves: Sequence[_Move]) -> None:
        """The values, brought into the order of sentences and heads; and that order for what comes out."""
        own = self.product
        where = {place: (s, h) for s, group in enumerate(self.layout.groups) for h, place in enumerate(group)}
        order: List[Tuple[int, ...]] = []
        if all(move.permutes for move in moves):
            lead = product.own_shared[side]
            for place in np.ndindex(*product.shared):
                at = {_first_of(axes[axis]): place[i] for i, axis in enumerate(lead) if axis is not None and axes[axis]}
                order.append(tuple(at.get(axis, 0) for axis in own.out_shared))
        else:
            index = _index_after(moves, own.shape)
            if index is None:
                return
            arranged = (product.to_a if side == "a" else product.to_b)(index)[..., 0, 0].numpy()
            for place in np.ndindex(*product.shared):
                at = np.unravel_index(int(arranged[place]), own.shape)
                order.append(tuple(int(at[axis]) for axis in own.out_shared))
        for place, original in zip(np.ndindex(*product.shared), order):
            if original in where:
                self.places[place] = where[original]
        if len(self.places) != len(where):
            self.places = {}
            return
        back = {target: place for place, target in self.places.items()}
        arrange = product.to_b if side == "a" else product.to_a

        groups = [[back[s, h] for h in range(self.heads)] for s in range(len(self.layout.groups))]
        self.value_tensor = _gathered(arrange(tensor.detach()).transpose(-2, -1), groups)
        index_of = _operand_index(node, arrange)
        if index_of is not None:
            self.value_index = _gathered(index_of[0].swapaxes(-2, -1), groups), index_of[1]
        self.context_product, self.context_left = product, side == "a"

    def take_output(self, tensor: Any, path: Sequence[_Node], shape: Sequence[int], limit: int,
                    cache: Dict[Any, Any]) -> None:
        """Heads side by side as the caller put them; each element is followed back to its head and token."""
        product = self.context_product
        moves = [step for step in path if step.kind == "move"]
        self.merge_site = _first_of([*(step.site for step in moves[::-1] if not step.info.permutes),
                                   path[0].site])
        index = _index_after([step.info for step in moves], shape) if product is not None else None
        if product is None or index is None or self.value_tensor is None:
            return
        key = (tuple((move.function.__name__, str(move.arguments), str(move.options), move.pick) for move in
                     (step.info for step in moves)), tuple(shape), tuple(self.places.items()), self.context_left,
               tuple(product.out_shared), tuple(product.out_free["a"]))
        said = cache.get(key)
        if said is None:
            said = self._merged(index, shape, tensor.shape[:-1])
            if len(cache) < 16:
                cache[key] = said
        if said is False:
            return
        trouble, self.output_is_whole, of_row = said
        if trouble is not None:
            self.output_trouble = (trouble, self.merge_site)
        if of_row is None:
            return
        array = _numpy(tensor).astype(np.float32).reshape(len(of_row), -1)
        self.output = [array[of_row == sentence] for sentence in range(min(limit, len(self.layout.groups)))]

    def _merged(self, index: Any, shape: Sequence[int], lead: Sequence[int]) -> Any:
        """What is wrong with how heads were put side by side, if anything; whether rows are one token each; the sentence of
        each row. False where it is no row of all heads."""
        torch = _torch()
        product = self.context_product
        assert product is not None
        arranged = product.to_out(torch.arange(int(np.prod(shape))).view(*shape))
        if not self.context_left:
            arranged = arranged.transpose(-2, -1)
        arranged = arranged.numpy()                                   # (shared…, T, d_v)
        count, d_v = int(np.prod(shape)), arranged.shape[-1]
        rows = index.reshape(-1, index.shape[-1]).numpy()
        if rows.shape[1] != self.heads * d_v:
            return False
        meaning = np.zeros((4, count), np.int32)                      # sentence, head, token, column
        tokens, columns = np.indices(arranged.shape[-2:])
        for place, (sentence, head) in self.places.items():
            at = arranged[place]
            meaning[0, at], meaning[1, at], meaning[2, at], meaning[3, at] = sentence, head, tokens, columns
        said = meaning[:, rows]                                       # (4, rows, H·d_v)
        wanted = np.arange(rows.shape[1])
        if (said[0] != said[0][:, :1]).any():
            return "sentences of the batch are mixed when the heads are put side by side", True, None
        in_order = bool((said[1] == wanted // d_v).all() and (said[3] == wanted % d_v).all())
        one_token = bool((said[2] == said[2][:, :1]).all())
        if not in_order and one_token:
            return "heads are not put side by side: their columns are mixed", True, None
        of_row = said[0][:, 0]
        of_place = of_row.reshape(tuple(lead))
        mixed = sum((np.diff(of_place, axis=axis) != 0).any() for axis in range(of_place.ndim)) > 1
        return ("sentences of the batch are mixed when the heads are put side by side" if mixed else None,
                one_token and in_order, of_row)

    # -- the mask

    def effects(self) -> List[Tuple[_Node, List[_Move]]]:
        """The steps that treat cells differently, with the moves that came before each."""
        moves: List[_Move] = []
        found = []
        for step in self.path[1:]:
            if step.kind == "move":
                moves.append(step.info)
            elif step.kind in ("add", "times", "fill"):
                found.append((step, list(moves)))
        return found

    def mask_parts(self, sentences: Sequence[int], rows: Optional[Array] = None) -> List["_MaskPart"]:
        """What each step does to each cell, (sentences, heads, T, S)."""
        parts = []
        factors = [step.info if step.kind == "scale" else 1.0 for step in self.path]
        for step, moves in self.effects():
            tensor, value = step.info
            array = self.canonical(tensor, moves, sentences, rows)
            if array is None:
                self.notes.append(f"{self.where}: a mask of this size could not be followed")
                continue
            array = _numpy(array)
            after = float(np.prod(factors[self.path.index(step):]))
            if step.kind == "fill":
                parts.append(_MaskPart("fill", array.astype(bool), value * after, step.site))
            elif step.kind == "times":
                parts.append(_MaskPart("times", array.astype(np.float32), 0.0, step.site))
            elif array.shape[-1] > 1 and ((array != array[..., :1]).any() or
                                          np.isneginf(array * np.float32(value)).any()):
                # (one finite number a row changes no weight)
                parts.append(_MaskPart("add", array.astype(np.float32) * np.float32(value * after), 0.0, step.site,
                                       str(tensor.dtype) == "torch.bool" or bool(np.isin(array, (0, 1)).all())))
        return parts

    def mask(self) -> Optional[Array]:
        return _mask_of(self.mask_parts(range(len(self.layout.groups))))

    # -- the weights

    def weights(self) -> Array:
        sentences = range(len(self.layout.groups))
        if self.found is not None and self.found.rows is None and len(self.found.sentences) == len(sentences):
            return np.stack([_numpy(sentence) for sentence in self.found.sentences]).astype(np.float32)
        if not self.is_standard():
            raise Error(f"{self.where}: expected a softmax over the keys of a sentence that is kept, found one that only "
                        "the caller's code can compute: fewer sentences, or Keep(sentences=…), keep its weights")
        query, key = self.operand("query"), self.operand("key")
        assert query is not None and key is not None
        mask = self.mask()
        answers = []
        for sentence in sentences:
            own = None if mask is None else mask[sentence if mask.shape[0] > 1 else 0]
            answers.append(_weights_of(query[sentence], key[sentence], own, self.scale))
        return np.stack(answers)

    def is_standard(self) -> bool:
        """Whether queries, keys, mask and scale say all about the weights."""
        return not self.wrong_axis() and not any(step.kind in ("times", "opaque", "drop") for step in self.path) and \
            not any(step.kind == "post" for step in self.weight_path) and self.softmax is not None and \
            self.softmax.info.name == "softmax"

    def wrong_axis(self) -> Optional[str]:
        """Over what the softmax goes, where that is not the keys alone."""
        axes = self.dim_axes
        if not axes:
            return None
        query, key = (set(self.product.out_free[side]) for side in self._sides())
        if axes == key:
            return None
        names = {"the keys" if axis in key else "the queries" if axis in query else
                 "the heads" if self._counts_heads(axis) else "the sentences of the batch" for axis in axes}
        return " and ".join(sorted(names))

    def _counts_heads(self, axis: int) -> bool:
        """Whether heads of one sentence differ along a shared axis of the product."""
        place = self.product.out_shared.index(axis)
        return len({index[place] for index in self.layout.groups[0]}) > 1


class _MaskPart(NamedTuple):
    kind: str               # fill, times, add
    cells: Array            # (sentences, heads, T, S): bool, factors, or what is added
    value: float            # that is filled in
    site: Optional[_Site]
    binary: bool = False    # what is added was 0 and 1


def _mask_of(parts: Sequence[_MaskPart]) -> Optional[Array]:
    """Bool where all it does is to block, else what is added; heads that agree are one."""
    if not parts:
        return None
    added = np.zeros((1, 1, 1, 1), np.float32)
    for part in parts:
        if part.kind == "fill":
            value = -np.inf if part.value <= _BLOCKED else part.value
            added = np.where(part.cells, np.float32(value), added)
        elif part.kind == "add":
            added = added + np.where(part.cells <= _BLOCKED, -np.inf, part.cells)
    if (added == added[:, :1]).all():
        added = added[:, :1]
    if np.isin(added, (0, -np.inf)).all():
        return added == 0
    return added.astype(np.float32)


def _gathered(arranged: Any, groups: Sequence[Sequence[Tuple[int, ...]]]) -> Any:
    """Of an array (shared…, rows, columns) those places that are heads of sentences: (sentences, heads, rows, columns)."""
    if not groups[0][0]:
        return arranged[None, None]
    torch = _torch()
    places = np.array(groups)
    return arranged[tuple(torch.from_numpy(places[..., axis].copy()) if _is_tensor(arranged) else places[..., axis]
                          for axis in range(places.shape[-1]))]


def _weights_of(query: Array, key: Array, mask: Optional[Array], scale: float) -> Array:
    """(heads, T, S) from (heads, T, d), (heads, S, d), a mask (1 or heads, T, S) and the scale, by the program."""
    if mask is not None and mask.shape[0] > 1 and query.shape[0] > 1:
        return np.concatenate([_weights_of(query[h:h + 1], key[h:h + 1], mask[h:h + 1], scale)
                               for h in range(query.shape[0])])
    arrays = {"query": _side_by_side(query), "key": _side_by_side(key), "value": _side_by_side(key)}
    if mask is not None:
        arrays["mask"] = np.ascontiguousarray(np.broadcast_to(mask[0], (query.shape[1], key.shape[1])))
    with tempfile.TemporaryDirectory(prefix="headlight-") as folder:
        path = os.path.join(folder, "seen.safetensors")
        _write_safetensors(path, arrays, {"num_heads": str(query.shape[0])})
        return export(source=path, scale=repr(float(scale)))["attentions"][0]


def _side_by_side(heads_of: Array) -> Array:
    """(heads, T, d) as (T, heads · d)."""
    return np.ascontiguousarray(heads_of.transpose(1, 0, 2).reshape(heads_of.shape[1], -1)).astype(np.float32)


class Seen(Sequence):  # type: ignore[type-arg]
    """What `watch` saw: a sequence of `Attention`, in the order in which they ran. A context manager; `with seen:` again
    goes on where it left off."""

    def __init__(self, module: Any = None, keep: Union[None, int, Keep] = None) -> None:
        self.keep = keep if isinstance(keep, Keep) else Keep() if keep is None else Keep(calls=int(keep))
        if self.keep.every < 1 or self.keep.calls < 0 or self.keep.sentences < 1:
            raise Error(f"keep: expected calls ≥ 0, sentences ≥ 1 and every ≥ 1, found {self.keep}")
        self._modules = None if module is None else set(map(id, module.modules()))
        self._module = module
        self._tags: Dict[int, Tuple[Any, _Node]] = {}
        self._calls: List[_Call] = []
        self._attentions: Optional[List[Attention]] = None
        self._pending: List[_Call] = []
        self._left_out = 0
        self._places: Dict[Any, int] = {}
        self._names: Dict[int, Tuple[Any, Dict[int, str], Dict[int, Any]]] = {}
        self._layouts: Dict[Any, _Layout] = {}
        self._merges: Dict[Any, Any] = {}
        self._used: set = set()
        self._operations = 0
        self._softmaxes = 0
        self._blocks = 0
        self._notes: List[str] = []
        self._follower: Any = None
        self._hooks: List[Any] = []
        self._thread: Optional[int] = None

    # -- a sequence

    def _sequence(self) -> List[Attention]:
        if self._attentions is None:
            groups: Dict[int, List[_Call]] = {}
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
        return len(self._sequence())

    def __getitem__(self, index: Any) -> Any:
        chosen = self._sequence()[index]
        if isinstance(chosen, Attention):
            return chosen
        part = Seen(self._module, self.keep)
        part._attentions, part._notes, part._used = chosen, list(self._notes), self._used
        part._operations, part._softmaxes = self._operations, self._softmaxes
        return part

    def __repr__(self) -> str:
        lines_of = [f"{index}: {attention!r}" for index, attention in enumerate(self._sequence()[:20])]
        more = len(self) - len(lines_of)
        return "\n".join([*lines_of, *([f"… {more} more"] if more > 0 else []), *self.notes()])

    def notes(self) -> List[str]:
        """What was not followed, a line each; nothing where all is there."""
        said = list(dict.fromkeys(self._notes))
        if self._left_out:
            said.append(f"{_count(self._left_out, 'further call')} not kept (keep={self.keep.calls} calls)")
        if not self._sequence() and not self._left_out:
            if _torch() is None:
                said.append("no attention seen: torch is not imported; hand arrays of numpy code to headlight.check()")
            elif not self._blocks:
                said.append("no attention seen: nothing was watched yet")
            else:
                said.append(f"no attention seen: of {_count(self._operations, 'operation')} followed none was a softmax over "
                            "a product of two arrays; compiled, scripted and numpy code, CUDA graphs and other threads "
                            "cannot be followed: hand arrays to headlight.check() or headlight.show()")
        return said

    # -- the block

    def __enter__(self) -> "Seen":
        if self._thread is not None:
            raise Error("watch: expected a watch that is not open; a thread needs one of its own")
        self._thread = threading.get_ident()
        self._blocks += 1
        torch = _torch()
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
        self._layouts, self._merges = {}, {}
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

    def _node(self, tensor: Any) -> Optional[_Node]:
        entry = self._tags.get(id(tensor))
        return entry[1] if entry is not None and entry[0]() is tensor else None

    def _is_score(self, tensor: Any) -> bool:
        node = self._node(tensor)
        return node is not None and node.kind != "source"

    def _tag(self, tensor: Any, node: Optional[_Node]) -> None:
        if node is None:
            self._tags.pop(id(tensor), None)
            return
        tags, name = self._tags, id(tensor)
        tags[name] = (weakref.ref(tensor, lambda _: tags.pop(name, None)), node)

    def _source(self, tensor: Any) -> _Node:
        node = self._node(tensor)
        if node is None:
            torch = _torch()
            node = _Node("source", None, tensor.shape, None, tensor if isinstance(tensor, torch.nn.Parameter) else None)
            self._tag(tensor, node)
        return node

    # -- operations

    def _follow(self, func: Any, name: str, args: Any, kwargs: Dict[str, Any], out: Any) -> None:
        """Nothing that happens here reaches the caller's code."""
        self._operations += 1
        torch = _torch()
        try:
            with torch.no_grad():
                self._handle(func, name, args, kwargs, out)
        except Exception as error:
            place = _caller()
            self._note(f"{_short(place.file)}:{place.line}: {name} could not be followed "
                       f"({type(error).__name__}: {error})")

    def _handle(self, func: Any, name: str, args: Any, kwargs: Dict[str, Any], out: Any) -> None:
        if name in _PRODUCTS:
            self._on_product(name, args, kwargs, out)
        elif name == "linear":
            self._on_linear(args, kwargs, out)
        elif name in _MOVES or name in _CASTS:
            self._on_move(func, name, args, kwargs, out)
        elif name in _TIMES or name in _OVER or name in ("__rdiv__", "__rtruediv__"):
            self._on_times(name, args, out)
        elif name in _PLUS:
            self._on_plus(name, args, kwargs, out)
        elif name in ("masked_fill", "masked_fill_", "where", "__setitem__", "tril", "triu", "tril_", "triu_"):
            self._on_fill(name, args, kwargs, out)
        elif name in ("softmax", "log_softmax", "sigmoid"):
            dim = args[1] if len(args) > 1 else kwargs.get("dim")
            if isinstance(dim, _torch_dtype()) or dim is None:
                dim = 0 if args[0].dim() in (0, 1, 3) else 1     # as torch chooses where dim is left out
            self._on_softmax(name, args[0] if args else kwargs["input"], dim, out)
        elif name in ("dropout", "dropout_", "feature_dropout"):
            self._on_dropout(args, kwargs, out)
        elif name == "exp":
            node = self._node(args[0])
            root = _root(node)
            if root is not None and root.kind == "product":
                self._tag(out, _Node("exp", node, out.shape, _caller()))
        elif name in ("sum", "mean"):
            self._on_sum(name, args, kwargs, out)
        elif name in ("cat", "concat", "concatenate", "hstack", "stack"):
            self._on_cat(name, args, kwargs, out)
        elif name == "scaled_dot_product_attention":
            self._on_fused(args, kwargs, out)
        elif _is_tensor(out):
            self._on_other(name, args, out)

    def _on_other(self, name: str, args: Any, out: Any) -> None:
        """An operation that is not known, on scores: they stay scores, and are not judged."""
        node = self._node(args[0])
        root = _root(node)
        if node is None or root is None or root.kind != "product" or len(root.shape) < 3:
            if out is args[0] and name.endswith("_") and not name.startswith("__") and node is not None:
                self._tag(out, None)
            return
        if name not in _SAME and tuple(out.shape) == tuple(node.shape) and out.is_floating_point() and \
                name not in ("__get__", "data", "grad", "max", "min", "values"):
            self._tag(out, _Node("opaque", node, out.shape, _caller(), name))

    def _on_move(self, func: Any, name: str, args: Any, kwargs: Dict[str, Any], out: Any) -> None:
        torch = _torch()
        if not args or not _is_tensor(args[0]):
            return
        node = self._node(args[0])
        if node is None:
            known = name in _PERMUTES or name in ("view", "reshape", "unflatten") or \
                isinstance(args[0], torch.nn.Parameter)
            if not known or args[0].dim() < 2 or not args[0].is_floating_point():
                return
            node = self._source(args[0])
        if name in _CASTS or any(isinstance(value, torch.dtype) for value in args[1:]):
            if _is_tensor(out) and tuple(out.shape) == node.shape:
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
        site = _caller()
        permutes = name in _PERMUTES
        root = _root(node)
        if root is not None and root.kind == "context" and not permutes:
            root.info.merge_site = site
        if _is_tensor(out):
            if out is args[0]:
                return
            self._tag(out, _Node("move", node, out.shape, site, _Move(function, arguments, kwargs, None, permutes)))
        elif isinstance(out, (tuple, list)):
            for place, part in enumerate(out):
                self._tag(part, _Node("move", node, part.shape, site, _Move(function, arguments, kwargs, place, False)))

    def _on_linear(self, args: Any, kwargs: Dict[str, Any], out: Any) -> None:
        x, weight = args[0] if args else kwargs["input"], args[1] if len(args) > 1 else kwargs["weight"]
        bias = args[2] if len(args) > 2 else kwargs.get("bias")
        self._projected(x, weight, bias, out, turned=True)

    def _projected(self, x: Any, weight: Any, bias: Any, out: Any, turned: bool) -> None:
        """x·Wᵀ + b (`turned`) or x·W + b, where `weight` is W."""
        node = self._node(x)
        root = _root(node)
        if root is not None and root.kind in ("context", "heads"):
            self._on_output(x, node, root)
        own = self._node(weight)
        turns = sum(1 for step in _path(own, ("source",)) if step.kind == "move" and step.info.permutes and
                    step.info.function.__name__ not in ("contiguous", "clone", "detach"))
        first = _path(own, ("source",))[0] if own is not None else None
        parameter = first.info if first is not None and first.info is not None else weight
        self._used.add(id(parameter))
        modules = _modules_around()
        name = self._weight_name(parameter, modules)
        slipped = bias_of = None
        for module in modules:
            linear = self._linears(module).get(id(parameter))
            if linear is not None:
                slipped = (turns % 2 == 1) == turned        # x·W of a weight that is (out, in)
                bias_of = linear.bias
                break
        info = _Linear(parameter, name, bool(slipped), bias is not None, bias_of=bias_of)
        if slipped or (bias_of is not None and bias is None):
            info.x = x.detach().clone()
        self._tag(out, _Node("linear", None, out.shape, _caller(), info))

    def _maps(self, module: Any) -> Tuple[Dict[int, str], Dict[int, Any]]:
        entry = self._names.get(id(module))
        if entry is None or entry[0]() is not module:
            torch = _torch()
            names = {id(parameter): name for name, parameter in module.named_parameters()}
            for name, value in list(vars(module).items()):
                if _is_tensor(value):
                    names.setdefault(id(value), name)
                elif isinstance(value, (list, tuple)) and value and _is_tensor(value[0]):
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
            if _role(name):
                return name
        for name, value in _variables():
            if value is parameter or (isinstance(value, (list, tuple)) and any(part is parameter for part in value)):
                if _role(name):
                    return name
        return known[-1] if known else ""

    def _on_product(self, name: str, args: Any, kwargs: Dict[str, Any], out: Any) -> None:
        torch = _torch()
        product = _product(name, args, out)
        if product is None:
            return
        a, b = product.a, product.b
        node_a, node_b = self._node(a), self._node(b)
        root_a, root_b = _root(node_a), _root(node_b)
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
        site = _caller()
        product.names = self._variable_names(product)
        node: _Node = _Node("product", None, out.shape, site, product)
        if name == "baddbmm":
            alpha, beta = kwargs.get("alpha", 1), kwargs.get("beta", 1)
            if alpha != 1:
                node = _Node("scale", node, out.shape, site, float(alpha))
            if beta != 0:
                node = _Node("add", node, out.shape, site, (args[0].detach(), float(beta)))
        self._tag(out, node)

    def _variable_names(self, product: _Product) -> Dict[str, List[str]]:
        """What the caller calls the two operands, or what they were made from."""
        chains = {"a": product.node_a, "b": product.node_b}
        nodes = {side: {id(step) for step in _path(node, ("linear", "product", "source"))}
                 for side, node in chains.items()}
        names: Dict[str, List[str]] = {"a": [], "b": []}
        for name, value in _variables():
            node = self._node(value) if _is_tensor(value) else None
            if node is not None:
                for side in "ab":
                    if id(node) in nodes[side]:
                        names[side].append(name)
        return names

    def _without_softmax(self, product: _Product, node: Any, root: _Node, other: Any, out: Any) -> bool:
        """Scores of two projections that were scaled or masked, and meet values as they are."""
        scores: _Product = root.info
        steps = _path(node, ("product",))
        projected = all(start is not None and start.kind in ("linear", "product")
                        for start in (_root(scores.node_a), _root(scores.node_b)))
        right = _root(other)
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
            if self._node(first) is not None and _is_tensor(out):
                self._tag(out, None)
            return
        over = name in _OVER
        node, other = self._node(first), second
        if over and node is not None:
            divisor = self._node(second) if _is_tensor(second) else None
            total = divisor
            while total is not None and total.kind == "move":
                total = total.parent
            if total is not None and total.kind == "expsum":
                self._on_normalised(first, node, total, second, out)
                return
        if node is None or node.kind in ("source",):
            node, other = (self._node(second) if _is_tensor(second) else None), first
            if node is None or over:
                return
        root = _root(node)
        if root is None or not _is_tensor(out):
            return
        number = _number(other)
        if root.kind == "weights":
            if number is not None:
                self._on_post("scale", node, root, 1 / number if over and number else number, out)
            else:
                self._on_post("times", node, root, 1 / other if over else other, out)
        elif number is not None and root.kind in ("product", "linear"):
            factor = 1 / number if over and number else number
            self._tag(out, _Node("scale", node, out.shape, _caller(), factor))
        elif root.kind == "product" and _is_tensor(other) and tuple(out.shape) == node.shape:
            tensor = other.detach()
            self._tag(out, _Node("times", node, out.shape, _caller(), (1 / tensor if over else tensor, 1.0)))
        else:
            self._tag(out, None)

    def _on_normalised(self, first: Any, node: _Node, total: _Node, divisor: Any, out: Any) -> None:
        """exp(s) / Σ exp(s): a softmax written by hand; or weights divided by their own sum."""
        dim, keepdim = total.info
        if node.kind == "exp" and total.parent is node:
            wrong = divisor.dim() not in (0, first.dim())
            self._on_softmax("softmax", first, dim, out, wrong_sum=wrong, node=node.parent)
        elif _root(node) is not None and _root(node).kind == "weights":  # type: ignore[union-attr]
            self._on_post("sum", node, _root(node), None, out)  # type: ignore[arg-type]

    def _on_plus(self, name: str, args: Any, kwargs: Dict[str, Any], out: Any) -> None:
        first, second = args[0], args[1]
        sign = float(_PLUS[name]) * float(kwargs.get("alpha", 1))
        node, other = self._node(first), second
        turned = False
        if node is None or node.kind == "source" or \
                (_root(node).kind == "linear" and _is_tensor(second) and self._is_score(second)):  # type: ignore[union-attr]
            swapped = self._node(second) if _is_tensor(second) else None
            if swapped is not None and swapped.kind != "source":
                node, other, turned = swapped, first, True
        if node is None or not _is_tensor(out):
            return
        root = _root(node)
        if root is None or root.kind == "source":
            return
        if root.kind == "context" and _is_tensor(other):
            friend = _root(self._node(other))
            if friend is not None and friend.kind in ("context", "heads") and name in ("add", "add_", "__add__", "__iadd__"):
                self._heads_lost("heads are added up, not put side by side", [root, friend], out, node)
                return
        if root.kind == "heads" and node.kind == "post" and _is_tensor(other):
            friend = _root(self._node(other))
            if friend is not None and friend.kind == "context":
                self._heads_lost("heads are added up, not put side by side", [root, friend], out, node)
                return
        if turned and sign < 0:
            self._tag(out, None)       # number or tensor − scores
            return
        number = _number(other)
        if root.kind == "product":
            if number is not None and not (_is_tensor(other) and other.dim()):
                self._tag(out, node)   # one number for all changes no weight
            elif _is_tensor(other):
                if tuple(out.shape) != node.shape:
                    torch = _torch()
                    node = _Node("move", node, out.shape, _caller(),
                                 _Move(torch.Tensor.expand, (tuple(out.shape),), {}, None, False))
                self._tag(out, _Node("add", node, out.shape, _caller(), (other.detach(), sign)))
        elif root.kind == "linear" and node.kind == "linear" and _is_tensor(other) and other.dim() == 1:
            info: _Linear = node.info
            again = _Linear(info.weight, info.name, info.transposed, True, info.x if info.transposed else None,
                            info.bias_of)
            self._tag(out, _Node("linear", None, out.shape, node.site, again))
        elif root.kind == "weights":
            self._on_post("add", node, root, other, out)
        else:
            self._tag(out, None)

    def _on_fill(self, name: str, args: Any, kwargs: Dict[str, Any], out: Any) -> None:
        torch = _torch()
        target: Any = args[0]
        value: Any = 0.0
        if name in ("masked_fill", "masked_fill_"):
            mask, value = args[1] if len(args) > 1 else kwargs["mask"], args[2] if len(args) > 2 else kwargs["value"]
        elif name == "where":
            if len(args) < 3:
                return
            condition, yes, no = args[:3]
            if _is_tensor(yes) and self._is_score(yes):
                target, mask, value = yes, ~condition.bool(), no
            elif _is_tensor(no) and self._is_score(no):
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
        root = _root(node)
        if node is None or root is None:
            return
        if root.kind == "weights":
            self._on_post("fill", node, root, mask, out)
        elif root.kind == "product":
            number = _number(value)
            if number is None and _is_tensor(value) and value.numel() and bool((value == value.flatten()[0]).all()):
                number = float(value.flatten()[0])
            if number is None:
                self._tag(out, _Node("opaque", node, out.shape, _caller(), name))
            else:
                if tuple(out.shape) != node.shape:
                    node = _Node("move", node, out.shape, _caller(),
                                 _Move(torch.Tensor.expand, (tuple(out.shape),), {}, None, False))
                self._tag(out, _Node("fill", node, out.shape, _caller(), (mask.detach().bool(), number)))
        else:
            self._tag(out, None)

    def _on_softmax(self, name: str, tensor: Any, dim: Any, out: Any, wrong_sum: bool = False,
                    node: Optional[_Node] = None, fused: bool = False) -> None:
        node = node or self._node(tensor)
        root = _root(node)
        if node is None or root is None:
            return
        site = _caller()
        if root.kind == "weights":
            self._on_post("softmax", node, root, None, out)
            root.info.call.owned.append(_mistake("softmax applied twice", site))
            return
        if root.kind != "product":
            return
        self._softmaxes += 1
        frames = _frames(self._module)
        if self._modules is not None and not any(id(module) in self._modules for module in frames.modules):
            return
        place = frames.path or (site.file, site.line)
        layer = self._places.setdefault(place, len(self._places))
        if self.keep.layers is not None and layer not in self.keep.layers:
            return
        if len(self._calls) + len(self._pending) >= self.keep.calls:
            self._left_out += 1
            return
        product: _Product = root.info
        call = _Call(self._softmaxes, product, frames, site, self._layout_of(product))
        call.layer = layer
        call.path = _path(node, ("product",))
        dims = [dim] if not isinstance(dim, (tuple, list)) else list(dim)
        axes = _axes_after(_moves(call.path), product.shape)
        if axes is None:
            self._note(f"{call.where}: too large to follow the axes of the softmax")
        elif any(one is None for one in dims):
            call.dim_axes = frozenset(range(len(product.shape)))
        else:
            call.dim_axes = frozenset().union(*(axes[one] for one in dims))
        info = _Softmax()
        info.dim, info.name, info.call, info.wrong_sum = dim, name, call, wrong_sum
        if name == "none":
            call.dim_axes = frozenset()
        call.softmax = _Node("weights", None, out.shape, site, info)
        info.snapshot = None if fused else self._snapshot(call, out, _moves(call.path))
        call.weight_path = [call.softmax]
        self._pending.append(call)
        if not fused:
            self._tag(out, call.softmax)

    def _layout_of(self, product: _Product) -> _Layout:
        """The layout, worked out once for calls of the same shape that are split in the same way."""
        try:
            key: Any = (product.shape, tuple(product.out_shared), tuple(
                (base.kind, base.shape, tuple((move.function.__name__, move.arguments, tuple(move.options.items()), move.pick)
                                              for move in _moves(path)))
                for node in (product.node_a, product.node_b)
                for path in [_path(node, _STOPS)]
                for base in [path[0]]), tuple(product.free["a"] + product.free["b"]))
            known = self._layouts.get(key)
        except TypeError:       # an argument that is a tensor or a slice
            return _layout(product)
        if known is None:
            known = _layout(product)
            if len(self._layouts) < 16:
                self._layouts[key] = known
            return known
        again = _Layout()
        again.groups, again.known = known.groups, known.known
        sides = {"a": product.node_a, "b": product.node_b}
        again.indices = {side: (index, _path(sides[side], _STOPS)[0]) for side, (index, _) in known.indices.items()}
        if known.trouble is not None:
            again.trouble = (known.trouble[0], _first_reshaping(sides["a" if "a" in known.indices else "b"]))
        return again

    def _snapshot(self, call: _Call, tensor: Any, moves: Sequence[_Move]) -> Optional[_Weights]:
        """The weights of some sentences, so that they can be checked."""
        _, heads_of, queries, keys = call.shape
        most = max(1, _MOST_WEIGHTS // max(1, heads_of * keys))
        rows = None if queries <= most else np.unique(np.linspace(0, queries - 1, most).astype(int))
        sentences = list(range(min(self.keep.sentences, len(call.layout.groups))))
        array = call.canonical(tensor.detach(), moves, sentences, rows)
        return None if array is None else _Weights(list(array), rows)

    def _on_post(self, what: str, node: _Node, root: _Node, other: Any, out: Any) -> None:
        """Weights that are changed after the softmax."""
        call: _Call = root.info.call
        step = _Node("post", node, out.shape, _caller(), None)
        moves = _moves(call.path) + _moves(_path(step, ("weights",)))
        step.info = (what, self._snapshot(call, out, moves), other.detach() if _is_tensor(other) else other, moves)
        self._tag(out, step)

    def _on_dropout(self, args: Any, kwargs: Dict[str, Any], out: Any) -> None:
        tensor = args[0] if args else kwargs["input"]
        node = self._node(tensor)
        root = _root(node)
        if node is None or root is None:
            return
        p = args[1] if len(args) > 1 else kwargs.get("p", 0.5)
        training = args[2] if len(args) > 2 else kwargs.get("training", True)
        if not training or p == 0:
            self._tag(out, node)
            return
        if root.kind in ("product", "weights"):
            frames = _frames(self._module)
            step = _Node("drop", node, out.shape, _caller(), (p, None))
            if root.kind == "weights" and frames.eval_outside:
                moves = _moves(root.info.call.path) + _moves(_path(step, ("weights",)))
                step.info = (p, self._snapshot(root.info.call, out, moves))
            self._tag(out, step)
        elif root.kind == "linear":
            self._tag(out, None)

    def _on_sum(self, name: str, args: Any, kwargs: Dict[str, Any], out: Any) -> None:
        node = self._node(args[0]) if args else None
        root = _root(node)
        if node is None or root is None:
            return
        dim = args[1] if len(args) > 1 else kwargs.get("dim")
        keepdim = args[2] if len(args) > 2 else kwargs.get("keepdim", False)
        if root.kind == "heads" and node.kind == "heads":
            self._heads_lost("heads are averaged, not put side by side" if name == "mean" else
                             "heads are added up, not put side by side", [root], out, node)
        elif name == "sum" and (node.kind == "exp" or root.kind == "weights"):
            self._tag(out, _Node("expsum", node, out.shape, _caller(), (dim, keepdim)))
        elif root.kind == "context" and isinstance(dim, int) and node.kind == "context" and len(node.shape) >= 3:
            call: _Call = root.info
            axis = dim % len(node.shape)
            if call.heads > 1 and node.shape[axis] == call.heads:
                self._heads_lost("heads are averaged, not put side by side" if name == "mean" else
                                 "heads are added up, not put side by side", [root], out, node)

    def _heads_lost(self, text: str, roots: Sequence[_Node], out: Any, node: _Node) -> None:
        """Heads that are mixed into one another: told once, at the last place where it happens."""
        calls = [call for root in roots for call in (root.info if isinstance(root.info, list) else [root.info])]
        for call in calls:
            call.owned = [mistake for mistake in call.owned if mistake.text != text]
        calls[0].owned.append(_mistake(text, _caller()))
        self._join(calls)
        joined = _Node("heads", None, out.shape, _caller(), calls)
        self._tag(out, _Node("post", joined, out.shape, _caller(), ("sum", None, None, [])))

    def _join(self, calls: Sequence[_Call]) -> None:
        name = min(call.index for call in calls)
        for place, call in enumerate(calls):
            call.part_of = (name, place)

    def _on_cat(self, name: str, args: Any, kwargs: Dict[str, Any], out: Any) -> None:
        tensors = args[0] if args else kwargs.get("tensors", ())
        if not isinstance(tensors, (list, tuple)) or len(tensors) < 2:
            return
        roots = [_root(self._node(tensor)) for tensor in tensors]
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
            calls[0].owned.append(_mistake("heads are put one after the other along another axis, not side by side along the "
                                           "last one", _caller()))
        self._tag(out, _Node("heads", None, out.shape, _caller(), calls))

    def _on_context(self, product: _Product, node_a: Any, node_b: Any, out: Any) -> None:
        """Weights meet values."""
        product.node_a, product.node_b = node_a, node_b
        root_a, root_b = _root(node_a), _root(node_b)
        left = root_a is not None and root_a.kind == "weights"
        node, root, side = (node_a, root_a, "a") if left else (node_b, root_b, "b")
        other, tensor = (node_b, product.b) if left else (node_a, product.a)
        other_root = _root(other)
        call: _Call = root.info.call
        if call.context is not None:
            return
        call.weight_path = _path(node, ("weights",))
        moves = _moves(call.path) + _moves(call.weight_path)
        axes = _axes_after(moves, call.product.shape)
        site = _caller()
        call.context = _Node("context", None, out.shape, site, call)
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

    def _orient(self, call: _Call) -> None:
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
    def _chosen_snapshot(call: _Call) -> Optional[_Weights]:
        """The weights that met the values, dropout that belongs there left out."""
        for step in call.weight_path[::-1]:
            if step.kind in ("post", "drop") and step.info[1] is not None:
                return step.info[1]
            if step.kind == "weights":
                return step.info.snapshot
        return call.softmax.info.snapshot if call.softmax is not None else None

    def _keep(self, call: _Call) -> None:
        if call.found is None:
            self._orient(call)
            call.found = self._chosen_snapshot(call)
        for step in (call.softmax, *call.path):
            if step is not None and step.kind == "product":
                step.info.a = step.info.b = None     # the caller's tensors; the call has copies
        self._calls.append(call)

    def _on_output(self, tensor: Any, node: Any, root: _Node) -> None:
        """Heads side by side, as they go into the output projection."""
        if root.kind != "context":
            return
        call: _Call = root.info
        if call.output is None and call.output_trouble is None:
            call.take_output(tensor, _path(node, ("context",)), root.shape, self.keep.sentences, self._merges)

    def _on_fused(self, args: Any, kwargs: Dict[str, Any], out: Any) -> None:
        """torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0,
        is_causal=False, *, scale=None, enable_gqa=False) of torch 2: whatever kernel it takes, this is what it means."""
        torch = _torch()
        names = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")
        given = {**dict(zip(names, args)), **kwargs}
        query, key, value = given["query"], given["key"], given["value"]
        site = _caller()
        node_q, node_k, node_v = (self._node(tensor) or self._source(tensor) for tensor in (query, key, value))
        if given.get("enable_gqa") and query.dim() > 2 and key.shape[-3] != query.shape[-3]:
            times = query.shape[-3] // key.shape[-3]
            repeat = _Move(torch.Tensor.repeat_interleave, (times, -3), {}, None, False)
            key, value = key.repeat_interleave(times, -3), value.repeat_interleave(times, -3)
            node_k = _Node("move", node_k, key.shape, site, repeat)
            node_v = _Node("move", node_v, value.shape, site, repeat)
        turn = _Move(torch.Tensor.transpose, (-2, -1), {}, None, True)
        turned = key.transpose(-2, -1)
        lead = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2])
        product = _product("matmul", (query, turned), _Result((*lead, query.shape[-2], key.shape[-2]), query))
        if product is None:
            return
        product.node_a, product.node_b = node_q, _Node("move", node_k, turned.shape, site, turn)
        product.names = self._variable_names(product)
        node: _Node = _Node("product", None, product.shape, site, product)
        scale = given.get("scale")
        node = _Node("scale", node, product.shape, site, float(1 / math.sqrt(query.shape[-1]) if scale is None else scale))
        if given.get("is_causal"):
            ones = torch.ones(product.shape[-2:], dtype=torch.bool, device=query.device)
            node = _Node("fill", node, product.shape, site, (ones.triu(1), -math.inf))
        mask = given.get("attn_mask")
        if mask is not None and mask.dtype == torch.bool:
            node = _Node("fill", node, product.shape, site, (~mask.detach(), -math.inf))
        elif mask is not None:
            node = _Node("add", node, product.shape, site, (mask.detach(), 1.0))
        nothing = _Result(product.shape, query)
        before = len(self._pending)
        self._on_softmax("softmax", None, -1, nothing, node=node, fused=True)
        if len(self._pending) == before:
            return
        call = self._pending[-1]
        p = given.get("dropout_p") or 0.0
        if p > 0 and _frames(self._module).eval_outside:
            call.owned.append(_mistake(f"dropout left on (p = {p:g}) in eval mode", site))
        context = _product("matmul", (nothing, value), _Result((*lead, query.shape[-2], value.shape[-1]), query))
        if context is not None:
            self._on_context(context, call.softmax, node_v, out)
        if p == 0:
            call.fused_output = out.detach().clone()

    # -- answers

    def attentions(self, sentence: int = 0) -> Array:
        """(layers, heads, T, S): the weights of one sentence in every call. Errors: Error where calls differ in shape."""
        layers = [attention.weights() for attention in self._sequence()]
        if not layers:
            raise Error((self.notes() or ["no attention seen"])[-1])
        return _layers([layer[min(sentence, len(layer) - 1)] for layer in layers], 0,
                       "seen (seen[0:2] chooses calls of one shape)")

    def _stacks(self, sentence: int) -> Dict[str, Array]:
        """One stack, or those of encoder, decoder and cross-attention where a call's keys are of another sequence."""
        all_of = self._sequence()
        shapes = [attention._parts[0].shape for attention in all_of]
        if not any(shape[2] != shape[3] for shape in shapes) or len(set(shape[2:] for shape in shapes)) == 1:
            return {"attentions": self.attentions(sentence)}
        stacks: Dict[str, List[Array]] = {name: [] for name in _STACKS}
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
        return {name: _layers(layers, 0, name) for name, layers in stacks.items() if layers}

    def save(self, path: Union[str, Path], sentence: int = 0, tokens: Optional[Sequence[str]] = None,
             target_tokens: Optional[Sequence[str]] = None) -> None:
        """A tensors file (.safetensors or .npz) that `headlight FILE` opens: the weights of one sentence of every call, and
        queries, keys and values of the same shape."""
        arrays = self._stacks(sentence)
        metadata = _token_metadata(arrays, tokens, target_tokens)
        if "attentions" in arrays:
            for name, role in (("queries", "query"), ("keys", "key"), ("values", "value")):
                parts = [getattr(attention, role) for attention in self._sequence()]
                if all(part is not None for part in parts) and len({part.shape[1:] for part in parts}) == 1:
                    arrays[name] = np.stack([part[min(sentence, len(part) - 1)] for part in parts]).astype(np.float32)
        _save(path, arrays, metadata)

    def show(self, sentence: int = 0, tokens: Optional[Sequence[str]] = None,
             target_tokens: Optional[Sequence[str]] = None) -> Any:
        """In a notebook the page, inline; elsewhere the window."""
        return show(self._stacks(sentence), tokens=tokens, target_tokens=target_tokens)

    def _repr_html_(self) -> Optional[str]:
        if not len(self):
            return "<pre>" + _html.escape(repr(self)) + "</pre>"
        try:
            return _page_of(self._stacks(0), {})._repr_html_()
        except Error as error:
            return "<pre>" + _html.escape(f"{self!r}\n{error}") + "</pre>"

    def check(self, mask: Any = None) -> Report:
        """Every call against softmax(q·kᵀ/√d_k + mask)·v, computed by the program. `mask`: which cells may be attended
        to (T, S) or (sentences, T, S), where the code cannot tell by itself what was meant."""
        return _check_seen(self, None if mask is None else _numpy(mask).astype(bool))


# ---- The caller's code ----------------------------------------------------------------------------------------------


class _Result(NamedTuple):
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


def _torch_dtype() -> Any:
    return _torch().dtype


def _number(value: Any) -> Optional[float]:
    """A number, also as a tensor or array of one element; nothing for larger ones."""
    if isinstance(value, (int, float, np.number)):
        return float(value)
    if (_is_tensor(value) or isinstance(value, np.ndarray)) and value.size == 1 if isinstance(value, np.ndarray) else \
            _is_tensor(value) and value.numel() == 1:
        return float(value)
    return None


_own_files: Dict[str, bool] = {}


def _is_library(file: str) -> bool:
    """Whether a file belongs to this module, to torch, or to what stands between a caller and torch."""
    known = _own_files.get(file)
    if known is None:
        torch = _torch()
        folders = [os.path.dirname(torch.__file__) + os.sep] if torch is not None and torch.__file__ else []
        einops = sys.modules.get("einops")
        if einops is not None and einops.__file__:
            folders.append(os.path.dirname(einops.__file__) + os.sep)
        known = file == __file__ or file.startswith("<frozen") or any(file.startswith(folder) for folder in folders)
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


def _caller() -> _Site:
    """The line of the caller's code that is running."""
    for frame in _user_frames():
        return _Site(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
    return _Site("<unknown>", 0, "")


def _mistake(text: str, site: Optional[_Site]) -> Mistake:
    return Mistake(text, site.file if site else None, site.line if site else None)


def _modules_around() -> List[Any]:
    """The modules whose methods are running, the innermost first, each once."""
    torch = _torch()
    modules: List[Any] = []
    frame = sys._getframe(1)
    while frame is not None and len(modules) < 24:
        if "self" in frame.f_code.co_varnames[:1]:
            owner = _locals(frame).get("self")
            if isinstance(owner, torch.nn.Module) and all(owner is not module for module in modules):
                modules.append(owner)
        frame = frame.f_back
    return modules


def _variables() -> Iterator[Tuple[str, Any]]:
    """Names and tensors of the running function and of its object, lists opened."""
    for frame in _user_frames():
        names = dict(_locals(frame))
        owner = names.get("self")
        for holder in (names, getattr(owner, "__dict__", {})):
            for name, value in list(holder.items()):
                if _is_tensor(value):
                    yield name, value
                elif isinstance(value, (list, tuple)) and 0 < len(value) <= 64 and _is_tensor(value[0]):
                    for part in value:
                        yield name, part
        return


def _frames(root: Any) -> _Frames:
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
            if re.search("mask|pad", name) and _is_tensor(value) and all(value is not known for _, known in masks):
                masks.append((name, value.detach()))
    modules = _modules_around()
    names = []
    for inner, outer in zip(modules, modules[1:]):
        name = _first((name for name, module in outer.named_modules() if module is inner), None)
        names.append(name if name else type(inner).__name__)
        if outer is root:
            break
    path = ".".join(names[::-1]) or (type(modules[-1]).__name__ if modules else "")
    return _Frames(masks, modules, path, any(not module.training for module in modules))


_PACKED = r"in_proj|qkv|c_attn|query_key_value"     # one weight for query, key and value, in this order


def _named_role(node: Optional[_Node], index: Optional[Tuple[Array, _Node]], names: Sequence[str]) -> Optional[str]:
    step = node
    while step is not None and step.kind not in ("linear", "product", "source"):
        step = step.parent
    role = None
    if step is not None and step.kind == "linear":
        packed = re.search(_PACKED, step.info.name)
        if packed and index is not None and index[1].shape[-1] % 3 == 0:
            width = index[1].shape[-1]
            parts = np.unique(index[0] % width // (width // 3))
            return ("query", "key", "value")[int(parts[0])] if len(parts) == 1 else None
        role = _role(step.info.name)
    elif step is not None and step.kind == "product":
        found = {_role(name) for name in step.info.names["b"]} - {None}
        role = found.pop() if len(found) == 1 else None
    if role is None:
        found = {_role(name) for name in names} - {None}
        role = found.pop() if len(found) == 1 else None
    return role


def _counting_side(call: _Call, axes: Optional[frozenset]) -> Optional[str]:
    """The operand whose rows are all that an axis counts."""
    for side in "ba":
        if axes and axes == frozenset(call.product.out_free[side]):
            return side
    return None


def _side_of(call: _Call, summed: frozenset, rows: frozenset) -> Optional[str]:
    for side, other in (("b", "a"), ("a", "b")):
        if summed & set(call.product.out_free[side]) or (not summed and rows & set(call.product.out_free[other])):
            return side
    return None


def _turned(weights: Optional[_Weights]) -> Optional[_Weights]:
    if weights is None or weights.rows is not None:
        return None
    return _Weights([sentence.transpose(-2, -1) for sentence in weights.sentences], None)


def watch(module: Any = None, keep: Union[None, int, Keep] = None) -> Seen:
    """Follows the attention that runs inside a `with` block; with `module` only what runs inside of it.

    Caught are torch.nn.MultiheadAttention and the layers of torch.nn.Transformer, scaled_dot_product_attention, and
    attention written by hand: a softmax of what came from a product of two arrays. `keep` limits calls, layers and
    sentences (`Keep`); a number is that of calls. One thread: what other threads compute is not seen."""
    return Seen(module, keep)


# ---- Judging what was seen ------------------------------------------------------------------------------------------


class _Meant(NamedTuple):
    """The mask that was meant where the one at work cannot have been: allowed (T, S); and what went wrong."""
    allowed: Array
    text: str


def _is_prefix(row: Array) -> bool:
    """True … True False … False, with at least one True."""
    return bool(row[0]) and not (np.diff(row.astype(int)) > 0).any()


def _causal_with_padding(allowed: Array) -> bool:
    """Each query sees itself and what was before, but for keys that no query sees."""
    lower = np.tril(np.ones(allowed.shape, bool))
    keys = allowed[-1]
    return bool((allowed == (lower & keys)).all()) and bool(keys.any())


def _meant_by(allowed: Array) -> Optional[_Meant]:
    """What was meant by a mask (T, S) that one sentence had, where it is one that only a mistake gives."""
    queries, keys = allowed.shape
    if queries > 1 and keys > 1:
        rows, columns = allowed.any(1), allowed.any(0)
        if not rows.all() and rows.any() and (allowed == rows[:, None]).all() and _is_prefix(rows) and queries == keys:
            return _Meant(allowed.T, "mask transposed")
    if queries != keys or queries < 2:
        return None
    ones = np.ones(allowed.shape, bool)
    lower = np.tril(ones)
    seen = allowed.any(0)
    padded = ones if _is_prefix(seen) is False else seen[None, :] | np.zeros_like(allowed)
    if (allowed == np.triu(ones, 1)).all():
        return _Meant(lower, "mask inverted")
    if (allowed == np.triu(ones)).all():
        return _Meant(lower, "mask transposed")
    if (allowed == np.triu(ones, 2)).all() and queries > 2:
        return _Meant(lower, "mask inverted")
    if (allowed == (np.tril(ones, -1) & padded)).all():
        return _Meant(lower & (padded | (np.arange(keys) == keys - 1)),
                      "causal mask off by one: the diagonal is blocked")
    if queries > 2 and (allowed == (np.tril(ones, 1) & padded)).all() and not (allowed == (lower & padded)).all() and \
            not (allowed == padded).all():
        return _Meant(lower & padded, "causal mask off by one: each query attends to the next token")
    if not _causal_with_padding(allowed) and _causal_with_padding(~allowed) and not np.diagonal(allowed).all():
        return _Meant(~allowed, "mask inverted")
    causal_transposed = np.triu(ones) & seen[None, :]
    if not seen.all() and _is_prefix(seen) and (allowed == causal_transposed).all() and seen.sum() > 1:
        return _Meant(lower & seen[None, :], "mask transposed")
    return None


def _meant_by_all(allowed: Array) -> Optional[List[_Meant]]:
    """The same, where only all sentences together tell: (sentences, T, S)."""
    if len(allowed) < 2:
        return None
    columns = allowed.all(1)                                   # a key mask has equal rows
    if (allowed == columns[:, None]).all() and not columns.all() and not any(_is_prefix(row) for row in columns) and \
            any(not row.any() for row in columns) and all(_is_prefix(~row) for row in columns):
        return [_Meant(~sentence, "mask inverted") for sentence in allowed]
    return None


def _of_other_sentences(blocked: Array) -> Optional[Array]:
    """Masks (sentences, heads, T, S) that were repeated in the order (heads, sentences): the one meant for each sentence."""
    sentences, heads_of = blocked.shape[:2]
    if sentences < 2 or heads_of < 2 or (blocked == blocked[:, :1]).all():
        return None
    flat = blocked.reshape(sentences * heads_of, *blocked.shape[2:])
    meant = flat[:sentences]
    return meant if all((flat[place] == meant[place % sentences]).all() for place in range(len(flat))) else None


def _fits(mask: Array, sentence: int, sentences: int, queries: int, keys: int) -> List[Array]:
    """A caller's mask argument as (T, S) for one sentence, in every way that its shape allows."""
    found: List[Array] = []

    def take(array: Array) -> None:
        if array.ndim == 1:
            array = array[None]
        if array.ndim == 2 and array.shape[0] in (1, queries) and array.shape[1] == keys:
            found.append(np.broadcast_to(array, (queries, keys)))

    shape = mask.shape
    own = lambda size: sentence if size == sentences else 0  # noqa: E731
    if mask.ndim <= 2:
        take(mask)
        if mask.ndim == 2 and shape == (sentences, keys):
            take(mask[sentence])
    elif mask.ndim == 3:
        if shape[0] in (1, sentences):
            take(mask[own(shape[0])])
        if shape[2] in (1, sentences):
            take(mask[:, :, own(shape[2])])
    elif mask.ndim == 4:
        if shape[0] in (1, sentences):
            take(mask[own(shape[0]), 0])
        if shape[2] in (1, sentences):
            take(mask[:, :, own(shape[2]), 0])
    return found


def _blocked_by(mask: Array) -> List[Array]:
    """The cells that a mask blocks, in the ways it may be meant; none where it blocks nothing or is a bias."""
    if mask.dtype.kind == "f" and (mask <= _BLOCKED).any():
        return [mask <= _BLOCKED]
    if not np.isin(mask, (0, 1)).all() or (mask == mask.flat[0]).all():
        return []
    return [mask == 0, mask != 0]


class _Judged(NamedTuple):
    mistakes: List[Mistake]
    notes: List[str]
    judged: bool


def _tolerance_of(call: _Call) -> float:
    return 2e-3 if call.half is None and "cuda" in str(call.product.device) else _precision(call.product)


def _scale_text(call: _Call, d_k: int, num_heads: int) -> Optional[str]:
    """What is wrong with the scale, from the steps that were followed; nothing where it is 1/√d_k."""
    ratio = call.scale * math.sqrt(d_k)
    for factor, text in ((math.sqrt(d_k), "scores not divided by sqrt(d_k)"), (d_k, "scores multiplied by sqrt(d_k)"),
                         (1 / math.sqrt(d_k), "scores divided by d_k, not by its root"),
                         (1 / math.sqrt(num_heads), "scores divided by sqrt(d_model), not by sqrt(d_k)")):
        if abs(factor - 1) > 1e-3 and abs(ratio / factor - 1) < 1e-3:
            return text
    return None if abs(ratio - 1) < 1e-3 else "scores multiplied by a constant"


def _with_numbers(text: str, call: _Call, d_k: int) -> str:
    """The scale's mistake with its two numbers."""
    if text.startswith("scores ") and re.search("divided|multiplied", text):
        said = text.split(": ")[0]
        if re.match(r"scores multiplied by (?:a constant|[\d.])", said):      # the steps say it more exactly than numbers do
            said = f"scores multiplied by {call.scale * math.sqrt(d_k):.4g}"
        return f"{said} (scale {call.scale:.4g}, not {1 / math.sqrt(d_k):.4g})"
    return text


def _site_for(text: str, call: _Call) -> Optional[_Site]:
    """The line of the caller's code where the operation stands that a mistake is about."""
    softmax = call.softmax.site if call.softmax is not None else call.site
    product = call.path[0].site if call.path else call.site

    def last(kinds: Sequence[str], path: Sequence[_Node]) -> Optional[_Site]:
        return _first((step.site for step in reversed(path) if step.kind in kinds), None)

    def side(words: str) -> str:
        return "value" if "value" in words else "key" if "key" in words and "query" not in words else "query"
    if re.match("scores (not )?(divided|multiplied)|query already", text):
        operands = [_path(call.node(role), ("linear", "product", "source")) for role in ("query", "key")]
        own = [site for path in operands for site in [last(["scale"], path)] if site]
        return last(["scale"], call.path) or (own[0] if own else product)
    if "after the softmax" in text:
        return last(["post"], call.weight_path) or softmax
    if text.startswith("dropout"):
        return last(["drop"], call.weight_path) or last(["drop"], call.path) or softmax
    if "mask missing" in text:
        return softmax
    if "mask" in text or "blocked scores" in text:
        return last(["fill", "add", "times"], call.path) or last(["post"], call.weight_path) or softmax
    if text.startswith("weights transposed") or text.startswith("softmax missing"):
        return call.context.site if call.context is not None else softmax
    if "softmax" in text:
        return softmax
    if "swapped" in text:
        return product
    if "put side by side" in text or text.startswith("output projection"):
        return call.merge_site or (call.context.site if call.context is not None else softmax)
    if "heads split" in text or ("heads" in text and "split" in text):
        return _first_reshaping(call.node(side(text))) or product
    if "projection" in text:
        path = _path(call.node(side(text)), ("linear", "product", "source"))
        return (path[0].site if path else None) or product
    return product


def _linear_of(call: _Call, role: str) -> Optional[Tuple[_Linear, Tuple[Array, _Node]]]:
    """How an operand was projected, where a projection was followed that is not as its module means it."""
    found = call.index_of(role)
    if found is None or found[1].kind != "linear":
        return None
    info: _Linear = found[1].info
    slipped = info.transposed or (info.bias_of is not None and not info.bias)
    return (info, found) if slipped and info.x is not None else None


def _inputs(parts: Sequence[_Call], sentence: int, operands: Mapping[str, Optional[Array]]) -> Dict[str, Array]:
    """Queries, keys and values as they should have met: from the projections, heads in blocks."""
    arrays: Dict[str, Array] = {}
    for role in ("query", "key", "value"):
        values = operands[role]
        if values is None:
            continue
        arrays[role] = _side_by_side(values[sentence])
        if len(parts) > 1:
            continue
        call = parts[0]
        slip = _linear_of(call, role)
        found = call.index_of(role)
        if found is None:
            continue
        index, base = found
        group = [(sentence, head) for head in range(index.shape[1])]
        if slip is not None:
            info = slip[0]
            rows = np.unique(index[sentence] // base.shape[-1])
            x = _numpy(info.x).astype(np.float32)
            x = x.reshape(-1, x.shape[-1])[rows]
            weight = _numpy(info.weight).astype(np.float32)
            columns = np.unique(index[sentence] % base.shape[-1])
            if weight.shape[0] >= len(columns) and x.shape[1] == weight.shape[1]:
                name = {"query": "q_proj", "key": "k_proj", "value": "v_proj"}[role]
                arrays[role] = x
                arrays[name + ".weight"] = weight[columns]
                bias = info.bias_of
                if bias is not None:
                    arrays[name + ".bias"] = _numpy(bias).astype(np.float32)[columns]
                continue
        flat = index.reshape(-1, *index.shape[2:])
        places = [tuple([sentence * index.shape[1] + head]) for head in range(index.shape[1])]
        if _is_split_in_blocks(flat, base, [places]):
            continue
        again = _recovered(index, base, values, group)
        if again is not None and again.shape[1] % index.shape[1] == 0:
            arrays[role] = again
    return arrays


def _role_mistakes(call: _Call, seen: "Seen") -> List[Mistake]:
    """Projections that are there and not used, or used for something else than they are named for."""
    modules = call.frames.modules
    weights: Dict[str, Tuple[str, Any]] = {}
    for module in modules[:3]:
        for name, parameter in module.named_parameters():
            role = _role(name)
            if name.endswith("bias") or parameter.dim() != 2:
                continue
            if re.search(_PACKED, name):
                for one in ("query", "key", "value"):
                    weights.setdefault(one, (name, parameter))
                continue
            if role is None:
                continue
            weights.setdefault(role, (name, parameter))
        if {"query", "key", "value"} <= set(weights):
            break
        weights = {}
    if not weights:
        return []
    found = []
    named = call.roles()
    named = {"query": named["b" if call.flipped else "a"], "key": named["a" if call.flipped else "b"],
             "value": _named_role(call.value_node, call.value_index, [])}
    if sorted(named.values(), key=str) == ["key", "query", "value"] and named["value"] != "value":
        wrong = [role for role in named if named[role] != role]
        site = call.context.site if call.context is not None else call.path[0].site
        found.append(_mistake(" and ".join([", ".join(wrong[:-1]), wrong[-1]]) + " swapped", site))
    roots = {}
    for role in ("query", "key", "value"):
        step = call.node(role)
        while step is not None and step.kind not in ("linear", "product", "source"):
            step = step.parent
        roots[role] = step
    for role, (name, parameter) in weights.items():
        if id(parameter) in call.called:
            continue
        name = re.sub(r"\.?weight$", "", name)
        if role == "output":
            if call.context is not None and call.part_of is None:
                found.append(_mistake(f"output projection missing: {name} is not used",
                                      call.merge_site or call.context.site))
            continue
        root = roots[role]
        if root is not None and root.kind == "linear" and root.info.name:
            other = re.sub(r"\.?weight$", "", root.info.name)
            found.append(_mistake(f"the {role} is projected by {other}: {name} is not used", root.site))
        elif root is not None and root.kind == "source" and len(root.shape) <= 3 and \
                root.shape[-1] == parameter.shape[1]:
            site = _first_reshaping(call.node(role)) or (call.path[0].site if role != "value" or call.context is None
                                                        else call.context.site)
            found.append(_mistake(f"{role} projection missing: {name} is not used", site))
    return found


def _judge(attention: Attention, index: int, seen: "Seen", intended: Optional[Array]) -> _Judged:
    """One call of attention, held against the program's answer to its queries, keys, values and mask."""
    parts = attention._parts
    call = parts[0]
    mistakes = [mistake for part in parts for mistake in part.owned]
    notes: List[str] = [note for part in parts for note in part.notes]
    assert call.softmax is not None
    softmax: _Softmax = call.softmax.info
    if call.layout.trouble is not None:
        return _Judged(mistakes + [_mistake(*call.layout.trouble)], notes, True)
    if softmax.wrong_sum:
        mistakes.append(_mistake("rows are divided by the sums of other rows: keepdim is missing", call.softmax.site))
        return _Judged(mistakes, notes, True)
    if softmax.name in ("log_softmax", "sigmoid"):
        mistakes.append(_mistake(f"{softmax.name} in place of softmax", call.softmax.site))
        return _Judged(mistakes, notes, True)
    opaque = [step.info for part in parts for step in (*part.path, *part.weight_path) if step.kind == "opaque"]
    if opaque:
        said = f"{call.where}: scores pass through {opaque[0]}, which is not followed: not judged"
        return _Judged(mistakes, notes + [said], False)
    over = call.wrong_axis()
    if over is not None and over not in ("the queries", "the heads"):
        mistakes.append(_mistake(f"softmax over the wrong axis: over {over}", call.softmax.site))
        return _Judged(mistakes, notes, True)
    for part in parts:
        for step in part.path:
            if step.kind == "drop":
                mistakes.append(_mistake("dropout on the scores, before the softmax", step.site))
        for step in part.weight_path:
            if step.kind == "post" and step.info[0] == "scale":
                text = f"weights multiplied by {_number(step.info[2]) or 0:.4g} after the softmax"
                mistakes.append(_mistake(text, step.site))
    if any(re.search("before the softmax|twice|after the softmax", mistake.text) for mistake in mistakes):
        return _Judged(mistakes, notes, True)
    roles = _role_mistakes(call, seen)
    if len(parts) > 1:
        roles = [mistake for mistake in roles if not mistake.text.startswith("output")]
    numbers = _judge_numbers(attention, seen, intended, notes, bool(mistakes))
    mistakes += numbers.mistakes
    if not any(re.search("swapped|projection", mistake.text) for mistake in numbers.mistakes):
        mistakes += roles
    return _Judged(mistakes, numbers.notes, numbers.judged or bool(mistakes))


class _Masks(NamedTuple):
    """Of the kept sentences: what should be allowed, what is added beside, and what the steps say about it."""
    allowed: Array                 # (sentences, heads, T, S)
    bias: Optional[Array]          # (sentences, heads, T, S)
    text: Optional[str]
    site: Optional[_Site]
    by_sentence: List[Optional[str]]


def _masks_of(call: _Call, seen: "Seen", sentences: Sequence[int], rows: Optional[Array],
              intended: Optional[Array], notes: List[str]) -> _Masks:
    """The mask that was meant: that of the steps, unless it is one that only a mistake gives."""
    count, heads_of, queries, keys = call.shape
    shape = (len(sentences), heads_of, queries if rows is None else len(rows), keys)
    text: Optional[str] = None
    site: Optional[_Site] = None
    blocked = np.zeros(shape, bool)
    bias = np.zeros(shape, np.float32)
    mask_parts = call.mask_parts(sentences, rows)
    last_site = mask_parts[-1].site if mask_parts else None
    for part in mask_parts:
        if part.kind == "fill":
            blocked |= part.cells
            if part.value > _BLOCKED and part.cells.any():
                text, site = (f"blocked scores are {call.rounded(part.value)} in place of -inf"), part.site
        elif part.kind == "times":
            if np.isin(part.cells, (0, 1)).all():
                blocked |= part.cells == 0
                if (part.cells == 0).any():
                    text, site = "blocked scores are 0 in place of -inf", part.site
            else:
                notes.append(f"{call.where}: scores are multiplied by an array, which is not judged")
        elif part.binary:
            zeros = part.cells == 0
            either = [cells for cells in (zeros, ~zeros) if _meant_by(~cells[0, 0]) is None and (~cells).any(-1).all()]
            blocked |= (either or [zeros])[0]
            text, site = "a mask of 0 and 1 is added to the scores, in place of 0 and -inf", part.site
        else:
            blocked |= part.cells <= _BLOCKED
            values = np.unique(part.cells)
            if len(values) == 2 and values[1] == 0 and values[0] > _BLOCKED and keys > 2:
                blocked |= part.cells == values[0]
                text, site = f"blocked scores are {call.rounded(values[0])} lower, in place of -inf", part.site
            else:
                bias += np.where(part.cells <= _BLOCKED, 0, part.cells)
    for step in call.weight_path:
        if step.kind == "post" and step.info[0] in ("times", "fill"):
            tensor = step.info[2]
            if not _is_tensor(tensor):
                continue
            array = call.canonical(tensor, _moves(call.path) + _moves(_path(step.parent, ("weights",))), sentences, rows)
            if array is not None and np.isin(_numpy(array), (0, 1)).all():
                cells = _numpy(array).astype(bool)
                cells = ~cells if step.info[0] == "times" else cells
                if (cells & ~blocked).any():
                    text, site = "mask applied after the softmax, rows not renormalised", step.site
                blocked |= cells
    by_sentence: List[Optional[str]] = [text] * len(sentences)
    if intended is not None and rows is None:
        given = np.broadcast_to(intended if intended.ndim == 3 else intended[None], (count, queries, keys))
        return _Masks(np.broadcast_to(given[list(sentences)][:, None], shape), bias if bias.any() else None, text, site,
                      by_sentence)
    if rows is None and text is None:
        other = _of_other_sentences(blocked)
        if other is not None:
            text = ("masks of other sentences: (batch, heads) needs each sentence's mask heads times in a row "
                    "(repeat_interleave)")
            blocked = np.broadcast_to(other[:, None], shape)
            by_sentence = [text] * len(sentences)
        elif (blocked == blocked[:, :1]).all():
            meant = _meant_by_all(~blocked[:, 0]) or [_meant_by(~blocked[place, 0]) for place in range(len(sentences))]
            for place, own in enumerate(meant):
                if own is not None:
                    by_sentence[place] = own.text
                    blocked = blocked.copy()
                    blocked[place] = ~own.allowed
            text = _first((own.text for own in meant if own is not None), None)
            site = last_site
    if rows is None and text is None:
        for name, mask in call.frames.masks:
            if _is_applied(seen, mask):
                continue
            array = _numpy(mask)
            for place, sentence in enumerate(sentences):
                options = [cells for fitted in _fits(array, sentence, count, queries, keys) for cells in _blocked_by(fitted)]
                options = [cells for cells in options if (~cells).any(-1).all()] or options
                better = [cells for cells in options if _meant_by(~cells) is None]
                if options and not (options[0] <= blocked[place, 0]).all():
                    before = blocked[place, 0].any()
                    blocked = blocked.copy()
                    blocked[place] |= (better or options)[0]
                    by_sentence[place] = text = f"{name} is given and not applied" if before else "mask missing"
    return _Masks(~blocked, bias if bias.any() else None, text, site, by_sentence)


def _is_applied(seen: "Seen", mask: Any) -> bool:
    """Whether some call blocks all that a mask argument blocks, meant in one way or the other."""
    array = _numpy(mask)
    if not _blocked_by(array):
        return True
    for attention in seen._sequence():
        call = attention._parts[0]
        if not any(known is mask or (known.shape == mask.shape and known.data_ptr() == mask.data_ptr())
                   for _, known in call.frames.masks):
            continue
        count, _, queries, keys = call.shape
        if queries * keys * count > _MOST_WEIGHTS:
            return True
        blocked = np.zeros((count, 1, queries, keys), bool)
        for part in call.mask_parts(range(count)):
            blocked = blocked | (part.cells if part.kind == "fill" else part.cells == 0 if part.kind == "times" or part.binary
                                 else part.cells <= _BLOCKED)
        fitted = [[cells for option in _fits(array, sentence, count, queries, keys) for cells in _blocked_by(option)]
                  for sentence in range(count)]
        if not any(fitted):
            return True
        if all(not options or any((cells <= blocked[sentence].any(0)).all() for cells in options)
               for sentence, options in enumerate(fitted)):
            return True
        if any(step.kind == "post" for step in call.weight_path):
            return True
    return False


def _judge_numbers(attention: Attention, seen: "Seen", intended: Optional[Array], notes: List[str],
                   told: bool) -> _Judged:
    """The weights, and where they agree the output, of the sentences kept."""
    parts = attention._parts
    call = parts[0]
    mistakes: List[Mistake] = []
    operands = {role: getattr(attention, role) for role in ("query", "key", "value")}
    query, key = operands["query"], operands["key"]
    count, num_heads, _, d_k = query.shape
    founds = [part.found for part in parts]
    rows = _first((found.rows for found in founds if found is not None), None)
    kept = min([count] + [len(found.sentences) for found in founds if found is not None])
    kept = min(kept, seen.keep.sentences, 1 if rows is not None else kept)
    sentences = list(range(kept))
    few = rows is None and query.shape[0] * num_heads * query.shape[2] * key.shape[2] <= _MOST_WEIGHTS
    masks = _masks_of(call, seen, list(range(count)) if few else sentences, rows, intended, notes)
    scale_text = _scale_text(call, d_k, num_heads)
    roles = call.roles()
    named = {"query": roles["b" if call.flipped else "a"], "key": roles["a" if call.flipped else "b"]}
    swapped = named == {"query": "key", "key": "query"} and query.shape[2] == key.shape[2]
    dropped = any(step.kind == "drop" for part in parts for step in part.weight_path)
    axis = call.wrong_axis()
    judged = False
    tolerance = _tolerance_of(call)
    tasks = []
    for place in sentences:
        arrays = _inputs(parts, place, operands)
        if swapped:
            arrays["query"], arrays["key"] = arrays["key"], arrays["query"]
            for one, other in (("q_proj.weight", "k_proj.weight"), ("q_proj.bias", "k_proj.bias")):
                first, second = arrays.pop(one, None), arrays.pop(other, None)
                arrays.update({name: value for name, value in ((one, second), (other, first)) if value is not None})
        if rows is not None:
            if not np.array_equal(arrays["query"].shape, (query.shape[2], num_heads * d_k)) or swapped:
                continue
            arrays["query"] = arrays["query"][rows]
        if "value" in arrays and arrays["value"].shape[0] != arrays["key"].shape[0]:
            del arrays["value"]
        allowed = np.broadcast_to(masks.allowed[place], (num_heads, *masks.allowed.shape[2:]))
        found = None
        if all(part is not None for part in founds):
            found = np.concatenate([_numpy(part.sentences[place]) for part in founds if part is not None])
            found = found.astype(np.float32)
            found[~allowed.any(-1)] = 0
        output = None
        if rows is None and not dropped and len(parts) == 1:
            if call.output is not None and place < len(call.output):
                output = call.output[place].copy()
            elif call.fused_output is not None and call.context_product is not None:
                output = _fused_output(call, place)
            if output is not None and call.output_is_whole:
                output[~allowed.any(-1).any(0)] = 0
        tasks.append((place, arrays, found, output, allowed, None if masks.bias is None else masks.bias[place]))
    results = [_compare_one(num_heads, tolerance, task) for task in tasks]
    seen_texts = set()
    for task, result in zip(tasks, results):
        place, found = task[0], task[2]
        if result is None:
            continue
        judged = True
        site: Optional[_Site] = None
        text: Optional[str] = None
        structural = masks.by_sentence[place]
        if result["equal"]:
            if call.output_trouble is not None:
                text, site = call.output_trouble
            elif call.contracted is not None and call.contracted == call._sides()[0] and axis is None:
                text = "weights transposed before they meet the values"
        else:
            said = result["diagnosis"]
            if said is not None and said.startswith("A: "):
                said = None
            if structural is not None and scale_text is None and axis is None:
                same = said is not None and (_kind(said) == _kind(structural) or said.startswith("mask off by one"))
                text = said if same and said is not None else structural
                site = masks.site
            elif scale_text is not None and axis is None and structural is None:
                text = said if said is not None and _kind(said) == "scale" else scale_text
            elif axis is not None and scale_text is None and structural is None:
                text = f"softmax over the wrong axis: over {axis}"
            elif scale_text is not None or axis is not None or structural is not None:
                several = [scale_text, structural,
                           None if axis is None else f"softmax over the wrong axis: over {axis}"]
                for one in several:
                    if one is not None and one not in seen_texts:
                        seen_texts.add(one)
                        mistakes.append(_mistake(_with_numbers(one, call, d_k), _site_for(one, call)))
                continue
            elif call.output_trouble is not None and _first_name(result) == "output" and said is None:
                text, site = call.output_trouble
            elif told:
                continue
            else:
                text = said or (_normalised_text(call, found) or _unexplained(result))
        if text is None or text in seen_texts:
            continue
        seen_texts.add(text)
        mistakes.append(_mistake(_with_numbers(text, call, d_k), site or _site_for(text, call)))
    if call.output_trouble is not None and not mistakes and not told:
        mistakes.append(_mistake(*call.output_trouble))
    if not mistakes and not told:
        blank = _rows_without_keys(parts, sentences)
        if blank:
            mistakes.append(_mistake(f"{blank} {'query' if blank == 1 else 'queries'} may attend to nothing: the weights are "
                                     "NaN", call.softmax.site if call.softmax else None))
    return _Judged(mistakes, notes, judged)


def _first_name(result: Mapping[str, Any]) -> str:
    return _first_of(array["name"] for array in result["arrays"] if not array["equal"])


def _kind(text: str) -> str:
    """The family of a mistake's text, so that the program's and the steps' words can be held against each other."""
    for kind, pattern in (("after", "after the softmax"), ("weak", "blocked scores"), ("inverted", "inverted"),
                          ("transposed", "mask transposed"), ("off", "off by one"), ("missing", "mask missing|not applied"),
                          ("scale", "scores (not )?(divided|multiplied)")):
        if re.search(pattern, text):
            return kind
    return text


def _normalised_text(call: _Call, found: Optional[Array]) -> Optional[str]:
    """What changed the weights after the softmax, where their rows no longer sum to 1."""
    step = _first((step for step in call.weight_path if step.kind == "post"), None)
    if step is None or found is None:
        return None
    return "weights changed after the softmax: their rows do not sum to 1" if \
        (np.abs(found.sum(-1) - 1) > 1e-3).any() else None


def _rows_without_keys(parts: Sequence[_Call], sentences: Sequence[int]) -> int:
    """How many rows of weights are NaN."""
    count = 0
    for part in parts:
        for sentence in sentences:
            if part.found is not None and sentence < len(part.found.sentences):
                count = max(count, int(np.isnan(_numpy(part.found.sentences[sentence])).any(-1).any(0).sum()))
    return count


def _fused_output(call: _Call, sentence: int) -> Optional[Array]:
    """(T, H·d_v) of a fused kernel."""
    product = call.context_product
    if product is None or not call.places:
        return None
    arranged = product.to_out(call.fused_output)
    if not call.context_left:
        arranged = arranged.transpose(-2, -1)
    back = {target: place for place, target in call.places.items()}
    array = np.stack([_numpy(arranged[back[sentence, head]]) for head in range(call.heads)])
    return _side_by_side(array)


def _compare_one(num_heads: int, tolerance: float, task: Any) -> Optional[Dict[str, Any]]:
    """The program's diagnosis of one sentence; a bias of its own for each head takes a run each."""
    _, arrays, found, output, allowed, bias = task
    if found is None and output is None:
        return None
    varies = (allowed != allowed[:1]).any() or (bias is not None and (bias != bias[:1]).any())
    if varies:
        if found is None or "q_proj.weight" in arrays or "k_proj.weight" in arrays:
            return None
        worst = None
        for head in range(num_heads):
            own = {name: np.ascontiguousarray(np.split(arrays[name], num_heads, axis=1)[head])
                   for name in ("query", "key")}
            result = _compare_one(1, tolerance, (0, own, found[head:head + 1], None, allowed[head:head + 1],
                                                 None if bias is None else bias[head:head + 1]))
            if result is not None and (worst is None or worst["equal"]):
                worst = result
        return worst
    arrays = dict(arrays)
    if bias is not None:
        arrays["mask"] = np.where(allowed[0], bias[0], -np.inf).astype(np.float32)
    elif not allowed.all():
        arrays["mask"] = np.ascontiguousarray(allowed[0])
    if found is not None:
        arrays["attentions"] = found[None]
    if output is not None and "value" in arrays:
        arrays["output"] = output
    elif found is None:
        return None
    return _diagnose(arrays, num_heads, tolerance)


def _check_seen(seen: "Seen", intended: Optional[Array]) -> Report:
    attentions = seen._sequence()
    with ThreadPoolExecutor(max_workers=min(8, os.cpu_count() or 1)) as pool:
        judged = list(pool.map(lambda pair: _judge(pair[1], pair[0], seen, intended), enumerate(attentions)))
    by_place: Dict[Tuple[str, Optional[str], Optional[int]], List[int]] = {}
    notes: List[str] = []
    for index, result in enumerate(judged):
        for mistake in dict.fromkeys(result.mistakes):
            by_place.setdefault((mistake.text, mistake.file, mistake.line), []).append(index)
        notes += result.notes
    mistakes = [Mistake(text, file, line, tuple(dict.fromkeys(calls)))
                for (text, file, line), calls in by_place.items()]
    return Report(mistakes, list(dict.fromkeys(notes)) + seen.notes(), sum(result.judged for result in judged),
                  len(attentions))


# ---- Showing --------------------------------------------------------------------------------------------------------

_MOST_PAGE = 8 << 20      # bytes of a page that a notebook still keeps gladly


class Page:
    """A page that still computes: `html`, `save(path)`; in a notebook it shows itself, shut off from the notebook."""

    def __init__(self, html: str) -> None:
        self.html = html

    def save(self, path: Union[str, Path]) -> None:
        """Written beside and renamed."""
        _write_text(path, self.html)

    def _repr_html_(self) -> str:
        size = len(self.html.encode())
        if size > _MOST_PAGE:
            return (f"<p>headlight: a page of {size / 2**20:.0f} MB is too large for a notebook (at most "
                    f"{_MOST_PAGE >> 20} MB): show fewer layers or heads, e.g. <code>show(…, only=\"0.1,0.2\")</code>, "
                    "or <code>page.save(\"page.html\")</code>.</p>")
        return ('<iframe sandbox="allow-scripts" style="width:100%;height:640px;border:0" title="Headlight" '
                f'srcdoc="{_html.escape(self.html)}"></iframe>')

    def __repr__(self) -> str:
        return f"<headlight.Page, {len(self.html.encode()):,} bytes: .save('page.html') keeps it>"


def _write_text(path: Union[str, Path], text: str) -> None:
    path = Path(path)
    handle, beside = tempfile.mkstemp(dir=path.parent or ".", prefix=path.name + ".")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(beside, 0o666 & ~_umask())
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise


def _save(path: Union[str, Path], arrays: Mapping[str, Array], metadata: Mapping[str, str]) -> None:
    """.safetensors, or .npz, which has no metadata."""
    if str(path).endswith(".npz"):
        handle, beside = tempfile.mkstemp(dir=Path(path).parent, suffix=".npz")
        os.close(handle)
        np.savez(beside, **{name: np.asarray(array) for name, array in arrays.items()})
        os.chmod(beside, 0o666 & ~_umask())
        os.replace(beside, path)
    elif str(path).endswith(".safetensors"):
        _write_safetensors(path, arrays, metadata)
    else:
        raise Error(f"save: expected a name that ends in .safetensors or .npz, found '{path}'")


def _page_of(arrays: Mapping[str, Array], metadata: Mapping[str, str], **options: Any) -> Page:
    with tempfile.TemporaryDirectory(prefix="headlight-") as folder:
        source, target = os.path.join(folder, "attention.safetensors"), os.path.join(folder, "page.html")
        _write_safetensors(source, arrays, metadata)
        _run(["page", source, *_words_of_options(options, folder), "-o", target])
        return Page(Path(target).read_text(encoding="utf-8"))


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and hasattr(shell, "kernel")


def _has_display() -> bool:
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def show(attentions: Any, tokens: Optional[Sequence[str]] = None, target_tokens: Optional[Sequence[str]] = None,
         sentence: int = 0, **options: Any) -> Optional[Page]:
    """Shows attention that a program holds: in a notebook the page, inline; elsewhere the window.

    `attentions`: an array (layers, heads, T, S); a list of layers (batch, heads, T, S) as Hugging Face and BertViz have
    it; a model's output or a dict with `attentions` or `encoder_attentions`, `decoder_attentions`, `cross_attentions`; a
    tuple of those three; a cache of TransformerLens. `tokens` name the keys' side, `target_tokens` the queries' side
    where it is another one. `options` are those of `headlight page`: `only="0.1,0.2"`. Without a display: Error."""
    if isinstance(attentions, Seen):
        attentions = attentions._stacks(sentence)
    arrays = _stacks(attentions, sentence)
    extra = attentions if isinstance(attentions, dict) else {}
    arrays.update({name: extra[name] for name in ("queries", "keys", "values")
                   if isinstance(extra.get(name), np.ndarray)})
    metadata = _token_metadata({name: array for name, array in arrays.items() if name.endswith("attentions")},
                               tokens, target_tokens)
    if _in_notebook():
        return _page_of(arrays, metadata, **options)
    if not _has_display():
        raise Error("show: expected a notebook or a display, found neither: seen.save(\"run.safetensors\") keeps it for "
                    "headlight run.safetensors elsewhere")
    folder = tempfile.mkdtemp(prefix="headlight-")
    path = os.path.join(folder, "attention.safetensors")
    _write_safetensors(path, arrays, metadata)
    window = subprocess.Popen([program(), "open", path], stdin=subprocess.DEVNULL, start_new_session=True)
    threading.Thread(target=lambda: (window.wait(), shutil.rmtree(folder, ignore_errors=True)), daemon=True).start()
    return None


# ---- Watching a training --------------------------------------------------------------------------------------------


def log(step: int, seen: Any, folder: Union[str, Path] = "headlight-log", sentence: int = 0,
        tokens: Optional[Sequence[str]] = None) -> Path:
    """Keeps the attention of one training step as `folder/step-000100.safetensors`, and returns that path. `headlight
    FILE` opens it; `headlight diagnose A B` compares two. `seen` is what `watch` saw, or arrays as `show` takes them."""
    if step < 0:
        raise Error(f"log: expected a step of 0 or more, found {step}")
    arrays = _stacks(seen._stacks(sentence) if isinstance(seen, Seen) else seen, sentence)
    os.makedirs(folder, exist_ok=True)
    path = Path(folder) / f"step-{step:06d}.safetensors"
    _write_safetensors(path, arrays, {"step": str(step), **_token_metadata(arrays, tokens, None)})
    return path


class _Tracker:
    """Takes the place of labml's tracker in a model: `from headlight import tracker`. What `debug` is given is kept, layer
    after layer, until `save` or the next step writes it to `folder`."""

    def __init__(self) -> None:
        self.folder: Union[str, Path] = "headlight-log"
        self.step = 0
        self.every = 1
        self._layers: List[Array] = []

    def debug(self, name: str, value: Any) -> None:
        """Attention of one layer: (i, j, b, h) as that tutorial has it, or (b, h, i, j); told apart by which axis sums
        to 1. Everything else than weights is left alone."""
        if self.step % self.every:
            return
        array = _numpy(value)
        if array.ndim != 4 or array.dtype.kind != "f":
            return
        ones = [axis for axis in (3, 1) if np.allclose(array.sum(axis), 1, atol=1e-2)]
        if ones:
            self._layers.append(array[0] if ones[0] == 3 else array[:, :, 0].transpose(2, 0, 1))

    def add(self, *_: Any, **__: Any) -> None:
        """Scalars are not attention."""

    def set_global_step(self, step: int) -> None:
        """From here on it is this step; what was seen of the one before is written."""
        self._write()
        self.step = int(step)

    def add_global_step(self, increment: int = 1) -> None:
        self.set_global_step(self.step + increment)

    def save(self, *arguments: Any, **_: Any) -> None:
        """Writes what was seen; a number first is the step."""
        if arguments and isinstance(arguments[0], int):
            self.step = arguments[0]
        self._write()

    def _write(self) -> None:
        layers, self._layers = self._layers, []
        if layers:
            same = [layer for layer in layers if layer.shape == layers[0].shape]
            log(self.step, {"attentions": np.stack(same)}, self.folder)


tracker = _Tracker()
