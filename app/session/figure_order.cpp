#include "session/figure_order.h"

#include <algorithm>
#include <iterator>

#include "session/comparison.h"
#include "session/head_grid.h"
#include "session/other_maps.h"
#include "session/view_names.h"

namespace headlight {

FigureOrder figure_order(const AppState& state) {
  const bool folds = folds_tokens(state.view.view) && state.folded && state.folded->trace == state.trace;
  std::optional<KeptAnswer> compared;
  if (const auto other = compared_trace(state))
    compared = state.kept.value_or(
        KeptAnswer{other, state.document, state.view.sentence, state.view.prefix, shown_step(state)});
  return {.trace = state.trace,
          .folded = folds ? state.folded : nullptr,
          .other = state.trace && shown_maps(state, state.view.chosen.stack) ? state.other_maps : nullptr,
          .compared = std::move(compared),
          .document = state.document,
          .step = shown_step(state),
          .view = state.view,
          .heads = shown_order(state),
          .kind = state.browser.figure,
          .slide = state.browser.slide,
          .theme = state.settings.theme,
          .colours = state.settings.colours,
          .language = state.settings.language};
}

}  // namespace headlight
