// --format of commands that print: text, unless another is asked for.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace headlight {

inline void add_format(CLI::App& command, std::string& format, const char* help = "text (default) or json",
                       const std::vector<std::string>& formats = {"text", "json"}) {
  command.add_option("--format", format, help)->check(CLI::IsMember(formats));
}

/// Of commands whose answer is numbers.
inline void add_number_format(CLI::App& command, std::string& format,
                              const char* help = "text (default), csv, json or npz") {
  add_format(command, format, help, {"text", "csv", "json", "npz"});
}

}  // namespace headlight
