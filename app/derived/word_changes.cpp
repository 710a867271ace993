#include "derived/word_changes.h"

#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "derived/guess.h"
#include "explain/moved_rows.h"
#include "heads/arc_labels.h"
#include "math/attention.h"
#include "math/forward.h"
#include "text/characters.h"

namespace headlight {
namespace {

enum class Writing { mark, lower, upper, digits, chinese, other };

Writing writing_of(const std::string& word) {
  const std::vector<char32_t> characters = code_points(word);
  if (characters.empty()) return Writing::mark;
  for (const char32_t c : characters)
    if (!is_word_character(c) && c != '\'' && c != '-') return Writing::mark;
  const char32_t first = characters.front();
  if (first >= 'a' && first <= 'z') return Writing::lower;
  if (first >= 'A' && first <= 'Z') return Writing::upper;
  if (is_numeric(first)) return Writing::digits;
  return is_chinese_character(first) ? Writing::chinese : Writing::other;
}

/// The multiplications of one answer, about.
double products_of(const Trace& trace) {
  const Config& config = trace.model->config;
  const double width = static_cast<double>(config.d_model), ffn = static_cast<double>(config.ffn);
  const double block = width * (4 * width + (config.gated ? 3 : 2) * ffn);
  return static_cast<double>(trace.queries()) * block * static_cast<double>(trace.num_layers()) +
         width * static_cast<double>(trace.logits.size());
}

/// A word to be tried instead of a token.
struct Proposal {
  Index token = 0;
  std::string word;
  std::int64_t id = -1;  // −1: an example's
};

/// The search for one question.
struct Search {
  const Trace& trace;
  const ChangesQuestion& question;
  const ChangeSource& source;
  Progress& progress;
  Index left = 0;  // answers that may still be computed
  std::vector<SpeltWord> words = spelt_words(trace.query_tokens());
  Vector row = row_of(trace);
  WordChanges found = {};
  std::vector<WordChange> moving = {}, shifting = {};

  const std::vector<Token>& tokens() const { return trace.query_tokens().tokens; }
  const Token& token(Index at) const { return tokens()[static_cast<std::size_t>(at)]; }

  /// The row's weights; those on the pieces of a word are summed at its first piece.
  Vector row_of(const Trace& answer) const {
    Vector weights = attention_rows(answer, question.head, question.query, 1).row(0);
    for (const SpeltWord& word : words) {
      const float sum = weights.segment(word.first, word.count).sum();
      weights.segment(word.first, word.count).setZero();
      weights(word.first) = sum;
    }
    return weights;
  }

  /// The text of the word that begins with the key.
  std::string word_at(Index key) const {
    const auto word = std::find_if(words.begin(), words.end(), [&](const SpeltWord& one) { return one.first == key; });
    if (word == words.end()) return token(key).text;
    return trace.query_tokens().text.substr(word->begin, word->end - word->begin);
  }

  /// Whether the token is a whole word that was typed, other than that of the row; after it a causal mask hides it.
  bool can_change(Index at) const {
    const bool goes_on = at + 1 < trace.queries() && token(at + 1).continues;
    const Token& word = token(at);
    if (word.special || word.pad || word.continues || goes_on || at == question.query || is_masked(word)) return false;
    if (trace.request.mask.causal && at > question.query) return false;
    return writing_of(word.text) != Writing::mark;
  }

  /// The model's probabilities for the words in one position; empty when stopped.
  Vector guessed(Index at) {
    if (trace.request.config.arch == Arch::encoder) {
      if (!can_hide(trace, at) || left-- <= 0) return {};
      const auto answer = forward(with_hidden(trace, at), progress, &trace);
      if (!answer || !*answer) return {};
      return probabilities(logit_rows(**answer, at, 1).row(0));
    }
    return at > 0 ? probabilities(logit_rows(trace, at - 1, 1).row(0)) : Vector{};
  }

  std::vector<Proposal> proposed(Index at) {
    std::vector<Proposal> proposals;
    const Vector shares = guessed(at);
    if (shares.size() == 0) return proposals;
    const Token& word = token(at);
    const std::int64_t pieces = trace.query_tokens().word_rows;
    const std::vector<Candidate> likely = most_probable(*trace.model, shares, 8 * kMostWordsTried);
    for (const Candidate& one : likely) {
      if (one.probability < kLeastOfLikeliest * likely.front().probability) break;
      const std::string text(without_leading_space(one.text));
      if (one.id == word.id || text == word.text || (pieces > 0 && one.id >= pieces)) continue;
      if (!written_alike(word.text, text) || !source.same_kind(word.text, text)) continue;
      proposals.push_back({at, text, one.id});
      if (proposals.size() == static_cast<std::size_t>(kMostWordsTried)) break;
    }
    return proposals;
  }

  bool is_word(Index key) const {
    const Token& one = token(key);
    return !one.special && !one.pad && writing_of(one.text) != Writing::mark;
  }

  /// Computes the answer to the sentence with the word, and what it does to the row; an example's once.
  void attempt(const Proposal& proposal) {
    const auto done = [&](const WordChange& one) { return one.token == proposal.token && one.to == proposal.word; };
    if (left <= 0 || std::any_of(found.best.begin(), found.best.end(), done)) return;
    const auto retyped = source.retype(token(proposal.token), proposal.word);
    if (!retyped) return;
    const auto changed = changed_word(trace.request, retyped->request);
    if (!changed) return;
    const Token& typed = retyped->request.tokens.tokens[static_cast<std::size_t>(proposal.token)];
    if (!typed.known || typed.id == token(proposal.token).id || (proposal.id >= 0 && typed.id != proposal.id)) return;
    --left;
    const auto answer = forward(retyped->request, progress, &trace);
    if (!answer || !*answer) return;
    const Vector now = row_of(**answer);
    Index before = 0, after = 0;
    row.maxCoeff(&before);
    const float largest = now.maxCoeff(&after);
    WordChange change{proposal.token, changed->from, changed->to, retyped->text};
    change.moves = after != before && largest >= kMovedWeight && is_word(after);
    change.of_example = proposal.id < 0;
    change.key = change.moves ? after : before;
    change.looked_at = change.key == change.token ? change.to : word_at(change.key);
    change.before = row(change.key);
    change.after = now(change.key);
    ++found.tried;
    found.moving += change.moves;
    if (change.of_example) found.best.push_back(change);
    else if (change.moves) moving.push_back(std::move(change));
    else if (change.key != change.token && std::abs(change.after - change.before) >= kLeastShift)
      shifting.push_back(std::move(change));
  }

  /// The examples' changes; then the first proposals of every position, then the second ones …
  void try_all() {
    std::vector<Index> positions;
    for (Index at = 0; at < trace.queries(); ++at)
      if (can_change(at)) positions.push_back(at);
    for (const auto& [word, other] : source.examples)
      for (auto at = positions.rbegin(); at != positions.rend(); ++at)
        if (token(*at).text == word) {
          attempt({*at, other});
          break;
        }
    std::vector<std::vector<Proposal>> proposals;
    for (const Index at : positions) proposals.push_back(proposed(at));
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(kMostWordsTried); ++rank) {
      for (const auto& likely : proposals)
        if (rank < likely.size() && !progress.stop) attempt(likely[rank]);
      progress.done = static_cast<float>(rank + 1) / static_cast<float>(kMostWordsTried);
    }
  }

  void choose_best() {
    const auto by_size = [](const WordChange& a, const WordChange& b) {
      return std::abs(a.after - a.before) > std::abs(b.after - b.before);
    };
    for (auto* changes : {&moving, &shifting}) {
      std::stable_sort(changes->begin(), changes->end(), by_size);
      for (WordChange& change : *changes) {
        const auto like = [&](const WordChange& one) { return one.token == change.token && one.key == change.key; };
        if (found.best.size() < kMostOffered && std::none_of(found.best.begin(), found.best.end(), like))
          found.best.push_back(std::move(change));
      }
    }
  }
};

}  // namespace

bool written_alike(const std::string& word, const std::string& other) {
  const Writing writing = writing_of(word);
  return writing != Writing::mark && writing == writing_of(other);
}

std::shared_ptr<const WordChanges> find_changes(const ChangesQuestion& question, const ChangeSource& source,
                                                Progress& progress) {
  const auto trace = question.trace.lock();
  if (!trace) return nullptr;
  progress.share = 0;  // counted here
  Search search{*trace, question, source, progress};
  search.left = static_cast<Index>(std::min<double>(kMostAnswers, kMostProducts / std::max(1.0, products_of(*trace))));
  search.try_all();
  if (progress.stop) return nullptr;
  search.choose_best();
  return std::make_shared<const WordChanges>(std::move(search.found));
}

}  // namespace headlight
