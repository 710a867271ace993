#include "gui/question/pair_words.h"

namespace headlight {

std::string all_pair_words() {
  std::string all;
  const auto add = [&](const Words& words) { all.append(words.en).append(words.zh); };
  for (const Words* words : {&kSecondHint, &kTipSecond, &kTypeSecond, &kTakeSecondAway, &kShowPairPart}) add(*words);
  for (const PairWords& part : kPairWords)
    for (const Words* words : {&part.name, &part.done, &part.tip}) add(*words);
  return all;
}

}  // namespace headlight
