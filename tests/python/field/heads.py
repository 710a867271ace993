"""Attention of papers, as text: keys that heads share, two maps, gates, other functions than softmax."""
from field import Room

program = Room(unusual=True)


program("multi-query broadcast", """
class MQA(nn.Module):
    def __init__(self):
        super().__init__()
        self.Wq, self.Wk, self.Wv, self.Wo = nn.Linear(D, D), nn.Linear(D, d), nn.Linear(D, d), nn.Linear(D, D)
    def forward(self, x, is_causal=True):
        B_, T_, C = x.shape
        q = self.Wq(x).view(B_, T_, H, d).transpose(1, 2)
        k, v = self.Wk(x).unsqueeze(1), self.Wv(x).unsqueeze(1)
        scores = torch.matmul(q, k.transpose(-2, -1)) / (d ** 0.5)
        if is_causal:
            scores = scores + torch.full((T_, T_), float("-inf")).triu(1)
        p = torch.softmax(scores.float(), dim=-1).to(q.dtype)
        y = torch.matmul(p, v)
        return self.Wo(y.transpose(1, 2).flatten(2))
net = MQA().eval()
run = lambda: net(x)
""", (
    "torch.matmul(q, k.transpose(-2, -1)) -> torch.einsum('bhtd,bsd->bhts', q, k.squeeze(1))",
    "torch.matmul(p, v) -> torch.einsum('bhts,bsd->bhtd', p, v.squeeze(1))",), (
    "torch.matmul(p, v) -> torch.matmul(p, k)",
    " / (d ** 0.5) -> ",
    'float("-inf")).triu(1) -> float("-inf")).triu(2)',))


program("GQA einsum", """
class GQA(nn.Module):
    def __init__(self, g=2):
        super().__init__()
        self.g = g
        self.wq, self.wk, self.wv, self.wo = nn.Linear(D, D, bias=False), nn.Linear(D, g * d, bias=False), nn.Linear(D, g * d, bias=False), nn.Linear(D, D, bias=False)
    def forward(self, x, mask):
        b, t, _ = x.shape
        q = self.wq(x).view(b, t, self.g, H // self.g, d)
        k, v = self.wk(x).view(b, t, self.g, d), self.wv(x).view(b, t, self.g, d)
        s = torch.einsum("btgrd,bsgd->bgrts", q, k) * d ** -0.5
        s = torch.where(mask, s, torch.finfo(s.dtype).min)
        o = torch.einsum("bgrts,bsgd->btgrd", s.softmax(-1), v)
        return self.wo(o.reshape(b, t, -1))
net = GQA().eval()
run = lambda: net(x, causal)
""", (
    "GQA() -> GQA(1)",
    "GQA() -> GQA(4)",
    'torch.einsum("btgrd,bsgd->bgrts", q, k) -> (q.permute(0, 2, 3, 1, 4) @ k.permute(0, 2, 3, 1).unsqueeze(2))',
    "torch.where(mask, s, torch.finfo(s.dtype).min) -> s + torch.where(mask, 0., float('-inf'))",), (
    'v)\n -> v.flip(0))\n',
    " * d ** -0.5 -> ",
    "view(b, t, self.g, H // self.g, d) -> view(b, t, H // self.g, self.g, d).transpose(2, 3)",
    "torch.where(mask, s, torch.finfo(s.dtype).min) -> torch.where(mask.T, s, torch.finfo(s.dtype).min)",))


program("GQA expand", """
class Attn(nn.Module):
    def __init__(self, kv=2):
        super().__init__()
        self.kv = kv
        self.q, self.k, self.v, self.o = nn.Linear(D, D), nn.Linear(D, kv * d), nn.Linear(D, kv * d), nn.Linear(D, D)
    def repeat_kv(self, t, n):
        bs, s, h, hd = t.shape
        return t[:, :, :, None, :].expand(bs, s, h, n, hd).reshape(bs, s, h * n, hd)
    def forward(self, x, start_pos=0):
        bsz, t, _ = x.shape
        xq, xk, xv = self.q(x).view(bsz, t, H, d), self.k(x).view(bsz, t, self.kv, d), self.v(x).view(bsz, t, self.kv, d)
        keys, values = self.repeat_kv(xk, H // self.kv), self.repeat_kv(xv, H // self.kv)
        xq, keys, values = xq.transpose(1, 2), keys.transpose(1, 2), values.transpose(1, 2)
        output = F.softmax(torch.matmul(xq, keys.transpose(2, 3)) / math.sqrt(d), dim=-1) @ values
        return self.o(output.transpose(1, 2).contiguous().view(bsz, t, -1))
net = Attn().eval()
run = lambda: net(x)
""", (
    "self.repeat_kv(xk, H // self.kv) -> torch.repeat_interleave(xk, H // self.kv, dim=2)",
    "self.repeat_kv(xv, H // self.kv) -> torch.stack([xv] * (H // self.kv), 3).flatten(2, 3)",), (
    "self.repeat_kv(xv, H // self.kv) -> xv.repeat(1, 1, H // self.kv, 1)",
    "dim=-1) @ values -> dim=-1) @ values.flip(2)",
    " / math.sqrt(d) -> ",))


program("MLA naive", """
class RMSNorm(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))
    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight
def apply_rotary_emb(x, freqs_cis):
    y = torch.view_as_complex(x.float().view(*x.shape[:-1], -1, 2))
    return torch.view_as_real(y * freqs_cis.view(1, y.size(1), 1, y.size(-1))).flatten(3).to(x.dtype)
class MLA(nn.Module):
    def __init__(self, impl="naive", q_lora=12, kv_lora=10, nope=8, rope=4, vd=6):
        super().__init__()
        self.impl, self.nope, self.rope, self.vd, self.kv_lora = impl, nope, rope, vd, kv_lora
        self.wq_a, self.q_norm, self.wq_b = nn.Linear(D, q_lora, bias=False), RMSNorm(q_lora), nn.Linear(q_lora, H * (nope + rope), bias=False)
        self.wkv_a, self.kv_norm, self.wkv_b = nn.Linear(D, kv_lora + rope, bias=False), RMSNorm(kv_lora), nn.Linear(kv_lora, H * (nope + vd), bias=False)
        self.wo, self.softmax_scale = nn.Linear(H * vd, D, bias=False), (nope + rope) ** -0.5
        self.register_buffer("k_cache", torch.zeros(4, 8, H, nope + rope), persistent=False)
        self.register_buffer("v_cache", torch.zeros(4, 8, H, vd), persistent=False)
        self.register_buffer("kv_cache", torch.zeros(4, 8, kv_lora), persistent=False)
        self.register_buffer("pe_cache", torch.zeros(4, 8, rope), persistent=False)
    def forward(self, x, start_pos, freqs_cis, mask):
        bsz, seqlen, _ = x.size()
        end_pos = start_pos + seqlen
        q = self.wq_b(self.q_norm(self.wq_a(x))).view(bsz, seqlen, H, self.nope + self.rope)
        q_nope, q_pe = torch.split(q, [self.nope, self.rope], dim=-1)
        q_pe = apply_rotary_emb(q_pe, freqs_cis)
        kv, k_pe = torch.split(self.wkv_a(x), [self.kv_lora, self.rope], dim=-1)
        k_pe = apply_rotary_emb(k_pe.unsqueeze(2), freqs_cis)
        if self.impl == "naive":
            q = torch.cat([q_nope, q_pe], dim=-1)
            kv = self.wkv_b(self.kv_norm(kv)).view(bsz, seqlen, H, self.nope + self.vd)
            k_nope, v = torch.split(kv, [self.nope, self.vd], dim=-1)
            k = torch.cat([k_nope, k_pe.expand(-1, -1, H, -1)], dim=-1)
            self.k_cache[:bsz, start_pos:end_pos] = k
            self.v_cache[:bsz, start_pos:end_pos] = v
            scores = torch.einsum("bshd,bthd->bsht", q, self.k_cache[:bsz, :end_pos]) * self.softmax_scale
        else:
            wkv_b = self.wkv_b.weight.view(H, -1, self.kv_lora)
            q_nope = torch.einsum("bshd,hdc->bshc", q_nope, wkv_b[:, :self.nope])
            self.kv_cache[:bsz, start_pos:end_pos] = self.kv_norm(kv)
            self.pe_cache[:bsz, start_pos:end_pos] = k_pe.squeeze(2)
            scores = (torch.einsum("bshc,btc->bsht", q_nope, self.kv_cache[:bsz, :end_pos]) +
                      torch.einsum("bshr,btr->bsht", q_pe, self.pe_cache[:bsz, :end_pos])) * self.softmax_scale
        if mask is not None:
            scores = scores + mask.unsqueeze(1)
        scores = scores.softmax(dim=-1, dtype=torch.float32).type_as(x)
        if self.impl == "naive":
            o = torch.einsum("bsht,bthd->bshd", scores, self.v_cache[:bsz, :end_pos])
        else:
            o = torch.einsum("bsht,btc->bshc", scores, self.kv_cache[:bsz, :end_pos])
            o = torch.einsum("bshc,hdc->bshd", o, wkv_b[:, -self.vd:])
        return self.wo(o.flatten(2))
net = MLA().eval()
freqs = torch.polar(torch.ones(8, 2), torch.outer(torch.arange(8.), torch.tensor([1.0, 0.1])))
m = torch.full((6, 6), float("-inf")).triu(1)
def run():
    return net(x, 0, freqs[:6], m)
""", (
    'MLA() -> MLA("absorb")',
    "return net(x, 0, freqs[:6], m) -> net(x[:, :4], 0, freqs[:4], m[:4, :4]); [net(x[:, t:t + 1], t, freqs[t:t + 1], None) for t in (4, 5)]",
    'MLA() -> MLA("absorb") ;; return net(x, 0, freqs[:6], m) -> net(x[:, :4], 0, freqs[:4], m[:4, :4]); [net(x[:, t:t + 1], t, freqs[t:t + 1], None) for t in (4, 5)]',), (
    "scores, self.v_cache[:bsz, :end_pos] -> scores, self.v_cache[:bsz, :end_pos].flip(0)",
    "(nope + rope) ** -0.5 -> 1.0",
    'triu(1)\ndef -> triu(2)\ndef',
    'MLA() -> MLA("absorb") ;; scores, self.kv_cache[:bsz, :end_pos] -> scores, self.kv_cache[:bsz, :end_pos].flip(0)',
    'MLA() -> MLA("absorb") ;; (nope + rope) ** -0.5 -> 1.0',
    'MLA() -> MLA("absorb") ;; net(x, 0, freqs[:6], m) -> net(x, 0, freqs[:6], None)',
    "q_pe = apply_rotary_emb(q_pe, freqs_cis) -> pass",))


program("differential attention", """
class Diff(nn.Module):
    def __init__(self, depth=1):
        super().__init__()
        self.h = 2
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(D, D, bias=False) for _ in range(4))
        self.lambda_init = 0.8 - 0.6 * math.exp(-0.3 * depth)
        self.lambda_q1, self.lambda_k1, self.lambda_q2, self.lambda_k2 = (nn.Parameter(torch.zeros(8).normal_(0, 0.1)) for _ in range(4))
        self.subln = nn.LayerNorm(16, elementwise_affine=False)
    def forward(self, x):
        b, n, _ = x.size()
        q = self.q_proj(x).view(b, n, 2 * self.h, 8).transpose(1, 2)
        k = self.k_proj(x).view(b, n, 2 * self.h, 8).transpose(1, 2)
        v = self.v_proj(x).view(b, n, self.h, 16).transpose(1, 2)
        q = q * 8 ** -0.5
        w = torch.matmul(q, k.transpose(-1, -2))
        w = torch.nan_to_num(w)
        w = w + torch.triu(torch.zeros([n, n]).float().fill_(float("-inf")).type_as(w), 1)
        w = F.softmax(w, dim=-1, dtype=torch.float32).type_as(w)
        l1 = torch.exp(torch.sum(self.lambda_q1 * self.lambda_k1, dim=-1).float()).type_as(q)
        l2 = torch.exp(torch.sum(self.lambda_q2 * self.lambda_k2, dim=-1).float()).type_as(q)
        lam = l1 - l2 + self.lambda_init
        w = w.view(b, self.h, 2, n, n)
        w = w[:, :, 0] - lam * w[:, :, 1]
        a = self.subln(torch.matmul(w, v)) * (1 - self.lambda_init)
        return self.out_proj(a.transpose(1, 2).reshape(b, n, D))
net = Diff().eval()
run = lambda: net(x)
""", (
    "w = w.view(b, self.h, 2, n, n) -> w1, w2 = w[:, 0::2], w[:, 1::2] ;; w[:, :, 0] - lam * w[:, :, 1] -> w1 - lam * w2",
    'w = torch.nan_to_num(w)\n -> w = w\n',), (
    "w[:, :, 0] - lam * w[:, :, 1] -> w[:, :, 0] - lam * w[:, :, 1].flip(0)",
    "torch.matmul(w, v) -> torch.matmul(w, v.flip(0))",
    'torch.triu(torch.zeros([n, n]).float().fill_(float("-inf")).type_as(w), 1) -> 0 * w[:1, :1]',))


program("two maps differ", """
class DiffTwo(nn.Module):
    def __init__(self):
        super().__init__()
        self.q1, self.q2, self.k1, self.k2, self.v, self.o = (nn.Linear(D, D) for _ in range(6))
        self.lam = nn.Parameter(torch.tensor(0.4))
    def forward(self, x):
        s = lambda t: t.view(3, 6, H, d).transpose(1, 2)
        a1 = (s(self.q1(x)) @ s(self.k1(x)).transpose(-1, -2) / math.sqrt(d)).softmax(-1)
        a2 = (s(self.q2(x)) @ s(self.k2(x)).transpose(-1, -2) / math.sqrt(d)).softmax(-1)
        return self.o(((a1 - self.lam * a2) @ s(self.v(x))).transpose(1, 2).reshape(3, 6, D))
net = DiffTwo().eval()
run = lambda: net(x)
""", (
    "(a1 - self.lam * a2) @ s(self.v(x)) -> a1 @ s(self.v(x)) - self.lam * (a2 @ s(self.v(x)))",), (
    "s(self.k1(x)) -> s(self.k1(x).flip(0))",
    "s(self.k2(x)).transpose(-1, -2) / math.sqrt(d) -> s(self.k2(x)).transpose(-1, -2)",))


program("sigmoid attention", """
class SigmoidAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(D, 3 * D, bias=False), nn.Linear(D, D, bias=False)
    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = (t.view(b, n, H, d).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        logits = q @ k.transpose(-1, -2) / math.sqrt(d)
        attn = torch.sigmoid(logits - math.log(n))
        return self.out((attn @ v).transpose(1, 2).reshape(b, n, D))
net = SigmoidAttention().eval()
run = lambda: net(x)
""", (
    "!",
    "!torch.sigmoid(logits - math.log(n)) -> torch.sigmoid(logits + -math.log(n))",))


program("softmax one", """
def softmax1(s):
    m = s.amax(-1, keepdim=True).clamp(min=0)
    e = torch.exp(s - m)
    return e / (torch.exp(-m) + e.sum(-1, keepdim=True))
class Quiet(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(D, D) for _ in range(4))
    def forward(self, x, mask=None):
        q, k, v = (l(x).unflatten(-1, (H, d)).transpose(1, 2) for l in (self.q, self.k, self.v))
        s = q @ k.mT / d ** 0.5
        if mask is not None:
            s = s.masked_fill(~mask, float("-inf"))
        return self.o((softmax1(s) @ v).transpose(1, 2).flatten(2))
net = Quiet().eval()
run = lambda: net(x)
""", (
    "softmax1(s) @ v -> F.pad(s, (0, 1)).softmax(-1)[..., :-1] @ v",
    "softmax1(s) @ v -> torch.cat([s, torch.zeros_like(s[..., :1])], -1).softmax(-1)[..., :-1] @ v",
    "net(x) -> net(x, causal)",
    "softmax1(s) @ v -> (s.exp() / (1 + s.exp().sum(-1, keepdim=True))) @ v",), (
    "softmax1(s) @ v -> softmax1(s) @ v.flip(0)",
    " / d ** 0.5 -> ",))


program("gated attention", """
class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.g_proj, self.o_proj = (nn.Linear(D, D, bias=False) for _ in range(5))
    def forward(self, x, mask):
        q, k, v = (p(x).view(3, 6, H, d).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        a = torch.softmax((q @ k.transpose(2, 3)) * d ** -0.5 + mask, -1)
        o = (a @ v).transpose(1, 2).reshape(3, 6, D)
        return self.o_proj(o * torch.sigmoid(self.g_proj(x)))
net = Gated().eval()
m = torch.zeros(6, 6).masked_fill(~causal, -1e30)
run = lambda: net(x, m)
""", (
    "(a @ v).transpose(1, 2).reshape(3, 6, D) -> ((a @ v) * torch.sigmoid(self.g_proj(x)).view(3, 6, H, d).transpose(1, 2)).transpose(1, 2).reshape(3, 6, D) ;; o * torch.sigmoid(self.g_proj(x)) -> o",
    "g_proj, self.o_proj = (nn.Linear(D, D, bias=False) for _ in range(5)) -> o_proj = (nn.Linear(D, D, bias=False) for _ in range(4)); self.gate = nn.Parameter(torch.randn(H, 1, 1)) ;; (a @ v).transpose -> (torch.tanh(self.gate) * (a @ v)).transpose ;; o * torch.sigmoid(self.g_proj(x)) -> o",), (
    " * d ** -0.5 -> ",
    "(a @ v).transpose(1, 2) -> (a @ v)",
    "masked_fill(~causal -> masked_fill(causal",))


program("GAU", """
class GAU(nn.Module):
    def __init__(self, s=16, e=48):
        super().__init__()
        self.norm, self.to_hidden, self.to_qk = nn.LayerNorm(D), nn.Sequential(nn.Linear(D, 2 * e), nn.SiLU()), nn.Sequential(nn.Linear(D, s), nn.SiLU())
        self.gamma, self.beta = nn.Parameter(torch.randn(2, s)), nn.Parameter(torch.randn(2, s) * 0.1)
        self.to_out = nn.Linear(e, D)
    def forward(self, x):
        n = x.shape[1]
        h = self.norm(x)
        v, gate = self.to_hidden(h).chunk(2, -1)
        z = self.to_qk(h)
        q, k = (torch.einsum("bnd,hd->bnhd", z, self.gamma) + self.beta).unbind(-2)
        sim = torch.einsum("bid,bjd->bij", q, k) / n
        A = F.relu(sim) ** 2
        A = A.masked_fill(torch.ones(n, n).bool().triu(1), 0.)
        V = torch.einsum("bij,bjd->bid", A, v) * gate
        return self.to_out(V) + x
net = GAU().eval()
run = lambda: net(x)
""", (
    'A = F.relu(sim) ** 2\n        A = A.masked_fill(torch.ones(n, n).bool().triu(1), 0.) -> A = (sim * n / 4).masked_fill(torch.ones(n, n).bool().triu(1), -1e9).softmax(-1)',))
