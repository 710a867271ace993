"""A live model of transformers as a source: its weights, config and tokenizer in a temporary folder as Hugging Face has it."""
from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any, Mapping

from .engine import Error, open_window, refused, write_safetensors


class Model(contextlib.AbstractContextManager):  # type: ignore[type-arg]
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
    backend, path = getattr(tokenizer, "backend_tokenizer", tokenizer), tokenizer      # of tokenizers; or a file, a folder
    with refused("temporary folder"):
        opened = Model(tempfile.mkdtemp(prefix="headlight-"))
    files = {"config.json": json.dumps({**fields, "architectures": fields.get("architectures") or [type(model).__name__]},
                                       default=str)}
    try:
        with refused("open"):
            if isinstance(path, (str, os.PathLike)):
                shutil.copy(os.path.join(path, "tokenizer.json") if os.path.isdir(path) else path, opened.folder + "/tokenizer.json")
            elif hasattr(tokenizer, "save_pretrained"):
                tokenizer.save_pretrained(opened.folder)
            elif hasattr(backend, "to_str"):
                files["tokenizer.json"] = backend.to_str()
            elif tokenizer is not None:
                raise Error(f"open: expected a tokenizer with save_pretrained or to_str, or a path, found {type(tokenizer).__name__}")
            for name, text in files.items():
                Path(opened.folder, name).write_text(text, encoding="utf-8")
        write_safetensors(os.path.join(opened.folder, "model.safetensors"), model.state_dict(), {"format": "pt"})
    except BaseException:
        opened.close()
        raise
    return opened
