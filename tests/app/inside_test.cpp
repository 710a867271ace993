// What the Inside view is given: pictures whose numbers are those of the matrices, for any question.
#include "derived/inside.h"

#include <cmath>

#include "app/session_fixture.h"

namespace headlight {
namespace {

std::shared_ptr<const Trace> trace_of(const Document& document) {
  const auto requests = requests_of(document, fixture::lexicon());
  EXPECT_TRUE(requests) << requests.error().message();
  const auto trace = forward(requests->front());
  EXPECT_TRUE(trace) << trace.error().message();
  return *trace;
}

std::shared_ptr<const Inside> inside_of(InsideQuestion question) {
  const std::atomic<bool> stop = false;
  return look_inside(question, stop);
}

TEST(Inside, EveryNumberOfThePicturesIsTheMatrixsOwn) {
  for (const Arch arch : {Arch::encoder, Arch::decoder, Arch::encoder_decoder}) {
    Document document = fixture::small_document();
    document.config.arch = arch;
    const auto trace = trace_of(document);
    const auto inside =
        inside_of({trace, {1, 1}, {matrix_id(Quantity::scores, {1, 1}), MatrixCell{3, 2}}, CellRef{3, 2}});
    ASSERT_TRUE(inside);
    ASSERT_EQ(inside->pictures.size(), inside->diagram.nodes.size());
    for (std::size_t n = 0; n < inside->pictures.size(); ++n) {
      const MatrixId& id = inside->diagram.nodes[n].shows;
      const MatrixPicture& picture = inside->pictures[n];
      ASSERT_TRUE(exists(*trace, id));
      const Matrix rows = rows_of(*trace, id, picture.first_row, picture.rows);
      ASSERT_EQ(picture.columns, rows.cols());
      for (Index r = 0; r < picture.values.rows(); ++r)
        for (Index c = 0; c < picture.values.cols(); ++c)
          ASSERT_EQ(picture.values(r, c), rows(r, picture.column_of(r, c))) << inside->diagram.nodes[n].id;
    }
    EXPECT_EQ(inside->matrix.values(3, 2), whole(*trace, inside->question.look.matrix)(3, 2));
    ASSERT_TRUE(inside->terms);
    EXPECT_EQ(inside->terms->value, inside->matrix.values(3, 2));
    ASSERT_EQ(inside->step_pictures.size(), inside->steps.size());
    EXPECT_FALSE(inside->steps.empty());
  }
}

TEST(Inside, CrowdedColumnsShowTheirLargestAndWhereItStands) {
  Document document = fixture::small_document();
  document.config.ffn = 300;
  const auto trace = trace_of(document);
  const MatrixId id = matrix_id(Quantity::up);
  const MatrixPicture picture = picture_of(*trace, id, 0, 4, 7);
  const Matrix up = whole(*trace, id);
  ASSERT_EQ(picture.values.cols(), 7);
  EXPECT_EQ(picture.covers(6).second, 300);
  for (Index r = 0; r < picture.rows; ++r) {
    for (Index c = 0; c < 7; ++c) {
      const auto [first, last] = picture.covers(c);
      const auto group = up.row(r).segment(first, last - first);
      const Index column = picture.column_of(r, c);
      EXPECT_TRUE(column >= first && column < last);
      EXPECT_EQ(picture.values(r, c), up(r, column));
      EXPECT_EQ(std::abs(picture.values(r, c)), group.cwiseAbs().maxCoeff());
    }
  }
  EXPECT_EQ(picture.largest, up.topRows(4).cwiseAbs().maxCoeff());
}

TEST(Inside, BlockedGroupsStayBlocked) {
  Document document = fixture::small_document();
  document.config.arch = Arch::decoder;
  document.mask.causal = true;
  const auto trace = trace_of(document);
  const MatrixPicture picture = picture_of(*trace, matrix_id(Quantity::scores), 0, 16, 5);
  EXPECT_TRUE(std::isinf(picture.values(0, 4)));
  EXPECT_TRUE(std::isfinite(picture.values(0, 0)));
  EXPECT_TRUE(std::isfinite(picture.largest));
}

TEST(Inside, TheRowsAreThoseAroundTheCell) {
  Document document = fixture::small_document();
  document.source.split = Split::characters;
  document.source.text = std::string(90, 'a');
  const auto trace = trace_of(document);
  const auto inside = inside_of({trace, {}, {matrix_id(Quantity::query), {}}, CellRef{80, 3}});
  const MatrixPicture& first = inside->pictures.front();
  EXPECT_EQ(first.rows, kNodeRows);
  EXPECT_EQ(first.first_row, 90 - kNodeRows);
  EXPECT_EQ(picture_of(*trace, matrix_id(Quantity::query), 40, kNodeRows, 128).first_row, 40 - kNodeRows / 2);
  EXPECT_EQ(picture_of(*trace, matrix_id(Quantity::query), 0, kNodeRows, 128).first_row, 0);
}

TEST(Inside, WhatThisModelDoesNotHaveIsLeftEmpty) {
  const auto trace = trace_of(fixture::small_document());
  for (const MatrixId& id :
       {matrix_id(Quantity::gate), matrix_id(Quantity::query, {9, 0}), matrix_id(Quantity::query, {0, 9}),
        matrix_id(Quantity::weights, {0, 0, Stack::cross}), matrix_id(Quantity::embedding, {0, 0, Stack::encoder})}) {
    const auto inside = inside_of({trace, {}, {id, MatrixCell{0, 0}}, std::nullopt});
    ASSERT_TRUE(inside);
    EXPECT_EQ(inside->matrix.values.size(), 0);
    EXPECT_FALSE(inside->terms);
    EXPECT_TRUE(inside->steps.empty());
    EXPECT_FALSE(inside->pictures.empty());
  }
}

TEST(Inside, ACellOutsideTheMatrixHasNoTerms) {
  const auto trace = trace_of(fixture::small_document());
  for (const MatrixCell cell : {MatrixCell{10, 0}, MatrixCell{0, 10}, MatrixCell{99999, 99999}}) {
    const auto inside = inside_of({trace, {}, {matrix_id(Quantity::weights), cell}, std::nullopt});
    EXPECT_FALSE(inside->terms);
    EXPECT_EQ(inside->matrix.values.rows(), 10);
  }
}

TEST(Inside, AStoppedQuestionHasNoAnswer) {
  const std::atomic<bool> stop = true;
  EXPECT_EQ(look_inside({trace_of(fixture::small_document()), {}, {}, CellRef{}}, stop), nullptr);
}

TEST(Inside, SignedNumbersAreThoseThatCanBeNegative) {
  const auto trace = trace_of(fixture::small_document());
  for (const Quantity quantity : {Quantity::weights, Quantity::softmax, Quantity::exponentials}) {
    EXPECT_FALSE(is_signed(matrix_id(quantity)));
    EXPECT_GE(whole(*trace, matrix_id(quantity)).minCoeff(), 0);
  }
  for (const Quantity quantity : {Quantity::query, Quantity::dot, Quantity::query_weight, Quantity::embedding})
    EXPECT_TRUE(is_signed(matrix_id(quantity)));
}

}  // namespace
}  // namespace headlight
