#include "view/layout.h"

#include <algorithm>
#include <iterator>
#include <string>

#include <nlohmann/json.hpp>

#include "derived/answer_comparison.h"
#include "derived/derived_maps.h"
#include "derived/fold.h"
#include "view/view_names.h"

namespace headlight {
namespace {

using nlohmann::json;

constexpr std::size_t kMostLessonStep = 1 << 16;

std::string string_at(const json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string{};
}

bool is_at(const json& object, const char* key, bool value) { return object.value(key, json()) == value; }

}  // namespace

Layout layout_of(const ViewState& view) {
  return {view.view, view.grid, view.maps, view.fold, view.scale, view.own_range, view.steps, view.differences};
}

void set_layout(ViewState& view, const Layout& layout) {
  view.view = layout.view;
  view.grid = layout.grid;
  view.maps = layout.maps;
  view.fold = layout.fold;
  view.scale = layout.scale;
  view.own_range = layout.own_range;
  view.steps = layout.steps;
  view.differences = layout.differences;
}

void write_layout(const Layout& layout, json& object) {
  if (layout.view != View::heads) object["view"] = view_name(layout.view);
  if (layout.grid != GridShow::maps) object["grid"] = grid_name(layout.grid);
  if (layout.maps != MapKind::weights) object["maps"] = name(layout.maps);
  if (layout.fold.special) object["fold_special"] = true;
  if (layout.fold.words) object["merge_words"] = true;
  if (layout.fold.pair != PairPart::all) object["pair"] = name(layout.fold.pair);
  object["scale"] = layout.scale == Scale::log ? "log" : "linear";
  if (layout.own_range) object["own_range"] = true;
  if (!layout.steps) object["steps"] = false;
  if (layout.differences != Layout{}.differences) object["differences"] = name(layout.differences);
}

Layout layout_from_json(const json& object) {
  Layout layout;
  if (!object.is_object()) return layout;
  layout.view = parse_view(string_at(object, "view")).value_or(View::heads);
  layout.grid = parse_grid(string_at(object, "grid")).value_or(GridShow::maps);
  layout.maps = parse_map_kind(string_at(object, "maps")).value_or(MapKind::weights);
  layout.fold = {.special = is_at(object, "fold_special", true),
                 .words = is_at(object, "merge_words", true),
                 .pair = parse_pair_part(string_at(object, "pair")).value_or(PairPart::all)};
  if (string_at(object, "scale") == "log") layout.scale = Scale::log;
  layout.own_range = is_at(object, "own_range", true);
  layout.steps = !is_at(object, "steps", false);
  layout.differences = parse_difference_order(string_at(object, "differences")).value_or(layout.differences);
  return layout;
}

json lesson_mark_json(const LessonMark& mark) {
  if (mark.name.empty()) return nullptr;
  return {{"name", mark.name}, {"path", mark.path}, {"step", mark.step}};
}

LessonMark lesson_mark_from_json(const json& value) {
  if (!value.is_object()) return {};
  LessonMark mark{string_at(value, "name"), string_at(value, "path")};
  const json step = value.value("step", json());
  if (step.is_number_unsigned()) mark.step = std::min<std::uint64_t>(step.get<std::uint64_t>(), kMostLessonStep);
  return mark.name.empty() ? LessonMark{} : mark;
}

}  // namespace headlight
