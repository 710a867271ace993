#include "views/inside/rival_words.h"

#include <cmath>

#include "base/formatted.h"
#include "figure/head_name.h"
#include "figure/labels.h"
#include "views/inside/inside_labels.h"
#include "words/inside_words.h"
#include "words/words.h"

namespace headlight {
namespace {

/// What a writer did: the word that a head reads most where it wrote, of the keys in both words.
std::string line_text(Language language, const Trace& trace, Stack stack, const Rivals& rivals,
                      const Rivals::Line& line) {
  const Tokens &queries = trace.query_tokens(stack), &keys = trace.key_tokens(stack);
  const auto of = [](const Tokens& tokens, const FoldedAxis::Group& word) { return axis_label(joined(tokens, word)); };
  if (!line.writer)
    return filled(words(language, kInsideWords.rival_pieces),
                  {of(keys, rivals.word), std::to_string(rivals.word.count), of(keys, rivals.rival),
                   std::to_string(rivals.rival.count)});
  const std::string name = writer_in(language, *line.writer);
  if (line.writer->kind != WriterKind::head) return name;
  const auto reads = [&](const Tokens& tokens, const FoldedAxis::Group& at) {
    const WriterCell cell = *cell_of_writer(trace, *line.writer, at.first);
    const Tokens& read = trace.key_tokens(cell.head.stack);
    return filled(words(language, kInsideWords.rival_reads), {of(tokens, at), of(read, word_at(read, cell.cell.key))});
  };
  const std::string begin = name + words(language, kInsideWords.rival_colon);
  if (rivals.of_query) return begin + reads(queries, rivals.query);
  return begin + reads(keys, rivals.word) + words(language, kInsideWords.rival_comma) + reads(keys, rivals.rival);
}

std::string signed_share(double share) { return (share < 0 ? "−" : "") + share_text(std::abs(share)); }

}  // namespace

RivalWords rivals_in_words(Language language, const Trace& trace, Stack stack, const Rivals& rivals) {
  const Tokens& keys = trace.key_tokens(stack);
  RivalWords text{.word = axis_label(joined(keys, rivals.word)), .rival = axis_label(joined(keys, rivals.rival))};
  const double times = std::exp(rivals.difference);
  text.title =
      filled(words(language, kInsideWords.rival_title),
             {text.word, text.rival, share_text(double(rivals.weight)), share_text(double(rivals.rival_weight)),
              score_text(rivals.difference), formatted(times < 9.95 ? "%.1f" : "%.0f", times)});
  const bool explains = rivals.carried() >= kCarried;
  text.carried =
      filled(words(language, explains ? kInsideWords.rival_carried : kInsideWords.rival_not_carried),
             {std::to_string(rivals.lines.size()), signed_share(rivals.share()), signed_share(1 - rivals.share())});
  const auto favours = [&](double value) {
    return formatted("%+.2f ", std::abs(value)) + (value < 0 ? text.rival : text.word);
  };
  for (const Rivals::Line& line : rivals.lines)
    text.lines.push_back({line_text(language, trace, stack, rivals, line), favours(line.value),
                          line.weight
                              ? filled(words(language, kInsideWords.rival_off),
                                       {share_text(double(*line.weight)), share_text(double(*line.rival_weight))})
                              : ""});
  text.rest = favours(rivals.rest);
  return text;
}

}  // namespace headlight
