// How well each layer shows each relation of the grammar.
#include <algorithm>
#include <cmath>

#include "figure/head_name.h"
#include "gui/frame/draw.h"
#include "gui/frame/no_answer.h"
#include "model/head_text.h"
#include "models/bundled_models.h"
#include "session/head_grid.h"
#include "views/heads/panel/grid_parts.h"
#include "words/grid_words.h"
#include "words/head_name_words.h"
#include "words/relation_words.h"

namespace headlight {
namespace {

/// Where the parts of the table stand: the names, the two baselines, then the layers.
struct Table {
  float left = 0;               // of the window: the names stay there
  float names = 0, number = 0;  // widths of the columns: the names, a baseline, …
  float cell = 0, row = 0;      // … a layer; the height of a row
  float gap = 0;                // between two columns
  ImVec2 origin = {};           // of the table, which may be scrolled

  float layer_x(std::size_t layer) const { return origin.x + names + 2 * number + static_cast<float>(layer) * cell; }
  float width(std::size_t layers) const { return layer_x(layers) - origin.x; }
};

/// The score of one head of a relation, named by the direction in which it looks.
RelationScore looking(const RelationScore& relation, std::size_t head) {
  RelationScore one = relation;
  one.chosen = relation.directed[head];
  return one;
}

std::string forward_name(const Gui& gui, const RelationScore& relation) {
  RelationScore forward = relation;
  forward.chosen.reversed = false;
  return gui.fonts.shown(relation_in_words(gui.state.settings.language, forward));
}

void text_at(ImDrawList& list, float x, float y, ImU32 ink, const std::string& text) {
  list.AddText({std::round(x), std::round(y)}, ink, text.c_str());
}

/// The best head of a layer, its score as a bar, and a tick where position alone stands; in grey where that is no less.
void layer_cell(Gui& gui, const Table& table, const RelationScore& relation, std::size_t layer, float y) {
  const std::size_t best = relation.best_of_layer[layer];
  const DirectedHead& looks = relation.directed[best];
  const HeadRef head{looks.layer, looks.head};
  const double score = relation.heads[best].accuracy, alone = position_alone(relation);
  const bool above = score > alone;
  const Palette& colours = gui.colours();
  const Box box{table.layer_x(layer), y, table.cell - table.gap, table.row - 4 * gui.unit};

  const std::string id = "relation " + relation.relation + " " + std::to_string(layer);
  ImGui::SetCursorScreenPos({box.x, box.y});
  if (ImGui::InvisibleButton(id.c_str(), {box.w, box.h})) gui.push(ChooseHead{head});
  gui.name_item(id);
  const bool hovered = ImGui::IsItemHovered();
  if (hovered) {
    const Language language = gui.state.settings.language;
    const std::string numbers =
        filled(gui.word(kHeadNameWords.tip_relation),
               {std::to_string(relation.sentences), share_text(score), share_text(alone), share_text(relation.random)});
    explain_item(gui, head_label(head) + "  " + relation_in_words(language, looking(relation, best)) + "\n" + numbers);
    gui.push(Hover{head, std::nullopt});
  }

  ImDrawList& list = *ImGui::GetWindowDrawList();
  const bool chosen = gui.state.view.chosen == head;
  const ImU32 ink = chosen ? colours.accent : above || hovered ? colours.text : colours.dim;
  const std::string text =
      "H" + std::to_string(head.head) + "  " + share_text(score) + (looks.reversed ? "  ←" : "  →");
  text_at(list, box.x, box.y, ink, text);
  const float height = 5 * gui.unit, bar = box.bottom() - height - 3 * gui.unit;
  const auto at = [&](double share) { return box.x + box.w * static_cast<float>(std::clamp(share, 0.0, 1.0)); };
  list.AddRectFilled({box.x, bar}, {box.right(), bar + height}, colours.line);
  list.AddRectFilled({box.x, bar}, {at(score), bar + height}, ink);
  list.AddLine({at(alone), bar - 2 * gui.unit}, {at(alone), bar + height + 2 * gui.unit}, colours.text, gui.unit);
}

/// What position alone reaches, and the best head of random weights.
void baselines(const Gui& gui, const Table& table, const RelationScore& relation, float y) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float x = table.origin.x + table.names;
  text_at(list, x, y, gui.colours().dim, share_text(position_alone(relation)));
  text_at(list, x + table.number, y, gui.colours().dim, share_text(relation.random));
}

Table table_of(const Gui& gui, const std::vector<RelationScore>& relations) {
  const float text = ImGui::GetFontSize(), space = 14 * gui.unit;
  Table table{.origin = ImGui::GetCursorScreenPos()};
  table.left = ImGui::GetWindowPos().x;
  table.gap = space;
  table.names = ImGui::CalcTextSize(gui.word(kGridWords.relation)).x + space;
  for (const RelationScore& one : relations)
    table.names = std::max(table.names, ImGui::CalcTextSize(forward_name(gui, one).c_str()).x + space);
  for (const Words& title : {kGridWords.position_alone, kGridWords.random_weights})
    table.number = std::max(table.number, ImGui::CalcTextSize(gui.word(title)).x + space);
  table.number = std::max(table.number, ImGui::CalcTextSize("100 %").x + space);
  table.cell = ImGui::CalcTextSize("H00  99.9 %  ←").x + space;
  table.row = text + 18 * gui.unit;
  return table;
}

void scores_of_layers(Gui& gui, const std::vector<RelationScore>& relations) {
  const Table table = table_of(gui, relations);
  const std::size_t layers = relations.front().best_of_layer.size();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 window = ImGui::GetWindowPos();
  const float header = ImGui::GetFontSize() + 8 * gui.unit;
  const ImU32 dim = gui.colours().dim;
  text_at(list, table.left, table.origin.y, dim, gui.word(kGridWords.relation));
  // The names stay where they are while the layers are scrolled: what would stand below them is cut off.
  const ImVec2 corner{window.x + table.names, window.y},
      end{window.x + ImGui::GetWindowWidth(), window.y + ImGui::GetWindowHeight()};
  ImGui::PushClipRect(corner, end, true);
  const float baseline = table.origin.x + table.names;
  text_at(list, baseline, table.origin.y, dim, gui.word(kGridWords.position_alone));
  text_at(list, baseline + table.number, table.origin.y, dim, gui.word(kGridWords.random_weights));
  for (std::size_t layer = 0; layer < layers; ++layer)
    text_at(list, table.layer_x(layer), table.origin.y, dim, "L" + std::to_string(layer));
  ImGui::PopClipRect();
  for (std::size_t i = 0; i < relations.size(); ++i) {
    const float y = table.origin.y + header + static_cast<float>(i) * table.row;
    text_at(list, table.left, y, gui.colours().text, forward_name(gui, relations[i]));
    ImGui::PushClipRect(corner, end, true);
    baselines(gui, table, relations[i], y);
    for (std::size_t layer = 0; layer < layers; ++layer) layer_cell(gui, table, relations[i], layer, y);
    ImGui::PopClipRect();
  }
  ImGui::SetCursorScreenPos(table.origin);
  ImGui::Dummy({table.width(layers), header + static_cast<float>(relations.size()) * table.row});
}

}  // namespace

void relation_table(Gui& gui) {
  const AppState& state = gui.state;
  const FontScope small(gui, TextSize::small);
  const auto explain = [&](const Words& words) { wrapped_dim(gui, gui.word(words)); };
  if (!state.document.model) return explain(kGridWords.nothing_learned);
  const auto question = layer_question(state);
  if (!question) return explain(kGridWords.translates);
  if (const Error* error = state.layer_scores.error_of(*question))
    return wrapped_small(gui, plain_lines(gui, *error), gui.colours().warning);
  const auto* scores = known_layer_scores(state);
  if (!scores) return explain(kGridWords.measuring_layers);
  if (!scores->empty()) scores_of_layers(gui, *scores);
}

}  // namespace headlight
