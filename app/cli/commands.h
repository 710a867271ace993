// The commands, one a file. Each adds itself to the program's options and leaves behind how it runs.
#pragma once

#include <functional>

#include "cli/cli.h"
#include "cli/options/parser.h"
#include "cli/options/print.h"

namespace headlight {

/// A command that was parsed: runs and gives the exit status, or the Error that goes to standard error.
using ParsedCommand = std::function<Result<int>()>;

ParsedCommand add_open(Parser& program, const Frontend& frontend);
ParsedCommand add_export(Parser& program);
ParsedCommand add_screenshot(Parser& program, const Frontend& frontend);
ParsedCommand add_tokenize(Parser& program);
ParsedCommand add_next(Parser& program);
ParsedCommand add_generate(Parser& program);
ParsedCommand add_explain(Parser& program);
ParsedCommand add_why(Parser& program);
ParsedCommand add_lens(Parser& program);
ParsedCommand add_patch(Parser& program);
ParsedCommand add_diagnose(Parser& program);
ParsedCommand add_check(Parser& program);
ParsedCommand add_train(Parser& program);
ParsedCommand add_heads(Parser& program);
ParsedCommand add_figure(Parser& program);
ParsedCommand add_page(Parser& program);
ParsedCommand add_models(Parser& program);
ParsedCommand add_code(Parser& program);
ParsedCommand add_worksheet(Parser& program);

}  // namespace headlight
