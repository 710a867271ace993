#include "cli/options/against_option.h"

#include <utility>

namespace headlight {

void add_against(CLI::App& command, std::optional<std::string>& against) {
  command
      .add_option(
          "--against", against,
          "Of --view compare: how A is asked, in one string, --against '--text \"a b c\" --mask causal'; what is "
          "not said there is the default. Without it: the same question without edits, where there are any")
      ->type_name("'[SOURCE] [REQUEST]'");
}

Result<Document> question_of(const std::string& against, const std::string& option, const std::string& source) {
  CLI::App words(option);
  words.set_help_flag();
  const RequestOptions request(words);
  try {
    words.parse(against);
    const char* quote = source.find('\'') == source.npos ? "'" : "\"";
    if (!source.empty() && words.count("SOURCE") == 0) words.parse(quote + source + quote + " " + against);
  } catch (const CLI::ParseError& error) { return bad_input(option, "", "[SOURCE] [REQUEST]", error.what()); }
  auto start = request.start();
  if (!start) return Error{option + ": " + start.error().message};
  return std::move(start->session.document);
}

Result<AnswerSnapshot> answer_of(const std::string& against, const Lexicon& lexicon, const std::string& option,
                                 const std::string& source) {
  const auto question = question_of(against, option, source);
  if (!question) return question.error();
  return answer_to_keep(*question, lexicon);
}

}  // namespace headlight
