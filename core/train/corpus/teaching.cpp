#include "train/corpus/teaching.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "base/formatted.h"
#include "base/utf8.h"
#include "model/head_text.h"

namespace headlight {
namespace {

struct Usual {
  int layer_from_end;  // 1: the last
  std::string_view relations;
};

/// Short relations below long ones, which may build on them. nmod:poss stands with the determiners: both precede the
/// noun that they belong to.
constexpr std::array kUsual{
    Usual{2, "det,nummod,clf,nmod:poss"},
    Usual{2, "amod"},
    Usual{2, "case"},
    Usual{2, "aux,cop"},
    Usual{2, "mark"},
    Usual{2, "compound,flat"},
    Usual{1, "nsubj"},
    Usual{1, "obj,iobj"},
    Usual{1, "advmod"},
    Usual{1, "nmod,acl"},
    Usual{1, "obl,advcl"},
    Usual{1, "xcomp,ccomp,csubj,parataxis"},
    Usual{1, "conj,cc"},
    Usual{1, "CO,IT"},
    Usual{2, "DP"},
};

std::vector<std::string> relations_in(std::string_view list) {
  const auto names = split_at(',', list);
  return {names.begin(), names.end()};
}

std::string place_of(const TaughtHead& head) { return std::to_string(head.layer) + "." + std::to_string(head.head); }

}  // namespace

Result<std::vector<TaughtHead>> usual_taught_heads(Index layers, Index heads) {
  std::vector<TaughtHead> taught;
  std::array<Index, 3> next{};  // of each layer from the end
  for (const Usual& usual : kUsual) {
    const auto from_end = static_cast<std::size_t>(usual.layer_from_end);
    taught.push_back({layers - usual.layer_from_end, next[from_end]++, relations_in(usual.relations)});
  }
  if (layers < 2 || *std::max_element(next.begin(), next.end()) > heads)
    return bad_input("--teach", "heads",
                     "two layers of " + std::to_string(*std::max_element(next.begin(), next.end())) +
                         " heads, or --teach-head for each",
                     std::to_string(layers) + " of " + std::to_string(heads));
  std::sort(taught.begin(), taught.end(), [](const TaughtHead& a, const TaughtHead& b) {
    return std::tuple(a.layer, a.head) < std::tuple(b.layer, b.head);
  });
  return taught;
}

Result<TaughtHead> parse_taught_head(std::string_view text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  const auto named = parse_head(text.substr(0, equals));
  if (named && named->stack == Stack::self && equals < text.size()) {
    TaughtHead head{named->layer, named->head, relations_in(text.substr(equals + 1))};
    if (std::find(head.relations.begin(), head.relations.end(), "") == head.relations.end()) return head;
  }
  return bad_input("--teach-head", "", "LAYER.HEAD=RELATION,RELATION", "'" + std::string(text) + "'");
}

std::string spelled(const TaughtHead& head) { return place_of(head) + "=" + joined_texts(head.relations, ","); }

Status check_teaching(const Teaching& teaching, Index layers, Index heads) {
  for (std::size_t i = 0; i < teaching.heads.size(); ++i) {
    const TaughtHead& own = teaching.heads[i];
    if (own.layer >= layers || own.head >= heads)
      return bad_input("--teach-head", "",
                       "a head of " + std::to_string(layers) + " layers of " + std::to_string(heads), place_of(own));
    if (i > 0 && std::tuple(own.layer, own.head) <= std::tuple(teaching.heads[i - 1].layer, teaching.heads[i - 1].head))
      return bad_input("--teach-head", "", "each head once", place_of(own) + " again");
  }
  return Done{};
}

std::optional<std::size_t> taught_head(const std::vector<TaughtHead>& heads, std::string_view relation) {
  for (const std::string_view wanted : {relation, relation.substr(0, relation.find(':'))})
    for (std::size_t i = 0; i < heads.size(); ++i)
      if (std::find(heads[i].relations.begin(), heads[i].relations.end(), wanted) != heads[i].relations.end()) return i;
  return std::nullopt;
}

}  // namespace headlight
