// The figure of the shaded text: its numbers are those of the export, its lines are whole, and its caption describes
// what it shows.
#include <nlohmann/json.hpp>

#include "app/figures.h"
#include "app/program.h"
#include "math/attention.h"
#include "question/json/export.h"
#include "session/file/session_file.h"
#include "session/update.h"
#include "views/text/text_scene.h"

namespace headlight {
namespace {

using namespace figures;

const std::atomic<bool> kGoesOn = false;

/// The weights as `headlight export` writes them.
nlohmann::json exported_weights(const Document& document) {
  const fixture::Folder folder;
  Progress progress;
  const auto requests = requests_of(document, fixture::lexicon());
  const auto written = export_document(document, *requests, Format::json, {}, folder / "a.json", progress);
  EXPECT_TRUE(written) << written.error().message();
  return nlohmann::json::parse(*read_file(folder / "a.json"))["attention"];
}

std::size_t place(Index index) { return static_cast<std::size_t>(index); }

float exported(const nlohmann::json& attention, const HeadRef& head, Index query, Index key) {
  for (const auto& stack : attention) {
    const auto name = stack["name"].get<std::string>();
    const Stack of = name == "Cross" ? Stack::cross : name == "Encoder" ? Stack::encoder : Stack::self;
    if (of == head.stack)
      return stack["attn"][place(head.layer)][place(head.head)][place(query)][place(key)].get<float>();
  }
  ADD_FAILURE() << "no such stack";
  return 0;
}

TEST(Shades, AreTheExportedWeights) {
  for (const Arch arch : {Arch::encoder, Arch::decoder, Arch::encoder_decoder}) {
    const Document document = document_of(12, arch);
    const auto trace = answer_of(document);
    const auto weights = exported_weights(document);
    for (const Stack stack : kStacks) {
      if (!trace->has(stack)) continue;
      const HeadRef head{1, 1, stack};
      const Vector row = shades_of(*trace, nullptr, {.head = head, .words = {5}}, kGoesOn);
      ASSERT_EQ(row.size(), trace->keys(stack));
      for (Index key = 0; key < row.size(); ++key) {
        const bool open = trace->mask(stack, head.layer).allowed(5, key);
        EXPECT_EQ(row(key), open ? exported(weights, head, 5, key) : -1) << key;
      }
      const Vector column = shades_of(*trace, nullptr, {.head = head, .columns = true, .words = {3}}, kGoesOn);
      ASSERT_EQ(column.size(), trace->queries(stack));
      for (Index query = 0; query < column.size(); ++query)
        if (column(query) >= 0) EXPECT_EQ(column(query), exported(weights, head, query, 3)) << query;
        else EXPECT_FALSE(trace->mask(stack, head.layer).allowed(query, 3)) << query;
    }
  }
}

TEST(Shades, SeveralRowsAreAveragedSeveralColumnsSummedAndHeadsAveraged) {
  const Document document = document_of(60);
  const auto trace = answer_of(document);
  const auto weights = exported_weights(document);
  const std::vector<Index> words{2, 3, 4, 50};
  const ShadeChoice choice{.head = {1, 0}, .words = words};
  const auto sum_of = [&](const HeadRef& head, Index other, bool columns) {
    double sum = 0;
    for (const Index word : words)
      sum += static_cast<double>(columns ? exported(weights, head, other, word) : exported(weights, head, word, other));
    return sum;
  };
  const auto mean_of = [&](const std::vector<HeadRef>& heads, Index other, bool columns) {
    double sum = 0;
    for (const HeadRef& head : heads) sum += sum_of(head, other, columns);
    return sum / static_cast<double>(heads.size());
  };
  for (const ShadeHeads heads : {ShadeHeads::head, ShadeHeads::layer, ShadeHeads::all})
    for (const bool columns : {false, true}) {
      ShadeChoice one = choice;
      one.heads = heads, one.columns = columns;
      const Vector shades = shades_of(*trace, nullptr, one, kGoesOn);
      for (const Index other : {0, 7, 59})
        EXPECT_NEAR(shades(other), mean_of(shading_heads(*trace, one), other, columns) / (columns ? 1.0 : 4.0), 1e-7)
            << name(heads) << other;
    }
  EXPECT_EQ(shading_heads(*trace, {.head = {1, 0}, .heads = ShadeHeads::layer}).size(),
            static_cast<std::size_t>(trace->num_heads()));
}

TEST(Shades, FoldedTextsHaveTheNumbersOfTheFoldedMaps) {
  const Document document = small_document("我爱北京");
  const auto trace = answer_of(document);
  Tokens tokens = trace->key_tokens();
  tokens.tokens[0].special = true;
  const auto fold = fold_of(tokens, tokens, {.special = true});
  ASSERT_TRUE(fold);
  FoldedStack stack{.fold = *fold, .num_heads = trace->num_heads(), .maps = {}};
  for (Index layer = 0; layer < trace->num_layers(); ++layer)
    for (Index head = 0; head < trace->num_heads(); ++head)
      stack.maps.push_back(folded(attention_rows(*trace, {layer, head}, 0, trace->queries()), *fold));
  const Vector shades = shades_of(*trace, &stack, {.head = {0, 1}, .words = {1}}, kGoesOn);
  ASSERT_EQ(shades.size(), trace->keys() - 1);
  for (Index key = 0; key < shades.size(); ++key) EXPECT_EQ(shades(key), stack.map({0, 1})(0, key));
  EXPECT_EQ(shades_of(*trace, &stack, {.head = {0, 1}, .words = {0}}, kGoesOn).size(), 0) << "it is left out";
}

TEST(TextLines, StandApartAsTheTextDoesAndBreakWhereTheWidthEnds) {
  Tokens tokens;
  const auto add = [&](const std::string& part) {
    const std::size_t begin = tokens.text.size();
    tokens.text += part;
    tokens.tokens.push_back(
        {.text = part.substr(part.find_first_not_of(" \n")), .raw = part, .begin = begin, .end = tokens.text.size()});
  };
  for (const char* part : {"the", " cat", "s", " sat", "\nmats", " of", " wool"}) add(part);
  const TextLines lines = text_lines(tokens.tokens, tokens.text, 64, 10, roughly);
  const auto gap = [&](Index word) { return lines.box(word).x - lines.box(word - 1).right(); };
  EXPECT_GT(gap(1), 1) << "a space";
  EXPECT_LT(gap(2), 1) << "a piece of the word before";
  EXPECT_EQ(lines.begins, (std::vector<Index>{0, 3, 4, 7})) << "where the width ends, and at a line break";
  for (Index word = 0; word < 7; ++word) {
    EXPECT_GE(lines.box(word).x, -1e-4f);
    EXPECT_LE(lines.box(word).right(), 64) << word;
  }
  EXPECT_EQ(lines.below(0, 1), 3);
  EXPECT_EQ(lines.below(5, 1), 5) << "there is no line below";
  EXPECT_EQ(lines.below(3, -1), 0);
}

/// The words of a line as they are read from the left.
std::vector<std::string> from_the_left(const std::vector<std::string>& words) {
  std::vector<Token> tokens;
  std::string typed;
  for (const std::string& word : words) {
    if (!typed.empty()) typed += ' ';
    tokens.push_back({.text = word, .raw = word, .begin = typed.size(), .end = typed.size() + word.size()});
    typed += word;
  }
  TextLines lines =
      text_lines(tokens, typed, 900, 10, [](std::string_view text, float) { return static_cast<float>(text.size()); });
  std::ranges::sort(lines.words, {}, &TextLines::Word::x);
  std::vector<std::string> read;
  for (const TextLines::Word& word : lines.words) read.push_back(word.label);
  return read;
}

TEST(TextLines, NamesWithinASentenceThatRunsTheOtherWayStandInTheirOwnOrder) {
  using Read = std::vector<std::string>;
  EXPECT_EQ(from_the_left({"שלום", "New", "York", "2024", "עולם", "."}),
            (Read{".", "עולם", "New", "York", "2024", "שלום"}));
  EXPECT_EQ(from_the_left({"the", "שלום", "עולם", "3", "cat"}), (Read{"the", "3", "עולם", "שלום", "cat"}));
  EXPECT_EQ(from_the_left({"שלום", "5", "(", "AI", ")"}), (Read{")", "AI", "(", "5", "שלום"}));
  EXPECT_EQ(from_the_left({"the", "cat", "3"}), (Read{"the", "cat", "3"}));
}

TEST(TextFigure, IsTidyAndEachShadeHasTheColourOfItsWeight) {
  for (const Index count : {3, 60, 400}) {
    const Document document = document_of(count);
    const auto trace = answer_of(document);
    for (const float mm : {kLeastMm, kColumnMm, kSlideMm}) {
      FigureOptions options{.kind = FigureKind::text, .width = mm * kPointsInMm, .head = {1, 1}};
      options.shades.words = {1, 2};
      const Drawing drawing = drawn(document, *trace, options);
      expect_tidy(drawing);
      ASSERT_EQ(drawing.hits.size(), static_cast<std::size_t>(trace->keys()));
      const Vector shades = shades_of(*trace, nullptr, {.head = {1, 1}, .words = {1, 2}}, kGoesOn);
      const ColourScale scale = shade_scale(shades, trace->key_tokens().tokens, {});
      for (const Rectangle& rectangle : all<Rectangle>(drawing)) {
        if (!rectangle.fill) continue;
        const auto hit = std::find_if(drawing.hits.begin(), drawing.hits.end(),
                                      [&](const Hit& one) { return one.box == rectangle.box; });
        ASSERT_NE(hit, drawing.hits.end());
        EXPECT_EQ(*rectangle.fill, colour_of(scale, shades(hit - drawing.hits.begin())));
      }
      EXPECT_TRUE(says(drawing, "2 words")) << words_of(drawing);
    }
  }
}

TEST(TextFigure, ItsCaptionCountsAndNamesNoWordThatIsFoldedAway) {
  const auto trace = answer_of(document_of(3, Arch::encoder));
  const auto caption = [&](const ShadeChoice& choice, const std::vector<Index>& chosen) {
    return shades_in_words(Language::en, *trace, choice, trace->request.tokens.tokens, chosen);
  };
  EXPECT_EQ(caption({.words = {0}}, {}), "Nothing is shaded: the chosen word is not shown");
  EXPECT_TRUE(contains(caption({.heads = ShadeHeads::layer}, {1}), " · mean of the 2 heads of layer 0"));
  Document one = document_of(3, Arch::encoder);
  one.config.num_heads = one.config.num_layers = 1;
  const auto alone = answer_of(one);
  EXPECT_EQ(shades_in_words(Language::en, *alone, {.heads = ShadeHeads::all}, trace->request.tokens.tokens, {1, 2}),
            "Shaded: where 2 words look, mean of their rows")
      << "no mean of one head";
}

TEST(TextFigure, OfTwoTextsShowsBoth) {
  const Document document = document_of(20, Arch::encoder_decoder);
  const auto trace = answer_of(document);
  FigureOptions options{.kind = FigureKind::text, .width = kSlide, .head = {0, 1, Stack::cross}};
  options.shades = {.columns = true, .words = {4}};
  const Drawing drawing = drawn(document, *trace, options);
  expect_tidy(drawing);
  ASSERT_EQ(drawing.hits.size(), static_cast<std::size_t>(trace->queries(Stack::cross) + trace->keys(Stack::cross)));
  EXPECT_EQ(drawing.hits.front().name, "text query 0");
  const std::size_t keys = static_cast<std::size_t>(trace->queries(Stack::cross));
  EXPECT_EQ(drawing.hits[keys].name, "text key 0");
  EXPECT_LT(drawing.hits.front().box.right(), drawing.hits[keys].box.x) << "side by side";
  options.shades.words = {99};
  const auto refused = draw_figure({*trace, document}, options, roughly);
  EXPECT_FALSE(refused);
}

TEST(TextFigure, CommandTakesWordsAndMeans) {
  using namespace program;
  const Folder folder;
  const std::string file = (folder / "a.svg").string();
  const auto ran = [&](const std::vector<std::string>& more) {
    Strings words{"figure", "--view", "text", "--text", "我请李雷帮我订了去北京的机票", "-o", file};
    words.insert(words.end(), more.begin(), more.end());
    return run(small(words));
  };
  for (const Strings& words :
       {Strings{}, {"--query", "3"}, {"--queries", "1,3-5"}, {"--keys", "2", "--mean", "layer"}, {"--mean", "all"}}) {
    const Ran one = ran(words);
    EXPECT_EQ(one.status, 0) << one.err;
  }
  EXPECT_EQ(ran({"--queries", "3-99"}).status, 2);
  EXPECT_EQ(ran({"--queries", "x"}).status, 2);
  EXPECT_EQ(ran({"--queries", "1", "--keys", "2"}).status, 2);
  EXPECT_EQ(run(small({"figure", "--view", "head", "--mean", "all", "-o", file})).status, 2);
}

TEST(TextLook, IsKeptInASession) {
  AppState state = fixture::answered_state();
  const TextLook look{.form = StageForm::text, .columns = true, .heads = ShadeHeads::all, .words = {1, 3}};
  update(state, SetTextLook{look});
  const auto read = session_from_json("a", to_json(session_of(state)));
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->view.text, look);
  update(state, Pin{CellRef{0, 0}});
  EXPECT_TRUE(state.view.text.words.empty()) << "another cell is another word";
}

}  // namespace
}  // namespace headlight
