// The conditions under which rows of the table of actions are possible.
#pragma once

#include "gui/frame/gui.h"
#include "gui/frame/stacks.h"
#include "session/head_grid.h"
#include "session/shown.h"

namespace headlight::possible {

inline bool answered(const Gui& gui) { return gui.state.trace != nullptr; }
inline bool in_view(const Gui& gui, View view) { return gui.state.view.view == view; }
inline bool in_heads(const Gui& gui) { return answered(gui) && in_view(gui, View::heads); }
inline bool has_more_heads(const Gui& gui) { return headlight::has_more_heads(gui.state); }
inline bool has_maps(const Gui& gui) { return in_view(gui, View::heads) || in_view(gui, View::train); }
inline bool has_joint(const Gui& gui) { return answered(gui) && in_view(gui, View::compare); }
inline bool in_patch(const Gui& gui) { return has_joint(gui) && gui.state.view.patch.on; }
inline bool has_kept(const Gui& gui) { return gui.state.kept != nullptr; }
inline bool has_pinned(const Gui& gui) { return answered(gui) && gui.state.view.pinned.has_value(); }
/// The pinned cell is of one token each, to which masks and weights by hand belong.
inline bool pins_tokens(const Gui& gui) {
  const FoldedStack* folded = shown_fold(gui.state, gui.state.view.chosen.stack);
  return has_pinned(gui) && (!folded || is_of_single_tokens(folded->fold, *gui.state.view.pinned));
}
inline MapKind kind(const Gui& gui) { return shown_kind(gui.state, gui.state.view.chosen.stack); }
/// The large map of one head, whose single cells can be seen.
inline bool has_weights(const Gui& gui) {
  return answered(gui) && !in_view(gui, View::flow) && !in_view(gui, View::compare) && kind(gui) == MapKind::weights &&
         (!in_view(gui, View::heads) || stage_form(gui.state) == StageForm::map);
}
inline bool in_text(const Gui& gui) { return shows_text(gui.state); }
inline bool zooms(const Gui& gui) { return has_weights(gui) && shows_tokens(gui.state); }
inline bool in_code(const Gui& gui) { return answered(gui) && in_view(gui, View::code); }
inline bool in_flow(const Gui& gui) { return answered(gui) && in_view(gui, View::flow); }
inline bool has_head(const Gui& gui) { return answered(gui) && !is_of_layers(kind(gui)); }
inline bool pins_head(const Gui& gui) { return has_pinned(gui) && has_head(gui); }
inline bool head_off(const Gui& gui) { return is_off(gui.state.document.edits, gui.state.view.chosen); }
inline bool is_log(const Gui& gui) { return scale_of_colours(gui.state) == Scale::log; }
inline bool is_own(const Gui& gui) { return gui.state.view.own_range; }
inline bool takes_model(const Gui& gui) { return takes_shape(gui.state.document); }
inline bool in_lesson(const Gui& gui) { return gui.state.view.lesson.has_value(); }
inline bool is_dark(const Gui& gui) { return gui.state.settings.theme == Theme::dark; }
template <bool (*condition)(const Gui&)>
bool isnt(const Gui& gui) {
  return !condition(gui);
}
inline bool is_causal(const Gui& gui) { return scoped_mask(gui.state).causal; }
inline bool is_padded(const Gui& gui) { return scoped_mask(gui.state).padding; }
inline bool has_seed_before(const Gui& gui) { return takes_model(gui) && gui.state.document.config.seed > 0; }
inline bool has_padding(const Gui& gui) { return takes_model(gui) && gui.state.document.pad > 0; }
inline bool can_pad(const Gui& gui) {
  const Request* request = wanted(gui.state);
  return takes_model(gui) && request && gui.state.document.pad < request->tokens.size();
}

}  // namespace headlight::possible
