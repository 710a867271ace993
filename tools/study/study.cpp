#include "study/study.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include "base/file.h"
#include "base/formatted.h"
#include "base/random.h"
#include "base/system.h"
#include "base/utf8.h"
#include "cli/options/metric_options.h"
#include "cli/options/print.h"
#include "math/kernels/kernels.h"
#include "math/output.h"
#include "model/fingerprint.h"
#include "question/json/document_json.h"
#include "question/tokenizers.h"
#include "study/gathering.h"

namespace headlight {
namespace {

constexpr std::size_t kMostSentencesBytes = std::size_t{1} << 26;  // of a file of sentences
constexpr Index kMostShards = 100000;

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

/// A study that runs: what its rows are known by, and where they are kept.
struct StudyRun {
  const StudyOptions& options;
  const StudyQuestion& question;
  const Document& document;
  const Lexicon& lexicon;
  int threads;
  StudyStatement statement = {};
};

/// All that the rows depend on beside their pairs, wherever the model lies and whatever it is called.
StudyStatement statement_of(const QuestionCommand& command, const StudyRun& run, std::size_t pairs) {
  nlohmann::json request = document_json(run.document);
  for (const char* field : {"source", "text"}) request.erase(field);
  const std::string model = run.document.model ? identity(*run.document.model, run.threads) : "";
  const std::string text = joined_texts(
      std::vector<std::string>{HEADLIGHT_VERSION, model, command.parser().name(), run.question.options, request.dump()},
      "\n");
  return {.study = hash_digits(text),
          .title = run.question.title,
          .columns = run.question.columns,
          .words = command.parser().given_words(
              {"--resume", "--gather", "--gather-partial", "--shard", "--threads", "--format"}),
          .pairs = static_cast<Index>(pairs),
          .model = model,
          .version = HEADLIGHT_VERSION,
          .machine = runs_avx2() ? "AVX2" : "without AVX2"};
}

/// The name of a pair's row: its texts, and the tokens that the model's tokenizer makes of them. A pair that the file
/// has again counts again: its row is another.
std::string question_id(const StudyRun& run, const StudyPair& pair, int before) {
  std::string text = run.statement.study;
  if (before > 0) text += " again " + std::to_string(before);
  for (const std::string* sentence : {&pair.clean, &pair.corrupt}) {
    text += "\n" + *sentence;
    if (sentence->empty() || (sentence == &pair.corrupt && !run.question.with_corrupt)) continue;
    const auto request = request_of_sentence(run.document, *sentence, run.lexicon);
    if (!request) continue;
    for (const Token& token : request->tokens.tokens) text += " " + std::to_string(token.id);
  }
  return hash_digits(text + "\n" + pair.right + "\n" + pair.wrong);
}

Result<std::shared_ptr<const Trace>> trace_of(const StudyRun& run, const std::string& text, const Trace* known) {
  const auto request = TRY(request_of_sentence(run.document, text, run.lexicon));
  return forward(request, unwatched(), known, run.threads);
}

Result<std::vector<StudyCell>> answer_of(const StudyRun& run, const StudyPair& pair) {
  StudyTraces traces{.clean = {}, .corrupt = {}, .threads = run.threads};
  auto clean = trace_of(run, pair.clean, nullptr);
  if (!clean) return inside("clean", clean.error());
  traces.clean = *std::move(clean);
  if (run.question.with_corrupt) {
    auto corrupt = trace_of(run, pair.corrupt, traces.clean.get());
    if (!corrupt) return inside("corrupt", corrupt.error());
    traces.corrupt = *std::move(corrupt);
  }
  if (!pair.right.empty() || !pair.wrong.empty()) TRY(check_has_logits(*traces.clean, "right"));
  for (const auto& [option, word, row] :
       {std::tuple("right", &pair.right, &traces.right), std::tuple("wrong", &pair.wrong, &traces.wrong)}) {
    if (word->empty()) continue;
    *row = TRY(answer_row(*traces.clean->model, option, *word));
  }
  auto cells = run.question.answer(traces);
  if (!cells) return cells;
  for (const StudyCell& cell : *cells)
    if (!std::isfinite(cell.value))
      return bad_input(joined_texts(cell.key, " "), "", "a finite number", std::to_string(cell.value));
  if (cells->empty()) return bad_input("numbers", "", "at least one", "none");
  return cells;
}

StudyRow computed_row(const StudyRun& run, const StudyPair& pair, const std::string& id) {
  StudyRow row{.row = pair.row, .question = id, .study = run.statement.study};
  const auto cells = answer_of(run, pair);
  if (!cells) {
    row.error = cells.error().message();
    return row;
  }
  CellKeys keys;
  for (const StudyCell& cell : *cells) keys.push_back(cell.key), row.values.push_back(cell.value);
  row.keys = std::make_shared<const CellKeys>(std::move(keys));
  return row;
}

/// What --gather finds of another kind of machine among the rows of the study.
void warn_of_machines(const StudyRows& rows, const StudyRun& run, std::vector<Error>& problems) {
  std::string machine;
  for (const StudyStatement& one : rows.statements()) {
    if (one.study != run.statement.study) continue;
    if (!machine.empty() && one.machine != machine)
      problems.push_back(bad_input(run.options.gather, "", "rows of one kind of processor",
                                   machine + " and " + one.machine + ": their numbers agree to rounding"));
    machine = one.machine;
  }
}

/// What came of the pairs.
struct StudyOutcome {
  StudyValues values = {};
  std::vector<Error> problems = {};
  std::vector<Index> missing = {};
  Index done = 0;  // rows of the shard that are there, now
};

/// Takes the rows that are known, and computes the others.
Status go_through(const StudyRun& run, const std::vector<StudyPair>& pairs, const std::optional<Shard>& shard,
                  StudyRows& rows, StudyOutcome& outcome) {
  const bool gathers = !run.options.gather.empty();
  Gathering gathering(outcome.values, run.question.normalise.has_value());
  Progress progress;
  const ProgressReport report(run.options.pairs, &progress);
  const auto keep = [&](const StudyRow& row) -> Status {
    const Status added = rows.add(row, run.statement);
    if (!added && shard) return added;
    if (!added) outcome.problems.push_back(added.error());
    return Done{};
  };
  std::map<std::array<std::string_view, 4>, int> seen;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const StudyPair& pair = pairs[i];
    const int before = seen[{pair.clean, pair.corrupt, pair.right, pair.wrong}]++;
    if (shard && !shard->has(pair.row)) continue;
    progress.done = static_cast<float>(i) / static_cast<float>(pairs.size());
    const std::string id = question_id(run, pair, before);
    const StudyRow* known = rows.find(id, run.question.columns.size());
    StudyRow computed;
    if (!known && gathers) {
      outcome.missing.push_back(pair.row);
      continue;
    }
    const bool is_kept = known && known->error.empty();
    if (!is_kept && !gathers) {
      computed = computed_row(run, pair, id);
      if (!known || known->error != computed.error || known->row != pair.row) TRY(keep(computed));
      known = &computed;
    } else if (!gathers && known->row != pair.row) {
      computed = *known, computed.row = pair.row;  // where the file of pairs has it now
      TRY(keep(computed));
    }
    ++outcome.done;
    if (!known->error.empty())
      outcome.problems.emplace_back(ErrorCode::bad_value, row_name(run.options.pairs, pair.row), known->error);
    else if (!shard) gathering.add(*known);
  }
  gathering.finish();
  return Done{};
}

}  // namespace

void add_study_options(Parser& parser, StudyOptions& options, const std::string& more) {
  parser.topic(kStudyTopic, "The same of many pairs of sentences, here or in parts on many machines: --pairs FILE");
  parser.section("Many pairs", kStudyTopic);
  parser.option("--pairs", options.pairs,
                "The same of every row: clean, corrupt, right, wrong, by the names of the columns; right and wrong "
                "are words that --answers would name, and may be left out" +
                    more,
                "FILE.csv|FILE.jsonl");
  const auto of_pairs = [&](const char* name, std::string& target, const char* help, const char* takes) {
    return parser.option(name, target, help, takes).needs("--pairs");
  };
  of_pairs("--resume", options.resume,
           "Of --pairs: what each row gave is appended here, to a file or in a folder, as soon as it is known; rows "
           "that are there already are not computed again",
           "STUDY");
  of_pairs("--shard", options.shard,
           "Of --resume: part I of N of the rows alone, I from 0, into a file of its own in the folder STUDY; slurm: "
           "the part that a task of a Slurm array has",
           "I/N|slurm")
      .needs("--resume");
  of_pairs("--gather", options.gather,
           "In place of --resume: computes nothing, and answers from the rows that are there; exit status 1 where some "
           "are missing",
           "STUDY")
      .excludes({"--resume", "--shard"});
  parser.option("--gather-partial", options.partial, "Of --gather: answers from the rows that are there")
      .needs("--gather");
  parser.section();
}

Result<std::optional<Shard>> parse_shard(const std::string& text) {
  if (text.empty()) return std::optional<Shard>();
  if (text == "slurm") {
    constexpr Index kNone = -1;
    const auto number = [](const char* name, Index otherwise) {
      const char* value = environment(name);
      return value ? parse_index(value).value_or(otherwise) : otherwise;
    };
    const Index id = number("SLURM_ARRAY_TASK_ID", kNone), count = number("SLURM_ARRAY_TASK_COUNT", kNone);
    if (id < 0 || count < 0)
      return bad_input("--shard slurm", "",
                       "SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT, as sbatch --array sets them", "none");
    const Index least = number("SLURM_ARRAY_TASK_MIN", 0);
    const Index step = std::max<Index>(1, number("SLURM_ARRAY_TASK_STEP", 1));
    const Index index = (id - least) / step;
    if (id < least || index >= count || (id - least) % step != 0)
      return bad_input("--shard slurm", "", "an array of neighbouring numbers (else --shard I/N)",
                       "task " + std::to_string(id) + " of " + std::to_string(count));
    return std::optional(Shard{index, count});
  }
  const std::size_t slash = std::min(text.find('/'), text.size());
  const Index index = parse_index(text.substr(0, slash)).value_or(-1);
  const Index count = slash < text.size() ? parse_index(text.substr(slash + 1)).value_or(0) : 0;
  if (index < 0 || count > kMostShards || index >= count)
    return bad_input("--shard", "", "I/N with I from 0 to N - 1, or slurm", text);
  return std::optional(Shard{index, count});
}

Result<Request> request_of_sentence(Document document, const std::string& text, const Lexicon& lexicon) {
  TRY(set_sentence(document, text, lexicon));
  auto requests = TRY(requests_of(document, lexicon));
  if (requests.size() != 1) return bad_input("sentences", "", "one", std::to_string(requests.size()));
  return std::move(requests.front());
}

Result<std::vector<std::shared_ptr<const Trace>>> traces_of_lines(const Document& document, const std::string& file,
                                                                  const Lexicon& lexicon, int threads) {
  const auto text = TRY(read_file(file, kMostSentencesBytes));
  std::vector<std::shared_ptr<const Trace>> traces;
  for (const Line& line : sentences(text)) {
    const auto request = request_of_sentence(document, text.substr(line.begin, line.end - line.begin), lexicon);
    if (!request) return inside(file, request.error());
    auto trace = forward(*request, unwatched(), nullptr, threads);
    if (!trace) return inside(file, trace.error());
    traces.push_back(*std::move(trace));
  }
  if (traces.empty()) return bad_input(file, "lines", "a sentence a line", "none");
  return traces;
}

Result<int> run_study(const QuestionCommand& command, const StudyOptions& options, const StudyQuestion& question) {
  const auto shard = TRY(parse_shard(options.shard));
  StudyOutcome outcome;
  const auto pairs = TRY(read_pairs(options.pairs, question.with_corrupt, outcome.problems));
  const bool gathers = !options.gather.empty();
  const std::string& study = gathers ? options.gather : options.resume;
  if (gathers && files_of_study(study).empty()) return bad_input(study, "", "rows of a study", "none");
  std::vector<Error> of_rows;
  auto rows = TRY(StudyRows::open(study, shard, !study.empty() && !gathers, of_rows));
  if (shard && !rows.keeps()) return of_rows.back();
  const auto lexicon = TRY(read_lexicon());
  const auto start = TRY(command.request().start());
  StudyRun run{options, question, start.session.document, lexicon, command.request().threads()};
  run.statement = statement_of(command, run, pairs.size());
  if (question.prepare && !gathers) TRY(question.prepare(run.document, lexicon));
  TRY(go_through(run, pairs, shard, rows, outcome));
  outcome.problems.insert(outcome.problems.begin(), of_rows.begin(), of_rows.end());
  if (gathers) warn_of_machines(rows, run, outcome.problems);
  if (!outcome.missing.empty()) {
    const std::string found = std::to_string(outcome.done) + ": " + named_rows(outcome.missing) + " missing";
    outcome.problems.push_back(bad_input(study, "rows", std::to_string(pairs.size()), found));
    for (const StudyStatement& other : rows.statements())
      if (other.study != run.statement.study)
        outcome.problems.push_back(bad_input(study, "", "rows of this study and model alone",
                                             "those of another, too: " + joined_texts(other.words, " ")));
    if (!options.partial) return print_warnings(outcome.problems), 1;
  }
  if (shard) {
    print_warnings(outcome.problems);
    print_message(rows.file() + ": shard " + std::to_string(shard->index) + "/" + std::to_string(shard->count) + ", " +
                  counted(outcome.done, "row"));
    return 0;
  }
  if (outcome.values.keys.empty())
    return outcome.problems.empty() ? bad_input(options.pairs, "rows", "at least one", "none")
                                    : outcome.problems.front();
  warn_of_small_wholes(options.pairs, question, outcome.values, outcome.problems);
  const std::vector<Summary> summaries = summaries_of(question, outcome.values, run.threads);
  TRY(print_answers({study_answer(command.format(), question, outcome.values, summaries)}));
  print_warnings(outcome.problems);
  return 0;
}

}  // namespace headlight
