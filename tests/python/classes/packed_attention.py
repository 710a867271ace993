"""Multi-head attention with the packed projection of torch.nn.MultiheadAttention: (T, batch, d_model), products with bmm over
batch · heads, a mask (T, S) or (batch · heads, T, S) in which true is blocked."""
import math

import torch
from torch import nn
from torch.nn import functional


class PackedAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.1):
        super().__init__()
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.in_proj_weight = nn.Parameter(torch.randn(3 * embed_dim, embed_dim) / math.sqrt(embed_dim))
        self.in_proj_bias = nn.Parameter(torch.randn(3 * embed_dim) / 10)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        self.dropout = dropout

    def forward(self, x, attn_mask=None):
        length, batch, _ = x.shape
        size = batch * self.num_heads
        packed = functional.linear(x, self.in_proj_weight, self.in_proj_bias)
        q, k, v = packed.chunk(3, dim=-1)
        q = q.contiguous().view(length, size, self.head_dim).transpose(0, 1)
        k = k.contiguous().view(length, size, self.head_dim).transpose(0, 1)
        v = v.contiguous().view(length, size, self.head_dim).transpose(0, 1)
        q = q / math.sqrt(self.head_dim)
        scores = torch.bmm(q, k.transpose(1, 2))
        if attn_mask is not None:
            scores = scores + torch.zeros(attn_mask.shape).masked_fill(attn_mask, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        weights = functional.dropout(weights, self.dropout, training=self.training)
        output = torch.bmm(weights, v)
        output = output.transpose(0, 1).contiguous().view(length, batch, self.embed_dim)
        return self.out_proj(output)
