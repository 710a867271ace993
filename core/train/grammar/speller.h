// From words of the grammar to what a model reads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "model/request.h"
#include "train/grammar/grammar.h"

namespace headlight {

class Speller {
 public:
  /// The model must have a vocabulary.
  Speller(const Model& model, const Grammar& grammar);

  Index unknown = 0;  // words of the grammar's sentences that the model does not have
  /// Places of words are places of tokens plus this.
  int first() const { return start_ ? 1 : 0; }

  /// A question about a sentence; of an encoder-decoder with what its decoder reads.
  Request request(const std::shared_ptr<const Model>& model, const std::vector<std::int32_t>& words,
                  const std::vector<std::int32_t>& english = {}) const;

 private:
  Tokens tokens(const std::vector<std::int32_t>& words, bool start) const;

  std::optional<std::int64_t> start_;
  std::vector<std::int64_t> ids_;  // of the grammar's words and those of its dictionary
};

/// The same shape with fresh weights and fresh vectors for the words: what a measure gives where nothing was learned.
std::shared_ptr<const Model> untrained_model(const Model& model);

}  // namespace headlight
