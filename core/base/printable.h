// Text from outside, made printable in a one-line message.
#pragma once

#include <string>
#include <string_view>

namespace headlight {

/// A name from a file for a one-line message: control characters and invalid UTF-8 become `?`, long names are cut.
std::string printable(std::string_view name);

}  // namespace headlight
