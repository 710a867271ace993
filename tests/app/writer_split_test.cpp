// What wrote a score, as the views show it: the map has all of the sum, whatever it names, and each head leads on.
#include "derived/writer_split.h"

#include <cmath>

#include "app/figures.h"
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
