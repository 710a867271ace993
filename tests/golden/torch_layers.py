#!/usr/bin/python3
"""Writes what torch.nn's own layers answer: torch_layers.py [--check]

Needs PyTorch 1.13 or later (Debian: python3-torch); the tests need only the files it wrote. Into torch-*/ beside this
script go layers.safetensors, the layers' state_dict and inputs, and expected.npz, under the names of Headlight's
exports.
--check writes nothing: it computes again and says whether that is what is stored, to within 1e-6.
Weights are drawn wide, so that attention is far from uniform and a wrong scale, mask or norm shows."""

import json
import pathlib
import struct
import sys

import numpy
import torch
from torch import nn

FOLDER = pathlib.Path(__file__).parent
D_MODEL, HEADS, LAYERS, FFN = 24, 3, 2, 40
T, S = 7, 5


class Recording(nn.MultiheadAttention):
    """Keeps the weights of each head, which the layers do not ask for."""

    def forward(self, *arguments, **options):
        options.update(need_weights=True, average_attn_weights=False)
        output, self.weights = super().forward(*arguments, **options)
        return output, self.weights


def record(module):
    for part in module.modules():
        if type(part) is nn.MultiheadAttention:
            part.__class__ = Recording


def draw(module, random):
    """Every parameter anew: matrices wide enough for scores of a few units, norms and biases away from 1 and 0."""
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            values = random.standard_normal(tuple(parameter.shape))
            if parameter.dim() == 2:
                # What a decoder reads from its encoder has grown alike by then: wider still.
                values *= (3 if "multihead_attn.in_proj" in name else 1.5) / numpy.sqrt(parameter.shape[1])
            elif "norm" in name and name.endswith("weight"):
                values = 1 + 0.2 * values
            else:
                values *= 0.3
            parameter.copy_(torch.from_numpy(values.astype(numpy.float32)))
    return module.train()  # with dropout 0; eval() may take a fused path that keeps no weights


def inputs(random, rows, columns=D_MODEL):
    return torch.from_numpy(random.standard_normal((1, rows, columns)).astype(numpy.float32))


def padding(rows, count):
    mask = torch.zeros(1, rows, dtype=torch.bool)
    mask[0, rows - count:] = True
    return mask


def causal(rows):
    return torch.full((rows, rows), float("-inf")).triu(1)


def weights(attentions):
    return torch.stack([attention.weights[0] for attention in attentions])


def keep_outputs(layers, first):
    """hidden_states: what goes into the first layer, and what comes out of each."""
    states = [first[0]]
    for layer in layers:
        layer.register_forward_hook(lambda module, given, result: states.append(result[0]))
    return states


def one_stack(seed, activation, norm_first, mask=None, padded=0):
    random = numpy.random.RandomState(seed)
    layer = nn.TransformerEncoderLayer(D_MODEL, HEADS, FFN, 0.0, activation, batch_first=True, norm_first=norm_first)
    norm = nn.LayerNorm(D_MODEL) if norm_first else None
    model = draw(nn.TransformerEncoder(layer, LAYERS, norm, enable_nested_tensor=False), random)
    record(model)
    x = inputs(random, T)
    states = keep_outputs(model.layers, x)
    output = model(x, mask=mask, src_key_padding_mask=padding(T, padded) if padded else None)
    given = {**model.state_dict(), "input": x[0]}
    expected = {"attentions": weights(layer.self_attn for layer in model.layers), "hidden_states": torch.stack(states),
                "last_hidden_state": output[0]}
    return given, expected, {"arch": "decoder" if mask is not None else "encoder", "padded": padded,
                             "norm": "pre" if norm_first else "post", "activation": activation}


def encoder_decoder(seed, activation, norm_first, padded):
    random = numpy.random.RandomState(seed)
    model = draw(nn.Transformer(D_MODEL, HEADS, LAYERS, LAYERS, FFN, 0.0, activation, batch_first=True,
                                norm_first=norm_first), random)
    model.encoder.enable_nested_tensor = False
    record(model)
    source, target = inputs(random, S), inputs(random, T)
    encoder_states = keep_outputs(model.encoder.layers, source)
    states = keep_outputs(model.decoder.layers, target)
    hidden = padding(S, padded)
    output = model(source, target, tgt_mask=causal(T), src_key_padding_mask=hidden, memory_key_padding_mask=hidden)
    memory = model.encoder(source, src_key_padding_mask=hidden)
    encoder, decoder = model.encoder.layers, model.decoder.layers
    given = {**model.state_dict(), "source": source[0], "target": target[0]}
    expected = {"encoder_attentions": weights(layer.self_attn for layer in encoder),
                "decoder_attentions": weights(layer.self_attn for layer in decoder),
                "cross_attentions": weights(layer.multihead_attn for layer in decoder),
                "encoder_hidden_states": torch.stack(encoder_states[:LAYERS + 1]),
                "decoder_hidden_states": torch.stack(states),
                "encoder_last_hidden_state": memory[0], "last_hidden_state": output[0]}
    return given, expected, {"arch": "encoder-decoder", "padded": padded, "norm": "pre" if norm_first else "post",
                             "activation": activation}


def attention(seed, key_columns, value_columns):
    """nn.MultiheadAttention over keys and values of other widths, as a tensors file."""
    random = numpy.random.RandomState(seed)
    model = draw(nn.MultiheadAttention(D_MODEL, HEADS, kdim=key_columns, vdim=value_columns, batch_first=True), random)
    query, key, value = inputs(random, T), inputs(random, S, key_columns), inputs(random, S, value_columns)
    allowed = torch.from_numpy(random.standard_normal((T, S)) > -0.7)
    allowed[:, 0] = True
    output, weight = model(query, key, value, attn_mask=~allowed, average_attn_weights=False)
    biases = model.in_proj_bias.chunk(3)
    given = {"query": query[0], "key": key[0], "value": value[0], "mask": allowed,
             "q_proj.weight": model.q_proj_weight, "q_proj.bias": biases[0],
             "k_proj.weight": model.k_proj_weight, "k_proj.bias": biases[1],
             "v_proj.weight": model.v_proj_weight, "v_proj.bias": biases[2],
             "out_proj.weight": model.out_proj.weight, "out_proj.bias": model.out_proj.bias}
    return given, {"attentions": weight, "output": output[0]}, {"num_heads": str(HEADS)}


def cases():
    yield "torch-encoder", one_stack(1, "relu", False, padded=2)
    yield "torch-encoder-prenorm", one_stack(2, "gelu", True)
    yield "torch-decoder", one_stack(3, "gelu", False, mask=causal(T))
    yield "torch-decoder-prenorm", one_stack(4, "relu", True, mask=causal(T))
    yield "torch-encoder-decoder", encoder_decoder(5, "relu", False, padded=1)
    yield "torch-encoder-decoder-prenorm", encoder_decoder(6, "gelu", True, padded=2)
    yield "torch-attention-kdim", attention(7, 20, 16)


def as_arrays(tensors):
    return {name: tensor.detach().numpy() for name, tensor in tensors.items()}


def write_safetensors(path, arrays, metadata):
    header, data = {"__metadata__": {key: str(value) for key, value in metadata.items()}}, b""
    for name in sorted(arrays):
        array = arrays[name]
        kind = {"float32": "F32", "bool": "BOOL"}[array.dtype.name]
        piece = numpy.ascontiguousarray(array).tobytes()
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(piece)]}
        data += piece
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def read_safetensors(path):
    stored = path.read_bytes()
    length, = struct.unpack_from("<Q", stored)
    header, data = json.loads(stored[8:8 + length]), stored[8 + length:]
    return {name: numpy.frombuffer(data[slice(*entry["data_offsets"])],
                                   {"F32": "<f4", "BOOL": "?"}[entry["dtype"]]).reshape(entry["shape"])
            for name, entry in header.items() if name != "__metadata__"}


def largest_difference(stored, computed):
    if set(stored) != set(computed) or any(stored[name].shape != computed[name].shape for name in stored):
        return numpy.inf
    return max(numpy.abs(stored[name].astype(float) - computed[name].astype(float)).max() for name in stored)


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit(__doc__)
    torch.set_num_threads(1)
    worst = 0.0
    for name, (given, expected, metadata) in cases():
        folder = FOLDER / name
        given, expected = as_arrays(given), as_arrays(expected)
        if check:
            with numpy.load(folder / "expected.npz") as stored:
                difference = largest_difference(dict(stored), expected)
            difference = max(difference, largest_difference(read_safetensors(folder / "layers.safetensors"), given))
            print(f"{name}: {difference:.3g}")
            worst = max(worst, difference)
        else:
            folder.mkdir(exist_ok=True)
            write_safetensors(folder / "layers.safetensors", given, metadata)
            numpy.savez(folder / "expected.npz", **expected)
            print(f"{name}: {sum(array.size for array in expected.values())} numbers, largest weights "
                  + ", ".join(f"{key} {array.max():.3f}" for key, array in expected.items() if "attentions" in key))
    if worst > 1e-6:
        sys.exit("what is stored is not what torch computes")


if __name__ == "__main__":
    with torch.enable_grad():
        main()
