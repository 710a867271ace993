#include "session/figure_order.h"

namespace headlight {

FigureOrder figure_order(const AppState& state) {
  const bool folds = state.view.view == View::heads && state.folded && state.folded->trace == state.trace;
  return {.trace = state.trace,
          .folded = folds ? state.folded : nullptr,
          .document = state.document,
          .view = state.view,
          .kind = state.browser.figure,
          .slide = state.browser.slide,
          .theme = state.settings.theme,
          .colours = state.settings.colours,
          .language = state.settings.language};
}

}  // namespace headlight
