// From options to requests, for the command line and the C interface alike.
#pragma once

#include <string>
#include <vector>

#include "question/document.h"
#include "question/question_fields.h"

namespace headlight {

/// What is wrong with the word behind an option of this kind; empty: nothing.
std::string option_fault(OptionKind kind, const std::string& word);

/// The options of a question about an open model, and the words behind them, as a command line has them: `--text`,
/// `the cat sat`, `--off`, `3.1,2.0`. Nothing is read from standard input. Errors: another option, a value that is
/// missing or no number, an option that does not go with another.
Result<GivenOptions> given_options(const std::vector<std::string>& words,
                                   const QuestionFields& fields = question_fields());

/// What else decides how options are taken.
struct TakingOptions {
  bool chooses_model = false;  // by the words of a new text (choose_model), among those `seen` and what is on disk
  bool empties_target =
      false;  // the target that a document begins with, though the text is the one that it begins with
  std::vector<const Document*> seen = {};
};

/// Takes the texts, masks and edits that were given into the document of a model.
Status take_question(Document& document, const GivenOptions& given, const TakingOptions& how,
                     const QuestionFields& fields = question_fields());

/// requests_of. Errors also name a weight set by hand that lies outside the sentence.
Result<std::vector<Request>> requests_asked(const Document& document, const Lexicon& lexicon);

}  // namespace headlight
