#!/usr/bin/env python3
"""python/headlight in process: how long a call takes, and how much less processor time than a process.

    in_process.py PROGRAM [--calls 300] [--masks 1000] [--processes 100]
    in_process.py PROGRAM --hooks TOKENS [--rounds 3]

Ten tokens of the shipped encoder on one thread. A call is the question with all arrays of `export --with qkv,scores`; a
sweep asks the weights under one mask after another, here and (of fewer masks) by a process each: `headlight.export`.

With --hooks: GPT-2's shape (tests/large/make_large.py) on one thread, each of its 144 heads switched off, and each put from
one sentence into another: `sweep` and `patch` of the module, beside hooks in torch as TransformerLens has them: a whole pass
for each head, whose hook changes z (tokens, heads, d_k). Processor time; the numbers of both are compared. PyTorch is at its
best with libopenblas0-openmp and OPENBLAS_CORETYPE=SkylakeX where there is AVX-512."""
import argparse
import functools
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
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


def hooked_gpt2(folder):
    """A function of ids and hooks ({layer: change of z}) to the logits of all tokens: GPT-2 in torch by the checkpoint's weights."""
    import numpy as np
    import torch
    from torch.nn import functional as F

    data = np.memmap(Path(folder, "model.safetensors"), np.uint8)
    size = int(data[:8].view(np.int64)[0])
    header = json.loads(bytes(data[8:8 + size]))
    header.pop("__metadata__", None)
    weights = {name.removeprefix("transformer."): torch.from_numpy(
        np.array(data[8 + size + one["data_offsets"][0]:8 + size + one["data_offsets"][1]]).view(np.float32).reshape(one["shape"]))
        for name, one in header.items()}
    config = json.loads(Path(folder, "config.json").read_text())
    layers, heads, d = config["n_layer"], config["n_head"], config["n_embd"]
    norm = lambda x, name: F.layer_norm(x, (d,), weights[name + ".weight"], weights[name + ".bias"])
    linear = lambda x, name: torch.addmm(weights[name + ".bias"], x, weights[name + ".weight"])

    def run(ids, hooks={}):
        x, tokens = weights["wte.weight"][ids] + weights["wpe.weight"][:len(ids)], len(ids)
        mask = torch.full((tokens, tokens), -math.inf).triu(1)
        for layer in range(layers):
            at = f"h.{layer}."
            q, k, v = linear(norm(x, at + "ln_1"), at + "attn.c_attn").view(tokens, 3, heads, -1).permute(1, 2, 0, 3)
            z = (torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(d // heads) + mask, -1) @ v).transpose(0, 1)
            z = hooks[layer](z) if layer in hooks else z
            x = x + linear(z.reshape(tokens, d), at + "attn.c_proj")
            x = x + linear(F.gelu(linear(norm(x, at + "ln_2"), at + "mlp.c_fc"), approximate="tanh"), at + "mlp.c_proj")
        return norm(x, "ln_f") @ weights["wte.weight"].T
    return run, (layers, heads)


def beside_hooks(tokens, rounds):
    """Prints the processor seconds of both ways, and how far their numbers are apart."""
    import headlight
    import numpy as np
    import torch

    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder, torch.inference_mode():
        subprocess.run([sys.executable, str(ROOT / "tests" / "large" / "make_large.py"), folder, "gpt2-small"], check=True,
                       stdout=subprocess.DEVNULL)
        run, shape = hooked_gpt2(Path(folder, "gpt2-small"))
        model = headlight.open(Path(folder, "gpt2-small"), threads=1)
        ids = [[at % 977 for at in range(tokens)], [(at + 1) % 977 for at in range(tokens)]]
        clean, corrupt = (model(ids=one) for one in ids)
        kept, kind = {}, (lambda change: lambda layer, head: float(run(ids[1], {layer: functools.partial(change, layer, head)})[-1, 7]))

        def keep(layer, z):
            kept[layer] = z
            return z

        def off(layer, head, z):
            z = z.clone()
            z[:, head] = 0
            return z

        def put(layer, head, z):
            z = z.clone()
            z[:, head] = kept[layer][:, head]
            return z
        run(ids[0], {layer: functools.partial(keep, layer) for layer in range(shape[0])})
        ways = {"heads off": (lambda: model.sweep(None, lambda answer: answer.logits[-1, 7], ids=ids[1]), kind(off)),
                "heads put": (lambda: model.patch(clean, corrupt, lambda logits: logits[-1, 7]), kind(put))}
        for name, (own, of_head) in ways.items():
            times = []
            for _ in range(rounds):
                begin = time.process_time()
                found = own()
                middle = time.process_time()
                expected = np.array([of_head(*place) for place in np.ndindex(shape)]).reshape(shape)
                times.append((middle - begin, time.process_time() - middle))
            here, there = (statistics.median(column) for column in zip(*times))
            print(f"{name}, {tokens} tokens, {math.prod(shape)} heads: {here:.2f} s of processor time, by hooks in torch "
                  f"{torch.__version__} {there:.2f} s: {there / here:.2f} times as much; largest difference "
                  f"{abs(found - expected).max():.1e}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    for name, default in (("calls", 300), ("masks", 1000), ("processes", 100)):
        parser.add_argument("--" + name, type=int, default=default)
    parser.add_argument("--hooks", type=int, metavar="TOKENS")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    os.environ.update(HEADLIGHT=os.path.abspath(given.program), OMP_NUM_THREADS="1")
    sys.path.insert(0, str(ROOT / "python"))
    if given.hooks:
        beside_hooks(given.hooks, given.rounds)
        return
    times, tokens, arrays, inside, process = measured(given.calls, given.masks, given.processes)
    print(f"a call: {tokens} tokens, {arrays} arrays: median {1e3 * statistics.median(times):.2f} ms, "
          f"best {1e3 * min(times):.2f} ms")
    print(f"a mask of {given.masks}: {1e3 * inside:.2f} ms of processor time, by a process {1e3 * process:.1f} ms: "
          f"{process / inside:.0f} times as much")


if __name__ == "__main__":
    main()
