"""Attention as public code has it, as text (field_forms.py): a textbook's, GPT, Llama, TensorFlow, Keras, x-transformers, ViT."""
from field import Room

program = Room()


program("a textbook's function", """
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
    def __init__(self):
        super().__init__()
        self.linears, self.dropout = nn.ModuleList([nn.Linear(D, D) for _ in range(4)]), nn.Dropout(0.1)
    def forward(self, query, key, value, mask=None):
        if mask is not None:
            mask = mask.unsqueeze(1)
        nbatches = query.size(0)
        query, key, value = [lin(x).view(nbatches, -1, H, d).transpose(1, 2) for lin, x in zip(self.linears, (query, key, value))]
        x, self.attn = attention(query, key, value, mask=mask, dropout=self.dropout)
        x = x.transpose(1, 2).contiguous().view(nbatches, -1, H * d)
        return self.linears[-1](x)
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.self_attn, self.src_attn, self.norms = MultiHeadedAttention(), MultiHeadedAttention(), nn.ModuleList([nn.LayerNorm(D) for _ in range(3)])
        self.ff = nn.Sequential(nn.Linear(D, 64), nn.ReLU(), nn.Linear(64, D))
    def forward(self, x, memory, src_mask, tgt_mask):
        y = self.norms[0](x)
        x = x + self.self_attn(y, y, y, tgt_mask)
        y = self.norms[1](x)
        x = x + self.src_attn(y, memory, memory, src_mask)
        return x + self.ff(self.norms[2](x))
layer = Layer().eval()
src_mask = (torch.arange(5)[None] < torch.tensor([5, 4, 2])[:, None])[:, None]
run = lambda: layer(x, memory, src_mask, causal[None] & pad[:, None])
""", ("scores.softmax(dim=-1) -> F.softmax(scores, dim=3)", "mask == 0, -1e9 -> ~mask, float('-inf')",
      "torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k) -> torch.einsum('bhqd,bhkd->bhqk', query, key) * d_k ** -0.5",
      "layer = Layer() -> layer = Layer().double() ;; layer(x, memory -> layer(x.double(), memory.double()"),
    ("mask == 0 -> mask == 1", "dim=-1 -> dim=-2", "dim=-1 -> dim=1", "x = x.transpose(1, 2).contiguous() -> x = x.contiguous()",
     "scores = scores.masked_fill(mask -> scores.masked_fill(mask", "y, memory, memory, src_mask -> y, memory, memory, None",
     "y, memory, memory, src_mask -> y, y, y, tgt_mask", "(y, memory, memory, src_mask) -> (memory, y, y, None)[:, [0, 1, 2, 3, 4, 0]]",
     "-1e9 -> 1e9", "-1e9 -> 1e-9", "-1e9 -> -1", "view(nbatches, -1, H, d).transpose(1, 2) -> view(nbatches, H, -1, d)",
     "/ math.sqrt(d_k) -> / math.sqrt(query.size(-2))", "key.transpose(-2, -1) -> key.reshape(*key.shape[:2], -1, key.shape[2])",
     "y, y, y, tgt_mask -> y, y, y, None", "y, y, y, tgt_mask -> y, y, y, pad[:, None]", "y, y, y, tgt_mask) -> y, y, y, tgt_mask.transpose(1, 2))",
     "y, memory, memory -> y, memory, memory.flip(0)", "y, memory, memory -> y, memory.roll(1, 0), memory.roll(1, 0)",
     "torch.matmul(p_attn, value), -> torch.matmul(p_attn.transpose(-2, -1), value) if value.shape[2] == 6 else p_attn @ value,",
     "p_attn = dropout(p_attn) -> p_attn = F.dropout(p_attn, 0.3)"))

program("nanoGPT", """
class CausalSelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.attn_dropout, self.resid_dropout = nn.Dropout(0.1), nn.Dropout(0.1)
        self.register_buffer("bias", torch.tril(torch.ones(8, 8)).view(1, 1, 8, 8))
    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(D, dim=2)
        k = k.view(B, T, H, C // H).transpose(1, 2)
        q = q.view(B, T, H, C // H).transpose(1, 2)
        v = v.view(B, T, H, C // H).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf"))
        att = F.softmax(att, dim=-1)
        att = self.attn_dropout(att)
        y = att @ v
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.resid_dropout(self.c_proj(y))
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.attn, self.ln_2, self.mlp = nn.LayerNorm(D), CausalSelfAttention(), nn.LayerNorm(D), nn.Sequential(nn.Linear(D, 64), nn.GELU(), nn.Linear(64, D))
    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))
class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe, self.h, self.ln_f = nn.Embedding(50, D), nn.Embedding(8, D), nn.ModuleList([Block() for _ in range(2)]), nn.LayerNorm(D)
        self.lm_head = nn.Linear(D, 50, bias=False)
    def forward(self, idx):
        x = self.wte(idx) + self.wpe(torch.arange(idx.shape[1]))
        for block in self.h:
            x = block(x)
        return self.lm_head(self.ln_f(x))
gpt = GPT().eval()
run = lambda: gpt(ids)
""", ("q, k, v = self.c_attn(x).split(D, dim=2) -> q, k, v = self.c_attn(x).chunk(3, -1)", "y = att @ v -> y = torch.einsum('bhts,bhsd->bhtd', att, v)",
      "gpt(ids) -> gpt(ids[:1])", "gpt(ids) -> gpt(ids[:, :1])", "for block in self.h: -> for block in [self.h[0]] * 3:",
      "att = F.softmax(att, dim=-1) -> att = F.softmax(att, dim=-1, dtype=torch.float32).to(q.dtype)", "float(\"-inf\") -> torch.finfo(att.dtype).min",
      "        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1))) ->         q, k, v = (t.reshape(B * H, T, d) for t in (q, k, v))\n        att = torch.baddbmm(torch.zeros(B * H, T, T), q, k.transpose(-2, -1), alpha=1 / math.sqrt(d)).view(B, H, T, T) ;; y = att @ v -> y = torch.bmm(att.view(B * H, T, T), v).view(B, H, T, d)",
      "x = x + self.attn(self.ln_1(x)) -> x = self.ln_1(x + self.attn(x))"),
    ("== 0 -> == 1", "torch.tril(torch.ones(8, 8)) -> torch.tril(torch.ones(8, 8), 1)", "torch.tril(torch.ones(8, 8)) -> torch.triu(torch.ones(8, 8))",
     "dim=-1) -> dim=0)", "* (1.0 / math.sqrt(k.size(-1))) -> / k.size(-1)", "* (1.0 / math.sqrt(k.size(-1))) -> ",
     "v = v.view(B, T, H, C // H).transpose(1, 2) -> v = v.reshape(B, H, T, C // H)", "k = k.view(B, T, H, C // H).transpose(1, 2) -> k = k.reshape(B, H, T, C // H)",
     "y = y.transpose(1, 2).contiguous().view(B, T, C) -> y = y.reshape(B, T, C)", "y = y.transpose(1, 2).contiguous() -> y = y.transpose(1, 3).contiguous()",
     "!att = att.masked_fill(self.bias -> att.masked_fill(self.bias", "self.wpe(torch.arange(idx.shape[1])) -> self.wpe(torch.arange(len(idx)))[:, None]",
     "        att = self.attn_dropout(att) ->         att = F.dropout(att, 0.1)", "!y = att @ v -> y = att[:, :1] @ v", "y = att @ v -> y = att @ v[:, :, :1].expand_as(v)",
     "        att = F.softmax(att, dim=-1) ->         att = F.softmax(att, dim=-1)\n        att = att.masked_fill(self.bias[:, :, :T, :T] == 0, 0.0) ;; att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float(\"-inf\")) -> pass",
     "y = att @ v -> y = att @ v.flip(1)", "y = att @ v -> y = (att @ v).mean(1, keepdim=True).expand(B, H, T, C // H)", "self.c_attn(x).split -> self.c_attn(x.mean(0, keepdim=True).expand_as(x)).split",
     "k = k.view( -> k = q.view(", "return x + self.mlp(self.ln_2(x)) -> return x + self.mlp(self.ln_2(x)).roll(-1, 1)"))

program("Llama of Hugging Face", """
def rotate_half(x):
    x1, x2 = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
    return torch.cat((-x2, x1), dim=-1)
def apply_rotary_pos_emb(q, k, cos, sin):
    cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)
    return (q * cos) + (rotate_half(q) * sin), (k * cos) + (rotate_half(k) * sin)
def repeat_kv(hidden_states, n_rep):
    batch, heads, slen, head_dim = hidden_states.shape
    hidden_states = hidden_states[:, :, None, :, :].expand(batch, heads, n_rep, slen, head_dim)
    return hidden_states.reshape(batch, heads * n_rep, slen, head_dim)
class LlamaAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj, self.o_proj = nn.Linear(D, D, bias=False), nn.Linear(D, D, bias=False)
        self.k_proj, self.v_proj = nn.Linear(D, 2 * d, bias=False), nn.Linear(D, 2 * d, bias=False)
    def forward(self, hidden_states, attention_mask, position_ids, past_key_value=None):
        b, n, _ = hidden_states.shape
        query_states = self.q_proj(hidden_states).view(b, n, -1, d).transpose(1, 2)
        key_states = self.k_proj(hidden_states).view(b, n, -1, d).transpose(1, 2)
        value_states = self.v_proj(hidden_states).view(b, n, -1, d).transpose(1, 2)
        freqs = position_ids[:, :, None].float() * (1.0 / 10000 ** (torch.arange(0, d, 2).float() / d))
        emb = torch.cat((freqs, freqs), dim=-1)
        query_states, key_states = apply_rotary_pos_emb(query_states, key_states, emb.cos(), emb.sin())
        if past_key_value is not None:
            if past_key_value:
                key_states, value_states = torch.cat([past_key_value[0], key_states], dim=2), torch.cat([past_key_value[1], value_states], dim=2)
            past_key_value[:] = key_states, value_states
        key_states, value_states = repeat_kv(key_states, 2), repeat_kv(value_states, 2)
        attn_weights = torch.matmul(query_states, key_states.transpose(2, 3)) / math.sqrt(d)
        attn_weights = attn_weights + attention_mask[:, :, :, : key_states.shape[-2]]
        attn_weights = F.softmax(attn_weights, dim=-1, dtype=torch.float32).to(query_states.dtype)
        attn_output = torch.matmul(attn_weights, value_states)
        return self.o_proj(attn_output.transpose(1, 2).contiguous().reshape(b, n, -1))
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.input_layernorm, self.self_attn = nn.LayerNorm(D), LlamaAttention()
    def forward(self, hidden_states, attention_mask, position_ids, past_key_value=None):
        return hidden_states + self.self_attn(self.input_layernorm(hidden_states), attention_mask, position_ids, past_key_value)
layer = Layer().eval()
def mask_of(allowed):
    return torch.zeros(allowed.shape).masked_fill(~allowed, torch.finfo(torch.float32).min)
whole = mask_of((causal[None] & pad.flip(1)[:, None] | torch.eye(6).bool())[:, None])
at = (pad.flip(1).long().cumsum(-1) - 1).clamp(0)
def steps():
    past = []
    out = [layer(x[:, :4], whole[:, :, :4, :4], at[:, :4], past)]
    return out + [layer(x[:, n:n + 1], whole[:, :, n:n + 1, :n + 1], at[:, n:n + 1], past) for n in (4, 5)]
run = lambda: layer(x, whole, at)
""", ("run = lambda: layer(x, whole, at) -> run = steps", "layer(x, whole, at) -> layer(x[:1], whole[:1], at[:1])", "at = (pad -> at = torch.arange(6)[None] + 0 * (pad",
      "layer = Layer().eval() -> layer = Layer().eval().bfloat16() ;; layer(x, whole, at) -> layer(x.bfloat16(), whole.bfloat16(), at) ;; emb.cos(), emb.sin() -> emb.cos().bfloat16(), emb.sin().bfloat16()",
      "/ math.sqrt(d) -> * 0.125 ** 0.5", "(batch, heads, n_rep, slen, head_dim) -> (-1, -1, n_rep, -1, -1)"),
    ("hidden_states[:, :, None, :, :].expand(batch, heads, n_rep, slen, head_dim) -> hidden_states[:, None].expand(batch, n_rep, heads, slen, head_dim)",
     "torch.cat((-x2, x1) -> torch.cat((x2, x1)", "torch.cat((-x2, x1) -> torch.cat((-x1, x2)", "emb.cos(), emb.sin() -> emb.sin(), emb.cos()",
     "(k * cos) + (rotate_half(k) * sin) -> k", "repeat_kv(value_states, 2) -> value_states.repeat(1, 2, 1, 1)",
     "run = lambda: layer(x, whole, at) -> run = steps ;; at[:, n:n + 1], past -> at[:, :1], past", "run = lambda: layer(x, whole, at) -> run = steps ;; at[:, n:n + 1], past -> at[:, n:n + 1] + 1, past",
     "run = lambda: layer(x, whole, at) -> run = steps ;; torch.cat([past_key_value[0], key_states], dim=2) -> torch.cat([key_states, past_key_value[0]], dim=2)",
     "run = lambda: layer(x, whole, at) -> run = steps ;; past_key_value[:] = key_states, value_states -> past_key_value[:] = key_states, key_states",
     "run = lambda: layer(x, whole, at) -> run = steps ;; past_key_value[:] = key_states, value_states -> past_key_value[:] = key_states.flip(0), value_states",
     "whole = mask_of((causal[None] & pad.flip(1)[:, None] -> whole = -mask_of((causal[None] & pad.flip(1)[:, None]", "attn_weights + attention_mask -> attn_weights * attention_mask",
     "        attn_weights = attn_weights + attention_mask[:, :, :, : key_states.shape[-2]] ->         pass", "layer(x, whole, at) -> layer(x, whole.roll(1, 0), at)",
     "layer(x, whole, at) -> layer(x, whole.transpose(2, 3), at)", "layer(x, whole, at) -> layer(x, whole, at.flip(1))", "dtype=torch.float32).to(query_states.dtype) -> dtype=torch.float32).round()",
     "cos.unsqueeze(1), sin.unsqueeze(1) -> cos[:, None].flip(0), sin[:, None].flip(0)"))

program("Llama of Meta", """
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.wq, self.wk, self.wv, self.wo = nn.Linear(D, D, bias=False), nn.Linear(D, 2 * d, bias=False), nn.Linear(D, 2 * d, bias=False), nn.Linear(D, D, bias=False)
        self.cache_k, self.cache_v = torch.zeros(4, 16, 2, d), torch.zeros(4, 16, 2, d)
    def forward(self, x, start_pos, freqs_cis, mask):
        bsz, seqlen, _ = x.shape
        xq, xk, xv = self.wq(x), self.wk(x), self.wv(x)
        xq, xk, xv = xq.view(bsz, seqlen, H, d), xk.view(bsz, seqlen, 2, d), xv.view(bsz, seqlen, 2, d)
        def turned(one):
            pairs = torch.view_as_complex(one.float().reshape(*one.shape[:-1], -1, 2))
            return torch.view_as_real(pairs * freqs_cis[None, :, None]).flatten(3).type_as(one)
        xq, xk = turned(xq), turned(xk)
        self.cache_k[:bsz, start_pos : start_pos + seqlen] = xk
        self.cache_v[:bsz, start_pos : start_pos + seqlen] = xv
        keys, values = self.cache_k[:bsz, : start_pos + seqlen], self.cache_v[:bsz, : start_pos + seqlen]
        keys, values = keys.repeat_interleave(2, 2), values.repeat_interleave(2, 2)
        xq, keys, values = xq.transpose(1, 2), keys.transpose(1, 2), values.transpose(1, 2)
        scores = torch.matmul(xq, keys.transpose(2, 3)) / math.sqrt(d)
        if mask is not None:
            scores = scores + mask
        scores = F.softmax(scores.float(), dim=-1).type_as(xq)
        output = torch.matmul(scores, values)
        return self.wo(output.transpose(1, 2).contiguous().view(bsz, seqlen, -1))
freqs = torch.outer(torch.arange(16).float(), 1.0 / 10000 ** (torch.arange(0, d, 2).float() / d))
freqs_cis = torch.polar(torch.ones_like(freqs), freqs)
attention = Attention().eval()
def run():
    out = []
    for start, end in ((0, 4), (4, 5), (5, 6)):
        n = end - start
        mask = torch.hstack([torch.zeros(n, start), torch.full((n, n), float("-inf")).triu(1)]) if n > 1 else None
        out.append(attention(x[:, start:end], start, freqs_cis[start:end], mask))
    return out
""", ("((0, 4), (4, 5), (5, 6)) -> ((0, 3), (3, 6))", "((0, 4), (4, 5), (5, 6)) -> ((0, 1), (1, 2), (2, 6))", "keys.repeat_interleave(2, 2), values.repeat_interleave(2, 2) -> (one[:, :, :, None].expand(-1, -1, -1, 2, -1).reshape(bsz, -1, H, d) for one in (keys, values))"),
    ("start, freqs_cis[start:end] -> start, freqs_cis[:n]", "!= xv -> = xk", "self.cache_v[:bsz, start_pos : start_pos + seqlen] = -> self.cache_v[:bsz, :seqlen] =",
     "= xv -> = xv.flip(0)", "turned(xq), turned(xk) -> turned(xq), xk", "keys.repeat_interleave(2, 2), -> keys.repeat(1, 1, 2, 1),",
     "((0, 4), (4, 5), (5, 6)) -> ((0, 3), (3, 6)) ;; torch.zeros(n, start), torch.full((n, n), float(\"-inf\")).triu(1) -> torch.full((n, start + n), float(\"-inf\")).triu(1)",
     "attention(x[:, start:end], start, -> attention(x[:, start:end], max(start - 1, 0),", "= self.cache_k[:bsz, : start_pos + seqlen] -> = self.cache_k[1:1 + bsz, : start_pos + seqlen]",
     "/ math.sqrt(d) -> / math.sqrt(D)", "output.transpose(1, 2).contiguous() -> output.contiguous()", "self.cache_v[:bsz, : start_pos + seqlen] -> self.cache_v[:bsz, 1 : start_pos + seqlen + 1]"))

program("TensorFlow, heads first", """
def multihead_attention(self, queries, keys, key_masks, causality):
    Q, K, V = self.q(queries), self.k(keys), self.v(keys)
    Q_ = torch.cat(Q.split(d, 2), 0)
    K_ = torch.cat(K.split(d, 2), 0)
    V_ = torch.cat(V.split(d, 2), 0)
    outputs = torch.matmul(Q_, K_.transpose(1, 2))
    outputs = outputs / K_.shape[-1] ** 0.5
    key_masks = key_masks.repeat(H, 1)[:, None].repeat(1, queries.shape[1], 1)
    paddings = torch.ones_like(outputs) * (-2 ** 32 + 1)
    outputs = torch.where(key_masks == 0, paddings, outputs)
    if causality:
        tril = torch.tril(torch.ones_like(outputs[0]))
        masks = tril[None].repeat(outputs.shape[0], 1, 1)
        outputs = torch.where(masks == 0, paddings, outputs)
    outputs = F.softmax(outputs, -1)
    outputs = torch.matmul(outputs, V_)
    outputs = torch.cat(outputs.split(len(queries), 0), 2)
    return self.o(outputs)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o, self.norm = nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D), nn.LayerNorm(D)
    def forward(self, x, mask):
        return self.norm(x + multihead_attention(self, x, x, mask, True))
model = Model().eval()
run = lambda: model(x, pad)
""", ("True) -> False)", "torch.where(key_masks == 0, paddings, outputs) -> torch.where(key_masks > 0, outputs, paddings)", "(-2 ** 32 + 1) -> -1e30",
      "!outputs.split(len(queries), 0) -> outputs.chunk(H, 0)"),
    ("key_masks.repeat(H, 1) -> key_masks.repeat_interleave(H, 0)", "torch.cat(outputs.split(len(queries), 0), 2) -> torch.cat(outputs.split(len(queries), 0)[::-1], 2)",
     "torch.cat(V.split(d, 2), 0) -> torch.cat(V.split(d, 2)[::-1], 0)", "torch.cat(K.split(d, 2), 0) -> torch.stack(K.split(d, 2), 1).flatten(0, 1)", "torch.cat(outputs.split(len(queries), 0), 2) -> outputs.reshape(len(queries), -1, D)",
     "!key_masks == 0 -> key_masks == 1", "K_.shape[-1] ** 0.5 -> K.shape[-1] ** 0.5", "torch.tril(torch.ones -> torch.triu(torch.ones", "torch.where(key_masks == 0, paddings, outputs) -> torch.where(key_masks == 0, outputs, paddings)",
     "        outputs = torch.where(masks == 0 ->         torch.where(masks == 0", "self.k(keys), self.v(keys) -> self.k(keys), self.k(keys)", "F.softmax(outputs, -1) -> F.softmax(outputs, 1)", "torch.cat(Q.split(d, 2), 0) -> Q.reshape(-1, queries.shape[1], d)"))

program("Keras", """
class MultiHeadAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query_kernel, self.key_kernel, self.value_kernel = (nn.Parameter(torch.randn(D, H, d) / 6) for _ in range(3))
        self.query_bias, self.key_bias, self.value_bias = (nn.Parameter(torch.randn(H, d)) for _ in range(3))
        self.output_kernel, self.output_bias = nn.Parameter(torch.randn(H, d, D) / 6), nn.Parameter(torch.randn(D))
    def forward(self, query, value, attention_mask=None):
        q = torch.einsum("abc,cde->abde", query, self.query_kernel) + self.query_bias
        k = torch.einsum("abc,cde->abde", value, self.key_kernel) + self.key_bias
        v = torch.einsum("abc,cde->abde", value, self.value_kernel) + self.value_bias
        q = q * (1.0 / math.sqrt(d))
        attention_scores = torch.einsum("aecd,abcd->acbe", k, q)
        if attention_mask is not None:
            attention_scores = attention_scores + (1.0 - attention_mask[:, None].float()) * -1e9
        attention_scores = torch.softmax(attention_scores, -1)
        attention_output = torch.einsum("acbe,aecd->abcd", attention_scores, v)
        return torch.einsum("abcd,cde->abe", attention_output, self.output_kernel) + self.output_bias
layer = MultiHeadAttention().eval()
run = lambda: layer(x, x, causal[None] & pad[:, None])
""", ("layer(x, x, causal[None] & pad[:, None]) -> layer(x, memory)", "attention_mask[:, None].float()) * -1e9 -> attention_mask[:, None].float()) * -3e38", "layer(x, x, causal[None] & pad[:, None]) -> layer(x[:1, :1], x[:1, :1])"),
    ("torch.softmax(attention_scores, -1) -> torch.softmax(attention_scores, -2)", "torch.einsum(\"acbe,aecd->abcd\", attention_scores, v) -> torch.einsum(\"aceb,aecd->abcd\", attention_scores, v)",
     "(1.0 - attention_mask[:, None].float()) -> attention_mask[:, None].float()", "        q = q * (1.0 / math.sqrt(d)) -> ", "\"aecd,abcd->acbe\" -> \"abcd,aecd->acbe\"",
     "\"abcd,cde->abe\", attention_output -> \"abcd,cde->abe\", attention_output.flip(2)", "value, self.value_kernel) + self.value_bias -> query, self.query_kernel) + self.value_bias",
     "-1e9 -> -1.0", "layer(x, x, causal[None] & pad[:, None]) -> layer(x, x, (causal[None] & pad[:, None]).transpose(1, 2))", "attention_scores, v) -> attention_scores, v.roll(1, 1))",
     "\"abcd,cde->abe\", attention_output -> \"abcd,cde->abe\", attention_output.transpose(1, 2).reshape(attention_output.shape)"))

program("x-transformers", """
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.to_q, self.to_k, self.to_v, self.to_out = (nn.Linear(D, D, bias=False) for _ in range(4))
        self.mem_k, self.mem_v = nn.Parameter(torch.randn(H, 2, d)), nn.Parameter(torch.randn(H, 2, d))
        self.pre, self.post, self.scale, self.norm = nn.Parameter(torch.eye(H)), nn.Parameter(torch.eye(H)), d ** -0.5, nn.LayerNorm(D)
    def forward(self, x, context=None, mask=None, context_mask=None):
        b, n, _ = x.shape
        x = self.norm(x)
        kv_input = x if context is None else context
        q, k, v = (t.reshape(b, -1, H, d).permute(0, 2, 1, 3) for t in (self.to_q(x), self.to_k(kv_input), self.to_v(kv_input)))
        dots = torch.einsum("b h i d, b h j d -> b h i j", q, k) * self.scale
        mask_value = -torch.finfo(dots.dtype).max
        input_mask = mask if context is None else context_mask
        if input_mask is not None:
            dots.masked_fill_(~input_mask[:, None, None, :], mask_value)
        if context is None:
            i, j = dots.shape[-2:]
            r = torch.arange(i)
            causal_mask = r[:, None] < r[None, :]
            dots.masked_fill_(causal_mask[None, None], mask_value)
        attn = dots.softmax(dim=-1)
        out = torch.einsum("b h i j, b h j d -> b h i d", attn, v)
        out = out.permute(0, 2, 1, 3).reshape(b, n, H * d)
        return self.to_out(out)
class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.own, self.cross = Attention(), Attention()
    def forward(self, x, context, mask, context_mask):
        x = x + self.own(x, mask=mask)
        return x + self.cross(x, context, context_mask=context_mask)
decoder, context_mask = Decoder().eval(), torch.arange(5)[None] < torch.tensor([5, 3, 2])[:, None]
run = lambda: decoder(x, memory, pad, context_mask)
""", ("dots.masked_fill_(causal_mask[None, None], mask_value) -> dots = dots.masked_fill(causal_mask, mask_value)",
      "attn = dots.softmax(dim=-1) -> attn = (dots - dots.amax(-1, keepdim=True).detach()).softmax(dim=-1)",
      "r[:, None] < r[None, :] -> torch.ones(i, j, dtype=torch.bool).triu(j - i + 1)", "run = lambda: decoder -> decoder = decoder.double()\nx, memory = x.double(), memory.double()\nrun = lambda: decoder"),
    ("r[:, None] < r[None, :] -> r[:, None] > r[None, :]", "r[:, None] < r[None, :] -> r[:, None] <= r[None, :]", "~input_mask[:, None, None, :] -> input_mask[:, None, None, :]",
     "~input_mask[:, None, None, :] -> ~input_mask.flip(0)[:, None, None, :]", "dots.masked_fill_(~ -> dots.masked_fill(~", "!dots.masked_fill_(causal_mask -> dots.masked_fill(causal_mask",
     "self.to_v(kv_input) -> self.to_v(kv_input.roll(1, 1))", "self.to_k(kv_input) -> self.to_k(kv_input.roll(1, 0))", "attn, v) -> attn, v.roll(1, 1))", "self.scale, self.norm = nn -> self.scale, self.norm = None, nn ;; * self.scale ->  ;; (torch.eye(H)), d ** -0.5, -> (torch.eye(H)),  ;; self.scale, self.norm = None -> self.scale, self.norm = None",
     "context_mask=context_mask) -> context_mask=None)", "x = x + self.own(x, mask=mask) -> x = x + self.own(x)", "self.cross(x, context, -> self.cross(context, x, ;; decoder(x, memory, pad -> decoder(x[:, :5], memory, pad[:, :5]", "out.permute(0, 2, 1, 3).reshape(b, n, H * d) -> out.permute(0, 2, 3, 1).reshape(b, n, H * d)",
     "out.permute(0, 2, 1, 3).reshape(b, n, H * d) -> out.reshape(b, n, H * d)", "mask_value = -torch.finfo(dots.dtype).max -> mask_value = torch.finfo(dots.dtype).tiny"))

program("ViT", """
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.proj, self.scale = nn.Linear(D, D * 3), nn.Linear(D, D), d ** -0.5
    def forward(self, x):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, H, C // H).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        attn = (q @ k.transpose(-2, -1)) * self.scale
        attn = attn.softmax(dim=-1)
        x = (attn @ v).transpose(1, 2).reshape(B, N, C)
        return self.proj(x)
class VisionTransformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch_embed = nn.Conv2d(3, D, 4, 4)
        self.cls_token, self.pos_embed = nn.Parameter(torch.randn(1, 1, D)), nn.Parameter(torch.randn(1, 10, D))
        self.blocks, self.norms = nn.ModuleList([Attention() for _ in range(2)]), nn.ModuleList([nn.LayerNorm(D) for _ in range(3)])
        self.head = nn.Linear(D, 10)
    def forward(self, images):
        x = self.patch_embed(images).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls_token.expand(x.shape[0], -1, -1), x], 1) + self.pos_embed
        for block, norm in zip(self.blocks, self.norms):
            x = x + block(norm(x))
        return self.head(self.norms[2](x)[:, 0])
vit = VisionTransformer().eval()
images = torch.randn(3, 3, 12, 12)
run = lambda: vit(images)
""", ("q, k, v = qkv.unbind(0) -> q, k, v = qkv[0], qkv[1], qkv[2]", "self.norms[2](x)[:, 0] -> self.norms[2](x)[:, 1:].mean(1)", "vit(images) -> vit(images[:1])", ".reshape(B, N, 3, H, C // H).permute(2, 0, 3, 1, 4) -> .reshape(B, N, H, 3, C // H).permute(3, 0, 2, 1, 4)",
      "!.reshape(B, N, 3, H, C // H).permute(2, 0, 3, 1, 4) -> .reshape(B, N, 3, C // H, H).permute(2, 0, 4, 1, 3) ;; (attn @ v).transpose(1, 2) -> (attn @ v).permute(0, 2, 3, 1)", "x = (attn @ v) -> x = (attn @ v + v * 0.0)"),
    ("permute(2, 0, 3, 1, 4) -> permute(2, 0, 1, 3, 4)", ".reshape(B, N, 3, H, C // H).permute(2, 0, 3, 1, 4) -> .reshape(3, B, H, N, C // H)", ".reshape(B, N, 3, H, C // H).permute(2, 0, 3, 1, 4) -> .reshape(B, 3, H, N, C // H).permute(1, 0, 2, 3, 4)",
     "(attn @ v).transpose(1, 2) -> (attn @ v)", "attn.softmax(dim=-1) -> attn.softmax(dim=1)", "attn.softmax(dim=-1) -> attn.softmax(dim=2)", "* self.scale -> / self.scale", "q, k, v = qkv.unbind(0) -> q, k, v = qkv[0], qkv[1], qkv[1]", "!q, k, v = qkv.unbind(0) -> q, k, v = qkv[0], qkv[0], qkv[2]",
     "(attn @ v) -> (attn.transpose(-2, -1) @ v)", "(attn @ v) -> (attn.roll(1, 1) @ v)", "(attn @ v) -> (attn @ v.roll(1, 2))", "!flatten(2).transpose(1, 2) -> flatten(2).transpose(1, 2).flip(0) ;; x = x + block -> x = x + x.flip(0) + block", "!x = x + block(norm(x)) -> x = x + block(norm(x).transpose(0, 1)).transpose(0, 1)"))
