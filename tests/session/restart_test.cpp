// Nothing is forgotten between two windows: the look, the lesson that was read, and A of Compare.
#include <chrono>
#include <thread>

#include <nlohmann/json.hpp>

#include "app/session_fixture.h"
#include "derived/answer_comparison.h"
#include "session/file/open_file.h"
#include "session/file/session_file.h"
#include "session/lesson_commands.h"
#include "session/loop/startup.h"
#include "session/opening.h"
#include "session/shown.h"
#include "session/state_rules.h"
#include "session/update.h"

namespace headlight {
namespace {

using fixture::Folder;
using fixture::small_document;
using fixture::small_state;

constexpr const char* kLesson = R"({"schema": "headlight.lesson/1", "title": "T",
  "steps": [{"text": "1"}, {"text": "2"}, {"text": "3"}]})";

Session read(const std::string& text) {
  auto session = session_from_json("s.headlight.json", text);
  EXPECT_TRUE(session) << (session ? "" : session.error().message());
  return session ? *std::move(session) : Session{};
}

/// A session's file as one object, to be damaged.
nlohmann::json file_of(const Session& session) { return nlohmann::json::parse(to_json(session)); }

/// A window with a kept A, and another question asked since.
AppState compared(Loop& loop) {
  AppState state = small_state("我爱北京");
  loop.settle(state);
  update(state, KeepAnswer{});
  update(state, SetMask{true, true});
  update(state, ShowView{View::compare});
  loop.settle(state);
  EXPECT_TRUE(is_of_now(state));
  return state;
}

TEST(Restart, WhatWasKeptAsAIsComputedAgain) {
  Loop loop({}, {});
  AppState before = compared(loop);
  Session session = read(to_json(session_of(before)));
  ASSERT_TRUE(session.kept);
  EXPECT_FALSE(session.kept->trace) << "a file has the question alone";
  EXPECT_TRUE(session.lost.empty());
  EXPECT_TRUE(same_question(session.kept, session_of(before).kept));

  AppState after = initial_state(fixture::lexicon(), session.document, Settings{});
  after.view = session.view;
  EXPECT_TRUE(take_kept_and_lesson(after, session).empty());
  EXPECT_FALSE(compared_trace(after)) << "nothing is compared before it is there";
  loop.settle(after);
  ASSERT_TRUE(after.kept && after.kept->trace);
  ASSERT_TRUE(is_of_now(after));
  EXPECT_TRUE(same(after.comparison->maps.difference, before.comparison->maps.difference));
  EXPECT_EQ(after.view.view, View::compare);
  update(after, SwapKept{});
  loop.settle(after);
  EXPECT_FALSE(after.document.mask.causal) << "A's question can be asked again";
}

TEST(Restart, ASessionThatIsOpenedBringsItsA) {
  Loop loop({}, {});
  Session session = read(to_json(session_of(compared(loop))));
  AppState state = small_state();
  FileOpened opened{"/x/s.headlight.json", {}};
  opened.opened.kind = OpenFile::Kind::session;
  opened.opened.session = session;
  update(state, opened);
  loop.settle(state);
  EXPECT_EQ(state.notice->kind, Notice::Kind::opened);
  EXPECT_TRUE(is_of_now(state));
  opened.opened.session.kept.reset();
  update(state, opened);
  EXPECT_TRUE(state.kept) << "a session without an A leaves the one that there is";
}

TEST(Restart, AModelThatIsGoneIsSaidInOneLine) {
  Loop loop({}, {});
  auto file = file_of(session_of(compared(loop)));
  file["kept"]["request"] = {{"source", "/nowhere/model"}, {"text", "a"}};
  Session session = read(file.dump());
  EXPECT_FALSE(session.kept);
  ASSERT_EQ(session.lost.size(), 1u);
  EXPECT_NE(session.lost[0].message().find("/nowhere/model"), std::string::npos) << session.lost[0].message();
  EXPECT_EQ(session.lost[0].message().find('\n'), std::string::npos);
  AppState state = small_state();
  FileOpened opened{"/x/s.headlight.json", {}};
  opened.opened.kind = OpenFile::Kind::session;
  opened.opened.session = session;
  update(state, opened);
  EXPECT_EQ(state.document, session.document) << "the session is opened all the same";
  EXPECT_EQ(state.notice->kind, Notice::Kind::failed);
  EXPECT_EQ(state.notice->text, session.lost[0].message());
}

TEST(Restart, EverythingThatIsGoneIsSaid) {
  Session session{small_document(), {}};
  session.lost = {Error(ErrorCode::bad_value, "kept: gone")};
  session.lesson = {"another", "/nowhere/another.lesson.json", 1};
  AppState state = small_state();
  FileOpened opened{"/x/s.headlight.json", {}};
  opened.opened.kind = OpenFile::Kind::session;
  opened.opened.session = session;
  opened.opened.warnings = {Error(ErrorCode::bad_value, "a warning")};
  update(state, opened);
  EXPECT_EQ(state.notice->kind, Notice::Kind::failed);
  const std::string& text = state.notice->text;
  EXPECT_TRUE(text.starts_with("kept: gone\n")) << text;
  EXPECT_NE(text.find("\n/nowhere/another.lesson.json"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("\na warning")) << text;
}

TEST(Restart, AStepOfATrainingIsNotKept) {
  Session session{small_document(), {}};
  session.kept = AnswerSnapshot{.trace = nullptr, .document = small_document("a"), .step = 40};
  const Session again = read(to_json(session));
  EXPECT_FALSE(again.kept);
  ASSERT_EQ(again.lost.size(), 1u);
  EXPECT_NE(again.lost[0].message().find("step 40 of a training"), std::string::npos) << again.lost[0].message();
}

TEST(Restart, AQuestionThatCannotBeAskedAnyMoreIsSaid) {
  Loop loop({}, {});
  AppState state = small_state();
  Session session{small_document(), {}};
  session.kept = AnswerSnapshot{.trace = nullptr, .document = small_document("a b c")};
  session.kept->document.mask.given = fixture::open_mask(2, 2);
  take_kept_and_lesson(state, session);
  loop.settle(state);
  EXPECT_FALSE(state.kept);
  ASSERT_TRUE(state.notice);
  EXPECT_EQ(state.notice->kind, Notice::Kind::failed);
  EXPECT_TRUE(state.notice->text.starts_with("A of Compare: ")) << state.notice->text;
}

TEST(Restart, HostileRemainsNeverKeepASessionFromOpening) {
  Loop loop({}, {});
  const auto good = file_of(session_of(compared(loop)));
  for (const char* kept : {"5", "[]", "\"a\"", "{}", R"({"request": 7})", R"({"request": {"layers": "many"}})",
                           R"({"request": {"random": true, "d_model": -1}})", R"({"request": {}, "step": 3})"}) {
    auto file = good;
    file["kept"] = nlohmann::json::parse(kept);
    const Session session = read(file.dump());
    EXPECT_FALSE(session.kept) << kept;
    ASSERT_EQ(session.lost.size(), 1u) << kept;
    EXPECT_EQ(session.lost[0].message().find('\n'), std::string::npos) << kept;
  }
  for (const char* lesson : {"5", "[]", "\"a\"", "{}", R"({"name": 7})", R"({"name": "x", "path": [], "step": -4})",
                             R"({"path": "/etc/passwd", "step": 1})"}) {
    auto file = good;
    file["lesson"] = nlohmann::json::parse(lesson);
    const Session session = read(file.dump());
    EXPECT_TRUE(session.kept) << lesson;
    EXPECT_FALSE(session.own_lesson) << lesson;
    EXPECT_EQ(session.lesson.step, 0u) << lesson;
  }
  auto old = good;
  old.erase("kept");
  EXPECT_FALSE(read(old.dump()).kept) << "as sessions were before";
}

TEST(Restart, TheLessonAndItsStepAreFoundAgain) {
  const Folder folder;
  const std::string path = folder.with("mine.lesson.json", kLesson);
  const auto lesson = read_lesson(path, nullptr);
  ASSERT_TRUE(lesson);
  AppState state = small_state();
  state.lessons = std::make_shared<const std::vector<Lesson>>(std::vector<Lesson>{*lesson, *lesson});
  update(state, OpenLesson{1});
  update(state, GoToStep{2});
  Session session = read(to_json(session_of(state)));
  EXPECT_EQ(session.lesson, (LessonMark{"mine", path, 2}));
  ASSERT_TRUE(session.own_lesson) << "a file of one's own is read with the session";

  AppState other = small_state();  // which has read no lessons
  EXPECT_TRUE(take_kept_and_lesson(other, session).empty());
  ASSERT_TRUE(current_lesson(other));
  EXPECT_EQ(current_lesson(other)->path, path);
  EXPECT_EQ(other.view.lesson->step, 2u);

  session.own_lesson.reset();
  session.lesson = {"another", "/nowhere/another.lesson.json", 1};
  const auto lost = take_kept_and_lesson(other, session);
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_NE(lost[0].message().find("/nowhere/another.lesson.json"), std::string::npos);
  EXPECT_FALSE(other.view.lesson);
}

TEST(Restart, AWindowBeginsAsTheLastOneWasLeft) {
  const Folder folder;
  const std::string path = folder.with("mine.lesson.json", kLesson);
  AppState state = small_state();
  update(state, ShowView{View::flow});
  update(state, ShowGrid{GridShow::relations});
  update(state, SetFold{{.special = true, .words = true, .pair = PairPart::a_to_b}});
  update(state, SetColourScale{Scale::log});
  update(state, SetOwnRange{true});
  update(state, OrderDifferences{DifferenceOrder::mean});
  const Settings settings = settings_from_json(to_json(settings_to_keep(state)));
  AppState next = small_state();
  take_up(next, settings);
  EXPECT_EQ(layout_of(next.view), layout_of(state.view));
  EXPECT_FALSE(next.notice);
  EXPECT_TRUE(next.undo.empty());

  Settings comparing = settings;
  comparing.layout.view = View::compare;
  AppState alone = small_state();
  take_up(alone, comparing);
  EXPECT_EQ(alone.view.view, View::heads) << "nothing is kept to compare with";
  EXPECT_EQ(alone.view.grid, GridShow::relations) << "the rest is as it was left";

  Settings reading = settings;
  reading.lesson = {"mine", path, 1};
  take_up(next, reading);
  ASSERT_TRUE(current_lesson(next));
  EXPECT_EQ(next.view.lesson->step, 1u);
  EXPECT_EQ(settings_to_keep(next).lesson, reading.lesson);

  reading.lesson = {"gone", "/nowhere/gone.lesson.json", 1};
  AppState without = small_state();
  take_up(without, reading);
  EXPECT_FALSE(without.view.lesson);
  ASSERT_TRUE(without.notice);
  EXPECT_EQ(without.notice->kind, Notice::Kind::failed);
  EXPECT_NE(without.notice->text.find("/nowhere/gone.lesson.json"), std::string::npos);
}

TEST(Restart, ACrashLeavesAAndTheLookOnDisk) {
  const Folder folder;
  const fixture::Variable config("XDG_CONFIG_HOME", folder.path().c_str()),
      home("XDG_STATE_HOME", folder.path().c_str());
  std::filesystem::create_directories(settings_path().parent_path());
  const std::string path = folder.path() / "autosave.headlight.json";
  AppState state = small_state("我爱北京");
  Loop loop({}, path);
  const auto push = [&](Commands commands, double now) { loop.step(state, commands, now); };
  loop.settle(state);
  push({}, 1);
  push({KeepAnswer{}, SetText{"我"}, ShowView{View::compare}, ShowGrid{GridShow::all}}, 2);
  loop.settle(state);
  std::optional<Session> left;
  // Both are written on a worker, and a disk may be busy for seconds.
  for (int i = 0; i < 30000 && !(left && left->kept && read_settings().layout.view == View::compare); ++i) {
    push({}, 3 + i);
    if (auto session = std::filesystem::exists(path) ? read_session(path)
                                                     : Result<Session>(Error(ErrorCode::bad_value, "not yet")))
      left = *session;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  ASSERT_TRUE(left && left->kept);
  EXPECT_EQ(left->kept->document.source.text, "我爱北京");
  EXPECT_EQ(left->document.source.text, "我");
  EXPECT_EQ(read_settings().layout.view, View::compare);
  EXPECT_EQ(read_settings().layout.grid, GridShow::all);
}

}  // namespace
}  // namespace headlight
