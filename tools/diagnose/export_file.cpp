#include "diagnose/export_file.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/file.h"
#include "math/attention.h"
#include "math/forward.h"
#include "read/array/npz.h"
#include "read/array/torch_file.h"
#include "read/external/tensors_file.h"
#include "read/json/json_document.h"
#include "text/nearest.h"

namespace headlight {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 3> kStackPrefixes = {"encoder_", "decoder_", "cross_"};

/// Puts an array of a known kind into the axes of an export: a batch of one loses its axis, wherever it stands
/// (Hugging Face: first, or second in stacked layers; torch.nn: second unless batch_first), and attention of a single
/// layer, or its mean over the heads, gets the axes it lacks.
void shape_as_exported(std::string_view name, Array& array) {
  const ArrayName parts = parse_array_name(name);
  const std::size_t axes = axes_of(parts.kind).size();
  if (axes == 0) return;
  std::vector<Index>& shape = array.shape;
  if (shape.size() == axes + 1) {
    if (shape[0] == 1) shape.erase(shape.begin());
    else if (shape[1] == 1) shape.erase(shape.begin() + 1);
  }
  if (axes == 4 && shape.size() >= 2 && shape.size() < 4) shape.insert(shape.begin(), 4 - shape.size(), 1);
}

std::vector<std::string> strings_of(const json& list) {
  std::vector<std::string> texts;
  if (!list.is_array()) return texts;
  for (const json& text : list) {
    if (!text.is_string()) return {};
    texts.push_back(text.get<std::string>());
  }
  return texts;
}

/// `Self`, `All` (as BertViz calls pairs of sentences) and no name are the attention of the only stack.
std::string stack_called(const json& entry) {
  const std::string name = entry.contains("name") && entry["name"].is_string() ? entry["name"].get<std::string>() : "";
  if (name == "Encoder" || name == "Decoder" || name == "Cross") {
    std::string stack = name + "_";
    stack[0] = static_cast<char>(stack[0] - 'A' + 'a');
    return stack;
  }
  return name.empty() || name == "Self" || name == "All" ? "" : printable(name) + " ";
}

/// One answer: an object with `attention`, and the fields beside it.
Status take_object(std::string_view where, const json& object, const std::string& sentence, ExportFile& file) {
  if (!object.is_object() || !object.contains("attention") || !object["attention"].is_array())
    return bad_input(where, "attention", "a list, as Headlight and BertViz write it", "none");
  const json& attention = object["attention"];
  for (std::size_t i = 0; i < attention.size(); ++i) {
    const json& entry = attention[i];
    const std::string field = "attention[" + std::to_string(i) + "].attn";
    if (!entry.is_object() || !entry.contains("attn") || !entry["attn"].is_array())
      return bad_input(where, field, "[layer][head][query][key]", "none");
    auto array = TRY(nested_numbers(where, field, entry["attn"], 5));
    const std::string before = sentence + stack_called(entry);
    if (file.arrays.contains(before + "attentions"))
      return bad_input(where, "attention", "each name once", "'" + before + "attentions' twice");
    file.arrays[before + "attentions"] = std::move(array);
    AxisTexts& words = file.words[before];
    if (entry.contains("left_text")) words.queries = strings_of(entry["left_text"]);
    if (entry.contains("right_text")) words.keys = strings_of(entry["right_text"]);
  }
  for (const auto& [key, value] : object.items()) {
    if (!value.is_array() || axes_of(parse_array_name(key).kind).empty()) continue;
    file.arrays[sentence + key] = TRY(nested_numbers(where, key, value, 5));
  }
  if (const auto at = object.find("model"); at != object.end() && at->is_object() && at->contains("d_k"))
    if ((*at)["d_k"].is_number_integer() && (*at)["d_k"].get<std::int64_t>() > 0)
      file.d_k = (*at)["d_k"].get<std::int64_t>();
  if (const auto mask = object.find("mask"); mask != object.end() && mask->is_object() && mask->contains("allowed"))
    if (const auto said = TRY(exported_mask(where, "mask.allowed", (*mask)["allowed"])); said.heads == 1)
      file.masks[sentence] = *said.given;
  return Done{};
}

/// The metadata's token lists, under the names that exports use.
void take_words(const ArrayFile& arrays, ExportFile& file) {
  const auto list = [&](const std::string& key) {
    const auto text = metadata_text(arrays, key);
    if (!text) return std::vector<std::string>{};
    const auto parsed = parse_json("", *text);
    return parsed ? strings_of(*parsed) : std::vector<std::string>{};
  };
  for (const auto& [name, array] : arrays.arrays) {
    const ArrayName parts = parse_array_name(name);
    const std::string sentence = parts.sentence ? std::to_string(*parts.sentence) + "." : "";
    const auto source = list(sentence + "tokens"), keys = list(sentence + "key_tokens");
    const auto target = list(sentence + "target_tokens");
    AxisTexts& words = file.words[sentence + parts.stack];
    words.queries = parts.stack == "decoder_" || parts.stack == "cross_" ? target : source;
    words.keys = parts.stack == "decoder_" ? target : keys.empty() ? source : keys;
  }
}

bool is_answer(std::string_view name) { return !axes_of(parse_array_name(name).kind).empty(); }

Result<std::shared_ptr<const Trace>> compute(std::string_view where, const ArrayFile& file,
                                             std::optional<Index> num_heads, std::vector<Error>& warnings) {
  ArrayFile inputs{.arrays = {}, .metadata = file.metadata};
  for (const auto& [name, array] : file.arrays)
    if (is_input(name)) inputs.arrays.emplace(name, array);
  const auto tensors = TRY(tensors_from(where, inputs, num_heads));
  warnings = tensors.warnings;
  Request request;
  request.model = tensors.model;
  request.config = tensors.model->config;
  request.mask = tensors.mask;
  return forward(request);
}

void append(Array& array, const Matrix& piece) {
  array.values.insert(array.values.end(), piece.data(), piece.data() + piece.size());
}

/// The texts, unless they only count.
std::vector<std::string> texts_of(const Tokens& tokens) {
  std::vector<std::string> texts;
  bool counted = true;
  for (const Token& token : tokens.tokens) {
    counted = counted && token.text == std::to_string(texts.size());
    texts.push_back(token.text);
  }
  return counted ? std::vector<std::string>{} : texts;
}

AxisTexts words_of(const Trace& trace) { return {texts_of(trace.query_tokens()), texts_of(trace.key_tokens())}; }

}  // namespace

ArrayName parse_array_name(std::string_view name) {
  ArrayName parts;
  Index sentence = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), sentence);
  if (error == std::errc{} && end != name.data() + name.size() && *end == '.') {
    parts.sentence = sentence;
    name.remove_prefix(static_cast<std::size_t>(end - name.data()) + 1);
  }
  for (const std::string_view stack : kStackPrefixes) {
    if (!name.starts_with(stack)) continue;
    parts.stack = stack;
    name.remove_prefix(stack.size());
    break;
  }
  parts.kind = name;
  return parts;
}

bool is_input(std::string_view name) {
  return name == "query" || name == "key" || name == "value" || name == "mask" || name == "num_heads" ||
         name.find("_proj.") != std::string_view::npos;
}

std::vector<std::string_view> axes_of(std::string_view kind) {
  if (kind == "attentions" || kind == "scores") return {"layer", "head", "query", "key"};
  if (kind == "queries") return {"layer", "head", "query", "column"};
  if (kind == "keys" || kind == "values") return {"layer", "head", "key", "column"};
  if (kind == "hidden_states") return {"layer", "token", "column"};
  if (kind == "last_hidden_state" || kind == "output" || kind == "logits") return {"token", "column"};
  return {};
}

Result<ExportFile> export_from_json(std::string_view where, std::string_view text) {
  const auto document = parse_json(where, text);
  if (!document) return document.error();
  TRY(check_schema(where, *document));
  ExportFile file;
  file.name = where;
  const bool batch = document->is_object() && document->contains("batch");
  if (batch && (!(*document)["batch"].is_array() || (*document)["batch"].empty()))
    return bad_input(where, "batch", "a list of answers", (*document)["batch"].type_name());
  const std::size_t count = batch ? (*document)["batch"].size() : 1;
  for (std::size_t i = 0; i < count; ++i) {
    const json& object = batch ? (*document)["batch"][i] : *document;
    const std::string sentence = batch ? std::to_string(i) + "." : "";
    TRY(take_object(where, object, sentence, file));
  }
  for (auto& [name, array] : file.arrays) shape_as_exported(name, array);
  return file;
}

Result<ExportFile> export_from(std::string_view where, ArrayFile arrays, std::optional<Index> num_heads) {
  ExportFile file;
  file.name = where;
  take_words(arrays, file);
  if (arrays.arrays.contains("query")) {
    auto computed = TRY(compute(where, arrays, num_heads, file.warnings));
    file.computed = std::move(computed);
    file.words[""] = words_of(*file.computed);
  }
  file.arrays = std::move(arrays.arrays);
  for (auto& [name, array] : file.arrays) shape_as_exported(name, array);
  file.own_answers =
      std::any_of(file.arrays.begin(), file.arrays.end(), [](const auto& named) { return is_answer(named.first); });
  if (file.computed && !file.own_answers) file.arrays.merge(answers_of(*file.computed));
  return file;
}

Result<ExportFile> read_export(const std::filesystem::path& path, std::optional<Index> num_heads) {
  const std::string where = path.string();
  if (path.extension() == ".json") {
    const auto text = TRY(read_file(path));
    return export_from_json(where, text);
  }
  if (path.extension() != ".npz" && path.extension() != ".safetensors" && !is_torch_name(path))
    return bad_input(
        where, "name", "a file named .json, .npz, .safetensors, .pt, .pth or .bin",
        foreign_format(path).empty() ? "'" + printable(path.filename().string()) + "'" : foreign_format(path),
        ErrorCode::unknown_kind);
  auto file = TRY(read_arrays(path));
  return export_from(where, std::move(file), num_heads);
}

Array array_of_heads(const Trace& trace, Stack stack, Matrix AttentionTrace::*side_by_side, bool of_query) {
  const AttentionTrace& first = trace.attention(stack, 0);
  const Index heads = of_query ? first.num_heads() : first.num_kv_heads, layers = trace.num_layers(stack);
  const Matrix& all = first.*side_by_side;
  Array array{.shape = {layers, heads, all.rows(), all.cols() / heads}, .values = {}};
  for (Index layer = 0; layer < layers; ++layer)
    for (Index head = 0; head < heads; ++head)
      append(array, head_columns(trace.attention(stack, layer).*side_by_side, head, heads));
  return array;
}

std::map<std::string, Array> answers_of(const Trace& trace) {
  using RowsOfHead = Matrix (*)(const Trace&, const HeadRef&, Index first, Index count);
  const Index heads = trace.num_heads(), queries = trace.queries();
  std::map<std::string, Array> arrays;
  for (const auto& [name, rows_of] :
       {std::pair<const char*, RowsOfHead>{"attentions", attention_rows}, {"scores", score_rows}}) {
    Array& array = arrays[name];
    array.shape = {1, heads, queries, trace.keys()};
    for (Index head = 0; head < heads; ++head)
      for (Index first = 0; first < queries; first += kRowBlock)
        append(array, rows_of(trace, {.head = head}, first, std::min(kRowBlock, queries - first)));
  }
  arrays["output"] = array_of(trace.last_hidden_state());
  arrays["queries"] = array_of_heads(trace, Stack::self, &AttentionTrace::query, true);
  arrays["keys"] = array_of_heads(trace, Stack::self, &AttentionTrace::key, false);
  arrays["values"] = array_of_heads(trace, Stack::self, &AttentionTrace::value, false);
  return arrays;
}

Result<ExportFile> answers_to(const ExportFile& mine) {
  if (!mine.computed)
    return bad_input(mine.name, "query", "the inputs of the attention, or a second file to compare with", "neither");
  ExportFile ours;
  ours.name = "Headlight";
  ours.arrays = answers_of(*mine.computed);
  const bool answered = std::any_of(ours.arrays.begin(), ours.arrays.end(),
                                    [&](const auto& named) { return mine.arrays.contains(named.first); });
  if (!mine.own_answers || !answered)
    return bad_input(mine.name, "attentions", "`attentions` or `output` as your implementation computed them",
                     "neither");
  ours.words = {{"", words_of(*mine.computed)}};
  ours.computed = mine.computed;
  ours.own_answers = false;
  return ours;
}

}  // namespace headlight
