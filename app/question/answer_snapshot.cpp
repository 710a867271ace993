#include "question/answer_snapshot.h"

#include <algorithm>

namespace headlight {

bool same_question(const std::optional<AnswerSnapshot>& a, const std::optional<AnswerSnapshot>& b) {
  if (!a || !b) return !a && !b;
  return a->sentence == b->sentence && a->prefix == b->prefix && a->step == b->step && a->document == b->document;
}

Result<AnswerSnapshot> answer_to_keep(const Document& document, const Lexicon& lexicon) {
  return answer_to_keep(AnswerSnapshot{.trace = nullptr, .document = document}, lexicon);
}

Result<AnswerSnapshot> answer_to_keep(AnswerSnapshot kept, const Lexicon& lexicon, Progress& progress) {
  const auto requests = TRY(requests_of(kept.document, lexicon));
  kept.sentence = std::min(kept.sentence, requests.size() - 1);
  kept.trace = TRY(forward(prefix_of(requests[kept.sentence], kept.prefix), progress));
  return kept;
}

}  // namespace headlight
