// The keys: every row of the table that has keys does what it names. Here those of the program, its files and views.
#include <set>

#include "gui/keys/key_help.h"
#include "lesson/lesson.h"
#include "view/view_json.h"

namespace headlight {

void KeyHelpTest::take_lessons() {
  const auto lesson = lesson_from_json(
      "a.json", R"({"schema": "headlight.lesson/1", "title": "T", "steps": [{"text": "1"}, {"text": "2"}]})", nullptr);
  ASSERT_TRUE(lesson);
  state().lessons = std::make_shared<const std::vector<Lesson>>(std::vector<Lesson>{*lesson, *lesson});
  harness->frame(2);
}

std::vector<KeyHelpTest::Promise> KeyHelpTest::window_promises() {
  Harness& h = *harness;
  return {
      {{Act::type_sentence},
       [&] {
         ctrl(Key{'L'});
         EXPECT_TRUE(typing());
         h.key(Key::end);
         h.type("吗");
         EXPECT_TRUE(document().source.text.ends_with("票吗"));
         h.key(Key::escape);
         ctrl(Key{'Z'});
       }},
      {{Act::leave},
       [&] {
         h.click("text");
         EXPECT_TRUE(typing());
         h.key(Key::escape);
         EXPECT_FALSE(typing());
         h.push(Pin{CellRef{1, 1}}, SetPainting{true}, ShowHelp{true});
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
      {{Act::undo, Act::redo},
       [&] {
         alt(Key{'D'});
         ctrl(Key{'Z'});
         EXPECT_EQ(document().config.d_model, 64);
         ctrl_shift(Key{'Z'});
         EXPECT_EQ(document().config.d_model, 68);
         ctrl(Key{'Z'});
         ctrl(Key{'Y'});
         EXPECT_EQ(document().config.d_model, 68);
         ctrl(Key{'Z'});
       }},
      {{Act::open_file, Act::save_session, Act::save_session_as},
       [&] {
         ctrl(Key{'O'});
         EXPECT_EQ(browsing(), Browser::Purpose::open);
         close_browser();
         ctrl(Key{'S'});
         EXPECT_EQ(browsing(), Browser::Purpose::save) << "the session has no name yet";
         close_browser();
         ctrl_shift(Key{'S'});
         EXPECT_EQ(browsing(), Browser::Purpose::save);
         close_browser();
       }},
      {{Act::export_numbers, Act::quit},
       [&] {
         ctrl(Key{'E'});
         EXPECT_EQ(browsing(), Browser::Purpose::export_to);
         close_browser();
         ctrl(Key{'Q'});
         EXPECT_TRUE(state().quit);
         state().quit = false;
       }},
      {{Act::show_heads, Act::show_inside, Act::show_flow, act_of_tool("show_train"), Act::show_compare},
       [&] {
         key({Key{'2'}});
         EXPECT_EQ(state().view.view, View::inside);
         EXPECT_TRUE(h.has("way"));
         EXPECT_TRUE(state().view.pinned) << "there is a weight to explain";
         key({Key{'3'}});
         EXPECT_EQ(state().view.view, View::flow);
         key({Key{'4'}});
         EXPECT_EQ(state().view.view, View::train);
         EXPECT_TRUE(h.has("start training"));
         key({Key{'5'}});
         EXPECT_EQ(state().view.view, View::compare);
         EXPECT_TRUE(h.has("keep"));
         key({Key{'1'}});
         EXPECT_EQ(state().view.view, View::heads);
         EXPECT_TRUE(h.has("stage map"));
         ASSERT_EQ(state().view.looked.size(), 1u) << "the weight is a look of its own";
         EXPECT_EQ(state().view.looked.front().look, Look{});
         forget_looks();
         h.push(Pin{});
       }},
      {{Act::own_numbers},
       [&] {
         ctrl_shift(Key{'N'});
         EXPECT_TRUE(state().view.numbers);
         key({Key::escape});
         EXPECT_FALSE(state().view.numbers);
       }},
      {{Act::open_palette},
       [&] {
         ctrl(Key{'P'});
         EXPECT_TRUE(state().view.palette);
         h.frame(2);
         key({Key::escape});
         EXPECT_FALSE(state().view.palette);
       }},
      {{Act::copy_command},
       [&] {
         ctrl_shift(Key{'C'});
         EXPECT_TRUE(h.clipboard.starts_with("headlight figure --text"));
         h.push(DismissNotice{});
       }},
      {{Act::larger, Act::smaller},
       [&] {
         ctrl(Key::equal);
         EXPECT_NEAR(state().settings.ui_scale, 1.1f, 1e-5);
         EXPECT_EQ(state().view.viewport, Viewport{}) << "and nothing is zoomed";
         ctrl(Key::minus);
         EXPECT_NEAR(state().settings.ui_scale, 1, 1e-5);
       }},
      {{},
       [&] {
         ctrl(Key{'2'});
         EXPECT_NE(document().source.text, kDefaultSentence);
         ctrl(Key{'1'});
         EXPECT_EQ(document().source.text, kDefaultSentence);
         harness->settle();
         harness->push(ChooseHead{}, Pin{});  // a sample chooses its start cell
       }},
      {{Act::dark_theme, Act::light_theme, Act::other_language},
       [&] {
         alt(Key{'T'});
         EXPECT_EQ(state().settings.theme, Theme::dark);
         alt(Key{'T'});
         EXPECT_EQ(state().settings.theme, Theme::light);
         ctrl(Key{'T'});
         EXPECT_EQ(state().settings.language, Language::zh);
         ctrl(Key{'T'});
         EXPECT_EQ(state().settings.language, Language::en);
       }},
      {{Act::make_figure},
       [&] {
         ctrl_shift(Key{'E'});
         EXPECT_EQ(browsing(), Browser::Purpose::figure);
         close_browser();
       }},
      {{Act::find_heads},
       [&] {
         key({Key::slash});
         EXPECT_TRUE(state().view.find.on);
         EXPECT_TRUE(h.has("find from"));
         key({Key::escape});
         key({Key::escape});
         EXPECT_FALSE(state().view.find.on);
       }},
      {{Act::choose_lesson},
       [&] {
         take_lessons();
         key({Key::f2});
         key({Key{'2'}});
         EXPECT_EQ(state().view.lesson, (LessonPosition{1, 0}));
         EXPECT_EQ(state().view.view, View::heads) << "the list had the key";
         h.frame(2);
         key({Key{'2'}});
         EXPECT_EQ(state().view.view, View::inside) << "and gave it back";
         forget_looks();
         h.push(OpenLesson{}, ShowView{}, Pin{});
         h.settle();
       }},
      {{Act::next_page, Act::previous_page},
       [&] {
         take_lessons();
         h.push(OpenLesson{0});
         ctrl(Key::page_down);
         EXPECT_EQ(state().view.lesson, (LessonPosition{0, 1}));
         ctrl(Key::page_up);
         EXPECT_EQ(state().view.lesson, (LessonPosition{0, 0}));
         h.push(OpenLesson{});
       }},
      {{Act::show_keys},
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

TEST_F(KeyHelpTest, EveryRowWithKeysDoesWhatItSays) {
  harness->loop = std::make_unique<Loop>([] {}, std::string{}, trains({.folder = trained_.path(), .threads = 1}));
  std::set<Act> tried;
  std::vector<Promise> promises;
  for (const auto& some : {window_promises(), model_promises(), view_promises()})
    promises.insert(promises.end(), some.begin(), some.end());
  ViewState usual;
  usual.text.form = StageForm::map;
  for (const Promise& promise : promises) {
    for (const Act act : promise.acts) tried.insert(act);
    SCOPED_TRACE(promise.acts.empty() ? "a sample" : action(promise.acts.front()).name.en);
    promise.keep();
    harness->push(DismissNotice{});
    harness->settle();
    EXPECT_TRUE(is_consistent(state()));
    EXPECT_EQ(state().view, usual) << "left as it was found" << view_json(state().view) << view_json({});
    EXPECT_EQ(document().config, Config{});
    EXPECT_EQ(document().source.text, kDefaultSentence);
  }
  for (const Action& row : all_actions())
    EXPECT_TRUE(tried.contains(row.id) || row.keys.front() == Chord{}) << row.name.en << ": its keys were not tried";
}

}  // namespace headlight
