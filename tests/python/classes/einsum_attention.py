"""Multi-head attention with einsum, tokens first: scores are (queries, keys, batch, heads)."""
import math

import torch
from torch import nn
from torch.nn import functional


class Heads(nn.Module):
    """One linear layer whose result is viewed as heads: (…, d_model) → (…, heads, d_k)."""

    def __init__(self, d_model, heads, d_k, bias):
        super().__init__()
        self.linear = nn.Linear(d_model, heads * d_k, bias=bias)
        self.heads, self.d_k = heads, d_k

    def forward(self, x):
        lead = x.shape[:-1]
        x = self.linear(x)
        x = x.view(*lead, self.heads, self.d_k)
        return x


class EinsumAttention(nn.Module):
    def __init__(self, heads, d_model, dropout=0.1, bias=True):
        super().__init__()
        self.heads, self.d_k = heads, d_model // heads
        self.query = Heads(d_model, heads, self.d_k, bias)
        self.key = Heads(d_model, heads, self.d_k, bias)
        self.value = Heads(d_model, heads, self.d_k, True)
        self.softmax = nn.Softmax(dim=1)
        self.output = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)
        self.scale = 1 / math.sqrt(self.d_k)
        self.attn = None

    def get_scores(self, query, key):
        return torch.einsum("ibhd,jbhd->ijbh", query, key)

    def prepare_mask(self, mask, query_shape, key_shape):
        assert mask.shape[0] in (1, query_shape[0])
        assert mask.shape[1] == key_shape[0]
        assert mask.shape[2] in (1, query_shape[1])
        return mask.unsqueeze(-1)

    def forward(self, query, key, value, mask=None):
        tokens, batch, _ = query.shape
        if mask is not None:
            mask = self.prepare_mask(mask, query.shape, key.shape)
        query = self.query(query)
        key = self.key(key)
        value = self.value(value)
        scores = self.get_scores(query, key)
        scores *= self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        attn = self.softmax(scores)
        self.attn = attn.detach()
        attn = self.dropout(attn)
        x = torch.einsum("ijbh,jbhd->ibhd", attn, value)
        x = x.reshape(tokens, batch, -1)
        return self.output(x)
