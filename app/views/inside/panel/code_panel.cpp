#include <algorithm>
#include <cmath>

#include "gui/actions/actions.h"
#include "gui/actions/window.h"
#include "gui/frame/draw.h"
#include "gui/frame/no_answer.h"
#include "views/inside/panel/inside.h"
#include "words/answer_words.h"
#include "words/inside_words.h"

namespace headlight {
namespace {

/// The dialects, the whole block, and what can be done with the program.
void program_header(Gui& gui) {
  CodeLook code = gui.state.view.code;
  const Words* tips[] = {&kCodeWords.tip_numpy, &kCodeWords.tip_einsum, &kCodeWords.tip_matmul, &kCodeWords.tip_module};
  constexpr const char* kLabels[] = {"NumPy", "einsum", "matmul", "nn.MultiheadAttention"};
  for (std::size_t i = 0; i < std::size(kDialectNames); ++i) {
    const auto dialect = static_cast<Dialect>(i);
    if (i > 0) same_line_if_room(button_width(kLabels[i]), 0);
    if (flat_button(gui, ("dialect " + std::string(kDialectNames[i])).c_str(), kLabels[i], code.dialect == dialect))
      gui.push(SetCode{{dialect, code.block}});
    explain_item(gui, *tips[i]);
  }
  const auto button = [&](const char* name, const Words& label, bool on, float gap) {
    same_line_if_room(button_width(gui.word(label)), gap * gui.unit);
    return flat_button(gui, name, gui.word(label), on);
  };
  if (button("whole block", kCodeWords.block, code.block, 12)) gui.push(SetCode{{code.dialect, !code.block}});
  explain_item(gui, kCodeWords.tip_block);
  if (button("copy program", kCodeWords.copy, false, 12)) copy_program(gui);
  explain_item(gui, kCodeWords.tip_copy, {Act::copy_program});
  if (button("save program", kCodeWords.save, false, 0)) gui.push(Browse{Browser::Purpose::export_to, {}});
  explain_item(gui, kCodeWords.tip_save, {Act::export_numbers});
}

/// The shape of what a line makes, and its axes: `(1, 10, 64)  b i hd`.
std::string shape_of_line(const ProgramLine& line) {
  ProgramLine alone = line;
  alone.text.clear();
  std::string text = line_text(alone, 0);
  return text.substr(std::min(text.find('('), text.size()));
}

struct ListingColumns {
  float number = 0, indent = 0, right = 0, height = 0;
  float axes = 0;  // the widest names of axes, which begin below each other
};

/// Where the names of the axes begin in the text of a shape.
std::size_t axes_of(const std::string& shape) { return std::min(shape.find(')'), shape.size() - 1) + 1; }

void draw_line(Gui& gui, const Listing& listing, std::size_t index, bool lit, const ListingColumns& columns) {
  const ProgramLine& line = listing.lines[index];
  const Palette& colours = gui.colours();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const bool shows = line.shows && exists(*listing.question.trace, *line.shows);
  ImGui::PushID(static_cast<int>(index));
  const bool pressed = ImGui::InvisibleButton("line", {columns.right, columns.height});
  ImGui::PopID();
  gui.name_item("code line " + std::to_string(index), shows ? BoxKind::link : BoxKind::none);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 end{at.x + columns.right, at.y + columns.height};
  if (lit) list.AddRectFilled(at, end, colours.selected, 3 * gui.unit);
  if (shows && ImGui::IsItemHovered()) {
    list.AddRect(at, end, colours.outline, 3 * gui.unit, 0, gui.unit);
    const std::string made = line.makes + " " + shape_of_line(line);
    if (!line.makes.empty()) explain_item(gui, gui.fonts.shown(filled(gui.word(kCodeWords.line_makes), {made})));
  }
  if (shows && pressed) gui.push(LookAt{{*line.shows, std::nullopt}});
  const float top = at.y + (columns.height - ImGui::GetFontSize()) / 2;
  const std::string number = std::to_string(index + 1);
  list.AddText({at.x + columns.number - ImGui::CalcTextSize(number.c_str()).x, top}, colours.faint, number.c_str());
  const std::size_t begin = std::min(line.text.find_first_not_of(' '), line.text.size());
  const std::string text = gui.fonts.shown(line.text.substr(begin));
  const bool comment = text.starts_with('#');
  const float x = at.x + columns.number + 10 * gui.unit + static_cast<float>(begin) * columns.indent;
  const std::string shape = line.shape.empty() ? std::string() : shape_of_line(line);
  const std::size_t axes = shape.empty() ? 0 : axes_of(shape);
  const float sizes_width = ImGui::CalcTextSize(shape.substr(0, axes).c_str()).x;
  const float shape_width = shape.empty() ? 0 : sizes_width + columns.axes + 16 * gui.unit;
  const float room = end.x - 4 * gui.unit - shape_width;
  if (line.makes.empty() && ImGui::IsItemHovered() && x + ImGui::CalcTextSize(text.c_str()).x > room)
    explain_item(gui, text);
  list.PushClipRect(at, {room, end.y}, true);
  list.AddText({x, top}, comment ? colours.dim : colours.text, text.c_str());
  list.PopClipRect();
  if (!shape.empty())  // the font is monospaced: the axes of all lines begin at the same x
    list.AddText({end.x - shape_width + 10 * gui.unit, top}, lit ? colours.accent : colours.dim, shape.c_str());
}

void draw_lines(Gui& gui, const Listing& listing) {
  const FontScope code(gui, TextSize::code);
  const std::vector<std::size_t> made = listing.lines_that_make(gui.state.view.look.matrix);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2{0, 0});
  ImGui::BeginChild("program", {0, 0});
  ListingColumns columns;
  columns.number = ImGui::CalcTextSize(std::to_string(listing.lines.size()).c_str()).x + 4 * gui.unit;
  columns.indent = ImGui::CalcTextSize("n").x;
  for (const ProgramLine& line : listing.lines) {
    const std::string shape = line.shape.empty() ? std::string() : shape_of_line(line);
    if (!shape.empty())
      columns.axes = std::max(columns.axes, ImGui::CalcTextSize(shape.substr(axes_of(shape)).c_str()).x);
  }
  columns.height = std::round(ImGui::GetFontSize() * 1.45f);
  columns.right = ImGui::GetContentRegionAvail().x - 2 * gui.unit;
  // Where a matrix was chosen in another panel, its line is scrolled into sight.
  if (!made.empty() && !ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem)) {
    const float first = static_cast<float>(made.front()) * columns.height,
                last = static_cast<float>(made.back() + 1) * columns.height;
    const float top = ImGui::GetScrollY(), room = ImGui::GetWindowHeight();
    if (first < top || last > top + room) ImGui::SetScrollY(std::max(0.0f, first - room / 3));
  }
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(listing.lines.size()), columns.height);
  while (clipper.Step())
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const auto index = static_cast<std::size_t>(i);
      draw_line(gui, listing, index, std::ranges::find(made, index) != made.end(), columns);
    }
  ImGui::EndChild();
  ImGui::PopStyleVar();
}

}  // namespace

void code_panel(Gui& gui) {
  if (state_card(gui)) return;
  problem_line(gui);
  program_header(gui);
  word_bracket(gui);
  const Listing* listing = gui.state.listing.get();
  if (!listing) return dim_text(gui, gui.word(kAnswerWords.computing));
  if (listing->problem) return wrapped_dim(gui, plain_lines(gui, *listing->problem));
  draw_lines(gui, *listing);
}

}  // namespace headlight
