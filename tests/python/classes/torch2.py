"""torch 2's scaled_dot_product_attention, with its signature, for a torch that has none; overridable as that one is."""
import math

import torch
from torch.overrides import handle_torch_function, has_torch_function


def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None,
                                 enable_gqa=False):
    if has_torch_function((query, key, value)):
        return handle_torch_function(scaled_dot_product_attention, (query, key, value), query, key, value,
                                     attn_mask=attn_mask, dropout_p=dropout_p, is_causal=is_causal, scale=scale,
                                     enable_gqa=enable_gqa)
    dtype = query.dtype
    query, key, value = query.float(), key.float(), value.float()    # torch 1.13 has no products of float16 on a CPU
    if enable_gqa:
        times = query.size(-3) // key.size(-3)
        key, value = key.repeat_interleave(times, -3), value.repeat_interleave(times, -3)
    scores = query @ key.transpose(-2, -1) * (1 / math.sqrt(query.size(-1)) if scale is None else scale)
    if is_causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), -math.inf)
    if attn_mask is not None:
        scores = scores.masked_fill(~attn_mask, -math.inf) if attn_mask.dtype == torch.bool else scores + attn_mask
    return (torch.dropout(scores.softmax(-1), dropout_p, True) @ value).to(dtype)
