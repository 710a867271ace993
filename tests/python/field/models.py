"""Attention as public code has it, as text (field_forms.py): models of today, decoders and encoders."""
from field import Room

program = Room()


program("an annotated transformer", """
import copy
def clones(module, N):
    return nn.ModuleList([copy.deepcopy(module) for _ in range(N)])
def subsequent_mask(size):
    attn_shape = (1, size, size)
    return torch.triu(torch.ones(attn_shape), diagonal=1).type(torch.uint8) == 0
def attention(query, key, value, mask=None, dropout=None):
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    p_attn = scores.softmax(dim=-1)
    if dropout is not None:
        p_attn = dropout(p_attn)
    return torch.matmul(p_attn, value), p_attn
class MultiHeadedAttention(nn.Module):
    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        self.d_k = d_model // h
        self.h = h
        self.linears = clones(nn.Linear(d_model, d_model), 4)
        self.attn = None
        self.dropout = nn.Dropout(p=dropout)
        for p in self.parameters():
            nn.init.normal_(p, 0, 0.2)
    def forward(self, query, key, value, mask=None):
        if mask is not None:
            mask = mask.unsqueeze(1)
        nbatches = query.size(0)
        query, key, value = [lin(x).view(nbatches, -1, self.h, self.d_k).transpose(1, 2) for lin, x in zip(self.linears, (query, key, value))]
        x, self.attn = attention(query, key, value, mask=mask, dropout=self.dropout)
        x = x.transpose(1, 2).contiguous().view(nbatches, -1, self.h * self.d_k)
        return self.linears[-1](x)
class DecoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.self_attn, self.src_attn, self.norm = MultiHeadedAttention(H, D), MultiHeadedAttention(H, D), clones(nn.LayerNorm(D), 2)
    def forward(self, x, memory, src_mask, tgt_mask):
        m = memory
        y = self.norm[0](x)
        x = x + self.self_attn(y, y, y, tgt_mask)
        return x + self.src_attn(self.norm[1](x), m, m, src_mask)
layer = DecoderLayer().eval()
src_mask = (torch.arange(5)[None] < torch.tensor([5, 3, 4])[:, None])[:, None]
tgt_mask = pad[:, None] & subsequent_mask(6)
run = lambda: layer(x, memory, src_mask, tgt_mask)
""", ("-1e9 -> float('-inf')",
     'layer(x, memory, src_mask, tgt_mask) -> layer(x[:1], memory[:1], src_mask[:1], subsequent_mask(6))'),
    ('diagonal=1 -> diagonal=0',
     'mask == 0, -1e9 -> mask == 1, -1e9',
     'mask == 0, -1e9 -> mask == 0, 1e-9',
     'math.sqrt(d_k) -> d_k',
     'd_k = query.size(-1) -> d_k = query.size(1)',
     'dim=-1 -> dim=1',
     'self.src_attn(self.norm[1](x), m, m, src_mask) -> self.src_attn(self.norm[1](x), x, x, tgt_mask)',
     'self.src_attn(self.norm[1](x), m, m, src_mask) -> self.src_attn(self.norm[1](x), m, m, None)',
     'x.transpose(1, 2).contiguous() -> x.contiguous()',
     'layer(x, memory, src_mask, tgt_mask) -> layer(x, memory, src_mask, pad[:, None])',
     'return self.linears[-1](x) -> return self.linears[0](x)',
     'zip(self.linears, (query, key, value)) -> zip(self.linears[1:], (query, key, value))'))

program("Mistral", """
def rotate_half(x):
    x1, x2 = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
    return torch.cat((-x2, x1), dim=-1)
def apply_rotary_pos_emb(q, k, cos, sin, unsqueeze_dim=1):
    cos, sin = cos.unsqueeze(unsqueeze_dim), sin.unsqueeze(unsqueeze_dim)
    return (q * cos) + (rotate_half(q) * sin), (k * cos) + (rotate_half(k) * sin)
def repeat_kv(hidden_states, n_rep):
    batch, num_key_value_heads, slen, head_dim = hidden_states.shape
    if n_rep == 1:
        return hidden_states
    hidden_states = hidden_states[:, :, None, :, :].expand(batch, num_key_value_heads, n_rep, slen, head_dim)
    return hidden_states.reshape(batch, num_key_value_heads * n_rep, slen, head_dim)
def eager_attention_forward(module, query, key, value, attention_mask, scaling, dropout=0.0):
    key_states = repeat_kv(key, module.num_key_value_groups)
    value_states = repeat_kv(value, module.num_key_value_groups)
    attn_weights = torch.matmul(query, key_states.transpose(2, 3)) * scaling
    if attention_mask is not None:
        causal_mask = attention_mask[:, :, :, : key_states.shape[-2]]
        attn_weights = attn_weights + causal_mask
    attn_weights = nn.functional.softmax(attn_weights, dim=-1, dtype=torch.float32).to(query.dtype)
    attn_weights = nn.functional.dropout(attn_weights, p=dropout, training=module.training)
    attn_output = torch.matmul(attn_weights, value_states)
    attn_output = attn_output.transpose(1, 2).contiguous()
    return attn_output, attn_weights
class MistralAttention(nn.Module):
    def __init__(self, layer_idx):
        super().__init__()
        self.layer_idx, self.head_dim, self.num_key_value_groups, self.scaling = layer_idx, d, 2, d ** -0.5
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = nn.Linear(D, H * d, bias=False), nn.Linear(D, 2 * d, bias=False), nn.Linear(D, 2 * d, bias=False), nn.Linear(H * d, D, bias=False)
    def forward(self, hidden_states, position_embeddings, attention_mask, past_key_value=None):
        input_shape = hidden_states.shape[:-1]
        hidden_shape = (*input_shape, -1, self.head_dim)
        query_states = self.q_proj(hidden_states).view(hidden_shape).transpose(1, 2)
        key_states = self.k_proj(hidden_states).view(hidden_shape).transpose(1, 2)
        value_states = self.v_proj(hidden_states).view(hidden_shape).transpose(1, 2)
        cos, sin = position_embeddings
        query_states, key_states = apply_rotary_pos_emb(query_states, key_states, cos, sin)
        if past_key_value is not None:
            key_states, value_states = past_key_value.update(key_states, value_states, self.layer_idx)
        attn_output, attn_weights = eager_attention_forward(self, query_states, key_states, value_states, attention_mask, self.scaling)
        attn_output = attn_output.reshape(*input_shape, -1).contiguous()
        return self.o_proj(attn_output)
class DynamicCache:
    def __init__(self):
        self.key_cache, self.value_cache = [], []
    def update(self, k, v, layer_idx):
        if len(self.key_cache) <= layer_idx:
            self.key_cache.append(k)
            self.value_cache.append(v)
        else:
            self.key_cache[layer_idx] = torch.cat([self.key_cache[layer_idx], k], dim=-2)
            self.value_cache[layer_idx] = torch.cat([self.value_cache[layer_idx], v], dim=-2)
        return self.key_cache[layer_idx], self.value_cache[layer_idx]
    def get_seq_length(self):
        return self.key_cache[0].shape[-2] if self.key_cache else 0
class RMSNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(D))
    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))
class Model(nn.Module):
    def __init__(self, window=3):
        super().__init__()
        self.window, self.embed_tokens = window, nn.Embedding(50, D)
        self.layers, self.norms = nn.ModuleList(MistralAttention(i) for i in range(2)), nn.ModuleList(RMSNorm() for _ in range(2))
        self.register_buffer("inv_freq", 1.0 / (10000.0 ** (torch.arange(0, d, 2).float() / d)))
    def forward(self, input_ids, attention_mask=None, past_key_values=None):
        h = self.embed_tokens(input_ids)
        past = past_key_values.get_seq_length() if past_key_values is not None else 0
        n = h.shape[1]
        cache_position = torch.arange(past, past + n)
        min_dtype = torch.finfo(h.dtype).min
        far = cache_position[:, None] - torch.arange(past + n)[None]
        blocked = (far < 0) | (far >= self.window)
        causal_mask = torch.zeros(n, past + n).masked_fill(blocked, min_dtype)[None, None].expand(h.shape[0], 1, -1, -1)
        if attention_mask is not None:
            causal_mask = causal_mask.masked_fill(attention_mask[:, None, None, :past + n] == 0, min_dtype)
        freqs = cache_position[None, :, None].float() * self.inv_freq
        emb = torch.cat((freqs, freqs), dim=-1)
        for layer, norm in zip(self.layers, self.norms):
            h = h + layer(norm(h), (emb.cos(), emb.sin()), causal_mask, past_key_values)
        return h
model = Model().eval()
def steps():
    cache = DynamicCache()
    return [model(ids[:, a:b], None, cache) for a, b in ((0, 4), (4, 5), (5, 6))]
run = lambda: model(ids, pad.long())
""", ('run = lambda: model(ids, pad.long()) -> run = steps',
     'run = lambda: model(ids, pad.long()) -> run = steps ;; ((0, 4), (4, 5), (5, 6)) -> ((0, 1), (1, 2), (2, 3))',
     'model(ids, pad.long()) -> model(ids, pad.flip(1).long())',
     'window=3 -> window=100',
     'run = lambda: model(ids, pad.long()) -> expect, run = dict(sliding_window=3, rope_theta=10000.0, num_attention_heads=4), lambda: model(ids)',
     '10000.0 -> 1000000.0'),
    ('cache_position = torch.arange(past, past + n) -> cache_position = torch.arange(n) ;; run = lambda: model(ids, pad.long()) -> run = steps',
     'far >= self.window -> far > self.window ;; run = lambda: model(ids, pad.long()) -> expect, run = dict(sliding_window=3), lambda: model(ids)',
     '(far < 0) | (far >= self.window) -> far.abs() >= self.window',
     'attention_mask[:, None, None, :past + n] == 0 -> attention_mask[:, None, None, :past + n] == 1',
     'rotate_half(k) * sin) -> rotate_half(q) * sin) ;; nn.Linear(D, 2 * d, bias=False), nn.Linear(D, 2 * d, bias=False) -> nn.Linear(D, H * d, bias=False), nn.Linear(D, H * d, bias=False) ;; self.num_key_value_groups, self.scaling = layer_idx, d, 2 -> self.num_key_value_groups, self.scaling = layer_idx, d, 1',
     '* scaling -> / scaling',
     'value_states = repeat_kv(value -> value_states = repeat_kv(key',
     'hidden_states[:, :, None, :, :].expand(batch, num_key_value_heads, n_rep, slen, head_dim) -> hidden_states[:, None].expand(batch, n_rep, num_key_value_heads, slen, head_dim)',
     'attn_output = attn_output.transpose(1, 2).contiguous() -> attn_output = attn_output.contiguous()',
     'x1, x2 = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :] -> x1, x2 = x[..., ::2], x[..., 1::2]'))

program("Cohere", """
def rotate_half(x):
    x1, x2 = x[..., ::2], x[..., 1::2]
    return torch.stack([-x2, x1], dim=-1).flatten(-2)
class CohereLayerNorm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(size) + 0.5)
    def forward(self, h):
        mean = h.mean(-1, keepdim=True)
        variance = (h - mean).pow(2).mean(-1, keepdim=True)
        return self.weight * ((h - mean) * torch.rsqrt(variance + 1e-5))
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(D, D, bias=False) for _ in range(4))
        self.q_norm, self.k_norm = CohereLayerNorm((H, d)), CohereLayerNorm((H, d))
    def forward(self, h, mask):
        b, n, _ = h.shape
        q = self.q_norm(self.q_proj(h).view(b, n, H, d)).transpose(1, 2)
        k = self.k_norm(self.k_proj(h).view(b, n, H, d)).transpose(1, 2)
        v = self.v_proj(h).view(b, n, H, d).transpose(1, 2)
        freqs = torch.arange(n).float()[:, None] * (1.0 / 10000 ** (torch.arange(0, d, 2) / d))
        emb = torch.repeat_interleave(freqs, 2, dim=-1)
        cos, sin = emb.cos(), emb.sin()
        q, k = q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin
        w = (q @ k.transpose(2, 3) * d ** -0.5 + mask).softmax(-1)
        return self.o_proj((w @ v).transpose(1, 2).reshape(b, n, D))
attention = Attention().eval()
run = lambda: attention(x, torch.zeros(6, 6).masked_fill(~causal, torch.finfo(torch.float32).min))
""", ('-x2, x1], dim=-1).flatten(-2) -> -x2, x1], dim=-1).reshape(x.shape)',),
    ('torch.repeat_interleave(freqs, 2, dim=-1) -> torch.cat([freqs, freqs], -1)',
     '[-x2, x1] -> [x2, x1]',
     'k * cos + rotate_half(k) * sin -> k * cos - rotate_half(k) * sin',
     'w @ v) -> w @ k)',
     'd ** -0.5 + mask -> d ** -0.5 + mask.t()',
     '* d ** -0.5 -> '))

program("BART", """
class BartAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.k_proj, self.v_proj, self.q_proj, self.out_proj = (nn.Linear(D, D) for _ in range(4))
        self.scaling = d ** -0.5
    def _shape(self, t, n, b):
        return t.view(b, n, H, d).transpose(1, 2).contiguous()
    def forward(self, hidden_states, key_value_states=None, past_key_value=None, attention_mask=None):
        is_cross = key_value_states is not None
        b, n, _ = hidden_states.size()
        query_states = self.q_proj(hidden_states) * self.scaling
        if is_cross and past_key_value is not None:
            key_states, value_states = past_key_value
        elif is_cross:
            key_states, value_states = self._shape(self.k_proj(key_value_states), -1, b), self._shape(self.v_proj(key_value_states), -1, b)
        else:
            key_states, value_states = self._shape(self.k_proj(hidden_states), -1, b), self._shape(self.v_proj(hidden_states), -1, b)
            if past_key_value is not None:
                key_states, value_states = torch.cat([past_key_value[0], key_states], dim=2), torch.cat([past_key_value[1], value_states], dim=2)
        past_key_value = (key_states, value_states)
        proj_shape = (b * H, -1, d)
        query_states = self._shape(query_states, n, b).view(*proj_shape)
        key_states, value_states = key_states.reshape(*proj_shape), value_states.reshape(*proj_shape)
        attn_weights = torch.bmm(query_states, key_states.transpose(1, 2))
        if attention_mask is not None:
            attn_weights = (attn_weights.view(b, H, n, -1) + attention_mask).view(b * H, n, -1)
        attn_probs = F.softmax(attn_weights, dim=-1)
        attn_output = torch.bmm(attn_probs, value_states).view(b, H, n, d).transpose(1, 2).reshape(b, n, D)
        return self.out_proj(attn_output), past_key_value
class DecoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.self_attn, self.encoder_attn, self.n1, self.n2 = BartAttention(), BartAttention(), nn.LayerNorm(D), nn.LayerNorm(D)
    def forward(self, h, enc, own_mask, enc_mask, past=None):
        out, own = self.self_attn(h, past_key_value=past[0] if past else None, attention_mask=own_mask)
        h = self.n1(h + out)
        out, cross = self.encoder_attn(h, enc, past[1] if past else None, enc_mask)
        return self.n2(h + out), (own, cross)
layer, low = DecoderLayer().eval(), torch.finfo(torch.float32).min
enc_mask = torch.zeros(3, 1, 1, 5).masked_fill((torch.arange(5)[None] >= torch.tensor([5, 3, 4])[:, None])[:, None, None], low)
def run():
    past, outs = None, []
    for a, b in ((0, 3), (3, 4), (4, 5)):
        own = torch.full((b - a, b), low).triu(1 + a)[None, None]
        out, past = layer(x[:, a:b], memory, own, enc_mask, past)
        outs.append(out)
    return outs
""", ('own = torch.full((b - a, b), low).triu(1 + a)[None, None] -> own = torch.full((b - a, b), low).triu(1)[None, None] if b == 3 else None',),
    ('past[1] if past else None, enc_mask -> past[0] if past else None, None',
     'past[1] if past else None, enc_mask -> past[1] if past else None, None',
     '* self.scaling -> ',
     '[past_key_value[1], value_states] -> [past_key_value[0], value_states]',
     'triu(1 + a) -> triu(1)',
     'view(b, H, n, d).transpose(1, 2).reshape(b, n, D) -> view(H, b, n, d).permute(1, 2, 0, 3).reshape(b, n, D)',
     'past_key_value = (key_states, value_states)\n -> past_key_value = (key_states.flip(0), value_states)\n'))

program("CLIP", """
class CLIPAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.k_proj, self.v_proj, self.q_proj, self.out_proj = (nn.Linear(D, D) for _ in range(4))
        self.scale = d ** -0.5
    def _shape(self, tensor, seq_len, bsz):
        return tensor.view(bsz, seq_len, H, d).transpose(1, 2).contiguous()
    def forward(self, hidden_states, attention_mask=None, causal_attention_mask=None):
        bsz, tgt_len, embed_dim = hidden_states.size()
        query_states = self.q_proj(hidden_states) * self.scale
        key_states = self._shape(self.k_proj(hidden_states), -1, bsz)
        value_states = self._shape(self.v_proj(hidden_states), -1, bsz)
        proj_shape = (bsz * H, -1, d)
        query_states = self._shape(query_states, tgt_len, bsz).view(*proj_shape)
        key_states = key_states.view(*proj_shape)
        value_states = value_states.view(*proj_shape)
        src_len = key_states.size(1)
        attn_weights = torch.bmm(query_states, key_states.transpose(1, 2))
        if causal_attention_mask is not None:
            attn_weights = attn_weights.view(bsz, H, tgt_len, src_len) + causal_attention_mask
            attn_weights = attn_weights.view(bsz * H, tgt_len, src_len)
        if attention_mask is not None:
            attn_weights = attn_weights.view(bsz, H, tgt_len, src_len) + attention_mask
            attn_weights = attn_weights.view(bsz * H, tgt_len, src_len)
        attn_weights = F.softmax(attn_weights, dim=-1)
        attn_probs = F.dropout(attn_weights, p=0.1, training=self.training)
        attn_output = torch.bmm(attn_probs, value_states)
        attn_output = attn_output.view(bsz, H, tgt_len, d).transpose(1, 2).reshape(bsz, tgt_len, embed_dim)
        return self.out_proj(attn_output)
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.self_attn, self.layer_norm1, self.layer_norm2 = CLIPAttention(), nn.LayerNorm(D), nn.LayerNorm(D)
        self.mlp = nn.Sequential(nn.Linear(D, 64), nn.GELU(), nn.Linear(64, D))
    def forward(self, h, attention_mask, causal_attention_mask):
        h = h + self.self_attn(self.layer_norm1(h), attention_mask, causal_attention_mask)
        return h + self.mlp(self.layer_norm2(h))
class TextModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe, self.layers = nn.Embedding(50, D), nn.Embedding(6, D), nn.ModuleList(Layer() for _ in range(2))
    def forward(self, input_ids, attention_mask):
        h = self.wte(input_ids) + self.wpe(torch.arange(6))
        low = torch.finfo(h.dtype).min
        inverted = 1.0 - attention_mask[:, None, None, :].expand(-1, 1, 6, 6).to(h.dtype)
        mask = inverted.masked_fill(inverted.bool(), low)
        ahead = torch.full((6, 6), low).triu(1)[None, None]
        for layer in self.layers:
            h = layer(h, mask, ahead)
        return h
model = TextModel().eval()
run = lambda: model(ids, pad.long())
""", ('model(ids, pad.long()) -> model(ids, torch.ones(3, 6).long())',
     'low = torch.finfo(h.dtype).min -> low = -10000.0',
     '.triu(1) -> .masked_fill(causal, 0)'),
    ('triu(1) -> triu(2)',
     'triu(1) -> triu(0)',
     '(hidden_states) * self.scale -> (hidden_states)',
     '.view(bsz, H, tgt_len, d).transpose(1, 2).reshape( -> .view(H, bsz, tgt_len, d).permute(1, 2, 0, 3).reshape(',
     'inverted = 1.0 - attention -> inverted = attention',
     'h = layer(h, mask, ahead) -> h = layer(h, ahead, None)',
     'low = torch.finfo(h.dtype).min -> low = -1.0',
     'p=0.1, training=self.training -> p=0.1',
     'transpose(1, 2).reshape(bsz, tgt_len, embed_dim) -> reshape(bsz, tgt_len, embed_dim)'))
