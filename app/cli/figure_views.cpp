#include "cli/figure_views.h"

namespace headlight {
namespace {

/// An option, the pictures that read it, and the names of their views.
struct OfViews {
  const char* option;
  bool (*is_read)(FigureKind kind);
  const char* views;
};
template <FigureKind... kKinds>
bool is_one_of(FigureKind kind) {
  return ((kind == kKinds) || ...);
}
using Kind = FigureKind;
constexpr auto kMatrix = is_one_of<Kind::matrix>, kText = is_one_of<Kind::text>, kPatch = is_one_of<Kind::patch>;
constexpr OfViews kOfViews[] = {
    {"--matrix", kMatrix, "matrix"},
    {"--row", kMatrix, "matrix"},
    {"--column", kMatrix, "matrix"},
    {"--answers", is_one_of<Kind::lens, Kind::patch>, "lens or patch"},
    {"--at", kPatch, "patch"},
    {"--metric", kPatch, "patch"},
    {"--align", shows_two, "compare, changes or patch"},
    {"--against", shows_two, "compare, changes or patch"},
    {"--queries", kText, "text"},
    {"--keys", kText, "text"},
    {"--mean", kText, "text"},
    {"--threshold", is_one_of<Kind::flow>, "flow"},
    {"--query",
     is_one_of<Kind::steps, Kind::writers, Kind::lens, Kind::diagram, Kind::text, Kind::sentence, Kind::changes,
               Kind::patch>,
     "inside, writers, lens, diagram, text, sentence, changes or patch"},
    {"--key", is_one_of<Kind::steps, Kind::writers, Kind::sentence, Kind::changes>,
     "inside, writers, sentence or changes"},
    {"--own-range", is_one_of<Kind::grid, Kind::layers, Kind::head, Kind::compare, Kind::changes>,
     "heads, head, glance, compare or changes"},
    {"--colours", is_one_of<Kind::grid, Kind::layers, Kind::head, Kind::text, Kind::compare, Kind::changes>,
     "heads, head, text, glance, compare or changes"},
    {"--fold", is_one_of<Kind::grid, Kind::layers, Kind::head, Kind::text, Kind::flow, Kind::compare>,
     "heads, head, text, glance, flow or compare"}};

}  // namespace

Status check_read(const Parser& given, FigureKind kind, const std::string& view) {
  for (const OfViews& one : kOfViews)
    if (given.given(one.option) && !one.is_read(kind))
      return bad_input(one.option, "", std::string("--view ") + one.views, "--view " + view);
  return Done{};
}

}  // namespace headlight
