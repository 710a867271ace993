// The work of the window's workers, as one table: a question that follows from the state, and the job that
// answers it. A question is asked once; the newest takes the place of the one before.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <memory>

#include "session/figure_request.h"
#include "session/loop/worker.h"
#include "session/state.h"

namespace headlight {

/// In the order in which answers are taken.
enum class Errand {
  trace,       // the answer to the request
  baseline,    // the answer to the same request without edits
  detail,      // the weights of the shown part of the enlarged head
  inside,      // View::inside and View::code
  listing,     // View::code
  flow,        // View::flow
  check,       // whether the checkpoint was loaded right
  heads,       // measures and search of heads
  effects,     // the loss without each head
  relations,   // how well each layer shows each relation
  maps,        // norms or rollout in place of weights
  folds,       // maps with tokens folded
  comparison,  // View::compare
  snapshot,    // the answer to A of View::compare, where a session names its question alone
  guess,       // the word that the model says
  nearest,     // the sentence nearest to one with unknown words
  preview,     // the figure or the size of the file that the browser would write
  trained,     // the folders of earlier trainings
};
inline constexpr std::size_t kErrands = static_cast<std::size_t>(Errand::trained) + 1;

class Errands {
 public:
  /// `trained` is the folder of earlier trainings (empty: none are listed); it is not read while `is_writing` it. `preview` draws
  /// figures that are about to be written; empty: none are drawn.
  Errands(JobThreads& threads, const std::function<void()>& wake, std::filesystem::path trained,
          std::function<bool()> is_writing, PreviewFigure preview);

  /// Posts what the state wants and was not asked yet; what it wants no more is stopped.
  void ask(const AppState& state);

  Worker& worker(Errand errand) { return *rows_[static_cast<std::size_t>(errand)].worker; }
  const Worker& worker(Errand errand) const { return *rows_[static_cast<std::size_t>(errand)].worker; }

 private:
  struct Row {
    std::unique_ptr<Worker> worker;
    std::function<void(const AppState&, Worker&)> ask;  // holds what was asked last
  };
  std::array<Row, kErrands> rows_;
};

}  // namespace headlight
