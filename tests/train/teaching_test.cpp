#include "train/corpus/teaching.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "core/own_tokenizer.h"
#include "core/tokenizing.h"
#include "train/corpus/corpus.h"
#include "train/grammars.h"
#include "train/trained_checkpoint.h"

namespace headlight {
namespace {

using nlohmann::json;
using own::kTreebank;
using own::tokenizer_json;

std::shared_ptr<const Tokenizer> tokenizer() {
  return std::make_shared<const Tokenizer>(tokenizer_of(tokenizer_json()));
}

std::vector<TaughtHead> heads() { return {{0, 1, {"det", "nmod:poss"}}, {1, 0, {"nsubj", "nmod"}}}; }

Corpus corpus(const std::string& text = "The cat sat on the mat .\nThe zebra sat .\n") {
  const auto speller = tokenizer();
  auto spelt = tokenized_text("text", text, 1, *speller, Progress{});
  EXPECT_TRUE(spelt);
  std::vector<CorpusText> texts;
  texts.push_back(*std::move(spelt));
  Corpus made = corpus_of(speller, tokenizer_json().dump(), std::move(texts));
  made.taught.push_back(
      {"treebank", 1, taught_sentences(*parse_conllu("treebank", kTreebank), *speller, heads(), nullptr)});
  return made;
}

TEST(TaughtHeads, AreReadAsTheyAreSpelled) {
  const auto head = parse_taught_head("3.10=nsubj,nsubj:pass");
  ASSERT_TRUE(head);
  EXPECT_EQ(*head, (TaughtHead{3, 10, {"nsubj", "nsubj:pass"}}));
  EXPECT_EQ(spelled(*head), "3.10=nsubj,nsubj:pass");
  const auto labelled = parse_taught_head("L3·H10=nsubj,nsubj:pass");
  ASSERT_TRUE(labelled);
  EXPECT_EQ(*labelled, *head);
  for (const char* bad : {"", "3", "3.1", "3.1=", "3.1=a,", "a.1=b", "-1.0=a", "3.-1=a", "1.1:a", "cross:1.1=a"}) {
    const auto wrong = parse_taught_head(bad);
    ASSERT_FALSE(wrong) << bad;
    EXPECT_NE(wrong.error().message().find("LAYER.HEAD=RELATION"), std::string::npos);
  }
}

TEST(TaughtHeads, OfTheUsualTableEachHaveAPlaceOfTheirOwn) {
  const auto usual = usual_taught_heads(4, 9);
  ASSERT_TRUE(usual);
  Teaching teaching;
  teaching.heads = *usual;
  EXPECT_TRUE(check_teaching(teaching, 4, 9));
  EXPECT_FALSE(check_teaching(teaching, 3, 9));
  for (const TaughtHead& head : *usual) EXPECT_GE(head.layer, 2) << "the first layers are asked nothing";
  EXPECT_FALSE(usual_taught_heads(4, 2));
  EXPECT_FALSE(usual_taught_heads(1, 20));
  teaching.heads.push_back(teaching.heads.back());
  EXPECT_FALSE(check_teaching(teaching, 4, 9));
}

TEST(TaughtHeads, ARelationBelongsToTheHeadThatNamesItThenToThatOfItsFirstPart) {
  EXPECT_EQ(taught_head(heads(), "nmod:poss"), 0u);
  EXPECT_EQ(taught_head(heads(), "nmod:tmod"), 1u);
  EXPECT_EQ(taught_head(heads(), "nsubj:pass"), 1u);
  EXPECT_EQ(taught_head(heads(), "obj"), std::nullopt);
}

TEST(TokenizedTexts, BeginWithTheStartAndKnowWhichPiecesGoOn) {
  const Corpus made = corpus();
  ASSERT_EQ(made.texts.front().lines.size(), 2u);
  const auto line = made.texts.front().lines.line(1);
  std::vector<std::string> words;
  for (const std::int32_t row : line) {
    const std::int32_t id = row & ~TokenLines::kContinues;
    words.push_back((row & TokenLines::kContinues ? "+" : "") + std::string(words_of(*made.tokenizer).text(id)));
  }
  EXPECT_EQ(words, (std::vector<std::string>{"<s>", "the", "z", "+##e", "+##b", "+##r", "+##a", "sat", "."}));
}

// Words that come again are looked up: it must make no difference.
TEST(TokenizedTexts, AreSpeltAsTheTokenizerSpellsEachSentence) {
  const auto speller = tokenizer();
  const std::string text = "The cat's  mat.\n我它猫 didn't, the THE Cat\n  zebra龘 ж\n";
  const auto spelt = tokenized_text("text", text, 1, *speller, Progress{});
  ASSERT_TRUE(spelt);
  std::size_t at = 0;
  for (std::size_t i = 0; i < spelt->lines.size(); ++i) {
    const std::size_t end = text.find('\n', at);
    const auto tokens = encode(*speller, text.substr(at, end - at), true);
    ASSERT_TRUE(tokens);
    std::vector<std::int32_t> rows;
    for (const Token& token : tokens->tokens)
      rows.push_back(static_cast<std::int32_t>(token.id) | (token.continues ? TokenLines::kContinues : 0));
    const auto line = spelt->lines.line(i);
    EXPECT_EQ(rows, std::vector<std::int32_t>(line.begin(), line.end())) << i;
    at = end + 1;
  }
  EXPECT_EQ(spelt->lines.size(), 3u);
}

TEST(TokenizedTexts, OfNothingOrOfOneEndlessLineAreRefusedInOneLine) {
  const auto speller = tokenizer();
  const std::string endless(1 << 20, 'a');
  for (const std::string_view text : {std::string_view(""), std::string_view("\n\n  \n"), std::string_view(endless)}) {
    const auto spelt = tokenized_text("some.txt", text, 1, *speller, Progress{});
    ASSERT_FALSE(spelt);
    EXPECT_EQ(spelt.error().message(), "some.txt: sentences: expected at least one of 1 to 120 tokens, found none");
  }
  EXPECT_FALSE(tokenized_text("some.txt",
                              "a\xFF"
                              "b\n",
                              1, *speller, Progress{}));
}

TEST(TokenizersOfOnesOwn, NeedTheRowsOfEveryTrainedModelAndAStart) {
  json bad = tokenizer_json();
  bad["post_processor"] = nullptr;
  EXPECT_NE(check_trainable("t", tokenizer_of(bad)).error().message().find("<s> before a text"), std::string::npos);
  bad = tokenizer_json();
  bad["model"]["vocab"]["<mask>"] = 3;
  bad["model"]["vocab"]["<unk>"] = 2;
  bad["added_tokens"][2]["id"] = 3;
  bad["added_tokens"][3]["id"] = 2;
  EXPECT_NE(check_trainable("t", tokenizer_of(bad)).error().message().find("row 2: expected <mask>"),
            std::string::npos);
  EXPECT_TRUE(check_trainable("t", *tokenizer()));
}

TEST(WholeWords, AreHiddenSwappedAndKeptTogetherAndTheStartNever) {
  const Corpus made = corpus("zebra zebra zebra quit quit .\n");
  const Corruption corruption{.mask = 0.3f, .swap = 0, .keep = 0.2f};
  const Batch batch = draw_batch(made, Task::masked, corruption, 3, 1, 400);
  const auto line = made.texts.front().lines.line(0);
  double hidden = 0, asked = 0, words = 0;
  for (Index sentence = 0; sentence < 400; ++sentence) {
    const auto at = [&](std::size_t i) { return static_cast<std::size_t>(sentence * batch.input.length) + i; };
    EXPECT_EQ(batch.input.ids[at(0)], kStartRow);
    EXPECT_EQ(batch.targets[at(0)], -1);
    for (std::size_t begin = 1, end; begin < line.size(); begin = end) {
      for (end = begin + 1; end < line.size() && (line[end] & TokenLines::kContinues);) ++end;
      ++words;
      hidden += batch.input.ids[at(begin)] == kMaskRow;
      asked += batch.targets[at(begin)] >= 0;
      for (std::size_t i = begin; i < end; ++i) {
        EXPECT_EQ(batch.input.ids[at(i)] == kMaskRow, batch.input.ids[at(begin)] == kMaskRow);
        EXPECT_EQ(batch.targets[at(i)] >= 0, batch.targets[at(begin)] >= 0);
        const std::int32_t target = batch.targets[at(i)];
        EXPECT_TRUE(target < 0 || target == (line[i] & ~TokenLines::kContinues)) << target;
      }
    }
  }
  EXPECT_NEAR(hidden / words, 0.3, 0.03);
  EXPECT_NEAR(asked / words, 0.5, 0.03);
}

TEST(WeightsOfTexts, SayHowOftenEachOfTheirSentencesIsDrawn) {
  const auto speller = tokenizer();
  std::vector<CorpusText> texts;
  texts.push_back(*tokenized_text("few", "cat\n", 6, *speller, Progress{}));
  texts.push_back(*tokenized_text("many", "mat\nmat\nmat\n", 1, *speller, Progress{}));
  const Corpus made = corpus_of(speller, "", std::move(texts));
  const Batch batch = draw_batch(made, Task::masked, {.mask = 0, .swap = 0, .keep = 0}, 3, 1, 3000);
  const std::int32_t cat = *words_of(*speller).id("cat");
  double cats = 0;
  for (Index sentence = 0; sentence < 3000; ++sentence)
    cats += batch.input.ids[static_cast<std::size_t>(sentence * batch.input.length + 1)] == cat;
  EXPECT_NEAR(cats / 3000, 6.0 / 9.0, 0.03);
}

TEST(TaughtSentences, AskHeadsForTheirArcsAndForRestElsewhere) {
  const Corpus made = corpus();
  Teaching teaching{.heads = heads(), .rest = 0.25f, .hide = 0};
  const Batch batch = draw_batch(made, Task::masked, {}, 3, 1, 4, {&teaching, 1});
  EXPECT_EQ(batch.input.count, 4);
  // <s> the d ##o ##g sat .
  struct Wanted {
    std::int32_t layer, head, query, first, end;
    float weight;
    bool rest;
  };
  const float third = 1.0f / 3.0f;
  const Wanted wanted[] = {{0, 1, 1, 2, 5, 1, false},
                           {0, 1, 2, 0, 1, 0.25f * third, true},
                           {0, 1, 3, 0, 1, 0.25f * third, true},
                           {0, 1, 4, 0, 1, 0.25f * third, true},
                           {0, 1, 5, 0, 1, 0.25f, true},
                           {0, 1, 6, 0, 1, 0.25f, true},
                           {1, 0, 1, 0, 1, 0.25f, true},
                           {1, 0, 2, 5, 6, third, false},
                           {1, 0, 3, 5, 6, third, false},
                           {1, 0, 4, 5, 6, third, false},
                           {1, 0, 5, 0, 1, 0.25f, true},
                           {1, 0, 6, 0, 1, 0.25f, true}};
  ASSERT_EQ(batch.attention.size(), std::size(wanted));
  for (std::size_t i = 0; i < std::size(wanted); ++i) {
    const AttentionTarget& found = batch.attention[i];
    EXPECT_EQ(found.sentence, 3) << i;
    EXPECT_EQ(found.layer, wanted[i].layer) << i;
    EXPECT_EQ(found.head, wanted[i].head) << i;
    EXPECT_EQ(found.query, wanted[i].query) << i;
    EXPECT_EQ(found.first, wanted[i].first) << i;
    EXPECT_EQ(found.end, wanted[i].end) << i;
    EXPECT_FLOAT_EQ(found.weight, wanted[i].weight) << i;
    EXPECT_EQ(found.rest, wanted[i].rest) << i;
  }
}

TEST(Treebank, AWordThatEndsInASpaceLiesInItsText) {
  const auto bank = parse_conllu("t", "1\tof course \t_\tADV\t_\t_\t0\troot\t_\t_\n\n");
  ASSERT_TRUE(bank) << bank.error().message();
  EXPECT_EQ(bank->front().text, "of course ");
  EXPECT_EQ(bank->front().words.back().end, bank->front().text.size());
}

// A treebank that annotates only copulas does not state that its subjects rest; one that marks no pronouns does not
// state that they refer to nothing.
TEST(TaughtSentences, TellNothingToHeadsOfWhichTheirTreebankHasNoArc) {
  const auto grammar = grammars::shipped();
  const std::vector<TaughtHead> taught_heads = {{0, 0, {"det"}}, {0, 1, {"cop"}}, {1, 0, {"CO", "IT"}}};
  const std::string pronoun = "1\the\t_\tPRON\t_\t_\t2\tcop\t_\t_\n2\tsat\t_\t_\t_\t_\t0\troot\t_\t_\n\n";
  const auto known = [&](const std::string& text) {
    const auto sentences = taught_sentences(*parse_conllu("t", text), *tokenizer(), taught_heads, grammar.get());
    std::vector<bool> each;
    for (std::size_t head = 0; head < taught_heads.size(); ++head) {
      for (const TaughtSentence& sentence : sentences)
        EXPECT_EQ(sentence.asks_rest(head, 2), sentences.front().asks_rest(head, 2)) << head;
      each.push_back(sentences.front().asks_rest(head, 2));
    }
    return each;
  };
  EXPECT_EQ(known(kTreebank), (std::vector<bool>{true, false, false}));
  EXPECT_EQ(known(pronoun), (std::vector<bool>{false, true, true}));
  EXPECT_EQ(known(kTreebank + pronoun), (std::vector<bool>{true, true, true}));
}

// A token that crosses two words belongs to both: an arc between them would have a token look at itself.
TEST(TaughtSentences, AnArcBetweenWordsThatShareATokenIsLeftOut) {
  json words = tokenizer_json();
  words["model"]["vocab"]["##og"] = words["model"]["vocab"].size();
  const auto arcs = [&](const char* first, const char* second) {
    const auto line = [](int number, std::string_view form, const char* rest) {
      return std::to_string(number) + "\t" + std::string(form) + "\t_\tX\t_\t_\t" + rest + "\n";
    };
    const std::string text = line(1, first, "2\tdet\t_\tSpaceAfter=No") + line(2, second, "3\tnsubj\t_\t_") +
                             line(3, "sat", "0\troot\t_\t_") + "\n";
    const auto sentences =
        taught_sentences(*parse_conllu("t", text), tokenizer_of(words), {{0, 0, {"det"}}, {0, 1, {"nsubj"}}}, nullptr);
    EXPECT_EQ(sentences.size(), 1u);
    std::vector<std::array<std::int32_t, 4>> found;
    for (const auto& arc : sentences.at(0).arcs) found.push_back({arc.head, arc.query, arc.first, arc.end});
    return found;
  };
  // <s> d ##og sat
  const std::vector<std::array<std::int32_t, 4>> subject = {{1, 2, 3, 4}};
  EXPECT_EQ(arcs("do", "g"), subject) << "do has both pieces, g the second";
  EXPECT_EQ(arcs("d", "og"), (std::vector<std::array<std::int32_t, 4>>{{0, 1, 2, 3}, {1, 2, 3, 4}}));
}

TEST(TaughtSentences, OfTheGrammarTeachOnlyHeadsOfItsRelations) {
  const auto grammar = grammars::shipped();
  const std::vector<TaughtHead> taught_heads = {{0, 0, {"nsubj"}}, {1, 0, {"CO", "IT"}}};
  Random random(5);
  int arcs = 0;
  for (int i = 0; i < 200; ++i) {
    const Sentence sentence = draw_sentence(*grammar, CorpusPart::training, random);
    const TaughtSentence taught = taught_sentence(*grammar, sentence, *tokenizer(), taught_heads);
    for (const TaughtSentence::Arc& arc : taught.arcs) {
      EXPECT_EQ(arc.head, 1);
      EXPECT_LT(static_cast<std::size_t>(arc.end), taught.rows.size() + 1);
      EXPECT_TRUE(arc.query < arc.first || arc.query >= arc.end);
      ++arcs;
    }
    for (std::size_t token = 0; token < taught.rows.size(); ++token) EXPECT_FALSE(taught.asks_rest(0, token));
  }
  EXPECT_GT(arcs, 50);
}

TEST(TeachingPlans, TeachFromAShareOfTheStepsOn) {
  TrainingPlan plan;
  plan.recipe.schedule.steps = 100;
  plan.batch = 30;
  EXPECT_EQ(taught_sentences(plan, 100), 0) << "no heads";
  plan.teaching = {.heads = heads(), .share = 0.5f, .from = 0.8f};
  EXPECT_EQ(taught_sentences(plan, 80), 0);
  EXPECT_EQ(taught_sentences(plan, 81), 15);
}

/// A training on the toy texts that teaches from its tenth step on.
TrainingPlan plan() {
  TrainingPlan small = grammars::small_plan(
      {.d_model = 16, .num_heads = 2, .num_layers = 2, .ffn = 16, .norm = Norm::pre, .activation = Activation::gelu},
      50);
  small.teaching = {.heads = heads(), .share = 0.5f, .from = 0.2f};
  small.recipe.objective.attention = 3;
  return small;
}

TEST(TeachingTrainings, LearnWhereToLook) {
  const Corpus made = corpus();
  TrainingPlan longer = plan();
  longer.recipe.schedule.steps = 300;
  Training training = *begin_training(longer, made);
  Workspace workspace(2);
  double looked = 0;
  train(training, longer, made, workspace, 300, [&](const StepReport& report, const Batch&) {
    looked = report.loss.looked;
    return true;
  });
  EXPECT_GT(looked, 0.9) << "one sentence, known by heart";
}

TEST(TeachingTrainings, GoOnToTheSameBitsAndRefuseAnotherPlan) {
  const Corpus made = corpus();
  const TrainingPlan whole = plan();
  const Training straight = grammars::trained(whole, made, 50);
  const Training half = grammars::trained(whole, made, 23);
  const Folder folder;
  ASSERT_TRUE(save_training(folder.path(), half, whole, made));
  auto resumed = resume_training(folder.path(), whole, made);
  ASSERT_TRUE(resumed) << resumed.error().message();
  Workspace workspace(1);
  train(resumed->training, whole, made, workspace, 50, [](const StepReport&, const Batch&) { return true; });
  EXPECT_TRUE(resumed->training.network.values == straight.network.values);
  TrainingPlan other = whole;
  other.teaching.rest = 0.5f;
  EXPECT_FALSE(resume_training(folder.path(), other, made));
  Corpus another = made;
  another.taught.clear();
  EXPECT_FALSE(resume_training(folder.path(), whole, another));
}

// The rows of the text alone are not what a training began with.
TEST(TeachingTrainings, GoOnOnlyWithTheWeightsTheTokenizerAndTheRestsThatTheyBeganWith) {
  const Corpus made = corpus();
  const TrainingPlan whole = plan();
  const Folder folder;
  ASSERT_TRUE(save_training(folder.path(), grammars::trained(whole, made, 2), whole, made));
  ASSERT_TRUE(resume_training(folder.path(), whole, made));
  const auto refuses = [&](void (*change)(Corpus&)) {
    Corpus other = made;
    change(other);
    const auto resumed = resume_training(folder.path(), whole, other);
    return !resumed && resumed.error().message().ends_with(
                           "expected the options and the corpus that this training began with, found others");
  };
  EXPECT_TRUE(refuses([](Corpus& c) { c.texts.front().weight = 2; }));
  EXPECT_TRUE(refuses([](Corpus& c) { c.tokenizer_json += ' '; }));
  EXPECT_TRUE(refuses([](Corpus& c) { c.texts.front().lines.starts[1] -= 1; })) << "other sentences of the same words";
  EXPECT_TRUE(refuses([](Corpus& c) { c.taught.front().weight = 2; }));
  EXPECT_TRUE(refuses([](Corpus& c) { c.taught.front().sentences.front().arcs.pop_back(); }));
  EXPECT_TRUE(
      refuses([](Corpus& c) { c.taught.front().sentences.front().rests.back() = TaughtSentence::Rest::never; }));
}

TEST(TeachingTrainings, KeepTheirTokenizerAndSayWhatWasTaught) {
  const Corpus made = corpus();
  const TrainingPlan whole = plan();
  const auto model = trained_model(grammars::trained(whole, made, 5), made, "taught");
  const Folder folder;
  const TrainingCard card{.plan = whole, .corpus = "text", .treebanks = {"bank.conllu"}, .command = "", .step = 5};
  ASSERT_TRUE(save_checkpoint(folder.path(), *model, card, TensorType::float16, made.tokenizer_json));
  EXPECT_EQ(*read_file(folder.path() / "tokenizer.json"), made.tokenizer_json);
  const auto read = read_card(folder.path());
  ASSERT_TRUE(read && *read);
  EXPECT_EQ((*read)->plan.teaching, whole.teaching);
  EXPECT_EQ((*read)->plan.recipe.objective.attention, 3);
  EXPECT_EQ((*read)->treebanks, card.treebanks);
  const std::string text = *read_file(folder.path() / "README.md");
  EXPECT_NE(text.find("## Heads that were taught"), std::string::npos) << text;
  EXPECT_NE(text.find("| 1.0 | nsubj, nmod |"), std::string::npos) << text;
  EXPECT_NE(text.find("Taught by: bank.conllu"), std::string::npos) << text;
  EXPECT_EQ(text.find("nothing was asked of any attention"), std::string::npos);
}

// The first steps of a training are the same bits on every machine: what a recipe promises.
TEST(TeachingTrainings, TakeTheirFirstFiftyStepsToTheSameBitsEverywhere) {
  const Training training = grammars::trained(plan(), corpus(), 50);
  std::uint64_t sum = 0;
  for (const float value : training.network.values) {
    std::uint32_t bits;
    static_assert(sizeof bits == sizeof value);
    std::memcpy(&bits, &value, sizeof bits);
    sum = sum * 6364136223846793005u + bits;
  }
  EXPECT_EQ(sum, 3542705092061022761u);
}

}  // namespace
}  // namespace headlight
