"""The program `headlight`: found, run, and its answers as arrays, dicts and streams."""
from __future__ import annotations

import collections
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


_AHEAD = 1024      # sentences that are read before their answers are taken
_PIPE = 1 << 20    # bytes of answers that the program may be ahead: it computes while the last ones are read here


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
                with changed:
                    state["ended"] = True
                    changed.notify_all()
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
            with changed:
                state["stopped"] = True
                changed.notify_all()
            engine.stop()
