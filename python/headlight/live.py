"""A live model of transformers as a source: its weights, config and tokenizer in a temporary folder as Hugging Face has it."""
from __future__ import annotations

import json
import os
import shutil
import tempfile
import weakref
from typing import Any, Mapping

from .engine import Error, open_window, refused, write_safetensors


class Model:
    """What `open` returns: a `source` for all functions while it is there; `show()` opens the window, `close()` (or the end of
    the program, or of a `with` block) removes the folder."""

    def __init__(self, folder: str) -> None:
        self.folder, process = folder, os.getpid()
        self.close = weakref.finalize(self, lambda: os.getpid() == process and shutil.rmtree(folder, ignore_errors=True))

    def __fspath__(self) -> str:
        if not self.close.alive:
            raise Error("source: expected an open model, found one that was closed")
        return self.folder

    __str__ = __fspath__

    def __repr__(self) -> str:
        return f"<model in {self.folder}>"

    def __enter__(self) -> Model:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def show(self) -> None:
        open_window(str(self))


def open_model(model: Any, tokenizer: Any = None) -> Model:
    """Hands a live model over, as it is now: `model.config.to_dict()`, `model.state_dict()`, and of the tokenizer what its
    `save_pretrained` writes, its `tokenizer.json`, or the path of one; without it only `ids=` can be asked.

    Errors: Error where config or weights are missing, or the folder cannot be written."""
    config = getattr(model, "config", None)
    fields = config.to_dict() if hasattr(config, "to_dict") else config
    if not isinstance(fields, Mapping) or not callable(getattr(model, "state_dict", None)):
        raise Error(f"open: expected a model with config.to_dict() and state_dict(), found {type(model).__name__}")
    with refused("temporary folder"):
        opened = Model(tempfile.mkdtemp(prefix="headlight-"))
    try:
        with refused("open"):
            text = json.dumps({**fields, "architectures": fields.get("architectures") or [type(model).__name__]}, default=str)
            _written(opened, "config.json", text)
            _write_tokenizer(tokenizer, opened)
        write_safetensors(os.path.join(opened, "model.safetensors"), model.state_dict(), {"format": "pt"})
    except BaseException:
        opened.close()
        raise
    return opened


def _written(folder: Model, name: str, text: str) -> None:
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)


def _write_tokenizer(tokenizer: Any, folder: Model) -> None:
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)      # of tokenizers
    if isinstance(tokenizer, (str, os.PathLike)):
        whole = os.path.isdir(tokenizer)
        shutil.copy(os.path.join(tokenizer, "tokenizer.json") if whole else tokenizer, os.path.join(folder, "tokenizer.json"))
    elif hasattr(tokenizer, "save_pretrained"):
        tokenizer.save_pretrained(str(folder))
    elif hasattr(backend, "to_str"):
        _written(folder, "tokenizer.json", backend.to_str())
    elif tokenizer is not None:
        raise Error(f"open: expected a tokenizer with save_pretrained or to_str, or a path, found {type(tokenizer).__name__}")
