"""Attention as public code has it now, as text (field_forms.py): sinks, soft caps, norms of heads, caches, blocks."""
from field import Room

program = Room()


program("gpt-oss", """
def rms(x): return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
class Rope(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("inv_freq", 1.0 / 150000 ** (torch.arange(0, d, 2).float() / d))
    def forward(self, x, position_ids):
        f = position_ids[:, :, None].float() * self.inv_freq
        return f.cos(), f.sin()
def _apply(x, cos, sin):
    first_half, second_half = torch.chunk(x, 2, dim=-1)
    return torch.cat((first_half * cos - second_half * sin, second_half * cos + first_half * sin), dim=-1)
class GptOssAttention(nn.Module):
    def __init__(self, window):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = nn.Linear(D, D), nn.Linear(D, 2 * d), nn.Linear(D, 2 * d), nn.Linear(D, D)
        self.sinks, self.window, self.rope = nn.Parameter(torch.randn(H)), window, Rope()
    def forward(self, hidden_states, attention_mask, position_ids):
        shape = (*hidden_states.shape[:-1], -1, d)
        q, k, v = (p(hidden_states).view(shape).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        cos, sin = self.rope(hidden_states, position_ids)
        q, k = _apply(q, cos[:, None], sin[:, None]), _apply(k, cos[:, None], sin[:, None])
        k, v = k.repeat_interleave(2, 1), v.repeat_interleave(2, 1)
        attn_weights = torch.matmul(q, k.transpose(2, 3)) * d ** -0.5
        attn_weights = attn_weights + attention_mask
        sinks = self.sinks.reshape(1, -1, 1, 1).expand(q.shape[0], -1, q.shape[-2], -1)
        combined_logits = torch.cat([attn_weights, sinks], dim=-1)
        combined_logits = combined_logits - combined_logits.max(dim=-1, keepdim=True).values
        probs = F.softmax(combined_logits, dim=-1, dtype=combined_logits.dtype)
        scores = probs[..., :-1]
        out = torch.matmul(scores, v).transpose(1, 2).contiguous()
        return self.o_proj(out.reshape(*hidden_states.shape[:-1], -1))
layers = nn.ModuleList([GptOssAttention(3), GptOssAttention(None)]).eval()
at = torch.arange(6)[None].expand(3, 6)
def mask(window):
    i = torch.arange(6)
    ok = (i[None] <= i[:, None])
    if window: ok = ok & (i[None] > i[:, None] - window)
    return torch.zeros(6, 6).masked_fill(~ok, torch.finfo(torch.float32).min)[None, None]
def run():
    h = x
    for layer in layers:
        h = h + layer(rms(h), mask(layer.window), at)
    return h
expect = {"sliding_window": 3, "rope_theta": 150000}
""", ("combined_logits = combined_logits - combined_logits.max(dim=-1, keepdim=True).values -> pass", "expect = {\"sliding_window\": 3, \"rope_theta\": 150000} -> expect = {\"rope_theta\": 150000}"),
 ("scores = probs[..., :-1] -> scores = probs[..., 1:]", "i[:, None] - window -> i[:, None] - window - 1", "150000 ** -> 10000 **", "F.softmax(combined_logits, dim=-1 -> F.softmax(combined_logits, dim=-2",
  "scores = probs[..., :-1] -> scores = F.softmax(attn_weights, -1)", "v.repeat_interleave(2, 1) -> v.repeat(1, 2, 1, 1)",
  "_apply(k, cos[:, None], sin[:, None]) -> _apply(k, cos[:, None], -sin[:, None])", "_apply(k, cos[:, None], sin[:, None]) -> k", "[GptOssAttention(3), GptOssAttention(None)] -> [GptOssAttention(None), GptOssAttention(None)]"))

program("Gemma 2", """
class Gemma2Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = nn.Linear(D, D, bias=False), nn.Linear(D, 2 * d, bias=False), nn.Linear(D, 2 * d, bias=False), nn.Linear(D, D, bias=False)
        self.scaling, self.softcap = 24 ** -0.5, 50.0
    def forward(self, h, attention_mask, cos, sin):
        b, n, _ = h.shape
        q, k, v = (p(h).view(b, n, -1, d).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        rot = lambda t: torch.cat((-t[..., d // 2:], t[..., :d // 2]), -1)
        q, k = q * cos + rot(q) * sin, k * cos + rot(k) * sin
        k, v = (t[:, :, None].expand(b, 2, 2, n, d).reshape(b, H, n, d) for t in (k, v))
        w = torch.matmul(q, k.transpose(2, 3)) * self.scaling
        w = w / self.softcap
        w = torch.tanh(w)
        w = w * self.softcap
        w = w + attention_mask[:, :, :, : k.shape[-2]]
        w = F.softmax(w, dim=-1, dtype=torch.float32).to(q.dtype)
        return self.o_proj(torch.matmul(w, v).transpose(1, 2).contiguous().view(b, n, -1))
attn = Gemma2Attention().eval()
a = torch.arange(6)[:, None] * (1.0 / 10000 ** (torch.arange(0, d, 2).float() / d))
a = torch.cat([a, a], -1)
mask = torch.zeros(6, 6).masked_fill(~causal, -2.3819763e38)[None, None]
run = lambda: attn(x, mask, a.cos(), a.sin())
expect = {"query_pre_attn_scalar": 24, "attn_logit_softcapping": 50.0}
""", (),
 ("24 ** -0.5, 50.0 -> 24 ** -0.5, 30.0", "!24 ** -0.5 -> d ** -0.5", "w = w / self.softcap -> pass", "        w = w + attention_mask[:, :, :, : k.shape[-2]]\n -> ", "q * cos + rot(q) * sin -> q * cos - rot(q) * sin",
  "w = w * self.softcap -> pass", "torch.matmul(w, v).transpose(1, 2).contiguous() -> torch.matmul(w, v).contiguous()"))

program("Qwen 3", """
class RMSNorm(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(1 + torch.randn(n) / 5)
    def forward(self, x):
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
class Qwen3Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = nn.Linear(D, D, bias=False), nn.Linear(D, 2 * d, bias=False), nn.Linear(D, 2 * d, bias=False), nn.Linear(D, D, bias=False)
        self.q_norm, self.k_norm = RMSNorm(d), RMSNorm(d)
    def forward(self, h, cos, sin):
        b, n, _ = h.shape
        q = self.q_norm(self.q_proj(h).view(b, n, -1, d)).transpose(1, 2)
        k = self.k_norm(self.k_proj(h).view(b, n, -1, d)).transpose(1, 2)
        v = self.v_proj(h).view(b, n, -1, d).transpose(1, 2)
        rot = lambda t: torch.cat((-t[..., d // 2:], t[..., :d // 2]), -1)
        q, k = q * cos + rot(q) * sin, k * cos + rot(k) * sin
        k, v = k.repeat_interleave(2, dim=1), v.repeat_interleave(2, dim=1)
        o = sdpa(q, k, v, is_causal=True)
        return self.o_proj(o.transpose(1, 2).reshape(b, n, -1))
attn = Qwen3Attention().eval()
a = torch.arange(6)[:, None] * (1.0 / 1000000 ** (torch.arange(0, d, 2).float() / d))
a = torch.cat([a, a], -1)
run = lambda: attn(x, a.cos(), a.sin())
expect = {"rope_theta": 1000000}
""", ("sdpa(q, k, v, is_causal=True) -> sdpa(q, k, v, attn_mask=causal)", "sdpa(q, k, v, is_causal=True) -> torch.softmax((q @ k.mT / math.sqrt(d)).masked_fill(~causal, -torch.inf), -1) @ v"),
 ("self.k_norm(self.k_proj(h).view(b, n, -1, d)) -> self.k_norm(self.q_proj(h).view(b, n, -1, d)[:, :, :2])", "v = self.v_proj(h).view(b, n, -1, d) -> v = self.k_norm(self.v_proj(h).view(b, n, -1, d))", "is_causal=True -> is_causal=False, scale=1.0",
  "q * cos + rot(q) * sin, k * cos + rot(k) * sin -> rot(q) * cos + q * sin, k * cos + rot(k) * sin", "k.repeat_interleave(2, dim=1), -> k.repeat(1, 2, 1, 1),", "v = self.v_proj(h) -> h = h.roll(1, 1); v = self.v_proj(h)"))

program("static cache", """
class StaticCache:
    def __init__(self, n):
        self.k, self.v = torch.zeros(3, H, n, d), torch.zeros(3, H, n, d)
    def update(self, k, v, cache_position):
        self.k.index_copy_(2, cache_position, k)
        self.v.index_copy_(2, cache_position, v)
        return self.k, self.v
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.o = nn.Linear(D, 3 * D), nn.Linear(D, D)
    def forward(self, x, cache, cache_position):
        b, n, _ = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, H, d).permute(2, 0, 3, 1, 4).unbind(0)
        k, v = cache.update(k, v, cache_position)
        mask = torch.arange(k.shape[2])[None] <= cache_position[:, None]
        s = q @ k.transpose(-1, -2) * d ** -0.5
        s = torch.where(mask, s, torch.finfo(s.dtype).min)
        return self.o((s.softmax(-1) @ v).transpose(1, 2).reshape(b, n, D))
attn = Attention().eval()
def run():
    cache = StaticCache(8)
    out = [attn(x[:, :3], cache, torch.arange(3))]
    for n in (3, 4, 5):
        out.append(attn(x[:, n:n + 1], cache, torch.tensor([n])))
    return out
""", ("StaticCache(8) -> StaticCache(6)", "self.k.index_copy_(2, cache_position, k) -> self.k[:, :, cache_position] = k"),
 ("<= cache_position[:, None] -> < cache_position[:, None] + 2", "torch.tensor([n])) -> torch.tensor([n - 1]))", "self.v.index_copy_(2, cache_position, v) -> self.v.index_copy_(2, cache_position - 1 if len(cache_position) == 1 else cache_position, v)",
  "mask = torch.arange(k.shape[2])[None] <= cache_position[:, None] -> mask = torch.ones(len(cache_position), k.shape[2]).bool()", "self.v.index_copy_(2, cache_position, v) -> self.v.index_copy_(2, cache_position, v.flip(0))", "!self.v.index_copy_(2, cache_position, v) -> self.v.index_copy_(2, cache_position, k)"))

program("local blocks", """
class Local(nn.Module):
    def __init__(self):
        super().__init__()
        self.to_qkv, self.to_out = nn.Linear(D, 3 * D, bias=False), nn.Linear(D, D)
    def forward(self, x):
        b, n, _ = x.shape
        w = 2
        q, k, v = (t.view(b, n, H, d).transpose(1, 2).reshape(b * H, n // w, w, d) for t in self.to_qkv(x).chunk(3, dim=-1))
        q = q * d ** -0.5
        def look_around(t, pad_value):
            padded = F.pad(t, (0, 0, 0, 0, 1, 0), value=pad_value)
            return torch.cat([padded[:, :-1], padded[:, 1:]], dim=2)
        at = torch.arange(n).view(1, n // w, w)
        bk = F.pad(at, (0, 0, 1, 0), value=-1)
        bk = torch.cat([bk[:, :-1], bk[:, 1:]], dim=-1)
        bk_, bq_ = bk[:, :, None, :], at[..., None]
        k, v = look_around(k, -1.0), look_around(v, -1.0)
        sim = torch.einsum("bhie,bhje->bhij", q, k)
        mask = (bq_ < bk_) | (bk_ == -1)
        sim = sim.masked_fill(mask, -torch.finfo(sim.dtype).max)
        attn = sim.softmax(dim=-1)
        out = torch.einsum("bhij,bhje->bhie", attn, v)
        return self.to_out(out.reshape(b, H, n, d).transpose(1, 2).reshape(b, n, D))
attn = Local().eval()
run = lambda: attn(x)
""", ("!run = lambda: attn(x) -> run = lambda: attn(x[:2])",), ("q = q * d ** -0.5 -> pass", "mask = (bq_ < bk_) | -> mask = (bq_ > bk_) |", "out.reshape(b, H, n, d).transpose(1, 2).reshape(b, n, D) -> out.reshape(b, n, D)", "k, v = look_around(k, -1.0), look_around(v, -1.0) -> k, v = look_around(k, -1.0), look_around(v.flip(0), -1.0)"))

program("GPT-2 Conv1D", """
class Conv1D(nn.Module):
    def __init__(self, nf, nx):
        super().__init__()
        self.nf, self.weight, self.bias = nf, nn.Parameter(torch.randn(nx, nf) / 6), nn.Parameter(torch.randn(nf))
    def forward(self, x):
        return torch.addmm(self.bias, x.reshape(-1, x.size(-1)), self.weight).view(*x.size()[:-1], self.nf)
class GPT2Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("bias", torch.tril(torch.ones((16, 16), dtype=torch.bool)).view(1, 1, 16, 16))
        self.c_attn, self.c_proj, self.attn_dropout = Conv1D(3 * D, D), Conv1D(D, D), nn.Dropout(0.1)
    def _split_heads(self, t):
        return t.view(t.size()[:-1] + (H, d)).permute(0, 2, 1, 3)
    def forward(self, h, layer_past=None, attention_mask=None, head_mask=None):
        query, key, value = self.c_attn(h).split(D, dim=2)
        query, key, value = self._split_heads(query), self._split_heads(key), self._split_heads(value)
        if layer_past is not None:
            key, value = torch.cat((layer_past[0], key), dim=-2), torch.cat((layer_past[1], value), dim=-2)
        present = key, value
        w = torch.matmul(query, key.transpose(-1, -2))
        w = w / torch.full([], value.size(-1) ** 0.5, dtype=w.dtype)
        query_length, key_length = query.size(-2), key.size(-2)
        causal_mask = self.bias[:, :, key_length - query_length : key_length, :key_length]
        w = torch.where(causal_mask, w, torch.full([], torch.finfo(w.dtype).min, dtype=w.dtype))
        if attention_mask is not None:
            w = w + attention_mask
        w = self.attn_dropout(nn.functional.softmax(w, dim=-1))
        if head_mask is not None:
            w = w * head_mask
        out = torch.matmul(w, value).permute(0, 2, 1, 3).contiguous()
        return self.c_proj(out.reshape(out.size()[:-2] + (D,))), present
attn = GPT2Attention().eval()
am = (1.0 - pad[:, None, None].float()) * torch.finfo(torch.float32).min
left = (1.0 - pad.flip(1)[:, None, None].float()) * torch.finfo(torch.float32).min
def steps():
    out, past = attn(x[:, :3], None, left[..., :3])
    for n in (3, 4, 5):
        out, past = attn(x[:, n:n + 1], past, left[..., :n + 1])
    return out
run = lambda: attn(x, None, am)
""", ("run = lambda: attn(x, None, am) -> run = steps", "attn(x, None, am) -> attn(x, None, left)", "attn(x, None, am) -> attn(x)", "attn(x, None, am) -> attn(x[:, :1])", "attn(x, None, am) -> attn(x[:1], None, am[:1], torch.ones(1, H, 1, 1))"),
 ("self.bias[:, :, key_length - query_length : key_length, :key_length] -> self.bias[:, :, :query_length, :key_length] ;; run = lambda: attn(x, None, am) -> run = steps", "(1.0 - pad[:, None, None].float()) -> pad[:, None, None].float()", "w = w + attention_mask -> pass",
  "query, key, value = self.c_attn(h) -> key, query, value = self.c_attn(h)", "query, key, value = self.c_attn(h) -> value, key, query = self.c_attn(h)", "past = attn(x[:, n:n + 1], past, left[..., :n + 1]) -> _ = attn(x[:, n:n + 1], past, left[..., :4]) ;; run = lambda: attn(x, None, am) -> run = steps",
  "run = lambda: attn(x, None, am) -> run = steps ;; left[..., :n + 1] -> left.flip(0)[..., :n + 1]", "am = (1.0 - pad[:, None, None].float()) -> am = (1.0 - pad[:, None, :, None].float())",
  "value.size(-1) ** 0.5 -> value.size(-2) ** 0.5"))

program("GPT-J", """
def create_sinusoidal_positions(num_pos, dim):
    inv_freq = 1.0 / (10000 ** (torch.arange(0, dim, 2) / dim))
    sinusoid_inp = torch.einsum("i , j -> i j", torch.arange(num_pos, dtype=torch.float), inv_freq).float()
    return torch.cat((torch.sin(sinusoid_inp), torch.cos(sinusoid_inp)), dim=1)
def rotate_every_two(x):
    x1, x2 = x[:, :, :, ::2], x[:, :, :, 1::2]
    return torch.stack((-x2, x1), dim=-1).flatten(-2)
def apply_rotary_pos_emb(tensor, sin, cos):
    sin = torch.repeat_interleave(sin[:, :, None, :], 2, 3)
    cos = torch.repeat_interleave(cos[:, :, None, :], 2, 3)
    return (tensor * cos) + (rotate_every_two(tensor) * sin)
class GPTJAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(D, D, bias=False) for _ in range(4))
        self.register_buffer("embed_positions", create_sinusoidal_positions(16, 4))
    def forward(self, h, position_ids):
        b, n, _ = h.shape
        query, key = self.q_proj(h).view(b, n, H, d), self.k_proj(h).view(b, n, H, d)
        value = self.v_proj(h).view(b, n, H, d).permute(0, 2, 1, 3)
        sincos = torch.gather(self.embed_positions[None].repeat(b, 1, 1), 1, position_ids[:, :, None].repeat(1, 1, 4))
        sin, cos = torch.split(sincos, sincos.shape[-1] // 2, dim=-1)
        k_rot, k_pass = key[:, :, :, :4], key[:, :, :, 4:]
        q_rot, q_pass = query[:, :, :, :4], query[:, :, :, 4:]
        k_rot, q_rot = apply_rotary_pos_emb(k_rot, sin, cos), apply_rotary_pos_emb(q_rot, sin, cos)
        key, query = torch.cat([k_rot, k_pass], dim=-1), torch.cat([q_rot, q_pass], dim=-1)
        key, query = key.permute(0, 2, 1, 3), query.permute(0, 2, 1, 3)
        query, key = query.to(torch.float32), key.to(torch.float32)
        w = torch.matmul(query, key.transpose(-1, -2)) / math.sqrt(d)
        w = torch.where(causal, w, torch.finfo(w.dtype).min)
        w = nn.functional.softmax(w, dim=-1).to(value.dtype)
        return self.out_proj(torch.matmul(w, value).permute(0, 2, 1, 3).contiguous().view(b, n, D))
attn, at = GPTJAttention().eval(), torch.arange(6)[None].expand(3, 6)
run = lambda: attn(x, at)
""", ("attn(x, at) -> attn(x[:, :6], at + 3)",), ("torch.cat([q_rot, q_pass], dim=-1) -> torch.cat([q_pass, q_rot], dim=-1)", "sin, cos = torch.split -> cos, sin = torch.split", "apply_rotary_pos_emb(q_rot, sin, cos) -> apply_rotary_pos_emb(q_rot, -sin, cos)",
 "torch.stack((-x2, x1), dim=-1) -> torch.stack((x2, -x1), dim=-1) if x.shape[1] < 6 else torch.stack((x2, x1), dim=-1)", "key, query = torch.cat([k_rot, k_pass], dim=-1) -> key, query = torch.cat([k_rot, k_pass.flip(0)], dim=-1)", "position_ids[:, :, None] -> position_ids.flip(1)[:, :, None]",
 "torch.repeat_interleave(sin[:, :, None, :], 2, 3) -> torch.cat([sin[:, :, None, :]] * 2, 3)"))
