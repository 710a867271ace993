"""Attention of papers, as text: beams, memories, images that are made, and pooling."""
from field import Room

program = Room(unusual=True)


program("beam search", """
class Dec(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.q, self.k, self.v, self.o, self.head = nn.Embedding(50, D), nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, 50)
    def forward(self, tok, past=None):
        h = self.emb(tok)
        q, k, v = (l(h).view(h.shape[0], -1, H, d).transpose(1, 2) for l in (self.q, self.k, self.v))
        if past is not None:
            k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)
        w = (q @ k.transpose(-1, -2) / math.sqrt(d)).softmax(-1)
        y = self.o((w @ v).transpose(1, 2).reshape(h.shape[0], -1, D))
        return self.head(y), (k, v)
net = Dec().eval()
def run(beams=3, steps=4):
    tokens, scores, past = torch.tensor([[1], [2], [3]]), torch.zeros(beams), None
    for _ in range(steps):
        logits, past = net(tokens[:, -1:], past)
        total = scores[:, None] + logits[:, -1].log_softmax(-1)
        scores, flat = total.flatten().topk(beams)
        beam, word = flat // 50, flat % 50
        tokens = torch.cat([tokens[beam], word[:, None]], 1)
        past = tuple(t.index_select(0, beam) for t in past)
    return tokens
""", (
    "tuple(t.index_select(0, beam) for t in past) -> [t[beam] for t in past]",
    "past = tuple(t.index_select(0, beam) for t in past) -> past = past",), (
    "tuple(t.index_select(0, beam) for t in past) -> (past[0].index_select(0, beam), past[1])",
    " / math.sqrt(d) -> ",))


program("encoder decoder with cache", """
class Cross(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(D, D) for _ in range(4))
    def forward(self, h, enc=None, kv=None, mask=None):
        b = h.shape[0]
        sh = lambda t: t.view(b, -1, H, d).transpose(1, 2)
        q = sh(self.q_proj(h)) * d ** -0.5
        kv = kv or (sh(self.k_proj(enc)), sh(self.v_proj(enc)))
        s = q @ kv[0].transpose(-1, -2)
        if mask is not None:
            s = s.masked_fill(~mask[:, None, None], torch.finfo(s.dtype).min)
        return self.out_proj((s.softmax(-1) @ kv[1]).transpose(1, 2).reshape(b, -1, D)), kv
net = Cross().eval()
mm = torch.arange(5)[None] < torch.tensor([5, 3, 4])[:, None]
def run():
    y, kv = net(x[:, :1], memory, None, mm)
    for t in range(1, 4):
        y, kv = net(x[:, t:t + 1], None, kv, mm)
    return y
""", (), (
    "@ kv[1]) -> @ kv[0])",
    " * d ** -0.5 -> ",
    "self.v_proj(enc) -> self.v_proj(enc.flip(0))",))


program("additive Bahdanau", """
class Bahdanau(nn.Module):
    def __init__(self):
        super().__init__()
        self.W_q, self.W_k, self.w_v = nn.Linear(D, 16, bias=False), nn.Linear(D, 16, bias=False), nn.Linear(16, 1, bias=False)
    def forward(self, queries, keys, values, valid):
        f = torch.tanh(self.W_q(queries).unsqueeze(2) + self.W_k(keys).unsqueeze(1))
        scores = self.w_v(f).squeeze(-1)
        w = F.softmax(scores.masked_fill(~valid[:, None], -1e6), -1)
        return torch.bmm(w, values)
net = Bahdanau().eval()
run = lambda: net(memory, x, x, pad)
""", ())


program("AFT", """
class AFT(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o, self.w = nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D), nn.Parameter(torch.randn(6, 6))
    def forward(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        ew, ek = torch.exp(self.w), torch.exp(k)
        return self.o(torch.sigmoid(q) * (ew @ (ek * v)) / (ew @ ek))
net = AFT().eval()
run = lambda: net(x)
""", ())


program("fourier embed unet", """
class AttnBlock(nn.Module):
    def __init__(self, c=D):
        super().__init__()
        self.norm = nn.GroupNorm(8, c)
        self.q, self.k, self.v, self.proj_out = (nn.Conv2d(c, c, 1) for _ in range(4))
    def forward(self, x):
        h_ = self.norm(x)
        q, k, v = self.q(h_), self.k(h_), self.v(h_)
        b, c, h, w = q.shape
        q = q.reshape(b, c, h * w).permute(0, 2, 1)
        k = k.reshape(b, c, h * w)
        w_ = torch.bmm(q, k) * (int(c) ** (-0.5))
        w_ = F.softmax(w_, dim=2)
        v = v.reshape(b, c, h * w)
        w_ = w_.permute(0, 2, 1)
        h_ = torch.bmm(v, w_).reshape(b, c, h, w)
        return x + self.proj_out(h_)
net = AttnBlock().eval()
im = torch.randn(2, D, 3, 4)
run = lambda: net(im)
""", (), (
    "F.softmax(w_, dim=2) -> F.softmax(w_, dim=1)",
    "torch.bmm(v, w_) -> torch.bmm(v.flip(0), w_)",
    " * (int(c) ** (-0.5)) -> ",
    'w_ = w_.permute(0, 2, 1)\n -> w_ = w_\n',))


program("guided diffusion qkv", """
class QKVAttention(nn.Module):
    def __init__(self, n_heads=4):
        super().__init__()
        self.n_heads, self.qkv, self.proj = n_heads, nn.Conv1d(D, 3 * D, 1), nn.Conv1d(D, D, 1)
    def forward(self, x):
        b, c, *spatial = x.shape
        x = x.reshape(b, c, -1)
        qkv = self.qkv(x)
        bs, width, length = qkv.shape
        ch = width // (3 * self.n_heads)
        q, k, v = qkv.chunk(3, dim=1)
        scale = 1 / math.sqrt(math.sqrt(ch))
        weight = torch.einsum("bct,bcs->bts", (q * scale).view(bs * self.n_heads, ch, length), (k * scale).view(bs * self.n_heads, ch, length))
        weight = torch.softmax(weight.float(), dim=-1).type(weight.dtype)
        a = torch.einsum("bts,bcs->bct", weight, v.reshape(bs * self.n_heads, ch, length))
        return (x + self.proj(a.reshape(bs, -1, length))).reshape(b, c, *spatial)
net = QKVAttention().eval()
im = torch.randn(2, D, 3, 4)
run = lambda: net(im)
""", (
    'q, k, v = qkv.chunk(3, dim=1)\n -> q, k, v = qkv.reshape(bs * self.n_heads, ch * 3, length).split(ch, dim=1)\n',), (
    "v.reshape(bs -> v.flip(0).reshape(bs",
    "1 / math.sqrt(math.sqrt(ch)) -> 1 / math.sqrt(ch)",
    "weight.float(), dim=-1 -> weight.float(), dim=1",))


program("deformable-ish sampling", """
class Sampled(nn.Module):
    def __init__(self, n=3):
        super().__init__()
        self.n, self.q, self.k, self.v, self.o, self.off = n, nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, n)
    def forward(self, x):
        b, t, _ = x.shape
        at = (torch.arange(t)[None, :, None] + self.off(x).round().long()).clamp(0, t - 1)
        q = self.q(x).view(b, t, H, d)
        k, v = (torch.gather(l(x)[:, None].expand(-1, t, -1, -1), 2, at[..., None].expand(-1, -1, -1, D)).view(b, t, self.n, H, d) for l in (self.k, self.v))
        a = (torch.einsum("bthd,btnhd->bthn", q, k) / math.sqrt(d)).softmax(-1)
        return self.o(torch.einsum("bthn,btnhd->bthd", a, v).reshape(b, t, D))
net = Sampled().eval()
run = lambda: net(x)
""", (), (
    "a, v) -> a, v.flip(0))",
    " / math.sqrt(d) -> ",))


program("routing clusters", """
class Clustered(nn.Module):
    def __init__(self, c=2):
        super().__init__()
        self.qk, self.v, self.o, self.means = nn.Linear(D, D, bias=False), nn.Linear(D, D, bias=False), nn.Linear(D, D), nn.Parameter(torch.randn(H, c, d))
        self.c = c
    def forward(self, x):
        b, t, _ = x.shape
        qk, v = (l(x).view(b, t, H, d).transpose(1, 2) for l in (self.qk, self.v))
        qk = F.normalize(qk, dim=-1)
        dist = torch.einsum("bhtd,hcd->bhct", qk, self.means)
        idx = dist.topk(t // self.c, -1).indices.sort(-1).values
        pick = lambda u: u.unsqueeze(2).expand(-1, -1, self.c, -1, -1).gather(3, idx[..., None].expand(*idx.shape, d))
        q, k, vv = pick(qk), pick(qk), pick(v)
        a = (q @ k.transpose(-1, -2) * d ** -0.5).softmax(-1)
        out = torch.zeros_like(v).scatter_add(2, idx.flatten(2)[..., None].expand(-1, -1, -1, d), (a @ vv).flatten(2, 3))
        return self.o(out.transpose(1, 2).reshape(b, t, D))
net = Clustered().eval()
run = lambda: net(x)
""", (), (
    "(a @ vv) -> (a @ vv.flip(0))",))


program("cross frame einops-like", """
def rearr(t, h):
    b, n, c = t.shape
    return t.reshape(b, n, h, c // h).permute(0, 2, 1, 3).reshape(b * h, n, c // h)
class CrossAttention(nn.Module):
    def __init__(self, query_dim=D, context_dim=24, heads=4, dim_head=6):
        super().__init__()
        inner = dim_head * heads
        self.heads, self.scale = heads, dim_head ** -0.5
        self.to_q, self.to_k, self.to_v = nn.Linear(query_dim, inner, bias=False), nn.Linear(context_dim, inner, bias=False), nn.Linear(context_dim, inner, bias=False)
        self.to_out = nn.Sequential(nn.Linear(inner, query_dim), nn.Dropout(0.0))
    def forward(self, x, context, mask=None):
        h = self.heads
        q, k, v = rearr(self.to_q(x), h), rearr(self.to_k(context), h), rearr(self.to_v(context), h)
        sim = torch.einsum('bid,bjd->bij', q, k) * self.scale
        if mask is not None:
            mask = mask.flatten(1)
            mask = mask[:, None, :].repeat_interleave(h, 0)
            sim.masked_fill_(~mask, -torch.finfo(sim.dtype).max)
        attn = sim.softmax(dim=-1)
        out = torch.einsum('bij,bjd->bid', attn, v)
        out = out.reshape(-1, h, out.shape[1], out.shape[2]).permute(0, 2, 1, 3).flatten(2)
        return self.to_out(out)
net = CrossAttention().eval()
ctx, cm = torch.randn(3, 5, 24), torch.arange(5)[None] < torch.tensor([5, 3, 4])[:, None]
run = lambda: net(x, ctx, cm)
""", (
    "net(x, ctx, cm) -> net(x, ctx)",
    "torch.einsum('bid,bjd->bij', q, k) * self.scale -> torch.baddbmm(torch.empty(12, 6, 5), q, k.transpose(-1, -2), beta=0, alpha=self.scale)",
    "torch.einsum('bid,bjd->bij', q, k) * self.scale -> torch.einsum('bid,bjd->bij', q * self.scale, k)",), (
    "repeat_interleave(h, 0) -> repeat(h, 1, 1)",
    "self.to_v(context) -> self.to_v(context.flip(0))",
    ") * self.scale -> )",
    "~mask, - -> mask, -",))


program("attention pooling", """
class Pool(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key = nn.Parameter(torch.randn(D)), nn.Linear(D, D)
    def forward(self, x, mask):
        s = self.key(x) @ self.query / D ** 0.5
        w = s.masked_fill(~mask, -math.inf).softmax(-1)
        return (w.unsqueeze(-1) * x).sum(1)
net = Pool().eval()
run = lambda: net(x, pad)
""", (
    "(w.unsqueeze(-1) * x).sum(1) -> (w.unsqueeze(1) @ x).squeeze(1)",
    "self.query / D ** 0.5 -> self.query",), (
    "~mask, - -> mask, -",))
