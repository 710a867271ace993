// Malicious checkpoint folders: one clear line each, in a bounded time, and nothing is written. What single files may
// do wrong is in read_test.cpp (headers, offsets, overlaps, products of sizes, duplicate keys, deep nesting, zip
// bombs), weight_files_test.cpp (shards), tokenizer_file_test.cpp (ids, merges) and checkpoint_test.cpp (not a number).
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <limits>
#include <set>

#include "core/checkpoints.h"
#include "diagnose/check/checkpoint_check.h"
#include "read/tokenizer/tokenizer_json.h"
#include "text/pattern.h"

namespace headlight {
namespace {

using namespace checkpoints;
using nlohmann::json;

class HostileCheckpoint : public testing::Test {
 protected:
  HostileCheckpoint()
      : folder_(std::filesystem::path(testing::TempDir()) /
                (std::string("hostile_") + testing::UnitTest::GetInstance()->current_test_info()->name())) {
    take("llama-gqa");
  }
  ~HostileCheckpoint() override { std::filesystem::remove_all(folder_); }

  void take(const std::string& golden) const {
    std::filesystem::remove_all(folder_);
    std::filesystem::copy(kGolden / golden, folder_);
    std::filesystem::remove(folder_ / "expected.npz");
  }
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  /// The one line of a refusal; a failure where there is none, or where it took long.
  std::string refusal() const {
    const auto begin = std::chrono::steady_clock::now();
    const auto checkpoint = read_checkpoint(folder_);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
    EXPECT_FALSE(checkpoint);
    if (checkpoint) return {};
    EXPECT_EQ(checkpoint.error().message().find('\n'), std::string::npos);
    EXPECT_LT(checkpoint.error().message().size(), 1000u);
    return checkpoint.error().message();
  }
  json config() const { return *parse_json("", *read_file(folder_ / "config.json")); }

  std::filesystem::path folder_;
};

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

void expect_regex_refused(const std::string& pattern, std::string_view says) {
  const auto regex = Regex::compile("t", pattern);
  ASSERT_FALSE(regex);
  EXPECT_TRUE(contains(regex.error().message(), says)) << regex.error().message();
}

std::string hostile_safetensors(const std::string& header, const std::string& data) {
  std::string bytes(8, '\0');
  const std::uint64_t size = header.size();
  std::memcpy(bytes.data(), &size, sizeof size);
  return bytes + header + data;
}

TEST_F(HostileCheckpoint, SizesThatNoMachineHoldsAreRefusedBeforeAnythingIsMadeOfThem) {
  const json good = config();
  for (const char* key : {"hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size", "intermediate_size",
                          "max_position_embeddings", "num_key_value_heads"}) {
    for (const json& value : {json(std::numeric_limits<std::uint64_t>::max()), json(1e300), json(-1),
                              json(std::numeric_limits<std::int64_t>::max())}) {
      json changed = good;
      changed[key] = value;
      write("config.json", changed.dump());
      EXPECT_TRUE(contains(refusal(), key)) << key << " " << value;
    }
  }
}

TEST_F(HostileCheckpoint, AHeaderFullOfTensorsThatAreNotThereEndsAtOnce) {
  std::string header = "{";
  for (int i = 0; i < 20'000; ++i)
    header += (i > 0 ? "," : "") + std::string("\"t") + std::to_string(i) +
              R"(":{"dtype":"F32","shape":[262144,1048576],"data_offsets":[0,1099511627776]})";
  write("model.safetensors", hostile_safetensors(header + "}", ""));
  EXPECT_TRUE(contains(refusal(), "data_offsets: expected an end within the 0 bytes of data"));
}

TEST_F(HostileCheckpoint, EmptyTensorsWithoutEndAreOnlyCounted) {
  std::string header = "{";
  for (int i = 0; i < 20'000; ++i)
    header += (i > 0 ? "," : "") + std::string("\"t") + std::to_string(i) +
              R"(":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  write("model.safetensors", hostile_safetensors(header + "}", ""));
  EXPECT_TRUE(contains(refusal(), "embed_tokens.weight: expected a tensor (47, 24), found none"));
}

TEST_F(HostileCheckpoint, AWeightThatIsNoNumberIsNamedWithItsPlace) {
  const auto path = folder_ / "model.safetensors";
  const auto good = *read_file(path);
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::string bytes = good;
    std::memcpy(bytes.data() + bytes.size() - sizeof bad, &bad, sizeof bad);
    write("model.safetensors", bytes);
    EXPECT_TRUE(contains(refusal(), "]: expected a finite number, found ")) << refusal();
  }
}

TEST_F(HostileCheckpoint, ARegularExpressionWithoutEndIsToldAndNotWaitedFor) {
  for (const char* pattern : {"(a+)+$", "(a|aa)+$", "(a|a)*b", "(.*a){20}b", "((a*)*)*b"}) {
    const json file = {
        {"pre_tokenizer",
         {{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}}},
        {"model", {{"type", "WordLevel"}, {"vocab", {{"a", 0}}}, {"unk_token", "a"}}}};
    const auto parsed = parse_tokenizer_json("tokenizer.json", file.dump());
    ASSERT_TRUE(parsed) << parsed.error().message();
    const auto begin = std::chrono::steady_clock::now();
    const auto tokens = encode(parsed->tokenizer, std::string(3000, 'a') + "!", true);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(120)) << pattern;
    if (tokens) continue;  // ICU may see through some of them
    EXPECT_TRUE(
        contains(tokens.error().message(), "regular expression: expected an answer in a bounded time and memory"))
        << tokens.error().message();
  }
  const json worst = {
      {"pre_tokenizer",
       {{"type", "Split"}, {"pattern", {{"Regex", "(a+)+$"}}}, {"behavior", "Isolated"}, {"invert", false}}},
      {"model", {{"type", "WordLevel"}, {"vocab", {{"a", 0}}}, {"unk_token", "a"}}}};
  EXPECT_FALSE(encode(parse_tokenizer_json("t", worst.dump())->tokenizer, std::string(3000, 'a') + "!", true));
}

TEST_F(HostileCheckpoint, RegularExpressionsHaveOneBudgetForAText) {
  const json split = {
      {"type", "Split"}, {"pattern", {{"Regex", "(a|a)*$"}}}, {"behavior", "Isolated"}, {"invert", false}};
  const json file = {
      {"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", json::array({{{"type", "WhitespaceSplit"}}, split})}}},
      {"model", {{"type", "WordLevel"}, {"vocab", {{"a", 0}}}, {"unk_token", "a"}}}};
  const auto parsed = parse_tokenizer_json("tokenizer.json", file.dump());
  ASSERT_TRUE(parsed) << parsed.error().message();
  std::string text;
  for (int word = 0; word < 2000; ++word) text += "aaaaaaaaaaaaaaaaaaab ";
  const auto tokens = encode(parsed->tokenizer, text, true);
  ASSERT_FALSE(tokens) << "each word alone takes a moment";
  EXPECT_TRUE(
      contains(tokens.error().message(), "regular expression: expected an answer in a bounded time and memory"));
  EXPECT_TRUE(encode(parsed->tokenizer, "aab b", true)) << "the next text has a budget of its own";
  std::string boundaries;
  for (int i = 0; i < 10'000; ++i) boundaries += "\\b";
  expect_regex_refused(boundaries, "at most 65536 bytes once translated");
}

TEST_F(HostileCheckpoint, AWordOfAVocabularyHasALongestLength) {
  const std::string fits(1024, 'a'), longer(1025, 'a');
  const auto parsed = [](const json& model) { return parse_tokenizer_json("t", json{{"model", model}}.dump()); };
  for (const std::string& word : {fits, longer}) {
    const bool good = word == fits;
    const auto pieces = parsed({{"type", "WordPiece"}, {"vocab", {{"[UNK]", 0}, {word, 1}}}, {"unk_token", "[UNK]"}});
    const auto unigram = parsed(
        {{"type", "Unigram"}, {"vocab", json::array({json::array({"x", 0}), json::array({word, -1})})}, {"unk_id", 0}});
    for (const auto* one : {&pieces, &unigram}) {
      EXPECT_EQ(static_cast<bool>(*one), good);
      if (!good && !*one) { EXPECT_TRUE(contains(one->error().message(), "words of at most 1024 bytes")); }
    }
  }
}

TEST_F(HostileCheckpoint, AVocabularyOfOneFarIdTakesLittle) {
  const auto parsed =
      parse_tokenizer_json("t", R"({"model":{"type":"WordLevel","vocab":{"a":2097151},"unk_token":"a"}})");
  ASSERT_TRUE(parsed) << parsed.error().message();
  const auto tokens = encode(parsed->tokenizer, "a", false);
  ASSERT_TRUE(tokens);
  EXPECT_EQ(tokens->tokens[0].id, 2097151);
  EXPECT_FALSE(parse_tokenizer_json("t", R"({"model":{"type":"WordLevel","vocab":{"a":2097152},"unk_token":"a"}})"));
}

TEST_F(HostileCheckpoint, TheCheckTellsABrokenReferenceAndWritesNothing) {
  write("reference.npz", "PK\x03\x04 and no archive");
  const auto names = [this] {
    std::set<std::string> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_)) all.insert(entry.path().string());
    return all;
  };
  const auto before = names();
  Progress progress;
  const auto findings = check_checkpoint(folder_, progress);
  EXPECT_EQ(gravest(findings), Severity::error);
  EXPECT_FALSE(agrees_with_reference(findings));
  EXPECT_TRUE(contains(findings.back().line, "reference.npz")) << findings.back().line;
  EXPECT_EQ(names(), before);
}

}  // namespace
}  // namespace headlight
