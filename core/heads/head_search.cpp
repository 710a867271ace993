#include "heads/head_search.h"

#include <algorithm>
#include <map>

#include "base/parallel.h"
#include "heads/head_measures.h"
#include "math/attention.h"
#include "text/tokenizer.h"

namespace headlight {
namespace {

struct Positions {
  std::vector<Index> queries, keys;
  bool apart = false;  // a token does not count for itself: the word is there again
};

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n"), end = text.find_last_not_of(" \t\r\n");
  return begin == std::string_view::npos ? text : text.substr(begin, end - begin + 1);
}

/// The text of tokens [first, last], as it was typed.
std::string_view text_between(const Tokens& tokens, std::size_t first, std::size_t last) {
  const std::size_t begin = tokens.tokens[first].begin, end = tokens.tokens[last].end;
  if (begin >= end || end > tokens.text.size()) return {};
  return trimmed(std::string_view(tokens.text).substr(begin, end - begin));
}

StrongestCell strongest(const Trace& trace, const HeadRef& head, const Positions& positions,
                        const std::atomic<bool>& stop) {
  StrongestCell best{.head = head};
  Index first = -1;
  Matrix block;
  for (const Index query : positions.queries) {
    if (stop) return best;
    if (first < 0 || query >= first + block.rows()) {
      first = query / kRowBlock * kRowBlock;
      block = attention_rows(trace, head, first, std::min(kRowBlock, trace.queries(head.stack) - first));
    }
    for (const Index key : positions.keys) {
      if (positions.apart && key == query) continue;
      const float weight = block(query - first, key);
      if (best.cell && weight <= best.weight) continue;
      best.cell = CellRef{query, key};
      best.weight = weight;
    }
  }
  return best;
}

}  // namespace

std::vector<Index> positions_of(const Tokens& tokens, std::string_view word) {
  const std::string_view wanted = trimmed(word);
  const auto numbers = wanted.empty() ? std::vector<std::size_t>{} : word_numbers(tokens);
  std::vector<Index> positions;
  for (std::size_t first = 0; first < tokens.size();) {
    std::size_t last = first;
    while (!wanted.empty() && last + 1 < tokens.size() && numbers[last + 1] == numbers[first]) ++last;
    const bool whole = !wanted.empty() && text_between(tokens, first, last) == wanted;
    for (; first <= last; ++first) {
      const Token& token = tokens.tokens[first];
      const bool named = wanted.empty() || whole || trimmed(token.text) == wanted;
      if (named && !token.pad) positions.push_back(static_cast<Index>(first));
    }
  }
  return positions;
}

std::optional<std::vector<StrongestCell>> strongest_cells(const Trace& trace, const WordPair& words, Progress& progress,
                                                          int threads) {
  const std::vector<HeadRef> heads = heads_of(trace);
  std::map<Stack, Positions> positions;
  for (const HeadRef& head : heads)
    if (!positions.contains(head.stack)) {
      const Tokens& queries = trace.query_tokens(head.stack);
      Positions& all = positions[head.stack] = {positions_of(queries, words.from),
                                                positions_of(trace.key_tokens(head.stack), words.to)};
      if (head.stack == Stack::cross || words.from.empty() || words.from != words.to || all.queries.empty()) continue;
      const auto numbers = word_numbers(queries);
      all.apart = numbers[all.queries.front()] != numbers[all.queries.back()];
    }
  progress.done = progress.begin;
  std::vector<StrongestCell> cells(heads.size());
  parallel_for(static_cast<Index>(heads.size()), threads, [&](Index i) {
    const auto at = static_cast<std::size_t>(i);
    cells[at] = strongest(trace, heads[at], positions.at(heads[at].stack), progress.stop);
    progress.advance(progress.share / static_cast<float>(heads.size()));
  });
  if (progress.stop) return std::nullopt;
  return cells;
}

}  // namespace headlight
