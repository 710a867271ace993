// The outline fonts of this machine, as the system lists them: fontconfig (posix/font_list.cpp), or the folders of
// Windows (windows/font_list.cpp).
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace headlight {

struct ListedFont {
  std::filesystem::path file;
  int index = 0;         // of the face within the file
  bool chinese = false;  // serves Chinese; where that is not known before the file is read, true
  /// False where the font certainly lacks the character; null where the file must be read for that.
  std::function<bool(char32_t)> may_have;
};

struct FontList {
  std::vector<ListedFont> fonts;  // in the order in which text should use them
  std::optional<ListedFont> monospaced;
  std::optional<ListedFont> of_family;  // by its name; nothing where there is none
};

/// Of English text, where one is there: a font for Chinese has its quotation marks, dots and ellipses as wide as
/// ideographs.
inline constexpr const char* kLatinFamilies = "Liberation Sans,Arial,Arimo,Noto Sans,DejaVu Sans Condensed,DejaVu Sans";

/// `family`: a name, or several with commas between them, of which the first that is there counts. An Error names what
/// to install.
Result<FontList> listed_fonts(const std::string& family);
/// The Error of a machine without a font for Chinese.
Error no_chinese_font();

}  // namespace headlight
