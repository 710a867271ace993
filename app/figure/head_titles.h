// The titles of the heads of a figure: all in full, or all by their numbers.
#pragma once

#include <string>
#include <vector>

#include "figure/labels.h"
#include "figure/page.h"

namespace headlight {

struct HeadTitle {
  HeadRef head;
  MeasuredTitle words;
  bool off = false;
};

/// "Layer 2 · Head 6  verb → object 0.99" as far as there is room; all heads by their numbers where one must be. Of maps
/// that belong to no head: "Layer 2".
std::vector<HeadTitle> titles_of(const Page& page, const FigureSubject& subject, const FigureOptions& options,
                                 const std::vector<HeadRef>& heads, float room);

/// What the short ones among them stand for.
std::vector<std::string> explained(const std::vector<HeadTitle>& titles, const FigureSubject& subject,
                                   Language language);

void add_head_title(Page& page, const HeadTitle& title, float x, float y);

}  // namespace headlight
