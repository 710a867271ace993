// An answer with the document that asked for it: A of View::compare.
#pragma once

#include <memory>
#include <optional>

#include "math/forward.h"
#include "question/document.h"

namespace headlight {

/// An answer that later answers are compared with, and its question.
struct AnswerSnapshot {
  std::shared_ptr<const Trace> trace;  // null: the question came from a session, and the answer is being computed
  Document document;
  std::size_t sentence = 0;        // of the document's
  std::size_t prefix = 0;          // as ViewState::prefix
  std::optional<Index> step = {};  // of the training whose model answered
};

/// Whether two snapshots have the same question; their traces may differ.
bool same_question(const std::optional<AnswerSnapshot>& a, const std::optional<AnswerSnapshot>& b);

/// Computes the answer to the document's first sentence. Errors are those of requests_of and forward.
Result<AnswerSnapshot> answer_to_keep(const Document& document, const Lexicon& lexicon);
/// Computes the trace of a snapshot that has its question alone. The trace stays null when stopped.
Result<AnswerSnapshot> answer_to_keep(AnswerSnapshot kept, const Lexicon& lexicon, Progress& progress = unwatched());

}  // namespace headlight
