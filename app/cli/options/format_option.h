// --format of commands that print text or JSON.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace headlight {

inline void add_format(CLI::App& command, std::string& format, const char* help = "text (default) or json") {
  command.add_option("--format", format, help)->check(CLI::IsMember({"text", "json"}));
}

}  // namespace headlight
