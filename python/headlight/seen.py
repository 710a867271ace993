"""What `watch` saw: a sequence of calls, its answers, files and pages."""
from __future__ import annotations

import html as _html
from collections.abc import Sequence as _Sequence
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Union

import numpy as np

from .arrays import STACKS, layers_of, save_arrays, token_metadata
from .calls import Attention, Call
from .engine import Array, Error, as_numpy, count_text, torch_module
from .follow import Keep, Tracer
from .pages import page_of, show
from .report import Report, check_seen


class Seen(Tracer, _Sequence):  # type: ignore[type-arg]
    """What `watch` saw: a sequence of `Attention`, in the order in which they ran. A context manager; `with seen:` again
    goes on where it left off."""

    def sequence(self) -> List[Attention]:
        """The calls; heads that were computed one by one are one."""
        if self._attentions is None:
            groups: Dict[Any, List[Call]] = {}
            for call in self._calls:
                groups.setdefault(call.part_of[:1] if call.part_of else call.index, []).append(call)
            self._attentions = [Attention(sorted(parts, key=lambda part: part.part_of or (0, 0)))
                                for parts in groups.values()]
        return self._attentions

    def __len__(self) -> int:
        return len(self.sequence())

    def __getitem__(self, index: Any) -> Any:
        chosen = self.sequence()[index]
        if isinstance(chosen, Attention):
            return chosen
        part = Seen(self._module, self.keep)
        part._attentions, part._notes, part._operations = chosen, list(self._notes), self._operations
        return part

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
        return show(self.stacks(sentence), tokens=tokens, target_tokens=target_tokens)

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
