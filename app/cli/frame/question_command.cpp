#include "cli/frame/question_command.h"

#include "base/result.h"
#include "cli/frame/study.h"
#include "cli/frame/tool_commands.h"
#include "math/forward.h"

namespace headlight {

struct QuestionCommand::State {
  explicit State(const Parser& command) : parser(command), request(parser) {}

  Parser parser;
  RequestOptions request;
  std::optional<HeadOption> head = {};
  std::optional<CellRef> cell = {};
  const char* instead_of_cell = nullptr;  // an option
  std::string format = {};
};

QuestionCommand::QuestionCommand(const Parser& parser) : state_(std::make_shared<State>(parser)) {}

const RequestOptions& QuestionCommand::request() const { return state_->request; }
const Parser& QuestionCommand::parser() const { return state_->parser; }

void QuestionCommand::take_head(bool required) const { state_->head.emplace(state_->parser, required); }

void QuestionCommand::take_cell(const char* instead) const {
  take_head(true);
  CellRef& cell = state_->cell.emplace();
  state_->parser.section("The cell");
  for (Option option : {state_->parser.option("--query", cell.query, "The token that attends, from 0", "N"),
                        state_->parser.option("--key", cell.key, "The token that it attends to, from 0", "N")})
    if (!instead) option.required();
  state_->instead_of_cell = instead;
  state_->parser.section();
}

void QuestionCommand::take_format(const std::vector<std::string>& formats, const char* help) const {
  state_->format = formats.front();
  state_->parser.option("--format", state_->format, help).one_of(formats);
}

const std::string& QuestionCommand::format() const { return state_->format; }

ParsedCommand QuestionCommand::answers(SentencesAsked of, const AnswerQuestion& answer,
                                       const CheckOptions& check) const {
  return [self = *this, of, answer, check]() -> Result<int> {
    if (check) TRY(check());
    const Parser& given = self.parser();
    if (const char* instead = self.state_->instead_of_cell; instead && !given.given(instead))
      for (const char* name : {"--query", "--key"})
        if (!given.given(name)) return bad_input(name, "", std::string("a token, or ") + instead, "none");
    return self.run(of, answer);
  };
}

CellRef QuestionCommand::cell() const { return state_->cell.value_or(CellRef{}); }

Result<HeadRef> QuestionCommand::head() const {
  if (!state_->head) return HeadRef{};
  const auto parts = TRY(state_->head->parts());
  return parts.ref();
}

Status QuestionCommand::check_answer(const Trace& trace) const {
  const auto head = TRY(this->head());
  if (state_->head) TRY(check_head_options(trace, head));
  if (!state_->cell) return Done{};
  const Mask& mask = trace.mask(head.stack, head.layer);
  TRY(check_within("--query", "", state_->cell->query, mask.queries()));
  return check_within("--key", "", state_->cell->key, mask.keys());
}

Result<std::shared_ptr<const Trace>> QuestionCommand::trace_of(const Request& request, std::vector<Error>& warnings,
                                                               const Trace* known) const {
  const auto head = TRY(this->head());
  if (state_->head) TRY(check_stack_option(request, head));
  auto trace = forward(request, unwatched(), known, state_->request.threads());
  if (!trace) return trace;
  TRY(check_answer(**trace));
  warnings.insert(warnings.end(), (*trace)->warnings.begin(), (*trace)->warnings.end());
  return trace;
}

Result<int> QuestionCommand::run(SentencesAsked of, const AnswerQuestion& answer) const {
  const auto head = TRY(this->head());
  const auto asked = TRY(state_->request.ask());
  if (of == SentencesAsked::one && asked.requests.size() != 1)
    return bad_input(state_->parser.name(), "sentences", "one", std::to_string(asked.requests.size()));
  std::vector<Error> warnings = asked.start.warnings;
  Question question{asked,   {}, head, state_->cell.value_or(CellRef{}), state_->format, state_->request.threads(),
                    warnings};
  std::vector<Answer> answers;
  for (const Request& request : asked.requests) {
    if (of != SentencesAsked::all) question.trace = TRY(trace_of(request, warnings));
    answers.push_back(TRY(answer(question)));
    if (of == SentencesAsked::all) break;
  }
  TRY(print_answers(answers));
  print_warnings(warnings);
  return 0;
}

const StudyWays* study_ways() { return of_tools(&ToolCommands::study); }

}  // namespace headlight
