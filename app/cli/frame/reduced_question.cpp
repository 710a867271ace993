#include "cli/frame/reduced_question.h"

#include <cmath>
#include <filesystem>
#include <limits>

#include "figure/labels.h"
#include "figure/map_kinds.h"
#include "read/external/patterns.h"
#include "write/reduced.h"

namespace headlight {
namespace {

constexpr const char* kReduce = "--reduce";

/// A side of the maps: the tokens as they are, or the words and blocks beside each other.
Tokens side_of(const Tokens& own, const std::vector<Token>& groups, const Reduction& by) {
  if (!by.tokens && !by.sentences && groups.size() == own.size()) return own;
  Tokens tokens;
  tokens.has_words = true;
  for (Token token : groups) {
    if (!tokens.text.empty()) tokens.text += ' ';
    token.begin = tokens.text.size();
    tokens.text += token.text;
    token.end = tokens.text.size();
    token.raw = token.text, token.continues = false;
    tokens.tokens.push_back(std::move(token));
  }
  return tokens;
}

FoundPatterns patterns_of(const ReducedAttention& reduced) {
  const ReducedMaps& maps = *reduced.maps;
  const Trace& trace = *maps.of.traces.front();
  const Stack stack = reduced.names.stack;
  FoundPatterns found{.name = std::string(reduced.names.attentions), .stack = {}};
  found.stack.query_tokens = side_of(trace.query_tokens(stack), maps.rows(), maps.of.by);
  found.stack.key_tokens = side_of(trace.key_tokens(stack), maps.columns(), maps.of.by);
  found.stack.patterns.resize(static_cast<std::size_t>(maps.layers));
  for (Index i = 0; i < maps.num_maps(); ++i) {
    const Matrix numbers = reduced_rows(maps, i, 0, std::ssize(maps.rows()));
    found.stack.patterns[static_cast<std::size_t>(i / maps.heads)].push_back(
        (numbers.array() == trace.blocked()).select(std::numeric_limits<float>::quiet_NaN(), numbers));
  }
  return found;
}

/// The document of weights alone.
Result<Document> document_of(const std::vector<ReducedAttention>& reduced, const std::string& name) {
  std::map<Stack, FoundPatterns> found;
  for (const ReducedAttention& one : reduced) {
    const ReducedMaps& maps = *one.maps;
    if (maps.num_maps() * std::ssize(maps.rows()) * std::ssize(maps.columns()) > kMostReducedCells)
      return bad_input(kReduce, "cells", "at most " + std::to_string(kMostReducedCells), "more (export writes them)");
    found.emplace(one.names.stack, patterns_of(one));
  }
  Document document;
  std::vector<Error> ignored;  // that blocked cells are NaN, and sums are not 1
  auto model = std::make_shared<Model>(*TRY(pattern_model(name, std::move(found), ignored)));
  const ReducedMaps& maps = *reduced.front().maps;
  model->given->summed_up = {reduction_text(maps.of.by), reduction_caption(Language::en, maps),
                             reduction_caption(Language::zh, maps)};
  document.model = std::move(model);
  document.model_path = name;
  return document;
}

}  // namespace

Result<Asked> reduced_question(const Asked& asked, const std::string& reduction, int threads,
                               std::vector<Error>& warnings) {
  ExportOptions options{.reduce = TRY(parse_reduction(reduction)), .threads = threads};
  const Reduction by = *options.reduce;
  if (by.by == ReduceBy::strongest)
    return bad_input(kReduce, "", "mean, max, sum or rollout (figure and export have the strongest heads)", reduction);
  std::vector<std::shared_ptr<const Trace>> traces;
  for (const Request& request : asked.requests) {
    traces.push_back(TRY(forward(request, unwatched(), nullptr, threads)));
    warnings.insert(warnings.end(), traces.back()->warnings.begin(), traces.back()->warnings.end());
  }
  const auto sentences = TRY(reduced_sentences(traces, options));
  Asked result = asked;
  result.requests.clear();
  const std::string title = model_title(Language::en, asked.document());
  for (const auto& [prefix, reduced] : sentences) {
    if (reduced.size() != stacks_of(*traces.front()).size())
      return bad_input(kReduce, "",
                       "what each attention of the answer can be summed up by (export writes those that can)",
                       reduction);
    auto document =
        TRY(document_of(reduced, reduction_text(by) + " of " + std::filesystem::path(title).filename().string()));
    const auto requests = TRY(requests_of(document, asked.lexicon));
    result.requests.insert(result.requests.end(), requests.begin(), requests.end());
    if (&reduced == &sentences.front().second) result.start.session.document = std::move(document);
  }
  return result;
}

Result<Startup> reduced_start(const RequestOptions& request, const std::string& reduction) {
  std::vector<Error> warnings;
  const auto asked = TRY(request.ask());
  auto reduced = TRY(reduced_question(asked, reduction, request.threads(), warnings));
  if (reduced.requests.size() != 1)
    return bad_input(kReduce, "sentences", "one, or sentences among what is summed up",
                     std::to_string(reduced.requests.size()));
  Startup start = std::move(reduced.start);
  start.warnings.insert(start.warnings.end(), warnings.begin(), warnings.end());
  start.asked = true;
  return start;
}

}  // namespace headlight
