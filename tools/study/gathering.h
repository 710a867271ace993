// The numbers of a study's rows, by their names.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "study/study.h"

namespace headlight {

/// Adds the numbers of rows. Rows that share their keys are looked up once.
class Gathering {
 public:
  /// `shares`: cells but `clean` and `corrupt` are shares of what lies between these two.
  Gathering(StudyValues& values, bool shares) : values_(values), shares_(shares) {}

  void add(const StudyRow& row);
  /// What each share is a share of.
  void finish();

 private:
  StudyValues& values_;
  bool shares_;
  std::shared_ptr<const CellKeys> last_ = {};
  std::vector<std::size_t> places_ = {};
  std::map<std::vector<std::string>, std::size_t> index_of_key_ = {};
};

}  // namespace headlight
