// Python's pickle format (PEP 3154, pickletools) read as data. A pickle is a program for a stack machine that may call
// any function of Python; here nothing is called. Containers and numbers become values, and a call stays what it is:
// the name of the function and its arguments. A name that the caller does not know, and an opcode outside the data
// subset, are Errors.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace headlight {

struct PickleValue {
  enum class Kind { none, boolean, integer, number, text, bytes, list, tuple, dict, global, call, persistent };

  Kind kind = Kind::none;
  std::int64_t integer = 0;  // of a boolean 0 or 1
  double number = 0;
  std::string_view text;                  // of text and bytes; of a global "module name"
  std::vector<const PickleValue*> items;  // of list and tuple; of a dict key, value, key, value, …; of a call the
                                          // function and its arguments; of a persistent id the id

  /// The value under a text key of a dict; null where there is none.
  const PickleValue* find(std::string_view key) const;
};

/// Values point at each other, so a pickle is moved and never copied.
struct Pickle {
  Pickle() = default;
  Pickle(Pickle&&) = default;
  Pickle& operator=(Pickle&&) = default;

  std::deque<PickleValue> values;  // may refer to each other in circles
  std::deque<std::string> names;   // of the globals
  const PickleValue* root = nullptr;
  std::size_t size = 0;  // bytes up to and with STOP
};

/// The limits of one pickle, beyond which it is refused.
inline constexpr std::size_t kMostPickleBytes = std::size_t{64} << 20, kMostPickleValues = std::size_t{4} << 20;

/// Whether a global names a class of transformers that only holds values by name (its outputs and caches): a call of it
/// is the dict that the pickle fills afterwards.
bool is_plain_record(std::string_view name);

/// Reads the pickle at the beginning of `bytes`, which must stay. `known` states whether a global "module name" is
/// allowed. Errors name the byte.
Result<Pickle> parse_pickle(std::string_view where, std::string_view bytes,
                            const std::function<bool(std::string_view name)>& known);

}  // namespace headlight
