// Values of any types, one of each: what tools add to the state of a window and to its options.
#pragma once

#include <any>
#include <deque>

namespace headlight {

class Parts {
 public:
  /// The value of this type; T() where none was set.
  template <class T>
  const T& get() const {
    for (const std::any& part : parts_)
      if (const T* found = std::any_cast<T>(&part)) return *found;
    static const T none;
    return none;
  }
  template <class T>
  T& get() {
    for (std::any& part : parts_)
      if (T* found = std::any_cast<T>(&part)) return *found;
    return *std::any_cast<T>(&parts_.emplace_back(std::in_place_type<T>));
  }

 private:
  std::deque<std::any> parts_;  // whose references stay valid
};

}  // namespace headlight
