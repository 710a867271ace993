// What the keys of each row of the table of actions do, by subject.
#pragma once

#include <functional>
#include <vector>

#include "gui/actions/actions.h"
#include "gui/keys_fixture.h"
#include "trains.h"

namespace headlight {

class KeyHelpTest : public KeysTest {
 protected:
  /// What the keys of these rows do.
  struct Promise {
    std::vector<Act> acts;
    std::function<void()> keep;
  };
  std::vector<Promise> window_promises();
  std::vector<Promise> model_promises();
  std::vector<Promise> view_promises();

  bool trains_until(TrainingPhase phase);
  /// Back to what Inside looked at first.
  void forget_looks() {
    while (!state().view.looked.empty()) harness->push(LookBack{});
  }
  /// Two lessons that leave everything as it is.
  void take_lessons();

  TemporaryFolder trained_;
};

}  // namespace headlight
