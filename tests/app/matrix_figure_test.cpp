// One matrix on a page, with the terms of a cell of it.
#include "app/figures.h"
#include "core/output_matrices.h"
#include "derived/inside.h"
#include "explain/cell.h"
#include "figure/labels.h"
#include "views/inside/inside_labels.h"
#include "words/explain_words.h"

namespace headlight {
namespace {

using namespace figures;

/// Every matrix around a head of the answer.
std::vector<MatrixId> matrices_around(const Trace& trace, const HeadRef& head) {
  std::vector<MatrixId> all = matrices_of_embedding(trace, head.stack == Stack::cross ? Stack::self : head.stack);
  for (const auto& more :
       {matrices_of(trace, head.stack, head.layer, head.head), matrices_of_output(trace, Stack::self)})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST(MatrixFigure, IsTidyWhateverIsDrawn) {
  for (const Arch arch : {Arch::encoder, Arch::encoder_decoder}) {
    const Document document = document_of(arch == Arch::encoder ? 40 : 5, arch);
    const auto trace = answer_of(document);
    for (const MatrixId& id : matrices_around(*trace, {1, 1, arch == Arch::encoder ? Stack::self : Stack::cross})) {
      const Shape size = shape(*trace, id);
      for (const float mm : {kLeastMm, kColumnMm, kSlideMm})
        for (const auto& cell :
             {std::optional<MatrixCell>{}, std::optional(MatrixCell{size.rows - 1, size.cols / 2})}) {
          SCOPED_TRACE(path(*trace, id) + ", " + std::to_string(mm) + " mm");
          expect_tidy(drawn(document, *trace,
                            {.kind = FigureKind::matrix,
                             .language = cell ? Language::zh : Language::en,
                             .width = mm * kPointsInMm,
                             .look = {id, cell}}));
          if (testing::Test::HasFatalFailure()) return;
        }
    }
  }
}

/// In a narrow column labels are cut, numbers never: without its exponent 4.56e-05 would be 4.56.
TEST(MatrixFigure, NoNumberOfATermIsCut) {
  const Document document = small_document();
  const auto trace = answer_of(document);
  for (const float mm : {kColumnMm, kSlideMm}) {
    const MatrixId id = matrix_id(Quantity::query, {1, 1});
    const Drawing drawing = drawn(
        document, *trace, {.kind = FigureKind::matrix, .width = mm * kPointsInMm, .look = {id, MatrixCell{9, 3}}});
    const Cell cell = explain_cell(*trace, id, 9, 3);
    ASSERT_FALSE(cell.terms.empty());
    const std::vector<Text> texts = all<Text>(drawing);
    const auto ends_one = [&](const std::string& number) {
      return std::ranges::any_of(texts, [&](const Text& text) { return text.text.ends_with(number); });
    };
    for (const Term& term : cell.terms) {
      EXPECT_TRUE(ends_one("  " + exact_number(term.from.value))) << exact_number(term.from.value);
      EXPECT_TRUE(ends_one("= " + exact_number(term.contribution))) << exact_number(term.contribution);
    }
  }
}

TEST(MatrixFigure, HasTheNumbersAndTheTermsOfTheWindow) {
  const Document document = small_document();
  const auto trace = answer_of(document);
  const auto narrow = [](std::string_view text, float size) { return 0.5f * roughly(text, size); };  // nothing is cut
  for (const Quantity quantity :
       {Quantity::query, Quantity::weights, Quantity::softmax, Quantity::hidden, Quantity::after_attention})
    for (const Language language : {Language::en, Language::zh}) {
      const MatrixId id = matrix_id(quantity, {1, 1});
      SCOPED_TRACE(path(*trace, id));
      const auto drawing = draw_figure({*trace, document},
                                       {.kind = FigureKind::matrix,
                                        .language = language,
                                        .width = kSlideMm * kPointsInMm,
                                        .look = {id, MatrixCell{9, 3}}},
                                       narrow);
      ASSERT_TRUE(drawing) << drawing.error().message();
      const Matrix expected = whole(*trace, id);
      EXPECT_EQ(*all<Cells>(*drawing).front().weights, expected);
      const std::string name = words_of(language, quantity);
      EXPECT_TRUE(says(*drawing, symbol(id) == name ? name : symbol(id) + "  " + name));
      EXPECT_TRUE(says(*drawing, formula_in(language, *trace, id) + "   " + shape_text(shape(*trace, id))));
      EXPECT_TRUE(says(*drawing, cell_title(*trace, id, 9, 3) + " = " + exact_number(expected(9, 3))));
      const Cell cell = explain_cell(*trace, id, 9, 3);
      EXPECT_TRUE(says(*drawing, operation_line(language, cell)));
      for (const Term& term : cell.terms)
        EXPECT_TRUE(says(*drawing, cell_title(*trace, term.from.id, term.from.row, term.from.col) + "  " +
                                       exact_number(term.from.value)));
      int outlined = 0;
      for (const Rectangle& box : all<Rectangle>(*drawing)) outlined += box.line == ink_colours(Theme::light).accent;
      EXPECT_EQ(outlined, 1);
    }
}

TEST(MatrixFigure, OfManyTermsTheLargestAreListedAndTheRestAddedUp) {
  Document document = small_document();
  document.config.d_model = 128;
  const auto trace = answer_of(document);
  const MatrixId id = matrix_id(Quantity::query, {0, 0});
  const Cell cell = explain_cell(*trace, id, 3, 2);
  ASSERT_GT(cell.terms.size(), 60u);
  const Drawing drawing = drawn(
      document, *trace, {.kind = FigureKind::matrix, .width = kSlideMm * kPointsInMm, .look = {id, MatrixCell{3, 2}}});
  EXPECT_TRUE(says(drawing, "60 / " + std::to_string(cell.terms.size()))) << words_of(drawing);
  EXPECT_TRUE(says(drawing, "the others come to "));
  float largest = 0;
  for (const Term& term : cell.terms) largest = std::max(largest, std::abs(term.contribution));
  EXPECT_TRUE(says(drawing, exact_number(largest)));
}

TEST(MatrixFigure, WhatIsNotThereIsSaid) {
  const Document document = small_document();
  const auto trace = answer_of(document);
  const auto refusal = [&](const Look& look) {
    const auto drawing = draw_figure({*trace, document}, {.kind = FigureKind::matrix, .look = look}, roughly);
    EXPECT_FALSE(drawing);
    return drawing ? std::string() : drawing.error().message();
  };
  EXPECT_NE(refusal({matrix_id(Quantity::gate)}).find("figure: matrix: expected one that this answer has"),
            std::string::npos);
  EXPECT_NE(refusal({matrix_id(Quantity::query), MatrixCell{10, 0}}).find("figure: row: expected 0 to 9, found 10"),
            std::string::npos);
  EXPECT_NE(refusal({matrix_id(Quantity::query), MatrixCell{0, 4}}).find("figure: column: expected 0 to 3, found 4"),
            std::string::npos);
}

TEST(MatrixNames, AreThoseThatExplainPrints) {
  for (const Arch arch : {Arch::encoder, Arch::encoder_decoder}) {
    const auto trace = answer_of(document_of(4, arch));
    const HeadRef head{1, 1, arch == Arch::encoder ? Stack::self : Stack::cross};
    for (const MatrixId& id : matrices_around(*trace, head))
      EXPECT_EQ(find_matrix(*trace, {}, path(*trace, id)), id) << path(*trace, id);
    for (const Step& step : steps_of(*trace, head, {})) EXPECT_TRUE(find_matrix(*trace, head, step.name)) << step.name;
    EXPECT_EQ(find_matrix(*trace, head, "W_Q"), matrix_id(Quantity::query_weight, head));
    EXPECT_EQ(find_matrix(*trace, head, "head.scores"), matrix_id(Quantity::scores, head));
    for (const char* none : {"", "W_X", "encoder.9.self.0.query", "ffn.gate"})
      EXPECT_FALSE(find_matrix(*trace, head, none)) << none;
  }
}

}  // namespace
}  // namespace headlight
