#include "code/program.h"

#include "cli/frame/question_command.h"
#include "cli/options/view_options.h"

namespace headlight {
namespace {

struct CodeOptions {
  CodeLook code = {};
  std::string file = {};
};

Result<Answer> answer(const Question& question, const CodeOptions& options, const QuestionCommand& command) {
  const bool to_file = !options.file.empty() && options.file != "-";
  const std::filesystem::path file = to_file ? options.file : "attention.py";
  TRY(check_program_name(file));
  std::vector<std::shared_ptr<const Trace>> answers;
  for (const Request& request : question.asked.requests) {
    answers.push_back(
        TRY(command.trace_of(request, question.warnings, answers.empty() ? nullptr : answers.back().get())));
  }
  const auto program = TRY(program_of(answers, {.head = question.head,
                                                .dialect = options.code.dialect,
                                                .block = options.code.block,
                                                .inputs_file = inputs_beside(file).filename().string()}));
  if (!to_file) return Answer(program_text(program));
  TRY(write_program(program, file));
  return Answer(Done{});
}

ParsedCommand add_code(Parser& parser, const Frontend&) {
  const QuestionCommand command(parser);
  const auto options = std::make_shared<CodeOptions>();
  command.take_head();
  add_program_options(parser, options->code);
  parser.option("-o,--output", options->file,
                "The .py file to write, its arrays beside it; default: the program on standard output, no arrays");
  return command.answers(SentencesAsked::all,
                         [options, command](const Question& question) { return answer(question, *options, command); });
}

}  // namespace

const NamedCommand kCode{"code", "The same computation as a program for NumPy or PyTorch", R"(
headlight code --layer 1 -o attention.py && python3 attention.py
headlight code --layer 1 --dialect einsum --block -o block.py
Every line names its tensor and its shape, the sentences of the batch included. The file runs with numpy
(or torch) beside the .npz of the same name, which holds its inputs and Headlight's answer, and ends by
comparing the two: it prints the largest difference, and its exit status is 1 where that is not below 2e-5
(of the output: in units of its largest number, where that is above 1).)",
                         add_code};

}  // namespace headlight
