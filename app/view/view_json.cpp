#include "view/view_json.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "derived/matrix_names.h"
#include "model/head_text.h"
#include "read/array/array.h"
#include "view/layout.h"

namespace headlight {
namespace {

using nlohmann::json;

std::optional<CellRef> cell_of(const json& value) {
  if (!value.is_array() || value.size() != 2) return std::nullopt;
  return CellRef{index_from_json(value[0]), index_from_json(value[1])};
}

/// The contents of the views: the matrix of View::inside, the program of View::code, the lines of View::flow.
void read_views(const json& object, ViewState& view) {
  const json matrix = object.value("matrix", json());
  const auto quantity = matrix.is_string() ? parse_matrix_name(matrix.get<std::string>()) : std::nullopt;
  view.look.matrix = matrix_id(quantity.value_or(Quantity::weights), view.chosen);
  if (const auto cell = cell_of(object.value("cell", json()))) view.look.cell = MatrixCell{cell->query, cell->key};
  if (const json code = object.value("code", json()); code.is_object()) {
    const json dialect = code.value("dialect", json());
    if (dialect.is_string())
      view.code.dialect = value_named<Dialect>(kDialectNames, dialect.get<std::string>()).value_or(Dialect::numpy);
    view.code.block = code.value("block", json()) == true;
  }
  const json flow = object.value("flow", json());
  if (!flow.is_object()) return;
  const json heads = flow.value("heads", json()), threshold = flow.value("threshold", json());
  if (heads.is_array()) {
    view.flow.heads.emplace();
    for (const json& head : heads) view.flow.heads->push_back(index_from_json(head));
    std::sort(view.flow.heads->begin(), view.flow.heads->end());
    view.flow.heads->erase(std::unique(view.flow.heads->begin(), view.flow.heads->end()), view.flow.heads->end());
  }
  if (threshold.is_number()) view.flow.threshold = std::clamp(threshold.get<float>(), 0.0f, 1.0f);
}

void write_views(const ViewState& view, json& object) {
  if (view.look.matrix.quantity != Quantity::weights) object["matrix"] = matrix_name(view.look.matrix.quantity);
  if (view.look.cell) object["cell"] = {view.look.cell->row, view.look.cell->col};
  if (view.code != CodeLook{}) object["code"] = {{"dialect", name(view.code.dialect)}, {"block", view.code.block}};
  if (view.flow == FlowLook{}) return;
  object["flow"]["threshold"] = view.flow.threshold;
  if (view.flow.heads) object["flow"]["heads"] = *view.flow.heads;
}

}  // namespace

Index index_from_json(const json& value) {
  if (!value.is_number_unsigned()) return 0;
  return static_cast<Index>(std::min<std::uint64_t>(value.get<std::uint64_t>(), kMostElements));
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

ViewState view_from_json(const json& object, std::size_t num_sentences) {
  ViewState view;
  if (!object.is_object()) return view;
  const auto index = [&](const char* key) { return index_from_json(object.value(key, json())); };
  view.sentence = std::min(static_cast<std::size_t>(index("sentence")), std::max<std::size_t>(num_sentences, 1) - 1);
  view.prefix = static_cast<std::size_t>(index("prefix"));
  view.chosen = {index("layer"), index("head")};
  const json stack = object.value("stack", json());
  if (stack.is_string()) view.chosen.stack = parse_stack(stack.get<std::string>()).value_or(Stack::self);
  set_layout(view, layout_from_json(object));
  view.pinned = cell_of(object.value("pinned", json()));
  read_views(object, view);
  for (const auto& [key, part] : {std::pair("viewport", &view.viewport), std::pair("compared", &view.compared)})
    if (const json four = object.value(key, json()); four.is_array() && four.size() == 4)
      *part = {index_from_json(four[0]), index_from_json(four[1]), index_from_json(four[2]), index_from_json(four[3])};
  const json order = object.value("order", json()), find = object.value("find", json());
  if (order.is_string()) view.order = parse_head_order(order.get<std::string>()).value_or(HeadOrder{});
  view.order.ascending = object.value("ascending", json()) == true;
  if (find.is_object()) {
    const auto word = [&](const char* key) {
      const json value = find.value(key, json());
      return value.is_string() ? value.get<std::string>() : std::string();
    };
    view.find = {.on = true, .words = {word("from"), word("to")}};
    if (const json above = find.value("above", json()); above.is_number())
      view.find.above = std::clamp(above.get<float>(), 0.0f, 1.0f);
  }
  return view;
}

}  // namespace headlight
