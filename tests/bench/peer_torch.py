"""peer_torch.py THREADS attention T D_MODEL HEADS | products T D_MODEL | model bert-base|gpt2-small T | sweep T | train: the same
in PyTorch.

Attention is torch.nn.MultiheadAttention returning the weights of each head. A model is written as Hugging Face's eager
path is, one product for query, key and value, and gives the attention of every head; the decoder's output layer is
asked for the last token only, as ours is. `products` is what an attention's multiplications take at the pace at which
the BLAS behind PyTorch makes one projection, softmax and all else left out. Training is train_torch.py's step."""
import math
import sys

try:
    import torch
    from torch import nn
    from torch.nn import functional as F
except ImportError:
    sys.exit(print("python3-torch is not installed", flush=True))

from peer import serve
from train_torch import training

# Debian's reference BLAS takes forty times as long: no peer.
if not torch.backends.mkl.is_available() and "openblas" not in open("/proc/self/maps").read():
    sys.exit(print("its BLAS is not OpenBLAS: libopenblas0-openmp is not installed", flush=True))


class Block(nn.Module):
    def __init__(self, d, heads, ffn, pre):
        super().__init__()
        self.d, self.heads, self.pre = d, heads, pre
        self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.up, self.down = nn.Linear(d, ffn), nn.Linear(ffn, d)

    def attend(self, x, mask):
        t = x.shape[0]
        q, k, v = self.qkv(x).view(t, 3, self.heads, self.d // self.heads).permute(1, 2, 0, 3)
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.d // self.heads)
        weights = torch.softmax(scores if mask is None else scores + mask, -1)
        return self.out((weights @ v).transpose(0, 1).reshape(t, self.d)), weights

    def forward(self, x, mask):
        gelu = (lambda y: F.gelu(y, approximate="tanh")) if self.pre else F.gelu
        added, weights = self.attend(self.norm1(x) if self.pre else x, mask)
        x = x + added if self.pre else self.norm1(x + added)
        y = self.down(gelu(self.up(self.norm2(x) if self.pre else x)))
        return (x + y if self.pre else self.norm2(x + y)), weights


class Model(nn.Module):
    def __init__(self, decoder, d=768, heads=12, ffn=3072, layers=12, words=50257, longest=512):
        super().__init__()
        self.tokens, self.places = nn.Embedding(words if decoder else 30522, d), nn.Embedding(longest, d)
        self.blocks = nn.ModuleList(Block(d, heads, ffn, decoder) for _ in range(layers))
        self.norm, self.decoder = nn.LayerNorm(d), decoder

    def forward(self, ids):
        x = self.tokens(ids) + self.places.weight[:len(ids)]
        mask = torch.full((len(ids), len(ids)), -math.inf).triu(1) if self.decoder else None
        if not self.decoder:
            x = self.norm(x)
        attentions = []
        for block in self.blocks:
            x, weights = block(x, mask)
            attentions.append(weights)
        return (F.linear(self.norm(x[-1:]), self.tokens.weight) if self.decoder else x), attentions


def sweep(tokens):
    """Every head's z of one sentence in the pass of another. As patch_answers does it: the heads of a layer are one
    batch, which begins behind that layer's attention, and of the last layer the last token alone is asked for."""
    answering = Model(True).eval()
    mask = torch.full((tokens, tokens), -math.inf).triu(1)

    def heads_of(block, x):
        n, t, _ = x.shape
        q, k, v = block.qkv(block.norm1(x)).view(n, t, 3, block.heads, -1).permute(2, 0, 3, 1, 4)
        return (torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]) + mask, -1) @ v).transpose(1, 2)

    def behind(block, x, z):
        x = x + block.out(z.reshape(*z.shape[:2], block.d))
        return x + block.down(F.gelu(block.up(block.norm2(x)), approximate="tanh"))

    def passed(ids):
        x, streams, heads = (answering.tokens(ids) + answering.places.weight[:tokens])[None], [], []
        for block in answering.blocks:
            streams.append(x)
            heads.append(heads_of(block, x))
            x = behind(block, x, heads[-1])
        return streams, heads

    ids = torch.arange(tokens) % 977
    (_, clean), (streams, corrupt) = passed(ids), passed((ids + 1) % 977)

    def run():
        logits = []
        for layer, block in enumerate(answering.blocks):
            z = corrupt[layer].repeat(block.heads, 1, 1, 1)
            each = torch.arange(block.heads)
            z[each, :, each] = clean[layer][0].transpose(0, 1)
            x = streams[layer]
            for above in answering.blocks[layer:]:
                last = above is answering.blocks[-1]
                z = z if above is block else heads_of(above, x)
                x = behind(above, x[:, -1:] if last else x, z[:, -1:] if last else z)
            logits.append(F.linear(answering.norm(x[:, -1]), answering.tokens.weight))
        return logits
    return run


def attention(tokens, d_model, heads):
    module = nn.MultiheadAttention(d_model, heads, batch_first=True).eval()
    x = torch.rand(1, tokens, d_model)
    return lambda: module(x, x, x, need_weights=True, average_attn_weights=False)


def projection(tokens, d_model):
    x, weight = torch.rand(tokens, d_model), torch.rand(d_model, d_model)
    return lambda: x @ weight


def model(name, tokens):
    answering = Model(name == "gpt2-small").eval()
    ids = torch.arange(int(tokens)) % 977
    return lambda: answering(ids)


def main():
    torch.set_num_threads(int(sys.argv[1]))
    torch.manual_seed(0)
    what, *words = sys.argv[2:]
    if what == "train":
        serve(training())
        return
    with torch.inference_mode():
        if what == "products":
            tokens, d_model = map(int, words)  # all of an attention's multiplications at the pace of one projection
            serve(projection(tokens, d_model), times=4 + 2 * tokens / d_model)
            return
        if what == "sweep":
            serve(sweep(int(words[0])))
            return
        serve(attention(*map(int, words)) if what == "attention" else model(*words))


main()
