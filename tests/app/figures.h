// What the tests of figures share: answers to draw, a measure without fonts, and what must hold of every picture.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "app/session_fixture.h"
#include "base/utf8.h"
#include "figure/figure.h"

namespace headlight::figures {

using fixture::small_document;

inline constexpr float kSlide = kSlideMm * kPointsInMm;

/// The only sentence's answer.
inline std::shared_ptr<const Trace> answer_of(const Document& document) {
  const auto requests = requests_of(document, fixture::lexicon());
  EXPECT_TRUE(requests) << requests.error().message();
  const auto trace = forward(requests->front());
  EXPECT_TRUE(trace) << trace.error().message();
  return *trace;
}

/// `count` words, a few of them long.
inline Document document_of(Index count, Arch arch = Arch::encoder) {
  std::string text;
  for (Index i = 0; i < count; ++i)
    text += (i > 0 ? " " : "") + std::string(i % 7 == 3 ? "international" : "w") + std::to_string(i);
  Document document = small_document(text);
  document.config.arch = arch;
  document.mask.causal = is_causal_by_default(arch);
  document.target.text = "我请李雷帮我订了去北京的机票";
  return document;
}

/// A line of text where Latin letters, and the minus of numbers, are 0.55 ems wide and all others one.
inline float roughly(std::string_view text, float size) {
  float width = 0;
  for (const char32_t c : code_points(text)) width += c < 0x2000 || c == U'−' ? 0.55f : 1.0f;
  return width * size;
}

inline Drawing drawn(const Document& document, const Trace& trace, const FigureOptions& options) {
  auto drawing = draw_figure({trace, document}, options, roughly);
  EXPECT_TRUE(drawing) << drawing.error().message();
  return drawing ? std::move(*drawing) : Drawing{};
}

template <class T>
std::vector<T> all(const Drawing& drawing) {
  std::vector<T> found;
  for (const Item& item : drawing.items)
    if (const T* one = std::get_if<T>(&item)) found.push_back(*one);
  return found;
}

/// The maps of a drawing, without the sample of a blocked cell beside the colour bar.
inline std::vector<Cells> maps_of(const Drawing& drawing) {
  std::vector<Cells> maps = all<Cells>(drawing);
  if (maps.size() > 1 && same(*maps.back().weights, Matrix::Constant(1, 1, -1.0f))) maps.pop_back();
  return maps;
}

/// Everything that is written, a line a text.
inline std::string words_of(const Drawing& drawing) {
  std::string words;
  for (const Text& text : all<Text>(drawing)) words += text.text + "\n";
  return words;
}

inline bool says(const Drawing& drawing, const std::string& part) {
  return words_of(drawing).find(part) != std::string::npos;
}

inline bool overlap(const Box& a, const Box& b, float slack = 0) {
  return a.x + slack < b.right() && b.x + slack < a.right() && a.y + slack < b.bottom() && b.y + slack < a.bottom();
}

/// Nothing outside the page, no text over another.
inline void expect_tidy(const Drawing& drawing) {
  EXPECT_GT(drawing.height, 0);
  for (const Item& item : drawing.items) {
    const Box box = bounds(item);
    const auto* text = std::get_if<Text>(&item);
    const std::string what = text ? text->text : "item " + std::to_string(item.index());
    EXPECT_GE(box.x, -0.01f) << what;
    EXPECT_GE(box.y, -0.01f) << what;
    EXPECT_LE(box.right(), drawing.width + 0.01f) << what;
    EXPECT_LE(box.bottom(), drawing.height + 0.01f) << what;
  }
  const std::vector<Text> texts = all<Text>(drawing);
  for (std::size_t i = 0; i < texts.size(); ++i)
    for (std::size_t j = i + 1; j < texts.size(); ++j)
      ASSERT_FALSE(overlap(bounds(texts[i]), bounds(texts[j]), 0.04f * texts[i].size))
          << "'" << texts[i].text << "' and '" << texts[j].text << "'";
}

}  // namespace headlight::figures
