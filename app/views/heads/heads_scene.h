// The scene around the maps of all heads: titles, the names of layers and columns, the words of the rows. Window and
// figures add it to the boxes of drawing/heads_layout.h; each paints the maps.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "figure/drawing/heads_layout.h"
#include "figure/head_name.h"
#include "figure/map_scene.h"

namespace headlight {

/// The title of a head in the room that the layout leaves: its name in lines below the number or, where there are none,
/// as much of it as has room beside the number. `value` is complete, or empty where there is no room.
HeadTitle head_title(const HeadRef& head, const HeadName& name, const std::string& value, const HeadsLayout& layout,
                     float unit, const std::function<float(const std::string&)>& width_of);

/// The lines of the longest name in the row of maps of this head; `titles`: of all heads, group by group.
int longest_name(const HeadsLayout& layout, const std::vector<HeadTitle>& titles, Index group, Index head);

struct TitleInks {
  Rgb head, value, beside, below;
};
/// Adds a title whose top left corner is `at`.
void add_head_title(Drawing& scene, const HeadTitle& title, Point at, float unit, const TitleInks& inks,
                    const MapStyle& style);

/// Adds the layers at the left: a bracket around the maps of each, whose titles name them, or the names of a table's
/// rows; and above a table's columns the numbers of the heads. `layers`: of the groups, empty: all of them; `chosen`:
/// one of them.
void add_layer_names(Drawing& scene, const HeadsLayout& layout, Point origin, const std::vector<Index>& layers,
                     std::optional<Index> chosen, float unit, const MapStyle& style);

/// Adds the words of the rows, at the left of each row of maps.
void add_row_words(Drawing& scene, const HeadsLayout& layout, Point origin, const AxisText& rows, const MapStyle& style,
                   const LabelInk& ink, std::optional<Index> lit = {});

/// The name of a map's box: `head 1.5`, `layer 1` where maps are those of layers.
std::string map_name(const HeadRef& head, bool of_layers);

}  // namespace headlight
