#include "train/trained_checkpoint.h"

#include <gtest/gtest.h>

#include "read/hub/checkpoint.h"
#include "read/tokenizer/tokenizer_file.h"
#include "train/grammars.h"

namespace headlight::trained_checkpoint_test {
namespace {

using grammars::Folder;
using grammars::shipped;
using grammars::small_config;
using grammars::small_plan;
using grammars::toy_corpus;
using nlohmann::json;

/// A model every number of which differs from the value that a fresh one has.
std::shared_ptr<const Model> shaken(const Config& config, const Corpus& corpus) {
  Training training{.network = fresh_network(config, corpus.rows(), 121)};
  Random random(3);
  for (float& value : training.network.values) value += random.symmetric(0.05f);
  return trained_model(training, corpus, "shaken");
}

Tokens tokens_of(const std::vector<std::int64_t>& rows) {
  Tokens tokens;
  for (const std::int64_t row : rows) tokens.tokens.emplace_back().id = row;
  return tokens;
}

std::shared_ptr<const Trace> answer(const std::shared_ptr<const Model>& model) {
  Request request{.model = model, .config = model->config, .tokens = tokens_of({4, 50, 60, 7, 90})};
  if (model->config.arch == Arch::encoder_decoder) request.target = tokens_of({1, 20, 30});
  request.mask.causal = model->config.arch != Arch::encoder;
  const auto trace = forward(request);
  EXPECT_TRUE(trace) << (trace ? "" : trace.error().message());
  return trace ? *trace : nullptr;
}

std::shared_ptr<const Model> read_model(const std::filesystem::path& folder) {
  auto checkpoint = read_checkpoint(folder);
  EXPECT_TRUE(checkpoint) << (checkpoint ? "" : checkpoint.error().message());
  if (!checkpoint) return nullptr;
  EXPECT_TRUE(checkpoint->warnings.empty()) << checkpoint->warnings.front().message();
  return checkpoint->model;
}

std::vector<Config> shapes() {
  std::vector<Config> shapes(12, small_config());
  shapes[1].norm = Norm::post;
  shapes[2].arch = Arch::decoder;
  shapes[3].arch = Arch::encoder_decoder;
  shapes[4].position = Position::learned;
  shapes[5].tied = false;
  shapes[6].bias = {false, false, false, false, false};
  shapes[7].norm_kind = NormKind::rms_norm;
  shapes[8].ffn = 0;
  shapes[9].head_dim = 5;
  shapes[10].position = Position::none;
  shapes[10].activation = Activation::relu;
  shapes[11] = {.arch = Arch::encoder_decoder,
                .d_model = 12,
                .num_heads = 3,
                .num_layers = 1,
                .encoder_layers = 2,
                .ffn = 8,
                .position = Position::learned,
                .norm = Norm::post,
                .tied = false};
  return shapes;
}

TEST(SavedModel, IsReadBackToTheBit) {
  const Corpus corpus = toy_corpus();
  int shape = 0;
  for (const Config& config : shapes()) {
    SCOPED_TRACE(shape++);
    const Folder folder;
    const auto model = shaken(config, corpus);
    ASSERT_TRUE(save_checkpoint(folder.path() / "a" / "b", *model, {}));
    const auto read = read_model(folder.path() / "a" / "b");
    ASSERT_NE(read, nullptr);
    EXPECT_EQ(read->config.seed, config.seed);
    EXPECT_EQ(read->config.d_k(), config.d_k());
    EXPECT_EQ(read->config.tied, config.tied);
    const auto before = answer(model), after = answer(read);
    ASSERT_TRUE(before && after);
    EXPECT_EQ(before->last_hidden_state(), after->last_hidden_state());
    ASSERT_EQ(before->logits.size(), corpus.rows());
    EXPECT_EQ(before->logits, after->logits);
    EXPECT_EQ(before->answering, after->answering);
  }
}

TEST(SavedModel, InHalfPrecisionIsNear) {
  const Corpus corpus = toy_corpus();
  const Folder folder;
  const auto model = shaken(shapes()[0], corpus);
  ASSERT_TRUE(save_checkpoint(folder.path() / "whole", *model, {}));
  ASSERT_TRUE(save_checkpoint(folder.path() / "half", *model, {}, TensorType::float16));
  EXPECT_LT(std::filesystem::file_size(folder.path() / "half" / "model.safetensors"),
            std::filesystem::file_size(folder.path() / "whole" / "model.safetensors") * 6 / 10);
  const auto half = read_model(folder.path() / "half");
  ASSERT_NE(half, nullptr);
  const Matrix saved = model->embeddings.tokens->weight;
  const Matrix stored = weight_rows(*half->embeddings.tokens, 0, saved.rows());
  const float largest = saved.cwiseAbs().maxCoeff();
  EXPECT_LE((stored - saved).cwiseAbs().maxCoeff(), largest / 2048);
  const auto before = answer(model), after = answer(half);
  EXPECT_NE(before->logits, after->logits);
  EXPECT_LT((before->logits - after->logits).cwiseAbs().maxCoeff(), 0.02f);
}

TEST(SavedModel, HasATokenizerThatCutsWordsAndLooksThemUp) {
  const Corpus corpus = corpus_of(shipped());
  const Folder folder;
  for (const Arch arch : {Arch::encoder, Arch::decoder}) {
    Config config = shapes()[0];
    config.arch = arch;
    ASSERT_TRUE(save_checkpoint(folder.path(), *shaken(config, corpus), {}));
    const auto file = read_tokenizer(folder.path());
    ASSERT_TRUE(file) << file.error().message();
    EXPECT_TRUE(file->warnings.empty());
    EXPECT_TRUE(finds_words(*file->tokenizer));
    const auto vocabulary = vocabulary_of(*file->tokenizer);
    EXPECT_EQ(vocabulary->words, vocabulary_of(corpus)->words);
    Random random(1);
    for (int i = 0; i < 100; ++i) {
      const Sentence sentence = draw_sentence(*shipped(), CorpusPart::training, random);
      const auto tokens = encode(*file->tokenizer, text_of(*shipped(), sentence), true);
      ASSERT_TRUE(tokens);
      std::vector<std::int64_t> ids, expected;
      for (const Token& token : tokens->tokens) ids.push_back(token.id);
      if (arch == Arch::decoder) expected.push_back(kStartRow);
      for (const std::int32_t word : sentence.words) expected.push_back(word + kFirstWordRow);
      EXPECT_EQ(ids, expected) << text_of(*shipped(), sentence);
      EXPECT_EQ(tokens->tokens.front().special, arch == Arch::decoder);
    }
    const auto unknown = encode(*file->tokenizer, "我请恐龙<mask>", false);
    ASSERT_TRUE(unknown);
    ASSERT_GE(unknown->size(), 4u);
    EXPECT_GE(unknown->tokens[0].id, kFirstWordRow);
    EXPECT_EQ(unknown->tokens[2].id, kUnknownRow);
    EXPECT_EQ(unknown->tokens.back().id, kMaskRow);
  }
}

TEST(SavedModel, OfTranslationsReadsBothTextsAndKnowsItsEnd) {
  const Corpus corpus = corpus_of(shipped(), Task::translation);
  const Folder folder;
  const auto model = shaken(shapes()[3], corpus);
  ASSERT_TRUE(save_checkpoint(folder.path(), *model, {}));
  const auto before = answer(model), after = answer(read_model(folder.path()));
  ASSERT_TRUE(before && after);
  EXPECT_EQ(before->logits, after->logits);
  const json config = json::parse(*read_file(folder.path() / "config.json"));
  EXPECT_EQ(config["eos_token_id"], corpus.rows() - 1);
  const auto file = read_tokenizer(folder.path());
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(vocabulary_of(*file->tokenizer)->words, vocabulary_of(corpus)->words);
  const auto ids = [&](std::string_view text) {
    std::vector<std::int64_t> words;
    const auto tokens = encode(*file->tokenizer, text, true);
    EXPECT_TRUE(tokens);
    if (tokens)
      for (const Token& token : tokens->tokens) words.push_back(token.id - kFirstWordRow);
    return words;
  };
  Random random(1);
  for (int i = 0; i < 100; ++i) {
    const Sentence sentence = draw_sentence(*shipped(), CorpusPart::training, random);
    const Translation translation = translation_of(*shipped(), sentence);
    std::string text;
    for (const std::int32_t word : translation.words) text += std::string(target_word(*shipped(), word)) + " ";
    if (!text.empty()) text.pop_back();
    EXPECT_EQ(ids(text), (std::vector<std::int64_t>(translation.words.begin(), translation.words.end()))) << text;
  }
  const auto literal = shipped()->literals.front().english.words;
  EXPECT_EQ(ids("I asked Li Lei to book me a ticket to Beijing"),
            (std::vector<std::int64_t>(literal.begin(), literal.end())));
  EXPECT_EQ(ids("Beijing</s>").back(), corpus.rows() - 1 - kFirstWordRow);
}

TrainingCard full_card() {
  TrainingCard card{.plan = small_plan(shapes()[0], 77),
                    .corpus = "grammar",
                    .command = "headlight train -o DIR",
                    .step = 55,
                    .tokens = 1234567891};
  card.plan.corruption = {0.11f, 0.12f, 0.13f, 0.14f, 0.15f};
  card.plan.recipe.objective = {.label_smoothing = 0.1f, .dropout = 0.05f};
  card.plan.recipe.clip = 0.5f;
  card.scores.emplace();
  card.scores->test_seed = 2;
  card.scores->pairs = 20;
  card.scores->pairs_right = 19;
  card.scores->relations.push_back({.relation = "VO",
                                    .en = "verb → object",
                                    .zh = "动词 → 宾语",
                                    .chosen = {1, 3, true},
                                    .score = {0.9375, 0.5, 0.875, 40},
                                    .random = 0.25,
                                    .offset = 0.5,
                                    .kind_offset = 0.625,
                                    .sentences = 1000});
  RelationScore& other = card.scores->opposite.emplace_back(card.scores->relations.back());
  other.chosen = {1, 2, false};
  other.score = {0.75, 0.25, 0.5, 40};
  return card;
}

TEST(TrainingCard, IsReadBack) {
  const Folder folder;
  const auto none = read_card(folder.path());
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none) << "the file does not say it";
  const TrainingCard card = full_card();
  ASSERT_TRUE(save_checkpoint(folder.path(), *shaken(shapes()[0], toy_corpus()), card));
  const auto read = read_card(folder.path());
  ASSERT_TRUE(read) << read.error().message();
  ASSERT_TRUE(*read);
  EXPECT_EQ((*read)->corpus, card.corpus);
  EXPECT_EQ((*read)->command, card.command);
  EXPECT_EQ((*read)->step, 55);
  EXPECT_EQ((*read)->tokens, 1234567891);
  const TrainingPlan &plan = (*read)->plan, &written = card.plan;
  EXPECT_EQ(plan.task, Task::masked);
  EXPECT_EQ(plan.corruption, written.corruption);
  EXPECT_EQ(plan.batch, 8);
  EXPECT_EQ(plan.config.seed, 5u);
  EXPECT_EQ(plan.recipe.schedule.steps, 77);
  EXPECT_EQ(plan.recipe.schedule.warmup, 10);
  EXPECT_EQ(plan.recipe.schedule.peak, written.recipe.schedule.peak);
  EXPECT_EQ(plan.recipe.schedule.floor, written.recipe.schedule.floor);
  EXPECT_EQ(plan.recipe.adamw.beta2, written.recipe.adamw.beta2);
  EXPECT_EQ(plan.recipe.adamw.decay, written.recipe.adamw.decay);
  EXPECT_EQ(plan.recipe.clip, 0.5f);
  EXPECT_EQ(plan.recipe.objective.dropout, 0.05f);
  EXPECT_EQ(plan.recipe.objective.label_smoothing, 0.1f);
  ASSERT_TRUE((*read)->scores);
  const RelationScore& score = (*read)->scores->relations.at(0);
  EXPECT_EQ(score.relation, "VO");
  EXPECT_EQ(score.chosen, (DirectedHead{1, 3, true}));
  EXPECT_EQ(score.score.accuracy, 0.9375);
  const RelationScore* other = opposite_of(*(*read)->scores, score);
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(other->chosen, (DirectedHead{1, 2, false}));
  EXPECT_EQ(other->score.accuracy, 0.75);
  EXPECT_EQ((*read)->scores->pairs_right, 19);

  TrainingCard causal = card;
  causal.plan.task = Task::causal;
  causal.scores.reset();
  ASSERT_TRUE(save_checkpoint(folder.path(), *shaken(shapes()[2], toy_corpus()), causal));
  EXPECT_EQ((**read_card(folder.path())).plan.task, Task::causal);
  EXPECT_FALSE((**read_card(folder.path())).scores);

  TrainingCard translation = card;
  translation.plan.task = Task::translation;
  translation.scores->alignment.heads.push_back({.layer = 1, .head = 2, .own = {.accuracy = 0.5}});
  translation.scores->next_word = {0.75, 1.5, 99};
  ASSERT_TRUE(save_checkpoint(folder.path(), *shaken(shapes()[3], toy_corpus()), translation));
  const TrainingCard again = **read_card(folder.path());
  EXPECT_EQ(again.plan.task, Task::translation);
  EXPECT_EQ(again.plan.corruption.mask, 0.11f);
  EXPECT_EQ(again.plan.corruption.swap, 0.12f);
  EXPECT_EQ(again.plan.corruption.family, 0.14f);
  EXPECT_EQ(again.scores->alignment.heads.at(0).own.accuracy, 0.5);
  EXPECT_EQ(again.scores->next_word.perplexity, 1.5);
  const std::string text = card_text(*shaken(shapes()[3], toy_corpus()), translation);
  for (const char* part : {"2 layers of the encoder and 2 of the decoder", "hidden (11 %) or swapped for others (12 %)",
                           "| L1·H2 | 0.500 | 0.000 |", "The next word: 75.0 % of 99 right, perplexity 1.50."})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(TrainingCard, SaysInWordsWhatWasMeasured) {
  const auto model = shaken(shapes()[0], toy_corpus());
  const std::string text = card_text(*model, full_card());
  for (const char* part :
       {"# shaken\n", "d_model 16, 2 heads of d_k 8, 2 layers", "Corpus: sentences of Headlight's grammar",
        "hidden (11 %)", "dropout 0.05", "label smoothing 0.1", "seed 5", "```\nheadlight train -o DIR\n```",
        "| verb → object | L1·H3 key→query | 0.938 | 0.50 | 0.875 | 0.25 | 0.50 | 0.62 | 1000 |\n",
        "| verb → object | L1·H2 query→key | 0.750 | 0.25 | 0.500 | 0.25 | 0.50 | 0.62 | 1000 |\n",
        "both sentences right: 19 of 20"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  TrainingCard card = full_card();
  card.scores->relations[0].en.assign(2000, 'x');
  EXPECT_NE(card_text(*model, card).find("| 1000 |\n"), std::string::npos) << "no row is cut off";
  card.scores.reset();
  card.corpus = "my.txt";
  EXPECT_EQ(card_text(*model, card).find("Scores"), std::string::npos);
  EXPECT_NE(card_text(*model, card).find("Corpus: my.txt."), std::string::npos);
}

TEST(TrainingCard, OfAPathThatIsNoTextIsWritten) {
  const Folder folder;
  TrainingCard card = full_card();
  card.corpus = "caf\xe9.txt";
  ASSERT_TRUE(save_checkpoint(folder.path(), *shaken(shapes()[0], toy_corpus()), card));
  EXPECT_EQ((**read_card(folder.path())).corpus, "caf�.txt");
}

TEST(TrainingCard, IsRefusedInOneLineWhereItIsBroken) {
  const Folder folder;
  ASSERT_TRUE(save_checkpoint(folder.path(), *shaken(shapes()[0], toy_corpus()), full_card()));
  const auto path = folder.path() / "training.json";
  const std::string whole = *read_file(path);
  const auto refusal = [&](const std::string& text) {
    EXPECT_TRUE(write_file(path, text));
    const auto read = read_card(folder.path());
    EXPECT_FALSE(read) << text.substr(0, 200);
    if (read) return std::string();
    EXPECT_TRUE(read.error().message().starts_with(path.string())) << read.error().message();
    EXPECT_EQ(read.error().message().find('\n'), std::string::npos);
    return read.error().message();
  };
  refusal("");
  refusal("[]");
  refusal(whole.substr(0, whole.size() / 2));
  for (const char* pointer : {"/schema", "/corpus", "/step", "/tokens", "/plan", "/plan/batch", "/plan/optimizer/clip",
                              "/plan/corruption/mask", "/scores/relations", "/scores/pairs/both_right"}) {
    json card = json::parse(whole);
    card[json::json_pointer(pointer)] = json::array({-1});
    EXPECT_NE(refusal(card.dump()).find(": expected "), std::string::npos) << pointer;
  }
}

}  // namespace
}  // namespace headlight::trained_checkpoint_test
