"""Questions asked of the command line within one process (asks.cpp)."""

import contextlib
import json
import subprocess
import threading


class Asks:
    """The command line within one process, a new one where a question ended the last."""

    def __init__(self, program):
        self.program, self.process = program, None

    def answer(self, words, folder, given=''):
        """Exit status (that of the process where the question ended it), standard output and standard error."""
        if not self.process:
            self.process = subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        limit = threading.Timer(120, self.process.kill)
        limit.start()
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps([str(folder), given, *words]).encode() + b'\n')
            self.process.stdin.flush()
        first = self.process.stdout.readline().split()
        limit.cancel()
        if not first:
            status, self.process = self.process.wait(), None
            return status, b'', b'the question ended the process'
        status, *sizes = map(int, first)
        return status, *map(self.process.stdout.read, sizes)

    def end(self):
        if self.process:
            self.process.communicate()
