// Calls of a program that was watched: what its caches hold, and how positions turn queries and keys.
#include <algorithm>

#include "diagnose/capture/positions.h"
#include "diagnose/captured.h"

namespace headlight {
namespace {

using namespace captured;

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

}  // namespace
}  // namespace headlight
