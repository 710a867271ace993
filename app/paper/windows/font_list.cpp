#include "paper/font_list.h"

#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/folders.h"
#include "base/utf8.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

/// Files in the order in which text should use them: Chinese and Latin first, then what adds characters.
constexpr std::string_view kText =
    "NotoSansCJK-Regular.ttc SourceHanSansSC-Regular.otf wqy-microhei.ttc msyh.ttc msyh.ttf simhei.ttf Deng.ttf "
    "simsun.ttc segoeui.ttf seguisym.ttf cambria.ttc malgun.ttf YuGothR.ttc meiryo.ttc msjh.ttc Nirmala.ttc "
    "Nirmala.ttf LeelawUI.ttf ebrima.ttf gadugi.ttf arial.ttf tahoma.ttf DejaVuSans.ttf simsunb.ttf";
constexpr std::string_view kMonospaced = "CascadiaMono.ttf consola.ttf DejaVuSansMono.ttf cour.ttf";

/// In the folder of all users, or that of this one.
std::optional<ListedFont> font_named(std::string_view name) {
  for (const auto& [variable, below] : {std::pair("WINDIR", "Fonts"), {"LOCALAPPDATA", "Microsoft/Windows/Fonts"}})
    if (const char* folder = std::getenv(variable); folder && is_regular(fs::path(folder) / below / name))
      return ListedFont{.file = fs::path(folder) / below / name, .chinese = true, .may_have = {}};
  return std::nullopt;
}

}  // namespace

Result<FontList> listed_fonts(const std::string& family) {
  FontList found;
  for (const std::string_view name : split_at(' ', kText))
    if (auto font = font_named(name)) found.fonts.push_back(*std::move(font));
  for (const std::string_view name : split_at(' ', kMonospaced))
    if (!found.monospaced) found.monospaced = font_named(name);
  for (const std::string_view name : split_at(',', family))
    for (const char* ending : {".ttf", ".ttc"})
      if (!name.empty() && !found.of_family) found.of_family = font_named(std::string(name) + ending);
  return found;
}

Error no_chinese_font() {
  return bad_input("fonts", "", "a font with Chinese in the folder of fonts, as Microsoft YaHei (msyh.ttc)", "none");
}

}  // namespace headlight
