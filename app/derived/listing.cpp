#include "derived/listing.h"

#include <set>

#include "explain/recipe.h"
#include "math/forward.h"

namespace headlight {
namespace {

/// Whether `made` is computed from `wanted` only through matrices that no line shows.
bool is_within(const Trace& trace, const MatrixId& made, const MatrixId& wanted, const std::set<MatrixId>& shown,
               std::set<MatrixId>& seen) {
  for (const MatrixId& operand : recipe(trace, made).operands) {
    if (operand == wanted) return true;
    if (!shown.contains(operand) && seen.insert(operand).second && is_within(trace, operand, wanted, shown, seen))
      return true;
  }
  return false;
}

}  // namespace

std::vector<std::size_t> Listing::lines_that_make(const MatrixId& matrix) const {
  std::vector<std::size_t> made;
  const Trace& trace = *question.trace;
  if (!exists(trace, matrix)) return made;
  const MatrixId wanted = origin(trace, matrix);
  std::vector<std::optional<MatrixId>> shows;
  std::set<MatrixId> shown;
  for (const ProgramLine& line : lines) {
    const bool there = line.shows && exists(trace, *line.shows);
    shows.push_back(there ? std::optional(origin(trace, *line.shows)) : std::nullopt);
    if (there && line.kind != LineKind::takes_part) shown.insert(*shows.back());
  }
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (shows[i] == wanted) made.push_back(i);
  // Matrices within a line, such as the exponentials of a softmax and q of a module. A matrix that an earlier line has
  // visited without success is not visited again.
  std::set<MatrixId> seen;
  for (std::size_t i = 0; made.empty() && i < lines.size(); ++i) {
    if (shows[i] && lines[i].kind == LineKind::computes && is_within(trace, *shows[i], wanted, shown, seen))
      made.push_back(i);
  }
  return made;
}

Result<Program> program_of_batch(const ListingQuestion& question, const std::string& inputs_file, Progress& progress) {
  std::vector<std::shared_ptr<const Trace>> sentences;
  for (const Request& request : question.batch) {
    if (question.trace->request == request) {
      sentences.push_back(question.trace);
      continue;
    }
    auto trace = TRY(forward(request, progress, nullptr));
    if (!trace) return cancelled("code");
    sentences.push_back(std::move(trace));
  }
  if (sentences.empty()) sentences.push_back(question.trace);
  return program_of(
      sentences,
      {.head = question.head, .dialect = question.dialect, .block = question.block, .inputs_file = inputs_file});
}

std::shared_ptr<const Listing> listing_of(const ListingQuestion& question, Progress& progress) {
  auto program = program_of_batch(question, "attention.npz", progress);
  if (progress.stop) return nullptr;
  auto listing = std::make_shared<Listing>(Listing{question, {}, {}});
  if (program) listing->lines = std::move(program->lines);
  else listing->problem = program.error();
  return listing;
}

}  // namespace headlight
