// Nothing lies on what is read: tooltips keep off the headline, the scene and the maps, hover labels off the names.
#include "gui/frame/controls.h"

#include <imgui_internal.h>

#include <algorithm>

#include "app/lessons.h"
#include "app/shipped.h"
#include "gui/harness.h"
#include "gui/sentence/own_sentence.h"

namespace headlight {
namespace {

bool lie_on_each_other(const Box& a, const Box& b) {
  return a.x + 0.5f < b.right() && b.x + 0.5f < a.right() && a.y + 0.5f < b.bottom() && b.y + 0.5f < a.bottom();
}

/// The tooltip that the last frame drew.
std::optional<Box> tooltip() {
  for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
    if (window->WasActive && !window->Hidden && (window->Flags & ImGuiWindowFlags_Tooltip))
      return Box{window->Pos.x, window->Pos.y, window->Size.x, window->Size.y};
  return std::nullopt;
}

constexpr const char* kTrophyStands = "The trophy does not fit in the suitcase because it is too big.";

std::unique_ptr<Harness> window_of(const std::string& text, ImVec2 size, Language language,
                                   const std::string& source = "") {
  Settings settings;
  settings.language = language;
  settings.greeted = true;
  auto h = std::make_unique<Harness>(fixture::sentence_document(text, source), size, settings);
  h->state.shipped = fixture::shipped();
  h->state.lessons = std::make_shared<const std::vector<Lesson>>(fixture::all_lessons().lessons);
  h->state.view.text.form.reset();
  h->state.view.fold = default_settings().layout.fold;
  h->push(ChooseStart{});
  h->settle();
  return h;
}

/// Those of the guess have a word as their name.
bool is_word_of_scene(const std::string& name) {
  return name.starts_with("word ") && name.find_first_not_of("0123456789", 5) == std::string::npos;
}

/// What is read while something is pointed at: the headline, the words and maps, the names of heads.
std::vector<DrawnBox> read_parts(const Harness& h) {
  std::vector<DrawnBox> parts;
  for (const DrawnBox& drawn : h.boxes)
    if (drawn.kind == BoxKind::map || drawn.kind == BoxKind::thumbnail || drawn.name == "stage sentence" ||
        drawn.name == "stage details" || drawn.name.starts_with("title ") || is_word_of_scene(drawn.name))
      parts.push_back(drawn);
  return parts;
}

/// Points at everything, and gives how many tooltips were seen; each must be inside the window and lie on no part that
/// is read, nor on what it is about.
int tooltips_beside_everything(Harness& h, ImVec2 size) {
  int seen = 0;
  const DrawnBoxes all = h.boxes;
  for (const DrawnBox& drawn : all) {
    if (drawn.kind == BoxKind::none || drawn.kind >= BoxKind::stage || drawn.box.w <= 0 || drawn.box.h <= 0) continue;
    h.move_to({drawn.box.x + drawn.box.w / 2, drawn.box.y + drawn.box.h / 2});
    h.frame();
    const auto tip = tooltip();
    if (!tip) continue;
    ++seen;
    EXPECT_GE(tip->x, 0) << drawn.name;
    EXPECT_GE(tip->y, 0) << drawn.name;
    EXPECT_LE(tip->right(), size.x) << drawn.name;
    EXPECT_LE(tip->bottom(), size.y) << drawn.name;
    for (const DrawnBox& part : read_parts(h))
      EXPECT_FALSE(lie_on_each_other(*tip, part.box)) << "the tooltip of " << drawn.name << " on " << part.name;
    const bool large = std::min(drawn.box.w, drawn.box.h) > 100;
    EXPECT_FALSE(!large && lie_on_each_other(*tip, drawn.box)) << "the tooltip of " << drawn.name << " on it";
  }
  h.point_away();
  return seen;
}

TEST(NothingLiesOnAnything, TooltipsKeepOffHeadlineAndMaps) {
  const std::tuple<ImVec2, Language, StageForm> windows[] = {{{960, 600}, Language::en, StageForm::sentence},
                                                             {{1280, 800}, Language::zh, StageForm::sentence},
                                                             {{1440, 900}, Language::en, StageForm::sentence},
                                                             {{1440, 900}, Language::en, StageForm::map}};
  for (const auto& [size, language, form] : windows) {
    SCOPED_TRACE(std::to_string(size.x) + (language == Language::zh ? " zh " : " en ") +
                 std::to_string(static_cast<int>(form)));
    const auto h = window_of(kTrophyStands, size, language);
    h->push(SetTextLook{{.form = form}});
    h->settle();
    EXPECT_GE(tooltips_beside_everything(*h, size), 15);
  }
}

TEST(NothingLiesOnAnything, BesideALessonToo) {
  const auto h = window_of("The animal didn't cross the street because it was tired", {1440, 900}, Language::en,
                           "shipped:encoder");
  h->push(OpenLesson{1});
  h->settle();
  EXPECT_GE(tooltips_beside_everything(*h, {1440, 900}), 10);
}

/// The word of a column stands beside the name of the head, in every cell of every map.
TEST(NothingLiesOnAnything, TheWordOfAColumnIsOnNoName) {
  for (const ImVec2 size : {ImVec2{960, 600}, {1280, 800}, {1440, 900}})
    for (const char* source : {"", "shipped:encoder"}) {
      SCOPED_TRACE(std::to_string(size.x) + source);
      const auto h = window_of(*source ? "The animal didn't cross the street because it was tired" : kTrophyStands,
                               size, Language::en, source);
      const DrawnBoxes all = h->boxes;
      int seen = 0;
      for (const DrawnBox& drawn : all) {
        if (drawn.kind != BoxKind::thumbnail) continue;
        for (const float across : {0.05f, 0.5f, 0.95f}) {
          h->move_to({drawn.box.x + across * drawn.box.w, drawn.box.y + 0.5f * drawn.box.h});
          if (!h->has("column word")) continue;
          ++seen;
          const Box word = h->box("column word");
          for (const DrawnBox& other : h->boxes) {
            const bool is_name = other.name.starts_with("words ") || other.name.starts_with("on off ");
            EXPECT_FALSE((is_name || other.kind == BoxKind::thumbnail) && other.kind != BoxKind::none &&
                         lie_on_each_other(word, other.box))
                << other.name << " of " << drawn.name << " at " << across;
          }
          EXPECT_LE(word.right(), size.x);
        }
      }
      EXPECT_GE(seen, 12);
    }
}

TEST(TipBox, IsNearItsItemAndOffWhatIsKept) {
  const ImVec2 window{1000, 800};
  const Box item{100, 90, 60, 26}, kept{16, 150, 600, 500};
  const auto below = tip_box({200, 24}, item, {kept}, window), high = tip_box({200, 60}, item, {kept}, window),
             inside = tip_box({200, 60}, {300, 400, 20, 20}, {kept}, window);
  ASSERT_TRUE(below && high && inside);
  EXPECT_GT(below->y, item.bottom()) << "there is room between both";
  EXPECT_LT(high->bottom(), item.y) << "above it";
  EXPECT_FALSE(lie_on_each_other(*inside, kept));
  EXPECT_FALSE(tip_box({200, 60}, item, {{0, 0, 1000, 800}}, window)) << "nowhere";
}

}  // namespace
}  // namespace headlight
