"""Attention as papers have it, as text (field_forms.py): latents, kernels, blocks, caches, positions of every kind, and torch's own with
all its arguments."""
PROGRAMS = []      # (name, text, right changes, wrong changes)


def program(name, text, right=(), wrong=()):
    PROGRAMS.append((name, text, right, wrong))


program("perceiver", """
class PerceiverAttention(nn.Module):
    def __init__(self, dim=D, dim_head=8, heads=4):
        super().__init__()
        self.scale, self.heads = dim_head ** -0.5, heads
        inner = dim_head * heads
        self.norm_media, self.norm_latents = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.to_q, self.to_kv, self.to_out = nn.Linear(dim, inner, bias=False), nn.Linear(dim, inner * 2, bias=False), nn.Linear(inner, dim, bias=False)
    def forward(self, x, latents):
        x, latents = self.norm_media(x), self.norm_latents(latents)
        b, m, h = *x.shape[:2], self.heads
        q = self.to_q(latents)
        kv_input = torch.cat((x, latents), dim=-2)
        k, v = self.to_kv(kv_input).chunk(2, dim=-1)
        q, k, v = map(lambda t: t.reshape(b, -1, h, 8).transpose(1, 2), (q, k, v))
        q = q * self.scale
        sim = torch.einsum('... i d, ... j d  -> ... i j', q, k)
        sim = sim - sim.amax(dim=-1, keepdim=True).detach()
        attn = sim.softmax(dim=-1)
        out = torch.einsum('... i j, ... j d -> ... i d', attn, v)
        return self.to_out(out.transpose(1, 2).reshape(b, -1, h * 8))
class Resampler(nn.Module):
    def __init__(self, depth=2, n=5):
        super().__init__()
        self.latents = nn.Parameter(torch.randn(n, D))
        self.layers = nn.ModuleList([nn.ModuleList([PerceiverAttention(), nn.Sequential(nn.LayerNorm(D), nn.Linear(D, D), nn.GELU())]) for _ in range(depth)])
        self.norm = nn.LayerNorm(D)
    def forward(self, x):
        latents = self.latents.unsqueeze(0).repeat(x.shape[0], 1, 1)
        for attn, ff in self.layers:
            latents = attn(x, latents) + latents
            latents = ff(latents) + latents
        return self.norm(latents)
net = Resampler().eval()
run = lambda: net(x)
""", (
    "sim.amax(dim=-1, keepdim=True).detach() -> sim.amax(dim=-1, keepdim=True)",), (
    "attn, v) -> attn, v.flip(0))",
    "q = q * self.scale -> q = q / self.scale",
    "out.transpose(1, 2).reshape(b, -1, h * 8) -> out.reshape(b, -1, h * 8)",))


program("performer", """
class Performer(nn.Module):
    def __init__(self, m=16):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(D, D) for _ in range(4))
        self.register_buffer("w", torch.randn(m, d))
    def phi(self, t, is_query):
        t = t * d ** -0.25
        u = t @ self.w.t()
        diag = (t ** 2).sum(-1, keepdim=True) / 2
        s = u.amax(-1, keepdim=True) if is_query else u.amax((-1, -2), keepdim=True)
        return (torch.exp(u - diag - s) + 1e-4) * self.w.shape[0] ** -0.5
    def forward(self, x):
        q, k, v = (l(x).view(3, 6, H, d).transpose(1, 2) for l in (self.q, self.k, self.v))
        q, k = self.phi(q, True), self.phi(k, False)
        kv = torch.einsum("bhnm,bhnd->bhmd", k, v)
        z = 1 / torch.einsum("bhnm,bhm->bhn", q, k.sum(2))
        return self.o(torch.einsum("bhnm,bhmd,bhn->bhnd", q, kv, z).transpose(1, 2).reshape(3, 6, D))
net = Performer().eval()
run = lambda: net(x)
""", (
    'torch.einsum("bhnm,bhmd,bhn->bhnd", q, kv, z) -> ((q @ kv) * z[..., None])',))


program("linear elu attention", """
class LinearAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query_projection, self.key_projection, self.value_projection, self.out_projection = (nn.Linear(D, D) for _ in range(4))
    def forward(self, queries, keys, values, key_lengths=None):
        N, L, _ = queries.shape
        S = keys.shape[1]
        Q = F.elu(self.query_projection(queries).view(N, L, H, -1)) + 1
        K = F.elu(self.key_projection(keys).view(N, S, H, -1)) + 1
        V = self.value_projection(values).view(N, S, H, -1)
        if key_lengths is not None:
            K = K * key_lengths[:, :, None, None].float()
        KV = torch.einsum("nshd,nshm->nhmd", K, V)
        Z = 1 / (torch.einsum("nlhd,nhd->nlh", Q, K.sum(dim=1)) + 1e-6)
        V = torch.einsum("nlhd,nhmd,nlh->nlhm", Q, KV, Z)
        return self.out_projection(V.contiguous().view(N, L, -1))
net = LinearAttention().eval()
run = lambda: net(x, x, x)
""", (
    "net(x, x, x) -> net(x, x, x, pad)",
    "net(x, x, x) -> net(x, memory, memory)",))


program("quadratic linear attention", """
class Kernel(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(D, D) for _ in range(4))
    def forward(self, x):
        q, k, v = (p(x).view(3, 6, H, d).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        q, k = F.relu(q) + 1e-3, F.relu(k) + 1e-3
        a = q @ k.transpose(-1, -2)
        a = a * torch.ones(6, 6).tril()
        a = a / a.sum(-1, keepdim=True)
        return self.out_proj((a @ v).transpose(1, 2).reshape(3, 6, D))
net = Kernel().eval()
run = lambda: net(x)
""", (
    "!",
    "F.relu(q) + 1e-3, F.relu(k) + 1e-3 -> q.softmax(-1), k.softmax(-1)",))


program("linformer", """
class LinformerSelfAttention(nn.Module):
    def __init__(self, dim=D, seq_len=6, k=3, heads=H):
        super().__init__()
        self.to_q, self.to_k, self.to_v, self.to_out = nn.Linear(dim, dim, bias=False), nn.Linear(dim, dim, bias=False), nn.Linear(dim, dim, bias=False), nn.Linear(dim, dim)
        self.proj_k, self.proj_v = nn.Parameter(torch.randn(seq_len, k) / 3), nn.Parameter(torch.randn(seq_len, k) / 3)
        self.heads = heads
    def forward(self, x):
        b, n, dim = x.shape
        queries = self.to_q(x)
        proj_seq_len = lambda args: torch.einsum('bnd,nk->bkd', *args)
        keys, values = self.to_k(x), self.to_v(x)
        keys, values = map(proj_seq_len, zip((keys, values), (self.proj_k, self.proj_v)))
        queries = queries.reshape(b, n, self.heads, -1).transpose(1, 2)
        merge = lambda t: t.reshape(b, 3, -1, d).transpose(1, 2).expand(-1, self.heads, -1, -1)
        keys, values = map(merge, (keys, values))
        dots = torch.einsum('bhnd,bhkd->bhnk', queries, keys) * (d ** -0.5)
        attn = dots.softmax(dim=-1)
        out = torch.einsum('bhnk,bhkd->bhnd', attn, values)
        return self.to_out(out.transpose(1, 2).reshape(b, n, -1))
net = LinformerSelfAttention().eval()
run = lambda: net(x)
""", (
    "torch.einsum('bnd,nk->bkd', *args) -> (args[0].transpose(1, 2) @ args[1]).transpose(1, 2)",), (
    "attn, values) -> attn, values.flip(0))",
    " * (d ** -0.5) -> ",))


program("bigbird", """
class BigBird(nn.Module):
    def __init__(self, block=2):
        super().__init__()
        self.query, self.key, self.value, self.dense, self.block = nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D), block
    def forward(self, hidden, mask):
        bs, n, _ = hidden.shape
        w, nb = self.block, n // self.block
        sp = lambda t: t.view(bs, n, H, d).transpose(1, 2)
        q, k, v = sp(self.query(hidden)), sp(self.key(hidden)), sp(self.value(hidden))
        qb, kb, vb = (t.reshape(bs, H, nb, w, d) for t in (q, k, v))
        mb = mask.view(bs, nb, w).float()
        outs = []
        for i in range(nb):
            near = sorted({0, max(i - 1, 0), i})
            kk, vv = torch.cat([kb[:, :, j] for j in near], 2), torch.cat([vb[:, :, j] for j in near], 2)
            m = torch.cat([mb[:, j] for j in near], 1)[:, None, None]
            s = torch.einsum("bhqd,bhkd->bhqk", qb[:, :, i], kk) * (1 / math.sqrt(d))
            s = s + (1.0 - m) * -10000.0
            outs.append(torch.einsum("bhqk,bhkd->bhqd", s.softmax(-1), vv))
        ctx = torch.cat(outs, 2).transpose(1, 2).reshape(bs, n, D)
        return self.dense(ctx)
net = BigBird().eval()
run = lambda: net(x, pad)
""", (
    "net(x, pad) -> net(x, torch.ones(3, 6))",), (
    "s = s + (1.0 - m) * -10000.0 -> s = s + m * -10000.0",
    "s.softmax(-1), vv -> s.softmax(-1), vv.flip(0)",
    " * (1 / math.sqrt(d)) -> ",))


program("topk sparse", """
class TopK(nn.Module):
    def __init__(self, k=3):
        super().__init__()
        self.qkv, self.proj, self.k = nn.Linear(D, 3 * D), nn.Linear(D, D), k
    def forward(self, x, mask=None):
        b, n, _ = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, H, d).permute(2, 0, 3, 1, 4).unbind(0)
        dots = q @ k.transpose(-2, -1) * d ** -0.5
        if mask is not None:
            dots = dots.masked_fill(~mask, -torch.finfo(dots.dtype).max)
        top, _ = dots.topk(self.k, dim=-1)
        vk = top[..., -1].unsqueeze(-1).expand_as(dots)
        dots = dots.masked_fill(dots < vk, -torch.finfo(dots.dtype).max)
        attn = dots.softmax(dim=-1)
        return self.proj((attn @ v).transpose(1, 2).reshape(b, n, D))
net = TopK().eval()
run = lambda: net(x)
""", (
    "net(x) -> net(x, causal)",
    "dots = dots.masked_fill(dots < vk, -torch.finfo(dots.dtype).max) -> index = dots.topk(self.k, -1)[1]; dots = dots + torch.full_like(dots, float('-inf')).scatter_(-1, index, 0.)",), (
    "attn @ v -> attn @ v.flip(0)",
    " * d ** -0.5 -> ",
    "dots.softmax(dim=-1) -> dots.softmax(dim=-2)",))


program("cosine attention", """
class Cosine(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(D, D) for _ in range(4))
        self.logit_scale = nn.Parameter(torch.log(10 * torch.ones(H, 1, 1)))
    def forward(self, x):
        q, k, v = (l(x).view(3, 6, H, d).transpose(1, 2) for l in (self.q, self.k, self.v))
        attn = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)
        attn = attn * torch.clamp(self.logit_scale, max=math.log(100.)).exp()
        attn = attn.softmax(dim=-1)
        return self.o((attn @ v).transpose(1, 2).reshape(3, 6, D))
net = Cosine().eval()
run = lambda: net(x)
""", (
    "F.normalize(q, dim=-1) -> (q / q.norm(dim=-1, keepdim=True)) ;; F.normalize(k, dim=-1) -> (k / k.norm(dim=-1, keepdim=True))",
    "F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1) -> F.cosine_similarity(q[:, :, :, None], k[:, :, None], dim=-1)",
    "torch.clamp(self.logit_scale, max=math.log(100.)).exp() -> 10.0",
    "!F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1) -> (q @ k.transpose(-2, -1)) / (q.norm(dim=-1)[..., :, None] * k.norm(dim=-1)[..., None, :])",), (
    "attn @ v -> attn @ v.flip(0)",
    "attn.softmax(dim=-1) -> attn.softmax(dim=1)",))


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


program("KV cache dict", """
class CachedAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(D, D, bias=False) for _ in range(4))
    def forward(self, x, cache=None, mask=None):
        b, t, _ = x.shape
        q, k, v = (w(x).view(b, t, H, d).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        if cache is not None:
            if "k" in cache:
                k, v = torch.cat((cache["k"], k), dim=2), torch.cat((cache["v"], v), dim=2)
            cache["k"], cache["v"] = k, v
        s = q @ k.transpose(-2, -1) / math.sqrt(d)
        if mask is not None:
            s = s + mask
        return self.wo((s.softmax(-1) @ v).transpose(1, 2).reshape(b, t, D))
net = CachedAttention().eval()
def run():
    cache = {}
    m = torch.full((3, 3), -float("inf")).triu(1)
    net(x[:, :3], cache, m)
    for t in range(3, 6):
        net(x[:, t:t + 1], cache)
""", (
    "net(x[:, t:t + 1], cache) -> net(x[:, t:t + 1], cache, torch.zeros(1, t + 1))",
    "range(3, 6) -> (3,) ;; net(x[:, t:t + 1], cache) -> net(x[:, t:], cache, torch.full((3, 6), -float('inf')).triu(4))",), (
    '(cache["v"], v) -> (v, cache["v"])',
    " / math.sqrt(d) -> ",
    'cache["k"], cache["v"] = k, v -> cache["k"], cache["v"] = k, k',))


program("static cache padded", """
class StaticCache:
    def __init__(self, n):
        self.k, self.v = torch.zeros(3, H, n, d), torch.zeros(3, H, n, d)
    def update(self, k, v, pos):
        self.k.index_copy_(2, pos, k)
        self.v.index_copy_(2, pos, v)
        return self.k, self.v
class Attn(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(D, D) for _ in range(4))
    def forward(self, x, cache, pos):
        b, t, _ = x.shape
        q, k, v = (p(x).view(b, t, H, d).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        k, v = cache.update(k, v, pos)
        m = torch.arange(k.shape[2])[None] > pos[:, None]
        s = (q @ k.transpose(2, 3)) * (1 / math.sqrt(d))
        s = s.masked_fill(m, torch.finfo(s.dtype).min)
        p = F.softmax(s, -1, dtype=torch.float32).to(q.dtype)
        return self.o_proj((p @ v).transpose(1, 2).reshape(b, t, -1))
net = Attn().eval()
def run():
    cache = StaticCache(12)
    net(x[:, :4], cache, torch.arange(4))
    net(x[:, 4:5], cache, torch.tensor([4]))
    net(x[:, 5:6], cache, torch.tensor([5]))
""", (
    "torch.arange(k.shape[2])[None] > pos[:, None] -> torch.ones(12, 12).triu(1).bool()[pos]",), (
    "> pos[:, None] -> > pos[:, None] + 1",
    " * (1 / math.sqrt(d)) -> ",
    "s = s.masked_fill(m, torch.finfo(s.dtype).min) -> pass",))


program("rolling window cache", """
class Rolling(nn.Module):
    def __init__(self, w=4):
        super().__init__()
        self.w = w
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(D, D, bias=False) for _ in range(4))
        self.k = self.v = None
    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (w(x).view(b, t, H, d).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        self.k = k if self.k is None else torch.cat([self.k, k], 2)[:, :, -self.w:]
        self.v = v if self.v is None else torch.cat([self.v, v], 2)[:, :, -self.w:]
        s = q @ self.k.transpose(-1, -2) * d ** -0.5
        return self.wo((s.softmax(-1) @ self.v).transpose(1, 2).reshape(b, t, D))
net = Rolling().eval()
def run():
    net.k = net.v = None
    return [net(x[:, t:t + 1]) for t in range(6)]
""", (), (
    "@ self.v) -> @ self.v.flip(2))",
    " * d ** -0.5 -> ",))


program("ring cache", """
class Ring(nn.Module):
    def __init__(self, w=4):
        super().__init__()
        self.w = w
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(D, D, bias=False) for _ in range(4))
    def forward(self, x, pos, ck, cv):
        b = x.shape[0]
        q, k, v = (w(x).view(b, 1, H, d) for w in (self.wq, self.wk, self.wv))
        ck[:, pos % self.w] = k[:, 0]
        cv[:, pos % self.w] = v[:, 0]
        n = min(pos + 1, self.w)
        s = torch.einsum("bthd,bshd->bhts", q, ck[:, :n]) / math.sqrt(d)
        return self.wo(torch.einsum("bhts,bshd->bthd", s.softmax(-1), cv[:, :n]).reshape(b, 1, D))
net = Ring().eval()
def run():
    ck, cv = torch.zeros(3, 4, H, d), torch.zeros(3, 4, H, d)
    return [net(x[:, t:t + 1], t, ck, cv) for t in range(6)]
""", (), (
    "cv[:, :n] -> cv[:, :n].flip(1)",
    " / math.sqrt(d) -> ",))


program("cu_seqlens", """
class VarLen(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(D, 3 * D), nn.Linear(D, D)
    def forward(self, hidden, cu_seqlens):
        n = hidden.shape[0]
        q, k, v = self.qkv(hidden).reshape(n, 3, H, d).permute(1, 0, 2, 3).unbind(0)
        out = []
        for i in range(1, len(cu_seqlens)):
            s = slice(cu_seqlens[i - 1], cu_seqlens[i])
            qi, ki, vi = (t[s].transpose(0, 1) for t in (q, k, v))
            w = torch.matmul(qi, ki.transpose(1, 2)) / math.sqrt(d)
            out.append(torch.matmul(F.softmax(w, -1, dtype=torch.float32).to(q.dtype), vi).transpose(0, 1))
        return self.proj(torch.cat(out, 0).reshape(n, -1))
net = VarLen().eval()
run = lambda: net(x.flatten(0, 1), [0, 6, 10, 18])
""", (
    "[0, 6, 10, 18] -> torch.tensor([0, 4, 5, 18])",), (
    "vi).transpose(0, 1)) -> vi.flip(1)).transpose(0, 1))",
    " / math.sqrt(d) -> ",))


program("cu_seqlens mask", """
class VarLen(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(D, 3 * D), nn.Linear(D, D)
    def forward(self, hidden, cu_seqlens):
        n = hidden.shape[0]
        q, k, v = self.qkv(hidden).reshape(n, 3, H, d).permute(1, 2, 0, 3).unbind(0)
        attention_mask = torch.full([1, n, n], torch.finfo(q.dtype).min)
        for i in range(1, len(cu_seqlens)):
            attention_mask[..., cu_seqlens[i - 1]:cu_seqlens[i], cu_seqlens[i - 1]:cu_seqlens[i]] = 0
        w = q @ k.transpose(1, 2) / math.sqrt(d) + attention_mask
        return self.proj((w.softmax(-1) @ v).transpose(0, 1).reshape(n, -1))
net = VarLen().eval()
run = lambda: net(x.flatten(0, 1), torch.tensor([0, 6, 10, 18]))
""", (), (
    " / math.sqrt(d) -> ",
    "w.softmax(-1) @ v -> w.softmax(-1) @ v.flip(1)",
    "attention_mask[..., cu_seqlens[i - 1]:cu_seqlens[i], cu -> attention_mask[..., cu_seqlens[i - 1]:, cu",))


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
