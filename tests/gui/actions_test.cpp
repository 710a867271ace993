// Rules that hold for every row of the table of actions.
#include "gui/actions/actions.h"

#include <filesystem>
#include <set>

#include "base/file.h"
#include "gui/keys_fixture.h"
#include "session/update.h"

namespace headlight {
namespace {

bool has_modifier(const Chord& chord) { return chord.ctrl || chord.alt; }
bool is_switch_of_head(Act act) { return act == Act::head_off || act == Act::head_on; }

class ActionsTest : public KeysTest {
 protected:
  /// Calls `test` in states in which together almost every row is possible.
  void in_every_state(const std::function<void(const std::string& state)>& test) {
    const auto from = [&](const char* name, auto... said) {
      start();
      harness->push(said...);
      harness->settle();
      harness->push(DismissNotice{});  // a notice of these commands
      draws_ = std::string_view(name) == "edited";
      test(name);
    };
    from("start");
    from("pinned", Pin{CellRef{2, 3}});
    from("hovered", Hover{HeadRef{}, CellRef{1, 1}});
    from("edited", SetPad{1}, EndGesture{}, PaintCell{{1, 1}, false}, EndGesture{}, SwitchHead{{}, true}, EndGesture{},
         SetScale{0.5f}, EndGesture{}, SetTextPair{"我"}, EndGesture{}, Undo{});
    from("another seed", SetConfig{Config{.seed = 3}}, EndGesture{}, SetMask{true, false}, EndGesture{});
    from("batch", SetText{"我爱\n我"}, EndGesture{});
    from("two stacks", SetConfig{Config{.arch = Arch::encoder_decoder}}, EndGesture{});
    from("inside", ShowView{View::inside}, LookAt{{matrix_id(Quantity::key), MatrixCell{1, 2}}},
         LookAt{{matrix_id(Quantity::key_weight), {}}});
    from("code", ShowView{View::code});
    from("flow", ShowView{View::flow});
    from("train", ShowView{View::train});
    from("compare", KeepAnswer{}, SetText{"小猫饿坏了"}, EndGesture{}, ShowView{View::compare});
  }

  Gui gui() {
    Harness& h = *harness;
    return {h.state, h.commands, h.fonts, h.maps, h.samples, {}, 1, nullptr};
  }
  /// Performs the row from a state that it does not change, and calls `then`. In one state the window is drawn; in the
  /// others the commands are carried out, which takes a hundredth of the time.
  template <class Then>
  void try_row(const Action& row, const AppState& before, const Then& then) {
    SCOPED_TRACE(row.name.en);
    Harness& h = *harness;
    h.state = before;
    h.maps = RecordingPainter{};  // the old one would take contents of an earlier state for those of this one
    Gui now = gui();
    if (!row.run || row.id == act_of_tool("run_training") || !is_possible(now, row)) return;  // no training is started
    perform(now, row);
    take();
    EXPECT_TRUE(is_consistent(h.state));
    then();
  }
  /// Carries out the pending commands.
  void take() {
    Harness& h = *harness;
    if (draws_) return h.frame(2);
    for (Command& command : std::exchange(h.commands, {})) update(h.state, std::move(command));
  }
  void undo_change() {
    if (draws_) return harness->click("undo change");
    Gui now = gui();
    perform(now, action(Act::undo));
    take();
  }

 private:
  bool draws_ = true;
};

TEST_F(ActionsTest, KeysWithoutAModifierOnlyLook) {
  in_every_state([&](const std::string& name) {
    SCOPED_TRACE(name);
    const AppState before = state();
    for (const Action& row : all_actions())
      for (const Chord& chord : row.keys)
        if (chord.key != Key{} && !has_modifier(chord) && !is_switch_of_head(row.id))
          try_row(row, before, [&] { EXPECT_TRUE(document() == before.document); });
  });
}

TEST_F(ActionsTest, TheStacksAreSteppedThroughBothWays) {
  start();
  harness->push(SetConfig{Config{.arch = Arch::encoder_decoder}}, EndGesture{});
  harness->settle();
  const auto after = [&](Act act) {
    Gui now = gui();
    perform(now, action(act));
    take();
    return state().view.chosen.stack;
  };
  const Stack first = state().view.chosen.stack, second = after(Act::next_stack), third = after(Act::next_stack);
  EXPECT_EQ((std::set<Stack>{first, second, third}).size(), 3u);
  EXPECT_EQ(after(Act::next_stack), first);
  EXPECT_EQ(after(Act::previous_stack), third);
  EXPECT_EQ(after(Act::previous_stack), second);
}

TEST_F(ActionsTest, WhatChangesTheQuestionTakesAModifierAndOffersToUndoIt) {
  std::set<Act> changing;
  in_every_state([&](const std::string& name) {
    SCOPED_TRACE(name);
    const AppState before = state();
    for (const Action& row : all_actions()) {
      if (row.id == Act::undo || row.id == Act::redo) continue;
      try_row(row, before, [&] {
        const bool said = state().notice && state().notice->kind == Notice::Kind::changed;
        EXPECT_EQ(said, !(document() == before.document)) << "a notice says that something changed, or nothing did";
        if (!said) return;
        changing.insert(row.id);
        EXPECT_FALSE(state().notice->text.empty());
        if (!is_switch_of_head(row.id))
          for (const Chord& chord : row.keys) { EXPECT_TRUE(chord.key == Key{} || has_modifier(chord)); }
        undo_change();
        EXPECT_TRUE(document() == before.document);
        EXPECT_FALSE(state().notice) << "which is done with";
      });
    }
  });
  for (const Act act :
       {Act::causal_on,     Act::padding_off,    Act::block_cell,    Act::clear_paint,  Act::more_padding,
        Act::less_padding,  Act::larger_scale,   Act::own_scale_off, Act::join_tokens,  Act::cut_token,
        Act::split_text,    Act::next_kind,      Act::wider_model,   Act::fewer_heads,  Act::more_layers,
        Act::previous_seed, Act::next_positions, Act::bias,          Act::all_heads_on, Act::clear_edits,
        Act::start_over,    Act::swap_answers,   Act::head_off,      Act::head_on})
    EXPECT_TRUE(changing.contains(act)) << action(act).name.en << ": no state was tried in which it is possible";
}

TEST_F(ActionsTest, NoKeyMeansTwoThings) {
  in_every_state([&](const std::string& name) {
    SCOPED_TRACE(name);
    std::map<std::string, const char*> taken;
    for (const Action& row : all_actions())
      for (const Chord& chord : row.keys)
        if (chord.key != Key{} && is_possible(gui(), row)) {
          const auto [at, fresh] = taken.emplace(chord_text(chord), row.name.en);
          EXPECT_TRUE(fresh) << at->first << ": " << at->second << " and " << row.name.en;
        }
  });
}

TEST_F(ActionsTest, NoLetterIsAKeyByItself) {
  for (const Action& row : all_actions())
    for (const Chord& chord : row.keys)
      EXPECT_TRUE(chord.key < Key{'A'} || chord.key > Key{'Z'} || has_modifier(chord)) << row.name.en;
}

TEST_F(ActionsTest, EveryRowHasANameOfItsOwn) {
  std::set<std::string> names;
  for (const Action& row : all_actions())
    for (const char* name : {row.name.en, row.name.zh}) {
      EXPECT_NE(std::string(name), "");
      EXPECT_TRUE(names.insert(name).second) << name;
    }
}

TEST_F(ActionsTest, TheNoticeSaysWhatANumberWasAndIs) {
  alt(Key{'H'});
  EXPECT_TRUE(harness->says("heads 4 → 8")) << harness->words_on_screen();
  alt(Key{'M'});
  EXPECT_TRUE(harness->says(action(Act::causal_on).name.en));
  harness->retype("我爱");
  EXPECT_FALSE(harness->has("undo change")) << "Undo would take back what was typed";
}

TEST_F(ActionsTest, LettersTypedAnywhereGoBehindTheSentence) {
  Harness& h = *harness;
  const Document before = document();
  h.type("The cat sat, 2 mats");
  h.settle();
  const std::string typed = std::string(kDefaultSentence) + "The cat sat, 2 mats";
  EXPECT_EQ(document().source.text, typed);
  EXPECT_TRUE(typing());
  EXPECT_EQ(document().config, before.config);
  EXPECT_EQ(document().mask, before.mask);
  EXPECT_EQ(state().settings, Settings{});
  h.key(Key::escape);
  EXPECT_EQ(document().source.text, typed);
  ctrl(Key{'Z'});
  EXPECT_EQ(document().source.text, kDefaultSentence) << "one step of undo";
  h.type("我爱");
  h.settle();
  EXPECT_EQ(document().source.text, std::string(kDefaultSentence) + "我爱") << "wherever its cursor was before";
}

TEST_F(ActionsTest, SignsThatAreKeysBeginNoSentence) {
  Harness& h = *harness;
  for (const char* sign : {"1", "[", "?", "=", " ", ";"}) h.type(sign);
  h.settle();
  EXPECT_EQ(document().source.text, kDefaultSentence);
  EXPECT_FALSE(typing());
}

TEST_F(ActionsTest, LettersBehindADialogAreItsOwn) {
  Harness& h = *harness;
  h.push(Browse{Browser::Purpose::open, testing::TempDir()});
  h.settle();
  h.type("abc");
  h.settle();
  EXPECT_EQ(document().source.text, kDefaultSentence);
}

TEST_F(ActionsTest, TooltipsNameTheKeysOfTheTable) {
  Harness& h = *harness;
  h.point_at("view compare");
  h.frame(2);
  EXPECT_TRUE(h.says("Key: " + keys_of(Act::show_compare))) << h.words_on_screen();
  h.point_at("own range");
  h.frame(2);
  EXPECT_TRUE(h.says("Key: " + keys_of(Act::own_range))) << h.words_on_screen();
}

TEST_F(ActionsTest, ChordsAreWrittenAsTheyArePressed) {
  EXPECT_EQ(keys_of(Act::redo), "Ctrl Shift Z / Ctrl Y");
  EXPECT_EQ(keys_of(Act::show_keys), "F1 / ?");
  EXPECT_EQ(keys_of(Act::next_layer), "}");
  EXPECT_EQ(keys_of(Act::own_range), "Alt Shift G");
  EXPECT_EQ(keys_of(Act::start_over), "");
}

TEST(Actions, TheFormatOfLessonsListsTheirNames) {
  const auto document = read_file(std::filesystem::path(HEADLIGHT_TEST_DATA) / "../docs/formats.md", 1 << 20);
  ASSERT_TRUE(document) << document.error().message();
  const std::string list = document->substr(document->find("### Actions by name"));
  std::set<Act> named;
  for (std::size_t at = list.find('`'); at != std::string::npos; at = list.find('`', at + 1)) {
    const std::size_t end = list.find('`', at + 1);
    const std::string name = list.substr(at + 1, end - at - 1);
    const std::optional<Act> act = parse_act(name);
    EXPECT_TRUE(act) << name;
    if (act) named.insert(*act);
    at = end;
  }
  EXPECT_EQ(named.size(), all_actions().size());
  EXPECT_FALSE(parse_act(""));
  EXPECT_FALSE(parse_act("count"));
}

}  // namespace
}  // namespace headlight
