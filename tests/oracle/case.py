"""A model on disk, questions about it, and numbers that agree or are a fault."""

import json
import subprocess
import sys

import numpy as np

from transformer import Edits, Model, prefix_of, softmax

PROGRAM, SEED, MODELS = sys.argv[1], int((sys.argv[2:] + ['1'])[0]), int((sys.argv[3:] + ['16'])[0])
METRICS = 'logit-difference', 'probability', 'kl', 'rank'
PARTS = 'heads', 'residual', 'ffn', 'pattern', 'q', 'k', 'v'
HELP = {}
faults, numbers, worst = [], {}, {}


def has(command, option):
    if command not in HELP:
        HELP[command] = subprocess.run([PROGRAM, command, '--help'], capture_output=True, text=True).stdout
    return option in HELP[command]


def joined(values):
    return ','.join(map(str, values))


class Case:
    """A model on disk, two questions about it, and what is asked last."""

    def __init__(self, random, folder):
        self.random, self.folder = random, folder
        self.model = Model(random, self.pick('decoder', 'decoder', 'encoder', 'encoder-decoder'))
        self.model.save(folder)
        self.two = self.model.arch == 'encoder-decoder'
        self.clean, self.corrupt = self.two_texts(), None
        self.edits, self.options = self.edited()
        self.asked = []

    def pick(self, *values):
        return values[self.random.integers(len(values))]

    def two_texts(self):
        ids = self.random.permutation(self.model.words - 4)[:7].tolist()
        return (ids[:self.pick(4, 5)], ids[4:]) if self.two else (ids[:self.pick(4, 5, 6)], None)

    def changed(self, text, longer):
        """Another text: one token replaced by a word of its own, and perhaps one more."""
        own = self.model.words - 1
        text, at = list(text), self.random.integers(len(text))
        text[at] = own
        return text[:at] + [own - 1] + text[at:] if longer else text

    def edited(self):
        """Edits of the question, and their options."""
        edits, options, model = Edits(), [], self.model
        if self.pick(0, 0, 1):
            edits.mask = self.pick('none', 'causal', 'causal+window:2', 'chunk:3', 'causal+window:2+prefix:1', 'window:3')
            options += ['--mask', edits.mask]
        if self.pick(0, 0, 1):
            edits.scale = 0.7
            options += ['--scale', '0.7']
        if self.pick(0, 0, 1):
            edits.parts = [(self.pick('residual', 'norm', 'scale', 'ffn'), int(self.random.integers(model.layers)))]
            options += ['--off', '%s:%d' % edits.parts[0]]
        return edits, options

    def mask_of_heads(self, text):
        """(heads, T or 1, T) to be added in the stack that answers, and its option: no row is blocked wholly."""
        count = len(text[1] if self.two else text[0])
        mask = self.random.normal(size=(self.model.heads, self.pick(1, count), count)).astype(np.float32)
        if mask.shape[1] > 1:
            mask[(self.random.random(mask.shape) < 0.3) & ~np.eye(count, dtype=bool)] = -np.inf
        np.save(self.folder / 'mask.npy', mask[None] if self.pick(0, 1) else mask)
        return mask, ['--mask', self.folder / 'mask.npy']

    def question(self, text, options=None):
        words = ['--ids', joined(text[0])] + (['--decoder-ids', joined(text[1])] if self.two else [])
        return words + (self.options if options is None else options)

    def run(self, text, put=None, edits=None):
        return self.model.run(*text, edits=edits or self.edits, put=put)

    def ask(self, command, *words, format='json'):
        self.asked = [command, str(self.folder), *map(str, words), '--format', format]
        answer = subprocess.run([PROGRAM, *self.asked], capture_output=True)
        if answer.returncode:
            faults.append(f'{" ".join(self.asked)}: {answer.stderr.decode()}')
            return None
        return json.loads(answer.stdout) if format == 'json' else answer.stdout

    def agrees(self, what, found, expected, within=3e-5):
        found, expected = np.asarray(found, float), np.asarray(expected, float)
        size = np.maximum(1, np.abs(expected)) if expected.size else 1
        far = np.abs(found - expected) / size if found.shape == expected.shape else np.inf
        far = float(np.max(far)) if np.size(far) else 0.0
        kind = what.split(' of ')[0]
        numbers[kind] = numbers.get(kind, 0) + found.size
        worst[kind] = max(worst.get(kind, 0), far / within)
        if not far <= within:
            faults.append(f'{" ".join(self.asked)}: {what}: {self.model.family}: expected {expected.ravel()[:5]}, found '
                          f'{found.ravel()[:5]} ({far:.1e})')

    def places(self, stack='self'):
        """(tokens that ask, tokens that are read) of a text's stack."""
        return (lambda text: (text[0], text[0])) if stack == 'encoder' or not self.two else (
            (lambda text: (text[1], text[0])) if stack == 'cross' else (lambda text: (text[1], text[1])))

    def any_head(self):
        return self.pick(*self.model.stacks()), *(int(self.random.integers(n)) for n in (self.model.layers, self.model.heads))


def prefixed(stack, layer, head):
    return f'{prefix_of(stack)}{layer}.{head}'


class Metric:
    """A number of an answer, its ends, and the options that ask for it."""

    def __init__(self, case, clean, corrupt, name=None, query=None):
        self.name = name or case.pick(*METRICS)
        self.at = query or (-1, -1)
        self.clean = clean.logits[self.at[0]]
        self.right, self.wrong = case.random.permutation(case.model.words)[:2]
        self.options = ['--metric', self.name, '--answers', f'{self.right},{self.wrong}']
        self.size = np.abs(self.clean).max() + 1

    def __call__(self, logits):
        if self.name == 'logit-difference':
            return logits[self.right] - logits[self.wrong]
        if self.name == 'probability':
            return softmax(logits)[self.right]
        if self.name == 'kl':
            p, q = softmax(self.clean), softmax(logits)
            return (p * np.log(p / q)).sum()
        return 1 + (logits > logits[self.right]).sum()

    def on_scale(self, logits):
        return np.log2(self(logits)) if self.name == 'rank' else self(logits)

    def is_sure(self, logits):
        """Whether rounding cannot change a rank."""
        return self.name != 'rank' or np.sort(np.abs(logits - logits[self.right]))[1] > 1e-3


def effective(answer, edits, head):
    """The weights by which a head adds to the stream."""
    weights = answer.of['pattern', *head]
    return weights if head not in edits.off else weights * 0 + (weights.mean(0) if edits.off_as == 'mean' else 0)
