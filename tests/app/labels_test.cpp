// Numbers as a reader sees them.
#include <gtest/gtest.h>

#include "figure/labels.h"
#include "views/inside/inside_labels.h"

namespace headlight {
namespace {

TEST(Labels, NumbersHaveAMinusSignAndAZeroHasNone) {
  EXPECT_EQ(score_text(-0.21), "−0.21");
  EXPECT_EQ(score_text(-0.001), "0.00");
  EXPECT_EQ(tick_number(-0.49f), "−0.49");
  EXPECT_EQ(brief_number(-1e-5f), "−1.00e-05");
  EXPECT_EQ(brief_number(-0.0f), "0");
  EXPECT_EQ(exact_number(-0.5f), "−0.5");
  EXPECT_EQ(matrix_number(-0.21f), "−.21") << "as cells of maps";
  EXPECT_EQ(matrix_number(0.49f), ".49");
  EXPECT_EQ(matrix_number(-0.001f), ".00");
  EXPECT_EQ(matrix_number(-12.34f), "−12.3");
}

TEST(Labels, OfACellOnlyWhatRoundsToOneIsOne) {
  EXPECT_EQ(cell_number(0.99f), ".99");
  EXPECT_EQ(cell_number(0.996f), "1");
  EXPECT_EQ(cell_number(0), "0");
  EXPECT_EQ(cell_number(12.3f), "12");
}

}  // namespace
}  // namespace headlight
