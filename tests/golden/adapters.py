#!/usr/bin/env python3
"""LoRA adapters of every kind that is read, merged by numpy in double precision, against the program's merging.

adapters.py HEADLIGHT GOLDEN : makes adapters of random numbers for golden checkpoints, writes the merged checkpoints
beside them, and compares the hidden states of both.
"""
import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    sys.exit(77)

DTYPES = {"F32": np.float32, "F16": np.float16}
TOLERANCE = 2e-5


def read(path):
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    arrays = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = (8 + size + at for at in entry["data_offsets"])
        arrays[name] = np.frombuffer(data[begin:end], DTYPES[entry["dtype"]]).reshape(entry["shape"])
    return arrays


def write(path, arrays):
    header, at, parts = {}, 0, []
    for name, array in arrays.items():
        data = np.ascontiguousarray(array, np.float32).tobytes()
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [at, at + len(data)]}
        at += len(data)
        parts.append(data)
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(parts))


def states(headlight, out, *source):
    run = subprocess.run([headlight, "export", *source, "--ids", "1,5,9,3,7,2", "-o", str(out)], capture_output=True,
                         text=True)
    if run.returncode != 0:
        sys.exit(f"{source}: {run.stderr}")
    return dict(np.load(out))


def lora(draw, base, module, rank, scale, turned=False, dora=False, embedding=False):
    """The adapter's tensors of a module, and the weight that they make of the base's."""
    weight = base[module + ".weight"].astype(np.float64)
    plain = weight.T if turned or embedding else weight  # (out, in)
    a = draw.normal(0, 0.3, (rank, plain.shape[1])).astype(np.float32)
    b = draw.normal(0, 0.3, (plain.shape[0], rank)).astype(np.float32)
    kind = "lora_embedding_%s" if embedding else "lora_%s.weight"
    tensors = {f"{module}.{kind % 'A'}": a, f"{module}.{kind % 'B'}": b}
    merged = plain + scale * (b.astype(np.float64) @ a.astype(np.float64))
    if dora:
        lengths = draw.uniform(0.5, 1.5, plain.shape[0]).astype(np.float32)
        tensors[f"{module}.lora_magnitude_vector"] = lengths
        merged *= (lengths / np.linalg.norm(merged, axis=1))[:, None]
    return tensors, {module + ".weight": merged.T if turned or embedding else merged}


def cases(golden):
    """(name, base folder, adapters: [(config, tensors)], changed arrays of the base)"""
    draw = np.random.default_rng(60)
    llama, gpt2 = read(golden / "llama-gqa/model.safetensors"), read(golden / "gpt2/model.safetensors")

    def of(base, modules, changes, **more):
        tensors, merged = {}, {}
        config = {"peft_type": "LORA", "r": 4, "lora_alpha": 6, **more}
        for module, change in zip(modules, changes):
            own, new = lora(draw, base, module, **change)
            tensors.update(own)
            merged.update(new)
        return config, tensors, merged

    queries = [f"model.layers.{i}.self_attn.{p}_proj" for i in (0, 1) for p in "qv"]
    config, tensors, merged = of(llama, queries, [dict(rank=4, scale=1.5)] * 4)
    yield "plain", "llama-gqa", [(config, tensors)], merged
    config, tensors, merged = of(
        llama, queries, [dict(rank=4, scale=3), dict(rank=2, scale=5 / 2 ** 0.5)] * 2, use_rslora=True,
        rank_pattern={"v_proj": 2}, alpha_pattern={r".*\.v_pro.": 5})
    yield "rslora, patterns", "llama-gqa", [(config, tensors)], merged
    config, tensors, merged = of(llama, queries, [dict(rank=4, scale=1.5, dora=True)] * 4, use_dora=True)
    yield "DoRA", "llama-gqa", [(config, tensors)], merged
    config, tensors, merged = of(llama, ["model.embed_tokens"], [dict(rank=4, scale=1.5, embedding=True)])
    saved = {"lm_head.weight": draw.normal(0, 1, llama["lm_head.weight"].shape).astype(np.float32),
             "model.norm.weight": llama["model.norm.weight"] * 2}
    yield "embeddings, modules that are saved", "llama-gqa", [(config, {**tensors, **saved})], {**merged, **saved}
    prefix = next(name for name in gpt2 if name.endswith("h.0.attn.c_attn.weight"))[:-len("h.0.attn.c_attn.weight")]
    convolutions = [f"{prefix}h.0.attn.c_attn", f"{prefix}h.1.attn.c_proj"]
    config, tensors, merged = of(gpt2, convolutions, [dict(rank=4, scale=1.5, turned=True)] * 2, bias="all")
    bias = {convolutions[1] + ".bias": draw.normal(0, 1, gpt2[convolutions[1] + ".bias"].shape).astype(np.float32)}
    added = draw.normal(0, 1, gpt2[convolutions[0] + ".bias"].shape).astype(np.float32)
    merged[convolutions[0] + ".bias"] = gpt2[convolutions[0] + ".bias"] + 1.5 * added
    yield ("Conv1D, biases", "gpt2", [(config, {**tensors, **bias, convolutions[0] + ".lora_B.bias": added})],
           {**merged, **bias})
    first, second = (of(llama, queries[:2], [dict(rank=4, scale=1.5)] * 2) for _ in range(2))
    both = {name: first[2][name] + second[2][name] - llama[name] for name in first[2]}
    yield "two adapters", "llama-gqa", [first[:2], second[:2]], both


def main():
    headlight, golden = sys.argv[1], pathlib.Path(sys.argv[2])
    worst = 0
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        for name, folder, adapters, merged in cases(golden):
            here = work / name.replace(" ", "-")
            whole, base = here / "merged", here / "base"
            for copy in (whole, base):
                shutil.copytree(golden / folder, copy, ignore=shutil.ignore_patterns("expected*"))
            arrays = read(base / "model.safetensors")
            write(whole / "model.safetensors", {**arrays, **merged})
            options = []
            for at, (config, tensors) in enumerate(adapters):
                own = here / f"adapter{at}"
                own.mkdir()
                (own / "adapter_config.json").write_text(json.dumps({**config, "base_model_name_or_path": str(base)}))
                write(own / "adapter_model.safetensors",
                      {"base_model.model." + key: value for key, value in tensors.items()})
                options += ["--adapter", str(own)]
            wanted = states(headlight, here / "w.npz", str(whole))
            ways = [("--adapter", [str(base), *options])]
            if len(adapters) == 1:
                ways.append(("its base by name", [str(here / "adapter0")]))
                beside = here / "beside"
                shutil.copytree(base, beside)
                shutil.copytree(here / "adapter0", beside, dirs_exist_ok=True)
                ways.append(("beside its base", [str(beside)]))
                inside = here / "inside"
                shutil.copytree(base, inside)
                (inside / "adapter_config.json").write_text(json.dumps(adapters[0][0]))
                if "saved" not in name and "bias" not in name:
                    write(inside / "model.safetensors", {**arrays, **adapters[0][1]})
                    ways.append(("inside the file", [str(inside)]))
            plain = states(headlight, here / "p.npz", str(base))
            for way, source in ways:
                found = states(headlight, here / "f.npz", *source)
                keys = [key for key in wanted if key.startswith(("hidden", "att"))]
                difference = max(np.abs(found[key] - wanted[key]).max() for key in keys)
                moved = max(np.abs(plain[key] - wanted[key]).max() for key in keys)
                scale = max(np.abs(wanted[key]).max() for key in wanted if key.startswith("hidden"))
                print(f"{name}, {way}: {difference / scale:.1e} of the largest number (the adapter moves {moved:.2g})")
                worst = max(worst, difference / scale)
                if moved < 1e-3:
                    sys.exit("the adapter changes nothing")
            left_out = states(headlight, here / "n.npz", str(here / "beside"), "--adapter", "none") if len(
                adapters) == 1 else plain
            if any((left_out[key] != plain[key]).any() for key in plain if key.startswith("hidden")):
                sys.exit(f"{name}: --adapter none is not the base")
    print(f"worst {worst:.1e}")
    sys.exit(0 if worst < TOLERANCE else 1)


main()
