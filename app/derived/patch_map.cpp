#include "derived/patch_map.h"

#include <chrono>
#include <limits>

#include "base/result.h"
#include "derived/guess.h"
#include "math/output.h"
#include "model/head_text.h"

namespace headlight {
namespace {

constexpr double kSecondsAtOnce = 0.1;

Alignment alignment_of(const Trace& a, const Trace& b, Stack stack, const std::optional<Alignment>& asked) {
  return patch_alignment(a.query_tokens(stack).size(), b.query_tokens(stack).size(), asked);
}

/// What is compared. Errors: a word that the model does not have, a token that A does not have.
Result<MetricWanted> metric_wanted(const Trace& a, const Trace& b, const PatchMeasure& measure,
                                   const TokenPairs& queries) {
  MetricWanted wanted{.metric = measure.metric, .right = {}, .wrong = {}, .query = {}};
  for (const bool right : {true, false}) {
    const std::string& text = right ? measure.words.word : measure.words.minus;
    (right ? wanted.right : wanted.wrong) = text.empty() ? std::nullopt : find_word(*a.model, text);
    if (!text.empty() && !find_word(*a.model, text))
      return bad_input("patch", "word", "one of the vocabulary, or its id", "'" + text + "'");
  }
  if (!measure.query) return wanted;
  TRY(check_within("patch", "query", *measure.query, b.queries()));
  for (const auto& [of_a, of_b] : queries)
    if (of_b == *measure.query) wanted.query = of_a;
  if (!wanted.query)
    return bad_input("patch", "token", "one that both sentences have",
                     b.query_tokens().tokens[static_cast<std::size_t>(*measure.query)].text);
  return wanted;
}

/// The common arguments of patch_answers for all rows. Errors also: sentences that are too long, or share no token.
Result<PatchWanted> wanted_of(const Trace& a, const Trace& b, const PatchChoice& choice) {
  const Stack stack = choice.head.stack;
  PatchWanted wanted{.at = choice.form == PatchForm::residual ? PatchAt::residual : PatchAt::heads, .stack = stack};
  if (!a.has(stack)) return wanted;  // which patch_answers refuses
  const Alignment alignment = alignment_of(a, b, stack, choice.alignment);
  for (const Trace* trace : {&a, &b})
    if (alignment == Alignment::words && static_cast<std::size_t>(trace->queries(stack)) > kMostAligned)
      return bad_input("patch", "tokens", "at most " + std::to_string(kMostAligned),
                       std::to_string(trace->queries(stack)));
  wanted.queries = patch_pairs(a, b, stack, choice.alignment);
  if (wanted.queries.empty()) return bad_input("patch", "tokens", "one that both sentences have", "none");
  wanted.by_token = choice.form == PatchForm::tokens;
  wanted.metric = TRY(metric_wanted(a, b, choice.measure, wanted.queries));
  return wanted;
}

/// An empty map with these rows and columns. Where stopped, its words may not be hidden.
Result<PatchMap> begun(const Trace& a, const Trace& b, const PatchChoice& choice, const PatchWanted& wanted,
                       Progress& progress) {
  PatchMap map;
  map.choice = choice;
  const auto of_a = wanted.metric.query, of_b = choice.measure.query;
  if (of_b) map.token = b.query_tokens().tokens[static_cast<std::size_t>(*of_b)].text;
  for (const bool is_a : {true, false}) {
    if (!of_b || !can_hide(a, *of_a) || !can_hide(b, *of_b)) break;
    (is_a ? map.hidden_a : map.hidden_b) = TRY(forward(is_a ? with_hidden(a, *of_a) : with_hidden(b, *of_b), progress));
  }
  const Stack stack = choice.head.stack;
  const Index layers = b.num_layers(stack), heads = b.num_heads(stack);
  if (choice.form != PatchForm::heads)
    for (const auto& pair : wanted.queries) map.tokens.push_back(pair.second);
  map.alignment = alignment_of(a, b, stack, choice.alignment);
  map.unaligned = b.queries(stack) - std::ssize(wanted.queries);
  const auto tokens = static_cast<Index>(map.tokens.size());
  map.restored =
      Matrix::Constant(choice.form == PatchForm::tokens ? heads : layers,
                       choice.form == PatchForm::heads ? heads : tokens, std::numeric_limits<float>::quiet_NaN());
  return map;
}

Status add_row(const Trace& a, const Trace& b, PatchWanted wanted, int threads, PatchMap& map, Progress& progress) {
  const HeadRef& head = map.choice.head;
  if (map.choice.form == PatchForm::tokens) wanted.heads = {{head.stack, head.layer, map.known}};
  else wanted.layers = {map.known};
  const auto answer =
      patch_answers(map.hidden_b ? *map.hidden_a : a, map.hidden_b ? *map.hidden_b : b, wanted, threads, &progress);
  if (!answer) return answer.error();
  map.metric = answer->measure, map.right = answer->right, map.wrong = answer->wrong;
  map.in_a = answer->clean;
  map.in_b = answer->corrupt;
  for (std::size_t i = 0; i < answer->cells.size(); ++i)
    map.restored(map.known, static_cast<Index>(i)) = static_cast<float>(answer->cells[i].restored);
  ++map.known;
  return Done{};
}

}  // namespace

HeadRef PatchMap::head_of(const CellRef& cell) const {
  switch (choice.form) {
    case PatchForm::heads: return {cell.query, cell.key, choice.head.stack};
    case PatchForm::residual: return {cell.query, choice.head.head, choice.head.stack};
    case PatchForm::tokens: break;
  }
  return {choice.head.layer, cell.query, choice.head.stack};
}

Alignment patch_alignment(std::size_t a, std::size_t b, const std::optional<Alignment>& asked) {
  return asked.value_or(a == b ? Alignment::positions : Alignment::words);
}

TokenPairs patch_pairs(const Trace& a, const Trace& b, Stack stack, const std::optional<Alignment>& asked) {
  return aligned_pairs(a.query_tokens(stack).tokens, b.query_tokens(stack).tokens, alignment_of(a, b, stack, asked));
}

TokenPairs aligned_pairs(const std::vector<Token>& a, const std::vector<Token>& b, Alignment alignment) {
  TokenPairs pairs;
  for (const JointToken& token : align_tokens(a, b, alignment))
    if (token.in_both()) pairs.emplace_back(*token.a, *token.b);
  return pairs;
}

std::vector<Token> patch_rows(const PatchMap& map) {
  std::vector<Token> labels(static_cast<std::size_t>(map.rows()));
  for (std::size_t i = 0; i < labels.size(); ++i)
    labels[i].text = map.choice.form == PatchForm::tokens ? head_label({map.choice.head.layer, static_cast<Index>(i)})
                                                          : "L" + std::to_string(i);
  return labels;
}

std::vector<Token> patch_columns(const PatchMap& map, const Trace& b) {
  std::vector<Token> labels;
  const std::vector<Token>& tokens = b.query_tokens(map.choice.head.stack).tokens;
  for (const Index token : map.tokens) labels.push_back(tokens[static_cast<std::size_t>(token)]);
  for (Index head = 0; map.choice.form == PatchForm::heads && head < map.restored.cols(); ++head)
    labels.emplace_back().text = "H" + std::to_string(head);
  return labels;
}

Result<std::shared_ptr<const PatchMap>> extend_patch_map(const PatchQuestion& question, const PatchMap* known,
                                                         Progress& progress) {
  using Clock = std::chrono::steady_clock;
  const auto a = question.a.lock(), b = question.b.lock();
  if (!a || !b) return std::shared_ptr<const PatchMap>();
  const auto wanted = TRY(wanted_of(*a, *b, question.choice));
  const bool goes_on = question.known > 0 && known && known->is_of(question.a, question.b, question.choice);
  auto made = TRY(goes_on ? Result<PatchMap>(*known) : begun(*a, *b, question.choice, wanted, progress));
  if (progress.stop) return std::shared_ptr<const PatchMap>();
  auto map = std::make_shared<PatchMap>(std::move(made));
  map->a = question.a, map->b = question.b;
  const auto begin = Clock::now();
  const double before = map->seconds;
  do {
    const Status added = add_row(*a, *b, wanted, 0, *map, progress);
    if (progress.stop) return std::shared_ptr<const PatchMap>();
    if (!added) return added.error();
    map->seconds = before + std::chrono::duration<double>(Clock::now() - begin).count();
  } while (!map->is_whole() && map->seconds - before < kSecondsAtOnce);
  return std::shared_ptr<const PatchMap>(std::move(map));
}

Result<PatchMap> patch_map(const Trace& a, const Trace& b, const PatchChoice& choice, Progress& progress, int threads) {
  const auto wanted = TRY(wanted_of(a, b, choice));
  auto map = begun(a, b, choice, wanted, progress);
  while (map && !map->is_whole()) TRY(add_row(a, b, wanted, threads, *map, progress));
  return map;
}

}  // namespace headlight
