// Input that is read as it comes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/result.h"

namespace headlight {

/// Standard input line by line, each as soon as it is there, with memory for one line.
class InputLines {
 public:
  /// `limit`: the bytes of the longest line that is taken whole.
  explicit InputLines(std::size_t limit, int descriptor = 0) : limit_(limit), descriptor_(descriptor) {}

  struct Line {
    std::string text;  // without its line break; of a line that is too long its beginning
    bool is_too_long = false;
  };
  /// The next line; nothing at the end, where a last line without a line break counts. Errors: input cannot be read.
  Result<std::optional<Line>> next();

 private:
  std::size_t limit_;
  int descriptor_;
  std::string buffer_;  // read and not taken, from at_ on
  std::size_t at_ = 0;
  bool ended_ = false;
};

}  // namespace headlight
