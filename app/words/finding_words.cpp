#include "words/finding_words.h"

#include <algorithm>

#include "words/failure_words.h"

namespace headlight {
namespace {

/// A part of a line, and what such a line means; the first that fits counts.
struct FindingMeaning {
  std::string_view part, chinese;
};
constexpr FindingMeaning kFindingMeanings[] = {
    {"every one has its place", "权重张量各就各位，一个不少。"},
    {"needed neither for attention", "有些权重与注意力和预测无关，没有使用。"},
    {"not the sines and cosines", "存储的位置向量与公式算出的不同，按存储的使用。"},
    {"so the model has no output layer", "没有存储输出层，所以不能预测词。"},
    {"which the model has in its place", "同一处有两份不同的权重，使用了其中一份。"},
    {"missing, taken as zero", "缺少一项权重，按零处理。"},
    {"no part of", "有不属于这种模型的权重，没有使用。"},
    {"the token vectors themselves", "输出层就是词元向量，与 config.json 所说一致。"},
    {"config.json says it is not the token vectors", "config.json 说输出层不是词元向量，但二者数值相同。"},
    {"have a vector", "分词器的每个编号都有词元向量。"},
    {"less than the", "分词器有的编号没有对应的词元向量。"},
    {"the same number everywhere", "有一个权重处处相同，可能没有加载。"},
    {"as before any training", "所有归一化参数都是 1 和 0，与训练之前一样。"},
    {"expected heads that choose", "很多注意力头几乎均匀：模型可能没有训练，或者加载有误。"},
    {"heads almost uniform", "注意力头有取舍，不是处处均匀。"},
    {"no answers were compared", "模型旁边没有参考结果，所以没有比较。"},
    {"not compared", "参考结果中的这一项，这个模型没有，所以没有比较。"},
    {"as the reference", "与参考结果一致。"},
    {"as with this mistake", "与参考结果的差别，正像犯了这个错误："},
    {"differences of at most", "与参考结果不同。"},
    {"expected answers beside the ids", "参考文件里只有编号，没有结果。"},
};

}  // namespace

std::string_view finding_in_chinese(std::string_view line) {
  const auto* const found =
      std::find_if(std::begin(kFindingMeanings), std::end(kFindingMeanings),
                   [&](const FindingMeaning& meaning) { return line.find(meaning.part) != std::string_view::npos; });
  return found == std::end(kFindingMeanings) ? std::string_view(plain_words(line).zh) : found->chinese;
}

std::string all_finding_words() {
  std::string all;
  for (const FindingMeaning& meaning : kFindingMeanings) all.append(meaning.chinese);
  return all;
}

}  // namespace headlight
