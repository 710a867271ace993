// A float as text that reads back to the same float.
#pragma once

#include <string>

namespace headlight {

/// Room for the text of any number.
inline constexpr int kLongestNumber = 32;

/// Writes the text of append_number to `to`, which has room for kLongestNumber; gives its end. `value` must be finite.
char* put_number(float value, char* to);

/// Appends the shortest decimal text that reads back to `value`, by way of a float or of a double (as JavaScript,
/// Python and most JSON readers go). False, and nothing appended, where `value` is not finite.
bool append_number(std::string& text, float value);

}  // namespace headlight
