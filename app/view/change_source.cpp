#include "view/change_source.h"

#include "card/training_card.h"
#include "models/model_choice.h"
#include "question/samples.h"

namespace headlight {
namespace {

/// The sentence, which begins at this byte of the text, with a token replaced.
std::optional<Retyped> retyped(const Document& document, const BundledModels* shipped, const Lexicon& lexicon,
                               std::size_t sentence, std::size_t sentence_begin, const Token& token,
                               const std::string& word) {
  std::string text = document.source.text;
  std::size_t begin = sentence_begin + token.begin;
  const std::size_t end = sentence_begin + token.end;
  while (begin < end && text[begin] == ' ') ++begin;
  text.replace(begin, end - begin, word);
  Document changed = document;
  set_text(changed, TextSide::source, text, lexicon);
  if (shipped && !choose_model(changed, shipped, {}, true)) return std::nullopt;
  if (changed.model != document.model) return std::nullopt;
  auto requests = requests_of(changed, lexicon);
  if (!requests || sentence >= requests->size()) return std::nullopt;
  return Retyped{std::move(text), std::move((*requests)[sentence])};
}

}  // namespace

bool may_change_words(const Document& document, const Trace& trace) {
  return document.model && reads_sentences(document) && document.text_pair.empty() &&
         trace.request.config.arch != Arch::encoder_decoder && trace.queries() <= kLongestChanged &&
         trace.logits.size() > 0 && trace.model->vocabulary && trace.model->embeddings.tokens;
}

bool may_change_row(const Trace& trace, const Edits& edits, const HeadRef& head, Index query) {
  const Token& word = trace.query_tokens().tokens[static_cast<std::size_t>(query)];
  return head.stack == Stack::self && !word.special && !word.pad && !is_off(edits, head) &&
         !is_row_edited(edits, head, query);
}

ChangeSource change_source(const Document& document, const BundledModels* shipped, const Lexicon& lexicon,
                           std::size_t sentence) {
  const auto lines = sentences(document.source.text);
  const std::size_t begin = sentence < lines.size() ? lines[sentence].begin : 0;
  ChangeSource source;
  source.retype = [&document, shipped, &lexicon, sentence, begin](const Token& token, const std::string& word) {
    return retyped(document, shipped, lexicon, sentence, begin, token, word);
  };
  if (document.card) source.labels = document.card->arcs.get();
  if (const auto& samples = read_samples())
    for (const Sample& sample : *samples)
      if (!sample.change.empty() && sample.text == document.source.text)
        source.examples.emplace_back(sample.change, sample.into);
  return source;
}

}  // namespace headlight
