// A capture as it is read from its file, and the texts about it that follow from no numbers.
#include <algorithm>

#include "base/formatted.h"
#include "diagnose/capture/capture_masks.h"
#include "read/array/safetensors.h"
#include "read/json/json_document.h"
#include "read/json/json_fields.h"

namespace headlight {
namespace {

void read_words(const JsonField& list, std::size_t count, std::vector<FactRow>& into) {
  if (list.is_missing()) return;
  for (const JsonField& item : list.items()) {
    into.emplace_back();
    for (const JsonField& word : item.items()) into.back().push_back(word.text());
    if (into.back().size() < count) item.problem(std::to_string(count) + " texts");
  }
}

void read_call(const JsonField& facts, CapturedCall& call) {
  constexpr std::uint64_t kMost = 1 << 20;
  facts.read("where", call.where);
  facts.read("dtype", call.dtype);
  facts.read("over", call.over);
  facts.read("opaque", call.opaque);
  facts.read_integer("heads", call.heads, kMost);
  facts.read_integer("count", call.count, kMost);
  facts.read_integer("row_length", call.row_length, kMost);
  facts.read("d_k", call.d_k);
  facts.read("scale", call.scale);
  facts.read("tolerance", call.tolerance);
  facts.read("softcap", call.softcap);
  facts.read("by_query", call.by_query);
  facts.read("changed", call.changed);
  facts.read("heads_first", call.heads_first);
  facts.read("partial", call.partial);
  facts.read_integer("block", call.block, kMost);
  facts.read_integer("new_keys", call.new_keys, kMost);
  facts.read_integer("new_at", call.new_at, kMost);
  read_words(facts.at("observed"), 2, call.observed);
  read_words(facts.at("meant"), 1, call.meant);
  read_words(facts.at("roles"), 2, call.roles);
  read_words(facts.at("unused"), 3, call.unused);
  read_words(facts.at("steps"), 4, call.steps);
  read_words(facts.at("arguments"), 2, call.arguments);
  read_words(facts.at("given"), 2, call.given);
}

/// Whether an array has the axes that its name promises; query and key are checked.
bool has_axes(const CapturedCall& call, const std::string& name, const std::vector<Index>& shape) {
  const Array &query = *call.array("query"), &key = *call.array("key"), *output = call.array("output");
  const Index count = query.shape[0];
  const auto fits = [&](Index size, Index most) { return size == 1 || size == most; };
  if (name.ends_with(".before")) {
    const Array* turned = call.array(name.substr(0, name.find('.')));
    return turned && turned->shape == shape && shape.size() == 3 && shape[0] == count;
  }
  if (name == "query" || name == "key" || name == "value") return shape.size() == 3 && shape[0] == count;
  if (name == "output") return call.array("merge") || (shape.size() == 3 && shape[0] == count);
  if (name == "merge") return shape.size() == 2 && shape[1] % call.heads == 0 && output && output->shape == shape;
  const bool weights = name == "attentions";
  if (!weights && name != "blocked" && name != "bias" && name != "numbers" && name != "after" && name != "intended" &&
      !name.starts_with("step."))
    return true;
  if (shape.size() != 4 || shape[2] != query.shape[1] || shape[3] != key.shape[1]) return false;
  return weights ? shape[0] == count && shape[1] == call.heads
                 : fits(shape[0], call.count) && fits(shape[1], call.heads);
}

/// Whether every array has the axes that its name promises.
Status check_shapes(std::string_view where, CapturedCall& call) {
  const Array* query = call.array("query");
  if (!query) return call.where.empty() ? Status(bad_input(where, "query", "an array", "none")) : Status(Done{});
  if (!call.array("key")) call.arrays["key"] = *query;
  for (const Array* side : {query, call.array("key")})
    if (side->shape.size() != 3) return bad_input(where, "query, key", "(sentences, T, d)", shape_text(side->shape));
  call.count = std::max(call.count, query->shape[0]);
  for (const auto& [name, array] : call.arrays)
    if (array.values.empty() || !has_axes(call, name, array.shape))
      return bad_input(where, name, "the axes of a capture", shape_text(array.shape));
  return Done{};
}

}  // namespace

bool is_capture(const std::filesystem::path& path) {
  if (path.extension() != ".safetensors") return false;
  const auto stored = map_safetensors(path);
  return stored && stored->metadata.contains("capture");
}

Result<Capture> capture_from(std::string_view where, ArrayFile file) {
  const auto document = parse_json(where, file.metadata["capture"]);
  if (!document) return document.error();
  JsonProblems problems{.where = std::string(where)};
  Capture capture;
  std::vector<CapturedCall>& calls = capture.calls;
  const JsonField root(*document, "", problems);
  for (const JsonField& facts : root.at("calls").items()) {
    calls.emplace_back();
    read_call(facts, calls.back());
  }
  read_words(root.at("notes"), 1, capture.notes);
  if (problems.first) return *problems.first;
  if (file.metadata.contains("expect")) {
    const auto expect = parse_json(where, file.metadata["expect"]);
    if (!expect) return expect.error();
    for (const auto& [name, value] : expect->items())
      for (CapturedCall& call : calls)
        if (value.is_number()) call.expect[name] = value.get<double>();
  }
  for (auto& [name, array] : file.arrays) {
    const auto number = parse_number<std::size_t>(std::string_view(name).substr(0, name.find('.')));
    if (number && *number < calls.size())
      calls[*number].arrays.emplace(name.substr(name.find('.') + 1), std::move(array));
  }
  for (CapturedCall& call : calls) {
    TRY(check_shapes(where, call));
    take_steps(call, capture.notes);
  }
  return capture;
}

std::vector<Bilingual> Capture::note_texts() const {
  std::vector<Bilingual> all;
  for (const FactRow& note : notes) {
    std::vector<Bilingual> parts;
    for (std::size_t part = 1; part < note.size(); ++part) parts.push_back(translated(note[part]));
    const auto code = text_named(note[0]);
    all.push_back(code ? filled(*code, parts) : joined(parts, ": "));
  }
  return all;
}

std::vector<Bilingual> CaptureReport::summary() const {
  std::vector<Bilingual> lines;
  const auto counted = [&](const MistakeCode& one, const MistakeCode& many, Index count) {
    lines.push_back(words(count == 1 ? one : many, std::to_string(count)));
  };
  if (mistakes.empty() && judged > 0) counted(phrases::none_found_one, phrases::none_found, judged);
  if (judged < calls && unchecked.empty() && notes.empty())
    counted(phrases::unjudged_one, phrases::unjudged, calls - judged);
  return lines;
}

}  // namespace headlight
