"""What `watch` saw: a sequence of calls, its answers, files, pages and windows; and what is kept while a model is trained."""
from __future__ import annotations

import html as _html
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence as _Sequence
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

import numpy as np

from .arrays import STACKS, layers_of, save_arrays, stacks_of, tensors_file, token_metadata, write_safetensors, written_whole
from .calls import Attention, Call
from .engine import Array, Error, as_numpy, count_text, notebook_shell, program, run, torch_module, words_of_options
from .follow import Keep, Tracer
from .report import Report, check_seen

_MOST_PAGE = 8 << 20      # bytes of a page that a notebook still keeps gladly


class Page:
    """A page that still computes: `html`, `save(path)`; in a notebook it shows itself, shut off from the notebook."""

    def __init__(self, html: str) -> None:
        self.html = html

    def save(self, path: Union[str, Path]) -> None:
        """Written beside and renamed."""
        with written_whole(path) as file:
            file.write(self.html.encode())

    def _repr_html_(self) -> str:
        size = len(self.html.encode())
        if size > _MOST_PAGE:
            return (f"<p>headlight: a page of {size / 2**20:.0f} MB is too large for a notebook (at most "
                    f"{_MOST_PAGE >> 20} MB): show fewer layers or heads, e.g. <code>show(…, only=\"0.1,0.2\")</code>, "
                    "or <code>page.save(\"page.html\")</code>.</p>")
        return ('<iframe sandbox="allow-scripts" style="width:100%;height:640px;border:0" title="Headlight" '
                f'srcdoc="{_html.escape(self.html)}"></iframe>')


def page_of(arrays: Mapping[str, Array], metadata: Mapping[str, str], **options: Any) -> Page:
    with tensors_file(arrays, metadata) as path:
        run(["page", path, *words_of_options(options, os.path.dirname(path)), "-o", path + ".html"])
        return Page(Path(path + ".html").read_text(encoding="utf-8"))


def _arrays_of(attentions: Any, sentence: int) -> Dict[str, Array]:
    """Of what `watch` saw, or of what a library holds."""
    return stacks_of(attentions.stacks(sentence) if hasattr(attentions, "stacks") else attentions, sentence)


def show(attentions: Any, tokens: Optional[Sequence[str]] = None, target_tokens: Optional[Sequence[str]] = None,
         sentence: int = 0, **options: Any) -> Optional[Page]:
    """Shows attention that a program holds: in a notebook the page, inline; elsewhere the window.

    `attentions`: an array (layers, heads, T, S); a list of layers (batch, heads, T, S) as Hugging Face and BertViz have
    it; a model's output or a dict with `attentions` or `encoder_attentions`, `decoder_attentions`, `cross_attentions`; a
    tuple of those three; a cache of TransformerLens. `tokens` name the keys' side, `target_tokens` the queries' side
    where it is another one. `options` are those of `headlight page`: `only="0.1,0.2"`. Without a display: Error."""
    arrays = _arrays_of(attentions, sentence)
    metadata = token_metadata(arrays, tokens, target_tokens)
    more = attentions if isinstance(attentions, dict) else {}
    arrays.update({name: more[name] for name in ("queries", "keys", "values") if isinstance(more.get(name), np.ndarray)})
    if hasattr(notebook_shell(), "kernel"):
        return page_of(arrays, metadata, **options)
    if sys.platform not in ("darwin", "win32") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise Error("show: expected a notebook or a display, found neither: seen.save(\"run.safetensors\") keeps it for "
                    "headlight run.safetensors elsewhere")
    folder = tempfile.mkdtemp(prefix="headlight-")
    path = os.path.join(folder, "attention.safetensors")
    write_safetensors(path, arrays, metadata)
    window = subprocess.Popen([program(), "open", path], stdin=subprocess.DEVNULL, start_new_session=True)
    threading.Thread(target=lambda: (window.wait(), shutil.rmtree(folder, ignore_errors=True)), daemon=True).start()
    return None


def log(step: int, seen: Any, folder: Union[str, Path] = "headlight-log", sentence: int = 0,
        tokens: Optional[Sequence[str]] = None) -> Path:
    """Keeps the attention of one training step as `folder/step-000100.safetensors`, and returns that path. `headlight
    FILE` opens it; `headlight diagnose A B` compares two. `seen` is what `watch` saw, or arrays as `show` takes them."""
    if step < 0:
        raise Error(f"log: expected a step of 0 or more, found {step}")
    arrays = _arrays_of(seen, sentence)
    os.makedirs(folder, exist_ok=True)
    path = Path(folder) / f"step-{step:06d}.safetensors"
    write_safetensors(path, arrays, {"step": str(step), **token_metadata(arrays, tokens, None)})
    return path


class Seen(Tracer, _Sequence):  # type: ignore[type-arg]
    """What `watch` saw: a sequence of `Attention`, in the order in which they ran. A context manager; `with seen:` again
    goes on where it left off."""

    def sequence(self) -> List[Attention]:
        """The calls; heads that were computed one by one are one."""
        groups: Dict[Any, List[Call]] = {}
        for call in self._calls if self._attentions is None else []:
            groups.setdefault(call.part_of[:1] if call.part_of else call.index, []).append(call)
        if self._attentions is None:
            self._attentions = [Attention(sorted(one, key=lambda part: part.part_of or (0, 0))) for one in groups.values()]
        return self._attentions

    def __len__(self) -> int:
        return len(self.sequence())

    def __getitem__(self, index: Any) -> Any:
        part = Seen(self._module, self.keep)
        part._attentions, part._notes, part._operations = self.sequence()[index], list(self._notes), self._operations
        return part if isinstance(index, slice) else part._attentions

    def __repr__(self) -> str:
        lines = [f"{index}: {attention!r}" for index, attention in enumerate(self.sequence()[:20])]
        more = len(self) - len(lines)
        return "\n".join([*lines, *([f"… {more} more"] if more > 0 else []), *self.notes()])

    def notes(self) -> List[str]:
        """What was not followed, a line each; nothing where all is there."""
        notes = list(dict.fromkeys(self._notes))
        if self._left_out:
            notes.append(f"{count_text(self._left_out, 'further call')} not kept (keep={self.keep.calls} calls)")
        elif not self.sequence():
            notes.append("no attention seen: " + (
                "torch is not imported; hand arrays of numpy code to headlight.check()" if torch_module() is None else
                "nothing was watched yet" if not self._blocks else
                f"of {count_text(self._operations, 'operation')} followed none was a softmax over a product of two arrays; "
                "compiled, scripted and numpy code, CUDA graphs and other threads cannot be followed: hand arrays to "
                "headlight.check() or headlight.show()"))
        return notes

    def attentions(self, sentence: int = 0) -> Array:
        """(layers, heads, T, S): the weights of one sentence in every call. Errors: Error where calls differ in shape."""
        layers = [attention.weights() for attention in self.sequence()]
        if not layers:
            raise Error((self.notes() or ["no attention seen"])[-1])
        return layers_of([layer[min(sentence, len(layer) - 1)] for layer in layers], 0,
                         "seen (seen[0:2] chooses calls of one shape)")

    def stacks(self, sentence: int) -> Dict[str, Array]:
        """One stack, or those of encoder, decoder and cross-attention where a call's keys are of another sequence."""
        sizes = [attention._parts[0].shape[2:] for attention in self.sequence()]
        if len(set(sizes)) == 1 or all(queries == keys for queries, keys in sizes):
            return {"attentions": self.attentions(sentence)}
        stacks: Dict[str, List[Array]] = {name: [] for name in STACKS}
        for attention, (queries, keys), after in zip(self.sequence(), sizes, [*sizes[1:], (0, 0)]):
            weights = attention.weights()
            decoder = after[0] != after[1] and after[0] == queries      # cross-attention of the same queries follows
            name = "cross_attentions" if queries != keys else "decoder_attentions" if decoder else "encoder_attentions"
            stacks[name].append(weights[min(sentence, len(weights) - 1)])
        return {name: layers_of(layers, 0, name) for name, layers in stacks.items() if layers}

    def save(self, path: Union[str, Path], sentence: int = 0, tokens: Optional[Sequence[str]] = None,
             target_tokens: Optional[Sequence[str]] = None) -> None:
        """A tensors file (.safetensors or .npz) that `headlight FILE` opens: the weights of one sentence of every call, and
        queries, keys and values of the same shape."""
        arrays = self.stacks(sentence)
        metadata = token_metadata(arrays, tokens, target_tokens)
        if "attentions" in arrays:
            for name, role in (("queries", "query"), ("keys", "key"), ("values", "value")):
                parts = [getattr(attention, role) for attention in self.sequence()]
                if all(part is not None for part in parts) and len({part.shape[1:] for part in parts}) == 1:
                    arrays[name] = np.stack([part[min(sentence, len(part) - 1)] for part in parts]).astype(np.float32)
        save_arrays(path, arrays, metadata)

    def show(self, sentence: int = 0, tokens: Optional[Sequence[str]] = None,
             target_tokens: Optional[Sequence[str]] = None) -> Any:
        """In a notebook the page, inline; elsewhere the window."""
        return show(self, tokens, target_tokens, sentence)

    def _repr_html_(self) -> Optional[str]:
        try:
            return page_of(self.stacks(0), {})._repr_html_() if len(self) else f"<pre>{_html.escape(repr(self))}</pre>"
        except Error as error:
            return "<pre>" + _html.escape(f"{self!r}\n{error}") + "</pre>"

    def check(self, mask: Any = None) -> Report:
        """Every call against softmax(q·kᵀ/√d_k + mask)·v, computed by the program. `mask`: which cells may be attended
        to (T, S) or (sentences, T, S), where the code cannot tell by itself what was meant."""
        return check_seen(self, None if mask is None else as_numpy(mask).astype(bool))


def watch(module: Any = None, keep: Union[None, int, Keep] = None) -> Seen:
    """Follows the attention that runs inside a `with` block; with `module` only what runs inside of it.

    Caught are torch.nn.MultiheadAttention and the layers of torch.nn.Transformer, scaled_dot_product_attention, and
    attention written by hand: a softmax of what came from a product of two arrays. `keep` limits calls, layers and
    sentences (`Keep`); a number is that of calls. One thread: what other threads compute is not seen."""
    return Seen(module, keep)


class _Tracker:
    """Takes the place of labml's tracker in a model: `from headlight import tracker`. What `debug` is given is kept, layer
    after layer, until `save` or the next step writes it to `folder`."""

    def __init__(self) -> None:
        self.folder: Union[str, Path] = "headlight-log"
        self.step, self.every = 0, 1
        self._layers: List[Array] = []

    def debug(self, name: str, value: Any) -> None:
        """Attention of one layer: (i, j, b, h) as that tutorial has it, or (b, h, i, j); told apart by which axis sums
        to 1. Everything else than weights is left alone."""
        array = as_numpy(value)
        if self.step % self.every or array.ndim != 4 or array.dtype.kind != "f":
            return
        if np.allclose(array.sum(3), 1, atol=1e-2):
            self._layers.append(array[0])
        elif np.allclose(array.sum(1), 1, atol=1e-2):
            self._layers.append(array[:, :, 0].transpose(2, 0, 1))

    def add(self, *_: Any, **__: Any) -> None:
        """Scalars are not attention."""

    def set_global_step(self, step: int) -> None:
        """From here on it is this step; what was seen of the one before is written."""
        self.save()
        self.step = int(step)

    def add_global_step(self, increment: int = 1) -> None:
        self.set_global_step(self.step + increment)

    def save(self, *arguments: Any, **_: Any) -> None:
        """Writes what was seen; a number first is the step."""
        self.step = arguments[0] if arguments and isinstance(arguments[0], int) else self.step
        layers, self._layers = self._layers, []
        if layers:
            same = [layer for layer in layers if layer.shape == layers[0].shape]
            log(self.step, {"attentions": np.stack(same)}, self.folder)


tracker = _Tracker()
