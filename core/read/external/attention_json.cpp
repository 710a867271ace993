#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/file.h"
#include "read/external/held_arrays.h"
#include "read/external/mask_file.h"
#include "read/external/patterns.h"
#include "read/json/json_document.h"
#include "read/json/json_fields.h"

namespace headlight {
namespace {

using nlohmann::json;

class NestedReader {
 public:
  NestedReader(std::string_view where, const std::string& field) : where_(where), field_(field) {}

  Result<Array> read(const json& list, std::size_t most_axes) {
    for (const json* inner = &list; inner->is_array(); inner = &inner->front()) {
      array_.shape.push_back(static_cast<Index>(inner->size()));
      if (inner->empty()) return wrong("lists that are not empty", "an empty one");
      if (array_.shape.size() > most_axes)
        return wrong("at most " + std::to_string(most_axes) + " lists within one another", "more");
    }
    TRY(take(list));
    return std::move(array_);
  }

 private:
  /// A list, or a number, inside as many lists as indices_ has.
  Status take(const json& value) {
    if (indices_.size() == array_.shape.size()) {
      if (!value.is_number() && !value.is_null()) return wrong("a number", value.type_name());
      array_.values.push_back(value.is_null() ? std::numeric_limits<float>::quiet_NaN() : value.get<float>());
      return Done{};
    }
    const Index size = array_.shape[indices_.size()];
    if (!value.is_array() || static_cast<Index>(value.size()) != size)
      return wrong(std::to_string(size) + " entries, as the first has",
                   value.is_array() ? std::to_string(value.size()) : value.type_name());
    indices_.push_back(0);
    for (const json& inner : value) {
      TRY(take(inner));
      ++indices_.back();
    }
    indices_.pop_back();
    return Done{};
  }

  Error wrong(std::string_view expected, std::string_view found) const {
    std::string path = field_;
    for (const std::size_t index : indices_) path += "[" + std::to_string(index) + "]";
    return bad_input(where_, path, expected, found);
  }

  std::string_view where_;
  const std::string& field_;
  std::vector<std::size_t> indices_;
  Array array_;
};

}  // namespace

Result<Array> nested_numbers(std::string_view where, const std::string& field, const json& list,
                             std::size_t most_axes) {
  return NestedReader(where, field).read(list, most_axes);
}

namespace {

constexpr std::string_view kSchema = "headlight.attention/1";
constexpr std::size_t kMostAttentionBytes = std::size_t{1} << 29;  // parsed, a number takes several times its text

std::string at(const std::string& field, std::size_t i) { return field + "[" + std::to_string(i) + "]"; }

const json* member(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

/// A list that is not empty.
Status check_list(std::string_view where, std::string_view field, const json& value, std::string_view of) {
  if (value.is_array() && !value.empty()) return Done{};
  return bad_input(where, field, "a list of " + std::string(of), value.is_array() ? "an empty one" : value.type_name());
}

/// [layer][head][query][key], the lists of one level all of one length.
Result<std::vector<std::vector<Matrix>>> parse_patterns(std::string_view where, const std::string& field,
                                                        const json& layers) {
  const auto array = TRY(nested_numbers(where, field, layers, 4));
  std::vector<Index> shape = array.shape;
  if (shape.size() < 2) return bad_input(where, field, "[layer][head][query][key]", found_text(layers));
  shape.insert(shape.begin(), 4 - shape.size(), 1);  // of one layer, of one head
  return matrices_of(shape, array.values);
}

Result<Tokens> parse_texts(std::string_view where, const std::string& field, const json* list, Index count) {
  if (list == nullptr || list->is_null()) return numbered_tokens(count);
  if (!list->is_array()) return bad_input(where, field, "a list of token texts", list->type_name());
  if (list->size() != static_cast<std::size_t>(count))
    return bad_input(where, field, std::to_string(count) + " tokens", std::to_string(list->size()));
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const json* text = &(*list)[i];
    for (const char* key : {"text", "token"})
      if (text->is_object() && member(*text, key)) text = member(*text, key);
    if (!text->is_string()) return bad_input(where, at(field, i), "a text", text->type_name());
    texts.push_back(text->get<std::string>());
  }
  return tokens_of(texts);
}

/// The lists of tokens beside `attention` in an export of Headlight, for each side that a stack has.
Status take_all_details(std::string_view where, const json& document, std::map<Stack, FoundPatterns>& found) {
  const json* source = member(document, "tokens");
  const json* target = member(document, "target_tokens");
  const json* keys = member(document, "key_tokens");
  for (auto& [stack, patterns] : found) {
    const bool of_target = target != nullptr && stack != Stack::encoder;
    const json* queries_of = of_target ? target : source;
    const json* keys_of = keys && !target ? keys : stack == Stack::self ? queries_of : source;
    if (queries_of)
      TRY(take_details(where, of_target ? "target_tokens" : "tokens", *queries_of, patterns.stack.query_tokens));
    const char* name = keys_of == keys ? "key_tokens" : keys_of == target ? "target_tokens" : "tokens";
    if (keys_of) TRY(take_details(where, name, *keys_of, patterns.stack.key_tokens));
  }
  return Done{};
}

/// A mask of an export: its kind in words, else its matrix. The weights obey it already.
Result<MaskSpec> mask_of_export(std::string_view where, const json& document, const char* name, const Matrix& weights) {
  const json* mask = member(document, name);
  const json* kind = mask && mask->is_object() ? member(*mask, "kind") : nullptr;
  if (!kind || *kind == "none" || !kind->is_string()) return MaskSpec{};
  if (const auto words = parse_mask_words(where, kind->get<std::string>())) return *words;
  const json* allowed = member(*mask, "allowed");
  if (!allowed) return MaskSpec{};
  const std::string field = std::string(name) + ".allowed";
  auto spec = TRY(exported_mask(where, field, *allowed));
  const Index rows = spec.given->rows() / spec.heads, columns = spec.given->cols();
  if (rows == weights.rows() && columns == weights.cols()) return spec;
  return bad_input(where, field, shape_text({weights.rows(), weights.cols()}) + " (queries, keys)",
                   shape_text({rows, columns}), ErrorCode::mask_shape);
}

std::string name_of(const json& entry) {
  const json* name = entry.is_object() ? member(entry, "name") : nullptr;
  return name && name->is_string() ? name->get<std::string>() : std::string();
}

std::optional<Stack> stack_named(std::string_view name) {
  if (name == "Encoder" || name == "inp_inp") return Stack::encoder;
  if (name == "Decoder" || name == "out_out") return Stack::self;
  if (name == "Cross" || name == "out_inp") return Stack::cross;
  return std::nullopt;
}

Result<FoundPatterns> parse_entry(std::string_view where, const std::string& field, const json& entry) {
  const json* attn = member(entry, "attn");
  if (attn == nullptr) attn = member(entry, "att");
  if (attn == nullptr) return bad_input(where, field, "attn, the weights", "none");
  auto patterns = TRY(parse_patterns(where, field + ".attn", *attn));
  const Matrix& first = patterns[0][0];
  const auto side = [&](std::initializer_list<const char*> names, Index count) -> Result<Tokens> {
    for (const char* name : names)
      if (const json* list = member(entry, name)) return parse_texts(where, field + "." + name, list, count);
    return numbered_tokens(count);
  };
  auto queries = TRY(side({"left_text", "top_text", "left"}, first.rows()));
  auto keys = TRY(side({"right_text", "bot_text", "right"}, first.cols()));
  FoundPatterns found{.name = field, .stack = {}};
  found.stack.patterns = std::move(patterns);
  found.stack.query_tokens = std::move(queries);
  found.stack.key_tokens = std::move(keys);
  return found;
}

Result<TensorsFile> from_object(std::string_view where, const json& document, const ArrayChoice& choice) {
  TRY(check_choice(where, choice, {.grid = true}, "attention by its names"));
  const json* list = member(document, "attention");
  if (list == nullptr) return bad_input(where, "attention", "a list of patterns", "none");
  TRY(check_list(where, "attention", *list, "patterns"));
  TensorsFile file;
  bool has_stacks = false;
  for (const json& entry : *list) has_stacks = has_stacks || (stack_named(name_of(entry)) && list->size() > 1);
  std::map<Stack, FoundPatterns> found;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const std::string field = at("attention", i);
    const json& entry = (*list)[i];
    if (!entry.is_object()) return bad_input(where, field, "an object", entry.type_name());
    const std::string name = name_of(entry);
    const auto stack = has_stacks ? stack_named(name) : i == 0 ? std::optional(Stack::self) : std::nullopt;
    if (!stack) {
      file.warnings.emplace_back(ErrorCode::bad_value, where, field + " \"" + printable(name) + "\": not shown");
      continue;
    }
    if (found.contains(*stack)) return bad_input(where, field, "each name once", "\"" + printable(name) + "\" again");
    auto patterns = TRY(parse_entry(where, field, entry));
    found.emplace(*stack, std::move(patterns));
  }
  if (member(document, "schema")) TRY(take_all_details(where, document, found));
  for (const auto& [stack, name, mask] : {std::tuple(Stack::self, "mask", &file.mask),
                                          {Stack::encoder, "encoder_mask", &file.encoder_mask},
                                          {Stack::cross, "cross_mask", &file.cross_mask}})
    if (const auto at = found.find(stack); at != found.end() && member(document, "schema"))
      *mask = TRY(mask_of_export(where, document, name, at->second.stack.patterns[0][0]));
  for (const char* key : {"include_layers", "include_heads"})
    if (const json* kept = member(document, key); kept && kept->is_array())
      for (std::size_t i = 0; i < kept->size(); ++i)
        if ((*kept)[i] != i) {
          file.warnings.emplace_back(ErrorCode::bad_value, where,
                                     std::string(key) + ": only some are in the file; counted from 0 here");
          break;
        }
  file.model = TRY(pattern_model(where, std::move(found), file.warnings, choice.grid));
  return file;
}

/// An object of attentions by name, as BertViz, tensor2tensor and exBERT hand them over: a list of them, the whole
/// (`all`) first. Null where it is none.
json list_of_named(const json& object) {
  json list;
  if (!object.is_object()) return list;
  for (const auto& [name, entry] : object.items()) {
    if (!entry.is_object() || !(entry.contains("attn") || entry.contains("att"))) continue;
    json named = entry;
    named["name"] = name;
    if (name == "all" && !list.is_null()) list.insert(list.begin(), std::move(named));
    else list.push_back(std::move(named));
  }
  return list;
}

/// Lists of numbers as arrays by their keys; lists of texts beside them as metadata.
Status take_lists(std::string_view where, const std::string& name, const json& value, int depth, ArrayFile& held) {
  const auto child = [&](const std::string& key) { return name.empty() ? key : name + "." + key; };
  if (depth > 6) return bad_input(where, name, "at most 6 lists and objects within one another", "more");
  if (value.is_object()) {
    for (const auto& [key, inner] : value.items()) TRY(take_lists(where, child(key), inner, depth + 1, held));
    return Done{};
  }
  const bool words = name.ends_with("tokens") && (value.is_string() || value.is_array());
  if (words) held.metadata[name] = value.dump(-1, ' ', false, json::error_handler_t::replace);
  if (words || !value.is_array() || value.empty()) return Done{};
  const json* first = &value;
  while (first->is_array() && !first->empty()) first = &first->front();
  if (first->is_string()) {
    held.metadata[name] = value.dump(-1, ' ', false, json::error_handler_t::replace);
    return Done{};
  }
  auto array = nested_numbers(where, name, value, 6);
  const bool lists = value.front().is_array() && !value.front().empty() && value.front().front().is_array();
  if (!array && (value.front().is_object() || lists)) {  // layers or steps of different sizes
    for (std::size_t i = 0; i < value.size(); ++i)
      TRY(take_lists(where, child(std::to_string(i)), value[i], depth + 1, held));
    return Done{};
  }
  if (!array) return array.error();
  held.arrays.insert_or_assign(name.empty() ? "array" : name, *std::move(array));
  return Done{};
}

Result<TensorsFile> from_lists(std::string_view where, const json& document, const ArrayChoice& choice) {
  ArrayFile held;
  TRY(take_lists(where, "", document, 0, held));
  if (held.arrays.empty())
    return bad_input(where, "", "attention: lists of numbers in lists, perhaps in an object beside its tokens", "none");
  return tensors_from(where, std::move(held), std::nullopt, choice);
}

}  // namespace

Status take_details(std::string_view where, const std::string& field, const json& list, Tokens& tokens) {
  if (!list.is_array() || list.size() != tokens.size())
    return bad_input(where, field, std::to_string(tokens.size()) + " tokens",
                     list.is_array() ? std::to_string(list.size()) : list.type_name());
  Tokens detailed;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const json& fields = list[i];
    if (!fields.is_object()) return bad_input(where, at(field, i), "an object", fields.type_name());
    Token token = tokens.tokens[i];
    for (const auto& [key, text] : {std::pair{"text", &token.text}, {"raw", &token.raw}}) {
      const json* value = member(fields, key);
      if (value == nullptr) continue;
      if (!value->is_string()) return bad_input(where, at(field, i) + "." + key, "a text", value->type_name());
      *text = value->get<std::string>();
    }
    for (const auto& [key, flag] :
         {std::pair{"special", &token.special}, {"known", &token.known}, {"pad", &token.pad}}) {
      const json* value = member(fields, key);
      if (value == nullptr) continue;
      if (!value->is_boolean()) return bad_input(where, at(field, i) + "." + key, "true or false", value->type_name());
      *flag = value->get<bool>();
    }
    if (const json* id = member(fields, "id")) {
      if (!id->is_number_integer()) return bad_input(where, at(field, i) + ".id", "a whole number", id->type_name());
      token.id = id->get<std::int64_t>();
    }
    const json* bytes = member(fields, "bytes");
    const bool has_bytes = bytes && bytes->is_array() && bytes->size() == 2 && (*bytes)[0].is_number_unsigned() &&
                           (*bytes)[1].is_number_unsigned();
    const auto begin = has_bytes ? (*bytes)[0].get<std::uint64_t>() : 0,
               end = has_bytes ? (*bytes)[1].get<std::uint64_t>() : 0;
    token.begin = detailed.text.size();
    // The range has spaces that the raw text lacks, and lacks marks of pieces that the raw text has.
    const std::uint64_t size = has_bytes && begin <= end ? end - begin : token.raw.size();
    if (size > token.raw.size()) detailed.text += ' ';
    detailed.text += token.raw.substr(token.raw.size() - std::min<std::uint64_t>(size, token.raw.size()));
    token.end = detailed.text.size();
    detailed.tokens.push_back(std::move(token));
  }
  tokens = std::move(detailed);
  return Done{};
}

Result<MaskSpec> exported_mask(std::string_view where, const std::string& field, const json& allowed) {
  auto array = TRY(nested_numbers(where, field, allowed, 3));
  array.dtype = Dtype::boolean;
  MaskSpec spec;
  if (array.shape.size() == 3) {
    spec.heads = array.shape[0];
    array.shape = {array.shape[0] * array.shape[1], array.shape[2]};
  }
  std::vector<Error> notes;  // of floats alone
  auto given = TRY(additive_mask(where, field, array, notes));
  spec.given = std::make_shared<const Matrix>(std::move(given));
  return spec;
}

Status check_schema(std::string_view where, const json& document) {
  const json* schema = document.is_object() ? member(document, "schema") : nullptr;
  if (!schema || *schema == kSchema) return Done{};
  return bad_input(where, "schema", kSchema,
                   schema->is_string() ? "'" + printable(schema->get<std::string>()) + "'" : schema->type_name(),
                   ErrorCode::unknown_schema);
}

Result<TensorsFile> parse_attention_json(std::string_view where, std::string_view text, const ArrayChoice& choice) {
  // Python's json writes NaN; infinity is no weight.
  const bool gaps = text.find("NaN") != text.npos && text.find("Infinity") == text.npos;
  const auto document = gaps ? parse_python_json(where, text, gaps) : parse_json(where, text);
  if (!document) return document.error();
  const json& object = *document;
  if (!object.is_object() && !object.is_array())
    return bad_input(where, "", "an object with attention", object.type_name());
  TRY(check_schema(where, object));
  const json* batch = object.is_object() ? member(object, "batch") : nullptr;
  const json* list = object.is_object() ? member(object, "attention") : nullptr;
  if (batch == nullptr && (list == nullptr || !list->is_array() || (!list->empty() && list->front().is_array()))) {
    json named = list_of_named(list ? *list : object);
    if (json whole = json::object(); !named.is_null()) {
      whole["attention"] = std::move(named);
      return from_object(where, whole, choice);
    }
    if (list && !list->is_array()) TRY(check_list(where, "attention", *list, "patterns"));
    return from_lists(where, object, choice);
  }
  if (batch == nullptr) return from_object(where, object, choice);
  TRY(check_list(where, "batch", *batch, "exports"));
  const Index sentence = choice.sentence.value_or(0);
  TRY(check_within(where, "--sentence", sentence, static_cast<Index>(batch->size())));
  const json& one = (*batch)[static_cast<std::size_t>(sentence)];
  if (!one.is_object())
    return bad_input(where, at("batch", static_cast<std::size_t>(sentence)), "an object", one.type_name());
  ArrayChoice within = choice;
  within.sentence.reset();
  auto file = from_object(where, one, within);
  if (file && batch->size() > 1 && !choice.sentence)
    file->warnings.emplace_back(
        ErrorCode::bad_value, where,
        "a batch of " + std::to_string(batch->size()) + " sentences: the first is shown (--sentence)");
  return file;
}

Result<TensorsFile> read_attention_json(const std::filesystem::path& path, const ArrayChoice& choice) {
  const auto text = TRY(read_file(path, kMostAttentionBytes));
  return parse_attention_json(path.string(), text, choice);
}

Result<TensorsFile> parse_attention_json(std::string_view where, std::string_view text) {
  return parse_attention_json(where, text, {});
}

Result<TensorsFile> read_attention_json(const std::filesystem::path& path) { return read_attention_json(path, {}); }

}  // namespace headlight
