#include "heads/reduce.h"

#include <algorithm>
#include <cassert>
#include <map>

#include "base/parallel.h"
#include "heads/weight_maps.h"
#include "math/attention.h"
#include "text/tokenizer.h"

namespace headlight {
namespace {

constexpr const char* kExpected =
    "mean, max, sum, rollout or strongest, a colon and heads, layers, tokens, words or sentences, as mean:heads,layers";

struct Over {
  std::string_view name;
  bool Reduction::*is;
};
constexpr Over kOver[] = {{"heads", &Reduction::heads},
                          {"layers", &Reduction::layers},
                          {"tokens", &Reduction::tokens},
                          {"words", &Reduction::words},
                          {"sentences", &Reduction::sentences}};

/// The name of a token's block.
std::string block_of(const Tokens& tokens, std::size_t at, std::size_t second) {
  const Token& token = tokens.tokens[at];
  if (token.special) return "special";
  if (token.pad) return "padding";
  if (token.role != ChatRole::none) return std::string(name_in(kChatRoles, token.role));
  if (tokens.picture) return "patches";
  return second == 0 ? "text" : at < second ? "A" : "B";
}

ReducedAxis axis_of_tokens(const Tokens& tokens, const ReduceWhat& of) {
  ReducedAxis axis;
  axis.of_token.assign(tokens.size(), -1);
  const std::size_t second = second_sentence(tokens);
  const auto words = of.by.words ? word_numbers(tokens) : std::vector<std::size_t>{};
  std::map<std::string, Index> blocks;
  std::size_t word = tokens.size();  // of the token before
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens.tokens[i];
    if (token.special && (of.without_special || (of.by.sentences && token.pad))) continue;
    const auto next = static_cast<Index>(axis.groups.size());
    Index group = next;
    if (of.by.tokens) group = blocks.try_emplace(block_of(tokens, i, second), next).first->second;
    else if (of.by.words && next > 0 && words[i] == word) group = next - 1;
    if (of.by.words) word = words[i];
    if (group == next) {
      axis.groups.push_back(token);
      axis.counts.push_back(0);
      if (of.by.tokens) axis.groups.back() = {.text = block_of(tokens, i, second), .raw = {}};
    }
    axis.of_token[i] = group;
    ++axis.counts[static_cast<std::size_t>(group)];
    if (of.by.words && group != next)
      axis.groups.back() = joined_tokens(tokens, static_cast<Index>(i) + 1 - static_cast<Index>(axis.counts.back()),
                                         static_cast<Index>(axis.counts.back()));
  }
  return axis;
}

/// The axes of all sentences with the same groups: blocks of the same names, or as many positions as all have.
Status lay_over(std::vector<ReducedAxis>& axes, const Reduction& by) {
  std::size_t most = axes.front().groups.size();
  for (const ReducedAxis& axis : axes) {
    const auto same_text = [](const Token& a, const Token& b) { return a.text == b.text; };
    const auto& first = axes.front().groups;
    if (by.tokens && !std::equal(axis.groups.begin(), axis.groups.end(), first.begin(), first.end(), same_text))
      return bad_input("--reduce", "tokens", "the same blocks in every sentence", "others");
    most = std::min(most, axis.groups.size());
  }
  if (most == 0) return bad_input("--reduce", "tokens", "at least one", "none", ErrorCode::no_tokens);
  std::vector<Token> common;
  for (std::size_t i = 0; i < most; ++i) {
    Token token = axes.front().groups[i];
    for (const ReducedAxis& axis : axes)
      if (axis.groups[i].text != token.text) token = {.text = std::to_string(i), .raw = {}};
    common.push_back(std::move(token));
  }
  for (ReducedAxis& axis : axes) {
    for (Index& at : axis.of_token)
      if (at >= static_cast<Index>(most)) at = -1;
    axis.groups = common;
    axis.counts.resize(most);
  }
  return Done{};
}

Status add_axes(ReducedMaps& maps) {
  const Reduction& by = maps.of.by;
  for (const Trace* trace : maps.of.traces) {
    maps.queries.push_back(axis_of_tokens(trace->query_tokens(maps.of.stack), maps.of));
    maps.keys.push_back(axis_of_tokens(trace->key_tokens(maps.of.stack), maps.of));
  }
  TRY(lay_over(maps.queries, by));
  TRY(lay_over(maps.keys, by));
  const auto merges = [](const ReducedAxis& axis) {
    return std::ranges::any_of(axis.counts, [](double n) { return n > 1; });
  };
  if (by.tokens && maps.rows().size() == 1 && maps.columns().size() == 1)
    return bad_input("--reduce", "tokens", "special tokens, two sentences or a conversation (or words)",
                     "one block, " + maps.rows().front().text);
  if (by.words && !merges(maps.queries.front()) && !merges(maps.keys.front()))
    return bad_input("--reduce", "words", "words of several tokens", "each token a word");
  return Done{};
}

/// Which heads each map sums up.
Status add_parts(ReducedMaps& maps) {
  const auto& [traces, stack, by, only, without_special, renormalize] = maps.of;
  const Trace& trace = *traces.front();
  std::vector<HeadRef> heads = only;
  for (Index i = 0; only.empty() && i < trace.num_layers(stack) * trace.num_heads(stack); ++i)
    heads.push_back({i / trace.num_heads(stack), i % trace.num_heads(stack), stack});
  if (by.by == ReduceBy::rollout) {  // a map a layer, which stands in its list as its head 0
    std::vector<HeadRef> layers;
    for (const HeadRef& head : heads) layers.push_back({head.layer, 0, stack});
    std::ranges::sort(layers);
    layers.erase(std::unique(layers.begin(), layers.end()), layers.end());
    if (by.layers) layers.erase(layers.begin(), layers.end() - 1);
    for (const HeadRef& layer : layers) maps.parts.push_back({layer});
    maps.layers = std::ssize(layers);
    maps.heads = 1;
    return Done{};
  }
  if (!by.heads && !by.layers) {
    maps.layers = only.empty() ? trace.num_layers(stack) : 1;
    maps.heads = static_cast<Index>(heads.size()) / maps.layers;
    for (const HeadRef& head : heads) maps.parts.push_back({head});
    return Done{};
  }
  std::ranges::sort(heads);
  std::map<Index, std::vector<HeadRef>> groups;
  for (const HeadRef& head : heads) {
    if (is_off(trace.request.edits, head)) maps.off.push_back(head);
    else groups[by.heads && by.layers ? 0 : by.heads ? head.layer : head.head].push_back(head);
  }
  for (auto& [at, group] : groups) maps.parts.push_back(std::move(group));
  if (maps.parts.empty()) return bad_input("--reduce", "heads", "one that is not switched off", "none");
  const auto count = static_cast<Index>(maps.parts.size());
  maps.layers = by.layers ? 1 : count;
  maps.heads = by.layers ? count : 1;
  return Done{};
}

Status roll(ReducedMaps& maps, int threads) {
  for (const Trace* trace : maps.of.traces) {
    if (const auto why = why_no_rollout(*trace, maps.of.stack))
      return bad_input("--reduce", "rollout", "self-attention of one sequence of up to 128 tokens", name(*why));
    Progress progress;
    auto of_layers = *rollout_maps(*trace, maps.of.stack, progress, threads, maps.of.only);
    std::vector<Matrix>& all = maps.rolled.emplace_back(static_cast<std::size_t>(trace->num_layers(maps.of.stack)));
    auto next = of_layers.begin();
    for (std::size_t layer = 0; layer < all.size(); ++layer) {
      const auto is_of = [&](const HeadRef& head) { return head.layer == static_cast<Index>(layer); };
      if (maps.of.only.empty() || std::ranges::any_of(maps.of.only, is_of)) all[layer] = std::move(*next++);
    }
  }
  return Done{};
}

/// Rows of a map before it is summed up, −1 where blocked; scaled back to 1 without the tokens that are left out.
Matrix rows_to_add(const ReducedMaps& maps, std::size_t sentence, const HeadRef& head, Index first, Index count,
                   const std::atomic<bool>& stop) {
  const Trace& trace = *maps.of.traces[sentence];
  const Index keys = trace.keys(maps.of.stack);
  Matrix rows =
      maps.rolled.empty()
          ? region_weights(trace, {.head = head, .first_query = first, .num_queries = count, .num_keys = keys},
                           std::max(count, keys), stop)
          : Matrix(maps.rolled[sentence][static_cast<std::size_t>(head.layer)].middleRows(first, count));
  if (!maps.of.renormalize || rows.size() == 0) return rows;
  const auto& column_of = maps.keys[sentence].of_token;
  const auto& tokens = trace.key_tokens(maps.of.stack).tokens;
  for (Index row = 0; row < count; ++row) {
    double sum = 0;
    for (Index key = 0; key < keys; ++key)
      if (const auto at = static_cast<std::size_t>(key); column_of[at] >= 0 || !tokens[at].special)
        sum += static_cast<double>(std::max(rows(row, key), 0.0f));
    for (Index key = 0; key < keys && sum > 0; ++key)
      if (rows(row, key) > 0) rows(row, key) = static_cast<float>(static_cast<double>(rows(row, key)) / sum);
  }
  return rows;
}

/// The tokens from the first to behind the last that stand in these rows.
std::pair<Index, Index> tokens_of_rows(const ReducedAxis& axis, Index first, Index count) {
  std::pair<Index, Index> range{static_cast<Index>(axis.of_token.size()), 0};
  for (std::size_t i = 0; i < axis.of_token.size(); ++i)
    if (axis.of_token[i] >= first && axis.of_token[i] < first + count)
      range = {std::min(range.first, static_cast<Index>(i)), static_cast<Index>(i) + 1};
  return range;
}

}  // namespace

Result<Reduction> parse_reduction(std::string_view text) {
  const auto refused = [&](const char* expected) {
    return bad_input("--reduce", "", expected, "'" + std::string(text) + "'");
  };
  const std::size_t colon = text.find(':');
  const auto by = value_named<ReduceBy>(kReduceNames, text.substr(0, colon));
  if (!by || colon == std::string_view::npos) return refused(kExpected);
  Reduction reduction{.by = *by};
  for (std::string_view rest = text.substr(colon + 1);;) {
    const std::size_t comma = rest.find(',');
    const auto over = std::ranges::find(kOver, rest.substr(0, comma), &Over::name);
    if (over == std::end(kOver)) return refused(kExpected);
    reduction.*over->is = true;
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  const auto& [_, heads, layers, tokens, words, sentences] = reduction;
  if (tokens && words) return refused("one of tokens and words");
  if (*by == ReduceBy::rollout && !heads && !layers) return refused("rollout:heads, a map a layer, or rollout:layers");
  if (*by == ReduceBy::strongest && (!heads || tokens || words || sentences))
    return refused("strongest:heads or strongest:heads,layers");
  return reduction;
}

std::vector<std::string_view> reduced_over(const Reduction& by) {
  std::vector<std::string_view> names;
  for (const Over& over : kOver)
    if (by.*over.is) names.push_back(over.name);
  return names;
}

std::string reduction_text(const Reduction& by) {
  std::string text(name_in(kReduceNames, by.by));
  for (const std::string_view over : reduced_over(by))
    (text += text.find(':') == std::string::npos ? ":" : ",") += over;
  return text;
}

Result<ReducedMaps> reduced_maps(ReduceWhat of, int threads) {
  assert(!of.traces.empty());
  ReducedMaps maps{.of = std::move(of), .parts = {}};
  if (const ReduceBy by = maps.of.by.by;
      (by == ReduceBy::max || by == ReduceBy::strongest) &&
      std::any_of(maps.of.traces.begin(), maps.of.traces.end(), [](const Trace* one) { return one->is_signed; }))
    return bad_input("--reduce", name_in(kReduceNames, by), "weights of at least 0 (mean and sum take others too)",
                     "numbers below 0", ErrorCode::weight_below_zero);
  if (maps.of.by.by == ReduceBy::rollout) TRY(roll(maps, threads));
  TRY(add_axes(maps));
  TRY(add_parts(maps));
  return maps;
}

Matrix reduced_rows(const ReducedMaps& maps, Index map, Index first, Index count, const std::atomic<bool>& stop,
                    Matrix* strongest) {
  const auto& part = maps.parts[static_cast<std::size_t>(map)];
  const auto columns = static_cast<Index>(maps.columns().size());
  const ReduceBy by = maps.of.by.by;
  const bool largest = by == ReduceBy::max || by == ReduceBy::strongest;
  const float blocked = maps.of.traces.front()->blocked();
  BlockSums all(count, columns, blocked);
  if (strongest) strongest->setConstant(count, columns, -1.0f);
  for (std::size_t sentence = 0; sentence < maps.of.traces.size(); ++sentence) {
    const ReducedAxis& rows = maps.queries[sentence];
    const auto [begin, end] = tokens_of_rows(rows, first, count);
    BlockSums one(count, columns, blocked);
    for (std::size_t head = 0; head < part.size(); ++head) {
      const BlockSums before = strongest ? one : BlockSums(0, 0);
      for (Index at = begin; at < end && !stop; at += kRowBlock)
        one.add(rows_to_add(maps, sentence, part[head], at, std::min(kRowBlock, end - at), stop), at, rows.of_token,
                maps.keys[sentence].of_token, first, largest);
      for (Index i = 0; strongest && i < one.sums.size(); ++i)
        if (const auto cell = static_cast<std::size_t>(i);
            one.open[cell] && (!before.open[cell] || one.sums.data()[i] > before.sums.data()[i]))
          strongest->data()[i] = static_cast<float>(head);
    }
    if (!largest && by != ReduceBy::sum)
      for (Index row = 0; row < count; ++row) one.sums.row(row) /= rows.counts[static_cast<std::size_t>(first + row)];
    all.sums = largest ? all.sums.cwiseMax(one.sums).eval() : (all.sums + one.sums).eval();
    for (std::size_t i = 0; i < all.open.size(); ++i) all.open[i] |= one.open[i];
  }
  if (!largest && by != ReduceBy::sum) all.sums /= static_cast<double>(part.size() * maps.of.traces.size());
  return all.weights();
}

Token joined_tokens(const Tokens& tokens, Index first, Index count) {
  Token token = tokens.tokens[static_cast<std::size_t>(first)];
  if (count == 1) return token;
  token.end = tokens.tokens[static_cast<std::size_t>(first + count - 1)].end;
  token.raw = tokens.text.substr(token.begin, token.end - token.begin);
  const std::size_t ink = token.raw.find_first_not_of(" \t\n\r");
  token.text = ink == std::string::npos ? token.raw : token.raw.substr(ink);
  return token;
}

void BlockSums::add(const Matrix& weights, Index first, const std::vector<Index>& row_of,
                    const std::vector<Index>& column_of, Index first_row, bool largest) {
  for (Index i = 0; i < weights.rows(); ++i) {
    const Index row = row_of[static_cast<std::size_t>(first + i)] - first_row;
    if (row < 0 || row >= sums.rows() || row_of[static_cast<std::size_t>(first + i)] < 0) continue;
    for (Index key = 0; key < weights.cols(); ++key) {
      const Index column = column_of[static_cast<std::size_t>(key)];
      if (column < 0 || weights(i, key) <= blocked) continue;
      const auto weight = static_cast<double>(weights(i, key));
      sums(row, column) = largest ? std::max(sums(row, column), weight) : sums(row, column) + weight;
      open[static_cast<std::size_t>(row * sums.cols() + column)] = 1;
    }
  }
}

Matrix BlockSums::weights() const {
  Matrix weights = sums.cast<float>();
  for (Index i = 0; i < weights.size(); ++i)
    if (!open[static_cast<std::size_t>(i)]) weights.data()[i] = blocked;
  return weights;
}

}  // namespace headlight
