// --against '[SOURCE] [REQUEST]': the other of two questions, in one string.
#pragma once

#include <optional>
#include <string>

#include "cli/options/request_options.h"
#include "question/answer_snapshot.h"

namespace headlight {

/// Adds the option to a command.
void add_against(Parser& command, std::optional<std::string>& against);

/// The question of such a string, read like the words behind the command; '' is the default question. `source` is used
/// where the string has no SOURCE, the words of `first` where it has a model as SOURCE and no words. Errors name the
/// option: words that cannot be read, and what is wrong with the question.
Result<Document> question_of(const std::string& against, const std::string& option = "--against",
                             const std::string& source = "", const Document* first = nullptr);

/// The answer to that question, which has the SOURCE of the first one where it has none.
Result<AnswerSnapshot> answer_of(const std::string& against, const Asked& first,
                                 const std::string& option = "--against");

}  // namespace headlight
