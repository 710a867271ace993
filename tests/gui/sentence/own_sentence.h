// A document of a sentence and of the shipped model that answers it, as the window chooses it.
#pragma once

#include "gui/shipped_document.h"

namespace headlight::fixture {

/// `source`: shipped:decoder and the like; empty: the model that the window chooses.
inline Document sentence_document(const std::string& text, const std::string& source = "") {
  if (!source.empty()) return shipped_document(source, text);
  Document document = default_document(shipped().get());
  document.source.text = text;
  EXPECT_TRUE(choose_model(document, shipped().get()));
  return document;
}

}  // namespace headlight::fixture
