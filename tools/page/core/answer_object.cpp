#include "page/core/answer_object.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "derived/fold.h"
#include "figure/drawing/map_layout.h"
#include "heads/pattern_difference.h"
#include "math/attention.h"
#include "math/position.h"
#include "math/score_terms.h"
#include "question/question_fields.h"
#include "write/json.h"

namespace headlight {
namespace {

using nlohmann::json;

/// Under which name the page has the tokens along a side.
std::string side_name(const Trace& trace, const Tokens& tokens) {
  for (const NamedTokens& named : named_tokens(trace))
    if (named.tokens == &tokens || *named.tokens == tokens) return named.name;
  return "tokens";
}

json scales_of(const Trace& trace, Stack stack) {
  json scales = json::array();
  bool same = true;
  for (Index layer = 0; layer < trace.num_layers(stack); ++layer) {
    scales.push_back(trace.attention(stack, layer).scale);
    same = same && scales.back() == scales.front();
  }
  return same ? scales.front() : scales;
}

/// What is added for the distance of query and key.
float distance_term(const AttentionTrace& attention, Index head, const CellRef& cell) {
  const Index keys = attention.mask->keys();
  float sum = 0;
  if (attention.relative_bias)
    sum += relative_bias_rows(*attention.relative_bias, head, cell.query, 1, keys)(0, cell.key);
  if (!attention.distances) return sum;
  const DistanceTerms terms = distance_terms(attention, head, keys);
  if (!terms.keys.is_identity()) sum += content_to_position(attention, terms, head, cell.query, 1, keys)(0, cell.key);
  if (terms.of_keys.size() > 0) sum += position_to_content(attention, terms, cell.query, 1, keys)(0, cell.key);
  return sum;
}

json axis_object(const Tokens& a, const Tokens& b) {
  const bool is_long = std::max(a.size(), b.size()) > kMostAligned;
  json axis = json::array();
  for (const JointToken& token : align_tokens(a.tokens, b.tokens, is_long ? Alignment::positions : Alignment::words))
    axis.push_back({token.a ? json(*token.a) : json(), token.b ? json(*token.b) : json()});
  return axis;
}

}  // namespace

json page_tokens(const Tokens& tokens) {
  json list = json::parse(json_tokens(tokens));
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (std::string label = axis_label(tokens.tokens[i]); list[i]["text"] != label) list[i]["label"] = std::move(label);
  if (const auto fold = fold_of(tokens, tokens, {.words = true}))
    for (const auto& group : fold->queries.groups)
      for (Index i = group.first + 1; i < group.first + group.count; ++i)
        list[static_cast<std::size_t>(i)]["continues"] = true;
  return list;
}

MaskSpec of_one_sentence(MaskSpec mask) {
  mask.batch = nullptr;
  return mask;
}

json page_stack(const Trace& trace, const StackNames& names) {
  const Stack stack = names.stack;
  const AttentionTrace& first = trace.attention(stack, 0);
  return {{"name", names.label},
          {"number", static_cast<int>(stack)},
          {"queries", side_name(trace, trace.query_tokens(stack))},
          {"keys", side_name(trace, trace.key_tokens(stack))},
          {"layers", trace.num_layers(stack)},
          {"heads", first.num_heads()},
          {"kv_heads", first.num_kv_heads},
          {"d_k", first.patterns ? 0 : first.query.cols() / first.num_heads()},
          {"d_v", first.patterns ? 0 : first.value.cols() / first.num_kv_heads},
          {"scale", first.patterns ? json(1) : scales_of(trace, stack)},
          {"mask", mask_json(of_one_sentence(mask_spec(trace.request, stack)))}};
}

std::string shape_text(const Trace& trace) {
  const AttentionTrace& first = trace.attention(Stack::self, 0);
  std::string text = trace.model->given ? "" : std::string(name(trace.model->config.arch)) + " · ";
  text += std::to_string(trace.num_layers()) + " × " + std::to_string(first.num_heads()) + " heads";
  if (first.num_kv_heads != first.num_heads()) text += " (" + std::to_string(first.num_kv_heads) + " kv)";
  if (!first.patterns) text += " · d_k " + std::to_string(first.query.cols() / first.num_heads());
  if (!trace.model->given) text += " · d_model " + std::to_string(trace.model->config.d_model);
  return text;
}

json answer_object(const Trace& trace) {
  json object;
  for (const NamedTokens& named : named_tokens(trace)) object[named.name] = page_tokens(*named.tokens);
  for (const StackNames& names : stacks_of(trace)) object["stacks"].push_back(page_stack(trace, names));
  object["warnings"] = messages_of(trace.warnings);
  object["answering"] = trace.answering;
  object["shape"] = shape_text(trace);
  object["encoder"] = trace.model->config.arch == Arch::encoder;
  return object;
}

json axes_object(const Trace& a, const Trace& b) {
  json axes = json::object();
  for (const StackNames& of_a : stacks_of(a))
    for (const StackNames& of_b : stacks_of(b))
      if (of_a.label == of_b.label)
        axes[std::string(of_b.label)] = {
            {"queries", axis_object(a.query_tokens(of_a.stack), b.query_tokens(of_b.stack))},
            {"keys", axis_object(a.key_tokens(of_a.stack), b.key_tokens(of_b.stack))}};
  return axes;
}

json why_object(const Trace& trace, const HeadRef& head, const CellRef& cell) {
  const AttentionTrace& attention = trace.attention(head.stack, head.layer);
  const Vector q = head_columns(attention.query, head.head, attention.num_heads()).row(cell.query);
  const auto keys = head_columns(attention.key, attention.kv_head(head.head), attention.num_kv_heads);
  const Vector k = keys.row(cell.key);
  const Matrix scores = score_rows(trace, head, cell.query, 1), weights = attention_rows(trace, head, cell.query, 1);
  const bool has_sink = attention.sinks.size() > 0;
  float largest = scores.maxCoeff();
  if (has_sink) largest = std::max(largest, attention.sinks(head.head));
  double sum = has_sink ? std::exp(static_cast<double>(attention.sinks(head.head) - largest)) : 0;
  for (Index key = 0; key < scores.cols() && std::isfinite(largest); ++key)
    sum += std::exp(static_cast<double>(scores(0, key) - largest));
  const float dot = q.dot(k), scaled = dot * attention.scale, score = scores(0, cell.key);
  json object{{"q", std::vector<float>(q.begin(), q.end())},
              {"k", std::vector<float>(k.begin(), k.end())},
              {"dot", dot},
              {"scale", attention.scale},
              {"scaled", scaled},
              {"cap", attention.softcap},
              {"allowed", attention.mask_of(head.head).allowed(cell.query, cell.key)},
              {"weight", weights(0, cell.key)}};
  const Edits& edits = trace.request.edits;
  object["edited"] = edits.dropout > 0 || std::any_of(edits.weights.begin(), edits.weights.end(),
                                                      [&](const WeightEdit& edit) { return edit.head == head; });
  if (attention.softcap > 0) object["capped"] = attention.softcap * std::tanh(scaled / attention.softcap);
  if (attention.relative_bias || attention.distances) object["distance"] = distance_term(attention, head.head, cell);
  if (std::isfinite(score)) {
    object["score"] = score;
    object["largest"] = largest;
    object["sum"] = sum;
    object["share"] = std::exp(static_cast<double>(score - largest)) / sum;
  }
  if (attention.value.size() > 0) {
    const auto values = head_columns(attention.value, attention.kv_head(head.head), attention.num_kv_heads);
    object["value"] = Vector(values.row(cell.key)).norm();
    object["z"] = (weights * values).norm();
  }
  return object;
}

}  // namespace headlight
