#include "math/generate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.h"

namespace headlight {
namespace {

Tokens& decoder_tokens(Request& request) {
  return request.config.arch == Arch::encoder_decoder ? request.target : request.tokens;
}

}  // namespace

Result<Candidate> next_word(const Trace& trace, const Sampling& sampling) {
  if (trace.model->config.arch == Arch::encoder || trace.model->given)
    return bad_input("model", "arch", "a decoder or an encoder-decoder, which can write on",
                     trace.model->given ? "attention alone" : "an encoder");
  if (trace.logits.size() == 0) return bad_input("model", "output layer", "one over a vocabulary", "none");
  if (!(sampling.temperature >= 0.0f))
    return bad_input("temperature", "", "0 or more", std::isnan(sampling.temperature) ? "nan" : "a negative number");
  Vector logits = trace.logits;
  for (Index row = 0; row < logits.size(); ++row)
    if (!is_word(*trace.model, row)) logits(row) = -std::numeric_limits<float>::infinity();
  if (logits.maxCoeff() == -std::numeric_limits<float>::infinity())
    return bad_input("model", "vocabulary", "a word for one of the " + std::to_string(logits.size()) + " scores",
                     "none");
  const Vector chances = probabilities(logits, sampling.temperature);
  Random stream(derive_seed(sampling.seed, "word " + std::to_string(trace.answering + 1)));
  return candidate(*trace.model, chances, sample(chances, stream.uniform()));
}

Request extended(Request request, const Candidate& word) {
  Tokens& tokens = decoder_tokens(request);
  // Padding may precede the sentence as well: the word goes after the last token that is not padding.
  const auto last = std::find_if(tokens.tokens.rbegin(), tokens.tokens.rend(), [](const Token& t) { return !t.pad; });
  const auto next = last.base();
  const std::size_t offset = next == tokens.tokens.end() ? tokens.text.size() : next->begin;
  for (auto token = next; token != tokens.tokens.end(); ++token) {
    token->begin += word.text.size();
    token->end += word.text.size();
  }
  tokens.text.insert(offset, word.text);
  tokens.tokens.insert(
      next, {.id = word.id, .text = word.text, .raw = word.text, .begin = offset, .end = offset + word.text.size()});
  return request;
}

}  // namespace headlight
