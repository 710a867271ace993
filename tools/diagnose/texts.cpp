#include "diagnose/texts.h"

#include <cassert>
#include <map>

#include <nlohmann/json.hpp>

namespace headlight {
namespace {

using TextRows = std::map<std::string, Bilingual, std::less<>>;

const TextRows& text_rows() {
  static const TextRows all = [] {
    TextRows rows;
    const auto document = nlohmann::json::parse(texts_json());
    for (const auto& [part, texts] : document.items())
      for (const auto& [name, row] : texts.items())
        rows.emplace(name, Bilingual(row[0].get<std::string>(), row[1].get<std::string>()));
    return rows;
  }();
  return all;
}

std::string with_parts(std::string text, const std::vector<Bilingual>& parts, std::string Bilingual::*language) {
  std::size_t at = 0;
  auto part = parts.begin();
  while ((at = text.find("{}", at)) != std::string::npos) {
    const std::string filling = part == parts.end() ? std::string() : (*part++).*language;
    text.replace(at, 2, filling);
    at += filling.size();
  }
  return text;
}

}  // namespace

Bilingual filled(const MistakeCode& code, const std::vector<Bilingual>& parts) {
  const auto row = text_rows().find(code.name);
  assert(row != text_rows().end());
  return {with_parts(row->second.en, parts, &Bilingual::en), with_parts(row->second.zh, parts, &Bilingual::zh)};
}

Bilingual joined(const std::vector<Bilingual>& list, const Bilingual& between) {
  Bilingual text;
  for (const Bilingual& one : list) {
    text.en += (&one == list.data() ? "" : between.en) + one.en;
    text.zh += (&one == list.data() ? "" : between.zh) + one.zh;
  }
  return text;
}

std::optional<MistakeCode> text_named(std::string_view name) {
  const auto row = text_rows().find(name);
  return row == text_rows().end() ? std::nullopt : std::optional(MistakeCode{row->first});
}

Bilingual translated(std::string_view english) {
  for (const MistakeCode& phrase : kPhrases)
    if (const Bilingual text = words(phrase); text.en == english) return text;
  const std::string between = words(phrases::conjunction).en;
  const std::size_t cut = english.find(between);
  if (cut == std::string_view::npos) return english;
  return joined({translated(english.substr(0, cut)), translated(english.substr(cut + between.size()))},
                words(phrases::conjunction));
}

}  // namespace headlight
