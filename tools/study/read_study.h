// A study as its rows tell it: neither the model nor the pairs are needed.
#pragma once

#include <string>
#include <vector>

#include "study/study.h"

namespace headlight {

/// The study that was stated last, its rows in the order of its pairs.
struct ReadStudy {
  StudyStatement statement = {};
  StudyQuestion question = {};
  StudyValues values = {};
  std::vector<Summary> summaries = {};

  /// Of a cell's name; empty where the study has no such column.
  const std::string& field(std::size_t cell, std::string_view column) const;
  /// Its fields but the first and those that are empty: the name of a head, else the words.
  std::string label(std::size_t cell) const;
};

/// Whether a file or folder begins as one that --resume wrote.
bool is_study(const std::string& path);

/// A warning where there are other studies, or rows without numbers. Errors: no study, none with a row that has
/// numbers; it was stopped.
Result<ReadStudy> read_study(const std::string& study, int threads, std::vector<Error>& problems,
                             const std::atomic<bool>& stop = kNeverStops);

}  // namespace headlight
