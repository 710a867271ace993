// --x, --w-q, … --weights: the numbers of a small attention, each from a file of its own.
#pragma once

#include <map>
#include <string>

#include <CLI/CLI.hpp>

#include "base/result.h"
#include "read/external/own_numbers.h"

namespace headlight {

/// Adds the options to a command, in a group of their own; `files` receives what was given, by option.
void add_number_options(CLI::App& command, std::map<std::string, std::string>& files);

/// The first of them that was given; empty: none.
std::string given_numbers(const CLI::App& command);

/// The tables of all that were given. Errors name the file.
Result<OwnNumbers> read_number_options(const CLI::App& command, const std::map<std::string, std::string>& files);

}  // namespace headlight
