// Calls of a program that was watched: what is named from their arrays and facts, and what a file that is wrong gives.
#include <algorithm>

#include "diagnose/capture/capture_masks.h"
#include "diagnose/capture/positions.h"
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

/// The calls of one attention layer: keys and values of each, of which the last rows are new.
struct Cache {
  struct Step {
    Table keys, values;
    int added = 0;
  };
  std::vector<Step> steps;
  int at = -1;  // of the last call: where its new row stands; −1: at the end

  CaptureReport judged(int block = 0) const {
    ArrayFile file;
    std::string facts;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const auto& [keys, values, added] = steps[i];
      const auto rows = static_cast<Index>(keys.rows);
      const std::string name = std::to_string(i) + ".";
      Table query(static_cast<std::size_t>(added == 0 ? rows : added), 4, 0.5);
      file.arrays[name + "query"] = array_of({1, static_cast<Index>(query.rows), 4}, {query});
      file.arrays[name + "key"] = array_of({1, rows, 4}, {keys});
      file.arrays[name + "value"] = array_of({1, rows, 4}, {values});
      const Index first = i + 1 == steps.size() && at >= 0 ? at : rows - added;
      facts += std::string(i > 0 ? "," : "") + R"({"where":"m.py:1",)" +
               (block < 0 ? "" : "\"block\":" + std::to_string(block) + ",") + R"("new_keys":)" +
               std::to_string(added) + R"(,"new_at":)" + std::to_string(first) + "}";
    }
    file.metadata["capture"] = "{\"calls\":[" + facts + "]}";
    const auto capture = capture_from("f", file);
    EXPECT_TRUE(capture) << capture.error().message();
    const auto report = judge(*capture);
    EXPECT_TRUE(report) << report.error().message();
    return *report;
  }
};

Table first_rows(const Table& of, std::size_t count) {
  Table rows(count, of.cols);
  std::copy_n(of.values.begin(), rows.values.size(), rows.values.begin());
  return rows;
}

TEST(Capture, ACacheHoldsWhatTheCallBeforeLeft) {
  Random random(5);
  const Table keys = random_table(random, 6, 4, 1), values = random_table(random, 6, 4, 1);
  const auto cache = [&](const std::function<void(Cache&)>& change) {
    Cache one{{{first_rows(keys, 4), first_rows(values, 4), 0},
               {first_rows(keys, 5), first_rows(values, 5), 1},
               {keys, values, 1}}};
    change(one);
    return one;
  };
  const auto said = [&](const std::function<void(Cache&)>& change, int block = 0) {
    const CaptureReport report = cache(change).judged(block);
    if (!report.mistakes.empty()) return std::string(report.mistakes[0].mistake.text.en);
    return report.unchecked.empty() ? std::string() : report.unchecked[0].en;
  };
  EXPECT_EQ(said([](Cache&) {}), "") << "both are known from the calls before";
  const std::string given = "m.py:1: cache: 1 of 6 keys are new, the others are taken as given";
  EXPECT_EQ(said([](Cache& c) { c.steps[2].keys(1, 0) += 1; }),
            "the cache does not hold what the call before left: keys of row 1 differ");
  EXPECT_EQ(said([](Cache& c) { c.steps[2].values(4, 2) -= 1; }),
            "the cache does not hold what the call before left: values of row 4 differ");
  EXPECT_EQ(said([](Cache& c) {
              for (std::size_t i = 0; i < 4; ++i) c.steps[2].keys(4, i) = 0;
              c.at = 5;
              for (std::size_t i = 0; i < 4; ++i)
                c.steps[1].keys = first_rows(c.steps[1].keys, 4), c.steps[1].values = first_rows(c.steps[1].values, 4);
            }),
            "row 4 of the cache was never written, and is seen");
  // Another sentence, a window, rows that were let go or are rounded, and calls that were not all seen: no mistake.
  EXPECT_EQ(said([](Cache& c) {
              for (std::size_t i = 0; i < 20; ++i) c.steps[2].keys.values[i] += 1;
            }),
            given);
  EXPECT_EQ(said([](Cache& c) { c.steps[2].keys(1, 0) += 1; }, -1).substr(0, 13), "m.py:1: cache");
  EXPECT_EQ(said([&](Cache& c) {
              c.steps[2].keys.values.erase(c.steps[2].keys.values.begin() + 8, c.steps[2].keys.values.begin() + 12);
              c.steps[2].values.values.erase(c.steps[2].values.values.begin() + 8,
                                             c.steps[2].values.values.begin() + 12);
              c.steps[2].keys.rows = c.steps[2].values.rows = 5;
            }),
            "m.py:1: cache: 1 of the 5 keys that the call before left are not in it: taken as given");
  EXPECT_EQ(said([](Cache& c) { c.steps[2].keys(1, 0) += 1e-3; }), "");
}

/// What stands in the place of each row's columns after a turn by the row's number: pairs as they are read, each by the
/// angle of its own pair or of that of the other reading.
reference::Grid turned_rows(const reference::Grid& before, bool half, bool own, double base) {
  reference::Grid after = before;
  const Index count = before.cols() / 2;
  for (Index i = 0; i < before.rows(); ++i)
    for (Index c = 0; c < before.cols(); ++c) {
      const bool first = half ? c < count : c % 2 == 0;
      const Index partner = first ? c + (half ? count : 1) : c - (half ? count : 1);
      const Index pair = half == own ? c % count : c / 2;
      const double angle =
          static_cast<double>(i) * std::pow(base, -static_cast<double>(pair) / static_cast<double>(count));
      after(i, c) = before(i, c) * std::cos(angle) + (first ? -1 : 1) * before(i, partner) * std::sin(angle);
    }
  return after;
}

TEST(Capture, ATurnThatIsRightAsWellIsNotMixed) {
  for (const Index rows : {1, 2, 3, 9})
    for (const Index columns : {2, 4, 8, 16})
      for (const double base : {1e4, 5e5})
        for (const bool half : {true, false}) {
          const reference::Grid before = reference::Grid::Random(rows, columns);
          EXPECT_FALSE(mixed_pairs(before, turned_rows(before, half, true, base), {base})) << rows << " " << columns;
          const bool tells = rows > 1 && columns > 2;
          EXPECT_EQ(mixed_pairs(before, turned_rows(before, half, false, base), {base}).has_value(), tells)
              << rows << " " << columns << " " << base << " " << half;
        }
}

TEST(Capture, RotaryPositionsOfRoFormerAreChecked) {
  for (const Index rows : {1, 2, 6})
    for (const bool half : {true, false})
      for (const double base : {1e4, 5e5}) {
        CapturedCall call;
        call.d_k = 8;
        const auto put = [&](const std::string& name, Index offset) {
          const reference::Grid before = reference::Grid::Random(rows + offset, 8);
          for (const auto& [own, grid] : {std::pair{".before", before}, {"", turned_rows(before, half, true, base)}}) {
            Array& array = call.arrays[name + own] = Array{.shape = {1, rows, 8}, .values = {}};
            for (Index i = 0; i < rows * 8; ++i)
              array.values.push_back(static_cast<float>(grid(offset + i / 8, i % 8)));
          }
        };
        put("query", 0), put("key", 0);
        EXPECT_TRUE(are_turned(call, base, 0)) << rows;
        EXPECT_EQ(are_turned(call, base == 1e4 ? 5e5 : 1e4, 0), rows == 1) << rows;
        put("query", 3);
        EXPECT_TRUE(are_turned(call, base, 3)) << rows;
        EXPECT_FALSE(are_turned(call, base, 0)) << rows;
        put("query", 0), put("key", 2);
        EXPECT_FALSE(are_turned(call, base, 0)) << rows;
      }
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
