"""Look into the attention that is running in your own code.

    import headlight
    with headlight.watch() as seen:
        output = mine(x, mask)
    print(seen.check())              # mine.py:41: scores multiplied by sqrt(d_k) (scale 2.828, not 0.3536)
    seen.show()                      # in a notebook: the page, inline; elsewhere: the window

All attention is computed by the program `headlight`: in the variable HEADLIGHT, this folder, or PATH. Arrays are numpy
float32; bad input raises `Error`. Read in this order: engine, library, nodes, follow, flow, seen, notebook.
"""
from .engine import (Error, Lines, Model, attention, claims, explain, export, figure, generate, heads, lens, next,
                     patch, program, save, study, why)
from .follow import Keep
from .library import Answer, Loaded, open
from .notebook import widget
from .seen import Mistake, Page, Report, Seen, check, log, page, show, tracker

lines, watch = Lines, Seen
__version__ = "1.0.0"
__all__ = ["Answer", "Error", "Keep", "Loaded", "Mistake", "Model", "Page", "Report", "Seen", "attention", "check",
           "claims", "explain", "export", "figure", "generate", "heads", "lens", "lines", "log", "next", "page",
           "patch", "program", "save", "show", "study", "tracker", "watch", "why", "widget"]
