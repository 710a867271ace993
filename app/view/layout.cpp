#include "view/layout.h"

#include "derived/answer_comparison.h"
#include "derived/derived_maps.h"
#include "derived/fold.h"
#include "view/view_names.h"

namespace headlight {
namespace {

using nlohmann::json;

constexpr std::size_t kMostLessonStep = 1 << 16;

/// Calls visit(name, value, parse) for each field, without `parse` for true or false. A new field is added to Layout
/// and here.
template <class AnyLayout, class Visit>
void for_each_setting(AnyLayout& layout, const Visit& visit) {
  visit("view", layout.view, parse_view);
  visit("grid", layout.grid, parse_grid);
  visit("maps", layout.maps, parse_map_kind);
  visit("fold_special", layout.fold.special);
  visit("merge_words", layout.fold.words);
  visit("pair", layout.fold.pair, parse_pair_part);
  visit("scale", layout.scale, parse_scale);
  visit("own_range", layout.own_range);
  visit("steps", layout.steps);
  visit("differences", layout.differences, parse_difference_order);
}

json all_settings(const Layout& layout) {
  json object;
  for_each_setting(layout, [&](const char* key, const auto& value, auto... parse) {
    if constexpr (sizeof...(parse) > 0) object[key] = name(value);
    else object[key] = value;
  });
  return object;
}

}  // namespace

void write_layout(const Layout& layout, json& object) {
  const json usual = all_settings({}), settings = all_settings(layout);
  for (const auto& [key, value] : settings.items())
    if (key == "scale" || value != usual[key]) object[key] = value;
}

void read_layout(const JsonField& object, Layout& layout) {
  for_each_setting(layout, [&](const char* key, auto& value, auto... parse) {
    if constexpr (sizeof...(parse) > 0) object.read_word(key, value, parse..., "a known word");
    else object.read(key, value);
  });
}

json lesson_mark_json(const LessonMark& mark) {
  if (mark.name.empty()) return nullptr;
  return {{"name", mark.name}, {"path", mark.path}, {"step", mark.step}};
}

LessonMark lesson_mark_from(const JsonField& object) {
  LessonMark mark;
  object.read("name", mark.name);
  object.read("path", mark.path);
  mark.step = object.size("step", kMostLessonStep);
  return mark.name.empty() ? LessonMark{} : mark;
}

}  // namespace headlight
