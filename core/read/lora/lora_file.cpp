#include "read/lora/lora_file.h"

#include <algorithm>

#include "base/file.h"
#include "base/utf8.h"
#include "read/json/json_document.h"
#include "read/json/json_fields.h"
#include "text/characters.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t kMostAdapterConfig = std::size_t{16} << 20;

/// Keys of LoraConfig that compute something else where they hold anything.
constexpr const char* kOtherLora[] = {"layer_replication",       "target_parameters", "use_qalora",
                                      "alora_invocation_tokens", "arrow_config",      "trainable_token_indices"};
/// Parts of names that only adapters of other kinds have.
constexpr std::string_view kOtherAdapters[] = {
    ".ia3_l",          ".hada_w",         ".lokr_w",           ".oft_r",        ".boft_",
    ".vera_",          ".randlora_",      ".vblora_",          ".adaption_",    ".fourierft",
    "prefix_encoder.", "prompt_encoder.", "prompt_embeddings", ".adapter_down", ".adapter_up"};

bool holds_something(const json& value) {
  if (value.is_null() || value == json(false)) return false;
  return !(value.is_array() || value.is_object()) || !value.empty();
}

/// peft's rule: the pattern at the end of the module's name, behind a dot or the whole of it.
std::vector<ByPattern> patterns_from(const JsonField& root, const char* name) {
  std::vector<ByPattern> patterns;
  if (!root.has(name)) return patterns;
  for (const auto& [key, field] : root.at(name).fields()) {
    auto pattern = Regex::compile(root.problems().where + ": " + name, "^(.*\\.)?(" + key + ")$");
    if (!pattern) {
      if (!root.problems().first) root.problems().first = pattern.error();
      return {};
    }
    patterns.push_back({*std::move(pattern), static_cast<double>(field.number())});
  }
  return patterns;
}

/// Of lora_A.default.weight the part default.
std::string adapter_name(std::string_view rest) {
  const std::string name = without(without(std::string(rest), ".weight"), ".bias");
  return name.starts_with('.') ? name.substr(1) : name;
}

Status take_lora(std::string_view module, std::string_view rest, const StoredArray& array, LoraArrays& arrays) {
  static constexpr std::pair<std::string_view, const StoredArray * Change::*> kParts[] = {
      {"lora_A", &Change::a}, {"lora_B", &Change::b}, {"lora_magnitude_vector", &Change::magnitude}};
  const bool embedding = rest.starts_with("lora_embedding_");
  const std::string plain = without(std::string(rest), "embedding_");
  for (const auto& [begin, field] : kParts) {
    if (!plain.starts_with(begin)) continue;
    const std::string_view behind = std::string_view(plain).substr(begin.size());
    if (!behind.empty() && behind.front() != '.') continue;
    const std::string name = adapter_name(behind);
    if (!name.empty() && !arrays.name.empty() && name != arrays.name)
      return bad_input(array.where, "adapters", "one", quoted_word(arrays.name) + " and " + quoted_word(name));
    if (!name.empty()) arrays.name = name;
    Change& change = arrays.changes[std::string(module)];
    const bool bias = behind.ends_with(".bias");
    change.*(bias ? &Change::bias : field) = &array;
    change.embedding = change.embedding || embedding;
    return Done{};
  }
  return bad_input(array.where, printable(std::string(module) + "." + std::string(rest)),
                   "a tensor of LoRA (lora_A, lora_B, …)", "another");
}

}  // namespace

std::string without(std::string name, std::string_view part) {
  if (const auto at = name.find(part); at != name.npos) name.erase(at, part.size());
  return name;
}

Result<LoraConfig> read_lora_config(const fs::path& folder) {
  const fs::path path = folder / kAdapterConfig;
  const auto text = TRY(read_file(path, kMostAdapterConfig));
  const auto document = parse_json(path.string(), text);
  if (!document) return document.error();
  if (!document->is_object()) return bad_input(path.string(), "", "an object", found_text(*document));
  JsonProblems problems{.where = path.string()};
  const JsonField root(*document, "", problems);
  LoraConfig config{.where = path.string()};
  if (const std::string kind = root.text("peft_type", "LORA"); kind != "LORA")
    return bad_input(config.where, "peft_type", "LORA, the kind of adapter that is merged", quoted_word(kind));
  for (const char* key : kOtherLora)
    if (root.has(key) && holds_something(root.at(key).value())) root.at(key).problem("none, or null");
  if (root.has("r")) config.rank = root.integer("r", 1, kMostRank);
  if (root.has("lora_alpha")) config.alpha = static_cast<double>(root.number("lora_alpha"));
  config.rank_stabilised = root.flag("use_rslora", false);
  config.dora = root.flag("use_dora", false);
  config.ranks = patterns_from(root, "rank_pattern");
  config.alphas = patterns_from(root, "alpha_pattern");
  if (root.has("base_model_name_or_path")) config.base = root.text("base_model_name_or_path");
  config.keeps_ties = root.flag("ensure_weight_tying", false);
  if (root.has("modules_to_save"))
    for (const JsonField& one : root.at("modules_to_save").items()) config.copies.push_back(one.text());
  if (const json& start = root.at("init_lora_weights").value(); start.is_string())
    for (const char* other : {"pissa", "olora", "loftq", "corda"})
      if (start.get_ref<const std::string&>().starts_with(other)) config.changes_base = start;
  if (problems.first) return *problems.first;
  return config;
}

Result<double> value_for(const std::vector<ByPattern>& patterns, const std::string& module, double otherwise) {
  if (patterns.empty()) return otherwise;
  const Letters letters = letters_of(module);
  for (const ByPattern& one : patterns) {
    const Pattern pattern = one.pattern;
    const auto found = TRY(Finder(pattern).find(LetterSpan(letters.data(), letters.size())));
    if (std::any_of(found.begin(), found.end(), [](const Stretch& part) { return part.found; })) return one.value;
  }
  return otherwise;
}

Status expect_lora(const std::string& name, const StoredArray& array) {
  for (const std::string_view part : kOtherAdapters)
    if (name.find(part) != name.npos)
      return bad_input(array.where, printable(name), "LoRA, the kind of adapter that is merged",
                       "a tensor of another kind");
  return Done{};
}

Result<LoraArrays> sorted_arrays(std::string_view where, const std::map<std::string, StoredArray>& stored) {
  LoraArrays arrays{.where = std::string(where)};
  for (const auto& [stored_name, array] : stored) {
    TRY(expect_lora(stored_name, array));
    const std::string name = without(stored_name, "base_model.model.");
    if (const auto at = name.find(".lora_"); at != name.npos) {
      TRY(take_lora(name.substr(0, at), std::string_view(name).substr(at + 1), array, arrays));
      continue;
    }
    std::string plain = without(name, ".base_layer");
    if (const auto at = plain.find(".modules_to_save"); at != plain.npos) {
      const auto end = plain.rfind('.');
      plain = plain.substr(0, at) + plain.substr(end);
    }
    if (plain.find(".original_module") == plain.npos) arrays.whole.emplace(plain, &array);
  }
  return arrays;
}

}  // namespace headlight
