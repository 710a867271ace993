// The families, one row each in families.cpp; the config.json of each, read into HubConfig; the first error stays in
// the Keyed.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "read/hub/config_file.h"
#include "read/hub/config_keys.h"
#include "read/hub/tensor_names.h"

namespace headlight {

/// A `model_type` of config.json and how its files are read. A family is named by the first type that it has.
struct KnownFamily {
  std::string_view type;
  Family family;
  std::string_view prefix;  // of the tensors' names (tensor_names.h)
  HubConfig (*config)(Keyed& keyed, Family family);
  std::vector<Row> (*names)(const HubConfig& hub, bool with_output);
};
std::span<const KnownFamily> all_families();

HubConfig bert_config(Keyed& keyed, Family family);  // bert, roberta, electra, albert, ernie, mpnet
HubConfig distilbert_config(Keyed& keyed);
HubConfig gpt2_config(Keyed& keyed);
HubConfig opt_config(Keyed& keyed);
HubConfig bloom_config(Keyed& keyed);
HubConfig modernbert_config(Keyed& keyed);
HubConfig deberta_config(Keyed& keyed);
HubConfig gpt_neox_config(Keyed& keyed);
HubConfig gptj_config(Keyed& keyed);
HubConfig falcon_config(Keyed& keyed);
HubConfig phi_config(Keyed& keyed);
/// llama, mistral, mixtral, qwen2, qwen3, qwen2_moe, qwen3_moe, gemma, gemma2, gemma3, olmo2, phi3
HubConfig llama_config(Keyed& keyed, Family family);
HubConfig bart_config(Keyed& keyed, Family family);  // bart, marian, pegasus, m2m_100
HubConfig t5_config(Keyed& keyed);
HubConfig headlight_config(Keyed& keyed);

/// The number of words, and the ε of the norms under the first of these keys that is there.
HubConfig begin_config(Keyed& keyed, Keys epsilon, double usual_epsilon);

/// `with_output`: the classes of the family whose last step is the vocabulary. `where_named`: what is demanded of a file
/// that names one of them.
OutputLayer output_layer(const Keyed& keyed, std::initializer_list<std::string_view> with_output,
                         OutputLayer where_named);

/// Biases of places or distances go on for ever; so many stand in their table.
inline void limit_linear_biases(HubConfig& hub) {
  hub.longest = LongestText{8192, "the longest for which a bias of each distance is kept"};
}

/// Heads must share the columns of a hidden state.
void check_heads(Keyed& keyed, Keys keys, Index heads, Index d_model);

}  // namespace headlight
