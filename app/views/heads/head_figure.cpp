// One head large, with its numbers where there is room for them.
#include <algorithm>

#include "figure/head_name.h"
#include "figure/labels.h"
#include "figure/map_items.h"
#include "figure/map_kinds.h"
#include "model/head_text.h"
#include "words/figure_words.h"

namespace headlight {
namespace {

constexpr Index kMostCells = 512;   // a side
constexpr float kLargestCell = 64;  // points

}  // namespace

void add_title_of_head(Page& page, const FigureSubject& subject, const FigureOptions& options, const HeadRef& head) {
  if (is_off(subject.trace.request.edits, head))
    return add_title(page, head_label(head), words(options.language, kFigureWords.off), true);
  const HeadName name = names_of(options.language, subject.document, subject.trace, {head}).front();
  add_title(page, name.label, name.words, !name.named);
}

Drawing draw_head(const FigureSubject& subject, const FigureOptions& options, const TextWidth& measure) {
  Page page = new_page(options, measure);
  const std::string title = summed_title(options.language, other_maps_of(subject, options.head.stack), options.head);
  if (!title.empty()) add_title(page, title, "");
  else add_title_of_head(page, subject, options, options.head);
  const PrintedMap map = printed_map(subject, options.head, kMostCells, options.language);
  const ColourScale scale = own_scale(map_scale(subject, options), map.weights, options);
  // The parts above and below the map count for the page's height.
  const float side = std::min(page.room(), page.fair_height() - 9 * page.label);
  add_large_map(page, map, side, kLargestCell, scale, &options);
  std::vector<std::string> remarks;
  if (map.weights.rows() < map.num_queries() || map.weights.cols() < map.num_keys())
    remarks.push_back(words(options.language, kFigureWords.pooled));
  return finished(std::move(page), subject, options, scale, has_blocked(scale, map.weights), remarks);
}

}  // namespace headlight
