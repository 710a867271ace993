"""Attention of many authors, as text (field_forms.py): proteins, tables, speech, graphs, video, ports of other frameworks, notebooks."""
PROGRAMS = []      # (name, text, right changes, wrong changes)


def program(name, text, right=(), wrong=()):
    PROGRAMS.append((name, text, right, wrong))


program("OpenFold triangle", """
def permute_final_dims(tensor, inds):
    zero_index = -1 * len(inds)
    first_inds = list(range(len(tensor.shape[:zero_index])))
    return tensor.permute(first_inds + [zero_index + i for i in inds])
class OFAttention(nn.Module):
    def __init__(self, c=D, c_hidden=8, no_heads=4):
        super().__init__()
        self.c_hidden, self.no_heads = c_hidden, no_heads
        self.linear_q, self.linear_k, self.linear_v = (nn.Linear(c, c_hidden * no_heads, bias=False) for _ in range(3))
        self.linear_o, self.linear_g = nn.Linear(c_hidden * no_heads, c), nn.Linear(c, c_hidden * no_heads)
    def forward(self, q_x, kv_x, biases):
        q, k, v = (l(t).view(t.shape[:-1] + (self.no_heads, -1)).transpose(-2, -3) for l, t in ((self.linear_q, q_x), (self.linear_k, kv_x), (self.linear_v, kv_x)))
        q /= math.sqrt(self.c_hidden)
        key = permute_final_dims(k, (1, 0))
        a = torch.matmul(q, key)
        for b in biases:
            a += b
        a = torch.nn.functional.softmax(a, -1)
        a = torch.matmul(a, v).transpose(-2, -3)
        g = torch.sigmoid(self.linear_g(q_x)).view(q_x.shape[:-1] + (self.no_heads, -1))
        a = a * g
        return self.linear_o(a.reshape(a.shape[:-2] + (-1,)))
class Triangle(nn.Module):
    def __init__(self, starting=True):
        super().__init__()
        self.starting, self.layer_norm, self.linear, self.mha, self.inf = starting, nn.LayerNorm(D), nn.Linear(D, 4, bias=False), OFAttention(), 1e9
    def forward(self, x, mask):
        if not self.starting:
            x, mask = x.transpose(-2, -3), mask.transpose(-1, -2)
        x = self.layer_norm(x)
        mask_bias = (self.inf * (mask - 1))[..., :, None, None, :]
        triangle_bias = permute_final_dims(self.linear(x), (2, 0, 1)).unsqueeze(-4)
        x = self.mha(x, x, [mask_bias, triangle_bias])
        return x if self.starting else x.transpose(-2, -3)
net = Triangle().eval()
z, m = torch.randn(1, 5, 5, D), torch.ones(1, 5, 5)
m[:, :, 4] = 0; m[:, 4] = 0
run = lambda: net(z, m)
""", (
    "Triangle() -> Triangle(False)",
    'm[:, :, 4] = 0; m[:, 4] = 0\n -> \n',), (
    "torch.matmul(a, v) -> torch.matmul(a, v.flip(1))",
    "q /= math.sqrt(self.c_hidden) -> pass",))


program("AlphaFold MSA column", """
class ColumnAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.to_qkv, self.to_out = nn.LayerNorm(D), nn.Linear(D, D * 3, bias=False), nn.Linear(D, D)
    def forward(self, msa):
        m = self.norm(msa).transpose(1, 2)
        b, w, s, _ = m.shape
        q, k, v = self.to_qkv(m).reshape(b * w, s, 3, H, d).permute(2, 0, 3, 1, 4)
        dots = torch.einsum("nhid,nhjd->nhij", q * d ** -0.5, k)
        out = torch.einsum("nhij,nhjd->nhid", dots.softmax(-1), v)
        out = out.permute(0, 2, 1, 3).reshape(b, w, s, D)
        return msa + self.to_out(out).transpose(1, 2)
net = ColumnAttention().eval()
run = lambda: net(torch.randn(2, 3, 5, D))
""", (), (
    "softmax(-1), v) -> softmax(-1), v.flip(0))",))


program("JAX port params", """
import numpy as np
def init(rng, d_model, heads):
    hd = d_model // heads
    s = lambda *shape: torch.from_numpy(rng.standard_normal(shape).astype(np.float32) / np.sqrt(d_model))
    return {"wq": s(d_model, heads, hd), "wk": s(d_model, heads, hd), "wv": s(d_model, heads, hd), "wo": s(heads, hd, d_model)}
def mha(params, x, bias=None):
    q, k, v = (torch.einsum("...le,ehd->...lhd", x, params[n]) for n in ("wq", "wk", "wv"))
    depth = q.shape[-1]
    logits = torch.einsum("...qhd,...khd->...hqk", q / np.sqrt(depth).astype(np.float32), k)
    if bias is not None:
        logits = logits + bias
    probs = torch.exp(logits - torch.logsumexp(logits, dim=-1, keepdim=True))
    return torch.einsum("...hqk,...khd,hde->...qe", probs, v, params["wo"])
params = init(np.random.default_rng(0), 32, 4)
run = lambda: mha(params, x, torch.where(causal, 0., -1e10))
""", (
    "mha(params, x, torch.where(causal, 0., -1e10)) -> mha(params, x[0], torch.where(causal, 0., -1e10))",
    "mha(params, x, torch.where(causal, 0., -1e10)) -> mha(params, x)",), (
    "probs, v, params -> probs, v.flip(0), params",
    "q / np.sqrt(depth).astype(np.float32) -> q",))


program("OpenNMT", """
class MultiHeadedAttention(nn.Module):
    def __init__(self, head_count=4, model_dim=D):
        super().__init__()
        self.dim_per_head = model_dim // head_count
        self.head_count = head_count
        self.linear_keys = nn.Linear(model_dim, head_count * self.dim_per_head)
        self.linear_values = nn.Linear(model_dim, head_count * self.dim_per_head)
        self.linear_query = nn.Linear(model_dim, head_count * self.dim_per_head)
        self.softmax, self.dropout, self.final_linear = nn.Softmax(dim=-1), nn.Dropout(0.1), nn.Linear(model_dim, model_dim)
    def forward(self, key, value, query, mask=None):
        batch_size, key_len, query_len = key.size(0), key.size(1), query.size(1)
        def shape(x):
            return x.view(batch_size, -1, self.head_count, self.dim_per_head).transpose(1, 2)
        def unshape(x):
            return x.transpose(1, 2).contiguous().view(batch_size, -1, self.head_count * self.dim_per_head)
        key, value, query = shape(self.linear_keys(key)), shape(self.linear_values(value)), shape(self.linear_query(query))
        query = query / math.sqrt(self.dim_per_head)
        scores = torch.matmul(query, key.transpose(2, 3)).float()
        if mask is not None:
            scores = scores.masked_fill(mask.unsqueeze(1), -1e18)
        attn = self.softmax(scores).to(query.dtype)
        context = unshape(torch.matmul(self.dropout(attn), value))
        return self.final_linear(context), attn.view(batch_size, self.head_count, query_len, key_len)[:, 0]
net = MultiHeadedAttention().eval()
run = lambda: net(memory, memory, x, ~(torch.arange(5)[None] < torch.tensor([5, 3, 4])[:, None])[:, None])
""", (
    "net(memory, memory, x, ~(torch.arange(5)[None] < torch.tensor([5, 3, 4])[:, None])[:, None]) -> net(x, x, x)",), (
    "self.dropout(attn), value -> self.dropout(attn), value.flip(0)",
    "mask.unsqueeze(1), -1e18 -> ~mask.unsqueeze(1), -1e18",
    "query = query / math.sqrt(self.dim_per_head) -> pass",))


program("fairseq seq-first beam", """
class Incremental(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(D, D) for _ in range(4))
        self.scaling = d ** -0.5
    def forward(self, query, incremental_state):
        tgt_len, bsz, _ = query.size()
        q, k, v = self.q_proj(query) * self.scaling, self.k_proj(query), self.v_proj(query)
        q, k, v = (t.contiguous().view(-1, bsz * H, d).transpose(0, 1) for t in (q, k, v))
        if "prev_key" in incremental_state:
            k = torch.cat([incremental_state["prev_key"].view(bsz * H, -1, d), k], dim=1)
            v = torch.cat([incremental_state["prev_value"].view(bsz * H, -1, d), v], dim=1)
        incremental_state["prev_key"], incremental_state["prev_value"] = k.view(bsz, H, -1, d), v.view(bsz, H, -1, d)
        w = F.softmax(torch.bmm(q, k.transpose(1, 2)), dim=-1)
        attn = torch.bmm(w, v).transpose(0, 1).contiguous().view(tgt_len, bsz, D)
        return self.out_proj(attn)
    def reorder(self, state, new_order):
        for key in list(state):
            state[key] = state[key].index_select(0, new_order)
net = Incremental().eval()
def run():
    state = {}
    h = net(x[:, 0][None], state)
    net.reorder(state, torch.tensor([1, 0, 0]))
    h = net(h + x[:, 1][None], state)
    net.reorder(state, torch.tensor([2, 2, 1]))
    return net(h + x[:, 2][None], state)
""", (), (
    "state[key] = state[key].index_select(0, new_order) -> state[key] = state[key].index_select(0, new_order) if 'key' in key else state[key]",
    "self.q_proj(query) * self.scaling -> self.q_proj(query)",))


program("AllenNLP BiDAF", """
class BiDAF(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(3 * D) / 10)
    def masked_softmax(self, vector, mask, dim=-1):
        mask = mask.float()
        result = torch.softmax(vector * mask, dim=dim)
        result = result * mask
        return result / (result.sum(dim=dim, keepdim=True) + 1e-13)
    def forward(self, passage, question, p_mask, q_mask):
        w1, w2, w3 = self.w.split(D)
        s = (passage @ w1).unsqueeze(2) + (question @ w2).unsqueeze(1) + torch.bmm(passage * w3, question.transpose(1, 2))
        a = self.masked_softmax(s, q_mask[:, None].expand_as(s))
        c2q = torch.bmm(a, question)
        b = self.masked_softmax(s.max(-1)[0], p_mask)
        q2c = torch.bmm(b.unsqueeze(1), passage).expand_as(passage)
        return torch.cat([passage, c2q, passage * c2q, passage * q2c], -1)
net = BiDAF().eval()
run = lambda: net(x, memory, pad, torch.arange(5)[None] < torch.tensor([5, 3, 4])[:, None])
""", (), (
    "c2q = torch.bmm(a, question) -> c2q = torch.bmm(a, question.flip(0))",))


program("DIN recsys", """
class DIN(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.att, self.out = nn.Embedding(50, 16), nn.Sequential(nn.Linear(64, 16), nn.Sigmoid(), nn.Linear(16, 1)), nn.Linear(32, 1)
    def forward(self, item, hist, mask):
        q, k = self.emb(item)[:, None].expand(-1, hist.shape[1], -1), self.emb(hist)
        s = self.att(torch.cat([q, k, q - k, q * k], -1)).squeeze(-1)
        s = s.masked_fill(~mask, -2.0 ** 32 + 1).softmax(-1)
        u = torch.bmm(s.unsqueeze(1), k).squeeze(1)
        return self.out(torch.cat([u, self.emb(item)], -1))
net = DIN().eval()
run = lambda: net(ids[:, 0], ids, pad)
""", ())


program("AutoInt", """
class Interacting(nn.Module):
    def __init__(self, heads=2):
        super().__init__()
        self.W_Query, self.W_key, self.W_Value, self.W_Res = (nn.Parameter(torch.randn(D, D) * 0.05) for _ in range(4))
        self.heads = heads
    def forward(self, inputs):
        querys, keys, values = (torch.tensordot(inputs, w, dims=([-1], [0])) for w in (self.W_Query, self.W_key, self.W_Value))
        querys, keys, values = (torch.stack(torch.split(t, D // self.heads, dim=2)) for t in (querys, keys, values))
        inner_product = torch.einsum('bnik,bnjk->bnij', querys, keys)
        if True:
            inner_product /= (D // self.heads) ** 0.5
        scores = F.softmax(inner_product, dim=-1)
        result = torch.matmul(scores, values)
        result = torch.cat(torch.split(result, 1), dim=-1)
        result = torch.squeeze(result, dim=0)
        result += torch.tensordot(inputs, self.W_Res, dims=([-1], [0]))
        return F.relu(result)
net = Interacting().eval()
run = lambda: net(x)
""", (), (
    "torch.matmul(scores, values) -> torch.matmul(scores, values.flip(1))",))


program("FT-Transformer", """
class FT(nn.Module):
    def __init__(self, n=5):
        super().__init__()
        self.w, self.b, self.cls = nn.Parameter(torch.randn(n, D)), nn.Parameter(torch.randn(n, D)), nn.Parameter(torch.randn(1, 1, D))
        self.W_q, self.W_k, self.W_v, self.W_out = (nn.Linear(D, D) for _ in range(4))
    def _reshape(self, t):
        b, n, e = t.shape
        return t.reshape(b, n, H, e // H).transpose(1, 2).reshape(b * H, n, e // H)
    def forward(self, x_num):
        x = torch.cat([self.cls.expand(len(x_num), -1, -1), self.w * x_num[:, :, None] + self.b], 1)
        q, k, v = self.W_q(x[:, :1]), self.W_k(x), self.W_v(x)
        q, k = self._reshape(q), self._reshape(k)
        att = F.softmax(q @ k.transpose(1, 2) / math.sqrt(k.shape[-1]), dim=-1)
        y = att @ self._reshape(v)
        y = y.reshape(len(x), H, 1, D // H).transpose(1, 2).reshape(len(x), 1, D)
        return self.W_out(y)
net = FT().eval()
run = lambda: net(torch.randn(4, 5))
""", (
    "x[:, :1] -> x ;; H, 1, D // H) -> H, 6, D // H) ;; reshape(len(x), 1, D) -> reshape(len(x), 6, D)",), (
    "att @ self._reshape(v) -> att @ self._reshape(v.flip(0))",))


program("SAINT intersample", """
class RowAttention(nn.Module):
    def __init__(self, n=6):
        super().__init__()
        self.to_qkv, self.to_out = nn.Linear(n * D, 3 * D, bias=False), nn.Linear(D, n * D)
    def forward(self, x):
        b, n, e = x.shape
        rows = x.reshape(1, b, n * e)
        q, k, v = self.to_qkv(rows).chunk(3, -1)
        q, k, v = (t.view(1, b, H, d).transpose(1, 2) for t in (q, k, v))
        sim = torch.einsum('bhid,bhjd->bhij', q, k) * d ** -0.5
        out = torch.einsum('bhij,bhjd->bhid', sim.softmax(-1), v)
        return x + self.to_out(out.transpose(1, 2).reshape(1, b, D)).view(b, n, e)
net = RowAttention().eval()
run = lambda: net(torch.randn(5, 6, D))
""", (), (
    "sim.softmax(-1), v -> sim.softmax(-1), v.flip(2)",))


program("TabPFN train and test", """
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.self_attn, self.norm = nn.MultiheadAttention(D, H), nn.LayerNorm(D)
    def forward(self, src, single_eval_pos):
        train, test = src[:single_eval_pos], src[single_eval_pos:]
        left = self.self_attn(train, train, train)[0]
        right = self.self_attn(test, train, train)[0]
        return self.norm(src + torch.cat([left, right], 0))
net = Layer().eval()
run = lambda: net(torch.randn(8, 2, D), 5)
""", (), (
    "self.self_attn(test, train, train) -> self.self_attn(test, train, train.flip(1))",))


program("neural process", """
class ANP(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.k, self.q = nn.Sequential(nn.Linear(2, D), nn.ReLU(), nn.Linear(D, D)), nn.Linear(1, D), nn.Linear(1, D)
    def forward(self, xc, yc, xt):
        r = self.enc(torch.cat([xc, yc], -1))
        w = torch.softmax(torch.einsum("bik,bjk->bij", self.q(xt), self.k(xc)) / math.sqrt(D), -1)
        return torch.einsum("bjk,bij->bik", r, w)
net = ANP().eval()
run = lambda: net(torch.randn(3, 7, 1), torch.randn(3, 7, 1), torch.randn(3, 4, 1))
""", (
    'torch.einsum("bik,bjk->bij", self.q(xt), self.k(xc)) / math.sqrt(D) -> -((self.q(xt)[:, :, None] - self.k(xc)[:, None]).abs().sum(-1))',), (
    '", r, w -> ", r.flip(0), w',))


program("MCAN guided", """
class MHAtt(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear_v, self.linear_k, self.linear_q, self.linear_merge = (nn.Linear(D, D) for _ in range(4))
    def forward(self, v, k, q, mask):
        n_batches = q.size(0)
        v, k, q = (l(t).view(n_batches, -1, H, d).transpose(1, 2) for l, t in ((self.linear_v, v), (self.linear_k, k), (self.linear_q, q)))
        return self.linear_merge(self.att(v, k, q, mask).transpose(1, 2).contiguous().view(n_batches, -1, D))
    def att(self, value, key, query, mask):
        d_k = query.size(-1)
        scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
        if mask is not None:
            scores = scores.masked_fill(mask, -1e9)
        return torch.matmul(F.softmax(scores, dim=-1), value)
class SGA(nn.Module):
    def __init__(self):
        super().__init__()
        self.mhatt1, self.mhatt2, self.norm1, self.norm2 = MHAtt(), MHAtt(), nn.LayerNorm(D), nn.LayerNorm(D)
    def forward(self, x, y, x_mask, y_mask):
        x = self.norm1(x + self.mhatt1(v=x, k=x, q=x, mask=x_mask))
        return self.norm2(x + self.mhatt2(v=y, k=y, q=x, mask=y_mask))
net = SGA().eval()
ym = ~(torch.arange(5)[None] < torch.tensor([5, 3, 4])[:, None])
run = lambda: net(x, memory, ~pad[:, None, None], ym[:, None, None])
""", (), (
    "v=y, k=y, q=x -> v=y.flip(0), k=y, q=x",
    "v=y, k=y, q=x, mask=y_mask -> v=y, k=y, q=x, mask=~y_mask",
    "v=x, k=x, q=x, mask=x_mask -> v=x, k=x, q=x, mask=None",))


program("BAN bilinear", """
class Bilinear(nn.Module):
    def __init__(self, g=2):
        super().__init__()
        self.v_net, self.q_net, self.h = nn.Linear(D, D), nn.Linear(D, D), nn.Parameter(torch.randn(g, D) / 6)
    def forward(self, v, q):
        v_, q_ = F.relu(self.v_net(v)), F.relu(self.q_net(q))
        logits = torch.einsum("gk,bvk,bqk->bgvq", self.h, v_, q_)
        p = F.softmax(logits.view(v.size(0), 2, -1), 2).view_as(logits)
        return torch.einsum("bvk,bvq,bqk->bk", v_, p[:, 0], q_)
net = Bilinear().eval()
run = lambda: net(x, memory)
""", ())


program("show attend tell", """
class Attn(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder_att, self.decoder_att, self.full_att = nn.Linear(D, 16), nn.Linear(D, 16), nn.Linear(16, 1)
    def forward(self, encoder_out, decoder_hidden):
        att = self.full_att(F.relu(self.encoder_att(encoder_out) + self.decoder_att(decoder_hidden).unsqueeze(1))).squeeze(2)
        alpha = F.softmax(att, dim=1)
        return (encoder_out * alpha.unsqueeze(2)).sum(dim=1), alpha
net = Attn().eval()
run = lambda: net(x, memory[:, 0])
""", ())


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


program("RealFormer residual scores", """
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(D, D) for _ in range(4))
    def forward(self, x, prev=None):
        q, k, v = (l(x).view(3, 6, H, d).transpose(1, 2) for l in (self.q, self.k, self.v))
        s = q @ k.mT / math.sqrt(d)
        s = s if prev is None else s + prev
        return x + self.o((s.softmax(-1) @ v).transpose(1, 2).flatten(2)), s
layers = nn.ModuleList(Layer() for _ in range(3)).eval()
def run():
    h, prev = x, None
    for l in layers:
        h, prev = l(h, prev)
    return h
""", (), (
    "s.softmax(-1) @ v -> s.softmax(-1) @ v.flip(0)",))


program("ViT register and pooling head", """
class MAP(nn.Module):
    def __init__(self):
        super().__init__()
        self.latent, self.q, self.kv, self.proj, self.norm = nn.Parameter(torch.randn(1, 1, D)), nn.Linear(D, D), nn.Linear(D, 2 * D), nn.Linear(D, D), nn.LayerNorm(D)
        self.q_norm, self.k_norm = nn.Identity(), nn.Identity()
    def forward(self, x):
        B_, N, C = x.shape
        q = self.q(self.latent.expand(B_, -1, -1)).reshape(B_, 1, H, d).transpose(1, 2)
        k, v = self.kv(x).reshape(B_, N, 2, H, d).permute(2, 0, 3, 1, 4).unbind(0)
        q, k = self.q_norm(q), self.k_norm(k)
        q = q * d ** -0.5
        a = (q @ k.transpose(-2, -1)).softmax(dim=-1)
        z = (a @ v).transpose(1, 2).reshape(B_, 1, C)
        return (z + self.proj(self.norm(z)))[:, 0]
net = MAP().eval()
run = lambda: net(x)
""", (
    'a = (q @ k.transpose(-2, -1)).softmax(dim=-1)\n        z = (a @ v) -> z = sdpa(q / d ** -0.5, k, v)\n        z = (z)',), (
    "a @ v -> a @ v.flip(0)",
    "q = q * d ** -0.5 -> pass",))


program("EfficientViT relu linear", """
class LiteMLA(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Conv2d(D, 3 * D, 1, bias=False), nn.Conv2d(D, D, 1)
    def forward(self, x):
        b, _, h, w = x.shape
        qkv = self.qkv(x).reshape(b, -1, 3 * d, h * w)
        q, k, v = qkv[:, :, :d], qkv[:, :, d:2 * d], qkv[:, :, 2 * d:]
        q, k = F.relu(q), F.relu(k)
        v = F.pad(v, (0, 0, 0, 1), value=1)
        vk = torch.matmul(v, k.transpose(-1, -2))
        out = torch.matmul(vk, q)
        out = out[:, :, :-1] / (out[:, :, -1:] + 1e-6)
        return self.proj(out.reshape(b, -1, h, w))
net = LiteMLA().eval()
im = torch.randn(2, D, 3, 2)
run = lambda: net(im)
""", (
    'vk = torch.matmul(v, k.transpose(-1, -2))\n        out = torch.matmul(vk, q) -> att = torch.matmul(k.transpose(-1, -2), q)\n        att = att / (att.sum(2, keepdim=True) + 1e-6)\n        out = torch.matmul(v, att)',))


program("Mamba-2 dual form", """
class SSD(nn.Module):
    def __init__(self):
        super().__init__()
        self.B, self.C, self.X, self.dt, self.o = nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, H), nn.Linear(D, D)
    def forward(self, x):
        B_, C, X = (l(x).view(3, 6, H, d).transpose(1, 2) for l in (self.B, self.C, self.X))
        a = -F.softplus(self.dt(x)).transpose(1, 2).cumsum(-1)
        L = torch.exp((a[..., :, None] - a[..., None, :]).masked_fill(~causal, -math.inf))
        y = ((C @ B_.transpose(-1, -2)) * L) @ X
        return self.o(y.transpose(1, 2).flatten(2))
net = SSD().eval()
run = lambda: net(x)
""", ())


program("forgetting transformer", """
class FoX(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.o_proj, self.fgate_proj = nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, H)
    def forward(self, x):
        q, k, v = (l(x).view(3, 6, H, d).transpose(1, 2) for l in (self.q_proj, self.k_proj, self.v_proj))
        lam = F.logsigmoid(self.fgate_proj(x)).transpose(1, 2).cumsum(-1)
        s = q @ k.transpose(-1, -2) / math.sqrt(d) + (lam[..., :, None] - lam[..., None, :])
        w = s.masked_fill(~causal, -math.inf).softmax(-1)
        return self.o_proj((w @ v).transpose(1, 2).flatten(2))
net = FoX().eval()
run = lambda: net(x)
""", (), (
    "w @ v -> w @ v.flip(0)",
    " / math.sqrt(d) -> ",))


program("stick-breaking", """
class Stick(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(D, D) for _ in range(4))
    def forward(self, x):
        q, k, v = (l(x).view(3, 6, H, d).transpose(1, 2) for l in (self.q_proj, self.k_proj, self.v_proj))
        logits = q @ k.transpose(-1, -2) / math.sqrt(d)
        mask = torch.ones(6, 6).tril(-1).bool()
        log_beta = F.logsigmoid(-logits).masked_fill(~mask, 0)
        re = log_beta.flip(-1).cumsum(-1).flip(-1) - log_beta
        att = (F.logsigmoid(logits) + re).exp().masked_fill(~mask, 0)
        return self.o_proj((att @ v).transpose(1, 2).flatten(2))
net = Stick().eval()
run = lambda: net(x)
""", ())


program("native sparse branches", """
class NSA(nn.Module):
    def __init__(self, blk=2, win=2):
        super().__init__()
        self.q, self.k, self.v, self.o, self.g, self.blk, self.win = nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, 2 * H), blk, win
        self.ck, self.cv = nn.Linear(blk * d, d), nn.Linear(blk * d, d)
    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = (l(x).view(b, n, H, d).transpose(1, 2) for l in (self.q, self.k, self.v))
        kc, vc = (l(t.reshape(b, H, n // self.blk, -1)) for l, t in ((self.ck, k), (self.cv, v)))
        i = torch.arange(n)
        vis = (torch.arange(n // self.blk)[None] + 1) * self.blk - 1 <= i[:, None]
        s1 = (q @ kc.mT / math.sqrt(d)).masked_fill(~vis, -1e9)
        o1 = (s1.softmax(-1) * vis.any(-1, keepdim=True)) @ vc
        near = (i[:, None] >= i) & (i[:, None] - i < self.win)
        o2 = (q @ k.mT / math.sqrt(d)).masked_fill(~near, -1e9).softmax(-1) @ v
        g1, g2 = torch.sigmoid(self.g(x)).view(b, n, H, 2).transpose(1, 2).unsqueeze(-2).unbind(-1)
        return self.o((g1 * o1 + g2 * o2).transpose(1, 2).reshape(b, n, D))
net = NSA().eval()
run = lambda: net(x)
""", (), (
    '@ vc\n -> @ vc.flip(0)\n',))


program("YOCO cross decoder", """
class Yoco(nn.Module):
    def __init__(self):
        super().__init__()
        self.k, self.v = nn.Linear(D, 2 * d, bias=False), nn.Linear(D, 2 * d, bias=False)
        self.layers = nn.ModuleList(nn.ModuleDict({"q": nn.Linear(D, D, bias=False), "o": nn.Linear(D, D, bias=False), "n": nn.LayerNorm(D)}) for _ in range(2))
    def forward(self, x):
        b, n, _ = x.shape
        k, v = (l(x).view(b, n, 2, d).transpose(1, 2).repeat_interleave(2, 1) for l in (self.k, self.v))
        for l in self.layers:
            q = l["q"](l["n"](x)).view(b, n, H, d).transpose(1, 2)
            x = x + l["o"](sdpa(q, k, v, is_causal=True).transpose(1, 2).reshape(b, n, D))
        return x
net = Yoco().eval()
run = lambda: net(x)
""", (), (
    "sdpa(q, k, v, -> sdpa(q, k, v.flip(0),",))


program("numpy interop", """
import numpy as np
rng = np.random.RandomState(0)
W = {n: rng.randn(32, 32).astype("f") / 6 for n in "qkvo"}
def layer(x):
    t = lambda n: torch.as_tensor(W[n])
    q, k, v = (torch.matmul(x, t(n)).reshape(3, 6, 4, 8).swapaxes(1, 2) for n in "qkv")
    s = torch.matmul(q, k.swapaxes(-1, -2)) / np.float32(np.sqrt(8))
    p = torch.nn.Softmax(-1)(s)
    return torch.matmul(torch.matmul(p, v).swapaxes(1, 2).reshape(3, 6, 32), t("o"))
run = lambda: layer(x)
""", (), (
    "torch.matmul(p, v) -> torch.matmul(p, v.flip(0))",
    " / np.float32(np.sqrt(8)) -> ",))


program("autocast and compile style", """
class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.o = nn.Linear(D, 3 * D), nn.Linear(D, D)
    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            q, k, v = self.qkv(x).view(3, 6, 3, H, d).permute(2, 0, 3, 1, 4).unbind(0)
            s = torch.matmul(q, k.mT) * d ** -0.5
        with torch.autocast("cpu", enabled=False):
            p = s.float().softmax(-1)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.o(torch.matmul(p, v).transpose(1, 2).flatten(2))
net = Mixed().eval()
run = lambda: net(x)
""", (), (
    "torch.matmul(p, v) -> torch.matmul(p, v.flip(0))",))


program("MuP", """
class MuReadAttention(nn.Module):
    def __init__(self, attn_mult=8.0 ** 0.5):
        super().__init__()
        self.attn_mult = attn_mult
        self.q, self.k, self.v, self.o = (nn.Linear(D, D) for _ in range(4))
    def forward(self, x):
        q, k, v = (l(x).view(3, 6, H, d).transpose(1, 2) for l in (self.q, self.k, self.v))
        attn_scores = torch.matmul(q, k.transpose(-1, -2)) * self.attn_mult / d
        return self.o((attn_scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
net = MuReadAttention(1.0).eval()
run = lambda: net(x)
""", (
    "MuReadAttention(1.0) -> MuReadAttention()",
    "MuReadAttention(1.0) -> MuReadAttention(4.0)",), (
    "softmax(-1) @ v -> softmax(-1) @ v.flip(0)",))


program("Granite and Gemma scalars", """
class G(nn.Module):
    def __init__(self, scaling=0.015625):
        super().__init__()
        self.scaling = scaling
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = nn.Linear(D, D, bias=False), nn.Linear(D, 2 * d, bias=False), nn.Linear(D, 2 * d, bias=False), nn.Linear(D, D, bias=False)
    def forward(self, x):
        q, k, v = (l(x).view(3, 6, -1, d).transpose(1, 2) for l in (self.q_proj, self.k_proj, self.v_proj))
        k, v = (t[:, :, None].expand(3, 2, 2, 6, d).reshape(3, H, 6, d) for t in (k, v))
        w = torch.matmul(q, k.transpose(2, 3)) * self.scaling
        w = (w + torch.full((6, 6), torch.finfo(w.dtype).min).triu(1)).softmax(-1)
        return self.o_proj(torch.matmul(w, v).transpose(1, 2).reshape(3, 6, D))
net = G().eval()
run = lambda: net(x)
""", (
    "scaling=0.015625 -> scaling=1.0",
    "scaling=0.015625 -> scaling=224 ** -0.5",), (
    "torch.matmul(w, v) -> torch.matmul(w, v.flip(0))",))
