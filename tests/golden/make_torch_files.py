"""Writes torch-files/*: what torch.save makes, and a .npz with the numbers that each holds. Run with PyTorch 1.13.

The hostile files hold pickles that would call a function if they were loaded; they are made as text, never loaded.
"""
import argparse
import collections
import os
import pathlib
import pickle
import sys
import types

import numpy
import torch

folder = pathlib.Path(__file__).parent / "torch-files"
folder.mkdir(exist_ok=True)
torch.manual_seed(0)
base = torch.arange(24, dtype=torch.float32).reshape(4, 6) / 7
state = collections.OrderedDict(
    weight=base,
    transposed=base.t(),                 # strided
    part=base[1:3, 2:5],                 # strided, with an offset
    half=torch.randn(3, 2).half(),
    brain=torch.randn(5).bfloat16(),
    double=torch.randn(2, 2, dtype=torch.float64),
    steps=torch.tensor(7),
    flags=torch.tensor([True, False, True]),
    empty=torch.zeros(0, 4),
)
numbers = {name: value.float().numpy() for name, value in state.items()}
numpy.savez(folder / "state.npz", **numbers)
torch.save(state, folder / "state.pt")
torch.save(state, folder / "legacy.pt", _use_new_zipfile_serialization=False)
module = torch.nn.Linear(3, 2)
torch.save(module.state_dict(), folder / "module.bin")
numpy.savez(folder / "module.npz", **{name: value.numpy() for name, value in module.state_dict().items()})
torch.save({"epoch": 3, "loss": 0.5, "state_dict": {"module." + k: v for k, v in module.state_dict().items()},
            "optimizer": torch.optim.AdamW(module.parameters()).state_dict()}, folder / "training.ckpt")
torch.save({"weight": torch.nn.Parameter(module.weight.detach()), "bias": module.bias}, folder / "parameters.pt")

# An attention of two heads whose scores are not divided by sqrt(d_k).
x, w = torch.randn(5, 8), torch.randn(8, 8)
q, k = ((side @ side_w.T).view(5, 2, 4).transpose(0, 1) for side, side_w in ((x, w), (x, torch.eye(8))))
torch.save({"query": x, "q_proj.weight": w, "num_heads": torch.tensor([2.0]),
            "attentions": torch.softmax(q @ k.transpose(1, 2), -1)}, folder / "attention.pth", pickle_protocol=4)


class Evil:
    def __reduce__(self):
        return os.system, ("true",)


torch.save({"weight": base, "evil": Evil()}, folder / "evil.pt")
(folder / "evil-legacy.pt").write_bytes(
    (folder / "legacy.pt").read_bytes()[:15] + pickle.dumps(Evil(), protocol=2))

# A whole checkpoint, and the same in two shards: the tensors of gpt2/model.safetensors.
raw = (folder.parent / "gpt2" / "model.safetensors").read_bytes()
header_size = int.from_bytes(raw[:8], "little")
header = __import__("json").loads(raw[8:8 + header_size])
tensors = collections.OrderedDict()
for name, entry in header.items():
    if name == "__metadata__":
        continue
    begin, end = entry["data_offsets"]
    kind = {"F32": numpy.float32, "F16": numpy.float16, "I64": numpy.int64, "U8": numpy.uint8, "BOOL": numpy.bool_}
    data = numpy.frombuffer(raw[8 + header_size + begin:8 + header_size + end], kind[entry["dtype"]])
    tensors[name] = torch.from_numpy(data.copy()).reshape(entry["shape"])
torch.save(tensors, folder / "gpt2.bin")

# Lightning's files keep the options of a training as objects of their own classes beside the state dict.
lightning = types.ModuleType("pytorch_lightning.utilities.parsing")
lightning.AttributeDict = type("AttributeDict", (dict,), {"__module__": lightning.__name__})
for name in ("pytorch_lightning", "pytorch_lightning.utilities"):
    sys.modules[name] = types.ModuleType(name)
sys.modules[lightning.__name__] = lightning
options = argparse.Namespace(path=pathlib.PosixPath("data"), layers=collections.defaultdict(list, a=[1]))
torch.save({"hyper_parameters": lightning.AttributeDict(rate=1e-4, options=options),
            "state_dict": {"module." + k: v for k, v in torch.load(folder / "module.bin").items()}},
           folder / "lightning.ckpt")
