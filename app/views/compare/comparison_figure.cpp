// One head in two answers: A, B and B − A, a word that only one of them has in its colour; and what of A brings its
// answer back in B.
#include <algorithm>
#include <cmath>
#include <set>

#include "derived/answer_comparison.h"
#include "figure/difference_words.h"
#include "figure/labels.h"
#include "figure/map_items.h"
#include "model/head_text.h"
#include "views/compare/changes_scene.h"
#include "views/compare/comparison_scene.h"
#include "words/compare_words.h"
#include "words/words.h"

namespace headlight {
namespace {

std::string difference_line(const AnswerSnapshot& a, const AnswerSnapshot& b, const FigureOptions& options) {
  const DifferenceWords differences =
      difference_words(options.language, {*a.trace, a.document, a.step}, {*b.trace, b.document, b.step});
  const auto line = [&](const std::vector<std::string>& of) {
    return of.empty() ? std::string(words(options.language, kCompareWords.the_same)) : in_a_line(of);
  };
  return "A: " + line(differences.a) + "  B: " + line(differences.b);
}

/// In what the answers differ; then what both were asked: `layers` of the head's stack, empty: all.
std::string caption_begin(const AnswerSnapshot& a, const AnswerSnapshot& b, const FigureOptions& options,
                          const std::set<Index>& layers) {
  const auto asked = [&](const AnswerSnapshot& one) {
    const HeadRef head = check_head(*one.trace, options.head) ? options.head : HeadRef{};
    std::set<Index> shown = layers;
    for (Index layer = 0; layers.empty() && layer < one.trace->num_layers(head.stack); ++layer) shown.insert(layer);
    return question_in_words(options.language, {*one.trace, one.document}, head, shown);
  };
  const std::vector<std::string> of_a = asked(a);
  std::vector<std::string> both = asked(b);
  std::erase_if(both, [&](const std::string& part) { return std::ranges::find(of_a, part) == of_a.end(); });
  std::string caption = difference_line(a, b, options);
  if (!both.empty()) caption += "  " + filled(words(options.language, kCompareWords.in_both), {in_a_line(both)});
  return caption;
}

std::string caption_of(const AnswerSnapshot& a, const AnswerSnapshot& b, const JointStack& stack,
                       const FigureOptions& options) {
  std::string caption = caption_begin(a, b, options, {options.head.layer});
  const auto add = [&](const Words& sentence) { caption.append("  ").append(words(options.language, sentence)); };
  if (shares_no_cell(stack)) add(kCompareWords.nothing_aligned);
  if (has_words_of_one(stack)) add(kCompareWords.only_one_has);
  return caption;
}

/// The words of both with an arc for each weight that changed most; the row of the asked cell of B.
Status add_changes(Page& page, const AnswerComparison& comparison, const FigureOptions& options,
                   const ChangeScales& scales) {
  const JointStack& stack = *comparison.heads->stack(options.head.stack);
  std::optional<CellRef> cell;
  if (options.query && options.key) cell = joint_cell(stack, CellRef{*options.query, *options.key}, std::nullopt);
  const auto content = changes_content(stack, options.head, comparison.maps, cell, scales);
  if (!content)
    return bad_input("figure", "changes", "up to " + std::to_string(kMostWordsOfStage) + " words",
                     std::to_string(std::max(stack.queries.size(), stack.keys.size())));
  const auto [frame, unit] = sentence_frame_of(page);
  add_sentence(page.drawing, *content, frame,
               {.ground = page.drawing.background,
                .theme = options.theme,
                .language = options.language,
                .colours = options.colours},
               unit, page.measure);
  page.y += frame.box.h * unit;
  return Done{};
}

/// The row of a token over both pictures and their difference.
void add_pictures(Page& page, const ComparedPictures& pictures, Index query, const ColourScale& weights,
                  const ColourScale& differences, const FigureOptions& options) {
  const auto layouts = compared_layouts(pictures, {page.left(), page.y, page.room(), page.most_height()}, page.label, 0,
                                        2 * page.label, page.measure);
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const bool is_difference = pictures[i].side == JointSide::difference;
    add_compared_picture(page.drawing, layouts[i], pictures[i],
                         {.query = query, .scale = is_difference ? differences : weights, .cover = options.cover},
                         page.measure);
  }
  page.y = layouts.back().height();
}

/// A, B and B − A as maps.
void add_maps(Page& page, const AnswerComparison& comparison, const JointStack& stack, const ColourScale& weights,
              const ColourScale& differences, const FigureOptions& options) {
  PrintedMap map{comparison.maps.a, &stack.queries, &stack.keys};
  const auto layout_with = [&](const MapAxes& axes) {
    constexpr float kMostOfCell = 40, kNoEnd = std::numeric_limits<float>::infinity();
    return comparison_layout({page.left(), page.y, page.room(), kNoEnd}, map.num_queries(), map.num_keys(),
                             axes.queries.metrics, axes.keys.metrics,
                             {page.label, kLineOfText * axes.size, kMostOfCell});
  };
  const MapAxes axes = map_axes(page, map, [&](const MapAxes& tried) { return layout_with(tried).front().layout; });
  const ComparisonLayout maps = layout_with(axes);
  add_titles(page.drawing, maps, page.label, options.theme, page.measure);
  const MapInks inks = joint_inks(stack, {}, options.theme, page.ink.text, page.ink.dim);
  for (const ComparedMap& at : maps) {
    map.weights = comparison.maps.*at.cells;
    page.drawing.add(Rectangle{.box = at.layout.plot, .fill = gap_colour(options.theme)});
    add_map(page, map, axes, at.layout, at.side == JointSide::difference ? differences : weights, true, inks);
  }
  const Box& last = maps.back().layout.plot;
  add_nothing_differs(page.drawing, comparison.maps.difference, last, options.language,
                      {.measure = page.measure, .ink = page.ink, .em = page.label, .line = kLineOfText * page.label});
  page.y = last.bottom();
}

}  // namespace

Result<Drawing> draw_comparison(const AnswerSnapshot& a, const AnswerSnapshot& b, const FigureOptions& options,
                                const TextWidth& measure, FoldChoice fold) {
  TRY(check_head(*b.trace, options.head));
  if (options.kind == FigureKind::changes) fold.special = fold.words = true;  // words, as draw_sentence has them
  if (a.trace->is_signed || b.trace->is_signed)
    return bad_input("figure", "compare", "weights of at least 0", "numbers below 0");
  const auto comparison =
      compare_answers({a.trace, b.trace, options.head, {}, options.alignment.value_or(Alignment::words), fold}, nullptr,
                      options.progress ? *options.progress : unwatched());
  if (!comparison) return cancelled("compare");
  if (const auto& too_long = comparison->heads->too_long)
    return bad_input("figure", "compare", "up to " + std::to_string(kMostAligned) + " tokens",
                     std::to_string(*too_long));
  if (!comparison->heads->head(options.head))
    return bad_input("figure", "head", "one that A has too", head_label(options.head));
  const JointStack& stack = *comparison->heads->stack(options.head.stack);
  const float largest = range_of_weights(a.trace.get(), *b.trace, options.own_range ? &comparison->maps : nullptr);
  const float apart = range_of(*comparison->heads, options.head, options.own_range);
  const ColourScale weights{
      .theme = options.theme, .scale = options.scale, .top = nice_top(largest), .colours = options.colours};
  const ColourScale differences{.theme = options.theme, .top = nice_range(apart), .diverging = true};
  Page page = new_page(options, measure);
  add_title(page, head_label(options.head), "");
  std::string shown;  // of which token
  if (options.kind == FigureKind::changes) {
    TRY(add_changes(page, *comparison, options, {weights, differences}));
  } else if (const auto pictures = compared_pictures(*a.trace, *b.trace, comparison->maps)) {
    const std::vector<Index> query{options.query.value_or(0)};
    TRY(check_within("figure", "query", query.front(), b.trace->queries()));
    add_pictures(page, *pictures, query.front(), weights, differences, options);
    shown = "  " +
            shades_in_words(options.language, *b.trace, {.head = options.head}, b.trace->query_tokens().tokens, query);
  } else {
    add_maps(page, *comparison, stack, weights, differences, options);
  }
  add_colour_bar(page, weights, number_title(options.language, MapKind::weights), options.language,
                 has_blocked({}, comparison->maps.a) || has_blocked({}, comparison->maps.b));
  if (!shares_no_cell(stack)) add_colour_bar(page, differences, "B − A", options.language, false);
  return with_caption(std::move(page), caption_of(a, b, stack, options) + shown);
}

ColourScale patch_scale(Theme theme, const PatchMap& map) {
  float largest = 1;  // all of it
  for (Index i = 0; i < map.restored.size(); ++i)
    if (const float share = std::abs(map.restored.data()[i]); std::isfinite(share)) largest = std::max(largest, share);
  return {.theme = theme, .top = nice_range(largest), .diverging = true};
}

std::string patch_line(Language language, const PatchMap& map) {
  constexpr double kAlike = 0.01;  // of a probability or a logit
  std::string metric =
      filled(words(language, kCompareWords.metrics[static_cast<std::size_t>(map.metric)]), {map.right, map.wrong});
  if (!map.token.empty())
    metric += filled(words(language, map.hidden_b ? kCompareWords.at_hidden : kCompareWords.at_word), {map.token});
  std::string line = filled(
      words(language, kCompareWords.patch_metric),
      {metric, brief_number(static_cast<float>(map.in_a)), brief_number(static_cast<float>(map.in_b)),
       words(language, map.alignment == Alignment::words ? kCompareWords.by_words : kCompareWords.by_positions)});
  if (map.known > 0 && std::abs(map.in_a - map.in_b) < kAlike) line += words(language, kCompareWords.patch_alike);
  if (map.unaligned > 0)
    line += filled(words(language, kCompareWords.patch_unaligned), {std::to_string(map.unaligned)});
  return line;
}

Result<Drawing> draw_patch(const AnswerSnapshot& a, const AnswerSnapshot& b, const FigureOptions& options,
                           const TextWidth& measure) {
  TRY(check_head(*b.trace, options.head));
  const auto map =
      TRY(patch_map(*a.trace, *b.trace, patch_choice(options.patch, options.head, options.alignment, options.measure),
                    options.progress ? *options.progress : unwatched()));
  const std::vector<Token> rows = patch_rows(map), columns = patch_columns(map, *b.trace);
  Page page = new_page(options, measure);
  add_title(page, words(options.language, kCompareWords.take_from_a),
            words(options.language, kCompareWords.patch_forms[static_cast<std::size_t>(options.patch)]), true);
  add_lines(page, patch_line(options.language, map), page.label, Role::label, page.ink.text);
  page.y += 0.5f * page.label;
  const ColourScale scale = patch_scale(options.theme, map);
  add_large_map(page, {map.restored, &rows, &columns}, std::min(page.room(), page.fair_height()), kLargestNamed, scale);
  add_colour_bar(page, scale, words(options.language, kCompareWords.patch_share), options.language, false);
  return with_caption(std::move(page),
                      caption_begin(a, b, options, {}) + "  " + words(options.language, kCompareWords.patch_hint));
}

}  // namespace headlight
