// `headlight claims`: what is named, how often it is right on sentences of this project, the lines that windows open
// on.
#include <cmath>
#include <set>

#include "app/program.h"
#include "app/session_fixture.h"
#include "base/folders.h"
#include "card/arc_labels_file.h"
#include "card/training_card.h"
#include "heads/arc_labels.h"
#include "models/model_choice.h"
#include "names/named_arcs.h"
#include "question/samples.h"
#include "train/run/training_files.h"

namespace headlight::program {
namespace {

json claims(Strings words) {
  words.insert(words.begin(), "claims");
  words.insert(words.end(), {"--format", "json"});
  const Ran ran = run(words);
  EXPECT_EQ(ran.status, 0) << ran.err;
  return json::parse(ran.out, nullptr, false);
}

const std::string kOwnTreebank = fixture::golden("claims.conllu").string();

TEST(CliClaims, NamesArcsWithHeadWeightRelationAndPrecision) {
  const Strings sentence{"--text", "The teacher gave the students a difficult test."};
  const json answer = claims(sentence);
  const json tokens = exported(sentence)["tokens"];
  bool found = false;
  for (const json& arc : answer["arcs"]) {
    EXPECT_GE(arc["weight"].get<double>(), 0.3) << arc;
    EXPECT_GE(arc["precision"].get<double>(), 0.6) << arc;
    EXPECT_LT(arc["key"].get<std::size_t>(), tokens.size());
    found |= tokens[arc["query"].get<std::size_t>()]["text"] == "The" &&
             tokens[arc["key"].get<std::size_t>()]["text"] == "teacher" && arc["head"] == "2.0" &&
             arc["relation"] == "det" && arc["label"] == "determiner → its noun";
  }
  EXPECT_TRUE(found) << answer;
  const json& opening = answer["opening"];
  EXPECT_TRUE(contains(opening["text"], " looks at ")) << opening;
  EXPECT_TRUE(contains(opening["text"], "right in")) << opening;
  const Ran text = run({"claims", "--text", sentence[1]});
  EXPECT_EQ(opening["head"], "3.0");
  EXPECT_TRUE(text.out.starts_with("L3·H0: " + opening["text"].get<std::string>())) << text.out;
  EXPECT_TRUE(contains(text.out, "determiner → its noun")) << text.out;
}

std::set<std::string> named_pairs(const std::string& text, const std::string& relation) {
  const json answer = claims({"--text", text}), tokens = exported({"--text", text})["tokens"];
  std::set<std::string> pairs;
  for (const json& arc : answer["arcs"])
    if (arc["relation"] == relation)
      pairs.insert(tokens[arc["query"].get<std::size_t>()]["text"].get<std::string>() + " " +
                   tokens[arc["key"].get<std::size_t>()]["text"].get<std::string>());
  return pairs;
}

TEST(CliClaims, AnAuxiliaryBeforeAFormInIngIsNoCopula) {
  for (const char* text :
       {"It is raining.", "She is singing in the kitchen.", "They are building a house.", "It was not raining.",
        "The children were playing in the garden.", "Mary is reading a book.", "I am writing a letter to my father."})
    EXPECT_TRUE(named_pairs(text, "cop").empty()) << text;
  EXPECT_TRUE(named_pairs("The story is interesting.", "cop").contains("is interesting"));
  EXPECT_TRUE(named_pairs("The soup is good.", "cop").contains("is good"));
}

TEST(CliClaims, AnAdjectiveBelongsToNoVerbBehindItsNoun) {
  EXPECT_TRUE(named_pairs("The quick brown fox jumps over the lazy dog.", "amod") == std::set<std::string>{"lazy dog"});
  EXPECT_TRUE(named_pairs("the quick brown fox jumps over the lazy dog", "amod").empty());
  EXPECT_TRUE(named_pairs("The old man sleeps in the big red house.", "amod").contains("old man"));
}

/// Each relation that is named was right often enough, by the counts of the card.
TEST(CliClaims, NoNameOfWhichMoreThanFourInTenMayBeWrong) {
  for (const char* text : {"The teacher gave the students a difficult test.", "妈妈给弟弟买了一本故事书。",
                           "昨天他在北京买了三本书。", "这个学生很高兴，因为老师表扬了他。"})
    for (const json& arc : claims({"--text", text})["arcs"]) {
      const auto named = arc["measured"].get<Index>();
      const ArcPrecision one{{},
                             {},
                             ArcLanguage::english,
                             named,
                             std::lround(arc["precision"].get<double>() * static_cast<double>(named))};
      EXPECT_GE(one.least(), 0.6) << text << arc;
    }
}

/// The head that was taught pronouns comes first only with how often it is right in real texts.
TEST(CliClaims, APronounWithoutANameOpensWithItsMeasuredShare) {
  const std::string text =
      claims({"--text", "The trophy does not fit in the suitcase because it is too big"})["opening"]["text"];
  const ArcPrecision* measured = nullptr;
  const auto shipped = resolved_source(std::string(kAnySentence));
  ASSERT_TRUE(shipped);
  const auto card = read_card(*shipped);
  ASSERT_TRUE(card && *card && (*card)->arcs);
  for (const ArcPrecision& one : (*card)->arcs->precisions)
    if (one.relation == kPronounRelation && one.language == ArcLanguage::english) measured = &one;
  ASSERT_TRUE(measured);
  EXPECT_EQ(text, "“it” looks at “trophy”, 91 %. pronoun → its noun? Right in " +
                      std::to_string(std::lround(100 * measured->share())) + " of 100 in real texts (" +
                      std::to_string(measured->named) + " measured).");
  const json chinese = claims({"--text", "他因为考得好，所以老师表扬了这个学生"});
  EXPECT_FALSE(contains(chinese["opening"]["text"], "“他” looks at “学生”")) << "not measured in Chinese";
}

TEST(CliClaims, CellsOfTheGrammarAreNamedByIt) {
  const json answer = claims({"--text", "The animal didn't cross the street because it was too tired."});
  EXPECT_TRUE(contains(answer["opening"]["text"], "“it” looks at “animal”")) << answer;
  EXPECT_TRUE(contains(answer["opening"]["text"], "pronoun → its noun")) << answer;
}

TEST(CliClaims, WordsOfATranslationHaveTheirSources) {
  const auto named = [](const std::string& english) {
    const Strings question{"shipped:translator", "--text", "我请李雷帮我订了去北京的机票", "--target", english};
    std::set<std::string> pairs;
    const json answer = claims(question);
    for (const json& arc : answer["arcs"]) {
      EXPECT_TRUE(contains(arc["head"], "cross:")) << arc;
      pairs.insert(std::to_string(arc["query"].get<int>()) + " " + std::to_string(arc["key"].get<int>()) + " " +
                   arc["relation"].get<std::string>());
    }
    return pairs;
  };
  const std::set<std::string> pairs = named("I asked Li Lei to book me a ticket");
  for (const char* pair : {"1 0 OWN", "2 1 OWN", "3 2 OWN", "9 9 OWN"}) EXPECT_TRUE(pairs.contains(pair)) << pair;
  EXPECT_TRUE(named("Li Lei asked me").empty()) << "another English";
}

TEST(CliClaims, OnSentencesOfThisProjectMostNamesAreRight) {
  const json counted = claims({"shipped:any-sentence", "--treebank", kOwnTreebank});
  double named = 0, right = 0;
  for (const json& one : counted["relations"]) {
    EXPECT_LE(one["right"].get<int>(), one["named"].get<int>()) << one;
    named += one["named"].get<double>();
    right += one["right"].get<double>();
  }
  EXPECT_EQ(counted["named"], named);
  EXPECT_EQ(counted["right"], right);
  EXPECT_GE(right / named, 0.85) << counted;
  EXPECT_GE(10 * named / counted["words"].get<double>(), 2.5) << counted;
  const Ran text = run({"claims", "shipped:any-sentence", "--treebank", kOwnTreebank});
  EXPECT_TRUE(contains(text.out, "named in")) << text.out;
}

TEST(CliClaims, OfALongTextNoCellIsCalledTheStrongest) {
  std::string text;
  for (int i = 0; i < 520; ++i) text += "word" + std::to_string(i % 50) + " ";
  EXPECT_TRUE(claims({"--random", "--text", text})["opening"].is_null());
  EXPECT_EQ(run({"claims", "--random", "--text", text}).out, "No cell is named by a relation.\n");
}

TEST(CliClaims, AWordThatMayLookAtNothingDoesNotLookAtItself) {
  const Folder folder;
  const std::string mask = folder.with("mask.json", "[[0,0,0],[0,0,0],[0,0,0]]");
  const json answer = claims({"--random", "--tokens", "a|b|c", "--mask", mask});
  EXPECT_EQ(answer["opening"]["text"], "“abc” may not look at “abc”: the mask hides it.") << answer;
}

TEST(CliClaims, RefusesABadTreebankInOneLine) {
  EXPECT_TRUE(contains(refused({"claims", "--treebank", "missing.conllu"}), "missing.conllu"));
  EXPECT_TRUE(contains(refused({"claims", "--format", "csv"}), "csv"));
}

/// On the treebank of this project, so that it takes a second; nothing but the labels and the card is written.
TEST(CliClaims, LabelsAreFittedAnewAndLeaveNoLock) {
  const Folder folder;
  const std::filesystem::path model = folder.path() / "model";
  const auto shipped = resolved_source(std::string(kAnySentence));
  ASSERT_TRUE(shipped) << shipped.error().message();
  std::filesystem::copy(*shipped, model);
  for (const auto& file : std::filesystem::directory_iterator(model))
    std::filesystem::permissions(file, std::filesystem::perms::owner_write, std::filesystem::perm_options::add);
  const std::string weights = *read_file(model / "model.safetensors"), labels = *read_file(model / kArcLabelsFile);
  const auto fit = [&](const std::string& teaching) {
    return Strings{"train", "-o", model.string(), "--labels", "--teach", teaching, "--score", kOwnTreebank};
  };
  EXPECT_TRUE(contains(refused(fit("missing.conllu")), "missing.conllu"));
  EXPECT_FALSE(path_exists(model / kLockFile));
  EXPECT_EQ(*read_file(model / kArcLabelsFile), labels);
  const Ran ran = run(fit(kOwnTreebank));
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_FALSE(path_exists(model / kLockFile));
  EXPECT_EQ(*read_file(model / "model.safetensors"), weights);
  EXPECT_NE(*read_file(model / kArcLabelsFile), labels);
  const std::string fitted = *read_file(model / kArcLabelsFile);
  const Ran measured = run({"train", "-o", model.string(), "--labels", "--score", kOwnTreebank});
  EXPECT_EQ(measured.status, 0) << measured.err;
  EXPECT_EQ(*read_file(model / kArcLabelsFile), fitted) << "measured alone";
  // As often as `claims` names them, where the head is the only one; IT of the language is no label and stays.
  const auto card = read_card(model);
  ASSERT_TRUE(card && *card && (*card)->arcs);
  const json counted = claims({model.string(), "--treebank", kOwnTreebank});
  for (const ArcPrecision& one : (*card)->arcs->precisions)
    for (const json& relation : counted["relations"])
      if (one.relation == relation["relation"] && one.relation == "det" && one.language == ArcLanguage::english) {
        EXPECT_LE(std::abs(one.named - relation["named"].get<Index>()), 2) << relation;
      }
  EXPECT_TRUE(contains(refused({"train", "-o", model.string(), "--labels"}), "--score"));
}

/// Code, a word salad, traditional characters, two languages.
TEST(CliClaims, NothingIsNamedInATextOfNoMeasuredKind) {
  for (const char* text : {"for i in range(10): print(i)", "ticket the booked she tired because it",
                           "green the sleep ideas furiously of at colourless", "订了我的北京帮李雷去机票",
                           "我昨天在超市買了三斤蘋果", "I love 北京 and 你 like 上海 too", "I love 北京 very much"}) {
    const json answer = claims({"--text", text});
    EXPECT_EQ(answer["arcs"], json::array()) << text;
    EXPECT_FALSE(contains(answer["opening"]["text"], "right in")) << answer;
  }
  const auto reason = [](const std::string& text) { return run({"claims", "--text", text}).out; };
  EXPECT_TRUE(contains(reason("for i in range(10): print(i)"), "\nNo names: text of no measured kind.\n"));
  EXPECT_TRUE(contains(reason("ticket the booked she tired because it"), "\nNo names: unlike measured sentences"));
  std::string lines;
  for (int i = 0; i < 50; ++i) lines += "The teacher gave the students a difficult test. ";
  EXPECT_TRUE(contains(reason(lines), "\nNo names: more than 400 tokens.\n")) << reason(lines);
}

/// Each example of the window opens on a relation that a reader would give it, or on a bare line.
TEST(CliClaims, EveryExampleOpensOnARightRelationOrABareLine) {
  const auto& samples = read_samples();
  ASSERT_TRUE(samples) << samples.error().message();
  for (const Sample& sample : *samples) {
    if (sample.text.find('\n') != std::string::npos) continue;
    const json answer = claims({"--text", sample.text});
    const std::string line = answer["opening"]["text"];
    EXPECT_FALSE(contains(line, "possessor") || contains(line, "copula")) << line << " of " << sample.text;
    for (const json& arc : answer["arcs"]) EXPECT_GE(arc["precision"].get<double>(), 0.6) << arc;
  }
}

}  // namespace
}  // namespace headlight::program
