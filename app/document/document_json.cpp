#include "document/document_json.h"

#include <filesystem>
#include <limits>

#include "base/folders.h"
#include "base/utf8.h"
#include "document/edits_json.h"
#include "document/open_model.h"
#include "model/config_fields.h"
#include "read/hub/model_places.h"
#include "read/json/json_fields.h"

namespace headlight {
namespace {

using nlohmann::json;

/// true, false, or a list of those that are there.
json bias_json(const Biases& bias) {
  if (bias == Biases{}) return true;
  json names = json::array();
  for (const BiasName& one : kBiasNames)
    if (bias.*one.value) names.push_back(one.name);
  return names.empty() ? json(false) : names;
}

void read_bias(const JsonField& field, Biases& bias) {
  if (field.is_missing()) return;
  const json& value = field.value();
  bool valid = value.is_boolean() || value.is_array();
  const bool all = value.is_boolean() && value.get<bool>();
  bias = {all, all, all, all, all};
  for (const json& item : value.is_array() ? value : json::array()) {
    bool found = false;
    for (const BiasName& one : kBiasNames)
      if (item == one.name) found = bias.*one.value = true;
    valid = valid && found;
  }
  if (!valid) field.problem("true, false or a list of query, key, value, output, ffn");
}

/// Writes each field of a config; sizes that the others say are left out.
struct ConfigWriter {
  const Config& config;
  json& object;

  void operator()(const SizeField& field) const {
    if (!field.is_derived() || config.*field.value > 0) object[field.name] = config.*field.value;
  }
  void operator()(const NumberField& field) const {
    if (config.*field.value != 0) object[field.name] = config.*field.value;
  }
  template <class Enum>
  void operator()(const ChoiceField<Enum>& field) const {
    object[field.name] = name(config.*field.value);
  }
  void operator()(const BiasField& field) const { object[field.name] = bias_json(config.*field.value); }
  void operator()(const FlagField& field) const { object[field.name] = config.*field.value; }
  void operator()(const SeedField& field) const { object[field.name] = config.*field.value; }
};

/// Reads each field; check() refuses sizes that are too small.
struct ConfigReader {
  const JsonField& fields;
  Config& config;

  void operator()(const SizeField& field) const {
    fields.read_integer(field.name, config.*field.value, static_cast<std::uint64_t>(field.most));
  }
  void operator()(const NumberField& field) const {
    fields.read(field.name, config.*field.value);
    if (!(config.*field.value >= 0 && config.*field.value <= field.most)) fields.at(field.name).problem("0 to 1000000");
  }
  template <class Enum>
  void operator()(const ChoiceField<Enum>& field) const {
    fields.read_choice(field.name, config.*field.value, field.names);
  }
  void operator()(const FlagField& field) const { fields.read(field.name, config.*field.value); }
  void operator()(const BiasField& field) const { read_bias(fields.at(field.name), config.*field.value); }
  void operator()(const SeedField& field) const {
    fields.read_integer(field.name, config.*field.value, std::numeric_limits<std::uint64_t>::max());
  }
};

struct PassageKeys {
  const char *text, *split, *cuts, *ids;
};
constexpr PassageKeys kSource{"text", "split", "cuts", "ids"};
constexpr PassageKeys kTarget{"target", "target_split", "target_cuts", "decoder_ids"};

void write_text_input(const TextInput& input, const PassageKeys& keys, bool as_ids, json& object) {
  if (as_ids) {
    object[keys.ids] = input.ids;
    return;
  }
  object[keys.text] = input.text;
  object[keys.split] = name(input.split);
  if (input.hand_cuts) object[keys.cuts] = *input.hand_cuts;
}

void read_utf8(const JsonField& fields, const char* key, std::string& text) {
  fields.read(key, text);
  if (first_invalid_utf8(text)) fields.at(key).problem("UTF-8");
}

void read_text_input(const JsonField& fields, const PassageKeys& keys, TextInput& input) {
  constexpr std::string_view kSplits[] = {"words", "characters"};
  fields.read_list(keys.ids, input.ids, 0, std::numeric_limits<std::int32_t>::max());
  read_utf8(fields, keys.text, input.text);
  fields.read_choice(keys.split, input.split, kSplits);
  if (!fields.contains(keys.cuts)) return;
  const json& cuts = fields.at(keys.cuts).value();
  std::vector<std::size_t> offsets;
  bool valid = cuts.is_array();
  for (const json& cut : valid ? cuts : json::array()) {
    valid = valid && cut.is_number_unsigned();
    if (valid) offsets.push_back(cut.get<std::size_t>());
  }
  if (!valid || !are_cuts(input.text, offsets)) return fields.at(keys.cuts).problem("byte offsets inside the text");
  input.hand_cuts = std::move(offsets);
}

/// As transformers' apply_chat_template takes them.
json chat_json(const Chat& chat) {
  json turns = json::array();
  for (const ChatTurn& turn : chat.turns)
    turns.push_back({{"role", name_in(kChatRoles, turn.role)}, {"content", turn.text}});
  return turns;
}

void read_chat(const JsonField& fields, Chat& chat) {
  fields.read("chat_open", chat.open);
  if (!fields.has("chat")) return;
  for (const JsonField& turn : fields.at("chat").items()) {
    ChatTurn one{.role = ChatRole::none};
    turn.read_choice("role", one.role, kChatRoles);
    one.text = turn.text("content");
    if (one.role == ChatRole::none) turn.at("role").problem(listed(kChatRoles));
    if (first_invalid_utf8(one.text)) turn.at("content").problem("UTF-8");
    if (!fields.is_good()) return;
    chat.turns.push_back(std::move(one));
  }
}

/// Whether the number of heads was given beside the file: it holds queries, keys and values, not patterns.
bool takes_num_heads(const Document& document) {
  return has_own_inputs(document) && document.model->given->stacks.at(Stack::self).patterns.empty();
}

/// A source that is no longer where it was: what lies under the same name, or the same end of its path, beside the session.
std::string found_again(const std::string& source, const std::string& where) {
  const std::filesystem::path path = source;
  if (source.starts_with(kShipped) || is_model_name(source) || path_exists(path)) return source;
  const std::filesystem::path folder = std::filesystem::path(where.substr(0, where.find(": "))).parent_path();
  std::vector<std::filesystem::path> parts(path.begin(), path.end());
  for (std::size_t first = 0; first < parts.size(); ++first) {
    std::filesystem::path candidate = folder.empty() ? "." : folder;
    for (std::size_t i = first; i < parts.size(); ++i)
      if (parts[i] != path.root_path()) candidate /= parts[i];
    if (path_exists(candidate)) return candidate.string();
  }
  return source;
}

/// The model that the object names, with the masks that came with it.
Status read_model(const std::string& where, const JsonField& fields, Document& document, Progress& progress,
                  std::vector<Error>& warnings, const BundledModels* shipped, const Document* beside) {
  std::string source;
  fields.read("source", source);
  if (source.empty() || !fields.is_good()) return fields.problems().status();
  for (const BundledModel& one : shipped ? *shipped : BundledModels{}) {
    if (one.source != source) continue;
    take_model(document, one);
    document.mask.causal = is_causal_by_default(document.config.arch);
    return Done{};
  }
  if (beside && beside->model && beside->model_path == source) {
    document.model = beside->model;
    document.tokenizers = beside->tokenizers;
    document.card = beside->card;
    document.numbers = beside->numbers;
    document.model_path = source;
    document.trained = beside->trained;
    document.config = beside->config;
    document.mask.causal = is_causal_by_default(config_of(document).arch);
    return Done{};
  }
  Index num_heads = 0;
  fields.read_integer("num_heads", num_heads, static_cast<std::uint64_t>(kMaxHeads));
  auto opened =
      open_model(found_again(source, where), num_heads > 0 ? std::optional(num_heads) : std::nullopt, progress);
  if (!opened) {
    Error error = opened.error();
    if (error.code == ErrorCode::file_absent) error.code = ErrorCode::source_gone;
    return error;
  }
  warnings = std::move(opened->model_warnings);
  document = std::move(opened->document);
  return Done{};
}

}  // namespace

json document_json(const Document& document) {
  json object;
  if (document.model) {
    object["source"] = document.model_path;
    if (takes_num_heads(document)) object["num_heads"] = document.model->config.num_heads;
  } else {
    object["random"] = true;
    for_each_field(ConfigWriter{document.config, object});
    if (document.trained) object["trained"] = true;
  }
  const bool two_texts = config_of(document).arch == Arch::encoder_decoder;
  if (!has_own_inputs(document)) {
    write_text_input(document.source, kSource, reads_ids(document), object);
    if (!document.chat.turns.empty()) object["chat"] = chat_json(document.chat);
    if (document.chat.open) object["chat_open"] = true;
    if (!document.text_pair.empty()) object["text_pair"] = document.text_pair;
    if (two_texts) write_text_input(document.target, kTarget, reads_ids(document, TextSide::target), object);
    if (reads_ids(document) && !document.token_types.empty()) object["token_type_ids"] = document.token_types;
    object["pad"] = document.pad;
  }
  object["mask"] = mask_json(document.mask);
  if (two_texts || document.encoder_mask != MaskSpec{}) object["encoder_mask"] = mask_json(document.encoder_mask);
  if (two_texts || document.cross_mask != MaskSpec{}) object["cross_mask"] = mask_json(document.cross_mask);
  write_edits(document.edits, object);
  return object;
}

std::string request_json(const Document& document, std::optional<std::size_t> sentence) {
  json object = document_json(document);
  if (sentence) object["sentence"] = *sentence;
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<Document> document_from_json(const std::string& where, const json& object, Progress& progress,
                                    std::vector<Error>& warnings, const BundledModels* shipped,
                                    const Document* beside) {
  if (!object.is_object()) return bad_input(where, "request", "an object", object.type_name());
  Document document;
  JsonProblems problems{where};
  const JsonField fields(object, "", problems);
  if (const auto read = read_model(where, fields, document, progress, warnings, shipped, beside); !read)
    return read.error();
  if (!document.model) for_each_field(ConfigReader{fields, document.config});
  if (!document.model) fields.read("trained", document.trained);
  read_text_input(fields, kSource, document.source);
  read_text_input(fields, kTarget, document.target);
  read_chat(fields, document.chat);
  read_utf8(fields, "text_pair", document.text_pair);
  fields.read_list("token_type_ids", document.token_types, 0, std::numeric_limits<std::int32_t>::max());
  fields.read_integer("pad", document.pad, kMaxTokens);
  for (const auto& [key, mask] : {std::pair{"mask", &document.mask},
                                  {"encoder_mask", &document.encoder_mask},
                                  {"cross_mask", &document.cross_mask}})
    if (fields.contains(key)) *mask = mask_from_json(fields.at(key));
  read_edits(fields, document.edits);
  if (problems.first) return *problems.first;
  if (!document.model)
    if (const auto valid = check(document.config); !valid) return inside(where, valid.error());
  return document;
}

}  // namespace headlight
