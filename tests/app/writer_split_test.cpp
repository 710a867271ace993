// What wrote a score, as the views show it: the map has all of the sum, whatever it names, and each head leads on.
#include "derived/writer_split.h"

#include <cmath>
#include <iostream>

#include "app/figures.h"
#include "app/session_fixture.h"
#include "figure/labels.h"
#include "math/attention.h"
#include "model/head_text.h"
#include "views/inside/inside_labels.h"

namespace headlight {
namespace {

using namespace figures;

Document deep_document(Arch arch) {
  Document document = document_of(12, arch);
  document.config = {.arch = arch, .d_model = 16, .num_heads = 4, .num_layers = 5, .ffn = 8};
  return document;
}

TEST(WriterSplit, TheMapHasAllOfTheSumAndTheListAllTermsBySize) {
  for (const Arch arch : {Arch::encoder, Arch::decoder, Arch::encoder_decoder}) {
    const auto trace = answer_of(deep_document(arch));
    for (const Stack stack : kStacks) {
      if (!trace->has(stack)) continue;
      SCOPED_TRACE(stack_name(stack));
      const HeadRef head{4, 1, stack};
      const auto found = writer_split(*trace, head, {3, 2});
      ASSERT_TRUE(found) << found.error().message();
      const ScoreSplit& split = found->split;
      EXPECT_NEAR(split.sum, split.score, 1e-4 * std::max(1.0, std::abs(split.score)));
      EXPECT_NEAR(found->sums.cast<double>().sum(), split.sum, 1e-4 * std::max(1.0, std::abs(split.sum)));
      EXPECT_EQ(found->sums.rows(), static_cast<Index>(found->queries.size()));
      EXPECT_EQ(found->sums.cols(), static_cast<Index>(found->keys.size()));
      EXPECT_EQ(found->queries.writers.size() + found->queries.others, split.queries.size());
      EXPECT_EQ(found->largest, found->sums.cwiseAbs().maxCoeff());
      ASSERT_EQ(found->order.size(), split.terms.size());
      for (std::size_t i = 1; i < found->order.size(); ++i)
        EXPECT_GE(std::abs(split.terms[found->order[i - 1]].value), std::abs(split.terms[found->order[i]].value));
    }
  }
}

TEST(WriterSplit, OfManyWritersThoseWithMostAreNamedAndTheOthersAreOneSum) {
  const auto trace = answer_of(deep_document(Arch::decoder));
  const auto found = writer_split(*trace, {4, 0}, {5, 3});
  ASSERT_TRUE(found);
  ASSERT_GT(found->split.queries.size(), kNamedWriters);
  EXPECT_EQ(found->queries.writers.size(), kNamedWriters);
  for (Index row = 0; row < found->sums.rows(); ++row)
    for (Index column = 0; column < found->sums.cols(); ++column) {
      const auto is_named = [](const WriterAxis& axis, const Writer& writer) {
        return std::find(axis.writers.begin(), axis.writers.end(), writer) != axis.writers.end();
      };
      const auto stands_in = [&](const WriterAxis& axis, Index at, const Writer& writer) {
        const auto i = static_cast<std::size_t>(at);
        return i < axis.writers.size() ? axis.writers[i] == writer : !is_named(axis, writer);
      };
      double sum = 0;
      for (const ScoreTerm& term : found->split.terms)
        if (stands_in(found->queries, row, term.query) && stands_in(found->keys, column, term.key)) sum += term.value;
      EXPECT_NEAR(static_cast<double>(found->sums(row, column)), sum, 1e-5);
    }
  const std::vector<Token> labels = writer_labels(Language::en, found->queries);
  ASSERT_EQ(labels.size(), kNamedWriters + 1);
  EXPECT_EQ(labels.back().text, std::to_string(found->queries.others) + " others");
}

TEST(WriterSplit, AHeadLeadsToItsStrongestCellOfTheToken) {
  const auto trace = answer_of(deep_document(Arch::encoder_decoder));
  EXPECT_FALSE(cell_of_writer(*trace, {WriterKind::embedding, {}}, 2));
  EXPECT_FALSE(cell_of_writer(*trace, {WriterKind::ffn, {1, 0}}, 2));
  for (const Stack stack : kStacks) {
    const HeadRef head{1, 3, stack};
    const auto at = cell_of_writer(*trace, {WriterKind::head, head}, 2);
    ASSERT_TRUE(at);
    EXPECT_EQ(at->head, head);
    EXPECT_EQ(at->cell.query, 2);
    const Matrix row = attention_rows(*trace, head, 2, 1);
    EXPECT_EQ(row(0, at->cell.key), row.maxCoeff());
  }
}

/// An answer of the model for any sentence, its tokens by their words.
struct RivalSentence {
  std::shared_ptr<const Trace> trace;
  Fold fold;

  explicit RivalSentence(const std::string& text) {
    Document document = open_model("shipped:any-sentence")->document;
    set_text(document, TextSide::source, text, fixture::lexicon());
    trace = *forward(requests_of(document, fixture::lexicon())->front());
    fold = fold_or_whole(trace->query_tokens(), trace->key_tokens(), {.special = true, .words = true});
  }
  /// The last word of this text.
  Index word(const std::string& text) const {
    Index at = -1;
    for (std::size_t i = 0; i < fold.keys.tokens.size(); ++i)
      if (fold.keys.tokens[i].text == text) at = static_cast<Index>(i);
    return at;
  }
  std::string text(const FoldedAxis::Group& tokens) const { return joined(trace->key_tokens(), tokens).text; }
  Rivals rivals(const std::string& from, const std::string& to, const HeadRef& head = {3, 7}) const {
    const auto found = rivals_of(*trace, head, fold.cell_of({word(from), word(to)}), unwatched());
    EXPECT_TRUE(found && *found) << from << " " << to;
    return found && *found ? **found : Rivals{};
  }
};

/// Every line is the mean over the pieces of what its writer gives, so that lines and rest are the difference; without
/// the writer the weights are those of a pass with it off.
TEST(Rivals, LinesAndRestAreTheDifferenceAndEachIsProved) {
  for (const auto& [last, better] : {std::pair<const char*, const char*>{"big", "trophy"}, {"small", "suitcase"}}) {
    const RivalSentence own(std::string("The trophy does not fit in the suitcase because it is too ") + last);
    for (const char* pinned : {"trophy", "suitcase"}) {
      const Rivals found = own.rivals("it", pinned);
      EXPECT_EQ(own.text(found.word), better) << "the heavier one first";
      EXPECT_EQ(own.text(found.query), "it");
      const Matrix map = folded(own.trace->head({3, 7}).thumbnail, own.fold);
      EXPECT_NEAR(found.weight, map(own.word("it"), own.word(better)), 1e-5);
      EXPECT_NEAR(found.difference, std::log(static_cast<double>(found.weight / found.rival_weight)), 1e-3);
      double sum = found.rest;
      for (const Rivals::Line& line : found.lines) sum += line.value;
      EXPECT_NEAR(sum, found.difference, 1e-6);
      EXPECT_LE(found.lines.size(), kMostRivalLines);
      int proved = 0;
      for (const Rivals::Line& line : found.lines) {
        EXPECT_EQ(line.weight.has_value(),
                  line.writer && (line.writer->kind == WriterKind::head || line.writer->kind == WriterKind::ffn));
        if (!line.weight || line.writer->kind != WriterKind::head) continue;
        ++proved;
        Request without = own.trace->request;
        switch_off(without.edits, line.writer->head, true);
        const Matrix off = folded((*forward(without))->head({3, 7}).thumbnail, own.fold);
        EXPECT_NEAR(*line.weight, off(own.word("it"), own.word(better)), 1e-5);
      }
      EXPECT_GT(proved, 0);
    }
  }
}

TEST(Rivals, WhereThereIsNoneNothingIsSaid) {
  const RivalSentence own("The trophy does not fit in the suitcase because it is too big");
  const auto none = [&](const Trace& trace, const CellRef& cell) {
    const auto found = rivals_of(trace, {3, 7}, cell, unwatched());
    return found && !*found;
  };
  const CellRef cell = own.fold.cell_of({own.word("it"), own.word("trophy")});
  EXPECT_TRUE(none(*own.trace, {cell.query, 0})) << "of <s>";
  Request by_hand = own.trace->request;
  set_weight(by_hand.edits, {3, 7}, cell, 0.5f);
  EXPECT_TRUE(none(**forward(by_hand), cell));
  EXPECT_TRUE(none(*RivalSentence("Hello").trace, {1, 1}));
}

/// Two sentences that differ in one word, in which *it* looks at either of two words: how much of the difference five
/// lines carry. HEADLIGHT_RIVALS=1 prints it of each.
TEST(Rivals, OfSixtyPairsOfSentencesTheLinesCarryMostOfTheDifference) {
  using WordPairs = std::vector<std::pair<const char*, const char*>>;
  struct Frame {
    const char *text, *first, *second;  // the words that end it
    WordPairs words;
  };
  const WordPairs things{{"trophy", "suitcase"}, {"book", "bag"},        {"table", "room"},     {"piano", "door"},
                         {"chair", "car"},       {"box", "drawer"},      {"ball", "cup"},       {"bottle", "basket"},
                         {"lamp", "box"},        {"bike", "garage"},     {"cake", "oven"},      {"map", "pocket"},
                         {"dog", "house"},       {"shoe", "bag"},        {"plate", "cupboard"}, {"ring", "box"},
                         {"sofa", "lift"},       {"letter", "envelope"}, {"camera", "bag"},     {"boat", "garage"}},
      ten_things(things.begin(), things.begin() + 10),
      crossings{{"animal", "street"}, {"dog", "road"}, {"horse", "river"}, {"cat", "bridge"}, {"boy", "field"},
                {"woman", "square"},  {"man", "lake"}, {"child", "park"},  {"cow", "path"},   {"driver", "desert"}};
  const Frame frames[] = {{"The % does not fit in the % because it is too ", "big", "small", things},
                          {"The % did not fit into the % because it was too ", "large", "tight", ten_things},
                          {"The % did not cross the % because it was too ", "tired", "wide", crossings},
                          {"The % could not swim across the % because it was so ", "weak", "deep", crossings},
                          {"She could not use the % with the % because it was too ",
                           "full",
                           "empty",
                           {{"water", "cup"},
                            {"milk", "glass"},
                            {"sand", "bucket"},
                            {"coffee", "mug"},
                            {"juice", "bottle"},
                            {"bread", "knife"},
                            {"meat", "fork"},
                            {"wood", "saw"},
                            {"nail", "hammer"},
                            {"key", "lock"}}}};
  std::vector<double> shares;
  int proved = 0, lines = 0;
  for (const Frame& frame : frames)
    for (const auto& [one, other] : frame.words)
      for (const char* last : {frame.first, frame.second}) {
        const std::string text = filled(frame.text, {one, other}) + last;
        const Rivals found = RivalSentence(text).rivals("it", one);
        shares.push_back(found.carried());
        for (const Rivals::Line& line : found.lines) ++lines, proved += line.weight.has_value();
        if (std::getenv("HEADLIGHT_RIVALS"))
          std::cout << formatted("%.2f\t%.2f\t", found.carried(), found.difference) << text << "\n";
      }
  ASSERT_EQ(shares.size(), 120u);
  const auto enough = std::count_if(shares.begin(), shares.end(), [](double share) { return share >= kCarried; });
  std::sort(shares.begin(), shares.end());
  std::cout << formatted("median %.2f, at least %.1f in %ld of 120; %d of %d lines proved\n", shares[60], kCarried,
                         static_cast<long>(enough), proved, lines);
  EXPECT_GE(shares[60], kCarried);
  EXPECT_GE(enough, 60);
}

TEST(WriterSplit, TheFigureHasScoreSumAndTheLargestTerms) {
  const Document document = deep_document(Arch::decoder);
  const auto trace = answer_of(document);
  const auto found = writer_split(*trace, {4, 2}, {6, 1});
  ASSERT_TRUE(found);
  const Drawing drawing =
      drawn(document, *trace, {.kind = FigureKind::writers, .width = kSlide, .head = {4, 2}, .query = 6, .key = 1});
  const std::string words = words_of(drawing);
  for (const std::string& part :
       {"score " + score_text(found->split.score), std::to_string(found->split.terms.size()) + " terms",
        writer_name(found->split.terms[found->order[0]].key), std::string("20 / "), std::string("bias")})
    EXPECT_NE(words.find(part), std::string::npos) << part << "\n" << words;
  ASSERT_FALSE(all<Cells>(drawing).empty());
  EXPECT_TRUE(same(*all<Cells>(drawing).front().weights, found->sums));
  const auto refused =
      draw_figure({*trace, document}, {.kind = FigureKind::writers, .head = {4, 2}, .query = 99}, roughly);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(), "figure: query: expected 0 to 11, found 99");
}

}  // namespace
}  // namespace headlight
