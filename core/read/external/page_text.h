// The data of an HTML page that Headlight wrote (docs/page.md): JSON in a separate script element.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/index.h"
#include "base/result.h"
#include "read/json/json_document.h"

namespace headlight {

inline constexpr std::string_view kPageSchema = "headlight.page/1";

/// Whether the file is such a page by its name, which ends in .html.
bool names_page(const std::filesystem::path& path);

/// The JSON between the element's tags. `where` is the file. Errors: no such element; the file ends within it.
Result<std::string> data_of_page(std::string_view where, std::string_view html);

/// The same of a file of at most `limit` bytes, parsed, with packed numbers in the place of their positions. Errors:
/// also those of read_file() and parse_json().
ParsedJson read_page(const std::filesystem::path& path, std::size_t limit = within_memory(std::uint64_t{1} << 32));

}  // namespace headlight
