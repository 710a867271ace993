#include "gui/compare/compare_words.h"

#include "figure/difference_words.h"

namespace headlight {

std::string all_compare_words() {
  std::string all = "+−→";
  for (const Words& words :
       {kViewCompare,   kTipViewCompare, kKeepAsA,          kTipKeepAsA,        kSwapAB,           kTipSwapAB,
        kDropA,         kTipDropA,       kNothingKept,      kComputingA,        kHowToCompare,     kSameAsA,
        kKeptAnswer,    kWithoutEdits,   kCompareHint,      kOnlyOneHas,        kHeadsOnlyA,       kHeadsOnlyB,
        kNoHeadInBoth,  kNoSuchHeadInA,  kTooLongToCompare, kPointForBoth,      kNotInA,           kNotInB,
        kWeightsOfBoth, kNextWordOfBoth, kMaskedWordOfBoth, kUnknownWord,       kTipFigureCompare, kShowCompare,
        kKeepThisAsA,   kSwapBoth,       kLetAGo,           kOrderOfDifferences})
    all.append(words.en).append(words.zh);
  for (const Language language : {Language::en, Language::zh}) all += nothing_aligned(language);
  for (const DifferenceOrderWords& order : kDifferenceOrders)
    for (const Words& words : {order.name, order.tip}) all.append(words.en).append(words.zh);
  return all;
}

}  // namespace headlight
