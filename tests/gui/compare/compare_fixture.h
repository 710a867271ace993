// The view Compare: its joint axes, and the cells of its maps.
#pragma once

#include "gui/keys_fixture.h"
#include "session/shown.h"

namespace headlight {

class CompareViewTest : public KeysTest {
 protected:
  void SetUp() override {
    KeysTest::SetUp();
    harness->push(ShowChanges{false});  // maps
  }
  const ComparedHeads& heads() { return *state().comparison->heads; }
  const JointStack& axes() { return *heads().stack(state().view.chosen.stack); }
  /// The middle of a joint cell of a map.
  ImVec2 joint_point(const std::string& map, CellRef cell) {
    const Box plot = harness->box(map);
    return {plot.x + (static_cast<float>(cell.key) + 0.5f) * plot.w / static_cast<float>(axes().keys.size()),
            plot.y + (static_cast<float>(cell.query) + 0.5f) * plot.h / static_cast<float>(axes().queries.size())};
  }
  Box around(const std::string& map, CellRef cell) {
    const ImVec2 at = joint_point(map, cell);
    const Box plot = harness->box(map);
    const float w = plot.w / static_cast<float>(axes().keys.size()) + 2,
                h = plot.h / static_cast<float>(axes().queries.size()) + 2;
    return {at.x - w / 2, at.y - h / 2, w, h};
  }
  void keep_and_ask(const std::string& text) {
    shift(Key{'5'});
    harness->push(SetText{text}, EndGesture{});
    key({Key{'5'}});
    harness->settle();
  }
};

}  // namespace headlight
