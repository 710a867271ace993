#include "text/likely_words.h"

#include <gtest/gtest.h>

#include <map>

#include <algorithm>

#include "base/random.h"
#include "base/utf8.h"
#include "core/tokenizing.h"
#include "text/words.h"

namespace headlight::likely_words_test {
namespace {

using nlohmann::json;
using Texts = std::vector<std::string>;

json costs() {
  return json::array({json::array({3, "的 我 了 是"}), json::array({5, "北京 一个 学生 人 大 学"}),
                      json::array({8, "大学 大学生 生 图书馆 图书 馆"})});
}

const LikelyWords& words() {
  static const LikelyWords list({{"的", 3},
                                 {"我", 3},
                                 {"了", 3},
                                 {"是", 3},
                                 {"北京", 5},
                                 {"一个", 5},
                                 {"学生", 5},
                                 {"人", 5},
                                 {"大", 5},
                                 {"学", 5},
                                 {"大学", 8},
                                 {"大学生", 8},
                                 {"生", 8},
                                 {"图书馆", 8},
                                 {"图书", 8},
                                 {"馆", 8}});
  return list;
}

/// The pieces between the cuts, white space as one too.
Texts cut(std::string_view text, const LikelyWords& list = words()) {
  Texts pieces;
  std::size_t begin = 0;
  std::vector<std::size_t> cuts = list.cuts(text);
  cuts.push_back(text.size());
  for (const std::size_t end : cuts) {
    EXPECT_LT(begin, end) << text;
    pieces.emplace_back(text.substr(begin, end - begin));
    begin = end;
  }
  return pieces;
}

TEST(LikelyWords, GivesItsWordsAsTheyCount) {
  const LikelyWords list({{"的", 3}, {"北京", 5.00001}, {"的", 4}});
  const LikelyWords later([] { return std::vector<LikelyWords::Word>{{"的", 3}, {"北京", 5.00001}, {"的", 4}}; });
  for (const LikelyWords* one : {&list, &later}) {
    std::map<std::string, double> costs;
    for (const LikelyWords::Word& word : one->words())
      EXPECT_TRUE(costs.emplace(word.text, word.cost).second) << word.text;
    EXPECT_EQ(costs, (std::map<std::string, double>{{"的", 4}, {"北京", 5}}));
  }
  // … and a list of them cuts as it does.
  const LikelyWords again(words().words());
  for (const std::string text : {"我是一个大学生", "北京大学的图书馆", "他了"})
    EXPECT_EQ(again.cuts(text), words().cuts(text));
}

TEST(LikelyWords, CutEnglishAtSpacesMarksAndClitics) {
  EXPECT_EQ(cut("The cat sat."), (Texts{"The", " ", "cat", " ", "sat", "."}));
  EXPECT_EQ(cut("didn't can't WON'T"), (Texts{"did", "n't", " ", "ca", "n't", " ", "WO", "N'T"}));
  EXPECT_EQ(cut("didn’t it’s dog's they'll I’m"),
            (Texts{"did", "n’t", " ", "it", "’s", " ", "dog", "'s", " ", "they", "'ll", " ", "I", "’m"}));
  EXPECT_EQ(cut("cannot Cannot"), (Texts{"can", "not", " ", "Can", "not"}));
  EXPECT_EQ(cut("dogs' o'clock"), (Texts{"dogs", "'", " ", "o'clock"}));
  EXPECT_EQ(cut("'quoted'"), (Texts{"'", "quoted", "'"}));
  EXPECT_EQ(cut("well-known"), (Texts{"well", "-", "known"}));
  EXPECT_EQ(cut("3.14, 10:30 1,000. a.b"), (Texts{"3.14", ",", " ", "10:30", " ", "1,000", ".", " ", "a", ".", "b"}));
  EXPECT_EQ(cut("Wait... what?! ((x))"), (Texts{"Wait", "...", " ", "what", "?", "!", " ", "(", "(", "x", ")", ")"}));
  EXPECT_EQ(cut("naïve café"), (Texts{"naïve", " ", "café"}));
}

TEST(LikelyWords, CutChineseAlongTheCheapestPath) {
  EXPECT_EQ(cut("我是一个学生。"), (Texts{"我", "是", "一个", "学生", "。"}));
  EXPECT_EQ(cut("大学生"), (Texts{"大学生"})) << "8 is less than 大 学生, 10";
  EXPECT_EQ(cut("大学"), (Texts{"大学"})) << "8 is less than 大 学, 10";
  EXPECT_EQ(cut("图书馆"), (Texts{"图书馆"}));
  EXPECT_EQ(cut("我爱北京"), (Texts{"我", "爱", "北京"})) << "爱 is not in the list";
  EXPECT_EQ(cut("我爱爱我"), (Texts{"我", "爱", "爱", "我"}));
  EXPECT_EQ(cut("……——"), (Texts{"……", "——"}));
  EXPECT_EQ(cut("我love北京2024年"), (Texts{"我", "love", "北京", "2024", "年"}));
}

TEST(LikelyWords, AreReadOnceAndOnlyForChinese) {
  int times = 0;
  const LikelyWords late([&times] {
    ++times;
    return std::vector<LikelyWords::Word>{{"天", 4}, {"地", 5}, {"天地", 7.5}};
  });
  EXPECT_EQ(cut("the sky", late).size(), 3u);
  EXPECT_EQ(times, 0);
  EXPECT_EQ(cut("天地地", late), (Texts{"天地", "地"}));
  EXPECT_EQ(cut("地天地", late), (Texts{"地", "天地"}));
  EXPECT_EQ(times, 1);
}

TEST(LikelyWords, LeaveOtherScriptsToICU) {
  const Texts thai = cut("ภาษาไทย");
  EXPECT_EQ(thai.size(), 2u);
  EXPECT_EQ(cut("Привет мир"), (Texts{"Привет", " ", "мир"}));
  EXPECT_EQ(cut("👍🏽a"), (Texts{"👍🏽", "a"}));
}

/// Every sum of the list's costs, by trying all ways.
double cheapest(std::u32string_view text, const std::vector<LikelyWords::Word>& list) {
  if (text.empty()) return 0;
  double best = 1e9;
  bool one = false;
  for (const auto& [word, cost] : list) {
    const std::vector<char32_t> codes = code_points(word);
    if (!text.starts_with(std::u32string_view(codes.data(), codes.size()))) continue;
    one = one || codes.size() == 1;
    best = std::min(best, cost + cheapest(text.substr(codes.size()), list));
  }
  if (!one) best = std::min(best, 8 + 2 + cheapest(text.substr(1), list));
  return best;
}

TEST(LikelyWords, NoOtherWayIsCheaper) {
  const std::vector<LikelyWords::Word> list = {{"天", 4},   {"地", 5},     {"天地", 7.5}, {"人", 4},
                                               {"地人", 6}, {"天地人", 8}, {"人天", 5.25}};
  const LikelyWords likely(list);
  const std::u32string letters = U"天地人和";
  headlight::Random random(3);
  for (int round = 0; round < 300; ++round) {
    std::u32string text;
    for (std::uint64_t n = 1 + random.next() % 8; n > 0; --n) text += letters[random.next() % letters.size()];
    std::string bytes;
    for (const char32_t c : text) append_utf8(bytes, c);
    double cost = 0;
    for (const std::string& piece : cut(bytes, likely)) {
      const auto known = std::find_if(list.begin(), list.end(), [&](const auto& word) { return word.text == piece; });
      cost += known == list.end() ? 10 : known->cost;
    }
    EXPECT_NEAR(cost, cheapest(text, list), 1e-9) << bytes;
  }
}

json word_pieces() {
  json vocabulary = json::object();
  for (const char* word :
       {"<pad>", "<s>", "<mask>", "<unk>", "the", "un", "##ing", "##t",  "##r", "##u", "##e",    "##n",    "t",     "r",
        "u",     "e",   "n",      "n't",   "did", ".",  "我",    "北京", "机",  "票",  "<0xE9>", "<0xBE>", "<0x98>"})
    vocabulary[word] = vocabulary.size();
  return {
      {"version", "1.0"},
      {"normalizer", {{"type", "Lowercase"}}},
      {"pre_tokenizer", {{"type", "Words"}, {"costs", costs()}}},
      {"model", {{"type", "WordPiece"}, {"vocab", vocabulary}, {"unk_token", "<unk>"}, {"character_fallback", true}}}};
}

TEST(WordPieces, SpellEveryLatinAndChineseWord) {
  const Tokenizer tokenizer = tokenizer_of(word_pieces());
  const auto spelt = [&](std::string_view text) { return raws(tokens_of_text(tokenizer, text)); };
  EXPECT_EQ(spelt("The true"), (Texts{"the", "t", "##r", "##u", "##e"}));
  EXPECT_EQ(spelt("didn't"), (Texts{"did", "n't"}));
  EXPECT_EQ(spelt("unting"), (Texts{"un", "##t", "##ing"}));
  EXPECT_EQ(spelt("北京机票"), (Texts{"北京", "机", "票"}));
  EXPECT_EQ(spelt("龘"), (Texts{"<0xE9>", "<0xBE>", "<0x98>"})) << "a character without a row by its bytes";
  EXPECT_EQ(spelt("Жизнь"), (Texts{"<unk>"})) << "letters of other scripts are unknown, the word once";
  EXPECT_EQ(spelt("tЖЖt"), (Texts{"t", "<unk>", "##t"}));
}

TEST(WordPieces, KnowWhichPiecesAreOneWordAndShowTheCaseOfTheText) {
  const Tokenizer tokenizer = tokenizer_of(word_pieces());
  const Tokens tokens = tokens_of_text(tokenizer, "The True didn't 我我");
  EXPECT_EQ(texts(tokens), (Texts{"The", "T", "r", "u", "e", "did", "n't", "我", "我"}));
  EXPECT_TRUE(tokens.has_words);
  EXPECT_EQ(word_numbers(tokens), (std::vector<std::size_t>{0, 1, 1, 1, 1, 2, 3, 4, 5}))
      << "did and n't are two words, though Unicode sees one";
  const auto known = each(tokens, [](const Token& token) { return token.known; });
  EXPECT_EQ(std::count(known.begin(), known.end(), false), 0);
}

TEST(WordPieces, CutByHandAreWordsOfTheirOwn) {
  const Tokenizer tokenizer = tokenizer_of(word_pieces());
  EXPECT_TRUE(finds_words(tokenizer));
  const auto tokens = encode_pieces(tokenizer, "北京机票", {3}, false);
  ASSERT_TRUE(tokens);
  EXPECT_EQ(word_numbers(*tokens).back(), 1u);
}

TEST(WordPieces, OfAFileThatIsWrongAreRefusedInOneLine) {
  json bad = word_pieces();
  const auto says = [&](const json& wrong, const std::string& part) {
    bad["pre_tokenizer"]["costs"] = wrong;
    EXPECT_NE(refused_json(bad).find(part), std::string::npos) << refused_json(bad);
  };
  says(json::array({json::array({-1, "我"})}), "a cost of 0 to 100");
  says(json::array({json::array({"3", "我"})}), "a cost of 0 to 100");
  says(json::array({json::array({3, "我  你"})}), "one space between them");
  std::string endless;
  for (int i = 0; i < 65; ++i) endless += "我";
  says(json::array({json::array({3, endless})}), "words of 1 to 64 characters");
  says(json::array({3}), "a cost of 0 to 100");
  json words_alone = word_pieces();
  words_alone["pre_tokenizer"].erase("costs");
  EXPECT_NE(refused_json(words_alone).find("Words without costs"), std::string::npos);
}

TEST(WordPieces, HaveAWordOfTheUsersOwnListLaidOverThem) {
  Lexicon lexicon = *parse_lexicon("own", "李雷\n");
  lexicon.likely = std::make_shared<const LikelyWords>(words());
  const std::string text = "我 和李雷 是人";
  std::vector<std::string> pieces;
  for (const Token& token : tokens_between(text, cut_points(text, Split::words, lexicon)).tokens)
    pieces.push_back(token.text);
  EXPECT_EQ(pieces, (Texts{"我", "和", "李雷", "是", "人"}));
}

}  // namespace
}  // namespace headlight::likely_words_test
