"""Attention of papers, as text: norms of queries and keys, positions of every kind, heads that talk."""
from field import Room

program = Room(unusual=True)


program("qk layernorm", """
class ViT22B(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(D, 3 * D, bias=False), nn.Linear(D, D)
        self.q_norm, self.k_norm = nn.LayerNorm(d), nn.LayerNorm(d)
        nn.init.normal_(self.q_norm.weight, 1, 0.1); nn.init.normal_(self.k_norm.bias, 0, 0.1)
        self.scale = d ** -0.5
    def forward(self, x):
        B_, N, C = x.shape
        qkv = self.qkv(x).reshape(B_, N, 3, H, d).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        q, k = self.q_norm(q), self.k_norm(k)
        q = q * self.scale
        attn = q @ k.transpose(-2, -1)
        attn = attn.softmax(dim=-1)
        x = attn @ v
        return self.proj(x.transpose(1, 2).reshape(B_, N, C))
net = ViT22B().eval()
run = lambda: net(x)
""", (
    'self.q_norm, self.k_norm = nn.LayerNorm(d), nn.LayerNorm(d) -> self.q_norm, self.k_norm = nn.LayerNorm(D), nn.LayerNorm(D) ;; qkv.unbind(0)\n        q, k = self.q_norm(q), self.k_norm(k) -> qkv.unbind(0)\n        q, k = (n(t.transpose(1, 2).flatten(2)).view(B_, N, H, d).transpose(1, 2) for n, t in ((self.q_norm, q), (self.k_norm, k)))',), (
    "q = q * self.scale -> pass",
    'self.k_norm(k)\n -> k\n',
    "attn @ v -> attn @ k",))


program("qk rms by hand", """
def rms(t, g):
    return t * torch.rsqrt((t * t).mean(-1, keepdim=True) + 1e-5) * g
class QKNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.Wqkv, self.Wo = nn.Linear(D, 3 * D, bias=False), nn.Linear(D, D, bias=False)
        self.gq, self.gk = nn.Parameter(1 + torch.randn(d) / 10), nn.Parameter(1 + torch.randn(d) / 10)
    def forward(self, x):
        q, k, v = self.Wqkv(x).view(3, 6, 3, H, d).unbind(2)
        q, k = rms(q, self.gq), rms(k, self.gk)
        s = torch.einsum("bihd,bjhd->bhij", q, k) / math.sqrt(d)
        return self.Wo(torch.einsum("bhij,bjhd->bihd", F.softmax(s, 3), v).flatten(2))
net = QKNorm().eval()
run = lambda: net(x)
""", (
    "t * torch.rsqrt((t * t).mean(-1, keepdim=True) + 1e-5) * g -> t / t.pow(2).mean(-1, keepdim=True).add(1e-5).sqrt() * g",
    "t * torch.rsqrt((t * t).mean(-1, keepdim=True) + 1e-5) * g -> F.normalize(t, dim=-1) * t.shape[-1] ** 0.5 * g",
    "t * torch.rsqrt((t * t).mean(-1, keepdim=True) + 1e-5) * g -> (g * (t.float() * (t.float().square().mean(-1, True) + 1e-5) ** -0.5)).to(t)",), (
    " / math.sqrt(d) -> ",
    "F.softmax(s, 3) -> F.softmax(s, 2)",
    "v).flatten(2) -> v.flip(1)).flatten(2)",))


program("partial rotary", """
def rot(t):
    a, b = t[..., ::2], t[..., 1::2]
    return torch.stack((-b, a), -1).flatten(-2)
class Partial(nn.Module):
    def __init__(self, rd=4):
        super().__init__()
        self.rd = rd
        self.q, self.k, self.v, self.o = (nn.Linear(D, D) for _ in range(4))
        inv = 1.0 / (10000 ** (torch.arange(0, rd, 2).float() / rd))
        self.register_buffer("freqs", torch.outer(torch.arange(16).float(), inv).repeat_interleave(2, -1))
    def forward(self, x, mask):
        t = x.shape[1]
        q, k, v = (l(x).view(x.shape[0], t, H, d).transpose(1, 2) for l in (self.q, self.k, self.v))
        c, s = self.freqs[:t].cos(), self.freqs[:t].sin()
        def emb(u):
            r, p = u[..., :self.rd], u[..., self.rd:]
            return torch.cat((r * c + rot(r) * s, p), -1)
        w = (emb(q) @ emb(k).transpose(-1, -2)) / d ** 0.5
        w = w.masked_fill(~mask, torch.finfo(w.dtype).min).softmax(-1)
        return self.o((w @ v).transpose(1, 2).reshape(x.shape[0], t, -1))
net = Partial().eval()
run = lambda: net(x, causal)
""", (
    "torch.cat((r * c + rot(r) * s, p), -1) -> torch.cat((p, r * c + rot(r) * s), -1)",
    "net(x, causal) -> net(x[:, :1], causal[:1, :1])",
    "Partial() -> Partial(8)",
    "return torch.cat((r * c + rot(r) * s, p), -1) -> u = u.clone(); u[..., :self.rd] = r * c + rot(r) * s; return u",), (
    "emb(q) @ -> q @",
    " / d ** 0.5 -> ",
    "w @ v -> w @ v.flip(2)",))


program("2d rotary", """
class Axial(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(D, 3 * D), nn.Linear(D, D)
        freqs = 1.0 / (100.0 ** (torch.arange(0, 4, 2).float() / 4))
        ty, tx = torch.meshgrid(torch.arange(2.), torch.arange(3.), indexing="ij")
        f = torch.cat([torch.outer(tx.flatten(), freqs), torch.outer(ty.flatten(), freqs)], -1)
        self.register_buffer("cis", torch.polar(torch.ones_like(f), f))
    def forward(self, x):
        q, k, v = self.qkv(x).reshape(3, 6, 3, H, d).permute(2, 0, 3, 1, 4)
        qc, kc = (torch.view_as_complex(t.float().reshape(3, H, 6, d // 2, 2)) for t in (q, k))
        q, k = (torch.view_as_real(t * self.cis).flatten(3).type_as(x) for t in (qc, kc))
        a = (q * d ** -0.5) @ k.transpose(-2, -1)
        return self.proj((a.softmax(-1) @ v).transpose(1, 2).reshape(3, 6, D))
net = Axial().eval()
run = lambda: net(x)
""", (
    "a = (q * d ** -0.5) @ k.transpose(-2, -1) -> a = torch.view_as_real(torch.einsum('bhid,bhjd->bhij', qc * self.cis, (kc * self.cis).conj()))[..., 0] * d ** -0.5",
    'torch.meshgrid(torch.arange(2.), torch.arange(3.), indexing="ij") -> (torch.arange(6.) // 3, torch.arange(6.) % 3)',), (
    "q * d ** -0.5 -> q",
    "a.softmax(-1) @ v -> a.softmax(-1) @ v.flip(0)",
    "for t in (qc, kc)) -> for t in (qc, kc / self.cis))",))


program("alibi", """
def slopes(n):
    s = 2 ** (-8 / n)
    return torch.tensor([s ** (i + 1) for i in range(n)])
class Alibi(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.register_buffer("m", slopes(H)[:, None, None])
    def forward(self, x):
        b, t, c = x.size()
        rel = torch.arange(t)[None, :] - torch.arange(t)[:, None]
        bias = (self.m * rel).unsqueeze(0)
        key, query, value = self.c_attn(x).view(b, t, 3, H, d).permute(2, 0, 3, 1, 4)
        score = torch.matmul(query, key.mT) / math.sqrt(d) + bias
        score = score.masked_fill(torch.tril(torch.ones(t, t)) == 0, float("-inf"))
        attn = F.softmax(score, dim=-1)
        return self.c_proj((attn @ value).transpose(1, 2).reshape(b, t, c))
net = Alibi().eval()
run = lambda: net(x)
""", (
    "!",
    "!self.m * rel -> self.m * -rel.abs()",
    "key, query, value = -> query, key, value = ",), (
    "self.m * rel -> self.m * -rel",
    " / math.sqrt(d) + bias -> / math.sqrt(d)",
    "s ** (i + 1) -> s ** (n - i)",
    "attn @ value -> attn @ value.flip(0)",))


program("T5 bucket bias", """
def bucket(rel, n=8, far=16):
    r, n = 0, n // 2
    r = (rel > 0).long() * n
    rel = rel.abs()
    exact = n // 2
    large = exact + (torch.log(rel.float().clamp(min=1) / exact) / math.log(far / exact) * (n - exact)).long()
    return r + torch.where(rel < exact, rel, large.clamp(max=n - 1))
class SelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(D, D, bias=False) for _ in range(4))
        self.relative_attention_bias = nn.Embedding(8, H)
    def forward(self, x, mask=None):
        b, n, _ = x.shape
        shape = lambda s: s.view(b, -1, H, d).transpose(1, 2)
        scores = torch.matmul(shape(self.q(x)), shape(self.k(x)).transpose(3, 2))
        pos = torch.arange(n)
        bias = self.relative_attention_bias(bucket(pos[None] - pos[:, None])).permute(2, 0, 1)[None]
        if mask is not None:
            bias = bias + (1 - mask[:, None, None].float()) * -1e9
        scores += bias
        w = F.softmax(scores.float(), -1).type_as(scores)
        return self.o(torch.matmul(w, shape(self.v(x))).transpose(1, 2).contiguous().view(b, -1, D))
net = SelfAttention().eval()
run = lambda: net(x, pad)
""", (
    "net(x, pad) -> net(x)",
    "bias=False) for -> bias=True) for ;; .transpose(3, 2)) -> .transpose(3, 2)) / d ** 0.5",), (
    "shape(self.v(x)) -> shape(self.v(x)).flip(0)",
    "scores += bias -> scores = scores",
    "1 - mask[ -> mask[",))


program("Shaw relative keys", """
class Shaw(nn.Module):
    def __init__(self, k=3):
        super().__init__()
        self.wq, self.wk, self.wv, self.wo, self.k = nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D), k
        self.rk, self.rv = nn.Embedding(2 * k + 1, d), nn.Embedding(2 * k + 1, d)
    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = (l(x).view(b, n, H, d).transpose(1, 2) for l in (self.wq, self.wk, self.wv))
        r = (torch.arange(n)[None] - torch.arange(n)[:, None]).clamp(-self.k, self.k) + self.k
        e = q @ k.transpose(-1, -2) + torch.einsum("bhid,ijd->bhij", q, self.rk(r))
        a = (e / math.sqrt(d)).softmax(-1)
        z = a @ v + torch.einsum("bhij,ijd->bhid", a, self.rv(r))
        return self.wo(z.transpose(1, 2).reshape(b, n, D))
net = Shaw().eval()
run = lambda: net(x)
""", (
    'z = a @ v + torch.einsum("bhij,ijd->bhid", a, self.rv(r)) -> z = a @ v',
    'torch.einsum("bhid,ijd->bhij", q, self.rk(r)) -> (q.permute(2, 0, 1, 3).reshape(n, b * H, d) @ self.rk(r).transpose(1, 2)).view(n, b, H, n).permute(1, 2, 0, 3)',), (
    "e / math.sqrt(d) -> e",
    "z = a @ v + -> z = a @ v.flip(0) +",
    "self.wo(z.transpose(1, 2).reshape -> self.wo(z.reshape",))


program("transformer-xl", """
class RelMHA(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv_net, self.r_net, self.o_net = nn.Linear(D, 3 * D, bias=False), nn.Linear(D, D, bias=False), nn.Linear(D, D, bias=False)
        self.r_w_bias, self.r_r_bias = nn.Parameter(torch.randn(H, d) / 5), nn.Parameter(torch.randn(H, d) / 5)
        self.layer_norm, self.scale = nn.LayerNorm(D), 1 / (d ** 0.5)
    def _rel_shift(self, x):
        zero_pad = torch.zeros((x.size(0), 1, *x.size()[2:]))
        x_padded = torch.cat([zero_pad, x], dim=1).view(x.size(1) + 1, x.size(0), *x.size()[2:])
        return x_padded[1:].view_as(x)
    def forward(self, w, r, mems=None):
        qlen, bsz = w.size(0), w.size(1)
        cat = w if mems is None else torch.cat([mems, w], 0)
        w_head_q, w_head_k, w_head_v = torch.chunk(self.qkv_net(cat), 3, dim=-1)
        w_head_q, klen = w_head_q[-qlen:], cat.size(0)
        q, k, v = (t.view(-1, bsz, H, d) for t in (w_head_q, w_head_k, w_head_v))
        rk = self.r_net(r).view(-1, H, d)
        AC = torch.einsum('ibnd,jbnd->ijbn', (q + self.r_w_bias, k))
        BD = self._rel_shift(torch.einsum('ibnd,jnd->ijbn', (q + self.r_r_bias, rk)))
        attn_score = (AC + BD).mul_(self.scale)
        m = torch.triu(torch.ones(qlen, klen), 1 + klen - qlen).bool()[:, :, None, None]
        attn_score = attn_score.float().masked_fill(m, -float('inf')).type_as(attn_score)
        attn_prob = F.softmax(attn_score, dim=1)
        attn_vec = torch.einsum('ijbn,jbnd->ibnd', (attn_prob, v))
        return self.layer_norm(w + self.o_net(attn_vec.contiguous().view(qlen, bsz, D)))
net = RelMHA().eval()
pe = torch.randn(10, D)
run = lambda: net(x.transpose(0, 1), pe[:6])
""", (
    "net(x.transpose(0, 1), pe[:6]) -> net(x.transpose(0, 1), pe, torch.randn(4, 3, D))",), (
    "mul_(self.scale) -> mul_(1.0)",
    "(attn_prob, v)) -> (attn_prob, v.flip(1)))",
    "masked_fill(m, -> masked_fill(~m,",))


program("disentangled", """
class Deberta(nn.Module):
    def __init__(self, span=4):
        super().__init__()
        self.query_proj, self.key_proj, self.value_proj, self.dense = (nn.Linear(D, D) for _ in range(4))
        self.rel_embeddings, self.span = nn.Embedding(2 * span, D), span
    def forward(self, h, mask):
        b, n, _ = h.shape
        sp = lambda t: t.view(t.shape[0], -1, H, d).permute(0, 2, 1, 3).contiguous().view(-1, t.shape[1], d)
        q, k, v = sp(self.query_proj(h)), sp(self.key_proj(h)), sp(self.value_proj(h))
        scale = math.sqrt(d * 3)
        s = torch.bmm(q, k.transpose(-1, -2)) / scale
        rel = (torch.arange(n)[:, None] - torch.arange(n)[None]).clamp(-self.span, self.span - 1) + self.span
        pk, pq = (sp(p(self.rel_embeddings.weight.unsqueeze(0))).repeat(b, 1, 1) for p in (self.key_proj, self.query_proj))
        c2p = torch.gather(torch.bmm(q, pk.transpose(-1, -2)), -1, rel.expand(b * H, -1, -1)) / scale
        p2c = torch.gather(torch.bmm(k, pq.transpose(-1, -2)), -1, rel.expand(b * H, -1, -1)).transpose(-1, -2) / scale
        s = (s + c2p + p2c).view(b, H, n, n)
        m = mask[:, None, None] * mask[:, None, :, None]
        p = s.masked_fill(~m, torch.finfo(s.dtype).min).softmax(-1).masked_fill(~m, 0.)
        ctx = torch.bmm(p.view(-1, n, n), v).view(b, H, n, d).permute(0, 2, 1, 3).contiguous()
        return self.dense(ctx.view(b, n, -1))
net = Deberta().eval()
run = lambda: net(x, pad)
""", (), (
    "torch.bmm(p.view(-1, n, n), v) -> torch.bmm(p.view(-1, n, n), v.flip(0))",
    "(-1, n, n), v).view(b, H, n, d) -> (-1, n, n), v).view(H, b, n, d).transpose(0, 1)",))


program("talking heads", """
class Talking(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.proj, self.proj_l, self.proj_w = nn.Linear(D, 3 * D), nn.Linear(D, D), nn.Linear(H, H), nn.Linear(H, H)
    def forward(self, x):
        B_, N, C = x.shape
        qkv = self.qkv(x).reshape(B_, N, 3, H, d).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0] * d ** -0.5, qkv[1], qkv[2]
        attn = q @ k.transpose(-2, -1)
        attn = self.proj_l(attn.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        attn = attn.softmax(dim=-1)
        attn = self.proj_w(attn.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        return self.proj((attn @ v).transpose(1, 2).reshape(B_, N, C))
net = Talking().eval()
run = lambda: net(x)
""", (
    "nn.Linear(H, H), nn.Linear(H, H) -> nn.Conv2d(H, H, 1), nn.Conv2d(H, H, 1) ;; self.proj_l(attn.permute(0, 2, 3, 1)).permute(0, 3, 1, 2) -> self.proj_l(attn) ;; self.proj_w(attn.permute(0, 2, 3, 1)).permute(0, 3, 1, 2) -> self.proj_w(attn)",
    "self.proj_l(attn.permute(0, 2, 3, 1)).permute(0, 3, 1, 2) -> torch.einsum('bhij,hk->bkij', attn, self.proj_l.weight)",), (
    "attn @ v -> attn @ v.flip(0)",
    "attn.softmax(dim=-1) -> attn.softmax(dim=1)",))
