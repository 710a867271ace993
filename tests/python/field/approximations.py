"""Attention of papers, as text: latents, kernels, blocks, few keys."""
from field import Room

program = Room(unusual=True)


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
