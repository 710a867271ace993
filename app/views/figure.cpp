#include "figure/figure.h"

#include <algorithm>

#include "base/result.h"
#include "derived/head_stats.h"
#include "figure/page.h"
#include "model/head_text.h"
#include "session/figure_request.h"
#include "session/shown.h"

namespace headlight {
Status check_head(const Trace& trace, const HeadRef& head) {
  if (!trace.has(head.stack))
    return bad_input("figure", "stack", trace.encoder ? "self, encoder or cross" : "self, the model has one stack",
                     stack_name(head.stack));
  const Index layers = trace.num_layers(head.stack), heads = trace.num_heads(head.stack);
  TRY(check_within("figure", "layer", head.layer, layers));
  return check_within("figure", "head", head.head, heads);
}

Result<CellRef> asked_cell(const FigureSubject& subject, const FigureOptions& options) {
  const Trace& trace = subject.trace;
  CellRef cell = brightest_of_last_row(trace, options.head);
  cell = {options.query.value_or(cell.query), options.key.value_or(cell.key)};
  TRY(check_within("figure", "query", cell.query, trace.queries(options.head.stack)));
  TRY(check_within("figure", "key", cell.key, trace.keys(options.head.stack)));
  return cell;
}

Result<Drawing> draw_figure(const FigureSubject& subject, const FigureOptions& options, const TextWidth& measure) {
  TRY(check_head(subject.trace, options.head));
  for (const Index layer : options.layers.value_or(std::vector<Index>{}))
    TRY(check_within("--only-layers", "", layer, subject.trace.num_layers(options.head.stack)));
  for (const HeadRef& head : options.heads) TRY(check_head(subject.trace, head));
  switch (options.kind) {
    case FigureKind::grid:
    case FigureKind::layers: return draw_heads(subject, options, measure);
    case FigureKind::sentence: return draw_sentence(subject, options, measure);
    case FigureKind::head: return draw_head(subject, options, measure);
    case FigureKind::text:
      for (const Index word : options.shades.words)
        TRY(check_within("figure", options.shades.columns ? "key" : "query", word,
                         options.shades.columns ? subject.trace.keys(options.head.stack)
                                                : subject.trace.queries(options.head.stack)));
      return draw_text(subject, options, measure);
    case FigureKind::steps: return draw_steps(subject, options, measure);
    case FigureKind::writers: return draw_writers(subject, options, measure);
    case FigureKind::lens: return draw_lens(subject, options, measure);
    case FigureKind::diagram: return draw_diagram(subject, options, measure);
    case FigureKind::matrix: return draw_matrix(subject, options, measure);
    case FigureKind::patch:
    case FigureKind::changes:
    case FigureKind::compare: return bad_input("figure", "compare", "an answer kept as A", "none");
    case FigureKind::flow: break;
  }
  const Index words = std::max(subject.trace.queries(options.head.stack), subject.trace.keys(options.head.stack));
  if (words > kMostFlowWords)
    return bad_input("figure", "flow", "up to " + std::to_string(kMostFlowWords) + " tokens", std::to_string(words));
  return draw_flow(subject, options, measure);
}

ColourScale weight_scale(const Trace& trace, const FoldedMaps* folded, Theme theme, Scale scale) {
  const float largest = folded ? folded->largest : trace.largest_weight;
  if (trace.is_signed) return {.theme = theme, .top = nice_range(trace.largest_weight), .diverging = true};
  return {.theme = theme, .scale = scale, .top = nice_top(largest)};
}

Result<Drawing> draw_ordered(const FigureRequest& order, const TextWidth& measure, Progress* progress) {
  FigureOptions options = figure_options(order);
  options.progress = progress;
  if (order.instead) return order.instead->draw(options, measure);
  if (!shows_two(order.kind) || !order.compared) {
    const auto folded = order.fold == FoldChoice{} ? nullptr : folded_maps(order.trace, order.fold);
    return draw_figure({*order.trace, order.document, folded.get(), order.other.get()}, options, measure);
  }
  const AnswerSnapshot now{order.trace, order.document, order.view.sentence, order.view.prefix, order.step};
  return order.kind == FigureKind::patch ? draw_patch(*order.compared, now, options, measure)
                                         : draw_comparison(*order.compared, now, options, measure, order.fold);
}

FigureOptions figure_options(const FigureRequest& order) {
  FigureOptions options{.kind = order.kind,
                        .theme = order.theme,
                        .language = order.language,
                        .scale = order.view.scale,
                        .colours = order.colours,
                        .width = order.width * kPointsInMm,
                        .head = order.view.chosen,
                        .heads = {},
                        .threshold = order.view.flow.threshold};
  options.look = order.view.look;
  options.lens = order.view.lens;
  options.patch = order.view.patch.form;
  options.measure = patch_measure(order.view, *order.trace);
  options.alignment = order.view.alignment;
  options.shades = shade_choice(order.view);
  options.own_range = order.view.own_range;
  options.range = order.view.range;
  if (order.view.pinned) options.query = order.view.pinned->query, options.key = order.view.pinned->key;
  if (shows_all_heads(order.kind) && !(order.other && is_of_layers(order.other->kind))) {
    options.heads = order.heads;
    options.numbers = order.numbers;
    if (!order.heads.empty()) options.order = order.view.order;
  }
  if (order.kind == FigureKind::flow && order.view.flow.heads)
    for (const Index head : *order.view.flow.heads)
      if (head < order.trace->num_heads(options.head.stack))
        options.heads.push_back({options.head.layer, head, options.head.stack});
  return options;
}

}  // namespace headlight
