// config.json of the models that are trained here, which state the choices of a Config.
#include <string>
#include <type_traits>

#include "model/config_fields.h"
#include "read/array/array.h"
#include "read/hub/families.h"

namespace headlight {
namespace {

/// Reads each field into the value that holds where the file has none.
class FieldReader {
 public:
  FieldReader(Keyed& keyed, Config& config) : keyed_(keyed), config_(config) {}

  void operator()(const SizeField& field) const {
    if (!field.key) return;
    const auto fallback = field.is_derived() ? std::optional<Index>(0) : std::nullopt;
    config_.*field.value = keyed_.size({field.key}, field.most, fallback, field.least);
  }
  void operator()(const NumberField& field) const {
    if (field.key) config_.*field.value = static_cast<float>(keyed_.number({field.key}, 0, field.most, 0));
  }
  template <class Enum>
  void operator()(const ChoiceField<Enum>& field) const {
    const bool required = std::is_same_v<Enum, Arch>;
    const std::string word = keyed_.word({field.key}, required ? "" : name(config_.*field.value));
    if (const auto value = value_named<Enum>(field.names, word)) config_.*field.value = *value;
    else keyed_.fail({field.key}, listed(field.names), word.empty() ? "none" : "\"" + word + "\"");
  }
  void operator()(const ChoiceField<Activation>& field) const {
    config_.*field.value = keyed_.activation({field.key}, name(config_.*field.value));
  }
  void operator()(const FlagField& field) const {
    if (field.key) config_.*field.value = keyed_.flag({field.key}, config_.*field.value);
  }
  void operator()(const BiasField& field) const {
    const bool biased = keyed_.flag({field.key}, true);
    config_.*field.value = {biased, biased, biased, biased, biased};
  }
  void operator()(const SeedField& field) const {
    config_.*field.value = static_cast<std::uint64_t>(keyed_.size({field.key}, Index{1} << 53, 0, 0));
  }

 private:
  Keyed& keyed_;
  Config& config_;
};

}  // namespace

void read_headlight(Keyed& keyed, const Family&, HubConfig& hub) {
  hub.vocabulary = keyed.size({"vocab_size"}, kMaxVocabulary);
  hub.norm_epsilon = static_cast<float>(keyed.number({"norm_eps"}, 0, 1, 1e-5));
  Config& config = hub.config;
  config.norm = Norm::pre;
  config.activation = Activation::gelu;
  for_each_field(FieldReader(keyed, config));
  // No training makes them; other programs may write them into the same layout.
  config.sinks = keyed.flag({"attention_sinks"}, false);
  config.softcap = static_cast<float>(keyed.number({"attn_logit_softcapping"}, 0, kMaxSoftcap, 0));
  if (config.sinks && config.arch == Arch::encoder_decoder)
    keyed.fail({"attention_sinks"}, "false in an encoder-decoder", "true");
  if (config.position == Position::sinusoidal_halves || config.position == Position::rotary)
    keyed.fail({"position"}, "none, sinusoidal, learned", "\"" + std::string(name(config.position)) + "\"");
  if (config.position == Position::learned) hub.positions = keyed.size({"max_position_embeddings"}, kMaxPositions);
  hub.embedding_scale = static_cast<float>(keyed.number({"embedding_scale"}, 0, 1e6, 1));
  hub.encoder_heads = config.num_heads;
  hub.encoder_ffn = config.ffn;
  hub.decoder_start = keyed.size({"decoder_start_token_id"}, kMaxVocabulary, 1, 0);
  if (config.head_dim * config.num_heads == config.d_model) config.head_dim = 0;  // as by default
  if (config.head_dim == 0)
    check_divides(keyed, {"num_attention_heads"}, config.num_heads, config.d_model, kHiddenColumns);
  hub.output = OutputLayer::required;
}

}  // namespace headlight
