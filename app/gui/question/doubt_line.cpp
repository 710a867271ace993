#include <algorithm>
#include <array>
#include <string_view>

#include "gui/actions/question.h"
#include "gui/actions/tool_window.h"
#include "gui/frame/draw.h"
#include "gui/frame/looks.h"
#include "gui/question/question.h"
#include "models/model_choice.h"
#include "names/sentence_facts.h"
#include "session/state_rules.h"
#include "session/typing.h"
#include "words/answer_words.h"
#include "words/model_words.h"
#include "words/sentence_words.h"
#include "words/window_words.h"

namespace headlight {
namespace {

constexpr std::size_t kLongestShown = 60;  // bytes of a sentence on a button

/// The warning of the line.
enum class Doubt { none, unknown_words, random_weights };

struct Counts {
  std::size_t words = 0, unknown = 0;
};

Counts counts_of(const AppState& state, const Cursor& cursor) {
  Counts counts;
  const Tokens* tokens = shown_tokens(state);
  if (!tokens) return counts;
  for (const Token& token : tokens->tokens) {
    if (token.special || token.pad) continue;
    ++counts.words;
    if (is_unknown(state, TextSide::source, token, cursor)) ++counts.unknown;
  }
  return counts;
}

Doubt doubt_of(const AppState& state, const Counts& counts) {
  const bool has_trained = state.shipped && !state.shipped->empty();
  if (nothing_asked(state) || !has_trained) return Doubt::none;
  if (is_random(state)) return Doubt::random_weights;
  return counts.unknown > 0 ? Doubt::unknown_words : Doubt::none;
}

/// The kind that a family of the grammar is of, by its name or the last part of it.
const Words& kind_of_words(std::string_view family) {
  struct Kind {
    const Words& words;
    std::string_view names;
  };
  static const std::array<Kind, 7> kinds{{
      {kWordKindWords.people, " person anyone pronoun "},
      {kWordKindWords.things, " object noun subject insect meal "},
      {kWordKindWords.places, " place garden beside near "},
      {kWordKindWords.doing, " ask say verb go predicate help chase cross "},
      {kWordKindWords.qualities, " adjective loser winner fine quality kindly "},
      {kWordKindWords.times, " time when later last "},
      {kWordKindWords.manners, " adverb manner happily "},
  }};
  const std::string last = " " + std::string(family.substr(family.rfind('.') + 1)) + " ";
  for (const Kind& kind : kinds)
    if (kind.names.find(last) != std::string_view::npos) return kind.words;
  return kWordKindWords.small;
}

/// Writes a word at the end of the sentence, before a full stop.
void write_at_end(Gui& gui, const std::string& word) {
  std::string text = gui.state.document.source.text;
  const bool latin = static_cast<unsigned char>(word.front()) < 0x80;
  const bool space = latin && !text.empty() && static_cast<unsigned char>(text.back()) < 0x80 && text.back() != ' ';
  text += (space ? " " : "") + word;
  gui.push_once(SetText{text});
}

/// The words that the model knows, under the kinds in which they stand in the grammar's sentences.
void words_by_kind(Gui& gui, const std::vector<WordFamily>& families) {
  const FontScope small(gui, TextSize::small);
  const float width = std::min(1200 * gui.unit, 0.75f * ImGui::GetIO().DisplaySize.x);  // there are hundreds
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2{ImGui::GetStyle().ItemSpacing.x, 2 * gui.unit});
  ImGui::Dummy({width, 0});
  const Words* const all[] = {&kWordKindWords.people,  &kWordKindWords.things,    &kWordKindWords.places,
                              &kWordKindWords.doing,   &kWordKindWords.qualities, &kWordKindWords.times,
                              &kWordKindWords.manners, &kWordKindWords.small};
  for (const Words* kind : all) {
    std::vector<std::string> words;
    for (const WordFamily& family : families)
      if (&kind_of_words(family.name) == kind)
        for (const std::string& word : family.words)
          if (std::ranges::find(words, word) == words.end()) words.push_back(word);
    if (words.empty()) continue;
    dim_text(gui, gui.word(*kind));
    const float left = ImGui::GetCursorPosX();
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string shown = gui.fonts.shown(words[i]);
      const float needed = ImGui::CalcTextSize(shown.c_str()).x + 2 * ImGui::GetStyle().FramePadding.x;
      if (i > 0) {
        ImGui::SameLine(0, 0);
        if (ImGui::GetCursorPosX() - left + needed > width) ImGui::NewLine();
      }
      if (flat_button(gui, ("known word " + words[i]).c_str(), shown.c_str())) write_at_end(gui, words[i]);
    }
  }
  ImGui::PopStyleVar();
}

void words_popup(Gui& gui) {
  if (!begin_menu("its words")) return;
  const Grammar* grammar = shipped_grammar();
  const auto& model = gui.state.document.model;
  if (grammar && model && model->vocabulary) words_by_kind(gui, known_families(*grammar, *model->vocabulary));
  ImGui::EndPopup();
}

/// The doubt in amber, in `room` pixels: the brief text where the whole one does not fit.
void doubt_text(Gui& gui, const char* name, const std::string& whole, const std::string& brief, float room) {
  ImGui::AlignTextToFramePadding();
  cut_text(gui, ImGui::CalcTextSize(whole.c_str()).x <= room ? whole : brief, gui.colours().caution, room);
  gui.name_item(name, BoxKind::label);
}

void unknown_words(Gui& gui, const Counts& counts, float width) {
  const std::string numbers[] = {std::to_string(counts.unknown), std::to_string(counts.words)};
  const auto asked = partly_unknown_words(gui.state);
  const float gap = 8 * gui.unit, right = ImGui::GetCursorScreenPos().x + width;
  const char* its_words = gui.word(kDoubtWords.its_words);
  const char* brief = gui.word(kDoubtWords.nearest);
  // The sentence is found later: its room is kept until there is none.
  const auto& nearest = gui.state.nearest;
  const bool searched = asked && nearest && nearest.question()->words == *asked;
  const float buttons = button_width(its_words) + gap + (searched && nearest->empty() ? 0 : button_width(brief) + gap);
  doubt_text(gui, "unknown words", filled(gui.word(kDoubtWords.unknown), {numbers[0], numbers[1]}),
             filled(gui.word(kDoubtWords.unknown_brief), {numbers[0], numbers[1]}), width - buttons);
  if (!asked) return;
  ImGui::SameLine(0, gap);
  if (flat_button(gui, "its words", its_words)) ImGui::OpenPopup("its words");
  explain_item(gui, kDoubtWords.tip_its_words);
  words_popup(gui);
  if (!searched || nearest->empty()) return;
  ImGui::SameLine(0, gap);
  const std::string whole = gui.fonts.shown(*nearest);
  const bool fits =
      nearest->size() <= kLongestShown && ImGui::GetCursorScreenPos().x + button_width(whole.c_str()) <= right;
  if (!fits && ImGui::GetCursorScreenPos().x + button_width(brief) > right) return;
  if (flat_button(gui, "nearest sentence", fits ? whole.c_str() : brief)) take_sentence(gui, *nearest);
  explain_item(gui, brief + std::string(": ") + gui.fonts.shown(*nearest));
}

void random_weights(Gui& gui, float width) {
  const bool trained = trained_before(gui.state) != nullptr;
  const char* back = gui.word(kDoubtWords.back_to_trained);
  const float gap = 8 * gui.unit, first = trained ? gap + button_width(back) : 0,
              second = gap + button_width(gui.word(kModelWords.train_this_shape));
  const char* brief = gui.word(kChangeWords.random);
  const auto learn = of_tools(&ToolWindow::learn);
  const bool trains = learn && ImGui::CalcTextSize(brief).x + first + second <= width;
  doubt_text(gui, "random weights", gui.word(kDoubtWords.random), brief, width - first - (trains ? second : 0));
  if (trained) {
    ImGui::SameLine(0, gap);
    if (flat_button(gui, "back to trained", back)) gui.push_once(UseTrained{true});
  }
  if (!trains) return;
  ImGui::SameLine(0, gap);
  learn(gui);
}

}  // namespace

bool doubt_line(Gui& gui, float width, const Cursor& cursor) {
  const Counts counts = counts_of(gui.state, cursor);
  const Doubt doubt = doubt_of(gui.state, counts);
  if (doubt == Doubt::none) return false;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float inset = 6 * gui.unit;
  ImGui::GetWindowDrawList()->AddRectFilled({at.x - inset, at.y}, {at.x + width, at.y + ImGui::GetFrameHeight()},
                                            gui.colours().caution_ground, 4 * gui.unit);
  if (doubt == Doubt::unknown_words) unknown_words(gui, counts, width);
  else random_weights(gui, width);
  return true;
}

bool is_unknown(const AppState& state, TextSide side, const Token& token, const Cursor& cursor) {
  if (token.known || !is_typing(state)) return !token.known;
  if (is_any_sentence(state.document) || state.document.model_path == kDefaultModel) return false;
  const std::size_t begin = sentence_begin(state, side);
  return side != cursor.side || cursor.at <= begin + token.begin || cursor.at > begin + token.end;
}

std::string unknown_hint(const Gui& gui, const Token& token) {
  constexpr std::size_t kExamples = 24;
  std::string hint = gui.word(kSentenceWords.tip_unknown);
  const std::shared_ptr<const Model>& model = gui.state.document.model;
  if (!model || !model->vocabulary) return hint;
  const KnownWords known = known_words(*model->vocabulary, token.text, kExamples);
  hint += std::string("\n") + gui.word(kSentenceWords.words_known) + std::to_string(known.count);
  if (known.examples.empty()) return hint;
  hint += std::string("\n") + gui.word(kSentenceWords.knows_for_example);
  for (std::size_t i = 0; i < known.examples.size(); ++i) hint += (i > 0 ? "  " : "") + known.examples[i];
  return hint;
}

}  // namespace headlight
