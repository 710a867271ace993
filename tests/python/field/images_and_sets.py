"""Attention of papers, as text: images, windows, sets, graphs, memory and prefixes."""
from field import Room

program = Room(unusual=True)


program("conv qkv", """
class CvT(nn.Module):
    def __init__(self):
        super().__init__()
        dw = lambda stride: nn.Sequential(nn.Conv2d(D, D, 3, stride, 1, groups=D, bias=False), nn.BatchNorm2d(D))
        self.conv_q, self.conv_k, self.conv_v = dw(1), dw(2), dw(2)
        self.proj_q, self.proj_k, self.proj_v, self.proj = (nn.Linear(D, D) for _ in range(4))
    def forward(self, x, h, w):
        img = x.transpose(1, 2).reshape(-1, D, h, w)
        q, k, v = (c(img).flatten(2).transpose(1, 2) for c in (self.conv_q, self.conv_k, self.conv_v))
        q, k, v = (p(t).view(x.shape[0], -1, H, d).transpose(1, 2) for p, t in ((self.proj_q, q), (self.proj_k, k), (self.proj_v, v)))
        s = torch.einsum("bhlk,bhtk->bhlt", q, k) * d ** -0.5
        o = torch.einsum("bhlt,bhtv->bhlv", F.softmax(s, -1), v)
        return self.proj(o.transpose(1, 2).flatten(2))
net = CvT().eval()
im = torch.randn(2, 16, D)
run = lambda: net(im, 4, 4)
""", (
    "nn.BatchNorm2d(D)) -> nn.ReLU())",
    "! * d ** -0.5 -> * D ** -0.5",), (
    "F.softmax(s, -1), v -> F.softmax(s, -1), v.flip(0)",
    " * d ** -0.5 -> ",
    "F.softmax(s, -1) -> F.softmax(s, 1)",))


program("SRA PVT", """
class SRA(nn.Module):
    def __init__(self, sr=2):
        super().__init__()
        self.q, self.kv, self.proj, self.sr, self.norm = nn.Linear(D, D), nn.Linear(D, 2 * D), nn.Linear(D, D), nn.Conv2d(D, D, sr, sr), nn.LayerNorm(D)
    def forward(self, x, h, w):
        b, n, c = x.shape
        q = self.q(x).reshape(b, n, H, d).permute(0, 2, 1, 3)
        x_ = self.sr(x.permute(0, 2, 1).reshape(b, c, h, w)).reshape(b, c, -1).permute(0, 2, 1)
        kv = self.kv(self.norm(x_)).reshape(b, -1, 2, H, d).permute(2, 0, 3, 1, 4)
        attn = (q @ kv[0].transpose(-2, -1)) * d ** -0.5
        return self.proj((attn.softmax(-1) @ kv[1]).transpose(1, 2).reshape(b, n, c))
net = SRA().eval()
im = torch.randn(2, 16, D)
run = lambda: net(im, 4, 4)
""", (), (
    "attn.softmax(-1) @ kv[1] -> attn.softmax(-1) @ kv[0]",
    ") * d ** -0.5 -> )",
    "reshape(b, n, H, d).permute(0, 2, 1, 3) -> reshape(b, H, n, d)",))


program("axial attention", """
class SelfAttn(nn.Module):
    def __init__(self):
        super().__init__()
        self.to_q, self.to_kv, self.to_out = nn.Linear(D, D, bias=False), nn.Linear(D, 2 * D, bias=False), nn.Linear(D, D)
    def forward(self, x):
        q, k, v = (self.to_q(x), *self.to_kv(x).chunk(2, dim=-1))
        b, t = x.shape[:2]
        merge = lambda u: u.reshape(b, -1, H, d).transpose(1, 2).reshape(b * H, -1, d)
        q, k, v = map(merge, (q, k, v))
        dots = torch.einsum('bie,bje->bij', q, k) * (d ** -0.5)
        out = torch.einsum('bij,bje->bie', dots.softmax(dim=-1), v)
        return self.to_out(out.reshape(b, H, -1, d).transpose(1, 2).reshape(b, -1, D))
class AxialAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows, self.cols = SelfAttn(), SelfAttn()
    def forward(self, img):
        b, h, w, c = img.shape
        r = self.rows(img.reshape(b * h, w, c)).reshape(b, h, w, c)
        u = self.cols(img.permute(0, 2, 1, 3).reshape(b * w, h, c)).reshape(b, w, h, c).permute(0, 2, 1, 3)
        return r + u
net = AxialAttention().eval()
im = torch.randn(2, 3, 4, D)
run = lambda: net(im)
""", (
    "r + u -> r * 0.5 + u * 0.5",
    "u = self.cols(img -> u = self.cols(r",), (
    "dots.softmax(dim=-1), v -> dots.softmax(dim=-1), v.flip(0)",
    "reshape(b, H, -1, d).transpose(1, 2) -> reshape(b, -1, H, d)",
    " * (d ** -0.5) -> ",))


program("shifted windows", """
class Window(nn.Module):
    def __init__(self, ws=2, shift=1):
        super().__init__()
        self.ws, self.shift, self.qkv, self.proj = ws, shift, nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.bias = nn.Parameter(torch.randn((2 * ws - 1) ** 2, H) * 0.5)
        co = torch.stack(torch.meshgrid(torch.arange(ws), torch.arange(ws), indexing="ij")).flatten(1)
        rel = (co[:, :, None] - co[:, None]).permute(1, 2, 0) + ws - 1
        self.register_buffer("index", rel[..., 0] * (2 * ws - 1) + rel[..., 1])
    def part(self, t):
        b, h, w, c = t.shape
        return t.view(b, h // self.ws, self.ws, w // self.ws, self.ws, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, self.ws ** 2, c)
    def forward(self, x):
        b, h, w, c = x.shape
        s, n = self.shift, self.ws ** 2
        if s:
            x = torch.roll(x, (-s, -s), (1, 2))
        win = self.part(x)
        q, k, v = self.qkv(win).reshape(-1, n, 3, H, d).permute(2, 0, 3, 1, 4)
        a = q * d ** -0.5 @ k.transpose(-2, -1) + self.bias[self.index.view(-1)].view(n, n, H).permute(2, 0, 1)
        if s:
            z = torch.zeros(1, h, w, 1)
            for i, hs in enumerate((slice(0, -self.ws), slice(-self.ws, -s), slice(-s, None))):
                for j, ws in enumerate((slice(0, -self.ws), slice(-self.ws, -s), slice(-s, None))):
                    z[:, hs, ws] = i * 3 + j
            z = self.part(z).squeeze(-1)
            m = (z[:, None] - z[:, :, None]).ne(0).float() * -100.0
            a = (a.view(b, -1, H, n, n) + m[:, None][None]).view(-1, H, n, n)
        o = (a.softmax(-1) @ v).transpose(1, 2).reshape(-1, n, c)
        o = self.proj(o).view(b, h // self.ws, w // self.ws, self.ws, self.ws, c).permute(0, 1, 3, 2, 4, 5).reshape(b, h, w, c)
        return torch.roll(o, (s, s), (1, 2)) if s else o
net = Window().eval()
im = torch.randn(2, 4, 4, D)
run = lambda: net(im)
""", (
    "Window() -> Window(shift=0)",
    "float() * -100.0 -> float() * -1e9",), (
    "a.softmax(-1) @ v -> a.softmax(-1) @ v.flip(0)",
    "q * d ** -0.5 -> q",
    "a.softmax(-1) @ v).transpose(1, 2) -> a.softmax(-1) @ v)",))


program("PMA set pooling", """
class MAB(nn.Module):
    def __init__(self, ln=True):
        super().__init__()
        self.fc_q, self.fc_k, self.fc_v, self.fc_o = (nn.Linear(D, D) for _ in range(4))
        self.ln0, self.ln1 = (nn.LayerNorm(D), nn.LayerNorm(D)) if ln else (nn.Identity(), nn.Identity())
    def forward(self, Q, K):
        Q = self.fc_q(Q)
        K, V = self.fc_k(K), self.fc_v(K)
        Q_, K_, V_ = (torch.cat(t.split(d, 2), 0) for t in (Q, K, V))
        A = torch.softmax(Q_.bmm(K_.transpose(1, 2)) / math.sqrt(d), 2)
        O = torch.cat((Q_ + A.bmm(V_)).split(Q.size(0), 0), 2)
        O = self.ln0(O)
        return self.ln1(O + F.relu(self.fc_o(O)))
class PMA(nn.Module):
    def __init__(self, k=2):
        super().__init__()
        self.S, self.mab = nn.Parameter(torch.randn(1, k, D)), MAB()
    def forward(self, X):
        return self.mab(self.S.repeat(X.size(0), 1, 1), X)
net = PMA().eval()
run = lambda: net(x)
""", (
    "PMA().eval() -> PMA(1).eval()",
    "!math.sqrt(d), 2) -> math.sqrt(D), 2)",
    "PMA().eval() -> MAB(False).eval() ;; net(x) -> net(x, memory)",), (
    "A.bmm(V_) -> A.bmm(V_.flip(0))",
    " / math.sqrt(d), 2) -> , 2)",
    "/ math.sqrt(d), 2) -> / math.sqrt(d), 1)",))


program("ISAB induced", """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.MultiheadAttention(D, H, batch_first=True)
        self.n1, self.n2, self.ff = nn.LayerNorm(D), nn.LayerNorm(D), nn.Linear(D, D)
    def forward(self, q, kv, mask=None):
        h = self.n1(q + self.a(q, kv, kv, key_padding_mask=mask)[0])
        return self.n2(h + F.relu(self.ff(h)))
class ISAB(nn.Module):
    def __init__(self, m=4):
        super().__init__()
        self.inducing, self.b1, self.b2 = nn.Parameter(torch.randn(m, D)), Block(), Block()
    def forward(self, x, mask):
        h = self.b1(self.inducing.expand(x.shape[0], -1, -1), x, ~mask)
        return self.b2(x, h)
net = ISAB().eval()
run = lambda: net(x, pad)
""", (), (
    "x, ~mask) -> x, mask)",
    "self.a(q, kv, kv, -> self.a(q, kv, kv.flip(0),",))


program("GAT dense", """
class GATLayer(nn.Module):
    def __init__(self, fin=D, fout=8):
        super().__init__()
        self.W, self.a = nn.Parameter(torch.randn(fin, fout) / 5), nn.Parameter(torch.randn(2 * fout, 1))
    def forward(self, h, adj):
        Wh = torch.mm(h, self.W)
        e = F.leaky_relu(Wh @ self.a[:8] + (Wh @ self.a[8:]).T, 0.2)
        attention = torch.where(adj > 0, e, -9e15 * torch.ones_like(e))
        attention = F.softmax(attention, dim=1)
        return F.elu(torch.matmul(attention, Wh))
net = GATLayer().eval()
adj = ((torch.rand(6, 6) > 0.5) | torch.eye(6).bool()).float()
run = lambda: net(x[0], adj)
""", ())


program("graph transformer", """
class GT(nn.Module):
    def __init__(self):
        super().__init__()
        self.Q, self.K, self.V, self.E, self.O = nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D), nn.Linear(5, H), nn.Linear(D, D)
    def forward(self, h, adj, edge):
        n = h.shape[0]
        q, k, v = (l(h).view(n, H, d) for l in (self.Q, self.K, self.V))
        s = torch.einsum("ihd,jhd->ijh", q, k) / math.sqrt(d)
        s = s + self.E(edge)
        s = s.masked_fill(adj.unsqueeze(-1) == 0, -1e9)
        a = torch.softmax(s, dim=1)
        return self.O(torch.einsum("ijh,jhd->ihd", a, v).reshape(n, D))
net = GT().eval()
adj = (torch.rand(6, 6) > 0.4) | torch.eye(6).bool()
run = lambda: net(x[0], adj, torch.randn(6, 6, 5))
""", (
    's = s + self.E(edge)\n -> pass\n',
    "adj.unsqueeze(-1) == 0 -> ~adj[..., None]",), (
    "torch.softmax(s, dim=1) -> torch.softmax(s, dim=0)",
    "a, v) -> a, v.flip(0))",
    " / math.sqrt(d) -> ",
    "adj.unsqueeze(-1) == 0 -> adj.unsqueeze(-1) != 0",))


program("memory tokens", """
class Memory(nn.Module):
    def __init__(self, n=2):
        super().__init__()
        self.mem_k, self.mem_v = nn.Parameter(torch.randn(H, n, d)), nn.Parameter(torch.randn(H, n, d))
        self.to_qkv, self.to_out, self.n = nn.Linear(D, 3 * D, bias=False), nn.Linear(D, D), n
    def forward(self, x, mask=None):
        b = x.shape[0]
        q, k, v = (t.reshape(b, -1, H, d).transpose(1, 2) for t in self.to_qkv(x).chunk(3, -1))
        mk, mv = (t.unsqueeze(0).expand(b, -1, -1, -1) for t in (self.mem_k, self.mem_v))
        k, v = torch.cat((mk, k), -2), torch.cat((mv, v), -2)
        dots = q @ k.transpose(-1, -2) * d ** -0.5
        if mask is not None:
            mask = F.pad(mask, (self.n, 0), value=True)
            dots.masked_fill_(~mask[:, None, None], -torch.finfo(dots.dtype).max)
        return self.to_out((dots.softmax(-1) @ v).transpose(1, 2).flatten(2))
net = Memory().eval()
run = lambda: net(x)
""", (
    "net(x) -> net(x, pad)",), (
    "(mv, v) -> (mv, v.flip(0))",
    " * d ** -0.5 -> ",
    "net(x) -> net(x, pad) ;; ~mask[ -> mask[",
    "(mv, v) -> (v, mv)",))


program("prefix tuning", """
class Prefix(nn.Module):
    def __init__(self, n=3):
        super().__init__()
        self.n = n
        self.embed, self.trans = nn.Embedding(n, D), nn.Sequential(nn.Linear(D, 16), nn.Tanh(), nn.Linear(16, 2 * D))
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(D, D) for _ in range(4))
    def forward(self, x, attention_mask):
        b, t, _ = x.shape
        pk, pv = self.trans(self.embed(torch.arange(self.n))).expand(b, -1, -1).chunk(2, -1)
        split = lambda s: s.reshape(b, -1, H, d).transpose(1, 2)
        q, k, v = split(self.q_proj(x)), split(self.k_proj(x)), split(self.v_proj(x))
        k, v = torch.cat([split(pk), k], 2), torch.cat([split(pv), v], 2)
        attention_mask = torch.cat([torch.ones(b, self.n, dtype=attention_mask.dtype), attention_mask], 1)
        m = (1.0 - attention_mask[:, None, None].float()) * torch.finfo(torch.float32).min
        w = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(d) + m
        return self.out_proj((w.softmax(-1) @ v).transpose(1, 2).reshape(b, t, D))
net = Prefix().eval()
run = lambda: net(x, pad.long())
""", (
    "net(x, pad.long()) -> net(x, torch.ones(3, 6))",), (
    "split(pv), v] -> split(pv), v.flip(0)]",
    " / math.sqrt(d) -> ",
    "1.0 - attention_mask[:, -> attention_mask[:,",))
