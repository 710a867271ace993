// The largest weight of a head.
#include "base/formatted.h"
#include "cli/frame/question_command.h"
#include "math/attention.h"

namespace headlight {
namespace {

Result<Answer> largest(const Question& question) {
  const Trace& trace = *question.trace;
  const float most = attention_rows(trace, question.head, 0, trace.queries(question.head.stack)).maxCoeff();
  if (question.wants("json")) return Answer(json_object({{"largest", most}}));
  return Answer(formatted("%.3f\n", static_cast<double>(most)));
}

ParsedCommand add_largest(Parser& parser, const Frontend&) {
  QuestionCommand command(parser);
  command.take_head();
  command.take_format({"text", "json"}, "text (default) or json");
  return command.answers(SentencesAsked::each, largest);
}

}  // namespace

const NamedCommand kLargest{"largest", "The largest weight of a head", "headlight largest --head 1.6", add_largest};

}  // namespace headlight
