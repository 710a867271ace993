// The heads that the atlas shows of many: which, how large, and that they stay where they are.
#include <algorithm>

#include "derived/head_ranking.h"
#include "gui/harness.h"
#include "math/attention.h"
#include "model/head_text.h"
#include "page/page_numbers.h"
#include "session/head_grid.h"

namespace headlight {
namespace {

constexpr const char* kEnglish = "The committee that approved the budget resigned yesterday.";
constexpr const char* kChinese = "昨天我在学校门口遇到了一个老朋友。";

Document of_heads(Index layers, Index heads, const char* text) {
  Document document;
  document.config = {.d_model = heads * 16, .num_heads = heads, .num_layers = layers, .ffn = 0};
  document.source.text = text;
  return document;
}

/// The maps of the atlas, as they stand.
std::vector<DrawnBox> thumbnails(Harness& h) {
  h.boxes.clear();
  h.frame();
  std::vector<DrawnBox> maps;
  for (const DrawnBox& box : h.boxes)
    if (box.kind == BoxKind::thumbnail) maps.push_back(box);
  return maps;
}

std::vector<HeadRef> heads_in(const std::vector<DrawnBox>& maps) {
  std::vector<HeadRef> heads;
  for (const DrawnBox& map : maps) heads.push_back(*map.head);
  return heads;
}

struct LayersAndHeads {
  Index layers, heads;
};

class AtlasOf : public testing::TestWithParam<LayersAndHeads> {};

TEST_P(AtlasOf, MapsAreLargeAndFillTheirPartOfTheWindow) {
  const auto [layers, heads] = GetParam();
  for (const auto& [language, text] : {std::pair(Language::en, kEnglish), std::pair(Language::zh, kChinese)})
    for (const ImVec2 size : {ImVec2{1280, 800}, ImVec2{1440, 900}, ImVec2{1920, 1080}}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(size.x)) + " " + text);
      Settings settings;
      settings.language = language;
      Harness h(of_heads(layers, heads, text), size, settings);
      h.settle();
      const Box atlas = h.box("atlas");
      float area = 0, bottom = 0;
      const auto maps = thumbnails(h);
      EXPECT_GE(maps.size(), 6u);
      EXPECT_LE(maps.size(), 16u);
      for (const DrawnBox& map : maps) {
        EXPECT_GE(std::max(map.box.w, map.box.h), 90) << map.name;
        EXPECT_GE(map.box.x, atlas.x);
        EXPECT_LE(map.box.right(), atlas.right());
        EXPECT_LE(map.box.bottom(), atlas.bottom());
        area += map.box.w * map.box.h;
        bottom = std::max(bottom, map.box.bottom());
      }
      const float least = size.x < 1440 ? 0.14f : 0.17f;
      EXPECT_GE(area, least * size.x * size.y) << maps.size() << " of " << maps.front().box.w;
      // No gap between rows is higher than a title of two lines and a little.
      std::vector<float> tops;
      for (const DrawnBox& map : maps) tops.push_back(map.box.y);
      std::sort(tops.begin(), tops.end());
      for (std::size_t i = 1; i < tops.size(); ++i)
        EXPECT_LT(tops[i] - tops[i - 1], maps.front().box.h * 1.15f + 56) << "no empty row";
    }
}

INSTANTIATE_TEST_SUITE_P(Shapes, AtlasOf,
                         testing::Values(LayersAndHeads{2, 8}, LayersAndHeads{4, 9}, LayersAndHeads{12, 12},
                                         LayersAndHeads{25, 28}),
                         [](const auto& tested) {
                           return std::to_string(tested.param.layers * tested.param.heads) + "heads";
                         });

class AtlasTest : public GuiTest {
 protected:
  void SetUp() override { start(of_heads(4, 9, kEnglish)); }
  std::vector<HeadRef> shown() { return heads_in(thumbnails(*harness)); }
};

TEST_F(AtlasTest, ShowsTheHeadsThatShowMostInTheOrderOfLayers) {
  Harness& h = *harness;
  const std::vector<HeadRef> heads = shown();
  ASSERT_LT(heads.size(), 36u);
  EXPECT_TRUE(std::is_sorted(heads.begin(), heads.end()));
  float least = 1, most_of_others = 0;
  for (const HeadRef& head : heads_of(*h.state.trace)) {
    const float value = shown_by_head(*h.state.trace, head, 0);
    const bool in = std::find(heads.begin(), heads.end(), head) != heads.end();
    if (in && head != h.state.view.chosen) least = std::min(least, value);
    if (!in) most_of_others = std::max(most_of_others, value);
  }
  EXPECT_GE(least, most_of_others);
  const std::string count = std::to_string(heads.size()), others = std::to_string(36 - heads.size());
  EXPECT_TRUE(h.says(count + " of 36 heads")) << h.words_on_screen();
  EXPECT_TRUE(h.says(others + " more ▸"));
}

TEST_F(AtlasTest, OneClickOrOneKeyShowsAllOfThemAndGoesBack) {
  Harness& h = *harness;
  const std::vector<HeadRef> some = shown();
  h.click("more heads");
  EXPECT_EQ(shown(), heads_of(*h.state.trace));
  EXPECT_TRUE(h.says("All 36 heads"));
  h.click("more heads");
  EXPECT_EQ(shown(), some);
  h.key(Key{'1'});
  EXPECT_EQ(h.state.view.grid, GridShow::all);
  EXPECT_EQ(shown().size(), 36u);
  h.push(ShowGrid{GridShow::maps}, OrderHeads{{.by = HeadOrder::By::measure, .measure = Measure::entropy}});
  h.settle();
  EXPECT_EQ(shown().size(), 36u) << "in an order of their own all are shown";
}

TEST_F(AtlasTest, TheChosenHeadIsAlwaysAmongThem) {
  Harness& h = *harness;
  std::vector<HeadRef> all = heads_of(*h.state.trace);
  h.push(ChooseHead{*std::max_element(all.begin(), all.end(), [&](const HeadRef& a, const HeadRef& b) {
    return shown_by_head(*h.state.trace, a, 0) < shown_by_head(*h.state.trace, b, 0);
  })});
  const std::vector<HeadRef> before = shown();
  HeadRef hidden;
  for (const HeadRef& head : heads_of(*h.state.trace))
    if (std::find(before.begin(), before.end(), head) == before.end()) hidden = head;
  h.push(ChooseHead{hidden});
  const std::vector<HeadRef> after = shown();
  EXPECT_EQ(after.size(), before.size());
  EXPECT_TRUE(std::find(after.begin(), after.end(), hidden) != after.end());
  EXPECT_TRUE(std::is_sorted(after.begin(), after.end()));
  std::vector<HeadRef> met;
  for (std::size_t i = 0; i < after.size(); ++i) {
    h.key(Key::right_bracket);
    met.push_back(h.state.view.chosen);
    EXPECT_EQ(shown(), heads_in(thumbnails(h)));
  }
  for (const HeadRef& head : met)
    EXPECT_TRUE(std::find(before.begin(), before.end(), head) != before.end()) << "once left, it is hidden again";
}

TEST_F(AtlasTest, TypingAndEditsChangeNothingAndANewSentenceChoosesAnew) {
  Harness& h = *harness;
  const std::vector<HeadRef> before = shown();
  h.push(SetText{"The committee that approved the budget resigned yesterday. An"});
  h.frame(3);
  EXPECT_EQ(shown(), before) << "while one types";
  h.push(Undo{}, SwitchHead{before.back(), true}, EndGesture{}, SetMask{.causal = true}, EndGesture{});
  h.settle();
  EXPECT_EQ(shown(), before) << "another question about the same sentence";
  h.push(SetText{kChinese}, EndGesture{});
  h.settle();
  ASSERT_TRUE(h.state.ranking);
  EXPECT_TRUE(h.state.ranking->is_of(h.state.trace->request));
  EXPECT_EQ(shown(), first_with(telling_heads(h.state), h.state.view.chosen, before.size()));
}

TEST_F(AtlasTest, SwitchesAppearUnderThePointer) {
  Harness& h = *harness;
  const auto switches = [&] {
    thumbnails(h);
    return std::count_if(h.boxes.begin(), h.boxes.end(), [](const DrawnBox& box) {
      return box.name.starts_with("on off ") && box.kind != BoxKind::none;
    });
  };
  h.point_away();
  EXPECT_EQ(switches(), 0);
  const HeadRef head = shown().front();
  h.point_at("head " + head_text({head.layer, head.head}));
  EXPECT_EQ(switches(), 1);
  h.click("on off head " + head_text({head.layer, head.head}));
  h.point_away();
  EXPECT_EQ(h.state.document.edits.off, (std::vector<HeadRef>{head}));
  EXPECT_EQ(switches(), 1) << "of a head that is off it stays";
  const Box off = h.box("on off head " + head_text({head.layer, head.head}));
  const float row = h.box("head " + head_text({head.layer, head.head})).y;
  for (const DrawnBox& map : thumbnails(h)) {
    if (map.head == head || std::abs(map.box.y - row) >= 1) continue;
    EXPECT_TRUE(map.box.right() < off.x || off.right() + 10 < map.box.x) << "beside the title of no other head";
  }
}

TEST(HeadRanking, RestAndStepsCountLess) {
  Document document = of_heads(4, 9, kEnglish);
  Harness h(std::move(document));
  h.settle();
  for (const HeadRef& head : heads_of(*h.state.trace)) {
    const float value = shown_by_head(*h.state.trace, head, 0);
    EXPECT_GT(value, 0);
    EXPECT_LE(value, 1);
    EXPECT_GE(shown_by_head(*h.state.trace, head, 2), value);
  }
}

/// What is shown by a head each of whose rows looks at one word alone.
float shown_by(const std::vector<Index>& looks) {
  Document document = of_heads(1, 1, "a b c d e f");
  Harness h(std::move(document));
  h.settle();
  TraceCopy copy(*h.state.trace);
  Matrix& map = copy.attention(Stack::self, 0).heads[0].thumbnail;
  EXPECT_EQ(map.rows(), static_cast<Index>(looks.size()));
  map.setZero();
  for (std::size_t row = 0; row < looks.size(); ++row) map(static_cast<Index>(row), looks[row]) = 1;
  return shown_by_head(copy.trace, {0, 0}, 0);
}

TEST(HeadRanking, RowsRestWhereMoreThanHalfOfThemLook) {
  EXPECT_FLOAT_EQ(shown_by({5, 5, 5, 1, 0, 2}), 1) << "half of the rows look at one word";
  EXPECT_FLOAT_EQ(shown_by({5, 5, 5, 5, 0, 1}), (4 * 0.1f + 2) / 6) << "more than half";
  EXPECT_FLOAT_EQ(shown_by({3, 0, 1, 2, 3, 4}), (5 * 0.5f + 1) / 6) << "most look at the word before";
  EXPECT_FLOAT_EQ(shown_by({0, 1, 2, 3, 4, 5}), 0) << "each at itself";
}

TEST_F(AtlasTest, LongTextsBeginWithLogarithmicColoursUntilOneChooses) {
  Harness& h = *harness;
  EXPECT_EQ(h.map("stage map").scale.scale, Scale::linear);
  std::string text;
  for (int i = 0; i < 12; ++i) text += "the ticket was about the teacher ";
  h.push(SetText{text}, EndGesture{}, SetTextLook{{.form = StageForm::map}});
  h.settle();
  ASSERT_GT(h.state.trace->keys(), 40);
  EXPECT_EQ(h.map("stage map").scale.scale, Scale::log);
  // The word of a pinned row stands whole beside the map, inside the stage.
  h.push(Pin{CellRef{3, 1}});
  h.frame(2);
  EXPECT_TRUE(h.says("about"));
  const Box stage = h.box("stage"), map = h.box("stage map");
  EXPECT_GE(map.x - stage.x, 64);
  h.key({Key::left_alt, Key{'G'}});
  h.frame(2);
  EXPECT_EQ(h.map("stage map").scale.scale, Scale::linear) << "what one chooses stays";
  h.push(SetText{text + text}, EndGesture{});
  h.settle();
  EXPECT_EQ(h.map("stage map").scale.scale, Scale::linear);
}

}  // namespace
}  // namespace headlight
