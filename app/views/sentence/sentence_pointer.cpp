// What the pointer means in the scene of a sentence.
#include "views/sentence/sentence_scene.h"

namespace headlight {

std::string name_of_row(Language language, const HeadName& name) {
  if (name.named || !name.measure || name.measure == Measure::special) return {};
  return language == Language::zh ? name.words : name.words.substr(0, name.words.find(' '));
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
