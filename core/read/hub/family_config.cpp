// The reader of config.json that all families share: each field of HubConfig by the family's row.

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>
#include <set>
#include <string>
#include <vector>

#include "base/utf8.h"
#include "model/config_fields.h"
#include "read/array/array.h"
#include "read/hub/families.h"

namespace headlight {
namespace {

constexpr double kLeastTheta = 1e-3, kMostTheta = 1e15;
constexpr double kMostFactor = 1e6;

/// The keys that a kind of scaling reads, and the frequencies that it changes.
struct Scaling {
  Keyed& inside;
  double theta;
  double trained;  // the length of text that the model was trained on before it was stretched
  std::vector<double> frequencies;
  double factor = 1;  // of sines and cosines
};

double stretch(Scaling& scaling) { return scaling.inside.number({"factor"}, 1, kMostFactor); }

void scale_linearly(Scaling& scaling) {
  const double factor = stretch(scaling);
  for (double& frequency : scaling.frequencies) frequency /= factor;
}

/// Waves longer than the text are stretched, those that fit into it many times are not, and there is a passage.
void scale_as_llama3(Scaling& scaling) {
  const double factor = stretch(scaling);
  const double low = scaling.inside.number({"low_freq_factor"}, 1e-6, kMostFactor);
  const double high = scaling.inside.number({"high_freq_factor"}, 1e-6, kMostFactor);
  if (high <= low) {
    scaling.inside.fail({"high_freq_factor"}, "more than low_freq_factor", std::to_string(high));
    return;
  }
  for (double& frequency : scaling.frequencies) {
    const double waves = scaling.trained * frequency / (2 * std::numbers::pi);  // in a text of the trained length
    const double kept = std::clamp((waves - low) / (high - low), 0.0, 1.0);
    frequency *= kept + (1 - kept) / factor;
  }
}

/// Peng et al. 2023, section 3.2 (which pairs are stretched) and 3.4 (the temperature).
void scale_as_yarn(Scaling& scaling) {
  Keyed& inside = scaling.inside;
  const double factor = stretch(scaling);
  const double fast = inside.number({"beta_fast"}, 1e-3, 1e6, 32), slow = inside.number({"beta_slow"}, 1e-3, 1e6, 1);
  const bool whole = inside.flag({"truncate"}, true);
  const auto pairs = static_cast<double>(scaling.frequencies.size()), columns = 2 * pairs;
  if (scaling.theta <= 1) inside.fail({"rope_theta"}, "more than 1", std::to_string(scaling.theta));
  if (inside.error()) return;
  // The pair that turns `turns` times within the trained length.
  const auto pair_turning = [&](double turns) {
    return columns * std::log(scaling.trained / (turns * 2 * std::numbers::pi)) / (2 * std::log(scaling.theta));
  };
  double first = pair_turning(fast), last = pair_turning(slow);
  if (whole) first = std::floor(first), last = std::ceil(last);
  first = std::max(first, 0.0);
  last = std::min(last, columns - 1);
  if (first == last) last += 0.001;
  for (std::size_t i = 0; i < scaling.frequencies.size(); ++i) {
    const double stretched = std::clamp((static_cast<double>(i) - first) / (last - first), 0.0, 1.0);
    scaling.frequencies[i] *= stretched / factor + (1 - stretched);
  }
  const auto temperature = [factor](double scale) { return factor <= 1 ? 1.0 : 0.1 * scale * std::log(factor) + 1.0; };
  const double scale = inside.number({"mscale"}, 0, 1e3, 0), scale_all = inside.number({"mscale_all_dim"}, 0, 1e3, 0);
  const double usual = scale > 0 && scale_all > 0 ? temperature(scale) / temperature(scale_all) : temperature(1);
  scaling.factor = inside.number({"attention_factor"}, 0, 1e3, usual);
}

}  // namespace

Rotary plain_rotary(Index columns, double theta, bool interleaved) {
  Rotary rotary{.frequencies = Vector(columns / 2), .interleaved = interleaved};
  for (Index i = 0; i < columns / 2; ++i)
    rotary.frequencies(i) =
        static_cast<float>(std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(columns)));
  return rotary;
}

const nlohmann::json* rotation_of(const Keyed& keyed, const char* kind) {
  const nlohmann::json* all = keyed.find({"rope_parameters"});
  if (!all || !all->is_object()) return nullptr;
  const auto found = all->find(kind);
  return found != all->end() && found->is_object() ? &*found : nullptr;
}

double read_theta(Keyed& keyed, const char* key, double unsaid, const char* kind) {
  const nlohmann::json* rotation = rotation_of(keyed, kind);
  if (!rotation) return keyed.number({key}, kLeastTheta, kMostTheta, unsaid);
  Keyed inside("", *rotation);
  inside.only({"rope_type"}, "default");
  const double theta = inside.number({"rope_theta"}, kLeastTheta, kMostTheta, unsaid);
  if (const auto& error = inside.error()) keyed.fail({"rope_parameters"}, error->expected, error->found);
  return theta;
}

void read_rope(Keyed& keyed, HubConfig& hub, double unsaid_theta, std::optional<double> unsaid_share) {
  double theta = keyed.number({"rope_theta", "rotary_emb_base"}, kLeastTheta, kMostTheta, unsaid_theta);
  const double trained = static_cast<double>(keyed.size({"max_position_embeddings"}, kMaxPositions * 16, 2048));
  double share = keyed.number({"partial_rotary_factor", "rotary_pct"}, 0, 1, unsaid_share.value_or(1));
  std::string type = "default";
  const nlohmann::json* object = nullptr;
  const char* key = "rope_scaling";
  for (const char* spelling : {"rope_scaling", "rope_parameters"}) {
    if (const nlohmann::json* found = keyed.find({spelling})) object = found, key = spelling;
  }
  if (object && !object->is_object()) return keyed.fail({key}, "an object or null", found_text(*object));
  const auto& exceptions = value_or_null(hub.family->row, "exceptions");
  const bool has_kinds = std::find(exceptions.begin(), exceptions.end(), "rotation_of_windows") != exceptions.end();
  if (const auto* full = has_kinds ? rotation_of(keyed, "full_attention") : nullptr) object = full;
  if (object && std::any_of(object->begin(), object->end(), [](const auto& one) { return one.is_object(); }))
    return keyed.fail({key}, "one rotation for all layers", "one for each kind of layer");
  // Parts of a head's columns count places in a text, in a picture's rows and in its columns: the same in a text alone.
  const bool has_sections = value_or_null(value_or_null(hub.family->row, "rope"), "sections") == true;
  const nlohmann::json none = nlohmann::json::object();
  Keyed inside("", object ? *object : none);
  type = inside.word({"rope_type", "type"}, "default");
  theta = inside.number({"rope_theta"}, kLeastTheta, kMostTheta, theta);
  share = inside.number({"partial_rotary_factor"}, 0, 1, share);
  if (share != 1 && !unsaid_share) keyed.fail({"partial_rotary_factor"}, "1", "less");
  const auto columns = static_cast<Index>(static_cast<double>(hub.config.d_k()) * share);
  if (share != 1 && (columns < 2 || columns % 2 != 0))
    keyed.fail({"partial_rotary_factor"}, "an even number of a head's columns", std::to_string(columns));
  const Index pairs = std::max<Index>(columns / 2, 1);
  if (columns != hub.config.d_k()) hub.config.rotary_columns = columns;
  Scaling scaling{.inside = inside,
                  .theta = theta,
                  .trained = inside.number({"original_max_position_embeddings"}, 1, 1e9, trained),
                  .frequencies = {}};
  for (Index i = 0; i < pairs; ++i)
    scaling.frequencies.push_back(std::pow(theta, -static_cast<double>(i) / static_cast<double>(pairs)));

  if (type == "linear") scale_linearly(scaling);
  else if (type == "llama3") scale_as_llama3(scaling);
  else if (type == "yarn") scale_as_yarn(scaling);
  else if (type == "dynamic")
    hub.longest = LongestText{static_cast<Index>(trained), "as longer ones change the rotation"};
  else if (type != "default" && !(type == "mrope" && has_sections))
    inside.fail({"rope_type"}, "default, linear, dynamic, llama3 or yarn", "'" + printable(type) + "'");
  if (inside.error()) {
    const Error& error = *inside.error();
    return keyed.fail({(std::string(key) + "." + error.what).c_str()}, error.expected, error.found);
  }
  hub.rotary = Rotary{.frequencies = Vector(pairs), .factor = static_cast<float>(scaling.factor)};
  for (Index i = 0; i < pairs; ++i)
    hub.rotary->frequencies(i) = static_cast<float>(scaling.frequencies[static_cast<std::size_t>(i)]);
}

namespace {

using nlohmann::json;

/// Reads the entries of a row's "config". An entry is a value that all models of the family have, the key of one that
/// must be stated, or a list of the key, the value where none is stated, and the least one where that is not 1. "a|b":
/// two spellings of a key. A size may be another field, or "4*" one.
class FamilyReader {
 public:
  FamilyReader(Keyed& keyed, const Family& family, HubConfig& hub)
      : keyed_(keyed), entries_(value_or_null(family.row, "config")), hub_(hub) {}

  Keys keys(const char* field) const {
    const json& entry = value_or_null(entries_, field);
    if (!is_keyed(entry)) return {};
    const auto spellings = split_at('|', (entry.is_array() ? entry[0] : entry).get_ref<const std::string&>());
    return Keys(spellings.begin(), spellings.end());
  }

  /// `if_null`: what a key with the value null means, where that is not what a missing one does.
  void size(const char* field, Index& value, Index most, std::optional<Index> if_null = std::nullopt) {
    const json* entry = find(field);
    if (!entry) return;
    if (!is_keyed(*entry)) return void(value = computed(*entry));
    const Keys spellings = keys(field);
    if (!entry->is_array()) return void(value = keyed_.size(spellings, most));
    const bool null = if_null && keyed_.is_null(spellings.front().c_str());
    value = keyed_.size(spellings, most, null ? *if_null : computed((*entry)[1]),
                        entry->size() > 2 ? (*entry)[2].get<Index>() : 1);
  }

  void number(const char* field, float& value, double most, bool null_is_zero) {
    const json* entry = find(field);
    if (!entry) return;
    double read = entry->is_array() ? 0 : entry->get<double>();
    if (entry->is_array() && !(null_is_zero && keyed_.is_null(keys(field).front().c_str())))
      read = keyed_.number(keys(field), 0, most, (*entry)[1].get<double>());
    value = static_cast<float>(read);
  }

  void flag(const char* field, bool& value) {
    if (const json* entry = find(field))
      value = entry->is_array() ? keyed_.flag(keys(field), (*entry)[1].get<bool>()) : entry->get<bool>();
  }

  template <class Enum>
  void choice(const char* field, Enum& value, Names names) {
    if (const json* entry = find(field)) value = *value_named<Enum>(names, entry->get_ref<const std::string&>());
  }

  void activation(const char* field, Activation& value) {
    const json* entry = find(field);
    if (!entry || !entry->is_array()) return choice(field, value, kActivationNames);
    value = keyed_.activation(keys(field), (*entry)[1].get_ref<const std::string&>());
  }

  bool has(const char* field) { return find(field) != nullptr; }

  /// Whether every entry of the row was read: one with another name would be overlooked.
  bool is_complete() const { return entries_.is_null() || found_.size() == entries_.size(); }

 private:
  static bool is_keyed(const json& entry) {
    return entry.is_array() || (entry.is_string() && !entry.get_ref<const std::string&>().starts_with(kFourTimes));
  }

  const json* find(const char* field) {
    const json& entry = value_or_null(entries_, field);
    if (entry.is_null()) return nullptr;
    found_.insert(field);
    return &entry;
  }

  Index computed(const json& value) const {
    if (!value.is_string()) return value.get<Index>();
    std::string_view name = value.get_ref<const std::string&>();
    const Index factor = name.starts_with(kFourTimes) ? 4 : 1;
    if (factor > 1) name.remove_prefix(kFourTimes.size());
    if (name == "d_model") return factor * hub_.config.d_model;
    if (name == "num_heads") return factor * hub_.config.num_heads;
    assert(name == "encoder_layers");
    return factor * hub_.config.encoder_layers;
  }

  static constexpr std::string_view kFourTimes = "4*";
  Keyed& keyed_;
  const json& entries_;
  HubConfig& hub_;
  std::set<std::string> found_;
};

void read_sizes(FamilyReader& read, HubConfig& hub) {
  constexpr Index kMostExperts = 4096, kMostBuckets = 4096;
  Config& config = hub.config;
  read.size("vocabulary", hub.vocabulary, kMaxVocabulary);
  read.size("positions", hub.positions, kMaxPositions);
  read.size("token_types", hub.token_types, kMaxVocabulary);
  read.size("d_model", config.d_model, kMaxDModel);
  read.size("num_heads", config.num_heads, kMaxHeads);
  read.size("num_kv_heads", config.num_kv_heads, kMaxHeads, config.num_heads);
  read.size("head_dim", config.head_dim, kMaxHeadDim, 0);
  read.size("encoder_heads", hub.encoder_heads, kMaxHeads);
  read.size("encoder_layers", config.encoder_layers, kMaxLayers);
  read.size("num_layers", config.num_layers, kMaxLayers);
  read.size("encoder_ffn", hub.encoder_ffn, kMaxFfn);
  read.size("ffn", config.ffn, kMaxFfn);
  read.size("embedding_size", hub.embedding_size, kMaxDModel);
  read.size("token_width", hub.token_width, kMaxDModel);
  read.size("relative_buckets", hub.relative_buckets, kMostBuckets);
  read.size("relative_distance", hub.relative_distance, kMaxPositions);
  read.size("experts", hub.experts, kMostExperts);
  read.size("chosen_experts", hub.chosen_experts, hub.experts);
  read.size("expert_ffn", hub.expert_ffn, kMaxFfn);
  read.size("shared_ffn", hub.shared_ffn, kMaxFfn);
  Index unused_positions = 0;  // rows before that of the first position
  read.size("unused_positions", unused_positions, kMaxPositions);
  hub.positions += unused_positions;
  hub.first_position = unused_positions;
  if (hub.token_width == config.d_model) hub.token_width = 0;
  if (hub.experts > 0) config.ffn = hub.expert_ffn = hub.expert_ffn > 0 ? hub.expert_ffn : config.ffn;
}

void read_choices(FamilyReader& read, HubConfig& hub) {
  Config& config = hub.config;
  read.choice("arch", config.arch, kArchNames);
  read.choice("position", config.position, kPositionNames);
  read.choice("norm", config.norm, kNormNames);
  read.choice("norm_kind", config.norm_kind, kNormKindNames);
  read.activation("activation", config.activation);
  if (read.has("output_activation")) read.activation("output_activation", hub.output_activation.emplace());
  read.number("norm_epsilon", hub.norm_epsilon, 1, false);
  read.number("softcap", config.softcap, kMaxSoftcap, true);
  read.number("output_softcap", hub.output_softcap, kMaxSoftcap, true);
  if (read.has("attention_scale")) read.number("attention_scale", hub.attention_scale.emplace(), 1, false);
  Biases& bias = config.bias;
  read.flag("qkv_bias", bias.query);
  bias.key = bias.value = bias.query;
  read.flag("attention_output_bias", bias.output);
  read.flag("ffn_bias", bias.ffn);
  read.flag("gated", config.gated);
  read.flag("tied", config.tied);
  read.flag("parallel", hub.parallel);
  read.flag("one_norm", hub.one_norm);
  read.flag("final_norms", hub.final_norms);
  if (read.has("final_norms")) config.norm = hub.final_norms ? Norm::pre : Norm::post;
  read.flag("head_norms", hub.head_norms);
  read.flag("wide_head_norms", hub.wide_head_norms);
  read.flag("norms_store_rest", hub.norms_store_rest);
  read.flag("plain_norms", hub.plain_norms);
  read.flag("linear_biases", hub.linear_biases);
  read.flag("experts_to_one", hub.experts_to_one);
  bool scaled_embeddings = false;
  read.flag("scaled_embeddings", scaled_embeddings);
  if (scaled_embeddings) hub.embedding_scale = static_cast<float>(std::sqrt(static_cast<double>(config.d_model)));
}

/// Whether `architectures` names a class of the family whose last step is the vocabulary.
OutputLayer output_layer(const Keyed& keyed, const Family& family) {
  const json& classes = value_or_null(family.row, "classes");
  if (classes.is_null()) return OutputLayer::none;
  const json* names = keyed.find({"architectures"});
  if (names == nullptr || !names->is_array() || names->empty()) return OutputLayer::if_stored;
  const bool named = std::any_of(names->begin(), names->end(), [&](const json& one) {
    return std::find(classes.begin(), classes.end(), one) != classes.end();
  });
  if (!named) return OutputLayer::none;
  return family.row["output where named"] == "required" ? OutputLayer::required : OutputLayer::if_stored;
}

/// The first of these keys that is there, or a number.
std::optional<std::int64_t> decoder_start(Keyed& keyed, const json& entries) {
  for (const json& entry : entries) {
    if (entry.is_number()) return entry.get<std::int64_t>();
    const Keys key{entry.get<std::string>()};
    if (keyed.find(key)) return keyed.size(key, kMaxVocabulary - 1, {}, 0);
  }
  return std::nullopt;
}

void refuse_other_values(Keyed& keyed, const json& only) {
  for (const auto& [key, value] : only.items()) {
    if (value.is_boolean()) keyed.only({key}, value.get<bool>());
    else keyed.only({key}, value.get_ref<const std::string&>());
  }
}

}  // namespace

void check_divides(Keyed& keyed, const Keys& keys, Index heads, Index columns, std::string_view kind) {
  if (columns % heads != 0)
    keyed.fail(keys, "a divisor of the " + std::to_string(columns) + " " + std::string(kind), std::to_string(heads));
}

HubConfig family_config(Keyed& keyed, const Family& family) {
  HubConfig hub{.family = &family};
  FamilyReader read(keyed, family, hub);
  read_sizes(read, hub);
  read_choices(read, hub);
  assert(read.is_complete());
  if (const json& only = value_or_null(family.row, "only"); only.is_object()) refuse_other_values(keyed, only);
  if (read.has("num_heads") && hub.config.head_dim == 0) {
    check_divides(keyed, read.keys("num_heads"), hub.config.num_heads, hub.config.d_model, kHiddenColumns);
    if (read.has("encoder_heads"))
      check_divides(keyed, read.keys("encoder_heads"), hub.encoder_heads, hub.config.d_model, kHiddenColumns);
  }
  if (keyed.error()) return hub;
  hub.output = output_layer(keyed, family);
  if (const json& rope = value_or_null(family.row, "rope"); rope.is_object())
    read_rope(keyed, hub, rope["theta"].get<double>(),
              rope.contains("share") ? std::optional(rope["share"].get<double>()) : std::nullopt);
  for (const json& name : value_or_null(family.row, "exceptions"))
    if (!keyed.error()) family_exception(name.get_ref<const std::string&>())(keyed, family, hub);
  if (const json& entries = value_or_null(family.row, "decoder start"); entries.is_array())
    hub.decoder_start = decoder_start(keyed, entries);
  if (hub.linear_biases || hub.linear_key_biases)  // they have no end; their table has so many
    hub.longest = LongestText{8192, "the longest for which a bias of each distance is kept"};
  return hub;
}

}  // namespace headlight
