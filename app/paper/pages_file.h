// Several drawings as the pages of one PDF.
#pragma once

#include <string>
#include <vector>

#include "figure/drawing/drawing.h"
#include "paper/fonts.h"

namespace headlight {

/// The same drawings give the same bytes. Precondition: at least one page.
Result<std::string> pdf_of_pages(const std::vector<Drawing>& pages, PaperFonts& fonts);

}  // namespace headlight
