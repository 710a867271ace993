#include "cli/options/against_option.h"

namespace headlight {

void add_against(Parser& command, std::optional<std::string>& against) {
  command.option(
      "--against", against,
      "Of --view compare: how A is asked, in one string, --against '--text \"a b c\" --mask causal'; without a SOURCE "
      "of the same model, else by default. Without it: the same question without edits, where there are any (a mask is "
      "none). Of --view patch: the corrupt question; without it the clean one is that without edits",
      "'[SOURCE] [REQUEST]'");
}

Result<Document> question_of(const std::string& against, const std::string& option, const std::string& source) {
  Parser words(option);
  const RequestOptions request(words);
  Status parsed = words.parse_line(against);
  if (parsed && !source.empty() && !words.given("SOURCE")) {
    const char* quote = source.find('\'') == source.npos ? "'" : "\"";
    parsed = words.parse_line(quote + source + quote + " " + against);
  }
  if (!parsed) return bad_input(option, "", "[SOURCE] [REQUEST]", parsed.error().message());
  auto start = request.start();
  if (!start) return inside(option, start.error());
  return std::move(start->session.document);
}

Result<AnswerSnapshot> answer_of(const std::string& against, const Asked& first, const std::string& option) {
  const auto question = TRY(question_of(against, option, first.source));
  return answer_to_keep(question, first.lexicon);
}

}  // namespace headlight
