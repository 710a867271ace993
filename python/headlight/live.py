"""A live model of transformers as a source: its weights, config and tokenizer in a temporary folder as Hugging Face has it."""
from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .engine import Folder, open_window, refused, require, write_safetensors


class Model(Folder):
    """What `open` returns: a `source` for all functions while it is there; `show()` opens the window."""

    def show(self) -> None:
        open_window(str(self))


def open_model(model: Any, tokenizer: Any = None) -> Model:
    """Hands a live model over, as it is now: what its `save_pretrained` writes, else `model.config.to_dict()` and
    `model.state_dict()`; of the tokenizer likewise, or its `tokenizer.json`, or the path of one; without it only `ids=` can be
    asked.

    Errors: Error where config or weights are missing, or the folder cannot be written."""
    config = getattr(model, "config", None)
    fields = config.to_dict() if hasattr(config, "to_dict") else config
    known = isinstance(fields, Mapping) and callable(getattr(model, "state_dict", None))
    require(known, "open", "a model with config.to_dict() and state_dict()", type(model).__name__)
    backend, path = getattr(tokenizer, "backend_tokenizer", tokenizer), tokenizer      # of tokenizers; or a file, a folder
    opened = Model()
    with refused("open"):
        if hasattr(model, "save_pretrained"):       # names of weights may be others than while it runs
            model.save_pretrained(opened.folder)
        if isinstance(path, (str, os.PathLike)):
            shutil.copy(os.path.join(path, "tokenizer.json") if os.path.isdir(path) else path, opened.folder + "/tokenizer.json")
        elif hasattr(tokenizer, "save_pretrained"):
            tokenizer.save_pretrained(opened.folder)
        elif hasattr(backend, "to_str"):
            Path(opened.folder, "tokenizer.json").write_text(backend.to_str(), encoding="utf-8")
        else:
            none = tokenizer is None
            require(none, "open", "a tokenizer with save_pretrained or to_str, or a path", type(tokenizer).__name__)
        if not Path(opened.folder, "config.json").exists():
            fields = {**fields, "architectures": fields.get("architectures") or [type(model).__name__]}
            Path(opened.folder, "config.json").write_text(json.dumps(fields, default=str), encoding="utf-8")
            write_safetensors(os.path.join(opened.folder, "model.safetensors"), model.state_dict(), {"format": "pt"})
    return opened
