#include "heads/token_alignment.h"

#include <algorithm>
#include <cassert>

namespace headlight {
namespace {

/// Of the rest of both sentences, a pair is worth more than all neighbourhoods together.
constexpr int kPair = 1024;
static_assert(kPair > static_cast<int>(kMostAligned));

/// What the sentences from token i of `a` and j of `b` on are worth: kPair a pair, and 1 for each that follows another
/// on both sides. `begun`: the tokens before both are a pair.
class Worth {
 public:
  Worth(const std::vector<Token>& a, const std::vector<Token>& b)
      : size_b_(b.size() + 1), fresh_((a.size() + 1) * size_b_, 0), begun_(fresh_), same_(fresh_.size(), false) {
    for (std::size_t i = a.size(); i-- > 0;)
      for (std::size_t j = b.size(); j-- > 0;) {
        const std::size_t here = at(i, j);
        same_[here] = same_word(a[i], b[j]);
        const int pair = same_[here] ? kPair + begun_[at(i + 1, j + 1)] : 0;
        fresh_[here] = std::max({fresh_[at(i + 1, j)], fresh_[at(i, j + 1)], pair});
        begun_[here] = std::max(fresh_[here], same_[here] ? pair + 1 : 0);
      }
  }
  int rest(std::size_t i, std::size_t j) const { return fresh_[at(i, j)]; }
  bool pairs(std::size_t i, std::size_t j, bool begun) const {
    if (!same_[at(i, j)]) return false;
    const int pair = kPair + begun_[at(i + 1, j + 1)];
    return begun ? begun_[at(i, j)] == pair + 1 : fresh_[at(i, j)] == pair;
  }

 private:
  std::size_t at(std::size_t i, std::size_t j) const { return i * size_b_ + j; }

  std::size_t size_b_;
  std::vector<int> fresh_, begun_;
  std::vector<bool> same_;
};

}  // namespace

bool same_word(const Token& a, const Token& b) {
  if (a.special != b.special || a.pad != b.pad || a.text != b.text) return false;
  return !a.text.empty() || a.id == b.id;
}

JointAxis align_tokens(const std::vector<Token>& a, const std::vector<Token>& b) {
  assert(a.size() <= kMostAligned && b.size() <= kMostAligned);
  const Worth worth(a, b);
  JointAxis axis, only_b;  // the latter wait until the next pair
  const auto flush = [&] {
    axis.insert(axis.end(), only_b.begin(), only_b.end());
    only_b.clear();
  };
  std::size_t i = 0, j = 0;
  bool begun = false;
  while (i < a.size() || j < b.size()) {
    const bool both = i < a.size() && j < b.size();
    if (both && worth.pairs(i, j, begun)) {
      flush();
      axis.push_back({static_cast<Index>(i++), static_cast<Index>(j++)});
      begun = true;
      continue;
    }
    begun = false;
    if (j == b.size() || (both && worth.rest(i + 1, j) == worth.rest(i, j)))
      axis.push_back({static_cast<Index>(i++), std::nullopt});
    else only_b.push_back({std::nullopt, static_cast<Index>(j++)});
  }
  flush();
  return axis;
}

JointAxis align_tokens(const std::vector<Token>& a, const std::vector<Token>& b, Alignment alignment) {
  if (alignment == Alignment::words) return align_tokens(a, b);
  JointAxis axis(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < axis.size(); ++i) {
    if (i < a.size()) axis[i].a = static_cast<Index>(i);
    if (i < b.size()) axis[i].b = static_cast<Index>(i);
  }
  return axis;
}

}  // namespace headlight
