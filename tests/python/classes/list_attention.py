"""Multi-head attention as a list of heads, each with small matrices of its own (d_model, d_k), for one sentence (T, d_model);
the softmax is written out."""
import math

import torch


def softmax(scores):
    largest = scores.max(dim=-1, keepdim=True).values
    exponents = torch.exp(scores - largest)
    return exponents / exponents.sum(dim=-1, keepdim=True)


class ListAttention:
    def __init__(self, d_model, heads):
        self.heads, self.d_model, self.d_k = heads, d_model, d_model // heads
        self.WQ = [torch.randn(d_model, self.d_k) for _ in range(heads)]
        self.WK = [torch.randn(d_model, self.d_k) for _ in range(heads)]
        self.WV = [torch.randn(d_model, self.d_k) for _ in range(heads)]
        self.WO = torch.randn(heads * self.d_k, d_model)

    def head(self, query, key, value, mask):
        scores = torch.matmul(query, key.T)
        scores = scores / math.sqrt(self.d_k)
        if mask is not None:
            scores = torch.where(mask, scores, torch.tensor(-math.inf))
        weights = softmax(scores)
        return torch.matmul(weights, value)

    def __call__(self, x, memory, mask=None):
        outputs = []
        for i in range(self.heads):
            Q = torch.matmul(x, self.WQ[i])
            K = torch.matmul(memory, self.WK[i])
            V = torch.matmul(memory, self.WV[i])
            outputs.append(self.head(Q, K, V, mask))
        merged = torch.cat(outputs, dim=-1)
        return torch.matmul(merged, self.WO)
