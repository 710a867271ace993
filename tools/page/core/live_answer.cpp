#include <algorithm>

#include <nlohmann/json.hpp>

#include "heads/head_measures.h"
#include "math/generate.h"
#include "models/model_choice.h"
#include "page/core/page_answers.h"
#include "question/json/document_json.h"
#include "question/tokenizers.h"
#include "view/change_source.h"
#include "view/start_cell.h"

namespace headlight {
namespace {

using nlohmann::json;

/// Words that a translator writes at most.
constexpr std::size_t kMostWritten = 32;

/// Words tried for one row: meanwhile the page stands still.
constexpr Index kMostTried = 60;

/// The models that come along and were asked: each is read once.
BundledModels asked_models;

Result<Document> document_of(const json& asked, const Document* beside) {
  std::vector<Error> warnings;
  auto document = TRY(document_from_json(kPageSource, asked, unwatched(), warnings, &asked_models, beside));
  const auto is_asked = [&](const BundledModel& one) { return one.source == document.model_path; };
  if (is_shipped(document) && std::none_of(asked_models.begin(), asked_models.end(), is_asked))
    asked_models.push_back({document.model_path, document.model, document.tokenizers, document.card});
  return document;
}

}  // namespace

Status LiveAnswer::answer(const Request& request) {
  trace_ = TRY(forward(request, unwatched(), trace_.get(), 1));
  return Done{};
}

std::vector<HeadRef> LiveAnswer::heads(Stack stack) const { return heads_of(*trace_, stack); }

/// The most probable word after another, until the end.
Status LiveAnswer::write(Request request) {
  while (request.target.size() < kMostWritten) {
    TRY(answer(request));
    const auto word = TRY(next_word(*trace_, {}));
    if (is_end(document_.tokenizers.get(), word.id)) return Done{};
    request = extended(std::move(request), word);
  }
  return answer(request);
}

Status LiveAnswer::ask(const json& asked, std::size_t most) {
  auto document = TRY(document_of(asked, &document_));
  const Lexicon* lexicon = kept_lexicon();
  const auto requests = TRY(requests_of(document, lexicon ? *lexicon : Lexicon{}));
  sentence_ = std::min(asked.value("sentence", std::size_t{0}), requests.size() - 1);
  Request request = requests[sentence_];
  take_seed(asked, request.edits);
  for (const Tokens* tokens : {&request.tokens, &request.target})
    if (tokens->size() > most)
      return bad_input(kPageSource, "tokens", "at most " + std::to_string(most), std::to_string(tokens->size()),
                       ErrorCode::too_large);
  document_ = std::move(document);
  return asked.value("write", false) ? write(request) : answer(request);
}

Result<std::optional<bool>> LiveAnswer::knows(const json& asked, bool typing) {
  const auto document = TRY(document_of(asked, nullptr));
  if (!document.model) return std::optional<bool>();
  return knows_all({document.model_path, document.model, document.tokenizers, document.card}, document.source, typing);
}

std::shared_ptr<const WordChanges> LiveAnswer::changes(const HeadRef& head, Index query, const std::string& own,
                                                       bool searches) {
  const Trace& trace = *trace_;
  const Edits& edits = trace.request.edits;
  if (!may_change_words(document_, trace) || !may_change_row(trace, edits, head, query)) return nullptr;
  const Lexicon* lexicon = kept_lexicon();
  const Lexicon none;
  // A sentence that chose its model is to keep it.
  Document same = document_;
  const bool chose = choose_model(same, &asked_models) && same.model == document_.model;
  ChangeSource source = change_source(document_, chose ? &asked_models : nullptr, lexicon ? *lexicon : none, sentence_);
  source.retype = [&, retype = source.retype, left = kMostTried](const Token& token, const std::string& in) mutable {
    std::optional<Retyped> changed;
    if (left-- > 0) changed = retype(token, in);
    if (changed) {  // the page's own masks and edits
      changed->request.edits = edits;
      changed->request.mask = trace.request.mask;
    }
    return changed;
  };
  const ChangesQuestion row{trace_, head, query};
  const WordChanges untried{.word = trace.query_tokens().tokens[static_cast<std::size_t>(query)].text};
  const WordChanges* known = row == asked_changes_ && known_changes_ ? known_changes_.get() : nullptr;
  ChangesQuestion question = row;
  question.own = own;
  auto found = find_changes(question, source, unwatched(), known || searches ? known : &untried);
  if (known || searches) asked_changes_ = row, known_changes_ = found;
  return found;
}

json start_object(const Document& document, const Trace& trace, const SentenceArcs& arcs) {
  const auto start = start_cell(document, trace, arcs);
  if (!start) return json();
  return {{"stack", static_cast<int>(start->head.stack)},
          {"layer", start->head.layer},
          {"head", start->head.head},
          {"pinned", {{"query", start->cell.query}, {"key", start->cell.key}}}};
}

Status LiveAnswer::change(const json& changes) {
  Request request = trace_->request;
  std::map<Stack, MaskSpec> masks;
  request.edits = {};
  TRY(read_changes(changes, masks, request.edits));
  for (auto& [stack, mask] : masks)
    (stack == Stack::self      ? request.mask
     : stack == Stack::encoder ? request.encoder_mask
                               : request.cross_mask) = std::move(mask);
  return answer(request);
}

}  // namespace headlight
