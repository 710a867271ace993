// Text from outside, made printable in a one-line message.
#pragma once

#include <string>
#include <string_view>

namespace headlight {

/// A name from a file for a one-line message: control characters and invalid UTF-8 become `?`, long names are cut.
std::string printable(std::string_view name);

/// A whole message, which may hold such text, in one line without characters that control a terminal; cut behind 4,000
/// bytes.
std::string printable_message(std::string_view message);

}  // namespace headlight
