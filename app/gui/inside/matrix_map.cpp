#include "gui/inside/matrix_map.h"

#include "gui/frame/draw.h"
#include "gui/frame/map_view.h"

namespace headlight {

void draw_picture(Gui& gui, ImDrawList& list, const Picture& picture, std::uint64_t version, const Box& box,
                  bool is_signed) {
  const bool stale = is_stale(gui.state) || gui.state.inside->question.trace != gui.state.trace;
  gui.maps.draw(list, picture.values, version, top_left(box), bottom_right(box),
                picture_scale(gui.state.settings.theme, picture, is_signed), stale ? kStaleOpacity : 1.0f);
  list.AddRect({box.x - 1, box.y - 1}, {box.right() + 1, box.bottom() + 1}, gui.colours().line);
}

}  // namespace headlight
