"""Answers to a stream of sentences, by one program."""
from __future__ import annotations

import collections
import json
import os
import re
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, Iterator, Mapping, NamedTuple, Optional, Sequence, Tuple

from .engine import first_line, program, words_of_options


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
        return next(self._answers)

    def __reduce__(self) -> Tuple[Any, ...]:
        return list, (list(self),)

    def close(self) -> None:
        """Ends the program's work."""
        self._answers.close()  # type: ignore[attr-defined]


_AHEAD = 1024      # sentences that are read before their answers are taken
_PIPE = 1 << 20    # bytes of answers that the program may be ahead: it computes while the last ones are read here


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
            except BaseException as error:      # of the caller's stream: raised where its answer would be
                ask(_Sentence(None, raised=error))
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
