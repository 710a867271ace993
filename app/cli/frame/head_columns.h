// The columns of the table of `headlight heads`.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/frame/head_table.h"

namespace headlight {

struct HeadColumn {
  std::string name;
  std::function<std::optional<float>(const HeadRow&)> value;
  bool always = false;  // a column of scripts' tables where no head has it, too
};

/// Those that some head has, and, of `scripts`, those that are always there.
std::vector<HeadColumn> head_columns(const HeadTable& table, bool scripts);

/// The head below that has written most of what the head reads, and what of it: `0.3:k`, for people `k of L0·H3`; empty
/// where there is none.
std::string composes_with(const HeadRow& row, bool for_people = false);

/// Whether some head has one.
bool composes(const HeadTable& table);

}  // namespace headlight
