// Relations of Universal Dependencies, in words of both languages.
#pragma once

#include <string_view>
#include <vector>

namespace headlight {

/// A relation of Universal Dependencies in words: from the dependent to its head. Its subtypes are counted with it
/// unless one of them is in the list itself. https://universaldependencies.org/u/dep/
struct UniversalRelation {
  const char *name, *en, *zh;
  const char *one, *many, *one_zh;  // its dependents, counted
};
/// Of these the scores are; the more frequent of a head's usual relations come first.
const std::vector<UniversalRelation>& universal_relations();
/// The relation of this name; null: none.
const UniversalRelation* universal_relation(std::string_view name);
/// The relation of the list that counts this one; null: none.
const UniversalRelation* counting_relation(std::string_view name);
/// The name in this list under which a relation of a treebank is counted; empty: none.
std::string_view universal_name(std::string_view relation);

}  // namespace headlight
