"""Arrays of whatever a program holds, and the files that Headlight reads them from."""
from __future__ import annotations

import contextlib
import json
import os
import re
import tempfile
import threading
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, Optional, Union

import numpy as np

from .engine import Array, Error, as_numpy, export, is_tensor


_DTYPES = {"float32": "F32", "bool": "BOOL", "int64": "I64", "int32": "I32", "uint8": "U8", "float16": "F16"}


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
    if str(path).endswith(".npz"):
        with written_whole(path) as file:
            np.savez(file, **arrays)
    elif str(path).endswith(".safetensors"):
        write_safetensors(path, arrays, metadata)
    else:
        raise Error(f"save: expected a name that ends in .safetensors or .npz, found '{path}'")


STACKS = ("encoder_attentions", "decoder_attentions", "cross_attentions")


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
    shape = (arrays["cross_attentions"] if cross else next(iter(arrays.values()))).shape
    metadata = {}
    for name, words, size in (("tokens", tokens, shape[3]), ("target_tokens", target_tokens, shape[2])):
        if words is not None:
            if len(words) != size:
                raise Error(f"{name}: expected {size} words, found {len(words)}")
            metadata[name] = json.dumps([str(word) for word in words], ensure_ascii=False)
    if cross or "tokens" not in metadata or shape[2] == shape[3]:
        return metadata
    return {{"tokens": "key_tokens", "target_tokens": "tokens"}[name]: words for name, words in metadata.items()}


_ROLES = {"query": {"q", "query", "queries", "wq", "toq", "qs"}, "key": {"k", "key", "keys", "wk", "tok", "ks"},
          "value": {"v", "value", "values", "wv", "tov", "vs"},
          "output": {"o", "out", "output", "outputs", "wo", "toout", "proj"}}


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
