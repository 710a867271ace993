// Lines from the words that look to the words that they look at.
#include <algorithm>
#include <atomic>

#include "figure/labels.h"
#include "figure/page.h"
#include "model/head_text.h"
#include "views/flow/flow.h"
#include "words/figure_words.h"
#include "words/text_words.h"

namespace headlight {
namespace {

constexpr float kLeastBetween = 6;  // ems between the columns

bool are_of_one_layer(const std::vector<HeadRef>& heads) {
  return std::ranges::all_of(heads, [&](const HeadRef& head) { return head.layer == heads.front().layer; });
}

std::string title_of(Language language, const std::vector<HeadRef>& heads) {
  const std::string count = counted(language, heads.size(), kFigureWords.heads);
  if (!are_of_one_layer(heads)) return count;
  return layer_title(language, heads.front().layer) + " · " + count;
}

/// The heads beside their colours, in as many lines as it takes.
void add_legend(Page& page, const std::vector<HeadRef>& heads, const std::vector<FlowHead>& drawn) {
  const float size = page.label;
  std::vector<FlowLegendEntry> entries;
  for (std::size_t i = 0; i < heads.size(); ++i)
    entries.push_back({heads[i].head, head_label(heads[i]), {}, drawn[i].colour, page.ink.text, page.ink.text});
  const FlowLegendSizes sizes{.text = size,
                              .swatch = 1.6f * size,
                              .thick = 0.25f * size,
                              .gap = 0.4f * size,
                              .between = 1.2f * size,
                              .line = kLineOfText * size,
                              .height = size};
  const float first = page.y + 0.5f * size;
  page.y += add_flow_legend(page.drawing, entries, sizes, page.left(), page.right(), first, page.measure) - first +
            1.8f * size;
}

std::vector<std::string> labels_of(const std::vector<Token>& tokens) {
  std::vector<std::string> labels;
  for (const Token& token : tokens) labels.push_back(piece_label(token));
  return labels;
}

/// The words as large as the page's labels, or smaller where there are very many.
FlowLayout layout_of(const Page& page, const std::vector<std::string>& queries, const std::vector<std::string>& keys) {
  FlowLayout layout{.queries = static_cast<Index>(queries.size()), .keys = static_cast<Index>(keys.size())};
  const auto rows = static_cast<float>(std::max(queries.size(), keys.size()));
  layout.size = rows > 100 ? page.least_label : page.label;
  layout.pitch = (rows > 40 ? 1.1f : 1.55f) * layout.size;
  const auto widest = [&](const std::vector<std::string>& labels) {
    float width = 0;
    for (const std::string& label : labels) width = std::max(width, page.measure(label, layout.size));
    return width;
  };
  // Long words on a narrow page shrink until there is room for lines between them.
  const auto room = [&] { return page.room() - widest(queries) - widest(keys) - 0.8f * layout.size; };
  const float least = page.drawing.width < kNarrowPage ? 0 : page.least_label / 0.9f;
  while (room() < kLeastBetween * layout.size && layout.size >= least) layout.size *= 0.9f;
  // Not wider than pleasant: lines between few words would be nearly level.
  const float between = std::min(std::max(rows * layout.pitch * 0.9f, 16 * layout.size), room());
  layout.centre(page.drawing.width, widest(queries), widest(keys), between);
  return layout;
}

void add_side_names(Page& page, const FlowLayout& layout, const FigureOptions& options) {
  const bool cross = options.head.stack == Stack::cross;
  const auto name = [&](const Words& side, const Words& role) {
    return (cross ? words(options.language, side) : std::string()) + words(options.language, role);
  };
  const std::string query = name(kFlowWords.target, kFlowWords.query), key = name(kFlowWords.source, kFlowWords.key);
  add_flow_sides(page.drawing, layout, query, key, page.y + 0.5f * page.label, page.label, page.left(), page.right(),
                 page.ink.dim, page.measure);
  page.y += 1.6f * page.label;
}

}  // namespace

Drawing draw_flow(const FigureSubject& subject, const FigureOptions& options, const TextWidth& measure) {
  Page page = new_page(options, measure);
  std::vector<HeadRef> heads = options.heads;
  if (heads.empty()) heads.push_back(options.head);
  if (heads.size() == 1) add_title_of_head(page, subject, options, heads.front());
  else add_title(page, title_of(options.language, heads), "");

  std::vector<std::vector<FlowLine>> lines;
  const FoldedStack* folded = folded_stack(subject, options.head.stack);
  for (const HeadRef& head : heads)
    lines.push_back(folded ? strongest_lines(folded->map(head)) : strongest_lines(subject.trace, head, kNeverStops));
  std::vector<FlowHead> drawn;
  const bool one_layer = are_of_one_layer(heads);
  for (std::size_t i = 0; i < heads.size(); ++i)
    drawn.push_back({&lines[i], head_colour(options.theme, one_layer ? static_cast<std::size_t>(heads[i].head) : i)});
  if (heads.size() > 1) add_legend(page, heads, drawn);

  const auto queries = labels_of(axis_tokens(subject, options.head.stack, true));
  const auto keys = labels_of(axis_tokens(subject, options.head.stack, false));
  FlowLayout layout = layout_of(page, queries, keys);
  add_side_names(page, layout, options);
  layout.top = page.y;
  const FlowWishes wishes{.threshold = options.threshold, .thickest = 0.5f * layout.size};
  page.drawing.hits = flow_hits(layout);
  const bool cut = add_flow(page.drawing, layout, drawn, queries, keys, wishes, page.ink, measure);
  page.y = layout.bottom();

  const std::string from = tick_number(options.threshold);
  std::vector<std::string> remarks{filled(words(options.language, kFlowWords.lines_from), {from})};
  if (cut)
    remarks.push_back(filled(words(options.language, kFlowWords.only_strongest), {std::to_string(wishes.most_lines)}));
  return finished(std::move(page), subject, options, std::nullopt, false, remarks);
}

}  // namespace headlight
