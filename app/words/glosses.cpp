#include "words/glosses.h"

#include <algorithm>
#include <iterator>

namespace headlight {
namespace {

struct Gloss {
  std::string_view word, english;
};
constexpr Gloss kGlosses[] = {
    {"我", "I"},
    {"他", "he"},
    {"她", "she"},
    {"它", "it"},
    {"请", "ask"},
    {"李雷", "Li Lei"},
    {"韩梅梅", "Han Meimei"},
    {"帮", "help"},
    {"订了", "booked"},
    {"去", "go to"},
    {"北京", "Beijing"},
    {"上海", "Shanghai"},
    {"的", "of"},
    {"机票", "ticket"},
    {"爱", "love"},
    {"那只", "that"},
    {"那个", "that"},
    {"动物", "animal"},
    {"没有", "did not"},
    {"过", "cross"},
    {"马路", "street"},
    {"因为", "because"},
    {"太", "too"},
    {"累了", "tired"},
    {"宽了", "wide"},
    {"小猫", "kitten"},
    {"昨天", "yesterday"},
    {"在", "in"},
    {"公园", "park"},
    {"里", "inside"},
    {"追逐", "chase"},
    {"一只", "one"},
    {"蝴蝶", "butterfly"},
    {"玩得", "played"},
    {"不亦乐乎", "merrily"},
    {"结果", "so"},
    {"把", "(object)"},
    {"晚餐", "supper"},
    {"都", "all"},
    {"忘了", "forgot"},
    {"现在", "now"},
    {"饿坏了", "starving"},
    {"猫", "cat"},
    {"狗", "dog"},
    {"老鼠", "mouse"},
    {"追", "chase"},
};

}  // namespace

std::string_view gloss_of(std::string_view word) {
  const auto* const found =
      std::find_if(std::begin(kGlosses), std::end(kGlosses), [&](const Gloss& gloss) { return gloss.word == word; });
  return found == std::end(kGlosses) ? std::string_view{} : found->english;
}

}  // namespace headlight
