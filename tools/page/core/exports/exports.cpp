// The functions of core.wasm and still.wasm (docs/page.md, "The core"). Texts come in as
// JSON, which the page puts into memory that take() gave; reply() is the text that a call answers with; numbers are
// read where the returned address points, until the next call.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/memory_files.h"
#include "derived/fold.h"
#include "figure/drawing/map_layout.h"
#include "heads/head_measures.h"
#include "math/attention.h"
#include "math/output.h"
#include "page/core/answer_object.h"
#include "page/core/exported.h"

namespace headlight {
namespace {

using nlohmann::json;

std::vector<float> numbers;
std::vector<std::uint8_t> flags;

HeadRef head_ref(int stack, int layer, int head) { return {layer, head, static_cast<Stack>(stack)}; }

Region whole_map(const Trace& trace, const HeadRef& head) {
  return {.head = head, .num_queries = trace.queries(head.stack), .num_keys = trace.keys(head.stack)};
}

/// No map is shown with fewer cells.
constexpr Index kEveryCell = PTRDIFF_MAX;

const float* keep(const Matrix& matrix) {
  numbers.assign(matrix.data(), matrix.data() + matrix.size());
  return numbers.data();
}

std::optional<Fold> fold_for(const Trace& trace, int stack, int special, int words) {
  const auto which = static_cast<Stack>(stack);
  return fold_of(trace.query_tokens(which), trace.key_tokens(which), {.special = special != 0, .words = words != 0});
}

json groups_of(const FoldedAxis& axis) {
  json list = json::array();
  for (std::size_t i = 0; i < axis.groups.size(); ++i)
    list.push_back({axis.groups[i].first, axis.groups[i].count, axis_label(axis.tokens[i])});
  return list;
}

}  // namespace

HEADLIGHT_EXPORT(take) char* core_take(int size) {
  return static_cast<char*>(std::malloc(static_cast<std::size_t>(size) + 1));
}
HEADLIGHT_EXPORT(drop) void core_drop(char* memory) { std::free(memory); }
HEADLIGHT_EXPORT(reply) const char* core_reply() { return page_reply.data(); }
HEADLIGHT_EXPORT(reply_size) int core_reply_size() { return static_cast<int>(page_reply.size()); }

/// A file of the page: a model's, or the numbers of a stack (`0/1/q`: side, number and field).
HEADLIGHT_EXPORT(put) void core_put(const char* name, int name_size, char* bytes, int size) {
  put_memory_file(std::string(name, static_cast<std::size_t>(name_size)), bytes, static_cast<std::size_t>(size));
}

/// Reads the object of a page's data that has `stacks`.
HEADLIGHT_EXPORT(open) void core_open(int side, const char* text, int size) {
  answer_with([&]() -> Result<json> {
    const auto name_of = [side](Index stack, std::string_view field) {
      return std::to_string(side) + "/" + std::to_string(stack) + "/" + std::string(field);
    };
    auto still = TRY(StillAnswer::read(
        parsed(text, size), [&](Index stack, std::string_view field) { return memory_file(name_of(stack, field)); }));
    for (Index stack = 0; stack < 3; ++stack)
      for (const char* field : kPageNumberFields) drop_memory_file(name_of(stack, field));
    forget_scenes();
    page_sides[side] = std::move(still);
    return json::object();
  });
}

/// Replaces the masks and edits.
HEADLIGHT_EXPORT(change) void core_change(const char* text, int size) {
  answer_with([&]() -> Result<json> {
    forget_scenes();
    TRY(page_sides[0]->change(parsed(text, size)));
    const bool is_still = dynamic_cast<StillAnswer*>(page_sides[0].get()) != nullptr;
    return is_still ? json::object() : answer_object(page_sides[0]->trace());
  });
}

/// (count, S) weights of rows of a head.
HEADLIGHT_EXPORT(weights) const float* core_weights(int side, int stack, int layer, int head, int first, int count) {
  return keep(attention_rows(page_sides[side]->trace(), head_ref(stack, layer, head), first, count));
}

/// (T, S) a byte a cell: whether the mask of the head lets the key through.
HEADLIGHT_EXPORT(allowed) const std::uint8_t* core_allowed(int side, int stack, int layer, int head) {
  const Trace& trace = page_sides[side]->trace();
  const Region whole = whole_map(trace, head_ref(stack, layer, head));
  const Matrix blocked = blocked_cells(trace.mask(whole.head.stack, layer), whole, kEveryCell);
  flags.resize(static_cast<std::size_t>(blocked.size()));
  for (Index i = 0; i < blocked.size(); ++i) flags[static_cast<std::size_t>(i)] = blocked.data()[i] == 0;
  return flags.data();
}

/// In the order of kMeasures up to `largest`, over tokens and then over whole words; NaN where no row has the measure.
HEADLIGHT_EXPORT(measures) const float* core_measures(int side, int stack, int layer, int head) {
  MeasureSums sums{{head_ref(stack, layer, head)}, std::vector<MeasureSums::OfHead>(1)};
  add_sentence(sums, page_sides[side]->trace(), unwatched(), 1);
  numbers.clear();
  const HeadMeasures measured = measures_of(sums).front();
  for (const auto* values : {&measured.values, &measured.of_words})
    for (const Measure measure : kMeasures)
      if (measure <= Measure::largest) numbers.push_back((*values)[static_cast<std::size_t>(measure)].value_or(NAN));
  return numbers.data();
}

/// {"special", "words", "queries", "keys"}: what is folded, and of each group its first token, their number and its
/// text; null where nothing is. `foldable` names what can be folded.
HEADLIGHT_EXPORT(fold) void core_fold(int side, int stack, int special, int words) {
  answer_with([&]() -> Result<json> {
    const Trace& trace = page_sides[side]->trace();
    const auto which = static_cast<Stack>(stack);
    const FoldChoice can = foldable(trace.query_tokens(which), trace.key_tokens(which));
    json object{{"foldable", {{"special", can.special}, {"words", can.words}}}};
    if (const auto fold = fold_for(trace, stack, special, words))
      object["fold"] = {{"special", fold->done.special},
                        {"words", fold->done.words},
                        {"queries", groups_of(fold->queries)},
                        {"keys", groups_of(fold->keys)}};
    return object;
  });
}

/// (query groups, key groups) of a head, −1 where blocked.
HEADLIGHT_EXPORT(folded) const float* core_folded(int side, int stack, int layer, int head, int special, int words) {
  const Trace& trace = page_sides[side]->trace();
  const Matrix weights = region_weights(trace, whole_map(trace, head_ref(stack, layer, head)), kEveryCell, false);
  return keep(folded(weights, *fold_for(trace, stack, special, words)));
}

/// What a weight is computed from.
HEADLIGHT_EXPORT(why) void core_why(int side, int stack, int layer, int head, int query, int key) {
  answer_with([&]() -> Result<json> {
    return why_object(page_sides[side]->trace(), head_ref(stack, layer, head), {query, key});
  });
}

/// The most probable next words, [] without an output layer.
HEADLIGHT_EXPORT(guesses) void core_guesses(int count) {
  answer_with([&]() -> Result<json> {
    const Trace& trace = page_sides[0]->trace();
    json list = json::array();
    if (trace.logits.size() == 0) return list;
    for (const Candidate& word : most_probable(*trace.model, probabilities(trace.logits), count))
      list.push_back({{"id", word.id}, {"text", word.text}, {"probability", word.probability}});
    return list;
  });
}

}  // namespace headlight
