#include "session/figure_request.h"

#include <algorithm>
#include <iterator>

#include "derived/answer_comparison.h"
#include "derived/derived_maps.h"
#include "session/head_grid.h"
#include "session/shown.h"
#include "view/view_names.h"

namespace headlight {

namespace {

/// Whether a matrix is looked at for itself, and not the pinned weight that the steps tell of.
bool looks_at_matrix(const ViewState& view) {
  const Look& look = view.look;
  if (look.matrix.quantity != Quantity::weights) return true;
  const auto is_pinned = [&] { return view.pinned && look.cell == MatrixCell{view.pinned->query, view.pinned->key}; };
  return look.cell && !is_pinned();
}

}  // namespace

FigureKind seen_figure(const AppState& state) {
  const ViewState& view = state.view;
  if (view.view == View::compare) return compared_trace(state) ? FigureKind::compare : FigureKind::grid;
  if (looks_at_matrices(view.view) && state.trace && exists(*state.trace, view.look.matrix) && looks_at_matrix(view))
    return FigureKind::matrix;
  const auto shows = [&](const NamedView& named) {
    if (!named.figure || named.view != view.view) return false;
    return (view.view != View::heads || named.grid == view.grid) &&
           (view.view != View::inside || named.steps == view.steps);
  };
  const auto seen = std::find_if(std::begin(kNamedViews), std::end(kNamedViews), shows);
  return seen == std::end(kNamedViews) ? FigureKind::grid : *seen->figure;
}

FigureRequest figure_order(const AppState& state) {
  const bool folds = folds_tokens(state.view.view) && state.folded && state.folded->trace == state.trace;
  std::optional<AnswerSnapshot> compared;
  if (const auto other = compared_trace(state))
    compared = state.kept.value_or(
        AnswerSnapshot{other, state.document, state.view.sentence, state.view.prefix, shown_step(state)});
  // Numbers of an earlier answer are not written under this one's name.
  const bool known =
      state.view.order.by == HeadOrder::By::effect ? known_effects(state) != nullptr : known_heads(state) != nullptr;
  std::vector<HeadRef> heads = known ? shown_order(state) : std::vector<HeadRef>{};
  std::vector<std::optional<float>> numbers;
  for (const HeadRef& head : heads) numbers.push_back(order_value(state, head));
  return {.trace = state.trace,
          .folded = folds ? state.folded : nullptr,
          .other = state.trace && shown_maps(state, state.view.chosen.stack) ? state.other_maps : nullptr,
          .compared = std::move(compared),
          .document = state.document,
          .step = shown_step(state),
          .view = state.view,
          .heads = std::move(heads),
          .numbers = std::move(numbers),
          .kind = state.browser.figure,
          .slide = state.browser.slide,
          .theme = state.browser.dark ? (*state.browser.dark ? Theme::dark : Theme::light) : state.settings.theme,
          .colours = state.settings.colours,
          .language = state.settings.language};
}

}  // namespace headlight
