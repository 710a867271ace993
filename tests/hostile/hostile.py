#!/usr/bin/python3
"""Hostile files and requests, asked of the program and of the Python module: hostile.py PROGRAM [SEED [CASES|all]]

Each case (cases.py) ends with the same code in the program (`headlight export`, HEADLIGHT_ERRORS=json), in the library
that Python opens (`headlight.open(SOURCE)(…)`) and, of every tenth, in `headlight.export`; or all three answer it. A
fault: other codes; an exit status that is not 2 with one line; another exception than headlight.Error; more than 10
seconds of processor or 2 GB; output of a question that was refused. Exit status 77 where numpy is missing."""

import collections
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

try:
    import numpy as np  # noqa: F401
except ImportError:
    sys.exit(77)

PROGRAM, SEED, COUNT = os.path.abspath(sys.argv[1]), int((sys.argv[2:] + ['1'])[0]), (sys.argv[3:] + ['150'])[0]
os.environ.update(OMP_NUM_THREADS='1', HEADLIGHT=PROGRAM, HEADLIGHT_PROGRESS='0', HEADLIGHT_ERRORS='json')
os.environ.pop('HEADLIGHT_LIBRARY', None)
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / 'python')]
import headlight  # noqa: E402
from cases import cases  # noqa: E402
from headlight.library import library  # noqa: E402

SECONDS, BYTES = 10, 2 << 30
ALSO = {'source': ['what', 'tokenize'], 'config': ['check', 'what'], 'tokenizer': ['tokenize'], 'request': ['heads', 'next', 'lens']}
faults, codes = [], collections.Counter()


def spent(what, case, before, peak):
    """A fault where a process that ended took more than it may."""
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if seconds > SECONDS:
        fault(case, f'{what}: {seconds:.1f} s of processor')
    if after.ru_maxrss * 1024 > max(BYTES, peak):
        fault(case, f'{what}: {after.ru_maxrss >> 10} MB')
    return max(peak, after.ru_maxrss * 1024)


def fault(case, line):
    faults.append(f'{case.name}: {case.source[:200]!r} {str(case.options)[:200]}: {line}')
    print(f'FAULT {faults[-1]}', flush=True)


def options_of(case):
    words = []
    for name, value in case.options.items():
        words += ['--' + name.replace('_', '-'), value]
    return words


def program(case, command='export', more=('--format', 'json')):
    """The code that the program ends with; 'ok'."""
    words = [command, *([case.source] if case.source else []), *options_of(case), *more]
    try:
        done = subprocess.run([PROGRAM, *words], stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=100)
    except subprocess.TimeoutExpired:
        return 'no answer in 100 s'
    said = done.stderr.decode(errors='replace')
    if done.returncode == 0 or (done.returncode == 1 and command == 'check'):
        return 'ok'
    lines = [line for line in said.splitlines() if not line.startswith('warning: ')]
    if done.returncode != 2 or len(lines) != 1 or done.stdout or len(lines[0]) > 5000:
        fault(case, f'{command}: expected status 2, one line and nothing else, found {done.returncode}, {len(done.stdout)} bytes, {said[:300]!r}')
        return 'none'
    try:
        return json.loads(lines[0])['code']
    except (ValueError, KeyError):
        fault(case, f'{command}: expected an error as JSON, found {lines[0][:200]!r}')
        return 'none'


def python(case, ask):
    """The code of the Error that a function raises; 'ok'."""
    try:
        ask(case)
        return 'ok'
    except headlight.Error as error:
        if '\n' in str(error) or len(str(error)) > 5000:
            fault(case, f'expected one line, found {str(error)[:300]!r}')
        return error.code
    except BaseException as error:
        fault(case, f'expected headlight.Error, found {type(error).__name__}: {str(error)[:300]}')
        return type(error).__name__


def in_process(case):
    answer = headlight.open(case.source or None)(**case.options)
    for name in answer.keys()[:3]:
        answer[name]


def by_program(case):
    headlight.export(source=case.source or None, **{**case.options, **({} if 'text' in case.options else {'text': None})})


def of_python(asked):
    """Of each case the codes of both ways, from a process that may die of one: the next goes on behind it."""
    answers = {}
    while len(answers) < len(asked):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            resource.setrlimit(resource.RLIMIT_CPU, (len(asked) + 60,) * 2)
            with os.fdopen(writer, 'w') as told, open(os.devnull, 'w') as nowhere:
                os.dup2(nowhere.fileno(), 2)
                for i, case in enumerate(asked):
                    if i in answers:
                        continue
                    held, before = len(faults), resource.getrusage(resource.RUSAGE_SELF)
                    both = [python(case, in_process) if library() else None, python(case, by_program) if i % 10 == 0 else None]
                    after = resource.getrusage(resource.RUSAGE_SELF)
                    if after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime > SECONDS:
                        fault(case, 'in process: more than 10 s of processor')
                    if after.ru_maxrss * 1024 > BYTES >= before.ru_maxrss * 1024:
                        fault(case, f'in process: {after.ru_maxrss >> 10} MB')
                    told.write(json.dumps([i, both, faults[held:]]) + '\n')
                    told.flush()
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as told:
            for line in told:
                i, both, new = json.loads(line)
                answers[i] = both
                faults.extend(new)
        _, status = os.waitpid(child, 0)
        if status:
            dead = next(i for i in range(len(asked)) if i not in answers)
            fault(asked[dead], f'the process of Python ended with {status}')
            answers[dead] = ['dead', None]
    return answers


def main():
    with tempfile.TemporaryDirectory(prefix='headlight-hostile-') as folder:
        made = cases(folder, SEED)
        step = 1 if COUNT == 'all' else max(1, len(made) // int(COUNT))
        asked = made[SEED % step::step]
        answers = of_python(asked)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        for i, case in enumerate(asked):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            code = program(case)
            peak = spent('export', case, before, peak)
            codes[code] += 1
            for way, other in zip(('in process', 'headlight.export'), answers[i]):
                if other is not None and other != code:
                    fault(case, f'program: {code}, {way}: {other}')
            also = ALSO.get(case.kind)
            if also:
                command = also[i % len(also)]
                program(case, command, ('--format', 'json') if command not in ('what',) else ())
                peak = spent(command, case, before, peak)
        kinds = collections.Counter(case.kind for case in asked)
        print(f'{len(asked)} of {len(made)} cases ({", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items()))})')
        print(', '.join(f'{n} {code}' for code, n in codes.most_common()))
    print(f'{len(faults)} faults' if faults else 'one code for each')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
