#include "read/hub/families.h"

#include <algorithm>
#include <iterator>

#include "read/hub/tensor_name_tables.h"

namespace headlight {
namespace {

template <HubConfig (*read)(Keyed&)>
HubConfig of_one(Keyed& keyed, Family) {
  return read(keyed);
}

// clang-format off
constexpr KnownFamily kFamilies[] = {
    {"bert", Family::bert, "bert.", bert_config, bert_names},
    {"roberta", Family::roberta, "roberta.", bert_config, bert_names},
    {"xlm-roberta", Family::roberta, "roberta.", bert_config, bert_names},
    {"camembert", Family::roberta, "roberta.", bert_config, bert_names},
    {"distilbert", Family::distilbert, "distilbert.", of_one<distilbert_config>, distilbert_names},
    {"electra", Family::electra, "electra.", bert_config, bert_names},
    {"albert", Family::albert, "albert.", bert_config, albert_names},
    {"ernie", Family::ernie, "ernie.", bert_config, bert_names},
    {"mpnet", Family::mpnet, "mpnet.", bert_config, mpnet_names},
    {"modernbert", Family::modernbert, "model.", of_one<modernbert_config>, modernbert_names},
    {"deberta-v2", Family::deberta_v2, "deberta.", of_one<deberta_config>, deberta_names},
    {"gpt2", Family::gpt2, "transformer.", of_one<gpt2_config>, gpt2_names},
    {"opt", Family::opt, "model.", of_one<opt_config>, opt_names},
    {"bloom", Family::bloom, "transformer.", of_one<bloom_config>, bloom_names},
    {"gpt_neox", Family::gpt_neox, "gpt_neox.", of_one<gpt_neox_config>, gpt_neox_names},
    {"gptj", Family::gptj, "transformer.", of_one<gptj_config>, gptj_names},
    {"falcon", Family::falcon, "transformer.", of_one<falcon_config>, falcon_names},
    {"phi", Family::phi, "model.", of_one<phi_config>, phi_names},
    {"llama", Family::llama, "model.", llama_config, llama_names},
    {"mistral", Family::mistral, "model.", llama_config, llama_names},
    {"qwen2", Family::qwen2, "model.", llama_config, llama_names},
    {"qwen3", Family::qwen3, "model.", llama_config, llama_names},
    {"gemma", Family::gemma, "model.", llama_config, llama_names},
    {"gemma2", Family::gemma2, "model.", llama_config, llama_names},
    {"gemma3_text", Family::gemma3, "model.", llama_config, llama_names},
    {"olmo2", Family::olmo2, "model.", llama_config, llama_names},
    {"mixtral", Family::mixtral, "model.", llama_config, llama_names},
    {"qwen2_moe", Family::qwen2_moe, "model.", llama_config, llama_names},
    {"qwen3_moe", Family::qwen3_moe, "model.", llama_config, llama_names},
    {"phi3", Family::phi3, "model.", llama_config, llama_names},
    {"bart", Family::bart, "model.", bart_config, bart_names},
    {"marian", Family::marian, "model.", bart_config, bart_names},
    {"pegasus", Family::pegasus, "model.", bart_config, bart_names},
    {"m2m_100", Family::m2m_100, "model.", bart_config, bart_names},
    {"t5", Family::t5, "transformer.", of_one<t5_config>, t5_names},
    {"mt5", Family::t5, "transformer.", of_one<t5_config>, t5_names},
    {"headlight", Family::headlight, "model.", of_one<headlight_config>, headlight_names},
};
// clang-format on

const KnownFamily& known(Family family) {
  return *std::find_if(std::begin(kFamilies), std::end(kFamilies),
                       [family](const KnownFamily& one) { return one.family == family; });
}

}  // namespace

std::span<const KnownFamily> all_families() { return kFamilies; }

std::string_view name(Family family) { return known(family).type; }

std::string_view prefix(Family family) { return known(family).prefix; }

std::vector<Row> tensor_names(const HubConfig& hub, bool with_output) {
  return known(hub.family).names(hub, with_output);
}

}  // namespace headlight
