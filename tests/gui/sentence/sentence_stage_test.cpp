// The sentence on the stage of the window: its frame, what a click keeps, what opens on which form.
#include <cctype>
#include <filesystem>
#include <map>
#include <set>

#include "app/lessons.h"
#include "app/shipped.h"
#include "base/file.h"
#include "base/utf8.h"
#include "gui/harness.h"
#include "gui/sentence/own_sentence.h"
#include "session/shown.h"

namespace headlight {
namespace {

constexpr const char* kTrophy = "The trophy does not fit in the suitcase because it is too big.";

class SentenceStageTest : public GuiTest {
 protected:
  void SetUp() override { open("", kTrophy); }
  void open(const std::string& source, const std::string& text, ImVec2 size = {1440, 900}) {
    Settings settings;
    settings.language = Language::en;
    settings.greeted = true;
    start(fixture::sentence_document(text, source), size, settings);
    harness->state.shipped = fixture::shipped();
    harness->state.view.text.form.reset();
    harness->state.view.fold = default_settings().layout.fold;
    harness->push(ChooseStart{});
    harness->settle();
  }
  const AppState& state() const { return harness->state; }
};

TEST_F(SentenceStageTest, OpensOnTheSentenceAndNamesItsArcs) {
  EXPECT_EQ(stage_form(state()), StageForm::sentence);
  const auto is_pinned = [&](const DrawnBox& drawn) {
    return drawn.kind == BoxKind::arc && drawn.head == state().view.chosen && drawn.cell == state().view.pinned;
  };
  EXPECT_TRUE(std::ranges::any_of(harness->boxes, is_pinned));
  EXPECT_TRUE(harness->says("“it” looks at “trophy”"));
  std::set<BoxKind> kinds;
  for (const DrawnBox& drawn : harness->boxes) kinds.insert(drawn.kind);
  EXPECT_TRUE(kinds.contains(BoxKind::stage) && kinds.contains(BoxKind::atlas));
}

TEST_F(SentenceStageTest, AClickKeepsWhatItPins) {
  harness->click("word 1");
  ASSERT_TRUE(state().view.pinned);
  const CellRef cell = *state().view.pinned;
  EXPECT_EQ(harness->state.folded->stacks[0]->fold.queries.group(cell.query), 1) << "its first word but one";
  harness->click("word 1");
  EXPECT_EQ(state().view.view, View::inside) << "a click on what is pinned asks why";
  EXPECT_EQ(state().view.pinned, cell);
  harness->push(ShowView{View::heads});
  harness->settle();
  harness->key(Key::escape);
  EXPECT_FALSE(state().view.pinned);
}

TEST_F(SentenceStageTest, OnTheMapAClickOnThePinnedCellAsksWhy) {
  harness->push(SetTextLook{{.form = StageForm::map}}, SetFold{});
  harness->settle();
  const CellRef cell = *state().view.pinned;
  harness->click_at(harness->cell_point("stage map", cell));
  EXPECT_EQ(state().view.pinned, cell);
  EXPECT_EQ(state().view.view, View::inside);
}

TEST_F(SentenceStageTest, ArrowsGoFromWordToWordAndFromHeadToHead) {
  const CellRef before = *state().view.pinned;
  harness->key(Key::left);
  EXPECT_EQ(state().view.pinned->query, before.query - 1);
  const HeadRef head = state().view.chosen;
  harness->key(Key::down);
  EXPECT_EQ(state().view.pinned->query, before.query - 1);
  EXPECT_NE(state().view.chosen, head);
}

TEST_F(SentenceStageTest, ABarIsDraggedWhereItIsOneToken) {
  open("shipped:encoder", "The animal didn't cross the street because it was tired");
  const CellRef cell = *state().view.pinned;
  const Box bar = harness->box("bar " + std::to_string(cell.key));
  EXPECT_GE(bar.h, 60);
  harness->drag({bar.x + bar.w / 2, bar.bottom() - 4}, {bar.x + bar.w / 2, bar.y + bar.h / 2});
  harness->settle();
  const WeightEdit* edit = edited_weight(state().document.edits, state().view.chosen, cell);
  ASSERT_TRUE(edit);
  EXPECT_NEAR(edit->weight, 0.5f, 0.05f);
}

TEST_F(SentenceStageTest, TheRowSaysWhatWeightsByHandSumTo) {
  open("shipped:encoder", "The animal didn't cross the street because it was tired");
  const HeadRef head = state().view.chosen;
  const CellRef cell = *state().view.pinned;
  harness->push(SetWeight{head, cell, 0.8f}, EndGesture{}, SetWeight{head, {cell.query, cell.key + 1}, 0.9f},
                EndGesture{});
  harness->push(ChooseHead{head}, Pin{cell});
  harness->settle();
  EXPECT_TRUE(harness->says("set by hand: the row sums to 1.7")) << harness->words_on_screen();
}

/// The weight of *it* at a word that the model spells in three tokens, as the folded map has it.
float weight_at_trophy(const AppState& state) {
  const FoldedStack& folded = *state.folded->stacks[0];
  const CellRef at = *folded.fold.groups_of(*state.view.pinned);
  return folded.map(state.view.chosen)(at.query, at.key);
}

TEST_F(SentenceStageTest, AWordInPiecesIsSetByHandAsAWord) {
  const float before = weight_at_trophy(state());
  const Index first = state().folded->stacks[0]->fold.keys.tokens_of(1).first;
  const Matrix computed = weights_of(*state().trace, state().view.chosen);
  const Box bar = harness->box("bar 1");
  harness->drag({bar.x + bar.w / 2, bar.y + 8}, {bar.x + bar.w / 2, bar.y + bar.h / 2});
  harness->settle();
  EXPECT_NEAR(weight_at_trophy(state()), 0.5f, 0.05f);
  EXPECT_EQ(state().document.edits.weights.size(), 3u) << "one a piece";
  EXPECT_TRUE(harness->has("weight as computed"));
  const Matrix row = weights_of(*state().trace, state().view.chosen).row(state().view.pinned->query);
  EXPECT_NEAR(row.sum(), 1, 1e-4) << "the others share the rest";
  const Index query = state().view.pinned->query;
  EXPECT_NEAR(row(0, first) / row(0, first + 2), computed(query, first) / computed(query, first + 2), 1e-3)
      << "its pieces share it as before";
  const Box slider = harness->box("weight by hand");
  harness->click_at({slider.x + 0.25f * slider.w, slider.y + slider.h / 2});
  harness->settle();
  EXPECT_NEAR(weight_at_trophy(state()), 0.25f, 0.06f);
  harness->click("weight as computed");
  harness->settle();
  EXPECT_TRUE(state().document.edits.weights.empty());
  EXPECT_FLOAT_EQ(weight_at_trophy(state()), before);
}

TEST_F(SentenceStageTest, OneWordIsPinnedWhereItLooksAtItselfMost) {
  open("", "Hello");
  ASSERT_TRUE(state().view.pinned);
  EXPECT_TRUE(harness->says("“Hello” looks at itself, 100 %")) << harness->words_on_screen();
  EXPECT_TRUE(harness->has("numbers"));
  EXPECT_TRUE(harness->says("One word has no other to look at"));
}

TEST_F(SentenceStageTest, BlanksAreNoSentence) {
  for (const char* blanks : {"", " ", " \t ", "\n", "　"}) {
    harness->push(SetText{blanks}, EndGesture{});
    harness->settle();
    EXPECT_TRUE(harness->says("No sentence yet")) << '"' << blanks << '"';
    EXPECT_FALSE(harness->says("cannot be asked"));
  }
}

TEST_F(SentenceStageTest, WordsFromRightToLeftStandSo) {
  open("", "שלום עולם מה שלומך היום");
  for (int i = 1; i < 5; ++i)
    EXPECT_LT(harness->box("word " + std::to_string(i)).right(), harness->box("word " + std::to_string(i - 1)).x);
  const CellRef before = *state().view.pinned;
  harness->click("word 0");
  EXPECT_EQ(harness->state.folded->stacks[0]->fold.queries.group(state().view.pinned->query), 0)
      << "what is pointed at is what is drawn there, not " << before.query;
}

/// A decoder that has read nothing but its first token looks at the source all the same.
TEST_F(SentenceStageTest, OfTwoSentencesThePinnedArcStands) {
  open("shipped:translator", "我请李雷帮我订了去北京的机票");
  const auto is_pinned = [&](const DrawnBox& drawn) {
    return drawn.kind == BoxKind::arc && drawn.head == state().view.chosen && drawn.cell == state().view.pinned;
  };
  EXPECT_TRUE(std::ranges::any_of(harness->boxes, is_pinned));
}

TEST_F(SentenceStageTest, LessonsAndPaintingShowTheMap) {
  harness->push(SetPainting{true});
  EXPECT_EQ(stage_form(state()), StageForm::map);
  harness->push(SetPainting{false});
  EXPECT_EQ(stage_form(state()), StageForm::sentence);
  harness->state.view.lesson = LessonPosition{};
  EXPECT_EQ(stage_form(state()), StageForm::map);
  harness->state.view.lesson.reset();
  harness->push(SetText{"one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
                        "sixteen seventeen eighteen nineteen twenty and one two three four five six seven eight nine "
                        "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty"},
                EndGesture{});
  harness->settle();
  EXPECT_EQ(stage_form(state()), StageForm::text) << "of more words than " << kUsualWordsOfStage;
}

TEST_F(SentenceStageTest, AWordOfOnesOwnAnswers) {
  EXPECT_TRUE(harness->says("big → tight"));
  harness->push(TryWord{"small"});
  harness->settle();
  EXPECT_TRUE(harness->says("big → small: suitcase")) << harness->words_on_screen();
  harness->push(TryWord{"zzzz"});
  harness->settle();
  EXPECT_FALSE(harness->has("change own"));
}

TEST_F(SentenceStageTest, NothingIsSaidOfEverySingleWord) {
  harness->push(SetText{"My neighbour waters the flowers every morning."}, EndGesture{});
  harness->settle();
  EXPECT_FALSE(harness->says("single-word"));
}

/// The parts whose places follow from the window's size.
std::map<std::string, Box> frame_of(const Harness& h) {
  std::map<std::string, Box> frame;
  for (const char* name : {"stage", "atlas", "sentence", "status", "top bar", "causal", "paint", "stage form sentence",
                           "stage form map", "stage form text", "switch head", "keep", "d_model", "heads", "layers",
                           "open controls", "numbers", "why", "own word"})
    if (h.has(name)) frame.emplace(name, h.box(name));
  // Bars stand below the words: at one height where these are in one line.
  std::set<float> lines;
  for (const auto& [name, box] : h.probe)
    if (name.starts_with("word ") && std::isdigit(name[5])) lines.insert(box.y);
  if (h.has("row bars") && h.has("stage sentence scene") && lines.size() == 1)
    frame.emplace("row bars", Box{0, h.box("row bars").y, 0, h.box("row bars").h});
  return frame;
}

/// Parts that are not where they were.
std::string moved_parts(const std::map<std::string, Box>& first, const std::map<std::string, Box>& now) {
  std::string names;
  for (const auto& [name, box] : now)
    if (first.contains(name) && !(box == first.at(name))) names += name + ", ";
  return names;
}

TEST(StageFrame, NeitherSentencesNorLessonsMoveIt) {
  const auto read = read_file(std::filesystem::path(HEADLIGHT_TEST_DATA) / "gui/sentence/sentences.txt");
  ASSERT_TRUE(read);
  std::vector<std::string> sentences{"The animal didn't cross the street because it was tired"};
  for (const std::string_view line : split_at('\n', *read))
    if (!line.empty()) sentences.emplace_back(line);
  for (const ImVec2 size : {ImVec2{960, 600}, {1024, 700}, {1280, 800}, {1440, 900}, {1920, 1080}}) {
    SCOPED_TRACE(std::to_string(size.x));
    Settings settings;
    settings.language = Language::en;
    settings.greeted = true;
    Harness h(fixture::sentence_document(sentences.front()), size, settings);
    h.state.shipped = fixture::shipped();
    h.state.lessons = std::make_shared<const std::vector<Lesson>>(fixture::all_lessons().lessons);
    h.settle();
    const auto first = frame_of(h);
    EXPECT_GE(first.size(), 10u);
    for (std::size_t i = 0; i < sentences.size(); i += size.x == 1440 ? 1 : 7) {
      h.push(SetText{sentences[i]}, EndGesture{});
      h.settle();
      EXPECT_EQ(moved_parts(first, frame_of(h)), "") << sentences[i];
    }
    // A lesson takes its part of the window first: the same part whatever it is about.
    std::map<std::string, Box> beside;
    for (std::size_t lesson = 0; lesson < h.state.lessons->size(); lesson += 3) {
      h.push(OpenLesson{lesson});
      h.settle();
      if (h.state.view.view != View::heads) continue;
      if (beside.empty()) beside = frame_of(h);
      EXPECT_EQ(moved_parts(beside, frame_of(h)), "") << "lesson " << lesson;
    }
    h.push(OpenLesson{});
    h.settle();
    h.push(ShowView{View::heads});
    h.settle();
    EXPECT_EQ(moved_parts(first, frame_of(h)), "") << "the lesson is left";
  }
}

TEST(StageFrame, FollowsFromTheSizeOfTheWindowAlone) {
  const std::pair<const char*, const char*> questions[] = {
      {"shipped:encoder", "The animal didn't cross the street because it was tired"},
      {"", kTrophy},
      {"", "Hello"},
      {"", "昨天晚上，妈妈给弟弟买了一本他很喜欢的故事书。"},
      {"shipped:decoder", "The animal didn't cross the street because it was tired"},
      {"shipped:translator", "我请李雷帮我订了去北京的机票"}};
  for (const ImVec2 size : {ImVec2{960, 600}, {1024, 700}, {1280, 800}, {1440, 900}, {1920, 1080}}) {
    std::map<std::string, Box> first;
    for (const auto& [source, text] : questions)
      for (const StageForm form : {StageForm::sentence, StageForm::map, StageForm::text}) {
        Settings settings;
        settings.language = Language::en;
        settings.greeted = true;
        Harness h(fixture::sentence_document(text, source), size, settings);
        h.state.shipped = fixture::shipped();
        h.state.view.text.form = form;
        h.settle();
        const auto frame = frame_of(h);
        if (first.empty()) first = frame;
        SCOPED_TRACE(std::string(source) + " " + text + " " + std::to_string(size.x));
        EXPECT_GE(frame.size(), 10u);
        for (const auto& [name, box] : frame)
          if (first.contains(name)) { EXPECT_EQ(box, first.at(name)) << name; }
      }
  }
}

}  // namespace
}  // namespace headlight
