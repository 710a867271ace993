"""Attention in ways to write it, as text: torch's own with all its arguments, closures, precisions, layouts, softmax by hand."""
from field import Room

program = Room(unusual=True)


program("jit script", """
class Scripted(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = nn.Linear(32, 32), nn.Linear(32, 32), nn.Linear(32, 32), nn.Linear(32, 32)
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, t = x.shape[0], x.shape[1]
        q = self.q(x).view(b, t, 4, 8).transpose(1, 2)
        k = self.k(x).view(b, t, 4, 8).transpose(1, 2)
        v = self.v(x).view(b, t, 4, 8).transpose(1, 2)
        w = torch.softmax(torch.matmul(q, k.transpose(-1, -2)) / 8.0 ** 0.5, dim=-1)
        return self.o(torch.matmul(w, v).transpose(1, 2).reshape(b, t, 32))
import sys as _s, types as _t, linecache as _l
net = nn.Module()
inner = torch.jit.trace(Scripted().eval(), x)
run = lambda: inner(x)
""", (
    'run = lambda: inner(x) -> plain = Scripted().eval()\nrun = lambda: (inner(x), plain(x))',))


program("mha arguments", """
mha = nn.MultiheadAttention(D, H, kdim=24, vdim=20, add_bias_kv=True, add_zero_attn=True, batch_first=True).eval()
k_in, v_in = torch.randn(3, 5, 24), torch.randn(3, 5, 20)
kpm = ~(torch.arange(5)[None] < torch.tensor([5, 3, 4])[:, None])
run = lambda: mha(x, k_in, v_in, key_padding_mask=kpm)
""", (
    "mha(x, k_in, v_in, key_padding_mask=kpm) -> mha(x, k_in, v_in, need_weights=False)",
    "mha(x, k_in, v_in, key_padding_mask=kpm) -> mha(x, k_in, v_in, average_attn_weights=False)",
    "mha(x, k_in, v_in, key_padding_mask=kpm) -> mha(x, k_in, v_in, key_padding_mask=kpm, attn_mask=torch.zeros(12, 6, 5))",
    "add_bias_kv=True, add_zero_attn=True, -> bias=False, ",
    "add_bias_kv=True,  -> ",
    "add_zero_attn=True,  -> ",))


program("mha self", """
mha = nn.MultiheadAttention(D, H, dropout=0.1).eval()
xs = x.transpose(0, 1)
m = nn.Transformer.generate_square_subsequent_mask(6)
run = lambda: mha(xs, xs, xs, attn_mask=m)
""", (
    "attn_mask=m -> attn_mask=m.bool()",
    "attn_mask=m -> attn_mask=m, need_weights=False",
    "mha(xs, xs, xs, attn_mask=m) -> mha(xs[:, 0], xs[:, 0], xs[:, 0], attn_mask=m)",
    "attn_mask=m -> attn_mask=m.repeat(12, 1, 1), key_padding_mask=~pad",
    "attn_mask=m -> key_padding_mask=torch.zeros(3, 6).masked_fill(~pad, -math.inf)",), (
    "attn_mask=m -> attn_mask=causal",
    "xs, xs, xs, attn_mask=m -> xs, xs, xs.flip(1), attn_mask=m",))


program("encoder layers", """
enc = nn.TransformerEncoder(nn.TransformerEncoderLayer(D, H, 48, activation="gelu", batch_first=True, norm_first=True), 2, enable_nested_tensor=False).eval()
dec = nn.TransformerDecoder(nn.TransformerDecoderLayer(D, H, 48, batch_first=True), 2).eval()
m = nn.Transformer.generate_square_subsequent_mask(6)
run = lambda: dec(x, enc(memory), tgt_mask=m)
""", (
    "dec(x, enc(memory), tgt_mask=m) -> dec(x, enc(memory), tgt_mask=m, tgt_key_padding_mask=~pad)",), (
    "tgt_mask=m -> tgt_mask=m.T",
    "tgt_mask=m -> tgt_mask=None",))


program("sdpa arguments", """
class Fused(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(D, 3 * D), nn.Linear(D, D)
    def forward(self, x, **kw):
        b, t, c = x.size()
        q, k, v = self.c_attn(x).split(c, dim=2)
        q, k, v = (z.view(b, t, H, c // H).transpose(1, 2) for z in (q, k, v))
        y = sdpa(q, k, v, **kw)
        return self.c_proj(y.transpose(1, 2).contiguous().view(b, t, c))
net = Fused().eval()
run = lambda: net(x, is_causal=True)
""", (
    "is_causal=True -> attn_mask=causal",
    "is_causal=True -> attn_mask=pad[:, None, None]",
    "is_causal=True -> attn_mask=torch.zeros(6, 6).masked_fill(~causal, -math.inf)",
    "is_causal=True -> attn_mask=torch.randn(3, H, 6, 6)",
    "is_causal=True -> scale=d ** -0.5",
    "!is_causal=True -> scale=0.125",), (
    "is_causal=True -> attn_mask=~causal",
    "is_causal=True -> attn_mask=~pad[:, None, None]",
    "y = sdpa(q, k, v, **kw) -> y = sdpa(q, k, v.flip(0), **kw)",
    "sdpa(q, k, v, **kw) -> sdpa(q / d ** 0.5, k, v, **kw)",
    "z.view(b, t, H, c // H).transpose(1, 2) -> z.view(b, t, H, c // H)",))


program("closures", """
import functools
def make_attention(heads, width, rng):
    wq, wk, wv, wo = (torch.randn(width, width, generator=rng) / width ** 0.5 for _ in range(4))
    def split(t):
        return t.reshape(*t.shape[:-1], heads, -1).swapaxes(-2, -3)
    def attend(q, k, v, bias):
        logits = functools.reduce(torch.add, [q @ k.swapaxes(-1, -2) * (width // heads) ** -0.5, bias])
        return torch.softmax(logits, -1) @ v
    def f(x, bias=torch.zeros(())):
        return attend(split(x @ wq), split(x @ wk), split(x @ wv), bias).swapaxes(-2, -3).flatten(-2) @ wo
    return f
f = make_attention(4, 32, torch.Generator().manual_seed(1))
run = lambda: f(x, torch.where(causal, 0.0, -torch.inf))
""", (
    "f(x, torch.where(causal, 0.0, -torch.inf)) -> f(x)",
    "functools.reduce(torch.add, [q @ k.swapaxes(-1, -2) * (width // heads) ** -0.5, bias]) -> sum([q @ k.swapaxes(-1, -2) * (width // heads) ** -0.5, bias])",
    "f(x, torch.where(causal, 0.0, -torch.inf)) -> functools.partial(f, bias=torch.where(pad, 0.0, -1e30)[:, None, None])(x)",), (
    " * (width // heads) ** -0.5 -> ",
    "split(x @ wv) -> split(x.flip(0) @ wv)",))


program("dataclass", """
import dataclasses
@dataclasses.dataclass
class Config:
    n_embd: int = 32
    n_head: int = 4
    scale: float = None
@dataclasses.dataclass
class Params:
    wqkv: torch.Tensor
    wo: torch.Tensor
def attention(p: Params, c: Config, x, mask=None):
    b, t, _ = x.shape
    hd = c.n_embd // c.n_head
    qkv = torch.einsum("btc,nchd->nbhtd", x, p.wqkv.view(3, c.n_embd, c.n_head, hd))
    q, k, v = qkv
    a = torch.einsum("bhtd,bhsd->bhts", q, k) * (c.scale or hd ** -0.5)
    if mask is not None:
        a = a.where(mask, torch.tensor(-torch.inf))
    a = a.softmax(-1)
    return torch.einsum("bhts,bhsd,hdc->btc", a, v, p.wo.view(c.n_head, hd, c.n_embd))
P = Params(torch.randn(3, 32, 32) / 6, torch.randn(32, 32) / 6)
run = lambda: attention(P, Config(), x, causal)
""", (
    "attention(P, Config(), x, causal) -> attention(P, Config(), x)",
    'torch.einsum("bhts,bhsd,hdc->btc", a, v, p.wo.view(c.n_head, hd, c.n_embd)) -> (a @ v).transpose(1, 2).flatten(2) @ p.wo',), (
    "a, v, p.wo -> a, v.flip(0), p.wo",
    "(c.scale or hd ** -0.5) -> 1.0",
    "where(mask, -> where(~mask, ",))


program("float64", """
class Attn(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(D, D).double() for _ in range(4))
    def forward(self, x):
        q, k, v = (l(x).view(3, 6, H, d).transpose(1, 2) for l in (self.q, self.k, self.v))
        s = torch.tensordot(q, k, ([], [])) if False else q @ k.transpose(-1, -2)
        s = s / torch.sqrt(torch.tensor(d, dtype=torch.float64))
        return self.o((torch.softmax(s, dim=-1) @ v).transpose(1, 2).reshape(3, 6, D))
net = Attn().eval()
run = lambda: net(x.double())
""", (
    's / torch.sqrt(torch.tensor(d, dtype=torch.float64)) -> s.div(np_sqrt(d)) ;; class Attn -> import numpy as np\nnp_sqrt = np.sqrt\nclass Attn',), (
    " / torch.sqrt(torch.tensor(d, dtype=torch.float64)) -> ",
    "dim=-1) @ v -> dim=-1) @ v.flip(0)",))


program("complex attention", """
class ComplexLinear(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.w = nn.Parameter(torch.randn(n, n, dtype=torch.cfloat) / n ** 0.5)
    def forward(self, z):
        return z @ self.w
class ComplexAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (ComplexLinear(16) for _ in range(4))
    def forward(self, z):
        q, k, v = (l(z).view(3, 6, 2, 8).transpose(1, 2) for l in (self.q, self.k, self.v))
        s = (q @ k.conj().transpose(-1, -2)).real / math.sqrt(8)
        a = s.softmax(-1).to(torch.cfloat)
        return self.o((a @ v).transpose(1, 2).reshape(3, 6, 16))
net = ComplexAttention().eval()
run = lambda: net(torch.complex(x[..., :16], x[..., 16:]))
""", (
    "a = s.softmax(-1).to(torch.cfloat) -> a = s.softmax(-1) + 0j",
    "(q @ k.conj().transpose(-1, -2)).real -> (q.real @ k.real.transpose(-1, -2) + q.imag @ k.imag.transpose(-1, -2))",
    "(q @ k.conj().transpose(-1, -2)).real -> (q @ k.conj().transpose(-1, -2)).abs()",), (
    "a @ v -> a @ v.flip(0)",))


program("batch last", """
class BatchLast(nn.Module):
    def __init__(self):
        super().__init__()
        self.wq, self.wk, self.wv, self.wo = (nn.Parameter(torch.randn(D, D) / 6) for _ in range(4))
    def forward(self, x):
        c, t, b = x.shape
        q, k, v = (torch.einsum("oc,ctb->otb", w, x).view(H, d, t, b) for w in (self.wq, self.wk, self.wv))
        s = torch.einsum("hdtb,hdsb->htsb", q, k) / math.sqrt(d)
        a = torch.softmax(s, dim=2)
        o = torch.einsum("htsb,hdsb->hdtb", a, v).reshape(D, t, b)
        return torch.einsum("oc,ctb->otb", self.wo, o)
net = BatchLast().eval()
run = lambda: net(x.permute(2, 1, 0))
""", (
    "torch.softmax(s, dim=2) -> torch.softmax(s, dim=-2)",
    "x.permute(2, 1, 0) -> x.permute(2, 1, 0).contiguous()",
    "x.permute(2, 1, 0) -> torch.randn(D, 5, 4)",), (
    "torch.softmax(s, dim=2) -> torch.softmax(s, dim=1)",
    "a, v) -> a, v.flip(-1))",
    "(s, dim=2) -> (s, dim=-1)",
    " / math.sqrt(d) -> ",))


program("heads last", """
class HeadsLast(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(D, D) for _ in range(4))
    def forward(self, x, mask):
        b, t, _ = x.shape
        q, k, v = (l(x).view(b, t, d, H) for l in (self.q, self.k, self.v))
        s = torch.einsum("bidh,bjdh->bijh", q, k) / d ** 0.5
        s = s.masked_fill(~mask[None, :, :, None], -1e9)
        a = s.softmax(2)
        return self.o(torch.einsum("bijh,bjdh->bidh", a, v).reshape(b, t, D))
net = HeadsLast().eval()
run = lambda: net(x, causal)
""", (
    "s = s.masked_fill(~mask[None, :, :, None], -1e9) -> s = s - 1e9 * (~mask)[..., None].float()",), (
    "s.softmax(2) -> s.softmax(1)",
    "a, v) -> a, v.flip(0))",
    " / d ** 0.5 -> ",
    "s.softmax(2) -> s.softmax(3)",))


program("online softmax", """
def flash(q, k, v, block=2, causal=False):
    o, l, m = torch.zeros_like(q), torch.zeros(*q.shape[:-1], 1), torch.full((*q.shape[:-1], 1), -float("inf"))
    scale, t = q.shape[-1] ** -0.5, k.shape[-2]
    for j in range(0, t, block):
        kj, vj = k[..., j:j + block, :], v[..., j:j + block, :]
        s = q @ kj.transpose(-1, -2) * scale
        if causal:
            s = s.masked_fill(torch.arange(j, min(j + block, t)) > torch.arange(q.shape[-2])[:, None], -float("inf"))
        new = torch.maximum(m, s.amax(-1, keepdim=True))
        p = torch.exp(s - new)
        c = torch.exp(m - new)
        l, o, m = l * c + p.sum(-1, keepdim=True), o * c + p @ vj, new
    return o / l
class Flash(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(D, D) for _ in range(4))
    def forward(self, x, causal=False):
        q, k, v = (l(x).view(3, 6, H, d).transpose(1, 2) for l in (self.q, self.k, self.v))
        return self.o(flash(q, k, v, causal=causal).transpose(1, 2).reshape(3, 6, D))
net = Flash().eval()
run = lambda: net(x, True)
""", (
    "net(x, True) -> net(x)",
    'p = torch.exp(s - new)\n -> p = (s - new).exp_()\n',), (
    "p @ vj -> p @ vj.flip(0)",
    "* scale -> * 1.0",))


program("chunked softmax merge", """
class Merge(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(D, D) for _ in range(4))
    def part(self, q, k, v):
        s = q @ k.transpose(-1, -2) / math.sqrt(d)
        m = s.max(-1, keepdim=True).values
        e = torch.exp(s - m.detach())
        return e @ v, e.sum(-1, keepdim=True), m
    def forward(self, x):
        q, k, v = (l(x).view(3, 6, H, d).transpose(1, 2) for l in (self.q, self.k, self.v))
        parts = [self.part(q, kk, vv) for kk, vv in zip(k.split(3, 2), v.split(3, 2))]
        values, weights, maxes = map(torch.stack, zip(*parts))
        g = maxes.max(0, keepdim=True).values
        f = torch.exp(maxes - g)
        y = (values * f).sum(0) / (weights * f).sum(0)
        return self.o(y.transpose(1, 2).reshape(3, 6, D))
net = Merge().eval()
run = lambda: net(x)
""", (), (
    "e @ v, -> e @ v.flip(0),",))


program("softmax by hand", """
def softmax(t):
    t = t - t.max(dim=-1, keepdim=True)[0]
    e = torch.exp(t)
    return e / torch.sum(e, dim=-1, keepdim=True)
class Hand(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(D, D) for _ in range(4))
    def forward(self, x, mask):
        q, k, v = (l(x).view(3, 6, H, d).transpose(1, 2) for l in (self.q, self.k, self.v))
        s = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(d)
        s = torch.where(mask, s, torch.tensor(float("-inf")))
        return self.o(torch.matmul(softmax(s), v).transpose(1, 2).reshape(3, 6, D))
net = Hand().eval()
run = lambda: net(x, causal)
""", (
    '    t = t - t.max(dim=-1, keepdim=True)[0]\n -> ',
    '    e = torch.exp(t)\n    return e / torch.sum(e, dim=-1, keepdim=True) ->     return torch.exp(t - torch.logsumexp(t, -1, keepdim=True))',
    '    e = torch.exp(t)\n    return e / torch.sum(e, dim=-1, keepdim=True) ->     return torch.exp(F.log_softmax(t, -1))',
    "torch.matmul(softmax(s), v) -> (torch.exp(s) @ v / torch.exp(s).sum(-1, keepdim=True))",
    '    e = torch.exp(t)\n    return e / torch.sum(e, dim=-1, keepdim=True) ->     e = math.e ** t\n    return e * e.sum(-1, True).reciprocal()',
    "    return e / torch.sum(e, dim=-1, keepdim=True) ->     return F.normalize(e, p=1, dim=-1)",
    "    return e / torch.sum(e, dim=-1, keepdim=True) ->     return torch.div(e, e.sum(-1).unsqueeze(-1))",
    "    return e / torch.sum(e, dim=-1, keepdim=True) ->     return e / torch.einsum('bhij->bhi', e)[..., None]",), (
    "torch.sum(e, dim=-1, keepdim=True) -> torch.sum(e, dim=-2, keepdim=True)",
    "softmax(s), v -> softmax(s), v.flip(0)",
    " / math.sqrt(d) -> ",
    "torch.where(mask, s, -> torch.where(~mask, s,",))


program("masks renormalised", """
class Renorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(D, D) for _ in range(4))
    def forward(self, x, mask):
        q, k, v = (l(x).view(3, 6, H, d).transpose(1, 2) for l in (self.q, self.k, self.v))
        s = q @ k.transpose(-2, -1) / math.sqrt(d)
        w = s.softmax(-1) * mask[:, None, None].float()
        w = w / (w.sum(-1, keepdim=True) + 1e-13)
        return self.o((w @ v).transpose(1, 2).reshape(3, 6, D))
net = Renorm().eval()
run = lambda: net(x, pad)
""", (
    "w = s.softmax(-1) * mask[:, None, None].float() -> w = torch.exp(s) * mask[:, None, None].float()",
    "w / (w.sum(-1, keepdim=True) + 1e-13) -> w / w.sum(-1, keepdim=True).clamp(min=1e-9)",
    "w = s.softmax(-1) * mask[:, None, None].float() -> m = mask[:, None, None].float(); w = torch.softmax(s * m, -1) * m",
    "w = s.softmax(-1) * mask[:, None, None].float() -> w = s.softmax(-1).masked_fill(~mask[:, None, None], 0.0)",), (
    'w = w / (w.sum(-1, keepdim=True) + 1e-13)\n -> w = w\n',
    "w @ v -> w @ v.flip(0)",
    "mask[:, None, None].float() -> (~mask)[:, None, None].float()",))


program("dropout variants", """
class Drop(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(D, D) for _ in range(4))
        self.attn_drop, self.resid_drop = nn.Dropout(0.1), nn.Dropout(0.1)
    def forward(self, x, mask):
        q, k, v = (l(x).view(3, 6, H, d).transpose(1, 2) for l in (self.q, self.k, self.v))
        w = (q @ k.mT * d ** -0.5).masked_fill(~mask, -math.inf).softmax(-1)
        w = self.attn_drop(w)
        return self.resid_drop(self.o((w @ v).transpose(1, 2).reshape(3, 6, D)))
net = Drop().eval()
run = lambda: net(x, causal)
""", (
    "w = self.attn_drop(w) -> w = F.dropout(w, 0.1, self.training)",
    "w = self.attn_drop(w) -> w = nn.Dropout2d(0.1).eval()(w)",
    "w = self.attn_drop(w) -> w = w * torch.ones_like(w)",
    "net = Drop().eval() -> net = Drop().train() ;; lambda: net(x, causal) -> lambda: torch.enable_grad()(net)(x, causal)",), (
    "w = self.attn_drop(w) -> w = F.dropout(w, 0.5)",
    "w = (q @ k.mT * d ** -0.5) -> w = F.dropout(q @ k.mT * d ** -0.5, 0.5)",))
