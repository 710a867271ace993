// Special tokens in a map: heads rest at <s> or [CLS], and beside such a column the other cells would hardly be seen.
// Where these tokens are left out, a strip at the left of each row is as dark as the share that rests there; else their
// columns are drawn paler. The numbers stay as they are.
#pragma once

#include "gui/frame/map_view.h"

namespace headlight {

/// Whether heads rest at such a token. Padding is excluded: no query should look at it.
inline bool is_resting_token(const Token& token) { return token.special && !token.pad; }

/// The columns of the map at whose tokens heads rest, ascending.
std::vector<Index> pale_columns(const Gui& gui, const MapContent& content);

/// Whether the maps on the screen have such columns.
bool has_pale_columns(const Gui& gui);

/// Covers them in part with the background.
void add_pale_columns(const Gui& gui, Drawing& map, const MapContent& content, const MapLayout& layout);

/// The room of the strip at the left of a large map; in thumbnails it stands in the gap between two maps. 0: none.
float resting_room(const Gui& gui, const MapContent& content);

/// Adds the strip, with an outline in the row of a lit cell that has no column.
void add_resting(const Gui& gui, Drawing& map, const MapContent& content, const MapLayout& layout);

/// Under a point on the strip: the row's cell with the largest weight among those that are left out.
std::optional<CellRef> resting_cell(const Gui& gui, const MapContent& content, const MapLayout& layout, Point at);

}  // namespace headlight
