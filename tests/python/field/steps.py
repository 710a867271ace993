"""Attention of papers, as text: caches of every kind, and sequences in one row."""
from field import Room

program = Room(unusual=True)


program("KV cache dict", """
class CachedAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(D, D, bias=False) for _ in range(4))
    def forward(self, x, cache=None, mask=None):
        b, t, _ = x.shape
        q, k, v = (w(x).view(b, t, H, d).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        if cache is not None:
            if "k" in cache:
                k, v = torch.cat((cache["k"], k), dim=2), torch.cat((cache["v"], v), dim=2)
            cache["k"], cache["v"] = k, v
        s = q @ k.transpose(-2, -1) / math.sqrt(d)
        if mask is not None:
            s = s + mask
        return self.wo((s.softmax(-1) @ v).transpose(1, 2).reshape(b, t, D))
net = CachedAttention().eval()
def run():
    cache = {}
    m = torch.full((3, 3), -float("inf")).triu(1)
    net(x[:, :3], cache, m)
    for t in range(3, 6):
        net(x[:, t:t + 1], cache)
""", (
    "net(x[:, t:t + 1], cache) -> net(x[:, t:t + 1], cache, torch.zeros(1, t + 1))",
    "range(3, 6) -> (3,) ;; net(x[:, t:t + 1], cache) -> net(x[:, t:], cache, torch.full((3, 6), -float('inf')).triu(4))",), (
    '(cache["v"], v) -> (v, cache["v"])',
    " / math.sqrt(d) -> ",
    'cache["k"], cache["v"] = k, v -> cache["k"], cache["v"] = k, k',))


program("static cache padded", """
class StaticCache:
    def __init__(self, n):
        self.k, self.v = torch.zeros(3, H, n, d), torch.zeros(3, H, n, d)
    def update(self, k, v, pos):
        self.k.index_copy_(2, pos, k)
        self.v.index_copy_(2, pos, v)
        return self.k, self.v
class Attn(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(D, D) for _ in range(4))
    def forward(self, x, cache, pos):
        b, t, _ = x.shape
        q, k, v = (p(x).view(b, t, H, d).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        k, v = cache.update(k, v, pos)
        m = torch.arange(k.shape[2])[None] > pos[:, None]
        s = (q @ k.transpose(2, 3)) * (1 / math.sqrt(d))
        s = s.masked_fill(m, torch.finfo(s.dtype).min)
        p = F.softmax(s, -1, dtype=torch.float32).to(q.dtype)
        return self.o_proj((p @ v).transpose(1, 2).reshape(b, t, -1))
net = Attn().eval()
def run():
    cache = StaticCache(12)
    net(x[:, :4], cache, torch.arange(4))
    net(x[:, 4:5], cache, torch.tensor([4]))
    net(x[:, 5:6], cache, torch.tensor([5]))
""", (
    "torch.arange(k.shape[2])[None] > pos[:, None] -> torch.ones(12, 12).triu(1).bool()[pos]",), (
    "> pos[:, None] -> > pos[:, None] + 1",
    " * (1 / math.sqrt(d)) -> ",
    "s = s.masked_fill(m, torch.finfo(s.dtype).min) -> pass",))


program("rolling window cache", """
class Rolling(nn.Module):
    def __init__(self, w=4):
        super().__init__()
        self.w = w
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(D, D, bias=False) for _ in range(4))
        self.k = self.v = None
    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (w(x).view(b, t, H, d).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        self.k = k if self.k is None else torch.cat([self.k, k], 2)[:, :, -self.w:]
        self.v = v if self.v is None else torch.cat([self.v, v], 2)[:, :, -self.w:]
        s = q @ self.k.transpose(-1, -2) * d ** -0.5
        return self.wo((s.softmax(-1) @ self.v).transpose(1, 2).reshape(b, t, D))
net = Rolling().eval()
def run():
    net.k = net.v = None
    return [net(x[:, t:t + 1]) for t in range(6)]
""", (), (
    "@ self.v) -> @ self.v.flip(2))",
    " * d ** -0.5 -> ",))


program("ring cache", """
class Ring(nn.Module):
    def __init__(self, w=4):
        super().__init__()
        self.w = w
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(D, D, bias=False) for _ in range(4))
    def forward(self, x, pos, ck, cv):
        b = x.shape[0]
        q, k, v = (w(x).view(b, 1, H, d) for w in (self.wq, self.wk, self.wv))
        ck[:, pos % self.w] = k[:, 0]
        cv[:, pos % self.w] = v[:, 0]
        n = min(pos + 1, self.w)
        s = torch.einsum("bthd,bshd->bhts", q, ck[:, :n]) / math.sqrt(d)
        return self.wo(torch.einsum("bhts,bshd->bthd", s.softmax(-1), cv[:, :n]).reshape(b, 1, D))
net = Ring().eval()
def run():
    ck, cv = torch.zeros(3, 4, H, d), torch.zeros(3, 4, H, d)
    return [net(x[:, t:t + 1], t, ck, cv) for t in range(6)]
""", (), (
    "cv[:, :n] -> cv[:, :n].flip(1)",
    " / math.sqrt(d) -> ",))


program("cu_seqlens", """
class VarLen(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(D, 3 * D), nn.Linear(D, D)
    def forward(self, hidden, cu_seqlens):
        n = hidden.shape[0]
        q, k, v = self.qkv(hidden).reshape(n, 3, H, d).permute(1, 0, 2, 3).unbind(0)
        out = []
        for i in range(1, len(cu_seqlens)):
            s = slice(cu_seqlens[i - 1], cu_seqlens[i])
            qi, ki, vi = (t[s].transpose(0, 1) for t in (q, k, v))
            w = torch.matmul(qi, ki.transpose(1, 2)) / math.sqrt(d)
            out.append(torch.matmul(F.softmax(w, -1, dtype=torch.float32).to(q.dtype), vi).transpose(0, 1))
        return self.proj(torch.cat(out, 0).reshape(n, -1))
net = VarLen().eval()
run = lambda: net(x.flatten(0, 1), [0, 6, 10, 18])
""", (
    "[0, 6, 10, 18] -> torch.tensor([0, 4, 5, 18])",), (
    "vi).transpose(0, 1)) -> vi.flip(1)).transpose(0, 1))",
    " / math.sqrt(d) -> ",))


program("cu_seqlens mask", """
class VarLen(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(D, 3 * D), nn.Linear(D, D)
    def forward(self, hidden, cu_seqlens):
        n = hidden.shape[0]
        q, k, v = self.qkv(hidden).reshape(n, 3, H, d).permute(1, 2, 0, 3).unbind(0)
        attention_mask = torch.full([1, n, n], torch.finfo(q.dtype).min)
        for i in range(1, len(cu_seqlens)):
            attention_mask[..., cu_seqlens[i - 1]:cu_seqlens[i], cu_seqlens[i - 1]:cu_seqlens[i]] = 0
        w = q @ k.transpose(1, 2) / math.sqrt(d) + attention_mask
        return self.proj((w.softmax(-1) @ v).transpose(0, 1).reshape(n, -1))
net = VarLen().eval()
run = lambda: net(x.flatten(0, 1), torch.tensor([0, 6, 10, 18]))
""", (), (
    " / math.sqrt(d) -> ",
    "w.softmax(-1) @ v -> w.softmax(-1) @ v.flip(1)",
    "attention_mask[..., cu_seqlens[i - 1]:cu_seqlens[i], cu -> attention_mask[..., cu_seqlens[i - 1]:, cu",))
