// Of --pairs with --from: another model, whose answers to the clean sentences are the corrupt ones.
#pragma once

#include "study/study.h"

namespace headlight {

struct OtherModel {
  Document document = {};
  const Lexicon* lexicon = nullptr;

  explicit operator bool() const { return document.model != nullptr; }

  /// Errors: a sentence that this model cuts into other tokens, those of forward().
  Result<std::shared_ptr<const Trace>> answer_to(const Trace& clean, int threads) const;
};

/// None where there is no SOURCE. Errors: those of open_model, attention alone.
Result<OtherModel> other_model_of(const std::string& source);

}  // namespace headlight
