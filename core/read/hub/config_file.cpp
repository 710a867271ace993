#include "read/hub/config_file.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "base/file.h"
#include "read/array/array.h"
#include "read/hub/families.h"
#include "read/json/json_document.h"

namespace headlight {
namespace {

/// model_type → family.
constexpr std::pair<std::string_view, Family> kTypes[] = {{"bert", Family::bert},
                                                          {"roberta", Family::roberta},
                                                          {"xlm-roberta", Family::roberta},
                                                          {"camembert", Family::roberta},
                                                          {"distilbert", Family::distilbert},
                                                          {"electra", Family::electra},
                                                          {"albert", Family::albert},
                                                          {"ernie", Family::ernie},
                                                          {"mpnet", Family::mpnet},
                                                          {"modernbert", Family::modernbert},
                                                          {"deberta-v2", Family::deberta_v2},
                                                          {"gpt2", Family::gpt2},
                                                          {"opt", Family::opt},
                                                          {"bloom", Family::bloom},
                                                          {"gpt_neox", Family::gpt_neox},
                                                          {"gptj", Family::gptj},
                                                          {"falcon", Family::falcon},
                                                          {"phi", Family::phi},
                                                          {"llama", Family::llama},
                                                          {"mistral", Family::mistral},
                                                          {"qwen2", Family::qwen2},
                                                          {"qwen3", Family::qwen3},
                                                          {"gemma", Family::gemma},
                                                          {"gemma2", Family::gemma2},
                                                          {"gemma3_text", Family::gemma3},
                                                          {"olmo2", Family::olmo2},
                                                          {"mixtral", Family::mixtral},
                                                          {"qwen2_moe", Family::qwen2_moe},
                                                          {"qwen3_moe", Family::qwen3_moe},
                                                          {"phi3", Family::phi3},
                                                          {"bart", Family::bart},
                                                          {"marian", Family::marian},
                                                          {"pegasus", Family::pegasus},
                                                          {"m2m_100", Family::m2m_100},
                                                          {"t5", Family::t5},
                                                          {"mt5", Family::t5},
                                                          {"headlight", Family::headlight}};

/// Options of some families that change attention or what goes into it. A file of another family that has one switched on
/// describes a model that would be computed wrongly.
constexpr const char* kOptions[] = {
    "alibi",          "attention_chunk_size", "attention_multiplier",    "attn_logit_softcapping",
    "clip_qkv",       "embedding_multiplier", "final_logit_softcapping", "logits_scaling",
    "no_rope_layers", "num_experts",          "num_local_experts",       "qk_layernorm",
    "qk_norm",        "relative_attention",   "residual_multiplier",     "use_qk_norm"};

void refuse_options_of_others(Keyed& keyed) {
  for (const char* option : kOptions) {
    if (keyed.was_read(option)) continue;
    const nlohmann::json* value = keyed.find({option});
    if (value && *value != false && *value != 0 && !(value->is_array() && value->empty()))
      keyed.fail({option}, "none in this family", found_text(*value));
  }
}

std::string all_types() {
  std::string list;
  for (std::size_t i = 0; i < std::size(kTypes); ++i) {
    if (i > 0) list += i + 1 < std::size(kTypes) ? ", " : " or ";
    list += kTypes[i].first;
  }
  return list;
}

HubConfig config_of(Keyed& keyed, Family family) {
  switch (family) {
    case Family::bert:
    case Family::roberta:
    case Family::electra:
    case Family::albert:
    case Family::ernie:
    case Family::mpnet: return bert_config(keyed, family);
    case Family::distilbert: return distilbert_config(keyed);
    case Family::gpt2: return gpt2_config(keyed);
    case Family::opt: return opt_config(keyed);
    case Family::bloom: return bloom_config(keyed);
    case Family::modernbert: return modernbert_config(keyed);
    case Family::deberta_v2: return deberta_config(keyed);
    case Family::gpt_neox: return gpt_neox_config(keyed);
    case Family::gptj: return gptj_config(keyed);
    case Family::falcon: return falcon_config(keyed);
    case Family::phi: return phi_config(keyed);
    case Family::llama:
    case Family::mistral:
    case Family::qwen2:
    case Family::qwen3:
    case Family::gemma:
    case Family::gemma2:
    case Family::gemma3:
    case Family::olmo2:
    case Family::mixtral:
    case Family::qwen2_moe:
    case Family::qwen3_moe:
    case Family::phi3: return llama_config(keyed, family);
    case Family::bart:
    case Family::marian:
    case Family::pegasus:
    case Family::m2m_100: return bart_config(keyed, family);
    case Family::t5: return t5_config(keyed);
    case Family::headlight: break;
  }
  return headlight_config(keyed);
}

}  // namespace

std::string_view name(Family family) {
  return std::find_if(std::begin(kTypes), std::end(kTypes), [&](const auto& known) { return known.second == family; })
      ->first;
}

OutputLayer output_layer(const Keyed& keyed, std::initializer_list<std::string_view> with_output,
                         OutputLayer where_named) {
  const nlohmann::json* names = keyed.find({"architectures"});
  if (names == nullptr || !names->is_array() || names->empty()) return OutputLayer::if_stored;
  for (const nlohmann::json& word : *names)
    if (word.is_string() &&
        std::find(with_output.begin(), with_output.end(), word.get<std::string>()) != with_output.end())
      return where_named;
  return OutputLayer::none;
}

void check_heads(Keyed& keyed, Keys keys, Index heads, Index d_model) {
  if (d_model % heads != 0)
    keyed.fail(keys, "a divisor of the " + std::to_string(d_model) + " columns of a hidden state",
               std::to_string(heads));
}

Result<HubConfig> parse_hub_config(std::string_view where, std::string_view text) {
  const auto document = parse_json(where, text);
  if (!document) return document.error();
  if (!document->is_object()) return bad_input(where, "", "an object", document->type_name());
  Keyed keyed(where, *document);
  const nlohmann::json* type = keyed.find({"model_type"});
  const auto known = std::find_if(std::begin(kTypes), std::end(kTypes), [type](const auto& one) {
    return type != nullptr && type->is_string() && type->get_ref<const std::string&>() == one.first;
  });
  if (known == std::end(kTypes)) return bad_input(where, "model_type", all_types(), type ? found_text(*type) : "none");
  if (keyed.find({"quantization_config"}) != nullptr)
    return bad_input(where, "quantization_config", "none: float weights", "quantized weights");

  HubConfig hub = config_of(keyed, known->second);
  refuse_options_of_others(keyed);
  if (keyed.error()) return *keyed.error();
  hub.family = known->second;
  if (hub.output_vocabulary == 0) hub.output_vocabulary = hub.vocabulary;
  // The sizes are good one by one; together they must still be those of a model.
  if (const auto valid = check(hub.config, kMaxStoredParameters); !valid)
    return Error{std::string(where) + valid.error().message.substr(std::string_view("model").size())};
  const Index rows = std::max({hub.vocabulary, hub.output_vocabulary, hub.positions, hub.token_types});
  if (rows > kMaxStoredParameters / hub.table_width())
    return bad_input(where, "vocab_size", "embeddings of at most " + std::to_string(kMaxStoredParameters) + " numbers",
                     std::to_string(rows) + " of " + std::to_string(hub.table_width()));
  return hub;
}

Result<HubConfig> read_hub_config(const std::filesystem::path& path) {
  constexpr std::size_t kMostConfigBytes = std::size_t{16} << 20;
  const auto text = read_file(path, kMostConfigBytes);
  if (!text) return text.error();
  return parse_hub_config(path.string(), *text);
}

}  // namespace headlight
