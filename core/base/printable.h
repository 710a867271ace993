// Text from outside, made fit for a one-line message.
#pragma once

#include <string>
#include <string_view>

namespace headlight {

/// A name out of a file fit for a one-line message: control characters and broken UTF-8 become `?`, long ones are cut.
std::string printable(std::string_view name);

}  // namespace headlight
