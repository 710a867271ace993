#include "study/study.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <tuple>

#include "base/file.h"
#include "base/formatted.h"
#include "base/random.h"
#include "base/utf8.h"
#include "cli/options/metric_options.h"
#include "cli/options/print.h"
#include "math/output.h"
#include "model/head_text.h"
#include "question/json/document_json.h"
#include "question/tokenizers.h"
#include "read/json/json_document.h"

namespace headlight {
namespace {

constexpr std::size_t kMostKeptBytes = std::size_t{1} << 26;  // of what was kept
constexpr Index kMostShown = 20;                              // cells for people

/// What rows gave, in a file: a line of JSON a row. A last line without its end was interrupted and is taken off.
class Kept {
 public:
  static Result<Kept> open(const std::string& file) {
    Kept kept;
    kept.file_ = file;
    std::error_code failure;
    if (file.empty() || !std::filesystem::exists(file, failure)) return kept;
    auto text = TRY(read_file(file, kMostKeptBytes));
    const std::size_t whole = text.rfind('\n') + 1;  // 0 where there is no whole line
    if (whole < text.size()) std::filesystem::resize_file(file, whole, failure);
    if (failure) return bad_input(file, "write", "a file that can be written", failure.message());
    text.resize(whole > 0 ? whole - 1 : 0);
    for (const std::string_view line : split_at('\n', text))
      if (whole > 0 && !kept.take(line)) return bad_input(file, "", "what --resume wrote", "another file");
    return kept;
  }

  const std::vector<StudyCell>* find(const std::string& question) const {
    const auto found = rows_.find(question);
    return found == rows_.end() ? nullptr : &found->second;
  }

  /// After an Error nothing more is kept.
  Status add(Index row, const std::string& question, const std::vector<StudyCell>& cells) {
    if (file_.empty()) return Done{};
    const auto cell_json = [](const StudyCell& cell) {
      return Value::of_json("[" + json_list(cell.key, [](const std::string& field) { return Value(field); }).json() +
                            "," + formatted("%.17g", cell.value) + "]");
    };
    const std::string line =
        json_object({{"row", row}, {"question", question}, {"cells", json_list(cells, cell_json)}}).json() + "\n";
    std::ofstream out(file_, std::ios::app | std::ios::binary);
    if (out << line << std::flush) return Done{};
    return bad_input(std::exchange(file_, {}), "write", "room to write", "a failure: the rows before are kept");
  }

 private:
  bool take(std::string_view line) {
    const auto parsed = parse_json(file_, line);
    if (!parsed || !parsed->is_object() || !parsed->contains("question") || !parsed->contains("cells")) return false;
    std::vector<StudyCell> cells;
    for (const auto& cell : (*parsed)["cells"]) {
      if (!cell.is_array() || cell.size() != 2 || !cell[0].is_array() || !cell[1].is_number()) return false;
      StudyCell& one = cells.emplace_back();
      one.value = cell[1].get<double>();
      for (const auto& field : cell[0]) one.key.push_back(field.is_string() ? field.get<std::string>() : "");
    }
    if (!(*parsed)["question"].is_string()) return false;
    rows_[(*parsed)["question"].get<std::string>()] = std::move(cells);
    return true;
  }

  std::string file_;
  std::map<std::string, std::vector<StudyCell>, std::less<>> rows_;
};

/// The numbers of all rows by their keys, in the order in which keys came.
struct StudyValues {
  std::vector<std::vector<std::string>> keys = {};
  std::vector<std::vector<double>> values = {};
  std::map<std::vector<std::string>, std::size_t> index_of_key = {};
  Index rows = 0;

  void add(const std::vector<StudyCell>& cells) {
    for (const StudyCell& cell : cells) {
      const auto [at, is_new] = index_of_key.emplace(cell.key, keys.size());
      if (is_new) keys.push_back(cell.key), values.emplace_back();
      values[at->second].push_back(cell.value);
    }
    ++rows;
  }
};

/// Ids where the checkpoint reads nothing else, else a text.
Status set_sentence(Document& document, const std::string& text, const Lexicon& lexicon) {
  if (can_read_text(document)) {
    TRY(check_text("pairs", text));
    set_text(document, TextSide::source, text, lexicon);
    return Done{};
  }
  document.source = {};
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of(", \t", begin), text.size());
    const std::string_view word = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    if (word.empty()) continue;
    const auto id = parse_number<std::int64_t>(word);
    if (!id) return bad_input("pairs", "", "ids, which this model reads: it has no tokenizer", text);
    document.source.ids.push_back(*id);
  }
  return Done{};
}

Result<std::shared_ptr<const Trace>> trace_of(Document document, const std::string& text, const Lexicon& lexicon,
                                              const Trace* known, int threads) {
  TRY(set_sentence(document, text, lexicon));
  const auto requests = TRY(requests_of(document, lexicon));
  if (requests.size() != 1) return bad_input("sentences", "", "one", std::to_string(requests.size()));
  return forward(requests.front(), unwatched(), known, threads);
}

Result<std::vector<StudyCell>> answer_of(const StudyQuestion& question, const StudyPair& pair, const Document& document,
                                         const Lexicon& lexicon, int threads) {
  StudyTraces traces{.clean = {}, .corrupt = {}, .threads = threads};
  auto clean = trace_of(document, pair.clean, lexicon, nullptr, threads);
  if (!clean) return inside("clean", clean.error());
  traces.clean = *std::move(clean);
  if (question.with_corrupt) {
    auto corrupt = trace_of(document, pair.corrupt, lexicon, traces.clean.get(), threads);
    if (!corrupt) return inside("corrupt", corrupt.error());
    traces.corrupt = *std::move(corrupt);
  }
  if (!pair.right.empty() || !pair.wrong.empty()) TRY(check_has_logits(*traces.clean, "right"));
  for (const auto& [option, word, row] :
       {std::tuple("right", &pair.right, &traces.right), std::tuple("wrong", &pair.wrong, &traces.wrong)}) {
    if (word->empty()) continue;
    *row = TRY(answer_row(*traces.clean->model, option, *word));
  }
  auto cells = question.answer(traces);
  if (!cells) return cells;
  for (const StudyCell& cell : *cells)
    if (!std::isfinite(cell.value))
      return bad_input(joined_texts(cell.key, " "), "", "a finite number", std::to_string(cell.value));
  return cells;
}

constexpr const char* kStatistics[] = {"mean", "median", "lower_quartile", "upper_quartile", "low", "high"};

/// In the order of kStatistics.
std::array<std::optional<double>, std::size(kStatistics)> statistics_of(const Summary& summary) {
  return {summary.mean, summary.median, summary.lower_quartile, summary.upper_quartile, summary.low, summary.high};
}

Table table_of(const StudyQuestion& question, const StudyValues& gathered) {
  Table table{question.columns};
  table.columns.insert(table.columns.end(), std::begin(kStatistics), std::end(kStatistics));
  table.columns.emplace_back("n");
  for (std::size_t i = 0; i < gathered.keys.size(); ++i) {
    const Summary summary = summary_of(gathered.values[i]);
    std::vector<Value>& row = table.rows.emplace_back();
    for (const std::string& field : gathered.keys[i]) {  // a number, a word, or nothing
      const auto number = parse_index(field);
      row.push_back(field.empty() ? Value() : number ? Value(*number) : Value(field));
    }
    for (const auto& number : statistics_of(summary)) row.emplace_back(number);
    row.emplace_back(summary.count);
  }
  return table;
}

std::string text_of(const StudyQuestion& question, const StudyValues& gathered) {
  std::vector<Summary> summaries;
  for (const auto& values : gathered.values) summaries.push_back(summary_of(values));
  std::vector<std::size_t> order(summaries.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return std::abs(summaries[a].mean) > std::abs(summaries[b].mean); });
  std::vector<std::vector<std::string>> lines{question.columns};
  for (const char* name : {"mean", "95 % interval", "median", "quartiles", "n"}) lines[0].emplace_back(name);
  const auto range = [](double low, double high) { return formatted("%.4f … %.4f", low, high); };
  for (std::size_t i = 0; i < std::min<std::size_t>(order.size(), kMostShown); ++i) {
    const Summary& one = summaries[order[i]];
    std::vector<std::string>& line = lines.emplace_back();
    for (const std::string& field : gathered.keys[order[i]]) line.push_back(word_in_table(field));
    line.insert(line.end(),
                {formatted("%.4f", one.mean), one.low ? range(*one.low, *one.high) : "—", formatted("%.4f", one.median),
                 range(one.lower_quartile, one.upper_quartile), std::to_string(one.count)});
  }
  std::vector<bool> right(lines[0].size(), true);
  std::fill_n(right.begin(), question.columns.size(), false);
  std::string text = question.title + ", " + counted(gathered.rows, "pair") + "\n" + aligned_text(lines, right);
  if (order.size() > kMostShown) text += "and " + std::to_string(order.size() - kMostShown) + " more (--format csv)\n";
  return text;
}

/// The columns of keys as numbers (-1 where there is none) or texts, the summaries, and every value: (cells, rows).
Arrays arrays_of(const StudyQuestion& question, const StudyValues& gathered) {
  const auto count = static_cast<Index>(gathered.keys.size());
  Arrays arrays;
  for (std::size_t column = 0; column < question.columns.size(); ++column) {
    std::vector<std::string> texts;
    std::vector<float> numbers;
    for (const auto& key : gathered.keys) {
      texts.push_back(key[column]);
      const auto number = parse_index(key[column]);
      if (number || key[column].empty()) numbers.push_back(static_cast<float>(number.value_or(-1)));
    }
    arrays.push_back(numbers.size() == texts.size() ? array_of(question.columns[column], {count}, std::move(numbers))
                                                    : array_of_texts(question.columns[column], texts));
  }
  std::vector<float> numbers, counts;
  std::size_t longest = 0;
  for (const auto& values : gathered.values) {
    longest = std::max(longest, values.size());
    const Summary one = summary_of(values);
    for (const auto& number : statistics_of(one)) numbers.push_back(static_cast<float>(number.value_or(std::nan(""))));
    counts.push_back(static_cast<float>(one.count));
  }
  arrays.push_back(array_of_texts("statistics", {std::begin(kStatistics), std::end(kStatistics)}));
  arrays.push_back(array_of("summary", {count, std::size(kStatistics)}, std::move(numbers)));
  arrays.push_back(array_of("n", {count}, std::move(counts)));
  arrays.push_back(array_of_texts("metric", {question.title}));
  std::vector<float> all;
  for (const auto& values : gathered.values) {
    if (values.size() != longest) return arrays;
    for (const double value : values) all.push_back(static_cast<float>(value));
  }
  arrays.push_back(array_of("values", {count, static_cast<Index>(longest)}, std::move(all)));
  return arrays;
}

Answer answer_in(const std::string& format, const StudyQuestion& question, const StudyValues& gathered) {
  if (format == "csv") return table_of(question, gathered);
  if (format == "npz") return arrays_of(question, gathered);
  if (format == "json")
    return json_object(
        {{"metric", question.title}, {"pairs", gathered.rows}, {"cells", json_rows(table_of(question, gathered))}});
  return text_of(question, gathered);
}

}  // namespace

void add_study_options(Parser& parser, StudyOptions& options, const std::string& more) {
  parser.section("Many pairs");
  parser.option("--pairs", options.pairs,
                "The same of every row: clean, corrupt, right, wrong, by the names of the columns; right and wrong "
                "are words that --answers would name, and may be left out" +
                    more,
                "FILE.csv|FILE.jsonl");
  parser
      .option("--resume", options.resume,
              "Of --pairs: what each row gave is appended here as soon as it is known; rows that are there already are "
              "not computed again",
              "FILE")
      .needs("--pairs");
  parser.section();
}

Result<std::vector<std::shared_ptr<const Trace>>> traces_of_lines(const Document& document, const std::string& file,
                                                                  const Lexicon& lexicon, int threads) {
  const auto text = TRY(read_file(file, kMostKeptBytes));
  std::vector<std::shared_ptr<const Trace>> traces;
  for (const Line& line : sentences(text)) {
    auto trace = trace_of(document, text.substr(line.begin, line.end - line.begin), lexicon, nullptr, threads);
    if (!trace) return inside(file, trace.error());
    traces.push_back(*std::move(trace));
  }
  if (traces.empty()) return bad_input(file, "lines", "a sentence a line", "none");
  return traces;
}

Result<int> run_study(const QuestionCommand& command, const StudyOptions& options, const StudyQuestion& question) {
  std::vector<Error> problems;
  const auto pairs = TRY(read_pairs(options.pairs, question.with_corrupt, problems));
  auto kept = TRY(Kept::open(options.resume));
  const auto lexicon = TRY(read_lexicon());
  const auto start = TRY(command.request().start());
  const Document& document = start.session.document;
  if (question.prepare) TRY(question.prepare(document, lexicon));
  StudyValues gathered;
  Progress progress;
  const ProgressReport report(options.pairs, &progress);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const StudyPair& pair = pairs[i];
    Document asked = document;
    std::string asked_text = question.options;
    if (set_sentence(asked, pair.clean, lexicon)) asked_text += request_json(asked);
    for (const std::string* part : {&pair.corrupt, &pair.right, &pair.wrong}) asked_text += "\n" + *part;
    const std::string id = formatted("%016llx", static_cast<unsigned long long>(hash_text(asked_text)));
    progress.done = static_cast<float>(i) / static_cast<float>(pairs.size());
    if (const auto* known = kept.find(id)) {
      gathered.add(*known);
      continue;
    }
    const auto cells = answer_of(question, pair, document, lexicon, command.request().threads());
    if (!cells) {
      problems.push_back(inside(row_name(options.pairs, pair.row), cells.error()));
      continue;
    }
    gathered.add(*cells);
    if (const Status added = kept.add(pair.row, id, *cells); !added) problems.push_back(added.error());
  }
  if (gathered.keys.empty())
    return problems.empty() ? bad_input(options.pairs, "rows", "at least one", "none") : problems.front();
  TRY(print_answers({answer_in(command.format(), question, gathered)}));
  print_warnings(problems);
  return 0;
}

}  // namespace headlight
