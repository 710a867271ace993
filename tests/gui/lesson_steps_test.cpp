// Every step of every lesson, done literally: keys of the actions that its text names, clicks on the controls, cells
// and words that it points at. Afterwards its goal is reached, and the sentence is as the step means it.
#include "app/lessons.h"
#include "gui/actions/actions.h"
#include "gui/harness.h"
#include "lesson/lesson.h"
#include "math/attention.h"
#include "session/lesson_commands.h"
#include "trains.h"

namespace headlight {
namespace {

class LessonSteps : public GuiTest, public testing::WithParamInterface<std::tuple<int, Language>> {
 protected:
  void SetUp() override {
    Settings settings;
    settings.language = std::get<Language>(GetParam());
    start(default_document(fixture::shipped().get()), {1440, 900}, settings);
    harness->loop = std::make_unique<Loop>(
        [] {}, std::string{},
        trains({.folder = folder_ / "trained", .threads = 1, .score_sentences = 12, .sample_sentences = 6}));
    TrainingPlan plan = trainings(harness->state).plan;
    plan.recipe.schedule.steps = 300;
    plan.batch = 4;
    harness->push(SetTrainingPlan{plan});
    harness->state.shipped = fixture::shipped();
    harness->state.lessons = std::make_shared<const std::vector<Lesson>>(fixture::all_lessons().lessons);
    harness->frame(2);
  }

  const AppState& state() const { return harness->state; }
  TemporaryFolder folder_;
  bool is_done() const { return is_attempt_done(state()) == true; }

  void press_keys_of(const std::string& name) {
    const std::optional<Act> act = parse_act(name);
    ASSERT_TRUE(act) << name << " is no action";
    EXPECT_TRUE(harness->says(action_in_text_of(*act))) << action_in_text_of(*act) << " is not on the screen";
    const Chord& chord = action(*act).keys.front();
    if (chord.key == Key{}) return perform_from_palette(*act);
    std::vector<Key> keys;
    if (chord.ctrl) keys.push_back(Key::left_ctrl);
    if (chord.shift) keys.push_back(Key::left_shift);
    if (chord.alt) keys.push_back(Key::left_alt);
    keys.push_back(chord.key);
    for (const Key key : keys) harness->hold(key, true);
    for (const Key key : keys) harness->hold(key, false);
  }

  /// As the reader does it: the palette, the name, Enter.
  void perform_from_palette(Act act) {
    harness->key({Key::left_ctrl, Key{'P'}});
    harness->type(words(state().settings.language, action(act).name));
    harness->key(Key::enter);
  }

  std::string action_in_text_of(Act act) const {
    const std::string keys = keys_of(act);
    return words(state().settings.language, action(act).name) + (keys.empty() ? std::string() : "”" + opening() + keys);
  }
  std::string opening() const { return state().settings.language == Language::zh ? "（" : " ("; }

  void click_cell(const LessonTarget& to) {
    const HeadRef head = state().view.chosen;
    const auto query = find_position(state().trace->query_tokens(head.stack), {to.query});
    ASSERT_TRUE(query) << to.query;
    auto key =
        to.key.empty() ? std::optional<Index>(0) : find_position(state().trace->key_tokens(head.stack), {to.key});
    ASSERT_TRUE(key) << to.key;
    harness->move_to(harness->cell_point("stage map", {*query, *key}));
    harness->click_at(ImGui::GetIO().MousePos);
  }

  void type_sentence(const LessonTarget& to) {
    std::string text = state().document.source.text;
    const std::size_t at = to.replaced.empty() ? 0 : text.find(to.replaced);
    ASSERT_NE(at, std::string::npos) << to.replaced << " is not in " << text;
    text.replace(at, to.replaced.empty() ? text.size() : to.replaced.size(), to.text);
    harness->retype(text);
    harness->key(Key::enter);
    harness->settle();
    harness->key(Key::escape);
  }

  /// Moves a slider until the goal is reached.
  void move_slider(const std::string& name) {
    for (float share = 0; share <= 1 && !is_done(); share += 0.05f) {
      harness->slide(name, share == 0 ? 0.5f : share - 0.05f, share);
      harness->settle();
    }
  }

  void click_control(const std::string& name) {
    if (name == "matrix" || name == "stage map") {
      if (harness->has("controls")) harness->key(Key::escape);  // the menu that the step before opened lies over it
      const Box box = harness->box(name);
      return harness->drag({box.x + box.w * 0.31f, box.y + box.h * 0.35f},
                           {box.x + box.w * 0.32f, box.y + box.h * 0.36f});
    }
    harness->click(name);
  }

  void do_what(const std::string& target) {
    const LessonTarget to = target_of(target);
    SCOPED_TRACE(target);
    if (!to.action.empty()) press_keys_of(to.action);
    else if (!to.value.empty()) move_slider(to.control);
    else if (!to.control.empty()) click_control(to.control);
    else if (!to.text.empty()) type_sentence(to);
    else click_cell(to);
    harness->settle();
  }

  void wait_for_training() {
    harness->frame(2);
    harness->loop->settle_tools(harness->state);
    harness->frame(3);
  }
};

TEST_P(LessonSteps, DoneLiterallyReachTheirGoals) {
  const auto lesson_number = static_cast<std::size_t>(std::get<int>(GetParam()));
  const Lesson& lesson = (*state().lessons)[lesson_number];
  harness->push(OpenLesson{lesson_number});
  for (std::size_t step = 0; step < lesson.steps.size(); ++step) {
    SCOPED_TRACE("step " + std::to_string(step + 1));
    harness->push(GoToStep{step});
    harness->settle();
    const LessonStep& asked = lesson.steps[step];
    ASSERT_FALSE(is_done()) << "nothing is left to do";
    const std::string text = state().document.source.text;
    std::vector<std::string> targets;
    bool types = false;
    for (const LessonSpan& span : spans_of(asked.attempt.in(state().settings.language)))
      if (!span.target.empty()) {
        targets.push_back(span.target);
        types = types || !target_of(span.target).text.empty() || target_of(span.target).control.starts_with("write ");
      }
    ASSERT_FALSE(targets.empty()) << "the step names nothing that can be done";
    for (const std::string& target : targets) {
      if (is_done()) break;
      do_what(target);
      if (target_of(target).control == "start training") wait_for_training();
      // "… until …"
      for (int i = 0; i < 20 && !is_done() && !HasFailure() && targets.size() == 1; ++i) do_what(target);
    }
    EXPECT_TRUE(is_done());
    if (!types) { EXPECT_EQ(state().document.source.text, text) << "no key went into the sentence"; }
  }
}

INSTANTIATE_TEST_SUITE_P(All, LessonSteps,
                         testing::Combine(testing::Range(0, 13), testing::Values(Language::en, Language::zh)));

}  // namespace
}  // namespace headlight
