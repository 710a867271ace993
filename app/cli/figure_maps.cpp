#include "cli/figure_maps.h"

#include <algorithm>

#include "model/head_text.h"

namespace headlight {
namespace {

std::string view_of(const FigureOptions& figure) {
  return std::string(std::ranges::find(kNamedViews, figure.kind, &NamedView::figure)->name);
}

/// An Error where the view has no maps of heads.
Status check_view(const std::string& asked, const FigureOptions& figure) {
  const bool has_maps = figure.kind == FigureKind::head || shows_all_heads(figure.kind);
  if (has_maps) return Done{};
  return bad_input(asked, "", "--view heads, head or glance", "--view " + view_of(figure));
}

Result<std::shared_ptr<const DerivedMaps>> summed_of(const Reduction& by, const std::shared_ptr<const Trace>& trace,
                                                     const std::vector<std::shared_ptr<const Trace>>& beside,
                                                     FigureOptions& figure, int threads) {
  TRY(check_view("--reduce " + reduction_text(by), figure));
  const Stack stack = figure.head.stack;
  for (const Index layer : figure.layers.value_or(std::vector<Index>{}))
    for (Index head = 0; head < trace->num_heads(stack); ++head) figure.heads.push_back({layer, head, stack});
  const MapKind kind = kind_of(by.by);
  if (by == Reduction{.by = by.by, .heads = true} && figure.heads.empty() && beside.empty() &&
      !why_not(*trace, stack, kind)) {  // as the window has them
    auto maps = other_maps(trace, kind, unwatched(), threads);
    if (!maps->stacks[static_cast<std::size_t>(stack)].empty()) return maps;
  }
  ReduceWhat what{.traces = {trace.get()}, .stack = stack, .by = by, .only = figure.heads};
  for (const auto& sentence : beside) what.traces.push_back(sentence.get());
  if (by.heads || by.layers) figure.heads.clear();
  auto maps = TRY(summed_maps(trace, std::move(what), unwatched(), threads));
  if (figure.kind == FigureKind::head && !maps->place_of(figure.head))
    return bad_input("--head", "", "one that --reduce leaves a map", head_text(figure.head));
  return maps;
}

}  // namespace

Status FigureMaps::read() {
  if (reduce.empty()) return Done{};
  by = TRY(parse_reduction(reduce));
  const bool of_maps = kind && *kind != MapKind::weights, folded = fold_choice(folds) != FoldChoice{};
  if (!of_maps && !folded && pair == PairPart::all) return Done{};
  const std::string beside = of_maps ? "--maps " + std::string(name(*kind)) : folded ? "--fold" : "--pair";
  return bad_input("--reduce " + reduce, "", "maps of weights (words, tokens and --heads are its own)", beside);
}

void add_map_options(Parser& parser, FigureMaps& options) {
  add_folds(parser, options.folds);
  add_maps(parser, options.kind);
  add_reduce(parser, options.reduce);
  add_pair_part(parser, options.pair);
}

Result<std::shared_ptr<const DerivedMaps>> figure_maps(const FigureMaps& options,
                                                       const std::shared_ptr<const Trace>& trace,
                                                       const std::vector<std::shared_ptr<const Trace>>& beside,
                                                       FigureOptions& figure, int threads) {
  if (options.by && trace->has(figure.head.stack)) return summed_of(*options.by, trace, beside, figure, threads);
  const MapKind kind = options.kind.value_or(MapKind::weights);
  const std::string asked = "--maps " + std::string(name(kind));
  if (kind == MapKind::weights || !trace->has(figure.head.stack)) return std::shared_ptr<const DerivedMaps>{};
  TRY(check_view(asked, figure));
  if (const auto why = why_not(*trace, figure.head.stack, kind))
    return bad_input(asked, "",
                     *why == MapUnavailable::too_long     ? "up to 128 tokens"
                     : kind == MapKind::norms             ? "a model with values"
                     : *why == MapUnavailable::below_zero ? "weights of at least 0"
                                                          : "self-attention of one sequence",
                     name(*why));
  return other_maps(trace, kind, unwatched(), threads);
}

Result<std::shared_ptr<const FoldedMaps>> figure_folds(const FigureMaps& options, std::shared_ptr<const Trace> trace,
                                                       const FigureOptions& figure) {
  FoldChoice choice = fold_choice(options.folds);
  choice.pair = options.pair;
  const Stack stack = figure.head.stack;
  if (choice == FoldChoice{} || !trace->has(stack)) return std::shared_ptr<const FoldedMaps>{};
  const bool of_pair = choice.pair != PairPart::all;
  const std::string asked = of_pair ? "--pair " + std::string(name(options.pair)) : "--fold";
  if (!shows_folds(figure.kind))
    return bad_input(asked, "", "--view heads, head, text, glance or flow", "--view " + view_of(figure));
  if (const MapKind maps = options.kind.value_or(MapKind::weights); maps != MapKind::weights)
    return bad_input(asked, "", "--maps weights", "--maps " + std::string(name(maps)));
  auto folded = folded_maps(std::move(trace), choice);
  const auto& possible = folded->possible[static_cast<std::size_t>(stack)];
  if (of_pair && possible.choice.pair == PairPart::all)
    return bad_input(asked, "", "two sentences, as --text-pair gives them", "one");
  if (possible.too_long)
    return bad_input(asked, "", "up to " + std::to_string(kMostFolded) + " tokens, of large models fewer", "more");
  return folded;
}

}  // namespace headlight
