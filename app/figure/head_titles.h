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
};

/// "L1·H5  object → its verb 100 %" as far as there is room. Of maps that belong to no head: "Layer 1".
std::vector<HeadTitle> titles_of(const Page& page, const FigureSubject& subject, const FigureOptions& options,
                                 const std::vector<HeadRef>& heads, float room);

/// What a single head is called, with its score: what stands beside its title.
std::string name_in_figure(Language language, const FigureSubject& subject, const HeadRef& head);

void add_head_title(Page& page, const HeadTitle& title, float x, float y);

}  // namespace headlight
