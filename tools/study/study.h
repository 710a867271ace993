// --pairs FILE: the same question of many pairs of sentences, and what its answers have in common. A command computes
// named numbers of a pair; the frame reads the pairs, keeps what was computed, and gives for every name the mean, its
// interval and the quartiles. Parts of a study may be computed elsewhere (--shard) and put together (--gather).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/frame/study.h"
#include "study/kept/rows.h"
#include "study/kept/summary.h"

namespace headlight {

/// The topic of the options of a study: `COMMAND --help-study`.
inline constexpr const char* kStudyTopic = "study";

/// Adds --pairs, --resume, --shard and --gather. `more` stands behind the help of --pairs.
void add_study_options(Parser& parser, StudyOptions& options, const std::string& more = "");

/// I/N, or `slurm`: what the array of Slurm says. Errors: another text, an environment without an array.
Result<std::optional<Shard>> parse_shard(const std::string& text);

/// A row of the file. Right and wrong are words of the output layer; empty: found in the answers.
struct StudyPair {
  Index row = 0;  // of the file, from 1, without the line of names
  std::string clean, corrupt, right, wrong;
};

/// The rows of a .csv with column names in its first line, or of a .jsonl: clean, corrupt, right, wrong. Invalid rows
/// are left out and reported in `problems`. Errors: a file that cannot be read, no column `clean`, no row.
Result<std::vector<StudyPair>> read_pairs(const std::string& file, bool with_corrupt, std::vector<Error>& problems);

/// How messages name a row: `FILE: row 3`.
std::string row_name(const std::string& file, Index row);
/// `rows 3, 5 and 7 more`.
std::string named_rows(const std::vector<Index>& rows);

/// The question of one sentence; ids where the model reads nothing else. Errors: those of requests_of.
Result<Request> request_of_sentence(Document document, const std::string& text, const Lexicon& lexicon);

/// The answers to the sentences of a file, a line each.
Result<std::vector<std::shared_ptr<const Trace>>> traces_of_lines(const Document& document, const std::string& file,
                                                                  const Lexicon& lexicon, int threads);

/// --baseline mean:FILE, resample:FILE or position:FILE: the answers to the sentences; nothing where it was not given.
/// Errors: another text, a file that cannot be read.
Result<Baseline> read_baseline(const std::string& option, const Document& document, const Lexicon& lexicon,
                               int threads);
/// The kind and the sentences, whatever their file is called: rows of a study are known by it.
Result<std::string> baseline_text(const std::string& option);

/// Cells of a study of shares, by the first field of their key.
inline constexpr const char *kCleanCell = "clean", *kCorruptCell = "corrupt", *kRandomCell = "random", *kLost = "lost",
                            *kRandomLostCell = "random_lost", *kTogetherCell = "together",
                            *kTogetherLostCell = "together_lost";

/// The numbers of all pairs by their keys, in the order in which keys came.
struct StudyValues {
  CellKeys keys = {};
  std::vector<Numbers> numbers = {};           // by key
  std::vector<std::vector<Index>> pairs = {};  // by key: which pair each number is of
  std::vector<Index> rows = {};                // by pair: the row of the file

  std::vector<double> clean = {}, corrupt = {};  // by pair, of a study of shares
};

/// What random cells do, beside those that were chosen, in each format; of a study its mean.
std::string control_text(const PatchControl& control);
Value control_json(const PatchControl& control);
void add_control(const PatchControl& control, Arrays& arrays);
void add_control(const PatchControl& control, std::vector<StudyCell>& cells, bool lost = false);

/// What was gathered, summed up, with the tests against random places where there are any.
std::vector<Summary> summaries_of(const StudyQuestion& question, const StudyValues& gathered, int threads,
                                  const std::atomic<bool>& stop = kNeverStops);
/// A warning names pairs whose difference is so small that their shares mean little, or that there is none in the mean.
void warn_of_small_wholes(const std::string& file, const StudyQuestion& question, const StudyValues& gathered,
                          std::vector<Error>& problems);
Answer study_answer(const std::string& format, const StudyQuestion& question, const StudyValues& gathered,
                    const std::vector<Summary>& summaries);

/// Asks every pair and prints the table. Rows that are wrong are warnings; that all of them are is an Error.
Result<int> run_study(const QuestionCommand& command, const StudyOptions& options, const StudyQuestion& question);

}  // namespace headlight
