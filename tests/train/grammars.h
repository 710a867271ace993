// What the tests of the grammar and of training share: the grammar that comes with the program, a toy one to be
// changed, small trainings.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "temporary_folder.h"
#include "train/plan.h"

namespace headlight::grammars {

using nlohmann::json;

inline const std::shared_ptr<const Grammar>& shipped() {
  static const std::shared_ptr<const Grammar> grammar = [] {
    const auto path = std::filesystem::path(HEADLIGHT_TEST_DATA).parent_path() / "assets" / "grammar.json";
    auto read = parse_grammar("grammar.json", *read_file(path));
    EXPECT_TRUE(read) << (read ? "" : read.error().message());
    return std::make_shared<const Grammar>(*std::move(read));
  }();
  return grammar;
}

/// `count` words that begin with `name`.
inline std::string words(const std::string& name, int count) {
  std::string list;
  for (int i = 0; i < count; ++i)
    list += (i > 0 ? " " : "") + name + static_cast<char>('a' + i / 26) + static_cast<char>('a' + i % 26);
  return list;
}

/// Sentences of three words, "WHO VERB OBJECT", and of four, "WHO VERB PLACE OBJECT", three to one.
inline json toy() {
  json grammar;
  grammar["relations"]["SP"] = {{"en", "subject → predicate"}, {"zh", "主谓"}};
  grammar["relations"]["VO"] = {{"held_out", true}, {"en", "verb → object"}, {"zh", "动宾"}};
  grammar["lists"] = {{"who", words("n", 40)}, {"place", words("p", 40)}};
  grammar["links"]["act"] = {{{"verb", "reads writes opens"}, {"object", words("book", 12)}},
                             {{"verb", "eats cooks bakes"}, {"object", words("food", 12)}}};
  grammar["literals"] = json::array();
  const json near = {{"name", "near"},
                     {"language", "en"},
                     {"weight", 3},
                     {"choose", {{"a", "act"}}},
                     {"relations", {{"SP", "w v"}, {"VO", "v o"}}},
                     {"variants", {{{"words", "{w:who} {v:a.verb} {o:a.object}"}}}}};
  const json far = {{"name", "far"},
                    {"language", "en"},
                    {"weight", 1},
                    {"choose", {{"a", "act"}}},
                    {"relations", {{"SP", "w v"}, {"VO", "v o"}}},
                    {"variants", {{{"words", "{w:who} {v:a.verb} {place} {o:a.object}"}}}}};
  grammar["kinds"] = {near, far};
  return grammar;
}

/// The toy in English, objects before people: "an opentomeaa Naa had reads", "tomeab from at Pac , the oneab didreads".
/// Of people every other one is a name, the others take an article.
inline json translated_toy() {
  json grammar = toy();
  json& english = grammar["english"];
  const auto add = [&](const std::string& word, const json& said) { english[word] = said; };
  for (int i = 0; i < 40; ++i) {
    const std::string letters = {static_cast<char>('a' + i / 26), static_cast<char>('a' + i % 26)};
    add("n" + letters, i % 2 == 0 ? "N" + letters : "one" + letters);
    add("p" + letters, "at P" + letters);
    if (i >= 12) continue;
    add("book" + letters, (i % 2 == 0 ? "open" : "") + ("tome" + letters));
    add("food" + letters, {{"plain", "meal" + letters}, {"many", "meals of (the) " + letters + "s"}});
  }
  for (const char* verb : {"reads", "writes", "opens", "eats", "cooks", "bakes"})
    add(verb, {{"plain", std::string("did") + verb}, {"past", std::string("had ") + verb}});
  grammar["kinds"][0]["variants"][0]["english"] = "a {o} {w.the} {w} {v.past}";
  grammar["kinds"][1]["variants"][0]["english"] = "{o.many} [from {place} ,] {w.the} {w} {v}";
  return grammar;
}

inline std::shared_ptr<const Grammar> parsed(const json& grammar) {
  auto read = parse_grammar("toy.json", grammar.dump());
  EXPECT_TRUE(read) << (read ? "" : read.error().message());
  return read ? std::make_shared<const Grammar>(*std::move(read)) : nullptr;
}

inline Corpus toy_corpus() { return corpus_of(parsed(toy())); }

inline Config small_config(Arch arch = Arch::encoder) {
  return {.arch = arch,
          .d_model = 16,
          .num_heads = 2,
          .num_layers = 2,
          .ffn = 24,
          .norm = Norm::pre,
          .activation = Activation::gelu,
          .seed = 5};
}

/// A training of a few small steps.
inline TrainingPlan small_plan(Config config, Index steps) {
  TrainingPlan plan = default_plan(config);
  plan.config = config;
  plan.batch = 8;
  plan.recipe.schedule = {.peak = 5e-3f, .warmup = 10, .steps = steps};
  return plan;
}

inline Training trained(const TrainingPlan& plan, const Corpus& corpus, Index until) {
  Training training = *begin_training(plan, corpus);
  Workspace workspace(2);
  train(training, plan, corpus, workspace, until, [](const StepReport&, const Batch&) { return true; });
  return training;
}

using Folder = TemporaryFolder;

}  // namespace headlight::grammars
