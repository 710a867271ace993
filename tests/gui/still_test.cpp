// The window keeps still: typing and messages move no control, a text is answered when it rests, and what a window
// is for is always in sight.
#include <cmath>
#include <set>

#include "app/shipped.h"
#include "gui/actions/question.h"
#include "gui/harness.h"
#include "models/model_choice.h"
#include "session/loop/startup.h"
#include "session/state_rules.h"
#include "session/typing.h"
#include "view/settings.h"

namespace headlight {
namespace {

const ImVec2 kSizes[] = {{1024, 700}, {1280, 800}, {1440, 900}, {2560, 1600}};

bool is_word(const std::string& name) {
  for (const char* begin : {"chip ", "gap ", "ghost ", "word "})
    if (name.starts_with(begin)) return true;
  return false;
}

/// Everything that can be pointed at, but the words.
std::map<std::string, Box> controls(const Harness& h) {
  std::map<std::string, Box> all;
  for (const DrawnBox& drawn : h.boxes)
    if (drawn.kind != BoxKind::label && !is_word(drawn.name)) all.emplace(drawn.name, drawn.box);
  return all;
}

/// The names of those that are not where they were; with `gone` those too that are in one of the two alone.
std::string moved(const std::map<std::string, Box>& before, const std::map<std::string, Box>& now, bool gone = false) {
  std::string names;
  for (const auto& [name, box] : before) {
    const auto found = now.find(name);
    // A switch is as wide as its word; the second offer of the answer stands behind the first.
    const bool of_answer = name == "switch head" || name == "change 1" || name == "change 2";
    if (!gone && of_answer) continue;
    if (found == now.end() ? gone : found->second.x != box.x || found->second.y != box.y || found->second.h != box.h)
      names += name + ", ";
  }
  for (const auto& [name, box] : now)
    if (gone && !before.contains(name)) names += name + " is new, ";
  return names;
}

/// The first window of a language, with the models that come along.
class StillTest : public GuiTest {
 protected:
  void SetUp() override { begin({1440, 900}, Language::en); }
  void begin(ImVec2 size, Language language) {
    Settings settings;
    settings.language = language;
    settings.greeted = true;
    settings.ui_scale = fitting_ui_scale(size.x, size.y);
    start(first_document(fixture::shipped().get(), language), size, settings);
    harness->state.shipped = fixture::shipped();
    begin_looking(harness->state);
    harness->settle();
  }
  const AppState& state() const { return harness->state; }
  const std::string& text() const { return state().document.source.text; }
  void rest() { harness->frame(static_cast<int>(std::ceil(kTextRests * 60)) + 1); }
};

TEST_F(StillTest, ALetterMovesNothingAndTheTextIsAnsweredWhenItRests) {
  const std::pair<Language, std::u32string_view> sentences[] = {{Language::en, U"The cat sat on a mat"},
                                                                {Language::zh, U"机器学习改变世界"}};
  for (const auto& [language, sentence] : sentences)
    for (const ImVec2& size : kSizes) {
      SCOPED_TRACE(std::to_string(size.x) + (language == Language::zh ? " zh" : " en"));
      begin(size, language);
      Harness& h = *harness;
      h.click("text");
      h.key({Key::left_ctrl, Key{'A'}});
      h.frame(2);
      const auto before = controls(h);
      const auto trace = state().trace.answer();
      const HeadRef chosen = state().view.chosen;
      for (const char32_t letter : sentence) {
        h.fonts.input(letter);
        h.frame(3);
        EXPECT_EQ(moved(before, controls(h), true), "");
        EXPECT_EQ(state().trace.answer(), trace) << "the last answer stays";
        EXPECT_EQ(state().view.chosen, chosen);
        EXPECT_EQ(state().document.model_path, kDefaultModel);
        EXPECT_FALSE(h.has("unknown words"));
      }
      EXPECT_TRUE(is_typing(state()));
      rest();
      EXPECT_EQ(state().document.model_path, kAnySentence);
      h.settle();
      const HeadRef answered = state().view.chosen;
      rest();
      EXPECT_EQ(state().view.chosen, answered) << "once";
      EXPECT_FALSE(is_stale(state()));
    }
}

TEST_F(StillTest, AWordIsJudgedWhenItIsLeft) {
  Harness& h = *harness;
  Config config = state().document.config;
  config.d_model = 64;  // a model of the family, which no sentence exchanges for another
  h.push(SetConfig{config}, EndGesture{});
  h.settle();
  h.retype("The zeb");
  EXPECT_FALSE(h.has("unknown words")) << "it is not finished";
  EXPECT_FALSE(h.drew(h.colours().caution, h.box("chip 1")));
  h.type("ra ");
  EXPECT_TRUE(h.has("unknown words")) << "a space leaves it";
  EXPECT_TRUE(h.drew(h.colours().caution, h.box("chip 1")));
  h.retype("The zeb");
  rest();
  EXPECT_TRUE(h.has("unknown words")) << "it rests";
}

TEST_F(StillTest, NoMessageMovesAControl) {
  for (const Language language : {Language::en, Language::zh})
    for (const ImVec2& size : kSizes) {
      SCOPED_TRACE(std::to_string(size.x) + (language == Language::zh ? " zh" : " en"));
      begin(size, language);
      Harness& h = *harness;
      // A control that brings a message or a control: clicked twice on one spot it undoes itself.
      for (const char* control : {"causal", "paint", "trained", "padding", "switch head"}) {
        SCOPED_TRACE(control);
        h.point_at(control);
        const Document document = state().document;
        const bool painting = state().view.painting;
        const auto before = controls(h);
        const ImVec2 spot = ImGui::GetIO().MousePos;
        h.click_at(spot);
        h.settle();
        EXPECT_TRUE(!(state().document == document) || state().view.painting != painting);
        EXPECT_EQ(moved(before, controls(h)), "");
        h.click_at(spot);
        h.settle();
        EXPECT_EQ(state().document, document);
        EXPECT_EQ(state().view.painting, painting);
        EXPECT_EQ(moved(before, controls(h)), "");
        h.key(Key::escape);
        h.push(DismissNotice{});
      }
      const auto before = controls(h);
      const auto stays = [&](const char* message) {
        h.settle();
        SCOPED_TRACE(message);
        EXPECT_EQ(moved(before, controls(h)), "");
        h.push(DismissNotice{});
      };
      for (const std::string_view line : {"something is wrong\nin two lines", "short"})
        h.push(FileFailed{Error(ErrorCode::bad_value, std::string(line))}), stays("an error");
      h.push(Copied{"headlight figure"}), stays("copied");
      h.push(SetWeight{{0, 0}, {4, 5}, 0.3f}, EndGesture{}), stays("a weight by hand");
      h.push(Undo{}, SetText{"I am a zebra"}, EndGesture{}, Undo{}), stays("another sentence and back");
      Config config = state().document.config;
      config.d_model = 64;
      h.push(SetConfig{config}, EndGesture{}, SetText{"I am a zebra"}, EndGesture{});
      h.settle();
      EXPECT_TRUE(h.has("unknown words"));
      for (const char* name : {"text", "samples", "more controls", "open controls", "undo", "causal", "d_model"})
        if (before.contains(name)) { EXPECT_EQ(h.box(name).y, before.at(name).y) << name; }
    }
}

TEST_F(StillTest, TheMaskAndTheShapeAreAlwaysInSight) {
  for (const Language language : {Language::en, Language::zh})
    for (const ImVec2& size : kSizes) {
      begin(size, language);
      Harness& h = *harness;
      SCOPED_TRACE(std::to_string(size.x) + (language == Language::zh ? " zh" : " en"));
      for (const char* name : {"causal", "paint", "d_model", "heads", "layers", "model line"}) {
        ASSERT_TRUE(h.has(name)) << name;
        EXPECT_TRUE(h.box(name).x >= 0 && h.box(name).right() <= size.x && h.box(name).bottom() <= size.y) << name;
      }
      EXPECT_TRUE(h.says(language == Language::zh ? "掩码" : "Mask"));
      EXPECT_TRUE(h.says(language == Language::zh ? "头数 8" : "heads") && h.says("128"));
      // Painting: nothing lies over the map.
      h.click("paint");
      h.drag(h.cell_point("stage map", {0, 0}), h.cell_point("stage map", {3, 0}));
      h.settle();
      EXPECT_EQ(state().document.mask.painted.size(), 4u);
      h.click("paint");
      EXPECT_FALSE(state().view.painting);
    }
  begin({1280, 800}, Language::en);
  Harness& h = *harness;
  h.slide("heads", 0.7f, 0.05f);
  EXPECT_LT(state().document.config.num_heads, 8) << "one drag";
  h.click("open controls");
  EXPECT_TRUE(h.has("scale") && h.has("trained") && h.has("ffn"));
  h.key({Key::left_alt, Key{'M'}});
  EXPECT_TRUE(state().document.mask.causal) << "one works with the keys while the controls are open";
  EXPECT_TRUE(h.has("controls"));
}

TEST_F(StillTest, EachLanguageBeginsWithTenTokensOfItsOwn) {
  const std::pair<Language, CellRef> starts[] = {{Language::en, {7, 1}}, {Language::zh, {4, 0}}};
  for (const auto& [language, cell] : starts) {
    begin({1440, 900}, language);
    EXPECT_EQ(state().trace->queries(), 10);
    EXPECT_EQ(text(), language == Language::en ? kEnglishSentence : kDefaultSentence);
    EXPECT_EQ(state().view.chosen, (HeadRef{1, 5}));
    EXPECT_EQ(state().view.pinned, cell);
    EXPECT_GT(weights_of(*state().trace, {1, 5})(cell.query, cell.key), 0.8f);
    harness->push(SetText{"我"}, EndGesture{}, Reset{}, EndGesture{});
    harness->settle();
    EXPECT_EQ(state().trace->queries(), 10) << "Reset";
    EXPECT_EQ(state().view.pinned, cell);
  }
  begin({1440, 900}, Language::en);
  ASSERT_TRUE(harness->has("change 0"));
  harness->click("change 0");
  harness->settle();
  EXPECT_EQ(text(), "The animal didn't cross the street because it was wide");
  EXPECT_GT(weights_of(*state().trace, {1, 5})(7, 5), 0.7f) << "it is the street";
  EXPECT_EQ(state().view.pinned, (CellRef{7, 1})) << "the cell stays";
}

TEST_F(StillTest, UndoInTheBoxUndoesTheSentence) {
  Harness& h = *harness;
  h.retype("The cat sat");
  rest();
  h.type(" on the mat");
  h.key({Key::left_ctrl, Key{'Z'}});
  h.frame();
  EXPECT_EQ(text(), "The cat sat") << "what was typed since it rested";
  EXPECT_TRUE(ImGui::GetIO().WantTextInput) << "the box keeps the keyboard";
  h.type("!");
  EXPECT_EQ(text(), "The cat sat!") << "and has the cursor where the text changed";
  h.key({Key::left_ctrl, Key{'Z'}});
  h.frame();
  h.key({Key::left_ctrl, Key{'Z'}});
  h.frame();
  EXPECT_EQ(text(), kEnglishSentence);
  h.key({Key::left_ctrl, Key::left_shift, Key{'Z'}});
  h.frame();
  EXPECT_EQ(text(), "The cat sat");
  h.key(Key::escape);
  h.key({Key::left_ctrl, Key{'Z'}});
  EXPECT_EQ(text(), kEnglishSentence) << "out of the box too";
}

TEST_F(StillTest, SentencesTypedWithoutEnterAreSteps) {
  Harness& h = *harness;
  h.click("text");
  for (const char* sentence : {"The cat sat", "The dog ran", "A bird sang"}) {
    h.key({Key::left_ctrl, Key{'A'}});
    h.type(sentence);
    rest();
  }
  h.key(Key::escape);
  for (const std::string_view before :
       {std::string_view("The dog ran"), std::string_view("The cat sat"), kEnglishSentence}) {
    h.key({Key::left_ctrl, Key{'Z'}});
    EXPECT_EQ(text(), before);
  }
}

TEST_F(StillTest, AStrayLetterGoesBehindTheSentence) {
  Harness& h = *harness;
  h.retype("The cat sat");
  h.key(Key::escape);
  h.type("mp");
  h.settle();
  EXPECT_EQ(text(), "The cat satmp") << "nothing is replaced";
  h.key({Key::left_ctrl, Key{'Z'}});
  h.frame();
  EXPECT_EQ(text(), "The cat sat");
}

TEST_F(StillTest, AModelMovesThePinByWordOrDropsIt) {
  Harness& h = *harness;
  const auto word = [&](Index token) {
    return state().trace->key_tokens().tokens[static_cast<std::size_t>(token)].text;
  };
  Config config = state().document.config;
  config.arch = Arch::decoder;
  h.push(SetConfig{config}, EndGesture{});
  h.settle();
  ASSERT_EQ(word(0), "<s>") << "which shifts every token";
  ASSERT_TRUE(state().view.pinned);
  EXPECT_EQ(word(state().view.pinned->query), "it");
  EXPECT_EQ(word(state().view.pinned->key), "animal");
  h.push(Pin{*state().view.pinned});  // by hand: no text chooses another
  h.push(SetText{"the animal, the street"}, EndGesture{});
  h.settle();
  EXPECT_FALSE(state().view.pinned) << "it is gone";
  h.push(Pin{CellRef{static_cast<Index>(state().trace->queries()) - 1, 4}});
  h.frame();
  const std::string query = word(state().view.pinned->query), key = word(4);
  h.push(SetText{"street the animal, the street"}, EndGesture{});
  h.settle();
  ASSERT_TRUE(state().view.pinned);
  EXPECT_EQ(word(state().view.pinned->query), query);
  EXPECT_EQ(word(state().view.pinned->key), key);
}

TEST_F(StillTest, BackToATrainedShapeIsBackToTheHeadsThatWere) {
  Harness& h = *harness;
  for (const Index width : {Index{292}, Index{296}}) {  // 292 has four heads at most
    Config config = state().document.config;
    config.d_model = width;
    config.num_heads = 4;
    h.push(SetConfig{config});
  }
  h.push(EndGesture{});
  h.settle();
  h.click("back to trained");
  h.settle();
  EXPECT_EQ(state().document.config.d_model, 128);
  EXPECT_EQ(state().document.config.num_heads, 8);
  const Config before = state().document.config;
  h.slide("d_model", 0.24f, 0.56f);
  const Config now = state().document.config;
  EXPECT_GT(now.d_model, 200);
  EXPECT_EQ(now.num_heads, with_d_model(before, now.d_model).num_heads) << "whatever there were on the way";
}

TEST_F(StillTest, FortyThingsToClickAtMost) {
  std::string read = "The teacher who saw the child asked him to read. ";
  for (int i = 0; i < 4; ++i) read += read;
  for (const Language language : {Language::en, Language::zh})
    for (const char* own : {"", "The teacher who saw the child asked him to read", read.c_str(), "144 heads"}) {
      begin({1440, 900}, language);
      Harness& h = *harness;
      if (own == std::string_view("144 heads")) {
        h.push(UseTrained{false}, SetConfig{{.arch = Arch::decoder, .d_model = 192, .num_heads = 12, .num_layers = 12}},
               EndGesture{});
        h.settle();
      } else if (*own) {
        h.push(SetText{own}, EndGesture{});
        h.settle();
      }
      h.point_away();
      std::set<std::string> names;
      for (const DrawnBox& drawn : h.boxes)
        if (drawn.kind != BoxKind::label && drawn.kind != BoxKind::map && drawn.kind != BoxKind::thumbnail &&
            drawn.kind < BoxKind::stage && !is_word(drawn.name))
          names.insert(drawn.name);
      std::string all;
      for (const std::string& name : names) all += name + ", ";
      EXPECT_LE(names.size(), 40u) << all;
    }
}

}  // namespace
}  // namespace headlight
