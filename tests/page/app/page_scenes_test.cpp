// The scenes of an open page are those that window and figures draw, from the page's own numbers.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "page/core/page_scenes.h"
#include "views/sentence/sentence_scene.h"

namespace headlight {
namespace {

using nlohmann::json;

float narrow(std::string_view text, float size) { return 0.5f * size * static_cast<float>(text.size()); }

/// Weights of three words in one head, in float16: what a page has of attention from elsewhere.
std::unique_ptr<StillAnswer> answer_of(const std::vector<std::string>& words, const std::vector<float>& weights) {
  std::string bytes;
  for (const float weight : weights) {
    const auto bits = Eigen::numext::bit_cast<std::uint16_t>(Eigen::half(weight));
    bytes += {static_cast<char>(bits & 0xFF), static_cast<char>(bits >> 8)};
  }
  json tokens = json::array();
  for (const std::string& word : words)
    tokens.push_back({{"id", 1}, {"text", word}, {"raw", word}, {"bytes", {0, 0}}, {"special", false}, {"pad", false}});
  const json answer{{"tokens", tokens},
                    {"edits", json::object()},
                    {"error", 1e-4},
                    {"largest", 1},
                    {"relations",
                     {{{"stack", "Self"},
                       {"layer", 0},
                       {"head", 0},
                       {"arcs",
                        {{{"query", 2}, {"key", 0}, {"relation", "det"}, {"precision", 0.9}},
                         {{"query", 7}, {"key", 0}, {"relation", "det"}, {"precision", 0.9}}}}}}},
                    {"stacks",
                     {{{"name", "Self"},
                       {"number", 0},
                       {"queries", "tokens"},
                       {"keys", "tokens"},
                       {"layers", 1},
                       {"heads", 1},
                       {"kv_heads", 1},
                       {"d_k", 0},
                       {"d_v", 0},
                       {"scale", 1},
                       {"mask", json::object()},
                       {"weights", encode_base64(bytes)}}}}};
  auto still = StillAnswer::read(answer);
  EXPECT_TRUE(still) << still.error().message();
  return still ? *std::move(still) : nullptr;
}

PageLook look_at(const char* more = "{}") {
  json look{{"width", 700}, {"height", 500}, {"windowWidth", 1440}, {"windowHeight", 900}, {"largest", 1}};
  look.update(json::parse(more));
  return look_of(look);
}

const std::vector<std::string> kWords{"the", "old", "teacher"};
const std::vector<float> kWeights{0.5f, 0.25f, 0.25f, 0.125f, 0.75f, 0.125f, 0.875f, 0.125f, 0};

TEST(PageScenes, SentenceIsTheWindows) {
  const auto answer = answer_of(kWords, kWeights);
  ASSERT_TRUE(answer);
  PageMaps maps(*answer);
  const PageLook look = look_at(R"({"pinned": {"query": 2, "key": 0}})");
  const auto scene = scene_of_sentence(maps, look, narrow);
  ASSERT_TRUE(scene);
  ASSERT_EQ(maps.arcs(false).named.size(), 1u) << "an arc of a word that is not there";

  const auto content = sentence_content(maps.trace(), nullptr, maps.arcs(false), look.head, look.pinned);
  ASSERT_TRUE(content);
  Drawing window;
  add_sentence(window, *content, sentence_frame({0, 0, 700, 500}, 1440, 900),
               {.names = {""}, .unknown = {false, false, false}, .ground = background_of(Theme::light)}, 1, narrow);
  EXPECT_EQ(scene->drawing.hits, window.hits);
  ASSERT_EQ(scene->drawing.items.size(), window.items.size());
  for (std::size_t i = 0; i < window.items.size(); ++i)
    EXPECT_EQ(bounds(scene->drawing.items[i]), bounds(window.items[i])) << i;
}

TEST(PageScenes, PointsFindWordsAndCells) {
  const auto answer = answer_of(kWords, kWeights);
  PageMaps maps(*answer);
  const auto sentence = scene_of_sentence(maps, look_at(), narrow);
  const Hit& word = sentence->drawing.hits[2];
  ASSERT_EQ(word.name, "word 2");
  const json found = sentence->at({word.box.x + 2, word.box.y + 2});
  EXPECT_EQ(found["word"], 2);
  EXPECT_EQ(found["cell"], json({{"query", 2}, {"key", 0}}));
  EXPECT_TRUE(sentence->at({-5, -5}).is_null());

  const PageScene map = scene_of_map(maps, look_at(), narrow);
  const json layout = map.beside["layout"];
  const float x = layout["x"], y = layout["y"], cell = layout["cell"];
  EXPECT_EQ(map.at({x + 1.5f * cell, y + 2.5f * cell})["cell"], json({{"query", 2}, {"key", 1}}));
  EXPECT_TRUE(map.at({x - 1, y + cell}).is_null());
}

TEST(PageScenes, PixelsAreTheColoursOfWeights) {
  const auto answer = answer_of(kWords, kWeights);
  PageMaps maps(*answer);
  const PageLook look = look_at();
  const PageScene scene = scene_of_heads(maps, look, narrow);
  const PagePixels pixels = pixels_of_cells(maps, look, scene, 0, 90, 90);
  ASSERT_EQ(pixels.bytes.size(), 36u);
  for (std::size_t i = 0; i < kWeights.size(); ++i) {
    const Rgb colour = colour_of(look.scale, kWeights[i]);
    EXPECT_EQ(pixels.bytes[4 * i], colour.r) << i;
    EXPECT_EQ(pixels.bytes[4 * i + 2], colour.b) << i;
    EXPECT_EQ(pixels.bytes[4 * i + 3], 255) << i;
  }
}

TEST(PageScenes, ItemsAreListsAPainterReads) {
  const auto answer = answer_of(kWords, kWeights);
  PageMaps maps(*answer);
  const json scene = scene_json(scene_of_map(maps, look_at(), narrow));
  std::map<std::string, std::size_t> sizes;
  for (const json& item : scene["items"]) sizes[item[0].get<std::string>()] = item.size();
  EXPECT_EQ(sizes.at("c"), 8u);
  EXPECT_EQ(sizes.at("r"), 10u);
  EXPECT_EQ(sizes.at("t"), 8u);
  EXPECT_EQ(scene["width"], 700);
}

TEST(PageScenes, OfTooManyWordsThereIsNoSentence) {
  const std::vector<std::string> words(static_cast<std::size_t>(kMostWordsOfStage) + 1, "a");
  const auto answer = answer_of(words, std::vector<float>(words.size() * words.size(), 0.01f));
  PageMaps maps(*answer);
  EXPECT_FALSE(scene_of_sentence(maps, look_at(), narrow));
}

}  // namespace
}  // namespace headlight
