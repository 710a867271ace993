// Numbers as text, and the JSON export: what the contract requires, whatever the tokens are.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/formatted.h"
#include "base/random.h"
#include "exported.h"
#include "float_infinity.h"
#include "math/attention.h"
#include "read/external/mask_file.h"
#include "read/external/tensors_file.h"
#include "read/json/json_document.h"
#include "write/json.h"

namespace headlight {
namespace {

using namespace exported;
using nlohmann::json;

TEST(Number, ReadsBackByWayOfFloatAndOfDouble) {
  const auto check = [](float value) {
    std::string text;
    ASSERT_TRUE(append_number(text, value));
    const float read_as_float = std::strtof(text.c_str(), nullptr);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(read_as_float), std::bit_cast<std::uint32_t>(value)) << text;
    EXPECT_EQ(static_cast<float>(std::strtod(text.c_str(), nullptr)), value) << text;
    const auto read = parse_json("f", text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(read->get<float>(), value) << text;
  };
  // The second last is the one for which a reader of doubles rounds the shortest text the wrong way.
  for (const float value :
       {0.0f, -0.0f, 1.0f, 0.1f, 1e30f, -1e-30f, std::numeric_limits<float>::max(), std::numeric_limits<float>::min(),
        std::numeric_limits<float>::denorm_min(), 7.038531e-26f, 1.0f / 3.0f})
    check(value);
  Random random(1);
  for (int i = 0; i < 100'000; ++i) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(random.next()));
    if (std::isfinite(value)) check(value);
  }
  std::string text;
  EXPECT_TRUE(append_number(text, 0.1f));
  EXPECT_EQ(text, "0.1");
  for (const float value : {kFloatInfinity, -kFloatInfinity, std::numeric_limits<float>::quiet_NaN()})
    EXPECT_FALSE(append_number(text, value));
  EXPECT_EQ(text, "0.1");
}

TEST(JsonExport, HoldsWhatTheContractSays) {
  const auto trace = trace_of({"我", "请", "<pad>"}, true);
  const std::string text = bytes_written({trace}, Format::json);
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  const auto document = parse_json("f", text);
  ASSERT_TRUE(document) << document.error().message();
  const json& object = *document;
  EXPECT_EQ(object["schema"], "headlight.attention/1");
  EXPECT_EQ(object["model"], (json{{"name", trace->model->name},
                                   {"arch", "encoder"},
                                   {"d_model", 12},
                                   {"num_heads", 3},
                                   {"num_layers", 2},
                                   {"num_kv_heads", 3},
                                   {"d_k", 4}}));
  EXPECT_EQ(object["tokens"].size(), 3u);
  EXPECT_EQ(object["tokens"][1], (json{{"id", hashed_id("请")},
                                       {"text", "请"},
                                       {"raw", "请"},
                                       {"bytes", {3, 6}},
                                       {"special", false},
                                       {"pad", false},
                                       {"known", true}}));
  EXPECT_EQ(object["mask"], (json{{"kind", "causal"}, {"allowed", {{1, 0, 0}, {1, 1, 0}, {1, 1, 1}}}}));
  EXPECT_EQ(object["request"], (json{{"text", "as asked"}}));
  EXPECT_FALSE(object.contains("warnings"));
  EXPECT_FALSE(object.contains("key_tokens"));
  ASSERT_EQ(object["attention"].size(), 1u);
  const json& self = object["attention"][0];
  EXPECT_EQ(self["name"], "Self");
  EXPECT_EQ(self["left_text"], (json{"我", "请", "<pad>"}));
  EXPECT_EQ(self["right_text"], self["left_text"]);
  ASSERT_EQ(self["attn"].size(), 2u);
  for (Index layer = 0; layer < 2; ++layer) {
    ASSERT_EQ(self["attn"][static_cast<std::size_t>(layer)].size(), 3u);
    for (Index head = 0; head < 3; ++head) {
      const Matrix weights = attention_rows(*trace, {layer, head}, 0, 3);
      const json& rows = self["attn"][static_cast<std::size_t>(layer)][static_cast<std::size_t>(head)];
      ASSERT_EQ(rows.size(), 3u);
      for (Index query = 0; query < 3; ++query) {
        const json& row = rows[static_cast<std::size_t>(query)];
        ASSERT_EQ(row.size(), 3u);
        for (Index key = 0; key < 3; ++key)
          EXPECT_EQ(row[static_cast<std::size_t>(key)].get<float>(), weights(query, key));
      }
    }
  }
}

TEST(JsonExport, AnswersOfATensorsFileNameTheirKeys) {
  const auto trace = cross_trace();
  const auto object = parse_json("f", bytes_written({trace}, Format::json));
  ASSERT_TRUE(object) << object.error().message();
  EXPECT_EQ((*object)["model"]["arch"], "attention");
  EXPECT_EQ((*object)["tokens"].size(), 4u);
  EXPECT_EQ((*object)["key_tokens"].size(), 6u);
  EXPECT_EQ((*object)["attention"][0]["left_text"].size(), 4u);
  EXPECT_EQ((*object)["attention"][0]["right_text"].size(), 6u);
  EXPECT_EQ((*object)["attention"][0]["attn"][0][1][3].size(), 6u);
  EXPECT_EQ((*object)["mask"]["allowed"][3].size(), 6u);
}

TEST(JsonExport, AnEncoderDecoderHasThreeEntriesAndThreeMasks) {
  const auto trace = answered(encoder_decoder_request({"a", "b", "c"}, {"x", "y"}));
  const auto document = parse_json("f", bytes_written({trace}, Format::json, {.queries_keys_values = true}));
  ASSERT_TRUE(document) << document.error().message();
  const json& object = *document;
  EXPECT_EQ(object["model"]["arch"], "encoder-decoder");
  EXPECT_EQ(object["model"]["num_layers"], 2);
  EXPECT_EQ(object["model"]["num_encoder_layers"], 1);
  EXPECT_EQ(object["tokens"].size(), 3u);
  EXPECT_EQ(object["target_tokens"].size(), 2u);
  EXPECT_FALSE(object.contains("key_tokens"));
  ASSERT_EQ(object["attention"].size(), 3u);
  const json source{"a", "b", "c"}, target{"x", "y"};
  const auto expect_entry = [&](std::size_t at, const char* name, Stack stack, const json& left, const json& right) {
    const json& entry = object["attention"][at];
    EXPECT_EQ(entry["name"], name);
    EXPECT_EQ(entry["left_text"], left);
    EXPECT_EQ(entry["right_text"], right);
    const auto layer = static_cast<std::size_t>(trace->num_layers(stack)) - 1;
    EXPECT_EQ(entry["attn"].size(), layer + 1);
    EXPECT_EQ(entry["attn"][layer][2][1][0].get<float>(),
              attention_rows(*trace, {static_cast<Index>(layer), 2, stack}, 1, 1)(0, 0));
  };
  expect_entry(0, "Encoder", Stack::encoder, source, source);
  expect_entry(1, "Decoder", Stack::self, target, target);
  expect_entry(2, "Cross", Stack::cross, target, source);
  EXPECT_EQ(object["mask"]["kind"], "causal");
  EXPECT_EQ(object["encoder_mask"]["allowed"].size(), 3u);
  EXPECT_EQ(object["cross_mask"]["allowed"], (json{{1, 1, 1}, {1, 1, 1}}));
  EXPECT_TRUE(object.contains("cross_queries") && object.contains("encoder_keys") && object.contains("decoder_values"));
}

TEST(JsonExport, ListsTheMostProbableNextWords) {
  Request request = encoder_decoder_request({"a"}, {"x", "y"});
  const auto object = parse_json("f", bytes_written({answered(request)}, Format::json));
  ASSERT_TRUE(object) << object.error().message();
  const json& words = (*object)["next_token"];
  ASSERT_EQ(words.size(), 5u) << "of five that there are";
  float sum = 0, last = 1;
  for (const json& word : words) {
    const float probability = word["probability"].get<float>();
    EXPECT_LE(probability, last);
    EXPECT_EQ(word["id"], hashed_id(word["text"].get<std::string>()));
    sum += last = probability;
  }
  EXPECT_NEAR(sum, 1, 1e-5);
  request.vocabulary = nullptr;
  EXPECT_FALSE(parse_json("f", bytes_written({answered(request)}, Format::json))->contains("next_token"));
}

TEST(JsonExport, AMaskOfOneLayerStandsBesideItsStacks) {
  Request request;
  request.config = {.d_model = 12, .num_heads = 3, .num_layers = 2, .ffn = 8};
  request.tokens = plain_tokens({"a", "b"});
  set_layer_edit(request.edits, {.layer = 0, .mask = MaskSpec{.causal = true}});
  const auto object = parse_json("f", bytes_written({answered(request)}, Format::json));
  ASSERT_TRUE(object) << object.error().message();
  EXPECT_EQ((*object)["mask"]["kind"], "none");
  EXPECT_EQ((*object)["layer_masks"],
            (json{{{"name", "Self"}, {"layer", 0}, {"mask", {{"kind", "causal"}, {"allowed", {{1, 0}, {1, 1}}}}}}}));
}

TEST(JsonExport, MasksOfHeadsReadBack) {
  Request request;
  request.config = {.d_model = 12, .num_heads = 3, .num_layers = 1, .ffn = 8};
  request.tokens = plain_tokens({"a", "b"});
  Matrix given = Matrix::Zero(6, 2);
  given(2, 1) = given(5, 0) = -kFloatInfinity;
  request.mask = {.given = std::make_shared<const Matrix>(given), .heads = 3};
  const std::string text = bytes_written({answered(request)}, Format::json);
  const auto object = parse_json("f", text);
  ASSERT_TRUE(object) << object.error().message();
  EXPECT_EQ((*object)["mask"],
            (json{{"kind", "heads"}, {"allowed", {{{1, 1}, {1, 1}}, {{1, 0}, {1, 1}}, {{1, 1}, {0, 1}}}}}));
  const auto file = parse_attention_json("f", text);
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(file->mask, request.mask);
}

TEST(JsonExport, OfAttentionComputedElsewhereNoWidthIsKnown) {
  const auto object = parse_json("f", bytes_written({pattern_trace(2)}, Format::json));
  ASSERT_TRUE(object) << object.error().message();
  EXPECT_EQ((*object)["model"]["num_heads"], 2);
  EXPECT_FALSE((*object)["model"].contains("d_k"));
  EXPECT_EQ((*object)["attention"][0]["attn"],
            (json{{{{0.25, 0.25, 0.25}, {0.25, 0.25, 0.25}}, {{0.25, 0.25, 0.25}, {0.25, 0.25, 0.25}}}}));
  EXPECT_EQ((*object)["key_tokens"].size(), 3u);
}

TEST(JsonExport, AnyTextInATokenStaysOneString) {
  const std::vector<std::string> texts = {
      "\"", "\\", "a\nb\t", std::string("\0", 1), "\x1f\x7f", "👨‍👩‍👧", "</script>", "\u2028", " "};
  const auto trace = trace_of(texts);
  const std::string text = bytes_written({trace}, Format::json);
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  const auto object = parse_json("f", text);
  ASSERT_TRUE(object) << object.error().message();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ((*object)["tokens"][i]["text"], texts[i]);
    EXPECT_EQ((*object)["attention"][0]["left_text"][i], texts[i]);
  }
  EXPECT_EQ(json_string("a\xFF"), "\"a\xEF\xBF\xBD\"");
}

TEST(JsonExport, WarningsAndOptionsStandOnlyWhereAsked) {
  const auto trace = trace_of({"a", "b"});
  auto warned = std::make_shared<Trace>(*trace);
  warned->warnings = {Error(ErrorCode::bad_value, "mask", "\"x\"")};
  const ExportOptions everything{.queries_keys_values = true, .scores = true};
  const auto object = parse_json("f", bytes_written({warned}, Format::json, everything));
  ASSERT_TRUE(object) << object.error().message();
  EXPECT_EQ((*object)["warnings"], (json{"mask: \"x\""}));
  EXPECT_EQ((*object)["values"][1][2][1][3].get<float>(), trace->blocks[1].self.value(1, 2 * 4 + 3));
  EXPECT_EQ((*object)["scores"][1][2][1][0].get<float>(), score_rows(*trace, {1, 2}, 1, 1)(0, 0));
  const Folder folder;
  const auto blocked = write({trace_of({"a", "b"}, true)}, Format::json, folder / "x", {.scores = true});
  ASSERT_FALSE(blocked);
  EXPECT_EQ(blocked.error().message(),
            "scores: layer 0 head 0 query 0 key 1: expected a finite number in JSON (npz and safetensors hold -inf), "
            "found -inf");
  EXPECT_TRUE(folder.empty());
}

TEST(JsonExport, AMaskComesBackFromAnExport) {
  const auto mask = parse_json_mask("f", bytes_written({trace_of({"a", "b"}, true)}, Format::json));
  ASSERT_TRUE(mask) << mask.error().message();
  ASSERT_TRUE(mask->given);
  EXPECT_EQ((*mask->given)(0, 1), -kFloatInfinity);
  EXPECT_EQ((*mask->given)(1, 0), 0.0f);
}

TEST(JsonExport, ABatchIsAListOfObjects) {
  const auto first = trace_of({"a", "b"}), second = trace_of({"c"});
  const auto object = parse_json("f", bytes_written({first, second}, Format::json));
  ASSERT_TRUE(object) << object.error().message();
  EXPECT_EQ((*object)["schema"], "headlight.attention/1");
  ASSERT_EQ((*object)["batch"].size(), 2u);
  EXPECT_EQ((*object)["batch"][0], *parse_json("f", bytes_written({first}, Format::json)));
  EXPECT_EQ((*object)["batch"][1], *parse_json("f", bytes_written({second}, Format::json)));
}

}  // namespace
}  // namespace headlight
