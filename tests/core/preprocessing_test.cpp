// What is done to a picture before a model sees it.
#include "read/picture/preprocessing.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/golden_pictures.h"

namespace headlight {
namespace {

using nlohmann::json;

json clip_config() {
  return {{"crop_size", {{"height", 14}, {"width", 14}}},
          {"do_center_crop", true},
          {"do_convert_rgb", true},
          {"do_normalize", true},
          {"do_rescale", true},
          {"do_resize", true},
          {"image_mean", {0.48145466, 0.4578275, 0.40821073}},
          {"image_std", {0.26862954, 0.26130258, 0.27577711}},
          {"image_processor_type", "CLIPImageProcessor"},
          {"resample", 3},
          {"rescale_factor", 0.00392156862745098},
          {"size", {{"shortest_edge", 16}}}};
}

std::string config_refusal(json changes) {
  json config = clip_config();
  config.merge_patch(changes);  // null takes a key away
  const auto read = read_preprocessing("p.json", config);
  return read ? "" : read.error().message();
}

std::string done_to_source(const json& config) {
  const auto read = read_preprocessing("p.json", config);
  EXPECT_TRUE(read) << read.error().message();
  const auto seen = seen_by(*read, pillows("source.png"));
  EXPECT_TRUE(seen) << seen.error().message();
  EXPECT_EQ(seen->picture.width, read->width());
  EXPECT_EQ(seen->picture.height, read->height());
  EXPECT_FALSE(seen->done.zh.empty());
  return seen->done.en;
}

TEST(Preprocessing, SaysWhatWasDone) {
  EXPECT_EQ(done_to_source(clip_config()),
            "resized 31×22 → 22×16 (bicubic), cropped to 14×14, divided by 255, mean 0.48145467 0.4578275 0.40821072, "
            "deviation 0.26862955 0.2613026 0.2757771");
  EXPECT_EQ(done_to_source({{"feature_extractor_type", "ViTFeatureExtractor"},
                            {"size", 24},
                            {"image_mean", 0.5},
                            {"image_std", {0.5, 0.5, 0.5}}}),
            "resized 31×22 → 24×24 (bilinear), divided by 255, mean 0.5 0.5 0.5, deviation 0.5 0.5 0.5");
  EXPECT_EQ(done_to_source({{"do_resize", false},
                            {"do_center_crop", true},
                            {"crop_size", 8},
                            {"do_flip_channel_order", true},
                            {"do_rescale", false}}),
            "taken as it is, 31×22, cropped to 8×8, blue first");
  EXPECT_EQ(done_to_source({{"size", {5, 7}},
                            {"resample", 0},
                            {"rescale_factor", 0.0078125},
                            {"offset", true},
                            {"do_normalize", false},
                            {"do_pad", false},
                            {"crop_pct", nullptr}}),
            "resized 31×22 → 7×5 (nearest), times 0.0078125, less 1");
  const auto seen = seen_by(default_preprocessing(8, 4), pillows("source.png"));
  ASSERT_TRUE(seen);
  EXPECT_EQ(
      seen->done.en,
      "assumed, as no preprocessor_config.json says it: resized 31×22 → 8×4 (bilinear), divided by 255, mean 0.5 0.5 "
      "0.5, deviation 0.5 0.5 0.5");
  EXPECT_TRUE(seen->picture == resized(pillows("source.png"), 8, 4, Resampling::bilinear));
  EXPECT_EQ(seen->from, (PictureSize{31, 22}));
  EXPECT_EQ(seen->resized_to, (PictureSize{8, 4}));
}

TEST(Preprocessing, ComputesAsNumPyDoes) {
  const Picture one{1, 1, {0, 100, 255}};
  const auto read = read_preprocessing(
      "p.json",
      {{"size", {1, 1}}, {"resample", 2}, {"image_mean", {0.485, 0.456, 0.406}}, {"image_std", {0.229, 0.224, 0.225}}});
  ASSERT_TRUE(read);
  // numpy: ((x.astype(float64) / 255).astype(float32) - float32(mean)) / float32(std)
  EXPECT_EQ(seen_by(*read, one)->values,
            (std::vector<float>{-2.1179039478302f, -0.28501397371292114f, 2.640000104904175f}));
  const auto flipped = read_preprocessing(
      "p.json", {{"size", {1, 1}}, {"resample", 2}, {"do_flip_channel_order", true}, {"do_rescale", false}});
  ASSERT_TRUE(flipped);
  EXPECT_EQ(seen_by(*flipped, one)->values, (std::vector<float>{255, 100, 0}));
  EXPECT_TRUE(seen_by(*flipped, one)->picture == one);
}

TEST(Preprocessing, OfDinov3ResizesBeforeItRounds) {
  json config = {{"image_processor_type", "DINOv3ViTImageProcessorFast"},
                 {"size", {{"height", 12}, {"width", 17}}},
                 {"do_normalize", false}};
  const auto unrounded = read_preprocessing("p.json", config);
  config["image_processor_type"] = "ViTImageProcessor";
  const auto rounded = read_preprocessing("p.json", config);
  ASSERT_TRUE(unrounded && rounded);
  const auto fine = seen_by(*unrounded, pillows("source.png")), coarse = seen_by(*rounded, pillows("source.png"));
  EXPECT_EQ(fine->done.en, "resized 31×22 → 17×12 (bilinear, not rounded to bytes), divided by 255");
  EXPECT_TRUE(fine->picture == coarse->picture);
  ASSERT_EQ(fine->values.size(), coarse->values.size());
  float furthest = 0;
  for (std::size_t i = 0; i < fine->values.size(); ++i)
    furthest = std::max(furthest, std::abs(fine->values[i] - coarse->values[i]) * 255);
  EXPECT_GT(furthest, 0.3f);
  EXPECT_LT(furthest, 1.01f);  // half of each of the two directions
}

TEST(Preprocessing, IsRefusedByTheNameOfWhatIsWrong) {
  EXPECT_EQ(config_refusal(json::object()), "");
  EXPECT_EQ(config_refusal({{"do_pad", true}}),
            "p.json: do_pad: expected false or nothing, as no such step is known, found true");
  EXPECT_EQ(config_refusal({{"do_center_crop", false}}),
            "p.json: size: expected a fixed size: height and width, or a crop_size with do_center_crop, found "
            "{\"shortest_edge\":16}");
  EXPECT_EQ(config_refusal({{"size", {{"longest_edge", 20}}}}),
            "p.json: size: expected the shortest_edge alone, found {\"longest_edge\":20,\"shortest_edge\":16}");
  EXPECT_EQ(config_refusal({{"size", {{"longest_edge", 20}, {"shortest_edge", nullptr}}}}),
            "p.json: size.longest_edge: expected height and width alone, or the shortest_edge alone, found 20");
  EXPECT_EQ(config_refusal({{"crop_size", {{"shortest_edge", 20}, {"height", nullptr}, {"width", nullptr}}}}),
            "p.json: crop_size.shortest_edge: expected height and width alone, found 20");
  EXPECT_EQ(
      config_refusal({{"image_processor_type", "OwnImageProcessor"}, {"size", 16}}),
      "p.json: size: expected height and width, or the shortest_edge: the class of this file is not known, found 16");
  for (const json& changes : std::vector<json>{{{"size", 0}},
                                               {{"size", "16"}},
                                               {{"size", {1, 2, 3}}},
                                               {{"crop_size", nullptr}},
                                               {{"crop_size", {{"shortest_edge", 3}}}},
                                               {{"crop_size", 70'000}},
                                               {{"crop_size", 60'000}},
                                               {{"resample", 6}},
                                               {{"resample", "bicubic"}},
                                               {{"image_mean", {1, 2}}},
                                               {{"image_std", 0}},
                                               {{"image_std", nullptr}},
                                               {{"rescale_factor", -1}},
                                               {{"rescale_factor", "1/255"}},
                                               {{"do_resize", 1}},
                                               {{"do_flip_channel_order", true}},
                                               {{"image_processor_type", 3}},
                                               {{"do_resize", false}, {"do_center_crop", false}}})
    EXPECT_NE(config_refusal(changes), "") << changes;
  EXPECT_FALSE(read_preprocessing("p.json", json::array()));
  const auto read = read_preprocessing("p.json", clip_config());
  ASSERT_TRUE(read);
  const auto thin = seen_by(*read, {5000, 1, std::vector<std::uint8_t>(15000)});
  ASSERT_FALSE(thin);
  EXPECT_EQ(thin.error().message(),
            "picture: size: expected 1 to 65,500 pixels a side, 100 million in all, found 80000×16");
}

}  // namespace
}  // namespace headlight
