"""Attention as public code has it now, as text (field_forms.py): encoders with decoders, parameters of heads, lists of heads, biases by distance."""
from field import Room

program = Room()


program("transformer", """
class Seq2Seq(nn.Module):
    def __init__(self):
        super().__init__()
        self.src_emb, self.tgt_emb, self.gen = nn.Embedding(50, D), nn.Embedding(50, D), nn.Linear(D, 50)
        self.transformer = nn.Transformer(D, H, 2, 2, 64, batch_first=False)
        self.pe = nn.Parameter(torch.randn(16, 1, D))
    def forward(self, src, trg, src_mask, tgt_mask, src_padding_mask, tgt_padding_mask, memory_key_padding_mask):
        s, t = self.src_emb(src) * math.sqrt(D) + self.pe[:src.shape[0]], self.tgt_emb(trg) * math.sqrt(D) + self.pe[:trg.shape[0]]
        outs = self.transformer(s, t, src_mask, tgt_mask, None, src_padding_mask, tgt_padding_mask, memory_key_padding_mask)
        return self.gen(outs)
def create_mask(src, tgt):
    tgt_mask = (torch.triu(torch.ones((tgt.shape[0], tgt.shape[0]))) == 1).transpose(0, 1)
    tgt_mask = tgt_mask.float().masked_fill(tgt_mask == 0, float('-inf')).masked_fill(tgt_mask == 1, float(0.0))
    src_mask = torch.zeros((src.shape[0], src.shape[0])).type(torch.bool)
    return src_mask, tgt_mask, (src == 0).transpose(0, 1), (tgt == 0).transpose(0, 1)
model = Seq2Seq().eval()
src = (ids * pad).T
tgt = (torch.randint(1, 50, (3, 5)) * (torch.arange(5)[None] < torch.tensor([3, 5, 4])[:, None])).T
def run():
    src_mask, tgt_mask, sp, tp = create_mask(src, tgt)
    return model(src, tgt, src_mask, tgt_mask, sp, tp, sp)
""", (), ("!tgt_mask, sp, tp, sp) -> tgt_mask, sp, tp, None)", "tgt_mask == 0, float('-inf')) -> tgt_mask == 1, float('-inf'))", "(src == 0).transpose(0, 1), -> (src != 0).transpose(0, 1),", "!tgt_mask, sp, tp, sp) -> None, sp, tp, sp)",
   "!self.transformer(s, t, -> self.transformer(s, s[:5],", "== 1).transpose(0, 1) -> == 1)", "!tgt_mask, sp, tp, sp) -> tgt_mask, None, tp, sp)"))

program("TransformerLens", """
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.W_Q, self.W_K, self.W_V = (nn.Parameter(torch.randn(H, D, d) / 6) for _ in range(3))
        self.W_O = nn.Parameter(torch.randn(H, d, D) / 6)
        self.b_Q, self.b_K, self.b_V = (nn.Parameter(torch.randn(H, d)) for _ in range(3))
        self.b_O = nn.Parameter(torch.randn(D))
    def forward(self, x):
        q = torch.einsum("bpd,ndh->bpnh", x, self.W_Q) + self.b_Q
        k = torch.einsum("bpd,ndh->bpnh", x, self.W_K) + self.b_K
        v = torch.einsum("bpd,ndh->bpnh", x, self.W_V) + self.b_V
        attn_scores = torch.einsum("bqnh,bknh->bnqk", q, k) / d ** 0.5
        mask = torch.triu(torch.ones(6, 6), diagonal=1).bool()
        attn_scores.masked_fill_(mask, -1e5)
        pattern = attn_scores.softmax(-1)
        z = torch.einsum("bknh,bnqk->bqnh", v, pattern)
        return torch.einsum("bqnh,nhd->bqd", z, self.W_O) + self.b_O
attn = Attention().eval()
run = lambda: attn(x)
""", ("-1e5 -> -torch.inf", '!return torch.einsum("bqnh,nhd->bqd", z, self.W_O) + self.b_O -> return torch.einsum("bqnh,nhd->bqnd", z, self.W_O).sum(2) + self.b_O'),
 ('"bqnh,bknh->bnqk", q, k -> "bqnh,bknh->bnqk", k, q', "diagonal=1 -> diagonal=0", '"bknh,bnqk->bqnh" -> "bqnh,bnqk->bknh"', "softmax(-1) -> softmax(-2)", "d ** 0.5 -> D ** 0.5", "x, self.W_V -> x, self.W_K", "v, pattern) -> v.roll(1, 2), pattern)",
  "!+ self.b_V -> + self.b_K", "!+ self.b_K\n -> \n", "torch.triu(torch.ones(6, 6), diagonal=1) -> torch.tril(torch.ones(6, 6), diagonal=-1)", "-1e5 -> -10"))

program("GPT-NeoX", """
class GPTNeoXAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query_key_value, self.dense, self.norm_factor = nn.Linear(D, 3 * D), nn.Linear(D, D), math.sqrt(d)
        self.register_buffer("bias", torch.tril(torch.ones(8, 8)).bool()[None, None])
    def forward(self, h, attention_mask, cos, sin):
        qkv = self.query_key_value(h)
        qkv = qkv.view(*qkv.size()[:-1], H, 3 * d)
        query, key, value = (qkv[..., i * d:(i + 1) * d].permute(0, 2, 1, 3) for i in range(3))
        query_rot, query_pass, key_rot, key_pass = query[..., :4], query[..., 4:], key[..., :4], key[..., 4:]
        rot = lambda t: torch.cat((-t[..., 2:], t[..., :2]), dim=-1)
        query = torch.cat((query_rot * cos + rot(query_rot) * sin, query_pass), -1)
        key = torch.cat((key_rot * cos + rot(key_rot) * sin, key_pass), -1)
        b, heads, n, _ = query.size()
        causal_mask = self.bias[:, :, :n, :n]
        query, key = query.view(b * heads, n, d), key.view(b * heads, n, d)
        s = torch.zeros(b * heads, n, n, dtype=query.dtype)
        s = torch.baddbmm(s, query, key.transpose(1, 2), beta=1.0, alpha=1.0 / self.norm_factor)
        s = s.view(b, heads, n, n)
        s = torch.where(causal_mask, s, torch.finfo(s.dtype).min)
        s = s + attention_mask
        w = F.softmax(s, dim=-1).to(value.dtype)
        o = torch.matmul(w, value).permute(0, 2, 1, 3).contiguous()
        return self.dense(o.view(b, n, D))
attn = GPTNeoXAttention().eval()
a = torch.arange(6)[:, None] * 1e4 ** (-torch.arange(0, 4, 2) / 4)
a = torch.cat([a, a], -1)
am = torch.zeros(3, 1, 1, 6).masked_fill(~pad[:, None, None], torch.finfo(torch.float32).min)
run = lambda: attn(x, am, a.cos(), a.sin())
expect = {"rotary_emb_base": 10000, "rotary_pct": 0.5}
""", (), ("qkv.view(*qkv.size()[:-1], H, 3 * d) -> qkv.view(*qkv.size()[:-1], 3, H, d).transpose(2, 3).reshape(*qkv.size()[:-1], H, 3 * d)[..., [*range(d, 2 * d), *range(d), *range(2 * d, 3 * d)]]", "1.0 / self.norm_factor -> self.norm_factor", "(key_rot * cos + rot(key_rot) * sin, key_pass) -> (key_rot, key_pass)",
   "s = s + attention_mask -> pass", "torch.where(causal_mask, s, torch.finfo(s.dtype).min) -> torch.where(causal_mask, s, s * 0)", "o.view(b, n, D) -> o.view(b, n, D).flip(0)", "permute(0, 2, 1, 3).contiguous() -> contiguous()", "s.view(b, heads, n, n) -> s.view(heads, b, n, n).transpose(0, 1)"))

program("MPT, ALiBi", """
class MptAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.Wqkv, self.out_proj = nn.Linear(D, 3 * D, bias=False), nn.Linear(D, D, bias=False)
    def forward(self, h, position_bias, attention_mask):
        b, n = h.shape[:2]
        q, k, v = self.Wqkv(h).chunk(3, dim=2)
        q, k, v = (t.reshape(b, n, H, d).transpose(1, 2) for t in (q, k, v))
        s = torch.matmul(q, k.transpose(-1, -2)) * d ** -0.5
        s = s + position_bias[:, -n:, -n:] if position_bias.shape[1] > 1 else s + position_bias[..., -n:]
        s = s.masked_fill(attention_mask, torch.finfo(q.dtype).min)
        w = F.softmax(s.float(), dim=-1).to(v.dtype)
        return self.out_proj(torch.matmul(w, v).permute(0, 2, 1, 3).contiguous().view(b, n, -1))
def slopes_of(heads, alibi_bias_max=8):
    base = torch.arange(1, heads + 1).float() * (alibi_bias_max / heads)
    return 1.0 / torch.pow(2, base)
bias = torch.arange(1 - 6, 1).view(1, 1, 6) * slopes_of(H).view(H, 1, 1)
attn = MptAttention().eval()
mask = ~(causal & pad[:, None])[:, None]
run = lambda: attn(x, bias, mask)
expect = {"n_heads": 4}
""", ("torch.arange(1 - 6, 1).view(1, 1, 6) -> (torch.arange(6)[None] - torch.arange(6)[:, None])[None]", "torch.arange(1 - 6, 1).view(1, 1, 6) -> -(torch.arange(6)[None] - torch.arange(6)[:, None]).abs()[None]"),
  ("slopes_of(H).view -> slopes_of(8)[:H].view", "(alibi_bias_max / heads) -> (alibi_bias_max / heads) - 1", "s + position_bias[..., -n:] -> s - position_bias[..., -n:]", "slopes_of(H).view(H, 1, 1) -> slopes_of(H).flip(0).view(H, 1, 1)", "position_bias[..., -n:] -> position_bias[..., -n:].flip(-1)"))

program("per head list", """
class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.key, self.query, self.value = nn.Linear(D, d, bias=False), nn.Linear(D, d, bias=False), nn.Linear(D, d, bias=False)
        self.register_buffer("tril", torch.tril(torch.ones(8, 8)))
    def forward(self, x):
        B, T, C = x.shape
        k, q = self.key(x), self.query(x)
        wei = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
        wei = wei.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        wei = F.softmax(wei, dim=-1)
        v = self.value(x)
        return wei @ v
class Multi(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads, self.proj = nn.ModuleList([Head() for _ in range(H)]), nn.Linear(D, D)
    def forward(self, x):
        return self.proj(torch.cat([h(x) for h in self.heads], dim=-1))
multi = Multi().eval()
run = lambda: multi(x)
""", ("torch.cat([h(x) for h in self.heads], dim=-1) -> torch.concat([h(x) for h in self.heads], -1)", "multi(x) -> multi(x[:, :1])", "multi(x) -> multi(x[:1])"),
  ("* k.shape[-1] ** -0.5 -> * C ** -0.5", "v = self.value(x) -> v = self.key(x)", "!torch.cat([h(x) for h in self.heads], dim=-1) -> torch.cat([self.heads[0](x) for h in self.heads], dim=-1)", "!torch.cat([h(x) for h in self.heads], dim=-1) -> sum(h(x) for h in self.heads).repeat(1, 1, H)", "return wei @ v -> return wei.transpose(1, 2) @ v",
   "* k.shape[-1] ** -0.5 -> ", "== 0, float -> == 1, float", "dim=-1)\n        v = -> dim=1)\n        v = ", "k, q = self.key(x), self.query(x) -> k, q = self.key(x), self.key(x)"))

program("decoder with cached memory", """
class Attn(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(D, D) for _ in range(4))
    def _shape(self, t):
        return t.view(t.shape[0], -1, H, d).transpose(1, 2).contiguous()
    def forward(self, hidden_states, key_value_states=None, past_key_value=None, attention_mask=None):
        b, n, _ = hidden_states.shape
        query_states = self.q_proj(hidden_states) * d ** -0.5
        if key_value_states is not None and past_key_value is not None and past_key_value[0].shape[2] == key_value_states.shape[1]:
            key_states, value_states = past_key_value
        elif key_value_states is not None:
            key_states, value_states = self._shape(self.k_proj(key_value_states)), self._shape(self.v_proj(key_value_states))
        elif past_key_value is not None:
            key_states = torch.cat([past_key_value[0], self._shape(self.k_proj(hidden_states))], dim=2)
            value_states = torch.cat([past_key_value[1], self._shape(self.v_proj(hidden_states))], dim=2)
        else:
            key_states, value_states = self._shape(self.k_proj(hidden_states)), self._shape(self.v_proj(hidden_states))
        past_key_value = (key_states, value_states)
        query_states = self._shape(query_states).view(b * H, -1, d)
        key_states, value_states = key_states.reshape(b * H, -1, d), value_states.reshape(b * H, -1, d)
        w = torch.bmm(query_states, key_states.transpose(1, 2))
        if attention_mask is not None:
            w = w.view(b, H, n, -1) + attention_mask
            w = w.view(b * H, n, -1)
        w = F.softmax(w, dim=-1)
        o = torch.bmm(w, value_states).view(b, H, n, d).transpose(1, 2).reshape(b, n, D)
        return self.out_proj(o), past_key_value
class DecoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.self_attn, self.encoder_attn, self.n1, self.n2 = Attn(), Attn(), nn.LayerNorm(D), nn.LayerNorm(D)
    def forward(self, h, encoder_hidden_states, encoder_attention_mask, past=None):
        a, p1 = self.self_attn(h, past_key_value=None if past is None else past[0])
        h = self.n1(h + a)
        a, p2 = self.encoder_attn(h, encoder_hidden_states, None if past is None else past[1], encoder_attention_mask)
        return self.n2(h + a), (p1, p2)
layer = DecoderLayer().eval()
mp = torch.arange(5)[None] < torch.tensor([5, 3, 4])[:, None]
em = torch.zeros(3, 1, 1, 5).masked_fill(~mp[:, None, None], torch.finfo(torch.float32).min)
def run():
    out, past = layer(x[:, :1], memory, em)
    for n in range(1, 5):
        out, past = layer(x[:, n:n + 1], memory, em, past)
    return out
""", ("em, past)\n -> em, past)\n        past = past[0], past[1]\n",), ("!memory, em, past) -> memory, em.flip(0), past)", "past_key_value = (key_states, value_states)\n -> past_key_value = (key_states, key_states)\n", "memory, em, past) -> memory.flip(0), em, past)", "em, past)\n -> em, past)\n        past = tuple(t.flip(0) for t in past[0]), past[1]\n", "em, past)\n -> em, past)\n        past = past[0], (past[1][1], past[1][0])\n", "query_states = self.q_proj(hidden_states) * d ** -0.5 -> query_states = self.q_proj(hidden_states)",
   "!out, past = layer(x[:, n:n + 1], memory, em, past) -> out, past = layer(x[:, n:n + 1], memory, None, past)", "torch.cat([past_key_value[1], self._shape(self.v_proj(hidden_states))], dim=2) -> torch.cat([self._shape(self.v_proj(hidden_states)), past_key_value[1]], dim=2)"))

program("sentences one by one", """
class Params(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.ParameterList(nn.Parameter(torch.randn(D, D) / 6) for _ in range(4))
    def one(self, s):
        q, k, v = ((s @ w).view(-1, H, d).transpose(0, 1) for w in list(self.w)[:3])
        p = torch.softmax(q @ k.transpose(1, 2) / d ** 0.5, -1)
        return (p @ v).transpose(0, 1).reshape(-1, D) @ self.w[3]
    def forward(self, x):
        return torch.stack([self.one(s) for s in x])
params = Params().eval()
run = lambda: params(x)
""", (), ("!torch.stack([self.one(s) for s in x]) -> torch.stack([self.one(s) for s in x.flip(0)])", "(p @ v).transpose(0, 1).reshape(-1, D) -> (p @ v).reshape(-1, D)", "-1)\n        return -> 0)\n        return", "!torch.stack([self.one(s) for s in x]) -> torch.stack([self.one(x[0]) for s in x])", "d ** 0.5, -1) -> d, -1)"))
