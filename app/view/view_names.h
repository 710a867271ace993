// The views of the window as files and the command line name them.
#pragma once

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>

#include "base/names.h"
#include "view/view_state.h"

namespace headlight {

/// Earlier names of views: still read, in no help and in no file that is written.
struct EarlierName {
  std::string_view earlier, name;
};
inline constexpr EarlierName kEarlierViewNames[] = {{"grid", "heads"}, {"layers", "glance"}, {"steps", "inside"}};

/// The present name of a view; any other word as it is.
inline std::string_view present_view_name(std::string_view name) {
  for (const EarlierName& view : kEarlierViewNames)
    if (view.earlier == name) return view.name;
  return name;
}

/// Of InsideTab, in its order.
inline constexpr std::string_view kTabNames[] = {"numbers", "why", "lens", "diagram"};
inline std::string_view name(InsideTab tab) { return name_in(kTabNames, tab); }

/// Of GridShow, in its order.
inline constexpr std::string_view kGridNames[] = {"maps", "glance", "relations"};

/// Of StageForm, in its order.
inline constexpr std::string_view kStageForms[] = {"sentence", "map", "text"};

/// Of Scale, in its order.
inline constexpr std::string_view kScaleNames[] = {"linear", "log"};

/// The view of a name after --view: in the window, and as a figure.
struct NamedView {
  std::string_view name;
  View view = View::heads;
  GridShow grid = GridShow::maps;
  InsideTab tab = InsideTab::numbers;     // of View::inside
  bool patch = false;                     // of View::compare: PatchLook::on
  bool changes = false;                   // … and ViewState::changes
  std::optional<StageForm> form = {};     // of View::heads: TextLook::form
  std::optional<FigureKind> figure = {};  // nothing: there is no such figure
};

/// Of those that show one view of the window the most general comes first.
inline constexpr NamedView kNamedViews[] = {
    {.name = "heads", .figure = FigureKind::grid},
    {.name = "sentence", .form = StageForm::sentence, .figure = FigureKind::sentence},
    {.name = "head", .form = StageForm::map, .figure = FigureKind::head},
    {.name = "text", .form = StageForm::text, .figure = FigureKind::text},
    {.name = "glance", .grid = GridShow::all, .figure = FigureKind::layers},
    {.name = "relations", .grid = GridShow::relations},
    {.name = "inside", .view = View::inside, .figure = FigureKind::steps},
    {.name = "writers", .view = View::inside, .tab = InsideTab::why, .figure = FigureKind::writers},
    {.name = "lens", .view = View::inside, .tab = InsideTab::lens, .figure = FigureKind::lens},
    {.name = "diagram", .view = View::inside, .tab = InsideTab::diagram, .figure = FigureKind::diagram},
    {.name = "matrix", .view = View::inside, .figure = FigureKind::matrix},
    {.name = "flow", .view = View::flow, .figure = FigureKind::flow},
    {.name = "train", .view = View::train},
    {.name = "compare", .view = View::compare, .figure = FigureKind::compare},
    {.name = "changes", .view = View::compare, .changes = true, .figure = FigureKind::changes},
    {.name = "patch", .view = View::compare, .patch = true, .figure = FigureKind::patch},
    {.name = "code", .view = View::code},
    {.name = "study", .view = View::study}};

/// Of View, in its order: of the names above that show it the most general.
inline constexpr auto kViewNames = [] {
  constexpr View last = std::ranges::max_element(kNamedViews, {}, &NamedView::view)->view;
  std::array<std::string_view, 1 + static_cast<std::size_t>(last)> names;
  for (auto one = std::rbegin(kNamedViews); one != std::rend(kNamedViews); ++one)
    names[static_cast<std::size_t>(one->view)] = one->name;
  return names;
}();
inline std::string_view name(View view) { return name_in(kViewNames, view); }

/// By its name, or by an earlier one. Null where there is no such name.
inline const NamedView* named_view(std::string_view name) {
  const auto found = std::ranges::find(kNamedViews, present_view_name(name), &NamedView::name);
  return found == std::end(kNamedViews) ? nullptr : found;
}

}  // namespace headlight
