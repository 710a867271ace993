"""Attention as public code has it: rooms of programs, each a text that field_forms.py runs."""


class Room(list):
    """(name, text, right changes, wrong changes) of each program. `unusual`: right ones may be left undecided, for a reason."""

    def __init__(self, unusual=False):
        super().__init__()
        self.unusual = unusual

    def __call__(self, name, text, right=(), wrong=()):
        self.append((name, text, right, wrong))
