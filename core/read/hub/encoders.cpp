// Encoders: BERT (Devlin et al. 2019), RoBERTa (Liu et al. 2019), ELECTRA (Clark et al. 2020), DistilBERT (Sanh et al.
// 2019), ALBERT (Lan et al. 2020), ERNIE (Sun et al. 2019), MPNet (Song et al. 2020).
#include <algorithm>
#include <string>

#include "read/hub/families.h"

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

}  // namespace

HubConfig bert_config(Keyed& keyed, Family family) {
  HubConfig hub;
  hub.vocabulary = keyed.size({"vocab_size"}, kMaxVocabulary);
  hub.positions = keyed.size({"max_position_embeddings"}, kMaxPositions);
  if (family != Family::mpnet) hub.token_types = keyed.size({"type_vocab_size"}, kMaxVocabulary, 2);
  hub.norm_epsilon = static_cast<float>(keyed.number({"layer_norm_eps"}, 0, 1, 1e-12));
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
