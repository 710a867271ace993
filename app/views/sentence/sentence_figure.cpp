// The sentence with the arcs of all heads on a page.
#include "derived/head_stats.h"
#include "figure/head_name.h"
#include "figure/page.h"
#include "model/head_text.h"
#include "views/sentence/sentence_scene.h"

namespace headlight {

SentenceOnPage sentence_frame_of(const Page& page) {
  constexpr float kLabel = 13, kWidth = 700;  // pixels of the design: of a label, of a scene on a page
  const float unit = std::min(page.label / kLabel, page.room() / (kWidth / 2));
  const float width = page.room() / unit, height = std::clamp(0.72f * width, 330.0f, 560.0f);
  return {{{page.left() / unit, page.y / unit, width, height}, 1, width >= 600 ? 98.0f : 76.0f, width < 450}, unit};
}

Result<Drawing> draw_sentence(const FigureSubject& subject, const FigureOptions& options, const TextWidth& measure) {
  if (subject.trace.is_signed) return bad_input("figure", "sentence", "weights of at least 0", "numbers below 0");
  // Words, whatever the model's pieces and special tokens are.
  const std::shared_ptr<const Trace> trace(std::shared_ptr<const Trace>(), &subject.trace);
  const auto maps = folded_maps(trace, {.special = true, .words = true});
  const auto& stack = maps->stacks[static_cast<std::size_t>(options.head.stack)];
  const FoldedStack* folded = stack ? &*stack : nullptr;
  const SentenceArcs arcs = named_arcs(subject.document, subject.trace);
  const CellRef cell = TRY(asked_cell(subject, options));
  const auto content = sentence_content(subject.trace, folded, arcs, options.head, cell);
  if (!content)
    return bad_input(
        "figure", "sentence", "up to " + std::to_string(kMostWordsOfStage) + " words",
        std::to_string(std::max(subject.trace.queries(options.head.stack), subject.trace.keys(options.head.stack))));
  Page page = new_page(options, measure);
  const CellInWords lit = cell_of(subject.trace, options.head, cell, folded);
  const NamedArc* arc = arcs.at(options.head, cell);
  add_title(page, lines_of_cell(options.language, lit, arc, true).front(),
            map_label(options.language, subject.trace, options.head), false);
  const auto [frame, unit] = sentence_frame_of(page);
  const DrawnSentence drawn = add_sentence(page.drawing, *content, frame,
                                           {.ground = page.drawing.background,
                                            .theme = options.theme,
                                            .language = options.language,
                                            .colours = options.colours},
                                           unit, measure);
  page.y += frame.box.h * unit;
  const std::string least = tick_number(drawn.threshold);
  const ColourScale scale{.theme = options.theme, .top = 1, .colours = options.colours};
  std::vector<std::string> remarks;
  if (folded && folded->fold.done.special) remarks.emplace_back(words(options.language, kFigureWords.special_left_out));
  if (folded && folded->fold.done.words) remarks.emplace_back(words(options.language, kFigureWords.words_merged));
  remarks.push_back(filled(words(options.language, kFigureWords.grey_arcs), {least}));
  FigureOptions shared = options;  // its cells are of many heads
  shared.own_range = false;
  return finished(std::move(page), subject, shared, scale, false, remarks);
}

}  // namespace headlight
