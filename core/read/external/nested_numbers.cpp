#include "read/external/nested_numbers.h"

#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace headlight {
namespace {

using nlohmann::json;

class NestedReader {
 public:
  NestedReader(std::string_view where, const std::string& place) : where_(where), place_(place) {}

  Result<Array> read(const json& list, std::size_t most_axes) {
    for (const json* inner = &list; inner->is_array(); inner = &inner->front()) {
      array_.shape.push_back(static_cast<Index>(inner->size()));
      if (inner->empty()) return wrong("lists that are not empty", "an empty one");
      if (array_.shape.size() > most_axes)
        return wrong("at most " + std::to_string(most_axes) + " lists within one another", "more");
    }
    if (const auto taken = take(list); !taken) return taken.error();
    return std::move(array_);
  }

 private:
  /// A list, or a number, inside as many lists as indices_ has.
  Status take(const json& value) {
    if (indices_.size() == array_.shape.size()) {
      if (!value.is_number()) return wrong("a number", value.type_name());
      array_.values.push_back(value.get<float>());
      return Done{};
    }
    const Index size = array_.shape[indices_.size()];
    if (!value.is_array() || static_cast<Index>(value.size()) != size)
      return wrong(std::to_string(size) + " entries, as the first has",
                   value.is_array() ? std::to_string(value.size()) : value.type_name());
    indices_.push_back(0);
    for (const json& inner : value) {
      if (const auto taken = take(inner); !taken) return taken;
      ++indices_.back();
    }
    indices_.pop_back();
    return Done{};
  }

  Error wrong(std::string_view expected, std::string_view found) const {
    std::string path = place_;
    for (const std::size_t index : indices_) path += "[" + std::to_string(index) + "]";
    return bad_input(where_, path, expected, found);
  }

  std::string_view where_;
  const std::string& place_;
  std::vector<std::size_t> indices_;
  Array array_;
};

}  // namespace

Result<Array> nested_numbers(std::string_view where, const std::string& place, const json& list,
                             std::size_t most_axes) {
  return NestedReader(where, place).read(list, most_axes);
}

}  // namespace headlight
