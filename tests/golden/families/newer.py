"""GPT-Neo (Black et al. 2021), OLMo (Groeneveld et al. 2024), Granite (Granite Team 2024), SmolLM3 (Bakouch et al. 2025),
StarCoder 2 (Lozhkov et al. 2024), DeBERTa's first version (He et al. 2021), mBART (Liu et al. 2020), the text of models
that read pictures too (LLaVA, Qwen2-VL, Mistral 3), and a BERT without some of its heads (Michel et al. 2019)."""

import math

import torch
from torch.nn import functional as F

from .common import *
from .decoders import llama_like
from .encoder_decoders import norms_before, stacks_config
from .encoders import bert_config, bert_like


def gpt_neo():
    """Scores without a scale; the second layer sees four tokens."""
    w, prefix, epsilon, heads = Weights(60), "transformer.", 1e-5, 4
    config = {"model_type": "gpt_neo", "architectures": ["GPTNeoForCausalLM"], "vocab_size": WORDS, "hidden_size": D,
              "num_layers": 3, "num_heads": heads, "intermediate_size": None, "max_position_embeddings": 32,
              "activation_function": "gelu_new", "layer_norm_epsilon": epsilon, "window_size": 4,
              "attention_types": [[["global", "local"], 1], [["global"], 1]]}
    words = w.table(prefix + "wte.weight", WORDS, D)
    x, patterns = words[torch.tensor(IDS)] + w.table(prefix + "wpe.weight", 32, D)[:len(IDS)], []
    for layer, window in enumerate((None, 4, None)):
        name = f"{prefix}h.{layer}."
        y = w.layer_norm(x, name + "ln_1", epsilon)
        q, k, v = (w.linear(y, f"{name}attn.attention.{part}_proj", D, False, wide=0.8) for part in "qkv")
        weights, z = attend(q, k, v, heads, causal=True, scale=1.0, window=window)
        patterns.append(weights)
        x = x + w.linear(z, name + "attn.attention.out_proj", D)
        y = w.layer_norm(x, name + "ln_2", epsilon)
        x = x + w.linear(gelu_tanh(w.linear(y, name + "mlp.c_fc", 4 * D)), name + "mlp.c_proj", D)
    x = w.layer_norm(x, prefix + "ln_f", epsilon)
    return config, {"ids": IDS}, w, {"attentions": torch.stack(patterns), "last_hidden_state": x, "logits": x @ words.T}


def of_llama(w, config, norm, feed_forward, bias=False, rotates=lambda layer: True, scale=None, sublayer=1.0,
             embedding=1.0, window=None):
    """The frame of Llama with norms, feed-forwards and multipliers of other kinds."""
    prefix, heads, kv_heads = "model.", config["num_attention_heads"], config["num_key_value_heads"]
    width = D // heads
    angles, factor = frequencies(width, config["rope_theta"], {}, 64)
    words = w.table(prefix + "embed_tokens.weight", WORDS, D)
    x, patterns = words[torch.tensor(IDS)] * embedding, []
    for layer in range(config["num_hidden_layers"]):
        name = f"{prefix}layers.{layer}."
        y = norm(x, name + "input_layernorm")
        q, k, v = (w.linear(y, f"{name}self_attn.{part}_proj", count * width, bias)
                   for part, count in (("q", heads), ("k", kv_heads), ("v", kv_heads)))
        if rotates(layer):
            q, k = rotate(q, heads, angles, factor), rotate(k, kv_heads, angles, factor)
        weights, z = attend(q, k, v, heads, causal=True, kv_heads=kv_heads, scale=scale, window=window)
        patterns.append(weights)
        x = x + sublayer * w.linear(z, name + "self_attn.o_proj", D, bias)
        x = x + sublayer * feed_forward(norm(x, name + "post_attention_layernorm"), name + "mlp.")
    x = norm(x, prefix + "norm")
    head = words if config["tie_word_embeddings"] else w.draw("lm_head.weight", (WORDS, D), 0.3)
    return config, {"ids": IDS}, w, {"attentions": torch.stack(patterns), "last_hidden_state": x,
                                     "logits": x @ head.T}


def gated(w):
    return lambda y, name: w.linear(F.silu(w.linear(y, name + "gate_proj", FFN, False))
                                    * w.linear(y, name + "up_proj", FFN, False), name + "down_proj", D, False)


def olmo():
    """Norms without numbers."""
    w, config = Weights(61), llama_config("olmo", "OlmoForCausalLM", clip_qkv=None)
    del config["rms_norm_eps"]
    return of_llama(w, config, lambda x, name: F.layer_norm(x, (D,), None, None, 1e-5), gated(w))


def granite():
    w = Weights(62)
    config = llama_config("granite", "GraniteForCausalLM", tie_word_embeddings=True, embedding_multiplier=3.0,
                          attention_multiplier=0.4, residual_multiplier=0.35, logits_scaling=2.5)
    config, case, w, answer = of_llama(w, config, lambda x, name: w.rms_norm(x, name, 1e-6), gated(w), scale=0.4,
                                       sublayer=0.35, embedding=3.0)
    answer["logits"] = answer["logits"] / 2.5
    return config, case, w, answer


def smollm3():
    """Every second layer does not rotate."""
    w = Weights(63)
    config = llama_config("smollm3", "SmolLM3ForCausalLM", num_hidden_layers=4, tie_word_embeddings=True,
                          no_rope_layer_interval=2, no_rope_layers=[1, 0, 1, 0], use_sliding_window=False)
    return of_llama(w, config, lambda x, name: w.rms_norm(x, name, 1e-6), gated(w), rotates=lambda layer: layer % 2 == 0)


def starcoder2():
    """Biases, LayerNorm, a feed-forward without a gate, a window of four tokens."""
    w = Weights(64)
    config = llama_config("starcoder2", "Starcoder2ForCausalLM", tie_word_embeddings=True, norm_epsilon=1e-5,
                          hidden_act="gelu_pytorch_tanh", use_bias=True, sliding_window=4)
    del config["rms_norm_eps"]
    return of_llama(w, config, lambda x, name: w.layer_norm(x, name, 1e-5),
                    lambda y, name: w.linear(gelu_tanh(w.linear(y, name + "c_fc", FFN)), name + "c_proj", D), bias=True,
                    window=4)


def deberta():
    """Query, key and value of a head stand together, without a bias of the keys; projections of distances of its own."""
    w, prefix, epsilon, heads, most, width = Weights(65), "deberta.", 1e-7, 4, 6, D // 4
    config = bert_config("deberta", "DebertaForMaskedLM", type_vocab_size=0, layer_norm_eps=epsilon,
                         relative_attention=True, max_relative_positions=most, pos_att_type=["c2p", "p2c"],
                         position_biased_input=False, talking_head=False)
    words = w.table(prefix + "embeddings.word_embeddings.weight", WORDS, D)
    x = w.layer_norm(words[torch.tensor(IDS)], prefix + "embeddings.LayerNorm", epsilon)
    table = w.draw(prefix + "encoder.rel_embeddings.weight", (2 * most, D), 0.7)
    places = torch.arange(len(IDS))
    rows = (places[:, None] - places[None, :] + most).clamp(0, 2 * most - 1)
    scale, states, patterns = 1 / math.sqrt(3 * width), [x], []
    for layer in range(LAYERS):
        name = f"{prefix}encoder.layer.{layer}."
        own = name + "attention.self."
        fused = w.linear(x, own + "in_proj", 3 * D, False).reshape(-1, heads, 3, width)
        q, k, v = (fused[:, :, part].reshape(-1, D) for part in range(3))
        q, v = q + w.draw(own + "q_bias", (D,), 0.3), v + w.draw(own + "v_bias", (D,), 0.3)
        keys, queries = split(w.linear(table, own + "pos_proj", D, False), heads), split(
            w.linear(table, own + "pos_q_proj", D), heads)
        added = scale * (torch.einsum("hid,hijd->hij", split(q, heads), keys[:, rows])
                         + torch.einsum("hjd,hijd->hij", split(k, heads), queries[:, rows]))
        weights, z = attend(q, k, v, heads, scale=scale, added=added)
        patterns.append(weights)
        x = post_norm_block(w, x, z, name, epsilon)
        states.append(x)
    y = w.layer_norm(F.gelu(w.linear(x, "cls.predictions.transform.dense", D)), "cls.predictions.transform.LayerNorm",
                     epsilon)
    return config, {"ids": IDS}, w, {"attentions": torch.stack(patterns), "hidden_states": torch.stack(states),
                                     "last_hidden_state": x,
                                     "logits": y @ words.T + w.draw("cls.predictions.bias", (WORDS,), 0.3)}


def mbart():
    w, case = Weights(66), {"ids": [9, 31, 44, 9, 7, 2, 50], "decoder_ids": [50, 17, 40]}
    config = stacks_config("mbart", "MBartForConditionalGeneration", activation_function="gelu", pad_token_id=1,
                           normalize_before=True, add_final_layer_norm=True)
    _, answer = norms_before(w, case, config, None, F.gelu)
    answer["logits"] = answer["logits"] + w.draw("final_logits_bias", (1, WORDS), 0.3)[0]
    return config, case, w, answer


def beside_pictures(model_type, name, text, w, answer, renamed, **more):
    """The text's tensors under other names, and one of the parts that read pictures."""
    config = {"model_type": model_type, "architectures": [name], "vision_config": {"hidden_size": 8}, **more}
    if text:
        config["text_config"] = text
    stored = Weights(67)
    for tensor, values in list(w.items()):
        stored[renamed(tensor)] = values
    return config, {"ids": IDS}, stored, answer


def llava():
    """What a text model of Llama does not state has the sizes of Llama's class, so here all is stated."""
    text, _, w, answer = llama_like(Weights(67), {"ids": IDS}, llama_config("llama", "LlamaForCausalLM"))
    config, case, w, answer = beside_pictures("llava", "LlavaForConditionalGeneration", text, w, answer,
                                              lambda name: "language_model." + name, image_token_index=52)
    w.draw("vision_tower.vision_model.post_layernorm.weight", (8,), 0.2)
    w.draw("multi_modal_projector.linear_1.weight", (D, 8), 0.2)
    return config, case, w, answer


def below_language_model(name):
    return name.replace("model.", "model.language_model.", 1) if name.startswith("model.") else name


def mistral3():
    text = llama_config("mistral", "MistralForCausalLM", head_dim=6, sliding_window=None)
    text, _, w, answer = llama_like(Weights(68), {"ids": IDS}, text)
    del text["architectures"]
    config, case, w, answer = beside_pictures(
        "mistral3", "Mistral3ForConditionalGeneration", text, w, answer, below_language_model)
    w.draw("model.vision_tower.ln_pre.weight", (8,), 0.2)
    return config, case, w, answer


def qwen2_vl():
    """Rotations whose parts count rows and columns of pictures: of a text alone they are the usual ones."""
    text = llama_config("qwen2_vl", "Qwen2VLForConditionalGeneration", rope_theta=1e6, tie_word_embeddings=True,
                        num_attention_heads=4)
    text, case, w, answer = llama_like(Weights(69), {"ids": IDS}, text | {"architectures": ["Qwen2ForCausalLM"]},
                                       bias=True)
    w.draw("visual.patch_embed.proj.weight", (8, 12), 0.2)
    return text | {"architectures": ["Qwen2VLForConditionalGeneration"], "vision_config": {"embed_dim": 8},
                   "rope_scaling": {"type": "mrope", "mrope_section": [1, 1, 1]}}, case, w, answer


def qwen2_5_vl():
    """The same as transformers writes it since it has a configuration of its own."""
    text = llama_config("qwen2_5_vl_text", "Qwen2ForCausalLM", rope_theta=1e6, num_attention_heads=4)
    text, _, w, answer = llama_like(Weights(70), {"ids": IDS}, text, bias=True)
    del text["architectures"]
    text["rope_scaling"] = {"rope_type": "default", "type": "default", "mrope_section": [1, 1, 1]}
    config, case, w, answer = beside_pictures(
        "qwen2_5_vl", "Qwen2_5_VLForConditionalGeneration", text, w, answer, below_language_model)
    w.draw("model.visual.merger.ln_q.weight", (8,), 0.2)
    return config, case, w, answer


def bert_pruned():
    """Heads 1 and 2 of the first layer are not stored; computed with their rows and columns as zeros."""
    config = bert_config("bert", "BertModel", pruned_heads={"0": [1, 2]})
    w, case, width, name = Weights(71), {"ids": IDS}, D // 4, "encoder.layer.0.attention."
    bert_like(w, case, config, "", torch.arange(len(IDS)))  # draws all
    for part in ("query", "key", "value"):
        w[f"{name}self.{part}.weight"][width:3 * width] = 0
        w[f"{name}self.{part}.bias"][width:3 * width] = 0
    w[name + "output.dense.weight"][:, width:3 * width] = 0
    _, answer = bert_like(w, case, config, "", torch.arange(len(IDS)))
    left = [*range(width), *range(3 * width, D)]
    for part in ("query", "key", "value"):
        for kind in ("weight", "bias"):
            w[f"{name}self.{part}.{kind}"] = w[f"{name}self.{part}.{kind}"][left]
    w[name + "output.dense.weight"] = w[name + "output.dense.weight"][:, left]
    return config, case, w, answer


def text_tower(model_type, name, causal, activation, epsilon, **more):
    """The part of CLIP or SigLIP that reads texts: a pre-norm stack with learned positions and no output layer."""
    w, prefix, heads = Weights(71 if causal else 72), "text_model.", 4
    case = {"ids": [51, 44, 12, 12, 7, 30, 52]}
    config = {"model_type": model_type, "architectures": [name], "vocab_size": WORDS, "hidden_size": D, "projection_dim": 16,
              "intermediate_size": FFN, "num_hidden_layers": LAYERS, "num_attention_heads": heads,
              "max_position_embeddings": 16, **more}
    places = w.table(prefix + "embeddings.position_embedding.weight", 16, D)[:len(case["ids"])]
    x = w.table(prefix + "embeddings.token_embedding.weight", WORDS, D)[torch.tensor(case["ids"])] + places
    patterns = []
    for layer in range(LAYERS):
        at = f"{prefix}encoder.layers.{layer}."
        y = w.layer_norm(x, at + "layer_norm1", epsilon)
        q, k, v = (w.linear(y, f"{at}self_attn.{part}_proj", D) for part in "qkv")
        weights, z = attend(q, k, v, heads, causal=causal)
        patterns.append(weights)
        x = x + w.linear(z, at + "self_attn.out_proj", D)
        y = w.layer_norm(x, at + "layer_norm2", epsilon)
        x = x + w.linear(activation(w.linear(y, at + "mlp.fc1", FFN)), at + "mlp.fc2", D)
    x = w.layer_norm(x, prefix + "final_layer_norm", epsilon)
    return config, case, w, {"attentions": torch.stack(patterns), "last_hidden_state": x}


def clip_text_model():
    return text_tower("clip_text_model", "CLIPTextModel", True, lambda x: x * torch.sigmoid(1.702 * x), 1e-5,
                      hidden_act="quick_gelu", layer_norm_eps=1e-5)


def siglip_text_model():
    config, case, w, answer = text_tower("siglip_text_model", "SiglipTextModel", False, gelu_tanh, 1e-6,
                                         hidden_act="gelu_pytorch_tanh", layer_norm_eps=1e-6)
    w.linear(answer["last_hidden_state"], "text_model.head", D)       # of the last token, beside attention
    return config, case, w, answer
