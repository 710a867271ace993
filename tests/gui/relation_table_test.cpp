// How well each layer shows each relation of the grammar, in the view of all heads.
#include "gui/harness.h"
#include "models/open_model.h"
#include "names/sentence_facts.h"
#include "session/head_grid.h"
#include "session/loop/command_line_of.h"
#include "train/run/training_files.h"

namespace headlight {
namespace {

class RelationTableTest : public GuiTest {
 protected:
  void open(const std::string& source) {
    const auto opened = open_model(source);
    ASSERT_TRUE(opened) << opened.error().message();
    start(opened->document);
  }
  void show() {
    harness->push(ShowGrid{GridShow::relations});
    harness->settle();
    harness->probe.clear();
    harness->frame(2);
  }
};

std::string cell_of(const RelationScore& relation, std::size_t layer) {
  return "relation " + relation.relation + " " + std::to_string(layer);
}

TEST_F(RelationTableTest, EachLayerHasItsBestHead) {
  open("shipped:encoder-d32-h2");
  Harness& h = *harness;
  h.push(ShowGrid{GridShow::relations});
  EXPECT_EQ(known_layer_scores(h.state), nullptr) << "it is measured only where it is looked at";
  EXPECT_TRUE(h.says("Each relation is being measured"));
  show();
  const auto* scores = known_layer_scores(h.state);
  ASSERT_TRUE(scores);

  // The same numbers as `headlight heads --relations --by layer`.
  Progress progress;
  const auto measured = measure_relations(h.state.document.model, *shipped_grammar(), {}, progress);
  ASSERT_TRUE(measured && *measured);
  ASSERT_EQ(scores->size(), (*measured)->relations.size());
  for (std::size_t r = 0; r < scores->size(); ++r) {
    const RelationScore &shown = (*scores)[r], &expected = (*measured)->relations[r];
    EXPECT_EQ(shown.best_of_layer, expected.best_of_layer) << expected.relation;
    ASSERT_EQ(shown.best_of_layer.size(), 2u);
    for (std::size_t layer = 0; layer < 2; ++layer) {
      const std::size_t best = shown.best_of_layer[layer];
      EXPECT_EQ(shown.heads[best].accuracy, expected.heads[best].accuracy) << expected.relation;
      EXPECT_TRUE(h.has(cell_of(shown, layer)));
      EXPECT_LE(h.box(cell_of(shown, layer)).bottom(), h.box("atlas").bottom());
    }
  }
  EXPECT_TRUE(h.says("L0 L1"));
  EXPECT_TRUE(h.says("Each layer's best head, and how often it finds the right word. Tick: position alone."));

  // A click chooses the head.
  for (const std::size_t layer : {1, 0}) {
    const RelationScore& relation = scores->front();
    const DirectedHead& best = relation.directed[relation.best_of_layer[layer]];
    h.click(cell_of(relation, layer));
    EXPECT_EQ(h.state.view.chosen, (HeadRef{best.layer, best.head}));
  }
  h.point_at(cell_of(scores->front(), 1));
  EXPECT_TRUE(h.says("On " + std::to_string(scores->front().sentences) + " sentences kept from training"));

  const auto words = command_words(h.state);
  ASSERT_TRUE(words) << words.error().message();
  EXPECT_EQ(shell_line(*words), "headlight heads shipped:encoder-d32-h2 --relations --by layer");

  // Another sentence changes nothing about the model.
  h.push(SetText{"我爱你"}, EndGesture{});
  h.settle();
  EXPECT_EQ(known_layer_scores(h.state), scores);
  h.push(SetSettings{[&] {
    Settings settings = h.state.settings;
    settings.language = Language::zh;
    return settings;
  }()});
  h.frame(2);
  EXPECT_TRUE(h.says("只靠位置"));
  EXPECT_TRUE(h.says("逐层关系"));
}

TEST_F(RelationTableTest, SaysWhyThereIsNone) {
  Harness& h = *harness;
  show();
  EXPECT_TRUE(h.says("These weights are random"));
  EXPECT_EQ(h.state.layer_scores, nullptr);
  open("shipped:translator");
  show();
  EXPECT_TRUE(harness->says("A model that translates has no relations within one sentence"));
  EXPECT_EQ(harness->state.layer_scores, nullptr);
  open(HEADLIGHT_TEST_DATA "/golden/gpt2");
  harness->push(SetIds{{1, 2, 3}}, EndGesture{});
  show();
  const Error* error = harness->state.layer_scores.error_of(*layer_question(harness->state));
  ASSERT_TRUE(error);
  EXPECT_TRUE(harness->says(error->message()));
  EXPECT_NE(error->message(), "");
}

}  // namespace
}  // namespace headlight
