"""Right attention as public code has it, written anew, where `check` has to follow the numbers to decide that it is right."""
import math

from common import torch

nn, functional = torch.nn, torch.nn.functional
B, T, D, H, INF = 3, 6, 32, 4, math.inf
WIDTH = D // H
CAUSAL = torch.ones(T, T).tril().bool()
LENGTHS = torch.tensor([6, 4, 3])


def split(x):
    return x.view(*x.shape[:2], H, -1).transpose(1, 2)


def merge(z):
    return z.transpose(1, 2).reshape(z.shape[0], z.shape[2], -1)


def scores_of(q, k):
    return q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])


class Attention(nn.Module):
    """Projections, and a method of a form that is given them."""

    def __init__(self, form, projections=("q_proj", "k_proj", "v_proj", "o_proj"), **parts):
        super().__init__()
        self.form, parts = form, {**{name: nn.Linear(D, D) for name in projections}, **parts}
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, x, *given):
        return self.form(self, x, *given)


def masked(self, x, mask):
    q, k, v = (split(one(x)) for one in (self.q_proj, self.k_proj, self.v_proj))
    return self.o_proj(merge(scores_of(q, k).masked_fill(~mask, -INF).softmax(-1) @ v))


def bloom(self, x, alibi, mask):
    q, k, v = (split(one(x)).reshape(B * H, T, WIDTH) for one in (self.q_proj, self.k_proj, self.v_proj))
    s = alibi.baddbmm(batch1=q, batch2=k.transpose(1, 2), beta=1.0, alpha=1 / math.sqrt(WIDTH)).view(B, H, T, T)
    p = torch.masked_fill(s, mask, torch.finfo(s.dtype).min).softmax(-1).view(B * H, T, T)
    return self.o_proj(merge(torch.bmm(p, v).view(B, H, T, WIDTH)))


def with_sum_of_logs(self, x):
    q, k, v = (split(one(x)) for one in (self.q_proj, self.k_proj, self.v_proj))
    s = scores_of(q, k)
    return self.o_proj(merge(torch.exp(s - torch.logsumexp(s, -1, keepdim=True)) @ v))


def keras(self, x):
    q, k, v = (torch.einsum("abc,cde->abde", x, kernel) + bias for kernel, bias in zip(self.kernels, self.biases))
    p = torch.einsum("aecd,abcd->acbe", k, q * WIDTH ** -0.5).softmax(-1)
    return torch.einsum("abcd,cde->abe", torch.einsum("acbe,aecd->abcd", p, v), self.out)


def low_rank(self, x):
    q, k, v = (split(one(x) + up(down(x)) * 2) for one, (down, up) in zip((self.q_proj, self.k_proj, self.v_proj), self.more))
    return self.o_proj(merge(scores_of(q, k).softmax(-1) @ v))


def queries_in_parts(self, x, mask):
    q, k, v = (split(one(x)) for one in (self.q_proj, self.k_proj, self.v_proj))
    parts = [scores_of(q[:, :, at:at + 2], k).masked_fill(~mask[at:at + 2], -INF).softmax(-1) @ v for at in range(0, T, 2)]
    return self.o_proj(merge(torch.cat(parts, 2)))


def of_windows(self, x):
    q, k, v = (split(one(x.view(2 * B, T // 2, D))) for one in (self.q_proj, self.k_proj, self.v_proj))
    return self.o_proj(merge(scores_of(q, k).softmax(-1) @ v)).view(B, T, D)


def channels(self, x):                                                        # of an image, (batch, channels, height, width)
    b, _, h, w = x.shape
    q, k, v = (one.reshape(b, H, WIDTH, h * w) for one in self.qkv(x).chunk(3, 1))
    p = torch.einsum("bhdi,bhdj->bhij", q * WIDTH ** -0.5, k).softmax(-1)
    return self.to_out(torch.einsum("bhij,bhdj->bhid", p, v).permute(0, 1, 3, 2).reshape(b, D, h, w))


def by_lengths(self, x, valid_lens):                                          # a textbook
    q, k, v = (split(one(x)).reshape(B * H, T, WIDTH) for one in (self.q_proj, self.k_proj, self.v_proj))
    valid_lens = torch.repeat_interleave(valid_lens, H)
    s = scores_of(q, k)
    s[(torch.arange(T) >= valid_lens[:, None, None]).expand_as(s)] = -1e6
    return self.o_proj(merge((s.softmax(-1) @ v).view(B, H, T, WIDTH)))


def of_documents(self, x, document_ids):
    return masked(self, x, (document_ids[:, None] == document_ids) & CAUSAL)


def steps(self, x, rotary, static):
    """Three tokens, then one after another, with a cache that grows, or one that is there as a whole."""
    whole = [torch.zeros(B, H, 8, WIDTH) for _ in range(2)]
    for first, count in ((0, 3), (3, 1), (4, 1)):
        at = torch.arange(first, first + count)
        q, k, v = (split(one(x[:, at])) for one in (self.q_proj, self.k_proj, self.v_proj))
        if rotary:
            a = torch.cat([at[:, None] * 1e4 ** (-torch.arange(0, WIDTH, 2) / WIDTH)] * 2, -1).to(x.dtype)
            q, k = (one * a.cos() + torch.cat([-one[..., WIDTH // 2:], one[..., :WIDTH // 2]], -1) * a.sin() for one in (q, k))
        if static:
            whole[0][:, :, at], whole[1][:, :, at] = k, v
        else:
            whole = [new if first == 0 else torch.cat([old, new], 2) for old, new in zip(whole, (k, v))]
        seen = torch.arange(whole[0].shape[2]) <= at[:, None]
        self.o_proj(merge(scores_of(q, whole[0]).masked_fill(~seen, -INF).softmax(-1) @ whole[1]))


def public_forms():
    """Names, modules and what they are given."""
    torch.manual_seed(0)
    x, slopes = torch.randn(B, T, D), 2.0 ** (-8 / H * torch.arange(1, H + 1))
    kernels = nn.ParameterList(nn.Parameter(torch.randn(D, H, WIDTH) / 6) for _ in range(3))
    biases = nn.ParameterList(nn.Parameter(torch.randn(H, WIDTH)) for _ in range(3))
    more = nn.ModuleList(nn.ModuleList([nn.Linear(D, 2, bias=False), nn.Linear(2, D, bias=False)]) for _ in range(3))
    near = (torch.rand(B, T, T) > 0.5) | torch.eye(T).bool()
    return [
        ("ALiBi by baddbmm, BLOOM", Attention(bloom), (x, (slopes[:, None, None] * torch.arange(T)).repeat(B, 1, 1), ~CAUSAL)),
        ("exp of scores less their logsumexp", Attention(with_sum_of_logs), (x,)),
        ("kernels and biases of Keras", Attention(keras, (), kernels=kernels, biases=biases, out=nn.Parameter(torch.randn(H, WIDTH, D))), (x,)),
        ("LoRA", Attention(low_rank, more=more), (x,)),
        ("queries in parts", Attention(queries_in_parts), (x, CAUSAL)), ("windows as sentences", Attention(of_windows), (x,)),
        ("convolutions of one place", Attention(channels, (), qkv=nn.Conv2d(D, 3 * D, 1), to_out=nn.Conv2d(D, D, 1)), (torch.randn(2, D, 3, 4),)),
        ("lengths that are repeated", Attention(by_lengths), (x, LENGTHS)),
        ("a graph", Attention(lambda self, x, adj: masked(self, x, adj[:, None] > 0)), (x, near.float())),
        ("a mask for each head", Attention(lambda self, x, mask: masked(self, x, mask[None])), (x, near[0].expand(H, T, T))),
        ("documents in a row", Attention(of_documents), (x, torch.tensor([0, 0, 0, 1, 1, 2]))),
        *((f"step by step{', rotary' * rotary}{', the whole cache' * static}", Attention(steps), (x, rotary, static))
          for rotary in (False, True) for static in (False, True))]
