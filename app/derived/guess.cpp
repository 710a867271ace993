#include "derived/guess.h"

#include <algorithm>

#include "math/forward.h"

namespace headlight {
namespace {

/// The scores over the vocabulary of a question; empty when stopped or where it cannot be answered.
Vector logits_of(const Request& request, Progress& progress) {
  const auto trace = forward(request, progress);
  return trace && *trace ? (*trace)->logits : Vector{};
}

/// The token that hides a word from the model of an answer; nothing where its vocabulary has none. Fresh weights have a
/// vector for any text: there it is `<mask>`.
std::optional<Token> hiding_token(const Trace& trace) {
  Token token;
  if (!trace.request.model) {
    token.text = token.raw = "<mask>";
    token.id = hashed_id(token.text);
    return token;
  }
  if (!trace.model->vocabulary) return std::nullopt;
  const Vocabulary& vocabulary = *trace.model->vocabulary;
  for (const char* text : {"<mask>", "[MASK]"}) {
    const auto found = std::find(vocabulary.words.begin(), vocabulary.words.end(), text);
    if (found == vocabulary.words.end()) continue;
    token.text = token.raw = text;
    const auto row = static_cast<std::size_t>(found - vocabulary.words.begin());
    token.id = vocabulary.ids.empty() ? static_cast<std::int64_t>(row) : vocabulary.ids[row];
    return token;
  }
  return std::nullopt;
}

}  // namespace

Request untouched(Request request) {
  request = unedited(std::move(request));
  request.mask = {.causal = request.config.arch != Arch::encoder};
  request.encoder_mask = request.cross_mask = {};
  return request;
}

bool can_hide(const Trace& trace, Index token) {
  const std::vector<Token>& tokens = trace.query_tokens().tokens;
  if (trace.request.config.arch != Arch::encoder || trace.logits.size() == 0 || trace.model->given ||
      classifies(*trace.model))
    return false;
  if (token < 0 || token >= static_cast<Index>(tokens.size()) || trace.queries() > kMostHidden) return false;
  const Token& hidden = tokens[static_cast<std::size_t>(token)];
  const auto is_other_word = [&](const Token& other) { return &other != &hidden && !other.special && !other.pad; };
  return !hidden.special && !hidden.pad && std::any_of(tokens.begin(), tokens.end(), is_other_word) &&
         hiding_token(trace).has_value();
}

Request with_hidden(const Trace& trace, Index token) {
  Request asked = trace.request;
  Token& hidden = asked.tokens.tokens[static_cast<std::size_t>(token)];
  const Token mask = *hiding_token(trace);
  hidden.id = mask.id;
  hidden.text = mask.text;
  hidden.raw = mask.raw;
  hidden.known = true;
  return asked;
}

std::shared_ptr<const Guess> make_guess(const GuessQuestion& question, Progress& progress) {
  const auto asked_trace = question.trace.lock();
  if (!asked_trace) return nullptr;
  const Trace& trace = *asked_trace;
  auto guess = std::make_shared<Guess>();
  guess->model = trace.model;
  Request asked = trace.request;
  const std::vector<Token>& tokens = trace.query_tokens().tokens;
  const Index position = question.hidden.value_or(trace.answering);
  if (position < static_cast<Index>(tokens.size())) guess->token = tokens[static_cast<std::size_t>(position)].text;
  std::int64_t right = -1;
  if (question.hidden) {
    if (!can_hide(trace, *question.hidden)) return guess;
    const Token& hidden = tokens[static_cast<std::size_t>(*question.hidden)];
    right = hidden.known ? hidden.id : -1;
    asked = with_hidden(trace, *question.hidden);
  }
  const Vector logits = question.hidden ? logits_of(asked, progress) : trace.logits;
  if (progress.stop) return nullptr;
  if (logits.size() == 0) return guess;
  const Request plain = untouched(asked);
  Vector before;
  if (!(plain == asked)) {
    const Vector earlier = logits_of(plain, progress);
    if (progress.stop) return nullptr;
    if (earlier.size() == logits.size()) before = probabilities(earlier);
  }
  const Vector now = probabilities(logits);
  const auto guessed = [&](Candidate word) {
    const std::optional<float> was = before.size() > 0 ? std::optional(before(word.row)) : std::nullopt;
    return GuessedWord{std::move(word), was};
  };
  for (Candidate& word : most_probable(*trace.model, now, kGuessedWords))
    guess->words.push_back(guessed(std::move(word)));
  // What the changes took away stands behind the first, else the end of a short line would hide it.
  std::size_t behind = guess->words.empty() ? 0 : 1;
  if (before.size() > 0)
    for (const Index row : most_changed(*trace.model, before, now, kLostWords)) {
      const auto is_row = [&](const GuessedWord& one) { return one.word.row == row; };
      if (before(row) < now(row) || std::any_of(guess->words.begin(), guess->words.end(), is_row)) continue;
      guess->words.insert(guess->words.begin() + static_cast<std::ptrdiff_t>(behind++),
                          guessed(candidate(*trace.model, now, row)));
    }
  if (right >= 0)
    for (Index row = 0; row < now.size(); ++row)
      if (Candidate word = candidate(*trace.model, now, row); word.id == right) {
        guess->right = guessed(std::move(word));
        break;
      }
  return guess;
}

}  // namespace headlight
