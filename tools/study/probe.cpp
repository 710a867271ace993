#include "study/probe.h"

#include "base/random.h"
#include "math/output.h"
#include "model/head_text.h"

namespace headlight {
namespace {

/// 50x10: so many sequences, of so many tokens twice.
Result<std::pair<Index, Index>> probe_of(const std::string& probe) {
  constexpr std::string_view kKind = "repeated-random:";
  const std::size_t times = probe.find('x');
  const auto count = probe.starts_with(kKind) && times != probe.npos
                         ? parse_index(probe.substr(kKind.size(), times - kKind.size()))
                         : std::nullopt;
  const auto tokens = count ? parse_index(probe.substr(times + 1)) : std::nullopt;
  if (!tokens || *count < 1 || *count > 10000 || *tokens < 2 || *tokens > 4096)
    return bad_input("--probe", "", "repeated-random:SEQUENCESxTOKENS, as repeated-random:50x10", probe);
  return std::pair{*count, *tokens};
}

}  // namespace

Result<std::vector<Request>> probing(const Request& like, const std::string& probe) {
  const auto size = TRY(probe_of(probe));
  const Model* model = like.model.get();
  if (!model || model->given || model->patches) return bad_input("--probe", "", "a model with a vocabulary", "another");
  const auto& embedded = (model->encoder ? model->encoder->embeddings : model->embeddings).tokens;
  std::vector<Token> words;
  for (Index row = 0; row < embedded->outputs(); ++row) {
    if (!is_word(*model, row)) continue;
    const Candidate word = candidate(*model, row);
    const bool marked = word.text.size() > 2 && (word.text.front() == '[' || word.text.front() == '<') &&
                        (word.text.back() == ']' || word.text.back() == '>');
    if (!marked) words.push_back({.id = word.id, .text = word.text, .raw = word.text});
  }
  if (words.empty()) return bad_input("--probe", "", "a model with a vocabulary", "none");
  Random random(0);
  std::vector<Request> requests;
  for (Index i = 0; i < size.first; ++i) {
    Request& request = requests.emplace_back(like);
    Tokens tokens;
    for (Index at = 0; at < size.second; ++at) tokens.tokens.push_back(words[random.next() % words.size()]);
    for (Index at = 0; at < size.second; ++at) tokens.tokens.push_back(tokens.tokens[static_cast<std::size_t>(at)]);
    for (Token& token : tokens.tokens) {
      token.begin = tokens.text.size();
      tokens.text += token.text + " ";
      token.end = tokens.text.size() - 1;
    }
    request.tokens = std::move(tokens);
  }
  return requests;
}

}  // namespace headlight
