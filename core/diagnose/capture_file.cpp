// A capture as it is read from its file.
#include <algorithm>

#include "base/formatted.h"
#include "diagnose/capture.h"
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
    if (into.back().size() != count) item.problem(std::to_string(count) + " texts");
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
  facts.read_integer("key_heads", call.key_heads, kMost);
  facts.read_integer("value_heads", call.value_heads, kMost);
  facts.read_integer("row_length", call.row_length, kMost);
  facts.read("d_k", call.d_k);
  facts.read("scale", call.scale);
  facts.read("tolerance", call.tolerance);
  facts.read("softcap", call.softcap);
  facts.read("by_query", call.by_query);
  facts.read("changed", call.changed);
  facts.read("partial", call.partial);
  read_words(facts.at("observed"), 2, call.observed);
  read_words(facts.at("roles"), 2, call.roles);
  read_words(facts.at("unused"), 3, call.unused);
  read_words(facts.at("replaced"), 2, call.replaced);
  read_words(facts.at("arguments"), 2, call.arguments);
  read_words(facts.at("given"), 2, call.given);
}

/// Whether every array has the axes that its name promises.
Status check_shapes(std::string_view where, CapturedCall& call) {
  const Array* query = call.array("query");
  if (!query) return call.where.empty() ? Status(bad_input(where, "query", "an array", "none")) : Status(Done{});
  if (!call.array("key")) call.arrays["key"] = *query;
  for (const Array* side : {query, call.array("key")})
    if (side->shape.size() != 3) return bad_input(where, "query, key", "(sentences, T, d)", shape_text(side->shape));
  const Index count = query->shape[0], queries = query->shape[1], keys = call.array("key")->shape[1];
  call.count = std::max(call.count, count);
  const auto fits = [&](Index size, Index most) { return size == 1 || size == most; };
  for (const auto& [name, array] : call.arrays) {
    const std::vector<Index>& shape = array.shape;
    const bool side = name == "query" || name == "key" || name == "value" || name.ends_with(".before"),
               merged = name == "merge";
    const bool cells = name == "blocked" || name == "bias" || name == "numbers" || name == "after" ||
                       name == "intended" || name == "attentions" || name.starts_with("argument.");
    const Array* turned = name.ends_with(".before") ? call.array(name.substr(0, name.find('.'))) : &array;
    const bool good =
        array.values.empty() || !turned || turned->shape != shape ? false
        : side                                                    ? shape.size() == 3 && shape[0] == count
        : merged ? shape.size() == 2 && shape[1] % call.heads == 0 && call.array("output") &&
                       call.array("output")->shape == shape
        : cells ? shape.size() == 4 && shape[2] == queries && shape[3] == keys && fits(shape[1], call.heads) &&
                      (name == "attentions" ? shape[0] == count && shape[1] == call.heads : fits(shape[0], call.count))
        : name == "output" ? call.array("merge") || (shape.size() == 3 && shape[0] == count)
                           : true;
    if (!good) return bad_input(where, name, "the axes of a capture", shape_text(shape));
  }
  return Done{};
}

}  // namespace

const Array* CapturedCall::array(const std::string& name) const {
  const auto at = arrays.find(name);
  return at == arrays.end() ? nullptr : &at->second;
}

bool is_capture(const std::filesystem::path& path) {
  if (path.extension() != ".safetensors") return false;
  const auto stored = map_safetensors(path);
  return stored && stored->metadata.contains("capture");
}

Result<std::vector<CapturedCall>> capture_from(std::string_view where, ArrayFile file) {
  const auto document = parse_json(where, file.metadata["capture"]);
  if (!document) return document.error();
  JsonProblems problems{.where = std::string(where)};
  std::vector<CapturedCall> calls;
  for (const JsonField& facts : JsonField(*document, "", problems).at("calls").items()) {
    calls.emplace_back();
    read_call(facts, calls.back());
  }
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
  for (CapturedCall& call : calls)
    if (const Status good = check_shapes(where, call); !good) return good.error();
  return calls;
}

}  // namespace headlight
