"""The page as a widget of a notebook: what is looked at in it is traits in Python, in both directions. widget.js is the
other end, by the protocol of anywidget (https://anywidget.dev/en/afm); without the package by a comm of Notebook 6."""
from __future__ import annotations

import base64
import functools
import html as _html
import uuid
import weakref
from pathlib import Path
from typing import Any

from .engine import Error, Folder, figure, notebook_shell, refused, require
from .library import Answer
from .seen import Page, page

_MODULE = Path(__file__).with_name("widget.js")
_shown: Any = weakref.WeakValueDictionary()      # widgets by their ids, for the comms of Notebook 6


class _OfAnywidget:
    """A widget has its `page`, and `picture`, an element that needs no script."""
    picture: str

    def _repr_mimebundle_(self, **options: Any) -> Any:
        data, metadata = super()._repr_mimebundle_(**options)      # type: ignore[misc]
        return {**data, "text/html": self.picture}, metadata


class _OfComm:
    """Without anywidget. In an output that is kept the page is whole; what sanitizes outputs leaves its picture."""
    page: Page
    picture: str

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        self._id, self._comms, self._heard = f"headlight-{uuid.uuid4().hex}", [], {}      # type: Any, list[Any], Any
        _shown[self._id] = self
        self.observe(self._tell, self.trait_names())      # type: ignore[attr-defined]

    def _tell(self, change: Any) -> None:
        name, value = change["name"], change["new"]
        for comm in self._comms:      # the one that said so has it
            if comm is not self._heard.get("comm") or self._heard["data"].get(name, self) != value:
                comm.send({name: value})

    def _connect(self, comm: Any) -> None:
        def take(message: Any) -> None:
            self._heard = {"comm": comm, "data": message["content"]["data"]}
            try:
                with self.hold_trait_notifications():      # type: ignore[attr-defined]
                    for name in self._heard["data"].keys() & set(self.trait_names()):      # type: ignore[attr-defined]
                        setattr(self, name, self._heard["data"][name])
            finally:
                self._heard = {}
        comm.on_msg(take)
        comm.on_close(lambda _: self._comms.remove(comm))
        self._comms.append(comm)
        comm.send({name: getattr(self, name) for name in self.trait_names()})      # type: ignore[attr-defined]

    def _repr_html_(self) -> str:
        kernel = getattr(notebook_shell(), "kernel", None)
        if hasattr(kernel, "comm_manager"):
            kernel.comm_manager.register_target("headlight", _opened)
        module = base64.b64encode(_MODULE.read_bytes()).decode()
        return (f'<div id="{self._id}" style="position:relative;z-index:0;min-height:640px">'
                f'<div style="position:absolute;z-index:-1">{self.picture}</div>{self.page._repr_html_()}'
                '<p class="unconnected">Not connected to Python: run the cell again; other notebooks than Notebook 6 '
                'need <code>pip install anywidget</code>.</p></div>'
                f'<script>import("data:text/javascript;base64,{module}").then((own) => own.connect("{self._id}"))'
                '</script>')


def _opened(comm: Any, message: Any) -> None:
    """A cell's output asks for its widget; another one than a widget that is still there: the comm is closed."""
    widget = _shown.get(message["content"]["data"].get("id"))
    if widget is None:
        comm.close()
    else:
        widget._connect(comm)


@functools.lru_cache(None)
def _kind() -> Any:
    try:
        import traitlets
    except ImportError:
        raise Error("widget: expected traitlets, which comes with Jupyter, found none") from None

    def trait(kind: Any) -> Any:
        return kind(None, allow_none=True).tag(sync=True)
    traits: dict[str, Any] = {"head": trait(traitlets.Unicode), "query": trait(traitlets.Int),
                              "key": trait(traitlets.Int), "mask": trait(traitlets.Unicode),
                              "off": traitlets.List(traitlets.Unicode(), None, allow_none=True).tag(sync=True),
                              "error": traitlets.Unicode().tag(sync=True), "__module__": __name__}
    try:
        from anywidget import AnyWidget
    except ImportError:
        return type("Widget", (_OfComm, traitlets.HasTraits), traits)
    html = traitlets.Unicode().tag(sync=True)
    return type("Widget", (_OfAnywidget, AnyWidget), {**traits, "html": html, "_esm": _MODULE.read_text("utf-8")})


@refused("widget")
def widget(text: Any = ..., source: Any = None, **options: Any) -> Any:
    """The page as a widget of a notebook: of an `Answer`, or of what `page` takes. Its traits are what is looked at, as
    the reader or Python sets them: `head` ("1.4"), `query` and `key` (of the pinned cell, or None), `mask` ("none",
    "causal", "padding", "causal+padding", "file"), `off` (["0.3"]); `error`: why the page did not take the last."""
    if isinstance(text, Answer):
        text, source, options = text._text, text._model.source, {**text._options, **options}
    made = page(text, source, **options)
    require("<iframe" in made._repr_html_(), "widget", "a page of at most 8 MB (fewer heads: only=\"0.1,0.2\")",
            f"{len(made.html.encode()) >> 20} MB")
    with Folder() as folder:
        made.save(Path(folder, "page.html"))
        picture = figure(source=Path(folder, "page.html"), output=Path(folder, "heads.svg"))._repr_html_() or ""
    kind = _kind()
    found = kind(**({"html": made.html} if hasattr(kind, "html") else {}))
    found.page, found.picture = made, picture.replace("<img ", '<img alt="Headlight" style="max-width:100%" ')
    return found
