// What the window gives its room to: how large the maps are at each size of the window, and that nothing moves but what
// changed.
#include <cmath>

#include "figure/drawing/heads_layout.h"
#include "gui/harness.h"
#include "model/head_text.h"
#include "view/settings.h"

namespace headlight {
namespace {

struct AskedScreen {
  float width, height, least_map, least_thumbnail;
  Language language;
};

void PrintTo(const AskedScreen& screen, std::ostream* out) {
  *out << screen.width << "x" << screen.height << (screen.language == Language::zh ? " zh" : " en");
}

Document of_heads(Index layers, Index heads) {
  Document document;
  document.config.num_layers = layers;
  document.config.num_heads = heads;
  document.config.d_model = heads * 16;
  return document;
}

std::string thumbnail(Index layer, Index head) { return "head " + head_text({layer, head}); }

bool is_inside(const Box& box, const Box& region) {
  return box.x >= region.x && box.y >= region.y && box.right() <= region.right() && box.bottom() <= region.bottom();
}

bool touch(const Box& a, const Box& b) {
  return a.x + 0.5f < b.right() && b.x + 0.5f < a.right() && a.y + 0.5f < b.bottom() && b.y + 0.5f < a.bottom();
}

Settings settings_of(float width, float height, Language language) {
  Settings settings;
  settings.language = language;
  settings.ui_scale = fitting_ui_scale(width, height);
  return settings;
}

class Space : public testing::TestWithParam<AskedScreen> {
 protected:
  std::unique_ptr<Harness> open(Document document) const {
    const AskedScreen& screen = GetParam();
    auto harness = std::make_unique<Harness>(std::move(document), ImVec2{screen.width, screen.height},
                                             settings_of(screen.width, screen.height, screen.language));
    harness->settle();
    return harness;
  }
};

TEST_P(Space, TheMapsAreLargeAndAllHeadsAreInSight) {
  const auto h = open(of_heads(2, 8));
  const Box stage = h->box("stage"), atlas = h->box("atlas"), map = h->box("stage map");
  EXPECT_GE(map.w, 0.75f * GetParam().least_map);
  EXPECT_EQ(map.w, map.h);
  EXPECT_TRUE(is_inside(map, stage));
  std::vector<Box> heads;
  for (Index layer = 0; layer < 2; ++layer)
    for (Index head = 0; head < 8; ++head) {
      const Box& box = heads.emplace_back(h->box(thumbnail(layer, head)));
      EXPECT_GE(box.w, 0.9f * GetParam().least_thumbnail) << layer << "." << head;
      EXPECT_TRUE(is_inside(box, atlas)) << layer << "." << head;
      for (std::size_t other = 0; other + 1 < heads.size(); ++other) EXPECT_FALSE(touch(box, heads[other]));
    }
}

TEST_P(Space, AHundredAndFortyFourHeadsAreInSight) {
  const auto h = open(of_heads(12, 12));
  h->push(ShowGrid{GridShow::all});
  h->frame(2);
  const Box atlas = h->box("atlas");
  for (Index layer = 0; layer < 12; ++layer)
    for (Index head = 0; head < 12; ++head) {
      const Box box = h->box(thumbnail(layer, head));
      EXPECT_TRUE(is_inside(box, atlas)) << layer << "." << head;
      EXPECT_GE(box.w, 34 * h->state.settings.ui_scale);
    }
}

TEST_P(Space, FewHeadsStandBesideTheStageAndAreSmaller) {
  for (const Index heads : {1, 2}) {
    const auto h = open(of_heads(1, heads));
    const Box map = h->box("stage map");
    for (Index head = 0; head < heads; ++head) {
      const Box box = h->box(thumbnail(0, head));
      EXPECT_TRUE(is_inside(box, h->box("atlas")));
      EXPECT_LT(box.w, 1.2f * map.w);
      EXPECT_EQ(box.y, h->box(thumbnail(0, 0)).y) << "side by side";
    }
  }
}

// Names of what must stand still, whatever is looked at.
std::map<std::string, Box> places(const Harness& h) {
  std::map<std::string, Box> all;
  for (const auto& [name, box] : h.probe)
    if (name == "stage map" || name == "switch head" || name == "keep" || name == "shown menu" || name == "order" ||
        name == "more heads" || name == "top bar" || name == "sentence" || name == "status" || name == "stage" ||
        name == "atlas" || name.starts_with("head "))
      all.emplace(name, box);
  return all;
}

TEST_P(Space, NothingMovesThatDidNotChange) {
  const bool few = GetParam().language == Language::en;
  const auto h = open(few ? of_heads(2, 8) : of_heads(4, 9));
  h->push(ShowGrid{GridShow::all});
  h->frame(2);
  const auto before = places(*h);
  ASSERT_GE(before.size(), 25u);
  for (const HeadRef head : {HeadRef{0, 3}, HeadRef{1, 2}, HeadRef{1, 7}, HeadRef{0, 0}}) {
    h->push(ChooseHead{head});
    h->frame(2);
    EXPECT_EQ(places(*h), before) << "another head";
  }
  h->push(Pin{CellRef{4, 5}});
  h->settle();
  EXPECT_EQ(places(*h), before) << "a pinned cell";
  h->hover("head 0.3", {2, 2});
  EXPECT_EQ(places(*h), before) << "under the pointer";
  h->point_away();
  h->push(SwitchHead{{0, 1}, true}, SetWeight{{0, 0}, {4, 5}, 0.3f}, EndGesture{});
  h->settle();
  auto after = places(*h);
  after["switch head"] = before.at("switch head");  // the width of its label varies with the text
  EXPECT_EQ(after, before) << "an edit";
  Settings settings = h->state.settings;
  settings.greeted = !settings.greeted;
  h->push(SetSettings{settings});
  h->frame(2);
  after = places(*h);
  after["switch head"] = before.at("switch head");
  EXPECT_EQ(after, before) << "a hint";
  h->push(FileFailed{Error(ErrorCode::bad_value, "something is wrong\nin two lines")});
  h->frame(2);
  after = places(*h);
  after["switch head"] = before.at("switch head");
  EXPECT_EQ(after, before) << "an error";
  h->push(SetText{});
  h->settle();
  EXPECT_FALSE(h->has("stage map")) << "a card is in its place";
  for (const char* name : {"top bar", "sentence", "status"}) EXPECT_EQ(h->box(name), before.at(name)) << "a card";
}

/// Twelve words of which some are long: beside the maps they take its width, over the columns its height. In a small
/// window the controls do too.
TEST_P(Space, LongWordsLeaveTheMapsTheirSize) {
  Document document = of_heads(2, 8);
  document.source.text = "The animal did not cross the street because it was too tired";
  const auto h = open(document);
  ASSERT_EQ(h->state.trace->keys(h->state.view.chosen.stack), 12);
  EXPECT_GE(h->box("stage map").w, 0.7f * GetParam().least_map);
  EXPECT_GE(h->box(thumbnail(1, 7)).w, 0.9f * GetParam().least_thumbnail);
}

/// The shape of the model for any sentence.
TEST_P(Space, ThirtySixHeadsLeaveTheMapItsSize) {
  Document document = of_heads(4, 9);
  document.source.text = "The animal did not cross the street because it was too tired";
  const auto h = open(document);
  h->push(ShowGrid{GridShow::all});
  h->frame(2);
  EXPECT_GE(h->box("stage map").w, 0.66f * GetParam().least_map);
  for (Index layer = 0; layer < 4; ++layer)
    for (Index head = 0; head < 9; ++head) {
      const Box box = h->box(thumbnail(layer, head));
      EXPECT_TRUE(is_inside(box, h->box("atlas"))) << layer << "." << head;
      EXPECT_GE(box.w, 48 * h->state.settings.ui_scale);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, Space,
    testing::Values(AskedScreen{1280, 800, 390, 115, Language::en}, AskedScreen{1280, 800, 390, 115, Language::zh},
                    AskedScreen{1440, 900, 470, 135, Language::en}, AskedScreen{1440, 900, 470, 135, Language::zh},
                    AskedScreen{1920, 1080, 670, 185, Language::en}, AskedScreen{1920, 1080, 670, 185, Language::zh},
                    AskedScreen{2560, 1600, 800, 230, Language::en}, AskedScreen{2560, 1600, 800, 230, Language::zh}),
    [](const auto& tested) {
      return std::to_string(static_cast<int>(tested.param.width)) +
             (tested.param.language == Language::zh ? "zh" : "en");
    });

TEST(SpaceOfAWindow, ALargerWindowNeverMakesAMapSmaller) {
  for (const auto& [layers, heads] : {std::pair<Index, Index>{2, 8}, {4, 9}, {12, 12}}) {
    Harness h(of_heads(layers, heads), {960, 600});
    h.push(ShowGrid{GridShow::all});
    h.settle();
    std::map<float, std::pair<float, float>>
        shorter;  // of each width: the maps in the window before, which is less high
    for (float height = 600; height <= 1600; height += 100) {
      std::pair<float, float> narrower;
      for (float width = 960; width <= 2560; width += 160) {
        h.resize({width, height});
        h.frame(2);
        const std::pair maps{h.box("stage map").w, h.box("head 0.0").w};
        for (const auto& smaller : {narrower, shorter[width]}) {
          EXPECT_GE(maps.first, 0.96f * smaller.first) << heads << " heads a layer, " << width << "x" << height;
          EXPECT_GE(maps.second, smaller.second) << heads << " heads a layer, " << width << "x" << height;
        }
        shorter[width] = narrower = maps;
      }
    }
  }
}

TEST(SpaceOfAWindow, ALargerScreenWithLargerTypeNeverMakesAMapSmaller) {
  const ImVec2 screens[] = {{1280, 800},  {1366, 768},  {1440, 900},  {1600, 900},  {1680, 1050}, {1920, 1080},
                            {1920, 1200}, {2048, 1280}, {2560, 1440}, {2560, 1600}, {2880, 1800}, {3840, 2160}};
  for (const auto& [layers, heads] : {std::pair<Index, Index>{2, 8}, {4, 9}, {12, 12}}) {
    Harness h(of_heads(layers, heads), screens[0]);
    h.push(ShowGrid{GridShow::all});
    h.settle();
    std::vector<std::pair<float, float>> maps;
    for (const ImVec2& screen : screens) {
      h.state.settings.ui_scale = fitting_ui_scale(screen.x, screen.y);
      h.resize(screen);
      h.frame(2);
      maps.emplace_back(h.box("stage map").w, h.box("head 0.0").w);
      for (std::size_t i = 0; i + 1 < maps.size(); ++i) {
        if (screens[i].x > screen.x || screens[i].y > screen.y) continue;
        EXPECT_GE(maps.back().first, maps[i].first) << heads << " heads a layer, " << screen.x << "x" << screen.y;
        EXPECT_GE(maps.back().second + 1, maps[i].second) << heads << " heads a layer, " << screen.x << "x" << screen.y;
      }
    }
  }
}

TEST(SpaceOfAWindow, TheSmallestWindowHasALargeMapAndNothingOverlaps) {
  for (const Language language : {Language::en, Language::zh}) {
    const auto width = static_cast<float>(kLeastWindow.width), height = static_cast<float>(kLeastWindow.height);
    Harness h(of_heads(2, 8), {width, height}, settings_of(width, height, language));
    h.settle();
    h.push(Pin{CellRef{4, 5}});
    h.settle();
    const Box map = h.box("stage map");
    for (Index layer = 0; layer < 2; ++layer)
      for (Index head = 0; head < 8; ++head) {
        EXPECT_GT(map.w, 2 * h.box(thumbnail(layer, head)).w);
        EXPECT_TRUE(is_inside(h.box(thumbnail(layer, head)), h.box("atlas")));
      }
    const DrawnBoxes boxes = h.boxes;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      if (boxes[i].kind == BoxKind::label || boxes[i].kind >= BoxKind::stage || boxes[i].name.find("chip ") == 0 ||
          boxes[i].name.find("gap ") == 0)
        continue;
      EXPECT_TRUE(is_inside(h.box(boxes[i].name), {0, 0, width, height})) << boxes[i].name;
      for (std::size_t j = 0; j < i; ++j)
        if (boxes[j].kind != BoxKind::label && boxes[j].kind < BoxKind::stage) {
          EXPECT_FALSE(touch(boxes[i].box, boxes[j].box)) << boxes[i].name << " and " << boxes[j].name;
        }
    }
  }
}

TEST(SpaceOfAWindow, TheTypeGrowsWithTheScreen) {
  EXPECT_EQ(fitting_ui_scale(1280, 800), 1);
  EXPECT_EQ(fitting_ui_scale(1920, 1080), 1);
  EXPECT_EQ(fitting_ui_scale(2560, 1600), 1.16f);
  EXPECT_EQ(fitting_ui_scale(3840, 2160), 1.72f);
  EXPECT_EQ(fitting_ui_scale(7680, 4320), kMostUiScale);
  EXPECT_EQ(fitting_ui_scale(0, 0), kLeastUiScale);
}

TEST(HeadsLayout, EveryMapHasAPlaceOfItsOwn) {
  const HeadsSizes sizes{.text = 16, .labels = 40, .layers = 24, .most = 320, .unit = 1};
  for (const Index groups : {1, 2, 6, 12, 48})
    for (const Index heads : {1, 2, 3, 7, 8, 12, 16, 25}) {
      const HeadsLayout layout = heads_layout(640, 580, {groups, heads, 10, 10}, sizes);
      std::vector<Box> boxes;
      for (Index group = 0; group < groups; ++group)
        for (Index head = 0; head < heads; ++head) {
          const Box box = layout.map_of(group, head);
          EXPECT_GE(box.w, 7) << groups << " × " << heads;
          EXPECT_LE(box.bottom(), layout.content_height + 0.5f);
          EXPECT_GE(box.x, 0);
          for (const Box& other : boxes) ASSERT_FALSE(touch(box, other)) << groups << " × " << heads;
          boxes.push_back(box);
        }
      if (groups <= 12) {
        EXPECT_LE(layout.content_height, 580.5f) << "in sight: " << groups << " × " << heads;
        EXPECT_LE(layout.map_of(0, heads - 1).right(), 640.5f);
      }
    }
}

TEST(HeadsLayout, RowsAreOfTheSameLengthWhereThatCostsLittle) {
  const HeadsSizes sizes{.text = 16, .labels = 40, .layers = 24, .most = 320, .unit = 1};
  EXPECT_EQ(heads_layout(640, 580, {2, 8, 10, 10}, sizes).columns, 4);
  EXPECT_EQ(heads_layout(640, 580, {12, 12, 10, 10}, sizes).columns, 12);
  EXPECT_EQ(heads_layout(640, 580, {1, 2, 10, 10}, sizes).columns, 2);
  EXPECT_EQ(heads_layout(640, 580, {1, 1, 10, 10}, sizes).columns, 1);
}

double luminance(ImU32 colour) {
  double sum = 0;
  const double weights[] = {0.2126, 0.7152, 0.0722};
  for (int channel = 0; channel < 3; ++channel) {
    const double value = static_cast<double>(colour >> (8 * channel) & 255) / 255;
    sum += weights[channel] * (value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4));
  }
  return sum;
}

/// WCAG 2.1, contrast ratio.
double contrast(ImU32 a, ImU32 b) {
  const double x = luminance(a), y = luminance(b);
  return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

TEST(ThemeContrast, TextCanBeReadAndEdgesAreSeen) {
  for (const Theme theme : {Theme::light, Theme::dark}) {
    const Palette& p = palette(theme);
    for (const ImU32 ground : {p.background, p.panel, p.button, p.button_hovered}) {
      for (const ImU32 text : {p.text, p.dim, p.accent, p.warning, p.caution, p.action})
        EXPECT_GE(contrast(text, ground), 4.5) << std::hex << text << " on " << ground;
      EXPECT_GE(contrast(p.outline, ground), 3) << std::hex << ground;
    }
    EXPECT_GE(contrast(p.accent, p.selected), 4.5);
    EXPECT_GE(contrast(p.text, p.selected), 4.5);
    EXPECT_GE(contrast(p.text, p.caution_ground), 4.5);
    EXPECT_GE(contrast(p.caution, p.caution_ground), 4.5);
    EXPECT_GE(contrast(p.on_action, p.action), 4.5);
    EXPECT_GE(contrast(p.on_action, p.action_hovered), 4.5);
  }
}

}  // namespace
}  // namespace headlight
