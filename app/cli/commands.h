// The commands, one a file. Each adds itself to the program's options and leaves behind how it runs.
#pragma once

#include <functional>

#include <CLI/CLI.hpp>

#include "cli/cli.h"
#include "cli/options/print.h"

namespace headlight {

/// A command that was parsed: runs and gives the exit status, or the Error that goes to standard error.
using ParsedCommand = std::function<Result<int>()>;

ParsedCommand add_open(CLI::App& program, const Frontend& frontend);
ParsedCommand add_export(CLI::App& program);
ParsedCommand add_screenshot(CLI::App& program, const Frontend& frontend);
ParsedCommand add_tokenize(CLI::App& program);
ParsedCommand add_next(CLI::App& program);
ParsedCommand add_generate(CLI::App& program);
ParsedCommand add_explain(CLI::App& program);
ParsedCommand add_why(CLI::App& program);
ParsedCommand add_lens(CLI::App& program);
ParsedCommand add_patch(CLI::App& program);
ParsedCommand add_diagnose(CLI::App& program);
ParsedCommand add_check(CLI::App& program);
ParsedCommand add_train(CLI::App& program);
ParsedCommand add_heads(CLI::App& program);
ParsedCommand add_figure(CLI::App& program);
ParsedCommand add_page(CLI::App& program);
ParsedCommand add_models(CLI::App& program);
ParsedCommand add_code(CLI::App& program);
ParsedCommand add_worksheet(CLI::App& program);

}  // namespace headlight
