#!/usr/bin/env python3
"""All heads of a model patched and switched off, by the program as it is shipped, beside the same patches in PyTorch:

  tests/bench/sweep.py PROGRAM [--rounds R] [--tokens T] [--llama] [--folder DIR]

Needs NumPy and PyTorch (`/usr/bin/python3` of Debian). The checkpoint of GPT-2-small's shape with random weights is made
in DIR, by default a temporary folder. With --llama also all 704 heads of a 1.1 B Llama's shape (2.2 GB on the disk,
64 tokens, all threads, one round). Seconds of a process less those of `next`, which opens the same checkpoint and answers
once; ratio: PyTorch / Headlight, above 1 Headlight is quicker."""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
COMMANDS = {"patch": ["patch", "--at", "heads", "--metric", "kl", "--format", "npz"], "effect": ["heads", "--effect", "--format", "csv"]}


def ids_of(tokens, shift):
    return ",".join(str((token + shift) % 977) for token in range(tokens))


def seconds(program, folder, name, words, tokens, threads):
    """Of one process."""
    command, *options = words
    asked = ["--ids", ids_of(tokens, 0), "--threads", str(threads)]
    if name == "patch":
        options = [*options, "--from", "--ids " + ids_of(tokens, 1)]
    begin = time.perf_counter()
    subprocess.run([program, command, str(folder), *asked, *options], check=True, stdout=subprocess.DEVNULL,
                   env=dict(os.environ, HEADLIGHT_PROGRESS="0"))
    return time.perf_counter() - begin


def sweep(program, folder, name, tokens, threads, rounds):
    """The median over the rounds, without opening and answering."""
    taken = []
    for _ in range(rounds):
        once = seconds(program, folder, "next", ["next", "--top", "1"], tokens, threads)
        taken.append(seconds(program, folder, name, COMMANDS[name], tokens, threads) - once)
    return statistics.median(taken)


def torch_sweep(tokens, threads, rounds):
    """The same patches as one batch a layer (peer_torch.py)."""
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads))
    peer = subprocess.Popen([sys.executable, str(HERE / "peer_torch.py"), str(threads), "sweep", str(tokens)],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
    taken = []
    ready = peer.stdout.readline().strip()
    if ready != "ready":
        raise SystemExit(f"peer_torch.py: {ready or 'ended'} (run with a python3 that has torch)")
    for _ in range(rounds):
        peer.stdin.write("\n")
        peer.stdin.flush()
        taken.append(float(peer.stdout.readline()))
    peer.stdin.close()
    peer.wait()
    return statistics.median(taken)


def made(name, folder):
    if not (folder / name / "model.safetensors").exists():
        subprocess.run([sys.executable, str(HERE.parent / "large" / "make_large.py"), str(folder), name], check=True,
                       stdout=subprocess.DEVNULL)
    return folder / name


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--llama", action="store_true")
    parser.add_argument("--folder", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or pathlib.Path(temporary)
        model = made("gpt2-small", folder)
        print(f"load {os.getloadavg()[0]:.1f}; 144 heads, {options.tokens} tokens, {options.rounds} rounds, seconds")
        found = {}
        for threads in (1, 2):
            theirs = torch_sweep(options.tokens, threads, options.rounds)
            for name in COMMANDS:
                found[name, threads] = ours = sweep(options.program, model, name, options.tokens, threads, options.rounds)
                beside = f"  PyTorch, batched {theirs:7.2f}  ratio {theirs / ours:.2f}" if name == "patch" else ""
                print(f"{name:6}  {threads} thread(s)  {ours:7.2f}{beside}", flush=True)
        for name in COMMANDS:
            print(f"{name:6}  two threads are {found[name, 1] / found[name, 2]:.2f} times one")
        if options.llama:
            llama = made("llama-1.1b", folder)
            print(f"effect  704 heads of a 1.1 B Llama's shape, all threads  {sweep(options.program, llama, 'effect', 64, 0, 1):7.1f}")


main()
