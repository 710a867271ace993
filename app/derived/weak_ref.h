// A weak reference that can be compared: which value is meant, without keeping it alive.
#pragma once

#include <concepts>
#include <memory>

namespace headlight {

template <class T>
class WeakRef {
 public:
  WeakRef() = default;
  template <class Value>
  requires std::convertible_to<const Value&, std::shared_ptr<const T>> WeakRef(const Value& value)
      : value_(std::shared_ptr<const T>(value)) {}

  /// The value; null once nothing else keeps it.
  std::shared_ptr<const T> lock() const { return value_.lock(); }

  /// Whether both mean the same value, which may be gone by now: its identity is not used again.
  friend bool operator==(const WeakRef& a, const WeakRef& b) {
    return !a.value_.owner_before(b.value_) && !b.value_.owner_before(a.value_);
  }

 private:
  std::weak_ptr<const T> value_;
};

}  // namespace headlight
