#include "derived/word_count.h"

namespace headlight {

std::shared_ptr<const WordCount> count_words(const WordCountQuestion& question, Progress& progress) {
  const auto trace = question.trace.lock();
  if (!trace || progress.stop) return nullptr;
  return std::make_shared<const WordCount>(WordCount{static_cast<Index>(trace->request.tokens.size())});
}

}  // namespace headlight
