#include "derived/listing.h"

#include "math/forward.h"

namespace headlight {

std::vector<std::size_t> Listing::lines_that_make(const MatrixId& matrix) const {
  std::vector<std::size_t> made;
  const Trace& trace = *question.trace;
  if (!exists(trace, matrix)) return made;
  const MatrixId wanted = origin(trace, matrix);
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (lines[i].shows && exists(trace, *lines[i].shows) && origin(trace, *lines[i].shows) == wanted) made.push_back(i);
  return made;
}

Result<Program> program_of_batch(const ListingQuestion& question, const std::string& inputs_file, Progress& progress) {
  std::vector<std::shared_ptr<const Trace>> sentences;
  for (const Request& request : question.batch) {
    if (question.trace->request == request) {
      sentences.push_back(question.trace);
      continue;
    }
    auto trace = forward(request, progress, nullptr);
    if (!trace) return trace.error();
    if (!*trace) return Error{"code: cancelled"};
    sentences.push_back(std::move(*trace));
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
  else listing->problem = program.error().message;
  return listing;
}

}  // namespace headlight
