// The names of heads in the window.
#pragma once

#include "gui/frame/gui.h"
#include "views/heads/heads_scene.h"

namespace headlight {

/// The name of a head of the answer on the screen (figure/head_name.h).
HeadName name_of_head(const Gui& gui, const HeadRef& head);
/// The colours of a title above a map; `lit`: the head is chosen or pointed at; `faint`: off, or not looked for.
TitleInks inks_of_title(const Gui& gui, const HeadTitle& title, bool lit, bool faint = false);
void paint_head_title(Gui& gui, const HeadTitle& title, const Box& lines, const TitleInks& inks);
/// How many weights of a head of the answer are set by hand, and the same in words, `1 set by hand`.
Index weights_by_hand(const AppState& state, const HeadRef& head);
std::string words_by_hand(const Gui& gui, Index count);
/// A tooltip on the last item: the meaning of a name, how often such cells were right, and whether the head was taught.
void explain_name(const Gui& gui, const HeadRef& head, const HeadName& name);
/// The name of the head, as much as `room` leaves, and its tooltip; nothing where it has no name yet.
void measured_line(Gui& gui, const HeadRef& head, float room);

}  // namespace headlight
