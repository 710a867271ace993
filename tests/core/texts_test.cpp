// The texts of the diagnosis: every mistake, note and line of a report in both languages.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "diagnose/slips.h"
#include "diagnose/texts.h"

namespace headlight {
namespace {

std::vector<MistakeCode> all_texts() {
  std::vector<MistakeCode> all(kMistakes.begin(), kMistakes.end());
  all.insert(all.end(), kPhrases.begin(), kPhrases.end());
  return all;
}

std::size_t gaps_of(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = text.find("{}"); at != std::string_view::npos; at = text.find("{}", at + 2)) ++count;
  return count;
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// Words of English in a Chinese text that are no names of code, numbers or formulas.
std::string english_words_of(std::string_view text) {
  const std::set<std::string> names{"A",
                                    "ALiBi",
                                    "B",
                                    "CUDA",
                                    "H",
                                    "Headlight",
                                    "MiB",
                                    "NaN",
                                    "TF32",
                                    "T",
                                    "and",
                                    "batch",
                                    "calls",
                                    "check",
                                    "compile",
                                    "d_k",
                                    "d_model",
                                    "dropout",
                                    "export",
                                    "float32",
                                    "functorch",
                                    "headlight",
                                    "heads",
                                    "inf",
                                    "jit",
                                    "keep",
                                    "keepdim",
                                    "k",
                                    "logit",
                                    "meta",
                                    "numpy",
                                    "p",
                                    "q",
                                    "repeat_interleave",
                                    "show",
                                    "sink",
                                    "T5",
                                    "Gemma",
                                    "sliding_window",
                                    "softmax",
                                    "torch",
                                    "vmap",
                                    "x",
                                    "W",
                                    "c",
                                    "d"};
  std::string word, foreign;
  for (const char c : std::string(text) + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
      word += c;
      continue;
    }
    if (!word.empty() && !names.contains(word) && !std::isdigit(static_cast<unsigned char>(word[0])))
      foreign += word + " ";
    word.clear();
  }
  return foreign;
}

TEST(Texts, TheTableHasTheNamesOfTheHeaderAlone) {
  std::set<std::string_view> names;
  for (const MistakeCode& one : all_texts()) EXPECT_TRUE(names.insert(one.name).second) << one.name;
  std::size_t rows = 0;
  const auto document = nlohmann::json::parse(texts_json());
  for (const auto& [part, texts] : document.items())
    for (const auto& [name, row] : texts.items()) {
      EXPECT_TRUE(names.contains(name)) << name;
      EXPECT_EQ(row.size(), 2u) << name;
      ++rows;
    }
  EXPECT_EQ(rows, names.size());
}

TEST(Texts, EachIsThereInBothLanguages) {
  for (const MistakeCode& one : all_texts()) {
    const Bilingual gaps = words(one, "{}", "{}", "{}");
    const std::string &en = gaps.en, &zh = gaps.zh;
    EXPECT_NE(en, "") << one.name;
    EXPECT_NE(zh, "") << one.name;
    EXPECT_EQ(gaps_of(en), gaps_of(zh)) << one.name;
    const bool bare = gaps_of(en) > 0 && english_words_of(en) == "of ";  // "of {}"
    EXPECT_TRUE(bare || !is_ascii(zh)) << one.name << ": " << zh;
    EXPECT_EQ(english_words_of(zh), "") << one.name << ": " << zh;
    const Bilingual filled = words(one, "1", "2", "3");
    EXPECT_EQ(gaps_of(filled.en) + gaps_of(filled.zh), 0u) << one.name;
    EXPECT_EQ(text_named(one.name)->name, one.name);
  }
  EXPECT_FALSE(text_named("none"));
}

TEST(Texts, EverySlipHasBoth) {
  for (const SlipRow& row : slips()) {
    const Bilingual& text = row.text;
    EXPECT_NE(text.en, text.zh);
    for (const char* english : {"query", "key", "value", "output", " of "})
      EXPECT_EQ(text.zh.find(english), std::string::npos) << text.zh;
  }
}

TEST(Texts, GapsAreFilledInOrder) {
  EXPECT_EQ(words(mistakes::positions_offset, "-2", "0"),
            Bilingual("positions of query 0 and key 0 are not as far apart as their rows: -2 found, 0 expected",
                      "查询 0 与键 0 的位置之差和它们的行不符：得到 -2，应为 0"));
  EXPECT_EQ(words(phrases::explains, "output", "1e-07", "0.5"),
            Bilingual("explains output to within 1e-07, of a difference of 0.5",
                      "能解释 output：只剩下 1e-07，原来的差别是 0.5"));
  EXPECT_EQ(words(mistakes::scale_constant, "{}").en, "scores multiplied by {}") << "a gap of a part stays";
  EXPECT_EQ(words(mistakes::dropout_left_on).en, "dropout left on");
  EXPECT_EQ(translated("the keys and the queries"), Bilingual("the keys and the queries", "键和查询"));
  EXPECT_EQ(translated("W_q"), Bilingual("W_q"));
}

TEST(Texts, EveryCodeStandsInTheDocument) {
  const auto project = std::filesystem::path(HEADLIGHT_TEST_DATA).parent_path();
  const auto document = read_file(project / "docs" / "check-your-attention.md");
  ASSERT_TRUE(document);
  for (const MistakeCode& one : kMistakes)
    EXPECT_NE(document->find("`" + std::string(one.name) + "`"), std::string::npos) << one.name;
}

}  // namespace
}  // namespace headlight
