// Lessons in the window: the list, the column with its way on, the tick, and the words that a first start begins with.
#include "gui/harness.h"

#include "app/lessons.h"
#include "gui/actions/actions.h"
#include "session/lesson_commands.h"
#include "session/loop/startup.h"
#include "words/chosen_head_words.h"

namespace headlight {
namespace {

/// Two lessons about a model that answers at once.
std::vector<Lesson> two_lessons() {
  const auto lesson = [](const std::string& name, const std::string& steps) {
    const std::string text = R"({"schema": "headlight.lesson/1", "title": {"en": ")" + name + R"(", "zh": "课"},
        "steps": [)" + steps +
                             "]}";
    auto read = lesson_from_json(name + ".json", text, nullptr);
    EXPECT_TRUE(read) << read.error().message();
    return *read;
  };
  return {lesson("Looking", R"(
      {"text": {"en": "Every word looks at every word.", "zh": "每个词都看每个词。"},
       "try": {"en": "Hide the future.", "zh": "遮住后面的词。"}, "done": {"mask": "causal"},
       "set": {"request": {"random": true, "d_model": 8, "num_heads": 2, "layers": 1}, "view": {"head": 1}}},
      {"text": "No setting here."})"),
          lesson("Adding", R"({"text": "Sums.", "set": {"request": {"random": true, "text": "我爱", "d_model": 8,
       "num_heads": 2, "layers": 1}, "view": {"view": "inside", "pinned": [0, 1]}}})")};
}

class LessonPanel : public GuiTest {
 protected:
  void SetUp() override {
    GuiTest::SetUp();
    harness->state.lessons = std::make_shared<const std::vector<Lesson>>(two_lessons());
    harness->frame(2);
  }
  const AppState& state() const { return harness->state; }
  LessonPosition place() const { return state().view.lesson.value_or(LessonPosition{99, 99}); }
};

TEST_F(LessonPanel, IsChosenFromTheListAndSetsTheWindow) {
  Harness& h = *harness;
  const Box before = h.box("atlas");
  h.click("lessons");
  h.click("lesson 1");
  h.settle();
  EXPECT_EQ(place(), (LessonPosition{1, 0}));
  EXPECT_EQ(state().document.source.text, "我爱");
  EXPECT_EQ(state().view.view, View::inside);
  EXPECT_TRUE(h.says("Sums."));
  h.click("view heads");
  h.settle();
  EXPECT_GE(h.box("atlas").x, h.box("lesson").right() - 1) << "the column has its own room …";
  const float row = h.box("atlas").y - before.y;
  EXPECT_LT(row, 32.0f) << "… and takes no height from the maps but the row of the controls, whose column it has";
  EXPECT_NEAR(h.box("atlas").h, before.h - row, 0.01f);
  h.click("leave lesson");
  EXPECT_FALSE(state().view.lesson);
  EXPECT_EQ(state().document.source.text, "我爱") << "everything stays as it is";
  EXPECT_FALSE(h.has("lesson text") && h.box("lesson").h > 0 && h.says("Sums."));
}

TEST_F(LessonPanel, TheWayBackLeadsToTheLessonBefore) {
  Harness& h = *harness;
  h.push(OpenLesson{1});
  h.settle();
  h.click("lesson back");
  h.settle();
  EXPECT_EQ(place().lesson, 0u);
  h.push(GoToStep{0});
  h.settle();
  h.click("lesson back");
  h.settle();
  EXPECT_EQ(place(), (LessonPosition{0, 0})) << "nothing is before the first step";
}

TEST_F(LessonPanel, WhatWasDoneIsRememberedAndSeenInTheList) {
  Harness& h = *harness;
  h.push(OpenLesson{0});
  h.settle();
  const Lesson& lesson = state().lessons->front();
  EXPECT_FALSE(was_done(state(), lesson, 0));
  h.click("causal");
  h.settle();
  EXPECT_TRUE(was_done(state(), lesson, 0));
  h.push(Undo{});
  h.settle();
  EXPECT_EQ(is_attempt_done(state()), false);
  EXPECT_TRUE(was_done(state(), lesson, 0)) << "once is enough";
  EXPECT_EQ(progress_of(state(), lesson).done, 1u);
  EXPECT_EQ(progress_of(state(), lesson).all, 1u) << "a step that asks for nothing does not count";
  h.click("lessons");
  h.frame(2);
  EXPECT_TRUE(h.says("Looking ✓"));
  EXPECT_TRUE(was_done(state(), lesson, 0));
  const Settings kept = settings_from_json(to_json(state().settings));
  EXPECT_EQ(kept.lessons_done, state().settings.lessons_done);
}

TEST_F(LessonPanel, ItsWordsLightWhatTheySpeakOf) {
  Harness& h = *harness;
  auto read = lesson_from_json("links.json", R"({"schema": "headlight.lesson/1", "title": "L", "steps": [
      {"text": "[订了 looks at 机票|订了→机票] and [the list|@lessons].", "points": "causal", "try": "t",
       "done": {"mask": "causal"},
       "set": {"request": {"random": true, "d_model": 8, "num_heads": 2, "layers": 1}, "view": {"head": 1}}}]})",
                               nullptr);
  ASSERT_TRUE(read) << read.error().message();
  h.state.lessons = std::make_shared<const std::vector<Lesson>>(std::vector{*read});
  h.push(OpenLesson{0});
  h.settle();
  EXPECT_TRUE(h.says("订了 looks at 机票 and the list."));
  EXPECT_EQ(state().view.pointed, "causal") << "until it is done";
  h.point_at("link 订了→机票");
  EXPECT_EQ(state().view.hovered, (CellRef{5, 9}));
  EXPECT_EQ(state().view.hovered_head, (HeadRef{0, 1}));
  h.point_at("link @lessons");
  EXPECT_EQ(state().view.pointed, "lessons");
  const Box list = h.box("lessons");
  EXPECT_TRUE(h.drew(h.colours().action, {list.x - 8, list.y - 8, list.w + 16, list.h + 16})) << "a ring";
  h.point_away();
  h.click("causal");
  h.settle();
  EXPECT_EQ(state().view.pointed, "");
}

TEST_F(LessonPanel, AnActionIsNamedWithItsKeysAndAClickPerformsIt) {
  Harness& h = *harness;
  auto read = lesson_from_json("acts.json", R"({"schema": "headlight.lesson/1", "title": "L", "steps": [
      {"text": "t", "try": "[#causal_on]!", "done": {"mask": "causal"}, "set": {"request": {"random": true}}}]})",
                               nullptr);
  ASSERT_TRUE(read) << read.error().message();
  h.state.lessons = std::make_shared<const std::vector<Lesson>>(std::vector{*read});
  h.push(OpenLesson{0});
  h.settle();
  EXPECT_TRUE(h.says(std::string("“") + action(Act::causal_on).name.en + "” (" + keys_of(Act::causal_on) + ")!"));
  EXPECT_EQ(is_attempt_done(state()), false);
  h.click("link #causal_on");
  h.settle();
  EXPECT_EQ(is_attempt_done(state()), true);
}

TEST_F(LessonPanel, TheTickComesAndGoesWithWhatTheReaderDoes) {
  Harness& h = *harness;
  h.push(OpenLesson{0});
  h.settle();
  EXPECT_TRUE(h.says("Try: Hide the future."));
  EXPECT_EQ(is_attempt_done(state()), false);
  h.click("causal");
  h.settle();
  EXPECT_EQ(is_attempt_done(state()), true);
  EXPECT_TRUE(h.has("lesson done"));
  h.click("lesson again");
  h.settle();
  EXPECT_EQ(is_attempt_done(state()), false) << "the step as it began";
  h.key({Key::left_ctrl, Key{'Z'}});
  h.settle();
  EXPECT_EQ(is_attempt_done(state()), true) << "and what the reader did is still there to be had";
}

TEST_F(LessonPanel, TheKeysTurnThePagesOverTheEndsOfLessons) {
  Harness& h = *harness;
  const auto next = [&] { h.key({Key::left_ctrl, Key::page_down}); };
  const auto back = [&] { h.key({Key::left_ctrl, Key::page_up}); };
  next();
  EXPECT_FALSE(state().view.lesson) << "nothing is read";
  h.push(OpenLesson{0});
  h.settle();
  h.push(SetText{"小猫饿坏了"}, EndGesture{});
  next();
  EXPECT_EQ(place(), (LessonPosition{0, 1}));
  EXPECT_EQ(state().document.source.text, "小猫饿坏了") << "a step without a setting leaves the text";
  next();
  EXPECT_EQ(place(), (LessonPosition{1, 0}));
  next();
  EXPECT_EQ(place(), (LessonPosition{1, 0})) << "the end";
  back();
  EXPECT_EQ(place(), (LessonPosition{0, 1})) << "the last step of the lesson before";
  back();
  back();
  EXPECT_EQ(place(), (LessonPosition{0, 0}));
  h.key(Key::escape);
  EXPECT_EQ(place(), (LessonPosition{0, 0})) << "Escape is for other things";
}

TEST_F(LessonPanel, F2ShowsTheList) {
  Harness& h = *harness;
  h.key(Key::f2);
  h.frame(2);
  EXPECT_TRUE(h.says("Looking"));
  EXPECT_TRUE(h.says("Adding"));
  h.key(Key::escape);
  h.frame(2);
  EXPECT_FALSE(h.says("Adding"));
  EXPECT_FALSE(state().view.lesson);
}

TEST_F(LessonPanel, TheFirstStartExplainsItselfUntilItIsRead) {
  Harness& h = *harness;
  EXPECT_TRUE(h.says("Each map is one head: ")) << h.words_on_screen();
  EXPECT_TRUE(h.has("first lesson"));
  h.click("dismiss greeting");
  h.frame(2);
  EXPECT_TRUE(state().settings.greeted);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_TRUE(h.says(words(Language::en, kChosenHeadWords.what_is_a_square[i]))) << "whole sentences";
  EXPECT_FALSE(h.says("Point at a cell and"));
  EXPECT_TRUE(settings_from_json(to_json(state().settings)).greeted) << "and is kept";
}

TEST_F(LessonPanel, NoSpaceFollowsAChineseFullStop) {
  Settings chinese = state().settings;
  chinese.language = Language::zh;
  harness->push(SetSettings{chinese});
  harness->frame(2);
  EXPECT_TRUE(harness->says("行里的词看列里的词。请输入")) << "in the greeting";
}

TEST_F(LessonPanel, TheFirstLessonEndsTheGreeting) {
  Harness& h = *harness;
  h.click("first lesson");
  h.settle();
  EXPECT_EQ(place(), (LessonPosition{0, 0}));
  EXPECT_TRUE(state().settings.greeted);
  h.push(OpenLesson{});
  h.frame(2);
  EXPECT_FALSE(h.says("Point at a cell and"));
}

struct WindowShape {
  float width, height, ui_scale;
  Language language;
};

/// Every step that comes along, at every size: whole in its column, which scrolls where the window is low.
TEST(LessonLayout, NothingIsCut) {
  const auto resources = read_resources();
  ASSERT_TRUE(resources) << resources.error().message();
  for (const WindowShape& shape :
       {WindowShape{1280, 800, 1, Language::en}, WindowShape{1280, 800, 2, Language::zh},
        WindowShape{1280, 800, 2, Language::en}, WindowShape{2560, 1600, 1.5f, Language::zh}}) {
    Settings settings;
    settings.language = shape.language;
    settings.ui_scale = shape.ui_scale;
    Harness h({}, {shape.width, shape.height}, settings);
    h.state.lessons = std::make_shared<const std::vector<Lesson>>(resources->lessons.lessons);
    for (std::size_t i = 0; i < h.state.lessons->size(); ++i) {
      for (std::size_t step = 0; step < (*h.state.lessons)[i].steps.size(); ++step) {
        SCOPED_TRACE((*h.state.lessons)[i].name + " " + std::to_string(step + 1) + " at " +
                     std::to_string(shape.width) + " / " + std::to_string(shape.ui_scale));
        h.state.view.lesson = LessonPosition{i, step};  // only the strip: the answers are another test's
        h.frame(2);
        const Box column = h.box("lesson");
        EXPECT_EQ(column.w, 336 * shape.ui_scale);
        for (const char* name : {"lesson title", "lesson text", "lesson try", "lesson next", "leave lesson"}) {
          const Box box = h.box(name);
          EXPECT_TRUE(box.x >= column.x && box.right() <= column.right() + 1) << name;
          EXPECT_TRUE(shape.ui_scale > 1 || (box.y >= column.y && box.bottom() <= column.bottom() + 1)) << name;
        }
        EXPECT_LE(h.box("lesson text").bottom(), h.box("lesson try").y);
        EXPECT_LE(h.box("lesson try").bottom(), h.box("lesson next").y);
      }
    }
  }
}

TEST_F(GuiTest, TheGuessOfALessonStaysInANarrowWindow) {
  start(default_document(fixture::shipped().get()), {1280, 800});
  Harness& h = *harness;
  h.state.shipped = fixture::shipped();
  h.state.lessons = std::make_shared<const std::vector<Lesson>>(fixture::all_lessons().lessons);
  const auto& lessons = *h.state.lessons;
  const auto apart =
      std::ranges::find_if(lessons, [](const Lesson& one) { return one.name.ends_with("heads-stay-apart"); });
  ASSERT_NE(apart, lessons.end());
  h.push(OpenLesson{static_cast<std::size_t>(apart - lessons.begin())}, GoToStep{2});
  h.settle();
  EXPECT_TRUE(h.has("word 订了")) << h.words_on_screen();
  h.push(OpenLesson{});
  h.settle();
  EXPECT_TRUE(h.says("In place of “<mask>”")) << h.words_on_screen();
}

}  // namespace
}  // namespace headlight
