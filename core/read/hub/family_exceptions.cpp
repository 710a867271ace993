// What the rows of families.json cannot express: keys whose meaning depends on others, and options that mean a
// computation that is not known. Each function belongs to the families that name it.

#include <algorithm>
#include <cassert>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/formatted.h"
#include "base/utf8.h"
#include "read/array/array.h"
#include "read/hub/families.h"

namespace headlight {
namespace {

using nlohmann::json;

/// Positions are counted from behind that of the padding, which is the row of its id.
void positions_behind_padding(Keyed& keyed, const Family&, HubConfig& hub) {
  const Index pad = keyed.size({"pad_token_id"}, kMaxVocabulary, 1, 0);
  if (pad + 1 >= hub.positions)
    return keyed.fail({"pad_token_id"}, "less than max_position_embeddings " + std::to_string(hub.positions) + " - 1",
                      std::to_string(pad));
  hub.pad_id = pad;
  hub.first_position = pad + 1;
}

/// The same of a table that is no part of the file: sines and cosines, the padding's row zero (Fan et al. 2021).
void sinusoidal_positions_behind_padding(Keyed& keyed, const Family&, HubConfig& hub) {
  const Index pad = keyed.size({"pad_token_id"}, kMaxVocabulary, 1, 0);
  if (pad != 1) return keyed.fail({"pad_token_id"}, "1", std::to_string(pad));
  hub.pad_id = pad;
  hub.first_position = pad + 1;
  hub.positions += hub.first_position;
  hub.falling_sinusoids = true;
}

/// Heads that were taken away (Michel et al. 2019): their numbers, by layer. The others keep their numbers here.
void pruned_heads(Keyed& keyed, const Family&, HubConfig& hub) {
  const json* pruned = keyed.find({"pruned_heads"});
  if (!pruned || pruned->empty()) return;
  const Index layers = hub.config.num_layers, heads = hub.config.num_heads;
  const auto fail = [&](const json& found) {
    keyed.fail({"pruned_heads"},
               "lists of heads below " + std::to_string(heads) + ", not all, by layers below " + std::to_string(layers),
               found_text(found));
  };
  if (!pruned->is_object()) return fail(*pruned);
  for (const auto& [key, list] : pruned->items()) {
    const auto layer = parse_number<Index>(key);
    if (!layer || *layer < 0 || *layer >= layers || !list.is_array()) return fail(*pruned);
    std::set<Index>& gone = hub.pruned[*layer];
    for (const json& head : list) {
      if (!is_whole(head, 0, static_cast<std::uint64_t>(heads - 1))) return fail(head);
      gone.insert(head.get<Index>());
    }
    if (std::ssize(gone) == heads) return fail(list);
  }
}

void decoder_by_flag(Keyed& keyed, const Family&, HubConfig& hub) {
  if (keyed.flag({"is_decoder"}, false)) hub.config.arch = Arch::decoder;
}

/// Layers of which several have the same weights (Lan et al. 2020, section 3.1).
void layer_groups(Keyed& keyed, const Family&, HubConfig& hub) {
  hub.layer_groups = keyed.size({"num_hidden_groups"}, hub.config.num_layers, 1);
  if (keyed.size({"inner_group_num"}, kMaxLayers, 1) != 1) keyed.fail({"inner_group_num"}, "1", "more");
}

/// Sun et al. 2020 (ERNIE 2.0).
void task_types(Keyed& keyed, const Family&, HubConfig& hub) {
  if (keyed.flag({"use_task_id"}, false)) hub.task_types = keyed.size({"task_type_vocab_size"}, kMaxVocabulary, 3);
}

/// MPNet's distances have a bias of the scores, as in T5 but beside the usual scale.
void relative_buckets(Keyed& keyed, const Family&, HubConfig& hub) {
  if (hub.relative_distance <= hub.relative_buckets / 4)
    keyed.fail({"relative_attention_num_buckets"}, "fewer than 512", std::to_string(hub.relative_buckets));
}

/// Whether `layer_types` gives a layer a window; nothing where there is no such list.
std::optional<bool> listed_as_windowed(Keyed& keyed, const HubConfig& hub, Index layer) {
  const json* types = keyed.find({"layer_types"});
  if (!types) return std::nullopt;
  const auto layers = static_cast<std::size_t>(hub.config.num_layers);
  const bool fits = types->is_array() && types->size() == layers;
  if (!fits) keyed.fail({"layer_types"}, "a list of " + std::to_string(layers), found_text(*types));
  const json type = fits ? (*types)[static_cast<std::size_t>(layer)] : json("full_attention");
  if (type != "full_attention" && type != "sliding_attention")
    keyed.fail({"layer_types"}, "full_attention or sliding_attention", found_text(type));
  return type == "sliding_attention";
}

/// Warner et al. 2024: keys are seen up to half of local_attention tokens away, to either side, but for each third
/// layer.
void modernbert_rotation(Keyed& keyed, const Family&, HubConfig& hub) {
  const double theta = read_theta(keyed, "global_rope_theta", 160000, "full_attention");
  hub.rotary = plain_rotary(hub.config.d_k(), theta);
  const double near =
      keyed.is_null("local_rope_theta") ? theta : read_theta(keyed, "local_rope_theta", 10000, "sliding_attention");
  hub.window_rotary = plain_rotary(hub.config.d_k(), near);
  for (const char* key : {"rope_parameters", "rope_scaling"})
    if (keyed.find({key}) && !rotation_of(keyed, "full_attention"))
      keyed.fail({key}, "none: global_rope_theta and local_rope_theta", "one");
  const Index local = keyed.size({"local_attention"}, Index{1} << 30, 128);
  const Index every = keyed.size({"global_attn_every_n_layers"}, kMaxLayers, 3);
  for (Index layer = 0; layer < hub.config.num_layers; ++layer)
    hub.windows.push_back(listed_as_windowed(keyed, hub, layer).value_or(layer % every != 0) ? local / 2 + 1 : 0);
}

/// pos_att_type: a list, or the same with | between them.
void read_kinds_of_distances(Keyed& keyed, HubConfig& hub) {
  std::string kinds;
  if (const json* list = keyed.find({"pos_att_type"}); list && list->is_array()) {
    for (const json& one : *list) kinds += (one.is_string() ? one.get<std::string>() : "?") + "|";
  } else if (list) {
    kinds = keyed.word({"pos_att_type"}, "") + "|";
  }
  const bool none = kinds.empty();
  if (!none) kinds.pop_back();
  for (const std::string_view kind : split_at('|', kinds)) {
    hub.content_to_position = hub.content_to_position || kind == "c2p";
    hub.position_to_content = hub.position_to_content || kind == "p2c";
    if (kind != "c2p" && kind != "p2c")
      keyed.fail({"pos_att_type"}, "c2p, p2c or both", none ? "none" : "'" + printable(kind) + "'");
  }
}

/// Vectors of distances (He et al. 2021, section 3.1; He, Gao & Chen 2023): a row for each up to half of the buckets,
/// rows for farther ones; without buckets a row for each distance.
void distance_vectors(Keyed& keyed, const Family&, HubConfig& hub) {
  if (!keyed.flag({"position_biased_input"}, true)) hub.config.position = Position::none;
  if (const Index d = hub.config.d_model; keyed.size({"embedding_size"}, kMaxDModel, d) != d)
    keyed.fail({"embedding_size"}, std::to_string(d) + ", as hidden_size", "another width");
  if (keyed.size({"conv_kernel_size"}, kMaxFfn, 0, 0) != 0)
    keyed.fail({"conv_kernel_size"}, "0: no convolution beside the first layer", "more");
  if (keyed.error()) return;
  const auto size_or_none = [&](const char* key) {  // −1 means none
    const json* value = keyed.find({key});
    return value && *value == -1 ? Index{0} : keyed.size({key}, kMaxPositions, 0, 0);
  };
  const Index buckets = size_or_none("position_buckets"), stated = size_or_none("max_relative_positions");
  hub.distance_most = stated > 0 ? stated : hub.positions;
  hub.distance_exact = buckets / 2;
  hub.distance_rows = 2 * (buckets > 0 ? buckets : hub.distance_most);
  if (buckets > 0 && (buckets < 4 || buckets % 2 != 0 || hub.distance_most <= hub.distance_exact + 1))
    keyed.fail({"position_buckets"}, "an even number from 4, fewer than twice the distances", std::to_string(buckets));
  read_kinds_of_distances(keyed, hub);
  hub.shared_distances = keyed.flag({"share_att_key"}, false);
  const std::string norm = keyed.word({"norm_rel_ebd"}, "none");
  hub.distance_norm = norm == "layer_norm";
  if (!hub.distance_norm && norm != "none")
    keyed.fail({"norm_rel_ebd"}, "layer_norm or none", "'" + printable(norm) + "'");
  const int terms = 1 + hub.content_to_position + hub.position_to_content;
  hub.attention_scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(hub.config.d_k() * terms)));
}

/// DeBERTa's first version: queries and values have biases, which stand apart from the weights.
void keys_without_bias(Keyed&, const Family&, HubConfig& hub) { hub.config.bias.key = false; }

/// GPT-Neo: layers that see all tokens, and layers that see the nearest. attention_types has them as
/// [[["global", "local"], 12]], attention_layers one by one.
void kinds_of_attention(Keyed& keyed, const Family&, HubConfig& hub) {
  const json* listed = keyed.find({"attention_layers"});
  const json* repeated = keyed.find({"attention_types"});
  const json unsaid = json::parse(R"([[["global", "local"], 12]])");
  const json& pairs = repeated ? *repeated : unsaid;
  std::vector<json> kinds;
  if (listed && listed->is_array()) kinds.assign(listed->begin(), listed->end());
  for (std::size_t i = 0; !listed && pairs.is_array() && i < pairs.size(); ++i) {
    const bool is_pair = pairs[i].is_array() && pairs[i].size() == 2 && pairs[i][0].is_array();
    if (!is_pair || !is_whole(pairs[i][1], 1, static_cast<std::uint64_t>(kMaxLayers))) break;
    for (Index times = pairs[i][1].get<Index>(); times > 0 && std::ssize(kinds) <= kMaxLayers; --times)
      kinds.insert(kinds.end(), pairs[i][0].begin(), pairs[i][0].end());
  }
  const Index window = keyed.size({"window_size"}, Index{1} << 30, 256);
  for (const json& kind : kinds) {
    if (kind != "global" && kind != "local")
      return keyed.fail({"attention_types"}, "global or local", found_text(kind));
    hub.windows.push_back(kind == "local" ? window : 0);
  }
  if (std::ssize(kinds) != hub.config.num_layers)
    keyed.fail({"attention_types"}, "a kind for each of " + std::to_string(hub.config.num_layers) + " layers",
               std::to_string(kinds.size()));
}

/// Granite (Granite Team 2024): the muP numbers of Yang et al. 2022.
void multipliers(Keyed& keyed, const Family&, HubConfig& hub) {
  constexpr double kMost = 1e6;
  const auto factor = [&](const char* key) { return static_cast<float>(keyed.number({key}, 0, kMost, 1)); };
  hub.embedding_scale = factor("embedding_multiplier");
  hub.attention_scale = factor("attention_multiplier");
  hub.residual_scale = factor("residual_multiplier");
  hub.output_scale = static_cast<float>(1 / keyed.number({"logits_scaling"}, 1 / kMost, kMost, 1));
}

/// SmolLM3: by default every fourth layer; no_rope_layers has 0 for those that do not rotate.
void layers_without_rotation(Keyed& keyed, const Family&, HubConfig& hub) {
  const json* listed = keyed.find({"no_rope_layers"});
  const Index every = keyed.size({"no_rope_layer_interval"}, kMaxLayers, 4), layers = hub.config.num_layers;
  const bool fits =
      !listed || (listed->is_array() && std::ssize(*listed) == layers &&
                  std::all_of(listed->begin(), listed->end(), [](const json& one) { return is_whole(one, 0, 1); }));
  if (!fits) return keyed.fail({"no_rope_layers"}, std::to_string(layers) + " numbers 0 or 1", found_text(*listed));
  for (Index layer = 0; layer < layers; ++layer)
    if (listed ? (*listed)[static_cast<std::size_t>(layer)] == 0 : (layer + 1) % every == 0)
      hub.unrotated.push_back(layer);
}

/// The first rotary_dim columns of a head are rotated, pair by pair; all where it is null.
void gptj_rotation(Keyed& keyed, const Family&, HubConfig& hub) {
  hub.longest = LongestText{keyed.size({"n_positions", "max_position_embeddings"}, kMaxPositions, 2048),
                            "the positions that the model knows"};
  const Index width = hub.config.d_k(), unless_stated = keyed.is_null("rotary_dim") ? width : 64;
  const Index columns = keyed.size({"rotary_dim"}, kMaxHeadDim, unless_stated, 2);
  if (columns > width || columns % 2 != 0)
    keyed.fail({"rotary_dim"}, "an even number of a head's " + std::to_string(width) + " columns",
               std::to_string(columns));
  if (columns != width) hub.config.rotary_columns = columns;
  hub.rotary = plain_rotary(columns, 10000, true);
}

/// Two designs in one family: a key head for all queries (7b, RW) or for groups of them (40b and later).
void falcon(Keyed& keyed, const Family&, HubConfig& hub) {
  const bool grouped = keyed.flag({"new_decoder_architecture"}, false), shared = keyed.flag({"multi_query"}, true);
  const bool parallel = keyed.flag({"parallel_attn"}, true);
  // Of Falcon-RW (Penedo et al. 2023): a bias of each key's position instead of a rotation.
  hub.linear_key_biases = keyed.flag({"alibi"}, false);
  hub.two_norms = grouped && keyed.size({"num_ln_in_parallel_attn"}, 2, 2) == 2;
  if (grouped && !parallel && !hub.two_norms) keyed.fail({"parallel_attn"}, "true", "false with one norm a layer");
  hub.parallel = grouped || parallel;
  hub.one_norm = hub.parallel && !hub.two_norms;
  Config& config = hub.config;
  config.num_kv_heads = grouped  ? keyed.size({"num_kv_heads", "n_head_kv"}, kMaxHeads, config.num_heads)
                        : shared ? 1
                                 : config.num_heads;
  check_divides(keyed, {"num_kv_heads"}, config.num_kv_heads, config.num_heads, kQueryHeads);
  if (hub.linear_key_biases) config.position = Position::none;
  else read_rope(keyed, hub);
}

void groups_of_heads(Keyed& keyed, const Family&, HubConfig& hub) {
  check_divides(keyed, {"num_key_value_heads"}, hub.config.num_kv_heads, hub.config.num_heads, kQueryHeads);
}

/// Gemma 2 (Gemma Team 2024, section 2).
void scale_by_scalar(Keyed& keyed, const Family&, HubConfig& hub) {
  hub.attention_scale = static_cast<float>(1.0 / std::sqrt(keyed.number({"query_pre_attn_scalar"}, 1e-3, 1e6, 256)));
}

/// Gemma 3 (Gemma Team 2025, section 2).
void rotation_of_windows(Keyed& keyed, const Family&, HubConfig& hub) {
  hub.window_rotary =
      plain_rotary(hub.config.d_k(), read_theta(keyed, "rope_local_base_freq", 10000, "sliding_attention"));
}

/// Mixtures of experts in some layers alone are not known.
void experts_in_every_layer(Keyed& keyed, const Family&, HubConfig&) {
  if (keyed.size({"decoder_sparse_step"}, kMaxLayers, 1) != 1)
    keyed.fail({"decoder_sparse_step"}, "1: experts in every layer", "more");
  if (const auto* layers = keyed.find({"mlp_only_layers"}); layers && !layers->empty())
    keyed.fail({"mlp_only_layers"}, "none: experts in every layer", "some");
}

/// Whether a layer sees no further back than the window, where the file has no list of layers.
bool is_windowed(Keyed& keyed, std::string_view layers, Index layer, const std::vector<Index>& unrotated) {
  if (layers == "even") return layer % 2 == 0;
  if (layers == "most") return (layer + 1) % keyed.size({"sliding_window_pattern"}, kMaxLayers, 6) != 0;
  if (layers == "upper")
    return keyed.flag({"use_sliding_window"}, false) &&
           layer >= keyed.size({"max_window_layers"}, kMaxLayers * 16, 28, 0);
  if (layers == "unrotated")
    return keyed.flag({"use_sliding_window"}, false) &&
           std::find(unrotated.begin(), unrotated.end(), layer) != unrotated.end();
  assert(layers == "all");
  return true;
}

/// The window of each layer: those keys are seen that are nearer than it. The row's "window" has the width of a file
/// that states none (none: no windows) and the layers that have one.
void windows(Keyed& keyed, const Family& family, HubConfig& hub) {
  const json& row = family.row["window"];
  const json* stated = keyed.find({"sliding_window"});
  if (keyed.is_null("sliding_window") || (stated ? *stated == 0 : !row.contains("unless stated"))) return;
  const Index window = keyed.size({"sliding_window"}, Index{1} << 30, row.value("unless stated", Index{1}));
  std::vector<Index> windows;
  for (Index layer = 0; layer < hub.config.num_layers; ++layer) {
    const bool usual = is_windowed(keyed, row["layers"].get_ref<const std::string&>(), layer, hub.unrotated);
    windows.push_back(listed_as_windowed(keyed, hub, layer).value_or(usual) ? window : 0);
  }
  if (std::any_of(windows.begin(), windows.end(), [](Index one) { return one > 0; })) hub.windows = std::move(windows);
}

/// Marian (Junczys-Dowmunt et al. 2018): encoder and decoder may have a vocabulary each.
void two_vocabularies(Keyed& keyed, const Family&, HubConfig& hub) {
  hub.output_vocabulary = keyed.size({"decoder_vocab_size"}, kMaxVocabulary, hub.vocabulary);
  hub.shared_embeddings = keyed.flag({"share_encoder_decoder_embeddings"}, true);
  if (hub.shared_embeddings && hub.output_vocabulary != hub.vocabulary)
    keyed.fail({"decoder_vocab_size"}, std::to_string(hub.vocabulary) + ", as the embeddings are shared",
               std::to_string(hub.output_vocabulary));
}

/// Raffel et al. 2020. feed_forward_proj is "relu" or "gated-gelu": version 1.1 gates with the approximation by tanh.
void t5(Keyed& keyed, const Family&, HubConfig& hub) {
  if (hub.relative_distance <= hub.relative_buckets / 2)
    keyed.fail({"relative_attention_max_distance"}, "more than half of the buckets",
               std::to_string(hub.relative_distance));
  Config& config = hub.config;
  const std::string stated = keyed.word({"feed_forward_proj"}, "relu");
  config.gated = stated.starts_with("gated-");
  const std::string word = config.gated ? stated.substr(6) : stated;
  constexpr std::string_view kWords[] = {"relu", "gelu", "gelu_new", "silu"};  // in the order of Activation
  if (const auto known = value_named<Activation>(kWords, word))
    config.activation = config.gated && *known == Activation::gelu ? Activation::gelu_tanh : *known;
  else
    keyed.fail({"feed_forward_proj"}, "relu, gelu, gelu_new, silu, or gated- with one of them",
               "'" + printable(word) + "'");
  const bool tied = keyed.flag({"tie_word_embeddings"}, true);
  // transformers 5 writes of every model that it is tied, the scale of T5 apart, and has no scale for mT5.
  const bool never =
      keyed.word({"model_type"}, "") == "mt5" && std::atoi(keyed.word({"transformers_version"}, "").c_str()) >= 5;
  const bool scaled = keyed.flag({"scale_decoder_outputs"}, tied && !never);
  config.tied = tied && scaled;
  hub.tied_where_absent = tied;
  if (scaled) hub.output_scale = 1.0f / std::sqrt(static_cast<float>(config.d_model));
}

struct NamedException {
  std::string_view name;
  FamilyException read;
};
constexpr NamedException kExceptions[] = {
    {"bias_of_patches", bias_of_patches},
    {"decoder_by_flag", decoder_by_flag},
    {"distance_vectors", distance_vectors},
    {"experts_in_every_layer", experts_in_every_layer},
    {"falcon", falcon},
    {"feed_forward_by_ratio", feed_forward_by_ratio},
    {"gptj_rotation", gptj_rotation},
    {"groups_of_heads", groups_of_heads},
    {"headlight", read_headlight},
    {"keys_without_bias", keys_without_bias},
    {"kinds_of_attention", kinds_of_attention},
    {"layer_groups", layer_groups},
    {"layers_without_rotation", layers_without_rotation},
    {"modernbert_rotation", modernbert_rotation},
    {"multipliers", multipliers},
    {"pictures", pictures},
    {"positions_behind_padding", positions_behind_padding},
    {"pruned_heads", pruned_heads},
    {"relative_buckets", relative_buckets},
    {"rotation_of_patches", rotation_of_patches},
    {"rotation_of_windows", rotation_of_windows},
    {"scale_by_scalar", scale_by_scalar},
    {"sinusoidal_positions_behind_padding", sinusoidal_positions_behind_padding},
    {"t5", t5},
    {"task_types", task_types},
    {"two_vocabularies", two_vocabularies},
    {"windows", windows},
};

}  // namespace

FamilyException family_exception(std::string_view name) { return named(kExceptions, name).read; }

}  // namespace headlight
