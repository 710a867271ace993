// Calls of a program that was watched: what is named from their arrays and facts, and what a file that is wrong gives.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/mistaken.h"
#include "diagnose/capture.h"

namespace headlight {
namespace {

using namespace mistaken;

/// A file of one call: the inputs of the right attention, the answers of the one that ran, and facts.
struct Captured {
  std::map<std::string, Array> arrays;
  std::string facts = R"("where":"mine.py:4","heads":3,"d_k":4)";

  Captured(const Attention& right, const Attention& ran) {
    for (auto& [name, array] : inputs_of(right)) {
      if (name == "mask") continue;
      if (name == "query") array.shape.insert(array.shape.begin(), 1);
      arrays["0." + name] = array;
    }
    arrays["0.attentions"] = attentions_of(ran);
    arrays["0.output"] = array_of({1, 7, 12}, {ran.output});
  }

  Captured& blocks(Table allowed) {
    for (double& cell : allowed.values) cell = cell == 0 ? 1 : 0;
    arrays["0.blocked"] = array_of({1, 1, 7, 7}, {allowed});
    return *this;
  }

  Result<std::vector<CapturedCall>> read() const {
    return capture_from("f", {.arrays = arrays, .metadata = {{"capture", "{\"calls\":[{" + facts + "}]}"}}});
  }
  CaptureReport judged() const {
    const auto calls = read();
    EXPECT_TRUE(calls) << calls.error().message();
    const auto report = calls ? judge(*calls) : Result<CaptureReport>(CaptureReport{});
    EXPECT_TRUE(report) << report.error().message();
    return report ? *report : CaptureReport{};
  }
  std::string named() const {
    const CaptureReport report = judged();
    EXPECT_EQ(report.calls, 1);
    std::string codes;
    for (const CapturedMistake& one : report.mistakes) {
      EXPECT_NE(one.mistake.text, "");
      codes += (codes.empty() ? "" : " ") + std::string(one.mistake.code.name);
    }
    return codes;
  }
};

Attention causal_attention(const std::function<void(Attention&)>& change = {}) {
  Attention attention(3);
  attention.causal();
  if (change) change(attention);
  attention.run();
  return attention;
}

TEST(Capture, WhatIsRightHasNoMistake) {
  const Attention right = causal_attention();
  const CaptureReport report = Captured(right, right).blocks(right.allowed).judged();
  EXPECT_TRUE(report.mistakes.empty());
  EXPECT_TRUE(report.unchecked.empty());
  EXPECT_EQ(report.judged, 1);
}

TEST(Capture, NumbersNameWhatTheStepsDoNot) {
  const Attention right = causal_attention();
  const auto named = [&](const std::function<void(Attention&)>& change) {
    const Attention ran = causal_attention(change);
    return Captured(right, ran).blocks(right.allowed).named();
  };
  EXPECT_EQ(named([](Attention& a) { a.swapped = true; }), "query_key_swapped");
  EXPECT_EQ(named([](Attention& a) { a.merge = 2; }), "merge_not_transposed");
  EXPECT_EQ(named([](Attention& a) { a.not_transposed[2] = true; }), "projection_not_transposed");
  EXPECT_EQ(named([](Attention& a) { a.x(2, 3) += 1; }), "unexplained");
  EXPECT_EQ(named([](Attention& a) { a.swapped = a.not_transposed[3] = true; }),
            "projection_not_transposed query_key_swapped");
}

TEST(Capture, AScaleThatTheStepsShowHasItsNumbers) {
  const Attention right = causal_attention(), ran = causal_attention([](Attention&a) { a.scale = 0.3; });
  Captured file = Captured(right, ran).blocks(right.allowed);
  file.facts += R"(,"scale":0.3)";
  const CaptureReport report = file.judged();
  ASSERT_EQ(report.mistakes.size(), 1u);
  EXPECT_EQ(report.mistakes[0].mistake.text, "scores multiplied by 0.6 (scale 0.3, not 0.5)");
  EXPECT_EQ(report.mistakes[0].mistake.code, mistakes::scale_constant);
}

TEST(Capture, AMaskThatOnlyAMistakeGivesIsNamed) {
  const auto named = [](const std::function<bool(std::size_t, std::size_t)>& allowed) {
    const Attention ran = causal_attention([&](Attention& a) {
      for (std::size_t i = 0; i < 7; ++i)
        for (std::size_t j = 0; j < 7; ++j) a.allowed(i, j) = allowed(i, j) ? 1 : 0;
    });
    return Captured(ran, ran).blocks(ran.allowed).named();
  };
  EXPECT_EQ(named([](auto i, auto j) { return j > i; }), "mask_inverted");
  EXPECT_EQ(named([](auto i, auto j) { return j >= i; }), "mask_transposed");
  EXPECT_EQ(named([](auto i, auto j) { return j <= i + 1; }), "mask_off_by_one");
  EXPECT_EQ(named([](auto i, auto) { return i < 4; }), "mask_transposed") << "padding on the queries";
  for (const int kind : {0, 1, 2, 3, 4})
    EXPECT_EQ(named([&](std::size_t i, std::size_t j) {
                if (kind == 0) return true;                 // none
                if (kind == 1) return j < 5;                // padding
                if (kind == 2) return j > 0;                // padding on the left
                if (kind == 3) return j <= i && j + 3 > i;  // a window
                return j <= i || j < 3;                     // a prefix
              }),
              "")
        << kind;
}

TEST(Capture, AMaskThatWasGivenAndNotAppliedIsMissed) {
  const Attention right = causal_attention(), open = causal_attention([](Attention&a) { a.allowed = Table(7, 7, 1); });
  Captured file(right, open);
  file.facts += R"(,"arguments":[["mask","0"]])";
  file.arrays["0.argument.0"] = array_of({1, 1, 7, 7}, {right.allowed});
  file.arrays["0.argument.0"].dtype = Dtype::boolean;
  EXPECT_EQ(file.named(), "mask_missing");
  EXPECT_EQ(Captured(right, open).named(), "") << "nothing says that it was meant";
}

TEST(Capture, WhatWasObservedIsNamedWithoutNumbers) {
  const Attention right = causal_attention();
  Captured file = Captured(right, right).blocks(right.allowed);
  const std::string facts = file.facts;
  file.facts = facts + R"(,"observed":[["softmax_twice",""]])";
  EXPECT_EQ(file.named(), "softmax_twice");
  file.facts = facts + R"(,"unused":[["key","W_k","W_q"],["output","W_o",""]])";
  const CaptureReport report = file.judged();
  ASSERT_EQ(report.mistakes.size(), 2u);
  EXPECT_EQ(report.mistakes[0].mistake.text, "the key is projected by W_q: W_k is not used");
  EXPECT_EQ(report.mistakes[1].mistake.text, "output projection missing: W_o is not used");
  EXPECT_EQ(report.mistakes[1].mistake.role, "output");
  file.facts = facts + R"(,"opaque":"tanh")";
  const CaptureReport unjudged = file.judged();
  EXPECT_EQ(unjudged.judged, 0);
  ASSERT_EQ(unjudged.unchecked.size(), 1u);
  EXPECT_EQ(unjudged.unchecked[0], "mine.py:4: scores pass through tanh, which is not followed: not judged");
}

TEST(Capture, HeadsArePutSideBySideInOrder) {
  const Attention right = causal_attention();
  Captured file = Captured(right, right).blocks(right.allowed);
  file.arrays["0.output"].shape = {7, 12};
  Table merge(7, 12);
  const auto fill = [&](auto column_of) {
    for (std::size_t t = 0; t < 7; ++t)
      for (std::size_t c = 0; c < 12; ++c) {
        const std::size_t column = column_of(c);
        merge(t, c) = static_cast<double>((column / 4 * 7 + t) * 4 + column % 4);
      }
    file.arrays["0.merge"] = array_of({7, 12}, {merge});
  };
  fill([](std::size_t c) { return c; });
  EXPECT_EQ(file.named(), "");
  fill([](std::size_t c) { return c % 3 * 4 + c / 3; });
  EXPECT_EQ(file.named(), "merge_columns_mixed");
}

TEST(Capture, PartsThatRanAreNamedOrTakenAsGiven) {
  const Attention right = causal_attention();
  const auto report = [&](const std::string& facts, const std::function<void(Captured&)>& change = {}) {
    Captured file = Captured(right, right).blocks(right.allowed);
    file.facts += facts;
    if (change) change(file);
    return file.judged();
  };
  const auto given = report(R"(,"given":[["norms","layer_norm"],["cache","2 of 7"]])").unchecked;
  ASSERT_EQ(given.size(), 2u);
  EXPECT_EQ(given[0], "mine.py:4: norms of q and k: their weights are taken as given");
  EXPECT_EQ(given[1], "mine.py:4: cache: 2 of 7 keys are new, the others are taken as given");
  const auto biased = [&](double slope) {
    return report("", [&](Captured& file) {
      Table bias(7, 7);
      for (std::size_t i = 0; i < 7; ++i)
        for (std::size_t j = 0; j < 7; ++j) bias(i, j) = slope * (static_cast<double>(j) - static_cast<double>(i));
      file.arrays["0.bias"] = array_of({1, 1, 7, 7}, {bias});
      file.arrays.erase("0.attentions");
    });
  };
  ASSERT_FALSE(biased(-0.5).mistakes.empty());
  EXPECT_EQ(biased(-0.5).mistakes[0].mistake.code, mistakes::bias_sign);
  ASSERT_FALSE(biased(0.5).unchecked.empty());
  EXPECT_EQ(biased(0.5).unchecked[0], "mine.py:4: bias of the scores: ALiBi, slope 0.5 of head 0: taken as given");
}

TEST(Capture, AFileThatIsWrongIsRefused) {
  const Attention right = causal_attention();
  const auto refused = [&](const std::function<void(Captured&)>& change) {
    Captured file(right, right);
    change(file);
    const auto calls = file.read();
    return calls ? std::string("taken") : calls.error().message();
  };
  EXPECT_EQ(refused([](Captured&) {}), "taken");
  EXPECT_EQ(refused([](Captured& f) {
              f.arrays["0.attentions"].shape = {3, 7, 7};
            }),
            "f: attentions: expected the axes of a capture, found (3, 7, 7)");
  EXPECT_NE(refused([](Captured& f) { f.arrays["0.query"].shape = {84}; }), "taken");
  EXPECT_NE(refused([](Captured& f) { f.arrays["0.blocked"] = array_of({7, 7}, {Table(7, 7)}); }), "taken");
  EXPECT_NE(refused([](Captured& f) { f.facts += R"(,"observed":[["softmax_twice"]])"; }), "taken");
  EXPECT_NE(refused([](Captured& f) { f.facts += ",\"heads\":"; }), "taken");
  EXPECT_NE(refused([](Captured& f) { f.arrays["0.query.before"] = array_of({1, 6, 12}, {Table(6, 12)}); }), "taken");
  // A call that does not fit the engine is no error of the whole: the program that was watched may be wrong.
  Captured grouped(right, right);
  grouped.arrays["0.key"] = array_of({1, 7, 6}, {Table(7, 6, 0.5)});
  grouped.arrays.erase("0.k_proj.weight");
  const CaptureReport report = grouped.judged();
  EXPECT_EQ(report.judged, 0);
  EXPECT_EQ(report.unchecked.size(), 1u);
}

}  // namespace
}  // namespace headlight
