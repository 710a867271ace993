#include "explain/patching.h"

#include <algorithm>

#include "base/within.h"
#include "explain/matrices.h"
#include "math/attention.h"
#include "math/output.h"

namespace headlight {
namespace {

bool of_stream(PatchAt at) { return at == PatchAt::residual || at == PatchAt::ffn; }

/// The number that is restored.
struct PatchMetric {
  Index word = 0;   // the most probable one of the clean answer
  Index other = 0;  // the most probable one of the corrupt answer

  double of(const Trace& trace) const {
    if (other != word) return static_cast<double>(trace.logits(word)) - static_cast<double>(trace.logits(other));
    return static_cast<double>(probabilities(trace.logits)(word));
  }
};

Index likeliest(const Trace& trace) { return most_probable(*trace.model, probabilities(trace.logits), 1).front().row; }

Status check_shapes(const Trace& clean, const Trace& corrupt) {
  for (const Trace* trace : {&clean, &corrupt})
    if (const auto valid = check_has_logits(*trace, trace == &clean ? "patch" : "--from"); !valid) return valid;
  const auto shape_of = [](const Trace& trace) {
    std::vector<Index> sizes{static_cast<Index>(trace.request.config.arch), trace.logits.size(),
                             trace.embedding.cols()};
    for (const Stack stack : kStacks) {
      if (!trace.has(stack)) continue;
      const AttentionTrace& first = trace.attention(stack, 0);
      for (const Index size :
           {trace.num_layers(stack), first.num_heads(), first.num_kv_heads, first.query.cols(), first.value.cols()})
        sizes.push_back(size);
    }
    return sizes;
  };
  if (shape_of(clean) == shape_of(corrupt)) return Done{};
  return bad_input("--from", "model", "the shape of the SOURCE's", "another");
}

/// The numbers of the clean answer in one place, all tokens.
Matrix clean_values(const Trace& clean, PatchAt at, const HeadRef& head) {
  const auto all = [&](Quantity quantity) { return whole(clean, matrix_id(quantity, head)); };
  const Index queries = clean.queries(head.stack);
  switch (at) {
    case PatchAt::heads: return z_rows(clean, head, 0, queries);
    case PatchAt::residual: return clean.blocks_of(head.stack)[static_cast<std::size_t>(head.layer)].output;
    case PatchAt::ffn: return all(Quantity::ffn_output);
    case PatchAt::pattern: return attention_rows(clean, head, 0, queries);
    case PatchAt::q: return all(Quantity::query);
    case PatchAt::k:
    case PatchAt::v: break;
  }
  const AttentionTrace& attention = clean.attention(head.stack, head.layer);
  return head_columns(at == PatchAt::k ? attention.key : attention.value, head.head, attention.num_kv_heads);
}

/// The values of the clean sentence's tokens in the rows of the corrupt sentence's.
Patch patch_of_pairs(const PatchWanted& wanted, const HeadRef& head, const Matrix& values, const TokenPairs& pairs) {
  Patch patch{.at = wanted.at, .stack = wanted.stack, .layer = head.layer, .head = head.head};
  patch.values.resize(static_cast<Index>(pairs.size()), values.cols());
  for (const auto& [from, to] : pairs) {
    patch.values.row(static_cast<Index>(patch.rows.size())) = values.row(from);
    patch.rows.push_back(to);
  }
  return patch;
}

/// The layers and heads that are wanted, in order.
Result<std::vector<HeadRef>> wanted_places(const Trace& trace, const PatchWanted& wanted) {
  const Index layers = trace.num_layers(wanted.stack);
  const auto heads_in = [&](Index layer) {
    const AttentionTrace& attention = trace.attention(wanted.stack, layer);
    return of_stream(wanted.at) ? 1 : of_keys(wanted.at) ? attention.num_kv_heads : attention.num_heads();
  };
  for (const Index layer : wanted.layers)
    if (const auto valid = check_within("--at-layers", "", layer, layers); !valid) return valid.error();
  for (const LayerHeads& heads : wanted.heads) {
    if (heads.stack != wanted.stack)
      return bad_input("--at-heads", "", "heads of --stack " + std::string(stack_name(wanted.stack)),
                       stack_name(heads.stack));
    if (const auto valid = check_within("--at-heads", "layer", heads.layer, layers); !valid) return valid.error();
    if (const auto valid = check_within("--at-heads", "head", heads.head.value_or(0), heads_in(heads.layer)); !valid)
      return valid.error();
  }
  const auto wants_layer = [&](Index layer) {
    return wanted.layers.empty() || std::find(wanted.layers.begin(), wanted.layers.end(), layer) != wanted.layers.end();
  };
  const auto wants_head = [&](Index layer, Index head) {
    return wanted.heads.empty() || std::any_of(wanted.heads.begin(), wanted.heads.end(), [&](const LayerHeads& one) {
             return one.layer == layer && one.head.value_or(head) == head;
           });
  };
  std::vector<HeadRef> places;
  for (Index layer = 0; layer < layers; ++layer)
    for (Index head = 0; head < heads_in(layer); ++head)
      if (wants_layer(layer) && wants_head(layer, head)) places.push_back({layer, head, wanted.stack});
  return places;
}

/// Each cell's pairs: those of one token, or all of them.
Result<std::vector<TokenPairs>> wanted_tokens(const Trace& corrupt, const PatchWanted& wanted) {
  const TokenPairs& all = of_keys(wanted.at) ? wanted.keys : wanted.queries;
  const Index count = of_keys(wanted.at) ? corrupt.keys(wanted.stack) : corrupt.queries(wanted.stack);
  for (const Index token : wanted.tokens) {
    if (const auto valid = check_within("--at-tokens", "", token, count); !valid) return valid.error();
    if (std::none_of(all.begin(), all.end(), [&](const auto& pair) { return pair.second == token; }))
      return bad_input("--at-tokens", "", "tokens that both sentences have", std::to_string(token));
  }
  std::vector<TokenPairs> cells;
  if (!wanted.by_token && wanted.tokens.empty() && !of_stream(wanted.at)) return std::vector<TokenPairs>{all};
  for (const auto& pair : all)
    if (wanted.tokens.empty() ||
        std::find(wanted.tokens.begin(), wanted.tokens.end(), pair.second) != wanted.tokens.end())
      cells.push_back({pair});
  return cells;
}

std::string metric_text(const Model& model, const PatchMetric& metric, const Vector& logits) {
  const auto word = [&](Index row) { return candidate(model, logits, row).text; };
  if (metric.other != metric.word) return "logit difference " + word(metric.word) + " − " + word(metric.other);
  return "probability of " + word(metric.word);
}

}  // namespace

Result<PatchAnswer> patch_answers(const Trace& clean, const Trace& corrupt, const PatchWanted& wanted, int threads) {
  if (const auto valid = check_shapes(clean, corrupt); !valid) return valid.error();
  if (!clean.has(wanted.stack))
    return bad_input("--stack", "", "self, the only attention of this model", stack_name(wanted.stack));
  if (of_stream(wanted.at) && wanted.stack == Stack::cross)
    return bad_input("--stack", "", "self or encoder with --at " + std::string(name(wanted.at)), "cross");
  if (wanted.at == PatchAt::pattern && (clean.queries(wanted.stack) != corrupt.queries(wanted.stack) ||
                                        clean.keys(wanted.stack) != corrupt.keys(wanted.stack)))
    return bad_input("--from", "tokens", "as many as the other sentence has, with --at pattern", "another number");
  const PatchMetric metric{.word = likeliest(clean), .other = likeliest(corrupt)};
  PatchAnswer answer{.metric = metric_text(*clean.model, metric, clean.logits),
                     .clean = metric.of(clean),
                     .corrupt = metric.of(corrupt),
                     .cells = {}};
  if (answer.clean == answer.corrupt)
    return bad_input("--from", "", "a question with another answer", "the same " + answer.metric);
  const auto places = wanted_places(corrupt, wanted);
  if (!places) return places.error();
  const auto tokens = wanted_tokens(corrupt, wanted);
  if (!tokens) return tokens.error();
  const bool one_by_one = wanted.by_token || !wanted.tokens.empty() || of_stream(wanted.at);
  for (const HeadRef& place : *places) {
    if (wanted.at == PatchAt::ffn && !exists(clean, matrix_id(Quantity::ffn_output, place)))
      return bad_input("--at", "", "a part that the model has", "no feed-forward");
    const Matrix values = clean_values(clean, wanted.at, place);
    for (const TokenPairs& pairs : *tokens) {
      const Patch patch = patch_of_pairs(wanted, place, values, pairs);
      Progress progress;
      const auto patched = forward(corrupt.request, progress, &corrupt, threads, &patch);
      if (!patched) return patched.error();
      PatchCell cell{.layer = place.layer, .head = {}, .token = {}};
      if (!of_stream(wanted.at)) cell.head = place.head;
      if (one_by_one) cell.token = pairs.front().second;
      cell.restored = (metric.of(**patched) - answer.corrupt) / (answer.clean - answer.corrupt);
      answer.cells.push_back(cell);
    }
  }
  return answer;
}

}  // namespace headlight
