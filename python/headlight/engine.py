"""The program `headlight`: found, run, its answers as arrays, dicts and streams; and the files it reads arrays from."""
from __future__ import annotations

import collections
import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator as _Iterator
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

Array = np.ndarray
_AHEAD = 1024      # sentences that are read before their answers are taken
_PIPE = 1 << 20    # bytes of answers that the program may be ahead: it computes while the last ones are read here
_DTYPES = {"float32": "F32", "bool": "BOOL", "int64": "I64", "int32": "I32", "uint8": "U8", "float16": "F16"}
STACKS = ("encoder_attentions", "decoder_attentions", "cross_attentions")
_ROLES = {"query": {"q", "query", "queries", "wq", "toq", "qs"}, "key": {"k", "key", "keys", "wk", "tok", "ks"},
          "value": {"v", "value", "values", "wv", "tov", "vs"},
          "output": {"o", "out", "output", "outputs", "wo", "toout", "proj"}}


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
        return dict(arrays)


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
heads = _json_command("heads", """The measures of every head: `{"heads": [{"stack": …, "layer": …, "head": …, …}, …]}`.""")


@contextlib.contextmanager
def written_whole(path: Union[str, Path]) -> Iterator[Any]:
    """A binary file beside `path` that takes its place when it is whole."""
    beside = f"{path}.{os.getpid()}-{threading.get_ident()}"
    with open(beside, "xb") as file:
        try:
            yield file
            file.close()
            os.replace(beside, path)
        except BaseException:
            os.unlink(beside)
            raise


def write_safetensors(path: Union[str, Path], arrays: Mapping[str, Array], metadata: Mapping[str, str]) -> None:
    """The format of huggingface/safetensors: a length, a JSON header, the bytes."""
    header: Dict[str, Any] = {"__metadata__": dict(metadata)}
    at, blocks = 0, []
    for name, array in arrays.items():
        data = np.ascontiguousarray(array if array.dtype.name in _DTYPES else array.astype(np.float32))
        header[name] = {"dtype": _DTYPES[data.dtype.name], "shape": list(data.shape),
                        "data_offsets": [at, at + data.nbytes]}
        at += data.nbytes
        blocks.append(data)
    text = json.dumps(header, ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    with written_whole(path) as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for block in blocks:
            file.write(block.tobytes())


def save_arrays(path: Union[str, Path], arrays: Mapping[str, Array], metadata: Mapping[str, str]) -> None:
    """.safetensors, or .npz, which has no metadata."""
    if not str(path).endswith((".npz", ".safetensors")):
        raise Error(f"save: expected a name that ends in .safetensors or .npz, found '{path}'")
    if str(path).endswith(".safetensors"):
        return write_safetensors(path, arrays, metadata)
    with written_whole(path) as file:
        return np.savez(file, **arrays)


def layers_of(attentions: Any, sentence: int, what: str = "attentions") -> Array:
    """(layers, heads, T, S) of whatever a program holds: a list of layers, or an array with 2 to 5 axes."""
    if isinstance(attentions, (list, tuple)):
        if not attentions:
            raise Error(f"{what}: expected a layer or more, found none (was output_attentions=True asked for?)")
        if any(layer is None for layer in attentions):
            raise Error(f"{what}: expected arrays, found None: fused kernels return no weights; "
                        "use headlight.watch(), or attn_implementation='eager'")
        layers = [as_numpy(layer) for layer in attentions]
        for layer in layers:
            if not 2 <= layer.ndim <= 4:
                raise Error(f"{what}: expected (heads, T, S) or (batch, heads, T, S), found {layer.shape}")
            if layer.ndim == 4 and not 0 <= sentence < len(layer):
                raise Error(f"{what}: expected a sentence below {len(layer)}, found {sentence}")
        layers = [layer[sentence] if layer.ndim == 4 else layer.reshape(-1, *layer.shape[-2:]) for layer in layers]
        if len({layer.shape for layer in layers}) > 1:
            raise Error(f"{what}: expected layers of one shape, found {layers[0].shape} and "
                        f"{[layer.shape for layer in layers if layer.shape != layers[0].shape][0]}")
        return np.stack(layers).astype(np.float32)
    array = as_numpy(attentions)
    array = array[:, sentence] if array.ndim == 5 else array
    if not 2 <= array.ndim <= 4:
        raise Error(f"{what}: expected (layers, heads, T, S), found {array.shape}")
    return array.reshape((1,) * (4 - array.ndim) + array.shape).astype(np.float32)


def stacks_of(attentions: Any, sentence: int) -> Dict[str, Array]:
    """The arrays of a tensors file: `attentions`, or those of an encoder, a decoder and their cross-attention."""
    get = attentions.get if isinstance(attentions, Mapping) else lambda name: getattr(attentions, name, None)
    if isinstance(attentions, (list, tuple)) and len(attentions) == 3 and \
            all(isinstance(stack, (list, tuple)) for stack in attentions):
        return {name: layers_of(stack, sentence, name) for name, stack in zip(STACKS, attentions)}
    if not isinstance(attentions, (list, tuple, np.ndarray)) and not is_tensor(attentions):
        found = {name: get(name) for name in (*STACKS, "attentions") if get(name) is not None}
        found.pop("attentions" if len(found) > 1 else "", None)
        found = found or {"attentions": patterns for patterns in [_patterns_of_cache(attentions)] if patterns}
        if found:
            return {name: layers_of(stack, sentence, name) for name, stack in found.items()}
        raise Error("attentions: expected arrays, a model's output with attentions, or a cache with patterns, "
                    f"found {type(attentions).__name__}")
    return {"attentions": layers_of(attentions, sentence)}


def _patterns_of_cache(cache: Any) -> List[Any]:
    """What TransformerLens keeps as `blocks.L.attn.hook_pattern` (`cache["pattern", L]`), by layer."""
    names = list(cache.keys()) if hasattr(cache, "keys") else []
    hooks = {int(found.group(1)): name for name in names
             for found in [re.fullmatch(r"blocks\.(\d+)\.attn\.hook_pattern", str(name))] if found}
    pairs = {name[1]: name for name in names if isinstance(name, tuple) and name[:1] == ("pattern",)}
    return [cache[name] for _, name in sorted((hooks or pairs).items())]


def token_metadata(arrays: Mapping[str, Array], tokens: Any, target_tokens: Any) -> Dict[str, str]:
    """The metadata that names rows and columns. Errors: Error where the counts do not fit."""
    cross = "cross_attentions" in arrays
    shape = (arrays["cross_attentions"] if cross else list(arrays.values())[0]).shape
    metadata = {}
    for name, words, size in (("tokens", tokens, shape[3]), ("target_tokens", target_tokens, shape[2])):
        if words is not None:
            if len(words) != size:
                raise Error(f"{name}: expected {size} words, found {len(words)}")
            metadata[name] = json.dumps([str(word) for word in words], ensure_ascii=False)
    if cross or "tokens" not in metadata or shape[2] == shape[3]:
        return metadata
    return {{"tokens": "key_tokens", "target_tokens": "tokens"}[name]: words for name, words in metadata.items()}


def role_of(name: str) -> Optional[str]:
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


def projections(state_dict: Mapping[str, Any]) -> Dict[str, Array]:
    """`q_proj.weight` … (out, in) of any state_dict of one attention layer, torch's packed one included."""
    arrays: Dict[str, Array] = {}
    names = {"query": "q_proj", "key": "k_proj", "value": "v_proj", "output": "out_proj"}

    def put(name: str, value: Array) -> None:
        if name in arrays:
            raise Error(f"state_dict: expected one layer of attention, found {name} twice (prefix= chooses one)")
        arrays[name] = value.astype(np.float32)

    for name, value in state_dict.items():
        kind = "bias" if name.endswith("bias") else "weight"
        last = name.replace("_weight", ".weight").replace("_bias", ".bias").split(".")
        array = as_numpy(value)
        array = array.T if kind == "weight" and {"c_attn", "c_proj"} & set(last) else array     # Conv1D keeps (in, out)
        role = "output" if "c_proj" in last else role_of(".".join(part for part in last if part not in ("weight", "bias")))
        if {"in_proj", "c_attn", "qkv", "qkv_proj", "query_key_value", "Wqkv"} & set(last):
            if array.shape[0] % 3:
                raise Error(f"{name}: expected rows of query, key and value, found {array.shape}")
            for one, part in zip(("query", "key", "value"), np.split(array, 3)):
                put(f"{names[one]}.{kind}", part)
        elif role:
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
    given = {"key": key, "value": value, "mask": mask}
    arrays = {"query": as_numpy(x).astype(np.float32), **projections(own),
              **{name: as_numpy(array) for name, array in given.items() if array is not None}}
    return answer_to(arrays, num_heads, with_="qkv,scores")


@contextlib.contextmanager
def tensors_file(arrays: Mapping[str, Array], metadata: Mapping[str, str]) -> Iterator[str]:
    """The path of a file that is there for a while."""
    with tempfile.TemporaryDirectory(prefix="headlight-") as folder:
        path = os.path.join(folder, "attention.safetensors")
        write_safetensors(path, arrays, metadata)
        yield path


def answer_to(arrays: Mapping[str, Array], num_heads: int, **options: Any) -> Dict[str, Array]:
    """The arrays of `headlight export` of a tensors file with these inputs."""
    with tensors_file(arrays, {"num_heads": str(num_heads)}) as path:
        return export(source=path, **options)


def side_by_side(of_heads: Array) -> Array:
    """(heads, T, d) as (T, heads · d)."""
    return np.ascontiguousarray(of_heads.transpose(1, 0, 2).reshape(of_heads.shape[1], -1)).astype(np.float32)


def lines(sentences: Iterable[str], source: Optional[str] = None, **options: Any) -> "Lines":
    """Answers to a stream of sentences, in order: each the object that `headlight export --lines` writes.

    One program answers all of them, each as soon as it is there: the next sentence may depend on the last answer. A
    sentence that cannot be answered gives `{"error": …, "text": …}` in its place. At most 1,024 sentences are read ahead.
    `options` as in `export`; `jobs=0` uses all processors."""
    return Lines(_lines(sentences, source, options))


class Lines(_Iterator):
    """An iterator over answers. Sent to another process it is the list of those that are left."""

    def __init__(self, answers: Any) -> None:
        self._answers = answers
        self.close = answers.close      # ends the program's work

    def __next__(self) -> Dict[str, Any]:
        return self._answers.__next__()

    def __reduce__(self) -> Tuple[Any, ...]:
        return list, (list(self),)


def _line_of(text: Any) -> Union[bytes, str]:
    """A line for the program, or what is wrong with it."""
    if not isinstance(text, str) or not text.strip() or re.search(r"[\n\r\x00]", text):
        return f"text: expected one line that is not empty, found {text!r}"
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError as error:
        return f"text: expected Unicode, found {error.object[error.start:error.end]!r}"


class _LinesProgram:
    """`headlight export --lines`, started anew where it ends before its input does."""

    def __init__(self, command: Sequence[str], folder: str) -> None:
        self._command, self._errors = command, os.path.join(folder, "errors")
        self.writing = threading.Lock()     # what is asked again goes before what is new
        self._start()

    def _start(self) -> None:
        with open(self._errors, "wb") as errors:
            self._process: Any = subprocess.Popen(self._command, bufsize=_PIPE, stdin=subprocess.PIPE,
                                                  stdout=subprocess.PIPE, stderr=errors)
        try:
            import fcntl
            fcntl.fcntl(self._process.stdout, 1031, _PIPE)      # F_SETPIPE_SZ of Linux: a larger pipe
        except (ImportError, OSError):
            pass

    def write(self, lines: Sequence[bytes], last: bool = False) -> None:
        """By the holder of `writing`. Where the program has ended, its reader will find out."""
        try:
            for line in lines:
                self._process.stdin.write(line)
                self._process.stdin.flush()
            if last:
                self._process.stdin.close()
        except (BrokenPipeError, ValueError):
            pass

    def answer(self) -> bytes:
        """The next line of output; what is not whole, or missing, is b""."""
        line = self._process.stdout.readline()
        return line if line.endswith(b"\n") else b""

    def why_it_ended(self) -> str:
        self.stop()
        return first_line(Path(self._errors).read_text(encoding="utf-8", errors="replace")) or \
            f"headlight export: expected an answer, found the end (status {self._process.returncode})"

    def again(self, unanswered: Callable[[], Sequence[bytes]], ended: Callable[[], bool]) -> None:
        """A new program, asked in the background what the last one did not answer."""
        self.writing.acquire()
        self._start()
        lines = unanswered()

        def ask() -> None:
            try:
                self.write(lines, ended())
            finally:
                self.writing.release()
        threading.Thread(target=ask, daemon=True).start()

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()


def _lines(sentences: Iterable[str], source: Optional[str], options: Mapping[str, Any]) -> Iterator[Dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="headlight-") as folder:
        words = ([] if source is None else [str(source)]) + words_of_options(options, folder)
        asked: "collections.deque[Tuple[Any, Any]]" = collections.deque()     # texts not answered yet, in order, with a line
        state = {"ended": False, "stopped": False}                            # for the program, an error, or an exception
        changed = threading.Condition()

        def mark(what: str) -> None:
            with changed:
                state[what] = True
                changed.notify_all()
        engine = _LinesProgram([program(), "export", *words, "--text", "-", "--lines"], folder)

        def ask(text: Any, line: Union[bytes, str, BaseException]) -> bool:
            with changed:
                changed.wait_for(lambda: len(asked) < _AHEAD or state["stopped"])
            with engine.writing:
                with changed:
                    if state["stopped"]:
                        return False
                    asked.append((text, line))
                    changed.notify_all()
                engine.write([line] if isinstance(line, bytes) else [])
            return True

        def feed() -> None:
            try:
                for text in sentences:
                    if not ask(text, _line_of(text)):
                        return
            except BaseException as error:      # of the caller's stream: raised where its answer would be
                ask(None, error)
            with engine.writing:
                mark("ended")
                engine.write([], last=True)

        threading.Thread(target=feed, daemon=True).start()
        try:
            while True:
                with changed:
                    changed.wait_for(lambda: asked or state["ended"])
                    if not asked:
                        return
                    text, line = asked[0]
                if isinstance(line, BaseException):
                    raise line
                answer = engine.answer() if isinstance(line, bytes) else b""
                with changed:
                    asked.popleft()
                    changed.notify_all()
                if answer:
                    yield json.loads(answer)
                    continue
                error = engine.why_it_ended() if isinstance(line, bytes) else line
                if isinstance(line, bytes):
                    engine.again(lambda: [one for _, one in list(asked) if isinstance(one, bytes)], lambda: state["ended"])
                yield {"error": error, "text": text}
        finally:
            mark("stopped")
            engine.stop()
