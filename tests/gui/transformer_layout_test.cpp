// The three architectures at 1280 × 800 in both languages: nothing overlaps, nothing is cut off.
#include "gui/explain_words.h"
#include "gui/harness.h"
#include "gui/matrix_map.h"

namespace headlight {
namespace {

struct Shown {
  Arch arch;
  Language language;
};

void PrintTo(const Shown& shown, std::ostream* out) {
  *out << name(shown.arch) << (shown.language == Language::zh ? " zh" : " en");
}

bool overlap(const Box& a, const Box& b) {
  constexpr float kTouching = 0.5f;
  return a.x + kTouching < b.right() && b.x + kTouching < a.right() && a.y + kTouching < b.bottom() &&
         b.y + kTouching < a.bottom();
}

bool inside(const Box& box, const Box& region) {
  return box.w > 0 && box.h > 0 && box.x >= region.x - 1 && box.right() <= region.right() + 1 && box.y >= region.y - 1 &&
         box.bottom() <= region.bottom() + 1;
}

class TransformerLayoutTest : public testing::TestWithParam<Shown> {
 protected:
  void SetUp() override {
    Document document;
    document.config.arch = GetParam().arch;
    document.mask.causal = is_causal_by_default(GetParam().arch);
    Settings settings;
    settings.language = GetParam().language;
    harness = std::make_unique<Harness>(document, ImVec2{1280, 800}, settings);
    harness->settle();
  }
  const char* word(Str string) const { return words(GetParam().language, string); }
  bool is(Arch arch) const { return GetParam().arch == arch; }
  /// The regions fill the window and do not overlap.
  void expect_apart(const std::vector<std::string>& regions) {
    for (const auto& region : regions) {
      EXPECT_TRUE(inside(harness->box(region), {0, 0, 1280, 800})) << region;
      for (const auto& other : regions)
        EXPECT_FALSE(other != region && overlap(harness->box(region), harness->box(other))) << region << ", " << other;
    }
  }
  void expect_within(const std::string& region, const std::vector<std::string>& names) {
    for (const auto& each : names) {
      EXPECT_TRUE(inside(harness->box(each), harness->box(region))) << each;
      for (const auto& other : names)
        EXPECT_FALSE(other != each && overlap(harness->box(each), harness->box(other))) << each << ", " << other;
    }
  }

  std::unique_ptr<Harness> harness;
};

TEST_P(TransformerLayoutTest, Heads) {
  Harness& h = *harness;
  h.say(Pin{CellRef{1, 1}});
  h.frame(2);
  std::vector<std::string> regions{"top bar", "sentence", "controls", "all heads", "large head", "status"};
  std::vector<std::string> sentence{"text", "samples", "split words", "split characters", "chip 0"};
  if (!is(Arch::encoder)) regions.push_back("words");
  if (is(Arch::encoder_decoder)) sentence.insert(sentence.end(), {"target text", "target chip 0"});
  expect_apart(regions);
  expect_within("sentence", sentence);
  expect_within("top bar", {"view heads", "view inside", "open", "save", "save as", "export", "undo", "redo", "reset",
                            "smaller", "larger", "theme", "language", "help"});
  for (const Str string : {Str::view_heads, Str::view_inside, Str::open, Str::save, Str::save_as, Str::export_numbers,
                           Str::undo, Str::redo, Str::reset, Str::help, Str::split, Str::samples, Str::why,
                           Str::set_by_hand, Str::linear, Str::logarithmic, Str::section_mask, Str::mask_causal})
    EXPECT_TRUE(h.says(word(string))) << word(string);
  expect_within("large head", {"switch head", "why", "weight by hand", "large map", "row bars"});
  if (is(Arch::encoder_decoder)) expect_within("all heads", {"stack encoder", "stack decoder", "stack cross", "head 0.0"});
  if (!is(Arch::encoder)) {
    expect_within("words", {"find word", "write 1", "write 5", "write 20", "temperature", "prefix"});
    for (const Str string : {Str::next_word, Str::find_word, Str::temperature, Str::prefix})
      EXPECT_TRUE(h.says(word(string))) << word(string);
    h.say(SearchWord{"zz"});
    expect_within("words", {"find word", "write 1", "write 5", "write 20", "temperature", "prefix"});
    EXPECT_TRUE(h.says(word(Str::no_such_word)));
    h.say(SearchWord{most_probable(*h.state.trace->model, probabilities(h.state.trace->logits), 1).front().text});
    expect_within("words", {"find word", "write 1", "write 5", "write 20", "temperature", "prefix"});
    h.say(SwitchHead{{0, 0}, true}, EndGesture{});
    h.settle();
    expect_within("words", {"find word", "write 1", "write 5", "write 20", "temperature", "prefix"});
    EXPECT_TRUE(h.says("→"));
  }
  for (Index layer = 0; layer < h.state.trace->num_layers(); ++layer)
    for (Index head = 0; head < h.state.trace->num_heads(); ++head) {
      const std::string id = "head " + std::to_string(layer) + "." + std::to_string(head);
      EXPECT_FALSE(overlap(h.box(id), h.box("on off " + id))) << id;
      EXPECT_TRUE(inside(h.box("on off " + id), h.box("all heads"))) << id;
    }
  const HeadRef last{h.state.trace->num_layers() - 1, h.state.trace->num_heads() - 1};
  EXPECT_TRUE(h.says(std::string(word(Str::layer)) + " " + std::to_string(last.layer + 1) + " · " + word(Str::head) + " " +
                     std::to_string(last.head + 1)));
  EXPECT_TRUE(h.says(word(Str::what_is_a_square)));
}

TEST_P(TransformerLayoutTest, TheControls) {
  Harness& h = *harness;
  const std::vector<Str> all{Str::section_model, Str::arch, Str::encoder_decoder, Str::heads, Str::seed, Str::positions,
                             Str::position_learned, Str::position_rotary, Str::scale_automatic, Str::dropout,
                             Str::section_block, Str::norm_kind, Str::feed_forward, Str::activation, Str::gated,
                             Str::kv_heads, Str::own_d_k, Str::bias, Str::tied};
  const Box column = h.box("controls");
  h.move_to({column.x + 6, column.y + column.h / 2});
  std::string seen;
  h.wheel(1000);
  for (int i = 0; i < 30; ++i) {
    seen += h.words_on_screen() + "\n";
    h.wheel(-1);
  }
  for (const Str string : all) {
    std::string wanted = word(string);
    std::erase(wanted, ' ');
    EXPECT_NE(seen.find(wanted), std::string::npos) << wanted;
  }
  EXPECT_NE(seen.find("FFN"), std::string::npos);
}

TEST_P(TransformerLayoutTest, TheStepsInside) {
  Harness& h = *harness;
  const Language language = GetParam().language;
  h.say(Pin{CellRef{1, 1}}, ShowView{View::inside}, LookAt{{matrix_id(Quantity::query), MatrixCell{1, 3}}});
  h.settle();
  expect_apart({"top bar", "sentence", "controls", "way", "inside", "status"});
  expect_within("way", {"show steps", "show way"});
  expect_within("inside", {"look back", "matrix", "cell value"});
  const Trace& trace = *h.state.trace;
  for (const Step& step : h.state.inside->steps) {
    ASSERT_TRUE(h.scroll_into("way", "step " + step.name)) << step.name;
    EXPECT_LE(h.box("step " + step.name).right(), h.box("way").right());
    EXPECT_TRUE(h.says(step_title(language, trace, step))) << step.name;
    EXPECT_TRUE(h.says(step_formula(language, trace, step))) << step.name << ": " << step_formula(language, trace, step);
    EXPECT_TRUE(step.value.size() > 1 || h.says(exact_number(step.value(0, 0)))) << step.name;
  }
  const MatrixId id = h.state.view.look.matrix;
  EXPECT_TRUE(h.says(words_of(language, id.quantity)));
  EXPECT_TRUE(h.says(words_of(language, h.state.inside->terms->operation)));
  for (const std::size_t i : {0u, 1u}) {
    const Term& term = h.state.inside->terms->terms[i];
    EXPECT_TRUE(h.says(exact_number(term.from.value)));
    EXPECT_TRUE(h.says(exact_number(term.times->value)));
    EXPECT_TRUE(h.says("= " + exact_number(term.contribution)));
  }
}

TEST_P(TransformerLayoutTest, TheHeadingsOfAllMatrices) {
  Harness& h = *harness;
  const Language language = GetParam().language;
  h.say(ShowView{View::inside});
  const Trace& trace = *h.state.trace;
  for (const Stack stack : kStacks) {
    if (!trace.has(stack) || stack == Stack::cross) continue;
    for (const MatrixId& id : matrices_of(trace, stack, 1, 1)) {
      h.say(LookAt{{id, MatrixCell{0, 0}}});
      h.settle();
      const Shape size = shape(trace, id);
      EXPECT_TRUE(h.says(words_of(language, id.quantity))) << path(trace, id);
      EXPECT_TRUE(h.says(formula_in(language, trace, id) + "   " + std::to_string(size.rows) + " × " +
                         std::to_string(size.cols)))
          << path(trace, id) << ": " << formula_in(language, trace, id);
      EXPECT_TRUE(h.says("= " + exact_number(whole(trace, id)(0, 0)))) << path(trace, id);
      EXPECT_TRUE(inside(h.box("matrix"), h.box("inside"))) << path(trace, id);
    }
  }
}

TEST_P(TransformerLayoutTest, TheDiagramInside) {
  Harness& h = *harness;
  h.say(ChooseHead{{1, 0}}, ShowView{View::inside}, ShowSteps{false});
  h.settle();
  const Box region = h.box("way");
  for (const Node& node : h.state.inside->diagram.nodes) {
    ASSERT_TRUE(h.scroll_into("way", "node " + node.id)) << node.id;
    const Box box = h.box("node " + node.id);
    EXPECT_TRUE(box.x >= region.x && box.right() <= region.right()) << node.id;
    EXPECT_TRUE(h.says(node_title(GetParam().language, node))) << node.id << ": " << node_title(GetParam().language, node);
    for (const auto& [name, other] : h.probe)
      EXPECT_FALSE(name.starts_with("node ") && name != "node " + node.id && overlap(box, other)) << node.id << ", " << name;
  }
}

INSTANTIATE_TEST_SUITE_P(, TransformerLayoutTest,
                         testing::ValuesIn([] {
                           std::vector<Shown> all;
                           for (const Arch arch : {Arch::encoder, Arch::decoder, Arch::encoder_decoder})
                             for (const Language language : {Language::en, Language::zh}) all.push_back({arch, language});
                           return all;
                         }()),
                         [](const auto& tested) {
                           const char* arches[] = {"Encoder", "Decoder", "EncoderDecoder"};
                           return std::string(arches[static_cast<int>(tested.param.arch)]) +
                                  (tested.param.language == Language::zh ? "Zh" : "En");
                         });

}  // namespace
}  // namespace headlight
