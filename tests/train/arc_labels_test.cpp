// Labels of arcs: what is written reads back, and nothing else is taken for labels.
#include "card/arc_labels_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/file.h"
#include "temporary_folder.h"
#include "train/trained_checkpoint.h"
#include "write/safetensors.h"

namespace headlight {
namespace {

ArcLabels small_labels() {
  ArcLabels labels;
  labels.heads = {{0, 1}, {1, 0}};
  labels.relations = {"nsubj", "det"};
  ArcLabels::OfLanguage& own = labels.languages[static_cast<std::size_t>(ArcLanguage::chinese)];
  own.weights = Matrix::Constant(3, arc_features(4, 2), 0.5f);
  own.calibration = Matrix::Constant(2, 3, 0.25f);
  own.least = 0.625f;
  own.order = Matrix::Constant(1, order_features(4), 0.125f);
  return labels;
}

std::string bytes_of(const std::filesystem::path& path) { return *read_file(path); }

TEST(ArcLabels, WhatIsWrittenReadsBack) {
  const TemporaryFolder folder;
  const auto path = folder.path() / kArcLabelsFile;
  const ArcLabels labels = small_labels();
  ASSERT_TRUE(write_arc_labels(path, labels));
  const auto read = parse_arc_labels("file", bytes_of(path));
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->heads, labels.heads);
  EXPECT_EQ(read->relations, labels.relations);
  EXPECT_EQ(read->languages[0].weights.size(), 0);
  EXPECT_TRUE(same(read->languages[1].weights, labels.languages[1].weights));
  EXPECT_TRUE(same(read->languages[1].calibration, labels.languages[1].calibration));
  EXPECT_EQ(read->languages[1].least, 0.625f);
  EXPECT_TRUE(same(read->languages[1].order, labels.languages[1].order));
  Config config{.d_model = 4, .num_heads = 2, .num_layers = 2};
  EXPECT_TRUE(fit(*read, config));
  config.d_model = 8;
  EXPECT_FALSE(fit(*read, config)) << "of another width";
  config = {.d_model = 4, .num_heads = 2, .num_layers = 1};
  EXPECT_FALSE(fit(*read, config)) << "a head that is not there";
  ArcLabels other = labels;
  other.languages[1].order.resize(0, 0);
  ASSERT_TRUE(write_arc_labels(path, other));
  EXPECT_EQ(parse_arc_labels("file", bytes_of(path))->languages[1].order.size(), 0) << "of an earlier version";
  other.languages[1].order = Matrix::Zero(1, 5);
  EXPECT_FALSE(fit(other, {.d_model = 4, .num_heads = 2, .num_layers = 2})) << "an order of another width";
}

/// Wilson's interval as printed by Brown, Cai & DasGupta 2001 solves (p − share)² = z²·p(1 − p)/n.
TEST(ArcLabels, TheLowerEndOfAShareSolvesItsEquation) {
  for (const auto& [named, right] : {std::pair<Index, Index>{26, 23}, {49, 28}, {1552, 1478}, {10, 10}, {12, 0}}) {
    const ArcPrecision one{{}, {}, ArcLanguage::english, named, right};
    const double p = one.least(), n = static_cast<double>(named);
    EXPECT_NEAR(std::pow(p - one.share(), 2), 1.96 * 1.96 * p * (1 - p) / n, 1e-12) << named;
    EXPECT_LE(p, one.share());
  }
  EXPECT_EQ(ArcPrecision{}.least(), 0);
  ArcLabels labels;
  labels.precisions = {{.head = {0, 1}, .relation = "det", .named = 26, .right = 18},
                       {.head = {0, 1}, .relation = "obj", .named = 2600, .right = 1800}};
  EXPECT_EQ(labels.precision({0, 1}, "det", ArcLanguage::english), nullptr) << "18 of 26 may be less than 6 of 10";
  EXPECT_NE(labels.precision({0, 1}, "obj", ArcLanguage::english), nullptr);
}

/// Pairs whose logits are stated: the probability by the formula, calibrated, held against the larger of two bounds.
TEST(ArcLabels, AProbabilityIsCalibratedAndHeldAgainstItsBound) {
  ArcLabels labels;
  labels.relations = {"nsubj", "det"};
  ArcLabels::OfLanguage& own = labels.languages[static_cast<std::size_t>(ArcLanguage::english)];
  own.weights = (Matrix(3, 2) << 0, 0, 1, 0, 0, 1).finished();  // none, nsubj, det
  own.calibration = (Matrix(2, 3) << 1.5f, -0.25f, 0.9f, 0.5f, 0.75f, 0.2f).finished();
  own.least = 0.6f;
  const auto pair = [](Index from, Index to, float nsubj, float det) {
    PointedPair one{from, to, {}, Vector(2)};
    one.features << nsubj, det;
    return one;
  };
  const std::vector<PointedPair> pairs{pair(0, 1, 3, 0), pair(2, 3, 1.5f, 0), pair(4, 5, 0, 2), pair(6, 7, 0, -3)};
  const auto calibrated = [&](float own_logit, float other, Index relation) {
    const double p = std::exp(own_logit) / (1 + std::exp(own_logit) + std::exp(other));
    const double x = own.calibration(relation, 0) * std::log(p / (1 - p)) + own.calibration(relation, 1);
    return 1 / (1 + std::exp(-x));
  };
  const double first = calibrated(3, 0, 0), second = calibrated(1.5f, 0, 0), third = calibrated(2, 0, 1);
  ASSERT_TRUE(first > 0.9 && second > 0.6 && second < 0.9 && third > 0.6);
  const auto sure = labelled_pairs(labels, ArcLanguage::english, pairs);
  ASSERT_EQ(sure.size(), 2u);
  EXPECT_EQ(sure[0].pair, 0u);
  EXPECT_EQ(sure[0].relation, 0u);
  EXPECT_NEAR(sure[0].probability, first, 1e-6);
  EXPECT_EQ(sure[1].pair, 2u);
  EXPECT_EQ(sure[1].relation, 1u);
  EXPECT_NEAR(sure[1].probability, third, 1e-6);
  own.calibration(0, 2) = 0;
  EXPECT_EQ(labelled_pairs(labels, ArcLanguage::english, pairs).size(), 3u);
  own.least = 0.99f;
  EXPECT_TRUE(labelled_pairs(labels, ArcLanguage::english, pairs).empty());
}

TEST(ArcLabels, AWordHasOneArcAndTwoWordsOneDirection) {
  ArcLabels labels;
  labels.relations = {"nsubj"};
  ArcLabels::OfLanguage& own = labels.languages[static_cast<std::size_t>(ArcLanguage::english)];
  own.weights = (Matrix(2, 1) << 0, 1).finished();
  const auto pair = [](Index from, Index to, float logit) {
    return PointedPair{from, to, {}, Vector(Vector::Constant(1, logit))};
  };
  const std::vector<PointedPair> pairs{pair(0, 1, 3), pair(1, 0, 2), pair(0, 2, 1), pair(2, 1, 0.5f),
                                       pair(1, 3, 0.25f)};
  std::vector<std::size_t> kept;
  for (const LabelledPair& one : labelled_pairs(labels, ArcLanguage::english, pairs, true)) kept.push_back(one.pair);
  EXPECT_EQ(kept, (std::vector<std::size_t>{0, 3, 4})) << "neither back nor to a second word";
}

TEST(ArcLabels, WhatIsNoLabelsIsRefused) {
  const TemporaryFolder folder;
  const auto path = folder.path() / kArcLabelsFile;
  const auto refused = [&](const ArcLabels& labels, std::string_view part) {
    ASSERT_TRUE(write_arc_labels(path, labels));
    const auto read = parse_arc_labels("file", bytes_of(path));
    ASSERT_FALSE(read) << part;
    EXPECT_NE(read.error().message().find(part), std::string::npos) << read.error().message();
  };
  ArcLabels labels = small_labels();
  labels.relations.emplace_back("nsubj");
  refused(labels, "each once");
  labels = small_labels();
  labels.relations[0] = "DROP TABLE";
  refused(labels, "relations");
  labels = small_labels();
  labels.heads[0].stack = Stack::cross;
  refused(labels, "heads");
  labels = small_labels();
  labels.languages[1].weights.resize(2, 5);
  labels.languages[1].weights.setZero();
  refused(labels, "zh.weights");
  labels = small_labels();
  labels.languages[1].calibration.resize(2, 2);
  labels.languages[1].calibration.setZero();
  refused(labels, "zh.calibration");
  labels = small_labels();
  labels.languages[1].least = 2;
  refused(labels, "zh.least");
  labels.languages[1].least = std::numeric_limits<float>::quiet_NaN();
  refused(labels, "zh.least");
  EXPECT_FALSE(parse_arc_labels("file", ""));
  EXPECT_FALSE(parse_arc_labels("file", "{}"));
  const std::vector<float> numbers(6, 1.0f);
  ASSERT_TRUE(write_tensors(path, {{"weights", {2, 3}, numbers.data()}}, {{"format", "pt"}}));
  EXPECT_FALSE(parse_arc_labels("file", bytes_of(path))) << "weights of a model";
}

TEST(ArcLabels, OneByteChangedReadsAsLabelsOrIsRefused) {
  const TemporaryFolder folder;
  const auto path = folder.path() / kArcLabelsFile;
  ASSERT_TRUE(write_arc_labels(path, small_labels()));
  const std::string whole = bytes_of(path);
  for (std::size_t i = 0; i < whole.size(); i += 3) {
    std::string bytes = whole;
    bytes[i] = static_cast<char>(bytes[i] ^ 0x5A);
    if (const auto read = parse_arc_labels("file", bytes)) {
      EXPECT_TRUE(read->languages[1].weights.allFinite()) << i;
      EXPECT_EQ(read->languages[1].weights.size() == 0, read->languages[1].calibration.size() == 0) << i;
    }
  }
  for (std::size_t i = 0; i < whole.size(); i += 7) EXPECT_FALSE(parse_arc_labels("file", whole.substr(0, i))) << i;
}

}  // namespace
}  // namespace headlight
