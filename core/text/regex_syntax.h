// Regular expressions of tokenizers are written for Oniguruma; this says them in ICU's words.
#pragma once

#include <string>
#include <string_view>

namespace headlight {

/// An expression that ICU (with lines ending in \n alone, and ^ and $ at every line) matches as Oniguruma matches
/// `pattern` in its Ruby syntax over Unicode: \s is White_Space; \w has no joiners, and outside sets ² ³ ¹ ¼ ½ ¾; \b
/// sees marks as part of a word; \h is a hexadecimal digit; (?m) lets a dot match \n; `x{1,3}+` repeats x{1,3}; braces
/// that count nothing are characters. What neither knows is left to ICU to refuse.
/// https://github.com/kkos/oniguruma/blob/master/doc/RE
std::string icu_expression(std::string_view pattern);

}  // namespace headlight
