"""Look into the attention that is running in your own code.

    import headlight
    with headlight.watch() as seen:
        output = mine(x, mask)
    print(seen.check())              # mine.py:41: scores multiplied by sqrt(d_k) (scale 2.828, not 0.3536)
    seen.show()                      # in a notebook: the page, inline; elsewhere: the window

`watch` follows the operations of torch and keeps queries, keys, values, masks and scales of every attention it sees.
All attention is computed, and every mistake is named, by the program `headlight` (found by the variable HEADLIGHT, in
this folder, or in PATH). Arrays are numpy float32; layers, heads and tokens count from 0. Only numpy is needed; torch
is used where the caller has imported it. Bad input and a missing program raise `Error` with one line.

This folder can be copied beside a script on a server where nothing may be installed. Read it in this order: engine (the
program, its answers and files), library (the engine in process), nodes (a tensor, one attention), follow (torch's
operations), flow, seen.
"""
from .engine import (Error, Lines, Model, attention, claims, explain, export, figure, generate, heads, lens, next,
                     patch, program, save, why)
from .follow import Keep
from .library import Answer, Loaded, open
from .seen import Mistake, Page, Report, Seen, check, log, page, show, tracker

lines, watch = Lines, Seen
__version__ = "1.0.0"
__all__ = ["Answer", "Error", "Keep", "Loaded", "Mistake", "Model", "Page", "Report", "Seen", "attention", "check",
           "claims", "explain", "export", "figure", "generate", "heads", "lens", "lines", "log", "next", "page",
           "patch", "program", "save", "show", "tracker", "watch", "why"]
