#include "read/external/page_text.h"

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "read/external/page_attention.h"

namespace headlight {
namespace {

/// The contents of the elements of packed numbers, in the order of the file.
std::vector<std::string_view> texts_beside(std::string_view html) {
  constexpr std::string_view kBegin = "<script type=\"text/plain\">", kEnd = "</script>";
  std::vector<std::string_view> texts;
  for (std::size_t at = html.find(kBegin); at != html.npos; at = html.find(kBegin, at)) {
    at += kBegin.size();
    texts.push_back(html.substr(at, html.find(kEnd, at) - at));
  }
  return texts;
}

/// Each text once in place of its position; another number stays, and is no text where numbers are read.
void put_texts(nlohmann::json& answer, std::vector<std::string_view>& texts) {
  if (!answer.is_object() || !answer["stacks"].is_array()) return;
  for (nlohmann::json& stack : answer["stacks"])
    for (const char* field : kPageNumberFields) {
      const auto list = stack.is_object() ? stack.find(field) : stack.end();
      if (list == stack.end() || !list->is_array()) continue;
      for (nlohmann::json& item : *list) {
        const auto at = item.is_number_unsigned() ? item.get<std::size_t>() : texts.size();
        if (at < texts.size() && !texts[at].empty()) item = std::exchange(texts[at], {});
      }
    }
}

}  // namespace

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
  auto page = parse_json(path.string(), *text);
  if (!page) return page;
  auto texts = texts_beside(*html);
  put_texts(*page, texts);
  if (page->is_object() && page->contains("compare")) put_texts((*page)["compare"], texts);
  return page;
}

}  // namespace headlight
