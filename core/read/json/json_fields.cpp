#include "read/json/json_fields.h"

#include "base/printable.h"

namespace headlight {
namespace {

using nlohmann::json;

const json kNull;

std::string shown(const json& value) {
  if (value.is_null()) return "nothing";
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  constexpr std::size_t kShown = 60;
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() <= kShown) return text;
  std::size_t end = kShown;
  while (end > 0 && (text[end] & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

}  // namespace

void JsonProblems::note(std::string_view path, std::string_view expected, std::string_view found) {
  if (!first) first = bad_input(where, path, expected, found);
}

void JsonField::problem(std::string_view expected) const { problems_->note(path_, expected, shown(*value_)); }

bool JsonField::has(const char* name) const { return !at(name).is_null(); }

JsonField JsonField::at(const char* name) const {
  std::string path = path_.empty() ? name : path_ + "." + name;
  if (!value_->is_object() && !value_->is_null()) problem("an object");
  const auto found = value_->is_object() ? value_->find(name) : value_->end();
  return {value_->is_object() && found != value_->end() ? *found : kNull, std::move(path), *problems_};
}

std::vector<JsonField> JsonField::items() const {
  std::vector<JsonField> result;
  if (!value_->is_array()) {
    problem("a list");
    return result;
  }
  result.reserve(value_->size());
  for (const json& item : *value_) result.push_back({item, path_ + "." + std::to_string(result.size()), *problems_});
  return result;
}

std::vector<std::pair<std::string, JsonField>> JsonField::fields() const {
  std::vector<std::pair<std::string, JsonField>> result;
  if (!value_->is_object()) {
    problem("an object");
    return result;
  }
  for (const auto& [name, value] : value_->items())
    result.emplace_back(name, JsonField{value, (path_.empty() ? "" : path_ + ".") + printable(name), *problems_});
  return result;
}

std::string JsonField::text() const {
  if (value_->is_string()) return value_->get<std::string>();
  problem("a string");
  return {};
}

bool JsonField::flag() const {
  if (value_->is_boolean()) return value_->get<bool>();
  problem("true or false");
  return false;
}

std::int64_t JsonField::integer(std::int64_t least, std::int64_t most) const {
  // A number beyond the signed range would wrap.
  const bool fits = value_->is_number_integer() &&
                    !(value_->is_number_unsigned() && value_->get<std::uint64_t>() > std::uint64_t{INT64_MAX});
  const std::int64_t number = fits ? value_->get<std::int64_t>() : 0;
  if (fits && number >= least && number <= most) return number;
  problem("an integer from " + std::to_string(least) + " to " + std::to_string(most));
  return least;
}

std::string JsonField::text(const char* name, std::string_view fallback) const {
  return has(name) ? text(name) : std::string(fallback);
}

bool JsonField::flag(const char* name, bool fallback) const { return has(name) ? at(name).flag() : fallback; }

}  // namespace headlight
