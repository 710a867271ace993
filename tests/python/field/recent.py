"""Attention of many authors, as text: what takes its place in recent models, and ports of other frameworks."""
from field import Room

program = Room(unusual=True)


program("RealFormer residual scores", """
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(D, D) for _ in range(4))
    def forward(self, x, prev=None):
        q, k, v = (l(x).view(3, 6, H, d).transpose(1, 2) for l in (self.q, self.k, self.v))
        s = q @ k.mT / math.sqrt(d)
        s = s if prev is None else s + prev
        return x + self.o((s.softmax(-1) @ v).transpose(1, 2).flatten(2)), s
layers = nn.ModuleList(Layer() for _ in range(3)).eval()
def run():
    h, prev = x, None
    for l in layers:
        h, prev = l(h, prev)
    return h
""", (), (
    "s.softmax(-1) @ v -> s.softmax(-1) @ v.flip(0)",))


program("ViT register and pooling head", """
class MAP(nn.Module):
    def __init__(self):
        super().__init__()
        self.latent, self.q, self.kv, self.proj, self.norm = nn.Parameter(torch.randn(1, 1, D)), nn.Linear(D, D), nn.Linear(D, 2 * D), nn.Linear(D, D), nn.LayerNorm(D)
        self.q_norm, self.k_norm = nn.Identity(), nn.Identity()
    def forward(self, x):
        B_, N, C = x.shape
        q = self.q(self.latent.expand(B_, -1, -1)).reshape(B_, 1, H, d).transpose(1, 2)
        k, v = self.kv(x).reshape(B_, N, 2, H, d).permute(2, 0, 3, 1, 4).unbind(0)
        q, k = self.q_norm(q), self.k_norm(k)
        q = q * d ** -0.5
        a = (q @ k.transpose(-2, -1)).softmax(dim=-1)
        z = (a @ v).transpose(1, 2).reshape(B_, 1, C)
        return (z + self.proj(self.norm(z)))[:, 0]
net = MAP().eval()
run = lambda: net(x)
""", (
    'a = (q @ k.transpose(-2, -1)).softmax(dim=-1)\n        z = (a @ v) -> z = sdpa(q / d ** -0.5, k, v)\n        z = (z)',), (
    "a @ v -> a @ v.flip(0)",
    "q = q * d ** -0.5 -> pass",))


program("EfficientViT relu linear", """
class LiteMLA(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Conv2d(D, 3 * D, 1, bias=False), nn.Conv2d(D, D, 1)
    def forward(self, x):
        b, _, h, w = x.shape
        qkv = self.qkv(x).reshape(b, -1, 3 * d, h * w)
        q, k, v = qkv[:, :, :d], qkv[:, :, d:2 * d], qkv[:, :, 2 * d:]
        q, k = F.relu(q), F.relu(k)
        v = F.pad(v, (0, 0, 0, 1), value=1)
        vk = torch.matmul(v, k.transpose(-1, -2))
        out = torch.matmul(vk, q)
        out = out[:, :, :-1] / (out[:, :, -1:] + 1e-6)
        return self.proj(out.reshape(b, -1, h, w))
net = LiteMLA().eval()
im = torch.randn(2, D, 3, 2)
run = lambda: net(im)
""", (
    'vk = torch.matmul(v, k.transpose(-1, -2))\n        out = torch.matmul(vk, q) -> att = torch.matmul(k.transpose(-1, -2), q)\n        att = att / (att.sum(2, keepdim=True) + 1e-6)\n        out = torch.matmul(v, att)',))


program("Mamba-2 dual form", """
class SSD(nn.Module):
    def __init__(self):
        super().__init__()
        self.B, self.C, self.X, self.dt, self.o = nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, H), nn.Linear(D, D)
    def forward(self, x):
        B_, C, X = (l(x).view(3, 6, H, d).transpose(1, 2) for l in (self.B, self.C, self.X))
        a = -F.softplus(self.dt(x)).transpose(1, 2).cumsum(-1)
        L = torch.exp((a[..., :, None] - a[..., None, :]).masked_fill(~causal, -math.inf))
        y = ((C @ B_.transpose(-1, -2)) * L) @ X
        return self.o(y.transpose(1, 2).flatten(2))
net = SSD().eval()
run = lambda: net(x)
""", ())


program("forgetting transformer", """
class FoX(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.o_proj, self.fgate_proj = nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, H)
    def forward(self, x):
        q, k, v = (l(x).view(3, 6, H, d).transpose(1, 2) for l in (self.q_proj, self.k_proj, self.v_proj))
        lam = F.logsigmoid(self.fgate_proj(x)).transpose(1, 2).cumsum(-1)
        s = q @ k.transpose(-1, -2) / math.sqrt(d) + (lam[..., :, None] - lam[..., None, :])
        w = s.masked_fill(~causal, -math.inf).softmax(-1)
        return self.o_proj((w @ v).transpose(1, 2).flatten(2))
net = FoX().eval()
run = lambda: net(x)
""", (), (
    "w @ v -> w @ v.flip(0)",
    " / math.sqrt(d) -> ",))


program("stick-breaking", """
class Stick(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(D, D) for _ in range(4))
    def forward(self, x):
        q, k, v = (l(x).view(3, 6, H, d).transpose(1, 2) for l in (self.q_proj, self.k_proj, self.v_proj))
        logits = q @ k.transpose(-1, -2) / math.sqrt(d)
        mask = torch.ones(6, 6).tril(-1).bool()
        log_beta = F.logsigmoid(-logits).masked_fill(~mask, 0)
        re = log_beta.flip(-1).cumsum(-1).flip(-1) - log_beta
        att = (F.logsigmoid(logits) + re).exp().masked_fill(~mask, 0)
        return self.o_proj((att @ v).transpose(1, 2).flatten(2))
net = Stick().eval()
run = lambda: net(x)
""", ())


program("native sparse branches", """
class NSA(nn.Module):
    def __init__(self, blk=2, win=2):
        super().__init__()
        self.q, self.k, self.v, self.o, self.g, self.blk, self.win = nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, 2 * H), blk, win
        self.ck, self.cv = nn.Linear(blk * d, d), nn.Linear(blk * d, d)
    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = (l(x).view(b, n, H, d).transpose(1, 2) for l in (self.q, self.k, self.v))
        kc, vc = (l(t.reshape(b, H, n // self.blk, -1)) for l, t in ((self.ck, k), (self.cv, v)))
        i = torch.arange(n)
        vis = (torch.arange(n // self.blk)[None] + 1) * self.blk - 1 <= i[:, None]
        s1 = (q @ kc.mT / math.sqrt(d)).masked_fill(~vis, -1e9)
        o1 = (s1.softmax(-1) * vis.any(-1, keepdim=True)) @ vc
        near = (i[:, None] >= i) & (i[:, None] - i < self.win)
        o2 = (q @ k.mT / math.sqrt(d)).masked_fill(~near, -1e9).softmax(-1) @ v
        g1, g2 = torch.sigmoid(self.g(x)).view(b, n, H, 2).transpose(1, 2).unsqueeze(-2).unbind(-1)
        return self.o((g1 * o1 + g2 * o2).transpose(1, 2).reshape(b, n, D))
net = NSA().eval()
run = lambda: net(x)
""", (), (
    '@ vc\n -> @ vc.flip(0)\n',))


program("YOCO cross decoder", """
class Yoco(nn.Module):
    def __init__(self):
        super().__init__()
        self.k, self.v = nn.Linear(D, 2 * d, bias=False), nn.Linear(D, 2 * d, bias=False)
        self.layers = nn.ModuleList(nn.ModuleDict({"q": nn.Linear(D, D, bias=False), "o": nn.Linear(D, D, bias=False), "n": nn.LayerNorm(D)}) for _ in range(2))
    def forward(self, x):
        b, n, _ = x.shape
        k, v = (l(x).view(b, n, 2, d).transpose(1, 2).repeat_interleave(2, 1) for l in (self.k, self.v))
        for l in self.layers:
            q = l["q"](l["n"](x)).view(b, n, H, d).transpose(1, 2)
            x = x + l["o"](sdpa(q, k, v, is_causal=True).transpose(1, 2).reshape(b, n, D))
        return x
net = Yoco().eval()
run = lambda: net(x)
""", (), (
    "sdpa(q, k, v, -> sdpa(q, k, v.flip(0),",))


program("numpy interop", """
import numpy as np
rng = np.random.RandomState(0)
W = {n: rng.randn(32, 32).astype("f") / 6 for n in "qkvo"}
def layer(x):
    t = lambda n: torch.as_tensor(W[n])
    q, k, v = (torch.matmul(x, t(n)).reshape(3, 6, 4, 8).swapaxes(1, 2) for n in "qkv")
    s = torch.matmul(q, k.swapaxes(-1, -2)) / np.float32(np.sqrt(8))
    p = torch.nn.Softmax(-1)(s)
    return torch.matmul(torch.matmul(p, v).swapaxes(1, 2).reshape(3, 6, 32), t("o"))
run = lambda: layer(x)
""", (), (
    "torch.matmul(p, v) -> torch.matmul(p, v.flip(0))",
    " / np.float32(np.sqrt(8)) -> ",))


program("autocast and compile style", """
class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.o = nn.Linear(D, 3 * D), nn.Linear(D, D)
    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            q, k, v = self.qkv(x).view(3, 6, 3, H, d).permute(2, 0, 3, 1, 4).unbind(0)
            s = torch.matmul(q, k.mT) * d ** -0.5
        with torch.autocast("cpu", enabled=False):
            p = s.float().softmax(-1)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.o(torch.matmul(p, v).transpose(1, 2).flatten(2))
net = Mixed().eval()
run = lambda: net(x)
""", (), (
    "torch.matmul(p, v) -> torch.matmul(p, v.flip(0))",))


program("MuP", """
class MuReadAttention(nn.Module):
    def __init__(self, attn_mult=8.0 ** 0.5):
        super().__init__()
        self.attn_mult = attn_mult
        self.q, self.k, self.v, self.o = (nn.Linear(D, D) for _ in range(4))
    def forward(self, x):
        q, k, v = (l(x).view(3, 6, H, d).transpose(1, 2) for l in (self.q, self.k, self.v))
        attn_scores = torch.matmul(q, k.transpose(-1, -2)) * self.attn_mult / d
        return self.o((attn_scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
net = MuReadAttention(1.0).eval()
run = lambda: net(x)
""", (
    "MuReadAttention(1.0) -> MuReadAttention()",
    "MuReadAttention(1.0) -> MuReadAttention(4.0)",), (
    "softmax(-1) @ v -> softmax(-1) @ v.flip(0)",))


program("Granite and Gemma scalars", """
class G(nn.Module):
    def __init__(self, scaling=0.015625):
        super().__init__()
        self.scaling = scaling
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = nn.Linear(D, D, bias=False), nn.Linear(D, 2 * d, bias=False), nn.Linear(D, 2 * d, bias=False), nn.Linear(D, D, bias=False)
    def forward(self, x):
        q, k, v = (l(x).view(3, 6, -1, d).transpose(1, 2) for l in (self.q_proj, self.k_proj, self.v_proj))
        k, v = (t[:, :, None].expand(3, 2, 2, 6, d).reshape(3, H, 6, d) for t in (k, v))
        w = torch.matmul(q, k.transpose(2, 3)) * self.scaling
        w = (w + torch.full((6, 6), torch.finfo(w.dtype).min).triu(1)).softmax(-1)
        return self.o_proj(torch.matmul(w, v).transpose(1, 2).reshape(3, 6, D))
net = G().eval()
run = lambda: net(x)
""", (
    "scaling=0.015625 -> scaling=1.0",
    "scaling=0.015625 -> scaling=224 ** -0.5",), (
    "torch.matmul(w, v) -> torch.matmul(w, v.flip(0))",))


program("masks that are of no keys", """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(D, D) for _ in range(4))
        self.mask_token = nn.Parameter(torch.randn(D))
    def forward(self, x, mask):
        x = torch.where(mask[..., None], self.mask_token, x)
        q, k, v = (l(x).view(3, 6, H, d).transpose(1, 2) for l in (self.q_proj, self.k_proj, self.v_proj))
        w = (q @ k.mT / d ** 0.5).softmax(-1)
        return self.o_proj((w @ v).transpose(1, 2).flatten(2))
net, hidden = M().eval(), torch.tensor([[0, 1, 0, 0, 1, 1], [1, 0, 0, 1, 0, 0], [0, 0, 1, 0, 0, 1]]).bool()
run = lambda: net(x, hidden)
""", (
    "!", "!.flatten(2)) -> .flatten(2))[mask]",
    "!.flatten(2)) -> .flatten(2)).mul(mask[..., None]).sum() / mask.sum()",
    "!x = torch.where(mask[..., None], self.mask_token, x) -> x, mask = x.flip(1), mask.flip(1) ;; (q @ k.mT / d ** 0.5) -> (q @ k.mT / d ** 0.5).masked_fill(mask[:, None, None], -1e9)",
    "!x = torch.where(mask[..., None], self.mask_token, x) -> x = x ;; (q @ k.mT / d ** 0.5) -> (q @ k.mT / d ** 0.5).masked_fill(~(causal | mask[:, None, None]), -1e9)",), (
    "!x = torch.where(mask[..., None], self.mask_token, x) -> x = x",
    "w @ v -> w @ v.flip(0)",))


program("rows without a key", """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(D, D) for _ in range(4))
    def forward(self, x, mask):
        split = lambda t: t.view(3, 6, H, d).transpose(1, 2)
        q, k, v = split(self.q_proj(x)), split(self.k_proj(x)), split(self.v_proj(x))
        m = causal & mask[:, None, None]
        w = (q @ k.mT / d ** 0.5).masked_fill(~m, -math.inf).softmax(-1).nan_to_num(0)
        return self.o_proj((w @ v).transpose(1, 2).flatten(2))
net = M().eval()
run = lambda: net(x, pad.flip(1))
""", (
    "!", "!mask[:, None, None] -> mask[:, None, None] ; m = m | ~m.any(-1, keepdim=True)",
    "!pad.flip(1) -> pad ;; w = (q @ k.mT / d ** 0.5).masked_fill(~m, -math.inf).softmax(-1).nan_to_num(0) -> w = torch.exp(q @ k.mT / d ** 0.5) * m ; w = w / w.sum(-1, keepdim=True)",
    "!pad.flip(1) -> pad ;; (w @ v). -> (w @ v + (q @ k.mT / d ** 0.5).masked_fill(~m, -math.inf).softmax(-1).nan_to_num(0) @ v).",), (
    "!split(self.v_proj(x)) -> split(self.v_proj(x)) ; v = split(x)", "!split(self.k_proj(x)) -> [split(x), self.k_proj(x)][0]",
    "!        return self.o_proj((w @ v) ->         self.o_proj((w @ v).transpose(1, 2).flatten(2)) ; return ((w @ v)",
    "!(w @ v).transpose(1, 2).flatten(2) -> torch.cat([(q[:, 0] @ k[:, 0].mT).softmax(-1) @ v[:, 0] for h in range(H)], -1)",
    "nan_to_num(0) -> clone()",))
