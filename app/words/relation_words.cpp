#include "words/relation_words.h"

#include <nlohmann/json.hpp>

#include "card/universal_relations.h"
#include "words/words.h"

namespace headlight {
namespace {

constexpr std::string_view kArrow = " → ";

/// "a → b" as "b → a".
std::string turned(const std::string& title) {
  const std::size_t arrow = title.find(kArrow);
  if (arrow == std::string::npos) return title;
  return title.substr(arrow + kArrow.size()) + std::string(kArrow) + title.substr(0, arrow);
}

/// The two directions of a relation of the grammar, from the word that files call the query to the key and back. Null
/// of another relation.
const nlohmann::json* of_grammar(const std::string& relation) {
  const nlohmann::json& relations = words_table()["relations"];
  const auto known = relations.find(relation);
  return known == relations.end() ? nullptr : &*known;
}

}  // namespace

std::string relation_in_words(Language language, const std::string& relation, bool reversed) {
  if (const nlohmann::json* both = of_grammar(relation))
    return words(language, (*both)[reversed ? "backward" : "forward"]);
  const UniversalRelation* own = universal_relation(relation);
  const std::string title = !own ? relation : language == Language::zh ? own->zh : own->en;
  return reversed ? turned(title) : title;
}

std::string relation_in_words(Language language, const RelationScore& relation) {
  const bool reversed = relation.chosen.reversed;
  if (of_grammar(relation.relation)) return relation_in_words(language, relation.relation, reversed);
  const std::string& title = language == Language::zh ? relation.zh : relation.en;
  return reversed ? turned(title) : title;
}

std::string counted_relation(Language language, const std::string& relation, bool reversed, std::size_t count) {
  const UniversalRelation* own = universal_relation(relation);
  const std::string number = std::to_string(count);
  if (!own || reversed) {
    const std::string title = relation_in_words(language, relation, reversed);
    return count == 1 ? title : number + " × " + title;
  }
  return number + (language == Language::zh ? std::string(" 个") + own->one_zh
                                            : std::string(" ") + (count == 1 ? own->one : own->many));
}

std::string brief_name(std::string name) {
  constexpr std::string_view kIts = "→ its ";
  const std::size_t at = name.find(kIts);
  return at == std::string::npos ? name : name.replace(at, kIts.size(), "→ ");
}

std::string close_name(std::string name) {
  constexpr std::string_view kClose = "→";
  const std::size_t at = name.find(kArrow);
  return at == std::string::npos ? name : name.replace(at, kArrow.size(), kClose);
}

std::string briefest_name(const std::string& brief) {
  const std::size_t arrow = brief.find(kArrow), space = brief.find(' ');
  const bool two = arrow != std::string::npos && space < arrow && brief.find(' ', space + 1) == arrow;
  return two ? brief.substr(space + 1) : brief;
}

}  // namespace headlight
