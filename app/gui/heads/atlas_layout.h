// Where the maps of all heads stand beside the stage: arithmetic on boxes, no drawing. Row labels stand once for each
// row of maps, and a layer is named once.
#pragma once

#include "figure/drawing/map_layout.h"

namespace headlight {

struct AtlasContent {
  Index groups = 1;          // layers; 1 where the heads are not ordered by layer
  Index heads = 1;           // of each
  Index rows = 1, keys = 1;  // cells of a map
};

/// Pixels.
struct AtlasSizes {
  float text = 0;         // a line of small text
  float labels = 0;       // the widest row label; 0: there are none
  float layers = 0;       // the widest name of a layer in a table; 0: layers have no name
  float most = 0;         // the side of the largest map
  float name = 0;         // the widest of the heads' names, in short
  int title_lines = 0;    // in which a head's number and its name follow each other; 0: the number has a separate line
  float unit = 1;         // a pixel of the design
  float least_width = 0;  // of the area in windows of this width: maps are no larger than there; 0: any
};

struct AtlasLayout {
  AtlasContent content;
  Index columns = 1, rows_per_group = 1;
  int name_lines = 0;   // of the heads' names below the line of their numbers: columns are narrow, there is height to
                        // spare
  bool titles = false;  // a line above each map; else the heads' numbers stand above their columns
  float width = 0;      // of a map's cells
  float height = 0;     // of them
  float title = 0;      // the height of a title, the lines of the name among it
  float labels = 0;     // the room of the row labels, their gap included; 0: none
  float left = 0, top = 0;  // of the first map's title
  float title_width = 0;    // its width: more than the map's where the area is wider than the maps need
  float pitch_x = 0, pitch_y = 0, group_gap = 0;
  float content_height = 0;  // of everything; more than the area's where it must scroll

  /// The cells of a head of a group, from the area's top left corner.
  Box map_of(Index group, Index head) const;
  /// The line above them; of no height without titles.
  Box title_of(Index group, Index head) const;
  /// From the first line of a group to its last one.
  Box bracket(Index group) const;
};

/// The layout with the largest maps that are all in sight; rows of the same length where that costs little. Below the
/// size at which words can be read the maps form a table; below 8 pixels of the design they scroll. A larger area never
/// has smaller maps: up to the size at which words are shown, maps are no larger than beside these words.
AtlasLayout atlas_layout(float width, float height, const AtlasContent& content, const AtlasSizes& sizes);

}  // namespace headlight
