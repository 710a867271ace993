// The sentence on the stage of the window: its frame, what a click keeps, what opens on which form.
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

class SentenceStage : public GuiTest {
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

TEST_F(SentenceStage, OpensOnTheSentenceAndNamesItsArcs) {
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

TEST_F(SentenceStage, AClickKeepsWhatItPins) {
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

TEST_F(SentenceStage, OnTheMapAClickOnThePinnedCellAsksWhy) {
  harness->push(SetTextLook{{.form = StageForm::map}}, SetFold{});
  harness->settle();
  const CellRef cell = *state().view.pinned;
  harness->click_at(harness->cell_point("stage map", cell));
  EXPECT_EQ(state().view.pinned, cell);
  EXPECT_EQ(state().view.view, View::inside);
}

TEST_F(SentenceStage, ArrowsGoFromWordToWordAndFromHeadToHead) {
  const CellRef before = *state().view.pinned;
  harness->key(Key::left);
  EXPECT_EQ(state().view.pinned->query, before.query - 1);
  const HeadRef head = state().view.chosen;
  harness->key(Key::down);
  EXPECT_EQ(state().view.pinned->query, before.query - 1);
  EXPECT_NE(state().view.chosen, head);
}

TEST_F(SentenceStage, ABarIsDraggedWhereItIsOneToken) {
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

TEST_F(SentenceStage, TheRowSaysWhatWeightsByHandSumTo) {
  open("shipped:encoder", "The animal didn't cross the street because it was tired");
  const HeadRef head = state().view.chosen;
  const CellRef cell = *state().view.pinned;
  harness->push(SetWeight{head, cell, 0.8f}, EndGesture{}, SetWeight{head, {cell.query, cell.key + 1}, 0.9f},
                EndGesture{});
  harness->push(ChooseHead{head}, Pin{cell});
  harness->settle();
  EXPECT_TRUE(harness->says("set by hand: the row sums to 1.7")) << harness->words_on_screen();
}

TEST_F(SentenceStage, LessonsAndPaintingShowTheMap) {
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

TEST_F(SentenceStage, AWordOfOnesOwnAnswers) {
  EXPECT_TRUE(harness->says("big → tight"));
  harness->push(TryWord{"small"});
  harness->settle();
  EXPECT_TRUE(harness->says("big → small: suitcase")) << harness->words_on_screen();
  harness->push(TryWord{"zzzz"});
  harness->settle();
  EXPECT_FALSE(harness->has("change own"));
}

TEST_F(SentenceStage, NothingIsSaidOfEverySingleWord) {
  harness->push(SetText{"My neighbour waters the flowers every morning."}, EndGesture{});
  harness->settle();
  EXPECT_FALSE(harness->says("single-word"));
}

/// The parts whose places follow from the window's size.
std::map<std::string, Box> frame_of(const Harness& h) {
  std::map<std::string, Box> frame;
  for (const char* name : {"stage", "atlas", "sentence", "status", "top bar", "causal", "paint", "stage form sentence",
                           "stage form map", "stage form text", "switch head", "keep answer"})
    if (h.has(name)) frame.emplace(name, h.box(name));
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
