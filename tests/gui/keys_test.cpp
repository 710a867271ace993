// The keys: every line of the help overlay does what it says, and none of it while somebody types.
#include <cmath>
#include <functional>
#include <map>

#include "gui/harness.h"

namespace headlight {
namespace {

class KeysTest : public GuiTest {
 protected:
  AppState& state() { return harness->state; }
  Document& document() { return state().document; }
  void key(std::initializer_list<Key> keys) { harness->key(keys); }
  void shift(Key key) { harness->key({Key::left_shift, key}); }
  void ctrl(Key key) { harness->key({Key::left_ctrl, key}); }
  void ctrl_shift(Key key) { harness->key({Key::left_ctrl, Key::left_shift, key}); }
  Browser::Purpose browsing() { return state().browser.purpose; }
  bool typing() {
    harness->frame(3);
    return ImGui::GetIO().WantTextInput;
  }
  void close_browser() {
    harness->say(Browse{});
    harness->frame(2);
  }

  /// What each line of the help promises, by its `keys`.
  std::map<std::string, std::function<void()>> promises();
};

std::map<std::string, std::function<void()>> KeysTest::promises() {
  Harness& h = *harness;
  return {
      {"Ctrl L",
       [&] {
         ctrl(Key::l);
         EXPECT_TRUE(typing());
         h.key(Key::end);
         h.type("吗");
         EXPECT_TRUE(document().text.ends_with("票吗"));
         h.key(Key::escape);
         ctrl(Key::z);
       }},
      {"Esc",
       [&] {
         h.click("text");
         EXPECT_TRUE(typing());
         h.key(Key::escape);
         EXPECT_FALSE(typing());
         h.say(Pin{CellRef{1, 1}}, SetPainting{true}, ShowHelp{true});
         h.key(Key::escape);
         EXPECT_FALSE(state().view.help);
         h.key(Key::escape);
         EXPECT_FALSE(state().view.painting);
         h.key(Key::escape);
         EXPECT_FALSE(state().view.pinned);
         h.click("open");
         h.key(Key::escape);
         EXPECT_EQ(browsing(), Browser::Purpose::none);
       }},
      {"Ctrl Z / Ctrl Shift Z",
       [&] {
         key({Key::d});
         ctrl(Key::z);
         EXPECT_EQ(document().config.d_model, 64);
         ctrl_shift(Key::z);
         EXPECT_EQ(document().config.d_model, 68);
         ctrl(Key::z);
       }},
      {"Ctrl O / Ctrl S / Ctrl Shift S",
       [&] {
         ctrl(Key::o);
         EXPECT_EQ(browsing(), Browser::Purpose::open);
         close_browser();
         ctrl(Key::s);
         EXPECT_EQ(browsing(), Browser::Purpose::save) << "nobody has named the session yet";
         close_browser();
         ctrl_shift(Key::s);
         EXPECT_EQ(browsing(), Browser::Purpose::save);
         close_browser();
       }},
      {"Ctrl E / Ctrl Q",
       [&] {
         ctrl(Key::e);
         EXPECT_EQ(browsing(), Browser::Purpose::export_to);
         close_browser();
         ctrl(Key::q);
         EXPECT_TRUE(state().quit);
         state().quit = false;
       }},
      {"[ ]   { }",
       [&] {
         key({Key::right_bracket});
         EXPECT_EQ(state().view.chosen, (HeadRef{0, 1}));
         shift(Key::right_bracket);
         EXPECT_EQ(state().view.chosen, (HeadRef{1, 1}));
         key({Key::left_bracket});
         EXPECT_EQ(state().view.chosen, (HeadRef{1, 0}));
         shift(Key::left_bracket);
         EXPECT_EQ(state().view.chosen, (HeadRef{0, 0}));
       }},
      {"← → ↑ ↓",
       [&] {
         h.say(Pin{CellRef{0, 8}});
         key({Key::right});
         key({Key::right});
         key({Key::down});
         EXPECT_EQ(state().view.pinned, (CellRef{1, 9})) << "and no further than the last column";
         key({Key::left});
         key({Key::up});
         EXPECT_EQ(state().view.pinned, (CellRef{0, 8}));
         h.say(Pin{});
       }},
      {"Enter",
       [&] {
         h.hover("head 1.1", {2, 3});
         key({Key::enter});
         EXPECT_EQ(state().view.pinned, (CellRef{2, 3}));
         h.point_away();
         h.say(Pin{});
       }},
      {"M / Shift M",
       [&] {
         key({Key::m});
         EXPECT_TRUE(document().mask.causal);
         shift(Key::m);
         EXPECT_FALSE(document().mask.padding);
         shift(Key::m);
         key({Key::m});
         EXPECT_EQ(document().mask, MaskSpec{});
       }},
      {"P",
       [&] {
         key({Key::p});
         EXPECT_TRUE(state().view.painting);
         key({Key::p});
         EXPECT_FALSE(state().view.painting);
       }},
      {"X",
       [&] {
         h.say(Pin{CellRef{4, 2}});
         key({Key::x});
         h.settle();
         EXPECT_FALSE(state().trace->mask.allowed(4, 2));
         key({Key::x});
         h.settle();
         EXPECT_TRUE(state().trace->mask.allowed(4, 2));
         h.say(Pin{});
       }},
      {"Backspace",
       [&] {
         h.say(PaintCell{{1, 1}, false}, EndGesture{});
         key({Key::backspace});
         EXPECT_TRUE(document().mask.painted.empty());
       }},
      {"D / Shift D",
       [&] {
         key({Key::d});
         EXPECT_EQ(document().config.d_model, 68);
         shift(Key::d);
         EXPECT_EQ(document().config.d_model, 64);
       }},
      {"H / Shift H",
       [&] {
         key({Key::h});
         EXPECT_EQ(document().config.num_heads, 8);
         shift(Key::h);
         EXPECT_EQ(document().config.num_heads, 4);
       }},
      {"L / Shift L",
       [&] {
         key({Key::l});
         EXPECT_EQ(document().config.num_layers, 3);
         shift(Key::l);
         EXPECT_EQ(document().config.num_layers, 2);
       }},
      {"S / Shift S",
       [&] {
         key({Key::s});
         EXPECT_EQ(document().config.seed, 1u);
         shift(Key::s);
         shift(Key::s);
         EXPECT_EQ(document().config.seed, 0u);
       }},
      {"K / R / A",
       [&] {
         key({Key::k});
         key({Key::r});
         key({Key::a});
         EXPECT_EQ(document().config.arch, Arch::decoder);
         EXPECT_TRUE(document().mask.causal);
         EXPECT_EQ(document().config.norm, Norm::pre);
         EXPECT_EQ(document().config.activation, Activation::gelu);
         key({Key::k});
         key({Key::r});
         key({Key::a});
       }},
      {"F / Shift F",
       [&] {
         key({Key::f});
         EXPECT_GT(document().config.ffn, 256);
         shift(Key::f);
         EXPECT_EQ(document().config.ffn, 256);
       }},
      {"B",
       [&] {
         key({Key::b});
         EXPECT_FALSE(document().config.bias);
         key({Key::b});
       }},
      {"V / Shift V / 0",
       [&] {
         key({Key::v});
         ASSERT_TRUE(document().edits.scale);
         EXPECT_GT(*document().edits.scale, 0.25f);
         shift(Key::v);
         shift(Key::v);
         EXPECT_LT(*document().edits.scale, 0.25f);
         key({Key::digit_0});
         EXPECT_FALSE(document().edits.scale);
       }},
      {", / .",
       [&] {
         key({Key::period});
         key({Key::period});
         EXPECT_EQ(document().pad, 2u);
         for (int i = 0; i < 3; ++i) key({Key::comma});
         EXPECT_EQ(document().pad, 0u);
       }},
      {"J / I",
       [&] {
         h.say(Pin{CellRef{2, 0}});
         key({Key::j});
         EXPECT_EQ(h.tokens(), "我|请|李雷帮|我|订了|去|北京|的|机票");
         key({Key::i});
         EXPECT_EQ(document().hand_cuts->size(), 9u);
         h.say(Pin{}, Undo{}, Undo{});
         EXPECT_FALSE(document().hand_cuts);
       }},
      {"Ctrl 1 … 9",
       [&] {
         for (std::size_t i = 0; i < 9; ++i) {
           ctrl(static_cast<Key>(static_cast<std::size_t>(Key::digit_1) + i));
           EXPECT_EQ(document().text, h.samples[i].text);
         }
         ctrl(Key::digit_1);
         EXPECT_EQ(document().text, kDefaultSentence);
       }},
      {"O / W",
       [&] {
         key({Key::o});
         EXPECT_EQ(document().config.position, Position::none);
         key({Key::o});
         key({Key::w});
         EXPECT_EQ(document().split, Split::characters);
         EXPECT_EQ(h.tokens().substr(0, 11), "我|请|李");
         key({Key::w});
         EXPECT_EQ(document().split, Split::words);
       }},
      {"G",
       [&] {
         key({Key::g});
         EXPECT_EQ(state().view.scale, Scale::log);
         key({Key::g});
         EXPECT_EQ(state().view.scale, Scale::linear);
       }},
      {"N / Shift N",
       [&] {
         h.say(SetText{"我爱\n我"}, EndGesture{});
         key({Key::n});
         EXPECT_EQ(state().view.sentence, 1u);
         shift(Key::n);
         EXPECT_EQ(state().view.sentence, 0u);
         h.say(Undo{});
         h.settle();
       }},
      {"= / - / Home",
       [&] {
         key({Key::equal});
         EXPECT_EQ(state().view.viewport.num_queries, 7);
         key({Key::equal});
         key({Key::minus});
         EXPECT_GT(state().view.viewport.num_queries, 4);
         key({Key::home});
         EXPECT_EQ(state().view.viewport, Viewport{});
       }},
      {"Ctrl = / Ctrl -",
       [&] {
         ctrl(Key::equal);
         EXPECT_NEAR(state().settings.ui_scale, 1.1f, 1e-5);
         EXPECT_EQ(state().view.viewport, Viewport{}) << "and nothing is zoomed";
         ctrl(Key::minus);
         EXPECT_NEAR(state().settings.ui_scale, 1, 1e-5);
       }},
      {"K / R / A",
       [&] {
         key({Key::k});
         EXPECT_EQ(document().config.arch, Arch::decoder);
         EXPECT_TRUE(document().mask.causal) << "a decoder begins with the causal mask";
         key({Key::r});
         EXPECT_EQ(document().config.norm, Norm::pre);
         key({Key::a});
         EXPECT_EQ(document().config.activation, Activation::gelu);
         for (int i = 0; i < 3; ++i) ctrl(Key::z);
         EXPECT_FALSE(document().mask.causal);
       }},
      {"F / Shift F",
       [&] {
         key({Key::f});
         EXPECT_EQ(document().config.ffn, 288);
         shift(Key::f);
         EXPECT_EQ(document().config.ffn, 256);
       }},
      {"B",
       [&] {
         key({Key::b});
         EXPECT_FALSE(document().config.bias);
         key({Key::b});
       }},
      {"V / Shift V / 0",
       [&] {
         key({Key::v});
         EXPECT_FLOAT_EQ(document().edits.scale.value_or(0), 0.25f * 1.25f);
         shift(Key::v);
         EXPECT_FLOAT_EQ(document().edits.scale.value_or(0), 0.25f);
         key({Key::digit_0});
         EXPECT_FALSE(document().edits.scale);
       }},
      {", / .",
       [&] {
         key({Key::period});
         key({Key::period});
         EXPECT_EQ(document().pad, 2u);
         key({Key::comma});
         EXPECT_EQ(document().pad, 1u);
         key({Key::comma});
         key({Key::comma});
         EXPECT_EQ(document().pad, 0u);
       }},
      {"J / I",
       [&] {
         h.say(Pin{CellRef{2, 0}});
         key({Key::j});
         EXPECT_EQ(shown_tokens(state())->tokens[2].raw, "李雷帮");
         ctrl(Key::z);
         key({Key::i});
         EXPECT_EQ(shown_tokens(state())->tokens[2].raw, "李");
         EXPECT_EQ(shown_tokens(state())->tokens[3].raw, "雷");
         ctrl(Key::z);
         h.say(Pin{});
       }},
      {"Ctrl 1 … 9",
       [&] {
         ctrl(Key::digit_2);
         EXPECT_NE(document().text, kDefaultSentence);
         ctrl(Key::digit_1);
         EXPECT_EQ(document().text, kDefaultSentence);
       }},
      {"T / 中",
       [&] {
         key({Key::t});
         EXPECT_EQ(state().settings.theme, Theme::dark);
         key({Key::t});
         EXPECT_EQ(state().settings.theme, Theme::light);
         ctrl(Key::t);
         EXPECT_EQ(state().settings.language, Language::zh);
         ctrl(Key::t);
         EXPECT_EQ(state().settings.language, Language::en);
       }},
      {"F1 or ?",
       [&] {
         key({Key::f1});
         EXPECT_TRUE(state().view.help);
         key({Key::f1});
         EXPECT_FALSE(state().view.help);
         shift(Key::slash);
         EXPECT_TRUE(state().view.help);
         shift(Key::slash);
         EXPECT_FALSE(state().view.help);
       }},
  };
}

TEST_F(KeysTest, EveryLineOfTheHelpIsTrue) {
  auto all = promises();
  for (const KeyHelp& help : kKeyHelp) {
    SCOPED_TRACE(help.keys);
    const auto promise = all.find(help.keys);
    if (promise == all.end()) {
      ADD_FAILURE() << "nobody has tried this";
      continue;
    }
    promise->second();
    all.erase(promise);
    harness->settle();
    EXPECT_TRUE(is_consistent(state()));
    EXPECT_EQ(state().view, ViewState{}) << "left as it was found";
    EXPECT_EQ(document().config, Config{});
    EXPECT_EQ(document().text, kDefaultSentence);
  }
  for (const auto& [keys, promise] : all) ADD_FAILURE() << keys << " is not in the help";
}

TEST_F(KeysTest, NothingHappensWhileSomebodyTypes) {
  Harness& h = *harness;
  h.click("text");
  h.frame(2);
  const Document before = document();
  const ViewState view = state().view;
  const Settings settings = state().settings;
  for (int letter = 'A'; letter <= 'Z'; ++letter) {
    key({static_cast<Key>(letter)});
    shift(static_cast<Key>(letter));
  }
  for (const Key other : {Key::left_bracket, Key::right_bracket, Key::equal, Key::minus, Key::slash, Key::left,
                          Key::up, Key::home})
    key({other});
  shift(Key::slash);
  EXPECT_TRUE(document() == before);
  EXPECT_EQ(state().view, view);
  EXPECT_EQ(state().settings, settings);
}

TEST_F(KeysTest, WhileTypingUndoIsTheBoxesOwn) {
  Harness& h = *harness;
  key({Key::d});
  h.retype("abc");
  ctrl(Key::z);
  EXPECT_EQ(document().config.d_model, 68) << "not the window's";
  EXPECT_NE(document().text, "abc");
  EXPECT_TRUE(typing());
}

TEST_F(KeysTest, NothingHappensBehindTheBrowser) {
  Harness& h = *harness;
  h.say(Browse{Browser::Purpose::open, testing::TempDir()});
  h.settle();
  const Box name = h.box("file name");
  h.click_at({name.x + 20, name.y - 60});  // into the list, so that nobody types
  ASSERT_FALSE(typing());
  const Document before = document();
  for (const Key each : {Key::m, Key::d, Key::l, Key::s, Key::x, Key::backspace}) key({each});
  EXPECT_TRUE(document() == before);
}

TEST_F(KeysTest, ModifiersOfTheDesktopAreLeftToIt) {
  harness->key({Key::left_alt, Key::m});
  harness->key({Key::left_super, Key::d});
  EXPECT_TRUE(document() == Document{});
}

TEST_F(KeysTest, LimitsHold) {
  Harness& h = *harness;
  for (int i = 0; i < 14; ++i) key({Key::period});
  EXPECT_EQ(document().pad, 10u);
  h.say(SetPad{0}, EndGesture{});
  for (int i = 0; i < 10; ++i) shift(Key::f);
  EXPECT_EQ(document().config.ffn, 0);
  for (int i = 0; i < 450; ++i) key({Key::v});
  h.settle();
  EXPECT_TRUE(std::isfinite(*document().edits.scale));
  EXPECT_FALSE(is_stale(state())) << problem_of(state());
  for (int i = 0; i < 900; ++i) shift(Key::v);
  for (int i = 0; i < 3; ++i) key({Key::v});
  EXPECT_GT(*document().edits.scale, 0) << "up again from the least";
  key({Key::digit_0});
  for (int i = 0; i < 14; ++i) key({Key::l});
  EXPECT_EQ(document().config.num_layers, kMostSliderLayers);
  for (int i = 0; i < 14; ++i) shift(Key::l);
  EXPECT_EQ(document().config.num_layers, 1);
  for (int i = 0; i < 8; ++i) shift(Key::h);
  EXPECT_EQ(document().config.num_heads, 1);
  for (int i = 0; i < 20; ++i) shift(Key::d);
  EXPECT_EQ(document().config.d_model, kLeastSliderWidth);
  for (int i = 0; i < 8; ++i) key({Key::h});
  EXPECT_EQ(document().config.num_heads, 4) << "the most that divide 4";
  for (int i = 0; i < 14; ++i) key({Key::equal});
  h.settle();
  EXPECT_EQ(state().view.viewport.num_queries, 4);
  for (int i = 0; i < 14; ++i) key({Key::minus});
  EXPECT_EQ(state().view.viewport, Viewport{});
}

}  // namespace
}  // namespace headlight
