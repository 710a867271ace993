#include "figure/labels.h"
#include "gui/actions/actions.h"
#include "gui/frame/draw.h"
#include "gui/frame/looks.h"
#include "gui/frame/no_answer.h"
#include "gui/frame/scene.h"
#include "gui/frame/texture_ids.h"
#include "math/attention.h"
#include "view/view_names.h"
#include "views/inside/inside_scene.h"
#include "views/inside/panel/inside.h"
#include "views/inside/weight_lines.h"
#include "words/answer_words.h"
#include "words/explain_words.h"
#include "words/inside_words.h"

namespace headlight {
namespace {

/// Names of the steps' pictures come after those of the nodes.
constexpr std::size_t kFirstStep = 512;

void paint(Gui& gui, const Drawing& scene, ImVec2 origin, std::size_t first_picture) {
  paint_scene(gui, scene, {.origin = origin, .opacity = inside_opacity(gui.state), .version = [&](std::size_t map) {
                             return inside_picture_version(gui.state, first_picture + map);
                           }});
}

void outline_hit(Gui& gui, const Hit& hit, ImVec2 origin, ImU32 colour) {
  ImGui::GetWindowDrawList()->AddRect({origin.x + hit.box.x, origin.y + hit.box.y},
                                      {origin.x + hit.box.right(), origin.y + hit.box.bottom()}, colour, 4 * gui.unit,
                                      0, gui.unit);
}

void diagram(Gui& gui) {
  const auto inside = gui.state.inside.answer();
  const Trace& trace = *inside->question.trace;
  const TextWidth measure = window_measure(gui);
  const InsideStyle style = inside_style(gui, measure);
  ImGui::BeginChild("way", {0, 0}, false, ImGuiWindowFlags_HorizontalScrollbar);
  const DiagramLayout layout = layout_diagram(inside->diagram, ImGui::GetContentRegionAvail().x - 4 * gui.unit,
                                              diagram_measures(style.type, 44));
  const ImVec2 corner = ImGui::GetCursorScreenPos(), origin{corner.x + 2 * gui.unit, corner.y + 2 * gui.unit};
  std::vector<SharedPicture> pictures;
  for (const MatrixPicture& picture : inside->pictures) pictures.emplace_back(inside, &picture);
  Drawing scene;
  add_diagram(scene, style, trace, inside->diagram, pictures, layout, {}, gui.state.view.look.matrix);
  paint(gui, scene, origin, 0);
  std::size_t map = 0;
  for (const Item& item : scene.items)
    if (const Cells* cells = std::get_if<Cells>(&item)) {
      while (inside->pictures[map].values.size() == 0) ++map;
      mark_moved(gui, *ImGui::GetWindowDrawList(), inside->pictures[map++], moved(cells->box, {origin.x, origin.y}),
                 false);
    }
  const auto [hovered, clicked] = scene_buttons(gui, scene, origin);
  if (clicked) gui.push(LookAt{{inside->diagram.nodes[*clicked].shows, std::nullopt}});
  if (hovered) {
    const MatrixId& id = inside->diagram.nodes[*hovered].shows;
    outline_hit(gui, scene.hits[*hovered], origin, gui.colours().action);
    ImGui::SetTooltip("%s\n%s", words_of(style.language, id.quantity),
                      gui.fonts.shown(formula_in(style.language, trace, id)).c_str());
  }
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy({layout.width, layout.height + 8 * gui.unit});
  ImGui::EndChild();
}

void draw_step(Gui& gui, const Inside& inside, std::size_t index) {
  const Step& step = inside.steps[index];
  const TextWidth measure = window_measure(gui);
  const InsideStyle style = inside_style(gui, measure);
  const SharedPicture picture(gui.state.inside.answer(), &inside.step_pictures[index]);
  const bool chosen = gui.state.view.look.matrix == step.id;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Box box{0, 0, ImGui::GetContentRegionAvail().x - 2 * gui.unit, step_height(step, *picture, style.type)};
  Drawing scene;
  add_step(scene, style, *inside.question.trace, step, picture, index, box, chosen);
  paint(gui, scene, at, kFirstStep + index);
  const auto [hovered, clicked] = scene_buttons(gui, scene, at);
  if (clicked) gui.push(LookAt{{step.id, MatrixCell{step.row, step.col}}});
  if (hovered || chosen) outline_hit(gui, scene.hits.front(), at, chosen ? gui.colours().accent : gui.colours().line);
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({box.w, box.h});
}

/// The heading of a line is its button: it opens the line, or closes it, and the matrix beside shows where it comes
/// from.
void act_on_line(Gui& gui, const WeightNumbers& of, WeightLine which, bool open, const Hit& hit) {
  const float unit = gui.unit;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  if (ImGui::InvisibleButton(hit.name.c_str(), {hit.box.w, hit.box.h})) {
    gui.push(OpenInsideLine{open ? std::nullopt : std::optional(static_cast<std::size_t>(which))});
    if (const Step* step = step_of_line(of, which); step && !open)
      gui.push(LookAt{{step->id, MatrixCell{step->row, step->col}}});
  }
  gui.name_item(hit.name);
  const bool hovered = ImGui::IsItemHovered();
  explain_item(gui, kInsideWords.tip_line);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (hovered) list.AddRectFilled(at, {at.x + hit.box.w, at.y + hit.box.h}, gui.colours().button_hovered, 4 * unit);
  const float x = at.x + 9 * unit, y = at.y + hit.box.h / 2, size = 4 * unit;
  const ImVec2 down[] = {{x - size, y - size / 2}, {x + size, y - size / 2}, {x, y + size}};
  const ImVec2 right[] = {{x - size / 2, y - size}, {x + size, y}, {x - size / 2, y + size}};
  const auto& mark = open ? down : right;
  list.AddTriangleFilled(mark[0], mark[1], mark[2], gui.colours().dim);
}

/// The lines that the answer has, and below the open one its steps.
void weight_lines(Gui& gui, const Inside& inside) {
  const InsideQuestion& question = inside.question;
  const WeightNumbers of{*question.trace,      question.head, *question.cell,          inside.steps,
                         inside.step_pictures, inside.row,    gui.state.view.gradients};
  const TextWidth measure = window_measure(gui);
  const InsideStyle style = inside_style(gui, measure);
  for (std::size_t number = 0; number < kWeightLines; ++number) {
    const auto which = static_cast<WeightLine>(number);
    if (!of.has(which)) continue;
    const bool open = gui.state.view.inside_line == number;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    Drawing scene;
    const NumberBars bars =
        add_weight_line(scene, style, of, which, {0, 0}, ImGui::GetContentRegionAvail().x, 20 * gui.unit);
    act_on_line(gui, of, which, open, scene.hits.front());
    paint_scene(gui, scene, {.origin = at});
    ImGui::Dummy({scene.hits.front().box.w, numbers_of_line(style.type, which)});
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const auto bar = ImGui::IsWindowHovered() ? bars.at({mouse.x - at.x, mouse.y - at.y}) : std::nullopt;
    if (bar) ImGui::SetTooltip("%s", bars.tip(*bar).c_str());
    if (open)
      for (std::size_t i = 0; i < inside.steps.size(); ++i)
        if (weight_line_of(inside.steps[i].name) == which) draw_step(gui, inside, i);
    ImGui::Dummy({0, 2 * gui.unit});
  }
}

void steps(Gui& gui) {
  const Inside& inside = *gui.state.inside;
  if (inside.steps.empty() || !inside.question.cell) {
    dim_text(gui, gui.word(kInsideWords.pin_for_steps));
    return;
  }
  ImGui::BeginChild("steps");
  weight_lines(gui, inside);
  ImGui::EndChild();
}

/// What is asked for seldom: gradients, and how far the two words are from each other, here and elsewhere.
void path_line(Gui& gui, const InsideQuestion& question) {
  const bool shown = gui.state.view.gradients;
  const FontScope small(gui, TextSize::small);
  const std::string label = (shown ? "− " : "+ ") + std::string(gui.word(kInsideWords.gradients_and_path));
  if (link_button(gui, "show gradients", label.c_str())) gui.push(SetGradients{!shown});
  explain_item(gui, kInsideWords.tip_gradients_and_path);
  const std::string path = path_in_words(gui.state.settings.language, *question.trace, question.head, *question.cell);
  if (!shown || path.empty()) return;
  cut_text(gui, path, gui.colours().dim, ImGui::GetContentRegionAvail().x);
  gui.name_item("path", BoxKind::label);
  explain_item(gui, kInsideWords.tip_path);
}

}  // namespace

void word_bracket(Gui& gui) {
  const AppState& state = gui.state;
  const HeadRef& head = state.view.chosen;
  if (!state.view.pinned || !state.trace || !state.trace->has(head.stack)) return;
  const CellRef cell = *state.view.pinned;
  const Tokens &queries = state.trace->query_tokens(head.stack), &keys = state.trace->key_tokens(head.stack);
  if (cell.query >= std::ssize(queries.tokens) || cell.key >= std::ssize(keys.tokens)) return;
  const FoldedAxis::Group rows = word_at(queries, cell.query), columns = word_at(keys, cell.key);
  if (rows.count * columns.count == 1) return;
  const Matrix weights = attention_rows(*state.trace, head, rows.first, rows.count)
                             .middleCols(columns.first, columns.count)
                             .cwiseMax(0.0f);  // (pieces of the query, pieces of the key)
  const FontScope small(gui, TextSize::small);
  bool first = true;
  const auto goes_on = [&](const std::string& words, float gap) {
    if (!first) same_line_if_room(shown_width(gui, words), gap * gui.unit);
    first = false;
  };
  const auto side = [&](const Tokens& tokens, const FoldedAxis::Group& word, bool of_query) {
    if (word.count == 1) return;
    const float sum = weights.sum() / static_cast<float>(rows.count);
    const std::string whole = gui.fonts.shown(axis_label(joined(tokens, word))) + " " + weight_text(sum) + " = " +
                              (of_query ? gui.word(kAnswerWords.mean_of) : "");
    goes_on(whole, 12);
    ImGui::AlignTextToFramePadding();  // as the links beside it
    ImGui::TextUnformatted(whole.c_str());
    for (Index i = 0; i < word.count; ++i) {
      const CellRef piece = of_query ? CellRef{word.first + i, cell.key} : CellRef{cell.query, word.first + i};
      const float weight = of_query ? weights.row(i).sum() : weights.col(i).sum() / static_cast<float>(rows.count);
      const std::string label = gui.fonts.shown(axis_label(joined(tokens, {word.first + i, 1}))) + " " +
                                weight_text(weight) + (i + 1 < word.count && !of_query ? " +" : "");
      goes_on(label, 6);
      ImGui::AlignTextToFramePadding();
      if (piece == cell) ImGui::TextUnformatted(label.c_str());
      else if (link_button(gui, ((of_query ? "query piece " : "key piece ") + std::to_string(i)).c_str(),
                           label.c_str()))
        gui.push(LookAt{look_of_weight(head, piece), piece});
    }
  };
  side(keys, columns, false);
  side(queries, rows, true);
}

InsideStyle inside_style(const Gui& gui, const TextWidth& measure) {
  const float title = gui.fonts.pixels(TextSize::body), small = gui.fonts.pixels(TextSize::small);
  const Palette& colours = gui.colours();
  return {.language = gui.state.settings.language,
          .theme = gui.state.settings.theme,
          .type = {.title = title / kLineOfEm,
                   .small = small / kLineOfEm,
                   .title_line = title,
                   .small_line = small,
                   .unit = gui.unit},
          .ink = ink_colours(gui.state.settings.theme),
          .measure = measure,
          .pen = {gui.unit, 1},
          .ground = to_rgb(colours.panel),
          .frame = to_rgb(colours.line),
          .edge = to_rgb(colours.dim),
          .faint = to_rgb(colours.faint),
          .edge_width = gui.unit,
          .residual_width = gui.unit,
          .corner = 4 * gui.unit};
}

void way_panel(Gui& gui) {
  const AppState& state = gui.state;
  if (state_card(gui)) return;
  problem_line(gui);
  const InsideTab tab = state.view.tab;
  const auto of = [&](InsideTab one, const Words& label, const Words& tip, Act act) {
    return Segment{"tab " + std::string(name(one)), gui.word(label), tab == one, with_keys(gui, tip, {act})};
  };
  const auto pressed =
      segmented(gui, {of(InsideTab::numbers, kInsideWords.numbers, kInsideWords.tip_numbers, Act::numbers),
                      of(InsideTab::why, kInsideWords.why, kInsideWords.tip_why, Act::why),
                      of(InsideTab::lens, kInsideWords.lens, kInsideWords.tip_lens_tab, Act::lens),
                      of(InsideTab::diagram, kInsideWords.way_of_data, kInsideWords.tip_way, Act::next_tab)});
  if (pressed) gui.push(ShowTab{static_cast<InsideTab>(*pressed)});
  if (tab != InsideTab::lens) word_bracket(gui);
  if (tab == InsideTab::why) return writer_list(gui);
  if (tab == InsideTab::lens) return lens_list(gui);
  if (!state.inside) {
    dim_text(gui, gui.word(kAnswerWords.computing));
    return;
  }
  if (tab == InsideTab::diagram) return diagram(gui);
  const auto& question = state.inside->question;
  if (question.cell && question.trace == state.trace) {
    ImGui::TextUnformatted(cell_in_words(gui, question.head, *question.cell).c_str());
    path_line(gui, question);
  }
  steps(gui);
}

}  // namespace headlight
