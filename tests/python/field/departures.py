"""Attention that departs from softmax(q·kᵀ/√d_k)·v on purpose, as text: one step done otherwise."""
from field import Room

program = Room(unusual=True)


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
