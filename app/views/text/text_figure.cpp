// The text itself in lines, each word shaded by its weight.
#include <algorithm>
#include <atomic>

#include "derived/head_stats.h"
#include "figure/labels.h"
#include "figure/page.h"
#include "views/text/picture_scene.h"
#include "views/text/text_scene.h"
#include "words/figure_words.h"
#include "words/text_words.h"

namespace headlight {
namespace {

/// Texts of more words are set smaller, so that a page is not metres high.
constexpr std::size_t kManyWords = 300, kVeryManyWords = 2000;
constexpr float kLargeText = 1.35f, kBetweenTexts = 2;  // in ems of a label

float text_size(const Page& page, std::size_t words) {
  return words > kVeryManyWords ? page.least_label : words > kManyWords ? page.label : kLargeText * page.label;
}

/// A text in a column of the page, its name above it where there are two.
TextLines column_of(Page& page, const ShadedTexts::Side& side, const std::string& name, float x, float width,
                    float size) {
  TextLines lines = text_lines(side.words, side.typed, width, size, page.measure);
  if (!name.empty()) add_text(page, {x, page.y + 0.5f * page.label}, name, page.label, page.ink.dim);
  lines.corner = {x, page.y + (name.empty() ? 0 : 1.6f * page.label)};
  return lines;
}

}  // namespace

Drawing draw_text(const FigureSubject& subject, const FigureOptions& options, const TextWidth& measure) {
  Page page = new_page(options, measure);
  const Stack stack = options.head.stack;
  ShadeChoice choice = options.shades;
  choice.head = options.head;
  const bool of_picture = is_of_picture(subject.trace);
  if (choice.words.empty())
    choice.words.push_back(of_picture ? first_token(subject.trace)
                                      : brightest_of_last_row(subject.trace, options.head).query);
  const FoldedStack* folded = folded_stack(subject, stack);
  if (choice.heads == ShadeHeads::head) add_title_of_head(page, subject, options, options.head);
  else
    add_title(page, words(options.language, kTextWords.heads[static_cast<std::size_t>(choice.heads)]),
              counted(options.language, shading_heads(subject.trace, choice).size(), kFigureWords.heads), true);
  const Vector shades = shades_of(subject.trace, folded, choice, kNeverStops);
  const std::vector<Index> chosen = words_of_tokens(folded_axis(folded, !choice.columns), choice.words);

  const ShadedTexts texts = shaded_texts(subject.trace, folded, stack);
  const auto& shaded = texts.shaded(choice.columns);
  ColourScale scale{
      .theme = options.theme, .scale = options.scale, .diverging = subject.trace.is_signed, .colours = options.colours};
  if (shades.size() > 0) scale = in_range(shade_scale(shades, shaded.words, scale), options.range);
  const TextMarks of_shaded{.shades = shades.size() > 0 ? &shades : nullptr, .scale = scale, .outline = 0.5f};
  if (of_picture) {
    TextMarks marks = of_shaded;
    if (is_all_of_picture(subject.trace)) marks.chosen = &chosen;
    marks.hits = kPictureHits;
    const PictureLayout laid_out = picture_layout(subject.trace.key_tokens().picture->grid, page.room(),
                                                  page.most_height(), page.label, 0, page.measure);
    const PictureLayout at = moved(laid_out, {page.left() + (page.room() - laid_out.image.w) / 2, page.y});
    add_shaded_picture(page.drawing, at, subject.trace.key_tokens(), marks, options.cover, page.ink);
    page.y = at.height();
    return finished(
        std::move(page), subject, options, scale, has_blocked(scale, shades),
        {shades_in_words(options.language, subject.trace, choice, texts.chosen(choice.columns).words, chosen)});
  }
  const float size = text_size(page, std::max(texts.queries.words.size(), texts.keys.words.size()));
  const float gap = kBetweenTexts * page.label, half = (page.room() - gap) / 2;
  float bottom = page.y;
  const auto add = [&](const ShadedTexts::Side& side, const Words& name, float x, float width, std::string_view hits) {
    const bool is_chosen = texts.one || &side == &texts.chosen(choice.columns);
    TextMarks marks = texts.one || !is_chosen ? of_shaded : TextMarks{.scale = scale, .outline = 0.5f};
    if (is_chosen) marks.chosen = &chosen;
    marks.hits = hits;
    const TextLines lines = column_of(page, side, texts.one ? "" : words(options.language, name), x, width, size);
    add_shaded_text(page.drawing, lines, side.words, marks, page.ink);
    bottom = std::max(bottom, lines.corner.y + lines.height());
  };
  if (texts.one) {
    add(texts.queries, kFlowWords.looks, page.left(), page.room(), "text word ");
  } else {
    add(texts.queries, kFlowWords.looks, page.left(), half, "text query ");
    add(texts.keys, kFlowWords.is_looked_at, page.left() + half + gap, half, "text key ");
  }
  page.y = bottom;
  return finished(
      std::move(page), subject, options, scale, has_blocked(scale, shades),
      {shades_in_words(options.language, subject.trace, choice, texts.chosen(choice.columns).words, chosen)});
}

}  // namespace headlight
