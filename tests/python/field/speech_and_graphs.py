"""Attention of many authors, as text: speech, video, graphs, loops, notebooks and mixins."""
from field import Room

program = Room(unusual=True)


program("location sensitive", """
class Location(nn.Module):
    def __init__(self):
        super().__init__()
        self.query_layer, self.memory_layer, self.v, self.conv, self.dense = nn.Linear(D, 16, bias=False), nn.Linear(D, 16, bias=False), nn.Linear(16, 1, bias=False), nn.Conv1d(2, 4, 3, padding=1, bias=False), nn.Linear(4, 16, bias=False)
    def forward(self, steps, mem, mask):
        b, t, _ = mem.shape
        pm, w, cum, out = self.memory_layer(mem), torch.zeros(b, t), torch.zeros(b, t), []
        for s in steps.unbind(1):
            loc = self.dense(self.conv(torch.stack([w, cum], 1)).transpose(1, 2))
            e = self.v(torch.tanh(self.query_layer(s.unsqueeze(1)) + loc + pm)).squeeze(-1)
            w = F.softmax(e.masked_fill(~mask, -float("inf")), dim=1)
            cum = cum + w
            out.append(torch.bmm(w.unsqueeze(1), mem).squeeze(1))
        return torch.stack(out, 1)
net = Location().eval()
run = lambda: net(memory, x, pad)
""", ())


program("TimeSformer divided", """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.t, self.s = (nn.ModuleDict({"qkv": nn.Linear(D, 3 * D), "proj": nn.Linear(D, D)}) for _ in range(2))
    def attn(self, m, x):
        B_, N, C = x.shape
        qkv = m["qkv"](x).reshape(B_, N, 3, H, C // H).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        a = ((q @ k.transpose(-2, -1)) * (C // H) ** -0.5).softmax(dim=-1)
        return m["proj"]((a @ v).transpose(1, 2).reshape(B_, N, C))
    def forward(self, x, T_, P):
        b = x.shape[0]
        xt = x.reshape(b, T_, P, D).transpose(1, 2).reshape(b * P, T_, D)
        x = x + self.attn(self.t, xt).reshape(b, P, T_, D).transpose(1, 2).reshape(b, T_ * P, D)
        xs = x.reshape(b * T_, P, D)
        return x + self.attn(self.s, xs).reshape(b, T_ * P, D)
net = Block().eval()
run = lambda: net(torch.randn(2, 12, D), 3, 4)
""", (), (
    "a @ v -> a @ v.flip(0)",
    " * (C // H) ** -0.5 -> ",
    "(a @ v).transpose(1, 2) -> (a @ v)",))


program("Graphormer", """
class MHA(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear_q, self.linear_k, self.linear_v, self.output_layer = (nn.Linear(D, D) for _ in range(4))
        self.spatial, self.virtual = nn.Embedding(6, H, padding_idx=0), nn.Embedding(1, H)
        self.scale, self.num_heads, self.att_size = d ** -0.5, H, d
    def forward(self, x, dist, pad_mask):
        n, l = x.shape[:2]
        bias = self.spatial(dist).permute(0, 3, 1, 2)
        bias[:, :, 0, :] = bias[:, :, 0, :] + self.virtual.weight.view(1, H, 1)
        q = self.linear_q(x).view(n, -1, H, d).transpose(1, 2) * self.scale
        k = self.linear_k(x).view(n, -1, H, d).transpose(1, 2).transpose(2, 3)
        v = self.linear_v(x).view(n, -1, H, d).transpose(1, 2)
        s = torch.matmul(q, k) + bias
        s = s.masked_fill(pad_mask[:, None, None], float("-inf"))
        o = torch.softmax(s, dim=3).matmul(v)
        return self.output_layer(o.transpose(1, 2).contiguous().view(n, -1, D))
net = MHA().eval()
run = lambda: net(x, torch.randint(0, 6, (3, 6, 6)), ~pad)
""", (), (
    "matmul(v) -> matmul(v.flip(0))",
    " * self.scale -> ",
    "pad_mask[:, None, None] -> ~pad_mask[:, None, None]",))


program("sparse edges", """
class Edge(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin_key, self.lin_query, self.lin_value, self.lin_skip = (nn.Linear(D, D) for _ in range(4))
    def forward(self, x, src, dst):
        n = len(x)
        q, k, v = (l(x).view(-1, H, d) for l in (self.lin_query, self.lin_key, self.lin_value))
        alpha = (q[dst] * k[src]).sum(-1) / math.sqrt(d)
        m = torch.full((n, H), -math.inf).scatter_reduce(0, dst[:, None].expand(-1, H), alpha, "amax") if hasattr(torch.Tensor, "scatter_reduce") else alpha.max()
        e = (alpha - m[dst]).exp()
        z = torch.zeros(n, H).index_add(0, dst, e)
        w = e / z[dst]
        out = torch.zeros(n, H, d).index_add(0, dst, w[..., None] * v[src])
        return out.reshape(n, D) + self.lin_skip(x)
net = Edge().eval()
run = lambda: net(x[0], torch.tensor([0, 1, 2, 3, 4, 5, 0, 2]), torch.tensor([1, 1, 3, 3, 5, 0, 2, 4]))
""", ())


program("diffusers processor", """
class AttnProcessor:
    def __call__(self, attn, hidden_states, encoder_hidden_states=None, attention_mask=None):
        residual = hidden_states
        batch_size, channel, height, width = hidden_states.shape
        hidden_states = hidden_states.view(batch_size, channel, height * width).transpose(1, 2)
        hidden_states = attn.group_norm(hidden_states.transpose(1, 2)).transpose(1, 2)
        query = attn.to_q(hidden_states)
        if encoder_hidden_states is None:
            encoder_hidden_states = hidden_states
        key, value = attn.to_k(encoder_hidden_states), attn.to_v(encoder_hidden_states)
        query, key, value = map(attn.head_to_batch_dim, (query, key, value))
        attention_probs = attn.get_attention_scores(query, key, attention_mask)
        hidden_states = attn.batch_to_head_dim(torch.bmm(attention_probs, value))
        hidden_states = attn.to_out[1](attn.to_out[0](hidden_states))
        hidden_states = hidden_states.transpose(-1, -2).reshape(batch_size, channel, height, width)
        return (hidden_states + residual) / attn.rescale_output_factor
class Attention(nn.Module):
    def __init__(self, upcast_softmax=True, rescale=1.0):
        super().__init__()
        self.heads, self.scale, self.rescale_output_factor, self.upcast_softmax = H, d ** -0.5, rescale, upcast_softmax
        self.group_norm, self.to_q, self.to_k, self.to_v = nn.GroupNorm(8, D), nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D)
        self.to_out = nn.ModuleList([nn.Linear(D, D), nn.Dropout(0.0)])
        self.processor = AttnProcessor()
    def head_to_batch_dim(self, t):
        b, n, e = t.shape
        return t.reshape(b, n, H, e // H).permute(0, 2, 1, 3).reshape(b * H, n, e // H)
    def batch_to_head_dim(self, t):
        b, n, e = t.shape
        return t.reshape(b // H, H, n, e).permute(0, 2, 1, 3).reshape(b // H, n, e * H)
    def get_attention_scores(self, query, key, attention_mask=None):
        if attention_mask is None:
            baddbmm_input, beta = torch.empty(query.shape[0], query.shape[1], key.shape[1]), 0
        else:
            baddbmm_input, beta = attention_mask, 1
        s = torch.baddbmm(baddbmm_input, query, key.transpose(-1, -2), beta=beta, alpha=self.scale)
        if self.upcast_softmax:
            s = s.float()
        return s.softmax(dim=-1).to(query.dtype)
    def forward(self, h, **kw):
        return self.processor(self, h, **kw)
net = Attention().eval()
im = torch.randn(2, D, 3, 2)
run = lambda: net(im)
""", (
    "net(im) -> net(im, encoder_hidden_states=torch.randn(2, 5, D))",
    "rescale=1.0 -> rescale=2.0 ** 0.5",), (
    "torch.bmm(attention_probs, value) -> torch.bmm(attention_probs, value.flip(0))",
    "alpha=self.scale -> alpha=1",))


program("ESM rotary", """
def rotate_half(x):
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((-x2, x1), dim=-1)
class Rotary(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("inv_freq", 1.0 / (10000 ** (torch.arange(0, dim, 2).float() / dim)))
    def forward(self, q, k):
        t = torch.arange(k.shape[-2]).type_as(self.inv_freq)
        freqs = torch.einsum("i,j->ij", t, self.inv_freq)
        emb = torch.cat((freqs, freqs), dim=-1)
        cos, sin = emb.cos()[None], emb.sin()[None]
        ap = lambda u: (u * cos[:, :u.shape[-2]]) + (rotate_half(u) * sin[:, :u.shape[-2]])
        return ap(q), ap(k)
class ESM(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(D, D) for _ in range(4))
        self.rot_emb, self.scaling = Rotary(d), d ** -0.5
    def forward(self, x, key_padding_mask):
        t, b, e = x.size()
        q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        q *= self.scaling
        q, k, v = (u.contiguous().view(t, b * H, d).transpose(0, 1) for u in (q, k, v))
        q, k = self.rot_emb(q, k)
        w = torch.bmm(q, k.transpose(1, 2)).view(b, H, t, t)
        w = w.masked_fill(key_padding_mask.unsqueeze(1).unsqueeze(2).to(torch.bool), float("-inf")).view(b * H, t, t)
        p = F.softmax(w.float(), dim=-1).type_as(w)
        return self.out_proj(torch.bmm(p, v).transpose(0, 1).contiguous().view(t, b, e))
net = ESM().eval()
run = lambda: net(x.transpose(0, 1), ~pad)
""", (), (
    "torch.bmm(p, v) -> torch.bmm(p, v.flip(0))",
    "q *= self.scaling -> pass",
    "return ap(q), ap(k) -> return ap(q), k",))


program("decision transformer blocks", """
class Block(nn.Module):
    def __init__(self, n_ctx=18):
        super().__init__()
        self.register_buffer("bias", torch.tril(torch.ones((n_ctx, n_ctx), dtype=torch.uint8)).view(1, 1, n_ctx, n_ctx))
        self.register_buffer("masked_bias", torch.tensor(-1e4))
        self.c_attn, self.c_proj, self.ln = nn.Linear(D, 3 * D), nn.Linear(D, D), nn.LayerNorm(D)
    def forward(self, x, attention_mask):
        h = self.ln(x)
        q, k, v = self.c_attn(h).split(D, dim=2)
        sh = lambda t: t.view(t.size()[:-1] + (H, d)).permute(0, 2, 1, 3)
        q, k, v = sh(q), sh(k), sh(v)
        w = torch.matmul(q, k.transpose(-1, -2))
        w = w / (float(v.size(-1)) ** 0.5)
        nd, ns = w.size(-2), w.size(-1)
        w = torch.where(self.bias[:, :, ns - nd:ns, :ns].bool(), w, self.masked_bias.to(w.dtype))
        w = w + (1.0 - attention_mask[:, None, None].to(w.dtype)) * -10000.0
        a = torch.matmul(nn.Softmax(dim=-1)(w), v).permute(0, 2, 1, 3).contiguous()
        return x + self.c_proj(a.view(*a.size()[:-2], D))
net = Block().eval()
r, s, a_ = torch.randn(3, 3, 6, D).unbind(0)
seq = torch.stack((r, s, a_), dim=1).permute(0, 2, 1, 3).reshape(3, 18, D)
am = torch.stack((pad.flip(1),) * 3, 1).permute(0, 2, 1).reshape(3, 18).float()
run = lambda: net(seq, am)
""", (), (
    "nn.Softmax(dim=-1)(w), v) -> nn.Softmax(dim=-1)(w), v.flip(0))",
    "(1.0 - attention_mask[:, None, None].to(w.dtype)) -> attention_mask[:, None, None].to(w.dtype)",))


program("loops in C style", """
def attention(Q, K, V):
    n, dk = len(Q), len(Q[0])
    out = torch.zeros(n, V.shape[1])
    for i in range(n):
        e = torch.stack([torch.dot(Q[i], K[j]) / dk ** 0.5 for j in range(len(K))])
        a = torch.softmax(e, 0)
        for j in range(len(K)):
            out[i] += a[j] * V[j]
    return out
wq, wk, wv = (torch.randn(D, D) / 6 for _ in range(3))
run = lambda: attention(x[0] @ wq, x[0] @ wk, x[0] @ wv)
""", (
    "e = torch.stack([torch.dot(Q[i], K[j]) / dk ** 0.5 for j in range(len(K))]) -> e = K @ Q[i] / dk ** 0.5",
    "e = torch.stack([torch.dot(Q[i], K[j]) / dk ** 0.5 for j in range(len(K))]) -> e = torch.mv(K, Q[i]) / dk ** 0.5",
    '        for j in range(len(K)):\n            out[i] += a[j] * V[j]\n ->         out[i] = a @ V\n',))


program("notebook one-liner", """
softmax, T_ = torch.nn.functional.softmax, torch.transpose
att = lambda q, k, v, m=0: softmax(q @ T_(k, -2, -1) / q.size(-1) ** .5 + m, -1) @ v
Wq, Wk, Wv = (torch.randn(H, D, d) / 6 for _ in range(3)); Wo = torch.randn(D, D) / 6
mh = lambda x, m=0: torch.cat([att(x @ a, x @ b, x @ c, m) for a, b, c in zip(Wq, Wk, Wv)], -1) @ Wo
run = lambda: mh(x, torch.triu(torch.full((6, 6), -1e9), 1))
""", (
    "mh(x, torch.triu(torch.full((6, 6), -1e9), 1)) -> mh(x)",
    "torch.cat([att(x @ a, x @ b, x @ c, m) for a, b, c in zip(Wq, Wk, Wv)], -1) -> att(x[:, None] @ Wq, x[:, None] @ Wk, x[:, None] @ Wv, m).transpose(1, 2).flatten(2)",), (
    "x @ c, m) -> x.flip(0) @ c, m)",
    " / q.size(-1) ** .5 -> ",))


program("mixins", """
class ScaleMixin:
    @property
    def factor(self):
        return self.head_dim ** -0.5
class SplitMixin:
    def split_heads(self, t):
        *lead, n, e = t.shape
        return t.reshape(*lead, n, self.n_heads, self.head_dim).movedim(-2, -3)
    def join_heads(self, t):
        return t.movedim(-3, -2).flatten(-2)
class Base(nn.Module, ScaleMixin, SplitMixin):
    n_heads, head_dim = 4, 8
    def __init__(self):
        super().__init__()
        self.proj = nn.ModuleDict({k: nn.Linear(32, 32) for k in ("q", "k", "v", "o")})
    def score(self, q, k):
        return torch.einsum("...id,...jd->...ij", q, k).mul(self.factor)
    def normalise(self, s, allowed=None):
        return (s if allowed is None else s.where(allowed, s.new_tensor(-float("inf")))).softmax(-1)
    def forward(self, x, ctx=None, allowed=None):
        ctx = x if ctx is None else ctx
        q, k, v = (self.split_heads(self.proj[n](t)) for n, t in (("q", x), ("k", ctx), ("v", ctx)))
        return self.proj["o"](self.join_heads(self.normalise(self.score(q, k), allowed) @ v))
class Causal(Base):
    def normalise(self, s, allowed=None):
        return super().normalise(s, torch.ones_like(s, dtype=torch.bool).tril())
net = Causal().eval()
run = lambda: net(x)
""", (
    "net = Causal() -> net = Base()",
    "net(x) -> net(x, allowed=causal)",
    "net = Causal() -> net = Base() ;; net(x) -> net(x, memory)",), (
    ".mul(self.factor) -> ",
    "allowed) @ v -> allowed) @ v.flip(0)",
    ").tril() -> ).triu()",))


program("speech chunk mask", """
def subsequent_chunk_mask(size, chunk_size, num_left_chunks=-1):
    ret = torch.zeros(size, size, dtype=torch.bool)
    for i in range(size):
        start = 0 if num_left_chunks < 0 else max((i // chunk_size - num_left_chunks) * chunk_size, 0)
        ret[i, start:min((i // chunk_size + 1) * chunk_size, size)] = True
    return ret
class Enc(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear_q, self.linear_k, self.linear_v, self.linear_out = (nn.Linear(D, D) for _ in range(4))
    def forward(self, x, masks):
        n = x.size(0)
        q, k, v = (l(x).view(n, -1, H, d).transpose(1, 2) for l in (self.linear_q, self.linear_k, self.linear_v))
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(d)
        mask = masks.unsqueeze(1).eq(0)
        attn = torch.softmax(scores.masked_fill(mask, -float("inf")), dim=-1).masked_fill(mask, 0.0)
        return self.linear_out(torch.matmul(attn, v).transpose(1, 2).contiguous().view(n, -1, D))
net = Enc().eval()
chunk = pad[:, None] & subsequent_chunk_mask(6, 2)[None]
run = lambda: net(x, chunk)
""", (
    "subsequent_chunk_mask(6, 2) -> subsequent_chunk_mask(6, 2, 1)",
    "subsequent_chunk_mask(6, 2) -> subsequent_chunk_mask(6, 1)",), (
    "torch.matmul(attn, v) -> torch.matmul(attn, v.flip(0))",
    "eq(0) -> ne(0)",))


program("NeMo cache aware", """
class CacheAware(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear_q, self.linear_k, self.linear_v, self.linear_out = (nn.Linear(D, D) for _ in range(4))
    def forward(self, x, cache=None, left=4):
        key = x if cache is None else torch.cat([cache, x], dim=1)
        n = x.size(0)
        q, k, v = (l(t).view(n, -1, H, d).transpose(1, 2) for l, t in ((self.linear_q, x), (self.linear_k, key), (self.linear_v, key)))
        s = torch.matmul(q, k.transpose(-2, -1)) * d ** -0.5
        y = self.linear_out(torch.matmul(s.softmax(-1), v).transpose(1, 2).reshape(n, -1, D))
        return y, key[:, -left:]
net = CacheAware().eval()
def run():
    cache, out = None, []
    for c in x.split(2, 1):
        y, cache = net(c, cache)
        out.append(y)
    return torch.cat(out, 1)
""", (), (
    "s.softmax(-1), v -> s.softmax(-1), v.flip(0)",
    " * d ** -0.5 -> ",))


program("PatchTST channel independent", """
class Patch(nn.Module):
    def __init__(self, p=4):
        super().__init__()
        self.p, self.W_P, self.W_pos = p, nn.Linear(p, D), nn.Parameter(torch.randn(6, D) * 0.02)
        self.W_Q, self.W_K, self.W_V, self.to_out = (nn.Linear(D, D) for _ in range(4))
    def forward(self, z):
        bs, nvars, L = z.shape
        u = self.W_P(z.unfold(-1, self.p, self.p))
        u = u.reshape(bs * nvars, -1, D) + self.W_pos
        q_s = self.W_Q(u).view(bs * nvars, -1, H, d).transpose(1, 2)
        k_s = self.W_K(u).view(bs * nvars, -1, H, d).permute(0, 2, 3, 1)
        v_s = self.W_V(u).view(bs * nvars, -1, H, d).transpose(1, 2)
        attn_scores = torch.matmul(q_s, k_s) * d ** -0.5
        prev = attn_scores
        w = F.softmax(attn_scores, dim=-1)
        o = torch.matmul(w, v_s).transpose(1, 2).contiguous().view(bs * nvars, -1, D)
        return self.to_out(o).reshape(bs, nvars, -1, D)
net = Patch().eval()
run = lambda: net(torch.randn(2, 3, 24))
""", (
    "w = F.softmax(attn_scores, dim=-1) -> attn_scores = attn_scores + 0.5 * prev; w = F.softmax(attn_scores, dim=-1)",), (
    "torch.matmul(w, v_s) -> torch.matmul(w, v_s.flip(0))",))
