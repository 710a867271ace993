#include "view/view_json.h"

#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "base/names.h"
#include "derived/answer_comparison.h"
#include "derived/derived_maps.h"
#include "derived/fold.h"
#include "derived/inside.h"
#include "model/head_text.h"
#include "read/array/array.h"
#include "view/view_names.h"

namespace headlight {
namespace {

using nlohmann::json;

constexpr std::size_t kMostLessonStep = 1 << 16;

/// Calls visit(name, value, names) for each field, without `names` for true or false. A new field is added to Layout
/// and here.
template <class AnyLayout, class Visit>
void for_each_setting(AnyLayout& layout, const Visit& visit) {
  visit("view", layout.view, kViewNames);
  visit("grid", layout.grid, kGridNames);
  visit("maps", layout.maps, kMapKindNames);
  visit("fold_special", layout.fold.special);
  visit("merge_words", layout.fold.words);
  visit("pair", layout.fold.pair, kPairNames);
  visit("scale", layout.scale, kScaleNames);
  visit("chose_scale", layout.chose_scale);
  visit("own_range", layout.own_range);
  visit("tab", layout.tab, kTabNames);
  visit("gradients", layout.gradients);
  visit("differences", layout.differences, kDifferenceOrders);
}

json all_settings(const Layout& layout) {
  json object;
  for_each_setting(layout, [&](const char* key, const auto& value, const auto&... names) {
    if constexpr (sizeof...(names) > 0) object[key] = name_in(names..., value);
    else object[key] = value;
  });
  return object;
}

/// A number that was written as an index, 0 for anything else; bounded, so that sums of them are numbers too.
Index index_from_json(const json& value) {
  if (!value.is_number_unsigned()) return 0;
  return static_cast<Index>(std::min<std::uint64_t>(value.get<std::uint64_t>(), kMostElements));
}

/// The indices of a list of so many; nothing for anything else.
std::optional<std::vector<Index>> indices_of(const JsonField& field, std::optional<std::size_t> count) {
  const json& list = field.value();
  if (!list.is_array() || (count && list.size() != *count)) return std::nullopt;
  std::vector<Index> indices;
  for (const json& item : list) indices.push_back(index_from_json(item));
  return indices;
}

/// The same in ascending order, each once.
std::optional<std::vector<Index>> ascending_indices(const JsonField& field) {
  auto indices = indices_of(field, std::nullopt);
  if (!indices) return indices;
  std::ranges::sort(*indices);
  indices->erase(std::unique(indices->begin(), indices->end()), indices->end());
  return indices;
}

template <class Cell>
void read_cell(const JsonField& field, std::optional<Cell>& cell) {
  if (const auto two = indices_of(field, 2)) cell = Cell{(*two)[0], (*two)[1]};
}

void read_viewport(const JsonField& field, Viewport& part) {
  if (const auto four = indices_of(field, 4)) part = {(*four)[0], (*four)[1], (*four)[2], (*four)[3]};
}

/// The contents of the views: the matrix of View::inside, the program of View::code, the lines of View::flow, the text
/// of View::heads.
void read_views(const JsonField& object, ViewState& view) {
  Quantity quantity = Quantity::weights;
  object.read_word("matrix", quantity, parse_matrix_name, "a matrix such as head.query");
  view.look.matrix = matrix_id(quantity, view.chosen);
  read_cell(object.at("cell"), view.look.cell);
  const JsonField patch = object.at("patch"), lens = object.at("lens"), code = object.at("code"),
                  flow = object.at("flow");
  view.patch.on = patch.value().is_object();
  patch.read_choice("form", view.patch.form, kPatchForms);
  if (patch.has("metric")) patch.read_choice("metric", view.patch.metric.emplace(), kMetricNames);
  patch.read("word", view.patch.words.word);
  patch.read("minus", view.patch.words.minus);
  if (const json& pinned = patch.at("pinned").value(); pinned.is_boolean()) view.patch.at_pinned = pinned.get<bool>();
  if (object.has("changes")) object.read("changes", view.changes.emplace());
  if (object.has("alignment")) object.read_choice("alignment", view.alignment.emplace(), kAlignments);
  if (const json& range = object.at("range").value(); range.is_string())
    if (const auto known = parse_range(range.get<std::string>())) view.range = *known;
  lens.read("word", view.lens.word);
  lens.read("minus", view.lens.minus);
  code.read_choice("dialect", view.code.dialect, kDialectNames);
  code.read("block", view.code.block);
  if (auto heads = ascending_indices(flow.at("heads"))) view.flow.heads = std::move(heads);
  flow.read_within("threshold", view.flow.threshold, 0, 1);
  const JsonField text = object.at("text");
  // As earlier versions wrote the form.
  if (const json& shown = text.at("shown").value(); shown.is_boolean())
    view.text.form = shown.get<bool>() ? StageForm::text : StageForm::map;
  if (text.has("form")) text.read_choice("form", view.text.form.emplace(StageForm::map), kStageForms);
  if (text.has("arcs")) text.read_within("arcs", view.text.arcs.emplace(), 0, 1);
  if (text.has("cover")) text.read_within("cover", view.text.cover, 0, 1);
  text.read("columns", view.text.columns);
  text.read_choice("heads", view.text.heads, kShadeHeadNames);
  if (auto words = ascending_indices(text.at("words"))) view.text.words = *std::move(words);
}

void write_views(const ViewState& view, json& object) {
  if (view.look.matrix.quantity != Quantity::weights) object["matrix"] = matrix_name(view.look.matrix.quantity);
  if (view.look.cell) object["cell"] = {view.look.cell->row, view.look.cell->col};
  if (view.patch.on) {
    const PatchLook& patch = view.patch;
    json& written = object["patch"] = {{"form", name_in(kPatchForms, patch.form)}};
    if (patch.metric) written["metric"] = name(*patch.metric);
    if (patch.words != LensWords{}) written["word"] = patch.words.word, written["minus"] = patch.words.minus;
    if (patch.at_pinned) written["pinned"] = *patch.at_pinned;
  }
  if (view.changes) object["changes"] = *view.changes;
  if (view.alignment) object["alignment"] = name(*view.alignment);
  if (view.range) object["range"] = range_text(*view.range);
  if (view.lens != LensWords{}) object["lens"] = {{"word", view.lens.word}, {"minus", view.lens.minus}};
  if (view.code != CodeLook{}) object["code"] = {{"dialect", name(view.code.dialect)}, {"block", view.code.block}};
  if (const TextLook& text = view.text; text != TextLook{}) {
    json& written = object["text"] = {{"columns", text.columns}, {"heads", name(text.heads)}, {"words", text.words}};
    if (text.form) written["form"] = name_in(kStageForms, *text.form);
    if (text.arcs) written["arcs"] = *text.arcs;
    if (text.cover != kUsualCover) written["cover"] = text.cover;
  }
  if (view.flow == FlowLook{}) return;
  object["flow"]["threshold"] = view.flow.threshold;
  if (view.flow.heads) object["flow"]["heads"] = *view.flow.heads;
}

}  // namespace

Result<ColourRange> parse_range(std::string_view text) {
  const std::vector<std::string_view> ends = split_at(',', text);
  ColourRange range{NAN, NAN};
  if (ends.size() == 2)
    range = {parse_number<float>(ends[0]).value_or(NAN), parse_number<float>(ends[1]).value_or(NAN)};
  if (std::isfinite(range.from) && std::isfinite(range.to - range.from) && range.from < range.to) return range;
  return bad_input("--range", "", "two numbers, the smaller first, 0,0.5", printable(text));
}

std::string range_text(const ColourRange& range) { return shortest_text(range.from) + "," + shortest_text(range.to); }

void write_layout(const Layout& layout, json& object) {
  const json usual = all_settings({}), settings = all_settings(layout);
  for (const auto& [key, value] : settings.items())
    if (key == "scale" || key == "fold_special" || value != usual[key]) object[key] = value;
}

void read_layout(const JsonField& object, Layout& layout) {
  bool steps = true;  // as earlier versions wrote the tab
  object.read("steps", steps);
  if (!steps) layout.tab = InsideTab::diagram;
  for_each_setting(layout, [&]<class Value>(const char* key, Value& value, const auto&... names) {
    if constexpr (sizeof...(names) > 0) {
      const auto named = [&](std::string_view word) {
        return value_named<Value>(names..., std::is_same_v<Value, GridShow> ? present_view_name(word) : word);
      };
      object.read_word(key, value, named, "a known word");
    } else {
      object.read(key, value);
    }
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

json view_json(const ViewState& view) {
  json object{{"sentence", view.sentence}, {"layer", view.chosen.layer}, {"head", view.chosen.head}};
  write_layout(layout_of(view), object);
  if (view.prefix > 0) object["prefix"] = view.prefix;
  if (view.chosen.stack != Stack::self) object["stack"] = stack_name(view.chosen.stack);
  if (view.pinned) object["pinned"] = {view.pinned->query, view.pinned->key};
  for (const auto& [key, part] : {std::pair("viewport", view.viewport), std::pair("compared", view.compared)})
    if (part != Viewport{}) object[key] = {part.first_query, part.num_queries, part.first_key, part.num_keys};
  write_views(view, object);
  if (view.order.by != HeadOrder::By::layer) object["order"] = name(view.order);
  if (view.order.ascending) object["ascending"] = true;
  if (view.find.on)
    object["find"] = {{"from", view.find.words.from}, {"to", view.find.words.to}, {"above", view.find.above}};
  return object;
}

ViewState view_from_json(const json& value, std::size_t num_sentences) {
  JsonProblems ignored;
  const JsonField object(value, "", ignored);
  ViewState view;
  if (!value.is_object()) return view;
  view.sentence = std::min(object.size("sentence", kMostElements), std::max<std::size_t>(num_sentences, 1) - 1);
  view.prefix = object.size("prefix", kMostElements);
  view.chosen = {static_cast<Index>(object.size("layer", kMostElements)),
                 static_cast<Index>(object.size("head", kMostElements))};
  object.read_word("stack", view.chosen.stack, parse_stack, "self, encoder or cross");
  read_layout(object, view);
  read_cell(object.at("pinned"), view.pinned);
  read_views(object, view);
  read_viewport(object.at("viewport"), view.viewport);
  read_viewport(object.at("compared"), view.compared);
  object.read_word("order", view.order, parse_head_order, "an order of heads");
  view.order.ascending = false;
  object.read("ascending", view.order.ascending);
  const JsonField find = object.at("find");
  view.find.on = find.value().is_object();
  find.read("from", view.find.words.from);
  find.read("to", view.find.words.to);
  find.read_within("above", view.find.above, 0, 1);
  return view;
}

}  // namespace headlight
