"""Attention as public code has it, as text (field_forms.py): forms with another scale, masks that are made and lost, packed weights."""
from field import Room

program = Room()


program("Nystrom", """
def pinv(m, iters=6):
    K, V = m, 1 / m.sum(-2).max() * m.transpose(-1, -2)
    I = torch.eye(m.shape[-1])
    for _ in range(iters):
        KV = K @ V
        V = 0.25 * V @ (13 * I - KV @ (15 * I - KV @ (7 * I - KV)))
    return V
class Nystrom(nn.Module):
    def __init__(self, landmarks=3):
        super().__init__()
        self.qkv, self.out, self.m = nn.Linear(D, 3 * D), nn.Linear(D, D), landmarks
    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, H, d).permute(2, 0, 3, 1, 4)
        q, k = q / d ** 0.25, k / d ** 0.25
        ql, kl = (t.reshape(b, H, self.m, n // self.m, d).mean(3) for t in (q, k))
        k1 = F.softmax(q @ kl.transpose(-1, -2), -1)
        k2 = F.softmax(ql @ kl.transpose(-1, -2), -1)
        k3 = F.softmax(ql @ k.transpose(-1, -2), -1)
        z = k1 @ pinv(k2) @ (k3 @ v)
        return self.out(z.transpose(1, 2).flatten(2))
attention = Nystrom().eval()
run = lambda: attention(x)
""", ('!',
     'pinv(k2) -> torch.linalg.pinv(k2)'),
    ('k3 @ v -> k3 @ v.flip(0)',
     'z.transpose(1, 2).flatten(2) -> z.reshape(b, n, D)'))


program("Longformer chunks", """
class Sliding(nn.Module):
    def __init__(self, w=2):
        super().__init__()
        self.query, self.key, self.value, self.out, self.w = nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D), w
    def forward(self, hidden, padding_mask=None):
        b, n, _ = hidden.shape
        w = self.w
        q = self.query(hidden) / math.sqrt(d)
        q, k, v = (t.view(b, n, H, d).transpose(1, 2) for t in (q, self.key(hidden), self.value(hidden)))
        k, v = (F.pad(t, (0, 0, w, w)).unfold(2, 2 * w + 1, 1) for t in (k, v))
        scores = torch.einsum("bhnd,bhndw->bhnw", q, k)
        at = torch.arange(n)[:, None] + torch.arange(-w, w + 1)
        ok = (at >= 0) & (at < n)
        ok = ok[None] if padding_mask is None else ok[None] & F.pad(padding_mask, (w, w)).unfold(1, 2 * w + 1, 1)
        scores = scores.masked_fill(~ok[:, None], -1e9)
        p = scores.softmax(-1)
        z = torch.einsum("bhnw,bhndw->bhnd", p, v)
        return self.out(z.transpose(1, 2).reshape(b, n, D))
attention = Sliding().eval()
run = lambda: attention(x)
""", ('!',
     '!attention(x) -> attention(x, pad)'),
    ('!        scores = scores.masked_fill(~ok[:, None], -1e9)\n -> ',
     '/ math.sqrt(d) -> ',
     '"bhnw,bhndw->bhnd", p, v -> "bhnw,bhndw->bhnd", p, v.flip(0)'))


program("temperature", """
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.w_qs, self.w_ks, self.w_vs, self.fc = (nn.Linear(D, D, bias=False) for _ in range(4))
        self.layer_norm, self.temperature = nn.LayerNorm(D, eps=1e-6), nn.Parameter(torch.full((H, 1, 1), 0.5))
    def forward(self, q, k, v, mask=None):
        sz_b, len_q, len_k = q.size(0), q.size(1), k.size(1)
        residual = q
        q = self.w_qs(q).view(sz_b, len_q, H, d).transpose(1, 2)
        k = self.w_ks(k).view(sz_b, len_k, H, d).transpose(1, 2)
        v = self.w_vs(v).view(sz_b, len_k, H, d).transpose(1, 2)
        attn = torch.matmul(q * self.temperature, k.transpose(2, 3))
        if mask is not None:
            attn = attn.masked_fill(mask.unsqueeze(1) == 0, -1e9)
        attn = F.softmax(attn, dim=-1)
        out = torch.matmul(attn, v).transpose(1, 2).contiguous().view(sz_b, len_q, -1)
        return self.layer_norm(self.fc(out) + residual), attn
attention = Attention().eval()
run = lambda: attention(x, memory, memory)
""", ('!',
     '!q * self.temperature -> q / self.temperature.abs().clamp(min=0.1)',
     'nn.Parameter(torch.full((H, 1, 1), 0.5)) -> torch.full((H, 1, 1), 0.5)'),
    ('attention(x, memory, memory) -> attention(x, memory, memory.flip(0))',
     'torch.matmul(attn, v).transpose(1, 2) -> torch.matmul(attn, v)'))


program("non-local block", """
class NonLocal(nn.Module):
    def __init__(self, mode="embedded"):
        super().__init__()
        self.g, self.theta, self.phi = (nn.Conv2d(D, 16, 1) for _ in range(3))
        self.W_z, self.mode = nn.Sequential(nn.Conv2d(16, D, 1), nn.BatchNorm2d(D)), mode
        nn.init.normal_(self.W_z[1].weight)
    def forward(self, x):
        batch_size = x.size(0)
        g_x = self.g(x).view(batch_size, 16, -1).permute(0, 2, 1)
        theta_x = self.theta(x).view(batch_size, 16, -1).permute(0, 2, 1)
        phi_x = self.phi(x).view(batch_size, 16, -1)
        f = torch.matmul(theta_x, phi_x)
        f_div_C = F.softmax(f, dim=-1) if self.mode == "embedded" else f / f.size(-1)
        y = torch.matmul(f_div_C, g_x).permute(0, 2, 1).contiguous().view(batch_size, 16, *x.size()[2:])
        return self.W_z(y) + x
block, image = NonLocal().eval(), torch.randn(2, D, 3, 4)
run = lambda: block(image)
""", ('!',
     '!NonLocal() -> NonLocal("dot")'),
    ('F.softmax(f, dim=-1) -> F.softmax(f, dim=1)',
     'torch.matmul(f_div_C, g_x) -> torch.matmul(f_div_C, g_x.flip(0))'))


program("two-way attention", """
class ESIM(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.proj = nn.LSTM(D, 16, batch_first=True, bidirectional=True), nn.Linear(4 * D, D)
    def align(self, a, b, mask_a, mask_b):
        e = torch.matmul(a, b.transpose(1, 2))
        w_a = F.softmax(e.masked_fill(~mask_b[:, None], -1e7), dim=-1)
        w_b = F.softmax(e.transpose(1, 2).masked_fill(~mask_a[:, None], -1e7), dim=-1)
        return torch.matmul(w_a, b), torch.matmul(w_b, a)
    def forward(self, a, b, mask_a, mask_b):
        a, b = self.enc(a)[0], self.enc(b)[0]
        x_a, x_b = self.align(a, b, mask_a, mask_b)
        a = self.proj(torch.cat([a, x_a, a - x_a, a * x_a], -1)).amax(1)
        b = self.proj(torch.cat([b, x_b, b - x_b, b * x_b], -1)).amax(1)
        return torch.cat([a, b], -1)
model = ESIM().eval()
mask_b = torch.arange(5)[None] < torch.tensor([5, 3, 4])[:, None]
run = lambda: model(x, memory, pad, mask_b)
""", ('!',
     'w_b = F.softmax(e.transpose(1, 2).masked_fill(~mask_a[:, None], -1e7), dim=-1) -> w_b = F.softmax(e.masked_fill(~mask_a[:, :, None], -1e7), dim=1).transpose(1, 2)'),
    ('~mask_b[:, None] -> mask_b[:, None]',
     'torch.matmul(w_b, a) -> torch.matmul(w_b, a.flip(0))'))


program("memory network", """
class MemN2N(nn.Module):
    def __init__(self, hops=2):
        super().__init__()
        self.A, self.C, self.B, self.H, self.hops = nn.Embedding(50, D), nn.Embedding(50, D), nn.Embedding(50, D), nn.Linear(D, D), hops
    def forward(self, story, question):
        u, m, c = self.B(question).sum(1), self.A(story).sum(2), self.C(story).sum(2)
        for _ in range(self.hops):
            p = F.softmax(torch.einsum("bd,bsd->bs", u, m), -1)
            u = self.H(u) + torch.einsum("bs,bsd->bd", p, c)
        return u
model = MemN2N().eval()
run = lambda: model(torch.randint(0, 50, (3, 5, 4)), ids)
""", ('!torch.einsum("bd,bsd->bs", u, m) -> torch.bmm(m, u.unsqueeze(2)).squeeze(2)',),
    ('p, c) -> p, c.flip(0))',))


program("Hopfield", """
class Hopfield(nn.Module):
    def __init__(self, beta=0.25):
        super().__init__()
        self.beta, self.q, self.k = beta, nn.Linear(D, D), nn.Linear(D, D)
    def forward(self, state, stored):
        r, y = self.q(state), self.k(stored)
        for _ in range(2):
            r = torch.softmax(self.beta * r @ y.transpose(1, 2), -1) @ y
        return r
model = Hopfield().eval()
run = lambda: model(x, memory)
""", ('!',),
    ('r @ y.transpose(1, 2) -> r @ y.flip(0).transpose(1, 2)',))


program("slot attention", """
class SlotAttention(nn.Module):
    def __init__(self, iters=2):
        super().__init__()
        self.iters, self.scale, self.eps = iters, D ** -0.5, 1e-8
        self.to_q, self.to_k, self.to_v = (nn.Linear(D, D) for _ in range(3))
        self.gru, self.norm_input, self.norm_slots = nn.GRUCell(D, D), nn.LayerNorm(D), nn.LayerNorm(D)
        self.mu = nn.Parameter(torch.randn(1, 3, D))
    def forward(self, inputs):
        b = inputs.shape[0]
        slots = self.mu.expand(b, -1, -1)
        inputs = self.norm_input(inputs)
        k, v = self.to_k(inputs), self.to_v(inputs)
        for _ in range(self.iters):
            prev = slots
            q = self.to_q(self.norm_slots(slots))
            dots = torch.einsum("bid,bjd->bij", q, k) * self.scale
            attn = dots.softmax(dim=1) + self.eps
            attn = attn / attn.sum(dim=-1, keepdim=True)
            updates = torch.einsum("bjd,bij->bid", v, attn)
            slots = self.gru(updates.reshape(-1, D), prev.reshape(-1, D)).reshape(b, -1, D)
        return slots
model = SlotAttention().eval()
run = lambda: model(x)
""", ('!',),
    ('"bjd,bij->bid", v -> "bjd,bij->bid", v.flip(0)',))


program("RetNet", """
class Retention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.g, self.o = (nn.Linear(D, D, bias=False) for _ in range(5))
        self.norm = nn.GroupNorm(H, D)
    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (one(x).view(b, t, H, d).transpose(1, 2) for one in (self.q, self.k, self.v))
        k = k * d ** -0.5
        gamma = 1 - 2.0 ** (-5 - torch.arange(H))
        at = torch.arange(t)[:, None] - torch.arange(t)[None]
        decay = torch.where(at >= 0, gamma[:, None, None] ** at.clamp(min=0), 0.0)
        z = ((q @ k.transpose(-1, -2)) * decay) @ v
        z = self.norm(z.transpose(1, 2).reshape(b * t, D)).view(b, t, D)
        return self.o(F.silu(self.g(x)) * z)
net = Retention().eval()
run = lambda: net(x)
""", ('!',),
    ())


program("Reformer shared keys", """
class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        self.toqk, self.tov, self.out = nn.Linear(D, D, bias=False), nn.Linear(D, D, bias=False), nn.Linear(D, D)
    def forward(self, x):
        b, t, _ = x.shape
        qk, v = (one(x).view(b, t, H, d).transpose(1, 2) for one in (self.toqk, self.tov))
        k = F.normalize(qk, p=2, dim=-1)
        dot = torch.einsum("bhie,bhje->bhij", qk, k) * d ** -0.5
        i = torch.arange(t)
        dot[:, :, i, i] = -5e4
        dot = dot.masked_fill(torch.ones(t, t).triu(1).bool(), -1e9)
        return self.out(torch.einsum("bhij,bhje->bhie", dot.softmax(-1), v).transpose(1, 2).reshape(b, t, D))
net = Shared().eval()
run = lambda: net(x)
""", ('!',),
    ('dot.softmax(-1), v -> dot.softmax(-2), v',
     ' * d ** -0.5 -> '))


program("own SDPA", """
def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    L, S = query.size(-2), key.size(-2)
    scale_factor = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    attn_bias = torch.zeros(L, S, dtype=query.dtype)
    if is_causal:
        assert attn_mask is None
        temp_mask = torch.ones(L, S, dtype=torch.bool).tril(diagonal=0)
        attn_bias.masked_fill_(temp_mask.logical_not(), float("-inf"))
    if attn_mask is not None:
        if attn_mask.dtype == torch.bool:
            attn_bias = attn_bias + torch.zeros_like(attn_mask, dtype=query.dtype).masked_fill_(attn_mask.logical_not(), float("-inf"))
        else:
            attn_bias = attn_mask + attn_bias
    if enable_gqa:
        key = key.repeat_interleave(query.size(-3) // key.size(-3), -3)
        value = value.repeat_interleave(query.size(-3) // value.size(-3), -3)
    attn_weight = query @ key.transpose(-2, -1) * scale_factor
    attn_weight += attn_bias
    attn_weight = torch.softmax(attn_weight, dim=-1)
    attn_weight = torch.dropout(attn_weight, dropout_p, train=True)
    return attn_weight @ value
class GQA(nn.Module):
    def __init__(self, kv=2):
        super().__init__()
        self.kv = kv
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = nn.Linear(D, D), nn.Linear(D, kv * d), nn.Linear(D, kv * d), nn.Linear(D, D)
    def forward(self, x, **more):
        q = self.q_proj(x).unflatten(-1, (H, d)).transpose(1, 2)
        k, v = (one(x).unflatten(-1, (self.kv, d)).transpose(1, 2) for one in (self.k_proj, self.v_proj))
        return self.o_proj(scaled_dot_product_attention(q, k, v, enable_gqa=True, **more).transpose(1, 2).flatten(-2))
attention = GQA().eval()
run = lambda: attention(x, is_causal=True)
""", ('GQA() -> GQA(1)',
     'is_causal=True -> attn_mask=torch.randn(3, 1, 6, 6)'),
    ('!attn_weight += attn_bias -> pass',
     '!temp_mask.logical_not(), float -> temp_mask, float ;; attn_weight += attn_bias -> pass',
     '!(self.kv, d)).transpose(1, 2) -> (d, self.kv)).permute(0, 3, 1, 2)',
     'key.repeat_interleave(query.size(-3) // key.size(-3), -3) -> key.repeat(1, query.size(-3) // key.size(-3), 1, 1)',
     'is_causal=True -> attn_mask=pad[:, None, None].float()'))


program("interleaved packs", """
class Attn(nn.Module):
    def __init__(self):
        super().__init__()
        self.query_key_value, self.dense = nn.Linear(D, 3 * D), nn.Linear(D, D)
    def forward(self, x):
        q, k, v = self.query_key_value(x).view(3, 6, H, 3 * d).transpose(1, 2).split(d, -1)
        w = (q @ k.mT / d ** 0.5).softmax(-1)
        return self.dense((w @ v).transpose(1, 2).reshape(3, 6, D))
net = Attn().eval()
run = lambda: net(x)
""", ('view(3, 6, H, 3 * d).transpose(1, 2).split(d, -1) -> view(3, 6, H, 3, d).permute(3, 0, 2, 1, 4)',),
    ('!q, k, v = -> k, q, v = ',
     '!q, k, v = -> q, v, k = ',
     'w @ v -> w @ k'))


program("chunks of a packed weight", """
class Attn(nn.Module):
    def __init__(self, w=24, heads=1):
        super().__init__()
        self.in_proj_weight, self.in_proj_bias = nn.Parameter(torch.randn(3 * w, w) / 5), nn.Parameter(torch.randn(3 * w))
        self.heads, self.w = heads, w
    def forward(self, x):
        w = self.w
        q = F.linear(x, self.in_proj_weight[:w], self.in_proj_bias[:w])
        k, v = F.linear(x, self.in_proj_weight[w:], self.in_proj_bias[w:]).chunk(2, -1)
        q, k, v = (t.view(3, 6, self.heads, -1).transpose(1, 2) for t in (q, k, v))
        return ((q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v).transpose(1, 2).reshape(3, 6, w)
net = Attn().eval()
run = lambda: net(x[..., :24])
""", ('Attn().eval() -> Attn(heads=3).eval()',),
    ('!self.in_proj_bias[:w]) -> self.in_proj_bias[-w:])',
     '.chunk(2, -1) -> .chunk(2, -1)[::-1]',
     '!self.in_proj_weight[:w], self.in_proj_bias[:w] -> self.in_proj_weight[w:2 * w], self.in_proj_bias[w:2 * w]'))


program("weights in dicts", """
params = {"attn": {n: {"w": torch.randn(D, D) / 6, "b": torch.randn(D)} for n in ("query", "key", "value", "out")}}
def dense(p, t):
    return torch.matmul(t, p["w"]) + p["b"]
def layer(params, x, mask):
    p = params["attn"]
    q, k, v = (dense(p[n], x).view(3, 6, H, d).transpose(1, 2) for n in ("query", "key", "value"))
    s = torch.matmul(q, k.mT) / math.sqrt(d) + torch.where(mask, 0.0, -1e9)
    return dense(p["out"], torch.matmul(s.softmax(-1), v).transpose(1, 2).reshape(3, 6, D))
run = lambda: layer(params, x, causal)
""", (),
    ('!("query", "key", "value"))\n    s -> ("query", "value", "key"))\n    s',
     '!("query", "key", "value"))\n    s -> ("query", "key", "key"))\n    s',
     'softmax(-1), v -> softmax(-1), v.flip(0)'))


program("SASRec", """
class PointWise(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv1d(D, D, 1), nn.Conv1d(D, D, 1)
    def forward(self, x):
        return x + self.conv2(F.relu(self.conv1(x.transpose(-1, -2)))).transpose(-1, -2)
class SASRec(nn.Module):
    def __init__(self):
        super().__init__()
        self.item_emb, self.pos_emb = nn.Embedding(50, D, padding_idx=0), nn.Embedding(8, D)
        self.norms, self.attns = nn.ModuleList(nn.LayerNorm(D) for _ in range(2)), nn.ModuleList(nn.MultiheadAttention(D, 2, 0.2) for _ in range(2))
        self.ffns = nn.ModuleList(PointWise() for _ in range(2))
    def forward(self, log_seqs):
        seqs = self.item_emb(log_seqs) * D ** 0.5 + self.pos_emb(torch.arange(log_seqs.shape[1]))
        timeline_mask = log_seqs == 0
        seqs = seqs * ~timeline_mask.unsqueeze(-1)
        n = seqs.shape[1]
        attention_mask = ~torch.tril(torch.ones((n, n), dtype=torch.bool))
        for norm, attn, ffn in zip(self.norms, self.attns, self.ffns):
            seqs = torch.transpose(seqs, 0, 1)
            Q = norm(seqs)
            out, _ = attn(Q, seqs, seqs, attn_mask=attention_mask)
            seqs = torch.transpose(Q + out, 0, 1)
            seqs = ffn(seqs) * ~timeline_mask.unsqueeze(-1)
        return seqs
model = SASRec().eval()
log = torch.where(pad.flip(1), ids, 0)
run = lambda: model(log)
""", (),
    ('!attn(Q, seqs, seqs, attn_mask=attention_mask) -> attn(Q, seqs, seqs)',
     'attention_mask = ~torch -> attention_mask = torch',
     'attn(Q, seqs, seqs, -> attn(Q, seqs, seqs.flip(1),'))
