#include "write/reduced.h"

#include <algorithm>

#include "base/formatted.h"
#include "math/attention.h"
#include "model/head_text.h"
#include "write/json.h"

namespace headlight {
namespace {

std::string json_heads(const std::vector<HeadRef>& heads) {
  return "[" + joined_texts(heads, ",", [](const HeadRef& head) { return json_string(head_text(head)); }) + "]";
}

}  // namespace

std::vector<const Trace*> pointers_to(const std::vector<std::shared_ptr<const Trace>>& traces) {
  std::vector<const Trace*> pointers;
  for (const auto& trace : traces) pointers.push_back(trace.get());
  return pointers;
}

Result<std::vector<ReducedAttention>> reduced_attentions(std::vector<const Trace*> traces,
                                                         const ExportOptions& options) {
  std::vector<ReducedAttention> all;
  std::optional<Error> first;
  for (const StackNames& names : stacks_of(*traces.front(), options)) {
    auto maps = reduced_maps({.traces = traces,
                              .stack = names.stack,
                              .by = *options.reduce,
                              .only = options.only,
                              .without_special = options.special != SpecialTokens::show,
                              .renormalize = options.special == SpecialTokens::renormalize},
                             options.threads);
    if (maps) all.push_back({names, std::make_shared<const ReducedMaps>(*std::move(maps))});
    else if (!first) first = maps.error();
  }
  if (all.empty()) return *first;
  return all;
}

Result<ReducedSentences> reduced_sentences(const std::vector<std::shared_ptr<const Trace>>& traces,
                                           const ExportOptions& options) {
  if (options.reduce->sentences) return ReducedSentences{{"", TRY(reduced_attentions(pointers_to(traces), options))}};
  ReducedSentences all;
  for (std::size_t i = 0; i < traces.size(); ++i)
    all.emplace_back(traces.size() > 1 ? std::to_string(i) + "." : "",
                     TRY(reduced_attentions({traces[i].get()}, options)));
  return all;
}

ArrayStream reduced_array(const ReducedAttention& reduced, bool strongest) {
  const auto& maps = reduced.maps;
  const auto rows = static_cast<Index>(maps->rows().size()), blocks = (rows + kRowBlock - 1) / kRowBlock;
  ArrayStream array;
  array.name = strongest ? std::string(reduced.names.prefix) + "strongest" : std::string(reduced.names.attentions);
  array.shape = {maps->layers, maps->heads, rows, static_cast<Index>(maps->columns().size())};
  array.axes = {"layer", "head", "query", "key"};
  array.pieces = maps->num_maps() * blocks;
  array.piece = [maps, rows, blocks, strongest](Index piece) -> Matrix {
    const Index first = piece % blocks * kRowBlock, count = std::min(kRowBlock, rows - first), map = piece / blocks;
    if (!strongest) {
      const Matrix numbers = reduced_rows(*maps, map, first, count);
      return (numbers.array() == maps->of.traces.front()->blocked()).select(0.0f, numbers);
    }
    Matrix which;
    reduced_rows(*maps, map, first, count, kNeverStops, &which);
    const Index heads = maps->of.by.layers ? maps->of.traces.front()->num_heads(maps->of.stack) : 0;
    for (float& at : which.reshaped())
      if (at >= 0) {
        const HeadRef& head = maps->parts[static_cast<std::size_t>(map)][static_cast<std::size_t>(at)];
        at = static_cast<float>(head.layer * heads + head.head);
      }
    return which;
  };
  return array;
}

std::vector<ArrayStream> reduced_arrays(const std::vector<ReducedAttention>& reduced) {
  std::vector<ArrayStream> arrays;
  for (const ReducedAttention& one : reduced) arrays.push_back(reduced_array(one));
  for (const ReducedAttention& one : reduced)
    if (one.maps->of.by.by == ReduceBy::strongest) arrays.push_back(reduced_array(one, true));
  return arrays;
}

std::vector<ArrayStream> named_arrays(const std::string& prefix, const std::vector<ReducedAttention>& reduced) {
  std::vector<ArrayStream> arrays = reduced_arrays(reduced);
  for (ArrayStream& array : arrays) array.name.insert(0, prefix);
  arrays.push_back(array_of_texts(prefix + "reduce", {reduction_json(reduced)}));
  for (const auto& [name, tokens] : reduced_tokens(reduced)) {
    std::vector<std::string> texts;
    for (const Token& token : tokens.tokens) texts.push_back(token.text);
    arrays.push_back(array_of_texts(prefix + name, texts));
  }
  return arrays;
}

std::string reduction_json(const std::vector<ReducedAttention>& reduced) {
  const ReduceWhat& what = reduced.front().maps->of;
  std::string of;
  std::vector<HeadRef> off;
  for (const auto& [names, maps] : reduced) {
    std::vector<HeadRef> rolled = what.only;
    for (Index i = 0; rolled.empty() && i < what.traces.front()->num_layers(names.stack); ++i)
      for (Index head = 0; head < what.traces.front()->num_heads(names.stack); ++head)
        rolled.push_back({i, head, names.stack});
    const bool whole = what.by.by == ReduceBy::rollout;
    of += (of.empty() ? "" : ",") + json_string(names.label) + ":[" +
          joined_texts(whole ? std::vector<std::vector<HeadRef>>{rolled} : maps->parts, ",", json_heads) + "]";
    off.insert(off.end(), maps->off.begin(), maps->off.end());
  }
  const auto quoted = [](std::string_view name) { return json_string(name); };
  return "{\"by\":" + json_string(name_in(kReduceNames, what.by.by)) + ",\"over\":[" +
         joined_texts(reduced_over(what.by), ",", quoted) + "],\"sentences\":" + std::to_string(what.traces.size()) +
         ",\"of\":{" + of + "},\"off\":" + json_heads(off) + "}";
}

std::map<std::string, Tokens> reduced_tokens(const std::vector<ReducedAttention>& reduced) {
  std::map<std::string, Tokens> named;
  for (const auto& [names, maps] : reduced) {
    const Tokens rows{.text = {}, .tokens = maps->rows()}, columns{.text = {}, .tokens = maps->columns()};
    const bool one = names.label == "Self", cross = names.stack == Stack::cross;
    named.try_emplace(one || names.stack == Stack::encoder ? "tokens" : "target_tokens", rows);
    if (cross) named.try_emplace("tokens", columns);
    if (one && columns != rows) named.try_emplace("key_tokens", columns);
  }
  return named;
}

}  // namespace headlight
