#include "train/corpus/teaching.h"

#include <gtest/gtest.h>

namespace headlight {
namespace {

/// Columns of one word; what no test asks for is "_".
std::string word(const std::string& id, const std::string& form, const std::string& head, const std::string& relation,
                 const std::string& misc = "_", const std::string& upos = "X") {
  return id + "\t" + form + "\t_\t" + upos + "\t_\t_\t" + head + "\t" + relation + "\t_\t" + misc + "\n";
}

std::string treebank_refusal(const std::string& text) {
  const auto parsed = parse_conllu("bad.conllu", text);
  EXPECT_FALSE(parsed) << text;
  if (parsed) return "";
  EXPECT_EQ(parsed.error().message().find('\n'), std::string::npos);
  EXPECT_TRUE(parsed.error().message().starts_with("bad.conllu: ")) << parsed.error().message();
  return parsed.error().message();
}

TEST(Treebank, GivesTheTextItsWordsAndTheirArcs) {
  const auto parsed = parse_conllu("x", "# a comment\n" + word("1", "She", "2", "nsubj", "_", "PRON") +
                                            word("2", "runs", "0", "root", "SpaceAfter=No") +
                                            word("3", ".", "2", "punct", "Lang=en|SpaceAfter=No") + "\n");
  ASSERT_TRUE(parsed) << parsed.error().message();
  ASSERT_EQ(parsed->size(), 1u);
  const TreebankSentence& one = parsed->front();
  EXPECT_EQ(one.text, "She runs.");
  ASSERT_EQ(one.words.size(), 3u);
  EXPECT_TRUE(one.words[0].pronoun);
  EXPECT_FALSE(one.words[1].pronoun);
  EXPECT_EQ(one.text.substr(one.words[1].begin, one.words[1].end - one.words[1].begin), "runs");
  ASSERT_EQ(one.arcs.size(), 2u) << "the root has none";
  EXPECT_EQ(one.arcs[0].dependent, 0);
  EXPECT_EQ(one.arcs[0].head, 1);
  EXPECT_EQ(one.arcs[0].relation, "nsubj");
}

TEST(Treebank, SharesTheLettersOfAMultiwordTokenAmongItsWords) {
  const auto parsed =
      parse_conllu("x", word("1", "I", "3", "nsubj") + "2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n" +
                            word("2", "do", "3", "aux") + word("3", "n't", "0", "root") + word("4", ".", "3", "punct"));
  ASSERT_TRUE(parsed) << parsed.error().message();
  const TreebankSentence& one = parsed->front();
  EXPECT_EQ(one.text, "I don't.");
  std::vector<std::string> words;
  for (const auto& [begin, end, pronoun] : one.words) words.push_back(one.text.substr(begin, end - begin));
  EXPECT_EQ(words, (std::vector<std::string>{"I", "do", "n't", "."}));

  // Words that are not spelt as the token is share its letters evenly, none goes empty.
  const auto odd = parse_conllu(
      "x", "1-2\t别\t_\t_\t_\t_\t_\t_\t_\t_\n" + word("1", "不", "2", "advmod") + word("2", "要", "0", "root"));
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->front().text, "别");
  const auto long_one = parse_conllu(
      "x", "1-2\tdella\t_\t_\t_\t_\t_\t_\t_\t_\n" + word("1", "di", "2", "case") + word("2", "la", "0", "root"));
  ASSERT_TRUE(long_one);
  EXPECT_EQ(long_one->front().words[0].end, long_one->front().words[1].begin);
  EXPECT_EQ(long_one->front().words[1].end, 5u);
}

TEST(Treebank, SkipsEmptyNodesAndReadsWindowsLines) {
  const auto parsed =
      parse_conllu("x", "\uFEFF1\ta\t_\tX\t_\t_\t0\troot\t_\t_\r\n1.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\r\n\r\n\r\n" +
                            word("1", "b", "0", "root"));
  ASSERT_TRUE(parsed) << parsed.error().message();
  EXPECT_EQ(parsed->size(), 2u);
}

TEST(Treebank, RefusesWhatIsWrongInOneLineThatNamesTheLine) {
  const auto says = [](const std::string& text, const std::string& part) {
    const std::string message = treebank_refusal(text);
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  says("", "sentences: expected at least one, found none");
  says("# only a comment\n", "at least one");
  says("1\ta\n", "line 1: expected ten columns");
  says(word("2", "a", "0", "root"), "line 1, ID: expected 1, found '2'");
  says(word("1", "a", "0", "root") + word("3", "b", "1", "obj"), "line 2, ID: expected 2, found '3'");
  says(word("1", "a", "_", "root"), "line 1, HEAD: expected the number of a word, or 0, found '_'");
  says(word("1", "a", "-1", "root"), "HEAD");
  says(word("1", "a", "7", "obj") + word("2", "b", "0", "root"), "line 1, HEAD: expected 0 to 2, found 7");
  says(word("1", "a", "1", "obj"), "a cycle through word 1");
  says(word("1", "a", "2", "obj") + word("2", "b", "3", "obj") + word("3", "c", "1", "obj") +
           word("4", "d", "0", "root"),
       "line 1, HEAD: expected a tree, found a cycle");
  says("1-3\tab\t_\t_\t_\t_\t_\t_\t_\t_\n" + word("1", "a", "0", "root"),
       "line 1, ID: expected a range up to 1, found 3");
  says("2-3\tab\t_\t_\t_\t_\t_\t_\t_\t_\n" + word("1", "a", "0", "root"), "a range from 1 on");
  says("1-2\tab\t_\t_\t_\t_\t_\t_\t_\t_\n1-2\tab\t_\t_\t_\t_\t_\t_\t_\t_\n", "a range from 1 on");
  says("99999999999999999999\ta\t_\tX\t_\t_\t0\troot\t_\t_\n", "ID");
  says(word("1", "\xFF", "0", "root"), "UTF-8");
  std::string endless;
  for (int i = 1; i <= 1001; ++i) endless += word(std::to_string(i), "a", i == 1 ? "0" : "1", "x");
  says(endless, "at most 1000 words");
}

}  // namespace
}  // namespace headlight
