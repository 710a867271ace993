// A figure of the window as a value: everything that it depends on, so that a worker can draw it.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "session/state.h"

namespace headlight {

struct FigureRequest {
  std::shared_ptr<const Trace> trace;        // what is on the screen; null: nothing yet
  std::shared_ptr<const FoldedMaps> folded;  // of it, where its maps are shown folded; null elsewhere
  std::shared_ptr<const DerivedMaps> other;  // of it, where its maps are shown so; null elsewhere
  std::optional<AnswerSnapshot> compared;    // what it is compared with; nothing where there is nothing
  Document document;
  std::optional<Index> step;  // of the training whose model answered
  ViewState view;
  std::vector<HeadRef> heads;                 // the order that they are shown in; empty: that of their layers
  std::vector<std::optional<float>> numbers;  // by which they are in that order
  FigureKind kind = FigureKind::grid;
  bool slide = false;
  Theme theme = Theme::light;
  ColourMap colours = ColourMap::teal;
  Language language = Language::en;
};

/// The picture of what the view shows; of a training, and of two answers where there is none to compare with, that of
/// all heads.
FigureKind seen_figure(const AppState& state);

/// The input of the window's figure now.
FigureRequest figure_order(const AppState& state);

/// Draws and writes it; the format follows the name's ending. Called on one thread at a time. Stopped by `progress.stop`
/// it is an Error, and nothing was written.
using DrawFigure = std::function<Status(const FigureRequest&, const std::filesystem::path&, Progress& progress)>;

}  // namespace headlight
