"""Multi-head attention that splits and merges heads with view and permute: scores are (batch, heads, queries, keys)."""
import torch
from torch import nn
from torch.nn import functional


class SplitAttention(nn.Module):
    def __init__(self, d_model, heads, dropout=0.1):
        super().__init__()
        self.heads, self.d_k = heads, d_model // heads
        self.scale = self.d_k ** -0.5
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def split(self, x, batch):
        x = x.view(batch, -1, self.heads, self.d_k)
        return x.permute(0, 2, 1, 3)

    def forward(self, Q, K, V, mask=None):
        batch = Q.size(0)
        Q = self.W_q(Q)
        K = self.W_k(K)
        V = self.W_v(V)
        Q = self.split(Q, batch)
        K = self.split(K, batch)
        V = self.split(V, batch)
        scores = torch.matmul(Q, K.transpose(-2, -1)) * self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        weights = functional.softmax(scores, dim=-1)
        dropped = self.dropout(weights)
        merged = torch.matmul(dropped, V)
        merged = merged.permute(0, 2, 1, 3).contiguous()
        merged = merged.view(batch, -1, self.heads * self.d_k)
        return self.W_o(merged), weights
