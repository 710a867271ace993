// Small trained models in a folder that the program takes for its data: the fixture of tests about bundled models.
#pragma once

#include <gtest/gtest.h>

#include "app/session_fixture.h"
#include "models/bundled_models.h"
#include "session/update.h"
#include "train/grammars.h"
#include "train/trained_checkpoint.h"

namespace headlight::fixture {

inline Config shape(Index d_model, Index heads, Index layers, Arch arch = Arch::encoder) {
  return {.arch = arch,
          .d_model = d_model,
          .num_heads = heads,
          .num_layers = layers,
          .ffn = 16,
          .norm = Norm::pre,
          .activation = Activation::gelu};
}

/// A model of the default sentence's words, and of more, in `folder`.
inline void write_model(const fs::path& folder, Config config, const std::vector<std::string>& more = {}) {
  std::vector<std::vector<std::string>> text = {{"我", "请", "李雷", "帮", "订了", "去", "北京", "的", "机票"}};
  if (!more.empty()) text.push_back(more);
  const Corpus corpus = *corpus_of("text", text, 100, 20);
  config.seed = 4;
  const TrainingPlan plan = grammars::small_plan(config, 3);
  TrainingCard card{.plan = plan, .corpus = "grammar", .command = "", .step = 3};
  card.scores.emplace();
  for (const char* relation : {"VO", "SP"}) {
    RelationScore& score = card.scores->relations.emplace_back();
    score.relation = relation;
    score.chosen = {0, 1, true};
  }
  ASSERT_TRUE(save_checkpoint(folder, *trained_model(grammars::trained(plan, corpus, 3), corpus, "shipped"), card));
}

/// The program's data with four models in them.
class Shipped : public testing::Test {
 protected:
  Shipped() : data_("HEADLIGHT_DATA", folder_.path().c_str()) {
    const auto models = folder_.path() / "assets" / "models";
    fs::create_directories(folder_.path() / "shaders");
    fs::create_directories(models);
    write_model(models / "encoder", shape(16, 4, 2));
    write_model(models / "d-32", shape(32, 4, 2));
    write_model(models / "heads-2", shape(16, 2, 2));
    write_model(models / "decoder", shape(16, 4, 2, Arch::decoder));
  }

  std::shared_ptr<const BundledModels> models() const {
    const auto read = read_shipped_models();
    EXPECT_TRUE(read) << (read ? "" : read.error().message());
    return read ? *read : nullptr;
  }
  AppState state() const {
    const auto shipped = models();
    return initial_state(lexicon(), default_document(shipped.get()), Settings{}, {}, shipped);
  }

  Folder folder_;
  Variable data_;
};

}  // namespace headlight::fixture
