// One head in two answers: A, B and B − A, a word that only one of them has in its colour; and what of A brings its
// answer back in B.
#include <algorithm>
#include <cmath>

#include "derived/answer_comparison.h"
#include "figure/difference_words.h"
#include "figure/labels.h"
#include "figure/map_items.h"
#include "model/head_text.h"
#include "words/compare_words.h"

namespace headlight {
namespace {

constexpr float kWidestRowOfTwo = 150 * kPointsInMm;  // wider pages have all three side by side
constexpr float kLargestCompared = 40;                // points

Status check_comparison(const AnswerComparison& comparison) {
  if (const auto& too_long = comparison.heads->too_long)
    return bad_input("figure", "compare", "up to " + std::to_string(kMostAligned) + " tokens",
                     std::to_string(*too_long));
  if (!comparison.heads->head(comparison.chosen))
    return bad_input("figure", "head", "one that A has too", head_label(comparison.chosen));
  return Done{};
}

/// Words that only one answer has stand in its end of the difference's colours.
LabelInk ink_of(const Page& page, const JointStack& stack, const JointAxis& axis, const std::vector<Token>& tokens,
                Theme theme) {
  return [&page, &axis, &tokens, in_both = stack.in_both, theme](Index label) {
    const auto i = static_cast<std::size_t>(label);
    if (in_both && !axis[i].in_both()) return axis[i].a ? diverging_map(theme).front() : diverging_map(theme).back();
    return tokens[i].pad ? page.ink.dim : page.ink.text;
  };
}

std::string difference_line(const AnswerSnapshot& a, const AnswerSnapshot& b, const FigureOptions& options) {
  const DifferenceWords words =
      difference_words(options.language, {*a.trace, a.document, a.step}, {*b.trace, b.document, b.step});
  const auto line = [&](const std::vector<std::string>& of) {
    return of.empty() ? std::string(either(options.language, "the same", "相同")) : in_a_line(of);
  };
  return "A: " + line(words.a) + "  B: " + line(words.b);
}

std::string caption_of(const AnswerSnapshot& a, const AnswerSnapshot& b, const JointStack& stack,
                       const FigureOptions& options) {
  std::string caption = difference_line(a, b, options);
  const auto alone = [](const JointToken& token) { return !token.in_both(); };
  if (shares_no_cell(stack))
    caption += std::string("  ") + headlight::words(options.language, kCompareWords.nothing_aligned);
  if (std::ranges::any_of(stack.axes.queries, alone) || std::ranges::any_of(stack.axes.keys, alone))
    caption += either(options.language, "  Words in rose are only in A, words in blue only in B.",
                      "  玫红的词只在 A 中，蓝色的词只在 B 中。");
  return caption;
}

}  // namespace

Result<Drawing> draw_comparison(const AnswerSnapshot& a, const AnswerSnapshot& b, const FigureOptions& options,
                                const TextWidth& measure, FoldChoice fold) {
  TRY(check_head(*b.trace, options.head));
  const auto comparison = compare_answers({a.trace, b.trace, options.head, {}, options.alignment, fold}, nullptr,
                                          options.progress ? *options.progress : unwatched());
  if (!comparison) return cancelled("compare");
  TRY(check_comparison(*comparison));
  const JointStack& stack = *comparison->heads->stack(options.head.stack);
  const float of_all = std::min(std::max(a.trace->largest_weight, b.trace->largest_weight), 1.0f);
  const float largest = options.own_range ? largest_weight(comparison->maps) : of_all;
  const float apart = range_of(*comparison->heads, options.head, options.own_range);
  const ColourScale weights{
      .theme = options.theme, .scale = options.scale, .top = nice_top(largest), .colours = options.colours};
  const ColourScale differences{.theme = options.theme, .top = nice_range(apart), .diverging = true};
  const struct {
    const char* title;
    const Matrix& cells;
    const ColourScale& scale;
  } maps[] = {{"A", comparison->maps.a, weights},
              {"B", comparison->maps.b, weights},
              {"B − A", comparison->maps.difference, differences}};

  Page page = new_page(options, measure);
  add_title(page, head_label(options.head), "");
  const std::size_t columns = page.room() > kWidestRowOfTwo ? 3 : 2;
  const float gap = 2 * page.label,
              side = (page.room() - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
  bool blocks = false;
  float bottom = page.y;
  for (std::size_t i = 0; i < std::size(maps); ++i) {
    if (i > 0 && i % columns == 0) page.y = bottom + gap;
    const PrintedMap map{maps[i].cells, &stack.queries, &stack.keys};
    const MapAxes axes = map_axes(page, map, side);
    const float most = kLargestCompared * static_cast<float>(std::max(map.num_queries(), map.num_keys())) +
                       axes.queries.metrics.widest + 4 * axes.size;
    const float x = page.left() + static_cast<float>(i % columns) * (side + gap), height = std::min(side, most);
    const MapLayout layout = layout_of(map, axes, {x, page.y + 1.5f * page.label, std::min(side, most), height});
    add_text(page, {layout.plot.x, page.y + 0.5f * page.label}, maps[i].title, page.label, page.ink.text, Role::title);
    page.drawing.add(Rectangle{.box = layout.plot, .fill = gap_colour(options.theme)});
    add_map(page, map, axes, layout, maps[i].scale, true,
            {ink_of(page, stack, stack.axes.queries, stack.queries, options.theme),
             ink_of(page, stack, stack.axes.keys, stack.keys, options.theme)});
    blocks = blocks || (!maps[i].scale.diverging && has_blocked(maps[i].cells));
    bottom = std::max(bottom, layout.plot.bottom());
  }
  page.y = bottom;
  add_colour_bar(page, weights, either(options.language, "weight", "权重"), options.language, blocks);
  if (!shares_no_cell(stack)) add_colour_bar(page, differences, "B − A", options.language, false);
  return with_caption(std::move(page), caption_of(a, b, stack, options));
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
  if (!map.place.empty())
    metric += filled(words(language, map.hidden_b ? kCompareWords.at_hidden : kCompareWords.at_word), {map.place});
  std::string line =
      filled(words(language, kCompareWords.patch_metric),
             {metric, brief_number(static_cast<float>(map.in_a)), brief_number(static_cast<float>(map.in_b))});
  if (map.known > 0 && std::abs(map.in_a - map.in_b) < kAlike) line += words(language, kCompareWords.patch_alike);
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
  add_named_map(page, {map.restored, &rows, &columns}, std::min(page.room(), page.fair_height()), scale);
  add_colour_bar(page, scale, words(options.language, kCompareWords.patch_share), options.language, false);
  return with_caption(std::move(page),
                      difference_line(a, b, options) + "  " + words(options.language, kCompareWords.patch_hint));
}

}  // namespace headlight
