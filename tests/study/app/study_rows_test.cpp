// The file of a study: whole lines, read one by one, one writer; what is damaged or contradicts itself is named.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <string>

#include "base/formatted.h"
#include "study/kept/rows.h"
#include "temporary_folder.h"

namespace headlight {
namespace {

const StudyStatement kStated{
    .study = "0123456789abcdef", .words = {"patch", "--at", "heads"}, .pairs = 4, .model = "m", .version = "1"};

StudyRow row_of(Index row, double value) {
  StudyRow one{.row = row, .question = formatted("%016lx", static_cast<unsigned long>(row)), .study = kStated.study};
  one.keys = std::make_shared<const CellKeys>(CellKeys{{"restored", "0", "1", ""}, {"restored", "0", "2", ""}});
  one.values = {value, -value / 3};
  return one;
}

std::vector<Error> none() { return {}; }

Result<StudyRows> opened(const std::string& study, std::vector<Error>& problems, bool writes = false,
                         const std::optional<Shard>& shard = {}) {
  return StudyRows::open(study, shard, writes, problems);
}

/// Writes rows 1 to `count`.
void write_rows(const std::string& study, Index count, const std::optional<Shard>& shard = {}) {
  std::vector<Error> problems;
  auto rows = opened(study, problems, true, shard);
  ASSERT_TRUE(rows) << rows.error().message();
  for (Index row = 1; row <= count; ++row)
    if (!shard || shard->has(row)) { ASSERT_TRUE(rows->add(row_of(row, 0.1 * static_cast<double>(row)), kStated)); }
  EXPECT_TRUE(problems.empty());
}

TEST(StudyRows, EveryNumberIsReadAsItWasWritten) {
  const TemporaryFolder folder;
  const std::string file = (folder / "rows.jsonl").string();
  auto problems = none();
  const double numbers[] = {1.0 / 3, -0.0, 5e-324, 1.7976931348623157e308, 0.1 + 0.2};
  {
    auto rows = opened(file, problems, true);
    ASSERT_TRUE(rows);
    for (Index i = 0; i < 5; ++i) ASSERT_TRUE(rows->add(row_of(i + 1, numbers[i]), kStated));
    StudyRow failed{.row = 6, .question = "6", .study = kStated.study, .error = "clean: expected \"x\"\nfound y"};
    ASSERT_TRUE(rows->add(failed, kStated));
  }
  const auto rows = opened(file, problems);
  ASSERT_TRUE(rows) << rows.error().message();
  EXPECT_TRUE(problems.empty());
  for (Index i = 0; i < 5; ++i) {
    const StudyRow* row = rows->find(row_of(i + 1, 0).question, 4);
    ASSERT_NE(row, nullptr);
    EXPECT_EQ(row->values[0], numbers[i]);
    EXPECT_EQ(std::signbit(row->values[0]), std::signbit(numbers[i]));
    EXPECT_EQ(*row->keys, *row_of(1, 0).keys);
    EXPECT_EQ(row->keys, rows->rows().front().keys) << "names are held once";
  }
  EXPECT_EQ(rows->find("6", 4)->error, "clean: expected \"x\"\nfound y");
  EXPECT_EQ(rows->find(row_of(1, 0).question, 3), nullptr) << "of a study with other columns";
  ASSERT_EQ(rows->statements().size(), 1u) << "stated once";
  EXPECT_EQ(rows->statements()[0].words, kStated.words);
  EXPECT_EQ(rows->statements()[0].pairs, 4);
}

TEST(StudyRows, HaveNoLimitOfTheirFile) {
  const TemporaryFolder folder;
  const std::string file = (folder / "rows.jsonl").string();
  constexpr Index kRows = 200000;
  auto problems = none();
  {
    auto rows = opened(file, problems, true);
    StudyRow first = row_of(1, 1);
    CellKeys keys;
    for (int cell = 0; cell < 8; ++cell) keys.push_back({"restored", "0", std::to_string(cell), ""});
    first.keys = std::make_shared<const CellKeys>(keys);
    first.values.assign(keys.size(), 1.0 / 3);
    ASSERT_TRUE(rows && rows->add(first, kStated));
    const std::string sample = *read_file(file);
    std::ofstream out(file, std::ios::app | std::ios::binary);
    const std::string rest =
        sample.substr(sample.find("\",\"study\""), sample.rfind(",\"of\"") - sample.find("\",\"study\""));
    for (Index row = 2; row <= kRows; ++row)
      out << formatted(R"({"row":%ld,"question":"%016lx)", static_cast<long>(row), static_cast<unsigned long>(row))
          << rest << "}\n";
  }
  EXPECT_GT(std::filesystem::file_size(file), std::uintmax_t{64} << 20);
  const auto rows = opened(file, problems);
  ASSERT_TRUE(rows) << rows.error().message();
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(rows->rows().size(), static_cast<std::size_t>(kRows));
  EXPECT_NE(rows->find(row_of(kRows, 0).question, 4), nullptr);
}

TEST(StudyRows, ADamagedLineIsLeftOutAndNamed) {
  const TemporaryFolder folder;
  const std::string file = (folder / "rows.jsonl").string();
  write_rows(file, 4);
  const std::string whole = *read_file(file);
  const std::size_t second = whole.find('\n') + 1, third = whole.find('\n', second) + 1;
  // Every cut within the second line, and other damage to it.
  std::vector<std::string> damaged;
  for (std::size_t end = second + 1; end < third - 1; end += 7) damaged.push_back(whole.substr(second, end - second));
  const std::string line = whole.substr(second, third - 1 - second);
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = line;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, text.npos) << from;
    return text.replace(at, from.size(), to);
  };
  damaged.push_back("");
  damaged.push_back("null");
  damaged.push_back(std::string(3, '\0'));
  damaged.push_back(changed("\"row\":2", "\"row\":\"2\""));
  damaged.push_back(changed("[0.2", "[NaN"));
  damaged.push_back(changed("[0.2", "[1e999"));
  damaged.push_back(changed("[0.2", "[7,0.2"));
  damaged.push_back(changed("[\"restored\",\"0\",\"2\",\"\"]", "[\"restored\",\"0\"]"));
  damaged.push_back(changed("\"cells\":[[\"restored\"", "\"cells\":[[1"));
  for (const std::string& text : damaged) {
    ASSERT_TRUE(write_file(file, whole.substr(0, second) + text + "\n" + whole.substr(third)));
    auto problems = none();
    const auto rows = opened(file, problems);
    ASSERT_TRUE(rows) << text;
    EXPECT_EQ(rows->rows().size(), 3u) << text;
    EXPECT_EQ(rows->find(row_of(2, 0).question, 4), nullptr) << text;
    ASSERT_EQ(problems.size(), 1u) << text;
    EXPECT_EQ(problems[0].message(), file + ": line 2: expected a row, found damage: left out, and computed again")
        << text;
  }
  ASSERT_TRUE(write_file(file, "something else\n"));
  auto problems = none();
  const auto other = opened(file, problems);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message(), file + ": expected what --resume wrote, found another file");
}

TEST(StudyRows, AnInterruptedLastLineIsTakenOff) {
  const TemporaryFolder folder;
  const std::string file = (folder / "rows.jsonl").string();
  write_rows(file, 4);
  const std::string whole = *read_file(file);
  ASSERT_TRUE(write_file(file, whole.substr(0, whole.size() - 9)));
  auto problems = none();
  EXPECT_EQ(opened(file, problems)->rows().size(), 3u) << "it may be being written";
  EXPECT_EQ(std::filesystem::file_size(file), whole.size() - 9) << "who reads changes nothing";
  EXPECT_TRUE(opened(file, problems, true)->add(row_of(4, 0.4), kStated));
  EXPECT_EQ(*read_file(file), whole);
  EXPECT_TRUE(problems.empty());
}

TEST(StudyRows, OneProgramWritesAtATime) {
  const TemporaryFolder folder;
  const std::string file = (folder / "rows.jsonl").string();
  auto problems = none();
  const auto first = opened(file, problems, true);
  ASSERT_TRUE(first);
  const auto second = opened(file, problems, true);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message(), file + ": expected no other program that writes here, found one that does");
  EXPECT_TRUE(opened(file, problems)) << "a reader is no writer";
  const std::string shards = (folder / "shards").string();
  const auto one = opened(shards, problems, true, Shard{0, 2}), other = opened(shards, problems, true, Shard{1, 2});
  EXPECT_TRUE(one && other) << "each has a file of its own";
  EXPECT_FALSE(opened(shards, problems, true, Shard{1, 2}));
}

TEST(StudyRows, UnequalNumbersOfOneQuestionNameBothFiles) {
  const TemporaryFolder folder;
  const std::string study = (folder / "study").string();
  for (const Index shard : {0, 1}) write_rows(study, 4, Shard{shard, 2});
  auto problems = none();
  EXPECT_EQ(opened(study, problems)->rows().size(), 4u);
  const std::string a = study + "/rows-0-of-2.jsonl", b = study + "/rows-1-of-2.jsonl";
  // The same row again is no harm: a task that was run twice.
  ASSERT_TRUE(write_file(study + "/rows-9.jsonl", *read_file(a)));
  EXPECT_EQ(opened(study, problems)->rows().size(), 4u);
  std::string other = *read_file(a);
  other.replace(other.find("[0.1"), 4, "[0.7");
  ASSERT_TRUE(write_file(study + "/rows-9.jsonl", other));
  const auto rows = opened(study, problems);
  ASSERT_FALSE(rows);
  const std::string message = rows.error().message();
  EXPECT_NE(message.find(study + "/rows-9.jsonl: line 1: row 1: expected the numbers that the same question has in "),
            message.npos)
      << message;
  EXPECT_NE(message.find(a + ": line 1"), message.npos) << message;
  EXPECT_TRUE(problems.empty());
  EXPECT_TRUE(std::filesystem::exists(b));
}

}  // namespace
}  // namespace headlight
