#include "cli/options/against_option.h"

namespace headlight {

void add_against(CLI::App& command, std::optional<std::string>& against) {
  command
      .add_option(
          "--against", against,
          "Of --view compare: how A is asked, in one string, --against '--text \"a b c\" --mask causal'; what is "
          "not said there is the default. Without it: the same question without edits, where there are any")
      ->type_name("'[SOURCE] [REQUEST]'");
}

Result<Document> question_of(const std::string& against) {
  CLI::App words("--against");
  words.set_help_flag();
  const RequestOptions request(words);
  try {
    words.parse(against);
  } catch (const CLI::ParseError& error) { return bad_input("--against", "", "[SOURCE] [REQUEST]", error.what()); }
  auto start = request.start();
  if (!start) return Error{"--against: " + start.error().message};
  return std::move(start->session.document);
}

Result<AnswerSnapshot> answer_of(const std::string& against, const Lexicon& lexicon) {
  const auto question = question_of(against);
  if (!question) return question.error();
  return answer_to_keep(*question, lexicon);
}

}  // namespace headlight
