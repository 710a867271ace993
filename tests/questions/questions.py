#!/usr/bin/python3
"""Draws questions from the table of options and asks them in every format: questions.py PROGRAM ASKS [SEED [DRAWS]]

A draw is a command, a model and some of the command's options, most with good values. It may end with a good answer or
with one line `…: expected …, found …` and exit status 2; its answers in json, csv, npz and safetensors hold the same
numbers (answers.py). ASKS (asks.cpp) answers all of them in one process; every twentieth is asked of PROGRAM too, to the
same bytes, and another twentieth of headlight.py. An option of the program's help for which no value can be drawn here is
a fault. Exit status 77 where numpy is missing."""

import collections
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    sys.exit(77)

PROGRAM, ASKS = map(os.path.abspath, sys.argv[1:3])
SEED, DRAWS = int((sys.argv[3:] + ['1'])[0]), int((sys.argv[4:] + ['2000'])[0])
os.environ.update(OMP_NUM_THREADS='1', HEADLIGHT=PROGRAM, HEADLIGHT_PROGRESS='0')
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'python'))
import headlight  # noqa: E402
from answers import is_error, numbers, strict  # noqa: E402
from asking import Asks  # noqa: E402
from options import FORMATS, HELD, LEFT_OUT, NEEDED, OF_VIEW, OF_VIEWS, OFTEN, SELDOM, SHAPE  # noqa: E402
from sources import GOLDEN, checkpoints, sources  # noqa: E402

MEMORY = '/dev/shm' if os.path.isdir('/dev/shm') else None  # else each of the small files waits for the disk
faults, asked, answered = [], collections.Counter(), collections.Counter()


class Draw:
    def __init__(self, number, folder, all_sources, options):
        self.random, self.folder, self.options = np.random.default_rng([SEED, number]), folder, options
        self.source = self.pick(*all_sources)
        self.command = self.pick(*OFTEN, *FORMATS)
        self.words, self.view = [self.command, *self.source.words], None

    def pick(self, *values):
        return values[self.random.integers(len(values))]

    def number(self, low, high):
        return int(self.random.integers(low, high))

    def head(self, stack=True):
        prefix = self.pick('', '', '', 'encoder:', 'cross:', 'self:') if stack and (self.source.two or self.number(0, 12) == 0) else ''
        return f'{prefix}{self.number(0, self.source.layers)}.{self.pick("*", *range(self.source.heads)) if stack is True else self.number(0, self.source.heads)}'

    def word(self):
        return self.pick('我', '李雷', '北京', '机票') if self.source.texts else str(self.number(0, 20))

    def answers(self):
        return ','.join(str(self.number(0, max(self.source.vocabulary, 20))) for _ in range(self.pick(1, 2, 2)))

    def mask(self):
        return self.pick('none', 'causal', 'padding', 'causal+window:3', 'chunk:2', 'prefix:1+causal', 'window:2', 'causal+padding')

    def stack_of(self, value):
        return (self.pick('', 'encoder:', 'cross:') if self.source.two or self.number(0, 12) == 0 else '') + value

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def text(self):
        return [*self.source.question(self), '', '5,6'][1] if self.number(0, 20) else ''

    def pairs(self):
        rows = [{'clean': self.text(), 'corrupt': self.text()} for _ in range(self.pick(1, 2, 3))]
        rows = [{name: text.replace(',', ' ').replace('\n', ' ') for name, text in row.items()} for row in rows]
        if self.number(0, 6) == 0:
            rows = [row | {'right': str(self.number(0, 20)), 'wrong': self.pick('', str(self.number(0, 20)))} for row in rows]
        as_json = self.pick(0, 1)
        text = (''.join(json.dumps(row, ensure_ascii=False) + '\n' for row in rows) if as_json else
                '\n'.join([','.join(rows[0]), *(','.join(row.values()) for row in rows)]) + '\n')
        if self.number(0, 10) == 0:
            text = self.pick('', '\n\n', text + 'x\n', '[1]\n' + text, text + '{"clean": 5, "other": [1]}\n', text + '"x,y\n', 'a,b\n' + text, '\ufeff' + text,
                             text + '\n' + text.replace('clean', ' CLEAN'), text + text.split('\n')[-2] + '\n')
        return self.file(f'pairs-{self.number(0, 9)}.' + (self.pick('txt', 'gz') if self.number(0, 40) == 0 else 'jsonl' if as_json else 'csv'), text)

    def other_question(self):
        return shlex.join([*(self.source.words if '--random' in self.source.words else []), *self.source.question(self)])

    def lines(self):
        return self.file('lines.txt', ''.join(self.text().replace(',', ' ') + '\n' for _ in range(2)))

    def value(self, option):
        """A value, most of them good; '' of a flag; None where there is none to draw."""
        if self.number(0, 25) == 0 and option not in FLAGS:
            return self.pick('', '-1', '99999', 'x', '1e9', '0', '*', 'nan', '我', '0.0', ',', '1.1:q')
        return VALUES[option](self) if option in VALUES else None

    def reduction(self):
        return self.pick('mean', 'mean', 'max', 'sum', 'rollout', 'strongest') + ':' + self.pick(
            'heads', 'heads', 'layers', 'heads,layers', 'tokens', 'words', 'heads,tokens', 'sentences', 'heads,sentences')


D = Draw
FLAGS = {'--random', '--sinks', '--gated', '--no-bias', '--untied', '--as-stored', '--lines', '--sink', '--ascending', '--descending',
         '--effect', '--value-norms', '--own-range', '--no-caption', '--block', '--live', '--chat-open', '--gather-partial'}
VALUES = {flag: lambda d: '' for flag in FLAGS} | {
    '--split': lambda d: d.pick('words', 'characters'), '--pad': lambda d: d.number(0, 3),
    '--arch': lambda d: d.pick('encoder', 'decoder', 'encoder-decoder'), '--d-model': lambda d: d.pick(16, 24, 32),
    '--num-heads': lambda d: d.pick(1, 2, 4), '--num-kv-heads': lambda d: d.pick(1, 2), '--head-dim': lambda d: d.pick(3, 4, 8),
    '--layers': lambda d: d.pick(1, 2, 3), '--encoder-layers': lambda d: d.pick(1, 2), '--ffn': lambda d: d.pick(0, 16),
    '--position': lambda d: d.pick('sinusoidal', 'sinusoidal-halves', 'learned', 'rotary', 'none'),
    '--rotary-columns': lambda d: d.pick(2, 4), '--softcap': lambda d: d.pick(0, 2.5), '--norm': lambda d: d.pick('pre', 'post'),
    '--norm-type': lambda d: d.pick('layer', 'rms'), '--activation': lambda d: d.pick('relu', 'gelu', 'gelu-tanh', 'silu'),
    '--bias': lambda d: d.pick('query', 'query,key', 'value,output,ffn'), '--seed': lambda d: d.number(0, 9),
    '--part': lambda d: d.pick('picture', 'text'), '--mask': D.mask, '--encoder-mask': D.mask, '--cross-mask': D.mask, '--scale': lambda d: d.pick(0.1, 1, 2),
    '--off': lambda d: d.pick(d.head(), d.head(), f'residual:{d.number(0, 2)}', 'norm:*', 'scale:0', 'ffn:1'),
    '--off-as': lambda d: d.pick('zero', 'mean'),
    '--weight': lambda d: f'{d.head(None)}.{d.number(0, 3)}.{d.number(0, 3)}={d.pick(0, 0.5, 1)}',
    '--layer-mask': lambda d: d.stack_of(f'{d.number(0, 2)}={d.mask()}'),
    '--layer-scale': lambda d: d.stack_of(f'{d.number(0, 2)}={d.pick(0.5, 2)}'), '--dropout': lambda d: d.pick(0.1, 0.5),
    '--dropout-seed': lambda d: d.number(0, 5), '--with': lambda d: d.pick('scores', 'qk', 'ov', 'qkv', 'scores', 'norms', 'rollout', 'gradient', 'ffn',
                                                                           'ffn.hidden', 'head.z', 'attentions'),
    '--special': lambda d: d.pick('show', 'hide', 'renormalize'), '--only': D.head, '--dtype': lambda d: d.pick('float32', 'float16'),
    '--top': lambda d: d.pick(1, 3, 7), '--token': lambda d: d.number(0, 20), '--count': lambda d: d.pick(1, 3),
    '--temperature': lambda d: d.pick(0, 0.7), '--sampling-seed': lambda d: d.number(0, 9),
    '--metric': lambda d: d.pick('logit-difference', 'probability', 'kl', 'rank', 'rank'), '--answers': D.answers,
    '--query': lambda d: d.number(0, 3), '--key': lambda d: d.number(0, 2), '--pairs': D.pairs,
    '--resume': lambda d: str(d.folder / 'study.jsonl'), '--layer': lambda d: d.number(0, d.source.layers),
    '--head': lambda d: d.head(None), '--stack': lambda d: d.pick('self', 'encoder', 'cross') if d.source.two else 'self',
    '--from': lambda d: d.other_question() if d.command == 'patch' else d.word(),
    '--to': lambda d: d.pick('output', 'all', d.head(None), 'all:q', d.head() + ':z', f'{d.head(None)}:{d.pick("q", "k", "v", "k@group")}') if d.command == 'patch' else d.word(),
    '--at': lambda d: d.pick('heads', 'residual', 'ffn', 'pattern', 'q', 'k', 'v', 'neurons') if d.command == 'patch' else d.pick(
        'heads', 'residual', 'tokens'),
    '--at-layers': lambda d: d.number(0, d.source.layers), '--at-heads': D.head, '--at-tokens': lambda d: d.pick('all', 0, '0,1'),
    '--align': lambda d: d.pick('words', 'positions'), '--direction': lambda d: d.pick('denoise', 'noise', 'both'),
    '--control': lambda d: 'random:' + str(d.number(0, 4)), '--estimate': lambda d: d.pick(1, 3), '--from-head': D.head,
    '--normalise': lambda d: d.pick('total', 'pairs', 'none'),
    '--sort': lambda d: d.pick('layer', 'entropy', 'effect', 'distance', 'sink', 'first', 'learned', 'copying', 'composition'),
    '--baseline': lambda d: d.pick('mean:', 'resample:', 'position:') + d.lines(), '--probe': lambda d: d.pick('repeated-random:3x4', 'repeated-random:1x2', 'repeated-random:0x4', 'repeated-random:3', 'random:3x4'),
    '--above': lambda d: d.pick(0, 0.3, 0.9), '--against': lambda d: d.pick(*d.source.words[:1], 'shipped:decoder') if d.command == 'heads'
    else d.other_question(), '--dialect': lambda d: d.pick('numpy', 'einsum', 'matmul', 'module'),
    '--view': lambda d: d.view or d.pick('heads', 'sentence', 'head', 'changes', 'text', 'glance', 'inside', 'writers', 'lens', 'diagram', 'matrix', 'flow',
                               'compare', 'patch') if d.command == 'figure' else d.pick('lens', 'patch'),
    '--matrix': lambda d: d.pick('W_Q', 'q', 'scores', 'z', 'weights', 'layers.0.attention.heads.0.weights'), '--row': lambda d: d.number(0, 3), '--column': lambda d: d.number(0, 3),
    '--heads': D.head, '--order': lambda d: d.pick('layer', 'entropy', 'effect', 'found'), '--threshold': lambda d: d.pick(0.05, 0.4),
    '--queries': lambda d: d.pick('0', '0-2', '2,0', '9'), '--keys': lambda d: d.pick('0', '1-2', '2-1', '9'), '--mean': lambda d: d.pick('head', 'layer', 'all') if d.command == 'figure' else d.pick('heads', 'layers'),
    '--fold': lambda d: d.pick('special', 'words', 'none'), '--maps': lambda d: d.pick('norms', 'rollout'), '--pair': lambda d: 'a-b',
    '--only-layers': lambda d: d.pick(0, '0-1'), '--width': lambda d: d.pick('column', 'slide', 85), '--theme': lambda d: d.pick('dark', 'light'),
    '--colours': lambda d: d.pick('log', 'linear', 'linear', 'teal'), '--colour-map': lambda d: d.pick('viridis', 'grey'),
    '--range': lambda d: d.pick('0,0.5', '-1,1', '0.5,0'), '--grid': lambda d: d.pick('2x3', '3x1', '9x9', '3'),
    '--mask-true': lambda d: d.pick('blocks', 'keeps'),
    '--array': lambda d: 'attentions', '--axes': lambda d: 'layers,heads,queries,keys', '--sentence': lambda d: 0, '--step': lambda d: 0,
    '--language': lambda d: d.pick('en', 'zh'), '--reduce': D.reduction, '--threads': lambda d: d.pick(1, 2), '--jobs': lambda d: d.pick(0, 1, 2),
    '--most': lambda d: d.pick(0.001, 1, 500), '--adapter': lambda d: d.pick('none', str(d.folder)), '--treebank': lambda d: GOLDEN / 'claims.conllu',
    '--shard': lambda d: d.pick('1/2', '2/2', '3/2'), '--gather': D.pairs, '--by': lambda d: d.pick('token', 'word')}


def table(command):
    """The options of a command, as its help has them: those of its own, and those of its topics in JSON."""
    text = subprocess.run([PROGRAM, command, '--help'], capture_output=True, text=True).stdout
    names = re.findall(r'^  (?:-\w,)?(--[a-z0-9-]+)', text, re.M)
    for topic in sorted(set(re.findall(r'--help-[a-z]+', text))):
        listed = subprocess.run([PROGRAM, command, topic, '--format', 'json'], capture_output=True, text=True).stdout
        names += [option['option'] for option in json.loads(listed)]
    return sorted({name for name in names if not name.startswith('--help')})


def words_of(draw):
    """The options of a draw: what the command cannot be without, and up to four others."""
    command, options = draw.command, draw.options[draw.command]
    chosen = list(NEEDED.get(command, ()))
    if command in ('patch', 'lens', 'why', 'heads') and draw.number(0, 20 if draw.source.two else 5) == 0:
        chosen = [one for one in chosen if one != '--from'] + ['--pairs'] + (['--effect'] if command == 'heads' else [])
        chosen += ['--resume'] if draw.number(0, 2) else []
    elif command == 'patch' and draw.number(0, 5) == 0:
        chosen = ['--from-head', '--to', draw.pick('--from', '--baseline')]
    elif command == 'patch' and draw.number(0, 8) == 0:
        chosen = ['--at', '--baseline']
    elif command == 'figure' and draw.number(0, 4):
        draw.view = draw.pick(*OF_VIEW)
        chosen = ['--view', *OF_VIEW[draw.view][0].split()]
    elif command == 'figure':
        chosen = list(draw.pick(('--view',), ('--view', '--against'), ('--view', '--answers', '--metric'), ('--view', '--heads'),
                                ('--view', '--order'), ('--reduce',), ('--fold',), ('--maps',), ('--matrix', '--view')))
    elif command == 'page' and draw.number(0, 2):
        chosen = ['--view', '--against']
    free = [one for one in options if one not in LEFT_OUT | SELDOM and one not in chosen and one not in ('--pairs', '--resume', *draw.source.words) and (
        one not in SHAPE or '--random' in draw.source.words) and (one not in HELD or draw.source.arch == 'tensors') and (
            one not in ('--encoder-mask', '--cross-mask') or draw.source.two) and (one != '--split' or '--random' in draw.source.words) and (
            not one.startswith('--at-') or '--at' in chosen or command == 'heads') and (one != '--token' or command != 'lens' or draw.number(0, 4) == 0) and (
            command != 'patch' or one not in ('--at', '--to', '--from-head')) and (
                not draw.view or one not in OF_VIEWS or one in OF_VIEW[draw.view][1].split())]
    if draw.number(0, 12) == 0:  # whatever the command has, whether it belongs together or not
        free = [one for one in options if one not in LEFT_OUT and one not in chosen]
        chosen = chosen[draw.number(0, 2):]
    chosen += sorted(free, key=lambda option: asked[option] + 4 * draw.random.random())[:draw.pick(0, 1, 2, 2, 3, 4)]  # the rarest first
    if command == 'heads' and {'--control', '--baseline', '--metric', '--answers', '--query', '--at-heads', '--at-layers'} & set(chosen) and '--effect' not in chosen:
        chosen.append('--effect')
    words = [] if {'--pairs', '--treebank'} & set(chosen) and draw.number(0, 30) else draw.source.question(draw, not draw.view and draw.number(0, 6) == 0)
    for option in chosen:
        value = draw.value(option)
        if value is None:
            faults.append(f'{command} {option}: expected a value that can be drawn (tests/questions), found none')
            continue
        asked[option] += 1
        words += [option] if option in FLAGS else [option, str(value)]
    draw.chosen = chosen
    asked.update(word for word in draw.source.words if word.startswith('--'))
    return words


asks = Asks(ASKS)


def by_process(words, folder):
    ran = subprocess.run([PROGRAM, *words], capture_output=True, timeout=120, cwd=folder)
    return ran.returncode, ran.stdout, ran.stderr


def forget(*written):
    """A study of shards is a folder."""
    for path in written:
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def ask(draw, form, answer=asks.answer):
    """Exit status, standard error, and what was written."""
    file = draw.folder / ('answer.' + form)
    forget(file, draw.folder / 'study.jsonl')
    words = [*draw.words]
    to_file = form in ('svg', 'pdf', 'html', 'py', 'npz', 'safetensors')
    words += ['-o', str(file)] if to_file and draw.command in ('figure', 'page', 'code', 'export') else []
    words += ['--format', form] if draw.command not in ('figure', 'page', 'code') else []
    status, out, errors = answer(words, draw.folder)
    return status, errors.decode(errors='replace'), file.read_bytes() if file.exists() else out


def fault(draw, form, expected, found):
    faults.append(f'{shlex.join(draw.words)} --format {form}: expected {expected}, found {found}')


def by_python(draw):
    """The same question as headlight.py asks it: exit status, error, and the answer in the form that it takes."""
    kind, words, options = 'npz' if draw.command in ('export', 'lens', 'why', 'patch') else 'json', draw.words[1:], {}
    options['source'] = None if words[0].startswith('--') else words.pop(0)
    while words:
        name = words.pop(0)
        options[name[2:].replace('-', '_') + ('_' if name in ('--from', '--with') else '')] = True if name in FLAGS else words.pop(0)
    try:
        answer = getattr(headlight, draw.command)(**options)
    except headlight.Error as error:
        return kind, 2, str(error), b''
    answer = answer['steps'] if draw.command == 'explain' else answer
    return kind, 0, '', answer if kind == 'npz' else json.dumps(answer).encode()


def compare(draw, form, found, first):
    """The same names where both have them, and the same numbers; what is missing may be NaN or -1, or left out."""
    for name in first.keys() & found.keys():
        a, b = np.asarray(first[name], float).ravel(), np.asarray(found[name], float).ravel()
        if draw.command == 'why' and not '--pairs' in draw.chosen:
            a, b = a[abs(a) > 1e-30], b[abs(b) > 1e-30]
        if '--estimate' in draw.chosen and len(a) != len(b):
            a, b = a[~np.isnan(a)], b[~np.isnan(b)]
        if draw.command == 'heads':
            a, b = (np.where(np.isnan(one), -1, one) for one in (a, b))
        within = 1e-3 if '--dtype' in draw.chosen else 2e-6
        if a.shape != b.shape or not np.allclose(a, b, rtol=within, atol=within / 10, equal_nan=True):
            fault(draw, form, f'{name} as in json {a[:4]} ({len(a)})', f'{b[:4]} ({len(b)})')
    if (first or found) and not first.keys() & found.keys():
        fault(draw, form, f'some of {sorted(first)}', sorted(found))


def is_good(draw, form, data):
    """What has no numbers to compare."""
    text = data.decode('latin-1' if form == 'pdf' else 'utf-8')
    starts = {'svg': '<', 'pdf': '%PDF', 'html': '<!doctype html>', 'py': ''}
    if form == 'json':
        strict(text)
    if form == 'py':
        compile(text, 'answer.py', 'exec')
    if not text.strip() or (form in starts and not text.lower().startswith(starts[form].lower())):
        fault(draw, form, 'an answer', repr(text[:60]))
    if form == 'text' and re.search(r'\bnan\b|\binf\b' if draw.command != 'explain' else r'\bnan\b', text):
        fault(draw, form, 'numbers', re.search(r'.*\b(nan|inf)\b.*', text).group(0))


def several_answers(draw):
    return any('\n' in word for word in draw.words) or '--lines' in draw.chosen


def one(number, folder, all_sources, options):
    draw = Draw(number, pathlib.Path(folder), all_sources, options)
    draw.words += words_of(draw)
    first, status, message = None, None, ''
    by = ['python'] if number % 20 == 1 and hasattr(headlight, draw.command) and FORMATS[draw.command][0] == 'json' else []
    for form in [*FORMATS[draw.command], *by]:
        try:
            if form == 'python':
                forget(pathlib.Path(folder) / 'study.jsonl')
                form, code, errors, data = by_python(draw)
                if several_answers(draw) and code == 2 and form == 'json':
                    continue  # one object is what it returns
            else:
                code, errors, data = ask(draw, form)
                if number % 20 == 0 and (alone := ask(draw, form, by_process)) != (code, errors, data):
                    fault(draw, form, f'{(code, errors)} as in a process of many questions', alone[:2])
        except subprocess.TimeoutExpired:
            return fault(draw, form, 'an answer in 120 s', 'none')
        lines = [line for line in errors.splitlines() if not re.match(r'warning: |\S+: [\d.]+ [KMG]B|[\d.]+ MB', line) and 'MB' not in line]
        if code not in (0, 2):
            return fault(draw, form, 'exit status 0 or 2', f'{code}: {errors[-300:]}')
        if code == 2 and (len(lines) != 1 or (data and '--lines' not in draw.chosen) or not is_error(lines[0])):
            fault(draw, form, 'one line `…: expected …, found …` and no answer', f'{lines} and {len(data)} bytes')
        several = several_answers(draw)
        of_form = several or {'--with', '--dtype'} & set(draw.chosen)
        if status is not None and code != status and not of_form:
            fault(draw, form, f'exit status {status} as in {FORMATS[draw.command][0]}: {message}', f'{code}: {lines}')
        if status is None:
            status, message = code, lines
            answered[draw.command, code] += 1
            if code and os.environ.get('SHOW'):
                print(lines[0][:300] if lines else '', '|', shlex.join(draw.words)[:300])
        if code:
            continue
        try:
            if form in ('json', 'csv', 'npz', 'safetensors') and draw.command in ('export', 'lens', 'why', 'patch', 'heads'):
                found = numbers(draw, form, data)
                if first is None:
                    first = found
                else:
                    compare(draw, form, found, first)
            else:
                is_good(draw, form, data)
        except (ValueError, KeyError, IndexError, StopIteration, SyntaxError, TypeError) as error:
            fault(draw, form, 'an answer that can be read', f'{type(error).__name__} {error}: {data[:80]}')


def ask_given(folder):
    """The questions of given.txt in a folder that has these files, each with what it must say."""
    for name, text in {'lines.txt': '我请他\n李雷去北京\n', 'empty.txt': '', 'identity.txt': '1 0\n0 1\n', 'pairs.csv': 'clean,corrupt\n我请李雷,我请他\n',
                       'ids.csv': 'clean,corrupt\n"5,6,7","5,6,8"\n', 'wrong.csv': 'clean,corrupt\n我请李雷\n我请李雷,\n,我请他\n我请李雷,我请他\n',
                       'wrong.jsonl': '[1]\n{"clean": 5, "corrupt": "我请他"}\n{"clean": "我请李雷", "corrupt": "我请他"}\n{\n'}.items():
        (folder / name).write_text(text)
    for line in (pathlib.Path(__file__).parent / 'given.txt').read_text().replace('GOLDEN', str(GOLDEN)).splitlines():
        if not line or line[0] == '#':
            continue
        question, says, expected = re.match(r'(.*?) +([!=])(?: (.*))?$', line).groups('')
        words = [word.replace('\\n', '\n').replace('\\r', '\r') for word in shlex.split(question)]
        words, standard_input = (words[:-2], words[-1]) if '<<<' in words else (words, '')
        status, out, errors = asks.answer(words, folder, standard_input)
        text = (errors if says == '!' else out + errors).decode(errors='replace')
        if (status == 2) != (says == '!') or expected not in text:
            faults.append(f'{question}: expected {"an error" if says == "!" else "an answer"} with {expected!r}, found {status}: {text[:300]}')


def main():
    options = {command: table(command) for command in FORMATS}
    for command, option in sorted({(command, option) for command in options for option in options[command]}):
        if option not in VALUES and option not in LEFT_OUT:
            faults.append(f'{command} {option}: expected a value that can be drawn (tests/questions), found none')
    ended, next_one = (asks.answer(['--version'], folder)[0] for folder in ('/no such folder', '/'))
    if (ended, next_one) != (1, 0):  # the first ends the process
        faults.append(f'asks: expected one that ended, and a new one, found {ended} and {next_one}')
    made = tempfile.TemporaryDirectory(dir=MEMORY)
    all_sources = sources(pathlib.Path(made.name))
    ask_given(pathlib.Path(made.name))
    for number in range(DRAWS):
        with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
            os.chdir(folder)  # a word that is drawn may be a file that is written
            one(number, folder, all_sources, options)
            os.chdir('/')
    asks.end()
    made.cleanup()
    known = {option for command in options for option in options[command]} - LEFT_OUT
    faults.extend(f'{option}: expected a draw of {DRAWS}, found none' for option in sorted(known) if not asked[option] and DRAWS >= 1000)
    print('draws by option: ' + ', '.join(f'{option} {asked[option]}' for option in sorted(known)))
    print('answers and refusals: ' + ', '.join(f'{command} {answered[command, 0]} and {answered[command, 2]}' for command in FORMATS))
    for line in faults[:30]:
        print(line, file=sys.stderr)
    print(f'questions: seed {SEED}, {DRAWS} draws, {len(faults)} faults')
    return faults != []


if __name__ == '__main__':
    sys.exit(main())
