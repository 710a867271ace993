// Heads measured on treebanks: against the same counted word by word, and how a taught head is described.
#include "train/measure/treebank_scores.h"

#include <gtest/gtest.h>

#include "core/own_tokenizer.h"
#include "core/tokenizing.h"
#include "math/attention.h"
#include "train/corpus/corpus.h"
#include "train/grammars.h"
#include "train/measure/relations_json.h"

namespace headlight::treebank_scores_test {
namespace {

std::shared_ptr<const Tokenizer> speller() {
  return std::make_shared<const Tokenizer>(tokenizer_of(own::tokenizer_json()));
}

std::string row(int id, const std::string& form, int head, const std::string& relation) {
  return std::to_string(id) + "\t" + form + "\t_\tX\t_\t_\t" + std::to_string(head) + "\t" + relation + "\t_\t_\n";
}

/// Two kinds of sentences, by turns: their subjects stand at other distances from their verbs, and a zebra has pieces.
std::string sentence(int number, const std::string& noun) {
  if (number % 4 < 2) return row(1, "The", 2, "det") + row(2, noun, 3, "nsubj") + row(3, "sat", 0, "root") + "\n";
  return row(1, noun, 4, "nsubj:pass") + row(2, "on", 3, "case") + row(3, "mat", 1, "nmod") + row(4, "sat", 0, "root") +
         "\n";
}

HeldOutTreebank treebank(int count = 320) {
  const char* const nouns[] = {"cat", "zebra", "he", "mat"};
  std::string text;
  for (int i = 0; i < count; ++i) text += sentence(i, nouns[(i / 2) % 4]);
  return {"bank", *parse_conllu("bank", text)};
}

std::shared_ptr<const Model> model(Arch arch = Arch::encoder) {
  auto text = tokenized_text("text", "The cat sat on the mat .\nThe zebra sat .\n", 1, *speller(), Progress{});
  std::vector<CorpusText> texts;
  texts.push_back(*std::move(text));
  const Corpus corpus = corpus_of(speller(), own::tokenizer_json().dump(), std::move(texts));
  const TrainingPlan plan = grammars::small_plan({.arch = arch,
                                                  .d_model = 16,
                                                  .num_heads = 2,
                                                  .num_layers = 2,
                                                  .ffn = 16,
                                                  .norm = Norm::pre,
                                                  .activation = Activation::gelu},
                                                 3);
  return trained_model(grammars::trained(plan, corpus, 3), corpus, "own");
}

std::optional<RelationReport> measured(const std::vector<HeldOutTreebank>& treebanks,
                                       const std::vector<TaughtHead>& taught, int threads = 2) {
  Progress progress;
  const auto report = measure_treebanks(model(), *speller(), treebanks, taught, threads, progress);
  EXPECT_TRUE(report) << (report ? "" : report.error().message());
  return report ? *report : std::nullopt;
}

const RelationScore* find(const RelationReport& report, const std::string& relation) {
  for (const RelationScore& one : report.relations)
    if (one.relation == relation) return &one;
  return nullptr;
}

/// The index of a token's word, in a text with single spaces.
std::size_t word_of(const Tokens& tokens, const Token& token) {
  std::size_t begin = token.begin;
  while (tokens.text[begin] == ' ') ++begin;
  return static_cast<std::size_t>(
      std::count(tokens.text.begin(), tokens.text.begin() + static_cast<std::ptrdiff_t>(begin), ' '));
}

/// The share of arcs of the odd sentences in which the strongest word is the right one, and the mean weight on it.
std::pair<double, double> counted(const HeldOutTreebank& bank, const std::string& relation, const HeadRef& head) {
  double right = 0, weight = 0, arcs = 0;
  const auto same = model();
  for (std::size_t s = 1; s < bank.sentences.size(); s += 2) {
    const TreebankSentence& one = bank.sentences[s];
    Request request{.model = same, .config = same->config, .tokens = *encode(*speller(), one.text, true)};
    Progress progress;
    const auto trace = forward(request, progress, nullptr, 1);
    const Matrix weights = attention_rows(**trace, head, 0, (*trace)->queries());
    const auto& tokens = request.tokens.tokens;
    for (const TreebankSentence::Arc& arc : one.arcs) {
      if (arc.relation.substr(0, relation.size()) != relation) continue;
      std::vector<double> to(one.words.size(), 0);
      double rows = 0;
      for (std::size_t q = 0; q < tokens.size(); ++q) {
        if (tokens[q].special || word_of(request.tokens, tokens[q]) != static_cast<std::size_t>(arc.dependent))
          continue;
        ++rows;
        for (std::size_t k = 0; k < tokens.size(); ++k)
          if (!tokens[k].special)
            to[word_of(request.tokens, tokens[k])] +=
                static_cast<double>(weights(static_cast<Index>(q), static_cast<Index>(k)));
      }
      std::size_t best = arc.dependent == 0 ? 1 : 0;
      for (std::size_t w = 0; w < to.size(); ++w)
        if (w != static_cast<std::size_t>(arc.dependent) && to[w] > to[best]) best = w;
      right += best == static_cast<std::size_t>(arc.head);
      weight += to[static_cast<std::size_t>(arc.head)] / rows;
      ++arcs;
    }
  }
  return {right / arcs, weight / arcs};
}

TEST(TreebankScores, AreThoseThatAreCountedWordByWord) {
  const HeldOutTreebank bank = treebank();
  double seen = 0;
  for (const TaughtHead& head : {TaughtHead{0, 0, {"nsubj", "det"}}, TaughtHead{1, 1, {"nsubj", "det"}}}) {
    const auto report = measured({bank}, {head});
    ASSERT_TRUE(report);
    for (const char* relation : {"nsubj", "det"}) {
      SCOPED_TRACE(std::string(relation) + " " + std::to_string(head.layer));
      const RelationScore* one = find(*report, relation);
      ASSERT_NE(one, nullptr);
      EXPECT_EQ(one->chosen, (DirectedHead{head.layer, head.head, false}));
      EXPECT_TRUE(was_taught({head}, *one));
      const auto [right, weight] = counted(bank, relation, {.layer = head.layer, .head = head.head});
      EXPECT_NEAR(one->score.accuracy, right, 1e-9);
      EXPECT_NEAR(one->score.weight, weight, 1e-4);
      seen += one->score.accuracy;
    }
  }
  EXPECT_GT(seen, 0) << "the comparison sees something";
}

TEST(TreebankScores, SayWhatDistancesReachAndWhereTheyWereMeasured) {
  const auto report = measured({treebank()}, {});
  ASSERT_TRUE(report);
  const RelationScore* subject = find(*report, "nsubj");
  ASSERT_NE(subject, nullptr);
  EXPECT_EQ(subject->sentences, 160) << "the odd sentences; the passive's are counted with them";
  EXPECT_NEAR(subject->offset, 0.5, 1e-9) << "one of two kinds of sentences";
  EXPECT_EQ(find(*report, "det")->offset, 1);
  EXPECT_FALSE(was_taught({}, *subject));
  EXPECT_TRUE(is_universal(*subject));
  EXPECT_EQ(subject->en, "subject → its predicate");
  EXPECT_EQ(find(*report, "obj"), nullptr) << "there is none";

  const RelationReport same = *measured({treebank()}, {}, 1);
  EXPECT_EQ(relations_json(same), relations_json(*report)) << "on any number of threads";
  JsonProblems problems{"card"};
  const nlohmann::json json = nlohmann::json::parse(relations_json(*report).dump());
  const RelationReport read = relations_from(JsonField(json, "", problems));
  EXPECT_FALSE(problems.first) << problems.first->message();
  EXPECT_EQ(relations_json(read), relations_json(*report)) << "as a card keeps it";
}

TEST(TreebankScores, KnowChineseWhenTheySeeIt) {
  std::string text;
  for (int i = 0; i < 80; ++i)
    text += row(1, "我", 2, "nsubj") + row(2, "它", 0, "root") + row(3, "猫", 2, "obj") + "\n";
  const auto report = measured({treebank(), {"chinese", *parse_conllu("chinese", text)}}, {{1, 0, {"obj"}}});
  ASSERT_TRUE(report);
  const std::vector<TaughtHead> taught = {{1, 0, {"obj"}}};
  for (const RelationScore& one : report->relations) {
    EXPECT_TRUE(is_universal(one)) << one.relation;
    EXPECT_EQ(is_of_chinese(one), one.relation.starts_with("zh:"));
    EXPECT_EQ(was_taught(taught, one), one.relation == "zh:obj");
  }
  ASSERT_NE(find(*report, "zh:obj"), nullptr);
  EXPECT_EQ(find(*report, "obj"), nullptr) << "none in the other treebank";
  EXPECT_NE(find(*report, "nsubj"), nullptr);
  const auto json = relations_json(*report, taught);
  for (const auto& row : json["relations"])
    EXPECT_EQ(row["supervised"].get<bool>(), row["relation"] == "zh:obj") << row;
}

TEST(TreebankScores, AreRefusedWhereThereIsTooLittleToCount) {
  Progress progress;
  const auto few = measure_treebanks(model(), *speller(), {treebank(20)}, {}, 1, progress);
  ASSERT_FALSE(few);
  EXPECT_EQ(few.error().message(),
            "bank: relations: expected one of at least 40 arcs in each half of the sentences, found none");
  progress.stop = true;
  const auto stopped = measure_treebanks(model(), *speller(), {treebank()}, {}, 1, progress);
  ASSERT_TRUE(stopped);
  EXPECT_FALSE(*stopped);
}

TEST(UniversalRelations, HaveNamesInBothLanguagesAndCoverWhatHeadsAreTaught) {
  std::set<std::string> names;
  for (const UniversalRelation& one : universal_relations()) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    EXPECT_NE(std::string(one.en).find(" → "), std::string::npos) << one.name;
    EXPECT_NE(std::string(one.zh).find(" → "), std::string::npos) << one.name;
  }
  for (const char* relation :
       {"nsubj",  "obj", "det",  "amod", "case", "aux",  "mark",  "cop",   "nmod:poss", "advmod", "compound",
        "nummod", "clf", "conj", "cc",   "obl",  "nmod", "xcomp", "ccomp", "advcl",     "acl"})
    EXPECT_TRUE(names.contains(relation)) << relation;
}

}  // namespace
}  // namespace headlight::treebank_scores_test
