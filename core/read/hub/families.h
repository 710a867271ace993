// The config.json of each family, read into HubConfig; the first error stays in the Keyed.
#pragma once

#include "read/hub/config_file.h"
#include "read/hub/config_keys.h"

namespace headlight {

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

/// `with_output`: the classes of the family whose last step is the vocabulary. `where_named`: what is demanded of a file
/// that names one of them.
OutputLayer output_layer(const Keyed& keyed, std::initializer_list<std::string_view> with_output,
                         OutputLayer where_named);

/// Heads must share the columns of a hidden state.
void check_heads(Keyed& keyed, Keys keys, Index heads, Index d_model);

}  // namespace headlight
