// The states of a window, looked at: what stands in it is whole at every size, in both languages.
#include "app/shipped.h"
#include "gui/harness.h"
#include "lesson/lesson.h"
#include "models/model_choice.h"
#include "view/settings.h"

namespace headlight {
namespace {

bool meet(const Box& a, const Box& b) {
  return a.x + 0.5f < b.right() && b.x + 0.5f < a.right() && a.y + 0.5f < b.bottom() && b.y + 0.5f < a.bottom();
}

/// A window on a model that comes along.
std::unique_ptr<Harness> open_shipped(const std::string& source, const std::string& text, ImVec2 size,
                                      Language language) {
  Document document = default_document(fixture::shipped().get());
  if (!text.empty()) document.source.text = text;
  if (source == kAnySentence) { EXPECT_TRUE(choose_model(document, fixture::shipped().get())); }
  for (const BundledModel& model : *fixture::shipped())
    if (model.source == source) take_model(document, model);
  Settings settings;
  settings.language = language;
  settings.ui_scale = fitting_ui_scale(size.x, size.y);
  auto h = std::make_unique<Harness>(std::move(document), size, settings);
  h->state.shipped = fixture::shipped();
  h->settle();
  return h;
}

constexpr const char* kOfTheGrammar = "The animal didn't cross the street because it was too tired.";
constexpr const char* kOwnSentence = "The friend who saw the child asked him to book a ticket for the train.";

TEST(StatesOfAWindow, NothingIsClippedInTheSmallestWindow) {
  const auto width = static_cast<float>(kLeastWindow.width), height = static_cast<float>(kLeastWindow.height);
  const std::pair<const char*, const char*> questions[] = {
      {"", kOfTheGrammar}, {"", "Attention is all you need"}, {"shipped:translator", ""}};
  for (const Language language : {Language::en, Language::zh})
    for (const auto& [source, text] : questions)
      for (const bool with_lesson : {false, true}) {
        const auto h = open_shipped(source, text, {width, height}, language);
        if (with_lesson) {  // which leaves everything as it is
          auto lesson = lesson_from_json("l.json", R"({"schema": "headlight.lesson/1", "title": "L", "steps": [
              {"text": "Look."}]})",
                                         nullptr);
          ASSERT_TRUE(lesson);
          h->state.lessons = std::make_shared<const std::vector<Lesson>>(std::vector<Lesson>{*std::move(lesson)});
          h->push(OpenLesson{0});
        }
        h->push(Pin{CellRef{2, 1}});
        h->settle();
        SCOPED_TRACE(std::string(source) + text + (with_lesson ? " lesson" : "") +
                     (language == Language::zh ? " zh" : ""));
        for (std::size_t i = 0; i < h->boxes.size(); ++i) {
          const auto& [name, kind, head, box, cell] = h->boxes[i];
          if (kind == BoxKind::label || kind >= BoxKind::stage || name.find("chip ") != name.npos ||
              name.find("gap ") != name.npos)
            continue;
          EXPECT_TRUE(h->box(name).x >= 0 && h->box(name).right() <= width && h->box(name).bottom() <= height) << name;
          for (std::size_t j = 0; j < i; ++j)
            EXPECT_FALSE(h->boxes[j].kind != BoxKind::label && h->boxes[j].kind < BoxKind::stage &&
                         meet(box, h->boxes[j].box))
                << name << " and " << h->boxes[j].name;
        }
      }
}

TEST(StatesOfAWindow, NamesOfManyHeadsAreWholeAndFillTheAtlas) {
  const std::vector<const char*> names[] = {{"1 preposition", "1 object"}, {"1 个宾语", "前一个词"}};
  for (const Language language : {Language::en, Language::zh}) {
    const auto h = open_shipped(std::string(kAnySentence), kOwnSentence, {1280, 800}, language);
    ASSERT_EQ(h->state.trace->num_heads(), 9);
    for (const ImVec2 size : {ImVec2{1280, 800}, {1920, 1080}}) {
      SCOPED_TRACE(std::to_string(size.x) + (language == Language::zh ? " zh" : ""));
      h->resize(size);
      h->push(ShowGrid{GridShow::maps});
      h->frame(2);
      EXPECT_FALSE(h->says("…")) << "no name of the heads that show most is cut: " << h->words_on_screen();
      h->push(ShowGrid{GridShow::all});
      h->frame(2);
      if (size.x > 1400) {
        for (const char* name : names[language == Language::zh]) EXPECT_TRUE(h->says(name)) << name;
      }
      EXPECT_GE(h->box("head 3.8").bottom(), h->box("atlas").bottom() - h->box("atlas").h / 2);
      EXPECT_GE(h->box("head 0.0").w, 48);
    }
    h->resize({960, 600});
    h->push(ChooseHead{{2, 0}});
    h->settle();
    EXPECT_TRUE(h->says(language == Language::zh ? "4 个限定词" : "4 determiners"))
        << "the stage names the head where the atlas has no room for names";
  }
}

TEST(StatesOfAWindow, ALineAboutAFileLeavesRoomForItsCrossAndSaysWhatItMeans) {
  const std::string page =
      "/a/long/path/of/a/page/in/a/folder/attention.html: its model is not there (/models/of/somewhere/else): "
      "these are the page's own numbers, right to 0.0005, without new words and the next word";
  for (const Language language : {Language::en, Language::zh}) {
    const auto h = open_shipped("", "", {1280, 800}, language);
    h->state.notice = Notice{Notice::Kind::failed, page, ErrorCode::page_alone};
    h->frame(2);
    const Box cross = h->box("dismiss");
    EXPECT_TRUE(cross.x > 0 && cross.right() <= h->box("colour bar").x) << "the cross can be pressed";
    EXPECT_EQ(h->says("这个网页的模型不在"), language == Language::zh);
    EXPECT_EQ(h->says("attention.html"), language == Language::en);
    h->point_at("notice");
    EXPECT_TRUE(h->says("right to 0.0005")) << "all of it is under the pointer";
    h->click("dismiss");
    EXPECT_FALSE(h->state.notice);
  }
}

TEST(StatesOfAWindow, ALongWordIsCutBesideTheMap) {
  const auto side_with = [](const std::string& last) {
    return open_shipped(std::string(kAnySentence), "The cat sat on " + last, {1280, 800}, Language::en)
        ->box("stage map")
        .h;
  };
  // A word that no model knows stays one token; its name is the longest label that there is.
  EXPECT_GE(side_with("🙂"), 0.72f * side_with("it"));
}

}  // namespace
}  // namespace headlight
