#!/usr/bin/env python3
"""python/headlight in process: how long a call takes, and how much less processor time than a process.

    in_process.py PROGRAM [--calls 300] [--masks 1000] [--processes 100]

Ten tokens of the shipped encoder on one thread. A call is the question with all arrays of `export --with qkv,scores`; a
sweep asks the weights under one mask after another, here and (of fewer masks) by a process each: `headlight.export`."""
import argparse
import os
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEXT = "我请李雷帮我订了去北京的机票"


def measured(calls, masks, processes):
    """Times of calls in seconds, tokens and arrays of each; processor seconds of a mask here and by a process."""
    import headlight

    model, times = headlight.open(threads=1), []
    for _ in range(calls):
        begin = time.perf_counter()
        answer = model(TEXT, mask="causal")
        arrays = [answer[name] for name in answer.keys()]
        times.append(time.perf_counter() - begin)
    words = [f"window:{1 + at % 9}+prefix:{1 + at // 9 % 9}" for at in range(masks)]
    begin = time.process_time()
    for mask in words:
        model(TEXT, mask=mask).attentions
    inside, before = (time.process_time() - begin) / masks, os.times()
    for mask in words[:processes]:
        headlight.export(TEXT, mask=mask, threads=1)["attentions"]
    return times, len(answer.tokens), len(arrays), inside, (sum(os.times()[:4]) - sum(before[:4])) / processes


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    for name, default in (("calls", 300), ("masks", 1000), ("processes", 100)):
        parser.add_argument("--" + name, type=int, default=default)
    given = parser.parse_args()
    os.environ.update(HEADLIGHT=os.path.abspath(given.program), OMP_NUM_THREADS="1")
    sys.path.insert(0, str(ROOT / "python"))
    times, tokens, arrays, inside, process = measured(given.calls, given.masks, given.processes)
    print(f"a call: {tokens} tokens, {arrays} arrays: median {1e3 * statistics.median(times):.2f} ms, "
          f"best {1e3 * min(times):.2f} ms")
    print(f"a mask of {given.masks}: {1e3 * inside:.2f} ms of processor time, by a process {1e3 * process:.1f} ms: "
          f"{process / inside:.0f} times as much")


if __name__ == "__main__":
    main()
