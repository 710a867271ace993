// Messages that may hold text from outside, for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace headlight {

/// A whole message in one line that a terminal shows and does not obey, as printable() makes names; cut behind 4,000
/// bytes.
std::string printable_message(std::string_view message);

}  // namespace headlight
