// The commands of the workers: how an answer that arrives changes the state. Called by update() alone.
#pragma once

#include "session/state.h"

namespace headlight {

/// One function a command; `kind` is the command's index in the variant.
struct AnswerUpdate {
  AppState& state;
  std::size_t kind;

  void operator()(TraceReady& c);
  void operator()(TraceFailed& c);
  void operator()(BaselineReady& c);
  void operator()(InsideReady& c);
  void operator()(KeptReady& c);
  void operator()(KeptFailed& c);
  void operator()(CheckReady& c);
  void operator()(DetailReady& c);
  void operator()(ListingReady& c);
  void operator()(PreviewReady& c);
  void operator()(HeadsReady& c);
  void operator()(LayerScoresReady& c);
  void operator()(EffectsReady& c);
  void operator()(GuessReady& c);
  void operator()(NearestReady& c);
  void operator()(FlowReady& c);
  void operator()(MapsReady& c);
  void operator()(FoldsReady& c);
  void operator()(ComparisonReady& c);
  void operator()(TrainingBegun& c);
  void operator()(TrainingNews& c);
  void operator()(const TrainingPaused& c);
  void operator()(TrainingDone& c);
  void operator()(TrainingFailed& c);
  void operator()(TrainedListed& c);
};

}  // namespace headlight
