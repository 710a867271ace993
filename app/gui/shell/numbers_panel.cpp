#include <algorithm>

#include "assets/assets.h"
#include "gui/frame/controls.h"
#include "gui/frame/draw.h"
#include "gui/frame/looks.h"
#include "gui/frame/no_answer.h"
#include "gui/shell/shell.h"
#include "model/finding.h"
#include "session/number_commands.h"
#include "words/model_words.h"
#include "words/window_words.h"

namespace headlight {
namespace {

constexpr const char* kSampleFiles[] = {"two-heads", "ten-words", "printed-row", "printed-matrix"};
constexpr std::size_t kMostFindings = 8;

void table_choices(Gui& gui, const NumbersDialog& dialog) {
  for (std::size_t i = 0; i < std::size(kOwnTableNames); ++i) {
    const auto table = static_cast<OwnTable>(i);
    const char* label = gui.word(kNumberWords.tables[i]);
    if (i > 0) same_line_if_room(button_width(label), 0);
    if (flat_button(gui, ("table " + std::string(kOwnTableNames[i])).c_str(), label, dialog.table == table))
      gui.push(ShowNumbers{dialog_on(gui.state, table)});
  }
  if (!is_of_heads(dialog.table)) return;
  const OwnNumbers* numbers = typed_numbers(gui.state);
  const std::size_t count = numbers ? count_of(*numbers, dialog.table) : 0;
  dim_text(gui, gui.word(kNumberWords.head));
  for (std::size_t head = 0; head <= count; ++head) {
    const std::string label = head < count ? std::to_string(head) : gui.word(kNumberWords.one_more);
    same_line_if_room(button_width(label.c_str()), head == 0 ? 6 * gui.unit : 0);
    if (flat_button(gui, ("table head " + std::to_string(head)).c_str(), label.c_str(), dialog.head == head))
      gui.push(ShowNumbers{dialog_on(gui.state, dialog.table, head)});
  }
}

void table_box(Gui& gui, const NumbersDialog& dialog, float height) {
  std::string shown = gui.fonts.edited(dialog.text);
  const std::string id = "##table" + std::string(kOwnTableNames[static_cast<std::size_t>(dialog.table)]) +
                         std::to_string(dialog.head);  // each table has a separate box
  const bool edited = lines_box(gui, id.c_str(), gui.word(kNumberWords.table_hint), shown, {-1, height},
                                ImGuiInputTextFlags_AllowTabInput);
  gui.name_item("table text", BoxKind::field);
  if (!edited) return;
  NumbersDialog changed = dialog;
  changed.text = gui.fonts.typed(shown);
  gui.push(ShowNumbers{std::move(changed)});
}

void sample_buttons(Gui& gui) {
  dim_text(gui, gui.word(kNumberWords.samples));
  const auto folder = asset_folder();
  for (std::size_t i = 0; i < std::size(kSampleFiles); ++i) {
    const char* label = gui.word(kNumberWords.sample_names[i]);
    same_line_if_room(button_width(label), i == 0 ? 6 * gui.unit : 0);
    if (flat_button(gui, ("numbers " + std::string(kSampleFiles[i])).c_str(), label) && folder)
      gui.push(OpenPath{(*folder / "assets" / "numbers" / (kSampleFiles[i] + std::string(kNumbersEnding))).string()});
  }
}

void findings(Gui& gui) {
  const AppState& state = gui.state;
  dim_text(gui, gui.word(kNumberWords.check));
  if (!state.document.numbers) return ImGui::TextUnformatted(gui.word(kNumberWords.no_numbers));
  if (!state.numbers_found) return;  // nothing here can check them
  const std::vector<Mistake>& found = *state.numbers_found;
  if (found.empty()) ImGui::TextUnformatted(gui.word(kNumberWords.nothing_wrong));
  ImGui::PushTextWrapPos(0);
  ImGui::PushStyleColor(ImGuiCol_Text, gui.colours().caution);
  for (std::size_t i = 0; i < std::min(found.size(), kMostFindings); ++i) {
    const Bilingual& text = found[i].text;
    ImGui::TextUnformatted(gui.fonts.shown(gui.chinese() ? text.zh : text.en).c_str());
  }
  if (found.size() > kMostFindings) ImGui::Text("+ %d", static_cast<int>(found.size() - kMostFindings));
  ImGui::PopStyleColor();
  ImGui::PopTextWrapPos();
}

}  // namespace

void numbers_panel(Gui& gui) {
  if (!gui.state.view.numbers || gui.state.browser.purpose != Browser::Purpose::none) return;
  const NumbersDialog& dialog = *gui.state.view.numbers;
  begin_dialog(gui, "numbers", kNumberWords.title, 760, 580);
  wrapped_dim(gui, gui.word(kNumberWords.formats));
  table_choices(gui, dialog);
  // Below it stand a line of buttons, one of samples and what was found.
  const float found = (gui.state.document.numbers ? 10 : 4) * ImGui::GetTextLineHeightWithSpacing();
  const float room = ImGui::GetContentRegionAvail().y;
  table_box(gui, dialog, std::max(room * 0.3f, room - found - 2 * ImGui::GetFrameHeightWithSpacing()));
  if (primary_button(gui, "take numbers", gui.word(kNumberWords.take)))
    gui.push(TakeNumbers{dialog.table, dialog.head, dialog.text});
  explain_item(gui, kNumberWords.tip_take);
  ImGui::SameLine();
  if (flat_button(gui, "close numbers", gui.word(kWindowWords.close))) gui.push(ShowNumbers{});
  if (dialog.problem) wrapped_small(gui, plain_lines(gui, *dialog.problem), gui.colours().warning);
  if (typed_numbers(gui.state) != gui.state.document.numbers.get()) wrapped_dim(gui, gui.word(kNumberWords.waiting));
  sample_buttons(gui);
  ImGui::BeginChild("findings");
  findings(gui);
  ImGui::EndChild();
  end_dialog();
}

}  // namespace headlight
