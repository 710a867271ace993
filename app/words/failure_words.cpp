#include "words/failure_words.h"

#include <array>

namespace headlight {
namespace {

/// A part of a line, and what such a line means; the first that fits counts.
struct Meaning {
  std::string_view part;
  Words FailureWords::*words;
};
constexpr std::array kMeanings{
    Meaning{"cancelled, nothing was written", &FailureWords::cancelled},
    Meaning{"the page's own numbers", &FailureWords::page_alone},
    Meaning{"has other weights than", &FailureWords::other_weights},
    Meaning{"data_offsets", &FailureWords::too_short},
    Meaning{"bytes of data", &FailureWords::too_short},
    Meaning{"ends too early", &FailureWords::too_short},
    Meaning{"--ids", &FailureWords::no_tokenizer},
    Meaning{"tokenizer", &FailureWords::no_tokenizer},
    Meaning{"No space left", &FailureWords::no_space},
    Meaning{"memory", &FailureWords::no_memory},
    Meaning{"GiB", &FailureWords::no_memory},
    Meaning{"No such file", &FailureWords::absent},
    Meaning{"Permission denied", &FailureWords::not_allowed},
    Meaning{"longest", &FailureWords::too_long},
    Meaning{"positions", &FailureWords::too_long},
    Meaning{"config.json", &FailureWords::no_model},
    Meaning{"model.safetensors", &FailureWords::no_model},
    Meaning{"model_type", &FailureWords::no_model},
    Meaning{"JSON", &FailureWords::damaged},
    Meaning{"UTF-8", &FailureWords::damaged},
    Meaning{"header", &FailureWords::damaged},
};

}  // namespace

const Words& plain_words(std::string_view message) {
  for (const Meaning& meaning : kMeanings)
    if (message.find(meaning.part) != std::string_view::npos) return kFailureWords.*meaning.words;
  return kFailureWords.other;
}

}  // namespace headlight
