"""The engine in this process: `libheadlight.so` (app/library/headlight.h) by ctypes. Where it is not there, or the
variable HEADLIGHT_LIBRARY is empty, the program answers the same, a process a call."""
from __future__ import annotations

import contextlib
import ctypes
import functools
import json
import operator
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Optional

import numpy as np

from .engine import (LISTS, Array, Error, Folder, Model, _answer, export, first_line, head_names, plain_options,
                     program, refused, require, sentences_in, words_of_options)

_TEXT, _HANDLE, _SIZE = ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t
_METRIC = ctypes.CFUNCTYPE(ctypes.c_double, _HANDLE, ctypes.POINTER(ctypes.c_float), ctypes.c_int64, ctypes.c_int64)
_GOES_ON = ctypes.CFUNCTYPE(ctypes.c_int, _HANDLE)
_RETURNS = {_HANDLE: ("open", "ask", "step"), _SIZE: ("num_warnings", "num_arrays"),      # as headlight.h has it
            _TEXT: ("word", "tokens", "warning", "array_name"), None: ("close", "release", "set_threads")}
_SHORT = {"q": "queries", "k": "keys", "v": "values"}


def _struct(*fields: Any) -> Any:
    return type("Struct", (ctypes.Structure,), {"_fields_": fields})


_Error = _struct(("code", ctypes.c_char * 32), ("line", ctypes.c_char * 4000))
_Watch = _struct(("goes_on", _GOES_ON), ("context", _HANDLE))
_View = _struct(("numbers", _HANDLE), ("axes", ctypes.c_int32), ("shape", ctypes.c_int64 * 8))


def _places() -> Iterator[Path]:
    """Where the library may lie: in this folder, beside the program as it is built, or as it is installed."""
    yield Path(__file__).parent
    with contextlib.suppress(Error):
        folder = Path(program()).resolve().parent
        yield from (folder, folder.parent / "lib" / "headlight", folder.parent / "lib",
                    folder.parent / "lib" / getattr(sys.implementation, "_multiarch", "lib"))


@functools.lru_cache(None)
def _load(named: Optional[str]) -> Any:
    places = [place / "libheadlight.so.1" for place in _places()] if named is None else [Path(named)] if named else []
    found = next(filter(os.path.isfile, places), None)
    require(found or not named, "HEADLIGHT_LIBRARY", "the path of libheadlight.so", f"'{named}'")
    if not found:
        return None
    with refused(str(found)):
        try:
            loaded = ctypes.CDLL(str(found))
            for returns, names in _RETURNS.items():
                for name in names:
                    getattr(loaded, "headlight_" + name).restype = returns
        except (OSError, AttributeError):      # of another system, or an earlier one without this interface
            if named:
                raise
            return None
    return loaded


def library() -> Any:
    """The library that HEADLIGHT_LIBRARY names, else in this folder or beside the program. None: there is none."""
    return _load(os.environ.get("HEADLIGHT_LIBRARY"))


_running: set[object] = set()      # calls that a thread is in
_torn: list[int] = []      # of a process that was forked meanwhile: how many


def _inside(function: Any, *arguments: Any) -> Any:
    """What a function of the library returns. What another thread held while this process was forked stays locked."""
    require(not _torn, "fork", "no thread inside a call while a process is forked", f"{sum(_torn)}")
    call = object()
    _running.add(call)
    try:
        return function(*arguments)
    finally:
        _running.discard(call)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _running and _torn.append(len(_running)))


def _encoded(text: str) -> bytes:
    """For C, where a text ends with its first NUL."""
    with refused("text"):
        require("\0" not in text, "text", "no character U+0000", "one")
        return text.encode()


def _whole(what: str, value: Any, least: int, most: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    require(least <= number <= most, what, f"a whole number, {least} to {most}", repr(value))
    return number


def _measured(metric: Callable[[Any], float], of: Any) -> float:
    value = metric(of)      # what it raises is the caller's
    try:
        return float(value)
    except (TypeError, ValueError, RuntimeError):
        raise Error(f"metric: expected a number, found {first_line(repr(value))[:64]}") from None


class _Owned:
    """A handle, freed with the last array that needs it, and the library that it is of."""

    def __init__(self, loaded: Any, pointer: int, free: Any) -> None:
        self.loaded, self.pointer, self._free = loaded, _HANDLE(pointer), free

    def __del__(self) -> None:
        self._free(self.pointer)

    def get(self, name: str, *arguments: Any) -> Any:
        """What a function that cannot fail lends of it."""
        return _inside(getattr(self.loaded, "headlight_" + name), self.pointer, *arguments)


def _goes_on(interrupts: list[BaseException]) -> Iterator[int]:
    """1 until Ctrl C, which Python raises where a generator goes on: within the try."""
    while True:
        try:
            yield 0 if interrupts else 1
        except GeneratorExit:
            return
        except BaseException as error:
            interrupts.append(error)


def _call(loaded: Any, name: str, *arguments: Any, watched: bool = True, raised: Any = None) -> Any:
    """What a function of the library returns, a handle as an `_Owned`. Errors: Error; Ctrl C ends it, and what the
    caller puts into `raised`."""
    error, interrupts, watch = _Error(), [] if raised is None else raised, None
    if watched and (raised is not None or threading.current_thread() is threading.main_thread()):
        watching = _goes_on(interrupts)
        next(watching)
        callback = _GOES_ON(watching.send)
        watch = ctypes.byref(_Watch(callback, None))
    found = _inside(getattr(loaded, "headlight_" + name), *arguments, *[watch] * watched, ctypes.byref(error))
    if name in _RETURNS[_HANDLE] and found:
        found = _Owned(loaded, found, loaded.headlight_close if name == "open" else loaded.headlight_release)
    if interrupts:
        raise interrupts[0]
    if error.code:
        raise Error(error.line.decode(), error.code.decode())
    return found


class Answer:
    """The arrays of one question by the names of `headlight export`: `answer["attentions"]` or `answer.attentions`
    (layers, heads, T, S), `q`, `k`, `v` (layers, heads, T, d_k), `scores`, `hidden_states`, `logits`, any other of its
    `--with`: `answer["ffn.hidden"]`; of several sentences `answer["1.logits"]`. float32, read-only. With `reduce=` the
    attentions are maps that sum up others, `answer["attentions"]` of "mean:heads" (layers, 1, T, S)."""

    def __init__(self, model: Loaded, owned: Optional[_Owned], text: Any, options: Mapping[str, Any],
                 reduce: Optional[str] = None) -> None:
        self._model, self._owned, self._text, self._options, self._reduce = model, owned, text, options, reduce
        self._arrays: dict[str, Array] = {} if owned else export(text, model.source, with_="qkv,scores", **options)
        if reduce and not owned:
            reduced = export(text, model.source, reduce=reduce, **options)
            self._arrays.update((name, array) for name, array in reduced.items() if array.dtype.kind == "f")

    def __reduce__(self) -> tuple[Any, ...]:
        """Copied or in another process it is asked again: the same bytes."""
        return _again, (self._model, self._text, self._reduce, dict(self._options))

    def __repr__(self) -> str:
        return f"<Answer of {self._model!r}: {', '.join(self.keys())}>"

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *_SHORT, *self.keys()]

    def __len__(self) -> int:
        return len(self.keys())

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __contains__(self, name: object) -> bool:
        with contextlib.suppress(KeyError):
            return name in self.keys() or self[name] is not None      # type: ignore[index]
        return False

    def __getitem__(self, name: str) -> Array:
        if not isinstance(name, str):
            raise KeyError(f"answer: expected the name of an array, found {name!r}")
        if name not in self._arrays:
            try:
                plain = re.sub(r"^(\d+\.)?((encoder|decoder|cross)_)?", "", name)
                self._arrays[name] = self._lent(name) if self._owned else export(
                    self._text, self._model.source, with_=plain, **self._options)[name]
            except Error as error:
                raise KeyError(str(error)) from None
        return self._arrays[name]

    def _lent(self, name: str) -> Array:
        if self._reduce:
            name = re.sub("attentions$", self._reduce, name)
        view = _View()
        _call(self._owned.loaded, "array", self._owned.pointer, _encoded(name), ctypes.byref(view), watched=False)
        shape = tuple(view.shape[:view.axes])
        memory = (ctypes.c_float * int(np.prod(shape))).from_address(view.numbers)
        memory.owned = self._owned
        array = np.frombuffer(memory, np.float32).reshape(shape)
        array.flags.writeable = False
        return array

    def __getattr__(self, name: str) -> Array:
        try:
            if not name.startswith("_"):
                return self[_SHORT.get(name, name)]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None
        raise AttributeError(name)

    def keys(self) -> list[str]:
        """The names that `export --with qkv,scores` has."""
        return self._texts("array_name", "num_arrays") if self._owned else list(self._arrays)

    @property
    @refused("tokens")
    def tokens(self) -> list[str]:
        """Those of the (first) sentence; of an encoder-decoder those of the source."""
        if self._owned:
            told = json.loads(self._owned.get("tokens", _SIZE(0), b"tokens"))
        else:
            found = _answer("tokenize", self._text, self._model.source, self._options, "--format", "json")
            told = json.loads(found.splitlines()[0])["tokens"]
        return [one["text"] for one in told]

    @property
    def warnings(self) -> list[str]:
        """Lines about the model and the question; a process prints them."""
        return self._texts("warning", "num_warnings") if self._owned else []

    def _texts(self, name: str, number: str) -> list[str]:
        return [self._owned.get(name, _SIZE(i)).decode() for i in range(self._owned.get(number))]


def _again(model: Loaded, text: Any, reduce: Optional[str], options: Mapping[str, Any]) -> Answer:
    return model(text, reduce, **options)


class Loaded:
    """An open model: `model("the cat sat", mask="causal", off=["3.1"])` is an `Answer`. `source`: as of `headlight`, or
    None: the shipped model that knows the words. Any number of threads may ask at once. Without the library each
    question is a process, and `generate` and `patch` are those of the module alone."""

    def __init__(self, source: Any = None, threads: int = 0) -> None:
        self.source = source = os.fsdecode(source) if isinstance(source, bytes) else source
        self._threads = _whole("threads", threads, 0, 2**31 - 1)
        named, loaded = None if source is None else os.fsencode(source), library()
        require(named is None or (named and b"\0" not in named), "open", "a path or a name", repr(source))
        self._owned = _call(loaded, "open", named) if loaded else None
        if self._owned:
            self._owned.get("set_threads", self._threads)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.source, self._threads)

    def __repr__(self) -> str:
        return f"<Loaded {str(self.source or 'shipped models')!r}>"

    def __call__(self, text: Any = None, reduce: Optional[str] = None, **options: Any) -> Answer:
        """`options` are those of the text, the masks and the edits of the command line, `_` for `-`; `reduce` sums up
        attentions as `export --reduce` does: "mean:heads"."""
        require(reduce is None or isinstance(reduce, str), "reduce", "a text as 'mean:heads'", repr(reduce))
        text, options = None if text is None else sentences_in(text), plain_options(options)
        if not self._owned:
            return Answer(self, None, text, options, reduce)
        plain = all(isinstance(value, (str, int, float, *LISTS)) for value in options.values())
        with contextlib.nullcontext() if plain else Folder() as folder:      # for arrays
            words = words_of_options(options, folder) + ([] if text is None else ["--text", text])
            array = (_TEXT * (len(words) + 1))(*map(_encoded, words))
            owned = _call(self._owned.loaded, "ask", self._owned.pointer, array)
        answer = Answer(self, owned, text, options, reduce)
        if reduce:      # wrong words are an Error here, not where an array is asked for
            name = next(one for one in answer.keys() if one.endswith("attentions"))
            answer._lent(re.sub(r"^\d+\.", "", name) if "sentences" in reduce else name)
        return answer

    def generate(self, text: Any, count: int = 10, temperature: float = 0, seed: int = 0) -> Iterator[Any]:
        """(word, Answer): each next word of a decoder, and the answer that ends with it."""
        answer = self(text)
        require(answer._owned, "generate", "libheadlight.so", "none (headlight.generate asks the program)")
        seed = _whole("seed", seed, 0, 2**64 - 1)
        with refused("temperature"):
            temperature = float(temperature)
        for _ in range(_whole("count", count, 0, 2**31 - 1)):
            last, drawn = answer._owned, (ctypes.c_float(temperature), ctypes.c_uint64(seed))
            owned = _call(last.loaded, "step", last.pointer, *drawn)
            ids = [token["id"] for token in json.loads(owned.get("tokens", _SIZE(0), b"tokens"))]
            answer = Answer(self, owned, None, {"ids": ids})      # what asks for the same again
            word = json.loads(answer._owned.get("word"))
            yield word["text"], answer
            if word["ends"]:
                return

    def sweep(self, text: Any, metric: Callable[[Answer], float], heads: Any = None, **options: Any) -> Array:
        """`metric(answer)` with one head after another off: of `heads` ("3.1", (3, 1), …), else (layers, heads)."""
        require(callable(metric), "metric", "a function", type(metric).__name__)
        text, options = None if text is None else sentences_in(text), plain_options(options)
        others = options.pop("off", None) or []
        shape = _heads(self(text, **options)) if heads is None else None
        every = [f"{layer}.{head}" for layer, head in np.ndindex(shape)] if shape else head_names(heads, "heads")
        values = [_measured(metric, self(text, off=[*others, head], **options)) for head in every]
        return np.array(values, float).reshape(shape or len(every))

    def patch(self, clean: Any, corrupt: Any, metric: Callable[[Array], float], at: str = "heads") -> Array:
        """`metric(logits (T, words))` of `corrupt` with one part of `clean` after another put in; texts or answers."""
        require(callable(metric), "metric", "a function", type(metric).__name__)
        first, second = (one if isinstance(one, Answer) else self(one) for one in (clean, corrupt))
        require(second._owned, "patch", "libheadlight.so", "none (headlight.patch asks the program)")
        shape = _heads(second, "keys" if at in ("k", "v") else "queries")
        values = np.zeros(shape[:1] if at in ("residual", "ffn") else shape)
        raised: list[BaseException] = []

        def of(_: Any, logits: Any, rows: int, words: int) -> float:
            try:
                return _measured(metric, np.ctypeslib.as_array(logits, (rows, words)).copy())
            except BaseException as error:
                raised.append(error)
                return 0.0
        _call(first._owned.loaded, "patch", first._owned.pointer, second._owned.pointer, _encoded(str(at)), _METRIC(of),
              None, _HANDLE(values.ctypes.data), _SIZE(values.size), raised=raised)
        return values


def _heads(answer: Answer, name: str = "queries") -> tuple[int, ...]:
    """Layers and heads of the main stack, of several sentences that of the first."""
    return answer[next(key for key in answer.keys() if re.fullmatch(rf"(0\.)?(decoder_)?{name}", key))].shape[:2]


def open(model: Any = None, tokenizer: Any = None, threads: int = 0) -> Any:
    """What is asked: of a SOURCE (a path, a name, None) a `Loaded`, of a live model of torch a `Model`."""
    named = model is None or isinstance(model, (str, bytes, os.PathLike))
    return Loaded(model, threads) if named else Model(model, tokenizer)
