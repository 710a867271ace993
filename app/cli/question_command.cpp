#include "cli/question_command.h"

#include <utility>

#include "base/within.h"
#include "math/forward.h"

namespace headlight {

struct QuestionCommand::State {
  explicit State(const Parser& command) : parser(command), request(parser) {}

  Parser parser;
  RequestOptions request;
  std::optional<HeadOption> head = {};
  std::optional<CellRef> cell = {};
  std::string format = {};
};

QuestionCommand::QuestionCommand(const Parser& parser) : state_(std::make_shared<State>(parser)) {}

const RequestOptions& QuestionCommand::request() const { return state_->request; }
const Parser& QuestionCommand::parser() const { return state_->parser; }

void QuestionCommand::take_head(bool required) const { state_->head.emplace(state_->parser, required); }

void QuestionCommand::take_cell() const {
  take_head(true);
  CellRef& cell = state_->cell.emplace();
  state_->parser.section("The cell");
  state_->parser.option("--query", cell.query, "The token that attends, from 0", "N").required();
  state_->parser.option("--key", cell.key, "The token that it attends to, from 0", "N").required();
  state_->parser.section();
}

void QuestionCommand::take_format(const std::vector<std::string>& formats, const char* help) const {
  state_->format = formats.front();
  state_->parser.option("--format", state_->format, help).one_of(formats);
}

const std::string& QuestionCommand::format() const { return state_->format; }

ParsedCommand QuestionCommand::each(const AnswerQuestion& answer, const CheckOptions& check) const {
  return running(answer, check, Sentences::each);
}
ParsedCommand QuestionCommand::one(const AnswerQuestion& answer, const CheckOptions& check) const {
  return running(answer, check, Sentences::one);
}
ParsedCommand QuestionCommand::all(const AnswerQuestion& answer, const CheckOptions& check) const {
  return running(answer, check, Sentences::all);
}

ParsedCommand QuestionCommand::running(const AnswerQuestion& answer, const CheckOptions& check,
                                       Sentences sentences) const {
  return [self = *this, answer, check, sentences]() -> Result<int> {
    if (check)
      if (const Status valid = check(); !valid) return valid.error();
    return self.run(answer, sentences);
  };
}

CellRef QuestionCommand::cell() const { return state_->cell.value_or(CellRef{}); }

Result<HeadRef> QuestionCommand::head() const {
  if (!state_->head) return HeadRef{};
  const auto parts = state_->head->parts();
  if (!parts) return parts.error();
  return parts->ref();
}

Status QuestionCommand::check_answer(const Trace& trace) const {
  const auto head = this->head();
  if (!head) return head.error();
  if (state_->head)
    if (const Status valid = check_head_options(trace, *head); !valid) return valid;
  if (!state_->cell) return Done{};
  const Mask& mask = trace.mask(head->stack, head->layer);
  if (const Status valid = check_within("--query", "", state_->cell->query, mask.queries()); !valid) return valid;
  return check_within("--key", "", state_->cell->key, mask.keys());
}

Result<std::shared_ptr<const Trace>> QuestionCommand::trace_of(const Request& request, std::vector<Error>& warnings,
                                                               const Trace* known) const {
  const auto head = this->head();
  if (!head) return head.error();
  if (state_->head)
    if (const Status valid = check_stack_option(request, *head); !valid) return valid.error();
  Progress progress;
  auto trace = forward(request, progress, known, state_->request.threads());
  if (!trace) return trace;
  if (const Status valid = check_answer(**trace); !valid) return valid.error();
  warnings.insert(warnings.end(), (*trace)->warnings.begin(), (*trace)->warnings.end());
  return trace;
}

Result<int> QuestionCommand::run(const AnswerQuestion& answer, Sentences sentences) const {
  const auto head = this->head();
  if (!head) return head.error();
  const auto asked = state_->request.ask();
  if (!asked) return asked.error();
  if (sentences == Sentences::one && asked->requests.size() != 1)
    return bad_input(state_->parser.name(), "sentences", "one", std::to_string(asked->requests.size()));
  std::vector<Error> warnings = asked->start.warnings;
  Question question{*asked,  {}, *head, state_->cell.value_or(CellRef{}), state_->format, state_->request.threads(),
                    warnings};
  std::vector<Answer> answers;
  for (const Request& request : asked->requests) {
    if (sentences != Sentences::all) {
      auto trace = trace_of(request, warnings);
      if (!trace) return trace.error();
      question.trace = *std::move(trace);
    }
    auto answered = answer(question);
    if (!answered) return answered.error();
    answers.push_back(*std::move(answered));
    if (sentences == Sentences::all) break;
  }
  if (const Status printed = print_answers(answers); !printed) return printed.error();
  print_warnings(warnings);
  return 0;
}

}  // namespace headlight
