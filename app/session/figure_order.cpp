#include "session/figure_order.h"

#include "session/other_maps.h"

namespace headlight {

FigureOrder figure_order(const AppState& state) {
  const bool folds = state.view.view == View::heads && state.folded && state.folded->trace == state.trace;
  return {.trace = state.trace,
          .folded = folds ? state.folded : nullptr,
          .other = state.trace && shown_maps(state, state.view.chosen.stack) ? state.other_maps : nullptr,
          .document = state.document,
          .view = state.view,
          .kind = state.browser.figure,
          .slide = state.browser.slide,
          .theme = state.settings.theme,
          .colours = state.settings.colours,
          .language = state.settings.language};
}

}  // namespace headlight
