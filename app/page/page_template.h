// The page without its data, joined from web/ when the program is built (cmake/join_page.cmake).
#pragma once

#include <span>
#include <string_view>

namespace headlight {

/// The parts of the file before the data and after it, to be written one after the other.
std::span<const std::string_view> page_head();
std::span<const std::string_view> page_tail();

}  // namespace headlight
