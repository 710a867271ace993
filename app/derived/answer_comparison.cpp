#include "derived/answer_comparison.h"

#include <algorithm>

#include "base/names.h"
#include "base/parallel.h"
#include "derived/guess.h"
#include "heads/head_measures.h"
#include "math/attention.h"
#include "math/output.h"

namespace headlight {
namespace {

constexpr Index kWordsOfEach = 6;
/// Of DifferenceOrder, in its order.
constexpr std::string_view kOrderNames[] = {"layer", "largest", "mean", "divergence"};

bool has_head(const Trace& trace, const HeadRef& head) {
  return trace.has(head.stack) && head.layer < trace.num_layers(head.stack) && head.head < trace.num_heads(head.stack);
}

std::vector<Token> along(const JointAxis& axis, const Tokens* a, const Tokens& b) {
  std::vector<Token> tokens;
  for (const JointToken& token : axis)
    tokens.push_back(token.b ? b.tokens[static_cast<std::size_t>(*token.b)]
                             : a->tokens[static_cast<std::size_t>(*token.a)]);
  return tokens;
}

JointStack join(const Trace& a, const Trace& b, Stack stack, Alignment alignment) {
  const bool in_both = a.has(stack);
  const Tokens* queries = in_both ? &a.query_tokens(stack) : nullptr;
  const Tokens* keys = in_both ? &a.key_tokens(stack) : nullptr;
  const auto align = [alignment](const Tokens* before, const Tokens& after) {
    return align_tokens(before ? before->tokens : std::vector<Token>{}, after.tokens,
                        before ? alignment : Alignment::words);
  };
  JointStack joint{.axes = {align(queries, b.query_tokens(stack)), align(keys, b.key_tokens(stack))},
                   .queries = {},
                   .keys = {},
                   .in_both = in_both};
  joint.queries = along(joint.axes.queries, queries, b.query_tokens(stack));
  joint.keys = along(joint.axes.keys, keys, b.key_tokens(stack));
  return joint;
}

/// The longest side of an attention that would have to be aligned.
std::size_t longest_side(const Trace& a, const Trace& b) {
  std::size_t longest = 0;
  for (const Trace* trace : {&a, &b})
    for (const Stack stack : kStacks)
      if (trace->has(stack))
        longest = std::max({longest, trace->query_tokens(stack).size(), trace->key_tokens(stack).size()});
  return longest;
}

Matrix whole_pattern(const Trace& trace, const HeadRef& head, const std::atomic<bool>& stop) {
  const Region whole{.head = head, .num_queries = trace.queries(head.stack), .num_keys = trace.keys(head.stack)};
  return region_weights(trace, whole, static_cast<Index>(kMostAligned), stop);
}

/// Both patterns of a head; nothing when stopped. A's is all NaN where it has no such head.
std::optional<PatternPair> maps_of(const Trace& a, const Trace& b, const JointStack& joint, const HeadRef& head,
                                   const std::atomic<bool>& stop) {
  const Matrix of_b = whole_pattern(b, head, stop);
  if (stop) return std::nullopt;
  if (has_head(a, head)) {
    const Matrix of_a = whole_pattern(a, head, stop);
    if (stop) return std::nullopt;
    return pair_patterns(of_a, of_b, joint.axes);
  }
  JointAxes alone = joint.axes;
  for (JointAxis* axis : {&alone.queries, &alone.keys})
    for (JointToken& token : *axis) token.a.reset();
  return pair_patterns({}, of_b, alone);
}

bool says_word(const Trace& trace) {
  if (trace.logits.size() == 0) return false;
  if (trace.model->config.arch != Arch::encoder) return true;
  return is_masked(trace.query_tokens().tokens[static_cast<std::size_t>(trace.answering)]);
}

/// The probability of a word; nothing where the model does not know it.
std::optional<float> probability_of(const Model& model, const Vector& probabilities, const std::string& word) {
  const auto row = find_word(model, word);
  if (!row) return std::nullopt;
  const Candidate found = candidate(model, probabilities, *row);
  return found.text == word ? std::optional(found.probability) : std::nullopt;
}

std::optional<Index> place_of(const JointAxis& axis, std::optional<Index> JointToken::*side, Index token) {
  for (std::size_t i = 0; i < axis.size(); ++i)
    if (axis[i].*side == token) return static_cast<Index>(i);
  return std::nullopt;
}

/// The logits of an answer's prediction, or of the guess at the token `hidden` while that is hidden.
Vector scores_of(const Trace& trace, std::optional<Index> hidden, Progress& progress) {
  if (!hidden) return says_word(trace) ? trace.logits : Vector{};
  if (!can_hide(trace, *hidden)) return {};
  const auto guess = forward(with_hidden(trace, *hidden), progress);
  return guess && *guess ? Vector(logit_rows(**guess, *hidden, 1).row(0)) : Vector{};
}

std::vector<ComparedWord> compare_words(const Trace& a, const Trace& b, std::optional<Index> hidden,
                                        const JointStack* joint, Progress& progress) {
  std::optional<Index> hidden_in_a;
  if (hidden) {
    const auto place = joint ? place_of(joint->axes.queries, &JointToken::b, *hidden) : std::nullopt;
    if (place) hidden_in_a = joint->axes.queries[static_cast<std::size_t>(*place)].a;
    if (!hidden_in_a) return {};
  }
  const Vector scores_a = scores_of(a, hidden_in_a, progress), scores_b = scores_of(b, hidden, progress);
  if (scores_a.size() == 0 || scores_b.size() == 0) return {};
  const Vector before = probabilities(scores_a), after = probabilities(scores_b);
  const bool same_rows = a.model == b.model;
  std::vector<ComparedWord> words;
  const auto add = [&](const Candidate& word) {
    if (std::any_of(words.begin(), words.end(), [&](const ComparedWord& known) { return known.text == word.text; }))
      return;
    words.push_back({word.text,
                     same_rows ? std::optional(before(word.row)) : probability_of(*a.model, before, word.text),
                     same_rows ? std::optional(after(word.row)) : probability_of(*b.model, after, word.text)});
  };
  for (const Candidate& word : most_probable(*b.model, after, kWordsOfEach)) add(word);
  for (const Candidate& word : most_probable(*a.model, before, kWordsOfEach)) add(word);
  const auto most = [](const ComparedWord& word) { return std::max(word.a.value_or(0), word.b.value_or(0)); };
  std::stable_sort(words.begin(), words.end(), [&](const auto& x, const auto& y) { return most(x) > most(y); });
  return words;
}

std::shared_ptr<ComparedHeads> compare_heads(const Trace& a, const Trace& b, Alignment alignment, Progress& progress,
                                             int threads) {
  auto result = std::make_shared<ComparedHeads>();
  result->alignment = alignment;
  for (const HeadRef& head : heads_of(a)) result->only_a += !has_head(b, head);
  std::vector<HeadRef> both;
  for (const HeadRef& head : heads_of(b)) has_head(a, head) ? both.push_back(head) : void(++result->only_b);
  if (const std::size_t longest = longest_side(a, b); longest > kMostAligned) {
    result->too_long = longest;
    return result;
  }
  for (const Stack stack : kStacks)
    if (b.has(stack)) result->stacks[static_cast<std::size_t>(stack)] = join(a, b, stack, alignment);
  result->heads.resize(both.size());
  progress.done = progress.begin;
  parallel_for(static_cast<Index>(both.size()), threads, [&](Index i) {
    HeadDifference& one = result->heads[static_cast<std::size_t>(i)];
    one.head = both[static_cast<std::size_t>(i)];
    const auto maps = maps_of(a, b, *result->stack(one.head.stack), one.head, progress.stop);
    if (!maps) return;
    one.measured = measure_difference(*maps);
    one.map = shrunk_difference(maps->difference, kThumbnail);
    progress.advance(progress.share / static_cast<float>(both.size()));
  });
  if (progress.stop) return nullptr;
  for (const HeadDifference& one : result->heads) result->largest = std::max(result->largest, one.measured.largest);
  return result;
}

}  // namespace

const JointStack* ComparedHeads::stack(Stack stack) const {
  const auto& joint = stacks[static_cast<std::size_t>(stack)];
  return joint ? &*joint : nullptr;
}

const HeadDifference* ComparedHeads::head(const HeadRef& head) const {
  for (const HeadDifference& one : heads)
    if (one.head == head) return &one;
  return nullptr;
}

float range_of(const ComparedHeads& compared, const HeadRef& head, bool own) {
  const HeadDifference* one = own ? compared.head(head) : nullptr;
  return one ? one->measured.largest : compared.largest;
}

float largest_weight(const PatternPair& maps) {
  float largest = 0;
  for (const Matrix* side : {&maps.a, &maps.b})
    for (Index i = 0; i < side->size(); ++i) largest = std::max(largest, side->data()[i]);  // NaN is no larger
  return largest;
}

std::shared_ptr<const AnswerComparison> compare_answers(const ComparisonQuestion& question,
                                                        const AnswerComparison* known, Progress& progress,
                                                        int threads) {
  const auto a = question.a.lock(), b = question.b.lock();
  if (!a || !b) return nullptr;
  auto result = std::make_shared<AnswerComparison>();
  result->chosen = question.head;
  if (known && known->heads->a == question.a && known->heads->b == question.b &&
      known->heads->alignment == question.alignment) {
    result->heads = known->heads;
  } else {
    const auto heads = compare_heads(*a, *b, question.alignment, progress, threads);
    if (!heads) return nullptr;
    heads->a = question.a;
    heads->b = question.b;
    result->heads = heads;
  }
  result->hidden = question.hidden;
  if (known && known->heads == result->heads && known->hidden == question.hidden) result->words = known->words;
  else result->words = compare_words(*a, *b, question.hidden, result->heads->stack(Stack::self), progress);
  if (progress.stop) return nullptr;
  const JointStack* joint = result->heads->stack(question.head.stack);
  if (!joint) return result;
  auto maps = maps_of(*a, *b, *joint, question.head, progress.stop);
  if (!maps) return nullptr;
  result->maps = std::move(*maps);
  return result;
}

std::string_view name(DifferenceOrder order) { return kOrderNames[static_cast<std::size_t>(order)]; }

std::optional<DifferenceOrder> parse_difference_order(std::string_view name) {
  return value_named<DifferenceOrder>(kOrderNames, name);
}

bool same_axes(const JointStack& a, const JointStack& b) {
  const auto same = [](const std::vector<Token>& left, const std::vector<Token>& right) {
    return std::equal(left.begin(), left.end(), right.begin(), right.end(), same_word);
  };
  return a.axes.queries == b.axes.queries && a.axes.keys == b.axes.keys && same(a.queries, b.queries) &&
         same(a.keys, b.keys);
}

bool shares_no_cell(const JointStack& stack) {
  const auto in_both = [](const JointToken& token) { return token.in_both(); };
  const auto none_of = [&](const JointAxis& axis) { return std::none_of(axis.begin(), axis.end(), in_both); };
  return stack.in_both && (none_of(stack.axes.queries) || none_of(stack.axes.keys));
}

std::optional<float> order_value(const HeadDifference& head, DifferenceOrder order) {
  if (!head.measured.at) return std::nullopt;
  switch (order) {
    case DifferenceOrder::largest: return head.measured.largest;
    case DifferenceOrder::mean: return head.measured.mean;
    case DifferenceOrder::divergence: return head.measured.divergence;
    case DifferenceOrder::layer: break;
  }
  return std::nullopt;
}

std::vector<HeadRef> heads_by(const ComparedHeads& compared, Stack stack, DifferenceOrder order) {
  std::vector<const HeadDifference*> heads;
  for (const HeadDifference& one : compared.heads)
    if (one.head.stack == stack) heads.push_back(&one);
  std::stable_sort(heads.begin(), heads.end(), [&](const HeadDifference* x, const HeadDifference* y) {
    return order_value(*x, order).value_or(0) > order_value(*y, order).value_or(0);
  });
  std::vector<HeadRef> refs;
  for (const HeadDifference* one : heads) refs.push_back(one->head);
  return refs;
}

std::optional<CellRef> joint_cell(const JointStack& stack, const std::optional<CellRef>& of_b,
                                  const std::optional<CellRef>& of_a) {
  const auto& cell = of_b ? of_b : of_a;
  if (!cell) return std::nullopt;
  const auto side = of_b ? &JointToken::b : &JointToken::a;
  const auto row = place_of(stack.axes.queries, side, cell->query), column = place_of(stack.axes.keys, side, cell->key);
  if (!row || !column) return std::nullopt;
  return CellRef{*row, *column};
}

CellsBehind cells_behind(const JointStack& stack, const CellRef& joint) {
  const JointToken& row = stack.axes.queries[static_cast<std::size_t>(joint.query)];
  const JointToken& column = stack.axes.keys[static_cast<std::size_t>(joint.key)];
  CellsBehind cells;
  if (row.a && column.a) cells.a = CellRef{*row.a, *column.a};
  if (row.b && column.b) cells.b = CellRef{*row.b, *column.b};
  return cells;
}

}  // namespace headlight
