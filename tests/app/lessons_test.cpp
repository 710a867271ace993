// The lessons that come along: that each can be read and shown, that what it says of the models is true, and that what
// it asks for can be done. And how a lesson is walked through and left.
#include "app/lessons.h"
#include "derived/matrix_names.h"
#include "explain/matrices.h"
#include "lesson/lesson_text.h"
#include "math/attention.h"
#include "session/lesson_check.h"
#include "session/lesson_commands.h"
#include "session/startup.h"

namespace headlight {
namespace {

using fixture::all_lessons;
using fixture::shipped;
using fixture::state_with;

void answer_if_stale(AppState& state) {
  if (is_stale(state)) update(state, fixture::answer(state));
}

std::string step_name(const Lesson& lesson, std::size_t step) {
  return lesson.name + ", step " + std::to_string(step + 1);
}

/// Every step of every lesson as the window shows it in both languages, once it is answered.
template <class Visit>
void for_each_step(Visit visit) {
  for (const Language language : {Language::en, Language::zh}) {
    AppState state = state_with(all_lessons().lessons);
    state.settings.language = language;
    for (std::size_t i = 0; i < state.lessons->size(); ++i) {
      const Lesson& lesson = (*state.lessons)[i];
      update(state, OpenLesson{i});
      for (std::size_t step = 0; step < lesson.steps.size(); ++step) {
        SCOPED_TRACE(step_name(lesson, step) + (language == Language::en ? " in English" : " in Chinese"));
        update(state, GoToStep{step});
        answer_if_stale(state);
        ASSERT_TRUE(message_of(state.problem).empty()) << message_of(state.problem);
        ASSERT_TRUE(state.trace && !is_stale(state));
        visit(state, lesson.steps[step]);
      }
    }
  }
}

TEST(Lessons, TheShippedOnesCanBeRead) {
  EXPECT_TRUE(all_lessons().problems.empty()) << all_lessons().problems.front().message();
  ASSERT_EQ(all_lessons().lessons.size(), 10u);
  for (const Lesson& lesson : all_lessons().lessons) {
    EXPECT_GE(lesson.steps.size(), 3u) << lesson.name;
    EXPECT_LE(lesson.steps.size(), 6u) << lesson.name;
    EXPECT_NE(lesson.title.en, lesson.title.zh);
    for (const LessonStep& step : lesson.steps) {
      EXPECT_NE(step.text.en, step.text.zh) << lesson.name;
      EXPECT_NE(step.attempt.en, step.attempt.zh) << lesson.name;
      EXPECT_FALSE(step.goals.empty()) << lesson.name << ": the reader is told when it is done";
    }
  }
}

TEST(Lessons, EveryStepShowsWhatItPointsAt) {
  for_each_step([](const AppState& state, const LessonStep& step) {
    const auto& scene = step.in(state.settings.language).scene;
    if (!scene) return;
    const ViewState &asked = scene->view, &shown = state.view;
    EXPECT_EQ(state.document, scene->document);
    EXPECT_EQ(shown.chosen, asked.chosen) << "the head is there";
    EXPECT_EQ(shown.pinned, asked.pinned) << "the cell is there";
    EXPECT_EQ(shown.view, asked.view);
    const Tokens& words = state.trace->query_tokens(shown.chosen.stack);
    for (const Token& token : words.tokens) EXPECT_TRUE(token.known) << token.text;
    if (shown.view != View::inside) return;
    ASSERT_TRUE(exists(*state.trace, shown.look.matrix)) << matrix_name(shown.look.matrix.quantity);
    if (!shown.look.cell) return;
    const Shape size = shape(*state.trace, shown.look.matrix);
    EXPECT_LT(shown.look.cell->row, size.rows);
    EXPECT_LT(shown.look.cell->col, size.cols);
  });
}

TEST(Lessons, TheirTextsPointAtWordsThatAreThere) {
  int links = 0;
  for_each_step([&](const AppState& state, const LessonStep& step) {
    const Stack stack = state.view.chosen.stack;
    for (const Said* said : {&step.text, &step.attempt})
      for (const LessonSpan& span : spans_of(said->in(state.settings.language))) {
        if (span.target.empty()) continue;
        ++links;
        const LessonTarget to = target_of(span.target);
        if (!to.control.empty()) continue;
        EXPECT_TRUE(find_position(state.trace->query_tokens(stack), {to.query})) << span.target;
        if (!to.key.empty()) { EXPECT_TRUE(find_position(state.trace->key_tokens(stack), {to.key})) << span.target; }
      }
  });
  EXPECT_GT(links, 20);
}

TEST(Lessons, ATextIsReadWithoutItsLinks) {
  EXPECT_EQ(plain_text("Here [it looks|it→animal], v[3] and [padding|@padding]."), "Here it looks, v[3] and padding.");
  EXPECT_EQ(spans_of("a [b|c]"), (std::vector<LessonSpan>{{"a ", ""}, {"b", "c"}}));
  EXPECT_EQ(plain_text("exp[机票, 订了] ["), "exp[机票, 订了] [");
  EXPECT_EQ(target_of("it→animal"), (LessonTarget{"", "it", "animal"}));
  EXPECT_EQ(target_of("@padding"), (LessonTarget{"padding", "", ""}));
}

TEST(Lessons, WhatTheySayOfTheModelsIsTrue) {
  int held = 0;
  for_each_step([&](const AppState& state, const LessonStep& step) {
    for (const Claim& claim : step.in(state.settings.language).claims) {
      const auto number = claimed_number(claim, state.document, *state.trace);
      ASSERT_TRUE(number) << number.error().message();
      EXPECT_TRUE(holds(claim, *number)) << words_of(claim) << " is " << *number;
      ++held;
    }
  });
  EXPECT_GT(held, 90) << "in two languages";
}

TEST(Lessons, HalfOfTheStepsSpeakOfEnglishSentencesInTheEnglishWindow) {
  int english = 0, all = 0;
  for_each_step([&](const AppState& state, const LessonStep&) {
    if (state.settings.language != Language::en) return;
    ++all;
    const std::string& text = state.document.source.text;
    const bool is_english = !text.empty() && static_cast<unsigned char>(text.front()) < 128;
    english += is_english || !state.document.target.text.empty();
  });
  EXPECT_EQ(all, 39);
  EXPECT_GE(2 * english, all) << english << " of " << all;
}

TEST(Lessons, AStepOfItsOwnInEnglishChangesWithTheLanguage) {
  const auto lesson = lesson_from_json("a.json", R"({"schema": "headlight.lesson/1", "title": "T", "steps": [
      {"text": "Look.", "set": {"request": {"text": "我请李雷"}}, "done": {"text_contains": "请我"},
       "english": {"set": {"request": {"text": "The dog was tired."}}, "claims": []}}]})",
                                       shipped().get());
  ASSERT_TRUE(lesson) << lesson.error().message();
  EXPECT_EQ(lesson->steps[0].in(Language::en).goals.size(), 1u) << "what is left out is the step's own";
  AppState state = state_with({*lesson});
  update(state, OpenLesson{0});
  EXPECT_EQ(state.document.source.text, "The dog was tired.");
  Settings settings = state.settings;
  settings.theme = Theme::dark;
  update(state, SetText{"The cat was tired."});
  update(state, SetSettings{settings});
  EXPECT_EQ(state.document.source.text, "The cat was tired.") << "another setting leaves the reader's words alone";
  settings.language = Language::zh;
  update(state, SetSettings{settings});
  EXPECT_EQ(state.document.source.text, "我请李雷");
  const auto wrong = lesson_from_json("a.json", R"({"schema": "headlight.lesson/1", "title": "T", "steps": [
      {"text": "Look.", "english": 3}]})",
                                      nullptr);
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message().find("english: expected an object, found number"), std::string::npos)
      << wrong.error().message();
}

TEST(Lessons, NoStepIsDoneBeforeItBegins) {
  for_each_step([](const AppState& state, const LessonStep& step) {
    EXPECT_TRUE(!step.in(state.settings.language).scene || is_attempt_done(state) == false);
  });
}

TEST(Lessons, ACheckFindsWhatIsWrongWithALesson) {
  for (const Lesson& lesson : all_lessons().lessons)
    for (const Finding& finding : check_lesson(lesson, fixture::lexicon(), shipped()))
      EXPECT_EQ(finding.severity, Severity::good) << lesson.name << ": " << finding.line;
  const auto lesson = lesson_from_json("a.json", R"({"schema": "headlight.lesson/1", "title": "T", "steps": [
      {"text": "t", "set": {"view": {"layer": 7, "pinned": [99, 0]}}, "done": {"heads_at_least": 1},
       "claims": [{"layer": 1, "head": 5, "query": "机票", "key": "订了", "below": 0.5},
                  {"layer": 1, "head": 5, "query": "机票", "key": "猫", "below": 0.5},
                  {"layer": 1, "head": 5, "query": "机票", "key": "订了", "above": 0.5}]}]})",
                                       shipped().get());
  ASSERT_TRUE(lesson) << lesson.error().message();
  std::string lines;
  for (const Finding& finding : check_lesson(*lesson, fixture::lexicon(), shipped()))
    lines += std::string(name(finding.severity)) + " " + finding.line + "\n";
  EXPECT_EQ(lines,
            "error step 1: layer and head: the model has no such head\n"
            "error step 1: pinned: there is no such cell\n"
            "error step 1: L1·H5, 机票 → 订了: expected below 0.5, found 0.972235\n"
            "error step 1: L1·H5, 机票 → 猫: 猫: expected a word of the sentence, found none\n"
            "good step 1: L1·H5, 机票 → 订了: 0.972235\n"
            "warning step 1: done: it is so from the start\n");
}

/// What a reader of the lesson does at this step; nothing where the step takes a training.
Commands reader_of(const std::string& name, std::size_t step, const AppState& state) {
  const auto pin = [](Index query, Index key) { return Commands{Pin{CellRef{query, key}}}; };
  const auto type = [](const char* text) { return Commands{SetText{text}}; };
  const auto look = [&](Quantity quantity) {
    return Commands{LookAt{{matrix_id(quantity, state.view.chosen), MatrixCell{0, 1}}}};
  };
  const auto configure = [&](auto change) {
    Config config = state.document.config;
    change(config);
    return Commands{SetConfig{config}};
  };
  const std::string at = name.substr(0, 2) + "." + std::to_string(step + 1);
  if (current_step(state)->english && state.settings.language == Language::en) {
    if (at == "02.1") return pin(5, 2);
    if (at == "02.2") return pin(1, 7);
    if (at == "02.4") return {PaintCell{{7, 1}, false}};
    if (at == "03.4") return {ChooseHead{{0, 7}}};
    if (at == "07.4") return type("The animal didn't cross the <mask> because it was too tired.");
    if (at == "09.3") return pin(5, 6);
  }
  if (at == "01.1") return pin(7, 2);
  if (at == "01.2") return type("The animal didn't cross the street because it was too wide.");
  if (at == "01.3") return type("那只动物没有过马路，因为它太宽了。");
  if (at == "01.4") return pin(3, 1);
  if (at == "02.1") return pin(2, 2);
  if (at == "02.2") return pin(1, 0);
  if (at == "02.3") return look(Quantity::value);
  if (at == "02.4") return {PaintCell{{9, 5}, false}};
  if (at == "03.1") return {LookAt{{state.view.look.matrix, MatrixCell{0, 1}}}};
  if (at == "03.2") return pin(1, 1);
  if (at == "03.3") return look(Quantity::query);
  if (at == "03.4") return {ChooseHead{{1, 0}}};
  if (at == "03.5") return {SwitchHead{{1, 5}, true}};
  if (at == "04.1") return look(Quantity::exponentials);
  if (at == "04.2") return {SetScale{3.05f}};
  if (at == "04.3") return {SetScale{}};
  if (at == "04.4") return {SetScale{0.25f}};
  if (at == "05.1") return {ChooseHead{{1, 5}}};
  if (at == "05.2") return {SetFlow{{std::vector<Index>{1}, 0.6f}}};
  if (at == "05.3") return configure([](Config& config) { config.num_heads = 1; });
  if (at == "05.4") return configure([](Config& config) { config.num_heads = 2; });
  if (at == "06.1") return {SetMask{.causal = true}};
  if (at == "06.2") return {SetText{"The animal didn't cross the street because it was too wide."}, SetMask{}};
  if (at == "06.3") return {SetMask{.padding = true}};
  if (at == "06.4") return {PaintCell{{3, 3}, false}};
  if (at == "07.1" || at == "07.2") return look(Quantity::concat);
  if (at == "07.3") return {SwitchAllOn{}};
  if (at == "07.4") return type("我请李雷帮我<mask>去北京的行李");
  if (at == "08.1") return {Generate{1}};
  if (at == "08.2") return pin(11, 7);
  if (at == "08.3") return type("我请李雷帮我订了去上海的机票");
  if (at == "08.4") return {Generate{20}};
  if (at == "09.1") return configure([](Config& config) { config.position = Position::sinusoidal; });
  if (at == "09.2") return {LookAt{{state.view.look.matrix, MatrixCell{2, 3}}}};
  if (at == "09.3") return type("昨天我请李雷帮我订了去北京的机票");
  if (at == "10.3") return configure([](Config& config) { config.d_model = 64; });
  return {};
}

TEST(Lessons, WhatTheyAskForCanBeDoneAndIsSeen) {
  for_each_step([](const AppState& begun, const LessonStep&) {
    AppState state = begun;
    const std::string lesson = current_lesson(state)->name;
    Commands commands = reader_of(lesson, state.view.lesson->step, state);
    if (commands.empty()) {
      EXPECT_EQ(lesson, "10-training");
      return;
    }
    for (Command& command : commands) update(state, std::move(command));
    for (int words = 0; words < 30 && is_stale(state); ++words) answer_if_stale(state);
    EXPECT_EQ(is_attempt_done(state), true);
  });
}

TEST(Lessons, ACausalRowDoesNotDependOnWhatComesAfterIt) {
  AppState state = state_with(all_lessons().lessons);
  const auto masks = find_lesson(*state.lessons, "masks");
  ASSERT_TRUE(masks);
  update(state, OpenLesson{*masks});
  update(state, GoToStep{1});
  answer_if_stale(state);
  const Matrix tired = attention_rows(*state.trace, state.view.chosen, 7, 1);
  update(state, SetText{"The animal didn't cross the street because it was too wide."});
  answer_if_stale(state);
  EXPECT_EQ(attention_rows(*state.trace, state.view.chosen, 7, 1), tired) << "to the last digit";
}

TEST(Lessons, AStepIsOneStepOfUndoAndLeavingChangesNothing) {
  AppState state = state_with(all_lessons().lessons);
  answer_if_stale(state);
  update(state, SetText{"我爱"});
  update(state, EndGesture{});
  answer_if_stale(state);
  update(state, OpenLesson{1});
  EXPECT_TRUE(state.settings.greeted) << "a lesson replaces the greeting";
  update(state, GoToStep{2});
  answer_if_stale(state);
  EXPECT_EQ(state.view.view, View::inside);
  const Document shown = state.document;
  const ViewState view = state.view;
  update(state, OpenLesson{});
  EXPECT_FALSE(state.view.lesson);
  EXPECT_EQ(state.document, shown);
  ViewState left = view;
  left.lesson.reset();
  EXPECT_EQ(state.view, left);
  // Both steps are the same question here: a step that changes nothing is no step of undo.
  update(state, Undo{});
  EXPECT_EQ(state.document.source.text, "我爱");
  update(state, Redo{});
  EXPECT_EQ(state.document, shown);
}

TEST(Lessons, WhatIsNotThereIsNotEntered) {
  AppState state = state_with(all_lessons().lessons);
  update(state, GoToStep{1});
  EXPECT_FALSE(state.view.lesson);
  update(state, OpenLesson{99});
  EXPECT_FALSE(state.view.lesson);
  update(state, OpenLesson{0});
  update(state, GoToStep{99});
  EXPECT_EQ(state.view.lesson, (LessonPosition{0, 0}));
  state.lessons = nullptr;
  EXPECT_EQ(current_lesson(state), nullptr);
  EXPECT_EQ(is_attempt_done(state), std::nullopt);
}

}  // namespace
}  // namespace headlight
