#include "derived/answer_comparison.h"

#include <algorithm>

#include "base/parallel.h"
#include "derived/guess.h"
#include "heads/arc_labels.h"
#include "heads/head_measures.h"
#include "math/attention.h"
#include "math/output.h"

namespace headlight {
namespace {

constexpr Index kWordsOfEach = 6;

bool has_head(const Trace& trace, const HeadRef& head) {
  return trace.has(head.stack) && head.layer < trace.num_layers(head.stack) && head.head < trace.num_heads(head.stack);
}

std::vector<Token> along(const JointAxis& axis, const std::vector<Token>& a, const std::vector<Token>& b) {
  std::vector<Token> tokens;
  for (const JointToken& token : axis) {
    const Token* of_a = token.a ? &a[static_cast<std::size_t>(*token.a)] : nullptr;
    tokens.push_back(token.b ? b[static_cast<std::size_t>(*token.b)] : *of_a);
    Token& added = tokens.back();
    if (of_a && !same_word(*of_a, added)) added.raw = added.text = of_a->text + " / " + added.text;
  }
  return tokens;
}

JointStack join(const Trace& a, const Trace& b, Stack stack, Alignment alignment, FoldChoice wanted) {
  JointStack joint{.axes = {}, .queries = {}, .keys = {}, .in_both = a.has(stack)};
  const auto fold = [&](const Trace& trace) {
    return fold_or_whole(trace.query_tokens(stack), trace.key_tokens(stack), wanted);
  };
  if (joint.in_both) joint.a = fold(a);
  else alignment = Alignment::words;
  joint.b = fold(b);
  joint.axes = {align_tokens(joint.a.queries.tokens, joint.b.queries.tokens, alignment),
                align_tokens(joint.a.keys.tokens, joint.b.keys.tokens, alignment)};
  joint.queries = along(joint.axes.queries, joint.a.queries.tokens, joint.b.queries.tokens);
  joint.keys = along(joint.axes.keys, joint.a.keys.tokens, joint.b.keys.tokens);
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

/// A pattern as it is shown, and what its rows give to tokens that are left out.
struct ShownPattern {
  Matrix weights = {};
  Vector rests = {};
};

ShownPattern shown_pattern(const Trace& trace, const HeadRef& head, const Fold& fold, const std::atomic<bool>& stop) {
  const Region whole{.head = head, .num_queries = trace.queries(head.stack), .num_keys = trace.keys(head.stack)};
  Matrix weights = region_weights(trace, whole, std::max(whole.num_queries, whole.num_keys), stop);
  if (stop || fold.done == FoldChoice{}) return {std::move(weights)};
  return {folded(weights, fold), resting(weights, fold)};
}

/// Both patterns of a head; nothing when stopped. A's is all NaN where it has no such head.
std::optional<PatternPair> maps_of(const Trace& a, const Trace& b, const JointStack& joint, const HeadRef& head,
                                   const std::atomic<bool>& stop) {
  const ShownPattern of_b = shown_pattern(b, head, joint.b, stop);
  if (stop) return std::nullopt;
  if (has_head(a, head)) {
    const ShownPattern of_a = shown_pattern(a, head, joint.a, stop);
    if (stop) return std::nullopt;
    return pair_patterns(of_a.weights, of_b.weights, joint.axes, of_a.rests, of_b.rests);
  }
  JointAxes alone = joint.axes;
  for (JointAxis* axis : {&alone.queries, &alone.keys})
    for (JointToken& token : *axis) token.a.reset();
  return pair_patterns({}, of_b.weights, alone);
}

bool says_word(const Trace& trace) {
  if (trace.logits.size() == 0) return false;
  if (trace.model->config.arch != Arch::encoder || classifies(*trace.model)) return true;
  return is_masked(trace.query_tokens().tokens[static_cast<std::size_t>(trace.answering)]);
}

/// The probability of a word; nothing where the model does not know it.
std::optional<float> probability_of(const Model& model, const Vector& probabilities, const std::string& word) {
  const auto row = find_word(model, word);
  if (!row) return std::nullopt;
  const Candidate found = candidate(model, probabilities, *row);
  return found.text == word ? std::optional(found.probability) : std::nullopt;
}

/// The row or the column that shows a token of one answer.
std::optional<Index> joint_index(const JointAxis& axis, std::optional<Index> JointToken::*side,
                                 const FoldedAxis& folded, Index token) {
  const auto group = folded.group(token);
  for (std::size_t i = 0; group && i < axis.size(); ++i)
    if (axis[i].*side == group) return static_cast<Index>(i);
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
    const auto row = joint ? joint_index(joint->axes.queries, &JointToken::b, joint->b.queries, *hidden) : std::nullopt;
    if (row) hidden_in_a = joint->axes.queries[static_cast<std::size_t>(*row)].a;
    if (!hidden_in_a) return {};
    const auto group = joint->a.queries.tokens_of(*hidden_in_a);
    const Index piece = *hidden - joint->b.queries.tokens_of(*joint->b.queries.group(*hidden)).first;
    hidden_in_a = group.first + std::min(piece, group.count - 1);
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

std::shared_ptr<ComparedHeads> compare_heads(const Trace& a, const Trace& b, Alignment alignment, FoldChoice fold,
                                             Progress& progress, int threads) {
  auto result = std::make_shared<ComparedHeads>();
  result->alignment = alignment;
  result->fold = fold;
  for (const HeadRef& head : heads_of(a)) result->only_a += !has_head(b, head);
  std::vector<HeadRef> both;
  for (const HeadRef& head : heads_of(b)) has_head(a, head) ? both.push_back(head) : void(++result->only_b);
  if (const std::size_t longest = longest_side(a, b); longest > kMostAligned) {
    result->too_long = longest;
    return result;
  }
  for (const Stack stack : kStacks)
    if (b.has(stack)) result->stacks[static_cast<std::size_t>(stack)] = join(a, b, stack, alignment, fold);
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

float range_of_weights(const Trace* a, const Trace& b, const PatternPair* own) {
  return own ? largest_weight(*own) : std::max(a ? a->largest_weight : 0.0f, b.largest_weight);
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
      known->heads->alignment == question.alignment && known->heads->fold == question.fold) {
    result->heads = known->heads;
  } else {
    const auto heads = compare_heads(*a, *b, question.alignment, question.fold, progress, threads);
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

std::optional<ComparedHead> compare_head(const Trace& a, const Trace& b, const HeadRef& head) {
  const bool too_long = longest_side(a, b) > kMostAligned;
  if (too_long && !(a.query_tokens() == b.query_tokens() && a.key_tokens() == b.key_tokens())) return std::nullopt;
  ComparedHead compared{join(a, b, head.stack, too_long ? Alignment::positions : Alignment::words, {})};
  compared.maps = *maps_of(a, b, compared.stack, head, kNeverStops);
  return compared;
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

bool has_words_of_one(const JointStack& stack) {
  const auto of_one = [](const JointToken& token) { return !token.in_both(); };
  const auto any = [&](const JointAxis& axis) { return std::any_of(axis.begin(), axis.end(), of_one); };
  return stack.in_both && (any(stack.axes.queries) || any(stack.axes.keys));
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
  const Fold& fold = of_b ? stack.b : stack.a;
  const auto row = joint_index(stack.axes.queries, side, fold.queries, cell->query),
             column = joint_index(stack.axes.keys, side, fold.keys, cell->key);
  if (!row || !column) return std::nullopt;
  return CellRef{*row, *column};
}

CellsBehind cells_behind(const JointStack& stack, const CellRef& joint) {
  const JointToken& row = stack.axes.queries[static_cast<std::size_t>(joint.query)];
  const JointToken& column = stack.axes.keys[static_cast<std::size_t>(joint.key)];
  const auto behind = [&](const Fold& fold, std::optional<Index> JointToken::*side) -> std::optional<CellRef> {
    if (!(row.*side) || !(column.*side)) return std::nullopt;
    return fold.cell_of({*(row.*side), *(column.*side)});
  };
  return {behind(stack.a, &JointToken::a), behind(stack.b, &JointToken::b)};
}

std::optional<float> folded_weight(const Trace& trace, const Fold& fold, const HeadRef& head, const CellRef& cell) {
  const auto rows = fold.queries.tokens_of(*fold.queries.group(cell.query)),
             columns = fold.keys.tokens_of(*fold.keys.group(cell.key));
  bool open = false;
  for (Index query = rows.first; query < rows.first + rows.count; ++query)
    for (Index key = columns.first; key < columns.first + columns.count; ++key)
      open |=
          trace.mask_of(head).allowed(query, key) || edited_weight(trace.request.edits, head, {query, key}) != nullptr;
  if (!open) return std::nullopt;
  return word_weight(attention_rows(trace, head, rows.first, rows.count), {columns.first, columns.count});
}

}  // namespace headlight
