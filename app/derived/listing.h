// What View::code shows of an answer: its attention as a program, line by line, for all sentences of the batch. Made on
// a worker; the window only draws it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/progress.h"
#include "code/program.h"

namespace headlight {

/// The question: the answer on the screen, and the requests of all sentences of its batch, its sentence included.
struct ListingQuestion {
  std::shared_ptr<const Trace> trace;
  std::vector<Request> batch;
  HeadRef head;
  Dialect dialect = Dialect::numpy;
  bool block = false;

  friend bool operator==(const ListingQuestion&, const ListingQuestion&) = default;
};

struct Listing {
  ListingQuestion question;
  std::vector<ProgramLine> lines;
  std::optional<Error> problem;  // why it has no program

  /// The lines that make a matrix of the answer, or the matrix that it equals, in their order; for a matrix
  /// that is only a part of a line, that line.
  std::vector<std::size_t> lines_that_make(const MatrixId& matrix) const;
};

/// The program with its inputs. The answers to the other sentences are computed. Errors: those of program_of and of
/// forward; `cancelled` where progress.stop became true.
Result<Program> program_of_batch(const ListingQuestion& question, const std::string& inputs_file, Progress& progress);

/// Null when progress.stop became true.
std::shared_ptr<const Listing> listing_of(const ListingQuestion& question, Progress& progress);

}  // namespace headlight
