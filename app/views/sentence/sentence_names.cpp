// The names and colours of arcs, and the colours of the scene.
#include <algorithm>
#include <iterator>

#include "figure/drawing/colour.h"
#include "views/sentence/sentence_parts.h"
#include "words/relation_words.h"

namespace headlight {
namespace {

struct BriefName {
  std::string_view relation;
  Words words;
};
/// Names of which the first half is too long to stand on an arc.
constexpr BriefName kBrief[] = {
    {"nmod:poss", {"owner", "领有者"}},   {"nmod", {"noun of noun", "定语"}}, {"acl", {"clause", "定语从句"}},
    {"obl", {"beside verb", "状语"}},     {"advcl", {"clause", "状语从句"}},  {"xcomp", {"complement", "补语"}},
    {"ccomp", {"complement", "补语"}},    {"conj", {"second part", "并列"}},  {"cc", {"and / or", "并列连词"}},
    {"compound", {"compound", "复合"}},   {"flat", {"name", "名称"}},         {"iobj", {"indirect object", "间接宾语"}},
    {"case", {"preposition", "介词·的"}}, {"aux", {"auxiliary", "助词"}},     {"mark", {"clause mark", "从句标记"}},
    {"OWN", {"source", "原词"}},          {"NEXT", {"next word", "下一个词"}}};

/// Five families: the name is written wherever it fits, so colour is the second sign.
constexpr std::string_view kFamilies[] = {" nsubj SP ST ", " obj iobj VO ", " IT CO OWN NEXT ",
                                          " det nmod:poss nummod clf amod nmod acl compound flat case MN ",
                                          " aux cop mark advmod obl advcl xcomp ccomp conj cc DP TA PA "};
constexpr Rgb kLightHues[] = {
    {0x0B, 0x62, 0xC4}, {0xB3, 0x20, 0x8F}, {0x35, 0x20, 0x7A}, {0x8A, 0x85, 0}, {0x12, 0x91, 0x7A}};
constexpr Rgb kLightLetters[] = {
    {0x0B, 0x62, 0xC4}, {0xB3, 0x20, 0x8F}, {0x35, 0x20, 0x7A}, {0x71, 0x6D, 0}, {0x0E, 0x73, 0x62}};
constexpr Rgb kDarkHues[] = {
    {0x4F, 0x94, 0xFF}, {0xD9, 0x4F, 0xB4}, {0xED, 0xE6, 0xFF}, {0xCF, 0xCB, 0x3C}, {0x63, 0xE0, 0xC4}};

}  // namespace

std::string arc_name(Language language, const std::string& relation, bool reversed, bool brief) {
  constexpr std::string_view kArrow = " → ";
  const auto* const own = std::ranges::find(kBrief, relation, &BriefName::relation);
  if (own != std::end(kBrief)) return words(language, own->words);
  const std::string whole = brief_name(relation_in_words(language, relation, reversed));
  return brief ? whole.substr(0, whole.find(kArrow)) : whole;
}

Rgb relation_colour(Theme theme, const std::string& relation, bool letters) {
  const auto* const family = std::ranges::find_if(kFamilies, [&](std::string_view names) {
    return !relation.empty() && names.find(" " + relation + " ") != std::string_view::npos;
  });
  const auto at = family - std::begin(kFamilies);
  if (family == std::end(kFamilies)) return sentence_inks(theme).grey;
  return theme == Theme::dark ? kDarkHues[at] : letters ? kLightLetters[at] : kLightHues[at];
}

SentenceInks sentence_inks(Theme theme) {
  const InkColours ink = ink_colours(theme);
  if (theme == Theme::light)
    return {background_of(theme),
            ink.text,
            ink.dim,
            ink.line,
            ink.accent,
            {0xE7, 0xE7, 0xE4},
            {0x78, 0x7B, 0x7F},
            {0x85, 0x89, 0x8F},
            {0xFB, 0xEA, 0xDF},
            {0x18, 0x5C, 0xB0},
            {0x82, 0x4E, 0}};
  return {background_of(theme),
          ink.text,
          ink.dim,
          ink.line,
          ink.accent,
          {0x2C, 0x30, 0x35},
          {0x80, 0x85, 0x8C},
          {0x8A, 0x90, 0x98},
          {0x3E, 0x2A, 0x18},
          {0x7E, 0xB2, 0xFF},
          {0xF0, 0xB4, 0x40}};
}

Rgb mixed(Rgb a, Rgb b, float share) {
  const auto mix = [&](std::uint8_t from, std::uint8_t to) {
    return static_cast<std::uint8_t>(static_cast<float>(from) +
                                     share * (static_cast<float>(to) - static_cast<float>(from)) + 0.5f);
  };
  return {mix(a.r, b.r), mix(a.g, b.g), mix(a.b, b.b)};
}

}  // namespace headlight
