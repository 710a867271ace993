#include <algorithm>
#include <cmath>
#include <numeric>

#include "derived/guess.h"
#include "document/tokenizers.h"
#include "gui/actions/question.h"
#include "gui/frame/draw.h"
#include "gui/frame/imgui_compat.h"
#include "gui/frame/looks.h"
#include "gui/question/chat_turns.h"
#include "gui/question/question.h"
#include "gui/question/text_boxes.h"
#include "words/sentence_words.h"

namespace headlight {
namespace {

/// Those in the language of the window come first.
std::vector<std::size_t> sample_order(const Gui& gui) {
  std::vector<std::size_t> order(gui.samples.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (gui.chinese()) return order;
  std::stable_partition(order.begin(), order.end(),
                        [&](std::size_t i) { return static_cast<unsigned char>(gui.samples[i].text.front()) < 0x80; });
  return order;
}

void samples_menu(Gui& gui) {
  if (menu_button(gui, "samples", gui.word(kSentenceWords.samples))) ImGui::OpenPopup("samples");
  if (!ImGui::BeginPopup("samples")) return;
  if (key_pressed(Key::escape, false)) ImGui::CloseCurrentPopup();
  for (const std::size_t i : sample_order(gui)) {
    const Sample& sample = gui.samples[i];
    std::string text = sample.text;
    std::replace(text.begin(), text.end(), '\n', '/');
    ImGui::PushID(static_cast<int>(i));
    if (plain_selectable(gui.fonts.shown(text))) take_sample(gui, sample);
    gui.name_item("sample " + std::to_string(i));
    dim_text(gui, gui.fonts.shown(gui.chinese() ? sample.note_zh : sample.note_en));
    ImGui::PopID();
    ImGui::Spacing();
  }
  ImGui::EndPopup();
}

bool has_target(const Document& document) { return config_of(document).arch == Arch::encoder_decoder; }

/// Asks by the ids that the texts come to, or by the texts again.
void ask_by(Gui& gui, bool ids) {
  const Document& document = gui.state.document;
  const Request* request = whole_request(gui.state);
  for (const TextSide side : {TextSide::source, TextSide::target}) {
    if (side == TextSide::target && !has_target(document)) continue;
    SetIds wanted{{}, side};
    if (ids && request) {
      const Tokens& tokens = side == TextSide::target ? request->target : request->tokens;
      const bool source = side == TextSide::source, pair = source && second_sentence(tokens) > 0;  // which stays one
      if (source) wanted.types.emplace();
      for (std::size_t i = 0; i < own_tokens(document, tokens); ++i) {
        wanted.ids.push_back(tokens.tokens[i].id);
        if (pair) wanted.types->push_back(tokens.tokens[i].type);
      }
    }
    gui.push(std::move(wanted));
  }
  gui.push(EndGesture{});
}

/// Text, ids or, of an instruct model, a conversation, of a checkpoint that reads them.
void ids_choice(Gui& gui) {
  const Document& document = gui.state.document;
  const bool ids = reads_ids(document), chat = reads_chat(document);
  if (flat_button(gui, "ask by text", gui.word(kSentenceWords.as_text), !ids && !chat) && (ids || chat)) {
    if (takes_chat(document)) gui.push_once(SetChat{});
    else ask_by(gui, false);
  }
  explain_item(gui, kSentenceWords.tip_as_ids);
  ImGui::SameLine(0, 0);
  if (flat_button(gui, "ask by ids", gui.word(kSentenceWords.as_ids), ids) && !ids && whole_request(gui.state))
    ask_by(gui, true);
  explain_item(gui, kSentenceWords.tip_as_ids);
  if (!takes_chat(document)) return;
  ImGui::SameLine(0, 0);
  if (flat_button(gui, "ask by conversation", gui.word(kChatWords.as_chat), chat) && !chat) add_turn(gui);
  explain_item(gui, kChatWords.tip_as_chat);
}

void split_choice(Gui& gui) {
  const Document& document = gui.state.document;
  const bool by_hand = document.source.hand_cuts || (has_target(document) && document.target.hand_cuts);
  if (is_checkpoint(document) && !takes_shape(document)) {
    ids_choice(gui);
    if (reads_ids(document)) return;
    ImGui::SameLine(0, 16 * gui.unit);
    if (reads_chat(document)) return turn_buttons(gui);
  }
  const auto choice = [&](const char* name, const Words& label, Split split) {
    const bool on = !by_hand && document.source.split == split;
    if (flat_button(gui, name, gui.word(label), on)) gui.push_once(SetSplit{split});
    explain_item(gui, kSentenceWords.tip_split);
  };
  ImGui::AlignTextToFramePadding();
  coloured_text(gui.colours().dim, gui.word(kSentenceWords.split));
  ImGui::SameLine(0, 4 * gui.unit);
  if (is_checkpoint(document)) {
    if (flat_button(gui, "split by tokenizer", gui.word(kSentenceWords.own_tokenizer), !by_hand) && by_hand)
      gui.push_once(SetSplit{document.source.split});
  } else {
    choice("split words", kSentenceWords.words, Split::words);
    ImGui::SameLine(0, 0);
    choice("split characters", kSentenceWords.characters, Split::characters);
  }
  if (by_hand) {
    ImGui::SameLine(0, 0);
    if (flat_button(gui, "split automatic", gui.word(kSentenceWords.automatic), true))
      gui.push_once(SetSplit{document.source.split});
  }
  if (gui.state.requests.size() > 1) {
    const std::size_t count = gui.state.requests.size(), now = gui.state.view.sentence;
    ImGui::SameLine(0, 16 * gui.unit);
    if (flat_button(gui, "sentence before", "<")) gui.push(ChooseSentence{(now + count - 1) % count});
    ImGui::SameLine(0, 0);
    ImGui::AlignTextToFramePadding();
    ImGui::Text("%s %zu / %zu", gui.word(kSentenceWords.sentence_number), now + 1, count);
    ImGui::SameLine(0, 0);
    if (flat_button(gui, "sentence after", ">")) gui.push(ChooseSentence{(now + 1) % count});
  }
}

}  // namespace

void sentence_panel(Gui& gui) {
  const Document& document = gui.state.document;
  const float gap = 8 * gui.unit;
  const bool two = has_target(document) && !has_own_inputs(document);
  if (!has_own_inputs(document)) {
    const bool ids = reads_ids(document), target_ids = reads_ids(document, TextSide::target);
    const float samples = ids ? 0 : menu_width(gui, gui.word(kSentenceWords.samples));
    const float room = ImGui::GetContentRegionAvail().x - samples - gap;
    const bool pairs = takes_pairs(document);
    const float boxes = 1.0f + (two ? 1 : 0) + (pairs ? 1 : 0);
    const float equal = std::floor((room - (boxes - 1) * gap) / boxes);
    // A second sentence that is not there leaves its room to the first.
    const float hint = ImGui::CalcTextSize(gui.word(kPairWords.second_hint)).x + 20 * gui.unit;
    const float second = document.text_pair.empty() ? std::min(equal, hint) : equal;
    const float each = pairs ? std::floor((room - second - (boxes - 1) * gap) / (boxes - 1)) : equal;
    if (reads_chat(document)) chat_turns(gui, each);
    else (ids ? ids_box : side_box)(gui, TextSide::source, each);
    if (pairs) {
      ImGui::SameLine(0, gap);
      second_box(gui, second);
    }
    if (two) {
      ImGui::SameLine(0, gap);
      (target_ids ? ids_box : side_box)(gui, TextSide::target, each);
    }
    if (!ids) {
      ImGui::SameLine(0, gap);
      samples_menu(gui);
    }
    if (can_read_text(document)) {
      split_choice(gui);
      ImGui::SameLine(0, 16 * gui.unit);
    }
  } else if (gui.state.view.focus_text) {
    gui.push(FocusText{false});  // no box takes the keyboard, which would be kept from every other key
  }
  const float room = ImGui::GetContentRegionAvail().x;
  chips_of(gui, TextSide::source, two ? std::floor((room - 2 * gap) / 2) : room);
  if (two) {
    ImGui::SameLine(0, 2 * gap);
    chips_of(gui, TextSide::target, ImGui::GetContentRegionAvail().x);
  }
  doubt_line(gui);
}

}  // namespace headlight
