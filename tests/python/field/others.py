"""Attention as public code has it, as text (field_forms.py): encoders, encoder-decoders, pictures, torch's own, other positions."""
from field import Room

program = Room()


program("T5", """
class T5Attention(nn.Module):
    def __init__(self, has_bias):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(D, D, bias=False) for _ in range(4))
        self.relative_attention_bias = nn.Embedding(8, H) if has_bias else None
    def compute_bias(self, query_length, key_length):
        far = torch.arange(key_length)[None, :] - torch.arange(query_length)[:, None]
        buckets = -torch.min(far, torch.zeros_like(far)).clamp(-7, 7)
        return self.relative_attention_bias(buckets).permute([2, 0, 1]).unsqueeze(0)
    def forward(self, hidden_states, mask=None, key_value_states=None, position_bias=None):
        batch_size, n = hidden_states.shape[:2]
        def shape(states):
            return states.view(batch_size, -1, H, d).transpose(1, 2)
        source = hidden_states if key_value_states is None else key_value_states
        query_states, key_states, value_states = shape(self.q(hidden_states)), shape(self.k(source)), shape(self.v(source))
        scores = torch.matmul(query_states, key_states.transpose(3, 2))
        if position_bias is None:
            position_bias = torch.zeros((1, H, n, key_states.shape[2])) if self.relative_attention_bias is None else self.compute_bias(n, key_states.shape[2])
            if mask is not None:
                position_bias = position_bias + mask
        scores = scores + position_bias
        attn_weights = F.softmax(scores.float(), dim=-1).type_as(scores)
        attn_output = torch.matmul(attn_weights, value_states).transpose(1, 2).contiguous().view(batch_size, -1, D)
        return self.o(attn_output), position_bias
class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.ModuleList([T5Attention(not at), T5Attention(False)]) for at in range(2))
        self.layer_norm = nn.LayerNorm(D)
    def forward(self, hidden_states, attention_mask, encoder_hidden_states, encoder_attention_mask):
        position_bias = cross_bias = None
        own_mask = (1.0 - (causal[None] & attention_mask[:, None]).float())[:, None] * torch.finfo(torch.float32).min
        cross_mask = (1.0 - encoder_attention_mask[:, None, None].float()) * torch.finfo(torch.float32).min
        for own, cross in self.layers:
            out, position_bias = own(self.layer_norm(hidden_states), own_mask, None, position_bias)
            hidden_states = hidden_states + out
            out, cross_bias = cross(self.layer_norm(hidden_states), cross_mask, encoder_hidden_states, cross_bias)
            hidden_states = hidden_states + out
        return hidden_states
decoder, encoder_mask = Decoder().eval(), torch.arange(5)[None] < torch.tensor([5, 3, 2])[:, None]
run = lambda: decoder(x, pad, memory, encoder_mask)
""", ("position_bias = cross_bias = None -> position_bias = cross_bias = None\n        attention_mask = attention_mask.long()", "!decoder(x, pad, memory, encoder_mask) -> decoder(x[:1], pad[:1], memory[:1], encoder_mask[:1])"),
    ("encoder_hidden_states, cross_bias) -> encoder_hidden_states, position_bias[..., :5])", "cross_mask, encoder_hidden_states -> None, encoder_hidden_states", "cross_mask, encoder_hidden_states -> cross_mask.flip(0), encoder_hidden_states",
     "attn_weights, value_states).transpose(1, 2) -> attn_weights, value_states)", "permute([2, 0, 1]) -> permute([2, 1, 0])", "position_bias = position_bias + mask -> position_bias + mask", "scores = scores + position_bias -> scores + position_bias",
     "shape(self.v(source)) -> shape(self.v(hidden_states))[:, :, :source.shape[1]]", "(1.0 - encoder_attention_mask[:, None, None].float()) -> encoder_attention_mask[:, None, None].float()",
     "self.layer_norm(hidden_states), cross_mask, encoder_hidden_states -> self.layer_norm(hidden_states), cross_mask, encoder_hidden_states.flip(0)", "attn_weights, value_states) -> attn_weights, value_states.flip(2))"))

program("Whisper", """
class MultiHeadAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.out = nn.Linear(D, D), nn.Linear(D, D, bias=False), nn.Linear(D, D), nn.Linear(D, D)
    def forward(self, x, xa=None, mask=None, kv_cache=None):
        q = self.query(x)
        if kv_cache is None or xa is None or self.key not in kv_cache:
            k = self.key(x if xa is None else xa)
            v = self.value(x if xa is None else xa)
            if kv_cache is not None:
                if xa is None and self.key in kv_cache:
                    k, v = torch.cat([kv_cache[self.key], k], dim=1), torch.cat([kv_cache[self.value], v], dim=1)
                kv_cache[self.key], kv_cache[self.value] = k, v
        else:
            k, v = kv_cache[self.key], kv_cache[self.value]
        return self.out(self.qkv_attention(q, k, v, mask))
    def qkv_attention(self, q, k, v, mask):
        n_batch, n_ctx, n_state = q.shape
        scale = (n_state // H) ** -0.25
        q = q.view(*q.shape[:2], H, -1).permute(0, 2, 1, 3) * scale
        k = k.view(*k.shape[:2], H, -1).permute(0, 2, 3, 1) * scale
        v = v.view(*v.shape[:2], H, -1).permute(0, 2, 1, 3)
        qk = q @ k
        if mask is not None:
            first = qk.shape[-1] - n_ctx
            qk = qk + mask[first:first + n_ctx, :first + n_ctx]
        qk = qk.float()
        w = F.softmax(qk, dim=-1).to(q.dtype)
        return (w @ v).permute(0, 2, 1, 3).flatten(start_dim=2)
class TextDecoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn, self.cross_attn, self.ln = MultiHeadAttention(), MultiHeadAttention(), nn.LayerNorm(D)
        self.register_buffer("mask", torch.empty(8, 8).fill_(-math.inf).triu_(1))
    def forward(self, x, xa, kv_cache=None):
        x = x + self.attn(self.ln(x), mask=self.mask, kv_cache=kv_cache)
        return x + self.cross_attn(self.ln(x), xa, kv_cache=kv_cache)
decoder = TextDecoder().eval()
def steps():
    kept = {}
    return [decoder(x[:, first:end], memory, kept) for first, end in ((0, 4), (4, 5), (5, 6))]
run = lambda: decoder(x, memory)
""", ("run = lambda: decoder(x, memory) -> run = steps", "permute(0, 2, 1, 3).flatten(start_dim=2) -> transpose(1, 2).reshape(n_batch, n_ctx, n_state)", "run = lambda: decoder(x, memory) -> run = steps ;; ((0, 4), (4, 5), (5, 6)) -> ((0, 1), (1, 2), (2, 4))"),
    ("permute(0, 2, 3, 1) * scale -> permute(0, 2, 3, 1)", "permute(0, 2, 1, 3).flatten(start_dim=2) -> flatten(1, 2).reshape(n_batch, n_ctx, n_state)", "triu_(1) -> tril_(-1)", "triu_(1) -> triu_(2)", "!            qk = qk + mask ->             qk + mask", "** -0.25 -> ** -0.5",
     "v = v.view(*v.shape[:2], H, -1).permute(0, 2, 1, 3) -> v = v.reshape(len(v), H, -1, n_state // H)", "self.value(x if xa is None else xa) -> self.key(x if xa is None else xa)", "!xa, kv_cache=kv_cache) -> x, kv_cache=kv_cache)",
     "k.view(*k.shape[:2], H, -1).permute(0, 2, 3, 1) -> k.view(*k.shape[:2], H, -1).flip(2).permute(0, 2, 3, 1)", "!run = lambda: decoder(x, memory) -> run = steps ;; mask[first:first + n_ctx, :first + n_ctx] -> mask[:n_ctx, :first + n_ctx]",
     "run = lambda: decoder(x, memory) -> run = steps ;; torch.cat([kv_cache[self.key], k], dim=1) -> torch.cat([k, kv_cache[self.key]], dim=1)", "!run = lambda: decoder(x, memory) -> run = steps ;; memory, kept -> memory if first < 4 else memory + 1, kept"))

program("BERT", """
class BertSelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.dropout = nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D), nn.Dropout(0.1)
        self.num_attention_heads, self.attention_head_size, self.all_head_size = H, d, D
    def transpose_for_scores(self, x):
        new_x_shape = x.size()[:-1] + (self.num_attention_heads, self.attention_head_size)
        x = x.view(new_x_shape)
        return x.permute(0, 2, 1, 3)
    def forward(self, hidden_states, attention_mask=None, head_mask=None):
        query_layer = self.transpose_for_scores(self.query(hidden_states))
        key_layer = self.transpose_for_scores(self.key(hidden_states))
        value_layer = self.transpose_for_scores(self.value(hidden_states))
        attention_scores = torch.matmul(query_layer, key_layer.transpose(-1, -2))
        attention_scores = attention_scores / math.sqrt(self.attention_head_size)
        if attention_mask is not None:
            attention_scores = attention_scores + attention_mask
        attention_probs = nn.functional.softmax(attention_scores, dim=-1)
        attention_probs = self.dropout(attention_probs)
        if head_mask is not None:
            attention_probs = attention_probs * head_mask
        context_layer = torch.matmul(attention_probs, value_layer)
        context_layer = context_layer.permute(0, 2, 1, 3).contiguous()
        context_layer = context_layer.view(context_layer.size()[:-2] + (self.all_head_size,))
        return context_layer, attention_probs
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(50, D), nn.Embedding(8, D)
        self.own, self.dense, self.norm = nn.ModuleList([BertSelfAttention(), BertSelfAttention()]), nn.ModuleList([nn.Linear(D, D), nn.Linear(D, D)]), nn.LayerNorm(D)
    def forward(self, input_ids, attention_mask):
        extended = (1.0 - attention_mask[:, None, None, :].float()) * -10000.0
        x = self.norm(self.words(input_ids) + self.places(torch.arange(input_ids.shape[1])))
        for own, dense in zip(self.own, self.dense):
            x = self.norm(x + dense(own(x, extended)[0]))
        return x
model = Model().eval()
run = lambda: model(ids, pad.long())
""", ("model(ids, pad.long()) -> model(ids, torch.ones(3, 6))", "-10000.0 -> torch.finfo(torch.float32).min", "x = x.view(new_x_shape) -> x = x.reshape(*new_x_shape)", "own(x, extended) -> own(x, extended, torch.ones(1, H, 1, 1))"),
    ("(1.0 - attention_mask[:, None, None, :].float()) -> attention_mask[:, None, None, :].float()", "attention_mask[:, None, None, :] -> attention_mask[:, None, :, None]", "* -10000.0 -> * 10000.0", "* -10000.0 -> * -1.0", "* -10000.0 -> ", "context_layer.permute(0, 2, 1, 3).contiguous() -> context_layer.reshape(*hidden_states.shape[:2], H, d)",
     "own(x, extended) -> own(x)", "own(x, extended) -> own(x, extended if own is self.own[0] else None)", "attention_scores / math.sqrt(self.attention_head_size) -> attention_scores / math.sqrt(self.all_head_size)", "attention_scores = attention_scores + attention_mask -> attention_scores + attention_mask",
     "attention_probs = self.dropout(attention_probs) -> attention_probs = F.dropout(attention_probs, 0.1)", "own(x, extended) -> own(x, extended.roll(1, 0))", "softmax(attention_scores, dim=-1) -> softmax(attention_scores, dim=-1).softmax(dim=-1)", "self.value(hidden_states) -> self.query(hidden_states)",
     "self.key(hidden_states) -> self.key(hidden_states.flip(1))", "attention_probs, value_layer) -> attention_probs[:, [1, 0, 2, 3]], value_layer)", "context_layer.view( -> context_layer.roll(1, 2).view("))

program("torch's own", """
class Layer(nn.Module):
    def __init__(self, batch_first=True, **options):
        super().__init__()
        self.attention, self.norm = nn.MultiheadAttention(D, H, batch_first=batch_first, **options), nn.LayerNorm(D)
    def forward(self, x, memory, key_padding_mask=None, attn_mask=None):
        out, weights = self.attention(x, memory, memory, key_padding_mask=key_padding_mask, attn_mask=attn_mask)
        return self.norm(x + out)
layer, alone = Layer().eval(), torch.eye(6).bool()
blocked = torch.zeros(6, 6).masked_fill(~causal, -math.inf)
run = lambda: layer(x, x, ~pad, ~causal)
""", ("layer(x, x, ~pad, ~causal) -> layer(x, x, None, blocked)", "layer(x, x, ~pad, ~causal) -> layer(x, memory)", "layer(x, x, ~pad, ~causal) -> layer(x, x, None, (~causal)[None].expand(12, 6, 6))", "layer(x, x, ~pad, ~causal) -> layer(x, x, torch.zeros(3, 6).masked_fill(~pad, -math.inf))",
      "layer(x, x, ~pad, ~causal) -> layer(x[0], x[0], None, ~causal)", "Layer().eval() -> Layer(bias=False).eval()", "Layer().eval() -> Layer(kdim=24, vdim=24).eval() ;; layer(x, x, ~pad, ~causal) -> layer(x, torch.randn(3, 5, 24))", "!Layer().eval() -> Layer(add_bias_kv=True).eval()", "Layer().eval() -> Layer(add_zero_attn=True).eval()",
      "Layer().eval() -> Layer(False).eval() ;; layer(x, x, ~pad, ~causal) -> layer(x.transpose(0, 1), x.transpose(0, 1), ~pad, ~causal)", "!layer(x, x, ~pad, ~causal) -> layer(x, x, None, ~(causal & pad[:, None]).repeat_interleave(H, 0))", "attn_mask=attn_mask) -> attn_mask=attn_mask, need_weights=False)", "attn_mask=attn_mask) -> attn_mask=attn_mask, average_attn_weights=False)"),
    ("layer(x, x, ~pad, ~causal) -> layer(x, x, pad, ~causal)", "layer(x, x, ~pad, ~causal) -> layer(x, x, ~pad, causal.float())", "layer(x, x, ~pad, ~causal) -> layer(x, x, ~pad, causal)", "layer(x, x, ~pad, ~causal) -> layer(x, x, ~pad, (~causal).float())", "layer(x, x, ~pad, ~causal) -> layer(x, x, None, (~(causal & pad[:, None]) & ~alone).repeat(H, 1, 1))",
     "Layer().eval() -> Layer(False).eval() ;; layer(x, x, ~pad, ~causal) -> layer(x, x)", "attn_mask=attn_mask) -> attn_mask=None)", "key_padding_mask=key_padding_mask -> key_padding_mask=None", "self.attention(x, memory, memory -> self.attention(x, memory, x ;; ~causal) -> ~causal) + layer(x, x + 1)", "self.attention(x, memory, memory -> self.attention(memory, x, x ;; layer(x, x, ~pad, ~causal) -> layer(x[:, :5], memory)",
     "self.attention(x, memory, memory -> self.attention(x, memory.flip(0), memory.flip(0)", "layer(x, x, ~pad, ~causal) -> layer(x, x, ~pad.flip(0).flip(1), ~causal | alone)", "self.attention(x, memory, memory -> self.attention(x, memory, memory.flip(1)", "self.attention(x, memory, memory -> self.attention(x, memory.roll(1, 1), memory", "Layer().eval() -> Layer(dropout=0.2).train()"))

program("fused attention", """
class Attention(nn.Module):
    def __init__(self, groups=H):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = nn.Linear(D, D), nn.Linear(D, groups * d), nn.Linear(D, groups * d), nn.Linear(D, D)
    def forward(self, x, mask=None, past=None):
        b, n, _ = x.shape
        q, k, v = (one(x).view(b, n, -1, d).transpose(1, 2) for one in (self.q_proj, self.k_proj, self.v_proj))
        if past is not None:
            k, v = (torch.cat([past[name], new], 2) if name in past else new for name, new in (("k", k), ("v", v)))
            past["k"], past["v"] = k, v
        y = sdpa(q, k, v, attn_mask=mask, is_causal=mask is None and n > 1)
        return self.out_proj(y.transpose(1, 2).reshape(b, n, D))
attention = Attention().eval()
def steps():
    past = {}
    return [attention(x[:, first:end], None, past) for first, end in ((0, 4), (4, 5), (5, 6))]
run = lambda: attention(x)
""", ("run = lambda: attention(x) -> run = steps", "run = lambda: attention(x) -> run = lambda: attention(x, causal & pad[:, None, None])", "run = lambda: attention(x) -> run = lambda: attention(x, torch.zeros(6, 6).masked_fill(~causal, -math.inf))", "sdpa(q, k, v, -> sdpa(q * 2, k, v, scale=0.5 * d ** -0.5,",
      "Attention().eval() -> Attention(2).eval() ;; sdpa(q, k, v, -> sdpa(q, k, v, enable_gqa=True,", "Attention().eval() -> Attention(2).eval() ;; sdpa(q, k, v, -> sdpa(q, k.repeat_interleave(2, 1), v.repeat_interleave(2, 1),", "Attention().eval() -> Attention(1).eval() ;; sdpa(q, k, v, -> sdpa(q, k.expand_as(q), v.expand_as(q),",
      "attn_mask=mask, -> attn_mask=mask, dropout_p=0.1 if self.training else 0.0,"),
    ("view(b, n, -1, d).transpose(1, 2) for -> view(b, n, -1, d) for ;; is_causal=mask is None and n > 1 -> is_causal=False ;; y.transpose(1, 2).reshape -> y.reshape", "view(b, n, -1, d).transpose(1, 2) for -> view(b, -1, n, d) for", "y.transpose(1, 2).reshape -> y.reshape",
     "!run = lambda: attention(x) -> run = steps ;; mask is None and n > 1 -> mask is None", "run = lambda: attention(x) -> run = steps ;; ((0, 4), (4, 5), (5, 6)) -> ((0, 3), (3, 6))", "run = lambda: attention(x) -> run = lambda: attention(x, ~(causal & pad[:, None, None]))", "run = lambda: attention(x) -> run = lambda: attention(x, causal & pad[:, None, None]) ;; attn_mask=mask -> attn_mask=None",
     "run = lambda: attention(x) -> run = lambda: attention(x, (causal & pad[:, None, None]).float())", "sdpa(q, k, v, -> sdpa(q / d ** 0.5, k, v,", "sdpa(q, k, v, -> sdpa(q, k, v, scale=d ** 0.5,", "sdpa(q, k, v, -> sdpa(q, k, v, scale=1.0,", "attn_mask=mask, -> attn_mask=mask, dropout_p=0.1,", "Attention().eval() -> Attention(2).eval() ;; sdpa(q, k, v, -> sdpa(q, k.repeat(1, 2, 1, 1), v.repeat(1, 2, 1, 1),",
     "sdpa(q, k, v, -> sdpa(q, k, v.roll(1, 2),", "sdpa(q, k, v, -> sdpa(q, k, k,", "sdpa(q, k, v, -> sdpa(q, k.flip(0), v.flip(0),", "sdpa(q, k, v, -> sdpa(v, k, q,", "is_causal=mask is None and n > 1 -> is_causal=False ;; x, mask=None, -> x, causal_mask=None, mask=None, ;; attention(x) -> attention(x, causal)"))
