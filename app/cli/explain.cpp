#include "cli/explain_text.h"
#include "cli/options/against_option.h"
#include "cli/question_command.h"

namespace headlight {
namespace {

/// `before`: the answer to what --against asks; null where it is not given.
Answer explained(const Question& question, const Trace* before) {
  const std::vector<Step> steps = steps_of(*question.trace, question.head, question.cell);
  if (question.wants("json")) return explain_json(*question.trace, steps, before);
  return explain_text(*question.trace, question.head, question.cell, steps, before);
}

/// One sentence beside what --against asks.
Result<Answer> compared(Question question, const std::string& against, const QuestionCommand& command) {
  const std::vector<Request>& requests = question.asked.requests;
  if (requests.size() > 1)
    return bad_input("--against", "", "one sentence to compare", std::to_string(requests.size()));
  const auto before = answer_of(against, question.asked.lexicon);
  if (!before) return before.error();
  const auto trace = command.trace_of(requests.front(), question.warnings);
  if (!trace) return trace.error();
  question.trace = *trace;
  return explained(question, before->trace.get());
}

ParsedCommand add_explain(Parser& parser, const Frontend&) {
  const QuestionCommand command(parser);
  command.take_cell();
  const auto against = std::make_shared<std::optional<std::string>>();
  parser.option("--against", *against,
                "Another question, in one string, --against '--text \"a b c\"': of each matrix of the layer "
                "the rows that differ",
                "'[SOURCE] [REQUEST]'");
  command.take_format({"text", "json"}, "text (default) or json");
  return [command, against]() -> Result<int> {
    if (!*against) return command.each([](const Question& question) { return explained(question, nullptr); })();
    return command.all([&](const Question& question) { return compared(question, **against, command); })();
  };
}

}  // namespace

const NamedCommand kExplain{"explain", "Every number behind one weight, step by step", R"(
headlight explain --text 我请李雷帮我订了去北京的机票 --head 0.1 --query 7 --key 4
headlight explain --head 0.1 --query 7 --key 4 --against '--text 我请李雷帮我订了去上海的机票'
With --format json: [{"name", "shape", "value", "terms": [{"from", "value"}]}], a list a sentence; a blocked score is
the string "-inf".)",
                            add_explain};

}  // namespace headlight
