// The maps that `figure` draws in place of weights, or of which tokens: --maps, --reduce, --fold and --pair.
#pragma once

#include "cli/options/view_options.h"
#include "figure/figure.h"

namespace headlight {

struct FigureMaps {
  std::optional<MapKind> kind;
  std::string reduce;                // as it was given
  std::optional<Reduction> by = {};  // the same, once it is read
  std::vector<std::string> folds = {};
  PairPart pair = PairPart::all;

  /// Errors: --reduce of other words, or beside another option of these.
  Status read();
};

void add_map_options(Parser& parser, FigureMaps& options);

/// Maps of the kind that was asked for; null: weights. Where --heads or --only-layers of the figure are summed up, they
/// are taken out of it. `beside`: the other sentences, which must outlive the maps.
Result<std::shared_ptr<const DerivedMaps>> figure_maps(const FigureMaps& options,
                                                       const std::shared_ptr<const Trace>& trace,
                                                       const std::vector<std::shared_ptr<const Trace>>& beside,
                                                       FigureOptions& figure, int threads);

/// The maps with tokens folded, and with the rows and columns of --pair; null where all of them are drawn.
Result<std::shared_ptr<const FoldedMaps>> figure_folds(const FigureMaps& options, std::shared_ptr<const Trace> trace,
                                                       const FigureOptions& figure);

}  // namespace headlight
