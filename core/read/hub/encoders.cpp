// Encoders: BERT (Devlin et al. 2019), RoBERTa (Liu et al. 2019), ELECTRA (Clark et al. 2020), DistilBERT (Sanh et al.
// 2019), ALBERT (Lan et al. 2020), ERNIE (Sun et al. 2019), MPNet (Song et al. 2020), DeBERTa v2 and v3 (He et al. 2021),
// ModernBERT (Warner et al. 2024).
#include <algorithm>
#include <cmath>
#include <string>

#include "read/array/array.h"
#include "read/hub/families.h"
#include "read/hub/rope.h"

namespace headlight {
namespace {

/// Places are counted from behind the padding's own, which stands in the row of its id.
void count_places_behind_padding(Keyed& keyed, HubConfig& hub) {
  const Index pad = keyed.size({"pad_token_id"}, kMaxVocabulary, 1, 0);
  if (pad + 1 >= hub.positions)
    return keyed.fail({"pad_token_id"}, "less than max_position_embeddings " + std::to_string(hub.positions) + " - 1",
                      std::to_string(pad));
  hub.pad_id = pad;
  hub.first_position = pad + 1;
}

OutputLayer output_of(const Keyed& keyed, Family family) {
  // The task head is often removed from such a model while its class name stays.
  constexpr OutputLayer kNamed = OutputLayer::if_stored;
  switch (family) {
    case Family::roberta:
      return output_layer(keyed,
                          {"RobertaForMaskedLM", "RobertaForCausalLM", "XLMRobertaForMaskedLM", "XLMRobertaForCausalLM",
                           "CamembertForMaskedLM", "CamembertForCausalLM"},
                          kNamed);
    case Family::electra: return output_layer(keyed, {"ElectraForMaskedLM", "ElectraForCausalLM"}, kNamed);
    case Family::albert: return output_layer(keyed, {"AlbertForMaskedLM", "AlbertForPreTraining"}, kNamed);
    case Family::ernie: return output_layer(keyed, {"ErnieForMaskedLM", "ErnieForPreTraining"}, kNamed);
    case Family::mpnet: return output_layer(keyed, {"MPNetForMaskedLM"}, kNamed);
    default: return output_layer(keyed, {"BertForMaskedLM", "BertForPreTraining", "BertLMHeadModel"}, kNamed);
  }
}

/// Layers of which several have the same weights (Lan et al. 2020, section 3.1).
void share_layers(Keyed& keyed, HubConfig& hub) {
  hub.layer_groups = keyed.size({"num_hidden_groups"}, hub.config.num_layers, 1);
  if (keyed.size({"inner_group_num"}, kMaxLayers, 1) != 1) keyed.fail({"inner_group_num"}, "1", "more");
}

/// Distances have a bias of the scores, as in T5 but beside the usual scale.
void read_distances(Keyed& keyed, HubConfig& hub) {
  hub.relative_buckets = keyed.size({"relative_attention_num_buckets"}, 4096, 32, 4);
  hub.relative_distance = 128;
  if (hub.relative_distance <= hub.relative_buckets / 4)
    keyed.fail({"relative_attention_num_buckets"}, "fewer than 512", std::to_string(hub.relative_buckets));
}

/// Vectors of distances (He et al. 2021, section 3.1; He, Gao & Chen 2023): a row for each up to half of the buckets,
/// rows for farther ones; without buckets a row for each distance.
void read_distance_vectors(Keyed& keyed, HubConfig& hub) {
  const auto size_or_none = [&](const char* key) {  // −1 means none
    const nlohmann::json* value = keyed.find({key});
    return value && *value == -1 ? Index{0} : keyed.size({key}, kMaxPositions, 0, 0);
  };
  const Index buckets = size_or_none("position_buckets"), said = size_or_none("max_relative_positions");
  hub.distance_most = said > 0 ? said : hub.positions;
  hub.distance_exact = buckets / 2;
  hub.distance_rows = 2 * (buckets > 0 ? buckets : hub.distance_most);
  if (buckets > 0 && (buckets < 4 || buckets % 2 != 0 || hub.distance_most <= hub.distance_exact + 1))
    keyed.fail({"position_buckets"}, "an even number from 4, fewer than twice the distances", std::to_string(buckets));
  std::string kinds;  // a list, or the same with | between them
  if (const nlohmann::json* list = keyed.find({"pos_att_type"}); list && list->is_array()) {
    for (const nlohmann::json& one : *list) kinds += (one.is_string() ? one.get<std::string>() : "?") + "|";
  } else if (list) {
    kinds = keyed.word({"pos_att_type"}, "") + "|";
  }
  for (std::size_t at = 0, end; (end = kinds.find('|', at)) != std::string::npos; at = end + 1) {
    const std::string kind = kinds.substr(at, end - at);
    hub.content_to_position = hub.content_to_position || kind == "c2p";
    hub.position_to_content = hub.position_to_content || kind == "p2c";
    if (kind != "c2p" && kind != "p2c") keyed.fail({"pos_att_type"}, "c2p, p2c or both", "'" + printable(kind) + "'");
  }
  if (!hub.content_to_position && !hub.position_to_content) keyed.fail({"pos_att_type"}, "c2p, p2c or both", "none");
  hub.shared_distances = keyed.flag({"share_att_key"}, false);
  const std::string norm = keyed.word({"norm_rel_ebd"}, "none");
  hub.distance_norm = norm == "layer_norm";
  if (!hub.distance_norm && norm != "none")
    keyed.fail({"norm_rel_ebd"}, "layer_norm or none", "'" + printable(norm) + "'");
  const int terms = 1 + hub.content_to_position + hub.position_to_content;
  hub.attention_scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(hub.config.d_k() * terms)));
}

}  // namespace

HubConfig bert_config(Keyed& keyed, Family family) {
  HubConfig hub = begin_config(keyed, {"layer_norm_eps"}, 1e-12);
  hub.positions = keyed.size({"max_position_embeddings"}, kMaxPositions);
  if (family != Family::mpnet) hub.token_types = keyed.size({"type_vocab_size"}, kMaxVocabulary, 2);
  keyed.only({"add_cross_attention"}, false);
  keyed.only({"position_embedding_type"}, "absolute");
  hub.config = {.arch = keyed.flag({"is_decoder"}, false) ? Arch::decoder : Arch::encoder,
                .d_model = keyed.size({"hidden_size"}, kMaxDModel),
                .num_heads = keyed.size({"num_attention_heads"}, kMaxHeads),
                .num_layers = keyed.size({"num_hidden_layers"}, kMaxLayers),
                .ffn = keyed.size({"intermediate_size"}, kMaxFfn),
                .position = Position::learned,
                .norm = Norm::post,
                .activation = keyed.activation({"hidden_act"}, family == Family::albert ? "gelu_new" : "gelu"),
                .tied = keyed.flag({"tie_word_embeddings"}, true)};
  check_heads(keyed, {"num_attention_heads"}, hub.config.num_heads, hub.config.d_model);
  hub.output = output_of(keyed, family);
  if (family == Family::roberta || family == Family::mpnet) count_places_behind_padding(keyed, hub);
  if (family == Family::electra || family == Family::albert)
    hub.embedding_size = keyed.size({"embedding_size"}, kMaxDModel, 128);
  if (family == Family::albert) share_layers(keyed, hub);
  if (family == Family::mpnet) read_distances(keyed, hub);
  if (family == Family::ernie && keyed.flag({"use_task_id"}, false))
    hub.task_types = keyed.size({"task_type_vocab_size"}, kMaxVocabulary, 3);
  // These say what their output layer does themselves, whatever the blocks do.
  if (family == Family::roberta || family == Family::electra || family == Family::mpnet)
    hub.output_activation = Activation::gelu;
  return hub;
}

HubConfig modernbert_config(Keyed& keyed) {
  HubConfig hub = begin_config(keyed, {"norm_eps"}, 1e-5);
  keyed.only({"norm_bias"}, false);
  keyed.only({"classifier_bias"}, false);
  keyed.only({"decoder_bias"}, true);
  const bool bias = keyed.flag({"attention_bias"}, false), ffn_bias = keyed.flag({"mlp_bias"}, false);
  hub.config = {.arch = Arch::encoder,
                .d_model = keyed.size({"hidden_size"}, kMaxDModel),
                .num_heads = keyed.size({"num_attention_heads"}, kMaxHeads),
                .num_layers = keyed.size({"num_hidden_layers"}, kMaxLayers),
                .ffn = keyed.size({"intermediate_size"}, kMaxFfn),
                .position = Position::rotary,
                .norm = Norm::pre,
                .activation = keyed.activation({"hidden_activation"}, "gelu"),
                .gated = true,
                .bias = {.query = bias, .key = bias, .value = bias, .output = bias, .ffn = ffn_bias},
                .tied = keyed.flag({"tie_word_embeddings"}, true)};
  check_heads(keyed, {"num_attention_heads"}, hub.config.num_heads, hub.config.d_model);
  const double theta = read_theta(keyed, "global_rope_theta", 160000);
  hub.rotary = plain_rotary(hub.config.d_k(), theta);
  const double near = keyed.is_null("local_rope_theta") ? theta : read_theta(keyed, "local_rope_theta", 10000);
  hub.window_rotary = plain_rotary(hub.config.d_k(), near);
  for (const char* key : {"rope_parameters", "rope_scaling", "layer_types"})
    if (keyed.find({key})) keyed.fail({key}, "none: global_rope_theta and local_rope_theta", "one");
  // Keys are seen up to half of this many tokens away, to either side.
  const Index local = keyed.size({"local_attention"}, Index{1} << 30, 128);
  const Index every = keyed.size({"global_attn_every_n_layers"}, kMaxLayers, 3);
  for (Index layer = 0; layer < hub.config.num_layers; ++layer)
    hub.windows.push_back(layer % every == 0 ? 0 : local / 2 + 1);
  hub.output_activation = keyed.activation({"classifier_activation"}, "gelu");
  hub.output = output_layer(keyed, {"ModernBertForMaskedLM"}, OutputLayer::if_stored);
  return hub;
}

HubConfig deberta_config(Keyed& keyed) {
  HubConfig hub = begin_config(keyed, {"layer_norm_eps"}, 1e-7);
  hub.positions = keyed.size({"max_position_embeddings"}, kMaxPositions, 512);
  hub.token_types = keyed.size({"type_vocab_size"}, kMaxVocabulary, 0, 0);
  const bool places = keyed.flag({"position_biased_input"}, true);
  const Index d_model = keyed.size({"hidden_size"}, kMaxDModel);
  hub.config = {.arch = Arch::encoder,
                .d_model = d_model,
                .num_heads = keyed.size({"num_attention_heads"}, kMaxHeads),
                .num_layers = keyed.size({"num_hidden_layers"}, kMaxLayers),
                .ffn = keyed.size({"intermediate_size"}, kMaxFfn),
                .position = places ? Position::learned : Position::none,
                .norm = Norm::post,
                .activation = keyed.activation({"hidden_act"}, "gelu"),
                .tied = keyed.flag({"tie_word_embeddings"}, true)};
  check_heads(keyed, {"num_attention_heads"}, hub.config.num_heads, d_model);
  if (keyed.size({"embedding_size"}, kMaxDModel, d_model) != d_model)
    keyed.fail({"embedding_size"}, std::to_string(d_model) + ", as hidden_size", "another width");
  if (keyed.size({"conv_kernel_size"}, kMaxFfn, 0, 0) != 0)
    keyed.fail({"conv_kernel_size"}, "0: no convolution beside the first layer", "more");
  keyed.only({"relative_attention"}, true);
  if (keyed.error()) return hub;
  read_distance_vectors(keyed, hub);
  hub.output = output_layer(keyed, {"DebertaV2ForMaskedLM"}, OutputLayer::if_stored);
  return hub;
}

HubConfig distilbert_config(Keyed& keyed) {
  HubConfig hub;
  hub.vocabulary = keyed.size({"vocab_size"}, kMaxVocabulary);
  hub.positions = keyed.size({"max_position_embeddings"}, kMaxPositions, 512);
  hub.norm_epsilon = 1e-12f;
  hub.config = {.arch = Arch::encoder,
                .d_model = keyed.size({"dim", "hidden_size"}, kMaxDModel),
                .num_heads = keyed.size({"n_heads", "num_attention_heads"}, kMaxHeads),
                .num_layers = keyed.size({"n_layers", "num_hidden_layers"}, kMaxLayers),
                .ffn = keyed.size({"hidden_dim"}, kMaxFfn),
                .position = Position::learned,  // stored even where they are sines
                .norm = Norm::post,
                .activation = keyed.activation({"activation"}, "gelu"),
                .tied = keyed.flag({"tie_word_embeddings"}, true)};
  check_heads(keyed, {"n_heads"}, hub.config.num_heads, hub.config.d_model);
  hub.output = output_layer(keyed, {"DistilBertForMaskedLM"}, OutputLayer::if_stored);
  return hub;
}

}  // namespace headlight
