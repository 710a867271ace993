// A table with a weight a line, as `headlight export --format csv` and data frames have it.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "read/array/array.h"

namespace headlight {

/// The attention of a table whose heading has `query`, `key` and `weight`, and perhaps `stack`, `layer`, `head`,
/// `query_token`, `key_token`, in capitals or not: arrays and metadata of a tensors file. Layers and heads are those
/// that it has; a cell that it lacks is 0. `notes` gets a line of what does not count from 0. None: it has another
/// heading. Errors: a cell twice, numbers that count nothing, an empty cell in place of one.
Result<std::optional<ArrayFile>> parse_tidy_table(std::string_view where, std::string_view text,
                                                  std::vector<Error>* notes = nullptr);

}  // namespace headlight
