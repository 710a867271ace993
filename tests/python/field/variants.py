"""Attention as public code has it, as text (field_forms.py): windows, groups, packed projections, ALiBi, adapters, latents."""
from field import Room

program = Room()


program("Swin", """
def window_partition(x, size):
    b, h, w, c = x.shape
    x = x.view(b, h // size, size, w // size, size, c)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, size, size, c)
def window_reverse(windows, size, h, w):
    b = int(windows.shape[0] / (h * w / size / size))
    x = windows.view(b, h // size, w // size, size, size, -1)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(b, h, w, -1)
class WindowAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.proj, self.relative_position_bias_table = nn.Linear(D, 3 * D), nn.Linear(D, D), nn.Parameter(torch.randn(9, H))
        places = torch.stack(torch.meshgrid(torch.arange(2), torch.arange(2), indexing="ij")).flatten(1)
        far = places[:, :, None] - places[:, None] + 1
        self.register_buffer("relative_position_index", far[0] * 3 + far[1])
    def forward(self, x, mask=None):
        B_, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B_, N, 3, H, C // H).permute(2, 0, 3, 1, 4)
        q = q * (C // H) ** -0.5
        attn = q @ k.transpose(-2, -1)
        bias = self.relative_position_bias_table[self.relative_position_index.view(-1)].view(N, N, -1).permute(2, 0, 1).contiguous()
        attn = attn + bias.unsqueeze(0)
        if mask is not None:
            nW = mask.shape[0]
            attn = attn.view(B_ // nW, nW, H, N, N) + mask.unsqueeze(1).unsqueeze(0)
            attn = attn.view(-1, H, N, N)
        attn = attn.softmax(-1)
        x = (attn @ v).transpose(1, 2).reshape(B_, N, C)
        return self.proj(x)
class Block(nn.Module):
    def __init__(self, shift):
        super().__init__()
        self.attn, self.norm1, self.shift = WindowAttention(), nn.LayerNorm(D), shift
        mask = None
        if shift:
            img = torch.zeros(1, 4, 4, 1)
            for at, (h, w) in enumerate((h, w) for h in (slice(0, -2), slice(-2, -1), slice(-1, None)) for w in (slice(0, -2), slice(-2, -1), slice(-1, None))):
                img[:, h, w] = at
            of = window_partition(img, 2).view(-1, 4)
            mask = (of[:, None] - of[:, :, None]).ne(0).float() * -100.0
        self.register_buffer("attn_mask", mask)
    def forward(self, x):
        shortcut, x = x, self.norm1(x)
        x = x.roll((-1, -1), (1, 2)) if self.shift else x
        windows = window_partition(x, 2).view(-1, 4, D)
        windows = self.attn(windows, mask=self.attn_mask)
        x = window_reverse(windows.view(-1, 2, 2, D), 2, 4, 4)
        x = x.roll((1, 1), (1, 2)) if self.shift else x
        return shortcut + x
swin, images = nn.Sequential(Block(False), Block(True)).eval(), torch.randn(2, 4, 4, D)
run = lambda: swin(images)
""", ("-100.0 -> -1e9", "q, k, v = self.qkv(x).reshape(B_, N, 3, H, C // H).permute(2, 0, 3, 1, 4) -> q, k, v = self.qkv(x).reshape(B_, N, 3, H, C // H).permute(2, 0, 3, 1, 4).unbind(0)", "swin(images) -> swin(images[:1])"),
    ("!(attn @ v).transpose(1, 2) -> (attn @ v)", "attn.softmax(-1) -> attn.softmax(-2)", "        q = q * (C // H) ** -0.5 -> ", "x = window_reverse(windows.view(-1, 2, 2, D), 2, 4, 4) -> x = window_reverse(windows.flip(0).view(-1, 2, 2, D), 2, 4, 4)", "attn @ v) -> attn @ v.flip(0))", "k.transpose(-2, -1) -> q.transpose(-2, -1)",
     "            attn = attn.view(B_ // nW, nW, H, N, N) + mask.unsqueeze(1).unsqueeze(0) ->             attn.view(B_ // nW, nW, H, N, N) + mask.unsqueeze(1).unsqueeze(0)", "-100.0 -> 100.0"))

program("GPT-BigCode", """
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(D, D + 2 * d), nn.Linear(D, D)
        self.register_buffer("bias", torch.ones(8, 8).tril().bool())
    def forward(self, hidden_states, attention_mask=None, layer_past=None):
        batch, n = hidden_states.shape[:2]
        query, key_value = self.c_attn(hidden_states).split((D, 2 * d), dim=2)
        if layer_past is not None and layer_past:
            key_value = torch.cat((layer_past[0], key_value), dim=-2)
        if layer_past is not None:
            layer_past[:] = [key_value]
        key, value = key_value.split((d, d), dim=-1)
        key = key.transpose(-1, -2)
        length = key.shape[-1]
        query = query.reshape(batch, n * H, d)
        attn_weights = torch.baddbmm(torch.zeros(batch, n * H, length), query, key, alpha=d ** -0.5).view(batch, n, H, length)
        mask = self.bias[None, length - n:length, :length].unsqueeze(2)
        if attention_mask is not None:
            mask = mask & attention_mask[:, None, None]
        attn_weights = torch.where(mask, attn_weights, torch.full([], torch.finfo(torch.float32).min))
        attn_weights = F.softmax(attn_weights, dim=-1)
        attn_output = torch.bmm(attn_weights.view(batch, n * H, length), value).view(batch, n, D)
        return self.c_proj(attn_output)
attention = Attention().eval()
def steps():
    past = []
    return [attention(x[:, first:end], None, past) for first, end in ((0, 4), (4, 5), (5, 6))]
run = lambda: attention(x, pad)
""", ("!run = lambda: attention(x, pad) -> run = steps", "attention(x, pad) -> attention(x)", "torch.where(mask, attn_weights, torch.full([], torch.finfo(torch.float32).min)) -> attn_weights.masked_fill(~mask, -math.inf)"),
    ("torch.where(mask, attn_weights, torch.full([], torch.finfo(torch.float32).min)) -> torch.where(mask, torch.full([], torch.finfo(torch.float32).min), attn_weights)", "alpha=d ** -0.5 -> alpha=d ** 0.5", "alpha=d ** -0.5 -> alpha=1.0", "key, value = key_value.split((d, d), dim=-1) -> value, key = key_value.split((d, d), dim=-1)\n        value = key",
     "mask = mask & attention_mask[:, None, None] -> mask = mask & ~attention_mask[:, None, None]", "mask = mask & attention_mask[:, None, None] -> mask & attention_mask[:, None, None]", "length - n:length, :length] -> :n, :length] ;; run = lambda: attention(x, pad) -> run = steps", "value).view(batch, n, D) -> value).view(batch, H, n, d).transpose(1, 2).reshape(batch, n, D)",
     "query = query.reshape(batch, n * H, d) -> query = query.view(batch, n, H, d).transpose(1, 2).reshape(batch, n * H, d)", "layer_past[:] = [key_value] -> layer_past[:] = [key_value.flip(1)] ;; run = lambda: attention(x, pad) -> run = steps"))

program("Bloom", """
class BloomAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query_key_value, self.dense = nn.Linear(D, 3 * D), nn.Linear(D, D)
    def forward(self, hidden_states, residual, alibi, attention_mask):
        fused_qkv = self.query_key_value(hidden_states)
        b, n, _ = fused_qkv.shape
        fused_qkv = fused_qkv.view(b, n, H, 3, d)
        query_layer, key_layer, value_layer = fused_qkv[..., 0, :], fused_qkv[..., 1, :], fused_qkv[..., 2, :]
        query_layer = query_layer.transpose(1, 2).reshape(b * H, n, d)
        key_layer = key_layer.permute(0, 2, 3, 1).reshape(b * H, d, n)
        value_layer = value_layer.transpose(1, 2).reshape(b * H, n, d)
        matmul_result = alibi.baddbmm(batch1=query_layer, batch2=key_layer, beta=1.0, alpha=1.0 / math.sqrt(d))
        attention_scores = matmul_result.view(b, H, n, n)
        attn_weights = torch.masked_fill(attention_scores, attention_mask, torch.finfo(attention_scores.dtype).min)
        attention_probs = F.softmax(attn_weights, dim=-1, dtype=torch.float32).to(query_layer.dtype)
        attention_probs = attention_probs.view(b * H, n, n)
        context_layer = torch.bmm(attention_probs, value_layer)
        context_layer = context_layer.view(b, H, n, d).permute(0, 2, 1, 3).reshape(b, n, D)
        return self.dense(context_layer) + residual
def build_alibi(attention_mask):
    slopes = 2.0 ** (-8.0 / H * torch.arange(1, H + 1))
    places = ((attention_mask.cumsum(-1) - 1) * attention_mask)[:, None]
    return (slopes[..., None] * places).reshape(-1, 1, attention_mask.shape[1])
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.own, self.norm = BloomAttention(), nn.LayerNorm(D)
    def forward(self, x, attention_mask):
        blocked = ~(causal & attention_mask[:, None].bool())[:, None]
        return self.own(self.norm(x), x, build_alibi(attention_mask), blocked)
model = Model().eval()
run = lambda: model(x, pad.long())
""", ("model(x, pad.long()) -> model(x, torch.ones(3, 6).long())", "model(x, pad.long()) -> model(x[:1], pad[:1].long())"),
    ("beta=1.0 -> beta=-1.0", "beta=1.0, alpha=1.0 / math.sqrt(d) -> beta=1.0, alpha=1.0", "view(b, H, n, d).permute(0, 2, 1, 3) -> view(b, n, H, d)", "attention_scores, attention_mask, -> attention_scores, ~attention_mask,", "key_layer.permute(0, 2, 3, 1).reshape(b * H, d, n) -> key_layer.transpose(1, 2).reshape(b * H, d, n)",
     "fused_qkv[..., 1, :], fused_qkv[..., 2, :] -> fused_qkv[..., 1, :], fused_qkv[..., 1, :]", "!build_alibi(attention_mask), blocked -> build_alibi(attention_mask), blocked.flip(0)", "(-8.0 / H -> (8.0 / H", "view(b * H, n, n) -> transpose(0, 1).reshape(b * H, n, n)", "value_layer = value_layer.transpose(1, 2).reshape(b * H, n, d) -> value_layer = value_layer.permute(2, 0, 1, 3).reshape(b * H, n, d)"))

program("fairseq", """
class MultiheadAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.out_proj, self.scaling = nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D), d ** -0.5
    def forward(self, query, key, value, key_padding_mask=None, attn_mask=None):
        tgt_len, bsz, _ = query.size()
        q, k, v = self.q_proj(query) * self.scaling, self.k_proj(key), self.v_proj(value)
        q = q.contiguous().view(tgt_len, bsz * H, d).transpose(0, 1)
        k = k.contiguous().view(-1, bsz * H, d).transpose(0, 1)
        v = v.contiguous().view(-1, bsz * H, d).transpose(0, 1)
        attn_weights = torch.bmm(q, k.transpose(1, 2))
        if attn_mask is not None:
            attn_weights = attn_weights + attn_mask.unsqueeze(0)
        if key_padding_mask is not None:
            attn_weights = attn_weights.view(bsz, H, tgt_len, -1)
            attn_weights = attn_weights.masked_fill(key_padding_mask.unsqueeze(1).unsqueeze(2), float("-inf"))
            attn_weights = attn_weights.view(bsz * H, tgt_len, -1)
        attn_probs = F.softmax(attn_weights.float(), dim=-1).type_as(attn_weights)
        attn = torch.bmm(attn_probs, v)
        attn = attn.transpose(0, 1).contiguous().view(tgt_len, bsz, D)
        return self.out_proj(attn)
class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.self_attn, self.encoder_attn, self.norm = MultiheadAttention(), MultiheadAttention(), nn.LayerNorm(D)
    def forward(self, x, encoder_out, encoder_padding_mask, own_mask):
        y = self.norm(x)
        x = x + self.self_attn(y, y, y, attn_mask=own_mask)
        return x + self.encoder_attn(self.norm(x), encoder_out, encoder_out, key_padding_mask=encoder_padding_mask)
decoder, late = Decoder().eval(), torch.arange(5)[None] >= torch.tensor([5, 3, 2])[:, None]
own_mask = torch.zeros(6, 6).masked_fill(~causal, -math.inf)
run = lambda: decoder(x.transpose(0, 1), memory.transpose(0, 1), late, own_mask)
""", ("attn.transpose(0, 1).contiguous().view(tgt_len, bsz, D) -> attn.permute(1, 0, 2).reshape(tgt_len, bsz, D)",),
    ("attn_weights.view(bsz, H, tgt_len, -1) -> attn_weights.view(H, bsz, tgt_len, -1).transpose(0, 1) ;; attn_weights.view(bsz * H, tgt_len, -1) -> attn_weights.transpose(0, 1).reshape(bsz * H, tgt_len, -1)", "attn.transpose(0, 1).contiguous().view(tgt_len, bsz, D) -> attn.contiguous().view(tgt_len, bsz, D)",
     "k.contiguous().view(-1, bsz * H, d).transpose(0, 1) -> k.contiguous().view(-1, bsz * H, d).roll(1, 1).transpose(0, 1)", "v.contiguous().view(-1, bsz * H, d).transpose(0, 1) -> v.contiguous().view(bsz * H, -1, d)", " * self.scaling,  -> , ", "key_padding_mask=encoder_padding_mask -> key_padding_mask=~encoder_padding_mask",
     "key_padding_mask=encoder_padding_mask -> key_padding_mask=None", "encoder_out, encoder_out, key -> encoder_out, encoder_out.flip(1), key", "masked_fill(key_padding_mask -> masked_fill(key_padding_mask.flip(0)", "attn_mask=own_mask -> attn_mask=own_mask.t()"))

program("DETR", """
class DecoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.self_attn, self.multihead_attn, self.norm = nn.MultiheadAttention(D, H), nn.MultiheadAttention(D, H), nn.LayerNorm(D)
    def forward(self, tgt, memory, memory_key_padding_mask=None, pos=None, query_pos=None):
        q = k = tgt + query_pos
        tgt = self.norm(tgt + self.self_attn(q, k, value=tgt)[0])
        tgt2 = self.multihead_attn(query=tgt + query_pos, key=memory + pos, value=memory, key_padding_mask=memory_key_padding_mask)[0]
        return self.norm(tgt + tgt2)
layer, pos, query_embed, late = DecoderLayer().eval(), torch.randn(5, 1, D), torch.randn(7, D), torch.arange(5)[None] >= torch.tensor([5, 3, 2])[:, None]
run = lambda: layer(torch.zeros(7, 3, D), memory.transpose(0, 1), late, pos, query_embed[:, None].repeat(1, 3, 1))
""", ("memory_key_padding_mask=None, -> memory_key_padding_mask=None, memory_mask=None,  ;; late, pos -> late, None, pos",),
    ("value=memory, -> value=memory.flip(1),", "!key=memory + pos -> key=memory.flip(0) + pos", "key_padding_mask=memory_key_padding_mask -> key_padding_mask=None", "key_padding_mask=memory_key_padding_mask -> key_padding_mask=~memory_key_padding_mask", "value=memory, -> value=memory + memory.mean(1, keepdim=True),",
     "value=memory, -> value=tgt[:5],", "nn.MultiheadAttention(D, H), nn.LayerNorm -> nn.MultiheadAttention(D, H, batch_first=True), nn.LayerNorm ;; late, pos -> None, pos ;; (7, 3, D) -> (7, 3, D) ;; memory.transpose(0, 1) -> memory.transpose(0, 1)[[0, 1, 2, 3, 4, 0, 1]] ;; torch.randn(5, 1, D) -> torch.randn(7, 1, D)"))

program("LoRA", """
class LoRA(nn.Module):
    def __init__(self, base):
        super().__init__()
        self.base, self.lora_A, self.lora_B, self.scaling = base, nn.Linear(D, 2, bias=False), nn.Linear(2, D, bias=False), 2.0
    def forward(self, x):
        return self.base(x) + self.lora_B(self.lora_A(x)) * self.scaling
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = LoRA(nn.Linear(D, D)), nn.Linear(D, D), LoRA(nn.Linear(D, D)), nn.Linear(D, D)
    def forward(self, x, attention_mask):
        b, n, _ = x.shape
        q, k, v = (one(x).view(b, n, H, d).transpose(1, 2) for one in (self.q_proj, self.k_proj, self.v_proj))
        scores = (q / math.sqrt(d)) @ k.mT
        weights = scores.masked_fill(~attention_mask[:, None], -math.inf).softmax(-1)
        return self.o_proj((weights @ v).transpose(1, 2).flatten(2))
attention = Attention().eval()
run = lambda: attention(x, causal & pad[:, None])
""", ("self.scaling = base, nn.Linear(D, 2, bias=False), nn.Linear(2, D, bias=False), 2.0 -> self.scaling = base, nn.Linear(D, 2, bias=False), nn.Linear(2, D, bias=False), 0.5", "k.mT -> k.transpose(-1, -2)"),
    ("(weights @ v) -> (weights @ v.roll(1, 1))", "q / math.sqrt(d) -> q", "~attention_mask -> attention_mask", "flatten(2)) -> flatten(2).flip(1))", "(weights @ v).transpose(1, 2).flatten(2) -> (weights @ v).reshape(b, n, D)", "weights @ v) -> weights @ k)", "self.lora_A(x) -> self.lora_A(x.flip(0))", "self.base(x) + self.lora_B(self.lora_A(x)) * self.scaling -> self.base(x) + self.lora_B(self.lora_A(x.roll(-1, 1))) * self.scaling"))

program("latents", """
class PerceiverAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm_media, self.norm_latents = nn.LayerNorm(D), nn.LayerNorm(D)
        self.to_q, self.to_kv, self.to_out = nn.Linear(D, D, bias=False), nn.Linear(D, 2 * D, bias=False), nn.Linear(D, D, bias=False)
    def forward(self, x, latents):
        x, latents = self.norm_media(x), self.norm_latents(latents)
        q = self.to_q(latents)
        kv_input = torch.cat((x, latents), dim=-2)
        k, v = self.to_kv(kv_input).chunk(2, dim=-1)
        q, k, v = (t.view(*t.shape[:2], H, d).transpose(1, 2) for t in (q, k, v))
        q = q * d ** -0.5
        sim = torch.einsum("... i d, ... j d -> ... i j", q, k)
        attn = (sim - sim.amax(dim=-1, keepdim=True).detach()).softmax(dim=-1)
        out = torch.einsum("... i j, ... j d -> ... i d", attn, v)
        return self.to_out(out.transpose(1, 2).flatten(2))
class Resampler(nn.Module):
    def __init__(self):
        super().__init__()
        self.latents, self.layers = nn.Parameter(torch.randn(4, D)), nn.ModuleList([PerceiverAttention(), PerceiverAttention()])
    def forward(self, x):
        latents = self.latents.repeat(len(x), 1, 1)
        for layer in self.layers:
            latents = latents + layer(x, latents)
        return latents
resampler = Resampler().eval()
run = lambda: resampler(x)
""", ("kv_input = torch.cat((x, latents), dim=-2) -> kv_input = x", "self.latents.repeat(len(x), 1, 1) -> self.latents[None].expand(len(x), -1, -1)", "(sim - sim.amax(dim=-1, keepdim=True).detach()) -> sim"),
    ("        q = q * d ** -0.5 -> ", "attn, v) -> attn, v.flip(0))", "torch.cat((x, latents), dim=-2) -> torch.cat((x.flip(0), latents), dim=-2)", "out.transpose(1, 2).flatten(2) -> out.reshape(len(x), -1, D)", "dim=-1, keepdim=True).detach()).softmax(dim=-1) -> dim=-1, keepdim=True).detach()).softmax(dim=-2)",
     "k, v = self.to_kv(kv_input).chunk(2, dim=-1) -> k = v = self.to_kv(kv_input).chunk(2, dim=-1)[0]", "attn, v) -> attn, v.roll(1, 1))", "torch.cat((x, latents), dim=-2) -> torch.cat((x.mean(0, keepdim=True).expand_as(x), latents), dim=-2)"))

program("axes", """
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.to_qkv, self.to_out = nn.Linear(D, 3 * D), nn.Linear(D, D)
    def forward(self, x):
        q, k, v = (t.reshape(*t.shape[:2], H, d).transpose(1, 2) for t in self.to_qkv(x).chunk(3, -1))
        attn = torch.softmax(q @ k.transpose(-1, -2) * d ** -0.5, -1)
        return self.to_out((attn @ v).transpose(1, 2).reshape(x.shape))
class Divided(nn.Module):
    def __init__(self):
        super().__init__()
        self.time, self.space = Attention(), Attention()
    def forward(self, x):
        b, f, n, _ = x.shape
        y = x.permute(0, 2, 1, 3).reshape(b * n, f, D)
        x = x + self.time(y).view(b, n, f, D).permute(0, 2, 1, 3)
        y = x.reshape(b * f, n, D)
        return x + self.space(y).view(b, f, n, D)
divided, video = Divided().eval(), torch.randn(2, 3, 5, D)
run = lambda: divided(video)
""", ("divided(video) -> divided(video[:1])", "torch.randn(2, 3, 5, D) -> torch.randn(3, 3, 3, D)"),
    ("y = x.reshape(b * f, n, D) -> y = x.transpose(0, 1).reshape(b * f, n, D)", "y = x.reshape(b * f, n, D) -> y = x.permute(1, 2, 0, 3).reshape(f * n, b, D) ;; self.space(y).view(b, f, n, D) -> self.space(y).view(f, n, b, D).permute(2, 0, 1, 3)",
     "(attn @ v).transpose(1, 2).reshape(x.shape) -> (attn @ v).reshape(x.shape)", "d ** -0.5 -> d ** 0.5", "(attn @ v) -> (attn @ v.flip(2))"))

program("shared and split keys", """
class LatentAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj, self.kv_a_proj, self.kv_a_norm, self.kv_b_proj, self.o_proj = nn.Linear(D, H * 12), nn.Linear(D, 16 + 4), nn.LayerNorm(16), nn.Linear(16, H * 16), nn.Linear(D, D)
    def forward(self, x, attention_mask):
        b, n, _ = x.shape
        q_nope, q_pe = self.q_proj(x).view(b, n, H, 12).transpose(1, 2).split([8, 4], -1)
        compressed, k_pe = self.kv_a_proj(x).split([16, 4], -1)
        k_pe = k_pe.view(b, n, 1, 4).transpose(1, 2)
        k_nope, value = self.kv_b_proj(self.kv_a_norm(compressed)).view(b, n, H, 16).transpose(1, 2).split([8, 8], -1)
        a = torch.arange(n)[:, None] * 1e4 ** (-torch.arange(0, 4, 2) / 4)
        a = torch.cat([a, a], -1)
        def turned(t):
            return t * a.cos() + torch.cat([-t[..., 2:], t[..., :2]], -1) * a.sin()
        q_pe, k_pe = turned(q_pe), turned(k_pe)
        query = torch.cat([q_nope, q_pe], -1)
        key = torch.cat([k_nope, k_pe.expand(b, H, n, 4)], -1)
        scores = query @ key.transpose(2, 3) * 12 ** -0.5
        weights = scores.masked_fill(~attention_mask, -math.inf).softmax(-1)
        return self.o_proj((weights @ value).transpose(1, 2).reshape(b, n, D))
attention = LatentAttention().eval()
run = lambda: attention(x, causal)
""", ("attention(x, causal) -> attention(x[:1], causal)",),
    ("* 12 ** -0.5 -> * 4 ** 0.5", "~attention_mask -> attention_mask", "(weights @ value).transpose(1, 2).reshape(b, n, D) -> (weights @ value).reshape(b, n, D)", "(weights @ value) -> (weights @ value.flip(0))", "turned(q_pe), turned(k_pe) -> turned(q_pe), k_pe", "(weights @ value) -> (weights @ k_nope)", "softmax(-1) -> softmax(-2)"))
