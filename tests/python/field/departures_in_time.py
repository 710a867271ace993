"""Series and streams whose attention departs from softmax(q·kᵀ/√d_k)·v on purpose, as text."""
from field import Room

program = Room(unusual=True)


program("time series probsparse", """
class Prob(nn.Module):
    def __init__(self, u=3):
        super().__init__()
        self.q, self.k, self.v, self.o, self.u = nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D), u
    def forward(self, x):
        b, L, _ = x.shape
        Q, K, V = (l(x).view(b, L, H, d).transpose(2, 1) for l in (self.q, self.k, self.v))
        QK = torch.matmul(Q, K.transpose(-2, -1))
        M = QK.max(-1)[0] - QK.sum(-1) / L
        top = M.topk(self.u, sorted=False)[1]
        Qr = Q[torch.arange(b)[:, None, None], torch.arange(H)[None, :, None], top]
        s = torch.matmul(Qr, K.transpose(-2, -1)) * (1 / math.sqrt(d))
        ctx = V.mean(-2).unsqueeze(-2).expand(b, H, L, d).clone()
        ctx[torch.arange(b)[:, None, None], torch.arange(H)[None, :, None], top] = torch.matmul(s.softmax(-1), V)
        return self.o(ctx.transpose(1, 2).reshape(b, L, D))
net = Prob().eval()
run = lambda: net(x)
""", (), (
    "s.softmax(-1), V -> s.softmax(-1), V.flip(0)",))


program("autocorrelation", """
class Auto(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(D, D) for _ in range(4))
    def forward(self, x):
        q, k, v = (l(x).view(3, 6, H, d).permute(0, 2, 3, 1) for l in (self.q, self.k, self.v))
        corr = torch.fft.irfft(torch.fft.rfft(q) * torch.conj(torch.fft.rfft(k)), n=6)
        w, delay = corr.mean((1, 2)).topk(2)
        w = w.softmax(-1)
        z = sum(w[:, i, None, None, None] * torch.stack([vv.roll(-int(t), -1) for vv, t in zip(v, delay[:, i])]) for i in range(2))
        return self.o(z.permute(0, 3, 1, 2).flatten(2))
net = Auto().eval()
run = lambda: net(x)
""", ())


program("MoE routing", """
class Soft(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.phi, self.experts = nn.Parameter(torch.randn(D, n)), nn.ModuleList(nn.Linear(D, D) for _ in range(n))
    def forward(self, x):
        logits = torch.einsum("btd,dn->btn", x, self.phi)
        dispatch, combine = logits.softmax(1), logits.softmax(2)
        xs = torch.einsum("btd,btn->bnd", x, dispatch)
        ys = torch.stack([e(xs[:, i]) for i, e in enumerate(self.experts)], 1)
        return torch.einsum("bnd,btn->btd", ys, combine)
net = Soft().eval()
run = lambda: net(x)
""", ())


program("backward language model", """
class BackwardLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.o = nn.Linear(D, 3 * D), nn.Linear(D, D)
    def forward(self, x):
        q, k, v = (t.view(3, 6, H, d).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        reverse_mask = torch.triu(torch.ones(6, 6)).bool()
        return self.o(((q @ k.mT / math.sqrt(d)).masked_fill(~reverse_mask, -math.inf).softmax(-1) @ v).transpose(1, 2).flatten(2))
net = BackwardLM().eval()
run = lambda: net(x)
""", (
    "!",
    "!reverse_mask -> mask",))


program("streaming lookahead", """
class StreamingAttention(nn.Module):
    def __init__(self, left=3, right_context=1):
        super().__init__()
        self.qkv, self.o, self.left, self.right_context = nn.Linear(D, 3 * D), nn.Linear(D, D), left, right_context
    def forward(self, x):
        q, k, v = (t.view(3, 6, H, d).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        i = torch.arange(6)
        ok = (i[None] <= i[:, None] + self.right_context) & (i[None] >= i[:, None] - self.left)
        return self.o(((q @ k.mT / math.sqrt(d)).masked_fill(~ok, -math.inf).softmax(-1) @ v).transpose(1, 2).flatten(2))
net = StreamingAttention().eval()
run = lambda: net(x)
""", (
    "!left=3 -> left=100",
    "left=3 -> left=0",))


program("seq-first cross", """
def split_heads(t, n): return t.reshape(t.shape[0], t.shape[1], n, t.shape[2] // n)
class CrossBlock(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.n, self.ln_q, self.ln_kv = n, nn.LayerNorm(32), nn.LayerNorm(32)
        self.query, self.keyvalue, self.output = nn.Linear(32, 32), nn.Linear(32, 64), nn.Linear(32, 32)
    def forward(self, tgt, src, src_valid=None):
        Q = split_heads(self.query(self.ln_q(tgt)), self.n)
        KV = self.keyvalue(self.ln_kv(src))
        K, V = split_heads(KV[..., :32], self.n), split_heads(KV[..., 32:], self.n)
        E = torch.einsum("tbhc,sbhc->bhts", Q, K)
        E = E * (Q.shape[-1] ** -0.5)
        if src_valid is not None:
            E = E.masked_fill(src_valid.logical_not()[:, None, None, :], float("-inf"))
        A = E.softmax(dim=3)
        O = torch.einsum("bhts,sbhc->tbhc", A, V)
        return tgt + self.output(O.flatten(2))
net = CrossBlock().eval()
tgt, src = x.transpose(0, 1), memory.transpose(0, 1)
valid = torch.arange(5)[None] < torch.tensor([5, 3, 4])[:, None]
run = lambda: net(tgt, src, valid)
""", (
    'net(tgt, src, valid) -> net(tgt, src)',
    'KV[..., :32], self.n), split_heads(KV[..., 32:], self.n) -> KV[..., 32:], self.n), split_heads(KV[..., :32], self.n)',
    'A = E.softmax(dim=3) -> A = torch.softmax(E / 2.0, 3)',
    'A = E.softmax(dim=3) -> A = torch.softmax(E / E.shape[-1] ** 0.5, 3)',
    '!A = E.softmax(dim=3) -> A = E.softmax(dim=3); A = A / A.shape[1]; A = A * A.shape[1]',
    'A = E.softmax(dim=3) -> A = E.softmax(dim=3).clamp(min=1e-6)',
    'A = E.softmax(dim=3) -> A = torch.nan_to_num(E.softmax(dim=3))',
    'A = E.softmax(dim=3) -> A = E.softmax(dim=3) ** 2; A = A / A.sum(3, keepdim=True)',
    'A = E.softmax(dim=3) -> A = (E - E.max()).exp(); A = A / A.sum(3, keepdim=True)',
    'A = E.softmax(dim=3) -> A = (E - E.max(3, keepdim=True).values).exp(); A = A.div_(A.sum(3, keepdim=True))',
    'A = E.softmax(dim=3) -> A = E.permute(3, 0, 1, 2).softmax(0).permute(1, 2, 3, 0)',
    'A = E.softmax(dim=3) -> A = torch.stack([e.softmax(-1) for e in E.unbind(1)], 1)',
    'A = E.softmax(dim=3) -> A = torch.cat([e.softmax(-1) for e in E.split(2, 2)], 2)',
    'A = E.softmax(dim=3) -> A = E.softmax(dim=3).bfloat16().float()',
    'A = E.softmax(dim=3) -> A = E.softmax(dim=3); A = A * (torch.rand(A.shape[-1]) > 0.0)',
    'A = E.softmax(dim=3) -> A = E.softmax(dim=3) * torch.tensor([1., 1., 0., 1.]).view(1, 4, 1, 1)',
    '!A = E.softmax(dim=3) -> A = 0.9 * E.softmax(dim=3) + 0.1 / E.shape[-1]',
    'A = E.softmax(dim=3) -> top = E.topk(2, 3).indices; A = torch.zeros_like(E).scatter(3, top, E.gather(3, top).softmax(3))',
    'A = E.softmax(dim=3) -> A = F.one_hot(E.argmax(3), E.shape[3]).float()',
    'O = torch.einsum("bhts,sbhc->tbhc", A, V) -> O = torch.einsum("bhts,sbhc->tbhc", A, V) + Q',
    'O = torch.einsum("bhts,sbhc->tbhc", A, V) -> O = (A @ V.permute(1, 2, 0, 3)).permute(2, 0, 1, 3)',
    'O = torch.einsum("bhts,sbhc->tbhc", A, V) -> O = (A.unsqueeze(-1) * V.permute(1, 2, 0, 3).unsqueeze(2)).sum(3).permute(2, 0, 1, 3)',
    'O = torch.einsum("bhts,sbhc->tbhc", A, V) -> O = torch.einsum("bhts,sbhc->tbhc", A, V * torch.sigmoid(K))',
    'E = E * (Q.shape[-1] ** -0.5) -> E = E * (Q.shape[-1] ** -0.5) + torch.randn(4, 1, 1)',
    '!E = E * (Q.shape[-1] ** -0.5) -> E = E / Q.norm(dim=-1).permute(1, 2, 0)[..., None]',
    'E = E * (Q.shape[-1] ** -0.5) -> E = E / 32 ** 0.5',
    'E = E * (Q.shape[-1] ** -0.5) -> E = E.mul(0.2)',
    'E = E * (Q.shape[-1] ** -0.5) -> E = E.mul(torch.tensor(0.2))',
    'E = E * (Q.shape[-1] ** -0.5) -> E = E / torch.tensor(8.0)',
    'E = E * (Q.shape[-1] ** -0.5) -> E = (E * 8 ** -0.5).clamp(-2, 2)',
    'E = E * (Q.shape[-1] ** -0.5) -> E = F.layer_norm(E, E.shape[-1:])',
    'E = E * (Q.shape[-1] ** -0.5) -> E = E * 8 ** -0.5; E = E - torch.log(torch.full((5,), 2.0)) * torch.arange(5)',
    'E = E * (Q.shape[-1] ** -0.5) -> E = E * 8 ** -0.5; E = torch.where(torch.rand(3, 1, 6, 5) < 0.1, torch.tensor(-1e9), E)',
    'K, V = split_heads(KV[..., :32], self.n), split_heads(KV[..., 32:], self.n) -> K, V = KV.view(5, 3, 4, 16).chunk(2, -1)',
    'K, V = split_heads(KV[..., :32], self.n), split_heads(KV[..., 32:], self.n) -> K, V = KV.view(5, 3, 2, 4, 8).unbind(2)',
    'K, V = split_heads(KV[..., :32], self.n), split_heads(KV[..., 32:], self.n) -> K, V = KV.view(5, 3, 4, 8, 2).unbind(-1)',
    'K, V = split_heads(KV[..., :32], self.n), split_heads(KV[..., 32:], self.n) -> V, K = split_heads(KV[..., :32], self.n), split_heads(KV[..., 32:], self.n)',
    'K, V = split_heads(KV[..., :32], self.n), split_heads(KV[..., 32:], self.n) -> K, V = split_heads(KV[..., :32], self.n), split_heads(KV[..., 32:], self.n); K, V = (torch.cat([t, torch.zeros_like(t[:1])]) for t in (K, V)); src_valid = F.pad(src_valid, (0, 1), value=True)',
    'K, V = split_heads(KV[..., :32], self.n), split_heads(KV[..., 32:], self.n) -> K, V = (F.avg_pool1d(split_heads(t, self.n).flatten(2).permute(1, 2, 0), 2, 1).permute(2, 0, 1).view(4, 3, 4, 8) for t in KV.chunk(2, -1)); src_valid = None',), (
    'A, V) -> A, V.flip(1))',
    'E = E * (Q.shape[-1] ** -0.5) -> E = E / (Q.shape[-1] ** -0.5)',
    'src_valid.logical_not()[ -> src_valid[',
    'E.softmax(dim=3) -> E.softmax(dim=2)',
    'O.flatten(2) -> O.permute(2, 0, 1, 3).reshape(6, 3, 32)',))
