"""Tokens per second of the same training in PyTorch; see train_bench.cpp.
  OMP_NUM_THREADS=1 python3 train_torch.py [threads] [seconds]
Debian's PyTorch is at its best with libopenblas0-openmp and OPENBLAS_CORETYPE=SkylakeX where there is AVX-512."""
import math
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

WORDS, SENTENCES, LENGTH, D, HEADS, LAYERS, FFN = 400, 64, 16, 64, 4, 2, 256


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(D), nn.LayerNorm(D)
        self.qkv, self.out = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.up, self.down = nn.Linear(D, FFN), nn.Linear(FFN, D)

    def forward(self, x):
        n, t, _ = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(n, t, 3, HEADS, D // HEADS).permute(2, 0, 3, 1, 4)
        weights = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(D // HEADS), -1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(n, t, D))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(WORDS, D)
        nn.init.normal_(self.tokens.weight, std=D ** -0.5)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(D)
        self.bias = nn.Parameter(torch.zeros(WORDS))
        place, pair = torch.arange(LENGTH)[:, None], torch.arange(D)[None]
        angle = place / 10000 ** (pair // 2 * 2 / D)
        self.register_buffer("places", torch.where(pair % 2 == 0, angle.sin(), angle.cos()))

    def forward(self, ids):
        x = self.tokens(ids) * math.sqrt(D) + self.places
        for block in self.blocks:
            x = block(x)
        return F.linear(self.norm(x), self.tokens.weight, self.bias)


def training():
    """A function that takes one step and gives its loss."""
    model = Encoder()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.98), weight_decay=0.01, foreach=True)
    parameters = list(model.parameters())

    def step():
        ids = torch.randint(WORDS, (SENTENCES, LENGTH))
        targets = torch.randint(WORDS, (SENTENCES * LENGTH,))
        loss = F.cross_entropy(model(ids).view(-1, WORDS), targets)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        return loss.item()

    return step


def main():
    threads = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    step = training()

    def run(seconds):
        steps, begin, used = 0, time.perf_counter(), time.process_time()
        while time.perf_counter() - begin < seconds:
            loss = step()
            steps += 1
        tokens, cpu_seconds = steps * SENTENCES * LENGTH, time.process_time() - used
        print(f"{tokens / (time.perf_counter() - begin):.0f} tokens/s with {threads} threads, "
              f"{tokens / cpu_seconds:.0f} tokens/CPU-s, loss {loss:.3f}")

    run(1)  # to warm up
    run(float(sys.argv[2]) if len(sys.argv) > 2 else 5)


if __name__ == "__main__":
    main()
