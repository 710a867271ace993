// The views of the window as files and the command line name them.
#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

#include "base/names.h"
#include "view/view_state.h"

namespace headlight {

/// Of View, in its order.
inline constexpr std::string_view kViewNames[] = {"heads", "inside", "flow", "train", "compare"};

inline std::string_view view_name(View view) { return kViewNames[static_cast<std::size_t>(view)]; }

inline std::optional<View> parse_view(std::string_view name) { return value_named<View>(kViewNames, name); }

/// Of GridShow, in its order.
inline constexpr std::string_view kGridNames[] = {"maps", "glance", "row", "column"};

inline std::string_view grid_name(GridShow grid) { return kGridNames[static_cast<std::size_t>(grid)]; }

/// Also the names that older sessions have: query, key.
inline std::optional<GridShow> parse_grid(std::string_view name) {
  if (name == "query") return GridShow::query;
  if (name == "key") return GridShow::key;
  return value_named<GridShow>(kGridNames, name);
}

/// What a name after --view shows: of the window, and as a figure.
struct NamedView {
  std::string_view name;
  View view = View::heads;
  GridShow grid = GridShow::maps;
  bool steps = true;                      // of View::inside
  std::optional<FigureKind> figure = {};  // nothing: there is no such figure
};

/// Two names that stand for the same follow each other.
inline constexpr NamedView kNamedViews[] = {
    {.name = "grid", .figure = FigureKind::grid},
    {.name = "heads", .figure = FigureKind::grid},
    {.name = "head", .figure = FigureKind::head},
    {.name = "layers", .grid = GridShow::glance, .figure = FigureKind::layers},
    {.name = "glance", .grid = GridShow::glance, .figure = FigureKind::layers},
    {.name = "row", .grid = GridShow::query, .figure = FigureKind::row},
    {.name = "column", .grid = GridShow::key, .figure = FigureKind::column},
    {.name = "flow", .view = View::flow, .figure = FigureKind::flow},
    {.name = "steps", .view = View::inside, .figure = FigureKind::steps},
    {.name = "inside", .view = View::inside, .figure = FigureKind::steps},
    {.name = "diagram", .view = View::inside, .steps = false, .figure = FigureKind::diagram},
    {.name = "matrix", .view = View::inside, .figure = FigureKind::matrix},
    {.name = "train", .view = View::train},
    {.name = "compare", .view = View::compare, .figure = FigureKind::compare}};

/// Null where there is no such name.
inline const NamedView* named_view(std::string_view name) {
  const auto is = [name](const NamedView& view) { return view.name == name; };
  const auto found = std::find_if(std::begin(kNamedViews), std::end(kNamedViews), is);
  return found == std::end(kNamedViews) ? nullptr : found;
}

}  // namespace headlight
