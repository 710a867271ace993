#include "study/gathering.h"

namespace headlight {

void Gathering::add(const StudyRow& row) {
  if (row.keys != last_ && (!last_ || *row.keys != *last_)) {
    places_.clear();
    for (const auto& key : *row.keys) {
      const auto [at, is_new] = index_of_key_.emplace(key, values_.keys.size());
      if (is_new) values_.keys.push_back(key), values_.numbers.emplace_back(), values_.pairs.emplace_back();
      places_.push_back(at->second);
    }
  }
  last_ = row.keys;
  const auto pair = static_cast<Index>(values_.rows.size());
  values_.rows.push_back(row.row);
  if (shares_) values_.clean.push_back(0), values_.corrupt.push_back(0);
  for (std::size_t i = 0; i < places_.size(); ++i) {
    values_.numbers[places_[i]].values.push_back(row.values[i]);
    values_.pairs[places_[i]].push_back(pair);
    const std::string& what = (*row.keys)[i].front();
    if (shares_ && what == kCleanCell) values_.clean.back() = row.values[i];
    if (shares_ && what == kCorruptCell) values_.corrupt.back() = row.values[i];
  }
}

void Gathering::finish() {
  for (std::size_t at = 0; shares_ && at < values_.keys.size(); ++at) {
    const std::string& what = values_.keys[at].front();
    if (what == kCleanCell || what == kCorruptCell) continue;
    const double sign = what.ends_with(kLost) ? -1 : 1;
    for (const Index pair : values_.pairs[at]) {
      const auto i = static_cast<std::size_t>(pair);
      values_.numbers[at].wholes.push_back(sign * (values_.clean[i] - values_.corrupt[i]));
    }
  }
}

}  // namespace headlight
