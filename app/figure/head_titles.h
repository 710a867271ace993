// The titles of the heads of a figure: all in full, or all by their numbers.
#pragma once

#include <string>
#include <vector>

#include "figure/head_name.h"
#include "figure/labels.h"
#include "figure/page.h"

namespace headlight {

struct HeadTitle {
  HeadRef head;
  MeasuredTitle words;
  bool off = false;
  std::string below = {};  // the name, where it is on a separate line
};

/// The em of a name on a separate line.
float name_size(const Page& page);

/// "L1·H5  object → its verb 100 %" as far as there is room; where `below` is above 0, the name is on a separate line
/// of that width. Of maps that belong to no head: "Layer 1".
std::vector<HeadTitle> titles_of(const Page& page, const FigureSubject& subject, const FigureOptions& options,
                                 const std::vector<HeadRef>& heads, float room, float below = 0);

/// The title of a figure of a single head: its number, and its name with the score, or that it is off.
void add_title_of_head(Page& page, const FigureSubject& subject, const FigureOptions& options, const HeadRef& head);

void add_head_title(Page& page, const HeadTitle& title, float x, float y);
/// The line below it: from `x` on, or farther left where it would end behind `right`.
void add_name_below(Page& page, const HeadTitle& title, float x, float right, float y);

}  // namespace headlight
