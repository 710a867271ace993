// Whole pictures against those in golden/screens. They may differ a little: fonts and OpenGL drivers do.
// After a change of the look that is meant, write them anew with
//   HEADLIGHT_UPDATE_SCREENS=1 tests_app --gtest_filter='Screens.*'
// and look at them before they are kept.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "gl/app.h"
#include "gl/offscreen.h"
#include "read/picture/picture_file.h"
#include "session/loop/startup.h"
#include "temporary_folder.h"

namespace headlight {
namespace {

constexpr int kFar = 24;              // of 255, in any channel: pixels further apart than this differ
constexpr double kMostDiffer = 0.02;  // share of them

double share_that_differs(const Picture& a, const Picture& b) {
  std::size_t differ = 0;
  for (std::size_t i = 0; i + 2 < a.pixels.size(); i += 3) {
    int far = 0;
    for (std::size_t channel = 0; channel < 3; ++channel)
      far = std::max(far, std::abs(a.pixels[i + channel] - b.pixels[i + channel]));
    differ += far > kFar;
  }
  return static_cast<double>(differ) / static_cast<double>(a.pixels.size() / 3);
}

struct PictureAsked {
  const char* name;
  Theme theme;
  Language language;
  bool causal = false;
  Scale scale = Scale::linear;
  std::optional<CellRef> pinned = {};
  Arch arch = Arch::encoder;
  View view = View::heads;
  InsideTab tab = InsideTab::numbers;
  Look look = {};
  GridShow grid = GridShow::maps;
  std::optional<CommandPalette> palette = {};
  const char* lesson = "";
  std::size_t step = 0;
  bool patch = false;
  const char* against = nullptr;  // the text of A, of View::compare
};

void PrintTo(const PictureAsked& screen, std::ostream* out) { *out << screen.name; }

class Screens : public testing::TestWithParam<PictureAsked> {};

TEST_P(Screens, LookAsTheyDid) {
  const PictureAsked& screen = GetParam();
  if (const auto surface = Offscreen::open(16, 16); !surface) GTEST_SKIP() << surface.error().message();
  // The pictures are drawn in one family, whatever else a machine has.
  if (!std::filesystem::exists("/usr/share/fonts/truetype/wqy/wqy-microhei.ttc"))
    GTEST_SKIP() << "the pictures are drawn in fonts-wqy-microhei";
  const Variable fonts("FONTCONFIG_FILE", HEADLIGHT_TEST_DATA "/golden/screens/fonts.conf");

  Startup start;
  start.session.document.config.arch = screen.arch;
  start.session.document.mask.causal = screen.causal;
  start.session.view.view = screen.view;
  start.session.view.tab = screen.tab;
  start.session.view.patch.on = screen.patch;
  start.session.view.look = screen.look;
  start.session.view.scale = screen.scale;
  start.session.view.pinned = screen.pinned;
  if (screen.against) {
    start.against = start.session.document;
    start.against->source.text = screen.against;
  }
  start.lesson = screen.lesson;
  start.step = screen.step;
  start.session.view.grid = screen.grid;
  start.session.view.palette = screen.palette;
  const std::string file = std::string(screen.name) + ".png";
  const std::string golden = std::string(HEADLIGHT_TEST_DATA "/golden/screens/") + file;
  const bool renew = std::getenv("HEADLIGHT_UPDATE_SCREENS") != nullptr;
  const std::string actual = renew ? golden : (std::filesystem::path(testing::TempDir()) / ("actual-" + file)).string();
  const ScreenshotOptions options{
      .file = actual, .width = 1280, .height = 800, .theme = screen.theme, .language = screen.language, .boxes = {}};
  const auto taken = screenshot(start, options);
  ASSERT_TRUE(taken) << taken.error().message();

  const auto found = read_picture(actual), expected = read_picture(golden);
  ASSERT_TRUE(found && expected) << golden;
  ASSERT_EQ(found->width, 1280);
  ASSERT_EQ(found->height, 800);
  ASSERT_EQ(expected->pixels.size(), found->pixels.size()) << golden;
  const double share = share_that_differs(*found, *expected);
  EXPECT_LT(share, kMostDiffer) << actual << " is not " << golden;
  if (share < kMostDiffer && !renew) std::filesystem::remove(actual);
}

INSTANTIATE_TEST_SUITE_P(
    , Screens,
    testing::Values(
        PictureAsked{"light", Theme::light, Language::en},
        PictureAsked{"dark-zh-causal", Theme::dark, Language::zh, true},
        PictureAsked{"log-pinned", Theme::light, Language::en, false, Scale::log, CellRef{2, 4}},
        PictureAsked{"inside-steps-zh",
                     Theme::light,
                     Language::zh,
                     false,
                     Scale::linear,
                     CellRef{9, 5},
                     Arch::encoder,
                     View::inside,
                     InsideTab::numbers,
                     {matrix_id(Quantity::query), MatrixCell{9, 0}}},
        PictureAsked{.name = "why-dark",
                     .theme = Theme::dark,
                     .language = Language::en,
                     .pinned = CellRef{9, 5},
                     .view = View::inside,
                     .tab = InsideTab::why},
        PictureAsked{.name = "lens-zh",
                     .theme = Theme::light,
                     .language = Language::zh,
                     .pinned = CellRef{9, 5},
                     .view = View::inside,
                     .tab = InsideTab::lens},
        PictureAsked{.name = "patch",
                     .theme = Theme::light,
                     .language = Language::en,
                     .arch = Arch::decoder,
                     .view = View::compare,
                     .patch = true,
                     .against = "我请李雷帮我订了去上海的机票"},
        PictureAsked{"diagram-encoder-decoder",
                     Theme::dark,
                     Language::en,
                     true,
                     Scale::linear,
                     CellRef{4, 5},
                     Arch::encoder_decoder,
                     View::inside,
                     InsideTab::diagram,
                     {matrix_id(Quantity::weights), MatrixCell{4, 3}}},
        PictureAsked{"palette-zh",
                     Theme::light,
                     Language::zh,
                     false,
                     Scale::linear,
                     {},
                     Arch::encoder,
                     View::heads,
                     InsideTab::numbers,
                     {},
                     GridShow::maps,
                     CommandPalette{"头", 2}},
        PictureAsked{.name = "flow-dark",
                     .theme = Theme::dark,
                     .language = Language::en,
                     .pinned = CellRef{9, 5},
                     .view = View::flow},
        PictureAsked{.name = "train-zh", .theme = Theme::light, .language = Language::zh, .view = View::train},
        PictureAsked{.name = "compare-sentences",
                     .theme = Theme::light,
                     .language = Language::en,
                     .pinned = CellRef{5, 9},
                     .view = View::compare,
                     .against = "请小猫帮我订了去北京的车票"},
        PictureAsked{
            .name = "lesson-zh", .theme = Theme::light, .language = Language::zh, .lesson = "masks", .step = 2}),
    [](const auto& tested) {
      std::string name = tested.param.name;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

}  // namespace
}  // namespace headlight
