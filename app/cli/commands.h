// The commands, one a file. Each adds itself to the program's options and leaves behind how it runs.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/cli.h"

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
ParsedCommand add_diagnose(CLI::App& program);
ParsedCommand add_check(CLI::App& program);
ParsedCommand add_train(CLI::App& program);
ParsedCommand add_heads(CLI::App& program);
ParsedCommand add_figure(CLI::App& program);
ParsedCommand add_page(CLI::App& program);
ParsedCommand add_bench(CLI::App& program, const Frontend& frontend);

/// Puts the answer of a command on standard output; gives the exit status, or the Error of a closed pipe.
Result<int> print(std::string_view text, int status = 0);

/// A line on standard error, on which nothing of a text from outside is obeyed by the terminal.
void print_message(std::string_view message);

/// What is wrong, but keeps nothing from being done: lines on standard error.
void print_warnings(const std::vector<std::string>& warnings);

}  // namespace headlight
