#include "training/treebank_files.h"

#include <utility>

#include "base/file.h"

namespace headlight {

Result<std::vector<HeldOutTreebank>> read_treebanks(const std::vector<std::string>& files) {
  std::vector<HeldOutTreebank> treebanks;
  for (const std::string& file : files) {
    const auto text = read_file(file, kMostTreebankBytes);
    if (!text) return text.error();
    auto sentences = parse_conllu(file, *text);
    if (!sentences) return sentences.error();
    treebanks.push_back({file, *std::move(sentences)});
  }
  return treebanks;
}

}  // namespace headlight
