// The result of an operation on input from outside: a value, or an Error that names the input.
// Mistakes of the program itself are assertions, never Errors.
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error_code.h"
#include "base/index.h"

namespace headlight {

/// What is wrong, in parts. The code chooses the explanation, never the text of a part. A warning is an Error that does
/// not stop the operation.
struct Error {
  ErrorCode code = ErrorCode::bad_value;
  std::string where;                      // a file, an option or a field
  std::string what = {};                  // the part of it that is wrong
  std::string expected = {}, found = {};  // both empty: `what` is the whole message

  // Out of line: each Result has one inside, and would compile them again.
  explicit Error(ErrorCode code, std::string_view where, std::string_view what = {}, std::string_view expected = {},
                 std::string_view found = {});
  Error(const Error& other);
  Error(Error&& other) noexcept;
  Error& operator=(const Error& other);
  Error& operator=(Error&& other) noexcept;
  ~Error();
  friend bool operator==(const Error& a, const Error& b);

  /// One line for the user: `where: what: expected …, found …`, without the parts that are empty.
  std::string message() const;
};

/// What is wrong with a value from outside.
Error bad_input(std::string_view where, std::string_view what, std::string_view expected, std::string_view found,
                ErrorCode code = ErrorCode::bad_value);

/// The same error in a larger context: `where: ` stands before its line.
Error inside(std::string_view where, Error error);

/// `where: cancelled`, or `where: cancelled, remark`.
Error cancelled(std::string_view where, std::string_view remark = {});

/// The line of an error; empty: there is none.
std::string message_of(const std::optional<Error>& error);
std::string message_of(const Error* error);
/// The lines of warnings.
std::vector<std::string> messages_of(const std::vector<Error>& warnings);

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

/// The value of a Result; an error is what the function around it returns. A statement expression, as GCC and clang
/// have it: what is left of the statement is not evaluated.
#define TRY(...)                      \
  __extension__({                     \
    auto tried = __VA_ARGS__;         \
    if (!tried) return tried.error(); \
    *std::move(tried);                \
  })

/// Inside a catch block: the exception in one line.
Error thrown_error();

/// 0 ≤ `at` < `count`; the Error states the range.
Status check_within(std::string_view where, std::string_view what, Index at, Index count,
                    ErrorCode code = ErrorCode::bad_value);

/// The Error of a number that is NaN or infinite.
Error not_finite(std::string_view where, std::string_view what, float found,
                 std::string_view expected = "a finite number", ErrorCode code = ErrorCode::not_finite);

}  // namespace headlight
