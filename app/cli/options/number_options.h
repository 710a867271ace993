// --x, --w-q, … --weights: the numbers of a small attention, each from a separate file.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "cli/options/parser.h"
#include "read/external/own_numbers.h"

namespace headlight {

/// Adds the options to a command, in a separate section and, where `topic` is given, in the help of that topic; `files`
/// receives the files that were given, by option.
void add_number_options(Parser& command, std::map<std::string, std::string>& files, const std::string& topic = "");

/// The first of them that was given; empty: none.
std::string given_numbers(const Parser& command);

/// The tables of all that were given. Errors name the file.
Result<OwnNumbers> read_number_options(const Parser& command, const std::map<std::string, std::string>& files);

}  // namespace headlight
