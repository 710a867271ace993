// Sentences answered one by one, as a stream: a line in, a line out.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "question/document.h"
#include "write/export.h"

namespace headlight {

struct LinesAsked {
  ExportOptions arrays = {};
  int jobs = 1;                 // sentences computed at once; 0: one for each processor
  bool standard_input = false;  // where the lines come from; else the document's text
  bool by_sentence = false;     // each line chooses its model (choose_model): no answer depends on the lines beside it
  bool ids = false;             // a line is `1,2,3`
};

struct LinesReport {
  std::size_t lines = 0, refused = 0;  // refused: lines that are not empty and could not be answered
  std::string first = {};              // the error of the first of them
  std::vector<Error> warnings = {};    // the first of them, and a line about how many more there are
};

/// Answers each line as a sentence by itself, not padded to the others, by one JSON object a line: in order, as soon as
/// it is there, with memory for a few lines. A line that is empty, or that cannot be answered, gives an object
/// {"error", "code", "text"} instead. `document` has the settings of each: its target and its text pair have a line for
/// each line of the text that is not empty. Errors: input that cannot be read, output that cannot be written.
Result<LinesReport> export_lines(const Document& document, const Lexicon& lexicon, const LinesAsked& asked,
                                 const std::optional<std::filesystem::path>& file);

}  // namespace headlight
