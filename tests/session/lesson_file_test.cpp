// How the file of a lesson is read, opened and named, and the words by which it points at matrices and tokens.
#include "app/lessons.h"
#include "derived/inside.h"
#include "explain/matrices.h"
#include "session/file/open_file.h"
#include "session/file/session_file.h"
#include "session/lesson_commands.h"
#include "view/view_json.h"

namespace headlight {
namespace {

using fixture::all_lessons;
using fixture::shipped;
using fixture::state_with;

TEST(Lessons, AStepWithoutASettingLeavesEverythingAsItIs) {
  const auto lesson = lesson_from_json("a.json", R"({"schema": "headlight.lesson/1", "title": "T", "steps": [
      {"text": "one", "set": {"view": {"layer": 1}}}, {"text": {"zh": "二"}, "try": "type"}]})",
                                       shipped().get());
  ASSERT_TRUE(lesson) << lesson.error().message();
  EXPECT_EQ(lesson->steps[1].text.en, "二") << "one language does for both";
  AppState state = state_with({*lesson});
  update(state, OpenLesson{0});
  update(state, SetText{"我爱"});
  update(state, GoToStep{1});
  EXPECT_EQ(state.document.source.text, "我爱");
  EXPECT_EQ(state.view.lesson, (LessonPosition{0, 1}));
  EXPECT_EQ(is_attempt_done(state), std::nullopt) << "the program cannot check it";
}

TEST(Lessons, AModelThatSeveralStepsNameIsReadOnce) {
  const auto lesson = lesson_from_json("a.json", R"({"schema": "headlight.lesson/1", "title": "T", "steps": [
      {"text": "1", "set": {"request": {"source": "shipped:induction", "text": "A B A", "mask": {"causal": true}}}},
      {"text": "2", "set": {"request": {"source": "shipped:induction", "text": "B A B"}},
       "english": {"set": {"request": {"source": "shipped:induction", "text": "C A C"}}}}]})",
                                       shipped().get());
  ASSERT_TRUE(lesson) << lesson.error().message();
  const Document &first = lesson->steps[0].scene->document, &second = lesson->steps[1].scene->document,
                 &english = lesson->steps[1].english->scene->document;
  ASSERT_TRUE(first.model);
  EXPECT_EQ(first.model, second.model);
  EXPECT_EQ(first.model, english.model);
  EXPECT_EQ(second.source.text, "B A B");
  EXPECT_EQ(second.edits, Edits{});
  EXPECT_EQ(english.source.text, "C A C");
}

TEST(Lessons, WhatIsWrongIsSaidInOneLineAndTheOthersStillLoad) {
  const auto complaint = [](const std::string& text) {
    const auto lesson = lesson_from_json("a.json", text, shipped().get());
    EXPECT_FALSE(lesson) << text;
    return lesson ? std::string() : lesson.error().message();
  };
  const auto step = [&](const std::string& fields) {
    return complaint(R"({"schema": "headlight.lesson/1", "title": "T", "steps": [{"text": "t", )" + fields + "}]}");
  };
  EXPECT_EQ(complaint("[]"), "a.json: lesson: expected an object, found array");
  EXPECT_EQ(complaint("{}"), "a.json: schema: expected headlight.lesson/1, found nothing");
  EXPECT_EQ(complaint(R"({"schema": "headlight.lesson/1", "title": "T"})"),
            "a.json: steps: expected a list of 1 to 64, found null");
  EXPECT_EQ(complaint(R"({"schema": "headlight.lesson/1", "title": {"fr": "T"}, "steps": []})"),
            "a.json: title: expected a text of at most 80 bytes in en, zh or both, found {\"fr\":\"T\"}");
  EXPECT_EQ(step(R"("set": 3)"), "a.json: step 1: set: expected an object with request and view, found number");
  EXPECT_TRUE(step(R"("set": {"request": {"source": "shipped:none"}})").starts_with("a.json: step 1: source: "));
  EXPECT_EQ(step(R"("set": {"request": {"scale": "x"}})"), "a.json: step 1: scale: expected a number, found \"x\"");
  EXPECT_EQ(step(R"("done": {"mask": "half"})"),
            "a.json: step 1: done: mask: expected causal, not_causal, padding, not_padding or painted, found \"half\"");
  EXPECT_EQ(step(R"("done": {"heads_at_most": "one"})"),
            "a.json: step 1: done: heads_at_most: expected a number, found \"one\"");
  EXPECT_TRUE(step(R"("done": {"happy": true})").starts_with("a.json: step 1: done: expected mask, text_contains, "));
  EXPECT_EQ(step(R"("claims": [{"query": "我", "key": "我"}])"),
            "a.json: step 1: claims: above: expected a number here or in below, found nothing");
  for (const std::string& message :
       {complaint("{"), step(R"("try": 3)"), step(R"("claims": [{"matrix": "x", "above": 0}])")})
    EXPECT_EQ(fixture::lines_of(message), 0) << message;

  const fixture::Folder folder;
  EXPECT_TRUE(write_file(folder.path() / "b.json", "{}"));
  EXPECT_TRUE(write_file(folder.path() / "c.lesson.json",
                         R"({"schema": "headlight.lesson/1", "title": "C", "steps": [{"text": "t"}]})"));
  EXPECT_TRUE(write_file(folder.path() / "notes.txt", "no lesson"));
  const Lessons read = read_lessons({folder.path(), folder.path() / "none"}, nullptr);
  ASSERT_EQ(read.lessons.size(), 1u);
  EXPECT_EQ(read.lessons[0].name, "c");
  EXPECT_EQ(read.problems.size(), 1u);
}

TEST(Lessons, AFileIsOpenedInTheWindowAndAgainWhenItWasChanged) {
  const fixture::Folder folder;
  const auto path = folder.path() / "mine.lesson.json";
  const auto write = [&](const std::string& title) {
    EXPECT_TRUE(write_file(path, R"({"schema": "headlight.lesson/1", "title": ")" + title +
                                     R"(", "steps": [{"text": "t", "set": {"request": {"text": "我爱"}}}]})"));
  };
  AppState state = state_with(all_lessons().lessons);
  for (const char* title : {"first", "second"}) {
    write(title);
    auto opened = open_any(path);
    ASSERT_TRUE(opened) << opened.error().message();
    EXPECT_EQ(opened->kind, OpenFile::Kind::lesson);
    update(state, FileOpened{path.string(), std::move(*opened)});
    ASSERT_NE(current_lesson(state), nullptr);
    EXPECT_EQ(current_lesson(state)->title.en, title);
    EXPECT_EQ(state.lessons->size(), 15u);
    EXPECT_EQ(state.document.source.text, "我爱");
    EXPECT_EQ(state.document.model, shipped()->front().model) << "one model, one identity";
  }
}

TEST(Lessons, ANameFindsItsLesson) {
  const auto& lessons = all_lessons().lessons;
  EXPECT_EQ(find_lesson(lessons, "06-masks"), 5u);
  EXPECT_EQ(find_lesson(lessons, "masks"), 5u);
  EXPECT_EQ(find_lesson(lessons, "mask"), std::nullopt);
  EXPECT_EQ(find_lesson(lessons, ""), std::nullopt);
}

TEST(Lessons, EveryMatrixHasANameOfItsOwn) {
  for (int i = 0; i <= static_cast<int>(Quantity::probabilities); ++i)
    EXPECT_EQ(parse_matrix_name(matrix_name(static_cast<Quantity>(i))), static_cast<Quantity>(i));
  EXPECT_EQ(parse_matrix_name("head"), std::nullopt);
}

TEST(Lessons, TheViewIsKeptInASession) {
  Session session{fixture::small_document(), {}};
  session.view.view = View::inside;
  session.view.tab = InsideTab::diagram;
  session.view.chosen = {1, 1};
  session.view.look = {matrix_id(Quantity::z, session.view.chosen), MatrixCell{2, 3}};
  session.view.lens = {"我", "他"};
  session.view.patch = {true, PatchForm::tokens};
  session.view.alignment = Alignment::positions;
  session.view.changes = false;
  session.view.flow = {std::vector<Index>{0, 1}, 0.25f};
  const auto read = session_from_json("s", to_json(session));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->view, session.view);
  const auto tab_of = [](const char* view) { return view_from_json(nlohmann::json::parse(view), 1).tab; };
  EXPECT_EQ(tab_of(R"({"tab": "why"})"), InsideTab::why);
  EXPECT_EQ(tab_of(R"({"steps": false})"), InsideTab::diagram) << "as earlier versions wrote it";
  EXPECT_EQ(tab_of(R"({"tab": "no such tab"})"), InsideTab::numbers);
}

TEST(Lessons, AGoalIsReachedByItsNumberItself) {
  Document document;
  document.config.num_heads = 3;
  const ViewState view;
  const auto reached = [&](const char* goal) {
    const auto goals = goals_from_json("a.json", nlohmann::json::parse(goal));
    return goals && is_reached(goals->front(), {document, view}, nullptr);
  };
  EXPECT_TRUE(reached(R"({"heads_at_least": 3})"));
  EXPECT_FALSE(reached(R"({"heads_at_least": 4})"));
  EXPECT_TRUE(reached(R"({"heads_at_most": 3})"));
  EXPECT_FALSE(reached(R"({"heads_at_most": 2})"));
}

TEST(Lessons, AWordPlaceNamesAToken) {
  Tokens tokens;
  for (const char* word : {"我", "请", "我", "C#"}) tokens.tokens.emplace_back().text = word;
  EXPECT_EQ(find_position(tokens, {"我"}), 0);
  EXPECT_EQ(find_position(tokens, {"我#2"}), 2);
  EXPECT_EQ(find_position(tokens, {"我#3"}), std::nullopt);
  EXPECT_EQ(find_position(tokens, {"C#"}), 3);
  EXPECT_EQ(find_position(tokens, {"", 1}), 1);
  EXPECT_EQ(find_position(tokens, {"", 9}), std::nullopt);
}

}  // namespace
}  // namespace headlight
