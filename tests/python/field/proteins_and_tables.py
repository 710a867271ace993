"""Attention of many authors, as text: proteins, tables, translation, questions about pictures."""
from field import Room

program = Room(unusual=True)


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
