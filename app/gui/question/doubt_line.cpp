#include <algorithm>
#include <array>
#include <string_view>

#include "document/sentence_facts.h"
#include "gui/actions/question.h"
#include "gui/frame/draw.h"
#include "gui/frame/imgui_compat.h"
#include "gui/question/question.h"
#include "words/answer_words.h"

namespace headlight {
namespace {

constexpr std::size_t kLongestShown = 60;  // bytes of a sentence on a button

/// The warning of the line.
enum class Doubt { none, unknown_words, random_weights };

struct Counts {
  std::size_t words = 0, unknown = 0;
};

Counts counts_of(const AppState& state) {
  Counts counts;
  const Tokens* tokens = shown_tokens(state);
  if (!tokens) return counts;
  for (const Token& token : tokens->tokens) {
    if (token.special || token.pad) continue;
    ++counts.words;
    if (!token.known) ++counts.unknown;
  }
  return counts;
}

Doubt doubt_of(const AppState& state) {
  const bool has_trained = state.shipped && !state.shipped->empty();
  if (nothing_asked(state) || !has_trained) return Doubt::none;
  if (is_random(state)) return Doubt::random_weights;
  return counts_of(state).unknown > 0 ? Doubt::unknown_words : Doubt::none;
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
          if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
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
  if (!ImGui::BeginPopup("its words")) return;
  if (key_pressed(Key::escape, false)) ImGui::CloseCurrentPopup();
  const Grammar* grammar = shipped_grammar();
  const auto& model = gui.state.document.model;
  if (grammar && model && model->vocabulary) words_by_kind(gui, known_families(*grammar, *model->vocabulary));
  ImGui::EndPopup();
}

void unknown_words(Gui& gui) {
  const Counts counts = counts_of(gui.state);
  const std::string text =
      filled(gui.word(kDoubtWords.unknown), {std::to_string(counts.unknown), std::to_string(counts.words)});
  ImGui::AlignTextToFramePadding();
  coloured_text(gui.colours().caution, text);
  gui.name_item("unknown words", BoxKind::label);
  const auto& nearest = gui.state.nearest;
  const auto asked = partly_unknown_words(gui.state);
  if (asked && nearest && nearest.question()->words == *asked && !nearest->empty()) {
    ImGui::SameLine(0, 12 * gui.unit);
    const std::string whole = gui.fonts.shown(*nearest);
    const float others = button_width(gui.word(kDoubtWords.its_words)) + button_width(gui.word(kDoubtWords.open_model));
    const bool fits = nearest->size() <= kLongestShown &&
                      button_width(whole.c_str()) + others + 16 * gui.unit <= ImGui::GetContentRegionAvail().x;
    const std::string label = fits ? whole : gui.fonts.shown(gui.word(kDoubtWords.nearest));
    if (flat_button(gui, "nearest sentence", label.c_str())) take_sentence(gui, *nearest);
    explain_item(gui, gui.word(kDoubtWords.nearest) + std::string(": ") + gui.fonts.shown(*nearest));
  }
  if (asked) {
    ImGui::SameLine(0, 8 * gui.unit);
    if (flat_button(gui, "its words", gui.word(kDoubtWords.its_words))) ImGui::OpenPopup("its words");
    explain_item(gui, kDoubtWords.tip_its_words);
    words_popup(gui);
  }
  ImGui::SameLine(0, 8 * gui.unit);
  if (flat_button(gui, "open a model", gui.word(kDoubtWords.open_model))) gui.push(Browse{Browser::Purpose::open, {}});
}

/// The way back to trained weights: the number that differs from theirs.
std::string way_back(const Gui& gui, const Config& now, const Config& trained) {
  if (now.arch != trained.arch) return gui.word(kDoubtWords.back_to_trained);
  const auto back_to = [&](const std::string& what) { return filled(gui.word(kDoubtWords.back_to), {what}); };
  const auto number = [&](const Words& words, Index count) { return filled(gui.word(words), {std::to_string(count)}); };
  if (now.d_model != trained.d_model) return back_to(std::to_string(trained.d_model));
  if (now.num_heads != trained.num_heads) return back_to(number(kDoubtWords.heads_of, trained.num_heads));
  if (now.num_layers != trained.num_layers) return back_to(number(kDoubtWords.layers_of, trained.num_layers));
  return gui.word(kDoubtWords.back_to_trained);
}

void random_weights(Gui& gui) {
  const AppState& state = gui.state;
  ImGui::AlignTextToFramePadding();
  coloured_text(gui.colours().caution, gui.word(kDoubtWords.random));
  gui.name_item("random weights", BoxKind::label);
  if (const BundledModel* nearest = nearest_model(*state.shipped, state.document.config)) {
    ImGui::SameLine(0, 12 * gui.unit);
    const std::string back = way_back(gui, state.document.config, nearest->model->config);
    if (flat_button(gui, "back to trained", back.c_str())) gui.push_once(UseTrained{true});
  }
  ImGui::SameLine(0, 8 * gui.unit);
  train_shape_button(gui);
}

}  // namespace

float doubt_height(const Gui& gui) { return doubt_of(gui.state) == Doubt::none ? 0 : 28 * gui.unit; }

void doubt_line(Gui& gui) {
  const Doubt doubt = doubt_of(gui.state);
  if (doubt == Doubt::none) return;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::GetWindowDrawList()->AddRectFilled({at.x - 6 * gui.unit, at.y},
                                            {at.x + ImGui::GetContentRegionAvail().x, at.y + ImGui::GetFrameHeight()},
                                            gui.colours().caution_ground, 4 * gui.unit);
  switch (doubt) {
    case Doubt::none: return;
    case Doubt::unknown_words: return unknown_words(gui);
    case Doubt::random_weights: return random_weights(gui);
  }
}

}  // namespace headlight
