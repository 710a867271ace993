// The badge beside a checkpoint's name: whether it was loaded right, and all that was found, in both languages.
#include "gui/harness.h"
#include "session/model_check.h"

namespace headlight {
namespace {

const std::filesystem::path kGolden = std::filesystem::path(HEADLIGHT_TEST_DATA) / "golden";

class CheckBadge : public GuiTest {
 protected:
  void SetUp() override { start({}, {1600, 900}); }
  void open(const std::filesystem::path& path) {
    harness->push(OpenPath{path.string()});
    harness->settle();
    harness->frame(2);
  }
  /// The findings that the badge would show, instead of those that were found.
  void find(std::vector<Finding> findings) {
    const std::vector<ModelCheck> found{{harness->state.document.model, std::move(findings)}};
    harness->push(reply(&Answers::checks, {harness->state.document.model, {}, {}},
                        std::make_shared<const std::vector<ModelCheck>>(found)));
    harness->frame(2);
  }
  void chinese() {
    Settings settings = harness->state.settings;
    settings.language = settings.language == Language::zh ? Language::en : Language::zh;
    harness->push(SetSettings{settings});
    harness->frame(2);
  }

  TemporaryFolder folder;
};

TEST_F(CheckBadge, FreshWeightsHaveNone) { EXPECT_FALSE(harness->has("check")); }

TEST_F(CheckBadge, AgreementIsSaidAndTheFindingsAreBehindIt) {
  const std::filesystem::path model = folder / "model";
  std::filesystem::copy(kGolden / "family-roberta", model);
  std::filesystem::rename(model / "expected.npz", model / "reference.npz");
  open(model);
  ASSERT_TRUE(harness->has("check"));
  EXPECT_FALSE(harness->says("loaded right")) << "a tick: nothing is to be done";
  harness->point_at("check");
  EXPECT_TRUE(harness->says("loaded right: agrees with its reference"));
  EXPECT_TRUE(harness->says("attentions: as the reference"));
  chinese();
  harness->point_at("check");
  EXPECT_TRUE(harness->says("加载正确：与参考结果一致"));
  EXPECT_TRUE(harness->says("与参考结果一致。")) << harness->words_on_screen();
  EXPECT_TRUE(harness->says("attentions: as the reference")) << "the line itself beneath";
  for (const Finding& finding : *findings_of_model(harness->state))
    EXPECT_NE(finding.code, ErrorCode::bad_value) << finding.line;
}

TEST_F(CheckBadge, WithoutAReferenceOnlyTheSanityChecksAreSaid) {
  open(kGolden / "family-mistral");
  harness->point_at("check");
  EXPECT_TRUE(harness->says("sanity checks passed, no reference"));
  EXPECT_TRUE(harness->says("reference.npz: not beside the model"));
}

TEST_F(CheckBadge, DoubtAndErrorAreSaid) {
  open(kGolden / "family-mistral");
  find({{Severity::warning, "layer 1 up: untouched?"}, {Severity::good, "tensors"}});
  EXPECT_TRUE(harness->says("perhaps loaded wrong"));
  harness->point_at("check");
  EXPECT_TRUE(harness->says("layer 1 up: untouched?"));
  find({{Severity::error, "reference.npz: logits: expected"}, {Severity::warning, "w"}});
  EXPECT_TRUE(harness->says("loaded wrong"));
  EXPECT_FALSE(harness->says("perhaps"));
  chinese();
  EXPECT_TRUE(harness->says("加载有误"));
}

}  // namespace
}  // namespace headlight
