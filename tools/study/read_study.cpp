#include "study/read_study.h"

#include <algorithm>
#include <fstream>
#include <set>

#include "base/folders.h"
#include "base/formatted.h"
#include "base/result.h"
#include "study/gathering.h"

namespace headlight {
namespace {

std::string value_of_option(const StudyStatement& statement, std::string_view option) {
  const auto at = std::ranges::find(statement.words, option);
  return at == statement.words.end() || at + 1 == statement.words.end() ? "" : *(at + 1);
}

}  // namespace

const std::string& ReadStudy::field(std::size_t cell, std::string_view column) const {
  static const std::string kNone;
  const auto at = std::ranges::find(question.columns, column);
  return at == question.columns.end() ? kNone
                                      : values.keys[cell][static_cast<std::size_t>(at - question.columns.begin())];
}

std::string ReadStudy::label(std::size_t cell) const {
  std::string label, stack = field(cell, "stack");
  if (!stack.empty() && stack != "self") label = stack + " ";
  const std::string &layer = field(cell, "layer"), &head = field(cell, "head");
  if (!layer.empty()) label += "L" + layer;
  if (!head.empty()) label += "·H" + head;
  if (!field(cell, "neuron").empty()) label += "·N" + field(cell, "neuron");
  const std::string& part = field(cell, "part");
  if (!part.empty()) label += label.empty() ? part : ":" + part;
  if (!field(cell, "token").empty()) label += " t" + field(cell, "token");
  for (const char* column : {"from", "query", "key"})
    if (!field(cell, column).empty()) label += (label.empty() ? "" : " · ") + field(cell, column);
  return label;
}

bool is_study(const std::string& path) {
  const std::vector<std::string> files = path.empty() ? std::vector<std::string>{} : files_of_study(path);
  if (files.empty() || !is_regular(files.front())) return false;  // a pipe is not waited for
  constexpr std::string_view kBegin = R"({"row":)";
  std::string begin(kBegin.size(), '\0');
  std::ifstream in(files.front(), std::ios::binary);
  return in.read(begin.data(), static_cast<std::streamsize>(begin.size())) && begin == kBegin;
}

Result<ReadStudy> read_study(const std::string& study, int threads, std::vector<Error>& problems,
                             const std::atomic<bool>& stop) {
  if (!is_study(study))
    return bad_input(study.empty() ? "SOURCE" : study, "", "what --resume wrote: a file, or a folder with .jsonl files",
                     "none");
  const auto rows = TRY(StudyRows::open(study, {}, false, problems, stop));
  if (stop) return cancelled(study);
  if (rows.statements().empty()) return bad_input(study, "", "a line that states the study", "none");
  ReadStudy read{.statement = rows.statements().back()};
  std::set<std::string> studies;
  for (const StudyStatement& one : rows.statements()) studies.insert(one.study);
  if (studies.size() > 1)
    problems.push_back(
        bad_input(study, "studies", "one", std::to_string(studies.size()) + ": the one that was stated last is taken"));
  read.question.columns = read.statement.columns, read.question.title = read.statement.title;
  auto by_row = rows.of_study(read.statement.study);
  const std::ptrdiff_t all = std::ssize(by_row);
  const std::size_t failed = std::erase_if(by_row, [&](const auto& one) {
    return !one.second->error.empty() || one.second->keys->front().size() != read.question.columns.size();
  });
  if (failed > 0)
    problems.push_back(bad_input(study, counted(all, "row"), "numbers in each", "none in " + std::to_string(failed)));
  if (by_row.empty()) return bad_input(study, "rows", "at least one with numbers", "none");
  const CellKeys& keys = *by_row.begin()->second->keys;
  const bool shares = keys.front().front() == kCleanCell;
  if (shares) {
    const auto how = value_named<Normalise>(kNormaliseNames, value_of_option(read.statement, "--normalise"));
    read.question.normalise = how.value_or(Normalise::total);
  }
  Gathering gathering(read.values, shares);
  for (const auto& [number, row] : by_row) gathering.add(*row);
  gathering.finish();
  warn_of_small_wholes(study, read.question, read.values, problems);
  read.summaries = summaries_of(read.question, read.values, threads, stop);
  if (stop) return cancelled(study);
  return read;
}

}  // namespace headlight
