// The line of the stage that offers to change a word.
#include <set>

#include "app/shipped.h"
#include "gui/frame/looks.h"
#include "gui/harness.h"
#include "models/bundled_models.h"
#include "models/open_model.h"
#include "view/settings.h"
#include "views/heads/panel/stage_sentence.h"

namespace headlight {
namespace {

class ChangesTest : public GuiTest {
 protected:
  void begin(ImVec2 size, const std::string& text, Settings settings = {}) {
    Document document = default_document(fixture::shipped().get());
    document.source.text = text;
    start(document, size, std::move(settings));
    harness->state.shipped = fixture::shipped();
    harness->push(ChooseHead{{1, 5}}, Pin{CellRef{row("it"), row("animal")}});
    harness->settle();
  }
  Index row(const std::string& word) const {
    const auto& tokens = harness->state.trace->query_tokens().tokens;
    for (std::size_t i = 0; i < tokens.size(); ++i)
      if (tokens[i].text == word) return static_cast<Index>(i);
    return 0;
  }
  const std::string tired = "The animal didn't cross the street because it was tired";
  const std::string wide = "The animal didn't cross the street because it was wide";
};

TEST_F(ChangesTest, AClickTakesTheSentenceAndThePinStays) {
  for (const ImVec2 size : {ImVec2{1440, 900}, ImVec2{1280, 800}}) {
    begin(size, tired);
    Harness& h = *harness;
    const auto pinned = h.state.view.pinned;
    ASSERT_TRUE(h.has("change 0")) << size.x;
    EXPECT_TRUE(h.says("tired → wide: street")) << h.words_on_screen();
    const float promised = h.state.changes->best.front().after;
    h.click("change 0");
    h.settle();
    EXPECT_EQ(h.state.document.source.text, wide);
    EXPECT_EQ(h.state.view.pinned, pinned);
    EXPECT_EQ(h.state.view.chosen, (HeadRef{1, 5}));
    EXPECT_EQ(weights_of(*h.state.trace, {1, 5})(row("it"), row("street")), promised);
    ASSERT_TRUE(h.has("change 0")) << "and back";
    EXPECT_TRUE(h.says("wide → tired: animal"));
    h.key({Key::left_ctrl, Key{'Z'}});
    h.settle();
    EXPECT_EQ(h.state.document.source.text, tired);
    EXPECT_EQ(h.state.view.pinned, pinned);
  }
}

TEST_F(ChangesTest, NothingMovesWhenTheyArrive) {
  begin({1440, 900}, tired);
  Harness& h = *harness;
  const auto places = [&] {
    std::vector<Box> all;
    for (const char* name : {"stage map", "row bars", "numbers", "why", "keep", "head 1.5", "switch head"})
      all.push_back(h.box(name));
    return all;
  };
  const auto before = places();
  h.push(Pin{CellRef{row("animal"), 0}});
  EXPECT_EQ(places(), before) << "while words are tried";
  h.settle();
  EXPECT_EQ(places(), before);
  h.point_at("stage map");
  EXPECT_EQ(places(), before);
}

/// What a change brings about stands on its spot afterwards, in every window.
TEST_F(ChangesTest, ASecondClickMeetsTheSameControl) {
  const std::pair<ImVec2, Language> windows[] = {{{1024, 700}, Language::en}, {{1024, 700}, Language::zh},
                                                 {{1280, 800}, Language::zh}, {{1440, 700}, Language::en},
                                                 {{1440, 900}, Language::zh}, {{2560, 1600}, Language::en}};
  for (const auto& [size, language] : windows) {
    int met = 0;
    for (const std::string control : {"change 0", "change 1", "change 2", "switch head", "trained", "causal"}) {
      SCOPED_TRACE(std::to_string(size.x) + (language == Language::zh ? " zh " : " en ") + control);
      Settings settings;
      settings.language = language;
      settings.ui_scale = fitting_ui_scale(size.x, size.y);
      begin(size, tired, settings);
      Harness& h = *harness;
      if (!h.has(control)) continue;
      ++met;
      h.point_at(control);
      const ImVec2 spot = ImGui::GetIO().MousePos;
      const auto on_spot = [&] {
        std::set<std::string> names;
        for (const DrawnBox& drawn : h.boxes)
          if (drawn.kind != BoxKind::label && drawn.box.contains(spot.x, spot.y)) names.insert(drawn.name);
        return names;
      };
      const auto before = on_spot();
      h.click_at(spot);
      h.settle();
      for (const std::string& name : on_spot()) EXPECT_TRUE(before.contains(name)) << name;
    }
    EXPECT_GE(met, 3);
  }
}

TEST_F(ChangesTest, ALabelIsWholeShorterOrLeftOutNeverCut) {
  begin({1024, 700}, tired);
  const std::vector<std::string> labels{"tired → wide: street 82 %", "tired → wide: street", "tired → wide"};
  for (const std::string& label : labels) EXPECT_EQ(label_within(labels, primary_width(label.c_str())), label);
  EXPECT_EQ(label_within(labels, primary_width("tired → wid")), "");
  for (const float width : {700.0f, 1024.0f, 1280.0f, 1440.0f}) {
    begin({width, 700}, tired);
    EXPECT_FALSE(harness->says("→ wid…")) << width;
    EXPECT_FALSE(harness->says("→ wide…")) << width;
    EXPECT_FALSE(harness->says("street…")) << width;
    EXPECT_FALSE(harness->says("street 8…")) << width;
  }
}

TEST_F(ChangesTest, EachSaysWhatWasBeforeAndWhatIsAfter) {
  begin({1920, 1080}, tired);
  Harness& h = *harness;
  ASSERT_FALSE(h.state.changes->best.empty());
  for (const WordChange& change : h.state.changes->best) {
    const std::string before = percent(change.before), after = percent(change.after);
    const std::string label = change.from + " → " + change.to + ": " + change.looked_at + " " +
                              before.substr(0, before.find(' ')) + " → " + after;
    EXPECT_TRUE(h.says(label)) << label << " not in " << h.words_on_screen();
  }
}

TEST_F(ChangesTest, OfAWordInPiecesTheLineNamesTheWord) {
  Document document = open_model("shipped:any-sentence")->document;
  document.source.text = "My neighbour sold the boat to his cousin.";
  start(document, {1440, 900}, {});
  Harness& h = *harness;
  const Tokens& tokens = h.state.trace->query_tokens();
  ASSERT_TRUE(tokens.tokens[3].continues) << tokens.tokens[3].text;
  h.push(SetFold{{.special = true, .words = true}}, ChooseHead{{3, 0}}, Pin{CellRef{3, row("sold")}});
  h.settle();
  EXPECT_FALSE(guess_question(h.state)) << "a piece of a word that is shown whole";
  EXPECT_FALSE(h.says("hidden, the model gives"));
  ASSERT_TRUE(h.state.changes && h.state.changes->tried > 0);
  EXPECT_FALSE(h.says("“igh”") || h.says("“ur”")) << h.words_on_screen();
  EXPECT_TRUE(!h.state.changes->best.empty() || h.says("“neighbour”")) << h.words_on_screen();
  h.push(SetFold{{}});
  h.settle();
  EXPECT_TRUE(guess_question(h.state)) << "its tokens are on the screen";
}

/// Where the whole lead leaves no room for a word, a shorter one does: never a lead alone.
TEST_F(ChangesTest, AGuessThatIsAnnouncedIsThere) {
  for (const float width : {960.0f, 1024.0f, 1100.0f, 1280.0f, 1440.0f}) {
    begin({width, 800}, tired);
    Harness& h = *harness;
    h.push(Pin{CellRef{row("because"), row("animal")}});
    h.settle();
    ASSERT_TRUE(h.state.guess && h.state.guess->right);
    const bool led = h.says("“because” hidden") || h.says("“because”:");
    EXPECT_TRUE(led) << width;
    EXPECT_EQ(led, h.has("word because")) << width;
  }
}

TEST_F(ChangesTest, TheTooltipSaysWhatCounts) {
  for (const Language language : {Language::en, Language::zh}) {
    Settings settings;
    settings.language = language;
    begin({1440, 900}, tired, settings);
    Harness& h = *harness;
    ASSERT_TRUE(h.has("change 0"));
    h.point_at("change 0");
    EXPECT_TRUE(h.says(std::to_string(h.state.changes->tried))) << h.words_on_screen();
    EXPECT_TRUE(
        h.says(language == Language::en ? "its largest weight goes to another word" : "最大权重落到另一个词上"));
    EXPECT_TRUE(h.says("30%"));
  }
}

TEST_F(ChangesTest, RandomWeightsAndSwitchedOffHeadsOfferNone) {
  begin({1440, 900}, tired);
  Harness& h = *harness;
  h.push(SwitchHead{{1, 5}, true}, EndGesture{});
  h.settle();
  EXPECT_FALSE(h.has("change 0"));
  h.push(SwitchHead{{1, 5}, false}, UseTrained{false});
  h.settle();
  EXPECT_FALSE(h.has("change 0"));
}

}  // namespace
}  // namespace headlight
