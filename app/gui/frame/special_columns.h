// The columns of special tokens in a map are drawn paler: heads rest at <s> or [CLS], and beside such a column the
// other cells would hardly be seen. The numbers stay as they are.
#pragma once

#include "gui/frame/map_view.h"

namespace headlight {

/// Whether heads rest at such a token. Padding, at which nothing should look, is not meant.
inline bool is_resting_place(const Token& token) { return token.special && !token.pad; }

/// The columns of the map that are resting places, ascending.
std::vector<Index> pale_columns(const Gui& gui, const MapContent& content);

/// Whether the maps on the screen have such columns.
bool has_pale_columns(const Gui& gui);

/// Covers them in part with the background.
void add_pale_columns(const Gui& gui, Drawing& map, const MapContent& content, const MapLayout& layout);

}  // namespace headlight
