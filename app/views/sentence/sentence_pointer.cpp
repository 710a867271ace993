// What the pointer means in the scene of a sentence.
#include "views/sentence/sentence_scene.h"

namespace headlight {

std::string name_of_row(Language language, const HeadName& name) {
  // Of all rows of a head; this row does not rest.
  if (name.named || !name.measure || name.measure == Measure::special || name.measure == Measure::sink) return {};
  return language == Language::zh ? name.words : name.words.substr(0, name.words.find(' '));
}

std::string pairs_above(Language language, Index count, float threshold) {
  return filled(words(language, count == 1 ? kTextWords.pair_above : kTextWords.pairs_above),
                {std::to_string(count), cell_number(threshold)});
}

PointedSentence pointed_at(const SentenceContent& content, const DrawnSentence& drawn, Point at, float near) {
  PointedSentence pointed;
  for (std::size_t i = 0; i < drawn.words.size(); ++i)
    if (drawn.words[i].contains(at.x, at.y)) pointed.word = static_cast<Index>(i);
  if (pointed.word) return pointed;
  for (std::size_t j = 0; j < drawn.columns.size(); ++j)
    if (drawn.columns[j].contains(at.x, at.y)) pointed.bar = static_cast<Index>(j);
  if (pointed.bar) return pointed;
  for (const DrawnSentence::Row& row : drawn.rows) {
    if (!row.box.contains(at.x, at.y)) continue;
    pointed.head = row.head;
    // The word whose column this is, if the row has something there; else its heaviest.
    const SentenceHead& head = *content.of(row.head);
    Index key = 0;
    for (Index j = 0; j < std::ssize(content.keys); ++j)
      if (SentenceContent::weight(head, content.query, j) > SentenceContent::weight(head, content.query, key)) key = j;
    const auto& edges = drawn.columns.empty() ? (content.one ? drawn.words : drawn.keys) : drawn.columns;
    for (std::size_t j = 0; j < edges.size(); ++j)
      if (at.x >= edges[j].x && at.x < edges[j].right() &&
          SentenceContent::weight(head, content.query, static_cast<Index>(j)) >= 0.05f)
        key = static_cast<Index>(j);
    pointed.arc = content.arc_of(head, content.query, key);
    return pointed;
  }
  float nearest = near;
  for (const DrawnSentence::Arc& arc : drawn.arcs)
    if (const float distance = arc.distance(at); distance <= nearest) nearest = distance, pointed.arc = arc.arc;
  return pointed;
}

}  // namespace headlight
