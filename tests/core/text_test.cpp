// Cutting text: nothing is ever lost, nothing is cut inside a character, and the tutorials' sentences are cut as the
// tutorials cut them.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/random.h"
#include "base/utf8.h"
#include "text/words.h"

namespace headlight::text_test {
namespace {

using namespace std::string_literals;

using Texts = std::vector<std::string>;

const Lexicon& shipped() {
  static const Lexicon lexicon = [] {
    const auto path = std::filesystem::path(HEADLIGHT_TEST_DATA).parent_path() / "assets" / "lexicon.txt";
    const auto text = read_file(path);
    EXPECT_TRUE(text) << text.error().message();
    const auto parsed = parse_lexicon(path.string(), *text);
    EXPECT_TRUE(parsed) << parsed.error().message();
    return *parsed;
  }();
  return lexicon;
}

Lexicon lexicon_of(std::string_view lines) {
  const auto lexicon = parse_lexicon("lexicon", lines);
  EXPECT_TRUE(lexicon) << lexicon.error().message();
  return *lexicon;
}

Texts raw_texts(const Tokens& tokens) {
  Texts result;
  for (const Token& token : tokens.tokens) result.push_back(token.raw);
  return result;
}

/// The words as they stand in the text, spaces included.
Texts words(std::string_view text, const Lexicon& lexicon) {
  return raw_texts(tokens_between(std::string(text), cut_points(text, Split::words, lexicon)));
}
Texts characters(std::string_view text) {
  return raw_texts(tokens_between(std::string(text), cut_points(text, Split::characters, {})));
}

/// Whether all of it is white space (the property White_Space, PropList.txt).
bool is_space(std::string_view text) {
  constexpr std::u32string_view spaces = U" \t\n\v\f\r\u0085\u00A0\u1680\u2028\u2029\u202F\u205F\u3000";
  const std::vector<char32_t> points = code_points(text);
  return std::all_of(points.begin(), points.end(),
                     [&](char32_t c) { return spaces.find(c) != spaces.npos || (c >= 0x2000 && c <= 0x200A); });
}

/// What holds for every text and every way to cut it.
void expect_lossless(const std::string& text, Split split, const Lexicon& lexicon) {
  SCOPED_TRACE(testing::PrintToString(text.substr(0, 200)) + (split == Split::words ? " words" : " characters"));
  const std::vector<std::size_t> cuts = cut_points(text, split, lexicon);
  ASSERT_TRUE(are_cuts(text, cuts));
  const Tokens tokens = tokens_between(text, cuts);
  EXPECT_EQ(tokens.text, text);
  ASSERT_EQ(tokens.size(), text.empty() ? 0 : cuts.size() + 1);
  std::string joined;
  for (const Token& token : tokens.tokens) {
    ASSERT_EQ(token.begin, joined.size());
    ASSERT_LT(token.begin, token.end);
    joined += token.raw;
    ASSERT_EQ(token.end, joined.size());
    ASSERT_EQ(first_invalid_utf8(token.raw), std::nullopt);
    ASSERT_TRUE(token.raw.ends_with(token.text));
    ASSERT_FALSE(token.text.empty());
    ASSERT_TRUE(is_space(std::string_view(token.raw).substr(0, token.raw.size() - token.text.size())));
    ASSERT_EQ(token.id, hashed_id(token.text));
    ASSERT_TRUE(token.known && !token.special && !token.pad);
  }
  EXPECT_EQ(joined, text);
  if (split == Split::words) {
    const std::vector<std::size_t> clusters = cut_points(text, Split::characters, lexicon);
    EXPECT_TRUE(std::includes(clusters.begin(), clusters.end(), cuts.begin(), cuts.end()));
  }
  if (text.empty()) return;
  const auto parsed = parse_marked_tokens("tokens", mark_tokens(text, cuts));
  ASSERT_TRUE(parsed) << parsed.error().message();
  EXPECT_EQ(*parsed, (MarkedText{text, cuts}));
}

constexpr const char* kDefault = "我请李雷帮我订了去北京的机票";
const Texts kTen = {"我", "请", "李雷", "帮", "我", "订了", "去", "北京", "的", "机票"};

TEST(Words, TheDefaultSentenceHasExactlyTenTokens) { EXPECT_EQ(words(kDefault, shipped()), kTen); }

TEST(Words, ChineseIsCutAlongTheLikeliestPathThatPrefersTheLexicon) {
  Lexicon lexicon = with_words({}, {"他", "我", "司机", "关了", "图书馆"});
  const std::vector<LikelyWords::Word> list{
      {"要", 6},   {"走", 7}, {"了", 4.25}, {"告诉", 8}, {"是", 4.25}, {"派", 8},   {"机关", 8},   {"派司", 9},
      {"图书", 8}, {"馆", 9}, {"他", 4},    {"我", 4},   {"司机", 4},  {"关了", 4}, {"图书馆", 4}, {"日本", 7}};
  lexicon.likely = std::make_shared<const LikelyWords>(list);
  EXPECT_EQ(words("他告诉我，他要走了。", lexicon), (Texts{"他", "告诉", "我", "，", "他", "要", "走", "了", "。"}));
  EXPECT_EQ(words("派司机关了图书馆", lexicon), (Texts{"派", "司机", "关了", "图书馆"}));
  EXPECT_EQ(words("the cat didn't 我是 3.5 cats", lexicon),
            (Texts{"the", " cat", " didn't", " 我", "是", " 3.5", " cats"}));
  EXPECT_EQ(words("食べる", lexicon), words("食べる", Lexicon{}));
  EXPECT_EQ(words("日本語のテキスト", lexicon), words("日本語のテキスト", Lexicon{})) << "ICU's dictionary beside kana";
  for (const char* text : {"他告诉我，他要走了。", "食べる我", "我 是a他", "我\u3099是"})
    expect_lossless(text, Split::words, lexicon);
}

// Every word of these sentences is in the lexicon, so the dictionary of another ICU version does not matter.
TEST(Words, TheTutorialsSentencesAreCutByTheLexiconAlone) {
  const Texts sentences[] = {
      kTen,
      {"那个",     "小猫", "，",   "它", "昨天", "在", "公园", "里", "追逐", "一只", "蝴蝶",   "，", "玩得",
       "不亦乐乎", "，",   "结果", "把", "晚餐", "都", "忘了", "，", "现在", "它",   "饿坏了", "。"},
      {"那只", "动物", "没有", "过", "马路", "，", "因为", "它", "太", "累了", "。"},
      {"那只", "动物", "没有", "过", "马路", "，", "因为", "它", "太", "宽了", "。"},
      {"人人", "为", "我", "，", "我", "为", "人人", "。"},
      {"猫", "追", "老鼠", "，", "狗", "追", "猫", "。"},
      {"我", "爱"},
      {"我", "爱", "北京", "天安门"},
      {"韩梅梅", "请", "我", "帮", "李雷", "订了", "去", "上海", "的", "火车票"},
      {"小明", "把", "书", "还给了", "图书馆"},
      {"猫", "坐", "在", "垫子", "上", "。"},
  };
  for (const Texts& sentence : sentences) {
    std::string text;
    for (const std::string& word : sentence) {
      text += word;
      EXPECT_TRUE(word == "，" || word == "。" || shipped().words.contains(word)) << word;
    }
    EXPECT_EQ(words(text, shipped()), sentence);
  }
}

TEST(Words, TheShippedLexiconDoesNotTakeCommonWordsApart) {
  EXPECT_EQ(words("他是不是不过看看", shipped()), (Texts{"他", "是不是", "不过", "看看"}));
  EXPECT_EQ(words("过去", shipped()), Texts{"过去"});
  EXPECT_EQ(words("预订了", shipped()), Texts{"预订了"});
  EXPECT_EQ(words("火车站", shipped()), words("火车站", {}));
}

TEST(Words, SentencesWithSpacesKeepThemBeforeTheWord) {
  EXPECT_EQ(words("The animal didn't cross the street because it was too tired.", shipped()),
            (Texts{"The", " animal", " didn't", " cross", " the", " street", " because", " it", " was", " too",
                   " tired", "."}));
  EXPECT_EQ(words("  two  spaces ", {}), (Texts{"  two", "  spaces", " "}));
  EXPECT_EQ(words("a\tb\n\nc\r\n", {}), (Texts{"a", "\tb", "\n\nc", "\r\n"}));
  EXPECT_EQ(words(" \t\n ", {}), Texts{" \t\n "});
  EXPECT_EQ(words("我　请", shipped()), (Texts{"我", "　请"}));  // the ideographic space
  EXPECT_EQ(words("10\u202F000\u202F", {}), (Texts{"10\u202F000", "\u202F"}));
  EXPECT_EQ(words(" , ", {}), (Texts{" ,", " "}));
}

TEST(Words, MarksAndEmojiAreTokens) {
  EXPECT_EQ(words("我 love 北京 🧋, see you 明天 👋🏽!", shipped()),
            (Texts{"我", " love", " 北京", " 🧋", ",", " see", " you", " 明天", " 👋🏽", "!"}));
  EXPECT_EQ(words("👨‍👩‍👧‍👦🇨🇳🇩🇪", {}), (Texts{"👨‍👩‍👧‍👦", "🇨🇳", "🇩🇪"}));
  EXPECT_EQ(words("“你好”……", {}), (Texts{"“", "你好", "”", "…", "…"}));
  EXPECT_EQ(words("𝔘𝔫𝔦 3.14%", {}), (Texts{"𝔘𝔫𝔦", " 3.14", "%"}));
}

// What versions of ICU cut in different ways is pinned.
TEST(Words, SignsThatVersionsOfIcuDisagreeAboutAreCutAlike) {
  EXPECT_EQ(words("hi @user, a@b.c", {}), (Texts{"hi", " @user", ",", " a@b.c"}));
  EXPECT_EQ(words("x:y 12:30 a：b c¸d", {}), (Texts{"x", ":", "y", " 12", ":", "30", " a", "：", "b", " c", "¸", "d"}));
  EXPECT_EQ(words("\u0301 𠀀我 \u0301", {}), (Texts{"\u0301", " 𠀀", "我", " \u0301"}));
}

// U+0600 belongs to what follows it, which word boundaries alone do not respect.
TEST(Words, NoCutFallsInsideAGraphemeCluster) {
  EXPECT_EQ(words("\u0600(a", {}), (Texts{"\u0600(", "a"}));
  EXPECT_EQ(words("e\u0301\u0301 n\u0303", {}), (Texts{"e\u0301\u0301", " n\u0303"}));
  // A word of the lexicon is not found where its last letter carries a mark.
  EXPECT_EQ(words("我请\u0301", lexicon_of("我\n请")), words("我请\u0301", {}));
}

TEST(Characters, AreGraphemeClustersSpacesToo) {
  EXPECT_EQ(characters("我 a\r\né"), (Texts{"我", " ", "a", "\r\n", "é"}));
  EXPECT_EQ(characters("e\u0301𠮷👩‍👩‍👧🇨🇳👋🏽"),
            (Texts{"e\u0301", "𠮷", "👩‍👩‍👧", "🇨🇳", "👋🏽"}));
  EXPECT_EQ(characters("각\u1112\u1161\u11AB"), (Texts{"각", "\u1112\u1161\u11AB"}));
}

TEST(Tokens, TextIsWithoutTheSpacesBeforeIt) {
  const Tokens tokens = tokens_between("  我 \t", {5});
  ASSERT_EQ(tokens.size(), 2u);
  EXPECT_EQ(tokens.tokens[0], (Token{.id = hashed_id("我"), .text = "我", .raw = "  我", .begin = 0, .end = 5}));
  EXPECT_EQ(tokens.tokens[1], (Token{.id = hashed_id(" \t"), .text = " \t", .raw = " \t", .begin = 5, .end = 7}));
  EXPECT_EQ(tokens_between("", {}), Tokens{});
  // The same word has the same id at every position.
  const Tokens again = tokens_between("我 我", {3});
  EXPECT_EQ(again.tokens[0].id, again.tokens[1].id);
}

TEST(Tokens, CutsOfStrangersAreChecked) {
  const std::string text = "a我b";
  for (const auto& [offset, expected] : {std::pair<std::size_t, bool>{0, true},
                                         {1, true},
                                         {2, false},
                                         {3, false},
                                         {4, true},
                                         {5, true},
                                         {6, false},
                                         {SIZE_MAX, false}})
    EXPECT_EQ(is_boundary(text, offset), expected) << offset;
  EXPECT_TRUE(is_boundary("", 0));
  EXPECT_FALSE(is_boundary("", 1));
  EXPECT_TRUE(are_cuts(text, {}) && are_cuts(text, {1, 4}) && are_cuts("", {}));
  for (const std::vector<std::size_t>& cuts :
       std::vector<std::vector<std::size_t>>{{0}, {5}, {6}, {2}, {1, 3}, {4, 1}, {1, 1}, {SIZE_MAX}})
    EXPECT_FALSE(are_cuts(text, cuts)) << testing::PrintToString(cuts);
  EXPECT_FALSE(are_cuts("", {0}));
}

TEST(RoundTrip, OddTexts) {
  std::string long_text;
  while (code_points(long_text).size() < 5000) long_text += kDefault + "，it's 👨‍👩‍👧 "s;
  const std::string texts[] = {"",
                               "a",
                               "我",
                               " ",
                               "   ",
                               "\n",
                               "\r\n",
                               "\r",
                               "\t \n",
                               "\0"s,
                               "a\0b"s,
                               "\0\0 \0"s,
                               "\u3000",
                               "\uFEFFa",
                               "\u200B",
                               "\u200D",
                               "\uFE0F",
                               "\u0301",
                               " \u0301a",
                               "a \u0301b",
                               "|",
                               "\\",
                               "a|b\\c",
                               "\\|",
                               "||",
                               "𠮷野家",
                               "𝔘𝔫𝔦",
                               "👨‍👩‍👧‍👦👩‍👩‍👦",
                               "👋🏽👋",
                               "🇨🇳🇩🇪🇯🇵🇨",
                               "1️⃣2️⃣",
                               "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
                               "e\u0301e\u0301\u0323",
                               "\u1100\u1161\u11A8각",
                               "نص عربي ٣٫١٤",
                               "שלום \"עולם\"",
                               "\u202Eabc\u202C",
                               "\u0600\u0601(",
                               "\u0600 ",
                               "\u0600",
                               "สวัสดีชาวโลก น้ำ",
                               "ភាសាខ្មែរ",
                               "မြန်မာဘာသာ",
                               "हिन्दी क्षत्रिय",
                               "日本語のテキスト、カタカナ",
                               "한국어 문장",
                               "㈱ﾃｽﾄ ＡＢＣ",
                               "a\u00A0b\u202Fc\u2028d\u2029e\u0085f",
                               "https://example.org/?q=1&r=2",
                               "don’t can't 3,000.5",
                               "…！？",
                               "\U0010FFFF\uFFFF\uFFFE\uE000",
                               "我请李雷\n帮我\r\n订了",
                               kDefault,
                               long_text};
  const Lexicon lexicons[] = {{}, shipped(), lexicon_of("a\n野家\nสวัส\n👋\n||\n李")};
  for (const std::string& text : texts) {
    expect_lossless(text, Split::characters, {});
    for (const Lexicon& lexicon : lexicons) expect_lossless(text, Split::words, lexicon);
  }
}

TEST(RoundTrip, RandomTexts) {
  const std::u32string alphabet =
      U"我请李雷帮订了去北京的机票不是 \t\n\r\0|\\a b1.,'_-é"
      U"\u0301\u0308\u0600\u200D\uFE0F👨👩👧🏽🇨🇳𠮷กำน้हि्कああカ각\u1100\u1161\u00AD\u3000\u202F"s;
  Random random(20240607);
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random.next() % limit); };
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    for (std::size_t size = below(40); size > 0; --size)
      append_utf8(text, below(8) != 0 ? alphabet[below(alphabet.size())] : static_cast<char32_t>(below(0x110000)));
    Lexicon lexicon = shipped();
    if (below(2) != 0) {  // some words of the text itself, whatever they are
      std::string lines;
      const std::vector<std::size_t> cuts = cut_points(text, Split::characters, {});
      for (std::size_t k = below(6); k > 0 && cuts.size() > 2; --k) {
        const std::size_t first = below(cuts.size() - 1), last = first + 1 + below(cuts.size() - 1 - first);
        lines += text.substr(cuts[first], cuts[last] - cuts[first]) + "\n";
      }
      if (const auto parsed = parse_lexicon("random", lines)) lexicon = *parsed;
    }
    expect_lossless(text, Split::words, lexicon);
    expect_lossless(text, Split::characters, lexicon);
    if (testing::Test::HasFailure()) break;
  }
}

TEST(Lexicon, TheLongestWordWinsThenTheLeftmost) {
  EXPECT_EQ(words("我们", lexicon_of("我\n们\n我们")), Texts{"我们"});
  // Characters of which no dictionary makes words.
  ASSERT_EQ(words("猫鱼狗虫牛", {}), (Texts{"猫", "鱼", "狗", "虫", "牛"}));
  EXPECT_EQ(words("猫鱼狗虫", lexicon_of("猫鱼\n鱼狗虫")), (Texts{"猫", "鱼狗虫"}));
  EXPECT_EQ(words("猫鱼狗虫", lexicon_of("猫鱼狗虫\n鱼狗\n猫\n虫")), Texts{"猫鱼狗虫"});
  EXPECT_EQ(words("猫鱼狗", lexicon_of("猫鱼\n鱼狗")), (Texts{"猫鱼", "狗"}));
  EXPECT_EQ(words("猫鱼狗虫牛", lexicon_of("虫牛\n狗虫\n鱼狗")), (Texts{"猫", "鱼狗", "虫牛"}));
}

TEST(Lexicon, AWordInsideALongerOneDoesNotCutIt) {
  ASSERT_EQ(words("苹果", {}), Texts{"苹果"});
  EXPECT_EQ(words("苹果", lexicon_of("果")), Texts{"苹果"});
  ASSERT_EQ(words("天安门", {}), Texts{"天安门"});
  EXPECT_EQ(words("天安门", lexicon_of("天\n门")), Texts{"天安门"});
}

TEST(Lexicon, WordsThatFillALongerOneDoCutIt) {
  EXPECT_EQ(words("苹果", lexicon_of("苹\n果")), (Texts{"苹", "果"}));
  EXPECT_EQ(words("天安门", lexicon_of("天\n安\n门")), (Texts{"天", "安", "门"}));
  EXPECT_EQ(words("我的", lexicon_of("我\n的")), (Texts{"我", "的"}));
  // One of them reaches across the boundary: what it leaves is judged by itself.
  EXPECT_EQ(words("苹果猫", lexicon_of("果猫")), (Texts{"苹", "果猫"}));
  EXPECT_EQ(words("天安门猫", lexicon_of("门猫\n天")), (Texts{"天安", "门猫"}));
  EXPECT_EQ(words("天安门猫", lexicon_of("门猫\n天\n安")), (Texts{"天", "安", "门猫"}));
}

TEST(Lexicon, WordsOfSpacedScriptsAreFoundWholeOnly) {
  EXPECT_EQ(words("into", lexicon_of("in\nto")), Texts{"into"});
  EXPECT_EQ(words("a New York minute", lexicon_of("New York")), (Texts{"a", " New York", " minute"}));
  EXPECT_EQ(words("New Yorker", lexicon_of("New York")), (Texts{"New", " Yorker"}));
  EXPECT_EQ(words("C++ and C", lexicon_of("C++")), (Texts{"C++", " and", " C"}));
  EXPECT_EQ(words("GPT2模型", lexicon_of("GPT\nGPT2模型")), Texts{"GPT2模型"});
}

TEST(Lexicon, LinesCommentsAndSpaces) {
  const Lexicon lexicon = lexicon_of("\uFEFF# head\r\n李雷\r\n\n  订了 \t# a comment\n C# \nNew York\n　北京　\n李雷");
  EXPECT_EQ(lexicon, lexicon_of("李雷\n订了\nC#\nNew York\n北京"));
  EXPECT_EQ(lexicon.words.size(), 5u);
  EXPECT_EQ(lexicon.lengths, (std::vector<std::size_t>{8, 6, 2}));
  EXPECT_EQ(lexicon_of(""), Lexicon{});
  EXPECT_EQ(lexicon_of("\n# nothing\n"), Lexicon{});
  EXPECT_EQ(words("我", Lexicon{}), Texts{"我"});
}

TEST(Lexicon, ErrorsNameTheLine) {
  const std::string longest(64, 'x');
  EXPECT_TRUE(parse_lexicon("words.txt", longest));
  const std::pair<std::string, std::string> cases[] = {
      {"我\n\n" + longest + "x\n", "words.txt: line 3: expected a word of at most 64 characters, found 65"},
      {"李\0雷"s, "words.txt: line 1: expected one word, found a control character"},
      {"# tabs\n李雷\tname", "words.txt: line 2: expected one word, found a control character"},
      {"我\n\xFF\xFE", "words.txt: text: expected valid UTF-8, found byte 0xff at offset 4"},
  };
  for (const auto& [text, message] : cases) {
    const auto lexicon = parse_lexicon("words.txt", text);
    ASSERT_FALSE(lexicon) << text;
    EXPECT_EQ(lexicon.error().message(), message);
  }
}

TEST(Words, TimeGrowsWithTheTextOnly) {
  const auto seconds = [](std::size_t code_point_count) {
    std::string text;
    while (text.size() < 3 * code_point_count) text += kDefault;
    const auto start = std::chrono::steady_clock::now();
    EXPECT_GT(tokens_between(text, cut_points(text, Split::words, shipped())).size(), code_point_count / 2);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  seconds(1000);  // ICU's tables are loaded once
  const double small = seconds(50'000), large = seconds(1'000'000);
  EXPECT_LT(large, 20 * 5 * small) << small << " s for 50,000 characters, " << large << " s for 1,000,000";
}

}  // namespace
}  // namespace headlight::text_test
