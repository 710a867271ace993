// An answer with the document that asked for it, so that later answers can be compared with it.
#pragma once

#include <memory>
#include <optional>

#include "document/document.h"
#include "math/forward.h"

namespace headlight {

/// An answer that what comes after it is compared with, and how it was asked.
struct AnswerSnapshot {
  std::shared_ptr<const Trace> trace;  // null: a session says what was asked, and the answer is being computed
  Document document;
  std::size_t sentence = 0;        // of the document's
  std::size_t prefix = 0;          // as ViewState::prefix
  std::optional<Index> step = {};  // of the training whose model answered
};

/// Whether two kept answers are answers to the same question.
bool same_question(const std::optional<AnswerSnapshot>& a, const std::optional<AnswerSnapshot>& b);

/// An answer to be kept that nobody saw: that to a document's first sentence. Errors are those of asking it.
Result<AnswerSnapshot> answer_to_keep(const Document& document, const Lexicon& lexicon);
/// The same of one whose question alone is known. Its trace stays null when stopped.
Result<AnswerSnapshot> answer_to_keep(AnswerSnapshot kept, const Lexicon& lexicon, Progress& progress);

}  // namespace headlight
