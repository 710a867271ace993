// --pairs FILE: the same question of many pairs of sentences, and what its answers have in common. A command computes
// named numbers of a pair; the frame reads the pairs, keeps what was computed, and gives for every name the mean, its
// interval and the quartiles.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/frame/study.h"

namespace headlight {

/// Adds --pairs and --resume. `more` stands behind the help of --pairs.
void add_study_options(Parser& parser, StudyOptions& options, const std::string& more = "");

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

/// The answers to the sentences of a file, a line each.
Result<std::vector<std::shared_ptr<const Trace>>> traces_of_lines(const Document& document, const std::string& file,
                                                                  const Lexicon& lexicon, int threads);

/// What many pairs have in common.
struct Summary {
  double mean = 0, median = 0;
  double lower_quartile = 0, upper_quartile = 0;
  std::optional<double> low = {}, high = {};  // the 95 % bootstrap interval of the mean: of two values and more
  Index count = 0;
};

double mean_of(const std::vector<double>& values);
/// Quartiles between two values are interpolated; the interval is that of 2,000 samples with replacement, always the
/// same ones. There is a value.
Summary summary_of(std::vector<double> values);

/// What random cells do, beside those that were chosen, in each format; of a study its mean.
std::string control_text(const PatchControl& control);
Value control_json(const PatchControl& control);
void add_control(const PatchControl& control, Arrays& arrays);
void add_control(const PatchControl& control, std::vector<StudyCell>& cells);

/// Asks every pair and prints the table. Rows that are wrong are warnings; that all of them are is an Error.
Result<int> run_study(const QuestionCommand& command, const StudyOptions& options, const StudyQuestion& question);

}  // namespace headlight
