#include <filesystem>

#include "cli/commands.h"
#include "cli/options/head_option.h"
#include "cli/options/request_options.h"
#include "cli/options/view_options.h"
#include "code/program.h"
#include "math/forward.h"

namespace headlight {
namespace {

struct CodeArguments {
  explicit CodeArguments(Parser& command) : request(command), head(command) {}
  RequestOptions request;
  HeadOption head;
  CodeLook code;
  std::string file;
};

/// The answers to all sentences of the batch.
Result<std::vector<std::shared_ptr<const Trace>>> answers_of(const CodeArguments& options, const Asked& asked,
                                                             const HeadRef& head) {
  std::vector<std::shared_ptr<const Trace>> answers;
  for (const Request& request : asked.requests) {
    if (const auto valid = check_stack_option(request, head); !valid) return valid.error();
    Progress progress;
    auto trace =
        forward(request, progress, answers.empty() ? nullptr : answers.back().get(), options.request.threads());
    if (!trace) return trace.error();
    print_warnings((*trace)->warnings);
    answers.push_back(std::move(*trace));
  }
  if (const auto valid = check_head_options(*answers.front(), head); !valid) return valid.error();
  return answers;
}

Result<int> run_code(const CodeArguments& options) {
  const auto asked = options.request.ask();
  if (!asked) return asked.error();
  const auto parts = options.head.parts();
  if (!parts) return parts.error();
  const bool to_file = !options.file.empty() && options.file != "-";
  const std::filesystem::path file = to_file ? options.file : "attention.py";
  if (const auto named = check_program_name(file); !named) return named.error();
  const ProgramOptions wanted{.head = parts->ref(),
                              .dialect = options.code.dialect,
                              .block = options.code.block,
                              .inputs_file = inputs_beside(file).filename().string()};
  print_warnings(asked->start.warnings);
  const auto answers = answers_of(options, *asked, wanted.head);
  if (!answers) return answers.error();
  const auto program = program_of(*answers, wanted);
  if (!program) return program.error();
  if (!to_file) return print(program_text(*program));
  if (const auto written = write_program(*program, file); !written) return written.error();
  return 0;
}

}  // namespace

ParsedCommand add_code(Parser& program) {
  Parser command = program.command("code", "The same computation as a program for NumPy or PyTorch");
  command.footer(
      "headlight code --layer 1 -o attention.py && python3 attention.py\n"
      "headlight code --layer 1 --dialect einsum --block -o block.py\n"
      "Every line names its tensor and says its shape, the sentences of the batch included. The file runs with numpy\n"
      "(or torch) beside the .npz of the same name, which holds its inputs and Headlight's answer, and ends by\n"
      "comparing the two: it prints the largest difference, and its exit status is 1 where that is not below 2e-5\n"
      "(of the output: in units of its largest number, where that is above 1).");
  auto options = std::make_shared<CodeArguments>(command);
  add_program_options(command, options->code);
  command.option("-o,--output", options->file,
                 "The .py file to write, its arrays beside it; default: the program on standard output, no arrays");
  return [options] { return run_code(*options); };
}

}  // namespace headlight
