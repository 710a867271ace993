"""Attention that departs from softmax(q·kᵀ/√d_k)·v on purpose, as text (field_forms.py): one step done otherwise, and public code that
does so."""
PROGRAMS = []      # (name, text, right changes, wrong changes)


def program(name, text, right=(), wrong=()):
    PROGRAMS.append((name, text, right, wrong))


program("one line", """
class Attn(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(D, D) for _ in range(4))
    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (p(x).view(b, t, H, d).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        s = q @ k.transpose(-1, -2) / math.sqrt(d)
        w = s.softmax(-1)
        z = w @ v
        return self.out_proj(z.transpose(1, 2).reshape(b, t, -1))
net = Attn().eval()
run = lambda: net(x)
""", (
    "!/ math.sqrt(d) -> / d",
    "!/ math.sqrt(d) -> / math.sqrt(D)",
    "!/ math.sqrt(d) -> / 4.0",
    "!/ math.sqrt(d) -> * 1.0",
    "!/ math.sqrt(d) -> / 0.07",
    "!/ math.sqrt(d) -> * (0.1 * math.log(32) + 1) / math.sqrt(d)",
    "!w = s.softmax(-1) -> w = torch.sigmoid(s - math.log(t))",
    "w = s.softmax(-1) -> w = F.gumbel_softmax(s, hard=True)",
    "w = s.softmax(-1) -> s = 10 * torch.tanh(s); w = s.softmax(-1)",
    "w = s.softmax(-1) -> w = F.softplus(s); w = w / w.sum(-1, keepdim=True)",
    "w = s.softmax(-1) -> w = F.relu(s) / t",
    "w = s.softmax(-1) -> w = F.relu(s) ** 2",
    "!w = s.softmax(-1) -> w = s / t",
    "w = s.softmax(-1) -> w = s.softmax(-1); w = w - w.mean(-1, keepdim=True) + 1 / t",
    "!w = s.softmax(-1) -> w = s.softmax(-1); w = torch.where(w < 0.05, torch.zeros_like(w), w)",
    "w = s.softmax(-1) -> w = 1.2 * s.softmax(-1) - 0.1; w = w.clamp(0, 1)",
    "!w = s.softmax(-1) -> w = (s.softmax(-1) + torch.eye(t)) / 2",
    "!w = s.softmax(-1) -> w = s.softmax(-1) * s.softmax(-2)",
    "w = s.softmax(-1) -> w = s.double().softmax(-1).float()",
    "!w = s.softmax(-1) -> w = torch.log_softmax(s, -1).exp_()",
    "w = s.softmax(-1) -> m = torch.logsumexp(s, -1, keepdim=True); w = (s - m).exp()",
    "w = s.softmax(-1) -> w = torch.special.softmax(s, -1) if hasattr(torch.special, 'softmax') else F.softmin(-s, -1)",
    "w = s.softmax(-1) -> w = F.softmin(-s, -1)",
    "w = s.softmax(-1) -> w = 2 ** (s / math.log(2)); w = w / w.sum(-1, keepdim=True)",
    "w = s.softmax(-1) -> w = torch.exp2(s * math.log2(math.e)); w = w / w.sum(-1, keepdim=True)",
    "w = s.softmax(-1) -> w = s.exp(); w /= w.sum(-1, keepdim=True) + 1e-9",
    "w = s.softmax(-1) -> w = s.exp(); w = w / (w @ torch.ones(t, 1))",
    "w = s.softmax(-1) -> w = s.softmax(-1); w = w * (w > 1e-3)",
    "w = s.softmax(-1) -> w = s.masked_fill(torch.eye(t).bool(), -math.inf).softmax(-1)",
    "w = s.softmax(-1) -> w = s.masked_fill(torch.rand(t, t) < 0.2, -math.inf).softmax(-1)",
    "w = s.softmax(-1) -> w = s.masked_fill((torch.arange(t)[None] // 2) > (torch.arange(t)[:, None] // 2), -math.inf).softmax(-1)",
    "w = s.softmax(-1) -> w = s.masked_fill((torch.arange(t)[None] - torch.arange(t)[:, None]).abs() % 2 == 1, -math.inf).softmax(-1)",
    "w = s.softmax(-1) -> w = (s + -1e4 * (torch.rand_like(s) < 0.3)).softmax(-1)",
    "z = w @ v -> z = w @ v + v",
    "z = w @ v -> z = w @ F.layer_norm(v, (d,))",
    "z = w @ v -> z = w @ F.silu(v)",
    "z = w @ v -> z = v - w @ v",
    "z = w @ v -> z = w @ v / w.sum(-1, keepdim=True)",
    "z = w @ v -> z = F.layer_norm(w @ v, (d,))",
    "z = w @ v -> z = w @ (w @ v)",
    "z = w @ v -> z = torch.stack([w[:, h] @ v[:, h] for h in range(H)], 1)",
    "z = w @ v -> z = (w[..., None] * v[:, :, None]).sum(-2)",
    "z = w @ v -> z = (v.transpose(-1, -2) @ w.transpose(-1, -2)).transpose(-1, -2)",
    "z = w @ v -> z = torch.zeros_like(q); torch.matmul(w, v, out=z)",
    "s = q @ k.transpose(-1, -2) / math.sqrt(d) -> s = -torch.cdist(q, k) ** 2 / math.sqrt(d)",
    "s = q @ k.transpose(-1, -2) / math.sqrt(d) -> s = -(q[:, :, :, None] - k[:, :, None]).pow(2).sum(-1) / 2",
    "s = q @ k.transpose(-1, -2) / math.sqrt(d) -> s = (q[:, :, :, None] * k[:, :, None]).sum(-1) / math.sqrt(d)",
    "s = q @ k.transpose(-1, -2) / math.sqrt(d) -> s = torch.stack([q[i] @ k[i].mT for i in range(b)]) / math.sqrt(d)",
    "s = q @ k.transpose(-1, -2) / math.sqrt(d) -> s = torch.stack([torch.einsum('bhd,bhsd->bhs', q[:, :, i], k) for i in range(t)], 2) / math.sqrt(d)",
    "s = q @ k.transpose(-1, -2) / math.sqrt(d) -> s = (q @ k.transpose(-1, -2) - (q * q).sum(-1, keepdim=True) / 2 - (k * k).sum(-1)[:, :, None] / 2) / math.sqrt(d)",
    "s = q @ k.transpose(-1, -2) / math.sqrt(d) -> s = torch.tensor((q.numpy() @ k.numpy().swapaxes(-1, -2)) / math.sqrt(d))",
    "s = q @ k.transpose(-1, -2) / math.sqrt(d) -> s = (q - q.mean(2, keepdim=True)) @ (k - k.mean(2, keepdim=True)).transpose(-1, -2) / math.sqrt(d)",
    "s = q @ k.transpose(-1, -2) / math.sqrt(d) -> s = F.silu(q) @ F.silu(k).transpose(-1, -2) / math.sqrt(d)",
    "!s = q @ k.transpose(-1, -2) / math.sqrt(d) -> s = q @ k.transpose(-1, -2) / math.sqrt(d); s = s / s.std(-1, keepdim=True)",
    "s = q @ k.transpose(-1, -2) / math.sqrt(d) -> s = q @ k.transpose(-1, -2) / math.sqrt(d); s = F.conv2d(s, torch.ones(H, 1, 3, 3) / 9, padding=1, groups=H)",
    "s = q @ k.transpose(-1, -2) / math.sqrt(d) -> s = q @ k.transpose(-1, -2) / math.sqrt(d); s = s + 0.1 * s.mean(1, keepdim=True)",
    "s = q @ k.transpose(-1, -2) / math.sqrt(d) -> s = q @ k.transpose(-1, -2) / math.sqrt(d); s = s.round(decimals=2)",
    "s = q @ k.transpose(-1, -2) / math.sqrt(d) -> s = (q.half().float() @ k.half().float().transpose(-1, -2)) / math.sqrt(d)",
    "s = q @ k.transpose(-1, -2) / math.sqrt(d) -> q, k = (F.conv1d(u.reshape(b * H, t, d).transpose(1, 2), torch.ones(d, 1, 3) / 3, padding=1, groups=d).transpose(1, 2).view(b, H, t, d) for u in (q, k)); s = q @ k.transpose(-1, -2) / math.sqrt(d)",
    "!s = q @ k.transpose(-1, -2) / math.sqrt(d) -> s = q @ k.transpose(-1, -2) / math.sqrt(d) * (1 + torch.arange(t)).log()[:, None]",
    "s = q @ k.transpose(-1, -2) / math.sqrt(d) -> s = q @ k.transpose(-1, -2) / math.sqrt(d) * torch.tensor([1.0, 0.5, 2.0, 1.5])[:, None, None]",
    "!s = q @ k.transpose(-1, -2) / math.sqrt(d) -> s = q @ k.transpose(-1, -2) / math.sqrt(d) * torch.rand(6, 6)",
    "s = q @ k.transpose(-1, -2) / math.sqrt(d) -> s = q @ k.transpose(-1, -2) / math.sqrt(d) - 0.5 * (torch.arange(t)[None] - torch.arange(t)[:, None]) ** 2",
    "s = q @ k.transpose(-1, -2) / math.sqrt(d) -> s = q @ k.transpose(-1, -2) / math.sqrt(d) + torch.log(torch.arange(1, t + 1.0) / t)",
    "s = q @ k.transpose(-1, -2) / math.sqrt(d) -> s = q @ k.transpose(-1, -2) / math.sqrt(d); s = torch.minimum(s, torch.tensor(1.0))",))


program("TFT interpretable", """
class InterpretableMultiHeadAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.v_layer = nn.Linear(D, d)
        self.q_layers, self.k_layers = nn.ModuleList(nn.Linear(D, d) for _ in range(H)), nn.ModuleList(nn.Linear(D, d) for _ in range(H))
        self.w_h = nn.Linear(d, D, bias=False)
    def forward(self, q, k, v, mask=None):
        heads, attns = [], []
        vs = self.v_layer(v)
        for i in range(H):
            qs, ks = self.q_layers[i](q), self.k_layers[i](k)
            a = torch.bmm(qs, ks.permute(0, 2, 1)) / math.sqrt(d)
            if mask is not None:
                a = a.masked_fill(mask, -1e9)
            a = F.softmax(a, dim=2)
            heads.append(torch.bmm(a, vs)); attns.append(a)
        head, attn = torch.stack(heads, dim=2), torch.stack(attns, dim=2)
        return self.w_h(torch.mean(head, dim=2)), attn
net = InterpretableMultiHeadAttention().eval()
run = lambda: net(x, x, x, ~causal)
""", (
    "!",
    "!torch.mean(head, dim=2) -> head.sum(2) / H",
    "!torch.stack(heads, dim=2) -> sum(heads) / H ;; torch.mean(head, dim=2) -> head",), (
    "vs)); attns -> vs.flip(0))); attns",
    "/ math.sqrt(d) -> ",))


program("GAT mean of heads", """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(D, H * 16), nn.Linear(D, H * 16), nn.Linear(D, H * 16)
    def forward(self, x, adj):
        q, k, v = (l(x).view(3, 6, H, 16).transpose(1, 2) for l in (self.q, self.k, self.v))
        a = (q @ k.mT / 4.0).masked_fill(adj == 0, -9e15).softmax(-1)
        return (a @ v).mean(1)
net = Net().eval()
run = lambda: net(x, ((torch.rand(3, 1, 6, 6) > 0.5) | torch.eye(6).bool()).float())
""", (
    "!",))


program("x-transformers groups", """
class GQ(nn.Module):
    def __init__(self, kv=2):
        super().__init__()
        self.kv = kv
        self.to_q, self.to_k, self.to_v, self.to_out = nn.Linear(D, D, bias=False), nn.Linear(D, kv * d, bias=False), nn.Linear(D, kv * d, bias=False), nn.Linear(D, D, bias=False)
    def forward(self, x):
        b = x.shape[0]
        q, k, v = (l(x).view(b, -1, n, d).transpose(1, 2) for l, n in ((self.to_q, H), (self.to_k, self.kv), (self.to_v, self.kv)))
        k, v = (t.repeat(1, H // self.kv, 1, 1) for t in (k, v))
        w = (q @ k.transpose(2, 3) * d ** -0.5).softmax(-1)
        return self.to_out((w @ v).transpose(1, 2).reshape(b, -1, D))
net = GQ().eval()
run = lambda: net(x)
""", (
    "!",))


program("concatenated heads first", """
class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = (nn.ModuleList(nn.Linear(D, d) for _ in range(H)) for _ in range(3))
        self.o = nn.Linear(D, D)
    def forward(self, x):
        outs = []
        for fq, fk, fv in zip(self.q, self.k, self.v):
            a = torch.softmax(fq(x) @ fk(x).transpose(-1, -2) / d ** 0.5, -1)
            outs.append(a @ fv(x))
        z = torch.cat(outs, 0).view(H, 3, 6, d).permute(1, 2, 0, 3).reshape(3, 6, D)
        return self.o(z)
net = Heads().eval()
run = lambda: net(x)
""", (
    "!",
    "!torch.cat(outs, 0).view(H, 3, 6, d).permute(1, 2, 0, 3).reshape(3, 6, D) -> torch.cat(outs, 1).view(3, H, 6, d).transpose(1, 2).flatten(2)",
    "torch.cat(outs, 0).view(H, 3, 6, d).permute(1, 2, 0, 3).reshape(3, 6, D) -> torch.stack(outs).permute(1, 2, 0, 3).flatten(2)",
    "torch.cat(outs, 0).view(H, 3, 6, d).permute(1, 2, 0, 3).reshape(3, 6, D) -> torch.stack(outs, -1).transpose(-1, -2).flatten(2)",
    "torch.cat(outs, 0).view(H, 3, 6, d).permute(1, 2, 0, 3).reshape(3, 6, D) -> torch.dstack(outs)",
    "!self.o(z) -> sum(F.linear(o, w) for o, w in zip(outs, self.o.weight.split(d, 1))) + self.o.bias",))


program("memory slots", """
class KV(nn.Module):
    def __init__(self, n=9):
        super().__init__()
        self.query, self.keys, self.values = nn.Linear(D, D), nn.Parameter(torch.randn(n, D)), nn.Parameter(torch.randn(n, D))
        self.out = nn.Linear(D, D)
    def forward(self, x):
        q = self.query(x).view(3, 6, H, d).transpose(1, 2)
        k, v = (t.view(-1, H, d).transpose(0, 1) for t in (self.keys, self.values))
        w = (q @ k.mT / math.sqrt(d)).softmax(-1)
        return self.out((w @ v).transpose(1, 2).reshape(3, 6, D))
net = KV().eval()
run = lambda: net(x)
""", (
    "!",
    "k, v = (t.view(-1, H, d).transpose(0, 1) for t in (self.keys, self.values)) -> k, v = (t.view(-1, H, d).transpose(0, 1)[None].expand(3, -1, -1, -1) for t in (self.keys, self.values))",), (
    "w @ v) -> w @ k)",))


program("external attention", """
class External(nn.Module):
    def __init__(self, S=10):
        super().__init__()
        self.mk, self.mv = nn.Linear(D, S, bias=False), nn.Linear(S, D, bias=False)
    def forward(self, queries):
        attn = self.mk(queries)
        attn = attn.softmax(1)
        attn = attn / torch.sum(attn, dim=2, keepdim=True)
        return self.mv(attn)
net = External().eval()
run = lambda: net(x)
""", ())


program("product key memory", """
class PKM(nn.Module):
    def __init__(self, n=6, k=3):
        super().__init__()
        self.to_queries, self.keys, self.values, self.k, self.n = nn.Linear(D, H * 16), nn.Parameter(torch.randn(H, n, 2, 8)), nn.EmbeddingBag(n * n, D, mode="sum"), k, n
    def forward(self, x):
        b, t, _ = x.shape
        q = self.to_queries(x).view(b, t, H, 2, 8)
        dots = torch.einsum("bthpd,hnpd->bthpn", q, self.keys)
        scores, ind = dots.topk(self.k, -1)
        all_s = (scores[..., 0, :, None] + scores[..., 1, None, :]).flatten(-2)
        all_i = (ind[..., 0, :, None] * self.n + ind[..., 1, None, :]).flatten(-2)
        s, i = all_s.topk(self.k, -1)
        w = s.softmax(-1)
        return self.values(all_i.gather(-1, i).reshape(b * t, -1), per_sample_weights=w.reshape(b * t, -1)).view(b, t, D)
net = PKM().eval()
run = lambda: net(x)
""", ())


program("actor critic", """
class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.policy = nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, 1), nn.Linear(D, 5)
    def forward(self, x):
        w = (self.query(x) @ self.key(x).transpose(1, 2) / D ** 0.5).softmax(-1)
        h = (w @ x).mean(1)
        return self.policy(h), self.value(h)
net = Policy().eval()
run = lambda: net(x)
""", ())


program("LoFTR cross", """
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.merge = (nn.Linear(D, D, bias=False) for _ in range(4))
    def forward(self, x, source):
        b = x.shape[0]
        q, k, v = self.q_proj(x).view(b, -1, H, d), self.k_proj(source).view(b, -1, H, d), self.v_proj(source).view(b, -1, H, d)
        a = torch.softmax(torch.einsum("nlhd,nshd->nlsh", q, k) / d ** 0.5, dim=2)
        return x + self.merge(torch.einsum("nlsh,nshd->nlhd", a, v).reshape(b, -1, D))
net = Layer().eval()
pair = torch.randn(4, 6, D)
def run():
    f = net(pair, pair)
    return net(f, torch.cat([f[2:], f[:2]]))
""", (
    "torch.cat([f[2:], f[:2]]) -> f.roll(2, 0)",
    "torch.cat([f[2:], f[:2]]) -> f.flip(0)",
    "torch.cat([f[2:], f[:2]]) -> f.view(2, 2, 6, D).flip(0).flatten(0, 1)",))


program("frame zero", """
class CrossFrame(nn.Module):
    def __init__(self):
        super().__init__()
        self.to_q, self.to_k, self.to_v, self.to_out = (nn.Linear(D, D, bias=False) for _ in range(4))
    def forward(self, x, f=3):
        q, k, v = self.to_q(x), self.to_k(x), self.to_v(x)
        former = torch.zeros(f, dtype=torch.long)
        k, v = k[former], v[former]
        q, k, v = (t.view(f, -1, H, d).transpose(1, 2) for t in (q, k, v))
        return self.to_out(((q @ k.mT * d ** -0.5).softmax(-1) @ v).transpose(1, 2).reshape(f, -1, D))
net = CrossFrame().eval()
run = lambda: net(x)
""", (
    "former = torch.zeros(f, dtype=torch.long) -> former = (torch.arange(f) - 1).clamp(min=0)",
    "k, v = k[former], v[former] -> k, v = torch.cat([k[former], k], 1), torch.cat([v[former], v], 1)",))


program("reuse keys as values", """
class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.to_q, self.to_kv, self.to_out = nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D)
    def forward(self, x):
        q, kv = (l(x).view(3, 6, H, d).transpose(1, 2) for l in (self.to_q, self.to_kv))
        return self.to_out(((q @ kv.mT * d ** -0.5).softmax(-1) @ kv).transpose(1, 2).reshape(3, 6, D))
net = Tied().eval()
run = lambda: net(x)
""", (
    "self.to_kv, self.to_out = nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D) -> self.to_k, self.to_out = nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D) ;; self.to_kv)) -> self.to_k))",
    "nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D) -> nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D); self.to_q = self.to_kv",))


program("XCiT", """
class XCA(nn.Module):
    def __init__(self):
        super().__init__()
        self.temperature, self.qkv, self.proj = nn.Parameter(torch.ones(H, 1, 1)), nn.Linear(D, 3 * D), nn.Linear(D, D)
    def forward(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, H, d).permute(2, 0, 3, 1, 4)
        q, k, v = q.transpose(-2, -1), k.transpose(-2, -1), v.transpose(-2, -1)
        q, k = F.normalize(q, dim=-1), F.normalize(k, dim=-1)
        a = (q @ k.transpose(-2, -1)) * self.temperature
        a = a.softmax(dim=-1)
        return self.proj((a @ v).permute(0, 3, 1, 2).reshape(b, n, c))
net = XCA().eval()
run = lambda: net(x)
""", (), (
    "a @ v -> a @ v.flip(0)",))


program("channel attention", """
class CAM(nn.Module):
    def __init__(self):
        super().__init__()
        self.gamma = nn.Parameter(torch.tensor(0.5))
    def forward(self, x):
        b, c, h, w = x.size()
        q, k = x.view(b, c, -1), x.view(b, c, -1).permute(0, 2, 1)
        energy = torch.bmm(q, k)
        energy = torch.max(energy, -1, keepdim=True)[0].expand_as(energy) - energy
        a = energy.softmax(-1)
        return self.gamma * torch.bmm(a, x.view(b, c, -1)).view(b, c, h, w) + x
net = CAM().eval()
im = torch.randn(2, 6, 3, 4)
run = lambda: net(im)
""", ())


program("SAGAN", """
class SelfAttn(nn.Module):
    def __init__(self):
        super().__init__()
        self.query_conv, self.key_conv, self.value_conv, self.gamma = nn.Conv2d(D, 4, 1), nn.Conv2d(D, 4, 1), nn.Conv2d(D, D, 1), nn.Parameter(torch.tensor(0.3))
    def forward(self, x):
        b, C, w, h = x.size()
        proj_query = self.query_conv(x).view(b, -1, w * h).permute(0, 2, 1)
        proj_key = self.key_conv(x).view(b, -1, w * h)
        energy = torch.bmm(proj_query, proj_key)
        attention = F.softmax(energy, dim=-1)
        proj_value = self.value_conv(x).view(b, -1, w * h)
        out = torch.bmm(proj_value, attention.permute(0, 2, 1)).view(b, C, w, h)
        return self.gamma * out + x, attention
net = SelfAttn().eval()
im = torch.randn(2, D, 3, 4)
run = lambda: net(im)
""", (), (
    "attention.permute(0, 2, 1) -> attention",))


program("criss cross", """
class CC(nn.Module):
    def __init__(self):
        super().__init__()
        self.query_conv, self.key_conv, self.value_conv = nn.Conv2d(D, 8, 1), nn.Conv2d(D, 8, 1), nn.Conv2d(D, D, 1)
    def forward(self, x):
        b, _, h, w = x.size()
        q, k, v = self.query_conv(x), self.key_conv(x), self.value_conv(x)
        qH, kH, vH = q.permute(0, 3, 2, 1).reshape(b * w, h, -1), k.permute(0, 3, 1, 2).reshape(b * w, -1, h), v.permute(0, 3, 1, 2).reshape(b * w, -1, h)
        qW, kW, vW = q.permute(0, 2, 3, 1).reshape(b * h, w, -1), k.permute(0, 2, 1, 3).reshape(b * h, -1, w), v.permute(0, 2, 1, 3).reshape(b * h, -1, w)
        eH = (torch.bmm(qH, kH) + -torch.diag(torch.tensor(float("inf")).repeat(h), 0)[None]).view(b, w, h, h).permute(0, 2, 1, 3)
        eW = torch.bmm(qW, kW).view(b, h, w, w)
        c = torch.cat([eH, eW], 3).softmax(3)
        aH, aW = c[..., :h].permute(0, 2, 1, 3).reshape(b * w, h, h), c[..., h:].reshape(b * h, w, w)
        oH = torch.bmm(vH, aH.permute(0, 2, 1)).view(b, w, -1, h).permute(0, 2, 3, 1)
        oW = torch.bmm(vW, aW.permute(0, 2, 1)).view(b, h, -1, w).permute(0, 2, 1, 3)
        return oH + oW + x
net = CC().eval()
im = torch.randn(2, D, 3, 4)
run = lambda: net(im)
""", (
    ' + -torch.diag(torch.tensor(float("inf")).repeat(h), 0)[None] -> ',))


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
