// Calls of a program that was watched: what is named from their arrays and facts, and what a file that is wrong gives.
#include <algorithm>

#include "diagnose/capture/capture_masks.h"
#include "diagnose/captured.h"

namespace headlight {
namespace {

using namespace captured;

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
  EXPECT_EQ(report.mistakes[0].mistake.text.en, "scores multiplied by 0.6 (scale 0.3, not 0.5)");
  EXPECT_EQ(report.mistakes[0].mistake.code, mistakes::scale_constant);
}

TEST(Capture, WhatAProgramSaysItselfIsNoMistake) {
  const Attention right = causal_attention(), ran = causal_attention([](Attention&a) { a.scale = 0.3; });
  const auto judged = [&](const Attention& found, const char* facts) {
    Captured file = Captured(right, found).blocks(right.allowed);
    file.facts += facts;
    return file.judged();
  };
  const CaptureReport report = judged(ran, R"(,"scale":0.3,"given":[["scale","meant"]])");
  EXPECT_TRUE(report.mistakes.empty());
  ASSERT_EQ(report.unchecked.size(), 1u);
  EXPECT_TRUE(report.unchecked[0].en.ends_with("by 0.6 (scale 0.3, not 0.5): intended? taken as given"));
  const Attention strange = causal_attention([](Attention& a) { a.x(2, 3) += 1; });
  const CaptureReport unexplained = judged(strange, R"(,"meant":[["unexplained"]])");
  EXPECT_TRUE(unexplained.mistakes.empty());
  EXPECT_EQ(unexplained.unchecked.size(), 1u);
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
  EXPECT_EQ(report.mistakes[0].mistake.text.en, "the key is projected by W_q: W_k is not used");
  EXPECT_EQ(report.mistakes[1].mistake.text.en, "output projection missing: W_o is not used");
  EXPECT_EQ(report.mistakes[1].mistake.role, "output");
  file.facts = facts + R"(,"opaque":"tanh")";
  const CaptureReport unjudged = file.judged();
  EXPECT_EQ(unjudged.judged, 0);
  ASSERT_EQ(unjudged.unchecked.size(), 1u);
  EXPECT_EQ(unjudged.unchecked[0].en, "mine.py:4: scores pass through tanh, which is not followed: not judged");
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
  const auto given = report(R"(,"given":[["norms","layer_norm"]],"new_keys":2,"new_at":5)").unchecked;
  ASSERT_EQ(given.size(), 2u);
  EXPECT_EQ(given[0].en, "mine.py:4: cache: 2 of 7 keys are new, the others are taken as given");
  EXPECT_EQ(given[1].en, "mine.py:4: norms of q and k: their weights are taken as given");
  EXPECT_TRUE(report(R"(,"given":[["norms","seen"]])").unchecked.empty());
  const auto biased = [&](double slope) {
    return report("", [&](Captured& file) {
      file.arrays["0.bias"] = array_of({1, 1, 7, 7}, {alibi(slope)});
      file.arrays.erase("0.attentions");
    });
  };
  ASSERT_FALSE(biased(-0.5).mistakes.empty());
  EXPECT_EQ(biased(-0.5).mistakes[0].mistake.code, mistakes::bias_sign);
  ASSERT_FALSE(biased(0.5).unchecked.empty());
  EXPECT_EQ(biased(0.5).unchecked[0].en, "mine.py:4: bias of the scores: ALiBi, slope 0.5 of head 0: taken as given");
}

TEST(Capture, WindowToBothSidesIsTakenAsGiven) {
  const Attention near = causal_attention([](Attention& a) {
    for (std::size_t i = 0; i < 7; ++i)
      for (std::size_t j = 0; j < 7; ++j) a.allowed(i, j) = i <= j + 2 && j <= i + 2 ? 1 : 0;
  });
  const CaptureReport report = Captured(near, near).blocks(near.allowed).judged();
  EXPECT_TRUE(report.mistakes.empty());
  ASSERT_EQ(report.unchecked.size(), 1u);
  EXPECT_EQ(report.unchecked[0].en, "mine.py:4: mask: keys at most 2 away: taken as given");
}

TEST(Capture, ScaleOfT5IsThatOfItsConfig) {
  const Attention right = causal_attention();
  Captured file = Captured(right, right).blocks(right.allowed);
  file.facts += R"(,"scale":0.5)";
  file.expect = R"({"relative_attention_num_buckets":8,"d_kv":4})";
  const CaptureReport report = file.judged();
  EXPECT_TRUE(report.mistakes.empty());
  ASSERT_EQ(report.unchecked.size(), 1u);
  EXPECT_EQ(report.unchecked[0].en, "mine.py:4: scale: 0.5, where T5 has 1: taken as given");
}

TEST(Capture, SlopesOfAlibiAreThoseOfItsHeads) {
  const Attention right = causal_attention();
  const auto report = [&](const std::vector<double>& slopes, const std::string& config) {
    std::vector<Table> biases;
    for (const double slope : slopes) biases.push_back(alibi(slope));
    Attention ran = causal_attention();
    Captured file = Captured(right, ran).blocks(right.allowed);
    file.arrays["0.bias"] = array_of({1, 3, 7, 7}, biases);
    file.arrays.erase("0.attentions");
    file.arrays.erase("0.output");
    file.expect = config;
    return file.judged();
  };
  const std::string config = R"({"n_head":3})";
  // Of three heads: those of two, and the first of four between them; or the paper's plain sequence.
  for (const std::vector<double>& slopes :
       {std::vector<double>{1.0 / 16, 1.0 / 256, 0.25}, {0.1574901, 0.0248031, 0.00390625}}) {
    EXPECT_TRUE(report(slopes, config).mistakes.empty());
    EXPECT_TRUE(report(slopes, "{}").unchecked.empty());
  }
  const std::vector<double> others = {0.25, 1.0 / 16, 1.0 / 64}, turned = {0.25, 1.0 / 256, 1.0 / 16};
  ASSERT_EQ(report(others, config).mistakes.size(), 1u);
  EXPECT_EQ(report(others, config).mistakes[0].mistake.text.en, "slopes of ALiBi are those of 4 heads, not of 3");
  EXPECT_EQ(report(others, config).mistakes[0].mistake.text.zh, "ALiBi 的斜率是 4 个头的，而不是 3 个头的");
  EXPECT_EQ(report(turned, config).mistakes[0].mistake.code, mistakes::alibi_slopes);
  EXPECT_TRUE(report(others, "{}").mistakes.empty()) << "perhaps they are meant";
  EXPECT_EQ(report(others, "{}").unchecked[0].en,
            "mine.py:4: bias of the scores: the slopes of ALiBi are those of 4 heads, not of 3: taken as given");
  EXPECT_TRUE(report(others, R"({"n_head":3,"alibi_bias_max":6})").mistakes.empty());
  EXPECT_EQ(report(others, R"({"n_heads":4})").mistakes[0].mistake.text.en, "n_heads 4 expected, 3 found")
      << "in the words of the config";
}

TEST(Capture, ABiasThatIsLearnedIsNoGuess) {
  const Attention right = causal_attention();
  for (const char* of : {"learned", ""}) {
    Captured file = Captured(right, right).blocks(right.allowed);
    file.facts += R"(,"steps":[["add","1","1",")" + std::string(of) + R"("]])";
    file.arrays["0.step.0"] = array_of({1, 1, 7, 7}, {alibi(0.5)});
    file.arrays.erase("0.attentions");
    file.arrays.erase("0.output");
    EXPECT_EQ(file.judged().unchecked.empty(), *of != 0);
  }
}

TEST(Capture, MasksOfOtherSentencesAreSoForAllOfTheBatch) {
  struct Size {
    std::size_t sentences, heads, tokens;
  };
  for (const auto& [count, heads, tokens] : {Size{2, 2, 5}, {2, 4, 5}, {3, 4, 6}, {4, 2, 7}, {4, 4, 6}, {8, 4, 10}})
    for (const int order : {0, 1, 2}) {
      const auto length = [&](std::size_t b) { return b == 0 ? tokens : tokens - 1 - b % (tokens - 1); };
      CapturedCall call;
      call.count = static_cast<Index>(count), call.heads = static_cast<Index>(heads);
      call.arguments = {{"mask", "0"}};
      const auto array = [](std::vector<std::size_t> shape) {
        Array made{.dtype = Dtype::f32, .shape = {shape.begin(), shape.end()}, .values = {}};
        return made;
      };
      call.arrays["query"] = call.arrays["key"] = array({count, tokens, 4});
      Array given = array({count, tokens}), blocked = array({count, heads, tokens, tokens});
      given.dtype = Dtype::boolean;
      bool moved = false;
      for (std::size_t b = 0; b < count; ++b)
        for (std::size_t j = 0; j < tokens; ++j) given.values.push_back(j < length(b) ? 1 : 0);
      for (std::size_t b = 0; b < count; ++b)
        for (std::size_t h = 0; h < heads; ++h) {
          const std::size_t of = order == 0 ? b : order == 1 ? (b * heads + h) % count : (h * count + b) / heads;
          moved = moved || length(of) != length(b);
          for (std::size_t i = 0; i < tokens * tokens; ++i) blocked.values.push_back(i % tokens < length(of) ? 0 : 1);
        }
      call.arrays["argument.0"] = given, call.arrays["blocked"] = blocked;
      const MeantMask meant = meant_mask({call}, call);
      for (std::size_t b = 0; b < count; ++b) {
        ASSERT_EQ(meant.mistakes[b].has_value(), moved) << count << " " << heads << " " << order;
        if (moved) { EXPECT_EQ(meant.mistakes[b]->code, mistakes::mask_of_other_sentences); }
        for (const Allowed& head : meant.allowed[b])
          EXPECT_EQ(head.row(0).count(), static_cast<Index>(length(b))) << count << " " << heads << " " << order;
      }
    }
}

TEST(Capture, WhatWasNotFollowedHasItsWords) {
  const auto capture = capture_from(
      "f", {.arrays = {},
            .metadata = {{"capture", R"({"calls":[],"notes":[["blind","CUDA graphs"],["by_blocks","m.py:3"]]})"}}});
  ASSERT_TRUE(capture) << capture.error().message();
  const auto report = judge(*capture);
  ASSERT_TRUE(report && report->notes.size() == 2u);
  EXPECT_EQ(report->notes[0], Bilingual("CUDA graphs cannot be followed", "CUDA 图无法跟踪"));
  EXPECT_EQ(report->notes[1].en.substr(0, 30), "m.py:3: attention by blocks (e");
  EXPECT_TRUE(report->summary().empty());
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
