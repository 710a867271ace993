// The error messages for a session that cannot be read, and what is no reason to refuse one.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/session_fixture.h"
#include "base/utf8.h"
#include "session/file/session_file.h"
#include "session/update.h"

namespace headlight {
namespace {

using nlohmann::json;

/// The error message for a session with `value` at `pointer`, one line.
std::string complaint(const char* pointer, const json& value) {
  json object = json::parse(to_json(Session{}));
  object[json::json_pointer(pointer)] = value;
  const auto read = session_from_json("s.headlight.json", object.dump());
  EXPECT_FALSE(read) << pointer << " " << value;
  return read ? std::string{} : read.error().message();
}

TEST(SessionFile, ALookThatCannotBeIsNoReasonToRefuse) {
  json object = json::parse(to_json(Session{}));
  const std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();
  object["view"] = {{"sentence", huge},
                    {"layer", huge},
                    {"head", -4},
                    {"scale", 7},
                    {"fold_special", "yes"},
                    {"merge_words", 1},
                    {"pinned", {huge, huge}},
                    {"viewport", {huge, huge, "x", nullptr}}};
  const auto read = session_from_json("s.headlight.json", object.dump());
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->view.sentence, 0u) << "there is one sentence";
  EXPECT_EQ(read->view.chosen.head, 0);
  EXPECT_EQ(read->view.scale, Scale::linear);
  EXPECT_EQ(read->view.fold, FoldChoice{});
  ASSERT_TRUE(read->view.pinned);
  EXPECT_GE(read->view.pinned->query, 0);
  EXPECT_GE(read->view.viewport.first_query, 0);
  AppState state = initial_state(fixture::lexicon(), fixture::small_document(), Settings{});
  state.view = read->view;
  update(state, fixture::answer(state));
  EXPECT_FALSE(state.view.pinned);
  EXPECT_EQ(state.view.viewport, Viewport{});

  for (const json& view : {json("x"), json(3), json::array(), json(nullptr)}) {
    object["view"] = view;
    EXPECT_TRUE(session_from_json("s.headlight.json", object.dump()));
  }
}

TEST(SessionFile, CutShortAnywhereItIsOneLineThatNamesTheFile) {
  Session session;
  session.document = fixture::small_document("我\"爱😀");
  session.document.source.hand_cuts = {3};
  session.document.mask.given =
      std::make_shared<const Matrix>(Matrix::Constant(1, 3, -std::numeric_limits<float>::infinity()));
  session.document.mask.painted = {{0, 1, true}};
  session.view.pinned = CellRef{1, 1};
  const std::string whole = to_json(session);
  ASSERT_TRUE(session_from_json("s.headlight.json", whole));
  for (std::size_t size = 0; size + 2 < whole.size(); ++size) {
    const auto read = session_from_json("s.headlight.json", whole.substr(0, size));
    ASSERT_FALSE(read) << size;
    ASSERT_EQ(read.error().message().find("s.headlight.json"), 0u) << read.error().message();
    ASSERT_EQ(read.error().message().find('\n'), std::string::npos) << read.error().message();
  }
}

TEST(SessionFile, AFieldOfTheWrongKindIsNamed) {
  const std::vector<std::pair<std::string, std::vector<json>>> wrong{
      {"text", {5, nullptr, json::array()}},
      {"split", {"letters", 1}},
      {"cuts",
       {"3", json::array({"3"}), json::array({0}), json::array({3, 3}), json::array({6, 3}), json::array({1}),
        json::array({-3}), json::array({3.5}), json::array({100000})}},
      {"pad", {-1, 1.5, "2", 1000000}},
      {"arch", {"transformer", true}},
      {"d_model", {-8, "64", 1e9, std::numeric_limits<std::uint64_t>::max()}},
      {"num_heads", {0.5, json::object(), 5000}},
      {"layers", {nullptr, 1000}},
      {"ffn", {"wide", 1e7}},
      {"position", {"relative", 0}},
      {"norm", {"none", 0}},
      {"activation", {"tanh", 0}},
      {"bias", {1, "yes", json::array({"queries"}), json::array({5})}},
      {"seed", {-1, 0.5, "0"}},
      {"scale", {"big", 1e300, json::array()}},
      {"source", {5}},
      {"target", {5, nullptr}},
      {"target_cuts", {"3", json::array({0}), json::array({100000})}},
      {"ids",
       {5, "1,2", json::array({-1}), json::array({0.5}), json::array({std::numeric_limits<std::uint64_t>::max()})}},
      {"decoder_ids", {json::array({"1"})}},
      {"token_type_ids", {json::array({-1}), json::object()}},
      {"num_kv_heads", {-1, 1000}},
      {"head_dim", {"wide", 1e7}},
      {"encoder_layers", {-1, 1000}},
      {"rotary_columns", {-2, "8", 5000}},
      {"softcap", {-1, "30", 1e300}},
      {"sinks", {1, "no"}},
      {"norm_type", {"batch", 1}},
      {"gated", {1, "yes"}},
      {"tied", {0}},
      {"off",
       {5, json::array({5}), json::array({"0"}), json::array({"0.x"}), json::array({"other:0.1"}),
        json::array({"0.-1"}), json::array({"999.0"})}},
      {"off_as", {"nothing", 0}},
      {"weights",
       {5, json::array({5}), json::array({json::array({"0.0", 1, 2})}), json::array({json::array({"0.0", -1, 2, 0.5})}),
        json::array({json::array({"0", 1, 2, 0.5})}), json::array({json::array({"0.0", 1, 2, "half"})})}},
      {"dropout", {"some", -0.1, 1, 2}},
      {"dropout_seed", {-1, 0.5}},
      {"layer_edits", {5, json::array({5})}},
  };
  for (const auto& [field, values] : wrong)
    for (const json& value : values) {
      const std::string line = complaint(("/request/" + field).c_str(), value);
      EXPECT_EQ(line.find("s.headlight.json: " + field + ": expected "), 0u) << line;
      EXPECT_EQ(line.find('\n'), std::string::npos) << line;
    }
  const std::vector<std::pair<std::string, std::vector<json>>> wrong_mask{
      {"causal", {1, "yes"}},
      {"padding", {0, nullptr}},
      {"given",
       {5, json::array(), json::array({1, 2}), json::array({json::array()}),
        json::array({json::array({0, 1}), json::array({0})}), json::array({json::array({"x"})}),
        json::array({json::array({1e300})}), json::array({json::array({nullptr})})}},
      {"batch",
       {5, json::array(), json::object(), json({{"shape", {1, 2, 2}}}), json({{"shape", {1, 2}}, {"added", {0, 0}}}),
        json({{"shape", {1, 1, 2}}, {"added", {0}}}), json({{"shape", {1, 0, 2}}, {"added", json::array()}}),
        json({{"shape", {1, 1, 2}}, {"added", {0, "x"}}}), json({{"shape", {1, 1, 1}}, {"added", {1e300}}}),
        json({{"shape", {1, 1, std::uint64_t{1} << 63}}, {"added", {0}}})}},
      {"painted",
       {5, json::array({1}), json::array({json::array({1, 2})}), json::array({json::array({1, 2, -1})}),
        json::array({json::array({1, 2, 2})}), json::array({json::array({-1, 2, 1})}),
        json::array({json::array({1, std::uint64_t{1} << 63, 1})})}},
  };
  for (const auto& [field, values] : wrong_mask)
    for (const json& value : values) {
      const std::string line = complaint(("/request/mask/" + field).c_str(), value);
      EXPECT_EQ(line.find("s.headlight.json: mask." + field + ": expected "), 0u) << line;
    }
  EXPECT_EQ(complaint("/request/mask", 5).find("s.headlight.json: mask: expected"), 0u);
  EXPECT_EQ(complaint("/request", json::array()).find("s.headlight.json: request: expected"), 0u);
  EXPECT_EQ(complaint("/request/num_heads", 5),
            "s.headlight.json: model: num_heads: expected a divisor of d_model 64, found 5");
  EXPECT_NE(complaint("/request/d_model", 0).find("d_model"), std::string::npos);
}

// A mask of 100,000 × 100,000 is 40 GB.
TEST(SessionFile, TakesNoMemoryForRowsOfAMaskThatAreNotThere) {
  constexpr std::size_t kCount = 100'000;
  json rows(kCount, 0);
  rows[0] = json(kCount, 0);
  EXPECT_EQ(complaint("/request/mask/given", rows),
            "s.headlight.json: mask.given: expected rows of equal length, found 0");
  EXPECT_EQ(complaint("/request/mask/given", json::parse("[[0, 0], [0]]")),
            "s.headlight.json: mask.given: expected rows of equal length, found [0]");
}

TEST(SessionFile, ALongWrongValueIsQuotedShortAndWhole) {
  std::string long_text;
  for (int i = 0; i < 500; ++i) long_text += "我";
  for (int shift = 0; shift < 3; ++shift) {
    const std::string line = complaint("/request/pad", std::string(static_cast<std::size_t>(shift), 'a') + long_text);
    EXPECT_LT(line.size(), 250u);
    EXPECT_FALSE(first_invalid_utf8(line)) << line;
  }
}

TEST(SessionFile, AnotherSchemaIsRefused) {
  EXPECT_EQ(complaint("/schema", "headlight.session/9"),
            R"(s.headlight.json: schema: expected headlight.session/1, found "headlight.session/9")");
  for (const char* text : {"[]", "5", "{}", R"({"schema": 1})", R"({"schema": "headlight.session/1"})"}) {
    const auto read = session_from_json("s.headlight.json", text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().message().find("s.headlight.json: "), 0u);
  }
}

TEST(SessionFile, LayersOfTheirOwnAreCheckedLikeTheRest) {
  const std::vector<std::pair<json, std::string>> wrong{
      {{{"layer", 1}}, "stack"},
      {{{"stack", "middle"}, {"layer", 1}}, "stack"},
      {{{"stack", "self"}, {"layer", -1}}, "layer"},
      {{{"stack", "self"}, {"layer", 1}, {"scale", "big"}}, "scale"},
      {{{"stack", "self"}, {"layer", 1}, {"off", "norm"}}, "off"},
      {{{"stack", "self"}, {"layer", 1}, {"off", {"head"}}}, "off"},
      {{{"stack", "self"}, {"layer", 1}, {"off", {5}}}, "off"},
      {{{"stack", "cross"}, {"layer", 1}, {"off", {"norm"}}}, "off"},
      {{{"stack", "self"}, {"layer", 1}, {"mask", 5}}, "mask"},
      {{{"stack", "self"}, {"layer", 1}, {"mask", {{"causal", 5}}}}, "mask.causal"}};
  for (const auto& [value, field] : wrong) {
    const std::string line = complaint("/request/layer_edits", json::array({value}));
    EXPECT_EQ(line.find("s.headlight.json: layer_edits.0." + field + ": expected "), 0u) << line;
  }
}

}  // namespace
}  // namespace headlight
