// --format of commands that print: text, unless another is asked for.
#pragma once

#include <string>
#include <vector>

#include "cli/options/parser.h"

namespace headlight {

inline void add_format(Parser& command, std::string& format, const char* help = "text (default) or json",
                       const std::vector<std::string>& formats = {"text", "json"}) {
  command.option("--format", format, help).one_of(formats);
}

/// Of commands whose answer is numbers.
inline void add_number_format(Parser& command, std::string& format,
                              const char* help = "text (default), csv, json or npz") {
  add_format(command, format, help, {"text", "csv", "json", "npz"});
}

}  // namespace headlight
