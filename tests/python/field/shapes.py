"""Attention as public code has it, as text (field_forms.py): sequences in a row, one query, fewer keys, norms."""
from field import Room

program = Room()


program("one query", """
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(D, D, bias=False) for _ in range(4))
        self.k_cache, self.v_cache = torch.zeros(3, 8, H, d), torch.zeros(3, 8, H, d)
    def forward(self, h, pos):
        b = h.shape[0]
        q, k, v = (one(h).view(b, H, d) for one in (self.wq, self.wk, self.wv))
        self.k_cache[:b, pos], self.v_cache[:b, pos] = k, v
        keys, values = self.k_cache[:b, :pos + 1], self.v_cache[:b, :pos + 1]
        scores = torch.einsum("bhd,bshd->bhs", q, keys) / math.sqrt(d)
        att = scores.softmax(-1)
        return self.wo(torch.einsum("bhs,bshd->bhd", att, values).reshape(b, D))
attention = Attention().eval()
run = lambda: [attention(x[:, pos], pos) for pos in range(4)]
""", (),
    ('/ math.sqrt(d) -> * math.sqrt(d)',
     'softmax(-1) -> softmax(-2)',
     'att, values) -> att, keys)',
     'att, values) -> att, values.flip(0))',
     ':pos + 1] -> :pos + 2]',
     'self.k_cache[:b, pos], self.v_cache[:b, pos] = k, v -> self.k_cache[:b, 0], self.v_cache[:b, 0] = k, v'))

program("packed sequences", """
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.Wqkv, self.out_proj = nn.Linear(D, 3 * D), nn.Linear(D, D)
    def forward(self, x, cu_seqlens, max_seqlen=None):
        total = x.shape[0]
        q, k, v = self.Wqkv(x).view(total, 3, H, d).unbind(1)
        outs = []
        for first, last in zip(cu_seqlens[:-1].tolist(), cu_seqlens[1:].tolist()):
            qi, ki, vi = (t[first:last].transpose(0, 1) for t in (q, k, v))
            s = qi @ ki.transpose(-1, -2) * d ** -0.5
            s = s.masked_fill(~torch.ones(last - first, last - first).tril().bool(), -math.inf)
            outs.append((s.softmax(-1) @ vi).transpose(0, 1))
        return self.out_proj(torch.cat(outs, 0).reshape(total, D))
attention, cu_seqlens = Attention().eval(), torch.tensor([0, 4, 6, 11])
tokens = torch.randn(11, D)
run = lambda: attention(tokens, cu_seqlens)
""", ('qi, ki, vi = (t[first:last].transpose(0, 1) for t in (q, k, v)) -> qi, ki, vi = (t.narrow(0, first, last - first).transpose(0, 1) for t in (q, k, v))',
     '0, 4, 6, 11 -> 0, 4, 8, 12 ;; randn(11 -> randn(12'),
    ('tril() -> triu()',
     '* d ** -0.5 -> ',
     '@ vi) -> @ vi.flip(1))',
     '@ vi) -> @ ki)',
     'torch.cat(outs, 0) -> torch.cat(outs[::-1], 0)',
     '(t[first:last].transpose(0, 1) for t in (q, k, v)) -> (t[first:last].transpose(0, 1) for t in (q, q, v))',
     'unbind(1) -> flip(1).unbind(1)',
     '0, 4, 6, 11 -> 0, 4, 8, 12 ;; randn(11 -> randn(12 ;; torch.cat(outs, 0) -> torch.cat(outs[::-1], 0)',
     'outs.append((s.softmax(-1) @ vi).transpose(0, 1)) -> outs.append(s.softmax(-1) @ vi) ;; torch.cat(outs, 0) -> torch.cat(outs, 1)'))

program("DeBERTa", """
class DisentangledSelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query_proj, self.key_proj, self.value_proj = (nn.Linear(D, D) for _ in range(3))
        self.pos_key_proj, self.pos_query_proj = nn.Linear(D, D), nn.Linear(D, D)
        self.rel_embeddings = nn.Embedding(16, D)
        self.scale_factor = 3
    def transpose_for_scores(self, t):
        t = t.view(*t.shape[:-1], H, -1)
        return t.permute(0, 2, 1, 3).contiguous().view(-1, t.size(1), t.size(-1))
    def forward(self, hidden_states, attention_mask):
        q = self.transpose_for_scores(self.query_proj(hidden_states))
        k = self.transpose_for_scores(self.key_proj(hidden_states))
        v = self.transpose_for_scores(self.value_proj(hidden_states))
        scale = math.sqrt(q.size(-1) * self.scale_factor)
        attention_scores = torch.bmm(q, k.transpose(-1, -2) / scale)
        attention_scores = attention_scores + self.bias(q, k)
        attention_scores = attention_scores.view(-1, H, attention_scores.size(-2), attention_scores.size(-1))
        mask = attention_mask[:, None, None] * attention_mask[:, None, :, None]
        attention_scores = attention_scores.masked_fill(~mask, torch.finfo(q.dtype).min)
        probs = attention_scores.softmax(-1)
        context = torch.bmm(probs.view(-1, probs.size(-2), probs.size(-1)), v)
        context = context.view(-1, H, context.size(-2), context.size(-1)).permute(0, 2, 1, 3).contiguous()
        return context.view(*context.shape[:-2], -1)
    def bias(self, q, k):
        n = q.size(-2)
        far = (torch.arange(n)[:, None] - torch.arange(n)[None]).unsqueeze(0)
        rel = self.rel_embeddings.weight.unsqueeze(0)
        b = q.size(0) // H
        pos_key = self.transpose_for_scores(self.pos_key_proj(rel)).repeat(b, 1, 1)
        pos_query = self.transpose_for_scores(self.pos_query_proj(rel)).repeat(b, 1, 1)
        scale = math.sqrt(q.size(-1) * self.scale_factor)
        c2p = torch.bmm(q, pos_key.transpose(-1, -2) / scale)
        c2p = torch.gather(c2p, dim=-1, index=(far + 8).clamp(0, 15).expand(q.size(0), n, n))
        p2c = torch.bmm(k, pos_query.transpose(-1, -2) / scale)
        p2c = torch.gather(p2c, dim=-1, index=(-far + 8).clamp(0, 15).expand(q.size(0), n, n)).transpose(-1, -2)
        return c2p + p2c
attention = DisentangledSelfAttention().eval()
run = lambda: attention(x, pad)
""", ('self.bias(q, k) -> 0 ;; self.scale_factor = 3 -> self.scale_factor = 1',),
    ('v)\n        context = context.view -> v.flip(0))\n        context = context.view',
     'torch.gather(p2c, dim=-1, index=(-far + 8).clamp(0, 15).expand(q.size(0), n, n)).transpose(-1, -2) -> torch.gather(p2c, dim=-1, index=(-far + 8).clamp(0, 15).expand(q.size(0), n, n))',
     '~mask -> mask',
     'attention_scores = torch.bmm(q, k.transpose(-1, -2) / scale) -> attention_scores = torch.bmm(q, k.transpose(-1, -2))',
     'attention_scores.softmax(-1) -> attention_scores.softmax(-2)',
     'context.view(-1, H, context.size(-2), context.size(-1)).permute(0, 2, 1, 3) -> context.view(-1, context.size(-2), H, context.size(-1))',
     'self.key_proj(hidden_states)) -> self.query_proj(hidden_states))',
     'pos_key.transpose -> pos_query.transpose'))

program("DiT", """
def modulate(x, shift, scale):
    return x * (1 + scale.unsqueeze(1)) + shift.unsqueeze(1)
class Attention(nn.Module):
    def __init__(self, qk_norm=True):
        super().__init__()
        self.qkv, self.proj = nn.Linear(D, D * 3), nn.Linear(D, D)
        self.q_norm, self.k_norm = (nn.LayerNorm(d) if qk_norm else nn.Identity() for _ in range(2))
        self.scale = d ** -0.5
    def forward(self, x):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, H, d).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        q, k = self.q_norm(q), self.k_norm(k)
        q = q * self.scale
        attn = q @ k.transpose(-2, -1)
        attn = attn.softmax(dim=-1)
        x = attn @ v
        x = x.transpose(1, 2).reshape(B, N, C)
        return self.proj(x)
class DiTBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.attn = nn.LayerNorm(D, elementwise_affine=False), Attention()
        self.adaLN_modulation = nn.Sequential(nn.SiLU(), nn.Linear(D, 3 * D))
    def forward(self, x, c):
        shift_msa, scale_msa, gate_msa = self.adaLN_modulation(c).chunk(3, dim=1)
        return x + gate_msa.unsqueeze(1) * self.attn(modulate(self.norm1(x), shift_msa, scale_msa))
block, c = DiTBlock().eval(), torch.randn(3, D)
run = lambda: block(x, c)
""", ('self.attn = nn.LayerNorm(D, elementwise_affine=False), Attention() -> self.attn = nn.LayerNorm(D, elementwise_affine=False), Attention(False)',),
    ('        q = q * self.scale -> ',
     'attn @ v -> attn @ v.flip(0)',
     'permute(2, 0, 3, 1, 4) -> permute(2, 0, 1, 3, 4)',
     'x.transpose(1, 2).reshape -> x.reshape',
     'self.q_norm(q), self.k_norm(k) -> self.q_norm(q), self.q_norm(q)',
     'shift_msa, scale_msa)) -> shift_msa.flip(0), scale_msa))',
     'modulate(self.norm1(x) -> modulate(self.norm1(x.flip(0))'))

program("reduced keys", """
class Attention(nn.Module):
    def __init__(self, sr_ratio=2):
        super().__init__()
        self.q, self.kv, self.proj = nn.Linear(D, D), nn.Linear(D, 2 * D), nn.Linear(D, D)
        self.sr_ratio = sr_ratio
        if sr_ratio > 1:
            self.sr, self.norm = nn.Conv2d(D, D, kernel_size=sr_ratio, stride=sr_ratio), nn.LayerNorm(D)
    def forward(self, x, H_, W_):
        B, N, C = x.shape
        q = self.q(x).reshape(B, N, H, C // H).permute(0, 2, 1, 3)
        if self.sr_ratio > 1:
            x_ = x.permute(0, 2, 1).reshape(B, C, H_, W_)
            x_ = self.sr(x_).reshape(B, C, -1).permute(0, 2, 1)
            x_ = self.norm(x_)
            kv = self.kv(x_).reshape(B, -1, 2, H, C // H).permute(2, 0, 3, 1, 4)
        else:
            kv = self.kv(x).reshape(B, -1, 2, H, C // H).permute(2, 0, 3, 1, 4)
        k, v = kv[0], kv[1]
        attn = (q @ k.transpose(-2, -1)) * (C // H) ** -0.5
        attn = attn.softmax(dim=-1)
        x = (attn @ v).transpose(1, 2).reshape(B, N, C)
        return self.proj(x)
attention, image = Attention().eval(), torch.randn(2, 16, D)
run = lambda: attention(image, 4, 4)
""", ('Attention().eval() -> Attention(1).eval()',),
    ('k, v = kv[0], kv[1] -> k, v = kv[0], kv[0]',
     '(attn @ v).transpose(1, 2).reshape -> (attn @ v).reshape',
     '* (C // H) ** -0.5 -> ',
     'attn @ v) -> attn @ v.flip(0))',
     'self.sr(x_) -> self.sr(x_.flip(0))',
     'softmax(dim=-1) -> softmax(dim=1)'))

program("nn.MultiheadAttention", """
class Model(nn.Module):
    def __init__(self, **more):
        super().__init__()
        self.mha = nn.MultiheadAttention(D, H, batch_first=True, **more)
    def forward(self, query, memory, key_padding_mask=None, attn_mask=None):
        out, weights = self.mha(query, memory, memory, key_padding_mask=key_padding_mask, attn_mask=attn_mask, need_weights=True)
        return out
model = Model().eval()
late = ~(torch.arange(5)[None] < torch.tensor([5, 3, 4])[:, None])
run = lambda: model(x, memory, late)
""", ('need_weights=True -> need_weights=False',
     'need_weights=True -> need_weights=True, average_attn_weights=False',
     'Model().eval() -> Model(add_zero_attn=True).eval()',
     'Model().eval() -> Model(add_bias_kv=True).eval()',
     'Model().eval() -> Model(bias=False).eval()',
     'model(x, memory, late) -> model(x, x, ~pad, ~causal)',
     'model(x, memory, late) -> model(x, x, None, ~causal)',
     'model(x, memory, late) -> model(x, x, None, (~causal)[None].repeat(3 * H, 1, 1))',
     'Model().eval() -> Model(kdim=20, vdim=20).eval() ;; model(x, memory, late) -> model(x, memory[..., :20], late)',
     'model(x, memory, late) -> model(x[0], memory[0])'),
    ('model(x, memory, late) -> model(x, memory, ~late)',
     'batch_first=True -> batch_first=False ;; model(x, memory, late) -> model(x, x)',
     'model(x, memory, late) -> model(x, x, ~pad, causal)',
     'model(x, memory, late) -> model(x, x, ~pad, causal.float())',
     'memory, memory, key -> memory, memory.flip(1), key',
     'key_padding_mask=key_padding_mask, -> key_padding_mask=None,',
     'model(x, memory, late) -> model(x, memory, late.float())',
     'model(x, memory, late) -> model(x, memory, (~late).float() * -1e9)'))
