#include "cli/options/against_option.h"

#include "base/folders.h"
#include "models/model_sources.h"
#include "read/gguf/gguf_file.h"

namespace headlight {
namespace {

/// Whether SOURCE is a model, which comes without words.
bool stands_for_model(const std::string& source) {
  const auto path = source.empty() ? std::filesystem::path() : path_of_source(source);
  return path && (is_folder(*path) || is_gguf(*path));
}

/// The options that ask the words of a question.
Result<std::vector<std::string>> options_of_words(const Document& document) {
  OptionWords all;
  for (const QuestionField& field : question_fields())
    if (field.part == FieldPart::text && field.put) field.put(document, all);
  if (all.refused) return *all.refused;
  return std::move(all.words);
}

bool asks_words(const Parser& words) {
  return std::ranges::any_of(question_fields(), [&](const QuestionField& field) {
    return field.part == FieldPart::text &&
           std::ranges::any_of(field.options, [&](const FieldOption& option) { return words.given(option.name); });
  });
}

}  // namespace

void add_against(Parser& command, std::optional<std::string>& against) {
  command.option(
      "--against", against,
      "Of --view compare: how A is asked, in one string, --against '--text \"a b c\" --mask causal'; without a SOURCE "
      "of the same model, and a model alone about the same words. Without it: the same question without edits, where "
      "there are any (a mask is none). Of --view patch: the corrupt question; without it the clean one is that without "
      "edits",
      "'[SOURCE] [REQUEST]'");
}

Result<Document> question_of(const std::string& against, const std::string& option, const std::string& source,
                             const Document* first) {
  Parser words(option);
  const RequestOptions request(words);
  Status parsed = words.parse_line(against);
  if (parsed && !source.empty() && !words.given("SOURCE")) {
    const char* quote = source.find('\'') == source.npos ? "'" : "\"";
    parsed = words.parse_line(quote + source + quote + " " + against);
  } else if (parsed && first && stands_for_model(request.source()) && !asks_words(words)) {
    std::vector<std::string> all = words.given_words({});
    all.erase(all.begin());  // the name of the command
    const auto more = TRY(options_of_words(*first));
    all.insert(all.end(), more.begin(), more.end());
    if (const auto again = words.parse(std::move(all)); !again) parsed = again.error();
  }
  if (!parsed) return bad_input(option, "", "[SOURCE] [REQUEST]", parsed.error().message());
  auto start = request.start();
  if (!start) return inside(option, start.error());
  return std::move(start->session.document);
}

Result<AnswerSnapshot> answer_of(const std::string& against, const Asked& first, const std::string& option) {
  const auto question = TRY(question_of(against, option, first.source, &first.document()));
  return answer_to_keep(question, first.lexicon);
}

}  // namespace headlight
