// Where the maps of all heads stand, in a window and on a page: arithmetic on boxes, no drawing. Row labels stand once
// for each row of maps, and a layer is named once.
#pragma once

#include "figure/drawing/map_layout.h"

namespace headlight {

struct HeadsContent {
  Index groups = 1;          // layers; 1 where the heads are not ordered by layer
  Index heads = 1;           // of each
  Index rows = 1, keys = 1;  // cells of a map
};

/// free: a table where titled maps would be too small. titles: always a title above each map. table: never.
enum class HeadsForm { free, titles, table };

/// Pixels of a window, or points of a page.
struct HeadsSizes {
  float text = 0;         // a line of small text
  float labels = 0;       // the widest row label; 0: there are none
  float above = 0;        // the height of the column labels, where row labels stand; 0: there are none
  float layers = 0;       // the widest name of a layer in a table; 0: layers have no name
  float most = 0;         // the side of the largest map
  float title = 0;        // no column is narrower
  float name = 0;         // the widest of the heads' names, in short
  int title_lines = 0;    // in which a head's number and its name follow each other; 0: the number has a separate line
  float unit = 1;         // a pixel of the design
  float least_width = 0;  // of the area in windows of this width: maps are no larger than there; 0: any
  bool page = false;      // maps become as small as they must; else they are whole pixels, and below 8 they scroll
  HeadsForm form = HeadsForm::free;
};

struct HeadsLayout {
  HeadsContent content;
  Index columns = 1, rows_per_group = 1;
  int name_lines = 0;   // of the heads' names below the line of their numbers: columns are narrow, there is height to
                        // spare
  bool flows = false;   // names begin beside the numbers
  bool titles = false;  // a line above each map; else the heads' numbers stand above their columns
  bool named = false;   // a table whose rows are layers and whose columns are heads, by name
  float text = 0;       // a line of text
  float width = 0;      // of a map's cells
  float height = 0;     // of them
  float title = 0;      // the height of a title, the lines of the name among it
  float above = 0;      // of the column labels
  float labels = 0;     // the room of the row labels, their gap included; 0: none
  float left = 0, top = 0;  // of the first map's title
  float title_width = 0;    // its width: more than the map's where the area is wider than the maps need
  float pitch_x = 0, pitch_y = 0, group_gap = 0;
  float content_height = 0;  // of everything; more than the area's where it must scroll

  /// The cells of a head of a group, from the area's top left corner.
  Box map_of(Index group, Index head) const;
  /// The lines above them; of no height without titles. `lines`: of the longest name in this row of maps, as many as
  /// name_rows() at most; the titles of a row begin at one height, as low as that name lets them.
  Box title_of(Index group, Index head, int lines) const;
  Box title_of(Index group, Index head) const { return title_of(group, head, name_rows()); }
  /// From the first line of a group to its last one.
  Box bracket(Index group) const;
  /// The lines of a name: those below the heads' numbers and, where names begin beside these, that line.
  int name_rows() const { return name_lines + (flows ? 1 : 0); }
};

/// The layout with the largest maps that are all in sight; rows of the same length where that costs little. Below the
/// size at which words can be read the maps form a table; below 8 pixels of the design they scroll. A larger area never
/// has smaller maps: up to the size at which words are shown, maps are no larger than beside these words.
/// Without heads nothing is laid out: a stack that is looked at may have none that two answers share.
HeadsLayout heads_layout(float width, float height, const HeadsContent& content, const HeadsSizes& sizes);

}  // namespace headlight
