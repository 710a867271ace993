// The functions of core.wasm and still.wasm (docs/page.md, "The core"), each compiled into one file. Texts come in as JSON, which the page puts into memory that
// core_take() gave; reply() is the text that a call answers with; numbers are read where the returned address points,
// until the next call.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/thrown.h"
#include "base/web/memory_files.h"
#include "derived/fold.h"
#include "heads/head_measures.h"
#include "math/attention.h"
#include "math/output.h"
#include "page/core/answer_object.h"
#include "page/core/page_answers.h"

#define EXPORT(name) extern "C" __attribute__((export_name(#name)))

namespace headlight {
namespace {

using nlohmann::json;

/// The two answers of a page: its own, and A of its comparison.
std::unique_ptr<PageAnswer> sides[2];

std::string reply;
std::vector<float> numbers;
std::vector<std::uint8_t> flags;

/// Calls `answer`, which gives a Status or a JSON; what it throws is a reply too.
template <class Answer>
void answer_with(const Answer& answer) {
  json object;
  try {
    const Result<json> found = answer();
    object = found ? *found : json{{"error", found.error().message()}};
    if (!found && found.error().code == ErrorCode::too_large) object["too_many"] = found.error().found;
  } catch (...) { object = {{"error", thrown_error().message()}}; }
  reply = object.dump(-1, ' ', false, json::error_handler_t::replace);
}

json parsed(const char* text, int size) {
  return json::parse(std::string_view(text, static_cast<std::size_t>(size)), nullptr, false);
}

HeadRef head_ref(int stack, int layer, int head) { return {layer, head, static_cast<Stack>(stack)}; }

const float* keep(const Matrix& matrix) {
  numbers.assign(matrix.data(), matrix.data() + matrix.size());
  return numbers.data();
}

std::optional<Fold> fold_for(const Trace& trace, int stack, int special, int words) {
  const auto which = static_cast<Stack>(stack);
  return fold_of(trace.query_tokens(which), trace.key_tokens(which),
                 {.special = special != 0, .words = words != 0, .scaled = true});
}

json groups_of(const FoldedAxis& axis) {
  json list = json::array();
  for (std::size_t i = 0; i < axis.groups.size(); ++i)
    list.push_back({axis.groups[i].first, axis.groups[i].count, axis.tokens[i].text});
  return list;
}

}  // namespace

EXPORT(take) char* core_take(int size) { return static_cast<char*>(std::malloc(static_cast<std::size_t>(size) + 1)); }
EXPORT(drop) void core_drop(char* memory) { std::free(memory); }
EXPORT(reply) const char* core_reply() { return reply.data(); }
EXPORT(reply_size) int core_reply_size() { return static_cast<int>(reply.size()); }

/// A file of the page: a model's, or the numbers of a stack (`0/1/q`: side, number and field).
EXPORT(put) void core_put(const char* name, int name_size, char* bytes, int size) {
  put_memory_file(std::string(name, static_cast<std::size_t>(name_size)), bytes, static_cast<std::size_t>(size));
}

/// Reads the object of a page's data that has `stacks`.
EXPORT(open) void core_open(int side, const char* text, int size) {
  answer_with([&]() -> Result<json> {
    const auto name_of = [side](Index stack, std::string_view field) {
      return std::to_string(side) + "/" + std::to_string(stack) + "/" + std::string(field);
    };
    auto still = StillAnswer::read(
        parsed(text, size), [&](Index stack, std::string_view field) { return memory_file(name_of(stack, field)); });
    if (!still) return still.error();
    for (Index stack = 0; stack < 3; ++stack)
      for (const char* field : {"q", "k", "v", "weights"}) drop_memory_file(name_of(stack, field));
    sides[side] = *std::move(still);
    return json::object();
  });
}

/// Puts masks and edits in place of those before.
EXPORT(change) void core_change(const char* text, int size) {
  answer_with([&]() -> Result<json> {
    const Status status = sides[0]->change(parsed(text, size));
    if (!status) return status.error();
    const bool is_still = dynamic_cast<StillAnswer*>(sides[0].get()) != nullptr;
    return is_still ? json::object() : answer_object(sides[0]->trace());
  });
}

/// (count, S) weights of rows of a head.
EXPORT(weights) const float* core_weights(int side, int stack, int layer, int head, int first, int count) {
  return keep(attention_rows(sides[side]->trace(), head_ref(stack, layer, head), first, count));
}

/// (T, S) a byte a cell: whether the mask lets the key through.
EXPORT(allowed) const std::uint8_t* core_allowed(int side, int stack, int layer) {
  const Mask& mask = sides[side]->trace().mask(static_cast<Stack>(stack), layer);
  Matrix added = Matrix::Zero(mask.queries(), mask.keys());
  mask.add_to(added, 0);
  flags.resize(static_cast<std::size_t>(added.size()));
  for (Index i = 0; i < added.size(); ++i) flags[static_cast<std::size_t>(i)] = std::isfinite(added.data()[i]);
  return flags.data();
}

/// In the order of kMeasures; NaN where no row has the measure.
EXPORT(measures) const float* core_measures(int side, int stack, int layer, int head) {
  MeasureSums sums{{head_ref(stack, layer, head)}, std::vector<MeasureSums::OfHead>(1)};
  Progress progress;
  add_sentence(sums, sides[side]->trace(), progress, 1);
  numbers.clear();
  for (const auto& value : measures_of(sums).front().values) numbers.push_back(value.value_or(NAN));
  return numbers.data();
}

/// {"special", "words", "queries", "keys"}: what is folded, and of each group its first token, their number and its
/// text; null where nothing is. `foldable` says what there is to fold.
EXPORT(fold) void core_fold(int side, int stack, int special, int words) {
  answer_with([&]() -> Result<json> {
    const Trace& trace = sides[side]->trace();
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
EXPORT(folded) const float* core_folded(int side, int stack, int layer, int head, int special, int words) {
  const Trace& trace = sides[side]->trace();
  const HeadRef which = head_ref(stack, layer, head);
  const Mask& mask = trace.mask(which.stack, which.layer);
  Matrix weights = attention_rows(trace, which, 0, mask.queries()), added = Matrix::Zero(mask.queries(), mask.keys());
  mask.add_to(added, 0);
  weights = (added.array() == -INFINITY && weights.array() == 0.0f).select(-1.0f, weights);
  return keep(folded(weights, *fold_for(trace, stack, special, words)));
}

/// What a weight is computed from.
EXPORT(why) void core_why(int side, int stack, int layer, int head, int query, int key) {
  answer_with([&]() -> Result<json> {
    return why_object(sides[side]->trace(), head_ref(stack, layer, head), {query, key});
  });
}

/// The most probable next words, [] without an output layer.
EXPORT(guesses) void core_guesses(int count) {
  answer_with([&]() -> Result<json> {
    const Trace& trace = sides[0]->trace();
    json list = json::array();
    if (trace.logits.size() == 0) return list;
    for (const Candidate& word : most_probable(*trace.model, probabilities(trace.logits), count))
      list.push_back({{"id", word.id}, {"text", word.text}, {"probability", word.probability}});
    return list;
  });
}

}  // namespace headlight
