#include "read/external/page_text.h"

#include <nlohmann/json.hpp>

#include "base/file.h"

namespace headlight {

bool names_page(const std::filesystem::path& path) { return path.extension() == ".html"; }

Result<std::string> data_of_page(std::string_view where, std::string_view html) {
  // As the writer spells it; a browser's "save page" may write the attributes in another order.
  const std::size_t id = html.find("id=\"headlight-data\"");
  const std::size_t begin = id == std::string_view::npos ? id : html.find('>', id);
  if (begin == std::string_view::npos)
    return bad_input(where, "headlight-data", "a page that headlight page wrote", "no such element",
                     ErrorCode::unknown_kind);
  const std::size_t end = html.find("</script>", begin);
  if (end == std::string_view::npos)
    return bad_input(where, "headlight-data", "its end, </script>", "the end of the file: the page was cut off",
                     ErrorCode::file_too_short);
  return std::string(html.substr(begin + 1, end - begin - 1));
}

ParsedJson read_page(const std::filesystem::path& path, std::size_t limit) {
  const auto html = read_file(path, limit);
  if (!html) return ParsedJson(html.error());
  const auto text = data_of_page(path.string(), *html);
  if (!text) return ParsedJson(text.error());
  return parse_json(path.string(), *text);
}

}  // namespace headlight
