#include "document/model_choice.h"
#include "document/sentence_facts.h"
#include "gui/question/question.h"
#include "session/typing.h"
#include "words/sentence_words.h"

namespace headlight {

bool is_unknown(const AppState& state, TextSide side, const Token& token, const Cursor& cursor) {
  if (token.known || !is_typing(state)) return !token.known;
  if (is_any_sentence(state.document) || state.document.model_path == kDefaultModel) return false;
  const std::size_t begin = sentence_begin(state, side);
  return side != cursor.side || cursor.at <= begin + token.begin || cursor.at > begin + token.end;
}

std::string unknown_hint(const Gui& gui, const Token& token) {
  constexpr std::size_t kExamples = 24;
  std::string hint = gui.word(kSentenceWords.tip_unknown);
  const std::shared_ptr<const Model>& model = gui.state.document.model;
  if (!model || !model->vocabulary) return hint;
  const KnownWords known = known_words(*model->vocabulary, token.text, kExamples);
  hint += std::string("\n") + gui.word(kSentenceWords.words_known) + std::to_string(known.count);
  if (known.examples.empty()) return hint;
  hint += std::string("\n") + gui.word(kSentenceWords.knows_for_example);
  for (std::size_t i = 0; i < known.examples.size(); ++i) hint += (i > 0 ? "  " : "") + known.examples[i];
  return hint;
}

}  // namespace headlight
