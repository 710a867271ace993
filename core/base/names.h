// Enumerations whose values have names in files and on the command line: an array of them in the enumeration's order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace headlight {

enum class Language { en, zh };

/// The same in both languages; of names and numbers alike.
struct Bilingual {
  std::string en = {}, zh = {};

  Bilingual() = default;
  Bilingual(std::string same) : en(same), zh(std::move(same)) {}
  Bilingual(std::string_view same) : Bilingual(std::string(same)) {}
  Bilingual(const char* same) : Bilingual(std::string(same)) {}
  Bilingual(std::string english, std::string chinese) : en(std::move(english)), zh(std::move(chinese)) {}
  bool empty() const { return en.empty(); }
  const std::string& in(Language language) const { return language == Language::zh ? zh : en; }
  friend bool operator==(const Bilingual&, const Bilingual&) = default;
};

/// The same in both languages. Those that a person reads are in tables (cmake/words.cmake).
struct Words {
  const char* en = "";
  const char* zh = "";
};

constexpr const char* words(Language language, const Words& words) {
  return language == Language::zh ? words.zh : words.en;
}

using Names = std::span<const std::string_view>;

/// The name of this value.
template <class Enum>
constexpr std::string_view name_in(Names names, Enum value) {
  return names[static_cast<std::size_t>(value)];
}

/// The value of this name; nothing where none has it.
template <class Enum>
std::optional<Enum> value_named(Names names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

/// All of them, for a message: "post, pre".
inline std::string listed(Names names, std::string_view between = ", ") {
  std::string list;
  for (const std::string_view name : names) list.append(list.empty() ? "" : between).append(name);
  return list;
}

}  // namespace headlight
