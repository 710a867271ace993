#include "views/followed/followed.h"

#include "figure/page.h"
#include "math/attention.h"

namespace headlight {

void add_followed(Drawing& scene, const Trace& trace, const HeadRef& head, float top, float size, Rgb colour,
                  const TextWidth& measure) {
  const Matrix weights = attention_rows(trace, head, 0, trace.queries(head.stack));
  for (Index query = 0; query < weights.rows(); ++query) {
    Index key = 0;
    weights.row(query).maxCoeff(&key);
    const std::string line = piece_label(trace.query_tokens(head.stack).tokens[static_cast<std::size_t>(query)]) +
                             " → " + piece_label(trace.key_tokens(head.stack).tokens[static_cast<std::size_t>(key)]);
    const float y = top + (static_cast<float>(query) + 0.5f) * kLineOfText * size;
    scene.add(text_of({size, y}, line, size, colour, measure));
    scene.hits.push_back({"followed " + std::to_string(query), {size, y - size / 2, measure(line, size), size}});
  }
}

Drawing draw_followed(const FigureSubject& subject, const FigureOptions& options, const TextWidth& measure) {
  Page page = new_page(options, measure);
  add_title_of_head(page, subject, options, options.head);
  add_followed(page.drawing, subject.trace, options.head, page.y, page.label, page.ink.text, measure);
  page.y += static_cast<float>(page.drawing.hits.size()) * kLineOfText * page.label;
  return finished(std::move(page), subject, options, std::nullopt, false, {});
}

}  // namespace headlight
