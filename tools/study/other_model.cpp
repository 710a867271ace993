#include "study/other_model.h"

#include <algorithm>

#include "cli/options/print.h"
#include "models/open_model.h"

namespace headlight {

Result<std::shared_ptr<const Trace>> OtherModel::answer_to(const Trace& clean, int threads) const {
  Request request = clean.request;
  const auto rows = [](const Model& model) { return model.embeddings.tokens ? model.embeddings.tokens->outputs() : 0; };
  bool same = rows(*clean.model) == rows(*document.model);
  if (same && can_read_text(document)) {
    const auto own = TRY(request_of_sentence(document, request.tokens.text, *lexicon));
    same = std::ranges::equal(own.tokens.tokens, request.tokens.tokens, {}, &Token::id, &Token::id);
  }
  if (!same) return bad_input("--from", "tokens", "those of the SOURCE", "others");
  request.model = document.model;
  request.config = document.model->config;
  return forward(request, unwatched(), nullptr, threads);
}

Result<OtherModel> other_model_of(const std::string& source) {
  OtherModel other;
  if (source.empty()) return other;
  Progress progress;
  const ProgressReport report("--from", &progress);
  auto opened = open_model(source, std::nullopt, progress, Reading::as_used);
  if (!opened) return inside("--from", opened.error());
  other.document = std::move(opened->document);
  if (!other || other.document.model->given)
    return bad_input("--from", "", "of --pairs a model, which reads the sentences of the file", "'" + source + "'");
  return other;
}

}  // namespace headlight
