#include "derived/layer_lens.h"

#include <algorithm>
#include <cmath>

#include "base/result.h"
#include "derived/guess.h"
#include "derived/writer_split.h"
#include "math/forward.h"

namespace headlight {
namespace {

/// A typed word, with its probability in the end; by default the most probable.
Result<Candidate> word_of(const Trace& trace, const Vector& last, const std::string& text) {
  if (text.empty()) {
    auto words = most_probable(*trace.model, last, 1);
    if (words.empty()) return bad_input("lens", "vocabulary", "a word", "none");
    return std::move(words.front());
  }
  const auto row = find_word(*trace.model, text);
  if (!row) return bad_input("lens", "word", "one of the vocabulary, or its id", "'" + text + "'");
  return candidate(*trace.model, last, *row);
}

Status add_split(LayerLens& lens, const LensWords& words) {
  const Vector last = probabilities(logit_rows(*lens.trace, lens.query, 1).row(0));
  lens.word = TRY(word_of(*lens.trace, last, words.word));
  if (!words.minus.empty()) lens.minus = TRY(word_of(*lens.trace, last, words.minus));
  lens.split = TRY(split_logit(*lens.trace, lens.query, lens.word->row,
                               lens.minus ? std::optional(lens.minus->row) : std::nullopt,
                               /*centred=*/true));
  const std::vector<LogitTerm>& terms = lens.split->terms;
  lens.order = largest_first(terms.size(), [&](std::size_t i) { return std::abs(terms[i].value); });
  return Done{};
}

/// False when stopped.
bool add_cells(LayerLens& lens, Progress& progress) {
  const Trace& trace = *lens.trace;
  const Index columns = lens.ranks ? kLensRanks : std::min(trace.queries() - lens.first, kLensTokens);
  const auto layers = static_cast<Index>(trace.blocks.size());
  lens.probabilities = Matrix::Zero(layers, columns);
  for (Index layer = 0; layer < layers; ++layer) {
    if (progress.stop) return false;
    std::vector<Candidate> row;
    if (lens.ranks) {
      row = lens_words_after(trace, layer, lens.query, 1, columns).front();
    } else {
      for (auto& words : lens_words_after(trace, layer, lens.first, columns, 1))
        row.push_back(words.empty() ? Candidate{} : std::move(words.front()));
    }
    row.resize(static_cast<std::size_t>(columns));
    for (Index column = 0; column < columns; ++column)
      lens.probabilities(layer, column) = row[static_cast<std::size_t>(column)].probability;
    lens.cells.push_back(std::move(row));
    progress.done = static_cast<float>(layer + 1) / static_cast<float>(layers);
  }
  return true;
}

}  // namespace

Result<std::shared_ptr<const LayerLens>> look_through_layers(const LensQuestion& question, Progress& progress) {
  const Trace& asked = *question.trace;
  TRY(check_has_logits(asked, "lens"));
  TRY(check_within("lens", "query", question.query, asked.queries()));
  auto lens = std::make_shared<LayerLens>();
  lens->trace = question.trace;
  lens->query = question.query;
  lens->ranks = asked.request.config.arch == Arch::encoder;
  if (can_hide(asked, question.query)) {
    auto hidden = TRY(forward(with_hidden(asked, question.query), progress));
    if (!hidden) return std::shared_ptr<const LayerLens>();
    lens->trace = std::move(hidden);
    lens->hidden = asked.query_tokens().tokens[static_cast<std::size_t>(question.query)].text;
  }
  if (!lens->ranks)
    lens->first = std::clamp<Index>(question.query / kLensTokens * kLensTokens, 0,
                                    std::max<Index>(0, asked.queries() - kLensTokens));
  if (!add_cells(*lens, progress)) return std::shared_ptr<const LayerLens>();
  if (const Status split = add_split(*lens, question.words); !split) lens->problem = split.error();
  return std::shared_ptr<const LayerLens>(std::move(lens));
}

}  // namespace headlight
