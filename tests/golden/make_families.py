#!/usr/bin/python3
"""Writes small checkpoints of each family and what its published formulas answer: make_families.py [--check | NAME …]

Needs PyTorch 1.13 or later (Debian: python3-torch); the tests need only the files it wrote. Into family-*/ beside this
script go config.json, model.safetensors (or shards), case.json with the ids, and expected.npz, which holds the answers
under the names of Headlight's exports, and the ids once more, as a reference.npz does. --check writes nothing: it
computes again and says whether that is what is stored, to within 1e-6.
Every formula (families/*.py) is computed in double precision from the papers that core/read/hub/families.json names; the names of
tensors and keys are those of Hugging Face's files. Weights are drawn wide, so that attention is far from uniform and a
wrong scale, mask, position or norm shows."""

import json
import pathlib
import struct
import sys

import numpy
import torch

from families import decoders, encoder_decoders, encoders, grouped, newer, own, parallel, positions

FOLDER = pathlib.Path(__file__).parent


def safetensors(tensors):
    header, data = {}, b""
    for name in sorted(tensors):
        tensor = tensors[name].contiguous()
        half = tensor.dtype == torch.bfloat16
        values = (tensor.view(torch.int16) if half else tensor).numpy().tobytes()
        header[name] = {"dtype": "BF16" if half else "F32", "shape": list(tensor.shape),
                        "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def weight_files(tensors, shards):
    if shards == 1:
        return {"model.safetensors": safetensors(tensors)}
    files, names = {}, sorted(tensors)
    weight_map = {}
    for shard in range(shards):
        file = f"model-{shard + 1:05}-of-{shards:05}.safetensors"
        part = {name: tensors[name] for name in names[shard::shards]}
        files[file] = safetensors(part)
        weight_map.update({name: file for name in part})
    index = {"metadata": {"total_size": sum(t.numel() * t.element_size() for t in tensors.values())},
             "weight_map": weight_map}
    files["model.safetensors.index.json"] = json.dumps(index, indent=1).encode()
    return files


CASES = {"roberta": encoders.roberta, "xlm-roberta": encoders.xlm_roberta, "electra": encoders.electra,
         "distilbert": encoders.distilbert, "llama3-sharded": decoders.llama3, "mistral": decoders.mistral,
         "mistral-base": decoders.mistral_base, "qwen2": decoders.qwen2, "qwen2-seven": decoders.qwen2_seven, "qwen2-padded": decoders.qwen2_padded, "qwen3": decoders.qwen3,
         "bart": encoder_decoders.bart, "t5": encoder_decoders.t5, "mt5-gated": encoder_decoders.t5_gated,
         "ernie": encoders.ernie, "albert": encoders.albert, "mpnet": encoders.mpnet, "opt": decoders.opt, "opt-post": decoders.opt_post,
         "bloom": decoders.bloom, "gemma": decoders.gemma, "phi3": decoders.phi3, "pegasus": encoder_decoders.pegasus,
         "m2m_100": encoder_decoders.m2m_100, "gpt_neox": parallel.gpt_neox,
         "gpt_neox-sequential": parallel.gpt_neox_sequential, "gptj": parallel.gptj, "phi": parallel.phi,
         "falcon-7b": parallel.falcon_multi_query, "falcon-40b": parallel.falcon_grouped,
         "falcon-sequential": parallel.falcon_sequential, "gemma2": grouped.gemma2, "gemma3": grouped.gemma3, "gemma3-pictures": grouped.gemma3_pictures,
         "olmo2": grouped.olmo2, "mixtral": grouped.mixtral, "qwen2_moe": grouped.qwen2_moe,
         "qwen3_moe": grouped.qwen3_moe, "mistral-window": grouped.mistral_window, "modernbert": positions.modernbert,
         "falcon-rw": parallel.falcon_alibi, "headlight-sinks": own.sinks, "headlight-sinks-bf16": own.sinks_capped,
         "deberta-v3": positions.deberta_v3, "deberta-v2": positions.deberta_v2,
         **{name: getattr(newer, name.replace("-", "_").replace(".", "_")) for name in
            ("gpt_neo", "olmo", "granite", "smollm3", "starcoder2", "deberta", "mbart", "llava", "mistral3", "qwen2_vl",
             "qwen2_5_vl", "bert-pruned", "clip_text_model", "siglip_text_model")}}


def main():
    check = sys.argv[1:] == ["--check"]
    worst = 0.0
    for name, make in CASES.items():
        if sys.argv[1:] and not check and name not in sys.argv[1:]:
            continue
        folder = FOLDER / ("family-" + name)
        config, case, weights, answer, *others = make()
        arrays = {key: value.numpy().astype(numpy.float32) for key, value in answer.items()}
        arrays.update({key: numpy.array(ids, dtype=numpy.int64) for key, ids in case.items()})
        spread = max(float(value.max()) for key, value in arrays.items() if "attentions" in key)
        assert all(numpy.isfinite(value).all() for value in arrays.values()) and spread > 0.8, (name, spread)
        if check:
            stored = numpy.load(folder / "expected.npz")
            assert sorted(stored.files) == sorted(arrays), name
            for key, value in arrays.items():
                worst = max(worst, float(numpy.abs(stored[key] - value).max()) / max(1.0, float(numpy.abs(value).max())))
            continue
        folder.mkdir(exist_ok=True)
        (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
        for file, text in (others[0] if others else {}).items():
            (folder / file).write_text(text)
        (folder / "case.json").write_text(json.dumps(case) + "\n")
        numpy.savez_compressed(folder / "expected.npz", **arrays)
        for file, data in weight_files(weights, 2 if "sharded" in name else 1).items():
            (folder / file).write_bytes(data)
        print(name, {key: value.shape for key, value in arrays.items()})
    if check:
        print("largest difference:", worst)
        return 0 if worst < 1e-6 else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
