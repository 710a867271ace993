// How many words an answer has.
#pragma once

#include <memory>

#include "base/progress.h"
#include "derived/weak_ref.h"
#include "model/trace.h"

namespace headlight {

struct WordCountQuestion {
  WeakRef<Trace> trace;
  friend bool operator==(const WordCountQuestion&, const WordCountQuestion&) = default;
};
struct WordCount {
  Index words = 0;
};
std::shared_ptr<const WordCount> count_words(const WordCountQuestion& question, Progress& progress);

}  // namespace headlight
