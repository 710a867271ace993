"""Attention as public code has it, as text (field_forms.py): lectures, packed sequences, streams, pairs of residues."""
from field import Room

program = Room()


program("shared by heads", """
class SelfAttention(nn.Module):
    def __init__(self, embed_size, heads):
        super().__init__()
        self.embed_size, self.heads, self.head_dim = embed_size, heads, embed_size // heads
        self.values = nn.Linear(self.head_dim, self.head_dim, bias=False)
        self.keys = nn.Linear(self.head_dim, self.head_dim, bias=False)
        self.queries = nn.Linear(self.head_dim, self.head_dim, bias=False)
        self.fc_out = nn.Linear(heads * self.head_dim, embed_size)
    def forward(self, values, keys, query, mask):
        N = query.shape[0]
        value_len, key_len, query_len = values.shape[1], keys.shape[1], query.shape[1]
        values = values.reshape(N, value_len, self.heads, self.head_dim)
        keys = keys.reshape(N, key_len, self.heads, self.head_dim)
        query = query.reshape(N, query_len, self.heads, self.head_dim)
        values, keys, queries = self.values(values), self.keys(keys), self.queries(query)
        energy = torch.einsum("nqhd,nkhd->nhqk", [queries, keys])
        if mask is not None:
            energy = energy.masked_fill(mask == 0, float("-1e20"))
        attention = torch.softmax(energy / (self.head_dim ** (1 / 2)), dim=3)
        out = torch.einsum("nhql,nlhd->nqhd", [attention, values]).reshape(N, query_len, self.heads * self.head_dim)
        return self.fc_out(out)
attention = SelfAttention(D, H).eval()
run = lambda: attention(x, x, x, causal.expand(3, 1, 6, 6))
""", ('attention(x, x, x, causal.expand(3, 1, 6, 6)) -> attention(x, x, x, pad[:, None, None])',
     'attention(x, x, x, causal.expand(3, 1, 6, 6)) -> attention(memory, memory, x, None)',
     '"nqhd,nkhd->nhqk", [queries, keys] -> "nqhd,nkhd->nhqk", queries, keys'),
    ('self.head_dim ** (1 / 2) -> self.embed_size ** (1 / 2)',
     'dim=3 -> dim=2',
     'nhql,nlhd->nqhd -> nhlq,nlhd->nqhd',
     'mask == 0 -> mask == 1',
     '[attention, values] -> [attention, keys]',
     'self.values(values), self.keys(keys), self.queries(query) -> self.values(values), self.keys(keys), self.keys(query)',
     'values.reshape(N, value_len, self.heads, self.head_dim) -> values.reshape(N, self.heads, value_len, self.head_dim).transpose(1, 2)',
     '"-1e20" -> "1e-20"',
     'attention(x, x, x, causal.expand(3, 1, 6, 6)) -> attention(x, x, x, causal.t().expand(3, 1, 6, 6))'))

program("Karpathy's lecture", """
class Head(nn.Module):
    def __init__(self, head_size):
        super().__init__()
        self.key, self.query, self.value = (nn.Linear(D, head_size, bias=False) for _ in range(3))
        self.register_buffer("tril", torch.tril(torch.ones(8, 8)))
        self.dropout = nn.Dropout(0.2)
    def forward(self, x):
        B, T, C = x.shape
        k = self.key(x)
        q = self.query(x)
        wei = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
        wei = wei.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        wei = F.softmax(wei, dim=-1)
        wei = self.dropout(wei)
        v = self.value(x)
        return wei @ v
class MultiHeadAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList([Head(D // H) for _ in range(H)])
        self.proj, self.dropout = nn.Linear(D, D), nn.Dropout(0.2)
    def forward(self, x):
        out = torch.cat([h(x) for h in self.heads], dim=-1)
        return self.dropout(self.proj(out))
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.sa, self.ffwd, self.ln1, self.ln2 = MultiHeadAttention(), nn.Sequential(nn.Linear(D, 64), nn.ReLU(), nn.Linear(64, D)), nn.LayerNorm(D), nn.LayerNorm(D)
    def forward(self, x):
        x = x + self.sa(self.ln1(x))
        return x + self.ffwd(self.ln2(x))
class BigramLanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.token_embedding_table, self.position_embedding_table = nn.Embedding(50, D), nn.Embedding(8, D)
        self.blocks, self.lm_head = nn.Sequential(Block(), Block()), nn.Linear(D, 50)
    def forward(self, idx):
        x = self.token_embedding_table(idx) + self.position_embedding_table(torch.arange(idx.shape[1]))
        return self.lm_head(self.blocks(x))
    def generate(self, idx, n):
        for _ in range(n):
            idx = torch.cat((idx, self(idx[:, -8:])[:, -1].softmax(-1).argmax(-1, keepdim=True)), 1)
        return idx
model = BigramLanguageModel().eval()
run = lambda: model(ids)
""", ('run = lambda: model(ids) -> run = lambda: model.generate(ids, 3)',
     'run = lambda: model(ids) -> run = lambda: model(ids[:1])',
     'out = torch.cat([h(x) for h in self.heads], dim=-1) -> out = torch.cat([h(x) for h in self.heads], 2)'),
    ('k.shape[-1] ** -0.5 -> C ** -0.5',
     '== 0, float -> == 1, float',
     'wei = F.softmax(wei, dim=-1) -> wei = F.softmax(wei, dim=1)',
     'dim=-1)\n        return self.dropout -> dim=1)[:, :6].repeat(1, 1, H)\n        return self.dropout',
     'v = self.value(x) -> v = self.key(x)',
     '        wei = wei.masked_fill(self.tril[:T, :T] == 0, float("-inf")) -> ',
     '[h(x) for h in self.heads] -> [self.heads[0](x) for h in self.heads]',
     'wei @ v -> wei.transpose(-2, -1) @ v',
     '* k.shape[-1] ** -0.5 -> '))

program("pooling by attention", """
class AttentionPool(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Parameter(torch.randn(1, 1, D))
        self.kv, self.proj = nn.Linear(D, 2 * D), nn.Linear(D, D)
    def forward(self, x, mask=None):
        B, N, C = x.shape
        q = self.query.expand(B, -1, -1).reshape(B, 1, H, d).transpose(1, 2)
        k, v = self.kv(x).reshape(B, N, 2, H, d).permute(2, 0, 3, 1, 4)
        attn = (q * d ** -0.5) @ k.transpose(-2, -1)
        if mask is not None:
            attn = attn.masked_fill(~mask[:, None, None], torch.finfo(attn.dtype).min)
        x = (attn.softmax(-1) @ v).transpose(1, 2).reshape(B, C)
        return self.proj(x)
pool = AttentionPool().eval()
run = lambda: pool(x, pad)
""", ('pool(x, pad) -> pool(x)',),
    ('~mask -> mask',
     '(q * d ** -0.5) -> q',
     '.softmax(-1) @ v -> .softmax(-2) @ v',
     '@ v).transpose(1, 2) -> @ v.flip(0)).transpose(1, 2)',
     '@ v).transpose(1, 2).reshape(B, C) -> @ v.roll(1, 1)).transpose(1, 2).reshape(B, C)'))

program("packed by numbers", """
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv_proj, self.o_proj = nn.Linear(D, D + 4 * d, bias=False), nn.Linear(D, D, bias=False)
    def forward(self, h, mask):
        b, n, _ = h.shape
        qkv = self.qkv_proj(h)
        q = qkv[..., :D].view(b, n, H, d).transpose(1, 2)
        k = qkv[..., D:D + 2 * d].view(b, n, 2, d).transpose(1, 2)
        v = qkv[..., D + 2 * d:].view(b, n, 2, d).transpose(1, 2)
        k, v = (torch.repeat_interleave(t, dim=1, repeats=2) for t in (k, v))
        w = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(d) + mask
        w = w.float().softmax(-1).to(q.dtype)
        return self.o_proj(torch.matmul(w, v).transpose(1, 2).contiguous().reshape(b, n, -1))
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.layer, self.norm = nn.Embedding(50, D), Attention(), nn.LayerNorm(D)
    def forward(self, input_ids, attention_mask):
        n = input_ids.shape[1]
        same = attention_mask[:, None, :, None] == attention_mask[:, None, None, :]
        keep = same & (attention_mask != 0)[:, None, None, :] & torch.ones(n, n).tril().bool()
        mask = torch.where(keep, 0.0, torch.finfo(torch.float32).min)
        h = self.embed(input_ids)
        return h + self.layer(self.norm(h), mask)
model = Model().eval()
run = lambda: model(ids, torch.tensor([[1, 1, 1, 2, 2, 0], [1, 1, 2, 2, 3, 3], [1, 1, 1, 1, 0, 0]]))
""", ('torch.finfo(torch.float32).min -> -1e9',
     'torch.where(keep, 0.0, torch.finfo(torch.float32).min) -> (1 - keep.float()) * torch.finfo(torch.float32).min'),
    ('keep = same & -> keep = ',
     'tril().bool() -> triu().bool()',
     '/ math.sqrt(d) -> ',
     'torch.matmul(w, v) -> torch.matmul(w, k)',
     'qkv[..., D:D + 2 * d] -> qkv[..., D + 2 * d:]',
     'torch.where(keep, 0.0, torch.finfo(torch.float32).min) -> torch.where(keep, torch.finfo(torch.float32).min, 0.0)',
     '(attention_mask != 0)[:, None, None, :] -> (attention_mask == 0)[:, None, None, :]'))

program("a stream", """
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(D, D) for _ in range(4))
    def forward(self, h, cache):
        b, n, _ = h.shape
        q, k, v = (p(h).view(b, n, H, d).transpose(1, 2) for p in (self.q, self.k, self.v))
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        w = (q @ k.transpose(-1, -2)) / math.sqrt(d)
        out = self.o((w.softmax(-1) @ v).transpose(1, 2).reshape(b, n, D))
        return out, (k, v)
def evict(cache, sinks=1, recent=2):
    return tuple(torch.cat([one[:, :, :sinks], one[:, :, -recent:]], 2) if one.shape[2] > sinks + recent else one for one in cache)
attention = Attention().eval()
def run():
    cache = None
    for at in range(6):
        _, cache = attention(x[:, at:at + 1], cache)
        cache = evict(cache)
""", (),
    ('/ math.sqrt(d) -> ',
     'cache[1], v] -> cache[0], v]',
     'softmax(-1) @ v -> softmax(-1) @ v.flip(2)',
     'cache = evict(cache) -> cache = evict((cache[0], cache[1].flip(2)))',
     'cache = evict(cache) -> cache = (evict(cache)[0], evict(cache, 0, 3)[1])'))

program("biases in a list", """
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.in_proj_weight, self.in_proj_bias, self.out_proj = nn.Parameter(torch.randn(3 * D, D) / 6), nn.Parameter(torch.zeros(3 * D)), nn.Linear(D, D)
    def forward(self, x, biases):
        q, k, v = F.linear(x, self.in_proj_weight, self.in_proj_bias).chunk(3, dim=-1)
        q, k, v = (t.unflatten(-1, (H, d)).transpose(1, 2) for t in (q, k, v))
        s = torch.einsum("bhid,bhjd->bhij", q, k).mul(d ** -0.5)
        for bias in biases:
            s = s + bias
        return self.out_proj(torch.einsum("bhij,bhjd->bhid", s.softmax(-1), v).transpose(1, 2).flatten(2))
attention = Attention().eval()
low = torch.zeros(3, 1, 1, 6).masked_fill(~pad[:, None, None], -1e9)
run = lambda: attention(x, [low])
""", ('attention(x, [low]) -> attention(x, [low, torch.zeros(6, 6).masked_fill(~causal, -1e9)])',
     'attention(x, [low]) -> attention(x, [])'),
    ('s = s + bias -> s + bias',
     's = s + bias -> s = s - bias',
     'mul(d ** -0.5) -> mul(d ** 0.5)',
     'bhjd->bhid -> bhjd->bhid", s.softmax(-1), k).transpose(1, 2).flatten(2))\n        return self.out_proj(torch.einsum("bhij,bhjd->bhid',
     's = s + bias -> s = s + bias.flip(0)'))

program("Evoformer", """
class Attention(nn.Module):
    def __init__(self, gating=True):
        super().__init__()
        self.linear_q, self.linear_k, self.linear_v = (nn.Linear(D, D, bias=False) for _ in range(3))
        self.linear_o, self.linear_g = nn.Linear(D, D), nn.Linear(D, D) if gating else None
    def forward(self, q_x, kv_x, biases=()):
        q, k, v = self.linear_q(q_x), self.linear_k(kv_x), self.linear_v(kv_x)
        q, k, v = (t.view(t.shape[:-1] + (H, -1)).transpose(-2, -3) for t in (q, k, v))
        q = q / math.sqrt(d)
        a = torch.matmul(q, k.transpose(-1, -2))
        for b in biases:
            a = a + b
        a = torch.softmax(a, -1)
        o = torch.matmul(a, v).transpose(-2, -3)
        if self.linear_g is not None:
            g = torch.sigmoid(self.linear_g(q_x))
            o = o * g.view(g.shape[:-1] + (H, -1))
        o = o.reshape(o.shape[:-2] + (-1,))
        return self.linear_o(o)
class Row(nn.Module):
    def __init__(self):
        super().__init__()
        self.mha, self.layer_norm, self.linear_z = Attention(), nn.LayerNorm(D), nn.Linear(8, H, bias=False)
    def forward(self, m, z, mask):
        m = self.layer_norm(m)
        mask_bias = (1e9 * (mask - 1))[..., :, None, None, :]
        pair = self.linear_z(z).permute(2, 0, 1)[None]
        return self.mha(m, m, [mask_bias, pair])
row, z = Row().eval(), torch.randn(6, 6, 8)
run = lambda: row(x, z, pad.float())
""", ('self.mha, self.layer_norm, self.linear_z = Attention() -> self.mha, self.layer_norm, self.linear_z = Attention(False)',
     '[mask_bias, pair] -> [mask_bias]',
     'row(x, z, pad.float()) -> row(x.view(1, 3, 6, D), z, pad.float()[None])'),
    ('(mask - 1) -> mask',
     '        q = q / math.sqrt(d) -> ',
     'torch.matmul(a, v) -> torch.matmul(a, v.flip(0))',
     'self.linear_g(q_x) -> self.linear_g(q_x.flip(0))',
     'permute(2, 0, 1) -> permute(2, 1, 0)',
     'torch.softmax(a, -1) -> torch.softmax(a, -2)'))

program("XLNet", """
class RelativeAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o, self.r = (nn.Parameter(torch.randn(D, H, d) / 5) for _ in range(5))
        self.r_r_bias, self.r_w_bias = nn.Parameter(torch.randn(H, d)), nn.Parameter(torch.randn(H, d))
        self.scale = 1 / (d ** 0.5)
    def rel_shift_bnij(self, x, klen):
        n = x.shape
        x = x.reshape(n[0], n[1], n[3], n[2])
        x = x[:, :, 1:, :].reshape(n[0], n[1], n[2], n[3] - 1)
        return torch.index_select(x, 3, torch.arange(klen))
    def forward(self, h, r, attn_mask=None):
        q_head_h = torch.einsum("ibh,hnd->ibnd", h, self.q)
        k_head_h = torch.einsum("ibh,hnd->ibnd", h, self.k)
        v_head_h = torch.einsum("ibh,hnd->ibnd", h, self.v)
        k_head_r = torch.einsum("ibh,hnd->ibnd", r, self.r)
        ac = torch.einsum("ibnd,jbnd->bnij", q_head_h + self.r_w_bias, k_head_h)
        bd = torch.einsum("ibnd,jbnd->bnij", q_head_h + self.r_r_bias, k_head_r)
        bd = self.rel_shift_bnij(bd, klen=ac.shape[3])
        attn_score = (ac + bd) * self.scale
        if attn_mask is not None:
            attn_score = attn_score - 1e30 * torch.einsum("ijbn->bnij", attn_mask)
        attn_prob = F.softmax(attn_score, dim=3)
        attn_vec = torch.einsum("bnij,jbnd->ibnd", attn_prob, v_head_h)
        return torch.einsum("ibnd,hnd->ibh", attn_vec, self.o)
attention = RelativeAttention().eval()
run = lambda: attention(x.transpose(0, 1), torch.randn(12, 3, D), (~causal).float()[..., None, None])
""", ('(~causal).float()[..., None, None] -> None',),
    ('(ac + bd) * self.scale -> ac + bd',
     'dim=3) -> dim=2)',
     'attn_prob, v_head_h -> attn_prob, k_head_h',
     'attn_prob, v_head_h -> attn_prob, v_head_h.flip(1)',
     '(~causal).float() -> causal.float()',
     '- 1e30 -> + 1e30',
     'h, self.k) -> h, self.q)'))

program("packed by masks", """
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.o = nn.Linear(D, 3 * D), nn.Linear(D, D)
    def forward(self, x, position_ids, segment_ids):
        b, n, _ = x.shape
        q, k, v = (t.view(b, n, H, d).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        a = position_ids[..., None].float() * 1e4 ** (-torch.arange(0, d, 2) / d)
        cos, sin = (torch.cat([f(a)] * 2, -1)[:, None] for f in (torch.cos, torch.sin))
        turn = lambda t: t * cos + torch.cat([-t[..., d // 2:], t[..., :d // 2]], -1) * sin
        q, k = turn(q), turn(k)
        same = segment_ids[:, None, :, None] == segment_ids[:, None, None, :]
        mask = same & torch.ones(n, n).tril().bool()
        y = sdpa(q, k, v, attn_mask=mask)
        return self.o(y.transpose(1, 2).reshape(b, n, D))
attention = Attention().eval()
segment_ids = torch.tensor([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], [0, 0, 0, 0, 0, 0]])
position_ids = torch.tensor([[0, 1, 2, 0, 1, 2], [0, 1, 0, 1, 0, 1], [0, 1, 2, 3, 4, 5]])
run = lambda: attention(x, position_ids, segment_ids)
""", ('position_ids = torch.tensor([[0, 1, 2, 0, 1, 2], [0, 1, 0, 1, 0, 1], [0, 1, 2, 3, 4, 5]]) -> position_ids = torch.arange(6)[None].repeat(3, 1)',
     'attn_mask=mask -> attn_mask=torch.zeros(mask.shape).masked_fill(~mask, -math.inf)'),
    ('mask = same & torch.ones(n, n).tril().bool() -> mask = torch.ones(n, n).tril().bool()',
     'mask = same & torch.ones(n, n).tril().bool() -> mask = same',
     'same = segment_ids[:, None, :, None] == segment_ids[:, None, None, :] -> same = segment_ids[:1, None, :, None] == segment_ids[:1, None, None, :]',
     'same & torch.ones(n, n).tril() -> same & torch.ones(n, n).triu()',
     'q, k = turn(q), turn(k) -> q, k = turn(q), k',
     'attn_mask=mask -> attn_mask=~mask',
     'sdpa(q, k, v -> sdpa(q, k, v.roll(1, 2)'))
