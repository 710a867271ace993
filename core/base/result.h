// The result of an operation on input from outside: a value, or an Error that names the input.
// Mistakes of the program itself are assertions, never Errors.
#pragma once

#include <cassert>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace headlight {

/// One line for the user: `where: what: expected …, found …`.
struct Error {
  std::string message;
};

/// Builds the one-line form. `where` is a file, an option or a field; `what` the part of it that is wrong.
inline Error bad_input(std::string_view where, std::string_view what, std::string_view expected,
                       std::string_view found) {
  std::string line{where};
  if (!what.empty()) line.append(": ").append(what);
  line.append(": expected ").append(expected).append(", found ").append(found);
  return {std::move(line)};
}

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : held_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : held_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return held_.index() == 0; }
  T& operator*() & {
    assert(*this);
    return std::get<0>(held_);
  }
  const T& operator*() const& {
    assert(*this);
    return std::get<0>(held_);
  }
  T&& operator*() && {
    assert(*this);
    return std::get<0>(std::move(held_));
  }
  T* operator->() {
    assert(*this);
    return &std::get<0>(held_);
  }
  const T* operator->() const {
    assert(*this);
    return &std::get<0>(held_);
  }
  const Error& error() const {
    assert(!*this);
    return std::get<1>(held_);
  }

 private:
  std::variant<T, Error> held_;
};

/// The value of an action that returns nothing.
struct Done {
  friend bool operator==(Done, Done) = default;
};
using Status = Result<Done>;

}  // namespace headlight
