"""Hints of the module `headlight`, made by tests/python/stubs.py."""
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Optional, Union

import numpy as np

Array = np.ndarray[Any, Any]

__version__: str
__all__ = ['Answer', 'Error', 'Keep', 'Loaded', 'Mistake', 'Model', 'Page', 'Report', 'Seen', 'attention', 'check', 'claims',
'explain', 'export', 'figure', 'generate', 'heads', 'lens', 'lines', 'log', 'next', 'page', 'patch', 'program',
'save', 'show', 'study', 'tracker', 'watch', 'why', 'widget']


class Answer:
    """The arrays of one question by the names of `headlight export`: `answer["attentions"]` or `answer.attentions`
    (layers, heads, T, S), `q`, `k`, `v` (layers, heads, T, d_k), `scores`, `hidden_states`, `logits`, any other of its
    `--with`: `answer["ffn.hidden"]`; of several sentences `answer["1.logits"]`. float32, read-only. With `reduce=` the
    attentions are maps that sum up others, `answer["attentions"]` of "mean:heads" (layers, 1, T, S)."""
    def __init__(self, model: Loaded, owned: Optional[Any], text: Any, options: Mapping[str, Any], reduce: Optional[str] = None) -> None:
        ...
    def __len__(self) -> int:
        ...
    def __iter__(self) -> Iterator[str]:
        ...
    def __getitem__(self, name: str) -> Array:
        ...
    def __getattr__(self, name: str) -> Array:
        ...
    def keys(self) -> list[str]:
        """The names that `export --with qkv,scores` has."""
    @property
    def tokens(self) -> list[str]:
        """Those of the (first) sentence; of an encoder-decoder those of the source."""
    @property
    def warnings(self) -> list[str]:
        """Lines about the model and the question; a process prints them."""
    @property
    def attentions(self) -> Array:
        """(L, H, T, S), float32: the weights, rows sum to 1"""
    @property
    def scores(self) -> Array:
        """(L, H, T, S): before the softmax"""
    @property
    def q(self) -> Array:
        """(L, H, T, d_k)"""
    @property
    def k(self) -> Array:
        """(L, H, S, d_k)"""
    @property
    def v(self) -> Array:
        """(L, H, S, d_k)"""
    @property
    def hidden_states(self) -> Array:
        """(L + 1, T, d_model): the embeddings, then each block's output"""
    @property
    def last_hidden_state(self) -> Array:
        """(T, d_model): after the final norm"""
    @property
    def logits(self) -> Array:
        """(T, words)"""


class Error(Exception):
    """Bad input, or no program: one line says what was expected and what was found. `code`: its kind, as the program
    has it (docs/formats.md)."""
    code: str
    def __init__(self, line: str = '', code: str = 'bad_value') -> None:
        ...


class Keep(NamedTuple):
    """What `watch` keeps. Of a call: queries, keys and values, and of its weights at most 2²⁰ numbers a sentence."""
    calls: int = ...
    layers: Sequence[int] | None = ...
    sentences: int = ...
    memory: int = ...
    every: int = ...


class Loaded:
    """An open model: `model("the cat sat", mask="causal", off=["3.1"])` is an `Answer`. `source`: as of `headlight`, or
    None: the shipped model that knows the words. Any number of threads may ask at once. Without the library each
    question is a process, and `generate` and `patch` are those of the module alone."""
    def __init__(self, source: Any = None, threads: int = 0) -> None:
        ...
    def __call__(self, text: Any = None, reduce: Optional[str] = None, **options: Any) -> Answer:
        """`options` are those of the text, the masks and the edits of the command line, `_` for `-`; `reduce` sums up
        attentions as `export --reduce` does: "mean:heads"."""
    def generate(self, text: Any, count: int = 10, temperature: float = 0, seed: int = 0) -> Iterator[Any]:
        """(word, Answer): each next word of a decoder, and the answer that ends with it."""
    def sweep(self, text: Any, metric: Callable[[Answer], float], heads: Any = None, **options: Any) -> Array:
        """`metric(answer)` with one head after another off: of `heads` ("3.1", (3, 1), …), else (layers, heads)."""
    def patch(self, clean: Any, corrupt: Any, metric: Callable[[Array], float], at: str = 'heads') -> Array:
        """`metric(logits (T, words))` of `corrupt` with one part of `clean` after another put in; texts or answers."""


class Mistake(NamedTuple):
    """One mistake: what, and where in the caller's code; indices of calls, and a name for programs: scale_missing."""
    text: str
    file: str | None = ...
    line: int | None = ...
    calls: tuple[int, ...] = ...
    code: str = ...


class Model:
    """A live model as it is now, a `source` while this object is there: what `save_pretrained` writes, else its config
    and state_dict; of the tokenizer likewise, or the path of a tokenizer.json. Without it only `ids=` can be asked."""
    def __init__(self, model: Any, tokenizer: Any = None) -> None:
        ...
    def show(self) -> None:
        ...
    def __exit__(self, *_: Any) -> None:
        ...


class Page:
    """A page that still computes: `html`, `save(path)`; in a notebook it shows itself, shut off from the notebook."""
    def __init__(self, html: str) -> None:
        ...
    def save(self, path: str | Path) -> None:
        """Written beside and renamed."""


class Report:
    """What `check` found, also as text: `ok`, `mistakes`, `unchecked` (taken as given, not judged, not followed)."""
    def __init__(self, captured: Sequence[Any], language: str, notes: Sequence[Sequence[str]] = ..., expect: Mapping[str, Any] = ..., site_of: Callable[[Any], Any | None] = ..., said: Sequence[Any] = ..., compared: Sequence[Any] = ...) -> None:
        """The answer of `headlight diagnose` to calls, facts and arrays of each (capture/capture.h); what is `said`."""
    @property
    def ok(self) -> bool:
        """Whether something was judged, no mistake found, and no part of what ran taken as given or not followed."""


class Seen:
    """`watch(module=None, keep=None)` follows the attention that runs inside a `with` block, of `module` alone, in this
    thread: a sequence of `Call`; `with seen:` again goes on. Caught are the attention of torch.nn, fused attention, and
    what is written by hand: a softmax of a product of two arrays. `keep`: limits (`Keep`), or a number of calls."""
    def sequence(self) -> list[Any]:
        """The calls; heads that were computed one by one are one."""
    def __len__(self) -> int:
        ...
    def __getitem__(self, index: Any) -> Any:
        ...
    def all_notes(self) -> list[Sequence[str]]:
        """As Tracer._note has them."""
    def notes(self, language: str = 'en') -> list[str]:
        """What was not followed, a line each; nothing where all is there."""
    def attentions(self, sentence: int = 0) -> Array:
        """(layers, heads, T, S): the weights of one sentence in every call. Error where calls differ in shape."""
    def stacks(self, sentence: int) -> dict[str, Array]:
        """One stack, or those of encoder, decoder and cross-attention where a call's keys are of another sequence."""
    def save(self, path: str | Path, sentence: int = 0, tokens: Any = None, target_tokens: Any = None) -> None:
        """A tensors file (.safetensors or .npz): weights of one sentence of every call; queries, keys and values."""
    def show(self, sentence: int = 0, tokens: Any = None, target_tokens: Any = None) -> Any:
        """In a notebook the page, inline; elsewhere the window."""
    def check(self, mask: Any = None, expect: Any = None, language: str = 'en') -> Report:
        """Every call against softmax(q·kᵀ/√d_k + mask)·v, computed by the program. What was meant where the code cannot
        show it: `mask`, which cells may be attended to (T, S) or (sentences, T, S); `expect`, a config as a dict, an
        object of Hugging Face or the path of a config.json, by default of the watched module. `language`: en or zh."""
    def __init__(self, module: Any = None, keep: int | Keep | None = None) -> None:
        ...
    def __enter__(self) -> Any:
        ...
    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        """What belongs to the running code is let go; calls that met no values stay where their shape fits."""


def attention(x: Any, *, num_heads: int, state_dict: Mapping[str, Any], key: Any = None, value: Any = None, mask: Any = None, prefix: str = '') -> dict[str, Array]:
    """What attention of x (T, d_model) gives: `attentions`, `queries`, … (1, heads, T, …), `output` (T, d_model).
    `key`, `value` (S, …), by default x; `mask` ([heads,] T, S), true = may attend, or added; `prefix` picks a layer."""


def check(*, query: Any, key: Any = None, value: Any = None, weights: Any = None, output: Any = None, mask: Any = None, num_heads: int | None = None, state_dict: Mapping[str, Any] | None = None, tolerance: float | None = None, language: str = 'en') -> Report:
    """Is this attention right? For code without torch: hand over what went in and what came out.
    `query`, `key`, `value`: (T, d_model) before projection where `state_dict` has it; without it projected, (T, d_k),
    (heads, T, d_k), or (T, heads · d_k) with `num_heads`. `weights` (heads, T, S) or (T, S), `output` (T, …):
    what the caller's code gave. `mask` (T, S): true = may attend, or added. `tolerance`: that of `headlight diagnose`;
    None: as the least precise array has it, 2e-5 of float32, 4e-3 of float16, 3e-2 of bfloat16."""


def claims(text: Any = ..., source: Any = None, **options: Any) -> dict[str, Any]:
    """What the window says of a sentence, as `headlight claims` has it."""


def explain(text: Any = ..., source: Any = None, **options: Any) -> dict[str, Any]:
    """Every number behind one weight, of layer=, head=, query=, key=, as steps."""


def export(text: Any = ..., source: Any = None, **options: Any) -> dict[str, Array]:
    """The arrays of `headlight export`, by name. `source`: a folder, file or name, or what
    `open` returned; None: the shipped model. `options`: of the command line, `_` for `-`: `with_="qkv"`."""


def figure(text: Any = ..., source: Any = None, *, output: str | Path, **options: Any) -> Any:
    """Writes `output` (.svg, .pdf or .png) as `headlight figure` does; `text`: or arrays as `show` takes them."""


def generate(text: Any = ..., source: Any = None, **options: Any) -> dict[str, Any]:
    """The words that a decoder goes on with, as `headlight generate` has them."""


def heads(text: Any = ..., source: Any = None, **options: Any) -> dict[str, Any]:
    """The measures of every head: `{"heads": [{"stack": …, "layer": …, "head": …, …}, …]}`."""


def lens(text: Any = ..., source: Any = None, **options: Any) -> dict[str, Array]:
    """The next word after each layer, as `headlight lens` has it."""


class lines:
    """Answers to a stream of sentences, in order, each as soon as it is there, as `headlight export --lines` has them
    or `{"error": …, "code": …, "text": …}`. At most 1,024 sentences are read ahead; `jobs=0` uses all processors."""
    def __init__(self, sentences: Iterable[str], source: str | None = None, **options: Any) -> None:
        ...
    def __next__(self) -> dict[str, Any]:
        ...


def log(step: int, seen: Any, folder: str | Path = 'headlight-log', sentence: int = 0, tokens: Any = None) -> Path:
    """Keeps attention of a training step, what `watch` saw or `show` takes, as `folder/step-000100.safetensors`."""


def next(text: Any = ..., source: Any = None, **options: Any) -> dict[str, Any]:
    """The probabilities of the next (or hidden) word, as `headlight next` has them."""


def page(text: Any = ..., source: Any = None, **options: Any) -> Page:
    """The page that `headlight page` makes of a text, or of arrays as `show` takes them; `options` are its own."""


def patch(text: Any = ..., source: Any = None, **options: Any) -> dict[str, Array]:
    """What each part of the model restores: `from_="--text '…'", at="heads"`."""


def program() -> str:
    """The path of the program: the variable HEADLIGHT, else beside this module or where pip puts it, else in PATH."""


def save(arrays: Any, path: str | Path, tokens: Any = None, target_tokens: Any = None, **options: Any) -> None:
    """Writes arrays as `show` takes them to `path` (.safetensors, .npz, .json or .csv), for `headlight PATH`."""


def show(attentions: Any, tokens: Any = None, target_tokens: Any = None, sentence: int | None = None, **options: Any) -> Page | None:
    """Shows attention that a program holds, in any of the forms of docs/arrays.md: in a notebook the page, inline;
    elsewhere the window. `tokens` name the keys' side, `target_tokens` the queries' where it is another one; a list of
    lists names each sentence's. `sentence`, `step`, `axes="batch,heads,T,S"`, `array`: which part is meant; further
    `options` as of `headlight page`. In a notebook weights that are too many for a page are a picture of all heads,
    those of `only=` a page; so are the strongest heads, which are colours. Without a display: Error."""


def study(path: str | Path, **options: Any) -> dict[str, Array]:
    """What the rows of a study have in common, without its model: the names of the places (`layer`, `head`, …),
    `summary` (places, `statistics`), `n`, and `values` (places, pairs) of `rows` of the file of pairs."""


tracker: Any


watch = Seen


def why(text: Any = ..., source: Any = None, **options: Any) -> dict[str, Array]:
    """The terms that a score of attention is a sum of, as `headlight why` has them."""


def widget(text: Any = ..., source: Any = None, **options: Any) -> Any:
    """The page as a widget of a notebook: of an `Answer`, or of what `page` takes. Its traits are what is looked at, as
    the reader or Python sets them: `head` ("1.4"), `query` and `key` (of the pinned cell, or None), `mask` ("none",
    "causal", "padding", "causal+padding", "file"), `off` (["0.3"]); `error`: why the page did not take the last."""
