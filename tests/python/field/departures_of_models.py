"""Models whose attention departs from softmax(q·kᵀ/√d_k)·v on purpose, as text."""
from field import Room

program = Room(unusual=True)


program("memorizing", """
class Mem(nn.Module):
    def __init__(self):
        super().__init__()
        self.to_q, self.to_kv, self.to_out, self.scale = nn.Linear(D, D, bias=False), nn.Linear(D, 2 * D, bias=False), nn.Linear(D, D), nn.Parameter(torch.zeros(H, 1, 1))
        self.mk, self.mv = torch.randn(3, H, 6, 4, d), torch.randn(3, H, 6, 4, d)
    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = (t.view(b, n, H, d).transpose(1, 2) for t in (self.to_q(x), *self.to_kv(x).chunk(2, -1)))
        q, k = F.normalize(q, dim=-1), F.normalize(k, dim=-1)
        sc = self.scale.exp()
        sim = torch.einsum("bhid,bhjd->bhij", q, k) * sc
        sim = sim.masked_fill(torch.ones(n, n).triu(1).bool(), -torch.finfo(sim.dtype).max)
        ms = torch.einsum("bhid,bhijd->bhij", q, self.mk) * sc
        a = torch.cat((ms, sim), -1).softmax(-1)
        am, al = a[..., :4], a[..., 4:]
        out = torch.einsum("bhij,bhjd->bhid", al, v) + torch.einsum("bhij,bhijd->bhid", am, self.mv)
        return self.to_out(out.transpose(1, 2).flatten(2))
net = Mem().eval()
run = lambda: net(x)
""", ())


program("IP-adapter", """
class IP(nn.Module):
    def __init__(self, scale=0.5):
        super().__init__()
        self.scale = scale
        self.to_q, self.to_k, self.to_v, self.to_k_ip, self.to_v_ip, self.to_out = (nn.Linear(D, D, bias=False) for _ in range(6))
    def forward(self, h, text, image):
        sp = lambda t: t.view(t.shape[0], -1, H, d).transpose(1, 2)
        q = sp(self.to_q(h))
        o = sdpa(q, sp(self.to_k(text)), sp(self.to_v(text))).transpose(1, 2).flatten(2)
        ip = sdpa(q, sp(self.to_k_ip(image)), sp(self.to_v_ip(image))).transpose(1, 2).flatten(2)
        return self.to_out(o + self.scale * ip)
net = IP().eval()
run = lambda: net(x, memory, torch.randn(3, 4, D))
""", (
    "IP().eval() -> IP(0.0).eval()",
    "IP().eval() -> IP(1.0).eval()",), (
    "sp(self.to_v_ip(image)) -> sp(self.to_v_ip(image).flip(0))",))


program("BoTNet relative", """
def rel_to_abs(x):
    b, h, l, c = x.shape
    x = torch.cat([x, torch.zeros(b, h, l, 1)], 3).reshape(b, h, l * (c + 1))
    x = torch.cat([x, torch.zeros(b, h, l - 1)], 2)
    return x.reshape(b, h, l + 1, 2 * l - 1)[:, :, :l, l - 1:]
class BoT(nn.Module):
    def __init__(self, n=6):
        super().__init__()
        self.qkv, self.rel, self.o = nn.Linear(D, 3 * D, bias=False), nn.Parameter(torch.randn(2 * n - 1, d) * d ** -0.5), nn.Linear(D, D)
    def forward(self, x):
        q, k, v = (t.view(3, 6, H, d).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        q = q * d ** -0.5
        logits = torch.einsum("bhid,bhjd->bhij", q, k)
        logits = logits + rel_to_abs(torch.einsum("bhid,rd->bhir", q, self.rel))
        return self.o((logits.softmax(-1) @ v).transpose(1, 2).flatten(2))
net = BoT().eval()
run = lambda: net(x)
""", (), (
    "softmax(-1) @ v -> softmax(-1) @ v.flip(0)",
    "q = q * d ** -0.5 -> pass",))


program("music transformer", """
class RGA(nn.Module):
    def __init__(self, n=6):
        super().__init__()
        self.Wq, self.Wk, self.Wv, self.fc, self.E = nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D), nn.Parameter(torch.randn(n, d))
    def forward(self, x, mask):
        b, n, _ = x.shape
        q, k, v = (l(x).reshape(b, n, H, -1).permute(0, 2, 1, 3) for l in (self.Wq, self.Wk, self.Wv))
        QE = torch.einsum("bhld,md->bhlm", q, self.E)
        QE = QE * (torch.arange(n)[None] >= n - 1 - torch.arange(n)[:, None])
        p = F.pad(QE, (1, 0))
        Srel = p.reshape(b, H, n + 1, n)[:, :, 1:]
        logits = (q @ k.permute(0, 1, 3, 2) + Srel) / math.sqrt(d)
        logits += mask.to(torch.int64) * -1e9
        return self.fc((F.softmax(logits, -1) @ v).permute(0, 2, 1, 3).reshape(b, n, -1))
net = RGA().eval()
run = lambda: net(x, torch.ones(6, 6).triu(1))
""", (), (
    "F.softmax(logits, -1) @ v -> F.softmax(logits, -1) @ v.flip(0)",
    "mask.to(torch.int64) -> (1 - mask).to(torch.int64)",))


program("conformer", """
class Rel(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear_q, self.linear_k, self.linear_v, self.linear_out, self.linear_pos = nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D, bias=False)
        self.pos_bias_u, self.pos_bias_v = nn.Parameter(torch.randn(H, d) / 4), nn.Parameter(torch.randn(H, d) / 4)
    def rel_shift(self, x):
        z = torch.zeros((*x.size()[:3], 1))
        p = torch.cat([z, x], -1).view(*x.size()[:2], x.size(3) + 1, x.size(2))
        return p[:, :, 1:].view_as(x)[..., :x.size(-1) // 2 + 1]
    def forward(self, query, key, value, mask, pos_emb):
        n = query.size(0)
        q, k, v = (l(t).view(n, -1, H, d) for l, t in ((self.linear_q, query), (self.linear_k, key), (self.linear_v, value)))
        k, v = k.transpose(1, 2), v.transpose(1, 2)
        p = self.linear_pos(pos_emb).view(1, -1, H, d).transpose(1, 2)
        u, w = (q + self.pos_bias_u).transpose(1, 2), (q + self.pos_bias_v).transpose(1, 2)
        ac, bd = torch.matmul(u, k.transpose(-2, -1)), self.rel_shift(torch.matmul(w, p.transpose(-2, -1)))
        scores = (ac + bd) / math.sqrt(d)
        mask = mask.unsqueeze(1).eq(0)
        scores = scores.masked_fill(mask, torch.finfo(scores.dtype).min)
        attn = torch.softmax(scores, dim=-1).masked_fill(mask, 0.0)
        return self.linear_out(torch.matmul(attn, v).transpose(1, 2).contiguous().view(n, -1, D))
net = Rel().eval()
run = lambda: net(x, x, x, pad[:, None], torch.randn(1, 11, D))
""", (), (
    "torch.matmul(attn, v) -> torch.matmul(attn, v.flip(0))",
    "mask.unsqueeze(1).eq(0) -> mask.unsqueeze(1).ne(0)",))


program("synthesizer", """
class Dense(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj, self.value, self.o = nn.Sequential(nn.Linear(D, D), nn.ReLU(), nn.Linear(D, 6 * H)), nn.Linear(D, D), nn.Linear(D, D)
    def forward(self, x):
        s = self.proj(x).view(3, 6, H, 6).transpose(1, 2)
        v = self.value(x).view(3, 6, H, d).transpose(1, 2)
        return self.o((s.softmax(-1) @ v).transpose(1, 2).flatten(2))
net = Dense().eval()
run = lambda: net(x)
""", ())


program("halo", """
class Halo(nn.Module):
    def __init__(self, block=2, halo=1):
        super().__init__()
        self.block, self.halo, self.to_q, self.to_kv, self.to_out = block, halo, nn.Linear(D, D, bias=False), nn.Linear(D, 2 * D, bias=False), nn.Linear(D, D)
    def forward(self, x):
        b, c, h, w = x.shape
        s, o = self.block, self.halo
        qi = x.reshape(b, c, h // s, s, w // s, s).permute(0, 2, 4, 3, 5, 1).reshape(-1, s * s, c)
        kvi = F.unfold(x, s + 2 * o, stride=s, padding=o).view(b, c, (s + 2 * o) ** 2, -1).permute(0, 3, 2, 1).reshape(qi.shape[0], -1, c)
        q = self.to_q(qi).view(-1, s * s, H, d).transpose(1, 2) * d ** -0.5
        k, v = (t.view(-1, (s + 2 * o) ** 2, H, d).transpose(1, 2) for t in self.to_kv(kvi).chunk(2, -1))
        mask = F.unfold(torch.ones(1, 1, h, w), s + 2 * o, stride=s, padding=o).permute(0, 2, 1).repeat(b, 1, 1).reshape(-1, 1, 1, (s + 2 * o) ** 2) == 0
        sim = (q @ k.mT).masked_fill(mask, -torch.finfo(q.dtype).max)
        out = self.to_out((sim.softmax(-1) @ v).transpose(1, 2).flatten(2))
        return out.view(b, h // s, w // s, s, s, c).permute(0, 5, 1, 3, 2, 4).reshape(b, c, h, w)
net = Halo().eval()
im = torch.randn(2, D, 4, 4)
run = lambda: net(im)
""", (), (
    "softmax(-1) @ v -> softmax(-1) @ v.flip(0)",
    " * d ** -0.5 -> ",))


program("pointer", """
class Pointer(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.W_q, self.W_k, self.C = nn.LSTMCell(D, D), nn.Linear(D, D), nn.Linear(D, D), 10
    def forward(self, enc, steps=3):
        b, n, _ = enc.shape
        h = c = torch.zeros(b, D)
        inp, mask, out = enc.mean(1), torch.zeros(b, n).bool(), []
        for _ in range(steps):
            h, c = self.cell(inp, (h, c))
            u = torch.einsum("bd,bnd->bn", self.W_q(h), self.W_k(enc)) / math.sqrt(D)
            p = (self.C * torch.tanh(u)).masked_fill(mask, -math.inf).softmax(-1)
            i = p.argmax(-1)
            mask = mask.scatter(1, i[:, None], True)
            inp = enc[torch.arange(b), i]
            out.append(p)
        return torch.stack(out, 1)
net = Pointer().eval()
run = lambda: net(x)
""", ())


program("Luong decoder", """
class Dec(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.attn, self.concat = nn.GRUCell(D, D), nn.Linear(D, D), nn.Linear(2 * D, D)
    def forward(self, y, enc):
        h, out = enc[:, -1], []
        for t in range(y.shape[1]):
            h = self.cell(y[:, t], h)
            w = F.softmax(torch.bmm(self.attn(enc), h.unsqueeze(2)).squeeze(2), dim=1)
            ctx = torch.bmm(w.unsqueeze(1), enc).squeeze(1)
            out.append(torch.tanh(self.concat(torch.cat([h, ctx], 1))))
        return torch.stack(out, 1)
net = Dec().eval()
run = lambda: net(x, memory)
""", (
    "torch.bmm(self.attn(enc), h.unsqueeze(2)).squeeze(2) -> torch.sum(h[:, None] * self.attn(enc), 2)",), (
    "w.unsqueeze(1), enc -> w.unsqueeze(1), enc.flip(0)",))


program("head gates", """
class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(D, D) for _ in range(4))
        self.c_attn = nn.Parameter(1 + torch.randn(H) / 3)
    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (p(x).view(b, t, H, d).transpose(1, 2).reshape(b * H, t, d) for p in (self.q_proj, self.k_proj, self.v_proj))
        w = torch.bmm(q * d ** -0.5, k.transpose(1, 2)).softmax(-1)
        a = torch.bmm(w, v).view(b, H, t, d).transpose(1, 2)
        a = torch.einsum("bthd,h->bthd", a, self.c_attn)
        return self.out_proj(a.reshape(b, t, D))
net = Norm().eval()
run = lambda: net(x)
""", (
    'torch.einsum("bthd,h->bthd", a, self.c_attn) -> a * self.c_attn[:, None]',), (
    "torch.bmm(w, v) -> torch.bmm(w, v.flip(0))",))


program("head mask", """
class Bert(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(D, D) for _ in range(3))
    def forward(self, h, attention_mask=None, head_mask=None):
        q, k, v = (l(h).view(3, 6, H, d).permute(0, 2, 1, 3) for l in (self.query, self.key, self.value))
        s = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(d)
        if attention_mask is not None:
            s = s + attention_mask
        p = nn.Softmax(dim=-1)(s)
        if head_mask is not None:
            p = p * head_mask
        return torch.matmul(p, v).permute(0, 2, 1, 3).contiguous().view(3, 6, D)
net = Bert().eval()
run = lambda: net(x, (1 - pad[:, None, None].float()) * -10000.0, torch.tensor([1.0, 0.0, 1.0, 1.0])[:, None, None])
""", (
    "!torch.tensor([1.0, 0.0, 1.0, 1.0])[:, None, None] -> torch.tensor([1.0, 0.5, 1.0, 1.0])[None, :, None, None]",
    "torch.tensor([1.0, 0.0, 1.0, 1.0])[:, None, None] -> None",), (
    "(1 - pad[:, None, None].float()) -> pad[:, None, None].float()",))


program("primer", """
class Primer(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.o = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.conv = nn.ModuleList(nn.Conv1d(D, D, 3, groups=D, padding=2) for _ in range(3))
    def forward(self, x):
        t = x.shape[1]
        q, k, v = (c(u.transpose(1, 2))[..., :t].transpose(1, 2).view(3, t, H, d).transpose(1, 2) for c, u in zip(self.conv, self.qkv(x).chunk(3, -1)))
        w = (q @ k.mT / math.sqrt(d)).masked_fill(~causal, -math.inf).softmax(-1)
        return self.o((w @ v).transpose(1, 2).flatten(2))
net = Primer().eval()
run = lambda: net(x)
""", (), (
    "w @ v -> w @ v.flip(0)",))


program("value residual", """
class VR(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.ModuleList(nn.ModuleDict({n: nn.Linear(D, D, bias=False) for n in "qkvo"}) for _ in range(2))
    def forward(self, x):
        v1 = None
        for l in self.l:
            q, k, v = (l[n](x).view(3, 6, H, d).transpose(1, 2) for n in "qkv")
            v1 = v if v1 is None else v1
            v = 0.5 * v + 0.5 * v1
            w = (q @ k.mT / math.sqrt(d)).masked_fill(~causal, -math.inf).softmax(-1)
            x = x + l["o"]((w @ v).transpose(1, 2).flatten(2))
        return x
net = VR().eval()
run = lambda: net(x)
""", (), (
    "0.5 * v1 -> 0.5 * v1.flip(0)",))
