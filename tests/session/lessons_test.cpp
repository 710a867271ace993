// The bundled lessons: that each can be read and shown, that its claims about the models are true, and that what
// it asks for can be done. And how a lesson is walked through and left.
#include <set>

#include "app/lessons.h"
#include "derived/inside.h"
#include "explain/matrices.h"
#include "lesson/lesson.h"
#include "math/attention.h"
#include "names/named_arcs.h"
#include "session/lesson_commands.h"
#include "session/loop/lesson_check.h"
#include "session/loop/startup.h"

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
  ASSERT_EQ(all_lessons().lessons.size(), 14u);
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
        if (to.query.empty()) continue;
        EXPECT_TRUE(find_position(state.trace->query_tokens(stack), {to.query})) << span.target;
        if (!to.key.empty()) { EXPECT_TRUE(find_position(state.trace->key_tokens(stack), {to.key})) << span.target; }
      }
  });
  EXPECT_GT(links, 20);
}

TEST(Lessons, ATextIsSpansWithTargets) {
  EXPECT_EQ(spans_of("a [b|c]"), (std::vector<LessonSpan>{{"a ", ""}, {"b", "c"}}));
  EXPECT_EQ(spans_of("exp[机票, 订了] ["), (std::vector<LessonSpan>{{"exp[机票, 订了] [", ""}}));
  EXPECT_EQ(spans_of("v[3]: [#undo]."), (std::vector<LessonSpan>{{"v[3]: ", ""}, {"", "#undo"}, {".", ""}}));
  EXPECT_EQ(target_of("it→animal"), (LessonTarget{.query = "it", .key = "animal"}));
  EXPECT_EQ(target_of("@padding"), (LessonTarget{.control = "padding"}));
  EXPECT_EQ(target_of("@heads=4"), (LessonTarget{.control = "heads", .value = "4"}));
  EXPECT_EQ(target_of("tired=wide"), (LessonTarget{.replaced = "tired", .text = "wide"}));
  EXPECT_EQ(target_of("#undo"), (LessonTarget{.action = "undo"}));
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

/// Every name that a cell of theirs has, read by a person: "relation word → word".
TEST(Lessons, WhatTheirCellsAreCalledIsRight) {
  const std::string ticket = "我请李雷帮我订了去北京的机票",
                    animal = "The animal didn't cross the street because it was too ",
                    kitten = "那个小猫，它昨天在公园里追逐一只蝴蝶，玩得不亦乐乎，结果把晚餐都忘了，现在它饿坏了。";
  std::set<std::string> right{"CO 我 → 我 in " + ticket,
                              "DP 去 → 北京 in " + ticket,
                              "SP 我 → 请 in " + ticket,
                              "VO 订了 → 机票 in " + ticket,
                              "IT it → animal in " + animal + "tired.",
                              "IT it → street in " + animal + "wide.",
                              "IT 它 → 小猫 in " + kitten};
  for (const char* pair :
       {"NEXT I → 请", "NEXT Li → 李雷", "NEXT a → 机票", "NEXT asked → 李雷", "NEXT book → 我", "NEXT ticket → 去",
        "NEXT to → 北京", "NEXT to → 订了", "OWN Beijing → 北京", "OWN I → 我", "OWN Lei → 李雷", "OWN Li → 李雷",
        "OWN asked → 请", "OWN book → 订了", "OWN me → 我", "OWN ticket → 机票", "OWN to → 去"})
    right.insert(pair + (" in " + ticket));
  for (const char* pair : {"case on → mat", "cop was → tired", "det The → cat", "det the → mat", "mark because → tired",
                           "nsubj cat → sat", "nsubj it → tired", "obl mat → sat"})
    right.insert(pair + std::string(" in The cat sat on the mat because it was tired."));
  std::set<std::string> named;
  for_each_step([&](const AppState& state, const LessonStep&) {
    const auto text_of = [](const Tokens& tokens, const SpeltWord& word) {
      return tokens.text.substr(word.begin, word.end - word.begin);
    };
    for (const NamedArc& arc : named_arcs(state.document, *state.trace).named) {
      const Tokens& keys = state.trace->key_tokens(arc.head.stack);
      std::string from = text_of(state.trace->query_tokens(arc.head.stack), arc.from), to = text_of(keys, arc.to);
      if (arc.reversed) std::swap(from, to);
      named.insert(arc.relation + " " + from + " → " + to + " in " + keys.text);
    }
  });
  for (const std::string& name : named) EXPECT_TRUE(right.contains(name)) << name;
  EXPECT_EQ(named.size(), right.size());
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
  EXPECT_EQ(all, 52);
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
