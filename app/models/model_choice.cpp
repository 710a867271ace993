#include "models/model_choice.h"

#include <algorithm>

#include "base/folders.h"
#include "models/open_model.h"
#include "question/tokenizers.h"

namespace headlight {
namespace {

BundledModel model_of(const Document& document) {
  return {document.model_path, document.model, document.tokenizers, document.card};
}

Result<BundledModel> find_bundled(std::string_view source, const Document& now, const BundledModels* shipped,
                                  const std::vector<const Document*>& seen) {
  if (now.model_path == source) return model_of(now);
  if (shipped)
    for (const BundledModel& one : *shipped)
      if (one.source == source) return one;
  for (const Document* one : seen)
    if (one->model && one->model_path == source) return model_of(*one);
  const auto opened = TRY(open_model(std::string(source)));
  return model_of(opened.document);
}

}  // namespace

std::optional<bool> knows_all(const BundledModel& one, const TextInput& text, bool typing) {
  if (!one.tokenizers || !one.tokenizers->source) return std::nullopt;
  const Index rows = one.model->embeddings.tokens->outputs();
  const auto lines = encoded_lines("text", text, *one.tokenizers->source, rows, kMaxTokens);
  if (!lines || lines->empty()) return std::nullopt;
  for (const Tokens& tokens : *lines) {
    for (const Token& token : tokens.tokens) {
      if (token.known) continue;
      const bool last = &tokens == &lines->back() && &token == &tokens.tokens.back();
      if (!typing || !last || !one.model->vocabulary) return false;
      const auto& words = one.model->vocabulary->words;
      if (std::none_of(words.begin(), words.end(),
                       [&](const std::string& word) { return word.starts_with(token.text); }))
        return false;
    }
  }
  return true;
}

bool is_any_sentence(const Document& document) { return document.model && document.model_path == kAnySentence; }

Status choose_model(Document& document, const BundledModels* shipped, const std::vector<const Document*>& seen,
                    bool typing) {
  const bool any = is_any_sentence(document);
  if ((!any && !(document.model && document.model_path == kDefaultModel)) || reads_ids(document)) return Done{};
  const auto of_grammar = TRY(find_bundled(kDefaultModel, document, shipped, seen));
  const auto known = knows_all(of_grammar, document.source, typing && !any);
  if (!known || *known == !any) return Done{};
  if (*known) {
    take_model(document, of_grammar);
    return Done{};
  }
  const auto folder = resolved_source(std::string(kAnySentence));
  if (!folder || !is_folder(*folder)) return Done{};
  const auto found = TRY(find_bundled(kAnySentence, document, shipped, seen));
  take_model(document, found);
  return Done{};
}

}  // namespace headlight
