// The difference between two questions, in words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/trace.h"
#include "question/document.h"
#include "question/question_fields.h"
#include "view/settings.h"

namespace headlight {

/// An answer, and what its question does not contain.
struct NamedAnswer {
  const Trace& trace;
  const Document& document;        // how it was asked: what its model is called
  std::optional<Index> step = {};  // of the training whose model answered
};

/// Two lists of equal length: entries of the same index describe the same thing, in which the answers differ.
struct DifferenceWords {
  std::vector<std::string> a, b;
};
DifferenceWords difference_words(Language language, const NamedAnswer& a, const NamedAnswer& b,
                                 const QuestionFields& fields = question_fields());

/// The edits of an answer, but for one scale of all scores.
std::vector<std::string> edit_words(Language language, const NamedAnswer& answer);

/// Those of one answer in a line: `causal · off: 1·3`.
std::string in_a_line(const std::vector<std::string>& words);

}  // namespace headlight
