#include "write/number.h"

#include <charconv>
#include <cmath>

namespace headlight {

bool append_number(std::string& text, float value) {
  if (!std::isfinite(value)) return false;
  char digits[32];
  char* end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  // The shortest text of a float may lie so near the middle between two floats that a reader who rounds to a double
  // first ends at the other one (7.038531e-26 does); the text of the value as a double cannot.
  double read = 0;
  std::from_chars(digits, end, read);
  if (static_cast<float>(read) != value)
    end = std::to_chars(digits, digits + sizeof digits, static_cast<double>(value)).ptr;
  text.append(digits, end);
  return true;
}

}  // namespace headlight
