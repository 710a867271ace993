// Where things stand: at every size, in both languages, nothing overlaps and nothing is cut off.
#include <algorithm>
#include <iterator>
#include <string_view>

#include "gui/actions/actions.h"
#include "gui/harness.h"
#include "words/mask_words.h"
#include "words/model_words.h"
#include "words/window_words.h"
#include "words/words.h"

namespace headlight {
namespace {

// The region of each control, and whether it may be scrolled out of sight.
struct Place {
  const char* region;
  std::vector<const char*> names;
  bool scrolls = false;
};

const std::vector<Place>& places() {
  static const std::vector<Place> all{
      {"top bar",
       {"view heads", "view inside", "view code", "view flow", "view train", "view compare", "undo", "redo",
        "share menu", "open", "more menu"}},
      {"sentence",
       {"text", "samples", "split words", "split characters", "split automatic", "sentence before", "sentence after"}},
      {"controls",
       {"all layers",
        "one layer",
        "causal",
        "padding",
        "pad",
        "paint",
        "clear paint",
        "remove mask",
        "d_model",
        "heads",
        "layers",
        "seed",
        "positions none",
        "positions sinusoidal",
        "positions learned",
        "positions rotary",
        "scale automatic",
        "scale",
        "dropout",
        "dropout seed",
        "off as zero",
        "off as mean",
        "all on",
        "clear weights",
        "kind encoder",
        "kind decoder",
        "kind encoder-decoder",
        "norm after",
        "norm before",
        "norm kind LayerNorm",
        "norm kind RMSNorm",
        "ffn",
        "relu",
        "gelu",
        "gelu-tanh",
        "silu",
        "gated",
        "kv heads",
        "own d_k",
        "d_k",
        "bias Q",
        "bias K",
        "bias V",
        "bias O",
        "bias FFN",
        "tied",
        "more controls"},
       true},
      // In a window without the column of controls a row has these of them.
      {"row", {"causal", "paint", "d_model", "heads", "layers", "open controls", "model line"}},
      {"atlas", {"shown menu", "order"}},
      {"stage",
       {"chip 0", "switch head", "keep", "stage map", "whole", "numbers", "weight by hand", "weight as computed"}},
      {"status", {"colour bar"}},
  };
  return all;
}

bool overlap(const Box& a, const Box& b) {
  constexpr float kTouching = 0.5f;
  return a.x + kTouching < b.right() && b.x + kTouching < a.right() && a.y + kTouching < b.bottom() &&
         b.y + kTouching < a.bottom();
}

testing::AssertionResult inside(const Box& box, const Box& region, bool scrolls) {
  constexpr float kSlack = 1;
  const bool fits = box.w > 0 && box.h > 0 && box.x >= region.x - kSlack && box.right() <= region.right() + kSlack &&
                    (scrolls || (box.y >= region.y - kSlack && box.bottom() <= region.bottom() + kSlack));
  if (fits) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "x " << box.x << " … " << box.right() << ", y " << box.y << " … "
                                     << box.bottom() << " is not inside x " << region.x << " … " << region.right()
                                     << ", y " << region.y << " … " << region.bottom();
}

struct LayoutShape {
  float width, height, ui_scale;
  Language language;
};

void PrintTo(const LayoutShape& shape, std::ostream* out) {
  *out << shape.width << "x" << shape.height << " at " << shape.ui_scale
       << (shape.language == Language::zh ? " zh" : " en");
}

class LayoutTest : public testing::TestWithParam<LayoutShape> {
 protected:
  Settings settings() const {
    Settings settings;
    settings.ui_scale = GetParam().ui_scale;
    settings.language = GetParam().language;
    return settings;
  }
};

TEST_P(LayoutTest, EverythingStandsWhereItBelongs) {
  Document document;
  document.source.text += "\n小猫饿坏了";
  document.source.hand_cuts = std::vector<std::size_t>{3, 6};
  document.mask.painted = {{1, 1, false}};
  document.mask.given = std::make_shared<const Matrix>(Matrix::Zero(1, 1));
  document.config.head_dim = 16;
  document.edits.dropout = 0.1f;
  document.edits.off = {{0, 1}};
  document.edits.weights = {{{0, 0}, {1, 1}, 0.5f}};
  Harness h(document, {GetParam().width, GetParam().height}, settings());
  h.settle();
  h.push(Pin{CellRef{1, 1}}, SetViewport{{0, 2, 0, 2}});
  h.settle();
  const bool row = h.has("open controls");
  h.click(row ? "open controls" : "more controls");
  h.settle();
  const Box window{0, 0, GetParam().width, GetParam().height};
  EXPECT_TRUE(h.has("controls")) << "the row's menu was opened, over the stage";
  std::vector<std::string> regions{"top bar", "sentence", "atlas", "stage", "status"};
  if (!row) regions.emplace_back("controls");
  for (const auto& name : regions) {
    EXPECT_TRUE(inside(h.box(name), window, false)) << name;
    for (const auto& other : regions)
      EXPECT_FALSE(other != name && overlap(h.box(name), h.box(other))) << name << " and " << other;
  }
  const auto stands = [&](const Place& place, const char* name) {
    if (std::string_view(place.region) == "row") return row;
    const auto& in_row = std::find_if(places().begin(), places().end(), [](const Place& one) {
                           return std::string_view(one.region) == "row";
                         })->names;
    const auto is_name = [&](const char* other) { return std::string_view(other) == name; };
    const bool both = std::any_of(in_row.begin(), in_row.end(), is_name) || std::string_view(name) == "more controls";
    return !row || !both;
  };
  for (const Place& place : places()) {
    const Box region = h.box(std::string_view(place.region) == "row" ? "sentence" : place.region);
    for (const char* name : place.names) {
      if (!stands(place, name)) continue;
      const Box box = h.box(name);
      EXPECT_TRUE(inside(box, region, place.scrolls)) << name;
      for (const char* other : place.names)
        EXPECT_FALSE(other != name && stands(place, other) && overlap(box, h.box(other))) << name << " and " << other;
    }
  }
  for (const auto& [name, box] : h.probe)
    EXPECT_TRUE(!name.starts_with("head ") || inside(box, h.box("atlas"), true)) << name;
  EXPECT_TRUE(h.has("head 0.0"));
  const float unit = GetParam().ui_scale;
  EXPECT_GT(h.box("head 0.0").w, 75 * unit) << "legible";
  EXPECT_GT(h.box("stage map").w, 75 * unit);
  EXPECT_TRUE(h.has("row bars") || GetParam().height < 700 * unit) << "in a small window the map comes first";
  EXPECT_TRUE(!h.has("row bars") || inside(h.box("row bars"), h.box("stage"), false));
}

TEST_P(LayoutTest, BesideATensorsFileTheControlsAreWhole) {
  Harness h({}, {GetParam().width, GetParam().height}, settings());
  h.push(OpenPath{HEADLIGHT_TEST_DATA "/golden/tensors-causal-7/input.safetensors"});
  h.settle();
  ASSERT_TRUE(has_own_inputs(h.state.document));
  const char* region = h.has("open controls") ? "sentence" : "controls";
  for (const char* name : {"causal", "paint"}) EXPECT_TRUE(inside(h.box(name), h.box(region), false)) << name;
}

TEST_P(LayoutTest, TheControlsLabelsFitTheirColumn) {
  Harness h({}, {GetParam().width, GetParam().height}, settings());
  h.settle();
  h.point_at("dropout");
  const float room = h.box("dropout").w;
  const auto width = [&](TextSize size, const std::string& text) {
    return h.fonts.font(size)->CalcTextSizeA(h.fonts.pixels(size), 1e6f, 0, text.c_str()).x;
  };
  const std::pair<Words, const char*> labels[] = {{kMaskWords.pad_last, "100"},
                                                  {kModelWords.d_model, "8192"},
                                                  {kModelWords.heads, "128 · d_k 512"},
                                                  {kModelWords.layers, "128"},
                                                  {kModelWords.seed, ""},
                                                  {kModelWords.positions, ""},
                                                  {kMaskWords.scale, "0.1768"},
                                                  {kModelWords.arch, ""},
                                                  {kModelWords.norm, ""},
                                                  {kModelWords.activation, ""},
                                                  {kModelWords.feed_forward, "65536"},
                                                  {kModelWords.encoder_layers, "128"},
                                                  {kModelWords.decoder_layers, "128"},
                                                  {kModelWords.kv_heads, "128"},
                                                  {kModelWords.d_k, "1024"},
                                                  {kMaskWords.dropout, "0.123"},
                                                  {kMaskWords.heads_off, "128"},
                                                  {kMaskWords.weights_by_hand, "128"},
                                                  {kModelWords.norm_kind, ""},
                                                  {kModelWords.bias, ""}};
  for (const auto& [label, value] : labels) {
    const std::string text = words(GetParam().language, label);
    EXPECT_LE(width(TextSize::small, text) + width(TextSize::small, value) + 6 * GetParam().ui_scale, room) << text;
  }
}

TEST_P(LayoutTest, OverlaysFitTheWindow) {
  Harness h({}, {GetParam().width, GetParam().height}, settings());
  h.settle();
  const Box window{0, 0, GetParam().width, GetParam().height};
  h.push(ShowHelp{true});
  h.frame(3);
  EXPECT_TRUE(inside(h.box("close help"), window, false));
  EXPECT_TRUE(h.says(words(GetParam().language, kWindowWords.close)));
  std::vector<Box> lines;
  for (std::size_t i = 0; h.has("key line " + std::to_string(i)); ++i)
    for (const char* part : {"key line ", "key meaning "}) {
      if (!h.has(part + std::to_string(i))) continue;
      Box box = h.box(part + std::to_string(i));
      box.w += 4 * GetParam().ui_scale;  // neighbours do not even touch
      for (const Box& other : lines) EXPECT_FALSE(overlap(box, other)) << part << i;
      lines.push_back(box);
    }
  EXPECT_GT(lines.size(), 50u);
  h.move_to({window.w / 2, window.h / 2});
  h.wheel(-100);
  EXPECT_TRUE(h.says(words(GetParam().language, action(Act::quit).name))) << "the last line can be reached";
  h.push(ShowHelp{false}, Browse{Browser::Purpose::export_to, testing::TempDir()});
  h.settle();
  for (const char* name : {"file name", "file action", "close browser"})
    EXPECT_TRUE(inside(h.box(name), window, false)) << name;
  h.push(Browse{}, Browse{Browser::Purpose::figure, testing::TempDir()});
  h.settle();
  const std::vector<std::string> choices{"file name",   "file action",   "figure grid",   "figure head",
                                         "figure flow", "figure layers", "figure column", "figure slide"};
  for (const auto& name : choices) {
    EXPECT_TRUE(inside(h.box(name), window, false)) << name;
    for (const auto& other : choices)
      EXPECT_FALSE(other != name && overlap(h.box(name), h.box(other))) << name << " and " << other;
  }
}

TEST_P(LayoutTest, TheFlowViewHasRoomForItsLines) {
  Document document;
  document.config.num_heads = 16;
  Harness h(document, {GetParam().width, GetParam().height}, settings());
  h.push(ShowView{View::flow});
  h.settle();
  const Box flow = h.box("flow");
  const std::vector<std::string> names{"flow all heads", "flow chosen head", "threshold", "flow head 0",
                                       "flow head 15",   "flow query 0",     "flow key 0"};
  for (const auto& name : names) {
    EXPECT_TRUE(inside(h.box(name), flow, false)) << name;
    for (const auto& other : names)
      EXPECT_FALSE(other != name && overlap(h.box(name), h.box(other))) << name << " and " << other;
  }
  EXPECT_GT(h.box("flow key 0").x - h.box("flow query 0").right(), 150 * GetParam().ui_scale);
  EXPECT_TRUE(inside(h.box("flow query 4"), flow, false)) << "half of the sentence is seen without scrolling";
}

TEST_P(LayoutTest, TwoAnswersStandSideBySide) {
  Harness h({}, {GetParam().width, GetParam().height}, settings());
  h.push(ShowView{View::compare}, ShowChanges{false});
  h.settle();
  EXPECT_TRUE(inside(h.box("keep"), h.box("compare"), false)) << "where nothing was kept yet";
  h.push(KeepAnswer{}, SetText{"小猫请李雷帮我订了去北京的机票，因为它饿了"}, EndGesture{});
  h.settle();
  const Box window{0, 0, GetParam().width, GetParam().height};
  std::vector<std::string> regions{"compare", "differences", "compared head", "both answers", "status"};
  if (!h.has("open controls")) regions.emplace_back("controls");
  for (const auto& name : regions) {
    EXPECT_TRUE(inside(h.box(name), window, false)) << name;
    for (const auto& other : regions)
      EXPECT_FALSE(other != name && overlap(h.box(name), h.box(other))) << name << " and " << other;
  }
  const std::pair<const char*, std::vector<std::string>> contents[] = {
      {"compare", {"answer A", "answer B", "keep", "swap", "drop"}},
      {"differences",
       {"differences by layer", "differences by largest", "differences by mean", "differences by divergence",
        "difference 0.0"}},
      {"compared head", {"compared cell", "map A", "map B", "map difference"}},
  };
  const bool low = GetParam().height < 700 * GetParam().ui_scale;  // the chosen head comes first
  for (const auto& [region, names] : contents)
    for (const auto& name : names) {
      EXPECT_TRUE(inside(h.box(name), h.box(region), low && name == "difference 0.0")) << name;
      for (const auto& other : names)
        EXPECT_FALSE(other != name && overlap(h.box(name), h.box(other))) << name << " and " << other;
    }
  const float unit = GetParam().ui_scale;
  EXPECT_GE(h.box("difference 0.0").w, 48 * unit) << "legible";
  EXPECT_GT(h.box("map A").w, 69 * unit);
}

std::vector<LayoutShape> shapes() {
  std::vector<LayoutShape> all;
  for (const Language language : {Language::en, Language::zh})
    for (const auto& [width, height] : {std::pair{1280.f, 800.f}, {1600.f, 1000.f}, {2560.f, 1600.f}})
      for (const float scale : {1.f, 1.5f, 2.f})
        if (width / scale >= 850) all.push_back({width, height, scale, language});  // below that some controls give way
  return all;
}

INSTANTIATE_TEST_SUITE_P(Sizes, LayoutTest, testing::ValuesIn(shapes()), [](const auto& tested) {
  const LayoutShape& shape = tested.param;
  return std::to_string(static_cast<int>(shape.width)) + "at" + std::to_string(static_cast<int>(shape.ui_scale * 100)) +
         (shape.language == Language::zh ? "zh" : "en");
});

}  // namespace
}  // namespace headlight
