// A document that one of the shipped models answers.
#pragma once

#include "app/shipped.h"
#include "models/model_choice.h"
#include "session/state_rules.h"

namespace headlight::fixture {

/// `source`: shipped:decoder and the like.
inline Document shipped_document(const std::string& source, const std::string& text) {
  Document document = first_document(shipped().get(), Language::zh);
  for (const BundledModel& one : *shipped())
    if (one.source == source) take_model(document, one);
  document.mask.causal = is_causal_by_default(document.config.arch);
  document.source.text = text;
  return document;
}

}  // namespace headlight::fixture
